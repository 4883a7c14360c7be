// Prints a program as the JSON of TVM's save_json: each object is a node.
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/nnvm/param_list.h"
#include "x2ir/formats/relay/attr_table.h"
#include "x2ir/formats/relay/printers.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace relay {
namespace {

// What a reader of TVM's expects the file to say of its version.
constexpr std::string_view kVersion = "0.13.0";

using Fields = std::vector<std::pair<std::string_view, std::string>>;

std::string Place(size_t i) { return StrCat(i); }

class JsonPrinter {
 public:
  absl::StatusOr<JsonText> Print(const Program& program) {
    for (const RelayExpr& e : program.exprs) {
      // Each operator once, and constants by their numbers.
      places_[&e] = out_.nodes.size();
      out_.nodes.emplace_back();
    }
    for (const RelayExpr& e : program.exprs) {
      X2IR_ASSIGN_OR_RETURN(std::string node, NodeOf(e));
      out_.nodes[places_[&e]] = std::move(node);
    }
    std::vector<size_t> functions, globals;
    std::string keys;
    for (const auto& [name, function] : program.functions) {
      const size_t global = Add("GlobalVar", {{"_checked_type_", "0"},
                                              {"name_hint", Place(Text(name))},
                                              {"span", "0"},
                                              {"virtual_device_", "0"}});
      globals.push_back(global);
      functions.push_back(global);
      functions.push_back(places_[function]);
      StrAppend(&keys, keys.empty() ? "" : ", ", JsonString(name));
    }
    const size_t none = AddMap("", {});
    const size_t attrs = Add("DictAttrs", {{"__dict__", Place(none)}});
    const size_t sources = Add("SourceMap", {{"source_map", Place(none)}});
    out_.root = Add("IRModule", {{"attrs", Place(attrs)},
                                 {"functions", Place(AddMap("", functions))},
                                 {"global_infos", Place(none)},
                                 {"global_type_var_map_", Place(none)},
                                 {"global_var_map_", Place(AddMap(keys, globals))},
                                 {"source_map", Place(sources)},
                                 {"type_definitions", Place(none)}});
    return std::move(out_);
  }

  JsonPrinter() { out_.nodes.push_back("{\"type_key\": \"\"}"); }

  JsonText Metadata(const std::vector<const Tensor*>& constants) {
    std::vector<size_t> nodes;
    for (const Tensor* constant : constants) nodes.push_back(Add(ConstantNode(*constant)));
    if (!nodes.empty()) out_.root = AddMap("\"relay.Constant\"", {AddArray(nodes)});
    return std::move(out_);
  }

 private:
  size_t Add(std::string node) {
    out_.nodes.push_back(std::move(node));
    return out_.nodes.size() - 1;
  }
  static std::string NodeText(std::string_view type_key, const Fields& fields) {
    std::string text = StrCat("{\"type_key\": \"", type_key, "\", \"attrs\": {");
    for (size_t i = 0; i < fields.size(); ++i) {
      StrAppend(&text, i == 0 ? "" : ", ", "\"", fields[i].first,
                "\": ", JsonString(fields[i].second));
    }
    return text + "}}";
  }
  size_t Add(std::string_view type_key, const Fields& fields) {
    return Add(NodeText(type_key, fields));
  }
  static std::string DataText(const std::vector<size_t>& data) {
    std::string list;
    for (const size_t place : data) StrAppend(&list, list.empty() ? "" : ", ", place);
    return StrCat("\"data\": [", list, "]");
  }
  size_t AddArray(const std::vector<size_t>& data) {
    return Add(StrCat("{\"type_key\": \"Array\", ", DataText(data), "}"));
  }
  size_t AddMap(std::string_view keys, const std::vector<size_t>& data) {
    return Add(StrCat("{\"type_key\": \"Map\"", keys.empty() ? "" : ", \"keys\": [", keys,
                      keys.empty() ? "" : "]", ", ", DataText(data), "}"));
  }
  // Texts and integers are one node each, however often they are named.
  size_t Once(std::string node) {
    const auto [it, fresh] = once_.try_emplace(node, 0);
    if (fresh) it->second = Add(std::move(node));
    return it->second;
  }
  size_t Text(std::string_view text) {
    return Once(StrCat("{\"type_key\": \"runtime.String\", \"repr_str\": ", JsonString(text), "}"));
  }
  size_t Integer(std::string_view number) {
    return Once(
        NodeText("IntImm", {{"dtype", "int32"}, {"span", "0"}, {"value", std::string(number)}}));
  }
  size_t Real(std::string_view number) {
    return Once(NodeText("FloatImm",
                         {{"dtype", "float32"}, {"span", "0"}, {"value", std::string(number)}}));
  }
  size_t Span(std::string_view name) {
    if (name.empty()) return 0;
    const size_t source =
        Add(StrCat("{\"type_key\": \"SourceName\", \"repr_str\": ", JsonString(name), "}"));
    return Add("Span", {{"column", "0"},
                        {"end_column", "0"},
                        {"end_line", "0"},
                        {"line", "0"},
                        {"source_name", Place(source)}});
  }

