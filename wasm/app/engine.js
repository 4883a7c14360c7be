// Runs of the program, each in a worker of its own; the compiled module is shared between them.
import { byId } from "../../x2ir/view/page/dom.js";
import { WrittenFile } from "./written.js";

// What the program draws while it works: "\r\x1b[Kconverting ... [=====   ] 5 of 12 nodes".
const LINE = "\r\x1b[K";
const PROGRESS = /^[^\n]* \.\.\.(?: \[[= ]*\] (\d+) of (\d+) .*)?$/;

export class Cancelled extends Error {}

// Base64 of gzip, as an answer that can be compiled while it is unpacked.
function unpacked(text) {
  const step = 1 << 18;
  let at = 0;
  const bytes = new ReadableStream({
    pull(controller) {
      if (at >= text.length) return controller.close();
      const part = atob(text.slice(at, (at += step)));
      controller.enqueue(Uint8Array.from(part, (letter) => letter.charCodeAt(0)));
    },
  });
  const headers = { "content-type": "application/wasm" };
  return new Response(bytes.pipeThrough(new DecompressionStream("gzip")), { headers });
}

// The compiled module, and whether it is in the page itself or a file beside it.
async function loaded() {
  // It lies behind this script.
  if (document.readyState === "loading") {
    await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
  }
  const inlined = byId("module").textContent.trim();
  byId("module").textContent = "";
  if (inlined) return { module: await WebAssembly.compileStreaming(unpacked(inlined)), isFile: false };
  const answer = await fetch(`x2ir.wasm?${VERSION}`);
  if (!answer.ok) throw new Error(`x2ir.wasm: ${answer.status} ${answer.statusText}`);
  // Not every server says what the file is. Of an answer that says it, the browser keeps the compiled code.
  const headers = { "content-type": "application/wasm" };
  const said = answer.headers.get("content-type") === headers["content-type"];
  return { module: await WebAssembly.compileStreaming(said ? answer : new Response(answer.body, { headers })), isFile: true };
}

export class Engine {
  constructor() {
    this.source = URL.createObjectURL(new Blob([byId("worker").textContent], { type: "text/javascript" }));
    this.cancel = () => {}; // ends the run that goes on
    this.spare = null; // a worker that waits for its run
    this.numbers = new WeakMap(); // of Blobs
    this.count = 0;
  }

  // { module, isFile }
  load() {
    return (this.loading ??= loaded().then((program) => {
      this.prepare(program.module);
      return program;
    }));
  }

  // Starts the worker of the next run, so that this run begins at once. It reads `files`, which it will probably be given.
  prepare(module, files = []) {
    this.spare = new Worker(this.source);
    this.spare.postMessage({ module, ahead: files.map(([, content]) => this.numbered(content)) });
  }

  // [number, Blob]: a worker cannot see whether a Blob that it is given is one that it has.
  numbered(blob) {
    if (!this.numbers.has(blob)) this.numbers.set(blob, ++this.count);
    return [this.numbers.get(blob), blob];
  }

  // A run that nobody waits for: the browser compiles what it takes, for later ones of its kind. Returns its exit code.
  async rehearse(args, files) {
    const { module } = await this.load();
    const worker = new Worker(this.source);
    const code = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => {
        if (data.done) resolve(data.done.code);
        else if (data.failed) reject(new Error(data.failed));
      };
      worker.onerror = reject;
    });
    worker.postMessage({ module, ahead: [] });
    worker.postMessage({ args, files: files.map(([path, content]) => [path, ...this.numbered(content)]) });
    return code.finally(() => worker.terminate());
  }

  // { code, stdout, stderr, files: [[path, WrittenFile]], missing: [path] }. files: [[path, Blob or WrittenFile]].
  // `onProgress`({ text, done, total }).
  async run(args, files, onProgress = () => {}) {
    const cancelled = new Promise((_, reject) => (this.cancel = () => reject(new Cancelled())));
    const given = files.map(([path, content]) => [path, content instanceof WrittenFile ? content.blob : content]);
    let worker;
    try {
      await Promise.race([this.load(), cancelled]);
      worker = this.spare;
      const done = new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => {
          if (data.done) resolve(data.done);
          else if (data.failed) reject(new Error(data.failed));
          else report(data.progress, onProgress);
        };
        worker.onerror = (event) => reject(new Error(event.message || "the worker cannot be started"));
      });
      worker.postMessage({ args, files: given.map(([path, content]) => [path, ...this.numbered(content)]) });
      const result = await Promise.race([done, cancelled]);
      const written = result.files.map(([path, parts]) => [path, new WrittenFile(parts)]);
      return { ...result, files: written, stderr: withoutProgress(result.stderr) };
    } finally {
      if (worker) {
        worker.terminate();
        this.prepare((await this.load()).module, given);
      }
      this.cancel = () => {};
    }
  }
}

function report(text, onProgress) {
  const last = text.split(LINE).at(-1);
  const match = PROGRESS.exec(last);
  if (match) onProgress({ text: last.replace(/ \.\.\..*/, ""), done: Number(match[1]), total: Number(match[2]) });
}

function withoutProgress(text) {
  return text
    .split(LINE)
    .filter((part) => !PROGRESS.test(part))
    .join("");
}
