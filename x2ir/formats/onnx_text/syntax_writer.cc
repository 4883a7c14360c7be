// The wire form of a ModelProto as ONNX's own text (docs/Syntax.md of ONNX), as onnx.parser reads
// it. What that text has no place for, or what onnx.parser would drop without a word, is an error:
// doc strings and metadata of anything but the model, lists of tensors, graphs and types, sparse
// tensors, and a name that must be a word and is none.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/onnx/onnx_internal.h"
#include "x2ir/formats/onnx_text/onnx_text_internal.h"
#include "x2ir/formats/proto_text_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::onnx_text {
namespace {

using onnx_format::AttrType;

// A message's fields that the text can have. An empty string means the same as no string.
class SyntaxFields {
 public:
  static absl::StatusOr<SyntaxFields> Of(std::string_view wire, const ProtoMessage& message,
                                         absl::Span<const std::string_view> known) {
    SyntaxFields fields;
    ProtoSeen seen;
    WireReader in(wire, wire.data());
    while (in.Next()) {
      X2IR_ASSIGN_OR_RETURN(const ProtoField* field, KnownProtoField(message, in.field(), &seen));
      if (in.type() == WireType::kBytes && in.Bytes().empty() && field->rule == ProtoRule::kOne &&
          field->kind != ProtoKind::kMessage) {
        continue;
      }
      if (std::ranges::find(known, field->name) == known.end()) {
        return CannotExpress("ONNX's text syntax cannot express field '", field->name, "' of a ",
                             message.name);
      }
      fields.fields_.emplace_back(field, in.raw());
    }
    X2IR_RETURN_IF_ERROR(in.status());
    return fields;
  }

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // The message of a field, which must be there or have values.
  const ProtoMessage& MessageOf(std::string_view name) const { return *Find(name)->message; }

  // The values of a field, in order.
  absl::StatusOr<std::vector<ProtoScalar>> Scalars(std::string_view name) const {
    std::vector<ProtoScalar> values;
    for (const auto& [field, raw] : fields_) {
      if (field->name != name) continue;
      WireReader in(raw, raw.data());
      if (!in.Next()) return in.status();
      X2IR_RETURN_IF_ERROR(ForEachProtoScalar(in, *field, [&](const ProtoScalar& value) {
        values.push_back(value);
        return absl::OkStatus();
      }));
    }
    return values;
  }
  // Of strings and messages.
  std::vector<std::string_view> All(std::string_view name) const {
    std::vector<std::string_view> values;
    for (const auto& [field, raw] : fields_) {
      if (field->name != name) continue;
      WireReader in(raw, raw.data());
      if (in.Next()) values.push_back(in.Bytes());
    }
    return values;
  }
  std::string_view Text(std::string_view name) const {
    const std::vector<std::string_view> all = All(name);
    return all.empty() ? std::string_view() : all.back();
  }
  absl::StatusOr<ProtoScalar> Number(std::string_view name) const {
    X2IR_ASSIGN_OR_RETURN(const std::vector<ProtoScalar> all, Scalars(name));
    return all.empty() ? ProtoScalar() : all.back();
  }

 private:
  const ProtoField* Find(std::string_view name) const {
    const auto it =
        std::ranges::find_if(fields_, [&](const auto& field) { return field.first->name == name; });
    return it == fields_.end() ? nullptr : it->first;
  }
  std::vector<std::pair<const ProtoField*, std::string_view>> fields_;
};

// onnx.parser takes the letters that a word begins with for a number of these.
bool LooksLikeNumber(std::string_view word) {
  std::string letters;
  for (const char c : word) {
    if (IsIdStart(c) && c != '_') {
      letters.push_back(static_cast<char>(c | 0x20));
    } else {
      break;
    }
  }
  return letters == "inf" || letters == "infinity" || letters == "nan";
}

class SyntaxPrinter {
 public:
  explicit SyntaxPrinter(const ProtoPut& put) : out_(put) {}

  absl::Status Print(std::string_view wire) {
    X2IR_RETURN_IF_ERROR(PrintModel(wire));
    return out_.Flush();
  }

 private:
  template <typename... Args>
  void Put(const Args&... args) {
    StrAppend(&out_.text(), args...);
  }
  static std::string Indent(int depth) { return std::string(static_cast<size_t>(3 * depth), ' '); }

