// The module does what the program does: for many models the same files, the same output, the same messages,
// the same exit code.
//
// Files are the same byte for byte. One difference is counted apart: sums of matrix products, which are made in the order of
// the processor's instructions. Then `x2ir show` prints the same graphs, and `x2ir verify` finds results that are equal but
// for a few last bits.
//
//   node tests/wasm/same.mjs PACKAGE PROGRAM FOLDER...
//
// PACKAGE: the folder of the npm package. PROGRAM: the native x2ir. FOLDER...: where models are, or .tar.xz files
// with models. X2IR_WASM_EVERY=N takes each N-th model of a folder.

import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

import {eachPlace, modelsIn} from './models.mjs';

const [packageFolder, native, ...places] = process.argv.slice(2);
const program = path.resolve(native);
const from = name => import(pathToFileURL(path.resolve(packageFolder, name)));
const {compile} = await from('node.mjs');
const {HostFiles} = await from('host_files.mjs');
const {execute} = await from('module.mjs');
const module = await compile();
const every = Number(process.env.X2IR_WASM_EVERY ?? 1);
const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'x2ir-same-'));
process.on('exit', () => fs.rmSync(temporary, {recursive: true, force: true}));

/** The files below a folder, by name. */
function filesIn(folder, below = '') {
  const files = new Map();
  for (const entry of fs.readdirSync(path.join(folder, below), {withFileTypes: true})) {
    const name = path.join(below, entry.name);
    if (entry.isDirectory()) for (const [file, bytes] of filesIn(folder, name)) files.set(file, bytes);
    else files.set(name, fs.readFileSync(path.join(folder, name)));
  }
  return files;
}

function runNative(folder, args) {
  const {status, stdout, stderr} = spawnSync(program, args, {cwd: folder, maxBuffer: 2 ** 30});
  return {code: status, stdout, stderr};
}

function runModule(folder, args) {
  const printed = [[], [], []];
  const code = execute(module, {
    files: new HostFiles(),
    args,
    env: {PWD: folder, TMPDIR: os.tmpdir()},
    streams: [0, 1, 2].map(fd => ({read: () => 0, write: bytes => { printed[fd].push(bytes.slice()); }})),
  });
  return {code, stdout: Buffer.concat(printed[1]), stderr: Buffer.concat(printed[2])};
}

let same = 0, rounded = 0, failed = 0;

// The same graph but for the last bits of numbers.
function sameButForRounding(a, b) {
  const run = args => spawnSync(program, args, {maxBuffer: 2 ** 30});
  const shown = [a, b].map(file => run(['show', file]));
  if (shown.some(run => run.status !== 0)) return false;
  const [graph, other] = shown.map(run => run.stdout.toString().replace(/\{[^{}]*\}/g, '{}'));
  return graph === other && run(['verify', a, b, '--random', '2', '--rtol', '1e-5', '--atol', '1e-6']).status === 0;
}

function compare(args) {
  const out = args.at(-1);
  const results = [['native', runNative], ['module', runModule]].map(([name, run]) => {
    const folder = path.join(temporary, name);
    fs.rmSync(folder, {recursive: true, force: true});
    fs.mkdirSync(folder);
    const result = run(folder, args);
    return {...result, folder, files: filesIn(folder)};
  });
  const [theirs, own] = results;
  const differs = [];
  let close = false;
  if (theirs.code !== own.code) differs.push(`exit code ${theirs.code}, and ${own.code} of the module`);
  for (const name of new Set([...theirs.files.keys(), ...own.files.keys()])) {
    const a = theirs.files.get(name), b = own.files.get(name);
    if (a && b && a.equals(b)) continue;
    if (a && b && sameButForRounding(path.join(theirs.folder, out), path.join(own.folder, out))) close = true;
    else differs.push(`file ${name}: ${a?.length ?? 'none'} and ${b?.length ?? 'none'} bytes`);
  }
  for (const stream of ['stdout', 'stderr']) {
    const [a, b] = [theirs, own].map(run => run[stream].toString());
    if (a === b) continue;
    differs.push(`${stream}:\n    ${theirs[stream].toString().slice(0, 400)}\n  and of the module\n    ` +
                 own[stream].toString().slice(0, 400));
  }
  if (differs.length === 0 && close) {
    ++rounded;
    console.log(`x2ir ${args.join(' ')}\n  numbers differ in their last bits`);
  } else if (differs.length === 0) {
    ++same;
  } else {
    ++failed;
    console.log(`x2ir ${args.join(' ')}\n  ${differs.join('\n  ')}`);
  }
  return theirs.code;
}

const kTargets = ['onnx', 'json', 'tflite', 'mlpackage', 'mlir', 'mlirbc', 'py', 'pb', 'tfjs.json', 'keras', 'ort', 'nnef.tgz', 'pt2'];
let models = 0;
eachPlace(places, temporary, (folder, name) => {
  const all = [...modelsIn(folder)].filter((_, i) => i % every === 0);
  const before = failed;
  for (const model of all) {
    // Each model to ONNX, and then to one of the other targets.
    const target = kTargets[1 + models % (kTargets.length - 1)];
    ++models;
    compare(['convert', model, '-o', 'out.onnx']);
    compare(['convert', model, '-o', `out.${target}`]);
    if (models % 7 === 0) compare(['info', model]);
  }
  console.log(`${name}: ${all.length} models, ${failed - before} differences`);
});
console.log(`${models} models: ${same} runs the same, ${rounded} with other last bits of numbers, ${failed} different`);
process.exitCode = models === 0 || failed > 0 ? 1 : 0;
