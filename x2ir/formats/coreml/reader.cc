// Models: what they say of their inputs and outputs, and which program is in them.
#include <algorithm>

#include "x2ir/formats/coreml/reader_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace coreml {

Value* AddNode(Graph& graph, std::string_view op, const std::vector<Value*>& operands,
               AttributeMap attrs, std::string_view result) {
  Node* node = graph.AppendNode(kDialect, op, operands);
  for (auto& [name, attr] : attrs) node->SetAttr(name, std::move(attr));
  return graph.AddNodeOutput(node, result);
}

void NoteImage(Value* input, const Feature& feature) {
  if (feature.kind != FeatureKind::kImage) return;
  input->annotations().GetOrMake().extra[kImage] = feature.layout;
}

Value* CastTo(Graph& graph, Value* value, DType dtype, std::string_view name) {
  if (value->dtype() == dtype) return value;
  return AddNode(graph, "cast", {value}, {{"dtype", std::string(MilTypeName(dtype))}}, name);
}

namespace {

constexpr int kMaxModelDepth = 8;
constexpr size_t kMaxAxes = 64;
// Fields of Model that are its program.
constexpr uint32_t kFirstProgramField = 200;

// --- Descriptions
// ---------------------------------------------------------------------------------

struct Range {
  int64_t low = 0, high = 0;
};
absl::StatusOr<Range> ReadRange(std::string_view bytes, const char* origin) {
  Range range;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() == size_range_field::kLowerBound) range.low = in.Int();
    if (in.field() == size_range_field::kUpperBound) range.high = in.Int();
  }
  X2IR_RETURN_IF_ERROR(in.status());
  return range;
}

DType ArrayType(int64_t number) {
  switch (number) {
    case 65568:
    case 65600: return DType::kFloat32;  // doubles are computed in float32
    case 131104: return DType::kInt32;
    case 131080: return DType::kInt8;
    case 65552: return DType::kFloat16;
    default: return DType::kUndefined;
  }
}

absl::Status SetDims(const std::vector<int64_t>& sizes, Feature* feature) {
  if (sizes.size() > kMaxAxes) return DataLoss("an array of ", sizes.size(), " axes");
  feature->dims.clear();
  for (size_t i = 0; i < sizes.size(); ++i) {
    feature->dims.push_back(sizes[i] > 0 ? Dim(sizes[i])
                                         : Dim::Symbol(StrCat(feature->name, "_", i)));
  }
  feature->has_dims = !sizes.empty();
  return absl::OkStatus();
}

// An array whose sizes may be others: these are symbols.
absl::Status ReadArray(std::string_view bytes, const char* origin, Feature* feature) {
  std::vector<int64_t> sizes;
  std::vector<bool> open;
  std::vector<std::vector<int64_t>> shapes;
  int64_t type = 0;
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case array_feature_type_field::kShape: in.AppendInts(&sizes); break;
      case array_feature_type_field::kDataType: type = in.Int(); break;
      case array_feature_type_field::kEnumeratedShapes: {
        WireReader list(in.Bytes(), origin);
        while (list.Next()) {
          if (list.field() != array_feature_type_enumerated_shapes_field::kShapes) continue;
          WireReader shape(list.Bytes(), origin);
          shapes.emplace_back();
          while (shape.Next()) {
            if (shape.field() == array_feature_type_shape_field::kShape)
              shape.AppendInts(&shapes.back());
          }
          X2IR_RETURN_IF_ERROR(shape.status());
        }
        X2IR_RETURN_IF_ERROR(list.status());
        break;
      }
      case array_feature_type_field::kShapeRange: {
        WireReader list(in.Bytes(), origin);
        while (list.Next()) {
          if (list.field() != array_feature_type_shape_range_field::kSizeRanges) continue;
          X2IR_ASSIGN_OR_RETURN(const Range range, ReadRange(list.Bytes(), origin));
          open.push_back(range.low != range.high);
        }
        X2IR_RETURN_IF_ERROR(list.status());
        break;
      }
      default: break;  // default values
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  feature->kind = FeatureKind::kArray;
  feature->dtype = ArrayType(type);
  if (sizes.empty() && !shapes.empty()) sizes = shapes[0];
  if (sizes.empty() && !open.empty()) sizes.assign(std::min(open.size(), kMaxAxes), 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    bool same = i >= open.size() || !open[i];
    for (const auto& shape : shapes) same &= shape.size() == sizes.size() && shape[i] == sizes[i];
    if (!same) sizes[i] = 0;
  }
  return SetDims(sizes, feature);
}

