// Arrays as .npy files, which the program reads: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

// Element types of the program as NumPy spells them, and as arrays of this language.
const TYPES = {
  float32: ["<f4", Float32Array],
  float64: ["<f8", Float64Array],
  int8: ["|i1", Int8Array],
  int16: ["<i2", Int16Array],
  int32: ["<i4", Int32Array],
  int64: ["<i8", BigInt64Array],
  uint8: ["|u1", Uint8Array],
  uint16: ["<u2", Uint16Array],
  uint32: ["<u4", Uint32Array],
  uint64: ["<u8", BigUint64Array],
  bool: ["|b1", Uint8Array],
};

export function canType(dtype) {
  return dtype in TYPES;
}

// A file of these elements, in the order of rows.
export function npy(dtype, shape, elements) {
  const [descr] = TYPES[dtype];
  const dims = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${dims}), }`;
  // Magic, version and length are 10 bytes; the data begin at a multiple of 64.
  const size = Math.ceil((10 + text.length + 1) / 64) * 64;
  const header = new Uint8Array(size).fill(0x20);
  header.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]);
  new DataView(header.buffer).setUint16(8, size - 10, true);
  header.set(new TextEncoder().encode(text), 10);
  header[size - 1] = 0x0a;
  return new Blob([header, elements]);
}

export function arrayOf(dtype, size) {
  return new TYPES[dtype][1](size);
}

// The elements of "1 2.5, 3"; one number is for all elements. Throws an Error that says what is wrong.
export function parsed(text, dtype, shape) {
  const words = text.split(/[\s,;[\]]+/).filter(Boolean);
  const size = shape.reduce((product, dim) => product * dim, 1);
  if (words.length !== size && words.length !== 1) {
    throw new Error(`${words.length} numbers are given; the shape [${shape}] has ${size} elements`);
  }
  const array = arrayOf(dtype, size);
  const number = numberOf(dtype);
  if (words.length === 1) return array.fill(number(words[0]));
  words.forEach((word, i) => (array[i] = number(word)));
  return array;
}

const INTEGERS = /^(u?)int(\d+)$/;

function numberOf(dtype) {
  if (dtype === "bool") {
    return (word) => {
      const value = { true: 1, 1: 1, false: 0, 0: 0 }[word.toLowerCase()];
      if (value === undefined) throw new Error(`'${word}' is not true or false`);
      return value;
    };
  }
  const [, unsigned, bits] = INTEGERS.exec(dtype) ?? [];
  if (!bits) {
    return (word) => {
      const special = { inf: Infinity, "+inf": Infinity, "-inf": -Infinity, nan: NaN }[word.toLowerCase()];
      const value = special ?? Number(word);
      if (special === undefined && Number.isNaN(value)) throw new Error(`'${word}' is not a number`);
      return value;
    };
  }
  const least = unsigned ? 0n : -(2n ** (BigInt(bits) - 1n));
  const most = (unsigned ? 2n ** BigInt(bits) : 2n ** (BigInt(bits) - 1n)) - 1n;
  return (word) => {
    if (!/^[+-]?\d+$/.test(word)) throw new Error(`'${word}' is not an integer`);
    const value = BigInt(word.replace("+", ""));
    if (value < least || value > most) throw new Error(`${word} is not from ${least} to ${most}`);
    return bits === "64" ? value : Number(value);
  };
}
