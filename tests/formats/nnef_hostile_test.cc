// Models of NNEF that read what is not theirs, are broken, or would become more than fits.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/run_text_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/nnef_files_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/io/tar.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// y = x + w, whose tensor is of that label.
std::string TextOfLabel(std::string_view label) {
  return NnefText("[2]", StrCat("w = variable(shape = [2], label = '", label, "'); y = x + w;"));
}
const std::string& OnesDat() {
  static const auto& dat =
      *new std::string(NnefDat(0, 32, {2}, std::string_view("\0\0\x80\x3f\0\0\x80\x3f", 8)));
  return dat;
}
std::string Outcome(const absl::StatusOr<Model>& model) {
  return ResultsText(model, {"float32[2]{1, 2}"});
}

// --- Folders -------------------------------------------------------------------------------------

struct FolderRow {
  std::string label;
  std::function<void(const TempDir& dir)> prepare;
  std::string want;
};
// The model is in m.nnef of the folder.
TEST(NnefContainment, Folders) {
  const std::string missing = "there is no file";
  const std::string ones = "float32[2]{2, 3}";
  const auto link = [](std::string_view to) {
    return [to](const TempDir& dir) { fs::create_symlink(to, dir.Path("m.nnef/w.dat")); };
  };
  const FolderRow rows[] = {
      {"w", [](const TempDir& dir) { dir.Put("m.nnef/w.dat", OnesDat()); }, ones},
      {"a/w", [](const TempDir& dir) { dir.Put("m.nnef/a/w.dat", OnesDat()); }, ones},
      // The path is one of the model's folder.
      {"/w", [](const TempDir& dir) { dir.Put("m.nnef/w.dat", OnesDat()); }, ones},
      {"../w", [](const TempDir&) {}, missing},
      {"a/../../w", [](const TempDir& dir) { dir.Put("m.nnef/a/v.dat", ""); }, missing},
      {"w", link("../w.dat"), missing},
      {"w", link("/dev/zero"), missing},
      {"w", link("w.dat"), missing},
      {"w", link("gone.dat"), missing},
      {"a/w", [](const TempDir& dir) { fs::create_directory_symlink("..", dir.Path("m.nnef/a")); },
       missing},
      {"w",
       [](const TempDir& dir) {
         dir.Put("m.nnef/v.dat", OnesDat());
         fs::create_symlink("v.dat", dir.Path("m.nnef/w.dat"));
       },
       ones},
      // Nobody writes to the pipe, so reading it would not end.
      {"w", [](const TempDir& dir) { ::mkfifo(dir.Path("m.nnef/w.dat").c_str(), 0600); }, missing},
      {"w", [](const TempDir& dir) { fs::create_directory(dir.Path("m.nnef/w.dat")); }, missing},
      {std::string("w\\0", 3), [](const TempDir&) {}, missing},
      {"", [](const TempDir&) {}, missing},
  };
  for (const FolderRow& row : rows) {
    const TempDir dir;
    dir.Put("w.dat", OnesDat());
    dir.Put("m.nnef/graph.nnef", TextOfLabel(row.label));
    row.prepare(dir);
    EXPECT_THAT(Outcome(Import(dir.Path("m.nnef"), {.format = "nnef"})), HasSubstr(row.want))
        << row.label;
  }
}

// A model in a model is within the folder, too.
TEST(NnefContainment, ModelsInModels) {
  const auto text = [](std::string_view label) {
    return NnefText("[2]", StrCat("y = tract_core_submodel(x, label = '", label, "');"),
                    "extension tract_registry tract_core;\n");
  };
  const TempDir dir;
  dir.Put("other/graph.nnef", NnefText("[2]", "y = x + 1.0;"));
  const auto read = [&](std::string_view label) {
    dir.Put("m.nnef/graph.nnef", text(label));
    return Outcome(Import(dir.Path("m.nnef"), {.format = "nnef"}));
  };
  dir.Put("m.nnef/inside/graph.nnef", NnefText("[2]", "y = x + 1.0;"));
  EXPECT_EQ(read("inside"), "float32[2]{2, 3}");
  EXPECT_THAT(read("../other"), HasSubstr("there is no folder and no archive"));
  // It has itself inside.
  EXPECT_THAT(read("."), HasSubstr("models in models, more than 8 deep"));
}

