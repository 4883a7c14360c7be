// Mapped files that change: found by comparing, and survived where a program wants it.
#include "x2ir/graph_wrapper/mappings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

class Mappings : public TempDirTest {
 protected:
  // A handler belongs to a process: `check` gives what is wrong in one of its own. Minus the signal
  // that ended it, else 0 where nothing was wrong.
  static int InAnotherProcess(const std::function<std::string()>& check) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const std::string wrong = check();
      if (!wrong.empty()) ::fprintf(stderr, "%s\n", wrong.c_str());
      ::_exit(wrong.empty() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  const std::string path_ = Put("file", std::string(size_t{100} << 10, 'a'));
};

TEST_F(Mappings, ChangesAreFound) {
  auto file = MappedFile::Open(path_);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(CheckUnchanged(**file).ok());
  std::filesystem::resize_file(path_, 1000);
  const absl::Status status = CheckUnchanged(**file);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_NE(std::string(status.message()).find(path_), std::string::npos) << status;
  // One of another name is another file.
  auto again = MappedFile::Open(path_);
  ASSERT_TRUE(again.ok());
  std::filesystem::remove(path_);
  WriteFile(path_, "other");
  EXPECT_TRUE(CheckUnchanged(**again).ok());
}

// Wherever a tensor can be.
TEST_F(Mappings, FilesOfAModel) {
  std::vector<std::shared_ptr<const MappedFile>> opened;
  const auto tensor = [&] {
    auto file = MappedFile::Open(path_);
    opened.push_back(*file);
    return *Tensor::FromFile(DType::kInt64, {2}, *std::move(file), 8, 16);
  };
  Model model;
  Graph& graph = *model.graph;
  Value* input = graph.AddInput("input", Type::Tensor(DType::kInt64, Shape{2}));
  graph.SetDefault(input, tensor());
  graph.AddConstant("constant", tensor());
  graph.AddConstant("again", *graph.Find("constant")->constant());
  graph.AddConstant("sparse", Tensor::Sparse({4}, tensor(), tensor()));
  graph.AddConstant("own", Tensor::Vector({1, 2}));
  Node* node = graph.AppendNode("", "op", {});
  node->SetAttr("one", tensor());
  node->SetAttr("several", std::vector<Tensor>{tensor(), Tensor::Vector({1}), tensor()});
  auto inner = std::make_shared<Graph>();
  inner->AddConstant("nested", tensor());
  node->SetAttr("graph", Attribute::GraphPtr(inner));
  model.functions.push_back(std::make_shared<Function>());
  model.functions[0]->attribute_defaults.emplace_back("default", tensor());
  model.functions[0]->body = std::make_shared<Graph>();
  model.functions[0]->body->AddConstant("of_function", tensor());
  model.functions.push_back(std::make_shared<Function>());
  EXPECT_THAT(MappedFiles(model), testing::UnorderedElementsAreArray(opened));
  EXPECT_EQ(opened.size(), 10);
}

TEST_F(Mappings, EmptyFilesChangeToo) {
  WriteFile(path_, "");
  auto file = MappedFile::Open(path_);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(CheckUnchanged(**file).ok());
  WriteFile(path_, "text");
  EXPECT_FALSE(CheckUnchanged(**file).ok());
}

TEST_F(Mappings, LostPagesAreZerosAndAFault) {
  const int code = InAnotherProcess([this]() -> std::string {
    HandleMappingFaults();
    // Some come and go, so that records are used again.
    for (int i = 0; i < 10; ++i) {
      auto one = MappedFile::Open(path_), two = MappedFile::Open(path_);
      if (!one.ok() || !two.ok()) return "not mapped";
    }
    auto file = MappedFile::Open(path_), other = MappedFile::Open(path_);
    if (!file.ok() || !other.ok()) return "not mapped";
    if (!MappingFault().ok()) return "a fault before there was one";
    std::filesystem::resize_file(path_, 100);
    const std::string_view text = (*file)->view();
    for (const size_t at : {text.size() - 1, size_t{50000}, size_t{50001}}) {
      if (text[at] != '\0') return StrCat("not zero at ", at);
    }
    if (text[99] != 'a') return "what is still there is lost";
    if (MappingFault().code() != absl::StatusCode::kDataLoss) return "no fault";
    if (TakeMappingFault().message().find(path_) == absl::string_view::npos) return "no path";
    if (!TakeMappingFault().ok()) return "taken twice";
    if ((*other)->view()[60000] != '\0' || TakeMappingFault().ok()) return "the second file";
    return "";
  });
  EXPECT_EQ(code, 0);
}

TEST_F(Mappings, OtherSignalsEndTheProgram) {
  const int code = InAnotherProcess([]() -> std::string {
    HandleMappingFaults();
    ::raise(SIGBUS);
    return "it lives";
  });
  EXPECT_EQ(code, -SIGBUS);
}

}  // namespace
}  // namespace x2ir
