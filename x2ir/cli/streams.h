// Models that come through a pipe: `curl URL | x2ir info /dev/stdin`, `x2ir info <(unzip -p
// a.zip)`.
#ifndef X2IR_CLI_STREAMS_H_
#define X2IR_CLI_STREAMS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace x2ir::cli {

// Readers map files, and open them more than once. If an argument names a descriptor of this
// process that is a pipe (-, /dev/stdin, /dev/fd/N, also after a =), its content is copied to an
// unnamed temporary file, which replaces the descriptor. The code that opens files refuses other
// pipes: a file that names other files must not block the program.
absl::Status KeepStreams(absl::Span<char* const> args);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_STREAMS_H_
