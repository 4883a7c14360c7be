// Errors about options. A library speaks of an option by its own name; a program that has flags
// of other names finds in the status which option is meant.
//
// Wherever a message mentions an option it is written as OptionText gives it, so that a program can
// put its own name of the option in that place.
#ifndef X2IR_GRAPH_WRAPPER_OPTION_ERROR_H_
#define X2IR_GRAPH_WRAPPER_OPTION_ERROR_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/strings.h"

namespace X2IR_API x2ir {

// "option 'NAME'".
std::string OptionText(std::string_view option);

// InvalidArgument "option 'NAME': PROBLEM" that OptionOf recognizes: the caller asked for something
// impossible, in general or for this model. The model itself is valid.
absl::Status OptionErrorOf(std::string_view option, std::string_view problem);
template <typename... Args>
absl::Status OptionError(std::string_view option, const Args&... problem) {
  return OptionErrorOf(option, StrCat(problem...));
}

// As Annotate, for errors that may be about an option: they stay so.
absl::Status AnnotateOption(const absl::Status& status, std::string_view where);

// The option that an error is about; nothing when it is about none.
std::optional<std::string> OptionOf(const absl::Status& status);

// The text with every "option 'NAME'" replaced by what `name_of(NAME)` gives.
std::string WithOptionNames(std::string_view text,
                            const std::function<std::string(std::string_view)>& name_of);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_OPTION_ERROR_H_
