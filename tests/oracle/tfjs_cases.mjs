// Models that are written for TensorFlow.js, run there:
//
//   node tfjs_cases.mjs --bin BUILD/bin --work DIR [--nodes DIR]... [--models DIR]... [--oracle DIR] [--only REGEX]
//       [--list FILE] [--convert OPTION]... [--large]
//
// --nodes DIR has NAME/model.onnx and NAME/test_data_set_0/{input,output}_I.pb, as ONNX's own cases; --models DIR has
// NAME/model*.{onnx,pt2} and NAME/io.safetensors. Each model is converted, run on the inputs, and compared. It is
// also read back as IR and written again, and must compute the same then.
//
// --list FILE has a line for each model that is not written, with the reason; a model that is refused and not in the
// list, or in it and written, is a failure. X2IR_UPDATE_GOLDEN=1 writes it. The exit code is 0 when all agree, 1 when
// not, and 77 when TensorFlow.js is not installed.

import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {compareTensors, halfToNumber} from './compare.mjs';
import {ATOL, NOT_INSTALLED, NOT_RUN, RTOL, findOracle, sayNotRun} from './judge.mjs';
import {readTensorProto} from './onnx_tensors.mjs';
import {SafetensorsFile} from './safetensors.mjs';
import {TensorFlowJs} from './tfjs.mjs';

const LARGE_BYTES = 6 << 20;  // of files: larger networks run only with --large, TensorFlow.js is slow here

const {values: flags} = parseArgs({options: {
  bin: {type: 'string'}, work: {type: 'string'}, nodes: {type: 'string', multiple: true, default: []},
  models: {type: 'string', multiple: true, default: []}, oracle: {type: 'string'}, only: {type: 'string', default: ''},
  list: {type: 'string'}, convert: {type: 'string', multiple: true, default: []}, large: {type: 'boolean', default: false},
}});
const oracle = findOracle(flags.oracle);
if (!oracle || !fs.existsSync(path.join(oracle, 'node_modules/@tensorflow/tfjs-core'))) {
  sayNotRun(NOT_INSTALLED);
  process.exit(NOT_RUN);
}
const missing = [...flags.nodes, ...flags.models].find((dir) => !fs.existsSync(dir));
if (missing) {
  sayNotRun(`there is no folder ${missing}`);
  process.exit(NOT_RUN);
}
const say = (text) => process.stdout.write(`${text}\n`);  // console.log is silent once TensorFlow.js is there
const runtime = await TensorFlowJs.start(oracle);

function* nodeCases(folder) {
  for (const name of fs.readdirSync(folder).sort()) {
    const model = path.join(folder, name, 'model.onnx');
    const data = path.join(folder, name, 'test_data_set_0');
    if (!fs.existsSync(model) || !fs.existsSync(data)) continue;
    const read = (kind) => {
      const tensors = [];
      for (let i = 0; fs.existsSync(path.join(data, `${kind}_${i}.pb`)); ++i) {
        tensors.push(readTensorProto(path.join(data, `${kind}_${i}.pb`)));
      }
      return tensors;
    };
    yield {name, model, io: () => ({inputs: read('input'), outputs: read('output')})};
  }
}

function* modelCases(folder) {
  for (const name of fs.readdirSync(folder).sort()) {
    const io = path.join(folder, name, 'io.safetensors');
    if (!fs.existsSync(io)) continue;
    const files = fs.readdirSync(path.join(folder, name)).sort();
    const onnx = files.filter((file) => /^model.*\.onnx$/.test(file));
    for (const file of onnx.length ? onnx : files.filter((each) => each.endsWith('.pt2'))) {
      yield {name: `${name}/${file}`, model: path.join(folder, name, file), io: () => {
        const tensors = new SafetensorsFile(io);
        const prefix = tensors.has('in_0') || tensors.has('out_0') ? '' : 'case0.';
        const list = (kind) => {
          const found = [];
          for (let i = 0; tensors.has(`${prefix}${kind}_${i}`); ++i) found.push(tensors.get(`${prefix}${kind}_${i}`));
          return found;
        };
        return {inputs: list('in'), outputs: list('out')};
      }};
    }
  }
}

