// Names of mapped files, for files that refer to them.
#ifndef X2IR_FORMATS_IO_FILE_NAMES_H_
#define X2IR_FORMATS_IO_FILE_NAMES_H_

#include <string>

#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// Absolute, links resolved as far as the path exists; the path itself where that fails.
std::string CanonicalPath(const std::string& path);

// The canonical path of the file that is mapped; empty if that name now is another file, or none (a
// temporary file, or one that was replaced).
std::string CanonicalPathOf(const MappedFile& file);

// `path` relative to `folder`, both canonical; empty when it is not inside.
std::string RelativeTo(const std::string& folder, const std::string& path);

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_FILE_NAMES_H_
