// The dialect "nnvm".
#include "x2ir/core/dialect.h"

#include "x2ir/formats/nnvm/nnvm.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kRegistered =
    RegisterDialect({.name = nnvm::kDialect, .layout = "channels_first"});

}  // namespace
}  // namespace x2ir
