// tract's loops over an axis: the fragment is the body.
#include <utility>

#include "x2ir/formats/nnef/graph_maker_internal.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace nnef {
namespace {

absl::Status CheckEntries(const Item& list, size_t least, std::string_view what) {
  for (const Item& entry : list.items) {
    if (entry.kind != Item::kList || entry.items.size() < least ||
        entry.items[0].kind != Item::kText) {
      return Invalid("scan: a malformed entry of '", what, "'");
    }
  }
  return absl::OkStatus();
}
// The step along an axis: one element, forward or backward.
absl::Status CheckStep(const Item& axis, const Item& step) {
  if (axis.kind != Item::kInt || axis.integer < 0)
    return Invalid("scan: an axis that is not a number from 0");
  if (step.kind != Item::kInt || (step.integer != 1 && step.integer != -1)) {
    return Unimplemented("a scan whose step is more than one element");
  }
  return absl::OkStatus();
}

}  // namespace

ItemOr GraphMaker::Scan(const SyntaxExpr& call, Scope* scope) {
  X2IR_ASSIGN_OR_RETURN(const Item body_name, ArgumentOf(call, "body", scope));
  const auto found = fragments_.find(body_name.text);
  if (found == fragments_.end() || !found->second->has_body) {
    return Invalid("scan: there is no fragment '", body_name.text, "'");
  }
  if (scope->depth >= kMaxCalls) return Invalid("fragments call each other too deep");
  const auto list = [&](std::string_view name) -> ItemOr {
    ItemOr item = ArgumentOf(call, name, scope);
    if (absl::IsNotFound(item.status())) return Item::List({});
    return item;
  };
  X2IR_ASSIGN_OR_RETURN(const Item scans, list("scan"));
  X2IR_ASSIGN_OR_RETURN(const Item full, list("full"));
  X2IR_ASSIGN_OR_RETURN(const Item states, list("state"));
  X2IR_ASSIGN_OR_RETURN(const Item outputs, list("output"));
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.names[i] != "skip" && call.names[i] != "seq_length") continue;
    X2IR_ASSIGN_OR_RETURN(const Item item, Evaluate(*call.args[i], scope));
    if (item.kind != Item::kInt || item.integer > 0) {
      return Unimplemented("a scan with '", call.names[i], "'");
    }
  }
  return MakeScan(*found->second, scans, full, states, outputs, scope);
}
// As `scan` of the IR: states and then what is scanned. There, a round sees elements without the
// axis; here, with an axis of one.
ItemOr GraphMaker::MakeScan(const Fragment& fragment, const Item& scans, const Item& full,
                            const Item& states, const Item& outputs, Scope* scope) {
  X2IR_RETURN_IF_ERROR(CheckEntries(scans, 4, "scan"));
  X2IR_RETURN_IF_ERROR(CheckEntries(full, 2, "full"));
  X2IR_RETURN_IF_ERROR(CheckEntries(states, 3, "state"));
  X2IR_RETURN_IF_ERROR(CheckEntries(outputs, 2, "output"));
  std::vector<Operand> operands;
  auto body = std::make_shared<Graph>("body");
  Scope inner;
  inner.depth = scope->depth + 1;
  inner.prefix = StrCat(fragment.name, ".");
  for (const Item& state : states.items) {
    X2IR_ASSIGN_OR_RETURN(Value * first, TensorValue(state.items[1]));
    operands.emplace_back("state", first);
    inner.names[state.items[0].text] = Item::Of(body->AddInput(body->UniqueName("state"), Type()));
  }
  Attribute::Ints axes, directions, out_axes, out_directions;
  std::vector<Value*> elements;
  for (const Item& entry : scans.items) {
    X2IR_RETURN_IF_ERROR(CheckStep(entry.items[2], entry.items[3]));
    X2IR_ASSIGN_OR_RETURN(Value * whole, TensorValue(entry.items[1]));
    operands.emplace_back("scan", whole);
    axes.push_back(entry.items[2].integer);
    directions.push_back(entry.items[3].integer < 0);
    elements.push_back(body->AddInput(body->UniqueName("element"), Type()));
  }
  if (axes.empty()) return Unimplemented("a scan over nothing");
  for (const Item& entry : full.items) {
    X2IR_ASSIGN_OR_RETURN(Value * whole, TensorValue(entry.items[1]));
    inner.names[entry.items[0].text] = Item::Of(whole);
  }
  Graph* outer = std::exchange(graph_, body.get());
  const absl::Status made = [&]() -> absl::Status {
    for (size_t i = 0; i < elements.size(); ++i) {
      inner.names[scans.items[i].items[0].text] = Item::Of(AddNode(
          "unsqueeze", {{"input", elements[i]}}, {{"axes", Attribute::Ints{axes[i]}}}, 1)[0]);
    }
    X2IR_RETURN_IF_ERROR(Run(fragment, &inner));
    const auto result = [&](const Item& name) -> absl::StatusOr<Value*> {
      const auto it = inner.names.find(name.text);
      if (it == inner.names.end()) return Invalid("scan: '", name.text, "' is not defined");
      X2IR_ASSIGN_OR_RETURN(Value * value, TensorValue(it->second));
      return AddNode("copy", {{"x", value}}, {}, 1)[0];
    };
    for (const Item& state : states.items) {
      X2IR_ASSIGN_OR_RETURN(Value * value, result(state.items[2]));
      body->AddOutput(value);
    }
    for (const Item& output : outputs.items) {
      if (output.items[1].text != "full") continue;
      if (output.items.size() < 3) return Invalid("scan: an output without an axis");
      const Item step = output.items.size() > 3 ? output.items[3] : Item::Int(1);
      X2IR_RETURN_IF_ERROR(CheckStep(output.items[2], step));
      out_axes.push_back(output.items[2].integer);
      out_directions.push_back(step.integer < 0);
      X2IR_ASSIGN_OR_RETURN(Value * value, result(output.items[0]));
      body->AddOutput(AddNode("squeeze", {{"input", value}},
                              {{"axes", Attribute::Ints{out_axes.back()}}}, 1)[0]);
    }
    return absl::OkStatus();
  }();
  graph_ = outer;
  X2IR_RETURN_IF_ERROR(made);
  AttributeMap attrs = {{"num_scan_inputs", static_cast<int64_t>(axes.size())},
                        {"scan_input_axes", axes},
                        {"scan_input_directions", directions},
                        {"scan_output_axes", out_axes},
                        {"scan_output_directions", out_directions}};
  const size_t num_states = states.items.size();
  const std::vector<Value*> values =
      AddNode("tract_core_scan", operands, std::move(attrs), num_states + out_axes.size());
  values[0]->producer()->SetAttr("body", body);
  std::vector<Item> results;
  size_t stacked = num_states;
  for (const Item& output : outputs.items) {
    if (output.items[1].text == "full") {
      results.push_back(Item::Of(values[stacked++]));
      continue;
    }
    size_t i = 0;
    while (i < num_states && states.items[i].items[2].text != output.items[0].text) ++i;
    if (i == num_states || output.items[1].text != "last") {
      return Unimplemented("the last value of '", output.items[0].text, "', which is no state");
    }
    results.push_back(Item::Of(values[i]));
  }
  return ResultsItem(std::move(results));
}

}  // namespace nnef
}  // namespace x2ir
