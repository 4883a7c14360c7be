// TorchScript of a few lines: what the code computes, for inputs that take each of its ways; what
// is said about code that cannot be converted; code that never ends or wants all memory.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "tests/torch/script_util.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

struct Run {
  std::string inputs, want;
};
struct Row {
  std::string name, body;
  std::vector<Run> runs;
  std::string parameters = "x: Tensor", shapes{}, before{};
};

void Check(const Row& row) {
  const std::string code = ScriptModule(row.body, row.parameters, row.before);
  const std::string archive = ScriptArchive({{"__torch__.py", code}});
  for (const Run& run : row.runs) {
    EXPECT_EQ(RunScript(archive, run.inputs, row.shapes), run.want)
        << row.name << " of " << run.inputs << "\n"
        << code;
  }
}

// --- What is known when the code is read ---

TEST(TorchScript, Known) {
  const Row rows[] = {
      {"integer division and modulo",
       R"(
return (7 // 2, -7 // 2, 7 // -2, -7 // -2, 7 % 3, -7 % 3, 7 % -3, -7 % -3))",
       {{"[1] 0",
         "int64[] 3; int64[] -4; int64[] -4; int64[] 3; int64[] 1; int64[] 2; int64[] -2; int64[] "
         "-1"}}},
      {"the same of floats",
       R"(
return (7.5 // 2., -7.5 // 2., 7.5 % 2., -7.5 % 2., 7.5 % -2., 7 / 2, -7 / 2))",
       {{"[1] 0",
         "float64[] 3; float64[] -4; float64[] 1.5; float64[] 0.5; float64[] -0.5; float64[] 3.5; "
         "float64[] -3.5"}}},
      {"powers are floats, as are those of ints",
       R"(
return (2 ** 10, 2. ** -1, 2 ** 0.5, int(3 ** 2)))",
       {{"[1] 0", "float64[] 1024; float64[] 0.5; float64[] 1.414214; int64[] 9"}}},
      {"round to even",
       R"(
return (round(0.5), round(1.5), round(2.5), round(-0.5), round(-1.5)))",
       {{"[1] 0", "float64[] 0; float64[] 2; float64[] 2; float64[] -0; float64[] -2"}}},
      {"floor and ceil are ints",
       R"(
return (torch.floor(-1.5), torch.ceil(-1.5), math.floor(1.5), math.ceil(1.5), abs(-3), abs(-3.5)))",
       {{"[1] 0", "int64[] -2; int64[] -1; int64[] 1; int64[] 2; int64[] 3; float64[] 3.5"}}},
      {"numbers as others",
       R"(
return (int(2.9), int(-2.9), float(3), int(True), bool(0.5), bool(0), float("1.5"), int(" +12")))",
       {{"[1] 0",
         "int64[] 2; int64[] -2; float64[] 3; int64[] 1; bool[] 1; bool[] 0; float64[] 1.5; "
         "int64[] 12"}}},
      {"bits",
       R"(
return (6 & 3, 6 | 3, 6 ^ 3, 1 << 5, -8 >> 1, ~5))",
       {{"[1] 0", "int64[] 2; int64[] 7; int64[] 5; int64[] 32; int64[] -4; int64[] -6"}}},
      {"comparisons",
       R"(
return (1 < 2, 2 <= 2, 3 > 4, 1 == 1.0, 1 != 2, "a" < "b", "ab" == "ab", [1, 2] == [1, 2]))",
       {{"[1] 0",
         "bool[] 1; bool[] 1; bool[] 0; bool[] 1; bool[] 1; bool[] 1; bool[] 1; bool[] 1"}}},
      {"tuples compare item by item",
       R"(
a = (1, 2.5)
b = (1, 2.5)
return (a == b, a != b, (1, 2) == (1, 3), (1, "x") == (1, "x")))",
       {{"[1] 0", "bool[] 1; bool[] 0; bool[] 0; bool[] 1"}}},
      {"and and or do not look further",
       R"(
l = annotate(List[int], [])
a = torch.len(l) > 0 and l[0] == 1
b = torch.len(l) == 0 or l[0] == 1
return (a, b, not a))",
       {{"[1] 0", "bool[] 0; bool[] 1; bool[] 1"}}},
      {"lists",
       R"(
l = [3, 1, 2]
torch.append(l, 7)
torch.insert(l, 1, 9)
torch.insert(l, -1, 8)
torch.insert(l, 100, 6)
a = torch.pop(l)
b = torch.pop(l, 0)
torch.sort(l)
return (l, a, b, l[-1], torch.len(l), 8 in l, 100 in l))",
       {{"[1] 0",
         "int64[] 1; int64[] 2; int64[] 7; int64[] 8; int64[] 9; int64[] 6; int64[] 3; int64[] 9; "
         "int64[] 5; bool[] 1; bool[] 0"}}},
      {"slices",
       R"(
l = [0, 1, 2, 3, 4]
return (l[1:3], l[-2:], l[:2], l[::2], l[3:1], l[10:]))",
       {{"[1] 0",
         "int64[] 1; int64[] 2; int64[] 3; int64[] 4; int64[] 0; int64[] 1; int64[] 0; int64[] 2; "
         "int64[] 4"}}},
      {"more of lists",
       R"(
l = [1, 2] + [3]
m = l * 2
torch.extend(l, [4, 5])
torch.reverse(l)
torch.remove(m, 2)
s = sorted([3, 1, 2])
return (l, m, s, torch.index(l, 4), torch.count(m, 1), max([1, 5, 2]), min(3, 2), sum([1, 2])))",
       {{"[1] 0",
         "int64[] 5; int64[] 4; int64[] 3; int64[] 2; int64[] 1; int64[] 1; int64[] 3; int64[] 1; "
         "int64[] 2; int64[] 3; int64[] 1; int64[] 2; int64[] 3; int64[] 1; int64[] 2; int64[] 5; "
         "int64[] 2; int64[] 3"}}},
      {"two names of one list",
       R"(
l = [1, 2]
m = l
torch.append(m, 3)
l[0] = 9
c = torch.list(l)
torch.append(c, 4)
return (l, m, torch.len(c)))",
       {{"[1] 0", "int64[] 9; int64[] 2; int64[] 3; int64[] 9; int64[] 2; int64[] 3; int64[] 4"}}},
      {"dicts keep their order",
       R"(
d = annotate(Dict[str, int], {"b": 1, "a": 2})
d["c"] = 3
d["b"] = 4
e = torch.copy(d)
e["z"] = 5
out = annotate(List[int], [])
for k in torch.keys(d):
  torch.append(out, d[k])
return (out, torch.len(d), torch.len(e), "a" in d, "z" in d, torch.get(d, "q", 7)))",
       {{"[1] 0",
         "int64[] 4; int64[] 2; int64[] 3; int64[] 3; int64[] 4; bool[] 1; bool[] 0; int64[] 7"}}},
      {"the last of equal keys",
       R"(
d = {1: 10, 2: 20, 1: 30}
return (torch.len(d), d[1]))",
       {{"[1] 0", "int64[] 2; int64[] 30"}}},
      {"comprehensions",
       R"(
l = [i * i for i in range(5)]
m = [i for i in l if i % 2 == 0]
d = {i: i + 1 for i in m}
return (l, m, d[4]))",
       {{"[1] 0",
         "int64[] 0; int64[] 1; int64[] 4; int64[] 9; int64[] 16; int64[] 0; int64[] 4; int64[] "
         "16; int64[] 5"}}},
      {"ranges",
       R"(
a = 0
for i in range(5, 0, -2):
  a = a * 10 + i
b = 0
for i in range(3, 3):
  b = 7
c = 0
for i in range(-2, 2):
  c = c + i
return (a, b, c, i))",
       {{"[1] 0", "int64[] 531; int64[] 0; int64[] -2; int64[] 1"}}},
      {"while, break and continue",
       R"(
i = 0
s = 0
while i < 10:
  i = i + 1
  if i % 2 == 0:
    continue
  if i > 7:
    break
  s = s + i
return (i, s))",
       {{"[1] 0", "int64[] 9; int64[] 16"}}},
      {"a return that is known",
       R"(
if torch.dim(x) == 1:
  return x + 1
else:
  return x + 2)",
       {{"[2] 1 2", "[2] 2 3"}, {"[1,2] 1 2", "[1,2] 3 4"}}},
      {"shadowed names",
       R"(
len = 5
for range in range(3):
  len = len + range
x = x + 1
return (len, x))",
       {{"[1] 1", "int64[] 8; [1] 2"}}},
      {"a function of the file has names of its own",
       R"(
y = 5
z = __torch__.f(y)
return (y, z))",
       {{"[1] 0", "int64[] 5; int64[] 11"}},
       "x: Tensor",
       "",
       "def f(x: int) -> int:\n  y = x + x\n  return y + 1\n"},
      {"recursion",
       R"(
return __torch__.f(10))",
       {{"[1] 0", "int64[] 55"}},
       "x: Tensor",
       "",
       "def f(n: int) -> int:\n  if n < 2:\n    r = n\n  else:\n    r = __torch__.f(n - 1) + "
       "__torch__.f(n - 2)\n  return r\n"},
      {"defaults and named arguments",
       R"(
return (__torch__.f(1), __torch__.f(1, 5), __torch__.f(b=1, a=2)))",
       {{"[1] 0", "int64[] 12; int64[] 15; int64[] 21"}},
       "x: Tensor",
       "",
       "def f(a: int, b: int=2) -> int:\n  return a * 10 + b\n"},
      {"enums",
       R"(
c = __torch__.Color.RED
d = __torch__.Color.GREEN
return (c == __torch__.Color.RED, c == d, c != d, d.value, c.name == "RED"))",
       {{"[1] 0", "bool[] 1; bool[] 0; bool[] 1; int64[] 2; bool[] 1"}},
       "x: Tensor",
       "",
       "class Color(Enum):\n  RED = 1\n  GREEN = 2\n"},
      {"named tuples",
       R"(
p = __torch__.Pair(x, 3)
q = __torch__.Pair(b=4, a=x + 1)
a, b = q
return (p.b, q.a, b, p[1]))",
       {{"[1] 1", "int64[] 3; [1] 2; int64[] 4; int64[] 3"}},
       "x: Tensor",
       "",
       "class Pair(NamedTuple):\n  a : Tensor\n  b : int\n"},
      {"objects",
       R"(
c = __torch__.Counter.__new__(__torch__.Counter)
_0 = (c).__init__(5, )
d = c
_1 = (d).add(3)
return (c.n, (c).add(1)))",
       {{"[1] 0", "int64[] 8; int64[] 9"}},
       "x: Tensor",
       "",
       R"(class Counter:
  n : int
  def __init__(self: __torch__.Counter, n: int) -> NoneType:
    self.n = n
    return None
  def add(self: __torch__.Counter, k: int) -> int:
    self.n = torch.add(self.n, k)
    return self.n
)"},
      {"optionals that are known",
       R"(
a = annotate(Optional[int], None)
b = annotate(Optional[int], 3)
if torch.__is__(a, None):
  r = 1
else:
  r = unchecked_cast(int, a)
if torch.__isnot__(b, None):
  s = unchecked_cast(int, b)
else:
  s = 0
return (r, s))",
       {{"[1] 0", "int64[] 1; int64[] 3"}}},
      {"assertions that hold",
       R"(
assert torch.len([1]) == 1, "no"
if False:
  ops.prim.RaiseException("never")
else:
  pass
return x)",
       {{"[1] 1", "[1] 1"}}},
      {"with and del",
       R"(
d = {"a": 1, "b": 2}
del d["a"]
l = [1, 2, 3]
del l[1]
g = __torch__.Guard.__new__(__torch__.Guard)
with g as k:
  y = x + k
return (torch.len(d), l, y))",
       {{"[1] 1", "int64[] 1; int64[] 1; int64[] 3; [1] 6"}},
       "x: Tensor",
       "",
       R"(class Guard:
  def __enter__(self: __torch__.Guard) -> int:
    return 5
  def __exit__(self: __torch__.Guard, a: Any, b: Any, c: Any) -> NoneType:
    return None
)"},
      {"unpacking",
       R"(
a, (b, c), = (1, (2, 3))
d, = [4]
return (a, b, c, d))",
       {{"[1] 0", "int64[] 1; int64[] 2; int64[] 3; int64[] 4"}}},
      {"zip and enumerate",
       R"(
s = 0
for i, v in enumerate([5, 6]):
  s = s + i * v
for a, b in zip([1, 2], [3, 4]):
  s = s + a * b
return s)",
       {{"[1] 0", "int64[] 17"}}},
      {"texts",
       R"(
s = "a,b,,c"
p = torch.split(s, ",")
return (torch.len(p), p[1] == "b", torch.join("-", p) == "a-b--c", torch.upper("ab") == "AB",
        torch.strip(" a ") == "a", torch.replace("aXbX", "X", "") == "ab", "b,"  in s,
        torch.find(s, "c"), s[0] == "a", s[-1:] == "c", "ab" * 2 == "abab"))",
       {{"[1] 0",
         "int64[] 4; bool[] 1; bool[] 1; bool[] 1; bool[] 1; bool[] 1; bool[] 1; int64[] 5; "
         "bool[] 1; bool[] 1; bool[] 1"}}},
      {"overflow wraps",
       R"(
return (9223372036854775807 + 1, -9223372036854775808 // -1))",
       {{"[1] 0", "int64[] -9223372036854775808; int64[] -9223372036854775808"}}},
  };
  for (const Row& row : rows) Check(row);
}

