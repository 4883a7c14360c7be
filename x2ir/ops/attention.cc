// attention: scaled dot products of queries and keys, softmax, and a weighted sum of values,
// with masks, a cache of earlier keys and values, and heads that share keys.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "x2ir/graph_wrapper/portable_math.h"
#include "x2ir/ops/axis_origins.h"
#include "x2ir/ops/eval_util.h"
#include "x2ir/ops/matmul.h"
#include "x2ir/ops/op.h"
#include "x2ir/ops/shape_util.h"
#include "x2ir/ops/work.h"

namespace x2ir {
namespace {

enum AttentionOperand { kQ, kK, kV, kMask, kPastKey, kPastValue, kNonpad };
enum Output { kY, kPresentKey, kPresentValue, kScores };
enum ScoresMode { kRaw, kSoftcapped, kBiased, kProbabilities };

absl::Status CheckAttrs(const AttributeMap& attrs) {
  for (const char* name : {"left_window_size", "right_window_size"}) {
    if (attrs.Int(name) < -1) return Invalid(name, ": expected -1 or more, got ", attrs.Int(name));
  }
  const int64_t mode = attrs.Int("qk_matmul_output_mode");
  if (mode < kRaw || mode > kProbabilities) {
    return Invalid("qk_matmul_output_mode: expected 0 to 3, got ", mode);
  }
  for (const char* name : {"q_num_heads", "kv_num_heads"}) {
    if (attrs.Has(name) && attrs.Int(name) < 1) {
      return Invalid(name, ": expected 1 or more, got ", attrs.Int(name));
    }
  }
  return absl::OkStatus();
}

// The type that softmax is computed in; that of the queries when nothing is said.
absl::StatusOr<DType> SoftmaxType(const AttributeMap& attrs, DType queries) {
  if (!attrs.Has("softmax_precision")) return queries;
  const std::string& name = attrs.String("softmax_precision");
  const auto dtype = ParseDType(name);
  if (dtype && (*dtype == DType::kFloat32 || *dtype == DType::kFloat64 ||
                *dtype == DType::kFloat16 || *dtype == DType::kBFloat16)) {
    return *dtype;
  }
  return Invalid("softmax_precision: expected a floating type, got '", name, "'");
}

// --- Inference ------------------------------------------------------------------------------

struct HeadDims {
  Dim batch, heads, length, size;
};

// The axes of an operand, [batch, heads, length, size] or [batch, length, heads * size].
absl::StatusOr<HeadDims> DimsOf(const InferContext& ctx, size_t i, const char* heads_attr) {
  HeadDims dims;
  const bool told = ctx.attrs().Has(heads_attr);
  if (told) dims.heads = ctx.attrs().Int(heads_attr);
  const Shape* s = ctx.shape(i);
  if (!s) return dims;
  dims.batch = (*s)[0];
  if (s->rank() == 4) {
    if (told && ProvablyDifferent((*s)[1], dims.heads)) {
      return Invalid(heads_attr, " is ", dims.heads.ToString(), ", and there are ",
                     (*s)[1].ToString(), " heads");
    }
    if (!told) dims.heads = (*s)[1];
    dims.length = (*s)[2];
    dims.size = (*s)[3];
    return dims;
  }
  if (!told) return Invalid(heads_attr, " must be given for operands of rank 3");
  dims.length = (*s)[1];
  if ((*s)[2].is_static() && (*s)[2].value() % dims.heads.value() != 0) {
    return Invalid((*s)[2].ToString(), " numbers are not ", dims.heads.ToString(), " heads");
  }
  dims.size = FloorDiv((*s)[2], dims.heads);
  return dims;
}

absl::Status InferAttention(InferContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckAttrs(ctx.attrs()));
  X2IR_RETURN_IF_ERROR(SoftmaxType(ctx.attrs(), DType::kFloat32).status());
  X2IR_ASSIGN_OR_RETURN(const DType dtype, CommonDType(ctx, kQ, kV));
  const DType value_dtype = ctx.dtype(kV);
  ctx.Set(kY, dtype);
  ctx.Set(kPresentKey, dtype);
  ctx.Set(kPresentValue, value_dtype);
  ctx.Set(kScores, dtype);
  int64_t rank = -1;
  for (size_t i = kQ; i <= kV; ++i) {
    const int64_t r = ctx.rank(i);
    if (r < 0) continue;
    if (r != 3 && r != 4) return Invalid("expected operands of rank 3 or 4, got rank ", r);
    if (rank >= 0 && r != rank) return Invalid("queries, keys and values of different ranks");
    rank = r;
  }
  for (size_t i = kPastKey; i <= kPastValue && i < ctx.num_inputs(); ++i) {
    if (ctx.has(i) && ctx.rank(i) >= 0 && ctx.rank(i) != 4) {
      return Invalid("expected past keys and values of rank 4, got rank ", ctx.rank(i));
    }
  }
  X2IR_ASSIGN_OR_RETURN(const HeadDims q, DimsOf(ctx, kQ, "q_num_heads"));
  X2IR_ASSIGN_OR_RETURN(const HeadDims k, DimsOf(ctx, kK, "kv_num_heads"));
  X2IR_ASSIGN_OR_RETURN(const HeadDims v, DimsOf(ctx, kV, "kv_num_heads"));
  X2IR_ASSIGN_OR_RETURN(Dim batch, SameDim(q.batch, k.batch));
  X2IR_ASSIGN_OR_RETURN(batch, SameDim(batch, v.batch));
  X2IR_ASSIGN_OR_RETURN(const Dim kv_heads, SameDim(k.heads, v.heads));
  X2IR_ASSIGN_OR_RETURN(Dim size, SameDim(q.size, k.size));
  Dim value_size = v.size;
  if (q.heads.is_static() && kv_heads.is_static() &&
      (kv_heads.value() == 0 ? q.heads.value() != 0 : q.heads.value() % kv_heads.value() != 0)) {
    return Invalid(q.heads.ToString(), " heads cannot share ", kv_heads.ToString());
  }
  // Past keys and values come before the new ones.
  auto total = [&](size_t i, const Dim& length, Dim& width) -> absl::StatusOr<Dim> {
    if (i >= ctx.num_inputs() || !ctx.has(i)) return length;
    const Shape* past = ctx.shape(i);
    if (!past) return Dim();
    X2IR_RETURN_IF_ERROR(SameDim((*past)[0], batch).status());
    X2IR_RETURN_IF_ERROR(SameDim((*past)[1], kv_heads).status());
    X2IR_ASSIGN_OR_RETURN(width, SameDim(width, (*past)[3]));
    return (*past)[2] + length;
  };
  X2IR_ASSIGN_OR_RETURN(const Dim keys, total(kPastKey, k.length, size));
  X2IR_ASSIGN_OR_RETURN(const Dim values, total(kPastValue, v.length, value_size));
  X2IR_ASSIGN_OR_RETURN(const Dim length, SameDim(keys, values));
  if (rank == 4) ctx.Set(kY, dtype, Shape{batch, q.heads, q.length, value_size});
  if (rank == 3) ctx.Set(kY, dtype, Shape{batch, q.length, q.heads * value_size});
  ctx.Set(kPresentKey, dtype, Shape{batch, kv_heads, length, size});
  ctx.Set(kPresentValue, value_dtype, Shape{batch, kv_heads, length, value_size});
  ctx.Set(kScores, dtype, Shape{batch, q.heads, q.length, length});
  return absl::OkStatus();
}

// --- Evaluation -----------------------------------------------------------------------------

// Heads before positions, whatever the operand's layout.
template <typename T>
struct Heads {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
  std::vector<T> x;
  std::vector<int64_t> dims() const { return {batch, heads, length, size}; }
  T* at(int64_t b, int64_t h) { return x.data() + (b * heads + h) * length * size; }
};

template <typename T>
absl::StatusOr<Heads<T>> ReadHeads(const Tensor& tensor, int64_t heads) {
  Heads<T> result;
  const Numbers<T> in(tensor);
  const auto& dims = tensor.dims();
  if (tensor.rank() == 4) {
    if (heads > 0 && dims[1] != heads) {
      return Invalid("expected ", heads, " heads, got ", dims[1]);
    }
    result = {dims[0], dims[1], dims[2], dims[3], {in.span().begin(), in.span().end()}};
    return result;
  }
  if (heads < 1 || dims[2] % heads != 0) {
    return Invalid(dims[2], " numbers are not ", heads, " heads");
  }
  result = {dims[0], heads, dims[1], dims[2] / heads, std::vector<T>(in.size())};
  if (in.size() == 0) return result;
  T* to = result.x.data();
  for (int64_t b = 0; b < result.batch; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t s = 0; s < result.length; ++s) {
        const T* from = in.data() + ((b * result.length + s) * heads + h) * result.size;
        to = std::copy(from, from + result.size, to);
      }
    }
  }
  return result;
}

