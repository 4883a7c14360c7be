// The registry of dialects, and the check of a graph against a dialect's schemas.
#include "x2ir/core/dialect.h"

#include <functional>
#include <map>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "x2ir/core/derived_dialect.h"
#include "x2ir/core/schema_check.h"
#include "x2ir/core/schema_text_internal.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

NamedRegistry<Dialect>& Dialects() {
  static auto* dialects = new NamedRegistry<Dialect>("dialect");
  return *dialects;
}

const OperandSchema* At(const std::vector<OperandSchema>& operands, size_t i) {
  if (i < operands.size()) return &operands[i];
  return !operands.empty() && operands.back().arity == Arity::kVariadic ? &operands.back()
                                                                        : nullptr;
}

// Whether a tensor of that type, perhaps not known, is among the allowed ones.
bool AllowsTensor(uint32_t dtypes, const Type& type) {
  if (!type.is_tensor() || type.dtype() == DType::kUndefined) return dtypes != 0;
  return (dtypes >> static_cast<int>(type.dtype())) & 1;
}

bool Allows(const OperandSchema& operand, const Type& type) {
  switch (type.kind()) {
    case Type::kUnknown: return true;
    case Type::kTensor:
      return type.dtype() == DType::kUndefined || AllowsTensor(operand.dtypes, type);
    case Type::kSequence:
      if (type.element().kind() == Type::kMap) return operand.non_tensor;
      return operand.non_tensor && AllowsTensor(operand.sequences, type.element());
    case Type::kOptional:
      return operand.non_tensor &&
             (type.element().kind() == Type::kSequence
                  ? AllowsTensor(operand.optional_sequences, type.element().element())
                  : AllowsTensor(operand.optionals, type.element()));
    default: return operand.non_tensor;
  }
}

// The element types of tensors that are allowed, for messages.
std::string AllowedTypes(const OperandSchema& operand) {
  std::string types;
  for (int d = 1; d < kNumDTypes; ++d) {
    if ((operand.dtypes >> d & 1) == 0) continue;
    StrAppend(&types, types.empty() ? "" : ", ", Name(static_cast<DType>(d)));
  }
  return types;
}

}  // namespace

std::string UnknownAttribute(Symbol name, const OpSchema& schema) {
  std::string known;
  for (const AttrSchema& attr : schema.attrs) {
    StrAppend(&known, known.empty() ? "" : ", ", attr.name.str());
  }
  return StrCat("unknown attribute '", name.str(), "'; ",
                known.empty() ? "the op has none" : StrCat("known are ", known));
}

const AttrSchema* OpSchema::FindAttr(Symbol attr) const {
  for (const AttrSchema& a : attrs) {
    if (a.name == attr) return &a;
  }
  return nullptr;
}

const OperandSchema* OpSchema::InputAt(size_t i) const { return At(inputs, i); }
const OperandSchema* OpSchema::OutputAt(size_t i) const { return At(outputs, i); }

int OpSchema::InputIndex(std::string_view operand) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name == operand) return static_cast<int>(i);
  }
  return -1;
}

const Dialect* FindDialect(std::string_view name) { return Dialects().Find(name); }

bool RegisterDialect(Dialect dialect, SourcePlace place) {
  Dialects().Add(std::move(dialect), place);
  return true;
}

int DomainVersion(const Dialect* dialect, std::string_view domain, int opset) {
  if (domain.empty()) return opset;
  return dialect && dialect->domain_version ? dialect->domain_version(domain, opset) : 0;
}

std::pair<std::string_view, std::string_view> SplitOp(std::string_view op) {
  const size_t at = op.find("::");
  if (at == std::string_view::npos) return {"", op};
  return {op.substr(0, at), op.substr(at + 2)};
}

