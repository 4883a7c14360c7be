// Archives of torch.export as they are written: what lies where, names, symbols, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/formats/io/checksums.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/io/zip_writer.h"
#include "x2ir/formats/torch/pickle.h"
#include "x2ir/formats/torch/torch.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

absl::StatusOr<std::string> Written(std::string_view graph) {
  Model model;
  X2IR_ASSIGN_OR_RETURN(model.graph, ParseGraph(graph));
  std::string bytes;
  X2IR_RETURN_IF_ERROR(WriteTorch(model, Sink::To(&bytes)));
  return bytes;
}

// The text of an entry.
std::string EntryOf(const std::string& bytes, std::string_view name) {
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  auto zip = ZipArchive::Open(Blob::InMemory({data, bytes.size()}, nullptr, "zip"));
  if (!zip.ok()) return std::string(zip.status().message());
  const ZipEntry* entry = zip->Find(name);
  if (!entry) return StrCat("there is no ", name);
  return std::string(zip->Read(*entry)->view);
}

constexpr char kLayer[] =
    "graph(x: float32[batch,2]) -> (y: float32[batch,3]) {\n"
    "  /fc/in/w = float32[3,2]{1, 2, 3, 4, 5, 6}\n"
    "  fc.in.w.bias = float32[3]{1, 2, 3}\n"
    "  half = float32[]{0.5}\n"
    "  ids = int64[2]{7, 8}\n"
    "  class: float32[batch,3] = torch.aten::linear.default(x, /fc/in/w, fc.in.w.bias) "
    "{ operands = [\"input\", \"weight\", \"bias\"] }\n"
    "  n: int64[] = torch.aten::sym_size.int(x) { operands = [\"self\"], dim = 0 }\n"
    "  y: float32[batch,3] = torch.aten::mul.Tensor(class, half) "
    "{ operands = [\"self\", \"other\"] }\n"
    "}\n";

