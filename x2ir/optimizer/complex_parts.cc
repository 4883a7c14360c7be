// See complex_parts.h.
#include "x2ir/optimizer/complex_parts.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/complex.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/name_made.h"
#include "x2ir/ops/splice.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

// Numbers that were real have imaginary parts of 0, which are not written out: null.
struct ComplexParts {
  Value* re = nullptr;
  Value* im = nullptr;
};

bool IsComplexValue(const Value* value) { return value && IsComplex(value->dtype()); }

// A node while it is rewritten.
class ComplexJob {
 public:
  ComplexJob(const Node& node, Builder& b, std::vector<ComplexParts> operands)
      : node_(node), b_(b), operands_(std::move(operands)) {}

  const Node& node() const { return node_; }
  Builder& b() { return b_; }
  const AttributeMap& attrs() const { return node_.attrs(); }
  size_t size() const { return operands_.size(); }
  bool IsPair(size_t i) const { return IsComplexValue(node_.input(i)); }
  Value* Real(size_t i) const { return node_.input(i); }
  const ComplexParts& parts(size_t i) const { return operands_[i]; }

  // The parts, of which the imaginary ones may be a 0 of rank 0, to be broadcast; or may not.
  Complex Broadcast(size_t i) {
    const Expr re{b_, operands_[i].re};
    return {re, operands_[i].im ? Expr(b_, operands_[i].im) : re.Number(0)};
  }
  Complex Whole(size_t i) {
    const Expr re{b_, operands_[i].re};
    return {re, operands_[i].im ? Expr(b_, operands_[i].im) : Expand(re.Number(0), ShapeOf(re))};
  }
  // The node's op on other operands: all its outputs.
  std::vector<Value*> Same(std::vector<Value*> operands) {
    std::vector<bool> wanted;
    for (const Value* output : node_.outputs()) wanted.push_back(output != nullptr);
    return b_.Ops(node_.op(), std::move(operands), node_.attrs(), wanted);
  }

 private:
  const Node& node_;
  Builder& b_;
  std::vector<ComplexParts> operands_;
};

// For each output its parts; of a real output it is the first of them.
using ComplexResults = std::vector<ComplexParts>;
// Both parts have the shape of the number, though one may be of fewer axes, as a constant is.
ComplexResults OneResult(const Complex& z) {
  if (SameShape(z.re->shape(), z.im->shape())) return {{z.re.value(), z.im.value()}};
  const Expr both = ShapeOf(z.re + z.im);
  return {{Expand(z.re, both).value(), Expand(z.im, both).value()}};
}
ComplexResults OneResult(const Expr& x) { return {{x.value(), nullptr}}; }

// --- Rules ------------------------------------------------------------------------------------

using ComplexRule = ComplexResults (*)(ComplexJob&);

// What is linear in all its complex operands together: to the real parts and to the imaginary ones.
ComplexResults EachPart(ComplexJob& j) {
  std::vector<Value*> re, im;
  bool complex = false;
  for (size_t i = 0; i < j.size(); ++i) complex |= j.parts(i).im != nullptr;
  for (size_t i = 0; i < j.size(); ++i) {
    if (!j.IsPair(i)) {
      re.push_back(j.Real(i));
      im.push_back(j.Real(i));
      continue;
    }
    re.push_back(j.parts(i).re);
    if (complex) im.push_back(j.Whole(i).im);
  }
  const std::vector<Value*> of_re = j.Same(re);
  const std::vector<Value*> of_im =
      complex ? j.Same(im) : std::vector<Value*>(of_re.size(), nullptr);
  ComplexResults results;
  for (size_t i = 0; i < of_re.size(); ++i) results.push_back({of_re[i], of_im[i]});
  return results;
}

