// See derived_dialect.h.
#include "x2ir/core/derived_dialect.h"

#include <utility>

namespace x2ir {
namespace {

NamedRegistry<DerivedDialect>& AllDerivedDialects() {
  static auto* all = new NamedRegistry<DerivedDialect>("derived dialect");
  return *all;
}

}  // namespace

bool RegisterDerivedDialect(DerivedDialect derived, SourcePlace place) {
  AllDerivedDialects().Add(std::move(derived), place);
  return true;
}

const DerivedDialect* FindDerivedDialect(Symbol dialect) {
  return AllDerivedDialects().Find(dialect.view());
}

Symbol DialectOfNodes(Symbol dialect) {
  const DerivedDialect* derived = FindDerivedDialect(dialect);
  return derived ? derived->base : dialect;
}

}  // namespace x2ir
