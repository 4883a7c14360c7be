// Running the model on inputs that are typed, files, images, or random numbers.
import { el, named, number } from "../../x2ir/view/page/dom.js";
import { argumentOf, choose, nameOf } from "./files.js";
import { SCALES, imageArray, imageShape, isPixelType } from "./image.js";
import { canType, npy, parsed } from "./npy.js";
import { downloads, jsonOf, list, table } from "./results.js";
import { say } from "./tasks.js";

const OUT = "/out/outputs.safetensors";

export class RunTab {
  title = "Run";
  panel = el("div");

  constructor(app) {
    this.app = app;
    this.inputs = el("div");
    this.result = el("div");
    this.ioName = el("span", {});
    this.seed = el("input", { id: "run-seed", value: "0", size: 6, autocomplete: "off" });
    this.panel.append(
      el("p", {}, "Files can be dropped here: .npy or an image for an input, .safetensors for all inputs."),
      this.inputs,
      el(
        "p",
        {},
        el("button", { type: "button", onclick: () => this.chooseIo() }, "Choose a .safetensors file of inputs"),
        " ",
        this.ioName,
      ),
      el("p", {}, el("label", { for: "run-seed" }, "Seed of random inputs "), this.seed),
      el("p", {}, el("button", { type: "button", class: "main", onclick: () => this.run() }, "Run")),
      this.result,
    );
  }

  update() {
    const { info } = this.app.model;
    this.setIo(null);
    this.fields = info.inputs.map((input, i) => new InputField(input, this.app, i));
    this.inputs.replaceChildren(...this.fields.map((field) => field.element));
    this.result.replaceChildren();
  }

  setIo(file) {
    this.io = file;
    this.ioName.replaceChildren(file ? named(file.name) : "");
  }

  async chooseIo() {
    const [first] = await choose({ several: false, accept: ".safetensors" });
    if (first) this.setIo(first[1]);
  }

  // A file of all inputs, or one for the first input that has none; images go to inputs that may be images, if there are any.
  take(files) {
    for (const [path, file] of files) {
      if (path.toLowerCase().endsWith(".safetensors")) {
        this.setIo(file);
      } else {
        const takes = ({ isImage }) => isImage || path.toLowerCase().endsWith(".npy");
        const fields = this.fields.filter(takes).concat(this.fields);
        (fields.find((field) => !field.file) ?? fields[0])?.setFile(file);
      }
      say(`Taken: ${nameOf(path)}`);
    }
    return true;
  }

  async run() {
    const { app } = this;
    const { model } = app;
    this.result.replaceChildren();
    const result = await app.tasks.do("Running the model", (run) => this.start(run));
    if (!result) return;
    const outputs = result.code === 0 ? jsonOf(result.stdout)?.outputs : null;
    if (!outputs) return app.fail(result.stderr);
    const heading = el("h2", { tabindex: -1 }, "Outputs");
    const file = result.files.find(([path]) => path === OUT)?.[1];
    this.result.replaceChildren(
      heading,
      table("Outputs", ["Output", "Type", "Least", "Mean", "Largest"], outputs.map(rowOf)),
      list("First elements", outputs.map(elementsOf)),
      file ? downloads([["outputs.safetensors", file]], "", app.fail) : "",
    );
    heading.focus();
    say(`${model.set.label(model.path)} was run: ${outputs.length} outputs`);
  }

  async start(run) {
    const { model } = this.app;
    const files = [...model.set.entries];
    const args = ["run", argumentOf(model.path), "--json", "-o", OUT, ...this.app.readingFlags()];
    let given = 0;
    for (const [i, field] of this.fields.entries()) {
      const content = await field.content();
      if (!content) continue;
      const path = `/report/input${i}.npy`;
      files.push([path, content]);
      args.push(`--input=${field.input.name}=${path}`);
      ++given;
    }
    if (this.io) {
      files.push(["/report/io.safetensors", this.io]);
      args.push("--io=/report/io.safetensors");
    } else if (given < this.fields.length) {
      args.push("--random=1", `--seed=${this.seed.value.trim() || 0}`);
    }
    return run(args, files);
  }
}

const MOST_SHOWN = 16; // elements

const shown = (x) => (typeof x === "number" ? number(x) : String(x ?? ""));

function rowOf(output) {
  return [named(output.output), output.type, ...[output.min, output.mean, output.max].map(shown)];
}

function elementsOf({ output, values = [] }) {
  return `${output}: ${values.slice(0, MOST_SHOWN).map(shown).join(", ")}${values.length > MOST_SHOWN ? ", ..." : ""}`;
}

// Whether an image may be given; its shape may be said later.
function canBeImage({ dtype, shape }) {
  return isPixelType(dtype) && (!shape || shape.length === 3 || shape.length === 4);
}

// One input: random numbers, or what is typed, or a file.
class InputField {
  constructor(input, app, i) {
    this.input = input;
    // Its element type and dims (or null) at the time of a run, as the tab Model has them.
    this.type = () => ({ dtype: app.dtypeOf(i), dims: app.dimsOf(i) });
    this.file = null;
    this.text = el("textarea", {
      id: `input-${i}`,
      rows: 1,
      spellcheck: "false",
      placeholder: "numbers, or one for all elements; empty: random",
      disabled: !canType(input.dtype),
    });
    this.fileName = el("span", {});
    this.scale = el(
      "select",
      { id: `scale-${i}` },
      ...Object.keys(SCALES).map((scale) => el("option", { value: scale }, scale)),
    );
    this.isImage = canBeImage(input);
    this.element = el(
      "fieldset",
      {},
      el("legend", {}, named(input.name), ` ${input.type}`),
      el("label", { for: this.text.id }, "Elements"),
      this.text,
      el(
        "p",
        {},
        el(
          "button",
          {
            type: "button",
            onclick: async () => {
              const [first] = await choose({ several: false, accept: this.isImage ? ".npy,image/*" : ".npy" });
              if (first) this.setFile(first[1]);
            },
          },
          this.isImage ? "Choose an .npy file or an image" : "Choose an .npy file",
        ),
        " ",
        this.fileName,
      ),
      this.isImage && input.dtype === "float32"
        ? el("p", {}, el("label", { for: this.scale.id }, "Pixels of an image become "), this.scale)
        : null,
    );
  }

  setFile(file) {
    this.file = file;
    const remove = el("button", { type: "button", onclick: () => this.setFile(null) }, "Remove");
    this.fileName.replaceChildren(...(file ? [named(file.name), " ", remove] : []));
  }

  // The .npy file of this input; null: random numbers. Throws an Error that names the input.
  async content() {
    const { name } = this.input;
    const { dtype, dims } = this.type();
    try {
      if (this.file) {
        if (this.file.name.toLowerCase().endsWith(".npy")) return this.file;
        if (!imageShape(dtype, dims)) {
          throw new Error(
            "an image is for inputs [1, C, H, W] or [1, H, W, C], or without the 1, of float32 or uint8 with 1, 3 or 4 " +
              `channels; this one is ${dtype}[${dims ?? "..."}]. The tab Model has fields for the shape and the type`,
          );
        }
        return await imageArray(this.file, dtype, dims, this.scale.value);
      }
      const text = this.text.value.trim();
      if (!text) return null;
      if (!dims?.every(Number.isInteger)) throw new Error("its shape is not known; give it in the tab Model");
      if (!canType(dtype)) throw new Error(`elements of ${dtype} cannot be typed; choose an .npy file`);
      return npy(dtype, dims, parsed(text, dtype, dims));
    } catch (error) {
      throw new Error(`input '${name}': ${error.message}`);
    }
  }
}
