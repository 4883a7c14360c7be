// How a broken invariant ends.
#include "x2ir/graph_wrapper/check.h"

#include <cstdio>
#include <cstdlib>

namespace x2ir {

void CheckFailed(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "x2ir: internal error at %s:%d: %s (%s)\n", file, line, message.c_str(),
               condition);
  std::abort();
}

}  // namespace x2ir
