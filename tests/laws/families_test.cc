// The law of families: the rows of an op are where its family's name is. A dialect has one file for
// each family of IR ops that it has rows of (conv.cc, pool.cc, rnn.cc, ...), with readers and writers
// side by side; the files of ops/ that make up a family are listed below. Rows of what a framework
// alone has (sparse tensors, audio, fused operators, ...) are in files of topics, which
// family_exceptions.txt lists with the reason; these hold no row that writes.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/laws/families_util.h"
#include "x2ir/core/spec.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

// "tf/sparse" -> the reason.
std::map<std::string, std::string> Exceptions() {
  std::ifstream file(X2IR_SOURCE_DIR "/tests/laws/family_exceptions.txt");
  std::map<std::string, std::string> reasons;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t colon = line.find(": ");
    EXPECT_NE(colon, line.npos) << line;
    EXPECT_TRUE(reasons.emplace(line.substr(0, colon), line.substr(colon + 2)).second) << line;
  }
  return reasons;
}

TEST(Families, EveryFileOfOpsBelongsToOne) {
  for (const OpDef* def : AllOps()) EXPECT_NE(FamilyFileOf(*def), "") << def->name().view();
}

TEST(Families, RowsAreInTheFileOfTheirFamily) {
  const std::map<std::string, std::string> exceptions = Exceptions();
  std::set<std::string> used;
  int rows = 0;
  for (const Form* form : AllForms("")) {
    const std::optional<RowFile> file = RowFileOf(*form);
    if (!file) continue;  // a host's own
    ++rows;
    const OpDef* def = FindOp(form->ir_op);
    ASSERT_NE(def, nullptr) << form->ir_op.view();
    const std::string family = FamilyFileOf(*def);
    if (IsInFamily(*file, family)) continue;
    const std::string path = file->folder + "/" + file->stem;
    // One row of a family's file, or all of a topic's.
    const std::string row = path + " " + form->op.str();
    const std::string& key = exceptions.contains(row) ? row : path;
    used.insert(key);
    EXPECT_TRUE(exceptions.contains(key))
        << form->place.ToString() << ": the row of " << form->dialect.view() << "."
        << form->op.view() << " is of " << form->ir_op.view() << ", which belongs in " << family
        << ".cc; or tests/laws/family_exceptions.txt says why not:\n"
        << row << ": ";
  }
  EXPECT_GT(rows, 5000);
  for (const auto& [key, reason] : exceptions) {
    EXPECT_TRUE(used.contains(key)) << "family_exceptions.txt: nothing needs " << key;
    EXPECT_GT(reason.size(), 10u) << key;
  }
}

}  // namespace
}  // namespace x2ir
