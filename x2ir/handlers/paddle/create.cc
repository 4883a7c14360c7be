// Tensors out of nothing: filled, counted, drawn, triangular.
#include <cmath>
#include <limits>

#include "x2ir/builder/quantized.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/paddle/paddle.h"

namespace x2ir {
namespace {

std::vector<Size> ShapeArgument(PaddleArgs& a) {
  return a.Sizes("shape", {"ShapeTensorList", "ShapeTensor"});
}

// A tensor of these sizes, all of whose elements are a number (rank 0).
Expr FilledWith(PaddleArgs& a, const std::vector<Size>& sizes, const Expr& number) {
  const Tensor* known = number.value()->constant();
  bool all_known = known != nullptr;
  std::vector<int64_t> dims;
  for (const Size& size : sizes) {
    all_known &= size.number.has_value();
    dims.push_back(size.number.value_or(0));
  }
  // Small ones are constants: sizes and axes are often made so.
  const std::optional<int64_t> count = all_known ? CheckedProduct(dims) : std::nullopt;
  if (count && *count <= 64 && known->dtype() != DType::kBool && !IsComplex(known->dtype())) {
    return NumbersAs(a, known->dtype(), dims,
                     std::vector<double>(static_cast<size_t>(*count), known->AsDouble(0)));
  }
  return sizes.empty() ? number : Expand(number, Vector(a, sizes));
}

Expr Bools(PaddleArgs& a, double number) {
  return {a.b(), a.b().Constant(Tensor::Scalar<bool>(number != 0))};
}

// The number of an operand, or of an attribute; the attribute with a text takes precedence.
Expr FillNumber(PaddleArgs& a, DType type, Symbol name, PaddleArgs::Slots slots) {
  const Attribute* text = a.attrs().Find("str_value");
  const auto* written = text ? text->get<std::string>() : nullptr;
  const bool by_text = written && !written->empty() && !a.HasOperandFor(name, slots);
  const double as_text = by_text ? a.Number("str_value", 0) : 0;
  const double as_number = a.Number(name, 0);
  if (type == DType::kBool && !a.HasOperandFor(name, slots)) {
    return Bools(a, by_text ? as_text : as_number);
  }
  if (by_text) return {a.b(), a.b().Scalar(type, as_text)};
  return a.Scalar(name, slots, 0, type);
}

Expr Fill(PaddleArgs& a) {
  const DType type = a.Dtype("dtype", DType::kFloat32);
  const std::vector<Size> sizes = ShapeArgument(a);
  return FilledWith(a, sizes, FillNumber(a, type, "value", {"ValueTensor"}));
}
Expr FillLike(PaddleArgs& a) {
  const Expr x = a.X();
  const DType type = a.Dtype("dtype", x.dtype());
  return FilledWith(a, AllSizes(x), FillNumber(a, type, "value", {}));
}
Expr FillAny(PaddleArgs& a) {
  const Expr x = a.X();
  a.Ignore("value_float");
  const double number =
      a.HasAttr("value_float") ? a.Number("value_float", 0) : a.Number("value", 0);
  a.Number("value_int", 0);
  return FilledWith(
      a, AllSizes(x),
      a.HasOperandFor("value", {}) ? a.Scalar("value", {}, 0, x.dtype()) : x.Number(number));
}
Expr FillZerosLike(PaddleArgs& a) {
  const Expr x = a.X();
  return FilledWith(a, AllSizes(x), Expr(a.b(), a.b().Scalar(a.Dtype("dtype", x.dtype()), 0)));
}
// One size is that of another tensor.
Expr FillBatchSizeLike(PaddleArgs& a) {
  const Expr like = a.X("Input");
  const DType type = a.Dtype("dtype", DType::kFloat32);
  std::vector<Size> sizes;
  for (const int64_t size : a.Ints("shape")) sizes.emplace_back(size);
  const int64_t from = a.Int("input_dim_idx", 0), to = a.Int("output_dim_idx", 0);
  if (to < 0 || to >= static_cast<int64_t>(sizes.size())) a.Fail(Invalid("there is no axis ", to));
  sizes[static_cast<size_t>(to)] = SizeAt(like, a.Axis(from, like));
  return FilledWith(a, sizes, FillNumber(a, type, "value", {}));
}
Expr Empty(PaddleArgs& a) {
  const DType type = a.Dtype("dtype", DType::kFloat32);
  return FilledWith(a, ShapeArgument(a), Expr(a.b(), a.b().Scalar(type, 0)));
}

// Numbers of the attribute that has any.
Expr AssignValue(PaddleArgs& a) {
  const DType type = a.Dtype("dtype", DType::kFloat32);
  const std::vector<int64_t> shape = a.Ints("shape");
  a.Drop({"X"});
  std::vector<double> numbers;
  std::vector<int64_t> ints;
  for (const char* name : {"values", "bool_values", "fp32_values", "int32_values", "int64_values",
                           "fp64_values", "int8_values"}) {
    const Attribute* attr = a.attrs().Find(name);
    const auto* wide = attr ? attr->get<Attribute::Ints>() : nullptr;
    const std::vector<double> given = a.Numbers(name);
    if (given.empty() || !numbers.empty()) continue;
    numbers = given;
    if (wide) ints = *wide;
  }
  const std::optional<int64_t> count = CheckedProduct(shape);
  if (!count || *count != static_cast<int64_t>(numbers.size())) {
    a.Fail(Invalid(numbers.size(), " values of another shape"));
  }
  if (type == DType::kInt64 && !ints.empty()) {
    return {a.b(), a.b().Constant(Tensor::Of<int64_t>(shape, ints))};
  }
  if (type == DType::kBool) {
    Tensor bools = Tensor::Zeros(DType::kBool, shape);
    for (size_t i = 0; i < numbers.size(); ++i) {
      bools.mutable_bytes()[i] = std::byte{static_cast<uint8_t>(numbers[i] != 0)};
    }
    return {a.b(), a.b().Constant(std::move(bools))};
  }
  return NumbersAs(a, type, shape, numbers);
}

Expr FullIntArray(PaddleArgs& a) {
  const DType type = a.Dtype("dtype", DType::kInt64);
  const std::vector<int64_t> numbers = a.Ints("value");
  return Ints(a, numbers).To(type);
}

// --- Counted -------------------------------------------------------------------------------------

Expr Range(PaddleArgs& a) {
  const Expr end = a.Opt("End");
  const DType type = a.Dtype("dtype", end.value() ? end.dtype() : DType::kInt64);
  const Expr start = a.Scalar("start", {"Start"}, 0, type);
  const Expr limit = a.Scalar("end", {"End"}, 0, type);
  const Expr step = a.Scalar("step", {"Step"}, 1, type);
  return start.Op("range", {limit, step});
}

// Between two numbers, both of them included.
Expr LinSpace(PaddleArgs& a) {
  // The first version had no type of its own.
  const Expr first = a.Opt("Start");
  const DType type = a.Dtype("dtype", first.value() ? first.dtype() : DType::kFloat32);
  const DType inner = type == DType::kFloat64 ? type : DType::kFloat64;
  const Expr start = a.Scalar("start", {"Start"}, 0, inner);
  const Expr stop = a.Scalar("stop", {"Stop"}, 0, inner);
  const int64_t count = a.KnownNumber("num", {"Num"}, 1);
  a.Require(count >= 1 && count <= (1 << 24), "as many numbers");
  if (count == 1) return Reshape(start, std::vector<int64_t>{1}).To(type);
  const Expr step = (stop - start) / static_cast<double>(count - 1);
  const Expr i = Iota(Int(a, count)).To(inner);
  // The second half is counted from the end, so that it is met.
  const Expr up = start + i * step, down = stop - ((static_cast<double>(count - 1) - i) * step);
  return Where(i < static_cast<double>(count / 2), up, down).To(type);
}
Expr LogSpace(PaddleArgs& a) {
  const DType type = a.Dtype("dtype", DType::kFloat32);
  const Expr start = a.Scalar("start", {"Start"}, 0, DType::kFloat64);
  const Expr stop = a.Scalar("stop", {"Stop"}, 0, DType::kFloat64);
  const Expr base = a.Scalar("base", {"Base"}, 10, DType::kFloat64);
  const int64_t count = a.KnownNumber("num", {"Num"}, 1);
  a.Require(count >= 1 && count <= (1 << 24), "as many numbers");
  const Expr i = Iota(Int(a, count)).To(DType::kFloat64);
  const Expr step = count == 1 ? start.Number(0) : (stop - start) / static_cast<double>(count - 1);
  return Pow(base, start + i * step).To(type);
}

Expr Eye(PaddleArgs& a) {
  const DType type = a.Dtype("dtype", DType::kFloat32);
  const int64_t rows = a.KnownNumber("num_rows", {}, 0);
  int64_t columns = a.KnownNumber("num_columns", {}, -1);
  if (columns < 0) columns = rows;
  return Filled(a, type, {Size(rows), Size(columns)}, 0).Op("eye_like", {}, {{"k", 0}});
}

// --- Triangles and diagonals ---------------------------------------------------------------------

Expr Triangle(PaddleArgs& a, bool lower) {
  const int64_t diagonal = a.Int("diagonal", 0);
  return a.X().Op("trilu", {a.b().Int(diagonal)}, {{"upper", lower ? 0 : 1}});
}
Expr TrilTriu(PaddleArgs& a) { return Triangle(a, a.Bool("lower", true)); }

// A matrix with a vector as its diagonal, or the diagonal of a matrix.
Expr Diag(PaddleArgs& a) {
  const Expr x = a.X();
  const int64_t offset = a.Int("offset", 0);
  const double padding = a.Number("padding_value", 0);
  const Expr y = AsTorch(a, "aten::diag.default", {{"self", x}, {"diagonal", offset}}, x.dtype());
  if (padding == 0 || a.Rank(x) != 1) return y;
  const Expr ones = Filled(a, x.dtype(), AllSizes(x), 1);
  const Expr on =
      AsTorch(a, "aten::diag.default", {{"self", ones}, {"diagonal", offset}}, x.dtype());
  return Where(on == 1.0, y, padding);
}
// A matrix of a vector, in programs before 2.0.
Expr DiagOfVector(PaddleArgs& a) {
  const Expr x = a.X("Diagonal");
  return AsTorch(a, "aten::diag.default", {{"self", x}, {"diagonal", int64_t{0}}}, x.dtype());
}
// [2, count]: where the elements of a triangle are, row by row.
Expr TriangleIndices(PaddleArgs& a, bool lower) {
  const DType type = a.Dtype("dtype", DType::kInt64);
  const int64_t rows = a.Int("rows", a.Int("row", 0)), columns = a.Int("cols", a.Int("col", 0)),
                offset = a.Int("offset", 0);
  constexpr int64_t kLimit = 1 << 24;
  a.Require(rows >= 0 && columns >= 0 && rows <= kLimit && columns <= kLimit &&
                rows * columns <= kLimit && std::abs(offset) <= kLimit,
            "as many elements");
  std::vector<int64_t> places[2];
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      if (lower ? j > i + offset : j < i + offset) continue;
      places[0].push_back(i);
      places[1].push_back(j);
    }
  }
  const auto count = static_cast<int64_t>(places[0].size());
  places[0].insert(places[0].end(), places[1].begin(), places[1].end());
  return Expr(a.b(), a.b().Constant(Tensor::Of<int64_t>({2, count}, places[0]))).To(type);
}
// A diagonal gets other values, along two axes of any tensor.
Expr FillDiagonalTensor(PaddleArgs& a) {
  const Expr x = a.X(), y = a.X("Y");
  return AsTorch(a, "aten::diagonal_scatter.default",
                 {{"self", x},
                  {"src", y},
                  {"offset", a.Int("offset", 0)},
                  {"dim1", a.Int("dim1", 0)},
                  {"dim2", a.Int("dim2", 1)}},
                 x.dtype());
}
Expr DiagEmbed(PaddleArgs& a) {
  const Expr x = a.X("Input");
  const int64_t offset = a.Int("offset", 0), first = a.Int("dim1", -2), second = a.Int("dim2", -1);
  return AsTorch(a, "aten::diag_embed.default",
                 {{"self", x}, {"offset", offset}, {"dim1", first}, {"dim2", second}}, x.dtype());
}
Expr Diagonal(PaddleArgs& a) {
  const Expr x = a.X("Input");
  // The first version called the axes dims.
  const int64_t offset = a.Int("offset", 0), first = a.Int("axis1", a.Int("dim1", 0)),
                second = a.Int("axis2", a.Int("dim2", 1));
  return AsTorch(a, "aten::diagonal.default",
                 {{"self", x}, {"offset", offset}, {"dim1", first}, {"dim2", second}}, x.dtype());
}
Expr Trace(PaddleArgs& a) { return Sum(Diagonal(a), -1); }

