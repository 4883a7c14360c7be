// The registry of IR ops, and the check of a node against its op's definition.
#include "x2ir/ops/op.h"

#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/axes.h"

namespace x2ir {
namespace {

struct Ops {
  using Entry = std::shared_ptr<const OpDef>;
  absl::flat_hash_map<Symbol, Entry> by_name;

  void Add(Entry def) {
    const auto [it, fresh] = by_name.try_emplace(def->name(), def);
    if (!fresh)
      AddDuplicate(StrCat("op '", def->name().str(), "'"), it->second->place(), def->place());
  }
};

Registry<Ops>& Table() {
  static auto* table = new Registry<Ops>;
  return *table;
}

const OperandDef* At(const std::vector<OperandDef>& defs, size_t i) {
  if (i < defs.size()) return &defs[i];
  return !defs.empty() && defs.back().arity == Arity::kVariadic ? &defs.back() : nullptr;
}

// How many there must be at least: all but trailing optional ones.
size_t Least(const std::vector<OperandDef>& defs) {
  size_t least = 0;
  for (size_t i = 0; i < defs.size(); ++i) {
    if (defs[i].arity == Arity::kRequired) least = i + 1;
    if (defs[i].arity == Arity::kVariadic && defs[i].min > 0) least = i + defs[i].min;
  }
  return least;
}

// The parts of "a, b, c".
std::vector<std::string> PartsOf(std::string_view list) {
  return absl::StrSplit(ForAbsl(list), ", ", absl::SkipEmpty());
}

// The operands, or results, of one side of a signature.
void AddOperands(std::string_view list, std::vector<OperandDef>& defs) {
  for (const std::string& text : PartsOf(list)) {
    const size_t end = std::min(text.find_first_of("?*+"), text.size());
    OperandDef& def = defs.emplace_back(OperandDef{text.substr(0, end)});
    if (end == text.size()) continue;
    def.arity = text[end] == '?' ? Arity::kOptional : Arity::kVariadic;
    def.min = ParseNumber<int>(text.substr(end + 1)).value_or(text[end] == '+' ? 1 : 0);
  }
}

AttrDef WithDefault(std::string_view name, Attribute value) {
  const AttrKind kind = value.kind();
  return {name, kind, std::move(value), false};
}

// 3, 0.5 or 'linear'.
std::optional<Attribute> ParseDefault(std::string_view text) {
  if (const auto whole = ParseNumber<int64_t>(text)) return *whole;
  if (const auto number = ParseNumber<float>(text)) return *number;
  if (text.size() < 2 || text.front() != '\'' || text.back() != '\'') return std::nullopt;
  return text.substr(1, text.size() - 2);
}

// One attribute of OpDef::Attrs().
std::optional<AttrDef> ParseAttr(std::string_view text) {
  if (const size_t at = text.find(" = "); at != text.npos) {
    std::optional<Attribute> value = ParseDefault(text.substr(at + 3));
    if (!value) return std::nullopt;
    return WithDefault(text.substr(0, at), *std::move(value));
  }
  const bool optional = text.ends_with('?');
  if (optional) text.remove_suffix(1);
  const size_t at = text.find(": ");
  for (size_t i = 0; at != text.npos && i <= static_cast<size_t>(AttrKind::kRef); ++i) {
    const auto kind = static_cast<AttrKind>(i);
    if (text.substr(at + 2) == Name(kind)) {
      return AttrDef{text.substr(0, at), kind, std::nullopt, optional};
    }
  }
  return std::nullopt;
}

}  // namespace

OpDef& OpDef::Signature(std::string_view operands_and_results) {
  const size_t at = operands_and_results.find(" -> ");
  if (at == operands_and_results.npos) {
    AddRegistrationProblem(StrCat("op '", name_.str(), "': its signature has no ' -> '"));
    return *this;
  }
  return In(operands_and_results.substr(0, at)).Out(operands_and_results.substr(at + 4));
}
OpDef& OpDef::In(std::string_view operands) {
  AddOperands(operands, inputs_);
  return *this;
}
OpDef& OpDef::Out(std::string_view results) {
  AddOperands(results, outputs_);
  return *this;
}
OpDef& OpDef::OptIn(std::string_view name) { return In(StrCat(name, "?")); }
OpDef& OpDef::OptOut(std::string_view name) { return Out(StrCat(name, "?")); }
OpDef& OpDef::Attrs(std::string_view list) {
  for (const std::string& text : PartsOf(list)) {
    if (std::optional<AttrDef> def = ParseAttr(text)) {
      attrs_.push_back(*std::move(def));
    } else {
      AddRegistrationProblem(StrCat("op '", name_.str(), "': not an attribute: '", text, "'"));
    }
  }
  return *this;
}
OpDef& OpDef::Attr(std::string_view name, Attribute default_value) {
  attrs_.push_back(WithDefault(name, std::move(default_value)));
  return *this;
}
OpDef& OpDef::ReqAttr(std::string_view name, AttrKind kind) {
  attrs_.push_back({name, kind, std::nullopt, false});
  return *this;
}
OpDef& OpDef::Infer(InferFn fn) {
  infer_ = std::move(fn);
  return *this;
}
OpDef& OpDef::Eval(EvalFn fn) {
  eval_ = std::move(fn);
  return *this;
}
OpDef& OpDef::Functions(InferFn infer, EvalFn eval) {
  return Infer(std::move(infer)).Eval(std::move(eval));
}
OpDef& OpDef::Impure() {
  impure_ = true;
  return *this;
}
OpDef& OpDef::AnyKind() {
  any_kind_ = true;
  return *this;
}
OpDef& OpDef::Doc(std::string_view sentence) {
  doc_ = sentence;
  return *this;
}

OpDef& OpDef::Axes(AxisRule rule) {
  axes_ = rule;
  states_axes_ = true;
  return *this;
}
OpDef& OpDef::Numbers(NumberUse use, uint32_t operands, uint32_t results,
                      bool (*except)(const Node& node)) {
  numbers_ = {use, operands, results, except};
  states_numbers_ = true;
  return *this;
}
OpDef& OpDef::AllowsFloat16() {
  states_floats_ = true;
  return *this;
}
OpDef& OpDef::NeedsFloat32(std::string_view reason, uint32_t operands, bool back) {
  floats_ = {operands, back, reason};
  states_floats_ = true;
  return *this;
}
OpDef& OpDef::Commutes() {
  commutes_ = true;
  return *this;
}
OpDef& OpDef::Complex(ComplexUse use) {
  complex_ = use;
  return *this;
}
OpDef& OpDef::Zeros(ZeroUse use) {
  zeros_ = use;
  return *this;
}
OpDef& OpDef::Gives(ResultUse use) {
  gives_ = use;
  return *this;
}
OpDef& OpDef::Obeys(uint32_t equations) {
  equations_ = equations;
  return *this;
}
OpDef& OpDef::Neutral(int number) {
  neutral_ = number;
  return *this;
}
OpDef& OpDef::Origins(AxisOriginsFn fn) {
  origins_ = fn;
  return *this;
}
OpDef& OpDef::MultiplyAdds(WorkFn how_many) {
  multiply_adds_ = how_many;
  return *this;
}
OpDef& OpDef::Rows(RowUse use) {
  rows_ = use;
  return *this;
}
OpDef& OpDef::Moves(AxisRule axes, MoveUse use) {
  moves_ = use;
  return Axes(axes).Numbers(NumberUse::kMoves, kFirstOfType);
}
OpDef& OpDef::Elementwise(NumberUse use, RowUse rows) {
  return Axes(kElementwiseAxes).Numbers(use).Rows(rows);
}
OpDef& OpDef::Heavy() {
  heavy_ = true;
  return *this;
}
OpDef& OpDef::BoundedResults() {
  bounded_results_ = true;
  return *this;
}
OpDef& OpDef::QuantizedUnit() {
  quantized_unit_ = true;
  return *this;
}
OpDef& OpDef::Opaque() { return Axes(kAxesStay).Numbers(NumberUse::kFixed); }

const AttrDef* OpDef::FindAttr(Symbol name) const {
  for (const AttrDef& attr : attrs_) {
    if (attr.name == name) return &attr;
  }
  return nullptr;
}

int OpDef::InputIndex(std::string_view name) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

const OperandDef* OpDef::InputDef(size_t i) const { return At(inputs_, i); }
const OperandDef* OpDef::OutputDef(size_t i) const { return At(outputs_, i); }

absl::Status OpDef::Check(const Node& node) const {
  const size_t n = node.num_inputs();
  const size_t least = Least(inputs_);
  if (n < least) return Invalid("too few operands; expected at least ", least, ", got ", n);
  for (size_t i = 0; i < n; ++i) {
    const OperandDef* def = InputDef(i);
    if (!def) return Invalid("too many operands; expected at most ", inputs_.size(), ", got ", n);
    if (!node.input(i) && def->arity == Arity::kRequired) {
      return Invalid("operand '", def->name, "' is left out, but it is required");
    }
    const Type::Kind kind = node.input(i) ? node.input(i)->type().kind() : Type::kUnknown;
    if (!any_kind_ && (kind == Type::kSequence || kind == Type::kOptional)) {
      return Invalid("operand '", def->name, "' may not be ", node.input(i)->type().ToString());
    }
  }
  if (node.num_outputs() < Least(outputs_)) {
    return Invalid("too few outputs; expected at least ", Least(outputs_), ", got ",
                   node.num_outputs());
  }
  if (node.num_outputs() > 0 && !OutputDef(node.num_outputs() - 1)) {
    return Invalid("too many outputs; expected at most ", outputs_.size(), ", got ",
                   node.num_outputs());
  }
  size_t known = 0;
  for (const AttrDef& def : attrs_) {
    const Attribute* attr = node.attrs().Find(def.name);
    if (!attr) {
      if (def.optional) continue;
      return Invalid("attribute '", def.name.str(), "' is missing");
    }
    ++known;
    if (attr->kind() != def.kind) {
      return Invalid("attribute '", def.name.str(), "': expected ", Name(def.kind), ", got ",
                     Name(attr->kind()));
    }
  }
  if (known != node.attrs().size()) {
    for (const auto& [name, attr] : node.attrs()) {
      if (!FindAttr(name)) return Invalid("unknown attribute '", name.str(), "'");
    }
  }
  return absl::OkStatus();
}

const OpDef* FindOp(Symbol name) {
  const auto& ops = Table().Get().by_name;
  const auto it = ops.find(name);
  return it == ops.end() ? nullptr : it->second.get();
}

const OpDef* OpOf(const Node* node) { return node && node->is_ir() ? FindOp(node->op()) : nullptr; }

std::vector<const OpDef*> AllOps() {
  std::vector<const OpDef*> ops;
  for (const auto& entry : Table().Get().by_name) ops.push_back(entry.second.get());
  std::sort(ops.begin(), ops.end(),
            [](const OpDef* a, const OpDef* b) { return a->name() < b->name(); });
  return ops;
}

absl::Status CheckOpsAreLinked() {
  if (FindOp("identity") && FindOp("conv") && FindOp("loop")) return absl::OkStatus();
  return CannotExpress(
      "no handlers are linked in: x2ir's archive must be linked whole (CMake's x2ir::x2ir and "
      "pkg-config do so; else: -Wl,--whole-archive libx2ir.a -Wl,--no-whole-archive)");
}

absl::Status NoSuchOp(Symbol name) {
  X2IR_RETURN_IF_ERROR(CheckOpsAreLinked());
  return Invalid("there is no IR op '", name.str(), "'");
}

OpRegistration::OpRegistration(OpDef& def) {
  Table().Add(std::make_shared<const OpDef>(std::move(def)));
}
OpRegistration::OpRegistration(OpDef&& def) : OpRegistration(def) {}

}  // namespace x2ir
