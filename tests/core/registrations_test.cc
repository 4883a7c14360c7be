// What becomes of registrations that are wrong: conversions say so, and ValidateDialect says all.
// Each test has a process of its own, since what is registered stays.
#include <cstdio>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/core/spec.h"
#include "x2ir/core/validate.h"
#include "x2ir/ops/infer.h"
#include "x2ir/optimizer/lowering.h"
#include "x2ir/optimizer/pass.h"

namespace x2ir {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

absl::StatusOr<Values> Nothing(Rewrite& r) { return Values{r.in(0)}; }
absl::StatusOr<int64_t> NoPass(Graph&, const PassContext&) { return 0; }

// Registers, then prints what a conversion and ValidateDialect say, and ends the process.
template <typename F>
[[noreturn]] void Tell(const F& registrations) {
  registrations();
  auto model = ModelFromText("graph g(x: float32[2]) -> (y) { y = onnx.Relu(x) }", "onnx", 17);
  const absl::Status status = ToIr(*model);
  std::fprintf(stderr, "conversion: %s\n", status.ToString().c_str());
  for (const std::string& problem : ValidateDialect("wrong")) {
    std::fprintf(stderr, "- %s\n", problem.c_str());
  }
  std::fflush(stderr);
  std::_Exit(status.ok() ? 0 : 1);
}

constexpr char kPlaces[] =
    " is registered twice: at .*[a-z_]+.cc:[0-9]+ and at "
    "tests/core/registrations_test.cc:[0-9]+\n";

TEST(RegistrationsDeathTest, DuplicatesAreErrorsWithBothPlaces) {
  const auto expect = [](const auto& registrations, const std::string& what) {
    EXPECT_EXIT(
        Tell(registrations), ::testing::ExitedWithCode(1),
        "conversion: FAILED_PRECONDITION: the linked registrations contradict each other:\n  " +
            what + kPlaces + "(.*\n)*- " + what + kPlaces);
  };
  expect([] { OpRegistration again(OpDef("relu").In("x").Out("y").Infer(SameAsFirst)); },
         "op 'relu'");
  expect([] { Spec("onnx", "exp").Is("Relu", In(6, 9), ImportOnly()); },
         "the import form of onnx.Relu at opset 6");
  expect([] { Spec("onnx", "relu").Is("com.acme::Relu", Since(7), ExportOnly()); },
         "the export form of relu to onnx at opset 7");
  expect([] { RegisterDialect({.name = "onnx"}); }, "dialect 'onnx'");
  expect([] { RegisterPass("dead_code", "", NoPass); }, "pass 'dead_code'");
  expect([] { RegisterLowering("gelu", "GeluAsFormula", Nothing); },
         "lowering 'GeluAsFormula' of gelu");
}

TEST(RegistrationsDeathTest, TyposInRowsAreFound) {
  const auto typos = [] {
    Spec("wrong", "reluu").Is("Relu", Since(1));
    Spec("wrong", "softmax").Is("Softmax", Since(1), Renamed("axxis", "axis"));
    Spec("wrong", "clip").Is("Clip", Since(1), OperandAsAttr("minn"));
    Spec("wrong", "cast").Is("Cast", Since(1));
    Spec("wrong", "exp").Is("Exp", In(3, 2));
  };
  const auto row = [](const std::string& form, const std::string& problem) {
    return "- tests/core/registrations_test.cc:[0-9]+: wrong\\." + form + ": " + problem + "\n";
  };
  // They are the writer's affair: models of other dialects convert.
  EXPECT_EXIT(
      Tell(typos), ::testing::ExitedWithCode(0),
      "conversion: OK\n" +
          row("Cast \\[1,\\] of cast", "no lens names IR attribute 'to', which has no default") +
          row("Clip \\[1,\\] of clip",
              "a lens names IR operand 'minn', which the op does not have") +
          row("Exp \\[3,2\\] of exp", "an empty interval") +
          row("Relu \\[1,\\] of reluu", "there is no IR op 'reluu'") +
          row("Softmax \\[1,\\] of softmax",
              "a lens names IR attribute 'axxis', which the op does not have"));
  EXPECT_EXIT(Tell([] {}), ::testing::ExitedWithCode(0), "- no handlers of 'wrong' are linked in");
}

}  // namespace
}  // namespace x2ir
