// Ensembles of decision trees: tree_ensemble, tree_ensemble_regressor, tree_ensemble_classifier.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/forest.h"
#include "x2ir/ops/ml_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// --- Scores ---------------------------------------------------------------------------------

enum class Aggregate : uint8_t { kSum, kAverage, kMin, kMax };

absl::StatusOr<Aggregate> AggregateOf(const AttributeMap& attrs) {
  return ChoiceAttr<Aggregate>(attrs, "aggregate_function", {"SUM", "AVERAGE", "MIN", "MAX"});
}

template <typename T>
struct Score {
  T value = 0;
  bool voted = false;
};

// The votes of all trees for one row of features, by target. Sums are in T, as in runtimes,
// since a class may hang on the last digit.
template <typename T>
std::vector<Score<T>> CollectVotes(const Forest& forest, const T* x, Aggregate aggregate,
                                   int64_t targets) {
  std::vector<Score<T>> scores(targets);
  for (const int64_t root : forest.roots) {
    const Forest::Node& leaf = forest.Leaf(root, x);
    for (size_t i = leaf.first_vote; i < leaf.end_votes; ++i) {
      const T weight = static_cast<T>(forest.votes[i].weight);
      Score<T>& score = scores[forest.votes[i].target];
      if (aggregate == Aggregate::kMin) {
        score.value = score.voted ? std::min(score.value, weight) : weight;
      } else if (aggregate == Aggregate::kMax) {
        score.value = score.voted ? std::max(score.value, weight) : weight;
      } else {
        score.value += weight;
      }
      score.voted = true;
    }
  }
  if (aggregate == Aggregate::kAverage) {
    for (Score<T>& score : scores) score.value /= static_cast<T>(forest.roots.size());
  }
  return scores;
}

// float64 features are compared as such, all others as float32.
template <typename F>
absl::Status DispatchFeatures(DType dtype, F&& f) {
  return dtype == DType::kFloat64 ? f(double{}) : f(float{});
}

absl::Status CheckForest(const Forest& forest, const RowShape& x, int64_t targets) {
  if (forest.roots.empty()) return Invalid("expected trees, got none");
  if (forest.max_feature >= x.features) {
    return Invalid("a node asks for feature ", forest.max_feature, " of ", x.features);
  }
  if (targets > 0 && forest.max_target < targets) return absl::OkStatus();
  return Invalid("a vote for target ", forest.max_target, " of ", targets);
}

// What can be said of a forest and its targets before the node runs.
absl::Status InferForest(const Forest& forest, const RowDims& x, const Dim& targets) {
  if (x.features.is_static() && forest.max_feature >= x.features.value()) {
    return Invalid("a node asks for feature ", forest.max_feature, " of ", x.features.value());
  }
  if (!targets.is_static() || forest.max_target < targets.value()) return absl::OkStatus();
  return Invalid("a vote for target ", forest.max_target, " of ", targets.value());
}

absl::StatusOr<Dim> TreeTargets(const AttributeMap& attrs) {
  if (!attrs.Has("n_targets")) return Dim();
  const int64_t targets = attrs.Int("n_targets");
  if (targets < 1) return Invalid("n_targets: ", targets);
  return Dim(targets);
}

// The numbers of a rank-1 tensor attribute; none where it is left out.
absl::StatusOr<std::vector<double>> BaseValues(const AttributeMap& attrs) {
  std::vector<double> values;
  const Attribute* attr = attrs.Find("base_values");
  const Tensor* tensor = attr ? attr->get<Tensor>() : nullptr;
  if (!tensor) return values;
  X2IR_ASSIGN_OR_RETURN(const Tensor dense, tensor->ToDense());
  if (!IsFloating(dense.dtype())) return Invalid("base_values: got ", Name(dense.dtype()));
  for (int64_t i = 0; i < dense.num_elements(); ++i) values.push_back(dense.AsDouble(i));
  return values;
}

