// Dims: the canonical form, identities, bounds, and agreement with plain arithmetic.
#include "x2ir/graph_wrapper/shape.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <tuple>

#include "gtest/gtest.h"

namespace x2ir {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Dim S(std::string_view text) { return Dim::Symbol(text); }

// Text in, canonical text out (of an expression that was computed, not spelled).
TEST(DimTest, CanonicalForm) {
  const std::tuple<std::string, std::string> rows[] = {
      {"7", "7"},
      {"-3", "-3"},
      {"batch", "batch"},
      {"1 + 2*seq", "2*seq+1"},
      {"seq*2+1", "2*seq+1"},
      {"b*a", "a*b"},
      {"a*b + b*a", "2*a*b"},
      {"(a - b) + b", "a"},
      {"a - a", "0"},
      {"x*0", "0"},
      {"0*x + 5", "5"},
      {"(a+1)*(a-1)", "a*a-1"},
      {"a - 2*b - 3", "a-2*b-3"},
      {"1 - a", "-a+1"},
      {"sequence-length", "sequence-length"},
      {"floordiv(a*4 + 8, 4)", "a+2"},
      {"floordiv(a*4 + 9, 4)", "a+2"},
      {"floordiv(a*4 - 1, 4)", "a-1"},
      {"floordiv(h - 1, 2) + 1", "floordiv(h+1, 2)"},
      {"floordiv(2*h + 2, 4)", "floordiv(h+1, 2)"},
      {"floordiv(2*h + 3, 4)", "floordiv(h+1, 2)"},
      {"floordiv(floordiv(h+1, 2) + 1, 2)", "floordiv(h+3, 4)"},
      {"floordiv(floordiv(floordiv(h, 2), 2), 2)", "floordiv(h, 8)"},
      {"floordiv(3*h, 2)", "floordiv(h, 2)+h"},
      {"floordiv(a*b, b)", "a"},
      {"floordiv(a*b*c, b*c)", "a"},
      {"floordiv(2*a*b + 4*b, 2*b)", "a+2"},
      {"floordiv(a*c + a, c + 1)", "a"},
      {"floordiv(b, b)", "1"},
      {"floordiv(0, b)", "0"},
      {"floordiv(a, b)", "floordiv(a, b)"},
      {"floordiv(2*a, 2*b)", "floordiv(a, b)"},
      {"floordiv(a, -2)", "floordiv(a, 2)-a"},
      {"h // 2 + h % 2", "floordiv(h, 2)+mod(h, 2)"},
      {"mod(4*a, 2)", "0"},
      {"mod(4*a + 3, 2)", "1"},
      {"mod(4*a + 2, 8)", "2*mod(2*a+1, 4)"},
      {"mod(a*b, b)", "0"},
      {"mod(a, 1)", "0"},
      {"min(a, a)", "a"},
      {"min(b, a)", "min(a, b)"},
      {"min(a, b, a, min(c, b))", "min(a, b, c)"},
      {"min(a + 1, a)", "a"},
      {"max(a + 1, a)", "a+1"},
      {"max(a, 0)", "a"},
      {"max(3, a)", "max(a, 3)"},
      {"max(a - 1, 0)", "max(a-1, 0)"},
      {"min(a, 9223372036854775807)", "a"},
      {"max(a, -9223372036854775808)", "a"},
      {"max(a*b, 0)", "a*b"},
      {"-(a + b)", "-a-b"},
      {"--a", "a"},
      {"floordiv", "floordiv"},
      {"2*\"batch size\"", "2*\"batch size\""},
      {"input.1_dim_0 * 2", "2*input.1_dim_0"},
  };
  for (const auto& [text, want] : rows) {
    const Dim dim = (S(text) + S("q")) - S("q");  // computed: the spelling is gone
    EXPECT_EQ(dim.ToString(), want) << text;
    EXPECT_EQ(Dim::Symbol(dim.ToString()), dim) << text;
    EXPECT_EQ(S(text), dim) << text;
  }
}

// Any string may be a dim_param. What is no expression is one name, kept as it is.
TEST(DimTest, OpaqueNames) {
  const std::string rows[] = {"batch size",
                              "a**2",
                              "2x",
                              "h/2",
                              "?",
                              "\"quoted\"",
                              "a,b",
                              "f(x)",
                              "min(",
                              "a+",
                              "a-9223372036854775807-1",
                              "#",
                              "9223372036854775808",
                              "\xff\xfe",
                              "\n",
                              " ",
                              "floordiv(a, 0)",
                              "x\ny",
                              "1.5",
                              std::string(100000, 'x') + "!",
                              std::string(5000, '('),
                              "min(a)",
                              "a b",
                              "0*)"};
  for (const std::string& text : rows) {
    const Dim dim = S(text);
    ASSERT_TRUE(dim.is_symbolic()) << text;
    EXPECT_EQ(dim.ToString(), text);
    EXPECT_EQ(S(dim.ToString()), dim) << text;
    EXPECT_EQ(dim.SymbolNames(), std::vector<std::string>{text});
    if (text.size() > 1000) continue;
    EXPECT_EQ((dim + 1) - 1, dim);
    const Dim twice = dim * 2;
    EXPECT_EQ(S(twice.ToString()), twice) << twice.ToString();
  }
  EXPECT_TRUE(S("").is_unknown());
}

TEST(DimTest, KeepsTheSpelling) {
  const Dim dim = S("past + seq_len");
  EXPECT_EQ(dim.ToString(), "past + seq_len");
  EXPECT_EQ(S("1 + n").ToString(), "1 + n");
  EXPECT_EQ(S("1 + n"), S("n+1"));
  EXPECT_EQ((S("1 + n") + 1).ToString(), "n+2");
  EXPECT_EQ(S(" n ").ToString(), "n");
}

TEST(DimTest, UnknownAndOverflow) {
  const Dim u, x = S("x");
  EXPECT_EQ(u.ToString(), "?");
  for (const Dim& dim :
       {u + 1, u - u, u * x, FloorDiv(u, 2), FloorDiv(x, 0), FloorDiv(4, 0), Mod(x, 0), Mod(1, 0),
        Min(u, 0), Max(x, u), CeilDiv(u, 2), Dim(kMax) + 1, Dim(kMin) - 1, Dim(kMax) * 2,
        Dim(0) - Dim(kMin), x * kMax * 2, x * kMax + x, FloorDiv(kMin, -1), FloorDiv(x, kMin)}) {
    EXPECT_TRUE(dim.is_unknown()) << dim.ToString();
  }
  EXPECT_EQ(u * 0, Dim(0));
  EXPECT_EQ(Dim(0) * x, Dim(0));
  EXPECT_EQ(u, Dim());
  EXPECT_FALSE(ProvablyEqual(u, u));
  EXPECT_FALSE(ProvablyDifferent(u, u));
  EXPECT_FALSE(ProvablyDifferent(u, 1));
}

TEST(DimTest, StaticDivision) {
  const std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t> rows[] = {
      // a, b, floordiv, ceildiv, mod
      {7, 2, 3, 4, 1},          {-7, 2, -4, -3, 1},
      {7, -2, -4, -3, -1},      {-7, -2, 3, 4, -1},
      {6, 3, 2, 2, 0},          {0, 5, 0, 0, 0},
      {kMax, 1, kMax, kMax, 0}, {kMin, 1, kMin, kMin, 0},
      {kMax, kMax, 1, 1, 0},    {kMax, 2, kMax / 2, kMax / 2 + 1, 1},
  };
  for (const auto& [a, b, floor, ceil, mod] : rows) {
    EXPECT_EQ(FloorDiv(a, b), Dim(floor)) << a << " " << b;
    EXPECT_EQ(Mod(a, b), Dim(mod)) << a << " " << b;
    if (a == kMin) continue;
    EXPECT_EQ(CeilDiv(a, b), Dim(ceil)) << a << " " << b;
  }
  EXPECT_EQ(CeilDiv(S("x"), 2), S("floordiv(x+1, 2)"));
  EXPECT_EQ(CeilDiv(S("4*x"), 4), S("x"));
}

TEST(DimTest, Proofs) {
  EXPECT_TRUE(ProvablyEqual(S("a*2"), S("a+a")));
  EXPECT_FALSE(ProvablyEqual(S("a"), S("b")));
  EXPECT_TRUE(ProvablyDifferent(S("a"), S("a+1")));
  EXPECT_TRUE(ProvablyDifferent(2, 3));
  EXPECT_FALSE(ProvablyDifferent(S("a"), S("b")));
  EXPECT_FALSE(ProvablyDifferent(S("a"), 3));
}

TEST(DimTest, NamesAndSubstitution) {
  const Dim dim = S("2*b + floordiv(a + max(c, 7), d) * b");
  EXPECT_EQ(dim.SymbolNames(), (std::vector<std::string>{"a", "b", "c", "d"}));
  auto lookup = [](std::string_view name) -> std::optional<Dim> {
    if (name == "a") return Dim(5);
    if (name == "c") return Dim::Symbol("x");
    return std::nullopt;
  };
  EXPECT_EQ(dim.Substitute(lookup), S("2*b + floordiv(5 + max(x, 7), d) * b"));
  auto numbers = [](std::string_view name) { return std::optional<Dim>(Dim(name[0] - 'a' + 1)); };
  EXPECT_EQ(dim.Substitute(numbers), Dim(2 * 2 + (1 + 7) / 4 * 2));
  EXPECT_TRUE(S("a+b").Substitute([](auto) { return std::optional<Dim>(Dim()); }).is_unknown());
  EXPECT_EQ(Dim(3).Substitute(numbers), Dim(3));
}

// Hostile inputs become unknown or a name; none takes long or much memory.
TEST(DimTest, Bounded) {
  Dim sum = 0, product = 1, power = S("a") + S("b");
  for (int i = 0; i < 1000; ++i) {
    const Dim name = S("n" + std::to_string(i));
    if (!sum.is_unknown()) sum = sum + name;
    if (!product.is_unknown()) product = product * (name + 1);
    if (!power.is_unknown()) power = power * power;
  }
  EXPECT_TRUE(sum.is_unknown());
  EXPECT_TRUE(product.is_unknown());
  EXPECT_TRUE(power.is_unknown());
  Dim nested = S("n"), extreme = S("n"), flat = S("n");
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(nested.is_unknown() || S(nested.ToString()) == nested) << nested.ToString();
    ASSERT_TRUE(flat.is_unknown() || S(flat.ToString()) == flat) << flat.ToString();
    flat = Mod(flat, S(i % 2 ? "a" : "b"));
    nested = FloorDiv(nested + S("m"), S("k"));
    extreme = Min(extreme, S("m" + std::to_string(i)));
  }
  EXPECT_TRUE(nested.is_unknown());
  EXPECT_TRUE(flat.is_unknown());
  EXPECT_TRUE(extreme.is_unknown());
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "min(a,";
  EXPECT_EQ(S(deep).ToString(), deep);
  const std::string minuses(100001, '-');
  EXPECT_EQ(S(minuses + "a").ToString(), minuses + "a");
}

