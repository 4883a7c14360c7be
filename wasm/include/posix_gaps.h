// Functions of POSIX that the C library for WebAssembly lacks, included before every file. Each fails
// as its page says for what a system cannot do, or does nothing where that means the same: there is
// one process, one thread, no signal, and no lock that somebody else could hold.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#undef ARG_MAX  // an operator of TFLite

// --- Files ---------------------------------------------------------------------------------------

#define O_TMPFILE 0x40000000  // refused by open()
#ifndef AT_FDCWD
#define AT_FDCWD (-2)
#endif
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

typedef off_t off64_t;

static inline int flock(int, int) { return 0; }
static inline int dup(int) { return errno = ENOTSUP, -1; }
static inline int pipe(int*) { return errno = ENOTSUP, -1; }
static inline mode_t umask(mode_t) { return 022; }
static inline int chmod(const char*, mode_t) { return 0; }
static inline int fchmod(int, mode_t) { return 0; }
static inline ssize_t copy_file_range(int, off64_t*, int, off64_t*, size_t, unsigned) {
  return errno = ENOSYS, (ssize_t)-1;
}
static inline uid_t geteuid(void) { return 0; }
static inline uid_t getuid(void) { return 0; }

static inline char* mkdtemp(char*) { return errno = ENOSYS, (char*)0; }

// In runtime/descriptors.cc and runtime/realpath.cc.
#ifdef __cplusplus
extern "C" {
#endif
int dup2(int from, int to);  // moves: `from` is closed
int memfd_create(const char* name, unsigned flags);
#ifdef __cplusplus
}
#endif
char* realpath(const char* path, char* resolved);

// --- Memory --------------------------------------------------------------------------------------

#define MADV_NORMAL 0
#define MADV_RANDOM 1
#define MADV_SEQUENTIAL 2
#define MADV_WILLNEED 3
#define MADV_DONTNEED 4
#define MADV_HUGEPAGE 14
#define MADV_POPULATE_READ 22
static inline int getpagesize(void) { return 65536; }
static inline int madvise(void*, size_t, int) { return 0; }

// --- Limits, processes, signals ------------------------------------------------------------------

typedef unsigned long long rlim_t;
struct rlimit {
  rlim_t rlim_cur, rlim_max;
};
#define RLIMIT_CPU 0
#define RLIMIT_FSIZE 1
#define RLIMIT_DATA 2
#define RLIMIT_STACK 3
#define RLIMIT_CORE 4
#define RLIMIT_NOFILE 7
#define RLIMIT_AS 9
#define RLIM_INFINITY (~0ULL)
static inline int getrlimit(int, struct rlimit*) { return errno = ENOSYS, -1; }
static inline int setrlimit(int, const struct rlimit*) { return errno = ENOSYS, -1; }

static inline pid_t fork(void) { return errno = ENOSYS, -1; }
static inline pid_t getppid(void) { return 1; }
static inline pid_t setsid(void) { return errno = ENOSYS, -1; }
static inline int kill(pid_t, int) { return errno = ENOSYS, -1; }
static inline unsigned alarm(unsigned) { return 0; }
static inline int execv(const char*, char* const*) { return errno = ENOSYS, -1; }
static inline int execvp(const char*, char* const*) { return errno = ENOSYS, -1; }

#define SA_SIGINFO 4
#define SA_RESTART 0x10000000
#define SA_RESETHAND 0x80000000
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2
typedef struct {
  int si_signo, si_errno, si_code;
  void* si_addr;
  pid_t si_pid;
} siginfo_t;
struct sigaction {
  union {
    void (*sa_handler)(int);
    void (*sa_sigaction)(int, siginfo_t*, void*);
  };
  sigset_t sa_mask;
  int sa_flags;
};
static inline int sigaction(int, const struct sigaction*, struct sigaction*) { return errno = ENOSYS, -1; }
static inline int sigemptyset(sigset_t*) { return 0; }
static inline int sigfillset(sigset_t*) { return 0; }
static inline int sigaddset(sigset_t*, int) { return 0; }
static inline int sigprocmask(int, const sigset_t*, sigset_t*) { return 0; }
static inline int pthread_sigmask(int, const sigset_t*, sigset_t*) { return 0; }
