// Makes small graph models of TensorFlow.js, and what it computes with them: cases for what its converter
// writes that TensorFlow does not have, and for the ways in which a model.json says things.
//
//   node tests/oracle/tfjs_graphs.mjs NODE_MODULES FOLDER
//
// NODE_MODULES holds @tensorflow/tfjs 4.22. Each case is FOLDER/graph__NAME/{model.json, weights.bin,
// io.safetensors}.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { fromTfjs, writeSafetensors } from './safetensors.mjs';

const [, , modules, folder] = process.argv;
const require = createRequire(path.join(path.resolve(modules), 'x.js'));
const tf = require('@tensorflow/tfjs');

// Numbers that are the same in every run.
let state = 54321;
function random(low, high) {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
  return Math.fround(low + (high - low) * (state / 0x7fffffff));
}
const count = (shape) => shape.reduce((a, b) => a * b, 1);

// --- Attributes, as protobuf's JSON has them ------------------------------------------------------

const base64 = (text) => Buffer.from(text).toString('base64');
const A = {
  type: (name) => ({ type: name }),
  int: (i) => ({ i: String(i) }),
  float: (f) => ({ f }),
  bool: (b) => ({ b }),
  text: (s) => ({ s: base64(s) }),
  ints: (list) => ({ list: { i: list.map(String) } }),
  texts: (list) => ({ list: { s: list.map(base64) } }),
  types: (list) => ({ list: { type: list } }),
  shape: (dims) => ({ shape: { dim: dims.map((size) => ({ size: String(size) })) } }),
  func: (name) => ({ func: { name, attr: {} } }),
};
const F = { T: A.type('DT_FLOAT') };

// --- A model ------------------------------------------------------------------------------------

const kTypes = { float32: 'DT_FLOAT', int32: 'DT_INT32', int64: 'DT_INT64', bool: 'DT_BOOL', string: 'DT_STRING' };

class Net {
  constructor() {
    this.nodes = [];
    this.inputs = [];
    this.weights = [];
    this.functions = [];
    this.initializer = [];
    this.outputs = [];
  }

  input(name, values, shape, dtype = 'float32', size = shape) {
    this.node('Placeholder', name, [], { dtype: A.type(kTypes[dtype]), shape: A.shape(size) });
    this.inputs.push({ name, dtype, size, tensor: tf.tensor(values, shape, dtype === 'int64' ? 'int32' : dtype) });
    return name;
  }
  numbers(name, shape, low = -2, high = 2, size = shape) {
    return this.input(name, Array.from({ length: count(shape) }, () => random(low, high)), shape, 'float32', size);
  }
  integers(name, shape, below) {
    return this.input(name, Array.from({ length: count(shape) }, () => Math.floor(random(0, below * 0.999))), shape, 'int32');
  }
  node(op, name, input, attr = {}, into = this.nodes) {
    into.push({ name, op, input, attr });
    return name;
  }

  // A constant whose elements are in the file of weights, in the type that the file has for it.
  weight(name, shape, values, { dtype = 'float32', quantization, into } = {}) {
    this.node('Const', name, [], { dtype: A.type(kTypes[dtype]),
      value: { tensor: { dtype: kTypes[dtype], tensorShape: A.shape(shape).shape } } }, into);
    values = values || Array.from({ length: count(shape) }, () => random(-1, 1));
    this.weights.push({ name, shape, values, dtype: dtype === 'int64' ? 'int32' : dtype, quantization });
    return name;
  }

