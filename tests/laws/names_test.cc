// The law of names: a type that a header defines is the only one of its name in its namespace. Two
// of them in two headers compile and link, and then one is taken for the other.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// Types at the outermost level of namespaces, as "x2ir::onnx::Name". Sources are formatted, so that
// these begin a line.
std::vector<std::string> TypesOf(std::istream& header) {
  static const std::regex* const opens = new std::regex(R"(^namespace (?:X2IR_API )?([\w:]+) \{$)");
  static const std::regex* const defines =
      new std::regex(R"(^(?:class|struct|union|enum class|enum) (?:X2IR_API )?(\w+)\b(?![<;]).*)");
  std::vector<std::string> names, within;
  std::string line;
  while (std::getline(header, line)) {
    std::smatch found;
    if (std::regex_match(line, found, *opens)) {
      within.push_back(found[1]);
    } else if (line.rfind("}  // namespace", 0) == 0 && !within.empty()) {
      within.pop_back();
    } else if (!line.empty() && line.back() != ';' && std::regex_match(line, found, *defines)) {
      std::string name;
      for (const std::string& space : within) StrAppend(&name, space, "::");
      names.push_back(name + found[1].str());
    }
  }
  return names;
}

TEST(Names, ATypeHasOneDefinition) {
  std::map<std::string, std::string> defined;
  const fs::path root = fs::path(X2IR_SOURCE_DIR) / "x2ir";
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".h") continue;
    const std::string file = fs::relative(entry.path(), root).string();
    std::ifstream in(entry.path());
    for (const std::string& name : TypesOf(in)) {
      const auto [at, fresh] = defined.emplace(name, file);
      EXPECT_TRUE(fresh || at->second == file)
          << name << " is defined in x2ir/" << at->second << " and in x2ir/" << file;
    }
  }
  EXPECT_GT(defined.size(), 300u);
}

TEST(Names, SeesTypes) {
  std::istringstream header(
      "namespace X2IR_API x2ir {\nclass Forward;\nstruct A {\n};\nnamespace inner {\n"
      "enum class B : uint8_t {\n};\nclass C final : public A {\n};\n}  // namespace inner\n"
      "template <>\nstruct Hash<A> {\n};\nclass D {\n};\n}  // namespace x2ir\n");
  const std::vector<std::string> names = {"x2ir::A", "x2ir::inner::B", "x2ir::inner::C", "x2ir::D"};
  EXPECT_EQ(TypesOf(header), names);
}

}  // namespace
}  // namespace x2ir
