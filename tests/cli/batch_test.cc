// --batch: what is done, what is said of it, and what the next run finds to do.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/core/host_util.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Batch : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "x2ir_batch_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

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

  fs::path folder_;
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
  EXPECT_EQ(out_, "42 of 46 files done, 38 of them before, 4 failed\n");
  EXPECT_EQ(Lines("out/batch.jsonl").size(), before + 8);
  EXPECT_NE(ReadFile(folder_ / "out/in/3/model.json").find("tanh"), std::string::npos);
  EXPECT_NE(ReadFile(folder_ / "out/in/5/model.safetensors"), "spoiled");
  // Other settings give other results; a line that a killed run left half is no harm.
  std::ofstream(folder_ / "out/batch.jsonl", std::ios::app) << "{\"input\": \"in/";
  ASSERT_EQ(Run("x2ir convert --batch list -o out --optimize -q"), 1) << err_;
  EXPECT_EQ(out_, "");
  EXPECT_EQ(Lines("out/batch.jsonl").size(), before + 8 + 46);

  ASSERT_EQ(Run("find out -name '*.json' | sort | ir2onnx export --batch - -j 3 -o back"), 0)
      << err_;
  EXPECT_EQ(out_, "42 of 42 files done, 0 failed\n");
  EXPECT_TRUE(fs::exists(folder_ / "back/out/again/net.onnx"));
  ASSERT_EQ(Run("find out -name '*.json' | sort | ir2onnx export --batch - -j 3 -o back"), 0);
  EXPECT_EQ(out_, "42 of 42 files done, 42 of them before, 0 failed\n");
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
    EXPECT_EQ(out_, row.again ? done : before) << row.flags;
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
  EXPECT_NE(err_.find("'..' gives its output no name"), std::string::npos) << err_;
  for (const std::string& file :
       {std::string("sub/out/a.json"), std::string("sub/out/b.json"),
        std::string("sub/out/x/d.json"), std::string("sub/up.json"), std::string("abs/c.json"),
        StrCat("sub/out", (folder_ / "a.json").string())}) {
    EXPECT_TRUE(fs::exists(folder_ / file)) << file;
  }
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
      {"x2ir convert --batch list --shard 2", 2, "expected I/N, as in 1/8"},
      {"x2ir convert --batch none", 3, "cannot read the list 'none'"},
      {"x2ir convert --batch list --report notes.txt", 2, "no report of a batch"},
      {"x2ir convert --batch list --report half.txt", 2, "no report of a batch"},
      {"x2ir convert --batch list --report .", 4, "cannot write '.'"},
      {"x2ir convert --batch list -o list", 4, "cannot write 'list/batch.jsonl'"},
      {"ir2onnx export --batch list", 1, "'a.onnx' is in the list too"},
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
  EXPECT_NE(err_.find("another batch writes it"), std::string::npos) << err_;
  // An empty list is done.
  EXPECT_EQ(Run("x2ir convert --batch /dev/null --report r2.jsonl"), 0) << err_;
  EXPECT_EQ(out_, "0 of 0 files done, 0 failed\n");
}

}  // namespace
}  // namespace x2ir
