// ncnn: layers that work on each number.

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/ncnn/ncnn.h"

namespace x2ir {
namespace {

Value* Power(NcnnArgs& a) {
  const double power = a.Float(0, 1), scale = a.Float(1, 1), shift = a.Float(2, 0);
  return Pow(Shifted(Scaled(a.in(0), scale), shift), power);
}

Value* ExpLayer(NcnnArgs& a) {
  const double base = a.Float(0, -1), scale = a.Float(1, 1), shift = a.Float(2, 0);
  const double log = base == -1 ? 1 : portable::log(base);
  return Exp(Shifted(Scaled(a.in(0), scale * log), shift * log));
}

Value* LogLayer(NcnnArgs& a) {
  const double base = a.Float(0, -1), scale = a.Float(1, 1), shift = a.Float(2, 0);
  const Expr y = Log(Shifted(Scaled(a.in(0), scale), shift));
  return Scaled(y, base == -1 ? 1 : 1 / portable::log(base));
}

Value* ThresholdLayer(NcnnArgs& a) { return (a.in(0) > a.Float(0, 0)).To(a.in(0).dtype()); }

Value* Shrink(NcnnArgs& a) {
  const double bias = a.Float(0, 0), lambda = a.Float(1, 0.5);
  const Expr x = a.in(0);
  return Where(x < -lambda, x + bias, Where(x > lambda, x - bias, x * 0.0));
}

Expr PlaneAngle(const Expr& y, const Expr& x) {
  const Expr angle = (y / x).Op("atan");
  const double pi = 3.14159265358979323846;
  const Expr turned = Where(x < 0.0, Where(y < 0.0, angle - pi, angle + pi), angle);
  return Where(x == 0.0,
               Where(y > 0.0, y * 0.0 + pi / 2, Where(y < 0.0, y * 0.0 - pi / 2, y * 0.0)), turned);
}

struct OfTwo {
  int64_t number;
  Expr (*fn)(const Expr& x, const Expr& y);
};

constexpr OfTwo kOfTwo[] = {
    {0, [](const Expr& x, const Expr& y) { return x + y; }},
    {1, [](const Expr& x, const Expr& y) { return x - y; }},
    {2, [](const Expr& x, const Expr& y) { return x * y; }},
    {3, [](const Expr& x, const Expr& y) { return x / y; }},
    {4, [](const Expr& x, const Expr& y) { return Max(x, y); }},
    {5, [](const Expr& x, const Expr& y) { return Min(x, y); }},
    {6, [](const Expr& x, const Expr& y) { return Pow(x, y); }},
    {7, [](const Expr& x, const Expr& y) { return y - x; }},
    {8, [](const Expr& x, const Expr& y) { return y / x; }},
    {9, [](const Expr& x, const Expr& y) { return Pow(y, x); }},
    {10, PlaneAngle},
    {11, [](const Expr& x, const Expr& y) { return PlaneAngle(y, x); }},
};

// If a blob has fewer axes than the other: its first axis is the other's first where the sizes are
// equal; else axes are matched from the last.
Expr Matched(NcnnArgs& a, size_t i, size_t other) {
  const Expr x = a.in(i);
  const int64_t rank = a.RankOf(i), wide = a.RankOf(other);
  if (rank >= wide) return x;
  const Dim first = DimAt(x, 1), channels = DimAt(a.in(other), 1), last = DimAt(x, rank - 1),
            width = DimAt(a.in(other), wide - 1);
  const int64_t missing = wide - rank;
  const bool is_one = rank == 2 && first == Dim(1);
  if (!is_one) {
    a.Require(first.is_static() && channels.is_static() && width.is_static(),
              "operands of several ranks and unknown sizes");
  }
  std::vector<int64_t> axes;
  const bool outer = !is_one && first == channels;
  a.Require(is_one || outer || last == width || last == Dim(1), "operands that do not match");
  for (int64_t k = 0; k < missing; ++k) axes.push_back(outer ? rank + k : 1 + k);
  return Unsqueeze(x, axes);
}

absl::StatusOr<Value*> BinaryOp(NcnnArgs& a) {
  const int64_t kind = a.Int(0, 0);
  const bool with_scalar = a.Flag(1, false);
  const double scalar = a.Float(2, 0);
  for (const OfTwo& row : kOfTwo) {
    if (row.number != kind) continue;
    if (with_scalar || a.num_bottoms() == 1) return row.fn(a.in(0), a.in(0).Number(scalar)).value();
    return row.fn(Matched(a, 0, 1), Matched(a, 1, 0)).value();
  }
  return Unimplemented("operation ", kind);
}

struct OfOne {
  int64_t number;
  Expr (*fn)(const Expr& x);
};

constexpr OfOne kOfOne[] = {
    {0, [](const Expr& x) { return Abs(x); }},
    {1, [](const Expr& x) { return -x; }},
    {2, [](const Expr& x) { return Floor(x); }},
    {3, [](const Expr& x) { return Ceil(x); }},
    {4, [](const Expr& x) { return Square(x); }},
    {5, [](const Expr& x) { return Sqrt(x); }},
    {6, [](const Expr& x) { return Reciprocal(Sqrt(x)); }},
    {7, [](const Expr& x) { return Exp(x); }},
    {8, [](const Expr& x) { return Log(x); }},
    {9, [](const Expr& x) { return Sin(x); }},
    {10, [](const Expr& x) { return Cos(x); }},
    {11, [](const Expr& x) { return x.Op("tan"); }},
    {12, [](const Expr& x) { return x.Op("asin"); }},
    {13, [](const Expr& x) { return x.Op("acos"); }},
    {14, [](const Expr& x) { return x.Op("atan"); }},
    {15, [](const Expr& x) { return Reciprocal(x); }},
    {16, [](const Expr& x) { return x.Op("tanh"); }},
    {17, [](const Expr& x) { return Log(x) / portable::log(10.0); }},
    {18, [](const Expr& x) { return Round(x); }},
    {19, [](const Expr& x) { return Where(x < 0.0, Ceil(x), Floor(x)); }},
};

absl::StatusOr<Value*> UnaryOp(NcnnArgs& a) {
  const int64_t kind = a.Int(0, 0);
  for (const OfOne& row : kOfOne) {
    if (row.number == kind) return row.fn(a.in(0)).value();
  }
  return Unimplemented("operation ", kind);
}

absl::StatusOr<Value*> Eltwise(NcnnArgs& a) {
  const int64_t kind = a.Int(0, 0);
  const std::vector<double> factors = a.Floats(1);
  if (kind < 0 || kind > 2) return Unimplemented("operation ", kind);
  if (!factors.empty() && factors.size() != a.num_bottoms()) {
    return Invalid(factors.size(), " factors of ", a.num_bottoms(), " operands");
  }
  const auto operand = [&](size_t i) {
    return kind == 1 && !factors.empty() ? Scaled(a.in(i), factors[i]) : a.in(i);
  };
  Expr y = operand(0);
  for (size_t i = 1; i < a.num_bottoms(); ++i) {
    y = kind == 0 ? y * operand(i) : kind == 1 ? y + operand(i) : Max(y, operand(i));
  }
  return a.num_bottoms() == 1 ? a.Op("identity", {y}).value() : y.value();
}

Value* Scale(NcnnArgs& a) {
  const int64_t size = a.Int(0, 0);
  const bool bias = a.Flag(1, false);
  const bool given = size == -233;
  const Expr y = a.in(0) * (given ? Matched(a, 1, 0) : AlongChannels(a.weights(0), a.RankOf()));
  if (!bias) return y;
  return y + AlongChannels(a.weights(given ? 0 : 1), a.RankOf());
}

Value* Bias(NcnnArgs& a) {
  a.Drop({0});
  return a.in(0) + AlongChannels(a.weights(0), a.RankOf());
}

Value* Dropout(NcnnArgs& a) {
  const double scale = a.Float(0, 1);
  return scale == 1 ? a.Op("identity", {a.in(0)}) : a.in(0) * scale;
}

Value* SameBlob(NcnnArgs& a) { return a.Op("identity", {a.in(0)}); }

Values Split(NcnnArgs& a) {
  Values all;
  for (size_t i = 0; i < a.num_outputs(); ++i) all.push_back(SameBlob(a));
  return all;
}

// Storage: numbers stay float32.
Value* Storage(NcnnArgs& a) {
  a.Drop({0, 1, 2, 3, 4, 5});
  return SameBlob(a);
}

Values Noop(NcnnArgs& a) {
  Values all;
  for (size_t i = 0; i < a.num_outputs() && i < a.num_bottoms(); ++i) {
    all.push_back(a.Op("identity", {a.in(i)}));
  }
  return all;
}

}  // namespace

X2IR_NCNN(identity).From({{"Split", Split},
                          {"Dropout", Dropout},
                          {"Noop", Noop},
                          {"DeepCopy", SameBlob},
                          {"Packing", Storage},
                          {"Cast", Storage}});
X2IR_NCNN(pow).From("Power", Power);
X2IR_NCNN(exp).From("Exp", ExpLayer);
X2IR_NCNN(log).From("Log", LogLayer);
X2IR_NCNN(greater).From("Threshold", ThresholdLayer);
X2IR_NCNN(where).From("Shrink", Shrink);
X2IR_NCNN(abs).From({{"AbsVal", Plain("abs")}, {"UnaryOp", UnaryOp}});
X2IR_NCNN(tanh).From("TanH", Plain("tanh"));
X2IR_NCNN(erf).From("Erf", Plain("erf"));
X2IR_NCNN(add).From({{"BinaryOp", BinaryOp}, {"Eltwise", Eltwise}, {"Bias", Bias}});
X2IR_NCNN(mul).From("Scale", Scale);

}  // namespace x2ir
