// Weights that a program lacks, or has others of, from checkpoints as Hugging Face keeps them.
#include "x2ir/core/edit/weights_from.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/torch_zip_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/safetensors/checkpoint.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using torch_zip::Entry;
using torch_zip::Meta;
using torch_zip::Zip;

using WeightsFrom = TempDirTest;

Tensor Floats(std::vector<float> values) {
  return Tensor::Of<float>({static_cast<int64_t>(values.size())}, values);
}

// y = x + head.weight + scale, where module `emb` adds the first: its own weight is the same.
std::string Program() {
  const std::string type = Meta(7, R"({"as_int": 2})");
  const auto node = [](const char* a, const char* b, const char* to, const char* module) {
    return StrCat(R"({"target": "torch.ops.aten.add.Tensor", "inputs": [
        {"name": "self", "arg": {"as_tensor": {"name": ")",
                  a, R"("}}}, {"name": "other", "arg": {"as_tensor": {"name": ")", b,
                  R"("}}}], "outputs": [{"as_tensor": {"name": ")", to,
                  R"("}}], "metadata": {"nn_module_stack": "L__self__,,Net;L,)", module,
                  R"(,M"}})");
  };
  std::string values;
  for (const char* name : {"p_emb", "p_head", "b_scale", "x", "sum", "y"}) {
    StrAppend(&values, values.empty() ? "" : ", ", "\"", name, "\": ", type);
  }
  return StrCat(R"({"graph_module": {"graph": {"inputs": [{"as_tensor": {"name": "p_emb"}},
      {"as_tensor": {"name": "p_head"}}, {"as_tensor": {"name": "b_scale"}},
      {"as_tensor": {"name": "x"}}], "outputs": [{"as_tensor": {"name": "y"}}], "nodes": [)",
                node("x", "p_head", "sum", "emb"), ", ", node("sum", "b_scale", "y", "out"),
                R"(], "tensor_values": {)", values,
                R"(}, "sym_int_values": {}, "sym_bool_values": {}}, "signature": {"input_specs": [
      {"parameter": {"arg": {"name": "p_emb"}, "parameter_name": "emb.weight"}},
      {"parameter": {"arg": {"name": "p_head"}, "parameter_name": "head.weight"}},
      {"buffer": {"arg": {"name": "b_scale"}, "buffer_name": "scale", "persistent": false}},
      {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
      "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "y"}}}}]}},
      "opset_version": {"aten": 10}, "schema_version": {"major": 8, "minor": 2}})");
}

