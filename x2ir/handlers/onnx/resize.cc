// ONNX Resize and its forebear Upsample, DepthToSpace and SpaceToDepth.
//
// Upsample, and Resize at opset 10, say no rule for coordinates. What ONNX's own tests of those
// opsets expect is `asymmetric`, and for nearest: floor where an axis grows, ceil where it
// shrinks.
#include "x2ir/builder/layers/resize.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

enum IrOperand : size_t { kX, kRoi, kScales, kSizes };

// The floats of a constant operand.
std::optional<std::vector<float>> ConstFloats(const Value* v) {
  const Tensor* t = v ? v->fixed_constant() : nullptr;
  if (t == nullptr || t->is_sparse() || !IsFloating(t->dtype())) return std::nullopt;
  std::vector<float> values;
  for (int64_t i = 0; i < t->num_elements(); ++i)
    values.push_back(static_cast<float>(t->AsDouble(i)));
  return values;
}

Value* Floats(Builder& b, const std::vector<float>& values, std::string_view hint) {
  return b.Constant(
      Tensor::Of<float>({static_cast<int64_t>(values.size())}, absl::MakeConstSpan(values)), hint);
}

// An operand that ONNX passes as an empty tensor where it means none.
bool IsNone(const Value* v) {
  if (v == nullptr) return true;
  const Shape* s = v->shape();
  return s != nullptr && s->NumElements() == Dim(0);
}

// An attribute of the node, without taking it. Its kind is checked later.
std::string Peek(const Draft& draft, Symbol name, std::string_view fallback) {
  const Attribute* attr = draft.node().attrs().Find(name);
  const auto* text = attr ? attr->get<std::string>() : nullptr;
  return text ? *text : std::string(fallback);
}

std::string TakeString(Draft& draft, Symbol name) {
  const auto attr = draft.TakeAttr(name);
  const auto* text = attr ? attr->get<std::string>() : nullptr;
  return text ? *text : "";
}

// roi, scales and sizes of an IR node, made to speak of every axis of x where attribute `axes`
// named some. Opsets before 18 have no axes.
struct Operands {
  Value* roi = nullptr;
  Value* scales = nullptr;
  Value* sizes = nullptr;
};

absl::StatusOr<Operands> OverAllAxes(Draft& draft) {
  const Node& node = draft.node();
  Operands o{node.input(kRoi), node.input(kScales), node.input(kSizes)};
  const auto attr = draft.TakeAttr("axes");
  const auto* given = attr ? attr->get<Attribute::Ints>() : nullptr;
  if (given == nullptr) return o;
  const Shape* x = node.input(kX) ? node.input(kX)->shape() : nullptr;
  if (x == nullptr) return CannotExpress("axes of an input of unknown rank; opset 18 has axes");
  const size_t rank = static_cast<size_t>(x->rank());
  std::vector<size_t> axes;
  bool all = given->size() == rank;
  for (int64_t a : *given) {
    if (a < -x->rank() || a >= x->rank()) return Invalid("axes: ", a, " is out of range");
    axes.push_back(static_cast<size_t>(a < 0 ? a + x->rank() : a));
    all = all && axes.back() == axes.size() - 1;
  }
  if (all) return o;
  const absl::Status computed =
      CannotExpress("scales, sizes or roi of only some axes that are computed; opset 18 has axes");
  if (o.scales != nullptr) {
    const auto values = ConstFloats(o.scales);
    if (!values || values->size() != axes.size()) return computed;
    std::vector<float> full(rank, 1.0f);
    for (size_t i = 0; i < axes.size(); ++i) full[axes[i]] = (*values)[i];
    o.scales = Floats(draft.builder(), full, "scales");
  }
  if (o.sizes != nullptr) {
    const auto values = KnownInts(o.sizes);
    if (!values || values->size() != axes.size()) return computed;
    std::vector<int64_t> full(rank, -1);
    for (size_t i = 0; i < axes.size(); ++i) full[axes[i]] = (*values)[i];
    for (size_t i = 0; i < rank; ++i) {
      if (full[i] >= 0) continue;
      if (!(*x)[static_cast<int64_t>(i)].is_static()) return computed;
      full[i] = (*x)[static_cast<int64_t>(i)].value();
    }
    o.sizes = draft.builder().Ints(full, "sizes");
  }
  if (o.roi != nullptr) {
    const auto values = ConstFloats(o.roi);
    if (!values || values->size() != 2 * axes.size()) return computed;
    std::vector<float> full(rank, 0.0f);
    full.resize(2 * rank, 1.0f);
    for (size_t i = 0; i < axes.size(); ++i) {
      full[axes[i]] = (*values)[i];
      full[axes[i] + rank] = (*values)[i + axes.size()];
    }
    o.roi = Floats(draft.builder(), full, "roi");
  }
  return o;
}

