// The view of derivations: a sentence, one or two panes in step, and the transport below them.

import { readAddress, writeAddress } from "./address.js";
import { $, counted, el, icon, option, post, say } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { Pane } from "./pane.js";

const PACE = 700; // milliseconds per step, at speed 1
const SECOND = { system: "covington", guide: "static", options: {} };

export class Derivation {
  constructor(about) {
    this.about = about;
    this.panes = [];
    this.sentences = [];
    this.step = 0;
    this.timer = null;
    this.#listen();
    if (about.models.length > 1) {
      $("model-choice").hidden = false;
      $("model").replaceChildren(...about.models.map((model) => option(model.name, model.name)));
    }
    if (!about.models.length) $("input").placeholder = "Paste CoNLL-U (this server has no model for plain text)";
    $("examples").replaceChildren(...EXAMPLES.map((example) => {
      const chip = el("button", { type: "button", title: example.about, lang: example.lang }, example.title, "…");
      chip.dataset.example = example.id;
      chip.addEventListener("click", () => this.open({ example: example.id }));
      return chip;
    }));
  }

  #listen() {
    $("ask").addEventListener("submit", (event) => {
      event.preventDefault();
      const text = $("input").value;
      if (!text.trim()) {
        say("problem", "There is nothing to show yet: type a sentence, paste CoNLL-U, or choose an example.");
        $("input").focus();
        return;
      }
      $("main").focus({ preventScroll: true }); // what is shown takes the keys
      const table = /^\S+\t/m.test(text);
      this.open(table ? { conllu: `${text.trim()}\n\n` } : { text, model: $("model").value, ...this.#asTheModel() });
    });
    $("input").addEventListener("input", () => this.#fit());
    $("input").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !$("input").value.includes("\n")) {
        event.preventDefault();
        $("ask").requestSubmit();
      }
    });
    $("earlier").addEventListener("click", () => this.#choose(this.chosen - 1));
    $("later").addEventListener("click", () => this.#choose(this.chosen + 1));
    $("compare").addEventListener("change", () => this.#compare($("compare").checked));
    $("slider").addEventListener("input", () => this.go(Number($("slider").value)));
    const buttons = { first: () => 0, back: () => this.step - 1, forward: () => this.step + 1, last: () => Infinity };
    for (const [id, place] of Object.entries(buttons)) $(id).addEventListener("click", () => this.go(place()));
    $("play").addEventListener("click", () => this.play(!this.timer));
    $("speed").value = localStorage.getItem("speed") || "1";
    if (!$("speed").value) $("speed").value = "1";
    $("speed").addEventListener("change", () => {
      localStorage.setItem("speed", $("speed").value);
      if (this.timer) this.play(true);
    });
    $("change").addEventListener("click", () => this.#fold(false));
    $("fold").addEventListener("click", () => this.#fold(true));
    $("full").hidden = !document.fullscreenEnabled;
    $("full").addEventListener("click", () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else $("derive").requestFullscreen();
    });
    document.addEventListener("fullscreenchange", () => {
      const on = Boolean(document.fullscreenElement);
      $("full").setAttribute("aria-pressed", String(on));
      $("full").replaceChildren(icon(on ? "shrink" : "expand"));
    });
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  #key(event) {
    if ($("derive").hidden || event.ctrlKey || event.metaKey || event.altKey || !this.#length) return;
    const at = event.target.closest("input, select, textarea, [contenteditable]");
    if (at?.localName === "select") return this.#keyOnMenu(event, at);
    if (at && at.type !== "checkbox" && at.type !== "range") return;
    if (at?.type === "range" && event.key !== " ") return; // the slider knows these keys itself
    if (event.key === " " && event.target.closest("button, summary, a, input[type=checkbox]")) return;
    const scrolls = event.target.closest(".scroll, .cells"); // a wide tree that has the focus scrolls by its arrows
    if (event.key.startsWith("Arrow") && scrolls && scrolls.scrollWidth > scrolls.clientWidth + 1) return;
    if (event.key in this.#places) this.go(this.#places[event.key]);
    else if (event.key === " ") this.play(!this.timer);
    else if (/^[1-9]$/.test(event.key)) this.panes[0].moves.choose(Number(event.key) - 1);
    else if (event.key === "u") this.panes.find((pane) => pane.choice.moves.length)?.moves.undo();
    else return;
    event.preventDefault();
  }

  /** Where keys lead to. */
  get #places() {
    return { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: Infinity };
  }

  /** On a closed menu, arrows step as they do elsewhere, and up and down open it: none of them chooses unseen. */
  #keyOnMenu(event, menu) {
    if (isOpen(menu)) return;
    if (event.key in this.#places) this.go(this.#places[event.key]);
    else if (["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key)) menu.showPicker?.();
    else return;
    event.preventDefault();
  }

  get #length() {
    return Math.max(0, ...this.panes.map((pane) => pane.length));
  }

  /** A typed sentence is derived as the model parses it, if the model is transition-based. */
  #asTheModel() {
    const name = $("model").value || this.about.models[0]?.name;
    const model = this.about.models.find((one) => one.name === name && one.kind === "moves");
    return model ? { system: model.system, guide: `model:${model.name}`, options: "" } : {};
  }

  /** Fold the input away, or unfold it. */
  #fold(away) {
    $("ask").hidden = away;
    $("asked").hidden = $("change").hidden = !away;
    $("change").setAttribute("aria-expanded", String(!away));
    if (away) return;
    this.#fit();
    $("input").focus();
  }

  /** Show a sentence: { example } or { conllu } or { text, model }. */
  async open(source) {
    const none = { example: "", conllu: "", text: "", model: "", sentence: "", step: "", moves: "", moves2: "", fold: "" };
    writeAddress({ ...none, ...source, view: "" }, { push: true });
    await this.restore();
  }

  /** Show what the address says. */
  async restore() {
    const state = readAddress();
    const given = state.text || state.conllu;
    const chosen = Boolean(given || state.example);
    const example = given ? null : EXAMPLES.find((one) => one.id === state.example) || EXAMPLES[0];
    for (const chip of $("examples").children)
      chip.setAttribute("aria-pressed", String(chip.dataset.example === example?.id));
    this.#setPanes(state);
    say("problem", null);
    const body = example ? { conllu: example.conllu } : state.text
      ? { text: state.text, ...(state.model ? { model: state.model } : {}) } : { conllu: state.conllu };
    if (state.model) $("model").value = state.model;
    $("derive").setAttribute("aria-busy", "true");
    const signal = this.#fresh();
    try {
      this.sentences = (await post("parse", { ...body, drawings: false }, signal)).sentences;
    } catch (error) {
      if (error.name === "AbortError") return;
      $("derive").removeAttribute("aria-busy");
      this.sentences = [];
      for (const pane of this.panes) pane.clear();
      $("transport").hidden = $("which").hidden = true;
      $("input").value = given || "";
      if ($("ask").hidden) this.#fold(false);
      this.#fit();
      say("problem", error);
      return;
    }
    this.chosen = Math.min(Math.max(Number(state.sentence) || 1, 1), this.sentences.length);
    $("input").value = state.conllu || state.text || this.sentences[0].text;
    this.gold = !state.text;
    $("derive").removeAttribute("aria-busy");
    if (chosen) this.#fold(true);
    else {
      $("ask").hidden = false;
      $("asked").hidden = $("change").hidden = true;
    }
    this.#fit();
    await this.#derive(() => Number(state.step ?? Infinity) || 0);
  }

  /** Abort the request under way, and return the signal of the new one. */
  #fresh() {
    this.asking?.abort();
    this.asking = new AbortController();
    return this.asking.signal;
  }

  #fit() {
    const area = $("input");
    area.classList.toggle("table", area.value.includes("\t"));
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight + 2}px`;
  }

  #setPanes(state) {
    const choice = (n) => ({
      system: state[`system${n}`] || "swap", guide: state[`guide${n}`] || "", options: options(state[`options${n}`]),
      moves: (state[`moves${n}`] || "").split("\t").filter(Boolean),
    });
    const choices = [choice(""), ...(state.system2 ? [choice(2)] : [])];
    const changed = {
      choice: () => {
        this.#keep({ push: true });
        this.#derive(() => this.step);
      },
      step: (k) => {
        this.#keep();
        this.go(k);
      },
      played: (k) => this.#derive(() => k),
      hints: (on) => this.#hint(on),
    };
    this.panes = choices.map((one) => new Pane(this.about, one, changed));
    for (const pane of this.panes) pane.moves.hints = state.hints !== "0";
    $("panes").replaceChildren(...this.panes.map((pane) => pane.node));
    $("panes").className = this.panes.length > 1 ? "two" : "one";
    $("compare").checked = this.panes.length > 1;
    this.#keep();
  }

  #keep(how) {
    const changes = {};
    this.panes.forEach(({ choice }, i) => {
      const n = i ? i + 1 : "";
      changes[`system${n}`] = choice.system;
      changes[`guide${n}`] = choice.guide;
      changes[`options${n}`] = Object.keys(choice.options).length ? JSON.stringify(choice.options) : "";
      changes[`moves${n}`] = choice.moves.join("\t");
    });
    writeAddress(changes, how);
  }

  #hint(on) {
    writeAddress({ hints: on ? "" : "0" });
    for (const pane of this.panes) pane.moves.hints = on;
    this.go(this.step);
  }

  #compare(two) {
    const same = readAddress().system === SECOND.system;
    const none = { system2: "", guide2: "", options2: "", moves2: "" };
    writeAddress(two ? { system2: same ? "swap" : SECOND.system, guide2: "" } : none, { push: true });
    this.play(false);
    this.#setPanes(readAddress());
    this.#derive(() => this.step);
  }

  #choose(number) {
    this.chosen = Math.min(Math.max(number, 1), this.sentences.length);
    for (const pane of this.panes) pane.choice.moves = [];
    writeAddress({ sentence: this.chosen > 1 ? this.chosen : "", moves: "", moves2: "" }, { push: true });
    this.#derive();
  }

  /** Derive the chosen sentence in every pane and go to the step that is given, else to the end; say if it worked. */
  async #derive(step = () => Infinity) {
    this.play(false);
    this.#keep();
    say("problem", null);
    const sentence = this.sentences[this.chosen - 1];
    if (!sentence) return false;
    $("asked").textContent = $("asked").title = sentence.text;
    $("which").hidden = this.sentences.length < 2;
    $("which-text").textContent = `Sentence ${this.chosen} of ${this.sentences.length.toLocaleString("en")}`;
    $("earlier").disabled = this.chosen === 1;
    $("later").disabled = this.chosen === this.sentences.length;
    const signal = this.#fresh();
    const done = await Promise.allSettled(this.panes.map((pane) => pane.load(sentence.conllu, this.gold, signal)));
    if (signal.aborted) return false;
    done.forEach((result, i) => {
      if (result.status === "rejected") {
        this.panes[i].clear();
        say("problem", result.reason);
      }
    });
    $("transport").hidden = !this.#length;
    $("slider").max = Math.max(0, this.#length - 1);
    this.go(step());
    return done.every((result) => result.status === "fulfilled");
  }

  /** Go to a step. */
  go(wanted, { playing = false } = {}) {
    if (!playing) this.play(false);
    const last = Math.max(0, this.#length - 1);
    this.step = Math.min(Math.max(wanted, 0), last);
    for (const pane of this.panes) pane.show(this.step, playing);
    $("slider").value = this.step;
    $("slider").setAttribute("aria-valuetext", `step ${this.step} of ${last}`);
    $("count").textContent = `${this.step} / ${last}`;
    $("first").disabled = $("back").disabled = this.step === 0;
    $("last").disabled = $("forward").disabled = this.step === last;
    writeAddress({ step: this.step === last ? "" : this.step });
    if (playing && this.step === last) this.play(false);
  }

  play(on) {
    clearInterval(this.timer);
    this.timer = null;
    $("play").replaceChildren(icon(on ? "pause" : "play"));
    $("play").setAttribute("aria-label", on ? "Pause" : "Play");
    if (!on) return;
    this.timer = setInterval(() => this.go(this.step + 1, { playing: true }), PACE / Number($("speed").value));
    if (this.step >= this.#length - 1) this.go(0, { playing: true });
  }
}

function isOpen(menu) {
  try {
    return menu.matches(":open");
  } catch { // a browser that does not know this keeps the keys of an open menu to itself
    return false;
  }
}

function options(text) {
  try {
    const found = JSON.parse(text || "{}");
    return found && typeof found === "object" && !Array.isArray(found) ? found : {};
  } catch {
    return {};
  }
}
