// See loop_condition_internal.h.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "x2ir/core/loop_condition_internal.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

constexpr size_t kCarriedOperands = 2;  // after the number of rounds and the condition
constexpr int64_t kFew = 1 << 10;       // elements of what is computed to know the first condition

bool HaveSameAttributes(const Node& a, const Node& b) {
  const AttributeMap &left = a.attrs(), &right = b.attrs();
  return left.size() == right.size() &&
         std::all_of(left.begin(), left.end(), [&](const auto& entry) {
           const Attribute* other = right.Find(entry.first);
           return other && *other == entry.second;
         });
}

bool AreSameConstants(const Value& a, const Value& b) {
  const auto left = KnownTensor(a), right = KnownTensor(b);
  return left && right && *left == *right;
}

}  // namespace

LoopCondition::LoopCondition(const Node& loop)
    : loop_(loop), body_(loop.attrs().SubGraph("body")), result_(body_.outputs()[0]) {
  for (size_t i = kCarriedOperands; i < loop.num_inputs(); ++i) {
    const size_t k = i - kCarriedOperands;
    if (loop.input(i)) carried_.emplace(Source(body_.outputs()[1 + k]), k);
  }
}

std::optional<LoopCondition> LoopCondition::Of(const Node& loop) {
  LoopCondition found(loop);
  return found.Collect() ? std::optional(std::move(found)) : std::nullopt;
}

bool LoopCondition::IsFirst() const {
  const Value* start = loop_.input(1);
  if (start && IsFirst(result_, start)) return true;
  const auto first = start ? KnownTensor(*start) : Tensor::Scalar<bool>(true);
  const auto asked = first ? KnownFirst(result_) : std::nullopt;
  return asked && first->num_elements() == 1 && asked->num_elements() == 1 &&
         asked->AsInt(0) == first->AsInt(0);
}

const Value* LoopCondition::Source(const Value* v) const {
  std::vector<const Value*> copies;
  while (v->producer() && v->producer()->Is("identity")) {
    if (const auto it = sources_.find(v); it != sources_.end()) {
      v = it->second;
      break;
    }
    copies.push_back(v);
    v = v->producer()->input(0);
  }
  for (const Value* copy : copies) sources_.emplace(copy, v);
  return v;
}

std::optional<size_t> LoopCondition::CarriedAs(const Value* v) const {
  const auto it = carried_.find(Source(v));
  return it == carried_.end() ? std::nullopt : std::optional(it->second);
}

// The nodes behind the result, up to what is carried, constants and values outside of the loop.
bool LoopCondition::Collect() {
  absl::flat_hash_set<const Node*> seen;
  std::vector<const Value*> open = {result_};
  while (!open.empty()) {
    const Value* v = open.back();
    open.pop_back();
    if (v->graph() != &body_ || v->fixed_constant() || CarriedAs(v)) continue;
    const Node* node = v->producer();
    if (!node) return false;  // of this round, not of the next one
    if (!seen.insert(node).second) continue;
    const OpDef* op = node->is_ir() ? FindOp(node->op()) : nullptr;
    if (!op || op->impure() || node->has_subgraphs()) return false;
    for (const Value* operand : node->inputs()) {
      if (operand) open.push_back(operand);
    }
  }
  for (const Node* node : body_.nodes()) {
    if (seen.contains(node)) nodes_.push_back(node);
  }
  // What a round computes anyway would be computed twice.
  const auto serves = [&](const Value* output) {
    return output && std::any_of(output->uses().begin(), output->uses().end(),
                                 [&](const auto& use) { return !seen.contains(use.node); });
  };
  for (const Node* node : nodes_) {
    const auto outputs = node->outputs();
    if (std::any_of(outputs.begin(), outputs.end(), serves)) return false;
  }
  return std::none_of(body_.outputs().begin() + 1, body_.outputs().end(), [&](const Value* output) {
    return output == result_ || (!CarriedAs(output) && seen.contains(output->producer()));
  });
}

