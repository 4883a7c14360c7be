// Bytecode of the lite interpreter as code: instructions, control, names of attributes, and what is
// said about bytecode that is broken.
#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/formats/torch/bytecode.h"
#include "x2ir/formats/torch/script.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::torch_script {
namespace {

// Values of a pickle, made one by one.
class Values {
 public:
  using Items = std::vector<const PickleValue*>;
  PickleValue* Make(PickleValue::Kind kind) {
    PickleValue* value = &values_.emplace_back();
    value->kind = kind;
    return value;
  }
  const PickleValue* Int(int64_t number) {
    PickleValue* value = Make(PickleValue::kInt);
    value->number = number;
    return value;
  }
  const PickleValue* Bool(bool number) {
    PickleValue* value = Make(PickleValue::kBool);
    value->number = number;
    return value;
  }
  const PickleValue* Float(double real) {
    PickleValue* value = Make(PickleValue::kFloat);
    value->real = real;
    return value;
  }
  const PickleValue* Text(std::string_view text) {
    PickleValue* value = Make(PickleValue::kString);
    value->text = texts_.emplace_back(text);
    return value;
  }
  const PickleValue* Of(PickleValue::Kind kind, Items items) {
    PickleValue* value = Make(kind);
    value->items = std::move(items);
    return value;
  }
  const PickleValue* Tuple(Items items) { return Of(PickleValue::kTuple, std::move(items)); }
  const PickleValue* Object(std::string_view name, const PickleValue* state) {
    PickleValue* value = Make(PickleValue::kObject);
    value->text = texts_.emplace_back(name);
    value->state = state;
    return value;
  }
  const PickleValue* Pair(std::string_view name, const PickleValue* value) {
    return Tuple({Text(name), value});
  }

