// Verify: runs a model with x2ir's own evaluation and compares its outputs with expected ones, or
// with those of another model. The comparison of tensors is used by all code that checks results.
#ifndef X2IR_INSPECT_VERIFY_H_
#define X2IR_INSPECT_VERIFY_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/ops/eval.h"

namespace X2IR_API x2ir {

// Floats agree when |got - expected| <= atol + rtol * |expected|; NaN agrees with NaN, an
// infinity with itself. Integers, bools and strings must be equal.
struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-4;
};

struct Comparison {
  bool agrees = true;
  std::string problem;  // in words; empty when they agree
  int64_t elements = 0;
  int64_t differing = 0;
  double max_abs = 0;  // infinite where one side is NaN or infinite alone
  double max_rel = 0;  // over elements whose expected value is not 0
  // The cosine of the two as vectors; NaN where one side is NaN or infinite alone. `snr` is the
  // ratio of what is expected to the difference, in decibels: infinite where there is no
  // difference.
  double cosine = 1;
  double snr = std::numeric_limits<double>::infinity();
  std::vector<int64_t> first;  // index of the first element that differs
};

// Whether element types must be the same, or values of different types are compared as numbers (1
// is 1 as float16, int8 or bool; complex numbers are no real ones).
enum class ElementTypes : uint8_t { kSame, kAnyNumbers };

// Shapes must be the same too.
Comparison Compare(const Tensor& got, const Tensor& expected, const Tolerance& tolerance = {},
                   ElementTypes types = ElementTypes::kSame);
// Sequences and maps agree when their elements do.
Comparison Compare(const Datum& got, const Datum& expected, const Tolerance& tolerance = {},
                   ElementTypes types = ElementTypes::kSame);

struct OutputVerdict {
  std::string case_name;  // may be empty
  std::string output;     // its name in the model
  std::string type;       // of what the model gave
  Comparison comparison;
  // The distance of two neighbouring numbers that a quantized output can have (StepOf); 0: the
  // output is not quantized.
  double step = 0;
};

// A metric: one number for the distance of an output from the expected one.
struct Metric {
  std::string_view name;  // "cosine"
  std::string_view doc;
  bool more_is_better;
  double (*of)(const OutputVerdict& verdict);
};
absl::Span<const Metric> Metrics();
const Metric* FindMetric(std::string_view name);  // null: there is none

// Decides in place of the tolerance whether an output agrees: the metric is at least the bound
// where more is better, else at most. Numbers of different element types are compared as numbers;
// shapes must be the same, and NaN and infinities must be at the expected positions.
struct Criterion {
  const Metric* metric;
  double bound;
  std::string ToString() const;  // "cosine at least 0.999"
};

// The quantization step of a value of an IR graph: the scale (the largest of several) of the
// dequantize_linear that computes it, 1 after a quantize_linear, since these are integers. Nodes
// between that only move elements, or change their type, are passed. 0: it is not quantized, or the
// scale is not constant.
double StepOf(const Value& value);

struct Verification {
  Tolerance tolerance;
  std::optional<Criterion> criterion;
  std::string note;  // what random inputs were used; else empty
  std::vector<OutputVerdict> outputs;

  // Whether there are outputs and all agree.
  bool agrees() const;
  // A line an output, and a sum.
  std::string ToText() const;
  std::string ToJson() const;
};

struct VerifyOptions {
  Tolerance tolerance;
  ProgressFn progress;
  std::optional<Criterion> criterion = std::nullopt;  // null: the tolerance decides
};

// What `got`, an output of the value `output`, is beside `expected`, as the options say.
OutputVerdict Judge(const Value& output, std::string_view case_name, const Datum& got,
                    const Datum& expected, const VerifyOptions& options,
                    ElementTypes types = ElementTypes::kSame);

// Runs an IR model on every case and compares with the outputs of the case. One that the case
// does not hold does not agree.
absl::StatusOr<Verification> VerifyOutputs(const Model& ir, absl::Span<const IoCase> cases,
                                           const VerifyOptions& options = {});

// Runs two IR models on the inputs of every case (of `ir`), and compares what `other` gives
// with what `ir` gives. Inputs and outputs are matched by name where the names are the same,
// else by position. InvalidArgument when they do not match.
absl::StatusOr<Verification> VerifyModels(const Model& ir, const Model& other,
                                          absl::Span<const IoCase> cases,
                                          const VerifyOptions& options = {});

// The same on random inputs, and on larger ones where the model leaves sizes open. `note` says what
// they were. An error that says to give inputs where none can be made up.
absl::StatusOr<Verification> VerifyOnRandomInputs(const Model& ir, const Model& other,
                                                  const VerifyOptions& options = {});
// The same where `verify` says what is compared with what.
using VerifyCasesFn = std::function<absl::StatusOr<Verification>(absl::Span<const IoCase> cases)>;
absl::StatusOr<Verification> VerifyOnRandomInputs(const Model& ir, const VerifyCasesFn& verify);

// Inputs from a seed, the same on every machine: floats in [-1, 1), integers in [0, 3), so that
// they may be indices. Sizes that the model leaves open are small, and larger by `more` each;
// `note` says what was chosen.
absl::StatusOr<IoCase> RandomCase(const Graph& graph, uint64_t seed, std::string* note,
                                  int64_t more = 0);
// Whether an input has a size that the model leaves open.
bool HasOpenSizes(const Graph& graph);

}  // namespace x2ir

#endif  // X2IR_INSPECT_VERIFY_H_
