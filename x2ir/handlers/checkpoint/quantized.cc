#include "x2ir/handlers/checkpoint/quantized.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include "x2ir/builder/arrays.h"
#include "x2ir/graph_wrapper/residency.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/checkpoint/quantized_parts.h"
#include "x2ir/ops/eval.h"

namespace x2ir::checkpoint {
namespace {

constexpr char kConfig[] = "quantization_config";

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// What a method makes of a tensor, where its name says that a matrix is stored around it.
struct Form {
  std::string_view suffix;  // of the tensor's name; what is before it names the layer
  std::function<QuantizedWeight(StoredParts& parts)> read;
};

// How checkpoints are made, and which kernels use them.
void IgnoreMaking(Settings& s) {
  s.Ignore({"act_group_aware",
            "backend",
            "batch_size",
            "block_name_to_quantize",
            "cache_block_outputs",
            "damp_auto_increment",
            "damp_percent",
            "dataset",
            "desc_act",
            "disable_exllama",
            "do_fuse",
            "exllama_config",
            "fuse_max_seq_len",
            "lm_head",
            "max_input_length",
            "meta",
            "model_file_base_name",
            "model_name_or_path",
            "model_seqlen",
            "module_name_preceding_first_block",
            "modules_in_block_to_quantize",
            "modules_to_fuse",
            "modules_to_not_convert",
            "mse",
            "pad_token_id",
            "quantizer",
            "static_groups",
            "sym",
            "tokenizer",
            "true_sequential",
            "use_cuda_fp16",
            "use_exllama"});
}

int64_t GroupOf(Settings& s, std::string_view names) {
  const int64_t group = s.Int(names, 128);
  if (group != -1 && (group < 1 || group > (1 << 24))) {
    Broken("config.json: '", kConfig, ".group_size' is ", group);
  }
  return group;
}

std::vector<Form> Gptq(Settings& s) {
  Packing packing;
  const int64_t bits = s.Int("bits");
  if (bits != 2 && bits != 3 && bits != 4 && bits != 8) {
    Refuse("config.json: '", kConfig, ".bits' is ", bits, "; 2, 3, 4 and 8 are supported");
  }
  packing.bits = static_cast<int>(bits);
  packing.group = GroupOf(s, "group_size");
  // Other settings for some layers; what is stored says which.
  packing.by_layer = s.Has("dynamic") && s.Raw("dynamic").members().size() > 0;
  const std::string format = Lower(s.Text("checkpoint_format|format", "gptq"));
  if (format != "gptq" && format != "gptq_v2") {
    Refuse("config.json: '", kConfig, ".checkpoint_format' is '", format,
           "'; gptq and gptq_v2 are supported");
  }
  packing.zero_less_one = format == "gptq";
  s.Only("pack_dtype", "int32");
  s.Only("is_marlin_format", false);
  IgnoreMaking(s);
  return {{".qweight", [packing](StoredParts& parts) { return GptqMatrix(parts, packing); }}};
}

std::vector<Form> Awq(Settings& s) {
  Packing packing;
  if (const int64_t bits = s.Int("bits|w_bit", 4); bits != 4) {
    Refuse("config.json: '", kConfig, ".bits' is ", bits, "; AWQ has 4");
  }
  packing.group = GroupOf(s, "group_size|q_group_size");
  const std::string version = Lower(s.Text("version|format", "gemm"));
  const std::string backend = Lower(s.Text("backend", "auto"));
  if (version != "gemm" || backend == "llm-awq") {
    Refuse("config.json: '", kConfig, ".version' is '", version == "gemm" ? backend : version,
           "'; gemm is supported");
  }
  s.Only("zero_point", true);
  IgnoreMaking(s);
  return {{".qweight", [packing](StoredParts& parts) { return AwqMatrix(parts, packing); }}};
}

std::vector<Form> BitsAndBytes(Settings& s) {
  s.Ignore({"_load_in_4bit", "_load_in_8bit", "load_in_4bit", "load_in_8bit",
            "bnb_4bit_compute_dtype", "bnb_4bit_quant_storage", "bnb_4bit_quant_type",
            "bnb_4bit_use_double_quant", "llm_int8_enable_fp32_cpu_offload",
            "llm_int8_has_fp16_weight", "llm_int8_skip_modules", "llm_int8_threshold"});
  std::vector<Form> forms = {{".SCB", RowwiseInt8Matrix}};
  for (const char* type : {"nf4", "fp4"}) {
    const std::string state = StrCat("weight.quant_state.bitsandbytes__", type);
    forms.push_back({type == std::string_view("nf4") ? ".weight.quant_state.bitsandbytes__nf4"
                                                     : ".weight.quant_state.bitsandbytes__fp4",
                     [state](StoredParts& parts) { return TableOf16Matrix(parts, state); }});
  }
  return forms;
}

std::vector<Form> Float8(Settings& s) {
  const std::vector<int64_t> block = s.Ints("weight_block_size");
  if (!block.empty() && (block.size() != 2 || std::min(block[0], block[1]) < 1 ||
                         std::max(block[0], block[1]) > (1 << 24))) {
    Broken("config.json: '", kConfig, ".weight_block_size' is ",
           s.Raw("weight_block_size").ToString().substr(0, 100));
  }
  s.Only("fmt", "e4m3");
  s.Ignore({"activation_scale_ub", "dequantize", "ignored_layers", "modules_to_not_convert",
            "scale_fmt"});
  const auto read = [rows = block.empty() ? 0 : block[0], columns = block.empty() ? 0 : block[1]](
                        StoredParts& parts) { return Float8Matrix(parts, rows, columns); };
  return {{".weight_scale_inv", read}, {".weight_scale", read}};
}

Scheme SchemeOfWeights(Settings& s) {
  Scheme scheme;
  const int64_t bits = s.Int("num_bits", 8);
  const std::string type = s.Text("type", "int");
  scheme.is_float = type == "float";
  const bool known = type == "int" ? bits >= 2 && bits <= 8 : scheme.is_float && bits == 8;
  if (!known) Refuse("config.json: weights of ", bits, " bits of '", type, "' are not supported");
  scheme.bits = static_cast<int>(bits);
  const int64_t group = s.Int("group_size", -1);
  const std::string strategy = s.Text("strategy", group > 0 ? "group" : "tensor");
  if (strategy == "tensor") {
    scheme.kind = Scheme::kTensor;
  } else if (strategy == "channel" || (strategy == "group" && group == -1)) {
    scheme.kind = Scheme::kChannel;
  } else if (strategy == "group") {
    scheme.kind = Scheme::kGroup;
    scheme.group = group;
    if (group < 1 || group > (1 << 24)) Broken("config.json: a group of ", group, " weights");
  } else if (strategy == "block") {
    const std::vector<int64_t> block = s.Ints("block_structure");
    if (block.size() != 2 || std::min(block[0], block[1]) < 1 ||
        std::max(block[0], block[1]) > (1 << 24)) {
      Broken("config.json: 'block_structure' is not two sizes");
    }
    scheme.kind = Scheme::kBlock;
    scheme.block_rows = block[0];
    scheme.block_columns = block[1];
  } else {
    Refuse("config.json: weights quantized by '", strategy, "' are not supported");
  }
  s.Only("dynamic", false);
  s.Ignore({"symmetric", "actorder", "observer", "observer_kwargs", "block_structure",
            "scale_dtype", "zp_dtype"});
  return scheme;
}

std::vector<Form> Compressed(Settings& s, bool* activations) {
  std::vector<Scheme> schemes;
  Settings& groups = s.Nested("config_groups");
  for (const auto& [name, group] : s.Raw("config_groups").members()) {
    Settings& one = groups.Nested(name);
    one.Ignore({"targets", "format"});
    for (const char* of_what : {"input_activations", "output_activations"}) {
      *activations |= one.Has(of_what);
    }
    if (one.Has("weights")) schemes.push_back(SchemeOfWeights(one.Nested("weights")));
  }
  *activations |= s.Has("kv_cache_scheme") && s.Raw("kv_cache_scheme").members().size() > 0;
  const std::string format = s.Text("format", "dense");
  constexpr std::string_view kFormats[] = {"dense",           "pack-quantized",  "int-quantized",
                                           "float-quantized", "naive-quantized", "mixed-precision"};
  if (std::find(std::begin(kFormats), std::end(kFormats), format) == std::end(kFormats)) {
    Refuse("config.json: '", kConfig, ".format' is '", format, "', which is not supported");
  }
  for (const char* other : {"sparsity_config", "transform_config"}) {
    const Json& is = s.Raw(other);
    if (is.members().size() > 0 && is["format"].text() != "dense") {
      Refuse("config.json: '", kConfig, ".", other, "' is not supported");
    }
  }
  s.Only("quantization_status", "compressed");
  s.Ignore({"global_compression_ratio", "ignore", "run_compressed", "version"});
  return {{".weight_scale",
           [schemes](StoredParts& parts) { return CompressedMatrix(parts, schemes); }}};
}

bool IsZero(const Tensor& tensor) {
  if (!IsNumeric(tensor.dtype()) || IsComplex(tensor.dtype()) || tensor.is_sparse()) return false;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (tensor.AsDouble(i) != 0) return false;
  }
  return true;
}

}  // namespace

