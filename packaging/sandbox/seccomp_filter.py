"""Prints a seccomp filter (BPF, for `bwrap --seccomp`) of the system calls that x2ir needs.

All others fail with EPERM: sockets, other processes' memory, mounts, namespaces, keys, modules, BPF, io_uring.
"""

import errno
import sys

import seccomp

CALLS = """
access alarm arch_prctl brk chdir chmod clock_getres clock_gettime clock_nanosleep clone clone3 close close_range
copy_file_range dup dup2 dup3 execve exit exit_group faccessat faccessat2 fadvise64 fallocate fchmod fchmodat fcntl
fdatasync flock fork fstat fstatfs fsync ftruncate futex getcwd getdents64 getegid geteuid getgid getpgrp getpid
getppid getrandom getrlimit getrusage gettid gettimeofday getuid ioctl kill link linkat lseek lstat madvise
memfd_create mincore mkdir mkdirat mmap mprotect mremap msync munmap nanosleep newfstatat open openat pipe pipe2
poll ppoll prctl pread64 prlimit64 pwrite64 pwritev read readlink readlinkat readv rename renameat renameat2
restart_syscall rmdir rseq rt_sigaction rt_sigprocmask rt_sigreturn rt_sigtimedwait sched_getaffinity sched_yield
sendfile set_robust_list set_tid_address setrlimit sigaltstack stat statfs statx symlink symlinkat sysinfo tgkill
time umask uname unlink unlinkat utimensat vfork wait4 waitid write writev
""".split()


def main():
    refused = seccomp.SyscallFilter(defaction=seccomp.ERRNO(errno.EPERM))
    for call in CALLS:
        refused.add_rule(seccomp.ALLOW, call)
    refused.export_bpf(sys.stdout.buffer)


if __name__ == "__main__":
    main()
