// The tables of formats and options that the program prints; the build puts them into the page.
import { byId } from "../../x2ir/view/page/dom.js";

const tables = JSON.parse(byId("tables").textContent);

export const FORMATS = tables.formats; // of x2ir formats --json
export const OPTIONS = tables.options; // of x2ir formats --options
export const READ = FORMATS.filter((format) => format.reads);
export const WRITTEN = FORMATS.filter((format) => format.writes);

export function formatOf(name) {
  return FORMATS.find((format) => format.name === name);
}

// "net.tfjs.json" is "net".
export function stemOf(name) {
  const endings = FORMATS.flatMap((format) => format.extensions).sort((a, b) => b.length - a.length);
  const ending = endings.find((text) => name.toLowerCase().endsWith(text) && name.length > text.length);
  return ending ? name.slice(0, -ending.length) : name.replace(/(?<=.)\.[^.]*$/, "");
}
