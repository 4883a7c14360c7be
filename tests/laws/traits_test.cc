// What an op says of its numbers (ops/traits.h) holds when it is evaluated: zeros and their signs,
// what is known of results, equations, neutral operands. A new op that says nothing, but tells 0
// from -0, is found here.
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/graph_wrapper/text.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

const std::vector<float> kNumbers = {-2.5f, -1, -0.0f, 0, 0.5f, 1, 2, 3};
constexpr DType kTypes[] = {DType::kFloat32, DType::kInt32, DType::kBool};

Tensor TensorOf(DType type, const std::vector<float>& numbers) {
  const std::vector<int64_t> dims = {static_cast<int64_t>(numbers.size())};
  if (type == DType::kFloat32) return Tensor::Of<float>(dims, numbers);
  if (type == DType::kInt32) {
    return Tensor::Of<int32_t>(dims, std::vector<int32_t>(numbers.begin(), numbers.end()));
  }
  const auto bits = std::make_unique<bool[]>(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) bits[i] = numbers[i] > 0;
  return Tensor::Of<bool>(dims, absl::MakeConstSpan(bits.get(), numbers.size()));
}

// The first result of the op with the defaults of its attributes, of real numbers; nullopt where it
// does not take these operands.
std::optional<Tensor> Evaluated(const OpDef& op, const std::vector<Tensor>& operands) {
  std::string inputs, names;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string name = StrCat("x", i);
    StrAppend(&inputs, i ? ", " : "", name, ": ", operands[i].type().ToString());
    StrAppend(&names, i ? ", " : "", name);
  }
  const auto graph = ParseGraph(
      StrCat("graph g(", inputs, ") -> (y) {\n y = ", op.name().view(), "(", names, ")\n}"));
  if (!graph.ok() || !op.Check(*(*graph)->outputs()[0]->producer()).ok()) return std::nullopt;
  std::vector<Datum> data;
  for (const Tensor& operand : operands) data.emplace_back(operand);
  const absl::StatusOr<std::vector<Datum>> results = RunGraph(**graph, std::move(data));
  if (!results.ok() || results->empty()) return std::nullopt;
  const Tensor* result = (*results)[0].tensor();
  if (!result || result->is_string() || IsComplex(result->dtype())) return std::nullopt;
  return *result;
}

// How many tensors it needs; nullopt for an op that evaluation with numbers alone cannot reach.
std::optional<size_t> Operands(const OpDef& op) {
  if (op.impure() || !op.eval() || op.outputs().empty()) return std::nullopt;
  for (const AttrDef& attr : op.attrs()) {
    if (!attr.default_value && !attr.optional) return std::nullopt;
  }
  size_t count = 0;
  for (const OperandDef& operand : op.inputs()) {
    count += operand.arity == Arity::kRequired ? 1 : operand.arity == Arity::kVariadic ? 2 : 0;
  }
  return count;
}

bool Same(const Tensor& a, const Tensor& b, bool signs_of_zero) {
  if (a.type() != b.type()) return false;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double x = a.AsDouble(i), y = b.AsDouble(i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x != y || (signs_of_zero && std::signbit(x) != std::signbit(y))) return false;
  }
  return true;
}

std::vector<Tensor> With(std::vector<Tensor> operands, size_t i, Tensor other) {
  operands[i] = std::move(other);
  return operands;
}

TEST(Traits, OfZerosHold) {
  size_t evaluated = 0;
  const size_t n = kNumbers.size();
  const Tensor zeros = TensorOf(DType::kFloat32, std::vector<float>(n, 0.0f)),
               minus = TensorOf(DType::kFloat32, std::vector<float>(n, -0.0f));
  for (const OpDef* op : AllOps()) {
    const std::optional<size_t> count = Operands(*op);
    for (size_t i = 0; count && i < *count; ++i) {
      for (const float others : {-1.0f, 0.0f, 0.5f, 1.0f, 2.0f}) {
        const std::vector<Tensor> operands(
            *count, TensorOf(DType::kFloat32, std::vector<float>(n, others)));
        const std::optional<Tensor> with_zero = Evaluated(*op, With(operands, i, zeros)),
                                    with_minus = Evaluated(*op, With(operands, i, minus));
        if (!with_zero || !with_minus) continue;
        ++evaluated;
        const bool tells =
            op->zeros() == ZeroUse::kTells || (i == 1 && op->zeros() == ZeroUse::kTellsOfOperand1);
        EXPECT_TRUE(tells || Same(*with_zero, *with_minus, false))
            << op->name().view() << " tells 0 from -0 of operand " << i << " beside " << others
            << ": .Zeros(ZeroUse::kTells)";
        if (op->zeros() == ZeroUse::kForgets) {
          EXPECT_TRUE(Same(*with_zero, *with_minus, true))
              << op->name().view() << " does not forget which zero operand " << i << " was";
        }
      }
    }
  }
  EXPECT_GT(evaluated, 300u);
}

