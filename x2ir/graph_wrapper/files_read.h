// Which files a program has read, those that only a model names and that are no longer mapped among
// them: none of these may be overwritten.
#ifndef X2IR_GRAPH_WRAPPER_FILES_READ_H_
#define X2IR_GRAPH_WRAPPER_FILES_READ_H_

#include <sys/types.h>

#include <utility>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// From now on every MappedFile counts. Only for programs that end, because the list grows.
void RememberFilesRead();
void AddFileRead(dev_t device, ino_t inode);  // of MappedFile
bool WasRead(dev_t device, ino_t inode);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_FILES_READ_H_
