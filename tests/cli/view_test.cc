// x2ir view: flags, files, the browser that is started, and the answers of the server. What the
// page does is tested in a browser (tests/view/browser).
#include "x2ir/view/view.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/cli/sanitized.h"
#include "tests/cli/shell_util.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "x2ir/cli/loopback_server.h"
#include "x2ir/formats/onnx/onnx.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

class ViewVerb : public ShellTest {
 protected:
  void SetUp() override {
    ShellTest::SetUp();
    Write("m.onnx", "graph g(x: float32[2]) -> (y) { y = onnx.Relu(x) }");
    Write("n.onnx", "graph g(x: float32[2]) -> (y) { y = onnx.Neg(x) }");
    Write("foreign.onnx", "graph g(x: float32[2]) -> (y) { y = onnx.com.acme::Foo(x) }");
  }
  void Write(const std::string& name, const std::string& graph) {
    auto model = ModelFromText(graph, "onnx", 17, {{"com.acme", 1}});
    ASSERT_TRUE(model.ok()) << model.status();
    const absl::Status status = WriteOnnx(*model, Path(name));
    ASSERT_TRUE(status.ok()) << status;
  }
};

TEST_F(ViewVerb, WrongUsage) {
  Check({
      {"x2ir view", 2, "", "MODEL"},
      {"x2ir view m.onnx --random 1", 2, "", "need two models"},
      {"x2ir view m.onnx --io io.safetensors", 2, "", "need two models"},
      {"x2ir view m.onnx n.onnx --raw --random 1", 2, "", "only IR graphs can be run"},
      {"x2ir view m.onnx n.onnx --raw --map x=y", 2, "", "only IR graphs can be run"},
      {"x2ir view m.onnx --map x=y", 2, "", "--map needs two models"},
      {"x2ir view m.onnx --port 80", 2, "", "--port requires --serve"},
      {"x2ir view m.onnx --serve --port 70000", 2, "", "--port"},
      {"x2ir view m.onnx --serve -o a.html", 2, "", "excludes"},
      {"x2ir view m.onnx -o m.onnx", 2, "", "would be overwritten"},
      {"x2ir view m.onnx n.onnx -o n.onnx", 2, "", "would be overwritten"},
  });
}

TEST_F(ViewVerb, WithoutThePage) {
  if (HasViewPage()) GTEST_SKIP() << "the build has the page";
  Check({{"x2ir view m.onnx; code=$?; ls *.html; exit $code", 1, "", "needs npm"}});
}

TEST_F(ViewVerb, WritesAPage) {
  if (!HasViewPage()) GTEST_SKIP() << "the build has no page: npm was missing";
  WriteFile(Path("xdg-open"), "#!/bin/sh\necho \"opens $1\"\n");
  std::filesystem::create_directory(folder_ / "fails");
  WriteFile(Path("fails/xdg-open"), "#!/bin/sh\nexit 3\n");
  Check({
      {"x2ir view m.onnx && tail -n 1 m.html", 0, "^wrote m.html\n</html>\n$", ""},
      {"x2ir view -q m.onnx -o - | head -n 1", 0, "^<!doctype html>\n$", ""},
      {"x2ir view -q m.onnx -o - | cmp - m.html", 0, "", ""},
      {"x2ir view -q m.onnx n.onnx --random 2 -o two.html && grep -c '\"errors\":' two.html", 0,
       "^1\n$", ""},
      {"x2ir view -q m.onnx --raw -o - | grep -o '\\[\"onnx.Relu\"'", 0, "onnx.Relu", ""},
      {"x2ir view foreign.onnx -o f.html", 0, "wrote f.html", "^warning: [\\s\\S]*com.acme::Foo"},
      {"cat m.onnx | x2ir view -q - -o - | head -n 1", 0, "^<!doctype html>\n$", ""},
      {"x2ir view nothing.onnx", 3, "", "nothing.onnx"},
      {"x2ir view -q m.onnx -o new/m.html && tail -n 1 new/m.html", 0, "</html>", ""},
      {"touch f; x2ir view m.onnx -o f/m.html", 4, "", "f"},
      {"chmod +x xdg-open fails/xdg-open; PATH=.:$PATH x2ir view m.onnx --open", 0,
       "^wrote m.html\nopens m.html\n$", ""},
      {"PATH=fails:$PATH x2ir view m.onnx --open", 4, "wrote m.html", "cannot open m.html"},
      {"x2ir=$(command -v x2ir); PATH=nowhere $x2ir view m.onnx --open", 4, "wrote m.html",
       "cannot start xdg-open"},
  });
}

