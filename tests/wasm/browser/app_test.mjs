// The app in a real browser: what it shows, converts, refuses and asks for.
//
//   node app_test.mjs --x2ir PROGRAM --module MODULE.wasm --packages FOLDER --driver FOLDER --work FOLDER --shared FOLDER
//
// PACKAGES: where esbuild is installed; --driver: where playwright-core is. Exits with 77 where there is no module, no
// browser or no driver. --browser: chromium, or firefox. With X2IR_APP_SCREENSHOTS=FOLDER the pictures of docs/app.md are written there. --only TEXT:
// tests whose names have it.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { launch, notRun } from "../../view/browser/browser.mjs";
import { MARKUP, hostile, small } from "../../view/browser/graphs.mjs";
import { sharedFolder } from "../../oracle/shared.mjs";
import { serve } from "../../../wasm/app/serve.mjs";
import { pixels, slow, unsupported } from "./models.mjs";
import { controlsHaveNames, drop, give, idle, openApp, openModel, saved, view } from "./page.mjs";

const NAMES = ["x2ir", "module", "packages", "driver", "work", "shared", "only", "browser"];
const { values: flags } = parseArgs({ options: Object.fromEntries(NAMES.map((name) => [name, { type: "string" }])) });
flags.browser ??= "chromium";
for (const name of NAMES.slice(0, -2)) flags[name] = path.resolve(flags[name]);
const root = fileURLToPath(new URL("../../..", import.meta.url));

if (!existsSync(flags.module)) notRun(`there is no module ${flags.module} (./dev wasm)`, "THE APP");
if (!existsSync(path.join(flags.packages, "node_modules"))) notRun("esbuild is not installed", "THE APP");
rmSync(flags.work, { recursive: true, force: true });
mkdirSync(flags.work, { recursive: true });
const folder = path.join(flags.work, "app");
execFileSync(process.execPath, [path.join(root, "wasm/app/build.mjs"), flags.module, flags.packages, folder]);

const browser = await launch(flags.driver, "THE APP", flags.browser);
const server = await serve(folder);
const address = `http://127.0.0.1:${server.address().port}/`;
const tests = [];
const test = (name, body) => tests.push({ name, body });

// `body`(page, opened) on an open page; afterwards nothing may have gone wrong on it.
async function on(options, body) {
  const opened = await openApp(browser, options.address ?? address, options);
  try {
    await body(opened.page, opened);
    assert.deepEqual(opened.problems, []);
  } finally {
    await opened.close();
  }
}

const IN_DOCS = new Set(["model", "unsupported"]);

async function picture(page, name) {
  if (flags.browser === "firefox") return; // taking one adds a style to the page, which its policy refuses
  const file = path.join(flags.work, `${name}.png`);
  await page.screenshot({ path: file });
  const docs = process.env.X2IR_APP_SCREENSHOTS;
  if (docs && IN_DOCS.has(name)) copyFileSync(file, path.join(docs, `${name}.png`));
}

const button = (page, name) => page.getByRole("button", { name, exact: true });
const tab = (page, name) => page.getByRole("tab", { name, exact: true }).click();
const heading = (page, name) => page.getByRole("heading", { name, exact: true }).waitFor({ timeout: 60_000 });
const message = (page) => page.getByRole("alert").locator("pre");

const SMALL = { name: "small.json", text: small() };
const DEMO = path.join(root, "tests/data/demo/model.onnx");

// What the program itself writes for a file: { name: bytes }.
function program(file, to, name) {
  const out = path.join(flags.work, `program-${to}`);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  execFileSync(flags.x2ir, ["convert", "-q", file, "-o", path.join(out, name), "--to", to]);
  return Object.fromEntries(readdirSync(out).map((entry) => [entry, readFileSync(path.join(out, entry))]));
}

