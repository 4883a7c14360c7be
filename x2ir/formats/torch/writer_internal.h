// A program as torch.export's archive holds it: made of a graph, before any of it is written.
#ifndef X2IR_FORMATS_TORCH_WRITER_INTERNAL_H_
#define X2IR_FORMATS_TORCH_WRITER_INTERNAL_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/torch/trees_internal.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::torch_format {

// --- Names (names.cc) -----------------------------------------------------------------------

// Names of Python's variables: those of one graph, each once.
class PythonNames {
 public:
  // Whether it may be a variable's name.
  static bool IsName(std::string_view text);
  // `base` where it is free and may be a variable's name, else like it.
  std::string Unique(std::string_view base);

 private:
  StringMap<int> taken_;  // with the last suffix that was tried
};

// Paths of a module's weights: "encoder.layers.0.weight", no part of which hides another weight or
// a member of every module.
class WeightNames {
 public:
  std::string Unique(std::string_view name);

 private:
  bool IsFree(std::string_view path) const;
  StringSet weights_, modules_;
  StringMap<int> numbers_;  // suffixes of equal names
};

// --- Sizes (symbols_writer.cc) --------------------------------------------------------------

// Gives the symbols of a graph the names that PyTorch has for them: s0 for sizes of inputs, u0 for
// what comes up on the way. Sizes of inputs have an example value ("hint").
class TorchSymbols {
 public:
  explicit TorchSymbols(const Graph& graph);

  // In PyTorch's symbols. Of an input one that is not known is a symbol of its own; elsewhere one
  // that is not known, or is made of symbols that have not come up, is one that comes up here.
  Dim OfInput(const Dim& dim);
  Dim Of(const Dim& dim);
  Dim Fresh();
  std::string FreshFloat();

  // The example value, where all symbols have one. `dim` is in PyTorch's symbols.
  std::optional<int64_t> Hint(const Dim& dim) const;
  // Members of JSON objects: {"as_int": 3}; the program's range_constraints.
  void AppendSize(std::string* json, const Dim& dim) const;
  void AppendRanges(std::string* json) const;
  std::string Expression(const Dim& dim) const;  // as SymPy reads it

 private:
  Dim FreshInput(std::string_view like);
  void RaiseHints(const std::vector<Dim>& dims);
  std::optional<Dim> Renamed(const Dim& dim) const;

  StringMap<Dim> renamed_;        // the graph's symbols
  StringMap<Dim> of_inputs_;      // sizes of inputs that no symbols make
  StringMap<int64_t> hints_;      // of PyTorch's, where they have one
  std::vector<std::string> all_;  // of PyTorch's, in the order of their names' making
  int64_t step_ = 1;
  int inputs_ = 0, fresh_ = 0, floats_ = 0;
};

// --- The program (writer.cc) ----------------------------------------------------------------

struct WrittenWeight {
  enum Kind : uint8_t { kParameter, kBuffer, kConstant };
  Kind kind = kParameter;
  std::string name;  // in the module
  const Tensor* tensor = nullptr;
};

struct WrittenInput {
  DType dtype = DType::kUndefined;  // kUndefined: None
  std::vector<int64_t> sizes;       // an example's
};

struct WrittenProgram {
  std::string json;
  std::vector<WrittenWeight> weights;  // in the order of their kinds
  Tree arguments;
  std::vector<WrittenInput> inputs;  // its leaves
};

// FailedPrecondition for what no program of PyTorch can hold, with the name of the node or value.
absl::StatusOr<WrittenProgram> WriteProgram(const Model& model);

// The members of a TensorMeta but for sizes, strides and the braces around: ', "dtype": 7, ...'.
void AppendTensorMeta(std::string* json, DType dtype, bool requires_grad,
                      const std::function<void()>& sizes, const std::function<void()>& strides);

// --- Pickles (sample_inputs.cc) -------------------------------------------------------------

// What torch.save makes of arguments of zeros, a tuple of a tuple and a dict: empty where they
// would be large, or are of classes that are not Python's own.
absl::StatusOr<std::string> WriteSampleInputs(const Tree& arguments,
                                              const std::vector<WrittenInput>& inputs);

}  // namespace x2ir::torch_format

#endif  // X2IR_FORMATS_TORCH_WRITER_INTERNAL_H_
