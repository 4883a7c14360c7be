// TensorFlow's ragged tensors as plain ones: what comes out, by hand.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/handlers/constant_rows_util.h"

namespace x2ir {
namespace {

using Rows = std::vector<ConstantRow>;

TEST(TfRagged, ToTensor) {
  // Rows 1 2, nothing, 3 4 5.
  const std::string base = "v = int32[5]{1, 2, 3, 4, 5}\n d = int32[]{9}\n ";
  const std::string splits = base + "p = int64[4]{0, 2, 2, 5}\n ";
  const std::string ids = base + "n = int64[]{3}\n p = int64[5]{0, 0, 2, 2, 2}\n ";
  const std::string by_splits =
      "y = tf.RaggedTensorToTensor(s, v, d, p) { row_partition_types = [\"ROW_SPLITS\"], "
      "num_row_partition_tensors = 1 }";
  const std::string by_ids =
      "y = tf.RaggedTensorToTensor(s, v, d, n, p) { row_partition_types = "
      "[\"FIRST_DIM_SIZE\", \"VALUE_ROWIDS\"], num_row_partition_tensors = 2 }";
  Rows rows;
  for (const bool by_id : {false, true}) {
    const std::string lines = by_id ? ids : splits, op = by_id ? by_ids : by_splits;
    const auto add = [&](const std::string& shape, const std::string& want) {
      rows.push_back({lines + "s = " + shape + "\n " + op, "y", want});
    };
    add("int64[]{-1}", "int32[3,3]{1, 2, 9, 9, 9, 9, 3, 4, 5}");
    add("int64[2]{-1, -1}", "int32[3,3]{1, 2, 9, 9, 9, 9, 3, 4, 5}");
    add("int64[2]{-1, 2}", "int32[3,2]{1, 2, 9, 9, 3, 4}");
    add("int64[2]{-1, 4}", "int32[3,4]{1, 2, 9, 9, 9, 9, 9, 9, 3, 4, 5, 9}");
    add("int32[2]{1, -1}", "int32[1,2]{1, 2}");
    add("int64[2]{4, 1}", "int32[4,1]{1, 9, 3, 9}");
    add("int64[2]{0, 0}", "int32[0,0]{}");
    add("int64[]{3}", "error the shape is 3");
    add("int64[1]{3}", "error 1 sizes");
  }
  const std::string whole = "s = int64[]{-1}\n ";
  rows.push_back(
      {whole + "v = string[0]{}\n d = string[]{\"?\"}\n p = int64[3]{0, 0, 0}\n " + by_splits, "y",
       "string[2,0]{}"});
  rows.push_back({whole + "v = string[0]{}\n d = string[]{\"?\"}\n p = int64[1]{0}\n " + by_splits,
                  "y", "string[0,0]{}"});
  // Elements that have axes of their own.
  rows.push_back({whole +
                      "v = float32[3,2]{1, 2, 3, 4, 5, 6}\n d = float32[2]{-1, -2}\n "
                      "p = int32[3]{0, 1, 3}\n " +
                      by_splits,
                  "y", "float32[2,2,2]{1, 2, -1, -2, 3, 4, 5, 6}"});
  // Two ragged axes: [[1 2] [] ] [[3 4 5]].
  rows.push_back({splits + whole +
                      "o = int64[3]{0, 2, 3}\n y = tf.RaggedTensorToTensor(s, v, d, o, "
                      "p) { row_partition_types = [\"ROW_SPLITS\", \"ROW_SPLITS\"] }",
                  "y", "int32[2,2,3]{1, 2, 9, 9, 9, 9, 3, 4, 5, 9, 9, 9}"});
  rows.push_back({ids + "t = int64[3]{-1, 2, 2}\n m = int64[]{2}\n o = int64[3]{0, 0, 1}\n "
                        "y = tf.RaggedTensorToTensor(t, v, d, m, o, p) { row_partition_types = "
                        "[\"FIRST_DIM_SIZE\", \"VALUE_ROWIDS\", \"VALUE_ROWIDS\"] }",
                  "y", "int32[2,2,2]{1, 2, 9, 9, 3, 4, 9, 9}"});
  rows.push_back({ids + whole +
                      "o = int64[3]{0, 2, 3}\n y = tf.RaggedTensorToTensor(s, v, d, o, p) "
                      "{ row_partition_types = [\"ROW_SPLITS\", \"VALUE_ROWIDS\"] }",
                  "y", "int32[2,2,3]{1, 2, 9, 9, 9, 9, 3, 4, 5, 9, 9, 9}"});
  rows.push_back({ids + whole +
                      "y = tf.RaggedTensorToTensor(s, v, d, p) { row_partition_types = "
                      "[\"VALUE_ROWIDS\"] }",
                  "y", "error how many rows"});
  rows.push_back({ids + whole +
                      "y = tf.RaggedTensorToTensor(s, v, d, p) { row_partition_types = "
                      "[\"ROW_LENGTHS\"] }",
                  "y", "error ROW_LENGTHS"});
  rows.push_back(
      {ids + whole + "y = tf.RaggedTensorToTensor(s, v, d, p)", "y", "error 4 operands"});
  ExpectConstantRows(rows);
}

TEST(TfRagged, ToSparse) {
  ExpectConstantRows(Rows{
      {"v = int32[5]{1, 2, 3, 4, 5}\n p = int64[4]{0, 2, 2, 5}\n "
       "i, w, s = tf.RaggedTensorToSparse(p, v) { RAGGED_RANK = 1 }",
       "i, w, s",
       "int64[5,2]{0, 0, 0, 1, 2, 0, 2, 1, 2, 2}; int32[5]{1, 2, 3, 4, 5}; int64[2]{3, 3}"},
      {"v = int32[0]{}\n p = int64[1]{0}\n i, w, s = tf.RaggedTensorToSparse(p, v)", "i, w, s",
       "int64[0,2]{}; int32[0]{}; int64[2]{0, 0}"},
      {"v = int32[1,1]{1}\n p = int64[2]{0, 1}\n i, w, s = tf.RaggedTensorToSparse(p, v)",
       "i, w, s", "error axes of its own"},
  });
}

}  // namespace
}  // namespace x2ir
