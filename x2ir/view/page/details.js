// The panel beside the graph: what is selected, or the model where nothing is.
import { bytes, clipped, count, el, link, named, number, svg } from "./dom.js";
import { INPUT, KIND, STATE } from "./model.js";
import { Elements } from "./elements.js";

const MOST_USERS = 12;
const KIND_WORDS = {
  [KIND.module]: "Module",
  [KIND.repeat]: "Repeated block",
  [KIND.block]: "Block",
  [KIND.part]: "Part of a long list",
  [KIND.owner]: "Node",
  [KIND.graph]: "Nested graph",
};
const STATE_WORDS = {
  [STATE.same]: "The same in both models.",
  [STATE.changed]: "Changed: it is matched, but not the same.",
};

function section(title, ...content) {
  return el("section", {}, el("h3", {}, title), ...content);
}

function facts(rows) {
  const list = el("dl");
  for (const [name, ...value] of rows)
    list.append(el("dt", {}, named(name)), el("dd", {}, ...value.filter(Boolean)));
  return rows.length ? list : null;
}

export class Details {
  // `go`(model, item) reveals an item, `goBox`(model, box) a box.
  constructor(host, models, page, go, goBox) {
    Object.assign(this, { host, models, page, go, goBox });
  }

  show(model, box) {
    const item = box < 0 ? -1 : model.itemOf(box);
    const content = box < 0 ? this.ofModel(model) : item < 0 ? this.ofGroup(model, box) : this.ofItem(model, item);
    this.host.replaceChildren(...content.filter(Boolean));
    this.host.scrollTop = 0;
  }

  itemLink(model, item) {
    const name = model.name(item);
    const text =
      model.isNode(item) && name
        ? `${model.op(item)} ${clipped(name, 60)}`
        : model.label(item + model.groups.length);
    return link(text, () => this.go(model, item));
  }

  // --- A model ------------------------------------------------------------------------------------

  ofModel(model) {
    const ports = { Inputs: [], Outputs: [] };
    model.items.forEach(([op, , group], item) => {
      if (op >= 0 || group > model.last[0] || !this.isOutermost(model, group)) return;
      ports[op === INPUT ? "Inputs" : "Outputs"].push(item);
    });
    const port = (item) => [model.name(item), this.portLink(model, item)];
    return [
      el("h2", {}, named(model.title)),
      facts(model.facts),
      section("Size", this.costs(model, 0)),
      ...Object.entries(ports).map(([title, items]) => section(title, facts(items.slice(0, 100).map(port)))),
      this.first(model),
    ];
  }

  isOutermost(model, group) {
    for (let g = group; g > 0; g = model.parent[g]) if (model.kind(g) === KIND.graph) return false;
    return true;
  }

  portLink(model, item) {
    return link(model.typeOf(item) || "?", () => this.go(model, item));
  }

  // Where two models part.
  first(model) {
    const { first, errors } = this.page;
    if (!errors) return null;
    if (!first || first.value < 0)
      return section(
        "Comparison",
        el("p", {}, `${count(errors.length)} values compared: none differs by more than rounding.`),
      );
    const [here] = this.models;
    const item = here.producer[first.value];
    return section(
      "Comparison",
      el(
        "p",
        {},
        `${count(errors.length)} values compared. The first that differs by more than rounding: `,
        this.itemLink(here, item),
      ),
      el("ul", {}, ...first.reasons.map((reason) => el("li", {}, named(reason)))),
    );
  }

  // --- A group ------------------------------------------------------------------------------------

