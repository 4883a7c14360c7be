// What several files of Caffe2's rows share: windows.
#ifndef X2IR_HANDLERS_CAFFE2_WINDOWS_INTERNAL_H_
#define X2IR_HANDLERS_CAFFE2_WINDOWS_INTERNAL_H_

#include <algorithm>

#include "x2ir/handlers/caffe2/caffe2.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace X2IR_API x2ir {

enum LegacyPad : int64_t { kNotSet, kValid, kSame, kCaffe };

struct Windows {
  Window window;
  int64_t legacy = kNotSet;
};

// One number for all axes, or those of height and width, or a list.
inline std::vector<int64_t> PerAxis(Caffe2Args& a, std::string_view one, std::string_view many,
                                    size_t spatial, int64_t fallback) {
  const std::string h = StrCat(one, "_h"), w = StrCat(one, "_w");
  std::vector<int64_t> numbers = a.Ints(many);
  if (numbers.empty() && (a.HasAttr(Symbol(h)) || a.HasAttr(Symbol(w)))) {
    numbers = {a.Int(Symbol(h), fallback), a.Int(Symbol(w), fallback)};
  }
  const int64_t single = a.Int(Symbol(one), fallback);
  if (numbers.empty()) numbers.assign(spatial, single);
  if (numbers.size() != spatial) {
    a.Fail(Invalid(many, " has ", numbers.size(), " numbers for ", spatial, " axes"));
  }
  return numbers;
}

inline std::vector<int64_t> PadsOf(Caffe2Args& a, size_t spatial) {
  std::vector<int64_t> pads = a.Ints("pads");
  const int64_t all = a.Int("pad", 0);
  if (pads.empty() &&
      (a.HasAttr("pad_t") || a.HasAttr("pad_l") || a.HasAttr("pad_b") || a.HasAttr("pad_r"))) {
    pads = {a.Int("pad_t", 0), a.Int("pad_l", 0), a.Int("pad_b", 0), a.Int("pad_r", 0)};
  }
  if (pads.empty()) pads.assign(2 * spatial, all);
  if (pads.size() != 2 * spatial) {
    a.Fail(Invalid("pads has ", pads.size(), " numbers for ", spatial, " axes"));
  }
  return pads;
}

inline Windows WindowsOf(Caffe2Args& a) {
  const auto spatial = static_cast<size_t>(std::max<int64_t>(a.RankOf() - 2, 0));
  Windows w;
  w.window.channels_last = a.ChannelsLast();
  w.window.kernel = PerAxis(a, "kernel", "kernels", spatial, 0);
  w.window.strides = PerAxis(a, "stride", "strides", spatial, 1);
  w.window.dilations = PerAxis(a, "dilation", "dilations", spatial, 1);
  w.window.pads = PadsOf(a, spatial);
  w.legacy = a.Int("legacy_pad", kNotSet);
  return w;
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_CAFFE2_WINDOWS_INTERNAL_H_
