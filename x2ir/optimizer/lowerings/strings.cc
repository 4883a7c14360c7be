// Ops on text in terms of those that ONNX has.
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/loop.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"

namespace x2ir {
namespace {

Value* Text(Builder& b, std::string_view text) {
  return b.Constant(Tensor::Strings({}, {std::string(text)}));
}

// The normalizer takes rows, and makes one string of none: one that is there besides is taken
// away again.
absl::StatusOr<Values> MapAsNormalizer(Rewrite& r) {
  const std::string& function = r.attrs().String("function");
  const bool ascii = function.starts_with("ascii_");
  const std::string_view name = std::string_view(function).substr(ascii ? 6 : 0);
  if (name != "lower" && name != "upper") {
    return CannotExpress("string_map '", function, "'");
  }
  Builder& b = r.b;
  Value* all = b.Op("reshape", {r.in(0), b.Ints({-1})});
  all = b.Op("concat", {all, b.Constant(Tensor::Strings({1}, {"x"}))}, {{"axis", 0}});
  AttributeMap attrs;
  attrs.Set("case_change_action", name == "lower" ? "LOWER" : "UPPER");
  attrs.Set("is_case_sensitive", 1);
  if (ascii) attrs.Set("locale", "C");
  all = b.Op("string_normalizer", {all}, std::move(attrs));
  all = b.Op("slice", {all, b.Ints({0}), b.Ints({-1}), b.Ints({0})});
  return Values{b.Op("reshape", {all, b.Op("shape", {r.in(0)})}, {{"allowzero", 1}})};
}

// The characters of a pattern that is one class of ASCII's ("[,-\\.]"); nothing for any other.
std::optional<std::set<char>> ClassOf(std::string_view pattern) {
  if (pattern.size() < 3 || pattern[0] != '[' || pattern.back() != ']' || pattern[1] == '^') {
    return std::nullopt;
  }
  pattern = pattern.substr(1, pattern.size() - 2);
  const auto take = [&]() -> std::optional<char> {
    const bool escaped = pattern[0] == '\\';
    if (escaped) pattern.remove_prefix(1);
    if (pattern.empty() || pattern[0] < ' ' || pattern[0] > '~') return std::nullopt;
    const char c = pattern[0];
    if (escaped ? !absl::ascii_ispunct(c) : c == '[' || c == ']') return std::nullopt;
    pattern.remove_prefix(1);
    return c;
  };
  std::set<char> members;
  while (!pattern.empty()) {
    const auto first = take();
    auto last = first;
    if (first && pattern.size() > 1 && pattern[0] == '-') {
      pattern.remove_prefix(1);
      last = take();
    }
    if (!first || !last || *last < *first) return std::nullopt;
    for (int c = *first; c <= *last; ++c) members.insert(static_cast<char>(c));
  }
  return members;
}

// Characters are removed by splitting strings at them and joining the parts.
absl::StatusOr<Values> RemovalAsSplits(Rewrite& r) {
  const std::string& pattern = r.attrs().String("pattern");
  const auto members = ClassOf(pattern);
  if (!members || !r.attrs().String("rewrite").empty() || r.attrs().Int("replace_global") == 0) {
    return CannotExpress("a pattern other than characters that go: '", pattern, "'");
  }
  Builder& b = r.b;
  Expr all = Reshape({b, r.in(0)}, {-1});
  const Expr none = {b, b.Op("expand", {Text(b, ""), b.Op("shape", {all})})};
  for (const char c : *members) {
    const Expr parts = {b, b.Ops("string_split", {all}, {{"delimiter", std::string(1, c)}}, 2)[0]};
    const Expr count = Scalar(b, SizeAt(parts, 1));
    all = Rounds(count, {none}, [&](const Expr& i, const std::vector<Expr>& joined) {
      return std::vector<Expr>{joined[0].Op("string_concat", {Gather(parts, i, 1)})};
    })[0];
  }
  return Values{b.Op("reshape", {all, b.Op("shape", {r.in(0)})}, {{"allowzero", 1}})};
}

absl::StatusOr<Values> JoinAsConcat(Rewrite& r) {
  constexpr int64_t kLimit = 64;
  const Shape* shape = r.in(0)->shape();
  if (!shape) return CannotExpress("strings of unknown rank are joined");
  X2IR_ASSIGN_OR_RETURN(const int64_t axis, NormalizeAxis(r.attrs().Int("axis"), shape->rank()));
  const Dim& size = (*shape)[axis];
  if (!size.is_static() || size.value() > kLimit) {
    return CannotExpress("an unknown number of strings, or more than ", kLimit, ", is joined");
  }
  Builder& b = r.b;
  if (size.value() == 0) {
    Value* before = b.Op("shape", {r.in(0)}, {{"end", axis}});
    Value* after = b.Op("shape", {r.in(0)}, {{"start", axis + 1}});
    Value* dims = b.Op("concat", {before, after}, {{"axis", 0}});
    return Values{b.Op("expand", {Text(b, ""), dims})};
  }
  const std::string& separator = r.attrs().String("separator");
  Value* joined = nullptr;
  for (int64_t i = 0; i < size.value(); ++i) {
    Value* part = b.Op("gather", {r.in(0), b.Int(i)}, {{"axis", axis}});
    if (joined && !separator.empty()) {
      joined = b.Op("string_concat", {joined, Text(b, separator)});
    }
    joined = joined ? b.Op("string_concat", {joined, part}) : part;
  }
  return Values{joined};
}

}  // namespace

X2IR_LOWERING(string_map, MapAsNormalizer);
X2IR_LOWERING(regex_replace, RemovalAsSplits);
X2IR_LOWERING(string_join, JoinAsConcat);

}  // namespace x2ir