// Converts in the page, and compares what it lets the browser save with what the program writes.
async function convertAndCompare(page, file, to) {
  await tab(page, "Convert");
  await page.getByLabel("Target format").selectOption(to);
  const name = await page.getByLabel("File name").inputValue();
  const began = performance.now();
  await button(page, "Convert").click();
  await heading(page, "Converted");
  const milliseconds = Math.round(performance.now() - began);
  const expected = program(file, to, name);
  for (const [entry, bytes] of Object.entries(expected)) {
    const got = await saved(page, () => button(page, `Download ${entry}`).click());
    assert.equal(got.name, entry);
    assert.ok(got.bytes.equals(bytes), `${to}: ${entry} differs from what the program writes`);
  }
  return { expected, milliseconds };
}

// --- Looking ------------------------------------------------------------------------------------

test("a model is opened and shown at once", async () => {
  await on({}, async (page, { requests }) => {
    const painted = await page.evaluate(() => ({
      first: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
      ready: Number(document.documentElement.dataset.ready),
    }));
    console.log(`    first paint ${Math.round(painted.first)} ms, module ready ${painted.ready} ms`);
    assert.ok(painted.first < 1000, `first paint after ${painted.first} ms`);
    await picture(page, "start");
    const frame = await openModel(page, [DEMO]);
    await frame.getByRole("heading", { name: /model\.onnx/ }).first().waitFor();
    assert.equal(await page.title(), "model.onnx - x2ir");
    await page.getByRole("table", { name: "Inputs" }).waitFor();
    await picture(page, "model");
    assert.ok(requests.some((url) => url.includes("x2ir.wasm")));
  });
});

test("files and folders that are dropped", async () => {
  await on({}, async (page) => {
    await drop(page, [SMALL]);
    await idle(page);
    const frame = await view(page);
    await frame.getByRole("button", { name: /^conv/ }).first().waitFor();
    // Another one takes its place.
    await drop(page, [{ name: "other.onnxtxt", text: pixels() }]);
    await page.waitForFunction(() => document.title.startsWith("other.onnxtxt"));
  });
});

test("a broken file is refused with the program's message", async () => {
  const broken = { name: "broken.onnx", bytes: Buffer.from([1, 2, 3, 255, 255, 255, 255]) };
  writeFileSync(path.join(flags.work, broken.name), broken.bytes);
  const native = spawnSync(flags.x2ir, ["info", broken.name], { cwd: flags.work, encoding: "utf8" });
  assert.equal(native.status, 3);
  await on({}, async (page) => {
    await give(page, button(page, "Open files"), [broken]);
    await idle(page);
    assert.equal(`error: ${await message(page).textContent()}\n`, native.stderr);
    await button(page, "Close this message").click();
    assert.equal(await message(page).count(), 0);
  });
});

test("weights beside the model are asked for by name", async () => {
  execFileSync(flags.x2ir, ["convert", "-q", DEMO, "-o", "apart.onnx", "--external-data=always"], { cwd: flags.work });
  const weights = readdirSync(flags.work).find((name) => name.startsWith("apart.onnx") && name !== "apart.onnx");
  await on({}, async (page) => {
    await give(page, button(page, "Open files"), [path.join(flags.work, "apart.onnx")]);
    await idle(page);
    assert.match(await message(page).textContent(), /needs a file that was not given/);
    // Browsers give copies other names.
    const bytes = readFileSync(path.join(flags.work, weights));
    await give(page, button(page, `Choose ${weights}`), [{ name: "copy (1)", bytes }]);
    await idle(page);
    await view(page);
    assert.equal(await message(page).count(), 0);
  });
});

