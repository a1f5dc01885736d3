// One derivation: the choice of a system and of what guides it, the tree as far as it is built, the configuration.

import { counted, el, option, post, svgOf } from "./dom.js";

const ROOT = "ROOT";

export class Pane {
  /** `choice` is { system, guide, options }; guide is an oracle's name or "model:NAME". */
  constructor(about, choice, changed) {
    this.about = about;
    this.choice = { options: {}, ...choice };
    this.changed = changed;
    this.trace = null;
    this.node = el("article", { className: "pane" });
    this.#build();
    this.#fill();
  }

  get length() {
    return this.trace ? this.trace.steps.length : 0;
  }

  get #system() {
    return this.about.systems.find((system) => system.name === this.choice.system) || this.about.systems[0];
  }

  get #model() {
    const name = this.choice.guide.startsWith("model:") ? this.choice.guide.slice(6) : "";
    return this.about.models.find((model) => model.name === name);
  }

  #build() {
    this.system = el("select", { "aria-label": "Transition system" });
    this.guide = el("select", { "aria-label": "Guide" });
    this.options = el("span", { className: "options" });
    this.system.addEventListener("change", () => this.#choose({ system: this.system.value, guide: "", options: {} }));
    this.guide.addEventListener("change", () => {
      const model = this.about.models.find((one) => `model:${one.name}` === this.guide.value);
      this.#choose({ guide: this.guide.value, ...(model ? { system: model.system, options: {} } : {}) });
    });
    this.summary = el("p", { className: "summary" });
    this.tree = el("div", { className: "tree scroll", tabIndex: 0, role: "region", "aria-label": "Tree" });
    this.now = el("p", { className: "now", "aria-live": "polite" });
    this.stack = el("ul", { className: "cells stack", "aria-label": "Stack, top last" });
    this.buffer = el("ul", { className: "cells", "aria-label": "Buffer, front first" });
    this.aside = el("ul", { className: "cells" });
    this.asideTitle = el("h3");
    this.asideBox = el("div", { className: "aside" }, this.asideTitle, this.aside);
    this.movesTitle = el("h3");
    this.moves = el("ul", { className: "moves" });
    this.rows = el("tbody");
    this.head = el("tr");
    this.table = el("div", { className: "scroll steps", tabIndex: 0, role: "region", "aria-label": "All steps" },
      el("table", {}, el("thead", {}, this.head), this.rows));
    this.rows.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row) this.changed.step(Number(row.dataset.step));
    });
    const side = (title, list) => el("div", {}, el("h3", {}, title), list);
    this.node.append(
      el("div", { className: "choices" },
        el("label", {}, "System ", this.system), el("label", {}, "Guide ", this.guide), this.options),
      this.summary,
      this.tree,
      this.now,
      el("div", { className: "below" },
        el("div", { className: "configuration" }, side("Stack", this.stack), side("Buffer", this.buffer), this.asideBox),
        el("div", { className: "next" }, this.movesTitle, this.moves)),
      el("details", { open: true }, el("summary", {}, "All steps"), this.table));
  }

  #choose(changes) {
    this.choice = { ...this.choice, ...changes };
    if (!this.choice.guide) this.choice.guide = this.#system.oracles[0];
    this.#fill();
    this.changed.choice();
  }

  /** Fill the menus. */
  #fill() {
    const system = this.#system;
    this.choice.system = system.name;
    if (!this.#model && !system.oracles.includes(this.choice.guide)) this.choice.guide = system.oracles[0];
    this.system.replaceChildren(...this.about.systems.map((one) => option(one.name, one.name, system.name)));
    this.system.title = `Derives ${system.covers} (${system.paper})`;
    const oracles = el("optgroup", { label: `oracles of ${system.name}` },
      ...system.oracles.map((name) => option(name, `${name} oracle`, this.choice.guide)));
    const models = this.about.models.filter((model) => model.kind === "moves").map((model) =>
      option(`model:${model.name}`, `model ${model.name} (${model.system})`, this.choice.guide));
    this.guide.replaceChildren(oracles, ...(models.length ? [el("optgroup", { label: "models" }, ...models)] : []));
    this.options.replaceChildren(...(this.#model ? [] : system.options.map((one) => this.#option(one))));
  }

  #option({ name, type, help }) {
    const kind = { integer: "number", number: "number", boolean: "checkbox" }[type] || "text";
    const input = el("input", { type: kind, min: "0", step: type === "number" ? "any" : "1", title: help, placeholder: "default" });
    const given = this.choice.options[name];
    if (kind === "checkbox") input.checked = given === true;
    else input.value = given ?? "";
    input.addEventListener("change", () => {
      const options = { ...this.choice.options };
      delete options[name];
      if (kind === "checkbox") {
        if (input.checked) options[name] = true;
      } else if (input.value !== "") {
        options[name] = kind === "number" ? Number(input.value) : input.value;
      }
      this.choice.options = options;
      this.changed.choice();
    });
    return el("label", { title: help }, `${name.replace("_", " ")} `, input);
  }

  /** Ask the server for the derivation of a sentence. */
  async load(conllu, signal) {
    const model = this.#model;
    const { system, guide, options } = this.choice;
    const how = model ? { guide: "model", model: model.name } : { guide: "oracle", system, oracle: guide, options };
    this.trace = null;
    this.node.setAttribute("aria-busy", "true");
    try {
      this.trace = await post("trace", { conllu, ...how }, signal);
    } finally {
      this.node.removeAttribute("aria-busy");
    }
    this.words = [ROOT, ...this.trace.sentence.words.map((word) => word.form)];
    this.drawings = this.trace.drawings.map(svgOf);
    this.#tabulate();
    this.shown = -1;
  }

  /** Forget the derivation, as when it could not be made. */
  clear() {
    this.trace = null;
    for (const part of [this.tree, this.now, this.stack, this.buffer, this.aside, this.moves, this.rows, this.summary])
      part.replaceChildren();
  }

  #tabulate() {
    const { steps, aside, transitions, problem } = this.trace;
    const titles = ["", "Transition", "Stack", "Buffer", ...(aside ? [aside] : []), "Added arc"];
    this.head.replaceChildren(...titles.map((title) => el("th", { scope: "col" }, title)));
    const shorten = (nodes, first, last) => nodes.length <= first + last ? nodes.join(" ")
      : [...nodes.slice(0, first), "…", ...nodes.slice(nodes.length - last)].join(" ");
    this.rows.replaceChildren(...steps.map((step, k) => {
      const button = el("button", { type: "button", tabIndex: -1 }, step.transition || "start");
      const row = el("tr", {}, el("td", {}, String(k)), el("td", {}, button),
        el("td", { className: "right" }, shorten(step.stack.map((node) => this.words[node]), 1, 2)),
        el("td", {}, shorten(step.buffer.map((node) => this.words[node]), 1, 1)),
        ...(aside ? [el("td", {}, shorten(step.aside.map((one) => this.#open(one)), 1, 1))] : []),
        el("td", {}, step.attached.map((arc) => this.#arc(arc)).join(", ")));
      row.dataset.step = k;
      return row;
    }));
    const swaps = steps.filter((step) => step.move === "SWAP").length;
    const parts = [`${counted(transitions, "transition")} for ${counted(this.words.length - 1, "word")}`];
    if (swaps) parts.push(counted(swaps, "swap"));
    if (problem) parts.push("this system does not derive the tree");
    this.summary.textContent = parts.join(" · ");
  }

  #open([node, label]) {
    return label ? `${label}: ${this.words[node]}` : this.words[node];
  }

  #arc([head, label, word]) {
    return `${this.words[head]} → ${this.words[word]}${label ? ` (${label})` : ""}`;
  }

  /** Show the configuration after a step; a shorter derivation stays at its end. */
  show(wanted, quietly) {
    if (!this.trace) return;
    const { steps, problem } = this.trace;
    const k = Math.min(wanted, steps.length - 1);
    const step = steps[k];
    this.now.setAttribute("aria-live", quietly ? "off" : "polite");
    this.#showTree(k);
    this.#showCells(k);
    this.now.replaceChildren(el("strong", {}, step.transition || "Start"));
    const added = step.attached.map((arc) => this.#arc(arc)).join(", ");
    if (added) this.now.append(el("span", {}, added));
    this.#showMoves(step, k === steps.length - 1, problem);
    this.rows.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const row = this.rows.children[k];
    row.setAttribute("aria-current", "step");
    const middle = row.offsetTop - this.table.clientHeight / 2;
    this.table.scrollTop = Math.max(0, middle);
    this.shown = k;
  }

  #showTree(k) {
    const { steps, guide, covered } = this.trace;
    const step = steps[k];
    const drawing = this.drawings[step.drawing];
    if (this.tree.firstChild !== drawing) this.tree.replaceChildren(drawing);
    const heads = {};
    for (const { attached } of steps.slice(0, k + 1)) for (const [head, , word] of attached) heads[word] = head;
    const fresh = new Set(step.attached.map((arc) => arc[2]));
    for (const arc of drawing.querySelectorAll(".arc")) {
      const word = Number(arc.dataset.dependent);
      const made = heads[word] === Number(arc.dataset.head);
      arc.classList.toggle("unmade", !made);
      arc.classList.toggle("goal", !made && guide === "oracle");
      arc.classList.toggle("fresh", made && fresh.has(word));
    }
    const over = covered && k === steps.length - 1; // then no word waits for anything
    const stacked = new Set(over ? [] : step.stack), waiting = new Set(over ? [] : step.buffer);
    drawing.querySelectorAll("text.word").forEach((word, i) => {
      word.classList.toggle("stacked", stacked.has(i + 1));
      word.classList.toggle("waiting", waiting.has(i + 1));
    });
    if (!over) this.#scrollTo(drawing, step.attached[0]?.[2] || step.stack.at(-1) || step.buffer[0]);
  }

  /** Bring a word of a tree that is wider than its box into sight. */
  #scrollTo(drawing, number) {
    const word = drawing.querySelectorAll("text.word")[number - 1];
    if (!word || this.tree.scrollWidth <= this.tree.clientWidth) return;
    const box = this.tree.getBoundingClientRect(), place = word.getBoundingClientRect();
    const [middle, margin] = [place.left + place.width / 2 - box.left, box.width / 8];
    if (middle < margin || middle > box.width - margin) this.tree.scrollLeft += middle - box.width / 2;
  }

  #showCells(k) {
    const { steps, aside } = this.trace;
    const step = steps[k], before = steps[k - 1];
    const cells = (nodes, old) => nodes.map((node) => {
      const cell = el("li", { className: old && !old.includes(node) ? "moved" : "", dir: "auto" }, this.words[node]);
      if (node) cell.append(el("sub", {}, String(node)));
      return cell;
    });
    const empty = () => el("li", { className: "empty" }, "empty");
    const fill = (list, items) => list.replaceChildren(...(items.length ? items : [empty()]));
    fill(this.stack, cells(step.stack, before?.stack));
    fill(this.buffer, cells(step.buffer, before?.buffer));
    this.asideBox.hidden = !aside;
    this.asideTitle.textContent = aside;
    fill(this.aside, step.aside.map((one) => el("li", {}, this.#open(one))));
  }

  #showMoves(step, over, problem) {
    const byModel = this.trace.guide === "model";
    this.movesTitle.textContent = over ? (problem ? "No way on" : "The end") : byModel ? "Scores of the legal moves" : "Legal moves";
    if (over && (problem || !step.legal.length)) {
      this.moves.replaceChildren(el("li", { className: "end" }, problem || "The parse is over."));
      return;
    }
    const order = byModel ? [...step.legal].sort((a, b) => b.score - a.score) : step.legal;
    this.moves.replaceChildren(...order.map((legal) => {
      const name = legal.label ? `${legal.move}(${legal.label})` : legal.move;
      const item = el("li", { className: legal.taken ? "taken" : "" }, el("span", { className: "name" }, name));
      if (byModel) {
        const fill = el("span", { className: "fill" });
        fill.style.width = `${100 * legal.share}%`;
        const share = `${(100 * legal.share).toFixed(1)}%`;
        item.append(el("span", { className: "meter" }, fill), el("span", { className: "number", title: `score ${legal.score}` }, share));
      } else {
        const cost = legal.cost ? `costs ${legal.cost === 1 ? "1 head" : `${legal.cost} heads`}` : legal.cost === 0 && !legal.taken ? "free too" : "";
        item.append(el("span", { className: "number" }, legal.taken ? "taken next" : cost));
      }
      return item;
    }));
  }
}
