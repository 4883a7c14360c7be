#include "x2ir/inspect/checks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/small_floats.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// A float as its bits and its value.
struct FloatNumber {
  uint64_t bits;
  double value;
};

FloatNumber FloatAt(DType dtype, const std::byte* data, int64_t i) {
  const int width = BitWidth(dtype) / 8;
  const std::byte* at = data + i * width;
  if (dtype == DType::kFloat64) {
    const auto bits = LoadNumber<uint64_t>(at);
    return {bits, std::bit_cast<double>(bits)};
  }
  if (dtype == DType::kFloat32) {
    const auto bits = LoadNumber<uint32_t>(at);
    return {bits, std::bit_cast<float>(bits)};
  }
  if (width == 0) {
    const uint32_t bits = GetPacked(data, i, BitWidth(dtype));
    return {bits, DecodeSmallFloat(dtype, bits)};
  }
  const uint32_t bits = width == 2 ? LoadNumber<uint16_t>(at) : LoadNumber<uint8_t>(at);
  return {bits, DecodeSmallFloat(dtype, bits)};
}

// Steps from one number of the type to the other, over 0.
uint64_t Steps(DType dtype, const FloatNumber& a, const FloatNumber& b) {
  if (std::isnan(a.value) && std::isnan(b.value)) return 0;
  if (std::isnan(a.value) != std::isnan(b.value)) return std::numeric_limits<uint64_t>::max();
  const uint64_t sign = uint64_t{1} << (BitWidth(dtype) - 1);
  const uint64_t size_a = a.bits & (sign - 1), size_b = b.bits & (sign - 1);
  if ((a.bits & sign) == (b.bits & sign))
    return size_a > size_b ? size_a - size_b : size_b - size_a;
  return size_a + size_b;
}

bool Holds(const ResultCheck& check, DType dtype, const FloatNumber& a, const FloatNumber& b) {
  switch (check.kind) {
    case ResultCheck::kEqual:
      return a.value == b.value || (std::isnan(a.value) && std::isnan(b.value));
    case ResultCheck::kNear:
      return a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)) ||
             std::abs(a.value - b.value) <= check.tolerance;
    case ResultCheck::kClose: {
      const uint64_t steps = Steps(dtype, a, b);
      return steps >= check.min_ulps && steps <= check.max_ulps;
    }
  }
  return false;
}

}  // namespace

Comparison RunCheck(const ResultCheck& check, const Tensor& actual, const Tensor& expected) {
  Comparison result;
  if (actual.dtype() != expected.dtype() || actual.dims() != expected.dims()) {
    result.agrees = false;
    result.problem =
        StrCat("it is ", actual.type().ToString(), ", expected is ", expected.type().ToString());
    return result;
  }
  const bool complex = IsComplex(actual.dtype());
  DType dtype = actual.dtype();
  if (complex) dtype = dtype == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
  if (!IsFloating(dtype)) {
    Tolerance exact;
    exact.rtol = exact.atol = 0;
    if (check.kind == ResultCheck::kNear) exact.atol = check.tolerance;
    return Compare(actual, expected, exact);
  }
  const int64_t parts = complex ? 2 : 1;
  result.elements = actual.num_elements();
  std::string first_values;
  for (int64_t i = 0; i < actual.num_elements(); ++i) {
    bool agrees = true;
    for (int64_t part = 0; part < parts; ++part) {
      const FloatNumber a = FloatAt(dtype, actual.bytes().data(), i * parts + part);
      const FloatNumber b = FloatAt(dtype, expected.bytes().data(), i * parts + part);
      const double distance = std::abs(a.value - b.value);
      if (a.value != b.value && !(std::isnan(a.value) && std::isnan(b.value))) {
        result.max_abs = std::isnan(distance) ? std::numeric_limits<double>::infinity()
                                              : std::max(result.max_abs, distance);
        if (b.value != 0 && !std::isnan(distance)) {
          result.max_rel = std::max(result.max_rel, distance / std::abs(b.value));
        }
      }
      if (Holds(check, dtype, a, b)) continue;
      if (first_values.empty()) {
        first_values = StrCat(a.value, " for ", b.value);
        if (check.kind == ResultCheck::kClose) {
          first_values += StrCat(", ", Steps(dtype, a, b), " steps away");
        }
      }
      agrees = false;
    }
    if (agrees) continue;
    result.agrees = false;
    if (result.differing++ == 0) {
      int64_t rest = i;
      result.first.resize(actual.dims().size());
      for (size_t axis = actual.dims().size(); axis-- > 0;) {
        result.first[axis] = rest % actual.dims()[axis];
        rest /= actual.dims()[axis];
      }
    }
  }
  if (!result.agrees) {
    result.problem =
        StrCat(result.differing, " of ", result.elements, " differ, the first is ", first_values);
  }
  return result;
}

absl::StatusOr<Verification> VerifyChecks(const Graph& graph, absl::Span<const ResultCheck> checks,
                                          absl::Span<const Datum> got) {
  Verification result;
  result.note = StrCat("the checks of the program, ", checks.size(), " in all");
  for (const ResultCheck& check : checks) {
    if (check.actual >= got.size() || check.expected >= got.size()) {
      return Invalid("a check is of an output that the model does not have");
    }
    OutputVerdict verdict;
    verdict.output = graph.outputs()[check.actual]->name();
    if (check.line != 0) verdict.case_name = StrCat("line ", check.line);
    const Tensor* actual = got[check.actual].tensor();
    const Tensor* expected = got[check.expected].tensor();
    if (actual == nullptr || expected == nullptr) return Invalid("a check is of no tensor");
    verdict.type = actual->type().ToString();
    verdict.comparison = RunCheck(check, *actual, *expected);
    result.outputs.push_back(std::move(verdict));
  }
  return result;
}

}  // namespace x2ir
