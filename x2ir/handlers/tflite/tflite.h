// How operators of TFLite become IR, and IR becomes operators of TFLite. The meaning is that of
// LiteRT's kernels. Forms see float networks: before them `prepare.h` has made units of
// dequantize_linear, the operator and quantize_linear of quantized ones, and nodes of fused
// activations. Most operators are TensorFlow's, under other names: AsTf runs the rows of these.
#ifndef X2IR_HANDLERS_TFLITE_TFLITE_H_
#define X2IR_HANDLERS_TFLITE_TFLITE_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/expr.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/node_writer.h"
#include "x2ir/core/dialect_spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tf/tf.h"

namespace X2IR_API x2ir {

// A node of dialect "tflite" (formats/tflite/schema.h).
class TfliteArgs : public NodeReader {
 public:
  using NodeReader::NodeReader;

  // What the file says of a result.
  DType out_dtype(size_t i = 0) const { return node().output(i)->dtype(); }
  // An attribute that names a TensorType ("INT32").
  DType TensorType(Symbol name, DType fallback);
};

using TfliteFn = std::function<absl::StatusOr<Values>(TfliteArgs&)>;
// What says nothing about results: hints, and what operands say.
bool IsMeaninglessTfliteAttr(std::string_view name);

// --- Through TensorFlow's rows -------------------------------------------------------------------

// A form: the operator is TensorFlow's of that name, with the same operands; `attrs` are those that
// are copied by name.
TfliteFn SameAsTf(std::string op, std::vector<std::string> attrs = {});

// --- Writing -------------------------------------------------------------------------------------

class TfliteWriter : public NodeWriter {
 public:
  using NodeWriter::NodeWriter;

  // A node of TFLite with one result. Attributes that are left out have their defaults.
  Value* Tflite(std::string_view op, std::vector<Value*> operands, AttributeMap attrs = {},
                x2ir::Type result = {});
  Values TfliteAll(std::string_view op, std::vector<Value*> operands, AttributeMap attrs,
                   const std::vector<bool>& wanted, const std::vector<x2ir::Type>& results = {});
  // Whether that form can write the node, which this one has made; nothing is kept of it.
  absl::Status TryOn(Node& made, const std::function<absl::StatusOr<Values>(TfliteWriter&)>& form);
};

// --- Registration --------------------------------------------------------------------------------

// Rows (core/dialect_spec.h).
struct TfliteDialect : DialectDefaults {
  static constexpr std::string_view kName = "tflite";
  using Args = TfliteArgs;
  using Writer = TfliteWriter;
  static absl::Status Finish(TfliteArgs& args);
  // Attributes that mean nothing, and those that have their defaults.
  static Lens OtherAttributes(std::string_view op);
};

#define X2IR_TFLITE(ir_op) X2IR_ROWS(::x2ir::TfliteDialect, ir_op)

inline Expr X(TfliteWriter& w, size_t i = 0) { return {w.b(), w.in(i)}; }

// Sizes for RESHAPE; one size may be unknown, which is then -1.
inline Value* SizesOf(TfliteWriter& w, const Type& result) {
  const Shape* shape = result.shape();
  if (!shape) return nullptr;
  std::vector<int64_t> sizes;
  int unknown = 0;
  bool zero = false;
  for (int64_t i = 0; i < shape->rank(); ++i) {
    const Dim& dim = (*shape)[i];
    sizes.push_back(dim.is_static() ? dim.value() : -1);
    unknown += !dim.is_static();
    zero |= dim.is_static() && dim.value() == 0;
  }
  return unknown == 0 || (unknown == 1 && !zero) ? w.Int32s(sizes) : nullptr;
}

// The node as a RESHAPE, by the shape of its result or by one that is computed.
inline Value* Reshaped(TfliteWriter& w, Value* shape) {
  return w.Tflite("RESHAPE", {w.in(0), w.Cast(shape, DType::kInt32)});
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFLITE_TFLITE_H_
