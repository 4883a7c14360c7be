// <sys/socket.h> for a target that opens no connection: every call fails.
#pragma once
#include_next <sys/socket.h>

#include <errno.h>
#define SO_REUSEADDR 2
#define SO_RCVTIMEO 20
#define SO_SNDTIMEO 21
#define MSG_NOSIGNAL 0x4000
static inline int socket(int, int, int) { return errno = ENOSYS, -1; }
static inline int bind(int, const struct sockaddr*, socklen_t) { return errno = ENOSYS, -1; }
static inline int listen(int, int) { return errno = ENOSYS, -1; }
static inline int getsockname(int, struct sockaddr*, socklen_t*) { return errno = ENOSYS, -1; }
static inline int setsockopt(int, int, int, const void*, socklen_t) { return errno = ENOSYS, -1; }