// --- Drawn ---------------------------------------------------------------------------------------

// Seeds of 0 mean any.
void SetSeed(PaddleArgs& a, AttributeMap* attrs) {
  const int64_t seed = a.Int("seed", 0);
  if (seed != 0) attrs->Set("seed", static_cast<float>(seed));
}

Expr Gaussian(PaddleArgs& a) {
  const DType type = a.Dtype("dtype", DType::kFloat32);
  const Expr shape = Vector(a, ShapeArgument(a));
  AttributeMap attrs = {{"mean", static_cast<float>(a.Number("mean", 0))},
                        {"scale", static_cast<float>(a.Number("std", 1))},
                        {"dtype", std::string(Name(type))}};
  SetSeed(a, &attrs);
  return shape.Op("random_normal", {}, std::move(attrs));
}
Expr Uniform(PaddleArgs& a) {
  const DType type = a.Dtype("dtype", DType::kFloat32);
  const Expr shape = Vector(a, ShapeArgument(a));
  for (const char* diag : {"diag_num", "diag_step", "diag_val"}) a.Ignore(diag);
  const Expr low = a.Scalar("min", {}, -1, DType::kFloat32);
  const Expr high = a.Scalar("max", {}, 1, DType::kFloat32);
  AttributeMap attrs = {{"dtype", std::string(Name(type))}};
  SetSeed(a, &attrs);
  const Tensor *l = low.value()->constant(), *h = high.value()->constant();
  if (l && h) {
    attrs.Set("low", static_cast<float>(l->AsDouble(0)));
    attrs.Set("high", static_cast<float>(h->AsDouble(0)));
    return shape.Op("random_uniform", {}, std::move(attrs));
  }
  return shape.Op("random_uniform", {}, std::move(attrs)) * (high - low).To(type) + low.To(type);
}
Expr RandInt(PaddleArgs& a) {
  const DType type = a.Dtype("dtype", DType::kInt64);
  const Expr shape = Vector(a, ShapeArgument(a));
  const int64_t low = a.Int("low", 0), high = a.Int("high", 0);
  AttributeMap attrs = {{"low", static_cast<float>(low)}, {"high", static_cast<float>(high)}};
  SetSeed(a, &attrs);
  return Floor(shape.Op("random_uniform", {}, std::move(attrs))).To(type);
}
Expr Bernoulli(PaddleArgs& a) { return a.X().Op("bernoulli"); }

