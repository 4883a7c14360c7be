// What handlers of MIL's operations share.
#include "x2ir/handlers/coreml/coreml.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "x2ir/core/dialect.h"
#include "x2ir/formats/coreml/coreml.h"
#include "x2ir/handlers/coreml/classifier.h"
#include "x2ir/handlers/coreml/finish.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

OpSchema SchemaOf(const coreml::MilOp& op) {
  OpSchema schema;
  schema.name = std::string(op.name);
  for (const coreml::MilArgument& argument : op.arguments) {
    if (argument.kind != coreml::MilKind::kOperand) {
      AttrSchema& attr = schema.attrs.emplace_back();
      attr.name = Symbol(argument.name);
      attr.kind = coreml::KindOf(argument.kind);
      attr.required = !argument.optional;
      attr.default_value = argument.default_value;
      continue;
    }
    OperandSchema& operand = schema.inputs.emplace_back();
    operand.name = std::string(argument.name);
    if (argument.optional) operand.arity = Arity::kOptional;
    if (argument.many) {
      operand.arity = Arity::kVariadic;
      operand.min = 0;
    }
    operand.non_tensor = op.dtypes == 0;
    if (schema.inputs.size() == 1 && op.dtypes != 0) operand.dtypes = op.dtypes;
  }
  // Nested graphs, of those that have any.
  if (op.name == "cond" || op.name == "while_loop") {
    schema.attrs.push_back({"block_0", AttrKind::kGraph});
    schema.attrs.push_back({"block_1", AttrKind::kGraph});
  }
  OperandSchema result{.name = "result"};
  result.non_tensor = true;
  if (op.results < 0) {
    result.arity = Arity::kVariadic;
    result.min = 0;
    schema.outputs.push_back(result);
  }
  for (int i = 0; i < op.results; ++i) {
    result.name = StrCat("result_", i);
    if (i > 0) result.arity = Arity::kOptional;
    schema.outputs.push_back(result);
  }
  return schema;
}

const OpSchema* MilSchema(Symbol op, int) {
  static const auto* const schemas = [] {
    auto* all = new std::map<std::string_view, OpSchema>;
    for (const coreml::MilOp& each : coreml::AllMilOps()) (*all)[each.name] = SchemaOf(each);
    return all;
  }();
  const auto it = schemas->find(op.view());
  return it == schemas->end() ? nullptr : &it->second;
}

// Results without uses are left out, so that forms need not compute them.
void DropUnused(Graph& graph) {
  for (Node* node : graph.nodes()) {
    for (Graph* inner : node->subgraphs()) DropUnused(*inner);
    for (size_t i = 1; i < node->num_outputs(); ++i) {
      const Value* output = node->output(i);
      if (output && output->is_unused()) graph.RemoveUnusedOutput(node, i);
    }
  }
}

absl::Status PrepareCoreml(Model& model, std::vector<std::string>&) {
  DropUnused(*model.graph);
  return absl::OkStatus();
}

[[maybe_unused]] const bool kRegistered =
    RegisterDialect({.name = std::string(coreml::kDialect),
                     .schema = MilSchema,
                     .reads_without_schemas = true,
                     .domain_version = [](std::string_view, int) { return 1; },
                     .layout = "channels_first",
                     .holds_any_ops = false,
                     .after_read = PrepareCoreml,
                     .before_passes = ReadyForCoreml,
                     .before_write = FinishCoreml});

}  // namespace

// --- Reading -------------------------------------------------------------------------------------

Expr MilArgs::Opt(std::string_view name) {
  const auto index = spec_ ? spec_->OperandIndex(name) : std::nullopt;
  return index && has(*index) ? in(*index) : Expr(nullptr);
}

bool MilArgs::Has(std::string_view name) const {
  const auto index = spec_ ? spec_->OperandIndex(name) : std::nullopt;
  return index && has(*index);
}

Expr MilArgs::X(std::string_view name) {
  const Expr x = Opt(name);
  if (!x.value()) Fail(Invalid("argument '", name, "' is missing"));
  return x;
}

absl::StatusOr<std::vector<int64_t>> MilArgs::KnownList(std::string_view name) {
  const auto known = x2ir::KnownInts(X(name));
  if (!known) return Unimplemented("argument '", name, "' is computed; expected a constant");
  return *known;
}

int64_t MilArgs::Int(Symbol name) {
  const coreml::MilArgument* argument = spec_ ? spec_->Find(name.view()) : nullptr;
  const int64_t* fallback =
      argument && argument->default_value ? argument->default_value->get<int64_t>() : nullptr;
  return NodeReader::Int(name, fallback ? *fallback : 0);
}

double MilArgs::Number(Symbol name) {
  const coreml::MilArgument* argument = spec_ ? spec_->Find(name.view()) : nullptr;
  const float* fallback =
      argument && argument->default_value ? argument->default_value->get<float>() : nullptr;
  return NodeReader::Float(name, fallback ? *fallback : 0);
}

std::string MilArgs::Text(Symbol name) {
  const coreml::MilArgument* argument = spec_ ? spec_->Find(name.view()) : nullptr;
  const std::string* fallback =
      argument && argument->default_value ? argument->default_value->get<std::string>() : nullptr;
  return NodeReader::String(name, fallback ? *fallback : "");
}

std::vector<int64_t> MilArgs::List(Symbol name, std::vector<int64_t> fallback) {
  return IntList(name, std::move(fallback));
}

Expr MilArgs::Scalar(Symbol name, DType type, double fallback) {
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  const Tensor* tensor = attr ? attr->get<Tensor>() : nullptr;
  if (attr && !tensor) Fail(Invalid("attribute '", name.view(), "' is no number"));
  if (!tensor) return {b(), b().Scalar(type, fallback)};
  if (tensor->dtype() == type) return {b(), b().Constant(*tensor)};
  if (type == DType::kBool)
    return {b(), b().Constant(Tensor::Scalar<bool>(tensor->AsDouble(0) != 0))};
  return {b(), b().Scalar(type, tensor->AsDouble(0))};
}

// --- Writing -------------------------------------------------------------------------------------

Values MilWriter::MilAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                         const std::vector<bool>& wanted, const std::vector<x2ir::Type>& results) {
  return Make(coreml::kDialect, op, std::move(operands), std::move(attrs), wanted, results);
}

Value* MilWriter::Mil(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                      x2ir::Type result) {
  return MilAll(op, std::move(operands), std::move(attrs), {true}, {std::move(result)})[0];
}

absl::StatusOr<std::vector<int64_t>> MilWriter::Sizes(const Value* x) const {
  const auto sizes = x && x->shape() ? x->shape()->Static() : std::nullopt;
  if (!sizes) return CannotExpress("sizes that are not known");
  return *sizes;
}

std::optional<double> MilWriter::NumberOf(const Value* x) {
  const std::optional<Tensor> tensor = x ? KnownTensor(*x) : std::nullopt;
  if (!tensor || tensor->num_elements() != 1 || tensor->is_string()) return std::nullopt;
  return tensor->AsDouble(0);
}

absl::StatusOr<const Tensor*> MilWriter::Constant(size_t i, std::string_view what) const {
  const Tensor* tensor = has(i) ? in(i)->fixed_constant() : nullptr;
  if (!tensor || tensor->is_sparse()) return CannotExpress("computed ", what);
  return tensor;
}

}  // namespace x2ir
