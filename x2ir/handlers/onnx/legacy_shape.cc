// ONNX: Tile and Split of opset 1, which took whole numbers as floats.
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// The elements of a constant of floats, which must be whole.
absl::StatusOr<std::vector<int64_t>> WholeNumbers(const Value* value, std::string_view name) {
  const Tensor* tensor = value ? value->fixed_constant() : nullptr;
  if (!tensor || tensor->is_sparse() || !IsFloating(tensor->dtype())) {
    return Unimplemented("operand '", name, "' must be a constant at opset 1");
  }
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    const double number = tensor->AsDouble(i);
    if (!(std::abs(number) < 9e15) || number != std::floor(number)) {
      return Invalid("operand '", name, "' has ", number, "; expected a whole number");
    }
    numbers.push_back(static_cast<int64_t>(number));
  }
  return numbers;
}

// One axis is repeated.
absl::StatusOr<Values> FromTile1(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> tiles, WholeNumbers(r.in(1), "tiles"));
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, WholeNumbers(r.in(2), "axis"));
  if (tiles.size() != 1 || axes.size() != 1) return Invalid("tiles and axis: expected one number");
  const int64_t rank = r.rank(0);
  if (rank < 0) return Unimplemented("an operand of unknown rank at opset 1");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(axes[0], rank));
  std::vector<int64_t> repeats(rank, 1);
  repeats[axis] = tiles[0];
  return Values{r.b.Op("tile", {r.in(0), r.b.Ints(repeats, "repeats")})};
}

// Sizes as an attribute or as an operand. What axis it is when nobody says was not said.
absl::StatusOr<Values> FromSplit1(Rewrite& r) {
  const Attribute* axis = r.attrs().Find("axis");
  if (!axis) return Unimplemented("Split without axis, which opset 1 does not define");
  std::vector<Value*> operands = {r.in(0)};
  if (const Attribute* sizes = r.attrs().Find("split")) {
    if (r.has(1)) return Invalid("operand and attribute 'split' exclude each other");
    const auto* ints = sizes->get<Attribute::Ints>();
    if (!ints) return Invalid("attribute 'split': expected ints");
    operands.push_back(r.b.Ints(*ints, "split"));
  } else if (r.has(1)) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> ints, WholeNumbers(r.in(1), "split"));
    operands.push_back(r.b.Ints(ints, "split"));
  }
  std::vector<bool> wanted;
  for (const Value* output : r.node.outputs()) wanted.push_back(output != nullptr);
  return r.b.Ops("split", std::move(operands), {{"axis", *axis}}, wanted);
}

}  // namespace

X2IR_ONNX(tile).Is("Tile", In(1, 5), Code{FromTile1, nullptr});
X2IR_ONNX(split).Is("Split", In(1, 1), Code{FromSplit1, nullptr});

}  // namespace x2ir
