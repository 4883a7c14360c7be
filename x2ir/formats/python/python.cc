#include "x2ir/formats/python/python.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "x2ir/formats/io/side_file.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/python/classes_internal.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace python {
namespace {

constexpr std::string_view kMadeFor = "x2ir.python";  // metadata: the file that the weights are of
constexpr std::string_view kSourceName = "x2ir.name.";

std::string FileName(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// The size of an axis where an example is made.
int64_t ExampleSize(const Dim& dim) { return dim.is_static() ? dim.value() : 8; }

std::string Example(const Type& type) {
  std::vector<std::string> dims;
  const Shape* shape = type.shape();
  for (int64_t i = 0; shape && i < shape->rank(); ++i)
    dims.push_back(StrCat(ExampleSize((*shape)[i])));
  const std::string size = dims.empty() ? "()" : absl::StrJoin(dims, ", ");
  const std::string_view dtype = DTypeName(type.dtype());
  if (type.dtype() == DType::kBool) return StrCat("torch.ones(", size, ", dtype=torch.bool)");
  if (IsFloating(type.dtype())) {
    return type.dtype() == DType::kFloat32 ? StrCat("torch.rand(", size, ")")
                                           : StrCat("torch.rand(", size, ").to(", dtype, ")");
  }
  return StrCat("torch.randint(0, 2, ", dims.empty() ? "()" : Tuple(dims),
                type.dtype() == DType::kInt64 ? "" : StrCat(", dtype=", dtype), ")");
}

constexpr std::string_view kLoadFile = R"(try:
    from safetensors.torch import load_file
except ImportError:
    import json
    import mmap

    def load_file(path):
        """The tensors of a safetensors file, mapped."""
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        start = 8 + int.from_bytes(data[:8], "little")
        dtypes = {
            "BOOL": "bool",
            "BF16": "bfloat16",
            "F": "float",
            "I": "int",
            "U": "uint",
            "C": "complex",
        }
        tensors = {}
        for name, entry in json.loads(data[8:start]).items():
            if name == "__metadata__":
                continue
            code = entry["dtype"]
            dtype = getattr(torch, dtypes.get(code) or dtypes[code[0]] + code[1:])
            begin, end = entry["data_offsets"]
            if begin == end:
                tensors[name] = torch.empty(entry["shape"], dtype=dtype)
                continue
            flat = torch.frombuffer(data, dtype=torch.uint8, offset=start + begin)
            flat = flat[: end - begin].view(dtype)
            tensors[name] = flat.reshape(entry["shape"])
        return tensors
)";

constexpr std::string_view kAttention = R"(
try:
    from torch.nn.functional import scaled_dot_product_attention
except ImportError:  # before PyTorch 2.0

    def scaled_dot_product_attention(
        query, key, value, attn_mask=None, is_causal=False, scale=None, enable_gqa=False
    ):
        if enable_gqa:
            key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
            value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
        if scale is None:
            scale = query.shape[-1] ** -0.5
        scores = query * scale @ key.transpose(-2, -1)
        if is_causal:
            attn_mask = torch.ones_like(scores, dtype=torch.bool).tril()
        if attn_mask is None:
            return scores.softmax(-1) @ value
        if attn_mask.dtype != torch.bool:
            return (scores + attn_mask).softmax(-1) @ value
        weights = scores.masked_fill(~attn_mask, float("-inf")).softmax(-1)
        return weights.masked_fill(~attn_mask, 0.0) @ value
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

// The file's text.
class SourceWriter {
 public:
  SourceWriter(const Model& model, Program& program, const std::string& path,
               const PythonWriteOptions& options)
      : model_(model), p_(program), path_(path), options_(options) {}

