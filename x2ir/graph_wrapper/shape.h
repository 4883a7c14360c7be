// Dim and Shape. A Dim is a number, a symbolic expression over named sizes
// (`batch`, `2*seq+1`), or unknown. Expressions are kept in one canonical form (a
// polynomial with integer coefficients over names and over the opaque functions
// floordiv, mod, min, max), so that equal expressions of common shapes compare equal.
#ifndef X2IR_GRAPH_WRAPPER_SHAPE_H_
#define X2IR_GRAPH_WRAPPER_SHAPE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

class SymExpr;  // shape.cc

class Dim {
 public:
  Dim() = default;                                        // unknown
  Dim(int64_t value) : state_(kStatic), value_(value) {}  // NOLINT: implicit by design
  Dim(int value) : Dim(int64_t{value}) {}                 // NOLINT
  static Dim Unknown() { return Dim(); }
  // A named size. The text is parsed as an expression where it is one ("2*seq+1",
  // "floordiv(h, 2)", "7"); any other text (ONNX allows every string as dim_param)
  // is one opaque name.
  static Dim Symbol(std::string_view text);

  bool is_static() const { return state_ == kStatic; }
  bool is_symbolic() const { return state_ == kSymbolic; }
  bool is_unknown() const { return state_ == kUnknown; }
  int64_t value() const { return value_; }  // only when is_static()

  // "3", "2*seq+1", "?"; what Symbol() read is spelled as it was there, so that equal dims may
  // have different texts. Symbol(ToString()) gives an equal Dim for static and symbolic ones.
  std::string ToString() const;

  // Structural equality. Two unknowns are == as data, yet nothing says that they are the
  // same size: ask ProvablyEqual for that.
  friend bool operator==(const Dim& a, const Dim& b);
  friend bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }

  // Arithmetic over sizes; unknown in, unknown out (but 0 * unknown is 0). A result that
  // overflows int64 is unknown.
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);

  // The symbol names in this expression, sorted, each once.
  std::vector<std::string> SymbolNames() const;
  // Replaces names by what `lookup` gives (nullopt keeps the name).
  Dim Substitute(const std::function<std::optional<Dim>(std::string_view)>& lookup) const;

 private:
  friend class SymExpr;
  friend Dim MakeDim(std::shared_ptr<const SymExpr> expr);
  enum State : uint8_t { kUnknown, kStatic, kSymbolic };
  State state_ = kUnknown;
  int64_t value_ = 0;
  std::shared_ptr<const SymExpr> expr_;
};

// Rounding towards minus infinity (as Python's //) and its remainder (sign of the
// divisor). Division by a known zero is unknown. floordiv(a*k, k) is a.
Dim FloorDiv(const Dim& a, const Dim& b);
Dim CeilDiv(const Dim& a, const Dim& b);
Dim Mod(const Dim& a, const Dim& b);
Dim Min(const Dim& a, const Dim& b);
Dim Max(const Dim& a, const Dim& b);

// True only when both are the same size in every run: equal numbers or equal expressions.
bool ProvablyEqual(const Dim& a, const Dim& b);
// True only when they differ in every run: two different numbers, or expressions whose
// difference is a non-zero constant.
bool ProvablyDifferent(const Dim& a, const Dim& b);

class Shape {
 public:
  Shape() = default;  // rank 0
  Shape(std::initializer_list<Dim> dims) : dims_(dims) {}
  explicit Shape(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  static Shape FromInts(absl::Span<const int64_t> dims);
  static Shape UnknownDims(int64_t rank) {
    return Shape(std::vector<Dim>(static_cast<size_t>(rank)));
  }

  int64_t rank() const { return static_cast<int64_t>(dims_.size()); }
  const Dim& operator[](int64_t i) const { return dims_[static_cast<size_t>(i)]; }
  Dim& operator[](int64_t i) { return dims_[static_cast<size_t>(i)]; }
  const std::vector<Dim>& dims() const { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  void Append(Dim d) { dims_.push_back(std::move(d)); }

  bool is_static() const;
  // The numbers, when all dims are static.
  std::optional<std::vector<int64_t>> Static() const;
  // Product of dims: a number, an expression or unknown; 1 for rank 0.
  Dim NumElements() const;
  Dim NumElements(int64_t from, int64_t to) const;  // product over [from, to)

  std::string ToString() const;  // "2,3,seq", "" for rank 0
  friend bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_; }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }

 private:
  std::vector<Dim> dims_;
};

// Product of non-negative sizes; nullopt if one is negative or the product overflows int64.
std::optional<int64_t> CheckedProduct(absl::Span<const int64_t> dims);

}  // namespace x2ir

#endif  // X2IR_GRAPH_WRAPPER_SHAPE_H_
