// What handlers of operators of symbols share.
#include "x2ir/handlers/nnvm/symbol.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <memory>

#include "x2ir/formats/nnvm/symbol_json.h"
#include "x2ir/graph_wrapper/numbers.h"

namespace x2ir {
namespace {

// "1, None, 2" in brackets of either kind, or without; nullopt where they do not match.
std::optional<std::vector<std::string_view>> SplitTuple(std::string_view text) {
  const auto trim = [](std::string_view s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
    return s;
  };
  text = trim(text);
  if (!text.empty() && (text.front() == '(' || text.front() == '[')) {
    if (text.size() < 2 || text.back() != (text.front() == '(' ? ')' : ']')) return std::nullopt;
    text = trim(text.substr(1, text.size() - 2));
  }
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    parts.push_back(trim(text.substr(0, comma)));
    if (comma == text.npos) break;
    text = trim(text.substr(comma + 1));
  }
  return parts;
}

std::optional<int64_t> SymbolInteger(std::string_view text) {
  if (text.ends_with('L')) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  return ParseNumber<int64_t>(text);
}

std::optional<double> SymbolReal(std::string_view text) {
  if (text.ends_with('f')) {
    if (text == "inf") return HUGE_VAL;
    if (text == "-inf") return -HUGE_VAL;
  }
  if (text == "nan") return std::nan("");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> SymbolFlag(std::string_view text) {
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return std::nullopt;
}

// An attribute of the IR as the text of a symbol's, and back.
std::optional<Attribute> AttributeOf(std::string_view text, AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt: {
      if (const auto number = SymbolInteger(text)) return Attribute(*number);
      const auto flag = SymbolFlag(text);
      return flag ? std::optional<Attribute>(*flag) : std::nullopt;
    }
    case AttrKind::kFloat: {
      const auto number = SymbolReal(text);
      return number ? std::optional<Attribute>(static_cast<float>(*number)) : std::nullopt;
    }
    case AttrKind::kInts: {
      auto numbers = nnvm::ParseTuple(text);
      return numbers ? std::optional<Attribute>(*std::move(numbers)) : std::nullopt;
    }
    case AttrKind::kString: return Attribute(std::string(text));
    default: return std::nullopt;
  }
}

std::string TextOfAttribute(const Attribute& attr) {
  if (const auto* number = attr.get<int64_t>()) return StrCat(*number);
  if (const auto* number = attr.get<float>()) return NumberText(static_cast<double>(*number));
  if (const auto* numbers = attr.get<Attribute::Ints>()) return TupleText(*numbers);
  if (const auto* text = attr.get<std::string>()) return *text;
  return attr.ToString();
}

class TextAttrLens : public LensImpl {
 public:
  TextAttrLens(std::string_view ir, std::string_view foreign, AttrKind kind,
               std::optional<Attribute> foreign_default)
      : ir_(ir), foreign_(foreign), kind_(kind), default_(std::move(foreign_default)) {}

  absl::Status Import(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr(foreign_);
    const auto* text = attr ? attr->get<std::string>() : nullptr;
    if (attr && !text) return Invalid("attribute '", foreign_, "' is no text");
    if (!text || (*text == "None" && kind_ != AttrKind::kString)) {
      if (default_) draft.SetAttr(ir_, *default_);
      return absl::OkStatus();
    }
    std::optional<Attribute> value = AttributeOf(*text, kind_);
    if (!value) return Invalid("attribute '", foreign_, "' is '", *text, "'");
    draft.SetAttr(ir_, *std::move(value));
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr(ir_);
    if (attr && attr != default_) draft.SetAttr(foreign_, TextOfAttribute(*attr));
    return absl::OkStatus();
  }
  std::vector<std::string> IrAttrs() const override { return {ir_}; }
  std::vector<std::string> ForeignAttrs() const override { return {foreign_}; }

 private:
  const std::string ir_, foreign_;
  const AttrKind kind_;
  const std::optional<Attribute> default_;
};

class HintsLens : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    for (const auto& [name, attr] : draft.node().attrs()) {
      if (!draft.IsTaken(name) && IsSymbolHint(name.view())) draft.TakeAttr(name);
    }
    return absl::OkStatus();
  }
  absl::Status Export(Draft&) const override { return absl::OkStatus(); }
};

}  // namespace

