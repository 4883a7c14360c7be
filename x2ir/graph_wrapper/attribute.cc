// Attribute equality and AttributeMap.
#include "x2ir/graph_wrapper/attribute.h"

#include <cstring>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

template <typename T>
bool SameBits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

bool Same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

}  // namespace

std::string_view Name(AttrKind kind) {
  static constexpr std::string_view kNames[] = {"int",     "float",  "double", "string", "tensor",
                                                "graph",   "type",   "ints",   "floats", "strings",
                                                "tensors", "graphs", "types",  "ref"};
  return kNames[static_cast<size_t>(kind)];
}

Attribute::Attribute(const Attribute&) = default;
Attribute::Attribute(Attribute&&) noexcept = default;
Attribute& Attribute::operator=(const Attribute&) = default;
Attribute& Attribute::operator=(Attribute&&) noexcept = default;
Attribute::~Attribute() = default;

AttributeMap::AttributeMap(std::initializer_list<Entry> entries) : entries_(entries) {}
AttributeMap::AttributeMap(const AttributeMap&) = default;
AttributeMap::AttributeMap(AttributeMap&&) noexcept = default;
AttributeMap& AttributeMap::operator=(const AttributeMap&) = default;
AttributeMap& AttributeMap::operator=(AttributeMap&&) noexcept = default;
AttributeMap::~AttributeMap() = default;

std::string Attribute::ToString() const { return AttributeText(*this); }

bool operator==(const Attribute& a, const Attribute& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case AttrKind::kFloat: return SameBits(*a.get<float>(), *b.get<float>());
    case AttrKind::kDouble: return SameBits(*a.get<double>(), *b.get<double>());
    case AttrKind::kFloats: return Same(*a.get<Attribute::Floats>(), *b.get<Attribute::Floats>());
    default: return a.v_ == b.v_;
  }
}

const Attribute* AttributeMap::Find(Symbol name) const {
  for (const Entry& entry : entries_) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

Attribute* AttributeMap::Find(Symbol name) {
  return const_cast<Attribute*>(static_cast<const AttributeMap*>(this)->Find(name));
}

void AttributeMap::Set(Symbol name, Attribute value) {
  if (Attribute* found = Find(name)) {
    *found = std::move(value);
  } else {
    entries_.emplace_back(name, std::move(value));
  }
}

bool AttributeMap::Erase(Symbol name) { return Take(name).has_value(); }

std::optional<Attribute> AttributeMap::Take(Symbol name) {
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    if (it->first != name) continue;
    std::optional<Attribute> value = std::move(it->second);
    entries_.erase(it);
    return value;
  }
  return std::nullopt;
}

namespace {
template <typename T>
const T& Need(Symbol name, const Attribute* attr) {
  if (!attr) throw NoSuchAttribute(StrCat("attribute '", name.str(), "' is missing"));
  if (const T* value = attr->get<T>()) return *value;
  throw NoSuchAttribute(StrCat("attribute '", name.str(), "': expected ",
                               Name(Attribute(T()).kind()), ", got ", Name(attr->kind())));
}
}  // namespace

int64_t AttributeMap::Int(Symbol name) const {
  const Attribute* a = Find(name);
  return Need<int64_t>(name, a);
}

int64_t AttributeMap::Int(Symbol name, int64_t fallback) const {
  const Attribute* a = Find(name);
  return a && a->get<int64_t>() ? *a->get<int64_t>() : fallback;
}

double AttributeMap::Float(Symbol name) const {
  const Attribute* a = Find(name);
  if (a && a->get<double>()) return *a->get<double>();
  return Need<float>(name, a);
}

double AttributeMap::Float(Symbol name, double fallback) const {
  const Attribute* a = Find(name);
  if (a && a->get<double>()) return *a->get<double>();
  return a && a->get<float>() ? *a->get<float>() : fallback;
}

const std::string& AttributeMap::String(Symbol name) const {
  const Attribute* a = Find(name);
  return Need<std::string>(name, a);
}

std::string AttributeMap::String(Symbol name, std::string_view fallback) const {
  const Attribute* a = Find(name);
  return a && a->get<std::string>() ? *a->get<std::string>() : std::string(fallback);
}

const std::vector<int64_t>& AttributeMap::Ints(Symbol name) const {
  const Attribute* a = Find(name);
  return Need<Attribute::Ints>(name, a);
}

std::vector<int64_t> AttributeMap::Ints(Symbol name, std::vector<int64_t> fallback) const {
  const Attribute* a = Find(name);
  return a && a->get<Attribute::Ints>() ? *a->get<Attribute::Ints>() : std::move(fallback);
}

const Graph& AttributeMap::SubGraph(Symbol name) const {
  const Attribute* a = Find(name);
  const Attribute::GraphPtr& graph = Need<Attribute::GraphPtr>(name, a);
  if (!graph) throw NoSuchAttribute(StrCat("attribute '", name.str(), "' has no graph"));
  return *graph;
}

}  // namespace x2ir
