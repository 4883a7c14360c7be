// Files of every format, changed as whole structures (mutations_util.h), given to the program.
// Whatever comes: it ends by itself with an exit code of its table, in bounded time and memory;
// says in bounded words what is wrong, of which file; leaves nothing behind where it failed; and
// what it wrote it reads.
//
// A share of it runs with all tests; X2IR_RANDOM_SECONDS says for how long, X2IR_RANDOM_SEED from
// which seed on. A failure names the seed, with which the same file comes first.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/cli/mutations_util.h"
#include "tests/cli/sanitized.h"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/fuzz/targets_util.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/readable.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

constexpr rlim_t kMemory = rlim_t{1} << 30;  // on top of what the test has
constexpr rlim_t kSeconds = 20;              // of processor time
constexpr size_t kMaxWords = 64 << 10, kMaxOfALine = 4096;

// What a model's files are called, the model's own first.
struct Kind {
  std::string target;  // of tests/fuzz, which has the seeds
  Strings files;
};

const std::vector<Kind>& Kinds() {
  static const auto& kinds = *new std::vector<Kind>{
      {"onnx", {"m.onnx"}},
      {"textproto", {"m.textproto"}},
      {"onnxjson", {"m.onnxjson"}},
      {"onnxtxt", {"m.onnxtxt"}},
      {"ir", {"m.json", "m.safetensors"}},
      {"tensorflow", {"g.pb"}},
      {"saved_model",
       {"saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"}},
      {"tflite", {"m.tflite"}},
      {"ort", {"m.ort"}},
      {"paddle", {"m.pdmodel", "m.pdiparams"}},
      {"paddle_pir", {"m.json", "m.pdiparams"}},
      {"keras", {"m.keras"}},
      {"keras_config", {"m.json", "m.h5"}},
      {"tfjs", {"model.json", "weights.bin"}},
      {"mxnet", {"m-symbol.json", "m-0000.params"}},
      {"nnvm", {"m.nnvm.json", "m.nnvm.params"}},
      {"relay", {"m.relay", "m.params"}},
      {"relay_json", {"m.relay.json", "m.params"}},
      {"caffe", {"c.prototxt", "c.caffemodel"}},
      {"caffe2", {"c_predict_net.pb", "c_init_net.pb"}},
      {"coreml", {"m.mlmodel"}},
      {"mlpackage", {"m.mlmodel", "weights/weight.bin"}},
      {"darknet", {"d.cfg", "d.weights"}},
      {"ncnn", {"n.param", "n.bin"}},
      {"nnef", {"graph.nnef", "w.dat", "graph.quant"}},
      {"nnef_tar", {"n.nnef.tar"}},
      {"oneflow_graph", {"m.mlir", "variables/out", "variables/meta"}},
      {"oneflow_job", {"m.job", "variables/out", "variables/meta"}},
      {"torch", {"m.pt2"}},
      {"stablehlo", {"m.mlir"}},
      {"gguf", {"m.gguf"}},
      {"checkpoint", {"config.json", "model.safetensors"}},
  };
  return kinds;
}

struct Seed {
  Strings names, contents;
};

