// The elements of dense<...>, as text and as bytes.
#include <algorithm>
#include <bit>
#include <complex>

#include "x2ir/formats/mlir/scanner_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/small_floats.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::mlir {
namespace {

constexpr int kDeepestList = 1024;

// Elements one after the other, each in whole bytes; packed in the end.
class ElementList : public Scanner {
 public:
  ElementList(std::string_view text, DType dtype) : Scanner(text), dtype_(dtype) {}

  // Appends what the text has; says how it is nested.
  absl::Status Parse(std::vector<int64_t>* dims, bool* is_list) {
    *is_list = Next() == '[';
    X2IR_RETURN_IF_ERROR(ParseAt(0, dims));
    if (Next() != '\0') return Invalid("unexpected text in a tensor");
    return absl::OkStatus();
  }
  std::string TakeBytes() { return std::move(bytes_); }
  int64_t count() const { return count_; }

 private:
  absl::Status ParseAt(size_t depth, std::vector<int64_t>* dims) {
    if (depth > kDeepestList) return Invalid("a tensor is nested too deeply");
    if (!TakeChar('[')) {
      if (!leaf_depth_) leaf_depth_ = depth;
      if (*leaf_depth_ != depth) return Invalid("the lists of a tensor differ in depth");
      return ParseElement();
    }
    if (dims->size() == depth) dims->push_back(-1);
    int64_t length = 0;
    if (!TakeChar(']')) {
      do {
        X2IR_RETURN_IF_ERROR(ParseAt(depth + 1, dims));
        ++length;
      } while (TakeChar(','));
      if (!TakeChar(']')) return Invalid("a list of a tensor does not end");
    }
    int64_t& known = (*dims)[depth];
    if (known == -1) known = length;
    if (known != length) return Invalid("the lists of a tensor differ in length");
    return absl::OkStatus();
  }

  absl::Status ParseElement() {
    ++count_;
    if (IsComplex(dtype_)) {
      if (!TakeChar('(')) return Invalid("expected a complex number");
      const DType part = dtype_ == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
      X2IR_RETURN_IF_ERROR(ParseNumberOf(part));
      if (!TakeChar(',')) return Invalid("expected a complex number");
      X2IR_RETURN_IF_ERROR(ParseNumberOf(part));
      if (!TakeChar(')')) return Invalid("expected a complex number");
      return absl::OkStatus();
    }
    return ParseNumberOf(dtype_);
  }

  absl::Status ParseNumberOf(DType dtype) {
    Next();
    size_t end = pos_;
    while (end < text_.size() &&
           (IsWordChar(text_[end]) || text_[end] == '-' || text_[end] == '+')) {
      ++end;
    }
    const std::string_view text = text_.substr(pos_, end - pos_);
    pos_ = end;
    if (dtype == DType::kBool) {
      if (text != "true" && text != "false" && text != "0" && text != "1" && text != "-1") {
        return Invalid("'", text, "' is not a bool");
      }
      bytes_ += text == "false" || text == "0" ? '\0' : '\1';
      return absl::OkStatus();
    }
    const bool hex = text.starts_with("0x") || text.starts_with("-0x");
    const int width = std::max(BitWidth(dtype) / 8, 1);
    if (hex || !IsFloating(dtype)) {
      const bool negative = text.starts_with("-");
      const std::string_view digits = text.substr((hex ? 2 : 0) + (negative ? 1 : 0));
      uint64_t bits = 0;
      const auto [stop, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), bits, hex ? 16 : 10);
      if (error != std::errc() || stop != digits.data() + digits.size()) {
        return Invalid("'", text, "' is not a number");
      }
      if (!Fits(bits, negative, dtype)) {
        return Invalid("'", text, "' is too large for ", Name(dtype));
      }
      if (negative) bits = 0 - bits;
      Append(bits, width);
      return absl::OkStatus();
    }
    const auto number = x2ir::ParseNumber<double>(text);
    if (!number) return Invalid("'", text, "' is not a number");
    if (dtype == DType::kFloat64) {
      Append(std::bit_cast<uint64_t>(*number), 8);
    } else if (dtype == DType::kFloat32) {
      Append(std::bit_cast<uint32_t>(static_cast<float>(*number)), 4);
    } else {
      Append(EncodeSmallFloat(dtype, *number, /*saturate=*/false), width);
    }
    return absl::OkStatus();
  }

  static bool Fits(uint64_t bits, bool negative, DType dtype) {
    const int width = BitWidth(dtype);
    const uint64_t half = uint64_t{1} << (width - 1);
    if (negative) return IsSignedInt(dtype) && bits <= half;
    return width == 64 || bits < half * 2;  // signless: 255 may be an i8
  }

