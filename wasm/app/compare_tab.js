// Two models: side by side, their differences, and whether they compute the same.
import { el, named } from "../../x2ir/view/page/dom.js";
import { MAP_FLAGS, filesOf } from "./convert_tab.js";
import { FileSet, argumentOf, choose, nameOf } from "./files.js";
import { identify, missingFiles } from "./open.js";
import { jsonOf, table, text } from "./results.js";
import { say } from "./tasks.js";

const NUMBERS = [
  ["cases", "Random cases", "1"],
  ["seed", "Seed", "0"],
  ["rtol", "Relative tolerance", "1e-3"],
  ["atol", "Absolute tolerance", "1e-4"],
];

export class CompareTab {
  title = "Compare";
  panel = el("div");

  constructor(app) {
    this.app = app;
    this.which = el("p", {});
    this.result = el("div");
    this.numbers = {};
    const fields = NUMBERS.map(([name, label, value]) => {
      const field = el("input", { id: `compare-${name}`, value, size: 6, autocomplete: "off" });
      this.numbers[name] = () => field.value.trim() || value;
      return el("span", { class: "field" }, el("label", { for: field.id }, `${label} `), field);
    });
    const action = (word, verb) => el("button", { type: "button", onclick: () => verb() }, word);
    this.panel.append(
      el("p", {}, "The other model: open its files, or drop them here. Without, it is the last result of Convert."),
      el(
        "p",
        { class: "actions" },
        action("Open the other model", async () => this.open(await choose())),
        action("Open a folder as the other model", async () => this.open(await choose({ folder: true }))),
      ),
      this.which,
      el("p", { class: "fields" }, ...fields),
      el(
        "p",
        { class: "actions" },
        action("Show both", () => this.view([])),
        action("Show both with errors", () => this.view(this.random())),
        action("List differences", () => this.diff()),
        action("Compare values", () => this.compare()),
        action("Verify outputs", () => this.verify()),
      ),
      this.result,
    );
  }

  update() {
    this.other = null;
    this.which.replaceChildren();
    this.result.replaceChildren();
  }

  take(files) {
    this.open(files);
    return true;
  }

  async open(files) {
    if (!files.length) return;
    const set = new FileSet("/other", files);
    const { app } = this;
    const found = await app.tasks.do("Reading the other model", (run) => identify(run, set, "", []));
    if (!found) return;
    const missing = missingFiles(found.result, set);
    if (missing.length) {
      const names = missing.map((path) => set.label(path)).join(", ");
      return app.fail(`The other model needs ${names}. Give all of its files at once.`);
    }
    if (!found.info) return app.fail(found.result.stderr);
    this.other = { path: found.path, entries: set.entries };
    this.which.replaceChildren("The other model is ", named(set.label(found.path)));
    say("The other model is open.");
  }

  // { paths, files, map } of the two, or null with a message.
  both() {
    const { set, path, converted } = this.app.model;
    if (this.other) return { paths: [path, this.other.path], files: [...set.entries, ...this.other.entries], map: [] };
    if (!converted) {
      this.app.fail("There is no other model: open one, or convert this one first.");
      return null;
    }
    const files = [...set.entries, ...filesOf(converted)];
    return { paths: [path, converted.path], files, map: MAP_FLAGS };
  }

  random() {
    return [`--random=${this.numbers.cases()}`, `--seed=${this.numbers.seed()}`];
  }

  tolerances() {
    return [`--rtol=${this.numbers.rtol()}`, `--atol=${this.numbers.atol()}`];
  }

  view(random) {
    const both = this.both();
    if (!both) return;
    const title = both.paths.map(nameOf).join(" and ");
    return this.app.view(title, both.paths, [...random, ...both.map, ...this.app.readingFlags()], both.files);
  }

  // Runs a verb on both; the result, or nothing with a message. Exit code 1 says that they differ.
  async run(title, verb, flags) {
    const both = this.both();
    if (!both) return;
    this.result.replaceChildren();
    const { app } = this;
    const map = verb === "diff" ? [] : both.map;
    const result = await app.tasks.do(title, (run) =>
      run([verb, ...both.paths.map(argumentOf), ...flags, ...map], both.files),
    );
    if (!result) return;
    if (result.code > 1 || (result.code === 1 && !result.stdout)) return app.fail(result.stderr);
    return result;
  }

  show(title, ...children) {
    const heading = el("h2", { tabindex: -1 }, title);
    this.result.replaceChildren(heading, ...children);
    heading.focus();
    say(title);
  }

  async diff() {
    const result = await this.run("Looking for differences", "diff", this.app.readingFlags(false));
    if (!result) return;
    this.show(result.code === 0 ? "No differences" : "Differences", text("Differences", result.stdout));
  }

  async compare() {
    const flags = [...this.random(), ...this.tolerances(), ...this.app.readingFlags()];
    const result = await this.run("Comparing values", "compare", flags);
    if (!result) return;
    this.show(result.code === 0 ? "All outputs agree" : "Outputs differ", text("Values", result.stdout));
  }

  async verify() {
    const flags = ["--json", ...this.random(), ...this.tolerances(), ...this.app.readingFlags()];
    const result = await this.run("Verifying outputs", "verify", flags);
    if (!result) return;
    const verdict = jsonOf(result.stdout);
    if (!verdict) return this.app.fail(result.stderr);
    const rows = verdict.outputs.map((output) => [
      named(output.case ? `${output.case}: ${output.output}` : output.output),
      output.type,
      output.agrees ? "agrees" : `differs in ${output.differing} of ${output.elements}`,
      String(output.max_abs),
      String(output.cosine),
    ]);
    this.show(
      verdict.agrees ? "All outputs agree" : "Outputs differ",
      el("p", {}, named(verdict.note ?? "")),
      table("Outputs", ["Output", "Type", "Result", "Largest difference", "Cosine"], rows),
    );
  }
}
