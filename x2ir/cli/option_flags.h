// Flags made of the options that formats define (formats/options.h): `external_data` of a writer is
// --external-data, a list like `extra_opsets` is a flag for each of its items, --extra-opset.
#ifndef X2IR_CLI_OPTION_FLAGS_H_
#define X2IR_CLI_OPTION_FLAGS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/option_texts.h"
#include "x2ir/formats/options.h"

namespace x2ir::cli {

class Arg;
class Verb;

// The flag of an option of a format or of the library.
std::string FlagOf(std::string_view option);
// Whether there is an option of that name.
bool IsOption(std::string_view name);

class OptionFlags {
 public:
  using Defs = std::vector<OptionDef> Format::*;  // read_options, or write_options
  // A flag for each option of any format; formats that have one of the same name share the flag.
  // `hidden`: not in --help. May be called for several verbs of which one will be parsed.
  void AddTo(Verb& verb, Defs defs, bool hidden = false);
  // A flag for this option. `switches`: --no-FLAG turns it off.
  Arg Add(Verb& verb, const OptionDef& def, bool switches = false);

  // The given values of all options.
  OptionTexts Texts() const;
  // The given values of these options, parsed. InvalidArgument for an invalid value.
  absl::StatusOr<FormatOptions> For(absl::Span<const OptionDef> defs) const;
  // The given options that are not among these.
  std::vector<std::string> Others(absl::Span<const OptionDef> defs) const;
  bool Has(std::string_view option) const;
  // The value of an option with one value; empty: it was not given.
  std::string Text(std::string_view option) const;

 private:
  // By option. Elements of maps do not move.
  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, std::vector<std::string>, std::less<>> lists_;
  std::map<std::string, bool, std::less<>> flags_;
  std::map<std::string, bool, std::less<>> given_;  // of flags that are on, off or not given
};

}  // namespace x2ir::cli

#endif  // X2IR_CLI_OPTION_FLAGS_H_
