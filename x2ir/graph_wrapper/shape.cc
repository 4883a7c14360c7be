// Symbolic sizes as polynomials with integer coefficients over atoms. An atom is a name or
// floordiv/mod/min/max of expressions that are canonical themselves. Everything is kept
// sorted by text, so two expressions are equal when their texts are.
//
// Names are sizes, so they are never negative; min and max make use of that. An expression
// that would grow beyond the bounds below becomes unknown: no input can blow it up.
#include "x2ir/graph_wrapper/shape.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text_internal.h"

namespace x2ir {
namespace {

constexpr size_t kMaxTerms = 64;
constexpr size_t kMaxAtoms = 2048;     // characters of the atoms, but of a single name
constexpr size_t kMaxText = 4096;      // that is parsed: more than kMaxAtoms ever prints as
constexpr size_t kMaxMinMaxArgs = 16;  // they are compared pairwise
constexpr int kMaxParens = 400;        // nesting that is parsed: deeper than kMaxAtoms allows
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();
constexpr int64_t kInt64Min = std::numeric_limits<int64_t>::min();

enum class AtomKind : uint8_t { kName, kFloorDiv, kMod, kMin, kMax };
constexpr std::string_view kFunctions[] = {"", "floordiv", "mod", "min", "max"};

struct Atom {
  AtomKind kind;
  std::string text;       // a name is quoted where it is not a plain one
  std::string name;       // of kName
  std::vector<Dim> args;  // of the functions
  bool non_negative;
};
using AtomPtr = std::shared_ptr<const Atom>;
using Monomial = std::vector<AtomPtr>;  // a product, sorted by text; empty: 1

struct Term {
  int64_t coefficient;
  Monomial atoms;
};
using Poly = std::vector<Term>;  // sorted by Compare, no two alike, no coefficient 0

int CompareAtoms(const AtomPtr& a, const AtomPtr& b) {
  return a == b ? 0 : a->text.compare(b->text);
}

// Higher degrees first, then by text: a monomial order, as the division below needs it.
int Compare(const Monomial& a, const Monomial& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (const int order = CompareAtoms(a[i], b[i])) return order;
  }
  return 0;
}

int64_t FloorDivInt(int64_t a, int64_t b) {  // b > 0
  const int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

}  // namespace

class SymExpr {
 public:
  Poly poly;
  std::string text;        // canonical
  std::string as_written;  // as the user wrote it, where that differs

  const Atom* single_atom() const {
    const bool single = poly.size() == 1 && poly[0].coefficient == 1 && poly[0].atoms.size() == 1;
    return single ? poly[0].atoms[0].get() : nullptr;
  }
  static const SymExpr* Of(const Dim& dim) { return dim.expr_.get(); }
};

Dim MakeDim(std::shared_ptr<const SymExpr> expr) {
  Dim dim;
  dim.state_ = Dim::kSymbolic;
  dim.expr_ = std::move(expr);
  return dim;
}

namespace {

using text_internal::IsAlpha;
using text_internal::IsDigit;
using text_internal::Quote;

bool IsPlainDimName(std::string_view text) {
  if (text.empty() || !IsAlpha(text[0])) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlpha(c) || IsDigit(c) || c == '.'; });
}

// --- Polynomials --------------------------------------------------------------------------

// Sorts and merges. nullopt on overflow.
std::optional<Poly> Normalized(Poly terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return Compare(a.atoms, b.atoms) < 0; });
  Poly out;
  for (Term& term : terms) {
    if (out.empty() || Compare(out.back().atoms, term.atoms) != 0) {
      if (!out.empty() && out.back().coefficient == 0) out.pop_back();
      out.push_back(std::move(term));
      continue;
    }
    int64_t& sum = out.back().coefficient;
    if (__builtin_add_overflow(sum, term.coefficient, &sum)) return std::nullopt;
  }
  if (!out.empty() && out.back().coefficient == 0) out.pop_back();
  return out;
}

Poly ToPoly(const Dim& dim) {
  if (dim.is_symbolic()) return SymExpr::Of(dim)->poly;
  if (dim.value() == 0) return {};
  return {{dim.value(), {}}};
}

bool IsConstant(const Poly& p) { return p.empty() || (p.size() == 1 && p[0].atoms.empty()); }

