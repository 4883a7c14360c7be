// DType facts, and the codecs of the small float formats, which are checked against their
// definition: every number encodes to itself, every point between two neighbours to the
// nearer one, every midpoint to the even one.
#include "x2ir/graph_wrapper/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "x2ir/graph_wrapper/small_floats.h"
#include "x2ir/graph_wrapper/tensor.h"

namespace x2ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(DTypeTest, NamesAreUniqueAndParseBack) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto t = static_cast<DType>(i);
    EXPECT_EQ(ParseDType(Name(t)), t) << i;
    EXPECT_TRUE(IsKnownDType(i));
  }
  EXPECT_EQ(Name(DType::kUndefined), "undefined");
  EXPECT_EQ(Name(static_cast<DType>(200)), "undefined");
  EXPECT_EQ(ParseDType("undefined"), std::nullopt);
  EXPECT_EQ(ParseDType(""), std::nullopt);
  EXPECT_FALSE(IsKnownDType(0));
  EXPECT_FALSE(IsKnownDType(27));
  EXPECT_FALSE(IsKnownDType(-1));
}

TEST(DTypeTest, Aliases) {
  const struct {
    const char* text;
    DType want;
  } kRows[] = {{"float", DType::kFloat32}, {"double", DType::kFloat64}, {"half", DType::kFloat16},
               {"bf16", DType::kBFloat16}, {"i64", DType::kInt64},      {"u8", DType::kUInt8}};
  for (const auto& row : kRows) EXPECT_EQ(ParseDType(row.text), row.want) << row.text;
}

TEST(DTypeTest, Sizes) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const struct {
    DType t;
    int64_t n;
    std::optional<int64_t> want;
  } kRows[] = {
      {DType::kFloat32, 3, 12},
      {DType::kComplex128, 2, 32},
      {DType::kInt4, 3, 2},
      {DType::kInt4, 0, 0},
      {DType::kUInt2, 4, 1},
      {DType::kUInt2, 5, 2},
      {DType::kBool, 5, 5},
      {DType::kString, 1, std::nullopt},
      {DType::kUndefined, 1, std::nullopt},
      {DType::kFloat32, -1, std::nullopt},
      {DType::kFloat64, kMax / 8, kMax / 8 * 8},
      {DType::kFloat64, kMax / 8 + 1, std::nullopt},
      {DType::kInt4, kMax, kMax / 2 + 1},
  };
  for (const auto& row : kRows) EXPECT_EQ(ByteSize(row.t, row.n), row.want) << Name(row.t);
}

TEST(DTypeTest, EveryTypeHasOneClass) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto t = static_cast<DType>(i);
    const int classes = IsFloating(t) + IsSignedInt(t) + IsUnsignedInt(t) + IsComplex(t);
    EXPECT_EQ(classes, t == DType::kString || t == DType::kBool ? 0 : 1) << Name(t);
    EXPECT_EQ(IsNumeric(t), classes == 1);
    EXPECT_EQ(BitWidth(t) == 0, t == DType::kString);
  }
}

constexpr DType kSmall[] = {DType::kFloat16,    DType::kBFloat16,       DType::kFloat8E4M3FN,
                            DType::kFloat8E5M2, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2FNUZ,
                            DType::kFloat4E2M1};

TEST(SmallFloatTest, DecodedValues) {
  const struct {
    DType t;
    uint32_t bits;
    double want;
  } kRows[] = {
      {DType::kFloat16, 0x3c00, 1},          {DType::kFloat16, 0x0001, 0x1p-24},
      {DType::kFloat16, 0x7bff, 65504},      {DType::kFloat16, 0xfc00, -kInf},
      {DType::kFloat16, 0x7e00, kNaN},       {DType::kBFloat16, 0x3f80, 1},
      {DType::kBFloat16, 0x0001, 0x1p-133},  {DType::kFloat8E4M3FN, 0x7e, 448},
      {DType::kFloat8E4M3FN, 0x7f, kNaN},    {DType::kFloat8E4M3FN, 0x01, 0x1p-9},
      {DType::kFloat8E4M3FN, 0x38, 1},       {DType::kFloat8E4M3FNUZ, 0x7f, 240},
      {DType::kFloat8E4M3FNUZ, 0x80, kNaN},  {DType::kFloat8E4M3FNUZ, 0x01, 0x1p-10},
      {DType::kFloat8E5M2, 0x7b, 57344},     {DType::kFloat8E5M2, 0x7c, kInf},
      {DType::kFloat8E5M2, 0x7d, kNaN},      {DType::kFloat8E5M2, 0x01, 0x1p-16},
      {DType::kFloat8E5M2FNUZ, 0x7f, 57344}, {DType::kFloat8E5M2FNUZ, 0x01, 0x1p-17},
      {DType::kFloat4E2M1, 0x1, 0.5},        {DType::kFloat4E2M1, 0x7, 6},
      {DType::kFloat4E2M1, 0xe, -4},         {DType::kFloat8E8M0, 0x00, 0x1p-127},
      {DType::kFloat8E8M0, 0x7f, 1},         {DType::kFloat8E8M0, 0xfe, 0x1p127},
      {DType::kFloat8E8M0, 0xff, kNaN},
  };
  for (const auto& row : kRows) {
    const double got = DecodeSmallFloat(row.t, row.bits);
    EXPECT_TRUE(got == row.want || (std::isnan(got) && std::isnan(row.want)))
        << Name(row.t) << " " << row.bits << " " << got;
  }
}

