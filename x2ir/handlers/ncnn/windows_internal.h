// What several files of ncnn's rows share: windows.
#ifndef X2IR_HANDLERS_NCNN_WINDOWS_INTERNAL_H_
#define X2IR_HANDLERS_NCNN_WINDOWS_INTERNAL_H_

#include <algorithm>

#include "x2ir/handlers/ncnn/ncnn.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace X2IR_API x2ir {

inline constexpr int64_t kSameUpper = -233, kSameLower = -234;

// In the order of axes: height before width.
inline std::vector<int64_t> Turned(std::vector<int64_t> numbers) {
  std::reverse(numbers.begin(), numbers.end());
  return numbers;
}

inline std::vector<int64_t> Each(NcnnArgs& a, const std::vector<int64_t>& ids, int64_t fallback) {
  std::vector<int64_t> numbers;
  for (const int64_t id : ids)
    numbers.push_back(a.Int(id, numbers.empty() ? fallback : numbers[0]));
  return numbers;
}

inline std::vector<int64_t> PadsOf(NcnnArgs& a, const std::vector<int64_t>& begin_ids,
                                   const std::vector<int64_t>& end_ids) {
  const std::vector<int64_t> begins = Each(a, begin_ids, 0);
  std::vector<int64_t> ends;
  for (size_t i = 0; i < begins.size(); ++i) ends.push_back(a.Int(end_ids[i], begins[i]));
  return JoinPads(Turned(begins), Turned(ends));
}

// Integers as they are, floats in steps of their scale.
inline Expr Integers(const Expr& x, const Expr& scale) {
  return x.dtype() == DType::kInt8 ? x.To(DType::kFloat32) : NcnnQuantized(x, scale);
}

// Height before width, as IR's axes are.
struct PlaneWindow {
  std::vector<int64_t> kernel, dilations, strides, pads;  // pads: begins, then ends
};

inline PlaneWindow PlaneWindowOf(NcnnArgs& a) {
  const auto pair = [&](int64_t id, int64_t fallback) {
    const int64_t width = a.Int(id, fallback);
    return std::vector<int64_t>{a.Int(10 + id, width), width};
  };
  PlaneWindow w;
  w.kernel = pair(1, 0);
  w.dilations = pair(2, 1);
  w.strides = pair(3, 1);
  const int64_t left = a.Int(4, 0), top = a.Int(14, left), right = a.Int(15, left),
                bottom = a.Int(16, top);
  w.pads = {top, left, bottom, right};
  for (const int64_t pad : w.pads) a.Require(pad >= 0, "padding to a size");
  return w;
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_NCNN_WINDOWS_INTERNAL_H_
