// Ops on feature vectors: ml_normalizer, ml_scaler, binarizer, imputer, one_hot_encoder,
// array_feature_extractor, feature_vectorizer.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/ml_util.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"

namespace x2ir {
namespace {

// Output 0 is float32 of operand 0's shape, which has a feature axis.
absl::Status InferFloats(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectReal(ctx.dtype(0)));
  const Shape* x = ctx.shape(0);
  if (x && x->rank() == 0) return Invalid("expected rank 1 or more, got 0");
  return ctx.Return(DType::kFloat32, x ? std::optional(*x) : std::nullopt);
}

// The tensor as [outer, features, inner].
absl::StatusOr<AxisView> FeaturesOf(const Tensor& x) {
  X2IR_RETURN_IF_ERROR(ExpectReal(x.dtype()));
  if (x.rank() == 0) return Invalid("expected rank 1 or more, got 0");
  return ViewAt(x.dims(), FeatureAxis(x.rank()));
}

// Per-feature values are given for each feature or once for all. Runtimes count features along
// the last axis and ONNX along the second one, so they must be the same for there to be a sense.
absl::Status CheckPerFeature(std::string_view what, size_t count, const Tensor& x,
                             const AxisView& view) {
  if (count == 1) return absl::OkStatus();
  if (static_cast<int64_t>(count) != view.size) {
    return Invalid(what, ": expected 1 or ", view.size, " values, got ", count);
  }
  if (x.rank() > 2) {
    return Unimplemented(what, " for each feature of a tensor of rank ", x.rank());
  }
  return absl::OkStatus();
}

// --- ml_normalizer --------------------------------------------------------------------------

absl::Status CheckNormalizerNorm(const AttributeMap& attrs) {
  return CheckChoice(attrs, "norm", {"MAX", "L1", "L2"});
}

absl::Status InferNormalizer(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckNormalizerNorm(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(InferRows(ctx).status());
  return InferFloats(ctx);
}

absl::Status EvalNormalizer(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckNormalizerNorm(ctx.attrs()));
  X2IR_ASSIGN_OR_RETURN(const RowShape shape, RowsOf(ctx.input(0)));
  const std::string& norm = ctx.attrs().String("norm");
  const Numbers<float> x(ctx.input(0));
  NumbersOut<float> y(DType::kFloat32, ctx.dims(0));
  for (int64_t row = 0; row < shape.rows; ++row) {
    const float* in = x.data() + row * shape.features;
    float sum = norm == "MAX" ? std::numeric_limits<float>::lowest() : 0.0f;
    for (int64_t f = 0; f < shape.features; ++f) {
      sum = norm == "MAX" ? std::max(sum, in[f])
                          : sum + (norm == "L1" ? std::abs(in[f]) : in[f] * in[f]);
    }
    for (int64_t f = 0; f < shape.features; ++f) {
      // What sums up to nothing stays as it is.
      y[row * shape.features + f] = sum == 0 ? in[f]
                                    : norm != "L2"
                                        ? in[f] / sum
                                        : std::copysign(std::sqrt(in[f] * in[f] / sum), in[f]);
    }
  }
  return ctx.Return(y.Finish());
}

X2IR_OP(ml_normalizer)
    .Signature("x -> y")
    .Attrs("norm = 'MAX'")
    .Functions(InferNormalizer, EvalNormalizer)
    .With(ClassicOp)
    .Doc(
        "x over the largest of its features (MAX), the sum of their magnitudes (L1) or their "
        "Euclidean length (L2), as float32.")
    .Zeros(ZeroUse::kTells);

// --- ml_scaler ------------------------------------------------------------------------------

absl::Status InferScaler(InferContext& ctx) {
  const auto& offset = ListAttr<float>(ctx.attrs(), "offset");
  const auto& scale = ListAttr<float>(ctx.attrs(), "scale");
  if (!offset.empty() && !scale.empty() && offset.size() != scale.size()) {
    return Invalid(offset.size(), " offsets for ", scale.size(), " scales");
  }
  return InferFloats(ctx);
}

absl::Status EvalScaler(EvalContext& ctx) {
  const auto& offset = ListAttr<float>(ctx.attrs(), "offset");
  const auto& scale = ListAttr<float>(ctx.attrs(), "scale");
  X2IR_ASSIGN_OR_RETURN(const AxisView view, FeaturesOf(ctx.input(0)));
  if (scale.empty() || offset.size() != scale.size()) {
    return Invalid("expected as many offsets as scales and at least one, got ", offset.size(),
                   " and ", scale.size());
  }
  X2IR_RETURN_IF_ERROR(CheckPerFeature("scale", scale.size(), ctx.input(0), view));
  NumbersOut<float> y(DType::kFloat32, ctx.dims(0));
  X2IR_RETURN_IF_ERROR(DispatchReal(ctx.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const Numbers<T> x(ctx.input(0));
    for (int64_t i = 0; i < x.size(); ++i) {
      const int64_t f = scale.size() == 1 ? 0 : i % view.size;
      y[i] = static_cast<float>((static_cast<C>(x[i]) - C{offset[f]}) * C{scale[f]});
    }
    return absl::OkStatus();
  }));
  return ctx.Return(y.Finish());
}

