// Files that are no files, and files that lie: an error that says what is wrong, at once, or the
// right result; never a crash, a wait or a gigabyte.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cli/shell_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/formats/safetensors/safetensors.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/text.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;

class Hostile : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    auto graph = ParseGraph(R"(graph g(x: float32[2,3]) -> (y) {
        w = float32[2,3]{1, 2, 3, 4, 5, 6}
        y: float32[2,3] = onnx.Add(x, w) })");
    ASSERT_TRUE(graph.ok()) << graph.status();
    Model model;
    model.graph = *graph;
    model.source_dialect = "onnx";
    model.ir_version = 8;
    model.opset_imports = {{"", 17}};
    ASSERT_TRUE(WriteOnnx(model, Path("m.onnx")).ok());
    auto large = ParseGraph(StrCat("graph g(x: float32[2,50]) -> (y) { w = float32[2,50]{",
                                   absl::StrJoin(std::vector<int>(100, 7), ", "),
                                   "} y: float32[2,50] = onnx.Add(x, w) }"));
    ASSERT_TRUE(large.ok()) << large.status();
    Model big;
    big.graph = *std::move(large);
    big.source_dialect = "onnx";
    big.ir_version = 8;
    big.opset_imports = {{"", 17}};
    ASSERT_TRUE(WriteOnnx(big, Path("big.onnx")).ok());
    ASSERT_TRUE(WriteOnnx(model, Path("e.onnx"),
                          {.external = OnnxWriteOptions::External::kAlways, .min_external = 0})
                    .ok());
    ASSERT_TRUE(
        WriteSafetensors(Path("io.safetensors"), {{"in_0", Tensor::Zeros(DType::kFloat32, {2, 3})}})
            .ok());
  }
};

TEST_F(Hostile, PathsThatAreNoFiles) {
  std::vector<Row> rows;
  const struct {
    std::string make, name, err;
    int code = 3;
  } inputs[] = {
      {"mkfifo f.onnx", "f.onnx", "'f.onnx' is not a regular file"},
      {"mkdir d.onnx", "d.onnx", "'d.onnx' is a directory"},
      {"ln -s /dev/zero z.onnx", "z.onnx", "'z.onnx' is not a regular file"},
      {":", "/dev/zero", "'/dev/zero' is not a regular file"},
      {":", "/dev/stdin", "'/dev/stdin' is not a regular file"},
      {":", "/dev/null", "not a regular file"},
      {":", "/proc/self/status", "'/proc/self/status' is empty"},
      {":", "/proc/self/mem", "is empty"},
      {"touch n.onnx", "n.onnx", "'n.onnx' is empty"},
      {"ln -s l.onnx l.onnx", "l.onnx", "Too many levels of symbolic links", 4},
      {":", "m.onnx/m.onnx", "no such file"},
      {":", std::string(300, 'n'), "File name too long", 4},
  };
  for (const auto& input : inputs) {
    const std::string before = input.make + "; ";
    for (const char* command :
         {"x2ir convert $f -o out.json", "x2ir convert $f --from ir -o out.json",
          "x2ir convert $f --from tensorflow -o out.json",
          "x2ir convert $f --from torch -o out.json", "x2ir info $f", "x2ir show --raw $f",
          "x2ir draw $f", "ir2onnx export $f -o out.onnx", "x2ir verify m.onnx --io $f",
          "x2ir run m.onnx --input x=$f"}) {
      // A SavedModel is a folder.
      if (input.make.starts_with("mkdir") &&
          std::string(command).find("tensorflow") != std::string::npos)
        continue;
      std::string line = StrCat(before, command);
      line.replace(line.find("$f"), 2, input.name);
      const bool inputs_file = std::string(command).find("io $f") != std::string::npos ||
                               std::string(command).find("input") != std::string::npos ||
                               std::string(command).find("from") != std::string::npos;
      // What is empty is no file of some format.
      const bool empty = input.err.find("empty") != std::string::npos;
      rows.push_back({StrCat(line, "; code=$?; rm -rf [fdzln].onnx; exit $code"), input.code, "",
                      empty && inputs_file ? "" : input.err});
      if (empty && inputs_file) rows.back().err = "n.onnx|/proc/self|/dev";
    }
  }
  Check(rows);
  EXPECT_FALSE(fs::exists(Path("out.json")) || fs::exists(Path("out.onnx")));
}

