#include "x2ir/optimizer/quantize_floats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/builder.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/optimizer/rule_util.h"

namespace x2ir {
namespace {

// Ops that ONNX Runtime, LiteRT or both compute on integers. What is not here, and moves no
// elements, stays float32. The table is about kernels of these runtimes, so it is not beside the
// ops.
constexpr IntegerRow kIntegerRows[] = {
    {"add", Steps::kOwn, kAllOperands},
    {"average_pool", Steps::kShared, 1},
    {"clip", Steps::kOwn, 1},
    {"concat", Steps::kShared, kAllOperands},
    {"conv", Steps::kWeights, 1},
    {"conv_transpose", Steps::kWeights, 1},
    {"gemm", Steps::kWeights, 1},
    {"global_average_pool", Steps::kOwn, 1},
    {"hard_swish", Steps::kOwn, 1},
    {"leaky_relu", Steps::kOwn, 1},
    {"matmul", Steps::kWeights, 1},
    {"max_pool", Steps::kShared, 1},
    {"mul", Steps::kOwn, kAllOperands},
    {"pad", Steps::kShared, 1},
    {"prelu", Steps::kOwn, kAllOperands},
    {"reduce_mean", Steps::kOwn, 1},
    {"relu", Steps::kOwn, 1},
    {"resize", Steps::kShared, 1},
    {"sigmoid", Steps::kFixed, 1, 1.0F / 256, -128},
    {"softmax", Steps::kFixed, 1, 1.0F / 256, -128},
    {"split", Steps::kShared, 1},
    {"sub", Steps::kOwn, kAllOperands},
    {"tanh", Steps::kFixed, 1, 1.0F / 128, 0},
};
constexpr IntegerRow kMoves = {"", Steps::kShared, 1};

// Numbers that mean infinity in masks; in their range all other numbers would be one step.
constexpr double kMask = 1e4;

const IntegerRow* IntegerRowOf(const Node& node) {
  const OpDef* op = node.is_ir() ? FindOp(node.op()) : nullptr;
  if (!op) return nullptr;
  for (const IntegerRow& row : kIntegerRows) {
    if (row.op == node.op().view()) return &row;
  }
  return op->moves() != MoveUse::kNone ? &kMoves : nullptr;
}

bool HasFloats(const Value* value) {
  return value && value->type().is_tensor() && value->dtype() == DType::kFloat32;
}

const Tensor* ConstantOf(const Value* value) {
  const Tensor* tensor = value ? value->fixed_constant() : nullptr;
  return tensor && !tensor->is_sparse() ? tensor : nullptr;
}

bool IsWithin(const Tensor& tensor, double most) {
  const Numbers<float> numbers(tensor);
  return std::all_of(numbers.span().begin(), numbers.span().end(),
                     [&](float v) { return std::fabs(v) < most; });
}
bool IsFiniteTensor(const Tensor& tensor) {
  return IsWithin(tensor, std::numeric_limits<double>::infinity());
}

// Which axis of the weights the channels of the result are.
int64_t ChannelAxis(const Node& node) {
  if (node.op() == "conv") return 0;
  if (node.op() == "conv_transpose") return 1;
  if (node.op() == "gemm") return node.attrs().Int("transB") != 0 ? 0 : 1;
  return node.input(1)->fixed_constant()->rank() - 1;
}

// Scale and zero point of int8.
struct Affine {
  float scale = 1;
  int64_t zero_point = 0;
};

// The range in integers of so many bits.
Affine AffineOf(NumberRange range, int bits = 8) {
  const double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0);
  const double least = -(1 << (bits - 1)), most = -1 - least;
  const auto scale = static_cast<float>((high - low) / (most - least));
  if (!std::isnormal(scale)) return {};
  const double zero = std::nearbyint(least - low / static_cast<double>(scale));
  return {scale, static_cast<int64_t>(std::clamp(zero, least, most))};
}

int8_t Int8Of(double number, double scale, int64_t zero_point, double least, double largest) {
  const double steps = std::nearbyint(number / scale) + static_cast<double>(zero_point);
  return static_cast<int8_t>(std::clamp(steps, least, largest));
}

// The values that share a scale, as a forest.
class Groups {
 public:
  Value* Root(Value* value) {
    while (true) {
      const auto it = parent_.find(value);
      if (it == parent_.end() || it->second == value) return value;
      value = it->second;
    }
  }
  void Join(Value* a, Value* b) {
    a = Root(a);
    b = Root(b);
    if (a != b) parent_[b] = a;
  }

