// LiteRT (TensorFlow Lite) as a judge, on .tflite files; judge.mjs says how it is asked. The package is made for web
// pages: this gives its scripts the few things of a page that they ask for.
//
// LiteRT is built for WebAssembly there, with XNNPACK. It takes no tensors of rank 0 as inputs, no strings, and no
// models with resource variables; models run at the shapes that the file states (tflite_sizes.mjs: others).

import fs from 'node:fs';
import {createRequire} from 'node:module';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import vm from 'node:vm';
import {main} from './judge.mjs';
import {withSizes} from './tflite_sizes.mjs';

// The class of an array tells the binding the element type: types of its own for those that JavaScript lacks.
class Bools extends Uint8Array {}
class Halves extends Uint16Array {}

/** Of each element type: LiteRT's name, its enumerator and the class of its arrays. */
const TYPES = {
  F32: ['float32', 'FLOAT32', Float32Array], F64: ['float64', 'FLOAT64', Float64Array], F16: ['float16', 'FLOAT16', Halves],
  I8: ['int8', 'INT8', Int8Array], I16: ['int16', 'INT16', Int16Array], I32: ['int32', 'INT32', Int32Array],
  I64: ['int64', 'INT64', BigInt64Array], U8: ['uint8', 'UINT8', Uint8Array], U16: ['uint16', 'UINT16', Uint16Array],
  U32: ['uint32', 'UINT32', Uint32Array], U64: ['uint64', 'UINT64', BigUint64Array], BOOL: ['bool', 'BOOL', Bools],
};
const DTYPES = Object.fromEntries(Object.entries(TYPES).map(([dtype, [name]]) => [name, dtype]));

function makePage(script) {
  const load = (url) => {
    const file = url.toString().replace('file://', '');
    return vm.runInThisContext(fs.readFileSync(file, 'utf8'), {filename: file});
  };
  const body = {appendChild(element) { load(element.src); element.onload?.(); }};
  Object.assign(globalThis, {
    require: createRequire(pathToFileURL(script)), __dirname: path.dirname(script), __filename: script,
    self: globalThis, window: globalThis, location: {href: 'file:///', origin: 'file://'},
    document: {currentScript: null, baseURI: 'file:///', createElement: () => ({}), body, head: body},
    importScripts: load,
    fetch: async (url) => new Response(fs.readFileSync(url.toString().replace('file://', '')),
        {headers: {'content-type': 'application/wasm'}}),
  });
}

/** The package's module, with the element types that its binding leaves out but the runtime behind it has. */
async function importPackage(core) {
  globalThis.x2irTypes = Object.values(TYPES).map(([, , array]) => array);
  const known = ['float32', 'int32', 'uint8'];  // of the binding itself
  const more = Object.values(TYPES).map(([name, element], i) => known.includes(name) ? '' :
    `{dtype: "${name}", typedArrayConstructor: globalThis.x2irTypes[${i}], elementType: ElementType.${element}},`);
  const table = 'var DATATYPES = Object.freeze([';
  const source = fs.readFileSync(path.join(core, 'dist/index.js'), 'utf8');
  if (!source.includes(table)) throw new Error('@litertjs/core has changed: no table of element types');
  const utils = pathToFileURL(path.join(core, '../wasm-utils/dist/index.js')).href;
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'x2ir-litert-'));
  try {
    const file = path.join(dir, 'index.mjs');
    fs.writeFileSync(file, source.replace(table, table + more.join('')).replaceAll('@litertjs/wasm-utils', utils));
    return await import(pathToFileURL(file).href);
  } finally {
    fs.rmSync(dir, {recursive: true, force: true});
  }
}

class LiteRt {
  static async start(dir) {
    const core = path.join(dir, 'node_modules/@litertjs/core');
    const script = path.join(core, 'wasm/litert_wasm_compat_internal.js');
    // What the runtime logs goes where it does not disturb the answers.
    console.log = console.info = console.warn = console.debug = console.error;
    makePage(script);
    const runtime = new LiteRt();
    runtime.package = await importPackage(core);
    await runtime.package.loadLiteRt(script);
    return runtime;
  }

  async open(file) {
    const bytes = new Uint8Array(fs.readFileSync(file));
    const session = await this.compile(bytes);
    return {...session, run: (tensors, shapes) => this.runAtSizes(bytes, session, tensors, shapes)};
  }

  /** Where the tensors have other sizes than the file states, another model is made that states theirs. */
  async runAtSizes(bytes, session, tensors, shapes) {
    const fits = (ports, list) => list.every((shape, i) => `${shape}` === `${ports[i]?.shape}`);
    const sizes = tensors.map(({shape}) => shape);
    if (fits(session.inputs, sizes)) return session.run(tensors);
    const other = await endAtTrap(() => this.compile(withSizes(bytes, sizes, shapes)));
    try {
      return await other.run(tensors);
    } finally {
      other.release();
    }
  }

  async compile(bytes) {
    const model = await this.package.loadAndCompile(bytes, {accelerator: 'wasm'});
    const ports = (list) => list.map((d) => ({name: d.name, type: d.dtype, shape: [...d.shape]}));
    const inputs = ports(model.getInputDetails());
    const outputs = ports(model.getOutputDetails());
    const run = async (tensors) => {
      const made = [];
      try {
        tensors.forEach(({dtype, shape, data}, i) => {
          if (dtype !== DTYPES[inputs[i].type]) {
            throw new Error(`input '${inputs[i].name}' is ${dtype}, the model wants ${inputs[i].type}`);
          }
          made.push(new this.package.Tensor(new TYPES[dtype][2](data), shape));
        });
        const results = await endAtTrap(() => model.run(made));
        made.push(...results);
        return await Promise.all(results.map(async (tensor) => {
          const dtype = DTYPES[tensor.type.dtype ?? tensor.type];
          const {buffer, byteOffset, length} = await tensor.data();
          const plain = {F16: Uint16Array, BOOL: Uint8Array}[dtype] ?? TYPES[dtype][2];
          return {dtype, shape: [...tensor.type.layout.dimensions], data: new plain(buffer, byteOffset, length)};
        }));
      } finally {
        for (const tensor of made) tensor.delete?.();
      }
    };
    return {inputs, outputs, run, release: () => model.delete?.()};
  }
}

/** After a trap the runtime's memory is worth nothing: whoever asks starts another process. */
function endAtTraps(method) {
  const call = LiteRt.prototype[method];
  LiteRt.prototype[method] = async function(...args) {
    return endAtTrap(() => call.apply(this, args));
  };
}

async function endAtTrap(work) {
  try {
    return await work();
  } catch (e) {
    if (!(e instanceof WebAssembly.RuntimeError)) throw e;
    console.error(`LiteRT trapped: ${e.message}`);
    process.exit(1);
  }
}

endAtTraps('open');
await main(import.meta.url, LiteRt.start);
