// How operators of PaddlePaddle become IR. The meaning is that of Paddle's kernels
// (paddle/phi/kernels) and of its ops.yaml. A row is an operator as programs call it; operations of
// PIR are these under other names (names.h), which prepare.h settles before nodes are converted.
// There are no rows that write: only Paddle itself writes such files.
//
//   Expr Swish(PaddleArgs& a) { return Sigmoid(a.X() * a.Number("beta", 1)) * a.X(); }
//   X2IR_PADDLE(swish).From("swish", Swish);
//
// A function asks for operands by the names of their parameters and for attributes; one that is not
// read is an error, so nothing is dropped silently. The first error ends it.
#ifndef X2IR_HANDLERS_PADDLE_PADDLE_H_
#define X2IR_HANDLERS_PADDLE_PADDLE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/as_torch.h"

namespace X2IR_API x2ir {

// Results by the names of their parameters; "" is the only one, or the main one ("Out", "Output",
// "Y").
using PaddleResults = std::vector<std::pair<std::string, Values>>;

class PaddleArgs : public NodeReader {
 public:
  explicit PaddleArgs(Rewrite& r);

  // --- Operands ----------------------------------------------------------------------------------
  bool Has(std::string_view slot) const;
  Expr X(
      std::string_view slot = "X");  // the only operand of that name; Invalid where there is none
  Expr Opt(std::string_view slot);   // null where it is left out
  std::vector<Value*> List(std::string_view slot);
  void Drop(std::initializer_list<std::string_view> slots);  // of no meaning for results
  bool Wants(std::string_view slot) const;                   // whether the result has uses
  size_t NumResults(std::string_view slot) const;            // also results without uses
  // The level of the LoD that a program declares of an operand; 0: it has none.
  int64_t Level(std::string_view slot) const;
  // The version of the operator that the program was written for; the newest where it says none.
  int64_t Version() const;
  int64_t Rank(const Expr& x);                // fails where it is not known
  int64_t Axis(int64_t axis, const Expr& x);  // counted from the front

  // --- Attributes, each with its default ---------------------------------------------------------
  double Number(Symbol name, double fallback);  // of any kind, as text too
  std::vector<int64_t> Ints(Symbol name, std::vector<int64_t> fallback = {});  // one number, too
  std::vector<double> Numbers(Symbol name, std::vector<double> fallback = {});
  DType Dtype(Symbol name, DType fallback);  // undefined counts as left out

  // --- Attributes that may be operands: one tensor, or one for each number -----------------------
  // The names of the operands that may give it; the attribute's own name always may.
  using Slots = std::initializer_list<std::string_view>;
  // Numbers that may be computed, in order.
  std::vector<Size> Sizes(Symbol name, Slots slots, std::vector<int64_t> fallback = {});
  // The same, which must be known.
  std::vector<int64_t> KnownList(Symbol name, Slots slots, std::vector<int64_t> fallback = {});
  int64_t KnownNumber(Symbol name, Slots slots, int64_t fallback);
  // A number as a tensor of rank 0 and that type; the attribute's where no operand gives it.
  Expr Scalar(Symbol name, Slots slots, double fallback, DType type);
  bool HasOperandFor(Symbol name, Slots slots) const;

  absl::Status CheckAllTaken() const;
  absl::StatusOr<Values> Arrange(const PaddleResults& results);

 private:
  Value* AsDeclared(size_t i, Value* value);
  std::vector<std::string> operands_, results_;  // the slots
  absl::flat_hash_set<std::string> taken_;
};

// Of one shape and type, as Paddle promotes them.
DType PaddlePromote(DType a, DType b);

// --- Registration --------------------------------------------------------------------------------

using PaddleFn = std::function<PaddleResults(PaddleArgs&)>;
absl::StatusOr<Values> FromPaddle(const PaddleFn& fn, Rewrite& r);

template <typename Fn>
PaddleResults PaddleResultsOf(const Fn& fn, PaddleArgs& a) {
  using Result = std::invoke_result_t<const Fn&, PaddleArgs&>;
  if constexpr (std::is_same_v<Result, PaddleResults>) {
    return fn(a);
  } else if constexpr (std::is_same_v<Result, Values>) {
    return {{"", fn(a)}};
  } else {
    return {{"", Values{fn(a)}}};
  }
}

// An attribute of an IR op that is an attribute of the operator, with its default there.
struct PaddleAttr {
  std::string ir, own;
  double fallback;
};

// Rows of an IR op, which tables name as the operator's main IR op.
class PaddleSpec {
 public:
  explicit PaddleSpec(Symbol ir_op, SourcePlace place = SourcePlace::Here())
      : ir_op_(ir_op), spec_("paddle", ir_op, place) {}
  // By data: the operands in order ("X", or those named) are the IR op's, the attributes floats.
  PaddleSpec& From(std::string_view op, std::vector<PaddleAttr> attrs = {},
                   std::vector<std::string> slots = {"X"});
  // `fn` takes PaddleArgs& and gives an Expr, Values (of the main parameter) or PaddleResults.
  template <typename Fn>
  requires std::is_invocable_v<Fn, PaddleArgs&> PaddleSpec& From(std::string_view op, Fn fn) {
    return Reads(op, [fn](PaddleArgs& a) { return PaddleResultsOf(fn, a); });
  }
  // Several operators, each by code of its own.
  struct Row {
    template <typename Fn>
    Row(std::string_view op, Fn fn)
        : op(op), fn([fn](PaddleArgs& a) { return PaddleResultsOf(fn, a); }) {}
    std::string_view op;
    PaddleFn fn;
  };
  PaddleSpec& From(std::initializer_list<Row> rows) {
    for (const Row& row : rows) Reads(row.op, row.fn);
    return *this;
  }
  template <typename Fn>
  requires std::is_invocable_v<Fn, PaddleArgs&> PaddleSpec& From(
      std::initializer_list<std::string_view> ops, Fn fn) {
    for (const std::string_view op : ops) From(op, fn);
    return *this;
  }

 private:
  PaddleSpec& Reads(std::string_view op, PaddleFn fn);
  Symbol ir_op_;
  Spec spec_;
};

#define X2IR_PADDLE(ir_op)                                                                  \
  [[maybe_unused]] static ::x2ir::PaddleSpec X2IR_CONCAT_(x2ir_paddle_spec_, __COUNTER__) = \
      ::x2ir::PaddleSpec(#ir_op)

// --- Through the rows of others ------------------------------------------------------------------

// The only result of a call of PyTorch (as_torch.h), of that type.
Expr AsTorch(PaddleArgs& a, std::string_view op, const std::vector<AsTorchArgument>& arguments,
             DType result);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_PADDLE_PADDLE_H_
