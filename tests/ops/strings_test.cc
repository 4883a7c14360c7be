// Ops on text: values checked by hand.
#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "tests/ops/eval_rows_util.h"

namespace x2ir {
namespace {

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
      {"a = string[1]{\"\xC3\x84"
       "B\"}\n y = string_normalizer(a) { case_change_action = \"LOWER\", "
       "locale = \"C\" }",
       "string[1]{\"\xC3\x84"
       "b\"}"},
      {"a = string[2,1]{\"a\", \"b\"}\n y = string_normalizer(a)", "error "},
  };
  ExpectRows(rows);
}

// A few ops that double their operand would fill any memory.
TEST(Strings, DoNotGrowWithoutBound) {
  std::string lines = "a = string[]{\"x\"}";
  for (int i = 0; i < 40; ++i) {
    const std::string name = i == 0 ? "a" : "a" + std::to_string(i);
    lines += "\n a" + std::to_string(i + 1) + " = string_concat(" + name + ", " + name + ")";
  }
  ExpectText(EvalText(lines, "a40"), "error too long", lines);
  const std::string more(1000, 'x');
  lines = "a = string[]{\"" + more + "\"}\n b = regex_replace(a) { pattern = \"x\", rewrite = \"" +
          more + "\" }\n y = regex_replace(b) { pattern = \"x\", rewrite = \"" + more + "\" }";
  ExpectText(EvalText(lines), "error too long", "regex_replace");
}

TEST(Text, Eval) {
  const EvalRow rows[] = {
      {"a = string[2]{\"aB\", \"\"}\n y = string_map(a) { function = \"upper\" }",
       "string[2]{\"AB\", \"\"}"},
      {"a = string[2]{\"aB\", \"\"}\n y = string_map(a) { function = \"sort\" }",
       "error unknown name 'sort'"},
      {"a = int8[2]{1, 2}\n y = string_map(a) { function = \"upper\" }", "error strings"},
      {"a = string[0,2]{}\n y = string_length(a)", "int64[0,2]{}"},
      // What begins in the middle of a character is one all the same, but does not count.
      {"a = string[]{\"\x84z\"}\n i = int8[]{1}\n y = substring(a, i, i) { unit = \"UTF8_CHAR\" "
       "}\n z = string_length(a) { unit = \"UTF8_CHAR\" }",
       "string[]{\"z\"}; int64[]{1}", "y, z"},
      {"a = string[2]{\"abc\", \"de\"}\n i = int64[1]{-2}\n l = int64[]{-9223372036854775808}\n "
       "y = substring(a, i, l)",
       "string[2]{\"bc\", \"de\"}"},
      {"a = string[0]{}\n i = int64[]{9}\n y = substring(a, i, i)", "string[0]{}"},
      {"a = string[2]{\"abc\", \"de\"}\n i = float32[]{1}\n y = substring(a, i, i)", "error "},
      {"a = string[2,2]{\"a\", \"b\", \"c\", \"d\"}\n y = string_join(a) { axis = -2 }",
       "string[2]{\"ac\", \"bd\"}"},
      {"a = string[0,2]{}\n y = string_join(a) { axis = 0, separator = \",\" }",
       "string[2]{\"\", \"\"}"},
      {"a = string[0,2]{}\n y = string_join(a) { axis = 1 }", "string[0]{}"},
      {"a = string[]{\"a\"}\n y = string_join(a) { axis = 0 }", "error "},
      {"a = float32[2]{0.5, -inf}\n y = format_number(a) { precision = 1, width = 5 }",
       "string[2]{\"  0.5\", \" -inf\"}"},
      {"a = uint64[]{18446744073709551615}\n y = format_number(a)",
       "string[]{\"18446744073709551615\"}"},
      {"a = float64[]{1e300}\n y = format_number(a) { notation = \"shortest\", precision = 0 }",
       "string[]{\"1e+300\"}"},
      {"a = int32[]{1}\n y = format_number(a) { flag = \"%n\" }", "error flag"},
      {"a = string[]{\"1\"}\n y = format_number(a)", "error "},
      {"a = string[2]{\"aba\", \"\"}\n "
       "y = regex_replace(a) { pattern = \"a(b?)\", rewrite = \"[\\\\1]\\\\\\\\\" }",
       "string[2]{\"[b]\\\\[]\\\\\", \"\"}"},
  };
  ExpectRows(rows);
}

// Published results of both methods, for every length that they treat in its own way. The largest
// number of buckets takes the highest bit away.
TEST(Text, Hash) {
  const std::pair<std::string, uint64_t> farm[] = {
      {"", 0x9AE16A3B2F90404F},
      {"a", 0xB3454265B6DF75E3},
      {"abc", 0x24A5B3A074E7F369},
      {"abcd", 0x1A5502DE4A1F8101},
      {"abcdefg", 0x3C40C92B1CCB7355},
      {"abcdefgh", 0xFEE9D22990C82909},
      {"0123456789'01234", 0x4283D4EF43627F64},
      {"0123456789=012345", 0x46A7416ED4861E3B},
      {"C is as portable as Stonehedge!!", 0xB944F8A16261E414},
      {"Discard medicine more than two years old.", 0xE8F89AB6DF9BDD25},
      {"The days of the digital watch are numbered.  -Tom Stoppard", 0x2A578B80BB82147C},
      {"For every action there is an equal and opposite government program.", 0x55182F8859ECA4CE},
      {"The fugacity of a constituent in a mixture of gases at a given temperature is "
       "proportional to its mole fraction.  Lewis-Randall Rule",
       0x098EFF6958C5E91A},
  };
  constexpr uint64_t kLimit = 0x7FFFFFFFFFFFFFFF;
  for (const auto& [text, hash] : farm) {
    const std::string lines =
        "a = string[]{\"" + text + "\"}\n y = string_hash(a) { buckets = 9223372036854775807 }";
    ExpectText(EvalText(lines), "int64[]{" + std::to_string(hash % kLimit) + "}", lines);
  }
  // The key is bytes 0 to 15, the text 0 to 7 and 0 to 14.
  const std::pair<std::string, uint64_t> sip[] = {
      {"", 0x726FDB47DD0E0E31},
      {"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007", 0x93F5F5799A932462},
      {"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\u0008\\u0009\\u000a\\u000b"
       "\\u000c\\u000d\\u000e",
       0xA129CA6149BE45E5},
  };
  for (const auto& [text, hash] : sip) {
    const std::string lines = "a = string[]{\"" + text +
                              "\"}\n y = string_hash(a) { buckets = 9223372036854775807, method = "
                              "\"sip\", key = [506097522914230528, 1084818905618843912] }";
    ExpectText(EvalText(lines), "int64[]{" + std::to_string(hash % kLimit) + "}", lines);
  }
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
  ExpectRows(rows);
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
  ExpectRows(rows);
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
