// The page of x2ir view in a real browser: what is shown, clicks, search, the keyboard, hostile names, times.
//
//   node view_test.mjs --x2ir PROGRAM --driver FOLDER --work FOLDER --shared FOLDER
//
// Exits with 77 where there is no browser, no driver, or no page in the build. Screenshots lie in WORK afterwards.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { controlsHaveNames, launch, notRun, openPage } from "./browser.mjs";
import { MARKUP, hostile, large, nested, small } from "./graphs.mjs";
import { NOT_SHARED, sharedFolder } from "../../oracle/shared.mjs";

const { values: flags } = parseArgs({
  options: Object.fromEntries(["x2ir", "driver", "work", "shared"].map((name) => [name, { type: "string" }])),
});
for (const name of ["x2ir", "driver", "work", "shared"]) flags[name] = path.resolve(flags[name]);
rmSync(flags.work, { recursive: true, force: true });
mkdirSync(flags.work, { recursive: true });

function run(...args) {
  return execFileSync(flags.x2ir, args, { cwd: flags.work, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
}

try {
  writeFileSync(path.join(flags.work, "small.json"), small());
  run("view", "small.json", "-o", "small.html");
} catch (error) {
  if (/without the page of view/.test(error.stderr)) notRun("the build has no page");
  throw error;
}

// A page of IR files that are written first, or of files that are there.
function make(out, files, ...more) {
  const paths = Object.entries(files).map(([name, text]) => {
    if (text === null) return name;
    writeFileSync(path.join(flags.work, name), text);
    return name;
  });
  run("view", "-q", ...paths, "-o", out, ...more);
  const file = path.join(flags.work, out);
  return { address: pathToFileURL(file).href, size: statSync(file).size };
}

const browser = await launch(flags.driver);
const tests = [];
const test = (name, body) => tests.push({ name, body });

// `body`(page, { milliseconds }) on an open page; afterwards nothing may have gone wrong on it.
async function on(address, options, body) {
  const opened = await openPage(browser, address, options);
  try {
    await body(opened.page, opened);
    assert.deepEqual(opened.problems, []);
  } finally {
    await opened.close();
  }
}

const shot = (page, name) => page.screenshot({ path: path.join(flags.work, `${name}.png`) });
const box = (page, name) => page.getByRole("button", { name, exact: false });
const details = (page) => page.getByLabel("Details");
const search = (page) => page.getByRole("combobox", { name: "Search by op, name or shape" });
const transform = (page) => page.locator("svg.graph > g").first().getAttribute("transform");
const frame = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

test("a click shows what a node is", async () => {
  const { address } = make("small.html", { "small.json": small() });
  await on(address, {}, async (page) => {
    await box(page, "conv, float32[1,4,8,8]").click();
    const panel = details(page);
    for (const text of [
      "Convolution and pooling",
      "channels_first",
      "strides",
      "[1, 1]",
      "Elements",
      "Zeros",
      "108",
      "6,912",
    ]) {
      await panel.getByText(text, { exact: false }).first().waitFor();
    }
    // The documentation of the op, the weight's histogram and a small constant's elements.
    assert.match(await panel.locator(".doc").textContent(), /\w+ \w+/);
    await panel.getByRole("img", { name: /^Histogram from -?\d/ }).waitFor();
    assert.equal(await panel.locator(".histogram rect").count(), 32);
    await panel.getByText("{0.5, -1, 2, 0}").waitFor();
    // Along a link to what uses it.
    await panel.getByRole("button", { name: /^relu/ }).click();
    await panel.getByRole("heading", { name: "relu" }).waitFor();
    await shot(page, "small");
    // Nothing is selected: the model.
    await page.keyboard.press("Escape");
    await panel.getByRole("heading", { name: "small.json" }).waitFor();
  });
});

test("weights are there only when asked for", async () => {
  const without = make("small.html", { "small.json": small() });
  const with_ = make("weights.html", { "small.json": small() }, "--weights");
  await on(without.address, {}, async (page) => {
    await box(page, "conv, float32[1,4,8,8]").click();
    assert.equal(await details(page).locator("details").count(), 0);
  });
  await on(with_.address, {}, async (page) => {
    await box(page, "conv, float32[1,4,8,8]").click();
    await details(page).locator("summary").click();
    const rows = details(page).locator("table.elements tr");
    await rows.nth(5).waitFor();
    assert.deepEqual(await rows.nth(5).allTextContents(), ["[0, 0, 1, 2]0.25"]);
    await details(page).getByRole("button", { name: "Next" }).click();
    assert.match(await rows.last().textContent(), /^\[3, 2, 2, 2\]/);
  });
});

test("groups open and close, by mouse and by keyboard", async () => {
  const { address } = make("layers.html", { "layers.json": large(2000, 8) });
  await on(address, {}, async (page) => {
    const repeat = page.locator(".box.repeat");
    assert.match(await repeat.getAttribute("aria-label"), /^encoder\.layers ×8, 2,000 nodes$/);
    // The page opens on nodes: the first layer stands open.
    assert.ok((await page.locator(".box.node").count()) >= 8);
    await page.getByRole("button", { name: "Collapse" }).click();
    await page.locator('.box.repeat[aria-expanded="false"]').waitFor();
    assert.equal(await repeat.getAttribute("aria-expanded"), "false");
    await repeat.dblclick();
    await page.locator('.box.repeat[aria-expanded="true"]').waitFor();
    assert.equal(await page.locator(".box.group").count(), 9);
    await shot(page, "layers");
    // The sign closes it again.
    await repeat.locator(".toggle").first().click();
    await page.locator('.box.repeat[aria-expanded="false"]').waitFor();
    // Arrows go along edges; Enter opens.
    await page.keyboard.press("Escape");
    await page.keyboard.press("ArrowDown");
    await page.locator(".box.input.selected").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.locator(".box.repeat.selected").waitFor();
    const active = await page.locator("svg.graph").getAttribute("aria-activedescendant");
    assert.equal(
      await page.locator(`[id="${active}"]`).getAttribute("aria-label"),
      await repeat.getAttribute("aria-label"),
    );
    await page.keyboard.press("Enter");
    await page.locator('.box.repeat[aria-expanded="true"]').waitFor();
    await page.keyboard.press("ArrowDown"); // into it
    await page.keyboard.press("ArrowDown");
    await page.locator(".box.group.closed.selected").waitFor();
    await page.keyboard.press("ArrowUp");
    await page.getByRole("button", { name: "Collapse" }).click();
    await page.locator('.box.repeat[aria-expanded="false"]').waitFor();
    await page.getByRole("button", { name: "Expand" }).click();
    await page.locator('.box.repeat[aria-expanded="true"]').waitFor();
  });
});

test("search by op, name and shape", async () => {
  const { address } = make("small.html", { "small.json": small() });
  await on(address, {}, async (page) => {
    const rows = [
      ["conv", 1],
      ["op:relu", 1],
      ["features", 4],
      ["1x4x8x8", 6],
      ["float32[1,4,8,8] relu", 1],
      ["channels_first conv", 1],
      ["nothing-like-that", 0],
    ];
    for (const [query, found] of rows) {
      await search(page).fill(query);
      assert.equal(await page.locator("#found").textContent(), `${found} found`, query);
      assert.equal(await page.getByRole("option").count(), found, query);
    }
    await search(page).fill("relu");
    await search(page).press("ArrowDown");
    await shot(page, "search");
    await search(page).press("Enter");
    await page.locator('.box.selected[aria-label^="relu"]').waitFor();
    await details(page).getByRole("heading", { name: "relu" }).waitFor();
  });
});

test("what is found is shown, however deep it lies", async () => {
  const { address } = make("layers.html", { "layers.json": large(2000, 8) });
  await on(address, {}, async (page) => {
    await search(page).fill("layers.5/mlp");
    await search(page).press("Enter");
    const selected = page.locator(".box.selected");
    await selected.waitFor();
    assert.match(await selected.getAttribute("aria-label"), /encoder\/layers\.5\/mlp/);
    assert.ok(await selected.isVisible());
    // The way to it stands in the panel.
    assert.match(await details(page).locator(".path").textContent(), /encoder\.layers › 5 › mlp/);
  });
});

test("upstream and downstream", async () => {
  const { address } = make("small.html", { "small.json": small() });
  await on(address, {}, async (page) => {
    const dim = () =>
      page
        .locator(".box.node.dim")
        .evaluateAll((all) => all.map((e) => e.getAttribute("aria-label").split(",")[0]));
    await box(page, "relu, float32[1,4,8,8]").click();
    await page.keyboard.press("u");
    await page.locator(".box.dim").first().waitFor();
    assert.deepEqual((await dim()).sort(), ["add", "softmax", "tanh"]);
    await shot(page, "upstream");
    await page.keyboard.press("d");
    await frame(page);
    assert.deepEqual((await dim()).sort(), ["conv", "tanh"]);
    await page.getByRole("button", { name: "Downstream" }).click();
    await frame(page);
    assert.deepEqual(await dim(), []);
  });
});

test("a page around it asks for a node by name", async () => {
  make("small.html", { "small.json": small() });
  const around = path.join(flags.work, "around.html");
  writeFileSync(around, '<!doctype html><iframe sandbox="allow-scripts" src="small.html"></iframe>');
  const page = await browser.newPage();
  await page.goto(pathToFileURL(around).href);
  const frame = page.frameLocator("iframe");
  await frame.locator("html[data-ready]").waitFor();
  const ask = (node) =>
    page.evaluate((node) => {
      const answer = new Promise((done) => addEventListener("message", ({ data }) => done(data), { once: true }));
      frames[0].postMessage({ node }, "*");
      return answer;
    }, node);
  assert.deepEqual(await ask("features/0/conv"), { shown: true });
  assert.match(await frame.locator(".box.selected").getAttribute("aria-label"), /^conv/);
  assert.deepEqual(await ask("no such node"), { shown: false });
  await page.close();
});

test("tables by op and of the biggest nodes", async () => {
  const { address } = make("small.html", { "small.json": small() });
  await on(address, {}, async (page) => {
    await page.getByRole("button", { name: "Table" }).click();
    const cells = async (caption, row) =>
      page.getByRole("table", { name: caption }).locator("tbody tr").nth(row).locator("td").allTextContents();
    // 4 x 3 x 3 x 3 weights and 4 of a bias; 27 multiply-adds for each of 4 x 8 x 8 results.
    assert.deepEqual(await cells("By op", 0), ["conv", "1", "112", "6.91 k", "448 B", "1.0 KiB"]);
    assert.deepEqual((await cells("The biggest nodes", 0)).slice(0, 3), ["features/0/conv", "conv", "112"]);
    await page.getByRole("table", { name: "By op" }).getByRole("button", { name: "Op" }).click();
    assert.equal((await cells("By op", 0))[0], "add");
    await shot(page, "tables");
    await page
      .getByRole("table", { name: "The biggest nodes" })
      .getByRole("button", { name: "features/0/conv" })
      .click();
    await page.locator('.box.selected[aria-label^="conv"]').waitFor();
  });
});

test("pan and zoom", async () => {
  const { address } = make("small.html", { "small.json": small() });
  await on(address, {}, async (page) => {
    const before = await transform(page);
    await page.mouse.move(500, 500);
    await page.mouse.wheel(0, -200);
    await frame(page);
    const zoomed = await transform(page);
    assert.notEqual(zoomed, before);
    await page.mouse.move(200, 300);
    await page.mouse.down();
    await page.mouse.move(260, 330, { steps: 4 });
    await page.mouse.up();
    await frame(page);
    const numbers = (text) => text.match(/-?[\d.]+/g).map(Number);
    const [x0, y0, k0] = numbers(zoomed);
    const [x1, y1, k1] = numbers(await transform(page));
    assert.deepEqual([Math.round(x1 - x0), Math.round(y1 - y0), k1], [60, 30, k0]);
    await page.getByRole("button", { name: "Fit" }).click();
    await frame(page);
    assert.ok(await box(page, "softmax").isVisible());
  });
});

test("dark and light", async () => {
  const { address } = make("small.html", { "small.json": small() });
  const back = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  for (const dark of [false, true]) {
    await on(address, { dark }, async (page) => {
      const first = await back(page);
      assert.equal(first, dark ? "rgb(20, 23, 27)" : "rgb(246, 247, 249)");
      await page.getByRole("button", { name: "Dark or light" }).click();
      assert.notEqual(await back(page), first);
      await page.getByRole("button", { name: "Dark or light" }).click();
      assert.equal(await back(page), first);
      if (dark) await shot(page, "dark");
    });
  }
});

test("every control has a name", async () => {
  const { address } = make(
    "two.html",
    { "small.json": small(), "other.json": small({ slope: 0.5 }) },
    "--random",
    "1",
  );
  await on(address, {}, async (page) => {
    await box(page, "conv, float32[1,4,8,8]").first().click();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    const snapshot = await controlsHaveNames(page.locator("body"));
    assert.match(snapshot, /application "Graph of small.json/);
  });
});

test("two models side by side", async () => {
  // The other one has another activation, and one node more.
  const { address } = make(
    "two.html",
    { "small.json": small(), "other.json": small({ slope: 0.5 }) },
    "--random",
    "1",
  );
  await on(address, {}, async (page) => {
    const [left, right] = [page.getByLabel("Model 1"), page.getByLabel("Model 2")];
    const labels = (boxes) =>
      boxes.evaluateAll((all) => all.map((e) => e.getAttribute("aria-label").split(",")[0]));
    assert.deepEqual(await labels(left.locator(".box.alone-0")), []);
    assert.deepEqual(await labels(right.locator(".box.alone-1")), ["leaky_relu"]);
    assert.deepEqual((await labels(left.locator(".box.node.changed"))).sort(), ["softmax", "tanh"]);
    assert.deepEqual((await labels(right.locator(".box.node.changed"))).sort(), ["neg", "softmax"]);
    // A matched node links: it is selected on both sides.
    await left.getByRole("button", { name: /^relu/ }).click();
    await right.locator('.box.selected[aria-label^="relu"]').waitFor();
    await details(page).getByText("The same in both models.").waitFor();
    await left.getByRole("button", { name: /^softmax/ }).click();
    await details(page).getByText("attribute axis is 2 here and 1 there").waitFor();
    // Errors are colors: green up to where they part, red behind.
    const hue = (pane, name) =>
      pane
        .getByRole("button", { name })
        .first()
        .locator("> rect")
        .first()
        .evaluate((rect) => rect.style.getPropertyValue("--color"));
    assert.match(await hue(left, /^conv/), /^hsl\(130 /);
    assert.match(await hue(left, /^add/), /^hsl\(0 /);
    await shot(page, "two");
    await page.getByRole("button", { name: "First difference" }).click();
    await left.locator('.box.selected[aria-label^="tanh"]').waitFor();
    await details(page)
      .getByText("only here", { exact: false })
      .or(details(page).getByText("Changed", { exact: false }))
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Errors" }).click();
    await frame(page);
    assert.match(await hue(left, /^conv/), /^#/);
  });
});

test("nested graphs side by side", async () => {
  const { address } = make("nested.html", { "n.json": nested(), "m.json": nested({ changed: true }) });
  await on(address, {}, async (page) => {
    const [left, right] = [page.getByLabel("Model 1"), page.getByLabel("Model 2")];
    await right.getByRole("button", { name: /^if.*2 differ/ }).waitFor();
    const labels = (boxes) =>
      boxes.evaluateAll((all) => all.map((e) => e.getAttribute("aria-label").split(",")[0]));
    assert.deepEqual(await labels(left.locator(".box.alone-0")), []);
    assert.deepEqual(await labels(right.locator(".box.alone-1")), ["tanh"]);
    await left.getByRole("button", { name: /^abs/ }).click();
    await right.locator('.box.selected[aria-label^="abs"]').waitFor();
    await details(page).getByText("The same in both models.").waitFor();
    await shot(page, "nested");
  });
});

test("names are text", async () => {
  const { address } = make("hostile.html", { "hostile.json": hostile(), "other.json": hostile() });
  await on(address, {}, async (page) => {
    await page.keyboard.press("e");
    await frame(page);
    const boxes = page.locator(".box");
    for (let i = 0; i < (await boxes.count()); ++i) {
      await boxes.nth(i).dispatchEvent("click");
    }
    for (const name of MARKUP) {
      await search(page).fill(name);
      await frame(page);
      await search(page).press("Enter");
    }
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Table" }).click();
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(
      await page.evaluate(() => document.querySelectorAll("img, iframe, body script ~ script ~ script").length),
      0,
    );
    assert.match(await page.locator("tbody").first().textContent(), /<svg onload/);
    await page.getByRole("button", { name: "Table" }).click();
    await frame(page);
    await shot(page, "hostile");
  });
});

test("the policy forbids what the page does not do", async () => {
  const { address } = make("small.html", { "small.json": small() });
  const { page, problems, close } = await openPage(browser, address);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.hacked = 1";
    document.body.append(script);
    const image = document.createElement("img");
    image.src = "http://127.0.0.1:9/x.png";
    document.body.append(image);
  });
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(problems.filter((text) => /Content Security Policy/.test(text)).length, 2, problems.join("\n"));
  await close();
});

test("large graphs", async () => {
  const rows = [
    ["20,000 nodes with modules", large(20000, 40), 3000],
    ["20,000 nodes without", large(20000), 3000],
    ["200,000 nodes without modules", large(200000), 20000],
  ];
  for (const [i, [what, text, most]] of rows.entries()) {
    const { address, size } = make(`large${i}.html`, { [`large${i}.json`]: text });
    await on(address, {}, async (page, { milliseconds }) => {
      await shot(page, `large${i}`);
      assert.ok((await page.locator(".box").count()) < 100);
      const timed = async (action) => {
        const began = performance.now();
        await action();
        await frame(page);
        return Math.round(performance.now() - began);
      };
      await page.getByRole("button", { name: "Collapse" }).click();
      await page.locator(".box.group.closed").first().waitFor();
      const opening = await timed(() => page.locator(".box.group.closed").first().dblclick());
      await page.locator('.box.group[aria-expanded="true"]').first().waitFor();
      const searching = await timed(() => search(page).fill("op:tanh"));
      const finding = await timed(() => search(page).press("Enter"));
      await page.locator(".box.selected").waitFor();
      const moving = await timed(() => page.mouse.wheel(0, 300));
      const tracing = await timed(() => page.getByRole("button", { name: "Upstream" }).click());
      console.log(
        `  ${what}: ${(size / 2 ** 20).toFixed(1)} MiB, open in ${milliseconds} ms, a group in ${opening} ms, ` +
          `search ${searching} ms, go there ${finding} ms, zoom ${moving} ms, upstream ${tracing} ms`,
      );
      assert.ok(milliseconds < most, `${what} took ${milliseconds} ms`);
      await shot(page, `large${i}-open`);
    });
  }
});

test("real networks", async () => {
  const models = sharedFolder("view_browser", flags.shared, "models");
  if (!models) {
    console.log(`  ${NOT_SHARED}: left out`);
    return;
  }
  const network = (name, file = "model.pt2") => path.join(models, name, file);
  // Before and after the optimizer.
  run("convert", "-q", network("bert_tiny", "model.17.onnx"), "-o", "optimized.json", "--optimize");
  const rows = [
    ["mobilenet_v2", [network("mobilenet_v2")], 2 ** 20],
    ["bert_tiny", [network("bert_tiny")], 2 ** 20],
    ["mobilenet_v2-onnx", [network("mobilenet_v2", "model.17.onnx")], 2 ** 20],
    ["bert_tiny-optimized", [network("bert_tiny", "model.17.onnx"), "optimized.json", "--random", "1"], 2 ** 20],
  ];
  for (const [name, args, most] of rows) {
    const out = path.join(flags.work, `${name}.html`);
    run("view", "-q", ...args, "-o", out);
    const { size } = statSync(out);
    assert.ok(size < most, `${name}: ${size} bytes`);
    await on(pathToFileURL(out).href, {}, async (page, { milliseconds }) => {
      console.log(`  ${name}: ${Math.round(size / 1024)} KiB, open in ${milliseconds} ms`);
      await shot(page, name);
      await page.keyboard.press("e");
      await page.getByRole("button", { name: "Fit" }).click();
      await frame(page);
      await shot(page, `${name}-whole`);
    });
  }
});

test("serve: on the loopback address, to who asks by it", async () => {
  const server = spawn(flags.x2ir, ["view", "small.json", "--serve"], {
    cwd: flags.work,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const address = await new Promise((found) =>
      server.stdout.once("data", (bytes) => found(String(bytes).trim())),
    );
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/$/);
    await on(address, {}, (page) => box(page, "relu").waitFor());
    const status = (options) =>
      new Promise((found, failed) =>
        http.get(address, options, (answer) => (answer.resume(), found(answer.statusCode))).on("error", failed),
      );
    assert.equal(await status({}), 200);
    assert.equal(await status({ headers: { host: "example.org" } }), 403);
    assert.equal(await status({ path: "/etc/passwd" }), 404);
    assert.equal(await status({ method: "POST" }), 405);
  } finally {
    server.kill();
  }
});

let failed = 0;
for (const { name, body } of tests) {
  try {
    await body();
    console.log(`ok ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}
await browser.close();
console.log(`${tests.length - failed} of ${tests.length} passed; screenshots in ${flags.work}`);
process.exit(failed ? 1 : 0);
