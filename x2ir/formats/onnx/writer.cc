// Writes a Model as ModelProto. The message is built without the weights, which are spliced
// in when it goes to the file, or go to the external data file instead.
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/onnx/externals_internal.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/onnx/onnx_internal.h"
#include "x2ir/graph_wrapper/lookahead.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace onnx_format {
namespace {

// Before this IR version every initializer of the main graph had to be an input as well.
constexpr int64_t kFreeInitializers = 4;

// Which tensors are external, where there are any that are.
enum class Which { kNone, kInitializers, kAllTensors };

class Writer {
 public:
  // `externals` (may be null where none are external) takes the tensors that do not go inside.
  Writer(const Model& model, Which which, uint64_t min_external, Externals* externals)
      : model_(model), which_(which), min_external_(min_external), externals_(externals) {}

  absl::Status WriteModel();
  const WireWriter& out() const { return out_; }
  // The buffers and files of tensors.
  const absl::flat_hash_set<std::shared_ptr<const MappedFile>>& files() const { return files_; }

 private:
  absl::Status WriteFunction(const Function& function);
  absl::Status WriteGraph(uint32_t field, const Graph& graph, bool main);
  absl::Status WriteNode(uint32_t field, const Node& node);
  absl::Status WriteAttribute(uint32_t field, std::string_view name, const Attribute& attr,
                              const AnnotationsPtr& annotations);
  absl::Status WriteAttrTensor(uint32_t field, std::string_view key, const Tensor& tensor,
                               const AnnotationsPtr& annotations);
  // A TensorProto, or a SparseTensorProto if the tensor is one. `notes` as TensorProto::notes.
  absl::Status WriteTensor(uint32_t field, const Tensor& tensor, std::string_view name,
                           std::string_view notes, bool may_be_external);
  absl::Status WriteConstantNode(uint32_t field, const Value& constant);
  absl::Status WriteValueInfo(uint32_t field, const Value& value) {
    return WriteValueInfo(out_, field, value);
  }
  absl::Status WriteValueInfo(WireWriter& out, uint32_t field, const Value& value);
  void WriteKeptValueInfos(uint32_t field, const Graph& graph);
  void WriteQuantization(const Value& value);
  void WriteOpsets(uint32_t field, const std::vector<OpsetImport>& opsets,
                   const AnnotationsPtr& annotations);

