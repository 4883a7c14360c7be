// The table test of real networks: every ONNX file of SHARED/models goes ONNX -> IR -> ONNX and must still compute what
// the framework computed.
//
//   node models.mjs --bin BUILD/bin --shared DIR --work DIR [--table FILE.md] [--only NAME[,NAME]] [--oracle DIR]
//       [--keep]
//
// For each models/NAME/model*.onnx:
//   source      ONNX Runtime agrees on the file itself: a check of the oracle and its data
//   convert     x2ir convert gives an IR; its weight file is valid, aligned safetensors
//   opset N     for the file's own opset and those of OPSETS: ir2onnx export gives a file of that opset whose inputs and
//               outputs have the names, types and order of the source, and ONNX Runtime agrees on every case; where it
//               does not know the opset yet, x2ir verify does. A refusal (exit code 1, nothing written) is fine for
//               those of MAY_REFUSE alone, and not where it is the file's own
//   verify      x2ir verify agrees, on the ONNX file and on the IR
//   round trip  the unoptimized export at the file's own opset converts to the same IR, byte for byte
//
// It prints a line a check and a table in Markdown, which --table writes to a file when it changed. --only takes names
// of folders, or of files in them (lstm/model.17.onnx), and leaves the table's file alone. The exit code is 0 when all
// pass, 1 when a check fails, 2 for a wrong command line, and 77 when the oracle or the models are not here.
//
// WORK/NAME/FILE keeps what was made for a file that failed; --keep leaves the rest too.

import {execFile, spawn} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import {ATOL, NOT_INSTALLED, NOT_RUN, RTOL, findOracle, sayNotRun} from './judge.mjs';
import {SafetensorsFile} from './safetensors.mjs';
import {NOT_SHARED, sharedFolder} from './shared.mjs';

const OPSETS = [9, 11, 13, 17, 18, 20, 28];
const MAY_REFUSE = [9, 11, 13];
const PARALLEL = 2;
const COMMAND_SECONDS = 600;

/** An ort.mjs server. One that crashed is started again for the next question. */
class OrtServer {
  constructor(oracle) {
    this.oracle = oracle;
    this.child = null;
  }

  start() {
    const script = path.join(path.dirname(fileURLToPath(import.meta.url)), 'ort.mjs');
    const child = spawn(process.execPath, [script, '--oracle', this.oracle], {stdio: ['pipe', 'pipe', 'inherit']});
    child.stdin.on('error', () => {});
    readline.createInterface({input: child.stdout}).on('line', (line) => this.settle(JSON.parse(line)));
    child.on('close', (code, signal) => {
      if (this.child === child) this.child = null;
      this.settle({ok: false, stage: 'crash', error: `ONNX Runtime ended with ${signal ?? `code ${code}`}`});
    });
    this.child = child;
  }

  settle(answer) {
    this.waiting?.(answer);
    this.waiting = null;
  }

  async ask(request) {
    if (!this.child) this.start();
    const timer = setTimeout(() => this.child?.kill('SIGKILL'), COMMAND_SECONDS * 1000);
    try {
      return await new Promise((resolve) => {
        this.waiting = resolve;
        this.child.stdin.write(JSON.stringify(request) + '\n');
      });
    } finally {
      clearTimeout(timer);
    }
  }

  stop() { this.child?.stdin.end(); }
}

/** Runs a program: {code, text}, code null when it was killed; text is what it said, on stderr before stdout. */
function run(program, ...args) {
  const options = {timeout: COMMAND_SECONDS * 1000, killSignal: 'SIGKILL', maxBuffer: 1 << 26};
  return new Promise((resolve) => execFile(program, args, options, (error, stdout, stderr) => {
    const code = !error ? 0 : typeof error.code === 'number' ? error.code : null;
    const why = code === null ? `ended by ${error.signal ?? error.code}\n` : '';
    resolve({code, text: why + stderr + stdout});
  }));
}

/** The line of a program's output that best says what went wrong. */
function reason({code, text}) {
  const lines = text.split('\n').map((line) => line.trim()).filter(Boolean);
  const line = lines.find((l) => /\berror\b/i.test(l)) ?? lines[0] ?? 'it said nothing';
  return `exit code ${code ?? 'none'}: ${line}`;
}

