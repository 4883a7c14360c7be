// Loops: rounds that are known are run one after another; others become `loop`.
#include <algorithm>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/machine.h"

namespace x2ir::torch_script {

// How a value is carried from round to round: as values of the graph, its leaves.
struct Machine::Layout {
  enum Kind : uint8_t {
    kFixed,     // it stays what it is
    kNumber,    // one leaf
    kTensor,    // one leaf
    kTuple,     // parts
    kList,      // parts: of as many items in every round
    kSequence,  // a list of tensors: one leaf
    kVector,    // a list of numbers: one leaf
    kDropped,   // not known afterwards
  } kind = kFixed;
  Val fixed;
  Val::Kind number = Val::kNone;
  Type type;
  std::vector<Layout> parts;
  std::string why;
  std::shared_ptr<const std::string> text;  // of a tuple

  size_t leaves() const {
    if (kind == kFixed || kind == kDropped) return 0;
    if (kind != kTuple && kind != kList) return 1;
    size_t n = 0;
    for (const Layout& part : parts) n += part.leaves();
    return n;
  }
};

// A variable, or what a value shares, that rounds change.
struct Machine::Slot {
  std::string_view var = {};
  std::shared_ptr<Heap> heap = {};
  std::string attribute = {};  // of an object
  size_t item = 0;             // of a dict
  Layout layout = {};
};

namespace {

constexpr Type::Kind kSequenceKind = Type::kSequence;

// Whether sizes agree; where they do not they become unknown.
bool WidenType(Type& type, const Type& with) {
  if (!type.is_tensor() || !with.is_tensor()) return false;
  if (!type.shape()) return false;
  if (!with.shape() || with.shape()->rank() != type.shape()->rank()) {
    type = Type::Tensor(type.dtype());
    return true;
  }
  bool changed = false;
  std::vector<Dim> dims = type.shape()->dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == (*with.shape())[static_cast<int64_t>(i)] || dims[i].is_unknown()) continue;
    dims[i] = Dim();
    changed = true;
  }
  if (changed) type = Type::Tensor(type.dtype(), Shape(std::move(dims)));
  return changed;
}

// The node that puts one tensor at the end of `list`, where a round does nothing else with it.
Node* OnlyInsert(Value* result, const Value* list) {
  Node* node = result ? result->producer() : nullptr;
  if (!node || !node->Is("sequence_insert") || node->input(0) != list || node->input(2)) {
    return nullptr;
  }
  const Shape* shape = node->input(1)->shape();
  const bool fixed = shape && shape->Static().has_value();
  return fixed && list->uses().size() == 1 && result->uses().empty() ? node : nullptr;
}

}  // namespace

