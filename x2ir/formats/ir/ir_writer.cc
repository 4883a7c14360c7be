// Writes IR files: streams the JSON, collects the tensors that it names, then writes those.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/io/file_names.h"
#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/ir/ir.h"
#include "x2ir/formats/ir/ir_internal.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/constant_order.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace ir {

PathParts SplitPath(const std::string& path) {
  const size_t slash = path.rfind('/');
  PathParts parts;
  if (slash != std::string::npos) parts.folder = path.substr(0, slash + 1);
  parts.stem = path.substr(parts.folder.size());
  const size_t dot = parts.stem.rfind('.');
  if (dot != std::string::npos && dot != 0) parts.stem.resize(dot);
  return parts;
}

std::string WeightsPath(const std::string& json_path) {
  const PathParts parts = SplitPath(json_path);
  return StrCat(parts.folder, parts.stem, kExtension);
}

namespace {

constexpr size_t kFlushAt = size_t{64} << 10;
constexpr size_t kHeadSize = 4096;  // of a file, to see what it is

class Writer {
 public:
  Writer(const Model& model, const IrWriteOptions& options, AtomicFile& json,
         const std::string& folder, const std::string& weights_path)
      : model_(model),
        options_(options),
        json_(json),
        folder_(CanonicalPath(folder.empty() ? "." : folder)),
        weights_path_(CanonicalPath(weights_path)) {}

  absl::Status Write();
  const std::vector<NamedTensor>& tensors() const { return tensors_; }

 private:
  // --- Text ---
  void Put(std::string_view text) { out_.append(text); }
  void PutName(std::string_view name) { AppendJsonString(&out_, name); }
  void PutText(std::string_view text);
  void PutType(const Type& type);
  void PutInt(int64_t value) { StrAppend(&out_, value); }
  template <typename T>
  void PutFloat(T value);
  template <typename T>
  void PutElement(T value);
  template <typename List, typename F>
  void PutList(const List& list, F&& item);  // on one line
  template <typename List, typename F>
  void PutLines(const List& list, F&& item);  // one item a line
  void NewLine() { out_.append("\n").append(2 * indent_, ' '); }
  // "key": after a comma, if it is not the first of its object.
  void Key(std::string_view key) {
    if (out_.back() != '{') Put(", ");
    AppendJsonString(&out_, key);
    Put(": ");
  }
  void KeyLine(std::string_view key) {
    if (out_.back() != '{') Put(",");
    NewLine();
    AppendJsonString(&out_, key);
    Put(": ");
  }
  void Flush();
  void Fail(absl::Status status) { status_.Update(std::move(status)); }

  // --- Parts of the model ---
  void PutSource();
  void PutOpsets(const std::vector<OpsetImport>& opsets);
  void PutFunction(const Function& function);
  void PutGraph(const Graph& graph);
  void CheckVisible(const Value& value, const Graph& from);
  void PutInput(const Value& value);
  void PutConstant(const Value& value);
  void PutNode(const Node& node);
  void PutOutputs(const Node& node);
  void PutAttribute(const Attribute& attr, std::string_view key);
  void PutAnnotations(const AnnotationsPtr& annotations);
  void PutAnnotationsBody(const Annotations& annotations);
  // Members of a tensor's object. `key` is what it is called in the weight file; the key is
  // written unless it is `implied`.
  void PutTensor(const Tensor& tensor, std::string_view key, bool implied);
  void PutTensorObject(const Tensor& tensor, std::string_view key);
  bool PutInline(const Tensor& tensor);
  bool PutReference(const Tensor& tensor);
  std::string UniqueKey(std::string_view base);

