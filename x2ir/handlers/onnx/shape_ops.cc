// ONNX: ops that change or read shapes, put tensors together and take them apart.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/axis_lenses.h"
#include "x2ir/handlers/onnx/legacy_lenses.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/slice.h"

namespace x2ir {
namespace {

// ONNX may leave perm out: reversed. The IR writes it out where the rank is known.
class PermWrittenOut : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    const Value* data = draft.node().input(0);
    if (draft.SourceHasAttr("perm") || !data || !data->shape()) return absl::OkStatus();
    Attribute::Ints perm;
    for (int64_t i = data->shape()->rank(); i-- > 0;) perm.push_back(i);
    draft.SetAttr("perm", std::move(perm));
    return absl::OkStatus();
  }
  absl::Status Export(Draft&) const override { return absl::OkStatus(); }
};

// --- Split ----------------------------------------------------------------------------------

// Before opset 18 parts without given sizes are equal. `num_outputs` rounds up: the same
// where the number of outputs divides the size.
class EqualParts : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Node& node = draft.node();
    std::optional<Attribute> attr = draft.TakeAttr("num_outputs");
    if (!attr || node.input(1)) return absl::OkStatus();
    const Shape* in = node.input(0) ? node.input(0)->shape() : nullptr;
    int64_t axis = node.attrs().Int("axis");
    if (in && axis < 0) axis += in->rank();
    if (in && axis >= 0 && axis < in->rank() &&
        ProvablyEqual(Mod((*in)[axis], static_cast<int64_t>(node.num_outputs())), 0)) {
      return absl::OkStatus();
    }
    return CannotExpress("attribute 'num_outputs' = ", attr->ToString(),
                         " cannot be expressed at opset ", draft.opset(), FirstVersion{18});
  }
  std::vector<std::string> IrAttrs() const override { return {"num_outputs"}; }
};

absl::StatusOr<Values> FromSplit18(Rewrite& r) {
  AttributeMap attrs;
  for (const auto& [name, attr] : r.attrs()) {
    if (name != "axis" && name != "num_outputs") {
      return Invalid("unknown attribute '", name.str(), "'");
    }
    if (attr.kind() != AttrKind::kInt) return Invalid("attribute '", name.str(), "': expected int");
    attrs.Set(name, attr);
  }
  if (r.has(1) && attrs.Has("num_outputs")) {
    return Invalid("operand 'split' and attribute 'num_outputs' exclude each other");
  }
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  return r.b.Ops("split", r.node.inputs(), std::move(attrs), wanted);
}

// Opset 18 requires the number of equal parts.
absl::StatusOr<Values> ToSplit18(Rewrite& r) {
  AttributeMap attrs;
  if (const int64_t axis = r.attrs().Int("axis"); axis != 0) attrs.Set("axis", axis);
  std::vector<Value*> operands = r.node.inputs();
  if (!r.has(1)) {
    // Runtimes refuse parts without elements, but for sizes that are said.
    const auto count = static_cast<int64_t>(r.num_outputs());
    const Shape* shape = r.in(0)->shape();
    int64_t axis = r.attrs().Int("axis");
    if (shape && axis < 0) axis += shape->rank();
    const bool known = shape && axis >= 0 && axis < shape->rank() && (*shape)[axis].is_static();
    const int64_t size = known ? (*shape)[axis].value() : 0;
    const int64_t part = (size + count - 1) / count;
    if (known && part * (count - 1) >= size) {
      std::vector<int64_t> sizes;
      for (int64_t i = 0; i < count; ++i) {
        sizes.push_back(std::clamp<int64_t>(size - i * part, 0, part));
      }
      operands.resize(1);
      operands.push_back(r.b.Ints(sizes, "sizes"));
    } else {
      attrs.Set("num_outputs", count);
    }
  }
  // All outputs: parts without uses are parts of the operand too.
  return r.b.Node(r.dialect, "Split", std::move(operands), std::move(attrs),
                  std::vector<bool>(r.num_outputs(), true));
}

// --- Slice ----------------------------------------------------------------------------------

// Before opset 10 there were no steps.
class StepsOfOne : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value* operand = draft.TakeOperand("steps");
    if (!operand) return absl::OkStatus();
    const auto steps = KnownInts(operand);
    for (int64_t step : steps.value_or(std::vector<int64_t>{0})) {
      if (step == 1) continue;
      return CannotExpress("steps other than 1 cannot be expressed at opset ", draft.opset(),
                           "; opset 10 has them");
    }
    return absl::OkStatus();
  }
};

