// Serves the folder of the app on 127.0.0.1: node serve.mjs FOLDER [PORT]
import { createReadStream, statSync } from "node:fs";
import http from "node:http";
import path from "node:path";

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".wasm": "application/wasm" };
const FILES = new Set(["index.html", "sw.js", "x2ir.wasm", "x2ir.html"]);

// A server that listens; `port` 0: one that is free.
export function serve(folder, port = 0) {
  const server = http.createServer((request, response) => {
    const name = new URL(request.url, "http://x").pathname.slice(1) || "index.html";
    const host = (request.headers.host ?? "").replace(/:\d+$/, "");
    if (request.method !== "GET" || !FILES.has(name) || (host !== "127.0.0.1" && host !== "localhost")) {
      response.writeHead(404).end();
      return;
    }
    const file = path.join(folder, name);
    response.writeHead(200, {
      "content-type": TYPES[path.extname(name)],
      "content-length": statSync(file).size,
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
    });
    createReadStream(file).pipe(response);
  });
  return new Promise((done) => server.listen(port, "127.0.0.1", () => done(server)));
}

if (import.meta.filename === process.argv[1] || import.meta.url === `file://${process.argv[1]}`) {
  const server = await serve(process.argv[2], Number(process.argv[3] ?? 0));
  console.log(`http://127.0.0.1:${server.address().port}/`);
}
