#include "x2ir/cli/map_flags.h"

#include "x2ir/core/edit/interface.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {

void AddMapFlag(Verb& verb, std::vector<std::string>& map) {
  verb.Repeated("--map", map, "FILE.json|OLD=NEW",
                "The inputs and outputs that a conversion changed: FILE.json, written by its "
                "--report, or any number of OLD=NEW, OLD=NEW:nchw, :nhwc, :TYPE, as "
                "x=image:nchw:float16, or OLD==NUMBER, OLD==FILE.npy for what became a constant");
}

absl::Status ApplyMap(const std::vector<std::string>& map, Model* source, Model& converted) {
  if (map.empty()) return absl::OkStatus();
  X2IR_ASSIGN_OR_RETURN(
      Interface interface,
      ReadInterface(map, source ? source->graph.get() : nullptr, *converted.graph));
  if (source) X2IR_RETURN_IF_ERROR(AsConverted(*source->graph, interface));
  return AsSource(*converted.graph, interface);
}

std::string MapHint(const std::vector<std::string>& map, const Model* source,
                    const Model& converted) {
  if (!map.empty()) return "";
  const std::string report =
      "--map FILE.json gives the changes of inputs and outputs, "
      "if convert --report FILE.json wrote them";
  if (!source) return report;
  std::string flags;
  for (const std::string& missing : MissingMap(*source->graph, *converted.graph)) {
    StrAppend(&flags, flags.empty() ? "" : " ", "--map ", missing);
  }
  if (flags.empty()) return "";
  return StrCat("if one was converted from the other: ", flags, "; or ", report);
}

absl::Status WithHint(const absl::Status& status, const std::string& hint) {
  if (hint.empty() || status.code() != absl::StatusCode::kInvalidArgument) return status;
  return absl::Status(status.code(), StrCat(std::string(status.message()), "; ", hint));
}

}  // namespace x2ir::cli
