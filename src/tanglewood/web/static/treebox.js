// A box with a drawing in it: as large as the box allows, and scrolled to where something happens.

import { el } from "./dom.js";

const LEAST = 0.75, MOST = 1.2, PROJECTED = 2.4; // how far a drawing may shrink and grow, and grow in full screen

export class TreeBox {
  /** `tall`: the box grows with the drawing, which then need not fit its height. */
  constructor({ tall = false } = {}) {
    this.tall = tall;
    this.node = el("div", { className: "tree scroll", tabIndex: 0, role: "region", "aria-label": "Tree" });
    this.last = null; // the words to be in sight, if somebody asked for some
    new ResizeObserver(() => this.#fit()).observe(this.node);
  }

  get drawing() {
    return this.node.firstElementChild;
  }

  show(drawing) {
    if (this.drawing === drawing) return;
    const first = !this.drawing;
    const { scrollLeft } = this.node;
    this.node.replaceChildren(drawing);
    this.#fit();
    if (first) this.begin();
    else this.node.scrollLeft = scrollLeft;
  }

  clear() {
    this.node.replaceChildren();
    this.last = null;
  }

  #fit() {
    const { drawing, node } = this;
    if (!drawing || !node.clientWidth) return;
    const [width, height] = ["width", "height"].map((name) => Number(drawing.getAttribute(name)));
    const most = document.fullscreenElement ? PROJECTED : MOST;
    const across = node.clientWidth / width, down = this.tall ? 1 : node.clientHeight / height;
    // What has to be scrolled across anyway need not be small.
    const scale = Math.min(Math.max(across < LEAST ? Math.min(down, 1) : Math.min(across, down), LEAST), this.tall ? 1 : most);
    drawing.style.width = `${Math.floor(scale * width)}px`;
    drawing.style.height = `${Math.floor(scale * height)}px`;
    if (this.last) this.reveal(this.last);
    else this.begin();
  }

  /** Scroll to the beginning of the sentence; the words are at the foot of the drawing. */
  begin() {
    this.last = null;
    this.node.scrollLeft = this.drawing?.dataset.direction === "rtl" ? this.node.scrollWidth : 0;
    this.node.scrollTop = this.node.scrollHeight;
  }

  /** Bring words into sight: all of them if there is room, else the first. */
  reveal(numbers) {
    this.last = numbers;
    const { node } = this;
    node.scrollTop = node.scrollHeight;
    if (!this.drawing || node.scrollWidth <= node.clientWidth) return;
    const words = this.drawing.querySelectorAll("text.word");
    const box = node.getBoundingClientRect();
    const places = numbers.map((number) => words[number - 1]?.getBoundingClientRect()).filter(Boolean);
    if (!places.length) return;
    const margin = box.width / 10;
    let left = Math.min(...places.map((place) => place.left)), right = Math.max(...places.map((place) => place.right));
    if (right - left > box.width - 2 * margin) [left, right] = [places[0].left, places[0].right];
    if (left < box.left + margin || right > box.right - margin)
      node.scrollLeft += (left + right) / 2 - (box.left + box.width / 2);
  }
}
