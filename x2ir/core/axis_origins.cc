#include "x2ir/core/axis_origins.h"

#include <algorithm>
#include <optional>

#include "x2ir/ops/axes.h"
#include "x2ir/ops/infer.h"

namespace x2ir {

bool HasAxis(const Shape* shape, int64_t axis) {
  return shape && axis >= 0 && axis < shape->rank();
}

bool IsElementwise(const OpDef& def) {
  return def.rows() == RowUse::kElementwise || def.axes().spread == kElementwiseAxes.spread;
}

// The first result that somebody uses.
const Value* ResultOf(const Node& node) {
  for (const Value* output : node.outputs()) {
    if (output) return output;
  }
  return nullptr;
}

std::vector<AxisPlace> AxisOrigins(const Node& node, int64_t axis) {
  const Shape* in = node.input(0) ? node.input(0)->shape() : nullptr;
  const Shape* out = ResultOf(node) ? ResultOf(node)->shape() : nullptr;
  if (!in || !out) return {};
  const std::string_view op = node.op();
  const auto known = [&](size_t i) { return KnownInts(node.input(i)); };
  if (op == "unsqueeze" || op == "squeeze") {
    const auto axes = known(1);
    if (!axes) return {};
    const int64_t rank = std::max(in->rank(), out->rank());
    const auto at = NormalizeAxes(*axes, rank);
    if (!at.ok()) return {};
    std::vector<int64_t> kept;  // axes of the tensor that has more
    for (int64_t i = 0; i < rank; ++i) {
      if (std::find(at->begin(), at->end(), i) == at->end()) kept.push_back(i);
    }
    if (op == "squeeze") return {{0, kept[static_cast<size_t>(axis)]}};
    const auto it = std::find(kept.begin(), kept.end(), axis);
    if (it == kept.end()) return {};
    return {{0, it - kept.begin()}};
  }
  if (op == "transpose") {
    const auto& perm = node.attrs().Ints("perm");
    if (static_cast<int64_t>(perm.size()) != out->rank()) return {};
    return {{0, perm[static_cast<size_t>(axis)]}};
  }
  if (op == "reshape") {
    const auto product = [](const Shape& s, int64_t n) {
      Dim all = 1;
      for (int64_t i = 0; i < n; ++i) all = all * s[i];
      return all;
    };
    for (int64_t i = 0; i < in->rank(); ++i) {
      if (product(*in, i) == product(*out, axis) && (*in)[i] == (*out)[axis]) return {{0, i}};
    }
    return {};
  }
  if (op == "matmul") {
    const Shape* right = node.input(1)->shape();
    if (!right || in->rank() < 2 || right->rank() < 2) return {};
    if (axis + 1 == out->rank()) return {{1, right->rank() - 1}};
    std::vector<AxisPlace> places;
    const int64_t a = axis - (out->rank() - in->rank()), b = axis - (out->rank() - right->rank());
    if (a >= 0) places.push_back({0, a});
    if (b >= 0 && axis + 2 < out->rank()) places.push_back({1, b});
    return places;
  }
  if (op == "gather") {
    const Shape* index = node.input(1)->shape();
    int64_t at = node.attrs().Int("axis");
    if (at < 0) at += in->rank();
    if (!index) return {};
    if (axis >= at && axis < at + index->rank()) return {{1, axis - at}};
    return {{0, axis < at ? axis : axis - index->rank() + 1}};
  }
  if (op == "concat") {
    int64_t along = node.attrs().Int("axis");
    if (along < 0) along += in->rank();
    std::vector<AxisPlace> places;
    for (size_t i = 0; axis != along && i < node.num_inputs(); ++i) places.push_back({i, axis});
    return places;
  }
  const OpDef* def = FindOp(node.op());
  const RowUse rows = def ? def->rows() : RowUse::kNone;
  std::vector<AxisPlace> places;
  if (op.substr(0, 7) == "reduce_") {
    std::optional<std::vector<int64_t>> axes;
    if (node.input(1)) axes = known(1);
    if (!axes) return {};
    const auto gone = NormalizeAxes(*axes, in->rank());
    if (!gone.ok()) return {};
    const bool keeps = node.attrs().Int("keepdims") != 0;
    int64_t at = 0;  // of the result
    for (int64_t i = 0; i < in->rank(); ++i) {
      const bool reduced = std::find(gone->begin(), gone->end(), i) != gone->end();
      if (!reduced && at == axis) return {{0, i}};
      at += !reduced || keeps;
    }
    return {};
  }
  if ((def && IsElementwise(*def)) || op == "expand") {
    const size_t count = op == "expand" ? 1 : node.num_inputs();
    for (size_t i = 0; i < count; ++i) {
      const Shape* s = node.input(i) ? node.input(i)->shape() : nullptr;
      const int64_t own = s ? axis - (out->rank() - s->rank()) : -1;
      if (HasAxis(s, own)) places.push_back({i, own});
    }
    return places;
  }
  if (in->rank() != out->rank()) return {};
  if (op == "slice" || op == "trilu" || op == "pad" || op == "quantize_linear" ||
      op == "dequantize_linear") {
    return {{0, axis}};
  }
  if (op == "deform_conv" && axis == 0) return {{0, 0}, {2, 0}, {4, 0}};
  const bool last = axis + 1 == out->rank();
  if ((rows == RowUse::kLastAxis || rows == RowUse::kFirst) && !last) return {{0, axis}};
  if (op == "softmax" || op == "log_softmax" || op == "layer_normalization" ||
      op == "rms_normalization" || op == "split" || op == "cum_sum" || op == "top_k") {
    int64_t along = op == "cum_sum" ? -1 : node.attrs().Int("axis");
    if (op == "cum_sum") {
      const auto given = known(1);
      if (!given || given->size() != 1) return {};
      along = given->front();
    }
    if (along < 0) along += in->rank();
    const bool norm = op.substr(op.size() - 4) == "tion";
    return (norm ? axis < along : axis != along) ? std::vector<AxisPlace>{{0, axis}}
                                                 : std::vector<AxisPlace>();
  }
  if (op == "gather_elements" || op == "scatter_elements") {
    int64_t along = node.attrs().Int("axis");
    if (along < 0) along += in->rank();
    if (axis == along && op == "gather_elements") return {{1, axis}};
    std::vector<AxisPlace> places;
    for (size_t i = 0; axis != along && i < node.num_inputs(); ++i) places.push_back({i, axis});
    return places;
  }
  if (op == "attention") {
    std::vector<AxisPlace> places;
    for (size_t i = 0; axis < 2 && i < node.num_inputs(); ++i) {
      const Shape* shape = node.input(i) ? node.input(i)->shape() : nullptr;
      const int64_t own = shape ? axis - (out->rank() - shape->rank()) : -1;
      if (HasAxis(shape, own)) places.push_back({i, own});
    }
    return places;
  }
  // Each element of the batch by itself, but where a batch is what is normalized.
  if (op == "batch_normalization" && node.attrs().Int("training_mode", 0) != 0) return {};
  static constexpr std::string_view kBatches[] = {"conv",
                                                  "conv_transpose",
                                                  "max_pool",
                                                  "average_pool",
                                                  "lp_pool",
                                                  "global_average_pool",
                                                  "global_max_pool",
                                                  "group_normalization",
                                                  "instance_normalization",
                                                  "batch_normalization",
                                                  "resize",
                                                  "depth_to_space",
                                                  "space_to_depth"};
  if (axis == 0 && std::find(std::begin(kBatches), std::end(kBatches), op) != std::end(kBatches)) {
    return {{0, 0}};
  }
  return {};
}

}  // namespace x2ir