// With negative steps ONNX Runtime reads the largest integer, which means the end, as the
// beginning; ONNX's text says that of the smallest integer.
class EndsBackwards : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const auto ends = KnownInts(draft.node().input(2)), steps = KnownInts(draft.node().input(4));
    if (!ends || !steps || ends->size() != steps->size()) return absl::OkStatus();
    std::vector<int64_t> moved = *ends;
    for (size_t i = 0; i < moved.size(); ++i) {
      const bool largest = moved[i] == std::numeric_limits<int64_t>::max() ||
                           moved[i] == std::numeric_limits<int32_t>::max();
      if ((*steps)[i] < 0 && largest) --moved[i];
    }
    if (moved == *ends) return absl::OkStatus();
    const DType t = draft.TakeOperandAt(2)->dtype();
    X2IR_ASSIGN_OR_RETURN(
        Tensor cast,
        CastTensor(Tensor::Of<int64_t>({static_cast<int64_t>(moved.size())}, moved), t));
    draft.SetOperandAt(2, draft.builder().Constant(std::move(cast), "ends"));
    return absl::OkStatus();
  }
};

// An op without axes changes nothing, but runtimes refuse it or apply it to all axes: Slice and Pad
// of a scalar, Squeeze with an empty list. Nor do runtimes reflect more than once.
class SomeAxes : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Node& node = draft.node();
    if (NamesNoAxes(node)) return CannotExpress("no axes at all");
    if (PadsBeyond(node)) return CannotExpress("padding with more than there is");
    return absl::OkStatus();
  }
};

Lens NamesAxes() { return std::make_shared<SomeAxes>(); }

// ONNX's inference refuses indices of rank 0.
class IndicesOfSomeRank : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value* indices = draft.node().input(0);
    if (!indices || !indices->shape() || indices->shape()->rank() > 0) return absl::OkStatus();
    return CannotExpress("indices of rank 0");
  }
};

// The elements of a constant of floats, which must be whole.
absl::StatusOr<std::vector<int64_t>> WholeNumbers(const Value* value, std::string_view name) {
  const Tensor* tensor = value ? value->fixed_constant() : nullptr;
  if (!tensor || tensor->is_sparse() || !IsFloating(tensor->dtype())) {
    return Unimplemented("operand '", name, "' must be a constant at opset 1");
  }
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    const double number = tensor->AsDouble(i);
    if (!(std::abs(number) < 9e15) || number != std::floor(number)) {
      return Invalid("operand '", name, "' has ", number, "; expected a whole number");
    }
    numbers.push_back(static_cast<int64_t>(number));
  }
  return numbers;
}

// One axis is repeated.
absl::StatusOr<Values> FromTile1(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> tiles, WholeNumbers(r.in(1), "tiles"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, WholeNumbers(r.in(2), "axis"));
  if (tiles.size() != 1 || axes.size() != 1) return Invalid("tiles and axis: expected one number");
  const int64_t rank = r.rank(0);
  if (rank < 0) return Unimplemented("an operand of unknown rank at opset 1");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(axes[0], rank));
  std::vector<int64_t> repeats(rank, 1);
  repeats[axis] = tiles[0];
  return Values{r.b.Op("tile", {r.in(0), r.b.Ints(repeats, "repeats")})};
}

// Sizes as an attribute or as an operand. The default of `axis` is not specified.
absl::StatusOr<Values> FromSplit1(Rewrite& r) {
  const Attribute* axis = r.attrs().Find("axis");
  if (!axis) return Unimplemented("Split without axis, which opset 1 does not define");
  std::vector<Value*> operands = {r.in(0)};
  if (const Attribute* sizes = r.attrs().Find("split")) {
    if (r.has(1)) return Invalid("operand and attribute 'split' exclude each other");
    const auto* ints = sizes->get<Attribute::Ints>();
    if (!ints) return Invalid("attribute 'split': expected ints");
    operands.push_back(r.b.Ints(*ints, "split"));
  } else if (r.has(1)) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, WholeNumbers(r.in(1), "split"));
    operands.push_back(r.b.Ints(ints, "split"));
  }
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  return r.b.Ops("split", std::move(operands), {{"axis", *axis}}, wanted);
}

}  // namespace

X2IR_ONNX(reshape)
    .Is("Reshape", In(1, 4), OperandAsAttr("shape"), InPlaceHint(), ImportOnly())
    .Is("Reshape", Since(5), OfRank(1, {1}));
