// What docs/app.md promises of the app: requests, names, networks, keyboards, screens.
import assert from "node:assert/strict";
import http from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { MARKUP, hostile, small } from "../../view/browser/graphs.mjs";
import { serve } from "../../../wasm/app/serve.mjs";
import {
  DEMO,
  SMALL,
  address,
  browser,
  button,
  convertAndCompare,
  flags,
  folder,
  heading,
  on,
  picture,
  tab,
  test,
} from "./harness.mjs";
import { unsupported } from "./models.mjs";
import { allHaveNames, give, idle, openApp, openModel, saved, view } from "./page.mjs";

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
        for (const go of [() => window.open(url), () => (location.href = url)]) {
          try {
            go();
          } catch {
            // Firefox tells of it this way.
          }
        }
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
    await allHaveNames(page.locator("body"));
    await openModel(page, [{ name: "odd.onnxtxt", text: unsupported() }]);
    for (const name of ["Model", "Convert", "Compare", "Run"]) {
      await tab(page, name);
      for (const summary of await page.locator("summary:visible").all()) await summary.click();
      await allHaveNames(page.locator("body"));
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
