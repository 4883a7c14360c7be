// The checkpoint of a SavedModel that is written: all variables in one file of data, and an index,
// which is a sorted table of their names (BundleHeaderProto under the empty key, then
// BundleEntryProtos).
#ifndef X2IR_FORMATS_TENSORFLOW_CHECKPOINT_WRITER_INTERNAL_H_
#define X2IR_FORMATS_TENSORFLOW_CHECKPOINT_WRITER_INTERNAL_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::tf_format {

inline constexpr std::string_view kIndexFile = "variables/variables.index";
inline constexpr std::string_view kDataFile = "variables/variables.data-00000-of-00001";

class CheckpointWriter {
 public:
  // Appends the variable's bytes to the file of data. Names are unique.
  absl::Status Add(const std::string& name, const Tensor& tensor, AtomicFile& data);
  // The file of the index.
  std::string Index() const;

 private:
  std::map<std::string, std::string> entries_;  // BundleEntryProtos
};

// A table of these keys and values, whose keys ascend by their bytes: blocks in which keys share
// their beginnings with the keys before, each with a checksum; an index of the blocks; and the
// places of both. Not compressed.
std::string SortedTable(const std::map<std::string, std::string>& entries);

}  // namespace x2ir::tf_format

#endif  // X2IR_FORMATS_TENSORFLOW_CHECKPOINT_WRITER_INTERNAL_H_
