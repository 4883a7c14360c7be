// The drawing of one model: pan and zoom, boxes that open and close, the keyboard. Only what is on the screen,
// or near it, has elements.
import { clipped, svg } from "./dom.js";
import { Layout, lookOf, openAtFirst, textOf } from "./layout.js";
import { KIND, STATE } from "./model.js";

const NEAREST = 4; // zoom
const FARTHEST = 0.02;
const READABLE = 0.45; // text below is left out
const MARGIN = 0.3; // of the screen, around it
const LINE = 16;

const STATE_WORDS = { [STATE.changed]: "changed", [STATE.alone]: "only here" };

export class GraphView {
  // `events`: select(item or group box, or -1), changed().
  constructor(model, host, events) {
    this.model = model;
    this.events = events;
    this.layout = new Layout(model);
    this.selected = -1;
    this.lit = null; // boxes that are highlighted; the rest is dimmed
    this.byErrors = false;
    this.x = this.y = 0;
    this.zoom = 1;
    this.drawn = new Map();
    this.layers = [];
    this.root = svg("g");
    this.svg = svg(
      "svg",
      {
        class: "graph",
        tabindex: "0",
        role: "application",
        "aria-label": `Graph of ${clipped(model.title, 80)}. Arrow keys move, Enter opens and closes.`,
      },
      svg(
        "defs",
        {},
        svg(
          "marker",
          {
            id: this.id("arrow"),
            viewBox: "0 0 8 8",
            refX: 7,
            refY: 4,
            markerWidth: 9,
            markerHeight: 9,
            markerUnits: "userSpaceOnUse",
            orient: "auto",
          },
          svg("path", { d: "M0,0 L8,4 L0,8 z", class: "arrow" }),
        ),
      ),
      this.root,
    );
    host.append(this.svg);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.svg);
  }

  id(name) {
    return `m${this.model.index}-${name}`;
  }

  start() {
    openAtFirst(this.layout);
    this.rebuild();
    this.fit();
  }

  // --- What is where ------------------------------------------------------------------------------

  // Lists everything that is visible, with its place in the whole.
  rebuild() {
    this.boxes = new Map(); // by box
    this.things = []; // what may be drawn, and where
    const whole = this.layout.of(0);
    this.width = whole.width;
    this.height = whole.height;
    this.list(0, whole, 0, 0, 0);
    this.clear();
    this.draw();
  }

  list(group, placed, left, top, depth) {
    // `ends`: the boxes that it is about.
    const add = (key, level, ends, x0, y0, x1, y1, make) =>
      this.things.push({ key, level, ends, x0, y0, x1, y1, make });
    placed.edges.forEach((edge, i) => {
      const points = edge.points.map(([x, y]) => [x + left, y + top]);
      const xs = points.map((p) => p[0]);
      const ys = points.map((p) => p[1]);
      const ends = [edge.from, edge.to].filter((end) => typeof end === "number");
      const area = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
      add(`e${group}-${i}`, 2 * depth, ends, ...area, () => this.makeEdge(edge, points));
    });
    for (const port of placed.ports) {
      const x = port.x + left;
      const y = port.y + top;
      add(`p${group}-${port.key}`, 2 * depth + 1, [], x, y, x + port.width, y + port.height, () =>
        this.makePort(port, x, y),
      );
    }
    for (const box of placed.boxes) {
      const place = { x: box.x + left, y: box.y + top, width: box.width, height: box.height, group };
      this.boxes.set(box.id, place);
      add(box.id, 2 * depth + 1, [box.id], place.x, place.y, place.x + place.width, place.y + place.height, () =>
        this.makeBox(box, place),
      );
      if (box.inner) this.list(box.id, box.inner, place.x, place.y, depth + 1);
    }
  }

  // Everything is made anew.
  clear() {
    this.drawn.clear();
    this.layers = [];
    this.root.replaceChildren();
  }

  layer(level) {
    while (this.layers.length <= level) {
      this.layers.push(svg("g"));
      this.root.append(this.layers.at(-1));
    }
    return this.layers[level];
  }

  // Once a frame.
  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.drawNow();
    });
  }

  drawNow() {
    const { clientWidth: w, clientHeight: h } = this.svg;
    if (!w) return; // the table is shown
    this.root.setAttribute("transform", `translate(${this.x},${this.y}) scale(${this.zoom})`);
    this.svg.classList.toggle("far", this.zoom < READABLE);
    const x0 = (-this.x - MARGIN * w) / this.zoom;
    const y0 = (-this.y - MARGIN * h) / this.zoom;
    const x1 = (-this.x + (1 + MARGIN) * w) / this.zoom;
    const y1 = (-this.y + (1 + MARGIN) * h) / this.zoom;
    for (const thing of this.things) {
      const seen = thing.x1 >= x0 && thing.x0 <= x1 && thing.y1 >= y0 && thing.y0 <= y1;
      let element = this.drawn.get(thing.key);
      if (!seen) {
        element?.remove();
        this.drawn.delete(thing.key);
        continue;
      }
      if (!element) {
        element = thing.make();
        this.drawn.set(thing.key, element);
        this.layer(thing.level).append(element);
      }
      element.classList.toggle("selected", thing.ends.includes(this.selected));
      element.classList.toggle("dim", this.lit !== null && !thing.ends.every((end) => this.lit.has(end)));
    }
  }

  // --- Elements -----------------------------------------------------------------------------------

  makeBox(box, place) {
    const { model } = this;
    const { id } = box;
    const look = lookOf(model, id);
    const isGroup = model.isGroup(id);
    const item = model.itemOf(id);
    const lines = textOf(model, id);
    const state = item >= 0 && model.state ? model.state[item] : STATE.none;
    const classes = ["box", look, box.inner ? "open" : "closed"];
    if (isGroup && model.kind(id) === KIND.repeat) classes.push("repeat");
    if (state > STATE.same) classes.push(state === STATE.alone ? `alone-${model.index}` : "changed");
    const different = isGroup ? model.different[id] - (state > STATE.same ? 1 : 0) : 0;
    const words = [lines.join(", "), item >= 0 && model.isNode(item) ? model.name(item) : ""];
    if (STATE_WORDS[state]) words.push(STATE_WORDS[state]);
    if (different) words.push(`${different} differ`);
    const element = svg("g", {
      class: classes.join(" "),
      id: this.id(`box-${id}`),
      role: "button",
      "aria-label": words.filter(Boolean).join(", "),
      "aria-expanded": isGroup ? String(Boolean(box.inner)) : undefined,
      transform: `translate(${place.x},${place.y})`,
      onclick: () => this.select(id),
      ondblclick: () => this.toggle(id),
    });
    if (classes.includes("repeat") && !box.inner) {
      for (const shift of [8, 4]) {
        element.append(svg("rect", { x: shift, y: shift, width: place.width, height: place.height, rx: 6 }));
      }
    }
    const rect = svg("rect", { width: place.width, height: place.height, rx: look.endsWith("put") ? 16 : 6 });
    const color = this.colorOf(id);
    if (color) rect.style.setProperty("--color", color);
    element.append(rect);
    if (different) element.append(svg("circle", { class: "differs", cx: place.width, cy: 0, r: 5 }));
    if (box.inner) {
      const [title, ...rest] = lines;
      const detail = svg("tspan", { class: "detail", dx: 10 }, ...rest);
      element.append(svg("text", { x: 30, y: 18, class: "title" }, title, detail));
    } else {
      const left = isGroup ? 30 : place.width / 2;
      const anchor = isGroup ? "start" : "middle";
      lines.forEach((line, i) => {
        const y = LINE * (i + 1) + 2;
        element.append(svg("text", { x: left, y, "text-anchor": anchor, class: i ? "detail" : "title" }, line));
      });
    }
    if (isGroup) {
      const mark = svg(
        "g",
        {
          class: "toggle",
          onclick: (event) => (event.stopPropagation(), this.toggle(id)),
          ondblclick: (event) => event.stopPropagation(),
        },
        svg("rect", { x: 8, y: 6, width: 16, height: 16, rx: 3 }),
        svg("path", { d: box.inner ? "M12,14 h8" : "M12,14 h8 M16,10 v8" }),
      );
      element.append(mark);
    }
    return element;
  }

  colorOf(box) {
    const { model } = this;
    if (this.byErrors) return model.worst[box] < 0 ? "" : errorColor(model.worst[box]);
    const item = model.itemOf(box);
    const info = item < 0 ? null : model.opInfo(item);
    return info && info.family >= 0 ? model.page.families[info.family][1] : "";
  }

  makeEdge(edge, points) {
    const element = svg("path", {
      class: "edge",
      d: curve(points),
      "marker-end": `url(#${this.id("arrow")})`,
    });
    if (edge.values > 1) element.classList.add("several");
    return element;
  }

  makePort(port, x, y) {
    const { model } = this;
    const word = port.isInput ? "from outside" : "to outside";
    return svg(
      "g",
      {
        class: "port",
        role: "button",
        "aria-label": `${word}: ${port.text}`,
        transform: `translate(${x},${y})`,
        onclick: () => {
          const item = port.isInput
            ? model.producer[port.value]
            : (model.consumers.of(port.value).find((user) => user !== model.producer[port.value]) ?? -1);
          if (item >= 0) this.reveal(item);
        },
      },
      svg("rect", { width: port.width, height: port.height, rx: 10 }),
      svg("text", { x: port.width / 2, y: 14, "text-anchor": "middle", class: "detail" }, port.text),
    );
  }

  // --- What is selected, lit, open ----------------------------------------------------------------

  // Highlights items and the groups around them; null: nothing.
  highlight(items) {
    this.lit = items && new Set();
    for (const item of items ?? []) {
      for (let b = this.model.boxOf(item); b >= 0 && !this.lit.has(b); b = this.model.parent[b]) this.lit.add(b);
    }
    this.draw();
  }

  mark(box) {
    this.selected = box;
    this.draw();
    if (box >= 0) this.svg.setAttribute("aria-activedescendant", this.id(`box-${box}`));
    else this.svg.removeAttribute("aria-activedescendant");
  }

  select(box) {
    this.mark(box);
    this.events.select(box);
  }

  toggle(box) {
    if (!this.model.isGroup(box) || box === 0) return;
    const before = this.boxes.get(box);
    this.layout.setOpen(box, !this.layout.isOpen(box));
    this.rebuild();
    // It stays where it was on the screen.
    const after = this.boxes.get(box);
    if (before && after) {
      this.x += (before.x - after.x) * this.zoom;
      this.y += (before.y - after.y) * this.zoom;
    }
    this.draw();
    this.events.changed();
  }

  closeAll() {
    this.layout.closeAll();
    this.rebuild();
    this.fit();
  }

  // Opens one level more, of groups on the screen, as long as the drawing stays small.
  openMore(most = 1500) {
    const { model } = this;
    let shown = this.boxes.size;
    for (const box of [...this.boxes.keys()]) {
      if (!model.isGroup(box) || this.layout.isOpen(box)) continue;
      if (shown + model.children[box].length > most) continue;
      shown += model.children[box].length;
      this.layout.setOpen(box, true);
    }
    this.rebuild();
    this.fit();
  }

  // Opens what is around a box.
  show(box) {
    for (const group of this.model.path(box)) this.layout.setOpen(group, true);
    if (!this.boxes.has(box)) this.rebuild();
  }

  // Opens what is around an item, selects it and moves there.
  reveal(item, tell = true) {
    const box = this.model.boxOf(item);
    this.show(box);
    this.goTo(box);
    if (tell) this.select(box);
    else this.mark(box);
  }

  // --- The screen ---------------------------------------------------------------------------------

  goTo(box) {
    const place = this.boxes.get(box);
    if (!place) return;
    const { clientWidth: w, clientHeight: h } = this.svg;
    this.zoom = Math.max(this.zoom, 0.7);
    this.x = w / 2 - (place.x + place.width / 2) * this.zoom;
    this.y = h / 2 - (place.y + Math.min(place.height, h / this.zoom) / 2) * this.zoom;
    this.draw();
  }

  // The whole on the screen; where that would be too small to read, its beginning.
  fit(whole = false) {
    const { clientWidth: w, clientHeight: h } = this.svg;
    const zoom = Math.min(1, (w - 40) / this.width, (h - 40) / this.height);
    this.zoom = whole
      ? Math.max(FARTHEST, zoom)
      : Math.max(zoom, Math.min(0.8, Math.max(READABLE, (w - 40) / this.width)));
    this.x = (w - this.width * this.zoom) / 2;
    this.y = Math.max(20, (h - this.height * this.zoom) / 2);
    this.draw();
  }

  zoomBy(factor, x = this.svg.clientWidth / 2, y = this.svg.clientHeight / 2) {
    const zoom = Math.min(NEAREST, Math.max(FARTHEST, this.zoom * factor));
    this.x = x - ((x - this.x) * zoom) / this.zoom;
    this.y = y - ((y - this.y) * zoom) / this.zoom;
    this.zoom = zoom;
    this.draw();
  }

  listen() {
    const { svg: element } = this;
    element.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        if (event.shiftKey) {
          this.x -= event.deltaY + event.deltaX;
          this.draw();
          return;
        }
        const area = element.getBoundingClientRect();
        this.zoomBy(Math.exp(-event.deltaY / 400), event.clientX - area.left, event.clientY - area.top);
      },
      { passive: false },
    );
    let last = null;
    element.addEventListener("pointerdown", (event) => {
      element.focus({ preventScroll: true });
      if (event.button === 0) last = { x: event.clientX, y: event.clientY, moved: 0 };
    });
    element.addEventListener("pointermove", (event) => {
      if (!last || !event.buttons) return;
      const dx = event.clientX - last.x;
      const dy = event.clientY - last.y;
      last = { x: event.clientX, y: event.clientY, moved: last.moved + Math.abs(dx) + Math.abs(dy) };
      if (last.moved > 4 && !element.hasPointerCapture(event.pointerId))
        element.setPointerCapture(event.pointerId);
      this.x += dx;
      this.y += dy;
      this.draw();
    });
    element.addEventListener("click", (event) => {
      if (event.target === element && (last?.moved ?? 0) <= 4) this.select(-1);
      last = null;
    });
    element.addEventListener("keydown", (event) => this.key(event));
  }

  // --- The keyboard -------------------------------------------------------------------------------

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] }[event.key];
    if (step) this.move(...step);
    else if (event.key === "Enter" || event.key === " ") this.toggle(this.selected);
    else if (event.key === "Escape") this.select(-1);
    else if (event.key === "+" || event.key === "=") this.zoomBy(1.25);
    else if (event.key === "-") this.zoomBy(0.8);
    else if (event.key === "0") this.fit(true);
    else if (event.key === "Home") this.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Down and up along edges where there are some, into an open group and out of it, sideways to the
  // boxes beside it.
  move(dx, dy) {
    const from = this.boxes.get(this.selected);
    if (!from) {
      const [first] = this.boxes.keys();
      if (first !== undefined) this.goAndSelect(first);
      return;
    }
    if (dy > 0 && this.layout.isOpen(this.selected)) {
      this.goAndSelect(this.model.children[this.selected][0]);
      return;
    }
    const group = this.model.parent[this.selected];
    let others = this.model.children[group];
    if (dy) {
      const linked = this.model
        .edgesIn(group)
        .filter(([a, b]) => (dy > 0 ? a : b) === this.selected)
        .map(([a, b]) => (dy > 0 ? b : a));
      if (linked.length) others = linked;
    }
    const middle = (place) => [place.x + place.width / 2, place.y + place.height / 2];
    const [x, y] = middle(from);
    let best = -1;
    let nearest = Infinity;
    for (const box of others) {
      const place = this.boxes.get(box);
      if (!place || box === this.selected) continue;
      const [u, v] = middle(place);
      const along = (u - x) * dx + (v - y) * dy;
      const across = Math.abs((u - x) * dy) + Math.abs((v - y) * dx);
      if (along <= 0) continue;
      const distance = along + 3 * across;
      if (distance < nearest) [best, nearest] = [box, distance];
    }
    if (best < 0 && dy < 0 && group > 0) best = group; // out of the group
    if (best >= 0) this.goAndSelect(best);
  }

  goAndSelect(box) {
    const place = this.boxes.get(box);
    const { clientWidth: w, clientHeight: h } = this.svg;
    const x = place.x * this.zoom + this.x;
    const y = place.y * this.zoom + this.y;
    const outside = x < 0 || y < 0 || x + place.width * this.zoom > w || y + 40 * this.zoom > h;
    if (outside) this.goTo(box);
    this.select(box);
  }
}

// A line through points that turns softly.
function curve(points) {
  const [[x0, y0], ...rest] = points;
  let d = `M${x0},${y0}`;
  for (let i = 0; i + 1 < rest.length; ++i) {
    const [x, y] = rest[i];
    const [u, v] = rest[i + 1];
    const end = i + 2 === rest.length ? [u, v] : [(x + u) / 2, (y + v) / 2];
    d += ` Q${x},${y} ${end[0]},${end[1]}`;
  }
  if (rest.length === 1) d += ` L${rest[0][0]},${rest[0][1]}`;
  return d;
}

// From green (no more than rounding) over yellow to red (a tenth and more of the largest number).
export function errorColor(error) {
  const part = Math.min(1, Math.max(0, (Math.log10(Math.max(error, 1e-12)) + 7) / 6));
  return `hsl(${Math.round(130 * (1 - part))} 75% 72%)`;
}
