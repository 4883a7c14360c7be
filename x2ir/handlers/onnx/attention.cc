// ONNX: attention, and ops that are used with it.
#include <memory>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

// How many keys there are in all, past and new.
Dim KeysOf(const Node& node) {
  const Value* k = node.input(1);
  if (!k || !k->shape() || k->shape()->rank() < 3) return Dim();
  const Dim length = (*k->shape())[k->shape()->rank() - 2];
  const Value* past = node.num_inputs() > 4 ? node.input(4) : nullptr;
  if (!past) return length;
  return past->shape() && past->shape()->rank() == 4 ? (*past->shape())[2] + length : Dim();
}

bool HasPast(const Node& node) { return node.num_inputs() > 4 && node.input(4); }

// What runtimes read in different ways is written so that all read the same:
//  - of a mask whose rows are all one, ONNX Runtime takes the wrong elements (1.23 and 1.24), so
//    the rows are written out;
//  - it refuses present keys and values where there are none of the past (1.23), which are the keys
//    and values themselves: a lowering gives them;
//  - of 16 bits and rank 3 it computes nonsense where heads share keys (1.23): a lowering says it
//    in steps;
//  - of float64 it runs ONNX's function body, whose causal mask is float32 (1.30): in steps, too.
class FormsOfAll : public LensImpl {
 public:
  absl::Status Import(Draft&) const override { return absl::OkStatus(); }
  absl::Status Export(Draft& draft) const override {
    const Node& node = draft.node();
    for (const size_t i : {1, 2}) {
      if (!HasPast(node) && i < node.num_outputs() && node.output(i)) {
        return CannotExpress("present keys and values without those of the past");
      }
    }
    const Value* q = node.input(0);
    const bool rows = q && q->shape() && q->shape()->rank() == 3 && BitWidth(q->dtype()) == 16;
    if (rows && node.attrs().Int("q_num_heads", 0) != node.attrs().Int("kv_num_heads", 0)) {
      return CannotExpress("shared heads of 16 bits, of rank 3");
    }
    if (q && q->dtype() == DType::kFloat64 && node.attrs().Int("is_causal", 0) != 0) {
      return CannotExpress("a causal mask of float64");
    }
    return absl::OkStatus();
  }
};
Lens AsAllRead() { return std::make_shared<FormsOfAll>(); }

// The mask with a row for each query.
Value* WithRows(Builder& b, Value* mask, const Node& node) {
  const Shape* s = mask->shape();
  const Shape* q = node.input(0) ? node.input(0)->shape() : nullptr;
  if (!s || s->rank() < 2 || (*s)[s->rank() - 2] != Dim(1) || !q || q->rank() < 3) return mask;
  const Dim queries = (*q)[q->rank() - 2];
  if (queries == Dim(1)) return mask;
  const Size rows = SizeAt({b, node.input(0)}, q->rank() - 2);
  return Expand({b, mask}, Vector(b, std::vector<Size>{rows, Size(1)}));
}

// The same, for an opset whose masks are otherwise those of IR.
class MaskHasRows : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    return draft.SetOperand("attn_mask", draft.TakeOperand("attn_mask"));
  }
  absl::Status Export(Draft& draft) const override {
    Value* mask = draft.TakeOperand("attn_mask");
    if (mask) mask = WithRows(draft.builder(), mask, draft.node());
    return draft.SetOperand("attn_mask", mask);
  }
};
Lens WithAllRows() { return std::make_shared<MaskHasRows>(); }

// Before opset 24 a mask broadcasts along the keys; from then on a short one is filled up. The
// two differ for masks of one column.
class MaskBroadcasts : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    Value* mask = draft.TakeOperand("attn_mask");
    if (!mask) return draft.SetOperand("attn_mask", nullptr);
    const Dim keys = KeysOf(draft.node());
    if (LastDim(mask) == Dim(1) && keys != Dim(1)) {
      if (!keys.is_static()) return Unimplemented("a mask of one column for unknown many keys");
      mask = draft.builder().Op("expand", {mask, draft.builder().Ints({keys.value()}, "keys")});
    }
    return draft.SetOperand("attn_mask", mask);
  }
  absl::Status Export(Draft& draft) const override {
    Value* mask = draft.TakeOperand("attn_mask");
    if (!mask) return draft.SetOperand("attn_mask", nullptr);
    const Dim last = LastDim(mask), keys = KeysOf(draft.node());
    if (ProvablyDifferent(last, keys) || (last == Dim(1) && keys != Dim(1))) {
      return CannotExpress("a mask shorter than the keys cannot be expressed at opset ",
                           draft.opset(), FirstVersion{24});
    }
    return draft.SetOperand("attn_mask", WithRows(draft.builder(), mask, draft.node()));
  }

 private:
  static Dim LastDim(const Value* mask) {
    const Shape* s = mask->shape();
    return s && s->rank() > 0 ? (*s)[s->rank() - 1] : Dim();
  }
};

}  // namespace

X2IR_ONNX(attention)
    .Is("Attention", In(23, 23), Lens(std::make_shared<MaskBroadcasts>()), AsAllRead(),
        Fixed("left_window_size", -1), Fixed("right_window_size", -1),
        DTypeAttr("softmax_precision"))
    .Is("Attention", In(24, 24), WithAllRows(), AsAllRead(), Fixed("left_window_size", -1),
        Fixed("right_window_size", -1), DTypeAttr("softmax_precision"))
    .Is("Attention", Since(25), WithAllRows(), AsAllRead(), DTypeAttr("softmax_precision"));
X2IR_ONNX(rotary_embedding).Is("RotaryEmbedding", Since(23));
X2IR_ONNX(tensor_scatter).Is("TensorScatter", Since(24));
X2IR_ONNX(swiglu).Is("SwiGLU", Since(28));
X2IR_ONNX(linear_attention).Is("LinearAttention", Since(27));
X2IR_ONNX(causal_conv_with_state).Is("CausalConvWithState", Since(27));

}  // namespace x2ir