// --- Masks ---------------------------------------------------------------------------------------

// Whether a step belongs to its sequence, by the lengths.
Expr SequenceMask(PaddleArgs& a) {
  const Expr x = a.X();
  const DType type = a.Dtype("out_dtype", DType::kInt64);
  Expr most = a.Scalar("maxlen", {"MaxLenTensor"}, -1, DType::kInt64);
  const Expr lengths = x.To(DType::kInt64);
  const Tensor* known = most.value()->constant();
  if (known && known->AsInt(0) < 0) most = Reduce(lengths, "reduce_max", {});
  return (Iota(most) < Unsqueeze(lengths, {-1})).To(type);
}

// x (1 - epsilon) + epsilon / classes, or times a prior.
Expr LabelSmooth(PaddleArgs& a) {
  const Expr x = a.X(), prior = a.Opt("PriorDist");
  const double epsilon = a.Number("epsilon", 0);
  const Expr kept = x * (1 - epsilon);
  if (prior.value()) return kept + prior * epsilon;
  const Dim classes = DimAt(x, a.Rank(x) - 1);
  a.Require(classes.is_static(), "an unknown number of classes");
  return kept + epsilon / static_cast<double>(classes.value());
}

// alpha x + beta times sines and cosines of positions.
Expr AddPositionEncoding(PaddleArgs& a) {
  const Expr x = a.X();
  const double alpha = a.Number("alpha", 1), beta = a.Number("beta", 1);
  const auto sizes = KnownSizes(x, 1, 3);
  a.Require(a.Rank(x) == 3 && sizes.has_value(), "sequences of unknown size");
  const int64_t length = (*sizes)[0], width = (*sizes)[1], half = width / 2;
  a.Require(width % 2 == 0 && half >= 1 && length * width <= (1 << 24), "features of that number");
  std::vector<double> table(static_cast<size_t>(length * width));
  for (int64_t j = 0; j < length; ++j) {
    for (int64_t k = 0; k < half; ++k) {
      const double value =
          half > 1
              ? static_cast<double>(j) /
                    portable::pow(10000.0, static_cast<double>(k) / static_cast<double>(half - 1))
              : static_cast<double>(j) / 10000.0;
      table[static_cast<size_t>(j * width + k)] = portable::sin(value);
      table[static_cast<size_t>(j * width + half + k)] = portable::cos(value);
    }
  }
  return Scaled(x, alpha) + Scaled(NumbersAs(a, x.dtype(), {length, width}, table), beta);
}

