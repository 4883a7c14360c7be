// The registry of forms, and how a form runs in either direction.
#include "x2ir/core/spec.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "x2ir/core/derived_dialect.h"
#include "x2ir/core/schema_text_internal.h"
#include "x2ir/core/validate.h"
#include "x2ir/graph_wrapper/registry.h"
#include "x2ir/ops/whole_attrs.h"
#include "x2ir/optimizer/lowering_util.h"

namespace x2ir {
namespace {

using Key = std::pair<Symbol, Symbol>;

struct Forms {
  using Entry = std::shared_ptr<const Form>;
  using OfOp = absl::InlinedVector<const Form*, 2>;
  std::vector<Entry> all;
  absl::flat_hash_set<Symbol> dialects;
  absl::flat_hash_map<Key, OfOp> by_foreign;  // (dialect, foreign op)
  absl::flat_hash_map<Key, OfOp> by_ir;       // (dialect, IR op)

  void Reserve(size_t more) {
    all.reserve(all.size() + more);
    by_foreign.reserve(by_foreign.size() + more);
    by_ir.reserve(by_ir.size() + more);
  }
  void Add(Entry form) {
    AddTo(by_foreign[Key{form->dialect, form->op}], form.get(), &Form::imports);
    AddTo(by_ir[Key{form->dialect, form->ir_op}], form.get(), &Form::exports);
    dialects.insert(form->dialect);
    all.push_back(std::move(form));
  }

