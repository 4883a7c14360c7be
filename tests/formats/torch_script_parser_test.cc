// The parser of TorchScript: trees of expressions, statements, classes and files, and what it says
// about texts that are not of the language. Trees are written here as lists in brackets.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/torch/script.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::torch_script {
namespace {

std::string Written(const Expr* expr);
std::string Written(const std::vector<const Statement*>& body);

std::string WrittenArgs(const Expr& expr, size_t end) {
  std::string out;
  for (size_t i = 0; i < end; ++i) StrAppend(&out, i == 0 ? "" : " ", Written(expr.args[i]));
  return out;
}

std::string Written(const Expr* expr) {
  if (!expr) return "_";
  const size_t count = expr->args.size();
  const auto list = [&](std::string_view head) {
    return StrCat("(", head, count ? " " : "", WrittenArgs(*expr, count), ")");
  };
  switch (expr->kind) {
    case Expr::kName: return std::string(expr->text);
    case Expr::kInt: return StrCat(expr->number);
    case Expr::kFloat: return StrCat("float:", expr->real);
    case Expr::kImaginary: return StrCat("imaginary:", expr->real);
    case Expr::kString: return StrCat("\"", expr->text, "\"");
    case Expr::kTrue: return "True";
    case Expr::kFalse: return "False";
    case Expr::kNone: return "None";
    case Expr::kEllipsis: return "...";
    case Expr::kAttribute: return StrCat("(. ", Written(expr->args[0]), " ", expr->text, ")");
    case Expr::kCall: {
      const size_t plain = count - expr->keywords.size();
      std::string out = StrCat("(call ", WrittenArgs(*expr, plain));
      for (size_t i = plain; i < count; ++i) {
        StrAppend(&out, " ", expr->keywords[i - plain], "=", Written(expr->args[i]));
      }
      return out + ")";
    }
    case Expr::kIndex: return list("index");
    case Expr::kSlice: return list("slice");
    case Expr::kTuple: return list("tuple");
    case Expr::kList: return list("list");
    case Expr::kDict: return list("dict");
    case Expr::kListOf: return list("list-of");
    case Expr::kDictOf: return list("dict-of");
    case Expr::kUnary: return list(StrCat("unary ", expr->text));
    case Expr::kBinary: return list(expr->text);
    case Expr::kConditional: return list("conditional");
    case Expr::kStarred: return list("starred");
  }
  return "?";
}

std::string Written(const FunctionDef& function) {
  std::string out = StrCat("(def ", function.name, " (");
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    StrAppend(&out, i == 0 ? "" : " ", parameter.name);
    if (parameter.type) StrAppend(&out, ":", Written(parameter.type));
    if (parameter.default_value) StrAppend(&out, "=", Written(parameter.default_value));
  }
  StrAppend(&out, ")");
  if (function.returns) StrAppend(&out, " -> ", Written(function.returns));
  return StrCat(out, " ", Written(function.body), ")");
}

std::string Written(const Statement& statement) {
  std::string targets;
  for (const Expr* target : statement.targets) StrAppend(&targets, " ", Written(target));
  const std::string value = Written(statement.value);
  switch (statement.kind) {
    case Statement::kExpression: return value;
    case Statement::kAssign:
      if (statement.type) {
        return StrCat("(typed", targets, " ", Written(statement.type), " ", value, ")");
      }
      return StrCat("(=", targets, " ", value, ")");
    case Statement::kAugmented: return StrCat("(", statement.text, "=", targets, " ", value, ")");
    case Statement::kIf:
      return StrCat("(if ", value, " ", Written(statement.body), " ", Written(statement.otherwise),
                    ")");
    case Statement::kWhile: return StrCat("(while ", value, " ", Written(statement.body), ")");
    case Statement::kFor:
      return StrCat("(for", targets, " ", value, " ", Written(statement.body), ")");
    case Statement::kReturn: return StrCat("(return ", value, ")");
    case Statement::kRaise: return StrCat("(raise ", value, ")");
    case Statement::kAssert: return StrCat("(assert ", value, " ", Written(statement.type), ")");
    case Statement::kPass: return "pass";
    case Statement::kDef: return Written(*statement.function);
    case Statement::kWith:
      return StrCat("(with ", value, targets, " ", Written(statement.body), ")");
    case Statement::kDelete: return StrCat("(del", targets, ")");
    case Statement::kBreak: return "break";
    case Statement::kContinue: return "continue";
  }
  return "?";
}

