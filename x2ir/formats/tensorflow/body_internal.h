// Filling a Graph with the nodes of a GraphDef or of a function's body.
#ifndef X2IR_FORMATS_TENSORFLOW_BODY_INTERNAL_H_
#define X2IR_FORMATS_TENSORFLOW_BODY_INTERNAL_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/tensorflow/checkpoint_internal.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::tf_format {

// Where variables have their values: a checkpoint, or why there is none; and what of it the graph
// restores into which of its variables. An empty key: two things.
struct Variables {
  absl::StatusOr<std::unique_ptr<Checkpoint>> checkpoint;
  absl::flat_hash_map<const NodeProto*, Place> restored{};
};
class Tables;

// The same error, of that node.
inline absl::Status At(const NodeProto& node, const absl::Status& status) {
  return Annotate(status, StrCat(node.op, " '", node.name, "'"));
}

// What all bodies of a file share.
class Library {
 public:
  // `variables` is null if they have no values.
  Library(const Source& source, const GraphProto& proto, const Variables* variables);

  absl::Status Check() const;  // InvalidArgument when two functions have one name
  const Source& source() const { return source_; }
  const Variables* variables() const { return variables_; }
  int64_t producer() const { return producer_; }
  const FunctionProto* Find(std::string_view name) const;
  // The function that a node calls, or null.
  const FunctionProto* Called(const NodeProto& node) const;
  // Whether running the node changes a variable or the like, in functions that it names too.
  bool Writes(const NodeProto& node);
  // The functions that a node names, as the one that it calls or as attributes.
  std::vector<const FunctionProto*> NamedBy(const NodeProto& node) const;
  // Takes that many nodes off what the file may become.
  absl::Status Spend(int64_t nodes);

  // Placeholders of the graph that are constants whose values are elsewhere; may be null.
  void set_elsewhere(const ValueElsewhere& value) { elsewhere_ = value; }
  const ValueElsewhere& elsewhere() const { return elsewhere_; }
  // The content of tables; null if it was not read yet.
  Tables* tables() const { return tables_; }
  void set_tables(Tables* tables) { tables_ = tables; }

  // Functions that what was read calls: their bodies are to be read.
  void Need(const FunctionProto& function);
  absl::Status ReadNeeded(Model* model);

 private:
  bool FunctionWrites(std::string_view name);

  const Source& source_;
  const Variables* variables_;
  Tables* tables_ = nullptr;
  ValueElsewhere elsewhere_;
  int64_t producer_;
  absl::flat_hash_map<std::string_view, const FunctionProto*> functions_;
  bool duplicate_ = false;
  std::vector<const FunctionProto*> needed_;
  absl::flat_hash_set<const FunctionProto*> asked_;
  absl::flat_hash_map<std::string_view, bool> writes_;
};

// An output of a node, or an argument of the function (`node` is null).
struct Ref {
  const NodeProto* node = nullptr;
  int64_t index = 0;
};

class Body {
 public:
  // `function` is null for the graph itself. `depth`: of graphs in each other.
  Body(Library& library, const std::vector<NodeProto>& nodes, const FunctionProto* function,
       int depth)
      : library_(library), nodes_(nodes), function_(function), depth_(depth) {}

  absl::Status Index();
  absl::StatusOr<Ref> Resolve(std::string_view text) const;
  const std::vector<NodeProto>& nodes() const { return nodes_; }
  bool is_graph() const { return !function_; }  // no function's body

  // What these need, and what changes state on the way, is read into `graph`. `args` are the
  // values of a function's arguments.
  absl::Status Fill(const std::vector<Ref>& roots, const std::vector<std::string_view>& control,
                    std::vector<Value*> args, Graph* graph);
  // After Fill.
  Value* ValueOf(const Ref& ref) const;

 private:
  friend class ControlFlow;
  struct State {
    bool live = false, visited = false;
    int64_t outputs = 0;  // how many are referred to, at least
    Node* node = nullptr;
    std::vector<Value*> values;
  };
  State& StateOf(const NodeProto& node) { return states_[&node - nodes_.data()]; }
  const State& StateOf(const NodeProto& node) const { return states_[&node - nodes_.data()]; }

  absl::Status Visit(std::vector<const NodeProto*> todo, bool data);
  absl::Status Declare(const NodeProto& proto, Graph* graph);
  absl::Status DeclareConst(const NodeProto& proto, Graph* graph);
  absl::StatusOr<Tensor> VariableValue(const NodeProto& proto) const;
  absl::StatusOr<Type> DeclaredType(const NodeProto& proto) const;
  absl::Status Connect(const NodeProto& proto);
  absl::Status SetAttrs(const NodeProto& proto, Node* node);
  // The body of a function as a nested graph. With `bound` the arguments are these values; else
  // the graph has inputs.
  absl::StatusOr<std::shared_ptr<Graph>> Nested(const std::string& function,
                                                const std::vector<Value*>* bound);

  Library& library_;
  const std::vector<NodeProto>& nodes_;
  const FunctionProto* function_;
  const int depth_;
  absl::flat_hash_map<std::string_view, const NodeProto*> by_name_;
  absl::flat_hash_map<std::string_view, int64_t> args_by_name_;
  std::vector<State> states_;
  std::vector<Value*> args_;
  // What a Merge needs beside its operands: the node that decides; null when there is none.
  std::function<const NodeProto*(const NodeProto&)> needed_by_merge_;
};

// Reads a function's body into a graph of its own, or one whose arguments are `bound`.
absl::Status ReadFunctionBody(Library& library, const FunctionProto& function,
                              const std::vector<Value*>* bound, int depth, Graph* graph);

// What of a checkpoint the graph restores into which variable: `name` is the tensor with the
// checkpoint's name, `restore` the node that restores everything. As SavedModels have it.
absl::flat_hash_map<const NodeProto*, Place> FindRestored(Library& library, const Body& body,
                                                          std::string_view name,
                                                          std::string_view restore);
bool IsVariable(std::string_view op);

// "node" or "node:1": how the value is called.
std::string ValueName(std::string_view node, int64_t index);

}  // namespace x2ir::tf_format

#endif  // X2IR_FORMATS_TENSORFLOW_BODY_INTERNAL_H_
