// Formulas over values as they are written on paper:
//
//   Calc m(c);
//   Num x = m.In("self", DType::kFloat64);
//   return {m.Out(If(x == 0, 1, Sin(x) / x), c.out_dtype())};
//
// Numbers take the element type of what they stand beside. Everything is by element and
// broadcasts, unless it says otherwise.
#ifndef X2IR_HANDLERS_TORCH_CALC_H_
#define X2IR_HANDLERS_TORCH_CALC_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "x2ir/handlers/torch/torch.h"

namespace X2IR_API x2ir {

class Calc;

class Num {
 public:
  Num(Calc& m, Value* v) : m_(&m), v_(v) {}
  Calc& m() const { return *m_; }
  Value* v() const { return v_; }
  DType dtype() const { return v_->dtype(); }
  int64_t rank() const;        // Fail()s when not known
  Num N(double number) const;  // a number of the same type
  Num Op(Symbol op, std::vector<Num> others = {}, AttributeMap attrs = {}) const;
  Num As(DType dtype) const;  // cast

 private:
  Calc* m_;
  Value* v_;
};

// Makes nodes in the graph of the call, or in the body of a loop while that is written.
class Calc {
 public:
  explicit Calc(TorchCall& c) : c_(c), b_(&c.b()) {}
  TorchCall& c() { return c_; }
  Builder& b() { return *b_; }

  Num In(std::string_view name, DType dtype) { return {*this, c_.Operand(name, dtype)}; }
  Num In(std::string_view name) { return {*this, c_.Tensor(name)}; }
  Num Of(Value* v) { return {*this, v}; }
  Value* Out(const Num& x, DType dtype) { return x.As(dtype).v(); }
  Num Ints(absl::Span<const int64_t> values) { return {*this, b_->Ints(values)}; }
  Num Int(int64_t value) { return {*this, b_->Int(value)}; }
  // Of these dims; Fail()s where they, or the type, are nothing to allocate.
  Value* Zeros(DType dtype, std::vector<int64_t> dims);
  // Rank 1, float64.
  Num Doubles(const std::vector<double>& values);

  // `count` (int64, rank 0) rounds of `body`, which gets the round's number (from 0) and what is
  // carried, and gives what is carried on, of the same types and shapes.
  using Body = std::function<std::vector<Num>(const Num& i, const std::vector<Num>& carried)>;
  std::vector<Num> Rounds(const Num& count, const std::vector<Num>& carried, const Body& body);

 private:
  TorchCall& c_;
  Builder* b_;
};

Num operator+(const Num& a, const Num& b);
Num operator-(const Num& a, const Num& b);
Num operator*(const Num& a, const Num& b);
Num operator/(const Num& a, const Num& b);
Num operator<(const Num& a, const Num& b);
Num operator<=(const Num& a, const Num& b);
Num operator>(const Num& a, const Num& b);
Num operator>=(const Num& a, const Num& b);
Num operator==(const Num& a, const Num& b);
#define X2IR_WITH_NUMBERS(op)                                            \
  inline Num operator op(const Num& a, double b) { return a op a.N(b); } \
  inline Num operator op(double a, const Num& b) { return b.N(a) op b; }
X2IR_WITH_NUMBERS(+)
X2IR_WITH_NUMBERS(-)
X2IR_WITH_NUMBERS(*)
X2IR_WITH_NUMBERS(/)
X2IR_WITH_NUMBERS(<)
X2IR_WITH_NUMBERS(<=)
X2IR_WITH_NUMBERS(>)
X2IR_WITH_NUMBERS(>=)
X2IR_WITH_NUMBERS(==)
#undef X2IR_WITH_NUMBERS
Num operator-(const Num& x);
// Of bools.
Num operator&(const Num& a, const Num& b);
Num operator|(const Num& a, const Num& b);
Num operator^(const Num& a, const Num& b);
Num operator!(const Num& x);

Num If(const Num& test, const Num& a, const Num& b);
inline Num If(const Num& test, const Num& a, double b) { return If(test, a, a.N(b)); }
inline Num If(const Num& test, double a, const Num& b) { return If(test, b.N(a), b); }

Num Abs(const Num& x);
Num Sign(const Num& x);
Num Exp(const Num& x);
Num Log(const Num& x);
Num Sqrt(const Num& x);
Num Sin(const Num& x);
Num Cos(const Num& x);
Num Floor(const Num& x);
Num Round(const Num& x);  // halves to even
Num Pow(const Num& x, const Num& y);
Num Mod(const Num& x, const Num& y);  // of floats C's fmod, of integers Python's
Num Max(const Num& a, const Num& b);
Num Min(const Num& a, const Num& b);
inline Num Max(const Num& a, double b) { return Max(a, a.N(b)); }
inline Num Min(const Num& a, double b) { return Min(a, a.N(b)); }
Num IsNaN(const Num& x);
Num IsInf(const Num& x);
Num Negative(const Num& x);  // the sign bit, that of -0 included
Num Log1p(const Num& x);     // exact near 0
Num Expm1(const Num& x);
Num LogSigmoid(const Num& x);
// c[0] + c[1] x + c[2] x^2 ...
Num Polynomial(const Num& x, const std::vector<double>& c);
inline Num Square(const Num& x) { return x * x; }

// --- Shapes -----------------------------------------------------------------------------------

Num Unsqueeze(const Num& x, int64_t axis);  // < 0: from the end of the result
Num Squeeze(const Num& x, int64_t axis);
Num Sum(const Num& x, int64_t axis, bool keepdim = false);  // < 0: from the end
Num SumAll(const Num& x);
Num Gather(const Num& x, const Num& index, int64_t axis);
Num GatherElements(const Num& x, const Num& index, int64_t axis);
Num MatMul(const Num& a, const Num& b);  // integers that runtimes have no kernels for, too
Num Transposed(const Num& x);            // the last two axes
// What is known of a size; of tensors without that axis nothing is.
Dim DimAt(const Num& x, int64_t axis);   // < 0: from the end
Num SizeOf(const Num& x, int64_t axis);  // int64, rank 0; < 0: from the end
Num Iota(const Num& n);                  // 0, 1, ... n - 1
Num ExpandTo(const Num& x, const Num& shape);
Num ShapeOf(const Num& x);
// x[..., j] = x * nodes[j], and the sum of y[..., j] * weights[j].
Num Spread(const Num& x, const std::vector<double>& nodes);
Num Weigh(const Num& y, const std::vector<double>& weights);

// A handler of one operand, computed in float64.
TorchHandler InDoubles(Num (*f)(const Num&), std::string_view operand = "self");
// Of two operands.
TorchHandler InDoubles2(Num (*f)(const Num&, const Num&), std::string_view first = "self",
                        std::string_view second = "other");
// Says why the call cannot be converted.
TorchHandler Refused(std::string_view why);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_CALC_H_
