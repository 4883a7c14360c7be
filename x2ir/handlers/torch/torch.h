// What handlers of PyTorch's operators are written with. A handler sees a call by the names of
// ATen's schemas and builds the IR that means the same:
//
//   Values Addmm(TorchCall& c) {
//     const DType t = c.out_dtype();
//     Value* product = c.Op("matmul", {c.Operand("mat1", t), c.Operand("mat2", t)});
//     ...
//     return {c.Op("add", {...})};
//   }
//   X2IR_TORCH(gemm).From("aten::addmm.default", Addmm);
//
// Every argument of the call must be read, or ignored by name: one that is not read is
// an error, so nothing is dropped silently. The first error ends the handler there (the
// builder stops at it, and TorchSpec catches): a handler may rely on what it asked for. In-place
// ops and overloads with `out` never get here: prepare.cc makes them functional.
//
// How formats/torch writes a call down (see formats/torch/torch.h) is known to this class alone.
#ifndef X2IR_HANDLERS_TORCH_TORCH_H_
#define X2IR_HANDLERS_TORCH_TORCH_H_

#include <complex>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/handlers/torch/writer.h"

namespace X2IR_API x2ir {

// A Python number, as the program has it. PyTorch's promotion tells the four kinds apart.
struct TorchNumber {
  enum Kind : uint8_t { kBool, kInt, kFloat, kComplex } kind = kInt;
  int64_t i = 0;              // of kBool and kInt
  std::complex<double> c{0};  // of all kinds
  double real() const { return c.real(); }
  bool is_integral() const { return kind <= kInt; }
};

class TorchCall : public NodeReader {
 public:
  explicit TorchCall(Rewrite& r);

  // --- Arguments, by the schema's names. Asking takes them. ---------------------------------
  // Given, and not None.
  bool Has(std::string_view name) const;
  // Takes without a look: what cannot change results (device, pin_memory, memory_format, ...).
  void Ignore(std::initializer_list<std::string_view> names);

  Expr Tensor(std::string_view name);                     // never null
  Value* OptTensor(std::string_view name);                // null: None or not given
  std::vector<Value*> Tensors(std::string_view name);     // Tensor[]
  std::vector<Value*> OptTensors(std::string_view name);  // Tensor?[]: null where None

  // Without a default the argument must be there. A symbolic int whose value is known counts.
  int64_t Int(std::string_view name);
  int64_t Int(std::string_view name, int64_t fallback);
  std::optional<int64_t> OptInt(std::string_view name);
  bool Bool(std::string_view name);
  bool Bool(std::string_view name, bool fallback);
  double Float(std::string_view name);
  double Float(std::string_view name, double fallback);
  std::optional<double> OptFloat(std::string_view name);
  std::string String(std::string_view name);
  std::string String(std::string_view name, std::string_view fallback);
  // A lone int counts as a list of one.
  std::vector<int64_t> Ints(std::string_view name);
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> fallback);
  // int[n] of the schemas: one element means n equal ones; an empty list counts as not given.
  std::vector<int64_t> IntsOf(std::string_view name, size_t n, std::vector<int64_t> fallback);
  std::optional<std::vector<int64_t>> OptInts(std::string_view name);
  std::optional<std::vector<double>> OptFloats(std::string_view name);
  std::vector<bool> Bools(std::string_view name);
  std::optional<DType> OptDtype(std::string_view name);
  DType Dtype(std::string_view name, DType fallback);
  std::optional<TorchNumber> OptNumber(std::string_view name);
  TorchNumber Number(std::string_view name);
  TorchNumber Number(std::string_view name, int64_t fallback);
  std::shared_ptr<Graph> Subgraph(std::string_view name);

  // Sizes, which may be computed: int64 of rank 0, and of rank 1. Never null.
  Expr SymInt(std::string_view name);
  Expr SymInt(std::string_view name, int64_t fallback);
  Value* OptSymInt(std::string_view name);  // null: None or not given
  Expr SymInts(std::string_view name);
  std::vector<Size> Sizes(std::string_view name);

  // `dim` arguments: 0 <= result < rank of x (rank 0 counts as 1, as PyTorch has it).
  int64_t Axis(std::string_view name, const Value* x);
  int64_t Axis(std::string_view name, const Value* x, int64_t fallback);
  int64_t NormalAxis(int64_t axis, int64_t rank);  // Fail()s when out of range, and gives 0
  // dim lists, None and empty: all axes. Sorted is what PyTorch does not promise, so it is kept.
  std::vector<int64_t> Axes(std::string_view name, const Value* x);

