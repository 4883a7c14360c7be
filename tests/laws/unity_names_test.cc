// The law of functions that only one file has. Several files of a folder are compiled as one
// (X2IR_UNITY), so that those of the first are seen by the others: where a header of theirs has a
// function of the same name, they may call the wrong one, without a word of the compiler.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/host_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

// A function at the outermost level of namespaces.
struct Function {
  std::string name;
  std::string first;           // type of the first parameter, without const and reference; "": none
  size_t least = 0, most = 0;  // arguments, of which the last ones have defaults
  bool own = false;            // in a namespace without a name, at any level, or static
};

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Without comments, lines of the preprocessor and what stands in literals.
std::string CodeOf(std::string_view text) {
  std::string code;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const bool begins_line = code.empty() || code.back() == '\n';
    if (rest.starts_with("//") || (rest[0] == '#' && begins_line)) {
      while (i < text.size() && (text[i] != '\n' || text[i - 1] == '\\')) ++i;
      code += '\n';
    } else if (rest.starts_with("/*")) {
      i = std::min(text.find("*/", i), text.size()) + 1;
    } else if (rest.starts_with("R\"") && (i == 0 || !IsWord(text[i - 1]))) {
      const size_t open = text.find('(', i);
      const std::string close = StrCat(")", text.substr(i + 2, open - i - 2), "\"");
      i = std::min(text.find(close, open), text.size()) + close.size() - 1;
      code += "\"\"";
    } else if (rest[0] == '"' || (rest[0] == '\'' && (i == 0 || !IsWord(text[i - 1])))) {
      for (++i; i < text.size() && text[i] != rest[0]; ++i) i += text[i] == '\\';
      code += "\"\"";
    } else {
      code += text[i];
    }
  }
  return code;
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \n"), end = text.find_last_not_of(" \n");
  return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

// Parts between separators that are in no brackets, those of templates among them.
std::vector<std::string_view> Parts(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::string_view("([{<").find(text[i]) != std::string_view::npos) ++depth;
    if (std::string_view(")]}>").find(text[i]) != std::string_view::npos) --depth;
    if (text[i] != separator || depth != 0) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

// "const std::string& name" gives "std::string".
std::string TypeOf(std::string_view parameter) {
  std::string_view type = Trimmed(parameter);
  size_t word = type.size();
  while (word > 0 && IsWord(type[word - 1])) --word;
  const std::string_view before = Trimmed(type.substr(0, word));
  // The last word is a name, unless it is all of the type.
  if (!before.empty() && before != "const" && before.back() != ':') type = before;
  std::string plain;
  for (size_t i = 0; i < type.size();) {
    if (type.substr(i).starts_with("const ")) {
      i += 6;
    } else if (type[i] == ' ' || type[i] == '\n' || type[i] == '&') {
      ++i;
    } else {
      plain += type[i++];
    }
  }
  return plain;
}

// What a statement declares or defines, as far as it is a function: "Type Name(parameters)...".
bool IsFunction(std::string_view statement, Function* function) {
  statement = Trimmed(statement);
  while (statement.starts_with("template <") || statement.starts_with("[[")) {
    const char close = statement[0] == '[' ? ']' : '>';
    size_t at = statement.find(close == ']' ? '[' : '<');
    int depth = 0;
    do {
      if (std::string_view("[<").find(statement[at]) != std::string_view::npos) ++depth;
      if (std::string_view("]>").find(statement[at]) != std::string_view::npos) --depth;
      ++at;
    } while (depth > 0 && at < statement.size());
    statement = Trimmed(statement.substr(at));
  }
  function->own = statement.starts_with("static ");
  int angles = 0;
  size_t open = 0;
  for (; open < statement.size(); ++open) {
    const char c = statement[open];
    if (c == '=') return false;
    angles += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (c == '(' && angles == 0) break;
  }
  if (open == statement.size()) return false;
  const std::string_view head = Trimmed(statement.substr(0, open));
  size_t word = head.size();
  while (word > 0 && IsWord(head[word - 1])) --word;
  const std::string_view type = Trimmed(head.substr(0, word));
  // A macro has no type before it; methods are those of a class; operators have no names.
  if (word == head.size() || type.empty() || type.ends_with(':') || type.ends_with("operator")) {
    return false;
  }
  function->name = head.substr(word);
  int depth = 0;
  size_t close = open;
  for (; close < statement.size(); ++close) {
    depth += statement[close] == '(' ? 1 : statement[close] == ')' ? -1 : 0;
    if (depth == 0) break;
  }
  const std::string_view list = Trimmed(statement.substr(open + 1, close - open - 1));
  if (list.empty()) return true;
  for (const std::string_view parameter : Parts(list, ',')) {
    const std::vector<std::string_view> halves = Parts(parameter, '=');
    if (function->most == 0) function->first = TypeOf(halves[0]);
    ++function->most;
    if (halves.size() == 1) ++function->least;
  }
  return true;
}

