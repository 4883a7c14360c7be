// Random graphs through every writer, back through the readers, and through the runtimes that are
// here: the same numbers, or a refusal in words. Each graph is tried in a process of its own kind,
// so that a crash or a hang is a result like any other. What fails is made as small as it gets, and
// written to build/random.
//
//   X2IR_RANDOM_SECONDS=3600   how long, instead of 400 graphs in at most 40 s (./dev random)
//   X2IR_RANDOM_SEED=17        the first seed
//   X2IR_RANDOM_GRAPHS=1       how many graphs at most
//   X2IR_RANDOM_TARGETS=onnx   only these targets (a part of "onnx,tflite,...")
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/random/random_graphs_util.h"
#include "tests/random/random_paths_util.h"
#include "tests/random/random_recipes_util.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kCpuSeconds = 30;       // of one path: more is a hang
constexpr size_t kReducedOfKind = 2;  // failures of one kind that are made small

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void LimitCpu() {
  const itimerval limit = {{0, 0}, {kCpuSeconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

// Runs in a process of its own; what it says, and how it ended ("" where well).
std::string InChild(const std::function<void(int to)>& work,
                    const std::function<void(const Json&)>& said) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    work(ends[1]);
    std::fflush(stdout);
    _exit(0);
  }
  close(ends[1]);
  std::string unread;
  char buffer[1 << 14];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    unread.append(buffer, static_cast<size_t>(n));
    for (size_t end; (end = unread.find('\n')) != unread.npos; unread.erase(0, end + 1)) {
      const Json json = Json::parse(unread.substr(0, end), nullptr, false);
      if (!json.is_discarded()) said(json);
    }
  }
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGPROF ? "a hang"
                                       : StrCat("a crash: ", strsignal(WTERMSIG(status)));
  }
  return WEXITSTATUS(status) == 0 ? "" : StrCat("exit code ", int64_t{WEXITSTATUS(status)});
}

void Tell(int to, const Json& json) {
  const std::string line =
      json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t n = write(to, line.data() + done, line.size() - done);
    if (n <= 0) _exit(3);
    done += static_cast<size_t>(n);
  }
}

struct Counts {
  int64_t right = 0, run = 0, refused = 0, known = 0, failed = 0;
};

class Campaign {
 public:
  void Run(uint64_t first, int64_t most, double seconds) {
    const double end = Now() + seconds;
    uint64_t next = first;
    const uint64_t last = first + static_cast<uint64_t>(most);
    while (next < last && Now() < end) {
      uint64_t at = next;
      std::string path;
      const std::string ended = InChild([&](int to) { Work(to, next, last, end); },
                                        [&](const Json& said) {
                                          at = said.value("seed", at);
                                          if (said.contains("begin")) {
                                            path = said["begin"];
                                          } else {
                                            Take(said);
                                          }
                                        });
      if (ended.empty() && path.empty()) break;
      if (ended.empty()) {
        next = at + 1;
        continue;
      }
      Take({{"seed", at},
            {"path", path},
            {"target", path.substr(0, path.find_first_of("@ "))},
            {"result", "failed"},
            {"stage", ended},
            {"text", ended},
            {"kind", StrCat(path, ended)}});
      next = at + 1;
    }
  }

  void Report() const {
    std::printf("random graphs: %lld made, %lld with something to compare, of %zu ops\n",
                static_cast<long long>(made_), static_cast<long long>(graphs_), ops_.size());
    std::printf("%-16s %8s %8s %8s %8s %8s\n", "target", "right", "run", "refused", "known",
                "FAILED");
    for (const auto& [target, c] : counts_) {
      std::printf("%-16s", target.c_str());
      for (const int64_t n : {c.right, c.run, c.refused, c.known, c.failed}) {
        std::printf(" %8lld", static_cast<long long>(n));
      }
      std::printf("\n");
    }
    for (const auto& [reason, n] : known_) {
      std::printf("known: %lld times %s\n", static_cast<long long>(n), reason.c_str());
    }
    if (Env("X2IR_RANDOM_REFUSALS").empty()) return;
    for (const auto& [reason, n] : refusals_) {
      std::printf("refused: %lld times %s\n", static_cast<long long>(n), reason.c_str());
    }
  }

  const std::map<std::string, std::vector<std::string>>& failures() const { return failures_; }

