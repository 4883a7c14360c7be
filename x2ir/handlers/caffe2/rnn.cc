// Caffe2: recurrent networks, whose nets are nested graphs that see the blobs around them, and the
// units of such networks.

#include "x2ir/builder/layers/recurrent.h"
#include "x2ir/handlers/caffe2/caffe2.h"

namespace x2ir {
namespace {

// Rows of the batch whose sequence has ended keep their state, or have none.
std::vector<Expr> OfSequences(Caffe2Args& a, size_t lengths_at, std::vector<Expr> next) {
  const bool given = a.Bool("sequence_lengths", true), drops = a.Bool("drop_states", false);
  if (!given) return next;
  const Expr lengths = a.in(lengths_at), step = a.in(lengths_at + 1);
  const Expr goes_on = Unsqueeze(step.To(DType::kInt64) < Flat(lengths).To(DType::kInt64), {0, 2});
  for (size_t i = 0; i < next.size(); ++i) {
    const Expr before = a.in(i);
    next[i] = Where(goes_on, next[i], drops ? before.Number(0) : before);
  }
  return next;
}

GateSlices SumsOf(Caffe2Args& a, const Expr& gates, std::string_view order, const Expr& state) {
  const Dim size = DimAt(state, 2);
  a.Require(size.is_static(), "states of unknown size");
  return {gates, order, 2, size.value()};
}

Values LstmUnit(Caffe2Args& a) {
  const Expr before = a.in(1);
  const GateSlices sums = SumsOf(a, a.in(2), "ifog", before);
  const Expr forget = sums['f'] + a.Number("forget_bias", 0);
  const auto gate = [&](char name) { return name == 'f' ? forget.Op("sigmoid") : sums.Open(name); };
  const auto [h, c] = LstmStep(gate, before);
  const std::vector<Expr> next = OfSequences(a, 3, {h, c});
  return {next.begin(), next.end()};
}

// The candidate's reset is applied before, in the net.
Expr GruUnit(Caffe2Args& a) {
  const Expr before = a.in(0);
  const GateSlices sums = SumsOf(a, a.in(1), "rzn", before);
  const Expr keeps = sums.Open('z'), candidate = sums.Open('n');
  return OfSequences(a, 2, {before * keeps + candidate * (1 - keeps)})[0];
}

}  // namespace

X2IR_CAFFE2(lstm).From("LSTMUnit", LstmUnit);
X2IR_CAFFE2(gru).From("GRUUnit", GruUnit);

}  // namespace x2ir
