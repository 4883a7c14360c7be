// See integer_math.h.
#include "x2ir/optimizer/lowerings/integer_math.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// Positions are a constant up to this many; beyond it a file would grow for nothing.
constexpr int64_t kMaxPositions = int64_t{1} << 16;

int64_t Apply(std::string_view op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  if (op == "add") return static_cast<int64_t>(x + y);
  if (op == "sub") return static_cast<int64_t>(x - y);
  if (op == "mul") return static_cast<int64_t>(x * y);
  if (op == "max") return std::max(a, b);
  if (op == "min") return std::min(a, b);
  return b == -1 ? static_cast<int64_t>(0 - x) : a / b;
}

}  // namespace

Integers IntegerMath::Read(Value* operand) {
  if (auto known = KnownInts(operand)) return Of(*std::move(known));
  Value* value = Expr(b_, operand).To(DType::kInt64);
  const Shape* shape = value->shape();
  if (!shape || shape->rank() != 1) value = b_.Op("reshape", {value, b_.Ints({-1}, "vector")});
  return {std::nullopt, value};
}

Integers IntegerMath::Sizes(const Value* x, const std::vector<int64_t>& axes) {
  if (!x->shape()) {  // such as the result of an op that could not be made
    b_.Fail(CannotExpress("the rank is not known"));
    return Of(std::vector<int64_t>(axes.size(), 0));
  }
  std::vector<int64_t> known;
  for (int64_t i : axes) {
    if ((*x->shape())[i].is_static()) known.push_back((*x->shape())[i].value());
  }
  if (known.size() == axes.size()) return Of(std::move(known));
  Value* shape = b_.Op("shape", {const_cast<Value*>(x)});
  return {std::nullopt, b_.Op("gather", {shape, b_.Ints(axes, "axes")}, {{"axis", 0}})};
}

Integers IntegerMath::Sizes(const Value* x, int64_t from, int64_t to) {
  std::vector<int64_t> axes(std::max<int64_t>(to - from, 0));
  std::iota(axes.begin(), axes.end(), from);
  return Sizes(x, axes);
}

Integers IntegerMath::Binary(std::string_view op, const Integers& a, const Integers& b) {
  if (!a.known || !b.known) {
    if (op == "max") return {std::nullopt, Maximum(Get(a), Get(b))};
    if (op == "min") return {std::nullopt, Minimum(Get(a), Get(b))};
    return {std::nullopt, b_.Op(op, {Get(a), Get(b)})};
  }
  const size_t m = a.known->size(), n = b.known->size();
  std::vector<int64_t> y;
  for (size_t i = 0; i < (m == 1 ? n : m); ++i) {
    y.push_back(Apply(op, (*a.known)[m == 1 ? 0 : i], (*b.known)[n == 1 ? 0 : i]));
  }
  return Of(y);
}

Integers IntegerMath::At(const Integers& a, std::vector<int64_t> positions) {
  if (!a.known) {
    return {std::nullopt,
            b_.Op("gather", {a.computed, b_.Ints(positions, "positions")}, {{"axis", 0}})};
  }
  for (int64_t& p : positions) p = (*a.known)[p];
  return Of(std::move(positions));
}

Integers IntegerMath::Concat(const Integers& a, const Integers& b) {
  if (!a.known || !b.known) {
    return {std::nullopt, b_.Op("concat", {Get(a), Get(b)}, {{"axis", 0}})};
  }
  std::vector<int64_t> all = *a.known;
  all.insert(all.end(), b.known->begin(), b.known->end());
  return Of(std::move(all));
}

Integers IntegerMath::Product(const Integers& a) {
  if (!a.known) {
    return {std::nullopt, b_.Op("reduce_prod", {a.computed, b_.Ints({0}, "axes")})};
  }
  int64_t product = 1;
  for (int64_t v : *a.known) product = Apply("mul", product, v);
  return Of({product});
}

Integers IntegerMath::Positions(const Integers& n) {
  if (n.known && (*n.known)[0] <= kMaxPositions) {
    std::vector<int64_t> positions(std::max<int64_t>((*n.known)[0], 0));
    std::iota(positions.begin(), positions.end(), 0);
    return Of(std::move(positions));
  }
  Value* axis = b_.Ints({0}, "axis");
  if (target_.Has("range")) {
    Value* limit = b_.Op("squeeze", {Get(n), axis});
    return {std::nullopt, b_.Op("range", {b_.Int(0, "start"), limit, b_.Int(1, "delta")})};
  }
  // The positions of the ones in a vector.
  Value* ones = b_.Op("expand", {b_.Ints({1}, "one"), Get(n)});
  return {std::nullopt, b_.Op("squeeze", {b_.Op("non_zero", {ones}), axis})};
}

Value* IntegerMath::Get(const Integers& a, std::string_view hint) {
  return a.known ? b_.Ints(*a.known, hint.empty() ? "ints" : hint) : a.computed;
}

Value* IntegerMath::Select(Value* a, Value* b, std::string_view compare, std::string_view op) {
  if (target_.Takes(op, 0, DType::kInt64)) return b_.Op(op, {a, b});
  return b_.Op("where", {b_.Op(compare, {a, b}), a, b});
}

Value* IntegerMath::FromFront(Value* indices, const Integers& size) {
  indices = Expr(b_, indices).To(DType::kInt64);
  Value* negative = b_.Op("less", {indices, b_.Int(0, "zero")});
  return b_.Op("where", {negative, b_.Op("add", {indices, Get(size, "size")}), indices});
}

}  // namespace x2ir