  size_t TypeNode(const RelayType& type) {
    if (type.kind == RelayType::Kind::kTuple) {
      std::vector<size_t> fields;
      for (const RelayType& field : type.fields) fields.push_back(TypeNode(field));
      return Add("TupleType", {{"fields", Place(AddArray(fields))}, {"span", "0"}});
    }
    if (type.kind != RelayType::Kind::kTensor || !type.tensor.shape()) return 0;
    std::vector<size_t> dims;
    for (const Dim& dim : *type.tensor.shape()) {
      dims.push_back(dim.is_static()
                         ? Integer(StrCat(dim.value()))
                         : Once(NodeText("tir.Any", {{"dtype", "int32"}, {"span", "0"}})));
    }
    return Add("relay.TensorType", {{"dtype", std::string(x2ir::Name(type.tensor.dtype()))},
                                    {"shape", Place(AddArray(dims))},
                                    {"span", "0"}});
  }

  std::string ConstantNode(const Tensor& tensor) {
    out_.arrays.push_back(&tensor);
    return NodeText("relay.Constant", {{"_checked_type_", "0"},
                                       {"data", Place(out_.arrays.size() - 1)},
                                       {"span", "0"},
                                       {"virtual_device_", "0"}});
  }

  std::string Args(const RelayExpr& e, size_t from = 0) {
    std::vector<size_t> args;
    for (size_t i = from; i < e.args.size(); ++i) args.push_back(places_[e.args[i]]);
    return Place(AddArray(args));
  }
  std::string Arg(const RelayExpr& e, size_t i) { return Place(places_[e.args[i]]); }