  const Model& model_;
  const Which which_;
  const uint64_t min_external_;
  Externals* const externals_;
  WireWriter out_;
  // The last type of a value that was written, as the field of a ValueInfoProto: neighbors are of
  // one type often.
  Type type_;
  std::string type_bytes_;
  StringSet functions_;  // domain::name:overload
  absl::flat_hash_set<std::shared_ptr<const MappedFile>> files_;
};

absl::Status Named(const Value* value) {
  if (value == nullptr || !value->name().empty()) return absl::OkStatus();
  return Internal("a value has no name");
}

// --- Tensors ------------------------------------------------------------------------------

absl::Status Writer::WriteTensor(uint32_t field, const Tensor& tensor, std::string_view name,
                                 std::string_view notes, bool may_be_external) {
  if (const auto range = tensor.file_range()) files_.insert(range->file);
  if (tensor.is_sparse()) {
    std::string_view values_notes, indices_notes;
    std::string rest;
    WireReader in(notes, notes.data());
    while (in.Next()) {
      switch (in.field()) {
        case sparse_field::kValues: values_notes = in.Bytes(); break;
        case sparse_field::kIndices: indices_notes = in.Bytes(); break;
        case tensor_field::kName: name = in.Bytes(); break;
        default: rest.append(in.raw());
      }
    }
    out_.Begin(field);
    X2IR_RETURN_IF_ERROR(WriteTensor(sparse_field::kValues, tensor.sparse().values, name,
                                     values_notes, which_ == Which::kAllTensors));
    X2IR_RETURN_IF_ERROR(WriteTensor(sparse_field::kIndices, tensor.sparse().indices, "",
                                     indices_notes, which_ == Which::kAllTensors));
    for (int64_t dim : tensor.dims()) out_.Int(sparse_field::kDims, dim);
    out_.Raw(rest);
    out_.End();
    return absl::OkStatus();
  }
  if (tensor.dtype() == DType::kUndefined) return Internal("a tensor has no element type");
  out_.Begin(field);
  for (int64_t dim : tensor.dims()) out_.Int(tensor_field::kDims, dim);
  out_.Int(tensor_field::kDataType, static_cast<int64_t>(tensor.dtype()));
  out_.BytesUnlessEmpty(tensor_field::kName, name);
  if (tensor.is_string()) {
    for (const std::string& text : tensor.strings()) {
      out_.Bytes(tensor_field::kStringData, text);
    }
  } else if (may_be_external && which_ != Which::kNone && tensor.nbytes() >= min_external_) {
    X2IR_ASSIGN_OR_RETURN(const Externals::Place place, externals_->Put(tensor));
    WriteEntry(out_, tensor_field::kExternalData, "location", *place.location);
    WriteEntry(out_, tensor_field::kExternalData, "offset", StrCat(place.offset));
    WriteEntry(out_, tensor_field::kExternalData, "length", StrCat(tensor.nbytes()));
    out_.Int(tensor_field::kDataLocation, 1);
  } else {
    out_.TensorBytes(tensor_field::kRawData, tensor);
  }
  out_.Raw(notes);
  out_.End();
  return absl::OkStatus();
}

absl::Status Writer::WriteAttrTensor(uint32_t field, std::string_view key, const Tensor& tensor,
                                     const AnnotationsPtr& annotations) {
  const std::string* notes = FindExtra(annotations, std::string(key));
  return WriteTensor(field, tensor, "", notes ? std::string_view(*notes) : "",
                     which_ == Which::kAllTensors);
}

// --- Attributes ---------------------------------------------------------------------------

absl::StatusOr<AttrType> TypeOf(const Attribute& attr, AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt: return AttrType::kInt;
    case AttrKind::kFloat: return AttrType::kFloat;
    case AttrKind::kString: return AttrType::kString;
    case AttrKind::kGraph: return AttrType::kGraph;
    case AttrKind::kType: return AttrType::kType;
    case AttrKind::kInts: return AttrType::kInts;
    case AttrKind::kFloats: return AttrType::kFloats;
    case AttrKind::kStrings: return AttrType::kStrings;
    case AttrKind::kGraphs: return AttrType::kGraphs;
    case AttrKind::kTypes: return AttrType::kTypes;
    case AttrKind::kTensor: {
      const Tensor* tensor = attr.get<Tensor>();
      return tensor && tensor->is_sparse() ? AttrType::kSparseTensor : AttrType::kTensor;
    }
    case AttrKind::kTensors: {
      const auto* tensors = attr.get<std::vector<Tensor>>();
      size_t sparse = 0;
      if (tensors) {
        for (const Tensor& tensor : *tensors) sparse += tensor.is_sparse();
        if (sparse != 0 && sparse != tensors->size()) {
          return CannotExpress("a list of both dense and sparse tensors");
        }
      }
      return sparse ? AttrType::kSparseTensors : AttrType::kTensors;
    }
    case AttrKind::kDouble: {
      // A double that a float can be is one.
      const double* value = attr.get<double>();
      if (value && (*value != *value || static_cast<float>(*value) == *value)) {
        return AttrType::kFloat;
      }
      return CannotExpress("a double; ONNX attributes are floats");
    }
    case AttrKind::kRef: break;
  }
  return AttrType::kUndefined;
}

