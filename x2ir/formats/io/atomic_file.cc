// Implements AtomicFile over POSIX files.
#include "x2ir/formats/io/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "x2ir/formats/io/atomic_folder.h"
#include "x2ir/formats/io/temporaries.h"
#include "x2ir/graph_wrapper/mappings.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace {

constexpr size_t kBufferSize = size_t{1} << 20;
// Smaller ranges are copied through the buffer: one system call for many of them.
constexpr size_t kMinCopyRange = size_t{64} << 10;
constexpr size_t kMaxChunk = size_t{1} << 30;
constexpr uint64_t kPage = 4096;
constexpr std::string_view kMark = ".x2ir-";
constexpr std::string_view kSuffix = ".tmp";

std::atomic<unsigned> sequence{0};

std::string Reason(int error) { return std::strerror(error); }

// Gives the bytes to `write` part by part; while one is written, another thread makes the next.
absl::Status WriteMade(const ByteMaker& maker,
                       const std::function<absl::Status(absl::Span<const std::byte>)>& write) {
  // What is as large as the buffer is written without it.
  const auto step = static_cast<int64_t>((kBufferSize + maker.size - 1) / maker.size);
  std::vector<std::byte> parts[2];
  const auto make = [&](int64_t begin, std::vector<std::byte>* part) {
    const int64_t end = std::min(maker.count, begin + step);
    part->resize(static_cast<size_t>(end - begin) * maker.size);
    maker.make(begin, end, part->data());
  };
  // Where there can be no thread, the part is made when it is waited for.
  const auto start = [&](int64_t begin) {
    return std::async(std::launch::async | std::launch::deferred, make, begin,
                      &parts[begin / step % 2]);
  };
  std::future<void> next = start(0);
  for (int64_t begin = 0; begin < maker.count; begin += step) {
    next.get();
    if (begin + step < maker.count) next = start(begin + step);
    X2IR_RETURN_IF_ERROR(write(parts[begin / step % 2]));
  }
  return absl::OkStatus();
}

// Folder with its slash ("" is the current one) and the name in it.
std::pair<std::string, std::string> SplitPath(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

// What the temporaries of a target start with. Cut, so that long names stay legal.
std::string TempPrefix(const std::string& name) {
  return StrCat(".", std::string_view(name).substr(0, 200), kMark);
}

// Temporaries of a target that no living process holds locked: whether there were any. They are
// removed unless `keep`.
bool FindLeftovers(const std::string& folder, const std::string& prefix, bool keep) {
  bool found = false;
  DIR* dir = ::opendir(folder.empty() ? "." : folder.c_str());
  if (dir == nullptr) return found;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix) || !name.ends_with(kSuffix)) continue;
    const std::string path = StrCat(folder, name);
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) {
      found = true;
      if (!keep && ::unlink(path.c_str()) != 0) {
        std::error_code ignored;  // of a folder that was not finished
        std::filesystem::remove_all(path, ignored);
      }
    }
    ::close(fd);
  }
  ::closedir(dir);
  return found;
}

// Temporaries, for as long as they have their names: by these, since AtomicFiles move.
class Interruptible {
 public:
  static void Add(const std::string& temp) {
    Table& table = TheTable();
    const std::lock_guard lock(table.mutex);
    table.all.insert_or_assign(temp, Temporary(temp, Temporary::kFile));
  }
  static void Remove(const std::string& temp) {
    if (temp.empty()) return;
    Table& table = TheTable();
    const std::lock_guard lock(table.mutex);
    table.all.erase(temp);
  }

 private:
  struct Table {
    std::mutex mutex;
    StringMap<Temporary> all;
  };
  static Table& TheTable() {
    static auto* table = new Table;
    return *table;
  }
};

// A second name of a file that is about to be replaced. It looks like a temporary and is locked
// like one: if this process dies, the next writer removes it.
class Backup {
 public:
  Backup() = default;
  Backup(const Backup&) = delete;
  Backup& operator=(const Backup&) = delete;
  ~Backup() {
    if (fd_ >= 0) ::close(fd_);
  }

