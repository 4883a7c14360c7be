// Tensors of the code, and what they hold.
#include <algorithm>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/prepare.h"
#include "x2ir/handlers/torch/result_types.h"
#include "x2ir/handlers/torch/script/machine.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/infer.h"

namespace x2ir::torch_script {

void Machine::Change(Heap& heap) {
  if (!heap.frozen.empty() && !dynamic_cast<TensorHeap*>(&heap)) Refuse(heap.frozen);
  if (levels_.empty()) return;
  auto& saved = levels_.back().saved;
  if (saved.contains(&heap)) return;
  if (auto* list = dynamic_cast<ListHeap*>(&heap)) {
    CountSteps(static_cast<int64_t>(list->items.size() / 2));
  } else if (auto* dict = dynamic_cast<DictHeap*>(&heap)) {
    CountSteps(static_cast<int64_t>(dict->items.size()));
  }
  saved[&heap] = {heap.shared_from_this(), heap.Copy()};
}

void Machine::Freeze(Heap& heap, std::string_view why) {
  if (!heap.frozen.empty()) return;
  Change(heap);
  heap.frozen = std::string(why);
}

std::string Machine::StaleText(const TensorHeap& tensor, const Outcome* outcome) const {
  const auto now = [&](const TensorHeap& t) -> const TensorHeap& {
    return outcome ? outcome->ContentOf(t) : t;
  };
  const TensorHeap& own = now(tensor);
  const TensorHeap* root = &own;
  while (root->base) root = &now(*root->base);
  if (own.version != root->writes && own.kind == ViewKind::kSometimes) {
    return StrCat("'", own.value->name(), "' may or may not share the memory of '",
                  own.base->value->name(), "', which was written since");
  }
  for (const TensorHeap::Perhaps& p : root->perhaps) {
    const auto other = p.other.lock();
    if (!other && p.ever_written && *p.ever_written != p.ever) {
      return StrCat("'", root->value->name(),
                    "' may or may not share the memory of a tensor that was written since");
    }
    if (!other || now(*other).writes == p.version) continue;
    return StrCat("'", root->value->name(), "' may or may not share the memory of '",
                  other->value->name(), "', which was written since");
  }
  return "";
}

Val Machine::Fresh(Value* value) {
  auto heap = std::make_shared<TensorHeap>();
  heap->value = value;
  return Val::Of(Val::kTensor, std::move(heap));
}

Value* Machine::Read(const Val& v) {
  if (v.kind != Val::kTensor) Refuse("expected a tensor, got ", Describe(v));
  TensorHeap& t = v.tensor();
  TensorHeap& root = t.root();
  if (!t.lost.empty()) Refuse(t.lost);
  if (!root.perhaps.empty() || t.kind == ViewKind::kSometimes) {
    if (const std::string why = StaleText(t, nullptr); !why.empty()) Refuse(why);
  }
  if (t.version == root.writes) return t.value;
  if (!t.base) Stop(Internal("the memory of a tensor was lost"));
  TorchCallRecord call = t.view;
  call.operands[0] = Read(Val::Of(Val::kTensor, t.base));
  Change(t);
  t.value = Emit(call, t.output + 1, t.value->dtype()).back();
  t.version = root.writes;
  return t.value;
}

void Machine::Write(TensorHeap& t, Value* value) {
  TensorHeap& root = t.root();
  if (!root.frozen.empty()) Refuse(root.frozen);
  if (!root.buffer.empty() || root.is_input) {
    Warn(StrCat(root.is_input ? "input" : "buffer", " '",
                root.is_input ? root.value->name() : root.buffer,
                "' is updated by the program; the update is not part of the model"));
  }
  // Those of which it is a view hold as much as before the write.
  for (TensorHeap* part = &t; part->base; part = part->base.get()) {
    if (!part->base->lost.empty()) break;
    if (part->base->version != root.writes) Read(Val::Of(Val::kTensor, part->base));
  }
  Change(root);
  Change(t);
  ++root.writes;
  ++*root.ever_written;
  for (TensorHeap::Perhaps& p : root.perhaps) {
    const auto other = p.other.lock();
    if (!other) continue;
    Change(*other);
    ++other->writes;
    ++*other->ever_written;
    p.Update(*other);
    if (!other->lost.empty()) continue;
    other->lost = StrCat("a write to '", t.value->name(),
                         "', which may or may not be the memory of '", other->value->name(), "'");
  }
  // What memory holds changes, its strides do not.
  const auto keep_strides = [&](const Value* before, const Value* now) {
    const auto it = strides_.find(before);
    if (it == strides_.end()) return;
    const Shape strides = it->second;
    SetStrides(now, strides);
  };
  keep_strides(t.value, value);
  t.value = value;
  t.version = root.writes;
  std::string lost;
  for (TensorHeap* part = &t; part->base; part = part->base.get()) {
    TensorHeap& base = *part->base;
    Change(base);
    base.version = root.writes;
    if (lost.empty() && !base.lost.empty()) lost = base.lost;
    if (lost.empty() && part->kind == ViewKind::kSometimes) {
      lost = StrCat("a write to '", part->value->name(),
                    "', which may or may not share its memory with '", base.value->name(), "'");
    }
    if (lost.empty()) {
      const auto call = WriteBackOf(part->view, part->output, base.value, part->value);
      if (call.ok()) {
        Value* written = Emit(*call, 1, base.value->dtype())[0];
        keep_strides(base.value, written);
        base.value = written;
      } else {
        lost = std::string(call.status().message());
      }
    }
    if (!lost.empty()) base.lost = lost;
  }
}

std::vector<Value*> Machine::Emit(const TorchCallRecord& call, size_t outputs, DType declared) {
  CountSteps(20);
  GuessInputs(call);
  std::string_view base = call.op.view();
  base = base.substr(base.find("::") + 2);
  base = base.substr(0, base.find('.'));
  if (DrawsRandomNumbers(base)) {
    Warn(StrCat("the program draws random numbers (aten::", base,
                "): results differ from run to run, and from PyTorch's"));
  }
  const TorchSchema* schema = FindTorchSchema(call.op.view());
  const auto make = [&](size_t wanted) {
    Node* node = graph_->AppendNode("torch", call.op, call.operands);
    if (!call.names.empty()) node->SetAttr("operands", call.names);
    for (const auto& [name, attr] : call.attrs) node->SetAttr(name, attr);
    if (!path().empty()) node->set_name(path());
    const std::vector<DType> types = TorchResultTypes(*node);
    for (size_t i = 0; i < outputs; ++i) {
      if (i >= wanted) {
        graph_->AddMissingOutput(node);
        continue;
      }
      DType type = declared;
      if (type == DType::kUndefined && !types.empty()) type = types[std::min(i, types.size() - 1)];
      const std::string_view result =
          schema && i < schema->results.size() ? schema->results[i] : std::string_view("Tensor");
      const bool number = !result.starts_with("Tensor");
      graph_->AddNodeOutput(node, graph_->UniqueName(base),
                            number ? Type::Tensor(type, Shape()) : Type::Tensor(type));
    }
    return node;
  };
  // Rows may leave out results without uses. Which the code uses is not known yet: all that are
  // `used` here are.
  const auto convert = [&](Node* node, absl::Span<Value* const> used) {
    std::vector<Value*> results;
    for (Value* output : used) {
      if (output) results.push_back(output);
    }
    Node* user = outputs > 1 ? graph_->AppendNode("torch", "torch::results", results) : nullptr;
    auto converted = step_.Convert(node);
    if (user) graph_->EraseUnused(user);
    return converted;
  };
  Node* node = make(outputs);
  const auto converted = convert(node, node->outputs());
  if (converted.ok()) return *converted;
  // Some results may have no mapping, and the code may not use them: the first few at once, and
  // each of the others alone.
  constexpr size_t kMaxTried = 16;
  const bool some = outputs > 1 && outputs <= kMaxTried;
  std::vector<Value*> found(outputs, nullptr);
  size_t wanted = some ? outputs - 1 : 0;
  for (; wanted > 0; --wanted) {
    Node* fewer = make(wanted);
    if (const auto results = convert(fewer, fewer->outputs()); results.ok()) {
      found = *results;
      break;
    }
    graph_->EraseUnused(fewer);
  }
  for (size_t i = wanted; some && i < outputs; ++i) {
    Node* alone = make(i + 1);
    if (const auto results = convert(alone, {alone->output(i)}); results.ok()) {
      found[i] = (*results)[i];
    } else {
      graph_->EraseUnused(alone);
    }
  }
  if (std::any_of(found.begin(), found.end(), [](const Value* v) { return v != nullptr; })) {
    graph_->EraseUnused(node);
    return found;
  }
  // What stays is reported by the driver, with all that stays.
  node->set_name(StrCat(path().empty() ? base : path(), PlaceText()));
  constexpr size_t kFew = 10;
  if (failures_.size() < kFew) {
    failures_.push_back(StrCat(call.op.view(), ": ", converted.status().message(), PlaceText()));
  }
  return {node->outputs().begin(), node->outputs().end()};
}

Value* Machine::Op(Symbol op, std::vector<Value*> operands, AttributeMap attrs) {
  Value* value = nullptr;
  Build(op, [&](Builder& b) { value = b.Op(op, operands, std::move(attrs)); });
  return value;
}

void Machine::Build(Symbol hint, const std::function<void(Builder&)>& make) {
  CountSteps(10);
  Builder b(*graph_, nullptr);
  b.set_name_hint(hint.str());
  make(b);
  if (!b.status().ok()) Stop(b.status());
  for (Node* node : b.made()) {
    graph_->NameValues(node, node->op().view());
    if (!path().empty()) node->set_name(node_names_.Unique(path()));
  }
}

Value* Machine::ValueOf(const Val& v) {
  if (v.value) return v.value;
  Tensor tensor;
  switch (v.kind) {
    case Val::kBool: tensor = Tensor::Scalar<bool>(v.i != 0); break;
    case Val::kInt: tensor = Tensor::Scalar<int64_t>(v.i); break;
    case Val::kFloat: tensor = Tensor::Scalar<double>(v.d); break;
    default: Refuse("expected a number, got ", Describe(v));
  }
  return Constant("number", std::move(tensor));
}

Value* Machine::Constant(std::string_view name, Tensor tensor) {
  return graph_->AddConstant(graph_->UniqueName(name), std::move(tensor));
}

// What a value is in every run, where it is small and comes of constants alone.
std::shared_ptr<const Tensor> Machine::KnownValue(Value* value, int depth) {
  constexpr int64_t kMaxElements = 4096;
  constexpr int kMaxDepth = 64;
  const auto small = [](const Tensor& t) {
    return t.num_elements() <= kMaxElements && !t.is_sparse();
  };
  if (const Tensor* tensor = value->fixed_constant()) {
    return small(*tensor) ? std::make_shared<const Tensor>(*tensor) : nullptr;
  }
  Node* node = value->producer();
  if (!node || depth > kMaxDepth) return nullptr;
  if (const auto it = known_.find(value); it != known_.end()) return it->second;
  known_[value] = nullptr;
  if (!levels_.empty()) levels_.back().values.push_back(value);
  const OpDef* def = node->is_ir() ? FindOp(node->op()) : nullptr;
  if (!def || def->impure() || node->has_subgraphs()) return nullptr;
  for (const Value* output : node->outputs()) {
    if (!output) continue;
    const auto dims = output->shape() ? output->shape()->Static() : std::nullopt;
    const auto count = dims ? CheckedProduct(*dims) : std::nullopt;
    if (!count || *count > kMaxElements) return nullptr;
  }
  std::vector<Datum> inputs;
  for (Value* input : node->inputs()) {
    if (!input) {
      inputs.emplace_back();
      continue;
    }
    const auto operand = KnownValue(input, depth + 1);
    if (!operand) return nullptr;
    inputs.emplace_back(*operand);
  }
  auto results = EvalNode(*node, std::move(inputs), [](const Graph&, std::vector<Datum>) {
    return absl::StatusOr<std::vector<Datum>>(Unimplemented("nested graphs"));
  });
  if (!results.ok()) return nullptr;
  const Tensor* tensor = (*results)[value->output_index()].tensor();
  if (tensor) known_[value] = std::make_shared<const Tensor>(*tensor);
  return known_[value];
}

void Machine::SetStrides(const Value* value, Shape strides) {
  strides_.insert_or_assign(value, std::move(strides));
  if (!levels_.empty()) levels_.back().values.push_back(value);
}

Val Machine::NumberOf(Val::Kind kind, Value* value) {
  const std::shared_ptr<const Tensor> known = KnownValue(value);
  if (const Tensor* tensor = known.get(); tensor && tensor->num_elements() == 1) {
    if (kind == Val::kFloat) return Val::Float(tensor->AsDouble(0));
    return kind == Val::kBool ? Val::Bool(tensor->AsInt(0) != 0) : Val::Int(tensor->AsInt(0));
  }
  if (kind != Val::kFloat) {
    if (const auto ints = KnownInts(value); ints && ints->size() == 1) {
      return kind == Val::kBool ? Val::Bool((*ints)[0] != 0) : Val::Int((*ints)[0]);
    }
  }
  return Val::Computed(kind, value);
}

}  // namespace x2ir::torch_script
