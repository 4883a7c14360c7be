// The system interface of the module: functions of WASI preview 1 (wasi_snapshot_preview1) over the
// files of an object (memory_files.mjs, host_files.mjs) and three streams. All paths are below "/".

import {SystemError, errorNumber} from './errors.mjs';
import {unnamedFile} from './memory_files.mjs';

const kTypes = {other: 0, terminal: 2, folder: 3, file: 4, stream: 6, link: 7};
const kRoot = 3;                      // the descriptor of "/"
const kAllRights = (1n << 30n) - 1n;
const kSeekAndTell = (1n << 2n) | (1n << 5n);
const kReadRight = 1n << 1n, kWriteRight = 1n << 6n;

/** Thrown by the module's exit. */
export class Exit {
  constructor(code) { this.code = code; }
}

/** An open file under a second descriptor, whose end does not close it. */
class SharedFile {
  constructor(file) { this.file = file; }
  stat() { return this.file.stat(); }
  read(into, at) { return this.file.read(into, at); }
  write(bytes, at) { return this.file.write(bytes, at); }
  truncate(size) { this.file.truncate(size); }
  close() {}
}

export class System {
  constructor() { this.memory = null; }  // set when there is an instance

  /**
   * What a run works on. files: the file system. streams: for 0, 1, 2: {read(into) or write(bytes), isTerminal}.
   * args: with the program's name; env: an object.
   */
  begin({files, streams, args, env = {}}) {
    this.files = files;
    this.args = args.map(encode);
    this.env = Object.entries(env).map(([name, value]) => encode(`${name}=${value}`));
    this.open = new Map(streams.map((stream, fd) => [fd, {stream}]));
    this.open.set(kRoot, {path: '/'});
    this.next = kRoot + 1;
  }

  /** The import object of the module. */
  imports() {
    const wrapped = {};
    for (const name of Object.getOwnPropertyNames(System.prototype)) {
      if (!/^(args|environ|clock|fd|path|poll|proc|random|sched)_/.test(name)) continue;
      wrapped[name] = (...args) => {
        try {
          // Numbers come as signed ones; all of them are addresses, sizes, descriptors or flags.
          return this[name](...args.map(arg => typeof arg === 'number' ? arg >>> 0 : arg)) ?? 0;
        } catch (error) {
          if (error instanceof Exit) throw error;
          return errorNumber(error);
        }
      };
    }
    // A function that the C library could call and that is not here says so.
    return {
      wasi_snapshot_preview1: new Proxy(wrapped, {
        get: (all, name) => all[name] ?? (() => errorNumber(new SystemError('ENOSYS'))),
        has: () => true,
      }),
    };
  }

  view() { return new DataView(this.memory.buffer); }
  bytes(at, size) { return new Uint8Array(this.memory.buffer, at, size); }
  path(at, size) { return new TextDecoder().decode(this.bytes(at, size).slice()); }
  at(fd) {
    const entry = this.open.get(fd);
    if (!entry) throw new SystemError('EBADF');
    return entry;
  }
  below(fd, at, size) {
    const folder = this.at(fd);
    if (folder.path === undefined) throw new SystemError('ENOTDIR');
    return join(folder.path, this.path(at, size));
  }

  // --- Arguments, time, the end ------------------------------------------------------------------

  writeList(list, pointers, at) {
    const view = this.view();
    for (const [i, text] of list.entries()) {
      view.setUint32(pointers + 4 * i, at, true);
      this.bytes(at, text.length).set(text);
      at += text.length;
    }
  }
  writeSizes(list, count, size) {
    this.view().setUint32(count, list.length, true);
    this.view().setUint32(size, list.reduce((sum, text) => sum + text.length, 0), true);
  }
  args_get(pointers, at) { this.writeList(this.args, pointers, at); }
  args_sizes_get(count, size) { this.writeSizes(this.args, count, size); }
  environ_get(pointers, at) { this.writeList(this.env, pointers, at); }
  environ_sizes_get(count, size) { this.writeSizes(this.env, count, size); }
  clock_time_get(clock, precision, result) {
    const now = clock === 0 ? Date.now() : performance.now();
    this.view().setBigUint64(result, BigInt(Math.round(now * 1e6)), true);
  }
  clock_res_get(clock, result) { this.view().setBigUint64(result, 1_000_000n, true); }
  random_get(at, size) {
    for (let done = 0; done < size; done += 65536) {
      const part = new Uint8Array(Math.min(65536, size - done));
      crypto.getRandomValues(part);
      this.bytes(at + done, part.length).set(part);
    }
  }
  sched_yield() {}
  proc_exit(code) { throw new Exit(code); }

