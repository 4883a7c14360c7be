#include "x2ir/core/tracing/traced_sizes.h"

#include <algorithm>
#include <set>

#include "x2ir/builder/shapes.h"
#include "x2ir/core/edit/inputs_outputs.h"
#include "x2ir/core/tracing/traced_internal.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/name_made.h"
#include "x2ir/ops/op.h"

namespace x2ir {

bool IsSymbolic(const Value* value) {
  const Shape* shape = value ? value->shape() : nullptr;
  return shape &&
         std::any_of(shape->begin(), shape->end(), [](const Dim& d) { return !d.is_static(); });
}

std::optional<std::vector<Dim>> SizesIn(const Value* value) {
  if (const auto known = KnownInts(value)) return std::vector<Dim>(known->begin(), known->end());
  if (value && value->elements()) return *value->elements();
  return std::nullopt;
}

// --- The trace ----------------------------------------------------------------------------------

absl::StatusOr<Trace> Trace::Read(Graph& graph, const std::vector<TracedSize>& sizes) {
  Trace trace;
  trace.graph_ = &graph;
  for (Node* node : graph.nodes()) {
    for (const Value* output : node->outputs()) {
      if (output && output->shape()) trace.traced_.emplace(output, *output->shape());
    }
  }
  std::map<Value*, Shape> shapes;
  for (const TracedSize& size : sizes) {
    const Dim number = (*size.input->shape())[size.axis];
    const auto [it, fresh] = trace.numbers_.try_emplace(size.name, number.value());
    if (!fresh && it->second != number.value()) {
      return CannotExpress("'", size.name, "' is ", it->second, " in one place and ",
                           number.value(), " in another among the sizes of the trace");
    }
    if (fresh) trace.places_[size.name] = {size.input, size.axis};
    const auto shape = shapes.try_emplace(size.input, *size.input->shape()).first;
    std::vector<Dim> dims(shape->second.begin(), shape->second.end());
    dims[static_cast<size_t>(size.axis)] = Dim::Symbol(size.name);
    shape->second = Shape(std::move(dims));
  }
  for (auto& [input, shape] : shapes) {
    trace.traced_.emplace(input, *input->shape());
    input->set_type(Type::Tensor(input->dtype(), shape));
  }
  ForgetTypes(graph, /*dtypes=*/false);
  return trace;
}

const int64_t* Trace::Number(const std::string& name) const {
  const auto it = numbers_.find(name);
  return it == numbers_.end() ? nullptr : &it->second;
}

Dim Trace::Traced(const Dim& d) const {
  return d.Substitute([&](std::string_view name) -> std::optional<Dim> {
    const int64_t* number = Number(std::string(name));
    return number ? std::optional<Dim>(*number) : std::nullopt;
  });
}

const Shape* Trace::TraceOf(const Value* value) const {
  const auto it = traced_.find(value);
  if (it != traced_.end()) return &it->second;
  return IsSymbolic(value) ? nullptr : value->shape();
}

bool Trace::Varies(const Dim& d) const {
  if (!d.is_symbolic()) return false;
  const std::vector<std::string> names = d.SymbolNames();
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return Number(name) != nullptr; });
}
bool Trace::Varies(const Value* value) const {
  const Shape* shape = value ? value->shape() : nullptr;
  return shape &&
         std::any_of(shape->begin(), shape->end(), [&](const Dim& d) { return Varies(d); });
}

void Trace::Simplify(Node& node) const {
  const auto moved = [&](const Dim& d, int64_t by) {
    return d.Substitute([&](std::string_view name) {
      return Number(std::string(name)) ? std::optional<Dim>(Dim::Symbol(name) + Dim(by))
                                       : std::nullopt;
    });
  };
  for (Value* output : node.outputs()) {
    if (!output || !IsSymbolic(output)) continue;
    std::vector<Dim> dims(output->shape()->begin(), output->shape()->end());
    for (Dim& d : dims) {
      if (d.is_symbolic()) d = moved(moved(d, 1), -1);
    }
    output->set_type(Type::Tensor(output->dtype(), Shape(std::move(dims))));
  }
}