Machine::Layout Machine::LayoutOf(const Val& before, const Val& after, const Outcome& outcome,
                                  int depth) {
  CountStep();
  Layout layout;
  const auto dropped = [&](std::string why) {
    layout.kind = Layout::kDropped;
    layout.why = std::move(why);
    return layout;
  };
  if (before.kind == Val::kLost || after.kind == Val::kLost || depth > 16) {
    return dropped(std::string(before.kind == Val::kLost ? before.str() : after.str()));
  }
  if (before.kind != after.kind) {
    return dropped(
        StrCat("rounds of a loop change it from ", Describe(before), " to ", Describe(after)));
  }
  if (!before.heap && before.kind != Val::kTuple && SameVal(before, after)) {
    layout.fixed = before;
    return layout;
  }
  switch (before.kind) {
    case Val::kBool:
    case Val::kInt:
    case Val::kFloat:
      layout.kind = Layout::kNumber;
      layout.number = before.kind;
      layout.type = Type::Tensor(DTypeOfKind(before.kind), Shape());
      return layout;
    case Val::kTensor: {
      const TensorHeap& t = outcome.ContentOf(after.tensor());
      if (!t.lost.empty()) return dropped(t.lost);
      if (std::string stale = StaleText(after.tensor(), &outcome); !stale.empty()) {
        return dropped(std::move(stale));
      }
      if (t.packed) return dropped("rounds of a loop change packed sequences");
      Value* first = Read(before);
      if (before.heap == after.heap && t.value == first) {
        layout.fixed = before;
        return layout;
      }
      if (first->dtype() != t.value->dtype()) {
        return dropped("rounds of a loop change its element type");
      }
      if (!SameQuantization(before.tensor().quantized.get(), t.quantized.get())) {
        return dropped("rounds of a loop change how it is quantized");
      }
      layout.kind = Layout::kTensor;
      layout.type = first->type();
      WidenType(layout.type, t.value->type());
      layout.fixed = before;
      return layout;
    }
    case Val::kTuple: {
      if (before.tuple().size() != after.tuple().size()) return dropped("rounds change its length");
      layout.kind = Layout::kTuple;
      layout.text = before.text;
      for (size_t i = 0; i < before.tuple().size(); ++i) {
        layout.parts.push_back(LayoutOf(before.tuple()[i], after.tuple()[i], outcome, depth + 1));
      }
      return layout;
    }
    case Val::kList: {
      const ListHeap &x = before.list(), &y = outcome.ContentOf(after.list());
      layout.fixed = Val::String(x.type);
      if (!x.computed && !y.computed && x.items.size() == y.items.size()) {
        layout.kind = Layout::kList;
        for (size_t i = 0; i < x.items.size(); ++i) {
          layout.parts.push_back(LayoutOf(x.items[i], y.items[i], outcome, depth + 1));
        }
        return layout;
      }
      Val::Kind element = Val::kNone;
      DType dtype = DType::kUndefined;
      for (const ListHeap* list : {&x, &y}) {
        if (list->computed && element == Val::kNone) element = list->element;
        for (const Val& item : list->items) {
          if (element == Val::kNone) element = item.kind;
          if (item.kind != element) return dropped("its items are of several kinds");
        }
        if (list->computed && list->computed->type().kind() == kSequenceKind) {
          dtype = list->computed->type().element().dtype();
        } else if (element == Val::kTensor && !list->items.empty()) {
          dtype = outcome.ContentOf(list->items.back().tensor()).value->dtype();
        }
      }
      if (element == Val::kTensor) {
        layout.kind = Layout::kSequence;
        layout.type = Type::Sequence(Type::Tensor(dtype));
      } else if (element == Val::kInt || element == Val::kFloat || element == Val::kBool) {
        layout.kind = Layout::kVector;
        layout.number = element;
        layout.type = Type::Tensor(DTypeOfKind(element), Shape({Dim()}));
      } else {
        return dropped("rounds of a loop change how long it is");
      }
      return layout;
    }
    default:
      if (SameVal(before, after)) {
        layout.fixed = before;
        return layout;
      }
      return dropped(StrCat("rounds of a loop change it (", Describe(before), ")"));
  }
}

// Whether what a round leaves needs more room than the layout has, which it then gets.
bool Machine::Widen(Layout& layout, const Val& after, const Outcome& outcome) {
  const auto drop = [&](std::string why) {
    layout = Layout();
    layout.kind = Layout::kDropped;
    layout.why = std::move(why);
    return true;
  };
  switch (layout.kind) {
    case Layout::kDropped: return false;
    case Layout::kFixed: {
      const bool same = layout.fixed.kind == Val::kTensor ? after.heap == layout.fixed.heap
                                                          : SameVal(layout.fixed, after);
      if (same) return false;
      layout = LayoutOf(layout.fixed, after, outcome);
      return true;
    }
    case Layout::kNumber:
      return after.kind == layout.number ? false : drop("rounds of a loop change its kind");
    case Layout::kTensor: {
      if (after.kind != Val::kTensor) return drop("it is not a tensor in every round");
      const TensorHeap& t = outcome.ContentOf(after.tensor());
      if (!t.lost.empty()) return drop(t.lost);
      if (std::string stale = StaleText(after.tensor(), &outcome); !stale.empty()) {
        return drop(std::move(stale));
      }
      if (t.value->dtype() != layout.type.dtype()) return drop("its element type changes");
      if (!SameQuantization(layout.fixed.tensor().quantized.get(), t.quantized.get())) {
        return drop("rounds of a loop change how it is quantized");
      }
      return WidenType(layout.type, t.value->type());
    }
    case Layout::kTuple:
    case Layout::kList: {
      if (after.kind != (layout.kind == Layout::kTuple ? Val::kTuple : Val::kList)) {
        return drop("its kind changes");
      }
      const ListHeap* list = after.kind == Val::kList ? &outcome.ContentOf(after.list()) : nullptr;
      const std::vector<Val>& items = list ? list->items : after.tuple();
      if ((list && list->computed) || items.size() != layout.parts.size()) {
        return drop("rounds of a loop change how long it is");
      }
      bool changed = false;
      for (size_t i = 0; i < items.size(); ++i) {
        changed = Widen(layout.parts[i], items[i], outcome) || changed;
      }
      return changed;
    }
    case Layout::kSequence:
    case Layout::kVector: return after.kind == Val::kList ? false : drop("its kind changes");
  }
  return false;
}

