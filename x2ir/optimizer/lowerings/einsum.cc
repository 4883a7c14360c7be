// einsum of one or two operands as reduce_sum, transpose, mul and matmul.
#include "x2ir/ops/einsum.h"

#include <algorithm>
#include <string>
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/lowerings/integer_math.h"

namespace x2ir {
namespace {

bool Has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

// A value whose axes have names. '_' is an axis of size 1.
struct Named {
  Value* value;
  std::string letters;
};

Value* Transposed(Builder& b, Value* value, const std::vector<int64_t>& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return value;
  return b.Op("transpose", {value}, {{"perm", perm}});
}

// Takes the diagonal of letters that occur twice: of all elements along the second axis, summed up,
// those off the diagonal are 0 (by where, since 0 times infinity is not).
absl::StatusOr<Named> WithoutRepeats(Rewrite& r, Named x) {
  Builder& b = r.b;
  IntegerMath math(r);
  const DType t = r.dtype(0);
  for (size_t i = 0; i < x.letters.size(); ++i) {
    for (size_t k = x.letters.rfind(x.letters[i]); k > i; k = x.letters.rfind(x.letters[i])) {
      const int64_t rank = static_cast<int64_t>(x.letters.size());
      const auto first = static_cast<int64_t>(i), second = static_cast<int64_t>(k);
      const Shape& shape = *x.value->shape();
      if (!ProvablyEqual(shape[first], shape[second]) || !(IsFloating(t) || IsInteger(t))) {
        return CannotExpress("a diagonal needs axes of equal size");
      }
      Value* places = math.Get(math.Positions(math.Size(x.value, first)), "positions");
      Value* on = b.Op("equal", {AlongAxis({b, places}, first, rank, "axes"),
                                 AlongAxis({b, places}, second, rank, "axes")});
      Value* kept = b.Op("where", {on, x.value, b.Scalar(t, 0, "zero")});
      x.value = b.Op("reduce_sum", {kept, b.Ints({second}, "axis")}, {{"keepdims", 0}});
      x.letters.erase(k, 1);
    }
  }
  return x;
}

// Sums up the letters that are not in `keep`.
Named Summed(Builder& b, Named x, const std::string& keep) {
  std::vector<int64_t> axes;
  std::string letters;
  for (size_t i = 0; i < x.letters.size(); ++i) {
    if (Has(keep, x.letters[i])) {
      letters += x.letters[i];
    } else {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  if (axes.empty()) return x;
  return {b.Op("reduce_sum", {x.value, b.Ints(axes, "axes")}, {{"keepdims", 0}}), letters};
}

// The axes in the order of `to`, with new ones of size 1 where `to` has what x lacks.
Value* Arranged(Builder& b, const Named& x, const std::string& to) {
  std::vector<int64_t> perm, added;
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t at = x.letters.find(to[i]);
    if (at == std::string::npos) {
      added.push_back(static_cast<int64_t>(i));
    } else {
      perm.push_back(static_cast<int64_t>(at));
    }
  }
  Value* value = Transposed(b, x.value, perm);
  return added.empty() ? value : b.Op("unsqueeze", {value, b.Ints(added, "axes")});
}

// The last n axes as one of size `size`.
Value* Merged(Builder& b, Value* value, int64_t rank, int64_t n, int64_t size) {
  if (n == 1) return value;
  std::vector<int64_t> dims(rank - n, 0);  // 0: as it was
  dims.push_back(size);
  return b.Op("reshape", {value, b.Ints(dims, "shape")});
}

// Sizes of `inner` in x, as one number; nullopt when not all are known.
std::optional<int64_t> InnerSize(const Named& x, const std::string& inner) {
  Dim size = 1;
  for (char c : inner) size = size * (*x.value->shape())[x.letters.find(c)];
  return size.is_static() ? std::optional(size.value()) : std::nullopt;
}

absl::StatusOr<Named> Product(Rewrite& r, Named x, Named y, const std::string& result) {
  Builder& b = r.b;
  x = Summed(b, x, y.letters + result);
  y = Summed(b, y, x.letters + result);
  std::string left, right, inner, batch;
  for (char c : x.letters) {
    if (!Has(y.letters, c)) {
      left += c;
    } else if (Has(result, c)) {
      batch += c;
    } else {
      inner += c;
      // A size of 1 would broadcast in einsum, but not in matmul.
      const Dim& a = (*x.value->shape())[x.letters.find(c)];
      const Dim& d = (*y.value->shape())[y.letters.find(c)];
      if ((a == Dim(1)) != (d == Dim(1)) || ProvablyDifferent(a, d)) {
        return CannotExpress("sizes ", a.ToString(), " and ", d.ToString(), " of axis '",
                             std::string(1, c), "' broadcast");
      }
    }
  }
  for (char c : y.letters) {
    if (!Has(x.letters, c)) right += c;
  }
  if (inner.empty()) {
    const std::string letters = batch + left + right;
    return Named{b.Op("mul", {Arranged(b, x, letters), Arranged(b, y, letters)}), letters};
  }
  // One axis of each side is the matrix's own; further ones broadcast.
  if (left.size() > 1) batch += left.substr(0, left.size() - 1);
  if (right.size() > 1) batch += right.substr(0, right.size() - 1);
  const std::string row = left.empty() ? "_" : left.substr(left.size() - 1);
  const std::string column = right.empty() ? "_" : right.substr(right.size() - 1);
  const int64_t n = static_cast<int64_t>(inner.size());
  const int64_t rank = static_cast<int64_t>(batch.size()) + 1 + n;
  const auto size = InnerSize(x, inner);
  if (n > 1 && (!size || size != InnerSize(y, inner))) {
    return CannotExpress("the sizes of the axes that are summed up are not known");
  }
  Value* a = Merged(b, Arranged(b, x, batch + row + inner), rank, n, size.value_or(0));
  Value* c;
  if (n == 1) {
    c = Arranged(b, y, batch + inner + column);
  } else {
    std::vector<int64_t> perm;
    for (int64_t i = 0; i < rank - n - 1; ++i) perm.push_back(i);
    perm.insert(perm.end(), {rank - n, rank - n - 1});
    c = Transposed(b, Merged(b, Arranged(b, y, batch + column + inner), rank, n, *size), perm);
  }
  Named product = {b.Op("matmul", {a, c}), batch + row + column};
  std::vector<int64_t> ones;
  for (size_t i = 0; i < product.letters.size(); ++i) {
    if (product.letters[i] == '_') ones.push_back(static_cast<int64_t>(i));
  }
  if (!ones.empty()) {
    product.value = b.Op("squeeze", {product.value, b.Ints(ones, "axes")});
    product.letters.erase(std::remove(product.letters.begin(), product.letters.end(), '_'),
                          product.letters.end());
  }
  return product;
}

absl::StatusOr<Values> EinsumAsMatMul(Rewrite& r) {
  const size_t n = r.node.num_inputs();
  if (n > 2) return CannotExpress("as MatMul, it needs at most two operands, got ", n);
  X2IR_ASSIGN_OR_RETURN(Equation equation, ParseEquation(r.attrs().String("equation")));
  std::vector<int64_t> ranks;
  for (size_t i = 0; i < n; ++i) {
    if (r.rank(i) < 0) return CannotExpress("as MatMul, it needs operands of known rank");
    ranks.push_back(r.rank(i));
  }
  X2IR_ASSIGN_OR_RETURN(equation, ExpandEllipsis(std::move(equation), ranks));
  X2IR_ASSIGN_OR_RETURN(Named value, WithoutRepeats(r, {r.in(0), equation.terms[0]}));
  if (n == 2) {
    X2IR_ASSIGN_OR_RETURN(Named other, WithoutRepeats(r, {r.in(1), equation.terms[1]}));
    X2IR_ASSIGN_OR_RETURN(value, Product(r, value, std::move(other), equation.result));
  }
  value = Summed(r.b, value, equation.result);
  return Values{Arranged(r.b, value, equation.result)};
}
X2IR_LOWERING(einsum, EinsumAsMatMul);

}  // namespace
}  // namespace x2ir
