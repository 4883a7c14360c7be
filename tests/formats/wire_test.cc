// Tests of the protobuf wire format: bytes from the protobuf documentation, what is written
// reads back, and what is broken says where.
#include "x2ir/formats/wire.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace x2ir {
namespace {

using namespace std::string_literals;

TEST(WireReader, ReadsEveryWireType) {
  // Field 1 = 150; 2 = "testing"; 3 = 1.5f; 4 = 1.0; 6 = packed {3, 270, 86942}; a group 5
  // with a nested group and every type in it; 7 = -1.
  const std::string bytes =
      "\x08\x96\x01"
      "\x12\x07testing"
      "\x1d\x00\x00\xc0\x3f"
      "\x21\x00\x00\x00\x00\x00\x00\xf0\x3f"
      "\x32\x06\x03\x8e\x02\x9e\xa7\x05"
      "\x2b\x08\x01\x12\x01x\x33\x1d\x00\x00\x00\x00\x34\x21\x00\x00\x00\x00\x00\x00\x00\x00\x2c"
      "\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s;
  WireReader in(bytes, bytes.data());
  std::string all;
  std::vector<int64_t> ints;
  while (in.Next()) {
    all.append(in.raw());
    switch (in.field()) {
      case 1: EXPECT_EQ(in.Varint(), 150); break;
      case 2: EXPECT_EQ(in.Bytes(), "testing"); break;
      case 3: EXPECT_EQ(in.Float(), 1.5f); break;
      case 4: EXPECT_EQ(in.Double(), 1.0); break;
      case 5: EXPECT_EQ(in.type(), WireType::kGroup); break;
      case 6: in.AppendInts(&ints); break;
      case 7: EXPECT_EQ(in.Int(), -1); break;
      default: ADD_FAILURE() << in.field();
    }
  }
  EXPECT_TRUE(in.status().ok()) << in.status();
  EXPECT_EQ(all, bytes);
  EXPECT_EQ(ints, (std::vector<int64_t>{3, 270, 86942}));
}

TEST(WireReader, RepeatedNumbersPackedOrNot) {
  const std::string bytes =
      "\x08\x05\x0a\x02\x06\x07\x15\x00\x00\x80\x3f"
      "\x12\x04\x00\x00\x00\x40\x19\x00\x00\x00\x00\x00\x00\x08\x40"s;
  WireReader in(bytes, bytes.data());
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<double> doubles;
  while (in.Next()) {
    if (in.field() == 1) in.AppendInts(&ints);
    if (in.field() == 2) in.AppendFloats(&floats);
    if (in.field() == 3) in.AppendDoubles(&doubles);
  }
  EXPECT_TRUE(in.status().ok()) << in.status();
  EXPECT_EQ(ints, (std::vector<int64_t>{5, 6, 7}));
  EXPECT_EQ(floats, (std::vector<float>{1, 2}));
  EXPECT_EQ(doubles, (std::vector<double>{3}));
}

// Fields one after another are a list; another field ends it, and so does a broken one.
TEST(WireReader, ListsThatAreNotPacked) {
  const std::string bytes =
      "\x15\x00\x00\x80\x3f\x15\x00\x00\x00\x40\x1d\x00\x00\x80\x3f\x15\x00\x00\x40\x40"
      "\x82\x01\x00\x85\x01\x00\x00\x80\x3f\x85\x01\x00\x00\x80\x40\x15\x00\x00"s;
  WireReader in(bytes, bytes.data());
  std::vector<float> floats, others, wide;
  std::string all;
  while (in.Next()) {
    if (in.field() == 2) in.AppendFloats(&floats);
    if (in.field() == 3) in.AppendFloats(&others);
    if (in.field() == 16 && in.type() == WireType::kFixed32) in.AppendFloats(&wide);
    all.append(in.raw());
  }
  EXPECT_EQ(in.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(all, bytes.substr(0, bytes.size() - 3));
  EXPECT_EQ(floats, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(others, (std::vector<float>{1}));
  EXPECT_EQ(wide, (std::vector<float>{1, 4}));
}

TEST(WireReader, BrokenBytes) {
  const struct {
    std::string bytes;
    std::string_view message;
  } kCases[] = {
      {"\x08"s, "the data ends inside of a number at byte 0"},
      {"\x08\x01\x10\x80"s, "the data ends inside of a number at byte 2"},
      {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"s, "more than 64 bits at byte 0"},
      {"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"s, "more than 64 bits"},
      {"\x00\x01"s, "impossible field number 0"},
      {"\x80\x80\x80\x80\x10\x00"s, "impossible field number"},
      {"\x0e\x01"s, "impossible wire type 6"},
      {"\x0f\x01"s, "impossible wire type 7"},
      {"\x0c"s, "impossible wire type 4"},
      {"\x0d\x01\x02\x03"s, "the data ends inside of field 1"},
      {"\x09\x01\x02\x03\x04\x05\x06\x07"s, "the data ends inside of field 1"},
      {"\x0a\x05zzzz"s, "field 1 claims 5 bytes where 4 are left at byte 0"},
      {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s, "claims 18446744073709551615 bytes"},
      {"\x0b\x10\x01"s, "the data ends inside of a number"},
      {"\x0b\x14"s, "ends with another field number"},
      {"\x0b\x12\x05zz\x0c"s, "the data ends inside of a group"},
      {"\x0b\x11\x05zz"s, "the data ends inside of a group"},
      {std::string(100000, '\x0b'), "too deeply nested groups"},
  };
  for (const auto& test : kCases) {
    WireReader in(test.bytes, test.bytes.data());
    while (in.Next()) {
    }
    EXPECT_EQ(in.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_NE(in.status().message().find(std::string(test.message)), absl::string_view::npos)
        << in.status() << "\n  expected: " << test.message;
    EXPECT_FALSE(in.Next());
  }
}

TEST(WireReader, WrongTypeOfAKnownField) {
  const std::string number = "\x08\x01"s, bytes = "\x0a\x03\x01\x02\x80"s, fixed = "\x0d\1\2\3\4"s;
  const auto fails = [](const std::string& message, auto read) {
    WireReader in(message, message.data());
    EXPECT_TRUE(in.Next());
    read(in);
    EXPECT_FALSE(in.Next());
    return in.status().code() == absl::StatusCode::kDataLoss;
  };
  std::vector<int64_t> ints;
  std::vector<float> floats;
  EXPECT_TRUE(fails(number, [](WireReader& in) { EXPECT_EQ(in.Bytes(), ""); }));
  EXPECT_TRUE(fails(number, [](WireReader& in) { EXPECT_EQ(in.Float(), 0); }));
  EXPECT_TRUE(fails(number, [&](WireReader& in) { in.AppendFloats(&floats); }));
  EXPECT_TRUE(fails(bytes, [](WireReader& in) { EXPECT_EQ(in.Varint(), 0); }));
  EXPECT_TRUE(fails(bytes, [&](WireReader& in) { in.AppendFloats(&floats); }));  // 3 bytes
  EXPECT_TRUE(fails(bytes, [&](WireReader& in) { in.AppendInts(&ints); }));      // ends inside
  EXPECT_TRUE(fails(fixed, [&](WireReader& in) { in.AppendInts(&ints); }));
  EXPECT_TRUE(fails(fixed, [](WireReader& in) { EXPECT_EQ(in.Double(), 0); }));
}

TEST(WireWriter, WritesTheDocumentedBytes) {
  WireWriter out;
  out.Int(1, 150);
  out.Bytes(2, "testing");
  out.Begin(3);
  out.Int(1, 150);
  out.End();
  out.Float(4, 1.5f);
  out.Int(5, -1);
  out.IntUnlessZero(6, 0);
  out.BytesUnlessEmpty(7, "");
  out.Begin(8);
  out.End();
  const std::string expected =
      "\x08\x96\x01\x12\x07testing\x1a\x03\x08\x96\x01\x25\x00\x00\xc0\x3f"
      "\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x42\x00"s;
  EXPECT_EQ(out.ToString(), expected);
  EXPECT_EQ(out.size(), expected.size());
}

// Messages of all sizes around the points where a length grows, with and without tensors,
// in each other: sizes add up and everything reads back.
TEST(WireWriter, NestedLengths) {
  for (size_t size : {0,   1,     100,   125,   126,   127,   128,   129,   255,     256,
                      257, 16000, 16379, 16380, 16381, 16384, 16385, 20000, 2097140, 2097152}) {
    for (bool tensor : {false, true}) {
      const std::string text(size, 'x');
      Tensor blob = Tensor::Zeros(DType::kUInt8, {static_cast<int64_t>(size)});
      WireWriter out;
      out.Int(9, 1);
      for (int i = 0; i < 3; ++i) out.Begin(1);
      out.Int(2, 300);
      if (tensor) {
        out.TensorBytes(3, blob);
      } else {
        out.Bytes(3, text);
      }
      out.Begin(4);
      out.Bytes(5, text);
      out.End();
      for (int i = 0; i < 3; ++i) {
        out.Int(6, i);
        out.End();
      }
      out.Int(10, 2);
      const std::string bytes = out.ToString();
      ASSERT_EQ(bytes.size(), out.size()) << size;

      WireWriter appended, raw;
      for (WireWriter* twice : {&appended, &raw}) {
        twice->Begin(7);
        for (int i = 0; i < 2; ++i) {
          twice->TensorBytes(8, blob);
          twice == &raw ? twice->Raw(bytes) : twice->Append(out);
        }
        twice->End();
      }
      ASSERT_EQ(appended.ToString(), raw.ToString()) << size;
      ASSERT_EQ(appended.size(), raw.size()) << size;

      std::string_view message = bytes;
      for (int depth = 0; depth < 4; ++depth) {
        WireReader in(message, bytes.data());
        std::string_view inner;
        int fields = 0;
        while (in.Next()) {
          ++fields;
          switch (in.field()) {
            case 1: inner = in.Bytes(); break;
            case 3: EXPECT_EQ(in.Bytes().size(), size); break;
            case 4: EXPECT_EQ(in.Bytes().size(), size + 1 + VarintSize(size)); break;
            case 6: EXPECT_EQ(in.Int(), 3 - depth); break;
            default: break;
          }
        }
        ASSERT_TRUE(in.status().ok()) << in.status();
        constexpr int kFields[] = {3, 2, 2, 4};
        EXPECT_EQ(fields, kFields[depth]);
        message = inner;
      }
    }
  }
}

TEST(WireWriter, VarintSizes) {
  const struct {
    uint64_t value;
    int size;
  } kCases[] = {{0, 1},          {1, 1},           {127, 1},
                {128, 2},        {16383, 2},       {16384, 3},
                {1ull << 35, 6}, {1ull << 63, 10}, {std::numeric_limits<uint64_t>::max(), 10}};
  for (const auto& test : kCases) {
    EXPECT_EQ(VarintSize(test.value), test.size);
    WireWriter out;
    out.Varint(1, test.value);
    EXPECT_EQ(out.size(), test.size + 1);
  }
}

}  // namespace
}  // namespace x2ir