bool LoopCondition::IsFirst(const Value* v, const Value* first) const {
  const auto is_same = [&](const Value* a, const Value* b) {
    return Source(a) == Source(b) || AreSameConstants(*a, *b);
  };
  absl::flat_hash_map<const Value*, const Value*> matched;
  std::vector<std::pair<const Value*, const Value*>> open = {{v, first}};
  while (!open.empty()) {
    const auto [own, other] = open.back();
    open.pop_back();
    const auto [it, fresh] = matched.emplace(own, other);
    if (!fresh) {
      if (it->second != other) return false;
      continue;
    }
    if (const auto i = CarriedAs(own)) {
      if (!is_same(loop_.input(kCarriedOperands + *i), other)) return false;
      continue;
    }
    if (own->graph() != &body_ || own->fixed_constant()) {
      if (!is_same(own, other)) return false;
      continue;
    }
    const Node& node = *own->producer();
    if (node.Is("identity")) {
      open.emplace_back(node.input(0), other);
      continue;
    }
    const Value* made = Source(other);
    const Node* maker = made->producer();
    const bool same = maker && maker->dialect() == node.dialect() && maker->op() == node.op() &&
                      maker->num_inputs() == node.num_inputs() &&
                      HaveSameAttributes(*maker, node) &&
                      made->output_index() == own->output_index();
    if (!same) return false;
    for (size_t i = 0; i < node.num_inputs(); ++i) {
      if (!node.input(i) != !maker->input(i)) return false;
      if (node.input(i)) open.emplace_back(node.input(i), maker->input(i));
    }
  }
  return true;
}

// Whether results of the node, of small operands, are small.
bool LoopCondition::GivesFew(const Node& node) {
  return std::ranges::all_of(node.outputs(), [&](const Value* output) {
    if (!output) return true;
    const auto dims = output->shape() ? output->shape()->Static() : std::nullopt;
    if (!dims) return FindOp(node.op())->bounded_results();
    const auto count = CheckedProduct(*dims);
    return count && *count <= kFew;
  });
}

std::optional<Tensor> LoopCondition::KnownFirst(const Value* v) const {
  absl::flat_hash_map<const Value*, Tensor> known;
  const auto find = [&](const Value* value) -> std::optional<Tensor> {
    if (const auto it = known.find(value); it != known.end()) return it->second;
    const auto i = CarriedAs(value);
    const auto found = KnownTensor(i ? *loop_.input(kCarriedOperands + *i) : *value);
    return found && found->num_elements() <= kFew ? found : std::nullopt;
  };
  for (const Node* node : nodes_) {
    if (!GivesFew(*node)) return std::nullopt;
    std::vector<Datum> operands;
    for (const Value* operand : node->inputs()) {
      const auto tensor = operand ? find(operand) : std::nullopt;
      if (operand && !tensor) return std::nullopt;
      operands.push_back(operand ? Datum(*tensor) : Datum());
    }
    const auto results = EvalNode(*node, std::move(operands), nullptr);
    if (!results.ok()) return std::nullopt;
    for (size_t i = 0; i < node->num_outputs(); ++i) {
      const Tensor* tensor = (*results)[i].tensor();
      if (tensor && tensor->num_elements() <= kFew) known.emplace(node->output(i), *tensor);
    }
  }
  return find(v);
}

Value* LoopCondition::Copy(Builder& b, const Values& carried) const {
  absl::flat_hash_map<const Value*, Value*> copies;
  const auto copy_of = [&](Value* v) {
    if (!v) return v;
    if (const auto i = CarriedAs(v)) return carried[*i];  // values outside of the loop, too
    if (v->graph() != &body_) return v;
    Value*& copy = copies[v];
    if (!copy) copy = b.Constant(*v->fixed_constant(), v->name());
    return copy;
  };
  for (const Node* node : nodes_) {
    std::vector<Value*> operands;
    for (Value* operand : node->inputs()) operands.push_back(copy_of(operand));
    std::vector<bool> wanted;
    for (const Value* output : node->outputs()) wanted.push_back(output != nullptr);
    const Values results =
        b.Node(node->dialect(), node->op(), std::move(operands), node->attrs(), std::move(wanted));
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i]) continue;
      results[i]->set_type(node->output(i)->type());
      copies[node->output(i)] = results[i];
    }
  }
  return copy_of(const_cast<Value*>(result_));
}

}  // namespace x2ir