std::string Written(const std::vector<const Statement*>& body) {
  std::string out = "{";
  for (size_t i = 0; i < body.size(); ++i) StrAppend(&out, i == 0 ? "" : " ", Written(*body[i]));
  return out + "}";
}

std::string Written(const ClassDef& made) {
  std::string out = StrCat("(class ", made.name, " (", made.base, ")");
  for (const ClassDef::Field& field : made.fields) {
    StrAppend(&out, " ", field.name, ":", Written(field.type), "=", Written(field.value));
  }
  for (const FunctionDef* method : made.methods) StrAppend(&out, " ", Written(*method));
  return out + ")";
}

// A function with a body of these lines.
std::string InFunction(std::string_view lines) {
  std::string out = "def f():\n  ";
  for (const char c : lines) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out + "\n";
}

struct Row {
  std::string_view code, expected;
};

// Compares the body of a function.
void ExpectBodies(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const std::string text = InFunction(row.code);
    const auto file = ParseScript("code.py", text);
    if (!file.ok()) {
      ADD_FAILURE() << row.code << "\n" << file.status();
      continue;
    }
    const std::string body = Written((*file)->functions.at("f")->body);
    EXPECT_EQ(body, StrCat("{", row.expected, "}")) << row.code;
  }
}

TEST(TorchScriptParserTest, ReadsWhatHasNoOperators) {
  ExpectBodies({
      {"a", "a"},
      {"_a1", "_a1"},
      {"inf", "inf"},
      {"NoneType", "NoneType"},
      {"Ellipsis", "..."},
      {"x[...]", "(index x ...)"},
      {"True, False, None", "(tuple True False None)"},
      {"0", "0"},
      {"-0", "0"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"0x1F + 0b101 + 0o17", "(+ (+ 31 5) 15)"},
      {"1.", "float:1"},
      {".5", "float:0.5"},
      {"-1.5", "float:-1.5"},
      {"1.0000000000000001e-05", "float:1e-05"},
      {"1e10", "float:1e+10"},
      {"1E+3", "float:1000"},
      {"1e999", "float:inf"},
      {"2j", "imaginary:2"},
      {"-2.5j", "imaginary:-2.5"},
      {"1.+2.j", "(+ float:1 imaginary:2)"},
      {"float('inf')", "(call float \"inf\")"},
      {"a.b.c", "(. (. a b) c)"},
      {"a.in.True", "(. (. a in) True)"},
      {"(a).b", "(. a b)"},
      {"f()", "(call f)"},
      {"f(a, )", "(call f a)"},
      {"f(a, *b, c=1, d=x == y, )", "(call f a (starred b) c=1 d=(== x y))"},
      {"f(c=1, a)", "(call f a c=1)"},
      {"f(a for a in b)", "(call f (list-of a a b _))"},
      {"(f)(a)(b)[c].d", "(. (index (call (call f a) b) c) d)"},
      {"x[0]", "(index x 0)"},
      {"x[a, b]", "(index x (tuple a b))"},
      {"x[a, ]", "(index x a)"},
      {"Tuple[()]", "(index Tuple (tuple))"},
      {"Tuple[]", "(index Tuple (tuple))"},
      {"x[:]", "(index x (slice _ _ _))"},
      {"x[1:]", "(index x (slice 1 _ _))"},
      {"x[:1]", "(index x (slice _ 1 _))"},
      {"x[a:b:c]", "(index x (slice a b c))"},
      {"x[::2]", "(index x (slice _ _ 2))"},
      {"x[1:, ::-1, None]", "(index x (tuple (slice 1 _ _) (slice _ _ -1) None))"},
      {"()", "(tuple)"},
      {"(a)", "a"},
      {"(a,)", "(tuple a)"},
      {"a,", "(tuple a)"},
      {"a, b", "(tuple a b)"},
      {"(a, (b, c), )", "(tuple a (tuple b c))"},
      {"[]", "(list)"},
      {"[a]", "(list a)"},
      {"[a, *b, ]", "(list a (starred b))"},
      {"{}", "(dict)"},
      {"{a: b, \"c\": d, }", "(dict a b \"c\" d)"},
      {"[a for b in c]", "(list-of a b c _)"},
      {"[a for b, (c, d) in e if f]", "(list-of a (tuple b (tuple c d)) e f)"},
      {"{a: b for a, b in c}", "(dict-of a b (tuple a b) c _)"},
      {"{a: b for a in c if a}", "(dict-of a b a c a)"},
      {"(a for b in c)", "(list-of a b c _)"},
      {"[[a for b in c], d]", "(list (list-of a b c _) d)"},
  });
}

