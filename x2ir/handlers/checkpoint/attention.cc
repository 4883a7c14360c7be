// Attention of all kinds, and what the layers of a stack share for it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/handlers/checkpoint/transformer.h"

namespace x2ir::checkpoint {
namespace {

// Of the heads of ALiBi: powers of two where their number is one, else those of the next smaller
// power and every other one of the next larger.
std::vector<double> AlibiSlopes(int64_t heads, double most) {
  int64_t power = 1;
  while (power * 2 <= heads) power *= 2;
  std::vector<double> slopes;
  const auto add = [&](int64_t of, int64_t count, int64_t step) {
    const double base = portable::pow(2.0, -most / static_cast<double>(of));
    for (int64_t i = 0; i < count; ++i) {
      slopes.push_back(portable::pow(base, static_cast<double>(1 + i * step)));
    }
  };
  add(power, power, 1);
  add(2 * power, heads - power, 2);
  return slopes;
}

// The rows of distances from -n to n, beyond which they stay the same.
std::vector<int64_t> RowsOfDistances(const DistanceBias& bias) {
  const int64_t count = bias.both_ways ? bias.count / 2 : bias.count, near = count / 2;
  if (near < 1 || bias.max_distance <= near || bias.max_distance > (1 << 20)) {
    Broken("config.json: a bias by distance has ", bias.count, " numbers for ", bias.max_distance,
           " distances");
  }
  // In float32, as PyTorch computes it.
  const auto span = static_cast<float>(
      portable::log(static_cast<double>(bias.max_distance) / static_cast<double>(near)));
  const auto row_of = [&](int64_t distance) {
    if (distance < near) return distance;
    const float log = portable::log(static_cast<float>(distance) / static_cast<float>(near));
    return std::min(near + static_cast<int64_t>(log / span * static_cast<float>(count - near)),
                    count - 1);
  };
  std::vector<int64_t> rows;
  for (int64_t d = -bias.max_distance; d <= bias.max_distance; ++d) {
    if (bias.both_ways) {
      rows.push_back(row_of(std::abs(d)) + (d > 0 ? count : 0));
    } else {
      rows.push_back(row_of(std::max<int64_t>(-d, 0)));
    }
  }
  return rows;
}

// What is added to scores: nothing where the key counts.
Expr AddendOf(const Expr& allowed) {
  Builder& b = allowed.builder();
  const Expr zero(b, b.Scalar(DType::kFloat32, 0)), lowest(b, b.Scalar(DType::kFloat32, kLowest));
  return Where(allowed, zero, lowest);
}

class Attending {
 public:
  Attending(Context& context, const Attention& a, const std::string& prefix, int64_t width,
            bool cross)
      : context_(context),
        net_(context.net()),
        a_(a),
        prefix_(prefix),
        width_(width),
        cross_(cross),
        value_size_(a.value_size ? a.value_size : a.size) {}

  Expr Run(const Expr& x) {
    if (a_.heads < 1 || a_.kv_heads < 1 || a_.heads % a_.kv_heads != 0) {
      Broken("config.json: ", a_.heads, " heads cannot share ", a_.kv_heads, " keys");
    }
    if (a_.latent) {
      Latently(x);
    } else {
      Project(x);
      Position();
    }
    if (cross_) {
      KeepCross();
    } else if (context_.past && !a_.no_cache) {
      Append();
    }
    if (a_.distance_bias && !a_.distance_bias->gate.empty()) Gate(x);
    return Out(Scored());
  }

 private:
  Expr Linear(const Expr& x, const std::string& name, int64_t in, int64_t out, bool bias) {
    return net_.Linear(x, prefix_ + name, in, out, bias, a_.transposed);
  }
  Expr Clipped(const Expr& x) {
    return a_.clip == 0 ? x : Clip(x, x.Number(-a_.clip), x.Number(a_.clip));
  }

