// Windows of Relay's convolutions and pools, of any number of spatial axes.
#ifndef X2IR_HANDLERS_RELAY_WINDOWS_INTERNAL_H_
#define X2IR_HANDLERS_RELAY_WINDOWS_INTERNAL_H_

#include <string>
#include <utility>
#include <vector>

#include "x2ir/handlers/nnvm/layers.h"
#include "x2ir/handlers/relay/relay.h"

namespace x2ir {

// "NCHW", "OIHW" and the like for that many spatial axes.
inline std::string RelayLayout(std::string_view first, size_t spatial) {
  return std::string(first) + (spatial == 1 ? "W" : spatial == 2 ? "HW" : "DHW");
}
inline bool IsLayoutOfChannelsLast(const std::string& layout, size_t spatial) {
  const std::string channels_first = RelayLayout("N", spatial);
  return layout == channels_first + "C";
}

// Padding of one number for all, of one for each axis, or of all begins and then all ends.
inline Window TakeRelayWindow(SymbolArgs& a, std::vector<int64_t> kernel) {
  Window w;
  const size_t n = kernel.size();
  w.kernel = std::move(kernel);
  w.strides = a.TupleOf("strides", n, 1);
  w.dilations = a.TupleOf("dilation", n, 1);
  std::vector<int64_t> pads = a.Tuple("padding", std::vector<int64_t>(n, 0));
  if (pads.empty()) pads.assign(n, 0);
  if (pads.size() == 1) pads.resize(n, pads[0]);
  if (pads.size() == n) pads = BothEnds(pads);
  a.Require(pads.size() == 2 * n, "pads of another number of axes");
  w.pads = std::move(pads);
  return w;
}

// Begins and then ends, of pairs in an attribute.
inline std::vector<int64_t> TakePadWidths(SymbolArgs& a, Symbol name) {
  const std::vector<int64_t> widths = a.FlatTuple(name);
  if (widths.size() % 2 != 0) a.Fail(Invalid("pads without an end"));
  for (const int64_t width : widths) {
    if (width < -1'000'000'000 || width > 1'000'000'000) a.Fail(Invalid("a pad of ", width));
  }
  return PadsOfPairs(widths);
}

// The layout of an operand, and of the result where it is another one.
struct DataLayouts {
  std::string in, out, computed;
  bool channels_last = false;
};
inline DataLayouts TakeLayouts(SymbolArgs& a, Symbol name, size_t spatial) {
  DataLayouts layouts;
  const std::string usual = RelayLayout("NC", spatial);
  layouts.in = a.Text(name, usual);
  layouts.out = a.Text("out_layout", "");
  if (layouts.in.empty()) layouts.in = usual;
  if (layouts.out.empty()) layouts.out = layouts.in;
  layouts.channels_last = IsLayoutOfChannelsLast(layouts.in, spatial) && layouts.in == layouts.out;
  layouts.computed = layouts.channels_last ? layouts.in : usual;
  return layouts;
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_RELAY_WINDOWS_INTERNAL_H_