 private:
  absl::flat_hash_map<Value*, Value*> parent_;
};

class FloatQuantizer {
 public:
  FloatQuantizer(Graph& graph, const NumberRanges& ranges, const QuantizeFloatsOptions& options)
      : graph_(graph),
        ranges_(ranges),
        per_channel_(options.per_channel),
        weight_bits_(options.weight_bits),
        most_((1 << (options.weight_bits - 1)) - 1) {}

  absl::StatusOr<QuantizedFloats> Run() {
    for (Node* node : graph_.nodes()) Choose(node);
    for (Node* node : nodes_) Absorb(node);
    for (Node* node : nodes_) JoinShared(node);
    FindSteps();
    const std::vector<Node*> nodes = nodes_;
    for (Node* node : nodes) X2IR_RETURN_IF_ERROR(QuantizeOperands(node));
    for (Node* node : nodes) X2IR_RETURN_IF_ERROR(QuantizeResults(node));
    X2IR_RETURN_IF_ERROR(graph_.Sort());
    X2IR_RETURN_IF_ERROR(InferGraph(graph_));
    return std::move(result_);
  }

 private:
  // --- Which nodes ----------------------------------------------------------------------------

  // Operands that are quantized as activations, weights and biases aside.
  std::vector<size_t> OperandsOf(const Node& node) const {
    const IntegerRow& row = *IntegerRowOf(node);
    std::vector<size_t> operands;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      const bool product = row.steps == Steps::kWeights && i == 1 && !ConstantOf(node.input(1));
      const bool in_row = (row.operands >> std::min<size_t>(i, 31) & 1) != 0;
      if ((in_row || product) && HasFloats(node.input(i))) operands.push_back(i);
    }
    return operands;
  }

  // Why a value cannot be integers; empty: it can.
  std::string ProblemOf(const Value* value) const {
    constexpr char kUnknown[] = "a number that it reads or gives is unknown or not finite";
    constexpr char kLarge[] = "a number of 10,000 or more, as masks have, is among the others";
    if (const Tensor* constant = ConstantOf(value)) {
      if (constant->num_elements() == 0 || !IsFiniteTensor(*constant)) return kUnknown;
      return constant->num_elements() == 1 || IsWithin(*constant, kMask) ? "" : kLarge;
    }
    const auto it = ranges_.find(value);
    if (it == ranges_.end()) return kUnknown;
    return std::max(-it->second.low, it->second.high) < kMask ? "" : kLarge;
  }

  // Why a node that has a row stays float32; empty: it does not.
  std::string WhyNot(const Node& node) const {
    const IntegerRow& row = *IntegerRowOf(node);
    for (const Value* operand : node.inputs()) {
      if (operand && operand->producer() && operand->producer()->Is("dequantize_linear")) {
        return "it is quantized already";
      }
    }
    for (const size_t i : OperandsOf(node)) {
      if (std::string problem = ProblemOf(node.input(i)); !problem.empty()) return problem;
    }
    for (const Value* output : node.outputs()) {
      if (!output || output->is_unused() || !HasFloats(output)) continue;
      if (std::string problem = ProblemOf(output); !problem.empty()) return problem;
    }
    if (row.op == "pad" && node.input(2)) {
      const Tensor* value = ConstantOf(node.input(2));
      if (!value || value->num_elements() != 1 || value->AsDouble(0) != 0) {
        return "it pads with a number that is not 0";
      }
    }
    if (row.op == "max_pool" && node.output(1)) return "its indices are wanted";
    if (row.steps != Steps::kWeights) return "";
    if (node.op() == "gemm" &&
        (node.attrs().Float("alpha") != 1 || node.attrs().Float("beta") != 1 ||
         node.attrs().Int("transA") != 0)) {
      return "it has factors, or its first operand transposed";
    }
    if (node.op() == "conv_transpose" &&
        (node.attrs().Int("group") != 1 || !IsPlainDilation(node))) {
      return "its kernel is dilated or has groups";
    }
    const Tensor* weights = ConstantOf(node.input(1));
    if (!weights) return node.op() == "matmul" ? "" : "its weights are computed";
    if (weights->rank() < 2 || weights->num_elements() == 0 || !IsFiniteTensor(*weights)) {
      return "its weights have no channels, or a number that is not finite";
    }
    if (!node.input(2)) return "";
    const Tensor* bias = ConstantOf(node.input(2));
    if (!bias) return "its bias is computed";
    const int64_t channels = weights->dim(ChannelAxis(node));
    if (bias->num_elements() != channels || bias->rank() < 1 ||
        bias->dim(bias->rank() - 1) != channels || !IsFiniteTensor(*bias)) {
      return "its bias is not one number for each channel";
    }
    return "";
  }

