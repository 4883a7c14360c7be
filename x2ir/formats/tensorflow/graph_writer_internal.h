// A graph of dialect "tf" as the fields of a GraphDef. The one encoder of nodes: binary files, text
// and JSON are made of its wire form.
//
//   input                     Placeholder, with -1 for sizes that are not known
//   constant                  Const, or where `ConstantPlace` says
//   If, While                 functions of the library; outer values that their graphs use are
//                             arguments, which a loop hands from round to round
//   output                    the last nodes, in order; an Identity where the value has no node of
//                             its own that nothing else uses
//
// Names of inputs, outputs and values are kept as far as TensorFlow allows their characters.
#ifndef X2IR_FORMATS_TENSORFLOW_GRAPH_WRITER_INTERNAL_H_
#define X2IR_FORMATS_TENSORFLOW_GRAPH_WRITER_INTERNAL_H_

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::tf_format {

// Constants up to so many bytes are no weights. They are written again in each function that uses
// them: kernels and other converters want axes and sizes as constants, which arguments are not.
inline constexpr size_t kSmallConstant = 1024;

// Where a constant's value is.
enum class ConstantPlace : uint8_t {
  kInside,    // in its Const node
  kVariable,  // in a variable, which is read where the constant was
  kApart,     // nowhere in the graph: the Const node has only the element type and the shape
};

class GraphWriter {
 public:
  using PlaceFn = std::function<ConstantPlace(const Tensor& tensor)>;
  // `place` null: all inside. Constants of nested graphs are never variables.
  explicit GraphWriter(const Model& model, PlaceFn place = nullptr);

  // Fields of a GraphDef. FailedPrecondition for what a GraphDef cannot express.
  absl::Status Write(WireWriter& out);

  // After Write: what the model calls its inputs and outputs, and the node whose output 0 it is.
  struct Port {
    std::string name, node;
    Type type;
  };
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  // Constants that are not inside, in the order of their nodes: the Const node or the variable, and
  // the node that reads the variable.
  struct Apart {
    std::string node;
    Tensor tensor;
    std::string read{};
  };
  const std::vector<Apart>& apart() const { return apart_; }
  // Tables that nodes look values up in, of which the graph has the handles, not the contents.
  struct Table {
    std::string node;
    std::string_view version;  // "V2", or "" of TensorFlow 1's, whose handles are references
    DType key, value;
    Tensor contents;  // table_contents.h
  };
  const std::vector<Table>& tables() const { return tables_; }
  // A name that no node has.
  std::string UniqueNode(std::string_view base) { return Unique(nodes_, base); }

 private:
  struct Scope;

  static std::string Unique(StringMap<int>& taken, std::string_view base);
  // What the outputs of a graph need: its nodes, and of the outer values those that it uses, in the
  // order of their uses.
  struct Needs {
    absl::flat_hash_set<const Node*> nodes;
    std::vector<const Value*> outer;
  };
  const Needs& NeedsOf(const Graph& graph);
  static absl::flat_hash_map<const Value*, const Value*> HandedOn(const Graph& graph);
  absl::StatusOr<std::string> RefOf(Scope& scope, const Value& value);
  absl::StatusOr<std::string> RefOfTable(Scope& scope, const Node& lookup);
  absl::StatusOr<std::string> WriteConstant(Scope& scope, const Value& value);
  absl::Status WriteNodes(Scope& scope);
  absl::Status WriteNode(Scope& scope, const Node& node, const std::string& name);
  absl::Status WriteControlFlow(Scope& scope, const Node& node, const std::string& name);
  absl::StatusOr<std::string> WriteFunction(std::string_view base, const Graph& graph,
                                            const std::vector<const Value*>& captured,
                                            bool returns_captured);
  absl::Status WriteInputs(Scope& scope);
  absl::Status WriteOutputs(Scope& scope);

  const Model& model_;
  const PlaceFn place_;
  StringMap<int> nodes_, functions_;  // names that are taken, and the last number that was added
  absl::flat_hash_map<const Graph*, std::unique_ptr<const Needs>> needs_;
  std::vector<Port> inputs_, outputs_;
  std::vector<Apart> apart_;
  std::vector<Table> tables_;
  absl::flat_hash_map<const Value*, size_t> table_of_;
  WireWriter library_;
};

// Nodes that are added to a written graph, with names under `prefix` that no others have.
class AddedNodes {
 public:
  using Attrs = std::initializer_list<std::pair<const char*, Attribute>>;

  // All outlive this.
  AddedNodes(WireWriter& out, GraphWriter& graph, std::string_view prefix)
      : out_(out), graph_(graph), prefix_(prefix) {}

  // The node's name.
  std::string Add(std::string_view base, std::string_view op,
                  const std::vector<std::string>& inputs, Attrs attrs);
  std::string Constant(std::string_view base, const Tensor& value);
  const absl::Status& status() const { return status_; }

 private:
  WireWriter& out_;
  GraphWriter& graph_;
  const std::string prefix_;
  absl::Status status_;
};

// --- Parts of nodes, for writers that add nodes of their own ------------------------------------

// An attribute of a node; what it is follows from the value, and of integers from the name.
absl::Status WriteNodeAttr(WireWriter& out, std::string_view name, const Attribute& value);
// TensorProto, as the field of that number.
absl::Status WriteTensorProto(WireWriter& out, uint32_t field, const Tensor& tensor,
                              bool with_value = true);
// TensorShapeProto: -1 for sizes that are not known.
void WriteShapeProto(WireWriter& out, uint32_t field, const Shape* shape);
// The number of a tensor's type, of an opaque one, or of a sequence, which is a list (variant).
// FailedPrecondition where TensorFlow has none.
absl::StatusOr<int64_t> NumberOfType(const Type& type);
// The same name with the characters that nodes may have.
std::string LegalNodeName(std::string_view name);
// What a function's body calls output `index` of a node: "node:argument:i". FailedPrecondition
// where the op's arguments are not known.
absl::StatusOr<std::string> OutputInFunction(std::string_view node, std::string_view op,
                                             size_t index);

}  // namespace x2ir::tf_format

#endif  // X2IR_FORMATS_TENSORFLOW_GRAPH_WRITER_INTERNAL_H_
