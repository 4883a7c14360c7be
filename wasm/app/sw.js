// Keeps the files of the page, so that it opens without a network. VERSION is made of their content, MODULE of the
// module's: other files are another cache, and the old one goes away.
const OWN = `x2ir ${registration.scope} `;
const CACHE = OWN + VERSION;
const FILES = ["./", "index.html", `x2ir.wasm?${MODULE}`];

addEventListener("install", (event) => {
  const requests = FILES.map((file) => new Request(file, { cache: file.includes("?") ? "default" : "no-cache" }));
  const filled = caches.open(CACHE).then((cache) => cache.addAll(requests));
  event.waitUntil(filled.then(() => skipWaiting()));
});

addEventListener("activate", (event) => {
  const old = (name) => name.startsWith(OWN) && name !== CACHE;
  const names = caches.keys();
  const removed = names.then((all) => Promise.all(all.filter(old).map((name) => caches.delete(name))));
  event.waitUntil(removed.then(() => clients.claim()));
});

addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  event.respondWith(
    caches.open(CACHE).then(async (cache) => (await cache.match(event.request)) ?? fetch(event.request)),
  );
});
