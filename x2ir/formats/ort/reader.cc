// Turns a file into ONNX's message, which the reader of ONNX reads. The bytes of tensors stay where
// they are: the message refers to ranges of the file.
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "x2ir/formats/flat/flat_view_internal.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/onnx/onnx_internal.h"
#include "x2ir/formats/ort/ort_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace ort_format {
namespace {

using flat::FlatBuffer;
using flat::FlatVector;
using flat::FlatView;
using onnx_format::AttrType;
namespace attr_field = onnx_format::attr_field;
namespace entry_field = onnx_format::entry_field;
namespace graph_field = onnx_format::graph_field;
namespace model_field = onnx_format::model_field;
namespace node_field = onnx_format::node_field;
namespace opset_field = onnx_format::opset_field;
namespace sparse_field = onnx_format::sparse_field;
namespace tensor_field = onnx_format::tensor_field;
namespace type_field = onnx_format::type_field;
namespace value_field = onnx_format::value_field;

constexpr int kOldestVersion = 1, kNewestVersion = 6;

class MessageMaker {
 public:
  // `external`: what the file of external data is called.
  MessageMaker(FlatBuffer* file, std::string external)
      : file_(*file), external_(std::move(external)) {}

  absl::StatusOr<std::string> Make() {
    const FlatView session = file_.root();
    X2IR_RETURN_IF_ERROR(CheckVersion(session.Text(fb::InferenceSession::VT_ORT_VERSION)));
    const FlatView model = session.Table(fb::InferenceSession::VT_MODEL);
    if (!model) file_.Fail(DataLoss("the file has no model"));
    PutModel(model);
    X2IR_RETURN_IF_ERROR(file_.status());
    return out_.ToString();
  }
  int64_t runtime_optimizations() const { return runtime_optimizations_; }

 private:
  absl::Status CheckVersion(std::string_view text) {
    X2IR_RETURN_IF_ERROR(file_.status());
    const auto version = ParseNumber<int>(text);
    if (version && *version >= kOldestVersion && *version <= kNewestVersion) {
      return absl::OkStatus();
    }
    return Unimplemented("version '", text.substr(0, 16), "' of ONNX Runtime's format; versions ",
                         int64_t{kOldestVersion}, " to ", int64_t{kNewestVersion}, " are read");
  }

  void PutModel(const FlatView& model) {
    out_.Int(model_field::kIrVersion, model.Number<int64_t>(fb::Model::VT_IR_VERSION));
    out_.BytesUnlessEmpty(model_field::kProducerName, model.Text(fb::Model::VT_PRODUCER_NAME));
    out_.BytesUnlessEmpty(model_field::kProducerVersion,
                          model.Text(fb::Model::VT_PRODUCER_VERSION));
    out_.BytesUnlessEmpty(model_field::kDomain, model.Text(fb::Model::VT_DOMAIN));
    out_.IntUnlessZero(model_field::kModelVersion,
                       model.Number<int64_t>(fb::Model::VT_MODEL_VERSION));
    out_.BytesUnlessEmpty(model_field::kDocString, model.Text(fb::Model::VT_DOC_STRING));
    const FlatVector opsets = model.Vector(fb::Model::VT_OPSET_IMPORT);
    for (uint32_t i = 0; i < opsets.size() && file_.status().ok(); ++i) {
      const FlatView opset = opsets.Table(i);
      std::string_view domain = opset.Text(fb::OperatorSetId::VT_DOMAIN);
      const auto version = opset.Number<int64_t>(fb::OperatorSetId::VT_VERSION);
      out_.Begin(model_field::kOpsetImport);
      out_.BytesUnlessEmpty(opset_field::kDomain, domain);
      out_.Int(opset_field::kVersion, version);
      out_.End();
      if (domain == onnx_format::kDefaultDomain) domain = "";
      opsets_[domain] = version;
    }
    if (opsets.size() == 0) file_.Fail(Invalid("the model imports no opsets"));
    const FlatVector metadata = model.Vector(fb::Model::VT_METADATA_PROPS);
    for (uint32_t i = 0; i < metadata.size() && file_.status().ok(); ++i) {
      const FlatView entry = metadata.Table(i);
      onnx_format::WriteEntry(out_, model_field::kMetadata,
                              entry.Text(fb::StringStringEntry::VT_KEY),
                              entry.Text(fb::StringStringEntry::VT_VALUE));
    }
    const FlatView graph = model.Table(fb::Model::VT_GRAPH);
    if (!graph) return file_.Fail(DataLoss("the model has no graph"));
    PutGraph(model_field::kGraph, graph, model.Text(fb::Model::VT_GRAPH_DOC_STRING), 0);
  }

