// Tests of AtomicFile: all or nothing, ranges of files, leftovers of dead writers.
#include "x2ir/formats/io/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/formats/io/atomic_folder.h"
#include "x2ir/formats/io/temporaries.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public TempDirTest {
 protected:
  size_t NumFiles() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
};

TEST_F(AtomicFileTest, AppearsOnCommit) {
  WriteFile(Path("f"), "old");
  {
    auto file = AtomicFile::Create(Path("f"));
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE(file->Append("new ").ok());
    ASSERT_TRUE(file->AlignTo(8).ok());
    ASSERT_TRUE(file->Append("text").ok());
    EXPECT_EQ(file->size(), 12);
    EXPECT_EQ(ReadFile(Path("f")), "old");
    EXPECT_EQ(NumFiles(), 2);
    ASSERT_TRUE(file->Commit().ok());
    EXPECT_FALSE(file->Append("x").ok());
    EXPECT_FALSE(file->Commit().ok());
  }
  EXPECT_EQ(ReadFile(Path("f")), std::string("new \0\0\0\0text", 12));
  EXPECT_EQ(NumFiles(), 1);
}

TEST_F(AtomicFileTest, VanishesWithoutCommit) {
  WriteFile(Path("f"), "old");
  {
    auto file = AtomicFile::Create(Path("f"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append(std::string(5 << 20, 'x')).ok());
    AtomicFile moved = *std::move(file);
    ASSERT_TRUE(moved.Append("y").ok());
  }
  EXPECT_EQ(ReadFile(Path("f")), "old");
  EXPECT_EQ(NumFiles(), 1);
}

TEST_F(AtomicFileTest, ModeHonoursUmask) {
  const mode_t old = ::umask(027);
  auto file = AtomicFile::Create(Path("f"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Commit().ok());
  ::umask(old);
  struct stat info;
  ASSERT_EQ(::stat(Path("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640);
}

TEST_F(AtomicFileTest, TensorsOfEverySize) {
  // A file of pseudo-random bytes, and ranges of it around the sizes where the way changes.
  std::string source(3 << 20, 0);
  uint32_t state = 1;
  for (char& c : source) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  WriteFile(Path("source"), source);
  auto mapped = MappedFile::Open(Path("source"));
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  auto file = AtomicFile::Create(Path("f"));
  ASSERT_TRUE(file.ok());
  std::string expected;
  for (size_t size : {0, 1, 100, 65535, 65536, 65537, 1 << 20, (1 << 20) + 1, 2500000}) {
    for (const char* way : {"moved in its page", "at its place in a page", "in memory"}) {
      const bool in_file = way != std::string_view("in memory");
      const size_t from = *way == 'm' ? 77 : (file->size() + 1) % 4096;
      const std::string part = source.substr(from, size);
      const absl::Span<const std::byte> bytes(reinterpret_cast<const std::byte*>(part.data()),
                                              size);
      auto tensor =
          in_file
              ? Tensor::FromFile(DType::kUInt8, {static_cast<int64_t>(size)}, *mapped, from, size)
              : Tensor::View(DType::kUInt8, {static_cast<int64_t>(size)}, bytes, nullptr);
      ASSERT_TRUE(tensor.ok()) << tensor.status();
      ASSERT_TRUE(file->Append("<").ok());
      ASSERT_TRUE(file->Append(*tensor).ok());
      std::string seen;
      ASSERT_TRUE(file->Append(*tensor, [&](std::string_view piece) { seen += piece; }).ok());
      EXPECT_TRUE(seen == part);
      expected += "<" + part + part;
    }
  }
  EXPECT_EQ(file->size(), expected.size());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_TRUE(ReadFile(Path("f")) == expected);
}

TEST_F(AtomicFileTest, TensorsThatAreMadeMeanwhile) {
  WriteFile(Path("source"), "abc");
  auto source = MappedFile::Open(Path("source"));
  ASSERT_TRUE(source.ok()) << source.status();
  const auto write = [&] {
    auto file = AtomicFile::Create(Path("f"));
    EXPECT_TRUE(file.ok());
    std::string expected;
    for (const auto& [count, size] :
         {std::pair(1, 10), std::pair(0, 10), std::pair(3, 2 << 20), std::pair(5000, 1000)}) {
      const auto make = [size = size](int64_t begin, int64_t end, std::byte* to) {
        for (int64_t i = begin * size; i < end * size; ++i) *to++ = static_cast<std::byte>(i % 251);
      };
      const Tensor tensor = Tensor::Made(DType::kUInt8, {count, size},
                                         {count, static_cast<size_t>(size), make, *source});
      std::string seen;
      EXPECT_TRUE(file->Append(tensor, [&](std::string_view piece) { seen += piece; }).ok());
      EXPECT_EQ(tensor.maker() != nullptr, count > 0);  // nothing is kept
      for (int64_t i = 0; i < int64_t{count} * size; ++i) expected += static_cast<char>(i % 251);
      EXPECT_TRUE(expected.ends_with(seen) && seen.size() == tensor.nbytes());
    }
    const absl::Status status = file->Commit();
    if (status.ok()) {
      EXPECT_TRUE(ReadFile(Path("f")) == expected);
    }
    return status;
  };
  EXPECT_TRUE(write().ok());
  // What they are made of has changed since it was mapped.
  WriteFile(Path("source"), "abcd");
  EXPECT_EQ(write().code(), absl::StatusCode::kDataLoss);
}

TEST_F(AtomicFileTest, BytesAreReplaced) {
  auto file = AtomicFile::Create(Path("f"));
  ASSERT_TRUE(file.ok());
  std::string expected(3 << 20, 'a');
  ASSERT_TRUE(file->Append(expected).ok());
  ASSERT_TRUE(file->Append("bcd").ok());
  ASSERT_TRUE(file->Replace(7, "xyz").ok());  // written, and not yet
  ASSERT_TRUE(file->Replace((3 << 20) + 1, "CD").ok());
  ASSERT_TRUE(file->Append("e").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_TRUE(ReadFile(Path("f")) == expected.replace(7, 3, "xyz") + "bCDe");

  auto other = AtomicFile::Create(Path("g"));
  ASSERT_TRUE(other.ok() && other->Append("abc").ok());
  EXPECT_EQ(other->Replace(2, "xy").code(), absl::StatusCode::kInternal);
  auto function = AtomicFile::ToFunction("h", [](std::string_view) { return absl::OkStatus(); });
  ASSERT_TRUE(function.Append("abc").ok());
  EXPECT_FALSE(function.can_replace());
  EXPECT_EQ(function.Replace(0, "x").code(), absl::StatusCode::kInternal);
}

TEST_F(AtomicFileTest, OverwritesTheFileItReads) {
  WriteFile(Path("f"), std::string(200000, 'a') + std::string(200000, 'b'));
  auto mapped = MappedFile::Open(Path("f"));
  ASSERT_TRUE(mapped.ok());
  auto tensor = Tensor::FromFile(DType::kUInt8, {200000}, *mapped, 200000, 200000);
  ASSERT_TRUE(tensor.ok());
  auto file = AtomicFile::Create(Path("f"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Append(*tensor).ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ReadFile(Path("f")), std::string(200000, 'b'));
}

TEST_F(AtomicFileTest, SourceThatShrankIsAnError) {
  WriteFile(Path("source"), std::string(200000, 'a'));
  auto mapped = MappedFile::Open(Path("source"));
  ASSERT_TRUE(mapped.ok());
  auto tensor = Tensor::FromFile(DType::kUInt8, {200000}, *mapped, 0, 200000);
  ASSERT_TRUE(tensor.ok());
  fs::resize_file(Path("source"), 100);
  auto file = AtomicFile::Create(Path("f"));
  ASSERT_TRUE(file.ok());
  const absl::Status status = file->Append(*tensor);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_EQ(file->Commit(), status);
}

// Written in place, with other bytes of the same size: what was copied may be a mixture.
TEST_F(AtomicFileTest, SourceThatChangedIsAnError) {
  for (const size_t size : {size_t{16}, size_t{200000}}) {  // read by us, and by the kernel
    WriteFile(Path("f"), "old");
    WriteFile(Path("source"), std::string(size, 'a'));
    fs::last_write_time(Path("source"), fs::file_time_type::clock::now() - std::chrono::hours(1));
    auto mapped = MappedFile::Open(Path("source"));
    ASSERT_TRUE(mapped.ok());
    auto tensor = Tensor::FromFile(DType::kUInt8, {static_cast<int64_t>(size)}, *mapped, 0, size);
    ASSERT_TRUE(tensor.ok());
    auto file = AtomicFile::Create(Path("f"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append(*tensor).ok());
    WriteFile(Path("source"), std::string(size, 'b'));
    const absl::Status status = file->Commit();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_NE(std::string(status.message()).find("source' changed"), std::string::npos) << status;
    EXPECT_EQ(ReadFile(Path("f")), "old");
  }
}

TEST_F(AtomicFileTest, TensorsWithoutBytes) {
  auto file = AtomicFile::Create(Path("f"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->Append(Tensor::Strings({1}, {"x"})).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(AtomicFileTest, WhatCannotBeWritten) {
  const struct {
    std::string path;
    absl::StatusCode code;
    std::string message;
  } kCases[] = {
      {Path("none/f"), absl::StatusCode::kUnavailable, "No such file or directory"},
      {folder_.string(), absl::StatusCode::kInvalidArgument, "not a regular file"},
      {folder_.string() + "/", absl::StatusCode::kInvalidArgument, "not a regular file"},
      {"/dev/null", absl::StatusCode::kInvalidArgument, "not a regular file"},
      {"", absl::StatusCode::kInvalidArgument, "names no file"},
  };
  for (const auto& test : kCases) {
    const absl::Status status = AtomicFile::Create(test.path).status();
    EXPECT_EQ(status.code(), test.code) << test.path << ": " << status;
    EXPECT_NE(std::string(status.message()).find(test.message), std::string::npos) << status;
    EXPECT_NE(std::string(status.message()).find(test.path), std::string::npos) << status;
  }
}

TEST_F(AtomicFileTest, DiskFull) {
  // A file size limit is as good as a full disk.
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto file = AtomicFile::Create(Path("f"));
    absl::Status status = file.status();
    if (status.ok()) status = file->Append(std::string(4 << 20, 'x'));
    ::_exit(status.code() == absl::StatusCode::kUnavailable && !file->Commit().ok() ? 0 : 1);
  }
  int result;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
}

TEST_F(AtomicFileTest, LinkStays) {
  WriteFile(Path("real"), "old");
  fs::create_symlink("real", Path("link"));
  auto file = AtomicFile::Create(Path("link"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Append("new").ok());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(ReadFile(Path("real")), "new");
}

TEST_F(AtomicFileTest, LeftoversOfTheDeadAreRemoved) {
  // The child dies while it writes.
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = AtomicFile::Create(Path("f"));
    ::_exit(file.ok() && file->Append("half").ok() ? 0 : 1);
  }
  int result;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  ASSERT_EQ(result, 0);
  WriteFile(Path(".f.x2ir-notes"), "not ours");
  ASSERT_EQ(NumFiles(), 2);
  auto living = AtomicFile::Create(Path("f"));
  ASSERT_TRUE(living.ok());
  ASSERT_TRUE(living->Append("first").ok());
  EXPECT_EQ(NumFiles(), 2);  // the child's is gone
  auto second = AtomicFile::Create(Path("f"));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(NumFiles(), 3);  // ours, alive, is not
  ASSERT_TRUE(second->Append("second").ok());
  ASSERT_TRUE(second->Commit().ok());
  ASSERT_TRUE(living->Commit().ok());
  EXPECT_EQ(ReadFile(Path("f")), "first");
  EXPECT_EQ(NumFiles(), 2);
}

// What a signal takes with it.
TEST_F(AtomicFileTest, InterruptedProgramsLeaveNothing) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::signal(signal, SIG_DFL);
      RemoveTemporariesOnSignals();
      auto file = AtomicFile::Create(Path("f"));
      auto folder = AtomicFolder::Create(Path("p"));
      if (!file.ok() || !folder.ok() || !folder->MakeFolder(folder->path() + "/d").ok()) ::_exit(1);
      folder->AddFile(folder->path() + "/d/whole");
      WriteFile(folder->path() + "/d/whole", "whole");
      auto inside = AtomicFile::Create(folder->path() + "/d/half");
      ::raise(signal);
      ::_exit(2);
    }
    int result;
    ASSERT_EQ(::waitpid(child, &result, 0), child);
    EXPECT_TRUE(WIFSIGNALED(result) && WTERMSIG(result) == signal) << result;
    EXPECT_EQ(NumFiles(), 0);
  }
}

TEST_F(AtomicFileTest, FoldersAppearWhole) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto folder = AtomicFolder::Create(Path("p"));
    if (folder.ok()) WriteFile(folder->path() + "/half", "half");
    ::_exit(folder.ok() ? 0 : 1);  // as if it was killed
  }
  int result;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  ASSERT_EQ(result, 0);
  EXPECT_FALSE(fs::exists(Path("p")));
  {
    auto dropped = AtomicFolder::Create(Path("p") + "/");
    ASSERT_TRUE(dropped.ok());
    EXPECT_EQ(std::distance(fs::directory_iterator(Path("")), fs::directory_iterator()), 1);
  }
  EXPECT_TRUE(fs::is_empty(Path("")));
  auto folder = AtomicFolder::Create(Path("p"));
  ASSERT_TRUE(folder.ok());
  WriteFile(folder->path() + "/whole", "whole");
  ASSERT_TRUE(folder->Commit().ok());
  EXPECT_EQ(ReadFile(Path("p/whole")), "whole");
  EXPECT_EQ(std::distance(fs::directory_iterator(Path("")), fs::directory_iterator()), 1);
}

TEST_F(AtomicFileTest, LongNames) {
  const std::string name(255, 'n');
  auto file = AtomicFile::Create(Path(name));
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_TRUE(fs::exists(Path(name)));
}

TEST_F(AtomicFileTest, GroupCommitsAllOrNothing) {
  WriteFile(Path("old"), "old");
  auto make = [&](const std::string& name) {
    auto file = AtomicFile::Create(Path(name));
    EXPECT_TRUE(file.ok() && file->Append("new").ok());
    return file;
  };
  {
    auto a = make("old"), b = make("fresh"), c = make("blocked");
    fs::create_directory(Path("blocked"));  // so that the last rename fails
    AtomicFile* const files[] = {&*a, &*b, &*c};
    const absl::Status status = AtomicFile::CommitAll(files);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_NE(std::string(status.message()).find("blocked"), std::string::npos) << status;
  }
  EXPECT_EQ(ReadFile(Path("old")), "old");
  EXPECT_FALSE(fs::exists(Path("fresh")));
  EXPECT_EQ(NumFiles(), 2);
  {
    // The same when it is the first: all that there was comes back.
    WriteFile(Path("last"), "last");
    auto a = make("old"), b = make("blocked2"), c = make("last");
    fs::create_directory(Path("blocked2"));
    AtomicFile* const files[] = {&*a, &*b, &*c};
    EXPECT_EQ(AtomicFile::CommitAll(files).code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(ReadFile(Path("old")), "old");
    EXPECT_EQ(ReadFile(Path("last")), "last");
    fs::remove(Path("blocked2"));
    fs::remove(Path("last"));
  }
  EXPECT_EQ(NumFiles(), 2);
  {
    auto a = make("old"), b = make("fresh");
    AtomicFile* const files[] = {&*a, &*b};
    const absl::Status status = AtomicFile::CommitAll(files);
    EXPECT_TRUE(status.ok()) << status;
  }
  EXPECT_EQ(ReadFile(Path("old")), "new");
  EXPECT_EQ(ReadFile(Path("fresh")), "new");
  EXPECT_EQ(NumFiles(), 3);
}

}  // namespace
}  // namespace x2ir
