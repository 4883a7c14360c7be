#include "x2ir/handlers/checkpoint/sound.h"

#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"

namespace x2ir::checkpoint {
namespace {

constexpr NormSpec kPlainNorm = {.kind = NormSpec::kLayer, .eps = 1e-5};

class Listening {
 public:
  Listening(Net& net, Listener listener) : net_(net), m_(std::move(listener)) {}

  void Run(const std::string& class_name) {
    const auto is = [&](std::string_view end) { return class_name.ends_with(end); };
    const bool labels = is("ForSequenceClassification") || is("ForAudioFrameClassification");
    keeps_all_ = labels && m_.weighted_sum;
    const Expr sound =
        net_.Input("input_values", DType::kFloat32, {"batch_size", "sequence_length"});
    batch_ = SizeAt(sound, 0);
    const Expr features = Features(Unsqueeze(sound, {1}));
    length_ = SizeAt(features, 2);
    if (net_.request().sound_mask) {
      Expr lengths =
          Sum(net_.Input("attention_mask", DType::kInt64, {"batch_size", "sequence_length"}), 1);
      for (size_t i = 0; i < m_.kernels.size(); ++i) {
        lengths = WindowsIn(lengths, m_.kernels[i], m_.strides[i]);
      }
      mask_ = FirstOf(net_, lengths, length_);
    }
    Expr x = Encoded(Projected(features));
    if (keeps_all_) x = WeightedSum();
    net_.IgnoreWeights({m_.prefix + "masked_spec_embed"});
    if (labels && m_.adapter) Refuse("class '", class_name, "' with an adapter");
    if (keeps_all_ && m_.squeeze > 1) {
      Refuse("class '", class_name, "' with 'use_weighted_layer_sum'");
    }
    if (is("ForCTC")) {
      x = Adapted(x);
      const int64_t width = m_.adapter ? m_.adapter->width : m_.width;
      return net_.Output("logits", ByTime(net_.Linear(x, "lm_head", width, m_.vocab), m_.vocab));
    }
    if (labels) return Classify(x, is("ForAudioFrameClassification"));
    x = Adapted(x);
    net_.Output("last_hidden_state", ByTime(x, m_.adapter ? m_.adapter->width : m_.width));
    // Of a checkpoint that was made for another class.
    net_.IgnoreWeights({"lm_head.*", "projector.*", "classifier.*", "quantizer.*", "project_hid.*",
                        "project_q.*"});
  }

 private:
  Expr ByTime(const Expr& x, int64_t width) { return ReshapeTo(x, {batch_, length_, Size(width)}); }

  // [batch, 1, samples] as [batch, channels, length].
  Expr Features(Expr x) {
    int64_t in = 1;
    for (size_t i = 0; i < m_.channels.size(); ++i) {
      const std::string name = StrCat(m_.prefix, "feature_extractor.conv_layers.", i, ".");
      const int64_t out = m_.channels[i];
      x = net_.Conv(x, name + "conv",
                    {.in = in,
                     .out = out,
                     .kernel = {m_.kernels[i]},
                     .stride = {m_.strides[i]},
                     .padding = {0},
                     .bias = m_.conv_bias});
      if (m_.conv_norm == Listener::kLayer) {
        x = Transpose(x, {0, 2, 1});
        x = Transpose(net_.Norm(x, kPlainNorm, name + "layer_norm", out), {0, 2, 1});
      } else if (i == 0) {
        x = x.Op("instance_normalization",
                 {net_.Weight(name + "layer_norm.weight", {out}),
                  net_.Weight(name + "layer_norm.bias", {out})},
                 {{"epsilon", 1e-5F}});
      }
      x = net_.Activate(x, m_.activation);
      in = out;
    }
    return x;
  }

  // [batch, channels, length] as [tokens, width].
  Expr Projected(const Expr& features) {
    const int64_t in = m_.channels.back();
    Expr x = Reshape(Transpose(features, {0, 2, 1}), std::vector<int64_t>{-1, in});
    if (!m_.feature_norm.empty()) x = net_.Norm(x, m_.norm, m_.prefix + m_.feature_norm, in);
    if (m_.projection.empty()) return x;
    return net_.Linear(x, m_.prefix + m_.projection, in, m_.width);
  }

  Expr Encoded(Expr x) {
    // What is no sound is not to be heard by convolutions, too.
    if (mask_.value()) x = Where(Reshape(mask_, std::vector<int64_t>{-1, 1}), x, 0.0);
    const Size whole = length_;
    const Expr whole_mask = mask_;
    x = m_.squeeze > 1 ? Squeezed(x) : x + Positions(x);
    const std::string norm = m_.prefix + "encoder.layer_norm";
    if (!m_.norm_first) x = net_.Norm(x, m_.norm, norm, m_.width);
    Context context(net_, batch_, length_);
    context.padding = mask_;
    Keep(x);
    for (const Layer& layer : m_.layers) {
      x = RunLayer(context, layer, x, m_.width);
      if (m_.layer_adapter) x = x + LayerAdapter(layer.prefix + "adapter_layer.", x);
      if (&layer != &m_.layers.back()) Keep(x);
    }
    if (m_.norm_first) x = net_.Norm(x, m_.norm, norm, m_.width);
    Keep(x);
    if (m_.squeeze > 1) x = Stretched(x, whole);
    length_ = whole, mask_ = whole_mask;
    return x;
  }

