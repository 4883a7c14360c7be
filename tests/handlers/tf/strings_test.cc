// TensorFlow's ops on text: what comes out, by its documentation and by hand.
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/handlers/constant_rows_util.h"

namespace x2ir {
namespace {

using Rows = std::vector<ConstantRow>;

TEST(TfStrings, EachByItself) {
  ExpectConstantRows(Rows{
      {"x = string[]{\"A\u00c4bc\"}\n y = tf.StringLower(x)\n z = tf.StringUpper(x)", "y, z",
       "string[]{\"a\u00c4bc\"}; string[]{\"A\u00c4BC\"}"},
      {"x = string[1,2]{\"Ab\", \"\"}\n y = tf.StringLower(x) { encoding = \"utf-8\" }", "y",
       "string[1,2]{\"ab\", \"\"}"},
      {"x = string[]{\"\u00c4\"}\n y = tf.StringLower(x) { encoding = \"utf-8\" }", "y",
       "error locale"},
      {"x = string[]{\"A\"}\n y = tf.StringLower(x) { encoding = \"latin\" }", "y",
       "error encoding 'latin'"},
      {"x = string[3]{\"a\u00c4\u20ac\", \"\", \"xyz\"}\n y = tf.StringLength(x)\n "
       "z = tf.StringLength(x) { unit = \"UTF8_CHAR\" }",
       "y, z", "int32[3]{6, 0, 3}; int32[3]{3, 0, 3}"},
      {"x = string[]{\"a\"}\n y = tf.StringLength(x) { unit = \"WORD\" }", "y", "error unit"},
      {"x = string[4]{\" \\n a b\\t\", \"\", \" \", \"c\"}\n y = tf.StringStrip(x)", "y",
       "string[4]{\"a b\", \"\", \"\", \"c\"}"},
      {"x = string[4]{\"a\", \"ab\", \"abc\", \"\"}\n y = tf.EncodeBase64(x)\n "
       "z = tf.EncodeBase64(x) { pad = 1 }\n p = tf.DecodeBase64(y)\n q = tf.DecodeBase64(z)",
       "y, z, p, q",
       "string[4]{\"YQ\", \"YWI\", \"YWJj\", \"\"}; "
       "string[4]{\"YQ==\", \"YWI=\", \"YWJj\", \"\"}; string[4]{\"a\", \"ab\", \"abc\", \"\"}; "
       "string[4]{\"a\", \"ab\", \"abc\", \"\"}"},
      {"x = string[]{\"?"
       "?>\"}\n y = tf.EncodeBase64(x)",
       "y", "string[]{\"Pz8-\"}"},
      {"x = string[]{\"Y+\"}\n y = tf.DecodeBase64(x)", "y", "error base64"},
      {"x = string[]{\"YQ ==\"}\n y = tf.DecodeBase64(x)", "y", "error base64"},
  });
}

TEST(TfStrings, Substrings) {
  ExpectConstantRows(Rows{
      {"x = string[2]{\"Hello\", \"World\"}\n p = int32[]{1}\n l = int32[]{3}\n "
       "y = tf.Substr(x, p, l)",
       "y", "string[2]{\"ell\", \"orl\"}"},
      {"x = string[2]{\"Hello\", \"World\"}\n p = int32[2]{-2, 5}\n l = int32[2]{9, 1}\n "
       "y = tf.Substr(x, p, l)",
       "y", "string[2]{\"lo\", \"\"}"},
      // Both ways broadcast.
      {"x = string[2,1]{\"ten\", \"six\"}\n p = int64[3]{0, 1, 2}\n l = int64[3]{1, 2, -1}\n "
       "y = tf.Substr(x, p, l)",
       "y", "string[2,3]{\"t\", \"en\", \"n\", \"s\", \"ix\", \"x\"}"},
      {"x = string[]{\"a\u00c4\u20acb\"}\n p = int32[3]{1, -2, 4}\n l = int32[3]{2, 1, 5}\n "
       "y = tf.Substr(x, p, l) { unit = \"UTF8_CHAR\" }",
       "y", "string[3]{\"\u00c4\u20ac\", \"\u20ac\", \"\"}"},
      {"x = string[]{\"abc\"}\n p = int32[]{1}\n l = int32[]{-1}\n "
       "y = tf.Substr(x, p, l) { unit = \"UTF8_CHAR\" }",
       "y", "string[]{\"\"}"},
      {"x = string[]{\"abc\"}\n p = int32[]{4}\n l = int32[]{1}\n y = tf.Substr(x, p, l)", "y",
       "error start 4 in a string of 3"},
      {"x = string[]{\"abc\"}\n p = int32[]{-4}\n l = int32[]{1}\n y = tf.Substr(x, p, l)", "y",
       "error start -4 in a string of 3"},
  });
}

TEST(TfStrings, Regexes) {
  const std::string x = "x = string[2]{\"a1b22\", \"c\"}\n ";
  const std::string pattern = "p = string[]{\"([0-9])+\"}\n w = string[]{\"<\\\\1>\"}\n ";
  ExpectConstantRows(Rows{
      {"x = string[2]{\"ab\", \"b\"}\n y = tf.StaticRegexFullMatch(x) { pattern = \"a.*\" }", "y",
       "bool[2]{true, false}"},
      {x + pattern + "y = tf.RegexReplace(x, p, w)", "y", "string[2]{\"a<1>b<2>\", \"c\"}"},
      {x + pattern + "y = tf.RegexReplace(x, p, w) { replace_global = 0 }", "y",
       "string[2]{\"a<1>b22\", \"c\"}"},
      {x + "y = tf.StaticRegexReplace(x) { pattern = \"[!-@]\", rewrite = \"\" }", "y",
       "string[2]{\"ab\", \"c\"}"},
      {x + "y = tf.StaticRegexReplace(x) { pattern = \"\", rewrite = \"-\" }", "y",
       "string[2]{\"-a-1-b-2-2-\", \"-c-\"}"},
      {x + "y = tf.StaticRegexReplace(x) { pattern = \"(\", rewrite = \"\" }", "y",
       "error pattern"},
      {x + "y = tf.StaticRegexReplace(x) { pattern = \"a\", rewrite = \"\\\\1\" }", "y",
       "error rewrite"},
      {x + "p = tf.Identity(x)\n y = tf.RegexFullMatch(x, p)", "y", "error one string"},
  });
}

TEST(TfStrings, Joined) {
  const std::string x = "x = string[2,2]{\"a\", \"b\", \"c\", \"d\"}\n ";
  ExpectConstantRows(Rows{
      {"x = string[2]{\"a\", \"b\"}\n z = string[]{\"c\"}\n "
       "y = tf.StringJoin(x, z) { separator = \"-\" }",
       "y", "string[2]{\"a-c\", \"b-c\"}"},
      {x + "i = int32[]{0}\n y = tf.ReduceJoin(x, i)", "y", "string[2]{\"ac\", \"bd\"}"},
      {x + "i = int32[1]{-1}\n y = tf.ReduceJoin(x, i) { keep_dims = 1, separator = \".\" }", "y",
       "string[2,1]{\"a.b\", \"c.d\"}"},
      {x + "i = int32[2]{0, 1}\n y = tf.ReduceJoin(x, i)", "y", "string[]{\"acbd\"}"},
      {x + "i = int32[2]{1, 0}\n y = tf.ReduceJoin(x, i) { keep_dims = 1 }", "y",
       "string[1,1]{\"abcd\"}"},
      {x + "i = int32[0]{}\n y = tf.ReduceJoin(x, i)", "y",
       "string[2,2]{\"a\", \"b\", \"c\", \"d\"}"},
      {x + "i = int32[2]{1, -1}\n y = tf.ReduceJoin(x, i)", "y", "error "},
      {"x = string[2,0]{}\n i = int32[1]{1}\n y = tf.ReduceJoin(x, i)", "y",
       "string[2]{\"\", \"\"}"},
  });
}

TEST(TfStrings, Split) {
  ExpectConstantRows(Rows{
      {"x = string[2]{\"hello world\", \" a  b\\tc \"}\n d = string[]{\"\"}\n "
       "i, v, s = tf.StringSplitV2(x, d)",
       "i, v, s",
       "int64[5,2]{0, 0, 0, 1, 1, 0, 1, 1, 1, 2}; "
       "string[5]{\"hello\", \"world\", \"a\", \"b\", \"c\"}; int64[2]{2, 3}"},
      {"x = string[3]{\"a,,b\", \"\", \"c\"}\n d = string[]{\",\"}\n "
       "i, v, s = tf.StringSplitV2(x, d)",
       "i, v, s",
       "int64[5,2]{0, 0, 0, 1, 0, 2, 1, 0, 2, 0}; string[5]{\"a\", \"\", \"b\", \"\", \"c\"}; "
       "int64[2]{3, 3}"},
      {"x = string[1]{\"a<>b<>c\"}\n d = string[]{\"<>\"}\n "
       "i, v, s = tf.StringSplitV2(x, d) { maxsplit = 1 }",
       "i, v, s", "int64[2,2]{0, 0, 0, 1}; string[2]{\"a\", \"b<>c\"}; int64[2]{1, 2}"},
      // Of white space only that of ASCII.
      {"x = string[2]{\"a\u00a0b\", \"\"}\n d = string[]{\"\"}\n i, v, s = tf.StringSplitV2(x, d)",
       "i, v, s", "int64[1,2]{0, 0}; string[1]{\"a\u00a0b\"}; int64[2]{2, 1}"},
      {"x = string[0]{}\n d = string[]{\"\"}\n i, v, s = tf.StringSplitV2(x, d)", "i, v, s",
       "int64[0,2]{}; string[0]{}; int64[2]{0, 0}"},
      {"x = string[1]{\"a b\"}\n d = string[]{\"\"}\n "
       "i, v, s = tf.StringSplitV2(x, d) { maxsplit = 1 }",
       "i, v, s", "error maxsplit"},
      {"x = string[2]{\",a-b\", \"-\\\\c\"}\n d = string[]{\",-\\\\\"}\n "
       "i, v, s = tf.StringSplit(x, d)",
       "i, v, s", "int64[3,2]{0, 0, 0, 1, 1, 0}; string[3]{\"a\", \"b\", \"c\"}; int64[2]{2, 2}"},
      {"x = string[2]{\"a\\\\b]c\", \"d\"}\n d = string[]{\"\\\\]\"}\n "
       "i, v, s = tf.StringSplit(x, d) { skip_empty = 0 }",
       "i, v, s",
       "int64[4,2]{0, 0, 0, 1, 0, 2, 1, 0}; string[4]{\"a\", \"b\", \"c\", \"d\"}; "
       "int64[2]{2, 3}"},
      {"x = string[1]{\"ab\"}\n d = string[]{\"\"}\n i, v, s = tf.StringSplit(x, d)", "i, v, s",
       "error into its bytes"},
      {"x = string[1,1]{\"ab\"}\n d = string[]{\"\"}\n i, v, s = tf.StringSplitV2(x, d)", "i, v, s",
       "error vector"},
  });
}

TEST(TfStrings, Numbers) {
  const std::string x = "x = float32[4]{1.5, -0, inf, 1e10}\n ";
  ExpectConstantRows(Rows{
      {"x = int32[2]{-3, 7}\n y = tf.AsString(x)\n z = tf.AsString(x) { width = 3 }\n "
       "w = tf.AsString(x) { width = 3, fill = \"0\" }",
       "y, z, w",
       "string[2]{\"-3\", \"7\"}; string[2]{\" -3\", \"  7\"}; string[2]{\"-03\", \"007\"}"},
      {"x = uint8[1]{200}\n y = tf.AsString(x) { width = 4, fill = \"-\" }", "y",
       "string[1]{\"200 \"}"},
      {"x = bool[2]{true, false}\n y = tf.AsString(x)", "y", "string[2]{\"true\", \"false\"}"},
      {x + "y = tf.AsString(x)", "y",
       "string[4]{\"1.500000\", \"-0.000000\", \"inf\", \"10000000000.000000\"}"},
      {x + "y = tf.AsString(x) { precision = 0 }", "y",
       "string[4]{\"2\", \"-0\", \"inf\", \"10000000000\"}"},
      {x + "y = tf.AsString(x) { scientific = 1, precision = 2 }", "y",
       "string[4]{\"1.50e+00\", \"-0.00e+00\", \"inf\", \"1.00e+10\"}"},
      {x + "y = tf.AsString(x) { shortest = 1, width = 6, fill = \"0\" }", "y",
       "string[4]{\"0001.5\", \"-00000\", \"   inf\", \"01e+10\"}"},
      {"x = float64[1]{0.1}\n y = tf.AsString(x) { precision = 20 }", "y",
       "string[1]{\"0.10000000000000000555\"}"},
      {"x = float16[1]{0.1}\n y = tf.AsString(x) { precision = 6 }", "y",
       "string[1]{\"0.099976\"}"},
      {x + "y = tf.AsString(x) { shortest = 1, scientific = 1 }", "y", "error at once"},
      {x + "y = tf.AsString(x) { fill = \"+\" }", "y", "error without a width"},
      {x + "y = tf.AsString(x) { width = 4, fill = \"x\" }", "y", "error flag"},
      {x + "y = tf.AsString(x) { width = 123456789 }", "y", "error width"},
      {"x = int8[1]{3}\n y = tf.AsString(x) { precision = 1 }", "y", "error of integers"},
      {"x = string[2]{\"1.5\", \"-2\"}\n y = tf.StringToNumber(x)", "y", "float32[2]{1.5, -2}"},
      {"x = string[2]{\"15\", \"-2\"}\n y = tf.StringToNumber(x) { out_type = type(int64[...]) }",
       "y", "int64[2]{15, -2}"},
      {"x = string[]{\"two\"}\n y = tf.StringToNumber(x)", "y", "error no number"},
  });
}

TEST(TfStrings, Hashed) {
  ExpectConstantRows(Rows{
      // As TensorFlow's documentation has them.
      {"x = string[3]{\"Hello\", \"TensorFlow\", \"2.x\"}\n "
       "y = tf.StringToHashBucketFast(x) { num_buckets = 3 }",
       "y", "int64[3]{0, 2, 2}"},
      {"x = string[2]{\"Hello\", \"TF\"}\n "
       "y = tf.StringToHashBucketStrong(x) { num_buckets = 3, key = [1, 2] }",
       "y", "int64[2]{2, 0}"},
      {"x = string[]{\"a\"}\n y = tf.StringToHashBucketFast(x)", "y", "error buckets"},
      {"x = string[]{\"a\"}\n y = tf.StringToHashBucketStrong(x) { num_buckets = 3, key = [1] }",
       "y", "error a key of 1"},
  });
}

TEST(TfStrings, Compared) {
  ExpectConstantRows(Rows{
      {"x = string[2]{\"a\", \"b\"}\n z = string[]{\"b\"}\n y = tf.Equal(x, z)\n "
       "w = tf.NotEqual(x, z)",
       "y, w", "bool[2]{false, true}; bool[2]{true, false}"},
  });
}

}  // namespace
}  // namespace x2ir