std::optional<Poly> AddScaled(Poly a, const Poly& b, int64_t scale) {
  for (const Term& term : b) {
    int64_t coefficient;
    if (__builtin_mul_overflow(term.coefficient, scale, &coefficient)) return std::nullopt;
    a.push_back({coefficient, term.atoms});
  }
  return Normalized(std::move(a));
}

std::optional<Poly> Multiply(const Poly& a, const Poly& b) {
  Poly out;
  out.reserve(a.size() * b.size());
  for (const Term& x : a) {
    for (const Term& y : b) {
      Term term;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &term.coefficient)) {
        return std::nullopt;
      }
      std::merge(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(),
                 std::back_inserter(term.atoms),
                 [](const AtomPtr& p, const AtomPtr& q) { return CompareAtoms(p, q) < 0; });
      out.push_back(std::move(term));
    }
  }
  return Normalized(std::move(out));
}

bool IsNonNegative(const Poly& p) {
  for (const Term& term : p) {
    if (term.coefficient < 0) return false;
    for (const AtomPtr& atom : term.atoms) {
      if (!atom->non_negative) return false;
    }
  }
  return true;
}

bool IsNonNegative(const Dim& dim) {
  return dim.is_static() ? dim.value() >= 0 : IsNonNegative(SymExpr::Of(dim)->poly);
}

void AppendTerm(const Term& term, std::string* out) {
  const bool first = out->empty();
  if (term.atoms.empty()) {
    if (!first && term.coefficient > 0) *out += '+';
    *out += std::to_string(term.coefficient);
    return;
  }
  if (term.coefficient == -1) {
    *out += '-';
  } else {
    if (!first && term.coefficient > 0) *out += '+';
    if (term.coefficient != 1) *out += std::to_string(term.coefficient) + "*";
  }
  for (size_t i = 0; i < term.atoms.size(); ++i) {
    if (i != 0) *out += '*';
    *out += term.atoms[i]->text;
  }
}

// What is added, then what is subtracted, then the number: "seq-pad+1".
std::string PolyText(const Poly& poly) {
  std::string text;
  for (const bool negative : {false, true}) {
    for (const Term& term : poly) {
      if (!term.atoms.empty() && (term.coefficient < 0) == negative) AppendTerm(term, &text);
    }
  }
  if (poly.back().atoms.empty()) AppendTerm(poly.back(), &text);
  return text;
}

Dim FromPoly(std::optional<Poly> poly) {
  if (!poly || poly->size() > kMaxTerms) return Dim();
  if (poly->empty()) return Dim(0);
  if (IsConstant(*poly)) return Dim((*poly)[0].coefficient);
  // Sizes first: a text that is too long is not even made.
  size_t length = 0;
  for (const Term& term : *poly) {
    if (term.coefficient == kInt64Min) return Dim();  // "n - 9223372036854775808" does not read
    for (const AtomPtr& atom : term.atoms) length += atom->text.size() + 1;
  }
  auto expr = std::make_shared<SymExpr>();
  expr->poly = *std::move(poly);
  const Atom* atom = expr->single_atom();
  if (length > kMaxAtoms && !(atom && atom->kind == AtomKind::kName)) return Dim();
  expr->text = PolyText(expr->poly);
  return MakeDim(std::move(expr));
}

Dim FromAtom(Atom atom) {
  return FromPoly(Poly{{1, {std::make_shared<const Atom>(std::move(atom))}}});
}

Dim MakeName(std::string_view name) {
  return FromAtom({AtomKind::kName,
                   IsPlainDimName(name) ? std::string(name) : Quote(name),
                   std::string(name),
                   {},
                   true});
}

const std::string& CanonicalText(const Dim& dim, std::string* buffer) {
  if (dim.is_symbolic()) return SymExpr::Of(dim)->text;
  return *buffer = std::to_string(dim.value());
}

Dim MakeFunction(AtomKind kind, std::vector<Dim> args) {
  Atom atom;
  atom.kind = kind;
  atom.text = StrCat(kFunctions[static_cast<size_t>(kind)], "(");
  bool all = true, any = false;
  for (size_t i = 0; i < args.size(); ++i) {
    std::string buffer;
    StrAppend(&atom.text, i ? ", " : "", CanonicalText(args[i], &buffer));
    const bool non_negative = IsNonNegative(args[i]);
    all = all && non_negative;
    any = any || non_negative;
  }
  atom.text += ')';
  switch (kind) {
    case AtomKind::kMod: atom.non_negative = IsNonNegative(args[1]); break;
    case AtomKind::kMax: atom.non_negative = any; break;
    default: atom.non_negative = all;
  }
  atom.args = std::move(args);
  return FromAtom(std::move(atom));
}

