// How layers of ncnn become IR. The meaning is that of ncnn's reference kernels (src/layer) and its
// operators.md. A batch of 1 is before a blob's axes; an axis counts without it. Rows only
// read.
#ifndef X2IR_HANDLERS_NCNN_NCNN_H_
#define X2IR_HANDLERS_NCNN_NCNN_H_

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/dialect_spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {

class NcnnArgs : public NodeReader {
 public:
  explicit NcnnArgs(Rewrite& r);

  size_t num_bottoms() const { return num_bottoms_; }
  size_t num_weights() const { return num_inputs() - num_bottoms_; }
  // A flat list of weights, as floats.
  Expr weights(size_t i);
  // An axis of a blob, which has no batch, as an axis of operand 0.
  int64_t AxisOf(int64_t axis);

  // Parameters by their numbers, each with its default.
  bool Has(int64_t id) const { return HasAttr(Symbol(StrCat(id))); }
  int64_t Int(int64_t id, int64_t fallback);
  bool Flag(int64_t id, bool fallback) { return Int(id, fallback) != 0; }
  double Float(int64_t id, double fallback);
  std::vector<int64_t> Ints(int64_t id);
  std::vector<double> Floats(int64_t id);
  void Drop(std::initializer_list<int64_t> ids);

 private:
  size_t num_bottoms_ = 0;
  bool bits_ = false;
};

// x after the function that parameters 9 and 10 say, or those from `id` on.
absl::StatusOr<Expr> NcnnActivated(NcnnArgs& a, const Expr& x, int64_t id = 9);
// x in steps of its scale, as ncnn rounds them: halves away from zero, from -127 to 127.
Expr NcnnQuantized(const Expr& x, const Expr& scale);
// Floats that ncnn quantizes to int8 at run time for a product: x in steps, of which 127 are the
// greatest number over these axes.
struct NcnnSteps {
  Expr steps, scale;  // scale: with the axes as 1
};
NcnnSteps NcnnQuantizedOver(const Expr& x, const std::vector<int64_t>& axes);

// Rows (core/dialect_spec.h).
struct NcnnDialect : DialectDefaults {
  static constexpr std::string_view kName = "ncnn";
  using Args = NcnnArgs;
  static constexpr bool kFewerValues = true;
  static absl::Status Finish(NcnnArgs& args);
};

#define X2IR_NCNN(ir_op) X2IR_ROWS(::x2ir::NcnnDialect, ir_op)

template <typename Op>
auto Plain(Op op) {
  return [op](NcnnArgs& a) { return a.Op(op, {a.in(0)}); };
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_NCNN_NCNN_H_