template <typename T>
absl::StatusOr<Heads<T>> WithPast(const EvalContext& ctx, size_t past_index, Heads<T> now) {
  if (past_index >= ctx.num_inputs() || !ctx.has(past_index)) return now;
  const Tensor& tensor = ctx.input(past_index);
  if (tensor.rank() != 4) return Invalid("expected past keys and values of rank 4");
  X2IR_ASSIGN_OR_RETURN(Heads<T> past, ReadHeads<T>(tensor, now.heads));
  if (past.batch != now.batch || past.size != now.size) {
    return Invalid("past ", DimsText(past.dims()), " does not fit ", DimsText(now.dims()));
  }
  Heads<T> all{now.batch, now.heads, past.length + now.length, now.size, {}};
  X2IR_RETURN_IF_ERROR(CheckAllocation(DTypeOf<T>::value, all.dims()));
  all.x.reserve(past.x.size() + now.x.size());
  for (int64_t i = 0; i < (all.x.capacity() == 0 ? 0 : now.batch * now.heads); ++i) {
    for (Heads<T>* part : {&past, &now}) {
      const int64_t run = part->length * part->size;
      all.x.insert(all.x.end(), part->x.begin() + i * run, part->x.begin() + (i + 1) * run);
    }
  }
  return all;
}

