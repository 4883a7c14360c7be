// The messages of onnx.proto (IR version 14), with all of their fields, in the order of the
// numbers.
#include <algorithm>
#include <iterator>

#include "x2ir/formats/onnx_text/onnx_text_internal.h"

namespace x2ir::onnx_text {
namespace {

// --- Enumerations -------------------------------------------------------------------------------

struct Named {
  int64_t number;
  std::string_view name;
};

template <const auto& kNames>
constexpr ProtoEnum EnumOf() {
  return {[](std::string_view name) -> std::optional<int64_t> {
            const auto* found =
                std::ranges::find(std::begin(kNames), std::end(kNames), name, &Named::name);
            if (found == std::end(kNames)) return std::nullopt;
            return found->number;
          },
          [](int64_t number) -> std::string_view {
            const auto* found =
                std::ranges::find(std::begin(kNames), std::end(kNames), number, &Named::number);
            return found == std::end(kNames) ? std::string_view() : found->name;
          }};
}

constexpr Named kAttributeProtoAttributeTypeNames[] = {
    {0, "UNDEFINED"},      {1, "FLOAT"},           {2, "INT"},
    {3, "STRING"},         {4, "TENSOR"},          {5, "GRAPH"},
    {11, "SPARSE_TENSOR"}, {13, "TYPE_PROTO"},     {6, "FLOATS"},
    {7, "INTS"},           {8, "STRINGS"},         {9, "TENSORS"},
    {10, "GRAPHS"},        {12, "SPARSE_TENSORS"}, {14, "TYPE_PROTOS"}};
constexpr ProtoEnum kAttributeProtoAttributeType = EnumOf<kAttributeProtoAttributeTypeNames>();
constexpr Named kTensorProtoDataLocationNames[] = {{0, "DEFAULT"}, {1, "EXTERNAL"}};
constexpr ProtoEnum kTensorProtoDataLocation = EnumOf<kTensorProtoDataLocationNames>();

// --- Messages -----------------------------------------------------------------------------------

extern const ProtoMessage kAttributeProto;
extern const ProtoMessage kValueInfoProto;
extern const ProtoMessage kNodeProto;
extern const ProtoMessage kIntIntListEntryProto;
extern const ProtoMessage kNodeDeviceConfigurationProto;
extern const ProtoMessage kShardingSpecProto;
extern const ProtoMessage kShardedDimProto;
extern const ProtoMessage kSimpleShardedDimProto;
extern const ProtoMessage kTrainingInfoProto;
extern const ProtoMessage kModelProto;
extern const ProtoMessage kDeviceConfigurationProto;
extern const ProtoMessage kStringStringEntryProto;
extern const ProtoMessage kTensorAnnotation;
extern const ProtoMessage kGraphProto;
extern const ProtoMessage kTensorProto;
extern const ProtoMessage kTensorProtoSegment;
extern const ProtoMessage kSparseTensorProto;
extern const ProtoMessage kTensorShapeProto;
extern const ProtoMessage kTensorShapeProtoDimension;
extern const ProtoMessage kTypeProto;
extern const ProtoMessage kTypeProtoTensor;
extern const ProtoMessage kTypeProtoSequence;
extern const ProtoMessage kTypeProtoMap;
extern const ProtoMessage kTypeProtoOptional;
extern const ProtoMessage kTypeProtoSparseTensor;
extern const ProtoMessage kTypeProtoOpaque;
extern const ProtoMessage kOperatorSetIdProto;
extern const ProtoMessage kFunctionProto;

constexpr ProtoField kAttributeProtoFields[] = {
    {"name", 1, ProtoKind::kString},
    {"f", 2, ProtoKind::kFloat},
    {"i", 3, ProtoKind::kInt64},
    {"s", 4, ProtoKind::kBytes},
    {"t", 5, ProtoKind::kMessage, &kTensorProto},
    {"g", 6, ProtoKind::kMessage, &kGraphProto},
    {"floats", 7, ProtoKind::kFloat, nullptr, nullptr, ProtoRule::kMany},
    {"ints", 8, ProtoKind::kInt64, nullptr, nullptr, ProtoRule::kMany},
    {"strings", 9, ProtoKind::kBytes, nullptr, nullptr, ProtoRule::kMany},
    {"tensors", 10, ProtoKind::kMessage, &kTensorProto, nullptr, ProtoRule::kMany},
    {"graphs", 11, ProtoKind::kMessage, &kGraphProto, nullptr, ProtoRule::kMany},
    {"doc_string", 13, ProtoKind::kString},
    {"tp", 14, ProtoKind::kMessage, &kTypeProto},
    {"type_protos", 15, ProtoKind::kMessage, &kTypeProto, nullptr, ProtoRule::kMany},
    {"type", 20, ProtoKind::kEnum, nullptr, &kAttributeProtoAttributeType},
    {"ref_attr_name", 21, ProtoKind::kString},
    {"sparse_tensor", 22, ProtoKind::kMessage, &kSparseTensorProto},
    {"sparse_tensors", 23, ProtoKind::kMessage, &kSparseTensorProto, nullptr, ProtoRule::kMany},
};
const ProtoMessage kAttributeProto = {"AttributeProto", kAttributeProtoFields};
constexpr ProtoField kValueInfoProtoFields[] = {
    {"name", 1, ProtoKind::kString},
    {"type", 2, ProtoKind::kMessage, &kTypeProto},
    {"doc_string", 3, ProtoKind::kString},
    {"metadata_props", 4, ProtoKind::kMessage, &kStringStringEntryProto, nullptr, ProtoRule::kMany},
};
const ProtoMessage kValueInfoProto = {"ValueInfoProto", kValueInfoProtoFields};
constexpr ProtoField kNodeProtoFields[] = {
    {"input", 1, ProtoKind::kString, nullptr, nullptr, ProtoRule::kMany},
    {"output", 2, ProtoKind::kString, nullptr, nullptr, ProtoRule::kMany},
    {"name", 3, ProtoKind::kString},
    {"op_type", 4, ProtoKind::kString},
    {"attribute", 5, ProtoKind::kMessage, &kAttributeProto, nullptr, ProtoRule::kMany},
    {"doc_string", 6, ProtoKind::kString},
    {"domain", 7, ProtoKind::kString},
    {"overload", 8, ProtoKind::kString},
    {"metadata_props", 9, ProtoKind::kMessage, &kStringStringEntryProto, nullptr, ProtoRule::kMany},
    {"device_configurations", 10, ProtoKind::kMessage, &kNodeDeviceConfigurationProto, nullptr,
     ProtoRule::kMany},
};
const ProtoMessage kNodeProto = {"NodeProto", kNodeProtoFields};
constexpr ProtoField kIntIntListEntryProtoFields[] = {
    {"key", 1, ProtoKind::kInt64},
    {"value", 2, ProtoKind::kInt64, nullptr, nullptr, ProtoRule::kMany},
};
const ProtoMessage kIntIntListEntryProto = {"IntIntListEntryProto", kIntIntListEntryProtoFields};
constexpr ProtoField kNodeDeviceConfigurationProtoFields[] = {
    {"configuration_id", 1, ProtoKind::kString},
    {"sharding_spec", 2, ProtoKind::kMessage, &kShardingSpecProto, nullptr, ProtoRule::kMany},
    {"pipeline_stage", 3, ProtoKind::kInt32},
};
const ProtoMessage kNodeDeviceConfigurationProto = {"NodeDeviceConfigurationProto",
                                                    kNodeDeviceConfigurationProtoFields};
constexpr ProtoField kShardingSpecProtoFields[] = {
    {"tensor_name", 1, ProtoKind::kString},
    {"device", 2, ProtoKind::kInt64, nullptr, nullptr, ProtoRule::kMany},
    {"index_to_device_group_map", 3, ProtoKind::kMessage, &kIntIntListEntryProto, nullptr,
     ProtoRule::kMany},
    {"sharded_dim", 4, ProtoKind::kMessage, &kShardedDimProto, nullptr, ProtoRule::kMany},
};
const ProtoMessage kShardingSpecProto = {"ShardingSpecProto", kShardingSpecProtoFields};
constexpr ProtoField kShardedDimProtoFields[] = {
    {"axis", 1, ProtoKind::kInt64},
    {"simple_sharding", 2, ProtoKind::kMessage, &kSimpleShardedDimProto, nullptr, ProtoRule::kMany},
};
const ProtoMessage kShardedDimProto = {"ShardedDimProto", kShardedDimProtoFields};
constexpr ProtoField kSimpleShardedDimProtoFields[] = {
    {"dim_value", 1, ProtoKind::kInt64, nullptr, nullptr, ProtoRule::kOneOf},
    {"dim_param", 2, ProtoKind::kString, nullptr, nullptr, ProtoRule::kOneOf},
    {"num_shards", 3, ProtoKind::kInt64},
};
const ProtoMessage kSimpleShardedDimProto = {"SimpleShardedDimProto", kSimpleShardedDimProtoFields};
constexpr ProtoField kTrainingInfoProtoFields[] = {
    {"initialization", 1, ProtoKind::kMessage, &kGraphProto},
    {"algorithm", 2, ProtoKind::kMessage, &kGraphProto},
    {"initialization_binding", 3, ProtoKind::kMessage, &kStringStringEntryProto, nullptr,
     ProtoRule::kMany},
    {"update_binding", 4, ProtoKind::kMessage, &kStringStringEntryProto, nullptr, ProtoRule::kMany},
};
const ProtoMessage kTrainingInfoProto = {"TrainingInfoProto", kTrainingInfoProtoFields};
constexpr ProtoField kModelProtoFields[] = {
    {"ir_version", 1, ProtoKind::kInt64},
    {"producer_name", 2, ProtoKind::kString},
    {"producer_version", 3, ProtoKind::kString},
    {"domain", 4, ProtoKind::kString},
    {"model_version", 5, ProtoKind::kInt64},
    {"doc_string", 6, ProtoKind::kString},
    {"graph", 7, ProtoKind::kMessage, &kGraphProto},
    {"opset_import", 8, ProtoKind::kMessage, &kOperatorSetIdProto, nullptr, ProtoRule::kMany},
    {"metadata_props", 14, ProtoKind::kMessage, &kStringStringEntryProto, nullptr,
     ProtoRule::kMany},
    {"training_info", 20, ProtoKind::kMessage, &kTrainingInfoProto, nullptr, ProtoRule::kMany},
    {"functions", 25, ProtoKind::kMessage, &kFunctionProto, nullptr, ProtoRule::kMany},
    {"configuration", 26, ProtoKind::kMessage, &kDeviceConfigurationProto, nullptr,
     ProtoRule::kMany},
};
const ProtoMessage kModelProto = {"ModelProto", kModelProtoFields};
constexpr ProtoField kDeviceConfigurationProtoFields[] = {
    {"name", 1, ProtoKind::kString},
    {"num_devices", 2, ProtoKind::kInt32},
    {"device", 3, ProtoKind::kString, nullptr, nullptr, ProtoRule::kMany},
};
const ProtoMessage kDeviceConfigurationProto = {"DeviceConfigurationProto",
                                                kDeviceConfigurationProtoFields};
constexpr ProtoField kStringStringEntryProtoFields[] = {
    {"key", 1, ProtoKind::kString},
    {"value", 2, ProtoKind::kString},
};
const ProtoMessage kStringStringEntryProto = {"StringStringEntryProto",
                                              kStringStringEntryProtoFields};
constexpr ProtoField kTensorAnnotationFields[] = {
    {"tensor_name", 1, ProtoKind::kString},
    {"quant_parameter_tensor_names", 2, ProtoKind::kMessage, &kStringStringEntryProto, nullptr,
     ProtoRule::kMany},
};
const ProtoMessage kTensorAnnotation = {"TensorAnnotation", kTensorAnnotationFields};
constexpr ProtoField kGraphProtoFields[] = {
    {"node", 1, ProtoKind::kMessage, &kNodeProto, nullptr, ProtoRule::kMany},
    {"name", 2, ProtoKind::kString},
    {"initializer", 5, ProtoKind::kMessage, &kTensorProto, nullptr, ProtoRule::kMany},
    {"doc_string", 10, ProtoKind::kString},
    {"input", 11, ProtoKind::kMessage, &kValueInfoProto, nullptr, ProtoRule::kMany},
    {"output", 12, ProtoKind::kMessage, &kValueInfoProto, nullptr, ProtoRule::kMany},
    {"value_info", 13, ProtoKind::kMessage, &kValueInfoProto, nullptr, ProtoRule::kMany},
    {"quantization_annotation", 14, ProtoKind::kMessage, &kTensorAnnotation, nullptr,
     ProtoRule::kMany},
    {"sparse_initializer", 15, ProtoKind::kMessage, &kSparseTensorProto, nullptr, ProtoRule::kMany},
    {"metadata_props", 16, ProtoKind::kMessage, &kStringStringEntryProto, nullptr,
     ProtoRule::kMany},
};
const ProtoMessage kGraphProto = {"GraphProto", kGraphProtoFields};
constexpr ProtoField kTensorProtoFields[] = {
    {"dims", 1, ProtoKind::kInt64, nullptr, nullptr, ProtoRule::kMany},
    {"data_type", 2, ProtoKind::kInt32},
    {"segment", 3, ProtoKind::kMessage, &kTensorProtoSegment},
    {"float_data", 4, ProtoKind::kFloat, nullptr, nullptr, ProtoRule::kMany},
    {"int32_data", 5, ProtoKind::kInt32, nullptr, nullptr, ProtoRule::kMany},
    {"string_data", 6, ProtoKind::kBytes, nullptr, nullptr, ProtoRule::kMany},
    {"int64_data", 7, ProtoKind::kInt64, nullptr, nullptr, ProtoRule::kMany},
    {"name", 8, ProtoKind::kString},
    {"raw_data", 9, ProtoKind::kBytes},
    {"double_data", 10, ProtoKind::kDouble, nullptr, nullptr, ProtoRule::kMany},
    {"uint64_data", 11, ProtoKind::kUInt64, nullptr, nullptr, ProtoRule::kMany},
    {"doc_string", 12, ProtoKind::kString},
    {"external_data", 13, ProtoKind::kMessage, &kStringStringEntryProto, nullptr, ProtoRule::kMany},
    {"data_location", 14, ProtoKind::kEnum, nullptr, &kTensorProtoDataLocation},
    {"metadata_props", 16, ProtoKind::kMessage, &kStringStringEntryProto, nullptr,
     ProtoRule::kMany},
};
const ProtoMessage kTensorProto = {"TensorProto", kTensorProtoFields};
constexpr ProtoField kTensorProtoSegmentFields[] = {
    {"begin", 1, ProtoKind::kInt64},
    {"end", 2, ProtoKind::kInt64},
};
const ProtoMessage kTensorProtoSegment = {"TensorProto.Segment", kTensorProtoSegmentFields};
constexpr ProtoField kSparseTensorProtoFields[] = {
    {"values", 1, ProtoKind::kMessage, &kTensorProto},
    {"indices", 2, ProtoKind::kMessage, &kTensorProto},
    {"dims", 3, ProtoKind::kInt64, nullptr, nullptr, ProtoRule::kMany},
};
const ProtoMessage kSparseTensorProto = {"SparseTensorProto", kSparseTensorProtoFields};
constexpr ProtoField kTensorShapeProtoFields[] = {
    {"dim", 1, ProtoKind::kMessage, &kTensorShapeProtoDimension, nullptr, ProtoRule::kMany},
};
const ProtoMessage kTensorShapeProto = {"TensorShapeProto", kTensorShapeProtoFields};
constexpr ProtoField kTensorShapeProtoDimensionFields[] = {
    {"dim_value", 1, ProtoKind::kInt64, nullptr, nullptr, ProtoRule::kOneOf},
    {"dim_param", 2, ProtoKind::kString, nullptr, nullptr, ProtoRule::kOneOf},
    {"denotation", 3, ProtoKind::kString},
};
const ProtoMessage kTensorShapeProtoDimension = {"TensorShapeProto.Dimension",
                                                 kTensorShapeProtoDimensionFields};
constexpr ProtoField kTypeProtoFields[] = {
    {"tensor_type", 1, ProtoKind::kMessage, &kTypeProtoTensor, nullptr, ProtoRule::kOneOf},
    {"sequence_type", 4, ProtoKind::kMessage, &kTypeProtoSequence, nullptr, ProtoRule::kOneOf},
    {"map_type", 5, ProtoKind::kMessage, &kTypeProtoMap, nullptr, ProtoRule::kOneOf},
    {"denotation", 6, ProtoKind::kString},
    {"opaque_type", 7, ProtoKind::kMessage, &kTypeProtoOpaque, nullptr, ProtoRule::kOneOf},
    {"sparse_tensor_type", 8, ProtoKind::kMessage, &kTypeProtoSparseTensor, nullptr,
     ProtoRule::kOneOf},
    {"optional_type", 9, ProtoKind::kMessage, &kTypeProtoOptional, nullptr, ProtoRule::kOneOf},
};
const ProtoMessage kTypeProto = {"TypeProto", kTypeProtoFields};
constexpr ProtoField kTypeProtoTensorFields[] = {
    {"elem_type", 1, ProtoKind::kInt32},
    {"shape", 2, ProtoKind::kMessage, &kTensorShapeProto},
};
const ProtoMessage kTypeProtoTensor = {"TypeProto.Tensor", kTypeProtoTensorFields};
constexpr ProtoField kTypeProtoSequenceFields[] = {
    {"elem_type", 1, ProtoKind::kMessage, &kTypeProto},
};
const ProtoMessage kTypeProtoSequence = {"TypeProto.Sequence", kTypeProtoSequenceFields};
constexpr ProtoField kTypeProtoMapFields[] = {
    {"key_type", 1, ProtoKind::kInt32},
    {"value_type", 2, ProtoKind::kMessage, &kTypeProto},
};
const ProtoMessage kTypeProtoMap = {"TypeProto.Map", kTypeProtoMapFields};
constexpr ProtoField kTypeProtoOptionalFields[] = {
    {"elem_type", 1, ProtoKind::kMessage, &kTypeProto},
};
const ProtoMessage kTypeProtoOptional = {"TypeProto.Optional", kTypeProtoOptionalFields};
constexpr ProtoField kTypeProtoSparseTensorFields[] = {
    {"elem_type", 1, ProtoKind::kInt32},
    {"shape", 2, ProtoKind::kMessage, &kTensorShapeProto},
};
const ProtoMessage kTypeProtoSparseTensor = {"TypeProto.SparseTensor",
                                             kTypeProtoSparseTensorFields};
constexpr ProtoField kTypeProtoOpaqueFields[] = {
    {"domain", 1, ProtoKind::kString},
    {"name", 2, ProtoKind::kString},
};
const ProtoMessage kTypeProtoOpaque = {"TypeProto.Opaque", kTypeProtoOpaqueFields};
constexpr ProtoField kOperatorSetIdProtoFields[] = {
    {"domain", 1, ProtoKind::kString},
    {"version", 2, ProtoKind::kInt64},
};
const ProtoMessage kOperatorSetIdProto = {"OperatorSetIdProto", kOperatorSetIdProtoFields};
constexpr ProtoField kFunctionProtoFields[] = {
    {"name", 1, ProtoKind::kString},
    {"input", 4, ProtoKind::kString, nullptr, nullptr, ProtoRule::kMany},
    {"output", 5, ProtoKind::kString, nullptr, nullptr, ProtoRule::kMany},
    {"attribute", 6, ProtoKind::kString, nullptr, nullptr, ProtoRule::kMany},
    {"node", 7, ProtoKind::kMessage, &kNodeProto, nullptr, ProtoRule::kMany},
    {"doc_string", 8, ProtoKind::kString},
    {"opset_import", 9, ProtoKind::kMessage, &kOperatorSetIdProto, nullptr, ProtoRule::kMany},
    {"domain", 10, ProtoKind::kString},
    {"attribute_proto", 11, ProtoKind::kMessage, &kAttributeProto, nullptr, ProtoRule::kMany},
    {"value_info", 12, ProtoKind::kMessage, &kValueInfoProto, nullptr, ProtoRule::kMany},
    {"overload", 13, ProtoKind::kString},
    {"metadata_props", 14, ProtoKind::kMessage, &kStringStringEntryProto, nullptr,
     ProtoRule::kMany},
};
const ProtoMessage kFunctionProto = {"FunctionProto", kFunctionProtoFields};

}  // namespace

const ProtoMessage& ModelMessage() { return kModelProto; }

}  // namespace x2ir::onnx_text
