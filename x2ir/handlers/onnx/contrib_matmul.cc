// ONNX Runtime's own domain: products with something done before or after. All of it is only read.
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "x2ir/core/spec.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/onnx/conv_lenses.h"

namespace x2ir {
namespace {

// --- Activations after a product
// ------------------------------------------------------------------

// `params`: nothing where the node does not say.
absl::StatusOr<Value*> Activate(Rewrite& r, Value* y,
                                const std::vector<std::optional<float>>& params) {
  struct Row {
    std::string_view name;
    Symbol op;
    std::vector<std::pair<Symbol, float>> attrs;  // with ONNX's defaults
  };
  static const auto* const rows = new std::vector<Row>{
      {"", "identity", {}},
      {"Relu", "relu", {}},
      {"Sigmoid", "sigmoid", {}},
      {"Tanh", "tanh", {}},
      {"LeakyRelu", "leaky_relu", {{"alpha", 0.01f}}},
      {"HardSigmoid", "hard_sigmoid", {{"alpha", 0.2f}, {"beta", 0.5f}}},
  };
  const std::string name = r.attrs().String("activation", "");
  if (name.empty()) return y;
  if (name == "Clip") {
    if (params.size() < 2 || !params[0] || !params[1]) return Invalid("Clip needs two bounds");
    return r.b.Op("clip",
                  {y, r.b.Scalar(r.dtype(0), *params[0]), r.b.Scalar(r.dtype(0), *params[1])});
  }
  for (const Row& row : *rows) {
    if (row.name != name) continue;
    AttributeMap attrs;
    for (size_t i = 0; i < row.attrs.size(); ++i) {
      const auto& [attr, otherwise] = row.attrs[i];
      attrs.Set(attr, i < params.size() ? params[i].value_or(otherwise) : otherwise);
    }
    return r.b.Op(row.op, {y}, std::move(attrs));
  }
  return Unimplemented("activation '", name, "'");
}

std::optional<float> FloatAttr(const Rewrite& r, Symbol name) {
  const Attribute* attr = r.attrs().Find(name);
  return attr && attr->get<float>() ? std::optional<float>(*attr->get<float>()) : std::nullopt;
}

// --- Matrix products
// ------------------------------------------------------------------------------

// An operand as matmul wants it. `batch`: its first axis is the matrix's, those between the batch.
absl::StatusOr<Value*> Transposed(Rewrite& r, size_t i, bool matrix, bool batch) {
  Value* x = r.in(i);
  if (!matrix && !batch) return x;
  const int64_t rank = r.rank(i);
  if (rank < 0) return Unimplemented("a transposed operand of unknown rank");
  if (rank < 2) return x;  // vectors are not transposed
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  if (batch && rank > 2) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (matrix) std::swap(perm[rank - 2], perm[rank - 1]);
  return r.b.Op("transpose", {x}, {{"perm", perm}});
}

absl::StatusOr<Values> FromFusedMatMul(Rewrite& r) {
  const auto flag = [&](const char* name) { return r.attrs().Int(name, 0) != 0; };
  X2IR_ASSIGN_OR_RETURN(Value * a, Transposed(r, 0, flag("transA"), flag("transBatchA")));
  X2IR_ASSIGN_OR_RETURN(Value * b, Transposed(r, 1, flag("transB"), flag("transBatchB")));
  Value* y = r.b.Op("matmul", {a, b});
  const double alpha = r.attrs().Float("alpha", 1);
  if (alpha == 1) return Values{y};
  if (!IsFloating(r.dtype(0))) return Unimplemented("alpha for operands of unknown type");
  return Values{r.b.Op("mul", {y, r.b.Scalar(r.dtype(0), alpha, "alpha")})};
}

absl::StatusOr<Values> FromFusedMatMulActivation(Rewrite& r) {
  X2IR_ASSIGN_OR_RETURN(const Values product, FromFusedMatMul(r));
  X2IR_ASSIGN_OR_RETURN(Value * y,
                        Activate(r, product[0],
                                 {FloatAttr(r, "activation_alpha"), FloatAttr(r, "activation_beta"),
                                  FloatAttr(r, "activation_gamma")}));
  return Values{y};
}

absl::StatusOr<Values> FromGemmFastGelu(Rewrite& r) {
  Value* y = r.b.Op("matmul", {r.in(0), r.in(1)});
  if (r.has(2)) y = r.b.Op("add", {y, r.in(2)});
  return Values{r.b.Op("gelu", {y}, {{"approximate", "tanh"}})};
}

absl::StatusOr<Values> FromFusedGemm(Rewrite& r) {
  AttributeMap attrs;
  for (const auto& [name, attr] : r.attrs()) {
    if (!name.view().starts_with("activation")) attrs.Set(name, attr);
  }
  Value* y = r.b.Op("gemm", {r.in(0), r.in(1), r.in(2)}, std::move(attrs));
  X2IR_ASSIGN_OR_RETURN(y,
                        Activate(r, y,
                                 {FloatAttr(r, "activation_alpha"), FloatAttr(r, "activation_beta"),
                                  FloatAttr(r, "activation_gamma")}));
  return Values{y};
}

// Z is for what comes after the convolution.
class TakesZ : public LensImpl {
 public:
  absl::Status Import(Draft& draft) const override {
    draft.TakeOperandAt(3);
    return absl::OkStatus();
  }
  absl::Status Export(Draft&) const override { return absl::OkStatus(); }
};

absl::StatusOr<Values> FromFusedConv(Rewrite& r) {
  static const Form* const conv =
      new Form{"onnx",
               "com.microsoft::FusedConv",
               "conv",
               Since(1),
               {ChannelsFirst(), KernelShapeOfOperand(1), SpatialInts("strides", 1),
                SpatialInts("dilations", 1), SpatialInts("pads", 0, 2), Dropped("activation"),
                Dropped("activation_params"), std::make_shared<TakesZ>()},
               std::nullopt};
  X2IR_ASSIGN_OR_RETURN(const Values values, RunImport(*conv, r));
  Value* y = values[0];
  if (r.has(3)) y = r.b.Op("add", {y, r.in(3)});
  std::vector<std::optional<float>> params;
  if (const Attribute* attr = r.attrs().Find("activation_params")) {
    for (const float f : *attr->get<Attribute::Floats>()) params.push_back(f);
  }
  X2IR_ASSIGN_OR_RETURN(y, Activate(r, y, params));
  return Values{y};
}

X2IR_ONNX(matmul)
    .Is("com.microsoft::FusedMatMul", Since(1), Code{FromFusedMatMul, nullptr})
    .Is("com.microsoft::TransposeMatMul", Since(1), Code{FromFusedMatMul, nullptr})
    .Is("com.microsoft::FusedMatMulActivation", Since(1), Code{FromFusedMatMulActivation, nullptr})
    .Is("com.microsoft::GemmFastGelu", Since(1), Code{FromGemmFastGelu, nullptr});
X2IR_ONNX(gemm).Is("com.microsoft::FusedGemm", Since(1), Code{FromFusedGemm, nullptr});
X2IR_ONNX(conv).Is("com.microsoft::FusedConv", Since(1), Code{FromFusedConv, nullptr});

// --- Products of quantized matrices
// -----------------------------------------------------------------

Value* ScaledProduct(Rewrite& r, std::vector<Value*> operands, Value* a_scale, Value* b_scale,
                     Value* bias) {
  Value* sums = r.b.Op("matmul_integer", std::move(operands));
  Value* y = r.b.Op("cast", {sums}, {{"to", std::string(Name(b_scale->dtype()))}});
  y = r.b.Op("mul", {y, r.b.Op("mul", {a_scale, b_scale})});
  return bias ? r.b.Op("add", {y, bias}) : y;
}

absl::StatusOr<Values> FromMatMulIntegerToFloat(Rewrite& r) {
  enum { kA, kB, kScaleA, kScaleB, kZeroA, kZeroB, kBias };
  if (!IsFloating(r.dtype(kScaleB))) return Unimplemented("a scale of unknown type");
  return Values{ScaledProduct(r, {r.in(kA), r.in(kB), r.in(kZeroA), r.in(kZeroB)}, r.in(kScaleA),
                              r.in(kScaleB), r.in(kBias))};
}

absl::StatusOr<Values> FromDynamicQuantizeMatMul(Rewrite& r) {
  enum { kA, kB, kScaleB, kZeroB, kBias };
  if (!IsFloating(r.dtype(kScaleB))) return Unimplemented("a scale of unknown type");
  const Values a = r.b.Ops("dynamic_quantize_linear", {r.in(kA)}, {}, 3);
  return Values{
      ScaledProduct(r, {a[0], r.in(kB), a[2], r.in(kZeroB)}, a[1], r.in(kScaleB), r.in(kBias))};
}

X2IR_ONNX(matmul_integer)
    .Is("com.microsoft::MatMulIntegerToFloat", Since(1), Code{FromMatMulIntegerToFloat, nullptr})
    .Is("com.microsoft::DynamicQuantizeMatMul", Since(1), Code{FromDynamicQuantizeMatMul, nullptr});

}  // namespace
}  // namespace x2ir
