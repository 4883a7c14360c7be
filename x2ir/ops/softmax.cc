// softmax, log_softmax and hardmax: along one axis, whatever the rank.
#include <cmath>
#include <cstdint>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/axes.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/elementwise_util.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

absl::Status InferAlongAxis(InferContext& ctx) {
  if (ctx.rank(0) >= 0) {
    X2IR_RETURN_IF_ERROR(NormalizeAxis(ctx.attrs().Int("axis"), ctx.rank(0)).status());
  }
  return ctx.Return(ctx.type(0));
}

// Calls f(in, out, n, step) for each line along the axis: elements are step apart.
template <typename F>
EvalFn AlongAxis(F f) {
  return [f](EvalContext& ctx) {
    return DispatchFloat(ctx.dtype(0), [&](auto zero) -> absl::Status {
      using T = decltype(zero);
      const std::vector<int64_t>& dims = ctx.dims(0);
      X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(ctx.attrs().Int("axis"),
                                                              static_cast<int64_t>(dims.size())));
      const Numbers<T> in(ctx.input(0));
      NumbersOut<T> out(ctx.dtype(0), dims);
      int64_t step = 1;
      for (size_t i = static_cast<size_t>(axis) + 1; i < dims.size(); ++i) step *= dims[i];
      const int64_t n = dims[axis];
      if (out.size() != 0) {
        for (int64_t block = 0; block < out.size(); block += n * step) {
          for (int64_t i = block; i < block + step; ++i) f(in.data() + i, out.data() + i, n, step);
        }
      }
      return ctx.Return(out.Finish());
    });
  };
}

// Where the largest one is, the first of equals; a NaN counts as the largest.
template <typename T>
int64_t ArgMax(const T* x, int64_t n, int64_t step) {
  int64_t best = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(x[i * step])) return i;
    if (x[i * step] > x[best * step]) best = i;
  }
  return best;
}

// The sum of exp(x - max), in double: the parts may be many.
template <typename T>
double SumOfExp(const T* x, int64_t n, int64_t step, T max) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += portable::exp(x[i * step] - max);
  return sum;
}

struct Softmax {
  template <typename T>
  void operator()(const T* x, T* y, int64_t n, int64_t step) const {
    const T max = x[ArgMax(x, n, step) * step];
    const double sum = SumOfExp(x, n, step, max);
    for (int64_t i = 0; i < n; ++i) {
      y[i * step] = static_cast<T>(portable::exp(x[i * step] - max) / sum);
    }
  }
};

struct LogSoftmax {
  template <typename T>
  void operator()(const T* x, T* y, int64_t n, int64_t step) const {
    const T max = x[ArgMax(x, n, step) * step];
    const double log_sum = portable::log(SumOfExp(x, n, step, max));
    for (int64_t i = 0; i < n; ++i) {
      y[i * step] = static_cast<T>(static_cast<double>(x[i * step] - max) - log_sum);
    }
  }
};

struct Hardmax {
  template <typename T>
  void operator()(const T* x, T* y, int64_t n, int64_t step) const {
    y[ArgMax(x, n, step) * step] = T{1};  // the others are zeros from the start
  }
};

void DefineSoftmax(OpDef& op, EvalFn eval) {
  op.Signature("x -> y")
      .Attrs("axis = -1")
      .Functions(InferAlongAxis, std::move(eval))
      .Axes(kAlongAxis)
      .Numbers(NumberUse::kFloatOnly)
      .AllowsFloat16()
      .Zeros(ZeroUse::kForgets);
}

}  // namespace

X2IR_OP(softmax)
    .With(DefineSoftmax, AlongAxis(Softmax()))
    .Rows(RowUse::kLastAxis)
    .Doc("exp(x) divided by the sum of exp(x) along the axis.")
    .Origins(OriginsButAxis)
    .Zeros(ZeroUse::kForgets)
    .Gives(ResultUse::kNotNegative);

X2IR_OP(log_softmax)
    .With(DefineSoftmax, AlongAxis(LogSoftmax()))
    .Doc("The logarithm of softmax along the axis.")
    .Origins(OriginsButAxis);

X2IR_OP(hardmax)
    .With(DefineSoftmax, AlongAxis(Hardmax()))
    .Doc("1 where the first largest element along the axis is, else 0.");

}  // namespace x2ir
