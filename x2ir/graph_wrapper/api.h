// X2IR_API, on the namespace of every installed header: the visibility of x2ir's names in a shared
// library.
#ifndef X2IR_GRAPH_WRAPPER_API_H_
#define X2IR_GRAPH_WRAPPER_API_H_

// A shared library that links the static x2ir has a copy of its own, registries and all, and hides
// it: neither functions nor inline functions, templates and their static variables are shared with
// another copy in the process. Executables export nothing, so that
// code for them needs no attribute. With the shared x2ir (X2IR_SHARED, which its CMake package and
// x2ir.pc define) there is one copy, and all libraries use it.
#if defined(X2IR_SHARED)
#define X2IR_API [[gnu::visibility("default")]]
#elif defined(__PIC__) && !defined(__PIE__)
#define X2IR_API [[gnu::visibility("hidden")]]
#else
#define X2IR_API
#endif

#endif  // X2IR_GRAPH_WRAPPER_API_H_
