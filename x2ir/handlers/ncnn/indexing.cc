// ncnn: picking and putting elements.
#include <algorithm>

#include "x2ir/handlers/ncnn/ncnn.h"

namespace x2ir {
namespace {

absl::StatusOr<Value*> Embed(NcnnArgs& a) {
  const int64_t out = a.Int(0, 0), rows = a.Int(1, 0);
  const bool bias = a.Flag(2, false);
  a.Drop({3});
  const bool quantized = a.Int(18, 0) != 0;
  // Indices past the last row mean the last row.
  const Expr last(a, a.b().Int(std::max<int64_t>(rows - 1, 0)));
  const Expr places = Clip(a.AsInt64(a.in(0)), Expr(a, a.b().Int(0)), last);
  Expr y = Gather(Reshape(a.weights(0), {-1, out}), places, 0);
  if (quantized) y = y / a.weights(bias ? 2 : 1);
  return (bias ? y + a.weights(1) : y).value();
}

absl::StatusOr<Value*> ArgMax(NcnnArgs& a) {
  const bool values = a.Flag(0, false);
  const int64_t count = a.Int(1, 1);
  const Expr flat = ReshapeTo(a.in(0), {SizeAt(a.in(0), 0), Size(-1)});
  const Sorted top = TopOf(flat, a.b().Ints({count}), 1);
  const Expr places = top.indices.To(flat.dtype());
  if (!values) return places.value();
  return Stack(a, {places, top.values}, 1).value();
}

}  // namespace

X2IR_NCNN(gather).From("Embed", Embed);
X2IR_NCNN(top_k).From("ArgMax", ArgMax);

}  // namespace x2ir
