#include "x2ir/handlers/checkpoint/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/graph_wrapper/portable_math.h"

namespace x2ir::checkpoint {
namespace {

using Numbers = std::vector<double>;

constexpr int64_t kMaxTurned = 65536;

// theta^(-2i / dim), in float32 as PyTorch computes it.
Numbers Frequencies(double theta, int64_t dim) {
  Numbers all;
  for (int64_t i = 0; i < dim; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(dim);
    all.push_back(1.0F / portable::pow(static_cast<float>(theta), exponent));
  }
  return all;
}

Numbers Divided(Numbers all, double by) {
  for (double& x : all) x /= by;
  return all;
}

// Long waves are stretched by the factor, short ones are not, those between in part.
Numbers Llama3(Numbers all, Settings& rope) {
  const double factor = rope.Number("factor"), low = rope.Number("low_freq_factor"),
               high = rope.Number("high_freq_factor"),
               length = static_cast<double>(rope.Size("original_max_position_embeddings"));
  for (double& f : all) {
    const double wave = 2 * std::numbers::pi / f;
    if (wave > length / low) {
      f /= factor;
    } else if (wave >= length / high) {
      const double smooth = (length / wave - low) / (high - low);
      f = (1 - smooth) * f / factor + smooth * f;
    }
  }
  return all;
}

double YarnScale(double factor, double mscale) {
  return factor <= 1 ? 1 : 0.1 * mscale * portable::log(factor) + 1;
}

void Yarn(Rope& r, Settings& rope, double theta, int64_t max_length) {
  const auto length = static_cast<double>(
      rope.Size("original_max_position_embeddings", max_length > 0 ? max_length : 1));
  const double factor =
      rope.Has("factor") ? rope.Number("factor") : static_cast<double>(max_length) / length;
  const double mscale = rope.Number("mscale", 0), of_all = rope.Number("mscale_all_dim", 0);
  const double given = rope.Number("attention_factor|attn_factor", 0);
  r.factor = given != 0                   ? given
             : mscale != 0 && of_all != 0 ? YarnScale(factor, mscale) / YarnScale(factor, of_all)
                                          : YarnScale(factor, 1);
  const auto dim = static_cast<double>(r.dim);
  const auto correction = [&](double turns) {
    return dim * portable::log(length / (turns * 2 * std::numbers::pi)) /
           (2 * portable::log(theta));
  };
  double low = correction(rope.Number("beta_fast", 32)),
         high = correction(rope.Number("beta_slow", 1));
  if (rope.Flag("truncate", true)) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, dim - 1);
  if (low == high) high += 0.001;
  for (size_t i = 0; i < r.frequencies.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    double& f = r.frequencies[i];
    f = f / factor * ramp + f * (1 - ramp);
  }
}

void Long(Rope& r, Settings& rope, Settings& settings, int64_t max_length) {
  const Numbers base = r.frequencies;
  const Numbers shorter = rope.Numbers("short_factor"), longer = rope.Numbers("long_factor");
  if (shorter.size() != base.size() || longer.size() != base.size()) {
    Broken("config.json: 'short_factor' and 'long_factor' of the rotary positions have ",
           shorter.size(), " and ", longer.size(), " numbers; expected ", base.size());
  }
  const int64_t in_rope = rope.Size("original_max_position_embeddings", max_length);
  r.original_length = settings.Size("original_max_position_embeddings", in_rope);
  const auto length = static_cast<double>(r.original_length);
  const double factor = rope.Number("factor", static_cast<double>(max_length) / length);
  r.factor =
      rope.Number("attention_factor",
                  factor <= 1 ? 1 : std::sqrt(1 + portable::log(factor) / portable::log(length)));
  r.long_frequencies = base;
  if (rope.Has("short_mscale")) {  // of Phi's experts
    r.factor = rope.Number("short_mscale");
    r.long_factor = rope.Number("long_mscale");
  }
  for (size_t i = 0; i < base.size(); ++i) {
    r.frequencies[i] = base[i] / shorter[i];
    r.long_frequencies[i] = base[i] / longer[i];
  }
}

Expr Row(Net& net, const Numbers& numbers) {
  return NumbersAs(net.b(), DType::kFloat32, {1, 1, static_cast<int64_t>(numbers.size())}, numbers,
                   "rope_frequencies");
}

}  // namespace