  // --- Graphs ------------------------------------------------------------------------------------

  using Infos = absl::flat_hash_map<std::string_view, FlatView>;

  void PutGraph(uint32_t field, const FlatView& graph, std::string_view doc_string, int depth) {
    if (depth > kMaxWireDepth) return file_.Fail(Invalid("graphs are nested too deeply"));
    const FlatVector records = graph.Table(fb::Graph::VT_RUNTIME_OPTIMIZATIONS)
                                   .Vector(fb::RuntimeOptimizations::VT_RECORDS);
    runtime_optimizations_ += records.size();
    Infos infos;
    const FlatVector args = graph.Vector(fb::Graph::VT_NODE_ARGS);
    for (uint32_t i = 0; i < args.size() && file_.status().ok(); ++i) {
      const FlatView info = args.Table(i);
      infos[info.Text(fb::ValueInfo::VT_NAME)] = info;
    }
    out_.Begin(field);
    out_.BytesUnlessEmpty(graph_field::kDocString, doc_string);
    absl::flat_hash_set<std::string_view> said;
    for (const bool input : {true, false}) {
      const FlatVector names = graph.Vector(input ? fb::Graph::VT_INPUTS : fb::Graph::VT_OUTPUTS);
      for (uint32_t i = 0; i < names.size() && file_.status().ok(); ++i) {
        said.insert(names.Text(i));
        PutInfo(input ? graph_field::kInput : graph_field::kOutput, names.Text(i), infos);
      }
    }
    const FlatVector nodes = graph.Vector(fb::Graph::VT_NODES);
    for (uint32_t i = 0; i < nodes.size() && file_.status().ok(); ++i) {
      const FlatView node = nodes.Table(i);
      PutNode(node, depth);
      const FlatVector outputs = node.Vector(fb::Node::VT_OUTPUTS);
      for (uint32_t k = 0; k < outputs.size(); ++k) {
        const std::string_view name = outputs.Text(k);
        if (!name.empty() && infos.contains(name) && said.insert(name).second) {
          PutInfo(graph_field::kValueInfo, name, infos);
        }
      }
    }
    const FlatVector tensors = graph.Vector(fb::Graph::VT_INITIALIZERS);
    for (uint32_t i = 0; i < tensors.size() && file_.status().ok(); ++i) {
      PutTensor(graph_field::kInitializer, tensors.Table(i));
    }
    const FlatVector sparse = graph.Vector(fb::Graph::VT_SPARSE_INITIALIZERS);
    for (uint32_t i = 0; i < sparse.size() && file_.status().ok(); ++i) {
      const FlatView tensor = sparse.Table(i);
      out_.Begin(graph_field::kSparseInitializer);
      PutTensor(sparse_field::kValues, tensor.Table(fb::SparseTensor::VT_VALUES));
      PutTensor(sparse_field::kIndices, tensor.Table(fb::SparseTensor::VT_INDICES));
      PutInts(sparse_field::kDims, tensor.Vector(fb::SparseTensor::VT_DIMS, sizeof(int64_t)));
      out_.End();
    }
    out_.End();
  }

  void PutInts(uint32_t field, const FlatVector& numbers) {
    for (uint32_t i = 0; i < numbers.size(); ++i) out_.Int(field, numbers.Number<int64_t>(i));
  }