std::vector<Function> FunctionsOf(std::string_view text) {
  enum class Scope { kNamespace, kAnonymous, kOther };
  std::vector<Function> functions;
  std::vector<Scope> scopes;
  std::string statement;
  int parentheses = 0, others = 0;
  for (const char c : CodeOf(text)) {
    parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (parentheses > 0 || (c != '{' && c != '}' && c != ';')) {
      if (others == 0) statement += c;
      continue;
    }
    if (c == '{' || c == ';') {
      Function function;
      if (others == 0 && IsFunction(statement, &function)) {
        function.own |= std::find(scopes.begin(), scopes.end(), Scope::kAnonymous) != scopes.end();
        functions.push_back(std::move(function));
      }
      if (c == '{') {
        const std::string_view opens = Trimmed(statement);
        scopes.push_back(others == 0 && opens == "namespace"              ? Scope::kAnonymous
                         : others == 0 && opens.starts_with("namespace ") ? Scope::kNamespace
                                                                          : Scope::kOther);
        others += scopes.back() == Scope::kOther;
      }
    } else if (!scopes.empty()) {
      others -= scopes.back() == Scope::kOther;
      scopes.pop_back();
    }
    statement.clear();
  }
  return functions;
}

bool Clash(const Function& a, const Function& b) {
  return a.name == b.name && a.first == b.first && a.least <= b.most && b.least <= a.most;
}

TEST(UnityNames, NoFunctionOfAFileHidesASharedOne) {
  const fs::path root = fs::path(X2IR_SOURCE_DIR) / "x2ir";
  struct Shared {
    std::string header;
    Function function;
  };
  std::map<std::string, std::vector<Shared>> shared;  // by name
  std::vector<fs::path> sources;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".cc") sources.push_back(entry.path());
    if (entry.path().extension() != ".h") continue;
    for (const Function& function : FunctionsOf(ReadFile(entry.path()))) {
      shared[function.name].push_back({fs::relative(entry.path(), root).string(), function});
    }
  }
  EXPECT_GT(shared.size(), 1000u);
  std::sort(sources.begin(), sources.end());
  size_t seen = 0;
  for (const fs::path& source : sources) {
    const std::string folder = fs::relative(source.parent_path(), root).string();
    for (const Function& function : FunctionsOf(ReadFile(source))) {
      if (!function.own) continue;
      ++seen;
      for (const auto& [header, other] : shared[function.name]) {
        const bool near =
            header.starts_with("builder/") || fs::path(header).parent_path() == folder;
        EXPECT_FALSE(near && Clash(function, other))
            << "x2ir/" << fs::relative(source, root).string() << ": " << function.name << "("
            << function.first << ", ...) hides the function of x2ir/" << header
            << "; give it another name";
      }
    }
  }
  EXPECT_GT(seen, 4000u);
}

std::string TextOf(const Function& f) {
  return StrCat(f.own ? "own " : "", f.name, "(", f.first, ") ", f.least, "-", f.most);
}

TEST(UnityNames, SeesFunctions) {
  constexpr char kSource[] = R"source(
#define X2IR_FOO(a) \
  Lost(a)
namespace X2IR_API x2ir {
class C {
  int Method(int a);
};
int Open(const std::map<std::string, int>& a, int b = 0, std::vector<int> c = {1, 2});
X2IR_MIL(op).From("a", A).From("b", B);
namespace {
// int Comment(int a);
constexpr char kText[] = "int Quoted(int a) {";
const int kNumber = Call(1'000, '{');
const auto kFunction = [](int a) { return a; };
template <typename T, typename U = std::vector<T>>
[[nodiscard]] std::function<void(T)> Made(const T& a,
                                          Value* DirectionWeights::*part = nullptr) {
  const auto inner = [&](int b) { return R"({)"; };
  if (a) { return inner(1); }
}
bool Nothing() { return true; }
Expr C::Method(int a) { return a; }
bool operator==(const C& a, const C& b) { return true; }
struct Inner {
  void Method() {}
};
}  // namespace
namespace inner {
absl::Status Unnamed(Value*, std::string_view);
template <typename T>
static T Static(T* a) {}
}  // namespace inner
}  // namespace x2ir
)source";
  std::vector<std::string> found;
  for (const Function& function : FunctionsOf(kSource)) found.push_back(TextOf(function));
  const std::vector<std::string> expected = {"Open(std::map<std::string,int>) 1-3",
                                             "own Made(T) 1-2", "own Nothing() 0-0",
                                             "Unnamed(Value*) 2-2", "own Static(T*) 1-1"};
  EXPECT_EQ(found, expected);
}

TEST(UnityNames, SeesClashes) {
  struct Row {
    const char *own, *shared;
    bool clash;
  };
  const Row rows[] = {
      {"Expr F(Builder& b, int i);", "Expr F(Builder& b, int64_t axis);", true},
      {"Expr F(Expr x);", "Value* F(const Expr& x, bool last = false);", true},
      {"Expr F();", "int F();", true},
      {"Expr F(Expr x);", "Expr G(Expr x);", false},
      {"Expr F(Expr x);", "Expr F(Value* x);", false},
      {"Expr F(Expr x, int a);", "Expr F(Expr x);", false},
      {"Expr F(const std::vector<Expr>& x);", "Expr F(const Expr& x);", false},
  };
  for (const Row& row : rows) {
    const std::vector<Function> own = FunctionsOf(row.own), shared = FunctionsOf(row.shared);
    ASSERT_EQ(own.size(), 1u) << row.own;
    ASSERT_EQ(shared.size(), 1u) << row.shared;
    EXPECT_EQ(Clash(own[0], shared[0]), row.clash) << row.own << " " << row.shared;
  }
}

}  // namespace
}  // namespace x2ir
