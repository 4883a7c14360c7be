// Comparison of tensors, and verification of whole models.
#include "x2ir/inspect/verify.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "x2ir/core/usual_inputs.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/inspect/match.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string NumberText(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.7g", v);
  return text;
}

std::string DecibelText(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.1f dB", v);
  return text;
}

std::string IndexText(absl::Span<const int64_t> index) {
  std::string text = "[";
  for (size_t i = 0; i < index.size(); ++i) StrAppend(&text, i ? "," : "", index[i]);
  return text + "]";
}

std::vector<int64_t> IndexOf(int64_t flat, const std::vector<int64_t>& dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    index[d] = flat % dims[d];
    flat /= dims[d];
  }
  return index;
}

std::string ElementText(const Tensor& t, int64_t i) {
  switch (ComputeTypeOf(t.dtype())) {
    case ComputeType::kNone: {
      std::string quoted;
      if (t.is_string()) AppendJsonString(&quoted, t.strings()[i]);
      return quoted;
    }
    case ComputeType::kInt: return StrCat(t.AsInt(i));
    case ComputeType::kUInt: return StrCat(static_cast<uint64_t>(t.AsInt(i)));
    case ComputeType::kComplexFloat:
    case ComputeType::kComplexDouble: {
      const std::complex<double> v = Numbers<std::complex<double>>(t)[i];
      return StrCat("(", NumberText(v.real()), ", ", NumberText(v.imag()), ")");
    }
    default: return NumberText(t.AsDouble(i));
  }
}

// Adds up the differences of one pair of tensors.
class Differences {
 public:
  explicit Differences(const Tolerance& tolerance) : tolerance_(tolerance) {}

  // One number of element i; a complex element is two.
  void AddFloat(int64_t i, double got, double expected) {
    const bool finite = std::isfinite(got) && std::isfinite(expected);
    if (finite) AddProducts(got, expected);
    if (got == expected || (std::isnan(got) && std::isnan(expected))) return;
    broken_ = broken_ || !finite;
    const double difference = std::fabs(got - expected);
    Add(i, finite ? difference : kInfinity, std::fabs(expected),
        !finite || difference > tolerance_.atol + tolerance_.rtol * std::fabs(expected));
  }
  template <typename T, typename U>
  void AddExact(int64_t i, T got, U expected) {
    AddProducts(static_cast<double>(got), static_cast<double>(expected));
    if (std::cmp_equal(got, expected)) return;
    Add(i, std::fabs(static_cast<double>(got) - static_cast<double>(expected)),
        std::fabs(static_cast<double>(expected)), true);
  }
  void AddOther(int64_t i) { Add(i, 0, 0, true); }

  Comparison Finish(const Tensor& got, const Tensor& expected) {
    Comparison c;
    c.elements = expected.num_elements();
    c.differing = differing_;
    c.max_abs = max_abs_;
    c.max_rel = max_rel_;
    if (broken_) {
      c.cosine = c.snr = std::numeric_limits<double>::quiet_NaN();
    } else if (squares_of_difference_ > 0) {
      const double lengths = std::sqrt(squares_of_got_) * std::sqrt(squares_of_expected_);
      c.cosine = lengths > 0 ? std::clamp(product_ / lengths, -1.0, 1.0) : 0;
      c.snr = 10 * portable::log10(squares_of_expected_ / squares_of_difference_);
    }
    c.agrees = differing_ == 0;
    if (c.agrees) return c;
    c.first = IndexOf(first_, expected.dims());
    c.problem = StrCat(differing_, " of ", c.elements, " elements differ, the first at ",
                       IndexText(c.first), ": expected ", ElementText(expected, first_), ", got ",
                       ElementText(got, first_));
    return c;
  }

 private:
  void AddProducts(double got, double expected) {
    const double difference = got - expected;
    product_ += got * expected;
    squares_of_got_ += got * got;
    squares_of_expected_ += expected * expected;
    squares_of_difference_ += difference * difference;
  }
  void Add(int64_t i, double difference, double expected, bool differs) {
    max_abs_ = std::max(max_abs_, difference);
    if (expected > 0) max_rel_ = std::max(max_rel_, difference / expected);
    if (!differs || last_ == i) return;
    last_ = i;
    if (differing_++ == 0) first_ = i;
  }

