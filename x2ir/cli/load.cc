// Loads and converts, and says what went wrong.
#include "x2ir/cli/load.h"

#include <utility>

#include "x2ir/core/convert.h"
#include "x2ir/formats/format.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {

absl::StatusOr<Model> LoadFile(const Session& session, const std::string& path, std::string* format,
                               const LoadOptions& wanted) {
  if (format->empty()) {
    X2IR_ASSIGN_OR_RETURN(*format, DetectFormat(path));
  }
  X2IR_ASSIGN_OR_RETURN(LoadOptions options, session.Loading(*format));
  options.inputs = wanted.inputs;
  options.outputs = wanted.outputs;
  for (const auto& [name, value] : wanted.format_options.values()) {
    options.format_options.Set(name, value);
  }
  return Load(path, *format, options);
}

std::optional<Model> LoadAsIr(Session& session, Progress& progress, const std::string& path,
                              Unsupported unsupported, int* code, const ImportOptions& wanted) {
  progress.SetWhat(StrCat("reading ", path));
  std::string format;
  const LoadOptions loading{wanted.format_options, {}, {}};
  absl::StatusOr<Model> model = LoadFile(session, path, &format, loading);
  if (!model.ok()) {
    progress.Stop();
    *code = session.Fail(model.status(), Phase::kReading);
    return std::nullopt;
  }
  progress.SetWhat(StrCat("converting ", path));
  ImportOptions options = wanted;
  // IR comes as it is, with the defaults that its inputs may have.
  options.freeze_params = FindFormat(format)->dialect != kIrDialect;
  options.progress = progress.fn();
  Report report;
  model = ToIr(*std::move(model), options, &report);
  if (!model.ok() && unsupported == Unsupported::kKeep && !report.failures.empty()) {
    // The failed attempt took the model: again, from the file.
    const std::string failures = report.FailuresText();
    model = LoadFile(session, path, &format, loading);
    if (model.ok()) {
      options.foreign.all = true;
      report = Report();
      model = ToIr(*std::move(model), options, &report);
      if (model.ok()) {
        session.Warn(StrCat("'", path, "': ops that cannot be converted are shown as they are:\n",
                            failures));
      }
    }
  }
  if (model.ok()) return *std::move(model);
  progress.Stop();
  *code = session.Fail(NamingModel(model.status(), path), Phase::kConverting, &report);
  return std::nullopt;
}

// Whether the message has the path, or that of a file in it, in quotes, or begins with it.
static bool NamesPath(std::string_view message, std::string_view path) {
  const auto is_one_of = [&](size_t at, std::string_view ends) {
    return at < message.size() && ends.find(message[at]) != ends.npos;
  };
  if (message.starts_with(path) && is_one_of(path.size(), ":")) return true;
  for (size_t at = message.find(path); at != message.npos; at = message.find(path, at + 1)) {
    if (at > 0 && message[at - 1] == '\'' && is_one_of(at + path.size(), "'/")) return true;
  }
  return false;
}

absl::Status NamingModel(const absl::Status& status, const std::string& path) {
  const std::string_view message(status.message().data(), status.message().size());
  if (status.ok() || OptionOf(status) || NamesPath(message, path)) return status;
  return Annotate(status, StrCat("'", path, "'"));
}

std::optional<Model> LoadToLookAt(Session& session, Progress& progress, const std::string& path,
                                  bool raw, int* code) {
  if (!raw) return LoadAsIr(session, progress, path, Unsupported::kKeep, code);
  std::string format;
  absl::StatusOr<Model> model = LoadFile(session, path, &format);
  if (model.ok()) return *std::move(model);
  progress.Stop();
  *code = session.Fail(model.status(), Phase::kReading);
  return std::nullopt;
}

}  // namespace x2ir::cli
