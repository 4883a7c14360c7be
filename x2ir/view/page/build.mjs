// Makes one HTML file of the page's sources, and C++ code with its parts before and after the data
// of a model.
//
//   node build.mjs FOLDER OUT.cc    FOLDER: where tools/npm_install.sh put what it needs
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const [folder, out] = process.argv.slice(2);
const modules = path.resolve(folder, "node_modules");
const here = path.dirname(fileURLToPath(import.meta.url));
const esbuild = createRequire(path.join(modules, "."))("esbuild");

const license = readFileSync(path.join(modules, "@dagrejs/dagre/dist/dagre.esm.js.LEGAL.txt"), "utf8").trim();

function bundled(file, banner) {
  const built = esbuild.buildSync({
    entryPoints: [path.join(here, file)],
    absWorkingDir: here,
    nodePaths: [modules],
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    banner,
    write: false,
    logLevel: "warning",
  });
  // Control characters are in literals; as escapes they go through a terminal.
  const escape = (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
  const text = built.outputFiles[0].text.trim().replace(/[^\P{Cc}\n]/gu, escape);
  // It is inside of an element of the same name.
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${file} has markup in it`);
  return text;
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const style = bundled("style.css");
const script = bundled("main.js", { js: license });
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const parts = { POLICY: policy, STYLE: style, SCRIPT: script };
const page = readFileSync(path.join(here, "index.html"), "utf8")
  .replace(/\b(POLICY|STYLE|SCRIPT)\b/g, (word) => parts[word])
  .split(/(?<=type="application\/json">)DATA/);
if (page.length !== 2) throw new Error("the page has no one place for data");

// Compilers have limits for one literal.
function literal(text) {
  const pieces = text.match(/[^]{1,8000}/gu) ?? [""];
  if (text.includes(')x2ir"')) throw new Error("the page has the end of a literal in it");
  return pieces.map((piece) => `    R"x2ir(${piece})x2ir"`).join("\n");
}

writeFileSync(
  out,
  `// Made by x2ir/view/page/build.mjs.
#include "x2ir/view/page_internal.h"

namespace x2ir {

const std::string_view kPageBeforeData =
${literal(page[0])};
const std::string_view kPageBehindData =
${literal(page[1])};

}  // namespace x2ir
`,
);