// --- Archives ------------------------------------------------------------------------------------

struct TarEntry {
  std::string name, bytes;
  char type = '0';
};
std::string TarOf(const std::vector<TarEntry>& entries) {
  std::string tar;
  for (const TarEntry& entry : entries) {
    std::string header = TarHeader(entry.name, entry.bytes.size());
    // The header itself is the last block; its checksum counts the type.
    const size_t last = header.size() - kTarBlock;
    header[last + 156] = entry.type;
    if (entry.type == '1' || entry.type == '2') header.replace(last + 157, 8, "../w.dat");
    std::fill_n(header.begin() + static_cast<ptrdiff_t>(last + 148), 8, ' ');
    uint64_t sum = 0;
    for (size_t i = 0; i < kTarBlock; ++i) sum += static_cast<unsigned char>(header[last + i]);
    for (int i = 5; i >= 0; --i, sum >>= 3) {
      header[last + 148 + static_cast<size_t>(i)] = static_cast<char>('0' + (sum & 7));
    }
    header[last + 154] = '\0';
    StrAppend(&tar, header, entry.bytes);
    tar.resize((tar.size() + kTarBlock - 1) / kTarBlock * kTarBlock);
  }
  return tar + std::string(2 * kTarBlock, '\0');
}
std::string Gzipped(const std::string& bytes) {
  std::string packed;
  GzipWriter gzip([&](std::string_view part) {
    packed.append(part);
    return absl::OkStatus();
  });
  EXPECT_TRUE(gzip.Append(bytes).ok() && gzip.Finish().ok());
  return packed;
}

TEST(NnefContainment, Archives) {
  const std::string missing = "there is no file", ones = "float32[2]{2, 3}";
  const TarEntry graph = {"graph.nnef", TextOfLabel("w")};
  const std::string broken = NnefDat(0, 32, {2}, "");
  const std::string longer(150, 'l');
  struct Row {
    std::vector<TarEntry> entries;
    std::string want;
  };
  const Row rows[] = {
      {{graph, {"w.dat", OnesDat()}}, ones},
      {{graph, {"./w.dat", OnesDat()}}, ones},
      {{{"m/graph.nnef", graph.bytes}, {"m/w.dat", OnesDat()}}, ones},
      // What leads out of the archive is never unpacked, and has another name.
      {{graph, {"../w.dat", OnesDat()}}, missing},
      {{graph, {"/w.dat", OnesDat()}}, missing},
      {{{"graph.nnef", TextOfLabel("../w")}}, missing},
      // Links, devices, pipes and folders are no files.
      {{graph, {"w.dat", "", '1'}}, missing},
      {{graph, {"w.dat", "", '2'}}, missing},
      {{graph, {"w.dat", "", '3'}}, missing},
      {{graph, {"w.dat", "", '5'}}, missing},
      {{graph, {"w.dat", "", '6'}}, missing},
      // Of two files with one name the last one counts, as for tar itself.
      {{graph, {"w.dat", broken}, {"w.dat", OnesDat()}}, ones},
      {{graph, {"w.dat", OnesDat()}, {"w.dat", broken}}, "has the wrong size"},
      {{{"graph.nnef", TextOfLabel(longer)}, {longer + ".dat", OnesDat()}}, ones},
      {{graph, {"PaxHeader", "99 path=w.dat\n", 'x'}, {"other", OnesDat()}}, missing},
      {{graph, {"PaxHeader", "14 path=w.dat\n", 'x'}, {"other", OnesDat()}}, ones},
      {{graph, {"PaxHeader", "12 size=136\n", 'x'}, {"w.dat", OnesDat() + "beyond"}}, ones},
      {{graph, {"PaxHeader", "15 size=999999\n", 'x'}, {"w.dat", OnesDat()}}, "cut off"},
      {{graph, {"PaxHeader", "22 GNU.sparse.major=1\n", 'x'}, {"w.dat", OnesDat()}},
       "a sparse file"},
      {{graph, {"w.dat", OnesDat(), 'S'}}, "a sparse file"},
      {{{"w.dat", OnesDat()}}, "has no graph.nnef"},
  };
  for (const Row& row : rows) {
    for (const bool packed : {false, true}) {
      const std::string tar = TarOf(row.entries);
      const auto source = Source::Bytes(packed ? Gzipped(tar) : tar, {}, "m.nnef.tar");
      EXPECT_THAT(Outcome(Import(source, {.format = "nnef"})), HasSubstr(row.want))
          << row.entries.back().name << " " << row.entries.back().type;
    }
  }
}

