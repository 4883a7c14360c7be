// The package as a program imports it: runs on files in memory, errors, progress, standard input.
//
//   node package_test.mjs MODEL.onnx CONVERTED.tflite     where the package is installed

import assert from 'node:assert/strict';
import fs from 'node:fs';

import {MemoryFiles, X2ir, compile, load} from 'x2ir';

const [modelPath, convertedPath] = process.argv.slice(2);
const model = fs.readFileSync(modelPath);
const x2ir = await load();

// The bytes that the command wrote to disk.
const done = x2ir.run(['convert', 'in/model.onnx', '-o', 'model.tflite'], {files: {'in/model.onnx': model}});
assert.equal(done.code, 0, done.stderr);
assert.deepEqual(done.files.names, ['model.tflite']);
assert.ok(Buffer.from(done.files.bytes('model.tflite')).equals(fs.readFileSync(convertedPath)));
assert.equal(done.files.blob('model.tflite').size, done.files.bytes('model.tflite').length);

// Several files, a Map, views of buffers, files that runs share.
const files = new MemoryFiles();
files.add('a.onnx', new DataView(model.buffer, model.byteOffset, model.length));
assert.equal(x2ir.run(['convert', 'a.onnx', '-o', 'b.json'], {files}).code, 0);
const verified = x2ir.run(['verify', 'a.onnx', 'b.json', '--random', '1'], {files});
assert.equal(verified.code, 0, verified.stderr);
const map = new Map([['m.onnx', model.buffer.slice(model.byteOffset, model.byteOffset + model.length)]]);
assert.match(x2ir.run(['info', 'm.onnx'], {files: map}).stdout, /inputs/);

// Errors are the program's.
const none = x2ir.run(['convert', 'none.onnx', '-o', 'out.json']);
assert.equal(none.code, 3);
assert.match(none.stderr, /^error: .*none\.onnx/);
assert.deepEqual(none.files.names, []);
const broken = x2ir.run(['convert', 'm.onnx', '-o', 'out.json'], {files: {'m.onnx': model.subarray(0, 1000)}});
assert.equal(broken.code, 3);
assert.deepEqual(broken.files.names, []);
assert.equal(x2ir.run(['convert']).code, 2);
assert.throws(() => x2ir.run(['info', 'x'], {files: {x: 5}}), /bytes, a string, or a Blob/);

// What was given stays as it is, also where the output replaces it.
const copy = Uint8Array.from(model);
const replaced = x2ir.run(['convert', 'm.onnx', '-o', 'n.onnx'], {files: {'m.onnx': model, 'n.onnx': copy}});
assert.equal(replaced.code, 0, replaced.stderr);
assert.deepEqual(replaced.files.names, ['n.onnx']);
assert.ok(Buffer.from(copy).equals(model));

// Memory of 4 GB: what does not fit in it is an error of the program, also where sizes wrap around.
for (const [x, y, weights, body, message] of [
  ['uint8[1] x', 'uint8[n] y', 'int64[1] n = {4294967297}', 'y = Expand(x, n)', /takes 4294967297 bytes, and may take/],
  ['uint8[4] x', 'uint8[n] y', 'int64[1] n = {1073741824}', 'y = Tile(x, n)', /takes 4294967296 bytes, and may take/],
  ['float[1] x', 'float[n] y', 'int64[1] n = {1073741823}', 'y = Expand(x, n)', /expand 'y': out of memory/],
]) {
  const text = `<ir_version: 8, opset_import: ["" : 17]> g (${x}) => (${y}) <${weights}> { ${body} }`;
  const large = x2ir.run(['run', 'm.onnxtxt', '--random', '1'], {files: {'m.onnxtxt': text}});
  assert.match(large.stderr, message);
  assert.ok(large.code === 3 || large.code === 4, `exit code ${large.code}`);
}

// Standard input and output.
const piped = x2ir.run(['convert', '-', '--from', 'onnx', '--to', 'onnx', '-o', '-'], {stdin: model});
assert.equal(piped.code, 0, piped.stderr);
assert.ok(piped.stdoutBytes.length > 1000);

// The module can be compiled once and used by many.
const again = new X2ir(await compile());
assert.equal(again.run(['--version']).stdout, x2ir.run(['--version']).stdout);
console.log('the package: all as it should be');
