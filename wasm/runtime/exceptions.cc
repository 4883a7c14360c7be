// Exceptions of C++ in WebAssembly: what Debian's libc++abi for wasm32-wasi, which is built without
// exceptions, lacks. The compiler (-fwasm-exceptions) calls these functions; their contracts are
// those of the Itanium C++ ABI (exception handling, level II) and of LLVM's landing pads for
// WebAssembly. There is one thread.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>
#include <typeinfo>

namespace {

// The layout of libc++abi's vtables of type_info (private_typeinfo.h): after the destructors come two
// functions without a meaning, then this one.
class CatchableType : public std::type_info {
 public:
  virtual void Unused1() const = 0;
  virtual void Unused2() const = 0;
  // Whether a handler of this type takes an object of type `thrown`; then `*object` is made to point
  // at the part of the object that is of this type.
  virtual bool CanCatch(const CatchableType* thrown, void*& object) const = 0;
};

// Destructors return the object in the C++ ABI of WebAssembly.
using Destructor = void* (*)(void*);

struct alignas(16) Exception {
  const std::type_info* type;
  Destructor destroy;
  void* caught_as;     // the object as the handler's type
  Exception* covered;  // the exception that was being handled when this one was caught
  int handlers;        // that are active
  bool thrown_again;   // by the innermost handler: its end does not destroy the object
};

Exception* current = nullptr;  // the one that the innermost active handler handles

Exception* OfObject(void* object) { return static_cast<Exception*>(object) - 1; }

void Destroy(Exception* exception) {
  if (exception->destroy) exception->destroy(exception + 1);
  std::free(exception);
}

// --- Tables of handlers (language-specific data area) --------------------------------------------

// A number in LEB128. A signed one is extended by the sign, the highest bit of its last byte.
uintptr_t TakeLeb(const uint8_t*& at, bool is_signed = false) {
  uintptr_t value = 0;
  unsigned shift = 0;
  uint8_t byte;
  do {
    byte = *at++;
    value |= static_cast<uintptr_t>(byte & 0x7f) << shift;
    shift += 7;
  } while (byte & 0x80);
  if (is_signed && (byte & 0x40) && shift < sizeof(value) * 8) value |= ~uintptr_t{0} << shift;
  return value;
}

constexpr uint8_t kOmitted = 0xff;

}  // namespace

extern "C" {

// The compiler's code stores the number of the landing pad and its function's table here, calls
// _Unwind_CallPersonality, and compares the selector with the numbers of its handlers' types.
struct {
  uintptr_t landing_pad;
  const uint8_t* table;
  uintptr_t selector;
} __wasm_lpad_context = {};

int _Unwind_CallPersonality(void* thrown) {
  auto* const exception = static_cast<Exception*>(thrown);
  __wasm_lpad_context.selector = 0;
  const uint8_t* at = __wasm_lpad_context.table;
  if (!at) return 0;
  if (*at++ != kOmitted) std::abort();  // the start of landing pads: never there
  const uint8_t* types = nullptr;
  if (*at++ != kOmitted) {
    const uintptr_t offset = TakeLeb(at);
    types = at + offset;
  }
  ++at;  // the encoding of call sites: ULEB128
  const uintptr_t length = TakeLeb(at);
  const uint8_t* const actions = at + length;
  uintptr_t first_action = 0;
  for (uintptr_t site = 0; at < actions; ++site) {
    TakeLeb(at);
    const uintptr_t action = TakeLeb(at);
    if (site == __wasm_lpad_context.landing_pad) {
      first_action = action;
      break;
    }
  }
  if (first_action == 0) return 0;
  for (const uint8_t* action = actions + first_action - 1;;) {
    const intptr_t type_index = static_cast<intptr_t>(TakeLeb(action, true));
    if (type_index > 0) {
      const auto* type =
          reinterpret_cast<const CatchableType* const*>(types)[-static_cast<ptrdiff_t>(type_index)];
      void* object = exception + 1;
      if (!type || type->CanCatch(static_cast<const CatchableType*>(exception->type), object)) {
        exception->caught_as = object;
        __wasm_lpad_context.selector = static_cast<uintptr_t>(type_index);
        return 0;
      }
    }
    const uint8_t* const before = action;
    const intptr_t next = static_cast<intptr_t>(TakeLeb(action, true));
    if (next == 0) return 0;
    action = before + next;
  }
}

void* __cxa_allocate_exception(size_t size) noexcept {
  auto* const exception = static_cast<Exception*>(std::malloc(sizeof(Exception) + size));
  if (!exception) std::abort();
  *exception = {};
  return exception + 1;
}

void __cxa_free_exception(void* object) noexcept { std::free(OfObject(object)); }

[[noreturn]] void __cxa_throw(void* object, std::type_info* type, Destructor destroy) {
  Exception* const exception = OfObject(object);
  exception->type = type;
  exception->destroy = destroy;
  exception->caught_as = object;
  __builtin_wasm_throw(0, exception);
}

void* __cxa_get_exception_ptr(void* thrown) noexcept {
  return static_cast<Exception*>(thrown)->caught_as;
}

void* __cxa_begin_catch(void* thrown) noexcept {
  auto* const exception = static_cast<Exception*>(thrown);
  exception->thrown_again = false;
  if (exception->handlers++ == 0 || exception != current) {
    exception->covered = current;
    current = exception;
  }
  return exception->caught_as;
}

void __cxa_end_catch() {
  Exception* const exception = current;
  if (!exception) return;
  if (--exception->handlers != 0) return;
  current = exception->covered;
  if (!exception->thrown_again) Destroy(exception);
}

[[noreturn]] void __cxa_rethrow() {
  if (!current) std::terminate();
  current->thrown_again = true;
  __builtin_wasm_throw(0, current);
}

}  // extern "C"
