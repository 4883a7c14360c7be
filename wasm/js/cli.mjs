#!/usr/bin/env node
// The command `x2ir`.
import {runHere} from './node.mjs';

process.exitCode = await runHere(process.argv.slice(2));