// Regression of both forms: `base` has a value for each target, or none.
absl::Status Regress(EvalContext& ctx, const Forest& forest, const std::vector<double>& base,
                     DType out) {
  X2IR_ASSIGN_OR_RETURN(const RowShape shape, RowsOf(ctx.input(0)));
  X2IR_ASSIGN_OR_RETURN(const PostTransform transform, PostTransformOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const Aggregate aggregate, AggregateOf(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const Dim known, TreeTargets(ctx.attrs()));
  if (!known.is_static()) return Invalid("expected n_targets");
  const int64_t targets = known.value();
  X2IR_RETURN_IF_ERROR(CheckForest(forest, shape, targets));
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, {shape.rows, targets}));
  return DispatchFeatures(ctx.dtype(0), [&](auto zero) -> absl::Status {
    using T = decltype(zero);
    const Numbers<T> x(ctx.input(0));
    std::vector<double> y(shape.rows * targets);
    for (int64_t row = 0; row < shape.rows; ++row) {
      std::vector<T> scores;
      const T* features = x.data() + row * shape.features;
      for (const Score<T>& score : CollectVotes(forest, features, aggregate, targets)) {
        const size_t t = scores.size();
        // Of several targets, one without a vote is 0 in ONNX Runtime, whatever its base value.
        const bool none = targets > 1 && !score.voted;
        scores.push_back(none || base.empty() ? score.value
                                              : score.value + static_cast<T>(base[t]));
      }
      X2IR_RETURN_IF_ERROR(FinishScores(transform, FirstScore::kNotWanted, scores));
      std::copy(scores.begin(), scores.end(), y.begin() + row * targets);
    }
    if (out == DType::kFloat64) {
      ctx.Set(0, FromNumbers<double>(out, {shape.rows, targets}, y));
    } else {
      const std::vector<float> floats(y.begin(), y.end());
      ctx.Set(0, FromNumbers<float>(out, {shape.rows, targets}, floats));
    }
    return absl::OkStatus();
  });
}

// --- tree_ensemble --------------------------------------------------------------------------

absl::Status CheckTypes(const AttributeMap& attrs, DType x) {
  if (x == DType::kUndefined) return absl::OkStatus();
  if (!IsFloating(x)) return Invalid("expected floating numbers, got ", Name(x));
  for (const char* name : {"nodes_splits", "leaf_weights", "membership_values"}) {
    const Attribute* attr = attrs.Find(name);
    const Tensor* tensor = attr ? attr->get<Tensor>() : nullptr;
    if (!tensor || tensor->dtype() == x) continue;
    return Invalid(name, " is of type ", Name(tensor->dtype()), ", the operand of ", Name(x));
  }
  return absl::OkStatus();
}

