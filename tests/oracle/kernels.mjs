// Finds the element types that ONNX's operators may have and for which ONNX Runtime has no kernel on CPUs, and writes
// facts/onnxruntime-kernels.txt:
//
//   node tests/oracle/kernels.mjs ORACLE... > facts/onnxruntime-kernels.txt
//
// ORACLE is a folder with onnxruntime-node in its node_modules: that of setup.sh, or one of another version, by
// `npm install onnxruntime-node@VERSION`. For each operator of ONNX's own domain, each version of it, each type
// variable of its operands and each type that the variable may be, a file of one node is loaded, and the session says
// whether there is a kernel. What is missing in one of the runtimes that read that opset is a fact.
//
// A type is missing if no types of the other variables help, and for all of a version if it is at one of its opsets. Not
// tried: operators with graphs as attributes, and operands that are no tensors. A file that does not load for another
// reason is listed on stderr, and nothing is said about it. Two runtimes take three minutes.

import {spawn} from 'node:child_process';
import {createRequire} from 'node:module';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import {fileURLToPath} from 'node:url';

const script = fileURLToPath(import.meta.url);
const root = path.join(path.dirname(script), '..', '..');

/** The numbers of element types in ONNX, by the names of the facts and of the IR. */
const TYPES = {
  'tensor(float)': [1, 'float32'], 'tensor(uint8)': [2, 'uint8'], 'tensor(int8)': [3, 'int8'],
  'tensor(uint16)': [4, 'uint16'], 'tensor(int16)': [5, 'int16'], 'tensor(int32)': [6, 'int32'],
  'tensor(int64)': [7, 'int64'], 'tensor(string)': [8, 'string'], 'tensor(bool)': [9, 'bool'],
  'tensor(float16)': [10, 'float16'], 'tensor(double)': [11, 'float64'], 'tensor(uint32)': [12, 'uint32'],
  'tensor(uint64)': [13, 'uint64'], 'tensor(bfloat16)': [16, 'bfloat16'],
  'tensor(float8e4m3fn)': [17, 'float8e4m3fn'], 'tensor(float8e4m3fnuz)': [18, 'float8e4m3fnuz'],
  'tensor(float8e5m2)': [19, 'float8e5m2'], 'tensor(float8e5m2fnuz)': [20, 'float8e5m2fnuz'],
  'tensor(uint4)': [21, 'uint4'], 'tensor(int4)': [22, 'int4'], 'tensor(float4e2m1)': [23, 'float4e2m1'],
  'tensor(float8e8m0)': [24, 'float8e8m0'], 'tensor(uint2)': [25, 'uint2'], 'tensor(int2)': [26, 'int2'],
};
/** What a variable that is not asked about may be. */
const USUAL = ['tensor(float)', 'tensor(int64)', 'tensor(int32)', 'tensor(uint8)', 'tensor(int8)', 'tensor(bool)',
  'tensor(string)'];

// Values of attributes that are more than any number or text, or that decide on types.
const ATTRS = {
  BitShift: {direction: 'LEFT'}, Cast: {to: 1}, Einsum: {equation: 'ij,jk->ik'}, RandomNormalLike: {dtype: 1},
  RandomUniformLike: {dtype: 1},
};

// --- Files of one node -------------------------------------------------------------------------------------------

