// loop: a body again and again, as often as a count and a condition say.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/identities.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"
#include "x2ir/ops/subgraph_util.h"

namespace x2ir {
namespace {

constexpr size_t kCarriedFrom = 2;  // trip_count and cond, number of the round and condition

size_t NumCarried(const Node& node) {
  return node.num_inputs() < kCarriedFrom ? 0 : node.num_inputs() - kCarriedFrom;
}

absl::Status CheckBody(const Node& node) {
  const size_t carried = NumCarried(node);
  if (node.num_outputs() < carried) {
    return Invalid("there are ", node.num_outputs(), " outputs; expected at least ", carried);
  }
  return ExpectSignature(node.attrs().SubGraph("body"), kCarriedFrom + carried,
                         1 + node.num_outputs());
}

// The number of the round and the condition are scalars; a body that declares tensors of rank 1
// gets those.
bool WantsRank1(const Value& input) { return input.shape() && input.shape()->rank() == 1; }

// Whether the condition output is true in every round if the condition input is.
bool StaysTrue(const Graph& body) {
  const Value* cond = WithoutIdentities(body.outputs()[0]);
  if (cond == body.inputs()[1]) return true;
  const Tensor* value = cond ? cond->fixed_constant() : nullptr;
  return value && value->dtype() == DType::kBool && value->num_elements() == 1 &&
         value->AsInt(0) != 0;
}

// How many rounds there are, where that is certain.
Dim Rounds(const InferContext& ctx) {
  const Tensor* cond = ctx.constant(1);
  const bool starts = !ctx.has(1) || (cond && cond->dtype() == DType::kBool &&
                                      cond->num_elements() == 1 && cond->AsInt(0) != 0);
  if (!ctx.has(0) || !starts || !StaysTrue(ctx.attrs().SubGraph("body"))) return Dim();
  const Dim trips = ElementOf(ctx, 0);
  if (trips.is_static()) return std::max<int64_t>(trips.value(), 0);
  // A name is a size. An expression may be negative.
  const std::vector<std::string> names = trips.SymbolNames();
  return names.size() == 1 && trips == Dim::Symbol(names[0]) ? trips : Dim();
}

absl::Status InferLoop(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectOneElement(ctx, 0, DType::kInt64, "trip_count"));
  X2IR_RETURN_IF_ERROR(ExpectOneElement(ctx, 1, DType::kBool, "cond"));
  X2IR_RETURN_IF_ERROR(CheckBody(ctx.node()));
  const Graph& body = ctx.attrs().SubGraph("body");
  const size_t carried = NumCarried(ctx.node());
  std::vector<Type> inputs;
  for (const DType dtype : {DType::kInt64, DType::kBool}) {
    const Value* declared = body.inputs()[inputs.size()];
    inputs.push_back(Type::Tensor(dtype, WantsRank1(*declared) ? Shape{1} : Shape()));
  }
  for (size_t i = 0; i < carried; ++i) inputs.push_back(ctx.type(kCarriedFrom + i));
  X2IR_ASSIGN_OR_RETURN(const std::vector<Type> outputs,
                        InferRounds(ctx, "body", {kCarriedFrom, 1, carried}, inputs));
  for (size_t i = 0; i < carried; ++i) {
    const Type& type = inputs[kCarriedFrom + i];
    // After a round what may have been empty is what the body gives.
    const bool became = type.kind() == Type::kOptional && outputs[1 + i].is_known() &&
                        outputs[1 + i].kind() != Type::kOptional;
    ctx.Set(i, became ? type.element() : type);
  }
  for (size_t i = carried; i < ctx.num_outputs(); ++i) {
    const Type& one = outputs[1 + i];
    if (one.is_known() && !one.is_tensor()) {
      return Invalid("scan output ", i - carried, " of the body is ", one.ToString(),
                     "; expected a tensor");
    }
    if (!one.shape()) {
      ctx.Set(i, one.dtype());
      continue;
    }
    std::vector<Dim> dims = one.shape()->dims();
    dims.insert(dims.begin(), Rounds(ctx));
    ctx.Set(i, one.dtype(), Shape(std::move(dims)));
  }
  return absl::OkStatus();
}

absl::Status EvalLoop(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckBody(ctx.node()));
  const Graph& body = ctx.attrs().SubGraph("body");
  const size_t carried = NumCarried(ctx.node());
  int64_t trips = std::numeric_limits<int64_t>::max();
  if (ctx.has(0)) {
    X2IR_ASSIGN_OR_RETURN(trips, IntOperand(ctx, 0, "trip_count"));
  }
  bool cond = true;
  if (ctx.has(1)) {
    X2IR_ASSIGN_OR_RETURN(cond, BoolOf(ctx.datum(1), "cond"));
  }
  std::vector<Datum> state;
  for (size_t i = 0; i < carried; ++i) state.push_back(ctx.datum(kCarriedFrom + i));
  std::vector<std::vector<Tensor>> scans(ctx.num_outputs() - carried);
  const auto one = [&](size_t input, Tensor scalar) {
    return WantsRank1(*body.inputs()[input]) ? scalar.Reshaped({1}) : scalar;
  };
  for (int64_t round = 0; round < trips && cond; ++round) {
    std::vector<Datum> inputs;
    inputs.emplace_back(one(0, Tensor::Scalar<int64_t>(round)));
    inputs.emplace_back(one(1, Tensor::Scalar<bool>(cond)));
    for (Datum& value : state) inputs.push_back(std::move(value));
    X2IR_ASSIGN_OR_RETURN(std::vector<Datum> results, ctx.Run(body, std::move(inputs)));
    X2IR_ASSIGN_OR_RETURN(const bool next, BoolOf(results[0], "the body's condition"));
    if (ctx.has(1)) cond = next;  // without a condition there is none, whatever the body gives
    for (size_t i = 0; i < carried; ++i) state[i] = std::move(results[1 + i]);
    for (size_t i = 0; i < scans.size(); ++i) {
      const Tensor* tensor = results[1 + carried + i].tensor();
      if (!tensor) return Invalid("scan output ", i, " of the body is no tensor");
      if (ctx.wants(carried + i)) scans[i].push_back(*tensor);
    }
  }
  for (size_t i = 0; i < carried; ++i) ctx.Set(i, std::move(state[i]));
  for (size_t i = 0; i < scans.size(); ++i) {
    if (!ctx.wants(carried + i)) continue;
    auto stacked = Stack(scans[i], 0, false, body.outputs()[1 + carried + i]->type());
    if (!stacked.ok()) return Annotate(stacked.status(), StrCat("scan output ", i));
    ctx.Set(carried + i, *std::move(stacked));
  }
  return absl::OkStatus();
}

X2IR_OP(loop)
    .Signature("trip_count?, cond?, v_initial* -> v_final_and_scan_outputs*")
    .Attrs("body: graph")
    .AnyKind()
    .Functions(InferLoop, EvalLoop)
    .Opaque()
    .Doc(
        "Runs body (round, cond, carried...) -> (cond, carried..., scan...) trip_count times or "
        "while cond is true, whichever ends first; one left out does not end it. Gives the last "
        "carried values, and what each round gave stacked along a new first axis.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