  // `takes_name`: the second name is the only one then. 0, or the errno of what went wrong.
  int Make(const std::string& target, std::string_view temp, bool takes_name) {
    target_ = target;
    struct stat info;
    if (::lstat(target.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
    fd_ = ::open(target.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd_ >= 0) ::flock(fd_, LOCK_EX | LOCK_NB);
    std::string name = StrCat(temp.substr(0, temp.size() - kSuffix.size()), "-old", kSuffix);
    // Not every file system has files of two names.
    if ((takes_name || ::link(target.c_str(), name.c_str()) != 0) &&
        ::rename(target.c_str(), name.c_str()) != 0) {
      return errno;
    }
    name_ = std::move(name);
    return 0;
  }
  void Remove() {
    if (!name_.empty()) ::unlink(name_.c_str());
    name_.clear();
  }
  // Whether there was something to bring back. Two names of one file are not renamed: the second
  // goes.
  bool Restore() {
    if (name_.empty() || ::rename(name_.c_str(), target_.c_str()) != 0) return false;
    Remove();
    return true;
  }

 private:
  std::string target_, name_;
  int fd_ = -1;
};

}  // namespace

bool AtomicFile::WasInterrupted(const std::string& path) {
  const auto [folder, name] = SplitPath(path);
  return FindLeftovers(folder, TempPrefix(name), /*keep=*/true);
}

absl::StatusOr<AtomicFile> AtomicFile::Create(const std::string& path) {
  AtomicFile file;
  file.path_ = path;
  file.target_ = path;
  struct stat info;
  if (::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) {
    // A link to nothing is replaced itself: there is no file to keep it for.
    if (char* real = ::realpath(path.c_str(), nullptr)) {
      file.target_ = real;
      std::free(real);
    }
  }
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return Invalid("cannot write '", path, "': it exists and is not a regular file");
  }
  // Its name could be given to another file all the same; but who took the permission away meant
  // it.
  if (::access(file.target_.c_str(), F_OK) == 0 && ::access(file.target_.c_str(), W_OK) != 0) {
    return SystemError("cannot write '", path, "': ", Reason(errno));
  }
  const auto [folder, name] = SplitPath(file.target_);
  if (name.empty()) return Invalid("cannot write '", path, "': the path names no file");
  const std::string prefix = TempPrefix(name);
  FindLeftovers(folder, prefix, /*keep=*/false);

  for (int attempt = 0; attempt < 1000; ++attempt) {
    std::string temp = StrCat(folder, prefix, ::getpid(), "-", sequence.fetch_add(1), kSuffix);
    Interruptible::Add(temp);
    const int fd = ::open(temp.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
      const int error = errno;
      Interruptible::Remove(temp);
      if (error == EEXIST) continue;
      return SystemError("cannot write '", path, "': ", Reason(error));
    }
    // Another process that cleans up may take the file between open and flock; then it is
    // gone or about to be, and the next name is tried. Missing support for locks does no harm.
    const bool taken = ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (taken || ::fstat(fd, &info) != 0 || info.st_nlink == 0) {
      ::close(fd);
      Interruptible::Remove(temp);
      continue;
    }
    file.fd_ = fd;
    file.temp_ = std::move(temp);
    return file;
  }
  return SystemError("cannot write '", path, "': every temporary name in its folder is taken");
}

absl::StatusOr<AtomicFolder> AtomicFolder::Create(const std::string& path) {
  std::string target = path;
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  const auto [folder, name] = SplitPath(target);
  const std::string prefix = TempPrefix(name);
  FindLeftovers(folder, prefix, /*keep=*/false);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    AtomicFolder made;
    const std::string temp =
        StrCat(folder, prefix, ::getpid(), "-", sequence.fetch_add(1), kSuffix);
    made.temporary_ = Temporary(temp, Temporary::kFolder);
    if (::mkdir(temp.c_str(), 0777) != 0) {
      if (errno == EEXIST) continue;
      return SystemError("cannot write '", path, "': ", Reason(errno));
    }
    made.temp_ = temp;
    made.target_ = target;
    made.fd_ = ::open(temp.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat info;
    const bool taken = made.fd_ < 0 ||
                       (::flock(made.fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) ||
                       ::fstat(made.fd_, &info) != 0 || info.st_nlink == 0;
    if (!taken) return made;
  }
  return SystemError("cannot write '", path, "': every temporary name in its folder is taken");
}

AtomicFolder::AtomicFolder(AtomicFolder&& other) noexcept
    : target_(std::move(other.target_)),
      temp_(std::exchange(other.temp_, std::string())),
      fd_(std::exchange(other.fd_, -1)),
      temporary_(std::move(other.temporary_)),
      inside_(std::move(other.inside_)) {}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!temp_.empty()) std::filesystem::remove_all(temp_, ignored);
  if (fd_ >= 0) ::close(fd_);
}

absl::Status AtomicFolder::MakeFolder(const std::string& path) {
  inside_.emplace_back(path, Temporary::kFolder);
  if (::mkdir(path.c_str(), 0777) == 0) return absl::OkStatus();
  return SystemError("cannot make '", path, "': ", Reason(errno));
}

absl::Status AtomicFolder::Commit() {
  const NoInterrupts whole;
  if (::rename(temp_.c_str(), target_.c_str()) != 0) {
    return SystemError("cannot write '", target_, "': ", Reason(errno));
  }
  temp_.clear();
  temporary_.Forget();
  inside_.clear();
  return absl::OkStatus();
}

