// The app in a real browser: what it shows, converts, refuses and asks for.
//
//   node app_test.mjs --x2ir PROGRAM --module MODULE.wasm --packages FOLDER --driver FOLDER --work FOLDER --shared FOLDER
//
// PACKAGES: where esbuild is installed; --driver: where playwright-core is. Exits with 77 where there is no module, no
// browser or no driver. --browser: chromium, or firefox. --only TEXT: tests whose names have it. With
// X2IR_APP_SCREENSHOTS=FOLDER the pictures of docs/app.md are written there.
import { readdirSync, statSync } from "node:fs";
import path from "node:path";

import { browser, flags, folder, server, tests } from "./harness.mjs";
import "./use.mjs";
import "./promises.mjs";

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
