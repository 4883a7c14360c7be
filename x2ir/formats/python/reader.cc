// Graph -> Program: calls with their arguments, sizes as numbers, known layers, weights.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "x2ir/formats/python/framework_internal.h"
#include "x2ir/formats/python/program_internal.h"
#include "x2ir/formats/torch/schemas.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::python {
namespace {

// Of a weight that several layers have, each gets its own: files keep equal biases and scales once.
constexpr int64_t kMaxCopied = 65536;

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

// PyTorch computes `5.0 / x` as x.reciprocal() * 5.0, which rounds twice.
bool IsDivided(std::string_view op, std::string_view argument, const Tensor& tensor) {
  return op == "aten::div.Tensor" && argument == "self" &&
         (tensor.num_elements() != 1 || tensor.AsDouble(0) != 1);
}

std::optional<Item> NumberOf(const Tensor& tensor) {
  if (tensor.num_elements() != 1) return std::nullopt;
  if (tensor.dtype() == DType::kBool) return Item(tensor.AsInt(0) != 0);
  if (IsFloating(tensor.dtype())) return Item(tensor.AsDouble(0));
  if (IsInteger(tensor.dtype()) && tensor.dtype() != DType::kUInt64) return Item(tensor.AsInt(0));
  return std::nullopt;
}

// Whether a name comes from the source, and was not generated for a computed constant.
bool IsGiven(const Value& value) {
  const std::string& name = value.name();
  const Annotations* notes = value.annotations().get();
  if (notes && notes->extra.contains("python.folded")) return false;
  return !name.empty() && name.find("::") == name.npos && !name.ends_with("_output_0") &&
         name.find('\n') == name.npos;
}

// TFLite calls a constant after all operators that it was made for, "conv/Conv2D;norm/Fused".
bool HasManyNames(const Value& constant) { return constant.name().find(';') != std::string::npos; }

// The path that a constant's name is, the first of them where there are several.
Path PathOf(const Value& constant) {
  const std::string_view name = constant.name();
  return SplitName(name.substr(0, name.find(';', 1)));
}

}  // namespace

class Reader {
 public:
  Reader(const Graph& graph, const Framework& framework)
      : graph_(graph), framework_(framework), program_(std::make_unique<Program>()) {
    program_->graph_ = &graph;
    program_->framework_ = &framework;
  }

  absl::StatusOr<std::unique_ptr<Program>> Run() {
    if (const auto modules = ModulesOf(graph_)) {
      of_torch_ = program_->knows_modules_ = true;
      AddClasses(*modules);
    }
    for (const Value* input : graph_.inputs()) AddSizes(input);
    for (const Node* node : graph_.nodes()) X2IR_RETURN_IF_ERROR(Add(*node));
    for (const Value* output : graph_.outputs()) program_->outputs_.push_back(output);
    RemoveUnneeded();
    Simplify();
    RemoveUnneeded();
    JoinAttention();
    JoinBiases();
    JoinBiasesOfConvs();
    JoinBroadcasts();
    RemoveUnneeded();
    FindLayers();
    StackLayers();
    RemoveUnneeded();
    for (auto& step : steps_) {
      X2IR_RETURN_IF_ERROR(CheckTypes(*step));
      X2IR_RETURN_IF_ERROR(TakeConstants(*step, step.get()));
      X2IR_RETURN_IF_ERROR(TakeConstantsIn(*step, step.get()));
      // Of equal elements the first ones are meant.
      const bool places = step->results.size() == 2 && step->results[1];
      if (places && step->call.op == "aten::topk.default") step->call.op = "python::topk";
    }
    for (const Value* input : graph_.inputs()) {
      const Type* type = &input->type();
      while (type->kind() == Type::kSequence || type->kind() == Type::kOptional) {
        type = &type->element();
      }
      if (!type->is_tensor() || framework_.TypeName(type->dtype()).empty()) {
        return CannotExpress("input '", input->name().substr(0, 60), "' of type ",
                             input->type().ToString(), " in Python");
      }
    }
    for (const Value* output : program_->outputs_) {
      if (output->fixed_constant()) X2IR_RETURN_IF_ERROR(AddConstant(output, nullptr));
    }
    for (const auto& [name, source] : sizes_.sources()) program_->sizes_[name] = source;
    for (size_t i = 0; i < steps_.size(); ++i) steps_[i]->index = i;
    X2IR_RETURN_IF_ERROR(NameWeights());
    program_->Flatten();
    return std::move(program_);
  }

 private:
  absl::Status Add(const Node& node) {
    X2IR_ASSIGN_OR_RETURN(std::unique_ptr<Step> step, ReadStep(node));
    for (const Value* output : node.outputs()) {
      if (output) producer_[output] = step.get();
    }
    const std::vector<NamedScope> scopes = ScopesOf(node);
    AddClasses(scopes);
    if (!scopes.empty()) program_->knows_modules_ = true;
    step->scope = scopes.empty() ? ModuleInName(node, of_torch_) : scopes.back().path;
    steps_.push_back(std::move(step));
    return absl::OkStatus();
  }

  void AddClasses(const std::vector<NamedScope>& scopes) {
    for (const NamedScope& scope : scopes) {
      if (std::string name = ClassOf(scope.type); !name.empty()) {
        program_->classes_.try_emplace(KeyOf(scope.path), std::move(name));
      }
    }
  }

