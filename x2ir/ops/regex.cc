// regex_full_match, by RE2: linear in the text, whatever the pattern.
#include <re2/re2.h>

#include <memory>
#include <optional>
#include <utility>

#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

absl::StatusOr<std::unique_ptr<RE2>> Compile(const AttributeMap& attrs) {
  auto pattern = std::make_unique<RE2>(attrs.String("pattern"), RE2::Quiet);
  if (pattern->ok()) return pattern;
  return Invalid("pattern '", attrs.String("pattern"), "': ", pattern->error());
}

absl::Status InferFullMatch(InferContext& ctx) {
  if (ctx.dtype(0) != DType::kUndefined && ctx.dtype(0) != DType::kString) {
    return Invalid("expected strings, got ", Name(ctx.dtype(0)));
  }
  X2IR_RETURN_IF_ERROR(Compile(ctx.attrs()).status());
  ctx.Set(0, DType::kBool,
          ctx.shape(0) ? std::optional<Shape>(*ctx.shape(0)) : std::optional<Shape>());
  return absl::OkStatus();
}

absl::Status EvalFullMatch(EvalContext& ctx) {
  if (ctx.dtype(0) != DType::kString) return Invalid("expected strings, got ", Name(ctx.dtype(0)));
  X2IR_ASSIGN_OR_RETURN(const std::unique_ptr<RE2> pattern, Compile(ctx.attrs()));
  Tensor out = Tensor::Zeros(DType::kBool, ctx.dims(0));
  const auto matches = out.mutable_span<bool>();
  for (size_t i = 0; i < matches.size(); ++i) {
    matches[i] = RE2::FullMatch(ctx.input(0).strings()[i], *pattern);
  }
  ctx.Set(0, std::move(out));
  return absl::OkStatus();
}

X2IR_OP(regex_full_match)
    .In("x")
    .Out("y")
    .ReqAttr("pattern", AttrKind::kString)
    .Infer(InferFullMatch)
    .Eval(EvalFullMatch)
    .Doc("Whether each string matches the pattern from end to end; the syntax is RE2's.");

}  // namespace
}  // namespace x2ir
