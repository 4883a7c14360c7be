// Expressions of the nodes of a JSON.
#include <algorithm>
#include <utility>

#include "x2ir/formats/relay/attr_table.h"
#include "x2ir/formats/relay/node_json.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace relay {
namespace {

constexpr std::pair<std::string_view, ExprKind> kKinds[] = {
    {"relay.Var", ExprKind::kVar},
    {"relay.GlobalVar", ExprKind::kGlobal},
    {"GlobalVar", ExprKind::kGlobal},
    {"relay.Constant", ExprKind::kConstant},
    {"relay.Op", ExprKind::kOp},
    {"Op", ExprKind::kOp},
    {"relay.Constructor", ExprKind::kConstructor},
    {"relay.Call", ExprKind::kCall},
    {"relay.Tuple", ExprKind::kTuple},
    {"relay.TupleGetItem", ExprKind::kGetItem},
    {"relay.Function", ExprKind::kFunction},
    {"relay.Let", ExprKind::kLet},
    {"relay.If", ExprKind::kIf},
    {"relay.Match", ExprKind::kMatch},
};

std::optional<ExprKind> KindOf(std::string_view type_key) {
  for (const auto& [key, kind] : kKinds) {
    if (key == type_key) return kind;
  }
  return std::nullopt;
}

std::optional<DType> JsonDType(std::string_view text) {
  return text == "bool" || text == "uint1" ? std::optional(DType::kBool) : ParseDType(text);
}

class JsonExprs {
 public:
  JsonExprs(NodeJson& json, Program* program) : json_(json), program_(program) {}

  absl::StatusOr<std::vector<const RelayExpr*>> Make() {
    std::vector<RelayExpr*> made(json_.size(), nullptr);
    for (size_t i = 0; i < made.size(); ++i) {
      const auto kind = KindOf(json_.node(static_cast<int64_t>(i)).type_key);
      if (kind) made[i] = program_->Make(*kind);
    }
    exprs_.assign(made.begin(), made.end());
    for (size_t i = 0; i < made.size(); ++i) {
      if (!made[i]) continue;
      absl::Status filled = Fill(json_.node(static_cast<int64_t>(i)), made[i]);
      if (!filled.ok()) return Annotate(filled, StrCat("node ", i));
    }
    return std::move(exprs_);
  }

 private:
  absl::Status Fill(const JsonNode& node, RelayExpr* e) {
    X2IR_RETURN_IF_ERROR(FillSpan(node, e));
    switch (e->kind) {
      case ExprKind::kVar: return FillVar(node, e);
      case ExprKind::kGlobal:
      case ExprKind::kConstructor: {
        X2IR_ASSIGN_OR_RETURN(e->name, json_.Text(node, "name_hint"));
        return absl::OkStatus();
      }
      case ExprKind::kConstant: {
        const std::string_view* data = node.Find("data");
        if (!data) return Invalid("a constant without data");
        X2IR_ASSIGN_OR_RETURN(e->constant, json_.Array(*data));
        return absl::OkStatus();
      }
      case ExprKind::kOp:
        if (!node.has_text) return Invalid("an operator without a name");
        e->name = std::string(node.text);
        return absl::OkStatus();
      case ExprKind::kCall: {
        X2IR_RETURN_IF_ERROR(AddArg(node, "op", e));
        X2IR_RETURN_IF_ERROR(AddArgs(node, "args", e));
        X2IR_ASSIGN_OR_RETURN(const int64_t attrs, json_.Ref(node, "attrs"));
        X2IR_ASSIGN_OR_RETURN(e->attrs, AttrsOf(json_, attrs));
        return absl::OkStatus();
      }
      case ExprKind::kTuple: return AddArgs(node, "fields", e);
      case ExprKind::kGetItem: {
        const std::string_view* index = node.Find("index");
        const auto number = index ? ParseNumber<int64_t>(*index) : std::nullopt;
        if (!number) return Invalid("a field of a tuple without a number");
        e->index = *number;
        return AddArg(node, "tuple_value", e);
      }
      case ExprKind::kFunction: {
        X2IR_RETURN_IF_ERROR(AddArgs(node, "params", e));
        for (const RelayExpr* param : e->args) {
          if (param->kind != ExprKind::kVar) return Invalid("a parameter that is no variable");
        }
        X2IR_ASSIGN_OR_RETURN(const int64_t body, json_.Ref(node, "body"));
        X2IR_ASSIGN_OR_RETURN(e->body, ExprAt(body));
        return absl::OkStatus();
      }
      case ExprKind::kLet:
        X2IR_RETURN_IF_ERROR(AddArg(node, "var", e));
        if (e->args[0]->kind != ExprKind::kVar) return Invalid("a let of what is no variable");
        X2IR_RETURN_IF_ERROR(AddArg(node, "value", e));
        return AddArg(node, "body", e);
      case ExprKind::kIf:
        X2IR_RETURN_IF_ERROR(AddArg(node, "cond", e));
        X2IR_RETURN_IF_ERROR(AddArg(node, "true_branch", e));
        return AddArg(node, "false_branch", e);
      case ExprKind::kMatch: return FillMatch(node, e);
    }
    return absl::OkStatus();
  }