  ofGroup(model, group) {
    const [kind, , , times, , type] = model.groups[group];
    const rows = [["Kind", KIND_WORDS[kind]]];
    if (model.text(type)) rows.push(["Class", named(model.text(type))]);
    if (kind === KIND.repeat) rows.push(["Repeated", `${times} times`]);
    if (model.state) rows.push(["Differ from the other model", count(model.different[group])]);
    if (model.worst[group] >= 0) rows.push(["Largest error within", number(model.worst[group])]);
    const ops = new Map();
    for (const item of model.itemsIn(group)) {
      if (model.isNode(item)) ops.set(model.op(item), (ops.get(model.op(item)) ?? 0) + 1);
    }
    const sorted = [...ops].sort((a, b) => b[1] - a[1]).slice(0, 20);
    return [
      el("h2", {}, named(model.groupName(group))),
      this.path(model, group),
      facts(rows),
      section("Size", this.costs(model, group)),
      section("Ops", facts(sorted.map(([op, n]) => [op, count(n)]))),
    ];
  }

  path(model, box) {
    const path = model.path(box).slice(1);
    if (!path.length) return null;
    const parts = path.flatMap((group, i) => [
      i ? " › " : "",
      link(model.groupName(group), () => this.goBox(model, group)),
    ]);
    return el("p", { class: "path" }, ...parts);
  }

  costs(model, box) {
    const rows = [];
    if (model.nodes[box] !== 1) rows.push(["Nodes", count(model.nodes[box])]);
    rows.push(["Parameters", `${count(model.parameters[box])} (${bytes(model.parameterBytes[box])})`]);
    // Shapes say these; where some are open, what is known is the least.
    const open = model.unknownCosts.size > 0 && [...model.itemsIn(box)].some((item) => model.unknownCosts.has(item));
    const asFarAsKnown = (number, text) => (!open ? text : number > 0 ? `more than ${text}` : "sizes are missing");
    const [work, size] = [model.multiplyAdds[box], model.resultBytes[box]];
    rows.push(["Multiply-adds", asFarAsKnown(work, count(work))]);
    rows.push(["Bytes of results", asFarAsKnown(size, bytes(size))]);
    return facts(rows);
  }

  // --- A node, an input, an output -----------------------------------------------------------------

  ofItem(model, item) {
    const info = model.opInfo(item);
    const box = model.boxOf(item);
    const attributes = model.attributes(item);
    const notes = model.notes(item);
    const operands = model.operands(item);
    const results = model.results(item);
    return [
      el("h2", {}, named(model.op(item))),
      this.path(model, box),
      info?.family >= 0 ? el("p", { class: "family" }, this.page.families[info.family][0]) : null,
      info?.doc ? el("p", { class: "doc" }, info.doc) : null,
      facts([["Name", named(model.name(item) || "none")]]),
      this.comparison(model, item),
      attributes.length
        ? section("Attributes", facts(attributes.map((pair) => this.attribute(info, pair))))
        : null,
      operands.length ? section("Operands", ...operands.map((v, i) => this.operand(model, info, v, i))) : null,
      results.length ? section("Results", ...results.map((v, i) => this.result(model, info, v, i))) : null,
      info
        ? section(
            "Cost",
            model.unknownCosts.has(item)
              ? el("p", {}, "Not known: the shapes do not say it.")
              : this.costs(model, box),
          )
        : null,
      notes.length ? section("Notes", facts(notes.map(([name, text]) => [name, named(text)]))) : null,
    ];
  }

  attribute(info, [name, text]) {
    const meaning = info.meanings.get(name);
    return [name, named(text), meaning ? el("small", { class: "meaning" }, meaning) : null];
  }

  // What the definition calls operand or result i; the last one may be repeated.
  static role(names, i) {
    return names?.length ? (names[i] ?? `${names.at(-1)} ${i - names.length + 2}`) : String(i);
  }

  operand(model, info, value, i) {
    const role = Details.role(info?.operands, i);
    if (value < 0) return el("div", { class: "value" }, el("b", {}, role), " left out");
    const from = model.producer[value];
    return el(
      "div",
      { class: "value" },
      el("b", {}, named(role)),
      " ",
      named(clipped(model.valueName(value), 200)),
      el("div", { class: "type" }, named(model.type(value))),
      from >= 0 ? el("div", {}, "from ", this.itemLink(model, from)) : null,
      model.weightOf.has(value) ? this.weight(model, value) : null,
    );
  }

