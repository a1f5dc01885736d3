// The legal moves of a configuration: what each costs or scores, and the visitor who takes one.

import { counted, el, icon, post } from "./dom.js";

export class Moves {
  constructor(pane) {
    this.pane = pane;
    this.known = new Map(); // moves so far -> costs of the legal ones, or why there are none
    this.clicked = -1; // the step that the visitor's last move led to
    this.title = el("h2");
    this.lost = el("span", { className: "lost", "aria-live": "polite" });
    const button = (kind, text, work, ...more) => {
      const one = el("button", { type: "button", className: kind }, ...more, text);
      one.addEventListener("click", work);
      return one;
    };
    this.back = button("quiet small", " Undo", () => this.undo(), icon("undo"));
    this.back.title = "Take the last move of yours back (u)";
    this.leave = button("quiet small", el("span", { className: "more" }, " play"), () => this.stop(), "Leave");
    this.leave.setAttribute("aria-label", "Leave play");
    this.listing = el("button", { type: "button", className: "quiet small listing", "aria-pressed": "false" }, "Steps");
    this.hinting = el("input", { type: "checkbox", checked: true });
    this.hinting.addEventListener("change", () => pane.changed.hints(this.hinting.checked));
    this.list = el("ul", { className: "moves" });
    this.remark = el("p", { className: "hint remark" });
    this.node = el("div", { className: "next" },
      el("div", { className: "head" }, this.title, this.lost, this.back, this.leave,
        el("label", { className: "check", title: "Show the arcs to come, and what moves cost" }, this.hinting, " Hints"), this.listing),
      el("div", { className: "choice" }, this.list, this.remark));
  }

  get hints() {
    return this.hinting.checked;
  }

  set hints(on) {
    this.hinting.checked = on;
  }

  /** What the derivation is of: { conllu, gold, system, options }. */
  take(about) {
    const changed = JSON.stringify([about.conllu, about.system.name, about.options]);
    if (changed !== this.changed) this.known.clear();
    this.changed = changed;
    this.about = about;
  }

  clear() {
    this.list.replaceChildren();
    this.title.textContent = this.lost.textContent = this.remark.textContent = "";
    this.back.hidden = this.leave.hidden = true;
  }

