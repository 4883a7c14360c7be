// Reads IR files in one pass over the mapped JSON, members in any order. References to names that
// may come later (or are in an outer graph) are resolved at the end.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/ir/ir.h"
#include "x2ir/formats/ir/ir_internal.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/safetensors/index.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace ir {
namespace {

// Setting an attribute takes time in proportion to those that are there.
constexpr size_t kMaxAttributes = 10'000;

using Kind = JsonReader::Kind;

class Reader {
 public:
  Reader(std::string_view text, const Source& source)
      : json_(text), source_(source), parts_(SplitPath(source.name())) {}

  absl::StatusOr<Model> Read();

 private:
  // --- Pieces ---
  std::string Text();  // a string, or {"bytes": ...}
  std::string Bytes();
  Type ReadType();
  template <typename T>
  T Float();
  template <typename T>
  T FloatOf(const JsonReader::NumberText& number);
  template <typename T>
  T Element();
  // A list of exactly `size` items.
  template <typename F>
  void Tuple(size_t size, F&& item);

  // --- Parts of the model ---
  void ReadSource(Model& model);
  void ReadOpsets(std::vector<OpsetImport>* opsets);
  void ReadWeights();
  void ReadWeightFile(const BlobPtr& mapped, const std::vector<std::string>* wanted);
  void ReadWeightIndex(const Blob& index, const std::string& name);
  void ReadFunctions(Model& model);
  std::shared_ptr<Function> ReadFunction();
  void ReadAnnotations(AnnotationsPtr& annotations);
  std::shared_ptr<Graph> ReadGraph();
  void ReadInput(Graph& graph);
  void ReadConstant(Graph& graph);
  void ReadNode(Graph& graph);
  void ReadOutput(Graph& graph, Node* node);
  bool IsName(std::string_view name);  // of a value; else notes the error
  bool IsFree(const Graph& graph, std::string_view name);
  void FailTwice(std::string_view name);
  Value* AddOutput(Graph& graph, Node* node, std::string_view name, Type type);
  Attribute ReadAttribute();
  Attribute ReadListAttribute();
  Attribute ReadTaggedAttribute();

  // --- Tensors ---
  struct TensorFields {
    enum : int {
      kType,
      kValues,
      kKey,
      kFile,
      kOffset,
      kSize,
      kSparseValues,
      kSparseIndices,
      kCount
    };
    uint32_t seen = 0;
    Type type;
    std::optional<JsonReader::Mark> values;  // read when the type is known
    std::string_view key, file;
    uint64_t offset = 0, size = 0;
    Tensor sparse_values, sparse_indices;
  };
  static constexpr std::string_view kTensorKeys[] = {
      "type", "values", "key", "file", "offset", "size", "sparse_values", "sparse_indices"};
  void ReadTensorField(int key, TensorFields& fields);
  Tensor MakeTensor(TensorFields& fields, std::string_view implied_key);
  Tensor ReadTensor();
  Tensor ReadValues(const TensorFields& fields, const std::vector<int64_t>& dims);
  Tensor FromWeights(std::string_view key, const Type& type, const std::vector<int64_t>& dims);
  Tensor FromRange(const TensorFields& fields, const std::vector<int64_t>& dims);
  template <typename T>
  T Unwrap(absl::StatusOr<T> value) {
    if (value.ok()) return *std::move(value);
    json_.Fail(value.status());
    return T();
  }

  // --- The end ---
  absl::Status ResolveNames();
  absl::Status SortGraphs();

  JsonReader json_;
  const Source& source_;
  const PathParts parts_;
  int depth_ = 0;
  bool has_weights_ = false;  // whether "weights" was read
  std::vector<std::vector<NamedTensor>> weight_files_;
  absl::flat_hash_map<std::string_view, const Tensor*> weights_;  // of those files
  StringMap<BlobPtr> files_;
  absl::flat_hash_map<std::string_view, Type> types_;
  std::vector<Graph*> graphs_;  // those that are no attribute of a node

