// setjmp and longjmp for WebAssembly, which wasi-libc lacks. Files that call them are compiled with
// -mllvm -wasm-enable-sjlj; the functions that the compiler then calls are in runtime/setjmp.cc.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long jmp_buf[1];
__attribute__((returns_twice)) int setjmp(jmp_buf);
__attribute__((noreturn)) void longjmp(jmp_buf, int);

#ifdef __cplusplus
}
#endif
