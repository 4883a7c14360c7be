// Pickles made by hand, byte by byte: the values that they are, and what is refused. Archives of
// torch.jit.save: what lies where.
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/formats/torch_zip_util.h"
#include "x2ir/formats/io/zip.h"
#include "x2ir/formats/torch/pickle.h"
#include "x2ir/formats/torch/script.h"
#include "x2ir/formats/torch/torch.h"
#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

using torch_zip::Entry;
using torch_zip::Floats;
using torch_zip::Number;
using torch_zip::Zip;

// --- Pickles ---

std::string Text(std::string_view text) { return StrCat("X", Number(text.size(), 4), text); }
std::string Global(std::string_view module, std::string_view name) {
  return StrCat("c", module, "\n", name, "\n");
}
std::string Tuple(std::initializer_list<std::string> items) {
  std::string all = "(";
  for (const std::string& item : items) all += item;
  return all + "t";
}
std::string Int(int value) { return StrCat("J", Number(static_cast<uint32_t>(value), 4)); }
std::string Call(std::string_view module, std::string_view name,
                 std::initializer_list<std::string> arguments) {
  return StrCat(Global(module, name), Tuple(arguments), "R");
}
std::string Storage(std::string_view type, std::string_view key = "0") {
  return Tuple({Text("storage"), Global("torch", type), Text(key), Text("cpu"), Int(4)}) + "Q";
}
// Two elements from the second one.
std::string TensorOf(std::string_view storage, std::string_view more = "") {
  return Global("torch._utils", "_rebuild_tensor_v2") +
         Tuple({std::string(storage), Int(1), Tuple({Int(2)}), Tuple({Int(1)}), "\x89",
                Call("collections", "OrderedDict", {}), std::string(more)}) +
         "R";
}
std::string Quantized(const std::string& quantizer, std::string_view type = "QInt8Storage") {
  return Call("torch._utils", "_rebuild_qtensor",
              {Storage(type), Int(0), Tuple({Int(2), Int(3)}), Tuple({Int(3), Int(1)}), quantizer,
               "\x89", Call("collections", "OrderedDict", {})});
}
std::string Pickled(std::string_view value) { return StrCat("\x80\x02", value, "."); }

ZipArchive Open(const std::string& bytes) {
  auto owner = std::make_shared<const std::string>(bytes);
  const auto* data = reinterpret_cast<const std::byte*>(owner->data());
  auto zip = ZipArchive::Open(Blob::InMemory({data, owner->size()}, owner, "zip"));
  EXPECT_TRUE(zip.ok()) << zip.status();
  return *std::move(zip);
}

// A pickle, with the archive that it views.
struct Read {
  ZipArchive zip;
  absl::StatusOr<Pickle> pickle;

  explicit Read(const std::string& bytes)
      : zip(Open(Zip().Make({{"p.pkl", bytes}, {"s/0", Floats({1, 2, 3, 4})}}))),
        pickle(Pickle::Read(zip, *zip.Find("p.pkl"), "s/")) {}
};