  void PutInfo(uint32_t field, std::string_view name, const Infos& infos) {
    out_.Begin(field);
    out_.Bytes(value_field::kName, name);
    if (const auto it = infos.find(name); it != infos.end()) {
      const FlatView type = it->second.Table(fb::ValueInfo::VT_TYPE);
      if (type) PutType(value_field::kType, type, 0);
      out_.BytesUnlessEmpty(value_field::kDocString, it->second.Text(fb::ValueInfo::VT_DOC_STRING));
    }
    out_.End();
  }

  // --- Types -------------------------------------------------------------------------------------

  void PutType(uint32_t field, const FlatView& info, int depth) {
    if (depth > kMaxWireDepth) return file_.Fail(Invalid("types are nested too deeply"));
    const auto kind = info.Number<uint8_t>(fb::TypeInfo::VT_VALUE_TYPE);
    const FlatView type = info.Table(fb::TypeInfo::VT_VALUE);
    out_.Begin(field);
    switch (static_cast<fb::TypeInfoValue>(kind)) {
      case fb::TypeInfoValue::TensorTypeAndShape:
        out_.Begin(type_field::kTensor);
        out_.Int(type_field::kElemType, type.Number<int32_t>(fb::TensorTypeAndShape::VT_ELEM_TYPE));
        if (const FlatView shape = type.Table(fb::TensorTypeAndShape::VT_SHAPE)) PutShape(shape);
        out_.End();
        break;
      case fb::TypeInfoValue::SequenceType:
        out_.Begin(type_field::kSequence);
        PutType(type_field::kElement, type.Table(fb::SequenceType::VT_ELEM_TYPE), depth + 1);
        out_.End();
        break;
      case fb::TypeInfoValue::MapType:
        out_.Begin(type_field::kMap);
        out_.Int(type_field::kKeyType, type.Number<int32_t>(fb::MapType::VT_KEY_TYPE));
        PutType(type_field::kValueType, type.Table(fb::MapType::VT_VALUE_TYPE), depth + 1);
        out_.End();
        break;
      default: file_.Fail(Invalid("a value has the unknown kind of type ", int64_t{kind}));
    }
    out_.BytesUnlessEmpty(type_field::kDenotation, info.Text(fb::TypeInfo::VT_DENOTATION));
    out_.End();
  }

  void PutShape(const FlatView& shape) {
    out_.Begin(type_field::kShape);
    const FlatVector dims = shape.Vector(fb::Shape::VT_DIM);
    for (uint32_t i = 0; i < dims.size() && file_.status().ok(); ++i) {
      const FlatView dim = dims.Table(i), value = dim.Table(fb::Dimension::VT_VALUE);
      const auto kind = static_cast<fb::DimensionValueType>(
          value.Number<int8_t>(fb::DimensionValue::VT_DIM_TYPE));
      out_.Begin(type_field::kDim);
      if (kind == fb::DimensionValueType::VALUE) {
        out_.Int(type_field::kDimValue, value.Number<int64_t>(fb::DimensionValue::VT_DIM_VALUE));
      } else if (kind == fb::DimensionValueType::PARAM) {
        out_.Bytes(type_field::kDimParam, value.Text(fb::DimensionValue::VT_DIM_PARAM));
      }
      out_.BytesUnlessEmpty(type_field::kDimDenotation, dim.Text(fb::Dimension::VT_DENOTATION));
      out_.End();
    }
    out_.End();
  }

  // --- Tensors -----------------------------------------------------------------------------------

  void PutTensor(uint32_t field, const FlatView& tensor) {
    const std::string_view name = tensor.Text(fb::Tensor::VT_NAME);
    out_.Begin(field);
    PutInts(tensor_field::kDims, tensor.Vector(fb::Tensor::VT_DIMS, sizeof(int64_t)));
    const auto type = tensor.Number<int32_t>(fb::Tensor::VT_DATA_TYPE);
    out_.Int(tensor_field::kDataType, type);
    out_.BytesUnlessEmpty(tensor_field::kName, name);
    out_.BytesUnlessEmpty(tensor_field::kDocString, tensor.Text(fb::Tensor::VT_DOC_STRING));
    const auto outside = tensor.Number<int64_t>(fb::Tensor::VT_EXTERNAL_DATA_OFFSET, -1);
    if (type == kStrings) {
      const FlatVector strings = tensor.Vector(fb::Tensor::VT_STRING_DATA);
      for (uint32_t i = 0; i < strings.size() && file_.status().ok(); ++i) {
        out_.Bytes(tensor_field::kStringData, strings.Text(i));
      }
    } else if (tensor.Has(fb::Tensor::VT_RAW_DATA)) {
      const FlatVector raw = tensor.Vector(fb::Tensor::VT_RAW_DATA, 1, /*in_place=*/true);
      PutPlace("", raw.begin());
      onnx_format::WriteEntry(out_, tensor_field::kExternalData, "length", StrCat(raw.size()));
    } else if (outside >= 0) {
      PutPlace(external_, static_cast<uint64_t>(outside));
    } else {
      file_.Fail(Invalid("tensor '", name, "' has no data"));
    }
    out_.End();
  }

