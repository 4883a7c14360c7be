// What a model has that is found deep inside of other work is an error like any other: a status,
// not an exception. Memory that it asks for and the machine has not got; an attribute that it
// lacks.
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
