#!/usr/bin/env node
// The command `x2ir`.
import v8 from 'node:v8';

import {runHere} from './node.mjs';

// V8 compiles functions again, optimized, after so many bytes of code. Its default lets it start with the longest function, which
// runs once, and a process ends when its compilations have (1.3 s).
v8.setFlagsFromString('--wasm-tiering-budget=18000000');
// A function is checked when it is compiled. All of them at once take as long as the rest of a start.
v8.setFlagsFromString('--wasm-lazy-validation');

process.exitCode = await runHere(process.argv.slice(2));
