// The system's browser, and what every page is held to: it asks for nothing, and runs no script but its own.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const BROWSERS = {
  chromium: ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
  firefox: ["/usr/bin/firefox-esr", "/usr/bin/firefox"],
};

export function notRun(why, what = "THE PAGE OF x2ir view") {
  console.error(`*** ${what} IS NOT TESTED: ${why}`);
  process.exit(77);
}

// `folder`: where setup.sh installed playwright-core. `name`: of BROWSERS.
export async function launch(folder, what, name = "chromium") {
  const driver = path.join(folder, "node_modules/playwright-core/index.mjs");
  if (!existsSync(driver)) notRun("playwright-core is not installed (setup.sh)", what);
  const executablePath = BROWSERS[name].find(existsSync);
  if (!executablePath) notRun(`${name} is not installed`, what);
  const { chromium, firefox } = await import(pathToFileURL(driver));
  // The distribution's Firefox is driven by WebDriver BiDi.
  if (name === "firefox") return firefox.launch({ executablePath, channel: "moz-firefox" });
  // Its sandbox wants more than root in a container has; the pages are our own.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

// A page that is open, with what went wrong on it.
export async function openPage(browser, address, { dark = false } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1400, height: 900 },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => problems.push(`a dialog: ${dialog.message()}`));
  page.on("request", (request) => request.url() !== address && problems.push(`asks for ${request.url()}`));
  const began = performance.now();
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  return { page, problems, milliseconds: Math.round(performance.now() - began), close: () => context.close() };
}

// No control in an element is without a name. Returns the snapshot that says so.
export async function controlsHaveNames(locator) {
  const snapshot = await locator.ariaSnapshot();
  const roles = "application|button|checkbox|combobox|dialog|img|progressbar|region|tab|table|tabpanel|textbox";
  const nameless = new RegExp(`^\\s*- (${roles})( \\[[^\\]]*\\])*:?$`);
  for (const line of snapshot.split("\n")) assert.doesNotMatch(line, nameless, `a control without a name: ${line}`);
  return snapshot;
}
