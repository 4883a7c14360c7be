// The page: toolbar, one graph or two, the panel beside them.
import { byId, clipped, count, el, named } from "./dom.js";
import { Details } from "./details.js";
import { GraphView } from "./graph_view.js";
import { readModels } from "./model.js";
import { SearchField } from "./search.js";
import { tablesOf } from "./tables.js";

const page = JSON.parse(byId("data").textContent);
const models = readModels(page);
document.title = models.map((model) => model.title).join(" | ");

let active = 0; // the model that was touched last
let trace = null; // what is highlighted of the selection: "upstream", "downstream" or nothing

const panes = models.map((model, index) => {
  const host = el("div", { class: "canvas" });
  const title = el(
    "h1",
    {},
    named(model.title),
    el("small", {}, ` ${count(model.nodes[0])} nodes, ${count(model.parameters[0])} parameters`),
  );
  const element = el("section", { class: "pane", "aria-label": `Model ${index + 1}` }, title, host);
  byId("panes").append(element);
  const view = new GraphView(model, host, {
    select: (box) => select(index, box),
    changed: () => say(""),
  });
  return { element, host, view, tables: null };
});

const details = new Details(
  byId("details"),
  models,
  page,
  (model, item) => go(model.index, item),
  (model, box) => {
    showGraph();
    panes[model.index].view.show(box);
    panes[model.index].view.goTo(box);
    panes[model.index].view.select(box);
  },
);

function say(text) {
  byId("status").textContent = text;
}

// Shows an item in the graph.
function go(index, item) {
  showGraph();
  const { view } = panes[index];
  view.reveal(item);
  view.svg.focus({ preventScroll: true });
}

function select(index, box) {
  active = index;
  const model = models[index];
  details.show(model, box);
  const item = box < 0 ? -1 : model.itemOf(box);
  if (models.length === 2) {
    const other = panes[1 - index].view;
    const partner = item < 0 ? -1 : model.partner[item];
    if (partner >= 0) other.reveal(partner, false);
    else other.mark(-1);
  }
  highlight();
  if (box >= 0) say(`${model.label(box)} ${item >= 0 ? model.typeOf(item) : ""}`);
}

// Highlights what the selected box depends on, or what depends on it.
function highlight() {
  panes.forEach(({ view }, index) => {
    const { model, selected } = view;
    if (!trace || index !== active || selected < 0) return view.highlight(null);
    const found = new Set();
    for (const item of model.itemsIn(selected)) {
      if (!found.has(item)) for (const other of model.reach(item, trace === "upstream")) found.add(other);
    }
    view.highlight(found);
  });
}

// --- The toolbar --------------------------------------------------------------------------------

function button(id, action) {
  byId(id).addEventListener("click", action);
}

function press(id, pressed) {
  byId(id).setAttribute("aria-pressed", String(pressed));
}

function setTrace(wanted) {
  trace = trace === wanted ? null : wanted;
  press("upstream", trace === "upstream");
  press("downstream", trace === "downstream");
  highlight();
}

function showGraph() {
  showTables(false);
}

function showTables(shown) {
  press("table", shown);
  for (const [index, pane] of panes.entries()) {
    if (shown && !pane.tables) {
      pane.tables = tablesOf(
        models[index],
        (item) => go(index, item),
        (query) => search.ask(query),
      );
      pane.element.append(pane.tables);
    }
    if (pane.tables) pane.tables.hidden = !shown;
    pane.host.hidden = shown;
  }
}

function setTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

function each(action) {
  for (const { view } of panes) action(view);
}

const search = new SearchField(byId("search"), byId("results"), byId("found"), models, go, (index, item) => {
  const model = models[index];
  const where = models.length > 1 ? `${index + 1}: ` : "";
  return el(
    "li",
    {},
    el("b", {}, where, named(clipped(model.op(item), 40))),
    " ",
    named(clipped(model.name(item), 70)),
    " ",
    el("small", {}, named(clipped(model.typeOf(item), 40))),
  );
});

button("fit", () => each((view) => view.fit(true)));
button("zoom-in", () => each((view) => view.zoomBy(1.25)));
button("zoom-out", () => each((view) => view.zoomBy(0.8)));
button("close-all", () => each((view) => view.closeAll()));
button("open-more", () => each((view) => view.openMore()));
button("upstream", () => setTrace("upstream"));
button("downstream", () => setTrace("downstream"));
button("table", () => showTables(byId("table").getAttribute("aria-pressed") !== "true"));
button("theme", setTheme);
button("help", () => byId("keys").showModal());
button("close-help", () => byId("keys").close());

if (page.errors) {
  const colors = byId("errors");
  colors.hidden = false;
  byId("scale").hidden = false;
  const setColors = (byErrors) => {
    press("errors", byErrors);
    byId("scale").hidden = !byErrors;
    each((view) => {
      view.byErrors = byErrors;
      view.rebuild();
    });
  };
  button("errors", () => setColors(colors.getAttribute("aria-pressed") !== "true"));
  each((view) => (view.byErrors = true));
}
if (page.first?.value >= 0) {
  byId("first").hidden = false;
  button("first", () => go(0, models[0].producer[page.first.value]));
}

document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement;
  if (typing || event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  const action = {
    "/": () => byId("search").select(),
    f: () => each((view) => view.fit(true)),
    c: () => each((view) => view.closeAll()),
    e: () => each((view) => view.openMore()),
    u: () => setTrace("upstream"),
    d: () => setTrace("downstream"),
    t: () => byId("table").click(),
    "?": () => byId("keys").showModal(),
  }[event.key];
  if (action) {
    event.preventDefault();
    action();
  } else if (event.target === document.body || event.key === "Escape") {
    panes[active].view.key(event);
  }
});

// A page with this one in a frame asks for a node by its name, and is told whether there is one.
addEventListener("message", ({ source, data }) => {
  if (source !== parent || parent === window || typeof data?.node !== "string") return;
  const index = models.findIndex((model) => model.itemNamed(data.node) >= 0);
  if (index >= 0) go(index, models[index].itemNamed(data.node));
  source.postMessage({ shown: index >= 0 }, "*");
});

each((view) => view.start());
details.show(models[0], -1);
// For tests that wait for the page and measure it.
requestAnimationFrame(() =>
  setTimeout(() => (document.documentElement.dataset.ready = Math.round(performance.now()))),
);
