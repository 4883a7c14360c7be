// TorchCall: types, and what handlers build with.
#include <algorithm>
#include <cmath>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/torch.h"

namespace x2ir {
namespace {

constexpr DType kDefaultFloat = DType::kFloat32;  // torch.get_default_dtype()

}  // namespace

// --- Types ----------------------------------------------------------------------------------

DType TorchCall::out_dtype(size_t i) const {
  const Value* output = node().output(i);
  return output ? output->dtype() : DType::kUndefined;
}
const Shape* TorchCall::out_shape(size_t i) const {
  const Value* output = node().output(i);
  return output ? output->shape() : nullptr;
}
int64_t TorchCall::Rank(const Value* x) {
  if (x->shape()) return x->shape()->rank();
  Fail(Unimplemented("needs operands of known rank"));
  return 0;
}

DType TorchCall::ResultType(std::initializer_list<std::string_view> names) {
  DType with_dims = DType::kUndefined, rank0 = with_dims, numbers = with_dims;
  const auto add = [this](DType* to, DType dtype) {
    if (*to != DType::kUndefined && dtype != DType::kUndefined) {
      const DType both = TorchPromote(*to, dtype);
      if (both == DType::kUndefined) {
        Fail(Unimplemented("no promotion of ", Name(*to), " and ", Name(dtype)));
      }
      dtype = both;
    }
    if (dtype != DType::kUndefined) *to = dtype;
  };
  for (const std::string_view name : names) {
    const Argument* a = TakeArgument(name);
    if (!a || IsNone(*a)) continue;
    if (a->operands.size() == 1 && a->number == 0) {
      const Value* value = node().input(a->operands[0]);
      add(Rank(value) == 0 ? &rank0 : &with_dims, value->dtype());
      continue;
    }
    TorchNumber::Kind kind = TorchNumber::kInt;
    if (a->operands.empty()) {
      kind = Number(name).kind;
    } else if (a->number == 'f') {
      kind = TorchNumber::kFloat;
    } else if (a->number == 'b') {
      kind = TorchNumber::kBool;
    }
    constexpr DType kOf[] = {DType::kBool, DType::kInt64, kDefaultFloat, DType::kComplex64};
    add(&numbers, kOf[kind]);
  }
  return TorchResultType(with_dims, rank0, numbers);
}

DType TorchCall::ResultTypeOf(absl::Span<Value* const> tensors) {
  DType with_dims = DType::kUndefined, rank0 = with_dims;
  for (const Value* value : tensors) {
    DType& to = Rank(value) == 0 ? rank0 : with_dims;
    to = to == DType::kUndefined ? value->dtype() : TorchPromote(to, value->dtype());
  }
  return TorchResultType(with_dims, rank0, DType::kUndefined);
}

Expr TorchCall::Operand(std::string_view name, DType dtype) {
  const Argument* a = TakeArgument(name);
  if (a && a->operands.size() == 1 && a->indices[0] < 0) {
    return Cast(node().input(a->operands[0]), dtype);
  }
  return Constant(dtype, Number(name));
}

// --- Building -------------------------------------------------------------------------------

Expr TorchCall::Constant(DType dtype, const TorchNumber& number) {
  const auto constant = [&](x2ir::Tensor t) -> Expr { return {b(), b().Constant(std::move(t))}; };
  if (IsComplex(dtype)) {
    const std::complex<double> c = number.c;
    return constant(dtype == DType::kComplex128
                        ? x2ir::Tensor::Scalar<std::complex<double>>(c)
                        : x2ir::Tensor::Scalar<std::complex<float>>(std::complex<float>(c)));
  }
  if (number.kind == TorchNumber::kComplex) {
    Fail(Unimplemented("a complex number where ", Name(dtype), " is expected"));
  }
  if (dtype == DType::kBool) return constant(x2ir::Tensor::Scalar<bool>(number.real() != 0));
  // Floats are cut off, integers wrap around.
  if (!IsInteger(dtype)) return Constant(dtype, number.real());
  if (!number.is_integral()) return Constant(dtype, std::trunc(number.real()));
  return BitWidth(dtype) < 8 ? Constant(dtype, number.real()) : IntegerOf(b(), dtype, number.i);
}

}  // namespace x2ir
