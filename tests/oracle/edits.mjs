// Options that change a model, on every network of SHARED/models, judged by ONNX Runtime: on each ONNX file, and on the
// .pt2 file where there is no other:
//
//   node edits.mjs --bin BUILD/bin --shared DIR --work DIR [--table FILE.md] [--oracle DIR]
//
//   float16   the export with --float16 --keep-io agrees within 1e-2, its weights are half as large, and it has no more
//             casts than a conversion node by node leaves; with --float16 alone it has those of the float32 export.
//             --table replaces the table of FILE.md by what was measured
//   rename    all inputs and outputs have other names, and the outputs agree
//   params    weights are inputs with default values, and the outputs agree
//   fold      the first input is a constant, and the outputs agree on the others
//   extract   the part up to a linear node in the middle computes what x2ir run says of the whole model there
//
// It prints a line a failure and a sum. The exit code is 0 when all pass, 1 when a check fails, and 77 when the oracle or
// the models are not here.

import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {NOT_INSTALLED, NOT_RUN, findOracle, sayNotRun} from './judge.mjs';
import {SafetensorsFile, writeSafetensors} from './safetensors.mjs';
import {NOT_SHARED, sharedFolder} from './shared.mjs';

const {values: flags} = parseArgs({options: {
  bin: {type: 'string'}, shared: {type: 'string'}, work: {type: 'string'}, table: {type: 'string'},
  oracle: {type: 'string'},
}});
const oracle = findOracle(flags.oracle);
const models = sharedFolder('oracle_edits', flags.shared, 'models');
for (const [missing, why] of [[!models, NOT_SHARED], [!oracle, NOT_INSTALLED]]) {
  if (!missing) continue;
  sayNotRun(why);
  process.exit(NOT_RUN);
}
fs.mkdirSync(flags.work, {recursive: true});
const inWork = (name) => path.join(flags.work, name);
const here = path.dirname(fileURLToPath(import.meta.url));

function x2ir(...args) {
  const result = spawnSync(path.join(flags.bin, 'x2ir'), args, {encoding: 'utf8', maxBuffer: 1 << 28});
  if (result.status !== 0) throw new Error(result.stderr.trim());
  return result.stdout;
}

function agree(model, io, tolerance) {
  const result = spawnSync(process.execPath, [path.join(here, 'ort.mjs'), model, io, '--case', 'all', '--oracle', oracle,
    '--rtol', tolerance, '--atol', tolerance], {encoding: 'utf8'});
  if (result.status !== 0) throw new Error((result.stdout + result.stderr).trim().split('\n').pop());
  return Number(/max_abs ([^,]*),/.exec(result.stdout)[1]);
}

