// Writes a module with its data in few segments. wasm-opt splits data at every few zeros, which makes the module a little
// smaller, but larger where it is compressed: between segments are addresses.
//
//   node merge_data.mjs IN.wasm OUT.wasm
import { readFileSync, writeFileSync } from "node:fs";

import { changed, DATA, DATA_COUNT, dataOf, memoryOf, sections } from "./sections.mjs";

const [from, out] = process.argv.slice(2);
const bytes = readFileSync(from);
const { data, count } = dataOf(memoryOf(new Map(sections(bytes)).get(DATA)));
writeFileSync(out, changed(bytes, { [DATA]: () => data, [DATA_COUNT]: () => count }));
