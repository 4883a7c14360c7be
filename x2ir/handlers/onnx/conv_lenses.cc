// Lenses that convolutions share, the layout also with pools and norms.
#include "x2ir/handlers/onnx/conv_lenses.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/layers/window.h"

namespace x2ir {
namespace {

class KernelShapeLens : public LensImpl {
 public:
  explicit KernelShapeLens(size_t w) : w_(w) {}
  absl::Status Import(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr("kernel_shape");
    if (!attr) return absl::OkStatus();
    const auto* said = attr->get<Attribute::Ints>();
    if (!said) return Invalid("attribute 'kernel_shape': expected ints");
    const std::optional<Attribute::Ints> known = Kernel(draft.node().input(w_));
    if (known && !said->empty() && *said != *known) {
      return Invalid("attribute 'kernel_shape' = ", attr->ToString(), ", but w has ",
                     Attribute(*known).ToString());
    }
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    std::optional<Attribute::Ints> known = Kernel(draft.node().input(w_));
    if (known && !known->empty()) draft.SetAttr("kernel_shape", *std::move(known));
    return absl::OkStatus();
  }
  std::vector<std::string> ForeignAttrs() const override { return {"kernel_shape"}; }

 private:
  static std::optional<Attribute::Ints> Kernel(const Value* w) {
    const Shape* shape = w ? w->shape() : nullptr;
    if (!shape || shape->rank() < 2) return std::nullopt;
    return Shape(std::vector<Dim>(shape->begin() + 2, shape->end())).Static();
  }
  size_t w_;
};

std::optional<Attribute::Ints> KernelOf(const Node& node) {
  const Attribute* said = node.attrs().Find("kernel_shape");
  if (said) return node.attrs().Ints("kernel_shape");
  const Shape* w = node.input(1) ? node.input(1)->shape() : nullptr;
  if (!w || w->rank() < 2) return std::nullopt;
  return Shape(std::vector<Dim>(w->begin() + 2, w->end())).Static();
}

// The size along spatial axis i, channels first.
Dim SpatialSize(const Node& node, size_t i) {
  const Shape* x = node.input(0) ? node.input(0)->shape() : nullptr;
  return x && x->rank() > static_cast<int64_t>(i) + 2 ? (*x)[static_cast<int64_t>(i) + 2]
                                                      : Dim::Unknown();
}

bool IsDilated(const Node& node) {
  const Attribute* dilations = node.attrs().Find("dilations");
  const auto* ints = dilations ? dilations->get<Attribute::Ints>() : nullptr;
  return ints && std::any_of(ints->begin(), ints->end(), [](int64_t d) { return d != 1; });
}

absl::StatusOr<Window> WithPads(const Node& node, const Window& window) {
  const auto padded = x2ir::WithPads(window, node.input(0) ? node.input(0)->shape() : nullptr);
  if (!padded) return CannotExpress("auto_pad of an input of unknown size");
  return *padded;
}

class PadsLens : public LensImpl {
 public:
  explicit PadsLens(bool below_kernel) : below_kernel_(below_kernel) {}
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    X2IR_ASSIGN_OR_RETURN(const AutoPad auto_pad, ReadAutoPad(draft.node().attrs()));
    const bool same = IsSame(auto_pad);
    // Automatic pads leave nothing to round up, but ONNX Runtime's LpPool rounds.
    if (below_kernel_ && auto_pad != AutoPad::kNotSet) draft.TakeAttr("ceil_mode");
    bool written_out = same && IsDilated(draft.node());
    if (!written_out && !below_kernel_) return absl::OkStatus();
    std::optional<Attribute::Ints> kernel = KernelOf(draft.node());
    if (!kernel) return CannotExpress("auto_pad with dilations, of a kernel of unknown size");
    X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(draft.node().attrs(), *std::move(kernel)));
    written_out = written_out || (same && MayLeaveOut(draft.node(), window));
    if (written_out) {
      X2IR_ASSIGN_OR_RETURN(window, WithPads(draft.node(), window));
      draft.TakeAttr("auto_pad");
      draft.SetAttr("pads", window.pads);
    }
    for (size_t i = 0; below_kernel_ && i < window.pads.size(); ++i) {
      const int64_t size = window.kernel[i % window.rank()];
      if (window.pads[i] >= size) {
        return CannotExpress("padding of ", window.pads[i], " for a kernel of ", size,
                             ", which runtimes refuse");
      }
    }
    return absl::OkStatus();
  }

 private:
  // Whether steps are longer than windows, which may then need less than no padding. Of an input of
  // unknown size nothing better can be written.
  static bool MayLeaveOut(const Node& node, const Window& window) {
    bool longer = false;
    for (size_t i = 0; i < window.rank(); ++i) {
      if (!SpatialSize(node, i).is_static()) return false;
      longer |= window.strides[i] > window.extent(i);
    }
    return longer;
  }

  const bool below_kernel_;
};

class NotBehindZerosLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Node* pad = draft.node().input(0) ? draft.node().input(0)->producer() : nullptr;
    // Another type would need no Max in between, and is no better.
    while (pad && (pad->op() == "cast" || pad->op() == "Cast")) {
      pad = pad->input(0) ? pad->input(0)->producer() : nullptr;
    }
    if (!pad || (pad->op() != "pad" && pad->op() != "Pad")) return absl::OkStatus();
    const Attribute* mode = pad->attrs().Find("mode");
    if (mode && *mode != Attribute("constant")) return absl::OkStatus();
    const Tensor* number = pad->input(2) ? pad->input(2)->fixed_constant() : nullptr;
    const Attribute* value = pad->attrs().Find("value");  // before opset 11
    if ((number && number->num_elements() == 1 && number->AsDouble(0) != 0) ||
        (value && value->get<float>() && *value->get<float>() != 0)) {
      return absl::OkStatus();
    }
    return CannotExpress("directly after a Pad, which ONNX Runtime puts into the pool");
  }
};

