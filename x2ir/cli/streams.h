// Models that come through a pipe: `curl URL | x2ir info /dev/stdin`, `x2ir info <(unzip -p
// a.zip)`.
#ifndef X2IR_CLI_STREAMS_H_
#define X2IR_CLI_STREAMS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace x2ir::cli {

// Readers map files, and open them more than once. Where an argument names a descriptor of ours
// that is a pipe (-, /dev/stdin, /dev/fd/N, also behind a =), all that comes through it goes to a
// temporary file without a name, which then is that descriptor. Other pipes are refused by who
// opens them: a file that names others must not make us wait.
absl::Status KeepStreams(absl::Span<char* const> args);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_STREAMS_H_