absl::Status Writer::WriteAttribute(uint32_t field, std::string_view name, const Attribute& attr,
                                    const AnnotationsPtr& annotations) {
  const auto key = [&](const char* prefix) { return StrCat(prefix, name); };
  const AttrRef* ref = attr.get<AttrRef>();
  X2IR_ASSIGN_OR_RETURN(AttrType type, TypeOf(attr, ref ? ref->kind : attr.kind()));
  // Sparse tensors that cannot be told from dense ones: a reference, an empty list.
  const auto* tensors = attr.get<std::vector<Tensor>>();
  if (ref || (tensors && tensors->empty())) {
    const std::string* kept = FindExtra(annotations, key(kAttrTypeKey));
    if (kept && *kept == "11" && type == AttrType::kTensor) type = AttrType::kSparseTensor;
    if (kept && *kept == "12" && type == AttrType::kTensors) type = AttrType::kSparseTensors;
  }

  out_.Begin(field);
  out_.Bytes(attr_field::kName, name);
  switch (attr.kind()) {
    case AttrKind::kInt: out_.Int(attr_field::kI, *attr.get<int64_t>()); break;
    case AttrKind::kFloat: out_.Float(attr_field::kF, *attr.get<float>()); break;
    case AttrKind::kDouble:
      out_.Float(attr_field::kF, static_cast<float>(*attr.get<double>()));
      break;
    case AttrKind::kString: out_.Bytes(attr_field::kS, *attr.get<std::string>()); break;
    case AttrKind::kInts:
      for (int64_t value : *attr.get<Attribute::Ints>()) out_.Int(attr_field::kInts, value);
      break;
    case AttrKind::kFloats:
      for (float value : *attr.get<Attribute::Floats>()) out_.Float(attr_field::kFloats, value);
      break;
    case AttrKind::kStrings:
      for (const std::string& value : *attr.get<Attribute::Strings>()) {
        out_.Bytes(attr_field::kStrings, value);
      }
      break;
    case AttrKind::kTensor:
      X2IR_RETURN_IF_ERROR(WriteAttrTensor(
          type == AttrType::kSparseTensor ? attr_field::kSparseTensor : attr_field::kT,
          key(type == AttrType::kSparseTensor ? kAttrSparseKey : kAttrTensorKey),
          *attr.get<Tensor>(), annotations));
      break;
    case AttrKind::kTensors:
      for (size_t i = 0; i < tensors->size(); ++i) {
        X2IR_RETURN_IF_ERROR(WriteAttrTensor(
            type == AttrType::kSparseTensors ? attr_field::kSparseTensors : attr_field::kTensors,
            StrCat(type == AttrType::kSparseTensors ? kAttrSparseKey : kAttrTensorKey, name, "#",
                   i),
            (*tensors)[i], annotations));
      }
      break;
    case AttrKind::kGraph: {
      const auto& graph = *attr.get<Attribute::GraphPtr>();
      if (!graph) return Internal("attribute '", name, "' has no graph");
      X2IR_RETURN_IF_ERROR(WriteGraph(attr_field::kG, *graph, /*main=*/false));
      break;
    }
    case AttrKind::kGraphs:
      for (const auto& graph : *attr.get<std::vector<Attribute::GraphPtr>>()) {
        if (!graph) return Internal("attribute '", name, "' has no graph");
        X2IR_RETURN_IF_ERROR(WriteGraph(attr_field::kGraphs, *graph, /*main=*/false));
      }
      break;
    case AttrKind::kType:
      WriteAttrType(out_, attr_field::kTp, *attr.get<Type>(), key(kAttrProtoKey), annotations);
      break;
    case AttrKind::kTypes: {
      size_t i = 0;
      for (const Type& t : *attr.get<std::vector<Type>>()) {
        WriteAttrType(out_, attr_field::kTypeProtos, t, StrCat(kAttrProtoKey, name, "#", i++),
                      annotations);
      }
      break;
    }
    case AttrKind::kRef: out_.Bytes(attr_field::kRefAttrName, ref->name); break;
  }
  out_.IntUnlessZero(attr_field::kType, static_cast<int64_t>(type));
  if (const std::string* rest = FindExtra(annotations, key(kAttrKey))) out_.Raw(*rest);
  out_.End();
  return absl::OkStatus();
}

// --- Nodes --------------------------------------------------------------------------------

absl::Status Writer::WriteNode(uint32_t field, const Node& node) {
  if (node.dialect() != kDialect) {
    return CannotExpress("an op of ",
                         node.is_ir() ? "the IR" : StrCat("dialect '", node.dialect().str(), "'"),
                         " cannot be written to an ONNX file");
  }
  const AnnotationsPtr& annotations = node.annotations();
  const auto [domain, op_type] = DomainAndOp(node);
  out_.Begin(field);
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    const Value* value = node.input(i);
    X2IR_RETURN_IF_ERROR(Named(value));
    out_.Bytes(node_field::kInput, value ? std::string_view(value->name()) : "");
  }
  for (const Value* value : node.outputs()) {
    X2IR_RETURN_IF_ERROR(Named(value));
    out_.Bytes(node_field::kOutput, value ? std::string_view(value->name()) : "");
  }
  out_.BytesUnlessEmpty(node_field::kName, node.name());
  out_.Bytes(node_field::kOpType, op_type);
  for (const auto& [name, attr] : node.attrs()) {
    const absl::Status status =
        WriteAttribute(node_field::kAttribute, name.view(), attr, annotations);
    if (!status.ok()) return Annotate(status, StrCat("attribute '", name.view(), "'"));
  }
  out_.BytesUnlessEmpty(node_field::kDomain, domain);
  const std::string* overload = FindExtra(annotations, kOverloadKey);
  if (overload && functions_.contains(StrCat(domain, "::", op_type, ":", *overload))) {
    out_.Bytes(node_field::kOverload, *overload);
  }
  WriteNotes(out_, kNodeNotes, annotations);
  out_.End();
  return absl::OkStatus();
}