  absl::StatusOr<std::unique_ptr<Step>> ReadStep(const Node& node) {
    if (node.dialect() != "torch") {
      return CannotExpress("Python has no op '", node.op().view(), "' of dialect '",
                           node.dialect().view(), "'");
    }
    auto step = std::make_unique<Step>();
    step->node = &node;
    X2IR_ASSIGN_OR_RETURN(step->call, ReadCall(node));
    for (Argument& argument : step->call.arguments) {
      for (Item& item : argument.items) {
        const Operand* operand = std::get_if<Operand>(&item);
        if (!operand || operand->number != 'i') continue;
        const std::vector<Dim> elements = sizes_.Elements(operand->value);
        if (elements.size() != 1 || !IsNamed(elements[0])) continue;
        item = elements[0].is_static() ? Item(elements[0].value()) : Item(elements[0]);
      }
    }
    for (const Value* output : node.outputs()) step->results.push_back(output);
    // A call returns all of its results, used or not.
    const TorchSchema* schema = FindTorchSchema(node.op().view());
    const bool list = schema && schema->results.size() == 1;
    if (schema && !list && step->results.size() < schema->results.size()) {
      step->results.resize(schema->results.size(), nullptr);
    }
    if (node.has_subgraphs()) X2IR_RETURN_IF_ERROR(ReadBlocks(node, *step));
    return step;
  }

  // In a graph inside, a size has a name only where the program's inputs have it: the same name of
  // another round is another size.
  bool IsNamed(const Dim& size) const {
    if (nesting_ == 0) return true;
    const std::vector<std::string> names = size.SymbolNames();
    return std::all_of(names.begin(), names.end(),
                       [&](const std::string& name) { return program_->sizes_.contains(name); });
  }

  // The graphs of `if` and `while`, and what they use of the values around them.
  absl::Status ReadBlocks(const Node& node, Step& step) {
    const bool cond = step.call.op == "higher_order::cond";
    if (!cond && step.call.op != "higher_order::while_loop") {
      return CannotExpress(step.call.op, " in Python");
    }
    if (++nesting_ > 100) return CannotExpress("graphs that are nested too deep");
    absl::flat_hash_set<const Value*> own;
    Argument captured{"captured", {}, true};
    absl::flat_hash_set<const Value*> seen;
    absl::flat_hash_set<std::string> names;
    for (const char* name : {cond ? "arg1" : "arg0", cond ? "arg2" : "arg1"}) {
      const Graph* graph = GraphOf(node, name);
      if (!graph) return Invalid(step.call.op, " without a graph");
      Block block;
      for (const Value* input : graph->inputs()) {
        block.inputs.push_back(input);
        own.insert(input);
      }
      for (const Node* inner : graph->nodes()) {
        X2IR_ASSIGN_OR_RETURN(std::unique_ptr<Step> read, ReadStep(*inner));
        for (const Value* result : read->results) own.insert(result);
        block.steps.push_back(std::move(read));
      }
      for (const Value* output : graph->outputs()) block.outputs.push_back(output);
      RemoveUnneededIn(block);
      for (const auto& inner : block.steps) {
        for (const Argument& argument : inner->call.arguments) {
          for (const Item& item : argument.items) {
            if (const Operand* operand = std::get_if<Operand>(&item)) {
              if (!own.contains(operand->value) && seen.insert(operand->value).second) {
                captured.items.push_back(*operand);
              }
            } else if (const Dim* dim = std::get_if<Dim>(&item)) {
              for (const std::string& size : dim->SymbolNames()) {
                if (names.insert(size).second) captured.items.push_back(Dim::Symbol(size));
              }
            }
          }
        }
      }
      for (const Value* output : block.outputs) {
        if (!own.contains(output) && seen.insert(output).second) {
          captured.items.push_back(Operand{output});
        }
      }
      step.blocks.push_back(std::move(block));
    }
    --nesting_;
    if (!captured.items.empty()) step.call.arguments.push_back(std::move(captured));
    return absl::OkStatus();
  }

  static absl::flat_hash_set<const Value*> NeededFor(const Block& block,
                                                     const std::vector<const Value*>& outputs) {
    absl::flat_hash_set<const Value*> needed(outputs.begin(), outputs.end());
    for (auto it = block.steps.rbegin(); it != block.steps.rend(); ++it) {
      const bool any = std::any_of((*it)->results.begin(), (*it)->results.end(),
                                   [&](const Value* r) { return r && needed.contains(r); });
      if (any) ForOperands(**it, [&](const Value* value) { needed.insert(value); });
    }
    return needed;
  }

  // A value that a loop carries only for itself: a count of rounds, for example.
  static void RemoveUncarried(Step& step) {
    if (step.call.op != "higher_order::while_loop" || step.blocks.size() != 2) return;
    const auto carried =
        std::find_if(step.call.arguments.begin(), step.call.arguments.end(),
                     [](const Argument& argument) { return argument.name == "arg2"; });
    Block &again = step.blocks[0], &body = step.blocks[1];
    const size_t count = body.outputs.size();
    if (carried == step.call.arguments.end() || carried->items.size() != count ||
        again.inputs.size() < count || body.inputs.size() < count || step.results.size() != count) {
      return;
    }
    const auto of_condition = NeededFor(again, again.outputs);
    std::vector<bool> keep(count);
    for (size_t i = 0; i < count; ++i) {
      keep[i] = step.results[i] || of_condition.contains(again.inputs[i]);
    }
    for (bool more = true; more;) {
      more = false;
      std::vector<const Value*> outputs;
      for (size_t i = 0; i < count; ++i) {
        if (keep[i]) outputs.push_back(body.outputs[i]);
      }
      const auto needed = NeededFor(body, outputs);
      for (size_t i = 0; i < count; ++i) {
        if (keep[i] || !needed.contains(body.inputs[i])) continue;
        keep[i] = more = true;
      }
    }
    const auto drop = [](auto& list, size_t i) {
      list.erase(list.begin() + static_cast<ptrdiff_t>(i));
    };
    for (size_t i = count; i-- > 0;) {
      if (keep[i]) continue;
      drop(carried->items, i);
      drop(again.inputs, i);
      drop(body.inputs, i);
      drop(body.outputs, i);
      drop(step.results, i);
    }
    RemoveUnneededIn(body);
  }

