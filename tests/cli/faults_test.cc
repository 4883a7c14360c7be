// What is left when a program is killed, when the disk is full or fails, and when the file that it
// reads is cut short: the files of before, or the new ones, never a part or a mixture of them.
//   X2IR_FAULT_SECONDS   how long programs are killed at random moments; 2 by default, of each kind
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cli/sanitized.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/tf_proto_util.h"
#include "tests/formats/torch_zip_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

// Long runs have weights that are also folded in temporary files; the kernel copies all of them.
const int64_t kModelWidth = Env("X2IR_FAULT_SECONDS").empty() ? 1 << 15 : 1 << 18;

// Two models of the same structure, so that weights of one would suit the other; they differ in a
// small constant and in the weights.
void WriteModel(const fs::path& path, int seed) {
  constexpr int64_t kCount = 3;
  Model model;
  model.source_dialect = "onnx";
  model.ir_version = 8;
  model.SetOpset("", 17);
  Graph& graph = *model.graph;
  Value* last = graph.AddInput("x", Type::Tensor(DType::kFloat32, Shape{kModelWidth}));
  const auto add = [&](Tensor tensor) {
    Node* node = graph.AppendNode(
        "onnx", "Add", {last, graph.AddConstant(graph.UniqueName("w"), std::move(tensor))});
    last = graph.AddNodeOutput(node, graph.UniqueName("v"));
  };
  for (int64_t i = 0; i < kCount; ++i) {
    Tensor tensor = Tensor::Zeros(DType::kFloat32, {kModelWidth});
    std::minstd_rand random(static_cast<unsigned>(seed * kCount + i + 1));
    for (float& x : tensor.mutable_span<float>()) x = static_cast<float>(random() % 1000);
    add(std::move(tensor));
  }
  add(Tensor::Scalar<float>(static_cast<float>(seed)));
  graph.AddOutput(last);
  const absl::Status status =
      WriteOnnx(model, path, {.external = OnnxWriteOptions::External::kAlways});
  ASSERT_TRUE(status.ok()) << status;
}

void WriteFrozenGraph(const fs::path& path, int seed) {
  using namespace tf_proto;
  std::string weights;
  for (int64_t i = 0; i < kModelWidth; ++i) weights += Float(static_cast<float>(i % 100 + seed));
  WriteFile(path,
            GraphDef({NodeDef("x", "Placeholder", {},
                              {{"dtype", TypeAttr(kFloat)}, {"shape", ShapeAttr({kModelWidth})}}),
                      NodeDef("w", "Const", {},
                              {{"dtype", TypeAttr(kFloat)},
                               {"value", TensorAttr(TensorProto(kFloat, {kModelWidth}, weights))}}),
                      NodeDef("y", "Add", {"x", "w"}, {{"T", TypeAttr(kFloat)}})}));
}

void WriteArchive(const fs::path& path, float seed) {
  using torch_zip::Floats, torch_zip::Program, torch_zip::Zip;
  WriteFile(path, Zip().Make({{"m/archive_format", "pt2"},
                              {"m/byteorder", "little"},
                              {"m/models/model.json", Program()},
                              {"m/data/weights/weight_0", Floats({1, seed, 3, 4})},
                              {"m/data/weights/model_weights_config.json",
                               torch_zip::Weights(R"({"as_int": 1})", 1)}}));
}

// A command that writes files that belong together.
struct Command {
  std::string name;
  std::string before, after;         // what writes the old files, and the new ones
  std::vector<std::string> outputs;  // the last one names the others
  std::vector<std::string> sources;  // what `after` reads
  std::string out;                   // what the outputs' names begin with
};