  const Model& model_;
  const IrWriteOptions& options_;
  AtomicFile& json_;
  const std::string folder_;  // both with links resolved
  const std::string weights_path_;
  std::string out_;
  Type type_;  // the last that was written, and how
  std::string type_text_;
  size_t indent_ = 0;
  int depth_ = 0;  // of graphs
  absl::Status status_;
  std::vector<NamedTensor> tensors_;
  StringMap<uint32_t> keys_;  // taken ones, with the last suffix that was tried
  // Of an outermost graph, and with it of those in it, noted when it is begun.
  absl::flat_hash_map<const Graph*, std::vector<const Value*>> constants_;
  // Path to name a mapped file by; empty: its bytes must be copied.
  absl::flat_hash_map<const MappedFile*, std::string> references_;
};

// --- Text -----------------------------------------------------------------------------------

void Writer::Flush() {
  if (out_.size() < kFlushAt) return;
  // The last byte stays: Key looks at it.
  const char last = out_.back();
  out_.pop_back();
  Fail(json_.Append(out_));
  out_.assign(1, last);
}

// Neighbors are of one type often.
void Writer::PutType(const Type& type) {
  if (type_text_.empty() || type != type_) {
    type_ = type;
    type_text_ = JsonString(type.ToString());
  }
  Put(type_text_);
}

// Strings that are not names: text if they are UTF-8, else bytes.
void Writer::PutText(std::string_view text) {
  if (IsValidUtf8(text)) return AppendJsonString(&out_, text);
  Put("{\"bytes\": \"");
  Put(absl::Base64Escape(ForAbsl(text)));
  Put("\"}");
}

template <typename T>
void Writer::PutFloat(T value) {
  using Bits = typename FloatBits<T>::Bits;
  if (std::isfinite(value)) {
    if constexpr (sizeof(T) == 4) return AppendJsonFloat(&out_, value);
    if constexpr (sizeof(T) == 8) return AppendJsonDouble(&out_, value);
  }
  const Bits bits = std::bit_cast<Bits>(value);
  if (std::isinf(value)) return Put(value < 0 ? "\"-inf\"" : "\"inf\"");
  if (bits == FloatBits<T>::kNan) return Put("\"nan\"");
  StrAppend(&out_, "\"0x", absl::Hex(bits, sizeof(T) == 4 ? absl::kZeroPad8 : absl::kZeroPad16),
            "\"");
}

template <typename T>
void Writer::PutElement(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    Put(value ? "true" : "false");
  } else if constexpr (std::is_floating_point_v<T>) {
    PutFloat(value);
  } else {
    StrAppend(&out_, value);
  }
}

template <typename List, typename F>
void Writer::PutList(const List& list, F&& item) {
  Put("[");
  bool first = true;
  for (const auto& element : list) {
    if (!first) Put(", ");
    first = false;
    item(element);
  }
  Put("]");
}

template <typename List, typename F>
void Writer::PutLines(const List& list, F&& item) {
  Put("[");
  ++indent_;
  bool first = true;
  for (const auto& element : list) {
    if (!status_.ok()) return;
    if (!first) Put(",");
    first = false;
    NewLine();
    item(element);
    Flush();
  }
  --indent_;
  if (!first) NewLine();
  Put("]");
}

// --- The model ------------------------------------------------------------------------------

absl::Status Writer::Write() {
  Put("{");
  NewLine();
  StrAppend(&out_, "\"format\": \"", kFormat, "\", \"version\": ", kVersion);
  KeyLine("source");
  PutSource();
  KeyLine("weights");
  StrAppend(&out_, "[\"", std::string_view(&kStem, 1), kExtension, "\"]");
  if (const Annotations* a = model_.annotations.get(); a && !a->empty()) {
    KeyLine("annotations");
    PutAnnotationsBody(*a);
  }
  KeyLine("graph");
  PutGraph(*model_.graph);
  if (!model_.functions.empty()) {
    KeyLine("functions");
    PutLines(model_.functions, [&](const auto& function) { PutFunction(*function); });
  }
  Put("\n}\n");
  X2IR_RETURN_IF_ERROR(status_);
  return json_.Append(out_);
}

void Writer::PutSource() {
  Put("{");
  const auto text = [&](std::string_view key, const std::string& value) {
    if (value.empty()) return;
    Key(key);
    PutText(value);
  };
  const auto number = [&](std::string_view key, int64_t value) {
    if (value == 0) return;
    Key(key);
    PutInt(value);
  };
  text("dialect", model_.source_dialect);
  number("ir_version", model_.ir_version);
  if (!model_.opset_imports.empty()) {
    Key("opset_imports");
    PutOpsets(model_.opset_imports);
  }
  text("producer_name", model_.producer_name);
  text("producer_version", model_.producer_version);
  text("domain", model_.domain);
  number("model_version", model_.model_version);
  Put("}");
}