  // The bytes of all weights and their manifest.
  stored() {
    const parts = [];
    const specs = this.weights.map(({ name, shape, values, dtype, quantization }) => {
      const spec = { name, shape, dtype };
      if (dtype === 'string') {
        for (const text of values) {
          const bytes = Buffer.from(text);
          const size = Buffer.alloc(4);
          size.writeUInt32LE(bytes.length);
          parts.push(size, bytes);
        }
      } else if (quantization === 'float16') {
        // Numbers that halves have: quarters.
        spec.quantization = { dtype: 'float16', original_dtype: dtype };
        parts.push(Buffer.from(Uint16Array.from(values.map(halfOf)).buffer));
      } else if (quantization) {
        const most = quantization === 'uint8' ? 255 : 65535;
        const least = Math.min(...values), scale = (Math.max(...values) - least) / most;
        spec.quantization = { dtype: quantization, original_dtype: dtype, min: least, scale };
        const array = quantization === 'uint8' ? Uint8Array : Uint16Array;
        parts.push(Buffer.from(array.from(values.map((v) => Math.round((v - least) / scale))).buffer));
      } else {
        const array = { float32: Float32Array, int32: Int32Array, bool: Uint8Array }[dtype];
        parts.push(Buffer.from(array.from(values).buffer));
      }
      return spec;
    });
    return { specs, data: Buffer.concat(parts) };
  }

  json(specs) {
    const port = (name, dtype, dims) => ({ name: name.includes(':') ? name : `${name}:0`, dtype: kTypes[dtype],
      tensorShape: A.shape(dims).shape });
    const signature = { inputs: {}, outputs: {} };
    // Keys of a signature are sorted, nodes are not.
    for (const { name, dtype, size } of this.inputs) signature.inputs[name] = port(name, dtype, size);
    for (const name of this.outputs) signature.outputs[name] = { name };
    const model = {
      format: 'graph-model', generatedBy: '2.15.0', convertedBy: 'TensorFlow.js Converter v4.22.0', signature,
      modelTopology: { node: this.nodes, library: { function: this.functions }, versions: { producer: 1482 } },
      weightsManifest: [{ paths: ['weights.bin'], weights: specs }],
    };
    for (const name of this.captured || []) {
      signature.inputs[name] = { name, dtype: 'DT_RESOURCE', resourceId: 1 };
    }
    if (this.initializer.length > 0) {
      model.modelInitializer = { node: this.initializer, versions: { producer: 1482 } };
      model.initializerSignature = { inputs: {}, outputs: {} };
      if (this.captured) {
        model.initializerSignature.outputs[this.table] = { name: this.table, dtype: 'DT_RESOURCE', resourceId: 1 };
      }
    }
    return model;
  }
}

function halfOf(number) {
  if (number === 0) return 0;
  const sign = number < 0 ? 0x8000 : 0, x = Math.abs(number), exponent = Math.floor(Math.log2(x));
  return sign | ((exponent + 15) << 10) | Math.round((x / 2 ** exponent - 1) * 1024);
}

async function save(name, net) {
  const { specs, data } = net.stored();
  const json = net.json(specs);
  const dir = path.join(folder, `graph__${name}`);
  const model = await tf.loadGraphModel(tf.io.fromMemory({
    modelTopology: json.modelTopology, weightSpecs: specs, format: 'graph-model', signature: json.signature,
    modelInitializer: json.modelInitializer, initializerSignature: json.initializerSignature,
    weightData: data.buffer.slice(data.byteOffset, data.byteOffset + data.length),
  }));
  const inputs = {};
  for (const { name: input, tensor } of net.inputs) inputs[input] = tensor;
  const dynamic = net.nodes.some(({ op }) => /NonMaxSuppression|Switch|While|LookupTable/.test(op));
  const results = [].concat(dynamic ? await model.executeAsync(inputs, net.outputs) : model.execute(inputs, net.outputs));
  fs.mkdirSync(dir, { recursive: true });
  fs.writeFileSync(path.join(dir, 'model.json'), JSON.stringify(json));
  fs.writeFileSync(path.join(dir, 'weights.bin'), data);
  const io = {};
  net.inputs.forEach(({ tensor, dtype }, i) => { io[`in_${i}`] = fromTfjs(tensor, dtype); });
  results.forEach((y, i) => { io[`out_${i}`] = fromTfjs(y); });
  writeSafetensors(path.join(dir, 'io.safetensors'), io);
}

// --- Cases ----------------------------------------------------------------------------------------