test("a folder is a model, or has one in it; a result of several files is a zip file", async () => {
  const at = (name) => path.join(flags.work, name);
  mkdirSync(at("pair"));
  execFileSync(flags.x2ir, ["convert", "-q", DEMO, "-o", at("pair/net.onnx"), "--external-data=always"]);
  execFileSync(flags.x2ir, ["convert", "-q", DEMO, "-o", at("net.mlpackage")]);
  await on({}, async (page) => {
    for (const [name, model, format] of [
      ["pair", "pair/net.onnx", "onnx"],
      ["net.mlpackage", "net.mlpackage", "coreml"],
    ]) {
      const [chooser] = await Promise.all([
        page.waitForEvent("filechooser"),
        button(page, "Open a folder").click(),
      ]);
      await chooser.setFiles(at(name));
      await page.waitForFunction((title) => document.title === title, `${model} - x2ir`);
      await idle(page);
      await view(page);
      assert.equal(await page.locator("dt:text-is('Format') + dd").textContent(), format);
    }
    await tab(page, "Convert");
    await page.getByLabel("Target format").selectOption("coreml");
    await button(page, "Convert").click();
    await heading(page, "Converted");
    const zip = await saved(page, () => button(page, "Download all as a zip file").click());
    writeFileSync(at(zip.name), zip.bytes);
    execFileSync("python3", ["-m", "zipfile", "-e", at(zip.name), at("again")]);
    execFileSync(flags.x2ir, ["convert", "-q", "net.mlpackage", "-o", "expected.mlpackage"], { cwd: flags.work });
    assert.equal(spawnSync("diff", ["-r", at("again/net.mlpackage"), at("expected.mlpackage")]).status, 0);
  });
});

// --- Converting ---------------------------------------------------------------------------------

const TARGETS = ["tflite", "ir", "stablehlo"];

test("conversions to three targets are the program's, byte for byte", async () => {
  await on({}, async (page) => {
    await openModel(page, [DEMO]);
    for (const to of TARGETS) {
      const { expected } = await convertAndCompare(page, DEMO, to);
      const names = Object.keys(expected);
      if (names.length < 2) continue;
      const zip = await saved(page, () => button(page, "Download all as a zip file").click());
      const file = path.join(flags.work, zip.name);
      writeFileSync(file, zip.bytes);
      const out = path.join(flags.work, "unzipped");
      execFileSync("python3", ["-m", "zipfile", "-t", file]);
      execFileSync("python3", ["-m", "zipfile", "-e", file, out]);
      for (const name of names) assert.ok(readFileSync(path.join(out, name)).equals(expected[name]), name);
    }
    await picture(page, "convert");
    await button(page, "Show it beside the source").click();
    await idle(page);
    const frame = await view(page);
    await frame.getByLabel("Model 2").waitFor();
  });
});

test("options are those of the program", async () => {
  await on({}, async (page) => {
    await openModel(page, [DEMO]);
    await tab(page, "Convert");
    const formats = JSON.parse(execFileSync(flags.x2ir, ["formats", "--json"], { encoding: "utf8" }));
    for (const { name, writes, write_options: own } of formats) {
      if (!writes) continue;
      await page.getByLabel("Target format").selectOption(name);
      for (const { flag } of own) {
        assert.equal(await page.getByLabel(flag.slice(2), { exact: true }).count(), 1, `${name}: ${flag}`);
      }
    }
    await page.getByLabel("Target format").selectOption("onnx");
    await page.getByLabel("opset", { exact: true }).fill("12");
    await page.getByLabel("float16", { exact: true }).check();
    await button(page, "Convert").click();
    await heading(page, "Converted");
    const got = await saved(page, () => button(page, "Download model.onnx").click());
    const out = path.join(flags.work, "half.onnx");
    execFileSync(flags.x2ir, ["convert", "-q", DEMO, "-o", out, "--opset=12", "--float16"]);
    assert.ok(got.bytes.equals(readFileSync(out)));
    // What the program refuses is said.
    await page.getByLabel("opset", { exact: true }).fill("1000");
    await button(page, "Convert").click();
    await heading(page, "Not converted");
    assert.match(await page.getByRole("region", { name: "What the program says" }).textContent(), /opset/);
  });
});