void Writer::PutOpsets(const std::vector<OpsetImport>& opsets) {
  PutList(opsets, [&](const OpsetImport& opset) {
    Put("[");
    PutName(opset.domain);
    Put(", ");
    PutInt(opset.version);
    Put("]");
  });
}

void Writer::PutFunction(const Function& function) {
  Put("{");
  ++indent_;
  KeyLine("domain");
  PutName(function.domain);
  Key("name");
  PutName(function.name);
  if (!function.overload.empty()) {
    Key("overload");
    PutName(function.overload);
  }
  if (!function.attributes.empty()) {
    KeyLine("attributes");
    PutList(function.attributes, [&](const std::string& name) { PutName(name); });
  }
  if (!function.attribute_defaults.empty()) {
    KeyLine("defaults");
    PutLines(function.attribute_defaults, [&](const auto& entry) {
      Put("[");
      PutName(entry.first);
      Put(", ");
      PutAttribute(entry.second, StrCat(function.name, ":", entry.first));
      Put("]");
    });
  }
  if (!function.opset_imports.empty()) {
    KeyLine("opset_imports");
    PutOpsets(function.opset_imports);
  }
  if (const Annotations* a = function.annotations.get(); a && !a->empty()) {
    KeyLine("annotations");
    PutAnnotationsBody(*a);
  }
  if (function.body) {
    KeyLine("graph");
    PutGraph(*function.body);
  }
  --indent_;
  NewLine();
  Put("}");
}

void Writer::PutAnnotations(const AnnotationsPtr& annotations) {
  const Annotations* a = annotations.get();
  if (!a || a->empty()) return;
  Key("annotations");
  PutAnnotationsBody(*a);
}

void Writer::PutAnnotationsBody(const Annotations& annotations) {
  Put("{");
  if (!annotations.doc_string.empty()) {
    Key("doc");
    PutText(annotations.doc_string);
  }
  if (!annotations.metadata.empty()) {
    Key("metadata");
    PutList(annotations.metadata, [&](const auto& entry) {
      Put("[");
      PutName(entry.first);
      Put(", ");
      PutText(entry.second);
      Put("]");
    });
  }
  if (!annotations.extra.empty()) {
    Key("extra");
    Put("{");
    for (const auto& [key, value] : annotations.extra) {
      Key(key);
      PutText(value);
    }
    Put("}");
  }
  Put("}");
}

// --- Graphs ---------------------------------------------------------------------------------

void Writer::PutGraph(const Graph& graph) {
  if (++depth_ > kMaxDepth) {
    return Fail(CannotExpress("graphs are nested more than ", kMaxDepth, " deep"));
  }
  if (!constants_.contains(&graph)) constants_.merge(ConstantsByUse(graph));
  Put("{");
  ++indent_;
  KeyLine("name");
  PutName(graph.name());
  if (const Annotations* a = graph.annotations().get(); a && !a->empty()) {
    KeyLine("annotations");
    PutAnnotationsBody(*a);
  }
  KeyLine("inputs");
  PutLines(graph.inputs(), [&](const Value* value) { PutInput(*value); });
  KeyLine("outputs");
  PutLines(graph.outputs(), [&](const Value* value) {
    if (!value) return Fail(Invalid("graph '", graph.name(), "': an output is missing"));
    CheckVisible(*value, graph);
    Put("[");
    PutName(value->name());
    Put(", ");
    PutType(value->type());
    Put("]");
  });
  KeyLine("constants");
  PutLines(constants_[&graph], [&](const Value* value) { PutConstant(*value); });
  KeyLine("nodes");
  Put("[");
  ++indent_;
  for (const Node* node = graph.first(); node && status_.ok(); node = node->next()) {
    if (node != graph.first()) Put(",");
    NewLine();
    PutNode(*node);
    Flush();
  }
  --indent_;
  if (graph.first()) NewLine();
  Put("]");
  --indent_;
  NewLine();
  Put("}");
  --depth_;
}

