// sequence_map: a graph over the elements of sequences.
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/subgraph_util.h"

namespace x2ir {
namespace {

absl::Status InferSequenceMap(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(
      ExpectSignature(ctx.attrs().SubGraph("body"), ctx.num_inputs(), ctx.num_outputs()));
  std::vector<Type> inputs;
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    if (!ctx.has(i)) return Invalid("operand ", i, " is left out");
    const Type& type = ctx.type(i);
    if (i == 0 && type.is_known() && type.kind() != Type::kSequence) {
      return Invalid("operand 0 is ", type.ToString(), "; expected a sequence");
    }
    inputs.push_back(type.kind() == Type::kSequence ? type.element() : type);
  }
  X2IR_ASSIGN_OR_RETURN(const std::vector<Type> outputs,
                        InferRounds(ctx, "body", {0, 0, 0}, inputs));
  for (size_t i = 0; i < outputs.size(); ++i) ctx.Set(i, Type::Sequence(outputs[i]));
  return absl::OkStatus();
}

absl::Status EvalSequenceMap(EvalContext& ctx) {
  const Graph& body = ctx.attrs().SubGraph("body");
  const DatumSequence* first = ctx.datum(0).sequence();
  if (!first) return Invalid("operand 0 is no sequence");
  for (size_t i = 1; i < ctx.num_inputs(); ++i) {
    const DatumSequence* other = ctx.datum(i).sequence();
    if (other && other->size() != first->size()) {
      return Invalid("sequence ", i, " has ", other->size(), " elements; expected ", first->size());
    }
  }
  std::vector<DatumSequence> results(ctx.num_outputs());
  for (size_t k = 0; k < first->size(); ++k) {
    std::vector<Datum> inputs;
    for (size_t i = 0; i < ctx.num_inputs(); ++i) {
      const DatumSequence* sequence = ctx.datum(i).sequence();
      inputs.push_back(sequence ? (*sequence)[k] : ctx.datum(i));
    }
    X2IR_ASSIGN_OR_RETURN(std::vector<Datum> outputs, ctx.Run(body, std::move(inputs)));
    if (outputs.size() != results.size()) return Invalid("the body has another number of outputs");
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].tensor()) return Invalid("output ", i, " of the body is no tensor");
      results[i].push_back(std::move(outputs[i]));
    }
  }
  for (size_t i = 0; i < results.size(); ++i) ctx.Set(i, std::move(results[i]));
  return absl::OkStatus();
}

X2IR_OP(sequence_map)
    .Signature("input_sequence, additional_inputs* -> out_sequence+")
    .Attrs("body: graph")
    .AnyKind()
    .Functions(InferSequenceMap, EvalSequenceMap)
    .Opaque()
    .Doc(
        "Runs body once for each element of the sequences, which are of one length, and gives the "
        "sequences of what it gives. A tensor is the same in every run.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
