// TensorFlow's ops on constants: what comes out, by its documentation.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/handlers/constant_rows_util.h"

namespace x2ir {
namespace {

using Row = ConstantRow;
void Expect(absl::Span<const Row> rows) { ExpectConstantRows(rows); }

TEST(TfValues, Segments) {
  Expect(std::vector<Row>{
      {"x = int32[4,2]{1,2,3,4,5,6,7,8}\n i = int32[4]{0,0,2,2}\n y = tf.SegmentSum(x, i)", "y",
       "int32[3,2]{4, 6, 0, 0, 12, 14}"},
      {"x = float32[4]{1,2,3,-inf}\n i = int32[4]{0,0,2,3}\n y = tf.SegmentMax(x, i)", "y",
       "float32[4]{2, 0, 3, -inf}"},
      {"x = int32[3]{-1,-2,-3}\n i = int64[3]{0,0,2}\n y = tf.SegmentMin(x, i)", "y",
       "int32[3]{-2, 0, -3}"},
      {"x = float32[3]{2,3,4}\n i = int64[3]{0,0,2}\n y = tf.SegmentProd(x, i)", "y",
       "float32[3]{6, 1, 4}"},
      {"x = float32[3]{1,2,4}\n i = int64[3]{0,0,2}\n y = tf.SegmentMean(x, i)", "y",
       "float32[3]{1.5, 0, 4}"},
      {"x = float32[0,2]{}\n i = int64[0]{}\n y = tf.SegmentSum(x, i)", "y", "float32[0,2]{}"},
      // Negative numbers are left out.
      {"x = float32[2,2]{1,2,3,4}\n i = int32[2,2]{1,-1,1,0}\n n = int32[]{3}\n "
       "y = tf.UnsortedSegmentSum(x, i, n)",
       "y", "float32[3]{4, 4, 0}"},
      {"x = int32[2]{-5,7}\n i = int32[2]{0,2}\n n = int32[]{3}\n "
       "y = tf.UnsortedSegmentMax(x, i, n)",
       "y", "int32[3]{-5, -2147483648, 7}"},
      {"x = uint8[2]{5,7}\n i = int32[2]{0,2}\n n = int32[]{3}\n "
       "y = tf.UnsortedSegmentMin(x, i, n)",
       "y", "uint8[3]{5, 255, 7}"},
      {"x = float16[1]{5}\n i = int32[1]{0}\n n = int32[]{2}\n y = tf.UnsortedSegmentMax(x, i, n)",
       "y", "float16[2]{5, -65504}"},
      {"x = float32[3,1]{1,2,3}\n r = int32[3]{2,0,2}\n i = int32[3]{0,1,1}\n n = int32[]{3}\n "
       "y = tf.SparseSegmentMeanWithNumSegments(x, r, i, n)",
       "y", "float32[3,1]{3, 2, 0}"},
      {"x = string[1]{\"a\"}\n i = int32[1]{0}\n y = tf.SegmentSum(x, i)", "y", "error no real"},
  });
}

// Types that are none or do not fit, as files with a few bytes changed have them.
TEST(TfValues, WrongTypes) {
  Expect(std::vector<Row>{
      {"s = int32[1]{2}\n y = tf.Empty(s) { dtype = type(?) }", "y", "error no counterpart"},
      {"x = float32[2]{1, 2}\n p = int32[1,2]{1, 1}\n c = int32[]{0}\n y = tf.PadV2(x, p, c)", "y",
       "error constant_value"},
  });
}

TEST(TfValues, Drawing) {
  // The third box is the wrong way round; the second and the fourth go beyond the image.
  Expect(std::vector<Row>{
      {"x = float32[1,5,6,1]{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "
       "0, 0, 0, 0, 0, 0, 0}\n b = float32[1,4,4]{0, 0.25, 1, 1, -0.6, 0.3, 0.7, 0.8, 0.5, 0.5, "
       "0.2, 0.9, 0.8, -3, 5, 9}\n c = float32[3,1]{7, 9, 8}\n "
       "y = tf.DrawBoundingBoxesV2(x, b, c)",
       "y",
       "float32[1,5,6,1]{0, 9, 7, 7, 9, 7, 0, 9, 0, 0, 9, 7, 0, 9, 9, 9, 9, 7, 7, 7, 7, 7, 7, 7, "
       "0, 7, 7, 7, 7, 7}"},
      {"x = float16[1,2,2,1]{0, 0, 0, 0}\n b = float32[1,1,4]{0, 0, 0, 1}\n "
       "y = tf.DrawBoundingBoxes(x, b)",
       "y", "float16[1,2,2,1]{1, 1, 0, 0}"},
      {"x = float32[1,1,1,3]{0, 0, 0}\n b = float32[1,2,4]{0, 0, 0, 0, 0, 0, 0, 0}\n "
       "y = tf.DrawBoundingBoxes(x, b)",
       "y", "float32[1,1,1,3]{0, 0, 1}"},
      {"x = float32[1,1,1,5]{0, 0, 0, 0, 0}\n b = float32[1,1,4]{0, 0, 0, 0}\n "
       "y = tf.DrawBoundingBoxes(x, b)",
       "y", "error usual colours"},
  });
}

TEST(TfValues, Counting) {
  Expect(std::vector<Row>{
      {"x = int32[5]{1,1,3,9,0}\n n = int32[]{4}\n w = float32[0]{}\n y = tf.Bincount(x, n, w)",
       "y", "float32[4]{1, 2, 0, 1}"},
      {"x = int32[2]{1,1}\n n = int32[]{2}\n w = float32[2]{0.5,2}\n y = tf.Bincount(x, n, w)", "y",
       "float32[2]{0, 2.5}"},
      {"x = int32[2,3]{0,2,2,1,5,1}\n n = int32[]{3}\n w = int32[0]{}\n "
       "y = tf.DenseBincount(x, n, w)",
       "y", "int32[2,3]{1, 0, 2, 0, 2, 0}"},
      {"x = int32[2,3]{0,2,2,1,5,1}\n n = int32[]{3}\n w = int32[0]{}\n "
       "y = tf.DenseBincount(x, n, w) { binary_output = 1 }",
       "y", "int32[2,3]{1, 0, 1, 0, 1, 0}"},
      {"x = float32[5]{-1,0,1.5,2,15}\n r = float32[2]{0,5}\n n = int32[]{5}\n "
       "y = tf.HistogramFixedWidth(x, r, n)",
       "y", "int32[5]{2, 1, 1, 0, 1}"},
  });
}

TEST(TfValues, Order) {
  Expect(std::vector<Row>{
      {"x = float32[5]{2,nan,2,nan,-0}\n y, i, c = tf.UniqueWithCounts(x)", "y, i, c",
       "float32[4]{2, nan, nan, -0}; int32[5]{0, 1, 0, 2, 3}; int32[4]{2, 1, 1, 1}"},
      {"x = int16[4]{3,1,3,2}\n y, i = tf.Unique(x) { out_idx = type(int64[...]) }", "y, i",
       "int16[3]{3, 1, 2}; int64[4]{0, 1, 0, 2}"},
      {"x = int32[2,2]{1,1,2,2}\n a = int64[1]{1}\n y, i = tf.UniqueV2(x, a)", "y, i",
       "int32[2,1]{1, 2}; int32[2]{0, 0}"},
      {"x = int32[4]{5,1,5,2}\n z = int32[2]{1,7}\n y, i = tf.ListDiff(x, z)", "y, i",
       "int32[3]{5, 5, 2}; int32[3]{0, 2, 3}"},
      {"x = int32[2]{5,1}\n z = int32[0]{}\n y, i = tf.ListDiff(x, z)", "y, i",
       "int32[2]{5, 1}; int32[2]{0, 1}"},
      {"x = float32[2,2]{0,nan,1,0}\n y = tf.Where(x)", "y", "int64[2,2]{0, 1, 1, 0}"},
      {"x = float32[2,3]{1,3,2,6,5,4}\n n = int32[]{1}\n y = tf.NthElement(x, n)", "y",
       "float32[2]{2, 5}"},
      {"x = float32[2,3]{1,3,2,6,5,4}\n n = int32[]{0}\n y = tf.NthElement(x, n) { reverse = 1 }",
       "y", "float32[2]{3, 6}"},
      {"x = float32[3,3]{1,3,2,1,inf,0,1,1,0}\n t = int32[3]{2,0,1}\n k = int32[]{2}\n "
       "y = tf.InTopKV2(x, t, k)",
       "y", "bool[3]{true, false, true}"},
      {"x = float32[1,2]{1,3}\n t = int32[1]{2}\n y = tf.InTopK(x, t) { k = 2 }", "y",
       "bool[1]{false}"},
      {"s = float32[1,3]{1,2,2}\n x = float32[1,4]{0,2,3,nan}\n y = tf.LowerBound(s, x)\n "
       "z = tf.UpperBound(s, x)",
       "y, z", "int32[1,4]{0, 1, 3, 0}; int32[1,4]{0, 3, 3, 3}"},
      {"x = int32[3]{-5,100,10}\n y = tf.Bucketize(x) { boundaries = [0.0, 10.0, 100.0] }", "y",
       "int32[3]{0, 3, 2}"},
      {"x = int32[3]{0,-1,2}\n d = int32[]{2}\n a = float32[]{5}\n b = float32[]{7}\n "
       "y = tf.OneHot(x, d, a, b)",
       "y", "float32[3,2]{5, 7, 7, 7, 7, 7}"},
      {"x = uint8[]{1}\n d = int32[]{2}\n a = int32[]{5}\n b = int32[]{7}\n "
       "y = tf.OneHot(x, d, a, b)",
       "y", "int32[2]{7, 5}"},
      {"x = int32[3]{2,0,1}\n y = tf.InvertPermutation(x)", "y", "int32[3]{1, 2, 0}"},
      {"x = int32[2,2]{1,2,3,4}\n p = int32[2]{1,1}\n "
       "y, z = tf.DynamicPartition(x, p) { num_partitions = 2 }",
       "y, z", "int32[0,2]{}; int32[2,2]{1, 2, 3, 4}"},
      // Of several rows for one place the last.
      {"i = int32[2]{1,0}\n j = int32[]{1}\n x = float32[2,1]{1,2}\n z = float32[1]{3}\n "
       "y = tf.DynamicStitch(i, j, x, z)",
       "y", "float32[2,1]{2, 3}"},
      {"i = int32[2]{1,0}\n j = int32[]{1}\n h = tf.Neg(i)\n k = tf.Neg(h)\n "
       "x = float32[2,1]{1,2}\n z = float32[1]{3}\n y = tf.DynamicStitch(k, j, x, z)",
       "y", "float32[2,1]{2, 3}"},
  });
}

TEST(TfValues, Scatters) {
  Expect(std::vector<Row>{
      {"i = int32[3,1]{1,1,0}\n u = float32[3]{1,2,3}\n s = int32[1]{4}\n "
       "y = tf.ScatterNd(i, u, s)",
       "y", "float32[4]{3, 3, 0, 0}"},
      {"i = int32[1,1]{9}\n u = float32[1]{1}\n s = int32[1]{4}\n "
       "y = tf.ScatterNd(i, u, s) { bad_indices_policy = \"IGNORE\" }",
       "y", "error ignored"},
      {"x = int32[3]{1,2,3}\n i = int32[2,1]{1,1}\n u = int32[2]{5,7}\n "
       "y = tf.TensorScatterSub(x, i, u)",
       "y", "int32[3]{1, -10, 3}"},
      {"v = float32[2,2]{1,2,3,4}\n i = int32[]{1}\n u = float32[]{10}\n y = tf.ScatterAdd(v, i, "
       "u)",
       "y", "float32[2,2]{1, 2, 13, 14}"},
      {"v = int32[2]{100,4}\n i = int32[1]{0}\n u = int32[1]{7}\n y = tf.ScatterDiv(v, i, u)", "y",
       "int32[2]{14, 4}"},
      {"v = float32[2]{100,4}\n i = int32[2]{0,0}\n u = float32[2]{5,4}\n "
       "y = tf.ScatterDiv(v, i, u)",
       "y", "float32[2]{5, 4}"},
      {"v = int32[2]{100,4}\n i = int32[2]{0,0}\n u = int32[2]{5,4}\n y = tf.ScatterDiv(v, i, u)",
       "y", "error several divisions"},
      // Somebody else sees the variable, before or after.
      {"v = float32[2]{1,2}\n i = int32[1]{1}\n u = float32[1]{10}\n a = tf.ScatterAdd(v, i, u)\n "
       "r = tf.Identity(v)\n y = tf.Add(a, r)",
       "y", "error the order is not certain"},
      {"v = tf.VariableV2() { dtype = type(float32[...]) }\n u = float32[1]{10}\n "
       "a = tf.Assign(v, u)\n y = tf.AssignAdd(a, u)",
       "y", "float32[1]{20}"},
      {"v = tf.VariableV2() { dtype = type(float32[...]) }\n u = float32[1]{10}\n "
       "y = tf.AssignAdd(v, u)",
       "y", "error no value"},
      {"i = int64[2,2]{0,1,1,0}\n v = float32[2]{5,7}\n s = int64[2]{2,2}\n "
       "b = float32[2,2]{1,inf,3,4}\n y = tf.SparseTensorDenseMatMul(i, v, s, b)\n "
       "z = tf.SparseTensorDenseAdd(i, v, s, b)",
       "y, z", "float32[2,2]{15, 20, 7, inf}; float32[2,2]{1, inf, 10, 4}"},
      {"i = int32[2]{1,2}\n s = int32[1]{4}\n v = float32[]{5}\n d = float32[]{9}\n "
       "y = tf.SparseToDense(i, s, v, d)",
       "y", "float32[4]{9, 5, 5, 9}"},
  });
}

TEST(TfValues, Diagonals) {
  Expect(std::vector<Row>{
      {"x = int32[2]{1,2}\n y = tf.MatrixDiag(x)", "y", "int32[2,2]{1, 0, 0, 2}"},
      {"x = int32[3]{1,2,3}\n k = int32[]{1}\n r = int32[]{-1}\n p = int32[]{9}\n "
       "y = tf.MatrixDiagV3(x, k, r, r, p)",
       "y", "int32[4,4]{9, 1, 9, 9, 9, 9, 2, 9, 9, 9, 9, 3, 9, 9, 9, 9}"},
      {"x = int32[3]{1,2,3}\n k = int32[]{-1}\n m = int32[]{4}\n n = int32[]{3}\n p = int32[]{0}\n "
       "y = tf.MatrixDiagV2(x, k, m, n, p)",
       "y", "int32[4,3]{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3}"},
      // Above the diagonal at the right end, below it at the left.
      {"x = int32[3,3]{1,2,3,4,5,6,7,8,9}\n k = int32[2]{-1,1}\n p = int32[]{0}\n "
       "y = tf.MatrixDiagPartV3(x, k, p)\n z = tf.MatrixDiagPartV2(x, k, p)",
       "y, z", "int32[3,3]{0, 2, 6, 1, 5, 9, 4, 8, 0}; int32[3,3]{2, 6, 0, 1, 5, 9, 4, 8, 0}"},
      {"x = int32[2,4]{1,2,3,4,5,6,7,8}\n k = int32[]{2}\n p = int32[]{0}\n "
       "y = tf.MatrixDiagPartV3(x, k, p)\n z = tf.MatrixDiagPart(x)",
       "y, z", "int32[2]{3, 8}; int32[2]{1, 6}"},
      {"x = int32[2,2]{1,2,3,4}\n k = int32[]{2}\n p = int32[]{0}\n "
       "y = tf.MatrixDiagPartV3(x, k, p)",
       "y", "error diagonals 2 to 2"},
      {"x = int32[2,2]{1,2,3,4}\n k = int32[]{0}\n p = int32[]{0}\n "
       "y = tf.MatrixDiagPartV3(x, k, p) { align = \"MIDDLE\" }",
       "y", "error align"},
      {"x = int32[2,3]{1,2,3,4,5,6}\n d = int32[2]{8,9}\n y = tf.MatrixSetDiag(x, d)", "y",
       "int32[2,3]{8, 2, 3, 4, 9, 6}"},
      {"x = int32[3,3]{1,1,1,1,1,1,1,1,1}\n k = int32[2]{0,1}\n d = int32[2,3]{0,8,9,5,6,7}\n "
       "y = tf.MatrixSetDiagV3(x, d, k)",
       "y", "int32[3,3]{5, 8, 1, 1, 6, 9, 1, 1, 7}"},
      {"x = int32[2,1]{1,2}\n y = tf.Diag(x)\n z = tf.DiagPart(y)", "y, z",
       "int32[2,1,2,1]{1, 0, 0, 2}; int32[2,1]{1, 2}"},
      {"x = float32[2,3]{1,2,inf,4,5,6}\n l = int64[]{0}\n u = int64[]{1}\n "
       "y = tf.MatrixBandPart(x, l, u)",
       "y", "float32[2,3]{1, 2, 0, 0, 5, 6}"},
  });
}

TEST(TfValues, Bits) {
  Expect(std::vector<Row>{
      {"x = int32[1]{66051}\n n = tf.Neg(x)\n m = tf.Neg(n)\n "
       "y = tf.Bitcast(m) { type = type(uint8[...]) }\n "
       "z = tf.Bitcast(y) { type = type(int32[...]) }",
       "y, z", "uint8[1,4]{3, 2, 1, 0}; int32[1]{66051}"},
      {"x = float32[2]{1, -2}\n y = tf.Bitcast(x) { type = type(uint16[...]) }\n "
       "z = tf.Bitcast(x) { type = type(int64[...]) }",
       "y, z", "uint16[2,2]{0, 16256, 0, 49152}; int64[]{-4611686017362034688}"},
      {"x = int64[1]{-81985529216486896}\n y = tf.Neg(x)\n n = tf.Neg(y)\n "
       "z = tf.Bitcast(n) { type = type(uint16[...]) }\n w = tf.Bitcast(z) { type = "
       "type(int64[...]) }\n "
       "b = tf.Bitcast(n) { type = type(int8[...]) }",
       "w", "int64[1]{-81985529216486896}"},
      {"x = uint8[3]{1,2,3}\n y = tf.Bitcast(x) { type = type(uint16[...]) }", "y",
       "error expected 2"},
      {"x = bool[1]{true}\n y = tf.Bitcast(x) { type = type(uint8[...]) }", "y", "error a bitcast"},
      {"x = float32[8]{1,0,0,2,0,0,nan,3}\n t = float32[]{0.5}\n y = tf.CompareAndBitpack(x, t)",
       "y", "uint8[1]{145}"},
      // TensorFlow's kernel does not look at the threshold of bools.
      {"x = bool[8]{true,false,false,true,false,false,false,true}\n t = bool[]{true}\n "
       "y = tf.CompareAndBitpack(x, t)",
       "y", "uint8[1]{145}"},
      {"x = float32[4]{0,1,-1,nan}\n z = float32[4]{-1,inf,-inf,1}\n y = tf.NextAfter(x, z)\n "
       "i = tf.Bitcast(y) { type = type(int32[...]) }\n n = tf.IsNan(y)",
       "n, i",
       "bool[4]{false, false, false, true}; "
       "int32[4]{-2147483647, 1065353217, -1082130431, 2143289344}"},
  });
}

TEST(TfValues, TransposeByComputedAxes) {
  const std::string x =
      "x = int32[2,1,3]{1,2,3,4,5,6}\n p = int32[3]{-2, 0, -1}\n q = tf.Neg(p)\n ";
  Expect(std::vector<Row>{
      {x + "y = tf.Transpose(x, q)", "y", "int32[3,2,1]{1, 4, 2, 5, 3, 6}"},
      {x + "r = int32[3]{1, -3, 2}\n s = tf.Neg(r)\n t = tf.Neg(s)\n y = tf.Transpose(x, t)", "y",
       "int32[1,2,3]{1, 2, 3, 4, 5, 6}"},
      {"x = float32[2]{1,2}\n p = int32[1]{0}\n q = tf.Neg(p)\n y = tf.Transpose(x, q)", "y",
       "float32[2]{1, 2}"},
  });
}

TEST(TfValues, RaggedRange) {
  Expect(std::vector<Row>{
      // The example of TensorFlow's documentation.
      {"s = int32[3]{2,5,8}\n l = int32[3]{3,5,12}\n d = int32[]{1}\n "
       "y, z = tf.RaggedRange(s, l, d)",
       "y, z", "int64[4]{0, 1, 1, 5}; int32[5]{2, 8, 9, 10, 11}"},
      {"s = int64[]{10}\n l = int64[4]{0,10,15,9}\n d = int64[4]{-3,1,2,-1}\n "
       "y, z = tf.RaggedRange(s, l, d) { Tsplits = type(int32[...]) }",
       "y, z", "int32[5]{0, 4, 4, 7, 8}; int64[8]{10, 7, 4, 1, 10, 12, 14, 10}"},
      {"s = int32[]{3}\n l = int32[]{-4}\n d = int32[]{2}\n y, z = tf.RaggedRange(s, l, d)", "y, z",
       "int64[2]{0, 0}; int32[0]{}"},
      {"s = float32[]{3}\n l = float32[]{4}\n d = float32[]{2}\n y, z = tf.RaggedRange(s, l, d)",
       "y, z", "error ranges of float32"},
  });
}

TEST(TfValues, Scans) {
  Expect(std::vector<Row>{
      {"x = int32[3]{2,3,4}\n a = int32[]{-1}\n y = tf.Cumprod(x, a) { exclusive = 1, reverse = 1 "
       "}",
       "y", "int32[3]{12, 4, 1}"},
      {"x = float32[2]{0,0}\n a = int32[]{0}\n y = tf.CumulativeLogsumexp(x, a)\n "
       "z = tf.CumulativeLogsumexp(x, a) { exclusive = 1 }",
       "y, z", "float32[2]{0, 0.6931472}; float32[2]{-3.4028235e+38, 0}"},
      {"x = float32[]{0}\n z = float32[]{1}\n n = int32[]{3}\n y = tf.LinSpace(x, z, n)", "y",
       "float32[3]{0, 0.5, 1}"},
      {"x = float32[]{3}\n z = float32[]{1}\n n = int32[]{1}\n y = tf.LinSpace(x, z, n)", "y",
       "float32[1]{3}"},
      {"x = int32[3]{1,2,3}\n z = int32[3]{4,5,6}\n y = tf.Cross(x, z)", "y",
       "int32[3]{-3, 6, -3}"},
      {"s = int32[3]{2,1,5}\n t = int32[2]{3,1}\n y, z = tf.BroadcastGradientArgs(s, t)", "y, z",
       "int32[1]{1}; int32[2]{0, 2}"},
  });
}

TEST(TfValues, LinearAlgebra) {
  Expect(std::vector<Row>{
      {"x = float32[2,2]{0,2,4,0}\n y = tf.MatrixInverse(x)\n z = tf.MatrixInverse(x) { adjoint = "
       "1 }",
       "y, z", "float32[2,2]{0, 0.25, 0.5, 0}; float32[2,2]{0, 0.5, 0.25, 0}"},
      {"x = float32[2,2]{0,2,4,0}\n b = float32[2,1]{2,4}\n y = tf.MatrixSolve(x, b)\n "
       "z = tf.MatrixSolve(x, b) { adjoint = 1 }",
       "y, z", "float32[2,1]{1, 1}; float32[2,1]{2, 0.5}"},
      {"x = float32[2,2]{2,9,4,5}\n b = float32[3,2,1]{4,18,2,9,0,5}\n "
       "y = tf.MatrixTriangularSolve(x, b)",
       "y", "float32[3,2,1]{2, 2, 1, 1, 0, 1}"},
      {"x = float32[3,2,2]{0,1,1,0,2,0,0,2,1,1,1,1}\n s, l = tf.LogMatrixDeterminant(x)", "s, l",
       "float32[3]{-1, 1, 0}; float32[3]{0, 1.3862944, -inf}"},
      {"x = float32[2,2]{1,2,4,6}\n y, p = tf.Lu(x)", "y, p",
       "float32[2,2]{4, 6, 0.25, 0.5}; int32[2]{1, 0}"},
      {"x = float32[2,2]{3,0,0,2}\n s, u, v = tf.Svd(x) { compute_uv = 0 }", "s",
       "float32[2]{3, 2}"},
      {"r = float32[1,1]{1}\n x = tf.Complex(r, r)\n y = tf.Cholesky(x)", "y", "error Cholesky"},
  });
}

TEST(TfValues, Tridiagonal) {
  // [[1, 2, 0], [3, 4, 5], [0, 6, 7]] times (1, 2, 3) is (5, 26, 33).
  Expect(std::vector<Row>{
      {"d = float64[3,3]{2,5,nan,1,4,7,nan,3,6}\n b = float64[3,1]{5,26,33}\n "
       "x = tf.TridiagonalSolve(d, b)\n y = tf.Round(x)",
       "y", "float64[3,1]{1, 2, 3}"},
      {"a = float64[1,3]{2,5,nan}\n o = float64[1,3]{1,4,7}\n b = float64[1,3]{nan,3,6}\n "
       "x = float64[3,2]{1,inf,2,0,3,0}\n y = tf.TridiagonalMatMul(a, o, b, x)",
       "y", "float64[3,2]{5, inf, 26, inf, 33, 0}"},
      {"d = float32[1,3,1]{9,4,9}\n b = float32[1,1,2]{8,2}\n y = tf.TridiagonalSolve(d, b)", "y",
       "float32[1,1,2]{2, 0.5}"},
  });
}

TEST(TfValues, MirrorPad) {
  const std::string x = "x = int32[3]{1,2,3}\n ";
  Expect(std::vector<Row>{
      {x + "p = int32[1,2]{3,2}\n y = tf.MirrorPad(x, p) { mode = \"SYMMETRIC\" }", "y",
       "int32[8]{3, 2, 1, 1, 2, 3, 3, 2}"},
      {x + "p = int32[1,2]{2,1}\n y = tf.MirrorPad(x, p) { mode = \"REFLECT\" }", "y",
       "int32[6]{3, 2, 1, 2, 3, 2}"},
      {x + "p = int32[1,2]{4,0}\n y = tf.MirrorPad(x, p) { mode = \"SYMMETRIC\" }", "y",
       "error shorter than its paddings"},
  });
}

TEST(TfValues, Indices) {
  Expect(std::vector<Row>{
      {"i = int32[3]{22,41,0}\n d = int32[2]{7,6}\n y = tf.UnravelIndex(i, d)", "y",
       "int32[2,3]{3, 6, 0, 4, 5, 0}"},
      {"i = int64[]{22}\n d = int64[3]{2,3,4}\n y = tf.UnravelIndex(i, d)", "y",
       "int64[3]{1, 2, 2}"},
      {"x = int32[4]{0,1,-1,-2}\n y = tf.DataFormatDimMap(x)", "y", "int32[4]{0, 2, 1, 3}"},
      {"x = int32[4]{10,20,30,40}\n y = tf.DataFormatVecPermute(x)\n "
       "z = tf.DataFormatVecPermute(y) { src_format = \"NCHW\", dst_format = \"NHWC\" }",
       "y, z", "int32[4]{10, 40, 20, 30}; int32[4]{10, 20, 30, 40}"},
      {"x = int32[2,2]{1,2,3,4}\n y = tf.DataFormatVecPermute(x) { src_format = \"NHWC\", "
       "dst_format = \"NCWH\" }",
       "y", "int32[2,2]{3, 4, 1, 2}"},
      {"x = int32[3]{1,2,3}\n y = tf.DataFormatVecPermute(x)", "y", "error expected 4 axes"},
      {"x = int32[3]{1,2,3}\n y = tf.DataFormatDimMap(x) { dst_format = \"NHWW\" }", "y",
       "error layouts"},
      {"x = int32[2,2]{1,2,3,4}\n i = int32[1]{1}\n v = int32[1,2]{7,8}\n "
       "y = tf.InplaceUpdate(x, i, v)\n z = tf.InplaceAdd(x, i, v)\n w = tf.InplaceSub(x, i, v)",
       "y, z, w", "int32[2,2]{1, 2, 7, 8}; int32[2,2]{1, 2, 10, 12}; int32[2,2]{1, 2, -4, -4}"},
      {"x = int32[2,3]{1,2,3,4,5,6}\n p = int32[2]{1,0}\n y = tf.ConjugateTranspose(x, p)", "y",
       "int32[3,2]{1, 4, 2, 5, 3, 6}"},
      {"x = int8[4]{0,-1,-128,3}\n y = tf.PopulationCount(x)", "y", "uint8[4]{0, 8, 1, 2}"},
      {"x = int64[]{-2}\n y = tf.PopulationCount(x)", "y", "uint8[]{63}"},
  });
}

TEST(TfValues, Sparse) {
  Expect(std::vector<Row>{
      {"i = int64[2,2]{0,1,2,3}\n s = int64[2]{3,4}\n n = int64[3]{2,-1,3}\n "
       "y, z = tf.SparseReshape(i, s, n)",
       "y, z", "int64[2,3]{0, 0, 1, 1, 1, 2}; int64[3]{2, 2, 3}"},
      {"i = int64[0,2]{}\n s = int64[2]{0,4}\n n = int64[1]{-1}\n "
       "y, z = tf.SparseReshape(i, s, n)",
       "y, z", "int64[0,1]{}; int64[1]{0}"},
      {"i = int64[3,2]{2,3,0,1,0,0}\n v = float32[3]{1,2,3}\n s = int64[2]{3,4}\n "
       "y, z = tf.SparseReorder(i, v, s)",
       "y, z", "int64[3,2]{0, 0, 0, 1, 2, 3}; float32[3]{3, 2, 1}"},
      {"i = int64[3,2]{2,3,0,1,2,0}\n v = string[3]{\"a\",\"b\",\"c\"}\n s = int64[2]{4,4}\n "
       "d = string[]{\"-\"}\n y, z, e, r = tf.SparseFillEmptyRows(i, v, s, d)",
       "y, z, e, r",
       "int64[5,2]{0, 1, 1, 0, 2, 3, 2, 0, 3, 0}; string[5]{\"b\", \"-\", \"a\", \"c\", \"-\"}; "
       "bool[4]{false, true, false, true}; int64[3]{2, 0, 3}"},
      {"i = int64[3,2]{2,3,0,1,2,0}\n v = int32[3]{5,6,7}\n s = int64[2]{3,4}\n a = int32[1]{1}\n "
       "n = int32[0]{}\n y = tf.SparseReduceSum(i, v, s, a)\n "
       "z = tf.SparseReduceSum(i, v, s, a) { keep_dims = 1 }\n w = tf.SparseReduceSum(i, v, s, n)",
       "y, z, w", "int32[3]{6, 0, 12}; int32[3,1]{6, 0, 12}; int32[]{18}"},
      {"i = int64[2,2]{0,1,1,0}\n v = float32[2]{6,8}\n s = int64[2]{2,2}\n d = float32[2]{2,3}\n "
       "y = tf.SparseDenseCwiseMul(i, v, s, d)\n z = tf.SparseDenseCwiseDiv(i, v, s, d)\n "
       "w = tf.SparseDenseCwiseAdd(i, v, s, d)",
       "y, z, w", "float32[2]{18, 16}; float32[2]{2, 4}; float32[2]{9, 10}"},
      {"x = float32[2,1]{1,2}\n z = bfloat16[2,1]{3,4}\n "
       "y = tf.SparseMatMul(x, z) { transpose_a = 1 }",
       "y", "float32[1,1]{11}"},
  });
}

// Two boxes that are nearly one, and a third; the classes want other ones.
TEST(TfValues, CombinedNonMaxSuppression) {
  const std::string both =
      "s = float32[1,3,2]{0.9,0.1, 0.8,0.7, 0.3,0.6}\n p = int32[]{2}\n n = int32[]{3}\n "
      "o = float32[]{0.5}\n t = float32[]{0.2}\n ";
  const std::string shared = "b = float32[1,3,1,4]{0,0,1,1, 0,0,1,1.25, 2,2,3,3}\n " + both +
                             "y, z, c, v = tf.CombinedNonMaxSuppression(b, s, p, n, o, t) ";
  const std::string own =
      "b = float32[1,3,2,4]{0,0,1,1,0,0,1,1, 0,0,1,1.25,5,5,6,6, 2,2,3,3,5,5,6,6}\n " + both +
      "y, z, c, v = tf.CombinedNonMaxSuppression(b, s, p, n, o, t) { clip_boxes = 0 }";
  const std::string padded = shared + "{ pad_per_class = 1 }";
  const std::string few =
      "b = float32[2,1,1,4]{0,0,1,1,0,0,1,1}\n s = float32[2,1,1]{0.5,0.1}\n "
      "p = int32[]{2}\n n = int32[]{3}\n o = float32[]{0.5}\n "
      "t = float32[]{0.2}\n "
      "y, z, c, v = tf.CombinedNonMaxSuppression(b, s, p, n, o, t) ";
  Expect(std::vector<Row>{
      {shared, "y, z, c, v",
       "float32[1,3,4]{0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1}; float32[1,3]{0.9, 0.7, 0.6}; "
       "float32[1,3]{0, 1, 1}; int32[1]{3}"},
      {own, "y, z, c, v",
       "float32[1,3,4]{0, 0, 1, 1, 5, 5, 6, 6, 2, 2, 3, 3}; float32[1,3]{0.9, 0.7, 0.3}; "
       "float32[1,3]{0, 1, 0}; int32[1]{3}"},
      {padded, "z", "float32[1,3]{0.9, 0.7, 0.6}"},
      {few, "y, z, c, v",
       "float32[2,3,4]{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}; "
       "float32[2,3]{0.5, 0, 0, 0, 0, 0}; float32[2,3]{0, 0, 0, 0, 0, 0}; int32[2]{1, 0}"},
      {few + "{ pad_per_class = 1 }", "z", "float32[2,2]{0.5, 0, 0, 0}"},
  });
}

}  // namespace
}  // namespace x2ir
