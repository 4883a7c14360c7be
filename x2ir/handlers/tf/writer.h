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

#include <functional>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tf/writer.h"
#include "x2ir/ops/infer.h"

namespace X2IR_API x2ir {

class TfWriter : public NodeWriter {
 public:
  using NodeWriter::NodeWriter;

  float Float(Symbol attr) const { return static_cast<float>(attrs().Float(attr)); }

  // A node of TensorFlow with one result. `result` may be unknown for what becomes a result of the
  // node.
  Value* Tf(std::string_view op, std::vector<Value*> operands, AttributeMap attrs = {},
            Type result = {});
  Values TfAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
               const std::vector<bool>& wanted, const std::vector<Type>& results = {});
  // A constant at once, else a transpose.
  Value* Transpose(Value* x, const std::vector<int64_t>& perm);
  // Sizes as a constant where they are known, else `x` itself.
  Value* Known(Value* x);
};

// Operands 1 and 2 of scatter_nd: tuples of indices, of which none is negative, and updates.
// Kernels take indices of rank 1 for a list, so one tuple becomes a list of one.
struct TfUpdates {
  Value *tuples, *updates;
};
absl::StatusOr<TfUpdates> UpdatesFromTheFront(TfWriter& w);

inline bool IsChannelsLast(TfWriter& w) { return w.String("layout") == "channels_last"; }

// Channels first, or one spatial axis: the same op with channels last, or two axes, in between.
inline absl::StatusOr<Value*> Between(TfWriter& w, int64_t rank, AttributeMap attrs) {
  std::vector<int64_t> to(static_cast<size_t>(rank)), back(to.size());
  std::iota(to.begin(), to.end(), 1);
  to[0] = 0;
  to[to.size() - 1] = 1;
  std::iota(back.begin(), back.end(), -1);
  back[0] = 0;
  back[1] = rank - 1;
  std::vector<Value*> operands = w.node().inputs();
  operands[0] = w.Op("transpose", {operands[0]}, {{"perm", to}});
  attrs.Set("layout", "channels_last");
  Value* y = w.Op(w.node().op(), std::move(operands), std::move(attrs));
  return w.Op("transpose", {y}, {{"perm", back}});
}

inline absl::StatusOr<Value*> WithChannelsLast(TfWriter& w) {
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, w.Rank());
  if (rank < 2) return CannotExpress("rank ", rank);
  return Between(w, rank, w.attrs());
}

// One number a spatial axis as one an axis of the tensor.
inline Attribute::Ints OfTensor(const std::vector<int64_t>& spatial) {
  Attribute::Ints all = {1};
  all.insert(all.end(), spatial.begin(), spatial.end());
  all.push_back(1);
  return all;
}

// The kernel counts for pools and for SAME_LOWER alone: a convolution's may be of unknown size.
inline absl::StatusOr<Window> ReadTfWindow(TfWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), std::move(kernel)));
  if (window.auto_pad != AutoPad::kSameLower) return window;
  std::optional<Window> padded = WithPads(window, w.shape());
  if (!padded) return CannotExpress("auto_pad SAME_LOWER of unknown sizes");
  padded->auto_pad = AutoPad::kNotSet;
  return *std::move(padded);
}

// The operand with `value` around it where the window has pads, which it then has no more.
inline Value* PadTfApart(TfWriter& w, Window& window, double value) {
  return window.padded() ? PadApart(w, window, value) : w.in(0);
}

inline void SetWindow(AttributeMap* attrs, const Window& window, bool dilates) {
  attrs->Set("strides", OfTensor(window.strides));
  if (dilates) attrs->Set("dilations", OfTensor(window.dilations));
  const bool same = IsSame(window.auto_pad), padded = window.padded();
  attrs->Set("padding", same ? "SAME" : padded ? "EXPLICIT" : "VALID");
  attrs->Set("data_format", window.rank() == 2 ? "NHWC" : "NDHWC");
  if (padded) attrs->Set("explicit_paddings", PairsOfPads(TensorPads(window)));
}

// A result whose shape is known needs no computed one.
inline Value* TfShapeOf(TfWriter& w, const Type& result) {
  const auto dims = result.shape() ? result.shape()->Static() : std::nullopt;
  return dims ? w.Ints(*dims) : nullptr;
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_WRITER_H_
