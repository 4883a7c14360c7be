// Lenses for what opsets before 7 say in another way.
#include "x2ir/handlers/onnx/legacy_lenses.h"

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// A lens that only reads.
class ImportLens : public LensImpl {
 public:
  explicit ImportLens(std::vector<std::string> attrs) : attrs_(std::move(attrs)) {}
  absl::Status Export(Draft&) const override { return absl::OkStatus(); }
  std::vector<std::string> ForeignAttrs() const override { return attrs_; }

 private:
  std::vector<std::string> attrs_;
};

absl::StatusOr<std::optional<int64_t>> TakeInt(Draft& draft, const char* name) {
  const std::optional<Attribute> attr = draft.TakeAttr(name);
  if (!attr) return std::optional<int64_t>();
  const int64_t* i = attr->get<int64_t>();
  if (!i) return Invalid("attribute '", name, "': expected int, got ", Name(attr->kind()));
  return std::optional<int64_t>(*i);
}

bool HasOneElement(const Shape& shape) { return shape.NumElements() == Dim(1); }

// `value` with that many axes of size 1 after its own.
Value* WithAxesBehind(Builder& b, Value* value, int64_t rank, int64_t count) {
  if (count <= 0) return value;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < count; ++i) axes.push_back(rank + i);
  return b.Op("unsqueeze", {value, b.Ints(axes, "axes")});
}

absl::StatusOr<Value*> Aligned(Builder& builder, const Value* a, Value* b,
                               std::optional<int64_t> axis) {
  const Shape *to = a->shape(), *from = b->shape();
  if (to && from && from->rank() > to->rank()) {
    return Invalid("operand 1 of rank ", from->rank(), " cannot broadcast to rank ", to->rank());
  }
  if (from && HasOneElement(*from)) return b;
  if (!to || !from) {
    if (!axis) return b;
    return Unimplemented("broadcast at axis ", *axis, " of operands of unknown rank");
  }
  int64_t at = axis.value_or(to->rank() - from->rank());
  if (at < 0) at += to->rank();
  if (at < 0 || at > to->rank() - from->rank()) {
    return Invalid("operand 1 of rank ", from->rank(), " does not fit into rank ", to->rank(),
                   " at axis ", axis.value_or(at));
  }
  for (int64_t i = 0; i < from->rank(); ++i) {
    // Sizes of 1 were not allowed to differ either, but can mean nothing else.
    if ((*from)[i] != Dim(1) && ProvablyDifferent((*from)[i], (*to)[at + i])) {
      return Invalid("operand 1 of shape [", from->ToString(), "] does not fit into [",
                     to->ToString(), "] at axis ", at);
    }
  }
  return WithAxesBehind(builder, b, from->rank(), to->rank() - at - from->rank());
}

class AxisBroadcastLens : public ImportLens {
 public:
  AxisBroadcastLens() : ImportLens({"axis", "broadcast"}) {}
  absl::Status Import(Draft& draft) const override {
    X2IR_ASSIGN_OR_RETURN(const std::optional<int64_t> broadcast, TakeInt(draft, "broadcast"));
    X2IR_ASSIGN_OR_RETURN(const std::optional<int64_t> axis, TakeInt(draft, "axis"));
    const Value* a = draft.node().input(0);
    Value* b = draft.TakeOperandAt(1);
    if (!a || !b) return Invalid("expected two operands");
    if (broadcast.value_or(0) == 0) {
      X2IR_RETURN_IF_ERROR(ExpectSameShape(a, b));
    } else {
      X2IR_ASSIGN_OR_RETURN(b, Aligned(draft.builder(), a, b, axis));
    }
    draft.SetOperandAt(1, b);
    return absl::OkStatus();
  }
};