// A value as text. Values may form cycles, so it goes to some depth only.
std::string ToText(const PickleValue& value, int depth = 5) {
  if (depth == 0) return "...";
  const auto items = [&] {
    std::string text;
    for (const PickleValue* item : value.items) {
      StrAppend(&text, text.empty() ? "" : " ", ToText(*item, depth - 1));
    }
    return text;
  };
  const auto numbers = [](const TorchTensor& tensor) {
    const auto made = tensor.Make();
    if (!made.ok()) return std::string(made.status().message());
    std::string text = made->type().ToString();
    for (int64_t i = 0; i < made->num_elements(); ++i) {
      StrAppend(&text, i ? ", " : "{", made->AsDouble(i));
    }
    return text + "}";
  };
  const std::string tag = value.type.empty() ? "" : StrCat(":", value.type);
  switch (value.kind) {
    case PickleValue::kNone: return "None";
    case PickleValue::kBool: return value.number ? "True" : "False";
    case PickleValue::kInt: return StrCat(value.number);
    case PickleValue::kFloat: return StrCat(value.real, "f");
    case PickleValue::kComplex: return StrCat(value.real, "+", value.imaginary, "j");
    case PickleValue::kString: return StrCat("'", value.text, "'");
    case PickleValue::kTuple: return StrCat("(", items(), ")");
    case PickleValue::kList: return StrCat("[", items(), "]", tag);
    case PickleValue::kDict: return StrCat("{", items(), "}", tag);
    case PickleValue::kObject:
      return StrCat("<", value.text, value.items.empty() ? "" : " ", items(), ">",
                    value.state ? ToText(*value.state, depth - 1) : "");
    case PickleValue::kGlobal: return StrCat("global ", value.text);
    case PickleValue::kDevice: return StrCat("device ", value.text);
    case PickleValue::kStorage: return StrCat("storage ", Name(value.tensor.dtype));
    case PickleValue::kTensor: break;
  }
  if (!value.quantizer) return numbers(value.tensor);
  const PickleValue::Quantizer& quantizer = *value.quantizer;
  std::string text = StrCat("quantized ", Name(value.tensor.dtype), " by ");
  if (quantizer.axis < 0) return StrCat(text, quantizer.scale, ", ", quantizer.zero_point);
  return StrCat(text, numbers(quantizer.scales), ", ", numbers(quantizer.zero_points), " of axis ",
                quantizer.axis);
}

