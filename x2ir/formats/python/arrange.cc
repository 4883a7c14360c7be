// The tree of modules: the module and the order of each call.
//
// Names give the module of a call. A module has a forward of its own where that can be called once:
// no call outside of it uses a result of one of its calls and computes an operand of another.
// Otherwise its calls are in the module around it, and it only holds weights.
#include <algorithm>
#include <queue>
#include <tuple>

#include "x2ir/formats/module_names.h"
#include "x2ir/formats/python/program_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::python {
namespace {

// What the class of a module has under that name.
bool IsMember(std::string_view name) {
  return IsModuleMember(name) || name == "load" || name == "example_inputs";
}

}  // namespace

bool IsListNumber(std::string_view text) {
  return !text.empty() && text.size() < 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
         (text == "0" || text[0] != '0');
}

class Arranger {
 public:
  explicit Arranger(Program& program) : p_(program) {}

  absl::Status Run() {
    p_.root_ = p_.AddModule(nullptr, "");
    p_.root_->has_forward = true;
    for (auto& step : p_.steps_) Place(*step);
    for (Weight& weight : p_.weights_) PlaceWeight(weight);
    for (auto& step : p_.steps_) {
      ForValues(*step, [&](const Value* value) { users_[value].push_back(step.get()); });
    }
    outputs_.insert(p_.outputs().begin(), p_.outputs().end());
    MarkForwards(*p_.root_);
    FindDepths();
    MarkSequentials();
    NameChildren(*p_.root_);
    if (!p_.knows_modules_) {
      for (const Weight& weight : p_.weights_) {
        if (!p_.KeepsPath(weight)) continue;
        for (const Module* m = weight.home; m; m = m->parent) kept_.insert(m);
      }
      TakeForwardsOfConstants();
    }
    Order(*p_.root_);
    if (!p_.knows_modules_) {
      Dissolve(*p_.root_);
      FindDepths();
      NameChildren(*p_.root_);
    }
    FindPorts();
    for (Weight& weight : p_.weights_) NameKey(weight);
    return absl::OkStatus();
  }

 private:
  Module* Child(Module* parent, const std::string& segment) {
    const auto [it, fresh] = children_.try_emplace({parent, segment}, nullptr);
    if (fresh) it->second = p_.AddModule(parent, segment);
    return it->second;
  }
  Module* At(const Path& path, size_t count) {
    Module* module = p_.root_;
    for (size_t i = 0; i < count; ++i) module = Child(module, path[i]);
    return module;
  }

  void Place(Step& step) {
    step.module = At(step.scope, step.scope.size());
    if (!step.layer) return;
    const Path& path = step.layer->first ? step.layer->first->layer->path : step.layer->path;
    step.layer_module = At(path, path.size());
    if (!step.layer->first) step.layer_module->layer = &step;
  }
  void PlaceWeight(Weight& weight) {
    weight.home = At(weight.path, weight.path.size() - 1);
    if (!weight.home->layer) weight.home->weights.push_back(&weight);
  }

  // Modules that hold weights, and have calls in them, may have a forward. The calls of the others
  // are in the module around them.
  bool MarkForwards(Module& module) {
    bool holds = !module.weights.empty() || module.layer;
    for (Module* child : module.children) holds = MarkForwards(*child) || holds;
    if (&module != p_.root_) module.has_forward = holds && !module.layer;
    return holds;
  }

  void NameChildren(Module& module) {
    // Children that hold nothing are no modules of the code.
    if (!module.is_sequential) {
      std::erase_if(module.children, [&](Module* child) { return !Holds(*child); });
    }
    module.is_list = IsList(module);
    if (module.is_list && !module.is_sequential) module.has_forward = false;
    Names names;
    for (Weight* weight : module.weights) {
      std::string name = Identifier(weight->path.back(), "weight");
      if (IsMember(name)) name += '_';
      weight->attribute = names.Unique(name);
    }
    for (Module* child : module.children) {
      if (module.is_list) {
        child->attribute = child->segment;
      } else {
        std::string name = Identifier(child->segment, "block");
        if (IsMember(name)) name += '_';
        child->attribute = names.Unique(name);
      }
    }
    if (module.is_list) {
      std::sort(module.children.begin(), module.children.end(),
                [](const Module* a, const Module* b) {
                  return std::pair(a->segment.size(), a->segment) <
                         std::pair(b->segment.size(), b->segment);
                });
    }
    for (Module* child : module.children) NameChildren(*child);
  }