// --- Division -----------------------------------------------------------------------------

struct Division {
  Poly quotient, remainder;  // a = quotient * b + remainder
};

// a / b without the terms of b in a; nullopt when it is not a divisor.
std::optional<Monomial> Divide(const Monomial& a, const Monomial& b) {
  Monomial out;
  size_t j = 0;
  for (const AtomPtr& atom : a) {
    if (j < b.size() && CompareAtoms(atom, b[j]) == 0) {
      ++j;
    } else {
      out.push_back(atom);
    }
  }
  if (j != b.size()) return std::nullopt;
  return out;
}

// Polynomial long division by b, which is not constant. nullopt on overflow, or when it
// takes too long.
std::optional<Division> Divide(Poly a, const Poly& b) {
  Division out;
  for (size_t step = 0; !a.empty(); ++step) {
    if (step > 2 * kMaxTerms || a.size() > 2 * kMaxTerms) return std::nullopt;
    const Term lead = a.front();
    const auto atoms = Divide(lead.atoms, b[0].atoms);
    const int64_t c = b[0].coefficient;
    const bool exact = c == -1 ? lead.coefficient != kInt64Min : lead.coefficient % c == 0;
    if (!atoms || !exact) {
      out.remainder.push_back(lead);
      a.erase(a.begin());
      continue;
    }
    const Poly factor = {{lead.coefficient / c, *atoms}};
    out.quotient.push_back(factor[0]);
    const auto product = Multiply(factor, b);
    if (!product) return std::nullopt;
    auto rest = AddScaled(std::move(a), *product, -1);
    if (!rest) return std::nullopt;
    a = *std::move(rest);
  }
  return out;
}

// a = k * quotient + remainder with coefficients of the remainder in [0, k). k > 0.
Division DivideByInt(const Poly& a, int64_t k) {
  Division out;
  for (const Term& term : a) {
    const int64_t q = FloorDivInt(term.coefficient, k);
    if (q != 0) out.quotient.push_back({q, term.atoms});
    if (term.coefficient - q * k != 0)
      out.remainder.push_back({term.coefficient - q * k, term.atoms});
  }
  return out;
}

int64_t Gcd(int64_t start, const Poly& p, bool with_constant) {
  uint64_t g = static_cast<uint64_t>(start);
  for (const Term& term : p) {
    if (term.atoms.empty() && !with_constant) continue;
    const uint64_t c = term.coefficient < 0 ? -static_cast<uint64_t>(term.coefficient)
                                            : static_cast<uint64_t>(term.coefficient);
    g = std::gcd(g, c);
  }
  return g > static_cast<uint64_t>(kInt64Max) ? 1 : static_cast<int64_t>(g);
}

// Rounds constants down; other coefficients are multiples of g.
Poly DivideCoefficients(const Poly& p, int64_t g) { return DivideByInt(p, g).quotient; }

Dim FloorDivByInt(const Poly& a, int64_t k) {  // k > 0
  if (k == 1) return FromPoly(a);
  auto [quotient, rest] = DivideByInt(a, k);
  const Dim whole = FromPoly(std::move(quotient));
  if (IsConstant(rest)) return whole;
  if (const int64_t g = Gcd(k, rest, /*with_constant=*/false); g > 1) {
    rest = DivideCoefficients(rest, g);
    k /= g;
  }
  // floordiv(floordiv(e, j) + c, k) is floordiv(e + c*j, j*k): chains of strided layers.
  const int64_t c = rest.back().atoms.empty() ? rest.back().coefficient : 0;
  const bool one_term = rest.size() == (c ? 2 : 1) && rest[0].coefficient == 1;
  if (one_term && rest[0].atoms.size() == 1) {
    const Atom& inner = *rest[0].atoms[0];
    if (inner.kind == AtomKind::kFloorDiv && inner.args[1].is_static()) {
      const Dim j = inner.args[1];
      const Dim e = inner.args[0] + Dim(c) * j;
      const Dim divisor = j * Dim(k);
      if (!e.is_unknown() && divisor.is_static()) {
        return whole + FloorDivByInt(ToPoly(e), divisor.value());
      }
    }
  }
  return whole + MakeFunction(AtomKind::kFloorDiv, {FromPoly(std::move(rest)), Dim(k)});
}