// What a step's result is once it is stored as that type.
template <typename T>
void RoundTo(DType dtype, std::vector<T>& x) {
  if (dtype == DTypeOf<T>::value) return;
  const Tensor stored = FromNumbers<T>(dtype, {static_cast<int64_t>(x.size())}, x);
  const Numbers<T> back(stored);
  x.assign(back.span().begin(), back.span().end());
}

// The mask, read as if it were [batch, heads, queries, keys], filled up with "no".
template <typename T>
class Mask {
 public:
  static absl::StatusOr<Mask> Make(const Tensor& tensor, std::vector<int64_t> rows, int64_t keys,
                                   DType dtype) {
    Mask mask;
    const Numbers<T> in(tensor);
    mask.x_.assign(in.span().begin(), in.span().end());
    if (tensor.dtype() == DType::kBool) {
      for (T& x : mask.x_) x = x != 0 ? T{0} : -std::numeric_limits<T>::infinity();
    }
    RoundTo(dtype, mask.x_);
    std::vector<int64_t> dims = tensor.dims();
    mask.length_ = dims.empty() ? 1 : dims.back();
    mask.step_ = dims.empty() ? 0 : 1;
    if (dims.empty()) mask.length_ = keys;
    if (!dims.empty()) dims.pop_back();
    const auto both = BroadcastDims(dims, rows);
    if (mask.length_ > keys || !both.ok() || *both != rows) {
      return Invalid("attn_mask ", DimsText(tensor.dims()), " does not broadcast to [", rows[0],
                     ",", rows[1], ",", rows[2], ",", keys, "]");
    }
    mask.strides_ = BroadcastStrides(dims, rows);
    return mask;
  }
  T operator()(int64_t b, int64_t h, int64_t q, int64_t k) const {
    if (k >= length_) return -std::numeric_limits<T>::infinity();
    const int64_t row = b * strides_[0] + h * strides_[1] + q * strides_[2];
    return x_[step_ == 0 ? 0 : row * length_ + k];
  }

 private:
  std::vector<T> x_;
  std::vector<int64_t> strides_;
  int64_t length_ = 0, step_ = 1;
};

template <typename T>
void SoftmaxRow(T* x, int64_t n) {
  T max = -std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < n; ++i) max = x[i] > max || std::isnan(x[i]) ? x[i] : max;
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] = portable::exp(x[i] - max);
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<T>(x[i] / sum);
}

