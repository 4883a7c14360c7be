// Writes a graph of dialect "tflite" as a FlatBuffer (flat/flat_file_internal.h). Beyond 2 GB,
// which is as far as an offset of FlatBuffers may lead, buffers say offset and size in the file
// instead.
#include <flatbuffers/flexbuffers.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "x2ir/formats/flat/flat_file_internal.h"
#include "x2ir/formats/io/sink.h"
#include "x2ir/formats/made_names.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/reader_internal.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/formats/tflite/tflite.h"
#include "x2ir/formats/tflite/versions.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace tflite {
namespace {

using flat::FlatFile;
using flat::FlatRef;
using flat::FlatTable;

constexpr uint32_t kWeightAlignment = 64, kSmallAlignment = 16;
constexpr size_t kSmall = 1024;                                      // bytes
constexpr uint64_t kMaxInVectors = (uint64_t{1} << 31) - (1 << 20);  // of the whole file

uint32_t AlignmentOf(size_t size) { return size < kSmall ? kSmallAlignment : kWeightAlignment; }

constexpr flatbuffers::voffset_t SlotOf(const Field& field) {
  return static_cast<flatbuffers::voffset_t>(4 + 2 * field.slot);
}

// Constants as buffers, equal ones once.
class Buffers {
 public:
  // The number of the buffer; 0 means none.
  uint32_t Add(const Tensor& tensor) {
    if (tensor.nbytes() == 0) return 0;
    const absl::Span<const std::byte> bytes = tensor.bytes();
    std::string key(reinterpret_cast<const char*>(bytes.data()),
                    std::min<size_t>(16, bytes.size()));
    key += std::to_string(bytes.size());
    for (const uint32_t number : alike_[key]) {
      const absl::Span<const std::byte> other = all_[number - 1].bytes();
      if (other.data() == bytes.data() ||
          std::memcmp(other.data(), bytes.data(), bytes.size()) == 0) {
        return number;
      }
    }
    all_.push_back(tensor);
    const auto number = static_cast<uint32_t>(all_.size());
    alike_[key].push_back(number);
    return number;
  }
  uint32_t AddBytes(std::string_view bytes) {
    Tensor tensor = Tensor::Zeros(DType::kUInt8, {static_cast<int64_t>(bytes.size())});
    if (!bytes.empty()) std::memcpy(tensor.mutable_bytes().data(), bytes.data(), bytes.size());
    return Add(tensor);
  }
  const std::vector<Tensor>& all() const { return all_; }

 private:
  std::vector<Tensor> all_;
  absl::flat_hash_map<std::string, std::vector<uint32_t>> alike_;
};

// Whether a constant's name is one that was made for it, such as "conv_const_2": it says nothing.
bool HasNoName(const Value& v) { return v.constant() && !MadeConstantName(v.name()).empty(); }

// Count, offsets of each and of the end, bytes.
absl::StatusOr<std::string> PackStrings(const std::vector<std::string>& strings) {
  std::vector<int32_t> head = {static_cast<int32_t>(strings.size())};
  uint64_t at = 4 * (strings.size() + 2);
  for (const std::string& s : strings) {
    head.push_back(static_cast<int32_t>(at));
    at += s.size();
    if (at > INT32_MAX) return CannotExpress("strings of more than 2 GB");
  }
  head.push_back(static_cast<int32_t>(at));
  std::string bytes(reinterpret_cast<const char*>(head.data()), 4 * head.size());
  for (const std::string& s : strings) bytes += s;
  return bytes;
}

class Writer {
 public:
  explicit Writer(const Model& model)
      : model_(model), says_ranks_(!Annotation(model.annotations, kNoRanks)) {}

  absl::Status Write(const Sink& sink) {
    FindStatedSizes(*model_.graph);
    X2IR_RETURN_IF_ERROR(AddSubgraph(*model_.graph, "main").status());
    // Graphs that nodes run come after it.
    for (size_t i = 0; i < subgraphs_.size(); ++i) {
      X2IR_RETURN_IF_ERROR(Annotate(WriteSubgraph(i), subgraphs_[i].graph->name()));
    }
    AddMetadata();
    uint64_t total = file_.size();
    for (const Tensor& tensor : buffers_.all()) total += tensor.nbytes() + kWeightAlignment + 32;
    const FlatRef model = Finish(/*at_end=*/total > kMaxInVectors);
    X2IR_ASSIGN_OR_RETURN(AtomicFile file, sink.Create(sink.name()));
    X2IR_RETURN_IF_ERROR(file_.Write(model, fb::ModelIdentifier(), file));
    return file.Commit();
  }

