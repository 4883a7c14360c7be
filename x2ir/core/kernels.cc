// See kernels.h.
#include "x2ir/core/kernels.h"

#include <string>

namespace x2ir {
namespace {

struct Kernels {
  std::string name;  // of the dialect
  LacksKernelFn lacks;
};

NamedRegistry<Kernels>& AllKernels() {
  static auto* kernels = new NamedRegistry<Kernels>("kernels");
  return *kernels;
}

}  // namespace

bool RegisterKernels(std::string_view dialect, LacksKernelFn lacks, SourcePlace place) {
  AllKernels().Add({std::string(dialect), lacks}, place);
  return true;
}

bool LacksKernel(std::string_view dialect, Symbol op, int opset, size_t operand, DType type) {
  const Kernels* kernels = AllKernels().Find(dialect);
  return kernels && kernels->lacks(op, opset, operand, type);
}

}  // namespace x2ir
