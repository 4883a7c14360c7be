// How layers of Keras become IR. A row for each class of layers, a function that sees the layer's
// configuration, the tensors that it is called with, its weights and its masks.
//
//   X2IR_KERAS(gemm).From("Dense", Dense);
//
// Meanings are those of Keras's documentation, and of its TensorFlow backend where that is silent.
#ifndef X2IR_HANDLERS_KERAS_KERAS_H_
#define X2IR_HANDLERS_KERAS_KERAS_H_

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/core/dialect_spec.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {

class KerasArgs : public NodeReader {
 public:
  explicit KerasArgs(Rewrite& r);

  int version() const { return version_; }  // of Keras: 1, 2 or 3

  // --- Operands ---------------------------------------------------------------------------------
  // Tensors that it is called with, floating ones in the type that the layer computes in.
  size_t num_tensors() const { return tensors_.size(); }
  // Unimplemented names the first tensor that the row does not read.
  absl::Status CheckTensorsTaken() const;
  Expr tensor(size_t i = 0);
  std::vector<Expr> tensors();
  // One that was given by name ("initial_state"); all of that name.
  std::vector<Expr> named(std::string_view name);
  // Weights, in the type that the layer computes in; Invalid where the file has another number of
  // them. `names` are for the message.
  std::vector<Expr> Weights(std::initializer_list<std::string_view> names);
  std::vector<Expr> Weights(const std::vector<std::string>& names);
  size_t num_weights() const { return weights_.size(); }
  // Of the i-th tensor: bool, false where it does not count; null: there is none.
  Expr mask(size_t i = 0) const { return i < masks_.size() ? masks_[i] : Expr(nullptr); }
  bool has_mask(size_t i = 0) const { return mask(i).value() != nullptr; }
  // The type that the layer's floats are computed in; kUndefined: in their own.
  DType compute_type() const { return compute_; }
  void compute_in(DType type) { compute_ = type; }
  // The element type that the configuration says, as of its results.
  DType VariableType() const;

  // Nothing of its configuration matters.
  void IgnoreConfiguration();

  // --- Configuration, each with its default
  // ------------------------------------
  bool Given(Symbol name) const { return attrs().Has(name); }
  std::string Text(Symbol name, std::string_view fallback = "");
  int64_t Integer(Symbol name, int64_t fallback);
  bool Flag(Symbol name, bool fallback);
  double Number(Symbol name, double fallback);
  std::vector<int64_t> Integers(Symbol name);
  std::vector<double> Numbers(Symbol name);
  std::vector<std::string> Texts(Symbol name);
  // One number for all, or `count` of them.
  std::vector<int64_t> Tuple(Symbol name, size_t count, int64_t fallback);
  // A text, or what is nested.
  Json Nested(Symbol name);
  // Axes of a tensor of that rank, counted from the front.
  std::vector<int64_t> Axes(const std::vector<int64_t>& axes, int64_t rank);
  int64_t Axis(int64_t axis, int64_t rank) { return Axes({axis}, rank)[0]; }

  // Whether channels are the last axis.
  bool ChannelsLast(Symbol name = "data_format");
  // The rank of a tensor, which must be known.
  int64_t RankOf(const Expr& x);

 private:
  [[noreturn]] void Wrong(Symbol name, std::string_view kind);
  Expr InComputeType(const Expr& x);

  int version_ = 2;
  DType compute_ = DType::kUndefined;
  std::vector<Value*> tensors_, weights_;
  std::vector<std::pair<std::string, Value*>> named_;
  size_t tensors_taken_ = 1;  // the first may be asked for as an operand
  std::set<std::string, std::less<>> named_taken_;
  std::vector<Expr> masks_;
};

// Settings of training: initializers, regularizers and the like.
bool IsKerasHint(std::string_view name);

// Writes nodes of layers and of operations ("ops.Add"), as Keras 3 has them. Results take the types
// that are said, or those of the IR's node.
class KerasWriter : public NodeWriter {
 public:
  using NodeWriter::NodeWriter;

  // A layer that is called with these tensors, with its settings and constants as its weights.
  Value* Layer(std::string_view class_name, std::vector<Value*> tensors, AttributeMap config = {},
               const std::vector<Value*>& weights = {}, x2ir::Type result = {});
  // With several results, and with tensors that it is given by name ("initial_state").
  Values LayerAll(std::string_view class_name, std::vector<Value*> tensors, std::string_view name,
                  const std::vector<Value*>& named, AttributeMap config,
                  const std::vector<Value*>& weights, const std::vector<x2ir::Type>& results);
  // An operation: tensors and constants by position, all other arguments by name.
  Value* Function(std::string_view name, std::vector<Value*> operands,
                  Json arguments = Json::Object(), x2ir::Type result = {});
  // The same; its first argument is the list of operands.
  Value* FunctionOfList(std::string_view name, std::vector<Value*> operands,
                        Json arguments = Json::Object());
  // With several results, of these types where they are known.
  Values FunctionAll(std::string_view name, std::vector<Value*> operands, Json arguments,
                     const std::vector<bool>& wanted, const std::vector<x2ir::Type>& results = {});

  // Whether operand i is a dense constant of a file or a pass; null: it is not.
  const Tensor* Weight(size_t i) const;
  absl::Status WantFloats(size_t i = 0) const;  // FailedPrecondition for other elements
};

// {"axis": 1, "keepdims": true} and the like.
Json KerasArguments(std::initializer_list<std::pair<std::string_view, Json>> arguments);
Json KerasIntegers(const std::vector<int64_t>& numbers);

// Rows (core/dialect_spec.h) of layers.
struct KerasDialect : DialectDefaults {
  static constexpr std::string_view kName = "keras";
  using Args = KerasArgs;
  using Writer = KerasWriter;
  static constexpr bool kFewerValues = true;
  static absl::Status Finish(KerasArgs& args);
};

#define X2IR_KERAS(ir_op) X2IR_ROWS(::x2ir::KerasDialect, ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_KERAS_KERAS_H_
