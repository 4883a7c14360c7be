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
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/graph_wrapper/status.h"

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

class TorchWriter : public NodeWriter {
 public:
  using NodeWriter::NodeWriter;

  double Float(Symbol attr) const { return attrs().Float(attr); }

  // --- Numbers and sizes ----------------------------------------------------------------------
  // An operand of one element, as a Python number of the kind that its type is.
  TorchScalar Scalar(Value* x);
  // The same of an integer, where it is known.
  std::optional<int64_t> KnownInt(Value* x);
  // Integers of rank 1, each as a Python number. FailedPrecondition where their count is not known.
  absl::StatusOr<std::vector<TorchScalar>> Sizes(Value* x);
  // The size of an axis.
  TorchScalar Size(Value* x, int64_t axis);
  std::vector<TorchScalar> Sizes(Value* x, int64_t from, int64_t to);
  // A size that is known as an expression of the sizes of the program's inputs; nullopt: it is
  // none.
  std::optional<TorchScalar> NumberOf(const Dim& dim);
  // The one that inputs have under that name.
  std::optional<TorchScalar> SizeCalled(std::string_view name);
  // The sizes of a type's shape, those that are not known out of `x`, which has that shape.
  static std::vector<TorchScalar> Numbers(absl::Span<const int64_t> numbers);

  // --- Building -------------------------------------------------------------------------------
  // A call with one result. `result` may be unknown for what becomes a result of the node.
  Value* Call(std::string_view op, TorchArguments arguments, Type result = {});
  // A call with several results; `wanted[i]` false: result i has no uses.
  Values Calls(std::string_view op, TorchArguments arguments, const std::vector<bool>& wanted,
               const std::vector<Type>& results = {});
  Values Calls(std::string_view op, TorchArguments arguments);  // those of the node
  Value* Transpose(Value* x, std::vector<int64_t> perm);

 private:
  Value* Item(Value* x);
  std::optional<TorchScalar> ElementOf(Value* x, int64_t i, int depth);
};

// An operand of one element, as a tensor of rank 0.
Value* OneElement(TorchWriter& w, Value* x);

// The opposite of a TorchHandler: the values that replace the node's results.
using TorchWriteFn = std::function<absl::StatusOr<Values>(TorchWriter&)>;

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_WRITER_H_
