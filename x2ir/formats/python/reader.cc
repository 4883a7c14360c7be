// Graph -> Program: calls with their arguments, sizes as numbers, known layers, weights.
#include <algorithm>
#include <utility>

#include "x2ir/formats/python/program_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::python {
namespace {

constexpr int64_t kMostLiteral = 16;  // elements of a tensor that the code spells out

// Operators that take a Python number for a tensor.
bool TakesNumber(std::string_view op, std::string_view argument) {
  constexpr std::string_view kOps[] = {
      "aten::add.Tensor",         "aten::sub.Tensor",        "aten::mul.Tensor",
      "aten::div.Tensor",         "aten::remainder.Tensor",  "aten::pow.Tensor_Tensor",
      "aten::eq.Tensor",          "aten::ne.Tensor",         "aten::lt.Tensor",
      "aten::le.Tensor",          "aten::gt.Tensor",         "aten::ge.Tensor",
      "aten::bitwise_and.Tensor", "aten::bitwise_or.Tensor", "aten::bitwise_xor.Tensor"};
  constexpr std::string_view kSecondOnly[] = {"aten::div.Tensor_mode", "aten::fmod.Tensor",
                                              "aten::bitwise_left_shift.Tensor",
                                              "aten::bitwise_right_shift.Tensor"};
  const auto is = [&](std::string_view name) { return name == op; };
  if (std::any_of(std::begin(kOps), std::end(kOps), is)) {
    return argument == "self" || argument == "other" || argument == "exponent";
  }
  return argument == "other" && std::any_of(std::begin(kSecondOnly), std::end(kSecondOnly), is);
}

std::optional<Item> NumberOf(const Tensor& tensor) {
  if (tensor.num_elements() != 1) return std::nullopt;
  if (tensor.dtype() == DType::kBool) return Item(tensor.AsInt(0) != 0);
  if (IsFloating(tensor.dtype())) return Item(tensor.AsDouble(0));
  if (IsInteger(tensor.dtype()) && tensor.dtype() != DType::kUInt64) return Item(tensor.AsInt(0));
  return std::nullopt;
}

// Whether a name was given by somebody, and not made up where a constant was computed.
bool IsGiven(std::string_view name) {
  return !name.empty() && name.find("::") == name.npos && !name.ends_with("_output_0") &&
         name.find('\n') == name.npos;
}

}  // namespace

class Reader {
 public:
  explicit Reader(const Graph& graph) : graph_(graph), program_(std::make_unique<Program>()) {
    program_->graph_ = &graph;
  }

  absl::StatusOr<std::unique_ptr<Program>> Run() {
    for (const Node* node : graph_.nodes()) X2IR_RETURN_IF_ERROR(Add(*node));
    RemoveUnneeded();
    JoinBiases();
    RemoveUnneeded();
    FindLayers();
    RemoveUnneeded();
    for (auto& step : steps_) X2IR_RETURN_IF_ERROR(TakeConstants(*step));
    for (const Value* output : graph_.outputs()) {
      if (output->fixed_constant()) X2IR_RETURN_IF_ERROR(AddConstant(output, nullptr));
    }
    program_->sizes_ = sizes_.sources();
    for (const Value* input : graph_.inputs()) AddSizes(input);
    for (size_t i = 0; i < steps_.size(); ++i) steps_[i]->index = i;
    NameWeights();
    return std::move(program_);
  }

 private:
  absl::Status Add(const Node& node) {
    if (node.dialect() != "torch") {
      return CannotExpress("Python has no op '", node.op().view(), "' of dialect '",
                           node.dialect().view(), "'");
    }
    if (node.has_subgraphs()) return CannotExpress(node.op().view(), " in Python");
    auto step = std::make_unique<Step>();
    step->node = &node;
    X2IR_ASSIGN_OR_RETURN(step->call, ReadCall(node));
    for (Argument& argument : step->call.arguments) {
      for (Item& item : argument.items) {
        const Operand* operand = std::get_if<Operand>(&item);
        if (!operand || operand->number != 'i') continue;
        const std::vector<Dim> elements = sizes_.Elements(operand->value);
        if (elements.size() != 1) continue;
        item = elements[0].is_static() ? Item(elements[0].value()) : Item(elements[0]);
      }
    }
    for (const Value* output : node.outputs()) step->results.push_back(output);
    for (const Value* output : node.outputs()) {
      if (output) producer_[output] = step.get();
    }
    step->scope = ScopeOf(node);
    steps_.push_back(std::move(step));
    return absl::OkStatus();
  }

