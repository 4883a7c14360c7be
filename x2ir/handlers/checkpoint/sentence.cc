#include "x2ir/handlers/checkpoint/sentence.h"

#include <string>
#include <utility>
#include <vector>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"

namespace x2ir::checkpoint {
namespace {

class Pooling {
 public:
  Pooling(Net& net, const Expr& x, const Expr& mask)
      : net_(net), x_(x), mask_(mask), counts_(Unsqueeze(mask, {2}).To(DType::kFloat32)) {}

  Expr Run(const std::vector<std::string>& modes) {
    std::vector<Value*> all;
    for (const std::string& mode : modes) all.push_back(Of(mode));
    return Concat(net_.b(), all, 1);
  }

 private:
  Expr Of(const std::string& mode) {
    if (mode == "cls") return ElementAt(x_, 1, 0);
    if (mode == "max") return Reduce(Where(counts_ == 0.0, -1e9, x_), "reduce_max", {1});
    if (mode == "mean") return Sum(x_ * counts_, 1) / Sum_(counts_);
    if (mode == "mean_sqrt_len_tokens") return Sum(x_ * counts_, 1) / Sqrt(Sum_(counts_));
    if (mode == "weightedmean") {
      const Expr weights = counts_ * Unsqueeze(Places() + 1.0, {0, 2}).To(DType::kFloat32);
      return Sum(x_ * weights, 1) / Sum_(weights);
    }
    // lasttoken: 0 where no token counts.
    const Expr last = Reduce(mask_ * Unsqueeze(Places(), {0}), "reduce_max", {1}, true);
    const Expr is_last = Unsqueeze((last == Unsqueeze(Places(), {0})).To(DType::kFloat32), {2});
    return Sum(x_ * (is_last * counts_), 1);
  }
  Expr Places() { return Iota(Scalar(net_.b(), SizeAt(x_, 1))); }
  Expr Sum_(const Expr& weights) { return Max(Sum(weights, 1), 1e-9); }

  Net& net_;
  Expr x_, mask_, counts_;
};

// Their names in the order in which their vectors stand.
std::vector<std::string> ModesOf(Settings& s) {
  static constexpr struct {
    const char *key, *mode;
  } kModes[] = {{"pooling_mode_cls_token", "cls"},
                {"pooling_mode_max_tokens", "max"},
                {"pooling_mode_mean_tokens", "mean"},
                {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
                {"pooling_mode_weightedmean_tokens", "weightedmean"},
                {"pooling_mode_lasttoken", "lasttoken"}};
  std::vector<std::string> modes, named;
  if (const Json& mode = s.Raw("pooling_mode"); mode.is_string()) {
    named = {s.Text("pooling_mode")};
  } else {
    named = s.Texts("pooling_mode");
  }
  for (const auto& [key, mode] : kModes) {
    if (s.Flag(key, std::string_view(mode) == "mean")) modes.emplace_back(mode);
  }
  for (const std::string& name : named) {
    bool known = false;
    for (const auto& [key, mode] : kModes) known = known || name == mode;
    if (!known) Refuse("pooling '", name, "' of sentence-transformers is not supported");
  }
  if (!named.empty()) modes = named;
  if (modes.empty()) Broken("the pooling of sentence-transformers names no mode");
  return modes;
}

void RefuseUnknown(const Settings& settings, const char* of) {
  const std::vector<std::string> unknown = settings.Unknown();
  if (!unknown.empty()) {
    Refuse("the ", of, " of sentence-transformers has a setting that is not known: ", unknown[0]);
  }
}

std::string ActivationOf(const std::string& name) {
  static constexpr struct {
    std::string_view module, activation;
  } kActivations[] = {{"Identity", "linear"}, {"Tanh", "tanh"},  {"ReLU", "relu"},
                      {"GELU", "gelu"},       {"SiLU", "silu"},  {"Sigmoid", "sigmoid"},
                      {"Mish", "mish"},       {"ReLU6", "relu6"}};
  const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
  for (const auto& [module, activation] : kActivations) {
    if (last == module) return std::string(activation);
  }
  Refuse("activation '", name, "' of sentence-transformers is not known");
}

}  // namespace

bool HasSentence(const Program& program) { return program.extras.Has("pooling"); }

void OutputSentence(Net& net, const Expr& x, const Expr& mask, int64_t width) {
  const Json& extras = net.program().extras;
  Settings pooling(extras["pooling"], "1_Pooling.");
  const std::vector<std::string> modes = ModesOf(pooling);
  if (const int64_t of = pooling.Size("word_embedding_dimension|embedding_dimension", width);
      of != width) {
    Broken("the pooling of sentence-transformers is of ", of, " numbers; the model gives ", width);
  }
  if (!pooling.Flag("include_prompt", true)) {
    Refuse("pooling without the tokens of a prompt ('include_prompt' is false) is not supported");
  }
  RefuseUnknown(pooling, "pooling");
  Expr y = Pooling(net, x, mask).Run(modes);
  int64_t size = width * static_cast<int64_t>(modes.size());
  for (const Json& module : extras["dense"].items()) {
    Settings dense(module, "Dense.");
    const int64_t in = dense.Size("in_features"), out = dense.Size("out_features");
    const std::string activation =
        ActivationOf(dense.Text("activation_function", "torch.nn.modules.activation.Tanh"));
    const std::string name = dense.Text("name");
    const bool bias = dense.Flag("bias", true);
    RefuseUnknown(dense, "dense layer");
    if (in != size) {
      Broken("a dense layer of sentence-transformers takes ", in, " numbers; there are ", size);
    }
    y = net.Activate(net.Linear(y, name, in, out, bias), activation);
    size = out;
  }
  if (extras["normalize"].Flag()) {
    y = y / Max(Sqrt(Sum(Square(y), 1, true)), 1e-12);
  }
  net.Output("token_embeddings", x);
  net.Output("sentence_embedding", y);
}

}  // namespace x2ir::checkpoint
