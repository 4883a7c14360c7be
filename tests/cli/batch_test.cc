// --batch: what is done, what is said of it, and what the next run finds to do.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/formats/npy/npy.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Batch : public TempDirTest {
 protected:
  void WriteModel(const std::string& name, const std::string& op = "Relu") {
    Model model;
    model.graph = *ParseGraph(
        StrCat("graph g(x: float32[300]) -> (y) { y: float32[300] = onnx.", op, "(x) }"));
    model.source_dialect = "onnx";
    model.ir_version = 8;
    model.opset_imports = {{"", 17}};
    fs::create_directories((folder_ / name).parent_path());
    const absl::Status status = WriteOnnx(model, folder_ / name);
    ASSERT_TRUE(status.ok()) << status;
  }

  // The exit code; what was printed is in out_ and err_.
  int Run(const std::string& command) {
    const int status = std::system(StrCat("cd '", folder_.string(), "' && PATH='", X2IR_BIN_DIR,
                                          "':\"$PATH\" && export PATH", " && { ", command, "\n} >'",
                                          (folder_ / "stdout").string(), "' 2>'",
                                          (folder_ / "stderr").string(), "'")
                                       .c_str());
    out_ = ReadFile(folder_ / "stdout");
    err_ = ReadFile(folder_ / "stderr");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::vector<Json> Lines(const std::string& report) {
    std::vector<Json> lines;
    std::istringstream in(ReadFile(folder_ / report));
    for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  std::string out_, err_;
};

TEST_F(Batch, FailuresOfOneReasonStandTogether) {
  std::string list;
  for (int i = 0; i < 3; ++i) {
    WriteModel(StrCat("in/", i, "/model.onnx"), "NoSuchOp");
    StrAppend(&list, "in/", i, "/model.onnx\n");
  }
  WriteFile(folder_ / "list", StrCat("none.onnx\n", list, "gone.onnx\n"));
  ASSERT_EQ(Run("x2ir convert --batch list -j 2 -o out"), 1) << err_;
  EXPECT_EQ(out_, "0 of 5 files done, 5 failed\n");
  EXPECT_NE(err_.find("error: 3 files: onnx.NoSuchOp: "), std::string::npos) << err_;
  EXPECT_NE(err_.find("\n  in/0/model.onnx, in/1/model.onnx, in/2/model.onnx\n"), std::string::npos)
      << err_;
  EXPECT_NE(err_.find("error: 2 files: no such file: '*'\n  none.onnx, gone.onnx\n"),
            std::string::npos)
      << err_;
}

TEST_F(Batch, ConvertsExportsAndGoesOnWhereItStopped) {
  std::string list;
  for (int i = 0; i < 40; ++i) {
    WriteModel(StrCat("in/", i, "/model.onnx"));
    StrAppend(&list, "in/", i, "/model.onnx\n");
  }
  WriteModel("in/bad/model.onnx", "NoSuchOp");
  WriteFile(folder_ / "in/broken.onnx", std::string(1000, '\xa7'));
  // CRLF, an empty line, the same file under another name, and what cannot be.
  StrAppend(&list, "in/bad/model.onnx\r\n\nin/broken.onnx\nin/none.onnx\n",
            "in/0/model.onnx\tagain/net.json\n", "in/1/model.onnx\n../model.onnx\n");
  WriteFile(folder_ / "list", list);

  ASSERT_EQ(Run("x2ir convert --batch list -j 4 -o out"), 1) << err_;
  EXPECT_EQ(out_, "41 of 46 files done, 5 failed\n");
  EXPECT_NE(err_.find("error: in/bad/model.onnx: cannot convert"), std::string::npos) << err_;
  EXPECT_EQ(err_.find('\r'), std::string::npos) << "a progress line in a pipe";
  EXPECT_TRUE(fs::exists(folder_ / "out/in/39/model.json"));
  EXPECT_TRUE(fs::exists(folder_ / "out/again/net.safetensors"));
  std::map<std::string, int> codes;
  for (const Json& line : Lines("out/batch.jsonl")) {
    codes[line["input"].get<std::string>() + " " + line["output"].get<std::string>()] =
        line["exit_code"];
    EXPECT_EQ(line["exit_code"] == 0, line["error"] == "") << line;
    EXPECT_TRUE(line.contains("ops") && line.contains("failures")) << line;
  }
  EXPECT_EQ(codes.size(), 46u);
  EXPECT_EQ(codes["in/7/model.onnx out/in/7/model.json"], 0);
  EXPECT_EQ(codes["in/bad/model.onnx out/in/bad/model.json"], 1);
  EXPECT_EQ(codes["in/broken.onnx out/in/broken.json"], 3);
  EXPECT_EQ(codes["in/none.onnx out/in/none.json"], 3);
  EXPECT_EQ(codes["../model.onnx out/model.json"], 3) << "there is no such file";

  // Only what failed is tried again, and what changed is done again.
  WriteModel("in/bad/model.onnx", "Sigmoid");
  WriteModel("in/3/model.onnx", "Tanh");
  fs::remove(folder_ / "out/in/4/model.json");
  WriteFile(folder_ / "out/in/5/model.safetensors", "spoiled");
  const size_t before = Lines("out/batch.jsonl").size();
  ASSERT_EQ(Run("x2ir convert --batch list -o out"), 1) << err_;
  EXPECT_EQ(out_,
            "42 of 46 files done, 38 of them before, 4 failed, 1 of them before (--retry-failed "
            "tries them again)\n");
  // A line each, those that were skipped among them.
  int skipped = 0;
  const std::vector<Json> lines = Lines("out/batch.jsonl");
  ASSERT_EQ(lines.size(), before + 46);
  for (size_t i = before; i < lines.size(); ++i) skipped += lines[i].contains("skipped");
  EXPECT_EQ(skipped, 39);
  EXPECT_NE(ReadFile(folder_ / "out/in/3/model.json").find("tanh"), std::string::npos);
  EXPECT_NE(ReadFile(folder_ / "out/in/5/model.safetensors"), "spoiled");
  // Other settings give other results; a line that a killed run left half is no harm.
  std::ofstream(folder_ / "out/batch.jsonl", std::ios::app) << "{\"input\": \"in/";
  ASSERT_EQ(Run("x2ir convert --batch list -o out --optimize -q"), 1) << err_;
  EXPECT_EQ(out_, "");
  EXPECT_EQ(Lines("out/batch.jsonl").size(), before + 46 + 46);

  ASSERT_EQ(Run("find out -name '*.json' | sort | ir2onnx export --batch - -j 3 -o back"), 0)
      << err_;
  EXPECT_EQ(out_, "42 of 42 files done, 0 failed\n");
  EXPECT_TRUE(fs::exists(folder_ / "back/out/again/net.onnx"));
  ASSERT_EQ(Run("find out -name '*.json' | sort | ir2onnx export --batch - -j 3 -o back"), 0);
  EXPECT_EQ(out_, "42 of 42 files done, 42 of them before, 0 failed\n");
}

// The list says what each file is calibrated with, or --calibrate does for all.
TEST_F(Batch, CalibratesEachFileByItsOwnInputs) {
  WriteModel("a.onnx");
  const auto put = [&](const std::string& name, float most) {
    fs::create_directories((folder_ / name).parent_path());
    std::vector<float> numbers(300, most);
    ASSERT_TRUE(WriteNpy(folder_ / name, Tensor::Of<float>({300}, numbers)).ok());
  };
  put("one.npy", 255);
  put("more/two.npy", 510);
  const std::string command = "x2ir convert --batch list -o out --to onnx --int8 ";
  // How large a step is says what was measured.
  const auto steps = [&](const std::string& name) {
    Run(StrCat("x2ir show out/", name, " | grep -o 'float32\\[\\]{[0-9]*}' | sort -u"));
    return out_;
  };
  WriteFile(folder_ / "list", "a.onnx\t\tmore\na.onnx\tb.onnx\na.onnx\tc.onnx\tmore\tone.npy\n");
  EXPECT_EQ(Run(command), 1);
  EXPECT_NE(err_.find("--calibrate is not given"), std::string::npos) << err_;
  EXPECT_EQ(steps("a.onnx"), "float32[]{2}\n");
  EXPECT_EQ(Run(command + "--calibrate one.npy"), 0) << err_;
  EXPECT_EQ(steps("a.onnx"), "float32[]{2}\n");
  EXPECT_EQ(steps("b.onnx"), "float32[]{1}\n");
  EXPECT_EQ(steps("c.onnx"), "float32[]{2}\n");
  EXPECT_EQ(Run(command + "--calibrate one.npy"), 0) << err_;
  EXPECT_EQ(out_, "3 of 3 files done, 3 of them before, 0 failed\n");
  // Inputs that changed or were added are measured; so are others that the list names.
  put("more/three.npy", 765);
  EXPECT_EQ(Run(command + "--calibrate one.npy"), 0) << err_;
  EXPECT_EQ(out_, "3 of 3 files done, 1 of them before, 0 failed\n");
  EXPECT_EQ(steps("a.onnx"), "float32[]{3}\n");
  WriteFile(folder_ / "list", "a.onnx\t\tone.npy\na.onnx\tb.onnx\n");
  EXPECT_EQ(Run(command + "--calibrate one.npy"), 0) << err_;
  EXPECT_EQ(out_, "2 of 2 files done, 1 of them before, 0 failed\n");
  EXPECT_EQ(steps("a.onnx"), "float32[]{1}\n");
  EXPECT_EQ(Run("x2ir convert --batch list -o out --to onnx"), 1);
  EXPECT_NE(err_.find("--int8: is not given, but the list names"), std::string::npos) << err_;
}

// Every flag that makes another result makes another setting; those that do not, do not.
TEST_F(Batch, OtherSettingsAreDoneAgain) {
  WriteModel("a.onnx");
  WriteFile(folder_ / "list", "a.onnx\n");
  const std::string done = "1 of 1 files done, 0 failed\n";
  const std::string before = "1 of 1 files done, 1 of them before, 0 failed\n";
  const struct {
    const char* flags;
    bool again;
  } rows[] = {
      {"", true},
      {"", false},
      {"-j 1 -v --report out/batch.jsonl", false},
      {"--freeze-params", true},  // said of an IR file it is something else than not said
      {"--optimize", true},
      {"--optimize", false},
      {"--optimize --layout channels_first", true},
      {"--optimize --layout channels_last", true},
      {"--layout channels_last --optimize", false},
      {"--model m", true},
      {"--signature s", true},
      {"--allow-outside", true},
      {"--allow-foreign a,b", true},
      {"--allow-foreign a --allow-foreign b", true},
      {"--no-freeze-params", true},
      {"--weights reference", true},
      {"", true},
      {"", false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Run(StrCat("x2ir convert --batch list -o out ", row.flags)), 0) << row.flags << err_;
    EXPECT_EQ(out_.substr(0, out_.find('\n') + 1), row.again ? done : before) << row.flags;
  }
}

// Behind a tab stands a name as seen from the folder of -o, or an absolute one; without, what
// leads out of the folder does not.
TEST_F(Batch, WhereOutputsGo) {
  WriteModel("a.onnx");
  WriteModel("sub/b.onnx");
  const std::string absolute = (folder_ / "abs" / "c.json").string();
  WriteFile(folder_ / "sub/list",
            StrCat("../a.onnx\nb.onnx\n../a.onnx\tx/d.json\n", "../a.onnx\t../up.json\n../a.onnx\t",
                   absolute, "\n", folder_.string(), "/a.onnx\n..\n"));
  ASSERT_EQ(Run("cd sub && x2ir convert --batch list -o out"), 1);
  EXPECT_EQ(out_, "6 of 7 files done, 1 failed\n") << err_;
  EXPECT_NE(err_.find("'..' does not determine the name of its output"), std::string::npos) << err_;
  for (const std::string& file :
       {std::string("sub/out/a.json"), std::string("sub/out/b.json"),
        std::string("sub/out/x/d.json"), std::string("sub/up.json"), std::string("abs/c.json"),
        StrCat("sub/out", (folder_ / "a.json").string())}) {
    EXPECT_TRUE(fs::exists(folder_ / file)) << file;
  }
}

// An extension of two parts is one, in names that are given as in those that are made.
TEST_F(Batch, ExtensionsOfTwoParts) {
  WriteModel("a.onnx");
  WriteFile(folder_ / "list",
            "a.onnx\na.onnx\tn/b.c.nnvm.json\na.onnx\tc.json\na.onnx\t.nnvm.json\n");
  ASSERT_EQ(Run("x2ir convert --batch list --to nnvm -o out"), 1);
  EXPECT_EQ(out_, "2 of 4 files done, 2 failed\n") << err_;
  EXPECT_NE(err_.find("expected a name that ends in .nnvm.json"), std::string::npos) << err_;
  EXPECT_TRUE(fs::exists(folder_ / "out/a.nnvm.json"));
  EXPECT_TRUE(fs::exists(folder_ / "out/n/b.c.nnvm.json"));
  WriteFile(folder_ / "out/list", "a.nnvm.json\nn/b.c.nnvm.json\n");
  ASSERT_EQ(Run("cd out && x2ir convert --batch list -o back && x2ir convert a.nnvm.json"), 0)
      << err_;
  for (const char* file : {"out/back/a.json", "out/back/n/b.c.json", "out/a.json"}) {
    EXPECT_TRUE(fs::exists(folder_ / file)) << file;
  }
}

TEST_F(Batch, ListsHaveCommentsAndBlankLines) {
  WriteModel("a.onnx");
  WriteModel("#b.onnx");
  WriteFile(folder_ / "list", "# what is to be done\n\n   \na.onnx\n\t\n#c.onnx\n./#b.onnx\n");
  ASSERT_EQ(Run("x2ir convert --batch list -o out"), 0) << err_;
  EXPECT_EQ(out_, "2 of 2 files done, 0 failed\n");
  EXPECT_TRUE(fs::exists(folder_ / "out/#b.json"));
  WriteFile(folder_ / "long", StrCat("# one\n\na.onnx\n", std::string(70000, 'x'), "\n"));
  EXPECT_EQ(Run("x2ir convert --batch long -o out"), 3);
  EXPECT_NE(err_.find("line 4 is too long"), std::string::npos) << err_;
}

// What cannot be converted and what is malformed is not tried again, unless somebody asks; what the
// system could not do is.
TEST_F(Batch, FailuresForGoodAreNotTriedAgain) {
  WriteModel("good.onnx");
  WriteModel("bad.onnx", "NoSuchOp");
  WriteFile(folder_ / "broken.onnx", std::string(1000, '\xa7'));
  WriteFile(folder_ / "list", "good.onnx\nbad.onnx\nbroken.onnx\nnone.onnx\n");
  for (const std::string isolate : {"", " --isolate"}) {
    const std::string command = StrCat("x2ir convert --batch list -o out", isolate.size(), isolate);
    ASSERT_EQ(Run(command), 1) << err_;
    EXPECT_EQ(out_, "1 of 4 files done, 3 failed\n") << err_;
    ASSERT_EQ(Run(command + " -v"), 1) << err_;
    EXPECT_EQ(out_,
              "1 of 4 files done, 1 of them before, 3 failed, 2 of them before (--retry-failed "
              "tries them again)\ndone before: good.onnx\n");
    EXPECT_NE(err_.find("bad.onnx: cannot convert"), std::string::npos) << err_;
    // The report says it of each file in each run.
    const std::vector<Json> lines = Lines(StrCat("out", isolate.size(), "/batch.jsonl"));
    ASSERT_EQ(lines.size(), 8u);
    std::map<std::string, Json> last;
    for (size_t i = 4; i < 8; ++i) last[lines[i]["input"]] = lines[i];
    EXPECT_EQ(last["good.onnx"]["skipped"], true);
    EXPECT_EQ(last["bad.onnx"]["skipped"], true);
    EXPECT_EQ(last["bad.onnx"]["exit_code"], 1);
    EXPECT_EQ(last["broken.onnx"]["exit_code"], 3);
    EXPECT_FALSE(last["none.onnx"].contains("skipped"));
    ASSERT_EQ(Run(command + " --retry-failed"), 1);
    EXPECT_EQ(out_, "1 of 4 files done, 1 of them before, 3 failed\n");
    // Another file, other settings.
    WriteModel("bad.onnx", "Tanh");
    ASSERT_EQ(Run(command), 1);
    EXPECT_EQ(out_,
              "2 of 4 files done, 1 of them before, 2 failed, 1 of them before (--retry-failed "
              "tries them again)\n");
    ASSERT_EQ(Run(command + " --optimize"), 1);
    EXPECT_EQ(out_, "2 of 4 files done, 2 failed\n");
    WriteModel("bad.onnx", "NoSuchOp");
  }
}

// A file that is killed is a failure of that file alone, and not tried again.
TEST_F(Batch, EachFileMayHaveAProcessOfItsOwn) {
  std::string list;
  for (int i = 0; i < 8; ++i) {
    WriteModel(StrCat(i, ".onnx"));
    StrAppend(&list, i, ".onnx\n");
  }
  // As many nodes as take a while, and memory.
  std::string graph = "graph g(x: float32[300]) -> (y) { a0: float32[300] = onnx.Relu(x)";
  constexpr int kNodes = 200000;
  for (int i = 1; i < kNodes; ++i) {
    StrAppend(&graph, "\n a", i, ": float32[300] = onnx.Sin(a", i - 1, ")");
  }
  StrAppend(&graph, "\n y: float32[300] = onnx.Relu(a", kNodes - 1, ") }");
  Model model;
  model.graph = *ParseGraph(graph);
  model.source_dialect = "onnx";
  model.ir_version = 8;
  model.opset_imports = {{"", 17}};
  ASSERT_TRUE(WriteOnnx(model, folder_ / "large.onnx").ok());
  WriteFile(folder_ / "list", StrCat("large.onnx\n", list));

  // What happens to the process that converts it, when it has begun.
  const std::string when_begun =
      " & main=$!; until child=$(pgrep -P $main) && [ \"$(awk '/VmData/ {print $2}' "
      "/proc/$child/status)\" -gt 40000 ]; do kill -0 $main || break; sleep 0.01; done "
      "2>/dev/null; ";
  struct Row {
    std::string flags, error, then;
  };
  const Row rows[] = {
      {"--memory 24", "out of memory", ""},
      {"--timeout 1", "took longer than 1 second",
       "kill -STOP $child; sleep 1.5; kill -CONT $child; wait $main"},
      {"--isolate", "its process was killed by signal 9 (Killed)", "kill -9 $child; wait $main"},
  };
  int number = 0;
  for (const Row& row : rows) {
    const std::string folder = StrCat("out", number++);
    const std::string command =
        StrCat("x2ir convert --batch list -o ", folder, " -j 1 --optimize ", row.flags);
    ASSERT_EQ(Run(row.then.empty() ? command : StrCat(command, when_begun, row.then)), 1)
        << row.flags << err_;
    EXPECT_EQ(out_, "8 of 9 files done, 1 failed\n") << row.flags << err_;
    EXPECT_NE(err_.find(row.error), std::string::npos) << row.flags << err_;
    std::map<std::string, Json> lines;
    for (const Json& line : Lines(folder + "/batch.jsonl")) lines[line["input"]] = line;
    EXPECT_EQ(lines["large.onnx"]["exit_code"], 4);
    EXPECT_EQ(lines["large.onnx"]["final"], true);
    EXPECT_EQ(lines["7.onnx"]["exit_code"], 0);
    // Nothing is left of it.
    for (const auto& entry : fs::directory_iterator(folder_ / folder)) {
      EXPECT_EQ(entry.path().filename().string().find("large"), std::string::npos) << entry.path();
    }
    ASSERT_EQ(Run(command), 1) << row.flags;
    EXPECT_EQ(out_,
              "8 of 9 files done, 8 of them before, 1 failed, 1 of them before (--retry-failed "
              "tries them again)\n")
        << row.flags;
  }
  // With more of it, it is tried again.
  ASSERT_EQ(Run("x2ir convert --batch list -o out0 -j 1 --optimize --memory 4000"), 0) << err_;
  EXPECT_EQ(out_, "9 of 9 files done, 8 of them before, 0 failed\n");
  // Whoever starts it may ignore how children end.
  ASSERT_EQ(Run("(trap '' CHLD; exec x2ir convert --batch list -o ignored -j 2 --isolate)"), 0)
      << err_;
  // Several at a time; the results are those of one process.
  ASSERT_EQ(Run("x2ir convert --batch list -o many -j 4 --isolate --optimize"), 0) << err_;
  ASSERT_EQ(Run("diff -r -x batch.jsonl many out0"), 0) << out_;
}

TEST_F(Batch, ShardsDoAllOfAListOnce) {
  std::string list;
  for (int i = 0; i < 10; ++i) {
    WriteModel(StrCat("in/", i, ".onnx"));
    StrAppend(&list, "in/", i, ".onnx\n");
  }
  // Written twice, by two shards.
  StrAppend(&list, "in/1.onnx\tin/0.json\n");
  WriteFile(folder_ / "list", list);
  std::map<std::string, int> done;
  for (int shard = 1; shard <= 3; ++shard) {
    const std::string command = StrCat("x2ir convert --batch list --shard ", shard, "/3 -o out");
    // The last line is the second shard's, and knows of the first line of the first.
    EXPECT_EQ(Run(command), shard == 2 ? 1 : 0) << err_;
    EXPECT_EQ(out_, shard == 2 ? "3 of 4 files done, 1 failed\n"
                               : StrCat(shard == 1 ? 4 : 3, " of ", shard == 1 ? 4 : 3,
                                        " files done, 0 failed\n"));
    for (const Json& line : Lines(StrCat("out/batch-", shard, "-of-3.jsonl"))) {
      if (line["exit_code"] == 0) ++done[line["input"].get<std::string>()];
    }
    // Again: nothing is left.
    EXPECT_EQ(Run(command), shard == 2 ? 1 : 0) << err_;
    EXPECT_NE(out_.find(" of them before"), std::string::npos) << out_;
  }
  EXPECT_EQ(done.size(), 10u);
  for (const auto& [input, times] : done) EXPECT_EQ(times, 1) << input;
}

TEST_F(Batch, RefusesWhatWouldDoHarm) {
  WriteModel("a.onnx");
  WriteFile(folder_ / "list", "a.onnx\n");
  WriteFile(folder_ / "notes.txt", "my notes\n");
  WriteFile(folder_ / "half.txt", "my notes");
  const struct {
    const char* command;
    int code;
    const char* error;
  } rows[] = {
      {"x2ir convert --batch list a.onnx", 2, "MODEL"},
      {"x2ir convert -j 3 a.onnx", 2, "--batch"},
      {"x2ir convert --batch list -j 0", 2, "-j '0': expected a number from 1 to 1024"},
      {"x2ir convert --batch list -j x", 2, "-j 'x'"},
      {"x2ir convert --shard 1/2 a.onnx", 2, "--batch"},
      {"x2ir convert --batch list --shard 3/2", 2, "--shard '3': expected a number from 1 to 2"},
      {"x2ir convert --batch list --shard 0/2", 2, "--shard '0'"},
      {"x2ir convert a.onnx --timeout 3", 2, "--batch"},
      {"x2ir convert a.onnx --retry-failed", 2, "--batch"},
      {"x2ir convert --batch list --timeout 0", 2, "--timeout '0'"},
      {"x2ir convert --batch list --memory x", 2, "--memory 'x'"},
      {"x2ir convert --batch list --shard 2", 2, "expected I/N, as in 1/8"},
      {"x2ir convert --batch none", 3, "cannot read the list 'none'"},
      {"x2ir convert --batch list --report notes.txt", 2, "not a report of a batch"},
      {"x2ir convert --batch list --report half.txt", 2, "not a report of a batch"},
      {"x2ir convert --batch list --report .", 4, "cannot write '.'"},
      {"x2ir convert --batch list -o list", 4, "cannot write 'list/batch.jsonl'"},
      {"ir2onnx export --batch list", 1, "'a.onnx' is also an input of the list"},
      {"ir2onnx export --batch list -o sub --external-data-limit 5x", 2, "'5x'"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Run(row.command), row.code) << row.command << "\n" << err_;
    EXPECT_NE(err_.find(row.error), std::string::npos) << row.command << "\n" << err_;
    EXPECT_EQ(ReadFile(folder_ / "notes.txt"), "my notes\n");
    EXPECT_EQ(ReadFile(folder_ / "half.txt"), "my notes");
  }
  EXPECT_EQ(Run("x2ir convert --batch list --report r.jsonl"), 0) << err_;
  EXPECT_EQ(Run("flock r.jsonl x2ir convert --batch list --report r.jsonl"), 4);
  EXPECT_NE(err_.find("another batch is writing it"), std::string::npos) << err_;
  // An empty list is done.
  EXPECT_EQ(Run("x2ir convert --batch /dev/null --report r2.jsonl"), 0) << err_;
  EXPECT_EQ(out_, "0 of 0 files done, 0 failed\n");
}

}  // namespace
}  // namespace x2ir
