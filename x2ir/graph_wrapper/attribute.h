// Attribute: a named constant of a node. The kinds are ONNX's, and double, for
// frameworks whose scalars are doubles.
#ifndef X2IR_GRAPH_WRAPPER_ATTRIBUTE_H_
#define X2IR_GRAPH_WRAPPER_ATTRIBUTE_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "x2ir/graph_wrapper/symbol.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {

class Graph;

enum class AttrKind : uint8_t {
  kInt,
  kFloat,
  kDouble,
  kString,
  kTensor,
  kGraph,
  kType,
  kInts,
  kFloats,
  kStrings,
  kTensors,
  kGraphs,
  kTypes,
  kRef,  // inside a function body: the caller's attribute of that name
};
std::string_view Name(AttrKind kind);  // "int", "floats", ...

// A reference to an attribute of the enclosing function (ONNX ref_attr_name).
struct AttrRef {
  std::string name;
  AttrKind kind;
  friend bool operator==(const AttrRef&, const AttrRef&) = default;
};

class Attribute {
 public:
  using Ints = std::vector<int64_t>;
  using Floats = std::vector<float>;
  using Strings = std::vector<std::string>;
  // Graphs are shared only while being moved about; a node's graph belongs to that node
  // alone (Graph::Clone copies deeply). The alternatives are in the order of AttrKind.
  using GraphPtr = std::shared_ptr<Graph>;
  using Variant =
      std::variant<int64_t, float, double, std::string, Tensor, GraphPtr, Type, Ints, Floats,
                   Strings, std::vector<Tensor>, std::vector<GraphPtr>, std::vector<Type>, AttrRef>;

  Attribute() : v_(int64_t{0}) {}
  Attribute(int64_t v) : v_(v) {}                               // NOLINT: implicit by design
  Attribute(int v) : v_(int64_t{v}) {}                          // NOLINT
  Attribute(bool v) : v_(int64_t{v}) {}                         // NOLINT
  Attribute(float v) : v_(v) {}                                 // NOLINT
  Attribute(double v) : v_(v) {}                                // NOLINT
  Attribute(std::string v) : v_(std::move(v)) {}                // NOLINT
  Attribute(std::string_view v) : v_(std::string(v)) {}         // NOLINT
  Attribute(const char* v) : v_(std::string(v)) {}              // NOLINT
  Attribute(Tensor v) : v_(std::move(v)) {}                     // NOLINT
  Attribute(GraphPtr v) : v_(std::move(v)) {}                   // NOLINT
  Attribute(Type v) : v_(std::move(v)) {}                       // NOLINT
  Attribute(Ints v) : v_(std::move(v)) {}                       // NOLINT
  Attribute(std::initializer_list<int64_t> v) : v_(Ints(v)) {}  // NOLINT
  Attribute(Floats v) : v_(std::move(v)) {}                     // NOLINT
  Attribute(Strings v) : v_(std::move(v)) {}                    // NOLINT
  Attribute(std::vector<Tensor> v) : v_(std::move(v)) {}        // NOLINT
  Attribute(std::vector<GraphPtr> v) : v_(std::move(v)) {}      // NOLINT
  Attribute(std::vector<Type> v) : v_(std::move(v)) {}          // NOLINT
  Attribute(AttrRef v) : v_(std::move(v)) {}                    // NOLINT
  // Not inline: every place that makes a node would hold the code of all kinds.
  Attribute(const Attribute&);
  Attribute(Attribute&&) noexcept;
  Attribute& operator=(const Attribute&);
  Attribute& operator=(Attribute&&) noexcept;
  ~Attribute();

  AttrKind kind() const { return static_cast<AttrKind>(v_.index()); }
  const Variant& variant() const { return v_; }
  Variant& variant() { return v_; }

  // The value if it is of that kind, else null.
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&v_);
  }

  // As the printer shows it: 3, 0.5, "same", [1, 2], tensor(float32[2]{1, 2}), graph(...).
  std::string ToString() const;

  // Bitwise for floats (NaN equals the same NaN); tensors by content; graphs by identity.
  friend bool operator==(const Attribute& a, const Attribute& b);
  friend bool operator!=(const Attribute& a, const Attribute& b) { return !(a == b); }

 private:
  Variant v_;
};

// A handler asked for an attribute that the node does not have, or has of another kind. Conversions
// make it InvalidArgument, of that node.
class NoSuchAttribute : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A node's attributes in the order they were set. Few, so a flat list.
class AttributeMap {
 public:
  using Entry = std::pair<Symbol, Attribute>;
  AttributeMap() = default;
  AttributeMap(std::initializer_list<Entry> entries);  // these six are not inline, as above
  AttributeMap(const AttributeMap&);
  AttributeMap(AttributeMap&&) noexcept;
  AttributeMap& operator=(const AttributeMap&);
  AttributeMap& operator=(AttributeMap&&) noexcept;
  ~AttributeMap();

  const Attribute* Find(Symbol name) const;
  Attribute* Find(Symbol name);
  bool Has(Symbol name) const { return Find(name) != nullptr; }
  void Set(Symbol name, Attribute value);  // replaces in place, else appends
  bool Erase(Symbol name);                 // whether it was there
  std::optional<Attribute> Take(Symbol name);
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }

  // The value of an attribute of that kind; throws NoSuchAttribute if there is none. The second
  // form gives `fallback` when it is absent.
  int64_t Int(Symbol name) const;
  int64_t Int(Symbol name, int64_t fallback) const;
  double Float(Symbol name) const;  // of kFloat or kDouble
  double Float(Symbol name, double fallback) const;
  const std::string& String(Symbol name) const;
  std::string String(Symbol name, std::string_view fallback) const;
  const std::vector<int64_t>& Ints(Symbol name) const;
  std::vector<int64_t> Ints(Symbol name, std::vector<int64_t> fallback) const;
  const Graph& SubGraph(Symbol name) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_ATTRIBUTE_H_