 private:
  std::deque<PickleValue> values_;
  std::deque<std::string> texts_;
};

// A function by texts: "LOAD 1", "aten::add.Tensor 3" (a name and the number of arguments).
struct Code {
  std::string name = "__torch__.m.f";
  std::vector<std::string> instructions, operators;
  Values::Items constants;
  std::vector<std::string> types;
  std::vector<std::string> arguments = {"x Tensor"};  // names and types
  bool schema = true;
};

const PickleValue* Function(Values& values, const Code& code) {
  Values::Items instructions, operators, types, arguments;
  for (const std::string& text : code.instructions) {
    std::istringstream words(text);
    std::string op;
    int64_t x = 0, n = 0;
    words >> op >> x >> n;
    instructions.push_back(values.Tuple({values.Text(op), values.Int(x), values.Int(n)}));
  }
  for (const std::string& text : code.operators) {
    std::istringstream words(text);
    std::string name;
    int64_t count = -1;
    words >> name >> count;
    const size_t dot = std::min(name.find('.'), name.size());
    const std::string overload = dot < name.size() ? name.substr(dot + 1) : "";
    Values::Items row = {values.Text(name.substr(0, dot)), values.Text(overload)};
    if (!words.fail()) row.push_back(values.Int(count));
    operators.push_back(values.Tuple(row));
  }
  for (const std::string& type : code.types) types.push_back(values.Text(type));
  for (const std::string& text : code.arguments) {
    const size_t space = text.find(' ');
    arguments.push_back(
        values.Tuple({values.Pair("name", values.Text(text.substr(0, space))),
                      values.Pair("type", values.Text(text.substr(space + 1))),
                      values.Pair("default_value", values.Make(PickleValue::kNone))}));
  }
  Values::Items function = {values.Text(code.name),
                            values.Tuple({values.Pair("instructions", values.Tuple(instructions)),
                                          values.Pair("operators", values.Tuple(operators)),
                                          values.Pair("constants", values.Tuple(code.constants)),
                                          values.Pair("types", values.Tuple(types)),
                                          values.Pair("register_size", values.Int(9))})};
  if (code.schema) {
    const PickleValue* returned = values.Tuple(
        {values.Pair("name", values.Text("")), values.Pair("type", values.Text("Tensor")),
         values.Pair("default_value", values.Make(PickleValue::kNone))});
    function.push_back(values.Tuple({values.Pair("arguments", values.Tuple(arguments)),
                                     values.Pair("returns", values.Tuple({returned}))}));
  }
  return values.Tuple(function);
}

// The code of some functions, all files after each other; it can be parsed.
std::string Written(Values& values, const std::vector<Code>& codes,
                    const PickleValue* data = nullptr, BytecodeText* result = nullptr) {
  Values::Items items = {values.Int(8)};
  for (const Code& code : codes) items.push_back(Function(values, code));
  auto text = WriteBytecodeAsScript(*values.Tuple(items), data);
  if (!text.ok()) return text.status().ToString();
  std::string all;
  for (const BytecodeText::File& file : text->files) {
    const auto parsed = ParseScript(file.path, file.text.view);
    if (!parsed.ok()) return StrCat(parsed.status().ToString(), "\n", file.text.view);
    StrAppend(&all, text->files.size() > 1 ? StrCat("# ", file.path, "\n") : std::string(),
              file.text.view);
  }
  if (result) *result = *std::move(text);
  return all;
}

constexpr std::string_view kHead = "def f(x: Tensor) -> Tensor:\n";

TEST(TorchBytecodeTest, WritesOperatorsInTheirOrder) {
  Values v;
  Code code;
  code.constants = {v.Int(-3), v.Float(0.5), v.Text("a\"\n\xff"), v.Bool(true),
                    v.Make(PickleValue::kNone)};
  code.operators = {"aten::relu 1",           "aten::add.Tensor 3",    "aten::Int.Tensor 1",
                    "aten::size 1",           "aten::__getitem__.t 2", "quantized::add 2",
                    "aten::append.t 2",       "aten::extend.t 2",      "aten::max.dim 2",
                    "prim::TupleUnpack 1",    "aten::IntImplicit 1",   "aten::add_.Tensor 3",
                    "prim::unchecked_cast 1", "aten::format"};
  code.types = {"List[int]", "List[Optional[Tensor]]", "Dict[str, int]"};
  code.instructions = {"STORE 1",
                       "LOAD 1",
                       "OP 0",
                       "LOAD 1",
                       "LOADC 0",
                       "OP 1",
                       "STORE 2",
                       "LOAD 2",
                       "OP 2",
                       "STORE 3",
                       "LOAD 2",
                       "OP 3",
                       "LOADC 0",
                       "OP 4",
                       "LOAD 3",
                       "LIST_CONSTRUCT 0 2",
                       "STORE 4",
                       "LOAD 4",
                       "LOADC 0",
                       "OP 6",
                       "DROP",
                       "LOAD 4",
                       "LIST_CONSTRUCT 0 0",
                       "OP 7",
                       "LOAD 2",
                       "LOADC 0",
                       "OP 8",
                       "STOREN 5 2",
                       "LOAD 5",
                       "LOAD 6",
                       "TUPLE_CONSTRUCT 2",
                       "STORE 7",
                       "LOAD 7",
                       "OP 9",
                       "STOREN 8 2",
                       "LOAD 9",
                       "OP 10",
                       "DROP",
                       "LOAD 8",
                       "LOAD 5",
                       "LOADC 1",
                       "OP 11",
                       "STORE 10",
                       "LOADC 2",
                       "LOADC 3",
                       "LOADC 4",
                       "OPN 13 3",
                       "STORE 11",
                       "LOAD 11",
                       "LOAD 5",
                       "LIST_CONSTRUCT 1 1",
                       "DICT_CONSTRUCT 2 2",
                       "STORE 12",
                       "LOAD 12",
                       "LOAD 10",
                       "OP 12",
                       "OP 5",
                       "RET"};
  EXPECT_EQ(Written(v, {code}), StrCat(kHead, R"(  r1 = x
  t1 = torch.relu(r1)
  r2 = torch.add(t1, r1, alpha=-3)
  r3 = int(r2)
  t2 = torch.size(r2)
  t3 = t2[-3]
  r4 = [t3, r3]
  torch.append(r4, -3)
  torch.extend(r4, annotate(List[int], []))
  r5, r6, = torch.max(r2, -3)
  r7 = (r5, r6)
  r8, r9, = r7
  annotate(int, r9)
  r10 = torch.add_(r8, r5, alpha=0.5)
  r11 = torch.format("a\"\012\377", True, None)
  r12 = annotate(Dict[str, int], {r11: annotate(List[Optional[Tensor]], [r5])})
  t4 = ops.quantized.add(r12, r10)
  return t4
)"));
}

TEST(TorchBytecodeTest, WritesInstructionsOfTheirOwn) {
  Values v;
  Code code;
  code.arguments = {"x Tensor", "y Any"};
  code.constants = {v.Int(1), v.Text("message"), v.Text("unpack"), v.Int(0)};
  code.types = {"__torch__.A", "int", "str"};
  code.instructions = {"STOREN 1 2",
                       "LOAD 1",
                       "DIM",
                       "STORE 3",
                       "LOAD 1",
                       "DTYPE",
                       "STORE 4",
                       "LOAD 1",
                       "DEVICE",
                       "STORE 5",
                       "LOAD 1",
                       "IS_CUDA",
                       "__NOT__",
                       "STORE 6",
                       "LOAD 3",
                       "NUM_TO_TENSOR",
                       "STORE 7",
                       "LOAD 4",
                       "LOAD 5",
                       "__IS__",
                       "STORE 8",
                       "LOAD 6",
                       "LOAD 7",
                       "__ISNOT__",
                       "STORE 9",
                       "LOADC 1",
                       "LOAD 8",
                       "FORMAT 2",
                       "LOADC 0",
                       "WARN",
                       "LOAD 2",
                       "UNCHECKED_CAST",
                       "LIST_UNPACK 2",
                       "STOREN 10 2",
                       "LOAD 10",
                       "LIST_UNPACK 1",
                       "STORE 12",
                       "LOAD 12",
                       "TUPLE_SLICE 1 2",
                       "LOADC 0",
                       "TUPLE_INDEX",
                       "STORE 13",
                       "LOAD 11",
                       "LOAD 13",
                       "DICT_INDEX",
                       "STORE 14",
                       "LOAD 14",
                       "ISINSTANCE 1 2",
                       "STORE 15",
                       "LOAD 15",
                       "ISINSTANCE 1 1",
                       "STORE 16",
                       "LOAD 16",
                       "LOADC 0",
                       "LOADC 3",
                       "TO_LIST",
                       "STORE 17",
                       "LOAD 17",
                       "LOAD 9",
                       "INTERFACE_CALL 2 2",
                       "STORE 18",
                       "CREATE_OBJECT 0",
                       "STORE 19",
                       "LOAD 19",
                       "LOAD 18",
                       "SET_ATTR 3",
                       "UN_INITIALIZED",
                       "STORE 20",
                       "MOVE 20",
                       "DROPR 3",
                       "RET"};
  EXPECT_EQ(Written(v, {code}), R"(def f(x: Tensor, y: Any) -> Tensor:
  r1, r2 = x, y
  r3 = torch.dim(r1)
  r4 = ops.prim.dtype(r1)
  r5 = ops.prim.device(r1)
  t1 = ops.prim.is_cuda(r1)
  r6 = torch.__not__(t1)
  r7 = ops.prim.NumToTensor(r3)
  r8 = torch.__is__(r4, r5)
  r9 = torch.__isnot__(r6, r7)
  t2 = torch.format("message", r8)
  torch.warn(t2, 1)
  r10, r11, = r2
  r12, = r10
  t3 = r12[1:3]
  r13 = t3[1]
  r14 = r11[r13]
  r15 = isinstance(r14, (int, str))
  r16 = isinstance(r15, int)
  r17 = annotate(List[int], r16.tolist())
  r18 = r17.unpack(r9)
  r19 = __torch__.A.__new__(__torch__.A)
  r19._slot3 = r18
  r20 = uninitialized(Any)
  return r20
)");
}

TEST(TorchBytecodeTest, WritesBlocks) {
  Values v;
  Code code;
  code.constants = {v.Int(0), v.Int(std::numeric_limits<int64_t>::max()), v.Bool(true), v.Int(4)};
  code.operators = {"a::cond 1", "a::f 1", "a::g 2"};
  const auto body = [&](std::vector<std::string> instructions) {
    code.instructions = {"STORE 1"};
    code.instructions.insert(code.instructions.end(), instructions.begin(), instructions.end());
    code.instructions.push_back("RET");
    const std::string text = Written(v, {code});
    const std::string head = StrCat(kHead, "  r1 = x\n");
    return text.rfind(head, 0) == 0 ? text.substr(head.size()) : text;
  };
  // An if without results.
  EXPECT_EQ(body({"LOAD 1", "OP 0", "JF 5", "LOAD 1", "OP 1", "DROP", "JMP 1", "LOAD 1"}),
            R"(  t1 = ops.a.cond(r1)
  if t1:
    ops.a.f(r1)
  return r1
)");
  EXPECT_EQ(body({"LOAD 1", "JF 2", "JMP 4", "LOAD 1", "OP 1", "DROP", "LOAD 1"}),
            R"(  if r1:
    pass
  else:
    ops.a.f(r1)
  return r1
)");
  // One with a result, and one with two, of which one is in the other.
  EXPECT_EQ(body({"LOAD 1", "JF 4", "LOAD 1", "OP 1", "JMP 2", "LOADC 3", "STORE 2", "LOAD 2"}),
            R"(  if r1:
    t1 = ops.a.f(r1)
    t2 = t1
  else:
    t2 = 4
  r2 = t2
  return r2
)");
  EXPECT_EQ(body({"LOAD 1", "JF 7", "LOAD 1", "JF 3", "LOADC 0", "JMP 2", "LOADC 3", "LOAD 1",
                  "JMP 3", "LOADC 2", "LOADC 3", "STOREN 2 2", "LOAD 2", "LOAD 3", "OP 2"}),
            "UNIMPLEMENTED: function '__torch__.m.f': instruction 2 (JF 7 0): a jump that makes no "
            "blocks of an if");
  EXPECT_EQ(body({"LOAD 1", "JF 8", "LOAD 1", "JF 3", "LOADC 0", "JMP 2", "LOADC 3", "LOAD 1",
                  "JMP 3", "LOADC 2", "LOADC 3", "STOREN 2 2", "LOAD 2", "LOAD 3", "OP 2"}),
            R"(  if r1:
    if r1:
      t1 = 0
    else:
      t1 = 4
    t2, t3 = t1, r1
  else:
    t2, t3 = True, 4
  r2, r3 = t2, t3
  t4 = ops.a.g(r2, r3)
  return t4
)");
  // Loops: a number of rounds, a condition, both; with values that are handed on.
  EXPECT_EQ(body({"LOADC 0", "LOADC 3", "LOADC 2", "LOOP 7 2", "STORE 2", "LOAD 2", "OP 1", "DROP",
                  "LOADC 2", "JMP -6", "LOAD 1"}),
            R"(  for i1 in range(4):
    r2 = i1
    ops.a.f(r2)
  return r1
)");
  EXPECT_EQ(
      body({"LOADC 0", "LOADC 3", "LOADC 2", "LOOP 4 2", "DROP", "LOADC 2", "JMP -3", "LOAD 1"}),
      R"(  for i1 in range(4):
    pass
  return r1
)");
  EXPECT_EQ(body({"LOADC 0", "LOADC 1", "LOAD 1", "OP 0", "LOAD 1", "LOAD 1", "LOOP 8 4",
                  "STOREN 2 3", "DROPR 2", "LOAD 3", "OP 0", "LOAD 4", "LOAD 3", "JMP -7",
                  "STOREN 5 2", "LOAD 5", "LOAD 6", "OP 2"}),
            R"(  t1 = ops.a.cond(r1)
  s2, s3, c6 = r1, r1, t1
  while c6:
    r3, r4 = s2, s3
    t5 = ops.a.cond(r3)
    s2, s3, c6 = r4, r3, t5
  r5, r6 = s2, s3
  t7 = ops.a.g(r5, r6)
  return t7
)");
  EXPECT_EQ(body({"LOADC 0", "LOADC 3", "LOADC 2", "LOOP 5 2", "STORE 2", "LOAD 2", "OP 0",
                  "JMP -4", "LOAD 1"}),
            R"(  c3, i1 = True, 0
  while torch.__and__(c3, torch.lt(i1, 4)):
    r2 = i1
    t2 = ops.a.cond(r2)
    c3, i1 = t2, torch.add(i1, 1)
  return r1
)");
}

TEST(TorchBytecodeTest, NamesAttributesAsTheDataDoes) {
  Values v;
  const PickleValue* none = v.Make(PickleValue::kNone);
  const PickleValue* tensor = v.Make(PickleValue::kTensor);
  PickleValue* sizes = v.Make(PickleValue::kList);
  sizes->type = "List[int]";
  const PickleValue* first = v.Object(
      "__torch__.a.First", v.Of(PickleValue::kDict, {v.Text("weight"), tensor, v.Text("sizes"),
                                                     sizes, v.Text("rate"), v.Float(1)}));
  const PickleValue* packed = v.Object("__torch__.b.Packed", v.Tuple({tensor}));
  const PickleValue* data =
      v.Object("__torch__.Net",
               v.Of(PickleValue::kDict, {v.Text("0"), first, v.Text("training"), v.Bool(false),
                                         v.Text("packed"), packed, v.Text("bias"), none}));
  Code forward, setstate;
  forward.name = "__torch__.Net.forward";
  forward.arguments = {"self __torch__.Net", "x Tensor"};
  forward.operators = {"a::f 4"};
  forward.instructions = {"STOREN 1 2", "LOAD 1",     "GET_ATTR 0", "STORE 3", "LOAD 3",
                          "GET_ATTR 0", "LOAD 3",     "GET_ATTR 1", "LOAD 1",  "GET_ATTR 2",
                          "GET_ATTR 5", "LOAD 1",     "GET_ATTR 3", "DROP",    "LOAD 1",
                          "LOAD 2",     "SET_ATTR 3", "LOAD 2",     "OP 0",    "RET"};
  setstate.name = "__torch__.b.Packed.__setstate__";
  setstate.arguments = {"self __torch__.b.Packed", "state Tuple[Tensor]"};
  setstate.constants = {v.Int(0), none};
  setstate.instructions = {"STOREN 1 2",  "MOVE 1",     "MOVE 2",  "LOADC 0",
                           "TUPLE_INDEX", "SET_ATTR 1", "LOADC 1", "RET"};
  EXPECT_EQ(Written(v, {forward, setstate}, data), R"(# __torch__.py
class Net(Module):
  __annotations__["0"] = __torch__.a.First
  training : bool
  packed : __torch__.b.Packed
  bias : NoneType
  def forward(self: __torch__.Net, x: Tensor) -> Tensor:
    r1, r2 = self, x
    r3 = getattr(r1, "0")
    t1 = r3.weight
    t2 = r3.sizes
    t3 = r1.packed
    t4 = t3._slot5
    r1.bias = r2
    t5 = ops.a.f(t1, t2, t4, r2)
    return t5
# __torch__/a.py
class First(Module):
  weight : Tensor
  sizes : List[int]
  rate : float
# __torch__/b.py
class Packed(Module):
  _slot0 : Any
  _slot1 : Any
  def __setstate__(self: __torch__.b.Packed, state: Tuple[Tensor]) -> Tensor:
    r1, r2 = self, state
    t1 = r2[0]
    r1._slot1 = t1
    return None
)");
}

TEST(TorchBytecodeTest, KeepsConstantsThatAreNotLiterals) {
  Values v;
  Code code;
  const PickleValue* tensor = v.Make(PickleValue::kTensor);
  const PickleValue* empty = v.Make(PickleValue::kList);
  code.constants = {tensor,
                    v.Of(PickleValue::kList, {v.Int(1), v.Int(2)}),
                    empty,
                    v.Text(std::string(1000, 'a')),
                    v.Float(1e300 * 1e10),
                    v.Float(3)};
  code.operators = {"a::f 7"};
  code.instructions = {"STORE 1", "LOADC 0", "LOADC 1", "LOADC 2", "LOADC 3",
                       "LOADC 0", "LOADC 4", "LOADC 5", "OP 0",    "RET"};
  BytecodeText result;
  EXPECT_EQ(
      Written(v, {code}, nullptr, &result),
      StrCat(
          kHead,
          R"(  t1 = ops.a.f(CONSTANTS.c0, [1, 2], CONSTANTS.c1, CONSTANTS.c2, CONSTANTS.c0, float("inf"), 3.)
  return t1
)"));
  ASSERT_EQ(result.constants.size(), 3u);
  EXPECT_EQ(result.constants[0], tensor);
  EXPECT_EQ(result.constants[1], empty);
  EXPECT_EQ(result.constants[2], code.constants[3]);
}

TEST(TorchBytecodeTest, ReadsFilesThatSayLess) {
  Values v;
  Code code;
  // No signatures, and no numbers of arguments: those of the operators are known.
  code.name = "__torch__.Net.forward";
  code.schema = false;
  code.constants = {v.Int(1)};
  code.operators = {"aten::add.Tensor"};
  code.instructions = {"STOREN 1 2", "DROPR 1", "LOAD 2", "LOAD 2", "LOADC 0", "OP 0", "RET"};
  EXPECT_EQ(Written(v, {code}), R"(class Net(Module):
  def forward(self: __torch__.Net, x: Any) -> Any:
    r2 = x
    t1 = torch.add(r2, r2, alpha=1)
    return t1
)");
  code.operators = {"my::op"};
  EXPECT_EQ(Written(v, {code}),
            "UNIMPLEMENTED: function '__torch__.Net.forward': instruction 5 (OP 0 0): the file "
            "does not say how many arguments operator 'my::op' has");
}

TEST(TorchBytecodeTest, SaysWhatIsWrong) {
  struct Case {
    std::vector<std::string> instructions;
    std::string_view message;
  };
  const Case kCases[] = {
      {{"DROP", "DROP"}, "instruction 1 (DROP 0 0): it takes a value that does not exist"},
      {{"LOAD 7"}, "the register holds no value"},
      {{"LOADC 9"}, "there are 1 constants"},
      {{"LOADC -1"}, "there are 1 constants"},
      {{"OP 5"}, "there are 2 operators"},
      {{"OP 0"}, "it takes 2 values, but there are 1"},
      {{"OP 1"}, "operator 'aten::add.out' writes to an operand"},
      {{"STORE 1", "LOAD 1", "STORE 1"}, "register 1 is stored to in two places"},
      {{"STOREN 1 -1"}, "it takes -1 values"},
      {{"STOREN 1 65535"}, "it takes 65535 values, but there are 1"},
      {{"LIST_CONSTRUCT 0 70000"}, "it takes 70000 values"},
      {{"LIST_UNPACK 2"}, "several values that are not stored at once"},
      {{"LIST_UNPACK 2", "STOREN 2 3"}, "it gives 2 values, but 3 are stored"},
      {{"JF 1"}, "it jumps out of its block"},
      {{"JF 100"}, "it jumps out of its block"},
      {{"JF -1"}, "it jumps out of its block"},
      {{"JF 2", "LOADC 0", "LOADC 0"}, "a jump that makes no blocks of an if"},
      {{"JF 2", "JMP 9"}, "a jump that makes no blocks of an if"},
      {{"JF 2", "JMP 0"}, "a jump that makes no blocks of an if"},
      {{"JF 3", "LOADC 0", "JMP 1"}, "one block leaves 1 values, the other 0"},
      {{"LOADC 0", "JF 3", "DROP", "JMP 1"}, "it takes a value that does not exist"},
      {{"JMP 1"}, "a jump that belongs to no if or loop"},
      {{"LOOP 1 2"}, "it jumps out of its block"},
      {{"LOOP 3 2", "DROP", "DROP"}, "a jump that makes no block of a loop"},
      {{"LOOP 2 1", "JMP -1"}, "it has no condition"},
      {{"LOOP 2 2", "JMP -1"}, "it takes 3 values, but there are 1"},
      {{"LOADC 0", "LOADC 0", "LOOP 2 2", "JMP -1"}, "a loop that does not count from 0"},
      {{"LOADC 0", "LOADC 0", "LOADC 0", "LOOP 3 2", "DROP", "JMP -2"},
       "its block leaves 0 values, not 1"},
      {{"RET", "LOADC 0"}, "a return that is not the last instruction"},
      {{"CREATE_OBJECT 0"}, "it makes an object of no class"},
      {{"LOADC 0", "LOADC 0", "LOADC 0", "DICT_CONSTRUCT 0 3"}, "it makes a dict of 3 values"},
      {{"ISINSTANCE 0 5"}, "there are 1 types"},
      {{"LOADC 0", "INTERFACE_CALL 0 1"}, "it calls a method without a name"},
      {{"LIST_CONSTRUCT 0 0", "LIST_CONSTRUCT 0 0", "TO_LIST"},
       "a list of a type that is not a constant"},
      {{"GET_ATTR -1"}, "it has no attribute of this number"},
      {{"LOADC 0"}, "it does not end with a return"},
      {{"ENTER"}, "the instruction is not read"},
      {{"\x1b[31m"}, "instruction 0 (\\x1b[31m 0 0)"},
      {{"TUPLE_SLICE 9223372036854775807 1"}, "instruction 0 has the number 9223372036854775807"},
      {{"LOADC 0", "LOOP 2 9223372036854775807"}, "instruction 1 has the number"},
      {{"GET_ATTR -2147483649"}, "which takes more than 32 bits"},
  };
  for (const Case& row : kCases) {
    Values v;
    Code code;
    code.constants = {v.Int(0)};
    code.operators = {"a::g 2", "aten::add.out 1"};
    code.types = {"List[\"a\"]"};
    code.instructions = row.instructions;
    const std::string said = Written(v, {code});
    EXPECT_NE(said.find(row.message), std::string::npos) << row.message << "\n" << said;
    EXPECT_NE(said.find("function '__torch__.m.f': "), std::string::npos) << said;
  }
  Values v;
  Code code, other;
  code.instructions = {"RET"};
  EXPECT_NE(Written(v, {code, code}).find("it is defined twice"), std::string::npos);
  other = code;
  other.name = "f";
  EXPECT_NE(Written(v, {other}).find("it has no name of a module"), std::string::npos);
  other.name = "__torch__.a b";
  EXPECT_NE(Written(v, {other}).find("it has no name of a module"), std::string::npos);
  other = code;
  other.arguments = {"a:b Tensor"};
  EXPECT_NE(Written(v, {other}).find("has no name of its own"), std::string::npos);
  other.arguments = {"a Tensor", "a Tensor"};
  EXPECT_NE(Written(v, {other}).find("has no name of its own"), std::string::npos);
  for (const PickleValue* broken : {v.Int(3), v.Tuple({v.Text("a")}), v.Tuple({v.Int(4), v.Int(5)}),
                                    v.Tuple({v.Tuple({v.Text("__torch__.a"), v.Tuple({})})})}) {
    EXPECT_EQ(WriteBytecodeAsScript(*broken, nullptr).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(TorchBytecodeTest, AnyInstructionsAreWrittenOrRefused) {
  const std::vector<std::string> kOps = {
      "STORE",   "STOREN", "LOAD", "MOVE",        "LOADC",          "DROP",
      "JF",      "JMP",    "LOOP", "OP",          "LIST_CONSTRUCT", "TUPLE_CONSTRUCT",
      "RET",     "OPN",    "DIM",  "GET_ATTR",    "SET_ATTR",       "DICT_CONSTRUCT",
      "TO_LIST", "FORMAT", "WARN", "LIST_UNPACK", "INTERFACE_CALL", "RAISE_EXCEPTION"};
  std::mt19937 random(5);
  for (int i = 0; i < 3000; ++i) {
    Values v;
    Code code;
    code.constants = {v.Int(0), v.Bool(true), v.Text("name")};
    code.operators = {"a::f 1", "a::g 2", "prim::TupleUnpack"};
    code.types = {"List[int]"};
    code.instructions = {"STORE 1"};
    for (unsigned k = random() % 20; k > 0; --k) {
      code.instructions.push_back(StrCat(kOps[random() % kOps.size()], " ",
                                         static_cast<int>(random() % 9) - 3, " ", random() % 4));
    }
    const std::string said = Written(v, {code});
    EXPECT_EQ(said.find("code.py"), std::string::npos) << said;
  }
  // Blocks in blocks.
  Values v;
  Code code;
  code.instructions = {"STORE 1"};
  constexpr int kDepth = 1000;
  for (int i = 0; i < kDepth; ++i) {
    code.instructions.push_back("LOAD 1");
    code.instructions.push_back(StrCat("JF ", 2 + 3 * (kDepth - 1 - i)));
  }
  for (int i = 0; i < kDepth; ++i) code.instructions.push_back("JMP 1");
  EXPECT_NE(Written(v, {code}).find("nested more than"), std::string::npos);
}

}  // namespace
}  // namespace x2ir::torch_script
