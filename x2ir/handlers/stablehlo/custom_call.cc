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

constexpr std::string_view kDictionaries[] = {"backend_config.", "mhlo.attributes."};

// What says how the call is made, not what it computes.
constexpr std::string_view kOfTheCall[] = {
    "api_version",    "called_computations",    "has_side_effect", "operand_layouts",
    "result_layouts", "output_operand_aliases", "result_tilings"};

absl::StatusOr<Values> CustomCall(StablehloArgs& a) {
  const std::string target = a.String("call_target_name", "");
  const std::string op = StrCat("@", target);
  if (!FindImportForm(StablehloDialect::kName, op, 1)) {
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
