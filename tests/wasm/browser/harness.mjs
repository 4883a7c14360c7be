// What all tests of the app share: the app as it is built, a server, a browser, and the words of the tests.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { launch, notRun } from "../../view/browser/browser.mjs";
import { small } from "../../view/browser/graphs.mjs";
import { serve } from "../../../wasm/app/serve.mjs";
import { openApp, saved } from "./page.mjs";

const NAMES = ["x2ir", "module", "packages", "driver", "work", "shared", "only", "browser"];
const options = Object.fromEntries(NAMES.map((name) => [name, { type: "string" }]));
export const { values: flags } = parseArgs({ options });
flags.browser ??= "chromium";
for (const name of NAMES.slice(0, -2)) flags[name] = path.resolve(flags[name]);
export const root = fileURLToPath(new URL("../../..", import.meta.url));

if (!existsSync(flags.module)) notRun(`there is no module ${flags.module} (./dev wasm)`, "THE APP");
if (!existsSync(path.join(flags.packages, "node_modules"))) notRun("esbuild is not installed", "THE APP");
rmSync(flags.work, { recursive: true, force: true });
mkdirSync(flags.work, { recursive: true });
export const folder = path.join(flags.work, "app");
execFileSync(process.execPath, [path.join(root, "wasm/app/build.mjs"), flags.module, flags.packages, folder]);

export const browser = await launch(flags.driver, "THE APP", flags.browser);
export const server = await serve(folder);
export const address = `http://127.0.0.1:${server.address().port}/`;
export const tests = [];
export const test = (name, body) => tests.push({ name, body });

// `body`(page, opened) on an open page; afterwards nothing may have gone wrong on it.
export async function on(options, body) {
  const opened = await openApp(browser, options.address ?? address, options);
  try {
    await body(opened.page, opened);
    assert.deepEqual(opened.problems, []);
  } finally {
    await opened.close();
  }
}

const IN_DOCS = new Set(["model", "unsupported"]);

export async function picture(page, name) {
  if (flags.browser === "firefox") return; // taking one adds a style to the page, which its policy refuses
  const file = path.join(flags.work, `${name}.png`);
  await page.screenshot({ path: file });
  const docs = process.env.X2IR_APP_SCREENSHOTS;
  if (docs && IN_DOCS.has(name)) copyFileSync(file, path.join(docs, `${name}.png`));
}

export const button = (page, name) => page.getByRole("button", { name, exact: true });
export const tab = (page, name) => page.getByRole("tab", { name, exact: true }).click();
export const heading = (page, name) => page.getByRole("heading", { name, exact: true }).waitFor({ timeout: 60_000 });
export const message = (page) => page.getByRole("alert").locator("pre");

export const SMALL = { name: "small.json", text: small() };
export const DEMO = path.join(root, "tests/data/demo/model.onnx");

// What the program itself writes for a file: { name: bytes }.
export function program(file, to, name) {
  const out = path.join(flags.work, `program-${to}`);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  execFileSync(flags.x2ir, ["convert", "-q", file, "-o", path.join(out, name), "--to", to]);
  return Object.fromEntries(readdirSync(out).map((entry) => [entry, readFileSync(path.join(out, entry))]));
}

// In the page: `conversionTime` is that of the next conversion in ms, from the click to the frame in which its result is. What
// drives the browser takes its own time to click and to look.
function timeConversion() {
  const headings = () => [...document.querySelectorAll("h1, h2, h3")].filter((each) => each.textContent === "Converted");
  const clicked = ({ timeStamp }) => {
    const before = new Set(headings());
    const observer = new MutationObserver(() => {
      if (headings().every((each) => before.has(each))) return;
      observer.disconnect();
      globalThis.conversionTime = new Promise((done) => {
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - timeStamp)));
      });
    });
    observer.observe(document.body, { childList: true, subtree: true });
  };
  addEventListener("click", clicked, { capture: true, once: true });
}

// Converts in the page, and compares what it lets the browser save with what the program writes.
export async function convertAndCompare(page, file, to) {
  await tab(page, "Convert");
  await page.getByLabel("Target format").selectOption(to);
  const name = await page.getByLabel("File name").inputValue();
  await page.evaluate(timeConversion);
  await button(page, "Convert").click();
  await heading(page, "Converted");
  const milliseconds = await page.evaluate(() => globalThis.conversionTime);
  const expected = program(file, to, name);
  for (const [entry, bytes] of Object.entries(expected)) {
    const got = await saved(page, () => button(page, `Download ${entry}`).click());
    assert.equal(got.name, entry);
    assert.ok(got.bytes.equals(bytes), `${to}: ${entry} differs from what the program writes`);
  }
  return { expected, milliseconds };
}

export const TARGETS = ["tflite", "ir", "stablehlo"];