// --- What data decides ---

constexpr char kUp[] = "[2,3] 1 2 3 4 5 6", kDown[] = "[2,3] -1 -2 -3 -4 -5 -6";

TEST(TorchScript, Branches) {
  const Row rows[] = {
      {"a tensor",
       R"(
if bool(torch.gt(torch.sum(x), 0)):
  y = torch.add(x, 1)
else:
  y = torch.neg(x)
return y)",
       {{"[2] 1 2", "[2] 2 3"}, {"[2] -1 -2", "[2] 1 2"}}},
      {"numbers and texts that do not differ",
       R"(
c = bool(x.sum() > 0)
if c:
  n = 1
  f = 2.5
  s = "same"
else:
  n = 2
  f = 0.5
  s = "same"
return (n, f, s == "same", n + 1))",
       {{"[2] 1 2", "int64[] 1; float64[] 2.5; bool[] 1; int64[] 2"},
        {"[2] -1 -2", "int64[] 2; float64[] 0.5; bool[] 1; int64[] 3"}}},
      {"tuples and lists",
       R"(
if bool(x.sum() > 0):
  t = (x, 1)
  l = [x, x + 1]
else:
  t = (x * 2, 2)
  l = [x * 3, x]
return (t, l))",
       {{"[1] 1", "[1] 1; int64[] 1; [1] 1; [1] 2"},
        {"[1] -1", "[1] -2; int64[] 2; [1] -3; [1] -1"}}},
      {"lists of other lengths",
       R"(
l = [x]
if bool(x.sum() > 0):
  torch.append(l, x + 1)
return (torch.len(l), torch.cat(l)))",
       {{"[1] 1", "int64[] 2; [2] 1 2"}, {"[1] -1", "int64[] 1; [1] -1"}}},
      {"lists of numbers of other lengths",
       R"(
l = [5]
if bool(x.sum() > 0):
  torch.append(l, 6)
torch.append(l, 7)
return (torch.len(l), torch.tensor(l)))",
       {{"[1] 1", "int64[] 3; int64[3] 5 6 7"}, {"[1] -1", "int64[] 2; int64[2] 5 7"}}},
      {"an item of a list",
       R"(
l = [1, 2, 3]
m = l
if bool(x.sum() > 0):
  m[1] = 9
return l)",
       {{"[1] 1", "int64[] 1; int64[] 9; int64[] 3"},
        {"[1] -1", "int64[] 1; int64[] 2; int64[] 3"}}},
      {"an attribute of an object",
       R"(
c = __torch__.Box.__new__(__torch__.Box)
c.v = x
c.n = 1
d = c
if bool(x.sum() > 0):
  d.v = x + 10
else:
  c.n = 5
return (c.v, d.n))",
       {{"[1] 1", "[1] 11; int64[] 1"}, {"[1] -1", "[1] -1; int64[] 5"}},
       "x: Tensor",
       "",
       "class Box:\n  v : Tensor\n  n : int\n"},
      {"a value of a dict",
       R"(
d = {"a": x, "b": x + 1}
if bool(x.sum() > 0):
  d["a"] = x * 5
else:
  d["b"] = x * 7
return d)",
       {{"[1] 1", "[1] 5; [1] 2"}, {"[1] -1", "[1] -1; [1] -7"}}},
      {"an optional",
       R"(
y = annotate(Optional[Tensor], None)
if bool(x.sum() > 0):
  y = x + 1
if torch.__is__(y, None):
  r = x * 3
else:
  r = unchecked_cast(Tensor, y)
return r)",
       {{"[2] 1 2", "[2] 2 3"}, {"[2] -1 -2", "[2] -3 -6"}}},
      {"an optional number",
       R"(
n = annotate(Optional[int], 4)
if bool(x.sum() > 0):
  n = None
if torch.__isnot__(n, None):
  r = unchecked_cast(int, n) + 1
else:
  r = -1
return r)",
       {{"[2] 1 2", "int64[] -1"}, {"[2] -1 -2", "int64[] 5"}}},
      {"what is not set yet",
       R"(
if bool(x.sum() > 0):
  done, r = True, x + 1
else:
  done, r = False, uninitialized(Tensor)
if done:
  out = r
else:
  out = x * 2
return out)",
       {{"[2] 1 2", "[2] 2 3"}, {"[2] -1 -2", "[2] -2 -4"}}},
      {"a number that is not set yet",
       R"(
if bool(x.sum() > 0):
  n = 5
else:
  n = uninitialized(int)
if bool(x.sum() > 0):
  m = n
else:
  m = 1
return m)",
       {{"[2] 1 2", "int64[] 5"}, {"[2] -1 -2", "int64[] 1"}}},
      {"one branch raises",
       R"(
if bool(x.sum() > 0):
  y = x + 1
else:
  ops.prim.RaiseException("negative")
  y = uninitialized(Tensor)
return y)",
       {{"[2] 1 2", "[2] 2 3"}}},
      {"an assertion about data",
       R"(
assert bool(x.sum() > 0)
return x + 1)",
       {{"[2] 1 2", "[2] 2 3"}}},
      {"branches return",
       R"(
if bool(x.sum() > 0):
  return x + 1
else:
  return x - 1)",
       {{"[1] 1", "[1] 2"}, {"[1] -1", "[1] -2"}}},
      {"one in the other",
       R"(
y = x
if bool(x.sum() > 0):
  if bool(x.sum() > 10):
    y = x + 100
  else:
    y = x + 10
else:
  if bool(x.sum() < -10):
    y = x - 100
return y)",
       {{"[1] 1", "[1] 11"}, {"[1] 11", "[1] 111"}, {"[1] -1", "[1] -1"}, {"[1] -11", "[1] -111"}}},
      {"a conditional expression",
       R"(
c = bool(x.sum() > 0)
y = x + 1 if c else x * 2
n = (1 if c else 2) + (3 if not c else 4)
return (y, n))",
       {{"[1] 1", "[1] 2; int64[] 5"}, {"[1] -1", "[1] -2; int64[] 5"}}},
      {"and, or, not of data",
       R"(
a = bool(x.sum() > 0)
b = bool(x.sum() > 10)
return (a and not b, a or b, not a, a == b, (a and b) != a))",
       {{"[1] 1", "bool[] 1; bool[] 1; bool[] 0; bool[] 0; bool[] 1"},
        {"[1] 11", "bool[] 0; bool[] 1; bool[] 0; bool[] 1; bool[] 0"},
        {"[1] -1", "bool[] 0; bool[] 0; bool[] 1; bool[] 1; bool[] 0"}}},
      {"numbers of tensors",
       R"(
n = int(x[0])
f = float(x[1])
m = torch.item(x[0] * 2)
return (n // 2, n % 2, f / 2, m, n - 1, -n, max(n, 3), min(n, 3), n == 3, f > 2.))",
       {{"[2] 7 2.5",
         "int64[] 3; int64[] 1; float64[] 1.25; float64[] 14; int64[] 6; int64[] -7; int64[] 7; "
         "int64[] 3; bool[] 0; bool[] 1"},
        {"[2] -7 1.5",
         "int64[] -4; int64[] 1; float64[] 0.75; float64[] -14; int64[] -8; int64[] 7; int64[] 3; "
         "int64[] -7; bool[] 0; bool[] 0"}}},
      {"tolist",
       R"(
l = annotate(List[int], x.tolist())
return (l[0] + l[-1], torch.len(l), sum(l)))",
       {{"int64[3] 1 2 4", "int64[] 5; int64[] 3; int64[] 7"}}},
      {"the flags of a loop that was left",
       R"(
r = x
done = False
for i in range(3):
  if not done:
    if bool(r.sum() > 5):
      done = True
    else:
      r = r + 1
return r)",
       {{"[1] 1", "[1] 4"}, {"[1] 4", "[1] 6"}, {"[1] 9", "[1] 9"}}},
  };
  for (const Row& row : rows) Check(row);
}