absl::Status AtomicFolder::Replace() {
  const NoInterrupts whole;
  // Like a temporary: if this process dies, the next writer removes it.
  const std::string old = StrCat(temp_.substr(0, temp_.size() - kSuffix.size()), "-old", kSuffix);
  if (::rename(target_.c_str(), old.c_str()) != 0) {
    return SystemError("cannot replace '", target_, "': ", Reason(errno));
  }
  if (const absl::Status status = Commit(); !status.ok()) {
    ::rename(old.c_str(), target_.c_str());
    return status;
  }
  std::error_code ignored;
  std::filesystem::remove_all(old, ignored);
  return absl::OkStatus();
}

AtomicFile AtomicFile::ToFunction(std::string name,
                                  std::function<absl::Status(std::string_view bytes)> write) {
  AtomicFile file;
  file.path_ = std::move(name);
  file.write_ = std::move(write);
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this == &other) return *this;
  Discard();
  path_ = std::move(other.path_);
  target_ = std::move(other.target_);
  temp_ = std::exchange(other.temp_, std::string());
  fd_ = std::exchange(other.fd_, -1);
  write_ = std::exchange(other.write_, nullptr);
  size_ = other.size_;
  buffer_ = std::move(other.buffer_);
  sources_ = std::move(other.sources_);
  status_ = std::move(other.status_);
  return *this;
}

AtomicFile::~AtomicFile() { Discard(); }

void AtomicFile::Discard() {
  // Removed before it is unlocked, so that no file of another writer with that name is removed.
  if (!temp_.empty()) {
    ::unlink(temp_.c_str());
    Interruptible::Remove(temp_);
  }
  temp_.clear();
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  write_ = nullptr;
}

absl::Status AtomicFile::Fail(std::string_view what) {
  return status_ = SystemError("cannot write '", path_, "': ", what);
}