  const Tolerance& tolerance_;
  int64_t differing_ = 0;
  int64_t first_ = 0;
  int64_t last_ = -1;
  double max_abs_ = 0;
  double max_rel_ = 0;
  bool broken_ = false;  // NaN or infinite on one side alone
  double product_ = 0, squares_of_got_ = 0, squares_of_expected_ = 0, squares_of_difference_ = 0;
};

template <typename T, typename U = T>
void AddAll(const Tensor& got, const Tensor& expected, Differences& differences) {
  const Numbers<T> a(got);
  const Numbers<U> b(expected);
  for (int64_t i = 0; i < b.size(); ++i) {
    if constexpr (std::is_integral_v<T>) {
      differences.AddExact(i, a[i], b[i]);
    } else if constexpr (std::is_floating_point_v<T>) {
      differences.AddFloat(i, a[i], b[i]);
    } else {
      differences.AddFloat(i, a[i].real(), b[i].real());
      differences.AddFloat(i, a[i].imag(), b[i].imag());
    }
  }
}

bool IsComplex(ComputeType type) {
  return type == ComputeType::kComplexFloat || type == ComputeType::kComplexDouble;
}

bool AreNumbersAlike(DType a, DType b) {
  const ComputeType x = ComputeTypeOf(a), y = ComputeTypeOf(b);
  return x != ComputeType::kNone && y != ComputeType::kNone && IsComplex(x) == IsComplex(y);
}

// Of different element types, each number exactly as it is.
void AddAllOfTypes(const Tensor& got, const Tensor& expected, Differences& differences) {
  const ComputeType x = ComputeTypeOf(got.dtype()), y = ComputeTypeOf(expected.dtype());
  const auto is_integer = [](ComputeType t) {
    return t == ComputeType::kInt || t == ComputeType::kUInt;
  };
  if (IsComplex(x)) {
    AddAll<std::complex<double>>(got, expected, differences);
  } else if (!is_integer(x) || !is_integer(y)) {
    AddAll<double>(got, expected, differences);
  } else if (x == y) {
    x == ComputeType::kInt ? AddAll<int64_t>(got, expected, differences)
                           : AddAll<uint64_t>(got, expected, differences);
  } else {
    x == ComputeType::kInt ? AddAll<int64_t, uint64_t>(got, expected, differences)
                           : AddAll<uint64_t, int64_t>(got, expected, differences);
  }
}

Comparison Problem(std::string problem) {
  Comparison c;
  c.agrees = false;
  c.problem = std::move(problem);
  return c;
}

std::string_view KindOf(const Datum& datum) {
  if (datum.tensor()) return "a tensor";
  if (datum.sequence()) return "a sequence";
  if (datum.map()) return "a map";
  return "nothing";
}

// Makes `part`, a piece of something, part of the whole's verdict.
void Merge(Comparison& whole, Comparison part, std::string_view where) {
  whole.elements += part.elements;
  whole.differing += part.differing;
  whole.max_abs = std::max(whole.max_abs, part.max_abs);
  whole.max_rel = std::max(whole.max_rel, part.max_rel);
  if (!(part.cosine >= whole.cosine)) whole.cosine = part.cosine;
  if (!(part.snr >= whole.snr)) whole.snr = part.snr;
  if (part.agrees || !whole.agrees) return;
  whole.agrees = false;
  whole.problem = StrCat(where, ": ", part.problem);
  whole.first = std::move(part.first);
}

std::string TypeText(const Datum& datum) {
  const Tensor* tensor = datum.tensor();
  return tensor ? tensor->type().ToString() : std::string(KindOf(datum));
}

}  // namespace