  static void RemoveUnneededIn(Block& block) {
    absl::flat_hash_set<const Value*> needed(block.outputs.begin(), block.outputs.end());
    std::vector<std::unique_ptr<Step>> kept;
    for (; !block.steps.empty(); block.steps.pop_back()) {
      Step& step = *block.steps.back();
      bool any = false;
      for (const Value*& result : step.results) {
        if (result && !needed.contains(result)) result = nullptr;
        any = any || result;
      }
      if (!any) continue;
      RemoveUncarried(step);
      ForOperands(step, [&](const Value* value) { needed.insert(value); });
      kept.push_back(std::move(block.steps.back()));
    }
    std::reverse(kept.begin(), kept.end());
    block.steps = std::move(kept);
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

  // Steps whose results reach no output are removed. Sizes are computed by name, not by steps, but
  // for those whose place is a result.
  void RemoveUnneeded() {
    uses_.clear();
    for (const Value* output : program_->outputs_) ++uses_[output];
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
      RemoveUncarried(step);
      ForOperands(step, [&](const Value* value) { ++uses_[value]; });
      kept.push_back(std::move(steps_.back()));
    }
    std::reverse(kept.begin(), kept.end());
    steps_ = std::move(kept);
  }

  // Unsigned integers of more than a byte are newer than most of PyTorch's functions.
  absl::Status CheckTypes(const Step& step) const {
    constexpr std::string_view kNot[] = {
        "aten::bitwise_not.default", "aten::div.Tensor_mode",   "aten::maximum.default",
        "aten::minimum.default",     "aten::remainder.Tensor",  "aten::fmod.Tensor",
        "aten::topk.default",        "aten::clamp.default",     "aten::clamp.Tensor",
        "aten::amax.default",        "aten::amin.default",      "aten::argmax.default",
        "aten::argmin.default",      "aten::pow.Tensor_Tensor", "aten::matmul.default",
        "aten::cumsum.default",      "aten::cumprod.default",   "aten::prod.dim_int",
        "aten::sign.default"};
    const bool may_be = std::find(std::begin(kNot), std::end(kNot), step.call.op) == std::end(kNot);
    absl::Status status;
    const auto check = [&](const Value* value) {
      if (!value) return;
      const DType t = value->dtype();
      const bool wide = t == DType::kUInt16 || t == DType::kUInt32 || t == DType::kUInt64;
      if ((wide && !may_be) || (value->type().is_tensor() && framework_.TypeName(t).empty())) {
        status = CannotExpress(framework_.name, " has no ", step.call.op, " of ", Name(t));
      }
    };
    ForOperands(step, check);
    for (const Value* result : step.results) check(result);
    return status;
  }

  // --- What says nothing ------------------------------------------------------------------------

  // Copies, shapes and orders of axes that the next call changes again.
  void Simplify() {
    absl::flat_hash_map<const Value*, const Value*> same;  // as which other value
    const auto resolve = [&](const Value* value) {
      const auto it = same.find(value);
      return it == same.end() ? value : it->second;
    };
    for (auto& step : steps_) {
      ReplaceOperands(*step, resolve);
      Call& call = step->call;
      const Value* self = call.Tensor("self");
      if (!self || step->results.size() != 1 || !step->results[0]) continue;
      const Value* result = step->results[0];
      const auto it = producer_.find(self);
      Step* before = it == producer_.end() ? nullptr : it->second;
      if (before && uses_[self] > 1 && before->call.op != "aten::clone.default") before = nullptr;
      if (call.op == "aten::clone.default" || call.op == "aten::alias.default") {
        same[result] = self;
      } else if (call.op == "aten::permute.default") {
        std::vector<int64_t> dims = call.Ints("dims");
        if (before && before->call.op == "aten::permute.default") {
          const std::vector<int64_t> first = before->call.Ints("dims");
          if (Compose(first, dims)) {
            Argument joined{"dims", {}, true};
            for (const int64_t dim : dims) joined.items.emplace_back(dim);
            const Item x = before->call.Find("self")->items[0];
            call.arguments.clear();
            call.Set("self", x);
            call.arguments.push_back(std::move(joined));
          }
        }
        if (std::is_sorted(dims.begin(), dims.end()) && !dims.empty() && dims[0] >= 0) {
          same[result] = call.Tensor("self");
        }
      } else if (call.op == "aten::reshape.default") {
        if (before && before->call.op == "aten::reshape.default") {
          const Item x = before->call.Find("self")->items[0];
          call.Set("self", x);
        }
        const Value* x = call.Tensor("self");
        if (x && x->shape() && result->shape() && x->shape()->is_static() &&
            *x->shape() == *result->shape()) {
          same[result] = x;
        }
      }
    }
    for (const Value*& output : program_->outputs_) output = resolve(output);
  }

