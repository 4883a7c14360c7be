// Graph, Node and Value: the data that every room works on.
//
// A Value is produced by a Node, or is a graph input, or is a constant (an initializer);
// it knows its producer and every use, also uses inside nested graphs. A Node is an op of
// a dialect: "" is the IR, "onnx", "torch", ... a framework's own. A Graph owns both.
// Nested graphs (if, loop, scan) are attributes of a node and may use outer values.
//
// Objects that a graph or a node owns are const with it: a const Graph gives const Nodes and
// Values, a const Node gives const nested graphs. Objects that it only refers to (operands, users,
// producers) are not.
//
// Every operation is O(its own size): no call scans the graph unless it says so.
// Not thread-safe; separate Models may be used from separate threads.
#ifndef X2IR_GRAPH_WRAPPER_GRAPH_H_
#define X2IR_GRAPH_WRAPPER_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/pool.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/symbol.h"
#include "x2ir/graph_wrapper/tensor.h"
#include "x2ir/graph_wrapper/type.h"

namespace X2IR_API x2ir {

class Graph;
class Node;

// Information that a model, graph, node or value carries besides its meaning; every conversion
// keeps it. `metadata` is ONNX's metadata_props. `extra` holds what only one format knows, under a
// key of that format ("onnx.wire": fields that the reader does not model, as bytes;
// "onnx.denotation"; "onnx.quant"), so that it can be written back.
struct Annotations {
  std::string doc_string;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::map<std::string, std::string> extra;
  bool empty() const { return doc_string.empty() && metadata.empty() && extra.empty(); }
  friend bool operator==(const Annotations&, const Annotations&) = default;
};

// A lazily made Annotations: most things have none.
class AnnotationsPtr {
 public:
  const Annotations* get() const { return p_.get(); }
  Annotations& GetOrMake() { return p_ ? *p_ : *(p_ = std::make_unique<Annotations>()); }
  void CopyFrom(const AnnotationsPtr& o) {
    p_ = o.p_ ? std::make_unique<Annotations>(*o.p_) : nullptr;
  }
  // Adds the entries of `o` that this does not have.
  void MergeFrom(const AnnotationsPtr& o);

 private:
  std::unique_ptr<Annotations> p_;
};

// One place where a value is an operand.
struct Use {
  Node* node;
  uint32_t index;  // node->input(index) is the value
};

class alignas(64) Value {
 public:
  const std::string& name() const { return name_; }
  const Type& type() const { return type_; }
  void set_type(Type type) { type_ = std::move(type); }
  // Shorthands over type(); undefined / null where not a tensor of known rank.
  DType dtype() const { return type_.dtype(); }
  const Shape* shape() const { return type_.shape(); }

  Node* producer() const { return producer_; }  // null for inputs and constants
  uint32_t output_index() const { return index_; }
  Graph* graph() const { return graph_; }
  bool is_input() const { return is_input_; }
  // A constant tensor; for an input that is also an initializer, its default value.
  const Tensor* constant() const { return producer_ ? nullptr : constant_.get(); }
  // Constant in every run: has a tensor and is not an input that the caller may override.
  const Tensor* fixed_constant() const { return is_input_ ? nullptr : constant(); }

  absl::Span<const Use> uses() const { return uses_; }
  // How often it is an output of its graph.
  uint32_t graph_output_count() const { return graph_output_count_; }
  bool is_graph_output() const { return graph_output_count_ != 0; }
  bool is_unused() const { return uses_.empty() && graph_output_count_ == 0; }

  // Known elements of an integer tensor of rank 0 or 1 that is not a constant: the result of
  // shape arithmetic. Set by inference, null when not known, never serialized.
  const std::vector<Dim>* elements() const {
    return IsFloating(type_.dtype()) ? nullptr : elements_.get();
  }
  void set_elements(std::vector<Dim> e) {
    elements_ = std::make_unique<std::vector<Dim>>(std::move(e));
  }
  void clear_elements() { elements_.reset(); }

  AnnotationsPtr& annotations() { return annotations_; }
  const AnnotationsPtr& annotations() const { return annotations_; }

  // Whether an older value of the graph has the same name; Find returns the older one.
  bool shares_name() const { return shares_name_; }

 private:
  friend class Graph;
  friend class Node;
  friend class Pool<Value>;
  Value() = default;
  // The members that passes read most often are in the first of two cache lines (lookahead.h).
  Node* producer_ = nullptr;
  absl::InlinedVector<Use, 1> uses_;
  Type type_;
  uint32_t index_ = 0;  // output index, or position among constants
  uint32_t graph_output_count_ : 29 = 0;
  uint32_t is_input_ : 1 = 0;
  uint32_t shares_name_ : 1 = 0;  // another value of the graph had the name before
  uint32_t is_gone_ : 1 = 0;      // and waits for its name to be dropped

