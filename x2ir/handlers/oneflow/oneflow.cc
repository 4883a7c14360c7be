// What handlers of OneFlow's operators share.
#include "x2ir/handlers/oneflow/oneflow.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/node_marks.h"
#include "x2ir/core/dialect.h"
#include "x2ir/handlers/oneflow/finish.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Operators whose indices never count from the end.
constexpr std::string_view kFromTheFront[] = {"gather",
                                              "gather_nd",
                                              "dim_gather",
                                              "dim_scatter_add",
                                              "dim_scatter_mul",
                                              "dim_scatter_update",
                                              "one_hot",
                                              "tensor_scatter_nd_add",
                                              "tensor_scatter_nd_update"};

// --- Schemas ------------------------------------------------------------------------------------

std::vector<OperandSchema> OperandsOf(const std::vector<oneflow::OperandSpec>& specs) {
  std::vector<OperandSchema> operands;
  for (const oneflow::OperandSpec& spec : specs) {
    OperandSchema& operand = operands.emplace_back();
    operand.name = std::string(spec.name);
    if (spec.count == oneflow::Count::kOptional) operand.arity = Arity::kOptional;
    if (spec.count == oneflow::Count::kMany) {
      operand.arity = Arity::kVariadic;
      operand.min = 0;
    }
  }
  return operands;
}

const std::map<std::string_view, OpSchema>& Schemas() {
  static const auto* const schemas = [] {
    auto* all = new std::map<std::string_view, OpSchema>;
    for (const oneflow::OpSpec& spec : oneflow::AllOps()) {
      OpSchema& schema = (*all)[spec.name];
      schema.name = std::string(spec.name);
      schema.inputs = OperandsOf(spec.inputs);
      // A name after a group of operands has no fixed index: an attribute has the group sizes.
      if (spec.has_segments()) {
        schema.inputs = OperandsOf({{"operands", oneflow::Count::kMany}});
        schema.attrs.push_back({oneflow::kSegments, AttrKind::kInts});
      }
      schema.outputs = OperandsOf(spec.outputs);
      while (schema.outputs.size() > 1 &&
             schema.outputs[schema.outputs.size() - 2].arity == Arity::kVariadic) {
        schema.outputs.pop_back();
      }
      // Results without uses are left out until a file is written, which has all.
      for (size_t i = 1; i < schema.outputs.size(); ++i) {
        if (schema.outputs[i].arity == Arity::kRequired) {
          schema.outputs[i].arity = Arity::kOptional;
        }
      }
      for (const oneflow::AttrSpec& attr : spec.attrs) {
        schema.attrs.push_back(
            {Symbol(attr.name), oneflow::KindOf(attr.type), false, attr.default_value});
      }
    }
    return all;
  }();
  return *schemas;
}

const OpSchema* SchemaOf(Symbol op, int) {
  const auto it = Schemas().find(op.view());
  return it == Schemas().end() ? nullptr : &it->second;
}

// Attributes that older releases called otherwise.
void TakeFormerAttributes(Node* node) {
  const std::string_view op = node->op().view();
  if (op == "scalar_pow") {
    if (const Attribute* exponent = node->attrs().Find("exponent")) {
      node->SetAttr("float_operand", *exponent);
      node->SetAttr("has_float_operand", int64_t{1});
      node->EraseAttr("exponent");
    }
  }
  if (op == "expand") {
    const Attribute* shape = node->attrs().Find("logical_expand_shape");
    if (shape && !node->attrs().Has("expand_shape")) node->SetAttr("expand_shape", *shape);
    node->EraseAttr("logical_expand_shape");
    node->EraseAttr("logical_in_shape");
  }
}

// A file has all results of an op; results without uses are left out, so that forms need not
// compute them. That indices are never negative is recorded.
absl::Status Prepare(Model& model, std::vector<std::string>&) {
  for (Node* node : model.graph->nodes()) {
    if (node->dialect() != Symbol(oneflow::kDialect)) continue;
    for (size_t i = 1; i < node->num_outputs(); ++i) {
      const Value* output = node->output(i);
      if (output && output->is_unused()) model.graph->RemoveUnusedOutput(node, i);
    }
    const std::string_view op = node->op().view();
    if ((op.starts_with("max_pool_") || op.starts_with("avg_pool_")) &&
        node->attrs().Has("pool_size")) {  // as older versions call them
      node->set_op(node->dialect(), StrCat("tf_", op));
    }
    TakeFormerAttributes(node);
  }
  MarkNodes(*model.graph, oneflow::kDialect, kFromTheFront, NodeMark::kFromTheFront);
  return absl::OkStatus();
}

