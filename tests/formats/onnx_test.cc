// Tests of the ONNX reader and writer: everything in a file survives reading and writing,
// every storage form of tensors, external data, hostile input.
#include "x2ir/formats/onnx/onnx.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/onnx_proto_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing_util::DecodeProto;
using testing_util::Differences;
using testing_util::EncodeProto;
using testing_util::Packing;

// A model with every field of every message, in the form that the writer gives it.
const json& FullModel() {
  static const json* const model = new json(json::parse(R"json({
    "ir_version": 13, "producer_name": "maker", "producer_version": "1.2", "domain": "com.example",
    "model_version": 7, "doc_string": "a model",
    "opset_import": [{"domain": "ai.onnx", "version": 24}, {"domain": "com.acme", "version": 2}],
    "metadata_props": [{"key": "z", "value": "1"}, {"key": "a", "value": "2"}],
    "training_info": [{
      "initialization": {"name": "init"}, "algorithm": {"name": "step"},
      "initialization_binding": [{"key": "k", "value": "v"}],
      "update_binding": [{"key": "k2", "value": "v2"}]}],
    "configuration": [{"name": "two", "num_devices": 2, "device": ["gpu0", "gpu1"]}],
    "#99": "from the future",
    "graph": {
      "name": "main", "doc_string": "a graph", "#77": 5,
      "metadata_props": [{"key": "g", "value": "h"}],
      "input": [
        {"name": "x", "doc_string": "an input", "metadata_props": [{"key": "i", "value": "j"}],
         "type": {"denotation": "IMAGE", "tensor_type": {"elem_type": 1, "shape": {"dim": [
            {"dim_param": "batch", "denotation": "DATA_BATCH"}, {"dim_value": 3}, {}]}}}},
        {"name": "odd", "type": {"#50": 1, "tensor_type": {"elem_type": 1, "shape": {"dim": [
            {"dim_param": "1 + n"}, {"dim_param": "7"}, {"dim_value": -1}]}}}},
        {"name": "any_rank", "type": {"tensor_type": {"elem_type": 7}}, "#51": "x"},
        {"name": "scalar", "type": {"tensor_type": {"elem_type": 9, "shape": {}}}},
        {"name": "untyped"},
        {"name": "no_element_type", "type": {"tensor_type": {"elem_type": 0}}},
        {"name": "seq", "type": {"sequence_type": {"elem_type": {"optional_type": {"elem_type":
           {"map_type": {"key_type": 8, "value_type": {"tensor_type": {"elem_type": 11}}}}}}}}},
        {"name": "described", "type": {"sequence_type": {"elem_type": {"denotation": "AUDIO",
           "tensor_type": {"elem_type": 1}}}}},
        {"name": "sparse_in", "type": {"sparse_tensor_type": {"elem_type": 1, "shape": {"dim":
           [{"dim_value": 4}]}}}},
        {"name": "opaque", "type": {"opaque_type": {"domain": "d", "name": "n"}}},
        {"name": "with_default", "type": {"tensor_type": {"elem_type": 2, "shape": {"dim":
           [{"dim_value": 2}]}}}}],
      "output": [
        {"name": "y", "doc_string": "an output", "type": {"tensor_type": {"elem_type": 1}}},
        {"name": "x", "doc_string": "an input", "metadata_props": [{"key": "i", "value": "j"}],
         "type": {"denotation": "IMAGE", "tensor_type": {"elem_type": 1, "shape": {"dim": [
            {"dim_param": "batch", "denotation": "DATA_BATCH"}, {"dim_value": 3}, {}]}}}},
        {"name": "untyped_out"}],
      "initializer": [
        {"dims": [2], "data_type": 2, "name": "with_default", "raw_data": "ab",
         "doc_string": "its tensor", "metadata_props": [{"key": "t", "value": "u"}]},
        {"dims": [3], "data_type": 2, "name": "w", "raw_data": "xyz", "doc_string": "weights",
         "metadata_props": [{"key": "p", "value": "q"}], "segment": {"begin": 0, "end": 3},
         "#60": "later"},
        {"data_type": 2, "name": "empty", "dims": [0, 5], "raw_data": ""},
        {"dims": [2], "data_type": 8, "name": "texts", "string_data": ["one", ""]}],
      "sparse_initializer": [
        {"values": {"dims": [1], "data_type": 2, "name": "sp", "raw_data": "v", "doc_string": "d"},
         "indices": {"dims": [1], "data_type": 7, "raw_data":
            "\u0001\u0000\u0000\u0000\u0000\u0000\u0000\u0000", "name": "sp_indices"},
         "dims": [2, 2]}],
      "value_info": [
        {"name": "mid", "doc_string": "middle", "metadata_props": [{"key": "m", "value": "n"}],
         "type": {"tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_param": "2*n+1"}]}}}},
        {"name": "noted", "doc_string": "just a note"},
        {"name": "nowhere", "type": {"tensor_type": {"elem_type": 1}}},
        {"name": "w", "doc_string": "more about w"}],
      "quantization_annotation": [
        {"tensor_name": "x", "quant_parameter_tensor_names":
           [{"key": "SCALE_TENSOR", "value": "s"}, {"key": "ZERO_POINT_TENSOR", "value": "z"}]},
        {"tensor_name": "w", "#9": 4, "quant_parameter_tensor_names":
           [{"key": "SCALE_TENSOR", "value": "s2"}]},
        {"tensor_name": "mid", "quant_parameter_tensor_names": []},
        {"tensor_name": "gone", "quant_parameter_tensor_names": []}],
      "node": [
        {"op_type": "Late", "input": ["mid", "", "noted"], "output": ["y", "", "untyped_out"],
         "name": "late one", "doc_string": "uses what comes later", "domain": "com.acme",
         "overload": "v2", "metadata_props": [{"key": "n", "value": "o"}], "#70": 8,
         "device_configurations": [{"configuration_id": "two", "pipeline_stage": 1,
           "sharding_spec": [{"tensor_name": "mid", "device": [0, 1],
             "index_to_device_group_map": [{"key": 0, "value": [0, 1]}],
             "sharded_dim": [{"axis": 0, "simple_sharding":
               [{"dim_value": 4, "num_shards": 2}, {"dim_param": "n", "num_shards": 2}]}]}]}]},
        {"op_type": "Everything", "input": ["x", "w"], "output": ["mid", "noted"],
         "domain": "ai.onnx", "attribute": [
           {"name": "i", "type": 2, "i": -5, "doc_string": "an int", "#80": 1},
           {"name": "zero", "type": 2, "i": 0},
           {"name": "f", "type": 1, "f": 0.5},
           {"name": "s", "type": 3, "s": "text"},
           {"name": "t", "type": 4, "t": {"dims": [1], "data_type": 2, "raw_data": "t",
             "name": "inner", "doc_string": "doc"}},
           {"name": "g", "type": 5, "g": {"name": "nested", "node": [
             {"op_type": "Deep", "input": ["x", "w", "own"], "output": ["deep"], "attribute": [
               {"name": "again", "type": 5, "g": {"name": "nested 2",
                 "output": [{"name": "untyped"}]}}
             ]}],
             "initializer": [{"dims": [1], "data_type": 2, "raw_data": "o", "name": "own"}],
             "output": [{"name": "deep"}]}},
           {"name": "floats", "type": 6, "floats": [1.5, -2]},
           {"name": "ints", "type": 7, "ints": [1, -1, 9223372036854775807]},
           {"name": "no_ints", "type": 7},
           {"name": "strings", "type": 8, "strings": ["a", ""]},
           {"name": "tensors", "type": 9, "tensors": [
             {"dims": [1], "data_type": 2, "raw_data": "a"},
             {"dims": [1], "data_type": 2, "raw_data": "b", "name": "second"}]},
           {"name": "graphs", "type": 10, "graphs": [{"name": "one"}, {"name": "two"}]},
           {"name": "tp", "type": 13, "tp": {"tensor_type": {"elem_type": 1},
             "denotation": "IMAGE"}},
           {"name": "type_protos", "type": 14, "type_protos": [
             {"tensor_type": {"elem_type": 1}},
             {"tensor_type": {"elem_type": 1, "shape": {"dim": [{"dim_param": "b c"}]}}}]},
           {"name": "sparse_tensor", "type": 11, "sparse_tensor": {
             "values": {"dims": [1], "data_type": 2, "raw_data": "v", "name": "sparse name"},
             "indices": {"dims": [1], "data_type": 7,
               "raw_data": "\u0001\u0000\u0000\u0000\u0000\u0000\u0000\u0000"},
             "dims": [2, 2], "#90": 1}},
           {"name": "sparse_tensors", "type": 12, "sparse_tensors": [{
             "values": {"dims": [0], "data_type": 2, "raw_data": ""},
             "indices": {"dims": [0], "data_type": 7, "raw_data": ""}, "dims": [2]}]},
           {"name": "no_tensors", "type": 9},
           {"name": "no_sparse_tensors", "type": 12}]},
        {"op_type": "Odd::Name", "domain": "a::b"},
        {"op_type": "aten::add"}]
    },
    "functions": [{
      "name": "Late", "domain": "com.acme", "overload": "v2", "doc_string": "a function",
      "input": ["a", "b", "c"], "output": ["r", "a"], "attribute": ["alpha"],
      "attribute_proto": [{"name": "beta", "type": 1, "f": 2.5, "doc_string": "scale"},
         {"name": "body", "type": 5, "g": {"name": "default body", "node":
           [{"op_type": "Const", "output": ["c"]}], "output": [{"name": "c"}]}}],
      "opset_import": [{"domain": "", "version": 20}],
      "metadata_props": [{"key": "f", "value": "m"}], "#61": "x",
      "value_info": [{"name": "a", "type": {"tensor_type": {"elem_type": 1}}},
         {"name": "r", "type": {"tensor_type": {"elem_type": 1}}},
         {"name": "unknown", "type": {"tensor_type": {"elem_type": 1}}}],
      "node": [{"op_type": "Elu", "input": ["a"], "output": ["r"], "attribute": [
         {"name": "alpha", "type": 1, "ref_attr_name": "alpha"},
         {"name": "s", "type": 11, "ref_attr_name": "beta"},
         {"name": "untyped", "ref_attr_name": "beta"}]}]
    }]
  })json"));
  return *model;
}