Dim ModByInt(const Poly& a, int64_t k) {  // k > 0
  Poly rest = DivideByInt(a, k).remainder;
  if (IsConstant(rest)) return FromPoly(std::move(rest));
  const int64_t g = Gcd(k, rest, /*with_constant=*/true);
  if (g > 1) rest = DivideCoefficients(rest, g);
  return Dim(g) * MakeFunction(AtomKind::kMod, {FromPoly(std::move(rest)), Dim(k / g)});
}

// Both at once, for divisors that are expressions.
Dim DivideBySymbolic(AtomKind kind, const Dim& a, const Dim& b) {
  const bool want_quotient = kind == AtomKind::kFloorDiv;
  Poly p = ToPoly(a), q = ToPoly(b);
  const int64_t g = Gcd(Gcd(0, p, true), q, true);
  if (g > 1) {
    p = DivideCoefficients(p, g);
    q = DivideCoefficients(q, g);
  }
  const Dim scale = want_quotient ? Dim(1) : Dim(g > 1 ? g : 1);
  Dim whole = 0;
  if (auto division = Divide(p, q)) {
    // A partial quotient by a sum is right, too, but makes nothing simpler.
    if (division->remainder.empty() || q.size() == 1) {
      whole = FromPoly(Normalized(std::move(division->quotient)));
      p = std::move(division->remainder);
    }
  }
  const Dim rest = FromPoly(std::move(p)), divisor = FromPoly(std::move(q));
  if (rest.is_unknown() || divisor.is_unknown() || whole.is_unknown()) return Dim();
  const bool none_left = rest.is_static() && rest.value() == 0;
  if (!want_quotient) {
    return none_left ? Dim(0) : scale * MakeFunction(kind, {rest, divisor});
  }
  return none_left ? whole : whole + MakeFunction(kind, {rest, divisor});
}

Dim Negated(const Dim& dim) { return Dim(0) - dim; }

// --- Min and max --------------------------------------------------------------------------

// Whether a >= b in every run.
bool ProvablyAtLeast(const Dim& a, const Dim& b) {
  if (a.is_static() && a.value() == kInt64Max) return true;  // sizes are int64
  if (b.is_static() && b.value() == kInt64Min) return true;
  const Dim difference = a - b;
  return !difference.is_unknown() && IsNonNegative(difference);
}

Dim Extreme(AtomKind kind, const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return Dim();
  std::vector<Dim> all;
  for (const Dim& dim : {a, b}) {
    const Atom* atom = dim.is_symbolic() ? SymExpr::Of(dim)->single_atom() : nullptr;
    if (atom && atom->kind == kind) {
      all.insert(all.end(), atom->args.begin(), atom->args.end());
    } else {
      all.push_back(dim);
    }
  }
  std::vector<Dim> kept;
  for (const Dim& dim : all) {
    // Drop what another one always beats; of equal ones the first stays.
    auto beats = [kind](const Dim& x, const Dim& y) {
      return kind == AtomKind::kMax ? ProvablyAtLeast(x, y) : ProvablyAtLeast(y, x);
    };
    if (std::any_of(kept.begin(), kept.end(), [&](const Dim& k) { return beats(k, dim); })) {
      continue;
    }
    kept.erase(
        std::remove_if(kept.begin(), kept.end(), [&](const Dim& k) { return beats(dim, k); }),
        kept.end());
    kept.push_back(dim);
  }
  if (kept.size() == 1) return kept[0];
  if (kept.size() > kMaxMinMaxArgs) return Dim();
  std::sort(kept.begin(), kept.end(), [](const Dim& x, const Dim& y) {
    if (x.is_static() != y.is_static()) return y.is_static();  // the number last
    return x.is_symbolic() && SymExpr::Of(x)->text < SymExpr::Of(y)->text;
  });
  return MakeFunction(kind, std::move(kept));
}

// --- Parsing ------------------------------------------------------------------------------

// expr := term (('+' | '-') term)*
// term := factor (('*' | '//' | '%') factor)*
// factor := '-' factor | number | name | "quoted name" | function '(' expr, ... ')' | '(' expr ')'
// Unknown means failure: an expression has no unknown parts.
class DimParser {
 public:
  DimParser(std::string_view text, size_t pos) : text_(text.substr(0, pos + kMaxText)), pos_(pos) {}
  size_t pos() const { return pos_; }

