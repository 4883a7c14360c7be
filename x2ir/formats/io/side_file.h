// Files that a writer makes beside a model's own file, under names that the caller did not give.
#ifndef X2IR_FORMATS_IO_SIDE_FILE_H_
#define X2IR_FORMATS_IO_SIDE_FILE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// AlreadyExists if there is such a file, and `is_ours` does not recognize it as written for the
// model that is replaced as well: it may be the only copy of someone's data.
absl::Status CheckSideFile(const std::string& path, const std::function<bool()>& is_ours);

// The option of writers that disables the check.
OptionDef ForceOption();
// "params": where a model's parameters are, for formats of two files.
OptionDef ParamsOption();

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_SIDE_FILE_H_
