// What takes its time: one task at a time, with its progress, and a button that cancels it.
import { byId } from "../../x2ir/view/page/dom.js";
import { Cancelled } from "./engine.js";

const PATIENCE = 300; // milliseconds before a task is shown

export class Tasks {
  // `fail`(text) is called with what a task throws.
  constructor(engine, fail) {
    this.engine = engine;
    this.fail = fail;
    this.current = "";
    byId("cancel").addEventListener("click", () => this.cancel());
  }

  // Runs body(run): `run`(args, files) is a run of the program. The result is undefined where the task failed, was
  // cancelled, or another one runs.
  async do(title, body) {
    if (this.current) {
      say(`${this.current}. Wait until it is done, or cancel it.`);
      return undefined;
    }
    this.current = title;
    this.cancelled = false;
    let end;
    this.ended = new Promise((done) => (end = done));
    this.began = performance.now();
    document.body.dataset.busy = title;
    say(title);
    this.show({ text: title });
    const shown = setTimeout(() => (byId("task").hidden = false), PATIENCE);
    const clock = setInterval(() => this.show({}), 500);
    try {
      return await body((args, files) => {
        if (this.cancelled) throw new Cancelled();
        return this.engine.run(args, files, (progress) => this.show(progress));
      });
    } catch (error) {
      if (error instanceof Cancelled) say(`Cancelled: ${title}`);
      else this.fail(String(error?.message ?? error));
      return undefined;
    } finally {
      clearTimeout(shown);
      clearInterval(clock);
      byId("task").hidden = true;
      this.current = "";
      delete document.body.dataset.busy;
      end();
    }
  }

  // Returns when nothing runs any more.
  async cancel() {
    this.cancelled = true;
    this.engine.cancel();
    await this.ended;
  }

  show({ text, done, total }) {
    const seconds = Math.floor((performance.now() - this.began) / 1000);
    if (text !== undefined) this.text = text === this.current ? text : `${this.current}: ${text}`;
    byId("task-text").textContent = seconds > 0 ? `${this.text}, ${seconds} s` : this.text;
    if (text === undefined) return;
    const bar = byId("task-bar");
    if (total > 0) {
      bar.max = total;
      bar.value = done;
    } else {
      bar.removeAttribute("value");
    }
  }
}

// For screen readers.
export function say(text) {
  byId("status").textContent = text;
}