X2IR_OP(ml_scaler)
    .Signature("x -> y")
    .Attrs("offset: floats?, scale: floats?")
    .Functions(InferScaler, EvalScaler)
    .With(ClassicOp)
    .Doc("(x - offset) * scale, each given once or for each feature, as float32.");

// --- binarizer ------------------------------------------------------------------------------

absl::Status InferBinarizer(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectReal(ctx.dtype(0)));
  return ctx.Return(ctx.type(0));
}

absl::Status EvalBinarizer(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectReal(ctx.dtype(0)));
  const double threshold = ctx.attrs().Float("threshold");
  return DispatchReal(ctx.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> x(ctx.input(0));
    NumbersOut<T> y(ctx.dtype(0), ctx.dims(0));
    // A long double holds every integer exactly.
    using C = std::conditional_t<std::is_integral_v<T>, long double, double>;
    for (int64_t i = 0; i < x.size(); ++i) y[i] = C(x[i]) > C(threshold) ? 1 : 0;
    return ctx.Return(y.Finish());
  });
}

X2IR_OP(binarizer)
    .Signature("x -> y")
    .Attrs("threshold = 0.0")
    .Functions(InferBinarizer, EvalBinarizer)
    .With(ClassicOp)
    .Doc("1 where x > threshold, else 0, in x's type.");

// --- imputer --------------------------------------------------------------------------------

absl::Status CheckImputer(const AttributeMap& attrs, DType dtype) {
  X2IR_RETURN_IF_ERROR(ExpectReal(dtype));
  const bool floats = !ListAttr<float>(attrs, "imputed_value_floats").empty();
  const bool ints = !ListAttr<int64_t>(attrs, "imputed_value_int64s").empty();
  if (floats && ints)
    return Invalid("both imputed_value_floats and imputed_value_int64s are given");
  if (dtype == DType::kUndefined || (!floats && !ints)) return absl::OkStatus();
  if (floats == IsFloating(dtype)) return absl::OkStatus();
  return Invalid(floats ? "imputed_value_floats" : "imputed_value_int64s", " for ", Name(dtype));
}

absl::Status InferImputer(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckImputer(ctx.attrs(), ctx.dtype(0)));
  const Shape* x = ctx.shape(0);
  if (x && x->rank() == 0) return Invalid("expected rank 1 or more, got 0");
  return ctx.Return(ctx.type(0));
}

template <typename T, typename V>
absl::Status Impute(EvalContext& ctx, const std::vector<V>& imputed, V replaced) {
  const Tensor& input = ctx.input(0);
  X2IR_ASSIGN_OR_RETURN(const AxisView view, FeaturesOf(input));
  if (imputed.empty()) return Invalid("no imputed values of x's type are given");
  X2IR_RETURN_IF_ERROR(CheckPerFeature("imputed values", imputed.size(), input, view));
  if constexpr (std::is_integral_v<V>) {
    for (const V v : imputed) {
      const Tensor stored = FromNumbers<int64_t>(input.dtype(), {}, std::vector<int64_t>{v});
      if (stored.AsInt(0) != v) return Invalid(v, " is out of the range of ", Name(input.dtype()));
    }
  }
  const Numbers<T> x(input);
  NumbersOut<T> y(input.dtype(), input.dims());
  for (int64_t i = 0; i < x.size(); ++i) {
    bool missing = x[i] == static_cast<T>(replaced);
    if constexpr (std::is_floating_point_v<V>) {
      missing = missing || (std::isnan(x[i]) && std::isnan(replaced));
    }
    y[i] = !missing ? x[i] : static_cast<T>(imputed[imputed.size() == 1 ? 0 : i % view.size]);
  }
  return ctx.Return(y.Finish());
}

absl::Status EvalImputer(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckImputer(ctx.attrs(), ctx.dtype(0)));
  return DispatchReal(ctx.dtype(0), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      return Impute<T, float>(ctx, ListAttr<float>(ctx.attrs(), "imputed_value_floats"),
                              static_cast<float>(ctx.attrs().Float("replaced_value_float")));
    } else {
      return Impute<T, int64_t>(ctx, ListAttr<int64_t>(ctx.attrs(), "imputed_value_int64s"),
                                ctx.attrs().Int("replaced_value_int64"));
    }
  });
}