 private:
  // At each opset there is at most one form in a direction.
  static void AddTo(OfOp& forms, const Form* form, bool Form::*direction) {
    for (const Form* other : forms) {
      if (!(form->*direction) || !(other->*direction)) continue;
      const int first = std::max(form->opsets.first, other->opsets.first);
      if (first > std::min(form->opsets.last, other->opsets.last)) continue;
      const std::string_view dialect = form->dialect, op = form->op, ir_op = form->ir_op;
      const std::string what = direction == &Form::imports
                                   ? StrCat("the import form of ", dialect, ".", op)
                                   : StrCat("the export form of ", ir_op, " to ", dialect);
      AddDuplicate(StrCat(what, " at opset ", first), other->place, form->place);
    }
    forms.push_back(form);
  }
};

Registry<Forms>& FormTable() {
  static auto* forms = new Registry<Forms>;
  return *forms;
}

template <typename OpsetOf>
const Form* Newest(const absl::flat_hash_map<Key, Forms::OfOp>& index, Symbol dialect, Symbol op,
                   const OpsetOf& opset_of, bool Form::*direction) {
  auto it = index.find(Key{dialect, op});
  if (it == index.end()) return nullptr;
  const Form* best = nullptr;
  for (const Form* form : it->second) {
    if (!(form->*direction) || !form->opsets.contains(opset_of(*form))) continue;
    if (!best || form->opsets.first > best->opsets.first) best = form;
  }
  return best;
}

const OpSchema* SchemaOf(Symbol dialect, Symbol op, int opset) {
  const Dialect* d = FindDialect(dialect.view());
  return d && d->schema ? d->schema(op, opset) : nullptr;
}

// The first version of the op that knows the attribute.
FirstVersion FirstOpsetWithAttr(const Dialect& dialect, Symbol op, Symbol attr) {
  for (const OpSchema* schema : dialect.versions(op)) {
    if (schema->FindAttr(attr)) return {schema->since};
  }
  return {};
}

}  // namespace

void Spec::AddPart(Form& form, Lens lens) {
  // ImportOnly and ExportOnly are lenses without effect of their own.
  if (lens == ImportOnly()) {
    form.exports = false;
  } else if (lens == ExportOnly()) {
    form.imports = false;
  } else {
    form.lenses.push_back(std::move(lens));
  }
}

void Spec::AddPart(Form& form, const std::vector<Lens>& lenses) {
  for (const Lens& lens : lenses) AddPart(form, lens);
}

void Spec::AddPart(Form& form, Code code) {
  form.imports = form.imports && code.import != nullptr;
  form.exports = form.exports && code.export_ != nullptr;
  form.code = std::move(code);
}

void Spec::Register(Form form) {
  if (form.code && !form.lenses.empty()) {
    AddRegistrationProblem(StrCat(form.dialect.str(), ".", form.op.str(), " of ", form.ir_op.str(),
                                  " has code and lenses: at ", form.place.ToString()));
  }
  FormTable().Add(std::make_shared<const Form>(std::move(form)));
}

const Form* FindImportForm(Symbol dialect, Symbol op, int opset) {
  return Newest(
      FormTable().Get().by_foreign, dialect, op, [=](const Form&) { return opset; },
      &Form::imports);
}

const Form* FindExportForm(Symbol dialect, Symbol ir_op, int opset) {
  return FindExportForm(dialect, ir_op, [=](std::string_view) { return opset; });
}

const Form* FindExportForm(Symbol dialect, Symbol ir_op,
                           const std::function<int(std::string_view domain)>& opset_of) {
  const auto of_form = [&](const Form& form) { return opset_of(SplitOp(form.op.view()).first); };
  const auto newest = [&](Symbol of) {
    return Newest(FormTable().Get().by_ir, of, ir_op, of_form, &Form::exports);
  };
  const Form* own = newest(dialect);
  const DerivedDialect* derived = own ? nullptr : FindDerivedDialect(dialect);
  if (!derived) return own;
  const Form* base = newest(derived->base);
  return base && derived->has(base->op) ? base : nullptr;
}

bool HasForms(Symbol dialect) {
  return FormTable().Get().dialects.contains(DialectOfNodes(dialect));
}

std::vector<const Form*> AllForms(std::string_view dialect) {
  std::vector<const Form*> forms;
  for (const auto& form : FormTable().Get().all) {
    if (dialect.empty() || form->dialect == dialect) forms.push_back(form.get());
  }
  std::sort(forms.begin(), forms.end(), [](const Form* a, const Form* b) {
    auto key = [](const Form* f) {
      return std::make_tuple(f->dialect, f->ir_op, f->op, f->opsets.first, f->opsets.last);
    };
    return key(a) < key(b);
  });
  return forms;
}

// --- Draft ------------------------------------------------------------------------------

Draft::Draft(Rewrite& rewrite, bool importing, const OpDef& def, const OpSchema* schema)
    : r_(rewrite),
      importing_(importing),
      def_(def),
      schema_(schema),
      attr_taken_(rewrite.node.attrs().size(), false),
      operand_taken_(rewrite.node.num_inputs(), false) {}

bool Draft::SourceHasAttr(Symbol name) const { return node().attrs().Has(name); }

bool Draft::IsTaken(Symbol name) const {
  size_t i = 0;
  for (const auto& entry : node().attrs()) {
    if (entry.first == name) return attr_taken_[i];
    ++i;
  }
  return false;
}

std::optional<Attribute> Draft::TakeAttr(Symbol name) {
  size_t i = 0;
  for (const auto& [have, attr] : node().attrs()) {
    if (have == name) {
      attr_taken_[i] = true;
      return attr;
    }
    ++i;
  }
  if (importing_) {
    const AttrSchema* attr = schema_ ? schema_->FindAttr(name) : nullptr;
    return attr ? attr->default_value : std::nullopt;
  }
  const AttrDef* attr = def_.FindAttr(name);
  return attr ? attr->default_value : std::nullopt;
}

int Draft::SourceIndex(std::string_view name) const {
  if (!importing_) return def_.InputIndex(name);
  return schema_ ? schema_->InputIndex(name) : def_.InputIndex(name);
}

int Draft::TargetIndex(std::string_view name) const {
  if (importing_) return def_.InputIndex(name);
  return schema_ ? schema_->InputIndex(name) : def_.InputIndex(name);
}

Value* Draft::TakeOperand(std::string_view name) {
  const int index = SourceIndex(name);
  return index < 0 ? nullptr : TakeOperandAt(index);
}

Value* Draft::TakeOperandAt(size_t i) {
  if (i >= operand_taken_.size()) return nullptr;
  operand_taken_[i] = true;
  return node().input(i);
}

void Draft::SetAttr(Symbol name, Attribute value) { attrs_.Set(name, std::move(value)); }

absl::Status Draft::SetOperand(std::string_view name, Value* value) {
  const int index = TargetIndex(name);
  if (index < 0) return Internal("there is no operand '", name, "'");
  SetOperandAt(index, value);
  return absl::OkStatus();
}

void Draft::SetOperandAt(size_t i, Value* value) {
  if (operands_.size() <= i) operands_.resize(i + 1);
  operands_[i] = value;
}

std::vector<Value*> Draft::FinishOperands() {
  size_t to = 0;
  for (size_t i = 0; i < operand_taken_.size(); ++i) {
    if (operand_taken_[i]) continue;
    while (to < operands_.size() && operands_[to].has_value()) ++to;
    SetOperandAt(to++, node().input(i));
  }
  std::vector<Value*> values;
  for (const auto& operand : operands_) values.push_back(operand.value_or(nullptr));
  while (!values.empty() && !values.back()) values.pop_back();
  // An operand before a variadic one cannot be dropped, only left empty.
  if (!importing_ && schema_ && !schema_->inputs.empty() &&
      schema_->inputs.back().arity == Arity::kVariadic) {
    values.resize(std::max(values.size(), schema_->inputs.size() - 1));
  }
  return values;
}

// --- Running forms ----------------------------------------------------------------------

namespace {

// What the foreign op has where its node says nothing.
void TakeDefaults(const OpDef& def, const OpSchema& schema, const Node& node, AttributeMap& attrs) {
  for (const AttrDef& own : def.attrs()) {
    if (attrs.Has(own.name) || node.attrs().Has(own.name)) continue;
    const AttrSchema* known = schema.FindAttr(own.name);
    if (known && known->default_value && known->kind == own.kind) {
      attrs.Set(own.name, *known->default_value);
    }
  }
}

// Attributes equal to the schema's default need not be written; the rest is in schema order.
AttributeMap WithoutDefaults(const OpSchema& schema, AttributeMap attrs) {
  AttributeMap written;
  for (const AttrSchema& known : schema.attrs) {
    std::optional<Attribute> attr = attrs.Take(known.name);
    if (attr && (known.required || !known.default_value || *known.default_value != *attr)) {
      written.Set(known.name, *std::move(attr));
    }
  }
  for (auto& [name, attr] : attrs) written.Set(name, std::move(attr));
  return written;
}

bool RenamesOnly(const Form& form, const Node& node, bool importing) {
  return !form.code && std::all_of(form.lenses.begin(), form.lenses.end(),
                                   [&](const Lens& lens) { return lens->Leaves(node, importing); });
}

}  // namespace

absl::StatusOr<Values> RunImport(const Form& form, Rewrite& r) {
  if (form.code) return form.code->import(r);
  const OpDef* def = FindOp(form.ir_op);
  if (!def) return NoSuchOp(form.ir_op);
  const OpSchema* schema = SchemaOf(form.dialect, form.op, r.opset);
  Draft draft(r, /*importing=*/true, *def, schema);
  for (const Lens& lens : form.lenses) X2IR_RETURN_IF_ERROR(lens->Import(draft));

  size_t i = 0;
  for (const auto& [name, attr] : r.node.attrs()) {
    if (draft.attr_taken_[i++]) continue;
    const AttrSchema* known = schema ? schema->FindAttr(name) : nullptr;
    if (schema && !known) return Invalid(UnknownAttribute(name, *schema));
    if (attr.kind() == AttrKind::kRef) {
      return Unimplemented("attribute '", name.str(),
                           "' refers to an attribute of an enclosing function");
    }
    if (known && attr.kind() != known->kind) {
      return Invalid("attribute '", name.str(), "': expected ", Name(known->kind), ", got ",
                     Name(attr.kind()));
    }
    if (def->FindAttr(name)) {
      if (!draft.attrs_.Has(name)) draft.SetAttr(name, attr);
    } else if (!known || !known->default_value || *known->default_value != attr) {
      return Unimplemented("attribute '", name.str(), "' = ", attr.ToString(),
                           " has no counterpart in IR op '", form.ir_op.str(), "'");
    }
  }
  if (schema) TakeDefaults(*def, *schema, r.node, draft.attrs_);
  return r.b.Ops(form.ir_op, draft.FinishOperands(), std::move(draft.attrs_),
                 WantedOutputs(r.node));
}

std::optional<AttributeMap> PlainImport(const Form& form, const Node& node,
                                        const OpSchema& schema) {
  const OpDef* def = RenamesOnly(form, node, /*importing=*/true) ? FindOp(form.ir_op) : nullptr;
  if (!def) return std::nullopt;
  for (const auto& [name, attr] : node.attrs()) {
    const AttrSchema* known = schema.FindAttr(name);
    if (!known || known->kind != attr.kind() || !def->FindAttr(name)) return std::nullopt;
  }
  AttributeMap attrs = node.attrs();
  TakeDefaults(*def, schema, node, attrs);
  return WholeAttrs(*def, std::move(attrs));
}

std::optional<AttributeMap> PlainExport(const Form& form, const Node& node,
                                        const OpSchema& schema) {
  if (!RenamesOnly(form, node, /*importing=*/false)) return std::nullopt;
  for (const auto& [name, attr] : node.attrs()) {
    if (!schema.FindAttr(name)) return std::nullopt;
  }
  return WithoutDefaults(schema, node.attrs());
}

absl::StatusOr<Values> RunExport(const Form& form, Rewrite& r) {
  if (form.code) return form.code->export_(r);
  const OpDef* def = FindOp(form.ir_op);
  if (!def) return NoSuchOp(form.ir_op);
  const OpSchema* schema = SchemaOf(form.dialect, form.op, r.opset);
  Draft draft(r, /*importing=*/false, *def, schema);
  for (const Lens& lens : form.lenses) X2IR_RETURN_IF_ERROR(lens->Export(draft));

  size_t i = 0;
  for (const auto& [name, attr] : r.node.attrs()) {
    if (draft.attr_taken_[i++]) continue;
    const AttrDef* own = def->FindAttr(name);
    if (schema && schema->FindAttr(name)) {
      draft.SetAttr(name, attr);
    } else if (!own || !own->default_value || *own->default_value != attr) {
      if (!schema) {
        return CannotExpress("attribute '", name.str(), "' = ", attr.ToString(),
                             " has no counterpart in ", form.op.str(),
                             ": the row of the op does not name it");
      }
      const Dialect* known = FindDialect(form.dialect.view());
      const bool versioned = known && known->versions;
      const FirstVersion since =
          versioned ? FirstOpsetWithAttr(*known, form.op, name) : FirstVersion{};
      return CannotExpress("attribute '", name.str(), "' = ", attr.ToString(),
                           " cannot be expressed by ", form.op.str(), " at opset ", r.opset, since,
                           versioned && !since.known() ? "; no opset has it" : "");
    }
  }
  AttributeMap attrs = std::move(draft.attrs_);
  if (schema) attrs = WithoutDefaults(*schema, std::move(attrs));
  std::vector<bool> wanted = WantedOutputs(r.node);
  wanted.resize(std::max(wanted.size(), draft.needed_outputs_));
  std::fill_n(wanted.begin(), draft.needed_outputs_, true);
  for (size_t i = 0; schema && i < wanted.size(); ++i) {
    // IR may leave out an output that the target's op always has.
    const OperandSchema* output = schema->OutputAt(i);
    if (output && output->arity == Arity::kRequired) wanted[i] = true;
  }
  return r.b.Node(form.dialect, form.op, draft.FinishOperands(), std::move(attrs), wanted);
}

}  // namespace x2ir