  // Location "" is the file itself.
  void PutPlace(std::string_view location, uint64_t offset) {
    onnx_format::WriteEntry(out_, tensor_field::kExternalData, "location", location);
    onnx_format::WriteEntry(out_, tensor_field::kExternalData, "offset", StrCat(offset));
    out_.Int(tensor_field::kDataLocation, 1);
  }

  // --- Nodes -------------------------------------------------------------------------------------

  // The numbers of a node are those of ONNX Runtime's kernel; the model's opsets must mean the
  // same.
  void CheckNodeVersion(const FlatView& node, std::string_view domain, std::string_view op) {
    const auto version = node.Number<int32_t>(fb::Node::VT_SINCE_VERSION);
    const auto opset = opsets_.find(domain);
    if (version <= 0 || opset == opsets_.end()) return;
    const int64_t known = Operators().since_version(domain, op, opset->second);
    if (known == 0 || known == version) return;
    file_.Fail(Unimplemented("node '", node.Text(fb::Node::VT_NAME), "' is ", op, " of version ",
                             int64_t{version}, ", and opset ", opset->second, " of domain '",
                             domain, "', which the model imports, has version ", known, " of it"));
  }

  void PutNode(const FlatView& node, int depth) {
    const std::string_view name = node.Text(fb::Node::VT_NAME),
                           op = node.Text(fb::Node::VT_OP_TYPE);
    std::string_view domain = node.Text(fb::Node::VT_DOMAIN);
    if (node.Number<int32_t>(fb::Node::VT_TYPE) != static_cast<int32_t>(fb::NodeType::Primitive)) {
      return file_.Fail(Unimplemented("node '", name, "' (", op, ") is compiled for the device '",
                                      node.Text(fb::Node::VT_EXECUTION_PROVIDER_TYPE),
                                      "': the file does not say what it computes"));
    }
    CheckNodeVersion(node, domain == onnx_format::kDefaultDomain ? "" : domain, op);
    out_.Begin(graph_field::kNode);
    const FlatVector inputs = node.Vector(fb::Node::VT_INPUTS);
    for (uint32_t i = 0; i < inputs.size(); ++i) out_.Bytes(node_field::kInput, inputs.Text(i));
    const FlatVector outputs = node.Vector(fb::Node::VT_OUTPUTS);
    for (uint32_t i = 0; i < outputs.size(); ++i) out_.Bytes(node_field::kOutput, outputs.Text(i));
    out_.BytesUnlessEmpty(node_field::kName, name);
    out_.Bytes(node_field::kOpType, op);
    out_.BytesUnlessEmpty(node_field::kDomain, domain);
    out_.BytesUnlessEmpty(node_field::kDocString, node.Text(fb::Node::VT_DOC_STRING));
    const FlatVector attributes = node.Vector(fb::Node::VT_ATTRIBUTES);
    for (uint32_t i = 0; i < attributes.size() && file_.status().ok(); ++i) {
      PutAttribute(attributes.Table(i), depth);
    }
    out_.End();
  }

