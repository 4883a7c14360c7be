#include "x2ir/builder/layers/activation.h"

#include <algorithm>

namespace x2ir {
namespace {

// Besides ops of the IR, whose names are theirs.
constexpr NamedActivation kCommon[] = {{"gelu_tanh", "", activation::GeluTanh},
                                       {"hard_tanh", "", activation::HardTanh},
                                       {"log_sigmoid", "", LogSigmoid},
                                       {"relu6", "", activation::Relu6},
                                       {"tanh_shrink", "", activation::TanhShrink}};

// Whether it is one of names with a space between them.
bool IsAmong(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

std::optional<Expr> OfTable(absl::Span<const NamedActivation> table, std::string_view name,
                            const Expr& x) {
  for (const NamedActivation& row : table) {
    if (row.name != name) continue;
    if (!row.op.empty()) return x.Op(row.op);
    return row.apply ? row.apply(x) : x;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Expr> Activated(std::string_view common, absl::Span<const NamedActivation> own,
                              std::string_view name, const Expr& x) {
  if (!IsAmong(common, name)) return OfTable(own, name, x);
  const std::optional<Expr> y = OfTable(kCommon, name, x);
  return y ? *y : x.Op(name);
}

}  // namespace x2ir
