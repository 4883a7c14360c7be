// What the rows of TensorFlow's ops are written with in the other direction: a node of the IR
// becomes nodes of TensorFlow, and ops of the IR, which the driver converts in turn.
//
//   absl::StatusOr<Value*> ToReshape(TfWriter& w) {
//     return w.Tf("Reshape", {w.in(0), w.in(1)});
//   }
//   X2IR_TF(reshape).To("Reshape", ToReshape);
//
// Attributes that follow from the operands (signatures.h) are added; the driver checks the nodes.
#ifndef X2IR_HANDLERS_TF_WRITER_H_
#define X2IR_HANDLERS_TF_WRITER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/rewrite.h"

namespace X2IR_API x2ir {

class TfWriter {
 public:
  explicit TfWriter(Rewrite& r) : r_(r) {}

  const Node& node() const { return r_.node; }
  Builder& b() { return r_.b; }
  size_t num_inputs() const { return r_.node.num_inputs(); }
  Value* in(size_t i) const { return i < num_inputs() ? r_.node.input(i) : nullptr; }
  bool has(size_t i) const { return in(i) != nullptr; }
  bool wants(size_t i) const { return i < r_.num_outputs() && r_.node.output(i) != nullptr; }
  DType dtype(size_t i = 0) const { return has(i) ? in(i)->dtype() : DType::kUndefined; }
  const Shape* shape(size_t i = 0) const { return has(i) ? in(i)->shape() : nullptr; }
  const AttributeMap& attrs() const { return r_.attrs(); }
  int64_t Int(Symbol attr) const { return attrs().Int(attr); }
  float Float(Symbol attr) const { return static_cast<float>(attrs().Float(attr)); }
  const std::string& String(Symbol attr) const { return attrs().String(attr); }
  DType DTypeAttr(Symbol attr) const;
  const Type& out_type(size_t i = 0) const { return r_.node.output(i)->type(); }

  // FailedPrecondition where the rank is not known.
  absl::StatusOr<int64_t> Rank(size_t i = 0) const;
  // An attribute that is an axis of operand 0, counted from the front.
  absl::StatusOr<int64_t> Axis(Symbol attr = "axis") const;
  // Integers of an operand that must be known; nullopt where it is left out.
  absl::StatusOr<std::optional<std::vector<int64_t>>> KnownInts(size_t i,
                                                                std::string_view what) const;

  // A node of TensorFlow with one result. `result` may be unknown for what becomes a result of the
  // node.
  Value* Tf(std::string_view op, std::vector<Value*> operands, AttributeMap attrs = {},
            Type result = {});
  Values TfAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
               const std::vector<bool>& wanted, const std::vector<Type>& results = {});
  // An op of the IR, which the driver converts too.
  Value* Op(Symbol op, std::vector<Value*> operands, AttributeMap attrs = {}) {
    return r_.b.Op(op, std::move(operands), std::move(attrs));
  }
  Value* Cast(Value* x, DType to);  // itself when it is of that type
  Value* Number(DType t, double number) { return r_.b.Scalar(t, number); }
  Value* Int32(int64_t number) { return r_.b.Scalar(DType::kInt32, static_cast<double>(number)); }
  Value* Int32s(const std::vector<int64_t>& numbers);
  Value* Ints(absl::Span<const int64_t> numbers) { return r_.b.Ints(numbers); }
  Value* Reshape(Value* x, absl::Span<const int64_t> dims);
  // A constant at once, else a transpose.
  Value* Transpose(Value* x, const std::vector<int64_t>& perm);
  // Sizes as a constant where they are known, else `x` itself.
  Value* Known(Value* x);

 private:
  Rewrite& r_;
};

using TfWriteFn = std::function<absl::StatusOr<Values>(TfWriter&)>;

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_WRITER_H_
