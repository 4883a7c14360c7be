// Recurrent networks over whole sequences: lstm, gru and rnn in ONNX's gate order and
// equations, with their activation lists.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "absl/strings/match.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/choice_attr.h"
#include "x2ir/ops/eval.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/infer.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/recurrent.h"
#include "x2ir/ops/window.h"
#include "x2ir/ops/work.h"

namespace x2ir {
namespace {

// --- Activations ----------------------------------------------------------------------------

// A function of x, alpha and beta in the element type of the state.
template <typename T>
using ActivationFn = T (*)(T x, T alpha, T beta);
struct ActivationFns {
  template <typename F>
  constexpr ActivationFns(F generic) : of_float(generic), of_double(generic) {}  // NOLINT
  ActivationFn<float> of_float;
  ActivationFn<double> of_double;
};
struct ActivationDef {
  std::string_view name;  // names are compared without case, as runtimes do
  ActivationFns fns;
  int parameters;  // 0: none, 1: alpha, 2: alpha and beta
  double alpha, beta;
};

constexpr ActivationDef kActivations[] = {
    {"Relu", [](auto x, auto, auto) { return x < 0 ? decltype(x){0} : x; }, 0, 0, 0},
    {"Tanh", [](auto x, auto, auto) { return portable::tanh(x); }, 0, 0, 0},
    {"Sigmoid", [](auto x, auto, auto) { return 1 / (1 + portable::exp(-x)); }, 0, 0, 0},
    {"Affine", [](auto x, auto a, auto b) { return a * x + b; }, 2, 1, 0},
    {"LeakyRelu", [](auto x, auto a, auto) { return x < 0 ? a * x : x; }, 1, 0.01, 0},
    {"ThresholdedRelu", [](auto x, auto a, auto) { return x >= a ? x : decltype(x){0}; }, 1, 1, 0},
    {"ScaledTanh", [](auto x, auto a, auto b) { return a * portable::tanh(b * x); }, 2, 1, 1},
    {"HardSigmoid",
     [](auto x, auto a, auto b) {
       return std::min(std::max(a * x + b, decltype(x){0}), decltype(x){1});
     },
     2, 0.2, 0.5},
    {"Elu", [](auto x, auto a, auto) { return x < 0 ? a * portable::expm1(x) : x; }, 1, 1, 0},
    {"Softsign", [](auto x, auto, auto) { return x / (1 + std::abs(x)); }, 0, 0, 0},
    {"Softplus",
     [](auto x, auto, auto) {
       return std::max(x, decltype(x){0}) + portable::log1p(portable::exp(-std::abs(x)));
     },
     0, 0, 0},
};

struct Activation {
  ActivationFns fns;
  double alpha, beta;
  template <typename T>
  T Of(T x) const {
    if constexpr (std::is_same_v<T, float>) {
      return fns.of_float(x, static_cast<float>(alpha), static_cast<float>(beta));
    } else {
      return fns.of_double(x, alpha, beta);
    }
  }
};

const ActivationDef* FindActivation(std::string_view name) {
  const auto* def =
      std::find_if(std::begin(kActivations), std::end(kActivations), [&](const ActivationDef& d) {
        return absl::EqualsIgnoreCase(ForAbsl(d.name), ForAbsl(name));
      });
  return def == std::end(kActivations) ? nullptr : def;
}

// Of every direction, in order.
absl::StatusOr<std::vector<Activation>> ReadActivations(const AttributeMap& attrs, size_t count) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<RecurrentFunction> functions, RecurrentFunctions(attrs));
  if (functions.size() != count) {
    return Invalid("activations: expected ", count, " names, got ", functions.size());
  }
  std::vector<Activation> result;
  for (const RecurrentFunction& f : functions) {
    result.push_back({FindActivation(f.name)->fns, f.alpha, f.beta});
  }
  return result;
}

}  // namespace

