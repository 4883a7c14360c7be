// Dialects: what is known of a framework's own operator sets. A dialect may offer schemas
// (ONNX does); then the driver checks what it reads and writes against them.
#ifndef X2IR_CORE_DIALECT_H_
#define X2IR_CORE_DIALECT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/attribute.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/registry.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/target.h"

namespace X2IR_API x2ir {

struct OperandSchema {
  std::string name;
  Arity arity = Arity::kRequired;
  int min = 1;                     // of a variadic one
  uint32_t dtypes = ~uint32_t{0};  // bit d: tensors of DType d are allowed
  bool non_tensor = false;         // sequences, optionals or maps are allowed
  // Bit d, where non_tensor: sequences, optionals and optional sequences of tensors of DType d.
  uint32_t sequences = ~uint32_t{0}, optionals = ~uint32_t{0}, optional_sequences = ~uint32_t{0};
  int type_var = -1;  // operands of one variable ("T") are of one type; -1: of none
};

struct AttrSchema {
  Symbol name;
  AttrKind kind;
  bool required = false;
  std::optional<Attribute> default_value{};
};

// One operator in one version.
struct OpSchema {
  std::string name;  // with domain: "com.acme::Foo"
  int since = 1;
  bool deprecated = false;
  std::vector<OperandSchema> inputs, outputs;
  std::vector<AttrSchema> attrs;
  // Runtimes ignore attributes that the op does not have: they are dropped, with a warning.
  bool lenient = false;
  const AttrSchema* FindAttr(Symbol name) const;
  const OperandSchema* InputAt(size_t i) const;  // the variadic one for all past it
  const OperandSchema* OutputAt(size_t i) const;
  int InputIndex(std::string_view name) const;  // -1: none
};

// An annotation of nodes of a target's dialect inside of IR, which were made for writing.
inline constexpr char kMadeForTarget[] = "made_for_target";

struct Dialect {
  std::string name;              // "onnx"
  int oldest_written_opset = 1;  // of the default domain, as the next
  int latest_opset = 1;
  int default_opset = 0;  // written by default; 0: the latest
  // The schema of an op at an opset (of its domain), or null when not known. Cheap: cached.
  std::function<const OpSchema*(Symbol op, int opset)> schema{};
  // Whether nodes that are read may be of ops without schemas, whose meaning depends on the types
  // of operands, as it does where the dialect has no schemas at all.
  bool reads_without_schemas = false;
  // All versions of an op, oldest first; empty when not known. For messages.
  std::function<std::vector<const OpSchema*>(Symbol op)> versions{};
  // Every op that there are schemas of, each once, in a fixed order. For docs.
  std::function<std::vector<Symbol>()> ops{};
  // The version of another domain that came with this opset; 0: nothing is known of it.
  std::function<int(std::string_view domain, int opset)> domain_version{};
  // The layout that its convolutions, pools and norms have, as IR's attribute `layout` names it;
  // empty: more than one.
  std::string layout{};
  // Whether a file can hold ops that the dialect does not have, in another domain
  // (`continue_on_error`).
  bool holds_any_ops = true;
  // Of a source: its weights are stored in the types that a user chose for them, and stay so in
  // targets whose runtimes compute what depends on constants alone once, when they load a file.
  bool weights_keep_types = false;
  bool folds_constants = false;
  // Of a target: each of its ops has an operand that is no constant. Ops of constants alone are
  // computed when a model is written, whether passes run or not.
  bool needs_variables = false;
  // Errors of a written node against its op, for a dialect whose ops a schema cannot describe
  // (PyTorch's calls name their arguments).
  std::function<std::vector<std::string>(const Node& node)> check{};
  // Runs on a model that was read before it is converted (where rewriting node by node does not
  // reach: writes to what others see). May add warnings for the user.
  std::function<absl::Status(Model& model, std::vector<std::string>& warnings)> after_read{};
  // Makes the graph of a model that has a program instead (Model::program): the graph has the
  // program's inputs, of the types that the caller decided, and a node that stands for the program
  // and its results. What cannot be converted stays in it as nodes of the dialect.
  std::function<absl::Status(Model& model, std::vector<std::string>& warnings)> run_program{};
  // Runs on IR that is to be written, before the passes: rewrites it to forms that later steps of
  // the dialect expect.
  std::function<absl::Status(Graph& graph)> before_passes{};
  // Ops of IR that `fuse` puts into ops of other domains, whatever opset is written; none where
  // these are not asked for. Passes find them in the target. Null: none; `fuse`, where there is
  // one, runs after the passes and takes what they left.
  std::function<std::vector<Symbol>(const FormatOptions& options)> fused_ops{};
  // Inserts these nodes into a graph of IR: nodes of the dialect, marked with kMadeForTarget.
  // `target` does not have these ops. All other nodes are written as usual.
  std::function<void(Graph& graph, const Target& target)> fuse{};
  // Runs on a model that was rewritten from IR: sets the properties of the file (ONNX: the file
  // version, which is 0 unless the version of the model can be kept). `options` are the target's.
  std::function<absl::Status(Model& model, const FormatOptions& options)> before_write{};
};

// Null if no dialect of this name is registered; such a dialect has no schemas.
const Dialect* FindDialect(std::string_view name);
bool RegisterDialect(Dialect dialect, SourcePlace place = SourcePlace::Here());

// The version of a domain that goes with this opset of the default domain: the opset itself for
// the default domain, 0 where nothing is known. `dialect` may be null.
int DomainVersion(const Dialect* dialect, std::string_view domain, int opset);

// Splits "com.acme::Foo" into domain and name; the domain of "Relu" is "".
std::pair<std::string_view, std::string_view> SplitOp(std::string_view op);

// All violations of a node against one schema: arity, element types, attributes.
std::vector<std::string> CheckNode(const Node& node, const OpSchema& schema);
// All violations of a graph in a dialect against its schemas at these opsets: unknown ops,
// arity, element types, attributes. For `--check`. Empty when there are none.
std::vector<std::string> CheckAgainstSchemas(const Model& model, const Dialect& dialect);

}  // namespace x2ir

#endif  // X2IR_CORE_DIALECT_H_
