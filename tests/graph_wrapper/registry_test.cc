// Registries: entries from any thread, readers at the same time, and what is wrong with entries.
#include "x2ir/graph_wrapper/registry.h"

#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

struct Numbers {
  using Entry = std::pair<std::string, int>;
  std::map<std::string, int> by_name;
  void Add(const Entry& entry) {
    if (!by_name.insert(entry).second) AddRegistrationProblem(StrCat(entry.first, " again"));
  }
};

TEST(Registry, WhatWasFoundStays) {
  auto& registry = *new Registry<Numbers>;
  EXPECT_TRUE(registry.Get().by_name.empty());
  registry.Add({"a", 1});
  const Numbers& before = registry.Get();
  EXPECT_EQ(&registry.Get(), &before);
  registry.Add({"b", 2});
  EXPECT_EQ(before.by_name.size(), 1u);
  EXPECT_EQ(registry.Get().by_name.size(), 2u);
  EXPECT_EQ(registry.Get().by_name.at("a"), 1);
}

TEST(Registry, IsReadWhileItGrows) {
  constexpr int kEntries = 200, kReaders = 4;
  auto& registry = *new Registry<Numbers>;
  std::atomic<bool> whole{true};
  std::vector<std::thread> threads;
  for (int t = 0; t < kReaders; ++t) {
    threads.emplace_back([&] {
      for (size_t seen = 0; seen < 2 * kEntries;) {
        const std::map<std::string, int>& numbers = registry.Get().by_name;
        if (numbers.size() < seen) whole = false;  // an entry is gone
        seen = numbers.size();
        for (const auto& [name, number] : numbers) whole = whole && name.ends_with(StrCat(number));
      }
    });
  }
  for (const char* prefix : {"a", "b"}) {
    threads.emplace_back([&registry, prefix] {
      for (int i = 0; i < kEntries; ++i) registry.Add({StrCat(prefix, i), i});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(whole);
}

struct Row {
  explicit Row(std::string_view, SourcePlace place = SourcePlace::Here()) : place(place) {}
  SourcePlace place;
};

// Last, since problems stay.
TEST(RegistryProblems, AreToldByTheirPlaces) {
  EXPECT_THAT(RegistrationProblems(), ElementsAre());
  EXPECT_TRUE(CheckRegistrations().ok());

  const Row first("x"), second("x");
  EXPECT_THAT(first.place.ToString(), MatchesRegex("tests/graph_wrapper/registry_test.cc:[0-9]+"));
  EXPECT_EQ(first.place.line, second.place.line);
  AddDuplicate("row 'x'", {"a.cc", 1}, {"b.cc", 2});
  AddDuplicate("row 'x'", {"a.cc", 1}, {"b.cc", 2});
  // What a registry finds when its entries are looked at, nobody having looked before.
  auto& registry = *new Registry<Numbers>;
  registry.Add({"a", 1});
  registry.Add({"a", 2});
  EXPECT_THAT(RegistrationProblems(),
              ElementsAre("row 'x' is registered twice: at a.cc:1 and at b.cc:2", "a again"));
  const absl::Status status = CheckRegistrations();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a.cc:1"));
  EXPECT_EQ(registry.Get().by_name.at("a"), 1);  // the first one counts
}

}  // namespace
}  // namespace x2ir