const cases = {};
const window = (padding, strides = [1, 2, 2, 1]) => ({
  ...F, strides: A.ints(strides), padding: A.text(padding), data_format: A.text('NHWC'), dilations: A.ints([1, 1, 1, 1]),
});

// What fused operators compute behind the product.
const kFused = { bias: [], relu: ['Relu'], relu6: ['Relu6'], elu: ['Elu'], leaky: ['LeakyRelu'], prelu: ['Prelu'], sigmoid: ['Sigmoid'] };
for (const [name, ops] of Object.entries(kFused)) {
  const fuse = (net, operands, channels) => {
    const attr = { fused_ops: A.texts(['BiasAdd', ...ops]), num_args: A.int(1 + (name === 'prelu')), epsilon: A.float(0) };
    operands.push(net.weight('b', [channels]));
    if (name === 'prelu') operands.push(net.weight('alpha', [1, 1, channels]));
    if (name === 'leaky') attr.leakyrelu_alpha = A.float(0.3);
    return attr;
  };
  for (const padding of ['SAME', 'VALID']) {
    cases[`fused_conv_${name}_${padding}`] = (net) => {
      const operands = [net.numbers('x', [2, 7, 6, 3], -2, 2, [-1, 7, 6, 3]), net.weight('w', [3, 2, 3, 4])];
      const attr = { ...window(padding), ...fuse(net, operands, 4) };
      net.outputs = [net.node('_FusedConv2D', 'y', operands, attr)];
    };
    // TensorFlow.js forgets the slope of LeakyRelu here.
    if (name !== 'leaky') cases[`fused_depthwise_${name}_${padding}`] = (net) => {
      const operands = [net.numbers('x', [2, 7, 6, 3]), net.weight('w', [3, 3, 3, 2])];
      const attr = { ...window(padding, [1, 1, 1, 1]), ...fuse(net, operands, 6) };
      net.outputs = [net.node('FusedDepthwiseConv2dNative', 'y', operands, attr)];
    };
  }
  cases[`fused_matmul_${name}`] = (net) => {
    const operands = [net.numbers('x', [3, 5]), net.weight('w', [4, 5])];
    const attr = { ...F, transpose_a: A.bool(false), transpose_b: A.bool(true), ...fuse(net, operands, 4) };
    if (name === 'prelu') net.weights.at(-1).shape = [4];
    net.outputs = [net.node('_FusedMatMul', 'y', operands, attr)];
  };
}
cases.prelu = (net) => {
  const x = net.numbers('x', [2, 4, 3, 5]);
  net.outputs = [net.node('Prelu', 'y', [x, net.weight('alpha', [1, 1, 5])], F),
    net.node('Prelu', 'z', [x, net.weight('all', [4, 3, 5])], F)];
};
for (const quantization of ['uint8', 'uint16', 'float16']) {
  cases[`weights_${quantization}`] = (net) => {
    const values = Array.from({ length: 24 }, () => Math.round(random(-8, 8)) / 4);
    const x = net.numbers('x', [3, 6]);
    net.outputs = [net.node('MatMul', 'y', [x, net.weight('w', [6, 4], values, { quantization })],
      { ...F, transpose_a: A.bool(false), transpose_b: A.bool(false) })];
  };
}
// Integers of 64 bits are int32 in the file of weights.
cases.long_integers = (net) => {
  const x = net.numbers('x', [2, 3, 4]);
  const long = { Tshape: A.type('DT_INT64'), T: A.type('DT_FLOAT') };
  const y = net.node('Reshape', 'reshaped', [x, net.weight('shape', [2], [-1, 6], { dtype: 'int64' })], long);
  net.outputs = [net.node('GatherV2', 'y', [y, net.weight('at', [3], [3, 0, 1], { dtype: 'int64' }),
    net.weight('axis', [], [0], { dtype: 'int32' })],
  { Tparams: A.type('DT_FLOAT'), Tindices: A.type('DT_INT64'), Taxis: A.type('DT_INT32'), batch_dims: A.int(0) })];
};
// The order of inputs is the signature's.
cases.order_of_inputs = (net) => {
  const b = net.numbers('b', [2, 3]), a = net.numbers('a', [2, 3]);
  net.outputs = [net.node('Sub', 'y', [a, b], F), net.node('RealDiv', 'x', [a, net.node('Exp', 'e', [b], F)], F)];
  net.inputs.reverse();
};
cases.several_outputs = (net) => {
  const x = net.numbers('x', [3, 8]);
  const axis = net.weight('axis', [], [1], { dtype: 'int32' });
  net.node('Split', 'parts', [axis, x], { ...F, num_split: A.int(4) });
  const k = net.weight('k', [], [2], { dtype: 'int32' });
  net.node('TopKV2', 'top', [x, k], { ...F, sorted: A.bool(true) });
  net.outputs = ['parts:2', 'parts:0', 'top:1', 'top:0'];
};