X2IR_ONNX(flatten).Is("Flatten", Since(1), AxisFromFront("axis"));
X2IR_ONNX(transpose).Is("Transpose", Since(1), Lens(std::make_shared<PermWrittenOut>()));
X2IR_ONNX(squeeze)
    .Is("Squeeze", In(1, 12), NamesAxes(), AxesAsAttr(EmptyAxes::kNone, /*inserted=*/false, 13))
    .Is("Squeeze", Since(13), NamesAxes(), OfRank(1, {1}));
X2IR_ONNX(unsqueeze)
    .Is("Unsqueeze", In(1, 12), AxesAsAttr(EmptyAxes::kNone, /*inserted=*/true, 13))
    .Is("Unsqueeze", Since(13), OfRank(1, {1}));
X2IR_ONNX(expand).Is("Expand", Since(8), OfRank(1, {1}));
X2IR_ONNX(tile).Is("Tile", Since(6), OfRank(1, {1}));
X2IR_ONNX(concat)
    .Is("Concat", In(1, 3), Attr("axis", 1), ImportOnly())
    .Is("Concat", Since(4), AxisFromFront("axis"));
X2IR_ONNX(split)
    .Is("Split", In(2, 12), OperandAsAttr("split"), AxisFromFront("axis"),
        Lens(std::make_shared<EqualParts>()))
    .Is("Split", In(13, 17), Lens(std::make_shared<EqualParts>()), OfRank(1, {1}))
    .Is("Split", Since(18), Code{FromSplit18, ToSplit18});
X2IR_ONNX(slice)
    .Is("Slice", In(1, 9), NamesAxes(), OperandAsAttr("starts"), OperandAsAttr("ends"),
        AxesAsAttr(EmptyAxes::kNone, /*inserted=*/false, 10), Lens(std::make_shared<StepsOfOne>()))
    .Is("Slice", Since(10), NamesAxes(), OfRank(1, {1, 2, 3, 4}),
        Lens(std::make_shared<EndsBackwards>()));
X2IR_ONNX(pad)
    .Is("Pad", In(1, 1), OperandAsAttr("pads", "paddings"),
        OperandAsAttr("constant_value", "value", 0.0f),
        OneOf("mode", {"constant", "reflect", "edge"}, 19), ImportOnly())
    .Is("Pad", In(2, 10), NamesAxes(), OperandAsAttr("pads"),
        OperandAsAttr("constant_value", "value", 0.0f), LeftOut("axes", 18),
        OneOf("mode", {"constant", "reflect", "edge"}, 19))
    .Is("Pad", In(11, 17), NamesAxes(), OfRank(1, {1}), LeftOut("axes", 18),
        OneOf("mode", {"constant", "reflect", "edge"}, 19))
    .Is("Pad", In(18, 18), NamesAxes(), OfRank(1, {1, 3}),
        OneOf("mode", {"constant", "reflect", "edge"}, 19))
    .Is("Pad", Since(19), NamesAxes(), OfRank(1, {1, 3}));
X2IR_ONNX(shape).Is("Shape", Since(1));
X2IR_ONNX(size).Is("Size", Since(1));
X2IR_ONNX(constant_of_shape)
    .Is("ConstantOfShape", Since(9), OfRank(1, {0}), Attr("value", Tensor::Of<float>({1}, {0.0f})));
X2IR_ONNX(range)
    .Is("Range", In(11, 26), OfRank(0, {0, 1, 2}))
    .Is("Range", Since(27), OfRank(0, {0, 1, 2}),
        ForeignFixed("stash_type", 1));  // 16-bit floats in float32
X2IR_ONNX(eye_like).Is("EyeLike", Since(9), DTypeAttr("dtype"));
X2IR_ONNX(trilu).Is("Trilu", Since(14));
X2IR_ONNX(one_hot).Is("OneHot", Since(9), Lens(std::make_shared<IndicesOfSomeRank>()));
X2IR_ONNX(center_crop_pad).Is("CenterCropPad", Since(18), NoScalar(), OfRank(1, {1}));
X2IR_ONNX(col2im).Is("Col2Im", Since(18), OfRank(1, {1, 2}));
X2IR_ONNX(tile).Is("Tile", In(1, 5), Code{FromTile1, nullptr});
X2IR_ONNX(split).Is("Split", In(1, 1), Code{FromSplit1, nullptr});
X2IR_ONNX(depth_to_space).Is("DepthToSpace", Since(1), Fixed("layout", "channels_first"));
X2IR_ONNX(space_to_depth).Is("SpaceToDepth", Since(1), Fixed("layout", "channels_first"));

}  // namespace x2ir
