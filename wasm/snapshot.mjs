// Runs the constructors of a linked module, and writes the module with the memory that they leave instead
// of them: an instance starts with all tables of the program made.
//
//   node snapshot.mjs LINKED.wasm OUT.wasm
import { readFileSync, writeFileSync } from "node:fs";

import { MemoryFiles } from "./js/memory_files.mjs";
import { System } from "./js/system.mjs";

// The sections that change, by their numbers in the binary format of WebAssembly.
const MEMORY = 5, EXPORT = 7, START = 8, DATA = 11, DATA_COUNT = 12;
const FUNCTION_EXPORT = 0;
const CONSTRUCTORS = "_initialize";
const PAGE = 65536;
const GAP = 16; // zeros that are worth a new segment

class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }
  get ended() {
    return this.at >= this.bytes.length;
  }
  // An unsigned number in LEB128.
  number() {
    for (let value = 0, scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }
  take(size) {
    return this.bytes.subarray(this.at, (this.at += size));
  }
}

function unsigned(value) {
  const bytes = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}

// An i32 that is an address, in signed LEB128.
function address(value) {
  const bytes = [];
  for (value |= 0; value < -64 || value > 63; value >>= 7) bytes.push((value & 127) | 128);
  return Buffer.from([...bytes, value & 127]);
}

function* sections(bytes) {
  for (const reader = new Reader(bytes, 8); !reader.ended; ) {
    const id = reader.number();
    yield [id, reader.take(reader.number())];
  }
}

// The memory after the constructors. They may ask which folders there are, and nothing that depends on a run.
function memoryAfterConstructors(bytes) {
  const system = new System();
  system.begin({ files: new MemoryFiles(), streams: [], args: [] });
  const allowed = system.imports().wasi_snapshot_preview1;
  const refuse = (name) => () => {
    throw new Error(`a constructor of the program calls ${name}: what it learns would be that of the build`);
  };
  const imports = new Proxy({}, { get: (_, name) => (name.startsWith("fd_prestat_") ? allowed[name] : refuse(name)) });
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { wasi_snapshot_preview1: imports });
  system.memory = instance.exports.memory;
  instance.exports[CONSTRUCTORS]();
  return new Uint8Array(instance.exports.memory.buffer);
}

// [begin, end] of what is not zero.
function* parts(memory) {
  for (let begin = 0, end; ; begin = end) {
    while (begin < memory.length && memory[begin] === 0) ++begin;
    if (begin === memory.length) return;
    end = begin;
    for (let zeros = 0; zeros < GAP && end + zeros < memory.length; ) {
      if (memory[end + zeros] === 0) ++zeros;
      else [end, zeros] = [end + zeros + 1, 0];
    }
    yield [begin, end];
  }
}

function withoutConstructors(content) {
  const reader = new Reader(content);
  const kept = [];
  for (let n = reader.number(); n > 0; --n) {
    const from = reader.at;
    const name = Buffer.from(reader.take(reader.number())).toString();
    const kind = reader.number();
    reader.number();
    if (name === CONSTRUCTORS && kind === FUNCTION_EXPORT) continue;
    kept.push(content.subarray(from, reader.at));
  }
  return Buffer.concat([unsigned(kept.length), ...kept]);
}

// The limits of the only memory, which begins with the pages that it has.
function withPages(content, pages) {
  const reader = new Reader(content);
  const count = reader.number(), flags = reader.number();
  reader.number();
  if (count !== 1 || flags !== 1) throw new Error("one memory with a maximum is expected");
  return Buffer.concat([Buffer.from([count, flags]), unsigned(pages), content.subarray(reader.at)]);
}

function dataOf(memory, segments) {
  const I32_CONST = 0x41, END = 0x0b;
  const bytes = segments.flatMap(([begin, end]) => [
    Buffer.from([0, I32_CONST]), address(begin), Buffer.from([END]), unsigned(end - begin), memory.subarray(begin, end),
  ]);
  return Buffer.concat([unsigned(segments.length), ...bytes]);
}

function snapshot(bytes) {
  const memory = memoryAfterConstructors(bytes);
  const segments = [...parts(memory)];
  const changed = {
    [MEMORY]: (content) => withPages(content, memory.length / PAGE),
    [EXPORT]: withoutConstructors,
    [START]: () => {
      throw new Error("the module has a start function");
    },
    [DATA]: () => dataOf(memory, segments),
    [DATA_COUNT]: () => unsigned(segments.length),
  };
  const out = [bytes.subarray(0, 8)];
  for (const [id, content] of sections(bytes)) {
    const after = changed[id]?.(content) ?? content;
    out.push(Buffer.from([id]), unsigned(after.length), after);
  }
  return Buffer.concat(out);
}

const [linked, out] = process.argv.slice(2);
writeFileSync(out, snapshot(readFileSync(linked)));
