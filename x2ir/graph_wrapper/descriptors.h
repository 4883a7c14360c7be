// Functions on file descriptors with several users.
#ifndef X2IR_GRAPH_WRAPPER_DESCRIPTORS_H_
#define X2IR_GRAPH_WRAPPER_DESCRIPTORS_H_

#include <cstddef>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// A file without a name in $TMPDIR, or /tmp, to read and write; gone when it is closed. -1 if it
// cannot be created; errno has the reason.
int OpenUnnamedFile();

// Writes all of the bytes: 0, or the errno of what went wrong.
int WriteAll(int fd, const void* bytes, size_t size);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_DESCRIPTORS_H_