// Protobuf cannot tell an empty list from none, and the writer leaves out what is empty.
void DropEmpty(json* value) {
  if (!value->is_structured()) return;
  for (auto it = value->begin(); it != value->end();) {
    DropEmpty(&*it);
    const bool drop = value->is_object() &&
                      ((it->is_array() && it->empty()) || (it.key() == "domain" && *it == ""));
    it = drop ? value->erase(it) : std::next(it);
  }
}

// Tensors stored in other ways become raw_data, so that models compare by content.
void MakeRaw(json* value) {
  if (!value->is_structured()) return;
  for (json& inner : *value) MakeRaw(&inner);
  if (!value->is_object()) return;
  const auto convert = [value](const char* field, auto element) {
    if (!value->contains(field)) return;
    std::string raw;
    for (const json& v : (*value)[field]) {
      const auto number = v.get<decltype(element)>();
      raw.append(reinterpret_cast<const char*>(&number), sizeof(number));
    }
    value->erase(field);
    (*value)["raw_data"] = std::move(raw);
  };
  convert("float_data", float{});
  convert("int64_data", int64_t{});
  if (value->value("data_type", 0) == 6) convert("int32_data", int32_t{});
}

json Normalized(json value) {
  MakeRaw(&value);
  DropEmpty(&value);
  return value;
}

class OnnxFileTest : public TempDirTest {
 protected:
  size_t NumFiles() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
};

// --- Round trips --------------------------------------------------------------------------

TEST(Onnx, EveryFieldSurvives) {
  std::set<std::string> missing = testing_util::AllFields(), covered;
  testing_util::CollectFields("ModelProto", FullModel(), &covered);
  for (const std::string& field : covered) missing.erase(field);
  // These come back as raw_data (see StorageForms, ExternalData).
  const std::set<std::string> other_storage = {
      "TensorProto.float_data",   "TensorProto.int32_data",  "TensorProto.int64_data",
      "TensorProto.double_data",  "TensorProto.uint64_data", "TensorProto.external_data",
      "TensorProto.data_location"};
  EXPECT_EQ(missing, other_storage);

  const std::string bytes = EncodeProto("ModelProto", FullModel());
  for (Packing packing : {Packing::kAsDeclared, Packing::kAlways, Packing::kNever}) {
    auto model = ParseOnnx(EncodeProto("ModelProto", FullModel(), packing));
    ASSERT_TRUE(model.ok()) << model.status();
    ASSERT_TRUE(model->graph->Sort().ok());
    EXPECT_EQ(model->graph->Validate(), std::vector<std::string>());
    auto again = SerializeOnnx(*model);
    ASSERT_TRUE(again.ok()) << again.status();
    json expected = Normalized(FullModel());
    // Sorted: the second node came first.
    std::swap(expected["graph"]["node"][0], expected["graph"]["node"][1]);
    json actual = Normalized(DecodeProto("ModelProto", *again));
    // Value infos follow the nodes; those of names that no node defines come last.
    EXPECT_EQ(Differences(expected, actual), "");
    auto third = ParseOnnx(*again);
    ASSERT_TRUE(third.ok()) << third.status();
    EXPECT_EQ(*SerializeOnnx(*third), *again);
  }
}

