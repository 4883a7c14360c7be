// What a program that is interrupted takes away before it ends: its temporary files, and folders
// that it made and put nothing into. Of one that is killed they stay, for the next that writes
// there.
#ifndef X2IR_FORMATS_IO_TEMPORARIES_H_
#define X2IR_FORMATS_IO_TEMPORARIES_H_

#include <string>

#include "x2ir/graph_wrapper/api.h"

namespace X2IR_API x2ir {

// From now on SIGINT, SIGTERM, SIGHUP and SIGALRM remove what is registered, and then do what they
// did. Those that are ignored, or handled, stay so. A handler belongs to the process, so that no
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

// Files take their names meanwhile: a signal waits for the end of it.
class NoInterrupts {
 public:
  NoInterrupts();
  NoInterrupts(const NoInterrupts&) = delete;
  ~NoInterrupts();
};

}  // namespace x2ir

#endif  // X2IR_FORMATS_IO_TEMPORARIES_H_