// --- Tensors -------------------------------------------------------------------------------------

TEST(NnefHostile, TensorFiles) {
  const std::string ones = OnesDat();
  const auto with = [&](size_t at, std::string_view bytes) {
    std::string file = ones;
    return file.replace(at, bytes.size(), bytes);
  };
  using namespace std::string_view_literals;
  struct Row {
    std::string file, want;
  };
  const Row rows[] = {
      {ones, "float32[2]{2, 3}"},
      {ones + "beyond", "float32[2]{2, 3}"},
      {"", "no header of 128 bytes"},
      {ones.substr(0, 127), "no header of 128 bytes"},
      {ones.substr(0, 134), "cut off: 6 of 8 bytes"},
      {with(0, "\x4d"), "does not begin as one"},
      {with(2, "\2"), "version 2"},
      {with(4, "\xff\xff\xff\xff"), "cut off: 8 of 4294967295 bytes"},
      {with(4, "\4\0\0\0"sv), "has the wrong size"},
      {with(8, "\xff\xff\xff\xff"), "it has 4294967295 axes"},
      // 2^32 - 1 elements, and more than can be counted.
      {with(12, "\xff\xff\xff\xff"), "has the wrong size"},
      {NnefDat(0, 32, {~0u, ~0u, ~0u}, "12345678"), "its shape is too large"},
      {NnefDat(0, 32, {2, 0, ~0u}, ""), "variable 'w' is of shape [2]"},
      {with(44, "\x21"), "elements of 33 bits"},
      {with(48, "\x09"), "type 9"},
      {with(50, "\x01"), "of a vendor"},
      {with(48, "\x01"), "float32[2]{1065353216"},
      {NnefDat(0, 32, {1, 2}, ones.substr(128)), "variable 'w' is of shape [2]"},
  };
  for (const Row& row : rows) {
    const auto model = ReadNnefFiles({{"graph.nnef", TextOfLabel("w")}, {"w.dat", row.file}});
    if (row.want.find("1065353216") != row.want.npos) {
      // Integers where the text says numbers: they are what the file says.
      EXPECT_TRUE(model.ok()) << model.status();
      continue;
    }
    EXPECT_THAT(Outcome(model), HasSubstr(row.want));
  }
}

// --- Texts ---------------------------------------------------------------------------------------

std::string Repeated(std::string_view part, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += part;
  return all;
}
// Fragments f0 .. fN, each of which calls the one before twice.
std::string Doubling(int count) {
  std::string text = "fragment f0(a: tensor<scalar>) -> (b: tensor<scalar>) { b = a + 1.0; }\n";
  for (int i = 1; i <= count; ++i) {
    StrAppend(&text, "fragment f", i, "(a: tensor<scalar>) -> (b: tensor<scalar>) { b = f", i - 1,
              "(f", i - 1, "(a)); }\n");
  }
  return text;
}
// Names l0 .. lN, each of which is a list of the one before twice.
std::string DoubledLists(int count, std::string_view first, std::string_view op) {
  std::string text = StrCat("l0 = ", first, "; ");
  for (int i = 1; i <= count; ++i) {
    StrAppend(&text, "l", i, " = ", op == "+" ? "" : "[", "l", i - 1, op, "l", i - 1,
              op == "+" ? "" : "]", "; ");
  }
  return text + "y = x;";
}

