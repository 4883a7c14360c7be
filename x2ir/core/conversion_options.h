// The options of a conversion that belong to no format, as data: names, types and help texts, and
// what each sets. Flags of the programs and keys of x2ir.h are made of them, as they are made of
// the options of formats (formats/options.h).
#ifndef X2IR_CORE_CONVERSION_OPTIONS_H_
#define X2IR_CORE_CONVERSION_OPTIONS_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/report.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/option_texts.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

struct ConversionOption {
  enum Side { kImport, kExport, kBoth };
  OptionDef def;  // named as in ImportOptions and ExportOptions
  Side side;      // which part of a conversion it applies to
  bool reading;   // it describes the model that is read, not the conversion
  // The value is of the option's type.
  absl::Status (*set)(const OptionValue& value, ConvertOptions& options);
  bool switches = false;  // of a flag: off differs from not given
  bool whole = false;     // of a list: its items may have commas, and are given one by one
};
absl::Span<const ConversionOption> ConversionOptions();

// The values of those `texts` that belong to ConversionOptions().
absl::StatusOr<FormatOptions> ParseConversionOptions(const OptionTexts& texts);

// The conversion from a file of format `from` to one of format `to`, as values of
// ConversionOptions() and of the formats' own options say. A null `from`: the format of the source
// is not known yet, and options of source formats are not accepted. Every error is an option error.
struct ConversionValues {
  FormatOptions conversion{}, reading{}, writing{};
};
absl::StatusOr<ConvertOptions> ConversionOf(const ConversionValues& values, const Format* to);

// An option error ("check") where ops of neither format have schemas; a null one is not there.
absl::Status CheckCanCheck(const Format* from, const Format* to);

// The same, as texts. Reading's options of other formats than `from` mean nothing here, and are
// left out; all other texts must be of options that there are. A null format: the model is not
// read, or not written, and options of that side are errors.
absl::StatusOr<ConvertOptions> ParseConversion(const OptionTexts& texts, const Format* from,
                                               const Format* to);

// If no option sets the opset to write and the default opset lacks an op that the model needs, the
// oldest opset that has it is written: `convert` is called with other opsets as long as its report
// names one. A note in the report says so. `report` and the status are those of the first attempt
// if none succeeds.
absl::Status AtLeastOpset(
    const Format& target, ExportOptions to, Report& report,
    const std::function<absl::Status(const ExportOptions& to, Report& report)>& convert);

}  // namespace x2ir

#endif  // X2IR_CORE_CONVERSION_OPTIONS_H_
