// Dialects whose ops are some of another dialect's, with the same meaning: those of TensorFlow.js
// are TensorFlow's. Models are written as nodes of the base, by rows of the derived dialect, and
// where it has none for an op of the IR, by those of the base whose op it has (docs/adr/0038).
//
// A derived dialect is registered as a dialect, too (core/dialect.h), with the properties that are
// its own: a check, a layout, steps on whole models; its kernels (core/kernels.h) are its own.
#ifndef X2IR_CORE_DERIVED_DIALECT_H_
#define X2IR_CORE_DERIVED_DIALECT_H_

#include <string>
#include <string_view>

#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/registry.h"
#include "x2ir/graph_wrapper/symbol.h"

namespace X2IR_API x2ir {

struct DerivedDialect {
  std::string name;
  Symbol base;
  bool (*has)(Symbol op);  // of the base's ops
};

bool RegisterDerivedDialect(DerivedDialect derived, SourcePlace place = SourcePlace::Here());

// Null for a dialect that is not derived.
const DerivedDialect* FindDerivedDialect(Symbol dialect);

// The dialect of the nodes that a model of `dialect` has: its base's, or its own.
Symbol DialectOfNodes(Symbol dialect);

}  // namespace x2ir

#endif  // X2IR_CORE_DERIVED_DIALECT_H_
