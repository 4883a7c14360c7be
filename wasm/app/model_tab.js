// What the model is: its inputs with the shapes that it is read with, operators that cannot be converted, options.
import { bytes, count, el, named } from "../../x2ir/view/page/dom.js";
import { OPTIONS, formatOf } from "./formats.js";
import { OptionsForm, group } from "./options_form.js";
import { failuresTable, table } from "./results.js";

const DTYPES = OPTIONS.filter((option) => option.name === "dtypes");

export class ModelTab {
  title = "Model";
  panel = el("div");
  facts = el("div");

  constructor(app, read) {
    this.app = app;
    this.read = read;
  }

  update() {
    const { info } = this.app.model;
    this.shapes = info.inputs.map((input, i) => shapeFields(input, i));
    const fields = table(
      "Inputs",
      ["Input", "Type", "Shape", "Axes that vary"],
      info.inputs.map((input, i) => [named(input.name), input.type, this.shapes[i].shape, this.shapes[i].dynamic]),
    );
    this.types = new OptionsForm(DTYPES);
    this.options = new OptionsForm(formatOf(info.format)?.read_options ?? []);
    this.panel.replaceChildren(
      this.facts,
      fields,
      group("Element types of inputs", this.types),
      group("How the file is read", this.options),
      el("p", {}, el("button", { type: "button", onclick: () => this.read() }, "Read again with these")),
    );
    this.refresh();
  }

  refresh() {
    const { info } = this.app.model;
    const opsets = info.opsets?.map(({ domain, version }) => `${domain || "ai.onnx"} ${version}`).join(", ");
    const rows = [
      ["Format", info.format],
      ["Made by", info.producer],
      ["Opsets", opsets],
      ["Nodes", count(info.nodes)],
      ["Parameters", `${count(info.parameters.elements)} in ${bytes(info.parameters.bytes)}`],
      ["Outputs", info.outputs.map((output) => `${output.name}: ${output.type}`).join(", ")],
      ["Can be converted to IR", info.converts ? "yes" : "no"],
    ].filter(([, value]) => value);
    const facts = rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, named(value))]);
    this.facts.replaceChildren(
      el("dl", {}, ...facts),
      failuresTable(info.failures, (node) => this.app.look.go(node)) ?? "",
      info.error && !info.failures?.length ? el("pre", {}, info.error) : "",
    );
  }

  // The dims of an input as it is read, numbers or names; null where the number of dims is not known.
  dimsOf(i) {
    const given = this.shapes[i].shape.value.trim();
    if (!given) return this.app.model.info.inputs[i].shape;
    return given.split(",").map((dim) => (/^ *\d+ *$/.test(dim) ? Number(dim) : dim.trim()));
  }

  // The element type of an input as it is read: its own, or the one that is given for all others.
  dtypeOf(i) {
    const { name, dtype } = this.app.model.info.inputs[i];
    const given = this.types.words.map((word) => word.slice("--dtype=".length));
    const own = given.find((text) => text.startsWith(`${name}:`));
    return own?.slice(name.length + 1) ?? given.find((text) => !text.includes(":")) ?? dtype;
  }

  flags(inputs) {
    const ofInputs = () => [...this.shapes.flatMap((fields) => fields.words()), ...this.types.words];
    return [...(inputs ? ofInputs() : []), ...this.options.words];
  }
}

// Two fields for an input, and the flags that they say.
function shapeFields(input, i) {
  const dims = /\[(.*)\]$/.exec(input.type)?.[1] ?? "";
  const field = (what, placeholder) =>
    el("input", {
      id: `${what}-${i}`,
      "aria-label": `${what === "shape" ? "Shape" : "Axes that vary"} of ${input.name}`,
      placeholder,
      autocomplete: "off",
      spellcheck: "false",
      size: 12,
    });
  const shape = field("shape", dims || "2,3,seq");
  const dynamic = field("dynamic", "0=batch");
  const words = () => [
    ...(shape.value.trim() ? [`--shape=${input.name}:${shape.value.trim()}`] : []),
    ...(dynamic.value.trim() ? [`--dynamic=${input.name}:${dynamic.value.trim()}`] : []),
  ];
  return { shape, dynamic, words };
}