const Command kCommands[] = {
    {"Convert",
     "x2ir convert -q old.onnx -o net.json",
     "x2ir convert -q new.onnx -o net.json",
     {"net.safetensors", "net.json"},
     {"new.onnx", "new.onnx.data"},
     "net"},
    {"ConvertOptimized",
     "x2ir convert -q old.onnx --optimize -o net.json",
     "x2ir convert -q new.onnx --optimize -o net.json",
     {"net.safetensors", "net.json"},
     {"new.onnx", "new.onnx.data"},
     "net"},
    {"Export",
     "ir2onnx export -q old.json -o net.onnx --no-optimize --external-data always "
     "--external-data-limit 131072",
     "ir2onnx export -q new.json -o net.onnx --no-optimize --external-data always "
     "--external-data-limit 131072",
     {"net.onnx.data", "net.onnx.data.2", "net.onnx.data.3", "net.onnx"},
     {"new.json", "new.safetensors"},
     "net"},
    {"ExportWithinOneFile",
     "ir2onnx export -q old.json -o net.onnx",
     "ir2onnx export -q new.json -o net.onnx",
     {"net.onnx"},
     {"new.json", "new.safetensors"},
     "net"},
    {"ConvertReference",
     "x2ir convert -q old.onnx --weights reference -o net.json",
     "x2ir convert -q new.onnx --weights reference -o net.json",
     {"net.safetensors", "net.json"},
     {"new.onnx", "new.onnx.data"},
     "net"},
    {"ConvertTensorFlow",
     "x2ir convert -q old.pb -o net.json",
     "x2ir convert -q new.pb -o net.json",
     {"net.safetensors", "net.json"},
     {"new.pb"},
     "net"},
    {"ConvertTorch",
     "x2ir convert -q old.pt2 -o net.json",
     "x2ir convert -q new.pt2 -o net.json",
     {"net.safetensors", "net.json"},
     {"new.pt2"},
     "net"},
    {"Run",
     "x2ir run -q old.json --io io.safetensors -o net.safetensors",
     "x2ir run -q new.json --io io.safetensors -o net.safetensors",
     {"net.safetensors"},
     {"new.json", "new.safetensors", "io.safetensors"},
     "net"},
    {"Batch",
     "mkdir -p b && echo old.onnx >list && x2ir convert -q --batch list -o b && mv b/old.json "
     "net.json && mv b/old.safetensors net.safetensors && rm -r b",
     "printf 'new.onnx\\tnet.json\\n' >list; exec x2ir convert -q -j 1 --batch list",
     {"net.safetensors", "net.json"},
     {"new.onnx", "new.onnx.data"},
     "net"},
};

void PrintTo(const Command& command, std::ostream* out) { *out << command.name; }

class Faults : public TempDirTest, public testing::WithParamInterface<Command> {
 protected:
  void SetUp() override {
    for (const bool is_new : {false, true}) {
      const std::string name = is_new ? "new" : "old";
      WriteModel(folder_ / (name + ".onnx"), is_new ? 2 : 1);
      WriteFrozenGraph(folder_ / (name + ".pb"), is_new ? 2 : 1);
      WriteArchive(folder_ / (name + ".pt2"), is_new ? 20.0f : 10.0f);
      ASSERT_EQ(Run(StrCat("x2ir convert -q ", name, ".onnx")).code, 0);
    }
    ASSERT_TRUE(WriteSafetensors(folder_ / "io.safetensors",
                                 {{"in_0", Tensor::Zeros(DType::kFloat32, {kModelWidth})}})
                    .ok());
    inputs_ = Snapshot();
    ASSERT_EQ(Run(GetParam().before).code, 0);
    old_ = Outputs();
    ASSERT_EQ(Run(GetParam().after).code, 0);
    new_ = Outputs();
    ASSERT_EQ(old_.size(), GetParam().outputs.size());
    ASSERT_NE(old_, new_);
  }

  struct Result {
    int code = -1;  // or minus the signal
    std::string err;
  };

  pid_t Start(const std::string& command, const std::string& environment = "") const {
    const std::string line = StrCat("cd '", folder_.string(), "' && PATH='", X2IR_BIN_DIR,
                                    "':\"$PATH\" && export PATH ", environment, " && ",
                                    command.starts_with("x2ir") || command.starts_with("ir2onnx")
                                        ? StrCat("exec ", command)
                                        : command);
    const std::string log = folder_.string() + ".err";
    const pid_t pid = ::fork();
    if (pid == 0) {
      const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(fd, STDERR_FILENO);
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    return pid;
  }
  Result Wait(pid_t pid) const {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    const std::string log = folder_.string() + ".err";
    Result result{WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), ReadFile(log)};
    fs::remove(log);
    return result;
  }
  Result Run(const std::string& command, const std::string& environment = "") const {
    return Wait(Start(command, environment));
  }