 private:
  struct Subgraph {
    const Graph* graph;
    std::string name;
    absl::flat_hash_map<const Value*, int32_t> numbers;
    std::vector<FlatRef> tensors;
    std::vector<FlatRef> operators;
  };

  absl::StatusOr<int32_t> AddSubgraph(const Graph& graph, std::string_view or_name) {
    subgraphs_.push_back(
        {&graph, graph.name().empty() ? std::string(or_name) : graph.name(), {}, {}, {}});
    return static_cast<int32_t>(subgraphs_.size()) - 1;
  }

  absl::Status WriteSubgraph(size_t at) {
    const Graph& graph = *subgraphs_[at].graph;
    std::vector<int32_t> inputs, outputs;
    for (const Value* v : graph.inputs()) {
      X2IR_ASSIGN_OR_RETURN(inputs.emplace_back(), NumberOf(at, v));
    }
    for (const Node* node : graph.nodes()) {
      X2IR_RETURN_IF_ERROR(Annotate(WriteNode(at, *node), node->op().view()));
    }
    for (const Value* v : graph.outputs()) {
      X2IR_ASSIGN_OR_RETURN(outputs.emplace_back(), NumberOf(at, v));
    }
    if (at == 0 && !Annotation(model_.annotations, kNoSignature))
      WriteSignature(graph, inputs, outputs);
    Subgraph& own = subgraphs_[at];
    FlatTable table;
    table.Add(fb::SubGraph::VT_TENSORS, file_.Vector(own.tensors));
    table.Add(fb::SubGraph::VT_INPUTS, file_.Vector(inputs));
    table.Add(fb::SubGraph::VT_OUTPUTS, file_.Vector(outputs));
    table.Add(fb::SubGraph::VT_OPERATORS, file_.Vector(own.operators));
    table.Add(fb::SubGraph::VT_NAME, file_.String(own.name));
    written_.push_back(file_.Table(std::move(table)));
    return absl::OkStatus();
  }

  absl::StatusOr<int32_t> NumberOf(size_t at, const Value* v) {
    if (!v) return -1;
    if (v->graph() != subgraphs_[at].graph) {
      return CannotExpress("value '", v->name(), "' of an outer graph is used inside");
    }
    const auto found = subgraphs_[at].numbers.find(v);
    if (found != subgraphs_[at].numbers.end()) return found->second;
    absl::StatusOr<FlatRef> tensor = WriteTensor(*v);
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("value '", v->name(), "'"));
    const auto number = static_cast<int32_t>(subgraphs_[at].tensors.size());
    subgraphs_[at].tensors.push_back(*tensor);
    subgraphs_[at].numbers.emplace(v, number);
    return number;
  }

  // A size that varies is 1 until the caller resizes it, or the size that the source file states.
  void FindStatedSizes(const Graph& graph) {
    for (const Value* input : graph.inputs()) {
      const auto note = Annotation(input->annotations(), kStatedSizes);
      const Shape* shape = input->shape();
      if (!note || !shape) continue;
      std::istringstream sizes(*note);
      int64_t size = 0;
      for (int64_t i = 0; i < shape->rank() && sizes >> size; ++i) {
        const std::vector<std::string> names = (*shape)[i].SymbolNames();
        if (size > 0 && names.size() == 1 && (*shape)[i] == Dim::Symbol(names[0])) {
          stated_.emplace(names[0], size);
        }
      }
    }
  }
  int32_t StatedSize(const Dim& dim) const {
    const Dim size = dim.Substitute([&](std::string_view name) -> std::optional<Dim> {
      const auto found = stated_.find(std::string(name));
      return Dim(found == stated_.end() ? 1 : found->second);
    });
    const bool fits = size.is_static() && size.value() <= INT32_MAX;
    return fits && (dim.is_static() || size.value() > 0) ? static_cast<int32_t>(size.value()) : 1;
  }

