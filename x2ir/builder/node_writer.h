// What writers of all dialects share: a node of the IR as an export form reads it, and the ops of
// the IR that a form makes in between (the driver converts these too). A dialect's own writer is a
// class on top of it, with the calls that make the dialect's nodes.
#ifndef X2IR_BUILDER_NODE_WRITER_H_
#define X2IR_BUILDER_NODE_WRITER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/builder/node_view.h"

namespace X2IR_API x2ir {

class NodeWriter : public NodeView {
 public:
  using NodeView::NodeView;

  // --- The node of the IR ---------------------------------------------------------------------
  Value* in(size_t i) const { return node().input(i); }  // null where it is left out
  int64_t Int(Symbol attr) const { return attrs().Int(attr); }
  const std::string& String(Symbol attr) const { return attrs().String(attr); }
  DType DTypeAttr(Symbol attr) const;  // kUndefined where it is left out
  const Type& out_type(size_t i = 0) const { return node().output(i)->type(); }

  // FailedPrecondition where the rank is not known.
  absl::StatusOr<int64_t> RankOf(const Value* x) const;
  absl::StatusOr<int64_t> Rank(size_t i = 0) const { return RankOf(in(i)); }
  // An attribute that is an axis of operand 0, counted from the front.
  absl::StatusOr<int64_t> Axis(Symbol attr = "axis") const;
  // Integers of an operand that must be known, else FailedPrecondition ("computed " and `what`);
  // nullopt where it is left out.
  absl::StatusOr<std::optional<std::vector<int64_t>>> KnownInts(size_t i,
                                                                std::string_view what) const;

  // --- Ops of the IR --------------------------------------------------------------------------
  Value* Op(Symbol op, std::vector<Value*> operands, AttributeMap attrs = {}) {
    return b().Op(op, std::move(operands), std::move(attrs));
  }
  Value* Cast(Value* x, DType to);  // itself when it is of that type
  Value* Number(DType t, double number) { return b().Scalar(t, number); }
  Value* Ints(absl::Span<const int64_t> numbers) { return b().Ints(numbers); }
  Value* Int32(int64_t number) { return Number(DType::kInt32, static_cast<double>(number)); }
  Value* Int32s(const std::vector<int64_t>& numbers);
  Value* Reshape(Value* x, absl::Span<const int64_t> dims);  // 0 is a size of 0

  // Whether none of these indices of the node counts from the end: they are known, or the framework
  // that the node comes from has no negative ones.
  bool CountsFromTheFront(const Value& index) const;
  // Indices as int64, with the size (which they are broadcast with) added to negative ones.
  Value* FromTheFront(Value* index, Value* size);
  // All operands but the last one, put together by the op two at a time. There must be two.
  Value* FoldedButLast(Symbol op);
  // Operand 0 of an unsqueeze with all new axes but the last one, which has this number.
  struct OneAxisLess {
    Value* x;
    std::optional<int64_t> axis;  // nullopt: there are no new axes
  };
  absl::StatusOr<OneAxisLess> UnsqueezedButLast();

 protected:
  // A node of a dialect. Results take the types that are known; the others are known to be those of
  // the results of the IR's node.
  Values Make(Symbol dialect, std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
              const std::vector<bool>& wanted, const std::vector<Type>& results);
};

// Runs a form on a node of the IR that it writes.
absl::StatusOr<Values> WriteNode(Rewrite& r, const std::function<absl::StatusOr<Values>()>& form);

}  // namespace x2ir

#endif  // X2IR_BUILDER_NODE_WRITER_H_
