// Inference of single nodes and of graphs, and the building blocks of InferFns.
#include "x2ir/ops/infer.h"

#include <algorithm>

#include "x2ir/graph_wrapper/lookahead.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/rewrite.h"

namespace x2ir {
namespace {

const Type& UnknownType() {
  static const Type* type = new Type;
  return *type;
}

// Evaluation during inference is for shape arithmetic: operands and results are small.
constexpr int64_t kMaxFoldedOperand = 4096;

// `inferred`, with unknown parts taken from `declared`. If they contradict each other, the inferred
// type is kept: files carry stale annotations, above all after --shape.
Type Refine(Type inferred, const Type& declared) {
  if (!inferred.is_known()) return declared;
  if (!declared.is_known() || inferred.kind() != declared.kind()) return inferred;
  if (inferred == declared) return declared;  // which others share
  if (inferred.kind() != Type::kTensor && inferred.kind() != Type::kSparseTensor) return inferred;
  if (inferred.dtype() == DType::kUndefined) inferred.set_dtype(declared.dtype());
  if (!declared.has_shape()) return inferred;
  if (!inferred.has_shape()) {
    Type refined = declared;
    refined.set_dtype(inferred.dtype());
    return refined;
  }
  const Shape& have = *inferred.shape();
  const Shape& other = *declared.shape();
  if (have.rank() != other.rank()) return inferred;
  bool gained = false;
  for (int64_t i = 0; i < have.rank(); ++i)
    gained |= have[i].is_unknown() && !other[i].is_unknown();
  if (!gained) return inferred;
  Shape shape = have;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (shape[i].is_unknown()) shape[i] = other[i];
  }
  inferred.set_shape(std::move(shape));
  return inferred;
}

bool HoldsElements(const Type& type) {
  return type.is_tensor() && (IsInteger(type.dtype()) || type.dtype() == DType::kBool) &&
         type.has_shape() && type.shape()->rank() <= 1;
}

// The operand as a tensor if it is known, and small.
std::optional<Tensor> SmallTensor(const Value& value) {
  const Tensor* t = value.fixed_constant();
  if (t && t->num_elements() > kMaxFoldedOperand) return std::nullopt;
  return KnownTensor(value);
}

// Elements of the outputs of an integer node whose operands are all known: by evaluation,
// so that every op propagates numbers without a rule of its own.
void FoldElements(Node& node, const OpDef& def,
                  std::vector<std::optional<std::vector<Dim>>>& elements,
                  const std::vector<Type>& results) {
  if (def.impure() || !def.eval() || node.has_subgraphs() || node.num_inputs() == 0) return;
  bool wanted = false;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!node.output(i) || elements[i] || !HoldsElements(results[i])) continue;
    const Dim count = results[i].shape()->NumElements();
    wanted |= count.is_static() && count.value() <= int64_t{InferContext::kMaxElements};
  }
  if (!wanted) return;
  std::vector<Datum> operands;
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    if (!node.input(i)) {
      operands.emplace_back();
      continue;
    }
    std::optional<Tensor> tensor = SmallTensor(*node.input(i));
    if (!tensor) return;
    operands.emplace_back(*std::move(tensor));
  }
  auto values = EvalNode(node, std::move(operands), nullptr);
  if (!values.ok()) return;  // the evaluation of the node reports the error
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor* tensor = (*values)[i].tensor();
    if (elements[i] || !tensor || tensor->rank() > 1 ||
        tensor->num_elements() > int64_t{InferContext::kMaxElements}) {
      continue;
    }
    auto numbers = tensor->ToInts();
    if (numbers.ok()) elements[i] = std::vector<Dim>(numbers->begin(), numbers->end());
  }
}

}  // namespace

std::optional<Tensor> KnownTensor(const Value& value) {
  if (const Tensor* t = value.fixed_constant()) {
    return t->is_sparse() ? std::nullopt : std::optional(*t);
  }
  if (!HoldsElements(value.type())) return std::nullopt;
  const std::vector<Dim>* elements = value.elements();
  if (!elements) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Dim& d : *elements) {
    if (!d.is_static()) return std::nullopt;
    numbers.push_back(d.value());
  }
  std::vector<int64_t> dims;
  if (value.shape()->rank() == 1) dims.push_back(static_cast<int64_t>(numbers.size()));
  if (dims.empty() && numbers.size() != 1) return std::nullopt;
  if (value.dtype() == DType::kInt64) return Tensor::Of<int64_t>(dims, numbers);
  return FromNumbers<int64_t>(value.dtype(), dims, numbers);
}

