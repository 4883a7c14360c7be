#include "x2ir/formats/nnef/items.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace nnef {
namespace {

constexpr size_t kMaxItems = size_t{1} << 20;
constexpr int kMaxNesting = 64;

struct OperatorName {
  std::string_view sign, name;
};
constexpr OperatorName kBinaryNames[] = {
    {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"^", "pow"},  {"<", "lt"}, {">", "gt"},
    {"<=", "le"}, {">=", "ge"}, {"==", "eq"}, {"!=", "ne"}, {"&&", "and"}, {"||", "or"}};

absl::Status Overflow(std::string_view op) { return Invalid("'", op, "' of numbers too large"); }

absl::StatusOr<Item> OfInts(std::string_view op, int64_t x, int64_t y) {
  int64_t z = 0;
  bool over = false;
  if (op == "+") over = __builtin_add_overflow(x, y, &z);
  if (op == "-") over = __builtin_sub_overflow(x, y, &z);
  if (op == "*") over = __builtin_mul_overflow(x, y, &z);
  if (over) return Overflow(op);
  if (op != "/" && op != "^") return Item::Int(z);
  if (op == "/") {
    if (y == 0 || (y == -1 && x == std::numeric_limits<int64_t>::min())) {
      return Invalid("a division by zero");
    }
    return Item::Int(x / y);
  }
  // A power.
  if (y < 0 || y > 63) return Invalid("the exponent ", y, " of an integer");
  int64_t power = 1;
  for (int64_t i = 0; i < y; ++i) {
    if (__builtin_mul_overflow(power, x, &power)) return Overflow(op);
  }
  return Item::Int(power);
}

Item OfReals(std::string_view op, double x, double y) {
  if (op == "+") return Item::Real(x + y);
  if (op == "-") return Item::Real(x - y);
  if (op == "*") return Item::Real(x * y);
  if (op == "/") return Item::Real(x / y);
  return Item::Real(portable::pow(x, y));
}

bool SameItems(const Item& x, const Item& y) {
  if (x.is_number() && y.is_number()) {
    return x.kind == y.kind && x.kind == Item::kInt ? x.integer == y.integer
                                                    : x.number() == y.number();
  }
  if (x.kind != y.kind) return false;
  if (x.kind == Item::kText) return x.text == y.text;
  if (x.kind == Item::kSize) return x.size == y.size;
  if (x.kind != Item::kList) return x.integer == y.integer;
  return std::equal(x.items.begin(), x.items.end(), y.items.begin(), y.items.end(), SameItems);
}

absl::StatusOr<Item> OfLists(std::string_view op, const Item& x, const Item& y) {
  if (op == "+" && x.kind == Item::kList && y.kind == Item::kList) {
    if (x.items.size() + y.items.size() > kMaxItems) return Invalid("a list too long");
    std::vector<Item> all = x.items;
    all.insert(all.end(), y.items.begin(), y.items.end());
    return Item::List(std::move(all));
  }
  const bool first = x.kind == Item::kList;
  const Item& list = first ? x : y;
  const Item& times = first ? y : x;
  if (op != "*" || times.kind != Item::kInt) return Invalid("'", op, "' of a list");
  if (times.integer < 0 || (!list.items.empty() &&
                            static_cast<uint64_t>(times.integer) > kMaxItems / list.items.size())) {
    return Invalid("a list repeated ", times.integer, " times");
  }
  std::vector<Item> all;
  if (list.items.empty()) return Item::List({});
  for (int64_t i = 0; i < times.integer; ++i) {
    all.insert(all.end(), list.items.begin(), list.items.end());
  }
  return Item::List(std::move(all));
}

// What arithmetic takes: numbers, and sizes that are not known.
Dim SizeOfItem(const Item& x) { return x.kind == Item::kSize ? x.size : Dim(x.integer); }

absl::StatusOr<Item> OfSizes(std::string_view op, const Item& x, const Item& y) {
  const auto fits = [](const Item& item) {
    return item.kind == Item::kSize || item.kind == Item::kInt;
  };
  if (!fits(x) || !fits(y)) return Unimplemented("'", op, "' of a size that is not known");
  const Dim a = SizeOfItem(x), b = SizeOfItem(y);
  Dim result;
  if (op == "+") result = a + b;
  if (op == "-") result = a - b;
  if (op == "*") result = a * b;
  if (op == "/" && b.is_static() && b.value() > 0) result = FloorDiv(a, b);
  if (result.is_unknown()) return Unimplemented("'", op, "' of a size that is not known");
  return Item::Of(std::move(result));
}

bool HasTensor(const Item& item) {
  if (item.kind == Item::kTensor) return true;
  return std::any_of(item.items.begin(), item.items.end(), HasTensor);
}

// Dims of nested lists, and their numbers in order.
absl::Status Flatten(const Item& item, size_t depth, std::vector<int64_t>* dims,
                     std::vector<const Item*>* leaves) {
  if (item.kind != Item::kList) {
    if (depth != dims->size()) return Invalid("lists of different depths in a tensor");
    leaves->push_back(&item);
    return absl::OkStatus();
  }
  if (depth >= dims->size()) return Invalid("lists of different depths in a tensor");
  if (static_cast<int64_t>(item.items.size()) != (*dims)[depth]) {
    return Invalid("lists of different lengths in a tensor");
  }
  for (const Item& part : item.items) {
    X2IR_RETURN_IF_ERROR(Flatten(part, depth + 1, dims, leaves));
  }
  return absl::OkStatus();
}

void Leaves(const Item& item, std::vector<const Item*>* leaves) {
  if (item.kind != Item::kList) {
    leaves->push_back(&item);
    return;
  }
  for (const Item& part : item.items) Leaves(part, leaves);
}

}  // namespace