Comparison Compare(const Tensor& got, const Tensor& expected, const Tolerance& tolerance,
                   ElementTypes types) {
  const bool same_type = got.dtype() == expected.dtype();
  const bool fits = same_type || (types == ElementTypes::kAnyNumbers &&
                                  AreNumbersAlike(got.dtype(), expected.dtype()));
  if (!fits || got.dims() != expected.dims()) {
    return Problem(
        StrCat("expected ", expected.type().ToString(), ", got ", got.type().ToString()));
  }
  if (got.is_sparse() || expected.is_sparse()) {
    auto a = got.ToDense();
    auto b = expected.ToDense();
    if (!a.ok() || !b.ok()) {
      return Problem(std::string((a.ok() ? b.status() : a.status()).message()));
    }
    return Compare(*a, *b, tolerance, types);
  }
  Differences differences(tolerance);
  if (!same_type) {
    AddAllOfTypes(got, expected, differences);
    return differences.Finish(got, expected);
  }
  const bool same_bytes =
      !got.is_string() && got.nbytes() == expected.nbytes() &&
      std::equal(got.bytes().begin(), got.bytes().end(), expected.bytes().begin());
  if (same_bytes) return differences.Finish(got, expected);
  switch (ComputeTypeOf(got.dtype())) {
    case ComputeType::kNone:
      if (!got.is_string()) return Problem("the element type is not known");
      for (int64_t i = 0; i < got.num_elements(); ++i) {
        if (got.strings()[i] != expected.strings()[i]) differences.AddOther(i);
      }
      break;
    case ComputeType::kFloat: AddAll<float>(got, expected, differences); break;
    case ComputeType::kDouble: AddAll<double>(got, expected, differences); break;
    case ComputeType::kInt: AddAll<int64_t>(got, expected, differences); break;
    case ComputeType::kUInt: AddAll<uint64_t>(got, expected, differences); break;
    case ComputeType::kComplexFloat: AddAll<std::complex<float>>(got, expected, differences); break;
    case ComputeType::kComplexDouble:
      AddAll<std::complex<double>>(got, expected, differences);
      break;
  }
  return differences.Finish(got, expected);
}

Comparison Compare(const Datum& got, const Datum& expected, const Tolerance& tolerance,
                   ElementTypes types) {
  if (got.tensor() && expected.tensor()) {
    return Compare(*got.tensor(), *expected.tensor(), tolerance, types);
  }
  Comparison whole;
  if (got.sequence() && expected.sequence()) {
    const DatumSequence& a = *got.sequence();
    const DatumSequence& b = *expected.sequence();
    if (a.size() != b.size()) {
      return Problem(StrCat("expected a sequence of ", b.size(), ", got one of ", a.size()));
    }
    for (size_t i = 0; i < b.size(); ++i) {
      Merge(whole, Compare(a[i], b[i], tolerance, types), StrCat("element ", i));
    }
    return whole;
  }
  if (got.map() && expected.map()) {
    const DatumMap& a = *got.map();
    const DatumMap& b = *expected.map();
    if (a.size() != b.size()) {
      return Problem(StrCat("expected a map of ", b.size(), ", got one of ", a.size()));
    }
    for (size_t i = 0; i < b.size(); ++i) {
      Merge(whole, Compare(a[i].first, b[i].first, tolerance, types), StrCat("key ", i));
      Merge(whole, Compare(a[i].second, b[i].second, tolerance, types), StrCat("value ", i));
    }
    return whole;
  }
  if (!got.has_value() && !expected.has_value()) return whole;
  return Problem(StrCat("expected ", KindOf(expected), ", got ", KindOf(got)));
}

// --- Verification ---------------------------------------------------------------------------

bool Verification::agrees() const {
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [](const auto& output) {
    return output.comparison.agrees;
  });
}

std::string Verification::ToText() const {
  std::string text = note.empty() ? "" : StrCat(note, "\n");
  size_t agreeing = 0;
  for (const OutputVerdict& v : outputs) {
    const Comparison& c = v.comparison;
    agreeing += c.agrees;
    StrAppend(&text, c.agrees ? "agrees   " : "DIFFERS  ", v.case_name,
              v.case_name.empty() ? "" : " ", v.output, ": ", v.type);
    if (c.elements != 0) {
      StrAppend(&text, "  max abs ", NumberText(c.max_abs), ", max rel ", NumberText(c.max_rel));
      if (c.max_abs > 0 || criterion) {
        StrAppend(&text, ", cosine ", NumberText(c.cosine), ", SNR ", DecibelText(c.snr));
      }
      if (v.step > 0) {
        const double steps = c.max_abs / v.step;
        StrAppend(&text, ", quantization step ", NumberText(v.step),
                  " (max abs: ", NumberText(steps), steps == 1 ? " step)" : " steps)");
      }
    }
    if (!c.agrees) StrAppend(&text, "\n         ", c.problem);
    text += "\n";
  }
  if (agrees()) {
    StrAppend(&text, outputs.size() == 1 ? "the output agrees" : "all outputs agree");
    if (outputs.size() > 1) StrAppend(&text, " (", outputs.size(), ")");
  } else {
    StrAppend(&text, outputs.size() - agreeing, " of ", outputs.size(), " outputs differ");
  }
  if (criterion) return StrCat(text, ", by ", criterion->ToString(), "\n");
  return StrCat(text, ", rtol ", NumberText(tolerance.rtol), ", atol ", NumberText(tolerance.atol),
                "\n");
}