  void Append(uint64_t bits, int width) {
    bytes_.append(reinterpret_cast<const char*>(&bits), static_cast<size_t>(width));
  }

  DType dtype_;
  std::string bytes_;
  int64_t count_ = 0;
  std::optional<size_t> leaf_depth_;
};

absl::StatusOr<std::vector<int64_t>> StaticDims(const Type& type) {
  const auto dims = type.shape() ? type.shape()->Static() : std::nullopt;
  if (!dims) return Invalid("the tensor of a constant has unknown sizes");
  return *dims;
}

absl::StatusOr<Tensor> Owned(DType dtype, std::vector<int64_t> dims, std::string bytes) {
  auto owner = std::make_shared<const std::string>(std::move(bytes));
  const absl::Span<const std::byte> span(reinterpret_cast<const std::byte*>(owner->data()),
                                         owner->size());
  return Tensor::View(dtype, std::move(dims), span, owner);
}

// Elements in a byte each as ours: integers of less than a byte share bytes.
std::string Packed(std::string bytes, DType dtype) {
  const int bits = BitWidth(dtype);
  if (bits >= 8) return bytes;
  const auto count = static_cast<int64_t>(bytes.size());
  std::string packed(static_cast<size_t>(*ByteSize(dtype, count)), '\0');
  for (int64_t i = 0; i < count; ++i) {
    SetPacked(reinterpret_cast<std::byte*>(packed.data()), i, bits,
              static_cast<uint8_t>(bytes[static_cast<size_t>(i)]) & ((1u << bits) - 1));
  }
  return packed;
}

}  // namespace

absl::StatusOr<std::string> BytesOfHex(std::string_view hex) {
  if (!hex.starts_with("0x") && !hex.starts_with("0X")) return Invalid("bytes begin with 0x");
  hex.remove_prefix(2);
  if (hex.size() % 2 != 0) return Invalid("an odd number of hexadecimal digits");
  static constexpr auto kDigits = [] {
    std::array<int8_t, 256> digits{};
    for (auto& d : digits) d = -1;
    for (int i = 0; i < 10; ++i) digits[static_cast<size_t>('0' + i)] = static_cast<int8_t>(i);
    for (int i = 0; i < 6; ++i) {
      digits[static_cast<size_t>('a' + i)] = digits[static_cast<size_t>('A' + i)] =
          static_cast<int8_t>(10 + i);
    }
    return digits;
  }();
  std::string bytes(hex.size() / 2, '\0');
  int bad = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int high = kDigits[static_cast<unsigned char>(hex[2 * i])];
    const int low = kDigits[static_cast<unsigned char>(hex[2 * i + 1])];
    bad |= high | low;
    bytes[i] = static_cast<char>(high << 4 | low);
  }
  if (bad < 0) return Invalid("not a hexadecimal digit");
  return bytes;
}

absl::StatusOr<Tensor> TensorOfBytes(std::string bytes, const Type& type, bool* splat) {
  const DType dtype = type.dtype();
  if (dtype == DType::kUndefined) return Unimplemented("tensors of this element type");
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, StaticDims(type));
  const auto count = CheckedProduct(dims);
  if (!count) return Invalid("a tensor is too large");
  const int bits = BitWidth(dtype);
  const auto size = static_cast<int64_t>(bytes.size());
  *splat = false;
  if (dtype == DType::kBool) {
    if (size == (*count + 7) / 8 && *count != size) {  // bits
      if (size == 1 && *count <= 8 && (bytes[0] == '\xff' || bytes[0] == '\0')) {
        bytes[0] = bytes[0] != '\0';
        *splat = *count != 1;
        return Owned(dtype, *splat ? std::vector<int64_t>{} : dims, std::move(bytes));
      }
      std::string unpacked(static_cast<size_t>(*count), '\0');
      for (size_t i = 0; i < unpacked.size(); ++i) {
        unpacked[i] = static_cast<char>(static_cast<unsigned char>(bytes[i / 8]) >> (i % 8) & 1);
      }
      return Owned(dtype, std::move(dims), std::move(unpacked));
    }
    for (char& c : bytes) c = c != '\0';
    if (size == 1 && *count != 1) {
      *splat = true;
      dims.clear();
    }
    return Owned(dtype, std::move(dims), std::move(bytes));
  }
  const int64_t width = std::max(bits / 8, 1);
  if (size == width && *count != 1) {
    *splat = true;
    dims.clear();
  } else if (size % width != 0 || size / width != *count) {
    return Invalid("a tensor of ", *count, " elements of ", width, " bytes has ", size, " bytes");
  }
  return Owned(dtype, std::move(dims), Packed(std::move(bytes), dtype));
}