TEST(Onnx, SharedModelsSurvive) {
  size_t count = 0;
  const fs::path models = Shared("models");
  if (models.empty()) GTEST_SKIP() << kNotShared;
  for (const auto& entry : fs::recursive_directory_iterator(models)) {
    if (entry.path().extension() != ".onnx") continue;
    ++count;
    SCOPED_TRACE(entry.path().string());
    auto model = ReadOnnx(entry.path());
    ASSERT_TRUE(model.ok()) << model.status();
    auto bytes = SerializeOnnx(*model);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    const std::string original = ReadFile(entry.path());
    EXPECT_TRUE(
        LooksLikeOnnx({reinterpret_cast<const std::byte*>(original.data()), 256}, original.size()));
    const json before = Normalized(DecodeProto("ModelProto", original));
    const json after = Normalized(DecodeProto("ModelProto", *bytes));
    EXPECT_EQ(Differences(before, after), "");
    ASSERT_TRUE(model->graph->Sort().ok());
    EXPECT_EQ(model->graph->Validate(), std::vector<std::string>());
    for (const Value* constant : model->graph->constants()) {
      if (constant->constant()->nbytes() == 0 || constant->constant()->nbytes() < 1024) continue;
      EXPECT_TRUE(constant->constant()->file_range().has_value()) << constant->name();
    }
  }
  std::cout << count << " models\n";
  EXPECT_GE(count, 30);
}

// --- Tensors ------------------------------------------------------------------------------

template <typename T>
std::string Bits(std::initializer_list<T> values) {
  std::string bytes;
  for (T v : values) bytes.append(reinterpret_cast<const char*>(&v), sizeof(v));
  return bytes;
}

json ModelWith(json initializer) {
  if (!initializer.contains("name")) initializer["name"] = "w";
  return {{"ir_version", 10},
          {"opset_import", {{{"version", 21}}}},
          {"graph", {{"name", "g"}, {"initializer", {std::move(initializer)}}}}};
}

TEST(Onnx, StorageForms) {
  const int64_t big = int64_t{1} << 40;
  const struct {
    DType dtype;
    std::vector<int64_t> dims;
    const char* field;
    json data;
    std::string bytes;
  } kCases[] = {
      {DType::kFloat32, {2}, "float_data", {1.5, -2.0}, Bits<float>({1.5, -2})},
      {DType::kComplex64, {1}, "float_data", {1.5, -2.0}, Bits<float>({1.5, -2})},
      {DType::kFloat64, {2}, "double_data", {1.5, -2.0}, Bits<double>({1.5, -2})},
      {DType::kComplex128, {1}, "double_data", {1.5, -2.0}, Bits<double>({1.5, -2})},
      {DType::kInt64, {3}, "int64_data", {1, -2, big}, Bits<int64_t>({1, -2, big})},
      {DType::kUInt64, {2}, "uint64_data", {1, ~0ull}, Bits<uint64_t>({1, ~0ull})},
      {DType::kUInt32, {2}, "uint64_data", {1, 0xffffffffu}, Bits<uint32_t>({1, 0xffffffffu})},
      {DType::kInt32, {2}, "int32_data", {7, -8}, Bits<int32_t>({7, -8})},
      {DType::kInt16, {2}, "int32_data", {7, -32768}, Bits<int16_t>({7, -32768})},
      {DType::kUInt16, {2}, "int32_data", {7, 65535}, Bits<uint16_t>({7, 65535})},
      {DType::kInt8, {2}, "int32_data", {7, -128}, Bits<int8_t>({7, -128})},
      {DType::kUInt8, {2}, "int32_data", {7, 255}, Bits<uint8_t>({7, 255})},
      {DType::kBool, {3}, "int32_data", {0, 1, 5}, Bits<uint8_t>({0, 1, 1})},
      {DType::kFloat16, {2}, "int32_data", {15360, 65535}, Bits<uint16_t>({15360, 65535})},
      {DType::kBFloat16, {1}, "int32_data", {49024}, Bits<uint16_t>({49024})},
      {DType::kFloat8E4M3FN, {2}, "int32_data", {1, 255}, Bits<uint8_t>({1, 255})},
      {DType::kFloat8E4M3FNUZ, {1}, "int32_data", {128}, Bits<uint8_t>({128})},
      {DType::kFloat8E5M2, {1}, "int32_data", {3}, Bits<uint8_t>({3})},
      {DType::kFloat8E5M2FNUZ, {1}, "int32_data", {4}, Bits<uint8_t>({4})},
      {DType::kFloat8E8M0, {1}, "int32_data", {127}, Bits<uint8_t>({127})},
      {DType::kInt4, {3}, "int32_data", {0x21, 0x0f}, Bits<uint8_t>({0x21, 0x0f})},
      {DType::kUInt4, {4}, "int32_data", {0x21, 0xff}, Bits<uint8_t>({0x21, 0xff})},
      {DType::kFloat4E2M1, {1}, "int32_data", {3}, Bits<uint8_t>({3})},
      {DType::kInt2, {5}, "int32_data", {0xe4, 1}, Bits<uint8_t>({0xe4, 1})},
      {DType::kUInt2, {4}, "int32_data", {0xe4}, Bits<uint8_t>({0xe4})},
      {DType::kFloat32, {}, "float_data", {3.0}, Bits<float>({3})},
      {DType::kFloat32, {0, 7}, "float_data", json::array(), ""},
      {DType::kInt8, {0}, "int32_data", json::array(), ""},
  };
  std::set<DType> tested = {DType::kUndefined, DType::kString};
  for (const auto& test : kCases) {
    SCOPED_TRACE(StrCat(Name(test.dtype), " ", test.field));
    tested.insert(test.dtype);
    json tensor = {{"data_type", static_cast<int>(test.dtype)}, {"dims", test.dims}};
    json raw = tensor;
    raw["raw_data"] = test.bytes;
    tensor[test.field] = test.data;
    for (const json& form : {tensor, raw}) {
      for (Packing packing : {Packing::kAlways, Packing::kNever}) {
        auto model = ParseOnnx(EncodeProto("ModelProto", ModelWith(form), packing));
        ASSERT_TRUE(model.ok()) << model.status();
        const Tensor& t = *model->graph->Find("w")->constant();
        EXPECT_EQ(t.dtype(), test.dtype);
        EXPECT_EQ(t.dims(), test.dims);
        const std::string bytes(reinterpret_cast<const char*>(t.bytes().data()), t.nbytes());
        EXPECT_EQ(bytes, test.bytes);
        auto written = SerializeOnnx(*model);
        ASSERT_TRUE(written.ok());
        EXPECT_EQ(DecodeProto("ModelProto", *written)["graph"]["initializer"][0]["raw_data"],
                  test.bytes);
      }
    }
  }
  EXPECT_EQ(tested.size(), static_cast<size_t>(kNumDTypes));
}