TEST(TorchScript, Loops) {
  const Row rows[] = {
      {"a number of rounds that data says",
       R"(
n = int(x[0])
y = x
for i in range(n):
  y = y * 2 + i
return y)",
       {{"[2] 3 1", "[2] 28 12"}, {"[2] 0 1", "[2] 0 1"}, {"[2] -2 1", "[2] -2 1"}}},
      {"while",
       R"(
y = x
k = 0
while bool(y.sum() < 20):
  y = y * 2
  k = k + 1
return (y, k))",
       {{"[1] 3", "[1] 24; int64[] 3"}, {"[1] 30", "[1] 30; int64[] 0"}}},
      {"a condition that data decides after some rounds",
       R"(
i = 0
y = x
go = True
while go:
  y = y + 1
  i = i + 1
  if i > 2:
    go = bool(y.sum() < 10)
return (y, i))",
       {{"[1] 0", "[1] 10; int64[] 10"}, {"[1] 20", "[1] 23; int64[] 3"}}},
      {"one in the other, with lists",
       R"(
n = int(x[0])
l = [0, 100]
t = [x, x]
for i in range(n):
  for j in range(2):
    l[j] = l[j] + i + 1
    t[j] = t[j] + j
return (l, t))",
       {{"[1] 3", "int64[] 6; int64[] 106; [1] 3; [1] 6"},
        {"[1] 0", "int64[] 0; int64[] 100; [1] 0; [1] 0"}}},
      {"both numbers are data",
       R"(
n = int(x[0])
s = 0
for i in range(n):
  for j in range(i):
    s = s + i * j
return s)",
       {{"[1] 4", "int64[] 11"}, {"[1] 1", "int64[] 0"}}},
      {"lists that grow",
       R"(
n = int(x[0])
l = annotate(List[Tensor], [])
k = annotate(List[int], [])
for i in range(n):
  torch.append(l, x + i)
  torch.append(k, i * i)
return (torch.len(l), torch.stack(l), torch.tensor(k)))",
       {{"[1] 3", "int64[] 3; [3,1] 3 4 5; int64[3] 0 1 4"}}},
      {"steps",
       R"(
n = int(x[0])
a = 0
for i in range(n, 0, -2):
  a = a * 10 + i
b = 0
for i in range(1, n, 2):
  b = b * 10 + i
return (a, b))",
       {{"[1] 5", "int64[] 531; int64[] 13"},
        {"[1] 4", "int64[] 42; int64[] 13"},
        {"[1] 0", "int64[] 0; int64[] 0"}}},
      {"a branch in a loop",
       R"(
n = int(x[0])
s = 0
for i in range(n):
  if i % 2 == 0:
    s = s + i
  else:
    s = s - 1
return s)",
       {{"[1] 5", "int64[] 4"}}},
      {"a tuple is carried",
       R"(
n = int(x[0])
t = (x, 1)
for i in range(n):
  t = (t[0] + 1, t[1] * 2)
return t)",
       {{"[1] 3", "[1] 6; int64[] 8"}, {"[1] 0", "[1] 0; int64[] 1"}}},
      {"an object and a dict are changed",
       R"(
n = int(x[0])
c = __torch__.Box.__new__(__torch__.Box)
c.v = x
d = {"k": 1}
for i in range(n):
  c.v = c.v + 1
  d["k"] = d["k"] * 2
return (c.v, d["k"]))",
       {{"[1] 3", "[1] 6; int64[] 8"}, {"[1] 0", "[1] 0; int64[] 1"}},
       "x: Tensor",
       "",
       "class Box:\n  v : Tensor\n"},
      {"two swap",
       R"(
n = int(x[0])
a = x
b = x * 10
for i in range(n):
  t = a
  a = b
  b = t
return (a, b))",
       {{"[1] 1", "[1] 10; [1] 1"}, {"[1] 2", "[1] 2; [1] 20"}}},
      {"the condition sees what a round changed",
       R"(
l = [0]
y = x
while bool(y.sum() > 0):
  l[0] = l[0] + 1
  y = y - 1
return (l[0], y))",
       {{"[1] 3", "int64[] 3; [1] 0"}}},
      {"many rounds that are known",
       R"(
y = x
for i in range(10000):
  y = y + 1
return y)",
       {{"[1] 1", "[1] 10001"}}},
      {"many known rounds, whose lists grow",
       R"(
l = annotate(List[int], [])
for i in range(1000):
  torch.append(l, i)
return (torch.len(l), l[999]))",
       {{"[1] 1", "int64[] 1000; int64[] 999"}}},
      {"the sum of a range",
       R"(
s = 0
for i in range(100000):
  s = s + i
return s)",
       {{"[1] 1", "int64[] 4999950000"}}},
      {"an empty list",
       R"(
s = x
for t in annotate(List[Tensor], []):
  s = s + t
return s)",
       {{"[1] 1", "[1] 1"}}},
      {"rows of a tensor",
       R"(
s = torch.zeros_like(x[0])
for r in torch.unbind(x):
  s = s * 2 + r
return s)",
       {{"[3,1] 1 2 3", "[1] 11"}}},
  };
  for (const Row& row : rows) Check(row);
}

