// <dlfcn.h> for a target without shared libraries: none is found.
#pragma once
#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_LOCAL 0
#define RTLD_GLOBAL 0x100
#define RTLD_DEFAULT ((void*)0)
typedef struct {
  const char* dli_fname;
  void* dli_fbase;
  const char* dli_sname;
  void* dli_saddr;
} Dl_info;
static inline void* dlopen(const char*, int) { return (void*)0; }
static inline void* dlsym(void*, const char*) { return (void*)0; }
static inline int dlclose(void*) { return 0; }
static inline int dladdr(const void*, Dl_info*) { return 0; }
static inline char* dlerror(void) { return (char*)"WebAssembly has no shared libraries"; }
