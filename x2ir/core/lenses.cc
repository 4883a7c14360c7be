// The lenses of spec.h.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_join.h"
#include "x2ir/core/spec.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

using Strings = std::vector<std::string>;

// "; it may be computed from opset 11 on" where a later version has such an operand.
std::string FirstOpsetWithOperand(const Draft& draft, std::string_view operand) {
  if (!draft.schema()) return "";
  const Dialect* dialect = FindDialect(draft.dialect().view());
  if (!dialect || !dialect->versions) return "";
  for (const OpSchema* schema : dialect->versions(draft.schema()->name)) {
    if (schema->since > draft.opset() && schema->InputIndex(operand) >= 0) {
      return StrCat("; it may be computed from opset ", schema->since, " on");
    }
  }
  return "";
}

class OperandAsAttrLens : public LensImpl {
 public:
  OperandAsAttrLens(std::string_view ir, std::string_view foreign,
                    std::optional<Attribute> when_left_out)
      : ir_(ir), foreign_(foreign), when_left_out_(std::move(when_left_out)) {}

  absl::Status Import(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(foreign_);
    if (!attr || (when_left_out_ && *attr == *when_left_out_)) {
      return draft.SetOperand(ir_, nullptr);
    }
    Builder& b = draft.builder();
    Value* value = nullptr;
    if (auto* ints = attr->get<Attribute::Ints>()) {
      value = b.Ints(*ints, ir_);
    } else if (auto* i = attr->get<int64_t>()) {
      value = b.Int(*i, ir_);
    } else if (auto* f = attr->get<float>()) {
      const Value* first = draft.node().input(0);
      const DType dtype = first && IsNumeric(first->dtype()) ? first->dtype() : DType::kFloat32;
      value = b.Scalar(dtype, *f, ir_);
    } else if (auto* floats = attr->get<Attribute::Floats>()) {
      value = b.Constant(Tensor::Of<float>({static_cast<int64_t>(floats->size())}, *floats), ir_);
    } else if (auto* tensor = attr->get<Tensor>()) {
      value = b.Constant(*tensor, ir_);
    } else {
      return Unimplemented("attribute '", foreign_, "' of kind ", Name(attr->kind()));
    }
    return draft.SetOperand(ir_, value);
  }

  absl::Status Export(Draft& draft) const override {
    const Value* value = draft.TakeOperand(ir_);
    if (!value) {
      if (when_left_out_) draft.SetAttr(foreign_, *when_left_out_);
      return absl::OkStatus();
    }
    const std::optional<Tensor> tensor = KnownTensor(*value);
    if (!tensor) {
      return CannotExpress("operand '", ir_, "' must be a constant at opset ", draft.opset(),
                           FirstOpsetWithOperand(draft, ir_));
    }
    const AttrSchema* schema = draft.schema() ? draft.schema()->FindAttr(foreign_) : nullptr;
    X2IR_ASSIGN_OR_RETURN(Attribute attr, ToAttr(*tensor, schema));
    draft.SetAttr(foreign_, std::move(attr));
    return absl::OkStatus();
  }

  Strings IrOperands() const override { return {ir_}; }
  Strings ForeignAttrs() const override { return {foreign_}; }
  bool TakesOperand(std::string_view operand) const override { return operand != ir_; }

