// A file system in memory, of what a page or a caller gives and of what the program writes. Files that
// were given as a File or Blob stay where they are: the bytes that are asked for are read.

import {SystemError} from './errors.mjs';

const kChunk = 8 << 20;  // of what is written
const kPiece = 32 << 20;  // of what is read

/** Bytes that grow at their end without being copied. */
class GrowingBytes {
  constructor() {
    this.chunks = [];
    this.size = 0;
  }
  reserve(size) {
    while (this.chunks.length * kChunk < size) {
      // The first chunk starts small, as most files are.
      this.chunks.push(new Uint8Array(this.chunks.length === 0 ? 4096 : kChunk));
    }
    const first = this.chunks[0];
    if (first && first.length < kChunk && size > first.length) {
      const larger = new Uint8Array(Math.min(kChunk, Math.max(size, first.length * 2)));
      larger.set(first);
      this.chunks[0] = larger;
    }
  }
  read(into, at) {
    const n = Math.min(into.length, Math.max(0, this.size - at));
    for (let done = 0; done < n;) {
      const from = at + done, offset = from % kChunk;
      const part = Math.min(n - done, kChunk - offset);
      into.set(this.chunks[Math.floor(from / kChunk)].subarray(offset, offset + part), done);
      done += part;
    }
    return n;
  }
  write(bytes, at) {
    this.reserve(at + bytes.length);
    for (let done = 0; done < bytes.length;) {
      const to = at + done, offset = to % kChunk;
      const part = Math.min(bytes.length - done, kChunk - offset);
      this.chunks[Math.floor(to / kChunk)].set(bytes.subarray(done, done + part), offset);
      done += part;
    }
    this.size = Math.max(this.size, at + bytes.length);
  }
  truncate(size) {
    if (size > this.size) this.reserve(size);
    for (let at = size; at < this.size; at = (Math.floor(at / kChunk) + 1) * kChunk) {
      this.chunks[Math.floor(at / kChunk)].fill(0, at % kChunk);
    }
    this.size = size;
  }
  /** The bytes as parts, without a copy. */
  parts() {
    const parts = [];
    for (let i = 0; i * kChunk < this.size; ++i) {
      parts.push(this.chunks[i].subarray(0, Math.min(kChunk, this.size - i * kChunk)));
    }
    return parts;
  }
}

/** Bytes that were given. */
class GivenBytes {
  constructor(bytes) {
    this.bytes = bytes;
    this.size = bytes.length;
  }
  read(into, at) {
    const part = this.bytes.subarray(at, at + into.length);
    into.set(part);
    return part.length;
  }
  parts() { return [this.bytes]; }
}

/** A Blob or File, read in slices. Only workers can, since they may wait. */
class GivenBlob {
  constructor(blob) {
    this.blob = blob;
    this.size = blob.size;
    this.ahead = new Uint8Array(0);
    this.aheadAt = 0;
  }
  slice(begin, end) {
    const reader = new FileReaderSync();
    try {
      return new Uint8Array(reader.readAsArrayBuffer(this.blob.slice(begin, end)));
    } catch (error) {
      throw new SystemError('EIO', String(error));  // the file changed or went away
    }
  }
  read(into, at) {
    const end = Math.min(at + into.length, this.size);
    if (end <= at) return 0;
    if (into.length >= 1 << 20) {
      // A piece at a time, since the browser holds each once more.
      for (let from = at; from < end; from += kPiece) {
        into.set(this.slice(from, Math.min(from + kPiece, end)), from - at);
      }
      return end - at;
    }
    // Small reads in a row are answered from one larger one.
    if (at < this.aheadAt || end > this.aheadAt + this.ahead.length) {
      this.aheadAt = at;
      this.ahead = this.slice(at, Math.min(at + (1 << 20), this.size));
    }
    into.set(this.ahead.subarray(at - this.aheadAt, end - this.aheadAt));
    return end - at;
  }
  parts() { return [this.blob]; }
}

/** The content of a given file: bytes, text, or a Blob. */
function contentOf(given) {
  if (typeof given === 'string') return new GivenBytes(new TextEncoder().encode(given));
  if (typeof Blob !== 'undefined' && given instanceof Blob) return new GivenBlob(given);
  if (given instanceof ArrayBuffer) return new GivenBytes(new Uint8Array(given));
  if (ArrayBuffer.isView(given)) {
    return new GivenBytes(new Uint8Array(given.buffer, given.byteOffset, given.byteLength));
  }
  throw new TypeError('a file is given as bytes, a string, or a Blob');
}

let numbers = 0;
function makeNode(content) {
  return {number: ++numbers, content, entries: content ? null : new Map(), time: Date.now(), links: 1};
}

export class MemoryFiles {
  constructor() { this.root = makeNode(null); }

  /** Adds a file, with the folders of its path. */
  add(path, given) {
    const names = partsOf(path);
    const name = names.pop();
    if (!name) throw new TypeError(`'${path}' names no file`);
    let folder = this.root;
    for (const part of names) {
      if (!folder.entries.has(part)) folder.entries.set(part, makeNode(null));
      folder = folder.entries.get(part);
      if (!folder.entries) throw new TypeError(`'${path}': '${part}' is a file`);
    }
    folder.entries.set(name, makeNode(contentOf(given)));
  }