 private:
  // In the child: graphs one after the other.
  void Work(int to, uint64_t first, uint64_t last, double end) {
    const auto judges = StartJudges();
    const std::string targets = Env("X2IR_RANDOM_TARGETS");
    std::map<std::string, size_t> reduced;
    for (uint64_t seed = first; seed < last && Now() < end; ++seed) {
      LimitCpu();
      Tell(to, {{"seed", seed}, {"begin", "generator"}});
      RandomCaseOfGraph made;
      RandomGraph random = MakeRandomGraph(seed, RandomKind::kForRuntimes);
      Json ops = Json::array();
      for (const Node* node : random.graph->nodes()) ops.push_back(node->op().str());
      const bool settled = Settle(std::move(random), seed, &made);
      Tell(to, {{"seed", seed}, {"ops", ops}, {"settled", settled}});
      if (!settled) continue;
      for (const RandomPath& path : PathsOf(seed)) {
        if (!targets.empty() &&
            ("," + targets + ",").find("," + path.target + ",") == std::string::npos) {
          continue;
        }
        LimitCpu();
        Tell(to, {{"seed", seed}, {"begin", path.Name()}});
        const RandomVerdict verdict = TryPath(made, path, scratch_.path(), judges.get());
        static constexpr const char* kResults[] = {"right", "refused", "known", "failed"};
        Json said = {{"seed", seed},
                     {"path", path.Name()},
                     {"target", path.target},
                     {"result", kResults[static_cast<int>(verdict.result)]},
                     {"run", verdict.run},
                     {"stage", verdict.stage},
                     {"kind", StrCat(path.target, " ", verdict.Kind())},
                     {"text", verdict.text.substr(0, 600)}};
        if (verdict.result == RandomResult::kFailed && reduced[said["kind"]]++ < kReducedOfKind) {
          said["file"] = ReduceFailure(made, path, verdict, seed, judges.get());
        }
        Tell(to, said);
      }
    }
    Tell(to, {{"seed", last}, {"begin", ""}});
  }

  std::string ReduceFailure(const RandomCaseOfGraph& made, const RandomPath& path,
                            const RandomVerdict& verdict, uint64_t seed, RandomJudges* judges) {
    const std::string stage = verdict.stage;
    const auto fails = [&](const RandomGraph& random) {
      LimitCpu();
      RandomCaseOfGraph trial;
      if (!Settle({random.graph->Clone(), random.values}, seed, &trial)) return false;
      if (trial.random.graph->outputs().size() != random.graph->outputs().size()) return false;
      const RandomVerdict now = TryPath(trial, path, scratch_.path(), judges);
      return now.result == RandomResult::kFailed && now.stage == stage;
    };
    RandomCaseOfGraph small;
    const RandomGraph reduced = Reduce(made.random, fails);
    LimitCpu();
    if (!Settle({reduced.graph->Clone(), reduced.values}, seed, &small)) return "";
    const RandomVerdict now = TryPath(small, path, scratch_.path(), judges);
    const fs::path base = folder_ / StrCat(path.target, "_", static_cast<int64_t>(seed));
    WriteFailure(small, path, now, base);
    return base.string() + ".txt";
  }

  // In the parent.
  void Take(const Json& said) {
    if (said.contains("ops")) {
      ++made_;
      graphs_ += said["settled"].get<bool>();
      for (const auto& op : said["ops"]) ops_.insert(op.get<std::string>());
      return;
    }
    Counts& counts = counts_[said.value("target", "")];
    const std::string result = said.value("result", "");
    counts.right += result == "right";
    counts.run += said.value("run", false);
    counts.refused += result == "refused";
    counts.known += result == "known";
    counts.failed += result == "failed";
    if (result == "known") ++known_[said.value("stage", "")];
    if (result == "refused") {
      ++refusals_[StrCat(said.value("kind", ""))];
    }
    if (result != "failed") return;
    const std::string line =
        StrCat("seed ", said["seed"].dump(), ", ", said.value("path", ""), ": ",
               said.value("stage", ""), ": ", said.value("text", ""), " ", said.value("file", ""));
    failures_[said.value("kind", "")].push_back(line);
    if (!Env("X2IR_RANDOM_SECONDS").empty()) {
      std::printf("%s\n", line.c_str());
      std::fflush(stdout);
    }
  }

  const fs::path folder_ = fs::path(X2IR_BUILD_DIR) / "random";
  const TempDir scratch_;
  int64_t made_ = 0, graphs_ = 0;
  std::set<std::string> ops_;
  std::map<std::string, Counts> counts_;
  std::map<std::string, int64_t> known_, refusals_;
  std::map<std::string, std::vector<std::string>> failures_;
};

TEST(RandomGraphsThroughAll, AreRightOrRefused) {
  Campaign campaign;
  campaign.Run(
      static_cast<uint64_t>(EnvNumber("X2IR_RANDOM_SEED", 1)),
      EnvNumber("X2IR_RANDOM_GRAPHS", Env("X2IR_RANDOM_SECONDS").empty() ? 400 : 1'000'000'000),
      static_cast<double>(EnvNumber("X2IR_RANDOM_SECONDS", 40)));
  campaign.Report();
  for (const auto& [kind, lines] : campaign.failures()) {
    ADD_FAILURE() << lines.size() << " times: " << lines[0];
  }
}

// An op with an attribute of a new name says here what it may be.
TEST(RandomGraphsThroughAll, KnowTheRangesOfAttributes) {
  for (const OpDef* op : AllOps()) {
    for (const AttrDef& attr : op->attrs()) {
      if (attr.kind != AttrKind::kInt && attr.kind != AttrKind::kString) continue;
      const AttributeRange* range = RangeOfAttribute(attr.name.view());
      EXPECT_TRUE(range && (attr.kind == AttrKind::kInt || !range->texts.empty()))
          << op->name().view() << "." << attr.name.view()
          << ": random_recipes_util.cc does not say what it may be";
    }
  }
}

}  // namespace
}  // namespace x2ir
