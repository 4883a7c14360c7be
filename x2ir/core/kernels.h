// Element types that the ops of a dialect may have, but that runtimes have no kernel for: passes do
// not move an op onto one, and export writes an op in another type between casts where that is
// exact. If no other type is exact, the op is lowered or stays unchanged: other runtimes may
// support it.
#ifndef X2IR_CORE_KERNELS_H_
#define X2IR_CORE_KERNELS_H_

#include <cstddef>
#include <string_view>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/dtype.h"
#include "x2ir/graph_wrapper/registry.h"
#include "x2ir/graph_wrapper/symbol.h"

namespace X2IR_API x2ir {

// Whether runtimes lack the dialect's op, at an opset of its domain, where that operand has that
// type.
using LacksKernelFn = bool (*)(Symbol op, int opset, size_t operand, DType type);

// Whether lowerings of an IR op compute it, in that type, as well as a kernel would.
using LoweredFn = bool (*)(Symbol op, DType type);

bool RegisterKernels(std::string_view dialect, LacksKernelFn lacks, LoweredFn lowered = nullptr,
                     SourcePlace place = SourcePlace::Here());

// False for a dialect without an entry.
bool LacksKernel(std::string_view dialect, Symbol op, int opset, size_t operand, DType type);

// Whether export uses the op's lowerings where there is no kernel. A model that was of the dialect
// itself keeps the op.
bool LowersWithoutKernel(std::string_view dialect, Symbol op, DType type);

}  // namespace x2ir

#endif  // X2IR_CORE_KERNELS_H_
