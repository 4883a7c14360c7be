// Lenses that the shape, indexing and reduction handlers share.
#include "x2ir/handlers/onnx/axis_lenses.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_join.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr int kNegativeAxes = 11;  // the opset that brought them

int64_t RankOfFirst(const Draft& draft) {
  const Value* first = draft.node().input(0);
  return first && first->shape() ? first->shape()->rank() : -1;
}

// Negative ones counted from the front of `rank` axes.
std::vector<int64_t> FromFront(std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) {
    if (axis < 0 && axis + rank >= 0) axis += rank;
  }
  return axes;
}

class AxisFromFrontLens : public LensImpl {
 public:
  explicit AxisFromFrontLens(std::string_view name) : name_(name) {}
  absl::Status Import(Draft& draft) const override { return Move(draft); }
  absl::Status Export(Draft& draft) const override { return Move(draft); }
  std::vector<std::string> ForeignAttrs() const override { return {name_}; }

 private:
  absl::Status Move(Draft& draft) const {
    std::optional<Attribute> attr = draft.TakeAttr(name_);
    if (!attr) return absl::OkStatus();
    const int64_t rank = RankOfFirst(draft);
    const int64_t* axis = attr->get<int64_t>();
    if (!axis) return Invalid("attribute '", name_, "': expected int, got ", Name(attr->kind()));
    const bool move = draft.opset() < kNegativeAxes && *axis < 0 && rank >= 0 && *axis + rank >= 0;
    draft.SetAttr(name_, move ? Attribute(*axis + rank) : *std::move(attr));
    return absl::OkStatus();
  }
  std::string name_;
};

class AxesAsAttrLens : public LensImpl {
 public:
  AxesAsAttrLens(EmptyAxes empty, bool inserted, int computed_from)
      : empty_(empty), inserted_(inserted), computed_from_(computed_from) {}

  absl::Status Import(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr("axes");
    if (!attr) return draft.SetOperand("axes", nullptr);
    const auto* axes = attr->get<Attribute::Ints>();
    if (!axes) return Invalid("attribute 'axes': expected ints, got ", Name(attr->kind()));
    if (axes->empty() && empty_ == EmptyAxes::kAll) return draft.SetOperand("axes", nullptr);
    return draft.SetOperand("axes", draft.builder().Ints(AtOpset(draft, *axes), "axes"));
  }

  absl::Status Export(Draft& draft) const override {
    const Value* operand = draft.TakeOperand("axes");
    if (!operand) return absl::OkStatus();
    std::optional<std::vector<int64_t>> axes = KnownInts(operand);
    if (!axes) {
      return CannotExpress("operand 'axes' must be a constant at opset ", draft.opset(),
                           "; it may be computed from opset ", computed_from_, " on");
    }
    if (axes->empty() && empty_ == EmptyAxes::kAll) return absl::OkStatus();
    draft.SetAttr("axes", AtOpset(draft, *std::move(axes)));
    return absl::OkStatus();
  }

  std::vector<std::string> ForeignAttrs() const override { return {"axes"}; }
  bool TakesOperand(std::string_view operand) const override { return operand != "axes"; }

 private:
  std::vector<int64_t> AtOpset(const Draft& draft, std::vector<int64_t> axes) const {
    int64_t rank = RankOfFirst(draft);
    if (draft.opset() >= kNegativeAxes || rank < 0) return axes;
    if (inserted_) rank += static_cast<int64_t>(axes.size());
    return FromFront(std::move(axes), rank);
  }

  EmptyAxes empty_;
  bool inserted_;
  int computed_from_;
};

class LeftOutLens : public LensImpl {
 public:
  LeftOutLens(std::string_view ir, int since) : ir_(ir), since_(since) {}
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    if (!draft.TakeOperand(ir_)) return absl::OkStatus();
    return CannotExpress("operand '", ir_, "' cannot be expressed at opset ", draft.opset(),
                         FirstVersion{since_});
  }
  bool TakesOperand(std::string_view operand) const override { return operand != ir_; }

 private:
  std::string ir_;
  int since_;
};

