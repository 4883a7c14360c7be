// The dialect "onnx": ONNX's operator schemas as core sees schemas.
#include "x2ir/core/dialect.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "x2ir/core/calibrate.h"
#include "x2ir/core/kept_functions.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/ort/ort.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/contrib_fusions.h"
#include "x2ir/handlers/onnx/contrib_schemas.h"
#include "x2ir/handlers/onnx/file_version.h"
#include "x2ir/handlers/onnx/matrix_forms.h"
#include "x2ir/handlers/onnx/schema_table.h"
#include "x2ir/handlers/onnx/small_floats.h"

namespace x2ir {
namespace {

AttrKind KindOf(SchemaAttrKind kind) {
  switch (kind) {
    case SchemaAttrKind::kFloat: return AttrKind::kFloat;
    case SchemaAttrKind::kInt: return AttrKind::kInt;
    case SchemaAttrKind::kString: return AttrKind::kString;
    case SchemaAttrKind::kTensor:
    case SchemaAttrKind::kSparseTensor: return AttrKind::kTensor;
    case SchemaAttrKind::kGraph: return AttrKind::kGraph;
    case SchemaAttrKind::kFloats: return AttrKind::kFloats;
    case SchemaAttrKind::kInts: return AttrKind::kInts;
    case SchemaAttrKind::kStrings: return AttrKind::kStrings;
    case SchemaAttrKind::kTensors:
    case SchemaAttrKind::kSparseTensors: return AttrKind::kTensors;
    case SchemaAttrKind::kGraphs: return AttrKind::kGraphs;
    case SchemaAttrKind::kTypeProto: return AttrKind::kType;
    case SchemaAttrKind::kTypeProtos: return AttrKind::kTypes;
  }
  return AttrKind::kInt;
}

std::optional<Attribute> DefaultOf(const SchemaAttr& attr) {
  if (!attr.has_default) return std::nullopt;
  switch (attr.kind) {
    case SchemaAttrKind::kFloat: return Attribute(attr.f);
    case SchemaAttrKind::kInt: return Attribute(attr.i);
    case SchemaAttrKind::kString: return Attribute(attr.s());
    case SchemaAttrKind::kFloats:
      return Attribute(Attribute::Floats(attr.floats().begin(), attr.floats().end()));
    case SchemaAttrKind::kInts:
      return Attribute(Attribute::Ints(attr.ints().begin(), attr.ints().end()));
    case SchemaAttrKind::kStrings: {
      Attribute::Strings strings;
      for (const SchemaText& text : attr.strings()) strings.emplace_back(text.view());
      return Attribute(std::move(strings));
    }
    default: return std::nullopt;
  }
}

std::vector<OperandSchema> OperandsOf(absl::Span<const SchemaOperand> operands) {
  std::vector<OperandSchema> result;
  for (const SchemaOperand& operand : operands) {
    const Arity arity = operand.arity == SchemaArity::kRequired   ? Arity::kRequired
                        : operand.arity == SchemaArity::kOptional ? Arity::kOptional
                                                                  : Arity::kVariadic;
    // The values of a heterogeneous operand share a variable and may differ all the same.
    const int type_var = operand.heterogeneous ? -1 : operand.type_;
    const SchemaType& type = operand.type();
    result.push_back({std::string(operand.name()), arity, operand.min, type.tensors,
                      type.allows_non_tensor(), type.sequences, type.optionals,
                      type.optional_sequences, type_var});
  }
  return result;
}

std::string NameWithDomain(const OnnxSchema& schema) {
  return schema.domain().empty() ? std::string(schema.name())
                                 : StrCat(schema.domain(), "::", schema.name());
}

std::unique_ptr<OpSchema> Convert(const OnnxSchema& from) {
  auto schema = std::make_unique<OpSchema>();
  schema->name = NameWithDomain(from);
  schema->since = from.since;
  schema->deprecated = from.deprecated;
  // ONNX Runtime checks it by a schema of its own, which lets any attribute pass.
  schema->lenient = schema->name == "LayerNormalization";
  schema->inputs = OperandsOf(from.inputs());
  schema->outputs = OperandsOf(from.outputs());
  for (const SchemaAttr& attr : from.attrs()) {
    schema->attrs.push_back({attr.name(), KindOf(attr.kind), attr.required, DefaultOf(attr)});
  }
  return schema;
}

// Schemas are converted when first asked for and kept.
const OpSchema* Cached(const OnnxSchema* from) {
  struct Cache {
    std::mutex mutex;
    absl::flat_hash_map<const OnnxSchema*, std::unique_ptr<OpSchema>> schemas;
  };
  static Cache* cache = new Cache;
  if (!from) return nullptr;
  const std::lock_guard lock(cache->mutex);
  std::unique_ptr<OpSchema>& schema = cache->schemas[from];
  if (!schema) schema = Convert(*from);
  return schema.get();
}

// Constants of integers and bools came with opset 9; older files have them all the same, and every
// runtime reads them.
constexpr int kConstantOfAnyType = 9;

const OpSchema* SchemaAt(Symbol op, int opset) {
  const auto [domain, name] = SplitOp(op.view());
  if (name == "Constant" && domain.empty()) opset = std::max(opset, kConstantOfAnyType);
  const OpSchema* schema = Cached(FindOnnxSchema(domain, name, opset));
  return schema ? schema : ContribSchema(op);
}

std::vector<const OpSchema*> Versions(Symbol op) {
  const auto [domain, name] = SplitOp(op.view());
  std::vector<const OpSchema*> versions;
  for (const OnnxSchema& schema : OnnxSchemaVersions(domain, name)) {
    versions.push_back(Cached(&schema));
  }
  return versions;
}

int DomainVersionFor(std::string_view domain, int opset) {
  if (domain == "ai.onnx.ml") return MlOpsetFor(opset);
  return domain == "ai.onnx.preview.training" ? 1 : 0;
}

std::vector<Symbol> Ops() {
  std::vector<Symbol> ops;
  for (const OnnxSchema& schema : AllOnnxSchemas()) {
    const Symbol op(NameWithDomain(schema));
    if (ops.empty() || ops.back() != op) ops.push_back(op);
  }
  return ops;
}

// What runtimes ask for though the schema does not: in training a batch normalization has all its
// outputs.
std::vector<std::string> CheckOutputs(const Node& node) {
  if (node.op() != "BatchNormalization" || node.attrs().Int("training_mode", 0) == 0) return {};
  for (size_t i = 0; i < 3; ++i) {
    if (i < node.num_outputs() && node.output(i)) continue;
    return {StrCat("training_mode 1 asks for three outputs; output ", i, " is left out")};
  }
  return {};
}

// What the reader noted for the user.
// Calls of PyTorch's operators were in the default domain until they got one of their own
// (aten.cc). Returns whether there are any.
bool MoveAten(Graph& graph, Symbol dialect) {
  static const auto& own = *new Symbol("org.pytorch.aten::ATen");
  bool found = false;
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) found |= MoveAten(*inner, dialect);
    if (node->dialect() != dialect) continue;
    if (node->op() == Symbol("ATen")) node->set_op(dialect, own);
    found |= node->op() == own;
  }
  return found;
}

