// Turns exceptions that a model causes deep inside of other code into a status: memory that the
// machine does not have, and attributes that are missing.
#ifndef X2IR_GRAPH_WRAPPER_OUT_OF_MEMORY_H_
#define X2IR_GRAPH_WRAPPER_OUT_OF_MEMORY_H_

#include <new>
#include <stdexcept>

#include "absl/status/status.h"
#include "x2ir/graph_wrapper/attribute.h"

namespace X2IR_API x2ir {

// What `work` gives, a Status or a StatusOr.
template <typename Work>
auto WithinMemory(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  } catch (const std::length_error&) {  // more elements than a vector may have
    return absl::ResourceExhaustedError("out of memory");
  } catch (const NoSuchAttribute& error) {
    return absl::InvalidArgumentError(error.what());
  }
}

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_OUT_OF_MEMORY_H_
