// Verify: runs a model by our own evaluation and compares its outputs with expected ones, or
// with those of another model. The comparison of tensors serves everybody who checks results.
#ifndef X2IR_CORE_VERIFY_H_
#define X2IR_CORE_VERIFY_H_

#include <cstdint>
#include <string>
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
  double max_abs = 0;          // infinite where one side is NaN or infinite alone
  double max_rel = 0;          // over elements whose expected value is not 0
  std::vector<int64_t> first;  // index of the first element that differs
};

// Element types and shapes must be the same too.
Comparison Compare(const Tensor& got, const Tensor& expected, const Tolerance& tolerance = {});
// Sequences and maps agree when their elements do.
Comparison Compare(const Datum& got, const Datum& expected, const Tolerance& tolerance = {});

struct OutputVerdict {
  std::string case_name;  // may be empty
  std::string output;     // its name in the model
  std::string type;       // of what the model gave
  Comparison comparison;
};

struct Verification {
  Tolerance tolerance;
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
};

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

// Inputs from a seed, the same on every machine: floats in [-1, 1), integers in [0, 3), so that
// they may be indices. Sizes that the model leaves open are small, and larger by `more` each;
// `note` says what was chosen.
absl::StatusOr<IoCase> RandomCase(const Graph& graph, uint64_t seed, std::string* note,
                                  int64_t more = 0);
// Whether an input has a size that the model leaves open.
bool HasOpenSizes(const Graph& graph);

}  // namespace x2ir

#endif  // X2IR_CORE_VERIFY_H_