TEST(TorchPickle, Values) {
  const std::string floats = TensorOf(Storage("FloatStorage"));
  const std::pair<std::string, std::string> rows[] = {
      {"N", "None"},
      {"\x88", "True"},
      {"\x89", "False"},
      {"K\xff", "255"},
      {"M\x34\x12", "4660"},
      {Int(-5), "-5"},
      {"\x8a\x01\xfe", "-2"},
      {"\x8a\x08" + Number(uint64_t{1} << 40, 8), "1099511627776"},
      {"\x8b" + Number(3, 4) + "\xff\xff\x7f", "8388607"},
      {StrCat("\x8a", Number(0, 1)), "0"},
      {"G\x3f\xf8" + std::string(6, '\0'), "1.5f"},
      {"G\xff\xf0" + std::string(6, '\0'), "-inff"},
      {Text("a"), "'a'"},
      {"\x8c\x01"
       "a",
       "'a'"},
      {"U\x01"
       "a",
       "'a'"},
      {")", "()"},
      {"K\1\x85", "(1)"},
      {"K\1K\2\x86", "(1 2)"},
      {"K\1K\2K\3\x87", "(1 2 3)"},
      {"(K\1K\2K\3K\4t", "(1 2 3 4)"},
      {"](K\1K\2e", "[1 2]"},
      {"]K\1a", "[1]"},
      {"(K\1l", "[1]"},
      {"(K\1Nd", "{1 None}"},
      {"}(" + Text("a") + "K\1Nu", "?"},
      {"}(" + Text("a") + "K\1u", "{'a' 1}"},
      {"}" + Text("a") + "K\1s", "{'a' 1}"},
      {"K\7q\1"
       "h\1\x86",
       "(7 7)"},
      {"K\7r" + Number(1000, 4) + "j" + Number(1000, 4) + "\x86", "(7 7)"},
      {"K\7\x94" + std::string("h\0\x86", 3), "(7 7)"},
      {"](K\7q\1"
       "0h\1e",
       "[7]"},
      {"K\7(K\1"
       "1",
       "7"},
      {Call("collections", "OrderedDict", {}), "{}"},
      {Call("collections", "OrderedDict", {}) + "}b", "{}"},  // a state dict's metadata
      {Call("torch", "device", {Text("cpu")}), "device cpu"},
      {Call("torch", "device", {Text("cuda"), Int(1)}), "device cuda:1"},
      {Call("torch", "Size", {Tuple({Int(2), Int(3)})}), "(2 3)"},
      {Call("builtins", "complex", {Int(1), "G\x3f\xf8" + std::string(6, '\0')}), "1+1.5j"},
      {Global("torch", "per_tensor_affine"), "global torch.per_tensor_affine"},
      {Text("torch") + Text("float32") + "\x93", "global torch.float32"},
      {Call("torch.jit._pickle", "build_intlist", {"](K\1K\2e"}), "[1 2]:List[int]"},
      {Call("torch.jit._pickle", "build_doublelist", {"]"}), "[]:List[float]"},
      {Call("torch.jit._pickle", "build_boollist",
            {"]\x88"
             "a"}),
       "[True]:List[bool]"},
      {Call("torch.jit._pickle", "build_tensorlist", {"]"}), "[]:List[Tensor]"},
      {Call("torch.jit._pickle", "restore_type_tag", {"}", Text("Dict[str, int]")}),
       "{}:Dict[str, int]"},
      {Call("torch.jit._pickle", "restore_type_tag", {"](K\1e", Text("List[Optional[int]]")}),
       "[1]:List[Optional[int]]"},
      // Objects
      {Global("__torch__", "Net") + ")\x81", "<__torch__.Net>"},
      {Global("__torch__.a.b", "Net") + ")\x81}" + Text("training") + "\x88sb",
       "<__torch__.a.b.Net>{'training' True}"},
      {Global("__torch__", "Net") + ")\x81K\5b", "<__torch__.Net>5"},
      {Global("__torch__", "Color") + "K\1R", "<__torch__.Color 1>"},
      {Global("__torch__", "Color") + "K\1\x85R", "<__torch__.Color 1>"},
      // Tensors
      {Storage("FloatStorage"), "storage float32"},
      {floats, "float32[2]{2, 3}"},
      {TensorOf(Storage("FloatStorage"), "}"), "float32[2]{2, 3}"},  // no metadata
      {TensorOf(Storage("IntStorage")), "int32[2]{1.07374e+09, 1.07794e+09}"},
      {Call("torch._utils", "_rebuild_parameter", {floats, "\x88", "}"}), "float32[2]{2, 3}"},
      {Quantized(Tuple(
           {Global("torch", "per_tensor_affine"), "G\x3f\xe0" + std::string(6, '\0'), Int(3)})),
       "quantized int8 by 0.5, 3"},
      {Quantized(Tuple({Global("torch", "per_tensor_affine"), Int(2), Int(-3)}), "QUInt8Storage"),
       "quantized uint8 by 2, -3"},
      {Quantized(Tuple({Global("torch", "per_channel_affine"), floats, floats, Int(1)})),
       "quantized int8 by float32[2]{2, 3}, float32[2]{2, 3} of axis 1"},
      // Nothing is read of a storage without elements.
      {Tuple(
           {Text("storage"), Global("torch", "FloatStorage"), Text("none"), Text("cpu"), Int(0)}) +
           "Q",
       "storage float32"},
  };
  for (const auto& [value, want] : rows) {
    const Read read(Pickled(value));
    if (want == "?") {
      EXPECT_FALSE(read.pickle.ok()) << value;
      continue;
    }
    ASSERT_TRUE(read.pickle.ok()) << want << ": " << read.pickle.status();
    EXPECT_EQ(ToText(read.pickle->root()), want);
  }
}

TEST(TorchPickle, FindsTheLastValueOfAKey) {
  const Read read(Pickled("}(" + Text("a") + "K\1" + Text("b") + "K\2" + Text("a") + "K\3u"));
  ASSERT_TRUE(read.pickle.ok()) << read.pickle.status();
  EXPECT_EQ(ToText(*read.pickle->root().Find("a")), "3");
  EXPECT_EQ(ToText(*read.pickle->root().Find("b")), "2");
  EXPECT_EQ(read.pickle->root().Find("c"), nullptr);
  EXPECT_EQ(read.pickle->root().items[0]->Find("a"), nullptr);
}