TEST(SmallFloatTest, RoundsToNearestEvenEverywhere) {
  for (const DType t : kSmall) {
    const uint32_t sign = 1u << (BitWidth(t) - 1);
    for (uint32_t bits = 0; bits < sign; ++bits) {
      const double v = DecodeSmallFloat(t, bits);
      if (!std::isfinite(v)) continue;
      ASSERT_EQ(EncodeSmallFloat(t, v), bits) << Name(t);
      if (bits != 0) {
        ASSERT_EQ(EncodeSmallFloat(t, -v), bits | sign) << Name(t);
      }
      const double next = DecodeSmallFloat(t, bits + 1);
      if (bits + 1 == sign || !std::isfinite(next)) continue;
      const double middle = (v + next) / 2;
      ASSERT_EQ(EncodeSmallFloat(t, middle), bits + (bits & 1)) << Name(t);
      ASSERT_EQ(EncodeSmallFloat(t, std::nextafter(middle, 0)), bits) << Name(t);
      ASSERT_EQ(EncodeSmallFloat(t, std::nextafter(middle, kInf)), bits + 1) << Name(t);
    }
  }
}

TEST(SmallFloatTest, QuickConversionsAgree) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float h = HalfToFloat(Half{static_cast<uint16_t>(bits)});
    const float b = BFloat16ToFloat(BFloat16{static_cast<uint16_t>(bits)});
    // NaNs keep their payload in the quick ones; signalling ones may become quiet.
    if (std::isnan(h)) {
      ASSERT_TRUE(std::isnan(DecodeSmallFloat(DType::kFloat16, bits)));
      ASSERT_EQ(FloatToHalf(h).bits, bits | 0x200);
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(h),
                std::bit_cast<uint32_t>(DecodeSmallFloat(DType::kFloat16, bits)));
      ASSERT_EQ(FloatToHalf(h).bits, bits);
    }
    if (std::isnan(b)) {
      ASSERT_EQ(FloatToBFloat16(b).bits, bits | 0x40);
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(b),
                std::bit_cast<uint32_t>(DecodeSmallFloat(DType::kBFloat16, bits)));
      ASSERT_EQ(FloatToBFloat16(b).bits, bits);
    }
  }
  // Floats all over the range, and close to every boundary between two of their bits.
  for (uint64_t i = 0; i < 0x1'0000'0000; i += 4093) {
    const float f = std::bit_cast<float>(static_cast<uint32_t>(i));
    if (std::isnan(f)) continue;
    ASSERT_EQ(FloatToHalf(f).bits, EncodeSmallFloat(DType::kFloat16, f)) << f;
    ASSERT_EQ(FloatToBFloat16(f).bits, EncodeSmallFloat(DType::kBFloat16, f)) << f;
  }
  for (const float f : {65519.996f, 65520.0f, 0x1p-25f, 0x1.8p-25f, 0x1.004p0f, 0x1.006p0f,
                        0x1.ffcp-15f, 0x1.ffep-15f, 3.3895314e38f, 3.4e38f}) {
    EXPECT_EQ(FloatToHalf(f).bits, EncodeSmallFloat(DType::kFloat16, f)) << f;
    EXPECT_EQ(FloatToBFloat16(f).bits, EncodeSmallFloat(DType::kBFloat16, f)) << f;
  }
}

