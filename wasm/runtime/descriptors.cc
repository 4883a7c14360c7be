// Functions of descriptors that the C library lacks.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include <wasi/api.h>

// There is no second descriptor of an open file: the first one is moved. Its callers close it next.
int dup2(int from, int to) {
  const __wasi_errno_t error =
      __wasi_fd_renumber(static_cast<__wasi_fd_t>(from), static_cast<__wasi_fd_t>(to));
  if (error == 0) return to;
  errno = error;
  return -1;
}

// A file in memory, which the system interface (js/system.mjs) makes for this path.
int memfd_create(const char*, unsigned) { return ::open("/dev/memfd", O_RDWR); }