template <typename T>
absl::Status EvalAttentionAs(EvalContext& ctx, DType softmax_type) {
  const AttributeMap& attrs = ctx.attrs();
  const DType dtype = ctx.dtype(kQ);
  const bool flat = ctx.input(kQ).rank() == 3;
  X2IR_ASSIGN_OR_RETURN(Heads<T> q, ReadHeads<T>(ctx.input(kQ), attrs.Int("q_num_heads", 0)));
  X2IR_ASSIGN_OR_RETURN(Heads<T> k, ReadHeads<T>(ctx.input(kK), attrs.Int("kv_num_heads", 0)));
  X2IR_ASSIGN_OR_RETURN(Heads<T> v, ReadHeads<T>(ctx.input(kV), attrs.Int("kv_num_heads", 0)));
  X2IR_ASSIGN_OR_RETURN(k, WithPast(ctx, kPastKey, std::move(k)));
  X2IR_ASSIGN_OR_RETURN(v, WithPast(ctx, kPastValue, std::move(v)));
  if (q.batch != k.batch || q.batch != v.batch || k.heads != v.heads || k.length != v.length ||
      q.size != k.size || (k.heads == 0 ? q.heads != 0 : q.heads % k.heads != 0)) {
    return Invalid("queries ", DimsText(q.dims()), ", keys ", DimsText(k.dims()), " and values ",
                   DimsText(v.dims()), " do not fit");
  }
  if (ctx.wants(kPresentKey)) ctx.Set(kPresentKey, FromNumbers<T>(dtype, k.dims(), k.x));
  if (ctx.wants(kPresentValue)) {
    ctx.Set(kPresentValue, FromNumbers<T>(ctx.dtype(kV), v.dims(), v.x));
  }
  const bool masked = kMask < ctx.num_inputs() && ctx.has(kMask);
  Mask<T> mask;
  if (masked) {
    X2IR_ASSIGN_OR_RETURN(
        mask, Mask<T>::Make(ctx.input(kMask), {q.batch, q.heads, q.length}, k.length, dtype));
  }
  // The position of the first query among the keys, and the number of valid keys.
  const bool past = ctx.num_inputs() > kPastKey && ctx.has(kPastKey);
  const int64_t past_length = past ? ctx.dims(kPastKey)[2] : 0;
  std::vector<int64_t> counts;  // of each batch; empty: all keys
  if (kNonpad < ctx.num_inputs() && ctx.has(kNonpad)) {
    X2IR_ASSIGN_OR_RETURN(counts, IntsOperand(ctx, kNonpad, "nonpad_kv_seqlen"));
    if (static_cast<int64_t>(counts.size()) != q.batch) {
      return Invalid("nonpad_kv_seqlen: expected ", q.batch, " numbers, got ", counts.size());
    }
    for (const int64_t count : counts) {
      if (count < 0 || count > k.length) {
        return Invalid("nonpad_kv_seqlen: ", count, " of ", k.length, " keys");
      }
    }
  }
  const double scale = attrs.Float("scale", 1 / std::sqrt(static_cast<double>(q.size)));
  std::vector<T> root = {static_cast<T>(std::sqrt(scale))};
  RoundTo(dtype, root);
  for (Heads<T>* x : {&q, &k}) {
    for (T& e : x->x) e *= root[0];
    RoundTo(dtype, x->x);
  }
  const T softcap = static_cast<T>(attrs.Float("softcap"));
  const int64_t mode = attrs.Int("qk_matmul_output_mode");
  const bool causal = attrs.Int("is_causal") != 0;
  const int64_t left = attrs.Int("left_window_size"), right = attrs.Int("right_window_size");
  const int64_t n = k.length, cells = q.length * n;
  const std::vector<int64_t> all_scores = {q.batch, q.heads, q.length, n};
  if (ctx.wants(kScores)) X2IR_RETURN_IF_ERROR(CheckAllocation(dtype, all_scores));
  X2IR_RETURN_IF_ERROR(CheckAllocation(DType::kFloat64, {q.length, n}));
  const std::vector<int64_t> y_dims =
      flat ? std::vector<int64_t>{q.batch, q.length, q.heads * v.size}
           : std::vector<int64_t>{q.batch, q.heads, q.length, v.size};
  X2IR_RETURN_IF_ERROR(CheckAllocation(dtype, y_dims));
  NumbersOut<T> y(dtype, y_dims);
  NumbersOut<T> kept(dtype, ctx.wants(kScores) ? all_scores : std::vector<int64_t>{0});
  const bool any = y.size() > 0 || kept.size() > 0;
  std::vector<T> scores(any ? cells : 0), result(any ? q.length * v.size : 0);
  std::vector<bool> nothing(any ? q.length : 0);
  for (int64_t b = 0; any && b < q.batch; ++b) {
    const int64_t valid = counts.empty() ? n : counts[b];
    const int64_t offset = counts.empty() || past ? past_length : valid - q.length;
    for (int64_t h = 0; h < q.heads; ++h) {
      const int64_t shared = h / (q.heads / k.heads);
      auto keep = [&](ScoresMode at) {
        if (at != mode || kept.size() == 0) return;
        std::copy(scores.begin(), scores.end(), kept.data() + (b * q.heads + h) * cells);
      };
      MatrixProduct(q.at(b, h), k.at(b, shared), scores.data(), q.length, q.size, n, false, true);
      RoundTo(dtype, scores);
      keep(kRaw);
      if (softcap > 0) {
        for (T& s : scores) s = portable::tanh(s / softcap) * softcap;
        RoundTo(dtype, scores);
      }
      keep(kSoftcapped);
      for (int64_t i = 0; i < q.length; ++i) {
        bool none = true;
        const int64_t p = offset + i;
        for (int64_t j = 0; j < n; ++j) {
          T add = masked ? mask(b, h, i, j) : T{0};
          if (j >= valid || (causal && j > p) || (left >= 0 && p - j > left) ||
              (right >= 0 && j - p > right)) {
            add += -std::numeric_limits<T>::infinity();
          }
          none = none && add == -std::numeric_limits<T>::infinity();
          scores[i * n + j] += add;
        }
        nothing[i] = none;
      }
      RoundTo(dtype, scores);
      keep(kBiased);
      RoundTo(softmax_type, scores);
      for (int64_t i = 0; i < q.length; ++i) SoftmaxRow(scores.data() + i * n, n);
      RoundTo(softmax_type, scores);
      RoundTo(dtype, scores);
      for (int64_t i = 0; i < q.length; ++i) {
        // A query that may look at nothing gets nothing.
        if (nothing[i]) std::fill_n(scores.begin() + i * n, n, T{0});
      }
      keep(kProbabilities);
      MatrixProduct(scores.data(), v.at(b, shared), result.data(), q.length, n, v.size);
      for (int64_t i = 0; i < q.length; ++i) {
        const int64_t row =
            flat ? (b * q.length + i) * q.heads + h : (b * q.heads + h) * q.length + i;
        std::copy_n(result.begin() + i * v.size, v.size, y.data() + row * v.size);
      }
    }
  }
  ctx.Set(kY, y.Finish());
  if (ctx.wants(kScores)) ctx.Set(kScores, kept.Finish());
  return absl::OkStatus();
}

