// Parameters: a version, the levels of LoD, a TensorDesc and the bytes of each, one after the
// other.
#include <algorithm>
#include <cstring>

#include "x2ir/formats/paddle/paddle_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::paddle {
namespace {

// A cursor over a file of parameters.
class Stream {
 public:
  explicit Stream(BlobPtr blob) : blob_(std::move(blob)) {}
  bool AtEnd() const { return position_ == blob_->size(); }
  uint64_t left() const { return blob_->size() - position_; }

  absl::StatusOr<Tensor> Next() {
    const uint64_t start = position_;
    absl::StatusOr<Tensor> tensor = Read();
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("at byte ", start));
    return tensor;
  }

 private:
  template <typename T>
  absl::Status Number(T* number) {
    if (left() < sizeof(T)) return DataLoss("the file ends inside a parameter");
    std::memcpy(number, blob_->data() + position_, sizeof(T));
    position_ += sizeof(T);
    return absl::OkStatus();
  }
  absl::Status Skip(uint64_t bytes) {
    if (left() < bytes) return DataLoss("the file ends inside a parameter");
    position_ += bytes;
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> Read() {
    uint32_t version = 0;
    uint64_t levels = 0;
    X2IR_RETURN_IF_ERROR(Number(&version));
    if (version != 0) return DataLoss("not a parameter: version ", uint64_t{version});
    X2IR_RETURN_IF_ERROR(Number(&levels));
    for (uint64_t i = 0; i < levels; ++i) {
      uint64_t bytes = 0;
      X2IR_RETURN_IF_ERROR(Number(&bytes));
      X2IR_RETURN_IF_ERROR(Skip(bytes));
    }
    int32_t size = 0;
    X2IR_RETURN_IF_ERROR(Number(&version));
    if (version != 0) return DataLoss("not a tensor: version ", uint64_t{version});
    X2IR_RETURN_IF_ERROR(Number(&size));
    if (size < 0) return DataLoss("a description of ", int64_t{size}, " bytes");
    const uint64_t at = position_;
    X2IR_RETURN_IF_ERROR(Skip(static_cast<uint64_t>(size)));
    TensorDesc desc;
    X2IR_RETURN_IF_ERROR(ReadTensorDesc(blob_->view().substr(at, static_cast<size_t>(size)),
                                        blob_->view().data(), &desc));
    const DType dtype = ToDType(desc.data_type);
    if (dtype == DType::kUndefined) return Unimplemented("elements of type ", desc.data_type);
    int64_t count = 1;
    for (const int64_t dim : desc.dims) {
      if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) {
        return DataLoss("a size of ", dim);
      }
    }
    const std::optional<int64_t> bytes = ByteSize(dtype, count);
    if (!bytes || static_cast<uint64_t>(*bytes) > left()) {
      return DataLoss("the file ends inside a parameter");
    }
    const uint64_t data = position_;
    position_ += static_cast<uint64_t>(*bytes);
    return TensorOf(dtype, std::move(desc.dims), blob_, data, static_cast<uint64_t>(*bytes));
  }

  BlobPtr blob_;
  uint64_t position_ = 0;
};

absl::Status CheckDeclared(const DeclaredParameter& declared, const Tensor& tensor) {
  if (!declared.dims || *declared.dims == tensor.dims()) return absl::OkStatus();
  int64_t count = 1;
  for (const int64_t dim : *declared.dims) {
    // Sizes that the program leaves open; those of older versions may be spread over other axes.
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return absl::OkStatus();
  }
  if (count == tensor.num_elements()) return absl::OkStatus();
  return Invalid("parameter '", declared.name, "' is ", tensor.type().ToString(),
                 ", but the program has ",
                 Type::Tensor(declared.dtype, Shape::FromInts(*declared.dims)).ToString());
}

// Names, a few of many.
std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 8; ++i) {
    StrAppend(&text, i ? ", " : "", "'", names[i], "'");
  }
  if (names.size() > 8) StrAppend(&text, " and ", names.size() - 8, " more");
  return text;
}

absl::StatusOr<Parameters> ReadCombined(const BlobPtr& blob,
                                        const std::vector<DeclaredParameter>& declared) {
  Parameters parameters;
  Stream stream(blob);
  for (size_t i = 0; i < declared.size(); ++i) {
    if (stream.AtEnd()) {
      std::vector<std::string> missing;
      for (size_t k = i; k < declared.size(); ++k) missing.push_back(declared[k].name);
      return Invalid("the file has ", i, " parameters, the program ", declared.size(),
                     "; missing: ", Listed(missing));
    }
    absl::StatusOr<Tensor> tensor = stream.Next();
    if (!tensor.ok()) {
      return Annotate(tensor.status(), StrCat("parameter ", i, " ('", declared[i].name, "')"));
    }
    X2IR_RETURN_IF_ERROR(CheckDeclared(declared[i], *tensor));
    parameters.emplace(declared[i].name, *std::move(tensor));
  }
  if (!stream.AtEnd()) {
    return Invalid("the file has more than the ", declared.size(),
                   " parameters of the program: ", stream.left(), " bytes are left");
  }
  return parameters;
}

absl::StatusOr<Parameters> ReadOneByOne(const ModelFiles& files,
                                        const std::vector<DeclaredParameter>& declared) {
  Parameters parameters;
  std::vector<std::string> missing;
  for (const DeclaredParameter& each : declared) {
    X2IR_ASSIGN_OR_RETURN(BlobPtr blob, files.FindParameter(each.name));
    if (!blob) {
      missing.push_back(each.name);
      continue;
    }
    Stream stream(std::move(blob));
    absl::StatusOr<Tensor> tensor = stream.Next();
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("file '", each.name, "'"));
    if (!stream.AtEnd()) return Invalid("file '", each.name, "' has more than one parameter");
    X2IR_RETURN_IF_ERROR(CheckDeclared(each, *tensor));
    parameters.emplace(each.name, *std::move(tensor));
  }
  if (!missing.empty()) {
    return NotFound("neither the file of parameters '", files.combined_name(),
                    "' nor a file for each of: ", Listed(missing));
  }
  return parameters;
}

}  // namespace

absl::StatusOr<Parameters> ReadParameters(const ModelFiles& files,
                                          std::vector<DeclaredParameter> declared) {
  std::sort(declared.begin(), declared.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  declared.erase(std::unique(declared.begin(), declared.end(),
                             [](const auto& a, const auto& b) { return a.name == b.name; }),
                 declared.end());
  X2IR_ASSIGN_OR_RETURN(const BlobPtr combined, files.OpenCombined());
  if (!combined) return ReadOneByOne(files, declared);
  absl::StatusOr<Parameters> parameters = ReadCombined(combined, declared);
  if (!parameters.ok()) return Annotate(parameters.status(), StrCat("'", combined->path(), "'"));
  return parameters;
}

}  // namespace x2ir::paddle
