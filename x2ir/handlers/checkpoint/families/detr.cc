// DETR: a convolutional backbone, an encoder of its places, and a decoder of learned queries, each
// of which finds an object.
#include <numbers>
#include <string>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/pool.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/checkpoint/resnet.h"
#include "x2ir/handlers/checkpoint/vision.h"

namespace x2ir::checkpoint {
namespace {

class DetrNet {
 public:
  explicit DetrNet(Net& net) : net_(net), b_(net.b()), s_(net.settings()) {}

  void Run(const std::string& class_name) {
    prefix_ = StoredPrefix(net_, "model.", "input_projection.weight");
    width_ = s_.Size("d_model", 256);
    activation_ = s_.Text("activation_function", "relu");
    const int64_t count = s_.Count("num_queries", 100);
    s_.Ignore({"class_cost", "bbox_cost", "giou_cost", "mask_loss_coefficient",
               "dice_loss_coefficient", "bbox_loss_coefficient", "giou_loss_coefficient",
               "eos_coefficient", "init_xavier_std", "use_pretrained_backbone", "backbone_kwargs",
               "num_hidden_layers", "hidden_size", "num_attention_heads", "scale_embedding",
               "max_position_embeddings"});
    s_.Only("dilation", false);

    const int64_t channels = s_.Size("num_channels", 3);
    const Expr pixels = PixelValues(net_, channels);
    const Expr seen = Backbone(pixels, channels);
    const Expr features = net_.Conv(seen, prefix_ + "input_projection",
                                    {.in = seen_width_, .out = width_, .kernel = {1, 1}});
    const x2ir::Size batch = SizeAt(pixels, 0), rows = SizeAt(features, 2),
                     columns = SizeAt(features, 3), length = Times(b_, rows, columns);
    Context places(net_, batch, length), queries(net_, batch, x2ir::Size(count));
    const auto of_all = [&](const Expr& x) {
      const Expr all = Expand(Unsqueeze(x, {0}), Vector(b_, {batch, x2ir::Size(1), x2ir::Size(1)}));
      return Reshape(all, std::vector<int64_t>{-1, width_});
    };
    const Expr where = of_all(Positions(rows, columns));
    Expr x = Reshape(Transpose(features, {0, 2, 3, 1}), std::vector<int64_t>{-1, width_});
    const int64_t encoders = s_.Count("encoder_layers", 6),
                  decoders = s_.Count("decoder_layers", 6);
    const int64_t encoder_heads = s_.Size("encoder_attention_heads", 8),
                  decoder_heads = s_.Size("decoder_attention_heads", 8),
                  encoder_hidden = s_.Size("encoder_ffn_dim", 2048),
                  decoder_hidden = s_.Size("decoder_ffn_dim", 2048);
    for (int64_t i = 0; i < encoders; ++i) {
      const std::string layer = StrCat(prefix_, "encoder.layers.", i, ".");
      const Expr at = x + where;
      x = Norm(x + Look(places, places, layer + "self_attn.", at, at, x, encoder_heads),
               layer + "self_attn_layer_norm");
      x = Fed(x, layer, encoder_hidden);
    }
    const Expr query =
        of_all(net_.Weight(prefix_ + "query_position_embeddings.weight", {count, width_}));
    const Expr key = x + where;
    Expr y = query * 0.0;
    const bool normed = s_.Flag("auxiliary_loss", false);  // after each layer, too
    for (int64_t i = 0; i < decoders; ++i) {
      const std::string layer = StrCat(prefix_, "decoder.layers.", i, ".");
      const Expr at = i ? y + query : query;
      y = Norm(y + Look(queries, queries, layer + "self_attn.", at, at, y, decoder_heads),
               layer + "self_attn_layer_norm");
      y = Norm(y + Look(queries, places, layer + "encoder_attn.", y + query, key, x, decoder_heads),
               layer + "encoder_attn_layer_norm");
      y = Fed(y, layer, decoder_hidden);
      if (normed) y = Norm(y, prefix_ + "decoder.layernorm");
    }
    y = queries.ByTokens(Norm(y, prefix_ + "decoder.layernorm"), width_);
    if (class_name == "DetrForObjectDetection") {
      const std::string classes = "class_labels_classifier";
      net_.Output("logits", net_.Linear(y, classes, width_, LabelCount(net_, classes + ".weight")));
      net_.Output("pred_boxes",
                  Perceptron(net_, y, "bbox_predictor", width_, width_, 4, 3).Op("sigmoid"));
    } else {
      net_.IgnoreWeights({"class_labels_classifier.*", "bbox_predictor.*"});
    }
    net_.Output("last_hidden_state", y);
    net_.Output("encoder_last_hidden_state", places.ByTokens(x, width_));
  }

