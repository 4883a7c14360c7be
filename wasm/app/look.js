// The page of x2ir view, in a frame that may run its script and nothing else: it has no origin, and cannot reach this page.
import { byId, el } from "../../x2ir/view/page/dom.js";
import { say } from "./tasks.js";

export class Look {
  constructor() {
    addEventListener("message", (event) => {
      if (!this.frame || event.source !== this.frame.contentWindow) return;
      if (event.data?.shown === false) {
        say("The graph in the view has no node of that name. The node was made by the conversion.");
      }
    });
  }

  // A page as a Blob.
  show(page, title) {
    this.clear();
    this.address = URL.createObjectURL(new Blob([page], { type: "text/html" }));
    byId("look-title").textContent = title;
    byId("look").hidden = false;
    this.frame = el("iframe", { sandbox: "allow-scripts", src: this.address, title });
    byId("look").append(this.frame);
  }

  clear() {
    this.frame?.remove();
    this.frame = null;
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = "";
    byId("look").hidden = true;
  }

  // Selects a node in the view.
  go(node) {
    if (!this.frame) return;
    byId("look").scrollIntoView({ block: "nearest" });
    // The frame has no origin that could be named.
    this.frame.contentWindow.postMessage({ node }, "*");
    this.frame.focus();
    say(`Shown in the view: ${node}`);
  }
}
