// Shape and type inference of IR ops, one node at a time, symbolic dims included. Results
// of shape arithmetic (shape -> gather -> concat -> reshape) are propagated as elements of
// integer tensors of rank 0 or 1, so that dynamic models keep symbolic shapes.
#ifndef X2IR_OPS_INFER_H_
#define X2IR_OPS_INFER_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/ops/op.h"

namespace X2IR_API x2ir {

// The context of an InferFn. Everything may be unknown: any dtype may be kUndefined, any shape
// null, any dim unknown; inference then sets what follows from the rest, and never guesses. A
// provable contradiction is InvalidArgument ("expected X, got Y").
class InferContext {
 public:
  explicit InferContext(Node& node);

  const Node& node() const { return node_; }
  const AttributeMap& attrs() const { return node_.attrs(); }

  size_t num_inputs() const { return node_.num_inputs(); }
  size_t num_outputs() const { return node_.num_outputs(); }
  bool has(size_t i) const { return node_.input(i) != nullptr; }
  bool has_output(size_t i) const { return node_.output(i) != nullptr; }
  const Type& type(size_t i) const;  // unknown type when left out
  DType dtype(size_t i) const { return type(i).dtype(); }
  const Shape* shape(size_t i) const { return type(i).shape(); }
  int64_t rank(size_t i) const { return shape(i) ? shape(i)->rank() : -1; }  // -1: not known

  // A constant in every run, or null.
  const Tensor* constant(size_t i) const;
  // Constant integers (any integer dtype), or nullopt.
  std::optional<std::vector<int64_t>> ConstInts(size_t i) const;
  // Elements of an integer operand of rank 0 or 1, from a constant (at most
  // kMaxElements) or propagated; each may be symbolic or unknown.
  std::optional<std::vector<Dim>> Elements(size_t i) const;
  static constexpr size_t kMaxElements = 1024;

  // Results. Setting an output that the node leaves out is ignored.
  void Set(size_t i, Type type);
  void Set(size_t i, DType dtype) { Set(i, Type::Tensor(dtype)); }
  void Set(size_t i, DType dtype, Shape shape) { Set(i, Type::Tensor(dtype, std::move(shape))); }
  void Set(size_t i, DType dtype, std::optional<Shape> shape) {
    Set(i, Type::Tensor(dtype, std::move(shape)));
  }
  // Sets output 0, as Set() does, and is OK: the end of most inferences.
  template <typename... Args>
  absl::Status Return(Args&&... type) {
    Set(0, std::forward<Args>(type)...);
    return absl::OkStatus();
  }
  // Known elements of output i (integer, rank 0 or 1).
  void SetElements(size_t i, std::vector<Dim> elements);

  // Infers a nested graph whose inputs have these types (unknown ones stay as declared);
  // gives the types of its outputs.
  absl::StatusOr<std::vector<Type>> InferSubgraph(Symbol attr, const std::vector<Type>& inputs);

 private:
  friend absl::Status InferNode(Node& node);
  Node& node_;
  std::vector<Type> results_;
  std::vector<std::optional<std::vector<Dim>>> elements_;
};

// The elements of a value in every run, if they are known: a fixed constant, or elements that are
// all numbers (of a shape that is known, say).
std::optional<Tensor> KnownTensor(const Value& value);
std::optional<std::vector<int64_t>> KnownInts(const Value* value);  // null gives nullopt

// --- Building blocks for InferFns ---------------------------------------------------------

// Output 0 has type and shape (and elements) of operand 0.
absl::Status SameAsFirst(InferContext& ctx);
// Output 0 has type and shape of operand 0.
absl::Status SameTypeAsFirst(InferContext& ctx);
// Output 0 has this type and the shape of operand 0.
absl::Status ShapeAsFirst(InferContext& ctx, DType dtype);
// Multidirectional broadcast of two shapes; InvalidArgument if they do not broadcast. A dim is
// unknown if nothing can be proved.
absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b);
// Output 0: dtype of operand 0 (or `dtype`), shape all operands broadcast together.
absl::Status BroadcastAll(InferContext& ctx);
absl::Status BroadcastAllAs(InferContext& ctx, DType dtype);
// First known dtype among operands [from, to); InvalidArgument if two differ.
absl::StatusOr<DType> CommonDType(const InferContext& ctx, size_t from, size_t to);
// axis in [-rank, rank) (or [-rank, rank] with `inclusive`) made non-negative.
absl::StatusOr<int64_t> NormalizeAxis(int64_t axis, int64_t rank, bool inclusive = false);
absl::StatusOr<std::vector<int64_t>> NormalizeAxes(std::vector<int64_t> axes, int64_t rank);

// --- Whole nodes and graphs ---------------------------------------------------------------

// Checks an IR node against its definition, infers it and sets its output types: inferred types
// replace the old ones, which fill their unknown parts. Small integer nodes with only constant
// operands get their elements by evaluation. Foreign nodes are left alone.
absl::Status InferNode(Node& node);
// All nodes in order (the graph must be sorted), nested graphs included, then checks the
// graph's declared output types. Errors name the node.
absl::Status InferGraph(Graph& graph);

// The new type of a value for an inferred type: unknown parts are filled from the type it has,
// known ones replace it, except that an output of the outermost graph keeps what it declares unless
// that is provably wrong (names of dims are part of its contract).
void SetInferredType(Value& value, Type inferred);

// "conv 'layer1/conv'": how errors name a node.
std::string Describe(const Node& node);

}  // namespace x2ir

#endif  // X2IR_OPS_INFER_H_