  Dim Expr() {
    if (++depth_ > kMaxParens) return Dim();
    Dim sum = Product();
    while (!sum.is_unknown()) {
      if (Take("+")) {
        sum = sum + Product();
      } else if (Take("-")) {
        sum = sum - Product();
      } else {
        break;
      }
    }
    --depth_;
    return sum;
  }

 private:
  // 0 times a malformed factor must not pass for 0.
  template <typename F>
  static Dim Apply(const Dim& a, const Dim& b, F f) {
    return b.is_unknown() ? Dim() : f(a, b);
  }

  Dim Product() {
    Dim product = Factor();
    while (!product.is_unknown()) {
      if (Take("//")) {
        product = Apply(product, Factor(), FloorDiv);
      } else if (Take("%")) {
        product = Apply(product, Factor(), Mod);
      } else if (!At("**") && Take("*")) {
        product = Apply(product, Factor(), [](const Dim& a, const Dim& b) { return a * b; });
      } else {
        break;
      }
    }
    return product;
  }

  Dim Factor() {
    bool negative = false;
    while (Take("-")) negative = !negative;
    Skip();
    if (pos_ >= text_.size()) return Dim();
    const char c = text_[pos_];
    if (IsDigit(c)) return Number(negative);
    const Dim value = Primary(c);
    return negative ? Negated(value) : value;
  }

  // The sign belongs to it, for the sake of the smallest integer.
  Dim Number(bool negative) {
    size_t end = pos_;
    while (end < text_.size() && IsDigit(text_[end])) ++end;
    const std::string digits = (negative ? "-" : "") + std::string(text_.substr(pos_, end - pos_));
    int64_t value;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc()) return Dim();
    pos_ = end;
    return Dim(value);
  }

  Dim Primary(char c) {
    if (Take("(")) {
      const Dim inner = Expr();
      return Take(")") ? inner : Dim();
    }
    if (c == '"') {
      const auto name = text_internal::ReadQuoted(text_, &pos_);
      return name.ok() ? Dim::Symbol(*name) : Dim();
    }
    if (!IsAlpha(c)) return Dim();
    const size_t start = pos_;
    while (pos_ < text_.size() &&
           (IsAlpha(text_[pos_]) || IsDigit(text_[pos_]) || text_[pos_] == '.')) {
      ++pos_;
    }
    const std::string_view name = text_.substr(start, pos_ - start);
    return Take("(") ? Call(name) : MakeName(name);
  }

  Dim Call(std::string_view name) {
    const Dim first = Expr();
    if (first.is_unknown() || !Take(",")) return Dim();
    const Dim second = Expr();
    if (second.is_unknown()) return Dim();
    if (name == "floordiv" || name == "mod") {
      if (!Take(")")) return Dim();
      return name == "mod" ? Mod(first, second) : FloorDiv(first, second);
    }
    if (name != "min" && name != "max") return Dim();
    const AtomKind kind = name == "min" ? AtomKind::kMin : AtomKind::kMax;
    Dim result = Extreme(kind, first, second);
    while (!result.is_unknown() && Take(",")) result = Extreme(kind, result, Expr());
    return Take(")") ? result : Dim();
  }

  // Without comments: # has no meaning in an expression.
  void Skip() {
    while (pos_ < text_.size() && text_internal::IsSpace(text_[pos_])) ++pos_;
  }
  bool At(std::string_view token) {
    Skip();
    return text_.substr(pos_, token.size()) == token;
  }
  bool Take(std::string_view token) {
    if (!At(token)) return false;
    pos_ += token.size();
    return true;
  }

  std::string_view text_;
  size_t pos_;
  int depth_ = 0;
};

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text_internal::IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && text_internal::IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

// Remembers how the user wrote it, so that a model's own names come out as they went in.
Dim Spelled(const Dim& dim, std::string_view text) {
  if (!dim.is_symbolic() || text == dim.ToString()) return dim;
  const bool printable = std::all_of(
      text.begin(), text.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f && c != '#'; });
  if (!printable || SymExpr::Of(dim)->single_atom()) return dim;
  auto expr = std::make_shared<SymExpr>(*SymExpr::Of(dim));
  expr->as_written = text;
  return MakeDim(std::move(expr));
}

