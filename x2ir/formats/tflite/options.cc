// Options of operators as attributes: tables of the schema, maps of FlexBuffers, nodes of
// TensorFlow.
#include <flatbuffers/flexbuffers.h>

#include <utility>

#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/formats/tflite/reader_internal.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tflite {
namespace {

constexpr uint32_t kMaxAttributes = 4096;

std::string_view ViewOf(const flatbuffers::Vector<uint8_t>* bytes) {
  if (!bytes) return {};
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

// The field of a table that was verified.
class FieldReader {
 public:
  FieldReader(const flatbuffers::Table& table, const Field& field)
      : table_(table),
        field_(field),
        at_(static_cast<flatbuffers::voffset_t>(4 + 2 * field.slot)) {}

  int64_t Number() const {
    const auto fallback = static_cast<int64_t>(field_.default_value);
    switch (field_.kind) {
      case FieldKind::kBool:
        return table_.GetField<uint8_t>(at_, static_cast<uint8_t>(fallback)) != 0;
      case FieldKind::kByte: return table_.GetField<int8_t>(at_, static_cast<int8_t>(fallback));
      case FieldKind::kUInt: return table_.GetField<uint32_t>(at_, static_cast<uint32_t>(fallback));
      case FieldKind::kLong: return table_.GetField<int64_t>(at_, fallback);
      default: return table_.GetField<int32_t>(at_, static_cast<int32_t>(fallback));
    }
  }
  float Float() const {
    return table_.GetField<float>(at_, static_cast<float>(field_.default_value));
  }
  std::string Bytes() const {
    if (field_.kind == FieldKind::kBytes) return std::string(ViewOf(Vector<uint8_t>()));
    const auto* text = table_.GetPointer<const flatbuffers::String*>(at_);
    return text ? text->str() : "";
  }
  std::vector<int64_t> Ints() const {
    switch (field_.kind) {
      case FieldKind::kBools: return List<uint8_t>();
      case FieldKind::kLongs: return List<int64_t>();
      default: return List<int32_t>();
    }
  }
  std::vector<float> Floats() const { return Elements(Vector<float>()); }

 private:
  template <typename T>
  const flatbuffers::Vector<T>* Vector() const {
    return table_.GetPointer<const flatbuffers::Vector<T>*>(at_);
  }
  template <typename T>
  std::vector<int64_t> List() const {
    const std::vector<T> all = Elements(Vector<T>());
    return {all.begin(), all.end()};
  }
  const flatbuffers::Table& table_;
  const Field& field_;
  const flatbuffers::voffset_t at_;
};

Attribute EnumAttribute(const Field& field, int64_t number) {
  const std::string_view name = EnumName(field, number);
  return name.empty() ? Attribute(number) : Attribute(name);
}

absl::StatusOr<Attribute> ReadField(const FieldReader& reader, const Field& field) {
  switch (field.kind) {
    case FieldKind::kFloat: return Attribute(reader.Float());
    case FieldKind::kString:
    case FieldKind::kBytes: return Attribute(reader.Bytes());
    case FieldKind::kFloats: return Attribute(reader.Floats());
    case FieldKind::kBools:
    case FieldKind::kInts:
    case FieldKind::kLongs: {
      const std::vector<int64_t> numbers = reader.Ints();
      if (field.enumeration < 0) return Attribute(numbers);
      std::vector<std::string> names;
      for (const int64_t number : numbers) {
        names.emplace_back(EnumName(field, number));
        if (names.back().empty())
          return Invalid("the operator's field '", field.name, "' has the value ", number);
      }
      return Attribute(std::move(names));
    }
    default:
      return field.enumeration >= 0 ? EnumAttribute(field, reader.Number())
                                    : Attribute(reader.Number());
  }
}

// --- FlexBuffers --------------------------------------------------------------------------------

absl::StatusOr<Attribute> ReadFlex(flexbuffers::Reference value) {
  if (value.IsBool()) return Attribute(value.AsBool());
  if (value.IsIntOrUint()) return Attribute(value.AsInt64());
  if (value.IsFloat()) return Attribute(value.AsDouble());
  if (value.IsString()) return Attribute(value.AsString().str());
  if (value.IsKey()) return Attribute(std::string(value.AsKey()));
  if (value.IsBlob()) {
    const flexbuffers::Blob blob = value.AsBlob();
    return Attribute(std::string(reinterpret_cast<const char*>(blob.data()), blob.size()));
  }
  if (value.IsNull()) return Attribute("");
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> strings;
  const auto all = [&](const auto& vector) -> absl::StatusOr<Attribute> {
    for (size_t i = 0; i < vector.size(); ++i) {
      const flexbuffers::Reference item = vector[i];
      if (item.IsBool()) {
        ints.push_back(item.AsBool());
      } else if (item.IsIntOrUint()) {
        ints.push_back(item.AsInt64());
      } else if (item.IsFloat()) {
        floats.push_back(item.AsFloat());
      } else if (item.IsString()) {
        strings.push_back(item.AsString().str());
      } else {
        return Unimplemented("its options are lists of lists or maps");
      }
    }
    const int kinds = !ints.empty() + !floats.empty() + !strings.empty();
    if (kinds > 1) return Unimplemented("its options are lists of several types");
    if (!floats.empty()) return Attribute(floats);
    if (!strings.empty()) return Attribute(strings);
    return Attribute(ints);
  };
  if (value.IsTypedVector()) return all(value.AsTypedVector());
  if (value.IsFixedTypedVector()) return all(value.AsFixedTypedVector());
  if (value.IsVector()) return all(value.AsVector());
  return Unimplemented("its options have a type that is not known");
}

// A node of TensorFlow: its op, and its attributes as those of dialect "tf".
absl::Status ReadTensorFlowNode(const File& file, std::string_view bytes, AttributeMap* attrs) {
  const tf_format::Source source{file.blob()->view(), file.blob()};
  tf_format::NodeProto node;
  X2IR_RETURN_IF_ERROR(tf_format::ReadNodeProto(source, bytes, &node));
  attrs->Set("op", std::string(node.op));
  for (const auto& [name, value] : node.attrs) {
    if (name.starts_with('_')) continue;
    X2IR_ASSIGN_OR_RETURN(tf_format::AttrProto attr, tf_format::ReadAttr(source, value));
    if (!attr.placeholder.empty() || attr.function) {
      return Unimplemented("attribute '", name, "' is a function");
    }
    attrs->Set(name, std::move(attr.value));
    if (attrs->size() > kMaxAttributes) return Invalid("it has too many attributes");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadOptions(const File&, const fb::Operator& op, const ReadSubgraph& subgraph,
                         AttributeMap* attrs) {
  const auto read = [&](const void* table, int which, int number) -> absl::Status {
    if (number == 0) return absl::OkStatus();
    const Options* options = FindOptions(which, number);
    if (!options || !table) return Unimplemented("its options are of a newer schema");
    for (const Field& field : options->fields) {
      const FieldReader reader(*static_cast<const flatbuffers::Table*>(table), field);
      const AttrName name = AttrNameOf(field);
      if (!name.is_graph) {
        X2IR_ASSIGN_OR_RETURN(Attribute value, ReadField(reader, field));
        attrs->Set(name.name, std::move(value));
      } else if (field.kind == FieldKind::kInts) {
        std::vector<std::shared_ptr<Graph>> graphs;
        for (const int64_t index : reader.Ints()) {
          X2IR_ASSIGN_OR_RETURN(graphs.emplace_back(), subgraph(index));
        }
        attrs->Set(name.name, std::move(graphs));
      } else {
        X2IR_ASSIGN_OR_RETURN(std::shared_ptr<Graph> graph, subgraph(reader.Number()));
        attrs->Set(name.name, std::move(graph));
      }
    }
    return absl::OkStatus();
  };
  X2IR_RETURN_IF_ERROR(read(op.builtin_options(), 1, static_cast<int>(op.builtin_options_type())));
  return read(op.builtin_options_2(), 2, static_cast<int>(op.builtin_options_2_type()));
}

absl::Status ReadCustomOptions(const File& file, const fb::Operator& op, std::string_view code,
                               std::string* name, AttributeMap* attrs) {
  std::string_view bytes = ViewOf(op.custom_options());
  if (op.large_custom_options_offset() > 1) {
    X2IR_ASSIGN_OR_RETURN(const File::Range range, file.RangeAt(op.large_custom_options_offset(),
                                                                op.large_custom_options_size()));
    bytes = range.view();
  }
  *name = StrCat("custom::", code);
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  std::vector<uint8_t> seen;
  const bool flex = bytes.size() >= 3 && flexbuffers::VerifyBuffer(data, bytes.size(), &seen);
  if (code.starts_with("Flex")) {
    // The op's name, and the node as bytes.
    const auto root = flex ? flexbuffers::GetRoot(data, bytes.size()) : flexbuffers::Reference();
    if (!flex || !root.IsVector() || root.AsVector().size() < 2) {
      return Invalid("its options do not hold a node of TensorFlow");
    }
    const flexbuffers::Reference node = root.AsVector()[1];
    std::string_view text;
    if (node.IsString()) {
      text = {node.AsString().c_str(), node.AsString().size()};
    } else if (node.IsBlob()) {
      text = {reinterpret_cast<const char*>(node.AsBlob().data()), node.AsBlob().size()};
    }
    *name = "FLEX";
    return ReadTensorFlowNode(file, text, attrs);
  }
  if (flex && flexbuffers::GetRoot(data, bytes.size()).IsMap()) {
    const flexbuffers::Map map = flexbuffers::GetRoot(data, bytes.size()).AsMap();
    if (map.size() > kMaxAttributes) return Invalid("it has too many options");
    for (size_t i = 0; i < map.size(); ++i) {
      absl::StatusOr<Attribute> value = ReadFlex(map.Values()[i]);
      const std::string key = map.Keys()[i].AsKey();
      if (!value.ok()) return Annotate(value.status(), StrCat("the operator's field '", key, "'"));
      attrs->Set(key, *std::move(value));
    }
  } else if (!bytes.empty()) {
    attrs->Set("custom_options", std::string(bytes));
  }
  return absl::OkStatus();
}

}  // namespace x2ir::tflite