std::vector<Seed> SeedsOf(const Kind& kind) {
  std::vector<Seed> seeds;
  const FuzzTarget* target = FindFuzzTarget(kind.target);
  if (!target) return seeds;
  for (std::string_view bytes : target->seeds()) {
    Seed seed;
    for (const std::string& name : kind.files) {
      const size_t end = std::min(bytes.find(kFileBoundary), bytes.size());
      seed.names.push_back(name);
      seed.contents.emplace_back(bytes.substr(0, end));
      if (end == bytes.size()) break;
      bytes.remove_prefix(end + kFileBoundary.size());
    }
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

// Bytes that are no UTF-8 are lone surrogates in what the program prints (docs/ir_format.md), which
// are JSON, but which the library of the test does not take.
std::string WithoutBytes(std::string json) {
  for (size_t at = 0; (at = json.find('\\', at)) != json.npos;) {
    if (json.compare(at + 1, 3, "udc") == 0) {
      json.replace(at, 6, "?");
    } else {
      at += 2;  // what is escaped may be a backslash
    }
  }
  return json;
}

struct Outcome {
  int code = -1;  // or minus the signal
  long megabytes = 0;
  std::string out, err;
};

class HostileRandom : public TempDirTest {
 protected:
  // The program, in a process of its own: in the folder, with limits.
  Outcome Run(const Strings& arguments) const {
    const std::string out = (folder_ / "stdout").string(), err = (folder_ / "stderr").string();
    const pid_t child = ::fork();
    if (child == 0) {
      const auto open_as = [](const std::string& path, int fd) {
        const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        ::dup2(file, fd);
        ::close(file);
      };
      open_as(out, STDOUT_FILENO);
      open_as(err, STDERR_FILENO);
      if (::chdir((folder_ / "work").c_str()) != 0) ::_exit(99);
      const rlimit seconds{kSeconds, kSeconds + 1}, no_core{0, 0};
      ::setrlimit(RLIMIT_CPU, &seconds);
      ::setrlimit(RLIMIT_CORE, &no_core);
      if (!kSanitized) {
        const rlim_t memory = MappedNow() + kMemory;
        const rlimit limit{memory, memory};
        ::setrlimit(RLIMIT_AS, &limit);
      }
      Strings all = {"x2ir"};
      all.insert(all.end(), arguments.begin(), arguments.end());
      std::vector<char*> argv;
      for (std::string& argument : all) argv.push_back(argument.data());
      argv.push_back(nullptr);
      using namespace cli;  // NOLINT
      ::_exit(RunProgram(static_cast<int>(all.size()), argv.data(), "x2ir", "",
                         {AddConvert, AddShow, AddInfo, AddDraw, AddView}));
    }
    Outcome outcome;
    int status = 0;
    rusage used{};
    if (child < 0 || ::wait4(child, &status, 0, &used) != child) return outcome;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    outcome.megabytes = used.ru_maxrss >> 10;
    outcome.out = ReadFile(out);
    outcome.err = ReadFile(err);
    return outcome;
  }

  // What is wrong with what it said; empty: nothing.
  static std::string WrongWith(const Outcome& outcome, const std::string& path) {
    if (outcome.code < 0) return StrCat("signal ", -outcome.code);
    if (outcome.code > 4) return StrCat("exit code ", outcome.code);
    const std::string& err = outcome.err;
    // A model may need an option: which of its graphs is meant.
    const bool asks = err.find("--") != err.npos;
    if (outcome.code == 2 && !asks) return "wrong usage, though it was used right";
    if (outcome.code == 4) return "the system failed";
    if (err.find("This is a bug") != err.npos) return "a bug, as it says";
    if (err.find("out of memory") != err.npos) return "out of memory";
    if (outcome.code != 0) {
      if (!err.starts_with("error: ") && err.find("\nerror: ") == err.npos) return "no error";
      const bool of_ops = err.starts_with("error: cannot ");  // a list of ops of the one model
      if (outcome.code == 3 && !of_ops && err.find(path) == err.npos) {
        return "an error without a file";
      }
    }
    if (err.size() > kMaxWords) return StrCat("an error of ", err.size(), " bytes");
    for (size_t at = 0; at < err.size();) {
      const size_t end = std::min(err.find('\n', at), err.size());
      if (end - at > kMaxOfALine) return StrCat("a line of ", end - at, " bytes");
      at = end + 1;
    }
    if (Printable(err) != err || Printable(outcome.out) != outcome.out) return "control characters";
    return "";
  }

  static rlim_t MappedNow() {
    unsigned long pages = 0;  // NOLINT: as scanf has it
    if (FILE* file = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
      std::fclose(file);
    }
    return static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  }
};

TEST_F(HostileRandom, EveryFormat) {
  const auto seconds = std::chrono::seconds(EnvNumber("X2IR_RANDOM_SECONDS", 20));
  const int64_t first = EnvNumber("X2IR_RANDOM_SEED", 1);
  std::vector<std::vector<Seed>> seeds;
  for (const Kind& kind : Kinds()) {
    seeds.push_back(SeedsOf(kind));
    EXPECT_FALSE(seeds.back().empty()) << kind.target;
  }
  const Strings outputs = {"o.onnx",      "o.json",     "o.tflite",    "o.ort",
                           "o.py",        "o.pt2",      "o.mlpackage", "o.mlir",
                           "o.mlirbc",    "o.job",      "o.nnvm.json", "o.onnxtxt",
                           "o.textproto", "o.onnxjson", "o.relay",     "o.relay.json"};
  const auto start = std::chrono::steady_clock::now();
  int64_t runs = 0, written = 0, refused = 0, failures = 0;
  long most_megabytes = 0;
  for (int64_t number = first; std::chrono::steady_clock::now() - start < seconds; ++number) {
    Mutator mutate(static_cast<uint64_t>(number));
    const size_t kind = mutate.Below(seeds.size());
    if (seeds[kind].empty()) continue;
    Seed seed = seeds[kind][mutate.Below(seeds[kind].size())];
    for (size_t times = 1 + mutate.Below(3); times > 0; --times) {
      std::string& content =
          seed.contents[mutate.OneIn(4) ? mutate.Below(seed.contents.size()) : 0];
      content = mutate.Mutate(content);
    }
    fs::remove_all(folder_ / "work");
    for (size_t i = 0; i < seed.names.size(); ++i) {
      const fs::path path = folder_ / "work" / seed.names[i];
      fs::create_directories(path.parent_path());
      WriteFile(path.string(), seed.contents[i]);
    }
    fs::create_directories(folder_ / "work/out");
    const std::string& target = Kinds()[kind].target;
    const bool is_folder = target == "saved_model" || target == "checkpoint";
    const std::string model = is_folder ? "." : seed.names[0];
    Strings line;
    std::string out;
    switch (mutate.Below(8)) {
      case 0: line = {"info", "--json", model}; break;
      case 1: line = {"show", "--raw", model}; break;
      case 2:
        out = mutate.OneIn(2) ? "o.svg" : "o.dot";
        line = {"draw", model, "-o", "out/" + out};
        break;
      default:
        out = outputs[mutate.Below(outputs.size())];
        line = {"convert", model, "-q", "-o", "out/" + out};
    }
    const Outcome outcome = Run(line);
    ++runs;
    most_megabytes = std::max(most_megabytes, outcome.megabytes);
    std::string wrong = WrongWith(outcome, model);
    const bool is_empty = fs::is_empty(folder_ / "work/out");
    if (wrong.empty() && outcome.code != 0 && !is_empty) wrong = "files are left over";
    if (wrong.empty() && outcome.code == 0 && line[0] == "info" &&
        !nlohmann::json::accept(WithoutBytes(outcome.out))) {
      wrong = "--json is no JSON";
    }
    // Python is not read.
    if (wrong.empty() && outcome.code == 0 && line[0] == "convert" && out != "o.py") {
      ++written;
      // Two formats have graphs of NNVM; which one it is does not show in all of them.
      const bool nnvm = out.ends_with(".nnvm.json");
      const Outcome again =
          nnvm ? Run({"convert", "out/" + out, "--from", "nnvm", "-o", "again.json"})
               : Run({"info", "out/" + out});
      if (again.code != 0) wrong = StrCat("what was written is not read: ", again.err);
    }
    refused += outcome.code != 0;
    if (wrong.empty()) continue;
    std::string command;
    for (const std::string& word : line) StrAppend(&command, " ", word);
    ADD_FAILURE() << wrong.substr(0, 1000) << "\nX2IR_RANDOM_SEED=" << number << ": "
                  << Kinds()[kind].target << ": x2ir" << command << "\n"
                  << outcome.err.substr(0, 1000);
    if (const char* keep = std::getenv("X2IR_RANDOM_KEEP")) {
      fs::copy(folder_ / "work", fs::path(keep) / StrCat(number), fs::copy_options::recursive);
    }
    if (++failures >= EnvNumber("X2IR_RANDOM_FAILURES", 10)) break;
  }
  std::printf("%lld files, %lld refused, %lld written and read, %ld MB at most\n",
              static_cast<long long>(runs), static_cast<long long>(refused),
              static_cast<long long>(written), most_megabytes);
  EXPECT_GT(runs, 0);
}

}  // namespace
}  // namespace x2ir
