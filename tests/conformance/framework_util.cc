#include "tests/conformance/framework_util.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <regex>
#include <utility>

#include "gtest/gtest.h"
#include "tests/conformance/ort_util.h"
#include "tests/core/host_util.h"
#include "x2ir/core/io_file.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

namespace fs = std::filesystem;
using Dims = std::vector<int64_t>;

absl::Status Compare(const Tensor* got, const Tensor& want, const Closeness& closeness) {
  const bool same_shape =
      got && (got->dims() == want.dims() ||
              (closeness.scalars_as_vectors && got->rank() == 0 && want.dims() == Dims{1}));
  if (!same_shape || got->dtype() != want.dtype()) {
    return Internal("is ", got ? got->type().ToString() : "no tensor", ", expected ",
                    want.type().ToString());
  }
  if (want.is_string()) return *got == want ? absl::OkStatus() : Internal("has other strings");
  for (int64_t k = 0; k < want.num_elements(); ++k) {
    const double a = got->AsDouble(k), b = want.AsDouble(k);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= closeness.atol + closeness.rtol * std::abs(b))) {
      return Internal("element ", k, " is ", a, ", expected ", b);
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsWantedCase(const std::string& name) {
  const std::string only = Env("X2IR_CASES");
  return only.empty() || std::regex_search(name, std::regex(only));
}

std::vector<FrameworkCase> CasesOfFolders(const fs::path& root) {
  std::vector<FrameworkCase> cases;
  for (const auto& entry : fs::directory_iterator(root)) {
    const fs::path io = entry.path() / "io.safetensors";
    const std::string name = entry.path().filename().string();
    if (fs::exists(io) && IsWantedCase(name)) cases.push_back({name, entry.path(), {io}});
  }
  std::sort(cases.begin(), cases.end(),
            [](const FrameworkCase& a, const FrameworkCase& b) { return a.name < b.name; });
  return cases;
}

absl::Status AgreesWithIo(const Model& ir, const fs::path& io, const Closeness& closeness) {
  X2IR_ASSIGN_OR_RETURN(const std::vector<IoCase> cases, ReadIoFile(io.string(), *ir.graph));
  for (const IoCase& each : cases) {
    X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> got, RunCase(*ir.graph, each, nullptr));
    size_t compared = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      if (!each.outputs[i]) continue;
      ++compared;
      const absl::Status same = Compare(got[i].tensor(), *each.outputs[i], closeness);
      if (!same.ok()) return Annotate(same, StrCat("output ", i));
    }
    if (compared == 0) return Internal("no output was compared");
  }
  return absl::OkStatus();
}

void CheckFramework(const Framework& framework, const std::vector<FrameworkCase>& cases) {
  const fs::path dir = fs::path(X2IR_BUILD_DIR) / "conformance" / framework.name;
  fs::create_directories(dir);
  const std::unique_ptr<OrtJudge> ort = OrtJudge::Start();
  std::vector<std::string> asked;
  int total = 0, evaluated = 0;
  for (const FrameworkCase& c : cases) {
    SCOPED_TRACE(StrCat(framework.name, "/", c.name));
    const bool known = framework.differences.contains(c.name);
    const absl::StatusOr<Model> model = Import(c.model.string(), framework.import);
    EXPECT_TRUE(model.ok()) << model.status();
    if (!model.ok()) continue;
    for (const fs::path& io : c.ios) {
      ++total;
      const absl::Status same = AgreesWithIo(*model, io);
      EXPECT_EQ(same.ok(), !known) << same;
      evaluated += same.ok();
      for (const int opset : {13, 18}) {
        const std::string label = StrCat(c.name, "@", opset);
        const fs::path out = dir / StrCat(c.name, ".", asked.size(), ".", opset, ".onnx");
        const absl::Status exported =
            Export(model->Clone(), out.string(), {.opset = opset, .check = true});
        EXPECT_EQ(exported.ok(), !framework.refused.contains(label)) << label << ": " << exported;
        if (!exported.ok() || !ort || known) continue;
        asked.push_back(label);
        const Closeness close = framework.closeness(c.name);
        ort->Ask({out.string(), io.string(), close.rtol, close.atol});
      }
    }
  }
  const int ran = ort ? ExpectAgreement(*ort, asked) : 0;
  std::printf("%s: %d sets of outputs, %d agree; %d of %zu files agree in ONNX Runtime\n",
              framework.name.c_str(), total, evaluated, ran, asked.size());
}

}  // namespace x2ir
