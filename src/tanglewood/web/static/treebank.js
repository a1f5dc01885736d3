// The view of a treebank: it is sent to the server in parts, counted there, and kept in this page only.

import { readAddress, writeAddress } from "./address.js";
import { $, counted, el, option, percent, post, say, svgOf } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { exportMenu } from "./export.js";
import { textOf } from "./reading.js";
import { TreeBox } from "./treebox.js";

const PART = 300_000; // characters sent at once
const PAGE = 25; // sentences shown at once
const FILTERS = { search: "f-search", crossing: "f-crossing", degree: "f-degree", label: "f-label", not: "f-system", order: "f-order" };

export class Treebank {
  constructor(about, derive) {
    this.systems = about.systems.map((system) => system.name);
    this.derive = derive;
    this.rows = [];
    this.lines = [];
    $("file").addEventListener("change", () => $("file").files.length && this.#read($("file").files[0]));
    $("sample").addEventListener("click", () => this.sample());
    for (const [name, id] of Object.entries(FILTERS)) {
      $(id).addEventListener("input", () => {
        const value = $(id).type === "checkbox" ? ($(id).checked ? "1" : "") : $(id).value === "0" ? "" : $(id).value;
        writeAddress({ [`f-${name}`]: value, row: "" });
        this.#filter();
      });
    }
    $("f-reset").addEventListener("click", () => {
      writeAddress({ ...Object.fromEntries(Object.keys(FILTERS).map((name) => [`f-${name}`, ""])), row: "" });
      this.#show();
      $("f-search").focus();
    });
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    $("tb-earlier").addEventListener("click", () => this.#turn(this.page - 1));
    $("tb-later").addEventListener("click", () => this.#turn(this.page + 1));
  }

  /** Show what the address says; a file has to be chosen anew, since pages may not open files by themselves. */
  async restore() {
    if (!this.rows.length && readAddress().treebank === "examples") await this.sample();
    else this.#show();
  }

  async sample() {
    writeAddress({ treebank: "examples" });
    await this.#count(EXAMPLES.map((example) => example.conllu).join(""));
  }

  async #read(file) {
    writeAddress({ treebank: "", row: "" });
    this.asking?.abort();
    let text;
    try {
      text = await textOf(file);
    } catch (error) {
      this.#refuse(`${file.name} ${error.message}`);
      return;
    }
    await this.#count(text, file.name);
  }

  /** Say why there is nothing to show. */
  #refuse(problem) {
    this.rows = [];
    $("tb-progress").hidden = $("tb-body").hidden = true;
    say("tb-problem", problem);
  }

  async #count(text, name) {
    this.asking?.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    say("tb-problem", null);
    this.lines = text.replace(/\r\n/g, "\n").split("\n");
    this.rows = [];
    this.errors = [];
    this.coverage = Object.fromEntries(this.systems.map((name) => [name, { all: 0, crossing: 0 }]));
    this.sums = { sentences: 0, words: 0, nonprojective_sentences: 0, nonprojective_arcs: 0 };
    const [bar, note] = $("tb-progress").children;
    $("tb-progress").hidden = false;
    try {
      for (const [first, last] of parts(this.lines)) {
        const found = await post("treebank", { conllu: this.lines.slice(first, last).join("\n"), first_line: first + 1 }, signal);
        this.#add(found);
        bar.value = last / this.lines.length;
        note.textContent = counted(this.rows.length, "sentence");
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      say("tb-problem", error);
    }
    $("tb-progress").hidden = true;
    if (!this.rows.length && !this.errors.length) {
      if ($("tb-problem").hidden) this.#refuse(`${name} has no sentence in it; it should be CoNLL-U or CoNLL-X`);
      return;
    }
    if (!this.rows.length) {
      const [{ error, line }] = this.errors;
      say("tb-problem", `No sentence of ${name} could be read; the first error is on line ${line}: ${error}`);
    }
    $("tb-body").hidden = false;
    $("tb-body").classList.toggle("unread", !this.rows.length);
    $("tb-errors").open = !this.rows.length;
    this.#summarise();
    this.#show();
  }

  #add({ sentences, stats, coverage, errors }) {
    for (const row of sentences) this.rows.push({ ...row, number: this.rows.length + 1 });
    this.errors.push(...errors);
    for (const name of Object.keys(this.sums)) this.sums[name] += stats[name];
    for (const name of this.systems) {
      this.coverage[name].all += coverage.covered[name];
      this.coverage[name].crossing += coverage.covered_nonprojective[name];
    }
  }