TEST_F(Hostile, ASocketIsNoFile) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_GE(fd, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = Path("s.onnx");
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  Check({{"x2ir info s.onnx", 3, "", "'s.onnx' is not a regular file"}});
  ::close(fd);
}

TEST_F(Hostile, WhatAModelNamesIsNoFile) {
  const std::string ir = "x2ir convert -q m.onnx; ";
  std::vector<Row> rows;
  for (const char* other : {"mkfifo", "mkdir", "ln -s /dev/zero", "ln -s /dev/stdin"}) {
    rows.push_back({StrCat("rm -rf e.onnx.data; ", other, " e.onnx.data; x2ir convert e.onnx"), 3,
                    "", "e.onnx"});
    rows.push_back({StrCat(ir, "rm -rf m.safetensors; ", other,
                           " m.safetensors; ir2onnx export m.json -o out.onnx"),
                    3, "", "m.(json|safetensors)"});
    rows.push_back({StrCat("mkdir s; ", other,
                           " s/saved_model.pb; x2ir info s; code=$?; rm -r s; "
                           "exit $code"),
                    3, "", "saved_model.pb|'s'"});
    rows.push_back({StrCat("rm -rf f; ", other,
                           " f; printf 'f\\tf.json\\n' >list; cat list | x2ir "
                           "convert --batch - -o b"),
                    1, "0 of 1 files done", "'f' is (not a regular file|a directory)"});
  }
  Check(rows);
}

TEST_F(Hostile, ModelsComeThroughPipes) {
  Check({
      {"cat m.onnx | x2ir info /dev/stdin", 0, "opsets +17", ""},
      {"x2ir info <(cat m.onnx)", 0, "opsets +17", ""},
      {"x2ir show <(cat m.onnx; sleep 0.1)", 0, "add\\(", ""},
      {"x2ir convert <(cat m.onnx) -q -o p.json && x2ir convert m.onnx -q -o q.json && "
       "cmp p.json q.json && cmp p.safetensors q.safetensors",
       0, "", ""},
      {"x2ir convert <(cat m.onnx) -q --weights reference -o r.json && x2ir show r.json", 0, "add",
       ""},
      {"cat io.safetensors | x2ir run m.onnx --io /dev/fd/0", 0, "y: ", ""},
      {"x2ir verify <(cat m.onnx) <(cat m.onnx)", 0, "agrees", ""},
      {"head -c 50 m.onnx | x2ir info /dev/stdin", 3, "", "'/dev/stdin'"},
      {": | x2ir info /dev/stdin", 3, "", "'/dev/stdin' is empty"},
      {"cat m.onnx | TMPDIR=/nowhere x2ir info /dev/stdin", 4, "", "'/dev/stdin': no temporary"},
      // A name of one letter is in any message.
      {"mkdir n && echo nonsense > n/graph.nnef && x2ir convert n -o n.onnx", 3, "", "'n': "},
      // Its weights came through no pipe.
      {"x2ir convert m.onnx -q -o m.json && cat m.json | x2ir show /dev/stdin", 3, "",
       "there is no file"},
  });
}

