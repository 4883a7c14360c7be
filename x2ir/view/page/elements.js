// The elements of a weight, where the page has them: a page of rows at a time.
import { count, el, named, number } from "./dom.js";

const ROWS = 64;

// How the bytes of each element type are read.
const READERS = {
  float32: [4, (view, at) => view.getFloat32(at, true)],
  float64: [8, (view, at) => view.getFloat64(at, true)],
  float16: [2, (view, at) => half(view.getUint16(at, true))],
  bfloat16: [2, (view, at) => bfloat(view.getUint16(at, true))],
  int8: [1, (view, at) => view.getInt8(at)],
  int16: [2, (view, at) => view.getInt16(at, true)],
  int32: [4, (view, at) => view.getInt32(at, true)],
  int64: [8, (view, at) => view.getBigInt64(at, true)],
  uint8: [1, (view, at) => view.getUint8(at)],
  uint16: [2, (view, at) => view.getUint16(at, true)],
  uint32: [4, (view, at) => view.getUint32(at, true)],
  uint64: [8, (view, at) => view.getBigUint64(at, true)],
  bool: [1, (view, at) => view.getUint8(at) !== 0],
};

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

function bfloat(bits) {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}

// "float32[2,3]" and 4 give "[1, 1]".
function indexOf(type, i) {
  const dims = (/\[([^\]]*)\]/.exec(type)?.[1] ?? "").split(",").filter(Boolean).map(Number);
  const index = [];
  for (const dim of dims.reverse()) {
    index.unshift(i % dim);
    i = Math.floor(i / dim);
  }
  return `[${index.join(", ")}]`;
}

export class Elements {
  constructor(type, elements, base64) {
    const reader = READERS[type.slice(0, type.indexOf("["))];
    this.type = type;
    this.elements = elements;
    this.base64 = base64;
    this.element = el("details", { ontoggle: () => reader && this.show(0) }, el("summary", {}, "Elements"));
    if (!reader) this.element.append(el("p", {}, "Elements of this type are not shown."));
    [this.size, this.read] = reader ?? [];
  }

  show(first) {
    if (!this.view) {
      const bytes = Uint8Array.from(atob(this.base64), (letter) => letter.charCodeAt(0));
      this.view = new DataView(bytes.buffer);
      this.host = el("div");
      this.element.append(this.host);
    }
    const end = Math.min(this.elements, first + ROWS);
    const rows = [];
    for (let i = first; i < end; ++i) {
      const x = this.read(this.view, i * this.size);
      const text = typeof x === "number" && !Number.isInteger(x) ? number(x) : String(x);
      rows.push(el("tr", {}, el("th", { scope: "row" }, indexOf(this.type, i)), el("td", {}, named(text))));
    }
    const step = (word, to) =>
      el("button", { type: "button", disabled: to < 0 || to >= this.elements, onclick: () => this.show(to) }, word);
    this.host.replaceChildren(
      step("Previous", first - ROWS),
      step("Next", first + ROWS),
      ` ${count(first)}–${count(end - 1)} of ${count(this.elements)}`,
      el("table", { class: "elements" }, ...rows),
    );
  }
}
