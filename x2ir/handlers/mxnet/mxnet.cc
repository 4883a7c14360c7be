#include "x2ir/handlers/mxnet/mxnet.h"

#include "x2ir/builder/shapes.h"
#include "x2ir/formats/mxnet/mxnet.h"

namespace x2ir {

bool HasNumpyShapes(const SymbolArgs& a) {
  if (a.op().starts_with("_np")) return true;
  const Graph* graph = a.node().graph();
  while (graph && graph->parent_node()) graph = graph->parent_node()->graph();
  const Annotations* notes = graph ? graph->annotations().get() : nullptr;
  return notes && notes->extra.contains(mxnet::kNumpyShapes);
}

Expr AtLeastOneAxis(const SymbolArgs& a, const Expr& x) {
  if (!x->shape() || x->shape()->rank() > 0 || HasNumpyShapes(a)) return x;
  return Reshape(x, {1});
}

}  // namespace x2ir
