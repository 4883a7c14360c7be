// One run of the program, in a worker of its own: its end, or the end of the worker, frees all memory.
import { MemoryFiles, X2ir } from "../js/x2ir.mjs";

const MOST_PARTS = 8; // of 8 MB
const MOST_AHEAD = 64 << 20; // bytes

// Keeps what was asked for and is not there, so that the page can ask for it by name.
class GivenFiles extends MemoryFiles {
  missing = new Set();

  find(path, orNull = false) {
    try {
      const node = super.find(path, orNull);
      if (!node) this.missing.add(path);
      return node;
    } catch (error) {
      if (error.code === "ENOENT") this.missing.add(path);
      throw error;
    }
  }
}

// The content of a file that was written, as the parts of a Blob. Bytes go to the page without a copy; the Blob of a large file
// is made here, where nobody waits for it.
function partsOf(written, name) {
  const parts = written.parts.get(name);
  return parts.length > MOST_PARTS ? [new Blob(parts)] : parts;
}

let x2ir;
const read = new Map(); // bytes of files, by their numbers

// { module, ahead: [[number, Blob]] }. What goes wrong here goes wrong in the run, too, which says so.
function prepare({ module, ahead }) {
  x2ir = new X2ir(module);
  try {
    x2ir.prepare();
    const reader = new FileReaderSync();
    let room = MOST_AHEAD;
    for (const [number, blob] of ahead) {
      if (blob.size > room || read.has(number)) continue;
      room -= blob.size;
      read.set(number, reader.readAsArrayBuffer(blob));
    }
  } catch {
    // No memory, or a file that went away.
  }
}

// { args, files: [[path, number, Blob]] }
function run({ args, files }) {
  try {
    const memory = new GivenFiles();
    for (const folder of ["/models", "/other", "/converted", "/out", "/report"]) memory.makeFolder(folder);
    for (const [path, number, blob] of files) memory.add(path, read.get(number) ?? blob);
    memory.missing.clear();
    const result = x2ir.run(args, {
      files: memory,
      progress: true,
      onError: (text) => postMessage({ progress: text }),
      env: { PWD: "/models" },
    });
    const { code, stdout, stderr, files: written } = result;
    const parts = written.names.map((name) => [`/${name}`, partsOf(written, name)]);
    const buffers = parts.flatMap(([, list]) => list).filter(ArrayBuffer.isView).map((part) => part.buffer);
    postMessage({ done: { code, stdout, stderr, files: parts, missing: [...memory.missing] } }, [...new Set(buffers)]);
  } catch (error) {
    postMessage({ failed: String(error?.message ?? error) });
  }
}

onmessage = ({ data }) => (data.module ? prepare(data) : run(data));
