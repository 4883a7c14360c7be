#include "x2ir/handlers/coreml/windows.h"

#include <algorithm>
#include <utility>

#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/as_torch.h"

namespace x2ir {

void SetPadding(NodeReader& a, const std::string& type, std::vector<int64_t> pads, Window* window) {
  if (type == "same") {
    window->auto_pad = AutoPad::kSameUpper;
  } else if (type == "same_lower") {
    window->auto_pad = AutoPad::kSameLower;
  } else if (type == "custom") {
    a.Require(pads.size() == 2 * window->strides.size(), "pads of other axes");
    window->pads = std::move(pads);
  } else {
    a.Require(type == "valid", StrCat("pad_type ", type));
  }
}

Expr Pooled(NodeReader& a, const Expr& x, std::string_view kind, const Window& window,
            bool include) {
  const size_t n = window.rank();
  a.Require(x.rank() == static_cast<int64_t>(n) + 2, "a window over other axes");
  const PoolKind pool = kind == "max"       ? PoolKind::kMax
                        : kind == "average" ? PoolKind::kAverage
                                            : PoolKind::kLp;
  if (!window.ceil_mode) return MakePool(x, {window, pool, include});
  a.Require(!IsSame(window.auto_pad), "automatic pads with sizes that are rounded up");
  a.Require(window.pads.empty() || window.even(), "uneven pads with sizes that are rounded up");
  a.Require(kind != "l2", "l2 pools with sizes that are rounded up");
  // PyTorch leaves such windows out whether anything is padded or not.
  for (size_t i = 0; i < n; ++i) {
    a.Require(window.padded() || window.strides[i] <= window.kernel[i],
              "windows that begin after the operand");
  }
  std::vector<AsTorchArgument> arguments = {
      {"self", x},
      {"kernel_size", window.kernel},
      {"stride", window.strides},
      {"padding", window.pads.empty() ? std::vector<int64_t>(n, 0) : window.begins()},
      {"ceil_mode", true}};
  if (kind == "average") arguments.push_back({"count_include_pad", include});
  const std::string_view name = kind == "max" ? "aten::max_pool" : "aten::avg_pool";
  return {a, AsTorch(a, StrCat(name, n, "d.default"), arguments)[0]};
}

Expr Deconvolved(NodeReader& a, const Expr& x, Value* weights, Value* bias, const Window& window,
                 int64_t groups, const std::vector<int64_t>& sizes) {
  if (sizes.empty()) return MakeConvTranspose(x, weights, bias, window, groups);
  const auto in = KnownSizes(x), kernel = KnownSizes(weights);
  const size_t n = window.strides.size();
  a.Require(in && kernel && in->size() == n + 2 && kernel->size() == n + 2 && sizes.size() == n,
            "given sizes of a tensor of unknown sizes");
  Window placed = window;
  placed.kernel.assign(kernel->begin() + 2, kernel->end());
  placed.auto_pad = AutoPad::kNotSet;
  placed.pads.resize(2 * n);
  std::vector<int64_t> more;
  for (size_t i = 0; i < n; ++i) {
    const int64_t whole = ((*in)[i + 2] - 1) * placed.strides[i] + placed.extent(i);
    if (window.auto_pad == AutoPad::kSameUpper) {
      placed.SplitPads(i, std::max<int64_t>(whole - sizes[i], 0), /*odd_at_end=*/true);
    }
    more.push_back(sizes[i] - (whole - placed.pad_begin(i) - placed.pad_end(i)));
    // Fewer than these pads leave is not a size that the convolution can have.
    const int64_t dilation = placed.dilations.empty() ? 1 : placed.dilations[i];
    a.Require(more[i] >= 0 && more[i] < std::max(placed.strides[i], dilation),
              "a size that the operand's does not give");
  }
  if (std::all_of(more.begin(), more.end(), [](int64_t m) { return m == 0; })) more.clear();
  return MakeConvTranspose(x, weights, bias, placed, groups, more);
}

}  // namespace x2ir
