#include "tests/cli/shell_util.h"

#include <sys/wait.h>

#include <cstdlib>
#include <regex>
#include <utility>

#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace fs = std::filesystem;

void ShellTest::PutOnnx(const std::string& name, const std::string& graph, int opset) const {
  const auto model = ModelFromText(graph, "onnx", opset, {{"com.acme", 1}});
  ASSERT_TRUE(model.ok()) << name << ": " << model.status();
  const absl::Status status = WriteOnnx(*model, Path(name));
  ASSERT_TRUE(status.ok()) << name << ": " << status;
}

ShellTest::Result ShellTest::Run(const std::string& command) const {
  // Beside the folder, which is the command's own.
  const std::string files = folder_.string() + ".run";
  fs::create_directories(files);
  WriteFile(files + "/line", command + "\n");
  const std::string line =
      StrCat("cd '", folder_.string(), "' && PATH='", X2IR_BIN_DIR, "':\"$PATH\" timeout 60 bash '",
             files, "/line' >'", files, "/out' 2>'", files, "/err' </dev/null");
  const int status = std::system(line.c_str());
  Result result{WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
                ReadFile(files + "/out"), ReadFile(files + "/err")};
  fs::remove_all(files);
  return result;
}

void ShellTest::Check(const std::vector<Row>& rows) const {
  // Enough to see what is meant; std::regex takes a stack as long as its text.
  constexpr size_t kShown = 2000;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.command.substr(0, kShown));
    const Result got = Run(row.command);
    EXPECT_EQ(got.code, row.code) << got.out.substr(0, kShown) << got.err.substr(0, kShown);
    for (const auto& [text, expected] : {std::pair{got.out, row.out}, {got.err, row.err}}) {
      const bool fits = expected.empty()
                            ? text.empty()
                            : std::regex_search(text.substr(0, kShown), std::regex(expected));
      EXPECT_TRUE(fits) << text.substr(0, kShown) << "expected: " << expected;
    }
  }
}

}  // namespace x2ir
