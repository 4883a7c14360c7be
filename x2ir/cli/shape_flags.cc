#include "x2ir/cli/shape_flags.h"

#include "x2ir/cli/program.h"
#include "x2ir/core/conversion_options.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {

void AddShapeFlags(Verb& verb, OptionFlags& flags) {
  for (const ConversionOption& option : ConversionOptions()) {
    const std::string& name = option.def.name;
    if (name == "shapes" || name == "dynamic" || name == "dtypes")
      flags.Add(verb, option.def, option.switches);
  }
}

std::optional<Model> LoadAsIr(Session& session, Progress& progress, const std::string& path,
                              Unsupported unsupported, int* code, const OptionFlags& shapes,
                              const std::string& io, const std::vector<std::string>& cases) {
  const auto options = [&]() -> absl::StatusOr<ConvertOptions> {
    ConversionValues values;
    X2IR_ASSIGN_OR_RETURN(values.conversion, ParseConversionOptions(shapes.Texts()));
    return ConversionOf(values, nullptr);
  }();
  if (options.ok()) {
    ImportOptions from = options->from;
    from.example = io;
    from.example_cases = cases;
    return LoadAsIr(session, progress, path, unsupported, code, from);
  }
  progress.Stop();
  *code = session.Usage(options.status());
  return std::nullopt;
}

}  // namespace x2ir::cli
