// ML Programs, written: the model's message and the file of its weights.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <type_traits>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/formats/coreml/fields_internal.h"
#include "x2ir/formats/coreml/mil_ops.h"
#include "x2ir/formats/coreml/targets.h"
#include "x2ir/formats/io/atomic_folder.h"
#include "x2ir/formats/io/folders.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace coreml {
namespace {

constexpr int kUsualOpset = 6;         // CoreML6: iOS16
constexpr int kMaxRankOfPrograms = 5;  // of a tensor
constexpr int kVersionOfOpset = 1;     // the specification's version is the opset's and this
constexpr uint64_t kAlignment = 64;
constexpr int64_t kSmallConstant = 10;  // fewer elements are stored in the program itself
constexpr std::string_view kWeightsFile = "@model_path/weights/weight.bin";

std::string PackedInts(absl::Span<const int64_t> numbers) {
  std::string bytes;
  for (const int64_t number : numbers) {
    auto rest = static_cast<uint64_t>(number);
    for (; rest >= 0x80; rest >>= 7) bytes += static_cast<char>(rest | 0x80);
    bytes += static_cast<char>(rest);
  }
  return bytes;
}

void WriteTensorType(WireWriter& out, DType dtype, const Shape& shape) {
  out.Begin(value_type_field::kTensorType);
  out.Int(tensor_type_field::kDataType, MilDataType(dtype));
  out.IntUnlessZero(tensor_type_field::kRank, shape.rank());
  for (const Dim& dim : shape) {
    out.Begin(tensor_type_field::kDimensions);
    out.Begin(dim.is_static() ? dimension_field::kConstant : dimension_field::kUnknown);
    if (dim.is_static()) out.Int(dimension_constant_dimension_field::kSize, dim.value());
    out.End();
    out.End();
  }
  out.End();
}

// The number that MILBlob has for an element type; 0: its weights are stored in the program.
uint32_t BlobType(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return 1;
    case DType::kFloat32: return 2;
    case DType::kUInt8: return 3;
    case DType::kInt8: return 4;
    default: return 0;
  }
}

// Weights in the order in which they lie in the file, from byte 64 on.
class WeightFile {
 public:
  // The position of the weight's record.
  uint64_t Add(const Tensor& tensor) {
    const Key key{tensor.data_id(), tensor.nbytes(), static_cast<int>(tensor.dtype())};
    const auto [it, added] = places_.try_emplace(key, next_);
    if (!added) return it->second;
    tensors_.push_back(tensor);
    next_ += kAlignment + (tensor.nbytes() + kAlignment - 1) / kAlignment * kAlignment;
    return it->second;
  }
  bool empty() const { return tensors_.empty(); }

  absl::Status Write(AtomicFile& file) const {
    std::string header(kAlignment, '\0');
    Put(&header, 0, static_cast<uint32_t>(tensors_.size()));
    Put(&header, 4, uint32_t{2});
    X2IR_RETURN_IF_ERROR(file.Append(header));
    for (const Tensor& tensor : tensors_) {
      std::string record(kAlignment, '\0');
      Put(&record, 0, uint32_t{0xDEADBEEF});
      Put(&record, 4, BlobType(tensor.dtype()));
      Put(&record, 8, static_cast<uint64_t>(tensor.nbytes()));
      Put(&record, 16, file.size() + kAlignment);
      X2IR_RETURN_IF_ERROR(file.Append(record));
      X2IR_RETURN_IF_ERROR(file.Append(tensor));
      X2IR_RETURN_IF_ERROR(file.AlignTo(kAlignment));
    }
    return absl::OkStatus();
  }

 private:
  using Key = std::tuple<const void*, size_t, int>;  // of a type
  template <typename T>
  static void Put(std::string* bytes, size_t at, T number) {
    std::memcpy(bytes->data() + at, &number, sizeof(T));
  }
  std::map<Key, uint64_t> places_;
  std::vector<Tensor> tensors_;
  uint64_t next_ = kAlignment;
};

class ProgramWriter {
 public:
  // `most`: what needs a later opset is an error of Write.
  ProgramWriter(const Model& model, int opset, int most)
      : model_(model), graph_(*model.graph), opset_(opset), most_(most) {}
  int opset() const { return opset_; }

