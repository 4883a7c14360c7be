// Types in MLIR's text.
#include "x2ir/formats/mlir/scanner_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::mlir {
namespace {

constexpr int kDeepestType = 64;
constexpr int64_t kHighestRank = 1024;

TypeRef ScalarOf(DType dtype) {
  auto made = std::make_shared<MlirType>();
  made->kind = MlirType::kScalar;
  made->type = Type::Tensor(dtype, Shape());
  return made;
}

// The range of an integer type of storage: "i8", "u4".
std::pair<int64_t, int64_t> StorageRange(DType storage) {
  const int bits = BitWidth(storage);
  if (IsUnsignedInt(storage)) {
    return {0, bits >= 63 ? INT64_MAX : (int64_t{1} << bits) - 1};
  }
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

}  // namespace

absl::StatusOr<TypeRef> AttrParser::ParseType() {
  if (++depth_ > kDeepestType) return Fail("types are nested too deeply");
  absl::StatusOr<TypeRef> type = ParseTypeInside();
  --depth_;
  return type;
}

absl::StatusOr<TypeRef> AttrParser::ParseTypeInside() {
  const char c = Next();
  if (c == '(') return ParseFunctionType();
  if (c == '!') {
    ++pos_;
    X2IR_ASSIGN_OR_RETURN(const std::string_view name, Word());
    if (name == "stablehlo.token" || name == "mhlo.token") return PlainType(MlirType::kToken);
    if (name == "quant.uniform") return ParseQuantized();
    if (const auto alias = type_aliases_.find(name); alias != type_aliases_.end()) {
      return alias->second;
    }
    auto other = std::make_shared<MlirType>();
    const size_t from = pos_ - name.size() - 1;
    if (pos_ < text_.size() && text_[pos_] == '<') X2IR_RETURN_IF_ERROR(Balanced().status());
    other->text = text_.substr(from, pos_ - from);
    return other;
  }
  const size_t start = pos_;
  X2IR_ASSIGN_OR_RETURN(const std::string_view word, Word());
  if (word == "tensor" || word == "vector") {
    if (Next() != '<') return Fail("expected '<'");
    X2IR_ASSIGN_OR_RETURN(const std::string_view inside, Balanced());
    if (const auto known = types_.find(inside); known != types_.end()) return known->second;
    // The text ends with the bracket while what is inside is parsed.
    const std::string_view all = text_;
    const size_t end = pos_;
    text_ = text_.substr(0, end - 1);
    pos_ = end - inside.size() + 1;
    absl::StatusOr<TypeRef> type = ParseTensor();
    text_ = all;
    if (!type.ok()) return type;
    pos_ = end;
    types_.emplace(inside, *type);
    return type;
  }
  if (word == "tuple") {
    X2IR_RETURN_IF_ERROR(ExpectChar('<'));
    auto tuple = std::make_shared<MlirType>();
    tuple->kind = MlirType::kTuple;
    if (TakeChar('>')) return tuple;
    X2IR_ASSIGN_OR_RETURN(tuple->items, ParseTypeList());
    X2IR_RETURN_IF_ERROR(ExpectChar('>'));
    return tuple;
  }
  if (word == "index") return PlainType(MlirType::kIndex);
  if (word == "none") return PlainType(MlirType::kNone);
  if (word == "complex") {
    if (Next() != '<') return Fail("expected '<'");
    X2IR_ASSIGN_OR_RETURN(const std::string_view inside, Balanced());
    return ScalarOf(ElementOf(StrCat("complex", inside)));
  }
  if (const DType dtype = ElementOf(word); dtype != DType::kUndefined) {
    return ScalarOf(dtype);
  }
  if (pos_ < text_.size() && text_[pos_] == '<') X2IR_RETURN_IF_ERROR(Balanced().status());
  auto other = std::make_shared<MlirType>();
  other->text = text_.substr(start, pos_ - start);
  const bool is_number = word == "tf32" || (word.size() > 1 && (word[0] == 'f' || word[0] == 'i') &&
                                            std::isdigit(static_cast<unsigned char>(word[1])));
  if (is_number) {
    other->kind = MlirType::kScalar;
    other->type = Type::Tensor(DType::kUndefined, Shape());
  } else if (word != "memref") {
    return Fail(StrCat("'", word, "' is not a type"));
  }
  return other;
}

// "2x?x3xf32", "*xf32", "2xi8, #stablehlo.bounds<?>": what a tensor's type has between its
// brackets.
absl::StatusOr<TypeRef> AttrParser::ParseTensor() {
  std::vector<Dim> dims;
  bool ranked = true;
  for (;;) {
    Next();
    const size_t x = text_.find_first_not_of("0123456789?*", pos_);
    if (x == pos_ || x == text_.npos || text_[x] != 'x') break;
    const std::string_view size = text_.substr(pos_, x - pos_);
    if (size == "*") {
      ranked = false;
    } else if (size == "?") {
      dims.emplace_back();
    } else {
      const auto number = ParseIndex(size);
      if (!number) return Fail("not a size");
      dims.emplace_back(*number);
    }
    if (static_cast<int64_t>(dims.size()) > kHighestRank) return Fail("a rank is too high");
    pos_ = x + 1;
  }
  X2IR_ASSIGN_OR_RETURN(const TypeRef element, ParseType());
  auto type = std::make_shared<MlirType>();
  type->kind = MlirType::kTensor;
  type->quantization = element->quantization;
  const size_t rank = dims.size();
  if (element->kind == MlirType::kIndex) {
    type->type = Type::Tensor(DType::kInt64);
    type->text = "index";
  } else if (element->kind == MlirType::kScalar) {
    type->type = Type::Tensor(element->type.dtype());
    type->text = element->text;
  } else {
    type->type = Type::Tensor(DType::kUndefined);
    type->text = element->text;
  }
  if (text_.ends_with("si8")) type->text = "si8";  // OneFlow writes bools so, too
  if (ranked) type->type.set_shape(Shape(std::move(dims)));
  if (TakeChar(',')) {  // an encoding
    X2IR_ASSIGN_OR_RETURN(const Attr encoding, ParseAttr());
    if (encoding.name == "stablehlo.bounds" || encoding.name == "mhlo.bounds" ||
        encoding.name == "stablehlo.type_extensions") {
      if (encoding.ints.size() != rank) return Fail("bounds do not fit the rank");
      type->bounds = encoding.ints;
    } else if (encoding.kind == Attr::kString) {
      // A name that nothing here depends on.
    } else {
      type->type = Type::Tensor(DType::kUndefined);
      type->text = StrCat("a tensor with the encoding ", encoding.s);
    }
  }
  if (Next() != '\0') return Fail("unexpected text");
  return type;
}

// "<i8<-128:127>:f32:1, {0.1:3, 0.2}>", after "!quant.uniform".
absl::StatusOr<TypeRef> AttrParser::ParseQuantized() {
  Quantization q;
  X2IR_RETURN_IF_ERROR(ExpectChar('<'));
  X2IR_ASSIGN_OR_RETURN(const std::string_view storage, Word());
  q.storage = storage.starts_with("u") && !storage.starts_with("ui")
                  ? ElementOf(StrCat("ui", storage.substr(1)))
                  : ElementOf(storage);
  if (!IsInteger(q.storage)) return Fail("not a type of storage");
  std::tie(q.storage_min, q.storage_max) = StorageRange(q.storage);
  if (TakeChar('<')) {
    X2IR_ASSIGN_OR_RETURN(q.storage_min, Integer());
    X2IR_RETURN_IF_ERROR(ExpectChar(':'));
    X2IR_ASSIGN_OR_RETURN(q.storage_max, Integer());
    X2IR_RETURN_IF_ERROR(ExpectChar('>'));
  }
  X2IR_RETURN_IF_ERROR(ExpectChar(':'));
  X2IR_ASSIGN_OR_RETURN(const std::string_view expressed, Word());
  q.expressed = ElementOf(expressed);
  if (!IsFloating(q.expressed)) return Fail("not a type of numbers");
  if (TakeChar(':')) {
    if (TakeChar('{')) {
      do {
        X2IR_ASSIGN_OR_RETURN(q.axes.emplace_back(), Integer());
        X2IR_RETURN_IF_ERROR(ExpectChar(':'));
        X2IR_ASSIGN_OR_RETURN(q.block_sizes.emplace_back(), Integer());
      } while (TakeChar(','));
      X2IR_RETURN_IF_ERROR(ExpectChar('}'));
    } else {
      X2IR_ASSIGN_OR_RETURN(q.axes.emplace_back(), Integer());
    }
  }
  X2IR_RETURN_IF_ERROR(ExpectChar(','));
  int depth = 0;
  do {
    while (TakeChar('{')) ++depth;
    X2IR_ASSIGN_OR_RETURN(q.scales.emplace_back(), ParseScale());
    q.zero_points.push_back(0);
    if (TakeChar(':')) {
      X2IR_ASSIGN_OR_RETURN(q.zero_points.back(), Integer());
    }
    while (depth > 0 && TakeChar('}')) --depth;
  } while (TakeChar(','));
  if (depth != 0) return Fail("brackets do not match");
  X2IR_RETURN_IF_ERROR(ExpectChar('>'));
  auto made = std::make_shared<MlirType>();
  made->kind = MlirType::kScalar;
  made->type = Type::Tensor(q.storage, Shape());
  made->quantization = std::make_shared<const Quantization>(std::move(q));
  return made;
}

absl::StatusOr<double> AttrParser::ParseScale() {
  Next();
  const size_t end = text_.find_first_not_of("0123456789+-.eE", pos_);
  const std::string_view number = text_.substr(pos_, std::min(end, text_.size()) - pos_);
  const auto scale = x2ir::ParseNumber<double>(number);
  if (!scale) return Fail("not a scale");
  pos_ += number.size();
  return *scale;
}

absl::StatusOr<TypeRef> AttrParser::ParseFunctionType() {
  X2IR_ASSIGN_OR_RETURN(std::vector<TypeRef> arguments, ParseTypes());
  X2IR_RETURN_IF_ERROR(ExpectText("->"));
  X2IR_ASSIGN_OR_RETURN(std::vector<TypeRef> results, ParseTypes());
  return FunctionType(std::move(arguments), std::move(results));
}

absl::StatusOr<std::vector<TypeRef>> AttrParser::ParseTypeList() {
  std::vector<TypeRef> types;
  do {
    X2IR_ASSIGN_OR_RETURN(types.emplace_back(), ParseType());
  } while (TakeChar(','));
  return types;
}

absl::StatusOr<std::vector<TypeRef>> AttrParser::ParseTypes() {
  if (!TakeChar('(')) {
    X2IR_ASSIGN_OR_RETURN(TypeRef type, ParseType());
    return std::vector<TypeRef>{std::move(type)};
  }
  if (TakeChar(')')) return std::vector<TypeRef>{};
  X2IR_ASSIGN_OR_RETURN(std::vector<TypeRef> types, ParseTypeList());
  X2IR_RETURN_IF_ERROR(ExpectChar(')'));
  return types;
}

}  // namespace x2ir::mlir
