// The text form of jobs: the messages that a reader needs.
#include "x2ir/formats/oneflow/job_internal.h"
#include "x2ir/formats/oneflow/reader_internal.h"

namespace x2ir::oneflow {
namespace {

using Kind = ProtoKind;
constexpr ProtoRule kMany = ProtoRule::kMany;
constexpr ProtoEnum kDataType = {DataTypeNumber, nullptr};
constexpr ProtoEnum kFormat = {MemoryFormatNumber, nullptr};

constexpr ProtoField kDimFields[] = {{"dim", 1, Kind::kInt64, nullptr, nullptr, kMany}};
const ProtoMessage kShape{"ShapeProto", kDimFields};
constexpr ProtoField kInt32sFields[] = {{"val", 1, Kind::kInt32, nullptr, nullptr, kMany}};
const ProtoMessage kInt32s{"ListInt32", kInt32sFields};
constexpr ProtoField kInt64sFields[] = {{"val", 1, Kind::kInt64, nullptr, nullptr, kMany}};
const ProtoMessage kInt64s{"ListInt64", kInt64sFields};
constexpr ProtoField kFloatsFields[] = {{"val", 1, Kind::kFloat, nullptr, nullptr, kMany}};
const ProtoMessage kFloats{"ListFloat", kFloatsFields};
constexpr ProtoField kTypesFields[] = {{"val", 1, Kind::kEnum, nullptr, &kDataType, kMany}};
const ProtoMessage kTypeNumbers{"ListDataType", kTypesFields};
const ProtoField kShapesFields[] = {{"val", 1, Kind::kMessage, &kShape, nullptr, kMany}};
const ProtoMessage kShapes{"ListShape", kShapesFields};
constexpr ProtoField kStringsFields[] = {{"val", 1, Kind::kBytes, nullptr, nullptr, kMany}};
const ProtoMessage kStrings{"ListString", kStringsFields};
constexpr ProtoField kComplexFields[] = {{"real", 1, Kind::kDouble}, {"imag", 2, Kind::kDouble}};
const ProtoMessage kComplex{"ComplexDouble", kComplexFields};
const ProtoField kAttrFields[] = {
    {"at_int32", attr_field::kInt32, Kind::kInt32},
    {"at_int64", attr_field::kInt64, Kind::kInt64},
    {"at_bool", attr_field::kBool, Kind::kBool},
    {"at_float", attr_field::kFloat, Kind::kFloat},
    {"at_double", attr_field::kDouble, Kind::kDouble},
    {"at_string", attr_field::kString, Kind::kBytes},
    {"at_shape", attr_field::kShape, Kind::kMessage, &kShape},
    {"at_data_type", attr_field::kDataType, Kind::kEnum, nullptr, &kDataType},
    {"at_list_int32", attr_field::kInt32s, Kind::kMessage, &kInt32s},
    {"at_list_int64", attr_field::kInt64s, Kind::kMessage, &kInt64s},
    {"at_list_float", attr_field::kFloats, Kind::kMessage, &kFloats},
    {"at_list_data_type", attr_field::kDataTypes, Kind::kMessage, &kTypeNumbers},
    {"at_list_shape", attr_field::kShapes, Kind::kMessage, &kShapes},
    {"at_list_string", attr_field::kStrings, Kind::kMessage, &kStrings},
    {"at_stride", attr_field::kStride, Kind::kMessage, &kShape},
    {"at_complex_double", attr_field::kComplex, Kind::kMessage, &kComplex},
    {"at_memory_format", attr_field::kMemoryFormat, Kind::kEnum, nullptr, &kFormat},
    {"at_bytes", attr_field::kBytes, Kind::kBytes},
};
const ProtoMessage kAttr{"AttrValue", kAttrFields};
constexpr ProtoField kNamesFields[] = {{"s", 1, Kind::kBytes, nullptr, nullptr, kMany}};
const ProtoMessage kNames{"ListString", kNamesFields};
const ProtoField kNamesEntryFields[] = {{"key", 1, Kind::kBytes},
                                        {"value", 2, Kind::kMessage, &kNames}};
const ProtoMessage kNamesEntry{"InputEntry", kNamesEntryFields};
const ProtoField kAttrEntryFields[] = {{"key", 1, Kind::kBytes},
                                       {"value", 2, Kind::kMessage, &kAttr}};
const ProtoMessage kAttrEntry{"AttrEntry", kAttrEntryFields};
const ProtoField kUserFields[] = {
    {"op_type_name", 1, Kind::kBytes},
    {"input", 2, Kind::kMessage, &kNamesEntry, nullptr, kMany},
    {"output", 3, Kind::kMessage, &kNamesEntry, nullptr, kMany},
    {"attr", 4, Kind::kMessage, &kAttrEntry, nullptr, kMany},
    {"input_order", 5, Kind::kBytes, nullptr, nullptr, kMany},
    {"output_order", 6, Kind::kBytes, nullptr, nullptr, kMany},
};
const ProtoMessage kUser{"UserOpConf", kUserFields};
const ProtoField kVariableFields[] = {
    {"out", 2, Kind::kBytes},
    {"shape", 3, Kind::kMessage, &kShape},
    {"data_type", 4, Kind::kEnum, nullptr, &kDataType},
};
const ProtoMessage kVariable{"VariableOpConf", kVariableFields};
const ProtoField kBlobFields[] = {{"shape", 1, Kind::kMessage, &kShape},
                                  {"data_type", 2, Kind::kEnum, nullptr, &kDataType}};
const ProtoMessage kBlob{"InterfaceBlobConf", kBlobFields};
const ProtoField kInputFields[] = {{"out", 2, Kind::kBytes},
                                   {"blob_conf", 3, Kind::kMessage, &kBlob}};
const ProtoMessage kInput{"InputOpConf", kInputFields};
const ProtoField kPortFields[] = {{"in", 1, Kind::kBytes}, {"out", 2, Kind::kBytes}};
const ProtoMessage kPort{"OutputOpConf", kPortFields};
const ProtoField kFeedFields[] = {{"in_0", 1, Kind::kBytes}, {"out_0", 2, Kind::kBytes}};
const ProtoMessage kFeed{"FeedInputOpConf", kFeedFields};
const ProtoField kConcatFields[] = {{"in", 1, Kind::kBytes, nullptr, nullptr, kMany},
                                    {"out", 2, Kind::kBytes},
                                    {"axis", 3, Kind::kInt32}};
const ProtoMessage kConcat{"DistributeConcatOpConf", kConcatFields};
const ProtoField kSplitFields[] = {{"in", 1, Kind::kBytes},
                                   {"out", 2, Kind::kBytes, nullptr, nullptr, kMany},
                                   {"axis", 3, Kind::kInt32}};
const ProtoMessage kSplit{"DistributeSplitOpConf", kSplitFields};
const ProtoField kLikeFields[] = {{"like", 1, Kind::kBytes},
                                  {"out", 2, Kind::kBytes},
                                  {"data_type", 3, Kind::kEnum, nullptr, &kDataType},
                                  {"int_operand", 4, Kind::kInt64},
                                  {"float_operand", 5, Kind::kDouble}};
const ProtoMessage kLike{"ConstantLikeOpConf", kLikeFields};
const ProtoField kOpFields[] = {
    {"name", op_field::kName, Kind::kBytes},
    {"variable_conf", op_field::kVariable, Kind::kMessage, &kVariable},
    {"input_conf", op_field::kInput, Kind::kMessage, &kInput},
    {"output_conf", op_field::kOutput, Kind::kMessage, &kPort},
    {"return_conf", 146, Kind::kMessage, &kPort},
    {"distribute_concat_conf", 155, Kind::kMessage, &kConcat},
    {"distribute_split_conf", 156, Kind::kMessage, &kSplit},
    {"distribute_clone_conf", 157, Kind::kMessage, &kSplit},
    {"distribute_add_conf", 158, Kind::kMessage, &kConcat},
    {"user_conf", op_field::kUser, Kind::kMessage, &kUser},
    {"identity_conf", 290, Kind::kMessage, &kPort},
    {"constant_like_conf", 339, Kind::kMessage, &kLike},
    {"copy_conf", 343, Kind::kMessage, &kPort},
    {"cast_to_local_conf", 344, Kind::kMessage, &kPort},
    {"cast_from_local_conf", 345, Kind::kMessage, &kPort},
    {"feed_input_conf", 600, Kind::kMessage, &kFeed},
    {"feed_variable_conf", 601, Kind::kMessage, &kFeed},
    {"fetch_output_conf", 602, Kind::kMessage, &kFeed},
};
const ProtoMessage kOp{"OperatorConf", kOpFields};
const ProtoField kNetFields[] = {{"op", 1, Kind::kMessage, &kOp, nullptr, kMany}};
const ProtoMessage kNet{"DLNetConf", kNetFields};
constexpr ProtoField kConfFields[] = {{"job_name", 1, Kind::kBytes}};
const ProtoMessage kConf{"JobConfigProto", kConfFields};
const ProtoField kJobFields[] = {{"net", job_field::kNet, Kind::kMessage, &kNet},
                                 {"job_conf", job_field::kConf, Kind::kMessage, &kConf}};

}  // namespace

const ProtoMessage kJobMessage{"Job", kJobFields};

}  // namespace x2ir::oneflow