  Files Snapshot() const {
    Files files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (!entry.is_regular_file()) continue;
      files[fs::relative(entry.path(), folder_).string()] = ReadFile(entry.path());
    }
    return files;
  }
  Files Outputs() const {
    Files files;
    for (const std::string& name : GetParam().outputs) {
      if (fs::exists(folder_ / name)) files[name] = ReadFile(folder_ / name);
    }
    return files;
  }
  // The folder as it was before the command that a fault meets.
  void Reset() const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (!inputs_.contains(entry.path().filename().string())) fs::remove_all(entry.path());
    }
    for (const std::string& name : GetParam().sources) {
      if (fs::file_size(folder_ / name) != inputs_.at(name).size()) {
        WriteFile(folder_ / name, inputs_.at(name));
      }
    }
    for (const auto& [name, bytes] : old_) WriteFile(folder_ / name, bytes);
  }
  size_t Leftovers() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      // A report of --batch has one too.
      count += name.starts_with(StrCat(".", GetParam().out)) && name.ends_with(".tmp");
    }
    return count;
  }

  enum class State { kOld, kNew, kNone };
  // Where a group of files was about to be renamed, the one that names the others may be missing.
  State CheckWhole() const {
    const Files now = Outputs();
    if (now == old_) return State::kOld;
    if (now == new_) return State::kNew;
    const bool one = GetParam().outputs.size() == 1;
    EXPECT_TRUE(!one && !now.contains(GetParam().outputs.back()))
        << "the files are neither the old ones nor the new ones";
    return State::kNone;
  }
  // After a program was killed: the next one does all, and cleans up.
  void CheckNextRun() const {
    const Result next = Run(GetParam().after);
    EXPECT_EQ(next.code, 0) << next.err;
    EXPECT_EQ(Outputs(), new_);
    EXPECT_EQ(Leftovers(), 0u);
  }

  // Calls `check` on the outcome of `after` with a fault at each counted call in turn.
  template <typename F>
  void AtEachCall(const std::string& fault, const std::string& file, const F& check) {
    if (kSanitized) GTEST_SKIP() << "*** faults cannot be put into a sanitized program";
    for (int at = 1;; ++at) {
      SCOPED_TRACE(StrCat("fault ", fault, " at call ", at));
      ASSERT_LT(at, 1000);
      Reset();
      const std::string mark = folder_.string() + ".mark";
      const Result result =
          Run(GetParam().after,
              StrCat("X2IR_FAULT_AT=", at, " X2IR_FAULT=", fault, " X2IR_FAULT_MARK='", mark,
                     "' X2IR_FAULT_FILE='", (folder_ / file).string(), "' LD_PRELOAD='",
                     X2IR_BUILD_DIR, "/tests/x2ir_fault_shim.so'"));
      if (!fs::remove(mark)) {
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_GT(at, 5) << "there was no fault";
        return;
      }
      check(result);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }

  static std::chrono::steady_clock::duration Share() {
    return std::chrono::milliseconds(EnvNumber("X2IR_FAULT_SECONDS", 2) * 1000 /
                                     std::size(kCommands));
  }

  Files inputs_, old_, new_;
};

TEST_P(Faults, KilledAtEachCall) {
  int kept = 0, made = 0;
  AtEachCall("kill", "", [&](const Result& result) {
    EXPECT_EQ(result.code, -SIGKILL);
    const State state = CheckWhole();
    kept += state == State::kOld;
    made += state == State::kNew;
    CheckNextRun();
  });
  if (kSanitized) return;
  EXPECT_GT(kept, 0);
  EXPECT_EQ(made > 0, GetParam().outputs.size() > 1 || GetParam().name == "Batch");
}

