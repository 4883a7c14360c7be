// A model as the page has it: columns of numbers (data.cc writes them), and what is computed from them once.
//
//   groups   [kind, name, parent, count, item of an owner, type]; 0 is the model, parents come first
//   items    [op, name, group, [operands], [results], [attribute, text, ...], [note, text, ...]]
//   values   [name, type]
//   weights  [value, elements, bytes, text] or [value, elements, bytes, statistics, histogram, base64]
//   costs    [item, multiply-adds, parameters, their bytes, results' bytes]
//
// Names and texts are numbers of `strings`. An op of -1 is an input, of -2 an output. What is drawn is a
// box: box g < groups is a group, box groups + i is item i.

import { visible } from "./dom.js";

export const KIND = { model: 0, module: 1, repeat: 2, block: 3, part: 4, owner: 5, graph: 6 };
export const INPUT = -1;
export const OUTPUT = -2;
// What became of an item in the other model.
export const STATE = { none: 0, same: 1, changed: 2, alone: 3 };

const COSTS = ["multiplyAdds", "parameters", "parameterBytes", "resultBytes"];

// Rows that follow one another in one list: row i is list[start[i]] to list[start[i + 1]].
class Rows {
  constructor(rows, entries) {
    this.start = new Int32Array(rows + 1);
    entries((row) => this.start[row + 1]++);
    for (let i = 0; i < rows; ++i) this.start[i + 1] += this.start[i];
    this.list = new Int32Array(this.start[rows]);
    const next = this.start.slice();
    entries((row, entry) => (this.list[next[row]++] = entry));
  }
  of(row) {
    return this.list.subarray(this.start[row], this.start[row + 1]);
  }
}

export class Model {
  constructor(page, index) {
    const data = page.models[index];
    this.page = page;
    this.index = index;
    this.title = data.title;
    this.facts = data.facts;
    this.groups = data.groups;
    this.items = data.items;
    this.values = data.values;
    this.weightOf = new Map(data.weights.map((row) => [row[0], row]));
    this.unknownCosts = new Set(data.unknownCosts);
    this.state = null; // of items, where there is another model
    this.partner = null;
    this.differences = new Map(); // of changed items of the first model, as texts
    this.errorOf = new Map(); // of values: [error, max abs, max rel, cosine]
    this.buildTree();
    this.buildUses();
    this.buildCosts(data.costs);
    this.buildEdges();
    this.portsOf = new Map();
  }

  // --- Boxes --------------------------------------------------------------------------------------

  buildTree() {
    const groups = this.groups.length;
    const boxes = groups + this.items.length;
    this.parent = new Int32Array(boxes).fill(-1);
    this.depth = new Int32Array(boxes);
    this.last = Int32Array.from({ length: groups }, (_, g) => g); // the last group within each
    for (let g = 1; g < groups; ++g) this.parent[g] = this.groups[g][2];
    for (let i = 0; i < this.items.length; ++i) this.parent[groups + i] = this.items[i][2];
    for (let b = 1; b < boxes; ++b) this.depth[b] = this.depth[this.parent[b]] + 1;
    for (let g = groups - 1; g > 0; --g) {
      const up = this.parent[g];
      this.last[up] = Math.max(this.last[up], this.last[g]);
    }
    this.children = Array.from({ length: groups }, () => []);
    const placed = new Uint8Array(boxes);
    placed[0] = 1;
    for (let i = 0; i < this.items.length; ++i) {
      for (let b = this.boxOf(i); !placed[b]; b = this.parent[b]) {
        placed[b] = 1;
        this.children[this.parent[b]].push(b);
      }
    }
  }

  isGroup(box) {
    return box < this.groups.length;
  }
  // The item of a box: of a group, only if it is a node with nested graphs.
  itemOf(box) {
    return this.isGroup(box) ? this.groups[box][4] : box - this.groups.length;
  }
  boxOf(item) {
    const group = this.items[item][2];
    return this.groups[group][4] === item ? group : this.groups.length + item;
  }
  isWithin(item, group) {
    const g = this.items[item][2];
    return group <= g && g <= this.last[group];
  }
  // All items in a box.
  *itemsIn(box) {
    const todo = [box];
    while (todo.length) {
      const next = todo.pop();
      const item = this.itemOf(next);
      if (item >= 0) yield item;
      if (this.isGroup(next)) todo.push(...this.children[next].toReversed());
    }
  }