TEST(TorchScriptParserTest, ReadsTexts) {
  const std::string text = InFunction(R"code(
"plain"
'single'
""
"""three "marks" of
two lines"""
'''it's'''
"a" 'b' """c"""
("a"
 "\n")
"\a\b\f\n\r\t\v\\\'\""
"\0\7\101\1012\x41\xc3\xa4\u00e4\U0001F600"
"\303\244"
"\0)+\0)-)"
"\q\
z"
r"\n\""
u"u"
"# no comment"
)code");
  const auto file = ParseScript("code.py", text);
  ASSERT_TRUE(file.ok()) << file.status();
  const std::vector<std::string> expected = {
      "plain",
      "single",
      "",
      "three \"marks\" of\n  two lines",
      "it's",
      "abc",
      "a\n",
      "\a\b\f\n\r\t\v\\'\"",
      std::string("\0\7AA2A\xc3\xa4\xc3\xa4\xf0\x9f\x98\x80", 14),
      "\xc3\xa4",
      "\xc3\xc5)",
      "\\q  z",
      "\\n\\\"",
      "u",
      "# no comment",
  };
  const auto& body = (*file)->functions.at("f")->body;
  ASSERT_EQ(body.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(body[i]->value->text, expected[i]) << i;
}

TEST(TorchScriptParserTest, OperatorsBindAsInPython) {
  ExpectBodies({
      {"a + b + c", "(+ (+ a b) c)"},
      {"a - (b - c)", "(- a (- b c))"},
      {"a + b * c", "(+ a (* b c))"},
      {"a * b + c", "(+ (* a b) c)"},
      {"a / b // c % d @ e", "(@ (% (// (/ a b) c) d) e)"},
      {"a ** b ** c", "(** a (** b c))"},
      {"-a ** b", "(unary - (** a b))"},
      {"a ** -b", "(** a (unary - b))"},
      {"-1 ** 2", "(unary - (** 1 2))"},
      {"- - a", "(unary - (unary - a))"},
      {"-a.b[0]", "(unary - (index (. a b) 0))"},
      {"+a + ~b", "(+ (unary + a) (unary ~ b))"},
      {"a-1", "(- a 1)"},
      {"~a == b", "(== (unary ~ a) b)"},
      {"a << b + c >> d", "(>> (<< a (+ b c)) d)"},
      {"a & b << c", "(& a (<< b c))"},
      {"a | b ^ c & d", "(| a (^ b (& c d)))"},
      {"a | b == c", "(== (| a b) c)"},
      {"a < b", "(< a b)"},
      {"a < b <= c", "(and (< a b) (<= b c))"},
      {"a == b != c > d", "(and (and (== a b) (!= b c)) (> c d))"},
      {"a in b", "(in a b)"},
      {"a not in b", "(not in a b)"},
      {"a is None", "(is a None)"},
      {"a is not None", "(is not a None)"},
      {"a is (not b)", "(is a (unary not b))"},
      {"not a == b", "(unary not (== a b))"},
      {"not a in b", "(unary not (in a b))"},
      {"not not a", "(unary not (unary not a))"},
      {"not a and b", "(and (unary not a) b)"},
      {"a or b and c", "(or a (and b c))"},
      {"a and b or c", "(or (and a b) c)"},
      {"a if b else c", "(conditional a b c)"},
      {"a if b else c if d else e", "(conditional a b (conditional c d e))"},
      {"(a if b else c) if d else e", "(conditional (conditional a b c) d e)"},
      {"a + b if c or d else e, f", "(tuple (conditional (+ a b) (or c d) e) f)"},
      {"[a if b else c for d in e if g]", "(list-of (conditional a b c) d e g)"},
      {"f(*a + b)", "(call f (starred (+ a b)))"},
  });
}

TEST(TorchScriptParserTest, ReadsStatements) {
  ExpectBodies({
      {"a = b", "(= a b)"},
      {"a = b = c, d", "(= a b (tuple c d))"},
      {"a, b, = f()", "(= (tuple a b) (call f))"},
      {"a, = f()", "(= (tuple a) (call f))"},
      {"(a, [b, c.d]), e[0] = f()", "(= (tuple (tuple a (list b (. c d))) (index e 0)) (call f))"},
      {"a, *b = c", "(= (tuple a (starred b)) c)"},
      {"a : Tensor = b", "(typed a Tensor b)"},
      {"a : Tensor", "(typed a Tensor _)"},
      {"self.a : Dict[str, Tensor] = {}",
       "(typed (. self a) (index Dict (tuple str Tensor)) (dict))"},
      {"a += b, c", "(+= a (tuple b c))"},
      {"a -= 1\na *= 2\na /= 3\na //= 4\na %= 5\na **= 6\na @= 7",
       "(-= a 1) (*= a 2) (/= a 3) (//= a 4) (%= a 5) (**= a 6) (@= a 7)"},
      {"a &= 1\na |= 2\na ^= 3\na <<= 4\na >>= 5\na[0].b += 6",
       "(&= a 1) (|= a 2) (^= a 3) (<<= a 4) (>>= a 5) (+= (. (index a 0) b) 6)"},
      {"pass\nbreak\ncontinue", "pass break continue"},
      {"return", "(return _)"},
      {"return a, b", "(return (tuple a b))"},
      {"raise", "(raise _)"},
      {"raise ValueError(\"a\")", "(raise (call ValueError \"a\"))"},
      {"assert a", "(assert a _)"},
      {"assert a, b", "(assert a b)"},
      {"del a", "(del a)"},
      {"del a[0], b,", "(del (index a 0) b)"},
      {"if a:\n  b\nelse:\n  pass", "(if a {b} {pass})"},
      {"if a:\n  b", "(if a {b} {})"},
      {"if a: b\nelse: c", "(if a {b} {c})"},
      {"if a:\n  b\nelif c:\n  d\nelif e:\n  f\nelse:\n  g",
       "(if a {b} {(if c {d} {(if e {f} {g})})})"},
      {"if a:\n  if b:\n    c\n  d\ne", "(if a {(if b {c} {}) d} {}) e"},
      {"while a < b:\n  a += 1\nc", "(while (< a b) {(+= a 1)}) c"},
      {"for a in b:\n  c", "(for a b {c})"},
      {"for a, b in c, d:\n  e", "(for (tuple a b) (tuple c d) {e})"},
      {"for (a, b), in c:\n  d", "(for (tuple (tuple a b)) c {d})"},
      {"for a.b in c: d", "(for (. a b) c {d})"},
      {"with a:\n  b", "(with a {b})"},
      {"with a as b:\n  c", "(with a b {c})"},
      {"with a() as b, c:\n  d", "(with (call a) b {(with c {d})})"},
      {"def g(a: int) -> int:\n  return a\ng(1)", "(def g (a:int) -> int {(return a)}) (call g 1)"},
      {"@a.b(c)\n@d\ndef g():\n  pass", "(def g () {pass})"},
      {"\n\n# comment\na # comment\n   # comment that is indented\n\nb\n# last", "a b"},
      {"a = f(b, # comment\n# another\n      c\n)\nd", "(= a (call f b c)) d"},
      {"a = b + \\\n   c", "(= a (+ b c))"},
      {"f(a\n=\n3)", "(call f a=3)"},
      {"if a:\n\tb\n\tc", "(if a {b c} {})"},
      {"if a:\r\n  b\r\nc\r", "(if a {b} {}) c"},
  });
}

TEST(TorchScriptParserTest, ReadsFilesOfClassesAndFunctions) {
  const std::string text = R"(op_version_set = 1
import __torch__.a.b
from typing import List
class Net(Module):
  __parameters__ = ["weight", ]
  __buffers__ = []
  __annotations__ = []
  __annotations__["0"] = __torch__.torch.nn.modules.conv.___torch_mangle_3.Conv2d
  __annotations__["a-b"] = Tensor
  weight : Tensor
  training : bool
  stride : Final[Tuple[int, int]] = (1, -1)
  def forward(self: __torch__.Net,
    x: Tensor, *, y: int=3,
    z: "Optional[Tensor]"=None) -> Tensor:
    return torch.add(x, y)
  def other(self) -> Tuple[()]:
    pass

class Pair(NamedTuple):
  a : int
  b : List[Tensor] = []
class Color(Enum):
  RED = 1
  BLUE = "b"
class Shape(__torch__.Interface):
  "What has a shape."
  def area(self, ) -> float:
    pass
class Plain:
  pass
class Empty(): ...
@torch.jit.script
class Short: a : int
def f(x, y=-1.5): return x
def forward(self, x: Tensor):
  return x)";
  const auto parsed = ParseScript("code/a.py", text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const ParsedFile& file = **parsed;
  EXPECT_EQ(file.path, "code/a.py");
  EXPECT_EQ(file.op_version_set, 1);
  EXPECT_EQ(file.classes.size(), 7u);
  EXPECT_EQ(file.functions.size(), 2u);
  const std::vector<Row> classes = {
      {"Net",
       "(class Net (Module) __parameters__:_=(list \"weight\") __buffers__:_=(list)"
       " 0:(. (. (. (. (. (. __torch__ torch) nn) modules) conv) ___torch_mangle_3) Conv2d)=_"
       " a-b:Tensor=_ weight:Tensor=_ training:bool=_"
       " stride:(index Final (index Tuple (tuple int int)))=(tuple 1 -1)"
       " (def forward (self:(. __torch__ Net) x:Tensor y:int=3 z:\"Optional[Tensor]\"=None)"
       " -> Tensor {(return (call (. torch add) x y))})"
       " (def other (self) -> (index Tuple (tuple)) {pass}))"},
      {"Pair", "(class Pair (NamedTuple) a:int=_ b:(index List Tensor)=(list))"},
      {"Color", "(class Color (Enum) RED:_=1 BLUE:_=\"b\")"},
      {"Shape", "(class Shape (Interface) (def area (self) -> float {pass}))"},
      {"Plain", "(class Plain ())"},
      {"Empty", "(class Empty ())"},
      {"Short", "(class Short () a:int=_)"},
  };
  for (const Row& row : classes) EXPECT_EQ(Written(*file.classes.at(row.code)), row.expected);
  EXPECT_EQ(Written(*file.functions.at("f")), "(def f (x y=float:-1.5) {(return x)})");
  const FunctionDef& forward = *file.functions.at("forward");
  EXPECT_EQ(Written(forward), "(def forward (self x:Tensor) {(return x)})");
  EXPECT_EQ(forward.file, &file);
  EXPECT_EQ(forward.of, nullptr);

  const ClassDef& net = *file.classes.at("Net");
  EXPECT_EQ(net.file, &file);
  ASSERT_NE(net.Method("other"), nullptr);
  EXPECT_EQ(net.Method("other")->of, &net);
  EXPECT_EQ(net.Method("weight"), nullptr);
  ASSERT_NE(net.FindField("a-b"), nullptr);
  EXPECT_EQ(net.FindField("a-b"), &net.fields[3]);
  EXPECT_EQ(net.FindField("other"), nullptr);
}

TEST(TorchScriptParserTest, KeepsPlaces) {
  const std::string text = "def f(a):\n  b = -1 + (a).g(c, d[0])\n  return b\n";
  const auto file = ParseScript("code.py", text);
  ASSERT_TRUE(file.ok()) << file.status();
  const FunctionDef& f = *(*file)->functions.at("f");
  const auto at = [&](uint32_t offset, size_t length) { return text.substr(offset, length); };
  EXPECT_EQ(at(f.offset, 4), "f(a)");
  EXPECT_EQ(at(f.body[0]->offset, 5), "b = -");
  EXPECT_EQ(at(f.body[1]->offset, 8), "return b");
  const Expr& sum = *f.body[0]->value;
  EXPECT_EQ(at(sum.offset, 2), "-1");
  EXPECT_EQ(at(sum.args[1]->offset, 5), "(a).g");
  EXPECT_EQ(at(sum.args[1]->args[2]->offset, 4), "d[0]");
}

TEST(TorchScriptParserTest, ReadsFilesWithoutCode) {
  for (const std::string_view text :
       {"", "\n", "\n\n  \n# comment", "   ", "\r\n", "\"text\"\n", "\\\n"}) {
    const auto file = ParseScript("code.py", text);
    EXPECT_TRUE(file.ok()) << text << file.status();
  }
  // The first line may be indented, as may the last.
  EXPECT_TRUE(ParseScript("code.py", "  def f():\n    pass\n  def g():\n    pass\n      ").ok());
}

TEST(TorchScriptParserTest, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string_view code, message;
  };
  const Case kCases[] = {
      {"def",
       "line 1, column 4: expected the name of a function, but there is the end of the line"},
      {"def f", "expected '(' after the name of a function"},
      {"def f(", "expected the name of a parameter, but there is the end of the file"},
      {"def f(a", "expected ',' or ')' after a parameter"},
      {"def f(a b): pass",
       "line 1, column 9: expected ',' or ')' after a parameter, but there is 'b'"},
      {"def f(*a): pass", "expected ',' or ')' after a parameter"},
      {"def f(**a): pass", "expected the name of a parameter, but there is '**'"},
      {"def f(a, a): pass", "line 1, column 10: parameter 'a' is defined twice"},
      {"def f(a)\n", "expected ':' before a block, but there is the end of the line"},
      {"def f():\npass", "line 2, column 1: expected a block, which is indented more"},
      {"def f():\n", "expected a block, which is indented more, but there is the end of the file"},
      {"def f():\n  a\n    b", "line 3, column 5: the line is indented more, but begins no block"},
      {"def f():\n    a\n  b", "line 3, column 3: the line is indented less than the one before"},
      {"  def f(): pass\ndef g(): pass", "line 2, column 1: the line is indented less"},
      {"  \n a = 3", "expected a class or a function, but there is 'a'"},
      {"def f(): pass\n  def g(): pass", "line 2, column 3: the line is indented more"},
      {"def f(): pass\ndef f(): pass", "line 2, column 5: function 'f' is defined twice"},
      {"class f: pass\ndef f(): pass", "function 'f' is defined twice"},
      {"def f(): pass\nclass f: pass", "class 'f' is defined twice"},
      {"class A: pass\nclass A: pass", "line 2, column 7: class 'A' is defined twice"},
      {"class A:\n  a : int\n  a : int", "line 3, column 3: field 'a' is defined twice"},
      {"class A:\n  a : int\n  def a(self): pass", "method 'a' is defined twice"},
      {"class A:\n  def a(self): pass\n  def a(self): pass", "line 3, column 7: method 'a' is"},
      {"class A:\n  def a(self): pass\n  __annotations__[\"a\"] = int", "field 'a' is defined"},
      {"class A", "expected ':' before the body of a class"},
      {"class 3: pass", "expected the name of a class, but there is '3'"},
      {"class A(B, C): pass", "expected ')' after the class to derive from, but there is ','"},
      {"class A(3): pass", "expected the name of a class to derive from"},
      {"class A:\n  class B: pass", "classes in classes are not read"},
      {"class A:\n  f(x)", "line 2, column 3: expected a field, a method or 'pass' in a class"},
      {"class A:\n  return 3", "expected a field, a method or 'pass'"},
      {"class A:\n  a.b = 3", "expected a field, a method or 'pass'"},
      {"class A:\n  a = b = 3", "expected a field, a method or 'pass'"},
      {"class A:\n  __annotations__[0] = int", "expected a field, a method or 'pass'"},
      {"class A:\n  if a: pass", "expected a statement, but there is 'if'"},
      {"op_version_set = a", "line 1, column 18: expected a number after 'op_version_set ='"},
      {"op_version_set", "expected '=' after op_version_set"},
      {"@a\nx", "expected a function or class after a decorator, but there is 'x'"},
      {"return", "expected a class or a function, but there is 'return'"},
      {"\xef\xbb\xbf", "a character that the language does not have"},
      {std::string_view("\0", 1), "line 1, column 1: a character that the language does not have"},
      {")", "expected a class or a function, but there is ')'"},
  };
  const Case kBodies[] = {
      {"a b", "line 2, column 5: expected the end of the line, but there is 'b'"},
      {"a; b", "line 2, column 4: a character that the language does not have"},
      {"a $ b", "a character that the language does not have"},
      {"a ! b", "a character that the language does not have"},
      {"a \\ b", "a '\\' that does not end its line"},
      {"a +", "expected an expression, but there is the end of the line"},
      {"a + * b", "expected an expression, but there is '*'"},
      {"a not b", "expected 'in' after 'not', but there is 'b'"},
      {"a if b", "expected 'else' of a conditional expression, but there is the end of the line"},
      {"lambda: 3", "'lambda' is not part of the language"},
      {"a = lambda: 3", "expected an expression, but there is 'lambda'"},
      {"global a", "'global' is not part of the language"},
      {"try:\n  a", "'try' is not part of the language"},
      {"else: a", "expected a statement, but there is 'else'"},
      {"class A: pass", "expected a statement, but there is 'class'"},
      {"if a: if b: c", "expected a statement, but there is 'if'"},
      {"if a b", "expected ':' before a block, but there is 'b'"},
      {"for in a: b", "expected a variable after 'for', but there is 'in'"},
      {"for a: b", "expected 'in' of a loop, but there is ':'"},
      {"for 3 in a: b", "expected something to assign to"},
      {"with a as 3: b", "expected something to assign to"},
      {"a.", "expected the name of an attribute after '.', but there is the end of the line"},
      {"a.3", "expected the end of the line, but there is '.3'"},
      {"a.\"b\"", "expected the name of an attribute after '.', but there is a text"},
      {"a.(b)", "expected the name of an attribute after '.', but there is '('"},
      {"f(a", "expected ',' or ')' in a call, but there is the end of the file"},
      {"f(a b)", "expected ',' or ')' in a call, but there is 'b'"},
      {"f(**a)", "arguments of a dict (**) are not read"},
      {"f(a=)", "expected an expression, but there is ')'"},
      {"f((a)=3)", "expected ',' or ')' in a call, but there is '='"},
      {"[a, b", "expected ',' or ']' in a list"},
      {"[a b]", "expected ',' or ']' in a list, but there is 'b'"},
      {"[a, b for b in c]", "expected ',' or ']' in a list, but there is 'for'"},
      {"[a for a in b for c in d]", "more than one 'for' and 'if' are not read"},
      {"[a for a in b, c]", "expected ']' after a comprehension"},
      {"{a}", "expected ':' after a key, but there is '}'"},
      {"{a: b c}", "expected ',' or '}' in a dict, but there is 'c'"},
      {"(a", "expected ')', but there is the end of the file"},
      {"(a]", "expected ')', but there is ']'"},
      {"x[a", "expected ',' or ']' in an index"},
      {"x[a:b:c:d]", "expected ',' or ']' in an index, but there is ':'"},
      {"x[a", "expected ',' or ']' in an index"},
      {"3 = a", "line 2, column 3: expected something to assign to"},
      {"f() = a", "expected something to assign to"},
      {"a + b = c", "expected something to assign to"},
      {"a, f() = c", "line 2, column 6: expected something to assign to"},
      {"(a, b) += c", "only one thing may be on the left of an operator with '='"},
      {"a, b : int = c", "only one thing may have a type"},
      {"del 3", "expected something to assign to"},
      {"a = 9223372036854775808", "line 2, column 7: an integer that 64 bits do not hold"},
      {"a-9223372036854775808", "an integer that 64 bits do not hold"},
      {"a = -9223372036854775809", "an integer that 64 bits do not hold"},
      {"a = 99999999999999999999999", "an integer that 64 bits do not hold"},
      {"a = 0x", "a number without digits"},
      {"a = 1x", "expected the end of the line, but there is 'x'"},
      {"a = \"b", "line 2, column 7: a text that does not end in its line"},
      {"a = '''b", "line 2, column 7: a text without its end"},
      {"a = \"b\\", "a text without its end"},
      {"a = f\"b\"", "texts with a format (f'...') are not read"},
      {"a = b'c'", "texts of bytes (b'...') are not read"},
      {"a = z'c'", "a text with an unknown prefix"},
      {"a = \"\\x4\"", "line 2, column 8: an escape that lacks its 2 digits"},
      {"a = \"\\u12\"", "an escape that lacks its 4 digits"},
      {"a = \"\\U00110000\"", "an escape of no character"},
      {"a = \"\\777\"", "an escape of no byte"},
      {"a = \"\\N{DASH}\"", "characters by name (\\N) are not read"},
  };
  const auto expect = [](std::string_view text, std::string_view message) {
    const auto file = ParseScript("code/a.py", text);
    ASSERT_FALSE(file.ok()) << text;
    EXPECT_EQ(file.status().code(), absl::StatusCode::kDataLoss) << text;
    const std::string said(file.status().message());
    EXPECT_NE(said.find(message), std::string::npos) << text << "\n" << said;
    EXPECT_EQ(said.rfind("code/a.py, line ", 0), 0u) << said;
  };
  for (const Case& row : kCases) expect(row.code, row.message);
  for (const Case& row : kBodies) expect(InFunction(row.code), row.message);
}

