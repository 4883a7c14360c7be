// The text form of protobuf messages (.pbtxt), turned into wire form, so that there is one reader.
// Fields that the tables do not know are read over.
#include "x2ir/formats/proto_text.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tf_format {
namespace {

using Kind = ProtoKind;
using Field = ProtoField;
using Message = ProtoMessage;
constexpr ProtoEnum kDataType = {TypeNumber, nullptr};

// --- The messages -------------------------------------------------------------------------------

extern const Message kAttrValue;

constexpr Field kDimFields[] = {{"size", shape_field::kDimSize, Kind::kInt64}};
const Message kDim{"Dim", kDimFields};
const Field kShapeFields[] = {
    {"dim", shape_field::kDim, Kind::kMessage, &kDim},
    {"unknown_rank", shape_field::kUnknownRank, Kind::kBool},
};
const Message kShape{"TensorShapeProto", kShapeFields};
const Field kTensorFields[] = {
    {"dtype", tensor_field::kDType, Kind::kEnum, nullptr, &kDataType},
    {"tensor_shape", tensor_field::kShape, Kind::kMessage, &kShape},
    {"tensor_content", tensor_field::kContent, Kind::kBytes},
    {"float_val", tensor_field::kFloat, Kind::kFloat},
    {"double_val", tensor_field::kDouble, Kind::kDouble},
    {"int_val", tensor_field::kInt, Kind::kInt32},
    {"string_val", tensor_field::kString, Kind::kBytes},
    {"scomplex_val", tensor_field::kComplex64, Kind::kFloat},
    {"int64_val", tensor_field::kInt64, Kind::kInt64},
    {"bool_val", tensor_field::kBool, Kind::kBool},
    {"dcomplex_val", tensor_field::kComplex128, Kind::kDouble},
    {"half_val", tensor_field::kHalf, Kind::kInt32},
    {"uint32_val", tensor_field::kUInt32, Kind::kUInt32},
    {"uint64_val", tensor_field::kUInt64, Kind::kUInt64},
};
const Message kTensor{"TensorProto", kTensorFields};
const Field kAttrEntryFields[] = {
    {"key", entry_field::kKey, Kind::kBytes},
    {"value", entry_field::kValue, Kind::kMessage, &kAttrValue},
};
const Message kAttrEntry{"AttrEntry", kAttrEntryFields};
const Field kFuncFields[] = {
    {"name", func_field::kName, Kind::kBytes},
    {"attr", func_field::kAttr, Kind::kMessage, &kAttrEntry},
};
const Message kFunc{"NameAttrList", kFuncFields};
const Field kListFields[] = {
    {"s", attr_field::kS, Kind::kBytes},
    {"i", attr_field::kI, Kind::kInt64},
    {"f", attr_field::kF, Kind::kFloat},
    {"b", attr_field::kB, Kind::kBool},
    {"type", attr_field::kType, Kind::kEnum, nullptr, &kDataType},
    {"shape", attr_field::kShape, Kind::kMessage, &kShape},
    {"tensor", attr_field::kTensor, Kind::kMessage, &kTensor},
    {"func", attr_field::kListFunc, Kind::kMessage, &kFunc},
};
const Message kList{"ListValue", kListFields};
const Field kAttrValueFields[] = {
    {"list", attr_field::kList, Kind::kMessage, &kList},
    {"s", attr_field::kS, Kind::kBytes},
    {"i", attr_field::kI, Kind::kInt64},
    {"f", attr_field::kF, Kind::kFloat},
    {"b", attr_field::kB, Kind::kBool},
    {"type", attr_field::kType, Kind::kEnum, nullptr, &kDataType},
    {"shape", attr_field::kShape, Kind::kMessage, &kShape},
    {"tensor", attr_field::kTensor, Kind::kMessage, &kTensor},
    {"placeholder", attr_field::kPlaceholder, Kind::kBytes},
    {"func", attr_field::kFunc, Kind::kMessage, &kFunc},
};
const Message kAttrValue{"AttrValue", kAttrValueFields};
const Field kNodeFields[] = {
    {"name", node_field::kName, Kind::kBytes},
    {"op", node_field::kOp, Kind::kBytes},
    {"input", node_field::kInput, Kind::kBytes},
    {"device", node_field::kDevice, Kind::kBytes},
    {"attr", node_field::kAttr, Kind::kMessage, &kAttrEntry},
};
const Message kNode{"NodeDef", kNodeFields};
const Field kArgFields[] = {
    {"name", arg_field::kName, Kind::kBytes},
    {"type", arg_field::kType, Kind::kEnum, nullptr, &kDataType},
    {"type_attr", arg_field::kTypeAttr, Kind::kBytes},
    {"number_attr", arg_field::kNumberAttr, Kind::kBytes},
    {"type_list_attr", arg_field::kTypeListAttr, Kind::kBytes},
};
const Message kArg{"ArgDef", kArgFields};
const Field kOpAttrFields[] = {
    {"name", op_attr_field::kName, Kind::kBytes},
    {"type", op_attr_field::kType, Kind::kBytes},
    {"default_value", op_attr_field::kDefault, Kind::kMessage, &kAttrValue},
};
const Message kOpAttr{"AttrDef", kOpAttrFields};
const Field kOpFields[] = {
    {"name", op_field::kName, Kind::kBytes},
    {"input_arg", op_field::kInputArg, Kind::kMessage, &kArg},
    {"output_arg", op_field::kOutputArg, Kind::kMessage, &kArg},
    {"attr", op_field::kAttr, Kind::kMessage, &kOpAttr},
};
const Message kOp{"OpDef", kOpFields};
const Field kTextEntryFields[] = {
    {"key", entry_field::kKey, Kind::kBytes},
    {"value", entry_field::kValue, Kind::kBytes},
};
const Message kTextEntry{"Entry", kTextEntryFields};
const Field kFunctionFields[] = {
    {"signature", function_field::kSignature, Kind::kMessage, &kOp},
    {"node_def", function_field::kNode, Kind::kMessage, &kNode},
    {"ret", function_field::kRet, Kind::kMessage, &kTextEntry},
    {"control_ret", function_field::kControlRet, Kind::kMessage, &kTextEntry},
};
const Message kFunction{"FunctionDef", kFunctionFields};
const Field kLibraryFields[] = {
    {"function", library_field::kFunction, Kind::kMessage, &kFunction},
};
const Message kLibrary{"FunctionDefLibrary", kLibraryFields};
const Field kVersionsFields[] = {{"producer", versions_field::kProducer, Kind::kInt32}};
const Message kVersions{"VersionDef", kVersionsFields};
const Field kGraphFields[] = {
    {"node", graph_field::kNode, Kind::kMessage, &kNode},
    {"library", graph_field::kLibrary, Kind::kMessage, &kLibrary},
    {"version", graph_field::kVersion, Kind::kInt32},
    {"versions", graph_field::kVersions, Kind::kMessage, &kVersions},
};
const Message kGraph{"GraphDef", kGraphFields};
const Field kTensorInfoFields[] = {
    {"name", tensor_info_field::kName, Kind::kBytes},
    {"dtype", tensor_info_field::kDType, Kind::kEnum, nullptr, &kDataType},
    {"tensor_shape", tensor_info_field::kShape, Kind::kMessage, &kShape},
};
const Message kTensorInfo{"TensorInfo", kTensorInfoFields};
const Field kTensorInfoEntryFields[] = {
    {"key", entry_field::kKey, Kind::kBytes},
    {"value", entry_field::kValue, Kind::kMessage, &kTensorInfo},
};
const Message kTensorInfoEntry{"TensorInfoEntry", kTensorInfoEntryFields};
const Field kSignatureFields[] = {
    {"inputs", signature_field::kInputs, Kind::kMessage, &kTensorInfoEntry},
    {"outputs", signature_field::kOutputs, Kind::kMessage, &kTensorInfoEntry},
};
const Message kSignature{"SignatureDef", kSignatureFields};
const Field kSignatureEntryFields[] = {
    {"key", entry_field::kKey, Kind::kBytes},
    {"value", entry_field::kValue, Kind::kMessage, &kSignature},
};
const Message kSignatureEntry{"SignatureEntry", kSignatureEntryFields};
const Field kMetaInfoFields[] = {
    {"tags", meta_info_field::kTags, Kind::kBytes},
    {"tensorflow_version", meta_info_field::kTensorFlowVersion, Kind::kBytes},
};
const Message kMetaInfo{"MetaInfoDef", kMetaInfoFields};
const Field kSaverFields[] = {
    {"filename_tensor_name", saver_field::kFileName, Kind::kBytes},
    {"restore_op_name", saver_field::kRestoreOp, Kind::kBytes},
};
const Message kSaver{"SaverDef", kSaverFields};
const Field kAssetFields[] = {
    {"tensor_info", asset_field::kTensor, Kind::kMessage, &kTensorInfo},
    {"filename", asset_field::kFile, Kind::kBytes},
};
const Message kAsset{"AssetFileDef", kAssetFields};
const Field kMetaGraphFields[] = {
    {"meta_info_def", meta_graph_field::kMetaInfo, Kind::kMessage, &kMetaInfo},
    {"graph_def", meta_graph_field::kGraph, Kind::kMessage, &kGraph},
    {"saver_def", meta_graph_field::kSaver, Kind::kMessage, &kSaver},
    {"signature_def", meta_graph_field::kSignature, Kind::kMessage, &kSignatureEntry},
    {"asset_file_def", meta_graph_field::kAsset, Kind::kMessage, &kAsset},
};
const Message kMetaGraph{"MetaGraphDef", kMetaGraphFields};
const Field kSavedModelFields[] = {
    {"saved_model_schema_version", saved_model_field::kSchemaVersion, Kind::kInt32},
    {"meta_graphs", saved_model_field::kMetaGraph, Kind::kMessage, &kMetaGraph},
};
const Message kSavedModel{"SavedModel", kSavedModelFields};

const Message* const kRoots[] = {&kGraph, &kSavedModel};

}  // namespace

absl::StatusOr<std::string> TextToWire(std::string_view text, std::string_view root) {
  for (const Message* message : kRoots) {
    if (message->name == root) return ProtoTextToWire(text, *message, ProtoUnknown::kSkipped);
  }
  return Internal("no message ", root);
}

std::string_view TextRoot(std::string_view head) {
  const std::string_view word = FirstProtoTextName(head);
  for (const Message* message : kRoots) {
    if (!word.empty() && FindProtoField(*message, word)) return message->name;
  }
  return {};
}

}  // namespace x2ir::tf_format
