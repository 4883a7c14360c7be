// Reads ModelProto into a Model. Each graph is read in two passes over its nodes: the first
// declares every node with its outputs and those inputs that are known by then, the second connects
// the others and reads attributes, so that nodes may come in any order and nested graphs see all of
// the values around them.
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/onnx/onnx_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace onnx_format {
namespace {

// AttributeMap is a list; nothing real has more attributes than this.
constexpr size_t kMaxAttributes = 10000;

std::string DefinedBy(const Value& value) {
  if (value.producer() != nullptr) return Label(*value.producer());
  return value.is_input() ? "an input" : "an initializer";
}

// A ValueInfoProto.
struct ValueInfo {
  std::string_view name;
  bool has_type = false;
  Type type;
  AnnotationsPtr annotations;
};

// An attribute, and the graphs in it that are still to be filled once they have a parent.
struct ReadAttr {
  std::string_view name;
  Attribute value;
  std::vector<std::pair<Graph*, std::string_view>> graphs;
};

class Reader {
 public:
  explicit Reader(Source* source) : source_(*source) {}
  absl::StatusOr<Model> ReadModel();

 private:
  WireReader Fields(std::string_view bytes) const { return {bytes, source_.origin()}; }

  absl::Status ReadOpset(std::string_view bytes, std::vector<OpsetImport>* out,
                         AnnotationsPtr* annotations);
  absl::Status ReadFunction(std::string_view bytes, Function* function);
  absl::Status FillGraph(std::string_view bytes, int depth, Graph* graph);
  absl::Status FillNodes(const std::vector<std::string_view>& nodes, int depth, Graph* graph);
  // Makes the node with its outputs, and with the inputs that are there already. `complete`: there
  // is nothing left for ConnectNode.
  absl::Status DeclareNode(std::string_view bytes, Graph* graph, bool* complete);
  absl::Status ConnectNode(std::string_view bytes, int depth, Node* node);
  absl::Status AddInitializer(std::string_view bytes, bool sparse, Graph* graph);
  absl::Status AddQuantization(std::string_view bytes, Graph* graph);
  absl::StatusOr<ValueInfo> ReadValueInfo(std::string_view bytes);
  absl::Status ApplyValueInfo(std::string_view bytes, std::string_view raw, Graph* graph);
  absl::Status ReadAttribute(std::string_view bytes, int depth, AnnotationsPtr* annotations,
                             ReadAttr* out);

  Source& source_;
  const Symbol dialect_{kDialect};
  bool in_function_ = false;
};

// --- Attributes ---------------------------------------------------------------------------

// All that an AttributeProto can hold; which of it counts, its type says.
struct AttrParts {
  int64_t type = 0;
  std::string_view name, ref;
  float f = 0;
  int64_t i = 0;
  std::string_view s, tp;
  Attribute::Floats floats;
  Attribute::Ints ints;
  Attribute::Strings strings;
  // Of T and TENSORS, G and GRAPHS, SPARSE_TENSOR and SPARSE_TENSORS, TYPE_PROTOS.
  std::vector<std::pair<AttrType, std::string_view>> typed_messages;
  std::vector<std::string_view> messages;  // those of the attribute's type
  uint32_t seen = 0;                       // bit t: there is a value of AttrType t
};

AttrType TypeOfField(uint32_t field) {
  switch (field) {
    case attr_field::kF: return AttrType::kFloat;
    case attr_field::kI: return AttrType::kInt;
    case attr_field::kS: return AttrType::kString;
    case attr_field::kT: return AttrType::kTensor;
    case attr_field::kG: return AttrType::kGraph;
    case attr_field::kFloats: return AttrType::kFloats;
    case attr_field::kInts: return AttrType::kInts;
    case attr_field::kStrings: return AttrType::kStrings;
    case attr_field::kTensors: return AttrType::kTensors;
    case attr_field::kGraphs: return AttrType::kGraphs;
    case attr_field::kTp: return AttrType::kType;
    case attr_field::kTypeProtos: return AttrType::kTypes;
    case attr_field::kSparseTensor: return AttrType::kSparseTensor;
    case attr_field::kSparseTensors: return AttrType::kSparseTensors;
    default: return AttrType::kUndefined;
  }
}

AttrKind KindOf(AttrType type) {
  switch (type) {
    case AttrType::kFloat: return AttrKind::kFloat;
    case AttrType::kInt: return AttrKind::kInt;
    case AttrType::kString: return AttrKind::kString;
    case AttrType::kTensor:
    case AttrType::kSparseTensor: return AttrKind::kTensor;
    case AttrType::kGraph: return AttrKind::kGraph;
    case AttrType::kFloats: return AttrKind::kFloats;
    case AttrType::kInts: return AttrKind::kInts;
    case AttrType::kStrings: return AttrKind::kStrings;
    case AttrType::kTensors:
    case AttrType::kSparseTensors: return AttrKind::kTensors;
    case AttrType::kGraphs: return AttrKind::kGraphs;
    case AttrType::kType: return AttrKind::kType;
    case AttrType::kTypes: return AttrKind::kTypes;
    case AttrType::kUndefined: break;
  }
  return AttrKind::kRef;  // a reference that does not say
}

// Reads the fields; doc strings and unknown fields go to `rest`.
absl::Status ReadAttrParts(WireReader in, AttrParts* parts, std::string* rest) {
  while (in.Next()) {
    parts->seen |= 1u << static_cast<int>(TypeOfField(in.field()));
    switch (in.field()) {
      case attr_field::kName: parts->name = in.Bytes(); break;
      case attr_field::kType: parts->type = in.Int(); break;
      case attr_field::kRefAttrName: parts->ref = in.Bytes(); break;
      case attr_field::kF: parts->f = in.Float(); break;
      case attr_field::kI: parts->i = in.Int(); break;
      case attr_field::kS: parts->s = in.Bytes(); break;
      case attr_field::kTp: parts->tp = in.Bytes(); break;
      case attr_field::kFloats: in.AppendFloats(&parts->floats); break;
      case attr_field::kInts: in.AppendInts(&parts->ints); break;
      case attr_field::kStrings: parts->strings.emplace_back(in.Bytes()); break;
      case attr_field::kT:
      case attr_field::kG:
      case attr_field::kTensors:
      case attr_field::kGraphs:
      case attr_field::kTypeProtos:
      case attr_field::kSparseTensor:
      case attr_field::kSparseTensors:
        parts->typed_messages.emplace_back(TypeOfField(in.field()), in.Bytes());
        break;
      default: rest->append(in.raw());
    }
  }
  parts->seen &= ~1u;  // fields without a value
  return in.status();
}

std::string ElementKey(std::string_view prefix, std::string_view name, bool list, size_t i) {
  return list ? StrCat(prefix, name, "#", i) : StrCat(prefix, name);
}

absl::Status Reader::ReadAttribute(std::string_view bytes, int depth, AnnotationsPtr* annotations,
                                   ReadAttr* out) {
  AttrParts parts;
  std::string rest;
  X2IR_RETURN_IF_ERROR(ReadAttrParts(Fields(bytes), &parts, &rest));
  out->name = parts.name;
  const auto invalid = [&](const auto&... what) {
    return Invalid("attribute '", parts.name, "' ", what...);
  };
  if (parts.name.empty()) return Invalid("an attribute has no name");
  if (!rest.empty()) {
    annotations->GetOrMake().extra[StrCat(kAttrKey, parts.name)] = std::move(rest);
  }
  if (parts.type < 0 || parts.type > static_cast<int>(AttrType::kTypes)) {
    return invalid("has the unknown type ", parts.type);
  }
  // The first IR versions had no types; there is just one value then.
  if (parts.type == 0 && parts.ref.empty()) {
    if (parts.seen == 0 || (parts.seen & (parts.seen - 1)) != 0) {
      return invalid("has no type and ", parts.seen == 0 ? "no value" : "several values");
    }
    while ((parts.seen >> parts.type & 1) == 0) ++parts.type;
  }
  const AttrType type = static_cast<AttrType>(parts.type);
  const uint32_t own = parts.type == 0 ? 0 : 1u << parts.type;
  // Outside of functions there is nothing to refer to, and the value counts.
  const bool refers = !parts.ref.empty() && (in_function_ || (parts.seen & own) == 0);
  if (refers) {
    if (type == AttrType::kSparseTensor || type == AttrType::kSparseTensors) {
      annotations->GetOrMake().extra[StrCat(kAttrTypeKey, parts.name)] = StrCat(parts.type);
    }
    out->value = AttrRef{std::string(parts.ref), KindOf(type)};
    return absl::OkStatus();
  }
  // Of several values that of its type counts: some tools set 'i' beside the 'f' that they mean.
  if ((parts.seen & own) == 0 && parts.seen != 0) {
    return invalid("has a value that is not of its type");
  }
  for (const auto& [of, message] : parts.typed_messages) {
    if (of == type) parts.messages.push_back(message);
  }
  const bool list = type == AttrType::kTensors || type == AttrType::kGraphs ||
                    type == AttrType::kSparseTensors || type == AttrType::kTypes;
  const auto one_message = [&] { return parts.messages.size() == 1; };

  switch (type) {
    case AttrType::kFloat: out->value = parts.f; break;
    case AttrType::kInt: out->value = parts.i; break;
    case AttrType::kString: out->value = parts.s; break;
    case AttrType::kFloats: out->value = std::move(parts.floats); break;
    case AttrType::kInts: out->value = std::move(parts.ints); break;
    case AttrType::kStrings: out->value = std::move(parts.strings); break;
    case AttrType::kType: {
      const std::string key = ElementKey(kAttrProtoKey, parts.name, list, 0);
      X2IR_ASSIGN_OR_RETURN(out->value, ReadAttrType(parts.tp, source_.origin(), key, annotations));
      break;
    }
    case AttrType::kTypes: {
      std::vector<Type> types;
      for (size_t i = 0; i < parts.messages.size(); ++i) {
        const std::string key = ElementKey(kAttrProtoKey, parts.name, list, i);
        X2IR_ASSIGN_OR_RETURN(Type t,
                              ReadAttrType(parts.messages[i], source_.origin(), key, annotations));
        types.push_back(std::move(t));
      }
      out->value = std::move(types);
      break;
    }
    case AttrType::kTensor:
    case AttrType::kTensors:
    case AttrType::kSparseTensor:
    case AttrType::kSparseTensors: {
      const bool sparse = type == AttrType::kSparseTensor || type == AttrType::kSparseTensors;
      std::vector<Tensor> tensors;
      for (size_t i = 0; i < parts.messages.size(); ++i) {
        TensorProto proto;
        const absl::Status status = sparse ? ReadSparseTensor(source_, parts.messages[i], &proto)
                                           : ReadTensor(source_, parts.messages[i], &proto);
        X2IR_RETURN_IF_ERROR(Annotate(status, StrCat("attribute '", parts.name, "'")));
        WireWriter notes;
        notes.BytesUnlessEmpty(tensor_field::kName, proto.name);
        notes.Raw(proto.notes);
        // A sparse tensor's notes begin with the name of its values, which is not a field of
        // the sparse tensor itself; the writer knows.
        if (notes.size() > 0) {
          const char* prefix = sparse ? kAttrSparseKey : kAttrTensorKey;
          annotations->GetOrMake().extra[ElementKey(prefix, parts.name, list, i)] =
              notes.ToString();
        }
        tensors.push_back(std::move(proto.tensor));
      }
      if (list) {
        if (sparse && tensors.empty()) {
          annotations->GetOrMake().extra[StrCat(kAttrTypeKey, parts.name)] = StrCat(parts.type);
        }
        out->value = std::move(tensors);
      } else {
        if (!one_message()) return invalid("has no tensor");
        out->value = std::move(tensors[0]);
      }
      break;
    }
    case AttrType::kGraph:
    case AttrType::kGraphs: {
      if (!list && !one_message()) return invalid("has no graph");
      if (depth >= kMaxWireDepth) return invalid("nests graphs too deeply");
      std::vector<Attribute::GraphPtr> graphs;
      for (std::string_view message : parts.messages) {
        graphs.push_back(std::make_shared<Graph>());
        out->graphs.emplace_back(graphs.back().get(), message);
      }
      if (list) {
        out->value.variant() = std::move(graphs);
      } else {
        out->value = std::move(graphs[0]);
      }
      break;
    }
    case AttrType::kUndefined: return invalid("has no type");
  }
  return absl::OkStatus();
}

// --- Nodes --------------------------------------------------------------------------------

absl::Status Reader::DeclareNode(std::string_view bytes, Graph* graph, bool* complete) {
  std::string_view name, op_type, domain, overload;
  absl::InlinedVector<std::string_view, 4> inputs, outputs;
  *complete = true;
  AnnotationsPtr annotations;
  WireReader in = Fields(bytes);
  while (in.Next()) {
    switch (in.field()) {
      case node_field::kInput: inputs.push_back(in.Bytes()); break;
      case node_field::kAttribute: *complete = false; break;
      case node_field::kOutput: outputs.push_back(in.Bytes()); break;
      case node_field::kName: name = in.Bytes(); break;
      case node_field::kOpType: op_type = in.Bytes(); break;
      case node_field::kDomain: domain = in.Bytes(); break;
      case node_field::kOverload: overload = in.Bytes(); break;
      default: ReadNote(in, kNodeNotes, &annotations);
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (op_type.empty()) return Invalid("node '", name, "' has no op type");

  const bool is_default = domain.empty() || domain == kDefaultDomain;
  const Symbol op = is_default ? Symbol(op_type) : Symbol(StrCat(domain, "::", op_type));
  // Where the symbol does not tell the domain (everything up to its first "::").
  const size_t colons = op.view().find("::");
  const std::string_view told = colons == op.view().npos ? "" : op.view().substr(0, colons);
  if (told != domain) annotations.GetOrMake().extra[kDomainKey] = domain;
  if (!overload.empty()) annotations.GetOrMake().extra[kOverloadKey] = overload;

  Node* node = graph->AppendNode(dialect_, op, {});
  node->set_name(std::string(name));
  node->annotations() = std::move(annotations);
  // A value of this graph is the one that is meant. What is not here yet may come later, or is a
  // value of an outer graph.
  for (std::string_view input : inputs) {
    Value* value = input.empty() ? nullptr : graph->Find(input);
    if (!value && !input.empty()) {
      *complete = false;
      break;
    }
    node->AddInput(value);
  }
  for (std::string_view output : outputs) {
    if (output.empty()) {
      graph->AddMissingOutput(node);
    } else if (graph->AddNodeOutput(node, output)->shares_name()) {
      return Invalid(Label(*node), ": output '", output, "' is already defined by ",
                     DefinedBy(*graph->Find(output)));
    }
  }
  return absl::OkStatus();
}

absl::Status Reader::ConnectNode(std::string_view bytes, int depth, Node* node) {
  WireReader in = Fields(bytes);
  size_t connected = node->num_inputs();
  while (in.Next()) {
    if (in.field() == node_field::kInput) {
      const std::string_view name = in.Bytes();
      if (connected > 0) {
        --connected;
        continue;
      }
      Value* value = name.empty() ? nullptr : node->graph()->FindInScope(name);
      if (value == nullptr && !name.empty()) {
        return Invalid("input '", name, "' is not defined by any node, input or initializer");
      }
      node->AddInput(value);
    } else if (in.field() == node_field::kAttribute) {
      ReadAttr attr;
      X2IR_RETURN_IF_ERROR(ReadAttribute(in.Bytes(), depth, &node->annotations(), &attr));
      const Symbol name(attr.name);
      if (node->attrs().Has(name)) return Invalid("attribute '", attr.name, "' occurs twice");
      if (node->attrs().size() >= kMaxAttributes) {
        return Invalid("more than ", kMaxAttributes, " attributes");
      }
      node->SetAttr(name, std::move(attr.value));
      for (const auto& [graph, message] : attr.graphs) {
        X2IR_RETURN_IF_ERROR(
            Annotate(FillGraph(message, depth + 1, graph), StrCat("attribute '", attr.name, "'")));
      }
    }
  }
  return in.status();
}

absl::Status Reader::FillNodes(const std::vector<std::string_view>& nodes, int depth,
                               Graph* graph) {
  graph->ExpectNames(nodes.size());
  std::vector<std::pair<std::string_view, Node*>> incomplete;
  for (std::string_view bytes : nodes) {
    bool complete;
    X2IR_RETURN_IF_ERROR(DeclareNode(bytes, graph, &complete));
    if (!complete) incomplete.emplace_back(bytes, graph->last());
  }
  for (const auto& [bytes, node] : incomplete) {
    if (absl::Status status = ConnectNode(bytes, depth, node); !status.ok()) {
      return Annotate(status, Label(*node));
    }
  }
  return absl::OkStatus();
}

// --- Graphs -------------------------------------------------------------------------------

absl::StatusOr<ValueInfo> Reader::ReadValueInfo(std::string_view bytes) {
  ValueInfo info;
  std::string_view type;
  WireReader in = Fields(bytes);
  while (in.Next()) {
    switch (in.field()) {
      case value_field::kName: info.name = in.Bytes(); break;
      case value_field::kType:
        type = in.Bytes();
        info.has_type = true;
        break;
      default: ReadNote(in, kValueNotes, &info.annotations);
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (info.has_type) {
    absl::StatusOr<Type> read = ReadType(type, source_.origin(), &info.annotations);
    if (!read.ok()) return Annotate(read.status(), StrCat("type of '", info.name, "'"));
    info.type = *std::move(read);
  }
  return info;
}

absl::Status Reader::ApplyValueInfo(std::string_view bytes, std::string_view raw, Graph* graph) {
  X2IR_ASSIGN_OR_RETURN(ValueInfo info, ReadValueInfo(bytes));
  Value* value = graph->Find(info.name);
  // Inputs and outputs say their own type, and so does a constant's tensor. What a value
  // info adds to those, and infos of unknown names, are kept as they are.
  const bool known =
      value != nullptr && value->type() == info.type && info.annotations.get() == nullptr;
  if (value != nullptr && value->producer() != nullptr) {
    value->set_type(std::move(info.type));
    value->annotations().MergeFrom(info.annotations);
  } else if (!known) {
    graph->annotations().GetOrMake().extra[kValueInfoKey].append(raw);
  }
  return absl::OkStatus();
}

absl::Status Reader::AddInitializer(std::string_view bytes, bool sparse, Graph* graph) {
  TensorProto proto;
  const absl::Status status =
      sparse ? ReadSparseTensor(source_, bytes, &proto) : ReadTensor(source_, bytes, &proto);
  X2IR_RETURN_IF_ERROR(Annotate(status, StrCat("initializer '", proto.name, "'")));
  if (proto.name.empty()) return Invalid("an initializer has no name");
  Value* value = graph->Find(proto.name);
  if (value == nullptr) {
    value = graph->AddConstant(proto.name, std::move(proto.tensor));
    // A constant has no value info: doc string and metadata are those of its tensor.
    if (!sparse) {
      std::string rest;
      WireReader notes(proto.notes, proto.notes.data());
      while (notes.Next()) {
        if (notes.field() == kTensorNotes.doc_string || notes.field() == kTensorNotes.metadata) {
          ReadNote(notes, kTensorNotes, &value->annotations());
        } else {
          rest.append(notes.raw());
        }
      }
      X2IR_RETURN_IF_ERROR(notes.status());
      proto.notes = std::move(rest);
    }
  } else if (value->is_input() && value->constant() == nullptr) {
    graph->SetDefault(value, std::move(proto.tensor));
  } else {
    return Invalid("initializer '", proto.name, "' is defined twice");
  }
  if (!proto.notes.empty()) {
    value->annotations().GetOrMake().extra[sparse ? kSparseTensorKey : kTensorKey] =
        std::move(proto.notes);
  }
  return absl::OkStatus();
}

absl::Status Reader::AddQuantization(std::string_view bytes, Graph* graph) {
  std::string_view name;
  std::string rest;
  WireReader in = Fields(bytes);
  while (in.Next()) {
    if (in.field() == quant_field::kTensorName) {
      name = in.Bytes();
    } else {
      rest.append(in.raw());
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (Value* value = graph->Find(name)) {
    value->annotations().GetOrMake().extra[kQuantKey].append(rest);
  } else {
    WireWriter out;
    out.Bytes(graph_field::kQuantization, bytes);
    graph->annotations().GetOrMake().extra[kQuantKey].append(out.ToString());
  }
  return absl::OkStatus();
}

absl::Status Reader::FillGraph(std::string_view bytes, int depth, Graph* graph) {
  using Messages = std::vector<std::string_view>;
  Messages nodes, initializers, sparse_initializers, inputs, outputs, quantization;
  std::vector<std::pair<std::string_view, std::string_view>> value_infos;  // and raw
  WireReader in = Fields(bytes);
  while (in.Next()) {
    switch (in.field()) {
      case graph_field::kNode: nodes.push_back(in.Bytes()); break;
      case graph_field::kName: graph->set_name(in.String()); break;
      case graph_field::kInitializer: initializers.push_back(in.Bytes()); break;
      case graph_field::kSparseInitializer: sparse_initializers.push_back(in.Bytes()); break;
      case graph_field::kInput: inputs.push_back(in.Bytes()); break;
      case graph_field::kOutput: outputs.push_back(in.Bytes()); break;
      case graph_field::kValueInfo: value_infos.emplace_back(in.Bytes(), in.raw()); break;
      case graph_field::kQuantization: quantization.push_back(in.Bytes()); break;
      default: ReadNote(in, kGraphNotes, &graph->annotations());
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());

  for (std::string_view message : inputs) {
    X2IR_ASSIGN_OR_RETURN(ValueInfo info, ReadValueInfo(message));
    if (info.name.empty()) return Invalid("an input of graph '", graph->name(), "' has no name");
    if (graph->Find(info.name)) return Invalid("input '", info.name, "' is defined twice");
    graph->AddInput(info.name, std::move(info.type))->annotations() = std::move(info.annotations);
  }
  for (std::string_view message : initializers) {
    X2IR_RETURN_IF_ERROR(AddInitializer(message, /*sparse=*/false, graph));
  }
  for (std::string_view message : sparse_initializers) {
    X2IR_RETURN_IF_ERROR(AddInitializer(message, /*sparse=*/true, graph));
  }
  X2IR_RETURN_IF_ERROR(FillNodes(nodes, depth, graph));
  for (const auto& [message, raw] : value_infos) {
    X2IR_RETURN_IF_ERROR(ApplyValueInfo(message, raw, graph));
  }
  for (std::string_view message : outputs) {
    X2IR_ASSIGN_OR_RETURN(ValueInfo info, ReadValueInfo(message));
    Value* value = graph->FindInScope(info.name);
    if (value == nullptr) {
      return Invalid("output '", info.name, "' is not defined by any node, input or initializer");
    }
    // An output that is an input or a constant has that one's type.
    if (value->producer() != nullptr && value->graph() == graph) {
      if (info.has_type) value->set_type(std::move(info.type));
      value->annotations().MergeFrom(info.annotations);
    }
    graph->AddOutput(value);
  }
  for (std::string_view message : quantization) {
    X2IR_RETURN_IF_ERROR(AddQuantization(message, graph));
  }
  return absl::OkStatus();
}

// --- Model --------------------------------------------------------------------------------

absl::Status Reader::ReadOpset(std::string_view bytes, std::vector<OpsetImport>* out,
                               AnnotationsPtr* annotations) {
  OpsetImport opset;
  WireReader in = Fields(bytes);
  while (in.Next()) {
    if (in.field() == opset_field::kDomain) opset.domain = in.Bytes();
    if (in.field() == opset_field::kVersion) opset.version = in.Int();
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (opset.domain == kDefaultDomain) {
    opset.domain.clear();
    annotations->GetOrMake().extra[kOnnxDomainNote] = kDefaultDomain;
  }
  for (OpsetImport& other : *out) {
    if (other.domain != opset.domain) continue;
    if (other.version != opset.version) {
      annotations->GetOrMake().extra[kOnnxOpsetsNote] =
          StrCat("opsets ", other.version, " and ", opset.version, " of domain '", opset.domain,
                 "' are both imported");
      other.version = opset.version;  // the last one counts, in runtimes and in onnx's checker
    }
    return absl::OkStatus();
  }
  out->push_back(std::move(opset));
  return absl::OkStatus();
}

absl::Status Reader::ReadFunction(std::string_view bytes, Function* function) {
  std::vector<std::string_view> inputs, outputs, nodes, defaults;
  std::vector<std::pair<std::string_view, std::string_view>> value_infos;
  WireReader in = Fields(bytes);
  while (in.Next()) {
    switch (in.field()) {
      case function_field::kName: function->name = in.Bytes(); break;
      case function_field::kDomain: function->domain = in.Bytes(); break;
      case function_field::kOverload: function->overload = in.Bytes(); break;
      case function_field::kInput: inputs.push_back(in.Bytes()); break;
      case function_field::kOutput: outputs.push_back(in.Bytes()); break;
      case function_field::kNode: nodes.push_back(in.Bytes()); break;
      case function_field::kAttribute: function->attributes.push_back(in.String()); break;
      case function_field::kAttributeProto: defaults.push_back(in.Bytes()); break;
      case function_field::kValueInfo: value_infos.emplace_back(in.Bytes(), in.raw()); break;
      case function_field::kOpsetImport:
        X2IR_RETURN_IF_ERROR(
            ReadOpset(in.Bytes(), &function->opset_imports, &function->annotations));
        break;
      default: ReadNote(in, kFunctionNotes, &function->annotations);
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  for (std::string_view message : defaults) {
    ReadAttr attr;
    X2IR_RETURN_IF_ERROR(ReadAttribute(message, 0, &function->annotations, &attr));
    for (const auto& [graph, bytes] : attr.graphs) {
      X2IR_RETURN_IF_ERROR(FillGraph(bytes, 1, graph));
    }
    function->attribute_defaults.emplace_back(attr.name, std::move(attr.value));
  }
  function->body = std::make_shared<Graph>(function->name);
  Graph* body = function->body.get();
  for (std::string_view name : inputs) {
    if (name.empty() || body->Find(name)) return Invalid("input '", name, "' is defined twice");
    body->AddInput(name, Type());
  }
  in_function_ = true;
  const absl::Status filled = FillNodes(nodes, 0, body);
  in_function_ = false;
  X2IR_RETURN_IF_ERROR(filled);
  for (const auto& [message, raw] : value_infos) {
    X2IR_ASSIGN_OR_RETURN(ValueInfo info, ReadValueInfo(message));
    if (Value* value = body->Find(info.name)) {
      value->set_type(std::move(info.type));
      value->annotations().MergeFrom(info.annotations);
    } else {
      body->annotations().GetOrMake().extra[kValueInfoKey].append(raw);
    }
  }
  for (std::string_view name : outputs) {
    Value* value = body->Find(name);
    if (value == nullptr) return Invalid("output '", name, "' is not defined by any node or input");
    body->AddOutput(value);
  }
  return absl::OkStatus();
}

absl::StatusOr<Model> Reader::ReadModel() {
  if (source_.bytes.empty()) return DataLoss("not an ONNX model: the file is empty");
  Model model;
  model.source_dialect = kDialect;
  std::optional<std::string_view> graph;
  std::vector<std::string_view> functions, opsets;
  WireReader in = Fields(source_.bytes);
  while (in.Next()) {
    switch (in.field()) {
      case model_field::kIrVersion: model.ir_version = in.Int(); break;
      case model_field::kProducerName: model.producer_name = in.Bytes(); break;
      case model_field::kProducerVersion: model.producer_version = in.Bytes(); break;
      case model_field::kDomain: model.domain = in.Bytes(); break;
      case model_field::kModelVersion: model.model_version = in.Int(); break;
      case model_field::kGraph:
        if (graph) in.Fail("a second graph");
        graph = in.Bytes();
        break;
      case model_field::kOpsetImport: opsets.push_back(in.Bytes()); break;
      case model_field::kFunctions: functions.push_back(in.Bytes()); break;
      default: ReadNote(in, kModelNotes, &model.annotations);
    }
  }
  if (!in.status().ok()) {
    return DataLoss("not an ONNX model, or an incomplete one: ", in.status().message());
  }
  if (!graph) return DataLoss("not an ONNX model: it has no graph");

  for (std::string_view opset : opsets) {
    X2IR_RETURN_IF_ERROR(ReadOpset(opset, &model.opset_imports, &model.annotations));
  }
  // Before IR version 3 there was one operator set, so a model did not name it.
  if (model.opset_imports.empty()) model.opset_imports.push_back({"", 1});
  StringSet seen;
  for (std::string_view bytes : functions) {
    auto function = std::make_shared<Function>();
    const absl::Status status = ReadFunction(bytes, function.get());
    const std::string id = StrCat(function->domain, "::", function->name);
    X2IR_RETURN_IF_ERROR(Annotate(status, StrCat("function '", id, "'")));
    if (!seen.insert(StrCat(id, ":", function->overload)).second) {
      return Invalid("function '", id, "' is defined twice");
    }
    model.functions.push_back(std::move(function));
  }
  X2IR_RETURN_IF_ERROR(FillGraph(*graph, 0, model.graph.get()));
  return model;
}

}  // namespace
}  // namespace onnx_format

namespace {

// `file` holds the message, and external data is where that of `from` is, or in `own` (may be
// null).
absl::StatusOr<Model> ReadMessage(BlobPtr file, const Source& from, BlobPtr own = {}) {
  const std::string& path = from.name();
  onnx_format::Source source;
  source.bytes = file->view();
  source.file = std::move(file);
  source.model = &from;
  if (own) source.external[""] = std::move(own);
  absl::StatusOr<Model> model = onnx_format::Reader(&source).ReadModel();
  if (!model.ok()) return Annotate(model.status(), StrCat("'", path, "'"));
  return model;
}

}  // namespace

absl::StatusOr<Model> ReadOnnx(const Source& from) {
  X2IR_ASSIGN_OR_RETURN(BlobPtr file, from.Open());
  return ReadMessage(std::move(file), from);
}

absl::StatusOr<Model> ReadOnnxMessage(std::string message, const Source& from, BlobPtr own) {
  X2IR_ASSIGN_OR_RETURN(BlobPtr file, Source::Bytes(std::move(message), {}, from.name()).Open());
  return ReadMessage(std::move(file), from, std::move(own));
}

absl::StatusOr<Tensor> ReadOnnxTensor(const std::string& path) {
  X2IR_ASSIGN_OR_RETURN(BlobPtr file, Blob::Open(path));
  onnx_format::Source source;
  source.bytes = file->view();
  source.file = std::move(file);
  onnx_format::TensorProto proto;
  X2IR_RETURN_IF_ERROR(
      Annotate(onnx_format::ReadTensor(source, source.bytes, &proto), StrCat("'", path, "'")));
  return proto.tensor;
}

}  // namespace x2ir
