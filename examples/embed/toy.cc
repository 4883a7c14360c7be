#include "toy.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace toy {
namespace {

x2ir::Value* WriteNode(x2ir::Graph& graph, const char* op, std::vector<x2ir::Value*> operands,
                       const std::string& name) {
  x2ir::Node* node = graph.AppendNode("toy", op, operands);
  node->set_name(name);
  return graph.AddNodeOutput(node, name + "/out");
}

// " 0.5 -1", so that reading gives the same floats.
std::string Numbers(const Vector& numbers) {
  std::string text;
  for (const float number : numbers) {
    char word[40];
    std::snprintf(word, sizeof word, " %.9g", static_cast<double>(number));
    text += word;
  }
  return text;
}

class Dense : public Layer {
 public:
  Dense(size_t in, size_t out, Vector weights, Vector bias)
      : in_(in), out_(out), weights_(std::move(weights)), bias_(std::move(bias)) {}

  Vector Run(const Vector& x) const override {
    Vector y = bias_;
    for (size_t i = 0; i < in_; ++i) {
      for (size_t o = 0; o < out_; ++o) y[o] += x[i] * weights_[i * out_ + o];
    }
    return y;
  }
  std::string Line() const override {
    return "Dense " + std::to_string(in_) + " " + std::to_string(out_) + Numbers(weights_) +
           Numbers(bias_);
  }
  x2ir::Value* Write(x2ir::Graph& graph, x2ir::Value* x, const std::string& name) const override {
    const auto in = static_cast<int64_t>(in_), out = static_cast<int64_t>(out_);
    x2ir::Value* weights =
        graph.AddConstant(name + "/weights", x2ir::Tensor::Of<float>({in, out}, weights_));
    x2ir::Value* bias = graph.AddConstant(name + "/bias", x2ir::Tensor::Of<float>({out}, bias_));
    return WriteNode(graph, "Dense", {x, weights, bias}, name);
  }

 private:
  size_t in_, out_;
  Vector weights_, bias_;
};

class ReluLayer : public Layer {
 public:
  Vector Run(const Vector& x) const override {
    Vector y = x;
    for (float& v : y) v = std::max(v, 0.0f);
    return y;
  }
  std::string Line() const override { return "ReluLayer"; }
  x2ir::Value* Write(x2ir::Graph& graph, x2ir::Value* x, const std::string& name) const override {
    return WriteNode(graph, "ReluLayer", {x}, name);
  }
};

class Scale : public Layer {
 public:
  explicit Scale(float factor) : factor_(factor) {}
  Vector Run(const Vector& x) const override {
    Vector y = x;
    for (float& v : y) v *= factor_;
    return y;
  }
  std::string Line() const override { return "Scale" + Numbers({factor_}); }
  x2ir::Value* Write(x2ir::Graph& graph, x2ir::Value* x, const std::string& name) const override {
    x2ir::Value* y = WriteNode(graph, "Scale", {x}, name);
    y->producer()->SetAttr("factor", factor_);
    return y;
  }

 private:
  float factor_;
};

}  // namespace

Vector Network::Run(Vector x) const {
  for (const auto& layer : layers) x = layer->Run(x);
  return x;
}

std::unique_ptr<Layer> MakeDense(size_t in, size_t out, Vector weights, Vector bias) {
  return std::make_unique<Dense>(in, out, std::move(weights), std::move(bias));
}
std::unique_ptr<Layer> MakeRelu() { return std::make_unique<ReluLayer>(); }
std::unique_ptr<Layer> MakeScale(float factor) { return std::make_unique<Scale>(factor); }

// --- Networks and graphs --------------------------------------------------------------------

x2ir::Model ToModel(const Network& network) {
  x2ir::Model model;
  model.source_dialect = "toy";
  model.SetOpset("", 1);
  model.graph->set_name("toy_network");
  x2ir::Value* value = model.graph->AddInput(
      "x", x2ir::Type::Tensor(x2ir::DType::kFloat32, x2ir::Shape::FromInts({1, network.inputs})));
  int i = 0;
  for (const auto& layer : network.layers) {
    value = layer->Write(*model.graph, value, "layer" + std::to_string(i++));
  }
  model.graph->Rename(value, "y");
  model.graph->AddOutput(value);
  return model;
}

namespace {

// The constant operand as numbers; empty when it is none.
Vector Weights(const x2ir::Node& node, size_t i) {
  Vector numbers;
  const x2ir::Tensor* tensor = node.input(i) ? node.input(i)->fixed_constant() : nullptr;
  if (!tensor || tensor->dtype() != x2ir::DType::kFloat32) return numbers;
  const x2ir::Tensor aligned = tensor->AlignedCopyIfNeeded();
  numbers.assign(aligned.span<float>().begin(), aligned.span<float>().end());
  return numbers;
}

}  // namespace

absl::StatusOr<Network> FromModel(const x2ir::Model& model) {
  using Reader = std::unique_ptr<Layer> (*)(const x2ir::Node&);
  static const std::map<std::string, Reader> readers = {
      {"Dense",
       [](const x2ir::Node& node) -> std::unique_ptr<Layer> {
         Vector weights = Weights(node, 1), bias = Weights(node, 2);
         if (weights.empty() || bias.empty() || weights.size() % bias.size() != 0) return nullptr;
         const size_t in = weights.size() / bias.size(), out = bias.size();
         return MakeDense(in, out, std::move(weights), std::move(bias));
       }},
      {"ReluLayer", [](const x2ir::Node&) -> std::unique_ptr<Layer> { return MakeRelu(); }},
      {"Scale",
       [](const x2ir::Node& node) -> std::unique_ptr<Layer> {
         return MakeScale(static_cast<float>(node.attrs().Float("factor")));
       }},
  };
  Network network;
  const std::vector<x2ir::Value*>& inputs = model.graph->inputs();
  const x2ir::Shape* shape = inputs.size() == 1 ? inputs[0]->shape() : nullptr;
  if (!shape || shape->rank() != 2 || !(*shape)[1].is_static()) {
    return x2ir::CannotExpress("Toy has one input, of a known size");
  }
  network.inputs = (*shape)[1].value();
  const x2ir::Value* expected = inputs[0];
  for (const x2ir::Node* node : model.graph->nodes()) {
    if (node->input(0) != expected) return x2ir::CannotExpress("Toy knows only chains of layers");
    auto reader = readers.find(node->op().str());
    std::unique_ptr<Layer> layer = reader == readers.end() ? nullptr : reader->second(*node);
    if (!layer) return x2ir::CannotExpress("Toy cannot build layer ", node->op().str());
    network.layers.push_back(std::move(layer));
    expected = node->output(0);
  }
  return network;
}

}  // namespace toy