absl::Status ReadImage(std::string_view bytes, const char* origin, Feature* feature) {
  int64_t width = 0, height = 0, color = 0;
  bool width_is_open = false, height_is_open = false;
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case image_feature_type_field::kWidth: width = in.Int(); break;
      case image_feature_type_field::kHeight: height = in.Int(); break;
      case image_feature_type_field::kColorSpace: color = in.Int(); break;
      case image_feature_type_field::kEnumeratedSizes:  // other sizes as well
        width_is_open = height_is_open = true;
        break;
      case image_feature_type_field::kImageSizeRange: {
        WireReader ranges(in.Bytes(), origin);
        while (ranges.Next()) {
          const bool is_width =
              ranges.field() == image_feature_type_image_size_range_field::kWidthRange;
          if (!is_width &&
              ranges.field() != image_feature_type_image_size_range_field::kHeightRange)
            continue;
          X2IR_ASSIGN_OR_RETURN(const Range range, ReadRange(ranges.Bytes(), origin));
          (is_width ? width_is_open : height_is_open) = range.low != range.high;
        }
        X2IR_RETURN_IF_ERROR(ranges.status());
        break;
      }
      default: break;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  for (const auto& [number, name] : kColorSpaces) {
    if (number == color) feature->layout = name;
  }
  if (feature->layout.empty()) {
    return Unimplemented("image '", feature->name, "' of color space ", color);
  }
  if (width_is_open) width = 0;
  if (height_is_open) height = 0;
  feature->kind = FeatureKind::kImage;
  feature->dtype = DType::kFloat32;
  return SetDims({color == 10 || color == 40 ? 1 : 3, height, width}, feature);
}

absl::Status ReadFeatureType(std::string_view bytes, const char* origin, Feature* feature) {
  WireReader in(bytes, origin);
  while (in.Next()) {
    switch (in.field()) {
      case feature_type_field::kInt64Type:
        feature->kind = FeatureKind::kInt;
        feature->dtype = DType::kInt64;
        break;
      case feature_type_field::kDoubleType: feature->kind = FeatureKind::kDouble; break;
      case feature_type_field::kStringType:
        feature->kind = FeatureKind::kString;
        feature->dtype = DType::kString;
        break;
      case feature_type_field::kImageType:
        X2IR_RETURN_IF_ERROR(ReadImage(in.Bytes(), origin, feature));
        break;
      case feature_type_field::kMultiArrayType:
        X2IR_RETURN_IF_ERROR(ReadArray(in.Bytes(), origin, feature));
        break;
      case feature_type_field::kDictionaryType: {
        feature->kind = FeatureKind::kDictionary;
        WireReader key(in.Bytes(), origin);
        while (key.Next())
          feature->int_keys = key.field() == dictionary_feature_type_field::kInt64KeyType;
        X2IR_RETURN_IF_ERROR(key.status());
        break;
      }
      case feature_type_field::kStateType: {
        WireReader state(in.Bytes(), origin);
        while (state.Next()) {
          if (state.field() == state_feature_type_field::kArrayType) {
            X2IR_RETURN_IF_ERROR(ReadArray(state.Bytes(), origin, feature));
          }
        }
        X2IR_RETURN_IF_ERROR(state.status());
        break;
      }
      case feature_type_field::kIsOptional: feature->optional = in.Int() != 0; break;
      default:
        feature->kind = FeatureKind::kOther;
        feature->kind_name = in.field() == feature_type_field::kSequenceType
                                 ? "a sequence"
                                 : StrCat("of kind ", in.field());
    }
  }
  return in.status();
}