// Upsample and Resize-10, operand or attribute `scales`.
class OldResize : public LensImpl {
 public:
  enum class Form { kUpsample1, kUpsample7, kUpsample9, kResize10 };
  explicit OldResize(Form form) : form_(form) {}

  absl::Status Import(Draft& draft) const override {
    Value* scales = nullptr;
    if (form_ == Form::kUpsample1) {
      X2IR_ASSIGN_OR_RETURN(scales, HeightAndWidth(draft));
    } else if (form_ == Form::kUpsample7) {
      const auto attr = draft.TakeAttr("scales");
      const auto* values = attr ? attr->get<Attribute::Floats>() : nullptr;
      if (values == nullptr) return Invalid("attribute 'scales': expected floats");
      scales = Floats(draft.builder(), *values, "scales");
    } else {
      scales = draft.TakeOperandAt(1);
      if (scales == nullptr) return Invalid("operand 'scales' is missing");
    }
    X2IR_RETURN_IF_ERROR(draft.SetOperand("scales", scales));
    const std::string mode = Peek(draft, "mode", "nearest");
    if (form_ == Form::kUpsample1) {
      draft.TakeAttr("mode");
      if (mode != "nearest" && mode != "bilinear") return Invalid("mode '", mode, "'");
      draft.SetAttr("mode", mode == "nearest" ? "nearest" : "linear");
    }
    const auto values = ConstFloats(scales);
    bool grows = false, shrinks = false, too_small = false, wild = !values;
    for (float s : values.value_or(std::vector<float>())) {
      grows |= s > 1;
      too_small |= !(s >= 1);
      shrinks |= s < 1 && std::floor(1 / s) != 1 / s;  // 1/2, 1/4: nothing to round
    }
    std::string nearest = "floor";
    if (form_ == Form::kResize10 && mode == "nearest") {
      if (wild)
        return Unimplemented(
            "nearest with computed scales at opset 10, whose rounding depends on them");
      if (grows && shrinks) {
        // One after the other, as each rounds in its own way.
        std::vector<float> larger = *values, smaller = *values;
        for (float& s : larger) s = std::max(s, 1.0f);
        for (float& s : smaller) s = std::min(s, 1.0f);
        Builder& b = draft.builder();
        draft.SetOperandAt(
            kX, b.Op("resize", {draft.TakeOperandAt(0), nullptr, Floats(b, larger, "scales")},
                     kNearestFloor.Attrs()));
        X2IR_RETURN_IF_ERROR(draft.SetOperand("scales", Floats(b, smaller, "scales")));
      }
      if (shrinks) nearest = "ceil";
    } else if (form_ != Form::kResize10 && too_small) {
      return Invalid("scales: Upsample expects numbers from 1");
    }
    draft.SetAttr("nearest_mode", nearest);
    draft.SetAttr("coordinate_transformation_mode", "asymmetric");
    return absl::OkStatus();
  }