absl::StatusOr<Attr> DenseElements(std::string_view text, const TypeRef& type) {
  Attr attr;
  attr.kind = Attr::kTensor;
  attr.type = type;
  const DType dtype = type->type.dtype();
  if (type->kind != MlirType::kTensor && type->kind != MlirType::kOther) {
    return Invalid("the type of dense<> is no tensor's");
  }
  if (type->kind == MlirType::kOther || dtype == DType::kUndefined) {
    attr.kind = Attr::kOther;  // refused where it is used
    attr.s = StrCat("dense<...> of ", type->text);
    return attr;
  }
  X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> dims, StaticDims(type->type));
  const auto count = CheckedProduct(dims);
  if (!count) return Invalid("a tensor is too large");
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) {
    if (*count != 0) return Invalid("a tensor has no elements");
    attr.tensor = Tensor::Zeros(dtype, std::move(dims));
    return attr;
  }
  if (text[begin] == '"') {
    const size_t end = text.find('"', begin + 1);
    if (end == text.npos) return Invalid("a string is not terminated");
    X2IR_ASSIGN_OR_RETURN(std::string bytes, BytesOfHex(text.substr(begin + 1, end - begin - 1)));
    X2IR_ASSIGN_OR_RETURN(attr.tensor, TensorOfBytes(std::move(bytes), type->type, &attr.splat));
    return attr;
  }
  ElementList list(text, dtype);
  std::vector<int64_t> nested;
  bool is_list = false;
  X2IR_RETURN_IF_ERROR(list.Parse(&nested, &is_list));
  if (!is_list) {
    attr.splat = *count != 1;
    if (attr.splat) dims.clear();
  } else if (list.count() != *count || (*count != 0 && nested != dims)) {
    return Invalid("the lists of a tensor do not fit its type, ", type->type.ToString());
  }
  X2IR_ASSIGN_OR_RETURN(attr.tensor,
                        Owned(dtype, std::move(dims), Packed(list.TakeBytes(), dtype)));
  return attr;
}

absl::StatusOr<AttrList> ConvFields(std::string_view text) {
  struct Part {
    char batch, feature;  // 'b' 'f'; of the kernel 'o' 'i'
    std::string_view batch_name, feature_name, spatial_name;
  };
  static constexpr Part kParts[] = {
      {'b', 'f', "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"},
      {'o', 'i', "kernel_output_feature_dimension", "kernel_input_feature_dimension",
       "kernel_spatial_dimensions"},
      {'b', 'f', "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"},
  };
  AttrList fields;
  size_t at = 0;
  for (const Part& part : kParts) {
    const size_t open = text.find('[', at), close = text.find(']', at);
    if (open == text.npos || close == text.npos || close < open) {
      return Invalid("dimension numbers have three lists");
    }
    int64_t batch = -1, feature = -1, position = 0;
    std::vector<std::pair<int64_t, int64_t>> spatial;  // the number, and where it is
    size_t from = open + 1;
    while (from < close) {
      size_t to = std::min(text.find(',', from), close);
      std::string_view word = text.substr(from, to - from);
      while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
      while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
      if (word.size() == 1 && word[0] == part.batch) {
        batch = position;
      } else if (word.size() == 1 && word[0] == part.feature) {
        feature = position;
      } else if (const auto number = ParseIndex(word)) {
        spatial.emplace_back(*number, position);
      } else if (word != "?") {
        return Invalid("'", word, "' is not a dimension");
      }
      ++position;
      from = to + 1;
    }
    if (batch < 0 || feature < 0) return Invalid("dimension numbers lack a batch or a feature");
    std::sort(spatial.begin(), spatial.end());
    Attr dims;
    dims.kind = Attr::kInts;
    for (const auto& [number, where] : spatial) {
      if (number != static_cast<int64_t>(dims.ints.size())) {
        return Invalid("spatial dimensions are not 0, 1, ...");
      }
      dims.ints.push_back(where);
    }
    const auto one = [](int64_t value) {
      Attr attr;
      attr.kind = Attr::kInt;
      attr.i = value;
      return attr;
    };
    fields.emplace_back(part.batch_name, one(batch));
    fields.emplace_back(part.feature_name, one(feature));
    fields.emplace_back(part.spatial_name, std::move(dims));
    at = close + 1;
  }
  return fields;
}

}  // namespace x2ir::mlir
