// The app in a browser: opening it, giving it files, and what every page of it is held to.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";

import { controlsHaveNames } from "../../view/browser/browser.mjs";

// A page that is open and has its module. `problems`: errors, dialogs, and requests for anything but its own files.
export async function openApp(browser, address, { dark = false, width = 1400, height = 900, keep = null } = {}) {
  const context =
    keep ??
    (await browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? "dark" : "light",
      reducedMotion: "reduce",
      acceptDownloads: true,
    }));
  const page = await context.newPage();
  const problems = [];
  const requests = [];
  const own = new URL(".", address).href;
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("filechooser", () => {}); // as long as somebody listens, no dialog of the system opens
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => {
    problems.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  // Of service workers, too.
  context.on("request", (request) => {
    const url = request.url();
    requests.push(url);
    const inPage = url.startsWith("blob:") || url.startsWith("data:");
    const file = url.slice(own.length).replace(/\?[0-9a-f]+$/, "");
    const isOwn = url.startsWith(own) && ["", "index.html", "sw.js", "x2ir.wasm", "x2ir.html"].includes(file);
    if (!inPage && !isOwn) problems.push(`asks for ${url}`);
  });
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  return { page, context, problems, requests, close: () => context.close() };
}

// Files as the page is given them: a path of the disk, or { name, text }.
function payload(file) {
  if (typeof file !== "string") return { name: file.name, mimeType: "", buffer: Buffer.from(file.text ?? file.bytes) };
  return { name: path.basename(file), mimeType: "", buffer: readFileSync(file) };
}

// Presses a button that asks for files, and gives it some.
export async function give(page, button, files) {
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), button.click()]);
  await chooser.setFiles(files.map(payload));
}

export async function drop(page, files) {
  const data = files.map(payload).map(({ name, buffer }) => [name, buffer.toString("base64")]);
  await page.evaluate((list) => {
    const transfer = new DataTransfer();
    for (const [name, base64] of list) {
      transfer.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name));
    }
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, data);
}

// Nothing is being done.
export async function idle(page) {
  await page.waitForFunction(() => !document.body.dataset.busy, null, { timeout: 60_000 });
}

// The frame with the page of x2ir view, when it is drawn.
export async function view(page) {
  const frame = page.frameLocator("iframe");
  await frame.locator("html[data-ready]").waitFor({ timeout: 60_000 });
  return frame;
}

// Opens a model and waits until it is shown.
export async function openModel(page, files) {
  await give(page, page.getByRole("button", { name: "Open files" }), files);
  await idle(page);
  return view(page);
}

// { name, bytes } of the file that `act` lets the browser save.
export async function saved(page, act) {
  if (page.context().browser().browserType().name() === "firefox") return savedInFirefox(page, act);
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

// Its driver does not tell of files that are saved from a page: what the page gives the browser to save.
async function savedInFirefox(page, act) {
  await page.evaluate(() => {
    const { createObjectURL } = URL;
    const { click } = HTMLAnchorElement.prototype;
    let last;
    URL.createObjectURL = (blob) => createObjectURL.call(URL, (last = blob));
    window.savedFile = new Promise((done) => {
      HTMLAnchorElement.prototype.click = function () {
        Object.assign(HTMLAnchorElement.prototype, { click });
        Object.assign(URL, { createObjectURL });
        done([this.download, last]);
      };
    });
  });
  await act();
  const [name, base64] = await page.evaluate(async () => {
    const [name, blob] = await window.savedFile;
    const reader = new FileReader();
    const read = new Promise((done) => (reader.onload = done));
    reader.readAsDataURL(blob);
    await read;
    return [name, reader.result.replace(/^.*?,/, "")];
  });
  return { name, bytes: Buffer.from(base64, "base64") };
}

// No control is without a name, and no frame without a title.
export async function allHaveNames(locator) {
  await controlsHaveNames(locator);
  for (const frame of await locator.locator("iframe").all()) assert.ok(await frame.getAttribute("title"));
}
