// scan: a body over the slices of tensors, with state.
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"
#include "x2ir/ops/subgraph_util.h"

namespace x2ir {
namespace {

// How the operands, the outputs and the body of a scan correspond.
struct Layout {
  size_t states = 0, scans = 0, outputs = 0;  // outputs: those that are stacked
};

absl::StatusOr<Layout> LayoutOf(const Node& node) {
  const AttributeMap& attrs = node.attrs();
  const int64_t scans = attrs.Int("num_scan_inputs");
  if (scans < 1 || scans > static_cast<int64_t>(node.num_inputs())) {
    return Invalid("num_scan_inputs is ", scans, "; there are ", node.num_inputs(), " operands");
  }
  Layout layout;
  layout.scans = static_cast<size_t>(scans);
  layout.states = node.num_inputs() - layout.scans;
  if (node.num_outputs() < layout.states) {
    return Invalid("there are ", node.num_outputs(), " outputs; expected at least ", layout.states);
  }
  layout.outputs = node.num_outputs() - layout.states;
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    if (!node.input(i)) return Invalid("operand ", i, " is left out");
  }
  X2IR_RETURN_IF_ERROR(
      ExpectSignature(attrs.SubGraph("body"), node.num_inputs(), node.num_outputs()));
  for (const char* name : {"scan_input_axes", "scan_input_directions"}) {
    if (attrs.Ints(name).size() == layout.scans) continue;
    return Invalid(name, ": expected ", layout.scans, " numbers, got ", attrs.Ints(name).size());
  }
  for (const char* name : {"scan_output_axes", "scan_output_directions"}) {
    if (attrs.Ints(name).size() == layout.outputs) continue;
    return Invalid(name, ": expected ", layout.outputs, " numbers, got ", attrs.Ints(name).size());
  }
  for (const char* name : {"scan_input_directions", "scan_output_directions"}) {
    for (const int64_t direction : attrs.Ints(name)) {
      if (direction != 0 && direction != 1) {
        return Invalid(name, ": expected 0 or 1, got ", direction);
      }
    }
  }
  return layout;
}

absl::Status InferScan(InferContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Layout layout, LayoutOf(ctx.node()));
  std::vector<Type> inputs;
  for (size_t i = 0; i < layout.states; ++i) inputs.push_back(ctx.type(i));
  Dim length;
  for (size_t i = 0; i < layout.scans; ++i) {
    const Type& type = ctx.type(layout.states + i);
    if (type.is_known() && !type.is_tensor()) {
      return Invalid("scan input ", i, " is ", type.ToString(), "; expected a tensor");
    }
    if (!type.shape()) {
      inputs.push_back(type.is_known() ? Type::Tensor(type.dtype()) : Type());
      continue;
    }
    std::vector<Dim> dims = type.shape()->dims();
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Ints("scan_input_axes")[i],
                                                            type.shape()->rank()));
    auto same = SameDim(length, dims[axis]);
    if (!same.ok()) return Annotate(same.status(), StrCat("scan input ", i));
    length = *std::move(same);
    dims.erase(dims.begin() + axis);
    inputs.push_back(Type::Tensor(type.dtype(), Shape(std::move(dims))));
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<Type> outputs,
                        InferRounds(ctx, "body", {0, 0, layout.states}, inputs));
  for (size_t i = 0; i < layout.states; ++i) ctx.Set(i, inputs[i]);
  for (size_t i = 0; i < layout.outputs; ++i) {
    const Type& one = outputs[layout.states + i];
    if (one.is_known() && !one.is_tensor()) {
      return Invalid("scan output ", i, " is ", one.ToString(), "; expected a tensor");
    }
    ctx.Set(layout.states + i, one.dtype());
    if (!one.shape()) continue;
    std::vector<Dim> dims = one.shape()->dims();
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Ints("scan_output_axes")[i],
                                                            one.shape()->rank() + 1));
    dims.insert(dims.begin() + axis, length);
    ctx.Set(layout.states + i, one.dtype(), Shape(std::move(dims)));
  }
  return absl::OkStatus();
}

