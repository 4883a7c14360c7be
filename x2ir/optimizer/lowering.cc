// The registry of lowerings.
#include "x2ir/optimizer/lowering.h"

#include <map>

#include "x2ir/optimizer/source_order.h"

namespace x2ir {
namespace {

struct Lowerings {
  using Entry = Lowering;
  std::map<Symbol, std::vector<Lowering>> by_op;  // those of all ops of a kind: of the empty name

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

std::vector<const Lowering*> LoweringsOf(Symbol op) {
  const auto& lowerings = Table().Get().by_op;
  std::vector<const Lowering*> found;
  const OpDef* def = FindOp(op);
  for (const Symbol name : {Symbol(), op}) {
    const auto it = lowerings.find(name);
    if (it == lowerings.end()) continue;
    for (const Lowering& lowering : it->second) {
      if (!lowering.which || (def && lowering.which(*def))) found.push_back(&lowering);
    }
  }
  return found;
}

std::vector<std::pair<Symbol, const Lowering*>> AllLowerings() {
  std::vector<std::pair<Symbol, const Lowering*>> all;
  for (const OpDef* op : AllOps()) {
    for (const Lowering* lowering : LoweringsOf(op->name())) all.emplace_back(op->name(), lowering);
  }
  return all;
}

bool RegisterLowering(std::string_view op, std::string_view name, Handler run, SourcePlace place) {
  Table().Add({op, name, std::move(run), place});
  return true;
}

bool RegisterLoweringOfOps(bool (*which)(const OpDef& op), std::string_view name, Handler run,
                           SourcePlace place) {
  Table().Add({Symbol(), name, std::move(run), place, which});
  return true;
}

}  // namespace x2ir
