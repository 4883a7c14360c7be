// x2ir for Node: the interface of x2ir.mjs with the module that lies beside this file, and the program
// on the files of the machine.

import fs from 'node:fs';

import {HostFiles} from './host_files.mjs';
import {execute} from './module.mjs';
import {MemoryFiles, X2ir, compile as compileModule} from './x2ir.mjs';

const kModule = new URL('x2ir.wasm', import.meta.url);

export async function compile(source = fs.readFileSync(kModule)) { return compileModule(source); }

export async function load(source) { return new X2ir(await compile(source)); }

// The streams of a process may be ones that do not wait, such as a pipe that a parent process has set so.
const kPause = new Int32Array(new SharedArrayBuffer(4));
function waiting(call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(kPause, 0, 0, 5);  // milliseconds
    }
  }
}

/** Runs the program on the machine's files and the process's streams: its exit code. */
export async function runHere(args) {
  const stream = fd => ({
    isTerminal: fd === 0 ? process.stdin.isTTY : fd === 1 ? process.stdout.isTTY : process.stderr.isTTY,
    read: into => {
      try {
        return waiting(() => fs.readSync(fd, into, 0, into.length, null));
      } catch (error) {
        if (error.code === 'EOF') return 0;
        throw error;
      }
    },
    write: bytes => waiting(() => fs.writeSync(fd, bytes)),
  });
  const {TMPDIR, NO_COLOR, TERM, COLUMNS} = process.env;
  const env = {PWD: process.cwd(), TMPDIR, NO_COLOR, TERM, COLUMNS};
  for (const name of Object.keys(env)) if (env[name] === undefined) delete env[name];
  return execute(await compile(), {files: new HostFiles(), streams: [0, 1, 2].map(stream), args, env});
}

export {MemoryFiles, X2ir};
