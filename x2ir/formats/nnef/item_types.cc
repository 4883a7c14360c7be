#include "x2ir/formats/nnef/item_types.h"

namespace x2ir {
namespace nnef {
namespace {

struct TypeRow {
  std::string_view name;
  DType dtype;
};
constexpr TypeRow kTractTypes[] = {
    {"f16", DType::kFloat16}, {"f32", DType::kFloat32}, {"f64", DType::kFloat64},
    {"i8", DType::kInt8},     {"i16", DType::kInt16},   {"i32", DType::kInt32},
    {"i64", DType::kInt64},   {"u8", DType::kUInt8},    {"u16", DType::kUInt16},
    {"u32", DType::kUInt32},  {"u64", DType::kUInt64},  {"bool", DType::kBool},
};
constexpr TypeRow kOtherNames[] = {
    {"scalar", DType::kFloat32}, {"integer", DType::kInt64}, {"logical", DType::kBool},
    {"tdim", DType::kInt64},     {"TDim", DType::kInt64},    {"F16", DType::kFloat16},
    {"F32", DType::kFloat32},    {"F64", DType::kFloat64},   {"I8", DType::kInt8},
    {"I16", DType::kInt16},      {"I32", DType::kInt32},     {"I64", DType::kInt64},
    {"U8", DType::kUInt8},       {"U16", DType::kUInt16},    {"U32", DType::kUInt32},
    {"U64", DType::kUInt64},     {"Bool", DType::kBool},
};

}  // namespace

DType ItemTypeNamed(std::string_view name) {
  for (const TypeRow& row : kTractTypes) {
    if (row.name == name) return row.dtype;
  }
  for (const TypeRow& row : kOtherNames) {
    if (row.name == name) return row.dtype;
  }
  return DType::kUndefined;
}
std::string_view TractTypeName(DType dtype) {
  for (const TypeRow& row : kTractTypes) {
    if (row.dtype == dtype) return row.name;
  }
  return "";
}

}  // namespace nnef
}  // namespace x2ir
