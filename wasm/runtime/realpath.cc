// realpath(), which the C library lacks: the absolute path of a file without "." and "..", and with
// symbolic links resolved, as POSIX has it.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {
constexpr int kMaxLinks = 40;
}

char* realpath(const char* path, char* resolved) {
  if (!path || !*path) {
    errno = path ? ENOENT : EINVAL;
    return nullptr;
  }
  char folder[PATH_MAX];
  std::string left(path), real;
  if (left[0] != '/') {
    if (!::getcwd(folder, sizeof(folder))) return nullptr;
    left = std::string(folder) + "/" + left;
  }
  int links = 0;
  while (!left.empty()) {
    const size_t begin = left.find_first_not_of('/');
    if (begin == left.npos) break;
    const size_t end = std::min(left.find('/', begin), left.size());
    const std::string name = left.substr(begin, end - begin);
    left.erase(0, end);
    if (name == ".") continue;
    if (name == "..") {
      real.resize(real.empty() ? 0 : real.rfind('/'));
      continue;
    }
    const std::string next = real + "/" + name;
    struct stat info;
    if (::lstat(next.c_str(), &info) != 0) return nullptr;
    if (!S_ISLNK(info.st_mode)) {
      if (!left.empty() && !S_ISDIR(info.st_mode)) {
        errno = ENOTDIR;
        return nullptr;
      }
      real = next;
      continue;
    }
    if (++links > kMaxLinks) {
      errno = ELOOP;
      return nullptr;
    }
    char target[PATH_MAX];
    const ssize_t size = ::readlink(next.c_str(), target, sizeof(target));
    if (size < 0) return nullptr;
    if (target[0] == '/') real.clear();
    left = std::string(target, static_cast<size_t>(size)) + left;
  }
  if (real.empty()) real = "/";
  if (!resolved) return ::strdup(real.c_str());
  if (real.size() >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return nullptr;
  }
  return std::strcpy(resolved, real.c_str());
}
