// What all architectures are made with: the graph that is being built, the settings and the
// weights of the checkpoint. Weights are asked for by their names and shapes; one that is missing,
// or of another shape, ends the conversion, and so does one that no part of the model asked for.
//
// The graph computes in float32. Weights of float16 and bfloat16 stay as they are stored, with a
// cast where they are used.
#ifndef X2IR_HANDLERS_CHECKPOINT_NET_H_
#define X2IR_HANDLERS_CHECKPOINT_NET_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "x2ir/builder/expr.h"
#include "x2ir/builder/size.h"
#include "x2ir/formats/checkpoint/program.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/handlers/checkpoint/quantized.h"
#include "x2ir/handlers/checkpoint/settings.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// A name with its prefix: "model.layers.0." / "mlp" is "model.layers.0.mlp".
std::string Joined(std::string_view prefix, std::string_view name);

// A name whose "{}" is a number.
std::string Numbered(std::string_view name, int64_t number);

// Elements [from, from + count) of an axis.
inline Expr Part(const Expr& x, int64_t axis, int64_t from, int64_t count) {
  return Slice(x, axis, x2ir::Size(from), x2ir::Size(from + count));
}

// Sizes of inputs, by the names that Optimum gives them.
inline constexpr char kBatch[] = "batch_size", kLength[] = "sequence_length";

// A score that does not count. Not infinity: a query that sees nothing gives numbers, too.
inline constexpr double kLowest = std::numeric_limits<float>::lowest();

struct NormSpec {
  enum Kind : uint8_t { kNone, kLayer, kRms, kAffine };  // kAffine: only weight and bias
  Kind kind = kNone;
  double eps = 1e-5;
  bool scale = true;      // has a weight
  bool shift = true;      // kLayer: has a bias
  bool plus_one = false;  // the scale is weight + 1
};

class Net {
 public:
  Net(Graph& graph, const Program& program);

  // Where the configuration has quantized weights: from then on these are found by the names that
  // they have without quantization. They are [out, in].
  void ReadQuantized(std::vector<std::string>& warnings);

  Builder& b() { return b_; }
  Graph& graph() { return b_.graph(); }
  Settings& settings() { return settings_; }
  const Program& program() const { return program_; }
  const Request& request() const { return program_.request; }

  // --- Weights ---------------------------------------------------------------------------------
  bool HasWeight(std::string_view name) const;
  // Its sizes, as the file has them; refused where there is none.
  std::vector<int64_t> DimsOf(std::string_view name) const;
  // As float32. -1 in `dims` is any size.
  Expr Weight(std::string_view name, const std::vector<int64_t>& dims);
  // The same of a matrix that is a factor of a product: rounded to few bits, where the user asks.
  Expr ProductWeight(std::string_view name, const std::vector<int64_t>& dims);
  // How many weights were rounded.
  size_t rounded() const { return rounded_.size(); }
  // How many quantized weights became plain numbers.
  size_t unpacked() const { return unpacked_.size(); }
  // The type that it is stored in.
  Expr StoredWeight(std::string_view name, const std::vector<int64_t>& dims);
  // The numbers of a small weight that the graph does not hold.
  std::vector<double> Numbers(std::string_view name, const std::vector<int64_t>& dims);
  // A weight whose first axis counts parts, each a weight of its own: part i goes by `each`, where
  // "{}" is its number. No bytes are copied. Nothing where there is no such weight.
  void Unstack(std::string_view name, std::string_view each);
  // Another name for a weight that is stored under one of them only (tied ones).
  std::string AnyOf(const std::vector<std::string>& names) const;
  // Which of two weights counts that are one by the configuration: `own` where it is stored and is
  // another than `shared`, as transformers has it; else `shared`, and `own` is not asked for.
  std::string Tied(const std::string& own, const std::string& shared);
  // A setting that says how many layers there are: some that may share weights, or no more than
  // there are weights. Layers that do not exist would only be described at length.
  int64_t LayerCount(std::string_view names, std::optional<int64_t> fallback = std::nullopt);
  // Names, starts of names that end in '*', or ends that begin with it, of what is stored and not
  // used: buffers.
  void IgnoreWeights(const std::vector<std::string>& patterns);

  // --- Layers ----------------------------------------------------------------------------------
  // The last axis of x [.., in] by NAME.weight [out, in] (transposed: [in, out]) and NAME.bias.
  Expr Linear(const Expr& x, std::string_view name, int64_t in, int64_t out, bool bias = true,
              bool transposed = false);
  // Rows of NAME.weight [count, width] by their numbers.
  Expr Embedding(const Expr& ids, std::string_view name, int64_t count, int64_t width);
  // Over the last axis, of `width` elements.
  Expr Norm(const Expr& x, const NormSpec& norm, std::string_view name, int64_t width);
  // Channels first. NAME.weight [out, in / groups, kernel...].
  struct ConvSpec {
    int64_t in, out;
    std::vector<int64_t> kernel, stride = {}, padding = {};  // padding: of both sides, or pairs
    int64_t groups = 1;
    bool bias = true;
    std::vector<int64_t> dilation = {};
    bool same = false;  // padded for as many windows as steps fit, the odd pad at the end
  };
  Expr Conv(const Expr& x, std::string_view name, const ConvSpec& conv);
  // By a weight that is computed.
  Expr ConvBy(const Expr& x, const Expr& weight, std::string_view name, const ConvSpec& conv);
  // By the names of transformers' ACT2FN.
  Expr Activate(const Expr& x, std::string_view activation);
  Expr BatchNorm(const Expr& x, std::string_view name, int64_t channels, double eps);

  // --- Inputs and outputs ------------------------------------------------------------------------
  // A dim that is a text is a size with a name.
  using InputDim = std::variant<int64_t, std::string>;
  Expr Input(std::string_view name, DType dtype, const std::vector<InputDim>& dims);
  void Output(std::string_view name, const Expr& x);

  // x, with that name if it has none; and names for all values that have none.
  Expr Named(const Expr& x, std::string_view name);
  void NameAll();

  // Refuses settings and weights that no part of the model asked for.
  void CheckAllTaken();

 private:
  const Tensor* Find(std::string_view name) const;
  const QuantizedWeight* FindQuantized(std::string_view name) const;
  // The same size, spelled as in the shape of an input.
  Dim AsInInput(const Dim& dim);
  Expr AsStored(const QuantizedWeight& weight, std::string_view name);
  Expr AsStored(const BlockWeight& weight, std::string_view name);
  // A constant of the type that the user asks for.
  Expr Unpacked(absl::StatusOr<Tensor> numbers, std::string_view name);
  void CheckDims(std::string_view name, const std::vector<int64_t>& is,
                 const std::vector<int64_t>& expected) const;

  const Program& program_;
  Settings settings_;
  Builder b_;
  StringSet taken_;
  std::vector<std::string> ignored_;
  StringSet unpacked_;
  StringMap<Tensor> parts_;  // of unstacked weights
  std::unique_ptr<Quantized> quantized_;
  std::map<std::string, Value*, std::less<>> stored_, cast_, as_stored_, rounded_;
};

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_NET_H_
