// Which of the files is the model, and what it needs.
import { argumentOf, nameOf } from "./files.js";
import { jsonOf } from "./results.js";

const MOST_TRIES = 20;

// Files that were asked for, are not there, and are named by the message of a run that failed.
export function missingFiles({ code, missing, stderr }, set) {
  if (code === 0) return [];
  return missing.filter((path) => path.startsWith(`${set.root}/`) && stderr.includes(nameOf(path)));
}

// { path, info, result }: the first of the files that the program takes for a model, or the first one with what is wrong
// about it. `path`: this one and no other.
export async function identify(run, set, path, flags) {
  const paths = path ? [path] : set.candidates().likely.slice(0, MOST_TRIES);
  let first = null;
  for (const candidate of paths) {
    const result = await run(["info", argumentOf(candidate), "--json", ...flags], set.entries);
    const info = result.code === 0 ? jsonOf(result.stdout) : null;
    const found = { path: candidate, info, result };
    if (info || missingFiles(result, set).length) return found;
    first ??= found;
  }
  return first;
}
