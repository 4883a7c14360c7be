#include "x2ir/handlers/keras/functions.h"

#include <algorithm>
#include <cmath>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/core/read_through.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/formats/keras/network.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

bool IsOperand(const Json& json) {
  return json.is_object() && json["tensor"].kind() == Json::Kind::kInt;
}
// A constant with a type of its own: {"class_name": "__numpy__", "config": {"value", "dtype"}}.
bool IsTyped(const Json& json) {
  const std::string& c = json["class_name"].text();
  return c == "__numpy__" || c == "__tensor__";
}

bool HasTensor(const Json& json) {
  return IsOperand(json) || IsTyped(json) || std::ranges::any_of(json.items(), HasTensor);
}

// Numbers of nested lists one after the other, and the lists' sizes.
struct FlatNumbers {
  std::vector<int64_t> dims, ints;
  std::vector<double> numbers;
  bool any_float = false, all_bool = true, regular = true;
};
void AddNumbers(const Json& json, size_t depth, FlatNumbers* flat) {
  if (json.is_array()) {
    const auto size = static_cast<int64_t>(json.size());
    if (flat->dims.size() == depth && flat->numbers.empty()) flat->dims.push_back(size);
    flat->regular = flat->regular && depth < flat->dims.size() && flat->dims[depth] == size;
    for (const Json& item : json.items()) AddNumbers(item, depth + 1, flat);
    return;
  }
  const bool is_bool = json.kind() == Json::Kind::kBool;
  flat->regular = flat->regular && depth == flat->dims.size() && (is_bool || json.is_number());
  flat->all_bool = flat->all_bool && is_bool;
  flat->any_float = flat->any_float || json.kind() == Json::Kind::kFloat;
  flat->ints.push_back(is_bool ? json.Flag() : json.Int());
  flat->numbers.push_back(is_bool ? json.Flag() : json.Number());
}
FlatNumbers FlatOf(const Json& json) {
  FlatNumbers flat;
  AddNumbers(json, 0, &flat);
  return flat;
}

// The type of numbers without one of their own.
DType DefaultType(const FlatNumbers& flat) {
  if (flat.any_float || flat.numbers.empty()) return DType::kFloat32;
  return flat.all_bool ? DType::kBool : DType::kInt32;
}

// What two types are promoted to, as Keras 3 has it: no wider a float than there is, float32 where
// no integer holds both.
DType Promoted(DType a, DType b) {
  if (a == b || b == DType::kBool) return a;
  if (a == DType::kBool) return b;
  if (IsFloating(a) != IsFloating(b)) return IsFloating(a) ? a : b;
  if (IsFloating(a)) {
    if (BitWidth(a) == BitWidth(b)) return DType::kFloat32;
    return BitWidth(a) > BitWidth(b) ? a : b;
  }
  if (IsSignedInt(a) == IsSignedInt(b)) return BitWidth(a) > BitWidth(b) ? a : b;
  const DType with_sign = IsSignedInt(a) ? a : b;
  const int64_t without = BitWidth(IsSignedInt(a) ? b : a);
  if (BitWidth(with_sign) > without) return with_sign;
  if (without == 8) return DType::kInt16;
  if (without == 16) return DType::kInt32;
  return without == 32 ? DType::kInt64 : DType::kFloat32;
}

// The same where b is that of numbers, which only say of what kind they are.
DType PromotedByNumbers(DType a, DType b) {
  if (a == DType::kBool) return b;
  return IsFloating(b) && !IsFloating(a) ? DType::kFloat32 : a;
}

}  // namespace

