// The module decodes image files as the program does: for each image, and for damaged copies of it, the same pixels, or the
// same error. Of damaged JPEG files the pixels are not compared: the program's library computes several numbers at a time with
// sixteen bits each, which no coefficient of a whole file exceeds.
//
//   node tests/wasm/images.mjs PACKAGE PROGRAM FOLDER...
//
// PACKAGE: the folder of the npm package. PROGRAM: the native x2ir. FOLDER...: where images (.png, .jpg) are.

import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const [packageFolder, native, ...folders] = process.argv.slice(2);
const {load} = await import(pathToFileURL(path.resolve(packageFolder, 'node.mjs')));
const x2ir = await load();
const program = path.resolve(native);
const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'x2ir-images-'));
process.on('exit', () => fs.rmSync(temporary, {recursive: true, force: true}));

const MODEL = `<ir_version: 9, opset_import: ["": 20]>
decoder (uint8[n] file) => (uint8[h, w, c] picture) { picture = ImageDecoder<pixel_format = "RGB">(file) }`;
const ARGS = ['run', 'decoder.onnxtxt', '--input', 'file=file.npy', '-o', 'out.safetensors'];

/** Bytes as an .npy file of uint8. */
function npy(bytes) {
  const text = `{'descr': '|u1', 'fortran_order': False, 'shape': (${bytes.length},), }`;
  const header = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + '\n';
  const magic = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, header.length & 255, header.length >> 8]);
  return Buffer.concat([magic, Buffer.from(header), bytes]);
}

function runNative(files) {
  for (const [name, bytes] of Object.entries(files)) fs.writeFileSync(path.join(temporary, name), bytes);
  const out = path.join(temporary, 'out.safetensors');
  fs.rmSync(out, {force: true});
  const {status, stdout, stderr} = spawnSync(program, ARGS, {cwd: temporary, maxBuffer: 2 ** 30});
  return [status, String(stdout), String(stderr), fs.existsSync(out) ? fs.readFileSync(out).toString('latin1') : ''];
}

function runModule(files) {
  const {code, stdout, stderr, files: written} = x2ir.run(ARGS, {files});
  const out = written.has('out.safetensors') ? Buffer.from(written.bytes('out.safetensors')).toString('latin1') : '';
  return [code, stdout, stderr, out];
}

/** The image, and copies that are too short or have another byte somewhere. */
function* variants(bytes) {
  yield bytes;
  for (let i = 1; i <= 4; ++i) {
    yield bytes.subarray(0, Math.floor((bytes.length * i) / 5));
    const damaged = Buffer.from(bytes);
    damaged[Math.floor((bytes.length * (2 * i - 1)) / 8)] ^= 1 << (2 * i - 1);
    yield damaged;
  }
}

let pictures = 0, runs = 0, failed = 0;
for (const folder of folders) {
  for (const name of fs.readdirSync(folder).filter(name => /\.(png|jpg)$/.test(name)).sort()) {
    const image = fs.readFileSync(path.join(folder, name));
    for (const bytes of variants(image)) {
      const files = {'decoder.onnxtxt': MODEL, 'file.npy': npy(bytes)};
      const [theirs, own] = [runNative(files), runModule(files)];
      ++runs;
      if (theirs[0] === 0 && bytes === image) ++pictures;
      const anyPixels = bytes !== image && name.endsWith('.jpg');
      if (theirs.every((part, i) => part === own[i] || (anyPixels && (i === 1 || (i === 3 && part.length === own[i].length))))) continue;
      ++failed;
      console.log(`${name}, ${bytes === image ? 'whole' : 'damaged'}: exit codes ${theirs[0]} and ${own[0]}\n${theirs[2]}\n${own[2]}`);
    }
  }
}
console.log(`${runs} image files, whole and damaged: ${failed} differences; ${pictures} whole ones are decoded`);
process.exitCode = pictures === 0 || failed > 0 ? 1 : 0;
