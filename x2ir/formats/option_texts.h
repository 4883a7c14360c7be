// Options as texts: flags of the programs and keys of x2ir.h.
#ifndef X2IR_FORMATS_OPTION_TEXTS_H_
#define X2IR_FORMATS_OPTION_TEXTS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// The name of an option as text. "external_data" is external-data, and a list that is given item by
// item has the name of an item: "shapes" is shape.
std::string OptionKey(std::string_view option);

// Keys and texts: {"external-data", "always"}. A list may be there several times; its items are
// added up.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

// The values of the texts that are options of `defs`; other texts are ignored.
absl::StatusOr<FormatOptions> ParseOptions(const OptionTexts& texts,
                                           absl::Span<const OptionDef> defs);

}  // namespace x2ir

#endif  // X2IR_FORMATS_OPTION_TEXTS_H_