TEST_F(ViewVerb, LongAndDeepModels) {
  if (!HasViewPage()) GTEST_SKIP() << "the build has no page: npm was missing";
  std::string chain = "graph g(x: float32[4]) -> (v20000) {\n";
  for (int i = 1; i <= 20000; ++i) {
    StrAppend(&chain, "v", i, ": float32[4] = onnx.", i % 7 < 3 ? "Sin" : "Neg", "(",
              i == 1 ? "x" : StrCat("v", i - 1), ")\n");
  }
  Write("chain.onnx", chain + "}");
  std::string deep = "y = onnx.Relu(x)";
  for (int i = 0; i < 100; ++i) {
    deep = StrCat("y", i, " = onnx.If(c) { then_branch = graph t", i, "() -> (y",
                  i ? StrCat(i - 1) : "", ") { ", deep, " }, else_branch = graph e", i, "() -> (z",
                  i, ") { z", i, " = onnx.Neg(x) } }");
  }
  Write("deep.onnx", StrCat("graph g(x: float32[4], c: bool[]) -> (y99) { ", deep, " }"));
  const std::string limits = kSanitized ? "" : "ulimit -s 2048; ulimit -v 3000000; ";
  Check({
      {limits + "x2ir view -q chain.onnx -o - | tail -n 1", 0, "</html>", ""},
      {limits + "x2ir view -q deep.onnx -o - | tail -n 1", 0, "</html>", ""},
      {limits + "x2ir view -q deep.onnx deep.onnx --random 1 -o - | tail -n 1", 0, "</html>", ""},
  });
}

// Who asks by another name than the loopback address was sent by somebody else's page.
TEST(LoopbackServer, Answers) {
  const struct {
    const char *request, *status;
    bool with_page;
  } rows[] = {
      {"GET / HTTP/1.1\r\nHost: 127.0.0.1:99\r\n\r\n", "200", true},
      {"GET / HTTP/1.1\r\nAccept: */*\r\nhost:localhost:99 \r\n\r\n", "200", true},
      {"HEAD / HTTP/1.1\r\nHost: 127.0.0.1:99\r\n\r\n", "200", false},
      {"GET / HTTP/1.1\r\n\r\n", "403", false},
      {"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", "403", false},
      {"GET / HTTP/1.1\r\nHost: 127.0.0.1:98\r\n\r\n", "403", false},
      {"GET / HTTP/1.1\r\nHost: 127.0.0.1:99.example.org\r\n\r\n", "403", false},
      {"GET /x HTTP/1.1\r\nHost: 127.0.0.1:99\r\n\r\n", "404", false},
      {"GET /../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1:99\r\n\r\n", "404", false},
      {"POST / HTTP/1.1\r\nHost: 127.0.0.1:99\r\n\r\n", "405", false},
      {"\r\n\r\n", "403", false},
      {" \r\nHost: 127.0.0.1:99\r\n\r\n", "405", false},
      {"GET\r\nHost: 127.0.0.1:99\r\n\r\n", "405", false},
  };
  for (const auto& row : rows) {
    const cli::HttpAnswer answer = cli::AnswerTo(row.request, 99, 1234);
    EXPECT_TRUE(answer.head.starts_with(StrCat("HTTP/1.1 ", row.status, " "))) << row.request;
    EXPECT_TRUE(answer.head.ends_with("\r\n\r\n"));
    EXPECT_EQ(answer.with_page, row.with_page) << row.request;
    const bool found = std::string(row.status) == "200";
    EXPECT_NE(answer.head.find(found ? "Content-Length: 1234\r\n" : "Content-Length: 0\r\n"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace x2ir