// Whether the whole text is one quoted string.
bool IsQuoted(std::string_view text) {
  size_t pos = 0;
  return text_internal::ReadQuoted(text, &pos).ok() && pos == text.size();
}

}  // namespace

// --- Dim ----------------------------------------------------------------------------------

Dim Dim::Symbol(std::string_view text) {
  if (text.empty()) return Dim();
  const std::string_view trimmed = Trimmed(text);
  // Quotes mark names inside an expression; around everything they are part of the name.
  if (trimmed.size() <= kMaxText && !IsQuoted(trimmed)) {
    DimParser parser(trimmed, 0);
    const Dim dim = parser.Expr();
    if (!dim.is_unknown() && parser.pos() == trimmed.size()) return Spelled(dim, trimmed);
  }
  return MakeName(text);
}

std::string Dim::ToString() const {
  if (is_unknown()) return "?";
  if (is_static()) return std::to_string(value_);
  if (!expr_->as_written.empty()) return expr_->as_written;
  const Atom* atom = expr_->single_atom();
  return atom && atom->kind == AtomKind::kName ? atom->name : expr_->text;
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.state_ != b.state_) return false;
  if (a.is_static()) return a.value_ == b.value_;
  return a.expr_ == b.expr_ || (a.expr_ && b.expr_ && a.expr_->text == b.expr_->text);
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) {
    int64_t sum;
    return __builtin_add_overflow(a.value_, b.value_, &sum) ? Dim() : Dim(sum);
  }
  if (a.is_unknown() || b.is_unknown()) return Dim();
  if (a.is_static() && a.value_ == 0) return b;
  if (b.is_static() && b.value_ == 0) return a;
  return FromPoly(AddScaled(ToPoly(a), ToPoly(b), 1));
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) {
    int64_t difference;
    return __builtin_sub_overflow(a.value_, b.value_, &difference) ? Dim() : Dim(difference);
  }
  if (a.is_unknown() || b.is_unknown()) return Dim();
  if (b.is_static() && b.value_ == 0) return a;
  return FromPoly(AddScaled(ToPoly(a), ToPoly(b), -1));
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) {
    int64_t product;
    return __builtin_mul_overflow(a.value_, b.value_, &product) ? Dim() : Dim(product);
  }
  for (const auto& [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (x->is_static() && x->value_ == 0) return Dim(0);
    if (x->is_static() && x->value_ == 1) return *y;
  }
  if (a.is_unknown() || b.is_unknown()) return Dim();
  return FromPoly(Multiply(ToPoly(a), ToPoly(b)));
}

std::vector<std::string> Dim::SymbolNames() const {
  std::set<std::string> names;
  std::vector<const Dim*> todo = {this};
  while (!todo.empty()) {
    const Dim* dim = todo.back();
    todo.pop_back();
    if (!dim->is_symbolic()) continue;
    for (const Term& term : dim->expr_->poly) {
      for (const AtomPtr& atom : term.atoms) {
        if (atom->kind == AtomKind::kName) names.insert(atom->name);
        for (const Dim& arg : atom->args) todo.push_back(&arg);
      }
    }
  }
  return {names.begin(), names.end()};
}

namespace {

using Lookup = std::function<std::optional<Dim>(std::string_view)>;

Dim SubstituteAtom(const Atom& atom, const Lookup& lookup) {
  if (atom.kind == AtomKind::kName) {
    const auto found = lookup(atom.name);
    return found ? *found : MakeName(atom.name);
  }
  std::vector<Dim> args;
  for (const Dim& arg : atom.args) args.push_back(arg.Substitute(lookup));
  if (atom.kind == AtomKind::kFloorDiv) return FloorDiv(args[0], args[1]);
  if (atom.kind == AtomKind::kMod) return Mod(args[0], args[1]);
  Dim result = args[0];
  for (size_t i = 1; i < args.size(); ++i) result = Extreme(atom.kind, result, args[i]);
  return result;
}

}  // namespace

Dim Dim::Substitute(const Lookup& lookup) const {
  if (!is_symbolic()) return *this;
  Dim sum = 0;
  for (const Term& term : expr_->poly) {
    Dim product = term.coefficient;
    for (const AtomPtr& atom : term.atoms) product = product * SubstituteAtom(*atom, lookup);
    sum = sum + product;
  }
  return sum == *this ? *this : sum;  // itself has the user's spelling
}