// Whether it is read; what is not is nested too deep.
bool IsReadOrTooDeep(const std::string& text) {
  const auto file = ParseScript("code.py", text);
  if (file.ok()) return true;
  const std::string said(file.status().message());
  EXPECT_NE(said.find("nested more than 200 deep"), std::string::npos) << said.substr(0, 500);
  return false;
}

std::string Repeated(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) StrAppend(&out, text);
  return out;
}

TEST(TorchScriptParserTest, LimitsHowDeepThingsAreNested) {
  struct Case {
    std::string_view before, middle, after;
  };
  const Case kCases[] = {
      {"(", "a", ")"},
      {"[", "a", "]"},
      {"(a, ", "a", ")"},
      {"(*", "a", ",)"},
      {"{a: ", "a", "}"},
      {"{", "a", ": a}"},
      {"f(", "a", ")"},
      {"f(a=", "a", ")"},
      {"f(*", "a", ")"},
      {"a[", "a", "]"},
      {"a[:", "a", "]"},
      {"[a for x[", "0", "] in b]"},
      {"[a for a in ", "a", "]"},
      {"[a for a in b if ", "a", "]"},
      {"- ", "a", ""},
      {"~", "a", ""},
      {"not ", "a", ""},
      {"a ** ", "a", ""},
      {"a if b else ", "a", ""},
      {"", "a", ".a"},
      {"", "a", "()"},
      {"", "a", "[0]"},
      {"", "a", " + a"},
      {"", "a", " < a"},
      {"", "a", " and a"},
      {"(", "a", "+ b)"},
      {"(", "a", "+ b + c).d"},
      {"(a or b and c < d | e ^ f & g << h + i * ", "a", ")"},
  };
  for (const Case& row : kCases) {
    for (const size_t count : {20, 400, 50000}) {
      const std::string text =
          InFunction(StrCat(Repeated(row.before, count), row.middle, Repeated(row.after, count)));
      EXPECT_EQ(IsReadOrTooDeep(text), count == 20) << row.before << row.after << count;
      // What is not closed is an error in any case.
      EXPECT_FALSE(ParseScript("", InFunction(Repeated(row.before, count))).ok());
    }
  }
  EXPECT_TRUE(IsReadOrTooDeep(InFunction(StrCat(Repeated("(", 190), "a", Repeated(")", 190)))));
  for (const std::string_view line : {"if a:", "while a:", "for a in b:", "with a:", "def f():"}) {
    for (const size_t count : {20, 190, 400, 2000}) {
      std::string text = "def f():\n";
      for (size_t i = 1; i <= count; ++i) StrAppend(&text, std::string(i, ' '), line, "\n");
      StrAppend(&text, std::string(count + 1, ' '), "pass\n");
      EXPECT_EQ(IsReadOrTooDeep(text), count < 200) << line << count;
    }
  }
  for (const size_t count : {190, 400, 50000}) {
    EXPECT_EQ(IsReadOrTooDeep(InFunction("if a: b\n" + Repeated("elif a: b\n", count))),
              count < 200);
    EXPECT_EQ(IsReadOrTooDeep(InFunction("with a" + Repeated(", a", count) + ": b\n")),
              count < 200);
  }
  // What is long is not deep.
  EXPECT_TRUE(IsReadOrTooDeep(InFunction(StrCat("f(", Repeated("a, ", 50000), ")"))));
  EXPECT_TRUE(IsReadOrTooDeep(InFunction(StrCat("a = (", Repeated("'b' ", 50000), ")"))));
  EXPECT_TRUE(IsReadOrTooDeep(InFunction(Repeated("a = ", 50000) + "b")));
  EXPECT_TRUE(IsReadOrTooDeep(InFunction(Repeated("a = b\n", 50000))));
}