test("shapes and axes that vary are fields of each input", async () => {
  await on({}, async (page) => {
    await openModel(page, [{ name: "pixels.onnxtxt", text: pixels() }]);
    await page.getByLabel("Axes that vary of x").fill("0=batch");
    await button(page, "Read again with these").click();
    await idle(page);
    const frame = await view(page);
    await frame.getByText("batch", { exact: false }).first().waitFor();
    await tab(page, "Convert");
    await page.getByLabel("Target format").selectOption("onnxtxt");
    await button(page, "Convert").click();
    await heading(page, "Converted");
    const { bytes } = await saved(page, () => button(page, "Download pixels.onnxtxt").click());
    assert.match(bytes.toString(), /float\[batch, ?3, ?2, ?2\] x/);
  });
});

test("the table of operators that cannot be converted leads to the node", async () => {
  await on({}, async (page) => {
    const frame = await openModel(page, [{ name: "odd.onnxtxt", text: unsupported() }]);
    const rows = page.getByRole("table", { name: "Operators that cannot be converted" });
    await rows.getByText("onnx.com.acme::Frobnicate").first().waitFor();
    await rows.getByRole("button", { name: "the_unknown_one" }).click();
    await frame.locator(".box.selected").waitFor();
    assert.match(await frame.locator(".box.selected").getAttribute("aria-label"), /Frobnicate/);
    await tab(page, "Convert");
    await button(page, "Convert").click();
    await heading(page, "Not converted");
    await frame.locator("svg.graph").focus();
    await page.keyboard.press("Escape");
    await rows.last().getByRole("button", { name: "the_unknown_one" }).click();
    await frame.locator(".box.selected").waitFor();
    await picture(page, "unsupported");
  });
});

// --- Comparing and running ----------------------------------------------------------------------

test("two models are compared and verified", async () => {
  await on({}, async (page) => {
    await openModel(page, [SMALL]);
    await tab(page, "Compare");
    await button(page, "Verify outputs").click();
    assert.match(await message(page).textContent(), /There is no other model/);
    await button(page, "Close this message").click();
    const other = { name: "other.json", text: small({ slope: 0.5 }) };
    await give(page, button(page, "Open the other model"), [other]);
    await page.getByText("The other model is other.json").waitFor();
    await button(page, "Verify outputs").click();
    await heading(page, "Outputs differ");
    await button(page, "List differences").click();
    await heading(page, "Differences");
    assert.match(await page.getByRole("region", { name: "Differences" }).textContent(), /leaky_relu/);
    await button(page, "Compare values").click();
    await heading(page, "Outputs differ");
    await button(page, "Show both with errors").click();
    await idle(page);
    const frame = await view(page);
    await frame.getByRole("button", { name: "First difference" }).waitFor();
    await picture(page, "compare");
  });
});

test("a conversion is verified against its source", async () => {
  await on({}, async (page) => {
    await openModel(page, [DEMO]);
    await tab(page, "Convert");
    await page.getByLabel("Target format").selectOption("tflite");
    await button(page, "Convert").click();
    await heading(page, "Converted");
    await tab(page, "Compare");
    await button(page, "Verify outputs").click();
    await heading(page, "All outputs agree");
  });
});

// The numbers in the row of the only output: least, mean, largest, elements.
async function outputRow(page) {
  await heading(page, "Outputs");
  const row = page.getByRole("table", { name: "Outputs" }).locator("tbody tr").first();
  return row.locator("td").allTextContents();
}