  /** The files below a path, as [path, content]. */
  *files(path = '/') {
    const node = this.find(path);
    if (node.content) {
      yield [path, node.content];
      return;
    }
    for (const name of [...node.entries.keys()].sort()) {
      yield* this.files(path === '/' ? `/${name}` : `${path}/${name}`);
    }
  }

  // --- What the program asks for (see host_files.mjs) --------------------------------------------

  stat(path) { return infoOf(this.find(path)); }

  open(path, {create = false, exclusive = false, truncate = false, folder = false}) {
    let node = this.find(path, true);
    if (node && create && exclusive) throw new SystemError('EEXIST');
    if (!node) {
      if (!create) throw new SystemError('ENOENT');
      node = makeNode(new GrowingBytes());
      const [parent, name] = this.parentOf(path);
      parent.entries.set(name, node);
    }
    if (folder && !node.entries) throw new SystemError('ENOTDIR');
    if (truncate && node.content) node.content = new GrowingBytes();
    return new OpenNode(node);
  }

  list(path) {
    const node = this.find(path);
    if (!node.entries) throw new SystemError('ENOTDIR');
    return [...node.entries].map(([name, entry]) => ({name, ...infoOf(entry)}));
  }

  makeFolder(path) {
    if (this.find(path, true)) throw new SystemError('EEXIST');
    const [parent, name] = this.parentOf(path);
    parent.entries.set(name, makeNode(null));
  }

  removeFolder(path) {
    const node = this.find(path);
    if (!node.entries) throw new SystemError('ENOTDIR');
    if (node.entries.size > 0) throw new SystemError('ENOTEMPTY');
    const [parent, name] = this.parentOf(path);
    parent.entries.delete(name);
  }

  removeFile(path) {
    const node = this.find(path);
    if (node.entries) throw new SystemError('EISDIR');
    const [parent, name] = this.parentOf(path);
    parent.entries.delete(name);
    --node.links;
  }

  rename(from, to) {
    const node = this.find(from), old = this.find(to, true);
    if (old === node) return;
    if (old && !old.entries !== !node.entries) throw new SystemError(old.entries ? 'EISDIR' : 'ENOTDIR');
    if (old?.entries?.size > 0) throw new SystemError('ENOTEMPTY');
    const [parent, name] = this.parentOf(from);
    const [newParent, newName] = this.parentOf(to);
    parent.entries.delete(name);
    newParent.entries.set(newName, node);
  }

  link(from, to) {
    const node = this.find(from);
    if (node.entries) throw new SystemError('EPERM');
    if (this.find(to, true)) throw new SystemError('EEXIST');
    const [parent, name] = this.parentOf(to);
    parent.entries.set(name, node);
    ++node.links;
  }

  readLink() { throw new SystemError('EINVAL'); }  // there are no symbolic links

  find(path, orNull = false) {
    let node = this.root;
    for (const name of partsOf(path)) {
      if (!node.entries) throw new SystemError('ENOTDIR');
      node = node.entries.get(name);
      if (!node) break;
    }
    if (!node && !orNull) throw new SystemError('ENOENT');
    return node;
  }

  parentOf(path) {
    const names = partsOf(path);
    const name = names.pop();
    if (!name) throw new SystemError('EINVAL');
    const parent = this.find(names.join('/'));
    if (!parent.entries) throw new SystemError('ENOTDIR');
    return [parent, name];
  }
}

/** An open file without a name. */
export function unnamedFile() { return new OpenNode(makeNode(new GrowingBytes())); }

class OpenNode {
  constructor(node) { this.node = node; }
  stat() { return infoOf(this.node); }
  read(into, at) { return this.content().read(into, at); }
  write(bytes, at) {
    this.toWrite().write(bytes, at);
    this.node.time = Math.max(Date.now(), this.node.time + 1);  // no two states of a file have the same one
    return bytes.length;
  }
  truncate(size) { this.toWrite().truncate(size); }
  close() {}
  content() {
    if (!this.node.content) throw new SystemError('EISDIR');
    return this.node.content;
  }
  // What was given is not changed: it is copied when somebody writes into it.
  toWrite() {
    const content = this.content();
    if (content instanceof GrowingBytes) return content;
    const own = new GrowingBytes();
    const part = new Uint8Array(Math.min(1 << 20, content.size));
    for (let at = 0; at < content.size;) {
      const n = content.read(part, at);
      own.write(part.subarray(0, n), at);
      at += n;
    }
    return this.node.content = own;
  }
}

function infoOf(node) {
  return {
    type: node.entries ? 'folder' : 'file',
    size: node.content?.size ?? 0,
    time: BigInt(node.time) * 1_000_000n,
    number: BigInt(node.number),
    links: BigInt(node.links),
    device: 1n,
  };
}

function partsOf(path) {
  const parts = [];
  for (const name of path.split('/')) {
    if (name === '..') parts.pop();
    else if (name !== '' && name !== '.') parts.push(name);
  }
  return parts;
}