TEST(TorchScriptParserTest, AnyBytesAreReadOrRefused) {
  const std::string text = R"(op_version_set = 1
class Net(Module):
  __parameters__ = ["weight", ]
  __annotations__["0"] = __torch__.torch.nn.Conv2d
  stride : Final[Tuple[int, int]] = (1, -1)
  def forward(self: __torch__.Net,
    x: Tensor, *, y: int=0x1F) -> Tensor:
    a, b, = torch.split(x, [1, 2.5e-3, 2j], dim=-1)
    if a is not None and not b < 3:
      c = {"\n\x41": [d for d in range(3) if d], 'e': x[1:, ::2]}
    else:
      with a as b:
        c += """t"""  # comment
    return torch.add(x, y) if c else (self).f(*x, )
)";
  ASSERT_TRUE(ParseScript("code.py", text).ok());
  const auto check = [](const std::string& changed) {
    const auto file = ParseScript("code.py", changed);
    if (!file.ok()) {
      EXPECT_EQ(file.status().code(), absl::StatusCode::kDataLoss);
    }
  };
  for (size_t i = 0; i < text.size(); ++i) check(text.substr(0, i));
  const std::string bytes = std::string("\n\t '\"\\#()[]{}:,.*=-<@0ej_\xff") + '\0';
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = text;
    for (unsigned k = random() % 4 + 1; k > 0; --k) {
      const size_t at = random() % changed.size();
      switch (random() % 4) {
        case 0: changed[at] = bytes[random() % bytes.size()]; break;
        case 1: changed.erase(at, random() % 8 + 1); break;
        case 2: changed.insert(at, 1, bytes[random() % bytes.size()]); break;
        default: changed.insert(at, text, random() % text.size(), random() % 30); break;
      }
    }
    check(changed);
  }
}

}  // namespace
}  // namespace x2ir::torch_script