// Slice `index` along an axis, which is removed.
Tensor SliceAt(const Tensor& in, int64_t axis, int64_t index) {
  std::vector<int64_t> strides = Strides(in.dims()), dims = in.dims();
  const int64_t offset = index * strides[axis];
  strides.erase(strides.begin() + axis);
  dims.erase(dims.begin() + axis);
  return StridedCopy(in, std::move(dims), strides, offset);
}

absl::Status EvalScan(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Layout layout, LayoutOf(ctx.node()));
  const AttributeMap& attrs = ctx.attrs();
  const Graph& body = attrs.SubGraph("body");
  std::vector<int64_t> axes;
  int64_t length = 0;
  for (size_t i = 0; i < layout.scans; ++i) {
    const Tensor* tensor = ctx.datum(layout.states + i).tensor();
    if (!tensor) return Invalid("scan input ", i, " is no tensor");
    X2IR_ASSIGN_OR_RETURN(const int64_t axis,
                          NormalizeAxis(attrs.Ints("scan_input_axes")[i], tensor->rank()));
    axes.push_back(axis);
    if (i == 0) length = tensor->dim(axis);
    if (tensor->dim(axis) != length) {
      return Invalid("scan input ", i, " has ", tensor->dim(axis), " slices; expected ", length);
    }
  }
  std::vector<Datum> state;
  for (size_t i = 0; i < layout.states; ++i) state.push_back(ctx.datum(i));
  std::vector<std::vector<Tensor>> stacks(layout.outputs);
  for (int64_t round = 0; round < length; ++round) {
    std::vector<Datum> inputs = std::move(state);
    state.clear();
    for (size_t i = 0; i < layout.scans; ++i) {
      const bool reversed = attrs.Ints("scan_input_directions")[i] != 0;
      inputs.emplace_back(
          SliceAt(ctx.input(layout.states + i), axes[i], reversed ? length - 1 - round : round));
    }
    X2IR_ASSIGN_OR_RETURN(std::vector<Datum> results, ctx.Run(body, std::move(inputs)));
    for (size_t i = 0; i < layout.outputs; ++i) {
      const Tensor* tensor = results[layout.states + i].tensor();
      if (!tensor) return Invalid("scan output ", i, " is no tensor");
      if (ctx.wants(layout.states + i)) stacks[i].push_back(*tensor);
    }
    results.resize(layout.states);
    state = std::move(results);
  }
  for (size_t i = 0; i < layout.states; ++i) ctx.Set(i, std::move(state[i]));
  for (size_t i = 0; i < layout.outputs; ++i) {
    if (!ctx.wants(layout.states + i)) continue;
    auto stacked = Stack(stacks[i], attrs.Ints("scan_output_axes")[i],
                         attrs.Ints("scan_output_directions")[i] != 0,
                         body.outputs()[layout.states + i]->type());
    if (!stacked.ok()) return Annotate(stacked.status(), StrCat("scan output ", i));
    ctx.Set(layout.states + i, *std::move(stacked));
  }
  return absl::OkStatus();
}

X2IR_OP(scan)
    .Signature("initial_state_and_scan_inputs+ -> final_state_and_scan_outputs*")
    .Attrs(
        "body: graph, num_scan_inputs: int, scan_input_axes: ints, scan_input_directions: ints, "
        "scan_output_axes: ints, scan_output_directions: ints")
    .Functions(InferScan, EvalScan)
    .Opaque()
    .Doc(
        "Runs body (state..., slices...) -> (state..., outputs...) once for each slice of the "
        "last num_scan_inputs operands along their axes, from the end where the direction is 1. "
        "Gives the last state, and the outputs stacked along new axes, the last one first where "
        "the direction is 1.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
