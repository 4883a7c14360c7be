// How functions in models of Keras become IR: those of TensorFlow ("tf.math.add") and operations of
// Keras 3 ("ops.Add"). Where a function's arguments are the operands and attributes of an operator
// of TensorFlow, a row of function_rows.cc says so; for every other there is a function that sees
// the call.
//
//   X2IR_KERAS_FUNCTION(reduce_mean).From("tf.math.reduce_mean", "input_tensor axis keepdims",
//   Mean);
#ifndef X2IR_HANDLERS_KERAS_FUNCTIONS_H_
#define X2IR_HANDLERS_KERAS_FUNCTIONS_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "x2ir/builder/node_reader.h"
#include "x2ir/core/spec.h"
#include "x2ir/formats/json_tree.h"
#include "x2ir/graph_wrapper/status.h"

namespace X2IR_API x2ir {

// The words of a text.
std::vector<std::string_view> SplitText(std::string_view text, char separator);

// A number or nested lists of them as a constant of that type; kUndefined: int32, float32 or bool.
Expr ConstantOf(NodeReader& a, const Json& json, DType type);

// Rows ask for an argument by the first of its names. An argument that no row asks for is an error.
// None means that it is left out.
class KerasCall : public NodeReader {
 public:
  // `parameters`: names in the order of their positions, aliases after a '|': "x|x1 axis". The
  // first may be all that is given by position: "*operands subscripts".
  KerasCall(Rewrite& r, std::string_view parameters);

  // An operation of Keras 3: tensors of different types are promoted, as NumPy's would be.
  bool promotes() const { return op().starts_with("ops."); }

  bool Given(std::string_view name) const { return !Find(name).is_null(); }
  const Json& Arg(std::string_view name);  // null where it is left out

  // --- Tensors ----------------------------------------------------------------------------------
  // A tensor, a number or nested lists of them, of the type that it has by itself: numbers are
  // int32, float32 or bool.
  Expr Tensor(std::string_view name);
  // The same; numbers are of that type. Operations of Keras 3 cast tensors to it.
  Expr Tensor(std::string_view name, DType type);
  // A list of them, of one type.
  std::vector<Expr> Tensors(std::string_view name);
  // The type that these arguments have together: numbers are of that of the tensors.
  DType CommonType(const std::vector<std::string_view>& names);
  std::vector<Expr> Matched(const std::vector<std::string_view>& names);
  // Of floats; operations of Keras 3 take integers as float32.
  Expr Floats(std::string_view name);
  // Sizes, positions or axes, perhaps computed: int64.
  Expr Sizes(std::string_view name);

  // --- What is known ----------------------------------------------------------------------------
  // One or a list; nullopt where it is left out.
  std::optional<std::vector<int64_t>> Integers(std::string_view name);
  int64_t Integer(std::string_view name, int64_t fallback);
  bool Flag(std::string_view name, bool fallback = false);
  double Number(std::string_view name, double fallback);
  std::string Text(std::string_view name, std::string_view fallback = "");
  DType TypeOf(std::string_view name, DType fallback);
  // Axes counted from the front; all of them where they are left out.
  std::vector<int64_t> Axes(std::string_view name, const Expr& x);

  // An operator of TensorFlow in the place of this node: its results, and its first.
  Values AllAsTf(std::string_view tf_op, std::vector<Value*> operands, AttributeMap attrs = {});
  Expr AsTf(std::string_view tf_op, std::vector<Value*> operands, AttributeMap attrs = {});

  absl::Status CheckArguments() const;

  // Arguments that are at hand as JSON.
  Expr ValueOf(const Json& json, DType type = DType::kUndefined);
  DType TypeTogether(const std::vector<const Json*>& all);
  Expr OfType(const Json& json, DType type);

 private:
  struct Argument {
    std::vector<std::string_view> names;
    Json value;
    bool many = false;  // a list of all that has no name
    bool taken = false;
  };
  const Json& Find(std::string_view name) const;
  // The type of the first tensor in it; kUndefined: there is none.
  DType StrongType(const Json& json);
  [[noreturn]] void Wrong(std::string_view name, std::string_view kind);

  std::vector<Argument> arguments_;
};

using KerasFunction = std::function<absl::StatusOr<Values>(KerasCall&)>;

class KerasFunctionSpec {
 public:
  explicit KerasFunctionSpec(Symbol ir_op, SourcePlace place = SourcePlace::Here())
      : spec_("keras", ir_op, place) {}
  // `names`: of one or more functions, "tf.math.add ops.Add". `fn` takes KerasCall& and gives
  // Values, a Value*, or a StatusOr of them.
  template <typename Fn>
  requires std::is_invocable_v<Fn, KerasCall&> KerasFunctionSpec& From(std::string_view names,
                                                                       std::string_view parameters,
                                                                       Fn fn) {
    return FromCode(names, parameters, [fn](KerasCall& c) { return ValuesOf(fn, c); });
  }
  KerasFunctionSpec& FromCode(std::string_view names, std::string_view parameters,
                              KerasFunction fn);

 private:
  Spec spec_;
};

#define X2IR_KERAS_FUNCTION(ir_op)                                \
  [[maybe_unused]] static ::x2ir::KerasFunctionSpec X2IR_CONCAT_( \
      x2ir_keras_function_, __COUNTER__) = ::x2ir::KerasFunctionSpec(#ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_KERAS_FUNCTIONS_H_