// Names say which value is meant, so a value of a nested graph must not hide an outer one
// that is used there.
void Writer::CheckVisible(const Value& value, const Graph& from) {
  if (value.graph() != &from && from.FindInScope(value.name()) != &value) {
    Fail(Invalid("graph '", from.name(), "' uses the outer value '", value.name(),
                 "', but another value hides it under that name"));
  }
}

void Writer::PutInput(const Value& value) {
  if (value.name().empty()) return Fail(Internal("an input without a name"));
  Put("{");
  Key("name");
  PutName(value.name());
  Key("type");
  PutType(value.type());
  if (value.constant()) {
    Key("default");
    PutTensorObject(*value.constant(), value.name());
  }
  PutAnnotations(value.annotations());
  Put("}");
}

void Writer::PutConstant(const Value& value) {
  if (value.name().empty()) return Fail(Internal("a constant without a name"));
  Put("{");
  Key("name");
  PutName(value.name());
  PutTensor(*value.constant(), value.name(), true);
  if (value.type() != value.constant()->type()) {
    Key("value_type");
    PutType(value.type());
  }
  PutAnnotations(value.annotations());
  Put("}");
}

void Writer::PutNode(const Node& node) {
  Put("{");
  Key("op");
  PutName(node.op());
  if (!node.is_ir()) {
    Key("dialect");
    PutName(node.dialect());
  }
  if (!node.name().empty()) {
    Key("name");
    PutName(node.name());
  }
  Key("in");
  Put("[");
  for (size_t i = 0; i < node.num_inputs(); ++i) {
    if (i != 0) Put(", ");
    const Value* value = node.input(i);
    if (value && value->name().empty()) {
      return Fail(Internal(node.op().str(), " '", node.name(), "': operand ", i, " has no name"));
    }
    if (value) CheckVisible(*value, *node.graph());
    PutName(value ? std::string_view(value->name()) : std::string_view());
  }
  Put("]");
  Key("out");
  PutOutputs(node);
  if (!node.attrs().empty()) {
    // The values of tensors are called after what the node computes.
    const Value* first = node.output(0);
    const std::string_view owner = first ? first->name() : node.name();
    Key("attrs");
    Put("{");
    for (const auto& [name, attr] : node.attrs()) {
      Key(name);
      PutAttribute(attr, StrCat(owner, ":", name.view()));
    }
    Put("}");
  }
  PutAnnotations(node.annotations());
  Put("}");
}

// "" is an output left out, "y" one of unknown type, else [name, type, annotations].
void Writer::PutOutputs(const Node& node) {
  PutList(node.outputs(), [&](const Value* value) {
    if (!value) return PutName("");
    if (value->name().empty()) {
      return Fail(Internal(node.op().str(), " '", node.name(), "': an output has no name"));
    }
    const Annotations* a = value->annotations().get();
    const bool annotated = a && !a->empty();
    if (!value->type().is_known() && !annotated) return PutName(value->name());
    Put("[");
    PutName(value->name());
    Put(", ");
    PutType(value->type());
    if (annotated) {
      Put(", ");
      PutAnnotationsBody(*a);
    }
    Put("]");
  });
}

// --- Attributes -----------------------------------------------------------------------------

