#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "x2ir/formats/keras/keras.h"
#include "x2ir/formats/keras/tf_op_layer_internal.h"
#include "x2ir/formats/tensorflow/tensorflow_internal.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::keras {
namespace {

// A 64-bit integer is a text.
std::optional<int64_t> IntegerOf(const Json& json) {
  if (json.is_number()) return json.Int();
  return ParseNumber<int64_t>(json.text());
}

absl::StatusOr<Attribute> ShapeOf(const Json& json) {
  if (json["unknownRank"].Flag()) return Type::Tensor(DType::kUndefined);
  std::vector<Dim> dims;
  for (const Json& dim : json["dim"].items()) {
    const auto size = dim.Has("size") ? IntegerOf(dim["size"]) : 0;
    if (!size) return Invalid("a size of ", dim.ToString());
    dims.push_back(*size < 0 ? Dim() : Dim(*size));
  }
  return Type::Tensor(DType::kUndefined, Shape(std::move(dims)));
}

absl::StatusOr<Attribute> ListOf(const Json& list) {
  if (list.Has("s")) {
    Attribute::Strings texts;
    for (const Json& item : list["s"].items()) {
      texts.emplace_back();
      if (!absl::Base64Unescape(item.text(), &texts.back())) return Invalid("invalid base64");
    }
    return texts;
  }
  if (list.Has("f")) {
    Attribute::Floats numbers;
    for (const Json& item : list["f"].items()) {
      numbers.push_back(static_cast<float>(item.Number()));
    }
    return numbers;
  }
  Attribute::Ints numbers;
  for (const char* kind : {"i", "b"}) {
    for (const Json& item : list[kind].items()) {
      const auto number = kind[0] == 'b' ? std::optional<int64_t>(item.Flag()) : IntegerOf(item);
      if (!number) return Invalid("'", item.ToString(), "' is not an integer");
      numbers.push_back(*number);
    }
  }
  if (numbers.empty() && !list.members().empty()) {
    return Unimplemented("a list '", list.ToString().substr(0, 60), "'");
  }
  return numbers;
}

// An AttrValue as protobuf's JSON has it.
absl::StatusOr<Attribute> AttributeOf(const Json& json) {
  if (json.members().size() != 1) return Unimplemented("the value ", json.ToString().substr(0, 60));
  const auto& [kind, value] = json.members()[0];
  if (kind == "b") return Attribute(value.Flag());
  if (kind == "f") return Attribute(static_cast<float>(value.Number()));
  if (kind == "shape") return ShapeOf(value);
  if (kind == "list") return ListOf(value);
  if (kind == "i") {
    if (const auto number = IntegerOf(value)) return Attribute(*number);
  }
  if (kind == "type") {
    if (const auto number = tf_format::TypeNumber(value.text())) {
      return Attribute(tf_format::ToType(*number));
    }
  }
  if (kind == "s") {
    std::string text;
    if (absl::Base64Unescape(value.text(), &text)) return Attribute(std::move(text));
  }
  return Unimplemented("the value ", json.ToString().substr(0, 60));
}

}  // namespace

absl::StatusOr<AttributeMap> TfOpAttributes(const Json& config) {
  const Json& node = config["node_def"];
  if (node["op"].text().empty()) return Invalid("it has no operator ('node_def')");
  AttributeMap attrs;
  attrs.Set(kTfOp, node["op"].text());
  attrs.Set(kTfOperands, static_cast<int64_t>(node["input"].size()));
  if (config.Has("constants")) attrs.Set(kTfConstants, config["constants"].ToString());
  for (const auto& [name, value] : node["attr"].members()) {
    absl::StatusOr<Attribute> attr = AttributeOf(value);
    if (!attr.ok()) return Annotate(attr.status(), StrCat("attribute '", name, "'"));
    attrs.Set(StrCat(kTfAttrPrefix, name), *std::move(attr));
  }
  return attrs;
}

}  // namespace x2ir::keras
