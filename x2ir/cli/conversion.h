// A conversion from any format to any other, as verbs of the programs offer it: its flags, one
// model or many (--batch), and its summary.
#ifndef X2IR_CLI_CONVERSION_H_
#define X2IR_CLI_CONVERSION_H_

#include <string>

#include "x2ir/cli/session.h"

namespace CLI {
class App;
}

namespace x2ir::cli {

struct ConversionVerb {
  std::string name, description, footer;
  std::string doing;    // for the progress line of a batch: "converting"
  std::string format;   // what is written where neither --to nor the name of -o says it
  bool by_name = true;  // whether the name of -o says it
};
void AddConversion(CLI::App& app, Session& session, const ConversionVerb& words);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_CONVERSION_H_
