// The page: what is opened, and the tabs that do something with it.
import { byId, el, named, visible } from "../../x2ir/view/page/dom.js";
import { CompareTab } from "./compare_tab.js";
import { ConvertTab } from "./convert_tab.js";
import { Engine } from "./engine.js";
import { FileSet, argumentOf, choose, dropped } from "./files.js";
import { FORMATS } from "./formats.js";
import { Look } from "./look.js";
import { ModelTab } from "./model_tab.js";
import { identify, missingFiles } from "./open.js";
import { rehearsal } from "./rehearsal.js";
import { RunTab } from "./run_tab.js";
import { Tabs } from "./tabs.js";
import { Tasks, say } from "./tasks.js";
import { table } from "./results.js";

const engine = new Engine();
const rehearsed = new Set(); // targets

// What the tabs share.
const app = {
  tasks: new Tasks(engine, fail),
  look: new Look(),
  model: null, // { set, path, info, converted } of the model that is open
  fail,
  // Flags that say how the model is read. `diff` and `info` take no shapes and types of inputs.
  readingFlags: (inputs = true) => modelTab.flags(inputs),
  // The dims of an input, numbers or names, or null.
  dimsOf: (input) => modelTab.dimsOf(input),
  dtypeOf: (input) => modelTab.dtypeOf(input),
  // `target`: what the user may convert to next.
  rehearse(target) {
    if (rehearsed.has(target)) return;
    rehearsed.add(target);
    engine.rehearse(...rehearsal(target)).catch(() => {}); // what is wrong, the user's own run says
  },
  // Shows the page that `x2ir view` writes of these models.
  async view(title, models, args, files) {
    const result = await app.tasks.do(`Drawing ${title}`, (run) =>
      run(["view", ...models.map(argumentOf), "-o", "/out/page.html", ...args], files),
    );
    if (!result) return;
    const page = result.files.find(([path]) => path === "/out/page.html");
    if (!page) return fail(result.stderr);
    app.look.show(page[1].blob, title);
  },
};

const modelTab = new ModelTab(app, () => read());
const tabs = new Tabs(byId("tabs"), [modelTab, new ConvertTab(app), new CompareTab(app), new RunTab(app)]);

function fail(text, ...more) {
  const message = visible(text.trim()).replace(/^error: /, "");
  const memory = /out of memory|used up|memory that a program can have|too large to be evaluated/i.test(message);
  byId("message").replaceChildren(
    el("pre", {}, message || "The program failed and gave no reason."),
    ...(memory ? [el("p", {}, "A page has 4 GB of memory. The program x2ir, installed, has what the machine has.")] : []),
    ...more,
    el("button", { type: "button", onclick: () => byId("message").replaceChildren() }, "Close this message"),
  );
}

// --- Opening ------------------------------------------------------------------------------------

// A new model, of files that were given.
async function open(files) {
  if (!files.length) return say("No file was given.");
  await closeModel();
  app.model = { set: new FileSet("/models", files), path: "", info: null, converted: null };
  return read();
}

// Reads the model, with the flags of its tab, and shows it. `path`: that file is the model.
async function read(path = app.model.path) {
  const { model } = app;
  byId("message").replaceChildren();
  const found = await app.tasks.do("Reading the model", (run) =>
    identify(run, model.set, path, path && model.info ? app.readingFlags(false) : []),
  );
  if (!found || model !== app.model) return;
  showChoice(found.path);
  const missing = missingFiles(found.result, model.set);
  if (missing.length) return askFor(missing, found.path);
  if (!found.info) return fail(found.result.stderr);
  const first = !model.info || model.path !== found.path;
  Object.assign(model, { path: found.path, info: found.info });
  if (first) {
    model.converted = null;
    tabs.update();
  } else {
    modelTab.refresh();
  }
  byId("welcome").hidden = true;
  byId("work").hidden = false;
  const title = visible(model.set.label(model.path));
  document.title = `${title} - x2ir`;
  await app.view(title, [model.path], app.readingFlags(), model.set.entries);
}

// The model's files that are not there are asked for by name.
function askFor(missing, path) {
  const { model } = app;
  const add = (files) => {
    model.set.add(files);
    return read(path);
  };
  const one = (label) =>
    el(
      "button",
      {
        type: "button",
        onclick: async () => {
          const [first] = await choose({ several: false });
          if (first) await add([[label, first[1]]]);
        },
      },
      "Choose ",
      named(label),
    );
  model.wants = add;
  fail(
    `The model needs ${missing.length === 1 ? "a file that was" : "files that were"} not given. ` +
      "Choose it here, or drop it on the page.",
    el("p", {}, ...missing.map((name) => one(model.set.label(name)))),
  );
}

function showChoice(path) {
  const { set } = app.model;
  const { all } = set.candidates();
  const field = el(
    "select",
    { id: "which", onchange: () => read(field.value) },
    ...all.map((other) => el("option", { value: other, selected: other === path }, visible(set.label(other)))),
  );
  byId("choice").replaceChildren(el("label", { for: "which" }, "Model "), field);
  byId("close").hidden = false;
}

async function closeModel() {
  await app.tasks.cancel();
  app.model = null;
  app.look.clear();
  byId("message").replaceChildren();
  byId("choice").replaceChildren();
  byId("close").hidden = true;
  byId("work").hidden = true;
  byId("welcome").hidden = false;
  document.title = "x2ir";
}

byId("open-files").addEventListener("click", async () => open(await choose()));
byId("open-folder").addEventListener("click", async () => open(await choose({ folder: true })));
byId("close").addEventListener("click", async () => {
  await closeModel();
  byId("open-files").focus();
});

// What is dropped goes to the tab that takes it, to the model that waits for a file, or is a new model.
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", async (event) => {
  event.preventDefault();
  const files = await dropped(event.dataTransfer);
  if (!files.length) return;
  if (app.model?.wants && !app.model.info) return app.model.wants(files);
  const taken = app.model?.info && tabs.current.take?.(files);
  if (!taken) await open(files);
});

byId("formats").append(
  table(
    "Formats",
    ["Format", "Files", "Support", "What it is"],
    FORMATS.map((format) => [
      format.name,
      format.extensions.join(", ") || "a folder",
      !format.writes ? "read" : !format.reads ? "written" : "read and written",
      format.doc,
    ]),
  ),
);

// --- The module ---------------------------------------------------------------------------------

// The program is loaded after the first picture. A page with files of its own keeps them, to be there without a network.
requestAnimationFrame(() =>
  setTimeout(() => {
    document.documentElement.dataset.painted = Math.round(performance.now());
    engine.load().then(
      ({ isFile }) => {
        document.documentElement.dataset.ready = Math.round(performance.now());
        if (isFile) navigator.serviceWorker?.register("sw.js").catch(() => {});
      },
      (error) => fail(`The program cannot be loaded: ${error.message}`),
    );
  }),
);
