// See kernels.h.
#include "x2ir/handlers/onnx/kernels.h"

#include <bitset>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_split.h"
#include "x2ir/core/kernels.h"
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
#include "x2ir_onnx_kernels_schema_data.inc"
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

// Export and passes ask for what they can do something about, whatever the model is for: integers
// and bools, which other types hold, and float64, of which passes make no such op. ONNX Runtime
// casts float16 itself, and smaller floats are for devices that have them (small_floats.h).
bool LacksUsualKernel(Symbol op, int opset, size_t operand, DType type) {
  const bool asks = IsInteger(type) || type == DType::kBool || type == DType::kFloat64;
  return asks && LacksOnnxRuntimeKernel(op, opset, operand, type);
}

// optimizer/lowerings/trigonometry.cc.
bool IsLoweredWell(Symbol op, DType type) {
  static const absl::flat_hash_set<Symbol>* const ops =
      new absl::flat_hash_set<Symbol>{"acos", "acosh", "asin", "asinh", "atanh", "erf"};
  return type == DType::kFloat64 && ops->contains(op);
}

[[maybe_unused]] const bool kKernelsRegistered =
    RegisterKernels("onnx", LacksUsualKernel, IsLoweredWell);

}  // namespace

bool LacksOnnxRuntimeKernel(Symbol op, int opset, size_t operand, DType type) {
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

}  // namespace x2ir