absl::StatusOr<std::vector<RecurrentFunction>> RecurrentFunctions(const AttributeMap& attrs) {
  const Attribute* names = attrs.Find("activations");
  const auto* all = names ? names->get<Attribute::Strings>() : nullptr;
  const Attribute::Floats* numbers[2];
  size_t next[2] = {0, 0};
  for (const auto& [list, name] : {std::pair{0, "activation_alpha"}, {1, "activation_beta"}}) {
    const Attribute* attr = attrs.Find(name);
    numbers[list] = attr ? attr->get<Attribute::Floats>() : nullptr;
  }
  std::vector<RecurrentFunction> functions;
  for (const std::string& name : all ? *all : Attribute::Strings()) {
    const ActivationDef* def = FindActivation(name);
    if (!def) {
      std::string known;
      for (const ActivationDef& d : kActivations)
        StrAppend(&known, known.empty() ? "" : ", ", d.name);
      return Invalid("activations: unknown name '", name, "'; expected one of ", known);
    }
    double values[2] = {def->alpha, def->beta};
    for (int i = 0; i < def->parameters; ++i) {
      if (numbers[i] && next[i] < numbers[i]->size()) values[i] = (*numbers[i])[next[i]++];
    }
    functions.push_back({std::string(def->name), def->parameters, values[0], values[1]});
  }
  return functions;
}

void WriteOutFunctions(AttributeMap& attrs) {
  const auto functions = RecurrentFunctions(attrs);
  if (!functions.ok()) return;
  Attribute::Strings names;
  Attribute::Floats alphas, betas;
  for (const RecurrentFunction& f : *functions) {
    names.push_back(f.name);
    if (f.parameters > 0) alphas.push_back(static_cast<float>(f.alpha));
    if (f.parameters > 1) betas.push_back(static_cast<float>(f.beta));
  }
  attrs.Set("activations", std::move(names));
  for (const auto& [name, all] :
       {std::pair{"activation_alpha", &alphas}, {"activation_beta", &betas}}) {
    const Attribute* attr = attrs.Find(name);
    const auto* given = attr ? attr->get<Attribute::Floats>() : nullptr;
    if ((given ? given->size() : 0) < all->size()) attrs.Set(name, *all);
  }
}