absl::Status InferEnsemble(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckTypes(ctx.attrs(), ctx.dtype(0)));
  X2IR_RETURN_IF_ERROR(PostTransformOf(ctx.attrs()).status());
  X2IR_RETURN_IF_ERROR(AggregateOf(ctx.attrs()).status());
  X2IR_ASSIGN_OR_RETURN(const RowDims x, InferRows(ctx));
  X2IR_ASSIGN_OR_RETURN(const Dim targets, TreeTargets(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const Forest forest, ForestByPosition(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(InferForest(forest, x, targets));
  return ctx.Return(ctx.dtype(0), Shape{x.rows, targets});
}

absl::Status EvalEnsemble(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckTypes(ctx.attrs(), ctx.dtype(0)));
  X2IR_ASSIGN_OR_RETURN(const Forest forest, ForestByPosition(ctx.attrs()));
  return Regress(ctx, forest, {}, ctx.dtype(0));
}

X2IR_OP(tree_ensemble)
    .Signature("x -> y")
    .Attrs(
        "aggregate_function = 'SUM', leaf_targetids: ints, leaf_weights: tensor, "
        "membership_values: tensor?, n_targets: int?, nodes_falseleafs: ints, nodes_falsenodeids: "
        "ints, nodes_featureids: ints, nodes_hitrates: tensor?, nodes_missing_value_tracks_true: "
        "ints?, nodes_modes: strings, nodes_splits: tensor, nodes_trueleafs: ints, "
        "nodes_truenodeids: ints, post_transform = 'NONE', tree_roots: ints")
    .Functions(InferEnsemble, EvalEnsemble)
    .With(ClassicOp)
    .Heavy()
    .Doc(
        "Decision trees: inner nodes and leaves in two lists, by position. A node's children are "
        "leaves where its leafs flags say so; sets of BRANCH_MEMBER nodes end with a NaN each.");

// --- tree_ensemble_regressor ----------------------------------------------------------------

absl::Status CheckBase(const std::vector<double>& base, const Dim& targets) {
  if (base.empty() || !targets.is_static()) return absl::OkStatus();
  if (static_cast<int64_t>(base.size()) == targets.value()) return absl::OkStatus();
  return Invalid(base.size(), " base_values for ", targets.value(), " targets");
}

absl::Status InferRegressor(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(PostTransformOf(ctx.attrs()).status());
  X2IR_RETURN_IF_ERROR(AggregateOf(ctx.attrs()).status());
  X2IR_ASSIGN_OR_RETURN(const RowDims x, InferRows(ctx));
  X2IR_ASSIGN_OR_RETURN(const Dim targets, TreeTargets(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const std::vector<double> base, BaseValues(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(CheckBase(base, targets));
  X2IR_ASSIGN_OR_RETURN(const Forest forest, ForestById(ctx.attrs(), "target"));
  X2IR_RETURN_IF_ERROR(InferForest(forest, x, targets));
  return ctx.Return(DType::kFloat32, Shape{x.rows, targets});
}

absl::Status EvalRegressor(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Forest forest, ForestById(ctx.attrs(), "target"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<double> base, BaseValues(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const Dim targets, TreeTargets(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(CheckBase(base, targets));
  return Regress(ctx, forest, base, DType::kFloat32);
}

void NodesAndTransform(OpDef& op) {
  op.Attrs(
      "nodes_falsenodeids: ints?, nodes_featureids: ints?, nodes_hitrates: tensor?, "
      "nodes_missing_value_tracks_true: ints?, nodes_modes: strings?, nodes_nodeids: ints?, "
      "nodes_treeids: ints?, nodes_truenodeids: ints?, nodes_values: tensor?, "
      "post_transform = 'NONE'");
}

X2IR_OP(tree_ensemble_regressor)
    .Signature("x -> y")
    .Attrs("aggregate_function = 'SUM', base_values: tensor?, n_targets: int?")
    .With(NodesAndTransform)
    .Attrs(
        "target_ids: ints?, target_nodeids: ints?, target_treeids: ints?, target_weights: tensor?")
    .Functions(InferRegressor, EvalRegressor)
    .With(ClassicOp)
    .Heavy()
    .Doc(
        "Decision trees whose leaves vote for targets: nodes by tree and id, a tree's first node "
        "its root. Votes are aggregated, base_values added, the transform applied; float32.");

// --- tree_ensemble_classifier ---------------------------------------------------------------

absl::StatusOr<ClassLabels> ClassifierLabels(const AttributeMap& attrs) {
  return ClassLabels::Of(attrs, "classlabels_strings", "classlabels_int64s");
}

absl::Status InferClassifier(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(PostTransformOf(ctx.attrs()).status());
  X2IR_ASSIGN_OR_RETURN(const ClassLabels labels, ClassifierLabels(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowDims x, InferRows(ctx));
  X2IR_RETURN_IF_ERROR(BaseValues(ctx.attrs()).status());
  X2IR_ASSIGN_OR_RETURN(const Forest forest, ForestById(ctx.attrs(), "class"));
  const Dim classes = labels.size() == 0 ? Dim() : Dim(labels.size());
  X2IR_RETURN_IF_ERROR(InferForest(forest, x, classes));
  ctx.Set(0, labels.dtype(), Shape{x.rows});
  ctx.Set(1, DType::kFloat32, Shape{x.rows, classes});
  return absl::OkStatus();
}

// What decides about the classes, whatever the row.
struct Ballot {
  int64_t classes = 0;
  bool one_sided = false;     // two classes, and every vote is for the same one
  bool all_positive = false;  // every vote
  PostTransform transform = PostTransform::kNone;
  std::vector<double> base;
};

// The class of one row, as its position among the labels, and its scores.
template <typename T>
struct Decision {
  int64_t chosen = 0;
  std::vector<T> scores;
  FirstScore first = FirstScore::kNotWanted;
};

// Three classes and more: the highest of those that were voted for.
template <typename T>
Decision<T> DecideAmongMany(const Ballot& ballot, std::vector<Score<T>> votes) {
  for (size_t k = 0; k < ballot.base.size(); ++k) {
    votes[k].value += static_cast<T>(ballot.base[k]);
    votes[k].voted = true;
  }
  Decision<T> decision;
  int64_t best = -1;
  for (size_t k = 0; k < votes.size(); ++k) {
    if (votes[k].voted && (best < 0 || votes[k].value > votes[best].value)) best = k;
    decision.scores.push_back(votes[k].value);
  }
  decision.chosen = std::max<int64_t>(best, 0);
  return decision;
}

// Two classes, of which perhaps only one is ever voted for: what ONNX Runtime makes of it. If the
// second got no vote, the first one's score is that of the second class.
template <typename T>
Decision<T> DecideBetweenTwo(const Ballot& ballot, std::vector<Score<T>> votes) {
  Score<T>&a = votes[0], &b = votes[1];
  if (ballot.base.size() == 2) {
    if (b.voted) {
      b.value = static_cast<T>(ballot.base[1]) + a.value;
      a.value = -b.value;
    } else {
      b.value += static_cast<T>(ballot.base[1]);
      a.value += static_cast<T>(ballot.base[0]);
    }
  } else if (ballot.base.size() == 1) {
    a.value += static_cast<T>(ballot.base[0]);
  }
  const bool both = b.voted || ballot.base.size() == 2;
  Decision<T> decision;
  for (const Score<T>& score : votes) {
    decision.scores.push_back(both && !score.voted ? T(0) : score.value);
  }
  if (!both) decision.scores.pop_back();
  const T score = b.voted ? b.value : a.voted ? a.value : T(0);
  decision.chosen = score > (ballot.one_sided && ballot.all_positive ? T(0.5) : T(0)) ? 1 : 0;
  if (ballot.one_sided) {
    decision.first = ballot.all_positive ? FirstScore::kComplement : FirstScore::kNegative;
  } else if (ballot.base.empty()) {
    decision.first = FirstScore::kNegative;
  }
  return decision;
}

template <typename T>
absl::StatusOr<Decision<T>> Decide(const Ballot& ballot, std::vector<Score<T>> votes) {
  Decision<T> decision;
  if (ballot.classes > 2) {
    decision = DecideAmongMany(ballot, std::move(votes));
  } else if (ballot.classes == 2) {
    decision = DecideBetweenTwo(ballot, std::move(votes));
  } else {
    const T base = ballot.base.empty() ? T(0) : static_cast<T>(ballot.base[0]);
    decision.scores = {votes[0].value + base};
    decision.chosen = decision.scores[0] > 0 ? 1 : 0;
  }
  X2IR_RETURN_IF_ERROR(FinishScores(ballot.transform, decision.first, decision.scores));
  if (static_cast<int64_t>(decision.scores.size()) == ballot.classes) return decision;
  return Unimplemented("a base value for one of two classes, and votes for both of them");
}

absl::StatusOr<Ballot> BallotOf(const AttributeMap& attrs, const Forest& forest, int64_t classes) {
  Ballot ballot;
  ballot.classes = classes;
  X2IR_ASSIGN_OR_RETURN(ballot.transform, PostTransformOf(attrs));
  X2IR_ASSIGN_OR_RETURN(ballot.base, BaseValues(attrs));
  ballot.all_positive = true;
  bool same = true;
  for (const Forest::Vote& vote : forest.votes) {
    ballot.all_positive = ballot.all_positive && !(vote.weight < 0);
    same = same && vote.target == forest.votes[0].target;
  }
  ballot.one_sided = classes == 2 && same;
  const int64_t base = static_cast<int64_t>(ballot.base.size());
  if (base == 0 || base == classes || (base == 1 && classes == 2)) return ballot;
  return Invalid(base, " base_values for ", classes, " classes");
}

absl::Status EvalClassifier(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const Forest forest, ForestById(ctx.attrs(), "class"));
  X2IR_ASSIGN_OR_RETURN(const ClassLabels labels, ClassifierLabels(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowShape shape, RowsOf(ctx.input(0)));
  const int64_t classes = labels.size();
  if (classes == 0) return Invalid("expected class labels, got none");
  if (classes == 1 && labels.are_strings()) return Unimplemented("a single class that is a string");
  X2IR_RETURN_IF_ERROR(CheckForest(forest, shape, classes));
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat32, {shape.rows, classes}));
  X2IR_ASSIGN_OR_RETURN(const Ballot ballot, BallotOf(ctx.attrs(), forest, classes));
  NumbersOut<float> z(DType::kFloat32, {shape.rows, classes});
  std::vector<int64_t> chosen(shape.rows);
  X2IR_RETURN_IF_ERROR(DispatchFeatures(ctx.dtype(0), [&](auto zero) -> absl::Status {
    using T = decltype(zero);
    const Numbers<T> x(ctx.input(0));
    for (int64_t row = 0; row < shape.rows; ++row) {
      const T* features = x.data() + row * shape.features;
      X2IR_ASSIGN_OR_RETURN(
          const Decision<T> decision,
          Decide<T>(ballot, CollectVotes(forest, features, Aggregate::kSum, classes)));
      chosen[row] = decision.chosen;
      for (int64_t k = 0; k < classes; ++k) {
        z[row * classes + k] = static_cast<float>(decision.scores[k]);
      }
    }
    return absl::OkStatus();
  }));
  // ONNX Runtime gives integers other than the labels unless the class is one of many, or the only
  // one of two that is voted for.
  const bool as_is = labels.are_strings() || classes > 2 || ballot.one_sided;
  ctx.Set(0, (as_is ? labels : labels.NoAndYes()).Take(chosen));
  ctx.Set(1, z.Finish());
  return absl::OkStatus();
}

X2IR_OP(tree_ensemble_classifier)
    .Signature("x -> y, z")
    .Attrs(
        "base_values: tensor?, class_ids: ints?, class_nodeids: ints?, class_treeids: ints?, "
        "class_weights: tensor?, classlabels_int64s: ints?, classlabels_strings: strings?")
    .With(NodesAndTransform)
    .Functions(InferClassifier, EvalClassifier)
    .With(ClassicOp)
    .Heavy()
    .Doc(
        "Decision trees whose leaves vote for classes: the label of the class with the highest sum "
        "of votes, and the transformed sums. Nodes and base_values as for the regressor.");

}  // namespace
}  // namespace x2ir