// Products, of operands of either kind.
ComplexResults Products(ComplexJob& j) {
  const auto of = [&](Value* a, Value* b) { return Expr(j.b(), j.Same({a, b})[0]); };
  if (j.size() == 1) return EachPart(j);
  if (j.size() != 2) {
    j.b().Fail(Unimplemented("of more than two complex operands"));
    return OneResult(j.Broadcast(0));
  }
  if (!j.IsPair(0) || !j.IsPair(1)) return EachPart(j);
  const ComplexParts &a = j.parts(0), &b = j.parts(1);
  Expr re = of(a.re, b.re);
  if (a.im && b.im) re = re - of(a.im, b.im);
  if (!a.im && !b.im) return {{re.value(), nullptr}};
  const Expr im = !a.im ? of(a.re, b.im) : !b.im ? of(a.im, b.re) : of(a.re, b.im) + of(a.im, b.re);
  return {{re.value(), im.value()}};
}

ComplexResults ComplexScatter(ComplexJob& j) {
  const std::string& reduction = j.attrs().String("reduction");
  if (reduction != "none" && reduction != "add") {
    j.b().Fail(Unimplemented("complex numbers that are combined by ", reduction));
  }
  return EachPart(j);
}

template <Complex (*kFormula)(const Complex&)>
ComplexResults ComplexUnary(ComplexJob& j) {
  return OneResult(kFormula(j.Broadcast(0)));
}
template <Complex (*kFormula)(const Complex&, const Complex&)>
ComplexResults ComplexBinary(ComplexJob& j) {
  return OneResult(kFormula(j.Broadcast(0), j.Broadcast(1)));
}

// OneResult number that is known in every run.
std::optional<std::complex<double>> KnownComplex(const ComplexParts& z) {
  const auto known = [](const Value* value) -> std::optional<double> {
    const std::optional<Tensor> tensor = KnownTensor(*value);
    if (!tensor || tensor->rank() != 0) return std::nullopt;
    return tensor->AsDouble(0);
  };
  const std::optional<double> re = known(z.re), im = z.im ? known(z.im) : 0.0;
  if (!re || !im) return std::nullopt;
  return std::complex<double>(*re, *im);
}
ComplexResults ComplexPower(ComplexJob& j) {
  if (const auto exponent = KnownComplex(j.parts(1)))
    return OneResult(Pow(j.Broadcast(0), *exponent));
  return OneResult(Pow(j.Broadcast(0), j.Broadcast(1)));
}

ComplexResults ComplexEqual(ComplexJob& j) {
  const Complex a = j.Broadcast(0), b = j.Broadcast(1);
  return OneResult((a.re == b.re) & (a.im == b.im));
}

ComplexResults ComplexCast(ComplexJob& j) {
  const DType to = *ParseDType(j.attrs().String("to"));
  if (!j.IsPair(0)) return {{Expr(j.b(), j.Real(0)).To(PartType(to)).value(), nullptr}};
  const ComplexParts& z = j.parts(0);
  if (to == DType::kBool) {
    const Complex both = j.Broadcast(0);
    return OneResult(IsTrue(both.re) | IsTrue(both.im));
  }
  if (!IsComplex(to)) j.b().Fail(Unimplemented("complex numbers as ", Name(to)));
  const DType part = PartType(to);
  return {
      {Expr(j.b(), z.re).To(part).value(), z.im ? Expr(j.b(), z.im).To(part).value() : nullptr}};
}

ComplexResults MakeComplex(ComplexJob& j) {
  return OneResult(Complex{{j.b(), j.Real(0)}, {j.b(), j.Real(1)}});
}

ComplexResults RealPart(ComplexJob& j) { return {{j.parts(0).re, nullptr}}; }
ComplexResults ImaginaryPart(ComplexJob& j) { return OneResult(j.Whole(0).im); }
ComplexResults OfShape(ComplexJob& j) { return {{j.Same({j.parts(0).re})[0], nullptr}}; }

Complex ComplexSum(const Complex& a, const Complex& b) { return a + b; }
Complex ComplexDifference(const Complex& a, const Complex& b) { return a - b; }
Complex ComplexProduct(const Complex& a, const Complex& b) { return a * b; }
Complex ComplexQuotient(const Complex& a, const Complex& b) { return a / b; }
// As PyTorch has it, whose zeros stay positive.
Complex ComplexNegative(const Complex& z) { return {0.0 - z.re, 0.0 - z.im}; }

