// Archives of torch.export made by hand, byte by byte: what they say, and what is wrong with them.
#include "x2ir/formats/torch/torch.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/temp_dir_util.h"
#include "tests/formats/torch_zip_util.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/torch/pickle.h"
#include "x2ir/formats/torch/symbols.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

using namespace torch_zip;  // what archives are made of

absl::StatusOr<Model> Read(std::string_view bytes, const std::string& model = "") {
  const TempDir dir;
  return ReadTorch(dir.Put("model.pt2", bytes), {.model = model});
}

std::vector<Entry> Archive(std::string program = Program()) {
  return {{"m/archive_format", "pt2"},
          {"m/byteorder", "little"},
          {"m/models/model.json", std::move(program)},
          {"m/data/weights/weight_0", Floats({1, 2, 3, 4})},
          {"m/data/weights/model_weights_config.json", Weights(R"({"as_int": 1})", 1)}};
}

TEST(Torch, ReadsAProgram) {
  for (const Zip& zip : {Zip(), Zip{.zip64 = true}}) {
    const auto model = Read(zip.Make(Archive()));
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(ToText(*model->graph),
              "graph(x: float32[s0,2]) -> (add: float32[s0,2]) {\n"
              "  fc.weight = float32[2]{2, 3}\n"
              "  add: float32[s0,2] = torch.aten::add.Tensor(x, fc.weight) "
              "{ operands = [\"self\", \"other\"], alpha = infd }\n"
              "}\n")
        << ToText(*model->graph);
    EXPECT_EQ(model->graph->first()->name(), "fc");
    EXPECT_EQ(model->Opset("aten"), 10);
    EXPECT_EQ(model->producer_version, "2.9");
    const Tensor* weight = model->graph->Find("fc.weight")->constant();
    EXPECT_TRUE(weight->file_range().has_value()) << "weights stay mapped";
  }
}

TEST(Torch, ReadsStridedWeights) {
  std::vector<Entry> archive = Archive();
  archive[4].text = Weights(R"({"as_int": 2})", 1);
  auto model = Read(Zip().Make(archive));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(*model->graph->Find("fc.weight")->constant(), Tensor::Of<float>({2}, {2, 4}));
  archive[4].text = Weights(R"({"as_int": 0})", 3);
  model = Read(Zip().Make(archive));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(*model->graph->Find("fc.weight")->constant(), Tensor::Of<float>({2}, {4, 4}));
}

TEST(Torch, ReadsDeflatedEntries) {
  std::vector<Entry> archive = Archive();
  for (Entry& entry : archive) entry.deflate = true;
  const auto model = Read(Zip().Make(archive));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(*model->graph->Find("fc.weight")->constant(), Tensor::Of<float>({2}, {2, 3}));
}

TEST(Torch, AsksWhichModel) {
  std::vector<Entry> archive = Archive();
  archive.push_back({"m/models/other.json", Program()});
  const std::string bytes = Zip().Make(archive);
  EXPECT_EQ(Read(bytes).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Read(bytes, "model").ok());
  EXPECT_EQ(Read(bytes, "third").status().code(), absl::StatusCode::kInvalidArgument);
}

// What torch.save makes of {"fc.weight": tensor([2, 3])}.
std::string Pickle(std::string_view function = "_rebuild_tensor_v2") {
  std::string p = "\x80\x02}(";
  p += std::string("X\x09\0\0\0", 5) + "fc.weight";
  p += StrCat("ctorch._utils\n", function, "\n");
  p += std::string("((X\x07\0\0\0", 7) + "storage" + "ctorch\nFloatStorage\n";
  p += std::string("X\x01\0\0\0", 5) + "0" + std::string("X\x03\0\0\0", 5) + "cpu" + "K\x04tQ";
  p += "K\x01K\x02\x85K\x01\x85\x89"
       "ccollections\nOrderedDict\n)RtRu.";
  return p;
}
std::vector<Entry> OldArchive(const std::string& pickle = Pickle()) {
  return {{"serialized_exported_program.json", Program()},
          {"serialized_state_dict.pt",
           Zip().Make({{"archive/data.pkl", pickle}, {"archive/data/0", Floats({1, 2, 3, 4})}})}};
}

TEST(Torch, ReadsTheOlderLayout) {
  const auto model = Read(Zip().Make(OldArchive()));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(*model->graph->Find("fc.weight")->constant(), Tensor::Of<float>({2}, {2, 3}));
}

TEST(Torch, RefusesOtherPickles) {
  for (const std::string& pickle :
       {std::string("cos\nsystem\n(X\x02\0\0\0lstR.", 22), Pickle("_rebuild_qtensor"),
        std::string("\x80\x02}(X\xff\xff\xff\xff.", 9), std::string("."), std::string("tttt"),
        std::string(100000, '('), std::string("}h\x07."), std::string("i")}) {
    const auto model = Read(Zip().Make(OldArchive(pickle)));
    EXPECT_FALSE(model.ok());
  }
  // A million tuples in one another are no problem.
  const auto deep = Read(Zip().Make(OldArchive(StrCat("N", std::string(1000000, '\x85'), "."))));
  EXPECT_EQ(deep.status().code(), absl::StatusCode::kUnimplemented) << deep.status();
}