TEST_F(Hostile, WhereNobodyCanWrite) {
  std::vector<Row> rows;
  const struct {
    std::string make, name;
    int code;
    std::string err;
  } outputs[] = {
      {"mkdir o$e", "o", 2, "'o.* is not a regular file"},
      {"ln -s none nowhere", "nowhere/o", 4, "cannot make the folder 'nowhere'"},
      {":", "m.onnx/o", 4, "cannot write 'm.onnx/o.*Not a directory"},
      {"mkfifo o$e", "o", 2, "'o.* is not a regular file"},
      {"ln -s /dev/full o$e", "o", 2, "'o.* is not a regular file"},
      {"ln m.onnx o$e", "o", 2, "'o.* is an input of this command"},
      {"ln -s m.onnx o$e", "o", 2, "'o.* is an input of this command"},
      {"ln -s o$e o$e", "o", 4, "cannot write 'o.*Too many levels"},
      {":", std::string(256, 'n'), 4, "cannot write 'n.*File name too long"},
      {":", std::string(5000, 'n'), 4, "cannot write 'n"},
  };
  for (const auto& output : outputs) {
    for (const auto& [command, extension] :
         {std::pair<std::string, std::string>{"x2ir convert m.onnx -o ", ".json"},
          {"x2ir convert m.onnx --report r.json -o ", ".json"},
          {"ir2onnx export m.onnx -o ", ".onnx"},
          {"x2ir draw m.onnx -o ", ".dot"},
          {"x2ir run m.onnx --io io.safetensors -o ", ".safetensors"}}) {
      rows.push_back({StrCat("e=", extension, "; ", output.make, "; ", command, output.name,
                             extension, "; code=$?; rm -rf o$e r.json; exit $code"),
                      output.code, "(wrote|^)", output.err});
      // A loop is a name like any other to who replaces names.
      if (output.make == "ln -s o$e o$e") rows.pop_back();
    }
  }
  // A link is followed; one to nothing is replaced.
  rows.push_back(
      {"touch t.json; ln -s t.json l.json; x2ir convert -q m.onnx -o l.json && "
       "test -L l.json && x2ir show t.json",
       3, "", "safetensors"});
  rows.push_back(
      {"ln -s none.json k.json; x2ir convert -q m.onnx -o k.json && "
       "test ! -L k.json && x2ir show k.json",
       0, "add", ""});
  // Root may do everything.
  const std::string user = ::geteuid() != 0 ? "" : "setpriv --reuid=65534 --clear-groups ";
  fs::permissions(folder_, fs::perms::all);
  if (Run(user + "x2ir --version").code == 0) {
    rows.push_back({StrCat("mkdir ro; chmod 555 ro; ", user, "x2ir convert m.onnx -o ro/a.json"), 4,
                    "", "cannot write 'ro/a.json': Permission denied"});
    rows.push_back(
        {StrCat("touch ro.json; chmod 444 ro.json; ", user,
                "x2ir convert m.onnx -o ro.json; code=$?; test -s ro.json || exit $code"),
         4, "", "cannot write 'ro.json': Permission denied"});
    rows.push_back({StrCat("chmod 0 m.onnx; ", user, "x2ir info m.onnx"), 4, "",
                    "cannot open 'm.onnx': Permission denied"});
  }
  Check(rows);
}

// Whatever the name: files are compared, and those that the command reads only by what a model
// names.
TEST_F(Hostile, WhatIsReadIsNeverOverwritten) {
  const std::string same =
      "; code=$?; cmp m.onnx was.onnx && cmp w.safetensors was.safetensors && "
      "test ! -e new && exit $code";
  const std::string begin =
      "cp m.onnx was.onnx; x2ir convert -q m.onnx -o w.json; "
      "cp w.safetensors was.safetensors; rm -rf new; ";
  std::vector<Row> rows;
  for (const char* command : {
           "x2ir convert m.onnx -o new/../m.onnx",
           "x2ir convert m.onnx -o new/./er/../../m.onnx",
           "x2ir convert $PWD/m.onnx -o new/../m.onnx",
           "x2ir convert m.onnx -o o.json --report new/../m.onnx",
           "x2ir convert -q w.json -o o.onnx --report w.safetensors",
           "x2ir convert -q w.json -o o.onnx --report new/../w.safetensors",
           "ir2onnx export w.json -o new/../w.safetensors --to onnx",
           "x2ir view m.onnx -o new/../m.onnx",
           "x2ir view w.json -o new/../w.safetensors",
           "ln m.onnx m.svg; x2ir draw m.svg -o new/../m.svg",
           "x2ir run w.json --random 1 -o new/../w.safetensors",
           // A weight that the file of the graph does not hold itself.
           "cp big.onnx m.onnx; cp m.onnx was.onnx; x2ir convert -q m.onnx --weights reference -o "
           "r.json; "
           "x2ir convert r.json -o new/../m.onnx",
       }) {
    rows.push_back({begin + command + same, 2, "", "is an input of this command"});
  }
  rows.push_back({begin +
                      "printf 'm.onnx\\tnew/../../m.onnx\\n' | "
                      "x2ir convert --batch - -o batch --to onnx" +
                      same,
                  1, "0 of 1 files done", "would be overwritten"});
  Check(rows);
}