  // Frontends name a call by a place in a source without lines.
  absl::Status FillSpan(const JsonNode& node, RelayExpr* e) {
    X2IR_ASSIGN_OR_RETURN(const int64_t span, json_.Ref(node, "span"));
    if (span == 0 || json_.node(span).type_key != "Span") return absl::OkStatus();
    const std::string_view* line = json_.node(span).Find("line");
    if (line && *line != "0") return absl::OkStatus();
    X2IR_ASSIGN_OR_RETURN(const int64_t source, json_.Ref(json_.node(span), "source_name"));
    if (json_.node(source).has_text) e->span = std::string(json_.node(source).text);
    return absl::OkStatus();
  }

  absl::Status FillVar(const JsonNode& node, RelayExpr* e) {
    X2IR_ASSIGN_OR_RETURN(const int64_t id, json_.Ref(node, "vid"));
    X2IR_ASSIGN_OR_RETURN(e->name, json_.Text(json_.node(id), "name_hint"));
    X2IR_ASSIGN_OR_RETURN(const int64_t type, json_.Ref(node, "type_annotation"));
    X2IR_ASSIGN_OR_RETURN(e->type, TypeAt(type, 0));
    if (e->type.kind == RelayType::Kind::kUnknown) {
      X2IR_ASSIGN_OR_RETURN(const int64_t checked, json_.Ref(node, "_checked_type_"));
      X2IR_ASSIGN_OR_RETURN(e->type, TypeAt(checked, 0));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<RelayType> TypeAt(int64_t place, int depth) {
    RelayType type;
    const JsonNode& node = json_.node(place);
    if (depth > kMaxDepth) return Invalid("a type is nested too deep");
    if (node.type_key == "TupleType" || node.type_key == "relay.TupleType") {
      type.kind = RelayType::Kind::kTuple;
      X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> fields, json_.List(node, "fields"));
      for (const int64_t field : fields) {
        if (++types_ > kMaxTypes) return Invalid("types are too large");
        X2IR_ASSIGN_OR_RETURN(RelayType part, TypeAt(field, depth + 1));
        type.fields.push_back(std::move(part));
      }
      return type;
    }
    if (node.type_key != "relay.TensorType" && node.type_key != "TensorType") return type;
    const std::string_view* name = node.Find("dtype");
    const auto dtype = name ? JsonDType(*name) : std::nullopt;
    if (!dtype) return Unimplemented("a tensor of type '", name ? *name : "", "'");
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, json_.List(node, "shape"));
    std::vector<Dim> dims;
    for (const int64_t size : sizes) {
      const JsonNode& dim = json_.node(size);
      const std::string_view* value = dim.Find("value");
      const auto number = value ? ParseNumber<int64_t>(*value) : std::nullopt;
      dims.push_back(number && *number >= 0 ? Dim(*number) : Dim());
    }
    type.kind = RelayType::Kind::kTensor;
    type.tensor = Type::Tensor(*dtype, Shape(std::move(dims)));
    return type;
  }