const varint = (n) => {
  const bytes = [];
  for (let rest = BigInt(n); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
};
const number = (field, n) => Buffer.concat([varint(field << 3), varint(n)]);
const bytes = (field, value) => {
  const body = Buffer.from(value);
  return Buffer.concat([varint((field << 3) | 2), varint(body.length), body]);
};
const message = (field, ...parts) => bytes(field, Buffer.concat(parts));
const float = (field, value) => {
  const body = Buffer.alloc(4);
  body.writeFloatLE(value);
  return Buffer.concat([varint((field << 3) | 5), body]);
};

function attribute(name, kind, value) {
  const parts = {
    int: () => [number(3, value), number(20, 2)],
    ints: () => [...value.map((n) => number(8, n)), number(20, 7)],
    float: () => [float(2, value), number(20, 1)],
    floats: () => [...value.map((x) => float(7, x)), number(20, 6)],
    string: () => [bytes(4, value), number(20, 3)],
    strings: () => [...value.map((x) => bytes(9, x)), number(20, 8)],
  }[kind];
  return parts && message(5, bytes(1, name), ...parts());
}

/** Before opset 7 broadcasting was another; nothing is written there. */
const OLDEST = 7;
const DUMMY = {int: 1, ints: [1, 1], float: 1, floats: [1], string: 'x', strings: ['x']};

function requiredAttributes(op) {
  const own = ATTRS[op.name] ?? {};
  const made = [];
  for (const [name, attr] of Object.entries(op.attributes ?? {})) {
    if (!attr.required && !(name in own)) continue;
    const one = attribute(name, attr.type, own[name] ?? DUMMY[attr.type]);
    if (!one) return null;
    made.push(one);
  }
  return made;
}

/** The file versions of opsets: the oldest that a runtime takes. */
const fileVersion = (opset) => opset < 9 ? 3 : opset < 15 ? 7 : opset < 19 ? 8 : opset < 21 ? 9 : opset < 23 ? 10 :
  opset < 24 ? 11 : opset < 25 ? 12 : 13;

/** `optional`: the variable whose optional operands are given. */
function modelOf(op, opset, types, optional, attributes) {
  const inputs = [], values = [];
  op.inputs.forEach((operand, i) => {
    if (operand.option === 'optional' && operand.type !== optional) return inputs.push('');
    inputs.push(`in_${i}`);
    const type = TYPES[types[operand.type] ?? operand.type];
    if (!type) return;
    values.push(message(11, bytes(1, `in_${i}`), message(2, message(1, number(1, type[0])))));
  });
  while (inputs.length && inputs[inputs.length - 1] === '') inputs.pop();
  const outputs = (op.outputs ?? []).filter((operand, i) => i === 0 || operand.option !== 'optional');
  const node = message(1, ...inputs.map((name) => bytes(1, name)),
                       ...outputs.map((_, i) => bytes(2, `out_${i}`)), bytes(4, op.name), ...attributes);
  const results = outputs.map((_, i) => message(12, bytes(1, `out_${i}`)));
  const graph = message(7, node, bytes(2, 'g'), ...values, ...results);
  return Buffer.concat([number(1, fileVersion(opset)), graph, message(8, bytes(1, ''), number(2, opset))]);
}

/** Every choice of a usual type, or of that of the variable that is asked about: {variable: type}. */
function choices(variables, types, asked) {
  return variables.reduce((made, name) => made.flatMap((one) => {
    const usual = [...new Set([asked, ...USUAL])].filter((type) => types[name].includes(type));
    return (usual.length ? usual : types[name].slice(0, 1)).map((type) => ({...one, [name]: type}));
  }), [{}]);
}

const range = (first, last) => Array.from({length: last - first + 1}, (_, i) => first + i);

/** All that is asked: {op, first, last, operand, type, tries}; a try is the files of one opset, one for each choice. */
function questions() {
  const all = JSON.parse(fs.readFileSync(path.join(root, 'facts', 'onnx-schemas.json'), 'utf8'));
  const ops = all.filter((op) => op.domain === '');
  const newest = Math.max(...ops.map((op) => op.since));
  const made = [];
  for (const op of ops.filter((one) => !one.deprecated)) {
    const later = ops.filter((other) => other.name === op.name && other.since > op.since).map((other) => other.since);
    const last = Math.min(...later, Infinity) - 1;
    const opset = Math.max(op.since, OLDEST);
    const attributes = last < opset ? null : requiredAttributes(op);
    if (!attributes) continue;
    // A function body is written for one opset, and the runtime may use it at that one alone.
    const opsets = op.function ? range(opset, Math.min(last, newest)) : [opset];
    const types = op.types ?? {};
    const used = [...new Set(op.inputs?.map((operand) => operand.type).filter((name) => types[name]))];
    for (const variable of used) {
      for (const type of types[variable].filter((one) => TYPES[one])) {
        const others = choices(used.filter((name) => name !== variable), types, type);
        const modelsAt = (at) => others.map((other) => modelOf(op, at, {...other, [variable]: type}, variable, attributes));
        made.push({op: op.name, first: opset, last, operand: op.inputs.findIndex((one) => one.type === variable),
                   type: TYPES[type][1], tries: opsets.map(modelsAt)});
      }
    }
  }
  return made;
}

// --- Runtimes ----------------------------------------------------------------------------------------------------

async function work(oracle) {
  const ort = createRequire(path.resolve(oracle, 'package.json'))('onnxruntime-node');
  ort.env.logLevel = 'fatal';
  for await (const line of readline.createInterface({input: process.stdin})) {
    let answer = 'loads';
    try {
      const session = await ort.InferenceSession.create(Buffer.from(line, 'base64'),
        {executionProviders: ['cpu'], graphOptimizationLevel: 'disabled', logSeverityLevel: 4});
      await session.release?.();
    } catch (e) {
      if (!/^Unsupported data type/.test(e.message)) answer = e.message.replaceAll('\n', ' ');
    }
    process.stdout.write(`${answer}\n`);
  }
}

/** Answers by number; a file that ends the runtime is answered by null. */
async function ask(oracle, models) {
  const answers = [];
  while (answers.length < models.length) {
    const child = spawn(process.execPath, [script, '--worker', oracle], {stdio: ['pipe', 'pipe', 'ignore']});
    child.stdin.on('error', () => {});
    for (const model of models.slice(answers.length)) child.stdin.write(`${model.toString('base64')}\n`);
    child.stdin.end();
    for await (const line of readline.createInterface({input: child.stdout})) answers.push(line);
    if (answers.length < models.length) answers.push(null);
  }
  return answers;
}

// A kernel that is made asks for what this node does not have; or there is none, or there is ONNX's function body, which
// is not of that type.
const HAS = /^loads$|^Exception during initialization/;
const MISSING = /Could not find an implementation|NOT_IMPLEMENTED|Failed to find kernel|is not currently registered|Type Error/;
const TOO_NEW = /under development|is not a registered function\/op|Unsupported model IR version|opset/i;

async function main(oracles) {
  const asked = questions();
  const versions = [];
  const unknown = new Map();
  for (const oracle of oracles) {
    const {version} = JSON.parse(fs.readFileSync(
      path.join(oracle, 'node_modules', 'onnxruntime-node', 'package.json'), 'utf8'));
    versions.push(version);
    const answers = await ask(oracle, asked.flatMap(({tries}) => tries.flat()));
    let next = 0;
    for (const question of asked) {
      for (const models of question.tries) {
        const all = answers.slice(next, next += models.length).map((answer) => answer ?? 'crash');
        if (all.some((answer) => HAS.test(answer))) continue;
        if (all.some((answer) => MISSING.test(answer))) question.missing = true;
        else if (!all.every((answer) => TOO_NEW.test(answer))) unknown.set(`${question.op} ${question.type}`, all[0]);
      }
    }
  }
  for (const [name, why] of unknown) console.error(`${name}: ${why}`);

  // One line for each interval of opsets with the same types.
  const lines = new Map();
  for (const question of asked.filter(({missing}) => missing)) {
    const key = `${question.op} ${question.first} ${question.operand}`;
    if (!lines.has(key)) lines.set(key, {...question, types: []});
    lines.get(key).types.push(question.type);
  }
  const rows = [];
  for (const line of [...lines.values()].sort((a, b) =>
    a.op < b.op ? -1 : a.op > b.op ? 1 : a.operand - b.operand || a.first - b.first)) {
    const types = line.types.sort().join(' ');
    const before = rows[rows.length - 1];
    if (before && before.op === line.op && before.operand === line.operand && before.last + 1 === line.first &&
        before.types === types) {
      before.last = line.last;
    } else {
      rows.push({...line, types});
    }
  }
  console.log('# Element types that operators of ONNX may have, and for which ONNX Runtime has no kernel on CPUs. ' +
              `Made by\n# tests/oracle/kernels.mjs of onnxruntime-node ${versions.join(', ')}.\n` +
              '# operator, first and last opset (-: the newest), the operand whose type it is, types');
  for (const {op, first, last, operand, types} of rows) {
    console.log(`${op} ${first} ${last === Infinity ? '-' : last} ${operand} ${types}`);
  }
}

if (process.argv[2] === '--worker') {
  await work(process.argv[3]);
} else if (process.argv.length < 3) {
  console.error('usage: node kernels.mjs ORACLE...');
  process.exitCode = 2;
} else {
  await main(process.argv.slice(2));
}
