// How ops of TensorFlow become IR, and IR becomes ops of TensorFlow (writer.h). A row for an op
// that only has another name, a function for every other; several ops may share a function.
//
// A function sees the node through TfArgs, which makes an error of every attribute that nobody
// looked at. TensorFlow leaves attributes out that have their default, so each is taken with it.
#ifndef X2IR_HANDLERS_TF_TF_H_
#define X2IR_HANDLERS_TF_TF_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/builder/expr.h"
#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/tf/writer.h"

namespace X2IR_API x2ir {

// A node of dialect "tf". What is wrong with an attribute fails the builder, so that code goes on
// without checks.
class TfArgs {
 public:
  explicit TfArgs(Rewrite& r) : b(r.b), r_(r) {}

  Builder& b;
  operator Builder&() { return b; }  // NOLINT: what makes nodes takes either

  std::string_view op() const { return r_.node.op().view(); }
  const Node& node() const { return r_.node; }

  // --- Operands ---
  size_t num_inputs() const { return r_.node.num_inputs(); }
  // Null beyond the end: FromTf refuses a node with fewer operands than it looks at.
  Expr in(size_t i);
  std::vector<Value*> inputs(size_t from = 0) const;
  bool has(size_t i) const { return r_.has(i); }
  DType dtype(size_t i) const { return r_.dtype(i); }
  int64_t rank(size_t i) const { return r_.rank(i); }  // -1: not known
  const Shape* shape(size_t i) const { return has(i) ? r_.in(i)->shape() : nullptr; }
  // The rank; Unimplemented where it is not known.
  absl::StatusOr<int64_t> Rank(size_t i);
  // Integers that are known in every run, through shape arithmetic too.
  std::optional<std::vector<int64_t>> Ints(size_t i) const;
  // The same, or Unimplemented: "operand 1 (axis) must be known".
  absl::StatusOr<std::vector<int64_t>> KnownInts(size_t i, std::string_view what);
  absl::StatusOr<int64_t> KnownInt(size_t i, std::string_view what);

  // --- Outputs ---
  size_t num_outputs() const { return r_.num_outputs(); }
  bool wants(size_t i) const { return r_.node.output(i) != nullptr; }

  // --- Attributes, each with what it is when it is left out ---
  bool HasAttr(Symbol name) const { return r_.attrs().Has(name); }
  int64_t Int(Symbol name, int64_t or_else);
  bool Bool(Symbol name, bool or_else) { return Int(name, or_else) != 0; }
  float Float(Symbol name, float or_else);
  std::string String(Symbol name, std::string_view or_else);
  DType Type(Symbol name, DType or_else);  // kUndefined (and failed) for what is none of ours
  std::vector<int64_t> IntList(Symbol name, std::vector<int64_t> or_else);
  std::vector<float> FloatList(Symbol name, std::vector<float> or_else);
  std::vector<std::string> StringList(Symbol name);
  std::vector<DType> TypeList(Symbol name);
  // A shape; nullopt when the rank is not known, or it is left out.
  std::optional<Shape> ShapeAttr(Symbol name);
  // Of no meaning for results.
  void Ignore(Symbol name) { taken_.insert(name); }
  // A nested graph (docs/adr/0009); null (and failed) when there is none.
  std::shared_ptr<Graph> SubGraph(Symbol name);
  std::vector<std::shared_ptr<Graph>> SubGraphs(Symbol name);

  // What must be so for this form, else Unimplemented.
  void Require(bool holds, std::string_view what);

  // --- Pieces of graph; more in builder/ ---
  Expr Op(Symbol op, std::vector<Value*> operands, AttributeMap attrs = {}) {
    return {b, b.Op(op, std::move(operands), std::move(attrs))};
  }
  Expr Cast(Value* v, DType to) { return Expr(b, v).To(to); }
  // Integers as int64, as IR's ops want sizes and axes.
  Expr AsInt64(Value* v) { return Cast(v, DType::kInt64); }

  // Unimplemented names the first attribute that nobody took and that has a meaning; Invalid says
  // that an operand is missing.
  absl::Status Finish() const;

 private:
  template <typename T>
  const T* Take(Symbol name, std::string_view kind);
  // An empty list does not say of what it is one.
  template <typename T>
  const T* TakeList(Symbol name, std::string_view kind);