  absl::Status Write(WireWriter& out) {
    for (const Value* input : graph_.inputs()) {
      X2IR_RETURN_IF_ERROR(AddFeature(*input, &inputs_));
    }
    // Outputs keep their names before others take them.
    for (const Value* output : graph_.outputs()) {
      X2IR_RETURN_IF_ERROR(AddFeature(*output, &outputs_));
    }
    WireWriter block;
    std::vector<std::string> results;
    for (const Value* output : graph_.outputs()) results.push_back(NameOf(*output));
    X2IR_RETURN_IF_ERROR(WriteBlock(graph_, block));
    if (opset_ > most_) return TooNew();
    out.Int(model_field::kSpecificationVersion, opset_ + kVersionOfOpset);
    WriteDescription(out);
    out.Begin(model_field::kMlProgram);
    out.Int(program_field::kVersion, 1);
    out.Begin(program_field::kFunctions);
    out.Bytes(program_functions_entry_field::kKey, "main");
    out.Begin(program_functions_entry_field::kValue);
    for (const Value* input : graph_.inputs()) {
      out.Begin(function_field::kInputs);
      X2IR_RETURN_IF_ERROR(WriteNamedType(out, NameOf(*input), *input));
      out.End();
    }
    const std::string opset = StrCat("CoreML", opset_);
    out.Bytes(function_field::kOpset, opset);
    out.Begin(function_field::kBlockSpecializations);
    out.Bytes(function_block_specializations_entry_field::kKey, opset);
    out.Begin(function_block_specializations_entry_field::kValue);
    out.Append(block);
    out.End();
    out.End();
    out.End();
    out.End();
    out.End();
    return absl::OkStatus();
  }

  const WeightFile& weights() const { return weights_; }

 private:
  // --- Names
  // --------------------------------------------------------------------------------------

  // Letters, digits and underscores, unique in the program.
  std::string Unique(std::string_view base) {
    std::string name;
    for (const char c : base) {
      const bool plain =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      name += plain ? c : '_';
    }
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = StrCat("_", name);
    std::string unique = name;
    for (size_t& i = counts_[name]; !taken_.insert(unique).second;) {
      unique = StrCat(name, "_", ++i);
    }
    return unique;
  }
  const std::string& NameOf(const Value& value) {
    std::string& name = names_[&value];
    if (name.empty()) name = Unique(value.name());
    return name;
  }

  // --- Description
  // --------------------------------------------------------------------------------

  struct Feature {
    std::string name, port;
    const Value* value;
  };

  static std::string NoteOf(const Value& value, const char* key) {
    const Annotations* notes = value.annotations().get();
    const auto it = notes ? notes->extra.find(key) : decltype(notes->extra.end()){};
    return notes && it != notes->extra.end() ? it->second : "";
  }

  absl::Status AddFeature(const Value& value, std::vector<Feature>* features) {
    features->push_back({NameOf(value), NoteOf(value, kPort), &value});
    const bool is_dictionary = value.type().kind() == Type::kMap;
    if (!is_dictionary && (!value.shape() || !value.type().is_tensor())) {
      return CannotExpress("'", value.name(), "' is of unknown rank; ", OptionText("shapes"),
                           " NAME:1,3,... gives shapes of inputs");
    }
    if (value.dtype() == DType::kFloat16) {
      Need(6, StrCat(value.is_input() ? "input" : "output", " '", value.name(), "' of float16"));
    }
    return absl::OkStatus();
  }

  // The `classify` that gives one of the outputs.
  const Node* Classifier() const {
    for (const Value* output : graph_.outputs()) {
      const Node* node = output->producer();
      if (node && node->op().view() == "classify") return node;
    }
    return nullptr;
  }

  static int64_t ArrayType(DType dtype) {
    switch (dtype) {
      case DType::kInt32: return 131104;
      case DType::kFloat16: return 65552;
      default: return 65568;
    }
  }

  static void WriteRange(WireWriter& out, uint32_t field, const Dim& dim) {
    out.Begin(field);
    out.Int(size_range_field::kLowerBound, dim.is_static() ? dim.value() : 1);
    out.Int(size_range_field::kUpperBound, dim.is_static() ? dim.value() : -1);  // no bound
    out.End();
  }

