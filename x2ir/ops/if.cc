// if: one of two graphs.
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/subgraph_util.h"

namespace x2ir {
namespace {

absl::Status InferIf(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectOneElement(ctx, 0, DType::kBool, "cond"));
  for (const char* branch : {"then_branch", "else_branch"}) {
    X2IR_RETURN_IF_ERROR(ExpectSignature(ctx.attrs().SubGraph(branch), 0, ctx.num_outputs()));
  }
  X2IR_ASSIGN_OR_RETURN(std::vector<Type> then_types, ctx.InferSubgraph("then_branch", {}));
  X2IR_ASSIGN_OR_RETURN(std::vector<Type> else_types, ctx.InferSubgraph("else_branch", {}));
  X2IR_ASSIGN_OR_RETURN(std::vector<Type> types, JoinTypes(then_types, else_types));
  if (const Tensor* cond = ctx.constant(0);
      cond && cond->dtype() == DType::kBool && cond->num_elements() == 1) {
    types = cond->AsInt(0) != 0 ? std::move(then_types) : std::move(else_types);
  }
  for (size_t i = 0; i < types.size(); ++i) ctx.Set(i, std::move(types[i]));
  return absl::OkStatus();
}

absl::Status EvalIf(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const bool cond, BoolOf(ctx.datum(0), "cond"));
  const Graph& branch = ctx.attrs().SubGraph(cond ? "then_branch" : "else_branch");
  X2IR_ASSIGN_OR_RETURN(std::vector<Datum> results, ctx.Run(branch, {}));
  for (size_t i = 0; i < results.size(); ++i) ctx.Set(i, std::move(results[i]));
  return absl::OkStatus();
}

X2IR_OP(if)
    .Signature("cond -> outputs+")
    .Attrs("then_branch: graph, else_branch: graph")
    .Functions(InferIf, EvalIf)
    .Opaque()
    .Doc("What then_branch gives where cond is true, else what else_branch gives.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