  absl::Status FillMatch(const JsonNode& node, RelayExpr* e) {
    X2IR_RETURN_IF_ERROR(AddArg(node, "data", e));
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> clauses, json_.List(node, "clauses"));
    for (const int64_t place : clauses) {
      const JsonNode& clause = json_.node(place);
      X2IR_ASSIGN_OR_RETURN(const int64_t lhs, json_.Ref(clause, "lhs"));
      X2IR_ASSIGN_OR_RETURN(const int64_t rhs, json_.Ref(clause, "rhs"));
      X2IR_ASSIGN_OR_RETURN(Pattern pattern, PatternAt(lhs, 0));
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* value, ExprAt(rhs));
      e->clauses.push_back({std::move(pattern), value});
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Pattern> PatternAt(int64_t place, int depth) {
    const JsonNode& node = json_.node(place);
    if (depth > kMaxDepth || ++types_ > kMaxTypes) return Invalid("a pattern is nested too deep");
    Pattern pattern;
    if (node.type_key == "relay.PatternWildcard") return pattern;
    if (node.type_key == "relay.PatternVar") {
      pattern.kind = Pattern::Kind::kVar;
      X2IR_ASSIGN_OR_RETURN(const int64_t var, json_.Ref(node, "var"));
      X2IR_ASSIGN_OR_RETURN(pattern.var, ExprAt(var));
      return pattern;
    }
    std::string_view list = "patterns";
    if (node.type_key == "relay.PatternConstructor") {
      pattern.kind = Pattern::Kind::kConstructor;
      X2IR_ASSIGN_OR_RETURN(const int64_t constructor, json_.Ref(node, "constructor"));
      X2IR_ASSIGN_OR_RETURN(pattern.constructor, json_.Text(json_.node(constructor), "name_hint"));
    } else if (node.type_key == "relay.PatternTuple") {
      pattern.kind = Pattern::Kind::kTuple;
    } else {
      return Invalid("node ", place, " of type ", node.type_key, " is no pattern");
    }
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> parts, json_.List(node, list));
    for (const int64_t part : parts) {
      X2IR_ASSIGN_OR_RETURN(Pattern inner, PatternAt(part, depth + 1));
      pattern.parts.push_back(std::move(inner));
    }
    return pattern;
  }

  absl::StatusOr<const RelayExpr*> ExprAt(int64_t place) const {
    const RelayExpr* e = exprs_[static_cast<size_t>(place)];
    if (e) return e;
    const std::string_view key = json_.node(place).type_key;
    if (key.starts_with("relay.Ref")) return Unimplemented("a reference (", key, ")");
    return Invalid("node ", place, " of type '", key, "' is no expression");
  }
  absl::Status AddArg(const JsonNode& node, std::string_view name, RelayExpr* e) {
    X2IR_ASSIGN_OR_RETURN(const int64_t place, json_.Ref(node, name));
    X2IR_ASSIGN_OR_RETURN(const RelayExpr* arg, ExprAt(place));
    e->args.push_back(arg);
    return absl::OkStatus();
  }
  absl::Status AddArgs(const JsonNode& node, std::string_view name, RelayExpr* e) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> places, json_.List(node, name));
    // A list may be named by many nodes.
    if ((listed_ += places.size()) > kMaxListed) return Invalid("lists are too long");
    for (const int64_t place : places) {
      X2IR_ASSIGN_OR_RETURN(const RelayExpr* arg, ExprAt(place));
      e->args.push_back(arg);
    }
    return absl::OkStatus();
  }

  static constexpr int64_t kMaxTypes = 1 << 20;
  static constexpr size_t kMaxListed = size_t{1} << 23;

  NodeJson& json_;
  Program* program_;
  std::vector<const RelayExpr*> exprs_;
  int64_t types_ = 0;
  size_t listed_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<const RelayExpr*>> ExprsOf(NodeJson& json, Program* program) {
  return JsonExprs(json, program).Make();
}

