// The registry of lowerings.
#include "x2ir/optimizer/lowering.h"

#include <map>

namespace x2ir {
namespace {

// Filled by static objects before main; read-only afterwards, hence no lock.
std::map<Symbol, std::vector<Lowering>>& Table() {
  static auto* table = new std::map<Symbol, std::vector<Lowering>>;
  return *table;
}

}  // namespace

absl::Span<const Lowering> LoweringsOf(Symbol op) {
  auto it = Table().find(op);
  return it == Table().end() ? absl::Span<const Lowering>() : absl::MakeConstSpan(it->second);
}

std::vector<const Lowering*> AllLowerings() {
  std::vector<const Lowering*> all;
  for (const auto& entry : Table()) {
    for (const Lowering& lowering : entry.second) all.push_back(&lowering);
  }
  return all;
}

bool RegisterLowering(std::string_view op, std::string_view name, Handler run) {
  Table()[op].push_back({op, name, std::move(run)});
  return true;
}

}  // namespace x2ir
