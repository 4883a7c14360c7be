// See composites.h.
#include "x2ir/core/composites.h"

#include <string>

namespace x2ir {
namespace {

struct Composites {
  std::string name;  // of the dialect
  IsCompositeFn is_composite;
};

NamedRegistry<Composites>& AllComposites() {
  static auto* composites = new NamedRegistry<Composites>("composites");
  return *composites;
}

}  // namespace

bool RegisterComposites(std::string_view dialect, IsCompositeFn is_composite, SourcePlace place) {
  AllComposites().Add({std::string(dialect), is_composite}, place);
  return true;
}

IsCompositeFn FindComposites(std::string_view dialect) {
  const Composites* composites = AllComposites().Find(dialect);
  return composites ? composites->is_composite : nullptr;
}

void DecomposeAsAsked(std::string_view source_dialect, const ExportOptions& to,
                      ImportOptions& from) {
  const bool whole = to.narrow_floats || to.int8 || !to.shapes.empty() || !to.dynamic.empty();
  if (from.foreign.target != source_dialect) return;
  // Hints are the same without it.
  if (whole || to.format_options.Flag("decompose")) from.foreign.target.clear();
}

}  // namespace x2ir
