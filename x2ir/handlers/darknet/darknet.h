// How sections of Darknet become IR. The meaning is that of the kernels of pjreddie/darknet at
// inference, and of AlexeyAB/darknet for what that one added. Rows only read.
#ifndef X2IR_HANDLERS_DARKNET_DARKNET_H_
#define X2IR_HANDLERS_DARKNET_DARKNET_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/arrays.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {

class DarknetArgs : public NodeReader {
 public:
  explicit DarknetArgs(Rewrite& r);

  size_t num_values() const { return num_inputs() - num_weights_; }  // operands but weights
  size_t num_weights() const { return num_weights_; }
  Expr weights(size_t i) { return in(num_values() + i); }
  // Operand i as an image [batch, channels, height, width].
  Expr image(size_t i = 0);

  // Options, each with what it is when it is left out.
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

using DarknetFn = std::function<absl::StatusOr<Value*>(DarknetArgs&)>;
absl::StatusOr<Values> FromDarknet(const DarknetFn& fn, Rewrite& r);

// x after the function of that name, or after the one that the option `activation` names.
absl::StatusOr<Expr> ActivatedBy(std::string_view name, const Expr& x);
absl::StatusOr<Expr> Activated(DarknetArgs& a, const Expr& x, std::string_view fallback);

// Rows of an IR op: it is what the section mostly is, for the tables.
class DarknetSpec {
 public:
  explicit DarknetSpec(Symbol ir_op, SourcePlace place = SourcePlace::Here())
      : spec_("darknet", ir_op, place) {}
  DarknetSpec& From(std::string_view section, DarknetFn fn);

 private:
  Spec spec_;
};

#define X2IR_DARKNET(ir_op)                                                                   \
  [[maybe_unused]] static ::x2ir::DarknetSpec X2IR_CONCAT_(x2ir_darknet_spec_, __COUNTER__) = \
      ::x2ir::DarknetSpec(#ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_DARKNET_DARKNET_H_
