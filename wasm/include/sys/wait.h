// <sys/wait.h> for a target without processes.
#pragma once
#define WNOHANG 1
#define WIFEXITED(status) 0
#define WEXITSTATUS(status) 0
#define WIFSIGNALED(status) 0
#define WTERMSIG(status) 0
static inline pid_t waitpid(pid_t, int*, int) { return errno = ECHILD, -1; }
