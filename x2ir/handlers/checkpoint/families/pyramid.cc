// Transformers in stages of fewer and fewer patches, whose attention looks at fewer keys than there
// are queries: SegFormer, PVT and its second version.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/resize.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/vision.h"

namespace x2ir::checkpoint {
namespace {

struct Pyramid {
  int64_t channels = 3;
  std::vector<int64_t> widths, depths, heads, reductions, ratios;
  std::vector<int64_t> kernels, strides;
  bool overlaps = true;  // patches, by half a kernel of padding
  std::string activation;
  double eps = 1e-5;
  bool qkv_bias = true;
  bool convolves = true;   // between the linear layers of the feed-forward
  bool linear = false;     // keys are those of 7 by 7 means, whatever the image
  bool positions = false;  // learned; the last stage has a class token
  // Names; "{}" is the number of a stage.
  std::string embedding = "encoder.patch_embeddings.{}.", projection = "proj";
  std::string blocks = "encoder.block.{}.", norm = "encoder.layer_norm.{}";
  std::string q, k, v, out, reduction, reduction_norm;
};

class PyramidNet {
 public:
  PyramidNet(Net& net, const Pyramid& pyramid, std::string prefix)
      : net_(net), b_(net.b()), p_(pyramid), prefix_(std::move(prefix)) {}

  // Each stage's result.
  struct Stage {
    Expr tokens;  // [tokens, width]
    x2ir::Size batch, length, rows, columns;
    int64_t width;
  };
  std::vector<Stage> Run(const Expr& pixels) {
    std::vector<Stage> all;
    Expr x = pixels;
    for (size_t i = 0; i < p_.widths.size(); ++i) {
      Stage stage = Embed(x, i);
      RunBlocks(stage, i);
      if (!p_.norm.empty())
        stage.tokens = Norm(stage.tokens, prefix_ + Numbered(p_.norm, i), stage.width);
      all.push_back(stage);
      if (i + 1 < p_.widths.size()) x = Image(stage, stage.tokens, stage.width);
    }
    return all;
  }

  // Tokens [tokens, width] as [batch, width, rows, columns], and back.
  Expr Image(const Stage& stage, const Expr& tokens, int64_t width) {
    const Expr grid =
        ReshapeTo(tokens, {stage.batch, stage.rows, stage.columns, x2ir::Size(width)});
    return Transpose(grid, {0, 3, 1, 2});
  }
  static Expr Tokens(const Expr& image, int64_t width) {
    return Reshape(Transpose(image, {0, 2, 3, 1}), std::vector<int64_t>{-1, width});
  }
  Expr Norm(const Expr& x, const std::string& name, int64_t width) {
    return net_.Norm(x, {.kind = NormSpec::kLayer, .eps = p_.eps}, name, width);
  }

 private:
  static std::string Numbered(const std::string& name, size_t i) {
    const size_t at = name.find("{}");
    return StrCat(name.substr(0, at), i, name.substr(at + 2));
  }

  Stage Embed(const Expr& x, size_t i) {
    const std::string name = prefix_ + Numbered(p_.embedding, i);
    const int64_t width = p_.widths[i], kernel = p_.kernels[i], pad = p_.overlaps ? kernel / 2 : 0;
    const Expr patches = net_.Conv(x, name + p_.projection,
                                   {.in = i ? p_.widths[i - 1] : p_.channels,
                                    .out = width,
                                    .kernel = {kernel, kernel},
                                    .stride = {p_.strides[i], p_.strides[i]},
                                    .padding = {pad, pad}});
    Stage stage = {nullptr, SizeAt(x, 0), {}, SizeAt(patches, 2), SizeAt(patches, 3), width};
    stage.length = Times(b_, stage.rows, stage.columns);
    stage.tokens = Norm(Tokens(patches, width), name + "layer_norm", width);
    if (!p_.positions) return stage;
    Expr y = ReshapeTo(stage.tokens, {stage.batch, stage.length, x2ir::Size(width)});
    if (i + 1 == p_.widths.size()) {
      const Expr token = net_.Weight(name + "cls_token", {1, 1, width});
      const Expr of_all = Expand(token, Vector(b_, {stage.batch, x2ir::Size(1), x2ir::Size(1)}));
      y = Concat(b_, {of_all, y}, 1);
      stage.length = Plus(b_, stage.length, 1);
    }
    if (!stage.length.number) Broken("the image has no size");
    y = y + net_.Weight(name + "position_embeddings", {1, *stage.length.number, width});
    stage.tokens = Reshape(y, std::vector<int64_t>{-1, width});
    return stage;
  }