class OneOfLens : public LensImpl {
 public:
  OneOfLens(std::string_view name, std::vector<std::string> values, int since)
      : name_(name), values_(std::move(values)), since_(since) {}
  absl::Status Import(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(name_);
    if (!attr) return absl::OkStatus();
    if (!Known(*attr)) {
      return Invalid("attribute '", name_, "' = ", attr->ToString(), " does not exist at opset ",
                     draft.opset(), "; expected ", absl::StrJoin(values_, ", "));
    }
    draft.SetAttr(name_, *std::move(attr));
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(name_);
    if (!attr) return absl::OkStatus();
    if (!Known(*attr)) {
      return CannotExpress("attribute '", name_, "' = ", attr->ToString(),
                           " cannot be expressed at opset ", draft.opset(), FirstVersion{since_});
    }
    draft.SetAttr(name_, *std::move(attr));
    return absl::OkStatus();
  }
  std::vector<std::string> IrAttrs() const override { return {name_}; }
  std::vector<std::string> ForeignAttrs() const override { return {name_}; }
  bool Says(Symbol, const Attribute& value, const OpSchema*) const override { return Known(value); }

 private:
  bool Known(const Attribute& attr) const {
    const std::string* text = attr.get<std::string>();
    return text && std::find(values_.begin(), values_.end(), *text) != values_.end();
  }
  std::string name_;
  std::vector<std::string> values_;
  int since_;
};

class OfRankLens : public LensImpl {
 public:
  OfRankLens(int64_t rank, std::vector<size_t> operands)
      : rank_(rank), operands_(std::move(operands)) {}
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    for (const size_t i : operands_) {
      const Value* operand = draft.node().input(i);
      const Shape* shape = operand ? operand->shape() : nullptr;
      if (!shape || (rank_ == 0) == (shape->rank() == 0)) continue;
      const std::vector<int64_t> one(static_cast<size_t>(rank_), 1);
      Value* x = draft.TakeOperandAt(i);
      Builder& b = draft.builder();
      draft.SetOperandAt(i, x->fixed_constant()
                                ? b.Constant(x->fixed_constant()->Reshaped(one), "number")
                                : b.Op("reshape", {x, b.Ints(one, "one")}));
    }
    return absl::OkStatus();
  }

 private:
  int64_t rank_;
  std::vector<size_t> operands_;
};

class AxesOfNothingLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value *x = draft.node().input(0), *operand = draft.node().input(1);
    const Shape* shape = x ? x->shape() : nullptr;
    const auto axes = operand ? KnownInts(operand) : std::nullopt;
    if (!shape || !axes || std::find(shape->begin(), shape->end(), Dim(0)) == shape->end()) {
      return absl::OkStatus();
    }
    const std::vector<int64_t> from_front = FromFront(*axes, shape->rank());
    if (from_front == *axes) return absl::OkStatus();
    draft.TakeOperandAt(1);
    draft.SetOperandAt(1, draft.builder().Ints(from_front, "axes"));
    return absl::OkStatus();
  }
};

class NoScalarLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    return RankOfFirst(draft) == 0 ? CannotExpress("of a scalar") : absl::OkStatus();
  }
};

}  // namespace

Lens OfRank(int64_t rank, std::vector<size_t> operands) {
  return std::make_shared<OfRankLens>(rank, std::move(operands));
}
Lens AxesOfNothingFromFront() { return std::make_shared<AxesOfNothingLens>(); }
Lens NoScalar() { return std::make_shared<NoScalarLens>(); }
Lens AxisFromFront(std::string_view name) { return std::make_shared<AxisFromFrontLens>(name); }
Lens AxesAsAttr(EmptyAxes empty, bool inserted, int computed_from) {
  return std::make_shared<AxesAsAttrLens>(empty, inserted, computed_from);
}
Lens LeftOut(std::string_view ir, int since) { return std::make_shared<LeftOutLens>(ir, since); }
Lens OneOf(std::string_view name, std::vector<std::string> values, int since) {
  return std::make_shared<OneOfLens>(name, std::move(values), since);
}

}  // namespace x2ir