// EXPERTS.NAME_blocks: of all experts, whose weights are EXPERTS.0.NAME.weight and so on.
void Quantized::ReadStacks(const Checkpoint& checkpoint) {
  constexpr std::string_view kBlocks = "_blocks";
  for (const auto& [full, tensor] : checkpoint.tensors) {
    if (!full.ends_with(kBlocks)) continue;
    const std::string stack = full.substr(0, full.size() - kBlocks.size());
    const size_t dot = stack.rfind('.');
    const std::string prefix = dot == stack.npos ? "" : stack.substr(0, dot + 1);
    const std::string name = stack.substr(prefix.size());
    StoredParts parts(checkpoint, prefix);
    int64_t expert = 0;
    for (QuantizedWeight& weight : Mxfp4Matrices(parts, name)) {
      weights_.emplace(StrCat(prefix, expert++, ".", name, ".weight"), std::move(weight));
    }
  }
}

bool Quantized::IsIn(const Json& config) {
  return config.Has(kConfig) || config.Has("compression_config");
}

Quantized::Quantized(Settings& settings, const Program& program,
                     std::vector<std::string>& warnings) {
  Settings& s = settings.Nested("quantization_config|compression_config");
  const bool is_bnb = s.Has("load_in_4bit|load_in_8bit");
  const std::string method =
      Lower(s.Text("quant_method", is_bnb ? "bitsandbytes" : "compressed-tensors"));
  bool activations = false;
  std::vector<Form> forms;
  if (method == "gptq") {
    forms = Gptq(s);
  } else if (method == "awq") {
    forms = Awq(s);
  } else if (method == "bitsandbytes") {
    forms = BitsAndBytes(s);
  } else if (method == "fp8" || method == "fbgemm_fp8") {
    forms = Float8(s);
    activations = s.Text("activation_scheme", "dynamic") != "none";
  } else if (method == "compressed-tensors") {
    forms = Compressed(s, &activations);
  } else if (method == "mxfp4") {
    s.Ignore({"dequantize", "modules_to_not_convert"});
    ReadStacks(program.weights);
  } else {
    Refuse("config.json: '", kConfig, ".quant_method' is '", method,
           "'; those that are supported: awq, bitsandbytes, compressed-tensors, fbgemm_fp8, fp8, "
           "gptq, mxfp4");
  }
  for (const auto& [name, tensor] : program.weights.tensors) {
    for (const Form& form : forms) {
      if (!name.ends_with(form.suffix)) continue;
      const std::string layer = name.substr(0, name.size() - form.suffix.size());
      const std::string weight = StrCat(layer, ".weight");
      if (weights_.contains(weight)) continue;
      StoredParts parts(program.weights, StrCat(layer, "."));
      weights_.emplace(weight, form.read(parts));
      activations |= form.suffix == ".SCB";
      const std::string bias = StrCat(layer, ".bias");
      const Tensor* shift = form.suffix == ".qweight" ? program.weights.Find(bias) : nullptr;
      if (shift && IsZero(*shift)) unused_.push_back(bias);
    }
  }
  if (!activations) return;
  for (const char* part : {"input_scale", "output_scale", "input_zero_point", "output_zero_point",
                           "k_scale", "v_scale", "q_scale", "input_scale_ub", "activation_scale"}) {
    unused_.push_back(StrCat("*.", part));
  }
  warnings.push_back(
      StrCat("the checkpoint's library quantizes activations, too, by '", kConfig,
             "'; the graph has the quantized weights and computes with activations as they are"));
}

const QuantizedWeight* Quantized::Find(std::string_view name) const {
  const auto found = weights_.find(name);
  return found == weights_.end() ? nullptr : &found->second;
}

absl::StatusOr<Tensor> DequantizedMatrix(const QuantizedWeight& weight, DType type) {
  Graph alone;
  Builder b(alone, nullptr);
  alone.AddOutput(weight.make(b, "weight").To(type));
  X2IR_RETURN_IF_ERROR(b.status());
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> results, RunGraph(alone, {}));
  return Spilled(*results[0].tensor());
}

Expr InOrder(const Expr& weight, const std::vector<int64_t>& order) {
  if (order.empty()) return weight;
  std::vector<int64_t> place(order.size());
  for (size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<int64_t>(k);
  return Gather(weight, weight.builder().Ints(place), 1);
}

}  // namespace x2ir::checkpoint
