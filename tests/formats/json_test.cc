// The JSON reader and writer: grammar, errors, lossless strings and floats; nlohmann's parser
// is the second opinion.
#include "x2ir/formats/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/readable.h"

namespace x2ir {
namespace {

// Reads everything; returns the status.
absl::Status SkipAll(std::string_view text) {
  JsonReader json(text);
  json.Skip();
  json.Finish();
  return json.status();
}

TEST(JsonTest, AcceptsWhatIsJsonAndNothingElse) {
  const std::string kTexts[] = {"{}",
                                "[]",
                                "[1]",
                                "[1,2]",
                                "[1,]",
                                "[,1]",
                                "[1 2]",
                                "{\"a\":1}",
                                "{\"a\":1,}",
                                "{\"a\" 1}",
                                "{a:1}",
                                "{\"a\":{\"b\":[{},[]]}}",
                                "{1:2}",
                                "0",
                                "-0",
                                "01",
                                "-",
                                "1.",
                                ".5",
                                "1.5",
                                "1e5",
                                "1e",
                                "1E+5",
                                "1e-5",
                                "+1",
                                "--1",
                                "1.5.2",
                                "true",
                                "false",
                                "null",
                                "tru",
                                "nul",
                                "truex",
                                "\"\"",
                                "\"a",
                                "\"\\n\\t\\\"\\\\\\/\\b\\f\\r\"",
                                "\"\\x\"",
                                "\"\\u12\"",
                                "\"\\u0041\"",
                                "\"\\ud83d\\ude00\"",
                                "\"\\ud83d\"",
                                "\"\\ud83dx\"",
                                "\"\\ud83d\\u0041\"",
                                "\"\x01\"",
                                "\"\xc3\xa4\"",
                                "\"\xff\"",
                                "\"\xc0\x80\"",
                                "\"\xed\xa0\x80\"",
                                "\"\xf4\x90\x80\x80\"",
                                "\"\xe2\x82\"",
                                "",
                                " ",
                                " [ 1 , { \"a\" : [ ] } ] ",
                                "[[[[]]]]",
                                "[[[[]]]",
                                "[}",
                                "{]",
                                "]",
                                "1 2",
                                "[1]x",
                                "\n\t\r 5 \n",
                                "\v5",
                                "[true,false,null]",
                                "nan",
                                "Infinity",
                                "'a'",
                                "/**/1",
                                std::string("\"\0\"", 3),
                                "\"\\u00zz\"",
                                "\"\\u+041\"",
                                "\"\x7f\"",
                                "[\"a\":1]",
                                "{\"a\"}",
                                "{\"a\":}",
                                "[1,,2]",
                                "\"\\",
                                "\"\\u",
                                "{\"a\":1 \"b\":2}"};
  for (const std::string& text : kTexts) {
    EXPECT_EQ(SkipAll(text).ok(), nlohmann::json::accept(text)) << text;
  }
}

TEST(JsonTest, AgreesWithNlohmannOnRandomText) {
  std::mt19937 random(1);
  constexpr std::string_view kAlphabet = "{}[]\",:0123-.eE \\untfal\"\"";
  int accepted = 0;
  for (int i = 0; i < 100000; ++i) {
    std::string text;
    for (size_t n = random() % 12; n > 0; --n) text += kAlphabet[random() % kAlphabet.size()];
    const bool ok = SkipAll(text).ok();
    ASSERT_EQ(ok, nlohmann::json::accept(text)) << text;
    accepted += ok;
  }
  EXPECT_GT(accepted, 100);
}

TEST(JsonTest, AnyDepthIsSkipped) {
  const size_t kDepth = 1000000;
  std::string text(kDepth, '[');
  EXPECT_EQ(SkipAll(text).code(), absl::StatusCode::kDataLoss);
  text.append(kDepth, ']');
  EXPECT_TRUE(SkipAll(text).ok());
}

TEST(JsonTest, StringsOfAnyBytesComeBack) {
  std::mt19937 random(2);
  constexpr std::string_view kPieces[] = {"a",           "\"",
                                          "\\",          "\n",
                                          "\xc3\xa4",    "\xed\xa0\x80",
                                          "\xff",        "\x80",
                                          "\xe2\x82",    "\xf0\x9f\x98\x80",
                                          "\x1f",        "\\udc80",
                                          "\x7f",        "\xc2\x9b",
                                          "\xe2\x80\xae"};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t n = random() % 10; n > 0; --n) {
      text += random() % 8 == 0 ? std::string(1, static_cast<char>(random() % 256))
                                : std::string(kPieces[random() % std::size(kPieces)]);
    }
    std::string quoted;
    AppendJsonString(&quoted, text);
    ASSERT_TRUE(IsValidUtf8(quoted));
    ASSERT_EQ(Printable(quoted), quoted);  // on a terminal it is JSON, too
    JsonReader json(quoted);
    ASSERT_EQ(json.String(), text);
    json.Finish();
    ASSERT_TRUE(json.ok()) << json.status();
    if (IsValidUtf8(text)) {
      ASSERT_EQ(nlohmann::json::parse(quoted).get<std::string>(), text);
    }
  }
}