  absl::Status Export(Draft& draft) const override {
    const std::string name = form_ == Form::kResize10 ? "Resize" : "Upsample";
    X2IR_ASSIGN_OR_RETURN(Operands o, OverAllAxes(draft));
    for (size_t i = kRoi; i <= kSizes; ++i) draft.TakeOperandAt(i);
    const std::string mode = Peek(draft, "mode", "nearest");
    const std::string coordinates = TakeString(draft, "coordinate_transformation_mode");
    const std::string nearest = TakeString(draft, "nearest_mode");
    if (mode != "nearest" && mode != "linear") {
      return CannotExpress("mode '", mode, "' at opset ", draft.opset(), FirstVersion{11});
    }
    std::optional<std::vector<float>> scales = ConstFloats(o.scales);
    if (o.scales == nullptr) {
      scales = ScalesOf(draft.node().input(kX), o.sizes);
      if (!scales) {
        return CannotExpress("sizes that are not those of constant scales at opset ", draft.opset(),
                             "; opset 11 has them");
      }
      o.scales = Floats(draft.builder(), *scales, "scales");
    }
    bool whole = scales.has_value(), grows = false, shrinks = false;
    for (float s : scales.value_or(std::vector<float>())) {
      whole = whole && (s == std::floor(s) || 1 / s == std::floor(1 / s));
      grows |= s > 1;
      shrinks |= s < 1;
    }
    const absl::Status refused =
        CannotExpress("coordinates '", coordinates, "' with nearest_mode '", nearest, "' at opset ",
                      draft.opset(), "; opset 11 has them");
    if (form_ == Form::kUpsample7 && !scales) {
      return CannotExpress("scales that are computed at opset ", draft.opset(),
                           "; opset 9 has them");
    }
    if (form_ != Form::kResize10 && shrinks) {
      return CannotExpress("scales under 1 at opset ", draft.opset(), "; opset 10 has them");
    }
    if (mode == "linear") {
      if (coordinates != "asymmetric") return refused;
    } else {
      // All rules agree where each input element is repeated, or each n-th taken.
      const bool repeats =
          whole && !shrinks &&
          (coordinates == "asymmetric" ? nearest == "floor"
                                       : SamplingOf(draft.node()).coordinates == "half_pixel" &&
                                             nearest.starts_with("round_prefer"));
      const bool takes = whole && !grows && coordinates == "asymmetric";
      // Upsample only grows, also by scales that are computed.
      const bool as_written =
          (scales || form_ == Form::kUpsample9) && coordinates == "asymmetric" &&
          ((!shrinks && nearest == "floor") || (!grows && nearest == "ceil" && scales));
      if (!repeats && !takes && !as_written) return refused;
    }
    if (form_ != Form::kUpsample7) {
      draft.SetOperandAt(1, o.scales);
    } else {
      draft.SetAttr("scales", *scales);
    }
    return absl::OkStatus();
  }
  std::vector<std::string> IrAttrs() const override {
    return {"coordinate_transformation_mode", "nearest_mode", "axes"};
  }
  std::vector<std::string> ForeignAttrs() const override {
    switch (form_) {
      case Form::kUpsample1: return {"height_scale", "width_scale", "mode"};
      case Form::kUpsample7: return {"scales"};
      default: return {};
    }
  }
  bool Says(Symbol attr, const Attribute&, const OpSchema*) const override {
    return attr != "axes";  // the operands are spread over all axes
  }

 private:
  // The first Upsample knew images alone.
  static absl::StatusOr<Value*> HeightAndWidth(Draft& draft) {
    std::vector<float> scales = {1, 1};
    for (const char* name : {"height_scale", "width_scale"}) {
      const auto attr = draft.TakeAttr(name);
      const float* scale = attr ? attr->get<float>() : nullptr;
      if (scale == nullptr) return Invalid("attribute '", name, "': expected float");
      scales.push_back(*scale);
    }
    return Floats(draft.builder(), scales, "scales");
  }
  // Scales that give exactly these sizes, where all is static.
  static std::optional<std::vector<float>> ScalesOf(const Value* x, const Value* sizes) {
    const auto wanted = KnownInts(sizes);
    const auto have = x && x->shape() ? x->shape()->Static() : std::nullopt;
    if (!wanted || !have || wanted->size() != have->size()) return std::nullopt;
    std::vector<float> scales;
    for (size_t i = 0; i < have->size(); ++i) {
      if ((*have)[i] == 0) return std::nullopt;
      const float s = static_cast<float>((*wanted)[i]) / static_cast<float>((*have)[i]);
      // Runtimes multiply in float or in double: both must give the size.
      const bool exact =
          std::floor(static_cast<double>(s) * static_cast<double>((*have)[i])) ==
              static_cast<double>((*wanted)[i]) &&
          std::floor(s * static_cast<float>((*have)[i])) == static_cast<float>((*wanted)[i]);
      if (!exact || !(s > 0)) return std::nullopt;
      scales.push_back(s);
    }
    return scales;
  }
  Form form_;
};