  void PutAttribute(const FlatView& attr, int depth) {
    const std::string_view name = attr.Text(fb::Attribute::VT_NAME);
    const auto type = attr.Number<int32_t>(fb::Attribute::VT_TYPE);
    out_.Begin(node_field::kAttribute);
    out_.Bytes(attr_field::kName, name);
    out_.Int(attr_field::kType, type);
    out_.BytesUnlessEmpty(attr_field::kDocString, attr.Text(fb::Attribute::VT_DOC_STRING));
    switch (static_cast<AttrType>(type)) {
      case AttrType::kFloat:
        out_.Float(attr_field::kF, attr.Number<float>(fb::Attribute::VT_F));
        break;
      case AttrType::kInt:
        out_.Int(attr_field::kI, attr.Number<int64_t>(fb::Attribute::VT_I));
        break;
      case AttrType::kString: out_.Bytes(attr_field::kS, attr.Text(fb::Attribute::VT_S)); break;
      case AttrType::kTensor: PutTensor(attr_field::kT, attr.Table(fb::Attribute::VT_T)); break;
      case AttrType::kGraph:
        PutGraph(attr_field::kG, attr.Table(fb::Attribute::VT_G), "", depth + 1);
        break;
      case AttrType::kFloats: {
        const FlatVector floats = attr.Vector(fb::Attribute::VT_FLOATS, sizeof(float));
        for (uint32_t i = 0; i < floats.size(); ++i) {
          out_.Float(attr_field::kFloats, floats.Number<float>(i));
        }
        break;
      }
      case AttrType::kInts:
        PutInts(attr_field::kInts, attr.Vector(fb::Attribute::VT_INTS, sizeof(int64_t)));
        break;
      case AttrType::kStrings: {
        const FlatVector strings = attr.Vector(fb::Attribute::VT_STRINGS);
        for (uint32_t i = 0; i < strings.size(); ++i) {
          out_.Bytes(attr_field::kStrings, strings.Text(i));
        }
        break;
      }
      case AttrType::kTensors: {
        const FlatVector tensors = attr.Vector(fb::Attribute::VT_TENSORS);
        for (uint32_t i = 0; i < tensors.size() && file_.status().ok(); ++i) {
          PutTensor(attr_field::kTensors, tensors.Table(i));
        }
        break;
      }
      case AttrType::kGraphs: {
        const FlatVector graphs = attr.Vector(fb::Attribute::VT_GRAPHS);
        for (uint32_t i = 0; i < graphs.size() && file_.status().ok(); ++i) {
          PutGraph(attr_field::kGraphs, graphs.Table(i), "", depth + 1);
        }
        break;
      }
      default:
        file_.Fail(Invalid("attribute '", name, "' has the type ", int64_t{type},
                           ", which files of ONNX Runtime do not have"));
    }
    out_.End();
  }

  FlatBuffer& file_;
  const std::string external_;
  WireWriter out_;
  absl::flat_hash_map<std::string_view, int64_t> opsets_;
  int64_t runtime_optimizations_ = 0;
};

}  // namespace
}  // namespace ort_format

absl::StatusOr<Model> ReadOrt(const Source& source) {
  X2IR_ASSIGN_OR_RETURN(const BlobPtr blob, source.Open());
  if (!LooksLikeOrt({blob->data(), blob->size()})) {
    return DataLoss("'", source.name(), "' is not a file of ONNX Runtime's format");
  }
  flat::FlatBuffer file(blob->view());
  const std::string& path = source.name();
  const size_t slash = path.rfind('/');
  ort_format::MessageMaker maker(
      &file, StrCat(slash == path.npos ? path : path.substr(slash + 1), ".data"));
  absl::StatusOr<std::string> message = maker.Make();
  if (!message.ok()) return Annotate(message.status(), StrCat("'", path, "'"));
  X2IR_ASSIGN_OR_RETURN(Model model, ReadOnnxMessage(*std::move(message), source, blob));
  if (const int64_t count = maker.runtime_optimizations(); count != 0) {
    model.annotations.GetOrMake().extra[kOrtOptimizationsNote] = StrCat(count);
  }
  return model;
}

bool LooksLikeOrt(absl::Span<const std::byte> head) {
  constexpr size_t kHead = 8;  // offset of the root, identifier
  return head.size() >= kHead && ort_format::fb::InferenceSessionBufferHasIdentifier(head.data());
}

}  // namespace x2ir