// Formulas of single ops, which only this step needs. What holds for kinds of ops they say
// themselves (OpDef::complex).
constexpr struct ComplexRuleRow {
  std::string_view op;
  ComplexRule rule;
} kComplexRules[] = {
    {"complex", MakeComplex},
    {"real", RealPart},
    {"imag", ImaginaryPart},
    {"cast", ComplexCast},
    {"scatter_elements", ComplexScatter},
    {"scatter_nd", ComplexScatter},
    {"add", ComplexBinary<ComplexSum>},
    {"sub", ComplexBinary<ComplexDifference>},
    {"mul", ComplexBinary<ComplexProduct>},
    {"div", ComplexBinary<ComplexQuotient>},
    {"pow", ComplexPower},
    {"equal", ComplexEqual},
    {"neg", ComplexUnary<ComplexNegative>},
    {"reciprocal", ComplexUnary<Reciprocal>},
    {"exp", ComplexUnary<Exp>},
    {"log", ComplexUnary<Log>},
    {"sqrt", ComplexUnary<Sqrt>},
    {"sin", ComplexUnary<Sin>},
    {"cos", ComplexUnary<Cos>},
    {"sinh", ComplexUnary<Sinh>},
    {"cosh", ComplexUnary<Cosh>},
    {"tan", ComplexUnary<Tan>},
    {"tanh", ComplexUnary<Tanh>},
    {"asin", ComplexUnary<Asin>},
    {"acos", ComplexUnary<Acos>},
    {"atan", ComplexUnary<Atan>},
    {"asinh", ComplexUnary<Asinh>},
    {"acosh", ComplexUnary<Acosh>},
    {"atanh", ComplexUnary<Atanh>},
    {"sigmoid", ComplexUnary<Sigmoid>},
};

ComplexRule ComplexRuleOf(Symbol op) {
  for (const ComplexRuleRow& row : kComplexRules) {
    if (op == row.op) return row.rule;
  }
  const OpDef* def = FindOp(op);
  if (!def) return nullptr;
  if (def->only_shapes()) return OfShape;
  switch (def->complex()) {
    case ComplexUse::kNone: return nullptr;
    case ComplexUse::kParts: return EachPart;
    case ComplexUse::kProducts: return Products;
  }
  return nullptr;
}

// --- The graph --------------------------------------------------------------------------------

bool TouchesComplex(const Node& node) {
  const auto any = [](const auto& values) {
    return std::any_of(values.begin(), values.end(), IsComplexValue);
  };
  return any(node.inputs()) || any(node.outputs());
}

bool HasComplexInterface(const Graph& graph) {
  const auto any = [](absl::Span<const Value* const> values) {
    return std::any_of(values.begin(), values.end(), IsComplexValue);
  };
  return any(graph.inputs()) || any(graph.outputs());
}

// Whether complex numbers come from real ones, or real ones from complex ones.
bool ConvertsComplex(const Graph& graph) {
  for (const Node* node : graph.nodes()) {
    if (!node->is_ir()) continue;
    const std::string_view op = node->op().view();
    if (op == "complex" || op == "real" || op == "imag") return true;
    if (op == "cast" && IsComplexValue(node->input(0)) != IsComplexValue(node->output(0))) {
      return true;
    }
  }
  return false;
}

std::pair<Tensor, Tensor> ConstantParts(const Tensor& z) {
  const DType part = PartType(z.dtype());
  Tensor re = Tensor::Zeros(part, z.dims()), im = Tensor::Zeros(part, z.dims());
  const size_t width = static_cast<size_t>(BitWidth(part)) / 8;
  const std::byte* from = z.bytes().data();
  for (size_t i = 0; i < static_cast<size_t>(z.num_elements()); ++i) {
    std::memcpy(re.mutable_bytes().data() + i * width, from + 2 * i * width, width);
    std::memcpy(im.mutable_bytes().data() + i * width, from + (2 * i + 1) * width, width);
  }
  return {std::move(re), std::move(im)};
}

