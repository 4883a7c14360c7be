// Tabs, as https://www.w3.org/WAI/ARIA/apg/patterns/tabs/ describes them: arrows go from one to the next.
import { el } from "../../x2ir/view/page/dom.js";

export class Tabs {
  // tabs: { title, panel, update(), shown?() }
  constructor(host, tabs) {
    this.tabs = tabs;
    this.buttons = tabs.map((tab, i) => {
      const id = `tab-${tab.title.toLowerCase()}`;
      const button = el(
        "button",
        { type: "button", role: "tab", id, "aria-controls": `${id}-panel`, onclick: () => this.select(i) },
        tab.title,
      );
      tab.panel.id = `${id}-panel`;
      for (const [name, value] of [["role", "tabpanel"], ["aria-labelledby", id]]) tab.panel.setAttribute(name, value);
      host.append(button);
      host.parentElement.append(tab.panel);
      return button;
    });
    host.addEventListener("keydown", (event) => {
      const last = tabs.length - 1;
      const at = this.buttons.indexOf(event.target);
      const to = {
        ArrowRight: at === last ? 0 : at + 1,
        ArrowLeft: at === 0 ? last : at - 1,
        Home: 0,
        End: last,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.select(to);
      this.buttons[to].focus();
    });
    this.select(0);
  }

  get current() {
    return this.tabs[this.at];
  }

  select(at) {
    this.at = at;
    this.tabs.forEach((tab, i) => {
      tab.panel.hidden = i !== at;
      this.buttons[i].setAttribute("aria-selected", String(i === at));
      this.buttons[i].tabIndex = i === at ? 0 : -1;
    });
    this.current.shown?.();
  }

  // There is another model.
  update() {
    this.select(0);
    for (const tab of this.tabs) tab.update();
  }
}
