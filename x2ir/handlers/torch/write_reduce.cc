// Reductions, places of extremes, sorting and running sums, written as calls.
#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// The axes, from the front; none: the operand itself is the result.
absl::StatusOr<std::optional<std::vector<int64_t>>> WrittenAxes(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  X2IR_ASSIGN_OR_RETURN(const auto given, w.KnownInts(1, "axes"));
  std::vector<int64_t> axes = given.value_or(std::vector<int64_t>());
  if (axes.empty()) {
    if (w.Int("noop_with_empty_axes") != 0) return std::nullopt;
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  return axes;
}

// Axes that are computed: as many as their tensor has elements; none are all of them.
absl::StatusOr<std::optional<std::vector<TorchScalar>>> ComputedAxes(TorchWriter& w) {
  if (!w.has(1) || KnownInts(w.in(1))) return std::nullopt;
  X2IR_ASSIGN_OR_RETURN(std::vector<TorchScalar> axes, w.Sizes(w.in(1)));
  if (axes.empty()) return std::nullopt;
  return axes;
}

// Of nothing PyTorch has no largest element.
bool IsEmptyAlong(TorchWriter& w, const std::vector<int64_t>& axes) {
  const Shape* out = w.out_type().shape();
  return out && out->is_static() && std::any_of(axes.begin(), axes.end(), [&](int64_t axis) {
           const Dim& dim = (*w.in(0)->shape())[axis];
           return dim.is_static() && dim.value() == 0;
         });
}
Value* SizesOf(TorchWriter& w, const Shape& shape) { return w.b().Ints(*shape.Static()); }

// `op` reduces over the axes. PyTorch sums small integers as int64 unless it is told otherwise.
auto WriteReduce(std::string_view op, bool says_dtype) {
  return [=](TorchWriter& w) -> absl::StatusOr<Value*> {
    if (op == "aten::mean.dim" && !IsFloating(w.dtype())) return CannotExpress("means of integers");
    if (op == "aten::logsumexp.default" && !IsFloating(w.dtype())) {
      return CannotExpress("exponentials of integers");
    }
    TorchArguments arguments = {{"self", w.in(0)}};
    X2IR_ASSIGN_OR_RETURN(auto computed, ComputedAxes(w));
    if (computed) {
      const auto dims = w.in(0)->shape() ? w.in(0)->shape()->dims() : std::vector<Dim>();
      const bool empty = std::any_of(dims.begin(), dims.end(), [](const Dim& dim) {
        return dim.is_static() && dim.value() == 0;
      });
      if (empty && !says_dtype) return CannotExpress("computed axes of no elements");
      arguments.emplace_back("dim", *std::move(computed));
    } else {
      X2IR_ASSIGN_OR_RETURN(const auto axes, WrittenAxes(w));
      if (!axes) return w.Op("identity", {w.in(0)});
      if ((op == "aten::amax.default" || op == "aten::amin.default") && IsEmptyAlong(w, *axes)) {
        const bool max = op == "aten::amax.default";
        return w.Op("expand", {Extreme(w, w.dtype(), !max), SizesOf(w, *w.out_type().shape())});
      }
      arguments.emplace_back("dim", *axes);
    }
    arguments.emplace_back("keepdim", w.Int("keepdims") != 0);
    if (says_dtype && !IsFloating(w.dtype())) arguments.emplace_back("dtype", w.dtype());
    return w.Call(op, std::move(arguments));
  };
}
X2IR_TORCH(reduce_sum).To("aten::sum.dim_IntList", WriteReduce("aten::sum.dim_IntList", true));
X2IR_TORCH(reduce_mean).To("aten::mean.dim", WriteReduce("aten::mean.dim", false));
X2IR_TORCH(reduce_max).To("aten::amax.default", WriteReduce("aten::amax.default", false));
X2IR_TORCH(reduce_min).To("aten::amin.default", WriteReduce("aten::amin.default", false));
X2IR_TORCH(reduce_log_sum_exp)
    .To("aten::logsumexp.default", WriteReduce("aten::logsumexp.default", false));

// One axis at a time.
absl::StatusOr<Value*> WriteProd(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const auto axes, WrittenAxes(w));
  if (!axes || axes->empty()) return w.Op("identity", {w.in(0)});
  const bool keepdims = w.Int("keepdims") != 0;
  Value* x = w.in(0);
  for (size_t i = axes->size(); i-- > 1;) {
    x = w.Op("reduce_prod", {x, w.b().Ints({(*axes)[i]})}, {{"keepdims", keepdims}});
  }
  TorchArguments arguments = {{"self", x}, {"dim", (*axes)[0]}, {"keepdim", keepdims}};
  if (!IsFloating(w.dtype())) arguments.emplace_back("dtype", w.dtype());
  return w.Call("aten::prod.dim_int", std::move(arguments));
}
X2IR_TORCH(reduce_prod).To("aten::prod.dim_int", WriteProd);

