// Caffe: picking and putting elements.

#include "x2ir/handlers/caffe/caffe.h"

namespace x2ir {
namespace {

Value* Embed(CaffeArgs& a) {
  a.Drop({"num_output", "input_dim"});
  const Expr y = Gather(a.blob(0, 2), a.AsInt64(a.in(0)), 0);
  return a.Bool("bias_term", true) ? y + a.blob(1, 1) : y;
}

// The largest numbers of an image, or along an axis: their places, the numbers, or (without an
// axis) both.
absl::StatusOr<Value*> ArgMax(CaffeArgs& a) {
  const bool values = a.Bool("out_max_val", false), along = a.Has("axis");
  const int64_t count = a.Int("top_k", 1), axis = a.Int("axis", 0);
  if (count < 1) return Invalid("the ", count, " largest numbers");
  const Expr x = a.in(0);
  const Expr from = along ? x : x.Op("flatten", {}, {{"axis", 1}});
  const int64_t at = along ? a.AxisOf(axis) : 1;
  const auto [numbers, found] = TopOf(from, a.b().Ints({count}), at);
  const Expr places = found.To(x.dtype());
  if (along) return (values ? numbers : places).value();
  if (values) return Stack(a, {places, numbers}, 1).value();
  return Unsqueeze(places, {1}).value();
}

Value* BatchReindex(CaffeArgs& a) { return Gather(a.in(0), a.AsInt64(a.in(1)), 0); }

// Items of the batch whose selector (the last operand) is not 0.
Values Filter(CaffeArgs& a) {
  const size_t count = a.num_bottoms() - 1;
  const Expr chosen = Reshape(a.in(count), {-1});
  const Expr places = Reshape(IsTrue(chosen).Op("non_zero"), {-1});
  Values all;
  for (size_t i = 0; i < count; ++i) all.push_back(Gather(a.in(i), places, 0));
  return all;
}

}  // namespace

X2IR_CAFFE(gather).From("Embed", "embed_param", Embed);
X2IR_CAFFE(top_k).From("ArgMax", "argmax_param", ArgMax);
X2IR_CAFFE(gather)
    .From("BatchReindex", "batch_reindex_param", BatchReindex)
    .From("Filter", "filter_param", Filter);

}  // namespace x2ir