  absl::StatusOr<std::string> Run() {
    NameOutputs();
    X2IR_ASSIGN_OR_RETURN(const ClassTexts texts,
                          WriteClasses(p_, outputs_, {.frozen = options_.frozen}));
    inputs_ = texts.inputs;
    std::string code;
    for (const std::string& text : texts.classes) StrAppend(&code, "\n\n", text);
    const bool weights = HasWeights();
    const bool several = outputs_.size() > 1;
    code += Load();
    std::string head = Docstring();
    if (weights) head += "from pathlib import Path\n";
    if (several) head += "from typing import NamedTuple\n";
    if (weights || several) head += "\n";
    head += "import torch\n";
    if (code.find("F.") != code.npos) head += "import torch.nn.functional as F\n";
    head += "from torch import nn\n";
    if (weights) StrAppend(&head, "\n", kLoadFile);
    for (const auto& [call, helper] : {std::pair("scaled_dot_product_attention(", kAttention),
                                       {"rms_norm(", kRmsNorm},
                                       {"topk(", kTopK},
                                       {"Affine(", kAffine}}) {
      if (Calls(code, call)) head += helper;
    }
    if (several) {
      head += "\n\nclass Outputs(NamedTuple):\n";
      for (const std::string& name : outputs_) StrAppend(&head, "    ", name, ": torch.Tensor\n");
    }
    return head + code + Main();
  }

 private:
  bool HasWeights() const {
    return std::any_of(p_.weights().begin(), p_.weights().end(),
                       [](const Weight& weight) { return !weight.literal; });
  }

  static bool Calls(const std::string& code, std::string_view call) {
    for (size_t at = code.find(call); at != code.npos; at = code.find(call, at + 1)) {
      const char before = code[at - 1];
      if (before == ' ' || before == '(' || before == '-' || before == '~' || before == '=') {
        return true;
      }
    }
    return false;
  }

  void NameOutputs() {
    Names names;
    for (const char* name : {"count", "index"}) names.Take(name);
    for (const Value* output : p_.graph().outputs()) {
      std::string name = Identifier(output->name(), "output");
      // A NamedTuple has no fields that begin so.
      if (name.starts_with('_')) name = StrCat("output", name);
      outputs_.push_back(names.Unique(name));
    }
  }

  std::string Docstring() const {
    std::string out = "\"\"\"A PyTorch module written by x2ir.\n\n";
    out += "    model = Model.load()\n";
    std::vector<std::string> names = inputs_;
    out += StrCat("    output = model(", absl::StrJoin(names, ", "), ")\n");
    if (out.size() > 2000 || LongestLine(out) > 88) {
      out = StrCat("\"\"\"A PyTorch module written by x2ir.\n\n    model = Model.load()\n");
    }
    return out + "\"\"\"\n\n";
  }
  static size_t LongestLine(std::string_view text) {
    size_t longest = 0, start = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
      if (i != text.size() && text[i] != '\n') continue;
      longest = std::max(longest, i - start);
      start = i + 1;
    }
    return longest;
  }

  std::string Load() const {
    if (!HasWeights()) {
      return "\n    @classmethod\n    def load(cls):\n"
             "        \"\"\"The model, which has no weights.\"\"\"\n"
             "        return cls().eval()\n";
    }
    const bool transposed = std::any_of(p_.weights().begin(), p_.weights().end(),
                                        [](const Weight& w) { return w.transposed; });
    const bool counts = std::any_of(p_.steps().begin(), p_.steps().end(), [](const auto& step) {
      return step->layer && step->layer->type.starts_with("nn.BatchNorm");
    });
    std::string out = StrCat(
        "\n    @classmethod\n    def load(cls, path=Path(__file__).with_name(",
        "WEIGHTS)):\n"
        "        \"\"\"The model with its weights, by default those beside this file.\"\"\"\n"
        "        model = cls()\n        weights = load_file(path)\n");
    if (transposed) {
      out +=
          "        for name in [name for name in weights if name.endswith(\".T\")]:\n"
          "            weights[name[:-2]] = weights.pop(name).t()\n";
    }
    out += counts ? "        missing = {\n"
                    "            name\n"
                    "            for name in model.state_dict().keys() ^ weights.keys()\n"
                    "            if not name.endswith(\"num_batches_tracked\")\n"
                    "        }\n"
                  : "        missing = model.state_dict().keys() ^ weights.keys()\n";
    out +=
        "        if missing:\n"
        "            raise ValueError(f\"{path}: other weights: {sorted(missing)[:5]}\")\n"
        "        for name, weight in weights.items():\n"
        "            module, _, leaf = name.rpartition(\".\")\n"
        "            getattr(model.get_submodule(module), leaf).data = weight\n";
    out += options_.frozen ? "        return model.requires_grad_(False).eval()\n"
                           : "        return model.eval()\n";
    return out;
  }