std::string Verification::ToJson() const {
  auto string = [](std::string_view text) {
    std::string quoted;
    AppendJsonString(&quoted, text);
    return quoted;
  };
  // JSON has no infinity.
  auto number = [&](double v) { return std::isfinite(v) ? NumberText(v) : string(NumberText(v)); };
  std::string json =
      StrCat("{\n  \"agrees\": ", agrees() ? "true" : "false",
             ",\n  \"rtol\": ", number(tolerance.rtol), ",\n  \"atol\": ", number(tolerance.atol),
             criterion ? StrCat(",\n  \"metric\": ", string(criterion->metric->name), ",\n  \"",
                                criterion->metric->more_is_better ? "at_least" : "at_most",
                                "\": ", number(criterion->bound))
                       : "",
             ",\n  \"note\": ", string(note), ",\n  \"outputs\": [");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputVerdict& v = outputs[i];
    const Comparison& c = v.comparison;
    StrAppend(&json, i ? ",\n" : "\n", "    {\"case\": ", string(v.case_name),
              ", \"output\": ", string(v.output), ", \"type\": ", string(v.type),
              ", \"agrees\": ", c.agrees ? "true" : "false", ", \"elements\": ", c.elements,
              ", \"differing\": ", c.differing, ", \"max_abs\": ", number(c.max_abs),
              ", \"max_rel\": ", number(c.max_rel), ", \"cosine\": ", number(c.cosine),
              ", \"snr\": ", number(c.snr), ", \"step\": ", v.step > 0 ? number(v.step) : "null");
    if (!c.agrees) {
      StrAppend(&json, ", \"first\": ", IndexText(c.first), ", \"problem\": ", string(c.problem));
    }
    json += "}";
  }
  return json + "\n  ]\n}\n";
}

OutputVerdict Judge(const Value& output, std::string_view case_name, const Datum& got,
                    const Datum& expected, const VerifyOptions& options, ElementTypes types) {
  if (options.criterion) types = ElementTypes::kAnyNumbers;
  OutputVerdict verdict{std::string(case_name), output.name(), TypeText(got),
                        Compare(got, expected, options.tolerance, types), StepOf(output)};
  Comparison& c = verdict.comparison;
  const bool comparable = c.elements > 0 && std::isfinite(c.max_abs);
  if (!options.criterion || !comparable) return verdict;
  const Criterion& criterion = *options.criterion;
  const double reached = criterion.metric->of(verdict);
  c.agrees =
      criterion.metric->more_is_better ? reached >= criterion.bound : reached <= criterion.bound;
  c.problem = c.agrees              ? ""
              : std::isnan(reached) ? StrCat("it has no ", criterion.metric->name,
                                             ": it is not quantized by a constant scale")
                                    : StrCat(criterion.metric->name, " is ", NumberText(reached),
                                             ", expected ", criterion.ToString(), "; ", c.problem);
  return verdict;
}

absl::StatusOr<Verification> VerifyOutputs(const Model& ir, absl::Span<const IoCase> cases,
                                           const VerifyOptions& options) {
  Verification result;
  result.tolerance = options.tolerance;
  result.criterion = options.criterion;
  for (const IoCase& io : cases) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> got, RunCase(*ir.graph, io, options.progress));
    for (size_t i = 0; i < got.size(); ++i) {
      const Value& output = *ir.graph->outputs()[i];
      if (i < io.outputs.size() && io.outputs[i].has_value()) {
        result.outputs.push_back(Judge(output, io.name, got[i], Datum(*io.outputs[i]), options));
      } else if (!IsModelState(output.name())) {
        result.outputs.push_back({io.name, output.name(), TypeText(got[i]),
                                  Problem("there is no expected value for it"), 0});
      }
    }
  }
  return result;
}