  text(number) {
    return this.page.strings[number];
  }
  kind(group) {
    return this.groups[group][0];
  }
  op(item) {
    const op = this.items[item][0];
    return op === INPUT ? "input" : op === OUTPUT ? "output" : this.page.ops[op][0];
  }
  isNode(item) {
    return this.items[item][0] >= 0;
  }
  // What the op is: { name, family, doc, operands, results, meanings }; null of an input or output.
  opInfo(item) {
    if (!this.isNode(item)) return null;
    const [name, family, doc, operands, results, meanings] = this.page.ops[this.items[item][0]];
    return { name, family, doc, operands, results, meanings: new Map(meanings) };
  }
  // What a node is called: by its name, or else by its first result.
  name(item) {
    const [, name, , , results] = this.items[item];
    return this.text(name) || (results.length && results[0] >= 0 ? this.valueName(results[0]) : "");
  }
  operands(item) {
    return this.items[item][3];
  }
  results(item) {
    return this.items[item][4];
  }
  // The item that is called so in the model, or -1.
  itemNamed(text) {
    const name = visible(text);
    return this.items.findIndex((_, item) => this.name(item) === name);
  }
  // [[name, text], ...]
  attributes(item) {
    return this.pairs(this.items[item][5]);
  }
  notes(item) {
    return this.pairs(this.items[item][6]);
  }
  pairs(list = []) {
    const pairs = [];
    for (let i = 0; i < list.length; i += 2) pairs.push([this.text(list[i]), this.text(list[i + 1])]);
    return pairs;
  }
  valueName(value) {
    return this.text(this.values[value][0]);
  }
  type(value) {
    return this.text(this.values[value][1]);
  }
  // The type of what a box gives, of its first result or of the value that a port is.
  typeOf(item) {
    const [value = -1] = this.isNode(item) ? this.results(item) : [...this.results(item), ...this.operands(item)];
    return value < 0 ? "" : this.type(value);
  }
  groupName(group) {
    const [kind, name] = this.groups[group];
    const item = this.itemOf(group);
    if (item >= 0) return this.op(item);
    return this.text(name) || (kind === KIND.model ? this.title : "graph");
  }
  label(box) {
    const item = this.itemOf(box);
    if (item < 0) return this.groupName(box);
    return this.isNode(item) ? this.op(item) : this.name(item);
  }
  // The groups around a box, from the model inwards.
  path(box) {
    const path = [];
    for (let b = this.parent[box]; b >= 0; b = this.parent[b]) path.unshift(b);
    return path;
  }

  // --- Values -------------------------------------------------------------------------------------

  buildUses() {
    this.producer = new Int32Array(this.values.length).fill(-1);
    this.items.forEach((row, item) => {
      for (const value of row[4]) if (value >= 0) this.producer[value] = item;
    });
    this.consumers = new Rows(this.values.length, (add) => {
      this.items.forEach((row, item) => {
        for (const value of row[3]) if (value >= 0) add(value, item);
      });
    });
  }

  // Items that give operands to an item.
  *sources(item) {
    for (const value of this.operands(item)) {
      if (value >= 0 && this.producer[value] >= 0) yield this.producer[value];
    }
  }
  // Items that take its results.
  *users(item) {
    for (const value of this.results(item)) if (value >= 0) yield* this.consumers.of(value);
  }

  // All items that this one depends on, or that depend on it, with itself.
  reach(item, upstream) {
    const found = new Set([item]);
    for (const next of found) {
      for (const other of upstream ? this.sources(next) : this.users(next)) found.add(other);
    }
    return found;
  }

  // --- Costs --------------------------------------------------------------------------------------

  buildCosts(rows) {
    const boxes = this.parent.length;
    for (const name of COSTS) this[name] = new Float64Array(boxes);
    this.nodes = new Float64Array(boxes); // in each box
    const base = this.groups.length;
    for (const row of rows) COSTS.forEach((name, i) => (this[name][base + row[0]] = row[i + 1]));
    for (let i = 0; i < this.items.length; ++i) this.nodes[base + i] = this.isNode(i) ? 1 : 0;
    for (let b = boxes - 1; b > 0; --b) {
      for (const name of [...COSTS, "nodes"]) this[name][this.parent[b]] += this[name][b];
    }
  }
  cost(item, name) {
    return this[name][this.groups.length + item];
  }
  // One row an op: { op, count, multiplyAdds, parameters, parameterBytes, resultBytes }.
  costsByOp() {
    const rows = new Map();
    for (let i = 0; i < this.items.length; ++i) {
      if (!this.isNode(i)) continue;
      const op = this.op(i);
      const row = rows.get(op) ?? { op, count: 0, ...Object.fromEntries(COSTS.map((name) => [name, 0])) };
      rows.set(op, row);
      ++row.count;
      for (const name of COSTS) row[name] += this.cost(i, name);
    }
    return [...rows.values()];
  }