std::optional<std::vector<int64_t>> KnownInts(const Value* value) {
  const std::optional<Tensor> tensor = value ? KnownTensor(*value) : std::nullopt;
  if (!tensor) return std::nullopt;
  auto ints = tensor->ToInts();
  return ints.ok() ? std::optional(*std::move(ints)) : std::nullopt;
}

std::optional<std::vector<int64_t>> Rewrite::ConstInts(size_t i) const {
  return KnownInts(node.input(i));
}

InferContext::InferContext(Node& node)
    : node_(node), results_(node.num_outputs()), elements_(node.num_outputs()) {}

const Type& InferContext::type(size_t i) const {
  return node_.input(i) ? node_.input(i)->type() : UnknownType();
}

const Tensor* InferContext::constant(size_t i) const {
  const Value* value = node_.input(i);
  if (!value || !value->fixed_constant() || value->fixed_constant()->is_sparse()) return nullptr;
  return value->fixed_constant();
}

std::optional<std::vector<int64_t>> InferContext::ConstInts(size_t i) const {
  return KnownInts(node_.input(i));
}

std::optional<std::vector<Dim>> InferContext::Elements(size_t i) const {
  const Value* value = node_.input(i);
  if (!value) return std::nullopt;
  if (value->elements()) return *value->elements();
  const Tensor* tensor = constant(i);
  if (!tensor || tensor->rank() > 1 || tensor->num_elements() > int64_t{kMaxElements}) {
    return std::nullopt;
  }
  auto ints = tensor->ToInts();
  if (!ints.ok()) return std::nullopt;
  return std::vector<Dim>(ints->begin(), ints->end());
}

void InferContext::Set(size_t i, Type type) {
  if (i < results_.size()) results_[i] = std::move(type);
}

void InferContext::SetElements(size_t i, std::vector<Dim> elements) {
  if (i < elements_.size() && elements.size() <= kMaxElements) elements_[i] = std::move(elements);
}

absl::StatusOr<std::vector<Type>> InferContext::InferSubgraph(Symbol attr,
                                                              const std::vector<Type>& inputs) {
  Graph& graph = const_cast<Graph&>(node_.attrs().SubGraph(attr));
  if (inputs.size() != graph.inputs().size()) {
    return Invalid("graph '", attr.str(), "' has ", graph.inputs().size(), " inputs; expected ",
                   inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    Value* input = graph.inputs()[i];
    input->set_type(Refine(inputs[i], input->type()));
  }
  X2IR_RETURN_IF_ERROR(InferGraph(graph));
  std::vector<Type> outputs;
  for (const Value* output : graph.outputs()) outputs.push_back(output ? output->type() : Type());
  return outputs;
}

// --- Building blocks --------------------------------------------------------------------

absl::Status SameTypeAsFirst(InferContext& ctx) { return ctx.Return(ctx.type(0)); }

absl::Status ShapeAsFirst(InferContext& ctx, DType dtype) {
  return ctx.Return(dtype, ctx.shape(0) ? std::optional(*ctx.shape(0)) : std::nullopt);
}

absl::Status SameAsFirst(InferContext& ctx) {
  ctx.Set(0, ctx.type(0));
  if (auto elements = ctx.Elements(0)) ctx.SetElements(0, *std::move(elements));
  return absl::OkStatus();
}

namespace {
// Whether x is min(y, c) for a name y, as slices of tables are (x = min(seq, 40)): broadcast
// together they must be equal, or x is 1; if y is 1, so is x. The result is y in any case.
bool IsCappedSize(const Dim& x, const Dim& y) {
  const std::vector<std::string> names = y.SymbolNames();
  if (names.size() != 1 || y != Dim::Symbol(names[0]) || !ProvablyEqual(Min(x, y), x)) return false;
  const Dim at_one = x.Substitute([&](std::string_view name) -> std::optional<Dim> {
    return name == names[0] ? std::optional(Dim(1)) : std::nullopt;
  });
  return at_one == Dim(1);
}
}  // namespace

absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  const int64_t rank = std::max(a.rank(), b.rank());
  std::vector<Dim> dims(rank);
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t ia = i - (rank - a.rank());
    const int64_t ib = i - (rank - b.rank());
    const Dim x = ia < 0 ? Dim(1) : a[ia];
    const Dim y = ib < 0 ? Dim(1) : b[ib];
    const bool x_is_one = x.is_static() && x.value() == 1;
    const bool y_is_one = y.is_static() && y.value() == 1;
    if (x_is_one) {
      dims[i] = y;
    } else if (y_is_one || ProvablyEqual(x, y)) {
      dims[i] = x;
    } else if (x.is_static() && y.is_static()) {
      return Invalid("shapes [", a.ToString(), "] and [", b.ToString(),
                     "] cannot be broadcast together");
    } else if (x.is_static()) {
      dims[i] = x;  // the other is 1 or equal
    } else if (y.is_static()) {
      dims[i] = y;
    } else if (IsCappedSize(x, y)) {
      dims[i] = y;
    } else if (IsCappedSize(y, x)) {
      dims[i] = x;
    }  // else unknown: either may be 1
  }
  return Shape(std::move(dims));
}

