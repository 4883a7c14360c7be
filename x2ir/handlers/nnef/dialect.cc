// The dialect "nnef", and how its rows see nodes.
#include "x2ir/core/dialect.h"

#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/formats/nnef/operators.h"
#include "x2ir/handlers/nnef/nnef.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

// What is written must be an operator with parameters that it has.
std::vector<std::string> NnefProblems(const Node& node) {
  const nnef::Fragment* op = nnef::FindOperator(node.op().view());
  if (!op) return {"neither the standard nor tract has such an operator"};
  if (op->name.starts_with("x2ir.")) return {};
  std::vector<std::string> problems;
  const auto check = [&](std::string_view name) {
    const auto is = [&](const nnef::Parameter& param) { return param.name == name; };
    if (std::none_of(op->params.begin(), op->params.end(), is)) {
      problems.push_back(StrCat("there is no parameter '", name, "'"));
    }
  };
  for (const auto& [name, attr] : node.attrs()) {
    if (name == Symbol(nnef::kOperands)) {
      if (const auto* names = attr.get<Attribute::Strings>()) {
        for (const std::string& operand : *names) check(operand);
      }
    } else if (!name.view().starts_with("x2ir.") &&
               (op->name != "cast" || name != Symbol("type"))) {
      check(name.view());
    }
  }
  return problems;
}

absl::Status TellStates(Model& model, std::vector<std::string>& warnings) {
  for (const Value* input : model.graph->inputs()) {
    const Annotations* notes = input->annotations().get();
    if (!notes || !notes->extra.contains(nnef::kState)) continue;
    warnings.push_back(StrCat(
        "variable '", input->name(), "' changes between runs: it is an input, and output '",
        input->name(), "_out' is its next value; the first one is in the file of the variable"));
  }
  return absl::OkStatus();
}

[[maybe_unused]] const bool kRegistered =
    RegisterDialect({.name = nnef::kDialect,
                     .layout = "channels_first",
                     .holds_any_ops = false,
                     .check = NnefProblems,
                     .after_read = TellStates,
                     .before_passes = SpellOutQuantizedPairs});

bool IsNnefNumber(const Expr& x) { return x->constant() && x->constant()->rank() == 0; }

}  // namespace

NnefArgs::NnefArgs(Rewrite& r) : NodeReader(r) { names_ = StringList(nnef::kOperands); }

int NnefArgs::IndexOf(std::string_view name) const {
  const auto it = std::find(names_.begin(), names_.end(), name);
  const auto index = static_cast<size_t>(it - names_.begin());
  return it != names_.end() && index < num_inputs() ? static_cast<int>(index) : -1;
}
Expr NnefArgs::Tensor(std::string_view name) {
  const int index = IndexOf(name);
  if (index < 0) Fail(Invalid("operand '", name, "' is missing"));
  return in(static_cast<size_t>(index));
}
Expr NnefArgs::OptTensor(std::string_view name) { return Has(name) ? Tensor(name) : Expr(nullptr); }
std::vector<Value*> NnefArgs::Tensors(std::string_view name) const {
  std::vector<Value*> values;
  for (size_t i = 0; i < names_.size() && i < num_inputs(); ++i) {
    if (names_[i] == name) values.push_back(node().input(i));
  }
  return values;
}

std::vector<Size> NnefArgs::Sizes(std::string_view name) {
  std::vector<Size> sizes;
  if (!Has(name)) {
    for (const int64_t n : Integers(name)) sizes.emplace_back(n);
    return sizes;
  }
  const std::vector<Value*> parts = Tensors(name);
  for (Value* part : parts) {
    const Expr x = Expr(b(), part).To(DType::kInt64);
    const auto known = x2ir::KnownInts(x.value());
    if (x.rank() == 0 || parts.size() > 1) {
      if (known && known->size() == 1) {
        sizes.emplace_back((*known)[0]);
      } else {
        sizes.emplace_back(Reshape(x, {}));
      }
      continue;
    }
    const Dim count = DimAt(x, 0);
    Require(count.is_static() && count.value() <= 64, "a list of unknown length");
    for (int64_t i = 0; i < count.value(); ++i) {
      if (known) {
        sizes.emplace_back((*known)[static_cast<size_t>(i)]);
      } else {
        sizes.emplace_back(ElementAt(x, 0, i));
      }
    }
  }
  return sizes;
}
std::vector<int64_t> NnefArgs::Integers(std::string_view name) {
  if (!Has(name)) {
    const Attribute* attr = attrs().Find(Symbol(name));
    if (attr && attr->get<int64_t>()) return {Int(name, 0)};
    return IntList(name, {});
  }
  std::vector<int64_t> numbers;
  for (const Size& size : Sizes(name)) {
    Require(size.number.has_value(), StrCat("'", name, "' that is computed"));
    numbers.push_back(*size.number);
  }
  return numbers;
}
int64_t NnefArgs::Integer(std::string_view name) {
  const std::vector<int64_t> numbers = Integers(name);
  if (numbers.size() != 1) Fail(Invalid("'", name, "': expected one number"));
  return numbers[0];
}
double NnefArgs::Number(std::string_view name) {
  if (Has(name)) {
    const Expr x = Tensor(name);
    const x2ir::Tensor* tensor = x->fixed_constant();
    Require(tensor && tensor->num_elements() == 1, StrCat("'", name, "' that is computed"));
    return tensor->AsDouble(0);
  }
  const Attribute* attr = attrs().Find(Symbol(name));
  if (attr && attr->get<int64_t>()) return static_cast<double>(Int(name, 0));
  return Float(name, 0);
}
std::vector<int64_t> NnefArgs::Axes(std::string_view name) {
  std::vector<int64_t> axes = Integers(name);
  const int64_t rank = RankOf();
  for (int64_t& axis : axes) axis = AxisOf(axis, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) Fail(Invalid("an axis twice"));
  return axes;
}

