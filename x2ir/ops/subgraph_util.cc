// See subgraph_util.h.
#include "x2ir/ops/subgraph_util.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {

// --- Inference ------------------------------------------------------------------------------

namespace {

std::optional<Shape> JoinShapes(const Shape* a, const Shape* b) {
  if (!a || !b || a->rank() != b->rank()) return std::nullopt;
  Shape shape = *a;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (!ProvablyEqual((*a)[i], (*b)[i])) shape[i] = Dim();
  }
  return shape;
}

}  // namespace

Type WithoutShape(const Type& type) {
  switch (type.kind()) {
    case Type::kTensor: return Type::Tensor(type.dtype());
    case Type::kSparseTensor: return Type::SparseTensor(type.dtype(), std::nullopt);
    case Type::kSequence: return Type::Sequence(WithoutShape(type.element()));
    case Type::kOptional: return Type::Optional(WithoutShape(type.element()));
    default: return type;
  }
}

absl::StatusOr<Type> JoinTypes(const Type& a, const Type& b) {
  if (!a.is_known()) return WithoutShape(b);
  if (!b.is_known()) return WithoutShape(a);
  const auto differ = [&] {
    return Invalid("types ", a.ToString(), " and ", b.ToString(), " differ");
  };
  if (a.kind() != b.kind()) {
    if (a.kind() != Type::kOptional && b.kind() != Type::kOptional) return differ();
    const bool a_is = a.kind() == Type::kOptional;
    X2IR_ASSIGN_OR_RETURN(Type element, JoinTypes(a_is ? a.element() : a, a_is ? b : b.element()));
    return Type::Optional(std::move(element));
  }
  switch (a.kind()) {
    case Type::kTensor:
    case Type::kSparseTensor: {
      const bool known = a.dtype() != DType::kUndefined && b.dtype() != DType::kUndefined;
      if (known && a.dtype() != b.dtype()) return differ();
      Type type = a;
      if (a.dtype() == DType::kUndefined) type.set_dtype(b.dtype());
      type.set_shape(JoinShapes(a.shape(), b.shape()));
      return type;
    }
    case Type::kSequence:
    case Type::kOptional: {
      X2IR_ASSIGN_OR_RETURN(Type element, JoinTypes(a.element(), b.element()));
      return a.kind() == Type::kSequence ? Type::Sequence(std::move(element))
                                         : Type::Optional(std::move(element));
    }
    default:
      if (a != b) return differ();
      return a;
  }
}

absl::StatusOr<std::vector<Type>> JoinTypes(const std::vector<Type>& a,
                                            const std::vector<Type>& b) {
  if (a.size() != b.size()) {
    return Invalid("there are ", a.size(), " and ", b.size(), " results");
  }
  std::vector<Type> types;
  for (size_t i = 0; i < a.size(); ++i) {
    auto type = JoinTypes(a[i], b[i]);
    if (!type.ok()) return Annotate(type.status(), StrCat("result ", i));
    types.push_back(*std::move(type));
  }
  return types;
}

