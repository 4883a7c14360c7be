// A runtime as a judge: runs a model on known inputs and compares with known outputs. The runtimes are in files of
// their own (ort.mjs: ONNX Runtime, litert.mjs: LiteRT):
//
//   node RUNTIME.mjs MODEL IO.safetensors [--case NAME|all] [--rtol R] [--atol A] [--steps N] [--optimize]   one verdict
//   node RUNTIME.mjs MODEL                                                                      only loads it
//   node RUNTIME.mjs                                                                            a server
//
// The exit code is 0 when they agree, 1 when not, 2 for a wrong command line, and 77 when the oracle is not installed
// (see setup.sh). The installation is --oracle DIR, else $X2IR_ORACLE, else an `oracle` folder below the repository's
// `build` folder.
//
// The server reads one JSON request a line on stdin and answers each with one line on stdout, in order, until stdin
// ends:
//   {"model": PATH, "io": PATH, "case": NAME|"all"|null, "rtol": 1e-3, "atol": 1e-4, "steps": 0, "optimize": false}
//       -> {"ok": true, "max_abs": X, "max_rel": X, "cases": [NAMES]}
//   with "as": PATH, a model whose outputs are expected instead of those of the file
//   {"model": PATH, "feeds": PATH, "fetch": PATH, "case": NAME|null}   runs it and writes out_0, out_1, ... to `fetch`
//       -> {"ok": true}
//   {"load": PATH}
//       -> {"ok": true, "inputs": [{name, type, shape}], "outputs": [...]}
//          or only {"ok": true}, when it loads but has inputs or outputs of a type that the JavaScript binding lacks
//   anything that fails
//       -> {"ok": false, "stage": "request|load|run|compare", "error": TEXT}
// An "id" in a request comes back in its answer. `steps` is by how much integers may differ.
//
// A safetensors file of inputs and outputs names them as the model does, or in_0, in_1, ... and out_0, ... in the
// model's order. It may hold several cases, told apart by a prefix: case0.in_0, case1.in_0. `all` means every such
// prefix, or the file itself when it has none.
//
// A runtime is {open(model, {optimize})}. `open` gives a session, or throws an error, with `bindingLacksType` set
// where the model loads and only its inputs or outputs cannot be handed over: {inputs, outputs: [{name, type, shape}],
// run(tensors, shapes) -> tensors, release()}. Tensors are those of safetensors.mjs, in the model's order; `shapes` are
// those that outputs should have, where they are known.

import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {compareTensors} from './compare.mjs';
import {SafetensorsFile, writeSafetensors} from './safetensors.mjs';

export const NOT_RUN = 77;
export const RTOL = 1e-3;
export const ATOL = 1e-4;

/** The folder that setup.sh installed into, or null. */
export function findOracle(given) {
  const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
  let dirs = [given || process.env.X2IR_ORACLE].filter(Boolean);
  if (!dirs.length) {
    const build = path.join(root, 'build');
    const subdirs = fs.existsSync(build) ? fs.readdirSync(build).sort() : [];
    dirs = [build, ...subdirs.map((name) => path.join(build, name))].map((dir) => path.join(dir, 'oracle'));
  }
  return dirs.map((dir) => path.resolve(dir)).find((dir) => fs.existsSync(path.join(dir, 'installed'))) ?? null;
}

export function sayNotRun(why) {
  console.error(`\n*** ORACLE NOT RUN: ${why}\n`);
}

export const NOT_INSTALLED = 'the runtimes are not installed here; tests/oracle/setup.sh BUILD installs them';

/** A failure with the stage that it happened in. */
class StageError extends Error {
  constructor(stage, message, cause) {
    super(message, {cause});
    this.stage = stage;
  }
}

async function at(stage, work) {
  try {
    return await work();
  } catch (e) {
    throw e instanceof StageError ? e : new StageError(stage, e.message, e);
  }
}

class Judge {
  constructor(runtime) {
    this.runtime = runtime;
  }