  // In the graphs of a step too.
  template <typename Fn>
  static void ReplaceOperands(Step& step, const Fn& resolve) {
    for (Argument& argument : step.call.arguments) {
      for (Item& item : argument.items) {
        if (Operand* operand = std::get_if<Operand>(&item)) {
          operand->value = resolve(operand->value);
        }
      }
    }
    for (Block& block : step.blocks) {
      for (auto& inner : block.steps) ReplaceOperands(*inner, resolve);
      for (const Value*& output : block.outputs) output = resolve(output);
    }
  }

  // `then` after `first`, in `then`. False where they are none of the same length.
  static bool Compose(const std::vector<int64_t>& first, std::vector<int64_t>& then) {
    const auto count = static_cast<int64_t>(first.size());
    if (then.size() != first.size()) return false;
    for (int64_t& axis : then) {
      if (axis < 0) axis += count;
      if (axis < 0 || axis >= count) return false;
      axis = first[static_cast<size_t>(axis)];
      if (axis < 0) axis += count;
    }
    return true;
  }

  // --- Layers -----------------------------------------------------------------------------------

  // Consecutive recurrent layers in one scope, which begin with zeros, are one layer.
  void StackLayers() {
    absl::flat_hash_map<const Value*, int> uses;
    for (const Value* output : program_->outputs_) ++uses[output];
    for (auto& step : steps_) ForOperands(*step, [&](const Value* value) { ++uses[value]; });
    for (auto& step : steps_) {
      if (!step->layer || !IsRecurrent(*step->layer) || step->layer->weights.empty()) continue;
      const Operand* x = std::get_if<Operand>(&step->layer->inputs[0]);
      const auto it = x ? producer_.find(x->value) : producer_.end();
      if (it == producer_.end() || !it->second->layer || uses[x->value] != 1) continue;
      Step& before = *it->second;
      Layer &first = *before.layer, &second = *step->layer;
      if (first.type != second.type || first.inputs.size() != 1 || second.inputs.size() != 1 ||
          before.scope != step->scope || before.scope.empty() || AlsoUsed(before, uses) ||
          AlsoUsed(*step, uses) || first.weights.size() % second.weights.size() != 0 ||
          first.weights.size() / second.weights.size() != static_cast<size_t>(first.stacked) ||
          first.arguments.substr(first.arguments.find(", ")) !=
              second.arguments.substr(second.arguments.find(", "))) {
        continue;
      }
      for (auto& [leaf, weight] : second.weights) {
        std::string name = leaf;
        name[name.find("_l0") + 2] = static_cast<char>('0' + first.stacked);
        first.weights.emplace_back(std::move(name), weight);
      }
      ++first.stacked;
      before.layer->arguments = first.arguments;
      const std::vector<const Value*> results = step->results;
      for (const Value* result : before.results) producer_.erase(result);
      step->layer = std::move(before.layer);
      before.results.assign(before.results.size(), nullptr);
      if (step->layer->stacked == 9) break;
    }
    for (auto& step : steps_) {
      if (step->layer && step->layer->stacked > 1) {
        const size_t state = step->layer->arguments.find(", ");
        const size_t next = step->layer->arguments.find(", ", state + 2);
        const std::string number = StrCat(", num_layers=", step->layer->stacked);
        step->layer->arguments.insert(std::min(next, step->layer->arguments.size()), number);
      }
    }
  }
  static bool IsRecurrent(const Layer& layer) {
    return layer.type == "nn.LSTM" || layer.type == "nn.GRU" || layer.type == "nn.RNN";
  }
  // Whether the states at the end are wanted.
  static bool AlsoUsed(const Step& step, const absl::flat_hash_map<const Value*, int>& uses) {
    for (size_t i = 1; i < step.results.size(); ++i) {
      if (step.results[i] && uses.contains(step.results[i])) return true;
    }
    return false;
  }

  // The call that gives a value which nothing else uses; null where it is another one.
  Step* OnlyUse(const Value* value, std::string_view op) {
    const auto it = value ? producer_.find(value) : producer_.end();
    if (it == producer_.end() || uses_[value] != 1 || it->second->call.op != op) return nullptr;
    return it->second;
  }

  // A call's operand that is one known number, and the other operand.
  static std::optional<std::pair<double, const Value*>> NumberAndOther(const Call& call,
                                                                       bool second_only) {
    for (const auto& [number, other] : {std::pair("other", "self"), {"self", "other"}}) {
      if (second_only && std::string_view(number) == "self") continue;
      const Value *n = call.Tensor(number), *x = call.Tensor(other);
      const Tensor* tensor = n ? n->fixed_constant() : nullptr;
      if (tensor && tensor->num_elements() == 1 && IsFloating(tensor->dtype()) && x) {
        return std::pair(tensor->AsDouble(0), x);
      }
    }
    return std::nullopt;
  }

  // What is multiplied by a number, and by which.
  const Value* Unscaled(const Value* value, double& scale) {
    const Step* product = OnlyUse(value, "aten::mul.Tensor");
    const auto parts = product ? NumberAndOther(product->call, false) : std::nullopt;
    if (!parts || !(parts->second->type() == value->type())) return value;
    scale *= parts->first;
    return parts->second;
  }

