// One script, or one style sheet, of several files, to be put into a page; pages of other folders are made by it, too.
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import path from "node:path";

// `folder`: where tools/npm_install.sh put esbuild. The result bundles a file: (path, { banner, define }) to its text.
export function bundler(folder) {
  const modules = path.resolve(folder, "node_modules");
  const esbuild = createRequire(path.join(modules, "."))("esbuild");
  return (file, options = {}) => {
    const built = esbuild.buildSync({
      entryPoints: [file],
      absWorkingDir: path.dirname(file),
      nodePaths: [modules],
      bundle: true,
      minify: true,
      format: "iife",
      target: "es2022",
      charset: "utf8",
      write: false,
      logLevel: "warning",
      ...options,
    });
    // Control characters are in literals; as escapes they go through a terminal.
    const escape = (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
    const text = built.outputFiles[0].text.trim().replace(/[^\P{Cc}\n]/gu, escape);
    // It is inside of an element of the same name.
    if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${file} has markup in it`);
    return text;
  };
}

// What a Content-Security-Policy calls a script or a style sheet.
export const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// A page of its template: words in capital letters are replaced by the parts of these names.
export function filled(template, parts) {
  const names = new RegExp(`\\b(${Object.keys(parts).join("|")})\\b`, "g");
  return template.replace(names, (word) => parts[word]);
}