TEST(Onnx, BadTensors) {
  const struct {
    json tensor;
    std::string message;
  } kCases[] = {
      {{{"dims", {2}}}, "no element type"},
      {{{"data_type", 99}, {"dims", {2}}}, "unknown element type 99"},
      {{{"data_type", -1}}, "unknown element type -1"},
      {{{"data_type", 1}, {"dims", {2}}}, "float_data has 0 bytes, expected 8 for float32[2]"},
      {{{"data_type", 1}, {"dims", {2}}, {"raw_data", "abcd"}}, "raw_data has 4 bytes, expected 8"},
      {{{"data_type", 1}, {"dims", {2}}, {"float_data", {1.0}}}, "has 4 bytes, expected 8"},
      {{{"data_type", 1}, {"dims", {-2}}, {"raw_data", ""}}, "impossible shape"},
      {{{"data_type", 1}, {"dims", {1ll << 40, 1ll << 40}}}, "impossible shape"},
      {{{"data_type", 11}, {"dims", {1ll << 62}}}, "impossible shape"},
      {{{"data_type", 1}, {"dims", {1ll << 60}}}, "expected 4611686018427387904"},
      {{{"data_type", 6}, {"dims", {1ll << 60}}}, "expected 1152921504606846976"},
      {{{"data_type", 8}, {"dims", {1ll << 60}}}, "string_data has 0 entries"},
      {{{"data_type", 1}, {"dims", {1}}, {"int32_data", {1}}}, "must be in float_data"},
      {{{"data_type", 1}, {"dims", {1}}, {"raw_data", "abcd"}, {"float_data", {1.0}}}, "two ways"},
      {{{"data_type", 3}, {"dims", {1}}, {"int32_data", {300}}}, "int32_data[0] = 300"},
      {{{"data_type", 3}, {"dims", {1}}, {"int32_data", {-129}}}, "does not fit int8"},
      {{{"data_type", 12}, {"dims", {1}}, {"uint64_data", {1ull << 32}}}, "does not fit uint32"},
      {{{"data_type", 6}, {"dims", {2}}, {"int32_data", {1}}}, "has 1 entries, expected 2"},
      {{{"data_type", 22}, {"dims", {3}}, {"int32_data", {1, 2, 3}}}, "has 3 entries, expected 2"},
      {{{"data_type", 8}, {"dims", {1}}, {"raw_data", "x"}}, "strings must be in string_data"},
      {{{"data_type", 8}, {"dims", {2}}, {"string_data", {"x"}}}, "string_data has 1 entries"},
  };
  for (const auto& test : kCases) {
    auto model = ParseOnnx(EncodeProto("ModelProto", ModelWith(test.tensor)));
    ASSERT_FALSE(model.ok()) << test.tensor;
    EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
    const std::string message(model.status().message());
    EXPECT_NE(message.find(test.message), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with("'model': initializer 'w': ")) << message;
  }
}

TEST(Onnx, BadSparseTensors) {
  const json values = {{"name", "w"}, {"data_type", 2}, {"dims", {1}}, {"raw_data", "v"}};
  const json indices = {{"data_type", 7}, {"dims", {1}}, {"int64_data", {0}}};
  const auto parse = [](json sparse) {
    json model = {{"graph", {{"sparse_initializer", {std::move(sparse)}}}}};
    return ParseOnnx(EncodeProto("ModelProto", model));
  };
  auto good = parse({{"values", values}, {"indices", indices}, {"dims", {3, 3}}});
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_TRUE(good->graph->Find("w")->constant()->is_sparse());
  json float_indices = {{"data_type", 1}, {"dims", {1}}, {"float_data", {0.0}}};
  json three = {{"data_type", 7}, {"dims", {1, 3}}, {"int64_data", {0, 0, 0}}};
  json two = {{"data_type", 7}, {"dims", {2}}, {"int64_data", {0, 1}}};
  for (const json& bad : {float_indices, three, two, json::object()}) {
    EXPECT_FALSE(parse({{"values", values}, {"indices", bad}, {"dims", {3, 3}}}).ok()) << bad;
  }
  EXPECT_FALSE(parse({{"values", values}, {"indices", indices}, {"dims", {-1}}}).ok());
  EXPECT_FALSE(parse({{"indices", indices}, {"dims", {3}}}).ok());
}

// --- Models that make no sense ------------------------------------------------------------

// Of several values the type says which counts; what nobody can resolve gives way to a value.
TEST(Onnx, AttributesOfSeveralValues) {
  const struct {
    json attr;
    Attribute value;
  } kCases[] = {
      {{{"type", 1}, {"f", 2.0}, {"i", 2}}, 2.0f},
      {{{"type", 2}, {"f", 2.5}, {"i", 3}, {"s", "x"}}, int64_t{3}},
      {{{"type", 1}}, 0.0f},
      {{{"type", 1}, {"f", 0.5}, {"ref_attr_name", "q"}}, 0.5f},
      {{{"f", 0.5}}, 0.5f},
      {{{"type", 1}, {"ref_attr_name", "q"}}, AttrRef{"q", AttrKind::kFloat}},
      {{{"type", 4},
        {"t", {{"data_type", 7}, {"int64_data", {5}}}},
        {"g", {{"name", "g"}}},
        {"tensors", {{{"data_type", 1}}}}},
       Tensor::Scalar<int64_t>(5)},
  };
  for (const auto& c : kCases) {
    json attr = c.attr;
    attr["name"] = "k";
    const json node = {{"op_type", "A"}, {"attribute", json::array({attr})}};
    const auto model =
        ParseOnnx(EncodeProto("ModelProto", json{{"graph", {{"node", json::array({node})}}}}));
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(*model->graph->first()->attrs().Find("k"), c.value) << attr;
  }
  // In a function the reference counts.
  const json node = {
      {"op_type", "A"},
      {"attribute", {{{"name", "k"}, {"type", 1}, {"f", 2.0}, {"ref_attr_name", "q"}}}}};
  const json function = {{"name", "f"}, {"domain", "d"}, {"node", json::array({node})}};
  const auto model = ParseOnnx(EncodeProto(
      "ModelProto", json{{"graph", json::object()}, {"functions", json::array({function})}}));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(*model->functions[0]->body->first()->attrs().Find("k"),
            Attribute(AttrRef{"q", AttrKind::kFloat}));
}

