#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>

#include "x2ir/formats/mlir/attr_printer_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/small_floats.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::mlir {
namespace {

// Tensors of more elements are printed as hexadecimal digits.
constexpr int64_t kMostPrintedElements = 16;
// Tensors of more bytes are resources, where these are asked for.
constexpr size_t kSmallestResource = 64;

bool IsBareWord(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '.';
  });
}

}  // namespace

absl::Status AttrPrinter::Flush() {
  const absl::Status status = file_.Append(out_);
  out_.clear();
  return status;
}

// --- Words ------------------------------------------------------------------------------------

void AttrPrinter::Indent(int depth) { out_.append(static_cast<size_t>(depth) * 2, ' '); }

void AttrPrinter::PutString(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  out_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || byte < 0x20 || byte >= 0x7f) {
      out_ += '\\';
      out_ += kHex[byte >> 4];
      out_ += kHex[byte & 15];
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

void AttrPrinter::PutSymbol(std::string_view name) {
  if (IsBareWord(name)) {
    out_ += name;
  } else {
    PutString(name);
  }
}

// --- Types ------------------------------------------------------------------------------------

void AttrPrinter::PutElement(const MlirType& type) {
  if (type.quantization != nullptr) return PutQuantization(*type.quantization);
  const std::string_view name = ElementName(type.type.dtype());
  out_ += name.empty() || type.text == "index" ? std::string_view(type.text) : name;
}

void AttrPrinter::PutQuantization(const Quantization& q) {
  const auto storage = ElementName(q.storage);
  out_ += "!quant.uniform<";
  out_ += storage.starts_with("ui") ? StrCat("u", storage.substr(2)) : std::string(storage);
  out_ += StrCat("<", q.storage_min, ":", q.storage_max, ">:", ElementName(q.expressed));
  if (!q.block_sizes.empty()) {
    out_ += ":{";
    for (size_t i = 0; i < q.axes.size(); ++i) {
      out_ += StrCat(i == 0 ? "" : ", ", q.axes[i], ":", q.block_sizes[i]);
    }
    out_ += "}";
  } else if (!q.axes.empty()) {
    out_ += StrCat(":", q.axes[0]);
  }
  out_ += q.axes.empty() ? ", " : ", {";
  for (size_t i = 0; i < q.scales.size(); ++i) {
    if (i != 0) out_ += ", ";
    PutDouble(q.scales[i]);
    if (q.zero_points[i] != 0) out_ += StrCat(":", q.zero_points[i]);
  }
  out_ += q.axes.empty() ? ">" : "}>";
}

void AttrPrinter::PutType(const MlirType& type) {
  switch (type.kind) {
    case MlirType::kTensor: {
      out_ += "tensor<";
      if (type.type.shape() == nullptr) {
        out_ += "*x";
      } else {
        for (const Dim& dim : *type.type.shape()) {
          out_ += dim.is_static() ? StrCat(dim.value(), "x") : "?x";
        }
      }
      PutElement(type);
      if (!type.bounds.empty()) {
        out_ += ", #stablehlo.bounds<";
        for (size_t i = 0; i < type.bounds.size(); ++i) {
          if (i != 0) out_ += ", ";
          out_ += type.bounds[i] < 0 ? std::string("?") : StrCat(type.bounds[i]);
        }
        out_ += ">";
      }
      out_ += ">";
      return;
    }
    case MlirType::kScalar: return PutElement(type);
    case MlirType::kIndex: out_ += "index"; return;
    case MlirType::kNone: out_ += "none"; return;
    case MlirType::kToken: out_ += "!stablehlo.token"; return;
    case MlirType::kTuple:
      out_ += "tuple<";
      PutTypes(type.items);
      out_ += ">";
      return;
    case MlirType::kFunction: {
      const absl::Span<const TypeRef> all(type.items);
      out_ += "(";
      PutTypes(all.first(type.num_arguments));
      out_ += ") -> ";
      PutResultTypes(all.subspan(type.num_arguments));
      return;
    }
    case MlirType::kOther: out_ += type.text; return;
  }
}

void AttrPrinter::PutTypes(absl::Span<const TypeRef> types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (i != 0) out_ += ", ";
    PutType(*types[i]);
  }
}