  absl::StatusOr<FlatRef> WriteTensor(const Value& v) {
    if (!v.type().is_tensor()) return CannotExpress("it is not a tensor");
    const auto type = TensorTypeOf(v.dtype());
    if (!type) return CannotExpress("TFLite has no tensors of ", Name(v.dtype()));
    uint32_t buffer = 0;
    const bool state = Annotation(v.annotations(), kState).has_value();
    if (const Tensor* constant = v.constant(); constant && !state) {
      if (constant->is_sparse()) {
        X2IR_ASSIGN_OR_RETURN(const Tensor dense, constant->ToDense());
        buffer = buffers_.Add(dense);
      } else if (constant->is_string()) {
        X2IR_ASSIGN_OR_RETURN(const std::string bytes, PackStrings(constant->strings()));
        buffer = buffers_.AddBytes(bytes);
      } else {
        buffer = buffers_.Add(*constant);
      }
    }
    std::vector<int32_t> dims, signature;
    const Shape* shape = v.shape();
    bool varies = false;
    for (int64_t i = 0; shape && i < shape->rank(); ++i) {
      const Dim& dim = (*shape)[i];
      if (dim.is_static() && dim.value() > INT32_MAX) {
        return CannotExpress("a size of ", dim.value(), " does not fit: sizes are of 31 bits");
      }
      varies |= !dim.is_static();
      dims.push_back(StatedSize(dim));
      signature.push_back(dim.is_static() ? dims.back() : -1);
    }
    FlatTable table;
    // Who resizes a tensor in the file changes no other one.
    table.Add(fb::Tensor::VT_SHAPE, file_.Vector(dims, /*own=*/varies));
    table.Add(fb::Tensor::VT_TYPE, static_cast<int8_t>(*type));
    // Buffers are numbered from 1, and so are they in the file: 0 is the empty one.
    table.Add(fb::Tensor::VT_BUFFER, buffer);
    if (!HasNoName(v)) table.Add(fb::Tensor::VT_NAME, file_.String(v.name()));
    table.Add(fb::Tensor::VT_IS_VARIABLE, state);
    X2IR_ASSIGN_OR_RETURN(const FlatRef quantization, WriteQuantization(v));
    table.Add(fb::Tensor::VT_QUANTIZATION, quantization);
    if (varies) table.Add(fb::Tensor::VT_SHAPE_SIGNATURE, file_.Vector(signature));
    table.Add(fb::Tensor::VT_HAS_RANK, says_ranks_ && !v.constant() && shape && shape->rank() == 0);
    return file_.Table(std::move(table));
  }

  absl::StatusOr<FlatRef> WriteQuantization(const Value& v) {
    X2IR_ASSIGN_OR_RETURN(const auto q, QuantizationOf(v));
    if (!q) return FlatRef();
    if (q->block_size != 0) return CannotExpress("scales of blocks");
    return StepsTable(*q);
  }
  FlatRef StepsTable(const Quantization& q) {
    FlatTable table;
    table.Add(fb::QuantizationParameters::VT_SCALE, file_.Vector(q.scales));
    table.Add(fb::QuantizationParameters::VT_ZERO_POINT, file_.Vector(q.zero_points));
    table.Add(fb::QuantizationParameters::VT_QUANTIZED_DIMENSION, static_cast<int32_t>(q.axis));
    return file_.Table(std::move(table));
  }