// What is referred to twice is one object, also through itself.
TEST(TorchPickle, SharedValuesAndCycles) {
  const Read shared(Pickled("]q\1h\1\x86"));
  ASSERT_TRUE(shared.pickle.ok()) << shared.pickle.status();
  EXPECT_EQ(shared.pickle->root().items[0], shared.pickle->root().items[1]);
  const Read cycle(
      Pickled("]q\1h\1"
              "a"));
  ASSERT_TRUE(cycle.pickle.ok()) << cycle.pickle.status();
  EXPECT_EQ(cycle.pickle->root().items[0], &cycle.pickle->root());
  EXPECT_EQ(ToText(cycle.pickle->root()), "[[[[[...]]]]]");
  const Read object(Pickled(Global("__torch__", "A") + ")\x81q\1}" + Text("me") + "h\1sb"));
  ASSERT_TRUE(object.pickle.ok()) << object.pickle.status();
  EXPECT_EQ(object.pickle->root().state->Find("me"), &object.pickle->root());
  const Read storages(
      Pickled(Tuple({TensorOf(Storage("FloatStorage")), TensorOf(Storage("FloatStorage"))})));
  ASSERT_TRUE(storages.pickle.ok()) << storages.pickle.status();
  EXPECT_EQ(storages.pickle->root().items[0]->tensor.Identity(),
            storages.pickle->root().items[1]->tensor.Identity());
}

TEST(TorchPickle, Refuses) {
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "K\1";
  many += "t";
  const std::string storage = Storage("FloatStorage");
  struct Row {
    std::string pickle, says;
  };
  const Row rows[] = {
      {"", "cut off"},
      {"\x80", "cut off"},
      {"K", "cut off"},
      {"N", "cut off"},
      {"G\1\2", "cut off"},
      {"X\xff\xff\xff\xff", "cut off"},
      {"\x8d" + std::string(8, '\xff'), "cut off"},
      {"cos", "cut off"},
      {".", "ends with 0 values"},
      {"NN.", "ends with 2 values"},
      {"(.", "ends with 1 values"},
      {"0.", "takes a value that does not exist"},
      {"(0.", "takes a value that does not exist"},
      {"(\x85.", "takes a value that does not exist"},
      {"Nt.", "no mark"},
      {"h\7.", "refers to nothing"},
      {"j\7\0\0\0.", "cut off"},
      {"q\1.", "takes a value that does not exist"},
      {"NK\1"
       "a.",
       "changes a value of the wrong kind"},
      {"](K\1K\2u.", "changes a value of the wrong kind"},
      {"}(K\1u.", "a key without value"},
      {"K\1}b.", "changes a value of the wrong kind"},
      {"N)R.", "calls something that is not a function"},
      {Global("collections", "OrderedDict") + "NR.", "calls something that is not a function"},
      {"N)\x81.", "an object of something that is not a class"},
      {"N" + Text("a") + "\x93.", "name is not a text"},
      {Global("os", "system") + Text("ls") + "\x85R.",
       "the pickle calls os.system; only data is read"},
      {Text("os") + Text("system") + "\x93" + Text("ls") + "\x85R.", "calls os.system"},
      {Call("builtins", "eval", {Text("1")}) + ".", "calls builtins.eval"},
      {Call("collections", "OrderedDict", {"]"}) + ".", "calls collections.OrderedDict"},
      {Call("torch", "device", {Int(1)}) + ".", "calls torch.device"},
      {Call("torch.jit._pickle", "restore_type_tag", {Int(1), Text("List[int]")}) + ".",
       "calls torch.jit._pickle.restore_type_tag"},
      {Call("torch.jit._pickle", "build_intlist", {")"}) + ".",
       "calls torch.jit._pickle.build_intlist"},
      {Call("torch._utils", "_rebuild_sparse_tensor", {}) + ".", "a sparse tensor"},
      {"i.", "opcode 105"},
      {"\x8a\x09" + std::string(9, '\1') + ".", "a number of 9 bytes"},
      {"\x8b\xff\xff\xff\xff.", "a number of 4294967295 bytes"},
      {"c" + std::string(2000, 'a') + "\nb\n.", "a global with a name of 2001 bytes"},
      {"NQ.", "not a storage"},
      {Storage("QUInt4x2Storage") + ".", "a storage of torch.QUInt4x2Storage"},
      {Storage("FloatStorage", "1") + ".", "there is no storage 's/1'"},
      {TensorOf("N") + ".", "a broken tensor"},
      {Call("torch._utils", "_rebuild_tensor_v2", {storage}) + ".", "a broken tensor"},
      {Call("torch._utils", "_rebuild_tensor_v2", {storage, Int(0), many, many, "N", "N"}) + ".",
       "a broken tensor"},
      {Call("torch._utils", "_rebuild_tensor_v2",
            {storage, Int(0), Tuple({"\x88"}), Tuple({"\x88"}), "N", "N"}) +
           ".",
       "a broken tensor"},
      {TensorOf(storage, "}" + Text("conj") + "\x88s") + ".", "a tensor with metadata"},
      {Quantized("\x89") + ".", "a broken quantized tensor"},
      {Quantized(Tuple({Global("torch", "per_tensor_affine"), Int(1)})) + ".",
       "a broken quantized tensor"},
      {Quantized(Tuple(
           {Global("torch", "per_channel_affine"), TensorOf(storage), TensorOf(storage), Int(2)})) +
           ".",
       "a broken quantized tensor"},
      {Quantized(Tuple({Global("torch", "per_channel_affine_float_qparams")})) + ".",
       "a broken quantized tensor"},
  };
  for (const Row& row : rows) {
    const Read read(row.pickle);
    ASSERT_FALSE(read.pickle.ok()) << row.says;
    EXPECT_NE(read.pickle.status().ToString().find(row.says), std::string::npos)
        << row.says << ": " << read.pickle.status();
  }
}

