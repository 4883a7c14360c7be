// The functions that the compiler calls for setjmp and longjmp (-wasm-enable-sjlj). A longjmp is a
// WebAssembly exception with a tag of its own. A function that calls setjmp has a table of its calls, in
// which each has a number of its own and the label of the code after it; it catches the exception, asks
// whose number it bears, and goes there, or throws it again.
#include <cstdint>
#include <cstdlib>

namespace {

struct Call {
  uintptr_t number;  // 0: the end of the table
  uint32_t label;
};

struct Jump {
  uintptr_t* buffer;
  int value;
};

uintptr_t last_number = 0;
int second_result = 0;  // of the functions below that have two

}  // namespace

extern "C" {

void setTempRet0(int value) { second_result = value; }
int getTempRet0() { return second_result; }

// Enters a call of setjmp(buffer) in the table, which has room for `size` calls and an end. Results: the
// table, which may be another one, and its size.
Call* saveSetjmp(uintptr_t* buffer, uint32_t label, Call* table, uint32_t size) {
  *buffer = ++last_number;
  uint32_t used = 0;
  while (used < size && table[used].number != 0) ++used;
  if (used == size) {
    size *= 2;
    table = static_cast<Call*>(std::realloc(table, sizeof(Call) * (size + 1)));
    if (!table) std::abort();
  }
  table[used] = {last_number, label};
  table[used + 1] = {};
  setTempRet0(static_cast<int>(size));
  return table;
}

// The label of the call with that number; 0 if it is no call of this function.
uint32_t testSetjmp(uintptr_t number, const Call* table, uint32_t size) {
  for (uint32_t i = 0; i < size && table[i].number != 0; ++i) {
    if (table[i].number == number) return table[i].label;
  }
  return 0;
}

[[noreturn]] void __wasm_longjmp(uintptr_t* buffer, int value) {
  static Jump jump;
  jump = {buffer, value == 0 ? 1 : value};
  __builtin_wasm_throw(1, &jump);
}

}  // extern "C"