// What loops become for a target that has none is bounded, for all loops together.
TEST_F(Hostile, LoopsInLoops) {
  std::vector<Row> rows;
  for (const char* name : {"o.nnvm.json", "o.job"}) {
    rows.push_back({StrCat("ulimit -t 20; x2ir convert ", X2IR_SOURCE_DIR,
                           "/tests/data/hostile/loop_nest8.onnx -o ", name, "; code=$?; ls o.* ",
                           "2>/dev/null; exit $code"),
                    1, "", "loop .*rounds, unrolled, are [0-9]+ nodes; [^;]* at most 100000"});
  }
  // StableHLO has loops, but no value of unknown rank.
  rows.push_back({StrCat("ulimit -t 20; x2ir convert ", X2IR_SOURCE_DIR,
                         "/tests/data/hostile/loop_nest8.onnx -o o.mlir; code=$?; ls o.* ",
                         "2>/dev/null; exit $code"),
                  1, "", "loop .*values that are no tensors of known rank"});
  for (const char* name : {"o.py", "o.pt2"}) {
    rows.push_back({StrCat("ulimit -t 20; x2ir convert -q ", X2IR_SOURCE_DIR,
                           "/tests/data/hostile/loop_nest8.onnx -o ", name,
                           " 2>/dev/null; test $? -lt 2 && cat o.* 2>/dev/null | wc -c | ",
                           "awk '{ exit $1 > 2000000 }'"),
                    0, "", ""});
  }
  Check(rows);
}

TEST_F(Hostile, FunctionsInFunctions) {
  const std::string file = StrCat(X2IR_SOURCE_DIR, "/tests/data/hostile/func_2_40.onnx");
  Check({{StrCat("ulimit -t 20; x2ir convert ", file, " -o f.json"), 3, "",
          "inlined, take more than"},
         {StrCat("ulimit -t 20; x2ir info ", file, " | wc -c | awk '{ exit $1 > 100000 }'"), 0, "",
          ""}});
}

// Of files that say much in few bytes; and of values with many members.
TEST_F(Hostile, TimeAndMemoryFollowTheFile) {
  Check({
      {R"sh(cat >make.py <<'END'
import json, zipfile
def archive(name, members):
    with zipfile.ZipFile(name, 'w', zipfile.ZIP_DEFLATED) as z:
        for key, text in members.items(): z.writestr(key, text)
keys = {'k%d' % i: i for i in range(100000)}
layers = json.dumps({'class_name': 'Functional', 'config': dict(keys, name='m')})
archive('keys.keras', {'config.json': layers, 'metadata.json': '{}', 'model.weights.h5': ''})
open('keys.tfjs.json', 'w').write(json.dumps({'format': 'layers-model', 'modelTopology': dict(
    keys, class_name='Functional', config={}), 'weightsManifest': []}))
open('keys.nnvm.json', 'w').write(json.dumps({'nodes': [{'op': 'null', 'name': 'x', 'inputs': [],
    'attrs': {k: 'v' for k in keys}}], 'arg_nodes': [0]}))
open('list.tfjs.json', 'w').write('{"format": "layers-model", "l": [' + '0,' * 3000000 + '0]}')
archive('list.keras', {'config.json': '{"l": [' + '[],' * 20000000 + '0]}'})
archive('byteorder.pt2', {'m/archive_format': 'pt2', 'm/byteorder': 'x' * 100000000})
END
python3 make.py)sh",
       0, "", ""},
  });
  std::vector<Row> rows;
  for (const auto& [format, name, message] :
       {std::tuple<std::string, std::string, std::string>{"keras", "keys.keras", "keys.keras"},
        {"tfjs", "keys.tfjs.json", "keys.tfjs.json"},
        {"nnvm", "keys.nnvm.json", "keys.nnvm.json"},
        {"tfjs", "list.tfjs.json", "modelTopology"},
        {"keras", "list.keras", "a text of 60000.* bytes, packed into"},
        {"torch", "byteorder.pt2", "'m/byteorder' has 100000000 bytes; expected a word"}}) {
    rows.push_back({StrCat("ulimit -t 5; ulimit -v 1000000; x2ir convert --from ", format, " ",
                           name, " -o o.json; code=$?; test $code = 1 || test $code = 3"),
                    0, "", message});
  }
  Check(rows);
}

