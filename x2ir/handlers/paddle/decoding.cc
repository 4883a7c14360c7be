// The best path of labels through a sequence of scores, and the beams of a search.
#include "x2ir/builder/loop.h"
#include "x2ir/handlers/paddle/sequence.h"

namespace x2ir {
namespace {

// Rows of a tensor of rank 0 index, without that axis.
Expr At(const Expr& x, const Expr& i, int64_t axis) { return Gather(x, i, axis); }

// Scores [batch, steps, labels]; `start` and `stop` are added to the first and last step of each
// sequence (labels; null: nothing is), `moves` [from, to] between two steps. `lengths` [batch]:
// null where all steps count. Of labels of the same score the first one is taken.
struct BestPaths {
  Expr scores;  // [batch]
  Expr labels;  // [batch, steps], 0 after the end
};
BestPaths Viterbi(PaddleArgs& a, const Expr& scores, const Expr& moves, const Expr& start,
                  const Expr& stop, const Expr& lengths) {
  const Expr steps = SizeOf(scores, 1);
  const Expr before_last = steps - Int(a, 1);
  const Expr own = Unsqueeze(Iota(SizeOf(scores, 2)), {0});
  Expr first = At(scores, Int(a, 0), 1);
  if (start.value()) first = first + Unsqueeze(start, {0});
  // Scores of the paths that end in each label, and the label before it. Steps after a sequence's
  // end change nothing.
  const std::vector<Expr> forth =
      Rounds(before_last, {first}, [&](const Expr& i, const std::vector<Expr>& carried) {
        const Expr now = i + Int(a, 1);
        const Expr all = Unsqueeze(carried[0], {2}) + Unsqueeze(moves, {0});
        Expr best = Reduce(all, "reduce_max", {1}) + At(scores, now, 1);
        Expr from = all.Op("arg_max", {}, {{"axis", 1}, {"keepdims", 0}});
        if (lengths.value()) {
          const Expr inside = Unsqueeze(now < lengths, {1});
          best = Where(inside, best, carried[0]);
          from = Where(inside, from, own);
        }
        return std::vector<Expr>{best, from};
      });
  const Expr last = stop.value() ? forth[0] + Unsqueeze(stop, {0}) : forth[0];
  const Expr end = last.Op("arg_max", {}, {{"axis", 1}, {"keepdims", 0}});
  const Expr& whence = forth[1];
  // From the last step to the first.
  const std::vector<Expr> back =
      Rounds(before_last, {end}, [&](const Expr& i, const std::vector<Expr>& carried) {
        const Expr from = At(whence, before_last - Int(a, 1) - i, 0);
        const Expr label = Squeeze(GatherElements(from, Unsqueeze(carried[0], {1}), 1), {1});
        return std::vector<Expr>{label, label.Op("identity")};
      });
  const Expr labels = Transpose(Concat(a, {RowsReversed(back[1]), Unsqueeze(end, {0})}, 0), {1, 0});
  if (!lengths.value()) return {Reduce(last, "reduce_max", {1}), labels};
  const Expr inside = Unsqueeze(Iota(steps), {0}) < Unsqueeze(lengths, {1});
  return {Reduce(last, "reduce_max", {1}), Where(inside, labels, 0.0)};
}

// Transition: what starts and what stops, then the moves. A Label is compared with.
PaddleResults CrfDecoding(PaddleArgs& a) {
  const Expr moves = a.X("Transition");
  const Expr label = a.Opt("Label");
  Expr lengths = a.Opt("Length");
  const bool padded = lengths.value() != nullptr;
  const Expr given = padded ? a.X("Emission") : Sequence(a, "Emission");
  if (padded) lengths = Flat(lengths).To(DType::kInt64);
  const BestPaths best =
      Viterbi(a, padded ? given : Unsqueeze(given, {0}), Slice(moves, 0, 2, kToEnd),
              At(moves, Int(a, 0), 0), At(moves, Int(a, 1), 0), lengths);
  Expr path = best.labels;
  if (!padded) path = Reshape(path, std::vector<int64_t>{-1, 1});
  if (label.value()) {
    const Expr same = (ReshapeTo(label.To(DType::kInt64), ShapeOf(path)) == path).To(DType::kInt64);
    const Expr steps = Unsqueeze(Iota(SizeOf(path, 1)), {0});
    path = padded ? Where(steps < Unsqueeze(lengths, {1}), same, 0.0) : same;
  }
  return {{"ViterbiPath", {path}}};
}

// With tags the last label starts, and the one before it stops.
PaddleResults ViterbiDecode(PaddleArgs& a) {
  const Expr scores = a.X("Input"), moves = a.X("Transition");
  const Expr lengths = Flat(a.X("Length")).To(DType::kInt64);
  const bool tags = a.Bool("include_bos_eos_tag", true);
  Expr start = nullptr, stop = nullptr;
  if (tags) {
    start = At(moves, Int(a, -1), 0);
    stop = At(moves, Int(a, -2), 0);
  }
  const BestPaths best = Viterbi(a, scores, moves, start, stop, lengths);
  const Expr most = Reduce(lengths, "reduce_max", {});
  return {{"Scores", {best.scores}}, {"Path", {Slice(best.labels, 1, 0, Size(most))}}};
}

// Ids [steps, batch, beams]: each beam of the last step back to where it came from.
Expr GatherTree(PaddleArgs& a) {
  const Expr ids = a.X("Ids"), parents = a.X("Parents").To(DType::kInt64);
  const Expr steps = SizeOf(ids, 0);
  const Expr last = At(parents, steps - Int(a, 1), 0);
  const std::vector<Expr> back =
      Rounds(steps - Int(a, 1), {last}, [&](const Expr& i, const std::vector<Expr>& carried) {
        const Expr step = steps - Int(a, 2) - i;
        return std::vector<Expr>{GatherElements(At(parents, step, 0), carried[0], 1),
                                 GatherElements(At(ids, step, 0), carried[0], 1)};
      });
  return Concat(a, {RowsReversed(back[1]), Slice(ids, 0, -1, kToEnd)}, 0);
}

}  // namespace

X2IR_PADDLE(loop).From({{"crf_decoding", CrfDecoding},
                        {"viterbi_decode", ViterbiDecode},
                        {"gather_tree", GatherTree}});

}  // namespace x2ir