test("inputs are typed, files, or images", async () => {
  await on({}, async (page) => {
    await openModel(page, [{ name: "pixels.onnxtxt", text: pixels() }]);
    await tab(page, "Run");
    await page.getByLabel("Elements").fill("1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12");
    await button(page, "Run").click();
    assert.equal((await outputRow(page))[5], "3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25");
    await page.getByLabel("Elements").fill("1, 2");
    await button(page, "Run").click();
    await idle(page);
    assert.match(await message(page).textContent(), /2 numbers are given; the shape \[1,3,2,2\] has 12 elements/);
    await button(page, "Close this message").click();
    // Red, green, blue, white, as a picture of 2 x 2 pixels that the browser itself makes.
    const png = await page.evaluate(async () => {
      const canvas = new OffscreenCanvas(2, 2);
      const context = canvas.getContext("2d");
      ["#f00", "#0f0", "#00f", "#fff"].forEach((color, i) => {
        context.fillStyle = color;
        context.fillRect(i % 2, i >> 1, 1, 1);
      });
      return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())];
    });
    await give(page, button(page, "Choose an .npy file or an image"), [{ name: "four.png", bytes: Buffer.from(png) }]);
    await page.getByLabel("Pixels of an image become").selectOption("0 to 1");
    await button(page, "Run").click();
    assert.equal((await outputRow(page))[5], "3, 1, 1, 3, 1, 3, 1, 3, 1, 1, 3, 3");
    // What a run writes is an input of the next one.
    const io = await saved(page, () => button(page, "Download outputs.safetensors").click());
    await button(page, "Remove").click();
    await page.getByLabel("Elements").fill("");
    await give(page, button(page, "Choose a .safetensors file of inputs"), [{ name: "io.safetensors", bytes: io.bytes }]);
    await button(page, "Run").click();
    assert.equal((await outputRow(page))[5], "3, 1, 1, 3, 1, 3, 1, 3, 1, 1, 3, 3");
    await picture(page, "run");
  });
});

test("a long task shows its progress and is cancelled", async () => {
  await on({}, async (page) => {
    await openModel(page, [{ name: "slow.onnxtxt", text: slow() }]);
    await tab(page, "Run");
    await button(page, "Run").click();
    await page.getByText(/^Running the model.*, [1-9]\d* s$/).waitFor();
    await page.getByRole("progressbar", { name: "Progress" }).waitFor();
    await picture(page, "progress");
    await button(page, "Cancel").click();
    await idle(page);
    assert.equal(await page.getByText("Cancelled: Running the model").count(), 1);
    // Another one is cancelled by a model that takes its place.
    await button(page, "Run").click();
    await page.getByRole("progressbar", { name: "Progress" }).waitFor();
    await openModel(page, [SMALL]);
    assert.equal(await page.title(), "small.json - x2ir");
    await tab(page, "Run");
    await button(page, "Run").click();
    await heading(page, "Outputs");
  });
});

// --- What is promised ---------------------------------------------------------------------------

test("no request leaves the page, also where a script asks for one", async () => {
  let reached = 0;
  const stranger = http.createServer((request, response) => response.end(String(++reached)));
  await new Promise((done) => stranger.listen(0, "127.0.0.1", done));
  const outside = `http://127.0.0.1:${stranger.address().port}/secret`;
  // The test itself can be asked for what it must not be asked for.
  await fetch(outside);
  assert.equal(reached, 1);
  for (const [name, base] of [
    ["folder", address],
    ["file", pathToFileURL(path.join(folder, "x2ir.html")).href],
  ]) {
    const opened = await openApp(browser, base);
    try {
      const { page } = opened;
      await openModel(page, [SMALL]);
      const ask = async (url) => {
        const outcomes = {};
        const outcome = (promise) => promise.then(() => "sent", () => "refused");
        const event = (target, good) =>
          new Promise((done, failed) => {
            target["on" + good] = done;
            target.onerror = failed;
          });
        outcomes.fetch = await outcome(fetch(url, { mode: "no-cors" }));
        const image = new Image();
        image.src = url;
        outcomes.image = await outcome(event(image, "load"));
        const socket = async () => event(new WebSocket(url.replace("http", "ws")), "open");
        outcomes.socket = await outcome(socket());
        navigator.sendBeacon?.(url, "x"); // does not say what becomes of it
        const script = document.createElement("script");
        script.src = url;
        document.head.append(script);
        outcomes.script = await outcome(event(script, "load"));
        return outcomes;
      };
      for (const frame of page.frames()) {
        const outcomes = await frame.evaluate(ask, outside);
        for (const [way, outcome] of Object.entries(outcomes)) assert.equal(outcome, "refused", `${name}: ${way}`);
      }
      // A worker that is made as the page's own ones are made has the page's policy.
      const inWorker = await page.evaluate((url) => {
        const source = `fetch(${JSON.stringify(url)}, {mode: "no-cors"}).then(() => postMessage("sent"), () => postMessage("refused"))`;
        const worker = new Worker(URL.createObjectURL(new Blob([source])));
        return new Promise((done) => (worker.onmessage = ({ data }) => done(data)));
      }, outside);
      assert.equal(inWorker, "refused");
      assert.equal(reached, 1, name);
      // Each refusal is an error in the console, and there is no other problem.
      const problems = opened.problems.filter((problem) => !problem.startsWith("asks for http://127.0.0.1"));
      for (const problem of problems) assert.match(problem, /Content.Security.Policy/, name);
      if (flags.browser !== "firefox") assert.ok(problems.length >= 4, name); // it tells of some of them only
      // The frame of the view reaches nothing of the page around it.
      const frame = page.frames().find((other) => other !== page.mainFrame());
      const title = await frame.evaluate(() => {
        try {
          return String(parent.document.title);
        } catch (error) {
          return error.name;
        }
      });
      assert.equal(title, "SecurityError");
      // It goes nowhere, and opens nothing.
      await frame.evaluate((url) => {
        window.open(url);
        location.href = url;
      }, outside);
      await page.waitForTimeout(500);
      assert.equal(reached, 1, name);
    } finally {
      await opened.close();
    }
  }
  stranger.close();
});

