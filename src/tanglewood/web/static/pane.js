// One derivation: the choice of a system and of what guides it, the tree as far as it is built, the configuration.

import { bdi, counted, el, joined, option, post, svgOf } from "./dom.js";
import { exportMenu } from "./export.js";
import { Moves } from "./moves.js";
import { TreeBox } from "./treebox.js";

const ROOT = "ROOT";

export class Pane {
  /**
   * `choice` is { system, guide, options, moves }; guide is an oracle's name or "model:NAME", moves are those that
   * the visitor's own derivation begins with.
   */
  constructor(about, choice, changed) {
    this.about = about;
    this.choice = { options: {}, moves: [], ...choice };
    this.changed = changed;
    this.trace = null;
    this.node = el("article", { className: "pane blank" });
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
    this.tree = new TreeBox();
    const menu = exportMenu({
      drawing: () => this.tree.drawing,
      conllu: () => this.trace.sentence.conllu,
      name: () => [this.trace.sentence.sent_id || "tree", this.trace.system, this.shown].join("-"),
    });
    this.now = el("p", { className: "now", "aria-live": "polite" });
    const strip = (label, kind = "") => el("ul", { className: `cells ${kind}`, "aria-label": label });
    this.stack = strip("Stack, top last", "stack");
    this.buffer = strip("Buffer, front first");
    this.aside = strip("");
    this.stackTitle = el("h2");
    this.bufferTitle = el("h2");
    this.asideTitle = el("h2");
    this.asideBox = el("div", { className: "aside" }, this.asideTitle, this.aside);
    this.configuration = el("div", { className: "configuration" },
      el("div", { className: "side" }, this.stackTitle, this.stack),
      el("div", { className: "side" }, this.bufferTitle, this.buffer), this.asideBox);
    this.moves = new Moves(this);
    this.rows = el("tbody");
    this.head = el("tr");
    this.table = el("div", { className: "scroll steps", tabIndex: 0, role: "region", "aria-label": "All steps" },
      el("table", {}, el("thead", {}, this.head), this.rows));
    this.rows.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row) this.changed.step(Number(row.dataset.step));
    });
    this.lower = el("div", { className: "lower" }, this.moves.node, this.table);
    this.moves.listing.addEventListener("click", () => this.#list(this.lower.dataset.shows !== "steps"));
    this.node.append(
      el("div", { className: "choices" },
        el("label", {}, "System ", this.system), el("label", {}, "Guide ", this.guide), this.options, this.summary, menu),
      this.tree.node,
      this.now,
      this.configuration,
      this.lower);
  }

  /** Where there is no room for both, show all steps in place of the legal moves, or the other way round. */
  #list(steps) {
    this.lower.dataset.shows = steps ? "steps" : "moves";
    this.moves.listing.setAttribute("aria-pressed", String(steps));
    this.#mark();
  }

  #choose(changes) {
    const moves = (changes.system || this.choice.system) === this.choice.system ? this.choice.moves : [];
    this.choice = { ...this.choice, ...changes, moves };
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
      this.choice = { ...this.choice, options, moves: [] };
      this.changed.choice();
    });
    return el("label", { title: help }, `${name.replace("_", " ")} `, input);
  }

  /** Ask the server for the derivation of a sentence; `gold` says whether it came with its tree. */
  async load(conllu, gold, signal) {
    const model = this.#model;
    const { system, guide, options, moves } = this.choice;
    const how = model ? { guide: "model", model: model.name } : { guide: "oracle", system, oracle: guide, options };
    this.node.setAttribute("aria-busy", "true");
    try {
      this.trace = await post("trace", { conllu, moves, ...how }, signal);
    } catch (error) {
      this.trace = null;
      throw error;
    } finally {
      this.node.removeAttribute("aria-busy");
    }
    this.node.classList.remove("blank");
    this.words = [ROOT, ...this.trace.sentence.words.map((word) => word.form)];
    this.drawings = this.trace.drawings.map(svgOf);
    const fresh = this.conllu !== conllu, derivation = JSON.stringify([conllu, how]);
    this.conllu = conllu;
    if (this.derivation !== derivation) this.own = null;
    this.derivation = derivation;
    if (!moves.length) this.own = this.trace.steps.slice(1).map((step) => step.transition); // what the guide does
    this.#tabulate();
    this.moves.take({ conllu, gold, system: this.#system, options: this.trace.options });
    this.shown = -1;
    if (fresh) this.tree.clear();
  }

  /** Take up the visitor's own moves, or leave them if there are none, and go to a step. */
  async play(moves, step) {
    const before = this.choice.moves;
    this.choice.moves = moves;
    if (!(await this.changed.played(step)) && this.choice.moves === moves) this.choice.moves = before;
  }

  /** Forget the derivation, as when it could not be made. */
  clear() {
    this.trace = null;
    this.node.classList.add("blank");
    this.tree.clear();
    this.moves.clear();
    for (const part of [this.now, this.stack, this.buffer, this.aside, this.rows, this.summary]) part.replaceChildren();
  }

  #tabulate() {
    const { steps, aside, transitions, problem } = this.trace;
    const direction = this.drawings[0].dataset.direction || "ltr";
    const met = (stack, buffer) => (direction === "rtl" ? [buffer, stack] : [stack, buffer]); // as in the configuration
    const title = (text, dir = "") => el("th", { scope: "col", className: text === "Stack" ? "end" : "", dir }, text);
    this.head.replaceChildren(title(""), title("Transition"), ...met(title("Stack", direction), title("Buffer", direction)),
      ...(aside ? [title(aside, direction)] : []), title("Added arc"));
    const list = (items, first, last, show) => joined(items.length <= first + last ? items.map(show)
      : [...items.slice(0, first).map(show), "…", ...items.slice(items.length - last).map(show)], " ");
    const word = (node) => bdi(this.words[node]);
    const cell = (content, side = "") => el("td", { className: side, dir: direction }, ...content);
    this.rows.replaceChildren(...steps.map((step, k) => {
      const button = el("button", { type: "button", tabIndex: -1 }, step.transition || "start");
      const row = el("tr", {}, el("td", {}, String(k)), el("td", {}, button),
        ...met(cell(list(step.stack, 1, 2, word), "end"), cell(list(step.buffer, 1, 1, word))),
        ...(aside ? [cell(list(step.aside, 1, 1, (one) => this.#open(one)))] : []),
        el("td", {}, ...joined(step.attached.map((arc) => this.#arc(arc)), ", ")));
      row.dataset.step = k;
      return row;
    }));
    const swaps = steps.filter((step) => step.move === "SWAP").length;
    const parts = [`${counted(transitions, "transition")} for ${counted(this.words.length - 1, "word")}`];
    if (swaps) parts.push(counted(swaps, "swap"));
    if (problem && !this.choice.moves.length) parts.unshift("this system does not derive the tree");
    this.summary.textContent = this.summary.title = parts.join(" · ");
  }

  #open([node, label]) {
    return label ? el("span", {}, `${label}: `, bdi(this.words[node])) : bdi(this.words[node]);
  }

  #arc([head, label, word]) {
    return el("span", {}, bdi(this.words[head]), " → ", bdi(this.words[word]),
      ...(label ? [" (", bdi(label), ")"] : []));
  }

  /** Show the configuration after a step; a shorter derivation stays at its end. */
  show(wanted, quietly) {
    if (!this.trace) return;
    const { steps } = this.trace;
    const k = Math.min(wanted, steps.length - 1);
    const step = steps[k], opened = this.shown < 0 && !this.tree.drawing;
    this.shown = k;
    this.now.setAttribute("aria-live", quietly ? "off" : "polite");
    this.#showTree(k, opened);
    this.#showCells(k);
    const arcs = joined(step.attached.map((arc) => this.#arc(arc)), ", ");
    this.now.replaceChildren(el("strong", {}, step.transition || "Start"),
      ...(step.attached.length ? [el("span", { className: "added" }, ...arcs)] : []));
    this.moves.show(k, quietly);
    this.#mark();
  }

  /** Mark the row of the step that is shown, and bring it into sight. */
  #mark() {
    this.rows.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const row = this.rows.children[this.shown];
    if (!row) return;
    row.setAttribute("aria-current", "step");
    if (!row.offsetHeight) return; // the moves stand in their place
    const above = Math.floor(this.table.clientHeight / row.offsetHeight / 2) - 1;
    const first = this.rows.children[Math.max(0, this.shown - above)];
    this.table.scrollTop = first.offsetTop - this.rows.firstChild.offsetTop; // whole rows below the titles
  }

  #showTree(k, opened) {
    const { steps, guide, covered, sentence } = this.trace;
    const step = steps[k];
    const drawing = this.drawings[step.drawing];
    this.tree.show(drawing);
    const heads = {};
    for (const { attached } of steps.slice(0, k + 1)) for (const [head, , word] of attached) heads[word] = head;
    const fresh = new Set(step.attached.map((arc) => arc[2]));
    const knows = guide === "oracle";
    for (const arc of drawing.querySelectorAll(".arc")) {
      const word = Number(arc.dataset.dependent), head = Number(arc.dataset.head);
      const made = heads[word] === head, gold = sentence.heads[word - 1] === head;
      arc.classList.toggle("unmade", !made);
      arc.classList.toggle("goal", !made && knows && gold && this.moves.hints);
      arc.classList.toggle("wrong", made && knows && !gold && !covered);
      arc.classList.toggle("fresh", made && fresh.has(word));
    }
    const over = covered && k === steps.length - 1; // then no word waits for anything
    const stacked = new Set(over ? [] : step.stack), waiting = new Set(over ? [] : step.buffer);
    drawing.querySelectorAll("text.word").forEach((word, i) => {
      word.classList.toggle("stacked", stacked.has(i + 1));
      word.classList.toggle("waiting", waiting.has(i + 1));
    });
    if (opened && k === steps.length - 1) this.tree.begin();
    else if (!over) this.tree.reveal(this.#action(step));
  }

  /** The words at which something happens, the one that matters most first. */
  #action(step) {
    const [arc] = step.attached;
    const ends = arc ? [arc[2], arc[0]] : [step.stack.at(-1), step.buffer[0]];
    return ends.filter((word) => word > 0);
  }

  #showCells(k) {
    const { steps, aside } = this.trace;
    const step = steps[k], before = steps[k - 1];
    const cells = (nodes, old) => nodes.map((node) => {
      const cell = el("li", { className: old && !old.includes(node) ? "moved" : "" }, bdi(this.words[node]));
      if (node) cell.append(el("sub", {}, String(node)));
      return cell;
    });
    const fill = (list, items) => {
      list.replaceChildren(...(items.length ? items : [el("li", { className: "empty" }, "empty")]));
      const wide = list.scrollWidth > list.clientWidth + 1;
      if (wide) list.tabIndex = 0; // so that the keyboard can scroll it
      else list.removeAttribute("tabindex");
      list.scrollLeft = 0;
    };
    const turned = this.drawings[step.drawing].dataset.direction === "rtl";
    this.configuration.dir = turned ? "rtl" : "ltr";
    this.asideBox.hidden = !aside;
    this.asideTitle.textContent = aside;
    this.aside.setAttribute("aria-label", aside);
    this.stackTitle.textContent = `Stack (${step.stack.length})`;
    this.bufferTitle.textContent = `Buffer (${step.buffer.length})`;
    fill(this.stack, cells(step.stack, before?.stack));
    fill(this.buffer, cells(step.buffer, before?.buffer));
    fill(this.aside, step.aside.map((one) => el("li", {}, this.#open(one))));
    this.stack.scrollLeft = (turned ? -1 : 1) * this.stack.scrollWidth; // the top, where it meets the buffer
    this.aside.scrollLeft = (turned ? -1 : 1) * this.aside.scrollWidth;
  }
}
