// <sys/prctl.h> for a target without processes.
#pragma once
#define PR_SET_PDEATHSIG 1
#define PR_SET_DUMPABLE 4
static inline int prctl(int, ...) { return errno = ENOSYS, -1; }