test("names of files and nodes are never markup", async () => {
  const names = MARKUP.filter((name) => !/[/\0]/.test(name)); // no file is called so
  await on({}, async (page) => {
    for (const name of names) {
      await openModel(page, [{ name: `${name}.json`, text: hostile() }]);
      // Characters that turn text around are shown by their numbers.
      const shown = name.replace(/[\u202a-\u202e\u2066-\u2069]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
      assert.equal(await page.title(), `${shown}.json - x2ir`);
      await tab(page, "Convert");
      await page.getByLabel("Target format").selectOption("tflite");
      await button(page, "Convert").click();
      await heading(page, "Not converted");
      await page.getByRole("button", { name: "Open files" }).focus();
      assert.equal(await page.locator("img, svg, body b, body script[src]").count(), 0);
      await tab(page, "Compare");
      await give(page, button(page, "Open the other model"), [{ name: `${name}.json`, text: hostile() }]);
      await page.getByText("The other model is open.").waitFor();
      await tab(page, "Run");
      for (const frame of page.frames()) assert.equal(await frame.evaluate(() => window.hacked), undefined);
    }
  });
});

test("it works without a network once it was loaded", async () => {
  const own = await serve(folder);
  const base = `http://127.0.0.1:${own.address().port}/`;
  const first = await openApp(browser, base);
  try {
    await first.page.evaluate(() => navigator.serviceWorker.ready);
    await first.page.waitForFunction(() => navigator.serviceWorker.controller?.state === "activated");
    await first.page.close();
    own.closeAllConnections();
    await new Promise((done) => own.close(done));
    await first.context.setOffline(true);
    const again = await openApp(browser, base, { keep: first.context });
    await openModel(again.page, [DEMO]);
    await convertAndCompare(again.page, DEMO, "tflite");
    assert.deepEqual(again.problems, []);
  } finally {
    await first.close();
  }
});

test("one file does the same from a disk", async () => {
  const file = pathToFileURL(path.join(folder, "x2ir.html")).href;
  await on({ address: file }, async (page, { requests }) => {
    const first = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
    console.log(`    first paint ${Math.round(first)} ms, module ready ${await page.getAttribute("html", "data-ready")} ms`);
    assert.ok(first < 1000, `first paint after ${first} ms`);
    const frame = await openModel(page, [DEMO]);
    await frame.getByRole("button", { name: "Fit" }).waitFor();
    await convertAndCompare(page, DEMO, "tflite");
    // Firefox does not tell of the page itself.
    assert.deepEqual(requests.filter((url) => url !== file && !/^(blob|data):/.test(url)), []);
  });
});

test("the keyboard does everything", async () => {
  await on({}, async (page) => {
    const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "Open files");
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.keyboard.press("Enter")]);
    await chooser.setFiles([DEMO]);
    await idle(page);
    await view(page);
    for (let i = 0; i < 10 && (await focused()) !== "Model"; ++i) await page.keyboard.press("Tab");
    assert.equal(await focused(), "Model");
    await page.keyboard.press("ArrowRight");
    assert.equal(await focused(), "Convert");
    await page.keyboard.press("Tab"); // the target
    await page.keyboard.type("tflite");
    assert.equal(await page.getByLabel("Target format").inputValue(), "tflite");
    for (let i = 0; i < 60 && (await focused()) !== "Convert"; ++i) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await heading(page, "Converted");
    assert.equal(await focused(), "Converted"); // the result has the focus
    for (let i = 0; i < 10 && !(await focused()).startsWith("Download"); ++i) await page.keyboard.press("Tab");
    assert.equal((await saved(page, () => page.keyboard.press("Enter"))).name, "model.tflite");
    // And back into the view.
    for (let i = 0; i < 60; ++i) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(() => document.activeElement.tagName === "IFRAME")) return;
    }
    assert.fail("the view is not reached");
  });
});

