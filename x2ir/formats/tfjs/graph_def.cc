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

using keras::Json;
using keras::StoredWeight;
namespace arg_field = tf_format::arg_field;
namespace attr_field = tf_format::attr_field;
namespace entry_field = tf_format::entry_field;
namespace func_field = tf_format::func_field;
namespace function_field = tf_format::function_field;
namespace graph_field = tf_format::graph_field;
namespace library_field = tf_format::library_field;
namespace node_field = tf_format::node_field;
namespace op_field = tf_format::op_field;
namespace shape_field = tf_format::shape_field;
namespace tensor_field = tf_format::tensor_field;
namespace versions_field = tf_format::versions_field;

enum class Kind { kText, kBytes, kInt, kFloat, kDouble, kBool, kType, kMessage, kMap };
struct Message;
struct Field {
  std::string_view name;
  uint32_t number;
  Kind kind;
  const Message* message = nullptr;  // of kMessage, and of the values of kMap; null there: texts
};
struct Message {
  absl::Span<const Field> fields;
};

extern const Message kAttrValue;
const Field kDimFields[] = {{"size", shape_field::kDimSize, Kind::kInt}};
const Message kDim{kDimFields};
const Field kShapeFields[] = {{"dim", shape_field::kDim, Kind::kMessage, &kDim},
                              {"unknownRank", shape_field::kUnknownRank, Kind::kBool}};
const Message kShape{kShapeFields};
const Field kTensorFields[] = {
    {"dtype", tensor_field::kDType, Kind::kType},
    {"tensorShape", tensor_field::kShape, Kind::kMessage, &kShape},
    {"tensorContent", tensor_field::kContent, Kind::kBytes},
    {"floatVal", tensor_field::kFloat, Kind::kFloat},
    {"doubleVal", tensor_field::kDouble, Kind::kDouble},
    {"intVal", tensor_field::kInt, Kind::kInt},
    {"stringVal", tensor_field::kString, Kind::kBytes},
    {"int64Val", tensor_field::kInt64, Kind::kInt},
    {"boolVal", tensor_field::kBool, Kind::kBool},
    {"halfVal", tensor_field::kHalf, Kind::kInt},
};
const Message kTensor{kTensorFields};
const Field kFuncFields[] = {{"name", func_field::kName, Kind::kText},
                             {"attr", func_field::kAttr, Kind::kMap, &kAttrValue}};
const Message kFunc{kFuncFields};
const Field kListFields[] = {
    {"s", attr_field::kS, Kind::kBytes},
    {"i", attr_field::kI, Kind::kInt},
    {"f", attr_field::kF, Kind::kFloat},
    {"b", attr_field::kB, Kind::kBool},
    {"type", attr_field::kType, Kind::kType},
    {"shape", attr_field::kShape, Kind::kMessage, &kShape},
    {"tensor", attr_field::kTensor, Kind::kMessage, &kTensor},
    {"func", attr_field::kListFunc, Kind::kMessage, &kFunc},
};
const Message kList{kListFields};
const Field kAttrFields[] = {
    {"list", attr_field::kList, Kind::kMessage, &kList},
    {"s", attr_field::kS, Kind::kBytes},
    {"i", attr_field::kI, Kind::kInt},
    {"f", attr_field::kF, Kind::kFloat},
    {"b", attr_field::kB, Kind::kBool},
    {"type", attr_field::kType, Kind::kType},
    {"shape", attr_field::kShape, Kind::kMessage, &kShape},
    {"tensor", attr_field::kTensor, Kind::kMessage, &kTensor},
    {"placeholder", attr_field::kPlaceholder, Kind::kText},
    {"func", attr_field::kFunc, Kind::kMessage, &kFunc},
};
const Message kAttrValue{kAttrFields};
const Field kNodeFields[] = {
    {"name", node_field::kName, Kind::kText},
    {"op", node_field::kOp, Kind::kText},
    {"input", node_field::kInput, Kind::kText},
    {"device", node_field::kDevice, Kind::kText},
    {"attr", node_field::kAttr, Kind::kMap, &kAttrValue},
};
const Message kNode{kNodeFields};
const Field kArgFields[] = {
    {"name", arg_field::kName, Kind::kText},
    {"type", arg_field::kType, Kind::kType},
    {"typeAttr", arg_field::kTypeAttr, Kind::kText},
    {"numberAttr", arg_field::kNumberAttr, Kind::kText},
    {"typeListAttr", arg_field::kTypeListAttr, Kind::kText},
};
const Message kArg{kArgFields};
const Field kOpFields[] = {
    {"name", op_field::kName, Kind::kText},
    {"inputArg", op_field::kInputArg, Kind::kMessage, &kArg},
    {"outputArg", op_field::kOutputArg, Kind::kMessage, &kArg},
};
const Message kOp{kOpFields};
const Field kFunctionFields[] = {
    {"signature", function_field::kSignature, Kind::kMessage, &kOp},
    {"nodeDef", function_field::kNode, Kind::kMessage, &kNode},
    {"ret", function_field::kRet, Kind::kMap},
    {"controlRet", function_field::kControlRet, Kind::kMap},
};
const Message kFunction{kFunctionFields};
const Field kLibraryFields[] = {
    {"function", library_field::kFunction, Kind::kMessage, &kFunction},
};
const Message kLibrary{kLibraryFields};
const Field kVersionsFields[] = {{"producer", versions_field::kProducer, Kind::kInt}};
const Message kVersions{kVersionsFields};
const Field kGraphFields[] = {
    {"node", graph_field::kNode, Kind::kMessage, &kNode},
    {"library", graph_field::kLibrary, Kind::kMessage, &kLibrary},
    {"versions", graph_field::kVersions, Kind::kMessage, &kVersions},
};
const Message kGraph{kGraphFields};

