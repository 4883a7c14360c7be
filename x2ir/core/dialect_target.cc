// See dialect_target.h.
#include "x2ir/core/dialect_target.h"

#include <algorithm>
#include <utility>

#include "x2ir/core/kernels.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

int Imported(const std::vector<OpsetImport>& imports, std::string_view domain) {
  for (const OpsetImport& import : imports) {
    if (import.domain == domain) return static_cast<int>(import.version);
  }
  return 0;
}

// The schema's operand that an operand of the IR op is: the one of its name, else the one in its
// place, unless that one is another operand of the IR op. Null when there is none.
const OperandSchema* OperandOf(const OpDef& def, const OpSchema& schema, size_t i) {
  const OperandDef* operand = def.InputDef(i);
  if (!operand) return nullptr;
  if (const int named = schema.InputIndex(operand->name); named >= 0) {
    return schema.InputAt(static_cast<size_t>(named));
  }
  const OperandSchema* placed = schema.InputAt(i);
  return placed && def.InputIndex(placed->name) < 0 ? placed : nullptr;
}

bool TakesOperand(const Form& form, const OpDef& def, const OpSchema* schema,
                  const Fact::Operand& operand) {
  const OperandDef* defined = def.InputDef(operand.index);
  if (!defined) return false;
  for (const Lens& lens : form.lenses) {
    if (!lens->TakesOperand(defined->name)) return false;
  }
  if (!schema) return true;
  const OperandSchema* known = OperandOf(def, *schema, operand.index);
  return known && (operand.dtype == DType::kUndefined ||
                   (known->dtypes >> static_cast<int>(operand.dtype) & 1) != 0);
}

bool SaysAttr(const Form& form, const OpDef& def, const OpSchema* schema, Symbol name,
              const Attribute& value) {
  if (form.code && form.code->says) return form.code->says(name, value);
  for (const Lens& lens : form.lenses) {
    const std::vector<std::string> names = lens->IrAttrs();
    if (std::find(names.begin(), names.end(), name.view()) != names.end()) {
      return lens->Says(name, value, schema);
    }
  }
  if (schema ? schema->FindAttr(name) != nullptr : form.code.has_value()) return true;
  const AttrDef* attr = def.FindAttr(name);
  return attr && attr->default_value && *attr->default_value == value;
}

}  // namespace

DialectTarget::DialectTarget(Symbol dialect, std::vector<OpsetImport> imports,
                             const std::vector<std::string>& lacks_ops)
    : dialect_(dialect),
      known_(FindDialect(dialect.view())),
      imports_(std::move(imports)),
      lacks_ops_(lacks_ops.begin(), lacks_ops.end()),
      opset_(Imported(imports_, "")) {}

int DialectTarget::OpsetOf(std::string_view domain, int opset) const {
  if (domain.empty()) return opset;
  if (const int own = Imported(imports_, domain)) return own;
  const int known = DomainVersion(known_, domain, opset);
  return known != 0 ? known : opset;
}

const Form* DialectTarget::FormAt(Symbol op, int opset) const {
  const Form* form =
      FindExportForm(dialect_, op, [&](std::string_view domain) { return OpsetOf(domain, opset); });
  return form && lacks_ops_.contains(form->op) ? nullptr : form;
}

bool DialectTarget::Holds(const Fact& fact) const {
  if (!fact.operand || fact.attr) return HoldsAt(fact, opset_);
  const std::tuple key(fact.op, fact.operand->index, fact.operand->dtype);
  const auto [it, fresh] = known_operands_.try_emplace(key, false);
  if (fresh) it->second = HoldsAt(fact, opset_);
  return it->second;
}

bool DialectTarget::HoldsAt(const Fact& fact, int opset) const {
  const Form* form = FormAt(fact.op, opset);
  if (!form) return false;
  const OpDef* def = FindOp(fact.op);
  if (!def) return false;
  const int own = OpsetOf(SplitOp(form->op.view()).first, opset);
  const OpSchema* schema = known_ && known_->schema ? known_->schema(form->op, own) : nullptr;
  if (fact.operand &&
      (!TakesOperand(*form, *def, schema, *fact.operand) ||
       LacksKernel(dialect_.view(), form->op, own, fact.operand->index, fact.operand->dtype))) {
    return false;
  }
  return !fact.attr || SaysAttr(*form, *def, schema, fact.attr->first, fact.attr->second);
}

FirstVersion DialectTarget::Later(const Fact& fact) const {
  for (int later = opset_ + 1; known_ && later <= known_->latest_opset; ++later) {
    if (HoldsAt(fact, later)) return {later};
  }
  return {};
}

}  // namespace x2ir
