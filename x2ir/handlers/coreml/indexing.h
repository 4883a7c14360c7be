// Elements that are put, as operations of MIL and layers of networks have them.
#ifndef X2IR_HANDLERS_COREML_INDEXING_H_
#define X2IR_HANDLERS_COREML_INDEXING_H_

#include <functional>
#include <string>
#include <string_view>

#include "x2ir/builder/node_reader.h"

namespace X2IR_API x2ir {

using PutFn = std::function<Expr(const Expr& data, const Expr& indices, const Expr& updates,
                                 std::string_view reduction)>;
// data with updates as elements ("update"), or combined with them: add, sub, mul, div, max,
// min.
Expr CombinedAt(NodeReader& a, const Expr& data, const Expr& indices, const Expr& updates,
                const std::string& mode, const PutFn& put);

}  // namespace x2ir

#endif  // X2IR_HANDLERS_COREML_INDEXING_H_