TEST(Onnx, BadModels) {
  const struct {
    const char* graph;
    std::string message;
  } kCases[] = {
      {R"({"node": [{"op_type": "Add", "name": "sum", "input": ["x", "y"], "output": ["z"]}],
           "input": [{"name": "y"}]})",
       "Add 'sum': input 'x' is not defined by any node, input or initializer"},
      {R"({"node": [{"op_type": "Add", "input": ["x"], "output": ["", "z"]}]})",
       "Add '' (which produces 'z'): input 'x' is not defined"},
      {R"({"node": [{"op_type": "A", "name": "a", "output": ["x"]},
                    {"op_type": "B", "name": "b", "output": ["x"]}]})",
       "B 'b': output 'x' is already defined by A 'a'"},
      {R"({"node": [{"op_type": "A", "name": "a", "output": ["x"]}], "input": [{"name": "x"}]})",
       "A 'a': output 'x' is already defined by an input"},
      {R"({"node": [{"op_type": "A", "name": "a", "output": ["x", "x"]}]})",
       "A 'a': output 'x' is already defined by A 'a'"},
      {R"({"input": [{"name": "x"}, {"name": "x"}]})", "input 'x' is defined twice"},
      {R"({"input": [{}]})", "has no name"},
      {R"({"initializer": [{"name": "w", "data_type": 2, "dims": [0]},
                           {"name": "w", "data_type": 2, "dims": [0]}]})",
       "initializer 'w' is defined twice"},
      {R"({"initializer": [{"data_type": 2, "dims": [0]}]})", "an initializer has no name"},
      {R"({"output": [{"name": "y"}]})", "output 'y' is not defined"},
      {R"({"node": [{"name": "n"}]})", "node 'n' has no op type"},
      {R"({"node": [{"op_type": "A", "attribute": [{"type": 2}]}]})", "an attribute has no name"},
      {R"({"node": [{"op_type": "A", "attribute": [{"name": "k"}]}]})",
       "attribute 'k' has no type and no value"},
      {R"({"node": [{"op_type": "A", "attribute": [{"name": "k", "i": 1, "f": 1.0}]}]})",
       "attribute 'k' has no type and several values"},
      {R"({"node": [{"op_type": "A", "attribute": [{"name": "k", "type": 2, "f": 1.0}]}]})",
       "attribute 'k' has a value that is not of its type"},
      {R"({"node": [{"op_type": "A", "attribute": [{"name": "k", "type": 15}]}]})",
       "attribute 'k' has the unknown type 15"},
      {R"({"node": [{"op_type": "A", "attribute": [{"name": "k", "type": 4}]}]})",
       "attribute 'k' has no tensor"},
      {R"({"node": [{"op_type": "A", "attribute": [{"name": "k", "type": 5}]}]})",
       "attribute 'k' has no graph"},
      {R"({"node": [{"op_type": "A", "attribute": [{"name": "k", "type": 2, "i": 1},
                                                   {"name": "k", "type": 2, "i": 1}]}]})",
       "attribute 'k' occurs twice"},
      {R"({"node": [{"op_type": "If", "name": "c", "attribute": [{"name": "b", "type": 5, "g":
           {"node": [{"op_type": "Add", "name": "i", "input": ["q"]}]}}]}]})",
       "If 'c': attribute 'b': Add 'i': input 'q' is not defined"},
      // What a nested graph defines is not seen outside.
      {R"({"node": [{"op_type": "If", "name": "c", "attribute": [{"name": "b", "type": 5, "g":
           {"node": [{"op_type": "A", "output": ["q"]}]}}]},
                    {"op_type": "B", "name": "after", "input": ["q"]}]})",
       "B 'after': input 'q' is not defined"},
      {R"({"input": [{"name": "x", "type": {"tensor_type": {"elem_type": 77}}}]})",
       "type of 'x': unknown element type 77"},
  };
  for (const auto& test : kCases) {
    const json model = {{"ir_version", 8}, {"graph", json::parse(test.graph)}};
    auto parsed = ParseOnnx(EncodeProto("ModelProto", model));
    ASSERT_FALSE(parsed.ok()) << test.graph;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << parsed.status();
    EXPECT_NE(std::string(parsed.status().message()).find(test.message), std::string::npos)
        << parsed.status() << "\n  expected: " << test.message;
  }
  const json graph = {{"name", "g"}};
  const json function = {{"name", "F"}, {"domain", "d"}};
  const struct {
    json model;
    std::string message;
  } kModels[] = {
      {{{"graph", graph}, {"functions", {function, function}}}, "'d::F' is defined twice"},
      {{{"graph", graph}, {"functions", {{{"name", "F"}, {"output", {"y"}}}}}},
       "function '::F': output 'y' is not defined"},
  };
  for (const auto& test : kModels) {
    auto parsed = ParseOnnx(EncodeProto("ModelProto", test.model));
    ASSERT_FALSE(parsed.ok());
    EXPECT_NE(std::string(parsed.status().message()).find(test.message), std::string::npos)
        << parsed.status();
  }
}

TEST(Onnx, OldModels) {
  // No opset import, no attribute types, all initializers among the inputs.
  const json old = json::parse(R"({"ir_version": 1, "graph": {
    "input": [{"name": "x"}, {"name": "w"}], "output": [{"name": "y"}],
    "initializer": [{"name": "w", "data_type": 2, "dims": [1], "raw_data": "a"}],
    "node": [{"op_type": "Conv", "input": ["x", "w"], "output": ["y"], "attribute": [
       {"name": "ints", "ints": [1, 2]}, {"name": "f", "f": 0.5},
       {"name": "g", "g": {"name": "inner"}}]}]}})");
  auto model = ParseOnnx(EncodeProto("ModelProto", old));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->Opset(""), 1);
  const Value* w = model->graph->Find("w");
  EXPECT_TRUE(w->is_input());
  ASSERT_NE(w->constant(), nullptr);
  const AttributeMap& attrs = model->graph->first()->attrs();
  EXPECT_EQ(attrs.Ints("ints"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(attrs.Float("f"), 0.5);
  EXPECT_EQ(attrs.SubGraph("g").name(), "inner");

  // A constant of such a model is written as an input too.
  model->graph->FreezeInput(model->graph->Find("w"));
  for (int64_t ir_version : {3, 4}) {
    model->ir_version = ir_version;
    const json written = DecodeProto("ModelProto", *SerializeOnnx(*model));
    EXPECT_EQ(written["graph"]["input"].size(), ir_version < 4 ? 2 : 1);
  }
}

TEST(Onnx, DetectsItself) {
  const auto looks = [](const std::string& head, uint64_t size) {
    return LooksLikeOnnx({reinterpret_cast<const std::byte*>(head.data()), head.size()}, size);
  };
  const std::string full = EncodeProto("ModelProto", FullModel());
  for (size_t head : {16, 64, 256, 4096}) {
    EXPECT_EQ(looks(full.substr(0, head), full.size()), head > 16) << head;
  }
  using namespace std::string_literals;
  const struct {
    std::string head;
    uint64_t size;
  } kOthers[] = {
      {"", 0},
      {"", 100},
      {R"({"format": "x2ir", "version": 1})", 5000},
      {"PK\x03\x04\x14\x00\x00\x00\x08\x08"s, 5000},
      {"\x08\x01\x12\x80\x80\x04\x0a\x10"s, 70000},        // a SavedModel
      {"\x0a\x1f\x0a\x04in_0\x12\x0bPlaceholder"s, 5000},  // a GraphDef
      {"\x08\x03\x00\x00\x00\x00\x00\x00{\"a\":"s, 5000},  // safetensors
      {"\x93NUMPY\x01\x00v\x00"s, 5000},
      {"\x80\x02\x8a\x0al\xfc\x9c\x46\xf9"s, 5000},  // a pickle
      {"\x7f"
       "ELF\x02\x01\x01"s,
       5000},
      {"\x1c\x00\x00\x00TFL3"s, 5000},
      {"\x08\x07:\x10"s, 3},
      {"plain text, long enough to be something", 39},
      {": text that begins with the tag of a graph", 5000},
      {std::string(300, '\0'), 5000},
  };
  for (const auto& test : kOthers) EXPECT_FALSE(looks(test.head, test.size)) << test.head;
}

TEST(Onnx, NotAModel) {
  std::mt19937 random(7);
  std::vector<std::string> cases = {"", std::string(100, '\0'), "hello world, this is text",
                                    std::string("\x08\x07", 2)};
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(1 + random() % 60, 0);
    for (char& c : bytes) c = static_cast<char>(random());
    cases.push_back(bytes);
  }
  for (const std::string& bytes : cases) {
    auto model = ParseOnnx(bytes);
    ASSERT_FALSE(model.ok());
    EXPECT_TRUE(absl::IsDataLoss(model.status()) || absl::IsInvalidArgument(model.status()));
  }
  EXPECT_NE(std::string(ParseOnnx("").status().message()).find("not an ONNX model"),
            std::string::npos);
}