  std::unique_ptr<Tensor> constant_;
  std::unique_ptr<std::vector<Dim>> elements_;
  Graph* graph_ = nullptr;
  std::string name_;
  AnnotationsPtr annotations_;
};

inline constexpr std::string_view kIrDialect = "";

class Node {
 public:
  Symbol dialect() const { return dialect_; }  // "" (IR), "onnx", "torch", "tf", ...
  // Op type; for a foreign domain with it in front: "com.acme::Foo".
  Symbol op() const { return op_; }
  bool is_ir() const { return is_ir_; }
  bool Is(Symbol ir_op) const { return is_ir() && op_ == ir_op; }
  void set_op(Symbol dialect, Symbol op) {
    dialect_ = dialect;
    op_ = op;
    is_ir_ = dialect.empty();
  }
  const std::string& name() const { return name_; }  // may be empty; need not be unique
  void set_name(std::string name) { name_ = std::move(name); }
  std::string TakeName() { return std::move(name_); }  // of a node that will be erased
  Graph* graph() const { return graph_; }

  size_t num_inputs() const { return inputs_.size(); }
  // Null: an optional operand left out. Beyond the end is null too.
  Value* input(size_t i) const { return i < inputs_.size() ? inputs_[i].value : nullptr; }
  std::vector<Value*> inputs() const;
  void SetInput(size_t i, Value* value);  // i < num_inputs()
  void AddInput(Value* value);
  void SetInputs(absl::Span<Value* const> values);
  size_t num_outputs() const { return outputs_.size(); }
  // Null: an optional output left out, or beyond the end.
  Value* output(size_t i) const { return i < outputs_.size() ? outputs_[i] : nullptr; }
  absl::Span<Value* const> outputs() const { return outputs_; }

  const AttributeMap& attrs() const { return attrs_; }
  // For all but graphs. Nested graphs go in and out by these, which keep parents right:
  void SetAttr(Symbol name, Attribute value);
  bool EraseAttr(Symbol name);
  std::optional<Attribute> TakeAttr(Symbol name);
  bool has_subgraphs() const { return has_subgraphs_; }
  std::vector<Graph*> subgraphs();  // of all attributes, in order
  std::vector<const Graph*> subgraphs() const;
  // A nested graph belongs to the last node that was given it by SetAttr. This node takes
  // its own back (when what was made from it is thrown away again).
  void ReclaimSubgraphs();

  AnnotationsPtr& annotations() { return annotations_; }
  const AnnotationsPtr& annotations() const { return annotations_; }

  // A number for the whole-graph algorithm at hand, meaningless between two of them; a new node
  // has 0.
  uint32_t scratch() const { return scratch_; }
  void set_scratch(uint32_t number) { scratch_ = number; }

  Node* next() { return next_; }  // in graph order; null at the end
  Node* prev() { return prev_; }
  const Node* next() const { return next_; }
  const Node* prev() const { return prev_; }
  bool is_erased() const { return erased_; }

 private:
  friend class Graph;
  friend class NodeIterator;
  struct Slot {
    Value* value;
    uint32_t use;  // position in value->uses_
  };
  void Link(Slot& slot, uint32_t index, Value* value);
  void Unlink(Slot& slot);
  void Adopt(const Attribute& attr);
  void SetHasSubgraphs(bool has);

  // Members that passes read most often come first.
  Node* next_ = nullptr;
  Symbol op_;
  uint32_t scratch_ = 0;
  bool is_ir_ = true;
  bool has_subgraphs_ = false;
  bool erased_ = false;
  absl::InlinedVector<Slot, 2> inputs_;
  absl::InlinedVector<Value*, 2> outputs_;
  AttributeMap attrs_;
  Node* prev_ = nullptr;
  Graph* graph_ = nullptr;
  Symbol dialect_;
  std::string name_;
  AnnotationsPtr annotations_;
};

// Walks nodes in graph order and survives mutation: the current node may be erased, and
// nodes inserted after it are visited. An erased node exists until the walk continues (with other
// walks through its graph around, until the last one ends).
class NodeIterator {
 public:
  NodeIterator(Graph* graph, Node* node);  // null: the end
  NodeIterator(NodeIterator&&) noexcept;
  NodeIterator(const NodeIterator&) = delete;
  ~NodeIterator();
  Node* operator*() const { return node_; }
  NodeIterator& operator++();
  friend bool operator!=(const NodeIterator& a, const NodeIterator& b) {
    return a.node_ != b.node_;
  }

 private:
  Graph* graph_;
  Node* node_;
  bool walks_;  // it is not an end
};

class Graph {
 public:
  Graph();
  explicit Graph(std::string name);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  Node* parent_node() const { return parent_; }  // the node whose attribute this graph is
  Graph* parent() const { return parent_ ? parent_->graph() : nullptr; }

