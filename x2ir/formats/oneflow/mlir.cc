#include <bit>
#include <cctype>

#include "x2ir/formats/oneflow/mlir_internal.h"
#include "x2ir/formats/text_cursor_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::oneflow {
namespace {

constexpr int kMaxDepth = 32;
constexpr int64_t kMaxResults = 4096;

bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
}

// The element type in a tensor's type.
DType ElementType(std::string_view name) {
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"f16", DType::kFloat16},
      {"bf16", DType::kBFloat16},
      {"f32", DType::kFloat32},
      {"f64", DType::kFloat64},
      {"i1", DType::kBool},
      {"i8", DType::kInt8},
      {"si8", DType::kInt8},
      {"ui8", DType::kUInt8},
      {"i16", DType::kInt16},
      {"si16", DType::kInt16},
      {"ui16", DType::kUInt16},
      {"i32", DType::kInt32},
      {"si32", DType::kInt32},
      {"ui32", DType::kUInt32},
      {"i64", DType::kInt64},
      {"si64", DType::kInt64},
      {"ui64", DType::kUInt64},
      {"complex<f32>", DType::kComplex64},
      {"complex<f64>", DType::kComplex128},
  };
  for (const auto& [text, dtype] : kTypes) {
    if (text == name) return dtype;
  }
  return DType::kUndefined;
}

// "2x?x3xf32", what a tensor's type has between its brackets.
MlirType TensorTypeOf(std::string_view text) {
  std::vector<Dim> dims;
  bool ranked = true;
  for (;;) {
    const size_t x = text.find_first_not_of("0123456789?*");
    if (x == 0 || x == text.npos || text[x] != 'x') break;
    const std::string_view size = text.substr(0, x);
    if (size == "*") ranked = false;
    const auto number = ParseIndex(size);
    dims.push_back(number ? Dim(*number) : Dim());
    text.remove_prefix(x + 1);
  }
  text = text.substr(0, text.find(','));
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const DType dtype = ElementType(text);
  if (dtype == DType::kUndefined) return {};
  MlirType type{Type::Tensor(dtype), text == "si8"};
  if (ranked) type.type.set_shape(Shape(std::move(dims)));
  return type;
}

class Parser : public TextCursor {
 public:
  explicit Parser(std::string_view text) : TextCursor(text) {}

  absl::StatusOr<std::vector<MlirJob>> Parse() {
    int modules = 0;
    while (Next() != '\0') {
      if (TakeChar('}')) {
        if (--modules < 0) return Fail("an unexpected '}'");
        continue;
      }
      if (Peek() == '#' || Peek() == '!') {  // an alias
        X2IR_RETURN_IF_ERROR(SkipAlias());
        continue;
      }
      X2IR_ASSIGN_OR_RETURN(const std::string_view word, Word());
      if (word == "module" || word == "builtin.module") {
        X2IR_RETURN_IF_ERROR(SkipTo('{'));
        ++modules;
        continue;
      }
      if (word != "oneflow.job" && word != "func.func" && word != "func") {
        return Fail(StrCat("expected a module or a job, found '", word, "'"));
      }
      X2IR_RETURN_IF_ERROR(ParseJob());
    }
    if (modules != 0) return Fail("a module does not end");
    return std::move(jobs_);
  }

