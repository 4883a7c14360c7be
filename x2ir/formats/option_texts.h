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

// What an option is called where options are texts. "external_data" is external-data, and a list
// that is given item by item has the name of an item: "shapes" is shape.
std::string OptionKey(std::string_view option);

// Keys and texts: {"external-data", "always"}. A list may be there several times; its items are
// added up.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

// What the texts say of the options that `defs` define; the others of them are left out.
absl::StatusOr<FormatOptions> ParseOptions(const OptionTexts& texts,
                                           absl::Span<const OptionDef> defs);

}  // namespace x2ir

#endif  // X2IR_FORMATS_OPTION_TEXTS_H_
