// The reader of HDF5 without the HDF5 library: files that the library wrote, with the lists that it
// gave of them (tests/data/hdf5, made by hdf5_libhdf5_test.cc); damaged files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/core/host_util.h"
#include "tests/core/temp_dir_util.h"
#include "tests/formats/hdf5_listing_util.h"
#include "x2ir/formats/hdf5/file_internal.h"
#include "x2ir/formats/hdf5/filters_internal.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> KeptFiles() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(StrCat(X2IR_SOURCE_DIR, "/tests/data/hdf5"))) {
    if (entry.path().extension() == ".h5") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}
std::string Kept(std::string_view name, std::string_view extension = ".h5") {
  return ReadFile(StrCat(X2IR_SOURCE_DIR, "/tests/data/hdf5/", name, extension));
}

absl::StatusOr<std::vector<std::string>> Listed(const std::string& bytes, bool verify = true) {
  const BlobPtr blob = Blob::InMemory(
      {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, nullptr, "f.h5");
  auto file = hdf5::File::Open(blob, 0, bytes.size(), {.verify = verify});
  if (!file.ok()) return file.status();
  return ListHdf5(**file, 100000);
}

TEST(Hdf5, FilesOfTheLibrary) {
  ASSERT_GE(KeptFiles().size(), 7u);
  for (const std::string& name : KeptFiles()) {
    SCOPED_TRACE(name);
    const auto listed = Listed(Kept(name));
    ASSERT_TRUE(listed.ok()) << listed.status();
    std::string list;
    for (const std::string& line : *listed) StrAppend(&list, line, "\n");
    EXPECT_EQ(list, Kept(name, ".txt"));
  }
}

// Layouts of version 3, rewritten as those of 1 and 2: contiguous ones of two axes, and chunks of
// one.
TEST(Hdf5, OldLayouts) {
  const std::string whole = Kept("earliest_keras");
  for (const char version : {'\1', '\2'}) {
    std::string changed = whole;
    size_t contiguous = 0, chunked = 0;
    const std::string head("\x08\0\x18\0", 4);  // a layout in 24 bytes
    for (size_t at = changed.find(head); at != changed.npos; at = changed.find(head, at + 1)) {
      const std::string old = changed.substr(at + 8, 24);
      std::string data{version};
      if (old.starts_with("\3\1")) {
        ++contiguous;
        data += std::string("\2\1\0\0\0\0\0", 7) + old.substr(2, 8) + std::string(8, '\4');
      } else if (old.starts_with("\3\2\2")) {
        ++chunked;
        data += std::string("\2\2\0\0\0\0\0", 7) + old.substr(3, 8) + old.substr(11, 8);
      } else {
        continue;
      }
      changed.replace(at + 8, 24, data);
    }
    EXPECT_EQ(contiguous, 1u);
    EXPECT_EQ(chunked, 1u);
    const auto before = Listed(whole), listed = Listed(changed);
    ASSERT_TRUE(before.ok() && listed.ok());
    EXPECT_EQ(*listed, *before);
  }
}

// The signature is at 0, 512, 1024, 2048 and so on.
TEST(Hdf5, WhereTheSignatureIs) {
  const std::string signature = "\x89HDF\r\n\x1a\n";
  const struct {
    size_t at;
    bool is_one;
  } rows[] = {{0, true}, {512, true}, {1024, true}, {4096, true}, {256, false}, {1536, false}};
  for (const auto& [at, is_one] : rows) {
    EXPECT_EQ(hdf5::LooksLikeHdf5(std::string(at, 'x') + signature), is_one) << at;
  }
  EXPECT_FALSE(hdf5::LooksLikeHdf5(""));
}

// By the examples in Bob Jenkins' lookup3.c, and by hand.
TEST(Hdf5, Checksums) {
  EXPECT_EQ(hdf5::Lookup3(""), 0xdeadbeefu);
  EXPECT_EQ(hdf5::Lookup3("Four score and seven years ago"), 0x17770551u);
  // Words 0x6162 and 0x6364; sums 0xc4c6 and 0x6162 + 0xc4c6 = 0x12628, folded 0x2629.
  EXPECT_EQ(hdf5::Fletcher32("abcd"), 0x2629c4c6u);
  EXPECT_EQ(hdf5::Fletcher32("abc"), 0x25c5c462u);  // 0x6162 and 0x6300
}

// Newer files have a checksum over each structure, and chunks where they were asked for: a changed
// byte is an error or in the elements of a dataset.
TEST(Hdf5, ChangedBytesAreFound) {
  const std::string whole = Kept("latest_keras");
  const auto before = Listed(whole);
  ASSERT_TRUE(before.ok()) << before.status();
  const auto is_error = [](const std::string& line) { return line.starts_with("error"); };
  size_t found = 0, tried = 0;
  for (size_t at = 0; at < whole.size(); at += 7, ++tried) {
    std::string changed = whole;
    changed[at] ^= 0x10;
    const auto listed = Listed(changed);
    found += !listed.ok() || std::any_of(listed->begin(), listed->end(), is_error);
    if (!listed.ok() || *listed == *before) continue;
    for (const std::string& line : *listed) {
      const bool is_same = std::find(before->begin(), before->end(), line) != before->end();
      EXPECT_TRUE(is_same || is_error(line) || line.starts_with("dataset") ||
                  line.starts_with("attribute"))
          << at << " " << line;
    }
  }
  EXPECT_GT(found, tried / 4);
}

// Whatever comes, it ends: with an error, or lines.
TEST(Hdf5, FilesThatAreCutOff) {
  for (const std::string& name : KeptFiles()) {
    SCOPED_TRACE(name);
    const std::string whole = Kept(name);
    const size_t begin = whole.find("\x89HDF");
    for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 300) {
      const auto listed = Listed(whole.substr(0, size));
      ASSERT_FALSE(listed.ok()) << size;
      EXPECT_THAT(std::string(listed.status().message()),
                  size < begin + 8 ? HasSubstr("not an HDF5 file") : HasSubstr("cut off"));
    }
  }
}

