#include "x2ir/formats/relay/node_json.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "x2ir/formats/nnvm/param_list.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace relay {

const std::string_view* JsonNode::Find(std::string_view name) const {
  for (const auto& [key, value] : attrs) {
    if (key == name) return &value;
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<NodeJson>> NodeJson::Parse(std::string_view text) {
  std::unique_ptr<NodeJson> json(new NodeJson(text));
  X2IR_RETURN_IF_ERROR(json->Read());
  return json;
}

absl::Status NodeJson::Read() {
  JsonReader& r = reader_;
  r.Object([&](std::string_view key) {
    if (key == "root") {
      root_ = r.Int();
    } else if (key == "nodes") {
      r.Array([&](size_t) {
        JsonNode node;
        r.Object([&](std::string_view field) {
          if (field == "type_key") {
            node.type_key = r.String();
          } else if (field == "repr_str" || field == "global_key" || field == "repr_b64") {
            node.text = r.String();
            node.has_text = true;
          } else if (field == "attrs") {
            r.Object([&](std::string_view name) { node.attrs.emplace_back(name, r.String()); });
          } else if (field == "keys") {
            r.Array([&](size_t) { node.keys.push_back(r.String()); });
          } else if (field == "data") {
            r.Array([&](size_t) { node.data.push_back(r.Int()); });
          } else {
            r.Skip();
          }
        });
        nodes_.push_back(std::move(node));
      });
    } else if (key == "b64ndarrays") {
      r.Array([&](size_t) { arrays_.push_back(r.String()); });
    } else if (key == "attrs") {
      r.Object([&](std::string_view name) {
        if (name == "tvm_version" && r.Peek() == JsonReader::Kind::kString) {
          version_ = std::string(r.String());
        } else {
          r.Skip();
        }
      });
    } else {
      r.Skip();
    }
  });
  r.Finish();
  X2IR_RETURN_IF_ERROR(r.status());
  decoded_.resize(arrays_.size());
  const auto count = static_cast<int64_t>(nodes_.size());
  if (root_ < 0 || root_ >= count) return Invalid("there is no node ", root_, ", the root");
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (const int64_t place : nodes_[i].data) {
      if (place < 0 || place >= count) {
        return Invalid("node ", i, " names node ", place, ", which does not exist");
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> NodeJson::Ref(const JsonNode& node, std::string_view name) const {
  const std::string_view* text = node.Find(name);
  if (!text) return 0;
  const auto number = ParseNumber<int64_t>(*text);
  if (!number || *number < 0 || *number >= static_cast<int64_t>(nodes_.size())) {
    return Invalid("a node of type ", node.type_key, ": '", name, "' is '", *text,
                   "', which is no node");
  }
  return *number;
}

absl::StatusOr<std::vector<int64_t>> NodeJson::List(const JsonNode& node,
                                                    std::string_view name) const {
  X2IR_ASSIGN_OR_RETURN(const int64_t place, Ref(node, name));
  if (place == 0) return std::vector<int64_t>();
  return this->node(place).data;
}

absl::StatusOr<std::string> NodeJson::Text(const JsonNode& node, std::string_view name) const {
  const std::string_view* text = node.Find(name);
  if (!text) return std::string();
  // Names were texts at first, and are nodes since they are objects.
  if (const auto number = ParseNumber<int64_t>(*text);
      number && *number >= 0 && *number < static_cast<int64_t>(nodes_.size())) {
    const JsonNode& of = this->node(*number);
    if (of.has_text && (of.type_key == "runtime.String" || of.type_key == "StringImm")) {
      return std::string(of.text);
    }
    if (*number == 0) return std::string();
  }
  return std::string(*text);
}

absl::StatusOr<Tensor> NodeJson::Array(std::string_view number) {
  const auto i = ParseNumber<int64_t>(number);
  if (!i || *i < 0 || *i >= static_cast<int64_t>(arrays_.size())) {
    return Invalid("there is no array '", number, "'");
  }
  std::optional<Tensor>& known = decoded_[static_cast<size_t>(*i)];
  if (!known) {
    auto bytes = std::make_shared<std::string>();
    const std::string_view text = arrays_[static_cast<size_t>(*i)];
    if (!absl::Base64Unescape({text.data(), text.size()}, bytes.get())) {
      return DataLoss("array ", *i, " is not base64");
    }
    const absl::Span<const std::byte> span(reinterpret_cast<const std::byte*>(bytes->data()),
                                           bytes->size());
    nnvm::ByteCursor in(Blob::InMemory(span, bytes, StrCat("array ", *i)));
    absl::StatusOr<Tensor> tensor = nnvm::ReadParamArray(in);
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("array ", *i));
    known = *std::move(tensor);
  }
  return *known;
}

}  // namespace relay
}  // namespace x2ir