  get #played() {
    return this.pane.choice.moves;
  }

  /** The transitions up to a step. */
  #taken(k) {
    return this.pane.trace.steps.slice(1, k + 1).map((step) => step.transition);
  }

  /** What the move that led to a step cost, if that is known. */
  #cost(k) {
    const { steps } = this.pane.trace;
    return this.#priced(k - 1).legal?.find((legal) => legal.move === steps[k].move)?.cost ?? null;
  }

  /** The costs after a step: { legal, oracle, problem }, empty if they have not been asked for. */
  #priced(k) {
    const { steps, oracle } = this.pane.trace;
    if (steps[k]?.legal.some((legal) => legal.cost !== null)) return { legal: steps[k].legal, oracle };
    return (this.known.size && this.known.get(this.#taken(k).join("\t"))) || {};
  }

  /** Whether the costs after a step can be had and are not there yet. */
  #isWanting(k) {
    const { gold, system } = this.about;
    const known = this.#priced(k).legal || !this.pane.trace.steps[k].legal.length;
    return gold && Object.keys(system.costs).length > 0 && !known;
  }

  /** Ask for the costs after a step that is shown, and for those before the visitor's move that led there. */
  async #ask(k) {
    const { conllu, system, options } = this.about, { trace } = this.pane;
    const before = k > 0 && k <= this.#played.length ? [k - 1] : [];
    for (const step of [...before, k].filter((one) => this.#isWanting(one))) {
      const moves = this.#taken(step);
      const found = await post("moves", { conllu, system: system.name, options, moves })
        .catch((error) => ({ legal: [], oracle: null, problem: error.message }));
      if (this.pane.trace !== trace) return; // that of another derivation is on its way
      this.known.set(moves.join("\t"), found);
      if (this.pane.shown !== k) return;
    }
    this.show(k, true);
  }

  show(k, quietly) {
    const { steps, guide, problem } = this.pane.trace;
    const step = steps[k], over = k === steps.length - 1, byModel = guide === "model";
    const ended = !step.legal.length, played = this.#played.length > 0;
    const stuck = over && problem && !played;
    const focused = this.list.contains(document.activeElement);
    this.title.textContent = stuck ? "No way on" : ended ? "The end" : byModel ? "Scores of the legal moves" : "Legal moves";
    this.#tell(k);
    this.back.hidden = this.leave.hidden = !played;
    this.node.classList.toggle("playing", played);
    this.list.classList.toggle("scored", byModel);
    clearTimeout(this.asking);
    this.node.removeAttribute("aria-busy");
    if (!quietly && (this.#isWanting(k) || (k > 0 && k <= this.#played.length && this.#isWanting(k - 1)))) {
      this.node.setAttribute("aria-busy", "true");
      this.asking = setTimeout(() => this.#ask(k), 60); // a key held down asks once
    }
    const { legal: priced, oracle, problem: unpriced } = this.#priced(k);
    const unit = this.about.system.costs[oracle];
    this.shown = byModel ? [...step.legal].sort((a, b) => b.score - a.score) : step.legal;
    const items = this.shown.map((legal, i) => {
      const cost = priced?.find((one) => one.move === legal.move)?.cost ?? null;
      return this.#item(legal, i, byModel, cost, unit);
    });
    const said = (ended || stuck) && (over && problem ? problem : "The parse is over.");
    this.list.replaceChildren(...(said ? [el("li", { className: "end" }, said)] : []), ...items);
    this.remark.textContent = ended ? "" : this.#remark(over && !stuck, unpriced, unit);
    if (focused) (this.list.querySelector("button") || this.back).focus({ preventScroll: true });
  }

  #item(legal, i, byModel, cost, unit) {
    const name = legal.label ? `${legal.move}(${legal.label})` : legal.move;
    const marked = legal.taken && (this.hints || byModel);
    const button = el("button", { type: "button", className: marked ? "move taken" : "move" });
    button.addEventListener("click", () => this.choose(i));
    if (i < 9) button.append(el("kbd", { "aria-hidden": "true" }, String(i + 1)));
    button.append(el("span", { className: "name" }, this.hints || byModel ? name : legal.move));
    if (byModel) {
      const fill = el("span", { className: "fill" });
      fill.style.width = `${100 * legal.share}%`;
      button.append(el("span", { className: "meter" }, fill),
        el("span", { className: "number", title: `score ${legal.score}` }, `${(100 * legal.share).toFixed(1)}%`));
    }
    const price = cost === null ? "" : cost ? `costs ${priceOf(cost, unit)}` : legal.taken || byModel ? "" : "free too";
    const text = legal.taken && !byModel ? "next" : price;
    if (this.hints && text) button.append(el("span", { className: cost ? "number dear" : "number" }, text));
    return el("li", {}, button);
  }

  /** What the visitor's last move cost, and all of them so far. */
  #tell(k) {
    let sum = 0;
    for (let i = Math.min(k, this.#played.length); i > 0; i--) sum += this.#cost(i) || 0;
    const { oracle } = this.#priced(k - 1);
    const unit = this.about.system.costs[oracle || Object.keys(this.about.system.costs)[0]];
    const lost = unit === "heads" ? `${counted(sum, "head")} lost` : `cost ${sum}`;
    this.lost.textContent = !this.#played.length ? "" : sum ? lost : "You play";
    const now = this.pane.now;
    now.querySelector(".price")?.remove();
    const cost = k ? this.#cost(k) : null;
    const told = cost ? `costs ${priceOf(cost, unit)}` : cost === 0 && this.clicked === k ? "costs nothing" : "";
    if (told) now.append(el("span", { className: cost ? "price dear" : "price" }, told));
  }

  #remark(over, unpriced, unit) {
    if (!this.hints) return "";
    const { guide } = this.pane.trace;
    const parts = [];
    if (over && this.#played.length && guide === "oracle")
      parts.push("From here the oracle does not know on: take a move of your own, or go back.");
    if (unpriced) parts.push(`${unpriced.replace(/^(costs are|)/, (start) => (start ? "Costs are" : "No costs: "))}.`);
    else if (!Object.keys(this.about.system.costs).length && guide === "oracle")
      parts.push(`No oracle of ${this.about.system.name} knows what a move costs.`);
    else if (unit === "detours") parts.push("A cost counts heads that are lost, and moves that only lead astray.");
    return parts.join(" ");
  }

  /** Take one of the moves that are shown. */
  choose(i) {
    const { pane } = this, k = pane.shown, legal = this.shown?.[i];
    if (!legal || !pane.trace?.steps[k].legal.length) return;
    this.clicked = k + 1;
    if (legal.taken && k + 1 < pane.trace.steps.length) {
      if (this.#played.length && this.#played.length <= k) pane.choice.moves = this.#taken(k + 1); // to be undone as others
      pane.changed.step(k + 1);
    } else pane.play([...this.#taken(k), legal.move], k + 1);
  }

  /** Take the visitor's last move back; when all that are left are the guide's own, its derivation is there again. */
  undo() {
    if (!this.#played.length) return;
    const moves = this.#played.slice(0, -1);
    this.clicked = -1;
    this.pane.play(moves.every((move, i) => move === this.pane.own?.[i]) ? [] : moves, moves.length);
  }

  stop() {
    this.clicked = -1;
    if (this.#played.length) this.pane.play([], Math.min(this.pane.shown, this.#played.length - 1));
  }
}

const priceOf = (cost, unit) => (unit === "heads" ? counted(cost, "head") : String(cost));