TEST_P(Faults, ErrorsAtEachCall) {
  const bool batch = GetParam().name == "Batch";
  // A full disk stays full; the others come and go.
  for (const int fault : {ENOSPC, -EIO, -EDQUOT}) {
    const int error = std::abs(fault);
    if (error == EDQUOT && Env("X2IR_FAULT_SECONDS").empty()) continue;
    AtEachCall(StrCat(fault), "", [&](const Result& result) {
      const State state = CheckWhole();
      EXPECT_EQ(Leftovers(), 0u);
      if (result.code == 0) {
        // It found another way, or a mapping was what was counted.
        EXPECT_EQ(state, State::kNew);
        return;
      }
      if (batch && result.code == 1) {
        EXPECT_EQ(state, State::kOld);
        return;  // one file failed, and the report was written
      }
      EXPECT_EQ(result.code, 4) << result.err;
      EXPECT_NE(result.err.find(std::strerror(error)), std::string::npos) << result.err;
      EXPECT_NE(result.err.find(batch ? "batch" : GetParam().out), std::string::npos) << result.err;
      EXPECT_TRUE(batch || state == State::kOld);
    });
  }
}

TEST_P(Faults, SourceIsCutAtEachCall) {
  for (const std::string& source : GetParam().sources) {
    int failed = 0;
    AtEachCall("cut", source, [&](const Result& result) {
      SCOPED_TRACE(source);
      const State state = CheckWhole();
      EXPECT_EQ(Leftovers(), 0u);
      if (result.code == 0) {
        EXPECT_EQ(state, State::kNew);
        return;
      }
      ++failed;
      EXPECT_EQ(state, State::kOld);
      EXPECT_EQ(result.code, GetParam().name == "Batch" ? 1 : 3) << result.err;
      EXPECT_NE(result.err.find(source.substr(0, 3)), std::string::npos) << result.err;
    });
    if (kSanitized) return;
    EXPECT_GT(failed, 0) << source;
  }
}

// The same at random moments, between system calls too.
TEST_P(Faults, KilledAtRandom) {
  std::minstd_rand random(static_cast<unsigned>(EnvNumber("X2IR_FUZZ_SEED", 1)));
  const auto start = std::chrono::steady_clock::now();
  std::map<State, int> states;
  while (std::chrono::steady_clock::now() - start < Share()) {
    Reset();
    const pid_t pid = Start(GetParam().after);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    ::kill(pid, SIGKILL);
    const Result result = Wait(pid);
    EXPECT_TRUE(result.code == -SIGKILL || result.code == 0) << result.code << result.err;
    ++states[CheckWhole()];
    CheckNextRun();
    if (HasFailure()) return;
  }
  RecordProperty("old", states[State::kOld]);
  RecordProperty("new", states[State::kNew]);
  RecordProperty("none", states[State::kNone]);
}

TEST_P(Faults, SourceChangesAtRandom) {
  std::minstd_rand random(static_cast<unsigned>(EnvNumber("X2IR_FUZZ_SEED", 1)));
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < Share()) {
    Reset();
    const std::string& source = GetParam().sources[random() % GetParam().sources.size()];
    const std::string path = (folder_ / source).string();
    const uint64_t size = fs::file_size(path);
    const bool cut = random() % 2;
    const uint64_t at = random() % size;
    const pid_t pid = Start(GetParam().after);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    if (cut) {
      EXPECT_EQ(::truncate(path.c_str(), static_cast<off_t>(at)), 0);
    } else {
      std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
      file.seekp(static_cast<std::streamoff>(at)).write("\xff\xfe\xfd\xfc", 4);
    }
    const Result result = Wait(pid);
    SCOPED_TRACE(StrCat(source, cut ? " cut at " : " written at ", at, ": ", result.err));
    EXPECT_GE(result.code, 0);
    const bool batch = GetParam().name == "Batch";
    if (cut) {
      EXPECT_TRUE(result.code == 0 || result.code == (batch ? 1 : 3)) << result.code;
      EXPECT_EQ(CheckWhole(), result.code == 0 ? State::kNew : State::kOld);
    }
    EXPECT_EQ(Leftovers(), 0u);
    if (!cut) WriteFile(path, inputs_.at(source));
    if (HasFailure()) return;
  }
}

