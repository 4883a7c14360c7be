// What several files of TFLite's rows share: layers.
#ifndef X2IR_HANDLERS_TFLITE_LAYERS_INTERNAL_H_
#define X2IR_HANDLERS_TFLITE_LAYERS_INTERNAL_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/layers/window.h"
#include "x2ir/builder/relaid.h"
#include "x2ir/formats/tflite/quantization.h"
#include "x2ir/formats/tflite/schema.h"
#include "x2ir/handlers/tf/tf.h"
#include "x2ir/handlers/tflite/tflite.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/layout.h"

namespace X2IR_API x2ir {

// SAME: more at the end where it does not come out even.
inline Window TakePadding(TfliteArgs& a) {
  const std::string padding = a.String("padding", "SAME");
  a.Require(padding == "SAME" || padding == "VALID", StrCat("padding ", padding));
  return {.auto_pad = padding == "SAME" ? AutoPad::kSameUpper : AutoPad::kValid,
          .channels_last = true};
}

inline std::vector<int64_t> TakeHw(TfliteArgs& a, std::string_view before, std::string_view behind,
                                   int64_t fallback, bool three = false) {
  std::vector<int64_t> all;
  for (const char* axis : {"d", "h", "w"}) {
    if (*axis == 'd' && !three) continue;
    all.push_back(a.Int(Symbol(StrCat(before, axis, behind)), fallback));
    a.Require(all.back() > 0, "a window without a size or a step");
  }
  return all;
}

inline Value* BiasOf(TfliteArgs& a, size_t i) { return a.has(i) ? a.in(i).value() : nullptr; }

inline Value* PlusBias(TfliteArgs& a, Value* y, size_t bias) {
  return a.has(bias) ? Expr(a, y) + a.in(bias) : Expr(a, y);
}

using Pads = std::vector<int64_t>;

inline bool IsChannelsLast(TfliteWriter& w) { return w.String("layout") == "channels_last"; }

using NnForm = absl::StatusOr<Values> (*)(TfliteWriter&);

// The op with its channels last, between transposes. What `form` refuses then is refused here, so
// that it is tried in other ways with its channels first.
inline absl::StatusOr<Values> WithChannelsLast(TfliteWriter& w, NnForm form) {
  X2IR_ASSIGN_OR_RETURN(Values values, InLayout(w.b(), w.node(), "channels_last"));
  for (Node* made : w.b().made()) {
    if (made->op() != w.node().op()) continue;
    // A form may give a weight's name to the one that it makes of it.
    std::vector<std::pair<Value*, std::string>> names;
    for (Value* v : made->inputs()) {
      if (v) names.emplace_back(v, v->name());
    }
    const absl::Status status = w.TryOn(*made, form);
    for (const auto& [v, name] : names) {
      if (v->name() != name) v->graph()->Rename(v, name);
    }
    X2IR_RETURN_IF_ERROR(status);
  }
  return values;
}

struct LiteWindow : Window {
  // What SAME would add; nullopt where sizes are not known and it depends on them.
  std::optional<Pads> same;
  bool is_same() const { return same && pads == *same; }
  bool is_valid() const { return !padded(); }
};

// x has its channels last. Rounded up, or automatic pads become such as give these results.
inline absl::StatusOr<LiteWindow> ReadLiteWindow(TfliteWriter& w, std::vector<int64_t> kernel) {
  X2IR_ASSIGN_OR_RETURN(const Window given, ReadWindow(w.attrs(), std::move(kernel)));
  const std::optional<Window> padded = WithPads(given, w.shape());
  if (!padded) return CannotExpress("automatic pads of unknown sizes");
  LiteWindow window{*padded, std::nullopt};
  Window automatic = given;
  automatic.auto_pad = AutoPad::kSameUpper;
  if (const auto same = WithPads(std::move(automatic), w.shape())) window.same = same->pads;
  return window;
}

inline const char* PaddingName(const LiteWindow& window) {
  return window.is_valid() ? "VALID" : "SAME";
}

// x with `value` around it where no padding of TFLite adds the same.
inline Value* PadLiteApart(TfliteWriter& w, LiteWindow& window, double value) {
  return window.is_valid() || window.is_same() ? w.in(0) : PadApart(w, window, value);
}

inline void SetHw(AttributeMap* attrs, const std::vector<int64_t>& all, std::string_view before,
                  std::string_view behind = "") {
  static constexpr const char* kAxes[] = {"d", "h", "w"};
  for (size_t i = 0; i < all.size(); ++i) {
    attrs->Set(StrCat(before, kAxes[3 - all.size() + i], behind), all[i]);
  }
}

inline bool IsDense(const Value* v) {
  const Tensor* constant = v ? v->fixed_constant() : nullptr;
  return constant && !constant->is_sparse();
}

// The constant that the value is dequantized from; null: it is something else.
inline Value* IntegersOf(const Value* v) {
  const Node* scaled = v->producer();
  const bool is_one = scaled && scaled->dialect() == Symbol(tflite::kDialect) &&
                      scaled->op() == "DEQUANTIZE" && IsDense(scaled->input(0));
  return is_one ? scaled->input(0) : nullptr;
}

inline Value* Relaid(TfliteWriter& w, Value* x, const std::vector<int64_t>& perm) {
  return RelaidConstant(w.b(), x, TransposeWeight(*x->fixed_constant(), perm));
}

// A constant at once, one of integers that are dequantized, too, else a transpose.
inline Value* WithOrder(TfliteWriter& w, Value* x, const std::vector<int64_t>& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  if (IsDense(x)) return Relaid(w, x, perm);
  if (Value* integers = IntegersOf(x)) {
    const auto q = tflite::QuantizationOf(*integers);
    if (q.ok() && *q && (*q)->block_size == 0) {
      Value* relaid = Relaid(w, integers, perm);
      tflite::Quantization moved = **q;
      if (moved.scales.size() > 1) {
        moved.axis = std::find(perm.begin(), perm.end(), moved.axis) - perm.begin();
      }
      tflite::SetQuantization(*relaid, moved);
      return w.Tflite(
          "DEQUANTIZE", {relaid}, {},
          Type::Tensor(DType::kFloat32, Shape::FromInts(relaid->fixed_constant()->dims())));
    }
  }
  return w.Op("transpose", {x}, {{"perm", perm}});
}

}  // namespace x2ir

#endif  // X2IR_HANDLERS_TFLITE_LAYERS_INTERNAL_H_
