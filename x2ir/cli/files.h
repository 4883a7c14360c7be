// Output files: their default names, and the rule that an input is never overwritten.
#ifndef X2IR_CLI_FILES_H_
#define X2IR_CLI_FILES_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/cli/session.h"
#include "x2ir/core/report.h"
#include "x2ir/formats/io/atomic_file.h"
#include "x2ir/formats/io/temporaries.h"
#include "x2ir/graph_wrapper/model.h"

namespace x2ir::cli {

using Mapped = std::vector<std::shared_ptr<const MappedFile>>;  // what MappedFiles gives

// "a/b/net.onnx" and ".json" give "net.json": in the current folder.
std::string DefaultOutput(const std::string& input, std::string_view extension);
// "a/b/net.onnx" and ".json" give "a/b/net.json".
std::string WithExtension(const std::string& path, std::string_view extension);
bool HasExtension(const std::string& path, std::string_view extension);

// InvalidArgument if an output is one of the inputs (under any name), or a file that a model is
// mapped from, or a device, or occurs twice; or a folder that contains none of the other outputs.
absl::Status CheckOutputs(const std::vector<std::string>& inputs, const Mapped& mapped,
                          const std::vector<std::string>& outputs);

// Creates the folder of an output file if it does not exist. Created folders that are empty when
// the last of these objects is destroyed are removed, also when the program is interrupted.
class NewFolders {
 public:
  static absl::StatusOr<NewFolders> For(const std::string& path);
  NewFolders(NewFolders&& other) noexcept = default;
  NewFolders& operator=(NewFolders&& other) noexcept = default;
  ~NewFolders();

 private:
  NewFolders() = default;
  std::vector<std::string> made_;  // the outer ones first
  std::vector<Temporary> temporaries_;
};

// The file of a path, or of a future file after its folders were created: nullopt if there is none.
// Two paths of one file give the same result.
using FileId = std::pair<dev_t, ino_t>;
std::optional<FileId> FileIdOf(const std::string& path);

absl::Status WriteTextFile(const std::string& path, std::string_view text);

// --report: opened before other files are written, so that an invalid path is found early; written
// at the end, also on failure.
class ReportFile {
 public:
  // An empty path: no report.
  static absl::StatusOr<ReportFile> Open(const std::string& path);
  absl::Status Write(const Report& report, const std::string& error, int exit_code);

 private:
  std::optional<NewFolders> folders_;
  std::optional<AtomicFile> file_;
};

// The exit code of a command that wrote its report, or could not.
int FinishReport(Session& session, ReportFile& file, const Report& report, const std::string& error,
                 int exit_code);

}  // namespace x2ir::cli

#endif  // X2IR_CLI_FILES_H_