TEST(TorchScript, SymbolicSizes) {
  const Row rows[] = {
      {"a size",
       R"(
n = torch.size(x, 0)
return (n, n * 2, torch.reshape(x, [n // 2, 2]), torch.len(x)))",
       {{"[4] 1 2 3 4", "int64[] 4; int64[] 8; [2,2] 1 2 3 4; int64[] 4"}},
       "x: Tensor",
       "n"},
      {"rounds",
       R"(
y = torch.zeros([], dtype=6)
for i in range(torch.size(x, 0)):
  y = y * 2 + x[i]
return y)",
       {{"[4] 1 2 3 4", "[] 26"}, {"[1] 5", "[] 5"}},
       "x: Tensor",
       "n"},
      {"a branch",
       R"(
if torch.size(x, 0) > 2:
  y = x[0:2]
else:
  y = x + 1
return y)",
       {{"[4] 1 2 3 4", "[2] 1 2"}, {"[1] 5", "[1] 6"}},
       "x: Tensor",
       "n"},
      {"equal names are equal sizes",
       R"(
assert torch.size(x, 0) == torch.size(y, 0)
if torch.size(x, 0) == torch.size(y, 0):
  r = 1
else:
  r = 2
return (r, torch.numel(x), torch.dim(x)))",
       {{"[2,3] 1 2 3 4 5 6; [2] 0 0", "int64[] 1; int64[] 6; int64[] 2"}},
       "x: Tensor, y: Tensor",
       "n,m;n"},
      {"negative sizes are counted from the back",
       R"(
return (torch.size(x, -1), torch.size(x)[-2], x.shape[0]))",
       {{"[2,3] 1 2 3 4 5 6", "int64[] 3; int64[] 2; int64[] 2"}},
       "x: Tensor",
       "n,m"},
      {"numbers are inputs",
       R"(
y = x
for i in range(n):
  y = y + f
if flag:
  y = y * 2
return y)",
       {{"[1] 1; int64[] 3; float64[] 0.5; bool[] 1", "[1] 5"},
        {"[1] 1; int64[] 0; float64[] 0.5; bool[] 0", "[1] 1"}},
       "x: Tensor, n: int, f: float, flag: bool"},
  };
  for (const Row& row : rows) Check(row);
}

