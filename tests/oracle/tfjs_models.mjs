// Makes small layers models with TensorFlow.js, random weights and what it computes: cases for the
// reader of Keras's layers.
//
//   node tests/oracle/tfjs_models.mjs NODE_MODULES FOLDER
//
// NODE_MODULES holds @tensorflow/tfjs 4.22. Each case is FOLDER/made__NAME/{model.json, weights.bin,
// io.safetensors}.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { fromTfjs, writeSafetensors } from './safetensors.mjs';

const [, , modules, folder] = process.argv;
const require = createRequire(path.join(path.resolve(modules), 'x.js'));
const tf = require('@tensorflow/tfjs');
const L = tf.layers;

// Numbers that are the same in every run.
let state = 12345;
function random() {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
  return state / 0x7fffffff;
}
function fill(shape, low, high) {
  const n = shape.reduce((a, b) => a * b, 1);
  return tf.tensor(Array.from({ length: n }, () => Math.fround(low + (high - low) * random())), shape);
}

async function save(name, model, inputs) {
  const weights = model.getWeights();
  model.setWeights(weights.map((w, i) => {
    const own = model.weights[i].originalName;
    return /variance/.test(own) ? fill(w.shape, 0.5, 1.5) : fill(w.shape, -0.6, 0.6);
  }));
  const outputs = [].concat(model.predict(inputs.length === 1 ? inputs[0] : inputs));
  const dir = path.join(folder, `made__${name}`);
  fs.mkdirSync(dir, { recursive: true });
  await model.save(tf.io.withSaveHandler(async (artifacts) => {
    const manifest = [{ paths: ['weights.bin'], weights: artifacts.weightSpecs }];
    const json = { format: 'layers-model', generatedBy: 'TensorFlow.js', convertedBy: null,
                   modelTopology: artifacts.modelTopology, weightsManifest: manifest };
    fs.writeFileSync(path.join(dir, 'model.json'), JSON.stringify(json));
    const data = [].concat(artifacts.weightData).map((b) => Buffer.from(b));
    fs.writeFileSync(path.join(dir, 'weights.bin'), Buffer.concat(data));
    return { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' } };
  }));
  const io = {};
  inputs.forEach((x, i) => { io[`in_${i}`] = fromTfjs(x); });
  outputs.forEach((y, i) => { io[`out_${i}`] = fromTfjs(y); });
  writeSafetensors(path.join(dir, 'io.safetensors'), io);
}

const I = (...shape) => tf.input({ shape });
// A model of one input and a chain of layers.
function chain(shape, ...layers) {
  const x = tf.input({ shape });
  let y = x;
  for (const layer of layers) y = layer.apply(y);
  return { model: tf.model({ inputs: x, outputs: y }), shapes: [shape] };
}
function several(shapes, build) {
  const xs = shapes.map((shape) => tf.input({ shape }));
  return { model: tf.model({ inputs: xs, outputs: build(...xs) }), shapes };
}

const cases = {};
for (const padding of ['valid', 'same']) {
  for (const strides of [1, 2]) {
    cases[`conv1d_${padding}_${strides}`] = () =>
      chain([9, 3], L.conv1d({ filters: 4, kernelSize: 3, strides, padding, activation: 'relu' }));
    cases[`conv2d_${padding}_${strides}`] = () =>
      chain([7, 6, 3], L.conv2d({ filters: 4, kernelSize: [3, 2], strides, padding, activation: 'tanh' }));
    cases[`conv3d_${padding}_${strides}`] = () =>
      chain([5, 6, 4, 2], L.conv3d({ filters: 3, kernelSize: 2, strides, padding }));
    cases[`conv2d_transpose_${padding}_${strides}`] = () =>
      chain([4, 5, 3], L.conv2dTranspose({ filters: 2, kernelSize: [3, 2], strides, padding }));
    cases[`conv2d_transpose_small_${padding}_${strides}`] = () =>
      chain([4, 5, 3], L.conv2dTranspose({ filters: 2, kernelSize: 1, strides, padding }));
    cases[`conv3d_transpose_${padding}_${strides}`] = () =>
      chain([3, 3, 2, 2], L.conv3dTranspose({ filters: 2, kernelSize: 3, strides, padding }));
    cases[`depthwise_${padding}_${strides}`] = () =>
      chain([7, 6, 3], L.depthwiseConv2d({ kernelSize: 3, strides, padding, depthMultiplier: 2 }));
    cases[`separable_${padding}_${strides}`] = () =>
      chain([7, 6, 3], L.separableConv2d({ filters: 4, kernelSize: 3, strides, padding, depthMultiplier: 2, activation: 'elu' }));
    for (const kind of ['max', 'average']) {
      cases[`${kind}_pool1d_${padding}_${strides}`] = () =>
        chain([9, 3], L[`${kind}Pooling1d`]({ poolSize: 3, strides, padding }));
      cases[`${kind}_pool2d_${padding}_${strides}`] = () =>
        chain([7, 6, 3], L[`${kind}Pooling2d`]({ poolSize: [3, 2], strides, padding }));
      cases[`${kind}_pool3d_${padding}_${strides}`] = () =>
        chain([5, 6, 4, 2], L[`${kind}Pooling3d`]({ poolSize: 2, strides, padding }));
    }
  }
}
cases.conv2d_dilated = () => chain([9, 8, 2], L.conv2d({ filters: 3, kernelSize: 3, dilationRate: 2, useBias: false }));
cases.conv2d_dilated_same = () => chain([9, 8, 2], L.conv2d({ filters: 3, kernelSize: 3, dilationRate: 2, padding: 'same' }));
cases.global_pools = () => several([[5, 4, 3], [6, 3]], (x, y) => [
  L.globalAveragePooling2d({}).apply(x), L.globalMaxPooling2d({}).apply(x),
  L.globalAveragePooling1d({}).apply(y), L.globalMaxPooling1d({}).apply(y)]);
for (const activation of ['elu', 'hardSigmoid', 'linear', 'relu', 'relu6', 'selu', 'sigmoid', 'softmax',
  'softplus', 'softsign', 'tanh', 'swish', 'mish', 'gelu']) {
  cases[`activation_${activation}`] = () => chain([6], L.dense({ units: 5, activation }));
}
cases.dense_rank3 = () => chain([4, 6], L.dense({ units: 5, useBias: false }), L.dense({ units: 2 }));
cases.leaky_relu = () => chain([4, 3], L.leakyReLU({ alpha: 0.2 }));
cases.prelu = () => chain([4, 5, 3], L.prelu({ sharedAxes: [1, 2] }));
cases.prelu_all = () => chain([4, 3], L.prelu({}));
cases.elu_layer = () => chain([4, 3], L.elu({}));
cases.relu_layer = () => chain([4, 3], L.reLU({ maxValue: 0.5 }));
cases.thresholded = () => chain([4, 3], L.thresholdedReLU({ theta: 0.3 }));
for (const [name, make] of Object.entries({ lstm: L.lstm, gru: L.gru, rnn: L.simpleRNN })) {
  for (const returnSequences of [false, true]) {
    cases[`${name}_${returnSequences}`] = () => chain([5, 3], make({ units: 4, returnSequences }));
    cases[`${name}_back_${returnSequences}`] = () =>
      chain([5, 3], make({ units: 4, returnSequences, goBackwards: true }));
    for (const mergeMode of ['concat', 'sum', 'mul', 'ave']) {
      cases[`bidirectional_${name}_${mergeMode}_${returnSequences}`] = () =>
        chain([5, 3], L.bidirectional({ layer: make({ units: 4, returnSequences }), mergeMode }));
    }
  }
  cases[`${name}_odd`] = () =>
    chain([5, 3], make({ units: 4, activation: 'elu', recurrentActivation: 'sigmoid', useBias: false }));
  cases[`${name}_masked`] = () =>
    chain([6, 3], L.masking({ maskValue: 0 }), make({ units: 4 }));
  cases[`${name}_masked_sequences`] = () =>
    chain([6, 3], L.masking({ maskValue: 0 }), make({ units: 4, returnSequences: true }), make({ units: 3 }));
  cases[`${name}_state`] = () => several([[5, 3]], (x) => make({ units: 4, returnState: true, returnSequences: true }).apply(x));
  cases[`${name}_initial`] = () => several([[5, 3], [5, 3]], (x, y) => {
    const [, ...states] = make({ units: 4, returnState: true }).apply(x);
    return make({ units: 4 }).apply([y, ...states]);
  });
}
cases.stacked_cells = () => chain([5, 3], L.rnn({
  cell: L.stackedRNNCells({ cells: [L.lstmCell({ units: 4 }), L.gruCell({ units: 3 })] }), returnSequences: true }));
cases.rnn_of_cell = () => chain([5, 3], L.rnn({ cell: L.lstmCell({ units: 4 }) }));
cases.conv_lstm = () => chain([3, 5, 4, 2], L.convLstm2d({ filters: 3, kernelSize: 2, padding: 'same' }));
cases.conv_lstm_sequences = () => chain([3, 6, 5, 2],
  L.convLstm2d({ filters: 3, kernelSize: 3, strides: 2, returnSequences: true }));
cases.time_distributed = () => chain([4, 5], L.timeDistributed({ layer: L.dense({ units: 3, activation: 'relu' }) }));
cases.time_distributed_conv = () => chain([3, 6, 5, 2], L.timeDistributed({ layer: L.conv2d({ filters: 3, kernelSize: 2 }) }),
  L.timeDistributed({ layer: L.flatten({}) }));
cases.batch_norm = () => chain([4, 5, 3], L.batchNormalization({}));
cases.batch_norm_2d = () => chain([6], L.batchNormalization({ center: false, epsilon: 0.01 }));
cases.batch_norm_plain = () => chain([6], L.batchNormalization({ scale: false, center: false }));
cases.layer_norm = () => chain([4, 6], L.layerNormalization({}));
cases.layer_norm_axes = () => chain([4, 5, 6], L.layerNormalization({ axis: [-2, -1] }));
cases.merges = () => several([[4, 3], [4, 3]], (x, y) => [
  L.add().apply([x, y]), L.multiply().apply([x, y]), L.average().apply([x, y]), L.maximum().apply([x, y]),
  L.minimum().apply([x, y]), L.concatenate({ axis: 1 }).apply([x, y]), L.concatenate({}).apply([x, y])]);
cases.merge_broadcast = () => several([[4, 3], [3]], (x, y) => L.add().apply([x, y]));
cases.dot = () => several([[6], [6]], (x, y) => [
  L.dot({ axes: 1 }).apply([x, y]), L.dot({ axes: -1, normalize: true }).apply([x, y])]);
cases.dot_matrices = () => several([[4, 6], [5, 6]], (x, y) => L.dot({ axes: [2, 2] }).apply([x, y]));
cases.flatten_reshape = () => chain([4, 6], L.reshape({ targetShape: [2, 4, 3] }), L.permute({ dims: [3, 1, 2] }), L.flatten({}));
cases.repeat = () => chain([5], L.repeatVector({ n: 3 }));
cases.cropping = () => chain([6, 7, 2], L.cropping2D({ cropping: [[1, 2], [0, 3]] }));
cases.zero_padding = () => chain([3, 4, 2], L.zeroPadding2d({ padding: [[1, 2], [0, 3]] }));
cases.up_sampling_bilinear = () => chain([3, 4, 2], L.upSampling2d({ size: [2, 3], interpolation: 'bilinear' }));
cases.depthwise_not_dilated = () => chain([7, 6, 3], L.depthwiseConv2d({ kernelSize: 2, dilationRate: 2, padding: 'same' }));
cases.up_sampling = () => chain([3, 4, 2], L.upSampling2d({ size: [2, 3] }));
cases.dropouts = () => chain([4, 5], L.dropout({ rate: 0.5 }), L.gaussianNoise({ stddev: 1 }), L.gaussianDropout({ rate: 0.3 }),
  L.spatialDropout1d({ rate: 0.3 }), L.alphaDropout({ rate: 0.3 }));
cases.shared_layer = () => several([[4], [4]], (x, y) => {
  const dense = L.dense({ units: 3 });
  return L.concatenate({}).apply([dense.apply(x), dense.apply(y)]);
});
cases.nested = () => {
  const inner = tf.sequential({ layers: [L.dense({ units: 5, inputShape: [4], activation: 'tanh' }), L.dense({ units: 3 })] });
  return several([[4], [4]], (x, y) => L.add().apply([inner.apply(x), inner.apply(y)]));
};
cases.embedding = () => {
  const x = tf.input({ shape: [5] });
  return { model: tf.model({ inputs: x, outputs: L.embedding({ inputDim: 7, outputDim: 3 }).apply(x) }), shapes: [[5]], integers: 7 };
};
cases.embedding_masked = () => {
  const x = tf.input({ shape: [6] });
  const y = L.lstm({ units: 4 }).apply(L.embedding({ inputDim: 5, outputDim: 3, maskZero: true }).apply(x));
  return { model: tf.model({ inputs: x, outputs: y }), shapes: [[6]], integers: 5 };
};
cases.embedding_masked_bidirectional = () => {
  const x = tf.input({ shape: [6] });
  const e = L.embedding({ inputDim: 4, outputDim: 3, maskZero: true }).apply(x);
  const y = L.bidirectional({ layer: L.gru({ units: 4 }), mergeMode: 'concat' }).apply(L.dense({ units: 3 }).apply(e));
  return { model: tf.model({ inputs: x, outputs: y }), shapes: [[6]], integers: 4 };
};
cases.rescaling = () => chain([4, 3], L.rescaling({ scale: 0.5, offset: 2 }));

let failed = 0;
for (const [name, build] of Object.entries(cases)) {
  if (process.env.ONLY && !name.match(process.env.ONLY)) continue;
  try {
    const { model, shapes, integers } = build();
    const inputs = shapes.map((shape) => {
      const x = fill([2, ...shape], -1, 1);
      if (integers) return tf.floor(tf.mul(tf.add(tf.mul(x, 0.5), 0.5), integers * 0.999));
      if (!/masked/.test(name)) return x;
      // Steps that are zeros, at the end, in the middle and at the start.
      const keep = tf.tensor([[1, 0, 1, 1, 0, 0], [0, 1, 1, 0, 0, 1]]).reshape([2, 6, 1]);
      return tf.mul(x, keep);
    });
    await save(name, model, inputs);
  } catch (error) {
    failed += 1;
    console.log(`${name}: ${error.message.split('\n')[0]}`);
  }
}
console.log(`${Object.keys(cases).length} models, ${failed} failed`);
