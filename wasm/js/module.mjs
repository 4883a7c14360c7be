// One run of the program in an instance of its own: no run sees the memory of another, and one that
// fails badly leaves nothing behind.

import {Exit, System} from './system.mjs';

/** An instance that has not run. */
export function instantiate(module) {
  const system = new System();
  const {exports} = new WebAssembly.Instance(module, system.imports());
  system.memory = exports.memory;
  return {system, run: exports.run};
}

/**
 * The exit code of a run. `ready`: an instance that has not run, if there is one. What the engine throws (no memory for the
 * stack, a trap) ends with 4.
 */
export function execute(module, {ready, files, streams, args, env}) {
  let system;
  try {
    ready ??= instantiate(module);
    system = ready.system;
    system.begin({files, streams, args: ['x2ir', ...args], env});
    ready.run();
    return 0;
  } catch (error) {
    if (error instanceof Exit) return error.code;
    const memory = system?.memory.buffer.byteLength ?? 0;
    const why = error instanceof RangeError && /stack/i.test(error.message)
        ? 'the model is nested too deeply for this engine'
        : memory > 3.9 * 2 ** 30 ? 'the memory of 4 GB that WebAssembly has is used up' : String(error);
    streams[2].write(new TextEncoder().encode(`error: the module stopped: ${why}\n`));
    return 4;
  }
}