class ComplexSplitter {
 public:
  // `outer`: of the graph that this one is nested in.
  explicit ComplexSplitter(Graph& graph, ComplexSplitter* outer = nullptr)
      : graph_(graph), names_(graph), outer_(outer) {}

  absl::Status Run() {
    for (Node* node : graph_.nodes()) {
      const absl::Status s = TouchesComplex(*node) ? Visit(node) : VisitInner(*node);
      if (!s.ok()) return Annotate(s, Describe(*node));
    }
    // From the last one on, so that none is used when it goes.
    for (auto it = gone_.rbegin(); it != gone_.rend(); ++it) EraseWithConstants(*it);
    return absl::OkStatus();
  }

 private:
  // Branches and bodies, which may look at outer values.
  absl::Status VisitInner(Node& node) {
    for (Graph* inner : node.subgraphs()) {
      if (HasComplexInterface(*inner)) {
        return Unimplemented("complex numbers that enter or leave a nested graph");
      }
      X2IR_RETURN_IF_ERROR(ComplexSplitter(*inner, this).Run());
    }
    return absl::OkStatus();
  }

  const ComplexParts* FindParts(const Value* value) const {
    const auto it = parts_.find(value);
    if (it != parts_.end()) return &it->second;
    return outer_ ? outer_->FindParts(value) : nullptr;
  }

  absl::StatusOr<ComplexParts> PartsOfOperand(Value* value) {
    if (const ComplexParts* known = FindParts(value)) return *known;
    const Tensor* constant = value->fixed_constant();
    if (!constant) return Unimplemented("complex numbers of '", value->name(), "'");
    X2IR_ASSIGN_OR_RETURN(const Tensor dense, constant->ToDense());
    auto [re, im] = ConstantParts(dense);
    const auto add = [&](std::string_view part, Tensor tensor) {
      return graph_.AddConstant(graph_.UniqueName(StrCat(value->name(), part)), std::move(tensor));
    };
    return parts_[value] = {add("_real", std::move(re)), add("_imag", std::move(im))};
  }

  absl::Status Visit(Node* node) {
    const ComplexRule rule = node->is_ir() ? ComplexRuleOf(node->op()) : nullptr;
    if (!rule || node->has_subgraphs()) return Unimplemented("of complex numbers");
    std::vector<ComplexParts> operands(node->num_inputs());
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!IsComplexValue(node->input(i))) continue;
      X2IR_ASSIGN_OR_RETURN(operands[i], PartsOfOperand(node->input(i)));
    }
    Builder b(graph_, node);
    b.set_name_hint(*node);
    ComplexJob job(*node, b, std::move(operands));
    const ComplexResults results = rule(job);
    if (!b.status().ok()) return b.status();
    // An op gives complex numbers, or real ones.
    if (!IsComplexValue(node->output(0))) {
      Values values;
      for (const ComplexParts& result : results) values.push_back(result.re);
      Splice(node, values, b, names_);
      return absl::OkStatus();
    }
    Values parts;
    for (const ComplexParts& result : results) parts.insert(parts.end(), {result.re, result.im});
    b.PutInOrderOfUse(parts);
    for (Node* made : b.made()) names_.NameMade(*made, *node);
    NameMadeFor(*node, b);
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      if (node->output(i)) parts_[node->output(i)] = results[i];
    }
    gone_.push_back(node);
    return absl::OkStatus();
  }

  Graph& graph_;
  NodeNames names_;
  ComplexSplitter* outer_;
  absl::flat_hash_map<const Value*, ComplexParts> parts_;
  std::vector<Node*> gone_;
};

}  // namespace

bool TakesComplexNumbers(Symbol ir_op) { return ComplexRuleOf(ir_op) != nullptr; }

absl::Status SplitComplexNumbers(Graph& graph) {
  if (!ConvertsComplex(graph) || HasComplexInterface(graph)) return absl::OkStatus();
  return ComplexSplitter(graph).Run();
}

}  // namespace x2ir
