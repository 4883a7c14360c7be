// TensorFlow.js as a judge, on model.json files; judge.mjs says how it is asked. Its backend is the one in plain
// JavaScript.
//
// TensorFlow.js has no int64, int8, uint8, float64 and float16: what a signature declares so is given as int32 or
// float32, and comes back as what is declared.

import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {halfToNumber} from './compare.mjs';
import {main} from './judge.mjs';

// Element types of signatures, as safetensors calls them.
const TYPE_NAMES = {
  DT_FLOAT: 'F32', DT_DOUBLE: 'F64', DT_HALF: 'F16', DT_INT64: 'I64', DT_INT32: 'I32', DT_INT8: 'I8', DT_UINT8: 'U8',
  DT_BOOL: 'BOOL', DT_STRING: 'string', DT_INT16: 'I16', DT_UINT16: 'U16', DT_UINT32: 'U32', DT_UINT64: 'U64',
};

export class TensorFlowJs {
  static async start(dir) {
    // What the library logs goes where it does not disturb the answers.
    console.log = console.info = console.warn = console.debug = () => {};
    const require = createRequire(path.join(dir, 'package.json'));
    const runtime = new TensorFlowJs();
    runtime.tf = require('@tensorflow/tfjs-core');
    runtime.converter = require('@tensorflow/tfjs-converter');
    require('@tensorflow/tfjs-backend-cpu');
    await runtime.tf.setBackend('cpu');
    await runtime.tf.ready();
    return runtime;
  }

  async open(file) {
    if (fs.statSync(file).isDirectory()) file = path.join(file, 'model.json');
    const json = JSON.parse(fs.readFileSync(file, 'utf8'));
    const parts = json.weightsManifest.flatMap((group) => group.paths).map(
      (name) => fs.readFileSync(path.join(path.dirname(file), name)));
    const bytes = Buffer.concat(parts);
    const artifacts = {
      ...json, weightsManifest: undefined, weightSpecs: json.weightsManifest.flatMap((group) => group.weights),
      weightData: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
    };
    const model = await this.converter.loadGraphModel({load: async () => artifacts});
    const ports = (all) => Object.entries(all ?? {}).map(([name, port]) => ({
      name, node: port.name, type: TYPE_NAMES[port.dtype],
      shape: port.tensorShape.dim ? port.tensorShape.dim.map(({size}) => Number(size)) : null,
    }));
    return new Session(this.tf, model, ports(json.signature.inputs), ports(json.signature.outputs));
  }
}

class Session {
  constructor(tf, model, inputs, outputs) {
    Object.assign(this, {tf, model, inputs, outputs});
  }

  toTfjs({dtype, shape, data}) {
    let numbers = data;
    if (dtype === 'I64' || dtype === 'U64') {
      numbers = Array.from(data, Number);
      if (numbers.some((x) => x !== (x | 0))) throw new Error('an input has a number that no int32 is');
    }
    if (dtype === 'F16') numbers = Array.from(data, halfToNumber);
    const type = {F32: 'float32', F16: 'float32', F64: 'float32', BOOL: 'bool'}[dtype] ?? 'int32';
    const array = {float32: Float32Array, int32: Int32Array, bool: Uint8Array}[type];
    return this.tf.tensor(array.from(numbers), shape, type);
  }

  async run(tensors) {
    const feeds = Object.fromEntries(this.inputs.map(({name}, i) => [name, this.toTfjs(tensors[i])]));
    const results = await this.model.executeAsync(feeds, this.outputs.map(({node}) => node));
    const list = Array.isArray(results) ? results : [results];
    const outputs = list.map((tensor, i) => {
      const {type} = this.outputs[i];
      const expected = {F32: 'float32', F16: 'float32', F64: 'float32', BOOL: 'bool'}[type] ?? 'int32';
      if (tensor.dtype !== expected) throw new Error(`output '${this.outputs[i].name}' is ${tensor.dtype}, not ${expected}`);
      const data = tensor.dataSync();
      const long = {I64: BigInt64Array, U64: BigUint64Array}[type];
      if (long) return {dtype: type, shape: tensor.shape, data: long.from(data, BigInt)};
      if (type === 'F16') return {dtype: 'F32', shape: tensor.shape, data: Float32Array.from(data)};
      const array = {
        F32: Float32Array, F64: Float64Array, I32: Int32Array, I8: Int8Array, U8: Uint8Array, BOOL: Uint8Array,
        I16: Int16Array, U16: Uint16Array, U32: Uint32Array,
      }[type];
      return {dtype: type, shape: tensor.shape, data: array.from(data)};
    });
    this.tf.dispose([Object.values(feeds), list]);
    return outputs;
  }

  release() { this.model.dispose(); }
}

await main(import.meta.url, TensorFlowJs.start);