Rope RopeOf(Settings& settings, int64_t head_size, const RopeDefaults& defaults,
            std::string_view layer_type) {
  Settings* rope = &settings.Nested("rope_parameters|rope_scaling");
  Json fallback;
  if (!defaults.absent.empty() && !settings.Has("rope_parameters|rope_scaling")) {
    if (absl::StatusOr<Json> parsed = Json::Parse(defaults.absent); parsed.ok()) {
      fallback = *std::move(parsed);
    }
  }
  Settings none(fallback);
  if (fallback.is_object()) rope = &none;
  if (!layer_type.empty() && rope->Has(layer_type)) {
    rope = &rope->Nested(layer_type);
  } else if (!defaults.scaled) {
    rope = &none;
  }
  const double partial =
      rope->Number("partial_rotary_factor",
                   settings.Number("partial_rotary_factor|rotary_pct|rope_pct", defaults.partial));
  const double theta =
      rope->Number("rope_theta", settings.Number(defaults.theta_name, defaults.theta));
  const std::string kind = rope->Text("rope_type|type", "default");
  const int64_t max_length =
      settings.Size("max_position_embeddings|n_positions|seq_length|max_seq_len", 2048);
  if (theta <= 0 || partial <= 0 || partial > 1) {
    Broken("config.json: rotary positions with rope_theta ", theta, " and partial_rotary_factor ",
           partial);
  }
  Rope r;
  const bool whole = kind == "proportional" || (kind == "default" && defaults.whole);
  r.dim = whole ? head_size : static_cast<int64_t>(static_cast<double>(head_size) * partial);
  if (r.dim < 2 || r.dim % 2 != 0) {
    Broken("config.json: rotary positions turn ", r.dim, " numbers of a head, an odd number");
  }
  if (r.dim > kMaxTurned) {
    Broken("config.json: rotary positions turn ", r.dim, " numbers of a head; expected at most ",
           kMaxTurned);
  }
  r.frequencies = Frequencies(theta, r.dim);
  if (kind == "linear") {
    r.frequencies = Divided(r.frequencies, rope->Number("factor"));
  } else if (kind == "llama3") {
    r.frequencies = Llama3(r.frequencies, *rope);
  } else if (kind == "yarn") {
    Yarn(r, *rope, theta, max_length);
  } else if (kind == "longrope" || kind == "su") {
    Long(r, *rope, settings, max_length);
  } else if (kind == "dynamic") {
    if (const double alpha = rope->Number("alpha", 0); alpha != 0) {
      // Of Hunyuan: the same for all lengths.
      rope->Ignore({"factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim"});
      const auto size = static_cast<double>(r.dim);
      r.frequencies = Frequencies(theta * portable::pow(alpha, size / (size - 2)), r.dim);
    } else {
      r.dynamic = {theta, rope->Number("factor"), max_length};
    }
  } else if (kind == "proportional") {
    const auto turned = static_cast<size_t>(partial * static_cast<double>(head_size) / 2);
    r.frequencies = Divided(r.frequencies, rope->Number("factor", 1));
    std::fill(r.frequencies.begin() + static_cast<int64_t>(turned), r.frequencies.end(), 0.0);
  } else if (kind != "default") {
    Refuse("rotary positions of type '", kind,
           "' are not supported; default, linear, dynamic, "
           "yarn, longrope, llama3 and proportional are");
  }
  for (const double f : r.frequencies) {
    if (!std::isfinite(f)) Broken("config.json: rotary positions with frequencies without bounds");
  }
  return r;
}

Turn TurnOf(Net& net, const Rope& rope, const Expr& positions) {
  if (!rope.table.empty()) {
    const Expr both = net.Embedding(positions, rope.table, rope.table_count, rope.dim);
    return {Part(both, 2, rope.dim / 2, rope.dim / 2), Part(both, 2, 0, rope.dim / 2)};
  }
  Expr frequencies = Row(net, rope.frequencies);
  Expr factor = nullptr;
  if (!rope.long_frequencies.empty() || rope.dynamic) {
    const Expr length = Reduce(positions, "reduce_max", {}) + 1.0;
    if (rope.dynamic) {
      const auto [theta, factor, usual] = *rope.dynamic;
      const auto dim = static_cast<double>(rope.dim), most = static_cast<double>(usual);
      const Expr now = Max(length.To(DType::kFloat32), most) * (factor / most) - (factor - 1);
      const Expr base = Pow(now, dim / (dim - 2)) * theta;
      Numbers exponents;
      for (int64_t i = 0; i < rope.dim; i += 2) exponents.push_back(-static_cast<double>(i) / dim);
      frequencies = Pow(base, Row(net, exponents));
    } else {
      const Expr is_long = length > static_cast<double>(rope.original_length);
      frequencies = Where(is_long, Row(net, rope.long_frequencies), frequencies);
      if (rope.long_factor != 0 && rope.long_factor != rope.factor) {
        factor = Where(is_long, Row(net, {rope.long_factor}), Row(net, {rope.factor}));
      }
    }
  }
  const Expr angles = Unsqueeze(positions.To(DType::kFloat32), {2}) * frequencies;
  if (factor.value()) return {Cos(angles) * factor, Sin(angles) * factor};
  return {Scaled(Cos(angles), rope.factor), Scaled(Sin(angles), rope.factor)};
}

Expr Turned(const Expr& x, const Rope& rope, const Turn& turn) {
  AttributeMap attrs;
  if (rope.interleaved) attrs.Set("interleaved", int64_t{1});
  const Dim size = DimAt(x, 3);
  if (!size.is_static() || size.value() != rope.dim) attrs.Set("rotary_embedding_dim", rope.dim);
  return x.Op("rotary_embedding", {turn.cos, turn.sin}, std::move(attrs));
}

}  // namespace x2ir::checkpoint
