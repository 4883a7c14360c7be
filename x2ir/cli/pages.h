// Pages of a program that are made of its flags: the man page and completions of shells, so that
// they agree with --help.
#ifndef X2IR_CLI_PAGES_H_
#define X2IR_CLI_PAGES_H_

#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace x2ir::cli {

// `kind`: "man" (roff), "bash", "zsh" or "fish"; nullopt for any other kind.
std::optional<std::string> PageOf(const CLI::App& app, std::string_view program,
                                  std::string_view version, std::string_view kind);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_PAGES_H_
