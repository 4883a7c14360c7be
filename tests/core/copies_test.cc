// Several copies of the library in one process, each embedded in a shared library that is loaded
// late, beside the one of this program: each has registries of its own.
#include <dlfcn.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/sanitized.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/spec.h"
#include "x2ir/core/validate.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Expected(std::string_view copy) {
  return StrCat("graph(x: float32[2]) -> (Copied: float32[2]) {\n  Rectify_", copy,
                ": float32[2] = relu(x)\n  Copied: float32[2] = copied_op(Rectify_", copy, ") { ",
                copy, " = 1 }\n}\n", "graph(x: float32[2]) -> (Copied: float32[2]) {\n  Rectify_",
                copy, ": float32[2] = copied.Rectify_", copy,
                "(x)\n  Copied: float32[2] = copied.Copied(Rectify_", copy, ") { ", copy,
                " = 1 }\n}\n");
}

// A shared x2ir is one for all. Sanitizers want to be loaded first, and once.
#ifdef X2IR_SHARED
constexpr bool kOneCopy = true;
#else
constexpr bool kOneCopy = kSanitized;
#endif

TEST(Copies, ShareNothing) {
  if (kOneCopy) GTEST_SKIP();
  struct Copy {
    std::string name;
    void* library;
    const char* (*convert)();
  };
  std::vector<Copy> copies;
  for (const char* name : {"a", "b"}) {
    const std::string path = StrCat(X2IR_BUILD_DIR, "/tests/x2ir_copy_", name, ".so");
    // In one scope with the others: what one shows would be taken for another's.
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    ASSERT_NE(library, nullptr) << dlerror();
    void* convert = dlsym(library, "x2ir_copy_convert");
    ASSERT_NE(convert, nullptr);
    copies.push_back({name, library, reinterpret_cast<const char* (*)()>(convert)});
  }
  for (const Copy& copy : copies) EXPECT_EQ(copy.convert(), Expected(copy.name));
  // At the same time, in threads that were not there when the libraries were loaded.
  std::vector<std::thread> threads;
  std::vector<std::string> got(copies.size());
  for (size_t i = 0; i < copies.size(); ++i) {
    threads.emplace_back([&, i] { got[i] = copies[i].convert(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(got, ElementsAre(Expected("a"), Expected("b")));
  // Nor does this program see anything of theirs.
  EXPECT_EQ(FindOp("copied_op"), nullptr);
  EXPECT_FALSE(HasForms("copied"));
  EXPECT_EQ(FindDialect("copied"), nullptr);
}

TEST(Copies, ShowNoNames) {
  if (kOneCopy) GTEST_SKIP();
  for (const char* name : {"a", "b"}) {
    const std::string command =
        StrCat("nm -D --defined-only '", X2IR_BUILD_DIR, "/tests/x2ir_copy_", name, ".so'");
    std::FILE* nm = popen(command.c_str(), "r");
    ASSERT_NE(nm, nullptr);
    int lines = 0;
    char line[4096];
    while (std::fgets(line, sizeof(line), nm)) {
      ++lines;
      EXPECT_THAT(line, ::testing::Not(HasSubstr("4x2ir")));
    }
    EXPECT_EQ(pclose(nm), 0);
    EXPECT_GT(lines, 0);
  }
}

TEST(Copies, AnArchiveThatIsNotLinkedWholeSaysSo) {
  if (kOneCopy) GTEST_SKIP();
  const std::string command = StrCat("'", X2IR_BUILD_DIR, "/tests/x2ir_partly_linked'");
  std::FILE* program = popen(command.c_str(), "r");
  ASSERT_NE(program, nullptr);
  std::vector<std::string> said(1);  // of one conversion, then of another
  char line[4096];
  while (std::fgets(line, sizeof(line), program)) {
    if (std::string_view(line) == "--\n") {
      said.emplace_back();
    } else {
      said.back() += line;
    }
  }
  EXPECT_EQ(pclose(program), 0);
  const auto says_so = AllOf(HasSubstr("no handlers"), HasSubstr("archive must be linked whole"));
  EXPECT_THAT(said, ElementsAre(says_so, says_so));
}

}  // namespace
}  // namespace x2ir
