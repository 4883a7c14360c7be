// OneFlow: the differences of its Python from PyTorch's. A table of facts (facts/oneflow-names.txt)
// has its names; this file has all other differences.
#include <algorithm>

#include "x2ir/formats/python/framework_internal.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::python {
namespace {

constexpr std::string_view kNames[] = {
#include "x2ir_oneflow_schema_data.inc"
};

// "flow.cat(inputs, dim)" under the name that PyTorch's package would have.
const Framework::Arguments* FindName(std::string_view name) {
  static const auto* table = [] {
    auto* all = new StringMap<Framework::Arguments>;
    for (const std::string_view line : kNames) {
      const size_t open = std::min(line.find('('), line.size());
      Framework::Arguments arguments;
      arguments.known = open != line.size();
      std::string_view list = line.substr(open);
      while (list.size() > 2) {
        list.remove_prefix(1);
        const size_t end = std::min(list.find_first_of(",)"), list.size());
        std::string_view argument = list.substr(0, end);
        while (argument.starts_with(' ')) argument.remove_prefix(1);
        arguments.names.push_back(argument);
        list.remove_prefix(end);
      }
      all->emplace(StrCat("torch", line.substr(4, open - 4)), std::move(arguments));
    }
    return all;
  }();
  const auto it = table->find(name);
  return it == table->end() ? nullptr : &it->second;
}

// Where OneFlow has another function, other arguments, or the same name for something else.
constexpr CallText kOneFlowRows[] = {
    // x % y has the sign of x, as fmod; x // y of integers rounds to zero; & and | are logical.
    {"aten::remainder.Tensor", "remainder(self, other)"},
    {"aten::floor_divide.default", "floor_divide(self, other)"},
    {"aten::bitwise_and.Tensor", "torch.bitwise_and(self, other)"},
    {"aten::bitwise_or.Tensor", "torch.bitwise_or(self, other)"},
    {"aten::bitwise_xor.Tensor", "torch.bitwise_xor(self, other)"},
    {"aten::bitwise_not.default", "torch.bitwise_not(self)"},
    {"aten::logical_not.default", "torch.logical_not(self)"},
    {"aten::bitwise_left_shift.Tensor", ""},
    {"aten::bitwise_right_shift.Tensor", ""},
    {"aten::isneginf.default", "{self} == float(\"-inf\")", kComparison},
    {"aten::isposinf.default", "{self} == float(\"inf\")", kComparison},
    {"aten::positive.default", "{self}"},
    {"aten::view.dtype", ""},  // its view is of a shape
    // Arguments without a default.
    {"aten::leaky_relu.default", "F.leaky_relu(self, negative_slope+=0.01)"},
    {"aten::elu.default", "F.elu(self, alpha+=1.0)"},
    {"aten::hardtanh.default", "F.hardtanh(self, min_val+=-1.0, max_val+=1.0)"},
    // Functions that it lacks, as functions of the file.
    {"aten::instance_norm.default",
     "instance_norm(input, weight=None, bias=None, eps=1e-05) ; running_mean running_var "
     "use_input_stats momentum cudnn_enabled"},
    {"aten::group_norm.default",
     "group_norm(input, num_groups, weight=None, bias=None, eps=1e-05) ; cudnn_enabled"},
    {"aten::native_layer_norm.default",
     "native_layer_norm(input, normalized_shape, weight, bias, eps)"},
    {"aten::pixel_shuffle.default",
     "torch._C.pixel_shuffle({self}, {upscale_factor}, {upscale_factor})"},
    {"aten::pixel_unshuffle.default", "pixel_unshuffle(self, downscale_factor)"},
    {"aten::rand_like.default", "rand_like(self, dtype=None)"},
    {"aten::sort.stable", "sort(self, dim=-1, descending=False) ; stable"},
    // Functions where PyTorch has methods, and functions of other places.
    {"aten::flip.default", "torch.flip(self, dims)"},
    {"aten::prod.dim_int", "torch.prod(self, dim, keepdim=False, dtype=None)"},
    {"aten::scatter.value", "torch.scatter(self, dim, index, value)"},
    {"aten::scatter.src", "torch.scatter(self, dim, index, src)"},
    {"aten::linalg_det.default", "torch.det(A)"},
    // Places are int32 unless it is told otherwise.
    {"aten::nonzero.default", "torch.nonzero({self}).to(torch.int64)"},
    {"aten::_unique2.default",
     "torch.unique({self}, return_inverse=True, return_counts=True, dtype=torch.int64) ; sorted "
     "return_inverse return_counts"},
    {"aten::unique_dim.default", ""},
};

absl::Status OneFlowLacks(const Call& call, std::string_view what) {
  return CannotExpress("OneFlow has no ", what, " (", call.op, ")");
}

bool Is(const Call& call, std::string_view name, const Item& item) {
  const Argument* argument = call.Find(name);
  return argument && argument->items.size() == 1 && argument->items[0] == item;
}

// A sum has the type that OneFlow gives it: of integers int64.
absl::StatusOr<Expr> SpellSum(const Call& call, const CallContext& context) {
  Call sum = call;
  sum.Erase("dtype");
  const Argument* argument = call.Find("dtype");
  const DType* dtype =
      argument && argument->items.size() == 1 ? std::get_if<DType>(&argument->items[0]) : nullptr;
  X2IR_ASSIGN_OR_RETURN(Expr text, TextOfUsualCall(sum, context));
  if (!dtype) return text;
  const Value* self = call.Tensor("self");
  const bool same = self && self->dtype() == *dtype;
  if (!same || (IsInteger(*dtype) && *dtype != DType::kInt64)) {
    text = {StrCat(text.text, ".to(", context.framework->TypeName(*dtype), ")")};
  }
  if (!same && self && IsFloating(*dtype)) {
    return OneFlowLacks(call, "sum with 'dtype'");
  }
  return text;
}

// It clamps to numbers alone.
absl::StatusOr<Expr> SpellClamp(const Call& call, const CallContext& context) {
  const auto text = [&](std::string_view name) {
    return TextOfArgument(*call.Find(name), context).text;
  };
  std::string out = text("self");
  for (const auto& [bound, function] :
       {std::pair<std::string_view, std::string_view>("min", "maximum"), {"max", "minimum"}}) {
    if (call.IsNone(bound)) continue;
    out = StrCat(context.framework->package, ".", function, "(", out, ", ", text(bound), ")");
  }
  return Expr{std::move(out)};
}

absl::StatusOr<Expr> SpellPad(const Call& call, const CallContext& context) {
  const std::vector<int64_t> pad = call.Ints("pad");
  const bool constant = call.op == "aten::constant_pad_nd.default" || call.IsNone("mode") ||
                        Is(call, "mode", std::string("constant"));
  if (Is(call, "mode", std::string("circular"))) return OneFlowLacks(call, "circular padding");
  if (!constant && pad.size() > 4) return OneFlowLacks(call, "such padding of three axes");
  if (std::any_of(pad.begin(), pad.end(), [](int64_t n) { return n < 0; })) {
    return OneFlowLacks(call, "padding of less than nothing");
  }
  return TextOfUsualCall(call, context);
}

absl::StatusOr<Expr> SpellMaxPool(const Call& call, const CallContext& context) {
  Call pool = call;
  pool.op.replace(pool.op.find("_with_indices"), 13, "");
  X2IR_ASSIGN_OR_RETURN(Expr text, TextOfUsualCall(pool, context));
  text.text.pop_back();
  return Expr{StrCat(text.text, ", return_indices=True)")};
}

absl::StatusOr<Expr> SpellScatterReduce(const Call& call, const CallContext& context) {
  const bool adds = Is(call, "reduce", std::string("sum"));
  if ((!adds && !Is(call, "reduce", std::string("prod"))) || Is(call, "include_self", false)) {
    return OneFlowLacks(call, "scatter_reduce of that kind");
  }
  Call scatter = call;
  scatter.Erase("include_self");
  scatter.Erase("reduce");
  scatter.op = "aten::scatter_add.default";
  if (adds) return TextOfUsualCall(scatter, context);
  constexpr CallText kMultiply = {
      "", "torch.scatter({self}, {dim}, {index}, {src}, reduce=\"multiply\")"};
  return TextOfRow(kMultiply, scatter, context);
}

absl::StatusOr<Expr> SpellPut(const Call& call, const CallContext& context) {
  const Argument *indices = call.Find("indices"), *values = call.Find("values");
  if (!indices || !values) return Unimplemented(call.op, " without indices");
  if (Is(call, "accumulate", true)) return OneFlowLacks(call, "index_put with 'accumulate'");
  std::vector<std::string> parts;
  for (const Item& item : indices->items) {
    if (std::holds_alternative<None>(item)) return Unimplemented(call.op, " of some axes");
    parts.push_back(TextOfArgument({"", {item}, false}, context).text);
  }
  return Expr{StrCat("index_put(", TextOfArgument(*call.Find("self"), context).text, ", ",
                     Tuple(parts), ", ", TextOfArgument(*values, context).text, ")")};
}

absl::StatusOr<Expr> SpellGridSample(const Call& call, const CallContext& context) {
  constexpr std::string_view kModes[] = {"bilinear", "nearest", "bicubic"};
  constexpr std::string_view kPaddings[] = {"zeros", "border", "reflection"};
  const int64_t mode = call.Int("interpolation_mode", -1), padding = call.Int("padding_mode", -1);
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2) return Unimplemented(call.op);
  Call sample = call;
  sample.Set("interpolation_mode", std::string(kModes[mode]));
  sample.Set("padding_mode", std::string(kPaddings[padding]));
  constexpr CallText kSample = {
      "", "F.grid_sample(input, grid, mode!:interpolation_mode, padding_mode!, align_corners!)"};
  return TextOfRow(kSample, sample, context);
}

