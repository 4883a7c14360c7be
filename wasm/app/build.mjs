// Makes the app: a folder to be served (index.html, sw.js, x2ir.wasm), and x2ir.html, the same in one file for a disk.
//
//   node build.mjs MODULE.wasm PACKAGES OUT    PACKAGES: where tools/npm_install.sh put esbuild
//
// What the page has to know of the program it asks the module itself: tables of formats and options, and the
// hashes of the page that `x2ir view` writes, which runs below this page's policy.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { bundler, filled, hash } from "../../x2ir/view/page/bundle.mjs";
import { X2ir } from "../js/x2ir.mjs";

const [wasm, packages, out] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const bytes = readFileSync(wasm);
const x2ir = await X2ir.load(bytes);

function printed(args, files = {}) {
  const { code, stdout, stderr } = x2ir.run(args, { files });
  if (code !== 0) throw new Error(`x2ir ${args.join(" ")}: ${stderr}`);
  return stdout;
}

// The hashes that the policy of x2ir view's page allows, of any model.
function viewHashes() {
  const model = '<ir_version: 8, opset_import: ["" : 17]> g (float[1] x) => (float[1] y) { y = Relu(x) }';
  const page = printed(["view", "m.onnxtxt", "-o", "-"], { "m.onnxtxt": model });
  const [, script, style] = /script-src ('sha256-[^']+'); style-src ('sha256-[^']+')/.exec(page) ?? [];
  if (!style) throw new Error("the page of x2ir view has no policy that is understood");
  return { script, style };
}

const tables = { formats: JSON.parse(printed(["formats", "--json"])), options: JSON.parse(printed(["formats", "--options"])) };
const view = viewHashes();
const bundled = bundler(packages);
const style = bundled(path.join(here, "style.css"));
const sum = (...parts) => parts.reduce((all, part) => all.update(part), createHash("sha256")).digest("hex").slice(0, 16);
const script = bundled(path.join(here, "main.js"), { define: { VERSION: JSON.stringify(sum(bytes)) } });
const worker = bundled(path.join(here, "worker.js"));

// `self` is what the page may ask for: its own files in a folder, nothing in one file.
function page(module, self) {
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)} ${view.script} 'wasm-unsafe-eval'`,
    `style-src ${hash(style)} ${view.style}`,
    `worker-src blob: ${self}`,
    "frame-src blob:",
    "img-src data:",
    `connect-src ${self || "'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return filled(readFileSync(path.join(here, "index.html"), "utf8"), {
    POLICY: policy.join("; ").replace("blob: ;", "blob:;"),
    STYLE: style,
    SCRIPT: script,
    WORKER: worker,
    TABLES: JSON.stringify(tables).replaceAll("<", "\\u003c"),
    MODULE: module,
  });
}

mkdirSync(out, { recursive: true });
const index = page("", "'self'");
const zipped = gzipSync(bytes, { level: 9 });
const files = {
  "index.html": index,
  "sw.js": bundled(path.join(here, "sw.js"), {
    define: { MODULE: JSON.stringify(sum(bytes)), VERSION: JSON.stringify(sum(index, bytes)) },
  }),
  "x2ir.wasm": bytes,
  "x2ir.html": page(zipped.toString("base64"), ""),
};
for (const [name, content] of Object.entries(files)) {
  writeFileSync(path.join(out, name), content);
  console.log(`${path.join(out, name)}: ${Buffer.byteLength(content)} bytes`);
}
