// The dialect "relay".
#include "x2ir/core/dialect.h"

#include "x2ir/formats/relay/relay.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kRegistered =
    RegisterDialect({.name = relay::kDialect, .layout = "channels_first"});

}  // namespace
}  // namespace x2ir