  // --- Descriptors -------------------------------------------------------------------------------

  fd_prestat_get(fd, result) {
    if (fd !== kRoot) throw new SystemError('EBADF');
    this.view().setUint8(result, 0);
    this.view().setUint32(result + 4, 1, true);
  }
  fd_prestat_dir_name(fd, at) { this.bytes(at, 1)[0] = 0x2f; }

  fd_fdstat_get(fd, result) {
    const entry = this.at(fd), view = this.view();
    const type = entry.stream ? (entry.stream.isTerminal ? 'terminal' : 'stream')
                              : entry.file ? entry.file.stat().type : 'folder';
    let rights = kAllRights;
    if (entry.stream) rights &= ~kSeekAndTell;
    view.setUint8(result, kTypes[type]);
    view.setUint16(result + 2, entry.append ? 1 : 0, true);
    view.setBigUint64(result + 8, rights, true);
    view.setBigUint64(result + 16, kAllRights, true);
  }
  fd_fdstat_set_flags() {}
  fd_filestat_get(fd, result) { this.writeInfo(result, this.infoOf(this.at(fd))); }
  fd_filestat_set_size(fd, size) { this.file(fd).truncate(Number(size)); }
  fd_filestat_set_times() {}
  fd_advise() {}
  fd_allocate() { throw new SystemError('ENOTSUP'); }
  fd_sync() {}
  fd_datasync() {}
  fd_close(fd) {
    const entry = this.at(fd);
    this.open.delete(fd);
    entry.file?.close();
  }
  fd_renumber(from, to) {
    const entry = this.at(from);
    this.open.get(to)?.file?.close();
    this.open.set(to, entry);
    this.open.delete(from);
  }

  infoOf(entry) {
    if (entry.stream) {
      return {type: entry.stream.isTerminal ? 'terminal' : 'stream', size: 0, time: 0n, number: 0n,
              links: 1n, device: 0n};
    }
    return entry.file ? entry.file.stat() : this.files.stat(entry.path);
  }
  file(fd) {
    const entry = this.at(fd);
    if (!entry.file) throw new SystemError(entry.stream ? 'ESPIPE' : 'EISDIR');
    return entry.file;
  }

  fd_seek(fd, offset, whence, result) {
    const file = this.file(fd), entry = this.at(fd);
    const from = whence === 0 ? 0 : whence === 1 ? entry.position : file.stat().size;
    const position = from + Number(offset);
    if (position < 0) throw new SystemError('EINVAL');
    entry.position = position;
    this.view().setBigUint64(result, BigInt(position), true);
  }
  fd_tell(fd, result) {
    this.file(fd);
    this.view().setBigUint64(result, BigInt(this.at(fd).position), true);
  }

  /** Calls move(bytes, done) for the buffers of a list until one is not filled: the sum. */
  transfer(list, count, result, move) {
    let done = 0;
    for (let i = 0; i < count; ++i) {
      const view = this.view();
      const at = view.getUint32(list + 8 * i, true), size = view.getUint32(list + 8 * i + 4, true);
      if (size === 0) continue;
      const n = move(this.bytes(at, size), done);
      done += n;
      if (n < size) break;
    }
    this.view().setUint32(result, done, true);
  }
  fd_read(fd, list, count, result) {
    const entry = this.at(fd);
    if (entry.stream) {
      this.transfer(list, count, result, into => entry.stream.read?.(into) ?? 0);
      return;
    }
    const file = this.file(fd);
    this.transfer(list, count, result, into => {
      const n = file.read(into, entry.position);
      entry.position += n;
      return n;
    });
  }
  fd_write(fd, list, count, result) {
    const entry = this.at(fd);
    if (entry.stream) {
      this.transfer(list, count, result, bytes => entry.stream.write(bytes) ?? bytes.length);
      return;
    }
    const file = this.file(fd);
    if (entry.append) entry.position = file.stat().size;
    this.transfer(list, count, result, bytes => {
      const n = file.write(bytes, entry.position);
      entry.position += n;
      return n;
    });
  }
  fd_pread(fd, list, count, offset, result) {
    const file = this.file(fd);
    this.transfer(list, count, result, (into, done) => file.read(into, Number(offset) + done));
  }
  fd_pwrite(fd, list, count, offset, result) {
    const file = this.file(fd);
    this.transfer(list, count, result, (bytes, done) => file.write(bytes, Number(offset) + done));
  }

