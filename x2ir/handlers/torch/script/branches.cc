// Branches that only data can decide: both are run, and what they leave is chosen by an `if`.
#include <algorithm>
#include <map>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/machine.h"

namespace x2ir::torch_script {

Machine::Outcome Machine::Try(const std::shared_ptr<Graph>& graph,
                              const std::function<Flow()>& run) {
  struct Restore {
    Machine& m;
    Graph* graph;
    absl::flat_hash_map<std::string_view, Val> vars;
    Val result;
    size_t depth, levels;
    ~Restore() {
      m.graph_ = graph;
      while (m.levels_.size() > levels) {
        for (auto& [heap, saved] : m.levels_.back().saved) heap->Restore(*saved.second);
        for (const Value* value : m.levels_.back().values) {
          m.known_.erase(value);
          m.strides_.erase(value);
        }
        m.levels_.pop_back();
      }
      m.frames_.resize(depth);
      m.frames_.back().vars = std::move(vars);
      m.frames_.back().result = std::move(result);
    }
  };
  Outcome outcome;
  outcome.graph = graph;
  Restore restore{*this,          graph_,        frames_.back().vars, frames_.back().result,
                  frames_.size(), levels_.size()};
  graph_ = graph.get();
  levels_.emplace_back();
  try {
    outcome.flow = run();
  } catch (const Raised& raised) {
    outcome.raised = true;
    outcome.message = raised.message;
    return outcome;
  }
  for (const auto& [name, v] : frames_.back().vars) {
    const auto before = restore.vars.find(name);
    if (before == restore.vars.end() || !SameVal(before->second, v)) Settle(v);
  }
  Settle(frames_.back().result);
  // Settling may change more.
  std::vector<std::shared_ptr<Heap>> changed;
  for (const auto& [heap, saved] : levels_.back().saved) changed.push_back(saved.first);
  for (const auto& heap : changed) {
    if (auto* list = dynamic_cast<ListHeap*>(heap.get())) {
      for (const Val& item : list->items) Settle(item);
    } else if (auto* dict = dynamic_cast<DictHeap*>(heap.get())) {
      for (const auto& [key, item] : dict->items) Settle(item);
    } else if (auto* object = dynamic_cast<ObjectHeap*>(heap.get())) {
      for (const auto& [name, item] : object->attributes) Settle(item);
    }
  }
  outcome.vars = frames_.back().vars;
  outcome.result = frames_.back().result;
  for (const auto& [heap, saved] : levels_.back().saved) {
    outcome.heaps[heap] = {saved.first, heap->Copy()};
  }
  return outcome;
}

void Machine::Settle(const Val& v, int depth) {
  CountStep();
  if (depth > 16) return;
  if (v.kind == Val::kTensor) {
    const TensorHeap& t = v.tensor();
    const bool stale = t.version != v.tensor().root().writes;
    if (!stale || !t.lost.empty() || t.kind == ViewKind::kSometimes) return;
    try {
      Read(v);
    } catch (const Stopped&) {
      // An error for who reads it.
    }
  } else if (v.kind == Val::kTuple) {
    for (const Val& item : v.tuple()) Settle(item, depth + 1);
  } else if (v.kind == Val::kList) {
    for (const Val& item : std::vector<Val>(v.list().items)) Settle(item, depth + 1);
  } else if (v.kind == Val::kDict) {
    for (const auto& [key, item] : v.dict().items) Settle(item, depth + 1);
  }
}

struct Machine::Merge {
  const Outcome &a, &b;
  uint64_t begin;  // ids of what was there before are smaller
  Node* node;
  Value* condition;
  std::map<std::pair<Value*, Value*>, Value*> made{};
  // What two branches left in one place: the two, which live on, and what they became.
  struct Pair {
    Val a, b, merged;
  };
  absl::flat_hash_map<std::pair<const Heap*, const Heap*>, Pair> pairs{};
  // Merged tensors, and the memories that they may be in each branch.
  struct Memory {
    std::shared_ptr<TensorHeap> merged;
    std::vector<const TensorHeap*> in[2];
  };
  std::vector<Memory> memories{};
  // Lists, dicts and objects by what they are in each branch, and those from before.
  absl::flat_hash_map<const Heap*, Val> containers[2]{};
  std::vector<std::pair<std::shared_ptr<Heap>, std::shared_ptr<Heap>>> old_containers{};
};

namespace {

constexpr char kShared[] =
    "a change of a list, dict or object that data may have made the same as another one";

}  // namespace

// What else a merged tensor may be the memory of: of what was there before, and of what was merged
// before.
void Machine::NoteMemory(Merge& merge, const Val& a, const Val& b, const Val& merged) {
  if (!writes_) return;
  Merge::Memory memory;
  memory.merged = std::static_pointer_cast<TensorHeap>(merged.heap);
  auto& perhaps = memory.merged->perhaps;
  absl::flat_hash_set<const TensorHeap*> seen;
  const auto add = [&](const std::shared_ptr<TensorHeap>& other) {
    if (!other || !seen.insert(other.get()).second) return;
    perhaps.push_back({.other = other});
    perhaps.back().Update(*other);
    perhaps.back().version = -1;  // as of the end of the merge
  };
  for (const int side : {0, 1}) {
    const Outcome& outcome = side == 0 ? merge.a : merge.b;
    const TensorHeap* root = &outcome.ContentOf((side == 0 ? a : b).tensor());
    std::shared_ptr<Heap> held = (side == 0 ? a : b).heap;
    while (root->base) {
      held = root->base;
      root = &outcome.ContentOf(*root->base);
    }
    std::vector<std::shared_ptr<TensorHeap>> all = {std::static_pointer_cast<TensorHeap>(held)};
    for (const TensorHeap::Perhaps& p : root->perhaps) {
      if (auto other = p.other.lock()) all.push_back(std::move(other));
    }
    for (const auto& one : all) {
      memory.in[side].push_back(one.get());
      if (one->id < merge.begin) {
        add(one);
        for (const TensorHeap::Perhaps& p : one->perhaps) add(p.other.lock());
      }
    }
    for (const Merge::Memory& other : merge.memories) {
      CountStep();
      if (std::any_of(memory.in[side].begin(), memory.in[side].end(), [&](const TensorHeap* t) {
            return std::find(other.in[side].begin(), other.in[side].end(), t) !=
                   other.in[side].end();
          })) {
        add(other.merged);
      }
    }
  }
  merge.memories.push_back(std::move(memory));
}

// Lists, dicts and objects that are one in a branch, but not in the other, must not be changed.
void Machine::NoteContainers(Merge& merge, const Val& a, const Val& b, const Val& merged) {
  for (const int side : {0, 1}) {
    const std::shared_ptr<Heap>& own = (side == 0 ? a : b).heap;
    const auto [it, fresh] = merge.containers[side].try_emplace(own.get(), merged);
    if (!fresh && it->second.heap) {
      Freeze(*merged.heap, kShared);
      Freeze(*it->second.heap, kShared);
    }
    if (own->id < merge.begin) merge.old_containers.emplace_back(own, merged.heap);
  }
}

// Whether a variable of the code that runs is it, or has it.
bool Machine::IsHeld(const Heap& heap) {
  if (heap.id < Heap::kFirstId) return true;
  absl::flat_hash_set<const void*> seen;
  std::vector<const Val*> all;
  for (const Frame& frame : frames_) {
    for (const auto& [name, v] : frame.vars) all.push_back(&v);
  }
  while (!all.empty()) {
    const Val& v = *all.back();
    all.pop_back();
    CountStep();
    if (v.heap.get() == &heap) return true;
    if (v.items && seen.insert(v.items.get()).second) {
      for (const Val& item : *v.items) all.push_back(&item);
    }
    if (!v.heap || v.kind == Val::kTensor || !seen.insert(v.heap.get()).second) continue;
    if (v.kind == Val::kList) {
      for (const Val& item : v.list().items) all.push_back(&item);
    } else if (v.kind == Val::kDict) {
      for (const auto& [key, item] : v.dict().items) all.push_back(&item);
    } else if (v.kind == Val::kObject) {
      for (const auto& [name, item] : v.object().attributes) all.push_back(&item);
    }
  }
  return false;
}

// A value of a branch as one of the graph.
Value* Machine::InGraph(Graph& graph, const Val& v, const Outcome* outcome) {
  if (v.kind == Val::kTensor) {
    return outcome ? outcome->ContentOf(v.tensor()).value : Read(v);
  }
  if (v.value) return v.value;
  const GraphScope scope(*this, graph);
  return ValueOf(v);
}

namespace {

Type CommonType(const Type& a, const Type& b) {
  if (!a.is_tensor() || !b.is_tensor() || !a.shape() || !b.shape() ||
      a.shape()->rank() != b.shape()->rank()) {
    return a == b ? a : a.is_tensor() ? Type::Tensor(a.dtype()) : Type();
  }
  std::vector<Dim> dims;
  for (int64_t i = 0; i < a.shape()->rank(); ++i) {
    const Dim &x = (*a.shape())[i], &y = (*b.shape())[i];
    dims.push_back(x == y ? x : Dim());
  }
  return Type::Tensor(a.dtype(), Shape(std::move(dims)));
}

}  // namespace

void Machine::AddOwnOutput(Graph& graph, Value* value, std::string_view name) {
  Builder b(graph, nullptr);
  Value* own = b.Op("identity", {value});
  for (Node* node : b.made()) graph.NameValues(node, name);
  graph.AddOutput(own);
}

// A value of the same type as another one, in a branch that does not have it.
Val Machine::StandIn(const Val& like, const Outcome& outcome, Graph& graph) {
  switch (like.kind) {
    case Val::kBool: return Val::Bool(false);
    case Val::kInt: return Val::Int(0);
    case Val::kFloat: return Val::Float(0);
    case Val::kTuple: {
      std::vector<Val> items;
      for (const Val& item : like.tuple()) {
        items.push_back(StandIn(item, outcome, graph));
        if (items.back().kind == Val::kLost) return items.back();
      }
      Val v = Val::Tuple(std::move(items));
      v.text = like.text;
      return v;
    }
    case Val::kTensor: {
      constexpr int64_t kMaxElements = 1 << 24;
      const TensorHeap& t = outcome.ContentOf(like.tensor());
      const auto sizes = t.value && t.value->shape() ? t.value->shape()->Static() : std::nullopt;
      const auto count = sizes ? CheckedProduct(*sizes) : std::nullopt;
      if (!count || *count > kMaxElements || !t.lost.empty()) {
        return Val::Lost("one branch on data does not set it, and its size is not known");
      }
      const GraphScope scope(*this, graph);
      Value* zero = Constant("zero", Tensor::Zeros(t.value->dtype(), {}));
      const auto rank = static_cast<int64_t>(sizes->size());
      Value* dims = Constant("sizes", Tensor::Of<int64_t>({rank}, *sizes));
      Val v = Fresh(Op("expand", {zero, dims}));
      v.tensor().quantized = t.quantized;
      return v;
    }
    default: return Val::Lost(StrCat("one branch on data does not set it (", Describe(like), ")"));
  }
}

Val Machine::Merged(Merge& merge, const Val& a, const Val& b, int depth) {
  CountStep();
  if (depth > 16) return Val::Lost("it is nested too deep");
  const bool objects = a.heap && b.heap && a.kind == b.kind;
  if (!objects) return MergedNew(merge, a, b, depth);
  // An object that was there before the branches is merged in its place, by MergeHeaps.
  if (a.heap == b.heap && (a.heap->id < merge.begin || (!merge.a.heaps.contains(a.heap.get()) &&
                                                        !merge.b.heaps.contains(a.heap.get())))) {
    return a;
  }
  // Two names that both branches give to one object stay names of one object.
  const std::pair<const Heap*, const Heap*> key(a.heap.get(), b.heap.get());
  if (const auto it = merge.pairs.find(key); it != merge.pairs.end()) return it->second.merged;
  const Val merged = MergedNew(merge, a, b, depth);
  merge.pairs[key] = {a, b, merged};
  if (merged.kind == Val::kTensor) {
    NoteMemory(merge, a, b, merged);
  } else if (merged.heap) {
    NoteContainers(merge, a, b, merged);
  }
  return merged;
}

Val Machine::MergedNew(Merge& merge, const Val& a, const Val& b, int depth) {
  const auto differs = [&] {
    if (a.kind == Val::kLost) return a;
    if (b.kind == Val::kLost) return b;
    return Val::Lost(StrCat("data decides whether it is ", Describe(a), " or ", Describe(b)));
  };
  // The code does not read what a branch leaves unset: there, any value is right.
  if (a.is_unset() && b.is_unset()) return a;
  if (a.is_unset() || b.is_unset()) {
    const bool first = a.is_unset();
    const Val& other = first ? b : a;
    const Val stand_in =
        StandIn(other, first ? merge.b : merge.a, *(first ? merge.a : merge.b).graph);
    if (stand_in.kind == Val::kLost) return stand_in;
    return first ? Merged(merge, stand_in, b, depth + 1) : Merged(merge, a, stand_in, depth + 1);
  }
  const auto optional = [](const Val& v) { return v.kind == Val::kNone || v.kind == Val::kMaybe; };
  if (a.kind != b.kind && (optional(a) || optional(b)) && a.kind != Val::kLost &&
      b.kind != Val::kLost) {
    const auto part = [&](const Val& v) {
      return v.kind == Val::kMaybe ? v.tuple()[0] : v.kind == Val::kNone ? Val::Unset() : v;
    };
    const auto present = [&](const Val& v) {
      return v.kind == Val::kMaybe ? v.tuple()[1] : Val::Bool(v.kind != Val::kNone);
    };
    const Val inner = Merged(merge, part(a), part(b), depth + 1);
    if (inner.kind == Val::kLost) return differs();
    return Val::Maybe(inner, Merged(merge, present(a), present(b), depth + 1));
  }
  if (a.kind != b.kind) return differs();
  if (!a.heap && a.kind != Val::kTuple && a.kind != Val::kMaybe && SameVal(a, b)) return a;
  const auto chosen = [&](Value* yes, Value* no) -> Value* {
    Value*& value = merge.made[{yes, no}];
    if (value) return value;
    AddOwnOutput(*merge.a.graph, yes, "result");
    AddOwnOutput(*merge.b.graph, no, "result");
    value = graph_->AddNodeOutput(merge.node, graph_->UniqueName("chosen"),
                                  CommonType(yes->type(), no->type()));
    return value;
  };
  switch (a.kind) {
    case Val::kBool:
      // True in one branch alone: what was asked.
      if (a.is_known(Val::kBool) && b.is_known(Val::kBool)) {
        return Val::Computed(Val::kBool, a.i ? merge.condition : Op("not", {merge.condition}));
      }
      [[fallthrough]];
    case Val::kInt:
    case Val::kFloat:
      return Val::Computed(a.kind, chosen(InGraph(*merge.a.graph, a, &merge.a),
                                          InGraph(*merge.b.graph, b, &merge.b)));
    case Val::kTensor: {
      const TensorHeap &x = merge.a.ContentOf(a.tensor()), &y = merge.b.ContentOf(b.tensor());
      for (const TensorHeap* t : {&x, &y}) {
        if (!t->lost.empty()) return Val::Lost(t->lost);
      }
      std::string stale = StaleText(a.tensor(), &merge.a);
      if (stale.empty()) stale = StaleText(b.tensor(), &merge.b);
      if (!stale.empty()) return Val::Lost(stale);
      if (x.value->dtype() != y.value->dtype()) {
        return Val::Lost(StrCat("data decides whether it is a tensor of ", Name(x.value->dtype()),
                                " or of ", Name(y.value->dtype())));
      }
      if (x.packed || y.packed) return Val::Lost("data decides between packed sequences");
      if (!SameQuantization(x.quantized.get(), y.quantized.get())) {
        return Val::Lost("data decides how it is quantized");
      }
      Val result = Fresh(chosen(x.value, y.value));
      result.tensor().quantized = x.quantized;
      return result;
    }
    case Val::kMaybe:
      return Val::Maybe(Merged(merge, a.tuple()[0], b.tuple()[0], depth + 1),
                        Merged(merge, a.tuple()[1], b.tuple()[1], depth + 1));
    case Val::kTuple: {
      if (a.tuple().size() != b.tuple().size()) return differs();
      std::vector<Val> items;
      for (size_t i = 0; i < a.tuple().size(); ++i) {
        items.push_back(Merged(merge, a.tuple()[i], b.tuple()[i], depth + 1));
      }
      Val v = Val::Tuple(std::move(items));
      v.text = a.text;
      return v;
    }
    case Val::kList: return MergedLists(merge, a, b, depth);
    case Val::kDict: {
      const DictHeap &x = merge.a.ContentOf(a.dict()), &y = merge.b.ContentOf(b.dict());
      auto dict = std::make_shared<DictHeap>();
      if (x.items.size() != y.items.size()) return differs();
      for (size_t i = 0; i < x.items.size(); ++i) {
        if (!SameVal(x.items[i].first, y.items[i].first)) return differs();
        dict->items.emplace_back(x.items[i].first,
                                 Merged(merge, x.items[i].second, y.items[i].second, depth + 1));
      }
      return Val::Of(Val::kDict, std::move(dict));
    }
    case Val::kObject: {
      const ObjectHeap &x = merge.a.ContentOf(a.object()), &y = merge.b.ContentOf(b.object());
      if (x.class_name != y.class_name || x.saved || y.saved ||
          x.attributes.size() != y.attributes.size()) {
        return differs();
      }
      auto object = std::make_shared<ObjectHeap>(x);
      object->id = Heap::NextId();
      for (size_t i = 0; i < x.attributes.size(); ++i) {
        if (x.attributes[i].first != y.attributes[i].first) return differs();
        object->attributes[i].second =
            Merged(merge, x.attributes[i].second, y.attributes[i].second, depth + 1);
      }
      return Val::Of(Val::kObject, std::move(object));
    }
    default: return differs();
  }
}

// The items of a list as one value: a sequence of tensors, or a tensor of rank 1.
Value* Machine::Collected(Graph& graph, const ListHeap& list, Val::Kind element, DType dtype,
                          const Outcome* outcome) {
  if (list.computed) return list.computed;
  const GraphScope scope(*this, graph);
  std::vector<Value*> values;
  for (const Val& item : list.items) values.push_back(InGraph(graph, item, outcome));
  if (element == Val::kTensor) {
    if (writes_) {
      for (const Val& item : list.items) {
        Freeze(item.tensor().root(),
               "a write to a tensor that is an item of a list whose length "
               "only data says");
      }
    }
    if (values.empty()) {
      if (dtype == DType::kUndefined) dtype = DType::kFloat32;
      return Op("sequence_empty", {}, {{"dtype", std::string(Name(dtype))}});
    }
    return Op("sequence_construct", values);
  }
  if (values.empty()) return Constant("empty", Tensor::Zeros(dtype, {0}));
  for (Value*& value : values) {
    value = Op("reshape", {value, Constant("one", Tensor::Of<int64_t>({1}, {1}))});
  }
  return values.size() == 1 ? values[0] : Op("concat", values, {{"axis", 0}});
}

namespace {

Val::Kind ElementOf(const ListHeap& list) {
  if (list.computed) return list.element;
  Val::Kind kind = Val::kNone;
  for (const Val& item : list.items) {
    const bool fits = item.kind == Val::kTensor || item.kind == Val::kInt ||
                      item.kind == Val::kFloat || item.kind == Val::kBool;
    if (!fits || (kind != Val::kNone && kind != item.kind)) return Val::kLost;
    kind = item.kind;
  }
  return kind;
}

DType TypeOfElements(const ListHeap& list, Val::Kind element) {
  if (element == Val::kInt || element == Val::kFloat || element == Val::kBool) {
    return DTypeOfKind(element);
  }
  if (list.computed && list.computed->type().kind() == Type::kSequence) {
    return list.computed->type().element().dtype();
  }
  if (!list.items.empty() && list.items[0].kind == Val::kTensor) {
    return list.items[0].tensor().value->dtype();
  }
  return DType::kUndefined;
}

}  // namespace

Val Machine::MergedLists(Merge& merge, const Val& a, const Val& b, int depth) {
  const ListHeap &x = merge.a.ContentOf(a.list()), &y = merge.b.ContentOf(b.list());
  auto list = std::make_shared<ListHeap>();
  list->type = x.type.empty() ? y.type : x.type;
  if (!x.computed && !y.computed && x.items.size() == y.items.size()) {
    for (size_t i = 0; i < x.items.size(); ++i) {
      list->items.push_back(Merged(merge, x.items[i], y.items[i], depth + 1));
    }
    return Val::Of(Val::kList, std::move(list));
  }
  Val::Kind of_x = ElementOf(x), of_y = ElementOf(y);
  if (of_x == Val::kNone) of_x = of_y;
  if (of_y == Val::kNone) of_y = of_x;
  if (of_x != of_y || of_x == Val::kLost || of_x == Val::kNone) {
    return Val::Lost("data decides how long it is, and what it holds");
  }
  DType dtype = TypeOfElements(x, of_x);
  if (dtype == DType::kUndefined) dtype = TypeOfElements(y, of_y);
  Value* yes = Collected(*merge.a.graph, x, of_x, dtype, &merge.a);
  Value* no = Collected(*merge.b.graph, y, of_y, dtype, &merge.b);
  AddOwnOutput(*merge.a.graph, yes, "result");
  AddOwnOutput(*merge.b.graph, no, "result");
  const Type type = of_x == Val::kTensor ? Type::Sequence(Type::Tensor(dtype))
                                         : Type::Tensor(dtype, Shape({Dim()}));
  list->computed = graph_->AddNodeOutput(merge.node, graph_->UniqueName("chosen"), type);
  list->element = of_x;
  return Val::Of(Val::kList, std::move(list));
}

void Machine::MergeHeaps(Merge& merge) {
  std::vector<std::shared_ptr<Heap>> heaps;
  absl::flat_hash_set<const Heap*> seen;
  for (const Outcome* outcome : {&merge.a, &merge.b}) {
    for (const auto& [heap, contents] : outcome->heaps) {
      if (heap->id < merge.begin && seen.insert(heap).second) heaps.push_back(contents.first);
    }
  }
  // In the order in which they were made: the graph does not depend on addresses.
  std::sort(heaps.begin(), heaps.end(), [](const auto& x, const auto& y) { return x->id < y->id; });
  for (const auto& heap : heaps) {
    if (auto* t = dynamic_cast<TensorHeap*>(heap.get())) {
      const TensorHeap &x = merge.a.ContentOf(*t), &y = merge.b.ContentOf(*t);
      if (x.writes == t->writes && y.writes == t->writes) continue;  // only read again
      Value* value = nullptr;
      std::string lost = !x.lost.empty() ? x.lost : y.lost;
      if (lost.empty()) {
        Val a = Fresh(x.value), b = Fresh(y.value);
        const Val merged = Merged(merge, a, b);
        if (merged.kind == Val::kLost) {
          lost = std::string(merged.str());
        } else {
          value = merged.tensor().value;
        }
      }
      Change(*t);
      t->writes = std::max(x.writes, y.writes) + 1;
      ++*t->ever_written;
      t->version = t->writes;
      t->lost = lost;
      if (value) t->value = value;
    } else if (auto* list = dynamic_cast<ListHeap*>(heap.get())) {
      const Val same = Val::Of(Val::kList, heap);
      const Val merged = MergedLists(merge, same, same, 0);
      Change(*list);
      if (merged.kind == Val::kLost) {
        list->items = {merged};
        list->computed = nullptr;
      } else {
        list->items = merged.list().items;
        list->computed = merged.list().computed;
        list->element = merged.list().element;
      }
    } else if (auto* dict = dynamic_cast<DictHeap*>(heap.get())) {
      const DictHeap &x = merge.a.ContentOf(*dict), &y = merge.b.ContentOf(*dict);
      std::vector<std::pair<Val, Val>> items;
      for (const auto& [key, v] : x.items) {
        const Val* other = y.Find(key);
        items.emplace_back(key, other ? Merged(merge, v, *other)
                                      : Val::Lost("data decides whether the dict has it"));
      }
      for (const auto& [key, v] : y.items) {
        if (!x.Find(key)) {
          items.emplace_back(key, Val::Lost("data decides whether the dict has it"));
        }
      }
      Change(*dict);
      dict->items = std::move(items);
    } else if (auto* object = dynamic_cast<ObjectHeap*>(heap.get())) {
      const ObjectHeap &x = merge.a.ContentOf(*object), &y = merge.b.ContentOf(*object);
      std::vector<std::pair<std::string, Val>> attributes;
      // One that only one branch has loaded is the saved one.
      const auto of_one = [&](const std::string& name, const Val& v) {
        const bool loaded = object->saved && object->saved->Find(name);
        return loaded ? v : Val::Lost("only one branch sets it");
      };
      for (const auto& [name, v] : x.attributes) {
        const Val* other = y.Find(name);
        attributes.emplace_back(name, other                ? Merged(merge, v, *other)
                                      : object->Find(name) ? v
                                                           : of_one(name, v));
      }
      for (const auto& [name, v] : y.attributes) {
        if (!x.Find(name)) attributes.emplace_back(name, of_one(name, v));
      }
      Change(*object);
      object->attributes = std::move(attributes);
    }
  }
}

// Whether a variable is a tensor of another rank in each branch.
bool Machine::OtherRanks(const Outcome& a, const Outcome& b) const {
  return std::any_of(a.vars.begin(), a.vars.end(), [&](const auto& entry) {
    const auto other = b.vars.find(entry.first);
    if (other == b.vars.end()) return false;
    const Val &x = entry.second, &y = other->second;
    if (x.kind != Val::kTensor || y.kind != Val::kTensor || x.heap == y.heap) return false;
    const TensorHeap &t = a.ContentOf(x.tensor()), &u = b.ContentOf(y.tensor());
    if (!t.lost.empty() || !u.lost.empty()) return false;
    const Shape *s = t.value->shape(), *r = u.value->shape();
    return s && r && s->rank() != r->rank();
  });
}

namespace {

// What a condition is where a number of elements is not 0: "n > 0", "n != 0", "n == 0". Nullopt: it
// asks something else.
std::optional<bool> HoldsUnlessEmpty(const Value* condition) {
  bool negated = false;
  const Node* node = condition->producer();
  while (node && (node->Is("not") || node->Is("identity"))) {
    negated = negated != node->Is("not");
    node = node->input(0)->producer();
  }
  if (!node || node->num_inputs() != 2 || !node->input(1)) return std::nullopt;
  const Tensor* limit = node->input(1)->fixed_constant();
  if (!limit || limit->num_elements() != 1 || !IsInteger(limit->dtype())) return std::nullopt;
  const int64_t number = limit->AsInt(0);
  if (node->Is("greater") && number == 0) return !negated;
  if (node->Is("greater_or_equal") && number == 1) return !negated;
  if (node->Is("equal") && number == 0) return negated;
  return std::nullopt;
}

// The value of which this one is the same or the opposite (true).
std::pair<const Value*, bool> WithoutNot(const Value* condition) {
  bool negated = false;
  while (const Node* node = condition->producer()) {
    if (!node->Is("not")) break;
    condition = node->input(0);
    negated = !negated;
  }
  return {condition, negated};
}

}  // namespace

Val Machine::Where(const Val& v, const Val& condition, bool holds) {
  if (v.kind != Val::kBool && v.kind != Val::kMaybe) return v;
  const Val& told = v.kind == Val::kBool ? v : v.tuple()[1];
  if (!told.value) return v;
  const auto [of_v, opposite] = WithoutNot(told.value);
  const auto [asked, negated] = WithoutNot(condition.value);
  if (of_v != asked) return v;
  const bool is_true = holds == (opposite == negated);
  if (v.kind == Val::kBool) return Val::Bool(is_true);
  return is_true ? v.tuple()[0] : Val::None();
}

Machine::Flow Machine::Branch(const Val& condition, const std::function<Flow()>& yes,
                              const std::function<Flow()>& no) {
  if (!condition.value) return condition.i ? yes() : no();
  const uint64_t begin = Heap::NextId();
  const size_t failures = failures_.size();
  const absl::flat_hash_map<std::string_view, Val> before = frames_.back().vars;
  const auto where = [&](bool holds, const std::function<Flow()>& run) {
    return [this, &condition, holds, &run] {
      for (auto& [name, v] : frames_.back().vars) {
        const Val known = Where(v, condition, holds);
        v = known;
      }
      return run();
    };
  };
  Outcome a = Try(std::make_shared<Graph>("then_branch"), where(true, yes));
  // One branch raises an exception: callers promise inputs for which it is not taken.
  if (a.raised) {
    failures_.resize(failures);
    return no();
  }
  Outcome b = Try(std::make_shared<Graph>("else_branch"), where(false, no));
  if (b.raised) {
    failures_.resize(failures);
    return yes();
  }
  if (a.flow != b.flow) {
    Refuse("a branch that data decides leaves the ",
           a.flow == Flow::kReturn || b.flow == Flow::kReturn ? "function" : "loop");
  }
  if (const auto is_true = HoldsUnlessEmpty(condition.value); is_true && OtherRanks(a, b)) {
    Warn(
        StrCat("the model is for tensors with elements: for empty ones the code gives results of "
               "other ranks",
               PlaceText()));
    return *is_true ? yes() : no();
  }
  // What may be None, and was assigned in neither branch, is what it was.
  for (const auto& [name, v] : before) {
    if (v.kind != Val::kMaybe) continue;
    const Val yes_was = Where(v, condition, true), no_was = Where(v, condition, false);
    if (yes_was.kind == no_was.kind) continue;
    const auto of_a = a.vars.find(name), of_b = b.vars.find(name);
    if (of_a == a.vars.end() || of_b == b.vars.end()) continue;
    if (SameVal(of_a->second, yes_was) && SameVal(of_b->second, no_was)) {
      of_a->second = of_b->second = v;
    }
  }
  Node* node = graph_->AppendNode(kIrDialect, "if", {condition.value});
  Merge merge{a, b, begin, node, condition.value};
  std::vector<std::string_view> names;
  for (const auto& [name, v] : a.vars) {
    if (b.vars.contains(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  for (const std::string_view name : names) {
    const Val &x = a.vars.at(name), &y = b.vars.at(name);
    frames_.back().vars[name] = Merged(merge, x, y);
  }
  if (a.flow == Flow::kReturn) frames_.back().result = Merged(merge, a.result, b.result);
  MergeHeaps(merge);
  for (const auto& [old, merged] : merge.old_containers) {
    if (merged->frozen.empty() && IsHeld(*old)) {
      Freeze(*old, kShared);
      Freeze(*merged, kShared);
    }
  }
  if (node->num_outputs() == 0) {
    graph_->EraseUnused(node);
    return a.flow;
  }
  // What may share memory does so as of now.
  for (const Merge::Memory& memory : merge.memories) {
    for (TensorHeap::Perhaps& p : memory.merged->perhaps) {
      if (const auto other = p.other.lock()) p.Update(*other);
    }
  }
  node->SetAttr("then_branch", a.graph);
  node->SetAttr("else_branch", b.graph);
  if (!path().empty()) node->set_name(node_names_.Unique(path()));
  return a.flow;
}

namespace {

// Whether a block raises an exception whatever data says.
bool AlwaysRaises(const std::vector<const Statement*>& block) {
  for (const Statement* s : block) {
    if (s->kind == Statement::kRaise) return true;
    if (s->kind == Statement::kReturn) return false;
    const Expr* call = s->kind == Statement::kExpression ? s->value : nullptr;
    if (call && call->kind == Expr::kCall && call->args[0]->kind == Expr::kAttribute &&
        call->args[0]->text == "RaiseException") {
      return true;
    }
  }
  return false;
}

}  // namespace

Machine::Flow Machine::If(const Statement& s) {
  const Val condition = Convert(Evaluate(*s.value), "bool");
  // A branch that always raises is not run: each one inside of another would double the work.
  if (condition.value && AlwaysRaises(s.otherwise)) return Execute(s.body);
  if (condition.value && AlwaysRaises(s.body)) return Execute(s.otherwise);
  return Branch(
      condition, [&] { return Execute(s.body); }, [&] { return Execute(s.otherwise); });
}

Val Machine::ChooseOf(const Val& condition, const std::function<Val(bool)>& run) {
  const auto set = [&](bool holds) {
    const Val v = run(holds);
    frames_.back().vars["<chosen>"] = v;
    return Flow::kNext;
  };
  Branch(
      condition, [&] { return set(true); }, [&] { return set(false); });
  return frames_.back().vars["<chosen>"];
}

Val Machine::Choose(const Val& condition, const Expr& yes, const Expr& no) {
  const Val known = Convert(condition, "bool");
  if (!known.value) return Evaluate(known.i ? yes : no);
  return ChooseOf(known, [&](bool holds) { return Evaluate(holds ? yes : no); });
}

}  // namespace x2ir::torch_script