  // softmax(q @ k.T * scale + mask) @ v is attention.
  void JoinAttention() {
    for (auto& step : steps_) {
      if (step->call.op != "aten::matmul.default") continue;
      const Value* value = step->call.Tensor("other");
      Step* softmax = OnlyUse(step->call.Tensor("self"), "aten::softmax.int");
      if (!softmax || !value) continue;
      const int64_t dim = softmax->call.Int("dim", 0);
      const Value *scores = softmax->call.Tensor("self"), *mask = nullptr;
      const Shape* shape = scores->shape();
      if (!shape || shape->rank() != 4 || (dim != -1 && dim != 3)) continue;
      double scale = 1;
      if (Step* sum = OnlyUse(scores, "aten::add.Tensor"); sum && !sum->call.Find("alpha")) {
        // The mask is the operand that is not a product.
        for (const auto& [s, m] : {std::pair("self", "other"), {"other", "self"}}) {
          const Value *left = sum->call.Tensor(s), *right = sum->call.Tensor(m);
          if (!left || !right || !left->shape() || *left->shape() != *shape || uses_[left] != 1 ||
              !producer_.contains(left)) {
            continue;
          }
          const std::string& op = producer_[left]->call.op;
          if (op != "aten::matmul.default" && op != "aten::mul.Tensor" &&
              op != "aten::div.Tensor") {
            continue;
          }
          scores = left;
          mask = right;
          break;
        }
        // PyTorch takes masks of queries by keys.
        if (!mask || !mask->shape() || mask->shape()->rank() < 2) continue;
      }
      if (const Step* scaled = OnlyUse(scores, "aten::mul.Tensor")) {
        const auto parts = NumberAndOther(scaled->call, false);
        if (!parts) continue;
        scale = parts->first;
        scores = parts->second;
      } else if (const Step* divided = OnlyUse(scores, "aten::div.Tensor")) {
        const auto parts = NumberAndOther(divided->call, true);
        if (!parts || parts->first == 0) continue;
        scale = 1 / parts->first;
        scores = parts->second;
      }
      const Step* product = OnlyUse(scores, "aten::matmul.default");
      if (!product) continue;
      // Queries and keys may have a part of the scale each.
      const Value* query = Unscaled(product->call.Tensor("self"), scale);
      const Value* turned = Unscaled(product->call.Tensor("other"), scale);
      Step* keys = OnlyUse(turned, "aten::permute.default");
      if (!keys || !query || !AreHeads(*query, *turned, *value)) continue;
      Argument* dims = nullptr;
      for (Argument& argument : keys->call.arguments) {
        if (argument.name == "dims") dims = &argument;
      }
      // The type of the keys in the graph is that of their transpose, so they may have no other
      // user.
      if (!dims || dims->items.size() != 4 || keys->scope != step->scope) continue;
      std::swap(dims->items[2], dims->items[3]);
      const std::vector<int64_t> order = keys->call.Ints("dims");
      const Value* key = std::is_sorted(order.begin(), order.end()) && order[0] >= 0
                             ? keys->call.Tensor("self")
                             : keys->results[0];
      Call call{"aten::scaled_dot_product_attention.default", {}};
      call.Set("query", Operand{query});
      call.Set("key", Operand{key});
      call.Set("value", Operand{value});
      if (mask) call.Set("attn_mask", Operand{mask});
      const Dim& size = (*query->shape())[3];
      const double usual = size.is_static() ? 1 / std::sqrt(static_cast<double>(size.value())) : 0;
      if (std::abs(scale - usual) > 1e-6 * usual) call.Set("scale", scale);
      step->call = std::move(call);
    }
  }

