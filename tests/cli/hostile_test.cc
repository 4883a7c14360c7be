// Files that are no files, and files that lie: an error that says what is wrong, at once, or the
// right result; never a crash, a wait or a gigabyte.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>
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
    ASSERT_TRUE(WriteOnnx(model, Path("e.onnx"),
                          {.external = OnnxWriteOptions::External::kAlways, .min_external = 0})
                    .ok());
    ASSERT_TRUE(
        WriteSafetensors(Path("io.safetensors"), {{"in_0", Tensor::Zeros(DType::kFloat32, {2, 3})}})
            .ok());
  }
};

TEST_F(Hostile, WhatIsNoFile) {
  std::vector<Row> rows;
  const struct {
    std::string make, name, err;
    int code = 3;
  } inputs[] = {
      {"mkfifo f.onnx", "f.onnx", "'f.onnx' is no regular file"},
      {"mkdir d.onnx", "d.onnx", "'d.onnx' is a directory"},
      {"ln -s /dev/zero z.onnx", "z.onnx", "'z.onnx' is no regular file"},
      {":", "/dev/zero", "'/dev/zero' is no regular file"},
      {":", "/dev/stdin", "'/dev/stdin' is no regular file"},
      {":", "/dev/null", "no regular file"},
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
  Check({{"x2ir info s.onnx", 3, "", "'s.onnx' is no regular file"}});
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
                    1, "0 of 1 files done", "'f' is (no regular file|a directory)"});
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
      // Its weights came through no pipe.
      {"x2ir convert m.onnx -q -o m.json && cat m.json | x2ir show /dev/stdin", 3, "",
       "no such weight file"},
  });
}

TEST_F(Hostile, WhereNobodyCanWrite) {
  std::vector<Row> rows;
  const struct {
    std::string make, name;
    int code;
    std::string err;
  } outputs[] = {
      {"mkdir o$e", "o", 2, "'o.* is no regular file"},
      {"ln -s none nowhere", "nowhere/o", 4, "cannot make the folder 'nowhere'"},
      {":", "m.onnx/o", 4, "cannot write 'm.onnx/o.*Not a directory"},
      {"mkfifo o$e", "o", 2, "'o.* is no regular file"},
      {"ln -s /dev/full o$e", "o", 2, "'o.* is no regular file"},
      {"ln m.onnx o$e", "o", 2, "'o.* is read by this command"},
      {"ln -s m.onnx o$e", "o", 2, "'o.* is read by this command"},
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
  fs::permissions(folder(), fs::perms::all);
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

}  // namespace
}  // namespace x2ir