[[maybe_unused]] const bool kRegistered = RegisterDialect({.name = std::string(oneflow::kDialect),
                                                           .schema = SchemaOf,
                                                           .holds_any_ops = false,
                                                           .after_read = Prepare,
                                                           .fuse = UseFakeQuantization,
                                                           .before_write = FinishOneflow});

class OtherAttributesLens : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    for (const auto& entry : draft.node().attrs()) {
      const Symbol name = entry.first;
      if (IsMeaninglessOneflowAttr(name.view()) && !draft.def().FindAttr(name)) {
        draft.TakeAttr(name);
      }
    }
    return absl::OkStatus();
  }
  absl::Status Export(Draft&) const override { return absl::OkStatus(); }
};

class RealLens : public LensImpl {
 public:
  RealLens(std::string_view ir, std::string_view foreign) : ir_(ir), foreign_(foreign) {}
  absl::Status Import(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr(foreign_);
    if (!attr) return absl::OkStatus();
    const double* number = attr->get<double>();
    if (!number) return Invalid("attribute '", foreign_, "' is no double");
    draft.SetAttr(ir_, static_cast<float>(*number));
    return absl::OkStatus();
  }
  absl::Status Export(Draft& draft) const override {
    const std::optional<Attribute> attr = draft.TakeAttr(ir_);
    if (!attr) return absl::OkStatus();
    const float* number = attr->get<float>();
    if (!number) return Invalid("attribute '", ir_, "' is no float");
    draft.SetAttr(foreign_, static_cast<double>(*number));
    return absl::OkStatus();
  }
  std::vector<std::string> IrAttrs() const override { return {ir_}; }
  std::vector<std::string> ForeignAttrs() const override { return {foreign_}; }

 private:
  const std::string ir_, foreign_;
};

}  // namespace