void Machine::AddLeaves(const Layout& layout, const Val& v, const Outcome* outcome, Graph& graph,
                        std::vector<Value*>& leaves) {
  switch (layout.kind) {
    case Layout::kFixed:
    case Layout::kDropped: return;
    case Layout::kNumber:
    case Layout::kTensor: leaves.push_back(InGraph(graph, v, outcome)); return;
    case Layout::kTuple:
    case Layout::kList: {
      const std::vector<Val>& items =
          v.kind == Val::kTuple ? v.tuple()
                                : (outcome ? outcome->ContentOf(v.list()) : v.list()).items;
      for (size_t i = 0; i < layout.parts.size() && i < items.size(); ++i) {
        AddLeaves(layout.parts[i], items[i], outcome, graph, leaves);
      }
      return;
    }
    case Layout::kSequence:
    case Layout::kVector: {
      const ListHeap& list = outcome ? outcome->ContentOf(v.list()) : v.list();
      const bool tensors = layout.kind == Layout::kSequence;
      leaves.push_back(Collected(graph, list, tensors ? Val::kTensor : layout.number,
                                 tensors ? layout.type.element().dtype() : layout.type.dtype(),
                                 outcome));
      return;
    }
  }
}

// The tensor of each leaf that has one; null for the others.
void Machine::AddTensors(const Layout& layout, const Val& v, const Outcome* outcome,
                         std::vector<TensorHeap*>& tensors) {
  if (layout.kind == Layout::kTuple || layout.kind == Layout::kList) {
    static const std::vector<Val> none;
    const std::vector<Val>& items = v.kind == Val::kTuple ? v.tuple()
                                    : v.kind == Val::kList
                                        ? (outcome ? outcome->ContentOf(v.list()) : v.list()).items
                                        : none;
    for (size_t i = 0; i < layout.parts.size(); ++i) {
      AddTensors(layout.parts[i], i < items.size() ? items[i] : Val(), outcome, tensors);
    }
  } else if (layout.leaves() == 1) {
    const bool tensor = layout.kind == Layout::kTensor && v.kind == Val::kTensor;
    tensors.push_back(tensor ? &v.tensor() : nullptr);
  }
}

