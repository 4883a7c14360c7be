// GGUF files made by hand, whole or broken.
#ifndef X2IR_TESTS_FORMATS_GGUF_UTIL_H_
#define X2IR_TESTS_FORMATS_GGUF_UTIL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace x2ir {

// Appends in the order of the calls; counts are those of the calls, unless they are set.
class GgufMaker {
 public:
  explicit GgufMaker(bool big_endian = false, uint32_t version = 3)
      : big_endian_(big_endian), version_(version) {}

  GgufMaker& Text(std::string_view key, std::string_view value);
  GgufMaker& U32(std::string_view key, uint32_t value);
  GgufMaker& F32(std::string_view key, float value);
  GgufMaker& Bool(std::string_view key, bool value);
  GgufMaker& U32s(std::string_view key, const std::vector<uint32_t>& values);
  GgufMaker& Texts(std::string_view key, const std::vector<std::string>& values);
  // A key whose type and value are these bytes.
  GgufMaker& Raw(std::string_view key, std::string_view bytes);

  // `dims`: innermost first, as in files. Its place is after the one before, or `offset`.
  GgufMaker& Tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                    std::string_view bytes);
  // float32 numbers that count up.
  GgufMaker& Floats(std::string_view name, const std::vector<uint64_t>& dims);
  GgufMaker& At(uint64_t offset);  // of the next tensor

  GgufMaker& Counts(uint64_t tensors, uint64_t keys);
  GgufMaker& Alignment(uint64_t alignment);  // of the data; no key is written

  std::string Make() const;
  // A number of the file's byte order.
  template <typename T>
  std::string Number(T value) const {
    std::string bytes(reinterpret_cast<const char*>(&value), sizeof(T));
    return big_endian_ ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
  }
  std::string Sized(std::string_view text) const;  // after its length

 private:
  GgufMaker& Key(std::string_view key, uint32_t type, std::string_view value);

  bool big_endian_;
  uint32_t version_;
  uint64_t keys_ = 0, tensors_ = 0, alignment_ = 32;
  uint64_t offset_ = 0;
  std::string metadata_, infos_, data_;
  bool counted_ = false;
  uint64_t said_tensors_ = 0, said_keys_ = 0;
};

// A Llama of one layer: width 4, 2 heads, 8 words.
GgufMaker SmallLlama(bool big_endian = false);
// The same of width 32, with matrices in blocks of types Q4_1 and Q8_0.
GgufMaker BlockLlama();

}  // namespace x2ir

#endif  // X2IR_TESTS_FORMATS_GGUF_UTIL_H_
