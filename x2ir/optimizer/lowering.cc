// The registry of lowerings.
#include "x2ir/optimizer/lowering.h"

#include <map>

#include "x2ir/optimizer/source_order.h"

namespace x2ir {
namespace {

struct Lowerings {
  using Entry = Lowering;
  std::map<Symbol, std::vector<Lowering>> by_op;

  void Add(Lowering lowering) {
    std::vector<Lowering>& lowerings = by_op[lowering.op];
    for (const Lowering& other : lowerings) {
      if (other.name != lowering.name) continue;
      AddDuplicate(StrCat("lowering '", other.name, "' of ", other.op.str()), other.place,
                   lowering.place);
    }
    InsertInSourceOrder(lowerings, std::move(lowering));
  }
};

Registry<Lowerings>& Table() {
  static auto* table = new Registry<Lowerings>;
  return *table;
}

}  // namespace

absl::Span<const Lowering> LoweringsOf(Symbol op) {
  const auto& lowerings = Table().Get().by_op;
  const auto it = lowerings.find(op);
  return it == lowerings.end() ? absl::Span<const Lowering>() : absl::MakeConstSpan(it->second);
}

std::vector<const Lowering*> AllLowerings() {
  std::vector<const Lowering*> all;
  for (const auto& entry : Table().Get().by_op) {
    for (const Lowering& lowering : entry.second) all.push_back(&lowering);
  }
  return all;
}

bool RegisterLowering(std::string_view op, std::string_view name, Handler run, SourcePlace place) {
  Table().Add({op, name, std::move(run), place});
  return true;
}

}  // namespace x2ir
