// The files of a SavedModel beside its graph: in its folder, or in memory.
#ifndef X2IR_FORMATS_TENSORFLOW_SAVED_FILES_INTERNAL_H_
#define X2IR_FORMATS_TENSORFLOW_SAVED_FILES_INTERNAL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::tf_format {

class SavedFiles {
 public:
  explicit SavedFiles(const x2ir::Source& source) : source_(source) {}

  bool exist() const { return source_.has_files(); }
  // What a file is called in messages; `name` is "variables/variables.index".
  std::string PathOf(std::string_view name) const;
  absl::StatusOr<BlobPtr> Open(std::string_view name) const { return source_.OpenBeside(name); }
  // A file right in the folder of assets.
  absl::StatusOr<BlobPtr> OpenAsset(std::string_view name) const;

 private:
  const x2ir::Source& source_;
};

}  // namespace x2ir::tf_format

#endif  // X2IR_FORMATS_TENSORFLOW_SAVED_FILES_INTERNAL_H_
