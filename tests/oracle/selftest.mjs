// Tests of the oracle itself: an oracle that agrees with everything is worse than none. Needs node and nothing else.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {compareTensors, halfToNumber} from './compare.mjs';
import {SafetensorsFile, writeSafetensors} from './safetensors.mjs';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'x2ir-oracle-'));
process.on('exit', () => fs.rmSync(dir, {recursive: true, force: true}));

// compare: [what, got, want, does it agree]
const f32 = (...data) => ({dtype: 'F32', shape: [data.length], data: Float32Array.from(data)});
const f16 = (...data) => ({dtype: 'F16', shape: [data.length], data: Uint16Array.from(data)});
const i64 = (...data) => ({dtype: 'I64', shape: [data.length], data: BigInt64Array.from(data)});
const u8 = (...data) => ({dtype: 'U8', shape: [data.length], data: Uint8Array.from(data)});
const ROWS = [
  ['equal', f32(1, -2), f32(1, -2), true],
  ['within rtol', f32(1000.9), f32(1000), true],
  ['beyond rtol', f32(1001.2), f32(1000), false],
  ['within atol', f32(0.00009), f32(0), true],
  ['beyond atol', f32(0.00011), f32(0), false],
  ['NaN and NaN', f32(NaN, 1), f32(NaN, 1), true],
  ['NaN for a number', f32(NaN), f32(1), false],
  ['a number for NaN', f32(1), f32(NaN), false],
  ['NaN elsewhere', f32(NaN, 1), f32(1, NaN), false],
  ['the same infinity', f32(Infinity, -Infinity), f32(Infinity, -Infinity), true],
  ['the other infinity', f32(-Infinity), f32(Infinity), false],
  ['infinity for a number', f32(Infinity), f32(3e38), false],
  ['a number for infinity', f32(3e38), f32(Infinity), false],
  ['zeros of both signs', f32(-0), f32(0), true],
  ['other dtype', u8(1), i64(1n), false],
  ['other dim', f32(1), f32(1, 1), false],
  ['other rank', {...f32(1), shape: [1, 1]}, f32(1), false],
  ['scalar', {...f32(1), shape: []}, {...f32(1), shape: []}, true],
  ['empty', f32(), f32(), true],
  ['integers', i64(1n << 60n), i64(1n << 60n), true],
  ['integers off by one', i64((1n << 60n) + 1n), i64(1n << 60n), false],
  ['bytes off by one', u8(255), u8(254), false],
  ['halves', f16(0x3c00, 0x7e00), f16(0x3c00, 0x7e01), true],
  ['halves within rtol', f16(0x6401), f16(0x6400), true],
  ['halves beyond rtol', f16(0x3c02), f16(0x3c00), false],
];
for (const [what, got, want, agrees] of ROWS) {
  const {error} = compareTensors(got, want, {rtol: 1e-3, atol: 1e-4});
  assert.equal(error === null, agrees, `${what}: ${error}`);
}
assert.equal(compareTensors(u8(255, 3), u8(254, 5), {rtol: 0, atol: 0, steps: 2}).error, null);
assert.match(compareTensors(u8(255, 3), u8(254, 5), {rtol: 0, atol: 0, steps: 1}).error, /^1 of 2 elements/);
assert.match(compareTensors(...[1, 0].map((b) => ({...u8(b), dtype: 'BOOL'})), {rtol: 0, atol: 0, steps: 1}).error, /^1 of/);
const square = (tensor) => ({...tensor, shape: [2, 2]});
assert.match(compareTensors(square(f32(1, 2, 3, 9)), square(f32(1, 2, 4, 4)), {rtol: 0, atol: 0}).error,
    /^2 of 4 elements of F32 \[2, 2\] differ; the worst is at \[1, 1\]: got 9, expected 4$/);
assert.deepEqual([0x0001, 0x8400, 0x3555, 0x7bff, 0xfc00].map(halfToNumber),
    [2 ** -24, -(2 ** -14), 0.333251953125, 65504, -Infinity]);

// safetensors: every element type comes back, aligned
const tensors = {
  'a': {dtype: 'BOOL', shape: [3], data: Uint8Array.of(1, 0, 1)}, 'b': u8(1, 2), 'c': i64(-5n),
  'd': {dtype: 'U64', shape: [], data: BigUint64Array.of(2n ** 64n - 1n)},
  'e': {dtype: 'I8', shape: [1], data: Int8Array.of(-7)}, 'f': f32(1.5, NaN), 'g': f16(0x3c00),
  'h': {dtype: 'I16', shape: [1, 1], data: Int16Array.of(-300)},
  'i': {dtype: 'U16', shape: [1], data: Uint16Array.of(65535)},
  'j': {dtype: 'I32', shape: [2, 0], data: new Int32Array(0)},
  'k': {dtype: 'U32', shape: [1], data: Uint32Array.of(4294967295)},
  'l \u00e9': {dtype: 'F64', shape: [2], data: Float64Array.of(Math.PI, -0)},
};
const good = path.join(dir, 'good.safetensors');
writeSafetensors(good, tensors);
const file = new SafetensorsFile(good);
assert.deepEqual(file.names().sort(), Object.keys(tensors).sort());
assert.deepEqual(file.misaligned(), []);
for (const [name, tensor] of Object.entries(tensors)) assert.deepEqual(file.get(name), tensor, name);
assert.throws(() => file.get('z'), /no tensor 'z'/);
assert.throws(() => writeSafetensors(good, {a: {...f32(1), shape: [2]}}), /not F32 \[2\]/);

// safetensors: [header or whole file, bytes of data, the error]
const BAD = [
  [Buffer.alloc(3), 0, /too few for a header/],
  [Buffer.alloc(8, 0xff), 0, /does not fit/],
  ['[]', 0, /does not start with/],
  ['{"a":', 0, /JSON/],
  ['{"a":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}}', 4, /unknown dtype F33/],
  ['{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}', 4, /bad shape/],
  ['{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}', 4, /4 bytes do not hold F32/],
  ['{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}', 8, /starts at byte/],
  ['{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}}', 4,
   /starts at byte/],
  ['{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 5, /end at byte/],
  ['{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 3, /end at byte/],
];
for (const [header, bytes, error] of BAD) {
  const bad = path.join(dir, 'bad.safetensors');
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const whole = Buffer.isBuffer(header) ? header : Buffer.concat([length, Buffer.from(header), Buffer.alloc(bytes)]);
  fs.writeFileSync(bad, whole);
  assert.throws(() => new SafetensorsFile(bad), error, `${header}`);
}
const other = '{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}';
const otherLength = Buffer.of(other.length, 0, 0, 0, 0, 0, 0, 0);
fs.writeFileSync(good, Buffer.concat([otherLength, Buffer.from(other), Buffer.alloc(2)]));
assert.throws(() => new SafetensorsFile(good).get('a'), /BF16, which JavaScript cannot hold/);

console.log(`the oracle's own tests pass: ${ROWS.length} comparisons, ${Object.keys(tensors).length} element types, ` +
            `${BAD.length} bad files`);