  std::string Main() const {
    std::string out = "\n\ndef example_inputs():\n    \"\"\"Random inputs, in order.\"\"\"\n";
    if (p_.graph().inputs().empty()) {
      out += "    return ()\n";
    } else {
      std::vector<std::string> examples;
      for (const Value* input : p_.graph().inputs()) examples.push_back(Example(input->type()));
      AppendLine(out, 1, StrCat("return ", Tuple(examples)));
    }
    out += "\n\nif __name__ == \"__main__\":\n";
    out += "    model = Model.load()\n";
    out += "    inputs = example_inputs()\n    with torch.no_grad():\n";
    out += "        outputs = model(*inputs)\n";
    out += "    for name, x in zip(INPUTS, inputs):\n";
    out += "        print(f\"input {name}: {x.dtype} {tuple(x.shape)}\")\n";
    out += outputs_.size() == 1 ? "    for name, x in zip(OUTPUTS, (outputs,)):\n"
                                : "    for name, x in zip(OUTPUTS, outputs):\n";
    out += "        print(f\"output {name}: {x.dtype} {tuple(x.shape)}\")\n";
    const auto names = [](const std::vector<std::string>& all) {
      std::vector<std::string> texts;
      for (const std::string& name : all) texts.push_back(StrCat("\"", name, "\""));
      return Tuple(texts);
    };
    std::string inputs, outputs;
    AppendLine(inputs, 0, StrCat("INPUTS = ", names(inputs_)));
    AppendLine(outputs, 0, StrCat("OUTPUTS = ", names(outputs_)));
    return StrCat("\n\n", inputs, outputs, out);
  }

  const Model& model_;
  Program& p_;
  const std::string& path_;
  const PythonWriteOptions& options_;
  std::vector<std::string> inputs_, outputs_;
};

absl::Status Write(const Model& model, const Sink& sink, const PythonWriteOptions& options) {
  X2IR_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, Program::Read(*model.graph));
  X2IR_RETURN_IF_ERROR(program->Arrange());
  const std::string& path = sink.name();
  const std::string weights_path = PythonWeightsPath(path);
  X2IR_ASSIGN_OR_RETURN(std::string text, SourceWriter(model, *program, path, options).Run());
  text = absl::StrReplaceAll(
      text, {{"WEIGHTS)):", StrCat(StringLiteral(FileName(weights_path)), ")):")}});
  std::vector<NamedTensor> tensors;
  SafetensorsMetadata metadata = {{std::string(kMadeFor), FileName(path)}, {"format", "pt"}};
  for (const Weight& weight : program->weights()) {
    if (weight.literal) continue;
    const std::string key = weight.transposed ? StrCat(weight.key, ".T") : weight.key;
    tensors.push_back({key, weight.tensor});
    if (weight.source && weight.source->name() != weight.key) {
      std::string name = weight.source->name();
      if (IsValidUtf8(name)) metadata.emplace_back(StrCat(kSourceName, key), std::move(name));
    }
  }
  X2IR_ASSIGN_OR_RETURN(AtomicFile source, sink.Create(path));
  X2IR_RETURN_IF_ERROR(source.Append(text));
  if (tensors.empty()) return source.Commit();
  if (sink.is_path() && !options.force) {
    X2IR_RETURN_IF_ERROR(CheckSideFile(weights_path, [&] {
      const auto old = ReadSafetensors(weights_path);
      if (!old.ok()) return false;
      return std::find(old->metadata.begin(), old->metadata.end(),
                       std::pair(std::string(kMadeFor), FileName(path))) != old->metadata.end();
    }));
  }
  X2IR_ASSIGN_OR_RETURN(AtomicFile weights, sink.Create(weights_path));
  X2IR_RETURN_IF_ERROR(AppendSafetensors(weights, tensors, metadata));
  AtomicFile* const files[] = {&weights, &source};
  return AtomicFile::CommitAll(files);
}

}  // namespace
}  // namespace python

absl::Status WritePython(const Model& model, const Sink& sink, const PythonWriteOptions& options) {
  return python::Write(model, sink, options);
}

std::string PythonWeightsPath(const std::string& path) {
  const std::string stem = path.ends_with(".py") ? path.substr(0, path.size() - 3) : path;
  return StrCat(stem, ".safetensors");
}

}  // namespace x2ir
