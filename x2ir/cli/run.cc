// x2ir run: runs a model by the reference evaluation.
#include <memory>
#include <string>
#include <utility>

#include "x2ir/cli/cases.h"
#include "x2ir/cli/files.h"
#include "x2ir/cli/flags.h"
#include "x2ir/cli/load.h"
#include "x2ir/cli/program.h"
#include "x2ir/cli/progress.h"
#include "x2ir/cli/runtime_flags.h"
#include "x2ir/cli/tensor_summary.h"
#include "x2ir/cli/verbs.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/edit/inputs_outputs.h"
#include "x2ir/core/io_file.h"
#include "x2ir/formats/json.h"
#include "x2ir/formats/npy/npy.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/runtimes/check.h"

namespace x2ir::cli {
namespace {

constexpr char kRunFooter[] =
    "An io file holds in_0, in_1, ... in the model's order, or inputs by their real names; a\n"
    "prefix case0., case1., ... makes several cases. Prints a line for each output. OUT is an io\n"
    "file with inputs and outputs, which x2ir verify takes.\n"
    "\n"
    "Examples:\n"
    "  x2ir run model.onnx --input x=image.npy\n"
    "  x2ir run model.json --io io.safetensors -o out.safetensors\n"
    "  x2ir run model.json --io io.safetensors --input mask=mask.npy --json\n"
    "  x2ir run model.onnx --random 2 --shape x:1,3,224,224\n"
    "  x2ir run model.pt2 --io io.safetensors --with onnxruntime -o ort.safetensors";

struct RunFlags {
  std::string model, out;
  CaseFlags cases;
  Strings inputs;
  RuntimeFlags runtime;
  bool json = false;
};

// --input replaces what the io file has, in every case.
absl::Status SetInput(const Graph& graph, const std::string& name, const std::string& file,
                      std::vector<IoCase>& cases) {
  size_t at = 0;
  while (at < graph.inputs().size() && graph.inputs()[at]->name() != name) ++at;
  if (at == graph.inputs().size()) return NoSuchInput("input", name, graph);
  absl::StatusOr<Tensor> tensor = ReadNpy(file);
  if (!tensor.ok()) return Annotate(tensor.status(), StrCat("input '", name, "'"));
  for (IoCase& io : cases) io.inputs[at] = *tensor;
  return absl::OkStatus();
}

// Missing inputs, as a hint for the command line; empty if there are none.
std::string Missing(const Graph& graph, const IoCase& io) {
  std::string missing;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value& input = *graph.inputs()[i];
    const bool optional = input.type().kind() == Type::kOptional;
    if (io.inputs[i] || input.constant() || optional) continue;
    StrAppend(&missing, "\n  --input ", input.name(), "=FILE.npy   (", input.type().ToString(),
              ")");
  }
  return missing;
}

int RunModel(const RunFlags& flags, Session& session) {
  const auto files = ParseInputFiles(flags.inputs);
  if (!files.ok()) return session.Usage(files.status());
  if (!flags.out.empty()) {
    std::vector<std::string> inputs = {flags.model, flags.cases.io};
    for (const auto& file : *files) inputs.push_back(file.second);
    if (absl::Status s = CheckOutputs(inputs, {}, {flags.out}); !s.ok()) {
      return session.Usage(s);
    }
  }
  int code = kDone;
  std::shared_ptr<const Runtime> runtime;
  if (!LoadRuntimeFor(flags.runtime, session, &runtime, &code)) return code;
  Progress progress(session, "reading");
  std::optional<Model> model = LoadToRun(session, progress, flags.model, flags.cases, &code);
  if (!model) return code;
  const Graph& graph = *model->graph;
  auto fail = [&](const absl::Status& status, Phase phase) {
    progress.Stop();
    return session.Fail(status, phase);
  };
  if (!flags.out.empty()) {
    if (absl::Status s = CheckOutputs({}, MappedFiles(*model), {flags.out}); !s.ok()) {
      progress.Stop();
      return session.Usage(s);
    }
  }

  std::vector<IoCase> cases(1);
  cases[0].inputs.resize(graph.inputs().size());
  std::string note;
  if (!flags.cases.is_random() || !flags.cases.random.empty() || !flags.cases.seed.empty()) {
    auto found = CasesFor(flags.cases, graph, session, progress, &note, &code);
    if (!found) return code;
    cases = *std::move(found);
  }
  for (const auto& [name, file] : *files) {
    if (absl::Status s = SetInput(graph, name, file, cases); !s.ok()) {
      return fail(s, Phase::kReading);
    }
  }
  for (const IoCase& io : cases) {
    if (const std::string missing = Missing(graph, io); !missing.empty()) {
      progress.Stop();
      return session.Usage(StrCat(io.name, io.name.empty() ? "" : ": ",
                                  "inputs are missing; give them in a file by --io, or by",
                                  missing));
    }
  }

  std::optional<ModelInRuntime> in_runtime;
  if (runtime) {
    auto opened = ModelInRuntime::Convert(*model, runtime);
    if (!opened.ok()) return fail(opened.status(), Phase::kConverting);
    in_runtime.emplace(*std::move(opened));
  }
  std::string json = "{\"outputs\": [";
  std::string text = note.empty() ? "" : StrCat(note, "\n");
  bool first = true;
  for (IoCase& io : cases) {
    progress.SetWhat(io.name.empty() ? "running" : StrCat("running ", io.name));
    auto results = in_runtime ? in_runtime->Run(io) : RunCase(graph, io, progress.fn());
    if (!results.ok()) {
      return fail(NamingModel(results.status(), flags.model), Phase::kConverting);
    }
    io.outputs.assign(results->size(), std::nullopt);
    for (size_t i = 0; i < results->size(); ++i) {
      const std::string& name = graph.outputs()[i]->name();
      const Datum& result = (*results)[i];
      const Tensor* tensor = result.tensor();
      if (tensor) io.outputs[i] = *tensor;
      if (!flags.out.empty() && (!tensor || tensor->is_string())) {
        return fail(
            Unimplemented("output '", name, "' ", tensor ? "holds strings" : "is not a tensor",
                          "; -o holds only tensors of numbers"),
            Phase::kConverting);
      }
      StrAppend(&text, io.name, io.name.empty() ? "" : " ", name, ": ", SummaryText(result), "\n");
      StrAppend(&json, first ? "\n" : ",\n", "  {\"case\": ");
      AppendJsonString(&json, io.name);
      json += ", \"output\": ";
      AppendJsonString(&json, name);
      StrAppend(&json, ", ", SummaryJson(result), "}");
      first = false;
    }
  }
  json += "\n]}\n";
  if (!flags.out.empty()) {
    progress.SetWhat(StrCat("writing ", flags.out));
    const auto folders = NewFolders::For(flags.out);
    if (!folders.ok()) return fail(folders.status(), Phase::kWriting);
    if (absl::Status s = WriteIoFile(flags.out, cases, graph); !s.ok()) {
      return fail(s, absl::IsInvalidArgument(s) ? Phase::kConverting : Phase::kWriting);
    }
    StrAppend(&text, "wrote ", flags.out, "\n");
  }
  progress.Stop();
  if (flags.json) {
    session.Print(json);
  } else if (!session.quiet || flags.out.empty()) {
    session.Print(text);
  }
  return kDone;
}

}  // namespace

void AddRun(CLI::App& app, Session& session) {
  VerbOf verb(app, session, "run", "Run a model on inputs", kRunFooter, RunModel);
  verb.Text("MODEL", verb.flags.model, "", "The model file").Required();
  AddCaseFlags(verb, verb.flags.cases, "An io file with the inputs");
  verb.Repeated("--input", verb.flags.inputs, "NAME=FILE.npy",
                "One input; replaces the input of the io file");
  AddRuntimeFlags(verb, verb.flags.runtime,
                  "Write MODEL for this runtime, as x2ir convert does, and run it there");
  verb.Text("-o,--output", verb.flags.out, "OUT.safetensors", "Write inputs and outputs");
  verb.Flag("--json", verb.flags.json, "Print JSON");
}

}  // namespace x2ir::cli
