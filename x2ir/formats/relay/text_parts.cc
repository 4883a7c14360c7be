#include <cctype>
#include <utility>

#include "x2ir/formats/relay/text_parts_internal.h"
#include "x2ir/graph_wrapper/numbers.h"

namespace x2ir {
namespace relay {
namespace {

constexpr std::string_view kMetadata = "#[metadata]", kOldMetadata = "METADATA:";

}  // namespace

// --- Types ---------------------------------------------------------------------------------------

absl::Status TypeParser::SkipTypeArgs() {
  if (!Take("[")) return absl::OkStatus();
  while (!Take("]")) {
    X2IR_RETURN_IF_ERROR(ParseType().status());
    if (!Looks("]")) X2IR_RETURN_IF_ERROR(Expect(","));
  }
  return absl::OkStatus();
}

absl::StatusOr<DType> TypeParser::ParseDTypeName(std::string_view name) {
  if (name == "bool") return DType::kBool;
  const auto dtype = x2ir::ParseDType(name);
  if (!dtype || *dtype == DType::kString) {
    return Fail(StrCat("an element type '", name, "', which is not known"));
  }
  return *dtype;
}

absl::StatusOr<RelayType> TypeParser::ParseType() {
  const Deeper level(&depth_);
  if (!level.ok()) return Fail("types that are nested too deep");
  RelayType type;
  if (Take("(")) {
    type.kind = RelayType::Kind::kTuple;
    while (!Take(")")) {
      X2IR_ASSIGN_OR_RETURN(RelayType field, ParseType());
      type.fields.push_back(std::move(field));
      if (!Looks(")")) X2IR_RETURN_IF_ERROR(Expect(","));
    }
    return type;
  }
  if (TakeWord("fn")) {
    X2IR_RETURN_IF_ERROR(SkipTypeArgs());
    X2IR_RETURN_IF_ERROR(ParseType().status());
    X2IR_RETURN_IF_ERROR(Expect("->"));
    X2IR_RETURN_IF_ERROR(ParseType().status());
    return RelayType();
  }
  if (Take("_") || Take("?") || Take("*")) return type;
  const std::string_view name = Name(NameKind::kPlain);
  if (name.empty()) return Fail("expected a type");
  if (name != "Tensor") {
    // A number's type is that of a tensor of rank 0; others are of data, or variables.
    const auto dtype = name == "bool" ? std::optional(DType::kBool) : x2ir::ParseDType(name);
    if (dtype && *dtype != DType::kString) {
      type.kind = RelayType::Kind::kTensor;
      type.tensor = Type::Tensor(*dtype, Shape(std::vector<Dim>()));
      return type;
    }
    X2IR_RETURN_IF_ERROR(SkipTypeArgs());
    return type;
  }
  X2IR_RETURN_IF_ERROR(Expect("["));
  std::vector<Dim> dims;
  X2IR_RETURN_IF_ERROR(Expect("("));
  while (!Take(")")) {
    X2IR_ASSIGN_OR_RETURN(const Dim dim, ParseDim());
    dims.push_back(dim);
    if (!Looks(")")) X2IR_RETURN_IF_ERROR(Expect(","));
  }
  X2IR_RETURN_IF_ERROR(Expect(","));
  X2IR_ASSIGN_OR_RETURN(const DType dtype, ParseDTypeName(Name(NameKind::kPlain)));
  X2IR_RETURN_IF_ERROR(Expect("]"));
  type.kind = RelayType::Kind::kTensor;
  type.tensor = Type::Tensor(dtype, Shape(std::move(dims)));
  return type;
}

absl::StatusOr<Dim> TypeParser::ParseDim() {
  if (Take("?")) return Dim();
  if (LooksNumber()) {
    X2IR_ASSIGN_OR_RETURN(const Scalar scalar, Number());
    const auto size = ParseNumber<int64_t>(scalar.number);
    if (!size || *size < 0) return Fail("a size that is none");
    return Dim(*size);
  }
  const std::string_view name = Name(NameKind::kPlain);
  if (name.empty()) return Fail("expected a size");
  return name == "Any" || name == "meta" ? (SkipMeta(), Dim()) : Dim::Symbol(std::string(name));
}

void TypeParser::SkipMeta() {
  while (Take("[")) {
    while (!AtEnd() && !Take("]")) ++pos_;
  }
}

// --- Metadata and attributes ---------------------------------------------------------------------

absl::Status MetaParser::ReadMetadata() {
  size_t at = text_.rfind(kMetadata), size = kMetadata.size();
  if (at == text_.npos) {
    at = text_.rfind(kOldMetadata);
    size = kOldMetadata.size();
  }
  if (at == text_.npos) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<NodeJson>> json = NodeJson::Parse(text_.substr(at + size));
  if (!json.ok()) return Annotate(json.status(), "the metadata of the text");
  metadata_ = *std::move(json);
  text_ = text_.substr(0, at);
  X2IR_ASSIGN_OR_RETURN(meta_exprs_, ExprsOf(*metadata_, program_.get()));
  const JsonNode& root = metadata_->node(metadata_->root());
  for (size_t i = 0; i < root.keys.size() && i < root.data.size(); ++i) {
    meta_[root.keys[i]] = root.data[i];
  }
  return absl::OkStatus();
}

bool MetaParser::LooksAttr() {
  const char c = Peek();
  if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')) return false;
  size_t at = pos_;
  while (at < text_.size() &&
         (std::isalnum(static_cast<unsigned char>(text_[at])) || text_[at] == '_')) {
    ++at;
  }
  while (at < text_.size() && text_[at] == ' ') ++at;
  return at + 1 < text_.size() && text_[at] == '=' && text_[at + 1] != '=';
}

absl::StatusOr<std::string> MetaParser::ParseAttr() {
  const Deeper level(&depth_);
  if (!level.ok()) return Fail("lists that are nested too deep");
  if (Peek() == '"') return Quoted();
  for (const auto& [open, close] :
       {std::pair("[", "]"), std::pair("(", ")"), std::pair("{", "}")}) {
    if (!Take(open)) continue;
    std::string text = "[";
    while (!Take(close)) {
      X2IR_ASSIGN_OR_RETURN(const std::string part, ParseAttr());
      StrAppend(&text, text.size() == 1 ? "" : ", ", part);
      if (Take(":") || Take("=")) {  // of a dictionary
        X2IR_RETURN_IF_ERROR(ParseAttr().status());
      }
      if (!Looks(close)) X2IR_RETURN_IF_ERROR(Expect(","));
    }
    return text + "]";
  }
  if (LooksNumber()) {
    X2IR_ASSIGN_OR_RETURN(const Scalar scalar, Number());
    return scalar.number;
  }
  if (Looks("meta[")) {
    X2IR_ASSIGN_OR_RETURN(const int64_t node, ParseMeta());
    const RelayExpr* e = meta_exprs_[static_cast<size_t>(node)];
    if (e) return Fail("an expression as an attribute");
    return AttrTextOf(*metadata_, node);
  }
  const std::string_view word = Name(NameKind::kDots);
  if (word.empty()) return Fail("expected the value of an attribute");
  return std::string(word);
}

absl::StatusOr<int64_t> MetaParser::ParseMeta() {
  X2IR_RETURN_IF_ERROR(Expect("meta"));
  X2IR_RETURN_IF_ERROR(Expect("["));
  const std::string_view key = Name(NameKind::kDots);
  X2IR_RETURN_IF_ERROR(Expect("]"));
  X2IR_RETURN_IF_ERROR(Expect("["));
  X2IR_ASSIGN_OR_RETURN(const Scalar scalar, Number());
  X2IR_RETURN_IF_ERROR(Expect("]"));
  if (!metadata_) {
    return Invalid("the text names constants (meta[", key, "][", scalar.number,
                   "]) and was printed without its metadata; print it with show_meta_data=True, "
                   "or save the module by tvm.ir.save_json");
  }
  const auto list = meta_.find(key);
  const auto index = ParseNumber<int64_t>(scalar.number);
  if (list == meta_.end() || !index || *index < 0 ||
      *index >= static_cast<int64_t>(metadata_->node(list->second).data.size())) {
    return Fail(StrCat("meta[", key, "][", scalar.number, "], which the metadata does not have,"));
  }
  return metadata_->node(list->second).data[static_cast<size_t>(*index)];
}

}  // namespace relay
}  // namespace x2ir
