#include "x2ir/cli/cases.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "x2ir/cli/flags.h"
#include "x2ir/cli/map_flags.h"
#include "x2ir/cli/shape_flags.h"
#include "x2ir/core/suggest.h"
#include "x2ir/formats/options.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {

std::vector<std::string> CaseFlags::CaseNames() const {
  std::vector<std::string> names;
  for (const std::string& list : cases) {
    for (const absl::string_view name : absl::StrSplit(list, ',')) names.emplace_back(name);
  }
  return names;
}

void AddCaseFlags(Verb& verb, CaseFlags& flags, const std::string& about_io) {
  verb.Text("--io", flags.io, "FILE.safetensors", about_io);
  verb.Text("--random", flags.random, "N", "Random inputs: the number of cases").Excludes("--io");
  verb.Text("--seed", flags.seed, "N", "The seed of random inputs (0)").Excludes("--io");
  verb.Repeated("--cases", flags.cases, "case0,case2", "Only these cases of the io file")
      .Needs("--io");
  AddShapeFlags(verb, flags.shapes);
}

namespace {

// Those that --cases names, in the order of the file.
absl::StatusOr<std::vector<IoCase>> Chosen(std::vector<IoCase> all,
                                           const std::vector<std::string>& lists) {
  if (lists.empty()) return all;
  std::vector<std::string> known, wanted;
  for (const IoCase& io : all) known.push_back(io.name);
  for (const std::string& list : lists) {
    X2IR_ASSIGN_OR_RETURN(const OptionValue names,
                          ParseOption({.name = "cases", .type = OptionDef::kList}, list));
    for (const std::string& name : std::get<std::vector<std::string>>(names)) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        return OptionError("cases", "there is no case '", name, "'", DidYouMean(name, known));
      }
      wanted.push_back(name);
    }
  }
  std::erase_if(all, [&](const IoCase& io) {
    return std::find(wanted.begin(), wanted.end(), io.name) == wanted.end();
  });
  return all;
}

}  // namespace

std::optional<Model> LoadToRun(Session& session, Progress& progress, const std::string& path,
                               const CaseFlags& flags, int* code) {
  return LoadAsIr(session, progress, path, Unsupported::kFail, code, flags.shapes, flags.io,
                  flags.CaseNames());
}

std::optional<std::vector<IoCase>> CasesFor(const CaseFlags& flags, const Graph& graph,
                                            Session& session, Progress& progress, std::string* note,
                                            int* code, const std::string& hint) {
  const auto failed = [&](int with) {
    *code = with;
    return std::nullopt;
  };
  if (!flags.is_random()) {
    auto read = ReadIoFile(flags.io, graph);
    if (read.ok()) read = Chosen(*std::move(read), flags.cases);
    if (read.ok()) return *std::move(read);
    progress.Stop();
    return failed(session.Fail(WithHint(read.status(), hint), Phase::kReading));
  }
  int64_t count = 1, seed = 0;
  for (const auto& [flag, text, value, least] :
       {std::tuple("--random", &flags.random, &count, int64_t{1}),
        std::tuple("--seed", &flags.seed, &seed, int64_t{0})}) {
    if (text->empty()) continue;
    const auto number = ParseInt(flag, *text, least, std::numeric_limits<int32_t>::max());
    if (!number.ok()) {
      progress.Stop();
      return failed(session.Usage(number.status()));
    }
    *value = *number;
  }
  std::vector<IoCase> cases;
  for (int64_t i = 0; i < count; ++i) {
    absl::StatusOr<IoCase> random = RandomCase(graph, static_cast<uint64_t>(seed + i), note);
    if (!random.ok()) {
      progress.Stop();
      return failed(
          session.Usage(StrCat(std::string(random.status().message()), "; give inputs by --io")));
    }
    if (count > 1) random->name = StrCat("case", i);
    cases.push_back(*std::move(random));
  }
  return cases;
}

void AddToleranceFlags(Verb& verb, ToleranceFlags& flags) {
  verb.Text("--rtol", flags.rtol, "R", "Relative tolerance (1e-3)");
  verb.Text("--atol", flags.atol, "A", "Absolute tolerance (1e-4)");
  std::string names;
  for (const Metric& metric : Metrics()) StrAppend(&names, names.empty() ? "" : "|", metric.name);
  verb.Text("--metric", flags.metric, names,
            "The metric that decides whether outputs agree, instead of --rtol and --atol")
      .Excludes("--rtol")
      .Excludes("--atol");
  verb.Text("--at-least", flags.at_least, "X",
            "The lowest accepted value of --metric cosine or snr")
      .Needs("--metric");
  verb.Text("--at-most", flags.at_most, "X",
            "The highest accepted value of --metric max-abs or steps")
      .Needs("--metric");
}

absl::Status ParseTolerances(const ToleranceFlags& flags, VerifyOptions* options) {
  for (const auto& [flag, text, value] :
       {std::tuple("--rtol", &flags.rtol, &options->tolerance.rtol),
        std::tuple("--atol", &flags.atol, &options->tolerance.atol)}) {
    if (text->empty()) continue;
    X2IR_ASSIGN_OR_RETURN(*value, ParseTolerance(flag, *text));
  }
  if (flags.metric.empty()) return absl::OkStatus();
  const Metric* metric = FindMetric(flags.metric);
  if (!metric) {
    std::vector<std::string> names;
    for (const Metric& known : Metrics()) names.emplace_back(known.name);
    return Invalid("--metric: there is no metric '", flags.metric, "'",
                   DidYouMean(flags.metric, names), "; expected ", absl::StrJoin(names, ", "));
  }
  const auto [flag, text, other] = metric->more_is_better
                                       ? std::tuple("--at-least", &flags.at_least, &flags.at_most)
                                       : std::tuple("--at-most", &flags.at_most, &flags.at_least);
  if (text->empty() || !other->empty()) {
    return Invalid("--metric ", metric->name, ": expected ", flag, " X, the ",
                   metric->more_is_better ? "least" : "most", " that it may be");
  }
  X2IR_ASSIGN_OR_RETURN(const double bound, ParseTolerance(flag, *text));
  options->criterion = Criterion{metric, bound};
  return absl::OkStatus();
}

}  // namespace x2ir::cli
