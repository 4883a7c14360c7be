// regex_full_match and regex_replace, by RE2: linear in the text, whatever the pattern.
#include <re2/re2.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/string_util.h"

namespace x2ir {
namespace {

absl::StatusOr<std::unique_ptr<RE2>> Compile(const AttributeMap& attrs) {
  auto pattern = std::make_unique<RE2>(attrs.String("pattern"), RE2::Quiet);
  if (pattern->ok()) return pattern;
  return Invalid("pattern '", attrs.String("pattern"), "': ", pattern->error());
}

absl::Status InferFullMatch(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_RETURN_IF_ERROR(Compile(ctx.attrs()).status());
  return ShapeAsFirst(ctx, DType::kBool);
}

absl::Status EvalFullMatch(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_ASSIGN_OR_RETURN(const std::unique_ptr<RE2> pattern, Compile(ctx.attrs()));
  Tensor out = Tensor::Zeros(DType::kBool, ctx.dims(0));
  const auto matches = out.mutable_span<bool>();
  for (size_t i = 0; i < matches.size(); ++i) {
    matches[i] = RE2::FullMatch(ctx.input(0).strings()[i], *pattern);
  }
  return ctx.Return(std::move(out));
}

X2IR_OP(regex_full_match)
    .Signature("x -> y")
    .Attrs("pattern: string")
    .Functions(InferFullMatch, EvalFullMatch)
    .Opaque()
    .Heavy()
    .Doc("Whether each string matches the pattern from end to end; the syntax is RE2's.")
    .AllowsFloat16();

// --- regex_replace --------------------------------------------------------------------------

absl::StatusOr<std::unique_ptr<RE2>> CompileReplace(const AttributeMap& attrs) {
  X2IR_ASSIGN_OR_RETURN(std::unique_ptr<RE2> pattern, Compile(attrs));
  std::string error;
  if (pattern->CheckRewriteString(attrs.String("rewrite"), &error)) return pattern;
  return Invalid("rewrite '", attrs.String("rewrite"), "': ", error);
}

absl::Status InferReplace(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_RETURN_IF_ERROR(CompileReplace(ctx.attrs()).status());
  return SameAsFirst(ctx);
}

absl::Status EvalReplace(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectStrings(ctx, 0));
  X2IR_ASSIGN_OR_RETURN(const std::unique_ptr<RE2> pattern, CompileReplace(ctx.attrs()));
  const std::string& rewrite = ctx.attrs().String("rewrite");
  const bool all = ctx.attrs().Int("replace_global") != 0;
  std::vector<std::string> out = ctx.input(0).strings();
  TextBudget budget;
  for (std::string& text : out) {
    // At most: a match at each byte and the end, every second byte of the rewrite a group, and
    // matches that together are no longer than the text.
    const uint64_t matches = all ? text.size() + 1 : 1;
    X2IR_RETURN_IF_ERROR(TextBudget().Take(text.size() + matches * rewrite.size() +
                                           text.size() * (rewrite.size() / 2)));
    if (all) {
      RE2::GlobalReplace(&text, *pattern, rewrite);
    } else {
      RE2::Replace(&text, *pattern, rewrite);
    }
    X2IR_RETURN_IF_ERROR(budget.Take(text.size()));
  }
  return ctx.Return(Tensor::Strings(ctx.dims(0), std::move(out)));
}

X2IR_OP(regex_replace)
    .Signature("x -> y")
    .Attrs("pattern: string, replace_global = 1, rewrite: string")
    .Functions(InferReplace, EvalReplace)
    .Opaque()
    .Heavy()
    .Doc(
        "Each string with all matches of the pattern (or the first one) replaced by the rewrite, "
        "in which \\1 is what group 1 matched; the syntax is RE2's.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
