// The tensors of ONNX's own test cases: files of a TensorProto, as those of safetensors.mjs.
import fs from 'node:fs';

// By TensorProto.DataType: the safetensors name, its array, and the field of elements that are not raw.
const TYPES = {
  1: ['F32', Float32Array, 4], 2: ['U8', Uint8Array, 5], 3: ['I8', Int8Array, 5], 4: ['U16', Uint16Array, 5],
  5: ['I16', Int16Array, 5], 6: ['I32', Int32Array, 5], 7: ['I64', BigInt64Array, 7], 9: ['BOOL', Uint8Array, 5],
  10: ['F16', Uint16Array, 5], 11: ['F64', Float64Array, 10], 12: ['U32', Uint32Array, 11], 13: ['U64', BigUint64Array, 11],
};

function* fields(bytes) {
  let at = 0;
  const varint = () => {
    for (let value = 0n, shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    if (wire === 0) {
      yield {number: tag >> 3, value: varint()};
      continue;
    }
    const size = wire === 2 ? Number(varint()) : wire === 1 ? 8 : 4;
    yield {number: tag >> 3, wire, bytes: bytes.subarray(at, at += size), varints: varintsOf};
  }
}

function varintsOf() {
  const list = [];
  for (let at = 0; at < this.bytes.length;) {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    list.push(value);
  }
  return list;
}

/** A tensor; null for one of another element type, or what is none. */
export function readTensorProto(file) {
  const shape = [];
  let type = null;
  let raw = null;
  const ints = [];
  const packed = [];
  for (const field of fields(fs.readFileSync(file))) {
    if (field.number === 1) shape.push(...(field.bytes ? field.varints() : [field.value]).map(Number));
    if (field.number === 2 && field.value !== undefined) type = TYPES[Number(field.value)];
    if (field.number === 9) raw = field.bytes;
    if ([5, 7, 11].includes(field.number)) ints.push(...(field.bytes ? field.varints() : [field.value]));
    if ([4, 10].includes(field.number)) packed.push(field.bytes);
  }
  if (!type) return null;
  const [dtype, array] = type;
  const bytes = raw ?? (packed.length ? Buffer.concat(packed) : null);
  let data;
  if (bytes) {
    data = new array(Uint8Array.from(bytes).buffer);
  } else {
    const big = array === BigInt64Array || array === BigUint64Array;
    data = array.from(ints, (x) => (big ? x : Number(BigInt.asIntN(64, x))));
  }
  return data.length === shape.reduce((n, dim) => n * dim, 1) ? {dtype, shape, data} : null;
}
