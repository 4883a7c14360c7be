// x2ir view: a model, or two side by side, as a page for a browser.
#include "x2ir/view/view.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "x2ir/cli/cases.h"
#include "x2ir/cli/files.h"
#include "x2ir/cli/flags.h"
#include "x2ir/cli/load.h"
#include "x2ir/cli/loopback_server.h"
#include "x2ir/cli/map_flags.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/shape_flags.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"

extern char** environ;

namespace x2ir::cli {
namespace {

constexpr char kViewFooter[] =
    "Writes one HTML file that any browser shows, without a network: the graph with modules as\n"
    "groups that open and close, what each node is, statistics of weights, costs by op. Of two\n"
    "models it shows both, marks their differences, and with --io or --random\n"
    "colors each value by its error. With --map the second one is shown with the inputs and\n"
    "outputs of the first, as casts and transposes at its borders.\n"
    "\n"
    "Examples:\n"
    "  x2ir view model.onnx                          # writes model.html\n"
    "  x2ir view model.pt2 --open                    # and opens it\n"
    "  x2ir view model.onnx optimized.onnx --random 1\n"
    "  x2ir view model.onnx nhwc.onnx --random 1 --map nhwc.json   # of convert --report\n"
    "  x2ir view model.onnx --serve                  # on 127.0.0.1, without a file";

#ifdef __APPLE__
constexpr char kOpener[] = "open";
#else
constexpr char kOpener[] = "xdg-open";
#endif

struct ViewFlags {
  std::string model, other, out, port;
  std::vector<std::string> map;
  CaseFlags cases;
  bool open = false, serve = false, weights = false, raw = false;
};

// Starts the desktop's browser. What it makes of that, it says itself; only that it cannot be
// started, or ends with an error at once, is told here.
absl::Status OpenInBrowser(std::string what) {
  std::string program = kOpener;
  char* arguments[] = {program.data(), what.data(), nullptr};
  pid_t child = 0;
  if (const int error = ::posix_spawnp(&child, kOpener, nullptr, nullptr, arguments, environ)) {
    return absl::UnavailableError(StrCat("cannot start ", kOpener, ": ", std::strerror(error)));
  }
  for (int i = 0; i < 20; ++i) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) {
      const bool fine = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      return fine ? absl::OkStatus()
                  : absl::UnavailableError(StrCat(kOpener, " cannot open ", what));
    }
    ::usleep(50'000);
  }
  return absl::OkStatus();
}

// The end of a path: a file's name, and its folder where that is needed to tell two of them apart.
std::string TitleOf(const std::string& path, const std::string& other) {
  const auto parts = [](const std::string& text) {
    std::filesystem::path p = std::filesystem::path(text).lexically_normal();
    if (!p.has_filename()) p = p.parent_path();  // a folder with a trailing slash
    return std::pair(p.filename().string(), p.parent_path().filename().string());
  };
  const auto [name, folder] = parts(path);
  return name != parts(other).first || folder.empty() ? name : StrCat(folder, "/", name);
}

// --shape is about the first model.
std::optional<Model> LoadOne(const ViewFlags& flags, const std::string& path, Session& session,
                             Progress& progress, int* code) {
  if (!flags.raw) {
    return LoadAsIr(session, progress, path, Unsupported::kKeep, code,
                    path == flags.model ? flags.cases.shapes : OptionFlags());
  }
  std::optional<Model> model = LoadToLookAt(session, progress, path, flags.raw, code);
  if (!model) return model;
  if (absl::Status s = model->graph->Sort(); !s.ok()) {
    progress.Stop();
    *code = session.Fail(s, Phase::kReading);
    return std::nullopt;
  }
  return model;
}

int RunView(const ViewFlags& given, Session& session) {
  ViewFlags flags = given;
  int64_t port = 0;
  if (!flags.port.empty()) {
    const auto number = ParseInt("--port", flags.port, 1, 65535);
    if (!number.ok()) return session.Usage(number.status());
    port = *number;
  }
  const CaseFlags& cases_of = flags.cases;
  const bool compares = !cases_of.io.empty() || !cases_of.random.empty() || !cases_of.seed.empty();
  if (compares && flags.other.empty()) {
    return session.Usage("--io, --random and --seed need two models, whose values are compared");
  }
  if (!flags.map.empty() && flags.other.empty()) {
    return session.Usage("--map needs two models, one converted from the other");
  }
  if (flags.raw && (compares || !flags.map.empty() || !cases_of.shapes.Texts().empty())) {
    return session.Usage(
        "--raw: only IR graphs can be run, or be given shapes, inputs and outputs");
  }
  if (flags.out.empty() && !flags.serve) flags.out = DefaultOutput(flags.model, ".html");
  if (!flags.serve && flags.out != "-") {
    if (absl::Status s = CheckOutputs({flags.model, flags.other, flags.cases.io}, {}, {flags.out});
        !s.ok()) {
      return session.Usage(s);
    }
  }
  if (!HasViewPage()) {
    session.Error(
        "this x2ir was built without the page of view, which needs npm (x2ir draw writes a "
        "picture)");
    return kCannot;
  }

  int code = kDone;
  Progress progress(session, "reading");
  const auto fail = [&](const absl::Status& status, Phase phase) {
    progress.Stop();
    return session.Fail(status, phase);
  };
  std::vector<Model> models;
  std::vector<ViewedModel> viewed;
  for (const auto& [path, beside] :
       {std::pair(flags.model, flags.other), {flags.other, flags.model}}) {
    if (path.empty()) continue;
    std::optional<Model> model = LoadOne(flags, path, session, progress, &code);
    if (!model) return code;
    if (!flags.serve && flags.out != "-") {
      const absl::Status s = CheckOutputs({}, MappedFiles(*model), {flags.out});
      if (!s.ok()) return fail(s, Phase::kWriting);
    }
    models.push_back(*std::move(model));
    viewed.push_back({TitleOf(path, beside), DetectFormat(path).value_or(""), nullptr});
  }
  for (size_t i = 0; i < models.size(); ++i) viewed[i].model = &models[i];
  std::string hint;
  if (models.size() == 2 && !flags.raw) {
    if (absl::Status s = ApplyMap(flags.map, &models[0], models[1]); !s.ok()) {
      return fail(s, Phase::kConverting);
    }
    if (compares) hint = MapHint(flags.map, &models[0], models[1]);
  }

  ViewOptions options;
  options.weights = flags.weights;
  ModelComparison comparison;
  if (compares) {
    std::string note;
    const auto cases = CasesFor(flags.cases, *models[0].graph, session, progress, &note, &code);
    if (!cases) return code;
    progress.SetWhat("running");
    VerifyOptions verify;
    verify.progress = progress.fn();
    auto compared = CompareModels(models[0], models[1], *cases, verify);
    if (!compared.ok()) return fail(WithHint(compared.status(), hint), Phase::kConverting);
    comparison = *std::move(compared);
    options.comparison = &comparison;
  }
  progress.SetWhat("writing");
  absl::StatusOr<std::string> page = ViewPage(viewed, options);
  if (!page.ok()) return fail(page.status(), Phase::kConverting);

  if (flags.serve) {
    absl::StatusOr<LoopbackServer> server = LoopbackServer::Listen(static_cast<int>(port));
    if (!server.ok()) return fail(server.status(), Phase::kWriting);
    progress.Stop();
    session.Print(StrCat(server->Url(), "\n"));
    session.Finish(kDone);
    if (flags.open) {
      if (absl::Status s = OpenInBrowser(server->Url()); !s.ok())
        session.Warn(std::string(s.message()));
    }
    return session.Fail(server->Run(std::make_shared<const std::string>(*std::move(page))),
                        Phase::kWriting);
  }
  if (flags.out == "-") {
    progress.Stop();
    session.Print(*page);
    return kDone;
  }
  const absl::Status written = WriteTextFile(flags.out, *page);
  progress.Stop();
  if (!written.ok()) return session.Fail(written, Phase::kWriting);
  if (!session.quiet) session.Print(StrCat("wrote ", flags.out, "\n"));
  if (flags.open) {
    session.Finish(kDone);
    if (absl::Status s = OpenInBrowser(flags.out); !s.ok()) return session.Fail(s, Phase::kWriting);
  }
  return kDone;
}

}  // namespace

void AddView(CLI::App& app, Session& session) {
  VerbOf verb(app, session, "view", "Write an HTML page that shows one model or two", kViewFooter,
              RunView);
  verb.Text("MODEL", verb.flags.model, "", "The model file").Required();
  verb.Text("OTHER", verb.flags.other, "", "A second model to show beside it");
  verb.Text("-o,--output", verb.flags.out, "FILE.html",
            "The page (MODEL's name with .html, in this folder); -: standard output");
  verb.Flag("--open", verb.flags.open, "Open it in the browser");
  verb.Flag("--serve", verb.flags.serve, "Serve it to browsers on this machine, without a file")
      .Excludes("--output");
  verb.Text("--port", verb.flags.port, "N", "The port to serve on; by default one that is free")
      .Needs("--serve");
  verb.Flag("--weights", verb.flags.weights, "Include the elements of weights, at most 64 MiB");
  verb.Flag("--raw", verb.flags.raw, "The graph as the file has it, not converted to IR");
  AddCaseFlags(verb, verb.flags.cases, "Color values by their error on these inputs");
  AddMapFlag(verb, verb.flags.map);
}

}  // namespace x2ir::cli
