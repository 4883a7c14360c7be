// Modules that only wrap another one are left out.
//
// Names of TensorFlow's and TFLite's nodes have a part for each scope, and for each operator in it:
// "model_1/model/dense/BiasAdd/ReadVariableOp". Taken for modules, most of them hold one layer or
// one module and nothing else. The layer, or the module, takes the place and the name of the
// outermost of them:
//
//   dense.BiasAdd.ReadVariableOp: nn.Linear    ->  dense: nn.Linear
//   activation.conv: nn.Conv2d, and a relu     ->  activation: nn.Conv2d, relu outside
//   scale.value: nn.Parameter, and a product   ->  scale: nn.Parameter, product outside
//   model_1.model: all there is                ->  the model itself
//
// Where the source says its modules, as PyTorch's does, or where a weight has the path that its
// source calls it by, "encoder.fc.weight", all stays as it is.
#include <algorithm>
#include <deque>

#include "x2ir/formats/python/program_internal.h"

namespace x2ir::python {
namespace {

// Calls that may be beside a layer or a weight which replaces its module. Orders of axes do not
// count: a layer in another layout is a layer.
constexpr int kMaxBeside = 1;

struct Calls {
  int all = 0, but_orders = 0;
  Calls& operator+=(const Calls& other) {
    all += other.all;
    but_orders += other.but_orders;
    return *this;
  }
};

struct Place {
  Place* parent = nullptr;
  std::string segment;
  std::vector<Place*> children;
  Calls calls;  // right in it, but those of layers
  bool layer = false;
  StringSet weights;            // their names, but of a layer's
  bool pinned = false;          // the source calls a weight so
  bool holds = false;           // layers or weights, at some depth
  bool dropped = false;         // its content is in its parent
  bool becomes_layer = false;   // that was inside
  bool becomes_weight = false;  // that was inside
};

class Places {
 public:
  Places() : root_(Add(nullptr, "")) {}

  Place* At(const Path& path, size_t count) {
    Place* place = root_;
    for (size_t i = 0; i < count; ++i) {
      auto [it, fresh] = children_.try_emplace({place, path[i]}, nullptr);
      if (fresh) it->second = Add(place, path[i]);
      place = it->second;
    }
    return place;
  }
  Place* At(const Path& path) { return At(path, path.size()); }

  void Flatten() {
    // Places are made after those around them.
    for (Place& place : places_) {
      place.holds = place.layer || !place.weights.empty();
    }
    for (size_t i = places_.size(); i-- > 0;) {
      Place& place = places_[i];
      for (const Place* child : place.children) place.holds = place.holds || child->holds;
      FlattenOne(place);
    }
  }

  // The path that a place has now.
  Path PathOf(const Place* place) const {
    Path path;
    for (; place->parent; place = place->parent) {
      if (!place->dropped) path.push_back(place->segment);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }
  // The module of a call at a place: calls beside a layer are now in the module around it.
  Path ScopeOf(const Place* place) const {
    const Place* around = place;
    for (const Place* p = place; p; p = p->parent) {
      if (p->becomes_layer && !p->dropped) around = p->parent;
    }
    return PathOf(around);
  }

 private:
  Place* Add(Place* parent, std::string segment) {
    places_.emplace_back();
    Place& place = places_.back();
    place.parent = parent;
    place.segment = std::move(segment);
    if (parent) parent->children.push_back(&place);
    return &place;
  }

  void FlattenOne(Place& place) {
    if (place.layer) return;
    if (!place.weights.empty()) return FlattenWeight(place);
    Place* inner = nullptr;
    for (Place* child : place.children) {
      if (!child->holds) continue;
      if (inner) return;
      inner = child;
    }
    if (!inner || inner->pinned) return;
    if (inner->layer) {
      const bool numbered = IsListNumber(place.segment) || IsListNumber(inner->segment);
      const Calls beside = CallsIn(place);
      if (!place.parent || (numbered ? beside.all > 0 : beside.but_orders > kMaxBeside)) return;
      place.layer = place.becomes_layer = true;
      inner->layer = false;
    } else {
      if (IsListNumber(inner->segment) || HaveSameNames(place, *inner)) return;
      if (IsList(*inner)) return;
      place.weights = inner->weights;
    }
    inner->dropped = true;
    std::erase(place.children, inner);
    place.calls += inner->calls;
    for (Place* child : inner->children) place.children.push_back(child);
  }

  static bool IsList(const Place& place) {
    return std::any_of(place.children.begin(), place.children.end(),
                       [](const Place* child) { return IsListNumber(child->segment); });
  }
  // A single weight with a call belongs to the parent of its module, and has the module's name.
  void FlattenWeight(Place& place) {
    if (place.weights.size() > 1 || place.pinned || !place.parent || IsListNumber(place.segment) ||
        CallsIn(place).but_orders > kMaxBeside || place.parent->layer ||
        std::any_of(place.children.begin(), place.children.end(),
                    [](const Place* child) { return child->holds; }) ||
        !place.parent->weights.insert(place.segment).second) {
      return;
    }
    place.weights.clear();
    place.holds = false;
    place.becomes_weight = true;
  }

  // Calls that are not layers, of all that is in it.
  static Calls CallsIn(const Place& place) {
    Calls calls = place.calls;
    for (const Place* child : place.children) calls += CallsIn(*child);
    return calls;
  }
  static bool HaveSameNames(const Place& a, const Place& b) {
    StringSet names;
    for (const Place* child : b.children) names.insert(child->segment);
    return std::any_of(a.children.begin(), a.children.end(), [&](const Place* child) {
      return child != &b && names.contains(child->segment);
    });
  }

  std::deque<Place> places_;
  absl::flat_hash_map<std::pair<Place*, std::string>, Place*> children_;
  Place* root_;
};

}  // namespace

bool Program::KeepsPath(const Weight& weight) const {
  if (knows_modules_) return true;
  if (!weight.source) return false;
  const std::string& name = weight.source->name();
  return name.find('/') == name.npos && weight.path == SplitName(name);
}

void Program::Flatten() {
  if (knows_modules_) return;
  Places places;
  const auto is_layer = [](const Step& step) { return step.layer && !step.layer->first; };
  for (const auto& step : steps_) {
    Place* scope = places.At(step->scope);
    if (is_layer(*step)) {
      places.At(step->layer->path)->layer = true;
    } else {
      scope->calls += {1, step->call.op == "aten::permute.default" ? 0 : 1};
    }
  }
  for (const Weight& weight : weights_) {
    Place* home = places.At(weight.path, weight.path.size() - 1);
    if (!home->layer) home->weights.insert(weight.path.back());
    if (!KeepsPath(weight)) continue;
    for (; home; home = home->parent) home->pinned = true;
  }
  places.Flatten();
  for (auto& step : steps_) {
    if (!is_layer(*step)) {
      step->scope = places.ScopeOf(places.At(step->scope));
      continue;
    }
    step->scope = step->layer->path = places.PathOf(places.At(step->layer->path));
    step->scope.pop_back();
  }
  for (Weight& weight : weights_) {
    const Place* home = places.At(weight.path, weight.path.size() - 1);
    std::string leaf = std::move(weight.path.back());
    for (; home->becomes_weight; home = home->parent) leaf = home->segment;
    weight.path = places.PathOf(home);
    weight.path.push_back(std::move(leaf));
  }
}

}  // namespace x2ir::python
