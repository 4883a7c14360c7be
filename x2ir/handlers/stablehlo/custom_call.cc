// StableHLO: calls of what is no operation, by the name of the target.
#include <algorithm>
#include <iterator>

#include "x2ir/core/spec.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace x2ir {
namespace {

// Targets that hand their operands on: where tensors are, and how they are split.
Values Handed(StablehloArgs& a) {
  Values values;
  for (size_t i = 0; i < a.num_outputs(); ++i) values.push_back(a.Op("identity", {a.in(i)}));
  return values;
}

constexpr std::string_view kDictionaries[] = {"backend_config.", "mhlo.backend_config.",
                                              "mhlo.attributes."};

// What says how the call is made, not what it computes.
constexpr std::string_view kOfTheCall[] = {
    "api_version",    "called_computations",    "has_side_effect", "operand_layouts",
    "result_layouts", "output_operand_aliases", "result_tilings"};

// The row that a target is read by: its own, or that of the operation whose name it is; "" is none.
std::string RowOf(std::string_view target) {
  const auto is_row = [](std::string_view op) {
    return FindImportForm(StablehloDialect::kName, op, 1) != nullptr;
  };
  if (const std::string own = StrCat("@", target); is_row(own)) return own;
  const size_t dot = target.find('.');
  if (dot == std::string_view::npos) return "";
  const std::string_view dialect = target.substr(0, dot), name = target.substr(dot + 1);
  if (dialect == "mhlo" || dialect == "chlo") {
    if (const std::string op = StrCat("chlo.", name); is_row(op)) return op;
  }
  const bool has_plain_name = dialect == "mhlo" || dialect == "stablehlo";
  return has_plain_name && name != "custom_call" && is_row(name) ? std::string(name) : "";
}

absl::StatusOr<Values> CustomCall(StablehloArgs& a) {
  const std::string target = a.String("call_target_name", "");
  const std::string op = RowOf(target);
  if (op.empty()) {
    return a.Fail(Unimplemented("a call of '", target, "', which is no operation of StableHLO"));
  }
  for (const std::string_view name : kOfTheCall) a.Ignore(name);
  AttributeMap attrs;
  for (const auto& [name, attr] : a.attrs()) {
    const std::string_view whole = name.view();
    if (name == Symbol("backend_config")) {
      const auto* text = attr.get<std::string>();
      if (text && text->empty()) {
        a.Ignore(name);
        continue;
      }
      attrs.Set(name, attr);
      a.Ignore(name);
    }
    if (name == Symbol("comparator")) attrs.Set(name, a.SubGraph("comparator"));
    for (const std::string_view dictionary : kDictionaries) {
      if (!whole.starts_with(dictionary)) continue;
      attrs.Set(whole.substr(dictionary.size()), attr);
      a.Ignore(name);
    }
  }
  return AsStablehlo(a, op, a.inputs(), std::move(attrs));
}

}  // namespace

X2IR_STABLEHLO(identity)
    .From("custom_call", CustomCall)
    .From({"@Sharding", "@SPMDFullToShardShape", "@SPMDShardToFullShape",
           "@annotate_device_placement", "@MoveToHost", "@MoveToDevice"},
          Handed);

}  // namespace x2ir
