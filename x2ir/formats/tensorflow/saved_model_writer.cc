#include <algorithm>
#include <utility>

#include "x2ir/formats/tensorflow/saved_model_writer_internal.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

constexpr std::string_view kServeTag = "serve";
constexpr std::string_view kPredict = "tensorflow/serving/predict";
constexpr std::string_view kMainOpKey = "saved_model_main_op";  // of what loaders run first
constexpr int64_t kSchemaVersion = 1;
constexpr int64_t kSaverV2 = 2;    // SaverDef::V2: a checkpoint with an index
constexpr int64_t kMaxToKeep = 5;  // the default of savers

// Weights are variables; sizes, axes and the like stay constants, which kernels may require.
ConstantPlace PlaceOfConstant(const Tensor& tensor) {
  const bool whole_bytes = !tensor.is_string() && !tensor.is_sparse();
  if (!whole_bytes || tensor.rank() == 0 || tensor.nbytes() == 0) return ConstantPlace::kInside;
  // TensorFlow assigns variables of these types.
  switch (tensor.dtype()) {
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32:
    case DType::kFloat64: return ConstantPlace::kVariable;
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUInt8:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
    case DType::kComplex64:
    case DType::kComplex128:
      return tensor.nbytes() > kSmallConstant ? ConstantPlace::kVariable : ConstantPlace::kInside;
    default: return ConstantPlace::kInside;
  }
}

// The nodes that write variables to a checkpoint and read them from one, as TensorFlow's savers
// have them.
class Saver {
 public:
  Saver(WireWriter& out, GraphWriter& graph) : nodes_(out, graph, "save/") {}

  absl::Status Write(const std::vector<GraphWriter::Apart>& variables) {
    const Type text = Type::Tensor(DType::kString);
    std::vector<std::string> names, slices(variables.size());
    std::vector<Type> types;
    for (const GraphWriter::Apart& variable : variables) {
      names.push_back(variable.node);
      types.push_back(Type::Tensor(variable.tensor.dtype()));
    }
    const auto count = static_cast<int64_t>(variables.size());
    const std::string path = nodes_.Constant("filename/input", Tensor::Strings({}, {"model"}));
    const Attribute scalar = Type::Tensor(DType::kUndefined, Shape());
    const std::string default_path = nodes_.Add("filename", "PlaceholderWithDefault", {path},
                                                {{"dtype", text}, {"shape", scalar}});
    file_ = nodes_.Add("Const", "PlaceholderWithDefault", {default_path},
                       {{"dtype", text}, {"shape", scalar}});
    // Writing.
    std::vector<std::string> saved = {
        file_, nodes_.Constant("SaveV2/tensor_names", Tensor::Strings({count}, names)),
        nodes_.Constant("SaveV2/shape_and_slices", Tensor::Strings({count}, slices))};
    for (const GraphWriter::Apart& variable : variables) saved.push_back(variable.read);
    const std::string save = nodes_.Add("SaveV2", "SaveV2", saved, {{"dtypes", types}});
    saved_ =
        nodes_.Add("control_dependency", "Identity", {file_, StrCat("^", save)}, {{"T", text}});
    // Reading.
    const std::string restore = nodes_.Add(
        "RestoreV2", "RestoreV2",
        {file_, nodes_.Constant("RestoreV2/tensor_names", Tensor::Strings({count}, names)),
         nodes_.Constant("RestoreV2/shape_and_slices", Tensor::Strings({count}, slices))},
        {{"dtypes", types}});
    std::vector<std::string> assigned;
    for (size_t i = 0; i < variables.size(); ++i) {
      const std::string value =
          nodes_.Add(StrCat("Identity_", i), "Identity",
                     {i == 0 ? restore : StrCat(restore, ":", i)}, {{"T", types[i]}});
      assigned.push_back(
          StrCat("^", nodes_.Add(StrCat("AssignVariableOp_", i), "AssignVariableOp",
                                 {variables[i].node, value}, {{"dtype", types[i]}})));
    }
    restored_ = nodes_.Add("restore_all", "NoOp", assigned, {});
    return nodes_.status();
  }

  // SaverDef.
  void WriteDef(WireWriter& out) const {
    out.Bytes(saver_def_field::kFilenameTensorName, StrCat(file_, ":0"));
    out.Bytes(saver_def_field::kSaveTensorName, StrCat(saved_, ":0"));
    out.Bytes(saver_def_field::kRestoreOpName, restored_);
    out.Int(saver_def_field::kMaxToKeep, kMaxToKeep);
    out.Int(saver_def_field::kVersion, kSaverV2);
  }

 private:
  AddedNodes nodes_;
  std::string file_, saved_, restored_;
};

