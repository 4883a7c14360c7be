// TFLite: reductions and sums along an axis.
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/write_forms.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

template <const char* kOp>
Value* ReduceAs(TfliteArgs& a) {
  return AsTf(a, kOp, a.inputs(), {{"keep_dims", a.Bool("keep_dims", false)}})[0];
}

constexpr char kMean[] = "Mean", kSum[] = "Sum", kProd[] = "Prod", kMaxOf[] = "Max",
               kMinOf[] = "Min", kAny[] = "Any", kAll[] = "All";

template <const char* kOp>
Value* ArgReduce(TfliteArgs& a) {
  a.Ignore("output_type");
  return AsTf(a, kOp, a.inputs(), {{"output_type", Type::Tensor(a.out_dtype())}})[0];
}

constexpr char kArgMax[] = "ArgMax", kArgMin[] = "ArgMin";

// The lengths are a vector of int32 or int64.
absl::StatusOr<Value*> ToLiteReverseSequence(TfliteWriter& w) {
  Value* lengths = w.in(1);
  if (!w.shape(1)) return CannotExpress("lengths of unknown rank");
  if (w.shape(1)->rank() != 1) {
    const Shape* x = w.shape();
    if (!x || (*x)[w.Int("batch_axis")] != Dim(1))
      return CannotExpress("lengths that are no vector");
    lengths = w.Reshape(lengths, std::vector<int64_t>{1});
  }
  if (lengths->dtype() != DType::kInt32) lengths = w.Cast(lengths, DType::kInt64);
  return w.Tflite("REVERSE_SEQUENCE", {w.in(0), lengths},
                  {{"seq_dim", w.Int("time_axis")}, {"batch_dim", w.Int("batch_axis")}});
}

auto ToLiteReduce(std::string_view op, std::string_view of_bools = "") {
  return [=](TfliteWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    X2IR_ASSIGN_OR_RETURN(Value * axes, ReducedAxes(w));
    if (!axes || rank == 0) return w.Op("identity", {w.in(0)});
    const bool bools = w.dtype() == DType::kBool;
    if (bools && of_bools.empty()) return CannotExpress("bools");
    return w.Tflite(bools ? of_bools : op, {w.in(0), axes}, {{"keep_dims", w.Int("keepdims")}});
  };
}

auto ToLiteArg(std::string_view op) {
  return [=](TfliteWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("select_last_index") != 0) return CannotExpress("the last of equal elements");
    X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
    X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
    if (rank == 0) return CannotExpress("rank 0");
    if (w.Int("keepdims") == 0) {
      return w.Tflite(op, {w.in(0), w.Int32(axis)}, {{"output_type", "INT64"}});
    }
    std::vector<Dim> dims;
    for (int64_t i = 0; i < rank; ++i) {
      if (i != axis) dims.push_back((*w.shape())[i]);
    }
    Value* found = w.Tflite(op, {w.in(0), w.Int32(axis)}, {{"output_type", "INT64"}},
                            Type::Tensor(DType::kInt64, Shape(std::move(dims))));
    return w.Op("unsqueeze", {found, w.Ints({axis})});
  };
}

absl::StatusOr<Value*> ToLiteCumSum(TfliteWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axis, w.KnownInts(1, "axis"));
  if (axis->size() != 1) return CannotExpress("several axes");
  return w.Tflite("CUMSUM", {w.in(0), w.Int32((*axis)[0])},
                  {{"exclusive", w.Int("exclusive")}, {"reverse", w.Int("reverse")}});
}

}  // namespace

X2IR_TFLITE(reduce_mean).To("MEAN", ToLiteReduce("MEAN")).From("MEAN", ReduceAs<kMean>);
X2IR_TFLITE(reduce_sum)
    .To("SUM", ToLiteReduce("SUM"))
    .From({{"SUM", ReduceAs<kSum>},
           {"SEGMENT_SUM", SameAsTf("SegmentSum")},
           {"UNSORTED_SEGMENT_SUM", SameAsTf("UnsortedSegmentSum")}});
X2IR_TFLITE(reduce_prod)
    .To("REDUCE_PROD", ToLiteReduce("REDUCE_PROD"))
    .From({{"REDUCE_PROD", ReduceAs<kProd>},
           {"UNSORTED_SEGMENT_PROD", SameAsTf("UnsortedSegmentProd")}});
X2IR_TFLITE(reduce_max)
    .To("REDUCE_MAX", ToLiteReduce("REDUCE_MAX", "REDUCE_ANY"))
    .From({{"REDUCE_MAX", ReduceAs<kMaxOf>},
           {"REDUCE_ANY", ReduceAs<kAny>},
           {"UNSORTED_SEGMENT_MAX", SameAsTf("UnsortedSegmentMax")}});
X2IR_TFLITE(reduce_min)
    .To("REDUCE_MIN", ToLiteReduce("REDUCE_MIN", "REDUCE_ALL"))
    .From({{"REDUCE_MIN", ReduceAs<kMinOf>},
           {"REDUCE_ALL", ReduceAs<kAll>},
           {"UNSORTED_SEGMENT_MIN", SameAsTf("UnsortedSegmentMin")}});
X2IR_TFLITE(cum_sum)
    .To("CUMSUM", ToLiteCumSum)
    .From("CUMSUM", SameAsTf("Cumsum", {"exclusive", "reverse"}));
X2IR_TFLITE(reverse_sequence)
    .To("REVERSE_SEQUENCE", ToLiteReverseSequence)
    .From("REVERSE_SEQUENCE", SameAsTf("ReverseSequence", {"seq_dim", "batch_dim"}));
X2IR_TFLITE(arg_max).To("ARG_MAX", ToLiteArg("ARG_MAX")).From("ARG_MAX", ArgReduce<kArgMax>);
X2IR_TFLITE(arg_min).To("ARG_MIN", ToLiteArg("ARG_MIN")).From("ARG_MIN", ArgReduce<kArgMin>);
X2IR_TFLITE(reduce_l1).To("SUM", L1BySum);
X2IR_TFLITE(reduce_l2).To("SUM", L2BySum);
X2IR_TFLITE(reduce_log_sum).To("SUM", LogSumBySum);
X2IR_TFLITE(reduce_sum_square).To("SUM", SumSquareBySum);
X2IR_TFLITE(reduce_log_sum_exp).To("SUM", LogSumExpBySum);

}  // namespace x2ir