  static void WriteImage(WireWriter& out, const std::string& layout, const Shape& shape) {
    const Dim &height = shape[2], &width = shape[3];
    out.Begin(feature_type_field::kImageType);
    out.Int(image_feature_type_field::kWidth, width.is_static() ? width.value() : 1);
    out.Int(image_feature_type_field::kHeight, height.is_static() ? height.value() : 1);
    for (const auto& [number, name] : kColorSpaces) {
      if (name == layout) out.Int(image_feature_type_field::kColorSpace, number);
    }
    if (!width.is_static() || !height.is_static()) {
      out.Begin(image_feature_type_field::kImageSizeRange);
      WriteRange(out, image_feature_type_image_size_range_field::kWidthRange, width);
      WriteRange(out, image_feature_type_image_size_range_field::kHeightRange, height);
      out.End();
    }
    out.End();
  }

  // Labels are strings or int64, and keys of dictionaries are labels.
  static void WriteLabelType(WireWriter& out, const Value& value) {
    const bool ints = value.dtype() == DType::kInt64;
    const bool is_dictionary = value.type().kind() == Type::kMap;
    if (is_dictionary) {
      out.Begin(feature_type_field::kDictionaryType);
      out.Begin(ints ? dictionary_feature_type_field::kInt64KeyType
                     : dictionary_feature_type_field::kStringKeyType);
    } else {
      out.Begin(ints ? feature_type_field::kInt64Type : feature_type_field::kStringType);
    }
    out.End();
    if (is_dictionary) out.End();
  }

  void WriteFeature(WireWriter& out, uint32_t field, const Feature& feature) {
    out.Begin(field);
    out.Bytes(feature_description_field::kName, feature.name);
    out.Begin(feature_description_field::kType);
    const Node* node = feature.value->producer();
    if (node && node == Classifier()) {
      WriteLabelType(out, *feature.value);
    } else if (const std::string layout = NoteOf(*feature.value, kImage);
               !layout.empty() && feature.value->is_input()) {
      WriteImage(out, layout, *feature.value->shape());
    } else {
      WriteArrayType(out, *feature.value);
    }
    out.End();
    out.End();
  }

  static void WriteArrayType(WireWriter& out, const Value& value) {
    const Shape& shape = *value.shape();
    out.Begin(feature_type_field::kMultiArrayType);
    std::vector<int64_t> sizes;
    bool open = false;
    for (const Dim& dim : shape) {
      sizes.push_back(dim.is_static() ? dim.value() : 1);
      open |= !dim.is_static();
    }
    out.BytesUnlessEmpty(array_feature_type_field::kShape, PackedInts(sizes));
    out.Int(array_feature_type_field::kDataType, ArrayType(value.dtype()));
    if (open) {
      out.Begin(array_feature_type_field::kShapeRange);
      for (const Dim& dim : shape)
        WriteRange(out, array_feature_type_shape_range_field::kSizeRanges, dim);
      out.End();
    }
    out.End();
  }

  void WriteDescription(WireWriter& out) {
    out.Begin(model_field::kDescription);
    for (const Feature& feature : inputs_)
      WriteFeature(out, model_description_field::kInput, feature);
    for (const Feature& feature : outputs_)
      WriteFeature(out, model_description_field::kOutput, feature);
    if (const Node* classifier = Classifier()) {
      out.Bytes(model_description_field::kPredictedFeatureName, NameOf(*classifier->output(0)));
      out.Bytes(model_description_field::kPredictedProbabilitiesName,
                NameOf(*classifier->output(1)));
    }
    out.Begin(model_description_field::kMetadata);
    std::map<std::string, std::string> own;
    // By the names of the fields, and by those that coremltools has for them.
    static constexpr std::pair<std::string_view, uint32_t> kNamed[] = {
        {"shortDescription", metadata_field::kShortDescription},
        {"versionString", metadata_field::kVersionString},
        {"author", metadata_field::kAuthor},
        {"license", metadata_field::kLicense},
        {"short_description", metadata_field::kShortDescription},
        {"version", metadata_field::kVersionString}};
    if (const Annotations* notes = model_.annotations.get()) {
      std::set<uint32_t> there;
      for (const auto& entry : notes->metadata) {
        const auto* named = std::find_if(std::begin(kNamed), std::end(kNamed),
                                         [&](const auto& row) { return row.first == entry.first; });
        if (named != std::end(kNamed) && there.insert(named->second).second) {
          out.Bytes(named->second, entry.second);
        } else {
          own[entry.first] = entry.second;
        }
      }
    }
    for (const auto* features : {&inputs_, &outputs_}) {
      for (const Feature& feature : *features) {
        if (!feature.port.empty()) own[StrCat("x2ir.port.", feature.name)] = feature.port;
      }
    }
    for (const auto& [key, value] : own) {
      out.Begin(metadata_field::kUserDefined);
      out.Bytes(metadata_user_defined_entry_field::kKey, key);
      out.Bytes(metadata_user_defined_entry_field::kValue, value);
      out.End();
    }
    out.End();
    out.End();
  }

