// See validate.h.
#include "x2ir/core/validate.h"

#include <algorithm>
#include <set>

#include "x2ir/graph_wrapper/registry.h"

namespace x2ir {
namespace {

using Problems = std::vector<std::string>;

std::string Describe(const Form& form) {
  const bool open = form.opsets.last == std::numeric_limits<int>::max();
  const std::string last = open ? "" : StrCat(form.opsets.last);
  return StrCat(form.place.ToString(), ": ", form.dialect.str(), ".", form.op.str(), " [",
                form.opsets.first, ",", last, "] of ", form.ir_op.str(), ": ");
}

const OpSchema* SchemaOf(const Dialect& dialect, const Form& form, int opset) {
  return dialect.schema ? dialect.schema(form.op, opset) : nullptr;
}

// Whether the dialect has schemas of the domain's ops: then each op of it has one.
bool KnowsDomain(const Dialect& dialect, std::string_view domain) {
  if (!dialect.schema) return false;
  if (domain.empty()) return true;
  for (const Form* form : AllForms(dialect.name)) {
    if (SplitOp(form->op.view()).first != domain) continue;
    if (SchemaOf(dialect, *form, form->opsets.first)) return true;
  }
  return false;
}

// The op exists at every opset of the interval, with the attributes that lenses name. What is
// deprecated may be read, but not written.
void CheckSchemas(const Form& form, const Dialect& dialect, Problems& problems) {
  const std::string_view domain = SplitOp(form.op.view()).first;
  const int newest = DomainVersion(&dialect, domain, dialect.latest_opset);
  const int last = std::min(form.opsets.last, newest != 0 ? newest : form.opsets.first);
  std::set<std::string> attrs;
  for (int opset = form.opsets.first; opset <= last; ++opset) {
    const OpSchema* schema = SchemaOf(dialect, form, opset);
    if (!schema || (schema->deprecated && form.exports)) {
      problems.push_back(
          StrCat(Describe(form), schema ? "deprecated" : "does not exist", " at opset ", opset));
      break;
    }
    for (const AttrSchema& attr : schema->attrs) attrs.insert(attr.name.str());
  }
  std::set<std::string> named;
  for (const Lens& lens : form.lenses) {
    for (const std::string& name : lens->ForeignAttrs()) {
      if (name.empty() || attrs.contains(name) || !named.insert(name).second) continue;
      problems.push_back(StrCat(Describe(form), "a lens names attribute '", name,
                                "', which no version of its interval has"));
    }
  }
}

// Without a schema nothing that has no default gets to the other side but by a lens.
void CheckAllIsNamed(const Form& form, const OpDef& def, Problems& problems) {
  if (form.code || !form.exports) return;
  std::set<std::string> named;
  for (const Lens& lens : form.lenses) {
    for (const std::string& name : lens->IrAttrs()) named.insert(name);
  }
  for (const AttrDef& attr : def.attrs()) {
    if (attr.default_value || attr.optional || named.contains(attr.name.str())) continue;
    problems.push_back(StrCat(Describe(form), "no lens names IR attribute '", attr.name.str(),
                              "', which has no default"));
  }
}

}  // namespace

std::vector<std::string> ValidateForm(const Form& form) {
  Problems problems;
  const auto problem = [&](const auto&... what) {
    problems.push_back(StrCat(Describe(form), what...));
  };
  if (form.opsets.first > form.opsets.last || form.opsets.first < 1) problem("an empty interval");
  if (!form.imports && !form.exports) problem("neither imports nor exports");

  const OpDef* def = FindOp(form.ir_op);
  if (!def) {
    problem("there is no IR op '", form.ir_op.str(), "'");
  } else {
    for (const Lens& lens : form.lenses) {
      for (const std::string& name : lens->IrAttrs()) {
        if (!def->FindAttr(name))
          problem("a lens names IR attribute '", name, "', which the op does not have");
      }
      for (const std::string& name : lens->IrOperands()) {
        if (def->InputIndex(name) < 0) {
          problem("a lens names IR operand '", name, "', which the op does not have");
        }
      }
    }
  }
  const Dialect* dialect = FindDialect(form.dialect.view());
  if (dialect && KnowsDomain(*dialect, SplitOp(form.op.view()).first)) {
    CheckSchemas(form, *dialect, problems);
  } else if (def) {
    CheckAllIsNamed(form, *def, problems);
  }
  return problems;
}

std::vector<std::string> ValidateDialect(std::string_view name) {
  Problems problems = RegistrationProblems();
  if (const absl::Status linked = CheckOpsAreLinked(); !linked.ok()) {
    problems.emplace_back(linked.message());
    return problems;
  }
  const std::vector<const Form*> forms = AllForms(name);
  if (forms.empty() || name.empty()) {
    problems.push_back(StrCat("no handlers of '", name, "' are linked in"));
  }
  for (const Form* form : forms) {
    for (std::string& problem : ValidateForm(*form)) problems.push_back(std::move(problem));
  }
  return problems;
}

}  // namespace x2ir