bool Item::is_computed() const {
  if (kind == kTensor || kind == kSize) return true;
  return std::any_of(items.begin(), items.end(), [](const Item& i) { return i.is_computed(); });
}

absl::StatusOr<Item> NumberItem(std::string_view text) {
  if (text.find_first_of(".eE") == text.npos) {
    if (const auto number = ParseNumber<int64_t>(text)) return Item::Int(*number);
    return Invalid("'", text, "' is no integer");
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    return Invalid("'", text, "' is no number");
  }
  return Item::Real(number);
}

std::string_view OperatorOf(std::string_view op, bool unary) {
  if (unary) return op == "-" ? "neg" : op == "!" ? "not" : "copy";
  for (const OperatorName& row : kBinaryNames) {
    if (row.sign == op) return row.name;
  }
  return "";
}

absl::StatusOr<std::optional<Item>> Computed(std::string_view op, const Item& x, const Item& y) {
  const auto done = [](absl::StatusOr<Item> item) -> absl::StatusOr<std::optional<Item>> {
    if (!item.ok()) return item.status();
    return std::optional<Item>(*std::move(item));
  };
  const bool lists = x.kind == Item::kList || y.kind == Item::kList;
  if (op == "in") {
    if (y.kind != Item::kList || HasTensor(x) || HasTensor(y)) return Invalid("'in' of no list");
    const auto same = [&](const Item& item) { return SameItems(x, item); };
    return done(Item::Bool(std::any_of(y.items.begin(), y.items.end(), same)));
  }
  if (lists && (op == "+" || op == "*")) return done(OfLists(op, x, y));
  if (HasTensor(x) || HasTensor(y)) return std::optional<Item>();
  if (op == "==") return done(Item::Bool(SameItems(x, y)));
  if (op == "!=") return done(Item::Bool(!SameItems(x, y)));
  if (op == "&&" || op == "||") {
    if (x.kind != Item::kBool || y.kind != Item::kBool) return Invalid("'", op, "' of no flags");
    return done(Item::Bool(op == "&&" ? x.integer && y.integer : x.integer || y.integer));
  }
  if (x.kind == Item::kText && y.kind == Item::kText && op == "+") {
    if (x.text.size() + y.text.size() > kMaxItems) return Invalid("a text too long");
    return done(Item::Text(x.text + y.text));
  }
  if (x.kind == Item::kSize || y.kind == Item::kSize) return done(OfSizes(op, x, y));
  if (!x.is_number() || !y.is_number()) return Invalid("'", op, "' of no numbers");
  if (op == "<" || op == ">" || op == "<=" || op == ">=") {
    const double a = x.number(), b = y.number();
    return done(Item::Bool(op == "<" ? a < b : op == ">" ? a > b : op == "<=" ? a <= b : a >= b));
  }
  if (x.kind == Item::kInt && y.kind == Item::kInt) return done(OfInts(op, x.integer, y.integer));
  return done(OfReals(op, x.number(), y.number()));
}