void AttrPrinter::PutResultTypes(absl::Span<const TypeRef> types) {
  const bool plain = types.size() == 1 && types[0]->kind != MlirType::kFunction;
  if (!plain) out_ += "(";
  PutTypes(types);
  if (!plain) out_ += ")";
}

// --- Numbers and tensors ----------------------------------------------------------------------

// The shortest text that gives the number again; MLIR wants a point or an exponent with one.
template <typename T>
void AttrPrinter::PutShortest(T value) {
  char text[48];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  std::string_view shortest(text, static_cast<size_t>(end - text));
  const size_t e = shortest.find('e');
  const std::string_view digits = shortest.substr(0, e);
  out_ += digits;
  if (digits.find('.') == digits.npos) out_ += ".0";
  if (e != shortest.npos) out_ += shortest.substr(e);
}

void AttrPrinter::PutDouble(double value) { PutShortest(value); }

void AttrPrinter::PutFloat(DType dtype, const std::byte* at, int64_t i) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  uint64_t bits = 0;
  double value = 0;
  const int width = std::max(BitWidth(dtype) / 8, 1);
  if (dtype == DType::kFloat64) {
    bits = LoadNumber<uint64_t>(at + i * 8);
    value = std::bit_cast<double>(bits);
  } else if (dtype == DType::kFloat32) {
    bits = LoadNumber<uint32_t>(at + i * 4);
    value = std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else {
    bits = BitWidth(dtype) < 8 ? GetPacked(at, i, BitWidth(dtype))
           : width == 2        ? LoadNumber<uint16_t>(at + i * 2)
                               : LoadNumber<uint8_t>(at + i);
    value = DecodeSmallFloat(dtype, static_cast<uint32_t>(bits));
  }
  if (std::isfinite(value)) {
    if (dtype == DType::kFloat64) return PutDouble(value);
    return PutShortest(static_cast<float>(value));
  }
  out_ += "0x";
  for (int digit = width * 2; digit-- > 0;) out_ += kHex[bits >> (digit * 4) & 15];
}

void AttrPrinter::PutTensorElement(const Tensor& tensor, int64_t i) {
  const DType dtype = tensor.dtype();
  const std::byte* data = tensor.bytes().data();
  if (dtype == DType::kBool) {
    out_ += data[i] != std::byte{0} ? "true" : "false";
  } else if (IsComplex(dtype)) {
    const DType part = dtype == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
    out_ += "(";
    PutFloat(part, data, 2 * i);
    out_ += ", ";
    PutFloat(part, data, 2 * i + 1);
    out_ += ")";
  } else if (IsFloating(dtype)) {
    PutFloat(dtype, data, i);
  } else if (dtype == DType::kUInt64) {
    out_ += StrCat(static_cast<uint64_t>(tensor.AsInt(i)));
  } else {
    out_ += StrCat(tensor.AsInt(i));
  }
}

void AttrPrinter::PutNested(const Tensor& tensor, size_t axis, int64_t* at) {
  if (axis == tensor.dims().size()) return PutTensorElement(tensor, (*at)++);
  out_ += "[";
  for (int64_t i = 0; i < tensor.dims()[axis]; ++i) {
    if (i != 0) out_ += ", ";
    PutNested(tensor, axis + 1, at);
  }
  out_ += "]";
}

// The two digits of each byte.
constexpr std::array<std::array<char, 2>, 256> kHexDigits = [] {
  std::array<std::array<char, 2>, 256> digits{};
  for (size_t i = 0; i < digits.size(); ++i) {
    digits[i] = {"0123456789ABCDEF"[i >> 4], "0123456789ABCDEF"[i & 15]};
  }
  return digits;
}();

