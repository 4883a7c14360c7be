// Keras: recurrent layers whose products are convolutions.
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/keras/activation.h"
#include "x2ir/handlers/keras/conv.h"
#include "x2ir/handlers/keras/keras.h"
#include "x2ir/handlers/keras/scan.h"

namespace x2ir {
namespace {

Values ConvLstm(KerasArgs& a) {
  const size_t spatial = a.SpatialAxes();
  a.Ignore("filters");
  a.Ignore("call.theano_layout");
  a.Require(!a.Flag("time_major", false), "time_major");
  const Window window = TakeKerasWindow(a, spatial);
  const RecurrentSettings settings = TakeRecurrentSettings(a);
  const bool biased = a.Flag("use_bias", true);
  const Json activation = a.Given("activation") ? a.Nested("activation") : Json();
  const Json gates = a.Nested("recurrent_activation");
  const std::vector<Expr> w = biased ? a.Weights({"kernel", "recurrent kernel", "bias"})
                                     : a.Weights({"kernel", "recurrent kernel"});
  const Expr x = a.tensor();
  const int64_t rank = static_cast<int64_t>(spatial) + 3;
  if (a.RankOf(x) != rank || a.RankOf(w[1]) != rank - 1) {
    a.Fail(Invalid("images of ", a.RankOf(x), " axes; expected ", rank));
  }
  // The products of all steps at once.
  Expr flat = ConvolveKeras(a, FlattenFront(x, 2), w[0], window);
  if (biased) flat = WithBias(flat, w[2], window.channels_last);
  std::vector<Size> sizes = SizesAt(x, 0, 2);
  for (const Size& size : SizesAt(flat, 1, rank - 1)) sizes.push_back(size);
  const Expr products = ReshapeTo(flat, sizes);
  const Size filters = SizeAt(w[1], rank - 3);
  a.Require(filters.number.has_value(), "a kernel of unknown size");
  const int64_t axis = window.channels_last ? rank - 2 : 1;  // of the channels of a step
  std::vector<Expr> states = GivenStates(a);
  if (!states.empty() && states.size() != 2) a.Fail(Invalid("expected two initial states"));
  if (states.empty()) {
    std::vector<Size> of_state = {sizes[0]};
    for (size_t i = 2; i < sizes.size(); ++i) of_state.push_back(sizes[i]);
    of_state[static_cast<size_t>(axis)] = filters;
    const Expr zeros = Filled(a, x.dtype(), of_state, 0);
    states = {zeros, zeros};
  }
  Window again{.kernel = window.kernel,
               .auto_pad = AutoPad::kSameUpper,
               .channels_last = window.channels_last};
  again.strides = again.dilations = std::vector<int64_t>(spatial, 1);
  const auto step = [&](const Expr& now, const std::vector<Expr>& before) -> std::vector<Expr> {
    const Expr z = now + ConvolveKeras(a, before[0], w[1], again);
    return KerasLstmStep(a, {z, "ifgo", axis, *filters.number}, gates, activation, before[1]);
  };
  Expr mask = a.mask();
  const std::vector<Expr> given = a.named("mask");
  if (!given.empty()) mask = given[0];
  Values values;
  for (const Expr& v : ScanSteps(a, products, states, mask, settings, step)) values.push_back(v);
  return values;
}

}  // namespace

X2IR_KERAS(scan).From({"ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"}, ConvLstm);

}  // namespace x2ir