  // The mean of steps, with positions: as many as there are whole groups of steps.
  Expr Squeezed(const Expr& x) {
    Builder& b = net_.b();
    const Expr steps = ByTime(x, m_.width);
    length_ = Divided(b, length_, Size(m_.squeeze));
    if (mask_.value()) {
      const Expr groups = Sum(mask_.To(DType::kInt64), 1) / static_cast<double>(m_.squeeze);
      mask_ = FirstOf(net_, groups, length_);
    }
    const Expr used = Slice(steps, 1, Size(0), Times(b, length_, Size(m_.squeeze)));
    const Expr groups = ReshapeTo(used, {batch_, length_, Size(m_.squeeze), Size(m_.width)});
    const Expr positions =
        PositionConv(Transpose(steps, {0, 2, 1}), m_.prefix + "encoder.pos_conv_embed.conv");
    const Expr some = net_.Activate(Slice(positions, 2, Size(0), length_), m_.activation);
    const Expr y = Reduce(groups, "reduce_mean", {2}) + Transpose(some, {0, 2, 1});
    return Reshape(y, std::vector<int64_t>{-1, m_.width});
  }

  // Each step as several ones, and zeros for what is left.
  Expr Stretched(const Expr& x, const Size& whole) {
    Builder& b = net_.b();
    const Expr y = net_.Activate(
        net_.Linear(x, m_.prefix + "encoder.upsample.projection", m_.width, m_.width * m_.squeeze),
        m_.activation);
    const Size used = Times(b, length_, Size(m_.squeeze));
    const Expr steps = ReshapeTo(y, {batch_, used, Size(m_.width)});
    const Expr rest =
        Filled(b, DType::kFloat32, {batch_, Minus(b, whole, used), Size(m_.width)}, 0);
    return Reshape(Concat(b, {steps, rest}, 1), std::vector<int64_t>{-1, m_.width});
  }

  Expr LayerAdapter(const std::string& name, const Expr& x) {
    const Expr y = net_.Norm(x, kPlainNorm, name + "norm", m_.width);
    const Expr h = net_.Linear(y, name + "linear_1", m_.width, m_.layer_adapter).Op("relu");
    return net_.Linear(h, name + "linear_2", m_.layer_adapter, m_.width);
  }

  // --- Positions ---------------------------------------------------------------------------------

  Expr Positions(const Expr& x) {
    const std::string name = m_.prefix + "encoder.pos_conv_embed.";
    Expr y = Transpose(ByTime(x, m_.width), {0, 2, 1});
    if (m_.position_layers == 0) {
      if (m_.position_batch_norm) y = net_.BatchNorm(y, name + "batch_norm", m_.width, 1e-5);
      y = Transpose(net_.Activate(PositionConv(y, name + "conv"), m_.activation), {0, 2, 1});
      return Reshape(y, std::vector<int64_t>{-1, m_.width});
    }
    NormSpec bare = kPlainNorm;
    bare.scale = bare.shift = false;
    for (int64_t i = 0; i < m_.position_layers; ++i) {
      if (i) y = Transpose(y, {0, 2, 1});
      y = PositionConv(y, StrCat(name, "layers.", i, ".conv"));
      y = net_.Activate(net_.Norm(Transpose(y, {0, 2, 1}), bare, "", m_.width), m_.activation);
    }
    return Reshape(y, std::vector<int64_t>{-1, m_.width});
  }

  // As long as its operand, before strides: an even kernel has one zero less at the end.
  Expr PositionConv(const Expr& x, const std::string& name) {
    const int64_t half = m_.position_kernel / 2;
    const Net::ConvSpec conv = {.in = m_.width,
                                .out = m_.width,
                                .kernel = {m_.position_kernel},
                                .stride = {m_.squeeze},
                                .padding = {half, m_.position_kernel % 2 ? half : half - 1},
                                .groups = m_.position_groups};
    if (net_.HasWeight(name + ".weight")) return net_.Conv(x, name, conv);
    const auto find = [&](const char* newer, const char* older) {
      return net_.AnyOf({StrCat(name, ".parametrizations.weight.", newer), StrCat(name, older)});
    };
    const Expr length = net_.Weight(find("original0", ".weight_g"), {1, 1, m_.position_kernel});
    const Expr direction =
        net_.Weight(find("original1", ".weight_v"),
                    {m_.width, m_.width / m_.position_groups, m_.position_kernel});
    const Expr norm = Sqrt(Reduce(Square(direction), "reduce_sum", {0, 1}, true));
    return net_.ConvBy(x, direction * (length / norm), name, conv);
  }