  template <typename Fn>
  static void ForOperands(const Step& step, const Fn& fn) {
    const auto visit = [&](const Item& item) {
      if (const Operand* operand = std::get_if<Operand>(&item)) fn(operand->value);
    };
    if (step.layer) {
      for (const Item& item : step.layer->inputs) visit(item);
      return;
    }
    for (const Argument& argument : step.call.arguments) {
      for (const Item& item : argument.items) visit(item);
    }
  }

  // Steps whose results reach no output go. Sizes are computed by name, not by steps, but for those
  // whose place is a result.
  void RemoveUnneeded() {
    uses_.clear();
    for (const Value* output : graph_.outputs()) ++uses_[output];
    for (const auto& [name, source] : sizes_.sources()) ++uses_[source.value];
    std::vector<std::unique_ptr<Step>> kept;
    for (; !steps_.empty(); steps_.pop_back()) {
      Step& step = *steps_.back();
      const bool needed =
          std::any_of(step.results.begin(), step.results.end(),
                      [&](const Value* result) { return result && uses_.contains(result); });
      if (!needed) {
        for (const Value* result : step.results) producer_.erase(result);
        continue;
      }
      for (const Value*& result : step.results) {
        if (result && !uses_.contains(result)) result = nullptr;
      }
      ForOperands(step, [&](const Value* value) { ++uses_[value]; });
      kept.push_back(std::move(steps_.back()));
    }
    std::reverse(kept.begin(), kept.end());
    steps_ = std::move(kept);
  }

  // x @ w + b is a linear layer.
  void JoinBiases() {
    for (auto& step : steps_) {
      if (step->call.op != "aten::add.Tensor" || step->call.Find("alpha")) continue;
      for (const auto& [product, bias] : {std::pair("self", "other"), {"other", "self"}}) {
        const Value *p = step->call.Tensor(product), *b = step->call.Tensor(bias);
        const auto it = p ? producer_.find(p) : producer_.end();
        if (it == producer_.end() || uses_[p] != 1 || !b || !b->fixed_constant()) continue;
        Step& before = *it->second;
        const bool linear = before.call.op == "aten::linear.default";
        if (!(linear && before.call.IsNone("bias")) && before.call.op != "aten::matmul.default") {
          continue;
        }
        const Value* weight = before.call.Tensor(linear ? "weight" : "other");
        const auto w = weight && weight->shape() ? weight->shape()->Static() : std::nullopt;
        const Shape* shape = b->shape();
        if (!w || w->size() != 2 || !IsMovedConstant(weight) || !shape || shape->rank() != 1 ||
            (*shape)[0] != Dim((*w)[linear ? 0 : 1])) {
          continue;
        }
        // The call that adds is the layer now; what it was made of is dead.
        Call call{before.call.op, before.call.arguments};
        call.Set("bias", Operand{b});
        step->call = std::move(call);
        step->scope = before.scope;
        break;
      }
    }
  }

  void FindLayers() {
    const WeightMaker maker{
        [&](const Value* constant) { return !program_->weight_of_.contains(constant); },
        [&](const Value* constant, bool transposed, bool buffer) {
          Weight weight;
          weight.source = constant->constant() ? constant : nullptr;
          weight.tensor = *MovedConstant(constant);
          weight.transposed = transposed;
          weight.buffer = buffer;
          return program_->weight_of_[constant] = program_->AddWeight(std::move(weight));
        }};
    for (auto& step : steps_) {
      step->layer = FindLayer(step->call, step->results, maker);
      if (!step->layer && step->call.op == "aten::matmul.default" && step->call.Find("bias")) {
        step->call.op = "python::linear";  // a weight that another layer has
      }
    }
  }

