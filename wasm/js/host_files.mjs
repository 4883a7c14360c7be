// The files of the machine, for Node. The functions are those of memory_files.mjs; they throw errors
// whose `code` is a name of POSIX.

import fs from 'node:fs';

import {SystemError} from './errors.mjs';

const kNoFollow = fs.constants.O_NOFOLLOW ?? 0;

export class HostFiles {
  stat(path, follow = true) {
    return infoOf(follow ? fs.statSync(path, {bigint: true}) : fs.lstatSync(path, {bigint: true}));
  }
  open(path, {create = false, exclusive = false, truncate = false, folder = false, read = true,
              write = false, follow = true}) {
    const c = fs.constants;
    const flags = (write ? (read ? c.O_RDWR : c.O_WRONLY) : c.O_RDONLY) | (create ? c.O_CREAT : 0) |
        (exclusive ? c.O_EXCL : 0) | (truncate ? c.O_TRUNC : 0) | (folder ? (c.O_DIRECTORY ?? 0) : 0) |
        (follow ? 0 : kNoFollow);
    return new OpenFile(fs.openSync(path, flags, 0o666));
  }
  list(path) {
    return fs.readdirSync(path, {withFileTypes: true}).map(entry => ({
      name: entry.name,
      type: entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' :
            entry.isSymbolicLink() ? 'link' : 'other',
      number: 0n,
    }));
  }
  makeFolder(path) { fs.mkdirSync(path); }
  removeFolder(path) { fs.rmdirSync(path); }
  removeFile(path) {
    if (fs.lstatSync(path).isDirectory()) throw new SystemError('EISDIR');
    fs.unlinkSync(path);
  }
  rename(from, to) { fs.renameSync(from, to); }
  link(from, to) { fs.linkSync(from, to); }
  readLink(path) { return fs.readlinkSync(path); }
}

class OpenFile {
  constructor(fd) { this.fd = fd; }
  stat() { return infoOf(fs.fstatSync(this.fd, {bigint: true})); }
  read(into, at) { return fs.readSync(this.fd, into, 0, into.length, at); }
  write(bytes, at) { return fs.writeSync(this.fd, bytes, 0, bytes.length, at); }
  truncate(size) { fs.ftruncateSync(this.fd, size); }
  close() { fs.closeSync(this.fd); }
}

function infoOf(stats) {
  return {
    type: stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' :
          stats.isSymbolicLink() ? 'link' : stats.isCharacterDevice() ? 'terminal' : 'other',
    size: Number(stats.size),
    time: stats.mtimeNs,
    number: stats.ino,
    links: stats.nlink,
    device: stats.dev,
  };
}
