// Optionals: a tensor or a sequence that may be absent.
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/subgraph_util.h"

namespace x2ir {
namespace {

absl::Status InferOptional(InferContext& ctx) {
  const Attribute* attr = ctx.attrs().Find("type");
  const Type declared = attr ? *attr->get<Type>() : Type();
  if (!ctx.has(0)) {
    if (!attr) return Invalid("an empty optional needs a type");
    return ctx.Return(Type::Optional(declared));
  }
  if (ctx.type(0).kind() == Type::kOptional) return Invalid("an optional holds no optional");
  Type element = ctx.type(0);
  if (attr) {
    X2IR_RETURN_IF_ERROR(JoinTypes(element, declared).status());
    if (!element.is_known()) element = WithoutShape(declared);
  }
  return ctx.Return(Type::Optional(std::move(element)));
}

absl::Status EvalOptional(EvalContext& ctx) {
  if (ctx.has(0)) ctx.Set(0, ctx.datum(0));
  return absl::OkStatus();
}

X2IR_OP(optional)
    .Signature("input? -> output")
    .Attrs("type: type?")
    .AnyKind()
    .Functions(InferOptional, EvalOptional)
    .Opaque()
    .Doc("An optional that holds the operand; without one an empty optional of that type.")
    .AllowsFloat16();

absl::Status InferHasElement(InferContext& ctx) {
  ctx.Set(0, DType::kBool, Shape());
  if (!ctx.has(0)) {
    ctx.SetElements(0, {0});
  } else if (ctx.type(0).is_known() && ctx.type(0).kind() != Type::kOptional) {
    ctx.SetElements(0, {1});
  }
  return absl::OkStatus();
}

absl::Status EvalHasElement(EvalContext& ctx) {
  return ctx.Return(Tensor::Scalar<bool>(ctx.has(0) && ctx.datum(0).has_value()));
}

X2IR_OP(optional_has_element)
    .Signature("input? -> output")
    .AnyKind()
    .Functions(InferHasElement, EvalHasElement)
    .Opaque()
    .Doc("Whether the operand is there and is no empty optional.")
    .AllowsFloat16();

absl::Status InferGetElement(InferContext& ctx) {
  const Type& type = ctx.type(0);
  return ctx.Return(type.kind() == Type::kOptional ? type.element() : type);
}

absl::Status EvalGetElement(EvalContext& ctx) {
  if (!ctx.datum(0).has_value()) return Invalid("the optional is empty");
  return ctx.Return(ctx.datum(0));
}

X2IR_OP(optional_get_element)
    .Signature("input -> output")
    .AnyKind()
    .Functions(InferGetElement, EvalGetElement)
    .Opaque()
    .Doc("What an optional holds, which must not be empty. Anything else is itself.")
    .AllowsFloat16();

}  // namespace
}  // namespace x2ir