// What takes few bytes of a pickle takes little memory.
TEST(TorchPickle, StaysSmall) {
  for (const char op : {'N', '(', ')'}) EXPECT_FALSE(Read(std::string(1000000, op)).pickle.ok());
  std::string deep = "N", calls = "((" + std::string(100000, 'N') + "tq\1";
  for (int i = 0; i < 100000; ++i) deep += "N\x86";
  EXPECT_TRUE(Read(deep + ".").pickle.ok());
  for (int i = 0; i < 1000; ++i) calls += Global("__torch__", "A") + "h\1R";
  for (const std::string& many :
       {std::string(1000000, ']'), std::string(1000000, '}'), calls, calls + "t."}) {
    const Read read(many);
    EXPECT_EQ(read.pickle.status().message(), "the pickle has too many values for its size");
  }
  // One name, often.
  std::string names = Text(std::string(1000, 'a')) + "q\1" + "0";
  for (int i = 0; i < 1000000; ++i)
    names +=
        "h\1h\1\x93"
        "0";
  EXPECT_TRUE(Read(names + "N.").pickle.ok());
}

TEST(TorchPickle, SurvivesChangedBytes) {
  std::mt19937 random(7);
  const std::string floats = TensorOf(Storage("FloatStorage"));
  const std::string seed = Pickled(Tuple(
      {Global("__torch__", "Net") + ")\x81}(" + Text("w") + floats + Text("q") +
           Quantized(Tuple({Global("torch", "per_channel_affine"), floats, floats, Int(1)})) + "ub",
       Call("torch.jit._pickle", "build_intlist", {"](K\1K\2e"}) + "q\1h\1",
       Call("torch", "device", {Text("cuda"), Int(1)})}));
  ASSERT_TRUE(Read(seed).pickle.ok()) << Read(seed).pickle.status();
  for (size_t cut = 0; cut < seed.size(); ++cut) {
    EXPECT_FALSE(Read(seed.substr(0, cut)).pickle.ok()) << cut;
  }
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = seed;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    const Read read(bytes);
    if (read.pickle.ok()) (void)ToText(read.pickle->root());
  }
}

