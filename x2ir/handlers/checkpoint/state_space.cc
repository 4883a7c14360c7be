// Recurrent layers: short convolutions, and the state spaces of Mamba. The state goes from position
// to position in a loop.
#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/loop.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/checkpoint/transformer.h"

namespace x2ir::checkpoint {
namespace {

class Recurring {
 public:
  Recurring(Context& context, const StateSpace& s, const std::string& prefix, int64_t width)
      : context_(context), net_(context.net()), s_(s), prefix_(prefix + s.prefix), width_(width) {}

  Expr Run(const Expr& x) {
    if (!context_.past_states.empty()) {
      past_ = context_.past_states.at(context_.present_states.size());
    }
    Expr y = nullptr;
    switch (s_.kind) {
      case StateSpace::kShortConv: y = ShortConv(Masked(x)); break;
      case StateSpace::kMamba: y = Mamba(x); break;
      case StateSpace::kMamba2: y = Mamba2(Masked(x)); break;
      case StateSpace::kLightning: y = Lightning(x); break;
    }
    context_.present_states.push_back(present_);
    return net_.Linear(y, prefix_ + "out_proj", s_.inner, width_, s_.bias);
  }

 private:
  Expr ShortConv(const Expr& x) {
    const int64_t n = s_.inner;
    const Expr all = net_.Linear(x, prefix_ + "in_proj", width_, 3 * n, s_.bias);
    return Part(all, 1, n, n) * Convolved(Part(all, 1, 0, n) * Part(all, 1, 2 * n, n));
  }

  Expr Mamba(const Expr& x) {
    const int64_t n = s_.inner, states = s_.states, rank = s_.step_rank;
    const Expr both = net_.Linear(x, prefix_ + "in_proj", width_, 2 * n, s_.bias);
    const Expr u = Masked(net_.Activate(Convolved(Masked(Part(both, 1, 0, n))), s_.activation));
    const Expr parts = net_.Linear(u, prefix_ + "x_proj", n, rank + 2 * states, false);
    const auto part = [&](int64_t from, int64_t count, const std::string& norm) {
      return net_.Norm(Part(parts, 1, from, count), s_.parts_norm, prefix_ + norm, count);
    };
    const Expr step =
        Softplus(net_.Linear(part(0, rank, s_.step_norm), prefix_ + "dt_proj", rank, n, true));
    const Expr decay = -Exp(net_.Weight(prefix_ + "A_log", {n, states}));
    const std::vector<Expr> rows = {
        context_.ByTokens(step, n), context_.ByTokens(step * u, n),
        context_.ByTokens(part(rank, states, s_.b_norm), states),
        context_.ByTokens(part(rank + states, states, s_.c_norm), states)};
    const Expr y = OverTime(rows, [&](const std::vector<Expr>& at, const Expr& state) {
      const Expr next = Exp(decay * Unsqueeze(at[0], {2})) * state +
                        Unsqueeze(at[1], {2}) * Unsqueeze(at[2], {1});
      return std::pair(next, Squeeze(MatMul(next, Unsqueeze(at[3], {2})), {2}));
    });
    const Expr sum = y + u * net_.Weight(prefix_ + "D", {n});
    return sum * net_.Activate(Part(both, 1, n, n), s_.activation);
  }

  Expr Mamba2(const Expr& x) {
    const int64_t n = s_.inner, shared = s_.groups * s_.states, heads = s_.heads, size = n / heads,
                  channels = s_.channels();
    const Expr all = net_.Linear(x, prefix_ + "in_proj", width_, n + channels + heads, s_.bias);
    const Expr mixed = Masked(net_.Activate(Convolved(Part(all, 1, n, channels)), s_.activation));
    const Expr u = Part(mixed, 1, 0, n);
    Expr step =
        Softplus(Part(all, 1, n + channels, heads) + net_.Weight(prefix_ + "dt_bias", {heads}));
    if (s_.least_step != 0) step = Max(step, s_.least_step);
    if (s_.most_step != 0) step = Min(step, s_.most_step);
    const Expr decay = -Exp(net_.Weight(prefix_ + "A_log", {heads}));
    const auto by_group = [&](int64_t from) {
      return ReshapeTo(Part(mixed, 1, from, shared),
                       {context_.batch(), context_.length(), x2ir::Size(s_.groups), x2ir::Size(1),
                        x2ir::Size(s_.states)});
    };
    const auto by_head = [&](const Expr& a, int64_t last) {
      std::vector<x2ir::Size> sizes = {context_.batch(), context_.length(), x2ir::Size(heads)};
      if (last > 0) sizes.push_back(last);
      return ReshapeTo(a, sizes);
    };
    const Expr u_by_head = by_head(u, size), step_by_head = by_head(step, 0);
    const std::vector<Expr> rows = {Exp(step_by_head * decay),
                                    u_by_head * Unsqueeze(step_by_head, {3}), by_group(n),
                                    by_group(n + shared)};
    // Heads of a group have the same B and C.
    const auto of_heads = [&](const Expr& a) {
      const Expr grown =
          Expand(a, Vector(net_.b(), {context_.batch(), x2ir::Size(s_.groups),
                                      x2ir::Size(heads / s_.groups), x2ir::Size(s_.states)}));
      return ReshapeTo(grown, {context_.batch(), x2ir::Size(heads), x2ir::Size(s_.states)});
    };
    const Expr y = OverTime(rows, [&](const std::vector<Expr>& at, const Expr& state) {
      const Expr next = Unsqueeze(at[0], {2, 3}) * state +
                        Unsqueeze(at[1], {3}) * Unsqueeze(of_heads(at[2]), {2});
      return std::pair(next, Squeeze(MatMul(next, Unsqueeze(of_heads(at[3]), {3})), {3}));
    });
    const Expr skip = by_head(u, size) * Unsqueeze(net_.Weight(prefix_ + "D", {heads}), {1});
    const Expr sum = Reshape(Reshape(y, std::vector<int64_t>{-1, heads, size}) +
                                 Reshape(skip, std::vector<int64_t>{-1, heads, size}),
                             std::vector<int64_t>{-1, n});
    const Expr gated = sum * net_.Activate(Part(all, 1, 0, n), "silu");
    return net_.Norm(gated, {.kind = NormSpec::kRms, .eps = s_.norm_eps}, prefix_ + "norm", n);
  }