  // --- After the layers --------------------------------------------------------------------------

  void Keep(const Expr& x) {
    if (keeps_all_) kept_.push_back(x);
  }

  Expr WeightedSum() {
    const auto count = static_cast<int64_t>(kept_.size());
    const Expr weights = net_.Weight("layer_weights", {count}).Op("softmax", {}, {{"axis", -1}});
    Expr sum = nullptr;
    for (int64_t i = 0; i < count; ++i) {
      const Expr part = kept_[static_cast<size_t>(i)] * Part(weights, 0, i, 1);
      sum = i ? sum + part : part;
    }
    return sum;
  }

  Expr Adapted(Expr x) {
    if (!m_.adapter) return x;
    const Listener::Adapter& a = *m_.adapter;
    const std::string name = m_.prefix + "adapter.";
    if (a.width != m_.width) {
      x = net_.Linear(x, name + "proj", m_.width, a.width);
      x = net_.Norm(x, kPlainNorm, name + "proj_layer_norm", a.width);
    }
    x = Transpose(ByTime(x, a.width), {0, 2, 1});
    for (int64_t i = 0; i < a.count; ++i) {
      x = net_.Conv(x, StrCat(name, "layers.", i, ".conv"),
                    {.in = a.width,
                     .out = 2 * a.width,
                     .kernel = {a.kernel},
                     .stride = {a.stride},
                     .padding = {1}});
      x = GatedHalves(x, a.width);
    }
    length_ = SizeAt(x, 2);
    return Reshape(Transpose(x, {0, 2, 1}), std::vector<int64_t>{-1, a.width});
  }

  void Classify(Expr x, bool by_frame) {
    const std::vector<int64_t> dims = net_.DimsOf("classifier.weight");
    const int64_t count = dims.empty() ? 1 : dims[0];
    if (by_frame) {
      const Expr y = net_.Linear(x, "classifier", m_.width, count);
      return net_.Output("logits", ByTime(y, count));
    }
    x = ByTime(net_.Linear(x, "projector", m_.width, m_.projector), m_.projector);
    Expr pooled = nullptr;
    if (mask_.value()) {
      const Expr counted = Unsqueeze(mask_, {2});
      pooled = Sum(Where(counted, x, 0.0), 1) / Sum(counted.To(DType::kFloat32), 1);
    } else {
      pooled = Reduce(x, "reduce_mean", {1});
    }
    net_.Output("logits", net_.Linear(pooled, "classifier", m_.projector, count));
  }

  Net& net_;
  Listener m_;
  Size batch_ = 0, length_ = 0;
  Expr mask_ = nullptr;  // bool [batch, length]
  bool keeps_all_ = false;
  std::vector<Expr> kept_;
};

}  // namespace

// By a floor, which is that of division for what is not below the kernel.
Expr WindowsIn(const Expr& lengths, int64_t kernel, int64_t stride) {
  const Expr more = Shifted(lengths, static_cast<double>(-kernel));
  return (stride == 1 ? more : more / static_cast<double>(stride)) + 1.0;
}

Expr FirstOf(Net& net, const Expr& lengths, const x2ir::Size& length) {
  return Unsqueeze(Iota(Scalar(net.b(), length)), {0}) < Unsqueeze(lengths, {1});
}

Expr GatedHalves(const Expr& x, int64_t channels) {
  return Part(x, 1, 0, channels) * Part(x, 1, channels, channels).Op("sigmoid");
}

void BuildListener(Net& net, Listener listener, const std::string& class_name) {
  // A model without a head names its weights without the prefix.
  if (!net.HasWeight(listener.prefix + "feature_extractor.conv_layers.0.conv.weight")) {
    for (Layer& layer : listener.layers) {
      layer.prefix.erase(0, listener.prefix.size());
      if (layer.attention.distance_bias) {
        layer.attention.distance_bias->table.erase(0, listener.prefix.size());
      }
    }
    listener.prefix.clear();
  }
  Listening(net, std::move(listener)).Run(class_name);
}

bool RegisterListener(std::string model_type, std::string stem, DescribeListener describe) {
  return RegisterArchitecture(
      {.model_type = std::move(model_type),
       .kind = "sound",
       .classes = {stem + "Model", stem + "ForCTC", stem + "ForSequenceClassification",
                   stem + "ForAudioFrameClassification"},
       .build = [describe](Net& net, const std::string& class_name) {
         BuildListener(net, describe(net), class_name);
       }});
}

}  // namespace x2ir::checkpoint
