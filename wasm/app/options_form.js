// Fields for options of conversions, made of the program's own tables, and the flags that they say.
import { el } from "../../x2ir/view/page/dom.js";

let fields = 0;

// The words of a value: a line is an item where items may have commas.
function wordsOf(option, text) {
  const value = text.trim();
  if (!value) return [];
  if (option.type !== "list") return [`${option.flag}=${value}`];
  return value
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => `${option.flag}=${line}`);
}

function flagField(option, id) {
  if (option.switches) {
    const off = option.flag.replace("--", "--no-");
    const field = el(
      "select",
      { id },
      ...[
        ["", "by default"],
        [option.flag, "on"],
        [off, "off"],
      ].map(([value, word]) => el("option", { value }, word)),
    );
    return { field, words: () => (field.value ? [field.value] : []) };
  }
  const field = el("input", { type: "checkbox", id });
  return { field, words: () => (field.checked ? [option.flag] : []) };
}

function fieldOf(option, id) {
  if (option.type === "flag") return flagField(option, id);
  let field;
  if (option.type === "choice") {
    const choices = option.choices.map((choice) => el("option", { value: choice }, choice));
    field = el("select", { id }, el("option", { value: "" }, "by default"), ...choices);
  } else if (option.type === "list") {
    field = el("textarea", { id, rows: 1, placeholder: option.value, spellcheck: "false" });
  } else {
    const mode = option.type === "int" ? "numeric" : undefined;
    field = el("input", { id, placeholder: option.value, inputmode: mode, autocomplete: "off", spellcheck: "false" });
  }
  return { field, words: () => wordsOf(option, field.value) };
}

// A list of fields; `words`() are the flags of what was set.
export class OptionsForm {
  constructor(options) {
    this.rows = options.map((option) => {
      const id = `option-${++fields}`;
      const { field, words } = fieldOf(option, id);
      field.setAttribute("aria-describedby", `${id}-help`);
      const label = el("label", { for: id }, option.flag.slice(2));
      const help = el("p", { id: `${id}-help`, class: "help" }, option.help);
      const box = field.type === "checkbox";
      return { words, element: el("div", { class: "option" }, ...(box ? [field, label] : [label, field]), help) };
    });
    this.element = el("div", { class: "options" }, ...this.rows.map((row) => row.element));
  }

  get words() {
    return this.rows.flatMap((row) => row.words());
  }
}

// A group of fields that opens.
export function group(title, form, open = false) {
  return el("details", { open }, el("summary", {}, title), form.element);
}