TEST(Onnx, TruncatedAndDamagedModels) {
  const std::string full = EncodeProto("ModelProto", FullModel());
  size_t accepted = 0;
  const auto check = [&](std::string bytes) {
    auto model = ParseOnnx(std::move(bytes));
    if (!model.ok()) {
      ASSERT_TRUE(absl::IsDataLoss(model.status()) || absl::IsInvalidArgument(model.status()))
          << model.status();
      return;
    }
    ++accepted;
    // What is accepted can be written and read again.
    auto again = SerializeOnnx(*model);
    ASSERT_TRUE(again.ok()) << again.status();
    ASSERT_TRUE(ParseOnnx(*again).ok()) << ParseOnnx(*again).status();
  };
  for (size_t size = 0; size < full.size(); ++size) check(full.substr(0, size));
  // Cut between top-level fields behind the graph, it is a model with less in it.
  EXPECT_LT(accepted, 16);
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = full;
    for (int flips = 1 + i % 3; flips > 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    }
    check(std::move(bytes));
  }
}

TEST(Onnx, DeepNesting) {
  // Graphs in graphs, and types in types, to a depth that is allowed and one that is not.
  for (int depth : {150, 2000}) {
    std::string graph;
    std::string type = EncodeProto("TypeProto", {{"tensor_type", {{"elem_type", 1}}}});
    const auto wrap = [](int field, const std::string& inner) {
      std::string out(1, static_cast<char>(field * 8 + 2));
      size_t size = inner.size();
      for (; size >= 128; size /= 128) out.push_back(static_cast<char>(size % 128 + 128));
      out.push_back(static_cast<char>(size));
      return out + inner;
    };
    for (int i = 0; i < depth; ++i) {
      const std::string attribute = wrap(1, "g") + wrap(6, graph);
      graph = wrap(1, wrap(4, "If") + wrap(5, attribute));
      type = wrap(9, wrap(1, type));
    }
    auto nested = ParseOnnx("\x08\x08" + wrap(7, graph));
    EXPECT_EQ(nested.ok(), depth == 150) << nested.status();
    EXPECT_TRUE(!nested.ok() || SerializeOnnx(*nested).ok());
    const std::string input = wrap(1, "x") + wrap(2, type);
    auto typed = ParseOnnx("\x08\x08" + wrap(7, wrap(11, input)));
    EXPECT_EQ(typed.ok(), depth == 150) << typed.status();
    if (!typed.ok()) {
      EXPECT_NE(std::string(typed.status().message()).find("too deeply"), std::string::npos);
    }
  }
}

// --- External data ------------------------------------------------------------------------

json ExternalModel(const std::string& location, const std::string& offset = "",
                   const std::string& length = "", json dims = {4}) {
  json entries = {{{"key", "location"}, {"value", location}}};
  if (!offset.empty()) entries.push_back({{"key", "offset"}, {"value", offset}});
  if (!length.empty()) entries.push_back({{"key", "length"}, {"value", length}});
  entries.push_back({{"key", "checksum"}, {"value", "abc"}});
  return ModelWith({{"data_type", 2},
                    {"dims", std::move(dims)},
                    {"data_location", 1},
                    {"external_data", std::move(entries)}});
}

