// Files that are changed as whole structures: fields of protobuf, values of JSON, lines and words
// of text, words of binary files, members of archives are doubled, dropped, exchanged, and made
// huge, negative, long and deep. Unlike changed bytes, most of these pass the first checks of a
// reader.
#ifndef X2IR_TESTS_CLI_MUTATIONS_UTIL_H_
#define X2IR_TESTS_CLI_MUTATIONS_UTIL_H_

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace x2ir {

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  // Of what kind the bytes are is found by looking at them.
  std::string Mutate(const std::string& bytes);

  // 0 to n - 1.
  size_t Below(size_t n) { return n == 0 ? 0 : random_() % n; }
  bool OneIn(size_t n) { return Below(n) == 0; }

 private:
  std::string Proto(const std::string& bytes, int depth);
  std::string Json(const std::string& text);
  std::string Text(const std::string& text);
  std::string Words(std::string bytes);
  std::string Zip(const std::string& bytes);
  std::string Number();
  std::string Word();  // long, or of characters that names do not have

  std::mt19937_64 random_;
};

}  // namespace x2ir

#endif  // X2IR_TESTS_CLI_MUTATIONS_UTIL_H_
