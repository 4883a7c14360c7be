// PyTorch: the functions that a written file has of its own, and how it reads its weights.
#include "x2ir/formats/python/framework_internal.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::python {
namespace {

constexpr std::string_view kLoadFile = R"(
try:
    from safetensors.torch import load_file
except ImportError:
    import json
    import mmap

    def load_file(path):
        """The tensors of a safetensors file, mapped."""
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        start = 8 + int.from_bytes(data[:8], "little")
        kinds = {"BOOL": "bool", "BF": "bfloat", "F": "float", "I": "int", "U": "uint"}
        tensors = {}
        for name, entry in json.loads(data[8:start]).items():
            if name == "__metadata__":
                continue
            kind = entry["dtype"].rstrip("0123456789")
            dtype = getattr(torch, kinds[kind] + entry["dtype"][len(kind) :])
            begin, end = (start + offset for offset in entry["data_offsets"])
            at = begin if begin < end else 0
            flat = torch.frombuffer(data, dtype=torch.uint8, offset=at)[: end - begin]
            tensors[name] = flat.view(dtype).reshape(entry["shape"])
        return tensors
)";

constexpr std::string_view kAttention = R"(

try:
    from torch.nn.functional import scaled_dot_product_attention
except ImportError:  # before PyTorch 2.0

    def scaled_dot_product_attention(query, key, value{attn_mask,is_causal|, attn_mask=None}{is_causal|, is_causal=False}{scale|, scale=None}{enable_gqa|, enable_gqa=False}):
?enable_gqa|        if enable_gqa:
?enable_gqa|            key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
?enable_gqa|            value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
?scale|        if scale is None:
        {scale|    }scale = query.shape[-1] ** -0.5
        scores = query * scale @ key.transpose(-2, -1)
?is_causal|        if is_causal:
?is_causal|            attn_mask = torch.ones_like(scores, dtype=torch.bool).tril()
?attn_mask,is_causal|        if attn_mask is None:
        {attn_mask,is_causal|    }return scores.softmax(-1) @ value
?attn_mask|        if attn_mask.dtype != torch.bool:
?attn_mask|            return (scores + attn_mask).softmax(-1) @ value
?attn_mask,is_causal|        weights = scores.masked_fill(~attn_mask, float("-inf")).softmax(-1)
?attn_mask,is_causal|        return weights.masked_fill(~attn_mask, 0.0) @ value
)";

constexpr std::string_view kTopK = R"(

def topk(x, k, dim=-1, largest=True):
    """As x.topk, but of equal elements the first ones come first."""
    values, indices = x.sort(dim=dim, descending=largest, stable=True)
    return values.narrow(dim, 0, k), indices.narrow(dim, 0, k)
)";

constexpr std::string_view kAffine = R"(

class Affine(nn.Module):
    """x @ weight + bias: as nn.Linear, but for the weight, which is [in, out]."""

    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(in_features, out_features))
        self.bias = nn.Parameter(torch.empty(out_features)) if bias else None

    def forward(self, x):
        x = x @ self.weight
        return x if self.bias is None else x + self.bias
)";

constexpr std::string_view kRmsNorm = R"(

try:
    from torch.nn.functional import rms_norm
except ImportError:  # before PyTorch 2.4

    def rms_norm(x, normalized_shape, weight=None, eps=None):
        if eps is None:
            eps = torch.finfo(x.dtype).eps
        dims = tuple(range(-len(normalized_shape), 0))
        x = x * (x.square().mean(dims, keepdim=True) + eps).rsqrt()
        return x if weight is None else x * weight
)";

constexpr Helper kPyTorchHelpers[] = {
    {"scaled_dot_product_attention", kAttention},
    {"rms_norm", kRmsNorm},
    {"topk", kTopK},
    {"inserted", kInserted},
    {"erased", kErased},
    {"Affine", kAffine},
};

}  // namespace

std::string Framework::TypeName(DType t) const {
  const std::string_view type = DTypeName(t);
  if (type.empty() || !Has(StrCat("torch.", type))) return "";
  return StrCat(package, ".", type);
}

const Framework& PyTorch() {
  static const Framework kPyTorch = {
      .name = "PyTorch",
      .module = "torch",
      .package = "torch",
      .rows = {},
      .forms = {},
      .helpers = kPyTorchHelpers,
      .standard_imports = "",
      .other_imports = "",
      .load_file = kLoadFile,
      .transposed = ".t()",
      .set_weights =
          "        for name, weight in weights.items():\n"
          "            module, _, leaf = name.rpartition(\".\")\n"
          "            getattr(model.get_submodule(module), leaf).data = weight\n",
      .freeze = "        model.requires_grad_(False)\n",
  };
  return kPyTorch;
}

}  // namespace x2ir::python