  // --- Values -------------------------------------------------------------------------
  const std::vector<Value*>& inputs() { return inputs_; }
  const std::vector<Value*>& outputs() { return outputs_; }
  absl::Span<const Value* const> inputs() const { return inputs_; }
  absl::Span<const Value* const> outputs() const { return outputs_; }
  // All constants, in the order they were added.
  std::vector<Value*> constants();
  std::vector<const Value*> constants() const;
  size_t num_constants() const { return num_constants_; }

  // `name` should be free in this graph; UniqueName makes one that is. Where it is taken, Find
  // gives the value that had it first, and CheckNames and every conversion refuse the graph. "" is
  // a value without a name yet, which Validate refuses: the rewriting code must name all values in
  // the end (NameValues).
  Value* AddInput(std::string_view name, Type type);
  Value* AddConstant(std::string_view name, Tensor tensor);
  // Gives an input a default value (old ONNX: an initializer that is also an input).
  void SetDefault(Value* input, Tensor tensor);
  void ReplaceConstant(Value* constant, Tensor tensor);
  // Inputs become plain constants (they must have a default), or are removed when unused (CHECK).
  void FreezeInput(Value* input);
  // The same for every input that has a default, from that one on.
  void FreezeInputs(size_t first = 0);
  // The reverse of FreezeInput: the constant is an input's default from now on.
  void ThawConstant(Value* constant);
  void RemoveInput(Value* input);
  void RemoveConstant(Value* constant);  // must be unused (CHECK)
  void ReplaceInputAt(size_t i, Value* input);

  void AddOutput(Value* value);
  void SetOutput(size_t i, Value* value);
  void ClearOutputs();

  // The value of that name in this graph (not in outer ones), or null. O(1).
  Value* Find(std::string_view name);
  const Value* Find(std::string_view name) const;
  // As Find, then in the outer graphs.
  Value* FindInScope(std::string_view name);
  const Value* FindInScope(std::string_view name) const;
  // `base` itself when it is free in this graph and in every graph around or inside it,
  // else base_1, base_2, ... O(1) amortized.
  std::string UniqueName(std::string_view base);
  // Gives every unnamed value of this node a unique name made from `base`.
  void NameValues(Node* node, std::string_view base);
  void Rename(Value* value, std::string_view name);  // of a name that is taken: see AddInput
  // InvalidArgument if two values of this graph, or of one nested in it, have the same name.
  absl::Status CheckNames() const;
  // The two values swap names: keeps the names of a model's outputs when they are replaced.
  void SwapNames(Value* a, Value* b);

  // --- Nodes --------------------------------------------------------------------------
  size_t num_nodes() const { return num_nodes_; }
  // How often a node came or went.
  uint64_t node_changes() const { return node_changes_; }
  Node* first() { return first_; }
  Node* last() { return last_; }
  const Node* first() const { return first_; }
  const Node* last() const { return last_; }
  // for (Node* node : graph.nodes()): survives mutation, see NodeIterator.
  struct Range {
    Graph* graph;
    NodeIterator begin() const { return NodeIterator(graph, graph->first_); }
    NodeIterator end() const { return NodeIterator(graph, nullptr); }
  };
  Range nodes() { return {this}; }
  // The same for a graph that does not change during the walk.
  struct ConstIterator {
    const Node* node;
    const Node* operator*() const { return node; }
    ConstIterator& operator++();
    friend bool operator!=(ConstIterator a, ConstIterator b) { return a.node != b.node; }
  };
  struct ConstRange {
    const Graph* graph;
    ConstIterator begin() const { return {graph->first_}; }
    ConstIterator end() const { return {nullptr}; }
  };
  ConstRange nodes() const { return {this}; }

  // Inserts before `before` (null: at the end). Inputs may be null (left out). Outputs are
  // made by AddNodeOutput, in order.
  Node* InsertNode(Node* before, Symbol dialect, Symbol op, absl::Span<Value* const> inputs);
  Node* AppendNode(Symbol dialect, Symbol op, absl::Span<Value* const> inputs) {
    return InsertNode(nullptr, dialect, op, inputs);
  }
  Value* AddNodeOutput(Node* node, std::string_view name, Type type = Type());
  // That about so many values more will be there.
  void ExpectNames(size_t count) { names_.reserve(names_.size() + count); }
  void AddMissingOutput(Node* node);  // an optional output that is left out
  // An output that was left out becomes a value (CHECK: it was left out). `name` must be free.
  Value* FillOutput(Node* node, size_t i, std::string_view name, Type type = Type());
  // Drops trailing outputs that are unused and optional for the caller's purposes.
  void RemoveUnusedOutput(Node* node, size_t i);  // becomes "left out"; must be unused (CHECK)
  void MoveBefore(Node* node, Node* before);      // null: to the end