  Rewrite& r_;
  absl::flat_hash_set<Symbol> taken_;
  bool missing_operand_ = false;
};

// Whether an attribute says nothing that operands do not say: their types, hints.
bool IsMeaninglessTfAttr(std::string_view name);

using TfFn = std::function<absl::StatusOr<Values>(TfArgs&)>;
absl::StatusOr<Values> FromTf(const TfFn& fn, Rewrite& r);
absl::StatusOr<Values> ToTf(const TfWriteFn& fn, Rewrite& r);

// --- What operands say ---------------------------------------------------------------------------

// What a constant is, also one that was handed on; null where it is none.
const Tensor* ConstantBehind(const Value* v);
// Elements of an integer operand of rank 1 that are known or symbolic; nullopt where it is
// computed otherwise.
std::optional<std::vector<Dim>> PartlyKnownInts(const Value* value);
// Axes in [0, rank), each once.
absl::StatusOr<std::vector<int64_t>> KnownAxes(TfArgs& a, size_t i, int64_t rank);
Expr SizeAt(TfArgs& a, Value* v, int64_t axis);  // int64, rank 0

// --- Windows of convolutions and pools --------------------------------------------------------

// data_format as IR's layout: "channels_last" for NHWC and NDHWC, "channels_first" for NCHW and
// NCDHW; `vect` formats are Unimplemented.
struct TfLayout {
  bool channels_last = true;
  std::string_view name() const { return channels_last ? "channels_last" : "channels_first"; }
  int64_t ChannelAxis(int64_t rank) const { return channels_last ? rank - 1 : 1; }
};
TfLayout TakeLayout(TfArgs& a, std::string_view or_else = "NHWC");
// One number a spatial axis out of one a axis of the tensor, whose others must be 1.
std::vector<int64_t> TakeSpatial(TfArgs& a, Symbol attr, TfLayout layout, size_t spatial);
// padding (SAME, VALID, EXPLICIT with explicit_paddings) as IR's auto_pad and pads.
void TakePadding(TfArgs& a, TfLayout layout, size_t spatial, AttributeMap* attrs);
// A kernel with its spatial axes first ([kernel..., in, out]) as [out, in, kernel...].
Value* KernelToOihw(TfArgs& a, Value* kernel);
// A constant relaid at once, else a transpose.
Value* Relaid(TfArgs& a, Value* v, const std::vector<int64_t>& perm);

// --- Registration -------------------------------------------------------------------------------

// Rows of an IR op. A row says by its name which way it goes:
//
//   X2IR_TF(relu).Is("Relu");                          // both, by data
//   X2IR_TF(identity).From("StopGradient");            // only read, by data
//   X2IR_TF(conv).From("Conv2D", Conv<2>);             // only read, by code
//   X2IR_TF(elu).To("Elu", Fixed("alpha", 1.0f));      // only written, by data
//   X2IR_TF(conv).To("Conv2D", ToConv);                // only written, by code
//
// The IR op of a row that only reads by code is what the op mostly is, for the tables; the op of a
// row that only writes by code is what it mostly writes. An IR op has one row that writes. By
// data: operands go by position, attributes by name and as lenses say (core/spec.h); an attribute
// of the IR that goes nowhere must have its default.
class TfSpec {
 public:
  explicit TfSpec(Symbol ir_op, SourcePlace place = SourcePlace::Here())
      : spec_("tf", ir_op, place) {}
  template <typename... Lenses>
  TfSpec& Is(std::string_view op, Lenses&&... lenses) {
    spec_.Is(op, Since(1), std::forward<Lenses>(lenses)..., OtherAttributes(op));
    return *this;
  }
  template <typename... Lenses>
  requires(std::is_convertible_v<Lenses, Lens>&&...) TfSpec& From(std::string_view op,
                                                                  Lenses&&... lenses) {
    spec_.Is(op, Since(1), std::forward<Lenses>(lenses)..., OtherAttributes(op), ImportOnly());
    return *this;
  }
  template <typename... Lenses>
  requires(std::is_convertible_v<Lenses, Lens>&&...) TfSpec& To(std::string_view op,
                                                                Lenses&&... lenses) {
    spec_.Is(op, Since(1), std::forward<Lenses>(lenses)..., OtherAttributes(op), ExportOnly());
    return *this;
  }
  // `fn` takes TfArgs& and gives Values, a Value*, or a StatusOr of them.
  template <typename Fn>
  requires std::is_invocable_v<Fn, TfArgs&> TfSpec& From(std::string_view op, Fn fn) {
    spec_.Is(op, Since(1), Code{[fn](Rewrite& r) { return FromTf(Wrap<TfArgs>(fn), r); }, nullptr});
    return *this;
  }
  // `fn` takes TfWriter& and gives the same.
  template <typename Fn>
  requires std::is_invocable_v<Fn, TfWriter&> TfSpec& To(std::string_view op, Fn fn) {
    spec_.Is(op, Since(1), Code{nullptr, [fn](Rewrite& r) { return ToTf(Wrap<TfWriter>(fn), r); }});
    return *this;
  }

 private:
  // Attributes that mean nothing, and those that follow from the operands.
  static Lens OtherAttributes(std::string_view op);
  template <typename Side, typename Fn>
  static std::function<absl::StatusOr<Values>(Side&)> Wrap(Fn fn) {
    using Result = std::invoke_result_t<Fn, Side&>;
    if constexpr (std::is_same_v<Result, Value*>) {
      return [fn](Side& a) -> absl::StatusOr<Values> { return Values{fn(a)}; };
    } else if constexpr (std::is_same_v<Result, absl::StatusOr<Value*>>) {
      return [fn](Side& a) -> absl::StatusOr<Values> {
        X2IR_ASSIGN_OR_RETURN(Value * value, fn(a));
        return Values{value};
      };
    } else {
      return fn;
    }
  }
  Spec spec_;
};

#define X2IR_TF(ir_op)                                                              \
  [[maybe_unused]] static ::x2ir::TfSpec X2IR_CONCAT_(x2ir_tf_spec_, __COUNTER__) = \
      ::x2ir::TfSpec(#ir_op)

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TF_TF_H_
