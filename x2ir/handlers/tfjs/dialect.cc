// The dialect "tfjs": TensorFlow.js, whose ops are some of TensorFlow's (docs/adr/0038). Rows here
// are of what its ops say otherwise.
#include "x2ir/core/dialect.h"

#include "x2ir/core/derived_dialect.h"
#include "x2ir/core/kernels.h"
#include "x2ir/handlers/tfjs/finish.h"
#include "x2ir/handlers/tfjs/ops.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kRegistered = RegisterDialect({.name = "tfjs",
                                                           .layout = "channels_last",
                                                           .holds_any_ops = false,
                                                           .check = CheckTfjsNode,
                                                           .before_write = FinishTfjs});
[[maybe_unused]] const bool kDerived =
    RegisterDerivedDialect({.name = "tfjs", .base = "tf", .has = HasTfjsOp});
[[maybe_unused]] const bool kKernels = RegisterKernels("tfjs", LacksTfjsKernel);

}  // namespace
}  // namespace x2ir
