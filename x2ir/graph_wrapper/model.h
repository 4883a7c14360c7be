// Model: a graph with opset imports, local functions and annotations, as a file has them.
#ifndef X2IR_GRAPH_WRAPPER_MODEL_H_
#define X2IR_GRAPH_WRAPPER_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/graph.h"

namespace X2IR_API x2ir {

// Version of an operator set by domain; "" is the default domain.
struct OpsetImport {
  std::string domain;
  int64_t version = 0;
  friend bool operator==(const OpsetImport&, const OpsetImport&) = default;
};

// A local function (ONNX FunctionProto). The body is a graph in the source dialect; its
// inputs and outputs are the function's.
struct Function {
  std::string domain;
  std::string name;
  std::string overload;
  std::vector<std::string> attributes;  // without default
  std::vector<std::pair<std::string, Attribute>> attribute_defaults;
  std::vector<OpsetImport> opset_imports;
  std::shared_ptr<Graph> body;
  AnnotationsPtr annotations;
};

// What a file calls one of the model's weights, and those that it shares: several parameters may be
// one tensor (tied). A weight that the file names but does not hold is an input of the graph until
// it is loaded (core/edit/weights_from.h).
struct Weight {
  std::string value;               // the constant or input, by its name in the graph
  std::vector<std::string> names;  // in the file; the name that the program uses is first
  bool is_parameter = true;        // a checkpoint of the model has it; false: a constant
  friend bool operator==(const Weight&, const Weight&) = default;
};

// What a file has in place of a graph: a program in a language of its own. The dialect's
// `run_program` makes the graph of it, once the types of the inputs are decided. Immutable.
struct SourceProgram {
  virtual ~SourceProgram() = default;
};

// Moved, not copied: no two models share a graph. Clone() makes another one.
struct Model {
  Model() = default;
  Model(Model&&) noexcept = default;
  Model& operator=(Model&&) noexcept = default;

  // The same model again: all nodes and values anew, tensors of the same bytes.
  Model Clone() const;

  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  // The dialect that the model came from ("onnx"), its version there (ONNX: the opset of
  // the default domain is in opset_imports; ir_version is ONNX's file version).
  std::string source_dialect;
  int64_t ir_version = 0;
  std::vector<OpsetImport> opset_imports;
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  int64_t model_version = 0;
  std::vector<std::shared_ptr<Function>> functions;
  // As a reader leaves them, of formats that tell; import forgets them.
  std::vector<Weight> weights;
  // Null: the graph is all there is. Import forgets it.
  std::shared_ptr<const SourceProgram> program;
  AnnotationsPtr annotations;

  // Version of a domain's opset, or 0.
  int64_t Opset(std::string_view domain) const;
  void SetOpset(std::string_view domain, int64_t version);
};

// The files that tensors of the model are mapped from, each once: those of attributes, of nested
// graphs and of functions too.
std::vector<std::shared_ptr<const MappedFile>> MappedFiles(const Model& model);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_MODEL_H_
