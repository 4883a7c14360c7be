// The law of families: the rows of an op are where its family's name is. A dialect has one file for
// each family of IR ops that it has rows of (conv.cc, pool.cc, rnn.cc, ...), with readers and
// writers side by side, or the writers in write_conv.cc, ...; the files of ops/ that make up a
// family are listed below. Rows of what a framework alone has (sparse tensors, audio, fused
// operators, ...) are in files of topics, which family_exceptions.txt lists with the reason; these
// hold no row that writes.
#include <optional>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "tests/golden/golden_util.h"
#include "tests/laws/families_util.h"
#include "x2ir/core/spec.h"
#include "x2ir/ops/op.h"

namespace x2ir {
namespace {

TEST(Families, EveryFileOfOpsBelongsToOne) {
  for (const OpDef* def : AllOps()) EXPECT_NE(FamilyFileOf(*def), "") << def->name().view();
}

TEST(Families, RowsAreInTheFileOfTheirFamily) {
  const Reasons exceptions = ReadReasons("tests/golden/family_exceptions.txt");
  std::set<std::string> used;
  int rows = 0;
  for (const Form* form : AllForms("")) {
    const std::optional<RowFile> file = RowFileOf(*form);
    if (!file) continue;  // a host's own
    ++rows;
    const OpDef* def = FindOp(form->ir_op);
    const std::string family = def ? FamilyFileOf(*def) : "";  // "constant" is no op
    if (IsInFamily(*file, family)) continue;
    const std::string path = file->folder + "/" + file->stem;
    // One row of a family's file, or all of a topic's.
    const std::string row = path + " " + form->op.str();
    const std::string& key = exceptions.contains(row) ? row : path;
    used.insert(key);
    EXPECT_TRUE(exceptions.contains(key))
        << form->place.ToString() << ": the row of " << form->dialect.view() << "."
        << form->op.view() << " is of " << form->ir_op.view() << ", which belongs in " << family
        << ".cc; or tests/golden/family_exceptions.txt says why not:\n"
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