  // --- Values
  // -------------------------------------------------------------------------------------

  static void WriteScalarType(WireWriter& out, uint32_t field, DType dtype) {
    out.Begin(field);
    WriteTensorType(out, dtype, Shape());
    out.End();
  }

  absl::Status WriteNamedType(WireWriter& out, std::string_view name, const Value& value) {
    if (value.type().kind() == Type::kMap) {
      out.Bytes(named_value_type_field::kName, name);
      out.Begin(named_value_type_field::kType);
      out.Begin(value_type_field::kDictionaryType);
      WriteScalarType(out, dictionary_type_field::kKeyType, value.dtype());
      WriteScalarType(out, dictionary_type_field::kValueType, value.type().element().dtype());
      out.End();
      out.End();
      return absl::OkStatus();
    }
    const Shape* shape = value.shape();
    if (!value.type().is_tensor() || !shape || MilDataType(value.dtype()) == 0) {
      return CannotExpress("'", value.name(), "' is ", value.type().ToString(),
                           ", which a program cannot have");
    }
    if (shape->rank() > kMaxRankOfPrograms) {
      return CannotExpress("'", value.name(), "' has ", shape->rank(), " axes");
    }
    for (const Dim& dim : *shape) {
      if (dim.is_static() && dim.value() == 0) {
        return CannotExpress("'", value.name(), "' has no elements; Core ML has no such tensors");
      }
    }
    if (BitWidth(value.dtype()) < 32 && IsInteger(value.dtype())) {
      Need(7, StrCat("'", value.name(), "' of ", Name(value.dtype())));
    }
    out.Bytes(named_value_type_field::kName, name);
    out.Begin(named_value_type_field::kType);
    WriteTensorType(out, value.dtype(), *shape);
    out.End();
    return absl::OkStatus();
  }

  void Need(int opset, std::string_view what) {
    opset_ = std::max(opset_, opset);
    if (opset > most_) too_new_.emplace(what, opset);
  }

  absl::Status TooNew() const {
    constexpr size_t kFew = 5;
    std::string names;
    size_t count = 0;
    for (const auto& [what, opset] : too_new_) {
      if (++count > kFew) continue;
      StrAppend(&names, names.empty() ? "" : ", ", what, " (", TargetOfOpset(opset), ")");
    }
    if (count > kFew) StrAppend(&names, " and ", count - kFew, " more");
    return CannotExpress(
        "for the deployment target ", TargetOfOpset(most_), " (", TargetOfOpset(most_, "macOS"),
        "), because these operations need a later target: ", names, "; ",
        OptionText("minimum_deployment_target"), " ", TargetOfOpset(opset_), " has all of them");
  }

  // An element of a list, a text or a number.
  static void WriteScalar(WireWriter& out, std::string_view text) {
    WriteScalarType(out, value_field::kType, DType::kString);
    out.Begin(value_field::kImmediateValue);
    out.Begin(value_immediate_value_field::kTensor);
    out.Begin(tensor_value_field::kStrings);
    out.Bytes(tensor_value_repeated_strings_field::kValues, text);
    out.End();
    out.End();
    out.End();
  }
  static void WriteScalar(WireWriter& out, int64_t number) {
    WriteScalarType(out, value_field::kType, DType::kInt64);
    out.Begin(value_field::kImmediateValue);
    out.Begin(value_immediate_value_field::kTensor);
    out.Begin(tensor_value_field::kLongInts);
    out.Bytes(tensor_value_repeated_long_ints_field::kValues, PackedInts({number}));
    out.End();
    out.End();
    out.End();
  }