absl::Status EvalAttention(EvalContext& ctx) {
  X2IR_RETURN_IF_ERROR(CheckAttrs(ctx.attrs()));
  const int64_t rank = ctx.input(kQ).rank();
  if ((rank != 3 && rank != 4) || ctx.input(kK).rank() != rank || ctx.input(kV).rank() != rank) {
    return Invalid("expected queries, keys and values all of rank 3 or all of rank 4");
  }
  bool doubles = false;
  for (size_t i = kQ; i < ctx.num_inputs(); ++i) {
    if (i == kMask || i == kNonpad || !ctx.has(i)) continue;
    const DType dtype = ctx.dtype(i);
    if (!IsFloating(dtype)) return Unimplemented("evaluation of ", Name(dtype));
    if (i != kQ && dtype != ctx.dtype(i == kV || i == kPastValue ? kV : kQ)) {
      return Invalid("operands of different types");
    }
    doubles = doubles || dtype == DType::kFloat64;
  }
  if (ctx.num_inputs() > kMask && ctx.has(kMask) &&
      (ComputeTypeOf(ctx.dtype(kMask)) == ComputeType::kNone || IsComplex(ctx.dtype(kMask)))) {
    return Invalid("attn_mask of ", Name(ctx.dtype(kMask)));
  }
  X2IR_ASSIGN_OR_RETURN(const DType softmax_type, SoftmaxType(ctx.attrs(), ctx.dtype(kQ)));
  if (doubles || softmax_type == DType::kFloat64) return EvalAttentionAs<double>(ctx, softmax_type);
  return EvalAttentionAs<float>(ctx, softmax_type);
}

X2IR_OP(attention)
    .Signature(
        "q, k, v, attn_mask?, past_key?, past_value?, nonpad_kv_seqlen? -> y, present_key?, "
        "present_value?, qk_matmul_output?")
    .Attrs(
        "is_causal = 0, kv_num_heads: int?, left_window_size = -1, q_num_heads: int?, "
        "qk_matmul_output_mode = 0, right_window_size = -1, scale: float?, softcap = 0.0, "
        "softmax_precision: string?")
    .Functions(InferAttention, EvalAttention)
    .Opaque()
    .Heavy()
    .Doc(
        "Softmax(softcap(scale * q k^T) + bias) v, head by head, over past and new keys. Biases "
        "come from the mask (filled up with \"no\"), causality, windows around each query and the "
        "number of keys that count; a query that may look at nothing gives zeros.")
    .AllowsFloat16()
    .MultiplyAdds(WorkOfAttention)
    .Origins(OriginsOfAttention);

}  // namespace
}  // namespace x2ir
