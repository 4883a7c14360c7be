// Errors of the system interface, by the names of POSIX and the numbers of WASI.

const kNames =
  ('SUCCESS E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EALREADY EBADF EBADMSG EBUSY ' +
   'ECANCELED ECHILD ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK EDESTADDRREQ EDOM EDQUOT EEXIST ' +
   'EFAULT EFBIG EHOSTUNREACH EIDRM EILSEQ EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR ELOOP EMFILE ' +
   'EMLINK EMSGSIZE EMULTIHOP ENAMETOOLONG ENETDOWN ENETRESET ENETUNREACH ENFILE ENOBUFS ENODEV ENOENT ' +
   'ENOEXEC ENOLCK ENOLINK ENOMEM ENOMSG ENOPROTOOPT ENOSPC ENOSYS ENOTCONN ENOTDIR ENOTEMPTY ' +
   'ENOTRECOVERABLE ENOTSOCK ENOTSUP ENOTTY ENXIO EOVERFLOW EOWNERDEAD EPERM EPIPE EPROTO ' +
   'EPROTONOSUPPORT EPROTOTYPE ERANGE EROFS ESPIPE ESRCH ESTALE ETIMEDOUT ETXTBSY EXDEV ENOTCAPABLE')
      .split(' ');
const kNumbers = new Map(kNames.map((name, number) => [name, number]));

/** An error with a name of POSIX in `code`, as Node's functions of files throw them; it is an answer, and has no stack. */
export class SystemError {
  constructor(code, message = code) {
    this.code = code;
    this.message = message;
  }
}

/** The number of what was thrown. */
export function errorNumber(error) {
  if (error instanceof RangeError) return kNumbers.get('ENOMEM');  // no such array can be made
  return kNumbers.get(error?.code) ?? kNumbers.get('EIO');
}
