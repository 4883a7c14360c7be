// Names of output files, and reports.
#include "x2ir/cli/files.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "x2ir/formats/format.h"
#include "x2ir/formats/json.h"
#include "x2ir/graph_wrapper/files_read.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

namespace fs = std::filesystem;

// Whether something stands before the extension.
bool EndsIn(std::string_view name, std::string_view extension) {
  return name.size() > extension.size() && name.ends_with(extension);
}

// Where the file's name starts, and where its extension does (or the end): one that a format has
// (".nnvm.json"), else all from the last dot on.
std::pair<size_t, size_t> NameOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t start = slash == std::string::npos ? 0 : slash + 1;
  const size_t dot = path.rfind('.');
  const bool has = dot != std::string::npos && dot > start;
  size_t end = has ? dot : path.size();
  const std::string name = absl::AsciiStrToLower(ForAbsl(std::string_view(path).substr(start)));
  for (const Format* format : AllFormats()) {
    for (const std::string& extension : format->extensions) {
      if (EndsIn(name, extension)) end = std::min(end, path.size() - extension.size());
    }
  }
  return {start, end};
}

}  // namespace

std::string DefaultOutput(const std::string& input, std::string_view extension) {
  if (input == "/dev/stdin") return StrCat("model", extension);
  // A folder's name may end in slashes.
  const std::string path = input.substr(0, input.find_last_not_of('/') + 1);
  const auto [start, end] = NameOf(path);
  const std::string stem = path.substr(start, end - start);
  return StrCat(stem.empty() ? "model" : stem, extension);
}

std::string WithExtension(const std::string& path, std::string_view extension) {
  return StrCat(path.substr(0, NameOf(path).second), extension);
}

bool HasExtension(const std::string& path, std::string_view extension) {
  return EndsIn(std::string_view(path).substr(NameOf(path).first), extension);
}

namespace {

bool HoldsOneOf(const std::string& folder, const std::vector<std::string>& files) {
  const std::string start = (fs::path(folder) / "").string();
  return std::ranges::any_of(files, [&](const std::string& file) {
    return file.size() > start.size() && file.starts_with(start);
  });
}

}  // namespace

namespace {

// However it is spelled: "new/../a" is "a" when "new" has been made.
std::string RealName(const std::string& path) {
  std::error_code error;
  const fs::path name = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : name.string();
}

}  // namespace

std::optional<FileId> FileIdOf(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 && ::stat(RealName(path).c_str(), &info) != 0) {
    return std::nullopt;
  }
  return FileId(info.st_dev, info.st_ino);
}

absl::Status CheckOutputs(const std::vector<std::string>& inputs, const Mapped& mapped,
                          const std::vector<std::string>& outputs) {
  std::set<FileId> taken;
  struct stat info;
  for (const std::string& input : inputs) {
    if (const auto id = FileIdOf(input)) taken.insert(*id);
  }
  for (const auto& file : mapped) {
    if (::fstat(file->fd(), &info) == 0) {
      taken.insert({info.st_dev, info.st_ino});
    } else if (const auto id = FileIdOf(file->path())) {
      taken.insert(*id);
    }
  }
  std::set<std::string> names;
  for (const std::string& output : outputs) {
    if (output.empty()) return Invalid("the name of an output file is empty");
    if (output == "-") {
      return Invalid(
          "'-' is not a file name here, and standard output can hold only one model; './-' ",
          "is a file of that name");
    }
    if (!names.insert(RealName(output)).second) {
      return Invalid("'", output, "' would be written twice");
    }
    if (::stat(output.c_str(), &info) != 0 && ::stat(RealName(output).c_str(), &info) != 0) {
      continue;
    }
    // The folder of a package, which the format's writer knows.
    const bool is_package = S_ISDIR(info.st_mode) && HoldsOneOf(output, outputs);
    if (!S_ISREG(info.st_mode) && !is_package) {
      return Invalid("'", output, "' is not a regular file");
    }
    if (taken.contains({info.st_dev, info.st_ino}) || WasRead(info.st_dev, info.st_ino)) {
      return Invalid("'", output,
                     "' is an input of this command and would be overwritten; "
                     "choose another output with -o");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<NewFolders> NewFolders::For(const std::string& path) {
  NewFolders folders;
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path at = fs::path(path).parent_path(); !at.empty() && !fs::exists(at, error);
       at = at.parent_path()) {
    missing.push_back(at);
    if (at == at.parent_path()) break;
  }
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    Temporary temporary(at->string(), Temporary::kFolder);
    const bool made = fs::create_directory(*at, error);
    // Another program may have made it meanwhile, and "a/.." is there once "a" is.
    if (!made && !fs::is_directory(*at)) {
      if (!error) error = std::make_error_code(std::errc::not_a_directory);
      return SystemError("cannot make the folder '", missing.front().string(),
                         "': ", error.message());
    }
    if (!made) continue;
    folders.made_.push_back(at->string());
    folders.temporaries_.push_back(std::move(temporary));
  }
  return folders;
}

NewFolders::~NewFolders() {
  std::error_code ignored;
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) {
    if (fs::is_empty(*folder, ignored)) fs::remove(*folder, ignored);
  }
}

absl::Status WriteTextFile(const std::string& path, std::string_view text) {
  X2IR_ASSIGN_OR_RETURN(const NewFolders folders, NewFolders::For(path));
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  X2IR_RETURN_IF_ERROR(file.Append(text));
  return file.Commit();
}

absl::StatusOr<ReportFile> ReportFile::Open(const std::string& path) {
  ReportFile report;
  if (path.empty()) return report;
  X2IR_ASSIGN_OR_RETURN(report.folders_, NewFolders::For(path));
  X2IR_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  report.file_ = std::move(file);
  return report;
}

absl::Status ReportFile::Write(const Report& report, const std::string& error, int exit_code) {
  if (!file_) return absl::OkStatus();
  std::string json = "{\n  \"exit_code\": ";
  StrAppend(&json, exit_code, ",\n  \"error\": ");
  AppendJsonString(&json, error);
  // The report's own members follow.
  const std::string rest = report.ToJson();
  StrAppend(&json, ",", std::string_view(rest).substr(1));
  json = WithFlags(json);
  X2IR_RETURN_IF_ERROR(file_->Append(json));
  return file_->Commit();
}

int FinishReport(Session& session, ReportFile& file, const Report& report, const std::string& error,
                 int exit_code) {
  const absl::Status written = file.Write(report, error, exit_code);
  if (written.ok()) return exit_code;
  const int code = session.Fail(written, Phase::kWriting);
  return exit_code == kDone ? code : exit_code;
}

}  // namespace x2ir::cli