  // Calls f for each, and writes the separator between them.
  template <typename List, typename F>
  absl::Status PutList(std::string_view open, const List& list, std::string_view close,
                       const F& f) {
    Put(open);
    std::string_view separator;
    for (const auto& one : list) {
      Put(separator);
      separator = ", ";
      X2IR_RETURN_IF_ERROR(f(one));
      X2IR_RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    Put(close);
    return absl::OkStatus();
  }

  // --- Words and numbers ----------------------------------------------------------------------

  absl::Status PutQuoted(std::string_view text) {
    if (!IsValidUtf8(text)) return CannotExpress("a string is not UTF-8, which text must be");
    std::string quoted = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') quoted.push_back('\\');
      quoted.push_back(c);
    }
    Put(quoted, "\"");
    return absl::OkStatus();
  }
  absl::Status PutName(std::string_view name) {
    if (!IsIdentifier(name) || IsTypeWord(name)) return PutQuoted(name);
    Put(name);
    return absl::OkStatus();
  }
  absl::Status PutWord(std::string_view what, std::string_view word) {
    if (!IsIdentifier(word)) {
      return CannotExpress("ONNX's text syntax allows only letters, digits and '_' for ", what,
                           ", not '", word, "'");
    }
    Put(word);
    return absl::OkStatus();
  }

  template <typename T>
  void PutFloat(T value) {
    static constexpr ProtoField kNumber = {
        "", 0, sizeof(T) == sizeof(float) ? ProtoKind::kFloat : ProtoKind::kDouble};
    AppendProtoNumber(&out_.text(), kNumber, value, {"nan", "inf", "-inf"});
  }

  // --- Types ----------------------------------------------------------------------------------

  absl::Status PutElement(int64_t number) {
    const std::string_view name = ElementName(number);
    if (name.empty()) return CannotExpress("ONNX's text has no name for element type ", number);
    Put(name);
    return absl::OkStatus();
  }

  // Of a tensor: no '[' for a scalar, '[]' where the rank is not known.
  absl::Status PutTensorType(std::string_view wire, const ProtoMessage& message) {
    X2IR_ASSIGN_OR_RETURN(const SyntaxFields type,
                          SyntaxFields::Of(wire, message, {"elem_type", "shape"}));
    X2IR_ASSIGN_OR_RETURN(const ProtoScalar element, type.Number("elem_type"));
    X2IR_RETURN_IF_ERROR(PutElement(element.integer));
    if (!type.Has("shape")) {
      Put("[]");
      return absl::OkStatus();
    }
    X2IR_ASSIGN_OR_RETURN(const SyntaxFields shape,
                          SyntaxFields::Of(type.Text("shape"), type.MessageOf("shape"), {"dim"}));
    const std::vector<std::string_view> dims = shape.All("dim");
    if (dims.empty()) return absl::OkStatus();
    return PutList("[", dims, "]", [&](std::string_view one) -> absl::Status {
      X2IR_ASSIGN_OR_RETURN(const SyntaxFields dim, SyntaxFields::Of(one, shape.MessageOf("dim"),
                                                                     {"dim_value", "dim_param"}));
      if (dim.Has("dim_value")) {
        X2IR_ASSIGN_OR_RETURN(const ProtoScalar size, dim.Number("dim_value"));
        Put(size.integer);
        return absl::OkStatus();
      }
      if (dim.Has("dim_param")) {
        const std::string_view name = dim.Text("dim_param");
        if (!IsIdentifier(name)) return PutQuoted(name);
        Put(name);
        return absl::OkStatus();
      }
      Put("?");
      return absl::OkStatus();
    });
  }

