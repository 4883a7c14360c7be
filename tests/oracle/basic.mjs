// Nodes that the passes leave of every network of SHARED/models and SHARED/zoo, beside those that ONNX Runtime leaves of
// the same file at its basic level (what it writes to optimizedModelFilePath, Constants not counted):
//
//   node basic.mjs --bin BUILD/bin --shared DIR --work DIR [--oracle DIR] [--only TEXT]
//
// ONNX Runtime is given the ONNX file, or what `x2ir convert MODEL.pt2 --no-optimize` makes, both at the opset that our
// file has. It prints a table. The exit code is 0 when ours are at most as many everywhere, 1 when not, and 77 when the
// oracle or the networks are not here.

import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {parseArgs} from 'node:util';
import {NOT_INSTALLED, NOT_RUN, findOracle, sayNotRun} from './judge.mjs';

const {values: flags} = parseArgs({options: {
  bin: {type: 'string'}, shared: {type: 'string'}, work: {type: 'string'}, oracle: {type: 'string'},
  only: {type: 'string', default: ''},
}});
const oracle = findOracle(flags.oracle);
const folders = ['models', 'zoo'].map((name) => path.join(flags.shared, name)).filter(fs.existsSync);
for (const [missing, why] of [[!oracle, NOT_INSTALLED], [!folders.length, `no networks in ${flags.shared}`]]) {
  if (!missing) continue;
  sayNotRun(why);
  process.exit(NOT_RUN);
}
const ort = createRequire(path.join(oracle, 'package.json'))('onnxruntime-node');
ort.env.logLevel = 'error';
fs.mkdirSync(flags.work, {recursive: true});
const inWork = (name) => path.join(flags.work, name);

function x2ir(...args) {
  const result = spawnSync(path.join(flags.bin, 'x2ir'), args, {encoding: 'utf8', maxBuffer: 1 << 28});
  if (result.status !== 0) throw new Error(result.stderr.trim());
  return result.stdout;
}

function nodesOf(file) {
  const ops = JSON.parse(x2ir('info', '--json', file)).ops;
  return Object.entries(ops).reduce((sum, [op, n]) => sum + (op === 'onnx.Constant' ? 0 : n), 0);
}

// ORT's binding keeps files of data beside a large model where it finds them.
async function basic(from, to) {
  fs.rmSync(to, {force: true});
  const session = await ort.InferenceSession.create(from, {
    executionProviders: ['cpu'], graphOptimizationLevel: 'basic', optimizedModelFilePath: to, logSeverityLevel: 3,
    intraOpNumThreads: 1, interOpNumThreads: 1,
  });
  await session.release();
}

function networks() {
  const found = [];
  for (const folder of folders) {
    for (const name of fs.readdirSync(folder).sort()) {
      const dir = path.join(folder, name);
      if (!fs.statSync(dir).isDirectory()) continue;
      const files = fs.readdirSync(dir).sort();
      const onnx = files.filter((file) => file.endsWith('.onnx'));
      const all = onnx.length ? onnx : files.filter((file) => file.endsWith('.pt2'));
      for (const file of all) found.push(path.join(dir, file));
    }
  }
  return found.filter((file) => file.includes(flags.only));
}

let more = 0, measured = 0;
console.log('network'.padEnd(48), 'read'.padStart(7), 'theirs'.padStart(7), 'ours'.padStart(7));
for (const file of networks()) {
  const name = path.relative(flags.shared, file);
  const [plain, theirs, ours] = ['plain.onnx', 'theirs.onnx', 'ours.onnx'].map(inWork);
  const line = [name.padEnd(48)];
  try {
    if (file.endsWith('.onnx')) {
      fs.copyFileSync(file, plain);
    } else {
      x2ir('convert', file, '-o', plain, '--no-optimize', '--force', '-q');
    }
    x2ir('convert', file, '-o', ours, '--force', '-q');
    line.push(String(nodesOf(plain)).padStart(7));
  } catch (error) {
    console.log(...line, `not converted: ${error.message.split('\n')[0]}`);
    continue;
  }
  try {
    await basic(plain, theirs);
  } catch (error) {
    console.log(...line, `ONNX Runtime: ${error.message.split('\n')[0].slice(0, 100)}`);
    continue;
  }
  const [their, our] = [nodesOf(theirs), nodesOf(ours)];
  const worse = our > their;
  more += worse;
  ++measured;
  console.log(...line, String(their).padStart(7), String(our).padStart(7), worse ? 'MORE' : '');
}
console.log(`${measured} networks, of ${more} more nodes are left than by ONNX Runtime's basic level`);
process.exit(more || !measured ? 1 : 0);