const NPY = {F32: '<f4', I64: '<i8', I32: '<i4', BOOL: '|b1', F16: '<f2', U8: '|u1', F64: '<f8'};
function writeNpy(file, {dtype, shape, data}) {
  const dims = shape.map((dim) => `${dim},`).join('');
  const header = `{'descr': '${NPY[dtype]}', 'fortran_order': False, 'shape': (${dims}), }`;
  const padded = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + '\n';
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(padded.length, 8);
  fs.writeFileSync(file, Buffer.concat([head, Buffer.from(padded, 'latin1'),
    Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}

// The first case of a file, by position.
function caseOf(file, names, kind) {
  const prefix = file.has('in_0') || !file.names().some((name) => name.startsWith('case0.')) ? '' : 'case0.';
  return names.map((name, i) => file.get(file.has(`${prefix}${kind}_${i}`) ? `${prefix}${kind}_${i}` : prefix + name));
}

const numbered = (kind, tensors) => Object.fromEntries(tensors.map((tensor, i) => [`${kind}_${i}`, tensor]));

const infoOf = (file) => JSON.parse(x2ir('info', file, '--json'));

// Ops of the shared models that conversions node by node keep in float32, between casts of their own.
const KEPT_BY_NODE = ['resize', 'range', 'cum_sum', 'min', 'max', 'top_k', 'roi_align', 'non_max_suppression'];

// The casts of a file that is converted node by node: those that it has, one for each float input and output, and one
// for each computed operand and each result of a node that is kept. Without passes a node of the IR is one of the file.
function castsByNode(model) {
  x2ir('convert', model, '-o', inWork('plain.json'));
  const {inputs, outputs, constants, nodes} = JSON.parse(fs.readFileSync(inWork('plain.json'), 'utf8')).graph;
  const isFloat = (type) => type?.startsWith('float32');
  const computed = new Set(inputs.filter((port) => isFloat(port.type)).map((port) => port.name));
  let casts = computed.size + outputs.filter(([, type]) => isFloat(type)).length;
  for (const {out} of nodes) for (const [name, type] of out) if (isFloat(type)) computed.add(name);
  for (const {name} of constants) computed.delete(name);
  for (const node of nodes) {
    if (node.op === 'cast') ++casts;
    if (!KEPT_BY_NODE.includes(node.op)) continue;
    casts += node.in.filter((name) => computed.has(name)).length + node.out.filter(([, type]) => isFloat(type)).length;
  }
  return casts;
}

const grouped = (number) => `${number}`.replace(/\B(?=(\d{3})+$)/g, ',');
const halves = [];  // the table's rows

const CHECKS = {
  float16({label, model, io}) {
    x2ir('convert', model, '-o', inWork('full.onnx'));
    x2ir('convert', model, '-o', inWork('half.onnx'), '--float16', '--keep-io');
    const error = agree(inWork('half.onnx'), io, '1e-2');
    const [full, half] = ['full.onnx', 'half.onnx'].map((name) => {
      const {weights, ops} = infoOf(inWork(name));
      const bytes = (type) => weights[type]?.bytes ?? 0;
      return {
        bytes: bytes('float32') + bytes('float16'), casts: ops['onnx.Cast'] ?? 0, file: fs.statSync(inWork(name)).size,
      };
    });
    const byNode = castsByNode(model);
    halves.push([label, grouped(full.bytes), grouped(half.bytes), grouped(full.file), grouped(half.file), half.casts,
      byNode, error.toPrecision(2)]);
    // What stays float32 beside weights: the few numbers of a resize.
    if (half.bytes > full.bytes / 2 + 16) throw new Error(`weights are ${half.bytes} bytes, of ${full.bytes} in float32`);
    if (half.casts > byNode) throw new Error(`${half.casts} casts, and ${byNode} node by node`);
    x2ir('convert', model, '-o', inWork('half.onnx'), '--float16');
    const {ops} = infoOf(inWork('half.onnx'));
    if ((ops['onnx.Cast'] ?? 0) > full.casts) throw new Error(`${ops['onnx.Cast']} casts, of ${full.casts} in float32`);
  },
  rename({model, io, inputs, outputs}) {
    const names = [...inputs.map((name, i) => `${name}=renamed_in${i}`), ...outputs.map((name, i) => `${name}=renamed_out${i}`)];
    x2ir('convert', model, '-o', inWork('renamed.onnx'), ...names.flatMap((pair) => ['--rename', pair]));
    const info = infoOf(inWork('renamed.onnx'));
    const got = [...info.inputs, ...info.outputs].map((port) => port.name);
    if (!got.every((name) => name.startsWith('renamed_'))) throw new Error(`names are ${got}`);
    agree(inWork('renamed.onnx'), io, '1e-3');
  },
  params({model, io}) {
    x2ir('convert', model, '-o', inWork('params.onnx'), '--params-as-inputs');
    if (!infoOf(inWork('params.onnx')).inputs.some((port) => port.has_default)) throw new Error('no weight is an input');
    agree(inWork('params.onnx'), io, '1e-3');
  },
  fold({model, file, inputs, outputs}) {
    const [first, ...others] = caseOf(file, inputs, 'in');
    writeNpy(inWork('first.npy'), first);
    x2ir('convert', model, '-o', inWork('folded.onnx'), '--fold-inputs', `${inputs[0]}=${inWork('first.npy')}`);
    writeSafetensors(inWork('folded.safetensors'),
      {...numbered('in', others), ...numbered('out', caseOf(file, outputs, 'out'))});
    agree(inWork('folded.onnx'), inWork('folded.safetensors'), '1e-3');
  },
  extract({model: source, file, inputs}) {
    // Import gives values names that only ONNX files have themselves.
    const model = source.endsWith('.onnx') ? source : inWork('source.json');
    if (model !== source) x2ir('convert', source, '-o', model);
    const {nodes} = JSON.parse(x2ir('info', model, '--cost', '--json')).cost;
    const linear = nodes.filter(({op, result}) => result && ['conv', 'matmul', 'gemm', 'lstm', 'gru'].includes(op));
    const {result} = linear[linear.length >> 1];
    // The whole model with that value as its output, run by the reference evaluation.
    const feeds = inWork('feeds.safetensors');
    x2ir('convert', model, '-o', inWork('part.onnx'), '--extract', `..${result}`);
    x2ir('convert', model, '-o', inWork('whole.json'), '--outputs', result);
    const ports = infoOf(inWork('part.onnx')).inputs.map((port) => port.name);
    const tensors = caseOf(file, inputs, 'in');
    writeSafetensors(feeds, Object.fromEntries(ports.map((name) => [name, tensors[inputs.indexOf(name)]])));
    x2ir('run', inWork('whole.json'), '--io', feeds, '-o', inWork('part.safetensors'));
    agree(inWork('part.onnx'), inWork('part.safetensors'), '1e-3');
  },
};

let failed = 0;
let count = 0;
for (const folder of fs.readdirSync(models).sort()) {
  const files = fs.readdirSync(path.join(models, folder)).sort();
  const onnx = files.filter((name) => name.endsWith('.onnx'));
  for (const name of onnx.length ? onnx : files.filter((each) => each.endsWith('.pt2'))) {
    const model = path.join(models, folder, name);
    const io = path.join(models, folder, 'io.safetensors');
    const info = infoOf(model);
    const subject = {
      label: [folder, ...name.replace(/^model_?/, '').replace(/\.onnx$/, '').split('.').filter(Boolean)].join(' '),
      model, io, file: new SafetensorsFile(io),
      inputs: info.inputs.filter((port) => !port.has_default).map((port) => port.name),
      outputs: info.outputs.map((port) => port.name),
    };
    for (const [check, run] of Object.entries(CHECKS)) {
      ++count;
      try {
        run(subject);
      } catch (e) {
        ++failed;
        console.log(`FAILED  ${folder}/${name} ${check}: ${e.message}`);
      }
    }
  }
}
if (flags.table) {
  const row = (cells) => `| ${cells.join(' | ')} |`;
  const table = [
    row(['network, opset', 'weights', 'float16', 'file', 'float16', 'casts', 'node by node', 'max abs error']),
    '|---|---|---|---|---|---|---|---|', ...halves.map(row),
  ].join('\n') + '\n';
  const text = fs.readFileSync(flags.table, 'utf8');
  const changed = text.replace(/(^\|.*\n)+/m, () => table);
  if (changed !== text) {
    fs.writeFileSync(flags.table, changed);
    console.log('The table changed and was written.');
  }
}
console.log(`${count - failed} of ${count} checks pass`);
process.exit(failed ? 1 : 0);
