// Quantized tensors while TorchScript is read. What computes with them is written as runtimes with
// integer kernels look for it: the operands dequantized, the operator of floats, the result
// quantized.
#ifndef X2IR_HANDLERS_TORCH_SCRIPT_QUANTIZED_H_
#define X2IR_HANDLERS_TORCH_SCRIPT_QUANTIZED_H_

#include <memory>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "x2ir/builder/quantized.h"
#include "x2ir/handlers/torch/script/machine.h"

namespace X2IR_API x2ir {
namespace torch_script {

using Formula = x2ir::Expr;  // an Expr is one of the code here
using QuantizationPtr = std::shared_ptr<const Quantization>;

// A call of an operator of quantized tensors.
struct QuantizedCall {
  Machine& m;
  std::string_view op;
  const Args& args;
  bool relu = false;  // the operator's name goes on with "_relu"

  const Val* Find(size_t i, std::string_view name) const { return args.Get(i, name); }
  const Val& At(size_t i, std::string_view name) const;  // must be given
  bool Flag(size_t i, std::string_view name) const;      // of one that is left out: false
};
using QuantizedFunction = Val (*)(const QuantizedCall& c);
using QuantizedTable = absl::flat_hash_map<std::string_view, QuantizedFunction>;
const QuantizedTable& QuantizedLibrary();
// An operator of the library that is one of ATen's, by its name without "_relu"; nullopt: it is
// not.
std::optional<Val> CallFloatRow(const QuantizedCall& c, std::string_view op);
// Layers with packed weights, and the objects that these are.
const QuantizedTable& QuantizedLayers();
const QuantizedTable& QuantizedRecurrences();

// "add" of "quantized::add".
std::string_view OperatorStem(std::string_view op);
// How a tensor is quantized; null: it is not, or it is no tensor.
QuantizationPtr QuantizationOf(const Val& v);
QuantizationPtr RequireQuantized(const QuantizedCall& c, const Val& v);
// Of the first tensor that is; null: there is none.
QuantizationPtr AnyQuantization(const Args& args);
QuantizationPtr RequireAnyQuantized(const QuantizedCall& c);
// Numbers or tensors of one element each.
QuantizationPtr MakeQuantization(Machine& m, const Val& scale, const Val& zero_point, DType dtype);
// c10's number of a quantized type as the type of its integers.
DType QuantizedTypeOf(Machine& m, const Val& dtype);
QuantizationParams ParamsOf(Builder& b, const Quantization& q);

// Integers that represent floats.
Val Marked(const Val& integers, QuantizationPtr q);
// The integers of a quantized tensor as an ordinary one; anything else as it is.
Val IntegersOf(Machine& m, const Val& v);
// A quantized tensor as floats, also in lists; anything else as it is.
Val FloatsOf(Machine& m, const Val& v);
Args FloatsOf(Machine& m, const Args& args);
Val QuantizedAs(Machine& m, const Val& floats, QuantizationPtr q);
// The result of a layer, after its relu: quantized as the arguments from place i on say, a scale
// and a zero point, or put into the tensor there.
Val Finished(const QuantizedCall& c, Val floats, size_t i, DType dtype);
Val WithRelu(const QuantizedCall& c, Val floats);

// --- Quantized as the numbers are that a run meets
// ------------------------------------------------

// A scale and zero point for the least and the greatest number of x.
QuantizationParams DynamicSteps(const Formula& x, int64_t low, int64_t high, bool reduce_range);
// x as integers of 8 bits would leave it.
Formula DynamicallyRounded(const Formula& x, bool reduce_range);
// x as one would be quantized.
QuantizationPtr DynamicQuantization(Machine& m, const Val& x, DType dtype, bool reduce_range);

// The weights and bias that an object of packed weights of a linear layer has.
struct LinearWeights {
  Val weight, bias;
};
LinearWeights LinearWeightsOf(const QuantizedCall& c, const Val& packed);

}  // namespace torch_script
}  // namespace x2ir

#endif  // X2IR_HANDLERS_TORCH_SCRIPT_QUANTIZED_H_