// Each kind can be told from its form: 1, 0.5, "s", [1], [0.5], ["s"]; others name the kind.
void Writer::PutAttribute(const Attribute& attr, std::string_view key) {
  const auto tagged = [&](auto&& body) {
    StrAppend(&out_, "{\"", Name(attr.kind()), "\": ");
    body();
    Put("}");
  };
  const auto graph = [&](const Attribute::GraphPtr& g) {
    if (!g) return Fail(Invalid("attribute '", key, "': a graph is missing"));
    PutGraph(*g);
  };
  const auto type = [&](const Type& t) { PutType(t); };
  // Lists that must name their kind: empty ones, and floats that JSON has no number for.
  const auto list = [&](const auto& values, bool plain, auto&& item) {
    if (plain && !values.empty()) return PutList(values, item);
    tagged([&] { PutList(values, item); });
  };
  switch (attr.kind()) {
    case AttrKind::kInt: return PutInt(*attr.get<int64_t>());
    case AttrKind::kFloat: {
      const float value = *attr.get<float>();
      if (std::isfinite(value)) return PutFloat(value);
      return tagged([&] { PutFloat(value); });
    }
    case AttrKind::kDouble: return tagged([&] { PutFloat(*attr.get<double>()); });
    case AttrKind::kString: return PutText(*attr.get<std::string>());
    case AttrKind::kTensor: return tagged([&] { PutTensorObject(*attr.get<Tensor>(), key); });
    case AttrKind::kGraph: return tagged([&] { graph(*attr.get<Attribute::GraphPtr>()); });
    case AttrKind::kType: return tagged([&] { type(*attr.get<Type>()); });
    case AttrKind::kInts:
      return list(*attr.get<Attribute::Ints>(), true, [&](int64_t v) { PutInt(v); });
    case AttrKind::kFloats: {
      const auto& values = *attr.get<Attribute::Floats>();
      const bool finite =
          std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
      return list(values, finite, [&](float v) { PutFloat(v); });
    }
    case AttrKind::kStrings:
      return list(*attr.get<Attribute::Strings>(), true, [&](const std::string& v) { PutText(v); });
    case AttrKind::kTensors:
      return list(*attr.get<std::vector<Tensor>>(), false,
                  [&](const Tensor& t) { PutTensorObject(t, key); });
    case AttrKind::kGraphs:
      return list(*attr.get<std::vector<Attribute::GraphPtr>>(), false, graph);
    case AttrKind::kTypes: return list(*attr.get<std::vector<Type>>(), false, type);
    case AttrKind::kRef: {
      const AttrRef& ref = *attr.get<AttrRef>();
      return tagged([&] {
        PutName(ref.name);
        Key("kind");
        PutName(Name(ref.kind));
      });
    }
  }
}

// --- Tensors --------------------------------------------------------------------------------

void Writer::PutTensorObject(const Tensor& tensor, std::string_view key) {
  Put("{");
  PutTensor(tensor, key, false);
  Put("}");
}

void Writer::PutTensor(const Tensor& tensor, std::string_view key, bool implied) {
  if (tensor.dtype() == DType::kUndefined) {
    return Fail(Invalid("tensor '", key, "' has no element type"));
  }
  Key("type");
  PutType(tensor.type());
  if (tensor.is_sparse()) {
    const SparseParts& parts = tensor.sparse();
    if (parts.values.is_sparse() || parts.indices.is_sparse()) {
      return Fail(Invalid("sparse tensor '", key, "' is made of sparse tensors"));
    }
    Key("sparse_values");
    PutTensorObject(parts.values, StrCat(key, ":values"));
    Key("sparse_indices");
    return PutTensorObject(parts.indices, StrCat(key, ":indices"));
  }
  if (const auto range = tensor.file_range()) json_.DependOn(range->file);
  if (PutInline(tensor) || PutReference(tensor)) return;
  std::string unique = UniqueKey(key);
  if (!implied || unique != key) {
    Key("key");
    PutName(unique);
  }
  tensors_.push_back({std::move(unique), tensor});
}

bool Writer::PutInline(const Tensor& tensor) {
  if (tensor.is_string()) {
    Key("values");
    PutList(tensor.strings(), [&](const std::string& value) { PutText(value); });
    return true;
  }
  if (tensor.num_elements() == 0) {
    Key("values");
    Put("[]");
    return true;
  }
  if (tensor.num_elements() > kMaxInline) return false;
  if (tensor.dtype() == DType::kBool) {
    // A byte that is neither 0 nor 1 is kept as it is, elsewhere.
    for (const std::byte b : tensor.bytes()) {
      if (b > std::byte{1}) return false;
    }
  }
  return WithInlineType(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<int64_t> places(static_cast<size_t>(tensor.num_elements()));
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
    Key("values");
    PutList(places, [&](int64_t i) {
      T value;
      std::memcpy(&value, tensor.bytes().data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
      PutElement(value);
    });
  });
}