  // Core ML's own converter writes lists in the argument's place, not as constants.
  template <typename T>
  static void WriteListArgument(WireWriter& out, std::string_view name,
                                const std::vector<T>& elements) {
    const DType dtype = std::is_same_v<T, int64_t> ? DType::kInt64 : DType::kString;
    out.Begin(operation_field::kInputs);
    out.Bytes(operation_inputs_entry_field::kKey, name);
    out.Begin(operation_inputs_entry_field::kValue);
    out.Begin(argument_field::kArguments);
    out.Begin(argument_binding_field::kValue);
    out.Begin(value_field::kType);
    out.Begin(value_type_field::kListType);
    WriteScalarType(out, list_type_field::kType, dtype);
    out.Begin(list_type_field::kLength);
    out.Begin(dimension_field::kConstant);
    out.Int(dimension_constant_dimension_field::kSize, static_cast<int64_t>(elements.size()));
    out.End();
    out.End();
    out.End();
    out.End();
    out.Begin(value_field::kImmediateValue);
    out.Begin(value_immediate_value_field::kList);
    for (const T& element : elements) {
      out.Begin(list_value_field::kValues);
      WriteScalar(out, element);
      out.End();
    }
    out.End();
    out.End();
    out.End();
    out.End();
    out.End();
    out.End();
  }

  // An entry of a map of attributes.
  static void WriteName(WireWriter& out, std::string_view name) {
    out.Begin(operation_field::kAttributes);
    out.Bytes(operation_attributes_entry_field::kKey, "name");
    out.Begin(operation_attributes_entry_field::kValue);
    WriteScalar(out, name);
    out.End();
    out.End();
  }

  absl::Status WriteValue(WireWriter& out, const Tensor& tensor, std::string_view name) {
    const DType dtype = tensor.dtype();
    if (tensor.is_sparse() || MilDataType(dtype) == 0 || dtype == DType::kInt64 ||
        dtype == DType::kFloat64) {
      return CannotExpress("constant '", name, "' of ", Name(dtype));
    }
    if (tensor.num_elements() == 0) return CannotExpress("constant '", name, "' has no elements");
    if (tensor.rank() > kMaxRankOfPrograms) {
      return CannotExpress("constant '", name, "' has ", tensor.rank(), " axes");
    }
    out.Begin(value_field::kType);
    WriteTensorType(out, dtype, tensor.shape());
    out.End();
    if (tensor.num_elements() >= kSmallConstant && BlobType(dtype) != 0) {
      out.Begin(value_field::kBlobFileValue);
      out.Bytes(value_blob_file_value_field::kFileName, kWeightsFile);
      out.Varint(value_blob_file_value_field::kOffset, weights_.Add(tensor));
      out.End();
      return absl::OkStatus();
    }
    out.Begin(value_field::kImmediateValue);
    out.Begin(value_immediate_value_field::kTensor);
    if (dtype == DType::kString) {
      out.Begin(tensor_value_field::kStrings);
      for (const std::string& text : tensor.strings())
        out.Bytes(tensor_value_repeated_strings_field::kValues, text);
    } else if (dtype == DType::kFloat32) {
      out.Begin(tensor_value_field::kFloats);
      out.TensorBytes(tensor_value_repeated_floats_field::kValues, tensor);
    } else if (dtype == DType::kInt32 || dtype == DType::kUInt32 || dtype == DType::kBool) {
      std::vector<int64_t> numbers;
      for (int64_t i = 0; i < tensor.num_elements(); ++i) numbers.push_back(tensor.AsInt(i));
      out.Begin(dtype == DType::kBool ? tensor_value_field::kBools : tensor_value_field::kInts);
      out.Bytes(tensor_value_repeated_ints_field::kValues, PackedInts(numbers));
    } else {
      out.Begin(tensor_value_field::kBytes);
      out.TensorBytes(tensor_value_repeated_bytes_field::kValues, tensor);
    }
    out.End();
    out.End();
    out.End();
    return absl::OkStatus();
  }

  absl::Status WriteConst(WireWriter& out, const Tensor& tensor, std::string_view name) {
    out.Begin(block_field::kOperations);
    out.Bytes(operation_field::kType, "const");
    out.Begin(operation_field::kOutputs);
    out.Bytes(named_value_type_field::kName, name);
    out.Begin(named_value_type_field::kType);
    WriteTensorType(out, tensor.dtype(), tensor.shape());
    out.End();
    out.End();
    WriteName(out, name);
    out.Begin(operation_field::kAttributes);
    out.Bytes(operation_attributes_entry_field::kKey, "val");
    out.Begin(operation_attributes_entry_field::kValue);
    X2IR_RETURN_IF_ERROR(WriteValue(out, tensor, name));
    out.End();
    out.End();
    out.End();
    return absl::OkStatus();
  }

  // --- Blocks
  // -------------------------------------------------------------------------------------

