// Element types that ONNX's ops may have, and for which ONNX Runtime 1.23 has no kernel for CPUs:
// files with such a node do not load there. Found by loading a file of one node for each op, opset
// and type.
//
// Only what export and passes can do something about is here: integers and bools, which other types
// hold, and float64 of what passes make of several nodes.
#include "x2ir/core/kernels.h"

#include <bitset>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"
#include "x2ir/graph_wrapper/dtype.h"

namespace x2ir {
namespace {

constexpr int kOn = std::numeric_limits<int>::max();

struct MissingKernel {
  std::string_view op;
  int first, last;  // opsets
  size_t operand;   // whose type it is
  const char* types;
};

constexpr MissingKernel kMissing[] = {
    {"ArgMax", 7, kOn, 0, "int16 uint16 uint32 uint64"},
    {"ArgMin", 7, kOn, 0, "int16 uint16 uint32 uint64"},
    {"BitShift", 11, kOn, 0, "uint16"},
    {"Clip", 7, 11, 0, "float64"},
    {"Clip", 12, kOn, 0, "int16 uint16"},
    {"CumSum", 11, kOn, 0, "uint32 uint64"},
    {"DepthToSpace", 7, 10, 0, "bool int16 int32 int64 int8 uint16 uint32 uint64 uint8"},
    {"DepthToSpace", 11, kOn, 0, "bool int16 int32 int64 int8 uint16 uint32 uint64"},
    {"Einsum", 12, kOn, 0, "int16 int8 uint16 uint32 uint64 uint8"},
    {"Gelu", 20, kOn, 0, "float64"},
    {"Gemm", 9, kOn, 0, "int32 int64 uint32 uint64"},
    {"HardSigmoid", 7, kOn, 0, "float64"},
    {"HardSwish", 14, kOn, 0, "float64"},
    {"Max", 12, kOn, 0, "int16 int8 uint16 uint8"},
    {"Min", 12, kOn, 0, "int16 int8 uint16 uint8"},
    {"Mish", 22, kOn, 0, "float64"},
    {"NonZero", 9, kOn, 0, "int16 int8 uint16 uint32 uint64"},
    {"PRelu", 9, 15, 0, "int32 int64 uint32 uint64"},
    {"PRelu", 16, kOn, 0, "uint32 uint64"},
    {"Pad", 11, kOn, 0, "int16 uint16"},
    {"ReduceL1", 7, kOn, 0, "uint32 uint64"},
    {"ReduceL2", 7, kOn, 0, "uint32 uint64"},
    {"ReduceLogSum", 7, 17, 0, "uint32 uint64"},
    {"ReduceLogSumExp", 7, 17, 0, "uint32 uint64"},
    {"ReduceMax", 7, kOn, 0, "uint32 uint64"},
    {"ReduceMean", 7, kOn, 0, "uint32 uint64"},
    {"ReduceMin", 7, kOn, 0, "uint32 uint64"},
    {"ReduceProd", 7, kOn, 0, "uint32 uint64"},
    {"ReduceSum", 7, kOn, 0, "uint32 uint64"},
    {"ReduceSumSquare", 7, kOn, 0, "uint32 uint64"},
    {"Relu", 14, kOn, 0, "int16 int64"},
    {"Resize", 10, kOn, 0, "bool int16 int64 uint16 uint32 uint64"},
    {"SpaceToDepth", 7, kOn, 0, "bool int16 int32 int64 int8 uint16 uint32 uint64 uint8"},
    {"TopK", 11, kOn, 0, "int16 int8 uint16 uint32 uint64 uint8"},
    {"Trilu", 14, kOn, 0, "int16 int32 int8 uint16 uint32 uint64 uint8"},
    {"Unique", 11, kOn, 0, "bool int16 int32 uint16 uint32 uint64 uint8"},
    {"Upsample", 7, 9, 0, "bool int16 int64 uint16 uint32 uint64"},
    {"Where", 9, kOn, 1, "bool int16 int8 uint16 uint32 uint64"},
};

struct Missing {
  int first, last;
  size_t operand;
  std::bitset<64> types;
};

// By name, so that looking up an op costs one hash.
const absl::flat_hash_map<Symbol, std::vector<Missing>>& MissingByOp() {
  static const auto* all = [] {
    auto* map = new absl::flat_hash_map<Symbol, std::vector<Missing>>;
    for (const MissingKernel& row : kMissing) {
      Missing missing{row.first, row.last, row.operand, {}};
      for (const auto name : absl::StrSplit(row.types, ' ')) {
        missing.types.set(static_cast<size_t>(*ParseDType(std::string(name))));
      }
      (*map)[Symbol(row.op)].push_back(missing);
    }
    return map;
  }();
  return *all;
}

bool LacksOnnxKernel(Symbol op, int opset, size_t operand, DType type) {
  const auto& all = MissingByOp();
  const auto found = all.find(op);
  if (found == all.end()) return false;
  for (const Missing& missing : found->second) {
    if (missing.operand == operand && missing.first <= opset && opset <= missing.last &&
        missing.types.test(static_cast<size_t>(type))) {
      return true;
    }
  }
  return false;
}

[[maybe_unused]] const bool kKernelsRegistered = RegisterKernels("onnx", LacksOnnxKernel);

}  // namespace
}  // namespace x2ir
