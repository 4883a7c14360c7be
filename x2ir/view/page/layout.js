// Places boxes. Each open group is laid out by itself, around what it holds, and only once for as long as
// nothing within it opens or closes: opening one group costs the layouts of that group and of those around it.
import dagre from "@dagrejs/dagre";

import { INPUT, KIND, OUTPUT } from "./model.js";
import { clipped, count } from "./dom.js";

const PADDING = 16;
const HEADER = 26; // of an open group
const LINE = 16;
const MOST_LETTERS = 34;
const MOST_PORTS = 8;
const MANY = 24; // boxes, from which on a faster way to find layers is taken

const measure = document.createElement("canvas").getContext("2d");

function widthOf(text, isTitle = false) {
  measure.font = isTitle ? "600 13px system-ui, sans-serif" : "12px system-ui, sans-serif";
  return measure.measureText(text).width;
}

// The content of a closed box: a title and a line below it.
export function textOf(model, box) {
  const item = model.itemOf(box);
  let title = clipped(model.label(box), MOST_LETTERS);
  let detail = item < 0 ? "" : model.typeOf(item);
  if (item < 0) {
    const [kind, , , times, , type] = model.groups[box];
    const nodes = model.nodes[box];
    detail = nodes === 1 ? "1 node" : `${count(nodes)} nodes`;
    if (model.text(type)) detail = `${clipped(model.text(type), MOST_LETTERS - 10)} · ${detail}`;
    if (kind === KIND.repeat) title += ` ×${times}`;
  }
  return [title, clipped(detail, MOST_LETTERS)].filter(Boolean);
}

function closedSize(model, box) {
  const lines = textOf(model, box);
  const width =
    Math.max(60, ...lines.map((line, i) => widthOf(line, i === 0))) + 2 * 12 + (model.isGroup(box) ? 22 : 0);
  return { width: Math.ceil(width), height: lines.length * LINE + 12 };
}

export class Layout {
  constructor(model) {
    this.model = model;
    this.open = new Set([0]);
    this.done = new Map(); // of open groups
  }

  isOpen(box) {
    return this.open.has(box);
  }

  setOpen(group, open) {
    if (this.open.has(group) === open) return;
    if (open) this.open.add(group);
    else this.open.delete(group);
    for (let g = group; g >= 0; g = this.model.parent[g]) this.done.delete(g);
  }

  closeAll() {
    this.open = new Set([0]);
    this.done.clear();
  }

  // Of an open group: { width, height, boxes, edges, ports }, in coordinates of its upper left corner.
  of(group) {
    if (!this.done.has(group)) this.done.set(group, this.place(group));
    return this.done.get(group);
  }

  place(group) {
    const { model } = this;
    const graph = new dagre.graphlib.Graph();
    const children = model.children[group];
    const ranker = children.length > MANY ? "longest-path" : "network-simplex";
    graph.setGraph({ rankdir: "TB", nodesep: 18, ranksep: 30, edgesep: 8, ranker });
    const boxes = children.map((id) => {
      const inner = model.isGroup(id) && this.isOpen(id) ? this.of(id) : null;
      const { width, height } = inner ?? closedSize(model, id);
      return { id, inner, width, height };
    });
    for (const box of boxes) graph.setNode(String(box.id), { width: box.width, height: box.height });
    const edges = model.edgesIn(group).map(([from, to, values]) => ({ from, to, values }));
    for (const { from, to, values } of edges) {
      graph.setEdge(String(from), String(to), { weight: Math.min(values, 4) });
    }
    const ports = this.placePorts(group, graph, edges);
    dagre.layout(graph);
    const { width, height } = graph.graph();
    const title = group === 0 ? 0 : widthOf(textOf(model, group).join("  "), true) + 48;
    const whole = Math.max(width + 2 * PADDING, title);
    const left = (whole - width) / 2;
    const top = PADDING + (group === 0 ? 0 : HEADER);
    const at = (node) => ({
      x: node.x - node.width / 2 + left,
      y: node.y - node.height / 2 + top,
      width: node.width,
      height: node.height,
    });
    for (const box of boxes) Object.assign(box, at(graph.node(String(box.id))));
    for (const port of ports) Object.assign(port, at(graph.node(port.key)));
    for (const edge of edges) {
      const { points } = graph.edge(String(edge.from), String(edge.to));
      edge.points = points.map(({ x, y }) => [x + left, y + top]);
    }
    return { width: whole, height: height + top + PADDING, boxes, edges, ports };
  }

  // Values from and to the outside are at the borders.
  placePorts(group, graph, edges) {
    const { model } = this;
    const ports = [];
    const { inputs, outputs } = model.ports(group);
    for (const [list, isInput] of [
      [inputs, true],
      [outputs, false],
    ]) {
      list.slice(0, MOST_PORTS).forEach(([value, children], i) => {
        const key = `${isInput ? "in" : "out"}${i}`;
        const text = clipped(model.valueName(value), 24);
        graph.setNode(key, { width: widthOf(text) + 16, height: 20 });
        ports.push({ key, value, isInput, text });
        for (const child of children) {
          const edge = isInput ? { from: key, to: child } : { from: child, to: key };
          graph.setEdge(String(edge.from), String(edge.to), { weight: 1 });
          edges.push({ ...edge, values: 1 });
        }
      });
    }
    return ports;
  }
}

// Which groups are open at first: all of a small model; otherwise as many as fit on a screen,
// repeats closed. Parts of long lists are open too, since they are not groups of the model. If this
// shows hardly any node, the first groups are opened.
export function openAtFirst(layout, most = 40, mostOfParts = 400, fewNodes = 8) {
  const { model } = layout;
  let shown = model.children[0].length;
  let ofParts = 0;
  let nodes = 0;
  const queue = [];
  const see = (boxes) => {
    nodes += boxes.filter((box) => !model.isGroup(box) && model.isNode(model.itemOf(box))).length;
    queue.push(...boxes.filter((box) => model.isGroup(box)));
  };
  const open = (group) => {
    layout.setOpen(group, true);
    see(model.children[group]);
  };
  see(model.children[0]);
  for (const group of queue) {
    const within = model.children[group].length;
    const kind = model.kind(group);
    if (kind === KIND.part && ofParts + within <= mostOfParts) {
      ofParts += within;
    } else if (kind === KIND.repeat || kind === KIND.part || shown + within > most) {
      continue;
    } else {
      shown += within;
    }
    open(group);
  }
  const firstClosed = (group) => {
    for (const box of model.children[group].filter((child) => model.isGroup(child))) {
      const found = layout.isOpen(box) ? firstClosed(box) : box;
      if (found >= 0) return found;
    }
    return -1;
  };
  for (let group = firstClosed(0); nodes < fewNodes && group >= 0; group = firstClosed(0)) open(group);
}

// The look of a box: "node", "input", "output" or "group".
export function lookOf(model, box) {
  const item = model.itemOf(box);
  if (item < 0) return "group";
  const op = model.items[item][0];
  return op === INPUT ? "input" : op === OUTPUT ? "output" : "node";
}
