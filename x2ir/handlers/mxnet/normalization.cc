// MXNet: normalizations.
#include "x2ir/builder/layers/norm.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/handlers/mxnet/mxnet.h"

namespace x2ir {
namespace {

void IgnoreBatchTraining(SymbolArgs& a) {
  for (const char* name : {"momentum", "use_global_stats", "output_mean_var", "min_calib_range",
                           "max_calib_range", "ndev", "key", "sync"}) {
    a.Ignore(name);
  }
}

// Operands: x, gamma, beta, mean, variance. With fix_gamma, gamma is 1 and its operand is ignored.
Expr BatchNormOf(SymbolArgs& a) {
  IgnoreBatchTraining(a);
  const bool fixed = a.Flag("fix_gamma", true);
  const double epsilon = a.Number("eps", 1e-3);
  Value* gamma = a.in(1);
  return BatchNormalize(a, a.in(0), fixed ? nullptr : gamma, a.in(2), a.in(3), a.in(4),
                        a.Integer("axis", 1), epsilon);
}

Value* BatchNorm(SymbolArgs& a) { return BatchNormOf(a); }
Value* BatchNormRelu(SymbolArgs& a) { return BatchNormOf(a).Op("relu"); }

absl::StatusOr<Value*> LayerNorm(SymbolArgs& a) {
  a.Ignore("output_mean_var");
  X2IR_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, a.Axes({a.Integer("axis", -1)}));
  const int64_t rank = a.rank(0);
  const auto epsilon = static_cast<float>(a.Number("eps", 1e-5));
  const auto normalized = [&](const Expr& x) {
    return x.Op("layer_normalization", {a.in(1), a.in(2)}, {{"axis", -1}, {"epsilon", epsilon}});
  };
  if (axes[0] == rank - 1) return normalized(a.in(0)).value();
  return MoveAxis(normalized(MoveAxis(a.in(0), axes[0], rank - 1)), rank - 1, axes[0]).value();
}

Value* InstanceNorm(SymbolArgs& a) {
  return a.Op("instance_normalization", {a.in(0), a.in(1), a.in(2)},
              {{"epsilon", static_cast<float>(a.Number("eps", 1e-3))}});
}

// Of old versions there is a scale for each group.
Value* GroupNorm(SymbolArgs& a) {
  a.Ignore("output_mean_var");
  const int64_t groups = a.Integer("num_groups", 1);
  const auto epsilon = static_cast<float>(a.Number("eps", 1e-5));
  const auto of_channels = [&](const Expr& v) -> Expr {
    const Dim size = DimAt(v, 0), channels = DimAt(a.in(0), 1);
    if (!channels.is_static() || !size.is_static() || size == channels) return v;
    a.Require(size.value() == groups && groups > 0 && channels.value() % groups == 0,
              "a scale that is neither of channels nor of groups");
    const std::vector<int64_t> dims = {groups, channels.value() / groups};
    return Reshape(Expand(Unsqueeze(v, {1}), a.b().Ints(dims)), {-1});
  };
  return a.Op("group_normalization", {a.in(0), of_channels(a.in(1)), of_channels(a.in(2))},
              {{"num_groups", groups}, {"epsilon", epsilon}});
}

absl::StatusOr<Value*> L2Normalization(SymbolArgs& a) {
  const std::string mode = a.Text("mode", "instance");
  const double epsilon = a.Number("eps", 1e-10);
  if (mode == "channel") return L2Normalized(a.in(0), {1}, epsilon).value();
  a.Require(mode == "instance" || mode == "spatial", StrCat("mode ", mode));
  X2IR_ASSIGN_OR_RETURN(const int64_t rank, a.Rank(0));
  const int64_t from = mode == "instance" ? 1 : 2;
  if (rank <= from) return Invalid("an operand of ", rank, " axes");
  return L2Normalized(a.in(0), CountedFrom(from, rank - from), epsilon).value();
}

Value* Lrn(SymbolArgs& a) {
  return LocalResponseNorm(a.in(0), a.Integer("nsize", 5), a.Number("alpha", 1e-4),
                           a.Number("beta", 0.75), a.Number("knorm", 2));
}

}  // namespace

X2IR_MXNET(batch_normalization)
    .From({"BatchNorm", "BatchNorm_v1", "CuDNNBatchNorm", "_contrib_SyncBatchNorm",
           "_npx_batch_norm"},
          BatchNorm)
    .From("_contrib_BatchNormWithReLU", BatchNormRelu);
X2IR_MXNET(group_normalization).From({"GroupNorm", "_npx_group_norm"}, GroupNorm);
X2IR_MXNET(instance_normalization).From({"InstanceNorm", "_npx_instance_norm"}, InstanceNorm);
X2IR_MXNET(layer_normalization).From({"LayerNorm", "_npx_layer_norm"}, LayerNorm);
X2IR_MXNET(lrn).From("LRN", Lrn);
X2IR_MXNET(lp_normalization).From({"L2Normalization", "_npx_l2_normalization"}, L2Normalization);

}  // namespace x2ir
