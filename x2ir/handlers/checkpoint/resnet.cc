#include "x2ir/handlers/checkpoint/resnet.h"

#include <algorithm>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/pool.h"
#include "x2ir/handlers/checkpoint/vision.h"

namespace x2ir::checkpoint {
namespace {

class ResidualStages {
 public:
  ResidualStages(Net& net, const ConvStages& stages) : net_(net), c_(stages) {}

  std::vector<Expr> Run(const std::string& prefix, const Expr& pixels) {
    Expr x = Conv(pixels, prefix + "embedder.embedder", c_.channels, c_.embedding,
                  c_.embedding_kernel, 2, false);
    x = net_.Activate(x, c_.activation);
    if (c_.pooled) {
      WindowPool pool;
      pool.window.kernel = {3, 3};
      pool.window.strides = {2, 2};
      pool.window.pads = {1, 1, 1, 1};
      x = MakePool(x, pool);
    }
    std::vector<Expr> all = {x};
    int64_t in = c_.embedding;
    for (size_t i = 0; i < c_.widths.size(); ++i) {
      for (int64_t j = 0; j < c_.depths[i]; ++j) {
        const int64_t stride = j ? 1 : i ? 2 : c_.first_stride;
        x = Layer(x, StrCat(prefix, "encoder.stages.", i, ".layers.", j, "."), in, c_.widths[i],
                  stride);
        in = c_.widths[i];
      }
      all.push_back(x);
    }
    return all;
  }

 private:
  Expr Conv(const Expr& x, const std::string& name, int64_t in, int64_t out, int64_t kernel,
            int64_t stride, bool active = true, int64_t groups = 1) {
    return Convolved(net_, x,
                     {.conv = name + ".convolution",
                      .norm = name + ".normalization",
                      .spec = {.in = in,
                               .out = out,
                               .kernel = {kernel, kernel},
                               .stride = {stride, stride},
                               .padding = {kernel / 2, kernel / 2},
                               .groups = groups},
                      .activation = active ? c_.inner_activation : ""});
  }

  Expr Layer(const Expr& x, const std::string& prefix, int64_t in, int64_t out, int64_t stride) {
    const std::string layer = prefix + "layer.";
    Expr y = nullptr;
    if (c_.kind == ConvStages::kBasic) {
      y = Conv(x, layer + "0", in, out, 3, stride);
      y = Conv(y, layer + "1", out, out, 3, 1, false);
    } else if (c_.kind == ConvStages::kBottleneck) {
      const int64_t narrow = out / 4;
      if (narrow < 1) Broken("config.json: a stage of ", out, " channels has no fourth of them");
      y = Conv(x, layer + "0", in, narrow, 1, c_.stride_first ? stride : 1);
      y = Conv(y, layer + "1", narrow, narrow, 3, c_.stride_first ? 1 : stride);
      y = Conv(y, layer + "2", narrow, out, 1, 1, false);
    } else {
      const int64_t groups = std::max<int64_t>(1, out / c_.group_width);
      if (out % groups != 0) Broken("config.json: ", out, " channels in ", groups, " groups");
      y = Conv(x, layer + "0", in, out, 1, 1);
      y = Conv(y, layer + "1", out, out, 3, stride, true, groups);
      if (c_.squeezes) {
        // Python's round: halves to even.
        const int64_t quarter = in / 4 + (in % 4 == 3 || (in % 4 == 2 && in / 4 % 2 == 1));
        y = Squeezed(y, layer + "2.attention.", out, std::max<int64_t>(quarter, 1));
      }
      y = Conv(y, layer + (c_.squeezes ? "3" : "2"), out, out, 1, 1, false);
    }
    const bool plain = in == out && stride == 1;
    const Expr residual = plain ? x : Conv(x, prefix + "shortcut", in, out, 1, stride, false);
    return net_.Activate(y + residual, c_.activation);
  }

  Expr Squeezed(const Expr& x, const std::string& name, int64_t width, int64_t narrow) {
    Expr y = Reduce(x, "reduce_mean", {2, 3}, true);
    y = net_.Conv(y, name + "0", {.in = width, .out = narrow, .kernel = {1, 1}}).Op("relu");
    y = net_.Conv(y, name + "2", {.in = narrow, .out = width, .kernel = {1, 1}});
    return x * y.Op("sigmoid");
  }

  Net& net_;
  const ConvStages& c_;
};

}  // namespace

ConvStages ResNetStages(Settings& s) {
  ConvStages stages;
  stages.channels = s.Size("num_channels", 3);
  stages.embedding = s.Size("embedding_size", 64);
  stages.widths = SizesOf(s, "hidden_sizes", {256, 512, 1024, 2048});
  stages.depths = SizesOf(s, "depths", {3, 4, 6, 3}, stages.widths.size());
  stages.activation = s.Text("hidden_act", "relu");
  stages.first_stride = s.Flag("downsample_in_first_stage", false) ? 2 : 1;
  stages.stride_first = s.Flag("downsample_in_bottleneck", false);
  const std::string type = s.Text("layer_type", "bottleneck");
  if (type != "basic" && type != "bottleneck") Broken("config.json: 'layer_type' is '", type, "'");
  stages.kind = type == "basic" ? ConvStages::kBasic : ConvStages::kBottleneck;
  IgnoreStages(s);
  return stages;
}

std::vector<Expr> RunStages(Net& net, const ConvStages& stages, const std::string& prefix,
                            const Expr& pixels) {
  if (stages.widths.empty()) Broken("config.json: there are no stages");
  return ResidualStages(net, stages).Run(prefix, pixels);
}

}  // namespace x2ir::checkpoint
