// The data beside the project, which some tests use.
#ifndef X2IR_TESTS_CORE_SHARED_UTIL_H_
#define X2IR_TESTS_CORE_SHARED_UTIL_H_

#include <filesystem>
#include <string>

namespace x2ir {

// A folder or file of ../shared, data beside the project that it can do without; an empty path
// where it is not there. X2IR_SHARED=FOLDER says where it is instead, X2IR_SHARED= that it is
// nowhere. The test that asks is noted in the file X2IR_SHARED_USERS, by which `./dev test` runs it
// once more.
std::filesystem::path Shared(const std::string& below);
inline constexpr char kNotShared[] = "../shared is not there";  // why a test is skipped

}  // namespace x2ir

#endif  // X2IR_TESTS_CORE_SHARED_UTIL_H_