std::vector<Expr> NnefArgs::Alike(std::vector<Expr> operands) {
  DType type = DType::kUndefined;
  int64_t rank = 0;
  const auto wider = [](DType x, DType y) {
    if (x == DType::kUndefined || x == y) return y;
    if (y == DType::kUndefined) return x;
    if (IsFloating(x) != IsFloating(y)) return IsFloating(x) ? x : y;
    if (x == DType::kBool || y == DType::kBool) return x == DType::kBool ? y : x;
    return BitWidth(x) >= BitWidth(y) ? x : y;
  };
  DType literal = DType::kUndefined;
  for (const Expr& x : operands) {
    rank = std::max(rank, x.rank());
    DType& of = IsNnefNumber(x) ? literal : type;
    of = wider(of, x.dtype());
  }
  if (type == DType::kUndefined || (IsFloating(literal) && !IsFloating(type))) {
    type = wider(type, literal);
  }
  for (Expr& x : operands) {
    x = x.To(type);
    const int64_t own = x.rank();
    if (own > 0 && own < rank) x = Unsqueeze(x, CountedFrom(own, rank - own));
  }
  return operands;
}

// --- Writing -------------------------------------------------------------------------------------

absl::StatusOr<Values> NnefWriter::CallAll(std::string_view op, const Given& operands,
                                           AttributeMap attrs, size_t results) {
  const nnef::Fragment* declared = nnef::FindOperator(op);
  if (!declared) return Internal("NNEF has no operator '", op, "'");
  Attribute::Strings names;
  std::vector<Value*> values;
  DType of_tract = DType::kUndefined;
  for (const auto& [name, value] : operands) {
    const auto param =
        std::find_if(declared->params.begin(), declared->params.end(),
                     [&, n = name](const nnef::Parameter& p) { return p.name == n; });
    if (param == declared->params.end() || !value) return Internal("'", op, "' of '", name, "'");
    const DType t = value->dtype();
    const bool real = t == DType::kFloat32, whole = t == DType::kInt64, flag = t == DType::kBool;
    // What NNEF's own nodes give has no type here; it fits, as the node was made for it.
    const bool fits = t == DType::kUndefined     ? true
                      : param->type == "scalar"  ? real
                      : param->type == "integer" ? whole
                      : param->type == "logical" ? flag
                                                 : real || whole || flag;
    if (!fits) {
      // Indices and conditions are of no other type there, too.
      const bool other = param->type == "scalar" || param->type.empty();
      if (!other || !TractHasKernel(op, t)) {
        return CannotExpress("'", op, "' of elements of type ", Name(t), "; NNEF's is of type ",
                             param->type.empty() ? "scalar, integer or logical" : param->type);
      }
      of_tract = t;
    }
    names.emplace_back(name);
    values.push_back(value);
  }
  AttributeMap all = {{nnef::kOperands, std::move(names)}};
  for (auto& [name, attr] : attrs) all.Set(name, std::move(attr));
  if (of_tract != DType::kUndefined) all.Set(nnef::kOfTract, std::string(Name(of_tract)));
  return Make(nnef::kDialect, op, std::move(values), std::move(all),
              std::vector<bool>(results, true), {});
}
absl::StatusOr<Value*> NnefWriter::Call(std::string_view op, const Given& operands,
                                        AttributeMap attrs) {
  X2IR_ASSIGN_OR_RETURN(const Values values, CallAll(op, operands, std::move(attrs), 1));
  return values[0];
}
Expr NnefWriter::AsReal(Value* x) {
  const x2ir::Tensor* tensor = x->fixed_constant();
  const auto numbers = tensor ? tensor->ToInts() : absl::NotFoundError("");
  if (!numbers.ok()) return {b(), Cast(x, DType::kFloat32)};
  return NumbersAs(b(), DType::kFloat32, tensor->dims(), {numbers->begin(), numbers->end()});
}
bool NnefWriter::MadeFormulaOfHalves() {
  const OpDef* op = FindOp(node().op());
  if (num_inputs() == 0 || dtype(0) != DType::kFloat16 || !op) return false;
  const NumberUse use = op->numbers().use;
  if (use == NumberUse::kMoves || use == NumberUse::kCompares) return false;
  return std::any_of(b().made().begin(), b().made().end(), [](const Node* made) {
    return made->is_ir() && made->op() != Symbol("cast");
  });
}
std::optional<Values> NnefWriter::Known() {
  if (node().num_outputs() != 1 || !node().output(0)) return std::nullopt;
  std::optional<x2ir::Tensor> tensor = KnownTensor(*node().output(0));
  if (!tensor) return std::nullopt;
  return Values{b().Constant(*std::move(tensor))};
}
absl::StatusOr<Value*> NnefWriter::OfRank(Value* x, int64_t rank) {
  X2IR_ASSIGN_OR_RETURN(const int64_t own, RankOf(x));
  if (own == 0 || own >= rank) return x;
  return Op("unsqueeze", {x, Ints(CountedFrom(0, rank - own))});
}
absl::StatusOr<std::vector<Value*>> NnefWriter::Broadcast() {
  int64_t rank = 0;
  for (size_t i = 0; i < num_inputs(); ++i) {
    X2IR_ASSIGN_OR_RETURN(const int64_t own, Rank(i));
    rank = std::max(rank, own);
  }
  std::vector<Value*> operands;
  for (size_t i = 0; i < num_inputs(); ++i) {
    X2IR_ASSIGN_OR_RETURN(Value * x, OfRank(in(i), rank));
    operands.push_back(x);
  }
  return operands;
}

}  // namespace x2ir