// torch.save's pickles have tensors only.
TEST(TorchPickle, TorchSaveHoldsTensors) {
  const std::string floats = TensorOf(Storage("FloatStorage"));
  const auto read = [](const std::string& value) {
    ZipArchive zip =
        Open(Zip().Make({{"m/data.pkl", Pickled(value)}, {"m/data/0", Floats({1, 2, 3, 4})}}));
    return ReadTorchSave(zip);
  };
  const auto good = read("}(" + Text("w") + floats + Text("n") + "K\1K\1" + floats + "u");
  ASSERT_TRUE(good.ok()) << good.status();
  ASSERT_EQ(good->size(), 1);
  EXPECT_EQ(good->front().first, "w");
  const std::pair<std::string, std::string> rows[] = {
      {Global("torch.nn", "Linear") + ")\x81", "an object of torch.nn.Linear; only tensors are"},
      {Global("__torch__", "Color") + "K\1\x85R", "calls __torch__.Color; only tensors are"},
      {Call("os", "system", {Text("ls")}), "calls os.system; only tensors are read"},
      {Quantized(Tuple({Global("torch", "per_tensor_affine"), Int(1), Int(0)})),
       "a storage of torch.QInt8Storage"},
      {Quantized(Tuple({Global("torch", "per_tensor_affine"), Int(1), Int(0)}), "CharStorage"),
       "calls torch._utils._rebuild_qtensor; only tensors are read"},
      {"N", "neither a tensor nor a dict"},
  };
  for (const auto& [value, says] : rows) {
    const auto tensors = read(value);
    ASSERT_FALSE(tensors.ok()) << says;
    EXPECT_NE(tensors.status().ToString().find(says), std::string::npos) << tensors.status();
  }
}

// A file of torch.save is no program, but says what it is.
TEST(TorchPickle, TorchSaveIsNoProgram) {
  const std::string floats = TensorOf(Storage("FloatStorage"));
  const std::string module = Global("torch.nn.modules.linear", "Linear") + ")\x81}" +
                             Text("_modules") + Call("collections", "OrderedDict", {}) + "s" +
                             Text("_non_persistent_buffers_set") +
                             Call("__builtin__", "set", {"]"}) + "sb";
  const std::pair<std::string, std::string> rows[] = {
      {"}(" + Text("a") + floats + Text("b") + floats + "u",
       "a state_dict of 2 tensors): load them"},
      {"}(" + Text("a") + floats + Text("b") + floats + "u",
       "option 'weights_from' with the file that "
       "safetensors.torch.save_file(torch.load('weights.pt'), 'model.safetensors')"},
      {"}" + Text("model") + "}" + Text("a") + floats + "ss",
       "a state_dict of 1 tensor under the key 'model')"},
      {"}" + Text("model") + "}" + Text("a") + floats + "ss", "torch.load('weights.pt')['model']"},
      {module, "a pickled Python object of class torch.nn.modules.linear.Linear, which"},
      {module, "torch.jit.save(torch.jit.trace(model, inputs), 'model.pt')"},
      {"}" + Text("ema") + module + "s", "Linear under the key 'ema'"},
      {"K\1", "it holds weights, or pickled Python code"},
      {"i", "it holds weights, or pickled Python code"},
  };
  for (const auto& [value, says] : rows) {
    const std::string bytes =
        Zip().Make({{"m/data.pkl", Pickled(value)}, {"m/data/0", Floats({1, 2, 3, 4})}});
    const auto model = ReadTorch(Source::Bytes(bytes, {}, "m.pt"));
    ASSERT_FALSE(model.ok()) << says;
    EXPECT_NE(model.status().ToString().find(says), std::string::npos) << model.status();
  }
}

// --- Archives ---

using torch_script::HoldsScript;
using torch_script::OpenScript;
using torch_script::ParsedFile;
using torch_script::Program;

constexpr char kCode[] =
    "class Net(Module):\n"
    "  __parameters__ = []\n"
    "  __buffers__ = []\n"
    "  training : bool\n"
    "  def forward(self: __torch__.a.b.Net,\n"
    "    x: Tensor) -> Tensor:\n"
    "    return torch.relu(x)\n";