// Symbolic arithmetic agrees with arithmetic on numbers, for random expressions.
TEST(DimTest, AgreesWithNumbers) {
  std::mt19937 random(7);
  auto pick = [&](int n) { return static_cast<int>(random() % n); };
  const std::string names[] = {"a", "b", "c"};
  for (int round = 0; round < 4000; ++round) {
    const int64_t values[] = {pick(9), pick(9), 1 + pick(9)};
    auto lookup = [&](std::string_view name) { return std::optional<Dim>(values[name[0] - 'a']); };
    Dim symbolic[4], number[4];
    for (int i = 0; i < 4; ++i) {
      const int k = pick(4);
      symbolic[i] = k < 3 ? S(names[k]) : Dim(pick(13) - 4);
      number[i] = k < 3 ? Dim(values[k]) : symbolic[i];
    }
    for (int step = 0; step < 8; ++step) {
      const int i = pick(4), j = pick(4), to = pick(4);
      Dim s, n;
      switch (pick(7)) {
        case 0: s = symbolic[i] + symbolic[j], n = number[i] + number[j]; break;
        case 1: s = symbolic[i] - symbolic[j], n = number[i] - number[j]; break;
        case 2: s = symbolic[i] * symbolic[j], n = number[i] * number[j]; break;
        case 3: s = Min(symbolic[i], symbolic[j]), n = Min(number[i], number[j]); break;
        case 4: s = Max(symbolic[i], symbolic[j]), n = Max(number[i], number[j]); break;
        case 5: s = FloorDiv(symbolic[i], symbolic[j]), n = FloorDiv(number[i], number[j]); break;
        case 6: s = Mod(symbolic[i], symbolic[j]), n = Mod(number[i], number[j]); break;
      }
      // A divisor of zero in this run says nothing about the other runs.
      if (s.is_unknown() || n.is_unknown()) continue;
      symbolic[to] = s;
      number[to] = n;
      const Dim got = s.Substitute(lookup);
      if (got.is_unknown()) continue;
      ASSERT_EQ(got, n) << s.ToString() << " with a=" << values[0] << " b=" << values[1]
                        << " c=" << values[2];
      ASSERT_EQ(S(s.ToString()), s) << s.ToString();
    }
  }
}