// |x|^p of floats; of integers by what it is made of.
auto WriteNorm(double p) {
  return [=](TorchWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const auto axes, WrittenAxes(w));
    if (!IsFloating(w.dtype())) {
      if (p != 1) return CannotExpress("norms of integers");
      return w.Op("reduce_sum", {w.Op("abs", {w.in(0)}), w.in(1)}, w.attrs());
    }
    if (!axes || axes->empty()) return w.Op("abs", {w.in(0)});
    return w.Call(
        "aten::linalg_vector_norm.default",
        {{"self", w.in(0)}, {"ord", p}, {"dim", *axes}, {"keepdim", w.Int("keepdims") != 0}});
  };
}
X2IR_TORCH(reduce_l1).To("aten::linalg_vector_norm.default", WriteNorm(1));
X2IR_TORCH(reduce_l2).To("aten::linalg_vector_norm.default", WriteNorm(2));

Value* WriteSumSquare(TorchWriter& w) {
  return w.Op("reduce_sum", {w.Op("mul", {w.in(0), w.in(0)}), w.in(1)}, w.attrs());
}
X2IR_TORCH(reduce_sum_square).To("aten::sum.dim_IntList", WriteSumSquare);

absl::StatusOr<Value*> WriteLogSum(TorchWriter& w) {
  if (!IsFloating(w.dtype())) return CannotExpress("logarithms of integers");
  return w.Call("aten::log.default", {{"self", w.Op("reduce_sum", {w.in(0), w.in(1)}, w.attrs())}});
}
X2IR_TORCH(reduce_log_sum).To("aten::log.default", WriteLogSum);

auto WriteArg(std::string_view op) {
  return [=](TorchWriter& w) -> absl::StatusOr<Value*> {
    if (w.Int("select_last_index") != 0) return CannotExpress("the last of equal elements");
    return w.Call(op,
                  {{"self", w.in(0)}, {"dim", w.Int("axis")}, {"keepdim", w.Int("keepdims") != 0}});
  };
}
X2IR_TORCH(arg_max).To("aten::argmax.default", WriteArg("aten::argmax.default"));
X2IR_TORCH(arg_min).To("aten::argmin.default", WriteArg("aten::argmin.default"));

// Of equal elements, that with the lowest index goes first; PyTorch's topk does not say which.
absl::StatusOr<Values> WriteTopK(TorchWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, w.Axis());
  const TorchScalar k = w.Scalar(w.in(1));
  const bool largest = w.Int("largest") != 0;
  if (!w.wants(1)) {
    return Values{w.Calls("aten::topk.default",
                          {{"self", w.in(0)},
                           {"k", k},
                           {"dim", axis},
                           {"largest", largest},
                           {"sorted", w.Int("sorted") != 0}},
                          {true, false}, {w.out_type()})[0],
                  nullptr};
  }
  const Shape* shape = w.in(0)->shape();
  const Type places = shape ? Type::Tensor(DType::kInt64, *shape) : Type::Tensor(DType::kInt64);
  Values sorted =
      w.Calls("aten::sort.stable",
              {{"self", w.in(0)}, {"stable", true}, {"dim", axis}, {"descending", largest}},
              {w.wants(0), true}, {w.in(0)->type(), places});
  for (size_t i = 0; i < 2; ++i) {
    if (!sorted[i]) continue;
    sorted[i] = w.Call("aten::slice.Tensor",
                       {{"self", sorted[i]}, {"dim", axis}, {"start", 0}, {"end", k}, {"step", 1}},
                       w.out_type(i));
  }
  return sorted;
}
X2IR_TORCH(top_k).To("aten::topk.default", WriteTopK);

// Backwards between two flips.
auto WriteRunning(std::string_view op) {
  return [=](TorchWriter& w) -> absl::StatusOr<Value*> {
    X2IR_ASSIGN_OR_RETURN(const auto axis, w.KnownInts(1, "axis"));
    if (w.Int("exclusive") != 0) return CannotExpress("sums without the element itself");
    if (!axis || axis->size() != 1) return CannotExpress("an axis that is no number");
    const bool reverse = w.Int("reverse") != 0;
    Value* x = w.in(0);
    const Type type = x->type();
    const auto flip = [&](Value* v) {
      return w.Call("aten::flip.default", {{"self", v}, {"dims", *axis}}, type);
    };
    if (reverse) x = flip(x);
    TorchArguments arguments = {{"self", x}, {"dim", (*axis)[0]}};
    if (!IsFloating(w.dtype())) arguments.emplace_back("dtype", w.dtype());
    x = w.Call(op, std::move(arguments), type);
    return reverse ? flip(x) : x;
  };
}
X2IR_TORCH(cum_sum).To("aten::cumsum.default", WriteRunning("aten::cumsum.default"));
X2IR_TORCH(cum_prod).To("aten::cumprod.default", WriteRunning("aten::cumprod.default"));

}  // namespace
}  // namespace x2ir