namespace {

// --- Inference ------------------------------------------------------------------------------

enum class Kind { kRnn, kGru, kLstm };
constexpr int64_t Gates(Kind k) { return k == Kind::kLstm ? 4 : k == Kind::kGru ? 3 : 1; }
constexpr size_t ActivationsPerDirection(Kind k) {
  return k == Kind::kLstm ? 3 : k == Kind::kGru ? 2 : 1;
}

absl::StatusOr<int64_t> Directions(const AttributeMap& attrs) {
  X2IR_ASSIGN_OR_RETURN(
      const size_t direction,
      ChoiceAttr<size_t>(attrs, "direction", {"forward", "reverse", "bidirectional"}));
  return direction == 2 ? 2 : 1;
}

absl::Status InferRecurrent(InferContext& ctx, Kind kind) {
  X2IR_ASSIGN_OR_RETURN(const int64_t directions, Directions(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(
      ReadActivations(ctx.attrs(), directions * ActivationsPerDirection(kind)).status());
  const bool batch_first = ctx.attrs().Int("batch_first") != 0;
  if (ctx.attrs().Int("batch_first") > 1 || ctx.attrs().Int("batch_first") < 0) {
    return Invalid("batch_first: expected 0 or 1, got ", ctx.attrs().Int("batch_first"));
  }
  Dim hidden = ctx.attrs().Has("hidden_size") ? Dim(ctx.attrs().Int("hidden_size")) : Dim();
  if (hidden.is_static() && hidden.value() < 0) return Invalid("hidden_size: ", hidden.value());
  Dim batch, length, features;
  // Operand i against its dims: ranks must agree, and no dim may differ for certain. Unknown
  // expected dims are learnt from it.
  auto check = [&](size_t i, const std::vector<Dim*>& expected) -> absl::Status {
    const Shape* s = ctx.shape(i);
    if (s == nullptr) return absl::OkStatus();
    const std::string& name = FindOp(ctx.node().op())->InputDef(i)->name;
    if (s->rank() != static_cast<int64_t>(expected.size())) {
      return Invalid(name, ": expected rank ", expected.size(), ", got ", s->rank());
    }
    for (int64_t k = 0; k < s->rank(); ++k) {
      if (ProvablyDifferent((*s)[k], *expected[k])) {
        return Invalid(name, ": expected ", expected[k]->ToString(), " along axis ", k, ", got ",
                       (*s)[k].ToString());
      }
      if (expected[k]->is_unknown()) *expected[k] = (*s)[k];
    }
    return absl::OkStatus();
  };
  Dim d(directions), gates;
  if (batch_first) {
    X2IR_RETURN_IF_ERROR(check(0, {&batch, &length, &features}));
  } else {
    X2IR_RETURN_IF_ERROR(check(0, {&length, &batch, &features}));
  }
  Dim any;
  X2IR_RETURN_IF_ERROR(check(2, {&d, &any, &hidden}));  // r teaches hidden
  gates = hidden * Dim(Gates(kind));
  X2IR_RETURN_IF_ERROR(check(2, {&d, &gates, &hidden}));
  X2IR_RETURN_IF_ERROR(check(1, {&d, &gates, &features}));
  Dim biases = hidden * Dim(2 * Gates(kind));
  X2IR_RETURN_IF_ERROR(check(3, {&d, &biases}));
  X2IR_RETURN_IF_ERROR(check(4, {&batch}));
  const size_t states = kind == Kind::kLstm ? 2 : 1;
  for (size_t i = 5; i < 5 + states; ++i) {
    if (batch_first) {
      X2IR_RETURN_IF_ERROR(check(i, {&batch, &d, &hidden}));
    } else {
      X2IR_RETURN_IF_ERROR(check(i, {&d, &batch, &hidden}));
    }
  }
  if (kind == Kind::kLstm) {
    Dim peepholes = hidden * Dim(3);
    X2IR_RETURN_IF_ERROR(check(7, {&d, &peepholes}));
  }
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, 0, 4));
  ctx.Set(0, dtype,
          batch_first ? Shape({batch, length, d, hidden}) : Shape({length, d, batch, hidden}));
  const Shape state = batch_first ? Shape({batch, d, hidden}) : Shape({d, batch, hidden});
  for (size_t i = 1; i < ctx.num_outputs(); ++i) ctx.Set(i, dtype, state);
  return absl::OkStatus();
}

absl::Status InferRnn(InferContext& ctx) { return InferRecurrent(ctx, Kind::kRnn); }
absl::Status InferGru(InferContext& ctx) { return InferRecurrent(ctx, Kind::kGru); }
absl::Status InferLstm(InferContext& ctx) { return InferRecurrent(ctx, Kind::kLstm); }

// --- Evaluation -----------------------------------------------------------------------------

template <typename T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using MatrixMap = Eigen::Map<const RowMajor<T>>;

// One direction: its weights and what happens in one step for the rows (batch entries).
template <typename T>
struct Cell {
  Kind kind;
  int64_t hidden;
  MatrixMap<T> r;                    // [gates*hidden, hidden]
  std::vector<T> wb, rb, peepholes;  // zeros where left out
  const Activation* f;               // this direction's activations
  double clip = 0;                   // 0: none
  bool linear_before_reset = false, input_forget = false;

  double Act(int i, double v) const {
    if (clip > 0) v = std::min(std::max(v, -clip), clip);
    return f[i].Of(static_cast<T>(v));
  }

