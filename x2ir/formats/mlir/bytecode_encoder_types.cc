// Encodes types for MLIR bytecode.
#include <bit>
#include <limits>

#include "x2ir/formats/mlir/bytecode_encoder_internal.h"
#include "x2ir/formats/mlir/bytecode_file_internal.h"
#include "x2ir/formats/mlir/bytecode_values_internal.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::mlir {
namespace {

constexpr int64_t kUnknownSize = std::numeric_limits<int64_t>::min();
constexpr int kMaxTypeNesting = 100;

}  // namespace

uint64_t BytecodeEncoder::TypeIndex(const MlirType& type, Flavor flavor) {
  if (depth_ > kMaxTypeNesting) {
    Fail("types are nested too deeply for bytecode");
    return 0;
  }
  ++depth_;
  ByteWriter out;
  std::string_view dialect = flavor == kVhlo ? "vhlo" : "builtin";
  if (flavor == kVhlo) {
    VhloType(type, out);
  } else if (type.kind == MlirType::kToken) {
    dialect = "stablehlo";
    out.Varint(0);
  } else {
    BuiltinType(type, out);
  }
  --depth_;
  return Add(types_, dialect, std::move(out));
}

void BytecodeEncoder::Types(const std::vector<TypeRef>& types, size_t from, size_t to,
                            Flavor flavor, ByteWriter& out) {
  out.Varint(to - from);
  for (size_t i = from; i < to; ++i) out.Varint(TypeIndex(*types[i], flavor));
}

void BytecodeEncoder::Shape(const MlirType& type, ByteWriter& out) {
  const auto& dims = type.type.shape()->dims();
  out.Varint(dims.size());
  for (const Dim& dim : dims) out.Signed(dim.is_static() ? dim.value() : kUnknownSize);
}

// The element type of a tensor.
void BytecodeEncoder::Element(const MlirType& type, Flavor flavor, ByteWriter& out) {
  MlirType element;
  element.kind = MlirType::kScalar;
  element.type = Type::Tensor(type.type.dtype(), x2ir::Shape());
  element.text = type.text;
  element.quantization = type.quantization;
  if (type.text == "index") element.kind = MlirType::kIndex;
  out.Varint(TypeIndex(element, flavor));
}

void BytecodeEncoder::VhloType(const MlirType& type, ByteWriter& out) {
  const auto code = [&](std::string_view name) {
    const std::optional<Coded> coded = TypeByName("vhlo", name);
    if (!coded) return Fail(StrCat("type ", name, " has no form in VHLO"));
    out.Varint(static_cast<uint64_t>(coded->code));
  };
  switch (type.kind) {
    case MlirType::kIndex: return code("index");
    case MlirType::kNone: return code("none");
    case MlirType::kToken: return code("token");
    case MlirType::kTuple:
      code("tuple");
      return Types(type.items, 0, type.items.size(), kVhlo, out);
    case MlirType::kFunction:
      code("func");
      Types(type.items, 0, type.num_arguments, kVhlo, out);
      return Types(type.items, type.num_arguments, type.items.size(), kVhlo, out);
    case MlirType::kScalar: {
      if (type.quantization != nullptr) return Quantized(*type.quantization, out);
      const std::string name = ElementText(type);
      if (name.starts_with("complex<")) {
        code("complex");
        return out.Varint(TypeIndex(*ScalarType(name.substr(8, name.size() - 9)), kVhlo));
      }
      return code(name);
    }
    case MlirType::kTensor:
      if (type.type.shape() == nullptr) {
        code("unranked_tensor");
      } else if (type.bounds.empty()) {
        code("tensor");
        Shape(type, out);
      } else {
        code("encoded_tensor");
        Attr encoding, bounds;
        encoding.kind = Attr::kStruct;
        encoding.name = "stablehlo.type_extensions";
        bounds.kind = Attr::kInts;
        for (const int64_t bound : type.bounds) {
          bounds.ints.push_back(bound < 0 ? kUnknownSize : bound);
        }
        encoding.fields.emplace_back("bounds", std::move(bounds));
        out.Varint(AttrIndex(encoding, kVhlo));
        Shape(type, out);
      }
      return Element(type, kVhlo, out);
    case MlirType::kOther:
      if (type.text == "!stablehlo.future") {
        code("future");
        return Types(type.items, 0, type.items.size(), kVhlo, out);
      }
      if (type.text == "!shape.witness") return code("witness");
      if (const TypeRef tensor = TensorOfBuffer(type)) {
        code("buffer");
        Shape(*tensor, out);
        return Element(*tensor, kVhlo, out);
      }
      return Fail(StrCat("type ", type.text, " has no form in VHLO"));
  }
}

