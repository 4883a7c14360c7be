#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "absl/strings/str_join.h"
#include "x2ir/formats/module_names.h"
#include "x2ir/formats/python/text_internal.h"

namespace x2ir::python {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string Shortest(double number) {
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return std::string(buffer.data(), end);
}
std::string Shortest(float number) {
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return std::string(buffer.data(), end);
}

// An expression of sizes as Dim writes it: sums, products, numbers, names, and calls of floordiv,
// mod, min and max.
class SizeParser {
 public:
  SizeParser(std::string_view text, const StringMap<std::string>& names)
      : text_(text), names_(names) {}

  Expr Sum() {
    Expr left = Product();
    while (Peek() == '+' || Peek() == '-') {
      const char op = text_[at_++];
      const Expr right = Product();
      left = {StrCat(left.In(kSum), std::string(" ") + op + " ", right.In(kSum + 1)), kSum};
    }
    return left;
  }

 private:
  char Peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  Expr Product() {
    Expr left = Unary();
    while (Peek() == '*') {
      ++at_;
      left = {StrCat(left.In(kProduct), " * ", Unary().In(kProduct + 1)), kProduct};
    }
    return left;
  }

  Expr Unary() {
    if (Peek() == '-') {
      ++at_;
      return {StrCat("-", Unary().In(kUnary)), kUnary};
    }
    if (Peek() == '(') {
      ++at_;
      Expr inner = Sum();
      if (Peek() == ')') ++at_;
      return inner;
    }
    const size_t start = at_;
    while (at_ < text_.size() && (IsLetter(text_[at_]) || IsDigit(text_[at_]) || text_[at_] == '.'))
      ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    if (word.empty()) {
      at_ = text_.size();
      return {"0"};
    }
    if (Peek() != '(') return IsDigit(word[0]) ? Expr{std::string(word)} : Name(word);
    ++at_;
    const Expr a = Sum();
    if (Peek() == ',') ++at_;
    const Expr b = Sum();
    if (Peek() == ')') ++at_;
    if (word == "floordiv") {
      return {StrCat(a.In(kProduct), " // ", b.In(kProduct + 1)), kProduct};
    }
    if (word == "mod") return {StrCat(a.In(kProduct), " % ", b.In(kProduct + 1)), kProduct};
    return {StrCat(word, "(", a.text, ", ", b.text, ")")};
  }

  Expr Name(std::string_view name) {
    const auto it = names_.find(name);
    return {it == names_.end() ? Identifier(name, "size") : it->second};
  }

  std::string_view text_;
  size_t at_ = 0;
  const StringMap<std::string>& names_;
};

}  // namespace

std::string ElementLiteral(const Tensor& tensor, int64_t at) {
  if (tensor.dtype() == DType::kBool) return tensor.AsInt(at) != 0 ? "True" : "False";
  if (IsFloating(tensor.dtype())) {
    return FloatLiteral(tensor.AsDouble(at), tensor.dtype() != DType::kFloat64);
  }
  if (tensor.dtype() == DType::kUInt64) return StrCat(static_cast<uint64_t>(tensor.AsInt(at)));
  return StrCat(tensor.AsInt(at));
}

namespace {

void AppendElements(std::string& out, const Tensor& tensor, size_t axis, int64_t& at) {
  if (axis == tensor.dims().size()) {
    out += ElementLiteral(tensor, at);
    ++at;
    return;
  }
  out += '[';
  for (int64_t i = 0; i < tensor.dim(static_cast<int64_t>(axis)); ++i) {
    if (i != 0) out += ", ";
    AppendElements(out, tensor, axis + 1, at);
  }
  out += ']';
}

}  // namespace

std::string StringLiteral(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out + "\"";
}

