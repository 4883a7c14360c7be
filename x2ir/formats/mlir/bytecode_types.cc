// Decodes types of MLIR bytecode.
#include <bit>
#include <limits>
#include <utility>

#include "x2ir/formats/mlir/bytecode_values_internal.h"
#include "x2ir/formats/mlir/text.h"

namespace x2ir::mlir {

TypeRef ScalarType(std::string_view name) {
  auto type = std::make_shared<MlirType>();
  type->kind = MlirType::kScalar;
  const DType dtype = ElementOf(name);
  type->type = Type::Tensor(dtype, Shape());
  if (dtype == DType::kUndefined) type->text = name;
  return type;
}

TypeRef OtherType(std::string text) {
  auto type = std::make_shared<MlirType>();
  type->text = std::move(text);
  return type;
}

TypeRef TensorTypeOf(const MlirType& element, const std::vector<int64_t>* dims,
                     std::vector<int64_t> bounds) {
  auto type = std::make_shared<MlirType>();
  type->kind = MlirType::kTensor;
  type->quantization = element.quantization;
  type->bounds = std::move(bounds);
  // Elements of type index are integers.
  const DType dtype = element.kind == MlirType::kScalar  ? element.type.dtype()
                      : element.kind == MlirType::kIndex ? DType::kInt64
                                                         : DType::kUndefined;
  if (dtype == DType::kUndefined || element.kind == MlirType::kIndex) {
    type->text = ElementText(element);
  }
  if (dims == nullptr) {
    type->type = Type::Tensor(dtype);
    return type;
  }
  std::vector<Dim> shape;
  for (const int64_t dim : *dims) shape.push_back(dim < 0 ? Dim::Unknown() : Dim(dim));
  type->type = Type::Tensor(dtype, Shape(std::move(shape)));
  return type;
}

TypeRef BufferType(const MlirType& tensor) {
  std::string text = "memref<";
  for (const Dim& dim : tensor.type.shape()->dims()) StrAppend(&text, dim.ToString(), "x");
  return OtherType(StrCat(text, ElementText(tensor), ">"));
}

TypeRef TensorOfBuffer(const MlirType& type) {
  constexpr std::string_view kBuffer = "memref<";
  if (type.kind != MlirType::kOther || !type.text.starts_with(kBuffer)) return nullptr;
  absl::StatusOr<TypeRef> tensor =
      ParseTypeText(StrCat("tensor<", std::string_view(type.text).substr(kBuffer.size())));
  const bool is_tensor = tensor.ok() && (*tensor)->kind == MlirType::kTensor;
  return is_tensor && (*tensor)->type.shape() != nullptr ? *std::move(tensor) : nullptr;
}

std::string ElementText(const MlirType& type) {
  if (type.kind == MlirType::kIndex) return "index";
  if (type.kind != MlirType::kScalar && type.kind != MlirType::kTensor) return type.text;
  return type.text.empty() ? std::string(ElementName(type.type.dtype())) : type.text;
}

int StoredSize(const MlirType& type) {
  const DType dtype = type.type.dtype();
  return type.kind == MlirType::kIndex ? 8 : (BitWidth(dtype) + 7) / 8;
}

TypeRef BytecodeValues::DecodeType(const BytecodeFile::Entry& entry, ByteReader& in) {
  const std::string& dialect = file_.dialects[entry.dialect];
  if (!entry.custom) {
    const std::string_view text = in.Text();
    absl::StatusOr<TypeRef> type = ParseTypeText(text);
    return type.ok() ? *std::move(type) : OtherType(std::string(text));
  }
  return dialect == "builtin" ? BuiltinType(in) : CodedType(dialect, in);
}

TypeRef BytecodeValues::BuiltinType(ByteReader& in) {
  using namespace builtin_type;
  const auto complex_of = [](const MlirType& part) {
    return ScalarType(StrCat("complex<", ElementText(part), ">"));
  };
  const uint64_t code = in.Varint();
  switch (code) {
    case kInteger: {
      const uint64_t bits = in.Varint();
      static constexpr std::string_view kSigns[] = {"i", "si", "ui", "i"};
      return ScalarType(StrCat(kSigns[bits & 3], bits >> 2));
    }
    case kIndex: return PlainType(MlirType::kIndex);
    case kFunction: {
      std::vector<TypeRef> arguments = Types(in);
      return FunctionType(std::move(arguments), Types(in));
    }
    case kBFloat16: return ScalarType("bf16");
    case kFloat16: return ScalarType("f16");
    case kFloat32: return ScalarType("f32");
    case kFloat64: return ScalarType("f64");
    case kFloat80: return ScalarType("f80");
    case kFloat128: return ScalarType("f128");
    case kComplex: return complex_of(*NextType(in));
    case kNone: return PlainType(MlirType::kNone);
    case kTensor:
    case kEncodedTensor: {
      std::vector<int64_t> bounds;
      if (code == kEncodedTensor) {
        const Attr& encoding = NextAttr(in);
        const Attr* field = encoding.Find("bounds");
        if (in.ok() && (encoding.name != "stablehlo.type_extensions" || field == nullptr)) {
          in.Fail(
              Unimplemented("MLIR bytecode: a tensor type with an encoding that is no list of "
                            "bounds"));
          return PlainType(MlirType::kNone);
        }
        if (field != nullptr) bounds = field->ints;
        for (int64_t& bound : bounds) bound = bound < 0 ? -1 : bound;
      }
      const std::vector<int64_t> dims = Ints(in);
      return TensorTypeOf(*NextType(in), &dims, std::move(bounds));
    }
    case kUnrankedTensor: return TensorTypeOf(*NextType(in), nullptr);
    case kTuple: {
      auto type = std::make_shared<MlirType>();
      type->kind = MlirType::kTuple;
      type->items = Types(in);
      return type;
    }
    case kMemRef:
    case kMemRefWithSpace:
    case kUnrankedMemRef:
    case kUnrankedMemRefWithSpace: in.Bytes(in.remaining()); return OtherType("memref<>");
    case kVector:
    case kScalableVector: in.Bytes(in.remaining()); return OtherType("vector<>");
  }
  in.Fail(StrCat("a type of builtin code ", code, ", which is not known"));
  return PlainType(MlirType::kNone);
}

TypeRef BytecodeValues::CodedType(std::string_view dialect, ByteReader& in) {
  const uint64_t code = in.Varint();
  const std::optional<Coded> coded = TypeByCode(dialect, code);
  if (!coded) {
    in.Fail(Unimplemented("MLIR bytecode: types of dialect '", dialect, "' with code ", code,
                          " are not read (producer '", file_.producer, "')"));
    return PlainType(MlirType::kNone);
  }
  const std::string_view name = coded->name;
  if (name == "complex") return ScalarType(StrCat("complex<", ElementText(*NextType(in)), ">"));
  if (name == "index") return PlainType(MlirType::kIndex);
  if (name == "none") return PlainType(MlirType::kNone);
  if (name == "token") return PlainType(MlirType::kToken);
  if (name == "func") {
    std::vector<TypeRef> arguments = Types(in);
    return FunctionType(std::move(arguments), Types(in));
  }
  if (name == "tuple" || name == "future") {
    auto type = std::make_shared<MlirType>();
    type->kind = name == "tuple" ? MlirType::kTuple : MlirType::kOther;
    if (name == "future") type->text = "!stablehlo.future";
    type->items = Types(in);
    return type;
  }
  if (name == "tensor" || name == "encoded_tensor") {
    std::vector<int64_t> bounds;
    if (name == "encoded_tensor") {
      const Attr* field = NextAttr(in).Find("bounds");
      if (in.ok() && field == nullptr) in.Fail("an encoding without bounds");
      if (field != nullptr) bounds = field->ints;
      for (int64_t& bound : bounds) bound = bound < 0 ? -1 : bound;
    }
    const std::vector<int64_t> dims = Ints(in);
    return TensorTypeOf(*NextType(in), &dims, std::move(bounds));
  }
  if (name == "unranked_tensor") return TensorTypeOf(*NextType(in), nullptr);
  if (name == "quant" || name == "quant_per_axis") return Quantized(name != "quant", in);
  if (name == "witness") return OtherType("!shape.witness");
  if (name == "buffer") {
    const std::vector<int64_t> dims = Ints(in);
    return BufferType(*TensorTypeOf(*NextType(in), &dims));
  }
  return ScalarType(name);
}

TypeRef BytecodeValues::Quantized(bool per_axis, ByteReader& in) {
  const bool is_signed = (in.Varint() & 1) != 0;
  const TypeRef storage = NextType(in), expressed = NextType(in);
  auto quantization = std::make_shared<Quantization>();
  const std::string name = ElementText(*storage);
  const size_t digits = name.find_first_of("0123456789");
  if (digits != std::string::npos) {
    quantization->storage = ElementOf(StrCat(is_signed ? "i" : "ui", name.substr(digits)));
  }
  quantization->expressed = expressed->type.dtype();
  const auto scale = [&] { return std::bit_cast<double>(in.Signed()); };
  const auto limits = [&] {
    quantization->storage_min = in.Signed();
    quantization->storage_max = in.Signed();
  };
  if (per_axis) {
    quantization->axes = {in.Signed()};
    limits();
    quantization->scales.resize(in.Count());
    for (double& each : quantization->scales) each = scale();
    quantization->zero_points = Ints(in);
    if (quantization->zero_points.size() != quantization->scales.size()) {
      in.Fail("as many zero points as scales are needed");
    }
  } else {
    quantization->scales = {scale()};
    quantization->zero_points = {in.Signed()};
    limits();
  }
  if (in.ok() && (quantization->storage == DType::kUndefined ||
                  quantization->expressed == DType::kUndefined)) {
    in.Fail(Unimplemented("MLIR bytecode: a quantized type of ", name, " and ",
                          ElementText(*expressed)));
  }
  auto type = std::make_shared<MlirType>();
  type->kind = MlirType::kScalar;
  type->type = Type::Tensor(quantization->storage, Shape());
  type->quantization = std::move(quantization);
  return type;
}

}  // namespace x2ir::mlir
