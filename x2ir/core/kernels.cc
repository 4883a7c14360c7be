// See kernels.h.
#include "x2ir/core/kernels.h"

#include <string>

namespace x2ir {
namespace {

struct Kernels {
  std::string name;  // of the dialect
  LacksKernelFn lacks;
  LoweredFn lowered;  // null: none
};

NamedRegistry<Kernels>& AllKernels() {
  static auto* kernels = new NamedRegistry<Kernels>("kernels");
  return *kernels;
}

}  // namespace

bool RegisterKernels(std::string_view dialect, LacksKernelFn lacks, LoweredFn lowered,
                     SourcePlace place) {
  AllKernels().Add({std::string(dialect), lacks, lowered}, place);
  return true;
}

bool LacksKernel(std::string_view dialect, Symbol op, int opset, size_t operand, DType type) {
  const Kernels* kernels = AllKernels().Find(dialect);
  return kernels && kernels->lacks(op, opset, operand, type);
}

bool LowersWithoutKernel(std::string_view dialect, Symbol op, DType type) {
  const Kernels* kernels = AllKernels().Find(dialect);
  return kernels && kernels->lowered && kernels->lowered(op, type);
}

}  // namespace x2ir