TEST_F(OnnxFileTest, ExternalData) {
  const std::string secret = folder_.string() + ".secret";
  WriteFile(secret, "0123456789");
  WriteFile(Path("w.bin"), "0123456789");
  fs::create_directory(Path("sub"));
  WriteFile(Path("sub/w.bin"), "abcdefghij");
  fs::create_symlink(secret, Path("out"));
  fs::create_symlink("w.bin", Path("in"));
  fs::create_directory_symlink("/", Path("root"));
  const struct {
    json model;
    std::string expected;  // bytes, or part of the message
    absl::StatusCode code = absl::StatusCode::kOk;
  } kCases[] = {
      {ExternalModel("w.bin"), "0123"},
      {ExternalModel("w.bin", "6"), "6789"},
      {ExternalModel("w.bin", "2", "4"), "2345"},
      {ExternalModel("./sub//w.bin", "1"), "bcde"},
      {ExternalModel("in"), "0123"},
      {ExternalModel("w.bin", "10", "0", {0}), ""},
      {ExternalModel("w.bin", "7"), "has 10 bytes; the tensor lies at 7 and needs 4",
       absl::StatusCode::kDataLoss},
      {ExternalModel("w.bin", "18446744073709551615"), "has 10 bytes", absl::StatusCode::kDataLoss},
      {ExternalModel("w.bin", "", "", {1ll << 62}), "has 10 bytes", absl::StatusCode::kDataLoss},
      {ExternalModel("w.bin", "-1"), "offset '-1'", absl::StatusCode::kInvalidArgument},
      {ExternalModel("w.bin", "1x"), "offset '1x'", absl::StatusCode::kInvalidArgument},
      {ExternalModel("w.bin", "0", "99999999999999999999"), "length '9999",
       absl::StatusCode::kInvalidArgument},
      {ExternalModel("w.bin", "0", "5"), "has 5 bytes, expected 4 for uint8[4]",
       absl::StatusCode::kInvalidArgument},
      {ExternalModel(""), "names no file", absl::StatusCode::kInvalidArgument},
      {ExternalModel("none.bin"), "there is no file '", absl::StatusCode::kNotFound},
      {ExternalModel("sub"), "sub", absl::StatusCode::kDataLoss},
      {ExternalModel("../" + fs::path(secret).filename().string()),
       "leads out of the model's folder", absl::StatusCode::kInvalidArgument},
      {ExternalModel("sub/../w.bin"), "0123"},
      {ExternalModel(".."), "leads out", absl::StatusCode::kInvalidArgument},
      {ExternalModel(secret), "absolute path", absl::StatusCode::kInvalidArgument},
      {ExternalModel("out"), "link out of the model's folder", absl::StatusCode::kInvalidArgument},
      {ExternalModel("root" + secret), "link out", absl::StatusCode::kInvalidArgument},
      {ExternalModel(std::string("w.bin\0x", 7)), "not a valid file name",
       absl::StatusCode::kInvalidArgument},
  };
  for (const auto& test : kCases) {
    WriteFile(Path("m.onnx"), EncodeProto("ModelProto", test.model));
    auto model = ReadOnnx(Path("m.onnx"));
    ASSERT_EQ(model.status().code(), test.code) << model.status() << test.expected;
    if (!model.ok()) {
      const std::string message(model.status().message());
      EXPECT_NE(message.find(test.expected), std::string::npos) << message;
      EXPECT_NE(message.find("initializer 'w': "), std::string::npos) << message;
      EXPECT_NE(message.find(Path("m.onnx")), std::string::npos) << message;
      continue;
    }
    const Value* w = model->graph->Find("w");
    EXPECT_EQ(w->annotations().get(), nullptr);  // the checksum was the file's
    const Tensor& t = *w->constant();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(t.bytes().data()), t.nbytes()),
              test.expected);
    ASSERT_TRUE(t.file_range().has_value());
  }
  // In memory there is no folder, but somebody may say what is in the file.
  const std::string bytes = EncodeProto("ModelProto", ExternalModel("w.bin"));
  EXPECT_EQ(ParseOnnx(bytes).status().code(), absl::StatusCode::kNotFound);
  const std::string weights = ReadFile(Path("w.bin"));
  EXPECT_TRUE(ReadOnnx(Source::Bytes(bytes, [&](const std::string& name) {
                EXPECT_EQ(name, "w.bin");
                return HeldBytes{
                    {reinterpret_cast<const std::byte*>(weights.data()), weights.size()}, nullptr};
              })).ok());
  // Download caches link both files from a folder of blobs.
  fs::create_directory(Path("snapshot"));
  fs::create_symlink("../m2.onnx", Path("snapshot/m.onnx"));
  fs::create_symlink("../w.bin", Path("snapshot/w.bin"));
  WriteFile(Path("m2.onnx"), bytes);
  EXPECT_TRUE(ReadOnnx(Path("snapshot/m.onnx")).ok());
  fs::remove(secret);
}

// A model with constants of these many bytes.
Model WithConstants(const std::vector<int64_t>& sizes) {
  Model model;
  model.source_dialect = "onnx";
  model.ir_version = 8;
  model.opset_imports = {{"", 17}};
  for (size_t i = 0; i < sizes.size(); ++i) {
    Tensor tensor = Tensor::Zeros(DType::kUInt8, {sizes[i]});
    int64_t k = 0;
    for (std::byte& b : tensor.mutable_bytes()) b = static_cast<std::byte>(k++ * 7 + i);
    model.graph->AddConstant(StrCat("w", i), std::move(tensor));
  }
  return model;
}

void ExpectSameConstants(const Graph& a, const Graph& b) {
  const auto left = a.constants(), right = b.constants();
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i]->name(), right[i]->name());
    EXPECT_TRUE(*left[i]->constant() == *right[i]->constant()) << left[i]->name();
  }
}

