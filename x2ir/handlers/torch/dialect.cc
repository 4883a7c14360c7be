// The dialect "torch": programs of torch.export.
#include "x2ir/core/dialect.h"

#include "x2ir/formats/torch/schemas.h"
#include "x2ir/handlers/torch/prepare.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kDialectIsRegistered = RegisterDialect({.name = "torch",
                                                                    .layout = "channels_first",
                                                                    .holds_any_ops = false,
                                                                    .check = CheckTorchCall,
                                                                    .after_read = PrepareTorch});

}  // namespace
}  // namespace x2ir
