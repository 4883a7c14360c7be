// Search by op, name, type and attribute. All words of a query must occur, in any order; "op:conv" asks for
// an op alone, "64x56" for a shape.
import { count } from "./dom.js";

const MOST = 200;

export class Search {
  constructor(model) {
    this.model = model;
    this.lower = null; // strings in small letters, made at the first search
  }

  // { items: the first of what was found, total }.
  find(query) {
    const words = query
      .toLowerCase()
      .replace(/(\d)\s*[x×]\s*(?=\d)/g, "$1,")
      .split(/\s+/)
      .filter(Boolean);
    if (!words.length) return { items: [], total: 0 };
    this.lower ??= this.model.page.strings.map((text) => text.toLowerCase());
    const tests = words.map((word) => this.test(word));
    const items = [];
    let total = 0;
    for (let item = 0; item < this.model.items.length; ++item) {
      if (!tests.every((test) => test(item))) continue;
      if (++total <= MOST) items.push(item);
    }
    return { items, total };
  }

  test(word) {
    const { model } = this;
    if (word.startsWith("op:")) return (item) => model.op(item).toLowerCase() === word.slice(3);
    const holds = Uint8Array.from(this.lower, (text) => (text.includes(word) ? 1 : 0));
    const ofValue = (value) => value >= 0 && (holds[model.values[value][0]] || holds[model.values[value][1]]);
    return (item) => {
      const [, name, , operands, results, attributes = []] = model.items[item];
      return (
        holds[name] ||
        model.op(item).toLowerCase().includes(word) ||
        results.some(ofValue) ||
        (model.isNode(item)
          ? operands.some((v) => model.weightOf.has(v) && ofValue(v))
          : operands.some(ofValue)) ||
        attributes.some((text) => holds[text])
      );
    };
  }
}

// The field of the toolbar, with what it finds below. `choose(index of a model, item)` is called for what is
// taken.
export class SearchField {
  constructor(input, list, status, models, choose, make) {
    this.input = input;
    this.list = list;
    this.status = status;
    this.searches = models.map((model) => new Search(model));
    this.choose = choose;
    this.make = make; // of an option, what it shows
    this.options = [];
    this.at = -1;
    input.addEventListener("input", () => this.update());
    input.addEventListener("keydown", (event) => this.key(event));
    input.addEventListener("focus", () => this.update());
    input.addEventListener("blur", () => setTimeout(() => this.open(false), 200));
  }

  ask(query) {
    this.input.value = query;
    this.input.focus();
    this.update();
  }

  update() {
    const query = this.input.value;
    this.options = [];
    this.at = -1;
    let total = 0;
    this.searches.forEach((search, index) => {
      const found = search.find(query);
      total += found.total;
      for (const item of found.items) this.options.push({ index, item });
    });
    const rows = this.options.map((option, i) => {
      const row = this.make(option.index, option.item);
      row.id = `option-${i}`;
      row.setAttribute("role", "option");
      row.addEventListener("pointerdown", (event) => {
        event.preventDefault(); // the field keeps the focus
        this.take(i);
      });
      return row;
    });
    this.list.replaceChildren(...rows);
    this.status.textContent = query.trim() ? `${count(total)} found` : "";
    this.open(rows.length > 0);
  }

  open(shown) {
    this.list.hidden = !shown;
    this.input.setAttribute("aria-expanded", String(shown));
    if (!shown) this.input.removeAttribute("aria-activedescendant");
  }

  move(to) {
    this.list.children[this.at]?.removeAttribute("aria-selected");
    this.at = Math.max(0, Math.min(to, this.options.length - 1));
    const row = this.list.children[this.at];
    if (!row) return;
    row.setAttribute("aria-selected", "true");
    row.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", row.id);
  }

  take(i) {
    const option = this.options[i];
    if (!option) return;
    this.open(false);
    this.choose(option.index, option.item);
  }

  key(event) {
    if (event.key === "ArrowDown") this.move(this.at + 1);
    else if (event.key === "ArrowUp") this.move(this.at - 1);
    else if (event.key === "Enter") this.take(Math.max(0, this.at));
    else if (event.key === "Escape") this.open(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