std::string Config(const std::vector<std::pair<std::string, std::string>>& weights) {
  std::string config;
  for (const auto& [name, path] : weights) {
    StrAppend(&config, config.empty() ? "" : ", ", "\"", name, R"(": {"path_name": ")", path,
              R"(", "tensor_meta": {"dtype": 7, "sizes": [{"as_int": 2}],
              "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}}})");
  }
  return StrCat(R"({"config": {)", config, "}}");
}

constexpr char kConfig[] = "m/data/weights/model_weights_config.json";
constexpr char kConstants[] = "m/data/constants/model_constants_config.json";

enum class Has { kWeights, kEmptyStorage, kNoEntries, kNoConfig };
std::string Archive(Has has) {
  std::vector<Entry> entries = {{"m/archive_format", "pt2"},
                                {"m/models/model.json", Program()},
                                {"m/data/constants/scale", torch_zip::Floats({10, 20})},
                                {kConstants, Config({{"scale", "scale"}})}};
  switch (has) {
    case Has::kWeights:
      entries.push_back({"m/data/weights/weight_0", torch_zip::Floats({1, 2})});
      entries.push_back(
          {kConfig, Config({{"emb.weight", "weight_0"}, {"head.weight", "weight_0"}})});
      break;
    case Has::kEmptyStorage:  // as programs of fake tensors and of the device "meta" are saved
      entries.push_back({"m/data/weights/weight_0", ""});
      entries.push_back(
          {kConfig, Config({{"emb.weight", "weight_0"}, {"head.weight", "weight_0"}})});
      break;
    case Has::kNoEntries:
      entries.push_back(
          {kConfig, Config({{"emb.weight", "weight_0"}, {"head.weight", "weight_0"}})});
      break;
    case Has::kNoConfig: break;
  }
  return Zip().Make(entries);
}

TEST_F(WeightsFrom, ByTheNamesOfTheModule) {
  const Tensor a = Floats({3, 4}), b = Floats({5, 6}), scale = Floats({7, 8});
  struct Row {
    std::string what;
    std::vector<NamedTensor> tensors;
    std::vector<float> weights, scale;  // what the model then has; none: an error
    std::vector<std::string> says;
    SafetensorsMetadata metadata{};
  };
  const std::vector<float> old_scale = {10, 20};
  const Row rows[] = {
      {"its own name",
       {{"head.weight", a}},
       {3, 4},
       old_scale,
       {"1 weight from", "1 constant kept"}},
      {"the name that it shares",
       {{"emb.weight", a}},
       {3, 4},
       old_scale,
       {"'emb.weight' is also 'head.weight' (tied)"}},
      {"both names", {{"emb.weight", a}, {"head.weight", a}}, {3, 4}, old_scale, {}},
      {"both names, and two tensors",
       {{"emb.weight", a}, {"head.weight", b}},
       {},
       {},
       {"'head.weight' and 'emb.weight' are one weight in the model, but not in the checkpoint"}},
      {"a buffer as well", {{"head.weight", a}, {"scale", scale}}, {3, 4}, {7, 8}, {"2 weights"}},
      {"tensors that nobody needs",
       {{"head.weight", a}, {"other", b}},
       {3, 4},
       old_scale,
       {"1 tensor of ", "not used: 'other'"}},
      {"a prefix of the checkpoint",
       {{"model.head.weight", a}},
       {3, 4},
       old_scale,
       {"whose names have the prefix 'model.'"}},
      {"two prefixes",
       {{"a.head.weight", a}, {"b.head.weight", b}},
       {},
       {},
       {"the names of ", "match the model's with two different prefixes: 'a.', 'b.'"}},
      {"two prefixes, one with other types",
       {{"a.head.weight", a}, {"b.head.weight", Floats({1, 2, 3})}},
       {3, 4},
       old_scale,
       {"'a.'"}},
      {"with the prefix and without",
       {{"head.weight", a}, {"model.head.weight", b}},
       {3, 4},
       old_scale,
       {"not used: 'model.head.weight'"}},
      {"nothing", {{"other", a}}, {}, {}, {"lacks 1 weight of the model: 'head.weight'"}},
      {"another shape",
       {{"head.weight", Floats({1, 2, 3})}},
       {},
       {},
       {"'head.weight' is float32[2] in the model and float32[3] in the checkpoint"}},
      {"another element type",
       {{"head.weight", Tensor::Zeros(DType::kBFloat16, {2})}},
       {},
       {},
       {"'head.weight' is float32[2] in the model and bfloat16[2] in the checkpoint"}},
      {"a name that the checkpoint says is another",
       {{"kept", a}},
       {3, 4},
       old_scale,
       {"1 weight from"},
       {{"format", "pt"}, {"head.weight", "kept"}}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const std::string file = Path("c.safetensors");
    ASSERT_TRUE(WriteSafetensors(file, row.tensors, row.metadata).ok());
    for (const Has has : {Has::kWeights, Has::kEmptyStorage, Has::kNoEntries, Has::kNoConfig}) {
      WriteFile(Path("m.pt2"), Archive(has));
      Report report;
      const auto model = Import(Path("m.pt2"), {.weights_from = {file}}, &report);
      std::string said = std::string(model.status().message());
      for (const std::string& note : report.notes) said += note + "\n";
      for (const std::string& text : row.says) EXPECT_NE(said.find(text), said.npos) << said;
      ASSERT_EQ(model.ok(), !row.weights.empty()) << said;
      if (!model.ok()) {
        EXPECT_EQ(OptionOf(model.status()), "weights_from");
        continue;
      }
      EXPECT_EQ(model->graph->inputs().size(), 1u);
      const Node* first = std::as_const(*model->graph).first();
      EXPECT_EQ(*first->input(1)->constant(), Floats(row.weights));
      if (row.tensors[0].name != "kept") {
        EXPECT_TRUE(first->input(1)->constant()->file_range().has_value()) << "it stays mapped";
      }
      EXPECT_EQ(*first->next()->input(1)->constant(), Floats(row.scale));
    }
  }
}

TEST_F(WeightsFrom, WithoutThemTheErrorNamesAllAndTheOption) {
  for (const Has has : {Has::kEmptyStorage, Has::kNoEntries, Has::kNoConfig}) {
    WriteFile(Path("m.pt2"), Archive(has));
    const auto model = Import(Path("m.pt2"));
    EXPECT_EQ(model.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(model.status().message(),
              StrCat("the file lacks 1 weight of the model (", OptionText("weights_from"),
                     " names a checkpoint that has them): 'head.weight'"));
    EXPECT_TRUE(Load(Path("m.pt2")).ok()) << "what is there can be looked at";
  }
}

// Where nothing says what a weight is: what the checkpoint has not, stays.
TEST_F(WeightsFrom, OfAnyModel) {
  Model model;
  model.graph = *ParseGraph(
      "graph(x: float32[2]) -> (y: float32[2]) {\n"
      "  a = float32[2]{1, 2}\n"
      "  b = float32[2]{3, 4}\n"
      "  z: float32[2] = add(x, a)\n"
      "  y: float32[2] = add(z, b)\n"
      "}\n");
  ASSERT_TRUE(Write(model, Path("m.json")).ok());
  ASSERT_TRUE(WriteSafetensors(Path("c.safetensors"), {{{"a", Floats({5, 6})}}}).ok());
  ASSERT_TRUE(WriteSafetensors(Path("d.safetensors"), {{{"b", Floats({7, 8})}}}).ok());
  const auto text = [&](const std::vector<std::string>& from, Report* report) {
    const auto read = Import(Path("m.json"), {.weights_from = from}, report);
    return read.ok() ? ToText(*read->graph) : std::string(read.status().message());
  };
  Report one, two, none;
  EXPECT_NE(text({Path("c.safetensors")}, &one).find("a = float32[2]{5, 6}"), std::string::npos);
  EXPECT_EQ(one.notes, (std::vector<std::string>{StrCat("1 weight from ", Path("c.safetensors")),
                                                 "1 constant kept from the model: 'b'"}));
  EXPECT_NE(text({Path("c.safetensors"), Path("d.safetensors")}, &two).find("{7, 8}"),
            std::string::npos);
  ASSERT_TRUE(WriteSafetensors(Path("c.safetensors"), {{{"other", Floats({5, 6})}}}).ok());
  EXPECT_EQ(text({Path("c.safetensors")}, &none),
            StrCat(OptionText("weights_from"), ": it has no weight of the model"));
}

TEST_F(WeightsFrom, CheckpointsOnDisk) {
  const auto write = [&](const std::string& name, const std::string& tensor, float value) {
    fs::create_directories(fs::path(Path(name)).parent_path());
    ASSERT_TRUE(WriteSafetensors(Path(name), {{{tensor, Floats({value})}}}).ok());
  };
  write("shards/model-1.safetensors", "a", 1);
  write("elsewhere/blob", "b", 2);
  // As Hugging Face's cache has them.
  fs::create_symlink("../elsewhere/blob", Path("shards/model-2.safetensors"));
  const std::string index = Path("shards/model.safetensors.index.json");
  WriteFile(index, R"({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}})");
  write("one/weights.safetensors", "a", 1);
  write("two/x.safetensors", "a", 1);
  write("two/y.safetensors", "b", 1);
  fs::create_directories(Path("none"));
  for (const std::string& path : {index, Path("shards")}) {
    const auto checkpoint = ReadCheckpoint(path);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
    EXPECT_EQ(checkpoint->tensors.size(), 2u);
    EXPECT_EQ(*checkpoint->Find("b"), Floats({2}));
    EXPECT_EQ(checkpoint->Find("c"), nullptr);
  }
  EXPECT_TRUE(ReadCheckpoint(Path("one")).ok());
  const std::pair<std::string, std::string> refused[] = {
      {Path("two"), "several files .safetensors ('x.safetensors', 'y.safetensors', ...)"},
      {Path("none"), "has no .safetensors.index.json and no .safetensors"},
      {Path("nowhere"), "no such file"},
  };
  for (const auto& [path, says] : refused) {
    const auto checkpoint = ReadCheckpoint(path);
    ASSERT_FALSE(checkpoint.ok()) << path;
    EXPECT_NE(checkpoint.status().message().find(says), std::string::npos) << checkpoint.status();
  }
  for (const char* shard : {"../one/weights.safetensors", "/etc/passwd", "..", ""}) {
    WriteFile(index, StrCat(R"({"weight_map": {"a": ")", shard, R"("}})"));
    const auto checkpoint = ReadCheckpoint(index);
    ASSERT_FALSE(checkpoint.ok()) << shard;
    EXPECT_NE(checkpoint.status().message().find("is not a file beside the index"),
              std::string::npos);
  }
  WriteFile(index, R"({"weight_map": {"z": "model-1.safetensors"}})");
  EXPECT_EQ(ReadCheckpoint(index).status().code(), absl::StatusCode::kDataLoss);
}

// Eight gigabytes of zeros, in a file with a hole: nothing of them is read or written.
TEST_F(WeightsFrom, ByReference) {
  std::string program = Program();
  const std::string two = R"({"as_int": 2})", many = R"({"as_int": 1073741824})";
  for (size_t at = 0; (at = program.find(two, at)) != program.npos;) {
    program.replace(at, two.size(), many);
  }
  WriteFile(Path("m.pt2"),
            Zip().Make({{"m/archive_format", "pt2"}, {"m/models/model.json", program}}));
  constexpr uint64_t kSize = uint64_t{4} << 30;
  const auto entry = [](const char* name, uint64_t at) {
    return StrCat("\"", name, R"(":{"dtype":"F32","shape":[1073741824],"data_offsets":[)", at, ",",
                  at + kSize, "]}");
  };
  std::string header = StrCat("{", entry("head.weight", 0), ",", entry("scale", kSize), "}");
  header.resize(256, ' ');
  WriteFile(Path("model.safetensors"), torch_zip::Number(header.size(), 8) + header);
  ASSERT_EQ(::truncate(Path("model.safetensors").c_str(),
                       static_cast<off_t>(8 + header.size() + 2 * kSize)),
            0);
  const auto start = std::chrono::steady_clock::now();
  for (const bool onnx : {true, false}) {
    ConvertOptions options{.from = {.weights_from = {folder_.string()}}, .to = {.optimize = true}};
    options.to.format_options.Set(onnx ? "external_data" : "weights", "reference");
    const absl::Status status = Convert(Path("m.pt2"), Path(onnx ? "m.onnx" : "m.json"), options);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_LT(fs::file_size(Path(onnx ? "m.onnx" : "m.json")), 10'000u);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

// Every program of the zoo, without its weights, and with them from a checkpoint of their names.
TEST_F(WeightsFrom, ProgramsOfTheZoo) {
  const fs::path zoo = Shared("zoo");
  if (zoo.empty()) GTEST_SKIP() << kNotShared;
  int programs = 0;
  for (const auto& entry : fs::directory_iterator(zoo)) {
    const std::string path = (entry.path() / "model.pt2").string();
    if (!fs::exists(path)) continue;
    SCOPED_TRACE(path);
    const auto whole = Load(path);
    if (!whole.ok() || whole->weights.empty()) continue;
    std::vector<NamedTensor> checkpoint;
    for (const Weight& weight : whole->weights) {
      const Value* value = std::as_const(*whole->graph).Find(weight.value);
      // Of tied parameters the last name, which a program without weights must find out. Its graph
      // does not say which constants are one, nor which observers of a quantized network.
      const bool is_tied =
          weight.is_parameter && !weight.names[0].starts_with("activation_post_process");
      for (const std::string& name : weight.names) {
        if (!is_tied || name == weight.names.back())
          checkpoint.push_back({name, *value->constant()});
      }
    }
    ASSERT_TRUE(WriteSafetensors(Path("model.safetensors"), checkpoint).ok());
    const auto file = Blob::Open(path);
    auto zip = ZipArchive::Open(*file);
    ASSERT_TRUE(zip.ok());
    std::vector<Entry> entries;
    for (const ZipEntry& old : zip->entries()) {
      if (old.name.find("/data/") != old.name.npos) continue;
      entries.push_back({std::string(old.name), std::string(zip->Read(old)->view)});
    }
    WriteFile(Path("m.pt2"), Zip().Make(entries));
    Report report;
    auto model = Load(Path("m.pt2"));
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status status = TakeWeights(*model, {folder_.string()}, report);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(model->graph->inputs().size(), whole->graph->inputs().size());
    for (const Weight& weight : whole->weights) {
      const Value* value = std::as_const(*model->graph).Find(weight.value);
      ASSERT_NE(value, nullptr) << weight.value;
      ASSERT_NE(value->fixed_constant(), nullptr) << weight.value;
      EXPECT_EQ(*value->constant(), *std::as_const(*whole->graph).Find(weight.value)->constant())
          << weight.value;
    }
    ++programs;
  }
  EXPECT_GT(programs, 100);
}

}  // namespace
}  // namespace x2ir