  absl::Status WriteBlock(const Graph& graph, WireWriter& out) {
    if (graph.parent_node()) {
      for (const Value* input : graph.inputs()) {
        out.Begin(block_field::kInputs);
        X2IR_RETURN_IF_ERROR(WriteNamedType(out, NameOf(*input), *input));
        out.End();
      }
    }
    for (const Value* constant : graph.constants()) {
      if (constant->is_unused()) continue;
      X2IR_RETURN_IF_ERROR(WriteConst(out, *constant->constant(), NameOf(*constant)));
    }
    for (const Node* node : graph.nodes()) {
      X2IR_RETURN_IF_ERROR(
          Annotate(WriteOperation(*node, out), StrCat(node->op().view(), " '", node->name(), "'")));
    }
    for (const Value* output : graph.outputs()) out.Bytes(block_field::kOutputs, NameOf(*output));
    return absl::OkStatus();
  }

  // The constant that an attribute is in a program.
  absl::StatusOr<Tensor> ParameterOf(const Node& node, const MilArgument& argument,
                                     const Attribute& attr) {
    const auto ints = [](const std::vector<int64_t>& numbers) {
      std::vector<int32_t> narrow;
      for (const int64_t n : numbers) {
        narrow.push_back(static_cast<int32_t>(std::clamp<int64_t>(n, INT32_MIN, INT32_MAX)));
      }
      return Tensor::Of<int32_t>({static_cast<int64_t>(narrow.size())}, narrow);
    };
    switch (argument.kind) {
      case MilKind::kInt: return ints({*attr.get<int64_t>()}).Reshaped({});
      case MilKind::kUInt:
        return ints({*attr.get<int64_t>()}).Reshaped({}).Reinterpreted(DType::kUInt32);
      case MilKind::kInts: return ints(*attr.get<Attribute::Ints>());
      case MilKind::kBool: return Tensor::Scalar<bool>(*attr.get<int64_t>() != 0);
      case MilKind::kBools: {
        const Attribute::Ints& numbers = *attr.get<Attribute::Ints>();
        std::vector<uint8_t> bytes;
        for (const int64_t n : numbers) bytes.push_back(n != 0);
        return Tensor::Of<uint8_t>({static_cast<int64_t>(bytes.size())}, bytes)
            .Reinterpreted(DType::kBool);
      }
      case MilKind::kFloat:
      case MilKind::kFloat32: {
        const float number = *attr.get<float>();
        const bool random = node.op().view().starts_with("random_");
        const Value* first = random ? node.output(0) : node.input(0);
        if ((random || argument.kind == MilKind::kFloat) && first &&
            first->dtype() == DType::kFloat16) {
          Half half = FloatToHalf(number);
          // What only keeps a divisor from 0 stays a number.
          if (number != 0 && HalfToFloat(half) == 0) {
            half.bits = static_cast<uint16_t>(number < 0 ? 0x8001 : 0x0001);
          }
          return Tensor::Scalar<Half>(half);
        }
        return Tensor::Scalar<float>(number);
      }
      case MilKind::kString: return Tensor::Strings({}, {*attr.get<std::string>()});
      case MilKind::kScalar: return *attr.get<Tensor>();
      default: return Internal("argument '", argument.name, "' is no attribute");
    }
  }

  static void WriteArgument(WireWriter& out, std::string_view name,
                            const std::vector<std::string>& values) {
    out.Begin(operation_field::kInputs);
    out.Bytes(operation_inputs_entry_field::kKey, name);
    out.Begin(operation_inputs_entry_field::kValue);
    for (const std::string& value : values) {
      out.Begin(argument_field::kArguments);
      out.Bytes(argument_binding_field::kName, value);
      out.End();
    }
    out.End();
    out.End();
  }

  // The node's own, or the default of an argument that the program's opset has: Core ML's own
  // converter writes them all.
  const Attribute* AttributeOf(const Node& node, const MilArgument& argument) const {
    if (const Attribute* own = node.attrs().Find(Symbol(argument.name))) return own;
    const bool there = argument.default_value && argument.since <= opset_;
    return there ? &*argument.default_value : nullptr;
  }

