// Makes one HTML file of the page's sources, and C++ code with its parts before and after the data
// of a model.
//
//   node build.mjs FOLDER OUT.cc    FOLDER: where tools/npm_install.sh put what it needs
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { bundler, filled, hash } from "./bundle.mjs";

const [folder, out] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const bundled = bundler(folder);
const legal = path.resolve(folder, "node_modules/@dagrejs/dagre/dist/dagre.esm.js.LEGAL.txt");

const style = bundled(path.join(here, "style.css"));
const script = bundled(path.join(here, "main.js"), { banner: { js: readFileSync(legal, "utf8").trim() } });
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const parts = { POLICY: policy, STYLE: style, SCRIPT: script };
const page = filled(readFileSync(path.join(here, "index.html"), "utf8"), parts).split(
  /(?<=type="application\/json">)DATA/,
);
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
