// Options that change a model, on every ONNX file of SHARED/models, judged by ONNX Runtime:
//
//   node edits.mjs --bin BUILD/bin --shared DIR --work DIR [--oracle DIR]
//
//   float16   the export with --float16 --keep-io agrees within 1e-2, and with --float16 alone has no cast
//   rename    all inputs and outputs have other names, and the outputs agree
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

const {values: flags} = parseArgs({options: {
  bin: {type: 'string'}, shared: {type: 'string'}, work: {type: 'string'}, oracle: {type: 'string'},
}});
const oracle = findOracle(flags.oracle);
const models = path.join(flags.shared, 'models');
for (const [missing, why] of [[!oracle, NOT_INSTALLED], [!fs.existsSync(models), `${models} is not there`]]) {
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

const CHECKS = {
  float16({model, io}) {
    x2ir('convert', model, '-o', inWork('half.onnx'), '--float16', '--keep-io');
    agree(inWork('half.onnx'), io, '1e-2');
    x2ir('convert', model, '-o', inWork('half.onnx'), '--float16');
    const {ops} = JSON.parse(x2ir('info', inWork('half.onnx'), '--json'));
    if (ops['onnx.Cast']) throw new Error(`${ops['onnx.Cast']} casts`);
  },
  rename({model, io, inputs, outputs}) {
    const names = [...inputs.map((name, i) => `${name}=renamed_in${i}`), ...outputs.map((name, i) => `${name}=renamed_out${i}`)];
    x2ir('convert', model, '-o', inWork('renamed.onnx'), ...names.flatMap((pair) => ['--rename', pair]));
    const info = JSON.parse(x2ir('info', inWork('renamed.onnx'), '--json'));
    const got = [...info.inputs, ...info.outputs].map((port) => port.name);
    if (!got.every((name) => name.startsWith('renamed_'))) throw new Error(`names are ${got}`);
    agree(inWork('renamed.onnx'), io, '1e-3');
  },
  fold({model, file, inputs, outputs}) {
    const [first, ...others] = caseOf(file, inputs, 'in');
    writeNpy(inWork('first.npy'), first);
    x2ir('convert', model, '-o', inWork('folded.onnx'), '--fold-inputs', `${inputs[0]}=${inWork('first.npy')}`);
    writeSafetensors(inWork('folded.safetensors'),
      {...numbered('in', others), ...numbered('out', caseOf(file, outputs, 'out'))});
    agree(inWork('folded.onnx'), inWork('folded.safetensors'), '1e-3');
  },
  extract({model, file, inputs}) {
    const {nodes} = JSON.parse(x2ir('info', model, '--cost', '--json')).cost;
    const linear = nodes.filter(({op, result}) => result && ['conv', 'matmul', 'gemm', 'lstm', 'gru'].includes(op));
    const {result} = linear[linear.length >> 1];
    // The whole model with that value as its output, run by the reference evaluation.
    const feeds = inWork('feeds.safetensors');
    x2ir('convert', model, '-o', inWork('part.onnx'), '--extract', `..${result}`);
    x2ir('convert', model, '-o', inWork('whole.json'), '--outputs', result);
    const ports = JSON.parse(x2ir('info', inWork('part.onnx'), '--json')).inputs.map((port) => port.name);
    const tensors = caseOf(file, inputs, 'in');
    writeSafetensors(feeds, Object.fromEntries(ports.map((name) => [name, tensors[inputs.indexOf(name)]])));
    x2ir('run', inWork('whole.json'), '--io', feeds, '-o', inWork('part.safetensors'));
    agree(inWork('part.onnx'), inWork('part.safetensors'), '1e-3');
  },
};

let failed = 0;
let count = 0;
for (const folder of fs.readdirSync(models).sort()) {
  for (const name of fs.readdirSync(path.join(models, folder)).filter((each) => each.endsWith('.onnx')).sort()) {
    const model = path.join(models, folder, name);
    const io = path.join(models, folder, 'io.safetensors');
    const info = JSON.parse(x2ir('info', model, '--json'));
    const subject = {
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
console.log(`${count - failed} of ${count} checks pass`);
process.exit(failed ? 1 : 0);