  struct PendingInput {
    Node* node;
    size_t index;
    std::string_view name;
  };
  struct PendingOutput {
    Graph* graph;
    std::string_view name;
    Type type;
  };
  std::vector<PendingInput> pending_inputs_;
  std::vector<PendingOutput> pending_outputs_;
};

// --- Pieces ---------------------------------------------------------------------------------

std::string Reader::Bytes() {
  const std::string_view base64 = json_.String();
  std::string bytes;
  // Abseil's decoder forgives more than we do: only what encodes to the same text counts.
  if (json_.ok() && (!absl::Base64Unescape(ForAbsl(base64), &bytes) ||
                     absl::Base64Escape(bytes) != ForAbsl(base64))) {
    json_.Fail("expected bytes in base64");
  }
  return bytes;
}

std::string Reader::Text() {
  if (json_.Peek() != Kind::kObject) return std::string(json_.String());
  static constexpr std::string_view kKeys[] = {"bytes"};
  std::string bytes;
  if (json_.Members(kKeys, [&](int) { bytes = Bytes(); }) == 0) json_.Fail("expected \"bytes\"");
  return bytes;
}

Type Reader::ReadType() {
  const std::string_view text = json_.String();
  if (!json_.ok()) return Type();
  const auto [it, is_new] = types_.try_emplace(text);
  if (is_new) it->second = Unwrap(Type::Parse(text));
  return it->second;
}

template <typename T>
T Reader::FloatOf(const JsonReader::NumberText& number) {
  T value = 0;
  const char* end = number.text.data() + number.text.size();
  const auto result = std::from_chars(number.text.data(), end, value);
  if (json_.ok() && (result.ec != std::errc() || result.ptr != end)) {
    json_.Fail("this number is out of range");
  }
  return value;
}

// A number, "nan", "inf", "-inf", or the bits of a special NaN: "0x7fc00001".
template <typename T>
T Reader::Float() {
  if (json_.Peek() != Kind::kString) return FloatOf<T>(json_.Number());
  using Bits = typename FloatBits<T>::Bits;
  const std::string_view text = json_.String();
  if (text == "inf") return std::numeric_limits<T>::infinity();
  if (text == "-inf") return -std::numeric_limits<T>::infinity();
  Bits bits = FloatBits<T>::kNan;
  if (text != "nan") {
    const char* end = text.data() + text.size();
    const bool hex = text.size() == 2 + 2 * sizeof(T) && text.starts_with("0x");
    const auto result = hex ? std::from_chars(text.data() + 2, end, bits, 16)
                            : std::from_chars_result{end, std::errc::invalid_argument};
    if (result.ec != std::errc() || result.ptr != end) {
      json_.Fail("expected a number, \"nan\", \"inf\", \"-inf\", or the bits of a NaN in hex");
    }
  }
  T value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

template <typename T>
T Reader::Element() {
  if constexpr (std::is_same_v<T, bool>) {
    return json_.Bool();
  } else if constexpr (std::is_floating_point_v<T>) {
    return Float<T>();
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return json_.Unsigned();
  } else {
    const int64_t value = json_.Int();
    if (!json_.ok()) return 0;
    if (value < std::numeric_limits<T>::min() ||
        value > static_cast<int64_t>(std::numeric_limits<T>::max())) {
      json_.Fail("this number is out of range for the element type");
    }
    return static_cast<T>(value);
  }
}

template <typename F>
void Reader::Tuple(size_t size, F&& item) {
  size_t count = 0;
  json_.Array([&](size_t i) {
    if (++count > size) return json_.Fail(StrCat("expected ", size, " items"));
    item(i);
  });
  if (count < size) json_.Fail(StrCat("expected ", size, " items, got ", count));
}

// --- The model ------------------------------------------------------------------------------

absl::StatusOr<Model> Reader::Read() {
  enum { kFormatKey, kVersionKey, kSourceKey, kWeightsKey, kGraphKey, kFunctionsKey, kAnnotations };
  static constexpr std::string_view kKeys[] = {"format", "version",   "source",     "weights",
                                               "graph",  "functions", "annotations"};
  Model model;
  // The graph needs the weights, so it waits for them if it comes before them.
  std::optional<JsonReader::Mark> graph, functions;
  bool ours = false;
  const uint32_t seen = json_.Members(kKeys, [&](int key) {
    switch (key) {
      case kFormatKey:
        ours = json_.String() == kFormat;
        if (!ours) json_.Fail("expected \"x2ir\"");
        break;
      case kVersionKey:
        if (const int64_t version = json_.Int(); json_.ok() && version != kVersion) {
          json_.Fail(Unimplemented("this file has format version ", version,
                                   "; this x2ir reads only version ", kVersion));
        }
        break;
      case kSourceKey: ReadSource(model); break;
      case kWeightsKey: ReadWeights(); break;
      case kAnnotations: ReadAnnotations(model.annotations); break;
      case kGraphKey:
        if (has_weights_) {
          model.graph = ReadGraph();
          if (model.graph) graphs_.push_back(model.graph.get());
        } else {
          graph = json_.Here();
          json_.Skip();
        }
        break;
      case kFunctionsKey:
        if (has_weights_) {
          ReadFunctions(model);
        } else {
          functions = json_.Here();
          json_.Skip();
        }
        break;
    }
  });
  json_.Finish();
  if (json_.ok()) {
    for (const int key : {kFormatKey, kVersionKey, kGraphKey}) {
      if ((seen >> key & 1) == 0) json_.Fail(StrCat("\"", kKeys[key], "\" is missing"));
    }
  }
  if (!ours && !json_.ok()) return DataLoss("not an x2ir model: ", json_.status().message());
  if (graph && json_.ok()) {
    json_.GoTo(*graph);
    model.graph = ReadGraph();
    if (model.graph) graphs_.push_back(model.graph.get());
  }
  if (functions && json_.ok()) {
    json_.GoTo(*functions);
    ReadFunctions(model);
  }
  X2IR_RETURN_IF_ERROR(json_.status());
  X2IR_RETURN_IF_ERROR(ResolveNames());
  X2IR_RETURN_IF_ERROR(SortGraphs());
  return model;
}

void Reader::ReadSource(Model& model) {
  enum { kDialect, kIrVersion, kOpsets, kProducer, kProducerVersion, kDomain, kModelVersion };
  static constexpr std::string_view kKeys[] = {"dialect",       "ir_version",       "opset_imports",
                                               "producer_name", "producer_version", "domain",
                                               "model_version"};
  json_.Members(kKeys, [&](int key) {
    switch (key) {
      case kDialect: model.source_dialect = Text(); break;
      case kIrVersion: model.ir_version = json_.Int(); break;
      case kOpsets: ReadOpsets(&model.opset_imports); break;
      case kProducer: model.producer_name = Text(); break;
      case kProducerVersion: model.producer_version = Text(); break;
      case kDomain: model.domain = Text(); break;
      case kModelVersion: model.model_version = json_.Int(); break;
    }
  });
}

void Reader::ReadOpsets(std::vector<OpsetImport>* opsets) {
  json_.Array([&](size_t) {
    OpsetImport opset;
    Tuple(2, [&](size_t i) {
      if (i == 0) {
        opset.domain = json_.String();
      } else {
        opset.version = json_.Int();
      }
    });
    opsets->push_back(std::move(opset));
  });
}

void Reader::ReadWeights() {
  has_weights_ = true;
  json_.Array([&](size_t) {
    std::string name(json_.String());
    if (!json_.ok()) return;
    for (size_t at = 0; (at = name.find(kStem, at)) != std::string::npos;
         at += parts_.stem.size()) {
      name.replace(at, 1, parts_.stem);
    }
    const auto file = Unwrap(source_.OpenBeside(name));
    if (!json_.ok()) return;
    if (name.ends_with(kSafetensorsIndexExtension)) return ReadWeightIndex(*file, name);
    ReadWeightFile(file, nullptr);
  });
}

// All tensors of a file, or those that an index says it has.
void Reader::ReadWeightFile(const BlobPtr& mapped, const std::vector<std::string>* wanted) {
  Safetensors file = Unwrap(ReadSafetensors(mapped));
  if (!json_.ok()) return;
  StringSet missing;
  if (wanted) missing.insert(wanted->begin(), wanted->end());
  const std::vector<NamedTensor>& all = weight_files_.emplace_back(std::move(file.tensors));
  weights_.reserve(weights_.size() + all.size());
  for (const NamedTensor& entry : all) {
    if (wanted && missing.erase(entry.name) == 0) continue;
    if (!weights_.try_emplace(entry.name, &entry.tensor).second) {
      return json_.Fail(StrCat("tensor '", entry.name, "' is in two weight files"));
    }
  }
  if (!missing.empty()) {
    json_.Fail(StrCat("the index says that tensor '", *missing.begin(), "' is in '", mapped->path(),
                      "', but it is not"));
  }
}

// Its files lie where it lies.
void Reader::ReadWeightIndex(const Blob& index, const std::string& name) {
  const std::string folder = name.substr(0, name.rfind('/') + 1);
  for (const SafetensorsShard& shard : Unwrap(ReadSafetensorsIndex(index))) {
    const std::string file = shard.file.starts_with('/') ? shard.file : folder + shard.file;
    const auto mapped = Unwrap(source_.OpenBeside(file));
    if (!json_.ok()) return;
    ReadWeightFile(mapped, &shard.tensors);
    if (!json_.ok()) return;
  }
}

void Reader::ReadFunctions(Model& model) {
  json_.Array([&](size_t) { model.functions.push_back(ReadFunction()); });
}

std::shared_ptr<Function> Reader::ReadFunction() {
  enum { kDomain, kName, kOverload, kAttributes, kDefaults, kOpsets, kAnnotations, kGraph };
  static constexpr std::string_view kKeys[] = {"domain",      "name",     "overload",
                                               "attributes",  "defaults", "opset_imports",
                                               "annotations", "graph"};
  auto function = std::make_shared<Function>();
  const uint32_t seen = json_.Members(kKeys, [&](int key) {
    switch (key) {
      case kDomain: function->domain = json_.String(); break;
      case kName: function->name = json_.String(); break;
      case kOverload: function->overload = json_.String(); break;
      case kAttributes:
        json_.Array([&](size_t) { function->attributes.emplace_back(json_.String()); });
        break;
      case kDefaults:
        json_.Array([&](size_t) {
          auto& entry = function->attribute_defaults.emplace_back();
          Tuple(2, [&](size_t i) {
            if (i == 0) {
              entry.first = json_.String();
              return;
            }
            entry.second = ReadAttribute();
            if (auto* graph = entry.second.get<Attribute::GraphPtr>(); graph && *graph) {
              graphs_.push_back(graph->get());
            } else if (auto* list = entry.second.get<std::vector<Attribute::GraphPtr>>()) {
              for (const auto& g : *list) {
                if (g) graphs_.push_back(g.get());
              }
            }
          });
        });
        break;
      case kOpsets: ReadOpsets(&function->opset_imports); break;
      case kAnnotations: ReadAnnotations(function->annotations); break;
      case kGraph:
        function->body = ReadGraph();
        if (function->body) graphs_.push_back(function->body.get());
        break;
    }
  });
  if ((seen >> kName & 1) == 0) json_.Fail("a function needs a name");
  return function;
}

void Reader::ReadAnnotations(AnnotationsPtr& annotations) {
  enum { kDoc, kMetadata, kExtra };
  static constexpr std::string_view kKeys[] = {"doc", "metadata", "extra"};
  Annotations& a = annotations.GetOrMake();
  json_.Members(kKeys, [&](int key) {
    switch (key) {
      case kDoc: a.doc_string = Text(); break;
      case kMetadata:
        json_.Array([&](size_t) {
          auto& entry = a.metadata.emplace_back();
          Tuple(2, [&](size_t i) {
            if (i == 0) {
              entry.first = json_.String();
            } else {
              entry.second = Text();
            }
          });
        });
        break;
      case kExtra:
        json_.Object([&](std::string_view name) {
          if (!a.extra.emplace(name, Text()).second) json_.Fail("this key occurs twice");
        });
        break;
    }
  });
}

// --- Graphs ---------------------------------------------------------------------------------

std::shared_ptr<Graph> Reader::ReadGraph() {
  enum { kName, kAnnotations, kInputs, kOutputs, kConstants, kNodes };
  static constexpr std::string_view kKeys[] = {"name",    "annotations", "inputs",
                                               "outputs", "constants",   "nodes"};
  auto graph = std::make_shared<Graph>();
  if (++depth_ > kMaxDepth) {
    json_.Fail(StrCat("graphs are nested more than ", kMaxDepth, " deep"));
  }
  json_.Members(kKeys, [&](int key) {
    switch (key) {
      case kName: graph->set_name(std::string(json_.String())); break;
      case kAnnotations: ReadAnnotations(graph->annotations()); break;
      case kInputs: json_.Array([&](size_t) { ReadInput(*graph); }); break;
      case kOutputs:
        json_.Array([&](size_t) {
          PendingOutput& output = pending_outputs_.emplace_back();
          output.graph = graph.get();
          Tuple(2, [&](size_t i) {
            if (i == 0) {
              output.name = json_.String();
            } else {
              output.type = ReadType();
            }
          });
        });
        break;
      case kConstants: json_.Array([&](size_t) { ReadConstant(*graph); }); break;
      case kNodes: json_.Array([&](size_t) { ReadNode(*graph); }); break;
    }
  });
  --depth_;
  return graph;
}

bool Reader::IsName(std::string_view name) {
  if (json_.ok() && name.empty()) json_.Fail("a value needs a name");
  return json_.ok();
}

void Reader::FailTwice(std::string_view name) {
  json_.Fail(StrCat("value '", name, "' is defined twice"));
}

// Whether a value may get this name; else notes the error.
bool Reader::IsFree(const Graph& graph, std::string_view name) {
  if (IsName(name) && graph.Find(name)) FailTwice(name);
  return json_.ok();
}

// As IsFree asks, with one look into the table of names.
Value* Reader::AddOutput(Graph& graph, Node* node, std::string_view name, Type type) {
  if (!IsName(name)) return nullptr;
  Value* value = graph.AddNodeOutput(node, name, std::move(type));
  if (value->shares_name()) FailTwice(name);
  return value;
}

void Reader::ReadInput(Graph& graph) {
  enum { kName, kType, kDefault, kAnnotations };
  static constexpr std::string_view kKeys[] = {"name", "type", "default", "annotations"};
  std::string_view name;
  Type type;
  std::optional<Tensor> tensor;
  AnnotationsPtr annotations;
  json_.Members(kKeys, [&](int key) {
    switch (key) {
      case kName: name = json_.String(); break;
      case kType: type = ReadType(); break;
      case kDefault: tensor = ReadTensor(); break;
      case kAnnotations: ReadAnnotations(annotations); break;
    }
  });
  if (!IsFree(graph, name)) return;
  Value* value = graph.AddInput(name, std::move(type));
  if (tensor) graph.SetDefault(value, *std::move(tensor));
  value->annotations().CopyFrom(annotations);
}

void Reader::ReadConstant(Graph& graph) {
  enum { kName = TensorFields::kCount, kValueType, kAnnotations, kCount };
  static constexpr auto kKeys = [] {
    std::array<std::string_view, kCount> keys;
    std::copy(std::begin(kTensorKeys), std::end(kTensorKeys), keys.begin());
    keys[kName] = "name";
    keys[kValueType] = "value_type";
    keys[kAnnotations] = "annotations";
    return keys;
  }();
  std::string_view name;
  std::optional<Type> value_type;
  TensorFields fields;
  AnnotationsPtr annotations;
  fields.seen = json_.Members(kKeys, [&](int key) {
    switch (key) {
      case kName: name = json_.String(); break;
      case kValueType: value_type = ReadType(); break;
      case kAnnotations: ReadAnnotations(annotations); break;
      default: ReadTensorField(key, fields);
    }
  });
  if (!IsFree(graph, name)) return;
  Tensor tensor = MakeTensor(fields, name);
  if (!json_.ok()) return;
  Value* value = graph.AddConstant(name, std::move(tensor));
  if (value_type) value->set_type(*std::move(value_type));
  value->annotations().CopyFrom(annotations);
}

void Reader::ReadNode(Graph& graph) {
  enum { kOp, kDialect, kName, kIn, kOut, kAttrs, kAnnotations };
  static constexpr std::string_view kKeys[] = {"op",  "dialect", "name",       "in",
                                               "out", "attrs",   "annotations"};
  Node* node = graph.AppendNode(kIrDialect, "", {});
  std::string_view op, dialect;
  const uint32_t seen = json_.Members(kKeys, [&](int key) {
    switch (key) {
      case kOp: op = json_.String(); break;
      case kDialect: dialect = json_.String(); break;
      case kName: node->set_name(std::string(json_.String())); break;
      case kIn:
        json_.Array([&](size_t i) {
          const std::string_view name = json_.String();
          // Only this graph's own values are certain now: an outer one may yet be hidden.
          Value* value = name.empty() ? nullptr : graph.Find(name);
          node->AddInput(value);
          if (!value && !name.empty()) pending_inputs_.push_back({node, i, name});
        });
        break;
      case kOut: json_.Array([&](size_t) { ReadOutput(graph, node); }); break;
      case kAttrs:
        json_.Object([&](std::string_view name) {
          Attribute value = ReadAttribute();
          if (!json_.ok()) return;
          const Symbol symbol(name);
          if (node->attrs().Has(symbol)) return json_.Fail("this attribute occurs twice");
          if (node->attrs().size() >= kMaxAttributes) return json_.Fail("too many attributes");
          node->SetAttr(symbol, std::move(value));
        });
        break;
      case kAnnotations: ReadAnnotations(node->annotations()); break;
    }
  });
  if (op.empty()) json_.Fail((seen & 1) == 0 ? "a node needs an op" : "an op cannot be \"\"");
  node->set_op(dialect, op);
}

void Reader::ReadOutput(Graph& graph, Node* node) {
  if (json_.Peek() == Kind::kString) {
    const std::string_view name = json_.String();
    if (name.empty()) return graph.AddMissingOutput(node);
    AddOutput(graph, node, name, Type());
    return;
  }
  std::string_view name;
  Type type;
  AnnotationsPtr annotations;
  size_t count = 0;
  json_.Array([&](size_t i) {
    count = i + 1;
    switch (i) {
      case 0: name = json_.String(); break;
      case 1: type = ReadType(); break;
      case 2: ReadAnnotations(annotations); break;
      default: json_.Fail("expected name, type and annotations");
    }
  });
  if (json_.ok() && count < 2) json_.Fail("expected a name and a type");
  Value* value = AddOutput(graph, node, name, std::move(type));
  if (value) value->annotations().CopyFrom(annotations);
}

// --- Attributes -----------------------------------------------------------------------------

Attribute Reader::ReadAttribute() {
  switch (json_.Peek()) {
    case Kind::kString: return Attribute(std::string(json_.String()));
    case Kind::kArray: return ReadListAttribute();
    case Kind::kObject: return ReadTaggedAttribute();
    default: break;
  }
  const JsonReader::Mark start = json_.Here();
  const JsonReader::NumberText number = json_.Number();
  if (number.is_float) return Attribute(FloatOf<float>(number));
  if (!json_.ok()) return Attribute();
  json_.GoTo(start);
  return Attribute(json_.Int());
}

// The items say what it is a list of; among floats, whole numbers may be written as integers.
Attribute Reader::ReadListAttribute() {
  std::vector<JsonReader::NumberText> numbers;
  Attribute::Strings strings;
  bool is_float = false;
  const JsonReader::Mark start = json_.Here();
  json_.Array([&](size_t i) {
    if (json_.Peek() == Kind::kNumber && strings.empty()) {
      numbers.push_back(json_.Number());
      is_float = is_float || numbers.back().is_float;
    } else if (strings.size() == i || json_.Peek() == Kind::kBad) {
      strings.push_back(Text());
    } else {
      json_.Fail("numbers and strings in one list");
    }
  });
  if (!json_.ok()) return Attribute();
  if (!strings.empty()) return Attribute(std::move(strings));
  if (numbers.empty()) {
    json_.Fail("an empty list needs a kind, as in {\"ints\": []}");
    return Attribute();
  }
  if (is_float) {
    Attribute::Floats floats;
    floats.reserve(numbers.size());
    for (const auto& number : numbers) floats.push_back(FloatOf<float>(number));
    return Attribute(std::move(floats));
  }
  Attribute::Ints ints;
  ints.reserve(numbers.size());
  json_.GoTo(start);
  json_.Array([&](size_t) { ints.push_back(json_.Int()); });
  return Attribute(std::move(ints));
}

std::optional<AttrKind> KindOf(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(AttrKind::kRef); ++i) {
    if (Name(static_cast<AttrKind>(i)) == name) return static_cast<AttrKind>(i);
  }
  return std::nullopt;
}

Attribute Reader::ReadTaggedAttribute() {
  Attribute result;
  size_t members = 0;
  std::optional<AttrKind> ref_kind;
  bool is_ref = false;
  const auto list = [&]<typename T>(std::vector<T> values, auto&& item) {
    json_.Array([&](size_t) { values.push_back(item()); });
    result = Attribute(std::move(values));
  };
  json_.Object([&](std::string_view tag) {
    ++members;
    if (tag == "bytes") {
      result = Attribute(Bytes());
      return;
    }
    if (tag == "kind") {
      ref_kind = KindOf(json_.String());
      if (!ref_kind) json_.Fail("unknown kind of attribute");
      return;
    }
    const std::optional<AttrKind> kind = KindOf(tag);
    if (!kind) return json_.Fail(StrCat("unknown kind of attribute \"", tag, "\""));
    switch (*kind) {
      case AttrKind::kInt: result = Attribute(json_.Int()); break;
      case AttrKind::kFloat: result = Attribute(Float<float>()); break;
      case AttrKind::kDouble: result = Attribute(Float<double>()); break;
      case AttrKind::kString: result = Attribute(Text()); break;
      case AttrKind::kTensor: result = Attribute(ReadTensor()); break;
      case AttrKind::kGraph: result = Attribute(ReadGraph()); break;
      case AttrKind::kType: result = Attribute(ReadType()); break;
      case AttrKind::kInts: list(Attribute::Ints(), [&] { return json_.Int(); }); break;
      case AttrKind::kFloats: list(Attribute::Floats(), [&] { return Float<float>(); }); break;
      case AttrKind::kStrings: list(Attribute::Strings(), [&] { return Text(); }); break;
      case AttrKind::kTensors: list(std::vector<Tensor>(), [&] { return ReadTensor(); }); break;
      case AttrKind::kGraphs:
        list(std::vector<Attribute::GraphPtr>(), [&] { return ReadGraph(); });
        break;
      case AttrKind::kTypes: list(std::vector<Type>(), [&] { return ReadType(); }); break;
      case AttrKind::kRef:
        is_ref = true;
        result = Attribute(AttrRef{std::string(json_.String()), AttrKind::kInt});
        break;
    }
  });
  if (!json_.ok()) return Attribute();
  if (is_ref != ref_kind.has_value() || members != (is_ref ? 2u : 1u)) {
    json_.Fail("expected one kind of attribute, or \"ref\" and \"kind\"");
  } else if (is_ref) {
    std::get<AttrRef>(result.variant()).kind = *ref_kind;
  }
  return result;
}

// --- Tensors --------------------------------------------------------------------------------

void Reader::ReadTensorField(int key, TensorFields& fields) {
  switch (key) {
    case TensorFields::kType: fields.type = ReadType(); break;
    case TensorFields::kValues:
      fields.values = json_.Here();
      json_.Skip();
      break;
    case TensorFields::kKey: fields.key = json_.String(); break;
    case TensorFields::kFile: fields.file = json_.String(); break;
    case TensorFields::kOffset: fields.offset = json_.Unsigned(); break;
    case TensorFields::kSize: fields.size = json_.Unsigned(); break;
    case TensorFields::kSparseValues: fields.sparse_values = ReadTensor(); break;
    case TensorFields::kSparseIndices: fields.sparse_indices = ReadTensor(); break;
  }
}

Tensor Reader::ReadTensor() {
  // Sparse tensors hold tensors.
  if (++depth_ > kMaxDepth) json_.Fail("tensors are nested too deep");
  TensorFields fields;
  fields.seen = json_.Members(kTensorKeys, [&](int key) { ReadTensorField(key, fields); });
  --depth_;
  return MakeTensor(fields, "");
}

Tensor Reader::MakeTensor(TensorFields& fields, std::string_view implied_key) {
  if (!json_.ok()) return Tensor();
  const auto has = [&](int key) { return (fields.seen >> key & 1) != 0; };
  const bool sparse = fields.type.kind() == Type::kSparseTensor;
  std::optional<std::vector<int64_t>> dims;
  if ((sparse || fields.type.is_tensor()) && fields.type.shape()) {
    dims = fields.type.shape()->Static();
  }
  if (!dims || !CheckedProduct(*dims) || fields.type.dtype() == DType::kUndefined) {
    json_.Fail("a tensor needs a type with all its sizes, as in \"float32[2,3]\"");
    return Tensor();
  }
  // Exactly one way to its elements, and nothing that belongs to another.
  const bool in_file = has(TensorFields::kFile);
  const bool parts = has(TensorFields::kSparseValues) && has(TensorFields::kSparseIndices);
  const int ways = has(TensorFields::kValues) + has(TensorFields::kKey) + in_file + parts;
  if (ways > 1 || (ways == 0 && implied_key.empty()) || parts != sparse ||
      in_file != (has(TensorFields::kOffset) && has(TensorFields::kSize)) ||
      has(TensorFields::kOffset) != has(TensorFields::kSize) ||
      has(TensorFields::kSparseValues) != has(TensorFields::kSparseIndices)) {
    json_.Fail(
        "expected one of \"values\", \"key\", \"file\" with \"offset\" and \"size\", "
        "or \"sparse_values\" and \"sparse_indices\"");
    return Tensor();
  }
  if (sparse) {
    if (fields.sparse_values.is_sparse() || fields.sparse_indices.is_sparse() ||
        fields.sparse_values.dtype() != fields.type.dtype()) {
      json_.Fail("the parts of a sparse tensor do not fit its type");
      return Tensor();
    }
    return Tensor::Sparse(*std::move(dims), std::move(fields.sparse_values),
                          std::move(fields.sparse_indices));
  }
  if (fields.values) return ReadValues(fields, *dims);
  if (in_file) return FromRange(fields, *dims);
  return FromWeights(has(TensorFields::kKey) ? fields.key : implied_key, fields.type, *dims);
}

Tensor Reader::ReadValues(const TensorFields& fields, const std::vector<int64_t>& dims) {
  const JsonReader::Mark end = json_.Here();
  const DType dtype = fields.type.dtype();
  const size_t want = static_cast<size_t>(*CheckedProduct(dims));
  json_.GoTo(*fields.values);
  // The elements are counted before a tensor is made for them: the type may lie.
  const auto complete = [&](size_t count) {
    if (json_.ok() && count != want) {
      json_.Fail(StrCat(fields.type.ToString(), " has ", want, " elements, got ", count));
    }
    return json_.ok();
  };
  Tensor tensor;
  if (dtype == DType::kString) {
    std::vector<std::string> values;
    json_.Array([&](size_t) { values.push_back(Text()); });
    if (complete(values.size())) tensor = Tensor::Strings(dims, std::move(values));
  } else {
    const bool known = WithInlineType(dtype, [&](auto zero) {
      using T = decltype(zero);
      std::vector<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>> values;
      json_.Array([&](size_t) { values.push_back(Element<T>()); });
      if (!complete(values.size())) return;
      tensor = Tensor::Zeros(dtype, dims);
      const absl::Span<std::byte> out = tensor.mutable_bytes();
      if (!out.empty()) std::memcpy(out.data(), values.data(), out.size());
    });
    if (!known) {
      size_t count = 0;
      json_.Array([&](size_t) {
        ++count;
        json_.Fail(StrCat("elements of ", Name(dtype), " cannot be written here"));
      });
      if (complete(count)) tensor = Tensor::Zeros(dtype, dims);
    }
  }
  json_.GoTo(end);
  return tensor;
}

Tensor Reader::FromWeights(std::string_view key, const Type& type,
                           const std::vector<int64_t>& dims) {
  const auto it = weights_.find(key);
  if (it == weights_.end()) {
    json_.Fail(StrCat("the weight files have no tensor '", key, "'"));
    return Tensor();
  }
  const Tensor& tensor = *it->second;
  if (tensor.dtype() == type.dtype() && tensor.dims() == dims) return tensor;
  // Another program may have dropped the note that says what these bytes are.
  const std::optional<Tensor::FileRange> range = tensor.file_range();
  if (tensor.dtype() == DType::kUInt8 && tensor.rank() == 1 && range &&
      ByteSize(type.dtype(), *CheckedProduct(dims)) == tensor.dim(0)) {
    return Unwrap(Tensor::FromFile(type.dtype(), dims, range->file, range->offset, range->size));
  }
  json_.Fail(StrCat("tensor '", key, "' of the weight files is ", tensor.type().ToString(),
                    ", expected ", type.ToString()));
  return Tensor();
}

Tensor Reader::FromRange(const TensorFields& fields, const std::vector<int64_t>& dims) {
  BlobPtr& file = files_[fields.file];
  if (!file) {
    file = Unwrap(source_.OpenBeside(fields.file));
    if (!json_.ok()) return Tensor();
  }
  return Unwrap(TensorOf(fields.type.dtype(), dims, file, fields.offset, fields.size));
}

// --- The end --------------------------------------------------------------------------------

absl::Status Reader::ResolveNames() {
  constexpr size_t kShown = 10;
  std::string missing;
  size_t count = 0;
  const auto miss = [&](const auto&... what) {
    if (++count <= kShown) StrAppend(&missing, count == 1 ? "" : "; ", what...);
  };
  for (const PendingInput& input : pending_inputs_) {
    Value* value = input.node->graph()->FindInScope(input.name);
    if (value) {
      input.node->SetInput(input.index, value);
    } else {
      miss(input.node->op().str(), " '", input.node->name(), "': input '", input.name,
           "' is not defined");
    }
  }
  for (const PendingOutput& output : pending_outputs_) {
    Value* value = output.graph->FindInScope(output.name);
    if (!value) {
      miss("graph '", output.graph->name(), "': output '", output.name, "' is not defined");
    } else if (value->type() != output.type) {
      miss("graph '", output.graph->name(), "': output '", output.name, "' is declared ",
           output.type.ToString(), ", but it is ", value->type().ToString());
    } else {
      output.graph->AddOutput(value);
    }
  }
  if (count == 0) return absl::OkStatus();
  if (count > kShown) StrAppend(&missing, "; and ", count - kShown, " more");
  return Invalid(missing);
}

// Names are unique and resolved by now, so that only a cycle can still be wrong.
absl::Status Reader::SortGraphs() {
  for (Graph* graph : graphs_) X2IR_RETURN_IF_ERROR(graph->Sort());
  return absl::OkStatus();
}

}  // namespace
}  // namespace ir

absl::StatusOr<Model> ReadIr(const Source& source) {
  X2IR_ASSIGN_OR_RETURN(BlobPtr file, source.Open());
  absl::StatusOr<Model> model = ir::Reader(file->view(), source).Read();
  if (!model.ok()) return Annotate(model.status(), source.name());
  return model;
}

bool LooksLikeIr(absl::Span<const std::byte> head) {
  // {, then somewhere "format": "x2ir", whatever the spacing.
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  const auto skip_space = [&](size_t at) { return text.find_first_not_of(" \t\r\n", at); };
  const size_t start = skip_space(0);
  if (start == std::string_view::npos || text[start] != '{') return false;
  constexpr std::string_view kKey = "\"format\"", kValue = "\"x2ir\"";
  for (size_t at = text.find(kKey); at != std::string_view::npos; at = text.find(kKey, at + 1)) {
    const size_t colon = skip_space(at + kKey.size());
    if (colon == std::string_view::npos || text[colon] != ':') continue;
    const size_t value = skip_space(colon + 1);
    if (value != std::string_view::npos && text.substr(value).starts_with(kValue)) return true;
  }
  return false;
}

}  // namespace x2ir