  void RunBlocks(Stage& stage, size_t i) {
    const int64_t width = stage.width, heads = p_.heads[i], ratio = p_.reductions[i];
    const int64_t hidden = ScaledSize(width, static_cast<double>(p_.ratios[i]));
    if (width % heads != 0) {
      Broken("config.json: ", heads, " heads cannot share ", width, " elements");
    }
    const bool reduces = ratio > 1 || p_.linear;
    if (reduces && p_.positions && i + 1 == p_.widths.size()) {
      Refuse("config.json: the last stage of a class token with fewer keys");
    }
    Attention a;
    a.heads = a.kv_heads = heads, a.size = width / heads;
    a.q = p_.q, a.k = p_.k, a.v = p_.v, a.out = p_.out;
    a.q_bias = a.k_bias = a.v_bias = p_.qkv_bias, a.out_bias = true;
    Context context(net_, stage.batch, stage.length);
    for (int64_t j = 0; j < p_.depths[i]; ++j) {
      const std::string block = StrCat(prefix_, Numbered(p_.blocks, i), j, ".");
      const Expr h = Norm(stage.tokens, block + "layer_norm_1", width);
      if (reduces) Reduce(context, stage, h, block, ratio);
      stage.tokens = stage.tokens + Attend(context, a, block, h, width, reduces);
      stage.tokens = stage.tokens + Feed(stage, Norm(stage.tokens, block + "layer_norm_2", width),
                                         block + "mlp.", hidden);
    }
  }

  // What keys and values are made of.
  void Reduce(Context& context, const Stage& stage, const Expr& h, const std::string& block,
              int64_t ratio) {
    const int64_t width = stage.width, side = p_.linear ? 1 : ratio;
    Expr image = Image(stage, h, width);
    if (p_.linear) image = MeansOf(image, stage, 7);
    image = net_.Conv(image, block + p_.reduction,
                      {.in = width, .out = width, .kernel = {side, side}, .stride = {side, side}});
    Expr keys = Norm(Tokens(image, width), block + p_.reduction_norm, width);
    if (p_.linear) keys = keys.Op("gelu");
    context.encoded = keys;
    context.encoded_length = Times(b_, SizeAt(image, 2), SizeAt(image, 3));
  }

  // [batch, width, side, side]: means of as many parts, which may overlap.
  Expr MeansOf(const Expr& image, const Stage& stage, int64_t side) {
    const auto parts = [&](const x2ir::Size& n) {
      const Expr count = Scalar(b_, n), at = Unsqueeze(Iota(count), {0});
      const Expr part = Unsqueeze(Ints(b_, CountedFrom(0, side)), {1}) * count;
      const auto step = static_cast<double>(side);
      const Expr begin = part / step, end = (part + count + (step - 1)) / step;
      const Expr inside = ((at >= begin) & (at < end)).To(DType::kFloat32);
      return inside / (end - begin).To(DType::kFloat32);
    };
    return MatMul(MatMul(parts(stage.rows), image), Transpose(parts(stage.columns), {1, 0}));
  }

  Expr Feed(const Stage& stage, const Expr& x, const std::string& name, int64_t hidden) {
    Expr y = net_.Linear(x, name + "dense1", stage.width, hidden);
    if (p_.linear) y = y.Op("relu");
    if (p_.convolves) {
      y = Tokens(
          net_.Conv(
              Image(stage, y, hidden), name + "dwconv.dwconv",
              {.in = hidden, .out = hidden, .kernel = {3, 3}, .padding = {1, 1}, .groups = hidden}),
          hidden);
    }
    return net_.Linear(net_.Activate(y, p_.activation), name + "dense2", hidden, stage.width);
  }