  // Every use of `from` (in nested graphs, and as graph output) becomes a use of `to`.
  // O(uses of from).
  void ReplaceAllUses(Value* from, Value* to);
  // As above, but a graph output keeps its name: `to` takes over the name of `from` where
  // it can (it is a node's output, in the same graph and not itself a graph output), else an
  // `identity` IR node is inserted.
  void ReplaceAllUsesKeepingOutputNames(Value* from, Value* to);

  // `existing` (of any producer) becomes the output that `fresh`, an unnamed output of a
  // node of this graph, is: name, uses and annotations of `existing` stay, its type is left
  // to the caller, uses of `fresh` move to it, and `fresh` is gone. The former producer of
  // `existing` has that output left out. This is how a rewrite keeps the source's values.
  void AdoptOutput(Value* fresh, Value* existing);

  // Fails (FailedPrecondition) when an output of the node is still used.
  absl::Status Erase(Node* node);
  // Erases a node whose outputs are known to be unused (CHECK).
  void EraseUnused(Node* node);

  // --- Whole-graph operations (linear) ------------------------------------------------
  // Stable topological sort, nested graphs included: an already sorted graph keeps its
  // order. A cycle is InvalidArgument naming its nodes.
  absl::Status Sort();
  // Every violation of the invariants, nested graphs included; empty when valid.
  std::vector<std::string> Validate() const;
  // A deep copy. Outer values that it uses stay the same values unless `map` has others
  // (map also receives old -> new of what was copied).
  std::shared_ptr<Graph> Clone(absl::flat_hash_map<const Value*, Value*>* map = nullptr) const;

  AnnotationsPtr& annotations() { return annotations_; }
  const AnnotationsPtr& annotations() const { return annotations_; }

  // The graphs that are attributes of its nodes, in order. O(1) when there are none.
  std::vector<Graph*> NestedGraphs();
  std::vector<const Graph*> NestedGraphs() const;
  // Nodes of this graph and of all nested ones. O(1) when there are none.
  size_t TotalNodes() const;

 private:
  friend class Node;
  friend class NodeIterator;
  bool IsSorted();
  absl::Status Reorder();
  Value* NewValue(std::string_view name, Type type);
  void FreeValue(Value* value);
  void ForgetGone();
  void BecomeConstant(Value* input);
  void ForgetConstant(Value* constant);  // from the list
  void UnlinkNode(Node* node);
  void FreeGraveyard();
  Graph* Root();

  std::string name_;
  Node* parent_ = nullptr;
  Node* first_ = nullptr;
  Node* last_ = nullptr;
  size_t num_nodes_ = 0;
  uint64_t node_changes_ = 0;
  uint64_t order_changes_ = 0;  // of what the order of nodes must follow
  uint64_t sorted_at_ = UINT64_MAX;
  size_t num_parents_ = 0;  // nodes that have nested graphs
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
  std::vector<Value*> constants_;  // with holes (null) where removed; compacted lazily
  size_t num_constants_ = 0;
  // The values that have names. Hashes are kept: names lie all over memory, and are not looked at
  // when the table grows or when two differ.
  struct NamedValue {
    size_t hash;
    Value* value;
  };
  struct Name {
    explicit Name(std::string_view name);
    size_t hash;
    std::string_view text;
  };
  struct NameHash {
    using is_transparent = void;
    size_t operator()(const NamedValue& v) const { return v.hash; }
    size_t operator()(const Name& name) const { return name.hash; }
  };
  struct NameEq {
    using is_transparent = void;
    bool operator()(const NamedValue& a, const NamedValue& b) const {
      return a.hash == b.hash && a.value->name() == b.value->name();
    }
    bool operator()(const NamedValue& a, const Name& b) const {
      return a.hash == b.hash && a.value->name() == b.text;
    }
  };
  bool InsertName(Value* value);  // whether it was free
  void TakeName(Value* value);
  void DropName(Value& value);
  // The name is free now: the first of those that share it has it.
  void PassNameOn(const std::string& name);
  absl::flat_hash_set<NamedValue, NameHash, NameEq> names_;
  std::vector<Value*> sharing_;  // values with shares_name_
  StringMap<uint32_t> next_suffix_;
  StringMap<uint32_t> nested_names_;  // root only: names in nested graphs
  int iterators_ = 0;
  std::vector<Node*> graveyard_;
  std::vector<Value*> gone_;  // values whose names are still in the table
  Pool<Node> node_pool_;
  Pool<Value> value_pool_;
  AnnotationsPtr annotations_;
};

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_GRAPH_H_