const x2ir = (...args) => spawnSync(path.join(flags.bin, 'x2ir'), args, {encoding: 'utf8', timeout: 600000, maxBuffer: 1 << 26});

function convert(from, to, ...options) {
  fs.rmSync(to, {recursive: true, force: true});
  const {status, signal, stderr} = x2ir('convert', from, '--to', 'tfjs', '-o', to, '-q', ...options);
  return status === 0 ? null : {signal, code: status, text: stderr ?? ''};
}

const reasonOf = (text) => {
  const lines = text.split('\n').map((line) => line.trim()).filter((line) => line && !line.startsWith('hint'));
  return lines.slice(0, 3).join(' | ').replace(/'[^']*\/model[^']*'/g, "'model'").slice(0, 300);
};

async function runCase(one, folder) {
  const session = await runtime.open(folder);
  try {
    const {inputs, outputs} = one.io();
    if (inputs.some((x) => !x) || outputs.some((x) => !x)) return {skipped: true};  // strings
    const size = fs.readdirSync(folder).reduce((n, name) => n + fs.statSync(path.join(folder, name)).size, 0);
    if (size > LARGE_BYTES && !flags.large) return {skipped: true};
    const got = await session.run(inputs);
    const errors = [];
    outputs.forEach((want, i) => {
      if (want.dtype === 'F16') {
        want = {...want, dtype: 'F32', data: Float32Array.from(want.data, halfToNumber)};
      }
      const {error} = compareTensors(got[i], want, {rtol: flags.rtol ?? RTOL, atol: ATOL, steps: 0});
      if (error) errors.push(`output ${i}: ${error}`);
    });
    return errors.join('; ') || null;
  } finally {
    session.release();
  }
}

/** What is wrong with a written model, null where it agrees, or {skipped}. */
async function outcome(one, folder) {
  try {
    return await runCase(one, folder);
  } catch (e) {
    return `fails: ${e.message.split('\n')[0]}`;
  }
}

const count = {written: 0, refused: 0, agree: 0, differ: 0, skipped: 0, unstable: 0};
const refused = [];
const failures = [];
const cases = [...flags.nodes.flatMap((dir) => [...nodeCases(dir)]), ...flags.models.flatMap((dir) => [...modelCases(dir)])];
for (const one of cases) {
  if (flags.only && !one.name.match(flags.only)) continue;
  const folder = path.join(flags.work, one.name.replaceAll('/', '__'));
  const failed = convert(one.model, folder, ...flags.convert);
  if (failed) {
    if (failed.signal || ![1, 3].includes(failed.code)) failures.push(`${one.name}: ended by ${failed.signal ?? failed.code}`);
    count.refused += 1;
    refused.push(`${one.name}: ${reasonOf(failed.text)}`);
    continue;
  }
  count.written += 1;
  const error = await outcome(one, folder);
  if (error?.skipped) {
    count.skipped += 1;
  } else if (error) {
    count.differ += 1;
    failures.push(`${one.name}: ${error}`);
  } else {
    count.agree += 1;
  }
  const again = `${folder}.again`;
  const back = convert(folder, again);
  const changed = back ? reasonOf(back.text) : error ? null : await outcome(one, again);
  if (changed && !changed.skipped) {
    count.unstable += 1;
    failures.push(`${one.name}: read back: ${changed}`);
  }
  fs.rmSync(again, {recursive: true, force: true});
  if (!error && !changed) fs.rmSync(folder, {recursive: true, force: true});
}
for (const failure of failures) say(failure);
if (flags.list) {
  const text = refused.map((line) => `${line}\n`).join('');
  if (process.env.X2IR_UPDATE_GOLDEN) {
    fs.writeFileSync(flags.list, text);
  } else if (!flags.only && fs.readFileSync(flags.list, 'utf8') !== text) {
    failures.push('the list');
    say(`${flags.list} is not what is refused; X2IR_UPDATE_GOLDEN=1 writes it`);
  }
} else {
  for (const line of refused) say(`not written: ${line}`);
}
say(JSON.stringify(count));
process.exitCode = failures.length ? 1 : 0;