  fd_readdir(fd, at, size, cookie, result) {
    const entry = this.at(fd);
    if (entry.path === undefined) throw new SystemError('ENOTDIR');
    // A listing is of one moment; it starts anew when it is read from its beginning.
    if (cookie === 0n || !entry.listing) {
      entry.listing = [{name: '.', type: 'folder', number: 0n}, {name: '..', type: 'folder', number: 0n},
                       ...this.files.list(entry.path)];
    }
    let used = 0;
    for (let i = Number(cookie); i < entry.listing.length && used < size; ++i) {
      const {name, type, number} = entry.listing[i];
      const text = encode(name).subarray(0, -1);
      const record = new Uint8Array(24 + text.length);
      const view = new DataView(record.buffer);
      view.setBigUint64(0, BigInt(i + 1), true);
      view.setBigUint64(8, number, true);
      view.setUint32(16, text.length, true);
      view.setUint8(20, kTypes[type]);
      record.set(text, 24);
      const part = record.subarray(0, size - used);
      this.bytes(at + used, part.length).set(part);
      used += part.length;
    }
    this.view().setUint32(result, used, true);
  }

  // --- Paths -------------------------------------------------------------------------------------

  writeInfo(result, {type, size, time, number, links, device}) {
    const view = this.view();
    view.setBigUint64(result, BigInt.asUintN(64, device), true);
    view.setBigUint64(result + 8, BigInt.asUintN(64, number), true);
    view.setBigUint64(result + 16, 0n, true);
    view.setUint8(result + 16, kTypes[type]);
    view.setBigUint64(result + 24, links, true);
    view.setBigUint64(result + 32, BigInt(size), true);
    for (const field of [40, 48, 56]) view.setBigUint64(result + field, BigInt.asUintN(64, time), true);
  }
  /** The open file that a path names by its descriptor, or null: a stream that was kept as a file. */
  byDescriptor(path) {
    const number = path === '/dev/stdin' ? 0 : /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(path)?.[1];
    return (number !== undefined && this.open.get(Number(number))?.file) || null;
  }
  openSpecial(path) {
    if (path === '/dev/memfd') return unnamedFile();
    const file = this.byDescriptor(path);
    return file && new SharedFile(file);
  }
  path_filestat_get(fd, flags, at, size, result) {
    const path = this.below(fd, at, size);
    const file = this.byDescriptor(path);
    this.writeInfo(result, file ? file.stat() : this.files.stat(path, (flags & 1) !== 0));
  }
  path_filestat_set_times() {}
  path_open(fd, lookup, at, size, oflags, rights, inheriting, fdflags, result) {
    const path = this.below(fd, at, size);
    const write = (rights & kWriteRight) !== 0n;
    const file = this.openSpecial(path) ?? this.files.open(path, {
      create: (oflags & 1) !== 0,
      folder: (oflags & 2) !== 0,
      exclusive: (oflags & 4) !== 0,
      truncate: (oflags & 8) !== 0,
      read: (rights & kReadRight) !== 0n || !write,
      write,
      follow: (lookup & 1) !== 0,
    });
    const isFolder = file.stat().type === 'folder';
    if (isFolder && write) {
      file.close();
      throw new SystemError('EISDIR');
    }
    const opened = this.next++;
    this.open.set(opened, {file: isFolder ? undefined : file, path, position: 0,
                           append: (fdflags & 1) !== 0});
    if (isFolder) file.close();
    this.view().setUint32(result, opened, true);
  }
  path_create_directory(fd, at, size) { this.files.makeFolder(this.below(fd, at, size)); }
  path_remove_directory(fd, at, size) { this.files.removeFolder(this.below(fd, at, size)); }
  path_unlink_file(fd, at, size) { this.files.removeFile(this.below(fd, at, size)); }
  path_rename(fd, at, size, toFd, toAt, toSize) {
    this.files.rename(this.below(fd, at, size), this.below(toFd, toAt, toSize));
  }
  path_link(fd, lookup, at, size, toFd, toAt, toSize) {
    this.files.link(this.below(fd, at, size), this.below(toFd, toAt, toSize));
  }
  path_readlink(fd, at, size, buffer, room, result) {
    const text = encode(this.files.readLink(this.below(fd, at, size))).subarray(0, -1).subarray(0, room);
    this.bytes(buffer, text.length).set(text);
    this.view().setUint32(result, text.length, true);
  }
  path_symlink() { throw new SystemError('ENOTSUP'); }
  poll_oneoff() { throw new SystemError('ENOTSUP'); }
}

function encode(text) { return new TextEncoder().encode(`${text}\0`); }

function join(folder, path) {
  return path.startsWith('/') ? path : `${folder === '/' ? '' : folder}/${path}`;
}