  // Queries [b, h, l, d], keys [b, h, d, s] and values [b, h, s, e] of one batch and as many heads.
  static bool AreHeads(const Value& query, const Value& key, const Value& value) {
    for (const Value* x : {&query, &key, &value}) {
      if (!x->shape() || x->shape()->rank() != 4 || !IsFloating(x->dtype()) ||
          x->dtype() != query.dtype()) {
        return false;
      }
    }
    const Shape &q = *query.shape(), &k = *key.shape(), &v = *value.shape();
    return ProvablyEqual(q[0], k[0]) && ProvablyEqual(q[0], v[0]) && ProvablyEqual(q[1], k[1]) &&
           ProvablyEqual(q[1], v[1]);
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

  static bool IsConv(const Call& call) {
    return call.op == "aten::conv1d.default" || call.op == "aten::conv2d.default" ||
           call.op == "aten::conv3d.default";
  }

  // conv(x) + b is a convolution with a bias, where b has an element for each channel. What
  // PyTorch's modules have is left to them.
  void JoinBiasesOfConvs() {
    if (program_->knows_modules_) return;
    for (auto& step : steps_) {
      if (step->call.op != "aten::add.Tensor" || step->call.Find("alpha")) continue;
      for (const auto& [product, bias] : {std::pair("self", "other"), {"other", "self"}}) {
        const Value *p = step->call.Tensor(product), *b = step->call.Tensor(bias);
        const auto it = p ? producer_.find(p) : producer_.end();
        if (it == producer_.end() || uses_[p] != 1 || !b || !IsOnlyHere(*b) || HasPath(*b))
          continue;
        Step& before = *it->second;
        if (!IsConv(before.call) || !before.call.IsNone("bias")) continue;
        const Value* weight = before.call.Tensor("weight");
        const auto w = weight && weight->shape() ? weight->shape()->Static() : std::nullopt;
        if (!w || w->size() < 3 || !IsOnlyHere(*weight)) continue;
        if (!p->shape() || p->shape()->rank() != static_cast<int64_t>(w->size())) continue;
        // [c, 1, 1] or [1, c, 1, 1]
        std::vector<int64_t> dims((*w).size() - 1, 1);
        dims[0] = (*w)[0];
        std::vector<int64_t> of_bias = b->fixed_constant()->dims();
        if (of_bias.size() == w->size() && of_bias[0] == 1) of_bias.erase(of_bias.begin());
        if (of_bias != dims) continue;
        Call call{before.call.op, before.call.arguments};
        call.Set("bias", Operand{b});
        step->call = std::move(call);
        step->scope = before.scope;
        break;
      }
    }
  }
  // A constant of float32 that one call takes.
  static bool IsOnlyHere(const Value& constant) {
    return constant.fixed_constant() && constant.dtype() == DType::kFloat32 &&
           constant.uses().size() == 1 && !constant.is_graph_output();
  }
  // Whether a constant is called as PyTorch calls parameters: "encoder.fc.bias".
  static bool HasPath(const Value& constant) {
    return IsGiven(constant) && constant.name().find('/') == std::string::npos &&
           SplitName(constant.name()).size() > 1;
  }

  // What is broadcast with a tensor that only has a shape is broadcast to that shape.
  void JoinBroadcasts() {
    for (auto& step : steps_) {
      Call& call = step->call;
      if (call.op != "aten::broadcast_tensors.default") continue;
      const Argument* tensors = call.Find("tensors");
      if (!tensors || tensors->items.size() != 2 || step->results.size() != 2 || step->results[1]) {
        continue;
      }
      const Operand* shape = std::get_if<Operand>(&tensors->items[1]);
      const auto it = shape ? producer_.find(shape->value) : producer_.end();
      if (it == producer_.end() || it->second->call.op != "aten::expand.default") continue;
      const Argument* size = it->second->call.Find("size");
      if (!size) continue;
      Argument sizes = *size;
      const Item self = tensors->items[0];
      call.arguments.clear();
      call.op = "python::broadcast_to";
      call.Set("self", self);
      call.arguments.push_back(std::move(sizes));
      step->results.resize(1);
    }
  }

  // OneFlow's layers take weights of float32 alone, and cast others.
  bool Fits(const Value& constant) const {
    return !framework_.find || constant.dtype() == DType::kFloat32;
  }

  void FindLayers() {
    const WeightMaker maker{[&](const Value* constant) {
                              return Fits(*constant) && !program_->weight_of_.contains(constant);
                            },
                            [&](const Value* constant) {
                              return Fits(*constant) && constant->shape()->rank() <= 1 &&
                                     MovedConstant(constant)->num_elements() <= kMaxCopied;
                            },
                            [&](const Layer& layer) -> Step* {
                              const auto it = layer_with_.find(layer.constants);
                              if (it == layer_with_.end()) return nullptr;
                              Layer& first = *it->second->layer;
                              const bool same = first.type == layer.type &&
                                                first.arguments == layer.arguments &&
                                                !IsRecurrent(first);
                              if (same) first.shared = true;
                              return same ? it->second : nullptr;
                            },
                            [&](const Value* constant, bool transposed, bool buffer) {
                              Weight weight;
                              const bool copied = program_->weight_of_.contains(constant);
                              weight.source = constant->constant() && !copied ? constant : nullptr;
                              weight.tensor = *MovedConstant(constant);
                              weight.transposed = transposed;
                              weight.buffer = buffer;
                              Weight* added = program_->AddWeight(std::move(weight));
                              return copied ? added : program_->weight_of_[constant] = added;
                            }};
    for (auto& step : steps_) {
      step->layer = FindLayer(step->call, maker);
      if (!step->layer) SpellOut(step->call);
      if (step->layer && !step->layer->first) {
        layer_with_.try_emplace(step->layer->constants, step.get());
      }
    }
  }
  // Where a layer is called again: in a module that has it. Else its weights are handed there.
  absl::Status PlaceShared(Step& step) {
    const Path& path = step.layer->first->layer->path;
    // Its own scope, "fc" or "fc_1", is not a module's.
    if (step.scope.size() == path.size()) step.scope.pop_back();
    const bool around = step.scope.size() < path.size() &&
                        std::equal(step.scope.begin(), step.scope.end(), path.begin());
    if (around) return absl::OkStatus();
    step.layer = nullptr;
    SpellOut(step.call);
    return TakeConstants(step, &step);
  }

  // Constants that calls take: Python numbers where these will do, else weights.
  // `user`: the step of the program that it is, or is in.
  absl::Status TakeConstants(Step& step, Step* user) {
    if (step.layer) {
      for (const Item& item : step.layer->inputs) {
        const Operand* operand = std::get_if<Operand>(&item);
        if (operand && operand->value->fixed_constant()) {
          X2IR_RETURN_IF_ERROR(AddConstant(operand->value, user));
        }
      }
      return absl::OkStatus();
    }
    for (Argument& argument : step.call.arguments) {
      for (Item& item : argument.items) {
        const Operand* operand = std::get_if<Operand>(&item);
        const Tensor* tensor = operand ? operand->value->fixed_constant() : nullptr;
        if (!tensor) continue;
        const bool may_be_number = TakesNumber(step.call.op, argument.name) &&
                                   !IsDivided(step.call.op, argument.name, *tensor) &&
                                   MayBeNumber(step, argument.name, *tensor);
        if (operand->number != 0 || may_be_number) {
          if (const auto number = NumberOf(*tensor)) {
            item = *number;
            continue;
          }
        }
        X2IR_RETURN_IF_ERROR(AddConstant(operand->value, user));
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakeConstantsIn(Step& step, Step* user) {
    for (Block& block : step.blocks) {
      for (auto& inner : block.steps) {
        X2IR_RETURN_IF_ERROR(CheckTypes(*inner));
        X2IR_RETURN_IF_ERROR(TakeConstants(*inner, user));
        X2IR_RETURN_IF_ERROR(TakeConstantsIn(*inner, user));
      }
      for (const Value* output : block.outputs) {
        if (output->fixed_constant()) X2IR_RETURN_IF_ERROR(AddConstant(output, user));
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
    if (user) users_[constant].push_back(user);
    if (program_->weight_of_.contains(constant)) return absl::OkStatus();
    const Tensor& tensor = *constant->fixed_constant();
    if (tensor.is_sparse() || framework_.TypeName(tensor.dtype()).empty()) {
      return CannotExpress("a constant of type ", tensor.type().ToString(), " in Python");
    }
    Weight weight;
    weight.source = constant;
    weight.tensor = tensor;
    weight.buffer = !IsFloating(tensor.dtype()) || tensor.rank() == 0 || !IsGiven(*constant);
    if (weight.buffer) weight.code = TensorCode(tensor, framework_, IsGiven(*constant));
    program_->weight_of_[constant] = program_->AddWeight(std::move(weight));
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
  absl::Status NameWeights() {
    StringSet modules;  // those that names of constants have
    StringSet around;   // those that have others in them
    StringSet scopes;   // those that have calls
    for (const Weight& weight : program_->weights_) {
      if (!weight.source || !IsGiven(*weight.source)) continue;
      Path path = PathOf(*weight.source);
      for (bool own = true; path.size() > 1; own = false) {
        path.pop_back();
        modules.insert(KeyOf(path));
        if (!own) around.insert(KeyOf(path));
      }
    }
    absl::flat_hash_map<std::string, int> in_scope;
    for (auto& step : steps_) {
      if (step->layer) SetScopeOfLinear(*step);
      // A node whose name is that of a module: PyTorch's programs name so the first call in it.
      if (step->scope.empty() && step->node) {
        Path path = SplitName(step->node->name());
        if (!path.empty() && (modules.contains(KeyOf(path)) ||
                              (path.size() > 1 && modules.contains(KeyOf({path[0]}))))) {
          step->scope = std::move(path);
        }
      }
      if (step->layer && !step->layer->first) ++in_scope[KeyOf(step->scope)];
      if (!step->scope.empty()) scopes.insert(KeyOf(step->scope));
      for (Path outer = step->scope; outer.size() > 1;) {
        outer.pop_back();
        if (!around.insert(KeyOf(outer)).second) break;
      }
    }
    scopes.insert(around.begin(), around.end());
    StringSet paths, layers;
    StringMap<int> next;
    const auto unique = [&](Path path) {
      const std::string last = path.back();
      int& number = next.try_emplace(KeyOf(path), 2).first->second;
      while (!paths.insert(KeyOf(path)).second) path.back() = StrCat(last, "_", number++);
      return path;
    };
    for (auto& step : steps_) {
      if (!step->layer || step->layer->first) continue;
      Layer& layer = *step->layer;
      for (const auto& [leaf, weight] : layer.weights) {
        if (!weight->source || !IsGiven(*weight->source)) continue;
        // Its scope says which of them it is.
        if (HasManyNames(*weight->source)) break;
        Path path = SplitName(weight->source->name());
        if (path.empty()) continue;  // a name of separators alone
        const bool same = path.back() == leaf;
        const std::string end = StrCat("_", leaf);  // "in_proj_bias"
        if (!same && path.back().size() > end.size() && path.back().ends_with(end)) {
          path.back().resize(path.back().size() - end.size());
        } else {
          path.pop_back();
        }
        if (path.empty() || around.contains(KeyOf(path)) || (!layer.path.empty() && !same))
          continue;
        // If a scope has several layers, none of them contains the others.
        if (const auto it = in_scope.find(KeyOf(path));
            !same && it != in_scope.end() && it->second > 1)
          continue;
        layer.path = std::move(path);
        if (same) break;
      }
      if (layer.path.empty()) {
        layer.path = step->scope;
        if (in_scope[KeyOf(step->scope)] != 1 || step->scope.empty() ||
            around.contains(KeyOf(step->scope))) {
          layer.path.push_back(NameOf(*step, layer.name));
          // Nor does a layer's name hide the calls of a module.
          const std::string last = layer.path.back();
          for (int n = 2; scopes.contains(KeyOf(layer.path)); ++n) {
            layer.path.back() = StrCat(last, "_", n);
          }
        }
      }
      layer.path = unique(std::move(layer.path));
      layers.insert(KeyOf(layer.path));
    }
    for (auto& step : steps_) {
      if (!step->layer || step->layer->first) continue;
      Layer& layer = *step->layer;
      // Nor does one hold another.
      for (size_t n = 1; n < layer.path.size(); ++n) {
        const auto inner = layer.path.begin() + static_cast<ptrdiff_t>(n);
        if (!layers.contains(KeyOf(Path(layer.path.begin(), inner)))) continue;
        layer.path[n - 1] = absl::StrJoin(inner - 1, layer.path.end(), "_");
        layer.path.resize(n);
        layer.path = unique(std::move(layer.path));
        layers.insert(KeyOf(layer.path));
      }
      step->scope = layer.path;
      step->scope.pop_back();
      for (auto& [leaf, weight] : layer.weights) {
        weight->path = layer.path;
        weight->path.push_back(leaf);
      }
    }
    for (auto& step : steps_) {
      if (step->layer && step->layer->first) X2IR_RETURN_IF_ERROR(PlaceShared(*step));
    }
    for (Weight& weight : program_->weights_) {
      if (!weight.path.empty()) continue;
      Path path;
      if (weight.source && IsGiven(*weight.source)) path = PathOf(*weight.source);
      if (path.empty() || !weight.code.empty()) {
        if (path.empty() && weight.source) path = PathOf(*weight.source);
        const std::string name = path.empty() ? "constant" : path.back();
        path = weight.source ? ScopeOfUsers(weight.source) : Path();
        path.push_back(Plain(name));
      }
      // A layer holds its own weights alone.
      Path module(path.begin(), path.end() - 1);
      if (layers.contains(KeyOf(module))) {
        path.back() = StrCat(module.back(), "_", path.back());
        path.erase(path.end() - 2);
      }
      weight.path = unique(std::move(path));
    }
    return absl::OkStatus();
  }

  // An operator of TFLite is called after all nodes that it was made of, "m/relu/Relu;m/norm/Fused;
  // m/conv/Conv2D", and its weights after some. Names of other layers may be among them (of one
  // that has equal weights); names of its own kind have priority. The layer is placed where that
  // node was.
  static void SetScopeOfLinear(Step& step) {
    if (!step.node || !ScopesOf(*step.node).empty()) return;
    std::string_view name = step.node->name();
    if (name.empty() && step.node->output(0)) name = step.node->output(0)->name();
    const std::string& arguments = step.layer->arguments;
    const bool grouped = arguments.find("groups") != arguments.npos &&
                         arguments.find(Hole(1, "groups", 1, ", groups=")) == arguments.npos;
    const auto& constants = step.layer->constants;
    if (!constants.empty() && SetScope(constants[0]->name(), grouped, step)) return;
    if (name.find(';') != name.npos) SetScope(name, grouped, step);
  }

  // Among several parts the last one counts, but of depthwise ones the first.
  static bool SetScope(std::string_view name, bool grouped, Step& step) {
    std::string_view found;
    for (const absl::string_view text :
         absl::StrSplit(absl::string_view(name.data(), name.size()), ';')) {
      const std::string_view part(text.data(), text.size());
      const size_t slash = part.rfind('/');
      if (slash == part.npos) continue;
      const std::string_view leaf = part.substr(slash + 1);
      const bool depthwise = leaf.starts_with("depthwise");
      if (!depthwise && !leaf.starts_with("Conv2D") && !leaf.starts_with("MatMul")) continue;
      if (depthwise == grouped && (found.empty() || !grouped)) found = part.substr(0, slash);
    }
    if (!found.empty()) step.scope = SplitName(found);
    return !found.empty();
  }

  // The innermost scope that all calls that take a constant are in.
  Path ScopeOfUsers(const Value* constant) const {
    const auto it = users_.find(constant);
    if (it == users_.end() || constant->is_graph_output()) return {};
    Path common = it->second[0]->scope;
    for (const Step* step : it->second) {
      size_t same = 0;
      while (same < common.size() && same < step->scope.size() &&
             common[same] == step->scope[same]) {
        ++same;
      }
      common.resize(same);
    }
    // A list holds no weights.
    for (const Step* step : it->second) {
      if (step->scope.size() > common.size() && !common.empty() &&
          step->scope[common.size()].find_first_not_of("0123456789") == std::string::npos) {
        common.pop_back();
        break;
      }
    }
    return common;
  }

  // "Constant_3_output_0" -> "constant": the number is of the whole model.
  static std::string Plain(std::string_view name) {
    if (name.ends_with("_output_0")) name.remove_suffix(9);
    std::string_view base = name;
    while (!base.empty() && base.back() >= '0' && base.back() <= '9') base.remove_suffix(1);
    if (base.size() > 1 && base.size() < name.size() && base.back() == '_') {
      name = base.substr(0, base.size() - 1);
    }
    std::string text(name.substr(0, 200));
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return Identifier(text, "constant");
  }

  static std::string NameOf(const Step& step, const std::string& usual) {
    const Path path = step.node ? SplitName(step.node->name()) : Path();
    const std::string name = path.empty() ? "" : Plain(path.back());
    return name.size() < 2 || name == "constant" ? usual : name;
  }

  const Graph& graph_;
  const Framework& framework_;
  std::unique_ptr<Program> program_;
  std::vector<std::unique_ptr<Step>>& steps_ = program_->steps_;
  absl::flat_hash_map<const Value*, Step*>& producer_ = program_->producer_;
  absl::flat_hash_map<const Value*, int> uses_;
  absl::flat_hash_map<std::vector<const Value*>, Step*> layer_with_;  // that has these constants
  absl::flat_hash_map<const Value*, std::vector<const Step*>> users_;
  bool of_torch_ = false;  // nodes are called after PyTorch's modules
  int nesting_ = 0;
  SizeReader sizes_;
};

absl::StatusOr<std::unique_ptr<Program>> Program::Read(const Graph& graph,
                                                       const Framework& framework) {
  return Reader(graph, framework).Run();
}

Weight* Program::WeightOf(const Value* value) const {
  const auto it = weight_of_.find(value);
  return it == weight_of_.end() ? nullptr : it->second;
}

std::string KeyOf(const Path& path) {
  std::string key;
  for (const std::string& segment : path) StrAppend(&key, segment, "\n");
  return key;
}

std::string Program::ClassOfModule(const Module& module) const {
  if (classes_.empty()) return "";
  std::string key;
  for (const Module* m = &module; m->parent; m = m->parent) key = StrCat(m->segment, "\n", key);
  const auto it = classes_.find(key);
  return it == classes_.end() ? "" : it->second;
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