std::string FloatLiteral(double number, bool as_float32) {
  if (std::isnan(number)) return "float(\"nan\")";
  if (std::isinf(number)) return number < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  const bool is_float32 = as_float32 && static_cast<double>(static_cast<float>(number)) == number;
  std::string text = is_float32 ? Shortest(static_cast<float>(number)) : Shortest(number);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  if (const size_t plus = text.find("e+"); plus != text.npos) text.erase(plus + 1, 1);
  return text;
}

std::string TensorLiteral(const Tensor& tensor) {
  std::string out;
  int64_t at = 0;
  AppendElements(out, tensor, 0, at);
  return out;
}

std::string_view DTypeName(DType t) {
  switch (t) {
    case DType::kFloat32: return "float32";
    case DType::kFloat64: return "float64";
    case DType::kFloat16: return "float16";
    case DType::kBFloat16: return "bfloat16";
    case DType::kInt64: return "int64";
    case DType::kInt32: return "int32";
    case DType::kInt16: return "int16";
    case DType::kInt8: return "int8";
    case DType::kUInt8: return "uint8";
    case DType::kUInt16: return "uint16";
    case DType::kUInt32: return "uint32";
    case DType::kUInt64: return "uint64";
    case DType::kBool: return "bool";
    case DType::kComplex64: return "complex64";
    case DType::kComplex128: return "complex128";
    case DType::kFloat8E4M3FN: return "float8_e4m3fn";
    case DType::kFloat8E5M2: return "float8_e5m2";
    case DType::kFloat8E4M3FNUZ: return "float8_e4m3fnuz";
    case DType::kFloat8E8M0: return "float8_e8m0fnu";
    case DType::kFloat8E5M2FNUZ: return "float8_e5m2fnuz";
    default: return {};
  }
}

Expr SizeExpr(const Dim& dim, const StringMap<std::string>& names) {
  if (dim.is_static()) {
    return {StrCat(dim.value()), dim.value() < 0 ? int{kUnary} : int{kAtom}};
  }
  // Names as people gave them may look like anything.
  StringMap<std::string> plain_names;
  Names taken;
  const Dim plain = dim.Substitute([&](std::string_view name) {
    std::string stand_in = taken.Unique("s");
    const auto it = names.find(name);
    plain_names[stand_in] = it == names.end() ? Identifier(name, "size") : it->second;
    return std::optional(Dim::Symbol(stand_in));
  });
  return SizeParser(plain.ToString(), plain_names).Sum();
}

std::string Tuple(const std::vector<std::string>& items) {
  return items.size() == 1 ? StrCat("(", items[0], ",)")
                           : StrCat("(", absl::StrJoin(items, ", "), ")");
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && IsLetter(text[0]) && !IsPythonKeyword(text) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLetter(c) || IsDigit(c); });
}

std::string Identifier(std::string_view text, std::string_view fallback) {
  std::string out;
  for (const char c : text) {
    if (out.size() >= 64) break;
    if (IsLetter(c) || IsDigit(c)) {
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  // In a class Python changes a name that begins with two.
  if (const size_t first = out.find_first_not_of('_'); first != out.npos && first > 1) {
    out.erase(0, first - 1);
  }
  if (out.empty()) out = fallback;
  if (IsDigit(out[0])) out = StrCat(fallback, "_", out);
  if (IsPythonKeyword(out)) out += '_';
  return out;
}

std::string ClassName(std::string_view text) {
  std::string out;
  bool upper = true;
  for (const char c : text) {
    if (!IsLetter(c) && !IsDigit(c)) continue;
    if (c == '_') {
      upper = true;
      continue;
    }
    if (out.empty() && IsDigit(c)) continue;
    out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = IsDigit(c);
    if (out.size() >= 40) break;
  }
  return out.empty() ? "Block" : out;
}

std::string Names::Unique(std::string_view text) {
  std::string name(text);
  if (taken_.insert(name).second) return name;
  int& next = next_.try_emplace(name, 2).first->second;
  do {
    name = StrCat(text, "_", next++);
  } while (!taken_.insert(name).second);
  return name;
}

}  // namespace x2ir::python