/** The opset that an ONNX file imports for the default domain, from the protobuf wire; other fields are skipped. */
function onnxOpset(file) {
  const bytes = fs.readFileSync(file);
  let at = 0;
  const varint = () => {
    for (let value = 0, scale = 1; ; scale *= 128) {
      if (at >= bytes.length) throw new Error(`${file}: truncated`);
      const byte = bytes[at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  const fields = function* (end) {
    while (at < end) {
      const tag = varint();
      const wire = tag & 7;
      const length = wire === 2 ? varint() : wire === 1 ? 8 : wire === 5 ? 4 : 0;
      const value = wire === 0 ? varint() : null;
      const begin = at;
      yield {number: tag >>> 3, value, begin, end: begin + length};
      at = begin + length;
    }
  };
  for (const field of fields(bytes.length)) {
    if (field.number !== 8) continue;  // ModelProto.opset_import
    let domain = '';
    let version = null;
    for (const part of fields(field.end)) {
      if (part.number === 1) domain = bytes.toString('utf8', part.begin, part.end);
      if (part.number === 2) version = part.value;
    }
    if (domain === '' || domain === 'ai.onnx') return version;
  }
  throw new Error(`${file}: no opset`);
}

/** What differs between the interface of the source and that of an export, or null. */
function interfaceDifference(source, got) {
  for (const kind of ['inputs', 'outputs']) {
    if (source[kind].length !== got[kind].length) {
      return `${got[kind].length} ${kind}, expected ${source[kind].length}`;
    }
    for (const [i, want] of source[kind].entries()) {
      const has = got[kind][i];
      // Shape inference may know more of an output than the source says; an input stays as it is.
      const same = (dim, k) => dim === has.shape[k] || (kind === 'outputs' && typeof dim !== 'number');
      if (want.name !== has.name || want.type !== has.type || want.shape?.length !== has.shape?.length ||
          !(want.shape ?? []).every(same)) {
        const say = (v) => `${v.name}: ${v.type} [${v.shape}]`;
        return `${kind}[${i}] is '${say(has)}', expected '${say(want)}'`;
      }
    }
  }
  return null;
}

/** What differs between two files that should be the same, or null. */
function fileDifference(first, second) {
  const [a, b] = [first, second].map((file) => fs.readFileSync(file));
  if (a.equals(b)) return null;
  const name = path.basename(second);
  if (!name.endsWith('.json')) return `${name} differs (${a.length} and ${b.length} bytes)`;
  const [x, y] = [a, b].map((bytes) => bytes.toString().split('\n'));
  const line = x.findIndex((text, i) => text !== y[i]);
  const cut = (text) => (text ?? '(end)').trim().slice(0, 120);
  return `${name} differs from line ${line + 1}: '${cut(x[line])}' became '${cut(y[line])}'`;
}

/** A check's outcome where it is not simply a pass: a refusal that is allowed. */
class Refused {
  constructor(why) { this.why = why; }
}

/** ONNX Runtime has no such opset yet; the reference evaluation of the exported file agrees. */
class Verified {}

/** Everything that is checked about one ONNX file. `cells` become its row of the table. */
class FileTest {
  constructor(setup, model, file) {
    Object.assign(this, setup);
    this.label = `${model}/${file}`;
    this.model = model;
    this.file = file;
    this.source = path.join(this.models, model, file);
    this.io = path.join(this.models, model, 'io.safetensors');
    this.dir = path.join(this.work, model, file.replace(/\.onnx$/, ''));
    this.cells = {};
    this.refusals = [];
    this.passed = this.failed = 0;
  }

  path(...parts) {
    const file = path.join(this.dir, ...parts);
    fs.mkdirSync(path.dirname(file), {recursive: true});
    return file;
  }

  /** Runs one check. It returns a note, or a Refused, and throws an Error that says what is wrong. */
  async check(name, work) {
    const start = Date.now();
    let [verdict, cell, note] = ['PASS', 'ok', ''];
    try {
      const result = await work();
      if (result instanceof Refused) {
        [cell, note] = ['refused', `refused: ${this.withoutPaths(result.why)}`];
        this.refusals.push({check: name, why: this.withoutPaths(result.why)});
      } else if (result instanceof Verified) {
        [cell, note] = ['verified', 'by x2ir verify'];
      } else {
        note = result ?? '';
      }
    } catch (e) {
      [verdict, cell, note] = ['FAIL', 'FAIL', this.withoutPaths(e.message)];
    }
    const passed = verdict === 'PASS';
    this[passed ? 'passed' : 'failed'] += 1;
    this.cells[name] = cell;
    console.log(`${verdict} ${this.label}  ${name}  ${((Date.now() - start) / 1000).toFixed(1)} s  ${note}`.trimEnd());
    return passed;
  }

  withoutPaths(text) {
    return text.replaceAll(this.dir + path.sep, '').replaceAll(path.dirname(this.source) + path.sep, '')
        .replaceAll(this.bin + path.sep, '');
  }

  /** Runs a program that must succeed. */
  async must(name, ...args) {
    const result = await run(path.join(this.bin, name), ...args);
    if (result.code !== 0) throw new Error(`${name} ${args[0]}: ${reason(result)}`);
  }

  async judge(server, model) {
    const answer = await server.ask({model, io: this.io, case: 'all', rtol: RTOL, atol: ATOL});
    if (!answer.ok) throw new Error(`ONNX Runtime (${answer.stage}): ${answer.error}`);
    const cases = answer.cases.length > 1 ? `, ${answer.cases.length} cases` : '';
    return `max_abs ${answer.max_abs.toPrecision(2)}${cases}`;
  }

  async load(server, model) {
    const answer = await server.ask({load: model});
    if (!answer.ok) throw new Error(`ONNX Runtime (${answer.stage}): ${answer.error}`);
    return answer;
  }

  async exportTo(server, ir, opset) {
    const out = this.path(`opset${opset}`, 'model.onnx');
    const result = await run(path.join(this.bin, 'ir2onnx'), 'export', ir, '-o', out, '--opset', `${opset}`);
    if (result.code !== 0) {
      if (result.code !== 1 || opset === this.own || !MAY_REFUSE.includes(opset)) {
        throw new Error(`ir2onnx export: ${reason(result)}`);
      }
      const left = fs.readdirSync(path.dirname(out));
      if (left.length) throw new Error(`ir2onnx export refused, but left ${left.join(', ')}`);
      return new Refused(reason(result).replace(/^exit code 1: (error: )?/, ''));
    }
    const written = onnxOpset(out);
    if (written !== opset) throw new Error(`the file says opset ${written}`);
    const before = await this.load(server, this.source);
    const after = await server.ask({load: out});
    if (!after.ok && /under development/.test(after.error)) {
      await this.must('x2ir', 'verify', out, '--io', this.io);
      return new Verified();
    }
    if (!after.ok) throw new Error(`ONNX Runtime (${after.stage}): ${after.error}`);
    const difference = interfaceDifference(before, after);
    if (difference) throw new Error(difference);
    return this.judge(server, out);
  }

  async run(server) {
    fs.rmSync(this.dir, {recursive: true, force: true});
    this.own = onnxOpset(this.source);
    const opsets = [...new Set([this.own, ...OPSETS])].sort((a, b) => a - b);
    const ir = this.path('ir', 'model.json');

    await this.check('source', () => this.judge(server, this.source));
    await this.check('verify ONNX', () => this.must('x2ir', 'verify', this.source, '--io', this.io));
    const converted = await this.check('convert', async () => {
      await this.must('x2ir', 'convert', this.source, '-o', ir);
      const weights = new SafetensorsFile(this.path('ir', 'model.safetensors'));
      const misaligned = weights.misaligned();
      if (misaligned.length) throw new Error(`model.safetensors: not aligned: ${misaligned.slice(0, 3).join(', ')}`);
    });
    const later = [
      ['verify IR', () => this.must('x2ir', 'verify', ir, '--io', this.io)],
      ...opsets.map((opset) => [`opset ${opset}`, () => this.exportTo(server, ir, opset)]),
      ['round trip', async () => {
        const out = this.path('again', 'unoptimized.onnx');
        const again = this.path('again', 'model.json');
        await this.must('ir2onnx', 'export', ir, '-o', out, '--opset', `${this.own}`, '--no-optimize');
        await this.must('x2ir', 'convert', out, '-o', again);
        for (const name of ['model.json', 'model.safetensors']) {
          const difference = fileDifference(this.path('ir', name), this.path('again', name));
          if (difference) throw new Error(difference);
        }
      }],
    ];
    for (const [name, work] of later) {
      if (converted) await this.check(name, work);
      else this.cells[name] = '-';
    }
    if (!this.failed && !this.keep) fs.rmSync(this.dir, {recursive: true, force: true});
  }

  row() {
    const opsets = OPSETS.map((opset) => this.cells[`opset ${opset}`]);
    return [this.model, this.file, `${this.own}: ${this.cells[`opset ${this.own}`]}`, ...opsets,
            this.cells['verify ONNX'], this.cells['verify IR'], this.cells['round trip']];
  }
}

function table(tests, version) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const header = ['model', 'file', 'own opset', ...OPSETS.map((opset) => `opset ${opset}`), 'verify ONNX', 'verify IR',
                  'round trip'];
  const text = [
    '# Real networks',
    '',
    '<!-- Written by tests/oracle/models.mjs, the test oracle_models. Do not edit. -->',
    '',
    '    ctest --test-dir build -R oracle_models',
    '',
    'Each file is converted to IR and exported again at its own opset and at others. An opset is `ok` when ONNX',
    `Runtime ${version} runs the exported file to the expected outputs (rtol ${RTOL}, atol ${ATOL}) in every case of`,
    "the model's `io.safetensors`, and its inputs and outputs are still those of the source; it is `verified` when that",
    'release has no such opset yet and the reference evaluation of the exported file agrees; it is `refused` when the',
    'graph has no exact form at that opset, and export says so. `verify` compares the reference evaluation with the',
    'same outputs. `round trip` is `ok` when the unoptimized export at the own opset converts to the same IR, byte',
    'for byte.',
    '',
    line(header), line(header.map(() => '---')), ...tests.map((test) => line(test.row())),
  ];
  const refusals = tests.flatMap((test) => test.refusals.map(({check, why}) => (
    `- ${test.label}, ${check}: ${why.replaceAll('|', '\\|')}`)));
  if (refusals.length) text.push('', 'Refused:', '', ...refusals);
  for (const part of ['families.md', 'classic.md']) {
    text.push('', fs.readFileSync(new URL(part, import.meta.url), 'utf8').trimEnd());
  }
  return text.join('\n') + '\n';
}

function findTests(setup, only) {
  const {models} = setup;
  const tests = [];
  for (const model of fs.readdirSync(models).sort()) {
    if (!fs.statSync(path.join(models, model)).isDirectory()) continue;
    const opset = (file) => Number(/\.(\d+)\.onnx$/.exec(file)?.[1] ?? 0);
    const files = fs.readdirSync(path.join(models, model)).filter((file) => /^model.*\.onnx$/.test(file));
    files.sort((a, b) => opset(a) - opset(b) || (a < b ? -1 : 1));
    for (const file of files) {
      if (only && !only.includes(model) && !only.includes(`${model}/${file}`)) continue;
      tests.push(new FileTest(setup, model, file));
    }
  }
  return tests;
}

function parse() {
  const usage = 'usage: node models.mjs --bin BUILD/bin --shared DIR --work DIR [--table FILE.md] ' +
      '[--only NAME[,NAME]] [--oracle DIR] [--keep]';
  try {
    const text = {type: 'string'};
    const {values} = parseArgs({options: {
      bin: text, shared: text, work: text, table: text, only: text, oracle: text,
      keep: {type: 'boolean', default: false},
    }});
    for (const name of ['bin', 'shared', 'work']) {
      if (!values[name]) throw new Error(`--${name} is missing`);
      values[name] = path.resolve(values[name]);
    }
    return values;
  } catch (e) {
    console.error(`${e.message}\n${usage}`);
    return null;
  }
}

async function main() {
  const options = parse();
  if (!options) return 2;
  options.models = sharedFolder('oracle_models', options.shared, 'models');
  if (!options.models) {
    sayNotRun(NOT_SHARED);
    return NOT_RUN;
  }
  const oracle = findOracle(options.oracle);
  if (!oracle) {
    sayNotRun(NOT_INSTALLED);
    return NOT_RUN;
  }
  const missing = ['x2ir', 'ir2onnx'].filter((name) => !fs.existsSync(path.join(options.bin, name)));
  if (missing.length) {
    console.error(`${missing.join(' and ')}: not in --bin; build first`);
    return 2;
  }
  const tests = findTests(options, options.only?.split(','));
  if (!tests.length) {
    console.error(`no model*.onnx${options.only ? ` of ${options.only}` : ''} in --shared`);
    return 2;
  }

  const start = Date.now();
  const queue = [...tests];
  await Promise.all(Array.from({length: PARALLEL}, async () => {
    const server = new OrtServer(oracle);
    for (let test; (test = queue.shift());) await test.run(server);
    server.stop();
  }));

  const pkg = JSON.parse(fs.readFileSync(path.join(oracle, 'node_modules', 'onnxruntime-node', 'package.json')));
  const text = table(tests, pkg.version);
  console.log(`\n${text}`);
  if (options.table && options.only) {
    console.log('The table is not written: --only gives a part of it.');
  } else if (options.table && (!fs.existsSync(options.table) || fs.readFileSync(options.table, 'utf8') !== text)) {
    fs.writeFileSync(options.table, text);
    console.log('The table changed and was written.');
  }
  const sum = (key) => tests.reduce((n, test) => n + test[key], 0);
  const refused = tests.reduce((n, test) => n + test.refusals.length, 0);
  const failing = tests.filter((test) => test.failed).map((test) => test.label);
  console.log(`${tests.length} files: ${sum('passed')} checks passed (${refused} of them refusals), ${sum('failed')} ` +
              `failed, in ${((Date.now() - start) / 1000).toFixed(0)} s`);
  if (failing.length) console.log(`failed: ${failing.join(', ')}`);
  return failing.length ? 1 : 0;
}

process.exitCode = await main();
