// Handling of mapped files that change during use: another process cuts it short or writes it, or
// the disk cannot give a page any more (docs/adr/0010-files-that-change.md).
#ifndef X2IR_GRAPH_WRAPPER_MAPPINGS_H_
#define X2IR_GRAPH_WRAPPER_MAPPINGS_H_

#include <sys/stat.h>

#include <string>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace X2IR_API x2ir {

// Access to a page that a mapped file no longer has is a signal (SIGBUS), which ends the process.
// After this call it reads as zeros, and the thread that reads it records a fault, which
// MappingFault() returns. A handler belongs to the process, so that no library sets one by itself:
// this is for programs, once, at their start.
void HandleMappingFaults();

// DataLoss if this thread met a fault that was not taken yet. Taking it makes room for the next.
absl::Status MappingFault();
absl::Status TakeMappingFault();

// DataLoss if the file has another size or time of change than when it was mapped.
absl::Status CheckUnchanged(const MappedFile& file);

// Of MappedFile: what is mapped where. `path` lives as long as the mapping.
void AddMapping(const std::byte* begin, size_t size, const std::string& path,
                const struct stat& info);
void RemoveMapping(const std::byte* begin);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_MAPPINGS_H_
