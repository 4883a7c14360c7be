// What tests ask of the machine: whole files, and the environment.
#ifndef X2IR_TESTS_CORE_HOST_UTIL_H_
#define X2IR_TESTS_CORE_HOST_UTIL_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace x2ir {

std::string ReadFile(const std::filesystem::path& path);  // "" where there is none
void WriteFile(const std::filesystem::path& path, std::string_view bytes);

// The folder in the build folder where an archive of tests/data/cases is unpacked, once. An empty
// path, and a failure of the test, where it cannot be unpacked.
std::filesystem::path Unpacked(const std::string& archive, const std::string& folder);

// The folders of ONNX's node tests, in order: the newer ones, and those of libonnx-testdata.
std::vector<std::filesystem::path> OnnxNodeTests();

// An environment variable; "" and `otherwise` where it is not set.
std::string Env(const char* name);
int64_t EnvNumber(const char* name, int64_t otherwise);

}  // namespace x2ir

#endif  // X2IR_TESTS_CORE_HOST_UTIL_H_