TEST_P(Faults, FullDisk) {
  const std::string mount = "unshare -m sh -c 'mkdir -p disk && mount -t tmpfs -o size=";
  if (Run(mount + "1m none disk' 2>/dev/null").code != 0) {
    GTEST_SKIP() << "*** no disk can be mounted here: a full one was NOT tested";
  }
  std::string old;
  for (const std::string& name : GetParam().outputs) StrAppend(&old, " ", name);
  // All but a page is taken.
  Reset();
  WriteFile(folder_ / "after.sh", std::string(GetParam().after) + "\n");
  std::string sources;
  for (const std::string& name : GetParam().sources) StrAppend(&sources, " ", name);
  const Result result = Run(StrCat(
      mount, "12m none disk && cp", old, sources,
      " disk && cd disk && head -c 4096 /dev/zero >spare",
      " && { cat /dev/zero >rest 2>/dev/null; rm spare; sh ../after.sh; code=$?; rm -f list",
      " batch.jsonl; for f in", old,
      "; do cmp $f ../$f || exit 99; done; test \"$(ls -A | wc -l)\" = ",
      GetParam().outputs.size() + GetParam().sources.size() + 1, " || exit 98; exit $code; }'"));
  EXPECT_EQ(result.code, 4) << result.err;
  EXPECT_NE(result.err.find("No space left"), std::string::npos) << result.err;
}

// Many files at a time, killed again and again: all get done, and none is broken on the way.
class BatchFaults : public Faults {};

TEST_P(BatchFaults, GoOnWhereTheyWereKilled) {
  constexpr int kFiles = 12;
  std::string list;
  for (int i = 0; i < kFiles; ++i) {
    StrAppend(&list, i % 2 ? "new" : "old", ".onnx\t", i, ".json\n");
  }
  const Files whole[] = {{{".json", ReadFile(folder_ / "old.json")},
                          {".safetensors", ReadFile(folder_ / "old.safetensors")}},
                         {{".json", ReadFile(folder_ / "new.json")},
                          {".safetensors", ReadFile(folder_ / "new.safetensors")}}};
  WriteFile(folder_ / "list", list);
  std::minstd_rand random(static_cast<unsigned>(EnvNumber("X2IR_FUZZ_SEED", 1)));
  const auto start = std::chrono::steady_clock::now();
  do {
    fs::remove_all(folder_ / "b");
    int runs = 0;
    for (bool done = false; !done; ++runs) {
      ASSERT_LT(runs, 1000);
      const pid_t pid = Start("x2ir convert -q -j 3 --batch list -o b");
      // Patience grows, so that it ends.
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000 * (1 + runs / 10)));
      ::kill(pid, SIGKILL);
      const Result result = Wait(pid);
      done = result.code == 0;
      EXPECT_TRUE(done || result.code == -SIGKILL) << result.err;
      for (int i = 0; i < kFiles; ++i) {
        const auto path = [&](const char* extension) {
          return folder_ / StrCat("b/", i, extension);
        };
        if (!fs::exists(path(".json"))) {
          EXPECT_FALSE(done) << i;
          continue;
        }
        for (const auto& [extension, bytes] : whole[i % 2]) {
          EXPECT_TRUE(ReadFile(path(extension.c_str())) == bytes) << i << extension;
        }
      }
      if (HasFailure()) return;
    }
    size_t files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ / "b")) ++files;
    EXPECT_EQ(files, size_t{2 * kFiles + 1});  // and the report
  } while (std::chrono::steady_clock::now() - start < Share());
}
INSTANTIATE_TEST_SUITE_P(Programs, BatchFaults, testing::Values(kCommands[0]),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Programs, Faults, testing::ValuesIn(kCommands),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace x2ir