// --- Memory: the same as a program that writes to nothing ---

struct MemoryRow {
  std::string name, body, plain;
  bool may_refuse = false;  // where it cannot be known what shares memory
};

TEST(TorchScript, WritesToMemory) {
  const std::string head =
      "a = torch.clone(x)\nc = bool(torch.gt(torch.sum(x), 0))\n"
      "n = int(torch.abs(x[0][0])) + 1\n";
  const MemoryRow rows[] = {
      {"through a view, in one branch", R"(
v = a[0]
if c:
  v.add_(10)
return (a, v))",
       R"(
if c:
  d = 10
else:
  d = 0
return (torch.stack([x[0] + d, x[1]]), x[0] + d))"},
      {"other views in both branches", R"(
if c:
  _0 = a[0].fill_(5)
else:
  _1 = a[1].mul_(2)
return a)",
       R"(
if c:
  r = torch.stack([torch.full_like(x[0], 5), x[1]])
else:
  r = torch.stack([x[0], x[1] * 2])
return r)"},
      {"views of views", R"(
v = a.t()
w = v[1]
w.add_(1)
if c:
  v[0].zero_()
return (a, v, w))",
       R"(
k = torch.select(x, 1, 1) + 1
if c:
  f = torch.zeros_like(torch.select(x, 1, 0))
else:
  f = torch.select(x, 1, 0)
r = torch.stack([f, k, torch.select(x, 1, 2)], 1)
return (r, r.t(), k))"},
      {"the base, with views read later", R"(
v = a[1]
w = v[1:]
if c:
  a.add_(1)
else:
  a.mul_(3)
return (v, w))",
       R"(
if c:
  r = x + 1
else:
  r = x * 3
return (r[1], r[1][1:]))"},
      {"before, in and after a branch", R"(
v = a[0]
v.add_(1)
if c:
  v.mul_(2)
v.sub_(3)
return (a, v))",
       R"(
k = x[0] + 1
if c:
  k = k * 2
return (torch.stack([k - 3, x[1]]), k - 3))"},
      {"two names", R"(
b = a
if c:
  b.add_(1)
d = b
d.mul_(2)
return (a, b, d))",
       R"(
r = x
if c:
  r = x + 1
r = r * 2
return (r, r, r))"},
      {"a name becomes another tensor", R"(
b = a
if c:
  b = b + 1
return (a, b))",
       R"(
b = x
if c:
  b = x + 1
return (x, b))"},
      {"a list holds it", R"(
l = [a, x]
if c:
  l[0].add_(1)
l[0].mul_(2)
return (a, l[0], l[1]))",
       R"(
r = x
if c:
  r = x + 1
return (r * 2, r * 2, x))"},
      {"a list gets another", R"(
l = [a]
m = l
if c:
  m[0] = a + 1
return (l[0], a))",
       R"(
r = x
if c:
  r = x + 1
return (r, x))"},
      {"a dict and a tuple hold it", R"(
d = {"k": a}
t = (a[0], a)
if c:
  d["k"].add_(1)
else:
  t[0].add_(5)
return (a, d["k"], t[0]))",
       R"(
if c:
  r = x + 1
else:
  r = torch.stack([x[0] + 5, x[1]])
return (r, r, r[0]))"},
      {"branches in branches", R"(
v = a[0]
if c:
  if bool(x.sum() > 100):
    v.add_(1)
  else:
    v.add_(2)
else:
  v.add_(3)
return a)",
       R"(
d = 3
if c:
  d = 2
return torch.stack([x[0] + d, x[1]]))"},
      {"a view that a branch makes, read only", R"(
if c:
  v = a[0]
else:
  v = a[1]
return (v + 1, a))",
       R"(
if c:
  v = x[0]
else:
  v = x[1]