absl::StatusOr<Verification> VerifyModels(const Model& ir, const Model& other,
                                          absl::Span<const IoCase> cases,
                                          const VerifyOptions& options) {
  Verification result;
  result.tolerance = options.tolerance;
  result.criterion = options.criterion;
  X2IR_ASSIGN_OR_RETURN(const InterfaceMatch ports, MatchInterfaces(*ir.graph, *other.graph));
  for (const IoCase& io : cases) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> expected,
                          RunCase(*ir.graph, io, options.progress));
    auto got = RunCase(*other.graph, CaseOf(io, ports, *ir.graph, *other.graph), options.progress);
    if (!got.ok()) return Annotate(got.status(), "the other model");
    for (size_t i = 0; i < got->size(); ++i) {
      const auto of =
          std::find(ir.graph->outputs().begin(), ir.graph->outputs().end(), ports.outputs[i].first);
      result.outputs.push_back(Judge(*other.graph->outputs()[i], io.name, (*got)[i],
                                     expected[of - ir.graph->outputs().begin()], options));
    }
  }
  return result;
}

// --- Random inputs --------------------------------------------------------------------------

namespace {

// SplitMix64: small, and the same everywhere (the standard library's distributions are not).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }  // [0, 1)

 private:
  uint64_t state_;
};

constexpr int64_t kMaxRandomBytes = int64_t{1} << 30;

// Sizes for the dims that a graph's inputs leave open.
class Sizes {
 public:
  explicit Sizes(int64_t more) : more_(more) {}
  int64_t Of(const Dim& dim, bool spatial) {
    if (dim.is_static()) return dim.value();
    // An image must survive a few strides of two; anything else may be tiny.
    const int64_t image = 32 * (1 + more_);
    const int64_t fresh = spatial ? image : 2 + static_cast<int64_t>(named_.size()) % 4 + more_;
    if (dim.is_unknown()) return spatial ? image : 2 + more_;
    const std::vector<std::string> names = dim.SymbolNames();
    for (const std::string& name : names) named_.try_emplace(name, fresh);
    const Dim known = dim.Substitute([&](std::string_view name) -> std::optional<Dim> {
      const auto it = named_.find(name);
      return it == named_.end() ? std::nullopt : std::optional<Dim>(it->second);
    });
    return known.is_static() ? known.value() : -1;
  }
  std::string ToString() const {
    std::string text;
    for (const auto& [name, size] : named_) {
      StrAppend(&text, text.empty() ? "" : ", ", name, " = ", size);
    }
    return text;
  }

 private:
  const int64_t more_;
  std::map<std::string, int64_t, std::less<>> named_;
};

absl::StatusOr<Tensor> RandomTensor(DType dtype, std::vector<int64_t> dims, Random& random) {
  X2IR_RETURN_IF_ERROR(CheckAllocation(dtype, dims));
  const std::optional<int64_t> count = CheckedProduct(dims);
  if (!count || *count > kMaxRandomBytes / 8) return Invalid("is too large for random values");
  const int64_t n = *count;
  switch (ComputeTypeOf(dtype)) {
    case ComputeType::kNone: {
      std::vector<std::string> values(n);
      for (std::string& value : values) value = StrCat("s", random.Next() % 3);
      return Tensor::Strings(std::move(dims), std::move(values));
    }
    case ComputeType::kFloat:
    case ComputeType::kDouble: {
      std::vector<double> values(n);
      for (double& value : values) value = 2 * random.Unit() - 1;
      return FromNumbers(dtype, std::move(dims), values);
    }
    case ComputeType::kInt:
    case ComputeType::kUInt: {
      const uint64_t bound = dtype == DType::kBool || dtype == DType::kInt2 ? 2 : 3;
      std::vector<int64_t> values(n);
      for (int64_t& value : values) value = static_cast<int64_t>(random.Next() % bound);
      return FromNumbers(dtype, std::move(dims), values);
    }
    default: {
      std::vector<std::complex<double>> values(n);
      for (auto& value : values) value = {2 * random.Unit() - 1, 2 * random.Unit() - 1};
      return FromNumbers(dtype, std::move(dims), values);
    }
  }
}

}  // namespace