  absl::Status PutType(std::string_view wire, const ProtoMessage& message, int depth) {
    if (depth > kMaxWireDepth) return CannotExpress("types are nested too deeply");
    X2IR_ASSIGN_OR_RETURN(const SyntaxFields type,
                          SyntaxFields::Of(wire, message,
                                           {"tensor_type", "sequence_type", "map_type",
                                            "optional_type", "sparse_tensor_type"}));
    const auto inner = [&](std::string_view name, std::string_view field) -> absl::Status {
      X2IR_ASSIGN_OR_RETURN(
          const SyntaxFields of,
          SyntaxFields::Of(type.Text(name), type.MessageOf(name), {"key_type", field}));
      if (name == "map_type") {
        X2IR_ASSIGN_OR_RETURN(const ProtoScalar key, of.Number("key_type"));
        X2IR_RETURN_IF_ERROR(PutElement(key.integer));
        Put(", ");
      }
      if (!of.Has(field)) return CannotExpress("a type is not complete");
      return PutType(of.Text(field), of.MessageOf(field), depth + 1);
    };
    if (type.Has("tensor_type")) {
      return PutTensorType(type.Text("tensor_type"), type.MessageOf("tensor_type"));
    }
    if (type.Has("sequence_type")) {
      Put("seq(");
      X2IR_RETURN_IF_ERROR(inner("sequence_type", "elem_type"));
    } else if (type.Has("map_type")) {
      Put("map(");
      X2IR_RETURN_IF_ERROR(inner("map_type", "value_type"));
    } else if (type.Has("optional_type")) {
      Put("optional(");
      X2IR_RETURN_IF_ERROR(inner("optional_type", "elem_type"));
    } else if (type.Has("sparse_tensor_type")) {
      Put("sparse_tensor(");
      X2IR_RETURN_IF_ERROR(
          PutTensorType(type.Text("sparse_tensor_type"), type.MessageOf("sparse_tensor_type")));
    } else {
      return CannotExpress("a type is not complete");
    }
    Put(")");
    return absl::OkStatus();
  }

  // "type name", or a name alone.
  absl::Status PutValue(std::string_view wire, const ProtoMessage& message) {
    X2IR_ASSIGN_OR_RETURN(const SyntaxFields value,
                          SyntaxFields::Of(wire, message, {"name", "type"}));
    const std::string_view name = value.Text("name");
    const auto put = [&]() -> absl::Status {
      if (value.Has("type") && !value.Text("type").empty()) {
        X2IR_RETURN_IF_ERROR(PutType(value.Text("type"), value.MessageOf("type"), 0));
        Put(" ");
      }
      return PutName(name);
    };
    return Annotate(put(), StrCat("value '", name, "'"));
  }

  // --- Tensors --------------------------------------------------------------------------------

  // "float[2] name = {1.0, 2.0}". Where it is an attribute's value, a name must be a word, and no
  // '=' follows it but before external data.
  absl::Status PutTensor(std::string_view wire, const ProtoMessage& message, bool initializer) {
    X2IR_ASSIGN_OR_RETURN(
        const SyntaxFields tensor,
        SyntaxFields::Of(
            wire, message,
            {"dims", "data_type", "name", "raw_data", "float_data", "int32_data", "int64_data",
             "string_data", "double_data", "uint64_data", "external_data", "data_location"}));
    X2IR_ASSIGN_OR_RETURN(const ProtoScalar element, tensor.Number("data_type"));
    X2IR_RETURN_IF_ERROR(PutElement(element.integer));
    X2IR_ASSIGN_OR_RETURN(const std::vector<ProtoScalar> dims, tensor.Scalars("dims"));
    if (!dims.empty()) {
      X2IR_RETURN_IF_ERROR(PutList("[", dims, "]", [&](const ProtoScalar& dim) {
        Put(dim.integer);
        return absl::OkStatus();
      }));
    }
    const std::string_view name = tensor.Text("name");
    X2IR_ASSIGN_OR_RETURN(const ProtoScalar location, tensor.Number("data_location"));
    if (initializer) {
      Put(" ");
      X2IR_RETURN_IF_ERROR(PutName(name));
    } else if (!name.empty()) {
      Put(" ");
      X2IR_RETURN_IF_ERROR(PutWord("the name of a tensor that is an attribute", name));
    }
    if (initializer || location.integer != 0) Put(" =");
    Put(" ");
    if (location.integer != 0) {
      return PutEntries(tensor.All("external_data"), tensor);
    }
    onnx_format::Source source;
    source.bytes = wire;
    source.file =
        Blob::InMemory(absl::MakeSpan(reinterpret_cast<const std::byte*>(wire.data()), wire.size()),
                       nullptr, "the model");
    onnx_format::TensorProto proto;
    X2IR_RETURN_IF_ERROR(onnx_format::ReadTensor(source, wire, &proto));
    return PutElements(proto.tensor.AlignedCopyIfNeeded());
  }