  // xw: the input's part of the gates of one entry. h, c: its state, updated in place;
  // hr: h times r transposed; for a gru without linear_before_reset only z and r are used.
  void Lstm(const T* xw, const T* hr, T* h, T* c) const {
    for (int64_t j = 0; j < hidden; ++j) {
      auto gate = [&](int64_t g) {
        const int64_t at = g * hidden + j;
        return static_cast<double>(xw[at]) + hr[at] + wb[at] + rb[at];
      };
      auto peep = [&](int64_t g, double state) { return peepholes[g * hidden + j] * state; };
      const double before = c[j];
      const double i = Act(0, gate(0) + peep(0, before));
      const double fo = input_forget ? 1 - i : Act(0, gate(2) + peep(2, before));
      const double now = fo * before + i * Act(1, gate(3));
      const double o = Act(0, gate(1) + peep(1, now));
      c[j] = static_cast<T>(now);
      h[j] =
          static_cast<T>(o * f[2].Of(static_cast<T>(now)));  // ONNX Runtime does not clip the cell
    }
  }

  void Gru(const T* xw, const T* hr, T* h) const {
    RowMajor<T> z(1, hidden), reset(1, hidden);
    for (int64_t j = 0; j < hidden; ++j) {
      const int64_t k = hidden + j;
      z(j) = static_cast<T>(Act(0, static_cast<double>(xw[j]) + hr[j] + wb[j] + rb[j]));
      reset(j) = static_cast<T>(Act(0, static_cast<double>(xw[k]) + hr[k] + wb[k] + rb[k]));
    }
    RowMajor<T> inner(1, hidden);  // what the candidate takes from the state
    if (linear_before_reset) {
      for (int64_t j = 0; j < hidden; ++j) {
        inner(j) = reset(j) * (hr[2 * hidden + j] + rb[2 * hidden + j]);
      }
    } else {
      for (int64_t j = 0; j < hidden; ++j) reset(j) *= h[j];
      inner.noalias() = reset * r.bottomRows(hidden).transpose();
      for (int64_t j = 0; j < hidden; ++j) inner(j) += rb[2 * hidden + j];
    }
    for (int64_t j = 0; j < hidden; ++j) {
      const int64_t k = 2 * hidden + j;
      const double candidate = Act(1, static_cast<double>(xw[k]) + wb[k] + inner(j));
      h[j] = static_cast<T>((1 - z(j)) * candidate + z(j) * h[j]);
    }
  }

