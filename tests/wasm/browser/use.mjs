// What the app does: opening, looking, converting, comparing, running.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { small } from "../../view/browser/graphs.mjs";
import { sharedFolder } from "../../oracle/shared.mjs";
import {
  DEMO,
  SMALL,
  TARGETS,
  button,
  convertAndCompare,
  flags,
  heading,
  message,
  on,
  picture,
  program,
  tab,
  test,
} from "./harness.mjs";
import { identity, large, pixels, slow, unsupported } from "./models.mjs";
import { drop, give, idle, openModel, saved, view } from "./page.mjs";

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
  if (flags.browser === "firefox") return console.log("    left out: its driver does not choose folders");
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

// A module of the page, which Node before 22 takes for one of another kind by its name.
const ofThePage = (name) =>
  import(
    "data:text/javascript," +
      encodeURIComponent(
        readFileSync(new URL(`../../../wasm/app/${name}`, import.meta.url), "utf8"),
      )
  );

test("the network of rehearsals is converted to every format", async () => {
  const { rehearsal } = await ofThePage("rehearsal.js");
  for (const { name, writes } of JSON.parse(execFileSync(flags.x2ir, ["formats", "--json"], { encoding: "utf8" }))) {
    if (!writes) continue;
    const [args, [[, network]]] = rehearsal(name);
    const own = path.join(flags.work, `rehearsal-${name}`);
    mkdirSync(own);
    writeFileSync(path.join(own, args[1]), await network.text());
    execFileSync(flags.x2ir, ["convert", "-q", args[1], "-o", path.basename(args[3]), ...args.slice(4, 6)], { cwd: own });
  }
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

test("a type of inputs holds for reading again, differences and runs", async () => {
  await on({}, async (page) => {
    const graph = "agraph (float[1,2] x) => (float[1,2] y) { y = Relu(x) }";
    await openModel(page, [{ name: "half.onnxtxt", text: `<ir_version: 8, opset_import: ["" : 17]> ${graph}` }]);
    await page.getByText("Element types of inputs").click();
    await page.getByLabel("dtype", { exact: true }).fill("x:float64");
    await button(page, "Read again with these").click();
    await idle(page);
    assert.equal(await message(page).count(), 0);
    await tab(page, "Run");
    await page.getByLabel("Elements").fill("1 -2");
    await button(page, "Run").click();
    await heading(page, "Outputs");
    const row = page.getByRole("table", { name: "Outputs" });
    assert.match(await row.textContent(), /float64\[1,2\]/);
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
  const elements = await page.locator("h3:text-is('First elements') + ul li").first().textContent();
  return [...(await row.locator("td").allTextContents()), elements.replace(/^[^:]*: /, "")];
}

// Red, green, blue, white, as a picture of 2 x 2 pixels that the browser itself makes.
async function fourPixels(page) {
  const png = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(2, 2);
    const context = canvas.getContext("2d");
    ["#f00", "#0f0", "#00f", "#fff"].forEach((color, i) => {
      context.fillStyle = color;
      context.fillRect(i % 2, i >> 1, 1, 1);
    });
    return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())];
  });
  return { name: "four.png", bytes: Buffer.from(png) };
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
    const four = await fourPixels(page);
    await give(page, button(page, "Choose an .npy file or an image"), [four]);
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

test("an image becomes the array of an input, in each layout", async () => {
  const first = "255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255";
  const last = "255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255";
  await on({}, async (page) => {
    const four = await fourPixels(page);
    for (const [type, shape, expected] of [
      ["float[1,3,2,2]", "1,3,2,2", first],
      ["uint8[1,3,2,2]", "1,3,2,2", first],
      ["float[1,2,2,3]", "1,2,2,3", last],
      ["uint8[2,2,3]", "2,2,3", last],
      ["uint8[3,2,2]", "3,2,2", first],
      ["float[N,3,H,W]", "1,3,2,2", first],
      ["uint8[1,H,W,3]", "1,2,2,3", last],
      ["uint8[1,1,2,2]", "1,1,2,2", "76, 150, 29, 255"], // luma
      ["uint8[2,2,1]", "2,2,1", "76, 150, 29, 255"],
      ["uint8[1,4,2,2]", "1,4,2,2", `${first}, 255, 255, 255, 255`], // alpha
      ["float[1,2,2,4]", "1,2,2,4", "255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 255"],
    ]) {
      await openModel(page, [{ name: "image.onnxtxt", text: identity(type) }]);
      await tab(page, "Run");
      await drop(page, [four]);
      await page.getByText("Taken: four.png").waitFor({ state: "attached" });
      if (type.startsWith("float")) await page.getByLabel("Pixels of an image become").selectOption("0 to 255");
      await button(page, "Run").click();
      const row = await outputRow(page);
      assert.equal(row[1].replace(/^.*\[/, "["), `[${shape}]`, type);
      assert.equal(row[5], expected, type);
    }
    // What is no image, or for no image.
    await openModel(page, [{ name: "image.onnxtxt", text: identity("float[1,5,2,2]") }]);
    await tab(page, "Run");
    await drop(page, [four]);
    await button(page, "Run").click();
    await idle(page);
    assert.match(await message(page).textContent(), /input 'x': an image is for inputs .* this one is float32\[1,5,2,2\]/);
    await openModel(page, [{ name: "image.onnxtxt", text: identity("float[1,3,2,2]") }]);
    await tab(page, "Run");
    await drop(page, [{ name: "broken.png", text: "no image" }]);
    await button(page, "Run").click();
    await idle(page);
    assert.match(await message(page).textContent(), /input 'x': 'broken.png' is not an image that this browser decodes/);
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

test("a model that needs more memory than there is ends with a message", async () => {
  await on({}, async (page) => {
    for (const [elements, expected] of [
      [1073741823, /out of memory/],
      [1073741825, /takes 4294967300 bytes, and may take 4294967295/],
    ]) {
      await openModel(page, [{ name: "large.onnxtxt", text: large(elements) }]);
      await tab(page, "Run");
      await button(page, "Run").click();
      await idle(page);
      assert.match(await message(page).textContent(), expected);
      await page.getByText("A page has 4 GB of memory.", { exact: false }).waitFor();
    }
    await openModel(page, [SMALL]);
  });
});

const ROUNDS = 7;
test("mobilenet_v2 is converted to three targets, as the program does it", async () => {
  const folderOf = sharedFolder(`app_${flags.browser}`, flags.shared, "models/mobilenet_v2");
  if (!folderOf) return console.log("    left out: ../shared is not there");
  const file = path.join(folderOf, "model.17.onnx");
  await on({}, async (page) => {
    await openModel(page, [file]);
    for (const to of TARGETS) {
      const times = { page: [], program: [] }; // the page and the program take turns
      for (let round = 0; round < ROUNDS; ++round) {
        const began = performance.now();
        program(file, to, `time.${to}`);
        times.program.push(performance.now() - began);
        times.page.push((await convertAndCompare(page, file, to)).milliseconds);
      }
      const median = (list) => Math.round([...list].sort((a, b) => a - b)[list.length >> 1]);
      const [own, native] = [median(times.page), median(times.program)];
      const first = `the first one ${Math.round(times.page[0])} ms and ${Math.round(times.program[0])} ms`;
      console.log(`    to ${to}: ${own} ms in the page, ${native} ms in the program, ${(own / native).toFixed(1)} times; ${first}`);
    }
  });
});