  static bool IsPlainDilation(const Node& node) {
    if (!node.attrs().Has("dilations")) return true;
    const std::vector<int64_t>& dilations = node.attrs().Ints("dilations");
    return std::all_of(dilations.begin(), dilations.end(), [](int64_t d) { return d == 1; });
  }

  void Choose(Node* node) {
    const bool floats = std::any_of(node->outputs().begin(), node->outputs().end(), HasFloats);
    if (!floats || node->Is("dequantize_linear")) return;
    const IntegerRow* row = IntegerRowOf(*node);
    const bool moves = row && row->steps == Steps::kShared;
    std::string reason = row ? WhyNot(*node) : "no kernel for int8";
    if (moves && reason.empty()) {
      // What follows no integers gains nothing.
      bool follows = false;
      for (const size_t i : OperandsOf(*node)) {
        const Node* before = node->input(i)->producer();
        follows = follows || (before && chosen_.contains(before));
      }
      if (!follows) return;
    }
    if (!reason.empty()) {
      ++result_.left[{node->op().str(), std::move(reason)}];
      return;
    }
    nodes_.push_back(node);
    chosen_.insert(node);
    ++result_.ops[node->op().str()];
  }

  // --- Which scales ---------------------------------------------------------------------------

  static bool IsBound(const Value* value, double number) {
    const Tensor* tensor = ConstantOf(value);
    return tensor && tensor->num_elements() == 1 && tensor->AsDouble(0) == number;
  }
  // An activation that LiteRT's operators have as an option, and that ONNX Runtime drops before a
  // quantize_linear which keeps the same numbers.
  static bool IsActivation(const Node& node) {
    if (node.Is("relu")) return true;
    return node.Is("clip") &&
           ((IsBound(node.input(1), 0) && (!node.input(2) || IsBound(node.input(2), 6))) ||
            (IsBound(node.input(1), -1) && IsBound(node.input(2), 1)));
  }

  // The node and the activation after it are one unit: the value between them is not quantized.
  void Absorb(Node* node) {
    const IntegerRow& row = *IntegerRowOf(*node);
    const bool computes =
        row.steps == Steps::kWeights || row.op == "add" || row.op == "sub" || row.op == "mul";
    Value* output = node->output(0);
    if (!computes || output->uses().size() != 1 || output->is_graph_output()) return;
    Node* next = output->uses()[0].node;
    if (next->graph() == &graph_ && chosen_.contains(next) && IsActivation(*next) &&
        next->input(0) == output) {
      inside_.insert(output);
    }
  }

  void JoinShared(Node* node) {
    if (IntegerRowOf(*node)->steps != Steps::kShared) return;
    Value* first = nullptr;
    const auto join = [&](Value* value) {
      if (!HasFloats(value)) return;
      if (first) groups_.Join(first, value);
      if (!first) first = value;
    };
    for (const size_t i : OperandsOf(*node)) {
      if (!ConstantOf(node->input(i))) join(node->input(i));
    }
    for (Value* output : node->outputs()) join(output);
  }

