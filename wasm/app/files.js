// Files that were dropped or chosen, by their paths, and which of them may be the model.
import { READ } from "./formats.js";

export function nameOf(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

// A path as an argument: relative to the folder that the program starts in, so that messages name files as the user does.
export function argumentOf(path) {
  const name = path.replace(/^\/models\//, "");
  return name.startsWith("-") ? path : name;
}

// [[path, File]] of what was dropped; folders with all that is in them.
export async function dropped(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  // All of them are asked before anything is waited for: the list is emptied afterwards.
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  const files = [];
  for (const entry of entries) {
    if (entry instanceof File) files.push([entry.name, entry]);
    else if (entry) await walk(entry, "", files);
  }
  return files;
}

async function walk(entry, folder, files) {
  const path = folder + entry.name;
  if (entry.isFile) {
    files.push([path, await new Promise((done, failed) => entry.file(done, failed))]);
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    // A part of the folder at a time.
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    for (const inner of some) await walk(inner, `${path}/`, files);
  }
}

// [[path, File]] of a field's files.
function chosen(list) {
  return [...list].map((file) => [file.webkitRelativePath || file.name, file]);
}

// Asks for files; none where nothing was chosen. The field is in the page as long as the browser's window is open, since
// it could be thrown away otherwise.
export function choose({ folder = false, several = true, accept = "" } = {}) {
  const field = document.createElement("input");
  Object.assign(field, { type: "file", multiple: several, webkitdirectory: folder, accept, hidden: true });
  field.setAttribute("aria-label", "Files");
  document.body.append(field);
  return new Promise((done) => {
    field.addEventListener("change", () => done(chosen(field.files)));
    field.addEventListener("cancel", () => done([]));
    field.click();
  }).finally(() => field.remove());
}

// The files of a model: what was given, below a folder of the program.
export class FileSet {
  constructor(root, files = []) {
    this.root = root;
    this.files = new Map();
    this.add(files);
  }

  add(files) {
    for (const [path, file] of files) this.files.set(`${this.root}/${path}`, file);
  }

  get entries() {
    return [...this.files];
  }

  // A path as the user gave it.
  label(path) {
    return path.slice(this.root.length + 1);
  }

  // What may be the model, the likely ones first: folders that were given, and files whose names end as those of a
  // format that is read.
  candidates() {
    const paths = [...this.files.keys()];
    const inner = paths.filter((path) => this.label(path).includes("/"));
    const folders = new Set(inner.map((path) => `${this.root}/${this.label(path).split("/")[0]}`));
    const extensions = READ.flatMap((format) => format.extensions);
    const known = (path) => extensions.some((extension) => path.toLowerCase().endsWith(extension));
    const depth = (path) => path.split("/").length;
    const files = paths.sort((a, b) => known(b) - known(a) || depth(a) - depth(b));
    const likely = files.filter(known);
    return { likely: [...folders, ...(likely.length ? likely : files)], all: [...folders, ...files] };
  }
}