 private:
  // The last stage of a ResNet, by the names of transformers or of timm.
  Expr Backbone(const Expr& pixels, int64_t channels) {
    const std::string name = prefix_ + "backbone.conv_encoder.model.";
    Settings& s = s_.Nested("backbone_config");
    const std::string kind = s.Text("model_type", "timm_backbone");
    if (kind == "resnet") {
      s_.Ignore({"backbone", "use_timm_backbone"});
      const ConvStages stages = ResNetStages(s);
      const auto count = static_cast<int64_t>(stages.widths.size());
      const std::vector<int64_t> used = s.Ints("out_indices");
      if (!used.empty() && used.back() != count && used.back() != -1) {
        Refuse("config.json: the backbone's stage ", used.back(), " of ", count, " is used");
      }
      if (stages.channels != channels) Broken("config.json: two numbers of channels");
      seen_width_ = stages.widths.back();
      return RunStages(net_, stages, name, pixels).back();
    }
    s_.Only("use_timm_backbone", true);
    s.Ignore({"num_channels", "features_only", "use_pretrained_backbone", "out_indices",
              "freeze_batch_norm_2d", "out_features", "stage_names"});
    s.Only("use_timm_backbone", true);
    if (s.Has("output_stride")) Refuse("config.json: a backbone with an 'output_stride'");
    const std::string network = s.Text("backbone", s_.Text("backbone", "resnet50"));
    const bool known = network == "resnet18" || network == "resnet34" || network == "resnet50" ||
                       network == "resnet101" || network == "resnet152";
    if (kind != "timm_backbone" || !known)
      Refuse("config.json: a backbone '", network, "' of '", kind, "'");
    return TimmResNet(pixels, name, channels);
  }

  Expr TimmResNet(const Expr& pixels, const std::string& name, int64_t channels) {
    int64_t in = LabelCount(net_, name + "conv1.weight");
    const auto conv = [&](const Expr& x, const std::string& of, const std::string& norm,
                          int64_t from, int64_t to, int64_t kernel, int64_t stride, bool active) {
      return Convolved(net_, x,
                       {.conv = of,
                        .norm = norm,
                        .spec = {.in = from,
                                 .out = to,
                                 .kernel = {kernel, kernel},
                                 .stride = {stride, stride},
                                 .padding = {kernel / 2, kernel / 2}},
                        .activation = active ? "relu" : ""});
    };
    Expr x = conv(pixels, name + "conv1", name + "bn1", channels, in, 7, 2, true);
    WindowPool pool;
    pool.window.kernel = {3, 3}, pool.window.strides = {2, 2}, pool.window.pads = {1, 1, 1, 1};
    x = MakePool(x, pool);
    for (int64_t i = 1; i <= 4; ++i) {
      for (int64_t j = 0;; ++j) {
        const std::string block = StrCat(name, "layer", i, ".", j, ".");
        if (j > 0 && !net_.HasWeight(block + "conv1.weight")) break;
        const bool deep = net_.HasWeight(block + "conv3.weight");
        const int64_t stride = i > 1 && j == 0 ? 2 : 1,
                      narrow = LabelCount(net_, block + "conv1.weight"),
                      out = deep ? LabelCount(net_, block + "conv3.weight") : narrow;
        Expr y = nullptr;
        if (deep) {
          y = conv(x, block + "conv1", block + "bn1", in, narrow, 1, 1, true);
          y = conv(y, block + "conv2", block + "bn2", narrow, narrow, 3, stride, true);
          y = conv(y, block + "conv3", block + "bn3", narrow, out, 1, 1, false);
        } else {
          y = conv(x, block + "conv1", block + "bn1", in, out, 3, stride, true);
          y = conv(y, block + "conv2", block + "bn2", out, out, 3, 1, false);
        }
        const std::string down = block + "downsample.";
        const bool changes = in != out || stride != 1;
        x = (y + (changes ? conv(x, down + "0", down + "1", in, out, 1, stride, false) : x))
                .Op("relu");
        in = out;
      }
    }
    seen_width_ = in;
    return x;
  }