absl::StatusOr<Feature> ReadFeature(std::string_view bytes, const char* origin) {
  Feature feature;
  std::string_view type;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() == feature_description_field::kName) feature.name = in.String();
    if (in.field() == feature_description_field::kType) type = in.Bytes();
  }
  X2IR_RETURN_IF_ERROR(in.status());
  X2IR_RETURN_IF_ERROR(ReadFeatureType(type, origin, &feature));
  return feature;
}

constexpr std::string_view kPortPrefix = "x2ir.port.";

absl::Status ReadMetadata(std::string_view bytes, const char* origin, Model* model,
                          Description* description) {
  static constexpr std::string_view kNames[] = {"", "shortDescription", "versionString", "author",
                                                "license"};
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() >= metadata_field::kShortDescription && in.field() <= metadata_field::kLicense) {
      const std::string text = in.String();
      if (model && !text.empty()) {
        model->annotations.GetOrMake().metadata.emplace_back(kNames[in.field()], text);
      }
      continue;
    }
    if (in.field() != metadata_field::kUserDefined) continue;
    std::string key, value;
    WireReader entry(in.Bytes(), origin);
    while (entry.Next()) {
      if (entry.field() == metadata_user_defined_entry_field::kKey) key = entry.String();
      if (entry.field() == metadata_user_defined_entry_field::kValue) value = entry.String();
    }
    X2IR_RETURN_IF_ERROR(entry.status());
    if (std::string_view(key).starts_with(kPortPrefix)) {
      description->ports[key.substr(kPortPrefix.size())] = value;
    } else if (model) {
      model->annotations.GetOrMake().metadata.emplace_back(key, value);
    }
  }
  return in.status();
}

struct FunctionDescription {
  std::string name;
  Description description;
};

absl::Status ReadPorts(WireReader& in, const char* origin, uint32_t inputs, uint32_t outputs,
                       uint32_t states, Description* description) {
  std::vector<Feature>* list = nullptr;
  if (in.field() == inputs) list = &description->inputs;
  if (in.field() == outputs) list = &description->outputs;
  if (in.field() == states) list = &description->states;
  if (!list) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(list->emplace_back(), ReadFeature(in.Bytes(), origin));
  list->back().is_state = list == &description->states;
  return absl::OkStatus();
}