TEST(ShapeTest, Basics) {
  const Shape shape = {2, S("seq"), Dim(), S("batch size")};
  EXPECT_EQ(shape.ToString(), "2,seq,?,\"batch size\"");
  EXPECT_EQ(Shape().ToString(), "");
  EXPECT_FALSE(shape.is_static());
  EXPECT_FALSE(shape.Static().has_value());
  EXPECT_EQ(Shape::FromInts({2, 3}).Static(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(Shape().NumElements(), Dim(1));
  EXPECT_EQ(shape.NumElements(0, 2), S("2*seq"));
  EXPECT_TRUE(shape.NumElements().is_unknown());
  EXPECT_EQ((Shape{Dim(), 0, 3}).NumElements(), Dim(0));
  EXPECT_EQ((Shape{kMax, kMax, 0}).NumElements(), Dim(0));
  EXPECT_EQ(Shape::UnknownDims(2), (Shape{Dim(), Dim()}));
  EXPECT_NE((Shape{1}), (Shape{1, 1}));
}

TEST(ShapeTest, CheckedProduct) {
  EXPECT_EQ(CheckedProduct({}), 1);
  EXPECT_EQ(CheckedProduct({2, 3}), 6);
  EXPECT_EQ(CheckedProduct({kMax, 2, 0}), 0);
  EXPECT_EQ(CheckedProduct({kMax, 2}), std::nullopt);
  EXPECT_EQ(CheckedProduct({0, -1}), std::nullopt);
}

}  // namespace
}  // namespace x2ir