  absl::Status WriteNode(size_t at, const Node& node) {
    if (node.dialect() != Symbol(kDialect)) {
      return CannotExpress("a node of ", node.dialect().empty() ? "IR" : node.dialect().view());
    }
    std::vector<int32_t> inputs, outputs;
    for (const Value* v : node.inputs()) {
      X2IR_ASSIGN_OR_RETURN(inputs.emplace_back(), NumberOf(at, v));
    }
    for (const Value* v : node.outputs()) {
      X2IR_ASSIGN_OR_RETURN(outputs.emplace_back(), NumberOf(at, v));
    }
    X2IR_ASSIGN_OR_RETURN(const uint32_t code, CodeOf(node));
    FlatTable table;
    table.Add(fb::Operator::VT_OPCODE_INDEX, code);
    table.Add(fb::Operator::VT_INPUTS, file_.Vector(inputs));
    table.Add(fb::Operator::VT_OUTPUTS, file_.Vector(outputs));
    if (IsCustom(node)) {
      X2IR_ASSIGN_OR_RETURN(const FlatRef custom, WriteCustomOptions(node));
      table.Add(fb::Operator::VT_CUSTOM_OPTIONS, custom);
    } else if (const Options* all = OptionsOf(node.op().view())) {
      AttributeMap attrs = node.attrs();
      X2IR_ASSIGN_OR_RETURN(const FlatRef intermediates, WriteIntermediates(at, &attrs));
      table.Add(fb::Operator::VT_INTERMEDIATES, intermediates);
      X2IR_ASSIGN_OR_RETURN(const FlatRef options, WriteOptions(attrs, *all));
      const auto number = static_cast<uint8_t>(all->number);
      if (all->which == 1) {
        table.Add(fb::Operator::VT_BUILTIN_OPTIONS_TYPE, number);
        table.Add(fb::Operator::VT_BUILTIN_OPTIONS, options);
      } else {
        table.Add(fb::Operator::VT_BUILTIN_OPTIONS_2_TYPE, number);
        table.Add(fb::Operator::VT_BUILTIN_OPTIONS_2, options);
      }
    }
    subgraphs_[at].operators.push_back(file_.Table(std::move(table)));
    return absl::OkStatus();
  }

  static bool IsCustom(const Node& node) { return node.op().view().starts_with("custom::"); }

  absl::StatusOr<uint32_t> CodeOf(const Node& node) {
    const std::string_view op = node.op().view();
    const int version = IsCustom(node) ? static_cast<int>(std::clamp<int64_t>(
                                             node.attrs().Int(kCustomVersion, 1), 1, INT32_MAX))
                                       : OperatorVersion(node);
    const auto [it, fresh] = codes_.try_emplace({std::string(op), version},
                                                static_cast<uint32_t>(written_codes_.size()));
    if (!fresh) return it->second;
    FlatTable code;
    if (IsCustom(node)) {
      constexpr auto kCustom = fb::BuiltinOperator::CUSTOM;
      code.Add(fb::OperatorCode::VT_DEPRECATED_BUILTIN_CODE, static_cast<int8_t>(kCustom));
      code.Add(fb::OperatorCode::VT_CUSTOM_CODE, file_.String(op.substr(std::strlen("custom::"))));
      code.Add(fb::OperatorCode::VT_VERSION, version, 1);
      code.Add(fb::OperatorCode::VT_BUILTIN_CODE, static_cast<int32_t>(kCustom));
      written_codes_.push_back(file_.Table(std::move(code)));
      return it->second;
    }
    const auto number = OperatorNumber(op);
    if (!number) return CannotExpress("TFLite has no such operator");
    // Runtimes of the first schema look at the byte; 127 says that it does not hold the number.
    constexpr int64_t kPlaceholder = 127;
    code.Add(fb::OperatorCode::VT_DEPRECATED_BUILTIN_CODE,
             static_cast<int8_t>(std::min(*number, kPlaceholder)));
    code.Add(fb::OperatorCode::VT_VERSION, version, 1);
    code.Add(fb::OperatorCode::VT_BUILTIN_CODE, static_cast<int32_t>(*number));
    written_codes_.push_back(file_.Table(std::move(code)));
    const std::string_view runtime = RuntimeOf(op, version);
    if (!runtime.empty() && (runtime_.empty() || IsOlder(runtime_, runtime))) runtime_ = runtime;
    return it->second;
  }

  // --- Options ----------------------------------------------------------------------------------