  bool IsList(const Module& module) const {
    if (module.children.empty() || !module.weights.empty() || module.layer || &module == p_.root_) {
      return false;
    }
    // A list with few entries does not count.
    const size_t most = 2 * module.children.size() + 8;
    return std::all_of(module.children.begin(), module.children.end(), [&](const Module* child) {
      return IsListNumber(child->segment) && std::stoul(child->segment) < most;
    });
  }

  // --- Chains ---------------------------------------------------------------------------------

  // A list each of whose children takes what the one before it gives, and nothing else.
  void MarkSequentials() {
    absl::flat_hash_map<Module*, std::vector<Step*>> steps_of;
    for (auto& step : p_.steps_) {
      for (Module* m = step->module; m; m = m->parent) {
        if (m->has_forward && IsList(*m)) steps_of[m].push_back(step.get());
      }
    }
    for (Module& module : p_.modules_) {
      const auto it = steps_of.find(&module);
      if (it == steps_of.end() || !IsChain(module, it->second)) continue;
      absl::flat_hash_map<Module*, std::vector<Step*>> of_child;
      for (Step* step : it->second) of_child[ChildWith(module, *step)].push_back(step);
      const bool fits = std::all_of(of_child.begin(), of_child.end(), [&](const auto& entry) {
        return !entry.first->layer || entry.second.size() == 1 || CanOpen(*entry.first->layer);
      });
      if (!fits) continue;
      module.is_sequential = true;
      // What has no weights is a module all the same.
      for (auto& [child, steps] : of_child) {
        if (child->layer && steps.size() > 1) Open(*child);
        if (child->layer || child->has_forward) continue;
        if (steps.size() == 1 && (steps[0]->layer = FindActivation(steps[0]->call))) {
          child->layer = steps[0];
          steps[0]->layer_module = child;
          steps[0]->module = &module;
        } else {
          child->has_forward = true;
        }
      }
    }
  }

  // Whether the call that a layer is takes the layer's weights as they are.
  bool CanOpen(const Step& step) const {
    return std::all_of(
        step.layer->weights.begin(), step.layer->weights.end(), [&](const auto& weight) {
          return std::any_of(
              step.call.arguments.begin(), step.call.arguments.end(), [&](const Argument& a) {
                return std::any_of(a.items.begin(), a.items.end(), [&](const Item& item) {
                  const Operand* operand = std::get_if<Operand>(&item);
                  return operand && p_.WeightOf(operand->value) == weight.second;
                });
              });
        });
  }

  // A layer that has more to do than a layer does becomes a module with the layer's weights.
  static void Open(Module& module) {
    Step& step = *module.layer;
    for (const auto& [leaf, weight] : step.layer->weights) module.weights.push_back(weight);
    step.layer = nullptr;
    SpellOut(step.call);
    step.module = &module;
    module.layer = nullptr;
    module.has_forward = true;
  }

  static Module* ChildWith(Module& list, const Step& step) {
    if (step.layer && step.module == &list) return step.layer_module;
    Module* child = nullptr;
    for (Module* m = step.module; m != &list; m = m->parent) child = m;
    return child;
  }

  bool IsChain(Module& list, const std::vector<Step*>& steps) {
    absl::flat_hash_map<const Step*, Module*> child_of;
    std::vector<Module*> order;
    for (Step* step : steps) {
      // A module that is called twice is not part of a chain.
      if (step->layer && (step->layer->first || step->layer->shared)) return false;
      Module* child = ChildWith(list, *step);
      if (!child) return false;
      child_of[step] = child;
      if (order.empty() || order.back() != child) order.push_back(child);
    }
    int64_t last = -1;
    for (const Module* child : order) {
      const int64_t number = std::stoll(child->segment);
      if (number <= last) return false;
      last = number;
    }
    // A list with few entries does not count.
    if (last > 2 * static_cast<int64_t>(order.size()) + 2 || order.empty()) return false;
    absl::flat_hash_map<const Module*, const Value*> in, out;
    for (Step* step : steps) {
      Module* child = child_of[step];
      bool chain = true;
      ForValues(*step, [&](const Value* value) {
        const Step* producer = p_.ProducerOf(value);
        const auto from = producer ? child_of.find(producer) : child_of.end();
        if (from != child_of.end() && from->second == child) return;
        if (const Weight* weight = p_.WeightOf(value); weight && !producer) {
          chain = chain && IsIn(weight->home, child);
        } else {
          chain = chain && in.try_emplace(child, value).first->second == value;
        }
      });
      ForSizes(*step, [&](const std::string&) { chain = false; });
      for (const Value* result : step->results) {
        if (result && IsUsedOutside(result, child, child_of)) {
          chain = chain && out.try_emplace(child, result).first->second == result;
        }
      }
      if (!chain) return false;
    }
    for (size_t i = 0; i < order.size(); ++i) {
      if (!in.contains(order[i]) || !out.contains(order[i])) return false;
      if (i > 0 && in[order[i]] != out[order[i - 1]]) return false;
      // A value that goes to the next part has no other user.
      if (i + 1 == order.size()) continue;
      const Value* value = out[order[i]];
      if (outputs_.contains(value)) return false;
      for (const Step* user : users_[value]) {
        const auto it = child_of.find(user);
        if (it == child_of.end() || (it->second != order[i] && it->second != order[i + 1])) {
          return false;
        }
      }
    }
    return true;
  }