X2IR_OP(imputer)
    .Signature("x -> y")
    .Attrs(
        "imputed_value_floats: floats?, imputed_value_int64s: ints?, replaced_value_float = 0.0, "
        "replaced_value_int64 = 0")
    .Functions(InferImputer, EvalImputer)
    .With(ClassicOp)
    .Doc(
        "x with the replaced value (NaN too) changed into the imputed one, which is given once or "
        "for each feature, as floats or as integers, like x.");

// --- one_hot_encoder ------------------------------------------------------------------------

absl::StatusOr<ClassLabels> CategoriesOf(const AttributeMap& attrs, DType dtype) {
  X2IR_ASSIGN_OR_RETURN(ClassLabels cats, ClassLabels::Of(attrs, "cats_strings", "cats_int64s"));
  if (dtype == DType::kUndefined || cats.size() == 0) return cats;
  if (cats.are_strings() != (dtype == DType::kString)) {
    return Invalid("categories are of type ", Name(cats.dtype()), ", the operand of ", Name(dtype));
  }
  return cats;
}

absl::Status InferOneHotEncoder(InferContext& ctx) {
  if (ctx.dtype(0) != DType::kString) X2IR_RETURN_IF_ERROR(ExpectReal(ctx.dtype(0)));
  X2IR_ASSIGN_OR_RETURN(const ClassLabels cats, CategoriesOf(ctx.attrs(), ctx.dtype(0)));
  ctx.Set(0, DType::kFloat32);
  if (!ctx.shape(0)) return absl::OkStatus();
  Shape y = *ctx.shape(0);
  y.Append(cats.size() == 0 ? Dim() : Dim(cats.size()));
  return ctx.Return(DType::kFloat32, std::move(y));
}

absl::Status EvalOneHotEncoder(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  if (!x.is_string()) X2IR_RETURN_IF_ERROR(ExpectReal(x.dtype()));
  X2IR_ASSIGN_OR_RETURN(const ClassLabels cats, CategoriesOf(ctx.attrs(), x.dtype()));
  if (cats.size() == 0) return Invalid("expected categories, got none");
  std::vector<int64_t> dims = x.dims();
  dims.push_back(cats.size());
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat32, dims));
  NumbersOut<float> y(DType::kFloat32, dims);
  const bool zeros = ctx.attrs().Int("zeros") != 0;
  auto encode = [&](const auto& categories, auto value_at) -> absl::Status {
    using Key = typename std::decay_t<decltype(categories)>::value_type;
    absl::flat_hash_map<Key, int64_t> columns;  // of a category given twice, the last
    for (size_t c = 0; c < categories.size(); ++c) columns[categories[c]] = c;
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      if (auto it = columns.find(value_at(i)); it != columns.end()) {
        y[i * cats.size() + it->second] = 1;
      } else if (!zeros) {
        return Invalid("element ", i, " is of no category, and zeros = 0");
      }
    }
    return absl::OkStatus();
  };
  absl::Status status;
  if (x.is_string()) {
    status = encode(cats.strings(), [&](int64_t i) { return x.strings()[i]; });
  } else {
    status = DispatchReal(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const Numbers<T> numbers(x);
      return encode(cats.ints(), [&](int64_t i) {
        if constexpr (std::is_floating_point_v<T>) {
          return TruncateToInt64(numbers[i]);
        } else {
          return static_cast<int64_t>(numbers[i]);
        }
      });
    });
  }
  X2IR_RETURN_IF_ERROR(status);
  return ctx.Return(y.Finish());
}

X2IR_OP(one_hot_encoder)
    .Signature("x -> y")
    .Attrs("cats_int64s: ints?, cats_strings: strings?, zeros = 1")
    .Functions(InferOneHotEncoder, EvalOneHotEncoder)
    .With(ClassicOp)
    .Doc(
        "For each element a vector that is 1 at its category and 0 elsewhere. An element of no "
        "category gives zeros, or an error if zeros = 0. Floats are truncated first.");

// --- array_feature_extractor ----------------------------------------------------------------

absl::Status InferExtractor(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(ExpectInteger(ctx, 1, "y"));
  ctx.Set(0, ctx.dtype(0));
  const Shape *x = ctx.shape(0), *y = ctx.shape(1);
  if (!x) return absl::OkStatus();
  if (x->rank() == 0) return Invalid("expected rank 1 or more, got 0");
  const Dim count = y ? y->NumElements() : Dim();
  Shape z = *x;
  if (x->rank() == 1) {
    z = Shape{1, count};
  } else {
    z[x->rank() - 1] = count;
  }
  return ctx.Return(ctx.dtype(0), std::move(z));
}

