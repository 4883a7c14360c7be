#include "x2ir/formats/torch/symbols.h"

#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

namespace x2ir {
namespace {

// Recursive descent; `failed` if the text is not an expression, or one that x2ir's expressions
// cannot represent.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Dim Run() {
    const Dim dim = Sum();
    Space();
    return failed_ || !rest_.empty() ? Dim::Unknown() : dim;
  }

 private:
  static constexpr int kMaxDepth = 100;
  static constexpr int64_t kMaxPower = 8;

  void Space() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  bool Take(std::string_view token) {
    Space();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  Dim Fail() {
    failed_ = true;
    return Dim::Unknown();
  }

  Dim Sum() {
    Dim left = Product();
    while (!failed_) {
      if (Take("+")) {
        left = left + Product();
      } else if (Take("-")) {
        left = left - Product();
      } else {
        break;
      }
    }
    return left;
  }

  Dim Product() {
    Dim left = Power();
    while (!failed_) {
      if (Take("//")) {
        left = FloorDiv(left, Power());
      } else if (Take("*")) {
        left = left * Power();
      } else if (Take("%")) {
        left = Mod(left, Power());
      } else {
        break;
      }
    }
    return left;
  }

  Dim Power() {
    bool negative = false;
    while (Take("-")) negative = !negative;
    if (negative) return Dim(0) - Positive();
    return Positive();
  }

  Dim Positive() {
    const Dim base = Atom();
    return Take("**") ? Raised(base, Atom()) : base;
  }

  Dim Raised(const Dim& base, const Dim& exponent) {
    if (!exponent.is_static() || exponent.value() < 0 || exponent.value() > kMaxPower) {
      return Fail();
    }
    Dim result = 1;
    for (int64_t i = 0; i < exponent.value(); ++i) result = result * base;
    return result;
  }

  Dim Atom() {
    if (failed_ || depth_ >= kMaxDepth) return Fail();
    ++depth_;
    const Dim dim = AtomHere();
    --depth_;
    return dim;
  }

  Dim AtomHere() {
    if (Take("(")) {
      const Dim inner = Sum();
      return Take(")") ? inner : Fail();
    }
    Space();
    size_t end = 0;
    while (end < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[end])) || rest_[end] == '_')) {
      ++end;
    }
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (word.empty()) return Fail();
    if (std::isdigit(static_cast<unsigned char>(word[0]))) {
      int64_t number = 0;
      const auto [p, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      return error == std::errc() && p == word.data() + word.size() ? Dim(number) : Fail();
    }
    if (!Take("(")) return Dim::Symbol(word);
    if (word == "Symbol") return SymbolHere();
    std::vector<Dim> args;
    if (!Take(")")) {
      do {
        args.push_back(Sum());
      } while (!failed_ && Take(","));
      if (!Take(")")) return Fail();
    }
    return Call(word, args);
  }

  // 's0', positive=True, integer=True)
  Dim SymbolHere() {
    if (!Take("'")) return Fail();
    const size_t quote = rest_.find('\'');
    const size_t end = rest_.find(')');
    if (quote == rest_.npos || quote == 0 || end == rest_.npos || end < quote) return Fail();
    const std::string_view name = rest_.substr(0, quote);
    rest_.remove_prefix(end + 1);
    return Dim::Symbol(name);
  }

  Dim Call(std::string_view name, const std::vector<Dim>& args) {
    const auto fold = [&](auto&& op) {
      if (args.empty()) return Fail();
      Dim result = args[0];
      for (size_t i = 1; i < args.size(); ++i) result = op(result, args[i]);
      return result;
    };
    if (name == "Integer" && args.size() == 1) return args[0];
    if (name == "Add") return fold([](const Dim& a, const Dim& b) { return a + b; });
    if (name == "Mul") return fold([](const Dim& a, const Dim& b) { return a * b; });
    if (name == "Max") return fold([](const Dim& a, const Dim& b) { return Max(a, b); });
    if (name == "Min") return fold([](const Dim& a, const Dim& b) { return Min(a, b); });
    if (args.size() != 2) return Fail();
    if (name == "Pow" || name == "PowByNatural") return Raised(args[0], args[1]);
    if (name == "FloorDiv" || name == "CleanDiv") return FloorDiv(args[0], args[1]);
    if (name == "CeilDiv") return CeilDiv(args[0], args[1]);
    if (name == "Mod" || name == "PythonMod") return Mod(args[0], args[1]);
    return Fail();
  }

  std::string_view rest_;
  bool failed_ = false;
  int depth_ = 0;
};

}  // namespace

Dim ParseTorchSize(std::string_view text) { return Parser(text).Run(); }

}  // namespace x2ir
