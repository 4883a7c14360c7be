// x2ir as a function: `run(args, {files})` runs the program with a command line and the files that it
// may read, and gives what it printed and wrote.

import {MemoryFiles} from './memory_files.mjs';
import {execute, instantiate} from './module.mjs';

/** Compiles the module: from a URL, a Response, bytes, or a WebAssembly.Module. */
export async function compile(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  if (typeof source === 'string' || source instanceof URL) source = await fetch(source);
  // While it arrives; of this type a browser also keeps the compiled code.
  if (source.headers.get('content-type') === 'application/wasm') return WebAssembly.compileStreaming(source);
  return WebAssembly.compile(await source.arrayBuffer());
}

export class X2ir {
  constructor(module) {
    this.module = module;
    this.ready = null;
  }

  static async load(source) { return new X2ir(await compile(source)); }

  /** Makes the instance of the next run now, so that this run begins at once. */
  prepare() { this.ready ??= instantiate(this.module); }

  /**
   * Runs a command line, without the program's name. The call returns when the program has ended; in
   * a page it belongs into a worker.
   *
   * files: names and contents (bytes, a string; in a worker also a Blob or File, of which only the
   * slices are read that are needed). The current folder is "/".
   * onError: called with the text of stderr as it comes; with `progress: true` the program prints its
   * progress there, as it does on a terminal.
   */
  run(args, {files = {}, stdin, progress = false, onError, env = {}} = {}) {
    let system = files;
    if (!(files instanceof MemoryFiles)) {
      system = new MemoryFiles();
      for (const [path, content] of files instanceof Map ? files : Object.entries(files)) {
        system.add(path, content);
      }
    }
    const given = new Map(system.files());
    const out = new Text(), err = new Text(onError);
    let input = typeof stdin === 'string' ? new TextEncoder().encode(stdin) : stdin;
    const {ready} = this;
    this.ready = null;
    const code = execute(this.module, {
      ready,
      files: system,
      args,
      env: {NO_COLOR: '1', PWD: '/', TMPDIR: '/', ...env},
      streams: [
        {read: into => {
           const part = (input ?? new Uint8Array(0)).subarray(0, into.length);
           into.set(part);
           input = input?.subarray(part.length);
           return part.length;
         }},
        {write: bytes => out.add(bytes)},
        {write: bytes => err.add(bytes), isTerminal: progress},
      ],
    });
    const written = new Map();
    for (const [path, content] of system.files()) {
      if (given.get(path) !== content) written.set(path.slice(1), content.parts());
    }
    return {code, stdout: out.end(), stderr: err.end(), stdoutBytes: out.bytes, files: new Written(written)};
  }
}

/** A copy of the parts in one piece. */
function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The files that a run wrote, by their paths. */
class Written {
  constructor(parts) { this.parts = parts; }
  get names() { return [...this.parts.keys()]; }
  has(name) { return this.parts.has(name); }
  /** The content in one piece. */
  bytes(name) {
    const parts = this.parts.get(name);
    if (!parts) throw new Error(`no file '${name}' was written`);
    return joined(parts);
  }
  text(name) { return new TextDecoder().decode(this.bytes(name)); }
  /** The content as a Blob, without a copy in the memory of the page. */
  blob(name, type = 'application/octet-stream') { return new Blob(this.parts.get(name) ?? [], {type}); }
}

class Text {
  constructor(onText) {
    this.decoder = new TextDecoder();
    this.text = '';
    this.chunks = [];
    this.onText = onText;
  }
  add(bytes) {
    const own = bytes.slice();
    this.chunks.push(own);
    const text = this.decoder.decode(own, {stream: true});
    this.text += text;
    if (text) this.onText?.(text);
    return bytes.length;
  }
  get bytes() { return joined(this.chunks); }
  end() { return this.text + this.decoder.decode(); }
}

export {MemoryFiles};