  void Rnn(const T* xw, const T* hr, T* h) const {
    for (int64_t j = 0; j < hidden; ++j) {
      h[j] = static_cast<T>(Act(0, static_cast<double>(xw[j]) + hr[j] + wb[j] + rb[j]));
    }
  }
};

absl::Status EvalRecurrent(EvalContext& ctx, Kind kind) {
  const AttributeMap& attrs = ctx.attrs();
  X2IR_ASSIGN_OR_RETURN(const int64_t directions, Directions(attrs));
  const size_t acts = ActivationsPerDirection(kind);
  X2IR_ASSIGN_OR_RETURN(const std::vector<Activation> activations,
                        ReadActivations(attrs, directions * acts));
  const bool batch_first = attrs.Int("batch_first") != 0;
  const std::vector<int64_t> swap = {1, 0, 2};
  const Tensor x =
      batch_first && ctx.input(0).rank() == 3 ? TransposeTensor(ctx.input(0), swap) : ctx.input(0);
  const Tensor& w = ctx.input(1);
  const Tensor& r = ctx.input(2);
  if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3) {
    return Invalid("x, w and r: expected rank 3");
  }
  const int64_t length = x.dim(0), batch = x.dim(1), features = x.dim(2), hidden = r.dim(2);
  const int64_t gates = Gates(kind);
  // Sizes first, so that no product below can overflow.
  if (hidden >= (int64_t{1} << 31)) return Invalid("hidden_size is too large");
  auto expect = [&](size_t i, const std::vector<int64_t>& dims) -> absl::Status {
    if (!ctx.has(i)) return absl::OkStatus();
    const Tensor& t = ctx.input(i);
    if (t.dims() != dims)
      return Invalid("operand ", i, ": unexpected shape [", t.shape().ToString(), "]");
    if (i != 4 && t.dtype() != x.dtype()) return Invalid("operand ", i, ": unexpected type");
    return absl::OkStatus();
  };
  X2IR_RETURN_IF_ERROR(expect(1, {directions, gates * hidden, features}));
  X2IR_RETURN_IF_ERROR(expect(2, {directions, gates * hidden, hidden}));
  X2IR_RETURN_IF_ERROR(expect(3, {directions, 2 * gates * hidden}));
  X2IR_RETURN_IF_ERROR(expect(4, {batch}));
  const std::vector<int64_t> state_dims = {directions, batch, hidden};
  const std::vector<int64_t> given_dims =
      batch_first ? std::vector<int64_t>{batch, directions, hidden} : state_dims;
  X2IR_RETURN_IF_ERROR(expect(5, given_dims));
  if (kind == Kind::kLstm) {
    X2IR_RETURN_IF_ERROR(expect(6, given_dims));
    X2IR_RETURN_IF_ERROR(expect(7, {directions, 3 * hidden}));
  }
  if (attrs.Has("hidden_size") && attrs.Int("hidden_size") != hidden) {
    return Invalid("hidden_size: expected ", hidden, ", got ", attrs.Int("hidden_size"));
  }
  std::vector<int64_t> lengths(batch, length);
  if (ctx.has(4)) {
    X2IR_ASSIGN_OR_RETURN(lengths, ctx.input(4).ToInts());
    for (int64_t n : lengths) {
      if (n < 0 || n > length) {
        return Invalid("sequence_lens: expected numbers from 0 to ", length, ", got ", n);
      }
    }
  }
  const std::vector<int64_t> y_dims = {length, directions, batch, hidden};
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, y_dims));
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, state_dims));
  X2IR_RETURN_IF_ERROR(
      CheckAllocation(DType::kFloat64, std::vector<int64_t>{length, batch, gates * hidden}));
  return DispatchFloat(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Numbers<T> xs(x), ws(w), rs(r);
    auto numbers = [&](size_t i, int64_t n) {  // operand i, or zeros
      if (!ctx.has(i)) return std::vector<T>(n);
      const Numbers<T> v(ctx.input(i));
      return std::vector<T>(v.span().begin(), v.span().end());
    };
    auto state = [&](size_t i) {
      if (!batch_first || !ctx.has(i)) return numbers(i, directions * batch * hidden);
      const Tensor t = TransposeTensor(ctx.input(i), swap);
      const Numbers<T> v(t);
      return std::vector<T>(v.span().begin(), v.span().end());
    };
    const std::vector<T> b = numbers(3, directions * 2 * gates * hidden);
    const std::vector<T> p =
        kind == Kind::kLstm ? numbers(7, directions * 3 * hidden) : std::vector<T>();
    std::vector<T> h = state(5);
    std::vector<T> c = kind == Kind::kLstm ? state(6) : std::vector<T>(h.size());
    std::vector<T> y(Product(y_dims));
    const int64_t width = gates * hidden;
    for (int64_t d = 0; d < directions && batch * hidden > 0; ++d) {
      Cell<T> cell{kind,
                   hidden,
                   MatrixMap<T>(rs.data() + d * width * hidden, width, hidden),
                   std::vector<T>(b.begin() + d * 2 * width, b.begin() + (d * 2 + 1) * width),
                   std::vector<T>(b.begin() + (d * 2 + 1) * width, b.begin() + (d + 1) * 2 * width),
                   {},
                   activations.data() + d * acts};
      if (kind == Kind::kLstm) {
        cell.peepholes.assign(p.begin() + d * 3 * hidden, p.begin() + (d + 1) * 3 * hidden);
        cell.input_forget = attrs.Int("input_forget") != 0;
      }
      if (kind == Kind::kGru) cell.linear_before_reset = attrs.Int("linear_before_reset") != 0;
      cell.clip = attrs.Float("clip", 0);
      // The input's part of all gates at once, then step by step.
      const RowMajor<T> xw =
          MatrixMap<T>(xs.data(), length * batch, features) *
          MatrixMap<T>(ws.data() + d * width * features, width, features).transpose();
      const bool reverse = d == 1 || attrs.String("direction") == "reverse";
      RowMajor<T> hr(batch, width);
      for (int64_t step = 0; step < length; ++step) {
        T* hd = h.data() + d * batch * hidden;
        T* cd = c.data() + d * batch * hidden;
        hr.noalias() = MatrixMap<T>(hd, batch, hidden) * cell.r.transpose();
        for (int64_t n = 0; n < batch; ++n) {
          if (step >= lengths[n]) continue;
          const int64_t t = reverse ? lengths[n] - 1 - step : step;
          const T* in = xw.data() + (t * batch + n) * width;
          T* hn = hd + n * hidden;
          switch (kind) {
            case Kind::kLstm: cell.Lstm(in, hr.data() + n * width, hn, cd + n * hidden); break;
            case Kind::kGru: cell.Gru(in, hr.data() + n * width, hn); break;
            case Kind::kRnn: cell.Rnn(in, hr.data() + n * width, hn); break;
          }
          std::copy(hn, hn + hidden, y.begin() + ((t * directions + d) * batch + n) * hidden);
        }
      }
    }
    auto set = [&](size_t i, const std::vector<int64_t>& dims, const std::vector<T>& values,
                   const std::vector<int64_t>& perm) {
      if (!ctx.wants(i)) return;
      Tensor t = FromNumbers<T>(x.dtype(), dims, values);
      ctx.Set(i, batch_first ? TransposeTensor(t, perm) : t);
    };
    set(0, y_dims, y, {2, 0, 1, 3});
    set(1, state_dims, h, swap);
    if (kind == Kind::kLstm) set(2, state_dims, c, swap);
    return absl::OkStatus();
  });
}