absl::Status WriteTensorInfo(WireWriter& out, uint32_t field, const GraphWriter::Port& port) {
  out.Begin(field);
  out.Bytes(signature_def_inputs_entry_field::kKey, port.name);
  out.Begin(signature_def_inputs_entry_field::kValue);
  out.Bytes(tensor_info_field::kName, StrCat(port.node, ":0"));
  X2IR_ASSIGN_OR_RETURN(const int64_t number, NumberOfType(port.type));
  out.Int(tensor_info_field::kDtype, number);
  WriteShapeProto(out, tensor_info_field::kTensorShape, port.type.shape());
  out.End();
  out.End();
  return absl::OkStatus();
}

// The names of the signature: loaders want serving_default, users of the source's its own.
std::vector<std::string> NamesOfSignature(const Model& model, const std::string& asked) {
  if (!asked.empty()) return {asked};
  std::vector<std::string> names;
  const Annotations* notes = model.graph->annotations().get();
  const auto note = notes ? notes->extra.find(kSignaturesNote) : decltype(notes->extra.end())();
  if (notes && note != notes->extra.end()) {
    for (std::string_view rest = note->second; !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(name.size() + 1, rest.size()));
      const bool again = std::find(names.begin(), names.end(), name) != names.end();
      if (!name.empty() && !again) names.emplace_back(name);
    }
  }
  if (std::find(names.begin(), names.end(), kDefaultSignature) == names.end()) {
    names.emplace_back(kDefaultSignature);
  }
  return names;
}

absl::Status WriteSignature(WireWriter& out, std::string_view name, const GraphWriter& graph) {
  out.Begin(meta_graph_def_field::kSignatureDef);
  out.Bytes(meta_graph_def_signature_def_entry_field::kKey, name);
  out.Begin(meta_graph_def_signature_def_entry_field::kValue);
  for (const GraphWriter::Port& port : graph.inputs()) {
    X2IR_RETURN_IF_ERROR(WriteTensorInfo(out, signature_def_field::kInputs, port));
  }
  for (const GraphWriter::Port& port : graph.outputs()) {
    X2IR_RETURN_IF_ERROR(WriteTensorInfo(out, signature_def_field::kOutputs, port));
  }
  out.Bytes(signature_def_field::kMethodName, kPredict);
  out.End();
  out.End();
  return absl::OkStatus();
}

}  // namespace

absl::Status MakeSavedModel(const Model& model, const SavedModelOptions& options,
                            SavedModelMessage& message) {
  WireWriter& out = message.message;
  out.Int(saved_model_field::kSavedModelSchemaVersion, kSchemaVersion);
  out.Begin(saved_model_field::kMetaGraphs);
  out.Begin(meta_graph_def_field::kMetaInfoDef);
  out.Bytes(meta_graph_def_meta_info_def_field::kMetaGraphVersion, kOrderedVersion);
  out.Bytes(meta_graph_def_meta_info_def_field::kTags, kServeTag);
  out.End();

  GraphWriter graph(model, options.freeze ? nullptr : PlaceOfConstant);
  out.Begin(meta_graph_def_field::kGraphDef);
  X2IR_RETURN_IF_ERROR(graph.Write(out));
  Saver saver(out, graph);
  message.variables = graph.apart();
  if (!message.variables.empty()) X2IR_RETURN_IF_ERROR(saver.Write(message.variables));
  TableFiller filler(out, graph, "assets/");
  X2IR_RETURN_IF_ERROR(filler.Write());
  message.assets = filler.assets();
  out.End();
  if (!message.variables.empty()) {
    out.Begin(meta_graph_def_field::kSaverDef);
    saver.WriteDef(out);
    out.End();
  }
  if (!filler.main_op().empty()) {
    out.Begin(meta_graph_def_field::kCollectionDef);
    out.Bytes(meta_graph_def_collection_def_entry_field::kKey, kMainOpKey);
    out.Begin(meta_graph_def_collection_def_entry_field::kValue);
    out.Begin(collection_def_field::kNodeList);
    out.Bytes(collection_def_node_list_field::kValue, filler.main_op());
    out.End();
    out.End();
    out.End();
  }

  for (const std::string& name : NamesOfSignature(model, options.signature)) {
    X2IR_RETURN_IF_ERROR(WriteSignature(out, name, graph));
  }
  for (const TableFiller::Asset& asset : message.assets) {
    out.Begin(meta_graph_def_field::kAssetFileDef);
    out.Begin(asset_file_def_field::kTensorInfo);
    out.Bytes(tensor_info_field::kName, StrCat(asset.node, ":0"));
    out.End();
    out.Bytes(asset_file_def_field::kFilename, asset.file);
    out.End();
  }
  out.End();
  return absl::OkStatus();
}

}  // namespace x2ir::tf_format