  // [places, width]: of rows and of columns, each half of the elements.
  Expr Positions(const x2ir::Size& rows, const x2ir::Size& columns) {
    const int64_t half = width_ / 2;
    const std::string kind = s_.Text("position_embedding_type", "sine");
    const bool learned = kind == "learned";
    if (kind != "sine" && !learned)
      Broken("config.json: 'position_embedding_type' is '", kind, "'");
    if (width_ % 4 != 0) Refuse("config.json: positions of ", width_, " elements");
    std::vector<double> frequencies;
    for (int64_t i = 0; i < half / 2; ++i) {
      frequencies.push_back(
          1 / portable::pow(10000.0, 2.0 * static_cast<double>(i) / static_cast<double>(half)));
    }
    const auto of_axis = [&](const x2ir::Size& n, const char* table) {
      if (learned) {
        const std::string name =
            StrCat(prefix_, "position_embedding.", table, "_embeddings.weight");
        return Slice(net_.Weight(name, {50, half}), 0, 0, n);
      }
      const Expr count = Scalar(b_, n).To(DType::kFloat32);
      const Expr at =
          (Iota(Scalar(b_, n)).To(DType::kFloat32) + 1.0) / (count + 1e-6) * (2 * std::numbers::pi);
      const Expr angles = Unsqueeze(at, {1}) *
                          NumbersAs(b_, DType::kFloat32, {1, half / 2}, frequencies, "frequencies");
      return Reshape(x2ir::Stack(b_, {Sin(angles), Cos(angles)}, 2),
                     std::vector<int64_t>{-1, half});
    };
    const auto spread = [&](const Expr& x, int64_t axis) {
      return Expand(Unsqueeze(x, {axis}), Vector(b_, {rows, columns, x2ir::Size(half)}));
    };
    const Expr y = spread(of_axis(rows, "row"), 1), x = spread(of_axis(columns, "column"), 0);
    const Expr both = learned ? Concat(b_, {x, y}, 2) : Concat(b_, {y, x}, 2);
    return Reshape(both, std::vector<int64_t>{-1, width_});
  }

  Expr Norm(const Expr& x, const std::string& name) {
    return net_.Norm(x, {.kind = NormSpec::kLayer, .eps = 1e-5}, name, width_);
  }

  Expr Look(Context& from, Context& to, const std::string& name, const Expr& query, const Expr& key,
            const Expr& value, int64_t heads) {
    if (width_ % heads != 0)
      Broken("config.json: ", heads, " heads cannot share ", width_, " elements");
    const auto projected = [&](Context& context, const Expr& x, const char* what) {
      const Expr y = net_.Linear(x, StrCat(name, what, "_proj"), width_, width_);
      return context.Heads(y, heads, width_ / heads);
    };
    const Expr found = projected(from, query, "q")
                           .Op("attention", {projected(to, key, "k"), projected(to, value, "v")});
    return net_.Linear(from.Rows(found, width_), name + "out_proj", width_, width_);
  }

  Expr Fed(const Expr& x, const std::string& layer, int64_t hidden) {
    const Mlp mlp = {
        .hidden = hidden, .activation = activation_, .up = "fc1", .down = "fc2", .bias = true};
    return Norm(x + FeedForward(net_, mlp, layer, x, width_), layer + "final_layer_norm");
  }

  Net& net_;
  Builder& b_;
  Settings& s_;
  std::string prefix_, activation_;
  int64_t width_ = 0, seen_width_ = 0;
};

[[maybe_unused]] const bool kDetrRegistered[] = {
    RegisterVision("detr", "Detr",
                   [](Net& net, const std::string& name) { DetrNet(net).Run(name); },
                   {"ForObjectDetection", "Model"}),
};

}  // namespace
}  // namespace x2ir::checkpoint
