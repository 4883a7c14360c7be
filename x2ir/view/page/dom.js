// Making elements, and numbers for people. Text goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// An HTML element: el("button", { onclick: f, "aria-label": "Close" }, "x").
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// An element of SVG.
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// What a browser would not show, or would show as something else: control characters, and those
// that change the direction of the text around them.
const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function visible(text) {
  return text.replace(UNSEEN, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// A name from a model; its characters cannot change the text around it.
export function named(text) {
  return el("bdi", {}, visible(text));
}

// A button that looks like a link.
export function link(text, onclick, attributes = {}) {
  return el("button", { type: "button", class: "link", onclick, ...attributes }, named(text));
}

export function byId(id) {
  return document.getElementById(id);
}

// 1234567 as "1,234,567".
export function count(n) {
  return n.toLocaleString("en");
}

// 1234567 as "1.23 M".
export function short(n) {
  for (const [unit, size] of [
    ["T", 1e12],
    ["G", 1e9],
    ["M", 1e6],
    ["k", 1e3],
  ]) {
    if (n >= size) return `${(n / size).toPrecision(3)} ${unit}`;
  }
  return String(n);
}

export function bytes(n) {
  for (const [unit, size] of [
    ["GiB", 2 ** 30],
    ["MiB", 2 ** 20],
    ["KiB", 2 ** 10],
  ]) {
    if (n >= size) return `${(n / size).toFixed(1)} ${unit}`;
  }
  return `${n} B`;
}

// A number with as many digits as a person reads; null means NaN.
export function number(x) {
  return x === null ? "NaN" : Number(x.toPrecision(5)).toString().replace("Infinity", "∞");
}

export function clipped(text, most) {
  const letters = Array.from(text.length > 4 * most ? text.slice(0, 4 * most) : text);
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : text;
}
