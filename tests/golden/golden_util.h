// Expected texts: the files of this folder, and the pages of docs/ that tests write. Files are
// named by their path from the root of the repository. With X2IR_UPDATE_GOLDEN=1 they are written
// instead of compared.
#ifndef X2IR_TESTS_GOLDEN_GOLDEN_UTIL_H_
#define X2IR_TESTS_GOLDEN_GOLDEN_UTIL_H_

#include <map>
#include <string>

namespace x2ir {

bool UpdatesGolden();

// The whole file; a failure of the test where it is missing or empty.
std::string ReadGolden(const std::string& file);
// The file has this text, else the test fails and names the first line that differs.
void ExpectGolden(const std::string& file, const std::string& text);
// The first line that differs, in both texts; "" where none does.
std::string FirstDifference(const std::string& got, const std::string& want);

// Exceptions and why they are there: lines "NAME: reason". Lines that begin with # are comments.
using Reasons = std::map<std::string, std::string>;
Reasons ReadReasons(const std::string& file);
// The file names the same exceptions (their reasons may be other ones), else the test fails with
// each name that it lacks, or has in excess. `about` is the comment that is written first.
void ExpectReasons(const std::string& file, const std::string& about, const Reasons& found);

}  // namespace x2ir

#endif  // X2IR_TESTS_GOLDEN_GOLDEN_UTIL_H_
