#include "x2ir/handlers/coreml/windows.h"

#include <algorithm>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/as_torch.h"

namespace x2ir {

AttributeMap WindowAttrs(NodeReader& a, const CoremlWindow& window) {
  AttributeMap attrs = {{"strides", window.strides}};
  if (!window.dilations.empty()) attrs.Set("dilations", window.dilations);
  if (window.padding == "same") {
    attrs.Set("auto_pad", "SAME_UPPER");
  } else if (window.padding == "same_lower") {
    attrs.Set("auto_pad", "SAME_LOWER");
  } else if (window.padding == "custom") {
    a.Require(window.begins.size() == window.rank() && window.ends.size() == window.rank(),
              "pads of other axes");
    std::vector<int64_t> pads = window.begins;
    pads.insert(pads.end(), window.ends.begin(), window.ends.end());
    attrs.Set("pads", std::move(pads));
  } else {
    a.Require(window.padding == "valid", StrCat("pad_type ", window.padding));
  }
  return attrs;
}

Expr Pooled(NodeReader& a, const Expr& x, std::string_view kind, const CoremlWindow& window,
            bool include) {
  const size_t n = window.rank();
  a.Require(x.rank() == static_cast<int64_t>(n) + 2, "a window over other axes");
  AttributeMap attrs = WindowAttrs(a, window);
  attrs.Set("kernel_shape", window.kernel);
  if (!window.ceil_mode) {
    if (kind == "average") attrs.Set("count_include_pad", include ? 1 : 0);
    if (kind == "l2") attrs.Set("p", 2);
    return x.Op(kind == "max" ? "max_pool" : kind == "average" ? "average_pool" : "lp_pool", {},
                std::move(attrs));
  }
  const bool custom = window.padding == "custom";
  a.Require(custom || window.padding == "valid", "automatic pads with sizes that are rounded up");
  a.Require(!custom || window.begins == window.ends, "uneven pads with sizes that are rounded up");
  a.Require(kind != "l2", "l2 pools with sizes that are rounded up");
  const std::vector<int64_t> pads = custom ? window.begins : std::vector<int64_t>(n, 0);
  // PyTorch leaves such windows out whether anything is padded or not.
  const bool padded = std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p > 0; });
  for (size_t i = 0; i < n; ++i) {
    a.Require(padded || window.strides[i] <= window.kernel[i],
              "windows that begin behind the operand");
  }
  const char digit = static_cast<char>('0' + n);
  std::vector<AsTorchArgument> arguments = {{"self", x},
                                            {"kernel_size", window.kernel},
                                            {"stride", window.strides},
                                            {"padding", pads},
                                            {"ceil_mode", true}};
  if (kind == "average") arguments.push_back({"count_include_pad", include});
  const std::string_view name = kind == "max" ? "aten::max_pool" : "aten::avg_pool";
  return {a, AsTorch(a, StrCat(name, std::string(1, digit), "d.default"), arguments)[0]};
}

Expr Deconvolved(NodeReader& a, const Expr& x, Value* weights, Value* bias,
                 const CoremlWindow& window, int64_t groups, const std::vector<int64_t>& sizes) {
  CoremlWindow placed = window;
  std::vector<int64_t> more;
  if (!sizes.empty()) {
    const auto in = x.value()->shape() ? x.value()->shape()->Static() : std::nullopt;
    const Shape* kernel = weights->shape();
    const auto of_kernel = kernel ? kernel->Static() : std::nullopt;
    const size_t n = window.rank();
    a.Require(in && of_kernel && in->size() == n + 2 && of_kernel->size() == n + 2 &&
                  sizes.size() == n,
              "given sizes of a tensor of unknown sizes");
    std::vector<int64_t> begins, ends;
    for (size_t i = 0; i < n; ++i) {
      const int64_t dilation = window.dilations.empty() ? 1 : window.dilations[i];
      const int64_t whole =
          ((*in)[i + 2] - 1) * window.strides[i] + ((*of_kernel)[i + 2] - 1) * dilation + 1;
      const bool custom = window.padding == "custom";
      const int64_t cut = whole - sizes[i];
      int64_t begin = custom ? window.begins[i] : 0, end = custom ? window.ends[i] : 0;
      if (window.padding == "same") {
        begin = std::max<int64_t>(cut, 0) / 2;
        end = std::max<int64_t>(cut, 0) - begin;
      }
      const int64_t rest = sizes[i] - (whole - begin - end);
      // Fewer than these pads leave is not a size that the convolution can have.
      a.Require(rest >= 0 && rest < std::max(window.strides[i], dilation),
                "a size that the operand's does not give");
      begins.push_back(begin);
      ends.push_back(end);
      more.push_back(rest);
    }
    placed.padding = "custom";
    placed.begins = begins;
    placed.ends = ends;
  }
  AttributeMap attrs = WindowAttrs(a, placed);
  attrs.Set("group", groups);
  if (std::any_of(more.begin(), more.end(), [](int64_t m) { return m != 0; })) {
    attrs.Set("output_padding", more);
  }
  std::vector<Value*> operands = {x, weights};
  if (bias) operands.push_back(bias);
  return {a, a.b().Op("conv_transpose", std::move(operands), std::move(attrs))};
}

}  // namespace x2ir