void BytecodeEncoder::Quantized(const Quantization& q, ByteWriter& out) {
  const bool per_axis = !q.axes.empty();
  const bool is_signed = IsSignedInt(q.storage);
  // Storage types have no sign of their own in a quantized type: a flag says it.
  std::string storage(ElementName(q.storage));
  if (!is_signed && storage.starts_with("u")) storage.erase(0, 1);
  if (q.axes.size() > 1 || !q.block_sizes.empty()) {
    return Fail("a quantized type with blocks has no form in VHLO");
  }
  const std::optional<Coded> coded = TypeByName("vhlo", per_axis ? "quant_per_axis" : "quant");
  if (!coded || q.scales.empty() || q.scales.size() != q.zero_points.size()) {
    return Fail("a quantized type without scales has no form in VHLO");
  }
  out.Varint(static_cast<uint64_t>(coded->code));
  out.Varint(is_signed);
  out.Varint(TypeIndex(*ScalarType(storage), kVhlo));
  out.Varint(TypeIndex(*ScalarType(ElementName(q.expressed)), kVhlo));
  const auto scale = [&](double value) { out.Signed(std::bit_cast<int64_t>(value)); };
  const auto limits = [&] {
    out.Signed(q.storage_min);
    out.Signed(q.storage_max);
  };
  if (!per_axis) {
    scale(q.scales[0]);
    out.Signed(q.zero_points[0]);
    return limits();
  }
  out.Signed(q.axes[0]);
  limits();
  out.Varint(q.scales.size());
  for (const double value : q.scales) scale(value);
  out.Varint(q.zero_points.size());
  for (const int64_t zero : q.zero_points) out.Signed(zero);
}

void BytecodeEncoder::BuiltinType(const MlirType& type, ByteWriter& out) {
  using namespace builtin_type;
  if (type.quantization != nullptr || !type.bounds.empty()) {
    Fail("a quantized or bounded type is written in VHLO only");
    return;
  }
  switch (type.kind) {
    case MlirType::kIndex: out.Varint(kIndex); return;
    case MlirType::kNone: out.Varint(kNone); return;
    case MlirType::kTuple:
      out.Varint(kTuple);
      Types(type.items, 0, type.items.size(), kBuiltin, out);
      return;
    case MlirType::kFunction:
      out.Varint(kFunction);
      Types(type.items, 0, type.num_arguments, kBuiltin, out);
      Types(type.items, type.num_arguments, type.items.size(), kBuiltin, out);
      return;
    case MlirType::kTensor:
      if (type.type.shape() == nullptr) {
        out.Varint(kUnrankedTensor);
      } else {
        out.Varint(kTensor);
        Shape(type, out);
      }
      Element(type, kBuiltin, out);
      return;
    case MlirType::kScalar: {
      static constexpr std::pair<std::string_view, Code> kNamed[] = {
          {"bf16", kBFloat16}, {"f16", kFloat16}, {"f32", kFloat32},
          {"f64", kFloat64},   {"f80", kFloat80}, {"f128", kFloat128}};
      const std::string name = ElementText(type);
      for (const auto& [text, number] : kNamed) {
        if (name == text) {
          out.Varint(number);
          return;
        }
      }
      if (name.starts_with("complex<")) {
        out.Varint(kComplex);
        out.Varint(TypeIndex(*ScalarType(name.substr(8, name.size() - 9)), kBuiltin));
        return;
      }
      const bool is_int = IsInteger(type.type.dtype()) || type.type.dtype() == DType::kBool;
      const size_t digits = name.find_first_of("0123456789");
      if (is_int && digits != std::string::npos) {
        const auto width = static_cast<uint64_t>(std::stoi(name.substr(digits)));
        out.Varint(kInteger);
        out.Varint(width << 2 | (name[0] == 'u' ? 2 : 0));
        return;
      }
      break;
    }
    default: break;
  }
  Fail(StrCat("type ", ElementText(type), " has no form in bytecode that is written"));
}

}  // namespace x2ir::mlir