TEST(Traits, OfResultsHold) {
  size_t evaluated = 0;
  for (const OpDef* op : AllOps()) {
    const std::optional<size_t> count = Operands(*op);
    if (!count || op->gives() == ResultUse::kAny || op->gives() == ResultUse::kMeans) continue;
    const std::vector<Tensor> operands(*count, TensorOf(DType::kFloat32, kNumbers));
    const std::optional<Tensor> result = Evaluated(*op, operands);
    if (!result) continue;
    ++evaluated;
    for (int64_t i = 0; i < result->num_elements(); ++i) {
      const double number = result->AsDouble(i);
      if (std::isnan(number)) continue;
      if (op->gives() == ResultUse::kNotNegative) {
        EXPECT_GE(number, 0) << op->name().view();
      } else {
        EXPECT_TRUE(std::isinf(number) || number == std::trunc(number)) << op->name().view();
      }
    }
  }
  EXPECT_GT(evaluated, 8u);
}

TEST(Traits, EquationsHold) {
  size_t evaluated = 0;
  for (const OpDef* op : AllOps()) {
    for (const DType type : kTypes) {
      const Tensor x = TensorOf(type, kNumbers);
      const auto expect = [&](const std::optional<Tensor>& got, const std::optional<Tensor>& want,
                              std::string_view equation) {
        if (!got || !want || got->dtype() != want->dtype()) return;
        ++evaluated;
        EXPECT_TRUE(Same(*got, *want, false)) << op->name().view() << ": " << equation;
      };
      const std::optional<Tensor> once = Evaluated(*op, {x}), same = Evaluated(*op, {x, x});
      const std::optional<Tensor> twice = once ? Evaluated(*op, {*once}) : std::nullopt;
      if (op->obeys(kTwiceIsNothing)) expect(twice, x, "f(f(x)) = x");
      if (op->obeys(kTwiceIsOnce)) expect(twice, once, "f(f(x)) = f(x)");
      if (op->obeys(kOfSameIsIt)) expect(same, x, "f(x, x) = x");
      if (op->obeys(kOfOneIsIt)) expect(once, x, "f(x) = x");
      if (!op->neutral()) continue;
      const Tensor neutral =
          TensorOf(type, std::vector<float>(kNumbers.size(), static_cast<float>(*op->neutral())));
      expect(Evaluated(*op, {x, neutral}), x, "f(x, neutral) = x");
      if (op->commutes()) expect(Evaluated(*op, {neutral, x}), x, "f(neutral, x) = x");
    }
  }
  EXPECT_GT(evaluated, 40u);
}

TEST(Traits, OpsThatCommuteDo) {
  size_t evaluated = 0;
  const std::vector<float> others(kNumbers.rbegin(), kNumbers.rend());
  for (const OpDef* op : AllOps()) {
    for (const DType type : kTypes) {
      if (!op->commutes()) continue;
      const Tensor x = TensorOf(type, kNumbers), y = TensorOf(type, others);
      const std::optional<Tensor> xy = Evaluated(*op, {x, y}), yx = Evaluated(*op, {y, x});
      if (!xy || !yx) continue;
      ++evaluated;
      EXPECT_TRUE(Same(*xy, *yx, false)) << op->name().view();
    }
  }
  EXPECT_GT(evaluated, 15u);
}

}  // namespace
}  // namespace x2ir
