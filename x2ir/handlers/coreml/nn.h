// How layers of neural networks become IR. Their values are all float32: true is 1, false is
// 0, and indices are whole numbers. A layer's fields are attributes as formats/coreml/decode.h
// says; its weights are the operands after those of the graph.
#ifndef X2IR_HANDLERS_COREML_NN_H_
#define X2IR_HANDLERS_COREML_NN_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/core/dialect_spec.h"

namespace X2IR_API x2ir {

class NnArgs : public NodeReader {
 public:
  explicit NnArgs(Rewrite& r);

  // --- Operands that are no weights
  // ---------------------------------------------------------------
  size_t count() const { return count_; }
  Expr X(size_t i = 0);  // Invalid where it is missing
  std::vector<Value*> all(size_t from = 0);
  Expr Whole(size_t i);  // as int64
  Expr Holds(size_t i);  // as bool
  absl::StatusOr<std::vector<int64_t>> Known(size_t i, std::string_view what);

  // Weights, as float32 of these sizes: null where there are none, Invalid for another number of
  // elements. No sizes: a vector.
  Expr Weights(std::string_view path, const std::vector<int64_t>& dims = {});
  Expr NeedWeights(std::string_view path, const std::vector<int64_t>& dims = {});

  // --- Attributes
  // --------------------------------------------------------------------------------- What a file
  // leaves out is 0, or that number.
  int64_t Int(Symbol name, int64_t fallback = 0);
  double Number(Symbol name, double fallback = 0);
  bool Flag(Symbol name) { return Int(name) != 0; }
  std::vector<int64_t> List(Symbol name, std::vector<int64_t> fallback = {});
  std::string Enum(Symbol name, std::string_view first);
  // Whether a message is there, its fields or without any.
  bool Given(std::string_view path);

 private:
  size_t count_ = 0;
  std::vector<std::string> names_;
};

// `fn` of an image [n, channels, height, width], of x with its axes before the last three as one.
Expr OnImages(NnArgs& a, const Expr& x, const std::function<Expr(const Expr&)>& fn);
// 1 where it is true, else 0.
Expr AsNumber(const Expr& x);
// Results have at least one axis.
Expr AtLeastOneAxis(const Expr& x);
// borderAmounts: [begin, end] of two axes; zeros where they are left out.
std::vector<int64_t> BordersOf(NnArgs& a, std::string_view path);

// Rows (core/dialect_spec.h) of layers of neural networks, and of models by their kind.
struct NnDialect : DialectDefaults {
  static constexpr std::string_view kName = "coreml", kPrefix = "nn::";
  using Args = NnArgs;
};
struct CoremlModels : NnDialect {
  static constexpr std::string_view kPrefix = "model::";
};

#define X2IR_NN(ir_op) X2IR_ROWS(::x2ir::NnDialect, ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_NN_H_
