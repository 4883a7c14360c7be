// Graphs of TensorFlow as JSON: protobuf's mapping, with numbers as texts or not, and bytes in
// base64.
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/formats/tfjs/tfjs_internal.h"
#include "x2ir/formats/wire.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::tfjs {
namespace {

using keras::StoredWeight;

class GraphWriter {
 public:
  absl::StatusOr<std::string> Write(const Json& graph) {
    Fields(graph, tf_format::GraphMessage());
    if (!status_.ok()) return status_;
    return out_.ToString();
  }

 private:
  void Fail(std::string_view what) {
    if (status_.ok()) status_ = Invalid(what);
  }

  // The tree is no deeper than its parser allows.
  void Fields(const Json& json, const ProtoMessage& message) {
    for (const ProtoField& field : message.fields) {
      for (const auto& [name, value] : json.members()) {
        if (FindProtoJsonField(message, name) != &field || value.is_null()) continue;
        if (field.kind == ProtoKind::kMessage && field.message->name.ends_with("Entry")) {
          Map(field, value);
        } else if (value.is_array() && !IsOneOfBytes(field)) {
          for (const Json& item : value.items()) One(field, item);
        } else {
          One(field, value);
        }
      }
    }
  }

  // Its array is of bytes, not of values.
  static bool IsOneOfBytes(const ProtoField& field) {
    return field.kind == ProtoKind::kBytes && field.rule != ProtoRule::kMany;
  }

  // Base64, or a list of numbers in files of old converters.
  std::string Bytes(const Json& json) {
    std::string bytes;
    if (json.is_array()) {
      for (const Json& item : json.items()) {
        const int64_t byte = item.Int(-1);
        if (byte < 0 || byte > 255) {
          Fail(StrCat("'", item.ToString().substr(0, 40), "' is not a byte"));
          break;
        }
        bytes += static_cast<char>(byte);
      }
    } else if (!json.is_string() || !absl::Base64Unescape(json.text(), &bytes)) {
      Fail(StrCat("'", json.ToString().substr(0, 40), "' is not base64"));
    }
    return bytes;
  }

  void Map(const ProtoField& field, const Json& map) {
    for (const auto& [key, value] : map.members()) {
      out_.Begin(field.number);
      out_.Bytes(field.message->fields[0].number, key);
      One(field.message->fields[1], value);
      out_.End();
    }
  }

  int64_t Number(const Json& json) {
    if (json.is_number()) return json.Int();
    const auto number = ParseNumber<int64_t>(json.text());
    if (!number) Fail(StrCat("'", json.ToString(), "' is not an integer"));
    return number.value_or(0);
  }

  double Real(const Json& json) {
    if (json.is_number()) return json.Number();
    if (json.text() == "Infinity") return HUGE_VAL;
    if (json.text() == "-Infinity") return -HUGE_VAL;
    if (json.text() != "NaN") Fail(StrCat("'", json.ToString(), "' is not a number"));
    return std::nan("");
  }

  void One(const ProtoField& field, const Json& value) {
    switch (field.kind) {
      case ProtoKind::kString: return out_.Bytes(field.number, value.text());
      case ProtoKind::kFloat: return out_.Float(field.number, static_cast<float>(Real(value)));
      case ProtoKind::kDouble: return out_.Double(field.number, Real(value));
      case ProtoKind::kBool: return out_.Int(field.number, value.Flag(value.Int() != 0) ? 1 : 0);
      case ProtoKind::kEnum: {
        const auto number = value.is_string() ? field.values->number(value.text()) : Number(value);
        if (!number) Fail(StrCat("there is no type '", value.text(), "'"));
        return out_.Int(field.number, number.value_or(0));
      }
      case ProtoKind::kBytes: return out_.Bytes(field.number, Bytes(value));
      case ProtoKind::kMessage:
        out_.Begin(field.number);
        Fields(value, *field.message);
        out_.End();
        return;
      default: return out_.Int(field.number, Number(value));
    }
  }

  WireWriter out_;
  absl::Status status_;
};

// A model's graph as TensorFlow has it: constants with their elements or as placeholders, and the
// initializer's nodes, which fill tables, beside the others.
class WholeGraph {
 public:
  explicit WholeGraph(const std::vector<StoredWeight>& weights) {
    for (const StoredWeight& weight : weights) weights_.emplace(weight.name, &weight.tensor);
  }

  absl::StatusOr<Json> Of(const Json& model) {
    Json graph = model["modelTopology"];
    std::vector<Json> nodes;
    absl::flat_hash_map<std::string_view, std::string_view> ops;
    X2IR_ASSIGN_OR_RETURN(const auto captured, Captured(model));
    for (const Json& node : model["modelTopology"]["node"].items()) {
      const std::string& name = node["name"].text();
      ops.emplace(name, node["op"].text());
      const auto resource = captured.find(name);
      if (resource != captured.end()) {
        nodes.push_back(IdentityOf(name, resource->second));
      } else {
        X2IR_ASSIGN_OR_RETURN(Json changed, Changed(node, Elements::kElsewhere));
        nodes.push_back(std::move(changed));
      }
    }
    for (const Json& node : model["modelInitializer"]["node"].items()) {
      const auto there = ops.find(node["name"].text());
      if (there == ops.end()) {
        X2IR_ASSIGN_OR_RETURN(Json changed, Changed(node, Elements::kInside));
        nodes.push_back(std::move(changed));
      } else if (there->second != node["op"].text()) {
        return Invalid("node '", node["name"].text(), "' is ", there->second, " in the graph and ",
                       node["op"].text(), " in its initializer");
      }
    }
    graph.Set("node", Json::Array(std::move(nodes)));
    if (graph["library"]["function"].size() > 0) {
      X2IR_ASSIGN_OR_RETURN(Json library, Library(graph["library"]));
      graph.Set("library", std::move(library));
    }
    return graph;
  }

