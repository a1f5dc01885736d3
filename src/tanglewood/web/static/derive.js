// The view of derivations: a sentence, one or two panes in step, and the transport below them.

import { readAddress, writeAddress } from "./address.js";
import { $, counted, el, option, post, say } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { Pane } from "./pane.js";

const PACE = 700; // milliseconds per step
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
      if (!text.trim()) return;
      if (!/^\S+\t/m.test(text)) this.#followModel();
      this.open(/^\S+\t/m.test(text) ? { conllu: `${text.trim()}\n\n` } : { text, model: $("model").value });
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
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  #key(event) {
    if ($("derive").hidden || event.ctrlKey || event.metaKey || event.altKey || !this.#length) return;
    const at = event.target.closest("input, select, textarea, [contenteditable]");
    if (at && at.type !== "checkbox" && at.type !== "range") return;
    if (at?.type === "range" && event.key !== " ") return; // the slider knows these keys itself
    if (event.key === " " && event.target.closest("button, summary, a, input[type=checkbox]")) return;
    const scrolls = event.target.closest(".scroll"); // a wide tree that has the focus scrolls by its arrows
    if (event.key.startsWith("Arrow") && scrolls && scrolls.scrollWidth > scrolls.clientWidth + 1) return;
    const places = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: Infinity };
    if (event.key in places) this.go(places[event.key]);
    else if (event.key === " ") this.play(!this.timer);
    else return;
    event.preventDefault();
  }

  get #length() {
    return Math.max(0, ...this.panes.map((pane) => pane.length));
  }

  /** A typed sentence is derived as the model parses it, if the model is transition-based. */
  #followModel() {
    const name = $("model").value || this.about.models[0]?.name;
    const model = this.about.models.find((one) => one.name === name && one.kind === "moves");
    if (model) writeAddress({ system: model.system, guide: `model:${model.name}`, options: "" });
  }

  /** Show a sentence: { example } or { conllu } or { text, model }. */
  async open(source) {
    writeAddress({ example: "", conllu: "", text: "", model: "", sentence: "", step: "", ...source });
    await this.restore();
  }

  /** Show what the address says. */
  async restore() {
    const state = readAddress();
    const given = state.text || state.conllu;
    const example = given ? null : EXAMPLES.find((one) => one.id === state.example) || EXAMPLES[0];
    for (const chip of $("examples").children)
      chip.setAttribute("aria-pressed", String(chip.dataset.example === example?.id));
    this.#setPanes(state);
    say("problem", null);
    const body = example ? { conllu: example.conllu } : state.text
      ? { text: state.text, ...(state.model ? { model: state.model } : {}) } : { conllu: state.conllu };
    if (state.model) $("model").value = state.model;
    try {
      this.sentences = (await post("parse", { ...body, drawings: false }, this.#fresh())).sentences;
    } catch (error) {
      if (error.name === "AbortError") return;
      this.sentences = [];
      for (const pane of this.panes) pane.clear();
      $("transport").hidden = $("which").hidden = true;
      $("input").value = given || "";
      this.#fit();
      say("problem", error);
      return;
    }
    this.chosen = Math.min(Math.max(Number(state.sentence) || 1, 1), this.sentences.length);
    $("input").value = state.conllu || state.text || this.sentences[0].text;
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
    const choices = [{ system: state.system || "swap", guide: state.guide || "", options: options(state.options) }];
    if (state.system2) choices.push({ system: state.system2, guide: state.guide2 || "", options: options(state.options2) });
    const changed = { choice: () => this.#derive(() => this.step), step: (k) => this.go(k) };
    this.panes = choices.map((choice) => new Pane(this.about, choice, changed));
    $("panes").replaceChildren(...this.panes.map((pane) => pane.node));
    $("panes").className = this.panes.length > 1 ? "two" : "one";
    $("compare").checked = this.panes.length > 1;
    this.#keep();
  }

  #keep() {
    this.panes.forEach(({ choice }, i) => {
      const names = ["system", "guide", "options"].map((name) => name + (i ? i + 1 : ""));
      const set = Object.keys(choice.options).length ? JSON.stringify(choice.options) : "";
      writeAddress({ [names[0]]: choice.system, [names[1]]: choice.guide, [names[2]]: set });
    });
  }

  #compare(two) {
    const same = readAddress().system === SECOND.system;
    writeAddress(two ? { system2: same ? "swap" : SECOND.system, guide2: "" } : { system2: "", guide2: "", options2: "" });
    this.play(false);
    this.#setPanes(readAddress());
    this.#derive(() => this.step);
  }

  #choose(number) {
    this.chosen = Math.min(Math.max(number, 1), this.sentences.length);
    writeAddress({ sentence: this.chosen > 1 ? this.chosen : "" });
    this.#derive();
  }

  /** Derive the chosen sentence in every pane and then go to the step that is given, else to the end. */
  async #derive(step = () => Infinity) {
    this.play(false);
    this.#keep();
    say("problem", null);
    const sentence = this.sentences[this.chosen - 1];
    if (!sentence) return;
    $("which").hidden = this.sentences.length < 2;
    $("which-text").textContent = `Sentence ${this.chosen} of ${counted(this.sentences.length, "sentence").split(" ")[0]}`;
    $("earlier").disabled = this.chosen === 1;
    $("later").disabled = this.chosen === this.sentences.length;
    const signal = this.#fresh();
    const done = await Promise.allSettled(this.panes.map((pane) => pane.load(sentence.conllu, signal)));
    if (signal.aborted) return;
    done.forEach((result, i) => {
      if (result.status === "rejected") {
        this.panes[i].clear();
        say("problem", result.reason);
      }
    });
    $("transport").hidden = !this.#length;
    $("slider").max = Math.max(0, this.#length - 1);
    this.go(step());
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
    $("play").textContent = on ? "⏸\uFE0E" : "▶\uFE0E";
    $("play").setAttribute("aria-label", on ? "Pause" : "Play");
    if (!on) return;
    this.timer = setInterval(() => this.go(this.step + 1, { playing: true }), PACE);
    if (this.step >= this.#length - 1) this.go(0, { playing: true });
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