  void Project(const Expr& x) {
    const int64_t queries = a_.heads * a_.size, keys = a_.kv_heads * a_.size,
                  values = a_.kv_heads * value_size_;
    const Expr& from = cross_ ? context_.encoded : x;
    if (a_.fused == Attention::kApart) {
      q_ = Linear(x, a_.q, width_, queries, a_.q_bias);
      k_ = Linear(from, a_.k, width_, keys, a_.k_bias);
      v_ = Linear(from, a_.v, width_, values, a_.v_bias);
    } else {
      const Expr all = Linear(x, a_.qkv, width_, queries + keys + values, a_.q_bias);
      if (a_.fused == Attention::kByHead) return ByHead(Clipped(all));
      q_ = Part(all, 1, 0, queries);
      k_ = Part(all, 1, queries, keys);
      v_ = Part(all, 1, queries + keys, values);
    }
    if (a_.norm_all) {
      q_ = net_.Norm(q_, a_.qk_norm, prefix_ + a_.q_norm, queries);
      k_ = net_.Norm(k_, a_.qk_norm, prefix_ + a_.k_norm, keys);
    }
    q_ = context_.Heads(Clipped(q_), a_.heads, a_.size);
    k_ = context_.Heads(Clipped(k_), a_.kv_heads, a_.size, cross_);
    v_ = context_.Heads(Clipped(v_), a_.kv_heads, value_size_, cross_);
  }

  // [tokens, groups * (queries, keys and values of one) * size].
  void ByHead(const Expr& all) {
    const int64_t groups = a_.fused_groups ? a_.fused_groups : a_.kv_heads;
    if (a_.kv_heads % groups != 0) {
      Broken("config.json: ", a_.kv_heads, " heads of keys are not in ", groups, " equal groups");
    }
    const int64_t queries = a_.heads / groups, keys = a_.kv_heads / groups;
    const Expr parts = ReshapeTo(all, {context_.batch(), context_.length(), x2ir::Size(groups),
                                       x2ir::Size(queries + 2 * keys), x2ir::Size(a_.size)});
    const auto heads = [&](int64_t from, int64_t count) {
      const Expr part = ReshapeTo(
          Part(parts, 3, from, count),
          {context_.batch(), context_.length(), x2ir::Size(groups * count), x2ir::Size(a_.size)});
      return Transpose(part, {0, 2, 1, 3});
    };
    q_ = heads(0, queries);
    k_ = heads(queries + (a_.values_first ? keys : 0), keys);
    v_ = heads(queries + (a_.values_first ? 0 : keys), keys);
    const auto shift = [&](const Expr& x, const std::string& name, int64_t count) {
      if (name.empty()) return x;
      const Expr by = net_.Weight(prefix_ + name, {count * a_.size});
      return x + Reshape(by, std::vector<int64_t>{1, count, 1, a_.size});
    };
    q_ = shift(q_, a_.q_shift, a_.heads);
    v_ = shift(v_, a_.v_shift, a_.kv_heads);
  }

  Expr HeadNorm(const Expr& x, const std::string& name, int64_t heads) {
    if (a_.qk_norm.kind == NormSpec::kNone || a_.norm_all) return x;
    if (!a_.norm_by_head && !a_.norm_each) {
      return net_.Norm(x, a_.qk_norm, prefix_ + name, a_.size);
    }
    NormSpec plain = a_.qk_norm;
    plain.scale = plain.shift = false;
    if (a_.norm_each) {
      std::vector<Value*> weights;
      for (int64_t i = 0; i < heads; ++i) {
        const std::string weight = StrCat(prefix_, Numbered(name, i), ".weight");
        weights.push_back(Reshape(net_.Weight(weight, {a_.size}), {1, a_.size}));
      }
      return net_.Norm(x, plain, "", a_.size) * Unsqueeze(Concat(net_.b(), weights, 0), {1});
    }
    const Expr weight = net_.Weight(Joined(prefix_ + name, "weight"), {heads, a_.size});
    return net_.Norm(x, plain, "", a_.size) * Unsqueeze(weight, {1});
  }

  void Position() {
    const auto norm = [&] {
      q_ = HeadNorm(q_, a_.q_norm, a_.heads);
      k_ = HeadNorm(k_, a_.k_norm, a_.kv_heads);
    };
    if (!a_.norm_after_rope) norm();
    if (a_.rope && !cross_) {
      const Turn turn = context_.TurnBy(*a_.rope);
      q_ = Turned(q_, *a_.rope, turn);
      k_ = Turned(k_, *a_.rope, turn);
      if (a_.rope_of_values) v_ = Turned(v_, *a_.rope, turn);
    }
    if (a_.norm_after_rope) norm();
    if (a_.temperature_beta != 0) {
      const Expr at = context_.positions.To(DType::kFloat32);
      const Expr step =
          Floor(Shifted(at, a_.temperature_offset) / static_cast<double>(a_.temperature_length));
      const Expr scale = Log(step + 1.0) * a_.temperature_beta + 1.0;
      q_ = q_ * Unsqueeze(scale, {1, 3});
    }
  }