// ("FORMAT_WITH_STRING_TABLE", texts, rows)
std::string DebugPickle() {
  const auto list = [](std::string_view items) {
    return Call("torch.jit._pickle", "build_intlist", {StrCat("](", items, "e")});
  };
  const auto row = [](int offset, const std::string& source, int start) {
    return Tuple({Int(offset), Tuple({source, Int(start), Int(start + 1)}), Int(0)});
  };
  const std::string texts =
      Tuple({Text(""), Text("def f(x):\n"), Text("  y = x\n  return y\n"), Text("m.py")});
  const std::string source = Tuple({list("K\1K\2"), Int(3), Int(10)});
  const std::string none = Tuple({list(""), Int(0), Int(0)});
  return Pickled(Text("FORMAT_WITH_STRING_TABLE") + texts +
                 Tuple({row(0, none, 0), row(10, source, 0), row(20, source, 12),
                        row(30, source, 19), row(40, source, 1000)}) +
                 "\x87");
}
// (offset, range) with the texts inside.
std::string OlderDebugPickle() {
  const std::string source = Tuple({Text("a\nb\nc"), Text("old.py"), Int(7)});
  return Pickled(
      Tuple({Tuple({Int(5), Tuple({source, Int(4), Int(5)})}),
             Tuple({Int(9), Int(-1), Tuple({source, Int(0), Int(1)})}),
             Tuple({Int(12), Tuple({Tuple({Text(""), "N", Int(0)}), Int(0), Int(0)}), Int(3)})}));
}

std::vector<Entry> Script(std::string debug = DebugPickle()) {
  return {{"m/data.pkl", Pickled(Global("__torch__.a.b", "Net") + ")\x81}" + Text("w") +
                                 TensorOf(Storage("FloatStorage")) + "sb")},
          {"m/data/0", Floats({1, 2, 3, 4})},
          {"m/constants.pkl", Pickled(Tuple({TensorOf(Storage("FloatStorage")), Int(4)}))},
          {"m/constants/0", Floats({5, 6, 7, 8})},
          {"m/code/__torch__/a/b.py", kCode, true},
          {"m/code/__torch__/a/b.py.debug_pkl", std::move(debug)},
          {"m/code/__torch__/empty.py", ""},
          {"m/version", "3\n"},
          {"m/byteorder", "little"}};
}

TEST(TorchScriptArchive, Opens) {
  ZipArchive zip = Open(Zip().Make(Script()));
  EXPECT_TRUE(HoldsScript(zip));
  const auto opened = OpenScript(std::move(zip));
  ASSERT_TRUE(opened.ok()) << opened.status();
  const Program& program = **opened;
  EXPECT_EQ(program.version, 3);
  EXPECT_EQ(ToText(program.data->root()), "<__torch__.a.b.Net>{'w' float32[2]{2, 3}}");
  ASSERT_EQ(program.constant_values.size(), 2);
  EXPECT_EQ(ToText(*program.constant_values[0]), "float32[2]{6, 7}");
  EXPECT_EQ(program.files.size(), 2);
  const auto* net = program.FindClass("__torch__.a.b.Net");
  ASSERT_NE(net, nullptr);
  EXPECT_EQ(program.FindClass("__torch__.a.b.Other"), nullptr);
  EXPECT_EQ(program.FindClass("__torch__.Net"), nullptr);
  EXPECT_EQ(program.FindClass("Net"), nullptr);
  EXPECT_EQ(program.FindFunction("__torch__.a.b.Net"), nullptr);
  const auto* forward = net->Method("forward");
  ASSERT_NE(forward, nullptr);
  EXPECT_EQ(Program::QualifiedName(*forward), "__torch__.a.b.Net.forward");
}

