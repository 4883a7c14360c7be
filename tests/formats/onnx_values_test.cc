// SequenceProto and OptionalProto files, bytes written by hand.

#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "tests/core/temp_dir_util.h"
#include "x2ir/formats/onnx/onnx.h"

namespace x2ir {
namespace {

using namespace std::string_literals;

std::string Field(char number, const std::string& message) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(message.size()) +
         message;
}

// "7" for a tensor int8[1]{7}, "[...]" for a sequence, "_" for nothing.
std::string Text(const OnnxValue& value) {
  if (value.kind == OnnxValue::kNothing) return "_";
  if (value.kind == OnnxValue::kTensor) return std::to_string(value.tensor.AsInt(0));
  std::string text;
  for (const OnnxValue& element : value.elements) text += (text.empty() ? "" : " ") + Text(element);
  return "[" + text + "]";
}

std::string Read(const std::string& bytes, std::string_view type) {
  const TempDir dir;
  const auto value = ReadOnnxValue(dir.Put("value.pb", bytes), *Type::Parse(type));
  return value.ok() ? Text(*value) : "error";
}

TEST(OnnxValues, Read) {
  const auto int8 = [](char x) { return "\x08\x01\x10\x03\x4a\x01"s + x; };
  const std::string one = int8(1), two = int8(2);
  const std::string pair = "\x10\x01"s + Field(3, one) + Field(3, two);
  struct Row {
    std::string bytes, type, want;
  };
  const Row rows[] = {
      {one, "int8[1]", "1"},
      {one, "?", "1"},
      {pair, "sequence(int8[1])", "[1 2]"},
      {"", "sequence(int8[1])", "[]"},
      {"\x0a\x01x"s + pair, "sequence(int8[1])", "[1 2]"},
      {"\x10\x03"s + Field(5, pair) + Field(5, ""), "sequence(sequence(int8[1]))", "[[1 2] []]"},
      {"\x10\x05"s + Field(7, "\x10\x01"s + Field(3, two)) + Field(7, ""),
       "sequence(optional(int8[1]))", "[2 _]"},
      {"\x10\x01"s + Field(3, two), "optional(int8[1])", "2"},
      {"\x10\x03"s + Field(5, pair), "optional(sequence(int8[1]))", "[1 2]"},
      {"", "optional(int8[1])", "_"},
      {"\x10\x00"s, "optional(int8[1])", "_"},
      {"\x1a\x7f"s, "sequence(int8[1])", "error"},
      {Field(3, "\x08\x7f\x10\x03"s), "sequence(int8[1])", "error"},
  };
  for (const Row& row : rows) EXPECT_EQ(Read(row.bytes, row.type), row.want) << row.type;
  std::string deep;
  for (int i = 0; i < 30; ++i) deep = Field(5, deep);
  EXPECT_NE(Read(deep, "sequence(int8[1])"), "error");
}

}  // namespace
}  // namespace x2ir