  void Latently(const Expr& x) {
    const Latent& l = *a_.latent;
    const int64_t size = l.plain + l.turned;
    NormSpec norm = a_.qk_norm;
    Expr q = x;
    if (l.q_rank) {
      q = Linear(x, "self_attn.q_a_proj", width_, l.q_rank, a_.q_bias);
      q = net_.Norm(q, norm, prefix_ + "self_attn.q_a_layernorm", l.q_rank);
      q = Linear(q, "self_attn.q_b_proj", l.q_rank, a_.heads * size, false);
    } else {
      q = Linear(x, "self_attn.q_proj", width_, a_.heads * size, false);
    }
    const Expr both =
        Linear(x, "self_attn.kv_a_proj_with_mqa", width_, l.kv_rank + l.turned, a_.q_bias);
    const Expr narrow = net_.Norm(Part(both, 1, 0, l.kv_rank), norm,
                                  prefix_ + "self_attn.kv_a_layernorm", l.kv_rank);
    const Expr wide =
        Linear(narrow, "self_attn.kv_b_proj", l.kv_rank, a_.heads * (l.plain + value_size_), false);
    const Expr kv = context_.Heads(wide, a_.heads, l.plain + value_size_);
    q_ = context_.Heads(q, a_.heads, size);
    Expr shared = context_.Heads(Part(both, 1, l.kv_rank, l.turned), 1, l.turned);
    Expr turned = Part(q_, 3, l.plain, l.turned);
    if (a_.rope) {
      const Turn turn = context_.TurnBy(*a_.rope);
      turned = Turned(turned, *a_.rope, turn);
      shared = Turned(shared, *a_.rope, turn);
    }
    q_ = Concat(net_.b(), {Part(q_, 3, 0, l.plain), turned}, 3);
    const Expr of_all = Expand(shared, Vector(net_.b(), {context_.batch(), x2ir::Size(a_.heads),
                                                         context_.length(), x2ir::Size(l.turned)}));
    k_ = Concat(net_.b(), {Part(kv, 3, 0, l.plain), of_all}, 3);
    v_ = Part(kv, 3, l.plain, value_size_);
  }

  void KeepCross() {
    if (context_.cross_pasts.empty()) return;
    const Context::Cache& past = context_.cross_pasts.at(context_.cross_presents.size());
    k_ = Concat(net_.b(), {past.key, k_}, 2);
    v_ = Concat(net_.b(), {past.value, v_}, 2);
    context_.cross_presents.push_back({k_, v_});
  }

  // Of eight numbers of each query and head, two sums of four are gates.
  void Gate(const Expr& x) {
    const DistanceBias& bias = *a_.distance_bias;
    const Expr heads = context_.Heads(x, a_.heads, a_.size);
    const Expr eight = net_.Linear(heads, prefix_ + bias.gate, a_.size, 8);
    const Expr fours =
        ReshapeTo(eight, {context_.batch(), x2ir::Size(a_.heads), context_.length(), 2, 4});
    const Expr gates = Sum(fours, 4).Op("sigmoid");
    const Expr factor = net_.Weight(prefix_ + bias.gate_factor, {1, a_.heads, 1, 1});
    gate_ = Part(gates, 3, 0, 1) * (Part(gates, 3, 1, 1) * factor - 1.0) + 2.0;
  }

  void Append() {
    const Context::Cache& past = context_.pasts.at(context_.presents.size());
    k_ = Concat(net_.b(), {past.key, k_}, 2);
    v_ = Concat(net_.b(), {past.value, v_}, 2);
    context_.presents.push_back({k_, v_});
  }

  Expr Scored() {
    Expr mask = cross_ ? context_.CrossMask() : context_.MaskOf(a_);
    if (a_.score_bias) {
      const Expr bias = a_.score_bias(context_, prefix_, q_, k_);
      mask = mask.value() ? bias + mask : bias;
    }
    if (gate_.value()) {
      const Expr bias = gate_ * context_.DistanceBiasOf(*a_.distance_bias, a_.heads);
      mask = mask.value() ? bias + mask : bias;
    }
    if (!a_.sinks.empty()) mask = WithSink(mask);
    AttributeMap attrs;
    if (a_.scale) attrs.Set("scale", static_cast<float>(*a_.scale));
    if (a_.softcap != 0) attrs.Set("softcap", static_cast<float>(a_.softcap));
    std::vector<Value*> operands = {k_, v_};
    if (mask.value()) operands.push_back(mask);
    return q_.Op("attention", operands, std::move(attrs));
  }