absl::StatusOr<DType> CommonDType(const InferContext& ctx, size_t from, size_t to) {
  DType dtype = DType::kUndefined;
  for (size_t i = from; i < to && i < ctx.num_inputs(); ++i) {
    const DType t = ctx.dtype(i);
    if (t == DType::kUndefined) continue;
    if (dtype != DType::kUndefined && t != dtype) {
      return Invalid("operand ", i, " has another element type; expected ", Name(dtype), ", got ",
                     Name(t));
    }
    dtype = t;
  }
  return dtype;
}

namespace {
absl::StatusOr<std::optional<Shape>> BroadcastOperands(const InferContext& ctx) {
  std::optional<Shape> shape = Shape();
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    if (!ctx.has(i)) continue;
    if (!ctx.shape(i)) return std::optional<Shape>();
    X2IR_ASSIGN_OR_RETURN(shape, BroadcastShapes(*shape, *ctx.shape(i)));
  }
  return shape;
}
}  // namespace

absl::Status BroadcastAll(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, ctx.num_inputs()));
  return BroadcastAllAs(ctx, dtype);
}

absl::Status BroadcastAllAs(InferContext& ctx, DType dtype) {
  X2IR_ASSIGN_OR_RETURN(std::optional<Shape> shape, BroadcastOperands(ctx));
  return ctx.Return(dtype, std::move(shape));
}

absl::StatusOr<int64_t> NormalizeAxis(int64_t axis, int64_t rank, bool inclusive) {
  const int64_t last = inclusive ? rank : rank - 1;
  if (axis < -rank - (inclusive ? 1 : 0) || axis > last) {
    return Invalid("axis ", axis, " is out of range for rank ", rank);
  }
  return axis < 0 ? axis + rank + (inclusive ? 1 : 0) : axis;
}

absl::StatusOr<std::vector<int64_t>> NormalizeAxes(std::vector<int64_t> axes, int64_t rank) {
  for (size_t i = 0; i < axes.size(); ++i) {
    X2IR_ASSIGN_OR_RETURN(axes[i], NormalizeAxis(axes[i], rank));
  }
  std::vector<int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] == sorted[i - 1]) return Invalid("axis ", sorted[i], " is named twice");
  }
  return axes;
}

// --- Whole nodes and graphs -------------------------------------------------------------

void SetInferredType(Value& value, Type inferred) {
  if (value.is_graph_output() && !value.graph()->parent_node()) {
    auto merged = MergeTypes(value.type(), inferred);
    value.set_type(merged.ok() ? *std::move(merged) : Refine(std::move(inferred), value.type()));
  } else {
    value.set_type(Refine(std::move(inferred), value.type()));
  }
}

absl::Status InferNode(Node& node) {
  if (!node.is_ir()) return absl::OkStatus();
  const OpDef* def = FindOp(node.op());
  if (!def) return NoSuchOp(node.op());
  X2IR_RETURN_IF_ERROR(def->Check(node));
  InferContext ctx(node);
  if (def->infer()) X2IR_RETURN_IF_ERROR(def->infer()(ctx));
  FoldElements(node, *def, ctx.elements_, ctx.results_);
  for (size_t i = 0; i < node.num_outputs(); ++i) {
    Value* output = node.output(i);
    if (!output) continue;
    SetInferredType(*output, std::move(ctx.results_[i]));
    if (ctx.elements_[i]) {
      output->set_elements(*std::move(ctx.elements_[i]));
    } else {
      output->clear_elements();
    }
  }
  return absl::OkStatus();
}

absl::Status InferGraph(Graph& graph) {
  Lookahead ahead(graph);
  for (Node* node : graph.nodes()) {
    ahead.Step();
    if (absl::Status status = InferNode(*node); !status.ok()) {
      return Annotate(status, Describe(*node));
    }
  }
  return absl::OkStatus();
}

std::string Describe(const Node& node) {
  std::string text = node.op().str();
  if (!node.is_ir()) text = StrCat(node.dialect().str(), ".", text);
  if (!node.name().empty()) return StrCat(text, " '", node.name(), "'");
  for (const Value* output : node.outputs()) {
    if (output) return StrCat(text, " '", output->name(), "'");
  }
  return text;
}

}  // namespace x2ir