  void FindSteps() {
    struct Group {
      std::optional<NumberRange> range;
      std::optional<Affine> fixed;
      bool computed = false;  // by a node whose result may have any scale
      bool weights = false;   // of a product of two that are computed
    };
    absl::flat_hash_map<Value*, Group> groups;
    absl::flat_hash_set<const Value*> seen;
    const auto add = [&](Value* value) {
      if (!HasFloats(value) || ConstantOf(value) || inside_.contains(value) ||
          !seen.insert(value).second) {
        return;
      }
      Group& group = groups[groups_.Root(value)];
      const Node* producer = value->producer();
      const IntegerRow* row =
          producer && chosen_.contains(producer) ? IntegerRowOf(*producer) : nullptr;
      if (row && row->steps == Steps::kFixed) {
        const Affine fixed{row->scale, row->zero_point};
        group.computed |= group.fixed && (group.fixed->scale != fixed.scale ||
                                          group.fixed->zero_point != fixed.zero_point);
        group.fixed = fixed;
      } else if (!row || row->steps != Steps::kShared) {
        group.computed = true;
      }
      const auto it = ranges_.find(value);
      if (it == ranges_.end()) return;
      if (!group.range) group.range = it->second;
      group.range->low = std::min(group.range->low, it->second.low);
      group.range->high = std::max(group.range->high, it->second.high);
    };
    for (Node* node : nodes_) {
      for (const size_t i : OperandsOf(*node)) add(node->input(i));
      for (Value* output : node->outputs()) add(output);
      const bool product = IntegerRowOf(*node)->steps == Steps::kWeights;
      if (product && !ConstantOf(node->input(1))) {
        groups[groups_.Root(node->input(1))].weights = true;
      }
    }
    for (const auto& [root, group] : groups) {
      const bool narrow = group.weights && weight_bits_ != 8;
      steps_[root] =
          group.fixed && !group.computed && !narrow
              ? *group.fixed
              : AffineOf(group.range.value_or(NumberRange{0, 0}), narrow ? weight_bits_ : 8);
    }
  }

  Affine StepsOf(Value* value) { return steps_[groups_.Root(value)]; }

  // --- The units ------------------------------------------------------------------------------

  // A value as integers, with their scale and zero point.
  struct Integers {
    Value *q, *scale, *zero_point;
  };

  static Integers Constants(Builder& b, Value* q, const Affine& steps) {
    return {
        q, b.Constant(Tensor::Scalar<float>(steps.scale), "scale"),
        b.Constant(Tensor::Scalar<int8_t>(static_cast<int8_t>(steps.zero_point)), "zero_point")};
  }

  absl::StatusOr<Integers> IntegersOf(Value* value) {
    if (const auto it = integers_.find(value); it != integers_.end()) return it->second;
    Node* producer = value->producer();
    Builder b(graph_, producer ? producer->next() : graph_.first());
    b.set_name_hint(value->name());
    Integers made = Constants(b, nullptr, StepsOf(value));
    made.q = b.Op("quantize_linear", {value, made.scale, made.zero_point});
    X2IR_RETURN_IF_ERROR(b.status());
    graph_.NameValues(made.q->producer(), value->name() + "_quantized");
    return integers_[value] = made;
  }

  absl::StatusOr<Value*> Floats(Node* before, const Integers& integers, const std::string& name,
                                std::optional<int64_t> axis = std::nullopt) {
    Builder b(graph_, before);
    AttributeMap attrs;
    if (axis) attrs.Set("axis", *axis);
    Value* floats = b.Op("dequantize_linear", {integers.q, integers.scale, integers.zero_point},
                         std::move(attrs));
    X2IR_RETURN_IF_ERROR(b.status());
    graph_.NameValues(floats->producer(), name + "_dequantized");
    return floats;
  }