absl::Status Prepare(Model& model, std::vector<std::string>& warnings) {
  constexpr std::string_view kAten = "org.pytorch.aten";
  if (MoveAten(*model.graph, Symbol("onnx")) && model.Opset(kAten) == 0) model.SetOpset(kAten, 1);
  if (!model.annotations.get()) return absl::OkStatus();
  auto& extra = model.annotations.GetOrMake().extra;
  if (const auto note = extra.find(kOnnxOpsetsNote); note != extra.end()) {
    warnings.push_back(StrCat(note->second, "; the last one counts"));
    extra.erase(note);
  }
  if (const auto note = extra.find(kOrtOptimizationsNote); note != extra.end()) {
    warnings.push_back(StrCat("the file has saved runtime optimizations, by ", note->second,
                              " of ONNX Runtime's optimizers; they are left out"));
    extra.erase(note);
  }
  return absl::OkStatus();
}

std::vector<Symbol> FusedOps(const FormatOptions& options) {
  return options.Flag("contrib") ? ContribOps() : std::vector<Symbol>();
}

absl::Status FinishModel(Model& model, const FormatOptions& options) {
  constexpr int kByAxis = 13;  // from where on softmax works along one axis
  if (model.Opset("") < kByAxis) MergeMatrixForms(*model.graph);
  if (options.Flag("cpu_kernels") || !IsOfBFloat16(*model.graph)) {
    ComputeSmallFloatsInFloat32(*model.graph, model.Opset(""));
  }
  return SetOnnxFileVersion(model, options);
}

// Before opset 7 broadcasting was another and no runtime of today reads it.
constexpr int kOldestWrittenOpset = 7;
// What runtimes of some age read, too.
constexpr int kDefaultOpset = 17;

[[maybe_unused]] const bool kRegistered =
    RegisterDialect({.name = "onnx",
                     .oldest_written_opset = kOldestWrittenOpset,
                     .latest_opset = LatestOnnxOpset(),
                     .default_opset = kDefaultOpset,
                     .schema = SchemaAt,
                     .versions = Versions,
                     .ops = Ops,
                     .domain_version = DomainVersionFor,
                     .layout = "channels_first",
                     .folds_constants = true,
                     .check = CheckOutputs,
                     .after_read = Prepare,
                     .fused_ops = FusedOps,
                     .fuse = UseContribOps,
                     .before_write = FinishModel});

[[maybe_unused]] const bool kRegisteredFunctions = RegisterFunctionFiles(
    {.name = "onnx", .domain = "func", .any_types = true, .but_formats = {"ort"}});

// ONNX Runtime's kernels on x86 without VNNI lose sums of products of 8 bits (docs/int8.md).
[[maybe_unused]] const bool kRegisteredInt8 =
    RegisterInt8Defaults({.name = "onnx", .weight_bits = 7});

}  // namespace
}  // namespace x2ir
