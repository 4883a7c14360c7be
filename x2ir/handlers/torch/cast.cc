// Element types: `to` in its overloads, and what PyTorch's own casts are called.

#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/handlers/torch/views.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Complex numbers lose their imaginary parts on the way to a real type, but not as bools.
Values Converted(TorchCall& c, Value* x) {
  const DType t = OutType(c);
  if (IsComplex(x->dtype()) && !IsComplex(t) && t != DType::kBool) x = PartsOf({c, x}).re;
  // Between floats: float16 has no complex numbers of its own.
  if (IsComplex(t) && !IsComplex(x->dtype())) x = c.Cast(x, PartType(t));
  // What is too large becomes infinite or NaN; of float8e4m3fn PyTorch 2.14 gives the largest.
  const bool over =
      t == DType::kFloat8E5M2 || t == DType::kFloat8E5M2FNUZ || t == DType::kFloat8E4M3FNUZ;
  if (over && x->dtype() != t) {
    return {c.Op("cast", {x}, {{"to", std::string(Name(t))}, {"saturate", 0}})};
  }
  return {c.Op("identity", {c.Cast(x, t)})};
}

Values ToCall(TorchCall& c) {
  c.Ignore({"dtype", "device", "layout", "pin_memory", "non_blocking", "copy", "memory_format",
            "other"});
  return Converted(c, c.Tensor(c.Has("self") ? "self" : "a"));
}

// A tensor of one element as a number.
Values Item(TorchCall& c) {
  Value* x = c.Tensor("self");
  if (c.Rank(x) > 0) x = Reshape({c, x}, std::vector<int64_t>{});
  return Converted(c, x);
}

X2IR_TORCH(cast)
    .From({"aten::to.dtype", "aten::to.dtype_layout", "aten::to.device", "aten::to.other",
           "aten::to.prim_Device", "aten::to.prim_dtype", "aten::to.prim_other",
           "aten::_to_copy.default", "aten::type_as.default",
           "aten::_autocast_to_full_precision.default",
           "aten::_autocast_to_reduced_precision.default"},
          [](TorchCall& c) {
            c.Ignore({"cuda_enabled", "cpu_enabled", "cuda_dtype", "cpu_dtype"});
            return ToCall(c);
          })
    .From({"aten::_cast_Byte.default", "aten::_cast_Char.default", "aten::_cast_Double.default",
           "aten::_cast_Float.default", "aten::_cast_Half.default", "aten::_cast_Int.default",
           "aten::_cast_Long.default", "aten::_cast_Short.default"},
          ToCall)
    .From({"aten::item.default", "aten::_local_scalar_dense.default"}, Item)
    .From("aten::is_nonzero.default", [](TorchCall& c) -> Values {
      Value* x = c.Tensor("self");
      if (c.Rank(x) > 0) x = Reshape({c, x}, std::vector<int64_t>{});
      return {c.Op("identity", {c.Cast(x, DType::kBool)})};
    });

// PyTorch rounds as the IR does, to nearest even; what is too large becomes infinite or NaN. The
// IR's default is the largest number instead, for infinities too.
absl::StatusOr<Value*> WriteFloat8(TorchWriter& w, DType to) {
  double most = 0;
  switch (to) {
    case DType::kFloat8E4M3FN: most = 448; break;
    case DType::kFloat8E4M3FNUZ: most = 240; break;
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ: most = 57344; break;
    default: return CannotExpress("casts to ", Name(to));
  }
  const DType from = w.dtype();
  if (!IsFloating(from) || BitWidth(from) < 16 || BitWidth(from) > 32) {
    return CannotExpress("casts of ", Name(from), " to ", Name(to));
  }
  // As float32, of which PyTorch has the conversion itself.
  Value* x = w.Cast(w.in(0), DType::kFloat32);
  if (w.Int("saturate") != 0) {
    x = w.Call("aten::clamp.default", {{"self", x}, {"min", -most}, {"max", most}}, x->type());
  } else if (to == DType::kFloat8E4M3FN) {
    // What PyTorch makes of larger ones differs among its versions. 464 is rounded down.
    Value* fits = w.Op("less_or_equal", {w.Op("abs", {x}), w.Number(DType::kFloat32, 464)});
    x = w.Op("where", {fits, x, w.Number(DType::kFloat32, std::nan(""))});
  }
  return w.Call("aten::_to_copy.default", {{"self", x}, {"dtype", to}});
}

absl::StatusOr<Value*> WriteCast(TorchWriter& w) {
  const DType to = w.DTypeAttr("to");
  if (to == DType::kString || w.dtype() == DType::kString) return CannotExpress("casts of strings");
  if (IsFloating(to) && BitWidth(to) <= 8) return WriteFloat8(w, to);
  return w.Call("aten::_to_copy.default", {{"self", w.in(0)}, {"dtype", to}});
}

Value* WriteBitCast(TorchWriter& w) {
  return w.Call("aten::view.dtype", {{"self", w.in(0)}, {"dtype", w.DTypeAttr("to")}});
}

}  // namespace

X2IR_TORCH(cast).To("aten::_to_copy.default", WriteCast);
X2IR_TORCH(bit_cast).To("aten::view.dtype", WriteBitCast);

}  // namespace x2ir
