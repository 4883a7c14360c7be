// Reads and writes safetensors files, strictly as their specification says: a JSON header, no holes, no overlaps.
//
// A tensor here is {dtype, shape, data}: the safetensors name of its element type, its dims, and a typed array. F16 is
// its bits in a Uint16Array and BOOL is a Uint8Array. C64 is read as F32 with a last axis of 2: no runtime has complex
// tensors. A file may hold other element types too (BF16, float8): they are
// listed, and only asking for their data is an error.

import fs from 'node:fs';

/** The typed array of every element type whose data JavaScript can hold. */
const ARRAYS = {
  BOOL: Uint8Array, U8: Uint8Array, I8: Int8Array,
  U16: Uint16Array, I16: Int16Array, F16: Uint16Array,
  U32: Uint32Array, I32: Int32Array, F32: Float32Array,
  U64: BigUint64Array, I64: BigInt64Array, F64: Float64Array, C64: Float32Array,
};

/** Bits per element of every type of the specification. */
const BITS = {
  F4: 4, F6_E2M3: 6, F6_E3M2: 6, BOOL: 8, U8: 8, I8: 8, F8_E5M2: 8, F8_E4M3: 8, F8_E8M0: 8, U16: 16, I16: 16, F16: 16,
  BF16: 16, U32: 32, I32: 32, F32: 32, U64: 64, I64: 64, F64: 64, C64: 64,
};

const MAX_HEADER = 100_000_000;

function readFully(fd, bytes, position) {
  for (let done = 0; done < bytes.length;) {
    const n = fs.readSync(fd, bytes, done, bytes.length - done, position + done);
    if (n === 0) throw new Error('unexpected end of file');
    done += n;
  }
  return bytes;
}

function count(shape) {
  return shape.reduce((n, dim) => n * dim, 1);
}

/** Reads and checks the header: {entries: Map(name -> {dtype, shape, begin, end}), metadata}; offsets in the file. */
function readHeader(fd, size) {
  if (size < 8) throw new Error(`${size} bytes are too few for a header`);
  const length = Number(new DataView(readFully(fd, new Uint8Array(8), 0).buffer).getBigUint64(0, true));
  if (length > MAX_HEADER || 8 + length > size) throw new Error(`a header of ${length} bytes does not fit`);
  const text = new TextDecoder('utf-8', {fatal: true}).decode(readFully(fd, new Uint8Array(length), 8));
  if (!text.startsWith('{')) throw new Error('the header does not start with {');
  const header = JSON.parse(text);

  const entries = new Map();
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const {dtype, shape, data_offsets: offsets} = entry;
    const where = `tensor '${name}'`;
    if (!(dtype in BITS)) throw new Error(`${where}: unknown dtype ${dtype}`);
    if (!Array.isArray(shape) || !shape.every((d) => Number.isSafeInteger(d) && d >= 0)) {
      throw new Error(`${where}: bad shape ${JSON.stringify(shape)}`);
    }
    if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(Number.isSafeInteger)) {
      throw new Error(`${where}: bad data_offsets ${JSON.stringify(offsets)}`);
    }
    const bits = count(shape) * BITS[dtype];
    if (bits % 8 !== 0 || offsets[1] - offsets[0] !== bits / 8) {
      throw new Error(`${where}: ${offsets[1] - offsets[0]} bytes do not hold ${dtype} ${JSON.stringify(shape)}`);
    }
    entries.set(name, {dtype, shape, begin: 8 + length + offsets[0], end: 8 + length + offsets[1]});
  }

  let at = 8 + length;
  for (const [name, entry] of [...entries].sort((a, b) => a[1].begin - b[1].begin || a[1].end - b[1].end)) {
    if (entry.begin !== at) throw new Error(`tensor '${name}': starts at byte ${entry.begin}, expected ${at}`);
    at = entry.end;
  }
  if (at !== size) throw new Error(`the tensors end at byte ${at}, the file at ${size}`);
  return {entries, metadata: header.__metadata__ ?? {}};
}

/** A checked safetensors file. Data is read when it is asked for. */
export class SafetensorsFile {
  constructor(path) {
    this.path = path;
    this.withFile((fd) => Object.assign(this, readHeader(fd, fs.fstatSync(fd).size)));
  }

  names() { return [...this.entries.keys()]; }

  has(name) { return this.entries.has(name); }

  get(name) {
    const entry = this.entries.get(name);
    if (!entry) throw new Error(`${this.path}: no tensor '${name}'`);
    const {dtype, shape, begin, end} = entry;
    const array = ARRAYS[dtype];
    if (!array) throw new Error(`${this.path}: tensor '${name}' is ${dtype}, which JavaScript cannot hold`);
    const bytes = this.withFile((fd) => readFully(fd, new Uint8Array(end - begin), begin));
    if (dtype === 'C64') return {dtype: 'F32', shape: [...shape, 2], data: new array(bytes.buffer)};
    return {dtype, shape, data: new array(bytes.buffer)};
  }

  /** What a reader that maps the file also wants: every tensor begins at a multiple of its element size. */
  misaligned() {
    return [...this.entries].filter(([, e]) => e.begin % Math.max(1, BITS[e.dtype] / 8) !== 0).map(([name]) => name);
  }

  withFile(use) {
    const fd = fs.openSync(this.path, 'r');
    try {
      return use(fd);
    } catch (e) {
      throw e.message.startsWith(this.path) ? e : new Error(`${this.path}: ${e.message}`);
    } finally {
      fs.closeSync(fd);
    }
  }
}

/** Writes {name: tensor}, the widest element types first so that each tensor is aligned. */
export function writeSafetensors(path, tensors) {
  const list = Object.entries(tensors);
  list.sort(([a, x], [b, y]) => BITS[y.dtype] - BITS[x.dtype] || (a < b ? -1 : 1));
  const header = {};
  let offset = 0;
  for (const [name, {dtype, shape, data}] of list) {
    if (!(data instanceof (ARRAYS[dtype] ?? Array)) || data.length !== count(shape)) {
      throw new Error(`tensor '${name}': the data is not ${dtype} ${JSON.stringify(shape)}`);
    }
    header[name] = {dtype, shape, data_offsets: [offset, offset += data.byteLength]};
  }
  const json = Buffer.from(JSON.stringify(header));
  const bytes = Buffer.concat([json, Buffer.alloc((8 - (json.length % 8)) % 8, ' ')]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));

  const fd = fs.openSync(path, 'w');
  try {
    for (const part of [length, bytes, ...list.map(([, t]) => t.data)]) {
      const view = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
      for (let done = 0; done < view.length;) done += fs.writeSync(fd, view, done);
    }
  } finally {
    fs.closeSync(fd);
  }
}

const TFJS = {float32: 'F32', int32: 'I32', int64: 'I64', bool: 'BOOL'};

/** A tensor of TensorFlow.js as one of these; `type`: what stands for it elsewhere ('int64' for int32). */
export function fromTfjs(tensor, type = tensor.dtype) {
  const dtype = TFJS[type];
  const numbers = tensor.dataSync();
  return {dtype, shape: tensor.shape, data: ARRAYS[dtype].from(dtype === 'I64' ? Array.from(numbers, BigInt) : numbers)};
}
