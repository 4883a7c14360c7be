// image_decoder: files written here byte by byte, and broken ones. ONNX's own cases are in the
// conformance tests.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/ops/text_eval_util.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir {
namespace {

using namespace std::string_view_literals;

std::string Decode(std::string_view file, std::string_view format = "RGB") {
  std::string bytes;
  for (const char c : file) {
    StrAppend(&bytes, bytes.empty() ? "" : ", ", int{static_cast<uint8_t>(c)});
  }
  return EvalText(StrCat("x = uint8[", file.size(), "]{", bytes,
                         "}\n y = image_decoder(x) { pixel_format = \"", format, "\" }"));
}

std::string Hex(std::string_view digits) {
  std::string bytes;
  auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1])));
  }
  return bytes;
}

// Little-endian numbers of so many bytes each.
std::string Le(std::initializer_list<std::pair<int64_t, int>> numbers) {
  std::string bytes;
  for (const auto& [number, size] : numbers) {
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(number >> (8 * i)));
  }
  return bytes;
}

std::string Bmp(int64_t width, int64_t height, int64_t bits, int64_t compression,
                std::string_view palette_and_masks, std::string_view pixels) {
  const int64_t start = 54 + static_cast<int64_t>(palette_and_masks.size());
  return StrCat("BM"sv,
                Le({{0, 4},
                    {0, 4},
                    {start, 4},
                    {40, 4},
                    {width, 4},
                    {height, 4},
                    {1, 2},
                    {bits, 2},
                    {compression, 4},
                    {0, 4},
                    {0, 4},
                    {0, 4},
                    {0, 4},
                    {0, 4}}),
                palette_and_masks, pixels);
}

struct Row {
  std::string file;
  std::string_view want, format = "RGB";
};

TEST(ImageDecoder, Files) {
  const Row rows[] = {
      // One row of red and a row of green above it.
      {Bmp(1, 2, 24, 0, "", "\0\0\xFF\0\0\xFF\0\0"sv), "uint8[2,1,3]{0, 255, 0, 255, 0, 0}"},
      {Bmp(1, -2, 24, 0, "", "\0\0\xFF\0\0\xFF\0\0"sv), "uint8[2,1,3]{255, 0, 0, 0, 255, 0}"},
      {Bmp(2, 1, 32, 0, "", "\1\2\3\4\5\6\7\x8"sv), "uint8[1,2,3]{3, 2, 1, 7, 6, 5}"},
      {Bmp(2, 1, 32, 0, "", "\1\2\3\4\5\6\7\x8"sv), "uint8[1,2,3]{1, 2, 3, 5, 6, 7}", "BGR"},
      {Bmp(2, 1, 16, 0, "", "\x1F\x7C\xE0\3"sv), "uint8[1,2,3]{255, 0, 255, 0, 255, 0}"},
      {Bmp(1, 1, 16, 3, Le({{0xF800, 4}, {0x7E0, 4}, {0x1F, 4}}), "\xE0\7\0\0"sv),
       "uint8[1,1,3]{0, 255, 0}"},
      {Bmp(3, 1, 1, 0, "\1\2\3\0\4\5\6\0"sv, "\xA0\0\0\0"sv),
       "uint8[1,3,3]{6, 5, 4, 3, 2, 1, 6, 5, 4}"},
      {Bmp(1, 2, 24, 0, "", "\0\0\xFF\0\0\xFF\0"sv), "uint8[2,1,3]{0, 255, 0, 255, 0, 0}"},
      {Bmp(1, 2, 24, 0, "", "\0\0\xFF\0\0\xFF"sv), "uint8[0,0,3]{}"},
      {Bmp(1, 1, 8, 1, "", "\0\0"sv), "error compression 1"},
      {Bmp(0, 1, 24, 0, "", ""), "uint8[0,0,3]{}"},
      {Bmp(100000, 100000, 24, 0, "", ""), "error 100000 x 100000"},
      {Bmp(1, -2147483648, 24, 0, "", ""), "error 2147483648 x 1"},
      {"BM", "uint8[0,0,1]{}", "Grayscale"},
      {"P1\n# two\n3 1 1 0\n1", "uint8[1,3,3]{0, 0, 0, 255, 255, 255, 0, 0, 0}"},
      {"P2 2 1 100 50 100", "uint8[1,2,1]{128, 255}", "Grayscale"},
      {"P3 1 1 255 255 0 0", "uint8[1,1,1]{76}", "Grayscale"},
      {"P4 9 1\n\x80\x80", "uint8[1,9,1]{0, 255, 255, 255, 255, 255, 255, 255, 0}", "Grayscale"},
      {"P5 1 2 255\n\1\2", "uint8[2,1,3]{1, 1, 1, 2, 2, 2}"},
      {std::string("P5 1 1 65535\n\x80\0"sv), "uint8[1,1,1]{128}", "Grayscale"},
      {"P6 1 1 255\n\1\2\3", "uint8[1,1,3]{1, 2, 3}"},
      {"P6 1 1 255\n\1\2", "uint8[0,0,3]{}"},
      {"P6 1 1 0\n\1\2\3", "uint8[0,0,3]{}"},
      {"P6 99999999 99999999 255\n\1", "uint8[0,0,3]{}"},
      {"P6 9999999999999999999 1 255\n\1", "uint8[0,0,3]{}"},
      {"P2 1 1 10 11", "uint8[0,0,3]{}"},
      {"P2", "uint8[0,0,3]{}"},
      {"GIF89a", "uint8[0,0,3]{}"},
      {"", "uint8[0,0,3]{}"},
      {"P2 1 1 10 5", "error pixel_format", "RGBA"},
  };
  for (const Row& row : rows) ExpectText(Decode(row.file, row.format), row.want, row.file);
}