class GraphWriter {
 public:
  absl::StatusOr<std::string> Write(const Json& graph) {
    Fields(graph, kGraph);
    if (!status_.ok()) return status_;
    return out_.ToString();
  }

 private:
  void Fail(std::string_view what) {
    if (status_.ok()) status_ = Invalid(what);
  }

  // The tree is no deeper than its parser allows.
  void Fields(const Json& json, const Message& message) {
    for (const Field& field : message.fields) {
      const Json& value = json[field.name];
      if (value.is_null()) continue;
      if (field.kind == Kind::kMap) {
        Map(field, value);
      } else if (value.is_array()) {
        for (const Json& item : value.items()) One(field, item);
      } else {
        One(field, value);
      }
    }
  }

  void Map(const Field& field, const Json& map) {
    for (const auto& [key, value] : map.members()) {
      out_.Begin(field.number);
      out_.Bytes(entry_field::kKey, key);
      if (!field.message) {
        out_.Bytes(entry_field::kValue, value.text());
      } else {
        out_.Begin(entry_field::kValue);
        Fields(value, *field.message);
        out_.End();
      }
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

  void One(const Field& field, const Json& value) {
    switch (field.kind) {
      case Kind::kText: return out_.Bytes(field.number, value.text());
      case Kind::kInt: return out_.Int(field.number, Number(value));
      case Kind::kFloat: return out_.Float(field.number, static_cast<float>(Real(value)));
      case Kind::kDouble: return out_.Double(field.number, Real(value));
      case Kind::kBool: return out_.Int(field.number, value.Flag(value.Int() != 0) ? 1 : 0);
      case Kind::kType: {
        const auto number = value.is_string() ? tf_format::TypeNumber(value.text()) : Number(value);
        if (!number) Fail(StrCat("there is no type '", value.text(), "'"));
        return out_.Int(field.number, number.value_or(0));
      }
      case Kind::kBytes: {
        // A list of bytes, in files of old converters.
        std::string bytes;
        if (value.is_array()) {
          for (const Json& item : value.items()) bytes += static_cast<char>(item.Int());
        } else if (!absl::Base64Unescape(value.text(), &bytes)) {
          Fail(StrCat("'", value.text().substr(0, 40), "' is not base64"));
        }
        return out_.Bytes(field.number, bytes);
      }
      case Kind::kMessage:
        out_.Begin(field.number);
        Fields(value, *field.message);
        out_.End();
        return;
      case Kind::kMap: return;
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