Dim FloorDiv(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return Dim();
  if (!b.is_static()) return DivideBySymbolic(AtomKind::kFloorDiv, a, b);
  if (b.value() == 0 || b.value() == kInt64Min) return Dim();
  if (b.value() == 1) return a;
  if (b.value() < 0) return FloorDiv(Negated(a), Dim(-b.value()));
  if (a.is_static()) return Dim(FloorDivInt(a.value(), b.value()));
  return FloorDivByInt(ToPoly(a), b.value());
}

Dim CeilDiv(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) return Negated(FloorDiv(Negated(a), b));
  return FloorDiv(a + (b - Dim(1)), b);
}

Dim Mod(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return Dim();
  if (!b.is_static()) return DivideBySymbolic(AtomKind::kMod, a, b);
  if (b.value() == 0 || b.value() == kInt64Min) return Dim();
  if (b.value() < 0) return Negated(Mod(Negated(a), Dim(-b.value())));
  if (a.is_static()) return Dim(a.value() - FloorDivInt(a.value(), b.value()) * b.value());
  return ModByInt(ToPoly(a), b.value());
}

Dim Min(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) return Dim(std::min(a.value(), b.value()));
  return Extreme(AtomKind::kMin, a, b);
}

Dim Max(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) return Dim(std::max(a.value(), b.value()));
  return Extreme(AtomKind::kMax, a, b);
}

bool ProvablyEqual(const Dim& a, const Dim& b) { return !a.is_unknown() && a == b; }

bool ProvablyDifferent(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) return a.value() != b.value();
  const Dim difference = a - b;
  return difference.is_static() && difference.value() != 0;
}

// --- Shape --------------------------------------------------------------------------------

Shape Shape::FromInts(absl::Span<const int64_t> dims) {
  return Shape(std::vector<Dim>(dims.begin(), dims.end()));
}

bool Shape::is_static() const {
  return std::all_of(dims_.begin(), dims_.end(), [](const Dim& d) { return d.is_static(); });
}

std::optional<std::vector<int64_t>> Shape::Static() const {
  std::vector<int64_t> values;
  values.reserve(dims_.size());
  for (const Dim& dim : dims_) {
    if (!dim.is_static()) return std::nullopt;
    values.push_back(dim.value());
  }
  return values;
}

Dim Shape::NumElements() const { return NumElements(0, rank()); }

Dim Shape::NumElements(int64_t from, int64_t to) const {
  Dim product = 1;
  for (int64_t i = std::max<int64_t>(from, 0); i < std::min(to, rank()); ++i) {
    product = product * dims_[i];
  }
  return product;
}

std::string Shape::ToString() const {
  std::string text;
  for (const Dim& dim : dims_) {
    if (!text.empty()) text += ',';
    text += text_internal::DimText(dim);
  }
  return text;
}

std::optional<int64_t> CheckedProduct(absl::Span<const int64_t> dims) {
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; })) return std::nullopt;
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  int64_t product = 1;
  for (const int64_t dim : dims) {
    if (__builtin_mul_overflow(product, dim, &product)) return std::nullopt;
  }
  return product;
}

// --- Dims in a longer text ----------------------------------------------------------------

namespace text_internal {

std::string DimText(const Dim& dim) {
  if (!dim.is_symbolic()) return dim.ToString();
  const SymExpr* expr = SymExpr::Of(dim);
  return expr->as_written.empty() ? expr->text : expr->as_written;
}

absl::StatusOr<Dim> ReadDim(std::string_view text, size_t* pos) {
  text_internal::SkipSpace(text, pos);
  if (*pos < text.size() && text[*pos] == '?') {
    ++*pos;
    return Dim();
  }
  const size_t start = *pos;
  // A name alone may be longer than an expression.
  if (start < text.size() && text[start] == '"') {
    auto name = ReadQuoted(text, pos);
    if (!name.ok()) return name.status();
    size_t next = *pos;
    SkipSpace(text, &next);
    if (next < text.size() && (text[next] == ',' || text[next] == ']') && !name->empty()) {
      return Dim::Symbol(*name);
    }
    *pos = start;
  }
  DimParser parser(text, start);
  const Dim dim = parser.Expr();
  *pos = parser.pos();
  if (dim.is_unknown()) return Invalid("expected a dimension: a number, an expression or ?");
  return Spelled(dim, Trimmed(text.substr(start, *pos - start)));
}

}  // namespace text_internal
}  // namespace x2ir