// Small files as common tools write them.
struct Known {
  std::string_view name, hex, want;
};
const Known kKnown[] = {
    {"PNG",
     "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a730000001349"
     "444154789c63f8cfc0c000c20cffb944e4001a58033a5663a23c0000000049454e44ae426082",
     "uint8[2,2,3]{255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30}"},
    {"PNG of 16 bits with alpha",
     "89504e470d0a1a0a0000000d4948445200000002000000011006000000a4b2a3c90000001949"
     "444154789c6360e464e264e6646060e164e564e3fcff1f00059a024aeeef90ca000000004945"
     "4e44ae426082",
     "uint8[1,2,3]{1, 2, 3, 4, 5, 6}"},
    {"PNG with a palette",
     "89504e470d0a1a0a0000000d4948445200000003000000010203000000668efc270000000950"
     "4c5445010203040506070809258556f00000000274524e5300809b2b4e180000000a49444154"
     "789c63900000001a00192d88f4360000000049454e44ae426082",
     "uint8[1,3,3]{1, 2, 3, 4, 5, 6, 7, 8, 9}"},
    {"gray PNG of 1 bit",
     "89504e470d0a1a0a0000000d4948445200000003000000010100000000339b29190000000a49"
     "444154789c6358000000a200a1dc8db1cc0000000049454e44ae426082",
     "uint8[1,3,3]{255, 255, 255, 0, 0, 0, 255, 255, 255}"},
    {"TIFF",
     "49492a0014000000ff000000ff000000ff0a141e090000010400010000000200000001010400"
     "0100000002000000020103000300000086000000030103000100000001000000060103000100"
     "0000020000001101040001000000080000001501030001000000030000001601040001000000"
     "0200000017010400010000000c00000000000000080008000800",
     "uint8[2,2,3]{255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30}"},
    {"TIFF, big-endian",
     "4d4d002a00000014ff000000ff000000ff0a141e000901000004000000010000000201010004"
     "0000000100000002010200030000000300000086010300030000000100010000010600030000"
     "0001000200000111000400000001000000080115000300000001000300000116000400000001"
     "0000000201170004000000010000000c00000000000800080008",
     "uint8[2,2,3]{255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30}"},
    {"WebP",
     "5249464632000000574542505650384c260000002f014000001f20102078f0bf6a434890d0fd"
     "bf578100c188ff4bf31ff8e4a8e0060c11fd0f01",
     "uint8[2,2,3]{255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30}"},
    {"JPEG 2000",
     "0000000c6a5020200d0a870a00000014667479706a703220000000006a7032200000002d6a70"
     "3268000000166968647200000002000000020003070700000000000f636f6c72010000000000"
     "10000000a06a703263ff4fff51002f0000000000020000000200000000000000000000000200"
     "00000200000000000000000003070101070101070101ff52000c00000001000004040001ff5c"
     "00044040ff640025000143726561746564206279204f70656e4a5045472076657273696f6e20"
     "322e352e30ff90000a0000000000280001ff93df80280bec64654cdf803008f27ee8cdcbdf80"
     "300641240fab5fffd9",
     "uint8[2,2,3]{255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30}"},
    {"JPEG",
     "ffd8ffe000104a46494600010100000100010000ffdb00430001010101010101010101010101"
     "0101010101010101010101010101010101010101010101010101010101010101010101010101"
     "01010101010101010101010101ffdb0043010101010101010101010101010101010101010101"
     "0101010101010101010101010101010101010101010101010101010101010101010101010101"
     "010101010101ffc00011080002000203011100021101031101ffc40014000100000000000000"
     "00000000000000000affc4001d10000202020301000000000000000000000304020507080106"
     "2411ffc4001501010100000000000000000000000000000708ffc4001b110002030101010000"
     "00000000000000000405020306070801ffda000c03010002110311003f00227ced46cfd57dac"
     "acd8fcf35d5b5de0afaf432fe424d14114fcea24928bf621aeaa8aae318175c03184011c0428"
     "46118c784bf4cf9cfcf6b3d21e815ab78471a5eb97f6eeae080003cc31020408426f1f502861"
     "8b423ae81851a8aeba471e9ae155354215d708c2318fc9e9b71ee49bc6acf71b8e5bce767b5d"
     "9b03757b0d86af1199d16a757a9d113637d06974ba06eb0c6cf5fbd6c616d1cb968594c59b12"
     "8934d26f26fb6d97ffd9",
     "uint8[2,2,3]{253, 0, 0, 0, 255, 2, 1, 1, 255, 10, 20, 30}"},
};

