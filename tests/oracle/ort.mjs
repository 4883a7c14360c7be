// ONNX Runtime as a judge; judge.mjs says how it is asked. Graph optimizations are off by default, so that ONNX Runtime
// runs the file as it stands.

import {createRequire} from 'node:module';
import path from 'node:path';
import {main} from './judge.mjs';

const ORT_TYPES = {
  BOOL: 'bool', U8: 'uint8', I8: 'int8', U16: 'uint16', I16: 'int16', U32: 'uint32', I32: 'int32', U64: 'uint64',
  I64: 'int64', F16: 'float16', F32: 'float32', F64: 'float64',
};
const DTYPES = Object.fromEntries(Object.entries(ORT_TYPES).map(([dtype, type]) => [type, dtype]));

class OnnxRuntime {
  constructor(dir) {
    this.ort = createRequire(path.join(dir, 'package.json'))('onnxruntime-node');
    this.ort.env.logLevel = 'error';
  }

  async open(model, {optimize}) {
    let session;
    try {
      session = await this.ort.InferenceSession.create(model, {
        executionProviders: ['cpu'],
        graphOptimizationLevel: optimize ? 'all' : 'disabled',
        intraOpNumThreads: 1,
        interOpNumThreads: 1,
        logSeverityLevel: 3,
      });
    } catch (e) {
      // The model loaded; an input or output has an element type (its ONNX number) that the binding has no name for.
      const type = /^Unsupported data type: (\d+)$/.exec(e.message)?.[1];
      if (!type) throw e;
      const name = type === '16' ? 'bfloat16' : `ONNX element type ${type}`;
      const error = new Error(`the JavaScript binding does not support ${name} as an input or output`);
      error.bindingLacksType = true;
      throw error;
    }
    return {
      inputs: session.inputMetadata,
      outputs: session.outputMetadata,
      run: async (tensors) => {
        const feeds = {};
        tensors.forEach((tensor, i) => { feeds[session.inputNames[i]] = this.toOrt(tensor); });
        const outputs = await session.run(feeds);
        return session.outputNames.map((name) => fromOrt(name, outputs[name]));
      },
      release: () => session.release(),
    };
  }

  toOrt({dtype, shape, data}) {
    const half = dtype === 'F16' && globalThis.Float16Array;
    return new this.ort.Tensor(ORT_TYPES[dtype], half ? new half(data.buffer) : data, shape);
  }
}

function fromOrt(name, tensor) {
  const dtype = DTYPES[tensor?.type];
  if (!dtype) throw new Error(`output '${name}' is ${tensor?.type ?? 'not a tensor'}: safetensors cannot hold it`);
  let {data} = tensor;
  if (dtype === 'F16') data = new Uint16Array(data.buffer, data.byteOffset, data.length);
  return {dtype, shape: [...tensor.dims], data};
}

await main(import.meta.url, (dir) => new OnnxRuntime(dir));