  // Constants that calls take: Python numbers where these will do, else weights.
  absl::Status TakeConstants(Step& step) {
    if (step.layer) {
      for (const Item& item : step.layer->inputs) {
        const Operand* operand = std::get_if<Operand>(&item);
        if (operand && operand->value->fixed_constant()) {
          X2IR_RETURN_IF_ERROR(AddConstant(operand->value, &step));
        }
      }
      return absl::OkStatus();
    }
    for (Argument& argument : step.call.arguments) {
      for (Item& item : argument.items) {
        const Operand* operand = std::get_if<Operand>(&item);
        const Tensor* tensor = operand ? operand->value->fixed_constant() : nullptr;
        if (!tensor) continue;
        if (operand->number != 0 || (TakesNumber(step.call.op, argument.name) &&
                                     MayBeNumber(step, argument.name, *tensor))) {
          if (const auto number = NumberOf(*tensor)) {
            item = *number;
            continue;
          }
        }
        X2IR_RETURN_IF_ERROR(AddConstant(operand->value, &step));
      }
    }
    return absl::OkStatus();
  }

  // The result has the shape and the type of the other operand.
  static bool MayBeNumber(const Step& step, std::string_view name, const Tensor& tensor) {
    for (const Argument& argument : step.call.arguments) {
      if (argument.name == name || argument.items.size() != 1) continue;
      const Operand* other = std::get_if<Operand>(&argument.items[0]);
      if (!other || other->value->fixed_constant() || other->value->dtype() != tensor.dtype()) {
        continue;
      }
      const Shape* shape = other->value->shape();
      if (tensor.rank() == 0 || (shape && shape->rank() >= tensor.rank())) return true;
    }
    return false;
  }

  absl::Status AddConstant(const Value* constant, Step* user) {
    if (program_->weight_of_.contains(constant)) return absl::OkStatus();
    const Tensor& tensor = *constant->fixed_constant();
    if (tensor.is_sparse() || DTypeName(tensor.dtype()).empty()) {
      return CannotExpress("a constant of type ", tensor.type().ToString(), " in Python");
    }
    Weight weight;
    weight.source = constant;
    weight.tensor = tensor;
    weight.buffer = !IsFloating(tensor.dtype()) || tensor.rank() == 0 || !IsGiven(constant->name());
    weight.literal = tensor.num_elements() <= kMostLiteral && tensor.num_elements() > 0 &&
                     weight.buffer && !IsComplex(tensor.dtype()) && BitWidth(tensor.dtype()) >= 16;
    weight.literal |= tensor.dtype() == DType::kBool && tensor.num_elements() == 1;
    program_->weight_of_[constant] = program_->AddWeight(std::move(weight));
    first_user_[constant] = user;
    return absl::OkStatus();
  }

  void AddSizes(const Value* value) {
    const Shape* shape = value->shape();
    for (int64_t i = 0; shape && i < shape->rank(); ++i) {
      const Dim& dim = (*shape)[i];
      if (!dim.is_symbolic()) continue;
      const std::vector<std::string> names = dim.SymbolNames();
      if (names.size() == 1 && Dim::Symbol(names[0]) == dim) {
        program_->sizes_.try_emplace(names[0], Program::SizeSource{value, i});
      }
    }
  }

  // --- Places ---------------------------------------------------------------------------------