  // --- Types ----------------------------------------------------------------------------------
  // What PyTorch says of a result: the type to compute in, for most operators.
  DType out_dtype(size_t i = 0) const;
  const Shape* out_shape(size_t i = 0) const;  // null: not known
  int64_t Rank(const Value* x);                // Fail()s when not known
  // torch.result_type: tensors with dims before those of rank 0 before Python numbers.
  DType ResultType(std::initializer_list<std::string_view> names);
  DType ResultTypeOf(absl::Span<Value* const> tensors);
  // The argument, be it a tensor, a number or a symbolic int, as a tensor of that type.
  Expr Operand(std::string_view name, DType dtype);

  // --- Building; more in builder/ -------------------------------------------------------------
  Expr Constant(DType dtype, double value) { return {b(), b().Scalar(dtype, value)}; }
  Expr Constant(DType dtype, const TorchNumber& number);

  // Unimplemented for arguments that the row does not read.
  absl::Status CheckAllTaken() const;

 private:
  struct Argument {
    Symbol name;
    bool attribute = false;
    size_t attr = 0;               // its position among the node's, where `attribute`
    std::vector<size_t> operands;  // positions among the node's, in order
    std::vector<int64_t> indices;  // of each operand in the list; -1: no list
    char number = 0;               // operand that is a Python number: 'i', 'f' or 'b'
  };
  const Argument* Find(Symbol name) const;
  const Argument* TakeArgument(Symbol name);  // null when not given
  const Attribute* AttrOf(const Argument& a) const;
  bool IsNone(const Argument& a) const;
  // The attribute of that C++ type; null when None or not given, Fail()s on another type.
  template <typename T>
  const T* Get(std::string_view name, std::string_view expected);
  template <typename T>
  T Required(std::string_view name, std::optional<T> value);
  std::optional<TorchNumber> NumberOf(const Argument& a) const;

  std::vector<Argument> arguments_;
};

using TorchHandler = std::function<Values(TorchCall&)>;

// The type that two element types are promoted to; undefined where PyTorch refuses.
DType TorchPromote(DType a, DType b);
// Promotes by category: with dims, rank 0, Python numbers. A later one only adds a higher kind.
DType TorchResultType(DType with_dims, DType rank0, DType numbers);

// An attribute of the IR op and the argument that it is; one name where both are called the same.
struct TorchAttr {
  TorchAttr(std::string_view name) : ir(name), argument(name) {}      // NOLINT: implicit by design
  TorchAttr(const char* name) : TorchAttr(std::string_view(name)) {}  // NOLINT
  TorchAttr(std::string_view ir_name, std::string_view argument_name)
      : ir(ir_name), argument(argument_name) {}
  std::string_view ir, argument;
};

// Rows of an IR op. A row says by its name which way it goes:
//
//   X2IR_TORCH(tanh).Is("aten::tanh.default");                      // both
//   X2IR_TORCH(softmax).From("aten::_softmax.default", Softmax);    // only read, by code
//   X2IR_TORCH(softmax).To("aten::softmax.int", {{"axis", "dim"}}); // only written, by data
//   X2IR_TORCH(conv).To("aten::conv2d.default", WriteConv);         // only written, by code
//
// Tables name the IR op of a row that only reads as the operator's main IR op, and the operator
// of a row that only writes by code as the op's main operator. An IR op has one row that writes.
//
// By data: the operands of the IR op are the operator's tensors in the schema's order (a variadic
// one is its list of tensors). Read, they are cast to the result's element type; other arguments
// must be left out, or be None. Written, every attribute goes where the row says; one of which it
// says nothing must have its default, and else the form cannot express the node.
class TorchSpec {
 public:
  explicit TorchSpec(Symbol ir_op, SourcePlace place = SourcePlace::Here())
      : ir_op_(ir_op), spec_("torch", ir_op, place) {}
  TorchSpec& Is(std::string_view op);
  TorchSpec& From(std::string_view op);
  TorchSpec& From(std::string_view op, TorchHandler handler);
  TorchSpec& From(std::initializer_list<std::string_view> ops, const TorchHandler& handler);
  TorchSpec& To(std::string_view op, std::vector<TorchAttr> attrs = {});
  // `fn` takes TorchWriter& and gives Values, a Value*, or a StatusOr of them.
  template <typename Fn>
  requires std::is_invocable_v<Fn, TorchWriter&> TorchSpec& To(std::string_view op, Fn fn) {
    return Writes(op, [fn](TorchWriter& w) { return ValuesOf(fn, w); });
  }

 private:
  TorchSpec& Writes(std::string_view op, TorchWriteFn fn);
  Handler Reader(TorchHandler handler);
  Symbol ir_op_;
  Spec spec_;
};
#define X2IR_TORCH(ir_op)                                                            \
  [[maybe_unused]] static ::x2ir::TorchSpec X2IR_CONCAT_(x2ir_torch_, __COUNTER__) = \
      ::x2ir::TorchSpec(#ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_TORCH_H_
