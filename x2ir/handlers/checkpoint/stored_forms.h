// Decoders whose weights are stored in another form than transformers has: GGUF's
// (Program::extras). The numbers stay as they are; the layers are described accordingly.
#ifndef X2IR_HANDLERS_CHECKPOINT_STORED_FORMS_H_
#define X2IR_HANDLERS_CHECKPOINT_STORED_FORMS_H_

#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/handlers/checkpoint/decoder.h"

namespace X2IR_API x2ir {
namespace checkpoint {

void UseStoredForms(const Json& extras, Decoder& decoder);

}  // namespace checkpoint
}  // namespace x2ir

#endif  // X2IR_HANDLERS_CHECKPOINT_STORED_FORMS_H_
