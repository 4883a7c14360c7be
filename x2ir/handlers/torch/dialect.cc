// The dialect "torch": programs of torch.export, and TorchScript.
#include "x2ir/core/dialect.h"

#include "x2ir/formats/torch/schemas.h"
#include "x2ir/handlers/torch/prepare.h"
#include "x2ir/handlers/torch/script/run.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kDialectIsRegistered = RegisterDialect({.name = "torch",
                                                                    .layout = "channels_first",
                                                                    .holds_any_ops = false,
                                                                    .check = CheckTorchCall,
                                                                    .after_read = PrepareTorch,
                                                                    .run_program = RunTorchScript});

}  // namespace
}  // namespace x2ir
