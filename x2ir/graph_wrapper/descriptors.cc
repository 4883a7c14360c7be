#include "x2ir/graph_wrapper/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace x2ir {

int OpenUnnamedFile() {
  const char* folder = std::getenv("TMPDIR");
  if (folder == nullptr || *folder == '\0') folder = "/tmp";
  return ::open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int WriteAll(int fd, const void* bytes, size_t size) {
  // Systems write no more than 2 GB at once, and temporary files grow faster by smaller pieces.
  constexpr size_t kMaxChunk = size_t{1} << 20;
  const char* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = ::write(fd, from, std::min(size, kMaxChunk));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return EIO;
    from += n;
    size -= static_cast<size_t>(n);
  }
  return 0;
}

}  // namespace x2ir
