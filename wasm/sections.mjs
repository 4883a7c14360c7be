// The parts of a WebAssembly module that the build changes: its sections, and the data of its memory.

// The sections that change, by their numbers in the binary format of WebAssembly.
export const MEMORY = 5, EXPORT = 7, START = 8, DATA = 11, DATA_COUNT = 12;
const GAP = 64; // zeros that are worth a new segment
const I32_CONST = 0x41, END = 0x0b;

export class Reader {
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
  // An i32 that is an address, in signed LEB128.
  address() {
    for (let value = 0, shift = 0; ; ) {
      const byte = this.bytes[this.at++];
      value |= (byte & 127) << shift;
      shift += 7;
      if (byte < 128) return (byte & 64 && shift < 32 ? value | (-1 << shift) : value) >>> 0;
    }
  }
  take(size) {
    return this.bytes.subarray(this.at, (this.at += size));
  }
}

export function unsigned(value) {
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

export function* sections(bytes) {
  for (const reader = new Reader(bytes, 8); !reader.ended; ) {
    const id = reader.number();
    yield [id, reader.take(reader.number())];
  }
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

// The contents of the sections DATA and DATA_COUNT that make `memory` of zeros.
export function dataOf(memory) {
  const segments = [...parts(memory)];
  const bytes = segments.flatMap(([begin, end]) => [
    Buffer.from([0, I32_CONST]), address(begin), Buffer.from([END]), unsigned(end - begin), memory.subarray(begin, end),
  ]);
  return { data: Buffer.concat([unsigned(segments.length), ...bytes]), count: unsigned(segments.length) };
}

// The memory that the content of a section DATA makes.
export function memoryOf(content) {
  const reader = new Reader(content);
  const segments = [];
  for (let n = reader.number(); n > 0; --n) {
    const [mode, instruction] = reader.take(2);
    if (mode !== 0 || instruction !== I32_CONST) throw new Error("a segment of data at a known address is expected");
    const begin = reader.address();
    if (reader.number() !== END) throw new Error("an address that is a constant is expected");
    segments.push([begin, reader.take(reader.number())]);
  }
  const memory = new Uint8Array(Math.max(0, ...segments.map(([begin, bytes]) => begin + bytes.length)));
  for (const [begin, bytes] of segments) memory.set(bytes, begin);
  return memory;
}

// The module with other contents of some sections: {NUMBER: content => content}.
export function changed(bytes, change) {
  const out = [bytes.subarray(0, 8)];
  for (const [id, content] of sections(bytes)) {
    const after = change[id]?.(content) ?? content;
    out.push(Buffer.from([id]), unsigned(after.length), after);
  }
  return Buffer.concat(out);
}