  bool IsUsedOutside(const Value* value, const Module* child,
                     const absl::flat_hash_map<const Step*, Module*>& child_of) {
    const auto it = users_.find(value);
    if (outputs_.contains(value)) return true;
    return it != users_.end() &&
           std::any_of(it->second.begin(), it->second.end(), [&](const Step* user) {
             const auto at = child_of.find(user);
             return at == child_of.end() || at->second != child;
           });
  }

  static bool Holds(const Module& module) {
    if (module.layer || !module.weights.empty()) return true;
    return std::any_of(module.children.begin(), module.children.end(),
                       [](const Module* child) { return Holds(*child); });
  }

  void NameKey(Weight& weight) {
    if (weight.attribute.empty()) weight.attribute = weight.path.back();
    std::vector<std::string_view> parts = {weight.attribute};
    for (const Module* m = weight.home; m->parent; m = m->parent) parts.push_back(m->attribute);
    for (size_t i = parts.size(); i-- > 0;) StrAppend(&weight.key, parts[i], i == 0 ? "" : ".");
  }

  // --- Order ----------------------------------------------------------------------------------

  // The module that has a forward, and has this step in it.
  static Module* Forward(Module* module) {
    while (!module->has_forward) module = module->parent;
    return module;
  }
  // The part of `around` that a module in it belongs to: a module right below with a forward, or
  // `around` itself.
  static Module* Part(Module* around, Module* inner) {
    Module* part = around;
    for (Module* m = inner; m != around; m = m->parent) {
      if (m->has_forward) part = m;
    }
    return part;
  }

  // Items of a module in an order in which each has what it needs. Parts that cannot be called at
  // once have no forward any more.
  void Order(Module& root) {
    std::vector<Step*> all;
    for (auto& step : p_.steps_) all.push_back(step.get());
    std::vector<std::pair<Module*, std::vector<Step*>>> work = {{&root, std::move(all)}};
    while (!work.empty()) {
      auto [module, steps] = std::move(work.back());
      work.pop_back();
      while (!TryOrder(*module, steps)) {
      }
      absl::flat_hash_map<Module*, std::vector<Step*>> inner;
      for (Step* step : steps) {
        Module* part = Part(module, step->module);
        if (part != module) inner[part].push_back(step);
      }
      for (const Module::Item& item : module->items) {
        if (item.module) work.emplace_back(item.module, std::move(inner[item.module]));
      }
    }
  }

