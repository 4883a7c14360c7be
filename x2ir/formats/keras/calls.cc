#include <algorithm>

#include "x2ir/formats/keras/calls_internal.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::keras {
namespace {

// Members in the order of their names, in which Keras counts the entries of a dictionary.
std::vector<const std::pair<std::string, Json>*> InOrder(const Json& object) {
  std::vector<const std::pair<std::string, Json>*> members;
  for (const auto& member : object.members()) members.push_back(&member);
  std::ranges::sort(members, {},
                    [](const auto* member) -> const std::string& { return member->first; });
  return members;
}

// --- Layers --------------------------------------------------------------------------------------

// Arguments by name: tensors, and what else there is as attributes.
void AddNamedArguments(const Json& arguments, CallSite* site) {
  for (const auto& [name, value] : arguments.members()) {
    // That it is not trained is so anyway.
    if (value.is_null() || (name == "training" && !value.Flag(value.Int() != 0))) continue;
    std::vector<TensorRef> refs;
    CollectRefs(value, &refs);
    if (refs.empty()) {
      Json only = Json::Object();
      only.Set(kCallPrefix + name, value);
      for (auto& [key, attr] : AttributesOf(only)) site->attrs.Set(key, attr);
    }
    // In a list with places that are empty a tensor has its place in its name.
    if (value.is_array() && std::ranges::any_of(value.items(), &Json::is_null) && !refs.empty()) {
      for (size_t i = 0; i < value.size(); ++i) {
        if (auto ref = RefOf(value.at(i))) {
          site->named.emplace_back(StrCat(name, "[", i, "]"), *std::move(ref));
        }
      }
      continue;
    }
    for (TensorRef& ref : refs) site->named.emplace_back(name, std::move(ref));
  }
}

void AddPositional(const Json& json, CallSite* site) {
  if (auto ref = RefOf(json)) {
    if (json.is_array() && site->inputs.empty()) AddNamedArguments(json.at(3), site);
    site->inputs.push_back(*std::move(ref));
    return;
  }
  if (!json.is_array() && !json.is_object()) {
    // A number among the arguments of a function.
    if (!json.is_null()) site->attrs.Set(StrCat(kCallPrefix, "args"), json.ToString());
    return;
  }
  for (const Json& item : json.items()) AddPositional(item, site);
  for (const auto* member : InOrder(json)) {
    site->keys.resize(site->inputs.size());
    site->keys.push_back(member->first);
    AddPositional(member->second, site);
  }
}

// --- Functions -----------------------------------------------------------------------------------

// Arguments of a function as the node has them: a tensor is {"tensor": i}, the i-th operand.
class ArgumentWriter {
 public:
  explicit ArgumentWriter(CallSite* site) : site_(*site) {}

  Json Write(const Json& json) {
    if (auto ref = RefOf(json)) return Operand(*std::move(ref));
    if (json.is_array()) {
      std::vector<Json> items;
      for (const Json& item : json.items()) items.push_back(Write(item));
      return Json::Array(std::move(items));
    }
    if (!json.is_object()) return json;
    if (json["class_name"].text() == "__tuple__") return Write(json["items"]);
    Json object = Json::Object();
    for (const auto& [name, item] : json.members()) object.Set(name, Write(item));
    return object;
  }

  // The first argument of tf.keras: its tensors and numbers have all others beside them.
  Json WriteFirst(const Json& json, Json* others) {
    const bool constant = json.is_array() && (json.size() == 3 || json.size() == 4) &&
                          json.at(0).text() == "_CONSTANT_VALUE" && json.at(1).Int() == -1;
    auto ref = constant ? std::nullopt : RefOf(json);
    if (constant || ref) {
      if (json.at(3).is_object() && others->is_null()) *others = json.at(3);
      return constant ? json.at(2) : Operand(*std::move(ref));
    }
    if (json.is_array()) {
      std::vector<Json> items;
      for (const Json& item : json.items()) items.push_back(WriteFirst(item, others));
      return Json::Array(std::move(items));
    }
    if (!json.is_object()) return json;
    Json object = Json::Object();
    for (const auto& [name, item] : json.members()) object.Set(name, WriteFirst(item, others));
    return object;
  }

 private:
  Json Operand(TensorRef ref) {
    Json operand = Json::Object();
    operand.Set("tensor", Json(static_cast<int64_t>(site_.inputs.size())));
    site_.inputs.push_back(std::move(ref));
    return operand;
  }