// CRC-32 as its definition says it, bit by bit.
uint32_t SlowChecksum(std::string_view bytes, uint32_t crc) {
  crc = ~crc;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

TEST(TorchWriter, ChecksumsAreThoseOfZip) {
  EXPECT_EQ(Crc32("123456789"), 0xcbf43926);
  std::string bytes;
  uint32_t random = 1;
  for (int i = 0; i < 1000; ++i) {
    bytes += static_cast<char>((random = random * 1664525 + 1013904223) >> 24);
  }
  for (size_t size = 0; size <= bytes.size(); size += size < 300 ? 1 : 7) {
    const std::string_view part(bytes.data() + bytes.size() - size, size);  // not aligned
    ASSERT_EQ(Crc32(part), SlowChecksum(part, 0)) << size;
    const size_t cut = size / 3;
    ASSERT_EQ(Crc32(part.substr(cut), Crc32(part.substr(0, cut))), Crc32(part));
  }
}

TEST(TorchWriter, EntriesAreAlignedAndStored) {
  const auto bytes = Written(kLayer);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto* data = reinterpret_cast<const std::byte*>(bytes->data());
  const auto zip = ZipArchive::Open(Blob::InMemory({data, bytes->size()}, nullptr, "zip"));
  ASSERT_TRUE(zip.ok()) << zip.status();
  std::string names;
  for (const ZipEntry& entry : zip->entries()) {
    EXPECT_TRUE(entry.stored()) << entry.name;
    EXPECT_EQ(entry.offset % 64, 0) << entry.name;
    EXPECT_EQ(Crc32(std::string_view(*bytes).substr(entry.offset, entry.size)), entry.crc);
    StrAppend(&names, entry.name.substr(6), " ");
  }
  EXPECT_EQ(names,
            "data/weights/weight_0 data/weights/weight_1 data/weights/model_weights_config.json "
            "data/constants/tensor_0 data/constants/model_constants_config.json models/model.json "
            "data/sample_inputs/model.pt archive_format archive_version byteorder .data/version ");
  EXPECT_EQ(EntryOf(*bytes, "model/archive_format"), "pt2");
  EXPECT_EQ(*Written(kLayer), *bytes);
}

TEST(TorchWriter, WeightsHaveKindsAndPaths) {
  const auto bytes = Written(kLayer);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const std::string program = EntryOf(*bytes, "model/models/model.json");
  for (
      const char* part : {
          // A weight may not lie inside another one; unused ones are not there.
          R"({"parameter": {"arg": {"name": "p_fc_in__w"}, "parameter_name": "fc.in_.w"}})",
          R"({"parameter": {"arg": {"name": "p_fc_in__w_bias"}, "parameter_name": "fc_in__w_bias"}})",
          R"({"tensor_constant": {"arg": {"name": "c_half_"}, "tensor_constant_name": "half_"}})",
          R"("name": "class_1")",  // a word of Python's
          R"JSON("expr_str": "Symbol('s0', positive=True, integer=True)", "hint": {"as_int": 2})JSON",
          R"("range_constraints": {"s0": {"min_val": 2, "max_val": null}})",
          R"("forward_arg_names": ["x"])",
          R"({"name": "bias", "arg": {"as_tensor": {"name": "p_fc_in__w_bias"}}, "kind": 1})",
      }) {
    EXPECT_NE(program.find(part), program.npos) << part << "\n" << program;
  }
  EXPECT_EQ(program.find("ids"), program.npos);
  const auto read = ReadTorch(Source::Bytes(*bytes, {}, "net.pt2"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToText(*read->graph),
            "graph(x: float32[s0,2]) -> (y: float32[s0,3]) {\n"
            "  fc.in_.w = float32[3,2]{1, 2, 3, 4, 5, 6}\n"
            "  fc_in__w_bias = float32[3]{1, 2, 3}\n"
            "  half_ = float32[]{0.5}\n"
            "  class_1: float32[s0,3] = torch.aten::linear.default(x, fc.in_.w, fc_in__w_bias) "
            "{ operands = [\"input\", \"weight\", \"bias\"] }\n"
            "  n: int64[] = torch.aten::sym_size.int(x) { operands = [\"self\"], dim = 0 }\n"
            "  y: float32[s0,3] = torch.aten::mul.Tensor(class_1, half_) "
            "{ operands = [\"self\", \"other\"] }\n"
            "}\n")
      << ToText(*read->graph);
}

// A program whose arguments or results are more than a tuple is written as it was read.
TEST(TorchWriter, TreesAreKept) {
  const auto leaves = [](int n) {
    std::string text;
    for (int i = 0; i < n; ++i) {
      StrAppend(&text, i ? ", " : "", R"({"type": null, "context": null, "children_spec": []})");
    }
    return text;
  };
  const std::string in = StrCat(
      R"([1, {"type": "builtins.tuple", "context": "null", "children_spec": [)",
      R"({"type": "builtins.tuple", "context": "null", "children_spec": [)",
      R"({"type": "builtins.list", "context": "null", "children_spec": [)", leaves(1), "]}, ",
      leaves(1), R"(]}, {"type": "builtins.dict", "context": "[\"scale\"]", "children_spec": [)",
      leaves(1), "]}]}]");
  const std::string out =
      StrCat(R"([1, {"type": "Point", "context": "null", "children_spec": [)", leaves(2), "]}]");
  using Notes = std::map<std::string, std::string>;
  const Notes notes = {{"torch.in_tree", in},
                       {"torch.in_leaves", "x\n\nn\n"},
                       {"torch.out_tree", out},
                       {"torch.out_leaves", "\ny\n"},
                       {"torch.arguments", "a\nb\nscale\n"},
                       {"torch.namedtuples", "Point\tp\tq\n"}};
  const auto again = [](const Notes& notes) -> absl::StatusOr<Notes> {
    Model model;
    X2IR_ASSIGN_OR_RETURN(model.graph,
                          ParseGraph("graph(x: float32[2], n: float32[2]) -> (y: float32[2]) {\n"
                                     "  y: float32[2] = torch.aten::mul.Tensor(x, n) "
                                     "{ operands = [\"self\", \"other\"] }\n}\n"));
    model.graph->annotations().GetOrMake().extra = notes;
    std::string bytes;
    X2IR_RETURN_IF_ERROR(WriteTorch(model, Sink::To(&bytes)));
    X2IR_ASSIGN_OR_RETURN(model, ReadTorch(Source::Bytes(bytes, {}, "net.pt2")));
    Notes extra = model.graph->annotations().GetOrMake().extra;
    extra.erase("torch.classes");
    return extra;
  };
  const auto kept = again(notes);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(*kept, notes);
  const auto without = [&](const Notes& changes) {
    Notes all = notes;
    for (const auto& [key, text] : changes) all[key] = text;
    return again(all).value_or(Notes());
  };
  // What is not, or no longer, true is not written: other inputs, other leaves, no names, no trees.
  for (const Notes& changes : std::initializer_list<Notes>{
           {{"torch.in_leaves", "x\n\nz\n"}},
           {{"torch.in_leaves", "x\nn\n"}},
           {{"torch.arguments", "a\nb=print()\nscale\n"}},
           {{"torch.arguments", "a\na\nscale\n"}},
           {{"torch.arguments", "a\nb\n"}},
           {{"torch.in_tree", in.substr(0, in.size() - 1)}},
           {{"torch.in_tree", "[2" + in.substr(2)}},
       }) {
    const Notes left = without(changes);
    EXPECT_FALSE(left.contains("torch.in_tree")) << changes.begin()->second;
    EXPECT_TRUE(left.contains("torch.out_tree"));
  }
  std::string deep = "[1, ";
  for (int i = 0; i < 10000; ++i) deep += R"({"type": "builtins.list", "children_spec": [)";
  for (const std::string& bad : {std::string("[1]"), std::string("{}"), deep}) {
    EXPECT_FALSE(without({{"torch.out_tree", bad}}).contains("torch.out_tree"));
  }
}

TEST(TorchWriter, ExampleInputsAreWhatTorchSaveMakes) {
  const auto bytes =
      Written("graph(x: float32[batch,2], n: int64[3], f: float8e4m3fn[1]) -> (x) {\n}\n");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const std::string inputs = EntryOf(*bytes, "model/data/sample_inputs/model.pt");
  EXPECT_NE(inputs.find("_rebuild_tensor_v2\n((X\x07"), inputs.npos);
  EXPECT_NE(inputs.find("LongStorage"), inputs.npos);
  EXPECT_NE(inputs.find("float8_e4m3fn"), inputs.npos);
  for (const auto& [entry, size] : {std::pair("0", 16), {"1", 24}, {"2", 1}}) {
    EXPECT_EQ(EntryOf(inputs, StrCat("model/data/", entry)),
              std::string(static_cast<size_t>(size), '\0'));
  }
}

// What a graph inside uses of the outer one, constants too, goes in as operands.
TEST(TorchWriter, NestedGraphsAreGivenWhatTheyUse) {
  const auto bytes = Written(
      "graph(c: bool[], x: float32[2]) -> (y: float32[2]) {\n"
      "  w = float32[2]{1, 2}\n"
      "  y: float32[2] = torch.higher_order::cond(c) {\n"
      "    operands = [\"arg0\"],\n"
      "    arg1 = graph then() -> (a: float32[2]) {\n"
      "      two = float32[2]{2, 2}\n"
      "      a: float32[2] = torch.aten::mul.Tensor(x, two) { operands = [\"self\", \"other\"] }\n"
      "    },\n"
      "    arg2 = graph otherwise() -> (b: float32[2]) {\n"
      "      b: float32[2] = torch.aten::add.Tensor(x, w) { operands = [\"self\", \"other\"] }\n"
      "    }\n"
      "  }\n"
      "}\n");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto read = ReadTorch(Source::Bytes(*bytes, {}, "net.pt2"));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->graph->first()->num_inputs(), 4) << ToText(*read->graph);
  EXPECT_EQ(read->graph->first()->subgraphs()[1]->inputs().size(), 3);
  EXPECT_NE(EntryOf(*bytes, "model/models/model.json").find("\"name\": \"otherwise\""),
            std::string::npos);
}

TEST(TorchWriter, RefusesByName) {
  struct Row {
    const char *graph, *error;
  };
  static constexpr Row kRows[] = {
      {"graph(x: string[2]) -> (x) {\n}\n", "value 'x': PyTorch has no tensors of string"},
      {"graph(x: sequence(float32[2])) -> (x) {\n}\n", "value 'x': .* only tensors"},
      {"graph(x: float32[...]) -> (x) {\n}\n", "value 'x': .* float32\\[\\.\\.\\.\\]"},
      {"graph(x: float32[2]) -> (y) {\n  y: float32[2] = relu(x)\n}\n",
       "relu is not an operator of PyTorch"},
      {"graph(x: float32[2]) -> (y: float32[2]) {\n  w = int4[2]{1, 2}\n"
       "  y: float32[2] = torch.aten::add.Tensor(x, w) { operands = [\"self\", \"other\"] }\n}\n",
       "constant 'w': PyTorch has no tensors of int4\\[2\\]"},
  };
  for (const Row& row : kRows) {
    const auto bytes = Written(row.graph);
    EXPECT_EQ(bytes.status().code(), absl::StatusCode::kFailedPrecondition) << row.graph;
    EXPECT_THAT(std::string(bytes.status().message()), ::testing::ContainsRegex(row.error));
  }
}

}  // namespace
}  // namespace x2ir
