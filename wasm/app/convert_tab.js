// Converting to a format that is written, with its options.
import { el } from "../../x2ir/view/page/dom.js";
import { argumentOf, nameOf } from "./files.js";
import { OPTIONS, WRITTEN, formatOf, stemOf } from "./formats.js";
import { OptionsForm, group } from "./options_form.js";
import { downloads, failuresTable, jsonOf, list, text } from "./results.js";
import { say } from "./tasks.js";

const REPORT = "/report/report.json";
const MODEL_TAB = new Set(["shapes", "dynamic", "dtypes"]); // these are fields of the model's tab
const USUAL = new Set(["opset", "float16", "optimize", "int8"]);
const FIRST = "onnx";

export class ConvertTab {
  title = "Convert";
  panel = el("div");

  constructor(app) {
    this.app = app;
    this.result = el("div");
    this.forms = el("div");
    this.target = el(
      "select",
      {
        id: "target",
        onchange: () => {
          this.choose();
          this.shown();
        },
      },
      ...WRITTEN.map(({ name, extensions }) =>
        el("option", { value: name, selected: name === FIRST }, `${name} (${extensions.join(", ")})`),
      ),
    );
    this.name = el("input", { id: "out-name", autocomplete: "off", spellcheck: "false" });
    this.doc = el("p", { class: "help" });
    this.panel.append(
      el("p", {}, el("label", { for: "target" }, "Target format "), this.target),
      this.doc,
      el("p", {}, el("label", { for: "out-name" }, "File name "), this.name),
      this.forms,
      el("p", {}, el("button", { type: "button", class: "main", onclick: () => this.convert() }, "Convert")),
      this.result,
    );
  }

  update() {
    this.result.replaceChildren();
    this.choose();
  }

  shown() {
    this.app.rehearse(this.target.value);
  }

  // The fields of a target.
  choose() {
    const format = formatOf(this.target.value);
    const { model } = this.app;
    this.doc.textContent = format.doc;
    this.name.value = stemOf(nameOf(model.path)) + format.extensions[0];
    const own = format.write_options.filter(({ name }) => !OPTIONS.some((other) => other.name === name));
    const rest = OPTIONS.filter(({ name }) => !MODEL_TAB.has(name) && !USUAL.has(name));
    const parts = [
      ["Usual options", [...own, ...OPTIONS].filter(({ name }) => USUAL.has(name)), true],
      [`Options of ${format.name}`, own.filter(({ name }) => !USUAL.has(name)), false],
      ["Options of every conversion", rest.filter(({ part }) => part !== "reading"), false],
      ["A part of the model, other weights", rest.filter(({ part }) => part === "reading"), false],
    ].filter(([, options]) => options.length);
    this.options = parts.map(([, options]) => new OptionsForm(options));
    this.forms.replaceChildren(...parts.map(([title, , open], i) => group(title, this.options[i], open)));
  }

  async convert() {
    const { app } = this;
    const { model } = app;
    const name = this.name.value.trim();
    if (!name || name.includes("/")) return app.fail("Give a file name without '/'.");
    const out = `/out/${name}`;
    const flags = [...app.readingFlags(), ...this.options.flatMap((form) => form.words)];
    this.result.replaceChildren();
    const result = await app.tasks.do(`Converting to ${this.target.value}`, (run) =>
      run(
        ["convert", argumentOf(model.path), "-o", out, "--to", this.target.value, "--report", REPORT, ...flags],
        model.set.entries,
      ),
    );
    if (result) await this.show(result, out);
  }

  async show(result, out) {
    const { app } = this;
    const report = result.files.find(([path]) => path === REPORT)?.[1];
    const { failures, warnings = [], notes = [] } = (report && jsonOf(await report.text())) ?? {};
    const files = result.files.filter(([path]) => path.startsWith("/out/"));
    const done = result.code === 0;
    app.model.converted = done ? { path: inConverted(out), files: files.map(toConverted), report } : null;
    const node = (name) => app.look.go(name);
    const heading = el("h2", { tabindex: -1 }, done ? "Converted" : "Not converted");
    this.result.replaceChildren(
      ...[
        heading,
        text("What the program says", (done ? result.stdout : result.stderr).replaceAll("/out/", "")),
        failuresTable(failures, node),
        list("Warnings", warnings),
        list("Notes", notes),
        done ? downloads(files.map(([path, file]) => [path.slice("/out/".length), file]), `${stemOf(nameOf(out))}.zip`, app.fail) : null,
        done ? el("p", {}, this.button("Show the result", () => this.look(out))) : null,
        done ? el("p", {}, this.button("Show it beside the source", () => this.beside())) : null,
      ].filter(Boolean),
    );
    heading.focus();
    say(done ? `Converted: ${files.length === 1 ? "one file" : `${files.length} files`}` : "Not converted");
  }

  button(word, onclick) {
    return el("button", { type: "button", onclick }, word);
  }

  look(out) {
    const { converted } = this.app.model;
    return this.app.view(nameOf(out), [converted.path], [], converted.files);
  }

  beside() {
    const { set, path, converted } = this.app.model;
    return this.app.view(
      `${nameOf(path)} and ${nameOf(converted.path)}`,
      [path, converted.path],
      [...this.app.readingFlags(), ...MAP_FLAGS],
      [...set.entries, ...filesOf(converted)],
    );
  }
}

// The result as a model that can be read: in a folder of its own, with the report of its changes.
function inConverted(path) {
  return path.replace(/^\/out\//, "/converted/");
}

function toConverted([path, file]) {
  return [inConverted(path), file];
}

export function filesOf(converted) {
  return [...converted.files, [REPORT, converted.report]];
}

export const MAP_FLAGS = [`--map=${REPORT}`];
