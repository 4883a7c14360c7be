// Windows of convolutions and pools, as MIL and layers of networks say them.
#ifndef X2IR_HANDLERS_COREML_WINDOWS_H_
#define X2IR_HANDLERS_COREML_WINDOWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "x2ir/builder/layers/pool.h"
#include "x2ir/builder/size.h"
#include "x2ir/handlers/coreml/coreml.h"
#include "x2ir/handlers/coreml/nn.h"

namespace X2IR_API x2ir {

// pad_type: "valid", "same" (an odd element is added at the end), "same_lower", or "custom": these
// pads.
void SetPadding(NodeReader& a, const std::string& type, std::vector<int64_t> pads, Window* window);

// "max", "average" or "l2"; sizes that are rounded up as PyTorch does, where windows that begin in
// the padding at the end are left out (if anything is padded). `include`: padding counts in means.
Expr Pooled(NodeReader& a, const Expr& x, std::string_view kind, const Window& window,
            bool include);

// A transposed convolution of weights [in, out / groups, kernel...]. `sizes`: of the result's
// spatial axes, where they are given.
Expr Deconvolved(NodeReader& a, const Expr& x, Value* weights, Value* bias, const Window& window,
                 int64_t groups, const std::vector<int64_t>& sizes);

// pad is begin and end of each axis in turn.
inline Window MilWindow(MilArgs& a, size_t n, std::vector<int64_t> kernel) {
  Window window;
  window.kernel = std::move(kernel);
  window.strides = a.List("strides", std::vector<int64_t>(n, 1));
  const std::vector<int64_t> pad = a.List("pad", std::vector<int64_t>(2 * n, 0));
  a.Require(window.strides.size() == n && pad.size() == 2 * n, "strides or pads of other axes");
  SetPadding(a, a.Text("pad_type"), PadsOfPairs(pad), &window);
  return window;
}

inline size_t SpatialAxes(MilArgs& a) {
  const int64_t rank = a.X().rank();
  a.Require(rank >= 3 && rank <= 5, StrCat("rank ", rank));
  return static_cast<size_t>(rank - 2);
}

// pad is begin and end of each axis in turn.
inline void SetPad(const Window& window, AttributeMap* attrs) {
  attrs->Set("pad_type", window.padded() ? "custom" : "valid");
  if (window.padded()) attrs->Set("pad", PairsOfPads(window.pads));
}

// strides, pad_type and pad. Automatic pads of sizes that are not known stay automatic.
inline absl::StatusOr<AttributeMap> WrittenWindow(MilWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(const Window window, ReadWindow(w.attrs(), std::move(kernel)));
  if (window.channels_last) return CannotExpress("channels last");
  const size_t n = window.rank();
  if (n < 1 || n > 3) return CannotExpress("windows of ", n, " axes");
  AttributeMap attrs = {{"strides", window.strides}};
  if (IsSame(window.auto_pad) && !KnownSizes(w.in(0), 2, 2 + static_cast<int64_t>(n))) {
    attrs.Set("pad_type", window.auto_pad == AutoPad::kSameUpper ? "same" : "same_lower");
  } else {
    SetPad(*WithPads(window, w.shape()), &attrs);
  }
  return attrs;
}

// valid, same, or what else the layer has.
inline void PadAutomatically(NnArgs& a, Window* window) {
  if (a.Given("same")) {
    const std::string mode = a.Enum("same.asymmetryMode", "BOTTOM_RIGHT_HEAVY");
    window->auto_pad = mode == "TOP_LEFT_HEAVY" ? AutoPad::kSameLower : AutoPad::kSameUpper;
    return;
  }
  a.Require(a.Given("valid"), "padding of no kind");
  a.Given("valid.paddingAmounts");
  window->pads = PadsOfPairs(BordersOf(a, "valid.paddingAmounts"));
}

inline std::vector<int64_t> Three(NnArgs& a, std::string_view what, int64_t fallback) {
  std::vector<int64_t> numbers;
  for (const char* axis : {"Depth", "Height", "Width"}) {
    numbers.push_back(a.Int(Symbol(StrCat(what, axis)), fallback));
  }
  return numbers;
}

inline void PadThree(NnArgs& a, Window* window) {
  const std::string type = a.Enum("paddingType", "CUSTOM");
  std::vector<int64_t> pads;
  for (const char* side : {"Front", "Top", "Left", "Back", "Bottom", "Right"}) {
    pads.push_back(a.Int(Symbol(StrCat("customPadding", side))));
  }
  a.Require(type == "CUSTOM" || type == "VALID" || type == "SAME", StrCat("padding ", type));
  if (type == "CUSTOM") window->pads = std::move(pads);
  if (type == "SAME") window->auto_pad = AutoPad::kSameUpper;
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_WINDOWS_H_