// Names are shown, and never obeyed; what is JSON stays JSON.
TEST_F(Hostile, NamesCannotControlTheTerminal) {
  const std::string data = StrCat(X2IR_SOURCE_DIR, "/tests/data/hostile/");
  Check({{StrCat("data=", data, R"sh(
for name in control raw9b delete; do
  file=$data$name.onnx
  for verb in show "show --raw" info draw; do x2ir $verb $file >"$name $verb.text" 2>&1; done
  for verb in "info --json" "diff m.onnx --json" "run --random 1 --json"; do
    x2ir $verb $file >"$name $verb.js"
  done
  x2ir convert -q $file -o $name.json --report $name.js
  cp $name.json "$name ir.js"
done
cat >look.py <<'END'
import glob, json, unicodedata
texts, objects = glob.glob('*.text'), glob.glob('*.js')
assert len(texts) == 12 and len(objects) == 15, (texts, objects)
for path in texts:
    text = open(path, 'rb').read().decode()
    assert not any(unicodedata.category(c) in ('Cc', 'Cf') and c not in '\n\t' for c in text), path
for path in objects: json.load(open(path))
END
python3 look.py)sh"),
          0, "", ""}});
}

// What a message quotes is no longer than a line of a terminal or some.
TEST_F(Hostile, MessagesAreShort) {
  Check(
      {{R"sh(cat >make.py <<'END'
name = 'n' * 3000000
open('long.onnxtxt', 'w').write('<ir_version: 8, opset_import: ["" : 17]>\n'
    'g (float[2] x) => (float[2] y) { y = ' + name + ' (x) }')
END
python3 make.py; x2ir convert long.onnxtxt -o o.onnx 2>err; code=$?; wc -c <err; exit $code)sh",
        1, "^[0-9]{3,5}\n", ""},
       {"x2ir convert m.onnx -o o.json --opset 99999999999999999999999999 2>&1 >/dev/null | wc -c",
        0, "^[0-9]{1,4}\n", ""},
       // An option of the model's own is none of ours.
       {"printf '[net]\nwidth=x\nheight=4\nchannels=3\n[dropout]\n' >d.cfg; x2ir info d.cfg", 3, "",
        "'d.cfg'.*the value of 'width' is 'x'"},
       // The model lacks something; the command does not.
       {StrCat("x2ir convert ", X2IR_SOURCE_DIR, "/tests/data/hostile/untyped.onnx -o o.onnx"), 1,
        "", "input 'like' is not known; --dtype sets it"}});
}