Expr FillDiagonal(PaddleArgs& a) {
  const Expr x = a.X();
  const double value = a.Number("value", 0);
  const int64_t offset = a.Int("offset", 0);
  const bool wrap = a.Bool("wrap", false);
  a.Require(offset == 0 || a.Rank(x) == 2, "another diagonal of more axes");
  if (offset != 0) {
    a.Require(!wrap, "another diagonal that wraps");
    const Expr on = (x - x).Op("eye_like", {}, {{"k", offset}});
    return Where(on == 1.0, value, x);
  }
  return AsTorch(a, "aten::fill_diagonal.default",
                 {{"self", x}, {"fill_value", value}, {"wrap", wrap}}, x.dtype());
}

}  // namespace

X2IR_PADDLE(expand)
    .From({"fill_constant"}, Fill)
    .From({{"fill_any_like", FillLike}, {"fill_any", FillAny}})
    .From({"fill_zeros_like", "fill_zeros_like2"}, FillZerosLike)
    .From({{"fill_constant_batch_size_like", FillBatchSizeLike}, {"empty", Empty}})
    .From({"assign_value", "assign_value_"}, AssignValue)
    .From("full_int_array", FullIntArray);
X2IR_PADDLE(range)
    .From({{"range", Range}, {"linspace", LinSpace}, {"logspace", LogSpace}})
    .From("tril_indices", [](PaddleArgs& a) { return TriangleIndices(a, true); })
    .From("triu_indices", [](PaddleArgs& a) { return TriangleIndices(a, false); });
X2IR_PADDLE(eye_like).From("eye", Eye);
X2IR_PADDLE(trilu)
    .From("tril_triu", TrilTriu)
    .From("tril", [](PaddleArgs& a) { return Triangle(a, true); })
    .From("triu", [](PaddleArgs& a) { return Triangle(a, false); });
X2IR_PADDLE(where).From({{"diag_v2", Diag},
                         {"diag_embed", DiagEmbed},
                         {"fill_diagonal", FillDiagonal},
                         {"fill_diagonal_tensor", FillDiagonalTensor},
                         {"diag", DiagOfVector}});
X2IR_PADDLE(gather).From({{"diagonal", Diagonal}, {"trace", Trace}});
X2IR_PADDLE(random_normal).From("gaussian_random", Gaussian);
X2IR_PADDLE(random_uniform).From({{"uniform_random", Uniform}, {"randint", RandInt}});
X2IR_PADDLE(bernoulli).From("bernoulli", Bernoulli);
X2IR_PADDLE(less).From("sequence_mask", SequenceMask);
X2IR_PADDLE(add).From({{"label_smooth", LabelSmooth},
                       {"add_position_encoding", AddPositionEncoding}});

}  // namespace x2ir