std::vector<std::string> CheckNode(const Node& node, const OpSchema& schema) {
  std::vector<std::string> problems;
  // The first operand or output of each type variable; the others are of the same type.
  struct Bound {
    int var;
    std::string_view operand;
    DType dtype;
  };
  absl::InlinedVector<Bound, 4> bound;
  auto check_var = [&](const OperandSchema& operand, const Type& type) {
    if (operand.type_var < 0 || !type.is_tensor() || type.dtype() == DType::kUndefined) return;
    for (const Bound& b : bound) {
      if (b.var != operand.type_var) continue;
      if (b.dtype != type.dtype()) {
        problems.push_back(StrCat("'", operand.name, "' is ", Name(type.dtype()), " and '",
                                  b.operand, "' is ", Name(b.dtype), "; they must be of one type"));
      }
      return;
    }
    bound.push_back({operand.type_var, operand.name, type.dtype()});
  };
  if (schema.deprecated) problems.push_back(StrCat("deprecated since opset ", schema.since));
  auto operands = [&](const std::vector<OperandSchema>& known, std::string_view what, size_t n,
                      auto value_at) {
    size_t least = 0;
    for (size_t i = 0; i < known.size(); ++i) {
      if (known[i].arity == Arity::kRequired) least = i + 1;
      if (known[i].arity == Arity::kVariadic) least = i + known[i].min;
    }
    if (n < least) {
      problems.push_back(StrCat("too few ", what, "s; expected at least ", least, ", got ", n));
    }
    for (size_t i = 0; i < n; ++i) {
      const OperandSchema* operand = At(known, i);
      if (!operand) {
        problems.push_back(
            StrCat("too many ", what, "s; expected at most ", known.size(), ", got ", n));
        break;
      }
      const Value* value = value_at(i);
      if (!value) {
        if (operand->arity == Arity::kRequired) {
          problems.push_back(StrCat(what, " '", operand->name, "' is left out"));
        }
      } else if (!Allows(*operand, value->type())) {
        const std::string allowed = AllowedTypes(*operand);
        problems.push_back(StrCat(what, " '", operand->name, "' may not be ",
                                  value->type().is_tensor() ? std::string(Name(value->dtype()))
                                                            : value->type().ToString(),
                                  allowed.empty() ? "" : "; expected one of ", allowed));
      } else {
        check_var(*operand, value->type());
      }
    }
  };
  operands(schema.inputs, "operand", node.num_inputs(), [&](size_t i) { return node.input(i); });
  operands(schema.outputs, "output", node.num_outputs(), [&](size_t i) { return node.output(i); });
  for (const AttrSchema& attr : schema.attrs) {
    const Attribute* have = node.attrs().Find(attr.name);
    if (!have && attr.required) {
      problems.push_back(StrCat("attribute '", attr.name.str(), "' is missing"));
    }
    if (have && have->kind() != attr.kind && have->kind() != AttrKind::kRef) {
      problems.push_back(StrCat("attribute '", attr.name.str(), "': expected ", Name(attr.kind),
                                ", got ", Name(have->kind())));
    }
  }
  for (const auto& [name, attr] : node.attrs()) {
    if (!schema.FindAttr(name)) {
      problems.push_back(UnknownAttribute(name, schema));
    }
  }
  return problems;
}

namespace {

std::vector<std::string> CheckGraph(const Model& model, const Dialect& dialect, bool unique_names) {
  std::vector<std::string> problems;
  absl::flat_hash_set<std::string_view> names;  // of nodes
  std::function<void(const Graph&)> visit = [&](const Graph& graph) {
    for (const Node* node : graph.nodes()) {
      for (const Graph* inner : node->subgraphs()) visit(*inner);
      if (unique_names && !node->name().empty() && !names.insert(node->name()).second) {
        problems.push_back(StrCat(Describe(*node), ": another node has the same name"));
      }
      const std::string_view domain = SplitOp(node->op()).first;
      const int64_t opset = model.Opset(domain);
      if (node->dialect() != DialectOfNodes(dialect.name)) {
        problems.push_back(StrCat(Describe(*node), ": not an op of ", dialect.name));
        continue;
      }
      if (dialect.check) {
        for (const std::string& problem : dialect.check(*node)) {
          problems.push_back(StrCat(Describe(*node), ": ", problem));
        }
        if (!dialect.schema) continue;
      }
      if (opset == 0) {
        problems.push_back(StrCat(Describe(*node), ": no opset of domain '", domain, "'"));
        continue;
      }
      const OpSchema* schema =
          dialect.schema ? dialect.schema(node->op(), static_cast<int>(opset)) : nullptr;
      if (!schema) {
        if (domain.empty()) {
          problems.push_back(StrCat(Describe(*node), " (", dialect.name, " opset ", opset,
                                    "): there is no such op"));
        }
        continue;  // nothing is known of other domains' ops
      }
      for (const std::string& problem : CheckNode(*node, *schema)) {
        problems.push_back(
            StrCat(Describe(*node), " (", dialect.name, " opset ", opset, "): ", problem));
      }
      for (size_t i = 0; i < node->num_outputs(); ++i) {
        const OperandSchema* output = schema->OutputAt(i);
        if (node->output(i) || !output || output->arity != Arity::kVariadic) continue;
        problems.push_back(StrCat(Describe(*node), " (", dialect.name, " opset ", opset,
                                  "): output ", i, " of '", output->name, "' is left out"));
      }
    }
  };
  visit(*model.graph);
  return problems;
}

}  // namespace

std::vector<std::string> CheckAgainstSchemas(const Model& model, const Dialect& dialect) {
  return CheckGraph(model, dialect, /*unique_names=*/true);
}

std::vector<std::string> SchemaProblems(const Model& model, const Dialect& dialect) {
  return CheckGraph(model, dialect, /*unique_names=*/false);
}

std::string ProblemsText(const std::vector<std::string>& problems) {
  constexpr size_t kLimit = 20;
  std::string text;
  for (size_t i = 0; i < problems.size() && i < kLimit; ++i) StrAppend(&text, "\n  ", problems[i]);
  if (problems.size() > kLimit) StrAppend(&text, "\n  ... and ", problems.size() - kLimit, " more");
  return text;
}

absl::Status CheckAsRead(const Model& model, const std::string& dialect, Report& report) {
  const Dialect* known = FindDialect(dialect);
  if (!known || !known->schema) return absl::OkStatus();
  const std::vector<std::string> problems = SchemaProblems(model, *known);
  if (!problems.empty()) {
    return Invalid("the model that was read does not pass the check:", ProblemsText(problems));
  }
  report.checks.push_back(StrCat("the model that was read: schemas of ", known->name));
  return absl::OkStatus();
}

}  // namespace x2ir
