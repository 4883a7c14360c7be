// Temporary files, and empty folders that the program made, which are removed when it is
// interrupted. If a program is killed they stay until the next write to the same name.
#ifndef X2IR_FORMATS_IO_TEMPORARIES_H_
#define X2IR_FORMATS_IO_TEMPORARIES_H_

#include <string>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// From now on SIGINT, SIGTERM, SIGHUP and SIGALRM remove the registered files, and then have their
// previous effect. Ignored or handled signals stay so. A handler belongs to the process, so that no
// library sets one by itself: this is for programs, once, at their start.
void RemoveTemporariesOnSignals();

// A file, or a folder that is removed where it is empty, as long as this lives.
class Temporary {
 public:
  enum Kind { kFile = 1, kFolder };

  Temporary() = default;
  Temporary(const std::string& path, Kind kind);
  Temporary(Temporary&& other) noexcept : slot_(other.slot_) { other.slot_ = nullptr; }
  Temporary& operator=(Temporary&& other) noexcept;
  ~Temporary() { Forget(); }
  void Forget();

  struct Slot;

 private:
  Slot* slot_ = nullptr;
};

// A section in which files get their names: a signal waits for its end.
class NoInterrupts {
 public:
  NoInterrupts();
  NoInterrupts(const NoInterrupts&) = delete;
  ~NoInterrupts();
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_TEMPORARIES_H_