absl::StatusOr<Expr> SpellExact(const Call& call, const CallContext&) {
  return OneFlowLacks(call, "interpolation 'nearest-exact'");
}

absl::StatusOr<Expr> SpellRecurrentIn(const Call& call, const CallContext& context) {
  X2IR_ASSIGN_OR_RETURN(const Expr text, TextOfUsualCall(call, context));
  const size_t package = context.framework->package.size();
  return Expr{StrCat(text.text.substr(0, package), "._C", text.text.substr(package))};
}

constexpr CallForm kOneFlowForms[] = {
    {"aten::sum.dim_IntList", SpellSum},
    {"aten::clamp.Tensor", SpellClamp},
    {"aten::constant_pad_nd.default", SpellPad},
    {"aten::pad.default", SpellPad},
    {"aten::max_pool1d_with_indices.default", SpellMaxPool},
    {"aten::max_pool2d_with_indices.default", SpellMaxPool},
    {"aten::max_pool3d_with_indices.default", SpellMaxPool},
    {"aten::scatter_reduce.two", SpellScatterReduce},
    {"aten::index_put.default", SpellPut},
    {"aten::grid_sampler.default", SpellGridSample},
    {"aten::_upsample_nearest_exact1d.vec", SpellExact},
    {"aten::_upsample_nearest_exact2d.vec", SpellExact},
    {"aten::_upsample_nearest_exact3d.vec", SpellExact},
    {"aten::lstm.input", SpellRecurrentIn},
    {"aten::gru.input", SpellRecurrentIn},
    {"aten::rnn_tanh.input", SpellRecurrentIn},
    {"aten::rnn_relu.input", SpellRecurrentIn},
};