return (v + 1, x))"},
      {"a view that a branch makes is written", R"(
if c:
  v = a[0]
else:
  v = a[1]
v.add_(1)
return (v, a))",
       R"(
if c:
  r = torch.stack([x[0] + 1, x[1]])
  v = r[0]
else:
  r = torch.stack([x[0], x[1] + 1])
  v = r[1]
return (v, r))",
       true},
      {"the base of such a view is written", R"(
if c:
  v = a[0]
else:
  v = a[1]
a.add_(1)
return (v, a))",
       R"(
if c:
  v = x[0] + 1
else:
  v = x[1] + 1
return (v, x + 1))",
       true},
      {"both branches give two names to one new tensor", R"(
if c:
  p = a + 1
  q = p
else:
  p = a + 2
  q = p
p.mul_(2)
return (p, q))",
       R"(
if c:
  p = x + 1
else:
  p = x + 2
return (p * 2, p * 2))",
       true},
      {"both branches give a new tensor and its view", R"(
if c:
  p = a + 1
  q = p[0]
else:
  p = a + 2
  q = p[0]
p.mul_(2)
q.add_(1)
return (p, q))",
       R"(
if c:
  p = x + 1
else:
  p = x + 2
p = p * 2
q = p[0] + 1
return (torch.stack([q, p[1]]), q))",
       true},
      {"one branch gives two names to one new tensor", R"(
if c:
  p = a + 1
  q = p
else:
  p = a + 2
  q = a + 3
p.mul_(2)
return (p, q))",
       R"(
if c:
  p = (x + 1) * 2
  q = p
else:
  p = (x + 2) * 2
  q = x + 3
return (p, q))",
       true},
      {"both branches give two names to one new list", R"(
if c:
  p = [1]
  q = p
else:
  p = [2]
  q = p
torch.append(p, 3)
return (a, torch.len(p), torch.len(q), q[0]))",
       R"(
if c:
  k = 1
else:
  k = 2
return (x, 2, 2, k))",
       true},
      {"a list is the old one in one branch", R"(
p = [1, 2]
q = p
if c:
  p = [3, 4]
p[0] = 5
return (a, q, p))",
       R"(
if c:
  q, p = [1, 2], [5, 4]
else:
  q, p = [5, 2], [5, 2]
return (x, q, p))",
       true},
      {"a view, written in the rounds of a loop", R"(
v = a[0]
for i in range(n):
  v.add_(1)
return (a, v))",
       R"(
k = x[0]
for i in range(n):
  k = k + 1
return (torch.stack([k, x[1]]), k))"},
      {"views that rounds make", R"(
for i in range(n):
  _0 = a[0].add_(a[1])
return a)",
       R"(
k = x[0]
for i in range(n):
  k = k + x[1]
return torch.stack([k, x[1]]))"},
      {"rounds write the base and read a view", R"(
v = a[0]
s = torch.zeros_like(v)
for i in range(n):
  s = s + v
  a.add_(1)
return (s, v, a))",
       R"(
s = torch.zeros_like(x[0])
k = x
for i in range(n):
  s = s + k[0]
  k = k + 1
return (s, k[0], k))"},
      {"a place that the round says", R"(
b = torch.zeros([8, 3], dtype=6)
for i in range(n):
  b[i] = x[0] + i
return b)",
       R"(
b = torch.zeros([8, 3], dtype=6)
for i in range(n):
  r = torch.reshape(x[0] + i, [1, 3])
  b = torch.cat([b[0:i], r, b[i + 1:8]])
return b)"},
      {"the first round writes to another tensor than the later ones", R"(
b = a
for i in range(n):
  b.add_(1)
  b = b * 1
return (a, b))",
       R"(
return (x + 1, x + n))",
       true},
      {"rounds leave a view, which is written afterwards", R"(
v = x[0] + 0
for i in range(n):
  v = a[0]
v.add_(1)
return (a, v))",
       R"(
return (torch.stack([x[0] + 1, x[1]]), x[0] + 1))",
       true},
      {"rounds leave two names of one tensor", R"(
p = x + 0
q = x + 0
for i in range(n):
  p = x + i
  q = p
p.add_(1)
return (p, q))",
       R"(
return (x + n, x + n))",
       true},
      {"two names swap, and one is written", R"(
p = x + 0
q = x * 2
b = p
for i in range(n):
  t = p
  p = q
  q = t
  p.add_(1)
return (p, q, b))",
       R"(
p = x + 0
q = x * 2
b = p
w = True
for i in range(n):
  t = p
  p = q + 1
  q = t
  w = not w
if w:
  b = p
else:
  b = q
return (p, q, b))",
       true},
      {"a loop in a branch", R"(
v = a[0]
if c:
  for i in range(n):
    v.mul_(2)
return a)",
       R"(
k = x[0]
if c:
  for i in range(n):
    k = k * 2
return torch.stack([k, x[1]]))"},
      {"a branch in a loop", R"(
v = a[0]
w = torch.select(a, 1, 0)
for i in range(n):
  if bool(v.sum() > 3):
    w.sub_(1)
  else:
    v.add_(2)
return (a, v, w))",
       R"(
k = x
for i in range(n):
  if bool(k[0].sum() > 3):
    k = torch.cat([torch.slice(k, 1, 0, 1) - 1, torch.slice(k, 1, 1)], 1)
  else:
    k = torch.stack([k[0] + 2, k[1]])
return (k, k[0], torch.select(k, 1, 0)))"},
      {"a function writes to its argument", R"(
def f(t: Tensor) -> Tensor:
  return t.add_(1)
b = __torch__.g(a[0])
if c:
  b = __torch__.g(a[1])
return (a, b + 0))",
       R"(
p = x[0] + 1
q = x[1]
b = p
if c:
  q = x[1] + 1
  b = q
return (torch.stack([p, q]), b))"},
      {"an input is written", R"(
x.add_(1)
v = x[0]
if c:
  v.mul_(2)
return (x, v))",
       R"(
y = x + 1
k = y[0]
if c:
  k = k * 2
return (torch.stack([k, y[1]]), k))"},
      {"shapes in place", R"(
b = a.view([6])
b.unsqueeze_(0)
b.add_(1)
if c:
  b.squeeze_(0)
  b.add_(1)
return a)",
       R"(
r = x + 1
if c:
  r = r + 1
return r)"},
      {"into a part by a mask", R"(
a[torch.gt(a, 2)] = 0
v = a[1]
if c:
  v[0] = 7
return a)",
       R"(
r = torch.where(torch.gt(x, 2), torch.zeros_like(x), x)
k = r[1]
if c:
  k = torch.cat([torch.full_like(k[0:1], 7), k[1:]])