TEST(NnefHostile, TextsThatGrow) {
  const std::string self = "fragment f(a: tensor<scalar>) -> (b: tensor<scalar>) { b = f(a); }\n";
  const std::string deep_self =
      StrCat("fragment f(a: tensor<scalar>) -> (b: tensor<scalar>) { b = ", Repeated("-(", 90),
             "f(a)", Repeated(")", 90), "; }\n");
  const std::string each_other =
      "fragment f(a: tensor<scalar>) -> (b: tensor<scalar>) { b = g(a); }\n"
      "fragment g(a: tensor<scalar>) -> (b: tensor<scalar>) { b = f(a); }\n";
  std::string nested = "l = []; ";
  for (int i = 0; i < 100; ++i)
    StrAppend(&nested, "l", i, " = [", i ? StrCat("l", i - 1) : "l", "]; ");
  const auto start = std::chrono::steady_clock::now();
  ExpectNnefRefusals({
      {StrCat("version 1.0;\ngraph g(x) -> (y) { y = ", Repeated("(", 100000)), "nested too deep"},
      {StrCat("version 1.0;\ngraph g(x) -> (y) { y = ", Repeated("[", 100000)), "nested too deep"},
      {StrCat("version 1.0;\ngraph g(x) -> (y) { y = ", Repeated("-", 100000)), "nested too deep"},
      {NnefText("[2]", "y = f(x);", self), "call each other too deep"},
      {NnefText("[2]", "y = f(x);", each_other), "call each other too deep"},
      {NnefText("[2]", "y = f(x);", deep_self), "nested more than 300 deep"},
      {NnefText("[2]", "y = f40(x);", Doubling(40)), "steps to make the graph"},
      {NnefText("[2]", DoubledLists(40, "[1]", "+")), "elements in all"},
      {NnefText("[2]", DoubledLists(40, "[1]", ", ")), "elements in all"},
      {NnefText("[2]", DoubledLists(40, "'text'", "+")), "too long"},
      {NnefText("[2]", nested + "y = x;"), "lists nested more than 64 deep"},
      {NnefText("[2]", "n = [0] * 1000000 * 1000000; y = x;"), "a list repeated"},
      {NnefText("[2]", Repeated("z = [0] * 1000000; ", 1) + "a = [for i in z yield z]; y = x;"),
       "elements in all"},
      {NnefText("[2]", "n = 3 ^ 63; y = x;"), "too large"},
      {NnefText("[2]", "y = constant(shape = [100000, 100000], value = [1.0]);"),
       "a constant of that size"},
      {NnefText("[2]", "y = constant(shape = [4611686018427387904, 4], value = [1.0]);"),
       "a constant of that size"},
      {NnefText("[2]", "c = copy_n(x, times = 1000000); y = x;"), "of more than 65536 results"},
      {NnefText("[2]", "c = [for i in [0] * 20 yield copy_n(x, times = 60000)]; y = x;"),
       "steps to make the graph"},
      {NnefText("[1, 2]", "y = max_pool(x, size = [1, 4611686018427387904]);"), "too large"},
      {NnefText("[1, 1, 2]", "y = box(x, size = [1, 1, 3000000000]);"), "too large"},
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(300));
}

// A graph may have them; what runs it refuses.
TEST(NnefHostile, TensorsOfSizesThatNoneHas) {
  for (const std::string_view line :
       {"y = tile(x, repeats = [4611686018427387904]);",
        "y = pad(x, padding = [(4611686018427387904, 4611686018427387904)]);"}) {
    EXPECT_THAT(Outcome(ReadNnefFiles({{"graph.nnef", NnefText("[2]", line)}})),
                testing::StartsWith("error: "))
        << line;
  }
}

// A model in a model shares the steps of the one around it.
TEST(NnefHostile, ModelsInModelsShareSteps) {
  const TempDir dir;
  std::string calls = "a0 = x; ";
  for (int i = 1; i <= 20; ++i) {
    StrAppend(&calls, "a", i, " = tract_core_submodel(a", i - 1, ", label = 'm'); ");
  }
  const std::string text =
      NnefText("[2]", calls + "y = a20;", "extension tract_registry tract_core;\n");
  std::string folder = "m.nnef/";
  for (int i = 0; i < 7; ++i) {
    dir.Put(folder + "graph.nnef", text);
    folder += "m/";
  }
  dir.Put(folder + "graph.nnef", NnefText("[2]", "y = x + 1.0;"));
  EXPECT_THAT(Outcome(Import(dir.Path("m.nnef"), {.format = "nnef"})),
              HasSubstr("steps to make the graph"));
}

}  // namespace
}  // namespace x2ir
