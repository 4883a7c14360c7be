// GGUF files of llama.cpp as checkpoints: the metadata becomes what config.json would say, tensors
// get the names that transformers gives them. Where the numbers of a file are not those that
// transformers stores, Program::extras says how (program.h).
#ifndef X2IR_FORMATS_CHECKPOINT_GGUF_H_
#define X2IR_FORMATS_CHECKPOINT_GGUF_H_

#include <memory>

#include "absl/status/statusor.h"
#include "x2ir/formats/checkpoint/program.h"
#include "x2ir/formats/io/source.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// Of a model in several files any of them may be named; the others are beside it. DataLoss: not a
// GGUF file, or a broken one. NotFound: a file of several is missing. Unimplemented: an
// architecture, a key, a tensor or a type of tensors that is not known: nothing that may change
// results is left out.
absl::StatusOr<std::shared_ptr<Program>> ReadGguf(const Source& source);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_FORMATS_CHECKPOINT_GGUF_H_
