// The module's entry: `run` runs the program, once in an instance. What the constructors of the
// program make is in the module already (snapshot.mjs), so that they know nothing of a run.
#include <unistd.h>

#include <cstdlib>

extern "C" int __main_void();

namespace {
// Memory that the allocator has from the beginning. It would ask for it in very small steps; what
// is not used costs nothing.
constexpr size_t kFirstMemory = size_t{32} << 20;
[[gnu::constructor]] void Reserve() {
  void* volatile memory = std::malloc(kFirstMemory);
  std::free(memory);
}
}  // namespace

extern "C" [[clang::export_name("run")]] void RunOnce() {
  // The current folder, which a module has to be told.
  if (const char* folder = std::getenv("PWD")) (void)::chdir(folder);
  std::exit(__main_void());
}