// --- Tables, which the initializer fills ----------------------------------------------------------

function table(net, captured) {
  const attr = { key_dtype: A.type('DT_INT32'), value_dtype: A.type('DT_FLOAT') };
  const of = { Tin: A.type('DT_INT32'), Tout: A.type('DT_FLOAT') };
  const into = net.initializer;
  net.table = net.node('HashTableV2', 'table', [], { ...attr, shared_name: A.text('t') }, into);
  const keys = net.weight('init/keys', [4], [7, 3, 5, 11], { dtype: 'int32', into });
  const values = net.weight('init/values', [4], [0.5, -1.5, 2.5, 4], { into });
  net.node('LookupTableImportV2', 'init/fill', [net.table, keys, values], of, into);
  let handle = net.table;
  if (captured) net.table = net.node('Identity', 'filled', [net.table, '^init/fill'], { T: A.type('DT_RESOURCE') }, into);
  if (captured) {
    handle = net.node('Placeholder', 'captured', [], { dtype: A.type('DT_RESOURCE'), shape: A.shape([]) });
    net.captured = [handle];
  } else {
    net.node('HashTableV2', 'table', [], { ...attr, shared_name: A.text('t') });
  }
  const x = net.integers('x', [9], 12);  // TensorFlow.js gives lists alone
  const other = net.weight('other', [], [-9]);
  net.outputs = [net.node('LookupTableFindV2', 'y', [handle, x, other], of)];
}
cases.table = (net) => table(net, false);
cases.captured_table = (net) => table(net, true);

// --- Control flow -----------------------------------------------------------------------------------