absl::Status EvalRnn(EvalContext& ctx) { return EvalRecurrent(ctx, Kind::kRnn); }
absl::Status EvalGru(EvalContext& ctx) { return EvalRecurrent(ctx, Kind::kGru); }
absl::Status EvalLstm(EvalContext& ctx) { return EvalRecurrent(ctx, Kind::kLstm); }

// --- Definitions ----------------------------------------------------------------------------

void Recurrent(OpDef& op) {
  op.Signature("x, w, r, b?, sequence_lens?, initial_h? -> y?, y_h?")
      .Attrs(
          "activations: strings, activation_alpha: floats?, activation_beta: floats?, "
          "batch_first = 0, clip: float?, direction = 'forward', hidden_size: int?")
      .Opaque()
      .Heavy()
      .AllowsFloat16()
      .MultiplyAdds(WorkOfRecurrent);
}

X2IR_OP(rnn)
    .With(Recurrent)
    .Functions(InferRnn, EvalRnn)
    .Doc(
        "h = f(x w' + h r' + b) over a sequence. x is [length, batch, features], with "
        "batch_first [batch, length, features]; activations are listed for each direction. clip "
        "bounds the sums that f takes.");
X2IR_OP(gru)
    .With(Recurrent)
    .Attrs("linear_before_reset = 0")
    .Functions(InferGru, EvalGru)
    .Doc(
        "Gated recurrent unit over a sequence; gates in the order update, reset, hidden. "
        "Operands and results as rnn's.");
X2IR_OP(lstm)
    .With(Recurrent)
    .Signature("initial_c?, p? -> y_c?")
    .Attrs("input_forget = 0")
    .Functions(InferLstm, EvalLstm)
    .Doc(
        "Long short-term memory over a sequence; gates in the order input, output, forget, "
        "cell, peepholes p in the order input, output, forget. Otherwise as rnn.");

}  // namespace
}  // namespace x2ir
