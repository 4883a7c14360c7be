#include "x2ir/inspect/number_match.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "x2ir/graph_wrapper/strings.h"
#include "x2ir/ops/eval_util.h"

namespace x2ir {
namespace {

constexpr double kAlike = 1e-4;   // of the largest element
constexpr double kAsNear = 1e-5;  // what rounding makes

// Two numbers that tell most tensors apart: the length, and the length along one direction.
struct Print {
  double norm = 0, projection = 0;
};

// Nothing where the tensor says nothing.
std::optional<Print> PrintOf(const Tensor& tensor) {
  if (tensor.is_sparse() || !IsFloating(tensor.dtype()) || tensor.num_elements() < 2) {
    return std::nullopt;
  }
  const Numbers<double> numbers(tensor);
  double low = numbers[0], high = numbers[0], squares = 0;
  Print print;
  uint32_t bits = 1;
  for (const double v : numbers.span()) {
    if (!std::isfinite(v)) return std::nullopt;
    low = std::min(low, v);
    high = std::max(high, v);
    squares += v * v;
    bits = bits * 1664525 + 1013904223;
    print.projection += bits >> 31 ? v : -v;
  }
  if (low == high) return std::nullopt;
  print.norm = std::sqrt(squares);
  return print;
}

// One exporter works on rows, where the other has images of them.
std::string KeyOf(const Tensor& tensor) {
  return StrCat(Name(tensor.dtype()), " ", tensor.num_elements());
}

int Likeness(const Value& a, const Value& b) {
  const Node *x = a.producer(), *y = b.producer();
  return (a.name() == b.name() ? 2 : 0) + (x && y && x->op() == y->op() ? 1 : 0);
}

}  // namespace

double ErrorOf(const Tensor& got, const Tensor& expected) {
  const Numbers<double> p(got), q(expected);
  // Masks are made of numbers far beyond all others.
  constexpr double kOfMasks = 9999, kBeyond = 100;
  double most = 0, of_others = 0;
  for (const double v : q.span()) {
    if (!std::isfinite(v)) continue;
    most = std::max(most, std::fabs(v));
    if (std::fabs(v) < kOfMasks) of_others = std::max(of_others, std::fabs(v));
  }
  if (of_others > 0 && most > kBeyond * of_others) most = of_others;
  double error = 0;
  for (int64_t i = 0; i < q.size(); ++i) {
    const double off = std::fabs(p[i] - q[i]);
    if (off > 0 && std::isfinite(off))
      error = std::max(error, off / std::max(most, std::fabs(q[i])));
  }
  return error;
}

void NumberMatch::Add(const Value* value, Tensor tensor) {
  if (const std::optional<Print> print = PrintOf(tensor)) {
    std::string key = KeyOf(tensor);
    entries_[std::move(key)].push_back({value, std::move(tensor), print->norm, print->projection});
  }
}

const Value* NumberMatch::Take(const Value* value, const Tensor& tensor) {
  const auto it = entries_.find(KeyOf(tensor));
  if (it == entries_.end()) return nullptr;
  const std::optional<Print> print = PrintOf(tensor);
  if (!print) return nullptr;
  Entry* best = nullptr;
  double least = kAlike;
  int most = -1;
  // An element may be off by a part of the largest one, and the length by that times the root of
  // their number.
  const double slack = kAlike * print->norm * std::sqrt(static_cast<double>(tensor.num_elements()));
  for (Entry& entry : it->second) {
    if (entry.taken || std::fabs(entry.norm - print->norm) > slack ||
        std::fabs(entry.projection - print->projection) >
            slack * std::sqrt(static_cast<double>(tensor.num_elements()))) {
      continue;
    }
    const double error = std::max(ErrorOf(tensor, entry.tensor), kAsNear);
    const int likeness = Likeness(*entry.value, *value);
    if (!(error < least || (error == least && likeness > most))) continue;
    best = &entry;
    least = error;
    most = likeness;
  }
  if (!best) return nullptr;
  best->taken = true;
  best->tensor = Tensor();
  return best->value;
}

}  // namespace x2ir