namespace {

// Of tensors that rounds of a loop carry: the memories that they may be.
class CarriedMemories {
 public:
  using Held = std::shared_ptr<TensorHeap>;
  // Before the first round, at its beginning (of what is carried) and at its end.
  void Find(const std::vector<TensorHeap*>& before, const std::vector<TensorHeap*>& during,
            const std::vector<Held>& roots_after, uint64_t begin) {
    sets_.assign(before.size(), {});
    std::vector<std::vector<const TensorHeap*>> ends(before.size());
    for (size_t i = 0; i < before.size(); ++i) {
      if (!before[i]) continue;
      AddOld(i, HeldOf(before[i]->root()));
      if (!roots_after[i]) continue;
      std::vector<Held> all = {roots_after[i]};
      for (const TensorHeap::Perhaps& p : roots_after[i]->perhaps) {
        if (Held other = p.other.lock()) all.push_back(std::move(other));
      }
      for (const Held& one : all) {
        ends[i].push_back(one.get());
        if (one->id < begin) AddOld(i, one);
      }
    }
    // What is in the place of one round is in another's in the next.
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < ends.size(); ++i) {
        for (const TensorHeap* end : ends[i]) {
          for (size_t j = 0; j < during.size(); ++j) {
            if (!during[j] || &during[j]->root() != end) continue;
            const auto other = sets_[j];
            for (const auto& held : other) changed = Add(i, held) || changed;
          }
        }
      }
    }
    shared_.clear();
    for (size_t i = 0; i < sets_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        const bool both = std::any_of(sets_[i].begin(), sets_[i].end(), [&](const Held& held) {
          return std::find(sets_[j].begin(), sets_[j].end(), held) != sets_[j].end();
        });
        const bool ends_too = std::any_of(ends[i].begin(), ends[i].end(), [&](const auto* end) {
          return std::find(ends[j].begin(), ends[j].end(), end) != ends[j].end();
        });
        if (both || ends_too) shared_.emplace_back(i, j);
      }
    }
  }
  // Tells the tensors of it.
  void Note(const std::vector<TensorHeap*>& tensors) const {
    const auto add = [](TensorHeap& t, const Held& other) {
      if (other.get() == &t) return;
      t.perhaps.push_back({.other = other});
      t.perhaps.back().Update(*other);
    };
    for (size_t i = 0; i < tensors.size() && i < sets_.size(); ++i) {
      if (!tensors[i]) continue;
      for (const Held& held : sets_[i]) add(*tensors[i], held);
    }
    for (const auto& [i, j] : shared_) {
      if (i >= tensors.size() || !tensors[i] || !tensors[j]) continue;
      add(*tensors[i], HeldOf(*tensors[j]));
    }
  }
  friend bool operator==(const CarriedMemories&, const CarriedMemories&) = default;

 private:
  static Held HeldOf(TensorHeap& t) {
    return std::static_pointer_cast<TensorHeap>(t.shared_from_this());
  }
  bool Add(size_t i, const Held& held) {
    auto& set = sets_[i];
    if (!held || std::find(set.begin(), set.end(), held) != set.end()) return false;
    set.push_back(held);
    return true;
  }
  void AddOld(size_t i, const Held& held) {
    Add(i, held);
    for (const TensorHeap::Perhaps& p : held->perhaps) Add(i, p.other.lock());
  }
  std::vector<std::vector<Held>> sets_;
  std::vector<std::pair<size_t, size_t>> shared_;
};

}  // namespace

Val Machine::Bound(const Layout& layout, const std::vector<Value*>& values, size_t& next) {
  switch (layout.kind) {
    case Layout::kFixed: return layout.fixed;
    case Layout::kDropped: return Val::Lost(layout.why);
    case Layout::kNumber: return Val::Computed(layout.number, values[next++]);
    case Layout::kTensor: {
      Val v = Fresh(values[next++]);
      if (layout.fixed.kind == Val::kTensor) {
        v.tensor().quantized = layout.fixed.tensor().quantized;
      }
      return v;
    }
    case Layout::kTuple:
    case Layout::kList: {
      std::vector<Val> items;
      for (const Layout& part : layout.parts) items.push_back(Bound(part, values, next));
      if (layout.kind == Layout::kList) {
        Val v = Val::List(std::move(items));
        v.list().type = std::string(layout.fixed.str());
        return v;
      }
      Val v = Val::Tuple(std::move(items));
      v.text = layout.text;
      return v;
    }
    case Layout::kSequence:
    case Layout::kVector: {
      auto list = std::make_shared<ListHeap>();
      list->computed = values[next++];
      list->element = layout.kind == Layout::kSequence ? Val::kTensor : layout.number;
      list->type = std::string(layout.fixed.str());
      return Val::Of(Val::kList, std::move(list));
    }
  }
  return {};
}