absl::Status AtomicFile::WriteAll(const char* data, size_t n) {
  if (write_) {
    if (n != 0) status_ = write_(std::string_view(data, n));
    return status_;
  }
  while (n > 0) {
    const ssize_t done = ::write(fd_, data, std::min(n, kMaxChunk));
    if (done < 0) {
      if (errno == EINTR) continue;
      // The kernel reads what is written, and gets no signal where a mapped file has no page.
      if (errno == EFAULT) {
        return status_ = DataLoss(
                   "cannot write '", path_,
                   "': a file that was read for it became shorter while the output was written");
      }
      return Fail(Reason(errno));
    }
    data += done;
    n -= static_cast<size_t>(done);
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::Flush() {
  X2IR_RETURN_IF_ERROR(status_);
  X2IR_RETURN_IF_ERROR(WriteAll(buffer_.data(), buffer_.size()));
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status AtomicFile::Append(std::string_view bytes) {
  X2IR_RETURN_IF_ERROR(status_);
  if (!is_open()) return Internal("append to '", path_, "' after it was committed");
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferSize) {
    X2IR_RETURN_IF_ERROR(Flush());
    if (bytes.size() >= kBufferSize) return WriteAll(bytes.data(), bytes.size());
  }
  buffer_.append(bytes);
  return absl::OkStatus();
}

absl::Status AtomicFile::Append(absl::Span<const std::byte> bytes) {
  return Append(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

absl::Status AtomicFile::Append(const Tensor& tensor, const SeenFn& seen) {
  if (tensor.is_string() || tensor.is_sparse()) {
    return Invalid("cannot write '", path_, "': a ", Name(tensor.dtype()),
                   tensor.is_sparse() ? " sparse" : "", " tensor has no flat bytes");
  }
  if (const auto range = tensor.file_range()) {
    sources_.insert(range->file);
    if (tensor.nbytes() >= kMinCopyRange && !write_ && range->file->fd() >= 0)
      return CopyRange(*range, seen);
  }
  const auto append = [&](absl::Span<const std::byte> bytes) {
    if (seen) seen({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return Append(bytes);
  };
  const ByteMaker* maker = tensor.maker();
  if (!maker || tensor.nbytes() == 0) return append(tensor.bytes());
  if (maker->source) sources_.insert(maker->source);
  return WriteMade(*maker, append);
}

absl::Status AtomicFile::Replace(uint64_t at, std::string_view bytes) {
  X2IR_RETURN_IF_ERROR(status_);
  if (!is_open() || !can_replace() || at > size_ || bytes.size() > size_ - at) {
    return Internal("no bytes of '", path_, "' to replace at ", at);
  }
  X2IR_RETURN_IF_ERROR(Flush());
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return Fail(Reason(errno));
    at += static_cast<uint64_t>(done);
    bytes.remove_prefix(static_cast<size_t>(done));
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::CopyRange(const Tensor::FileRange& range, const SeenFn& seen) {
  X2IR_RETURN_IF_ERROR(Flush());
  if (!is_open()) return Internal("append to '", path_, "' after it was committed");
  const int source = range.file->fd();
  off64_t offset = static_cast<off64_t>(range.offset);
  uint64_t left = range.size;
  // Where bytes change their place in a page, the kernel copies a page in two steps, which takes
  // half as long again as by hand.
  const bool by_kernel = !seen && range.offset % kPage == size_ % kPage;
  while (left > 0 && by_kernel) {
    const size_t chunk = std::min<uint64_t>(left, kMaxChunk);
    const ssize_t done = ::copy_file_range(source, &offset, fd_, nullptr, chunk, 0);
    if (done < 0 && errno == EINTR) continue;
    // Refused (other file system, old kernel) or made no progress: by hand below, which
    // also finds the true reason when there is one.
    if (done <= 0) break;
    left -= static_cast<uint64_t>(done);
  }
  if (left > 0) buffer_.resize(kBufferSize);
  while (left > 0) {
    const ssize_t got =
        ::pread(source, buffer_.data(), std::min<uint64_t>(left, kBufferSize), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fail(StrCat("reading '", range.file->path(), "': ", Reason(errno)));
    if (got == 0) {
      return status_ = DataLoss("'", range.file->path(), "' became shorter while it was read");
    }
    if (seen) seen({buffer_.data(), static_cast<size_t>(got)});
    X2IR_RETURN_IF_ERROR(WriteAll(buffer_.data(), static_cast<size_t>(got)));
    offset += got;
    left -= static_cast<uint64_t>(got);
  }
  buffer_.clear();
  size_ += range.size;
  return absl::OkStatus();
}

absl::Status AtomicFile::AlignTo(uint64_t alignment) {
  static constexpr char kZeros[4096] = {};
  if (alignment <= 1) return status_;
  for (uint64_t gap = (alignment - size_ % alignment) % alignment; gap > 0;) {
    const uint64_t n = std::min<uint64_t>(gap, sizeof(kZeros));
    X2IR_RETURN_IF_ERROR(Append(std::string_view(kZeros, n)));
    gap -= n;
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::Finish() {
  X2IR_RETURN_IF_ERROR(Flush());
  if (!is_open()) return Internal("'", path_, "' was committed already");
  if (write_) return absl::OkStatus();
  // Network file systems report a full disk on close. Closing a duplicate asks for it while
  // the lock, which belongs to both, stays.
  const int copy = ::dup(fd_);
  if (copy >= 0 && ::close(copy) != 0 && errno != EINTR) return Fail(Reason(errno));
  return absl::OkStatus();
}

absl::Status AtomicFile::Commit() {
  AtomicFile* const self = this;
  return CommitAll({&self, 1});
}

absl::Status AtomicFile::CommitAll(absl::Span<AtomicFile* const> files) {
  for (AtomicFile* file : files) {
    X2IR_RETURN_IF_ERROR(file->Finish());
    for (const auto& source : file->sources_) {
      if (absl::Status s = CheckUnchanged(*source); !s.ok()) return file->status_ = s;
    }
  }
  // Something that was read may be what a file no longer has.
  X2IR_RETURN_IF_ERROR(MappingFault());

  const NoInterrupts whole;
  // The old files of a group keep a second name until the new one is complete.
  std::vector<Backup> old(files.size());
  absl::Status status;
  const auto fail = [&](AtomicFile* file, int error) { status = file->Fail(Reason(error)); };
  for (size_t i = 0; i < files.size() && files.size() > 1 && status.ok(); ++i) {
    if (files[i]->write_) continue;
    const bool is_last = i + 1 == files.size();
    const int error = old[i].Make(files[i]->target_, files[i]->temp_, /*takes_name=*/is_last);
    if (error != 0) fail(files[i], error);
  }
  size_t done = 0;
  for (; done < files.size() && status.ok(); ++done) {
    if (files[done]->write_) continue;
    if (::rename(files[done]->temp_.c_str(), files[done]->target_.c_str()) != 0) {
      fail(files[done], errno);
      break;
    }
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (status.ok()) {
      old[i].Remove();
    } else if (!old[i].Restore() && i < done && !files[i]->write_) {
      ::unlink(files[i]->target_.c_str());
    }
    if (i < done) files[i]->status_ = status;
  }
  for (size_t i = 0; i < done; ++i) {
    Interruptible::Remove(files[i]->temp_);
    files[i]->temp_.clear();
  }
  for (AtomicFile* file : files) file->Discard();
  return status;
}

}  // namespace x2ir