absl::StatusOr<std::optional<Item>> Computed(std::string_view op, const Item& x) {
  if (HasTensor(x)) return std::optional<Item>();
  if (op == "!") {
    if (x.kind != Item::kBool) return Invalid("'!' of no flag");
    return std::optional<Item>(Item::Bool(!x.integer));
  }
  if (!x.is_number() && x.kind != Item::kSize) return Invalid("'", op, "' of no number");
  if (op == "+") return std::optional<Item>(x);
  if (x.kind == Item::kReal) return std::optional<Item>(Item::Real(-x.real));
  return Computed("-", Item::Int(0), x);
}

absl::StatusOr<Item> Converted(std::string_view type, const Item& item) {
  if (item.kind == Item::kList || item.is_computed()) {
    return Unimplemented(type, "(...) of a tensor or a list");
  }
  if (type == "string") {
    if (item.kind == Item::kText) return item;
    if (item.kind == Item::kBool) return Item::Text(item.integer ? "true" : "false");
    return Item::Text(item.kind == Item::kInt ? StrCat(item.integer) : StrCat(item.real));
  }
  if (item.kind == Item::kText) {
    if (type == "logical") return Item::Bool(item.text == "true");
    X2IR_ASSIGN_OR_RETURN(const Item number, NumberItem(item.text));
    return Converted(type, number);
  }
  const double number =
      item.kind == Item::kBool ? static_cast<double>(item.integer) : item.number();
  if (type == "scalar") return Item::Real(number);
  if (type == "logical") return Item::Bool(number != 0);
  if (item.kind == Item::kReal) {
    if (!(std::fabs(number) < 9e18)) return Invalid("integer(", number, ")");
    return Item::Int(static_cast<int64_t>(number));
  }
  return Item::Int(item.integer);
}

absl::StatusOr<Tensor> TensorOfItem(const Item& item) {
  std::vector<int64_t> dims;
  const Item* first = &item;
  for (int depth = 0; first->kind == Item::kList; ++depth) {
    if (depth == kMaxNesting) return Invalid("lists nested too deep");
    dims.push_back(static_cast<int64_t>(first->items.size()));
    if (first->items.empty()) break;
    first = &first->items[0];
  }
  std::vector<const Item*> leaves;
  X2IR_RETURN_IF_ERROR(Flatten(item, 0, &dims, &leaves));
  bool real = leaves.empty(), flags = !leaves.empty();
  for (const Item* leaf : leaves) {
    if (!leaf->is_number() && leaf->kind != Item::kBool) {
      return Invalid("expected numbers for a tensor");
    }
    real = real || leaf->kind == Item::kReal;
    flags = flags && leaf->kind == Item::kBool;
  }
  if (real) {
    std::vector<float> numbers;
    for (const Item* leaf : leaves) numbers.push_back(static_cast<float>(leaf->number()));
    return Tensor::Of<float>(std::move(dims), numbers);
  }
  if (flags) {
    Tensor tensor = Tensor::Zeros(DType::kBool, std::move(dims));
    const absl::Span<std::byte> out = tensor.mutable_bytes();
    for (size_t i = 0; i < leaves.size(); ++i) out[i] = std::byte(leaves[i]->integer != 0);
    return tensor;
  }
  std::vector<int64_t> numbers;
  for (const Item* leaf : leaves) numbers.push_back(leaf->integer);
  return Tensor::Of<int64_t>(std::move(dims), numbers);
}

absl::StatusOr<Attribute> AttributeOf(const Item& item) {
  switch (item.kind) {
    case Item::kInt:
    case Item::kBool: return Attribute(item.integer);
    case Item::kReal: return Attribute(static_cast<float>(item.real));
    case Item::kText: return Attribute(item.text);
    case Item::kTensor:
    case Item::kSize: return Internal("a tensor as an attribute");
    case Item::kList: break;
  }
  std::vector<const Item*> leaves;
  Leaves(item, &leaves);
  bool real = false, text = false;
  for (const Item* leaf : leaves) {
    real = real || leaf->kind == Item::kReal;
    text = text || leaf->kind == Item::kText;
  }
  if (text) {
    Attribute::Strings texts;
    for (const Item* leaf : leaves) {
      if (leaf->kind != Item::kText) return Invalid("texts and numbers in one list");
      texts.push_back(leaf->text);
    }
    return Attribute(std::move(texts));
  }
  if (real) {
    Attribute::Floats numbers;
    for (const Item* leaf : leaves) numbers.push_back(static_cast<float>(leaf->number()));
    return Attribute(std::move(numbers));
  }
  Attribute::Ints numbers;
  for (const Item* leaf : leaves) numbers.push_back(leaf->integer);
  return Attribute(std::move(numbers));
}

}  // namespace nnef
}  // namespace x2ir
