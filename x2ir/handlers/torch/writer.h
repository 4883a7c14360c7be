// What the rows of PyTorch's operators are written with in the other direction: a node of the IR
// becomes calls of operators, arguments by the names of ATen's schemas.
//
//   absl::StatusOr<Value*> Softmax(TorchWriter& w) {
//     return w.Call("aten::softmax.int", {{"self", w.in(0)}, {"dim", w.Int("axis")}});
//   }
//   X2IR_TORCH(softmax).To("aten::softmax.int", Softmax);
//
// The schema says how an argument is written down: the int 0 is a bool where a bool is wanted. The
// driver checks every call against its schema, so a writer need not. A value of a result that is
// not the node's own needs a type, which other writers and the handlers that read rely on. Writers
// may also make ops of the IR (Op), which the driver converts in turn.
//
// Everything that the IR computes is a tensor in what is written; sizes and numbers that an
// operator wants as Python numbers are taken out of tensors where they are not known (Sizes).
#ifndef X2IR_HANDLERS_TORCH_WRITER_H_
#define X2IR_HANDLERS_TORCH_WRITER_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

// A Python number that is known, or a value that is one ("item" of a tensor of rank 0).
struct TorchScalar {
  std::variant<int64_t, double, bool, Value*> value;
};

// One argument of a call.
struct TorchArgument {
  using Scalars = std::vector<TorchScalar>;
  using Payload =
      std::variant<std::nullptr_t, Value*, std::vector<Value*>, TorchScalar, Scalars, Attribute>;

  TorchArgument(std::string_view n, std::nullptr_t) : name(n), payload(nullptr) {}
  // Null is None, and so is a null among several.
  TorchArgument(std::string_view n, Value* v) : name(n) {
    if (v) payload = v;
  }
  TorchArgument(std::string_view n, std::vector<Value*> v) : name(n), payload(std::move(v)) {}
  TorchArgument(std::string_view n, TorchScalar v) : name(n), payload(v) {}
  TorchArgument(std::string_view n, Scalars v) : name(n), payload(std::move(v)) {}
  TorchArgument(std::string_view n, int64_t v) : name(n), payload(Attribute(v)) {}
  TorchArgument(std::string_view n, int v) : name(n), payload(Attribute(int64_t{v})) {}
  TorchArgument(std::string_view n, bool v) : name(n), payload(Attribute(int64_t{v})) {}
  TorchArgument(std::string_view n, double v) : name(n), payload(Attribute(v)) {}
  TorchArgument(std::string_view n, std::vector<int64_t> v)
      : name(n), payload(Attribute(std::move(v))) {}
  TorchArgument(std::string_view n, std::string v) : name(n), payload(Attribute(std::move(v))) {}
  TorchArgument(std::string_view n, const char* v) : name(n), payload(Attribute(v)) {}
  TorchArgument(std::string_view n, DType v) : name(n), payload(Attribute(Type::Tensor(v))) {}
  TorchArgument(std::string_view n, Attribute v) : name(n), payload(std::move(v)) {}

  std::string_view name;
  Payload payload = nullptr;
};
using TorchArguments = std::vector<TorchArgument>;

class TorchWriter {
 public:
  explicit TorchWriter(Rewrite& r) : r_(r) {}

  // --- The node of the IR ---------------------------------------------------------------------
  const Node& node() const { return r_.node; }
  Builder& b() { return r_.b; }
  size_t num_inputs() const { return r_.node.num_inputs(); }
  Value* in(size_t i) const { return i < num_inputs() ? r_.node.input(i) : nullptr; }
  bool has(size_t i) const { return in(i) != nullptr; }
  bool wants(size_t i) const { return i < r_.num_outputs() && r_.node.output(i) != nullptr; }
  DType dtype(size_t i = 0) const { return has(i) ? in(i)->dtype() : DType::kUndefined; }
  const AttributeMap& attrs() const { return r_.attrs(); }
  int64_t Int(Symbol attr) const { return attrs().Int(attr); }
  double Float(Symbol attr) const { return attrs().Float(attr); }
  const std::string& String(Symbol attr) const { return attrs().String(attr); }
  DType DTypeAttr(Symbol attr) const;  // undefined where it is left out
  const Type& out_type(size_t i = 0) const { return r_.node.output(i)->type(); }

  // FailedPrecondition where the rank is not known.
  absl::StatusOr<int64_t> Rank(const Value* x) const;
  absl::StatusOr<int64_t> Rank(size_t i = 0) const { return Rank(in(i)); }
  // An attribute that is an axis of operand 0, counted from the front.
  absl::StatusOr<int64_t> Axis(Symbol attr = "axis") const;
  // Integers of an operand that must be known; nullopt where it is left out.
  absl::StatusOr<std::optional<std::vector<int64_t>>> KnownInts(size_t i,
                                                                std::string_view what) const;

  // --- Numbers and sizes ----------------------------------------------------------------------
  // An operand of one element, as a Python number of the kind that its type is.
  TorchScalar Scalar(Value* x);
  // Integers of rank 1, each as a Python number. FailedPrecondition where their count is not known.
  absl::StatusOr<std::vector<TorchScalar>> Sizes(Value* x);
  // The size of an axis.
  TorchScalar Size(Value* x, int64_t axis);
  std::vector<TorchScalar> Sizes(Value* x, int64_t from, int64_t to);
  // The sizes of a type's shape, those that are not known out of `x`, which has that shape.
  static std::vector<TorchScalar> Numbers(absl::Span<const int64_t> numbers);

  // --- Building -------------------------------------------------------------------------------
  // A call with one result. `result` may be unknown for what becomes a result of the node.
  Value* Call(std::string_view op, TorchArguments arguments, Type result = {});
  // A call with several; `wanted[i]` false: nobody looks at it.
  Values Calls(std::string_view op, TorchArguments arguments, const std::vector<bool>& wanted,
               const std::vector<Type>& results = {});
  Values Calls(std::string_view op, TorchArguments arguments);  // those of the node
  // An op of the IR, which the driver converts too.
  Value* Op(Symbol op, std::vector<Value*> operands, AttributeMap attrs = {}) {
    return r_.b.Op(op, std::move(operands), std::move(attrs));
  }
  Value* Cast(Value* x, DType to);  // itself when it is of that type
  Value* Number(DType t, double number) { return r_.b.Scalar(t, number); }
  Value* Reshape(Value* x, absl::Span<const int64_t> dims);
  Value* Transpose(Value* x, std::vector<int64_t> perm);

 private:
  Value* Item(Value* x);
  std::optional<TorchScalar> ElementOf(Value* x, int64_t i, int depth);
  Rewrite& r_;
};

// The opposite of a TorchHandler: the values that stand for the node's results.
using TorchWriteFn = std::function<absl::StatusOr<Values>(TorchWriter&)>;

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_WRITER_H_