// What is said of the function, or of the only one there is. `function` is set where it is empty.
absl::StatusOr<Description> ReadDescription(std::string_view bytes, const char* origin,
                                            Model* model, std::string* function) {
  Description description;
  std::vector<FunctionDescription> functions;
  std::string usual;
  WireReader in(bytes, origin);
  while (in.Next()) {
    X2IR_RETURN_IF_ERROR(ReadPorts(in, origin, model_description_field::kInput,
                                   model_description_field::kOutput,
                                   model_description_field::kState, &description));
    switch (in.field()) {
      case model_description_field::kPredictedFeatureName: description.label = in.String(); break;
      case model_description_field::kPredictedProbabilitiesName:
        description.probabilities = in.String();
        break;
      case model_description_field::kFunctions: {
        FunctionDescription each;
        WireReader inner(in.Bytes(), origin);
        while (inner.Next()) {
          if (inner.field() == function_description_field::kName) each.name = inner.String();
          if (inner.field() == function_description_field::kPredictedFeatureName) {
            each.description.label = inner.String();
          }
          if (inner.field() == function_description_field::kPredictedProbabilitiesName) {
            each.description.probabilities = inner.String();
          }
          X2IR_RETURN_IF_ERROR(ReadPorts(inner, origin, function_description_field::kInput,
                                         function_description_field::kOutput,
                                         function_description_field::kState, &each.description));
        }
        X2IR_RETURN_IF_ERROR(inner.status());
        functions.push_back(std::move(each));
        break;
      }
      case model_description_field::kDefaultFunctionName: usual = in.String(); break;
      case model_description_field::kMetadata:
        X2IR_RETURN_IF_ERROR(ReadMetadata(in.Bytes(), origin, model, &description));
        break;
      default: break;
    }
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (function->empty()) *function = usual.empty() ? "main" : usual;
  for (FunctionDescription& each : functions) {
    if (each.name != *function) continue;
    each.description.ports = std::move(description.ports);
    return std::move(each.description);
  }
  return description;
}

// --- Models
// ---------------------------------------------------------------------------------------

struct ModelParts {
  int64_t version = 0;
  std::string_view description, program;
  const ProtoField* kind = nullptr;
};

absl::StatusOr<ModelParts> ReadParts(std::string_view bytes, const char* origin) {
  ModelParts parts;
  WireReader in(bytes, origin);
  while (in.Next()) {
    if (in.field() == model_field::kSpecificationVersion) parts.version = in.Int();
    if (in.field() == model_field::kDescription) parts.description = in.Bytes();
    if (in.field() < kFirstProgramField) continue;
    parts.kind = FindProtoField(ModelMessage(), in.field());
    if (!parts.kind) return Unimplemented("a model of kind ", in.field());
    parts.program = in.Bytes();
  }
  X2IR_RETURN_IF_ERROR(in.status());
  if (!parts.kind) return DataLoss("the file has no model");
  return parts;
}

class ModelReader {
 public:
  ModelReader(ModelFiles& files, const CoremlReadOptions& options)
      : files_(files), origin_(files.model()->view().data()), options_(options) {}

  absl::StatusOr<Model> Read() {
    X2IR_ASSIGN_OR_RETURN(const ModelParts parts, ReadParts(files_.model()->view(), origin_));
    Model model;
    model.source_dialect = std::string(kDialect);
    model.SetOpset("", 1);
    model.SetOpset("nn", 1);
    model.SetOpset("model", 1);
    Graph& graph = *model.graph;
    std::string function = options_.function;
    X2IR_ASSIGN_OR_RETURN(const Description description,
                          ReadDescription(parts.description, origin_, &model, &function));
    if (parts.kind->name != "mlProgram" && !options_.function.empty()) {
      return Invalid("the model has no functions");
    }
    model.annotations.GetOrMake().extra["coreml.specification"] = StrCat(parts.version);
    Scope scope;
    if (parts.kind->name == "mlProgram") {
      X2IR_RETURN_IF_ERROR(
          ReadProgram(parts.program, files_, function, description, graph, &scope));
    } else {
      X2IR_RETURN_IF_ERROR(AddInputs(description, graph, &scope));
      X2IR_RETURN_IF_ERROR(ReadModel(parts, description, graph, &scope, 0));
    }
    X2IR_RETURN_IF_ERROR(AddOutputs(parts, description, graph, scope));
    return model;
  }

 private:
  absl::Status AddInputs(const Description& description, Graph& graph, Scope* scope) {
    for (const Feature& feature : description.inputs) {
      X2IR_ASSIGN_OR_RETURN(const Type type, TypeOf(feature));
      if (scope->contains(feature.name))
        return Invalid("two inputs are called '", feature.name, "'");
      (*scope)[feature.name] = graph.AddInput(feature.name, type);
      NoteImage((*scope)[feature.name], feature);
    }
    return absl::OkStatus();
  }

  static absl::StatusOr<Type> TypeOf(const Feature& feature) {
    switch (feature.kind) {
      case FeatureKind::kInt:
      case FeatureKind::kDouble:
      case FeatureKind::kString: return Type::Tensor(feature.dtype, Shape({Dim(1)}));
      case FeatureKind::kImage: {
        std::vector<Dim> dims = feature.dims;
        dims.insert(dims.begin(), Dim(1));
        return Type::Tensor(feature.dtype, Shape(std::move(dims)));
      }
      case FeatureKind::kArray:
        if (feature.dtype == DType::kUndefined) {
          return Unimplemented("'", feature.name, "' is an array of unknown type");
        }
        return feature.has_dims ? Type::Tensor(feature.dtype, Shape(feature.dims))
                                : Type::Tensor(feature.dtype);
      case FeatureKind::kDictionary: {
        const DType key = feature.int_keys ? DType::kInt64 : DType::kString;
        return Type::Map(key, Type::Tensor(DType::kFloat32, Shape()));
      }
      default: {
        const std::string kind = feature.kind_name.empty() ? "without a type" : feature.kind_name;
        if (!feature.name.empty()) return Unimplemented("'", feature.name, "' is ", kind);
        return Unimplemented("the description has an input or output without a name, which is ",
                             kind);
      }
    }
  }

  absl::Status ReadModel(const ModelParts& parts, const Description& description, Graph& graph,
                         Scope* scope, int depth) {
    const std::string_view kind = parts.kind->name;
    if (kind == "pipeline") return ReadPipeline(parts.program, description, graph, scope, depth);
    if (kind == "pipelineClassifier" || kind == "pipelineRegressor") {
      WireReader in(parts.program, origin_);
      while (in.Next()) {
        if (in.field() == pipeline_classifier_field::kPipeline) {
          X2IR_RETURN_IF_ERROR(ReadPipeline(in.Bytes(), description, graph, scope, depth));
        }
      }
      return in.status();
    }
    if (kind == "neuralNetwork" || kind == "neuralNetworkClassifier" ||
        kind == "neuralNetworkRegressor") {
      return ReadNetworkModel(parts, description, graph, scope);
    }
    return ReadOther(parts, description, graph, scope);
  }

  absl::Status ReadPipeline(std::string_view bytes, const Description&, Graph& graph, Scope* scope,
                            int depth) {
    if (depth > kMaxModelDepth) return DataLoss("models are nested too deeply");
    WireReader in(bytes, origin_);
    size_t index = 0;
    while (in.Next()) {
      if (in.field() != pipeline_field::kModels) continue;
      X2IR_ASSIGN_OR_RETURN(const ModelParts parts, ReadParts(in.Bytes(), origin_));
      std::string function;
      X2IR_ASSIGN_OR_RETURN(const Description own,
                            ReadDescription(parts.description, origin_, nullptr, &function));
      if (parts.kind->name == "mlProgram") return Unimplemented("an ML Program in a pipeline");
      X2IR_RETURN_IF_ERROR(Annotate(ReadModel(parts, own, graph, scope, depth + 1),
                                    StrCat("model ", index, " of the pipeline")));
      ++index;
    }
    return in.status();
  }

  absl::Status ReadNetworkModel(const ModelParts& parts, const Description& description,
                                Graph& graph, Scope* scope) {
    Scope before = *scope;
    X2IR_RETURN_IF_ERROR(
        ReadNetwork(parts.program, files_.model(), description, options_.raw_images, graph, scope));
    X2IR_ASSIGN_OR_RETURN(const NetworkShape shape, ReadNetworkShape(parts.program, origin_));
    if (parts.kind->name == "neuralNetworkClassifier") {
      X2IR_RETURN_IF_ERROR(AddClassifier(parts.program, description, graph, scope));
    }
    // Blobs become what is described.
    for (const Feature& feature : description.outputs) {
      const auto it = scope->find(feature.name);
      if (it == scope->end() || feature.kind != FeatureKind::kArray) continue;
      Value* value = it->second;
      const auto dims = feature.has_dims ? Shape(feature.dims).Static() : std::nullopt;
      if (dims && !shape.exact_arrays) {
        std::vector<int32_t> sizes;
        for (const int64_t dim : *dims) {
          if (dim > INT32_MAX) return DataLoss("a size of ", dim);
          sizes.push_back(static_cast<int32_t>(dim));
        }
        Value* constant =
            graph.AddConstant(graph.UniqueName(StrCat(feature.name, "_shape")),
                              Tensor::Of<int32_t>({static_cast<int64_t>(sizes.size())}, sizes));
        value = AddNode(graph, "reshape", {value, constant}, {},
                        graph.UniqueName(StrCat(feature.name, "_described")));
      }
      if (feature.dtype == DType::kInt32) {
        value = AddNode(graph, "cast", {value}, {{"dtype", "int32"}},
                        graph.UniqueName(StrCat(feature.name, "_int")));
      }
      it->second = value;
    }
    return absl::OkStatus();
  }

  absl::Status AddClassifier(std::string_view bytes, const Description& description, Graph& graph,
                             Scope* scope) {
    X2IR_ASSIGN_OR_RETURN(NetworkLabels labels, ReadLabels(bytes, origin_));
    std::string blob = labels.probabilities;
    if (blob.empty()) {
      // The output that is not a label, if there is but one.
      for (const Feature& feature : description.outputs) {
        if (feature.name != description.label) blob = feature.name;
      }
    }
    const auto it = scope->find(blob);
    if (it == scope->end()) return Invalid("no layer computes the probabilities '", blob, "'");
    Node* node = graph.AppendNode(kDialect, "model::classes", std::vector<Value*>{it->second});
    if (labels.strings.empty()) {
      node->SetAttr("classes", std::move(labels.ints));
    } else {
      node->SetAttr("classes", std::move(labels.strings));
    }
    if (!description.label.empty()) {
      (*scope)[description.label] = graph.AddNodeOutput(node, graph.UniqueName(description.label));
    } else {
      graph.AddMissingOutput(node);
    }
    if (!description.probabilities.empty()) {
      (*scope)[description.probabilities] =
          graph.AddNodeOutput(node, graph.UniqueName(StrCat(description.probabilities, "_values")));
    }
    return absl::OkStatus();
  }

  // One node, whose operands are the features in order.
  absl::Status ReadOther(const ModelParts& parts, const Description& description, Graph& graph,
                         Scope* scope) {
    absl::StatusOr<Decoded> decoded =
        DecodeMessage(parts.program, *parts.kind->message, files_.model());
    if (!decoded.ok()) return Annotate(decoded.status(), parts.kind->name);
    std::vector<Value*> operands;
    for (const Feature& feature : description.inputs) {
      const auto it = scope->find(feature.name);
      if (it == scope->end())
        return Invalid("no model of the pipeline computes the input '", feature.name, "'");
      operands.push_back(it->second);
    }
    Node* node = graph.AppendNode(kDialect, StrCat("model::", parts.kind->name), operands);
    for (auto& [name, attr] : decoded->attrs) node->SetAttr(name, std::move(attr));
    std::vector<std::string> inputs;
    for (const Feature& feature : description.inputs) inputs.push_back(feature.name);
    node->SetAttr("inputs#", std::move(inputs));
    // Of classifiers the label comes first, then the probabilities.
    std::vector<std::string> names;
    for (const std::string& name : {description.label, description.probabilities}) {
      if (!name.empty()) names.push_back(name);
    }
    const bool classifies = !description.label.empty();
    for (const Feature& feature : description.outputs) {
      // Boxes that are left may be as many as the description says.
      if (parts.kind->name == "nonMaximumSuppression" && feature.has_dims &&
          !feature.dims.empty() && feature.dims[0].is_static()) {
        node->SetAttr("rows#", feature.dims[0].value());
      }
      if (std::find(names.begin(), names.end(), feature.name) != names.end()) continue;
      names.push_back(feature.name);
    }
    if (classifies && names.size() > 2)
      return Unimplemented("a classifier of ", names.size(), " outputs");
    for (const std::string& name : names) {
      (*scope)[name] = graph.AddNodeOutput(node, graph.UniqueName(name));
    }
    node->SetAttr("outputs#", std::move(names));
    return absl::OkStatus();
  }

  absl::Status AddOutput(Graph& graph, Value* value, const std::string& name) {
    // What is an input, a constant or an output already is given again.
    if (!value->producer() || value->graph() != &graph || value->is_graph_output()) {
      value = AddNode(graph, "identity", {value}, {}, graph.UniqueName(name));
    }
    if (value->name() != name) {
      Value* holder = graph.Find(name);
      if (!holder) {
        graph.Rename(value, name);
      } else if (holder != value && holder->producer() && !holder->is_graph_output()) {
        graph.SwapNames(holder, value);
      }
    }
    graph.AddOutput(value);
    return absl::OkStatus();
  }

  // An output of the type that it had before it was written: of a classifier's the shape too.
  static Value* AsBefore(Graph& graph, Value* value, const Type& before, const Feature& feature) {
    if (!before.is_tensor() || before.dtype() == DType::kUndefined ||
        MilTypeName(before.dtype()).empty()) {
      return value;
    }
    // Scores are float32, labels as they were.
    const bool is_same =
        feature.kind == FeatureKind::kDictionary
            ? before.dtype() == DType::kFloat32
            : before.dtype() == feature.dtype && feature.kind != FeatureKind::kArray;
    if (!is_same) {
      value = AddNode(graph, "cast", {value}, {{"dtype", std::string(MilTypeName(before.dtype()))}},
                      graph.UniqueName(StrCat(feature.name, "_cast")));
    }
    const auto dims = before.shape() ? before.shape()->Static() : std::nullopt;
    if (feature.kind == FeatureKind::kArray || !dims) return value;
    std::vector<int32_t> sizes(dims->begin(), dims->end());
    Value* shape =
        graph.AddConstant(graph.UniqueName(StrCat(feature.name, "_shape")),
                          Tensor::Of<int32_t>({static_cast<int64_t>(sizes.size())}, sizes));
    return AddNode(graph, "reshape", {value, shape}, {},
                   graph.UniqueName(StrCat(feature.name, "_reshaped")));
  }

  absl::Status AddOutputs(const ModelParts& parts, const Description& description, Graph& graph,
                          const Scope& scope) {
    for (const Feature& feature : description.outputs) {
      const auto it = scope.find(feature.name);
      if (it == scope.end()) return Invalid("no layer computes the output '", feature.name, "'");
      Value* value = it->second;
      std::string name = feature.name;
      const bool is_label = !description.label.empty() && feature.name == description.label;
      if (const auto port = description.ports.find(feature.name); port != description.ports.end()) {
        if (port->second == kNoPort) continue;
        const size_t bar = port->second.rfind('|');
        const auto before = bar == std::string::npos
                                ? Type()
                                : Type::Parse(port->second.substr(bar + 1)).value_or(Type());
        if (before.is_known()) name = port->second.substr(0, bar);
        value = AsBefore(graph, value, before, feature);
      }
      X2IR_RETURN_IF_ERROR(AddOutput(graph, value, name));
      if (is_label) graph.outputs().back()->annotations().GetOrMake().extra[kLabel] = "1";
    }
    for (const Feature& state : description.states) {
      const auto it = scope.find(StrCat(state.name, "_out"));
      if (it == scope.end()) continue;
      X2IR_RETURN_IF_ERROR(
          AddOutput(graph, it->second, graph.UniqueName(StrCat(state.name, "_out"))));
    }
    if (graph.outputs().empty())
      return Invalid("the model (", parts.kind->name, ") has no outputs");
    return absl::OkStatus();
  }

  ModelFiles& files_;
  const char* const origin_;
  const CoremlReadOptions& options_;
};

}  // namespace
}  // namespace coreml

absl::StatusOr<Model> ReadCoreml(const Source& source, const CoremlReadOptions& options) {
  const auto read = [&]() -> absl::StatusOr<Model> {
    X2IR_ASSIGN_OR_RETURN(coreml::ModelFiles files, coreml::ModelFiles::Find(source));
    return coreml::ModelReader(files, options).Read();
  };
  absl::StatusOr<Model> model = read();
  if (!model.ok()) return Annotate(model.status(), StrCat("'", source.name(), "'"));
  return model;
}

}  // namespace x2ir