  // --- Edges --------------------------------------------------------------------------------------

  // Of each group, how many values go from one of its children to another.
  buildEdges() {
    this.edges = Array.from({ length: this.groups.length }, () => new Map());
    const boxes = this.parent.length;
    for (let item = 0; item < this.items.length; ++item) {
      for (const source of this.sources(item)) {
        let a = this.boxOf(source);
        let b = this.boxOf(item);
        while (this.depth[a] > this.depth[b]) a = this.parent[a];
        while (this.depth[b] > this.depth[a]) b = this.parent[b];
        while (a !== b && this.parent[a] !== this.parent[b]) [a, b] = [this.parent[a], this.parent[b]];
        if (a === b) continue;
        const edges = this.edges[this.parent[a]];
        const key = a * boxes + b;
        edges.set(key, (edges.get(key) ?? 0) + 1);
      }
    }
  }
  // [[from, to, values], ...] between the children of a group.
  edgesIn(group) {
    const boxes = this.parent.length;
    return [...this.edges[group]].map(([key, n]) => [Math.floor(key / boxes), key % boxes, n]);
  }

  // What comes into a group and leaves it: { inputs: [[value, [children]], ...], outputs: ... }.
  ports(group) {
    if (!this.portsOf.has(group)) this.portsOf.set(group, this.findPorts(group));
    return this.portsOf.get(group);
  }
  findPorts(group) {
    const inputs = new Map();
    const outputs = new Map();
    const childOf = (item) => {
      let box = this.boxOf(item);
      while (box >= 0 && this.parent[box] !== group) box = this.parent[box];
      return box;
    };
    const add = (map, value, item) => {
      const child = childOf(item);
      if (child >= 0) map.set(value, (map.get(value) ?? new Set()).add(child));
    };
    for (const item of group === 0 ? [] : this.itemsIn(group)) {
      for (const value of this.operands(item)) {
        const from = value < 0 ? -1 : this.producer[value];
        if (from >= 0 && !this.isWithin(from, group)) add(inputs, value, item);
      }
      for (const value of this.results(item)) {
        if (value < 0) continue;
        if (this.consumers.of(value).some((user) => !this.isWithin(user, group))) add(outputs, value, item);
      }
    }
    return { inputs: [...inputs], outputs: [...outputs] };
  }

  // --- Beside another model -----------------------------------------------------------------------

  error(item) {
    let worst = -1;
    for (const value of this.results(item)) worst = Math.max(worst, this.errorOf.get(value)?.[0] ?? -1);
    return worst;
  }

  // What groups have of what is in them: the worst error, and how many are changed or alone.
  sumUp() {
    const boxes = this.parent.length;
    const base = this.groups.length;
    this.worst = new Float64Array(boxes).fill(-1);
    this.different = new Float64Array(boxes);
    for (let i = 0; i < this.items.length; ++i) {
      this.worst[base + i] = this.error(i);
      this.different[base + i] = this.state && this.state[i] > STATE.same ? 1 : 0;
    }
    for (let b = boxes - 1; b > 0; --b) {
      const up = this.parent[b];
      this.worst[up] = Math.max(this.worst[up], this.worst[b]);
      this.different[up] += this.different[b];
    }
  }
}

// The models of a page, and how they match.
export function readModels(page) {
  page.strings = page.strings.map(visible);
  for (const row of page.ops) row[0] = visible(row[0]);
  for (const model of page.models) {
    model.title = visible(model.title);
    model.facts = model.facts.map(([name, text]) => [name, visible(text)]);
  }
  const models = page.models.map((_, i) => new Model(page, i));
  if (models.length === 2) {
    for (const model of models) {
      model.partner = new Int32Array(model.items.length).fill(-1);
      model.state = new Uint8Array(model.items.length).fill(STATE.alone);
    }
    const [a, b] = models;
    for (const [x, y, ...differences] of page.matches) {
      [a.partner[x], b.partner[y]] = [y, x];
      a.state[x] = b.state[y] = differences.length ? STATE.changed : STATE.same;
      if (differences.length) a.differences.set(x, differences);
    }
    for (const [x, y, ...error] of page.errors ?? []) {
      if (x >= 0) a.errorOf.set(x, error);
      if (y >= 0) b.errorOf.set(y, error);
    }
  }
  for (const model of models) model.sumUp();
  return models;
}