  /** Answers a request of the server's protocol; never throws. */
  async answer(request) {
    try {
      if (typeof request?.load === 'string') return await this.load(request);
      if (typeof request?.model === 'string' && typeof request.io === 'string') return await this.compare(request);
      if ([request?.model, request?.feeds, request?.fetch].every((x) => typeof x === 'string')) {
        return await this.fetch(request);
      }
      throw new StageError('request', 'a request has "load", or "model" and "io", or "model", "feeds" and "fetch"');
    } catch (e) {
      return {ok: false, stage: e.stage ?? 'run', error: e.message, ...e.extra};
    }
  }

  async load({load: model, optimize}) {
    try {
      return await this.withSession(model, optimize, (session) => (
        {ok: true, inputs: session.inputs, outputs: session.outputs}));
    } catch (e) {
      if (e.cause?.bindingLacksType) return {ok: true};
      throw e;
    }
  }

  async fetch({model, feeds, fetch, case: name, optimize}) {
    return this.withSession(model, optimize, async (session) => {
      const file = await at('run', () => new SafetensorsFile(feeds));
      const prefix = name ? `${name}.` : '';
      const outputs = await this.run(session, file, prefix);
      await at('run', () => writeSafetensors(fetch, Object.fromEntries(outputs.map((t, i) => [`out_${i}`, t]))));
      return {ok: true};
    });
  }

  /** The outputs of a model for each case of a file, by the case's name. */
  async outputsOf(model, io, wanted) {
    return this.withSession(model, false, async (session) => {
      const file = await at('compare', () => new SafetensorsFile(io));
      const outputs = new Map();
      for (const name of casesOf(file, wanted)) outputs.set(name, await this.run(session, file, name ? `${name}.` : ''));
      return outputs;
    });
  }

  async compare({model, io, as, case: wanted, rtol = RTOL, atol = ATOL, steps = 0, optimize}) {
    if (!(rtol >= 0 && atol >= 0)) throw new StageError('request', `bad tolerances: rtol ${rtol}, atol ${atol}`);
    const expected = as ? await this.outputsOf(as, io, wanted).catch((e) => {
      throw new StageError('expected', e.message, e);
    }) : null;
    return this.withSession(model, optimize, async (session) => {
      const file = await at('compare', () => new SafetensorsFile(io));
      const cases = casesOf(file, wanted);
      const result = {max_abs: 0, max_rel: 0};
      const errors = [];
      for (const name of cases) {
        const prefix = name ? `${name}.` : '';
        const want = await at('compare', () => expected ? expected.get(name) :
          keysOf(file, prefix, 'out', namesOf(session.outputs)).map((key) => file.get(key)));
        const got = await this.run(session, file, prefix, want.map(({shape}) => shape));
        await at('compare', () => {
          if (want.length !== got.length) throw new Error(`${got.length} outputs, expected ${want.length}`);
          want.forEach((tensor, i) => {
            const one = compareTensors(got[i], tensor, {rtol, atol, steps});
            result.max_abs = Math.max(result.max_abs, one.max_abs);
            result.max_rel = Math.max(result.max_rel, one.max_rel);
            if (one.error) errors.push(`${prefix}out_${i} '${session.outputs[i].name}': ${one.error}`);
          });
        });
      }
      if (errors.length) {
        const error = new StageError('compare', errors.join('; '));
        error.extra = result;
        throw error;
      }
      return {ok: true, ...result, cases};
    });
  }

  async withSession(model, optimize, use) {
    const session = await at('load', () => this.runtime.open(model, {optimize}));
    try {
      return await use(session);
    } finally {
      await session.release();
    }
  }

  /** Runs the model on a case of a file; the outputs in the model's order, whose expected shapes may be given. */
  run(session, file, prefix, shapes) {
    return at('run', () => {
      const keys = keysOf(file, prefix, 'in', namesOf(session.inputs));
      return session.run(keys.map((key) => file.get(key)), shapes);
    });
  }
}

const namesOf = (ports) => ports.map((port) => port.name);

