#include "tests/handlers/onnx/rows_util.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/convert_util.h"

namespace x2ir {

using ::testing::HasSubstr;

std::string GraphText(std::string_view header, std::string_view lines) {
  return "graph g(" + std::string(header) + " {\n" + std::string(lines) + "\n}";
}

void ExpectBothWays(const BothWays& row) {
  const std::string onnx = GraphText(row.header, row.onnx), ir = GraphText(row.header, row.ir);
  EXPECT_EQ(ToIrText(onnx, row.opset), Canonical(ir)) << row.opset << " " << row.onnx;
  EXPECT_EQ(FromIrText(ir, row.opset), Canonical(onnx)) << row.opset << " " << row.ir;
}

void ExpectOneWay(const std::string& got, const OneWay& row) {
  if (row.to.substr(0, 6) == "error ") {
    EXPECT_THAT(got, HasSubstr("error: ")) << row.opset << " " << row.from;
    EXPECT_THAT(got, HasSubstr(std::string(row.to.substr(6)))) << row.opset << " " << row.from;
  } else {
    EXPECT_EQ(got, Canonical(GraphText(row.header, row.to))) << row.opset << " " << row.from;
  }
}

}  // namespace x2ir
