// The part of POSIX threads that Abseil and the library name, for a target with one thread. Locks do
// nothing; to start a thread fails.
#pragma once
#include <errno.h>
#include <sched.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PTHREAD_MUTEX_INITIALIZER {0}
#define PTHREAD_COND_INITIALIZER {0}
#define PTHREAD_ONCE_INIT 0

static inline pthread_t pthread_self(void) { return (pthread_t)1; }
static inline int pthread_equal(pthread_t a, pthread_t b) { return a == b; }
static inline int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) {
  return EAGAIN;
}
static inline int pthread_join(pthread_t, void**) { return ESRCH; }
static inline int pthread_mutex_init(pthread_mutex_t*, const pthread_mutexattr_t*) { return 0; }
static inline int pthread_mutex_destroy(pthread_mutex_t*) { return 0; }
static inline int pthread_mutex_lock(pthread_mutex_t*) { return 0; }
static inline int pthread_mutex_trylock(pthread_mutex_t*) { return 0; }
static inline int pthread_mutex_unlock(pthread_mutex_t*) { return 0; }
static inline int pthread_rwlock_init(pthread_rwlock_t*, const pthread_rwlockattr_t*) { return 0; }
static inline int pthread_rwlock_destroy(pthread_rwlock_t*) { return 0; }
static inline int pthread_rwlock_rdlock(pthread_rwlock_t*) { return 0; }
static inline int pthread_rwlock_wrlock(pthread_rwlock_t*) { return 0; }
static inline int pthread_rwlock_unlock(pthread_rwlock_t*) { return 0; }
static inline int pthread_cond_init(pthread_cond_t*, const pthread_condattr_t*) { return 0; }
static inline int pthread_cond_destroy(pthread_cond_t*) { return 0; }
static inline int pthread_cond_signal(pthread_cond_t*) { return 0; }
static inline int pthread_cond_broadcast(pthread_cond_t*) { return 0; }
static inline int pthread_cond_wait(pthread_cond_t*, pthread_mutex_t*) { return 0; }
static inline int pthread_cond_timedwait(pthread_cond_t*, pthread_mutex_t*, const struct timespec*) {
  return ETIMEDOUT;
}
static inline int pthread_once(pthread_once_t* once, void (*run)(void)) {
  if (!*once) {
    *once = 1;
    run();
  }
  return 0;
}

// Values of keys, of which the only thread has one each.
enum { kPthreadKeys = 16 };
inline struct { const void* values[kPthreadKeys]; unsigned used; } pthread_keys_of_the_thread;
static inline int pthread_key_create(pthread_key_t* key, void (*)(void*)) {
  if (pthread_keys_of_the_thread.used == kPthreadKeys) return EAGAIN;
  *key = pthread_keys_of_the_thread.used++;
  return 0;
}
static inline void* pthread_getspecific(pthread_key_t key) {
  return (void*)pthread_keys_of_the_thread.values[key];
}
static inline int pthread_setspecific(pthread_key_t key, const void* value) {
  pthread_keys_of_the_thread.values[key] = value;
  return 0;
}

#ifdef __cplusplus
}
#endif