// The bytes as MLIR has them: bits of bools, a byte for each small integer.
absl::Status AttrPrinter::PutHex(const Tensor& tensor) {
  const auto digits_of = [](std::byte b) { return kHexDigits[static_cast<size_t>(b)].data(); };
  const auto put = [&](std::byte b) { out_.append(digits_of(b), 2); };
  const absl::Span<const std::byte> bytes = tensor.bytes();
  const int bits = BitWidth(tensor.dtype());
  if (tensor.dtype() == DType::kBool) {
    for (size_t i = 0; i < bytes.size(); i += 8) {
      unsigned packed = 0;
      for (size_t k = i; k < std::min(bytes.size(), i + 8); ++k) {
        packed |= (bytes[k] != std::byte{0} ? 1u : 0u) << (k - i);
      }
      put(static_cast<std::byte>(packed));
    }
    return absl::OkStatus();
  }
  if (bits < 8) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      put(static_cast<std::byte>(GetPacked(bytes.data(), i, bits)));
    }
    return absl::OkStatus();
  }
  constexpr size_t kPart = size_t{64} << 10;
  for (size_t from = 0; from < bytes.size(); from += kPart) {
    const size_t to = std::min(bytes.size(), from + kPart);
    const size_t start = out_.size();
    out_.resize(start + (to - from) * 2);
    char* digits = out_.data() + start;
    for (size_t i = from; i < to; ++i, digits += 2) std::memcpy(digits, digits_of(bytes[i]), 2);
    X2IR_RETURN_IF_ERROR(Flush());
  }
  return absl::OkStatus();
}

absl::Status AttrPrinter::PutDense(const Attr& attr) {
  const Tensor& tensor = attr.tensor;
  const bool small = tensor.num_elements() <= kMostPrintedElements;
  if (options_.resources && !attr.splat && tensor.nbytes() > kSmallestResource &&
      BitWidth(tensor.dtype()) >= 8 && tensor.dtype() != DType::kBool) {
    const std::string name = StrCat("w", resources_.size());
    resources_.emplace_back(name, &tensor);
    out_ += StrCat("dense_resource<", name, ">");
  } else if (attr.splat) {
    out_ += "dense<";
    PutTensorElement(tensor, 0);
    out_ += ">";
  } else if (tensor.num_elements() == 0) {
    out_ += "dense<>";
  } else if (small) {
    int64_t at = 0;
    out_ += "dense<";
    PutNested(tensor, 0, &at);
    out_ += ">";
  } else {
    out_ += "dense<\"0x";
    X2IR_RETURN_IF_ERROR(PutHex(tensor));
    out_ += "\">";
  }
  out_ += " : ";
  PutType(*attr.type);
  return absl::OkStatus();
}

// --- Attributes -------------------------------------------------------------------------------

void AttrPrinter::PutInts(const std::vector<int64_t>& ints, bool bools) {
  for (size_t i = 0; i < ints.size(); ++i) {
    if (i != 0) out_ += ", ";
    out_ += bools ? (ints[i] != 0 ? "true" : "false") : StrCat(ints[i]);
  }
}