  // The sink is one more key, of zeros, whose score is all in the mask; its value is zero.
  Expr WithSink(Expr mask) {
    Builder& b = net_.b();
    const auto one_more = [&](const Expr& x, int64_t size) {
      return Concat(
          b,
          {x,
           Filled(b, DType::kFloat32,
                  {context_.batch(), x2ir::Size(a_.kv_heads), x2ir::Size(1), x2ir::Size(size)}, 0)},
          2);
    };
    k_ = one_more(k_, a_.size), v_ = one_more(v_, value_size_);
    const Expr sink = Reshape(net_.Weight(prefix_ + a_.sinks, {a_.heads}),
                              std::vector<int64_t>{1, a_.heads, 1, 1});
    const std::vector<x2ir::Size> sizes = {context_.batch(), x2ir::Size(a_.heads),
                                           context_.length()};
    const auto expanded = [&](const Expr& x, const x2ir::Size& keys) {
      std::vector<x2ir::Size> all = sizes;
      all.push_back(keys);
      return Expand(x, Vector(b, all));
    };
    return Concat(b, {expanded(mask, context_.keys()), expanded(sink, x2ir::Size(1))}, 3);
  }

  Expr Out(const Expr& y) {
    const int64_t width = a_.heads * value_size_;
    Expr rows = context_.Rows(y, width);
    if (!a_.out_norm_name.empty()) {
      rows = net_.Norm(rows, a_.out_norm, prefix_ + a_.out_norm_name, width);
    }
    return a_.out.empty() ? rows : Linear(rows, a_.out, width, width_, a_.out_bias);
  }