  Net& net_;
  Builder& b_;
  const Pyramid& p_;
  std::string prefix_;
};

Pyramid PyramidOf(Settings& s, std::vector<int64_t> widths, std::vector<int64_t> kernels,
                  std::vector<int64_t> ratios, std::string_view reductions) {
  Pyramid p;
  const auto count = static_cast<size_t>(s.Count("num_encoder_blocks", 4));
  p.channels = s.Size("num_channels", 3);
  p.widths = SizesOf(s, "hidden_sizes", std::move(widths), count);
  p.depths = SizesOf(s, "depths", {2, 2, 2, 2}, count);
  p.heads = SizesOf(s, "num_attention_heads", {1, 2, 5, 8}, count);
  p.reductions = SizesOf(s, reductions, {8, 4, 2, 1}, count);
  p.ratios = SizesOf(s, "mlp_ratios", std::move(ratios), count);
  p.kernels = SizesOf(s, "patch_sizes", std::move(kernels), count);
  p.strides = SizesOf(s, "strides", {4, 2, 2, 2}, count);
  p.activation = s.Text("hidden_act", "gelu");
  p.q = "attention.self.query", p.k = "attention.self.key", p.v = "attention.self.value";
  p.out = "attention.output.dense";
  p.reduction_norm = "attention.self.layer_norm";
  return p;
}

// The head of SegFormer: all stages by one linear layer each, in the size of the first.
void SegmentAll(Net& net, PyramidNet& pyramid, const std::vector<PyramidNet::Stage>& stages) {
  Settings& s = net.settings();
  Builder& b = net.b();
  const int64_t width = s.Size("decoder_hidden_size", 256);
  std::vector<Value*> all;
  for (size_t i = stages.size(); i-- > 0;) {
    const auto& stage = stages[i];
    const std::string name = StrCat("decode_head.linear_c.", i, ".proj");
    Expr x = pyramid.Image(stage, net.Linear(stage.tokens, name, stage.width, width), width);
    if (i > 0) {
      x = ResizedTo(x, {stage.batch, x2ir::Size(width), stages[0].rows, stages[0].columns},
                    Interpolated("linear", false));
    }
    all.push_back(x);
  }
  const auto count = static_cast<int64_t>(stages.size());
  const Expr fused = Convolved(net, Concat(b, all, 1),
                               {.conv = "decode_head.linear_fuse",
                                .norm = "decode_head.batch_norm",
                                .spec = {.in = width * count, .out = width, .kernel = {1, 1}},
                                .activation = "relu"});
  const std::string classifier = "decode_head.classifier";
  net.Output(
      "logits",
      net.Conv(fused, classifier,
               {.in = width, .out = LabelCount(net, classifier + ".weight"), .kernel = {1, 1}}));
}

void SegFormer(Net& net, const std::string& class_name) {
  Settings& s = net.settings();
  Pyramid p = PyramidOf(s, {32, 64, 160, 256}, {7, 3, 3, 3}, {4, 4, 4, 4}, "sr_ratios");
  p.reduction = "attention.self.sr";
  const bool image_last = s.Flag("reshape_last_stage", true);
  s.Only("qkv_bias", true);
  // Norms have the usual epsilon, whatever layer_norm_eps says.
  s.Ignore({"layer_norm_eps", "semantic_loss_ignore_index", "image_size", "downsampling_rates"});
  PyramidNet pyramid(net, p,
                     StoredPrefix(net, "segformer.", "encoder.patch_embeddings.0.proj.weight"));
  const auto stages = pyramid.Run(PixelValues(net, p.channels));
  const auto& last = stages.back();
  if (class_name == "SegformerForSemanticSegmentation") {
    if (!image_last) Refuse("config.json: 'reshape_last_stage' is false for segmentation");
    net.IgnoreWeights({"classifier.*"});
    return SegmentAll(net, pyramid, stages);
  }
  s.Ignore({"decoder_hidden_size"});
  net.IgnoreWeights({"decode_head.*", "classifier.*"});
  const Expr tokens = ReshapeTo(last.tokens, {last.batch, last.length, x2ir::Size(last.width)});
  if (IsImageClassifier(class_name)) {
    return Classify(net, Reduce(tokens, "reduce_mean", {1}), "classifier", last.width);
  }
  net.Output("last_hidden_state",
             image_last ? pyramid.Image(last, last.tokens, last.width) : tokens);
}

void Pvt(Net& net, const std::string& class_name) {
  Settings& s = net.settings();
  Pyramid p =
      PyramidOf(s, {64, 128, 320, 512}, {4, 2, 2, 2}, {8, 8, 4, 4}, "sequence_reduction_ratios");
  std::swap(p.kernels, p.strides);  // as the model has them
  p.overlaps = p.convolves = false;
  p.positions = true;
  p.eps = s.Number("layer_norm_eps", 1e-6);
  p.qkv_bias = s.Flag("qkv_bias", true);
  p.projection = "projection";
  p.reduction = "attention.self.sequence_reduction";
  p.norm.clear();
  const std::string prefix =
      StoredPrefix(net, "pvt.", "encoder.patch_embeddings.0.projection.weight");
  const Sides image = SidesOf(s, "image_size", 224);
  PyramidNet pyramid(net, p, prefix);
  const auto last = pyramid.Run(PixelValues(net, p.channels, image)).back();
  const Expr normed = pyramid.Norm(last.tokens, prefix + "encoder.layer_norm", last.width);
  const Expr tokens = ReshapeTo(normed, {last.batch, last.length, x2ir::Size(last.width)});
  net.IgnoreWeights({"classifier.*"});
  if (IsImageClassifier(class_name)) {
    return Classify(net, ElementAt(tokens, 1, 0), "classifier", last.width);
  }
  net.Output("last_hidden_state", tokens);
}

void PvtV2(Net& net, const std::string& class_name) {
  Settings& s = net.settings();
  Pyramid p = PyramidOf(s, {32, 64, 160, 256}, {7, 3, 3, 3}, {8, 8, 4, 4}, "sr_ratios");
  p.eps = s.Number("layer_norm_eps", 1e-6);
  p.qkv_bias = s.Flag("qkv_bias", true);
  p.linear = s.Flag("linear_attention", false);
  p.embedding = "encoder.layers.{}.patch_embedding.", p.blocks = "encoder.layers.{}.blocks.";
  p.norm = "encoder.layers.{}.layer_norm";
  p.q = "attention.query", p.k = "attention.key", p.v = "attention.value", p.out = "attention.proj";
  p.reduction = "attention.spatial_reduction", p.reduction_norm = "attention.layer_norm";
  s.Ignore({"image_size"});
  IgnoreStages(s);
  PyramidNet pyramid(net, p,
                     StoredPrefix(net, "pvt_v2.", "encoder.layers.0.patch_embedding.proj.weight"));
  const auto last = pyramid.Run(PixelValues(net, p.channels)).back();
  net.IgnoreWeights({"classifier.*"});
  if (IsImageClassifier(class_name)) {
    const Expr tokens = ReshapeTo(last.tokens, {last.batch, last.length, x2ir::Size(last.width)});
    return Classify(net, Reduce(tokens, "reduce_mean", {1}), "classifier", last.width);
  }
  net.Output("last_hidden_state", pyramid.Image(last, last.tokens, last.width));
}

[[maybe_unused]] const bool kPyramidRegistered[] = {
    RegisterVision("segformer", "Segformer", SegFormer,
                   {"ForSemanticSegmentation", "ForImageClassification", "Model"}),
    RegisterVision("pvt", "Pvt", Pvt),
    RegisterVision("pvt_v2", "PvtV2", PvtV2),
};

}  // namespace
}  // namespace x2ir::checkpoint