 private:
  absl::StatusOr<Attribute> ToAttr(const Tensor& tensor, const AttrSchema* schema) const {
    const bool floating = IsFloating(tensor.dtype());
    AttrKind kind = AttrKind::kInts;
    if (schema) {
      kind = schema->kind;
    } else if (floating) {
      kind = tensor.rank() == 0 ? AttrKind::kFloat : AttrKind::kFloats;
    } else if (tensor.rank() == 0) {
      kind = AttrKind::kInt;
    }
    if (kind == AttrKind::kTensor) return Attribute(tensor);
    if (kind == AttrKind::kInts || kind == AttrKind::kInt) {
      X2IR_ASSIGN_OR_RETURN(std::vector<int64_t> ints, tensor.ToInts());
      if (kind == AttrKind::kInts) return Attribute(std::move(ints));
      if (ints.size() != 1) return Invalid("operand '", ir_, "' must hold one element");
      return Attribute(ints[0]);
    }
    if (kind != AttrKind::kFloat && kind != AttrKind::kFloats) {
      return Internal("attribute '", foreign_, "' cannot hold a tensor");
    }
    if (!IsFloating(tensor.dtype()) && !IsInteger(tensor.dtype()) &&
        tensor.dtype() != DType::kBool) {
      return CannotExpress("operand '", ir_, "' of ", Name(tensor.dtype()),
                           " cannot be attribute '", foreign_, "', of real numbers");
    }
    Attribute::Floats floats;
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      const double number = tensor.AsDouble(i);
      const float f = static_cast<float>(number);
      if (!std::isnan(number) && static_cast<double>(f) != number) {
        return CannotExpress("operand '", ir_, "' = ", number,
                             " is not exact as a float32 attribute");
      }
      floats.push_back(f);
    }
    if (kind == AttrKind::kFloats) return Attribute(std::move(floats));
    if (floats.size() != 1) return Invalid("operand '", ir_, "' must hold one element");
    return Attribute(floats[0]);
  }

  std::string ir_, foreign_;
  std::optional<Attribute> when_left_out_;
};

class RenamedLens : public LensImpl {
 public:
  RenamedLens(std::string_view ir, std::string_view foreign) : ir_(ir), foreign_(foreign) {}
  absl::Status Import(Draft& draft) const override { return Move(draft, foreign_, ir_); }
  absl::Status Export(Draft& draft) const override { return Move(draft, ir_, foreign_); }
  Strings IrAttrs() const override { return {ir_}; }
  Strings ForeignAttrs() const override { return {foreign_}; }

 private:
  static absl::Status Move(Draft& draft, const std::string& from, const std::string& to) {
    if (std::optional<Attribute> attr = draft.TakeAttr(from)) draft.SetAttr(to, *std::move(attr));
    return absl::OkStatus();
  }
  std::string ir_, foreign_;
};

class AttrLens : public LensImpl {
 public:
  AttrLens(std::string_view name, Attribute value) : name_(name), default_(std::move(value)) {}
  absl::Status Import(Draft& draft) const override {
    if (!draft.SourceHasAttr(name_)) draft.SetAttr(name_, default_);
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(name_);
    if (attr && *attr != default_) draft.SetAttr(name_, *std::move(attr));
    return absl::OkStatus();
  }
  Strings IrAttrs() const override { return {name_}; }
  Strings ForeignAttrs() const override { return {name_}; }

 private:
  std::string name_;
  Attribute default_;
};

class FixedLens : public LensImpl {
 public:
  FixedLens(std::string_view ir, Attribute value) : ir_(ir), value_(std::move(value)) {}
  absl::Status Import(Draft& draft) const override {
    draft.SetAttr(ir_, value_);
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(ir_);
    if (!attr || *attr == value_) return absl::OkStatus();
    return CannotExpress("attribute '", ir_, "' = ", attr->ToString(),
                         " cannot be expressed at opset ", draft.opset(), "; expected ",
                         value_.ToString());
  }
  Strings IrAttrs() const override { return {ir_}; }
  bool Says(Symbol, const Attribute& value, const OpSchema*) const override {
    return value == value_;
  }

 private:
  std::string ir_;
  Attribute value_;
};

class ForeignFixedLens : public LensImpl {
 public:
  ForeignFixedLens(std::string_view foreign, Attribute value)
      : foreign_(foreign), value_(std::move(value)) {}
  absl::Status Import(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(foreign_);
    if (!attr || *attr == value_) return absl::OkStatus();
    return Unimplemented("attribute '", foreign_, "' = ", attr->ToString(), "; expected ",
                         value_.ToString());
  }
  absl::Status Export(Draft& draft) const override {
    draft.SetAttr(foreign_, value_);
    return absl::OkStatus();
  }
  Strings ForeignAttrs() const override { return {foreign_}; }