// Chunks that are stored longer than their shape, through each chain of filters.
TEST(Hdf5, ChunksOfAnotherSize) {
  constexpr uint64_t kShuffle = 2, kFletcher32 = 3;
  const auto filters = [](std::initializer_list<uint64_t> ids) {
    std::string message("\2\0", 2);
    message[1] = static_cast<char>(ids.size());
    for (const uint64_t id : ids) {
      message += std::string({static_cast<char>(id), 0, 0, 0, 1, 0, 4, 0, 0, 0});
    }
    return message;
  };
  const hdf5::Image image("", true);
  const std::string eight = "abcdefgh", shuffled = "aebfcgdh";
  const struct {
    std::string message, stored;
    uint64_t size;
    std::string result;
  } rows[] = {
      {filters({kShuffle}), shuffled, 8, eight},
      {filters({kShuffle}), shuffled, 4, "a chunk has 8 bytes; its shape has 4"},
      {filters({kShuffle}), std::string(5000, 'x'), 8, "a chunk has 5000 bytes"},
      {filters({kShuffle, kShuffle}), std::string(5000, 'x'), 8, "a chunk has 5000 bytes"},
      {filters({kShuffle}), "abc", 8, "a chunk has 3 bytes"},
      {filters({kFletcher32}), "abcd\xc6\xc4\x29\x26", 4, "abcd"},
      {filters({kFletcher32}), "abcd\xc4\xc6\x26\x29", 4, "abcd"},  // before release 1.6.3
      {filters({kFletcher32}), "abce\xc6\xc4\x29\x26", 4, "the checksum of a chunk is wrong"},
      {filters({kFletcher32}), "abc", 4, "shorter than its checksum"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.result);
    auto chain = hdf5::Filters::Of(image, row.message);
    ASSERT_TRUE(chain.ok()) << chain.status();
    const auto bytes = chain->Undo(row.stored, 0, row.size);
    EXPECT_THAT(bytes.ok() ? std::string(*bytes) : std::string(bytes.status().message()),
                HasSubstr(row.result));
  }
}

// Structures that contain each other. Each row changes one address of a file without checksums.
TEST(Hdf5, StructuresAroundThemselves) {
  const std::string whole = Kept("earliest_keras");
  ASSERT_FALSE(whole.empty());
  const auto replace = [&](std::string_view signature, size_t after, size_t target) {
    std::string changed = whole;
    const size_t at = changed.find(signature);
    EXPECT_NE(at, changed.npos);
    for (size_t i = 0; i < 8; ++i) {
      changed[at + after + i] = static_cast<char>(i < 4 ? target >> (8 * i) : 0);
    }
    return changed;
  };
  const size_t tree = whole.find("TREE"), heap = whole.find("HEAP");
  // A node of a tree as its own child: the level does not count down.
  std::string changed = replace("TREE", 24 + 8, tree);
  EXPECT_THAT(*Listed(changed), Contains(HasSubstr("error")));
  changed[tree + 5] = 1;
  EXPECT_THAT(*Listed(changed), Contains(HasSubstr("do not count down")));
  // The names of a group past the file.
  EXPECT_THAT(*Listed(replace("HEAP", 24, whole.size())),
              Contains(HasSubstr("a heap of names ends past the file")));
  EXPECT_THAT(*Listed(replace("HEAP", 8, size_t{1} << 31)),
              Contains(HasSubstr("a heap of names ends past the file")));
  // Entries of a group: the object's header is the heap.
  EXPECT_THAT(*Listed(replace("SNOD", 8 + 8, heap)),
              Contains(HasSubstr("there is no object header at")));
}

}  // namespace
}  // namespace x2ir