// What is interrupted leaves nothing, and nothing stands in the way of the next run.
TEST_F(Hostile, Interrupted) {
  Check({{R"sh(python3 -c "
import struct
def field(n, b): return varint(n << 3 | 2) + varint(len(b)) + b
def varint(v):
    out = b''
    while v >= 128: out += bytes([v & 127 | 128]); v >>= 7
    return out + bytes([v])
def info(name, dims):
    shape = b''.join(field(1, bytes([8]) + varint(d)) for d in dims)
    return field(1, name) + field(2, field(1, bytes([8, 1]) + field(2, shape)))
n = 1 << 12
weights = bytes([8]) + varint(n) + bytes([8]) + varint(n) + bytes([16, 1]) + field(8, b'w') + field(9, bytes(4 * n * n))
graph = field(1, field(1, b'x') + field(1, b'w') + field(2, b'y') + field(4, b'MatMul')) + field(2, b'g') + \
    field(5, weights) + field(11, info(b'x', [1, n])) + field(12, info(b'y', [1, n]))
open('big.onnx', 'wb').write(bytes([8, 8]) + field(8, bytes([16, 17])) + field(7, graph))")sh",
          0, "", ""}});
  std::vector<Row> rows;
  for (const char* out : {"o.mlpackage", "new/folder/o.json", "o.onnx", "o.mlir", "o.pb",
                          "o.savedmodel", "web --to tfjs", "o.tfjs.json", "o.keras"}) {
    for (const char* signal : {"TERM", "INT", "HUP", "KILL"}) {
      const std::string left = std::string(signal) == "KILL" ? "true" : "ls -A out";
      // Job control, since a shell lets what it runs in the background ignore INT.
      rows.push_back({StrCat("set -m; rm -rf out; mkdir out; x2ir convert big.onnx -q -o out/", out,
                             " & while kill -0 $! 2>/dev/null && "
                             "! find out -name '*.tmp' -size +1M | grep -q .; do :; done; kill -",
                             signal, " $!; wait $! 2>/dev/null; ", left),
                      0, "", ""});
      rows.push_back({StrCat("x2ir convert big.onnx -q -o out/", out,
                             " && find out -name '*.tmp'; rm -rf out"),
                      0, "", ""});
    }
  }
  Check(rows);
}

