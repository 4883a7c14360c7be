// Toy, a foreign framework of three layers, gets ONNX in and out through x2ir.
//
// All that it has to say is in the registrations below: what each of its layers is in the IR.
// Each row serves both directions. The rest of the file is the framework itself, how it hands
// its network over as a graph, and how it builds layers from a graph that it is given.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "x2ir/core/convert.h"
#include "x2ir/core/dialect.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

// --- What Toy's layers mean -----------------------------------------------------------------

#define TOY_OP(ir_op) X2IR_SPEC("toy", ir_op)

namespace {

[[maybe_unused]] const bool kToyIsRegistered = x2ir::RegisterDialect({.name = "toy"});

TOY_OP(relu).Is("ReluLayer", x2ir::Since(1));

// Weights are [in, out], and there is always a bias.
TOY_OP(gemm).Is("Dense", x2ir::Since(1), x2ir::Fixed("alpha", 1.0f), x2ir::Fixed("beta", 1.0f),
                x2ir::Fixed("transA", 0), x2ir::Fixed("transB", 0));

// Scale has its factor as an attribute; the IR multiplies by a constant.
absl::StatusOr<x2ir::Values> FromScale(x2ir::Rewrite& r) {
  x2ir::Value* factor = r.b.Scalar(x2ir::DType::kFloat32, r.attrs().Float("factor"), "factor");
  return x2ir::Values{r.b.Op("mul", {r.in(0), factor})};
}

absl::StatusOr<x2ir::Values> ToScale(x2ir::Rewrite& r) {
  for (const size_t i : {1, 0}) {
    const x2ir::Tensor* factor = r.in(i) ? r.in(i)->fixed_constant() : nullptr;
    if (!factor || factor->num_elements() != 1) continue;
    x2ir::AttributeMap attrs;
    attrs.Set("factor", static_cast<float>(factor->AsDouble(0)));
    return r.b.Node("toy", "Scale", {r.in(1 - i)}, std::move(attrs), {true});
  }
  return x2ir::CannotExpress("Toy multiplies by a single constant only");
}

TOY_OP(mul).Is("Scale", x2ir::Since(1), x2ir::Code{FromScale, ToScale});

// --- The framework --------------------------------------------------------------------------

using Vector = std::vector<float>;

class Layer {
 public:
  virtual ~Layer() = default;
  virtual Vector Run(const Vector& x) const = 0;
  // Appends itself to a graph of dialect "toy" and returns its result.
  virtual x2ir::Value* Write(x2ir::Graph& graph, x2ir::Value* x, const std::string& name) const = 0;
};
using Network = std::vector<std::unique_ptr<Layer>>;

x2ir::Value* WriteNode(x2ir::Graph& graph, const char* op, std::vector<x2ir::Value*> operands,
                       const std::string& name) {
  x2ir::Node* node = graph.AppendNode("toy", op, operands);
  node->set_name(name);
  return graph.AddNodeOutput(node, name + "/out");
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
  x2ir::Value* Write(x2ir::Graph& graph, x2ir::Value* x, const std::string& name) const override {
    x2ir::Value* y = WriteNode(graph, "Scale", {x}, name);
    y->producer()->SetAttr("factor", factor_);
    return y;
  }

 private:
  float factor_;
};

Vector Run(const Network& network, Vector x) {
  for (const auto& layer : network) x = layer->Run(x);
  return x;
}

// --- Networks and graphs --------------------------------------------------------------------

x2ir::Model ToModel(const Network& network, int64_t inputs) {
  x2ir::Model model;
  model.source_dialect = "toy";
  model.SetOpset("", 1);
  model.graph->set_name("toy_network");
  x2ir::Value* value = model.graph->AddInput(
      "x", x2ir::Type::Tensor(x2ir::DType::kFloat32, x2ir::Shape::FromInts({1, inputs})));
  int i = 0;
  for (const auto& layer : network) {
    value = layer->Write(*model.graph, value, "layer" + std::to_string(i++));
  }
  model.graph->Rename(value, "y");
  model.graph->AddOutput(value);
  return model;
}

// The constant operand as numbers; empty when it is none.
Vector Weights(const x2ir::Node& node, size_t i) {
  Vector numbers;
  const x2ir::Tensor* tensor = node.input(i) ? node.input(i)->fixed_constant() : nullptr;
  if (!tensor || tensor->dtype() != x2ir::DType::kFloat32) return numbers;
  const x2ir::Tensor aligned = tensor->AlignedCopyIfNeeded();
  numbers.assign(aligned.span<float>().begin(), aligned.span<float>().end());
  return numbers;
}

absl::StatusOr<Network> FromModel(const x2ir::Model& model) {
  using Reader = std::unique_ptr<Layer> (*)(const x2ir::Node&);
  static const std::map<std::string, Reader> readers = {
      {"Dense",
       [](const x2ir::Node& node) -> std::unique_ptr<Layer> {
         Vector weights = Weights(node, 1), bias = Weights(node, 2);
         if (weights.empty() || bias.empty() || weights.size() % bias.size() != 0) return nullptr;
         const size_t in = weights.size() / bias.size(), out = bias.size();
         return std::make_unique<Dense>(in, out, std::move(weights), std::move(bias));
       }},
      {"ReluLayer",
       [](const x2ir::Node&) -> std::unique_ptr<Layer> { return std::make_unique<ReluLayer>(); }},
      {"Scale",
       [](const x2ir::Node& node) -> std::unique_ptr<Layer> {
         return std::make_unique<Scale>(static_cast<float>(node.attrs().Float("factor")));
       }},
  };
  Network network;
  const x2ir::Value* expected = model.graph->inputs().at(0);
  for (const x2ir::Node* node : model.graph->nodes()) {
    if (node->input(0) != expected) return x2ir::CannotExpress("Toy knows only chains of layers");
    auto reader = readers.find(node->op().str());
    std::unique_ptr<Layer> layer = reader == readers.end() ? nullptr : reader->second(*node);
    if (!layer) return x2ir::CannotExpress("Toy cannot build layer ", node->op().str());
    network.push_back(std::move(layer));
    expected = node->output(0);
  }
  return network;
}

absl::Status ThereAndBack(const std::string& path) {
  Network network;
  network.push_back(std::make_unique<Dense>(
      3, 4, Vector{0.5f, -1, 2, 0.25f, 1, 1, -0.5f, 3, -2, 0.75f, 1, -1}, Vector{0, 1, -1, 0.5f}));
  network.push_back(std::make_unique<ReluLayer>());
  network.push_back(std::make_unique<Scale>(0.5f));
  network.push_back(std::make_unique<Dense>(4, 2, Vector{1, 2, 3, 4, -1, -2, 0.5f, 0.25f},
                                            Vector{0.125f, -0.125f}));

  x2ir::Model model = ToModel(network, 3);
  X2IR_RETURN_IF_ERROR(x2ir::ToIr(model));
  X2IR_RETURN_IF_ERROR(x2ir::Export(std::move(model), path, {.opset = 17}));
  std::printf("toy: wrote a network of %zu layers to %s\n", network.size(), path.c_str());

  X2IR_ASSIGN_OR_RETURN(x2ir::Model read, x2ir::Import(path));
  X2IR_RETURN_IF_ERROR(x2ir::FromIr(read, "toy"));
  X2IR_ASSIGN_OR_RETURN(Network again, FromModel(read));
  std::printf("toy: read it back as a network of %zu layers\n", again.size());

  for (const Vector& x : {Vector{1, 2, 3}, Vector{-1, 0.5f, 0}, Vector{0, 0, 0}}) {
    const Vector want = Run(network, x), got = Run(again, x);
    if (got.size() != want.size()) return x2ir::Internal("the results have another size");
    for (size_t i = 0; i < want.size(); ++i) {
      if (std::abs(got[i] - want[i]) <= 1e-6f) continue;
      return x2ir::Internal("result ", i, ": expected ", want[i], ", got ", got[i]);
    }
    std::printf("toy: f(%g, %g, %g) = (%g, %g), before and after\n", x[0], x[1], x[2], got[0],
                got[1]);
  }
  return absl::OkStatus();
}

}  // namespace

int main() {
  const absl::Status status = ThereAndBack("toy.onnx");
  if (status.ok()) return 0;
  std::fprintf(stderr, "toy: %s\n", status.ToString().c_str());
  return 1;
}