  absl::Status WriteOperation(const Node& node, WireWriter& out) {
    const MilOp* op = FindMilOp(node.op().view());
    if (!op || node.dialect() != Symbol(kDialect)) {
      return CannotExpress("there is no operation ", node.op().view());
    }
    const std::string here =
        StrCat(op->name, " '", node.name().empty() ? NameOf(*node.output(0)) : node.name(), "'");
    Need(op->since, here);
    // Without the threshold it has the form of iOS17.
    if (op->name == "non_maximum_suppression" && !node.attrs().Has("score_threshold")) {
      Need(7, here);
    }
    std::vector<std::pair<std::string_view, std::vector<std::string>>> arguments;
    size_t next = 0;
    for (const MilArgument& argument : op->arguments) {
      std::vector<std::string> values;
      if (argument.kind == MilKind::kOperand) {
        const size_t end = argument.many ? node.num_inputs() : next + 1;
        for (; next < end; ++next) {
          if (const Value* operand = node.input(next)) values.push_back(NameOf(*operand));
        }
      } else if (argument.kind == MilKind::kStrings || argument.name.ends_with('#')) {
        continue;  // a list of labels, below, or what only the reader says
      } else if (const Attribute* attr = AttributeOf(node, argument)) {
        if (attr->kind() != KindOf(argument.kind)) {
          return Internal("attribute '", argument.name, "' = ", attr->ToString());
        }
        X2IR_ASSIGN_OR_RETURN(const Tensor tensor, ParameterOf(node, argument, *attr));
        const Value* named = nullptr;
        for (const Value* output : node.outputs()) named = named ? named : output;
        values.push_back(Unique(StrCat(named ? NameOf(*named) : op->name, "_", argument.name)));
        X2IR_RETURN_IF_ERROR(WriteConst(out, tensor, values[0]));
      }
      if (values.empty()) continue;
      Need(argument.since, here);
      arguments.emplace_back(argument.name, std::move(values));
    }
    out.Begin(block_field::kOperations);
    out.Bytes(operation_field::kType, op->name);
    for (const auto& [name, values] : arguments) WriteArgument(out, name, values);
    if (const Attribute* texts = node.attrs().Find("classes")) {
      WriteListArgument(out, "classes", *texts->get<Attribute::Strings>());
    } else if (const Attribute* numbers = node.attrs().Find(kIntClasses)) {
      WriteListArgument(out, "classes", *numbers->get<Attribute::Ints>());
    }
    for (size_t i = 0; i < node.num_outputs(); ++i) {
      const Value* output = node.output(i);
      if (!output) return Internal("result ", i, " is left out");
      out.Begin(operation_field::kOutputs);
      X2IR_RETURN_IF_ERROR(WriteNamedType(out, NameOf(*output), *output));
      out.End();
    }
    for (const Graph* block : node.subgraphs()) {
      out.Begin(operation_field::kBlocks);
      WireWriter inner;
      X2IR_RETURN_IF_ERROR(WriteBlock(*block, inner));
      out.Append(inner);
      out.End();
    }
    WriteName(out, node.name().empty() ? NameOf(*node.output(0)) : node.name());
    out.End();
    return absl::OkStatus();
  }

  const Model& model_;
  const Graph& graph_;
  WeightFile weights_;
  int opset_;
  const int most_;
  std::map<std::string, int> too_new_;  // what needs a later opset than `most_`, and which
  std::vector<Feature> inputs_, outputs_;
  absl::flat_hash_map<const Value*, std::string> names_;
  StringMap<size_t> counts_;
  StringSet taken_;
};

// --- The package
// ----------------------------------------------------------------------------------

constexpr std::string_view kModelId = "6C0F6D3B-52B1-4D0E-9A55-3F0E6C7B1A01";
constexpr std::string_view kWeightsId = "6C0F6D3B-52B1-4D0E-9A55-3F0E6C7B1A02";

std::string ManifestText(bool has_weights) {
  const auto item = [](std::string_view id, std::string_view what, std::string_view name) {
    return StrCat("        \"", id, "\": {\n            \"author\": \"com.apple.CoreML\",\n",
                  "            \"description\": \"CoreML Model ", what,
                  "\",\n            \"name\": \"", name,
                  "\",\n            \"path\": \"com.apple.CoreML/", name, "\"\n        }");
  };
  std::string text = "{\n    \"fileFormatVersion\": \"1.0.0\",\n    \"itemInfoEntries\": {\n";
  StrAppend(&text, item(kModelId, "Specification", "model.mlmodel"));
  if (has_weights) StrAppend(&text, ",\n", item(kWeightsId, "Weights", "weights"));
  StrAppend(&text, "\n    },\n    \"rootModelIdentifier\": \"", kModelId, "\"\n}\n");
  return text;
}

