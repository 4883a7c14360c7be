#include "x2ir/cli/shape_flags.h"

#include "x2ir/cli/program.h"
#include "x2ir/core/conversion_options.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {

void AddShapeFlags(Verb& verb, OptionFlags& flags) {
  for (const ConversionOption& option : ConversionOptions()) {
    const std::string& name = option.def.name;
    if (name == "shapes" || name == "dynamic") flags.Add(verb, option.def, option.switches);
  }
}

std::optional<Model> LoadAsIr(Session& session, Progress& progress, const std::string& path,
                              Unsupported unsupported, int* code, const OptionFlags& shapes) {
  const auto options = [&]() -> absl::StatusOr<ConvertOptions> {
    ConversionValues values;
    X2IR_ASSIGN_OR_RETURN(values.conversion, ParseConversionOptions(shapes.Texts()));
    return ConversionOf(values, nullptr);
  }();
  if (options.ok()) return LoadAsIr(session, progress, path, unsupported, code, options->from);
  progress.Stop();
  *code = session.Usage(options.status());
  return std::nullopt;
}

}  // namespace x2ir::cli
