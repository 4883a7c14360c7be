// Builder: appends nodes and infers them at once.
#include "x2ir/ops/builder.h"

#include <algorithm>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/splice.h"
#include "x2ir/ops/whole_attrs.h"

namespace x2ir {

Value* Builder::Op(Symbol op, Operands operands, AttributeMap attrs) {
  return Ops(op, operands, std::move(attrs), 1)[0];
}

std::vector<Value*> Builder::Ops(Symbol op, Operands operands, AttributeMap attrs,
                                 size_t num_outputs) {
  return Ops(op, operands, std::move(attrs), std::vector<bool>(num_outputs, true));
}

AttributeMap WholeAttrs(const OpDef& def, AttributeMap attrs) {
  AttributeMap whole;
  for (const AttrDef& attr : def.attrs()) {
    if (std::optional<Attribute> given = attrs.Take(attr.name)) {
      whole.Set(attr.name, *std::move(given));
    } else if (attr.default_value) {
      whole.Set(attr.name, *attr.default_value);
    }
  }
  for (auto& [name, attr] : attrs) whole.Set(name, std::move(attr));
  return whole;
}

std::vector<Value*> Builder::Ops(Symbol op, Operands operands, AttributeMap attrs,
                                 const std::vector<bool>& wanted) {
  const OpDef* def = FindOp(op);
  if (!def) Fail(Internal("there is no IR op '", op.str(), "'"));
  if (def) attrs = WholeAttrs(*def, std::move(attrs));
  while (!operands.empty() && !operands.back()) operands.remove_suffix(1);  // left out at the end
  std::vector<Value*> outputs = Node(kIrDialect, op, operands, std::move(attrs), wanted);
  if (status_.ok()) {
    if (absl::Status status = InferNode(*at_.made.back()); !status.ok()) {
      Fail(Annotate(status, op.str()));
    }
  }
  return outputs;
}

std::vector<Value*> Builder::Node(Symbol dialect, Symbol op, Operands operands, AttributeMap attrs,
                                  const std::vector<bool>& wanted) {
  x2ir::Node* node = at_.graph->InsertNode(at_.before, dialect, op, operands);
  at_.made.push_back(node);
  for (auto& [name, attr] : attrs) node->SetAttr(name, std::move(attr));
  std::vector<Value*> outputs;
  for (bool want : wanted) {
    if (want) {
      outputs.push_back(at_.graph->AddNodeOutput(node, ""));
    } else {
      at_.graph->AddMissingOutput(node);
      outputs.push_back(nullptr);
    }
  }
  return outputs;
}

Value* Builder::Constant(Tensor tensor, std::string_view hint) {
  // One in words is the more particular one.
  std::string base = at_.name_hint.empty() && at_.hint_of ? HintOf(*at_.hint_of) : at_.name_hint;
  // "conv/kernel" or "conv_kernel" made anew for the node "conv" says both already.
  const bool whole = !base.empty() && hint.size() > base.size() + 1 && hint.starts_with(base) &&
                     (hint[base.size()] == '/' || hint[base.size()] == '_');
  if (whole) {
    base = hint;
  } else if (!hint.empty() || base.empty()) {
    StrAppend(&base, base.empty() ? "" : "_", hint.empty() ? std::string_view("const") : hint);
  } else {
    base += "_const";
  }
  Value* value = at_.graph->AddConstant(at_.graph->UniqueName(base), std::move(tensor));
  at_.constants.push_back(value);
  return value;
}

Value* Builder::Ints(absl::Span<const int64_t> values, std::string_view hint) {
  return Constant(Tensor::Vector(values), hint);
}

Value* Builder::Int(int64_t value, std::string_view hint) {
  return Constant(Tensor::Scalar<int64_t>(value), hint);
}

Value* Builder::Scalar(DType dtype, double value, std::string_view hint) {
  if (dtype == DType::kUndefined || dtype == DType::kString) {
    Fail(Unimplemented("a number of element type ", Name(dtype)));
    dtype = DType::kFloat32;
  }
  return Constant(Tensor::ScalarOf(dtype, value), hint);
}

bool Builder::MadeConstant(const Value* value) const {
  return std::find(at_.constants.begin(), at_.constants.end(), value) != at_.constants.end();
}

void Builder::SwapNames(Value* from, Value* made) {
  at_.graph->SwapNames(from, made);
  at_.swapped.emplace_back(from, made);
}

void Builder::Rollback() {
  for (auto it = at_.swapped.rbegin(); it != at_.swapped.rend(); ++it)
    at_.graph->SwapNames(it->first, it->second);
  at_.swapped.clear();
  for (auto it = at_.made.rbegin(); it != at_.made.rend(); ++it) at_.graph->EraseUnused(*it);
  at_.made.clear();
  for (auto it = at_.constants.rbegin(); it != at_.constants.rend(); ++it)
    at_.graph->RemoveConstant(*it);
  at_.constants.clear();
}

}  // namespace x2ir