// Where the build lacks the library, that is what it says.
bool Lacks(std::string_view got) { return got.find("was built without") != std::string_view::npos; }

TEST(ImageDecoder, Libraries) {
  for (const Known& known : kKnown) {
    const std::string got = Decode(Hex(known.hex));
    if (Lacks(got)) continue;
    EXPECT_EQ(got, known.want) << known.name;
  }
}

// A file of few bytes gets no memory for many pixels.
TEST(ImageDecoder, LargePicturesOfSmallFiles) {
  std::string jpeg;
  for (const Known& known : kKnown) {
    if (known.name == "JPEG") jpeg = Hex(known.hex);
  }
  const std::string sizes("\xC0\x00\x11\x08\x00\x02\x00\x02", 8);  // 2 x 2
  ASSERT_NE(jpeg.find(sizes), std::string::npos);
  jpeg.replace(jpeg.find(sizes) + 4, 4, "\x3E\x80\x3E\x80");
  const std::string png = Hex(
      "89504e470d0a1a0a0000000d4948445200003e8000003e800802000000ce1c48890000000b49444154789c6360c0"
      "0400001400017dfe1eee0000000049454e44ae426082");
  for (const auto& [file, bytes] : {std::pair(jpeg, jpeg.size()), std::pair(png, png.size())}) {
    const std::string got = Decode(file);
    if (Lacks(got)) continue;
    EXPECT_NE(got.find(StrCat("an image of 16000 x 16000 pixels in ", bytes, " bytes")),
              std::string::npos)
        << got;
  }
}

// Whatever the bytes, the answer is an image, perhaps an empty one, or an error.
TEST(ImageDecoder, BrokenFiles) {
  for (const Known& known : kKnown) {
    const std::string file = Hex(known.hex);
    for (size_t n = 0; n < file.size(); ++n) {
      const std::string got = Decode(file.substr(0, n));
      EXPECT_TRUE(got.starts_with("uint8") || got.starts_with("error")) << known.name << n << got;
    }
    for (size_t i = 0; i < file.size(); ++i) {
      for (const int change : {0x01, 0x80, 0xFF}) {
        std::string broken = file;
        broken[i] = static_cast<char>(broken[i] ^ change);
        const std::string got = Decode(broken);
        EXPECT_TRUE(got.starts_with("uint8") || got.starts_with("error")) << known.name << i << got;
      }
    }
  }
}

}  // namespace
}  // namespace x2ir
