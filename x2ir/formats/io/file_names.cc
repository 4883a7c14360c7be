#include "x2ir/formats/io/file_names.h"

#include <sys/stat.h>

#include <filesystem>
#include <string_view>
#include <system_error>

namespace x2ir {

std::string CanonicalPath(const std::string& path) {
  namespace fs = std::filesystem;
  // A relative path that does not exist would stay relative.
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return path;
  const fs::path real = fs::weakly_canonical(absolute, error);
  return error ? path : real.string();
}

std::string CanonicalPathOf(const MappedFile& file) {
  const std::string real = CanonicalPath(file.path());
  struct stat mapped, named;
  if (file.fd() < 0) return real;  // one of very many files, which are not kept open
  const bool same = ::fstat(file.fd(), &mapped) == 0 && ::stat(real.c_str(), &named) == 0 &&
                    mapped.st_dev == named.st_dev && mapped.st_ino == named.st_ino;
  return same ? real : std::string();
}

std::string RelativeTo(const std::string& folder, const std::string& path) {
  const std::string inside = folder.ends_with('/') ? folder : folder + "/";
  return path.starts_with(inside) ? path.substr(inside.size()) : std::string();
}

}  // namespace x2ir