bool IsSymbolHint(std::string_view name) {
  if (name.starts_with("__") && name.ends_with("__")) return true;
  for (const std::string_view hint :
       {"ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage", "profiler_scope"}) {
    if (name == hint || (name.ends_with(hint) && name[name.size() - hint.size() - 1] == '_')) {
      return true;
    }
  }
  static constexpr std::string_view kHints[] = {"workspace",
                                                "cudnn_tune",
                                                "cudnn_off",
                                                "num_args",
                                                "cudnn_algo_verbose",
                                                "cudnn_algo_fwd",
                                                "cudnn_algo_bwd_data",
                                                "cudnn_algo_bwd_filter",
                                                "cudnn_tensor_core_only",
                                                "use_cudnn",
                                                "weight_lr_mult",
                                                "ctx",
                                                "sparse_grad"};
  return std::find(std::begin(kHints), std::end(kHints), name) != std::end(kHints);
}

// --- Reading -------------------------------------------------------------------------------------

const std::string* SymbolArgs::Raw(Symbol name) {
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  const auto* text = attr ? attr->get<std::string>() : nullptr;
  if (attr && !text) Wrong(name, attr->ToString(), "text");
  return text && *text != "None" ? text : nullptr;
}

void SymbolArgs::Wrong(Symbol name, const std::string& text, std::string_view kind) {
  b().set_stops(true);
  Fail(Invalid("attribute '", name.view(), "' is '", text, "', which is no ", kind));
  throw Builder::Stopped();
}

bool SymbolArgs::Given(Symbol name) const {
  const Attribute* attr = attrs().Find(name);
  const auto* text = attr ? attr->get<std::string>() : nullptr;
  return attr && (!text || *text != "None");
}

std::string SymbolArgs::Text(Symbol name, std::string_view fallback) {
  const std::string* text = Raw(name);
  return text ? *text : std::string(fallback);
}

std::optional<int64_t> SymbolArgs::MaybeInteger(Symbol name) {
  const std::string* text = Raw(name);
  if (!text) return std::nullopt;
  auto number = SymbolInteger(*text);
  if (!number) {
    // A number that is an integer, and a flag: "2.0", "True".
    if (const auto real = SymbolReal(*text);
        real && *real == std::floor(*real) && std::fabs(*real) < 9e15) {
      number = static_cast<int64_t>(*real);
    } else if (const auto flag = SymbolFlag(*text)) {
      number = *flag;
    }
  }
  if (!number) {
    const auto parts = nnvm::ParseTuple(*text);
    if (!parts || parts->size() != 1) Wrong(name, *text, "integer");
    number = (*parts)[0];
  }
  return number;
}

int64_t SymbolArgs::Integer(Symbol name, int64_t fallback) {
  return MaybeInteger(name).value_or(fallback);
}

bool SymbolArgs::Flag(Symbol name, bool fallback) {
  const std::string* text = Raw(name);
  if (!text) return fallback;
  const auto flag = SymbolFlag(*text);
  if (!flag) Wrong(name, *text, "flag");
  return *flag;
}

double SymbolArgs::Number(Symbol name, double fallback) {
  const std::string* text = Raw(name);
  if (!text) return fallback;
  const auto number = SymbolReal(*text);
  if (!number) {
    if (const auto flag = SymbolFlag(*text)) return *flag ? 1 : 0;
    Wrong(name, *text, "number");
  }
  return *number;
}

std::vector<std::optional<int64_t>> SymbolArgs::MaybeTuple(Symbol name) {
  const std::string* text = Raw(name);
  std::vector<std::optional<int64_t>> numbers;
  if (!text) return numbers;
  const auto parts = SplitTuple(*text);
  if (!parts) Wrong(name, *text, "list of integers");
  for (const std::string_view part : *parts) {
    numbers.push_back(part == "None" ? std::nullopt : SymbolInteger(part));
    if (part != "None" && !numbers.back()) Wrong(name, *text, "list of integers");
  }
  return numbers;
}

