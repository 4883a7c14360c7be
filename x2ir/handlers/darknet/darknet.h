// How sections of Darknet become IR. The meaning is that of the kernels of pjreddie/darknet at
// inference, and of AlexeyAB/darknet for what that one added. Rows only read.
#ifndef X2IR_HANDLERS_DARKNET_DARKNET_H_
#define X2IR_HANDLERS_DARKNET_DARKNET_H_

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/layers/activation.h"
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/dialect_spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/nnvm/layers.h"

namespace X2IR_API x2ir {

class DarknetArgs : public NodeReader {
 public:
  explicit DarknetArgs(Rewrite& r);

  size_t num_values() const { return num_inputs() - num_weights_; }  // operands but weights
  size_t num_weights() const { return num_weights_; }
  Expr weights(size_t i) { return in(num_values() + i); }
  // Operand i as an image [batch, channels, height, width].
  Expr image(size_t i = 0);

  // Options, each with its default.
  int64_t Integer(std::string_view name, int64_t fallback);
  bool Flag(std::string_view name, bool fallback) { return Integer(name, fallback) != 0; }
  double Number(std::string_view name, double fallback);
  std::string Text(std::string_view name, std::string_view fallback);
  std::vector<double> Numbers(std::string_view name);
  std::vector<int64_t> Integers(std::string_view name);
  // Unimplemented for an option that is given and not 0.
  void RefuseAll(std::initializer_list<std::string_view> names);
  void Drop(std::initializer_list<std::string_view> names);

 private:
  size_t num_weights_ = 0;
};

// x after the function of that name, or after the one that the option `activation` names.
absl::StatusOr<Expr> ActivatedBy(std::string_view name, const Expr& x);
absl::StatusOr<Expr> Activated(DarknetArgs& a, const Expr& x, std::string_view fallback);

// Rows (core/dialect_spec.h).
struct DarknetDialect : DialectDefaults {
  static constexpr std::string_view kName = "darknet";
  using Args = DarknetArgs;
  static absl::Status Finish(DarknetArgs& args);
};

#define X2IR_DARKNET(ir_op) X2IR_ROWS(::x2ir::DarknetDialect, ir_op)

inline Expr Sigmoid(const Expr& x) { return x.Op("sigmoid"); }

inline absl::StatusOr<Value*> WithActivation(DarknetArgs& a, const Expr& x,
                                             std::string_view fallback) {
  X2IR_ASSIGN_OR_RETURN(const Expr y, Activated(a, x, fallback));
  return y.value() == x.value() ? a.Op("identity", {x}).value() : y.value();
}

// (x - mean) / (sqrt(variance) + 1e-6) * scale + bias.
inline Expr Normed(DarknetArgs& a, const Expr& x, const Expr& bias, const Expr& scales,
                   const Expr& mean, const Expr& variance) {
  return BatchNormalize(a, x, scales, bias, mean, Square(Sqrt(variance) + 0.000001), 1, 0);
}

inline Window SquareWindow(int64_t size, std::vector<int64_t> strides, int64_t dilation,
                           int64_t padding) {
  Window w;
  w.kernel = {size, size};
  w.strides = std::move(strides);
  w.dilations = {dilation, dilation};
  w.pads = {padding, padding, padding, padding};
  return w;
}

// `antialiasing`: what came before took steps of 1; a blur takes those that were asked for.
inline Expr Blurred(DarknetArgs& a, const Expr& x, int64_t kind,
                    const std::vector<int64_t>& strides) {
  if (kind == 0) return x;
  const Dim channels = DimAt(x, 1);
  a.Require(channels.is_static(), "an unknown number of channels");
  const std::vector<double> blur =
      kind == 2 ? std::vector<double>(4, 1.0 / 4)
                : std::vector<double>{1.0 / 16, 2.0 / 16, 1.0 / 16, 2.0 / 16, 4.0 / 16,
                                      2.0 / 16, 1.0 / 16, 2.0 / 16, 1.0 / 16};
  const int64_t size = kind == 2 ? 2 : 3;
  const Expr each = NumbersAs(a, x.dtype(), {1, 1, size, size}, blur)
                        .Op("tile", {a.b().Ints({channels.value(), 1, 1, 1})});
  return Convolve(a, x, each, nullptr, SquareWindow(size, strides, 1, kind == 2 ? 0 : 1),
                  channels.value());
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_DARKNET_DARKNET_H_