  absl::StatusOr<std::string> NodeOf(const RelayExpr& e) {
    Fields fields = {
        {"_checked_type_", "0"}, {"span", Place(Span(e.span))}, {"virtual_device_", "0"}};
    std::string_view key;
    const auto add = [&](std::string_view type_key, Fields more) {
      key = type_key;
      fields.insert(fields.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
    };
    switch (e.kind) {
      case ExprKind::kVar: {
        const size_t id = Add("relay.Id", {{"name_hint", Place(Text(e.name))}});
        add("relay.Var", {{"type_annotation", Place(TypeNode(e.type))}, {"vid", Place(id)}});
        break;
      }
      case ExprKind::kConstant: return ConstantNode(*e.constant);
      case ExprKind::kOp:
        return StrCat("{\"type_key\": \"Op\", \"repr_str\": ", JsonString(e.name), "}");
      case ExprKind::kCall: {
        X2IR_ASSIGN_OR_RETURN(const size_t attrs, Attrs(e));
        add("relay.Call", {{"args", Args(e, 1)},
                           {"attrs", Place(attrs)},
                           {"op", Arg(e, 0)},
                           {"type_args", Place(AddArray({}))}});
        break;
      }
      case ExprKind::kTuple: add("relay.Tuple", {{"fields", Args(e)}}); break;
      case ExprKind::kGetItem:
        add("relay.TupleGetItem", {{"index", StrCat(e.index)}, {"tuple_value", Arg(e, 0)}});
        break;
      case ExprKind::kFunction: {
        const size_t attrs = Add("DictAttrs", {{"__dict__", Place(AddMap("", {}))}});
        add("relay.Function", {{"attrs", Place(attrs)},
                               {"body", Place(places_[e.body])},
                               {"params", Args(e)},
                               {"ret_type", Place(TypeNode(e.result))},
                               {"type_params", Place(AddArray({}))}});
        break;
      }
      case ExprKind::kLet:
        add("relay.Let", {{"body", Arg(e, 2)}, {"value", Arg(e, 1)}, {"var", Arg(e, 0)}});
        break;
      case ExprKind::kIf:
        add("relay.If",
            {{"cond", Arg(e, 0)}, {"false_branch", Arg(e, 2)}, {"true_branch", Arg(e, 1)}});
        break;
      default: return CannotExpress("an expression that no graph has");
    }
    return NodeText(key, fields);
  }

  // The node of a record with all its fields.
  absl::StatusOr<size_t> Attrs(const RelayExpr& call) {
    const std::string& op = call.args[0]->name;
    const AttrRecord* record = call.args[0]->kind == ExprKind::kOp ? AttrRecordOf(op) : nullptr;
    if (!record) {
      if (call.attrs.empty()) return 0;
      return CannotExpress("attributes of ", op, ", whose form in the JSON is not known");
    }
    Fields fields;
    for (const auto& [name, text] : call.attrs) {
      if (!record->Find(name)) {
        return CannotExpress("attribute '", name, "' of ", op,
                             ", whose form in the JSON is not known");
      }
    }
    for (const AttrField& field : record->fields) {
      std::string text(field.fallback);
      for (const auto& [name, given] : call.attrs) {
        if (name == field.name) text = given;
      }
      X2IR_ASSIGN_OR_RETURN(std::string value, FieldText(field, text));
      fields.emplace_back(field.name, std::move(value));
    }
    return Add(record->type_key, fields);
  }

  absl::StatusOr<std::string> FieldText(const AttrField& field, const std::string& text) {
    if (field.kind == 'b') return std::string(text == "True" || text == "1" ? "1" : "0");
    if (!field.is_object()) return text;
    if (field.kind == 'S') return Place(Text(text));
    if (text == "None") return std::string("0");
    size_t at = 0;
    return Place(Element(field, text, &at));
  }

  // A number, or a list of such, which begins at `at`.
  size_t Element(const AttrField& field, std::string_view text, size_t* at) {
    const auto skip = [&] {
      while (*at < text.size() && (text[*at] == ' ' || text[*at] == ',')) ++*at;
    };
    skip();
    if (*at < text.size() && (text[*at] == '[' || text[*at] == '(')) {
      ++*at;
      std::vector<size_t> parts;
      for (skip(); *at < text.size() && text[*at] != ']' && text[*at] != ')'; skip()) {
        parts.push_back(Element(field, text, at));
      }
      if (*at < text.size()) ++*at;
      return AddArray(parts);
    }
    const size_t end = std::min(text.find_first_of(" ,])", *at), text.size());
    const std::string_view number = text.substr(*at, end - *at);
    *at = end;
    return field.kind == 'A' || field.kind == 'E' ? Real(number) : Integer(number);
  }

  JsonText out_;
  absl::flat_hash_map<const RelayExpr*, size_t> places_;
  absl::flat_hash_map<std::string, size_t> once_;
};

// Base64 of an array, piece by piece.
absl::Status AppendBase64(const Tensor& tensor, AtomicFile& out) {
  X2IR_ASSIGN_OR_RETURN(std::string rest, nnvm::ParamArrayHead(tensor));
  const absl::Span<const std::byte> bytes = tensor.bytes();
  constexpr size_t kPiece = size_t{3} << 18;
  std::string text;
  const auto append = [&](std::string_view piece) {
    absl::Base64Escape({piece.data(), piece.size()}, &text);
    return out.Append(text);
  };
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    const size_t count = std::min(kPiece, bytes.size() - at);
    rest.append(reinterpret_cast<const char*>(bytes.data() + at), count);
    const size_t whole = rest.size() / 3 * 3;
    X2IR_RETURN_IF_ERROR(append(std::string_view(rest).substr(0, whole)));
    rest.erase(0, whole);
  }
  return append(rest);
}

}  // namespace

absl::Status AppendJson(const JsonText& json, AtomicFile& out) {
  X2IR_RETURN_IF_ERROR(out.Append(StrCat("{\n  \"root\": ", json.root, ",\n  \"nodes\": [\n")));
  for (size_t i = 0; i < json.nodes.size(); ++i) {
    X2IR_RETURN_IF_ERROR(
        out.Append(StrCat("    ", json.nodes[i], i + 1 < json.nodes.size() ? ",\n" : "\n")));
  }
  X2IR_RETURN_IF_ERROR(out.Append("  ],\n  \"b64ndarrays\": ["));
  for (size_t i = 0; i < json.arrays.size(); ++i) {
    X2IR_RETURN_IF_ERROR(out.Append(i == 0 ? "\n    \"" : ",\n    \""));
    X2IR_RETURN_IF_ERROR(AppendBase64(*json.arrays[i], out));
    X2IR_RETURN_IF_ERROR(out.Append("\""));
  }
  return out.Append(StrCat("\n  ],\n  \"attrs\": {\"tvm_version\": \"", kVersion, "\"}\n}\n"));
}

absl::StatusOr<JsonText> JsonOf(const Program& program) { return JsonPrinter().Print(program); }

JsonText MetadataOf(const std::vector<const Tensor*>& constants) {
  return JsonPrinter().Metadata(constants);
}

}  // namespace relay
}  // namespace x2ir
