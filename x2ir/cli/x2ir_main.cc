// x2ir: reads models of any format into the IR, and looks at them.
#include "x2ir/cli/verbs.h"

int main(int argc, char** argv) { return x2ir::cli::RunX2ir(argc, argv); }
