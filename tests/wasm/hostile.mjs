// Damaged files in the module: each run ends with one of the program's exit codes and a message; nothing traps,
// nothing is left half-written.
//
//   node tests/wasm/hostile.mjs PACKAGE SECONDS FOLDER|FILE.tar.xz...
//
// The same damage each time for the same models; as much of it as the time allows.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

import {eachPlace, modelsIn} from './models.mjs';

const [packageFolder, seconds, ...places] = process.argv.slice(2);
const {load} = await import(pathToFileURL(path.resolve(packageFolder, 'node.mjs')));
const x2ir = await load();
const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'x2ir-hostile-'));
process.on('exit', () => fs.rmSync(temporary, {recursive: true, force: true}));

// Numbers from a seed (xorshift), so that a failure can be had again.
function numbersFrom(seed) {
  let state = seed >>> 0 || 1;
  return below => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

function damaged(bytes, next) {
  switch (next(4)) {
    case 0: return bytes.subarray(0, next(bytes.length + 1));
    case 1: {  // some bytes
      const copy = Uint8Array.from(bytes);
      for (let n = 1 + next(8); n > 0; --n) copy[next(copy.length)] = next(256);
      return copy;
    }
    case 2: {  // a number of 4 bytes that is too large
      const copy = Uint8Array.from(bytes);
      const at = next(copy.length);
      for (let i = at; i < Math.min(at + 4, copy.length); ++i) copy[i] = 0xff;
      return copy;
    }
    default: {  // a part twice
      const from = next(bytes.length), size = next(Math.min(4096, bytes.length - from) + 1);
      return Buffer.concat([bytes.subarray(0, from + size), bytes.subarray(from)]);
    }
  }
}

const kLargest = 1 << 20;  // larger models take long, and damage to weights is no damage
const models = [];
eachPlace(places, temporary, folder => {
  for (const model of modelsIn(folder)) {
    const stats = fs.statSync(model);
    if (!stats.isFile() || stats.size > kLargest || stats.size === 0) continue;
    models.push({name: path.basename(model), bytes: fs.readFileSync(model)});
  }
});
if (models.length === 0) throw new Error('there are no models');

const codes = [0, 0, 0, 0, 0];
let failed = 0, runs = 0;
const end = Date.now() + 1000 * Number(seconds);
for (let round = 0; Date.now() < end; ++round) {
  const step = numbersFrom(round + 1)(models.length);
  for (let i = 0; i < models.length && Date.now() < end; ++i) {
    const {name, bytes} = models[(i * 7919 + step) % models.length];
    const seed = round * 1_000_003 + i + 1;
    const file = damaged(bytes, numbersFrom(seed));
    const {code, stderr, files} = x2ir.run(['convert', name, '-o', 'out.onnx'], {files: {[name]: file}});
    ++runs;
    let wrong = null;
    if (!(code in codes)) wrong = `exit code ${code}`;
    else if (/the module stopped/.test(stderr)) wrong = stderr;
    else if (code !== 0 && !/error: ./.test(stderr)) wrong = `no message: '${stderr}'`;
    else if (code !== 0 && files.names.length > 0) wrong = `left ${files.names}`;
    if (code in codes) ++codes[code];
    if (wrong) {
      ++failed;
      console.log(`${name}, seed ${seed}, ${file.length} bytes: ${wrong}`);
    }
  }
}
console.log(`${runs} damaged files of ${models.length} models: exit codes 0 to 4: ${codes.join(', ')}; ${failed} failures`);
process.exitCode = failed > 0 ? 1 : 0;