return torch.stack([r[0], k]))"},
  };
  for (const MemoryRow& row : rows) {
    const auto archive = [&](const std::string& body) {
      return ScriptArchive({{"__torch__.py", ScriptModule(StrCat(head, body), "x: Tensor",
                                                          "def g(t: Tensor) -> Tensor:\n  return "
                                                          "t.add_(1)\n")}});
    };
    for (const char* input : {kUp, kDown}) {
      const std::string want = RunScript(archive(row.plain), input);
      ASSERT_NE(want.substr(0, 5), "error") << row.name << ": " << want;
      const std::string got = RunScript(archive(row.body), input);
      if (row.may_refuse && got.starts_with("error: ") && !got.starts_with("error: evaluation")) {
        continue;
      }
      EXPECT_EQ(got, want) << row.name << " of " << input << "\n" << row.body;
    }
  }
}

// --- The archive ---

TEST(TorchScript, AttributesOfTheModule) {
  ScriptPickle pickle;
  const std::string w = pickle.Tensor("[2] 10 20"), b = pickle.Tensor("[2] 1 2");
  const std::string code = R"(class Sub(Module):
  b : Tensor
  def forward(self: __torch__.Sub, x: Tensor) -> Tensor:
    return torch.add(x, self.b)
class M(Module):
  w : Tensor
  n : int
  l : List[int]
  d : Dict[str, float]
  t : Tuple[int, str]
  o : Optional[int]
  sub : __torch__.Sub
  scale : Final[int] = 3
  def forward(self: __torch__.M, x: Tensor) -> Tuple[Tensor, int, int, float, bool, bool, int]:
    y = (self.sub).forward(torch.mul(x, self.w), )
    return (y, self.n, self.l[1], self.d["k"], self.t[1] == "s", self.o is None, self.scale)
)";
  const std::string archive = ScriptArchive(
      {{"__torch__.py", code}},
      {{"w", w},
       {"n", ScriptPickle::Int(7)},
       {"l", ScriptPickle::Ints({4, 5})},
       {"d", ScriptPickle::Dict({{ScriptPickle::Text("k"), ScriptPickle::Float(0.5)}})},
       {"t", ScriptPickle::Tuple({ScriptPickle::Int(1), ScriptPickle::Text("s")})},
       {"o", ScriptPickle::None()},
       {"sub", ScriptPickle::Object("Sub", {{"b", b}})}},
      pickle);
  EXPECT_EQ(RunScript(archive, "[2] 1 2"),
            "[2] 11 42; int64[] 7; int64[] 5; float64[] 0.5; bool[] 1; bool[] 1; int64[] 3");
}

TEST(TorchScript, ConstantsAndFiles) {
  ScriptPickle pickle;
  const std::string archive = ScriptArchive(
      {{"__torch__/a/b.py", "def f(x: Tensor, n: int) -> Tensor:\n  return torch.mul(x, n)\n"},
       {"__torch__.py", ScriptModule("return __torch__.a.b.f(x, CONSTANTS.c1)")}},
      {}, pickle, {ScriptPickle::Int(2), ScriptPickle::Int(3)});
  EXPECT_EQ(RunScript(archive, "[2] 1 2"), "[2] 3 6");
}

// --- What is refused ---

struct ErrorRow {
  std::string name, body, says;
  std::string parameters = "x: Tensor", shapes{}, before{};
};

