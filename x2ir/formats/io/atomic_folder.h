// AtomicFolder: a folder that appears under its name only when it is complete.
#ifndef X2IR_FORMATS_IO_ATOMIC_FOLDER_H_
#define X2IR_FORMATS_IO_ATOMIC_FOLDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "x2ir/formats/io/temporaries.h"
#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// A folder of files that appears under its name when all of them are complete. Until then they are
// in a folder with a temporary name beside it, which is removed like that of an AtomicFile.
class AtomicFolder {
 public:
  // No folder of that name may exist when it is committed, unless it is empty.
  static absl::StatusOr<AtomicFolder> Create(const std::string& path);
  AtomicFolder(AtomicFolder&& other) noexcept;
  ~AtomicFolder();  // removes it with what is in it if it was not committed

  const std::string& path() const { return temp_; }  // the temporary one
  // One inside of it, by its whole path.
  absl::Status MakeFolder(const std::string& path);
  // A file inside of it that is removed with it.
  void AddFile(const std::string& path) { inside_.emplace_back(path, Temporary::kFile); }
  absl::Status Commit();
  // The same where a folder of that name exists: it keeps what it has until the new one has its
  // name.
  absl::Status Replace();

 private:
  AtomicFolder() = default;
  std::string target_, temp_;  // temp_ empty: nothing to remove
  int fd_ = -1;
  Temporary temporary_;
  std::vector<Temporary> inside_;
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_ATOMIC_FOLDER_H_