// Places where the models of TensorFlow, TensorFlow.js and Keras cannot be: what is there stays,
// and nothing is left beside it.
TEST_F(Hostile, OutputsThatAreTaken) {
  const bool mounts =
      std::system("unshare -m sh -c 'mount -t tmpfs -o size=1m none /mnt' 2>/dev/null") == 0;
  if (!mounts) std::printf("*** no disk can be mounted here: a full one was NOT tested\n");
  std::vector<Row> rows;
  struct Output {
    std::string path, options, taken;  // `taken`: the error where others have a folder there
  };
  for (const auto& [path, options, taken] :
       {Output{"o.savedmodel", "", "is no SavedModel"},
        Output{"o", " --to tensorflow", "is no SavedModel"},
        Output{"o", " --to tfjs", "is not a folder of a TensorFlow.js model"},
        Output{"o.tfjs.json", "", "is not a regular file"},
        Output{"o.keras", "", "is not a regular file"}}) {
    const std::string convert = StrCat("x2ir convert m.onnx -q -o ", path, options);
    const std::string code = StrCat("; code=$?; ls -A ", path, "; rm -rf ", path, "; exit $code");
    rows.push_back({StrCat("mkdir ", path, "; echo mine >", path, "/theirs; ", convert, code), 2,
                    "^theirs\n$", taken});
    if (options != "" || path == "o.savedmodel") {
      rows.push_back({StrCat("echo mine >", path, "; ", convert, "; code=$?; cat ", path, "; rm ",
                             path, "; exit $code"),
                      2, "^mine\n$", taken});
    }
    rows.push_back({StrCat("x2ir convert m.onnx -q -o /proc/", path, options), 4, "",
                    "cannot write '/proc/o"});
    rows.push_back({StrCat("mkdir place; x2ir convert m.onnx -q -o place/", path, options,
                           " && ls -A place | grep tmp; rm -r place"),
                    0, "^$", ""});
    if (!mounts) continue;
    rows.push_back({StrCat("unshare -m sh -c 'mkdir -p disk && mount -t tmpfs -o size=1m none disk "
                           "&& x2ir convert large.json -q -o disk/",
                           path, options, "; code=$?; ls -A disk; exit $code'"),
                    4, "^$", "No space left"});
  }
  for (const char* to : {"keras", "tfjs", "tensorflow"}) {
    rows.push_back({StrCat("x2ir convert m.onnx -q --to ", to, " -o /dev/full"), 2, "",
                    "'/dev/full' is not a regular file"});
  }
  Check({{R"sh(python3 - <<'EOF'
import json, struct
n = 1024
head = json.dumps({'w': {'dtype': 'F32', 'shape': [n, n], 'data_offsets': [0, 4 * n * n]}}).encode()
open('large.safetensors', 'wb').write(struct.pack('<Q', len(head)) + head + bytes(range(256)) * (n * n // 64))
json.dump({'format': 'x2ir', 'version': 1, 'weights': ['large.safetensors'], 'graph': {
    'name': 'g', 'inputs': [{'name': 'x', 'type': 'float32[1,1024]'}],
    'outputs': [['y', 'float32[1,1024]']],
    'constants': [{'name': 'w', 'type': 'float32[1024,1024]'}],
    'nodes': [{'op': 'matmul', 'in': ['x', 'w'], 'out': [['y', 'float32[1,1024]']]}]}},
          open('large.json', 'w'))
EOF
)sh",
          0, "", ""}});
  Check(rows);
}

TEST_F(Hostile, BatchListsThatAreNoFiles) {
  Check({{"ulimit -v 1000000; x2ir convert --batch /dev/zero -o b", 3, "",
          "'/dev/zero' is not a list"},
         {"x2ir convert --batch . -o b", 3, "", "'.' is not a list"},
         {"ulimit -v 1000000; head -c 100000000 /dev/zero | x2ir convert --batch - -o b", 3, "",
          "line 1 is too long"},
         {"x2ir convert --batch /dev/null -o b", 0, "0 of 0 files done", ""}});
}

// Files that nobody named are not followed out of the folder; caches of links are.
TEST_F(Hostile, ParametersFoundByConvention) {
  const std::string make =
      "rm -rf in elsewhere blobs; mkdir in elsewhere blobs; "
      "x2ir convert -q m.onnx -o in/n.nnvm.json; ";
  Check({{make + "x2ir info in/n.nnvm.json", 0, "parameters +6 in 1 tensor", ""},
         {make + "mv in/n.nnvm.params elsewhere/; ln -s ../elsewhere/n.nnvm.params in/; "
                 "x2ir info in/n.nnvm.json",
          0, "parameters +0 in 0 tensors", ""},
         {make + "mv in/n.nnvm.params blobs/a; mv in/n.nnvm.json blobs/b; "
                 "ln -s ../blobs/a in/n.nnvm.params; ln -s ../blobs/b in/n.nnvm.json; "
                 "x2ir info in/n.nnvm.json",
          0, "parameters +6 in 1 tensor", ""}});
}

// 200 kB that unpack to 200 MB, as entries of archives of each kind: an error, and no memory.
TEST_F(Hostile, ArchivesThatUnpackToAThousandTimes) {
  const std::string make = R"sh(cat >make.py <<'E'
import json, struct, sys, zipfile
kind, size = sys.argv[1], int(sys.argv[2])
zeros = bytes(size)
def pack(name, entries):
    with zipfile.ZipFile(name, 'w', zipfile.ZIP_DEFLATED) as z:
        for entry, data in entries: z.writestr(entry, data)
if kind == 'keras':
    pack('a.keras', [('config.json', '{}'), ('metadata.json', '{}'),
                     ('model.weights.h5', b'\x89HDF\r\n\x1a\n' + zeros)])
elif kind == 'text':
    pack('a.keras', [('config.json', b'[' + b' ' * size + b']'), ('model.weights.h5', b'')])
elif kind == 'hdf5':  # a compressed dataset of an HDF5 file that says to be large
    with zipfile.ZipFile(sys.argv[3]) as z:
        old = {i.filename: z.read(i) for i in z.infolist()}
    # Its shape, and the largest that it may have.
    h5 = old['model.weights.h5'].replace(struct.pack('<2Q', 8, 3), struct.pack('<2Q', 8, size // 32))
    with zipfile.ZipFile('a.keras', 'w') as z:
        for n, data in old.items(): z.writestr(n, h5 if n.endswith('.h5') else data)
elif kind == 'pt2':
    with zipfile.ZipFile('m.pt2') as z:
        old = {i.filename: z.read(i) for i in z.infolist()}
    pack('a.pt2', [(n, zeros if n.endswith('/weight_0') else data) for n, data in old.items()])
else:
    node = lambda op, name, *inputs: {'op': op, 'name': name, 'inputs': [[i, 0, 0] for i in inputs]}
    json.dump({'nodes': [node('null', 'x'), node('null', 'w'), node('elemwise_add', 'y', 0, 1)],
               'arg_nodes': [0, 1], 'heads': [[2, 0, 0]]}, open('n-symbol.json', 'w'))
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % (size // 4)
    head += ' ' * (-(len(head) + 11) % 64) + '\n'
    pack('n-0000.params', [('w.npy', b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + zeros)])
E
python3 make.py )sh";
  const std::string large = " 209715200 && ulimit -v 700000 && x2ir info ";
  const std::string error =
      "unpacks to more than 100 times the [0-9]+ bytes of the file, and than 16 MiB";
  Check({
      {StrCat(make, "keras", large, "a.keras"), 3, "", error},
      {StrCat(make, "text", large, "a.keras"), 3, "", "a text of 209715202 bytes"},
      {StrCat("x2ir convert -q big.onnx -o m.pt2 && ", make, "pt2", large, "a.pt2"), 3, "", error},
      {StrCat(make, "npz", large, "n-symbol.json"), 3, "", error},
      {StrCat(make, "hdf5 32000000 '", X2IR_SOURCE_DIR,
              "/tests/data/keras/chunked.keras' && x2ir info a.keras"),
       3, "", error},
      // What packs well for good reasons is read: 10 MB of zeros.
      {StrCat(make, "npz 10000000 && x2ir info n-symbol.json"), 0, "parameters +2,500,000 in 1",
       ""},
  });
}

// packaging/sandbox, as docs/security.md has it.
TEST_F(Hostile, ASandbox) {
  if (Run("bwrap --unshare-all --ro-bind / / true && /usr/bin/python3 -c 'import seccomp'").code !=
      0) {
    GTEST_SKIP() << "bubblewrap or python3-seccomp does not work here";
  }
  const std::string run = StrCat("X2IR='", X2IR_BIN_DIR, "/x2ir' '", X2IR_SOURCE_DIR,
                                 "/packaging/sandbox/run.sh' in out ");
  Check({
      {StrCat("mkdir in out; cp m.onnx in; ", run, "convert /in/m.onnx -o a.onnx && ls out"), 0,
       "a\\.onnx\n$", ""},
      {StrCat(run, "convert /in/m.onnx -o a.pt2 -q && ", run, "compare /in/m.onnx a.pt2 -q"), 0, "",
       ""},
      {StrCat("printf '/in/m.onnx\\n/in/m.onnx\\tb.json\\n/in/none\\n' > out/list; ", run,
              "convert --batch list -j 2 -o many --timeout 60 --memory 4096; code=$?; ls "
              "out/many/b.json; exit $code"),
       1, "2 of 3 files done, 1 failed", "no such file"},
      // Nothing else is there, and nothing can be sent anywhere.
      {StrCat(run, "convert m.onnx -o a.json"), 3, "", "no such file"},
      {StrCat(run, "info /etc/passwd"), 3, "", "no such file"},
      {StrCat(run, "convert /in/m.onnx -o /in/a.json"), 4, "", "Read-only file system"},
      {StrCat(run, "view a.onnx --serve"), 4, "", "cannot make a socket: Operation not permitted"},
  });
}

// More files than a process may have open.
TEST_F(Hostile, ManyShards) {
  Check({{R"sh(python3 -c "
import json, struct
names = {}
for i in range(300):
    head = json.dumps({'w%d' % i: {'dtype': 'F32', 'shape': [2], 'data_offsets': [0, 8]}}).encode()
    open('s%d.safetensors' % i, 'wb').write(struct.pack('<Q', len(head)) + head + bytes(8))
    names['w%d' % i] = 's%d.safetensors' % i
json.dump({'metadata': {}, 'weight_map': names}, open('m.safetensors.index.json', 'w'))"
ulimit -n 64; x2ir convert m.onnx -q -o o.json --weights-from m.safetensors.index.json 2>&1 | head -c 300)sh",
          0, "it has no weight of the model", ""}});
}

}  // namespace
}  // namespace x2ir