TEST(Torch, RefusesBrokenArchives) {
  const std::vector<Entry> good = Archive();
  const auto with = [&](Entry entry) {
    std::vector<Entry> archive = good;
    archive.push_back(std::move(entry));
    return Zip().Make(archive);
  };
  struct Row {
    std::string what, bytes, says;
  };
  std::vector<Entry> bomb = good;
  bomb[2] = {"m/models/model.json", std::string(1000, ' '), true, uint64_t{1} << 31};
  std::vector<Entry> short_entry = good;
  short_entry[2] = {"m/models/model.json", Program(), true, Program().size() + 1};
  std::vector<Entry> two_sizes = good;
  two_sizes[3].claimed = 1000;
  const Row rows[] = {
      {"a climbing name", with({"m/../../x", ""}), "bad name"},
      {"an absolute name", with({"/etc/passwd", ""}), "bad name"},
      {"an empty name", with({"", ""}), "bad name"},
      {"a name twice", with({"m/byteorder", "little"}), "twice"},
      {"a bomb", Zip().Make(bomb), "packed into"},
      {"a wrong size", Zip().Make(short_entry), "cannot be unpacked"},
      {"two sizes", Zip().Make(two_sizes), "two sizes"},
      {"overlaps", Zip{.offset_of_all = 1}.Make({{"m/a", "1"}, {"m/b", "2"}}), "another name"},
      {"no program", Zip().Make({{"m/x", ""}}), "none of torch.export"},
      {"nothing", "PK", "not a zip"},
      {"torch.save", Zip().Make({{"m/data.pkl", ""}, {"m/data/0", ""}}),
       "it holds weights, or pickled Python code, but no program that can be read without Python: "
       "torch.export.save(torch.export.export(model, inputs), 'model.pt2')"},
      {"an old torch.save", "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M",
       "torch.export.save(torch.export.export(model, inputs), 'model.pt2')"},
      {"torch.jit.save", Zip().Make({{"m/data.pkl", ""}, {"m/constants.pkl", ""}}),
       "the archive does not say its version"},
      {"big endian", Zip().Make({{"m/archive_format", ""}, {"m/byteorder", "big"}}), "byte order"},
  };
  for (const Row& row : rows) {
    const auto model = Read(row.bytes);
    ASSERT_FALSE(model.ok()) << row.what;
    EXPECT_NE(model.status().ToString().find(row.says), std::string::npos)
        << row.what << ": " << model.status();
  }
}

TEST(Torch, RefusesBrokenPrograms) {
  const std::pair<std::string, std::string> edits[] = {
      {R"("name": "x"}}, "kind)", R"("name": "z"}}, "kind)"},  // no such value
      {R"("major": 8)", R"("major": 9)"},                      // too new
      {R"("as_int": 2})", R"("as_int": -2})"},                 // a negative size
      {R"("target": "torch.ops.aten.add.Tensor",)", ""},       // no target
      {R"("signature")", R"("sig")"},
      {R"({"as_float": "Infinity"})", R"({"as_float": "many"})"},
      {R"({"as_float": "Infinity"})", R"({})"},
  };
  for (const auto& [from, to] : edits) {
    std::string program = Program();
    const size_t at = program.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    program.replace(at, from.size(), to);
    EXPECT_FALSE(Read(Zip().Make(Archive(program))).ok()) << from;
  }
  // Out of the storage.
  for (const auto& [stride, offset] : {std::pair("1", 3), {"9223372036854775807", 0}, {"-1", 2}}) {
    std::vector<Entry> archive = Archive();
    archive[4].text = Weights(StrCat(R"({"as_int": )", stride, "}"), offset);
    EXPECT_FALSE(Read(Zip().Make(archive)).ok()) << stride;
  }
  std::vector<Entry> huge = Archive();
  const size_t at = huge[4].text.find(R"({"as_int": 2})");
  huge[4].text.replace(at, 13, R"({"as_int": 4611686018427387904})");
  EXPECT_FALSE(Read(Zip().Make(huge)).ok());
}

// Any bytes give an error or a model.
TEST(Torch, SurvivesChangedBytes) {
  std::mt19937 random(7);
  const std::string seeds[] = {Zip().Make(Archive()), Zip{.zip64 = true}.Make(Archive()),
                               Zip().Make(OldArchive())};
  for (const std::string& seed : seeds) {
    for (size_t cut = 0; cut < seed.size(); cut += 97) (void)Read(seed.substr(0, cut));
    for (int i = 0; i < 400; ++i) {
      std::string bytes = seed;
      for (int k = 0; k < 3; ++k) {
        // Half of the changes at the end, where the directory is.
        const size_t span = k % 2 ? bytes.size() : std::min<size_t>(bytes.size(), 600);
        bytes[bytes.size() - 1 - random() % span] = static_cast<char>(random());
      }
      (void)Read(bytes);
    }
  }
}

TEST(Torch, ReadsSizes) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"Symbol('s0', positive=True, integer=True)", "s0"},
      {"Mul(Integer(8), Symbol('s0', integer=True))", "8*s0"},
      {"Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(-1))", "2*s0-1"},
      {"2*s0 + 1", "2*s0+1"},
      {"(s0//2)", "floordiv(s0, 2)"},
      {"FloorDiv(Symbol('s0', integer=True), Integer(2))", "floordiv(s0, 2)"},
      {"Mod(s0, 3)", "mod(s0, 3)"},
      {"Max(1, s0)", "max(1, s0)"},
      {"s0**2", "s0*s0"},
      {"s0/2", "?"},
      {"floor(s0)", "?"},
      {"", "?"},
      {"((((", "?"},
      {"7", "7"},
  };
  for (const auto& [text, want] : rows) {
    const Dim got = ParseTorchSize(text);
    if (want == "?") {
      EXPECT_TRUE(got.is_unknown()) << text;
    } else {
      EXPECT_TRUE(ProvablyEqual(got, Dim::Symbol(want))) << text << ": " << got.ToString();
    }
  }
  EXPECT_TRUE(ParseTorchSize(std::string(100000, '(')).is_unknown());
  (void)ParseTorchSize(std::string(100000, '-'));
}

}  // namespace
}  // namespace x2ir