// A constant of a function's body, where there are no initializers.
absl::Status Writer::WriteConstantNode(uint32_t field, const Value& constant) {
  X2IR_RETURN_IF_ERROR(Named(&constant));
  const bool sparse = constant.constant()->is_sparse();
  out_.Begin(field);
  out_.Bytes(node_field::kOutput, constant.name());
  out_.Bytes(node_field::kOpType, "Constant");
  X2IR_RETURN_IF_ERROR(WriteAttribute(node_field::kAttribute, sparse ? "sparse_value" : "value",
                                      Attribute(*constant.constant()), AnnotationsPtr()));
  out_.End();
  return absl::OkStatus();
}

// --- Graphs -------------------------------------------------------------------------------

absl::Status Writer::WriteValueInfo(WireWriter& out, uint32_t field, const Value& value) {
  X2IR_RETURN_IF_ERROR(Named(&value));
  out.Begin(field);
  out.Bytes(value_field::kName, value.name());
  if (value.annotations().get()) {
    WriteType(out, value_field::kType, value.type(), value.annotations());
    WriteNotes(out, kValueNotes, value.annotations());
  } else {
    if (type_bytes_.empty() || value.type() != type_) {
      WireWriter bytes;
      WriteType(bytes, value_field::kType, value.type(), value.annotations());
      type_ = value.type();
      type_bytes_ = bytes.ToString();
    }
    out.Raw(type_bytes_);
  }
  out.End();
  return absl::OkStatus();
}

// Whether there is anything to say about a value that is neither input nor output.
bool NeedsValueInfo(const Value& value) {
  const Annotations* notes = value.annotations().get();
  return IsWritable(value.type()) ||
         (notes && (!notes->doc_string.empty() || !notes->metadata.empty() ||
                    notes->extra.count(kWireKey) || notes->extra.count(kTypeKey)));
}

void Writer::WriteKeptValueInfos(uint32_t field, const Graph& graph) {
  const std::string* kept = FindExtra(graph.annotations(), kValueInfoKey);
  if (kept == nullptr) return;
  WireReader in(*kept, kept->data());
  while (in.Next()) {
    std::string_view name;
    WireReader info(in.Bytes(), kept->data());
    while (info.Next()) {
      if (info.field() == value_field::kName) name = info.Bytes();
    }
    // Meanwhile a node may make a value of that name; then it says its own type.
    const Value* value = graph.Find(name);
    if (value && value->producer()) continue;
    out_.Bytes(field, in.Bytes());
  }
}

void Writer::WriteQuantization(const Value& value) {
  const std::string* kept = FindExtra(value.annotations(), kQuantKey);
  if (kept == nullptr) return;
  out_.Begin(graph_field::kQuantization);
  out_.Bytes(quant_field::kTensorName, value.name());
  out_.Raw(*kept);
  out_.End();
}

