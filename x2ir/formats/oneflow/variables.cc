// The folders of variables.
#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/strings/str_join.h"
#include "x2ir/formats/oneflow/job_internal.h"
#include "x2ir/formats/oneflow/reader_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::oneflow {
namespace {

constexpr size_t kNamed = 8;  // names in a message
constexpr size_t kMaxMeta = 1 << 16;

// A name that is that of a folder, and leads nowhere else.
bool IsFolderName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == name.npos;
}

std::string DimsText(const std::vector<int64_t>& dims) {
  return StrCat("[", absl::StrJoin(dims, ", "), "]");
}

// Whether a variable's own description is that of the graph.
absl::Status CheckMeta(std::string_view text, DType dtype, const std::vector<int64_t>& dims) {
  if (text.size() > kMaxMeta) return DataLoss("its description is too long");
  X2IR_ASSIGN_OR_RETURN(const std::string wire,
                        ProtoTextToWire(text, VariableMetaMessage(), ProtoUnknown::kSkipped));
  std::vector<int64_t> own_dims;
  int64_t own_type = 0;
  WireReader in(wire, wire.data());
  while (in.Next()) {
    if (in.field() == variable_meta_info_field::kDataType) own_type = in.Int();
    if (in.field() != variable_meta_info_field::kShape) continue;
    WireReader shape(in.Bytes(), wire.data());
    while (shape.Next()) {
      if (shape.field() == shape_proto_field::kDim) shape.AppendInts(&own_dims);
    }
    X2IR_RETURN_IF_ERROR(shape.status());
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (own_dims != dims || ToDType(own_type) != dtype) {
    return Invalid("the graph says ", Name(dtype), DimsText(dims), ", its description ",
                   DataTypeName(own_type), DimsText(own_dims));
  }
  return absl::OkStatus();
}

}  // namespace

Variables::Variables(const Source& source, const std::string& folder)
    : source_(source), folder_(folder.empty() ? source.folder() : folder) {}

absl::StatusOr<BlobPtr> Variables::Open(const std::string& name, std::string_view file) const {
  if (!IsFolderName(name)) return Invalid("'", name, "' is not a valid folder name");
  return source_.OpenBeside(StrCat(name, "/", file), folder_);
}

absl::StatusOr<Tensor> Variables::ReadOne(const std::string& name, DType dtype,
                                          const std::vector<int64_t>& dims) const {
  if (dtype == DType::kUndefined) return Unimplemented("its element type");
  absl::StatusOr<BlobPtr> opened = Open(name, "out");
  // A file of nothing may not have been made.
  if (absl::IsNotFound(opened.status()) && CheckedProduct(dims) == 0) {
    return Tensor::Zeros(dtype, dims);
  }
  X2IR_ASSIGN_OR_RETURN(BlobPtr bytes, std::move(opened));
  const absl::StatusOr<BlobPtr> meta = Open(name, "meta");
  if (meta.ok()) {
    X2IR_RETURN_IF_ERROR(CheckMeta((*meta)->view(), dtype, dims));
  } else if (!absl::IsNotFound(meta.status())) {
    return meta.status();
  }
  const uint64_t size = bytes->size();
  return TensorOf(dtype, dims, std::move(bytes), 0, size);
}

Tensor Variables::Read(const std::string& name, DType dtype, const std::vector<int64_t>& dims) {
  absl::StatusOr<Tensor> tensor = ReadOne(name, dtype, dims);
  if (tensor.ok()) return *std::move(tensor);
  if (absl::IsNotFound(tensor.status())) {
    missing_.push_back(name);
  } else if (++wrong_ == 1) {
    first_ = Annotate(tensor.status(), StrCat("variable '", name, "'"));
  }
  return Tensor::Zeros(DType::kFloat32, {0});
}

absl::Status Variables::status() const {
  if (!missing_.empty()) {
    const size_t shown = std::min(missing_.size(), kNamed);
    return NotFound(
        missing_.size(), missing_.size() == 1 ? " variable has" : " variables have",
        " no file NAME/out in '", folder_, "': ",
        absl::StrJoin(missing_.begin(), missing_.begin() + static_cast<ptrdiff_t>(shown), ", "),
        shown < missing_.size() ? ", ..." : "");
  }
  if (wrong_ > 1) return Annotate(first_, StrCat(wrong_, " variables are wrong, the first"));
  return first_;
}

}  // namespace x2ir::oneflow
