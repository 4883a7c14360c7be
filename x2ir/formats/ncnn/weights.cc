// What each layer takes out of the file of weights: the sizes are in its parameters.
#include <algorithm>
#include <iterator>

#include "x2ir/formats/ncnn/ncnn.h"
#include "x2ir/graph_wrapper/shape.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::ncnn {
namespace {

// Collects the parts; Done() reports an invalid size.
class Parts {
 public:
  explicit Parts(const Layer& layer) : p_(layer.params) {}

  int64_t Int(int64_t id, int64_t fallback = 0) const { return p_.Int(id, fallback); }
  void Raw(std::string name, std::vector<int64_t> sizes) { Add(std::move(name), sizes, false); }
  void Tagged(std::string name, std::vector<int64_t> sizes) { Add(std::move(name), sizes, true); }
  absl::StatusOr<std::vector<WeightPart>> Done() {
    if (!ok_) return Invalid("weights of an impossible size");
    return std::move(parts_);
  }

 private:
  void Add(std::string name, const std::vector<int64_t>& sizes, bool tagged) {
    const auto count = CheckedProduct(sizes);
    if (!count) ok_ = false;
    if (count && *count > 0) parts_.push_back({std::move(name), *count, tagged});
  }
  const Params& p_;
  std::vector<WeightPart> parts_;
  bool ok_ = true;
};

void Convolution(Parts& w, bool depthwise) {
  if (w.Int(19) != 0) return;  // its weights are operands
  w.Tagged("weight", {w.Int(6)});
  if (w.Int(5) != 0) w.Raw("bias", {w.Int(0)});
  const int64_t scales = w.Int(8);
  if (scales == 0) return;
  const bool each = !depthwise || scales == 1 || scales == 101;
  w.Raw("weight_scales", {depthwise ? (each ? w.Int(7, 1) : 1) : w.Int(0)});
  w.Raw("bottom_scale", {1});
  if (scales > 100) w.Raw("top_scale", {1});
}
void Deconvolution(Parts& w, bool) {
  if (w.Int(28) != 0) return;
  w.Tagged("weight", {w.Int(6)});
  if (w.Int(5) != 0) w.Raw("bias", {w.Int(0)});
}
void InnerProduct(Parts& w, bool) {
  w.Tagged("weight", {w.Int(2)});
  if (w.Int(1) != 0) w.Raw("bias", {w.Int(0)});
  if (w.Int(8) != 0) {
    w.Raw("weight_scales", {w.Int(0)});
    w.Raw("bottom_scale", {1});
  }
}
void BatchNorm(Parts& w, bool) {
  for (const char* name : {"slope", "mean", "variance", "bias"}) w.Raw(name, {w.Int(0)});
}
void Scale(Parts& w, bool) {
  if (w.Int(0) == -233) return;
  w.Raw("scale", {w.Int(0)});
  if (w.Int(1) != 0) w.Raw("bias", {w.Int(0)});
}
void OneList(Parts& w, bool) { w.Raw("data", {w.Int(0)}); }
void Embed(Parts& w, bool) {
  w.Tagged("weight", {w.Int(3)});
  if (w.Int(2) != 0) w.Raw("bias", {w.Int(0)});
  if (w.Int(18) != 0) w.Raw("weight_scale", {1});
}
void MemoryData(Parts& w, bool) {
  std::vector<int64_t> sizes;
  for (const int64_t id : {0, 1, 11, 2}) {
    if (w.Int(id) != 0) sizes.push_back(w.Int(id));
  }
  if (sizes.empty()) return;
  if (w.Int(21, 1) == 1) {
    w.Raw("data", sizes);
  } else {
    w.Tagged("data", sizes);
  }
}
void Normalize(Parts& w, bool) { w.Raw("scale", {w.Int(3)}); }
void Padding(Parts& w, bool) { w.Raw("values", {w.Int(6)}); }
void Norm(Parts& w, int64_t size, bool affine, bool shift) {
  if (!affine) return;
  w.Raw("gamma", {size});
  if (shift) w.Raw("beta", {size});
}
void InstanceNorm(Parts& w, bool) { Norm(w, w.Int(0), w.Int(2, 1) != 0, true); }
void GroupNorm(Parts& w, bool) { Norm(w, w.Int(1), w.Int(3, 1) != 0, true); }
void LayerNorm(Parts& w, bool) { Norm(w, w.Int(0), w.Int(2, 1) != 0, true); }
void RmsNorm(Parts& w, bool) { Norm(w, w.Int(0), w.Int(2, 1) != 0, false); }
// gates: how many matrices there are; biases: how many lists.
void Recurrent(Parts& w, int64_t gates, int64_t biases) {
  const int64_t out = w.Int(0), ways = w.Int(2) == 2 ? 2 : 1, hidden = w.Int(3, out);
  w.Tagged("weight_xc", {w.Int(1)});
  w.Tagged("bias_c", {hidden, biases, ways});
  w.Tagged("weight_hc", {out, hidden, gates, ways});
  if (hidden != out) w.Tagged("weight_hr", {hidden, out, ways});
  if (w.Int(8) == 0) return;
  w.Raw("weight_xc_scales", {hidden, gates, ways});
  w.Raw("weight_hc_scales", {hidden, gates, ways});
}
void Lstm(Parts& w, bool) { Recurrent(w, 4, 4); }
void Gru(Parts& w, bool) { Recurrent(w, 3, 4); }
void Rnn(Parts& w, bool) { Recurrent(w, 1, 1); }
void Attention(Parts& w, bool) {
  const int64_t embed = w.Int(0), size = w.Int(2);
  w.Tagged("q_weight", {size});
  w.Raw("q_bias", {embed});
  w.Tagged("k_weight", {embed, w.Int(3, embed)});
  w.Raw("k_bias", {embed});
  w.Tagged("v_weight", {embed, w.Int(4, embed)});
  w.Raw("v_bias", {embed});
  w.Tagged("out_weight", {size});
  w.Raw("out_bias", {embed > 0 ? size / embed : 0});
  if (w.Int(18) == 0) return;
  for (const char* name : {"q_scales", "k_scales", "v_scales"}) w.Raw(name, {embed});
  w.Raw("out_scale", {1});
}
void Gemm(Parts& w, bool) {
  const int64_t m = w.Int(7), n = w.Int(8), k = w.Int(9), kind = w.Int(10);
  if (w.Int(4) != 0) w.Tagged("a", {m, k});
  if (w.Int(5) != 0) w.Tagged("b", {n, k});
  if (w.Int(6) != 0 && kind != -1) {
    const int64_t sizes[] = {1, m, m, m, n};
    w.Tagged("c", kind == 3 ? std::vector<int64_t>{m, n}
                            : std::vector<int64_t>{kind >= 0 && kind < 5 ? sizes[kind] : -1});
  }
  if (w.Int(18) == 0) return;
  if (w.Int(4) != 0) w.Raw("a_scales", {m});
  if (w.Int(5) != 0) w.Raw("b_scale", {1});
}
void Dequantize(Parts& w, bool) {
  w.Raw("scale", {w.Int(0, 1)});
  w.Raw("bias", {w.Int(1)});
}
void Quantize(Parts& w, bool) { w.Raw("scale", {w.Int(0, 1)}); }
void Requantize(Parts& w, bool) {
  w.Raw("scale_in", {w.Int(0, 1)});
  w.Raw("scale_out", {w.Int(1, 1)});
  w.Raw("bias", {w.Int(2)});
}

struct Row {
  std::string_view type;
  void (*parts)(Parts& w, bool depthwise);
  bool depthwise = false;
};
constexpr Row kRows[] = {
    {"Convolution", Convolution},
    {"Convolution1D", Convolution},
    {"Convolution3D", Convolution},
    {"ConvolutionDepthWise", Convolution, true},
    {"ConvolutionDepthWise1D", Convolution, true},
    {"ConvolutionDepthWise3D", Convolution, true},
    {"DeformableConv2D", Convolution},
    {"Deconvolution", Deconvolution},
    {"Deconvolution1D", Deconvolution},
    {"Deconvolution3D", Deconvolution},
    {"DeconvolutionDepthWise", Deconvolution},
    {"DeconvolutionDepthWise1D", Deconvolution},
    {"DeconvolutionDepthWise3D", Deconvolution},
    {"InnerProduct", InnerProduct},
    {"BatchNorm", BatchNorm},
    {"Scale", Scale},
    {"Bias", OneList},
    {"PReLU", OneList},
    {"Embed", Embed},
    {"MemoryData", MemoryData},
    {"Normalize", Normalize},
    {"Padding", Padding},
    {"InstanceNorm", InstanceNorm},
    {"GroupNorm", GroupNorm},
    {"LayerNorm", LayerNorm},
    {"RMSNorm", RmsNorm},
    {"LSTM", Lstm},
    {"GRU", Gru},
    {"RNN", Rnn},
    {"MultiHeadAttention", Attention},
    {"Gemm", Gemm},
    {"Quantize", Quantize},
    {"Dequantize", Dequantize},
    {"Requantize", Requantize},
};

}  // namespace

absl::StatusOr<std::vector<WeightPart>> WeightsOf(const Layer& layer) {
  const auto* row = std::ranges::find(kRows, std::string_view(layer.type), &Row::type);
  if (row == std::end(kRows)) return std::vector<WeightPart>();
  Parts parts(layer);
  row->parts(parts, row->depthwise);
  return parts.Done();
}

}  // namespace x2ir::ncnn