absl::Status EvalExtractor(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  if (x.rank() == 0) return Invalid("expected rank 1 or more, got 0");
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> columns, ctx.input(1).ToInts());
  if (columns.empty()) return Invalid("expected at least one index");
  const int64_t size = x.dims().back(), count = static_cast<int64_t>(columns.size());
  for (const int64_t c : columns) {
    if (c < 0 || c >= size) return Invalid("index ", c, " is not in [0, ", size, ")");
  }
  std::vector<int64_t> dims = x.dims();
  dims.back() = count;
  if (x.rank() == 1) dims.insert(dims.begin(), 1);
  X2IR_RETURN_IF_ERROR(CheckAllocation(x.dtype(), dims));
  const Cells in(x);
  CellsOut out(x.dtype(), dims);
  DispatchCell(in.size(), [&](auto cell) {
    using C = decltype(cell);
    for (int64_t row = 0; row < out.num_elements() / count; ++row) {
      for (int64_t i = 0; i < count; ++i) {
        out.as<C>()[row * count + i] = in.as<C>()[row * size + columns[i]];
      }
    }
  });
  return ctx.Return(out.Finish());
}

X2IR_OP(array_feature_extractor)
    .Signature("x, y -> z")
    .Functions(InferExtractor, EvalExtractor)
    .With(ClassicOp)
    .Doc("The elements of x's last axis at the indices y. A vector x is one row.");

// --- feature_vectorizer ---------------------------------------------------------------------

absl::StatusOr<int64_t> WidthOf(const AttributeMap& attrs, size_t operands) {
  int64_t width = 0;
  const auto& sizes = ListAttr<int64_t>(attrs, "inputdimensions");
  for (const int64_t size : sizes) {
    if (size < 0 || size > (int64_t{1} << 40)) return Invalid("inputdimensions: ", size);
    width += size;
  }
  if (sizes.size() == operands) return width;
  return Invalid(sizes.size(), " inputdimensions for ", operands, " operands");
}

absl::Status InferVectorizer(InferContext& ctx) {
  Dim rows, width;
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    X2IR_RETURN_IF_ERROR(ExpectReal(ctx.dtype(i)));
    const Shape* x = ctx.shape(i);
    if (!x) continue;
    if (x->rank() == 0) return Invalid("expected rank 1 or more, got 0");
    X2IR_ASSIGN_OR_RETURN(rows, SameDim(rows, x->rank() == 1 ? Dim(1) : (*x)[0]));
  }
  if (ctx.attrs().Has("inputdimensions")) {
    X2IR_ASSIGN_OR_RETURN(width, WidthOf(ctx.attrs(), ctx.num_inputs()));
  }
  return ctx.Return(DType::kFloat32, Shape{rows, width});
}

absl::Status EvalVectorizer(EvalContext& ctx) {
  X2IR_ASSIGN_OR_RETURN(const int64_t width, WidthOf(ctx.attrs(), ctx.num_inputs()));
  const auto& sizes = ListAttr<int64_t>(ctx.attrs(), "inputdimensions");
  std::vector<AxisView> views;
  for (size_t i = 0; i < ctx.num_inputs(); ++i) {
    const Tensor& x = ctx.input(i);
    X2IR_RETURN_IF_ERROR(ExpectReal(x.dtype()));
    if (x.rank() == 0) return Invalid("expected rank 1 or more, got 0");
    AxisView view = ViewAt(x.dims(), FeatureAxis(x.rank()));
    views.push_back({view.outer, view.size * view.inner, 1});
    if (views[i].outer != views[0].outer) {
      return Invalid("operand ", i, " has ", views[i].outer, " rows, the first ", views[0].outer);
    }
  }
  const int64_t rows = views[0].outer;
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat32, {rows, width}));
  NumbersOut<float> y(DType::kFloat32, {rows, width});
  int64_t offset = 0;
  for (size_t i = 0; i < views.size(); ++i) {
    const Numbers<float> x(ctx.input(i));
    const int64_t kept = std::min(sizes[i], views[i].size);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t f = 0; f < kept; ++f) y[row * width + offset + f] = x[row * views[i].size + f];
    }
    offset += sizes[i];
  }
  return ctx.Return(y.Finish());
}

X2IR_OP(feature_vectorizer)
    .Signature("x+ -> y")
    .Attrs("inputdimensions: ints?")
    .Functions(InferVectorizer, EvalVectorizer)
    .With(ClassicOp)
    .Doc(
        "The features of all operands side by side, as float32. Of operand i there are "
        "inputdimensions[i]: more are dropped, missing ones are 0.");

}  // namespace
}  // namespace x2ir