std::vector<std::string_view> SplitText(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Expr ConstantOf(NodeReader& a, const Json& json, DType type) {
  if (json.is_string()) {
    return {a, a.b().Constant(Tensor::Strings({}, {json.text()}))};
  }
  const FlatNumbers flat = FlatOf(json);
  if (!flat.regular) a.Fail(Unimplemented("the argument ", json.ToString().substr(0, 60)));
  if (type == DType::kUndefined) type = DefaultType(flat);
  if (IsInteger(type) && !flat.any_float) {
    return Expr(a, a.b().Constant(Tensor::Of<int64_t>(flat.dims, flat.ints))).To(type);
  }
  return NumbersAs(a, type, flat.dims, flat.numbers);
}

KerasCall::KerasCall(Rewrite& r, std::string_view parameters) : NodeReader(r) {
  for (const char* name : {keras::kCallInputs, keras::kCallWeights, keras::kVersion}) Ignore(name);
  for (std::string_view words : SplitText(parameters, ' ')) {
    Argument argument;
    argument.many = words.starts_with('*');
    if (argument.many) words.remove_prefix(1);
    for (const std::string_view name : SplitText(words, '|')) argument.names.emplace_back(name);
    arguments_.push_back(std::move(argument));
  }
  const absl::StatusOr<Json> all = Json::Parse(String(keras::kCallArguments, "{}"));
  if (!all.ok()) {
    Fail(all.status());
    return;
  }
  std::vector<Json> positional = (*all)["args"].items();
  if (!arguments_.empty() && arguments_[0].many) positional = {Json::Array(std::move(positional))};
  if (positional.size() > arguments_.size()) {
    Fail(Unimplemented("it is called with ", positional.size(), " arguments"));
    return;
  }
  for (size_t i = 0; i < positional.size(); ++i) arguments_[i].value = positional[i];
  for (const auto& [name, value] : (*all)["kwargs"].members()) {
    if (value.is_null() || name == "name") continue;
    const std::string_view key = name;
    const auto found = std::ranges::find_if(arguments_, [&](const Argument& a) {
      return std::ranges::find(a.names, key) != a.names.end();
    });
    if (found != arguments_.end()) {
      found->value = value;
    } else {
      Fail(Unimplemented("its argument '", name, "'"));
    }
  }
}

const Json& KerasCall::Find(std::string_view name) const {
  static const Json& null = *new Json;
  const auto found =
      std::ranges::find_if(arguments_, [&](const Argument& a) { return a.names[0] == name; });
  return found == arguments_.end() ? null : found->value;
}

const Json& KerasCall::Arg(std::string_view name) {
  for (Argument& a : arguments_) a.taken = a.taken || a.names[0] == name;
  return Find(name);
}

void KerasCall::Wrong(std::string_view name, std::string_view kind) {
  b().set_stops(true);
  const std::string text = Find(name).ToString();
  Fail(Invalid("argument '", name, "' is ", text.substr(0, 60), ", which is no ", kind));
  throw Builder::Stopped();
}

absl::Status KerasCall::CheckArguments() const {
  for (const Argument& a : arguments_) {
    if (!a.taken && !a.value.is_null()) return Unimplemented("its argument '", a.names[0], "'");
  }
  return absl::OkStatus();
}

// --- Tensors -------------------------------------------------------------------------------------

DType KerasCall::StrongType(const Json& json) {
  if (IsOperand(json)) return in(static_cast<size_t>(json["tensor"].Int())).dtype();
  if (IsTyped(json)) {
    const auto type = ParseDType(json["config"]["dtype"].text());
    if (!type) Fail(Unimplemented("a constant of type '", json["config"]["dtype"].text(), "'"));
    return type.value_or(DType::kFloat32);
  }
  DType type = DType::kUndefined;
  for (const Json& item : json.items()) {
    const DType of_item = StrongType(item);
    if (of_item == DType::kUndefined) continue;
    type = type == DType::kUndefined || !promotes() ? (type == DType::kUndefined ? of_item : type)
                                                    : Promoted(type, of_item);
  }
  return type;
}

DType KerasCall::TypeTogether(const std::vector<const Json*>& all) {
  DType type = DType::kUndefined;
  for (const Json* json : all) {
    const DType strong = json->is_null() ? DType::kUndefined : StrongType(*json);
    if (strong == DType::kUndefined) continue;
    if (type == DType::kUndefined) {
      type = strong;
    } else if (promotes()) {
      type = Promoted(type, strong);
    }
  }
  for (const Json* json : all) {
    if (json->is_null() || HasTensor(*json) || json->is_string()) continue;
    const DType weak = DefaultType(FlatOf(*json));
    if (type == DType::kUndefined) {
      type = weak;
    } else if (promotes()) {
      type = PromotedByNumbers(type, weak);
    } else if (weak == DType::kFloat32 && IsInteger(type)) {
      Fail(Invalid("the number ", json->ToString().substr(0, 60), " beside a tensor of ",
                   Name(type)));
    }
  }
  return type;
}

Expr KerasCall::ValueOf(const Json& json, DType type) {
  if (IsOperand(json)) return in(static_cast<size_t>(json["tensor"].Int()));
  if (IsTyped(json)) return ConstantOf(*this, json["config"]["value"], StrongType(json));
  if (!HasTensor(json)) return ConstantOf(*this, json, type);
  if (type == DType::kUndefined) type = StrongType(json);
  std::vector<Value*> parts;
  for (const Json& item : json.items()) parts.push_back(OfType(item, type));
  return Stack(b(), parts, 0);
}

Expr KerasCall::OfType(const Json& json, DType type) {
  const Expr value = ValueOf(json, type);
  return promotes() ? value.To(type) : value;
}

Expr KerasCall::Tensor(std::string_view name) {
  const Json& json = Arg(name);
  if (json.is_null()) Wrong(name, "tensor");
  return ValueOf(json);
}

Expr KerasCall::Tensor(std::string_view name, DType type) {
  const Json& json = Arg(name);
  if (json.is_null()) Wrong(name, "tensor");
  return OfType(json, type);
}

std::vector<Expr> KerasCall::Tensors(std::string_view name) {
  const Json& json = Arg(name);
  // A tensor instead of a list is split along its first axis.
  if (IsOperand(json)) {
    const Expr x = ValueOf(json);
    const Dim count = DimAt(x, 0);
    Require(count.is_static() && count.value() <= (1 << 16),
            "a list of a number that is not known");
    std::vector<Expr> parts;
    for (int64_t i = 0; i < count.value(); ++i) parts.push_back(Gather(x, b().Int(i), 0));
    return parts;
  }
  if (!json.is_array()) Wrong(name, "list");
  std::vector<const Json*> all;
  for (const Json& item : json.items()) all.push_back(&item);
  const DType type = TypeTogether(all);
  std::vector<Expr> values;
  for (const Json* item : all) values.push_back(OfType(*item, type));
  return values;
}

DType KerasCall::CommonType(const std::vector<std::string_view>& names) {
  std::vector<const Json*> all;
  for (const std::string_view name : names) all.push_back(&Find(name));
  return TypeTogether(all);
}

std::vector<Expr> KerasCall::Matched(const std::vector<std::string_view>& names) {
  const DType type = CommonType(names);
  std::vector<Expr> values;
  for (const std::string_view name : names) values.push_back(Tensor(name, type));
  return values;
}

Expr KerasCall::Floats(std::string_view name) {
  const Expr x = Tensor(name);
  return promotes() && !IsFloating(x.dtype()) ? x.To(DType::kFloat32) : x;
}

Expr KerasCall::Sizes(std::string_view name) {
  const Json& json = Arg(name);
  if (json.is_null()) Wrong(name, "list of sizes");
  const std::function<Expr(const Json&)> wide = [&](const Json& of) -> Expr {
    if (!of.is_array() || !HasTensor(of)) return ValueOf(of, DType::kInt64).To(DType::kInt64);
    std::vector<Value*> parts;
    for (const Json& item : of.items()) parts.push_back(wide(item));
    return Stack(b(), parts, 0);
  };
  return wide(json);
}

// --- What is known -------------------------------------------------------------------------------

std::optional<std::vector<int64_t>> KerasCall::Integers(std::string_view name) {
  const Json& json = Arg(name);
  if (json.is_null()) return std::nullopt;
  if (HasTensor(json)) {
    auto known = x2ir::KnownInts(Sizes(name));
    Require(known.has_value(), StrCat("its argument '", name, "', which is computed,"));
    return *std::move(known);
  }
  const FlatNumbers flat = FlatOf(json);
  if (!flat.regular || flat.any_float || flat.dims.size() > 1) Wrong(name, "list of integers");
  return flat.ints;
}

int64_t KerasCall::Integer(std::string_view name, int64_t fallback) {
  const auto list = Integers(name);
  if (!list) return fallback;
  if (list->size() != 1) Wrong(name, "integer");
  return (*list)[0];
}

bool KerasCall::Flag(std::string_view name, bool fallback) {
  const Json& json = Arg(name);
  if (json.is_null()) return fallback;
  if (json.kind() != Json::Kind::kBool && !json.is_number()) Wrong(name, "bool");
  return json.Flag(json.Int() != 0);
}

double KerasCall::Number(std::string_view name, double fallback) {
  const Json& json = Arg(name);
  if (json.is_null()) return fallback;
  const Json& value = IsTyped(json) ? json["config"]["value"] : json;
  if (!value.is_number()) Wrong(name, "number");
  return value.Number();
}

std::string KerasCall::Text(std::string_view name, std::string_view fallback) {
  const Json& json = Arg(name);
  if (json.is_null()) return std::string(fallback);
  if (!json.is_string()) Wrong(name, "text");
  return json.text();
}

DType KerasCall::TypeOf(std::string_view name, DType fallback) {
  const Json& json = Arg(name);
  if (json.is_null()) return fallback;
  std::string text = keras::PolicyName(json);
  if (text.starts_with("tf.")) text = text.substr(3);
  if (text == "float") text = "float32";
  if (text == "int") text = "int32";
  const auto type = ParseDType(text);
  if (!type) Wrong(name, "element type");
  return *type;
}

std::vector<int64_t> KerasCall::Axes(std::string_view name, const Expr& x) {
  const auto axes = Integers(name);
  const int64_t rank = x.rank();
  if (!axes) return CountedFrom(0, rank);
  std::vector<int64_t> counted;
  for (const int64_t axis : *axes) {
    counted.push_back(AxisOf(axis, rank));
    if (std::count(counted.begin(), counted.end(), counted.back()) > 1) {
      Fail(Invalid("axis ", axis, " twice"));
    }
  }
  return counted;
}

Values KerasCall::AllAsTf(std::string_view tf_op, std::vector<Value*> operands,
                          AttributeMap attrs) {
  return x2ir::AsTf(*this, tf_op, std::move(operands), std::move(attrs));
}

Expr KerasCall::AsTf(std::string_view tf_op, std::vector<Value*> operands, AttributeMap attrs) {
  return {b(), ReadThrough(*this, "tf", 1, tf_op, std::move(operands), std::move(attrs), {{}})[0]};
}

// --- Rows ----------------------------------------------------------------------------------------

KerasFunctionSpec& KerasFunctionSpec::FromCode(std::string_view names, std::string_view parameters,
                                               KerasFunction fn) {
  for (const std::string_view name : SplitText(names, ' ')) {
    const auto read = [fn, parameters = std::string(parameters)](Rewrite& r) {
      return ReadNode(r, [&]() -> absl::StatusOr<Values> {
        KerasCall call(r, parameters);
        X2IR_ASSIGN_OR_RETURN(Values values, fn(call));
        X2IR_RETURN_IF_ERROR(call.CheckArguments());
        X2IR_RETURN_IF_ERROR(call.CheckAllTaken());
        values.resize(call.num_outputs());  // what is used must be there: ReadNode
        return values;
      });
    };
    spec_.Is(name, Since(1), Code{read, nullptr});
  }
  return *this;
}

}  // namespace x2ir
