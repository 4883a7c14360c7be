// Tables of a model: costs by op, and the nodes that cost most.
import { bytes, clipped, count, el, link, named, short } from "./dom.js";

const MOST_NODES = 200;

const COLUMNS = [
  { key: "parameters", title: "Parameters", text: count },
  { key: "multiplyAdds", title: "Multiply-adds", text: short },
  { key: "parameterBytes", title: "Bytes of weights", text: bytes },
  { key: "resultBytes", title: "Bytes of results", text: bytes },
];

// A table whose columns sort it. `columns`: { key, title }, and `text` of a number or `cell` of a row; rows are objects.
class SortedTable {
  constructor(title, columns, rows, by) {
    Object.assign(this, { columns, rows, by, up: false });
    this.head = el("tr");
    this.body = el("tbody");
    this.element = el("table", {}, el("caption", {}, title), el("thead", {}, this.head), this.body);
    this.update();
  }

  update() {
    const { by, up } = this;
    const sign = up ? 1 : -1;
    const compare = (a, b) => (typeof a === "string" ? (a < b ? -1 : a > b ? 1 : 0) : a - b);
    const rows = [...this.rows].sort((a, b) => sign * compare(a[by], b[by]));
    this.head.replaceChildren(
      ...this.columns.map(({ key, title, text }) =>
        el(
          "th",
          { scope: "col", class: text ? "number" : undefined, "aria-sort": key === by ? (up ? "ascending" : "descending") : "none" },
          el("button", { type: "button", onclick: () => this.sortBy(key) }, title, key === by ? (up ? " ▲" : " ▼") : ""),
        ),
      ),
    );
    this.body.replaceChildren(
      ...rows.slice(0, MOST_NODES).map((row) =>
        el("tr", {}, ...this.columns.map(({ key, text, cell }) => el("td", { class: text ? "number" : undefined }, text ? text(row[key]) : cell(row)))),
      ),
    );
  }

  sortBy(key) {
    this.up = key === this.by ? !this.up : typeof this.rows[0]?.[key] === "string";
    this.by = key;
    this.update();
  }
}

// `go`(item) shows a node, `search`(query) what there is of an op.
export function tablesOf(model, go, search) {
  const byOp = [
    { key: "op", title: "Op", cell: (row) => link(row.op, () => search(`op:${row.op}`)) },
    { key: "count", title: "Count", text: count },
    ...COLUMNS,
  ];
  const nodes = [];
  model.items.forEach((_, item) => {
    if (!model.isNode(item)) return;
    const row = { item, op: model.op(item), name: model.name(item) };
    for (const { key } of COLUMNS) row[key] = model.cost(item, key);
    if (COLUMNS.some(({ key }) => row[key] > 0)) nodes.push(row);
  });
  const byNode = [
    { key: "name", title: "Node", cell: (row) => link(clipped(row.name || "(no name)", 70), () => go(row.item)) },
    { key: "op", title: "Op", cell: (row) => named(row.op) },
    ...COLUMNS,
  ];
  const by = model.multiplyAdds[0] > 0 ? "multiplyAdds" : "parameters";
  return el(
    "div",
    { class: "tables" },
    new SortedTable("By op", byOp, model.costsByOp(), by).element,
    new SortedTable("The biggest nodes", byNode, nodes, by).element,
  );
}
