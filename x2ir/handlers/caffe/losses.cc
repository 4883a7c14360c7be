// Caffe: losses, and how often a network is right. Each is a number, without loss_weight.
#include <algorithm>

#include "x2ir/handlers/caffe/caffe.h"

namespace x2ir {
namespace {

// Places without the one that does not count: as places, 0 in its stead, and 1 where they count.
struct Labels {
  Expr places, counts;
};
// Labels of x [..., classes, ...] with one axis of size 1 for that of the classes.
absl::StatusOr<Labels> LabelsOf(CaffeArgs& a, const Expr& x, int64_t axis, bool ignores,
                                int64_t ignored) {
  std::vector<Size> sizes = AllSizes(x);
  sizes[static_cast<size_t>(axis)] = Size(1);
  const Expr given = ReshapeTo(a.AsInt64(a.in(1)), sizes);
  if (!ignores) return Labels{given, nullptr};
  const Expr left_out = given == static_cast<double>(ignored);
  return Labels{Where(left_out, 0.0, given), Not(left_out).To(x.dtype())};
}

// What a sum over all items is divided by; items are the axes before `axis` and from `inner` on.
absl::StatusOr<Expr> Normalizer(CaffeArgs& a, const Expr& x, int64_t axis, int64_t inner,
                                const std::string& fallback, const Expr& counts) {
  NodeReader& node = a;
  std::string mode = node.String("loss_param.normalization", fallback);
  if (!a.HasAttr("loss_param.normalization") && a.HasAttr("loss_param.normalize")) {
    mode = node.Bool("loss_param.normalize", false) ? "VALID" : "BATCH_SIZE";
  }
  node.Ignore("loss_param.normalize");
  const DType t = x.dtype();
  const int64_t rank = a.RankOf();
  if (mode == "NONE") return x.Number(1);
  if (mode == "VALID" && counts.value()) return Max(SumAll(counts), 1.0);
  const Expr outer = Scalar(a, Product(a, SizesAt(x, 0, axis))).To(t);
  if (mode == "BATCH_SIZE") return Max(outer, 1.0);
  if (mode != "VALID" && mode != "FULL") return Unimplemented("normalization ", mode);
  return Max(outer * Scalar(a, Product(a, SizesAt(x, inner, rank))).To(t), 1.0);
}

struct Ignored {
  bool any;
  int64_t label;
};
Ignored IgnoredOf(CaffeArgs& a) {
  NodeReader& node = a;
  return {a.HasAttr("loss_param.ignore_label"), node.Int("loss_param.ignore_label", 0)};
}

absl::StatusOr<Values> SoftmaxWithLoss(CaffeArgs& a) {
  const Expr x = a.in(0);
  const int64_t axis = a.AxisOf(a.Int("axis", 1));
  const Ignored ignored = IgnoredOf(a);
  a.Require(a.num_bottoms() == 2, "weights of items");
  const Expr chances = x.Op("softmax", {}, {{"axis", axis}});
  X2IR_ASSIGN_OR_RETURN(const Labels labels, LabelsOf(a, x, axis, ignored.any, ignored.label));
  Expr each = -Log(Max(GatherElements(chances, labels.places, axis), 1.17549435e-38));
  if (ignored.any) each = each * labels.counts;
  X2IR_ASSIGN_OR_RETURN(const Expr by, Normalizer(a, x, axis, axis + 1, "VALID", labels.counts));
  return Values{SumAll(each) / by, chances};
}
absl::StatusOr<Value*> MultinomialLogisticLoss(CaffeArgs& a) {
  X2IR_ASSIGN_OR_RETURN(const Labels labels, LabelsOf(a, a.in(0), 1, false, 0));
  const Expr each = -Log(Max(GatherElements(a.in(0), labels.places, 1), 1e-20));
  return (SumAll(each) / SizeOf(a.in(0), 0).To(a.dtype())).value();
}
// As in Caffe 1.0, of numbers before a softmax: chances of all classes count, by the row of a
// label.
absl::StatusOr<Values> InfogainLoss(CaffeArgs& a) {
  const Expr x = a.in(0);
  const int64_t axis = a.AxisOf(a.Int("axis", 1));
  const Ignored ignored = IgnoredOf(a);
  // The matrix is the third operand, or was in a file of its own.
  const bool given = a.num_bottoms() == 3;
  a.Drop({"source"});
  const Dim classes = DimAt(x, axis);
  a.Require(classes.is_static(), "an unknown number of classes");
  const Expr chances = x.Op("softmax", {}, {{"axis", axis}});
  X2IR_ASSIGN_OR_RETURN(const Labels labels, LabelsOf(a, x, axis, ignored.any, ignored.label));
  // Classes last, as the rows of the matrix.
  std::vector<int64_t> order;
  for (int64_t i = 0; i < a.RankOf(); ++i) {
    if (i != axis) order.push_back(i);
  }
  order.push_back(axis);
  const Expr logs = Transpose(Log(Max(chances, 1e-20)), order);
  const Expr rows = Gather(Reshape(given ? a.in(2) : a.blob(0), {classes.value(), classes.value()}),
                           Squeeze(labels.places, {axis}), 0);
  Expr each = -Sum(rows * logs, a.RankOf() - 1);
  if (ignored.any) each = each * Squeeze(labels.counts, {axis});
  X2IR_ASSIGN_OR_RETURN(const Expr by, Normalizer(a, x, axis, axis + 1, "VALID", labels.counts));
  return Values{SumAll(each) / by, chances};
}
Value* EuclideanLoss(CaffeArgs& a) {
  return SumAll(Square(a.in(0) - a.in(1))) / SizeOf(a.in(0), 0).To(a.dtype()) / 2;
}
absl::StatusOr<Value*> SigmoidCrossEntropyLoss(CaffeArgs& a) {
  const Expr x = a.in(0), target = a.in(1);
  const Ignored ignored = IgnoredOf(a);
  // log(1 + exp(x)) - target x.
  Expr each = x.Op("softplus") - x * target, counts = nullptr;
  if (ignored.any) {
    counts = Not(target == static_cast<double>(ignored.label)).To(x.dtype());
    each = each * counts;
  }
  X2IR_ASSIGN_OR_RETURN(const Expr by, Normalizer(a, x, 1, 1, "BATCH_SIZE", counts));
  return (SumAll(each) / by).value();
}
absl::StatusOr<Value*> HingeLoss(CaffeArgs& a) {
  const Expr x = a.in(0).Op("flatten", {}, {{"axis", 1}});
  const std::string norm = a.Text("norm", "L1");
  const Dim classes = DimAt(x, 1);
  a.Require(classes.is_static(), "an unknown number of classes");
  const Expr label = Unsqueeze(Reshape(a.AsInt64(a.in(1)), {-1}), {1});
  const Expr own = Iota(Int(a, classes.value())) == label;
  const Expr margin = (Where(own, -x, x) + 1).Op("relu");
  const Expr sum = SumAll(norm == "L1" ? margin : Square(margin));
  return (sum / SizeOf(x, 0).To(x.dtype())).value();
}
absl::StatusOr<Value*> ContrastiveLoss(CaffeArgs& a) {
  const double margin = a.Float("margin", 1);
  const bool legacy = a.Bool("legacy_version", false);
  const Expr apart = (a.in(0) - a.in(1)).Op("flatten", {}, {{"axis", 1}});
  const Expr square = Sum(Square(apart), 1), same = Reshape(a.in(2), {-1});
  const Expr other = legacy ? Max(margin - square, 0.0) : Square(Max(margin - Sqrt(square), 0.0));
  const Expr each = Where(IsTrue(same), square, other);
  return (SumAll(each) / SizeOf(square, 0).To(square.dtype()) / 2).value();
}
// The share of items whose class is among the best; of equal chances all are better.
absl::StatusOr<Value*> Accuracy(CaffeArgs& a) {
  const Expr x = a.in(0);
  const int64_t axis = a.AxisOf(a.Int("axis", 1)), top = a.Int("top_k", 1);
  const bool ignores = a.Has("ignore_label");
  X2IR_ASSIGN_OR_RETURN(const Labels labels,
                        LabelsOf(a, x, axis, ignores, a.Int("ignore_label", 0)));
  const Expr own = GatherElements(x, labels.places, axis);
  const Expr better = Sum((x >= own).To(x.dtype()), axis, true) - 1;
  Expr right = (better < static_cast<double>(top)).To(x.dtype());
  if (ignores) return (SumAll(right * labels.counts) / SumAll(labels.counts)).value();
  std::vector<int64_t> all = AllAxes(right);
  return Reduce(right, "reduce_mean", all).value();
}

}  // namespace

X2IR_CAFFE(log)
    .From("SoftmaxWithLoss", "softmax_param", SoftmaxWithLoss)
    .From("InfogainLoss", "infogain_loss_param", InfogainLoss)
    .From("MultinomialLogisticLoss", "loss_param", MultinomialLogisticLoss);
X2IR_CAFFE(softplus).From("SigmoidCrossEntropyLoss", "loss_param", SigmoidCrossEntropyLoss);
X2IR_CAFFE(reduce_sum)
    .From("EuclideanLoss", "loss_param", EuclideanLoss)
    .From("HingeLoss", "hinge_loss_param", HingeLoss)
    .From("ContrastiveLoss", "contrastive_loss_param", ContrastiveLoss);
X2IR_CAFFE(reduce_mean).From("Accuracy", "accuracy_param", Accuracy);

}  // namespace x2ir