bool IsMeaninglessOneflowAttr(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "buffer_size",  "device_id",    "device_type",      "grad_mode", "grad_nd_sbp",
      "mark_prefix",  "max_dim_size", "memory_format",    "nd_sbp",    "pin_memory",
      "tuning_cache", "sbp_parallel", "grad_sbp_parallel"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Lens OneflowDialect::OtherAttributes(std::string_view) {
  static const auto* const lens = new Lens(std::make_shared<OtherAttributesLens>());
  return *lens;
}

Lens Real(std::string_view ir, std::string_view foreign) {
  return std::make_shared<RealLens>(ir, foreign.empty() ? ir : foreign);
}

// --- Reading -------------------------------------------------------------------------------------

const oneflow::AttrSpec* OneflowArgs::Spec(Symbol name) const {
  return spec_ ? spec_->FindAttr(name.view()) : nullptr;
}

int64_t OneflowArgs::Int(Symbol name) {
  const oneflow::AttrSpec* spec = Spec(name);
  const auto* fallback =
      spec && spec->default_value ? spec->default_value->get<int64_t>() : nullptr;
  return NodeReader::Int(name, fallback ? *fallback : 0);
}

double OneflowArgs::Number(Symbol name) {
  Ignore(name);
  const Attribute* attr = attrs().Find(name);
  const oneflow::AttrSpec* spec = Spec(name);
  if (!attr && spec && spec->default_value) attr = &*spec->default_value;
  if (!attr) return 0;
  if (const double* number = attr->get<double>()) return *number;
  if (const float* number = attr->get<float>()) return *number;
  Fail(Invalid("attribute '", name.view(), "' is no number"));
  return 0;
}

std::string OneflowArgs::String(Symbol name) {
  const oneflow::AttrSpec* spec = Spec(name);
  const auto* fallback =
      spec && spec->default_value ? spec->default_value->get<std::string>() : nullptr;
  return NodeReader::String(name, fallback ? *fallback : "");
}

std::vector<int64_t> OneflowArgs::Ints(Symbol name) { return IntList(name, {}); }
std::vector<float> OneflowArgs::Floats(Symbol name) { return FloatList(name, {}); }

DType OneflowArgs::DataType(Symbol name, DType fallback) {
  const std::string text = NodeReader::String(name, "");
  if (text.empty()) return fallback;
  const auto dtype = ParseDType(text);
  if (!dtype) Fail(Invalid("attribute '", name.view(), "' is no element type"));
  return dtype.value_or(fallback);
}

std::vector<Value*> OneflowArgs::Group(size_t i) const {
  const Attribute* attr = attrs().Find(oneflow::kSegments);
  const auto* said = attr ? attr->get<Attribute::Ints>() : nullptr;
  std::vector<Value*> values;
  if (!spec_ || i >= spec_->inputs.size()) return values;
  // One that may be left out has its place all the same.
  const size_t others = spec_->inputs.size() - 1;
  const size_t rest = num_inputs() > others ? num_inputs() - others : 0;
  size_t next = 0;
  for (size_t k = 0; k <= i; ++k) {
    size_t count = 1;
    if (spec_->inputs[k].count == oneflow::Count::kMany) {
      const int64_t number = said && k < said->size() ? (*said)[k] : static_cast<int64_t>(rest);
      count =
          static_cast<size_t>(std::clamp<int64_t>(number, 0, static_cast<int64_t>(num_inputs())));
    }
    for (size_t n = 0; k == i && n < count; ++n) {
      if (Value* value = node().input(next + n)) values.push_back(value);
    }
    next += count;
  }
  return values;
}

Expr OneflowArgs::Scalar(DType type) {
  const bool is_float = Bool("has_float_operand"), is_int = Bool("has_int_operand");
  const double number = Number("float_operand");
  const int64_t integer = Int("int_operand");
  if (HasAttr("has_bool_operand") || HasAttr("bool_operand")) {
    const bool is_bool = Bool("has_bool_operand"), value = Bool("bool_operand");
    if (is_bool)
      return {b(), b().Constant(type == DType::kBool ? Tensor::Scalar<bool>(value)
                                                     : Tensor::ScalarOf(type, value))};
  }
  Require(is_float || is_int, "a number that is neither an integer nor a float");
  if (type == DType::kBool) {
    return {b(), b().Constant(Tensor::Scalar<bool>(is_float ? number != 0 : integer != 0))};
  }
  if (!is_float && IsInteger(type) && BitWidth(type) >= 8) {
    return IntegerOf(b(), type, integer);
  }
  return {b(), b().Scalar(type, is_float ? number : static_cast<double>(integer))};
}

absl::Status OneflowDialect::Finish(OneflowArgs& args) {
  args.IgnoreAll(IsMeaninglessOneflowAttr);
  args.Ignore(oneflow::kSegments);
  return args.CheckAllTaken();
}

// --- Writing -------------------------------------------------------------------------------------

Values OneflowWriter::OneflowAll(std::string_view op, std::vector<Value*> operands,
                                 AttributeMap attrs, const std::vector<bool>& wanted,
                                 const std::vector<x2ir::Type>& results) {
  return Make(oneflow::kDialect, op, std::move(operands), std::move(attrs), wanted, results);
}

Value* OneflowWriter::Oneflow(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                              x2ir::Type result) {
  return OneflowAll(op, std::move(operands), std::move(attrs), {true}, {std::move(result)})[0];
}

absl::StatusOr<std::vector<int64_t>> OneflowWriter::Sizes(const x2ir::Type& type) const {
  const auto sizes = type.shape() ? type.shape()->Static() : std::nullopt;
  if (!sizes) return CannotExpress("sizes that are not known");
  return *sizes;
}

std::optional<double> OneflowWriter::NumberOf(const Value* x) {
  const std::optional<Tensor> tensor = x ? KnownTensor(*x) : std::nullopt;
  if (!tensor || tensor->num_elements() != 1 || tensor->is_string()) return std::nullopt;
  return tensor->AsDouble(0);
}

}  // namespace x2ir