 private:
  // --- Words ------------------------------------------------------------------------------------
  // The next character that is neither space nor comment.
  char Next() {
    while (Peek() == '/' && text_.substr(pos_).starts_with("//")) {
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    }
    return Peek();
  }
  bool TakeChar(char c) {
    Next();
    return Take(c);
  }
  absl::Status ExpectChar(char c) {
    Next();
    return Expect(c);
  }
  bool TakeText(std::string_view what) {
    Next();
    if (!text_.substr(pos_).starts_with(what)) return false;
    pos_ += what.size();
    return true;
  }
  absl::StatusOr<std::string_view> Word() {
    Next();
    const size_t from = pos_;
    while (pos_ < text_.size() && IsWordChar(text_[pos_])) ++pos_;
    if (pos_ == from) return Fail("expected a word");
    return text_.substr(from, pos_ - from);
  }
  // "%name" or "%name#1".
  absl::StatusOr<std::string> ValueName() {
    X2IR_RETURN_IF_ERROR(ExpectChar('%'));
    const size_t from = pos_;
    while (pos_ < text_.size() && (IsWordChar(text_[pos_]) || text_[pos_] == '-')) ++pos_;
    if (pos_ == from) return Fail("expected the name of a value");
    if (pos_ < text_.size() && text_[pos_] == '#') {
      ++pos_;
      const size_t number = pos_;
      while (pos_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[pos_]))) ++pos_;
      // The first of several has no number in our names.
      if (text_.substr(number, pos_ - number) == "0") {
        return StrCat("%", text_.substr(from, number - 1 - from));
      }
    }
    return StrCat("%", text_.substr(from, pos_ - from));
  }
  // Between quotation marks, escapes resolved.
  absl::StatusOr<std::string> String() {
    X2IR_RETURN_IF_ERROR(ExpectChar('"'));
    std::string out;
    while (pos_ < text_.size() && text_[pos_] != '"') {
      char c = text_[pos_++];
      if (c == '\n') return Fail("a string is not terminated");
      if (c != '\\') {
        out += c;
        continue;
      }
      if (pos_ >= text_.size()) break;
      c = text_[pos_++];
      if (c == 'n') {
        out += '\n';
      } else if (c == 't') {
        out += '\t';
      } else if (c == '"' || c == '\\') {
        out += c;
      } else {
        const std::string_view hex = text_.substr(pos_ - 1, 2);
        unsigned value = 0;
        const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
        if (error != std::errc() || end != hex.data() + 2) return Fail("an unknown escape");
        ++pos_;
        out += static_cast<char>(value);
      }
    }
    if (pos_ >= text_.size()) return Fail("a string is not terminated");
    ++pos_;
    return out;
  }
  // The content of brackets of any kind, up to their end; the cursor is before the first.
  absl::StatusOr<std::string_view> Balanced() {
    const size_t from = pos_;
    int depth = 0;
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (c == '"') {
        X2IR_RETURN_IF_ERROR(String().status());
        continue;
      }
      ++pos_;
      if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
      const bool arrow = c == '>' && text_[pos_ - 2] == '-';
      if ((c == '>' && !arrow) || c == ')' || c == ']' || c == '}') {
        if (--depth == 0) return text_.substr(from, pos_ - from);
        if (depth < 0) break;
      }
    }
    return Fail("brackets do not match");
  }
  absl::Status SkipTo(char c) {
    while (Next() != '\0' && Peek() != c) {
      if (Peek() == '"') {
        X2IR_RETURN_IF_ERROR(String().status());
      } else {
        ++pos_;
      }
    }
    return ExpectChar(c);
  }
  // "#loc = loc(unknown)".
  absl::Status SkipAlias() {
    ++pos_;
    X2IR_RETURN_IF_ERROR(Word().status());
    X2IR_RETURN_IF_ERROR(ExpectChar('='));
    return SkipOpaque();
  }
  // A word with a sigil or without, and the brackets after it.
  absl::Status SkipOpaque() {
    if (Next() == '#' || Peek() == '!' || Peek() == '@') ++pos_;
    if (IsWordChar(Peek())) X2IR_RETURN_IF_ERROR(Word().status());
    if (Peek() == '<' || Peek() == '(') X2IR_RETURN_IF_ERROR(Balanced().status());
    return absl::OkStatus();
  }

  // --- Types ------------------------------------------------------------------------------------
  absl::StatusOr<MlirType> ParseType() {
    if (TakeText("tensor<")) {
      --pos_;
      X2IR_ASSIGN_OR_RETURN(const std::string_view text, Balanced());
      return TensorTypeOf(text.substr(1, text.size() - 2));
    }
    const size_t before = pos_;
    X2IR_RETURN_IF_ERROR(SkipOpaque());
    if (pos_ == before) return Fail("expected a type");
    return MlirType{};
  }
  // "T", or "(T, T)".
  absl::StatusOr<std::vector<MlirType>> ParseTypes() {
    std::vector<MlirType> types;
    if (!TakeChar('(')) {
      X2IR_ASSIGN_OR_RETURN(types.emplace_back(), ParseType());
      return types;
    }
    if (TakeChar(')')) return types;
    do {
      X2IR_ASSIGN_OR_RETURN(types.emplace_back(), ParseType());
    } while (TakeChar(','));
    X2IR_RETURN_IF_ERROR(ExpectChar(')'));
    return types;
  }

  // --- Attributes -------------------------------------------------------------------------------
  absl::StatusOr<MlirAttr> ParseNumber() {
    Next();
    const size_t from = pos_;
    while (pos_ < text_.size() &&
           (IsWordChar(text_[pos_]) || text_[pos_] == '-' || (text_[pos_] == '+' && pos_ > from))) {
      ++pos_;
    }
    const std::string_view text = text_.substr(from, pos_ - from);
    MlirAttr attr;
    std::string_view type;
    if (TakeChar(':')) {
      X2IR_ASSIGN_OR_RETURN(type, Word());
    }
    const bool is_float = type == "f32" || type == "f64" || type == "f16" || type == "bf16";
    if (text.starts_with("0x")) {  // of floats: the bits
      uint64_t bits = 0;
      const auto [end, error] =
          std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
      if (error != std::errc() || end != text.data() + text.size()) return Fail("not a number");
      attr.kind = is_float ? MlirAttr::kFloat : MlirAttr::kInt;
      attr.i = static_cast<int64_t>(bits);
      attr.f = type == "f32" ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                             : std::bit_cast<double>(bits);
      return attr;
    }
    if (const auto i = x2ir::ParseNumber<int64_t>(text); i && !is_float) {
      attr.kind = MlirAttr::kInt;
      attr.i = *i;
      return attr;
    }
    if (const auto u = x2ir::ParseNumber<uint64_t>(text); u && !is_float) {
      attr.kind = MlirAttr::kInt;
      attr.i = static_cast<int64_t>(*u);
      return attr;
    }
    const auto f = x2ir::ParseNumber<double>(text);
    if (!f) return Fail("not a number");
    attr.kind = MlirAttr::kFloat;
    attr.f = *f;
    return attr;
  }

  absl::StatusOr<MlirAttr> ParseArray(char end) {
    MlirAttr array{.kind = MlirAttr::kArray};
    if (TakeChar(end)) return array;
    do {
      X2IR_ASSIGN_OR_RETURN(array.items.emplace_back(), ParseAttr());
    } while (TakeChar(','));
    X2IR_RETURN_IF_ERROR(ExpectChar(end));
    return array;
  }

  absl::StatusOr<MlirAttr> ParseAttr() {
    if (++depth_ > kMaxDepth) return Fail("attributes are nested too deeply");
    absl::StatusOr<MlirAttr> attr = ParseAttrInside();
    --depth_;
    return attr;
  }

  absl::StatusOr<MlirAttr> ParseAttrInside() {
    const char c = Next();
    if (c == '[') {
      ++pos_;
      return ParseArray(']');
    }
    if (c == '"') {
      X2IR_ASSIGN_OR_RETURN(std::string text, String());
      if (TakeChar(':')) X2IR_RETURN_IF_ERROR(ParseType().status());
      return MlirAttr{.kind = MlirAttr::kString, .s = std::move(text)};
    }
    if (c == '-' || std::isdigit(static_cast<unsigned char>(c))) return ParseNumber();
    if (TakeText("array<")) {  // "array<i32: 1, 2>", "array<i32>"
      X2IR_RETURN_IF_ERROR(Word().status());
      if (TakeChar('>')) return MlirAttr{.kind = MlirAttr::kArray};
      X2IR_RETURN_IF_ERROR(ExpectChar(':'));
      return ParseArray('>');
    }
    if (TakeText("dense<")) {
      X2IR_ASSIGN_OR_RETURN(MlirAttr value, ParseAttr());
      X2IR_RETURN_IF_ERROR(ExpectChar('>'));
      X2IR_RETURN_IF_ERROR(ExpectChar(':'));
      X2IR_RETURN_IF_ERROR(ParseType().status());
      if (value.kind == MlirAttr::kArray) return value;
      return MlirAttr{.kind = MlirAttr::kOther};
    }
    if (c == '{') {
      X2IR_RETURN_IF_ERROR(Balanced().status());
      return MlirAttr{.kind = MlirAttr::kOther};
    }
    if (c == '@') {
      ++pos_;
      X2IR_ASSIGN_OR_RETURN(const std::string_view symbol, Word());
      return MlirAttr{.kind = MlirAttr::kString, .s = std::string(symbol)};
    }
    if (c == '#' || c == '!') {
      X2IR_RETURN_IF_ERROR(SkipOpaque());
      return MlirAttr{.kind = MlirAttr::kOther};
    }
    const size_t before = pos_;
    X2IR_ASSIGN_OR_RETURN(const std::string_view word, Word());
    if (word == "true" || word == "false")
      return MlirAttr{.kind = MlirAttr::kBool, .i = word == "true"};
    if (word == "unit") return MlirAttr{};
    pos_ = before;
    X2IR_RETURN_IF_ERROR(SkipOpaque());
    return MlirAttr{.kind = MlirAttr::kOther};
  }

  // "{a = 1, b}", with the brace that it begins with.
  absl::Status ParseAttrs(MlirOp* op) {
    X2IR_RETURN_IF_ERROR(ExpectChar('{'));
    if (TakeChar('}')) return absl::OkStatus();
    do {
      std::string name;
      if (Next() == '"') {
        X2IR_ASSIGN_OR_RETURN(name, String());
      } else {
        X2IR_ASSIGN_OR_RETURN(name, Word());
      }
      MlirAttr value;
      if (TakeChar('=')) {
        X2IR_ASSIGN_OR_RETURN(value, ParseAttr());
      }
      op->attrs.emplace_back(std::move(name), std::move(value));
    } while (TakeChar(','));
    return ExpectChar('}');
  }

  // --- Ops --------------------------------------------------------------------------------------
  absl::Status ParseJob() {
    MlirJob job;
    if (Next() != '@') X2IR_RETURN_IF_ERROR(Word().status());  // "private"
    X2IR_RETURN_IF_ERROR(ExpectChar('@'));
    if (Next() == '"') {
      X2IR_ASSIGN_OR_RETURN(job.name, String());
    } else {
      X2IR_ASSIGN_OR_RETURN(job.name, Word());
    }
    X2IR_RETURN_IF_ERROR(ExpectChar('('));
    if (!TakeChar(')')) {
      do {
        auto& [name, type] = job.arguments.emplace_back();
        X2IR_ASSIGN_OR_RETURN(name, ValueName());
        X2IR_RETURN_IF_ERROR(ExpectChar(':'));
        X2IR_ASSIGN_OR_RETURN(type, ParseType());
        if (Next() == '{') X2IR_RETURN_IF_ERROR(Balanced().status());
      } while (TakeChar(','));
      X2IR_RETURN_IF_ERROR(ExpectChar(')'));
    }
    if (TakeText("->")) X2IR_RETURN_IF_ERROR(ParseTypes().status());
    if (TakeText("attributes")) {
      Next();
      X2IR_RETURN_IF_ERROR(Balanced().status());
    }
    X2IR_RETURN_IF_ERROR(ExpectChar('{'));
    while (!TakeChar('}')) {
      if (Next() == '\0') return Fail("a job does not end");
      X2IR_RETURN_IF_ERROR(ParseOp(&job));
    }
    jobs_.push_back(std::move(job));
    return absl::OkStatus();
  }

  absl::Status ParseOp(MlirJob* job) {
    MlirOp op;
    std::vector<int64_t> counts;
    if (Next() == '%') {
      do {
        X2IR_ASSIGN_OR_RETURN(op.results.emplace_back(), ValueName());
        counts.push_back(1);
        if (TakeChar(':')) {
          X2IR_ASSIGN_OR_RETURN(const std::string_view text, Word());
          const auto count = ParseIndex(text);
          if (!count || *count < 1 || *count > kMaxResults) return Fail("not a number of results");
          const std::string name = op.results.back();
          for (int64_t i = 1; i < *count; ++i) op.results.push_back(StrCat(name, "#", i));
        }
      } while (TakeChar(','));
      X2IR_RETURN_IF_ERROR(ExpectChar('='));
    }
    if (Next() != '"') {
      X2IR_ASSIGN_OR_RETURN(const std::string_view word, Word());
      if (word != "oneflow.return" && word != "return" && word != "func.return") {
        return Fail(StrCat("expected an op in the generic form, found '", word, "'"));
      }
      if (Next() != '%') return absl::OkStatus();
      do {
        X2IR_ASSIGN_OR_RETURN(job->returns.emplace_back(), ValueName());
      } while (TakeChar(','));
      X2IR_RETURN_IF_ERROR(ExpectChar(':'));
      do {
        X2IR_RETURN_IF_ERROR(ParseType().status());
      } while (TakeChar(','));
      return absl::OkStatus();
    }
    X2IR_ASSIGN_OR_RETURN(op.name, String());
    X2IR_RETURN_IF_ERROR(ExpectChar('('));
    if (!TakeChar(')')) {
      do {
        X2IR_ASSIGN_OR_RETURN(op.operands.emplace_back(), ValueName());
      } while (TakeChar(','));
      X2IR_RETURN_IF_ERROR(ExpectChar(')'));
    }
    if (TakeChar('<')) {  // properties
      X2IR_RETURN_IF_ERROR(ParseAttrs(&op));
      X2IR_RETURN_IF_ERROR(ExpectChar('>'));
    }
    if (Next() == '(') return Fail(StrCat("'", op.name, "' has a region, which is not supported,"));
    if (Next() == '{') X2IR_RETURN_IF_ERROR(ParseAttrs(&op));
    X2IR_RETURN_IF_ERROR(ExpectChar(':'));
    X2IR_ASSIGN_OR_RETURN(const std::vector<MlirType> operands, ParseTypes());
    if (!TakeText("->")) return Fail("expected '->'");
    X2IR_ASSIGN_OR_RETURN(op.types, ParseTypes());
    if (TakeText("loc(")) {
      --pos_;
      X2IR_RETURN_IF_ERROR(Balanced().status());
    }
    if (operands.size() != op.operands.size())
      return Fail("operands and their types differ in number");
    if (op.types.size() != op.results.size())
      return Fail("results and their types differ in number");
    job->ops.push_back(std::move(op));
    return absl::OkStatus();
  }

  std::vector<MlirJob> jobs_;
  int depth_ = 0;
};

}  // namespace

const MlirAttr* MlirOp::Find(std::string_view attr) const {
  for (const auto& [name, value] : attrs) {
    if (name == attr) return &value;
  }
  return nullptr;
}

absl::StatusOr<std::vector<MlirJob>> ParseMlir(std::string_view text) {
  return Parser(text).Parse();
}

}  // namespace x2ir::oneflow