/** The cases that a request means: prefixes without their dot, or [''] for the file itself. */
function casesOf(file, wanted) {
  const prefixes = new Set(file.names().map((name) => /^(case\d+)\./.exec(name)?.[1]).filter(Boolean));
  const found = [...prefixes].sort((a, b) => Number(a.slice(4)) - Number(b.slice(4)));
  if (wanted === 'all') return found.length ? found : [''];
  if (wanted ? !file.names().some((name) => name.startsWith(`${wanted}.`)) : found.length && !file.has('in_0')) {
    const what = found.length ? `it has ${found.join(', ')}` : 'it has none';
    const wrong = wanted ? `no case '${wanted}'` : 'a case must be named';
    throw new StageError('compare', `${file.path}: ${wrong}; ${what}`);
  }
  return [wanted ?? ''];
}

/** The file's keys for the model's inputs or outputs: all by the model's own names, or all by position. */
function keysOf(file, prefix, kind, names) {
  const own = names.map((name) => prefix + name);
  if (own.every((key) => file.has(key))) return own;
  const numbered = names.map((_, i) => `${prefix}${kind}_${i}`);
  const missing = numbered.find((key) => !file.has(key));
  if (missing) throw new Error(`${file.path}: no tensor '${missing}' for '${names[numbered.indexOf(missing)]}'`);
  const extra = `${prefix}${kind}_${names.length}`;
  if (file.has(extra)) throw new Error(`${file.path}: '${extra}' is one more than the model has (${names.length})`);
  return numbered;
}

async function serve(judge) {
  for await (const line of readline.createInterface({input: process.stdin})) {
    if (!line.trim()) continue;
    let request = null;
    let answer;
    try {
      request = JSON.parse(line);
      answer = await judge.answer(request);
    } catch (e) {
      answer = {ok: false, stage: 'request', error: e.message};
    }
    if (request?.id !== undefined) answer.id = request.id;
    process.stdout.write(JSON.stringify(answer) + '\n');
  }
}

async function runMain(script, start) {
  let args;
  try {
    args = parseArgs({
      allowPositionals: true,
      options: {
        case: {type: 'string', default: 'all'}, optimize: {type: 'boolean', default: false},
        rtol: {type: 'string', default: `${RTOL}`}, atol: {type: 'string', default: `${ATOL}`}, steps: {type: 'string', default: '0'},
        oracle: {type: 'string'},
      },
    });
    if (args.positionals.length > 2) throw new Error('at most a model and a file of inputs and outputs');
  } catch (e) {
    console.error(`${e.message}\nusage: node ${path.basename(script)} [MODEL [IO.safetensors]] [--case NAME|all] ` +
                  '[--rtol R] [--atol A] [--steps N] [--optimize] [--oracle DIR]');
    return 2;
  }
  const {values, positionals: [model, io]} = args;
  const dir = findOracle(values.oracle);
  if (!dir) {
    sayNotRun(NOT_INSTALLED);
    return NOT_RUN;
  }
  const judge = new Judge(await start(dir));
  if (!model) {
    await serve(judge);
    return 0;
  }
  const answer = await judge.answer(io === undefined ? {load: model, optimize: values.optimize} : {
    model, io, case: values.case, rtol: Number(values.rtol), atol: Number(values.atol), steps: Number(values.steps),
    optimize: values.optimize,
  });
  if (!answer.ok) {
    console.error(`${model}: ${answer.stage}: ${answer.error}`);
    return answer.stage === 'request' ? 2 : 1;
  }
  const cases = answer.cases?.length > 1 ? `, ${answer.cases.length} cases` : '';
  const verdict = (io === undefined ? `${model}: loads` :
    `${model}: agrees (max_abs ${answer.max_abs.toPrecision(3)}, max_rel ${answer.max_rel.toPrecision(3)}${cases})`);
  process.stdout.write(`${verdict}\n`);  // console.log may be the runtime's
  return 0;
}

/** The program of a runtime, where its file is the one that node was given. `start` makes the runtime from its folder. */
export async function main(url, start) {
  const script = fileURLToPath(url);
  if (process.argv[1] && fs.realpathSync(process.argv[1]) === script) process.exitCode = await runMain(script, start);
}