// Resize since opset 11.
class Resize : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    Value* operands[] = {draft.TakeOperandAt(kRoi), draft.TakeOperandAt(kScales),
                         draft.TakeOperandAt(kSizes)};
    std::string coordinates = TakeString(draft, "coordinate_transformation_mode");
    std::string nearest = TakeString(draft, "nearest_mode");
    const std::string mode = Peek(draft, "mode", "nearest");
    if (coordinates != "tf_crop_and_resize") operands[0] = nullptr;  // it has no meaning
    for (Value*& v : operands) {
      if (IsNone(v)) v = nullptr;
    }
    // With p = (i + 1/2) / s, today's way to say floor(p) is round_prefer_ceil(p - 1/2), and to
    // say round_prefer_floor(p) it is ceil(p - 1/2).
    if (coordinates == "tf_half_pixel_for_nn" && mode == "nearest" &&
        (nearest == "floor" || nearest == "round_prefer_floor")) {
      coordinates = "half_pixel";
      nearest = nearest == "floor" ? "round_prefer_ceil" : "ceil";
    }
    for (size_t i = 0; i < 3; ++i) draft.SetOperandAt(kRoi + i, operands[i]);
    draft.SetAttr("coordinate_transformation_mode", coordinates);
    draft.SetAttr("nearest_mode", nearest);
    return absl::OkStatus();
  }

  absl::Status Export(Draft& draft) const override {
    const int opset = draft.opset();
    const Node& node = draft.node();
    Operands o{node.input(kRoi), node.input(kScales), node.input(kSizes)};
    if (opset < 18) {
      X2IR_ASSIGN_OR_RETURN(o, OverAllAxes(draft));
    } else if (const auto axes = draft.TakeAttr("axes")) {
      draft.SetAttr("axes", *axes);
    }
    const std::string coordinates = TakeString(draft, "coordinate_transformation_mode");
    if (coordinates == "half_pixel_symmetric" && opset < 19) {
      return CannotExpress("half_pixel_symmetric at opset ", opset, FirstVersion{19});
    }
    if (coordinates == "tf_half_pixel_for_nn" && opset > 12) {
      return CannotExpress("tf_half_pixel_for_nn at opset ", opset, "; opsets 11 and 12 have it");
    }
    // Opsets 11 and 12 want all but sizes to be there.
    if (opset < 13) {
      if (o.roi == nullptr) o.roi = Floats(draft.builder(), {}, "roi");
      if (o.scales == nullptr) o.scales = Floats(draft.builder(), {}, "scales");
    }
    Value* operands[] = {o.roi, o.scales, o.sizes};
    for (size_t i = 0; i < 3; ++i) {
      draft.TakeOperandAt(kRoi + i);
      draft.SetOperandAt(kRoi + i, operands[i]);
    }
    draft.SetAttr("coordinate_transformation_mode", coordinates);
    return absl::OkStatus();
  }
  std::vector<std::string> IrAttrs() const override {
    return {"coordinate_transformation_mode", "nearest_mode", "axes"};
  }
  std::vector<std::string> ForeignAttrs() const override {
    return {"coordinate_transformation_mode", "nearest_mode"};
  }
  bool Says(Symbol attr, const Attribute&, const OpSchema* schema) const override {
    return attr != "axes" || !schema || schema->FindAttr(attr);
  }
};

Lens Old(OldResize::Form form) { return std::make_shared<OldResize>(form); }
Lens New() { return std::make_shared<Resize>(); }

X2IR_ONNX(resize)
    .Is("Upsample", In(1, 6), Old(OldResize::Form::kUpsample1), ImportOnly())
    .Is("Upsample", In(7, 8), Old(OldResize::Form::kUpsample7))
    .Is("Upsample", In(9, 9), Old(OldResize::Form::kUpsample9))
    .Is("Resize", In(10, 10), Old(OldResize::Form::kResize10))
    .Is("Resize", Since(11), New());

// Opsets before 20 know two spatial axes only, and say so in the names of the modes. Files have
// three at these opsets all the same, which runtimes read as opset 20 does.
class TwoSpatialAxes : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override { return Check(draft); }
  absl::Status Export(Draft& draft) const override { return Check(draft); }

 private:
  static absl::Status Check(Draft& draft) {
    for (size_t i = 0; i < 2 && i < draft.node().num_inputs(); ++i) {
      const Value* v = draft.node().input(i);
      const Shape* shape = v ? v->shape() : nullptr;
      if (draft.importing()) {
        const bool cubic = draft.node().attrs().String("mode", "") == "bicubic";
        if (!shape || shape->rank() == 4 || (shape->rank() == 5 && !cubic)) continue;
        return Invalid(i == 0 ? "X" : "grid", ": expected rank 4",
                       cubic ? " with mode bicubic" : "", ", got ", shape->rank());
      }
      if (shape && shape->rank() != 4) {
        return CannotExpress("rank ", shape->rank(), " cannot be expressed at opset ",
                             draft.opset(), FirstVersion{20});
      }
    }
    return absl::OkStatus();
  }
};

// ONNX allows one spatial axis, ONNX Runtime does not.
class SeveralSpatialAxes : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Value* x = draft.node().input(0);
    const bool line = x && x->shape() && x->shape()->rank() == 3;
    return line ? CannotExpress("one spatial axis, which runtimes refuse") : absl::OkStatus();
  }
};

}  // namespace

X2IR_ONNX(grid_sample)
    .Is("GridSample", In(16, 19), Lens(std::make_shared<TwoSpatialAxes>()),
        EnumMap("mode", "mode",
                {{"linear", "bilinear"}, {"nearest", "nearest"}, {"cubic", "bicubic"}}))
    .Is("GridSample", Since(20), Lens(std::make_shared<SeveralSpatialAxes>()));
X2IR_ONNX(affine_grid).Is("AffineGrid", Since(20));

}  // namespace x2ir
