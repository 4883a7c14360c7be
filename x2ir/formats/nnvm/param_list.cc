#include "x2ir/formats/nnvm/param_list.h"

#include <cstring>
#include <optional>

namespace x2ir {
namespace nnvm {
namespace {

constexpr uint64_t kParamListMagic = 0xF7E58D4F05049CB7, kArrayMagic = 0xDD5E40F096B4A13F;
constexpr int32_t kMaxParamRank = 64;
enum TypeCode : uint8_t {
  kIntCode = 0,
  kUintCode = 1,
  kFloatCode = 2,
  kBfloatCode = 4,
  kBoolCode = 6
};

struct DlType {
  uint8_t code, bits;
};

std::optional<DlType> ToDlType(DType t) {
  const auto bits = static_cast<uint8_t>(BitWidth(t));
  if (t == DType::kBool) return DlType{kUintCode, 1};
  if (t == DType::kBFloat16) return DlType{kBfloatCode, 16};
  if (bits < 8) return std::nullopt;
  if (IsSignedInt(t)) return DlType{kIntCode, bits};
  if (IsUnsignedInt(t)) return DlType{kUintCode, bits};
  if (t == DType::kFloat16 || t == DType::kFloat32 || t == DType::kFloat64) {
    return DlType{kFloatCode, bits};
  }
  return std::nullopt;
}

std::optional<DType> FromDlType(DlType type) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto t = static_cast<DType>(i);
    if (t == DType::kUndefined || t == DType::kString) continue;
    const auto own = ToDlType(t);
    if (own && own->code == type.code && own->bits == type.bits) return t;
  }
  // Bools of later versions.
  if (type.code == kBoolCode && type.bits == 8) return DType::kBool;
  return std::nullopt;
}

template <typename T>
void AppendNumber(std::string* out, T value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

absl::StatusOr<Tensor> ReadParamArray(ByteCursor& in) {
  if (in.Read<uint64_t>() != kArrayMagic && in.ok()) return DataLoss("it is not an array");
  in.Read<uint64_t>();
  in.Read<int32_t>();  // where it was: device
  in.Read<int32_t>();
  const auto rank = in.Read<int32_t>();
  const DlType type = {in.Read<uint8_t>(), in.Read<uint8_t>()};
  const auto lanes = in.Read<uint16_t>();
  X2IR_RETURN_IF_ERROR(in.status());
  if (rank < 0 || rank > kMaxParamRank) return DataLoss("an array cannot have ", rank, " axes");
  const auto dtype = FromDlType(type);
  if (!dtype || lanes != 1) {
    return Unimplemented("elements of type code ", int64_t{type.code}, " with ", int64_t{type.bits},
                         " bits and ", int64_t{lanes}, " lanes");
  }
  std::vector<int64_t> dims;
  for (int32_t i = 0; i < rank; ++i) dims.push_back(in.Read<int64_t>());
  const auto nbytes = in.Read<int64_t>();
  const uint64_t from = in.place();
  X2IR_ASSIGN_OR_RETURN(Tensor tensor, in.Elements(*dtype, std::move(dims)));
  if (nbytes < 0 || in.place() - from != static_cast<uint64_t>(nbytes)) {
    return DataLoss("an array of ", nbytes, " bytes whose shape says ", in.place() - from);
  }
  return tensor;
}

absl::StatusOr<std::string> ParamArrayHead(const Tensor& tensor) {
  const auto type = ToDlType(tensor.dtype());
  if (!type || tensor.is_sparse()) {
    return CannotExpress("a weight of type ", tensor.type().ToString());
  }
  std::string head;
  AppendNumber(&head, kArrayMagic);
  AppendNumber(&head, uint64_t{0});
  AppendNumber(&head, int32_t{1});  // the CPU
  AppendNumber(&head, int32_t{0});
  AppendNumber(&head, static_cast<int32_t>(tensor.rank()));
  AppendNumber(&head, type->code);
  AppendNumber(&head, type->bits);
  AppendNumber(&head, uint16_t{1});
  for (const int64_t dim : tensor.dims()) AppendNumber(&head, dim);
  AppendNumber(&head, static_cast<int64_t>(tensor.nbytes()));
  return head;
}

bool LooksLikeParamList(absl::Span<const std::byte> head) {
  return head.size() >= 8 && LoadNumber<uint64_t>(head.data()) == kParamListMagic;
}

absl::StatusOr<std::vector<NamedTensor>> ReadParamList(const BlobPtr& file) {
  ByteCursor in(file);
  if (in.Read<uint64_t>() != kParamListMagic || !in.ok()) {
    return DataLoss("it is not a list of parameters of TVM");
  }
  in.Read<uint64_t>();
  std::vector<std::string> names = in.Texts();
  const uint64_t count = in.Count(36);
  X2IR_RETURN_IF_ERROR(in.status());
  if (count != names.size()) {
    return DataLoss("it has ", names.size(), " names and ", count, " arrays");
  }
  std::vector<NamedTensor> all;
  for (std::string& name : names) {
    absl::StatusOr<Tensor> tensor = ReadParamArray(in);
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("array '", name, "'"));
    all.push_back({std::move(name), *std::move(tensor)});
  }
  return all;
}

absl::Status WriteParamList(const std::vector<NamedTensor>& all, AtomicFile& out) {
  std::string head;
  AppendNumber(&head, kParamListMagic);
  AppendNumber(&head, uint64_t{0});
  AppendNumber(&head, uint64_t{all.size()});
  for (const NamedTensor& entry : all) {
    AppendNumber(&head, uint64_t{entry.name.size()});
    head += entry.name;
  }
  AppendNumber(&head, uint64_t{all.size()});
  X2IR_RETURN_IF_ERROR(out.Append(head));
  for (const NamedTensor& entry : all) {
    absl::StatusOr<std::string> array = ParamArrayHead(entry.tensor);
    if (!array.ok()) {
      return CannotExpress("weight '", entry.name, "' of type ", entry.tensor.type().ToString());
    }
    X2IR_RETURN_IF_ERROR(out.Append(*array));
    X2IR_RETURN_IF_ERROR(out.Append(entry.tensor));
  }
  return absl::OkStatus();
}

}  // namespace nnvm
}  // namespace x2ir
