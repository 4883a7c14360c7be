#include "x2ir/formats/torch/enums.h"

#include <algorithm>
#include <utility>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using NumberedType = std::pair<int64_t, DType>;

constexpr NumberedType kExportTypes[] = {{1, DType::kUInt8},           {2, DType::kInt8},
                                         {3, DType::kInt16},           {4, DType::kInt32},
                                         {5, DType::kInt64},           {6, DType::kFloat16},
                                         {7, DType::kFloat32},         {8, DType::kFloat64},
                                         {10, DType::kComplex64},      {11, DType::kComplex128},
                                         {12, DType::kBool},           {13, DType::kBFloat16},
                                         {28, DType::kUInt16},         {29, DType::kFloat8E4M3FN},
                                         {30, DType::kFloat8E5M2},     {31, DType::kFloat8E4M3FNUZ},
                                         {32, DType::kFloat8E5M2FNUZ}, {33, DType::kFloat8E8M0},
                                         {34, DType::kUInt32},         {35, DType::kUInt64}};

constexpr NumberedType kScalarTypes[] = {
    {0, DType::kUInt8},           {1, DType::kInt8},          {2, DType::kInt16},
    {3, DType::kInt32},           {4, DType::kInt64},         {5, DType::kFloat16},
    {6, DType::kFloat32},         {7, DType::kFloat64},       {9, DType::kComplex64},
    {10, DType::kComplex128},     {11, DType::kBool},         {15, DType::kBFloat16},
    {23, DType::kFloat8E5M2},     {24, DType::kFloat8E4M3FN}, {25, DType::kFloat8E5M2FNUZ},
    {26, DType::kFloat8E4M3FNUZ}, {27, DType::kUInt16},       {28, DType::kUInt32},
    {29, DType::kUInt64},         {44, DType::kFloat8E8M0}};

constexpr NumberedType kQuantizedTypes[] = {
    {12, DType::kInt8}, {13, DType::kUInt8}, {14, DType::kInt32}};

DType TypeIn(absl::Span<const NumberedType> types, int64_t number) {
  for (const auto& [own, dtype] : types) {
    if (own == number) return dtype;
  }
  return DType::kUndefined;
}
int64_t NumberIn(absl::Span<const NumberedType> types, DType dtype, int64_t none) {
  for (const auto& [own, type] : types) {
    if (type == dtype) return own;
  }
  return none;
}

}  // namespace

DType TorchDType(int64_t number) { return TypeIn(kExportTypes, number); }
int64_t TorchNumberOf(DType dtype) { return NumberIn(kExportTypes, dtype, 0); }
DType ScalarTypeOf(int64_t number) {
  return TypeIn(IsQuantizedScalarType(number) ? absl::Span<const NumberedType>(kQuantizedTypes)
                                              : absl::Span<const NumberedType>(kScalarTypes),
                number);
}
int64_t ScalarTypeNumber(DType dtype) { return NumberIn(kScalarTypes, dtype, -1); }
int64_t QuantizedScalarTypeNumber(DType integers) {
  return NumberIn(kQuantizedTypes, integers, -1);
}

const TorchEnums& ExportEnums() {
  static constexpr std::string_view kLayouts[] = {"unknown",    "sparse_coo", "sparse_csr",
                                                  "sparse_csc", "sparse_bsr", "sparse_bsc",
                                                  "mkldnn",     "strided"};
  static constexpr std::string_view kMemoryFormats[] = {
      "unknown", "contiguous_format", "channels_last", "channels_last_3d", "preserve_format"};
  static constexpr TorchEnums kEnums{kLayouts, kMemoryFormats};
  return kEnums;
}
const TorchEnums& C10Enums() {
  static constexpr std::string_view kLayouts[] = {
      "strided", "sparse_coo", "sparse_csr", "mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc"};
  static constexpr std::string_view kMemoryFormats[] = {"contiguous_format", "preserve_format",
                                                        "channels_last", "channels_last_3d"};
  static constexpr TorchEnums kEnums{kLayouts, kMemoryFormats};
  return kEnums;
}
std::string NameInEnum(int64_t number, TorchEnumNames names) {
  const bool known = number >= 0 && number < static_cast<int64_t>(names.size());
  return known ? std::string(names[static_cast<size_t>(number)]) : StrCat(number);
}
int64_t NumberInEnum(std::string_view name, TorchEnumNames names) {
  return std::find(names.begin(), names.end(), name) - names.begin();
}

}  // namespace x2ir