constexpr Helper kOneFlowHelpers[] = {
    {"inserted", kInserted},
    {"erased", kErased},
    {"scaled_dot_product_attention", R"(

def scaled_dot_product_attention(query, key, value{attn_mask,is_causal|, attn_mask=None}{is_causal|, is_causal=False}{scale|, scale=None}{enable_gqa|, enable_gqa=False}):
?enable_gqa|    if enable_gqa:
?enable_gqa|        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
?enable_gqa|        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
?scale|    if scale is None:
    {scale|    }scale = query.shape[-1] ** -0.5
    scores = flow.matmul(query * scale, key.transpose(-2, -1))
?is_causal|    if is_causal:
?is_causal|        attn_mask = flow.ones_like(scores).tril() != 0
?attn_mask,is_causal|    if attn_mask is None:
    {attn_mask,is_causal|    }return flow.matmul(scores.softmax(-1), value)
?attn_mask|    if attn_mask.dtype != flow.bool:
?attn_mask|        return flow.matmul((scores + attn_mask).softmax(-1), value)
?attn_mask,is_causal|    hidden = flow.logical_not(attn_mask)
?attn_mask,is_causal|    weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
?attn_mask,is_causal|    return flow.matmul(weights.masked_fill(hidden, 0.0), value)
)"},
    {"rms_norm", R"(

def rms_norm(x, normalized_shape, weight=None, eps=None):
    if eps is None:
        eps = {flow.float64: 2**-52, flow.float16: 2**-10}.get(x.dtype, 2**-23)
    dims = tuple(range(-len(normalized_shape), 0))
    x = x * (x.square().mean(dims, keepdim=True) + eps).rsqrt()
    return x if weight is None else x * weight
)"},
    {"instance_norm", R"(

def instance_norm(x, weight=None, bias=None, eps=1e-05):
    return group_norm(x, x.shape[1], weight, bias, eps)
)"},
    {"group_norm", R"(

def group_norm(x, num_groups, weight=None, bias=None, eps=1e-05):
    groups = x.reshape(x.shape[0], num_groups, -1)
    groups = groups - groups.mean(-1, keepdim=True)
    groups = groups * (groups.square().mean(-1, keepdim=True) + eps).rsqrt()
    channels = (1, -1) + (1,) * (len(x.shape) - 2)
    x = groups.reshape(*x.shape)
    if weight is not None:
        x = x * weight.reshape(*channels)
    return x if bias is None else x + bias.reshape(*channels)
)"},
    {"native_layer_norm", R"(

def native_layer_norm(x, normalized_shape, weight, bias, eps):
    """The normalized values, the mean, and one over the standard deviation."""
    dims = tuple(range(-len(normalized_shape), 0))
    mean = x.mean(dims, keepdim=True)
    rstd = ((x - mean).square().mean(dims, keepdim=True) + eps).rsqrt()
    return F.layer_norm(x, normalized_shape, weight, bias, eps), mean, rstd
)"},
    {"pixel_unshuffle", R"(

def pixel_unshuffle(x, factor):
    b, c, h, w = x.shape
    x = x.reshape(b, c, h // factor, factor, w // factor, factor)
    x = x.permute(0, 1, 3, 5, 2, 4)
    return x.reshape(b, c * factor * factor, h // factor, w // factor)
)"},
    {"rand_like", R"(

def rand_like(x, dtype=None):
    return flow.rand(*x.shape, dtype=dtype or x.dtype, device=x.device)
)"},
    {"index_put", R"(

def index_put(x, indices, values):
    x = x.clone()
    x[indices] = values
    return x
)"},
    {"topk", R"(

def topk(x, k, dim=-1, largest=True):
    """As x.topk, but of equal elements the first ones come first."""
    values, indices = sort(x, dim=dim, descending=largest)
    return values.narrow(dim, 0, k), indices.narrow(dim, 0, k)
)"},
    {"sort", R"(

def sort(x, dim=-1, descending=False):
    values, indices = flow.sort(x, dim=dim, descending=descending)
    return values, indices.to(flow.int64)
)"},
    {"floor_divide", R"(

def floor_divide(x, y):
    """As Python's x // y: of integers OneFlow's rounds to zero."""
    quotient = flow.div(x - remainder(x, y), y)
    return flow.round(quotient).to(x.dtype)
)"},
    {"remainder", R"(

def remainder(x, y):
    """With the sign of y, as Python's x % y: OneFlow's is fmod."""
    rest = flow.fmod(x, y)
    return flow.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)
)"},
    {"Affine", R"(

class Affine(nn.Module):
    """x @ weight + bias: as nn.Linear, but for the weight, which is [in, out]."""

    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.weight = nn.Parameter(flow.empty(in_features, out_features))
        self.bias = nn.Parameter(flow.empty(out_features)) if bias else None

    def forward(self, x):
        x = flow.matmul(x, self.weight)
        return x if self.bias is None else x + self.bias
)"},
};

constexpr std::string_view kLoadArrays = R"(

def load_file(path):
    """The tensors of a safetensors file."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    dtypes = {
        "F64": "<f8",
        "F32": "<f4",
        "F16": "<f2",
        "BF16": "<u2",
        "I64": "<i8",
        "I32": "<i4",
        "I8": "i1",
        "U8": "u1",
        "BOOL": "?",
    }
    tensors = {}
    for name, entry in json.loads(data[8:start].tobytes()).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        array = np.array(data[start + begin : start + end]).view(dtypes[entry["dtype"]])
        if entry["dtype"] == "BF16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        tensor = flow.from_numpy(array.reshape(entry["shape"]))
        tensors[name] = tensor.to(flow.bfloat16) if entry["dtype"] == "BF16" else tensor
    return tensors
)";

}  // namespace

const Framework& OneFlow() {
  static const Framework kOneFlow = {
      .name = "OneFlow",
      .module = "oneflow",
      .package = "flow",
      .rows = kOneFlowRows,
      .forms = kOneFlowForms,
      .helpers = kOneFlowHelpers,
      .standard_imports = "import json\n",
      .other_imports = "import numpy as np\n",
      .load_file = kLoadArrays,
      .transposed = ".t().contiguous()",
      .set_weights = "        model.load_state_dict(weights, strict=False)\n",
      .freeze =
          "        for parameter in model.parameters():\n"
          "            parameter.requires_grad_(False)\n",
      .find = FindName,
  };
  return kOneFlow;
}

}  // namespace x2ir::python
