// The dialect "torch": programs of torch.export, only read.
#include "x2ir/core/dialect.h"

#include "x2ir/handlers/torch/prepare.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kDialectIsRegistered =
    RegisterDialect({.name = "torch", .prepare = PrepareTorch});

}  // namespace
}  // namespace x2ir