// `typed`: with the type of a number, and the names of enums.
absl::Status AttrPrinter::PutAttr(const Attr& attr, bool typed) {
  switch (attr.kind) {
    case Attr::kUnit: out_ += "unit"; break;
    case Attr::kBool: out_ += attr.i != 0 ? "true" : "false"; break;
    case Attr::kInt:
      out_ += StrCat(attr.i);
      if (typed && attr.type != nullptr) {
        out_ += " : ";
        PutType(*attr.type);
      }
      break;
    case Attr::kFloat:
      if (attr.type != nullptr && attr.type->type.dtype() == DType::kFloat32) {
        PutShortest(static_cast<float>(attr.f));
      } else {
        PutDouble(attr.f);
      }
      if (typed && attr.type != nullptr) {
        out_ += " : ";
        PutType(*attr.type);
      }
      break;
    case Attr::kString: PutString(attr.s); break;
    case Attr::kSymbol:
      out_ += '@';
      PutSymbol(attr.s);
      break;
    case Attr::kType: PutType(*attr.type); break;
    case Attr::kTensor: return PutDense(attr);
    case Attr::kInts:
      if (typed && !attr.s.empty()) {
        out_ += StrCat("array<", attr.s, attr.ints.empty() ? "" : ": ");
        PutInts(attr.ints, attr.s == "i1");
        out_ += ">";
      } else {
        out_ += "[";
        PutInts(attr.ints, attr.s == "i1");
        out_ += "]";
      }
      break;
    case Attr::kFloats:
      out_ += StrCat("array<", attr.s, attr.floats.empty() ? "" : ": ");
      for (size_t i = 0; i < attr.floats.size(); ++i) {
        if (i != 0) out_ += ", ";
        PutDouble(attr.floats[i]);
      }
      out_ += ">";
      break;
    case Attr::kArray:
      out_ += "[";
      for (size_t i = 0; i < attr.items.size(); ++i) {
        if (i != 0) out_ += ", ";
        X2IR_RETURN_IF_ERROR(PutAttr(attr.items[i], typed));
      }
      out_ += "]";
      break;
    case Attr::kDict: return PutDict(attr.fields);
    case Attr::kEnum:
      if (typed && !attr.name.empty()) {
        const size_t point = attr.name.find('.');
        out_ += StrCat("#", attr.name.substr(0, point), "<", attr.name.substr(point + 1), " ",
                       attr.s, ">");
      } else {
        out_ += attr.s;
      }
      break;
    case Attr::kStruct:
      out_ += StrCat("#", attr.name, "<");
      if (attr.name == "stablehlo.conv") {
        PutConv(attr);
      } else {
        bool first = true;
        for (const auto& [field, value] : attr.fields) {
          // A list that is empty is left out.
          if (value.kind == Attr::kInts && value.ints.empty()) continue;
          out_ += StrCat(first ? "" : ", ", field.view(), " = ");
          first = false;
          X2IR_RETURN_IF_ERROR(PutAttr(value, false));
        }
      }
      out_ += ">";
      break;
    case Attr::kOther: out_ += attr.s; break;
  }
  return absl::OkStatus();
}

// "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]".
void AttrPrinter::PutConv(const Attr& attr) {
  struct Part {
    const char *before, *batch, *batch_field, *feature, *feature_field, *spatial;
  };
  static constexpr Part kParts[] = {{"[", "b", "input_batch_dimension", "f",
                                     "input_feature_dimension", "input_spatial_dimensions"},
                                    {"x[", "o", "kernel_output_feature_dimension", "i",
                                     "kernel_input_feature_dimension", "kernel_spatial_dimensions"},
                                    {"->[", "b", "output_batch_dimension", "f",
                                     "output_feature_dimension", "output_spatial_dimensions"}};
  for (const Part& part : kParts) {
    const Attr* spatial = attr.Find(part.spatial);
    const size_t rank = spatial == nullptr ? 2 : spatial->ints.size() + 2;
    std::vector<std::string> names(rank, "?");
    const auto set = [&](int64_t at, std::string name) {
      if (at >= 0 && at < static_cast<int64_t>(rank)) {
        names[static_cast<size_t>(at)] = std::move(name);
      }
    };
    if (const Attr* batch = attr.Find(part.batch_field)) set(batch->i, part.batch);
    if (const Attr* feature = attr.Find(part.feature_field)) set(feature->i, part.feature);
    for (size_t i = 0; i + 2 < rank; ++i) set(spatial->ints[i], StrCat(i));
    out_ += part.before;
    for (size_t i = 0; i < rank; ++i) out_ += StrCat(i == 0 ? "" : ", ", names[i]);
    out_ += "]";
  }
}

absl::Status AttrPrinter::PutDict(const AttrList& list) {
  out_ += "{";
  bool first = true;
  for (const auto& [key, value] : list) {
    if (!first) out_ += ", ";
    first = false;
    PutSymbol(key);
    if (value.kind == Attr::kUnit) continue;
    out_ += " = ";
    X2IR_RETURN_IF_ERROR(PutAttr(value));
  }
  out_ += "}";
  return absl::OkStatus();
}

}  // namespace x2ir::mlir