// Names the byte range in the file that the tensor is mapped from, if there is one that will
// be found again.
bool Writer::PutReference(const Tensor& tensor) {
  if (!options_.reference_weights) return false;
  const std::optional<Tensor::FileRange> range = tensor.file_range();
  if (!range) return false;
  const auto [it, is_new] = references_.try_emplace(range->file.get());
  std::string& name = it->second;
  if (is_new) {
    const std::string real = CanonicalPathOf(*range->file);
    if (real != weights_path_) {
      name = RelativeTo(folder_, real);
      if (name.empty()) name = real;
    }
  }
  if (name.empty()) return false;
  Key("file");
  PutName(name);
  Key("offset");
  StrAppend(&out_, range->offset);
  Key("size");
  StrAppend(&out_, range->size);
  return true;
}

// `base`, or `base` followed by "#2", "#3", ... A name that the weight file cannot hold is
// replaced: the JSON gives the true one.
std::string Writer::UniqueKey(std::string_view base) {
  if (!IsValidUtf8(base) || base == "__metadata__") base = "tensor";
  auto [it, is_new] = keys_.try_emplace(std::string(base), 1);
  if (is_new) return std::string(base);
  for (uint32_t number = it->second + 1;; ++number) {
    std::string key = StrCat(base, "#", number);
    if (keys_.contains(key)) continue;
    keys_[std::string(base)] = number;
    keys_.emplace(key, 1);
    return key;
  }
}

}  // namespace
// Whether a weight file is one that a writer of IR made: its metadata says so. Files of older
// versions do not have this metadata: they are beside an IR file, begin their data at a multiple of
// 64 bytes, and have no metadata of other programs. A file that is no longer a safetensors file
// counts as one if the IR file that names it still exists.
bool WeWrote(const std::string& weights_path, const std::string& json_path) {
  const auto json = MappedFile::Open(json_path);
  const bool named =
      json.ok() && LooksLikeIr({(*json)->data(), std::min((*json)->size(), kHeadSize)});
  const absl::StatusOr<Safetensors> weights = ReadSafetensors(weights_path);
  if (!weights.ok()) return named;
  for (const auto& [key, value] : weights->metadata) {
    if (key == kMark) return value == kOfWeights;
  }
  if (weights->tensors.empty()) return true;
  if (!named || !weights->metadata.empty()) return false;
  const auto file = MappedFile::Open(weights_path);
  uint64_t header = 0;
  if (!file.ok() || (*file)->size() < sizeof(header)) return false;
  std::memcpy(&header, (*file)->data(), sizeof(header));
  return (header + sizeof(header)) % 64 == 0;
}

}  // namespace ir

absl::Status WriteIr(const Model& model, const Sink& sink, const IrWriteOptions& options) {
  const std::string& path = sink.name();
  const std::string folder = ir::SplitPath(path).folder, weights_path = ir::WeightsPath(path);
  if (weights_path == path) {
    return Invalid("cannot write '", path, "': the name is that of its weight file");
  }
  X2IR_RETURN_IF_ERROR(model.graph->CheckNames());
  X2IR_ASSIGN_OR_RETURN(AtomicFile json, sink.Create(path));
  if (sink.is_path() && !options.force) {
    X2IR_RETURN_IF_ERROR(
        CheckSideFile(weights_path, [&] { return ir::WeWrote(weights_path, path); }));
  }
  X2IR_ASSIGN_OR_RETURN(AtomicFile weights, sink.Create(weights_path));
  ir::Writer writer(model, options, json, folder, weights_path);
  X2IR_RETURN_IF_ERROR(writer.Write());
  X2IR_RETURN_IF_ERROR(AppendSafetensors(weights, writer.tensors(),
                                         {{std::string(ir::kMark), std::string(ir::kOfWeights)}}));
  AtomicFile* const files[] = {&weights, &json};
  return AtomicFile::CommitAll(files);
}

}  // namespace x2ir
