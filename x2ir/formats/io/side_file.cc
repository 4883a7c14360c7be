#include "x2ir/formats/io/side_file.h"

#include <unistd.h>

#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {

absl::Status CheckSideFile(const std::string& path, const std::function<bool()>& is_ours) {
  if (::access(path.c_str(), F_OK) != 0 || is_ours()) return absl::OkStatus();
  return absl::AlreadyExistsError(
      StrCat("'", path, "' exists and was not written for this output; choose another name for ",
             "the output, or replace the file with ", OptionText("force")));
}

OptionDef ForceOption() {
  return OptionDef::Flag(
      "force",
      "Replace existing files that x2ir did not write and that were not named: weights "
      "beside the output, and an output without -o");
}

OptionDef ParamsOption() {
  return OptionDef::Text(
      "params", "FILE",
      "The file of parameters; by default the one beside the model, of several the last "
      "epoch's");
}

}  // namespace x2ir
