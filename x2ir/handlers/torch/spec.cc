// How rows of PyTorch's operators run, in either direction.
#include <algorithm>
#include <optional>
#include <utility>

#include "x2ir/formats/torch/schemas.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/complex.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

// The parameters that are tensors, in the schema's order.
std::vector<const TorchParameter*> TensorsOf(std::string_view op) {
  std::vector<const TorchParameter*> tensors;
  if (const TorchSchema* schema = FindTorchSchema(op)) {
    for (const TorchParameter& p : schema->parameters) {
      if (p.element() == "Tensor") tensors.push_back(&p);
    }
  }
  return tensors;
}

Values ReadByData(TorchCall& c, Symbol ir_op) {
  std::vector<Value*> operands;
  for (const TorchParameter* p : TensorsOf(c.node().op())) {
    operands.push_back(c.Operand(p->name, c.out_dtype()));
  }
  return {c.Op(ir_op, std::move(operands))};
}

absl::StatusOr<Values> WriteByData(TorchWriter& w, std::string_view op,
                                   const std::vector<TorchAttr>& attrs) {
  TorchArguments arguments;
  const std::vector<const TorchParameter*> tensors = TensorsOf(op);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i]->is_list()) {
      std::vector<Value*> rest;
      for (size_t k = i; k < w.num_inputs(); ++k) rest.push_back(w.in(k));
      arguments.emplace_back(tensors[i]->name, std::move(rest));
    } else if (w.has(i)) {
      arguments.emplace_back(tensors[i]->name, w.in(i));
    } else if (tensors[i]->default_value.empty()) {
      arguments.emplace_back(tensors[i]->name, nullptr);
    }
  }
  const bool list = !tensors.empty() && tensors.back()->is_list();
  if (!list && w.num_inputs() > tensors.size()) {
    return CannotExpress(op, " with ", w.num_inputs(), " operands");
  }
  const OpDef* def = FindOp(w.node().op());
  for (const auto& [name, attr] : w.attrs()) {
    const TorchAttr* row = nullptr;
    for (const TorchAttr& a : attrs) {
      if (name == a.ir) row = &a;
    }
    const AttrDef* own = def ? def->FindAttr(name) : nullptr;
    if (row) {
      arguments.emplace_back(row->argument, attr);
    } else if (!own || !own->default_value || *own->default_value != attr) {
      return CannotExpress("attribute '", name.str(), "' = ", attr.ToString(),
                           " cannot be expressed by ", op);
    }
  }
  return w.Calls(op, std::move(arguments));
}

}  // namespace

Handler TorchSpec::Reader(TorchHandler handler) {
  return [handler = std::move(handler)](Rewrite& r) -> absl::StatusOr<Values> {
    if (r.node.num_outputs() == 0) return Values();  // nothing that anyone could see
    absl::StatusOr<Values> values = ReadNode(r, [&]() -> absl::StatusOr<Values> {
      X2IR_RETURN_IF_ERROR(CheckComplexCall(r));
      TorchCall call(r);
      Values read = handler(call);
      X2IR_RETURN_IF_ERROR(call.CheckAllTaken());
      X2IR_RETURN_IF_ERROR(CheckComplexResult(r));
      return read;
    });
    const auto text = values.status().message();
    const std::string_view message(text.data(), text.size());
    // TorchScript says no ranks of inputs.
    if (absl::IsUnimplemented(values.status()) && message.ends_with("operands of known rank")) {
      return Unimplemented(message, "; ", OptionText("shapes"), " of the inputs may give it");
    }
    // PyTorch ran the call when it was exported: what is wrong with it to us we do not know of.
    if (absl::IsInvalidArgument(values.status())) return Unimplemented(message);
    return values;
  };
}

TorchSpec& TorchSpec::Is(std::string_view op) { return From(op).To(op); }

TorchSpec& TorchSpec::From(std::string_view op) {
  return From(op, [ir_op = ir_op_](TorchCall& c) { return ReadByData(c, ir_op); });
}

TorchSpec& TorchSpec::From(std::string_view op, TorchHandler handler) {
  spec_.Is(op, Since(1), Code{Reader(std::move(handler)), nullptr});
  return *this;
}

TorchSpec& TorchSpec::From(std::initializer_list<std::string_view> ops,
                           const TorchHandler& handler) {
  for (const std::string_view op : ops) From(op, handler);
  return *this;
}

TorchSpec& TorchSpec::To(std::string_view op, std::vector<TorchAttr> attrs) {
  return Writes(op, [op = std::string(op), attrs = std::move(attrs)](TorchWriter& w) {
    return WriteByData(w, op, attrs);
  });
}

TorchSpec& TorchSpec::Writes(std::string_view op, TorchWriteFn fn) {
  spec_.Is(op, Since(1), Code{nullptr, [fn = std::move(fn)](Rewrite& r) {
                                TorchWriter w(r);
                                return WriteNode(r, [&] { return fn(w); });
                              }});
  return *this;
}

}  // namespace x2ir