test("every control has a name", async () => {
  await on({}, async (page) => {
    await controlsHaveNames(page.locator("body"));
    await openModel(page, [{ name: "odd.onnxtxt", text: unsupported() }]);
    for (const name of ["Model", "Convert", "Compare", "Run"]) {
      await tab(page, name);
      for (const summary of await page.locator("summary:visible").all()) await summary.click();
      await controlsHaveNames(page.locator("body"));
    }
  });
});

test("a phone's width", async () => {
  await on({ width: 360, height: 740 }, async (page) => {
    const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    assert.ok(await fits());
    await openModel(page, [{ name: `${"a_long_name_".repeat(8)}.json`, text: small() }]);
    for (const name of ["Model", "Convert", "Compare", "Run"]) {
      await tab(page, name);
      for (const summary of await page.locator("summary:visible").all()) await summary.click();
      assert.ok(await fits(), name);
    }
    await page.locator("iframe").scrollIntoViewIfNeeded();
    await picture(page, "phone");
  });
});

test("dark and light", async () => {
  if (flags.browser === "firefox") return console.log("    left out: its driver does not set the colors of the system");
  for (const dark of [false, true]) {
    await on({ dark }, async (page) => {
      const frame = await openModel(page, [SMALL]);
      const back = (where) => where.evaluate((body) => getComputedStyle(body).backgroundColor);
      const expected = dark ? "rgb(20, 23, 27)" : "rgb(246, 247, 249)";
      assert.equal(await back(page.locator("body")), expected);
      assert.equal(await back(frame.locator("body")), expected);
      if (dark) await picture(page, "dark");
    });
  }
});

test("mobilenet_v2 is converted to three targets, as the program does it", async () => {
  const folderOf = sharedFolder(`app_${flags.browser}`, flags.shared, "models/mobilenet_v2");
  if (!folderOf) return console.log("    left out: ../shared is not there");
  const file = path.join(folderOf, "model.17.onnx");
  await on({}, async (page) => {
    await openModel(page, [file]);
    for (const to of TARGETS) {
      const began = performance.now();
      program(file, to, `time.${to}`);
      const native = Math.round(performance.now() - began);
      const { milliseconds } = await convertAndCompare(page, file, to);
      console.log(`    to ${to}: ${milliseconds} ms in the page, ${native} ms in the program`);
    }
  });
});

// ------------------------------------------------------------------------------------------------

let failed = 0;
for (const { name, body } of tests) {
  if (flags.only && !name.includes(flags.only)) continue;
  const began = performance.now();
  try {
    await body();
    console.log(`ok ${name} (${Math.round(performance.now() - began)} ms)`);
  } catch (error) {
    ++failed;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}
for (const name of readdirSync(folder)) console.log(`${name}: ${statSync(path.join(folder, name)).size} bytes`);
await browser.close();
server.closeAllConnections();
server.close();
process.exit(failed ? 1 : 0);
