// The current folder, which a module has to be told: that of the environment's PWD.
#include <unistd.h>

#include <cstdlib>

namespace {
[[gnu::constructor(101)]] void EnterFolder() {
  if (const char* folder = std::getenv("PWD")) (void)::chdir(folder);
}
}  // namespace