  bool TryOrder(Module& module, const std::vector<Step*>& steps) {
    struct Group {
      Module::Item item;
      size_t first = 0;
      std::vector<size_t> after;  // groups that need this one
      size_t waits_for = 0;
    };
    std::vector<Group> groups;
    absl::flat_hash_map<const Step*, size_t> group_of;
    absl::flat_hash_map<const Module*, size_t> group_of_part;
    for (Step* step : steps) {
      Module* part = Part(&module, step->module);
      size_t group = groups.size();
      if (part != &module) group = group_of_part.try_emplace(part, group).first->second;
      if (group == groups.size()) {
        groups.push_back(
            {part == &module ? Module::Item{step, nullptr} : Module::Item{nullptr, part},
             step->index,
             {},
             0});
      }
      group_of[step] = group;
    }
    absl::flat_hash_map<std::pair<size_t, size_t>, bool> seen;
    for (Step* step : steps) {
      const size_t to = group_of[step];
      ForNeeded(*step, [&](const Step* before) {
        const auto it = group_of.find(before);
        if (it == group_of.end() || it->second == to) return;
        if (!seen.try_emplace({it->second, to}, true).second) return;
        groups[it->second].after.push_back(to);
        ++groups[to].waits_for;
      });
    }
    using Entry = std::pair<size_t, size_t>;  // its old index, which group
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].waits_for == 0) ready.emplace(groups[i].first, i);
    }
    std::vector<Module::Item> items;
    while (!ready.empty()) {
      const size_t i = ready.top().second;
      ready.pop();
      items.push_back(groups[i].item);
      for (const size_t next : groups[i].after) {
        if (--groups[next].waits_for == 0) ready.emplace(groups[next].first, next);
      }
    }
    if (items.size() == groups.size()) {
      module.items = std::move(items);
      return true;
    }
    // Parts in cycles, or after cycles: of the first of them.
    Break(groups);
    return false;
  }

  // Takes the forward from parts that wait for themselves.
  template <typename Groups>
  void Break(Groups& groups) {
    // Backwards too: a part that no waiting part needs is not in a cycle.
    std::vector<size_t> needed_by(groups.size(), 0);
    std::vector<std::vector<size_t>> before(groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].waits_for == 0) continue;
      for (const size_t next : groups[i].after) {
        ++needed_by[i];
        before[next].push_back(i);
      }
    }
    std::vector<size_t> ends;
    std::vector<bool> out(groups.size(), false);
    for (size_t i = 0; i < groups.size(); ++i) {
      out[i] = groups[i].waits_for == 0;
      if (!out[i] && needed_by[i] == 0) ends.push_back(i);
    }
    while (!ends.empty()) {
      const size_t i = ends.back();
      ends.pop_back();
      out[i] = true;
      for (const size_t b : before[i]) {
        if (--needed_by[b] == 0) ends.push_back(b);
      }
    }
    for (size_t i = 0; i < groups.size(); ++i) {
      if (!out[i] && groups[i].item.module) groups[i].item.module->has_forward = false;
    }
  }

  template <typename Fn>
  void ForValues(const Step& step, const Fn& fn) const {
    const auto visit = [&](const Item& item) {
      if (const Operand* operand = std::get_if<Operand>(&item)) fn(operand->value);
    };
    if (step.layer) {
      for (const Item& item : step.layer->inputs) visit(item);
    } else {
      for (const Argument& argument : step.call.arguments) {
        for (const Item& item : argument.items) visit(item);
      }
    }
  }
  template <typename Fn>
  void ForSizes(const Step& step, const Fn& fn) const {
    if (step.layer) return;
    for (const Argument& argument : step.call.arguments) {
      for (const Item& item : argument.items) {
        const Dim* dim = std::get_if<Dim>(&item);
        if (!dim) continue;
        for (const std::string& name : dim->SymbolNames()) fn(name);
      }
    }
  }
  template <typename Fn>
  void ForNeeded(const Step& step, const Fn& fn) const {
    ForValues(step, [&](const Value* value) {
      if (const Step* before = p_.ProducerOf(value)) fn(before);
    });
    ForSizes(step, [&](const std::string& name) {
      const auto source = p_.FindSize(name);
      if (!source) return;
      if (const Step* before = p_.ProducerOf(source->value)) fn(before);
    });
  }

  // A module that is given nothing has no forward: what it would compute are constants.
  void TakeForwardsOfConstants() {
    absl::flat_hash_set<const Module*> given;
    for (const auto& step : p_.steps_) {
      ForValues(*step, [&](const Value* value) {
        const Step* producer = p_.ProducerOf(value);
        if (!producer && p_.WeightOf(value)) return;
        const Module* home = producer ? producer->module : p_.root_;
        for (const Module* m = step->module; !IsIn(home, m); m = m->parent) given.insert(m);
      });
    }
    for (const auto& step : p_.steps_) {
      for (Module* m = step->module; m->parent; m = m->parent) {
        if (!given.contains(m) && !kept_.contains(m) && !m->is_sequential) m->has_forward = false;
      }
    }
  }

  // What is in a module that has no forward, and no name that is to stay, is its parent's.
  void Dissolve(Module& module) {
    std::vector<Module*> children;
    for (Module* child : module.children) {
      Dissolve(*child);
      const bool called = child->has_forward && !child->items.empty();
      if (child->layer || called || child->is_list || child->is_sequential || module.is_list ||
          kept_.contains(child)) {
        children.push_back(child);
        continue;
      }
      for (Weight* weight : child->weights) {
        weight->path.back() = StrCat(child->segment, "_", weight->path.back());
        weight->home = &module;
        module.weights.push_back(weight);
      }
      for (Module* inner : child->children) {
        inner->parent = &module;
        children.push_back(inner);
      }
      child->weights.clear();
      child->children.clear();
    }
    module.children = std::move(children);
  }

  // --- Inputs and outputs ---------------------------------------------------------------

  void FindDepths() {
    for (Module& module : p_.modules_) {
      module.depth = module.parent ? module.parent->depth + 1 : 0;
    }
  }

  void FindPorts() {
    for (const Value* input : p_.graph().inputs()) {
      ports_.try_emplace({p_.root_, input, false}, true);
      p_.root_->inputs.push_back(input);
    }
    VisitInOrder(*p_.root_, [&](Step& step) {
      ForValues(step, [&](const Value* value) { AddUse(value, Forward(step.module)); });
    });
    VisitInOrder(*p_.root_, [&](Step& step) {
      ForSizes(step, [&](const std::string& name) { AddSize(step, name); });
    });
    for (const Value* output : p_.outputs()) AddUse(output, p_.root_);
    for (Module& module : p_.modules_) {
      std::sort(module.outputs.begin(), module.outputs.end(), [&](const Value* a, const Value* b) {
        return std::pair(p_.ProducerOf(a)->index, a->output_index()) <
               std::pair(p_.ProducerOf(b)->index, b->output_index());
      });
    }
  }

  template <typename Fn>
  void VisitInOrder(Module& module, const Fn& fn) {
    for (const Module::Item& item : module.items) {
      if (item.step) fn(*item.step);
      if (item.module) VisitInOrder(*item.module, fn);
    }
  }

  // Where a value is there without being handed in.
  Module* HomeOf(const Value* value) {
    if (const Step* step = p_.ProducerOf(value)) return Forward(step->module);
    if (const Weight* weight = p_.WeightOf(value)) return weight->home;
    return p_.root_;
  }
  static bool IsIn(const Module* inner, const Module* outer) {
    while (inner->depth > outer->depth) inner = inner->parent;
    return inner == outer;
  }

  void AddUse(const Value* value, Module* user) {
    Module* home = HomeOf(value);
    if (Weight* weight = p_.WeightOf(value); weight && home != user) weight->used_outside = true;
    for (Module* m = user; !IsIn(home, m); m = m->parent) {
      if (m->has_forward && ports_.try_emplace({m, value, false}, true).second) {
        m->inputs.push_back(value);
      }
    }
    if (!p_.ProducerOf(value)) return;
    for (Module* m = home; m && !IsIn(user, m); m = m->parent) {
      if (!m->has_forward) continue;
      if (ports_.try_emplace({m, value, true}, true).second) m->outputs.push_back(value);
    }
  }

  // A size is taken from a value that is there, else its source is handed in.
  void AddSize(Step& step, const std::string& name) {
    Module* user = Forward(step.module);
    const Dim dim = Dim::Symbol(name);
    const auto has = [&](const Value* value) {
      const Shape* shape = value->shape();
      return shape && std::find(shape->begin(), shape->end(), dim) != shape->end();
    };
    if (std::any_of(user->inputs.begin(), user->inputs.end(), has)) return;
    bool own = false;
    ForValues(step, [&](const Value* value) { own = own || has(value); });
    if (own) return;
    if (const auto source = p_.FindSize(name)) AddUse(source->value, user);
  }

  Program& p_;
  absl::flat_hash_map<std::pair<Module*, std::string>, Module*> children_;
  absl::flat_hash_map<std::tuple<Module*, const Value*, bool>, bool> ports_;
  absl::flat_hash_map<const Value*, std::vector<const Step*>> users_;
  absl::flat_hash_set<const Value*> outputs_;
  absl::flat_hash_set<const Module*> kept_;  // weights that keep their names are in them
};

absl::Status Program::Arrange() { return Arranger(*this).Run(); }

Module* Program::AddModule(Module* parent, std::string segment) {
  modules_.emplace_back();
  Module& module = modules_.back();
  module.parent = parent;
  module.segment = std::move(segment);
  if (parent) parent->children.push_back(&module);
  return &module;
}

}  // namespace x2ir::python