std::vector<int64_t> SymbolArgs::Tuple(Symbol name, std::vector<int64_t> fallback) {
  if (!Given(name)) return Ignore(name), fallback;
  std::vector<int64_t> numbers;
  for (const auto& number : MaybeTuple(name)) {
    if (!number) Wrong(name, Text(name), "list of integers");
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<int64_t> SymbolArgs::FlatTuple(Symbol name) {
  const std::string* text = Raw(name);
  if (!text) return {};
  std::string flat;
  bool comma = false;  // after a number
  for (const char c : *text) {
    if (c == '(' || c == ')' || c == '[' || c == ']' || c == ' ') continue;
    if (c == ',' && !comma) continue;
    comma = c != ',';
    flat += c;
  }
  const auto numbers = nnvm::ParseTuple(StrCat("(", flat, ")"));
  if (!numbers) Wrong(name, *text, "list of integers");
  return *numbers;
}

std::vector<int64_t> SymbolArgs::TupleOf(Symbol name, size_t count, int64_t fallback) {
  std::vector<int64_t> numbers = Tuple(name);
  if (numbers.size() > count) Wrong(name, Text(name), StrCat("list of ", count, " integers"));
  if (numbers.size() == 1) numbers.resize(count, numbers[0]);
  numbers.resize(count, fallback);
  return numbers;
}

std::vector<double> SymbolArgs::Numbers(Symbol name, std::vector<double> fallback) {
  const std::string* text = Raw(name);
  if (!text) return fallback;
  const auto parts = SplitTuple(*text);
  if (!parts) Wrong(name, *text, "list of numbers");
  std::vector<double> numbers;
  for (const std::string_view part : *parts) {
    const auto number = SymbolReal(part);
    if (!number) Wrong(name, *text, "list of numbers");
    numbers.push_back(*number);
  }
  return numbers;
}

DType SymbolArgs::ElementType(Symbol name, DType fallback) {
  const std::string* text = Raw(name);
  if (!text || text->empty()) return fallback;
  const auto dtype = *text == "bool" ? std::optional(DType::kBool) : ParseDType(*text);
  if (!dtype || *dtype == DType::kString) Wrong(name, *text, "element type");
  return *dtype;
}

absl::StatusOr<std::vector<int64_t>> SymbolArgs::Axes(const std::vector<int64_t>& axes, size_t i) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, Rank(i));
  std::vector<int64_t> counted;
  for (const int64_t axis : axes) counted.push_back(AxisOf(axis, rank));
  return counted;
}

absl::StatusOr<std::vector<int64_t>> SymbolArgs::ReducedAxes(std::vector<int64_t> axes) {
  if (!Flag("exclude", false)) return axes;
  X2IR_ASSIGN_OR_RETURN(axes, Axes(axes));
  std::vector<int64_t> others;
  for (int64_t i = 0; i < rank(0); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) others.push_back(i);
  }
  return others;
}

std::optional<std::vector<int64_t>> SymbolArgs::AxesAttr(Symbol name) {
  if (!Given(name)) return Ignore(name), std::nullopt;
  return Tuple(name);
}

absl::Status SymbolDialect::Finish(SymbolArgs& args) {
  args.IgnoreAll(IsSymbolHint);
  return args.CheckAllTaken();
}

// --- Writing -------------------------------------------------------------------------------------

Values SymbolWriter::NnvmAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                             size_t num_outputs) {
  return Make("nnvm", op, std::move(operands), std::move(attrs),
              std::vector<bool>(num_outputs, true), {});
}

Value* SymbolWriter::Nnvm(std::string_view op, std::vector<Value*> operands, AttributeMap attrs) {
  return NnvmAll(op, std::move(operands), std::move(attrs), 1)[0];
}

std::string TupleText(absl::Span<const int64_t> numbers) {
  std::string text = "(";
  for (size_t i = 0; i < numbers.size(); ++i) StrAppend(&text, i == 0 ? "" : ", ", numbers[i]);
  return text + (numbers.size() == 1 ? ",)" : ")");
}

std::string FlagText(bool flag) { return flag ? "True" : "False"; }

std::string NumberText(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char text[64];
  // A number that is a float says no more digits than one needs. Integers are exact, as doubles.
  const auto narrow = static_cast<float>(number);
  const auto end = static_cast<double>(narrow) == number && number != std::floor(number)
                       ? std::to_chars(text, text + sizeof text, narrow)
                       : std::to_chars(text, text + sizeof text, number);
  return {text, end.ptr};
}

std::optional<double> OneNumber(const Value* v) {
  const Tensor* t = v ? v->fixed_constant() : nullptr;
  if (!t || t->num_elements() != 1 || t->is_string() || t->is_sparse()) return std::nullopt;
  if (IsFloating(t->dtype())) return t->AsDouble(0);
  if (!IsInteger(t->dtype())) return std::nullopt;
  const int64_t bits = t->AsInt(0);
  constexpr int64_t kExact = int64_t{1} << 53;
  if (bits > kExact || bits < -kExact || (bits < 0 && IsUnsignedInt(t->dtype()))) {
    return std::nullopt;
  }
  return static_cast<double>(bits);
}

Lens TextAttr(std::string_view ir, std::string_view foreign, AttrKind kind,
              std::optional<Attribute> foreign_default) {
  return std::make_shared<TextAttrLens>(ir, foreign, kind, std::move(foreign_default));
}

// --- Registration --------------------------------------------------------------------------------

Lens SymbolDialect::OtherAttributes(std::string_view) { return std::make_shared<HintsLens>(); }

}  // namespace x2ir