  absl::Status QuantizeOperands(Node* node) {
    for (const size_t i : OperandsOf(*node)) {
      Value* operand = node->input(i);
      if (inside_.contains(operand)) continue;
      Integers integers{};
      if (const Tensor* constant = ConstantOf(operand)) {
        X2IR_ASSIGN_OR_RETURN(integers, OfConstant(node, *operand, *constant));
      } else {
        X2IR_ASSIGN_OR_RETURN(integers, IntegersOf(operand));
      }
      X2IR_ASSIGN_OR_RETURN(Value * floats, Floats(node, integers, operand->name()));
      node->SetInput(i, floats);
    }
    const bool weights =
        IntegerRowOf(*node)->steps == Steps::kWeights && ConstantOf(node->input(1));
    return weights ? QuantizeWeights(node) : absl::OkStatus();
  }

  absl::StatusOr<Integers> OfConstant(Node* node, const Value& operand, const Tensor& constant) {
    const Numbers<float> numbers(constant);
    NumberRange range{0, 0};
    for (const float v : numbers.span()) {
      range.low = std::min<double>(range.low, v);
      range.high = std::max<double>(range.high, v);
    }
    // What shares scales has those of the result.
    const bool shared = IntegerRowOf(*node)->steps == Steps::kShared;
    Affine steps = shared ? StepsOf(node->output(0)) : AffineOf(range);
    if (!shared && constant.num_elements() == 1 && range.low != range.high) {
      // A single number is a step of its own, and exact.
      steps = {static_cast<float>(std::abs(constant.AsDouble(0))), 0};
    }
    Tensor q = Tensor::Zeros(DType::kInt8, constant.dims());
    const auto out = q.mutable_span<int8_t>();
    for (int64_t i = 0; i < numbers.size(); ++i) {
      out[static_cast<size_t>(i)] = Int8Of(numbers[i], steps.scale, steps.zero_point, -128, 127);
    }
    ++result_.weights;
    Builder b(graph_, node);
    b.set_name_hint(operand.name());
    return Constants(b, b.Constant(std::move(q), "int8"), steps);
  }

  absl::Status QuantizeWeights(Node* node) {
    Value* weights = node->input(1);
    Value* bias = node->input(2);
    const Tensor tensor = *ConstantOf(weights);
    const int64_t axis = ChannelAxis(*node);
    const int64_t group = node->op() == "conv_transpose" ? node->attrs().Int("group") : 1;
    // Kernels take one scale for each channel where each has weights of its own.
    const bool many = per_channel_ && group == 1 && (node->op() != "matmul" || tensor.rank() == 2);
    const int64_t count = many ? tensor.dim(axis) : 1;
    int64_t inner = 1;
    for (int64_t d = axis + 1; d < tensor.rank(); ++d) inner *= tensor.dim(d);
    const auto channel = [&](int64_t i) {
      return static_cast<size_t>(many ? i / inner % tensor.dim(axis) : 0);
    };
    const Numbers<float> numbers(tensor);
    std::vector<double> most(static_cast<size_t>(count), 0);
    for (int64_t i = 0; i < numbers.size(); ++i) {
      double& largest = most[channel(i)];
      largest = std::max(largest, std::fabs(static_cast<double>(numbers[i])));
    }
    const Value* of_x = node->input(0)->producer()->input(1);
    const double x_scale = of_x->fixed_constant()->AsDouble(0);
    std::vector<double> largest_bias(most.size(), 0);
    if (bias) {
      const Numbers<float> values(*ConstantOf(bias));
      for (int64_t i = 0; i < values.size(); ++i) {
        double& largest = largest_bias[many ? static_cast<size_t>(i) : 0];
        largest = std::max(largest, std::fabs(static_cast<double>(values[i])));
      }
    }
    std::vector<float> scales;
    for (size_t c = 0; c < most.size(); ++c) {
      // The integers of the bias must fit as well.
      const double least = largest_bias[c] / x_scale / (1 << 30);
      const auto scale = static_cast<float>(std::max(most[c] / most_, least));
      scales.push_back(std::isnormal(scale) ? scale : 1.0F);
    }
    Tensor q = Tensor::Zeros(DType::kInt8, tensor.dims());
    const auto out = q.mutable_span<int8_t>();
    for (int64_t i = 0; i < numbers.size(); ++i) {
      out[static_cast<size_t>(i)] = Int8Of(numbers[i], scales[channel(i)], 0, -most_, most_);
    }
    const std::vector<int64_t> dims = many ? std::vector<int64_t>{count} : std::vector<int64_t>();
    const std::optional<int64_t> along = many ? std::optional(axis) : std::nullopt;
    Builder b(graph_, node);
    b.set_name_hint(weights->name());
    const Integers of_weights{b.Constant(std::move(q), "int8"),
                              b.Constant(Tensor::Of<float>(dims, scales), "scale"),
                              b.Constant(Tensor::Zeros(DType::kInt8, dims), "zero_point")};
    X2IR_ASSIGN_OR_RETURN(Value * floats, Floats(node, of_weights, weights->name(), along));
    node->SetInput(1, floats);
    ++result_.weights;
    if (!bias) return absl::OkStatus();

    const Tensor of_bias = *ConstantOf(bias);
    std::vector<float> products;
    for (const float scale : scales) products.push_back(static_cast<float>(x_scale) * scale);
    const Numbers<float> values(of_bias);
    Tensor wide = Tensor::Zeros(DType::kInt32, of_bias.dims());
    const auto steps = wide.mutable_span<int32_t>();
    for (int64_t i = 0; i < values.size(); ++i) {
      const double product = products[many ? static_cast<size_t>(i) : 0];
      steps[static_cast<size_t>(i)] = static_cast<int32_t>(std::clamp(
          std::nearbyint(static_cast<double>(values[i]) / product), -2147483647.0, 2147483647.0));
    }
    b.set_name_hint(bias->name());
    const std::optional<int64_t> bias_axis =
        many ? std::optional<int64_t>(of_bias.rank() - 1) : std::nullopt;
    const Integers of_steps{b.Constant(std::move(wide), "int32"),
                            b.Constant(Tensor::Of<float>(dims, products), "scale"),
                            b.Constant(Tensor::Zeros(DType::kInt32, dims), "zero_point")};
    X2IR_ASSIGN_OR_RETURN(floats, Floats(node, of_steps, bias->name(), bias_axis));
    node->SetInput(2, floats);
    return absl::OkStatus();
  }