// onnx's inference counts a last window that would begin in the padding, which runtimes leave out.
class LastWindowLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const AttributeMap& attrs = draft.node().attrs();
    X2IR_ASSIGN_OR_RETURN(const Window window, ReadWindow(attrs, attrs.Ints("kernel_shape")));
    if (window.auto_pad != AutoPad::kNotSet) return absl::OkStatus();
    for (size_t i = 0; window.ceil_mode && i < window.rank(); ++i) {
      const Dim size = SpatialSize(draft.node(), i);
      X2IR_ASSIGN_OR_RETURN(const Dim out, OutputDim(window, i, size));
      const Dim slack(window.pad_begin(i) + window.pad_end(i) - window.extent(i));
      if (out.is_static() && out != CeilDiv(size + slack, window.strides[i]) + 1) {
        return CannotExpress("a last window that would begin in the padding");
      }
    }
    return absl::OkStatus();
  }
};

class SameLeavesOutLens : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    const Node& node = draft.node();
    const Attribute* kernel = node.attrs().Find("kernel_shape");
    const auto* sizes = kernel ? kernel->get<Attribute::Ints>() : nullptr;
    if (!sizes || !node.attrs().Has("auto_pad")) return absl::OkStatus();
    X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(node.attrs(), *sizes));
    const bool upper = window.auto_pad == AutoPad::kSameUpper;
    if (!IsSame(window.auto_pad)) return absl::OkStatus();
    const size_t n = window.rank();
    Attribute::Ints pads(2 * n), starts, ends, axes;
    for (size_t i = 0; i < n; ++i) {
      const Dim size = SpatialSize(node, i);
      if (!size.is_static()) return absl::OkStatus();
      X2IR_ASSIGN_OR_RETURN(const Dim out, OutputDim(window, i, size));
      const int64_t total = (out.value() - 1) * window.strides[i] + window.extent(i) - size.value();
      const int64_t begin = upper ? total / 2 : (total + 1) / 2;  // towards 0, as runtimes round
      pads[i] = std::max<int64_t>(begin, 0);
      pads[i + n] = std::max<int64_t>(total - begin, 0);
      if (begin >= 0) continue;
      starts.push_back(-begin);
      ends.push_back(size.value());
      axes.push_back(static_cast<int64_t>(i) + 2);
    }
    if (axes.empty()) return absl::OkStatus();
    if (node.num_outputs() > 1 && node.output(1)) {
      return Unimplemented("auto_pad SAME that leaves out elements, with places of maxima");
    }
    Builder& b = draft.builder();
    const Attribute::Ints steps(axes.size(), 1);
    draft.SetOperandAt(
        0, b.Op("slice", {draft.TakeOperandAt(0), b.Ints(starts, "starts"), b.Ints(ends, "ends"),
                          b.Ints(axes, "axes"), b.Ints(steps, "steps")}));
    draft.TakeAttr("auto_pad");
    draft.TakeAttr("pads");
    draft.SetAttr("auto_pad", "NOTSET");
    draft.SetAttr("pads", pads);
    return absl::OkStatus();
  }
  absl::Status Export(Draft&) const override { return absl::OkStatus(); }
};

class CountedPadsLens : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const AttributeMap& attrs = draft.node().attrs();
    if (attrs.Int("count_include_pad") == 0) return absl::OkStatus();
    X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(attrs, attrs.Ints("kernel_shape")));
    if (window.auto_pad != AutoPad::kNotSet) {
      if (!IsSame(window.auto_pad) || draft.opset() < 19) return absl::OkStatus();
      X2IR_ASSIGN_OR_RETURN(window, WithPads(draft.node(), window));
    }
    if (draft.opset() >= 19) {
      const std::vector<int64_t>& pads = window.pads;
      if (std::adjacent_find(pads.begin(), pads.end(), std::not_equal_to<>()) == pads.end()) {
        return absl::OkStatus();
      }
      return CannotExpress("padding that is counted and not the same at all sides");
    }
    for (size_t i = 0; window.ceil_mode && i < window.rank(); ++i) {
      if (window.strides[i] == 1) continue;
      const Dim size = SpatialSize(draft.node(), i);
      X2IR_ASSIGN_OR_RETURN(const Dim out, OutputDim(window, i, size));
      const bool known = size.is_static() && out.is_static();
      if (!known || (out.value() - 1) * window.strides[i] + window.extent(i) >
                        size.value() + window.pad_begin(i) + window.pad_end(i)) {
        return CannotExpress("ceil_mode with padding that is counted", FirstVersion{19});
      }
    }
    return absl::OkStatus();
  }
};

}  // namespace

Lens KernelShapeOfOperand(size_t w) { return std::make_shared<KernelShapeLens>(w); }
Lens ChannelsFirst() { return Fixed("layout", "channels_first"); }
Lens DilatedSameAsPads() { return std::make_shared<PadsLens>(false); }
Lens PoolPads() { return std::make_shared<PadsLens>(true); }
Lens NotBehindZeros() { return std::make_shared<NotBehindZerosLens>(); }
Lens LastWindowInside() { return std::make_shared<LastWindowLens>(); }
Lens SameLeavesOut() { return std::make_shared<SameLeavesOutLens>(); }
Lens CountedPads() { return std::make_shared<CountedPadsLens>(); }

}  // namespace x2ir
