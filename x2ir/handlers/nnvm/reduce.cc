// NNVM: reductions.
#include "x2ir/handlers/nnvm/symbol.h"

namespace x2ir {

X2IR_NNVM(reduce_sum).From("sum", ReduceRow("reduce_sum")).To("sum", ToReduce("sum"));
X2IR_NNVM(reduce_mean).From("mean", ReduceRow("reduce_mean")).To("mean", ToReduce("mean"));
X2IR_NNVM(reduce_max).From("max", ReduceRow("reduce_max")).To("max", ToReduce("max"));
X2IR_NNVM(reduce_min).From("min", ReduceRow("reduce_min")).To("min", ToReduce("min"));
X2IR_NNVM(reduce_prod).From("prod", ReduceRow("reduce_prod")).To("prod", ToReduce("prod"));
X2IR_NNVM(arg_max).From("argmax", ArgRow("arg_max")).To("argmax", ToArg("argmax"));
X2IR_NNVM(arg_min).From("argmin", ArgRow("arg_min")).To("argmin", ToArg("argmin"));

}  // namespace x2ir
