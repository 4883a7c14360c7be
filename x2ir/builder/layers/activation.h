// Activations by the names that frameworks give them.
#ifndef X2IR_BUILDER_LAYERS_ACTIVATION_H_
#define X2IR_BUILDER_LAYERS_ACTIVATION_H_

#include <optional>
#include <string_view>

#include "absl/types/span.h"
#include "x2ir/builder/expr.h"

namespace X2IR_API x2ir {

// A name and its meaning: an op of the IR with its defaults, or else an expression, or
// else (neither of both) x itself.
struct NamedActivation {
  std::string_view name;
  std::string_view op;
  Expr (*apply)(const Expr& x) = nullptr;
};

// x after the activation of that name; nullopt where a framework has none. `common` are the names,
// with a space between them, that it has with the meaning that all have (activation.cc); `own` are
// its others.
std::optional<Expr> Activated(std::string_view common, absl::Span<const NamedActivation> own,
                              std::string_view name, const Expr& x);

// --- Expressions for tables, and with a number ----------------------------------------------

namespace activation {

inline Expr LeakyRelu(const Expr& x, float slope) {
  return x.Op("leaky_relu", {}, {{"alpha", slope}});
}
inline Expr Relu6(const Expr& x) { return Clip(x, x.Number(0), x.Number(6)); }
inline Expr HardTanh(const Expr& x) { return Clip(x, x.Number(-1), x.Number(1)); }
inline Expr TanhShrink(const Expr& x) { return x - x.Op("tanh"); }
inline Expr GeluTanh(const Expr& x) { return x.Op("gelu", {}, {{"approximate", "tanh"}}); }
inline Expr Silu(const Expr& x) { return x * x.Op("sigmoid"); }

}  // namespace activation
}  // namespace x2ir

#endif  // X2IR_BUILDER_LAYERS_ACTIVATION_H_
