// Element types: `to` in its overloads, and what PyTorch's own casts are called.
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/views.h"

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

}  // namespace
}  // namespace x2ir