// What a slot holds from now on.
void Machine::Bind(Slot& slot, const std::vector<Value*>& values, size_t& next) {
  const Val v = Bound(slot.layout, values, next);
  if (!slot.heap) {
    frames_.back().vars[slot.var] = v;
    return;
  }
  Change(*slot.heap);
  if (auto* t = dynamic_cast<TensorHeap*>(slot.heap.get())) {
    ++t->writes;
    ++*t->ever_written;
    t->version = t->writes;
    if (v.kind == Val::kTensor) {
      t->value = v.tensor().value;
    } else {
      t->lost = std::string(v.str());
    }
  } else if (auto* list = dynamic_cast<ListHeap*>(slot.heap.get())) {
    if (v.kind == Val::kList) {
      list->items = v.list().items;
      list->computed = v.list().computed;
      list->element = v.list().element;
    } else {
      list->items = {v};
      list->computed = nullptr;
    }
  } else if (auto* dict = dynamic_cast<DictHeap*>(slot.heap.get())) {
    if (slot.item < dict->items.size()) dict->items[slot.item].second = v;
  } else if (auto* object = dynamic_cast<ObjectHeap*>(slot.heap.get())) {
    if (Val* attribute = object->Find(slot.attribute)) *attribute = v;
  }
}

void Machine::Loop(const Rounds& rounds) {
  constexpr int kMaxTries = 24;
  const uint64_t begin = Heap::NextId();
  const size_t failures = failures_.size();
  std::vector<Slot> slots;
  absl::flat_hash_set<std::string_view> slot_vars;
  const absl::flat_hash_map<std::string_view, Val> vars = frames_.back().vars;

  // What a slot has before the first round, and what a round leaves in it.
  const auto before_of = [&](const Slot& slot) -> Val {
    if (!slot.heap) return vars.at(slot.var);
    if (dynamic_cast<TensorHeap*>(slot.heap.get())) return Val::Of(Val::kTensor, slot.heap);
    if (dynamic_cast<ListHeap*>(slot.heap.get())) return Val::Of(Val::kList, slot.heap);
    if (auto* dict = dynamic_cast<DictHeap*>(slot.heap.get())) return dict->items[slot.item].second;
    const Val* v = static_cast<ObjectHeap&>(*slot.heap).Find(slot.attribute);
    return v ? *v : Val::Lost("only rounds of a loop set it");
  };
  const auto after_of = [&](const Slot& slot, const Outcome& outcome) -> Val {
    if (!slot.heap) {
      const auto it = outcome.vars.find(slot.var);
      return it == outcome.vars.end() ? Val::Lost("a round of a loop deletes it") : it->second;
    }
    if (dynamic_cast<TensorHeap*>(slot.heap.get())) return Val::Of(Val::kTensor, slot.heap);
    if (dynamic_cast<ListHeap*>(slot.heap.get())) return Val::Of(Val::kList, slot.heap);
    if (auto* dict = dynamic_cast<DictHeap*>(slot.heap.get())) {
      const DictHeap& now = outcome.ContentOf(*dict);
      return slot.item < now.items.size() ? now.items[slot.item].second
                                          : Val::Lost("a round of a loop deletes it");
    }
    const Val* v = outcome.ContentOf(static_cast<ObjectHeap&>(*slot.heap)).Find(slot.attribute);
    return v ? *v : Val::Lost("a round of a loop deletes it");
  };

  const auto now_of = [&](const Slot& slot) -> Val {
    return slot.heap ? before_of(slot) : frames_.back().vars[slot.var];
  };
  const auto tensors_of = [&](const std::function<Val(const Slot&)>& of, const Outcome* outcome) {
    std::vector<TensorHeap*> tensors;
    for (const Slot& slot : slots) {
      // A memory that rounds write stays where it is.
      const size_t start = tensors.size();
      AddTensors(slot.layout, of(slot), outcome, tensors);
      if (dynamic_cast<TensorHeap*>(slot.heap.get())) {
        std::fill(tensors.begin() + static_cast<ptrdiff_t>(start), tensors.end(), nullptr);
      }
    }
    return tensors;
  };
  CarriedMemories memories;

  for (int attempt = 0;; ++attempt) {
    if (attempt == kMaxTries) Refuse("a loop whose rounds leave other types each time");
    failures_.resize(failures);
    auto graph = std::make_shared<Graph>("loop_body");
    Value* number = graph->AddInput("round", Type::Tensor(DType::kInt64, Shape()));
    graph->AddInput("more", Type::Tensor(DType::kBool, Shape()));
    std::vector<Value*> inputs;
    const std::function<void(const Layout&)> add = [&](const Layout& layout) {
      if (layout.kind == Layout::kTuple || layout.kind == Layout::kList) {
        for (const Layout& part : layout.parts) add(part);
      } else if (layout.leaves() == 1) {
        inputs.push_back(graph->AddInput(graph->UniqueName("carried"), layout.type));
      }
    };
    for (const Slot& slot : slots) add(slot.layout);
    Val more;
    std::vector<Val> carried;  // what is in the slots when the round begins
    const Outcome outcome = Try(graph, [&] {
      size_t next = 0;
      for (Slot& slot : slots) {
        Bind(slot, inputs, next);
        carried.push_back(now_of(slot));
        // What its items are now; rounds may change it.
        if (carried.back().kind == Val::kList) {
          carried.back() = Val::Tuple(carried.back().list().items);
        }
      }
      if (writes_) memories.Note(tensors_of(now_of, nullptr));
      if (rounds.target) {
        Val i = Val::Computed(Val::kInt, number);
        if (rounds.over) {
          i = Call("aten::__getitem__", {{*rounds.over, i}, {}});
        } else {
          if (!rounds.step.is_known(Val::kInt) || rounds.step.i != 1) {
            i = Arithmetic(*this, "mul", i, rounds.step);
          }
          if (!rounds.start.is_known(Val::kInt) || rounds.start.i != 0) {
            i = Arithmetic(*this, "add", i, rounds.start);
          }
        }
        Assign(*rounds.target, i);
      }
      const Flow flow = Execute(*rounds.body);
      if (flow == Flow::kReturn || flow == Flow::kBreak) {
        Refuse("a loop of an unknown number of rounds that is left early");
      }
      if (rounds.condition) more = Convert(Evaluate(*rounds.condition), "bool");
      return Flow::kNext;
    });
    if (outcome.raised) throw Raised{outcome.message};

    bool changed = false;
    for (Slot& slot : slots) {
      changed = Widen(slot.layout, after_of(slot, outcome), outcome) || changed;
    }
    std::vector<std::string_view> names;
    for (const auto& [name, v] : vars) {
      const auto it = outcome.vars.find(name);
      if (slot_vars.contains(name) || it == outcome.vars.end()) continue;
      if (!SameVal(v, it->second)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    for (const std::string_view name : names) {
      slots.push_back({.var = name});
      slots.back().layout = LayoutOf(vars.at(name), outcome.vars.at(name), outcome);
      slot_vars.insert(name);
      changed = true;
    }
    std::vector<std::shared_ptr<Heap>> heaps;
    for (const auto& [heap, contents] : outcome.heaps) {
      if (heap->id < begin) heaps.push_back(contents.first);
    }
    std::sort(heaps.begin(), heaps.end(),
              [](const auto& a, const auto& b) { return a->id < b->id; });
    const auto has = [&](const Heap* heap, std::string_view attribute, size_t item) {
      return std::any_of(slots.begin(), slots.end(), [&](const Slot& s) {
        return s.heap.get() == heap && s.attribute == attribute && s.item == item;
      });
    };
    const auto add_slot = [&](Slot slot) {
      slots.push_back(std::move(slot));
      Slot& added = slots.back();
      added.layout = LayoutOf(before_of(added), after_of(added, outcome), outcome);
      changed = true;
    };
    for (const auto& heap : heaps) {
      if (auto* t = dynamic_cast<TensorHeap*>(heap.get())) {
        if (t->base || outcome.ContentOf(*t).writes == t->writes || has(t, "", 0)) continue;
        add_slot({.heap = heap});
      } else if (auto* list = dynamic_cast<ListHeap*>(heap.get())) {
        if (!has(list, "", 0)) add_slot({.heap = heap});
      } else if (auto* dict = dynamic_cast<DictHeap*>(heap.get())) {
        const DictHeap& now = outcome.ContentOf(*dict);
        if (now.items.size() != dict->items.size()) {
          Refuse("a loop of an unknown number of rounds adds items to a dict");
        }
        for (size_t i = 0; i < dict->items.size(); ++i) {
          if (SameVal(dict->items[i].second, now.items[i].second) || has(dict, "", i)) continue;
          add_slot({.heap = heap, .item = i});
        }
      } else if (auto* object = dynamic_cast<ObjectHeap*>(heap.get())) {
        const ObjectHeap& now = outcome.ContentOf(*object);
        for (const auto& [name, v] : now.attributes) {
          const Val* old = object->Find(name);
          // One that is read there first is loaded.
          if (!old && object->saved && object->saved->Find(name)) {
            GetAttribute(Val::Of(Val::kObject, heap), name);
            changed = true;
            continue;
          }
          if ((old && SameVal(*old, v)) || has(object, name, 0)) continue;
          if (!old)
            object->attributes.emplace_back(name, Val::Lost("only rounds of a loop set it"));
          add_slot({.heap = heap, .attribute = name});
        }
      }
    }
    if (writes_) {
      const auto before = tensors_of(before_of, nullptr);
      const auto after =
          tensors_of([&](const Slot& slot) { return after_of(slot, outcome); }, &outcome);
      size_t at = 0;
      const auto during = tensors_of(
          [&](const Slot&) { return at < carried.size() ? carried[at++] : Val(); }, nullptr);
      std::vector<std::shared_ptr<TensorHeap>> roots;
      for (TensorHeap* t : after) {
        while (t && outcome.ContentOf(*t).base) t = outcome.ContentOf(*t).base.get();
        roots.push_back(t ? std::static_pointer_cast<TensorHeap>(t->shared_from_this()) : nullptr);
      }
      CarriedMemories found;
      found.Find(before, during, roots, begin);
      // Those that are made in a round are others in each.
      changed = changed || !(found == memories);
      memories = std::move(found);
    }
    if (changed) continue;

    // The body as it is: its outputs, and the loop. A list that is empty at first and gets a tensor
    // in each round is what the loop collects.
    std::vector<Value*> next, first;
    std::vector<Node*> collected(slots.size(), nullptr);
    std::vector<Value*> each_round;
    size_t leaf = 0;
    for (size_t i = 0; i < slots.size(); ++i) {
      const Slot& slot = slots[i];
      const size_t count = slot.layout.leaves();
      if (slot.layout.kind == Layout::kSequence) {
        const ListHeap& list = outcome.ContentOf(after_of(slot, outcome).list());
        const Val before = before_of(slot);
        if (!before.list().computed && before.list().items.empty()) {
          collected[i] = OnlyInsert(list.computed, inputs[leaf]);
        }
      }
      if (collected[i]) {
        each_round.push_back(collected[i]->input(1));
        graph->EraseUnused(collected[i]);
        graph->RemoveInput(inputs[leaf]);
      } else {
        AddLeaves(slot.layout, after_of(slot, outcome), &outcome, *graph, next);
        AddLeaves(slot.layout, before_of(slot), nullptr, *graph_, first);
      }
      leaf += count;
    }
    Value* again = rounds.condition
                       ? InGraph(*graph, more, &outcome)
                       : graph->AddConstant(graph->UniqueName("again"), Tensor::Scalar<bool>(true));
    next.insert(next.begin(), again);
    next.insert(next.end(), each_round.begin(), each_round.end());
    for (Value* value : next) AddOwnOutput(*graph, value, "next");
    std::vector<Value*> operands = {rounds.count ? ValueOf(*rounds.count) : nullptr,
                                    rounds.first ? ValueOf(*rounds.first) : nullptr};
    operands.insert(operands.end(), first.begin(), first.end());
    std::vector<Value*> results;
    if (!first.empty() || !each_round.empty()) {
      Build("loop", [&](Builder& b) {
        results = b.Ops("loop", operands, {{"body", graph}}, first.size() + each_round.size());
      });
    }
    size_t at = 0, stacked = first.size();
    for (size_t i = 0; i < slots.size(); ++i) {
      if (!collected[i]) {
        Bind(slots[i], results, at);
        continue;
      }
      size_t one = 0;
      Bind(slots[i],
           {Op("split_to_sequence", {results[stacked++]}, {{"axis", 0}, {"keepdims", 0}})}, one);
    }
    if (writes_) memories.Note(tensors_of(now_of, nullptr));
    return;
  }
}

Machine::Flow Machine::While(const Statement& s) {
  for (;;) {
    CountStep();
    const Val condition = Convert(Evaluate(*s.value), "bool");
    if (condition.value) {
      Loop({.first = condition, .condition = s.value, .body = &s.body});
      return Flow::kNext;
    }
    if (!condition.i) return Flow::kNext;
    const Flow flow = Execute(s.body);
    if (flow == Flow::kReturn) return flow;
    if (flow == Flow::kBreak) return Flow::kNext;
  }
}

Machine::Flow Machine::For(const Statement& s) {
  constexpr int64_t kMaxNodes = 4096;  // that rounds are written out for
  const Val over = Evaluate(*s.value);
  if (over.kind == Val::kList && over.list().computed) {
    const Val count = Call("aten::len", {{over}, {}});
    if (count.value) {
      Loop({.count = count, .over = over, .target = s.targets[0], .body = &s.body});
      return Flow::kNext;
    }
  }
  if (over.kind == Val::kRange) {
    const auto& r = over.tuple();
    const bool known =
        r[0].is_known(Val::kInt) && r[1].is_known(Val::kInt) && r[2].is_known(Val::kInt);
    if (!known) {
      // No rounds where that is negative.
      const Val count = CeilDivide(*this, Arithmetic(*this, "sub", r[1], r[0]), r[2]);
      Loop({.count = count, .target = s.targets[0], .start = r[0], .step = r[2], .body = &s.body});
      return Flow::kNext;
    }
    const int64_t start = r[0].i, end = r[1].i, step = r[2].i;
    if (step == 0) throw Raised{"range() with a step of 0"};
    // As 128 bits: no difference overflows.
    const __int128 way = static_cast<__int128>(end) - start;
    const __int128 count = (step > 0 ? way + step - 1 : way + step + 1) / step;
    if (count > 16) {
      // Many rounds: one of them says how much they are.
      int64_t nodes = 0;
      bool leaves = false;
      auto graph = std::make_shared<Graph>("round");
      const Outcome outcome = Try(graph, [&] {
        Assign(*s.targets[0], Val::Int(start));
        const Flow flow = Execute(s.body);
        leaves = flow != Flow::kNext && flow != Flow::kContinue;
        return flow;
      });
      nodes = static_cast<int64_t>(graph->TotalNodes());
      if (!leaves && !outcome.raised && count * nodes > kMaxNodes) {
        try {
          Loop({.count = Val::Int(static_cast<int64_t>(std::min<__int128>(count, INT64_MAX))),
                .target = s.targets[0],
                .start = r[0],
                .step = r[2],
                .body = &s.body});
          return Flow::kNext;
        } catch (const Stopped&) {
          constexpr int64_t kMostNodes = 200'000;
          if (count * nodes > kMostNodes) throw;
        }
      }
    }
    for (int64_t i = start; step > 0 ? i < end : i > end;) {
      CountStep();
      Assign(*s.targets[0], Val::Int(i));
      const Flow flow = Execute(s.body);
      if (flow == Flow::kReturn) return flow;
      if (flow == Flow::kBreak) return Flow::kNext;
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    return Flow::kNext;
  }
  for (const Val& item : Iterate(over)) {
    CountStep();
    Assign(*s.targets[0], item);
    const Flow flow = Execute(s.body);
    if (flow == Flow::kReturn) return flow;
    if (flow == Flow::kBreak) return Flow::kNext;
  }
  return Flow::kNext;
}

}  // namespace x2ir::torch_script