absl::StatusOr<std::unique_ptr<Program>> ProgramOf(NodeJson& json) {
  auto program = std::make_unique<Program>();
  X2IR_ASSIGN_OR_RETURN(const auto exprs, ExprsOf(json, program.get()));
  const JsonNode& root = json.node(json.root());
  if (const RelayExpr* e = exprs[static_cast<size_t>(json.root())]) {
    program->main = e;
    return program;
  }
  if (root.type_key != "IRModule" && root.type_key != "relay.Module") {
    return Invalid("its root is of type '", root.type_key,
                   "', which is neither a module nor an expression of Relay");
  }
  X2IR_ASSIGN_OR_RETURN(const int64_t place, json.Ref(root, "functions"));
  const std::vector<int64_t>& pairs = json.node(place).data;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const RelayExpr* name = exprs[static_cast<size_t>(pairs[i])];
    const RelayExpr* function = exprs[static_cast<size_t>(pairs[i + 1])];
    if (!name || name->kind != ExprKind::kGlobal) return Invalid("a function without a name");
    if (function) program->functions[name->name] = function;
  }
  const auto main = program->functions.find("main");
  if (main != program->functions.end()) {
    program->main = main->second;
  } else if (program->functions.size() == 1) {
    program->main = program->functions.begin()->second;
  } else {
    return Invalid("the module has no function 'main'");
  }
  return program;
}

namespace {

bool IsOld(std::string_view version) {
  return version.empty() || version.starts_with("0.6") || version.starts_with("0.7");
}

}  // namespace

absl::StatusOr<std::string> AttrTextOf(const NodeJson& json, int64_t place, int depth) {
  const JsonNode& node = json.node(place);
  if (depth > 8) return Invalid("an attribute is nested too deep");
  if (place == 0 || node.type_key.empty()) return std::string("None");
  if (node.type_key == "Array") {
    std::string text = "[";
    for (const int64_t element : node.data) {
      if (!json.Spend(8)) return Invalid("lists of attributes are too long");
      X2IR_ASSIGN_OR_RETURN(const std::string part, AttrTextOf(json, element, depth + 1));
      StrAppend(&text, text.size() == 1 ? "" : ", ", part);
    }
    return text + "]";
  }
  if (node.has_text) return std::string(node.text);
  if (const std::string_view* value = node.Find("value")) return std::string(*value);
  return Unimplemented("an attribute that is of type ", node.type_key);
}

absl::StatusOr<RelayAttrs> AttrsOf(const NodeJson& json, int64_t place) {
  RelayAttrs attrs;
  if (place == 0) return attrs;
  const JsonNode& node = json.node(place);
  if (node.type_key == "DictAttrs") return attrs;  // of functions, and marks of passes
  const AttrRecord* record = FindAttrRecord(node.type_key);
  const bool transposed = node.type_key.find("TransposeAttrs") != std::string_view::npos &&
                          node.type_key.find("Conv") != std::string_view::npos;
  for (const auto& [name, text] : node.attrs) {
    const AttrField* field = record ? record->Find(name) : nullptr;
    if (!record) return Unimplemented("attributes of type ", node.type_key);
    if (IsAttrOfSchedules(name)) continue;
    if (!field) return Unimplemented("attribute '", name, "' of ", node.type_key);
    // What old versions call OIHW are weights [in, out, ..].
    if (name == "kernel_layout" && transposed && IsOld(json.version())) continue;
    std::string value(text);
    if (field->is_object()) {
      X2IR_ASSIGN_OR_RETURN(const int64_t of, json.Ref(node, name));
      X2IR_ASSIGN_OR_RETURN(value, AttrTextOf(json, of));
    }
    if (!field->IsFallback(value)) attrs.emplace_back(name, std::move(value));
  }
  return attrs;
}

}  // namespace relay
}  // namespace x2ir