 private:
  enum class Elements { kElsewhere, kInside };

  // Inputs of the graph that are resources, and what of the initializer they are.
  static absl::StatusOr<std::map<std::string, std::string>> Captured(const Json& model) {
    std::map<int64_t, std::string> made;
    for (const auto& [name, port] : model["initializerSignature"]["outputs"].members()) {
      if (port.Has("resourceId")) made.emplace(port["resourceId"].Int(), PortTensor(name, port));
    }
    std::map<std::string, std::string> captured;
    for (const auto& [name, port] : SignatureOf(model)["inputs"].members()) {
      if (!port.Has("resourceId")) continue;
      const auto from = made.find(port["resourceId"].Int());
      if (from == made.end()) return Invalid("no node produces the resource of input '", name, "'");
      std::string node = PortTensor(name, port);
      captured.emplace(node.substr(0, node.find(':')), from->second);
    }
    return captured;
  }

  static Json IdentityOf(const std::string& name, const std::string& input) {
    Json type = Json::Object();
    type.Set("type", Json(std::string("DT_RESOURCE")));
    Json attrs = Json::Object();
    attrs.Set("T", std::move(type));
    Json node = Json::Object();
    node.Set("name", Json(name));
    node.Set("op", Json(std::string("Identity")));
    node.Set("input", Json::Array({Json(input)}));
    node.Set("attr", std::move(attrs));
    return node;
  }

  absl::StatusOr<Json> Changed(const Json& node, Elements elements) const {
    Json changed = node;
    const std::string& op = node["op"].text();
    if (op == "FusedDepthwiseConv2dNative") {
      changed.Set("op", Json(std::string("_FusedDepthwiseConv2dNative")));
    }
    const auto weight = weights_.find(node["name"].text());
    if (op != "Const" || weight == weights_.end()) return changed;
    Json attrs = Json::Object();
    attrs.Set("dtype", node["attr"]["dtype"]);
    if (elements == Elements::kInside) {
      X2IR_ASSIGN_OR_RETURN(Json value, Constant(node["attr"]["dtype"]["type"], *weight->second));
      attrs.Set("value", std::move(value));
    } else {
      changed.Set("op", Json(std::string("Placeholder")));
    }
    changed.Set("attr", std::move(attrs));
    changed.Erase("input");
    return changed;
  }

  static absl::StatusOr<Json> Constant(const Json& type, const Tensor& weight) {
    const auto number =
        type.is_string() ? tf_format::TypeNumber(type.text()) : std::optional(type.Int());
    X2IR_ASSIGN_OR_RETURN(const Tensor elements,
                          OfType(weight, tf_format::ToDType(number.value_or(0))));
    std::vector<Json> dims;
    for (const int64_t size : elements.dims()) {
      Json dim = Json::Object();
      dim.Set("size", Json(size));
      dims.push_back(std::move(dim));
    }
    Json shape = Json::Object();
    shape.Set("dim", Json::Array(std::move(dims)));
    Json tensor = Json::Object();
    tensor.Set("dtype", type);
    tensor.Set("tensorShape", std::move(shape));
    if (elements.is_string()) {
      std::vector<Json> texts;
      for (const std::string& text : elements.strings()) {
        texts.emplace_back(absl::Base64Escape(text));
      }
      tensor.Set("stringVal", Json::Array(std::move(texts)));
    } else {
      const auto bytes = elements.bytes();
      const std::string content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      tensor.Set("tensorContent", Json(absl::Base64Escape(content)));
    }
    Json value = Json::Object();
    value.Set("tensor", std::move(tensor));
    return value;
  }

  absl::StatusOr<Json> Library(const Json& library) const {
    std::vector<Json> functions;
    for (const Json& function : library["function"].items()) {
      std::vector<Json> nodes;
      for (const Json& node : function["nodeDef"].items()) {
        X2IR_ASSIGN_OR_RETURN(Json changed, Changed(node, Elements::kInside));
        nodes.push_back(std::move(changed));
      }
      Json changed = function;
      changed.Set("nodeDef", Json::Array(std::move(nodes)));
      functions.push_back(std::move(changed));
    }
    Json changed = library;
    changed.Set("function", Json::Array(std::move(functions)));
    return changed;
  }

  absl::flat_hash_map<std::string_view, const Tensor*> weights_;
};

}  // namespace

absl::StatusOr<std::string> GraphToWire(const Json& model,
                                        const std::vector<StoredWeight>& weights) {
  if (!model["modelTopology"]["node"].is_array()) return Invalid("the graph has no nodes");
  X2IR_ASSIGN_OR_RETURN(const Json graph, WholeGraph(weights).Of(model));
  return GraphWriter().Write(graph);
}

}  // namespace x2ir::tfjs
