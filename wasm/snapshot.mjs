// Runs the constructors of a linked module, and writes the module with the memory that they leave instead
// of them: an instance starts with all tables of the program made.
//
//   node snapshot.mjs LINKED.wasm OUT.wasm
import { readFileSync, writeFileSync } from "node:fs";

import { MemoryFiles } from "./js/memory_files.mjs";
import { System } from "./js/system.mjs";
import { changed, DATA, DATA_COUNT, dataOf, EXPORT, MEMORY, Reader, START, unsigned } from "./sections.mjs";

const FUNCTION_EXPORT = 0;
const CONSTRUCTORS = "_initialize";
const PAGE = 65536;

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

function snapshot(bytes) {
  const memory = memoryAfterConstructors(bytes);
  const { data, count } = dataOf(memory);
  return changed(bytes, {
    [MEMORY]: (content) => withPages(content, memory.length / PAGE),
    [EXPORT]: withoutConstructors,
    [START]: () => {
      throw new Error("the module has a start function");
    },
    [DATA]: () => data,
    [DATA_COUNT]: () => count,
  });
}

const [linked, out] = process.argv.slice(2);
writeFileSync(out, snapshot(readFileSync(linked)));