class SlopePerChannelLens : public ImportLens {
 public:
  SlopePerChannelLens() : ImportLens({}) {}
  absl::Status Import(Draft& draft) const override {
    const Value* x = draft.node().input(0);
    Value* slope = draft.TakeOperandAt(1);
    if (!x || !slope) return Invalid("expected two operands");
    const Shape *to = x->shape(), *from = slope->shape();
    const bool one = from && HasOneElement(*from);
    if (!one && (!to || !from)) return Unimplemented("slopes by channel of unknown rank");
    if (!one && from->rank() == 1 && to->rank() >= 2) {
      if (ProvablyDifferent((*from)[0], (*to)[1]) && (*from)[0] != Dim(1)) {
        return Invalid((*from)[0].ToString(), " slopes for ", (*to)[1].ToString(), " channels");
      }
      slope = WithAxesBehind(draft.builder(), slope, 1, to->rank() - 2);
    }
    draft.SetOperandAt(1, slope);
    return absl::OkStatus();
  }
};

class BroadcastOfCLens : public ImportLens {
 public:
  BroadcastOfCLens() : ImportLens({"broadcast"}) {}
  absl::Status Import(Draft& draft) const override {
    X2IR_ASSIGN_OR_RETURN(const std::optional<int64_t> broadcast, TakeInt(draft, "broadcast"));
    if (broadcast.value_or(0) != 0) return absl::OkStatus();
    const Node& node = draft.node();
    const Value* c = node.input(2);
    const Shape* shape = c ? c->shape() : nullptr;
    if (!shape) return absl::OkStatus();
    // Axis i of the result is that of operand i, unless it is transposed.
    const char* transposed[] = {"transA", "transB"};
    bool same = shape->rank() == 2;
    for (int64_t i = 0; same && i < 2; ++i) {
      const Shape* operand = node.input(i) ? node.input(i)->shape() : nullptr;
      if (!operand || operand->rank() != 2) continue;
      const int64_t axis = node.attrs().Int(transposed[i], 0) != 0 ? 1 - i : i;
      same = !ProvablyDifferent((*shape)[i], (*operand)[axis]);
    }
    if (same) return absl::OkStatus();
    return Invalid("c of shape [", shape->ToString(), "] needs broadcast = 1");
  }
};

class WholeFloatLens : public ImportLens {
 public:
  explicit WholeFloatLens(std::string_view name)
      : ImportLens({std::string(name)}), name_(std::string(name)) {}
  absl::Status Import(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr(name_);
    if (!attr) return absl::OkStatus();
    const float* f = attr->get<float>();
    if (!f) return Invalid("attribute '", name_.str(), "': expected float");
    if (*f != std::floor(*f) || std::abs(*f) > 1e6f) {
      return Unimplemented("attribute '", name_.str(), "' = ", attr->ToString(),
                           "; expected a whole number");
    }
    draft.SetAttr(name_, static_cast<int64_t>(*f));
    return absl::OkStatus();
  }
  std::vector<std::string> IrAttrs() const override { return {name_.str()}; }

 private:
  Symbol name_;
};

class WithoutKernel : public LensImpl {
 public:
  explicit WithoutKernel(DType type) : type_(type) {}
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value* x = draft.node().input(0);
    if (x && x->dtype() == type_) return CannotExpress("runtimes have no kernel of ", Name(type_));
    return absl::OkStatus();
  }
  bool Leaves(const Node& node, bool importing) const override {
    return importing || !node.input(0) || node.input(0)->dtype() != type_;
  }

 private:
  DType type_;
};

}  // namespace

absl::Status ExpectSameShape(const Value* a, const Value* b) {
  const Shape* x = a ? a->shape() : nullptr;
  const Shape* y = b ? b->shape() : nullptr;
  if (!x || !y) return absl::OkStatus();
  bool differ = x->rank() != y->rank();
  for (int64_t i = 0; !differ && i < x->rank(); ++i) differ = ProvablyDifferent((*x)[i], (*y)[i]);
  if (!differ) return absl::OkStatus();
  return Invalid("expected operands of one shape, got [", x->ToString(), "] and [", y->ToString(),
                 "]");
}

Lens InPlaceHint() { return Dropped("consumed_inputs"); }
Lens AxisBroadcast() { return std::make_shared<AxisBroadcastLens>(); }
Lens SlopePerChannel() { return std::make_shared<SlopePerChannelLens>(); }
Lens BroadcastOfC() { return std::make_shared<BroadcastOfCLens>(); }
Lens WholeFloat(std::string_view name) { return std::make_shared<WholeFloatLens>(name); }
Lens NotOf(DType type) { return std::make_shared<WithoutKernel>(type); }

}  // namespace x2ir
