// What several files of PyTorch's rows share: windows.
#ifndef X2IR_HANDLERS_TORCH_WINDOWS_INTERNAL_H_
#define X2IR_HANDLERS_TORCH_WINDOWS_INTERNAL_H_

#include <array>

#include "x2ir/builder/layers/window.h"
#include "x2ir/handlers/torch/writer.h"

namespace X2IR_API x2ir {

// Padding in numbers. `kernel`: the spatial sizes of the window.
inline absl::StatusOr<Window> WrittenWindow(TorchWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(Window window, ReadWindow(w.attrs(), std::move(kernel)));
  if (window.channels_last) return CannotExpress("channels last");
  if (window.rank() < 1 || window.rank() > 3) return CannotExpress(window.rank(), " spatial axes");
  std::optional<Window> padded = WithPads(std::move(window), w.shape());
  if (!padded) return CannotExpress("SAME of an unknown size");
  // Automatic pads leave nothing to round up.
  padded->ceil_mode = padded->ceil_mode && padded->auto_pad == AutoPad::kNotSet;
  return *padded;
}

inline std::string_view OfRank(size_t n, const std::array<std::string_view, 3>& names) {
  return names[n - 1];
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_WINDOWS_INTERNAL_H_