  // What a recurrent operator computes on the way: integers of 16 bits in front of each gate's
  // norm, and the 8 bits that are projected.
  absl::StatusOr<FlatRef> WriteIntermediates(size_t at, AttributeMap* attrs) {
    const auto scales = attrs->Take("intermediate_scales"),
               zeros = attrs->Take("intermediate_zero_points");
    if (!scales) return FlatRef();
    const auto* all = scales->get<Attribute::Floats>();
    const auto* zero_points = zeros ? zeros->get<Attribute::Ints>() : nullptr;
    if (!all || !zero_points || zero_points->size() != all->size()) return WrongKind();
    constexpr size_t kGates = 4;
    std::vector<int32_t> numbers;
    for (size_t i = 0; i < all->size(); ++i) {
      FlatTable table;
      table.Add(fb::Tensor::VT_SHAPE, file_.Vector(std::vector<int32_t>()));
      table.Add(fb::Tensor::VT_TYPE,
                static_cast<int8_t>(i < kGates ? fb::TensorType::INT16 : fb::TensorType::INT8));
      if ((*all)[i] != 0) {
        table.Add(fb::Tensor::VT_QUANTIZATION, StepsTable({{(*all)[i]}, {(*zero_points)[i]}}));
      }
      numbers.push_back(static_cast<int32_t>(subgraphs_[at].tensors.size()));
      subgraphs_[at].tensors.push_back(file_.Table(std::move(table)));
    }
    return file_.Vector(numbers);
  }

  absl::StatusOr<FlatRef> WriteOptions(const AttributeMap& attrs, const Options& options) {
    FlatTable table;
    size_t known = 0;
    for (const Field& field : options.fields) {
      const AttrName name = AttrNameOf(field);
      const Attribute* attr = attrs.Find(name.name);
      if (!attr) continue;
      ++known;
      const absl::Status status = WriteField(*attr, field, &table);
      X2IR_RETURN_IF_ERROR(Annotate(status, StrCat("attribute '", name.name, "'")));
    }
    if (known != attrs.size()) {
      for (const auto& [name, attr] : attrs) {
        const bool is_field = std::any_of(
            options.fields.begin(), options.fields.end(),
            [&, n = name](const Field& field) { return AttrNameOf(field).name == n.view(); });
        if (!is_field) return CannotExpress("TFLite's operator has no field '", name.view(), "'");
      }
    }
    return file_.Table(std::move(table));
  }

  // A number that its field is narrow or wide enough for; the default is left out.
  static void AddNumber(const Field& field, int64_t number, FlatTable* table) {
    const flatbuffers::voffset_t at = SlotOf(field);
    const double fallback = field.default_value;
    const auto add = [&](auto narrow) {
      using T = decltype(narrow);
      table->Add(at, static_cast<T>(number), static_cast<T>(fallback));
    };
    switch (field.kind) {
      case FieldKind::kBool: return table->Add(at, number != 0, fallback != 0);
      case FieldKind::kByte: return add(int8_t{});
      case FieldKind::kInt: return add(int32_t{});
      case FieldKind::kUInt: return add(uint32_t{});
      default: return add(int64_t{});
    }
  }

  absl::StatusOr<int64_t> SubgraphOf(const Attribute::GraphPtr& graph) {
    X2IR_ASSIGN_OR_RETURN(const int32_t number,
                          AddSubgraph(*graph, StrCat("subgraph_", int64_t(subgraphs_.size()))));
    return number;
  }

  static absl::Status WrongKind() { return Invalid("its value has the wrong kind"); }

  absl::StatusOr<std::vector<int64_t>> NumbersOf(const Attribute& attr, const Field& field) {
    if (const auto* ints = attr.get<Attribute::Ints>()) return *ints;
    std::vector<int64_t> all;
    if (const auto* graphs = attr.get<std::vector<Attribute::GraphPtr>>()) {
      for (const auto& graph : *graphs) {
        X2IR_ASSIGN_OR_RETURN(all.emplace_back(), SubgraphOf(graph));
      }
      return all;
    }
    const auto* names = attr.get<Attribute::Strings>();
    if (!names || field.enumeration < 0) return WrongKind();
    for (const std::string& name : *names) {
      const auto number = EnumNumber(field, name);
      if (!number) return Invalid("there is no ", name);
      all.push_back(*number);
    }
    return all;
  }

