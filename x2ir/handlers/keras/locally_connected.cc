// Keras: layers whose kernels differ from place to place.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/keras/activation.h"
#include "x2ir/handlers/keras/conv.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

constexpr int64_t kMaxOfMatrix = int64_t{1} << 26;

// Along one axis: which places of the image each place of the result is of.
struct Reach {
  int64_t in = 0, out = 0;
  std::vector<std::pair<int64_t, int64_t>> spans;  // [from, to)
};
Reach ReachAlong(KerasArgs& a, int64_t in, int64_t kernel, int64_t stride, bool same) {
  Reach reach;
  reach.in = in;
  if (!same && in < kernel) a.Fail(Invalid("a window larger than the image"));
  if (in > kMaxOfMatrix) a.Fail(Unimplemented("a locally connected layer of this size"));
  reach.out = same ? (in + stride - 1) / stride : (in - kernel) / stride + 1;
  for (int64_t o = 0; o < reach.out; ++o) {
    const int64_t from = o * stride - (same ? kernel / 2 : 0);
    reach.spans.emplace_back(std::max<int64_t>(from, 0), std::min(from + kernel, in));
  }
  return reach;
}

// Implementations 2 and 3: the layer is one matrix. It is stored whole, of which what is out of
// reach does not count, or as the elements that count, in order.
Expr WholeMatrix(KerasArgs& a, const Expr& x, const std::vector<Expr>& w, const Window& window) {
  const auto spatial = window.kernel.size();
  const int64_t rank = static_cast<int64_t>(spatial) + 2;
  if (a.RankOf(x) != rank) a.Fail(Invalid("an image of ", a.RankOf(x), " axes"));
  const auto sizes = KnownSizes(x, 1, rank);
  a.Require(sizes.has_value(), "a locally connected layer of images of unknown size");
  const bool last = window.channels_last, same = IsSame(window.auto_pad);
  a.Require(window.pads.empty(), "padding 'causal'");
  const int64_t channels = last ? sizes->back() : sizes->front();
  int64_t inputs = channels, places = 1;
  std::vector<Reach> reach;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t in = (*sizes)[last ? i : i + 1];
    reach.push_back(ReachAlong(a, in, window.kernel[i], window.strides[i], same));
    if (in < 1 || channels < 1 || inputs > kMaxOfMatrix / in) a.Fail(Invalid("an empty image"));
    inputs *= in;
    places *= std::max<int64_t>(reach.back().out, 1);
    if (places > kMaxOfMatrix) a.Fail(Unimplemented("a locally connected layer of this size"));
  }
  const int64_t filters = a.Integer("filters", 0);
  if (filters < 1 || filters > kMaxOfMatrix / places ||
      inputs > kMaxOfMatrix / (places * filters)) {
    a.Fail(Unimplemented("a locally connected layer of this size"));
  }
  const int64_t outputs = places * filters;
  // Elements that count, by [input, output].
  std::vector<float> counts(static_cast<size_t>(inputs * outputs), 0.0f);
  const int64_t positions = inputs / channels;
  for (int64_t p = 0; p < positions; ++p) {
    for (int64_t q = 0; q < places; ++q) {
      bool within = true;
      int64_t from = p, to = q;
      for (size_t i = spatial; i-- > 0;) {
        const auto& span = reach[i].spans[static_cast<size_t>(to % reach[i].out)];
        within = within && from % reach[i].in >= span.first && from % reach[i].in < span.second;
        from /= reach[i].in;
        to /= reach[i].out;
      }
      if (!within) continue;
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t f = 0; f < filters; ++f) {
          const int64_t row = last ? p * channels + c : c * positions + p;
          const int64_t column = last ? q * filters + f : f * places + q;
          counts[static_cast<size_t>(row * outputs + column)] = 1;
        }
      }
    }
  }
  Expr matrix = nullptr;
  if (w[0].rank() == 1) {
    std::vector<int64_t> at;
    for (int64_t o = 0; o < outputs; ++o) {
      for (int64_t i = 0; i < inputs; ++i) {
        if (counts[static_cast<size_t>(i * outputs + o)] == 0) continue;
        at.push_back(i);
        at.push_back(o);
      }
    }
    const auto count = static_cast<int64_t>(at.size() / 2);
    if (KnownSizes(w[0]) != std::vector<int64_t>{count}) {
      a.Fail(Invalid("a kernel that does not have ", count, " elements"));
    }
    Value* index = a.b().Constant(Tensor::Of<int64_t>({count, 2}, at), "places");
    matrix = ScatterNd(Zeros(a, x.dtype(), {inputs, outputs}), {a, index}, w[0], "none");
  } else {
    const Expr mask = {a, a.b().Constant(Tensor::Of<float>({inputs, outputs}, counts), "within")};
    matrix = ReshapeTo(w[0], {Size(inputs), Size(outputs)}) * mask.To(x.dtype());
  }
  std::vector<Size> to = {SizeAt(x, 0)};
  if (!last) to.emplace_back(filters);
  for (const Reach& one : reach) to.emplace_back(one.out);
  if (last) to.emplace_back(filters);
  const Expr y = ReshapeTo(MatMul(ReshapeTo(x, {SizeAt(x, 0), Size(inputs)}), matrix), to);
  return w.size() > 1 ? y + w[1] : y;
}