TEST(TorchScript, Refuses) {
  std::string deep = "return x", longer = "return ";
  for (int i = 0; i < 300; ++i) deep += ")", longer += "(x + ";
  std::string nested;
  for (int i = 0; i < 250; ++i) nested += std::string(static_cast<size_t>(i), ' ') + "if True:\n";
  const ErrorRow rows[] = {
      {"a text", "ops.prim.RaiseException(torch.format(\"{} {} {}\", 1, 2.5, \"a\"))", "1 2.5 a"},
      {"floats in texts",
       "ops.prim.RaiseException(torch.format(\"{} {} {} {}\", 1., 0.1, 1e20, -2.5))",
       "1.0 0.1 1e+20 -2.5"},
      {"values in texts",
       "ops.prim.RaiseException(torch.format(\"{} {} {} {{}}\", None, True, [1, 2], ))",
       "None True [1, 2] {}"},
      {"texts by %", "ops.prim.RaiseException(ops.aten.percentFormat(\"%d of %s\", 3, \"b\"))",
       "3 of b"},
      {"an operator that needs a rank", "return torch.squeeze(x)",
       "needs operands of known rank; option 'shapes' of the inputs may give it", "x: Tensor", "?"},
      {"a number with more after it", "return int(\"12abc\")", "'12abc' is no number"},
      {"a space after a number", "return int(\"12 \")", "'12 ' is no number"},
      {"underscores in a number", "return int(\"1_000\")", "'1_000' is no number"},
      {"a float with more after it", "return float(\"1.5f\")", "'1.5f' is no number"},
      {"unknown operators, all at once", "y = torch.foo_bar(x)\nreturn y", "aten::foo_bar"},
      {"an attribute that does not exist", "return self.nothing", "has no attribute 'nothing'"},
      {"a method that does not exist", "return (self).nothing(x)", "nothing"},
      {"a name that does not exist", "return nothing", "nothing"},
      {"too many arguments", "return __torch__.f(x, x)", "f takes 1 arguments, not 2", "x: Tensor",
       "", "def f(a: Tensor) -> Tensor:\n  return a\n"},
      {"too few arguments", "return __torch__.f()", "argument 'a' of f is missing", "x: Tensor", "",
       "def f(a: Tensor) -> Tensor:\n  return a\n"},
      {"a named argument that does not exist", "return __torch__.f(x, b=x)", "has no argument 'b'",
       "x: Tensor", "", "def f(a: Tensor) -> Tensor:\n  return a\n"},
      {"arguments of the wrong kinds", "return torch.add(x, \"a\")", "no overload of aten::add"},
      {"a class that is missing", "return __torch__.a.Gone.__new__(__torch__.a.Gone)",
       "__torch__.a.Gone"},
      {"a list index out of range", "l = [1]\nreturn l[1]", "out of range"},
      {"a key that is not there", "d = {\"a\": 1}\nreturn d[\"b\"]", "b"},
      {"an assertion that fails", "assert 1 == 2, \"they differ\"\nreturn x", "they differ"},
      {"a division by zero", "return 1 // 0", "division by zero"},
      {"values that data decides",
       "if bool(x.sum() > 0):\n  s = \"a\"\nelse:\n  s = \"b\"\n"
       "ops.prim.RaiseException(s)",
       "data decides"},
      {"kinds that data decides", "if bool(x.sum() > 0):\n  s = 1\nelse:\n  s = x\nreturn s",
       "data decides"},
      {"dims that are not known", "return torch.size(x, 0)", "number of dims of 'x' is not known",
       "x: Tensor", "?"},
      {"loops that data leaves",
       "for i in range(3):\n  if bool(x.sum() > 0):\n    break\n  x = x + 1\nreturn x",
       "a branch that data decides leaves the loop"},
      {"no end", "while True:\n  pass\nreturn x", "steps"},
      {"no end that computes", "y = x\nwhile True:\n  y = y + 1\nreturn y", ""},
      {"recursion without end", "return __torch__.f(x)", "nested more than", "x: Tensor", "",
       "def f(a: Tensor) -> Tensor:\n  return __torch__.f(a)\n"},
      {"recursion that branches", "return __torch__.f(30, x)", "", "x: Tensor", "",
       "def f(n: int, a: Tensor) -> Tensor:\n  if n > 0:\n    b = __torch__.f(n - 1, a)\n    c = "
       "__torch__.f(n - 1, b)\n  else:\n    c = a + 1\n  return c\n"},
      {"a huge list", "l = [0] * 1000000000\nreturn x", "more than"},
      {"lists of huge lists",
       "l = annotate(List[List[int]], [])\nfor i in range(100000):\n  torch.append(l, [0] * "
       "1000000)\nreturn x",
       ""},
      {"a list that doubles", "l = [0]\nfor i in range(100):\n  l = l + l\nreturn x", "more than"},
      {"a text that doubles", "s = \"ab\"\nfor i in range(100):\n  s = s + s\nreturn x",
       "more than"},
      {"many huge texts",
       "l = annotate(List[str], [])\nfor i in range(100000):\n  torch.append(l, \"a\" * "
       "1000000)\nreturn x",
       ""},
      {"a huge range", "for i in range(1000000000000000000):\n  pass\nreturn x", ""},
      {"a huge range that computes",
       "y = x\nfor i in range(1000000000000000000):\n  y = y + i\nreturn y + \"a\"", ""},
      {"a list of a huge range", "return torch.len([i for i in range(1000000000)])", "more than"},
      {"a list that holds itself",
       "l = annotate(List[int], [])\ntorch.append(l, l)\n"
       "ops.prim.RaiseException(str(l))",
       ""},
      {"lists in lists in lists",
       "l = [0, 0]\nfor i in range(60):\n  l = [l, l]\nops.prim.RaiseException(str(l))", ""},
      {"lists in lists, compared",
       "l = [0, 0]\nfor i in range(60):\n  l = [l] * 1000\nm = [0, 0]\nfor i in range(60):\n  m = "
       "[m] * 1000\nif l == m:\n  pass\nreturn \"no\"",
       ""},
      {"lists in lists, very deep",
       "l = annotate(List[int], [])\nfor i in range(100000):\n  l = [l]\nt = ((), )\nfor i in "
       "range(100000):\n  t = (t, )\nreturn \"no\"",
       "is 'no'"},
      {"a view that a loop carries, of a tensor that is written afterwards",
       "a = x + 1\nv = a\nfor i in range(int(x[0])):\n  v = v[0:1]\na.add_(1)\nreturn v",
       "share the memory"},
      {"a view that a loop makes, of a tensor that is written afterwards",
       "a = x + 1\nv = x + 7\nfor i in range(int(x[0])):\n  v = a[0:1]\na.add_(1)\nreturn v",
       "share the memory"},
      {"views of views, very deep",
       "a = x + 1\nv = a\nfor i in range(5000):\n  v = v[0:1]\na.add_(1)\nreturn (v, \"no\")",
       "share the memory"},
      {"lists in lists, given", "l = [0] * 1000\nfor i in range(10):\n  l = [l] * 1000\nreturn l",
       ""},
      {"lists in lists, chosen",
       "if bool(x.sum() > 0):\n  l = [0] * 1000\n  for i in range(10):\n    l = [l] * 1000\nelse:\n"
       "  l = [1] * 1000\n  for i in range(10):\n    l = [l] * 1000\nreturn (\"no\", x)",
       ""},
      {"lists in lists, as a tensor",
       "l = annotate(List[int], [])\nfor i in range(10):\n  l = [l] * 1000\nreturn "
       "(torch.tensor(l), \"no\")",
       ""},
      {"branches that raise, in each other", "return __torch__.f(100, x)", "", "x: Tensor", "",
       "def f(n: int, a: Tensor) -> Tensor:\n  if bool(a.sum() > n):\n    b = __torch__.f(n - 1, "
       "a)\n  else:\n    ops.prim.RaiseException(\"no\")\n    b = a\n  return b\n"},
      {"loops in loops",
       "n = int(x[0])\ns = 0\n"
       "for a in range(n):\n for b in range(n):\n  for c in range(n):\n   for d in range(n):\n"
       "    for e in range(n):\n     for f in range(n):\n      for g in range(n):\n"
       "       for h in range(n):\n        for i in range(n):\n         for j in range(n):\n"
       "          for k in range(n):\n           s = s + 1\nreturn (\"no\", s)",
       ""},
      {"a shift that is too wide", "return 1 << 100", "__lshift__"},
      {"deep nesting", longer + deep, "nested"},
      {"deep blocks", nested + std::string(250, ' ') + "y = x\nreturn x", "nested"},
      {"a huge tensor", "y = torch.zeros([1000000000, 1000000000])\nreturn y + \"a\"", ""},
      {"a huge expanded tensor", "y = torch.ones([1000000, 1000000])\nreturn torch.len(y.tolist())",
       ""},
  };
  for (const ErrorRow& row : rows) {
    const std::string code = ScriptModule(row.body, row.parameters, row.before);
    const auto start = std::chrono::steady_clock::now();
    const std::string got = RunScript(ScriptArchive({{"__torch__.py", code}}), "[1] 1", row.shapes);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_EQ(got.substr(0, 7), "error: ") << row.name << ": " << got;
    EXPECT_NE(got.find(row.says), std::string::npos) << row.name << ": " << got;
    EXPECT_LT(seconds, 10) << row.name;
    if (std::getenv("X2IR_VERBOSE")) {
      fprintf(stderr, "%-40s %6.2f s  %s\n", row.name.c_str(), seconds, got.substr(0, 150).c_str());
    }
  }
}

}  // namespace
}  // namespace x2ir