TEST(TorchScriptArchive, ReadsDebugTables) {
  const auto place = [](const Program& program, uint32_t offset) {
    const auto at = program.PlaceOf(*program.by_path.at("__torch__/a/b.py"), offset);
    return StrCat(at.file, ":", at.line);
  };
  const auto opened = OpenScript(Open(Zip().Make(Script())));
  ASSERT_TRUE(opened.ok()) << opened.status();
  const std::pair<uint32_t, std::string_view> rows[] = {
      {0, ":0"},       {9, ":0"},       {10, "m.py:10"}, {19, "m.py:10"},
      {20, "m.py:11"}, {35, "m.py:12"}, {99, "m.py:13"},
  };
  for (const auto& [offset, want] : rows) EXPECT_EQ(place(**opened, offset), want) << offset;
  const auto older = OpenScript(Open(Zip().Make(Script(OlderDebugPickle()))));
  ASSERT_TRUE(older.ok()) << older.status();
  const std::pair<uint32_t, std::string_view> older_rows[] = {
      {0, ":0"}, {5, "old.py:9"}, {9, "old.py:7"}, {12, ":0"}};
  for (const auto& [offset, want] : older_rows) EXPECT_EQ(place(**older, offset), want) << offset;
  // Broken ones are as if there were none.
  const std::string source = Tuple({Text("a"), Text("b"), Int(1)});
  for (const std::string& broken :
       {std::string(), std::string("x"), Pickled("N"), Pickled(")"), Pickled("K\1\x85"),
        Pickled(Tuple({Tuple({Int(-1), Tuple({source, Int(0), Int(0)})})})),
        Pickled(Tuple({Tuple({Int(1), Tuple({source, Int(-4), Int(0)})})})),
        Pickled(Tuple({Tuple({Int(1), Tuple({"N", Int(0), Int(0)})})})),
        Pickled(Text("FORMAT_WITH_STRING_TABLE") + "NN\x87"),
        Pickled(Text("FORMAT_WITH_STRING_TABLE") + ")" +
                Tuple({Tuple(
                    {Int(0), Tuple({Tuple({"]K\7a", Int(7), Int(0)}), Int(0), Int(0)}), Int(0)})}) +
                "\x87")}) {
    const auto program = OpenScript(Open(Zip().Make(Script(broken))));
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_EQ(place(**program, 20), ":0");
    EXPECT_TRUE((*program)->debug.empty());
  }
}

TEST(TorchScriptArchive, Refuses) {
  const auto with = [](std::string_view name, std::string text) {
    std::vector<Entry> entries = Script();
    for (Entry& entry : entries) {
      if (entry.name == name) entry.text = text;
    }
    return entries;
  };
  const auto without = [](std::string_view name) {
    std::vector<Entry> entries = Script();
    std::erase_if(entries, [&](const Entry& entry) { return entry.name == name; });
    return entries;
  };
  struct Row {
    std::vector<Entry> entries;
    std::string says;
    bool holds = true;
  };
  const Row rows[] = {
      {with("m/byteorder", "big"), "byte order 'big'"},
      {with("m/version", "three"), "version is not a number"},
      {with("m/version", "3x"), "version is not a number"},
      {with("m/version", "99999999999999999999"), "version is not a number"},
      {without("m/version"), "does not say its version"},
      {without("m/constants.pkl"), "has no constants.pkl"},
      {with("m/constants.pkl", Pickled("N")), "constants.pkl is not a tuple"},
      {with("m/data.pkl", Pickled(Call("os", "system", {Text("ls")}))),
       "data.pkl: the pickle calls os.system"},
      {with("m/data.pkl", ""), "data.pkl: the pickle is cut off"},
      {without("m/data/0"), "there is no storage 'm/data/0'"},
      {with("m/code/__torch__/a/b.py", "class class"), "__torch__/a/b.py"},
      {{{"m/data.pkl", ""}, {"m/data/0", ""}}, "it has no code", false},
      {{{"m/archive_format", "pt2"}, {"m/models/model.json", ""}}, "it has no code", false},
      {{{"m/data.pkl", ""}, {"m/bytecode.pkl", ""}, {"m/version", "3"}},
       "data.pkl: the pickle is cut off"},
      {{{"m/model.json", "{}"}, {"m/code/m.py", ""}, {"m/tensors/0", ""}, {"m/version", "1"}},
       "the file is of torch.jit.save of PyTorch 1.0 to 1.3, whose layout is not read: load it "
       "with torch.jit.load of a later PyTorch, and write it again with torch.jit.save"},
  };
  for (const Row& row : rows) {
    ZipArchive zip = Open(Zip().Make(row.entries));
    EXPECT_EQ(HoldsScript(zip), row.holds) << row.says;
    const auto program = OpenScript(std::move(zip));
    ASSERT_FALSE(program.ok()) << row.says;
    EXPECT_NE(program.status().ToString().find(row.says), std::string::npos) << program.status();
  }
}

}  // namespace
}  // namespace x2ir