struct PackagePaths {
  std::filesystem::path root, data, folder, weights;
  explicit PackagePaths(const std::string& path)
      : root(path),
        data(root / "Data"),
        folder(data / "com.apple.CoreML"),
        weights(folder / "weights") {}
  std::string manifest() const { return (root / "Manifest.json").string(); }
  std::string model() const { return (folder / "model.mlmodel").string(); }
  std::string weight_file() const { return (weights / "weight.bin").string(); }
};

absl::Status WritePackageFiles(const PackagePaths& at, const Sink& sink, WireWriter& message,
                               const WeightFile* weights) {
  std::vector<AtomicFile> files;
  files.reserve(3);
  if (weights) {
    X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(at.weight_file()));
    X2IR_RETURN_IF_ERROR(weights->Write(file));
    files.push_back(std::move(file));
  }
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(at.model()));
  X2IR_RETURN_IF_ERROR(message.Emit([&](std::string_view bytes) { return file.Append(bytes); },
                                    [&](const Tensor& tensor) { return file.Append(tensor); }));
  files.push_back(std::move(file));
  X2IR_ASSIGN_OR_RETURN(AtomicFile manifest, sink.Create(at.manifest()));
  X2IR_RETURN_IF_ERROR(manifest.Append(ManifestText(weights != nullptr)));
  files.push_back(std::move(manifest));
  std::vector<AtomicFile*> all;
  for (AtomicFile& each : files) all.push_back(&each);
  return AtomicFile::CommitAll(all);
}

}  // namespace
}  // namespace coreml

std::vector<std::string> MlPackageFiles(const std::string& path) {
  const coreml::PackagePaths paths(path);
  return {paths.manifest(), paths.model(), paths.weight_file()};
}

absl::Status WriteMlPackage(const Model& model, const Sink& sink,
                            const CoremlWriteOptions& options) {
  const coreml::PackagePaths paths(sink.name());
  std::error_code error;
  if (sink.is_path() && !options.force && std::filesystem::exists(paths.root, error) &&
      !IsMlPackage(sink.name())) {
    return absl::AlreadyExistsError(
        StrCat("'", sink.name(), "' exists and is not a package of a model"));
  }
  // Once for the opset that it needs.
  int opset = options.opset == 0 ? coreml::kUsualOpset : options.opset;
  const int most = options.opset == 0 ? coreml::kNewestMilOpset : options.opset;
  {
    coreml::ProgramWriter first(model, opset, most);
    WireWriter message;
    X2IR_RETURN_IF_ERROR(first.Write(message));
    opset = first.opset();
  }
  coreml::ProgramWriter program(model, opset, most);
  WireWriter message;
  X2IR_RETURN_IF_ERROR(program.Write(message));
  const bool has_weights = !program.weights().empty();
  const auto write = [&](const coreml::PackagePaths& at) {
    return coreml::WritePackageFiles(at, sink, message, has_weights ? &program.weights() : nullptr);
  };
  if (!sink.is_path()) return write(paths);
  if (!std::filesystem::exists(paths.root, error)) {
    // A new package is complete when it gets its name.
    X2IR_ASSIGN_OR_RETURN(AtomicFolder folder, AtomicFolder::Create(sink.name()));
    const coreml::PackagePaths inside(folder.path());
    for (const auto& path : {inside.data, inside.folder}) {
      X2IR_RETURN_IF_ERROR(folder.MakeFolder(path.string()));
    }
    if (has_weights) X2IR_RETURN_IF_ERROR(folder.MakeFolder(inside.weights.string()));
    for (const auto& file : {inside.manifest(), inside.model(), inside.weight_file()}) {
      folder.AddFile(file);
    }
    X2IR_RETURN_IF_ERROR(write(inside));
    return folder.Commit();
  }
  Folders folders;
  for (const auto& folder : {paths.root, paths.data, paths.folder}) {
    X2IR_RETURN_IF_ERROR(folders.Make(folder));
  }
  if (has_weights) X2IR_RETURN_IF_ERROR(folders.Make(paths.weights));
  X2IR_RETURN_IF_ERROR(write(paths));
  folders.Keep();
  // Weights of a model that was there before.
  if (!has_weights) std::filesystem::remove(paths.weight_file(), error);
  return absl::OkStatus();
}

}  // namespace x2ir