  absl::Status WriteField(const Attribute& attr, const Field& field, FlatTable* table) {
    const flatbuffers::voffset_t at = SlotOf(field);
    switch (field.kind) {
      case FieldKind::kFloat: {
        const auto* f = attr.get<float>();
        const auto* d = attr.get<double>();
        if (!f && !d) return WrongKind();
        table->Add(at, f ? *f : static_cast<float>(*d), static_cast<float>(field.default_value));
        return absl::OkStatus();
      }
      case FieldKind::kString:
      case FieldKind::kBytes: {
        const auto* text = attr.get<std::string>();
        if (!text) return WrongKind();
        table->Add(at, field.kind == FieldKind::kString ? file_.String(*text) : file_.Bytes(*text));
        return absl::OkStatus();
      }
      case FieldKind::kFloats: {
        const auto* floats = attr.get<Attribute::Floats>();
        if (!floats) return WrongKind();
        table->Add(at, file_.Vector(*floats));
        return absl::OkStatus();
      }
      case FieldKind::kBools:
      case FieldKind::kInts:
      case FieldKind::kLongs: {
        X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> all, NumbersOf(attr, field));
        table->Add(at, field.kind == FieldKind::kLongs  ? file_.Vector(all)
                       : field.kind == FieldKind::kInts ? VectorOf<int32_t>(all)
                                                        : VectorOf<uint8_t>(all));
        return absl::OkStatus();
      }
      default: break;
    }
    int64_t number = 0;
    if (const auto* own = attr.get<int64_t>()) {
      number = *own;
    } else if (const auto* graph = attr.get<Attribute::GraphPtr>()) {
      X2IR_ASSIGN_OR_RETURN(number, SubgraphOf(*graph));
    } else if (const auto* name = attr.get<std::string>(); name && field.enumeration >= 0) {
      const auto value = EnumNumber(field, *name);
      if (!value) return Invalid("there is no ", *name);
      number = *value;
    } else {
      return WrongKind();
    }
    AddNumber(field, number, table);
    return absl::OkStatus();
  }

  template <typename T>
  FlatRef VectorOf(const std::vector<int64_t>& numbers) {
    return file_.Vector(std::vector<T>(numbers.begin(), numbers.end()));
  }

  // A map of FlexBuffers, or the bytes that were read.
  absl::StatusOr<FlatRef> WriteCustomOptions(const Node& node) {
    AttributeMap attrs = node.attrs();
    attrs.Take(kCustomVersion);
    if (const Attribute* raw = attrs.Find("custom_options")) {
      const auto* bytes = raw->get<std::string>();
      if (!bytes || attrs.size() != 1) return WrongKind();
      return file_.Bytes(*bytes);
    }
    if (attrs.empty()) return FlatRef();
    flexbuffers::Builder flex;
    absl::Status status;
    flex.Map([&] {
      for (const auto& [name, attr] : attrs) {
        const std::string key(name.view());
        if (const auto* i = attr.get<int64_t>()) {
          flex.Int(key.c_str(), *i);
        } else if (const auto* f = attr.get<float>()) {
          flex.Float(key.c_str(), *f);
        } else if (const auto* d = attr.get<double>()) {
          flex.Double(key.c_str(), *d);
        } else if (const auto* s = attr.get<std::string>()) {
          flex.String(key.c_str(), *s);
        } else if (const auto* ints = attr.get<Attribute::Ints>()) {
          flex.TypedVector(key.c_str(), [&] {
            for (const int64_t n : *ints) flex.Int(n);
          });
        } else if (const auto* floats = attr.get<Attribute::Floats>()) {
          flex.TypedVector(key.c_str(), [&] {
            for (const float n : *floats) flex.Float(n);
          });
        } else {
          status = CannotExpress("the operator's field '", key, "' of that kind");
        }
      }
    });
    X2IR_RETURN_IF_ERROR(status);
    flex.Finish();
    return file_.Vector(flex.GetBuffer());
  }

  // --- The model --------------------------------------------------------------------------------

  static std::optional<std::string> Annotation(const AnnotationsPtr& from, const std::string& key) {
    const Annotations* all = from.get();
    if (!all) return std::nullopt;
    const auto found = all->extra.find(key);
    if (found == all->extra.end()) return std::nullopt;
    return found->second;
  }

  void WriteSignature(const Graph& graph, const std::vector<int32_t>& inputs,
                      const std::vector<int32_t>& outputs) {
    bool named = false;
    const auto maps = [&](absl::Span<const Value* const> values, const std::vector<int32_t>& at) {
      std::vector<FlatRef> all;
      for (size_t i = 0; i < values.size(); ++i) {
        const auto own = Annotation(values[i]->annotations(), "tflite.signature_name");
        named |= own.has_value();
        FlatTable map;
        map.Add(fb::TensorMap::VT_NAME, file_.String(own.value_or(values[i]->name())));
        map.Add(fb::TensorMap::VT_TENSOR_INDEX, static_cast<uint32_t>(at[i]));
        all.push_back(file_.Table(std::move(map)));
      }
      return file_.Vector(all);
    };
    FlatTable table;
    table.Add(fb::SignatureDef::VT_INPUTS, maps(graph.inputs(), inputs));
    table.Add(fb::SignatureDef::VT_OUTPUTS, maps(graph.outputs(), outputs));
    table.Add(fb::SignatureDef::VT_SIGNATURE_KEY,
              file_.String(named && !graph.name().empty() ? graph.name() : "serving_default"));
    signature_ = file_.Table(std::move(table));
  }

  void AddMetadata() {
    const std::string prefix = kMetadata;
    std::vector<std::pair<std::string, std::string>> all;
    if (!Annotation(model_.annotations, kNoRuntime)) {
      std::string runtime(runtime_);
      runtime.resize(16);
      all.emplace_back(kRuntime, runtime);
    }
    if (const Annotations* own = model_.annotations.get()) {
      for (const auto& [key, bytes] : own->extra) {
        if (!key.starts_with(prefix) || key == prefix + kRuntime) continue;
        all.emplace_back(key.substr(prefix.size()), bytes);
      }
    }
    if (const Annotations* own = model_.annotations.get()) {
      for (const auto& [key, text] : own->metadata) {
        const bool known = std::any_of(all.begin(), all.end(),
                                       [&key = key](const auto& e) { return e.first == key; });
        if (!known && !text.empty()) all.emplace_back(key, text);
      }
    }
    for (const auto& [key, bytes] : all) {
      FlatTable table;
      table.Add(fb::Metadata::VT_NAME, file_.String(key));
      table.Add(fb::Metadata::VT_BUFFER, buffers_.AddBytes(bytes));
      metadata_.push_back(file_.Table(std::move(table)));
    }
  }

  FlatRef Finish(bool at_end) {
    std::vector<FlatRef> buffers = {file_.Table({})};
    for (const Tensor& tensor : buffers_.all()) {
      const FlatRef data = file_.Data(tensor, AlignmentOf(tensor.nbytes()), at_end);
      FlatTable buffer;
      if (at_end) {
        buffer.AddPlaceOf(fb::Buffer::VT_OFFSET, data);
        buffer.Add(fb::Buffer::VT_SIZE, uint64_t{tensor.nbytes()});
      } else {
        buffer.Add(fb::Buffer::VT_DATA, data);
      }
      buffers.push_back(file_.Table(std::move(buffer)));
    }
    FlatTable model;
    model.Add(fb::Model::VT_VERSION, uint32_t{3});
    model.Add(fb::Model::VT_OPERATOR_CODES, file_.Vector(written_codes_));
    model.Add(fb::Model::VT_SUBGRAPHS, file_.Vector(written_));
    const Annotations* own = model_.annotations.get();
    if (own && !own->doc_string.empty()) {
      model.Add(fb::Model::VT_DESCRIPTION, file_.String(own->doc_string));
    }
    model.Add(fb::Model::VT_BUFFERS, file_.Vector(buffers));
    if (!metadata_.empty()) model.Add(fb::Model::VT_METADATA, file_.Vector(metadata_));
    if (signature_) {
      model.Add(fb::Model::VT_SIGNATURE_DEFS, file_.Vector(std::vector<FlatRef>{signature_}));
    }
    return file_.Table(std::move(model));
  }

  const Model& model_;
  const bool says_ranks_;
  FlatFile file_;
  Buffers buffers_;
  std::vector<Subgraph> subgraphs_;
  std::vector<FlatRef> written_;
  absl::flat_hash_map<std::pair<std::string, int>, uint32_t> codes_;
  std::vector<FlatRef> written_codes_, metadata_;
  FlatRef signature_;
  absl::flat_hash_map<std::string, int64_t> stated_;  // sizes of symbols
  std::string_view runtime_;                          // the newest that an operator needs
};

}  // namespace
}  // namespace tflite

absl::Status WriteTflite(const Model& model, const Sink& sink) {
  return tflite::Writer(model).Write(sink);
}

}  // namespace x2ir