namespace {

// Each attempt at a loop infers its body anew, and the loops within do the same. Loops that hold
// more levels than this do not try: what they carry has no known shape.
constexpr int kMaxTriedLevels = 3;
constexpr int kMaxTries = 3;

// How many levels of nested graphs there are in it.
int Levels(const Graph& graph) {
  int levels = 0;
  for (const Node* node : graph.nodes()) {
    for (const Graph* inner : node->subgraphs()) levels = std::max(levels, 1 + Levels(*inner));
  }
  return levels;
}

// What was found or declared of shapes held for the first round alone.
void ForgetShapes(Graph& graph, bool inputs) {
  for (Value* input : graph.inputs()) {
    if (inputs) input->set_type(WithoutShape(input->type()));
  }
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) ForgetShapes(*inner, true);
    if (!node->is_ir()) continue;  // nothing would find them again
    for (Value* output : node->outputs()) {
      if (!output) continue;
      output->set_type(WithoutShape(output->type()));
      output->clear_elements();
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<Type>> InferRounds(InferContext& ctx, Symbol body, Carried carried,
                                              std::vector<Type>& inputs) {
  Graph& graph = const_cast<Graph&>(ctx.attrs().SubGraph(body));
  const auto input = [&](size_t i) { return graph.inputs()[carried.first + i]; };
  const int tries = carried.count == 0 || Levels(graph) > kMaxTriedLevels ? 0 : kMaxTries;
  for (int attempt = 0; attempt < tries; ++attempt) {
    X2IR_ASSIGN_OR_RETURN(std::vector<Type> outputs, ctx.InferSubgraph(body, inputs));
    bool kept = true;
    for (size_t i = 0; i < carried.count; ++i) {
      const Type& now = input(i)->type();
      auto joined = JoinTypes(now, outputs[carried.from + i]);
      if (!joined.ok()) return Annotate(joined.status(), StrCat("carried value ", i));
      kept = kept && *joined == now;
      inputs[carried.first + i] = *std::move(joined);
    }
    if (kept) return outputs;
    ForgetShapes(graph, false);
    for (size_t i = 0; i < carried.count; ++i) input(i)->set_type(inputs[carried.first + i]);
  }
  for (size_t i = 0; i < carried.count; ++i) {
    Type& type = inputs[carried.first + i];
    type = WithoutShape(type.is_known() ? type : input(i)->type());
    input(i)->set_type(type);
  }
  if (carried.count != 0) ForgetShapes(graph, false);
  return ctx.InferSubgraph(body, inputs);
}

absl::Status ExpectOneElement(const InferContext& ctx, size_t i, DType dtype, const char* name) {
  const Type& type = ctx.type(i);
  if (!type.is_known()) return absl::OkStatus();
  if (!type.is_tensor() || (type.dtype() != DType::kUndefined && type.dtype() != dtype) ||
      (type.shape() && ProvablyDifferent(type.shape()->NumElements(), 1))) {
    return Invalid(name, ": expected one ", Name(dtype), ", got ", type.ToString());
  }
  return absl::OkStatus();
}

absl::Status ExpectSignature(const Graph& graph, size_t inputs, size_t outputs) {
  if (graph.inputs().size() != inputs) {
    return Invalid("graph '", graph.name(), "' has ", graph.inputs().size(), " inputs; expected ",
                   inputs);
  }
  if (graph.outputs().size() != outputs) {
    return Invalid("graph '", graph.name(), "' has ", graph.outputs().size(), " outputs; expected ",
                   outputs);
  }
  return absl::OkStatus();
}

// --- Evaluation -----------------------------------------------------------------------------

absl::StatusOr<bool> BoolOf(const Datum& datum, const char* name) {
  const Tensor* tensor = datum.tensor();
  if (!tensor || tensor->dtype() != DType::kBool || tensor->num_elements() != 1) {
    return Invalid(name, ": expected one bool, got ",
                   tensor ? tensor->type().ToString() : "no tensor");
  }
  return tensor->AsInt(0) != 0;
}

absl::StatusOr<Tensor> Stack(absl::Span<const Tensor> parts, int64_t axis, bool reversed,
                             const Type& declared) {
  std::vector<int64_t> dims;
  DType dtype = declared.dtype();
  if (!parts.empty()) {
    dims = parts[0].dims();
    dtype = parts[0].dtype();
  } else if (declared.shape()) {
    for (const Dim& d : *declared.shape()) dims.push_back(d.is_static() ? d.value() : 0);
  }
  if (dtype == DType::kUndefined) return Invalid("no rounds, and no element type is known");
  X2IR_ASSIGN_OR_RETURN(axis, NormalizeAxis(axis, static_cast<int64_t>(dims.size()) + 1));
  for (const Tensor& part : parts) {
    if (part.dtype() != dtype || part.dims() != dims) {
      return Invalid("rounds give ", parts[0].type().ToString(), " and ", part.type().ToString(),
                     "; expected one type");
    }
  }
  const int64_t count = static_cast<int64_t>(parts.size());
  dims.insert(dims.begin() + axis, count);
  X2IR_RETURN_IF_ERROR(CheckAllocation(dtype, dims));
  CellsOut out(dtype, dims);
  const AxisView whole = ViewAt(dims, axis);
  const int64_t run = whole.inner * out.size();  // bytes
  for (int64_t i = 0; i < count && run != 0; ++i) {
    const Cells part(parts[i]);
    const int64_t at = reversed ? count - 1 - i : i;
    for (int64_t o = 0; o < whole.outer; ++o) {
      std::memcpy(out.data() + (o * count + at) * run, part.data() + o * run, run);
    }
  }
  return out.Finish();
}

}  // namespace x2ir