TEST(JsonTest, FloatsAreShortestAndComeBack) {
  const struct {
    float value;
    std::string_view text;
  } kRows[] = {{0, "0.0"},
               {-0.0f, "-0.0"},
               {1, "1.0"},
               {0.1f, "0.1"},
               {1e10f, "1e+10"},
               {-2.5f, "-2.5"},
               {1e-45f, "1e-45"},
               {3.4028235e38f, "3.4028235e+38"},
               {16777216, "16777216.0"}};
  for (const auto& row : kRows) {
    std::string text;
    AppendJsonFloat(&text, row.value);
    EXPECT_EQ(text, row.text);
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    std::string text;
    AppendJsonDouble(&text, value);
    JsonReader json(text);
    const JsonReader::NumberText number = json.Number();
    ASSERT_TRUE(number.is_float) << text;
    ASSERT_EQ(std::strtod(text.c_str(), nullptr), value);
  }
}

TEST(JsonTest, ErrorsSayWhereAndWhat) {
  const auto read = [](std::string_view text) {
    static constexpr std::string_view kKeys[] = {"size", "names", "more"};
    JsonReader json(text);
    json.Members(kKeys, [&](int key) {
      if (key == 0) json.Int();
      if (key == 1) json.Array([&](size_t) { json.String(); });
      if (key == 2) json.Object([&](std::string_view) { json.Unsigned(); });
    });
    json.Finish();
    return json.status();
  };
  const struct {
    std::string_view text;
    absl::StatusCode code;
    std::string_view message;
  } kRows[] = {
      {"{\"size\": 1.5}", absl::StatusCode::kInvalidArgument,
       "line 1, column 10: size: expected an integer"},
      {"{\"size\": 9223372036854775808}", absl::StatusCode::kInvalidArgument,
       "size: expected an integer"},
      {"{\n \"names\": [\"a\", 3]}", absl::StatusCode::kInvalidArgument,
       "line 2, column 17: names[1]: expected a string, got a number"},
      {"{\"more\": {\"x\": -1}}", absl::StatusCode::kInvalidArgument,
       "more.x: expected an integer that is not"},
      {"{\"Size\": 1}", absl::StatusCode::kInvalidArgument, "unknown key \"Size\""},
      {"{\"size\": 1, \"size\": 2}", absl::StatusCode::kInvalidArgument,
       "size: this key occurs twice"},
      {"{\"size\": 1", absl::StatusCode::kDataLoss, "ends too early"},
      {"{\"size\": ", absl::StatusCode::kDataLoss, "size: the text ends too early"},
      {"[]", absl::StatusCode::kInvalidArgument, "expected an object, got a list"},
      {"{} {}", absl::StatusCode::kDataLoss, "line 1, column 4: text after the end"},
  };
  for (const auto& row : kRows) {
    const absl::Status status = read(row.text);
    EXPECT_EQ(status.code(), row.code) << row.text;
    EXPECT_NE(std::string(status.message()).find(row.message), std::string::npos) << status;
  }
}

}  // namespace
}  // namespace x2ir
