// string_concat, string_split, regex_full_match, string_normalizer, tf_idf_vectorizer: values
// checked by hand.
#include <string_view>

#include "gtest/gtest.h"
#include "tests/ops/text_eval_util.h"

namespace x2ir {
namespace {

struct EvalRow {
  std::string_view lines, want;  // want starting with "error ": a part of the message after it
  std::string_view outputs = "y";
};

TEST(Strings, Eval) {
  const EvalRow rows[] = {
      {"a = string[2,1]{\"a\", \"b\"}\n b = string[2]{\"x\", \"\"}\n y = string_concat(a, b)",
       "string[2,2]{\"ax\", \"a\", \"bx\", \"b\"}"},
      {"a = string[0]{}\n b = string[1]{\"x\"}\n y = string_concat(a, b)", "string[0]{}"},
      {"a = int8[1]{1}\n b = string[1]{\"x\"}\n y = string_concat(a, b)", "error strings"},
      {"a = string[2]{\"a,b,,c\", \"\"}\n y, z = string_split(a) { delimiter = \",\" }",
       "string[2,4]{\"a\", \"b\", \"\", \"c\", \"\", \"\", \"\", \"\"}; int64[2]{4, 1}", "y, z"},
      {"a = string[]{\"a,b,,c\"}\n y, z = string_split(a) { delimiter = \",\", maxsplit = 1 }",
       "string[2]{\"a\", \"b,,c\"}; int64[]{2}", "y, z"},
      {"a = string[2]{\"  a  b c \", \" \"}\n y, z = string_split(a)",
       "string[2,3]{\"a\", \"b\", \"c\", \"\", \"\", \"\"}; int64[2]{3, 0}", "y, z"},
      {"a = string[1]{\"  a  b c \"}\n y, z = string_split(a) { maxsplit = 1 }",
       "string[1,2]{\"a\", \"b c \"}; int64[1]{2}", "y, z"},
      {"a = string[1]{\" a b \"}\n y, z = string_split(a) { maxsplit = 0 }",
       "string[1,1]{\"a b \"}; int64[1]{1}", "y, z"},
      {"a = string[0,2]{}\n y, z = string_split(a)", "string[0,2,0]{}; int64[0,2]{}", "y, z"},
      {"a = string[3]{\"Mon\", \"TUE\", \"wed\"}\n "
       "y = string_normalizer(a) { stopwords = [\"tue\"], case_change_action = \"UPPER\" }",
       "string[2]{\"MON\", \"WED\"}"},
      {"a = string[1,2]{\"Mon\", \"TUE\"}\n y = string_normalizer(a) "
       "{ stopwords = [\"tue\", \"Mon\"], is_case_sensitive = 1 }",
       "string[1,1]{\"TUE\"}"},
      {"a = string[1,1]{\"Mon\"}\n y = string_normalizer(a) { stopwords = [\"mon\"] }",
       "string[1,1]{\"\"}"},
      {"a = string[2]{\"\xC3\x84\", \"a\"}\n y = string_normalizer(a)",
       "string[2]{\"\xC3\x84\", \"a\"}"},
      {"a = string[1]{\"\xC3\x84\"}\n "
       "y = string_normalizer(a) { case_change_action = \"LOWER\" }",
       "error locale"},
      {"a = string[2,1]{\"a\", \"b\"}\n y = string_normalizer(a)", "error "},
  };
  for (const EvalRow& row : rows) ExpectText(EvalText(row.lines, row.outputs), row.want, row.lines);
}

TEST(RegexFullMatch, Eval) {
  const EvalRow rows[] = {
      {"a = string[2,2]{\"ab\", \"abc\", \"xab\", \"\"}\n "
       "y = regex_full_match(a) { pattern = \"a?b*\" }",
       "bool[2,2]{true, false, false, true}"},
      // Alternatives are tried over the whole text; a dot is one character, no new line.
      {"a = string[4]{\"ab\", \"\u00e9\", \"\\n\", \"a\\n\"}\n "
       "y = regex_full_match(a) { pattern = \"a|ab|.\" }",
       "bool[4]{true, true, false, false}"},
      {"a = string[1]{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"}\n "
       "y = regex_full_match(a) { pattern = \"(a*)*(a|aa)+\" }",
       "bool[1]{false}"},
      {"a = string[]{\"\"}\n y = regex_full_match(a) { pattern = \"\" }", "bool[]{true}"},
      {"a = string[0,3]{}\n y = regex_full_match(a) { pattern = \"a\" }", "bool[0,3]{}"},
      {"a = string[1]{\"a\"}\n y = regex_full_match(a) { pattern = \"(\" }", "error pattern"},
      {"a = string[1]{\"aa\"}\n y = regex_full_match(a) { pattern = \"(a)\\\\1\" }",
       "error pattern"},
      {"a = int8[1]{1}\n y = regex_full_match(a) { pattern = \"a\" }", "error strings"},
  };
  for (const EvalRow& row : rows) ExpectText(EvalText(row.lines, row.outputs), row.want, row.lines);
}

TEST(TfIdf, Eval) {
#define X2IR_GRAMS                                                          \
  " ngram_counts = [0, 2], ngram_indexes = [0, 1, 2], min_gram_length = 1," \
  " max_gram_length = 2, "
  const EvalRow rows[] = {
      {"x = int64[4]{1, 2, 1, 3}\n y = tf_idf_vectorizer(x) {" X2IR_GRAMS
       "pool_int64s = [1, 2, 1, 3], max_skip_count = 0, mode = \"TF\" }",
       "float32[3]{2, 1, 1}"},
      {"x = int32[4]{1, 2, 3, 3}\n y = tf_idf_vectorizer(x) {" X2IR_GRAMS
       "pool_int64s = [1, 2, 1, 3], max_skip_count = 9, mode = \"TFIDF\", "
       "weights = [1.0, 2.0, 3.0] }",
       "float32[3]{1, 2, 6}"},
      {"x = string[2,2]{\"a\", \"b\", \"c\", \"c\"}\n y = tf_idf_vectorizer(x) {" X2IR_GRAMS
       "pool_strings = [\"a\", \"c\", \"a\", \"b\"], max_skip_count = 0, mode = \"IDF\", "
       "weights = [1.0, 2.0, 3.0] }",
       "float32[2,3]{1, 0, 3, 0, 2, 0}"},
      {"x = int64[0]{}\n y = tf_idf_vectorizer(x) {" X2IR_GRAMS
       "pool_int64s = [1, 2, 1, 3], max_skip_count = 0, mode = \"TF\" }",
       "float32[3]{0, 0, 0}"},
      {"x = int64[1]{1}\n y = tf_idf_vectorizer(x) {" X2IR_GRAMS
       "pool_int64s = [1, 2, 1], max_skip_count = 0, mode = \"TF\" }",
       "error ngram_counts"},
      {"x = int64[1]{1}\n y = tf_idf_vectorizer(x) {" X2IR_GRAMS
       "pool_strings = [\"a\"], max_skip_count = 0, mode = \"TF\" }",
       "error pool"},
      {"x = int64[1]{1}\n y = tf_idf_vectorizer(x) {" X2IR_GRAMS
       "pool_int64s = [1, 2, 1, 3], max_skip_count = 0, mode = \"X\" }",
       "error mode"},
  };
  for (const EvalRow& row : rows) ExpectText(EvalText(row.lines, row.outputs), row.want, row.lines);
}

TEST(Strings, Infer) {
  EXPECT_EQ(InferText("a: string[n,1], b: string[3]", "y = string_concat(a, b)"), "string[n,3]");
  EXPECT_EQ(InferText("a: string[n]", "y, z = string_split(a)", "y, z"), "string[n,?]; int64[n]");
  EXPECT_EQ(InferText("a: string[1,4]", "y = string_normalizer(a)"), "string[1,4]");
  EXPECT_EQ(InferText("a: string[4]", "y = string_normalizer(a) { stopwords = [\"a\"] }"),
            "string[?]");
  EXPECT_EQ(InferText("x: int64[n,4]", "y = tf_idf_vectorizer(x) {" X2IR_GRAMS
                                       "max_skip_count = 0, mode = \"TF\" }"),
            "float32[n,3]");
}

}  // namespace
}  // namespace x2ir
