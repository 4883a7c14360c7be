// What sentence-transformers makes of a text's tokens: a vector of the whole text, pooled, then
// dense layers, then of length 1.
#ifndef X2IR_HANDLERS_CHECKPOINT_SENTENCE_H_
#define X2IR_HANDLERS_CHECKPOINT_SENTENCE_H_

#include <cstdint>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/handlers/checkpoint/net.h"

namespace X2IR_API x2ir {
namespace checkpoint {

// Whether the folder has modules of sentence-transformers.
bool HasSentence(const Program& program);
// The outputs token_embeddings (x: [batch, length, width]) and sentence_embedding. `mask`: int64
// [batch, length], which tokens count.
void OutputSentence(Net& net, const Expr& x, const Expr& mask, int64_t width);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_SENTENCE_H_