  #summarise() {
    const { sentences, words, nonprojective_sentences: crossing, nonprojective_arcs: arcs } = this.sums;
    const degree = this.rows.reduce((most, row) => Math.max(most, row.degree), 0);
    const facts = [["sentences", sentences.toLocaleString("en"), ""], ["words", words.toLocaleString("en"), ""],
      ["crossing sentences", crossing.toLocaleString("en"), percent(crossing, sentences)],
      ["crossing arcs", arcs.toLocaleString("en"), percent(arcs, words)], ["highest degree", String(degree), ""]];
    $("tb-stats").replaceChildren(...facts.map(([name, number, share]) =>
      el("div", {}, el("dt", {}, name), el("dd", {}, number, ...(share ? [" ", el("small", {}, share)] : [])))));
    $("tb-coverage").tBodies[0].replaceChildren(...this.systems.map((name) => {
      const { all, crossing: tangled } = this.coverage[name];
      const button = el("button", { type: "button", className: "link", title: `Show what ${name} does not derive` }, name);
      button.addEventListener("click", () => {
        $("f-system").value = name;
        $("f-system").dispatchEvent(new Event("input"));
      });
      const cell = (part, whole) => {
        const fill = el("span", { className: "fill" });
        fill.style.width = whole ? `${(100 * part) / whole}%` : "0";
        return el("td", {}, el("span", { className: "meter" }, fill), el("span", { className: "number" }, percent(part, whole)));
      };
      return el("tr", {}, el("th", { scope: "row" }, button), cell(all, sentences), cell(tangled, crossing));
    }));
    const labels = [...new Set(this.rows.flatMap((row) => row.labels))].sort();
    $("f-label").replaceChildren(option("", "any"), ...labels.map((label) => option(label, label)));
    $("f-system").replaceChildren(option("", "any"), ...this.systems.map((name) => option(name, name)));
    $("tb-errors").hidden = !this.errors.length;
    const [summary, list] = $("tb-errors").children;
    summary.textContent = `${counted(this.errors.length, "sentence")} left out because of errors`;
    list.replaceChildren(...this.errors.slice(0, 200).map(({ error, line, sent_id: id }) =>
      el("li", {}, `line ${line}${id ? `, ${id}` : ""}: ${error}`)));
  }

  /** Show the sentences that pass the filters of the address. */
  #show() {
    const state = readAddress();
    for (const [name, id] of Object.entries(FILTERS)) {
      const value = state[`f-${name}`] || "";
      if ($(id).type === "checkbox") $(id).checked = value === "1";
      else $(id).value = value || ($(id).type === "number" ? "0" : "");
    }
    this.#filter();
  }

  /** The same conditions as the filter of /api/treebank, on the rows at hand. */
  #filter() {
    const search = $("f-search").value.toLowerCase();
    const crossing = $("f-crossing").checked;
    const degree = Number($("f-degree").value) || 0;
    const label = $("f-label").value;
    const system = $("f-system").value;
    this.found = this.rows.filter((row) =>
      (!crossing || row.crossing > 0) && row.degree >= degree
      && (!system || row.uncovered.includes(system))
      && (!label || (crossing ? row.crossing_labels : row.labels).includes(label))
      && (!search || `${row.sent_id || ""}\n${row.text}`.toLowerCase().includes(search)));
    const order = $("f-order").value;
    if (order) this.found.sort((a, b) => b[order] - a[order]); // equals stay as in the file
    const filtered = Boolean(search || crossing || degree || label || system);
    $("f-reset").hidden = !filtered && !order;
    $("tb-count").textContent = !this.found.length && filtered ? "No sentence passes these filters."
      : `${counted(this.found.length, "sentence")} of ${this.rows.length.toLocaleString("en")}`;
    const wanted = this.found.findIndex((row) => String(row.number) === readAddress().row);
    this.#turn(wanted < 0 ? 0 : Math.floor(wanted / PAGE));
    if (this.found.length) this.#open(this.found[Math.max(wanted, 0)], wanted >= 0);
    else {
      this.opened = null;
      $("tb-detail").hidden = true;
    }
  }

  #turn(page) {
    const pages = Math.ceil(this.found.length / PAGE);
    this.page = Math.min(Math.max(page, 0), Math.max(pages - 1, 0));
    $("tb-pages").hidden = pages < 2;
    $("tb-page").textContent = `Page ${this.page + 1} of ${pages}`;
    $("tb-earlier").disabled = this.page === 0;
    $("tb-later").disabled = this.page >= pages - 1;
    $("tb-list").start = this.page * PAGE + 1;
    $("tb-list").replaceChildren(...this.found.slice(this.page * PAGE, (this.page + 1) * PAGE).map((row) => {
      const facts = [row.sent_id, counted(row.words, "word"), row.crossing ? counted(row.crossing, "crossing arc") : "", row.degree ? `degree ${row.degree}` : ""];
      const button = el("button", { type: "button" }, el("span", { className: "text", dir: "auto" }, row.text),
        el("span", { className: row.crossing ? "facts crossing" : "facts" }, facts.filter(Boolean).join(" · ")));
      button.dataset.number = row.number;
      button.addEventListener("click", () => this.#open(row, true));
      return el("li", {}, button);
    }));
    this.#mark();
  }

  #mark() {
    for (const button of $("tb-list").querySelectorAll("button"))
      button.setAttribute("aria-current", String(Number(button.dataset.number) === this.opened?.number));
  }

  async #open(row, byHand) {
    if (this.opened === row && !byHand) return; // a filter has changed, not the sentence: it stays where it was scrolled to
    this.opened = row;
    if (byHand) writeAddress({ row: row.number });
    this.#mark();
    const conllu = `${this.lines.slice(row.first_line - 1, row.last_line).join("\n")}\n\n`;
    let found;
    try {
      found = await post("parse", { conllu });
    } catch (error) {
      if (this.opened === row) this.opened = null;
      say("tb-problem", error);
      return;
    }
    if (this.opened !== row) return;
    const go = el("button", { type: "button", className: "primary" }, "Derive it step by step");
    go.addEventListener("click", () => this.derive(conllu));
    const not = row.uncovered.length ? `Not derived by ${row.uncovered.join(", ")}.` : "Every system derives it.";
    const [sentence] = found.sentences;
    const tree = new TreeBox({ tall: true });
    const menu = exportMenu({ drawing: () => tree.drawing, conllu: () => conllu, name: () => row.sent_id || `sentence-${row.number}` });
    $("tb-detail").replaceChildren(
      el("div", { className: "head" }, el("h2", {}, row.sent_id || `Sentence ${row.number}`), menu),
      tree.node, el("p", { className: "hint" }, not), go);
    $("tb-detail").hidden = false;
    tree.show(svgOf(sentence.svg));
    if (sentence.nonprojective.length) {
      const [word] = sentence.nonprojective;
      tree.reveal([word, sentence.heads[word - 1]]); // the first arc that crosses another
    }
    if (byHand) $("tb-detail").scrollIntoView({ block: "nearest" }); // on a phone it is below the list
  }
}

/** Cut lines into parts that end with a blank line: pairs of first line and line after the last. */
function* parts(lines) {
  let first = 0, size = 0;
  for (let i = 0; i < lines.length; i++) {
    size += lines[i].length + 1;
    if (size >= PART && !lines[i].trim()) {
      yield [first, i + 1];
      first = i + 1;
      size = 0;
    }
  }
  if (lines.slice(first).some((line) => line.trim())) yield [first, lines.length];
}