  template <typename T, typename F>
  absl::Status PutSpan(absl::Span<const std::byte> bytes, const F& f) {
    return PutList(
        "{",
        absl::Span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)),
        "}", [&](T value) {
          f(value);
          return absl::OkStatus();
        });
  }
  // Small floats are written as their bits, and what is packed as its bytes.
  absl::Status PutElements(const Tensor& tensor) {
    const auto integer = [&](auto value) { Put(int64_t{value}); };
    const absl::Span<const std::byte> bytes = tensor.bytes();
    switch (tensor.dtype()) {
      case DType::kString:
        return PutList("{", tensor.strings(), "}",
                       [&](const std::string& text) { return PutQuoted(text); });
      case DType::kFloat32:
      case DType::kComplex64: return PutSpan<float>(bytes, [&](float v) { PutFloat(v); });
      case DType::kFloat64:
      case DType::kComplex128: return PutSpan<double>(bytes, [&](double v) { PutFloat(v); });
      case DType::kInt8: return PutSpan<int8_t>(bytes, integer);
      case DType::kInt16: return PutSpan<int16_t>(bytes, integer);
      case DType::kInt32: return PutSpan<int32_t>(bytes, integer);
      case DType::kInt64: return PutSpan<int64_t>(bytes, integer);
      case DType::kUInt32: return PutSpan<uint32_t>(bytes, integer);
      case DType::kUInt64: return PutSpan<uint64_t>(bytes, [&](uint64_t v) { Put(v); });
      case DType::kUInt16:
      case DType::kFloat16:
      case DType::kBFloat16: return PutSpan<uint16_t>(bytes, integer);
      default: return PutSpan<uint8_t>(bytes, integer);
    }
  }

  absl::Status PutEntries(const std::vector<std::string_view>& entries, const SyntaxFields& of,
                          std::string_view field = "external_data") {
    return PutList("[", entries, "]", [&](std::string_view wire) -> absl::Status {
      X2IR_ASSIGN_OR_RETURN(const SyntaxFields entry,
                            SyntaxFields::Of(wire, of.MessageOf(field), {"key", "value"}));
      X2IR_RETURN_IF_ERROR(PutQuoted(entry.Text("key")));
      Put(": ");
      return PutQuoted(entry.Text("value"));
    });
  }

  // --- Attributes -----------------------------------------------------------------------------

  // `depth` is that of the node.
  absl::Status PutAttr(std::string_view wire, const ProtoMessage& message, int depth) {
    X2IR_ASSIGN_OR_RETURN(
        const SyntaxFields attr,
        SyntaxFields::Of(
            wire, message,
            {"name", "type", "ref_attr_name", "f", "i", "s", "t", "g", "tp", "floats", "ints",
             "strings", "tensors", "graphs", "type_protos", "sparse_tensor", "sparse_tensors"}));
    const std::string_view name = attr.Text("name");
    return Annotate(PutAttrOf(attr, name, depth), StrCat("attribute '", name, "'"));
  }

  absl::Status PutAttrOf(const SyntaxFields& attr, std::string_view name, int depth) {
    X2IR_RETURN_IF_ERROR(PutWord("the name of an attribute", name));
    X2IR_ASSIGN_OR_RETURN(const ProtoScalar number, attr.Number("type"));
    const AttrType type = static_cast<AttrType>(number.integer);
    if (type != AttrType::kUndefined) {
      const std::string_view kind = AttrKindWord(type);
      if (kind.empty()) return CannotExpress("ONNX's text has no attributes of its type");
      Put(": ", kind);
    } else if (!attr.Has("ref_attr_name")) {
      return CannotExpress("it has no type");
    }
    Put(" = ");
    if (attr.Has("ref_attr_name")) {
      Put("@");
      return PutName(attr.Text("ref_attr_name"));
    }
    const auto numbers = [&](std::string_view field, const auto& put) -> absl::Status {
      X2IR_ASSIGN_OR_RETURN(const std::vector<ProtoScalar> values, attr.Scalars(field));
      return PutList("[", values, "]",
                     [&](const ProtoScalar& value) -> absl::Status { return put(value); });
    };
    const auto integer = [&](const ProtoScalar& value) {
      Put(value.integer);
      return absl::OkStatus();
    };
    const auto real = [&](const ProtoScalar& value) {
      PutFloat(static_cast<float>(value.number));
      return absl::OkStatus();
    };
    const auto text = [&](const ProtoScalar& value) { return PutQuoted(value.bytes); };
    const auto one = [&](std::string_view field, const auto& put) -> absl::Status {
      X2IR_ASSIGN_OR_RETURN(const ProtoScalar value, attr.Number(field));
      return put(value);
    };
    switch (type) {
      case AttrType::kInt: return one("i", integer);
      case AttrType::kInts: return numbers("ints", integer);
      case AttrType::kFloat: return one("f", real);
      case AttrType::kFloats: return numbers("floats", real);
      case AttrType::kString: return one("s", text);
      case AttrType::kStrings: return numbers("strings", text);
      case AttrType::kTensor:
        if (!attr.Has("t")) return CannotExpress("it has no value");
        return PutTensor(attr.Text("t"), attr.MessageOf("t"), /*initializer=*/false);
      case AttrType::kType:
        if (!attr.Has("tp")) return CannotExpress("it has no value");
        return PutType(attr.Text("tp"), attr.MessageOf("tp"), 0);
      case AttrType::kGraph:
        if (!attr.Has("g")) return CannotExpress("it has no value");
        return PutGraph(attr.Text("g"), attr.MessageOf("g"), depth);
      default: return CannotExpress("onnx.parser drops lists of tensors, graphs and types");
    }
  }

  // --- Nodes and graphs -----------------------------------------------------------------------

  absl::Status PutNames(std::string_view open, const std::vector<std::string_view>& names,
                        std::string_view close) {
    return PutList(open, names, close, [&](std::string_view name) { return PutName(name); });
  }

  absl::Status PutNode(std::string_view wire, const ProtoMessage& message, int depth) {
    X2IR_ASSIGN_OR_RETURN(const SyntaxFields node,
                          SyntaxFields::Of(wire, message,
                                           {"input", "output", "name", "op_type", "domain",
                                            "overload", "attribute"}));
    const std::string_view name = node.Text("name"), op = node.Text("op_type");
    return Annotate(PutNodeOf(node, name, op, depth), StrCat(op, " '", name, "'"));
  }

  absl::Status PutNodeOf(const SyntaxFields& node, std::string_view name, std::string_view op,
                         int depth) {
    Put(Indent(depth));
    if (!name.empty()) {
      Put("[");
      X2IR_RETURN_IF_ERROR(PutName(name));
      Put("] ");
    }
    X2IR_RETURN_IF_ERROR(PutNames("", node.All("output"), " = "));
    for (std::string_view domain = node.Text("domain"); !domain.empty();) {
      const size_t dot = domain.find('.');
      X2IR_RETURN_IF_ERROR(PutWord("a part of a domain", domain.substr(0, dot)));
      Put(".");
      if (dot == domain.npos) break;
      domain.remove_prefix(dot + 1);
      if (domain.empty()) return CannotExpress("a domain ends on a dot");
    }
    X2IR_RETURN_IF_ERROR(PutWord("the name of an op", op));
    if (node.Has("overload")) {
      Put(":");
      X2IR_RETURN_IF_ERROR(PutWord("an overload", node.Text("overload")));
    }
    const std::vector<std::string_view> attrs = node.All("attribute");
    const auto put_attrs = [&] {
      return attrs.empty() ? absl::OkStatus()
                           : PutList(" <", attrs, ">", [&](std::string_view attr) {
                               return PutAttr(attr, node.MessageOf("attribute"), depth);
                             });
    };
    // Graphs are written after the operands.
    bool graphs = false;
    for (const std::string_view attr : attrs) {
      X2IR_ASSIGN_OR_RETURN(const ProtoScalar type, AttrTypeOf(attr, node.MessageOf("attribute")));
      graphs |= type.integer == static_cast<int64_t>(AttrType::kGraph);
    }
    if (!graphs) X2IR_RETURN_IF_ERROR(put_attrs());
    X2IR_RETURN_IF_ERROR(PutNames(" (", node.All("input"), ")"));
    if (graphs) X2IR_RETURN_IF_ERROR(put_attrs());
    Put("\n");
    return out_.FlushIfLarge();
  }
  static absl::StatusOr<ProtoScalar> AttrTypeOf(std::string_view wire,
                                                const ProtoMessage& message) {
    WireReader in(wire, wire.data());
    ProtoScalar type;
    const ProtoField* field = FindProtoField(message, "type");
    while (in.Next()) {
      if (in.field() == field->number) type.integer = in.Int();
    }
    X2IR_RETURN_IF_ERROR(in.status());
    return type;
  }

  absl::Status PutNodes(const SyntaxFields& of, int depth) {
    Put("{\n");
    for (const std::string_view node : of.All("node")) {
      X2IR_RETURN_IF_ERROR(PutNode(node, of.MessageOf("node"), depth + 1));
    }
    Put(Indent(depth), "}");
    return absl::OkStatus();
  }

  // `depth` 0: the model's own graph.
  absl::Status PutGraph(std::string_view wire, const ProtoMessage& message, int depth) {
    if (depth > kMaxWireDepth) return CannotExpress("graphs are nested too deeply");
    X2IR_ASSIGN_OR_RETURN(
        const SyntaxFields graph,
        SyntaxFields::Of(wire, message,
                         {"name", "input", "output", "initializer", "value_info", "node"}));
    const std::string_view name = graph.Text("name");
    if (depth == 0) {
      X2IR_RETURN_IF_ERROR(PutName(name));
    } else if (IsTypeWord(name) || LooksLikeNumber(name)) {
      return CannotExpress("ONNX's text syntax reads the graph name '", name,
                           "' as something else");
    } else {
      X2IR_RETURN_IF_ERROR(PutWord("the name of a graph in an attribute", name));
    }
    const auto values = [&](std::string_view open, std::string_view field, std::string_view close) {
      return PutList(open, graph.All(field), close, [&](std::string_view value) {
        return PutValue(value, graph.MessageOf(field));
      });
    };
    X2IR_RETURN_IF_ERROR(values(" (", "input", ")"));
    X2IR_RETURN_IF_ERROR(values(" => (", "output", ")"));
    if (graph.Has("initializer") || graph.Has("value_info")) {
      const std::string next = StrCat("\n", Indent(depth + 1));
      std::string open = StrCat(next, "<");
      for (const std::string_view tensor : graph.All("initializer")) {
        Put(open);
        X2IR_RETURN_IF_ERROR(
            PutTensor(tensor, graph.MessageOf("initializer"), /*initializer=*/true));
        open = StrCat(",", next);
      }
      for (const std::string_view value : graph.All("value_info")) {
        Put(open);
        X2IR_RETURN_IF_ERROR(PutValue(value, graph.MessageOf("value_info")));
        open = StrCat(",", next);
      }
      Put(">\n", Indent(depth));
    } else {
      Put(" ");
    }
    return PutNodes(graph, depth);
  }

  // --- The model ------------------------------------------------------------------------------

  // The head of a model or function: "key: ".
  void PutKey(std::string_view key) {
    Put(head_is_empty_ ? "<\n   " : ",\n   ", key, ": ");
    head_is_empty_ = false;
  }
  absl::Status PutTextIfAny(const SyntaxFields& of, std::string_view key) {
    if (!of.Has(key)) return absl::OkStatus();
    PutKey(key);
    return PutQuoted(of.Text(key));
  }
  absl::Status PutOpsets(const SyntaxFields& of) {
    PutKey("opset_import");
    return PutList("[", of.All("opset_import"), "]", [&](std::string_view wire) -> absl::Status {
      X2IR_ASSIGN_OR_RETURN(
          const SyntaxFields opset,
          SyntaxFields::Of(wire, of.MessageOf("opset_import"), {"domain", "version"}));
      X2IR_RETURN_IF_ERROR(PutQuoted(opset.Text("domain")));
      X2IR_ASSIGN_OR_RETURN(const ProtoScalar version, opset.Number("version"));
      Put(" : ", version.integer);
      return absl::OkStatus();
    });
  }

  absl::Status PutFunction(std::string_view wire, const ProtoMessage& message) {
    X2IR_ASSIGN_OR_RETURN(
        const SyntaxFields function,
        SyntaxFields::Of(wire, message,
                         {"name", "domain", "overload", "opset_import", "doc_string", "input",
                          "output", "attribute", "attribute_proto", "value_info", "node"}));
    return Annotate(PutFunctionOf(function), StrCat("function '", function.Text("name"), "'"));
  }

  absl::Status PutFunctionOf(const SyntaxFields& function) {
    head_is_empty_ = true;
    PutKey("domain");
    X2IR_RETURN_IF_ERROR(PutQuoted(function.Text("domain")));
    X2IR_RETURN_IF_ERROR(PutTextIfAny(function, "overload"));
    X2IR_RETURN_IF_ERROR(PutOpsets(function));
    X2IR_RETURN_IF_ERROR(PutTextIfAny(function, "doc_string"));
    Put("\n>\n");
    X2IR_RETURN_IF_ERROR(PutName(function.Text("name")));
    Put(" ");
    if (function.Has("attribute") || function.Has("attribute_proto")) {
      X2IR_RETURN_IF_ERROR(PutNames("<", function.All("attribute"), ""));
      if (function.Has("attribute") && function.Has("attribute_proto")) Put(", ");
      X2IR_RETURN_IF_ERROR(
          PutList("", function.All("attribute_proto"), ">", [&](std::string_view attr) {
            return PutAttr(attr, function.MessageOf("attribute_proto"), 1);
          }));
    }
    X2IR_RETURN_IF_ERROR(PutNames("(", function.All("input"), ")"));
    X2IR_RETURN_IF_ERROR(PutNames(" => (", function.All("output"), ")\n"));
    if (function.Has("value_info")) {
      X2IR_RETURN_IF_ERROR(
          PutList("<", function.All("value_info"), ">\n", [&](std::string_view value) {
            return PutValue(value, function.MessageOf("value_info"));
          }));
    }
    return PutNodes(function, 0);
  }

  absl::Status PrintModel(std::string_view wire) {
    X2IR_ASSIGN_OR_RETURN(const SyntaxFields model,
                          SyntaxFields::Of(wire, ModelMessage(),
                                           {"ir_version", "opset_import", "producer_name",
                                            "producer_version", "domain", "model_version",
                                            "doc_string", "metadata_props", "graph", "functions"}));
    if (!model.Has("graph")) return CannotExpress("a model without a graph");
    const auto number = [&](std::string_view key) -> absl::Status {
      if (!model.Has(key)) return absl::OkStatus();
      X2IR_ASSIGN_OR_RETURN(const ProtoScalar value, model.Number(key));
      PutKey(key);
      Put(value.integer);
      return absl::OkStatus();
    };
    X2IR_RETURN_IF_ERROR(number("ir_version"));
    X2IR_RETURN_IF_ERROR(PutOpsets(model));
    for (const std::string_view key : {"producer_name", "producer_version", "domain"}) {
      X2IR_RETURN_IF_ERROR(PutTextIfAny(model, key));
    }
    X2IR_RETURN_IF_ERROR(number("model_version"));
    X2IR_RETURN_IF_ERROR(PutTextIfAny(model, "doc_string"));
    if (model.Has("metadata_props")) {
      PutKey("metadata_props");
      X2IR_RETURN_IF_ERROR(PutEntries(model.All("metadata_props"), model, "metadata_props"));
    }
    Put("\n>\n");
    X2IR_RETURN_IF_ERROR(PutGraph(model.Text("graph"), model.MessageOf("graph"), 0));
    Put("\n");
    for (const std::string_view function : model.All("functions")) {
      X2IR_RETURN_IF_ERROR(PutFunction(function, model.MessageOf("functions")));
      Put("\n");
    }
    return absl::OkStatus();
  }

  ProtoOutput out_;
  bool head_is_empty_ = true;
};

}  // namespace

absl::Status WireToSyntax(std::string_view wire, const ProtoPut& put) {
  return SyntaxPrinter(put).Print(wire);
}

}  // namespace x2ir::onnx_text
