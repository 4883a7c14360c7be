#include "tests/handlers/tf/numbers_util.h"

#include <algorithm>
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/ops/eval.h"

namespace x2ir {
namespace {

absl::StatusOr<Tensor> Run(const std::string& lines) {
  X2IR_ASSIGN_OR_RETURN(Model model,
                        ModelFromText(StrCat("graph g() -> (y) {\n", lines, "\n}"), "tf", 1));
  X2IR_RETURN_IF_ERROR(ToIr(model));
  X2IR_ASSIGN_OR_RETURN(const std::vector<Datum> results, RunGraph(*model.graph, {}));
  const Tensor* tensor = results[0].tensor();
  if (!tensor) return Internal("no tensor");
  return *tensor;
}

}  // namespace

void ExpectTfNumbers(const std::vector<TfNumbersRow>& rows) {
  for (const TfNumbersRow& row : rows) {
    const absl::StatusOr<Tensor> got = Run(row.lines);
    if (!row.error.empty()) {
      EXPECT_THAT(got.status().ToString(), ::testing::HasSubstr(row.error)) << row.lines;
      continue;
    }
    EXPECT_TRUE(got.ok()) << got.status() << "\n" << row.lines;
    if (!got.ok()) continue;
    if (!row.type.empty()) {
      EXPECT_EQ(got->type().ToString(), row.type) << row.lines;
    }
    EXPECT_EQ(got->num_elements(), static_cast<int64_t>(row.want.size())) << row.lines;
    if (got->num_elements() != static_cast<int64_t>(row.want.size())) continue;
    for (size_t i = 0; i < row.want.size(); ++i) {
      const double is = got->AsDouble(static_cast<int64_t>(i)), want = row.want[i];
      const bool same = std::isnan(want)   ? std::isnan(is)
                        : std::isinf(want) ? is == want
                                           : std::fabs(is - want) <=
                                                 row.tolerance * std::max(1.0, std::fabs(want));
      EXPECT_TRUE(same) << "element " << i << ": " << is << ", expected " << want << "\n"
                        << row.lines;
    }
  }
}

}  // namespace x2ir