absl::StatusOr<Size> Trace::SizeOf(Builder& b, const Dim& d) {
  if (d.is_static()) return Size(d.value());
  const std::vector<std::string> names = d.SymbolNames();
  const auto at = [&](int64_t n) {
    return d.Substitute([n](std::string_view) { return std::optional<Dim>(n); });
  };
  const Dim zero = at(0), one = at(1);
  const bool known = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return places_.find(name) != places_.end();
  });
  if (known && d.is_symbolic() && zero.is_static() && one.is_static()) {
    Dim product = 1;
    Size value = 1;
    for (const std::string& name : names) {
      product = product * Dim::Symbol(name);
      const auto& [input, axis] = places_.at(name);
      value = Times(b, value, x2ir::SizeAt({b, input}, axis));
    }
    const int64_t factor = one.value() - zero.value();
    if (ProvablyEqual(product * Dim(factor) + zero, d)) {
      return Plus(b, Times(b, value, factor), zero.value());
    }
  }
  return CannotExpress("a size of ", d.ToString(), " cannot be computed");
}

absl::StatusOr<Value*> Trace::VectorOf(Builder& b, const std::vector<Dim>& dims) {
  std::vector<Size> sizes;
  for (const Dim& d : dims) {
    X2IR_ASSIGN_OR_RETURN(Size size, SizeOf(b, d));
    sizes.push_back(size);
  }
  Value* vector = Vector(b, sizes);
  X2IR_RETURN_IF_ERROR(NameMade(b, "size"));
  return vector;
}

void Trace::Set(Node& node, size_t i, Value* value) {
  node.SetInput(i, value);
  changed_ = true;
}

absl::Status Trace::SetSizes(Node& node, size_t i, const std::vector<Dim>& dims) {
  if (SizesIn(node.input(i)) == dims) return absl::OkStatus();
  Builder b(*graph_, &node);
  X2IR_ASSIGN_OR_RETURN(Value * sizes, VectorOf(b, dims));
  Set(node, i, sizes);
  return absl::OkStatus();
}

// --- The walk -----------------------------------------------------------------------------------

namespace {

constexpr int kMaxWalks = 100;

// Nothing is known of what it makes of a size.
absl::Status AsForeign(const Trace& trace, Node& node) {
  for (Value* output : node.outputs()) {
    const Shape* traced = output ? trace.TraceOf(output) : nullptr;
    if (traced) output->set_type(Type::Tensor(output->dtype(), *traced));
  }
  const std::vector<Value*> inputs = node.inputs();
  if (std::none_of(inputs.begin(), inputs.end(), IsSymbolic)) return absl::OkStatus();
  return CannotExpress("a foreign op with an operand of a size that varies");
}

void HandOnOrders(Trace& trace, const Node& node) {
  if (node.Is("reshape")) return;
  for (const Value* out : node.outputs()) {
    for (int64_t axis = 0; out && out->shape() && axis < out->shape()->rank(); ++axis) {
      if ((*out->shape())[axis].is_static()) continue;
      for (const AxisPlace& p : AxisOrigins(node, axis)) {
        const auto it = trace.orders().find({node.input(p.operand), p.axis});
        if (it != trace.orders().end()) trace.orders()[{out, axis}] = it->second;
      }
    }
  }
}

// Each result has the sizes of the trace if the names are replaced by their numbers.
absl::Status CheckResults(const Trace& trace, const Node& node) {
  for (const Value* output : node.outputs()) {
    const Shape* now = output ? output->shape() : nullptr;
    const Shape* then = output ? trace.TraceOf(output) : nullptr;
    if (!then) continue;
    if (!now || now->rank() != then->rank()) {
      return CannotExpress("'", output->name(), "' was ", then->ToString(),
                           " in the trace, but its shape is not known now");
    }
    for (int64_t i = 0; i < now->rank(); ++i) {
      const Dim traced = trace.Traced((*now)[i]);
      if (!(*then)[i].is_static() || traced == (*then)[i]) continue;
      return CannotExpress("'", output->name(), "' was ", then->ToString(),
                           " in the trace, and would be ", now->ToString());
    }
  }
  return absl::OkStatus();
}

bool WasOne(const Trace& trace, const Dim& d) {
  const std::vector<std::string> names =
      d.is_symbolic() ? d.SymbolNames() : std::vector<std::string>();
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const int64_t* number = trace.Number(name);
    return number && *number == 1;
  });
}

bool IsCarried(const Node& node, size_t operand, int64_t axis) {
  const Shape* out = ResultOf(node) ? ResultOf(node)->shape() : nullptr;
  for (int64_t to = 0; out && to < out->rank(); ++to) {
    for (const AxisPlace& p : AxisOrigins(node, to)) {
      if (p.operand == operand && p.axis == axis) return true;
    }
  }
  return false;
}

