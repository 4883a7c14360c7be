// Every operator of MXNet's, NNVM's and OneFlow's symbols and graphs on small constants
// (tests/data/*/rows.txt).
#include "gtest/gtest.h"
#include "tests/handlers/rows_file_util.h"

namespace x2ir {
namespace {

TEST(RowsFiles, Mxnet) { ExpectRowsOfAll("mxnet", {}); }

TEST(RowsFiles, Nnvm) { ExpectRowsOfAll("nnvm", {}); }

TEST(RowsFiles, Oneflow) {
  ExpectRowsOfAll("oneflow", {{"empty", "gives whatever stands in memory"},
                              {"normal", "gives numbers by chance"},
                              {"uniform", "gives numbers by chance"}});
}

}  // namespace
}  // namespace x2ir