  // Users of a result get the dequantized integers.
  absl::Status QuantizeResults(Node* node) {
    for (Value* output : node->outputs()) {
      if (!HasFloats(output) || output->is_unused() || inside_.contains(output)) continue;
      X2IR_ASSIGN_OR_RETURN(const Integers integers, IntegersOf(output));
      std::vector<Use> others;
      for (const Use& use : output->uses()) {
        if (use.node != integers.q->producer()) others.push_back(use);
      }
      if (others.empty() && !output->is_graph_output()) continue;
      X2IR_ASSIGN_OR_RETURN(Value * floats,
                            Floats(integers.q->producer()->next(), integers, output->name()));
      for (const Use& use : others) use.node->SetInput(use.index, floats);
      if (!output->is_graph_output()) continue;
      const std::vector<Value*> outputs = graph_.outputs();
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i] == output) graph_.SetOutput(i, floats);
      }
      graph_.SwapNames(output, floats);
    }
    return absl::OkStatus();
  }

  Graph& graph_;
  const NumberRanges& ranges_;
  const bool per_channel_;
  const int weight_bits_;
  const double most_;  // that integers of weights reach
  QuantizedFloats result_;
  std::vector<Node*> nodes_;  // that become units, in the order of computing
  absl::flat_hash_set<const Node*> chosen_;
  absl::flat_hash_set<const Value*> inside_;  // of a unit
  Groups groups_;
  absl::flat_hash_map<Value*, Affine> steps_;  // of the root of each group
  absl::flat_hash_map<Value*, Integers> integers_;
};

}  // namespace

absl::Span<const IntegerRow> IntegerRows() { return kIntegerRows; }

absl::StatusOr<QuantizedFloats> QuantizeFloats(Graph& graph, const NumberRanges& ranges,
                                               const QuantizeFloatsOptions& options) {
  return FloatQuantizer(graph, ranges, options).Run();
}

}  // namespace x2ir