absl::Status Writer::WriteGraph(uint32_t field, const Graph& graph, bool main) {
  const std::vector<const Value*> constants = graph.constants();
  absl::flat_hash_set<const Value*> outputs(graph.outputs().begin(), graph.outputs().end());
  // Information about values is written after the nodes, and is collected with them in one walk.
  WireWriter infos;
  std::vector<const Value*> quantized;
  constexpr size_t kBytesOfNode = 96, kBytesOfInfo = 64;  // about
  out_.Expect(kBytesOfNode * graph.num_nodes());
  infos.Expect(kBytesOfInfo * graph.num_nodes());
  out_.Begin(field);
  Lookahead ahead(graph, Lookahead::kNames);
  for (const Node* node = graph.first(); node; node = node->next()) {
    ahead.Step();
    const absl::Status status = WriteNode(graph_field::kNode, *node);
    if (!status.ok()) return Annotate(status, Label(*node));
    for (const Value* value : node->outputs()) {
      if (!value) continue;
      if (!outputs.contains(value) && NeedsValueInfo(*value)) {
        X2IR_RETURN_IF_ERROR(WriteValueInfo(infos, graph_field::kValueInfo, *value));
      }
      if (FindExtra(value->annotations(), kQuantKey)) quantized.push_back(value);
    }
  }
  // ONNX requires one.
  out_.Bytes(graph_field::kName, graph.name().empty() ? "graph" : std::string_view(graph.name()));

  const auto write_initializer = [&](const Value& value) -> absl::Status {
    X2IR_RETURN_IF_ERROR(Named(&value));
    const Tensor& tensor = *value.constant();
    WireWriter notes;
    if (!value.is_input() && !tensor.is_sparse()) {
      WriteDocAndMetadata(notes, kTensorNotes, value.annotations());
    }
    if (const std::string* kept =
            FindExtra(value.annotations(), tensor.is_sparse() ? kSparseTensorKey : kTensorKey))
      notes.Raw(*kept);
    const absl::Status status = WriteTensor(
        tensor.is_sparse() ? graph_field::kSparseInitializer : graph_field::kInitializer, tensor,
        value.name(), notes.ToString(), /*may_be_external=*/true);
    if (!status.ok()) return Annotate(status, StrCat("initializer '", value.name(), "'"));
    return absl::OkStatus();
  };
  for (const Value* input : graph.inputs()) {
    if (input->constant()) X2IR_RETURN_IF_ERROR(write_initializer(*input));
  }
  for (const Value* constant : constants) X2IR_RETURN_IF_ERROR(write_initializer(*constant));

  for (const Value* input : graph.inputs()) {
    X2IR_RETURN_IF_ERROR(WriteValueInfo(graph_field::kInput, *input));
  }
  if (main && model_.ir_version > 0 && model_.ir_version < kFreeInitializers) {
    for (const Value* constant : constants) {
      out_.Begin(graph_field::kInput);
      out_.Bytes(value_field::kName, constant->name());
      WriteType(out_, value_field::kType, constant->type(), AnnotationsPtr());
      out_.End();
    }
  }
  for (const Value* output : graph.outputs()) {
    if (output == nullptr) return Internal("an output of graph '", graph.name(), "' is missing");
    X2IR_RETURN_IF_ERROR(WriteValueInfo(graph_field::kOutput, *output));
  }
  out_.Append(infos);
  WriteKeptValueInfos(graph_field::kValueInfo, graph);

  for (const Value* input : graph.inputs()) WriteQuantization(*input);
  for (const Value* constant : constants) WriteQuantization(*constant);
  for (const Value* value : quantized) WriteQuantization(*value);
  if (const std::string* kept = FindExtra(graph.annotations(), kQuantKey)) out_.Raw(*kept);
  WriteNotes(out_, kGraphNotes, graph.annotations());
  out_.End();
  return absl::OkStatus();
}

// --- Model --------------------------------------------------------------------------------

void Writer::WriteOpsets(uint32_t field, const std::vector<OpsetImport>& opsets,
                         const AnnotationsPtr& annotations) {
  for (const OpsetImport& opset : opsets) {
    const bool spelled = opset.domain.empty() && FindExtra(annotations, kDomainKey);
    out_.Begin(field);
    out_.BytesUnlessEmpty(opset_field::kDomain,
                          spelled ? kDefaultDomain : std::string_view(opset.domain));
    out_.Int(opset_field::kVersion, opset.version);
    out_.End();
  }
}

absl::Status Writer::WriteFunction(const Function& function) {
  if (!function.body) return Invalid("has no body");
  const Graph& body = *function.body;
  out_.Begin(model_field::kFunctions);
  out_.Bytes(function_field::kName, function.name);
  for (const Value* input : body.inputs()) {
    X2IR_RETURN_IF_ERROR(Named(input));
    if (input->constant()) return CannotExpress("input '", input->name(), "' has a default");
    out_.Bytes(function_field::kInput, input->name());
  }
  for (const Value* output : body.outputs()) {
    if (output == nullptr) return Internal("an output is missing");
    X2IR_RETURN_IF_ERROR(Named(output));
    out_.Bytes(function_field::kOutput, output->name());
  }
  for (const std::string& name : function.attributes) {
    out_.Bytes(function_field::kAttribute, name);
  }
  for (const Value* constant : body.constants()) {
    X2IR_RETURN_IF_ERROR(WriteConstantNode(function_field::kNode, *constant));
  }
  for (const Node* node = body.first(); node; node = node->next()) {
    const absl::Status status = WriteNode(function_field::kNode, *node);
    if (!status.ok()) return Annotate(status, Label(*node));
  }
  WriteOpsets(function_field::kOpsetImport, function.opset_imports, function.annotations);
  out_.BytesUnlessEmpty(function_field::kDomain, function.domain);
  for (const auto& [name, attr] : function.attribute_defaults) {
    X2IR_RETURN_IF_ERROR(
        WriteAttribute(function_field::kAttributeProto, name, attr, function.annotations));
  }
  for (const Value* input : body.inputs()) {
    if (NeedsValueInfo(*input)) {
      X2IR_RETURN_IF_ERROR(WriteValueInfo(function_field::kValueInfo, *input));
    }
  }
  for (const Node* node = body.first(); node; node = node->next()) {
    for (const Value* value : node->outputs()) {
      if (value && NeedsValueInfo(*value)) {
        X2IR_RETURN_IF_ERROR(WriteValueInfo(function_field::kValueInfo, *value));
      }
    }
  }
  WriteKeptValueInfos(function_field::kValueInfo, body);
  out_.BytesUnlessEmpty(function_field::kOverload, function.overload);
  WriteNotes(out_, kFunctionNotes, function.annotations);
  out_.End();
  return absl::OkStatus();
}