  Context& context_;
  Net& net_;
  const Attention& a_;
  const std::string& prefix_;
  int64_t width_;
  bool cross_;
  int64_t value_size_;
  Expr q_ = nullptr, k_ = nullptr, v_ = nullptr;
  Expr gate_ = nullptr;  // [batch, heads, length, 1]
};

}  // namespace

// --- Context -------------------------------------------------------------------------------------

x2ir::Size Context::keys() {
  if (!keys_) keys_ = past ? Plus(net_.b(), *past, length_) : length_;
  return *keys_;
}

void Context::SetKeys(const x2ir::Size& keys) {
  keys_ = keys;
  past = Minus(net_.b(), keys, length_);
}

Turn Context::TurnBy(const Rope& rope) {
  if (turn) return *turn;
  for (const auto& [known, turn] : turns_) {
    if (known == rope) return turn;
  }
  turns_.emplace_back(rope, TurnOf(net_, rope, positions));
  return turns_.back().second;
}

Expr Context::KeyPositions() {
  Builder& b = net_.b();
  return Unsqueeze(Expr(b, b.Op("range", {b.Int(0), Scalar(b, keys()), b.Int(1)})), {0});
}

// In the cache, whatever positions the caller gives.
Expr Context::QueryPositions() {
  Builder& b = net_.b();
  const Expr first = past ? Scalar(b, *past) : Int(b, 0);
  return Unsqueeze(Expr(b, b.Op("range", {first, Scalar(b, keys()), b.Int(1)})), {1});
}

Expr Context::Alibi(const Attention& a) {
  Builder& b = net_.b();
  const auto rounded = [&](const Expr& x) {
    return a.alibi_bfloat16 ? x.To(DType::kBFloat16).To(DType::kFloat32) : x;
  };
  std::vector<double> numbers = AlibiSlopes(a.heads, a.alibi_max);
  const Expr slopes = rounded(NumbersAs(b, DType::kFloat32, {1, a.heads, 1, 1}, numbers, "alibi"));
  Expr at = nullptr;
  if (a.alibi_of_cache) {
    at = Unsqueeze(KeyPositions() - Shifted(Scalar(b, keys()), -1), {0, 1});
  } else if (padding.value()) {
    const Expr counts = padding.To(DType::kInt64);
    at = Unsqueeze((CumSum(counts, 1) - 1.0) * counts, {1, 2});
  } else {
    at = Unsqueeze(KeyPositions(), {0, 1});
  }
  return Scaled(rounded(slopes * rounded(at.To(DType::kFloat32))), a.alibi_factor);
}

// How many keys come before the first that counts: [batch, 1].
Expr Context::LeftPadding() {
  const Expr before = CumSum(padding.To(DType::kInt64), 1) == 0.0;
  return Sum(before.To(DType::kInt64), 1, true);
}

Expr Context::MaskOf(const Attention& attention) {
  const DistanceBias* by_distance = attention.distance_bias && attention.distance_bias->gate.empty()
                                        ? &*attention.distance_bias
                                        : nullptr;
  const std::tuple key(attention.window, attention.chunk, attention.alibi ? attention.heads : 0,
                       by_distance ? by_distance->table : std::string());
  for (const auto& [known, mask] : masks_) {
    if (known == key) return mask;
  }
  Expr allowed = nullptr;
  const auto also = [&](const Expr& test) { allowed = allowed.value() ? allowed & test : test; };
  if (causal) also(KeyPositions() <= QueryPositions());
  if (attention.window > 0) {
    const auto window = static_cast<double>(attention.window);
    if (causal) {
      also(KeyPositions() > QueryPositions() - window);
    } else {
      also(Abs(KeyPositions() - QueryPositions()) <= window);
    }
  }
  if (allowed.value()) allowed = Unsqueeze(allowed, {0, 1});
  if (attention.chunk > 0) {
    // Chunks begin where the padding ends.
    const auto chunk = static_cast<double>(attention.chunk);
    Expr keys = Unsqueeze(KeyPositions(), {0, 1}), queries = Unsqueeze(QueryPositions(), {0, 1});
    if (padding.value()) {
      const Expr left = Unsqueeze(LeftPadding(), {1, 2});
      keys = keys - left, queries = queries - left;
    }
    const auto number = [&](const Expr& x) { return Floor(x.To(DType::kFloat32) / chunk); };
    also(number(keys) == number(queries));
  }
  if (padding.value()) also(Unsqueeze(padding, {1, 2}));
  Expr mask = allowed.value() ? AddendOf(allowed) : nullptr;
  const auto add = [&](const Expr& x) { mask = mask.value() ? mask + x : x; };
  if (attention.alibi) add(Alibi(attention));
  if (bias.value()) add(bias);
  if (by_distance) add(DistanceBiasOf(*by_distance, attention.heads));
  masks_.emplace_back(key, mask);
  return mask;
}

Expr Context::DistanceBiasOf(const DistanceBias& bias, int64_t heads) {
  for (const auto& [known, made] : distance_biases_) {
    if (known == bias.table) return made;
  }
  Builder& b = net_.b();
  const std::vector<int64_t> rows = RowsOfDistances(bias);
  const auto far = static_cast<int64_t>(rows.size() / 2);
  // [heads, 2 * far + 1].
  const Expr table = Transpose(
      Gather(net_.Weight(StrCat(bias.table, ".weight"), {bias.count, heads}), Ints(b, rows), 0),
      {1, 0});
  const Expr distances = KeyPositions() - QueryPositions();
  const Expr at = Clip(distances, Int(b, -far), Int(b, far)) + static_cast<double>(far);
  const Expr made = Unsqueeze(Gather(table, at, 1), {0});
  distance_biases_.emplace_back(bias.table, made);
  return made;
}

Expr Context::CrossMask() {
  if (!encoded_padding.value() || cross_mask_.value()) return cross_mask_;
  return cross_mask_ = AddendOf(Unsqueeze(encoded_padding, {1, 2}));
}

Expr Context::TokenMask() {
  if (token_mask_.value()) return token_mask_;
  // Those of this step are the last.
  const x2ir::Size from = Minus(net_.b(), SizeAt(padding, 1), length_);
  const Expr now = Slice(padding, 1, from, x2ir::Size(kToEnd)).To(DType::kFloat32);
  return token_mask_ = Reshape(now, std::vector<int64_t>{-1, 1});
}

Expr Context::Heads(const Expr& x, int64_t heads, int64_t size, bool encoded_one) {
  const Expr apart = ReshapeTo(
      x, {batch_, encoded_one ? encoded_length : length_, x2ir::Size(heads), x2ir::Size(size)});
  return Transpose(apart, {0, 2, 1, 3});
}

Expr Context::Rows(const Expr& x, int64_t width) {
  return Reshape(Transpose(x, {0, 2, 1, 3}), std::vector<int64_t>{-1, width});
}

Expr Context::ByTokens(const Expr& x, int64_t width) {
  return ReshapeTo(x, {batch_, length_, x2ir::Size(width)});
}

Expr Attend(Context& context, const Attention& attention, const std::string& prefix, const Expr& x,
            int64_t width, bool cross) {
  return Attending(context, attention, prefix, width, cross).Run(x);
}

}  // namespace x2ir::checkpoint
