// The files of a SavedModel beside its graph: in its folder, or in memory.
#ifndef X2IR_FORMATS_TENSORFLOW_SAVED_FILES_INTERNAL_H_
#define X2IR_FORMATS_TENSORFLOW_SAVED_FILES_INTERNAL_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir::tf_format {

class SavedFiles {
 public:
  // Of a folder; "": there are none. Links may lead out of it only if that is allowed.
  SavedFiles(std::string folder, bool allow_outside)
      : folder_(std::move(folder)), allow_outside_(allow_outside) {}
  // What the source's resolver gives.
  explicit SavedFiles(const x2ir::Source& source) : source_(&source) {}

  bool exist() const { return source_ ? source_->has_resolver() : !folder_.empty(); }
  // What a file is called in messages; `name` is "variables/variables.index".
  std::string PathOf(std::string_view name) const;
  absl::StatusOr<BlobPtr> Open(std::string_view name) const;
  // A file right in the folder of assets, and nothing that a link leads to.
  absl::StatusOr<BlobPtr> OpenAsset(std::string_view name) const;

 private:
  std::string folder_;
  bool allow_outside_ = false;
  const x2ir::Source* source_ = nullptr;
};

}  // namespace x2ir::tf_format

#endif  // X2IR_FORMATS_TENSORFLOW_SAVED_FILES_INTERNAL_H_
