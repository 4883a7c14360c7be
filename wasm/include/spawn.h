// <spawn.h> for a target without processes.
#pragma once
typedef struct { int unused; } posix_spawn_file_actions_t;
typedef struct { int unused; } posix_spawnattr_t;
static inline int posix_spawn_file_actions_init(posix_spawn_file_actions_t*) { return 0; }
static inline int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t*) { return 0; }
static inline int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t*, int, const char*, int, mode_t) { return 0; }
static inline int posix_spawnp(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*, char* const*) { return ENOSYS; }