absl::Status Writer::WriteModel() {
  for (const auto& function : model_.functions) {
    functions_.insert(StrCat(function->domain, "::", function->name, ":", function->overload));
  }
  out_.Int(model_field::kIrVersion, model_.ir_version);
  out_.BytesUnlessEmpty(model_field::kProducerName, model_.producer_name);
  out_.BytesUnlessEmpty(model_field::kProducerVersion, model_.producer_version);
  out_.BytesUnlessEmpty(model_field::kDomain, model_.domain);
  out_.IntUnlessZero(model_field::kModelVersion, model_.model_version);
  X2IR_RETURN_IF_ERROR(WriteGraph(model_field::kGraph, *model_.graph, /*main=*/true));
  WriteOpsets(model_field::kOpsetImport, model_.opset_imports, model_.annotations);
  for (const auto& function : model_.functions) {
    X2IR_RETURN_IF_ERROR(Annotate(WriteFunction(*function), StrCat("function '", function->domain,
                                                                   "::", function->name, "'")));
  }
  WriteNotes(out_, kModelNotes, model_.annotations);
  return absl::OkStatus();
}

}  // namespace
}  // namespace onnx_format

absl::Status WriteOnnx(const Model& model, const Sink& sink, const OnnxWriteOptions& options) {
  using onnx_format::Externals;
  using onnx_format::Which;
  using onnx_format::Writer;
  using External = OnnxWriteOptions::External;
  X2IR_RETURN_IF_ERROR(model.graph->CheckNames());
  const bool reference = options.external == External::kReference;

  // The message tells its size before a byte is written; the first plan that fits is taken.
  std::unique_ptr<Externals> externals;
  std::unique_ptr<Writer> writer;
  for (Which which : {Which::kNone, Which::kInitializers, Which::kAllTensors}) {
    if (which == Which::kNone && (options.external == External::kAlways || reference)) continue;
    if (which != Which::kNone && options.external == External::kNever) break;
    externals = std::make_unique<Externals>(sink, options.max_external, reference);
    writer = std::make_unique<Writer>(model, which, options.min_external, externals.get());
    X2IR_RETURN_IF_ERROR(writer->WriteModel());
    if (writer->out().size() <= options.max_inline) break;
  }
  if (writer->out().size() > options.max_inline) {
    return CannotExpress("cannot write '", sink.name(), "': the model takes ", writer->out().size(),
                         " bytes",
                         options.external == External::kNever ? " without external data" : "",
                         ", and an ONNX file can have at most ", options.max_inline);
  }

  // First what may not be written at all.
  X2IR_ASSIGN_OR_RETURN(std::vector<AtomicFile> all, externals->Write(options.force));
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
  for (const auto& source : writer->files()) file.DependOn(source);
  const auto put = [&](std::string_view bytes) { return file.Append(bytes); };
  if (options.encode) {
    X2IR_RETURN_IF_ERROR(Annotate(options.encode(writer->out().ToString(), put),
                                  StrCat("cannot write '", sink.name(), "'")));
  } else {
    X2IR_RETURN_IF_ERROR(
        writer->out().Emit(put, [&](const Tensor& tensor) { return file.Append(tensor); }));
  }
  all.push_back(std::move(file));
  std::vector<AtomicFile*> group;
  for (AtomicFile& each : all) group.push_back(&each);
  return AtomicFile::CommitAll(group);
}

absl::StatusOr<std::string> SerializeOnnx(const Model& model) {
  onnx_format::Writer writer(model, onnx_format::Which::kNone, 0, nullptr);
  X2IR_RETURN_IF_ERROR(writer.WriteModel());
  return writer.out().ToString();
}

}  // namespace x2ir
