// OneFlow: what hands its operand on, casts. Ops that move a tensor between devices, or split and
// join it among them, are identities where there is one.
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/oneflow/oneflow.h"

namespace x2ir {
namespace {

// Operand 0; what else there is says when, or where.
Value* First(OneflowArgs& a) { return a.Op("identity", {a.in(0)}); }

Values Each(OneflowArgs& a) {
  Values values;
  for (size_t i = 0; i < a.num_outputs(); ++i) {
    values.push_back(a.wants(i) ? a.Op("identity", {a.in(i)}).value() : nullptr);
  }
  return values;
}

Value* CastTo(OneflowArgs& a) {
  const DType to = a.DataType("dtype", DType::kUndefined);
  a.Require(to != DType::kUndefined && !IsComplex(to) && !IsComplex(a.dtype()),
            "casts of these types");
  return a.Op("cast", {a.in(0)}, {{"to", Name(to)}});
}
Value* FromCastLike(OneflowArgs& a) {
  return a.Op("cast", {a.in(0)}, {{"to", Name(a.in(1).dtype())}});
}
absl::StatusOr<Value*> ToCast(OneflowWriter& w) {
  const DType to = w.DTypeAttr("to");
  if (oneflow::DataTypeOf(to) == 0 || oneflow::DataTypeOf(w.dtype()) == 0) {
    return CannotExpress("casts from ", Name(w.dtype()), " to ", Name(to));
  }
  return w.Oneflow("cast", {w.in(0)}, {{"dtype", Name(to)}});
}

// A tensor for each of several devices.
Values Clones(OneflowArgs& a) {
  return Values(a.num_outputs(), a.Op("identity", {a.in(0)}).value());
}
Value* SumOfParts(OneflowArgs& a) {
  return a.num_inputs() == 1 ? a.Op("identity", {a.in(0)}) : a.Op("sum", a.inputs());
}
Value* JoinedParts(OneflowArgs& a) {
  const int64_t axis = a.Int("axis");
  return Concat(a, a.inputs(), axis);
}
Values SplitParts(OneflowArgs& a) {
  const int64_t axis = a.Int("axis");
  const auto n = static_cast<int64_t>(a.num_outputs());
  if (n == 1) return {a.Op("identity", {a.in(0)})};
  const Dim size = DimAt(a.in(0), a.AxisOf(axis, a.in(0).rank()));
  a.Require(size.is_static() && size.value() % n == 0, "parts of different sizes");
  std::vector<bool> wanted;
  for (size_t i = 0; i < a.num_outputs(); ++i) wanted.push_back(a.wants(i));
  Value* sizes = a.b().Ints(std::vector<int64_t>(a.num_outputs(), size.value() / n));
  return a.b().Ops("split", {a.in(0), sizes}, {{"axis", axis}}, wanted);
}

Value* ConstantLike(OneflowArgs& a) {
  const DType type = a.DataType("dtype", a.dtype());
  const bool real = a.HasAttr("float_operand");
  const double number = a.Number("float_operand");
  const int64_t integer = a.Int("int_operand");
  return Expand({a, a.b().Scalar(type, real ? number : static_cast<double>(integer))},
                ShapeOf(a.in(0)));
}

}  // namespace

X2IR_ONEFLOW(identity)
    .Is("identity")
    .From({{"amp_black_identity", First},
           {"amp_white_identity", First},
           {"cast_from_local", First},
           {"cast_to_local", First},
           {"cast_to_static_shape", First},
           {"convert_memory_format", First},
           {"copy", First},
           {"copy_d2h", First},
           {"copy_h2d", First},
           {"depend", First},
           {"feed_input", First},
           {"feed_variable", First},
           {"fetch_output", First},
           {"hierarchical_parallel_cast", First},
           {"hierarchical_parallel_cast_like", First},
           {"identity_buffer", First},
           {"nvtx_end", First},
           {"nvtx_start", First},
           {"parallel_cast", First},
           {"pinned_identity", First},
           {"to_contiguous", First},
           {"tuple_identity", Each},
           {"distribute_clone", Clones}});
X2IR_ONEFLOW(sum).From("distribute_add", SumOfParts);
X2IR_ONEFLOW(concat).From("distribute_concat", JoinedParts);
X2IR_ONEFLOW(split).From("distribute_split", SplitParts);
X2IR_ONEFLOW(expand).From("constant_like", ConstantLike);
X2IR_ONEFLOW(cast)
    .To("cast", ToCast)
    .From({{"cast", CastTo}, {"mutable_cast_once", CastTo}, {"cast_like", FromCastLike}});

}  // namespace x2ir