  CallSite& site_;
};

bool IsOfLayerAlone(std::string_view key) {
  static constexpr std::string_view kKeys[] = {"name",       "trainable",   "function", "autocast",
                                               "cls_symbol", "method_name", "attr_name"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

CallSite FunctionCall(const Json& node, const Json& config) {
  CallSite site;
  ArgumentWriter writer(&site);
  Json named = Json::Object(), positional;
  for (const auto& [key, value] : config.members()) {
    // A type that is the layer's is not an argument; one that is, is a name.
    const bool policy = key == "dtype" && (value.is_object() || config.Has("function"));
    if (!IsOfLayerAlone(key) && !policy) {
      named.Set(key, value);
    }
  }
  Json others;
  if (node.is_object() && node["args"].is_array()) {
    positional = writer.Write(node["args"]);
    others = node["kwargs"];
  } else {
    positional = Json::Array({writer.WriteFirst(node, &others)});
  }
  for (const auto& [key, value] : others.members()) named.Set(key, writer.Write(value));
  Json all = Json::Object();
  all.Set("args", positional);
  all.Set("kwargs", named);
  site.attrs.Set(kCallArguments, all.ToString());
  return site;
}

// What fn gives for each call that there is.
template <typename Fn>
std::vector<CallSite> OfEach(const Json& inbound, const Fn& fn) {
  std::vector<CallSite> sites;
  // One call that is not a list of lists: ["layer", 0, 0, {}].
  const bool single = RefOf(inbound).has_value();
  for (size_t i = 0; i < (single ? 1 : inbound.size()); ++i) {
    sites.push_back(fn(single ? inbound : inbound.at(i)));
  }
  return sites;
}

}  // namespace

std::optional<TensorRef> RefOf(const Json& json) {
  const Json* at = &json;
  if (json.is_object()) {
    if (json["class_name"].text() != "__keras_tensor__") return std::nullopt;
    at = &json["config"]["keras_history"];
  }
  if (!at->is_array() || at->size() < 3 || at->size() > 4 || !at->at(0).is_string() ||
      at->at(1).kind() != Json::Kind::kInt || at->at(2).kind() != Json::Kind::kInt) {
    return std::nullopt;
  }
  return TensorRef{at->at(0).text(), at->at(1).Int(), at->at(2).Int()};
}

void CollectRefs(const Json& json, std::vector<TensorRef>* refs) {
  if (auto ref = RefOf(json)) {
    refs->push_back(*std::move(ref));
    return;
  }
  for (const Json& item : json.items()) CollectRefs(item, refs);
  for (const auto* member : InOrder(json)) CollectRefs(member->second, refs);
}

std::vector<CallSite> CallSitesOf(const Json& inbound) {
  return OfEach(inbound, [](const Json& node) {
    CallSite site;
    if (node.is_object() && node["args"].is_array()) {
      for (const Json& item : node["args"].items()) AddPositional(item, &site);
      AddNamedArguments(node["kwargs"], &site);
    } else {
      AddPositional(node, &site);
    }
    return site;
  });
}

std::string FunctionOf(const Json& entry, int version) {
  const std::string& c = entry["class_name"].text();
  const Json& config = entry["config"];
  if (c == "TFOpLambda" || c == "SlicingOpLambda") return StrCat("tf.", config["function"].text());
  if (c == "ClassMethod") {
    return StrCat("tf.", config["cls_symbol"].text(), ".", config["method_name"].text());
  }
  if (c == "InstanceProperty" || c == "InstanceMethod") {
    return StrCat("tf.Tensor.", config["attr_name"].text());
  }
  const std::string& module = entry["module"].text();
  if (module.starts_with("keras") && module.find(".ops.") != module.npos) return StrCat("ops.", c);
  // Where HDF5 files of Keras 3 say no module, operations are what lacks the settings of all
  // layers.
  const bool bare = module.empty() && !config.Has("trainable") && !config.Has("layers") &&
                    entry["inbound_nodes"].at(0)["args"].is_array();
  return version >= 3 && bare ? StrCat("ops.", c) : std::string();
}

std::string CustomClassOf(const Json& entry) {
  const std::string& registered = entry["registered_name"].text();
  const std::string_view package = std::string_view(registered).substr(0, registered.find('>'));
  const bool in_package = package.size() < registered.size();
  if (in_package) {
    const bool own = package == "keras" || package == "Keras" || package.starts_with("keras.");
    return own ? std::string() : registered;
  }
  // A class of Keras's is not registered: where it is from is enough.
  const std::string& module = entry["module"].text();
  const bool of_keras = module == "keras" || module.starts_with("keras.") ||
                        module.starts_with("tf_keras.") || module.starts_with("tensorflow.keras");
  return registered.empty() || of_keras ? std::string() : StrCat(module, ">", registered);
}

std::vector<CallSite> FunctionCallsOf(const Json& inbound, const Json& config) {
  return OfEach(inbound, [&](const Json& node) { return FunctionCall(node, config); });
}

}  // namespace x2ir::keras
