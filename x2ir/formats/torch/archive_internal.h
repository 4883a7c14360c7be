// A .pt2 archive, opened: the program's text and where its weights are.
#ifndef X2IR_FORMATS_TORCH_ARCHIVE_INTERNAL_H_
#define X2IR_FORMATS_TORCH_ARCHIVE_INTERNAL_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/torch/strided.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::torch_format {

struct Archive {
  BlobPtr file;                    // keeps the program
  ZipArchive::Bytes program;       // JSON
  StringMap<TorchTensor> weights;  // parameters, buffers and constants, by their names
};

absl::StatusOr<Archive> OpenArchive(const Source& source, const std::string& model);

// The members of a JSON object, to be read in any order. Afterwards the reader is at the end of the
// object; GoTo a member to read it, and to `end` to go on.
class Fields {
 public:
  explicit Fields(JsonReader& json);
  // Goes to the member; false when there is none, or null.
  bool GoTo(std::string_view name);
  bool Has(std::string_view name) const;
  void GoToEnd() { json_.GoTo(end_); }
  const std::vector<std::pair<std::string_view, JsonReader::Mark>>& all() const { return members_; }

 private:
  JsonReader& json_;
  std::vector<std::pair<std::string_view, JsonReader::Mark>> members_;  // without nulls
  JsonReader::Mark end_;
};

}  // namespace x2ir::torch_format

#endif  // X2IR_FORMATS_TORCH_ARCHIVE_INTERNAL_H_
