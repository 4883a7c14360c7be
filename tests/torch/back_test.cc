// PyTorch's operators and models to the IR, back to calls, into an archive, and out of it to the IR
// again: the same results.
// Cases that do not come back stand in tests/golden/torch_programs_one_way.txt with the reason.
//
//   X2IR_CASES=REGEX       only the cases whose names match, each with its reason
//   X2IR_UPDATE_GOLDEN=1   writes this file
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/core/convert_util.h"
#include "tests/core/host_util.h"
#include "tests/core/shared_util.h"
#include "tests/torch/torch_cases_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/formats/torch/torch.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

// The same bytes each time, from which the same program is read.
absl::StatusOr<Model> ThroughArchive(const Model& model) {
  std::string bytes, again;
  X2IR_RETURN_IF_ERROR(WriteTorch(model, Sink::To(&bytes)));
  X2IR_RETURN_IF_ERROR(WriteTorch(model, Sink::To(&again)));
  if (bytes != again) return Internal("written twice, it is not the same");
  return ReadTorch(Source::Bytes(std::move(bytes), {}, "model.pt2"));
}

// IR reflects what is left of an axis, PyTorch cuts off what it has reflected.
TEST(TorchBackTest, ReflectionsThatCutOff) {
  for (const char* pads : {"{-1, 2}", "{2, -2}", "{1, 2}", "{-1, -1}"}) {
    auto model = ModelFromText(StrCat("graph g(x: float32[1,4]) -> (y) { p = int64[2]", pads,
                                      " a = int64[1]{1} "
                                      "y = pad(x, p, _, a) { mode = \"reflect\" } }"),
                               kIrDialect, 0);
    ASSERT_TRUE(model.ok()) << model.status();
    const std::vector<float> x = {1, 2, 3, 4};
    const Back back =
        ThereAndBack(*model, "torch", {{Tensor::Of<float>({1, 4}, x)}}, false, ThroughArchive);
    EXPECT_EQ(back.problem, "") << pads;
  }
}

BackTally TallyOf(const std::vector<TorchCase>& cases) {
  BackTally tally;
  for (const TorchCase& test : cases) {
    if (!tally.Wants(test.name)) continue;
    const absl::StatusOr<Model> ir = Import(test.model.string());
    if (!ir.ok()) continue;  // told by torch_cases_test.cc
    const auto data = ReadTorchData(test.io);
    EXPECT_TRUE(data.ok()) << test.name;
    if (!data.ok()) continue;
    std::vector<std::vector<Tensor>> inputs;
    for (const TorchDataSet& set : *data) inputs.push_back(set.inputs);
    tally.Add(test.name, ThereAndBack(*ir, "torch", inputs, false, ThroughArchive));
  }
  return tally;
}

TEST(TorchBackTest, CasesComeBack) {
  const BackTally tally = TallyOf(ArchivedTorchCases());
  tally.Finish("torch", "programs come back", "tests/golden/torch_programs_one_way.txt",
               "Programs that are read, but not written again.");
}

// The networks of ../shared, which all come back.
TEST(TorchBackTest, SharedNetworksComeBack) {
  const std::vector<TorchCase> cases = TorchCasesUnder(Shared("models"));
  if (cases.empty()) GTEST_SKIP() << kNotShared;
  const BackTally tally = TallyOf(cases);
  for (const auto& [name, reason] : tally.one_way()) ADD_FAILURE() << name << ": " << reason;
}

}  // namespace
}  // namespace x2ir