cases.frames = (net) => {  // while (i < 5) { i += 1; v = tanh(v * w + i) }
  const x = net.numbers('x', [2, 3]);
  const w = net.weight('w', [3]);
  const int = (name, value) => net.weight(name, [], [value], { dtype: 'int32' });
  const loop = (input, name, type) => net.node('Enter', name, [input],
    { T: A.type(type), frame_name: A.text('loop'), is_constant: A.bool(false), parallel_iterations: A.int(10) });
  const fixed = (input, name, type) => net.node('Enter', name, [input],
    { T: A.type(type), frame_name: A.text('loop'), is_constant: A.bool(true), parallel_iterations: A.int(10) });
  loop(int('zero', 0), 'i/enter', 'DT_INT32');
  loop(x, 'v/enter', 'DT_FLOAT');
  const I = { T: A.type('DT_INT32') };
  net.node('Merge', 'i', ['i/enter', 'i/next'], { ...I, N: A.int(2) });
  net.node('Merge', 'v', ['v/enter', 'v/next'], { ...F, N: A.int(2) });
  net.node('Less', 'less', ['i', fixed(int('five', 5), 'five/enter', 'DT_INT32')], I);
  net.node('LoopCond', 'cond', ['less'], {});
  net.node('Switch', 'i/switch', ['i', 'cond'], I);
  net.node('Switch', 'v/switch', ['v', 'cond'], F);
  net.node('Identity', 'i/body', ['i/switch:1'], I);
  net.node('Identity', 'v/body', ['v/switch:1'], F);
  net.node('AddV2', 'i/more', ['i/body', fixed(int('one', 1), 'one/enter', 'DT_INT32')], I);
  net.node('Cast', 'i/float', ['i/more'], { SrcT: A.type('DT_INT32'), DstT: A.type('DT_FLOAT') });
  net.node('Mul', 'v/mul', ['v/body', fixed(w, 'w/enter', 'DT_FLOAT')], F);
  net.node('AddV2', 'v/add', ['v/mul', 'i/float'], F);
  net.node('Tanh', 'v/tanh', ['v/add'], F);
  net.node('NextIteration', 'i/next', ['i/more'], I);
  net.node('NextIteration', 'v/next', ['v/tanh'], F);
  net.node('Exit', 'y', ['v/switch'], F);
  net.outputs = ['y'];
};
function func(net, name, inputs, nodes, outputs) {
  net.functions.push({
    signature: { name, inputArg: inputs.map(([n, type]) => ({ name: n, type })),
      outputArg: outputs.map(([n, type]) => ({ name: n, type })) },
    nodeDef: nodes, ret: Object.fromEntries(outputs.map(([n, , from]) => [n, from])),
  });
}
cases.functions = (net) => {  // a loop and a branch whose constants are in the file of weights
  const x = net.numbers('x', [2, 3]);
  const I = { T: A.type('DT_INT32') };
  const cond = [], body = [];
  net.weight('loop_cond/most', [], [4], { dtype: 'int32', into: cond });
  net.node('Less', 'less', ['i', 'loop_cond/most:output:0'], I, cond);
  func(net, 'loop_cond', [['i', 'DT_INT32'], ['v', 'DT_FLOAT']], cond, [['is', 'DT_BOOL', 'less:z:0']]);
  net.weight('loop_body/one', [], [1], { dtype: 'int32', into: body });
  net.weight('loop_body/w', [2, 3], undefined, { into: body });
  net.node('AddV2', 'more', ['i', 'loop_body/one:output:0'], I, body);
  net.node('Mul', 'product', ['v', 'loop_body/w:output:0'], F, body);
  net.node('AddV2', 'sum', ['product:z:0', 'loop_body/w:output:0'], F, body);
  func(net, 'loop_body', [['i', 'DT_INT32'], ['v', 'DT_FLOAT']], body, [['i_out', 'DT_INT32', 'more:z:0'], ['v_out', 'DT_FLOAT', 'sum:z:0']]);
  net.weight('zero', [], [0], { dtype: 'int32' });
  net.node('StatelessWhile', 'loop', ['zero', x], { T: A.types(['DT_INT32', 'DT_FLOAT']), cond: A.func('loop_cond'),
    body: A.func('loop_body'), output_shapes: { list: { shape: [A.shape([]).shape, A.shape([2, 3]).shape] } } });
  net.outputs = [net.node('Identity', 'y', ['loop:1'], F)];
};

// --- Detection, texts of attributes, types ------------------------------------------------------------