 private:
  std::string foreign_;
  Attribute value_;
};

class DroppedLens : public LensImpl {
 public:
  explicit DroppedLens(std::string_view foreign) : foreign_(foreign) {}
  absl::Status Import(Draft& draft) const override {
    draft.TakeAttr(foreign_);
    return absl::OkStatus();
  }
  absl::Status Export(Draft&) const override { return absl::OkStatus(); }
  Strings ForeignAttrs() const override { return {foreign_.str()}; }
  bool Leaves(const Node& node, bool importing) const override {
    return !importing || !node.attrs().Has(foreign_);
  }

 private:
  Symbol foreign_;
};

class EnumMapLens : public LensImpl {
 public:
  EnumMapLens(std::string_view ir, std::string_view foreign,
              std::vector<std::pair<Attribute, Attribute>> table)
      : ir_(ir), foreign_(foreign), table_(std::move(table)) {}
  absl::Status Import(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(foreign_);
    if (!attr) return absl::OkStatus();
    for (const auto& [ir, foreign] : table_) {
      if (*attr != foreign) continue;
      draft.SetAttr(ir_, ir);
      return absl::OkStatus();
    }
    std::vector<std::string> allowed;
    for (const auto& [ir, foreign] : table_) {
      if (foreign.kind() == attr->kind()) allowed.push_back(foreign.ToString());
    }
    return Invalid("attribute '", foreign_, "' = ", attr->ToString(), "; expected ",
                   allowed.empty() ? StrCat("another kind than ", Name(attr->kind()))
                                   : absl::StrJoin(allowed, ", "));
  }
  absl::Status Export(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(ir_);
    if (!attr) return absl::OkStatus();
    for (const auto& [ir, foreign] : table_) {
      if (*attr != ir) continue;
      draft.SetAttr(foreign_, foreign);
      return absl::OkStatus();
    }
    return CannotExpress("attribute '", ir_, "' = ", attr->ToString(),
                         " cannot be expressed at opset ", draft.opset());
  }
  Strings IrAttrs() const override { return {ir_}; }
  Strings ForeignAttrs() const override { return {foreign_}; }
  bool Says(Symbol, const Attribute& value, const OpSchema*) const override {
    return std::any_of(table_.begin(), table_.end(),
                       [&](const auto& entry) { return entry.first == value; });
  }

 private:
  std::string ir_, foreign_;
  std::vector<std::pair<Attribute, Attribute>> table_;
};

class SpatialIntsLens : public LensImpl {
 public:
  SpatialIntsLens(std::string_view name, int64_t fill, int per_axis)
      : name_(name), fill_(fill), per_axis_(per_axis) {}
  absl::Status Import(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(name_);
    if (attr && !attr->get<Attribute::Ints>()) {
      return Invalid("attribute '", name_, "': expected ints, got ", Name(attr->kind()));
    }
    if (attr && !attr->get<Attribute::Ints>()->empty()) {
      draft.SetAttr(name_, *std::move(attr));
    } else {
      draft.SetAttr(name_, Attribute::Ints(SpatialRank(draft.node()) * per_axis_, fill_));
    }
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(name_);
    const auto* ints = attr ? attr->get<Attribute::Ints>() : nullptr;
    if (!ints) return absl::OkStatus();
    for (int64_t i : *ints) {
      if (i == fill_) continue;
      if (draft.schema() && !draft.schema()->FindAttr(name_)) {
        return CannotExpress("attribute '", name_, "' = ", attr->ToString(),
                             " cannot be expressed at opset ", draft.opset());
      }
      draft.SetAttr(name_, *std::move(attr));
      break;
    }
    return absl::OkStatus();
  }
  Strings IrAttrs() const override { return {name_}; }
  Strings ForeignAttrs() const override { return {name_}; }
  bool Says(Symbol, const Attribute& value, const OpSchema* schema) const override {
    const auto* ints = value.get<Attribute::Ints>();
    return !schema || schema->FindAttr(name_) ||
           (ints && std::all_of(ints->begin(), ints->end(), [&](int64_t i) { return i == fill_; }));
  }