TEST_F(OnnxFileTest, WritesExternalData) {
  using External = OnnxWriteOptions::External;
  Model model = WithConstants({10, 1023, 1024, 5000, 1 << 20, 100000, 3 << 20, 2000});
  // The same bytes under two names are stored once.
  model.graph->AddConstant("tied", *model.graph->Find("w3")->constant());
  model.graph->AddConstant("text", Tensor::Strings({1}, {"t"}));

  ASSERT_TRUE(WriteOnnx(model, Path("always.onnx"), {.external = External::kAlways}).ok());
  EXPECT_EQ(NumFiles(), 2);
  const json proto = DecodeProto("ModelProto", ReadFile(Path("always.onnx")));
  std::vector<std::string> places;
  for (const json& tensor : proto["graph"]["initializer"]) {
    std::string place = tensor["name"].get<std::string>();
    if (tensor.contains("external_data")) {
      EXPECT_EQ(tensor["data_location"], 1);
      EXPECT_EQ(tensor["external_data"][0]["value"], "always.onnx.data");
      place += " " + tensor["external_data"][1]["value"].get<std::string>();
    }
    places.push_back(place);
  }
  EXPECT_EQ(places,
            (std::vector<std::string>{"w0", "w1", "w2 0", "w3 4096", "w4 12288", "w5 1060864",
                                      "w6 1163264", "w7 4308992", "tied 4096", "text"}));
  auto read = ReadOnnx(Path("always.onnx"));
  ASSERT_TRUE(read.ok()) << read.status();
  ExpectSameConstants(*model.graph, *read->graph);

  // Over its own input, external data included; and back to one file.
  ASSERT_TRUE(WriteOnnx(*read, Path("always.onnx"), {.external = External::kAlways}).ok());
  ExpectSameConstants(*model.graph, *ReadOnnx(Path("always.onnx"))->graph);
  ASSERT_TRUE(WriteOnnx(*read, Path("one.onnx")).ok());
  EXPECT_EQ(NumFiles(), 3);
  ExpectSameConstants(*model.graph, *ReadOnnx(Path("one.onnx"))->graph);
  EXPECT_EQ(ReadFile(Path("one.onnx")), *SerializeOnnx(model));

  // The limit decides; what cannot fit is an error that leaves nothing behind.
  ASSERT_TRUE(WriteOnnx(model, Path("auto.onnx"), {.max_inline = 100000}).ok());
  EXPECT_TRUE(fs::exists(Path("auto.onnx.data")));
  const size_t files = NumFiles();
  const absl::Status never =
      WriteOnnx(model, Path("n.onnx"), {.external = External::kNever, .max_inline = 100000});
  EXPECT_EQ(never.code(), absl::StatusCode::kFailedPrecondition) << never;
  EXPECT_EQ(WriteOnnx(model, Path("n.onnx"), {.max_inline = 1000}).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(NumFiles(), files);
}

TEST_F(OnnxFileTest, LargeAttributeTensorsGoOutLast) {
  Model model = WithConstants({5000});
  Node* node = model.graph->AppendNode("onnx", "Constant", {});
  node->SetAttr("value", *model.graph->Find("w0")->constant());
  node->SetAttr("sparse", Tensor::Sparse({9000}, Tensor::Zeros(DType::kUInt8, {5000}),
                                         Tensor::Zeros(DType::kInt64, {5000})));
  model.graph->AddNodeOutput(node, "c");
  for (uint64_t limit : {60000, 52000, 2000}) {
    ASSERT_TRUE(WriteOnnx(model, Path("m.onnx"), {.max_inline = limit}).ok()) << limit;
    auto read = ReadOnnx(Path("m.onnx"));
    ASSERT_TRUE(read.ok()) << read.status();
    const Tensor& value = *read->graph->first()->attrs().Find("value")->get<Tensor>();
    EXPECT_TRUE(value == *node->attrs().Find("value")->get<Tensor>());
    const Tensor& sparse = *read->graph->first()->attrs().Find("sparse")->get<Tensor>();
    EXPECT_TRUE(sparse == *node->attrs().Find("sparse")->get<Tensor>());
    EXPECT_EQ(value.file_range()->file->path().ends_with(".data"), limit == 2000);
    EXPECT_EQ(fs::exists(Path("m.onnx.data")), limit < 60000);
  }
}

TEST_F(OnnxFileTest, WhatCannotBeWritten) {
  Model model = WithConstants({});
  Value* x = model.graph->AddInput("x", Type());
  Node* node = model.graph->AppendNode("", "relu", {x});
  node->set_name("n");
  model.graph->AddNodeOutput(node, "y");
  EXPECT_EQ(SerializeOnnx(model).status().message(),
            "relu 'n': an op of the IR cannot be written to an ONNX file");
  node->set_op("onnx", "Relu");
  node->SetAttr("alpha", 0.5);  // a double that is a float
  EXPECT_TRUE(SerializeOnnx(model).ok());
  node->SetAttr("alpha", 0.1);
  EXPECT_EQ(SerializeOnnx(model).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(WriteOnnx(model, Path("m.onnx")).ok());
  node->EraseAttr("alpha");
  EXPECT_EQ(WriteOnnx(model, Path("none/m.onnx")).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(NumFiles(), 0);
  EXPECT_EQ(ReadOnnx(Path("m.onnx")).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(OnnxFileTest, TensorFiles) {
  const json tensor = {
      {"dims", {2}}, {"data_type", 1}, {"name", "out"}, {"float_data", {1.0, 2.0}}};
  WriteFile(Path("t.pb"), EncodeProto("TensorProto", tensor));
  auto read = ReadOnnxTensor(Path("t.pb"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read == Tensor::Of<float>({2}, {1, 2}));
}

// --- Types that changed -------------------------------------------------------------------

TEST(Onnx, NotesOnTypesFollowWhereTheyFit) {
  auto model = ParseOnnx(EncodeProto("ModelProto", FullModel()));
  ASSERT_TRUE(model.ok());
  Value* x = model->graph->Find("x");
  Value* odd = model->graph->Find("odd");
  x->set_type(Type::Tensor(DType::kFloat32, Shape{2, 3, 4}));
  odd->set_type(Type::Tensor(DType::kFloat32, Shape{1, 7, 3}));
  json inputs = DecodeProto("ModelProto", *SerializeOnnx(*model))["graph"]["input"];
  EXPECT_EQ(inputs[0]["type"]["denotation"], "IMAGE");
  EXPECT_EQ(inputs[0]["type"]["tensor_type"]["shape"]["dim"][0],
            (json{{"dim_value", 2}, {"denotation", "DATA_BATCH"}}));
  EXPECT_FALSE(inputs[1]["type"].contains("#50"));
  EXPECT_EQ(inputs[1]["type"]["tensor_type"]["shape"]["dim"][1], (json{{"dim_value", 7}}));
  x->set_type(Type::Tensor(DType::kFloat32, Shape{2}));
  inputs = DecodeProto("ModelProto", *SerializeOnnx(*model))["graph"]["input"];
  EXPECT_EQ(inputs[0]["type"]["tensor_type"]["shape"]["dim"], (json{{{"dim_value", 2}}}));
}

// Unknown fields have numbers of one message; in another they would mean something else.
TEST(Onnx, UnknownFieldsStayInTheirMessage) {
  const json source = json::parse(R"({"ir_version": 8, "graph": {
    "input": [{"name": "w", "#5": 7}],
    "initializer": [{"name": "w", "data_type": 2, "dims": [1], "raw_data": "a", "#70": 1}],
    "sparse_initializer": [{"values": {"name": "s", "data_type": 2, "dims": [1], "raw_data": "b"},
      "indices": {"data_type": 7, "dims": [1], "int64_data": [0]}, "dims": [1], "#70": 1}]}})");
  auto model = ParseOnnx(EncodeProto("ModelProto", source));
  ASSERT_TRUE(model.ok()) << model.status();
  Graph& graph = *model->graph;
  graph.FreezeInput(graph.Find("w"));
  graph.ReplaceConstant(graph.Find("s"), Tensor::Of<uint8_t>({1}, {uint8_t{'b'}}));
  const json written = DecodeProto("ModelProto", *SerializeOnnx(*model))["graph"];
  const json dense = {{"name", "s"}, {"data_type", 2}, {"dims", {1}}, {"raw_data", "b"}};
  EXPECT_EQ(
      Differences(written["initializer"], json::array({dense, source["graph"]["initializer"][0]})),
      "");
  EXPECT_FALSE(written.contains("sparse_initializer"));
}

// --- Size ---------------------------------------------------------------------------------

TEST_F(OnnxFileTest, ManyNodes) {
  using Clock = std::chrono::steady_clock;
  const auto ms = [](Clock::duration d) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  };
  // Twice as many nodes may take little more than twice as long.
  for (int n : {100000, 200000}) {
    Model model = WithConstants({64});
    Graph& graph = *model.graph;
    Value* value = graph.AddInput("x", Type::Tensor(DType::kFloat32, Shape{1, 64}));
    for (int i = 0; i < n; ++i) {
      Node* node = graph.AppendNode("onnx", "Add", {value, graph.Find("w0")});
      node->set_name(StrCat("node_", i));
      node->SetAttr("axis", 1);
      value = graph.AddNodeOutput(node, StrCat("value_", i),
                                  Type::Tensor(DType::kFloat32, Shape{1, 64}));
    }
    graph.AddOutput(value);
    const auto start = Clock::now();
    ASSERT_TRUE(WriteOnnx(model, Path("m.onnx")).ok());
    const auto written = Clock::now();
    auto read = ReadOnnx(Path("m.onnx"));
    const auto done = Clock::now();
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->graph->num_nodes(), static_cast<size_t>(n));
    std::cout << n << " nodes: write " << ms(written - start) << " ms, read " << ms(done - written)
              << " ms\n";
    EXPECT_LT(ms(done - start), 20000);
  }
}

}  // namespace
}  // namespace x2ir
