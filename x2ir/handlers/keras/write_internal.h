// What several files of Keras's rows that write share.
#ifndef X2IR_HANDLERS_KERAS_WRITE_INTERNAL_H_
#define X2IR_HANDLERS_KERAS_WRITE_INTERNAL_H_

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/relaid.h"
#include "x2ir/handlers/keras/keras.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"

namespace X2IR_API x2ir {

// --- Elements ---

enum class Elements { kAny, kNumbers, kFloats, kBools };

inline absl::Status CheckElements(KerasWriter& w, Elements elements) {
  for (size_t i = 0; i < w.num_inputs(); ++i) {
    const DType type = w.dtype(i);
    const bool fits = elements == Elements::kFloats    ? IsFloating(type)
                      : elements == Elements::kBools   ? type == DType::kBool
                      : elements == Elements::kNumbers ? IsFloating(type) || IsInteger(type)
                                                       : type != DType::kString && !IsComplex(type);
    if (!fits || type != w.dtype(0)) return CannotExpress("elements of ", Name(type));
  }
  return absl::OkStatus();
}

// --- Layers ---

inline bool HasChannelsLast(KerasWriter& w) { return w.String("layout") == "channels_last"; }

// A weight with its axes in another order, and perhaps another shape before that.
inline Value* RelaidWeight(KerasWriter& w, size_t i, const std::vector<int64_t>& perm,
                           const std::vector<int64_t>& dims = {}) {
  const Tensor& weight = *w.Weight(i);
  if (dims.empty() && std::is_sorted(perm.begin(), perm.end())) return w.in(i);
  return RelaidConstant(w.b(), w.in(i),
                        TransposeWeight(dims.empty() ? weight : weight.Reshaped(dims), perm));
}

inline std::string ClassOf(std::string_view kind, size_t axes, std::string_view end = "") {
  return StrCat(kind, axes, "D", end);
}

// What a convolution and a pool say of their window; SAME where Keras adds the same padding.
struct KerasWindow : Window {
  bool same = false;
  AttributeMap Settings(const char* kernel_name) const {
    return {{kernel_name, kernel},
            {"strides", strides},
            {"padding", same ? "same" : "valid"},
            {"data_format", "channels_last"}};
  }
};

inline absl::StatusOr<KerasWindow> ReadKerasWindow(KerasWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(const Window given, ReadWindow(w.attrs(), std::move(kernel)));
  const std::optional<Window> padded = WithPads(given, w.shape());
  if (!padded) return CannotExpress("automatic pads of unknown sizes");
  KerasWindow window{*padded};
  Window automatic = given;
  automatic.auto_pad = AutoPad::kSameUpper;
  const auto same = WithPads(std::move(automatic), w.shape());
  window.same = window.padded() && same && same->pads == window.pads;
  return window;
}

// Operand 0, with the padding that is not the layer's own.
inline Value* PaddedInput(KerasWriter& w, KerasWindow& window, double number) {
  return window.same || !window.padded() ? w.in(0) : PadApart(w, window, number);
}

// --- Layers of several nodes of the IR ---

// Before the passes: attention with its projections becomes a layer.
absl::Status FuseKerasAttention(Graph& graph);
// After the passes: recurrent layers, with the batch first.
void FuseKerasRecurrent(Graph& graph, const Target& target);
// When all nodes are Keras's: biases, activations and names.
absl::Status FinishKeras(Model& model, const FormatOptions& options);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_KERAS_WRITE_INTERNAL_H_