// A kernel of its own for each place: [places, elements of a window, filters].
Value* LocallyConnected(KerasArgs& a) {
  const size_t spatial = a.SpatialAxes();
  a.Integer("filters", 0);
  a.Ignore("call.theano_layout");
  const int64_t implementation = a.Integer("implementation", 1);
  const Window window = TakeKerasWindow(a, spatial);
  std::vector<std::string> names = {"kernel"};
  if (a.Flag("use_bias", true)) names.emplace_back("bias");
  const std::vector<Expr> w = a.Weights(names);
  Expr x = a.tensor();
  if (implementation != 1) return ActivatedBy(a, "activation", WholeMatrix(a, x, w, window));
  a.Require(!IsSame(window.auto_pad) && window.pads.empty(),
            "padding of a locally connected layer");
  const auto rank = static_cast<int64_t>(spatial) + 2;
  if (a.RankOf(x) != rank) a.Fail(Invalid("an image of ", a.RankOf(x), " axes"));
  if (!window.channels_last) x = MoveAxis(x, 1, rank - 1);
  const auto sizes = KnownSizes(x, 1, rank - 1);
  a.Require(sizes.has_value(), "a locally connected layer of images of unknown size");
  // Where the elements of each window are among all places.
  std::vector<int64_t> counts(spatial);
  int64_t places = 1, elements = 1;
  for (size_t i = 0; i < spatial; ++i) {
    counts[i] = ((*sizes)[i] - window.kernel[i]) / window.strides[i] + 1;
    if ((*sizes)[i] < window.kernel[i]) a.Fail(Invalid("a window larger than the image"));
    places *= counts[i];
    elements *= window.kernel[i];
  }
  a.Require(places * elements < (int64_t{1} << 26), "a locally connected layer of this size");
  std::vector<int64_t> index;
  for (int64_t p = 0; p < places; ++p) {
    for (int64_t e = 0; e < elements; ++e) {
      int64_t at = 0, scale = 1, left = p, inside = e;
      for (size_t i = spatial; i-- > 0;) {
        at += scale * (left % counts[i] * window.strides[i] + inside % window.kernel[i]);
        scale *= (*sizes)[i];
        left /= counts[i];
        inside /= window.kernel[i];
      }
      index.push_back(at);
    }
  }
  const Size batch = SizeAt(x, 0), channels = SizeAt(x, rank - 1);
  Expr flat = ReshapeTo(x, {batch, Size(-1), channels});
  Expr patches = ReshapeTo(Gather(flat, a.b().Ints(index), 1),
                           {batch, Size(places), Size(elements), channels});
  // Of channels first a window has its channels first, too.
  if (!window.channels_last) patches = Transpose(patches, {0, 1, 3, 2});
  patches = ReshapeTo(patches, {batch, Size(places), Times(a, Size(elements), channels)});
  Expr y = Transpose(MatMul(Transpose(patches, {1, 0, 2}), w[0]), {1, 0, 2});
  std::vector<Size> to = {batch};
  for (const int64_t count : counts) to.emplace_back(count);
  to.push_back(SizeAt(w[0], 2));
  y = ReshapeTo(y, to);
  if (w.size() > 1) y = y + w[1];
  if (!window.channels_last) y = MoveAxis(y, rank - 1, 1);
  return ActivatedBy(a, "activation", y);
}

}  // namespace

X2IR_KERAS(matmul).From({"LocallyConnected1D", "LocallyConnected2D"}, LocallyConnected);

}  // namespace x2ir
