// Names that lead to a mapped file again, for files that refer to it.
#ifndef X2IR_FORMATS_IO_FILE_NAMES_H_
#define X2IR_FORMATS_IO_FILE_NAMES_H_

#include <string>

#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// Absolute, links resolved as far as the path exists; the path itself where that fails.
std::string CanonicalPath(const std::string& path);

// The canonical path of the file that is mapped; empty when that name leads elsewhere by now, or
// nowhere (a temporary file, one that was replaced).
std::string CanonicalPathOf(const MappedFile& file);

// `path` relative to `folder`, both canonical; empty when it is not inside.
std::string RelativeTo(const std::string& folder, const std::string& path);

// Whether a file that nobody named, but that lies beside the file `named`, may be taken for a part
// of the model. A link counts only if it leads to a file in the same folder, or in the one where
// `named` really lies, since caches of models consist of links.
bool MayBelongTo(const std::string& named, const std::string& path);

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_FILE_NAMES_H_
