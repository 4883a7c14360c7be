#include "x2ir/cli/streams.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "x2ir/graph_wrapper/descriptors.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir::cli {
namespace {

// The descriptor that a path names by its number, or -1.
int DescriptorOf(std::string_view path) {
  if (path == "-" || path == "/dev/stdin") return STDIN_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    return ParseNumber<int>(path.substr(folder.size())).value_or(-1);
  }
  return -1;
}

// A pipe or a socket that can be read.
bool IsStream(int fd) {
  struct stat info;
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && ::fstat(fd, &info) == 0 &&
         (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

// Not every file system has files without a name; memory has.
int OpenTemporary() {
  const int fd = OpenUnnamedFile();
  const bool unknown = fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR);
  return unknown ? ::memfd_create("x2ir", MFD_CLOEXEC) : fd;
}

absl::Status Copy(int from, int to) {
  std::vector<char> buffer(size_t{1} << 20);
  while (true) {
    const ssize_t n = ::read(from, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(std::strerror(errno));
    if (n == 0) return absl::OkStatus();
    const int error = WriteAll(to, buffer.data(), static_cast<size_t>(n));
    if (error != 0) return SystemError(std::strerror(error));
  }
}

absl::Status Keep(int fd) {
  const int file = OpenTemporary();
  if (file < 0) return SystemError("no temporary file: ", std::strerror(errno));
  absl::Status status = Copy(fd, file);
  if (status.ok() && ::dup2(file, fd) < 0) status = SystemError(std::strerror(errno));
  ::close(file);
  return status;
}

}  // namespace

absl::Status KeepStreams(absl::Span<char* const> args) {
  std::string_view before;
  for (const std::string_view arg : args.subspan(args.empty() ? 0 : 1)) {
    // "-" is standard input, but for what is written standard output; and a list is read as it
    // comes.
    const bool is_model = before != "-o" && before != "--output" && before != "--batch";
    before = arg;
    if (arg == "-" && !is_model) continue;
    const int fd = DescriptorOf(arg.substr(arg.rfind('=') + 1));
    if (fd < 0 || !IsStream(fd)) continue;
    X2IR_RETURN_IF_ERROR(Annotate(Keep(fd), StrCat("cannot keep what comes through '", arg, "'")));
  }
  return absl::OkStatus();
}

}  // namespace x2ir::cli