  Expr Lightning(const Expr& x) {
    const int64_t n = s_.inner, heads = s_.heads, size = n / heads;
    const Expr all =
        net_.Activate(net_.Linear(x, prefix_ + "qkv_proj", width_, 3 * n, false), s_.activation);
    const Expr by_head = Reshape(all, std::vector<int64_t>{-1, heads, 3 * size});
    const auto part = [&](int64_t i) {
      const Expr rows = Reshape(Part(by_head, 2, i * size, size), std::vector<int64_t>{-1, n});
      return ReshapeTo(i == 2 ? Masked(rows) : rows,
                       {context_.batch(), context_.length(), x2ir::Size(heads), x2ir::Size(size)});
    };
    const Expr decay = NumbersAs(net_.b(), DType::kFloat32, {heads, 1, 1}, s_.decays, "decays");
    const auto step = [&](const std::vector<Expr>& at, const Expr& state) {
      const Expr next = decay * state + Unsqueeze(at[1], {3}) * Unsqueeze(at[2], {2});
      return std::pair(next, Squeeze(MatMul(Unsqueeze(at[0], {2}), next), {2}));
    };
    const Expr y = OverTime({part(0), part(1), part(2)}, step);
    const Expr normed =
        net_.Norm(y, {.kind = NormSpec::kRms, .eps = s_.norm_eps}, prefix_ + "norm", n);
    return net_.Linear(x, prefix_ + "output_gate", width_, n, false).Op("sigmoid") * normed;
  }

  static Expr Softplus(const Expr& x) { return x.Op("softplus"); }

  // [tokens, width], zero where the token does not count.
  Expr Masked(const Expr& x) {
    if (!context_.padding.value()) return x;
    return x * context_.TokenMask();
  }

  // [tokens, channels], each with those before it.
  Expr Convolved(const Expr& x) {
    const int64_t channels = s_.channels();
    Expr signal = Transpose(context_.ByTokens(x, channels), {0, 2, 1});
    std::vector<int64_t> pads = {s_.kernel - 1, 0};
    if (past_.conv.value()) {
      const Expr all = Concat(net_.b(), {past_.conv, signal}, 2);
      present_.conv = Slice(all, 2, x2ir::Size(-s_.kernel), x2ir::Size(kToEnd));
      signal = Slice(all, 2, x2ir::Size(1), x2ir::Size(kToEnd));
      pads = {0, 0};
    }
    const Expr y = net_.Conv(signal, prefix_ + s_.conv,
                             {.in = channels,
                              .out = channels,
                              .kernel = {s_.kernel},
                              .padding = pads,
                              .groups = channels,
                              .bias = s_.conv_bias});
    return Reshape(Transpose(y, {0, 2, 1}), std::vector<int64_t>{-1, channels});
  }

  // A function of the rows of each position and of the state gives the next state and a row of the
  // result: [tokens, inner].
  template <typename F>
  Expr OverTime(const std::vector<Expr>& rows, F&& f) {
    Builder& b = net_.b();
    Expr state = past_.state;
    if (!state.value()) {
      std::vector<x2ir::Size> sizes = {context_.batch()};
      for (const int64_t d : s_.state_dims()) sizes.push_back(d);
      state = Filled(b, DType::kFloat32, sizes, 0);
    }
    const std::vector<Expr> results =
        Rounds(Scalar(b, context_.length()), {state},
               [&](const Expr& i, const std::vector<Expr>& carried) -> std::vector<Expr> {
                 std::vector<Expr> at;
                 for (const Expr& row : rows) at.push_back(Gather(row, i, 1));
                 auto [next, y] = f(at, carried[0]);
                 return {next, y};
               });
    if (past_.state.value()) present_.state = results[0];
    const Expr y = results[1];  // [length, batch, ...]
    const Expr by_batch = MoveAxis(y, 0, 1);
    return Reshape(by_batch, std::vector<int64_t>{-1, s_.inner});
  }

  Context& context_;
  Net& net_;
  const StateSpace& s_;
  std::string prefix_;
  int64_t width_;
  Context::State past_, present_;
};

}  // namespace

Expr Recur(Context& context, const StateSpace& space, const std::string& prefix, const Expr& x,
           int64_t width) {
  return Recurring(context, space, prefix, width).Run(x);
}

}  // namespace x2ir::checkpoint
