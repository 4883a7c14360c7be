// TensorFlow: pools whose windows are operands or whose places are asked for, and normalizations
// over channels.
#include <tuple>

#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/layers/pool.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/tf/tf.h"

namespace x2ir {
namespace {

// Window and strides as operands, one number an axis of the tensor.
absl::StatusOr<Value*> MaxPoolV2(TfArgs& a) {
  const TfLayout layout = TakeLayout(a);
  Window window{.channels_last = layout.channels_last};
  TakePadding(a, 2, &window);
  const auto first = static_cast<size_t>(window.axis(0));
  for (const auto& [i, name, list] :
       {std::tuple(1, "kernel_shape", &window.kernel), std::tuple(2, "strides", &window.strides)}) {
    X2IR_ASSIGN_OR_RETURN(const auto all, a.KnownInts(static_cast<size_t>(i), name));
    if (all.size() != 4) return Invalid("expected 4 numbers of ", name);
    if (all[0] != 1 || all[layout.channels_last ? 3 : 1] != 1) {
      return Unimplemented(name, " of the batch or the channels");
    }
    *list = {all[first], all[first + 1]};
  }
  return MakePool(a.in(0), {window}).value();
}

// A place counts through rows, columns and channels, and through the batch if it is included.
absl::StatusOr<Values> MaxPoolWithArgmax(TfArgs& a) {
  const Window window = TakePoolWindow(a, TfLayout(), 2);
  const bool with_batch = a.Bool("include_batch_in_index", false);
  const DType type = a.Type("Targmax", DType::kInt64);
  Value* x = a.in(0);
  const std::vector<Size> sizes = AllSizes({a, x});
  if (sizes.size() != 4) return Invalid("expected an operand of rank 4");
  const std::vector<Value*> pooled =
      a.b().Ops("max_pool", {x}, PoolAttrs(window), {true, a.wants(1)});
  if (!a.wants(1)) return Values{pooled[0], nullptr};
  // IR counts through batch, channels, rows and columns.
  const Size pixels = Times(a, sizes[1], sizes[2]);
  const auto one = [&](const Size& size) { return Vector(a, {size}); };
  const auto positions = [&](const Size& count) {
    Value* scalar = count.number ? a.b().Int(*count.number) : a.Op("squeeze", {count.value});
    return a.Op("range", {a.b().Int(0), scalar, a.b().Int(1)});
  };
  Value* place = a.Op("mod", {pooled[1], one(Larger(a, pixels, 1))});
  place = a.Op("add", {a.Op("mul", {place, one(sizes[3])}), positions(sizes[3])});
  if (with_batch) {
    Value* start = a.Op("mul", {positions(sizes[0]), one(Times(a, pixels, sizes[3]))});
    place = a.Op("add", {place, a.Op("unsqueeze", {start, a.b().Ints({1, 2, 3})})});
  }
  return Values{pooled[0], a.Cast(place, type)};
}

// alpha is for each of the neighbours here, for their mean in IR.
absl::StatusOr<Value*> Lrn(TfArgs& a) {
  const int64_t radius = a.Int("depth_radius", 5);
  if (radius < 0 || radius > (1 << 30)) return Invalid("depth_radius = ", radius);
  const int64_t size = 2 * radius + 1;
  const float alpha = a.Float("alpha", 1) * static_cast<float>(size);
  return LocalResponseNorm(a.in(0), size, alpha, a.Float("beta", 0.5f), a.Float("bias", 1), true)
      .value();
}

// Operands: x, mean, variance, beta, gamma.
Value* BatchNormGlobal(TfArgs& a) {
  const float epsilon = a.Float("variance_epsilon", 0);
  const bool scaled = a.Bool("scale_after_normalization", false);
  Value* gamma = a.in(4);
  if (!scaled) gamma = a.Op("expand", {Expr(a, gamma).Number(1), a.Op("shape", {gamma})});
  return a.Op("batch_normalization", {a.in(0), gamma, a.in(3), a.in(1), a.in(2)},
              {{"layout", "channels_last"}, {"epsilon", epsilon}});
}

}  // namespace

X2IR_TF(max_pool).From("MaxPoolV2", MaxPoolV2).From("MaxPoolWithArgmax", MaxPoolWithArgmax);
X2IR_TF(lrn).From("LRN", Lrn);
X2IR_TF(batch_normalization).From("BatchNormWithGlobalNormalization", BatchNormGlobal);

}  // namespace x2ir
