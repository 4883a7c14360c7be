// The dialect, and what handlers of its operations share.
#include "x2ir/core/dialect.h"

#include <algorithm>
#include <utility>

#include "x2ir/core/kept_functions.h"
#include "x2ir/core/read_through.h"
#include "x2ir/formats/stablehlo/stablehlo.h"
#include "x2ir/handlers/stablehlo/operations.h"
#include "x2ir/handlers/stablehlo/prepare.h"
#include "x2ir/handlers/stablehlo/stablehlo.h"

namespace x2ir {
namespace {

[[maybe_unused]] const bool kRegistered = RegisterDialect({.name = std::string(stablehlo::kDialect),
                                                           .holds_any_ops = false,
                                                           .check = CheckStablehloNode,
                                                           .after_read = PrepareStablehlo});
[[maybe_unused]] const bool kRegisteredFunctions =
    RegisterFunctionFiles({.name = stablehlo::kDialect, .domain = stablehlo::kFunctionDomain});

// Whether a type of that shape needs no broadcast to become one of the other.
bool IsAsLarge(const Shape& from, const Shape& to) {
  if (from.rank() != to.rank()) return false;
  for (int64_t i = 0; i < from.rank(); ++i) {
    if (!ProvablyEqual(from[i], to[i])) return false;
  }
  return true;
}

// The size of an axis, counted from the end, of operands that are broadcast with each other.
Dim SizeTogether(const Values& operands, int64_t axis) {
  Dim size = 1;
  for (const Value* operand : operands) {
    const Shape& shape = *operand->shape();
    if (shape.rank() + axis < 0) continue;
    const Dim& own = shape[shape.rank() + axis];
    if (own == Dim(1) || ProvablyEqual(own, size)) continue;
    if (own.is_static()) return own;
    size = size == Dim(1) ? own : Dim::Unknown();
  }
  return size;
}

}  // namespace

// --- Reading -------------------------------------------------------------------------------------

std::vector<int64_t> StablehloArgs::OutSizes(size_t i) {
  const Shape* shape = out_type(i).shape();
  const auto sizes = shape ? shape->Static() : std::nullopt;
  Require(sizes.has_value(), "a result of a size that is not known");
  return sizes.value_or(std::vector<int64_t>());
}

absl::StatusOr<Values> AsStablehlo(StablehloArgs& a, std::string_view op,
                                   std::vector<Value*> operands, AttributeMap attrs) {
  std::vector<ReadThroughResult> results;
  for (size_t i = 0; i < a.num_outputs(); ++i) {
    const Value* output = a.node().output(i);
    results.push_back({output != nullptr, output ? output->type() : Type()});
  }
  return ReadThrough(a, stablehlo::kDialect, 1, op, std::move(operands), std::move(attrs), results);
}

// --- Writing -------------------------------------------------------------------------------------

Values StablehloWriter::HloAll(std::string_view op, std::vector<Value*> operands,
                               AttributeMap attrs, const std::vector<bool>& wanted,
                               const std::vector<x2ir::Type>& results) {
  return Make(stablehlo::kDialect, op, std::move(operands), std::move(attrs), wanted, results);
}

Value* StablehloWriter::Hlo(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                            x2ir::Type result) {
  return HloAll(op, std::move(operands), std::move(attrs), {true}, {std::move(result)})[0];
}

absl::StatusOr<std::vector<int64_t>> StablehloWriter::Sizes(const x2ir::Type& type) const {
  const auto sizes = type.shape() ? type.shape()->Static() : std::nullopt;
  if (!sizes) return CannotExpress("sizes that are not known");
  return *sizes;
}

absl::StatusOr<Values> StablehloWriter::Broadcast(const Values& operands) {
  int64_t rank = 0;
  for (const Value* operand : operands) {
    X2IR_ASSIGN_OR_RETURN(const int64_t own, RankOf(operand));
    rank = std::max(rank, own);
  }
  Shape shape = Shape::UnknownDims(rank);
  for (int64_t i = 0; i < rank; ++i) shape[i] = SizeTogether(operands, i - rank);
  const auto sizes = shape.Static();
  Values values;
  for (Value* operand : operands) {
    Value* wide = operand;
    if (!IsAsLarge(*operand->shape(), shape)) {
      if (sizes) {
        wide = Op("expand", {operand, Ints(*sizes)});
      } else {
        // By the sizes of the others: expand broadcasts both ways.
        for (Value* other : operands) {
          if (other == operand || other->shape()->rank() == 0) continue;
          wide = Op("expand", {wide, Op("shape", {other})});
        }
      }
    }
    values.push_back(wide);
  }
  return values;
}

}  // namespace x2ir
