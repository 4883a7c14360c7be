// ONNX: Softmax, LogSoftmax and Hardmax. Before opset 13 they saw their operand as a matrix,
// all axes from `axis` on taken as one; since then they work along one axis.
#include <optional>
#include <string>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

bool IsOne(const Dim& d) { return d.is_static() && d.value() == 1; }

// The one axis among [axis, rank) that may have more than one element; the last if none has;
// nullopt if there are several.
std::optional<int64_t> SingleAxis(const Shape& shape, int64_t axis) {
  std::optional<int64_t> found;
  for (int64_t i = axis; i < shape.rank(); ++i) {
    if (IsOne(shape[i])) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found ? found : shape.rank() - 1;
}

absl::StatusOr<Values> FromMatrixForm(Rewrite& r, Symbol op) {
  if (!r.in(0)) return Invalid("the operand is left out");
  int64_t axis = 1;
  for (const auto& [name, value] : r.attrs()) {
    if (name != "axis") return Invalid("unknown attribute '", name.str(), "'");
    if (value.kind() != AttrKind::kInt) {
      return Invalid("attribute 'axis': expected int, got ", Name(value.kind()));
    }
    axis = *value.get<int64_t>();
  }
  Value* x = r.in(0);
  if (const Shape* shape = x->shape()) {
    X2IR_ASSIGN_OR_RETURN(axis, NormalizeAxis(axis, shape->rank()));
    std::optional<int64_t> single = SingleAxis(*shape, axis);
    const Dim n = shape->NumElements();
    if (!single && n.is_static() && n.value() == 0) single = axis;  // nothing to compute
    if (single) return Values{r.b.Op(op, {x}, {{"axis", *single}})};
  } else if (axis == -1) {
    return Values{r.b.Op(op, {x}, {{"axis", -1}})};
  }
  Value* matrix = r.b.Op("flatten", {x}, {{"axis", axis}});
  Value* y = r.b.Op(op, {matrix}, {{"axis", 1}});
  return Values{r.b.Op("reshape", {y, r.b.Op("shape", {x})})};
}

absl::StatusOr<Values> ToMatrixForm(Rewrite& r, std::string_view onnx_op) {
  int64_t axis = r.attrs().Int("axis");
  if (const Shape* shape = r.in(0)->shape()) {
    X2IR_ASSIGN_OR_RETURN(axis, NormalizeAxis(axis, shape->rank()));
    const Dim n = shape->NumElements();
    const bool empty = n.is_static() && n.value() == 0;
    for (int64_t i = axis + 1; !empty && i < shape->rank(); ++i) {
      if (!IsOne((*shape)[i])) {
        return CannotExpress(onnx_op, " along another axis than the last exists from opset 13 on");
      }
    }
  } else if (axis != -1 || r.opset < 11) {
    return CannotExpress(onnx_op, " of an operand of unknown rank exists from opset 13 on");
  }
  AttributeMap attrs;
  if (axis != 1) attrs.Set("axis", axis);
  return r.b.Node(r.dialect, onnx_op, {r.in(0)}, std::move(attrs), {true});
}

Code MatrixForm(std::string_view ir_op, std::string_view onnx_op) {
  return Code{[op = Symbol(ir_op)](Rewrite& r) { return FromMatrixForm(r, op); },
              [onnx_op](Rewrite& r) { return ToMatrixForm(r, onnx_op); },
              [](Symbol attr, const Attribute& value) { return attr != "axis" || value == -1; }};
}

}  // namespace

X2IR_ONNX(softmax)
    .Is("Softmax", In(1, 12), MatrixForm("softmax", "Softmax"))
    .Is("Softmax", Since(13));
X2IR_ONNX(log_softmax)
    .Is("LogSoftmax", In(1, 12), MatrixForm("log_softmax", "LogSoftmax"))
    .Is("LogSoftmax", Since(13));
X2IR_ONNX(hardmax)
    .Is("Hardmax", In(1, 12), MatrixForm("hardmax", "Hardmax"))
    .Is("Hardmax", Since(13));

}  // namespace x2ir
