#include "tests/formats/nnef_files_util.h"

#include <cstring>
#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/back_util.h"
#include "tests/core/run_text_util.h"
#include "x2ir/core/convert.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

absl::StatusOr<Model> ReadNnefFiles(const NnefFileMap& files) {
  const auto held = std::make_shared<NnefFileMap>(files);
  return Import(FromMemory("", "graph.nnef", held), {.format = "nnef"});
}

std::string NnefText(std::string_view shape, std::string_view lines, std::string_view before) {
  return StrCat("version 1.0;\n", before, "graph g(x) -> (y) {\n  x = external(shape = ", shape,
                ");\n  ", lines, "\n}\n");
}

void ExpectNnefRows(const std::vector<NnefRow>& rows) {
  for (const NnefRow& row : rows) {
    const std::string text = NnefText(row.shape, row.lines, row.before);
    const auto model = ReadNnefFiles({{"graph.nnef", text}});
    EXPECT_EQ(ResultsText(model, {std::string(row.input)}), row.want) << text;
  }
}

void ExpectNnefRefusals(const std::vector<NnefRefusal>& rows) {
  for (const NnefRefusal& row : rows) {
    const auto model = ReadNnefFiles({{"graph.nnef", row.text}});
    const std::string shown = row.text.substr(0, 500);
    ASSERT_FALSE(model.ok()) << shown;
    EXPECT_THAT(std::string(model.status().message()), testing::HasSubstr(row.want)) << shown;
  }
}

std::string NnefDat(uint16_t type, uint32_t bits, std::vector<uint32_t> dims,
                    std::string_view items) {
  std::string file(128, '\0');
  const auto put = [&](size_t at, auto value) { std::memcpy(&file[at], &value, sizeof(value)); };
  file[0] = 0x4e;
  file[1] = static_cast<char>(0xef);
  file[2] = 1;
  put(4, static_cast<uint32_t>(items.size()));
  put(8, static_cast<uint32_t>(dims.size()));
  for (size_t i = 0; i < dims.size() && i < 8; ++i) put(12 + 4 * i, dims[i]);
  put(44, bits);
  put(48, type);
  return file + std::string(items);
}

}  // namespace x2ir