bool HasOpenSizes(const Graph& graph) {
  for (const Value* input : graph.inputs()) {
    const Shape* shape = input->shape();
    if (shape &&
        std::any_of(shape->begin(), shape->end(), [](const Dim& d) { return !d.is_static(); })) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<IoCase> RandomCase(const Graph& graph, uint64_t seed, std::string* note,
                                  int64_t more) {
  IoCase io;
  Random random(seed);
  Sizes sizes(more);
  std::string shapes;
  for (const Value* input : graph.inputs()) {
    io.inputs.emplace_back();
    if (input->constant()) continue;
    const bool optional = input->type().kind() == Type::kOptional;
    const Type& type = optional ? input->type().element() : input->type();
    if (!type.is_tensor() || type.dtype() == DType::kUndefined || !type.shape()) {
      return Invalid("input '", input->name(), "' (", type.ToString(),
                     "): no random values can be made; expected a tensor of known rank; ",
                     OptionText("shapes"), " ", input->name(), ":1,3,... gives it a shape");
    }
    std::vector<int64_t> dims;
    for (int64_t d = 0; d < type.shape()->rank(); ++d) {
      const bool spatial = type.shape()->rank() >= 4 && d > 0 && IsFloating(type.dtype());
      dims.push_back(sizes.Of((*type.shape())[d], spatial));
      if (dims.back() < 0) {
        return Invalid("input '", input->name(), "' (", type.ToString(),
                       "): no size can be found for ", (*type.shape())[d].ToString());
      }
    }
    StrAppend(&shapes, shapes.empty() ? "" : ", ", input->name(), ": ", Name(type.dtype()), "[",
              Shape::FromInts(dims).ToString(), "]");
    auto tensor = RandomTensor(type.dtype(), std::move(dims), random);
    if (!tensor.ok()) {
      return Annotate(tensor.status(), StrCat("input '", input->name(), "'"));
    }
    io.inputs.back() = *std::move(tensor);
  }
  io.outputs.resize(graph.outputs().size());
  if (note) {
    const std::string chosen = sizes.ToString();
    *note = StrCat("random inputs: ", shapes, chosen.empty() ? "" : "; with ", chosen);
  }
  return io;
}

absl::StatusOr<Verification> VerifyOnRandomInputs(const Model& ir, const Model& other,
                                                  const VerifyOptions& options) {
  return VerifyOnRandomInputs(
      ir, [&](absl::Span<const IoCase> cases) { return VerifyModels(ir, other, cases, options); });
}

absl::StatusOr<Verification> VerifyOnRandomInputs(const Model& ir, const VerifyCasesFn& verify) {
  std::string note;
  X2IR_ASSIGN_OR_RETURN(IoCase random, RandomCase(*ir.graph, 0, &note));
  std::vector<IoCase> cases = {std::move(random)};
  // What holds at one size need not hold at another.
  if (HasOpenSizes(*ir.graph)) {
    std::string larger;
    if (auto second = RandomCase(*ir.graph, 1, &larger, 1); second.ok()) {
      StrAppend(&note, "\n", larger);
      cases[0].name = "case0";
      second->name = "case1";
      cases.push_back(*std::move(second));
    }
  }
  absl::StatusOr<Verification> result = verify(cases);
  if (!result.ok() && cases.size() == 2) {
    // A model may run with some sizes only, even if the types of its inputs allow more.
    const absl::Status runs = RunCase(*ir.graph, cases[1]).status();
    if (!runs.ok()) {
      StrAppend(&note, ": it does not run with these sizes: ", std::string(runs.message()));
      cases.pop_back();
      result = verify(cases);
    }
  }
  if (result.ok()) {
    result->note = result->note.empty() ? note : StrCat(result->note, "\n", note);
  }
  return result;
}

}  // namespace x2ir