cases.suppression = (net) => {
  const boxes = net.input('boxes', [0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.9, 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100, 1, 101], [6, 4]);
  const scores = net.input('scores', [0.9, 0.75, 0.6, 0.95, 0.5, 0.3], [6]);
  const operands = [boxes, scores, net.weight('most', [], [4], { dtype: 'int32' }), net.weight('iou', [], [0.5]),
    net.weight('least', [], [0.35])];
  net.node('NonMaxSuppressionV3', 'kept', operands, F);
  net.outputs = [net.node('GatherV2', 'y', [boxes, 'kept', net.weight('axis', [], [0], { dtype: 'int32' })],
    { Tparams: A.type('DT_FLOAT'), Tindices: A.type('DT_INT32'), Taxis: A.type('DT_INT32'), batch_dims: A.int(0) }), 'kept'];
};
for (const half of [false, true]) {
  for (const align of [false, true]) {
    if (half && align) continue;
    cases[`resize_${half ? 'half_' : ''}${align ? 'align' : 'plain'}`] = (net) => {
      const x = net.numbers('x', [1, 4, 5, 2]);
      const size = net.weight('size', [2], [7, 9], { dtype: 'int32' });
      const attr = { ...F, half_pixel_centers: A.bool(half), align_corners: A.bool(align) };
      net.outputs = [net.node('ResizeBilinear', 'y', [x, size], attr), net.node('ResizeNearestNeighbor', 'z', [x, size], attr)];
    };
  }
}
cases.pads = (net) => {
  const x = net.numbers('x', [1, 4, 5, 2]);
  const pads = net.weight('pads', [4, 2], [0, 0, 1, 2, 3, 0, 0, 0], { dtype: 'int32' });
  const P = { ...F, Tpaddings: A.type('DT_INT32') };
  net.outputs = [net.node('Pad', 'p', [x, pads], P), net.node('PadV2', 'q', [x, pads, net.weight('v', [], [1.5])], P),
    net.node('MirrorPad', 'm', [x, pads], { ...P, mode: A.text('REFLECT') })];
};
cases.explicit_pads = (net) => {
  const operands = [net.numbers('x', [2, 7, 6, 3]), net.weight('w', [3, 2, 3, 4]), net.weight('b', [4])];
  net.outputs = [net.node('_FusedConv2D', 'y', operands, { ...window('EXPLICIT'),
    explicit_paddings: A.ints([0, 0, 1, 1, 2, 2, 0, 0]), fused_ops: A.texts(['BiasAdd', 'Relu6']), num_args: A.int(1) })];
};
cases.strided_slice = (net) => {
  const x = net.numbers('x', [4, 5, 6]);
  const ints = (name, ...list) => net.weight(name, [list.length], list, { dtype: 'int32' });
  net.outputs = [net.node('StridedSlice', 'y', [x, ints('b', 1, 0, 4), ints('e', 0, 2, 0), ints('s', 1, 1, -1)],
    { ...F, Index: A.type('DT_INT32'), begin_mask: A.int(0), end_mask: A.int(5), ellipsis_mask: A.int(2), new_axis_mask: A.int(0), shrink_axis_mask: A.int(0) })];
};
cases.bools = (net) => {
  const x = net.numbers('x', [3, 4]);
  const zero = net.weight('zero', [], [0]);
  const mask = net.weight('mask', [3, 4], [1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 0], { dtype: 'bool' });
  const both = net.node('LogicalAnd', 'both', [net.node('Greater', 'g', [x, zero], F), mask]);
  net.outputs = [net.node('SelectV2', 'y', [both, x, zero], F),
    net.node('Any', 'any', [both, net.weight('axis', [1], [1], { dtype: 'int32' })], { keep_dims: A.bool(false), Tidx: A.type('DT_INT32') })];
};
cases.einsum = (net) => {
  const x = net.numbers('x', [2, 3, 4]);
  net.outputs = [net.node('Einsum', 'y', [x, net.weight('w', [4, 5])], { ...F, N: A.int(2), equation: A.text('abc,cd->adb') })];
};
cases.norms = (net) => {
  const x = net.numbers('x', [2, 4, 3, 6]);
  const of = (name, low, high) => net.weight(name, [6], Array.from({ length: 6 }, () => random(low, high)));
  const y = net.node('FusedBatchNormV3', 'bn', [x, of('s', 0.5, 2), of('o', -1, 1), of('m', -1, 1), of('v', 0.2, 3)],
    { ...F, U: A.type('DT_FLOAT'), epsilon: A.float(0.001), is_training: A.bool(false), data_format: A.text('NHWC') });
  net.outputs = [net.node('LRN', 'y', [y], { ...F, depth_radius: A.int(2), bias: A.float(1.5), alpha: A.float(0.3), beta: A.float(0.7) })];
};

let failed = 0;
for (const [name, build] of Object.entries(cases)) {
  if (process.env.ONLY && !name.match(process.env.ONLY)) continue;
  try {
    const net = new Net();
    build(net);
    await save(name, net);
  } catch (error) {
    failed += 1;
    console.log(`${name}: ${error.message.split('\n')[0]}`);
  }
}
console.log(`${Object.keys(cases).length} models, ${failed} failed`);
