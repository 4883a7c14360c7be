// What a run of the program says: messages, tables, files to download.
import { bytes, count, el, link, named } from "../../x2ir/view/page/dom.js";
import { nameOf } from "./files.js";
import { zip } from "./zip.js";

const MOST_WHOLE = 24; // letters

// Short texts of a table, such as numbers and types, are not broken; names may be of any length.
function cellOf(content) {
  const whole = typeof content === "string" && content.length <= MOST_WHOLE;
  return el("td", whole ? { class: "whole" } : {}, content);
}

export function table(caption, head, rows) {
  return el(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": caption },
    el(
      "table",
      {},
      el("caption", {}, caption),
      el("thead", {}, el("tr", {}, ...head.map((word) => el("th", { scope: "col" }, word)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map(cellOf)))),
    ),
  );
}

export function text(caption, content) {
  return el("pre", { tabindex: 0, role: "region", "aria-label": caption }, content.trimEnd());
}

export function list(caption, items) {
  if (!items.length) return null;
  return el("div", {}, el("h3", {}, caption), el("ul", {}, ...items.map((item) => el("li", {}, named(item)))));
}

const MOST_NODES = 20;

// Operators that cannot be converted; `show`(name of a node) leads to it in the view.
export function failuresTable(failures, show) {
  if (!failures?.length) return null;
  const rows = failures.map((failure) => {
    const nodes = failure.nodes.slice(0, MOST_NODES);
    const more = failure.nodes.length - nodes.length;
    return [
      named(failure.op),
      named(failure.hint ? `${failure.reason}; ${failure.hint}` : failure.reason),
      count(failure.count),
      el(
        "ul",
        { class: "nodes" },
        ...nodes.map((node) => el("li", {}, link(node, () => show(node)))),
        more > 0 ? el("li", {}, `and ${count(more)} more`) : null,
      ),
    ];
  });
  return table("Operators that cannot be converted", ["Operator", "Why", "Nodes", "Where"], rows);
}

export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  el("a", { href: address, download: name }).click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// Files with their sizes; several also as one zip file. `name`: of that. `fail`(text) is told what goes wrong.
export function downloads(files, name, fail) {
  const rows = files.map(([path, file]) =>
    el(
      "li",
      {},
      el("button", { type: "button", onclick: () => save(file.blob, nameOf(path)) }, "Download ", named(path)),
      ` ${bytes(file.size)}`,
    ),
  );
  const all = el(
    "button",
    { type: "button", onclick: () => zip(files).then((blob) => save(blob, name), (error) => fail(error.message)) },
    "Download all as a zip file",
  );
  return el("div", {}, el("h3", {}, "Files"), el("ul", { class: "files" }, ...rows), files.length > 1 ? all : null);
}

// JSON that a run printed, or null.
export function jsonOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