 private:
  // Number of spatial axes; 0 when nothing tells (an empty list then means the same).
  static size_t SpatialRank(const Node& node) {
    if (const Attribute* kernel = node.attrs().Find("kernel_shape")) {
      if (auto* ints = kernel->get<Attribute::Ints>(); ints && !ints->empty()) return ints->size();
    }
    for (size_t i : {size_t{1}, size_t{0}}) {
      const Value* value = node.input(i);
      if (value && value->shape() && value->shape()->rank() >= 2) return value->shape()->rank() - 2;
    }
    return 0;
  }
  std::string name_;
  int64_t fill_;
  int per_axis_;
};

class DTypeAttrLens : public LensImpl {
 public:
  DTypeAttrLens(std::string_view ir, std::string_view foreign) : ir_(ir), foreign_(foreign) {}
  absl::Status Import(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(foreign_);
    if (!attr) return absl::OkStatus();
    const int64_t* number = attr->get<int64_t>();
    if (!number || !IsKnownDType(*number) || *number == 0) {
      return Invalid("attribute '", foreign_, "' = ", attr->ToString(), " is no element type");
    }
    draft.SetAttr(ir_, Attribute(Name(static_cast<DType>(*number))));
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    std::optional<Attribute> attr = draft.TakeAttr(ir_);
    if (!attr) return absl::OkStatus();
    const std::string* name = attr->get<std::string>();
    const std::optional<DType> dtype = name ? ParseDType(*name) : std::nullopt;
    if (!dtype) return Invalid("attribute '", ir_, "' = ", attr->ToString(), " is no element type");
    draft.SetAttr(foreign_, static_cast<int64_t>(*dtype));
    return absl::OkStatus();
  }
  Strings IrAttrs() const override { return {ir_}; }
  Strings ForeignAttrs() const override { return {foreign_}; }

 private:
  std::string ir_, foreign_;
};

std::string_view OrElse(std::string_view a, std::string_view b) { return a.empty() ? b : a; }

}  // namespace

Lens OperandAsAttr(std::string_view ir, std::string_view foreign,
                   std::optional<Attribute> when_left_out) {
  return std::make_shared<OperandAsAttrLens>(ir, OrElse(foreign, ir), std::move(when_left_out));
}
Lens Renamed(std::string_view ir, std::string_view foreign) {
  return std::make_shared<RenamedLens>(ir, foreign);
}
Lens Same(std::string_view name) { return Renamed(name, name); }
Lens Attr(std::string_view name, Attribute foreign_default) {
  return std::make_shared<AttrLens>(name, std::move(foreign_default));
}
Lens Fixed(std::string_view ir, Attribute value) {
  return std::make_shared<FixedLens>(ir, std::move(value));
}
Lens ForeignFixed(std::string_view foreign, Attribute value) {
  return std::make_shared<ForeignFixedLens>(foreign, std::move(value));
}
Lens Dropped(std::string_view foreign) { return std::make_shared<DroppedLens>(foreign); }
Lens EnumMap(std::string_view ir, std::string_view foreign,
             std::vector<std::pair<Attribute, Attribute>> table) {
  return std::make_shared<EnumMapLens>(ir, foreign, std::move(table));
}
Lens SpatialInts(std::string_view name, int64_t fill, int per_axis) {
  return std::make_shared<SpatialIntsLens>(name, fill, per_axis);
}
Lens DTypeAttr(std::string_view ir, std::string_view foreign) {
  return std::make_shared<DTypeAttrLens>(ir, OrElse(foreign, ir));
}
Lens ImportOnly() {
  static const Lens* lens = new Lens(std::make_shared<DroppedLens>(""));
  return *lens;
}
Lens ExportOnly() {
  static const Lens* lens = new Lens(std::make_shared<DroppedLens>(""));
  return *lens;
}

}  // namespace x2ir