  // The names of constants that say in which modules they are: of layers first.
  void NameWeights() {
    StringSet modules;  // those that names of constants have
    for (const Weight& weight : program_->weights_) {
      if (!weight.source || !IsGiven(weight.source->name())) continue;
      Path path = SplitName(weight.source->name());
      while (path.size() > 1) {
        path.pop_back();
        modules.insert(Key(path));
      }
    }
    absl::flat_hash_map<std::string, int> in_scope;
    for (auto& step : steps_) {
      // A node whose name is that of a module: PyTorch's programs name so the first call in it.
      if (step->scope.empty() && step->node) {
        Path path = SplitName(step->node->name());
        if (!path.empty() && modules.contains(Key(path))) step->scope = std::move(path);
      }
      if (step->layer) ++in_scope[Key(step->scope)];
    }
    StringSet paths;
    const auto unique = [&](Path path) {
      const std::string last = path.back();
      for (int i = 2; paths.contains(Key(path)); ++i) {
        path.back() = StrCat(last, "_", i);
      }
      paths.insert(Key(path));
      return path;
    };
    for (auto& step : steps_) {
      if (!step->layer) continue;
      Layer& layer = *step->layer;
      for (const auto& [leaf, weight] : layer.weights) {
        if (!weight->source || !IsGiven(weight->source->name())) continue;
        Path path = SplitName(weight->source->name());
        if (path.size() > 1 && (path.back() == leaf || layer.path.empty())) {
          const bool same = path.back() == leaf;
          path.pop_back();
          layer.path = std::move(path);
          if (same) break;
        }
      }
      if (layer.path.empty()) {
        layer.path = step->scope;
        if (in_scope[Key(step->scope)] != 1 || step->scope.empty()) {
          layer.path.push_back(NameOf(*step, layer.name));
        }
      }
      layer.path = unique(std::move(layer.path));
      step->scope = layer.path;
      step->scope.pop_back();
      for (auto& [leaf, weight] : layer.weights) {
        weight->path = layer.path;
        weight->path.push_back(leaf);
      }
    }
    for (Weight& weight : program_->weights_) {
      if (!weight.path.empty()) continue;
      Path path;
      if (weight.source && IsGiven(weight.source->name())) path = SplitName(weight.source->name());
      if (path.empty() || weight.literal) {
        const Step* user = weight.source ? first_user_[weight.source] : nullptr;
        if (path.empty() && weight.source) path = SplitName(weight.source->name());
        const std::string name = path.empty() ? "constant" : path.back();
        path = user ? user->scope : Path();
        path.push_back(Plain(name));
      }
      weight.path = unique(std::move(path));
    }
  }

  static std::string Key(const Path& path) {
    std::string key;
    for (const std::string& segment : path) StrAppend(&key, segment, "\n");
    return key;
  }

  // "Constant_3_output_0" -> "constant_3"
  static std::string Plain(std::string_view name) {
    if (name.ends_with("_output_0")) name.remove_suffix(9);
    std::string text(name.substr(0, 200));
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return Identifier(text, "constant");
  }

  static std::string NameOf(const Step& step, const std::string& usual) {
    const Path path = step.node ? SplitName(step.node->name()) : Path();
    const std::string name = path.empty() ? "" : Plain(path.back());
    return name.size() < 2 || name == "constant" ? usual : name;
  }

  static Path ScopeOf(const Node& node) {
    std::string_view name = node.name();
    if (name.find('/') == name.npos) {
      // ONNX's nodes may have none, or one of another kind, and results that say more.
      const Value* output = node.output(0);
      if (name.empty() && output) name = output->name();
    }
    const size_t slash = name.rfind('/');
    return slash == name.npos || slash == 0 ? Path() : SplitName(name.substr(0, slash));
  }

  const Graph& graph_;
  std::unique_ptr<Program> program_;
  std::vector<std::unique_ptr<Step>>& steps_ = program_->steps_;
  absl::flat_hash_map<const Value*, Step*>& producer_ = program_->producer_;
  absl::flat_hash_map<const Value*, int> uses_;
  absl::flat_hash_map<const Value*, const Step*> first_user_;
  SizeReader sizes_;
};

absl::StatusOr<std::unique_ptr<Program>> Program::Read(const Graph& graph) {
  return Reader(graph).Run();
}

Weight* Program::WeightOf(const Value* value) const {
  const auto it = weight_of_.find(value);
  return it == weight_of_.end() ? nullptr : it->second;
}

std::optional<Program::SizeSource> Program::FindSize(const std::string& name) const {
  const auto it = sizes_.find(name);
  return it == sizes_.end() ? std::nullopt : std::optional(it->second);
}

const Step* Program::ProducerOf(const Value* value) const {
  const auto it = producer_.find(value);
  return it == producer_.end() ? nullptr : it->second;
}

}  // namespace x2ir::python