  result(model, info, value, i) {
    const role = Details.role(info?.results, i);
    if (value < 0) return el("div", { class: "value" }, el("b", {}, named(role)), " left out");
    const users = [...new Set(model.consumers.of(value))];
    const shown = users.slice(0, MOST_USERS).map((user) => el("li", {}, this.itemLink(model, user)));
    if (users.length > MOST_USERS) shown.push(el("li", {}, `and ${count(users.length - MOST_USERS)} more`));
    const error = model.errorOf.get(value);
    return el(
      "div",
      { class: "value" },
      el("b", {}, named(role)),
      " ",
      named(clipped(model.valueName(value), 200)),
      el("div", { class: "type" }, named(model.type(value))),
      error ? this.error(error) : null,
      shown.length ? el("ul", { "aria-label": "used by" }, ...shown) : el("div", {}, "not used"),
      model.weightOf.has(value) ? this.weight(model, value) : null, // an input's default
    );
  }

  error([error, maxAbs, maxRel, cosine]) {
    return facts([
      ["Error, as a part of the largest number", number(error)],
      ["Largest absolute", number(maxAbs)],
      ["Largest relative", number(maxRel)],
      ["Cosine", number(cosine)],
    ]);
  }

  comparison(model, item) {
    if (!model.state || model.state[item] === STATE.none) return null;
    const other = this.models[1 - model.index];
    if (model.state[item] === STATE.alone) return el("p", { class: "state" }, "Only in this model.");
    const partner = model.partner[item];
    const texts = this.models[0].differences.get(model.index ? partner : item) ?? [];
    const where = `Here is ${this.models[0].title}, there ${this.models[1].title}:`;
    return el(
      "div",
      { class: "state" },
      el("p", {}, STATE_WORDS[model.state[item]], " In the other model: ", this.itemLink(other, partner)),
      texts.length ? el("p", {}, named(where)) : null,
      texts.length ? el("ul", {}, ...texts.map((text) => el("li", {}, named(model.text(text))))) : null,
    );
  }

  // --- Weights ------------------------------------------------------------------------------------

  weight(model, value) {
    const [, elements, size, what, histogram, data] = model.weightOf.get(value);
    if (typeof what === "string") return el("code", { class: "elements" }, named(what));
    const rows = [["Elements", `${count(elements)} (${bytes(size)})`]];
    if (what.length) {
      const [min, max, mean, deviation, zeros, nans, infinities] = what;
      rows.push(["Range", `${number(min)} to ${number(max)}`]);
      rows.push(["Mean, deviation", `${number(mean)}, ${number(deviation)}`]);
      rows.push(["Zeros", `${count(zeros)} (${((100 * zeros) / elements).toFixed(1)} %)`]);
      if (nans) rows.push(["NaN", count(nans)]);
      if (infinities) rows.push(["Infinite", count(infinities)]);
    }
    return el(
      "div",
      { class: "weight" },
      facts(rows),
      histogram.length > 1 ? this.histogram(histogram, what[0], what[1]) : null,
      data ? new Elements(model.type(value), elements, data).element : null,
    );
  }

  histogram(counts, min, max) {
    const most = Math.max(...counts);
    const width = 256 / counts.length;
    const bars = counts.map((n, i) => {
      const height = most ? (60 * n) / most : 0;
      const from = min + ((max - min) * i) / counts.length;
      return svg(
        "rect",
        { x: i * width, y: 60 - height, width: width - 1, height },
        svg("title", {}, `${count(n)} from ${number(from)}`),
      );
    });
    return el(
      "figure",
      {},
      svg(
        "svg",
        {
          class: "histogram",
          viewBox: "0 0 256 60",
          role: "img",
          "aria-label": `Histogram from ${number(min)} to ${number(max)}`,
        },
        ...bars,
      ),
      el("figcaption", {}, el("span", {}, number(min)), el("span", {}, number(max))),
    );
  }
}