// Rows of which each is one of a batch and of something else stay rows: an op that computes along
// such an axis would mix what belongs to different elements of the batch. So do the elements of a
// batch of 1: whether the program means its one element, or all that there are, cannot be told.
absl::Status RefuseMixing(Trace& trace, const Node& node) {
  // PrepareNode has rewritten reshape, gather and gather_nd for it.
  const OpDef* op = OpOf(&node);
  if (op->only_shapes() || node.Is("reshape") || node.Is("gather") || node.Is("gather_nd")) {
    return absl::OkStatus();
  }
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const Shape* shape = node.input(i) ? node.input(i)->shape() : nullptr;
    for (int64_t axis = 0; shape && axis < shape->rank(); ++axis) {
      const bool counts_blocks = trace.orders().count({node.input(i), axis}) != 0;
      if ((!counts_blocks && !WasOne(trace, (*shape)[axis])) || IsCarried(node, i, axis)) continue;
      return CannotExpress("it computes along axis ", axis, " of '", node.input(i)->name(),
                           "', which is ", (*shape)[axis].ToString(),
                           counts_blocks ? "" : " and was 1 in the trace");
    }
  }
  return absl::OkStatus();
}

absl::Status Visit(Trace& trace, Node& node) {
  if (!node.is_ir()) return AsForeign(trace, node);
  const std::vector<Value*> inputs = node.inputs();
  const bool symbolic = std::any_of(inputs.begin(), inputs.end(), IsSymbolic);
  const bool varies =
      std::any_of(inputs.begin(), inputs.end(), [&](const Value* v) { return trace.Varies(v); });
  if (symbolic && node.has_subgraphs()) {
    return CannotExpress("it has a nested graph, and an operand of a size that varies");
  }
  if (varies) X2IR_RETURN_IF_ERROR(PrepareNode(trace, node));
  X2IR_RETURN_IF_ERROR(InferNode(node));
  if (!symbolic) return absl::OkStatus();
  trace.Simplify(node);
  HandOnOrders(trace, node);
  X2IR_RETURN_IF_ERROR(CheckResults(trace, node));
  return RefuseMixing(trace, node);
}

// Integers that are computed with, and are what a name was: they may be a number of their own, or
// what the trace left of the size (`past + 1`). Small numbers are everywhere.
void WarnOfNumbers(const Graph& graph, const std::vector<TracedSize>& sizes, const Trace& trace,
                   std::vector<std::string>* warnings) {
  constexpr int64_t kSmall = 4;
  // Where models compare and count positions; a product with such a number is rarely one of a size.
  constexpr const char* kOps[] = {"add",  "sub",           "range", "greater", "greater_or_equal",
                                  "less", "less_or_equal", "equal"};
  std::set<std::string> told;
  for (const TracedSize& size : sizes) {
    const int64_t* number = trace.Number(size.name);
    if (!number || *number < kSmall || !told.insert(size.name).second) continue;
    for (const Value* constant : graph.constants()) {
      const auto elements =
          constant->constant()->num_elements() == 1 ? KnownInts(constant) : std::nullopt;
      if (!elements || elements->size() != 1 || (*elements)[0] != *number) continue;
      const auto use =
          std::find_if(constant->uses().begin(), constant->uses().end(), [&](const Use& use) {
            return std::any_of(std::begin(kOps), std::end(kOps),
                               [&](const char* op) { return use.node->Is(op); });
          });
      if (use == constant->uses().end()) continue;
      warnings->push_back(StrCat(
          "axis ", size.axis, " of '", size.input->name(), "' was ", *number,
          " when the program was traced, and ", Describe(*use->node), " computes with the number ",
          *number, "; if this number is that size, results at other sizes are wrong"));
      break;
    }
  }
}

absl::Status Walk(Graph& graph, const std::vector<TracedSize>& sizes,
                  std::vector<std::string>* warnings) {
  X2IR_ASSIGN_OR_RETURN(Trace trace, Trace::Read(graph, sizes));
  for (int walk = 0; walk < kMaxWalks; ++walk) {
    for (Node* node : graph.nodes()) {
      if (absl::Status s = Visit(trace, *node); !s.ok()) {
        return absl::Status(s.code(), StrCat(Describe(*node), ": ", std::string(s.message())));
      }
    }
    if (trace.TakeChanged()) continue;
    WarnOfNumbers(graph, sizes, trace, warnings);
    return absl::OkStatus();
  }
  return CannotExpress("the sizes of the trace do not reach a fixed point");
}

}  // namespace

absl::Status MakeSymbolic(Graph& graph, const std::vector<TracedSize>& sizes,
                          std::vector<std::string>* warnings) {
  if (sizes.empty()) return absl::OkStatus();
  const absl::Status status = Walk(graph, sizes, warnings);
  if (status.ok()) return status;
  return absl::Status(status.code(), StrCat("the model only works for the sizes in its file: ",
                                            std::string(status.message())));
}

}  // namespace x2ir
