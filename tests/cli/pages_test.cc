// The pages that packages install: man pages and completions, read by the programs that read them.
#include "gtest/gtest.h"
#include "tests/cli/shell_util.h"

namespace x2ir {
namespace {

class Pages : public ShellTest {};

TEST_F(Pages, AreWhatTheirReadersRead) {
  Check({
      {"x2ir --page html", 2, "", "--page: expected man, bash, zsh or fish"},
      {"x2ir --page man | head -n 5", 0, "\\.TH X2IR 1 [^\n]*\n\\.SH NAME\nx2ir \\\\- converts",
       ""},
      // Every verb and every flag of the help, and no word of the formatter about them.
      {"for p in x2ir ir2onnx; do $p --page man >$p.1; "
       "! command -v groff >/dev/null || groff -man -ww -Tutf8 $p.1 >$p.txt; done; "
       "x2ir convert --help | grep -oE -e ' --[a-z][a-z0-9-]+' | tr -d ' ' | "
       "sort -u >flags; tr -d '\\\\' <x2ir.1 >plain; while read -r flag; do "
       "grep -qF -e \"$flag\" plain || echo \"$flag\"; done <flags; wc -l <flags; rm *",
       0, "^([3-9][0-9]|1[0-9][0-9])\n$", ""},
      // Verbs, flags and values.
      {"source <(x2ir --page bash); complete_at() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
       "_x2ir; echo \"${COMPREPLY[*]}\"; }; complete_at x2ir conv; complete_at x2ir convert --lay; "
       "complete_at x2ir convert --external-data n; complete_at x2ir convert --to ten",
       0, "^convert\n--layout\nnever\n(tensorflow)?\n*$", ""},
      {"source <(ir2onnx --page bash) && complete -p ir2onnx", 0, "-F _ir2onnx ir2onnx", ""},
      {"for p in x2ir ir2onnx; do for s in zsh fish; do $p --page $s >page; "
       "! command -v $s >/dev/null || $s -n page; done; done; rm page",
       0, "", ""},
      {"x2ir --page fish >page; if command -v fish >/dev/null; then "
       "fish -c 'source page; complete -C \"x2ir convert --lay\"; complete -C \"x2ir inf\"'; "
       "else printf -- '--layout\ninfo\n'; fi; rm page",
       0, "--layout.*\ninfo", ""},
  });
}

}  // namespace
}  // namespace x2ir