TEST(SmallFloatTest, OutOfRangeIsAsCastDefinesIt) {
  struct Row {
    DType t;
    bool saturate;
    double in;
    uint32_t want;
  };
  const Row kRows[] = {
      {DType::kFloat8E4M3FN, true, kInf, 0x7e},
      {DType::kFloat8E4M3FN, true, -kInf, 0xfe},
      {DType::kFloat8E4M3FN, true, 1e9, 0x7e},
      {DType::kFloat8E4M3FN, true, -0.0, 0x80},
      {DType::kFloat8E4M3FN, true, kNaN, 0x7f},
      {DType::kFloat8E4M3FN, false, kInf, 0x7f},
      {DType::kFloat8E4M3FN, false, -kInf, 0xff},
      {DType::kFloat8E4M3FN, false, 464, 0x7e},  // rounds to 448, still in range
      {DType::kFloat8E4M3FN, false, 465, 0x7f},
      {DType::kFloat8E4M3FNUZ, true, kInf, 0x7f},
      {DType::kFloat8E4M3FNUZ, true, 1e9, 0x7f},
      {DType::kFloat8E4M3FNUZ, true, -1e9, 0xff},
      {DType::kFloat8E4M3FNUZ, true, -0.0, 0x00},
      {DType::kFloat8E4M3FNUZ, true, -1e-30, 0x00},
      {DType::kFloat8E4M3FNUZ, false, 1e9, 0x80},
      {DType::kFloat8E5M2, true, kInf, 0x7b},
      {DType::kFloat8E5M2, true, 1e9, 0x7b},
      {DType::kFloat8E5M2, false, -1e9, 0xfc},
      {DType::kFloat8E5M2, false, kInf, 0x7c},
      {DType::kFloat8E5M2, true, kNaN, 0x7f},
      {DType::kFloat8E5M2FNUZ, true, -kInf, 0xff},
      {DType::kFloat8E5M2FNUZ, false, 1e9, 0x80},
      {DType::kFloat8E5M2FNUZ, true, 1e9, 0x7f},
      {DType::kFloat4E2M1, false, kInf, 0x7},
      {DType::kFloat4E2M1, false, -100, 0xf},
      {DType::kFloat4E2M1, true, kNaN, 0x8},
      {DType::kFloat16, true, 1e9, 0x7c00},
      {DType::kBFloat16, true, -1e300, 0xff80},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(EncodeSmallFloat(row.t, row.in, row.saturate), row.want)
        << Name(row.t) << " " << row.in << " saturate " << row.saturate;
  }
}

TEST(SmallFloatTest, PowersOfTwo) {
  using R = E8M0Rounding;
  const struct {
    double in;
    R rounding;
    bool saturate;
    uint32_t want;
  } kRows[] = {
      {1, R::kUp, true, 127},
      {-4, R::kUp, true, 129},
      {0, R::kUp, true, 0},
      {1.25, R::kUp, true, 128},
      {1.25, R::kDown, true, 127},
      {1.25, R::kNearest, true, 127},
      {1.5, R::kNearest, true, 128},
      {kNaN, R::kUp, true, 255},
      {kInf, R::kUp, true, 255},
      {0x1p-127, R::kUp, true, 0},
      {1e-300, R::kUp, true, 0},
      {0x1.8p127, R::kUp, true, 254},
      {0x1.8p127, R::kUp, false, 255},
      {0x1.8p127, R::kDown, false, 254},
      {0x1.4p-127, R::kUp, true, 1},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(EncodeSmallFloat(DType::kFloat8E8M0, row.in, row.saturate, row.rounding), row.want)
        << row.in;
  }
}

TEST(SmallFloatTest, IntegersRoundOnce) {
  // Just above the midpoint of two bfloat16s: through a plain double it would look like the
  // midpoint itself and round down to even.
  const int64_t v = (int64_t{1} << 62) + (int64_t{1} << 54) + 1;
  EXPECT_EQ(EncodeSmallFloat(DType::kBFloat16, ToDoubleForRounding(v)), 0x5e81u);
  EXPECT_EQ(EncodeSmallFloat(DType::kBFloat16, static_cast<double>(v)), 0x5e80u);
  EXPECT_EQ(EncodeSmallFloat(DType::kBFloat16, ToDoubleForRounding(-v)), 0xde81u);
  for (const int64_t exact : {int64_t{0}, int64_t{-7}, std::numeric_limits<int64_t>::min()}) {
    EXPECT_EQ(ToDoubleForRounding(exact), static_cast<double>(exact));
  }
  EXPECT_LT(ToDoubleForRounding(std::numeric_limits<int64_t>::max()), 0x1p63);
  EXPECT_LT(ToDoubleForRounding(std::numeric_limits<uint64_t>::max()), 0x1p64);
}

TEST(SmallFloatTest, PackedElements) {
  std::byte data[2] = {};
  SetPacked(data, 0, 4, 0x3);
  SetPacked(data, 1, 4, 0xa);
  SetPacked(data, 2, 4, 0x7);
  EXPECT_EQ(static_cast<int>(data[0]), 0xa3);
  EXPECT_EQ(static_cast<int>(data[1]), 0x07);
  EXPECT_EQ(GetPacked(data, 1, 4), 0xa);
  SetPacked(data, 1, 4, 0x1);
  EXPECT_EQ(static_cast<int>(data[0]), 0x13);
  EXPECT_EQ(GetPacked(data, 3, 2), 0x0);
  EXPECT_EQ(GetPacked(data, 0, 2), 0x3);
}

}  // namespace
}  // namespace x2ir
