// Operators of a dialect that stay nodes of it where a graph of that dialect is written again: IR
// has several ops for one, and these would not become that one operator again.
#ifndef X2IR_CORE_COMPOSITES_H_
#define X2IR_CORE_COMPOSITES_H_

#include <cstddef>
#include <string_view>

#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/api.h"
#include "x2ir/graph_wrapper/graph.h"
#include "x2ir/graph_wrapper/registry.h"

namespace X2IR_API x2ir {

// Whether the node may stay, of which its row made `ops` ops of IR. Only for operators that are
// functions of their operands, which are tensors: no state that lives on, no random numbers.
using IsCompositeFn = bool (*)(const Node& node, size_t ops);

bool RegisterComposites(std::string_view dialect, IsCompositeFn is_composite,
                        SourcePlace place = SourcePlace::Here());

// Null for a dialect without an entry.
IsCompositeFn FindComposites(std::string_view dialect);

// Has the operators of a source decomposed where options change all of the model, or ask for it.
// For who imports a model of that dialect to export it with these options.
void DecomposeAsAsked(std::string_view source_dialect, const ExportOptions& to,
                      ImportOptions& from);

}  // namespace x2ir

#endif  // X2IR_CORE_COMPOSITES_H_
