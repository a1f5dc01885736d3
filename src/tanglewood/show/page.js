"use strict";
const facts = JSON.parse(document.getElementById("words").textContent);
const card = document.getElementById("card");
let shown = null;  // the word or arc that is shown

function make(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

function light(svg, isOn) {
  svg.classList.add("active");
  for (const element of svg.querySelectorAll(".arc, .bundle, .word")) {
    element.classList.toggle("on", isOn(element));
  }
}

function isArcTo(element, words) {
  return "dependent" in element.dataset && element.dataset.dependent.split(" ").some((word) => words.has(word));
}

function show(element) {
  clear();
  shown = element;
  const svg = element.closest("svg");
  const words = new Set((element.dataset.word || element.dataset.dependent).split(" "));
  const ends = new Set(words);
  for (const arc of svg.querySelectorAll(".arc")) {
    if (isArcTo(arc, words)) ends.add(arc.dataset.head);
  }
  light(svg, (other) => ends.has(other.dataset.word) || isArcTo(other, words));
  if (!element.dataset.word) return;
  const rows = facts[element.closest("figure").dataset.sentence][element.dataset.word - 1];
  const list = document.createElement("dl");
  card.replaceChildren(make("h2", rows[0][1]), list);
  for (const [name, value] of rows.slice(1)) {
    if (name) {
      list.append(make("dt", name), make("dd", name === "features" ? value.replaceAll("|", ", ") : value));
    } else {
      card.append(make("p", value));
    }
  }
  card.hidden = false;
  const box = element.getBoundingClientRect();
  const place = (left, top) => Object.assign(card.style, { left: `${left + scrollX}px`, top: `${top + scrollY}px` });
  const right = innerWidth - card.offsetWidth - 8;
  const middle = Math.min(Math.max(8, box.left + box.width / 2 - card.offsetWidth / 2), right);
  const below = svg.querySelector(".number") ? box.bottom + 24 : svg.getBoundingClientRect().bottom - 8;
  const above = element.closest("figure").getBoundingClientRect().top - card.offsetHeight - 4;
  if (below + card.offsetHeight + 4 < innerHeight) {
    place(middle, below);
  } else if (above >= 0) {  // not over the arcs
    place(middle, above);
  } else {
    place(box.left > innerWidth / 2 ? 8 : right, innerHeight - card.offsetHeight - 8);
  }
}

function clear() {
  if (!shown) return;
  const svg = shown.closest("svg");
  svg.classList.remove("active");
  for (const element of svg.querySelectorAll(".on")) element.classList.remove("on");
  card.hidden = true;
  shown = null;
}

const target = (event) => event.target.closest && event.target.closest(".word, .arc, .bundle");
for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    const element = target(event);
    if (element && element !== shown) show(element);
  });
}
for (const kind of ["pointerout", "focusout"]) {
  document.addEventListener(kind, (event) => {
    if (target(event) === shown) clear();
  });
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return clear();
  const word = event.target.closest && event.target.closest(".word");
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!word || !step) return;
  const svg = word.closest("svg");
  const all = [...svg.querySelectorAll(".word")];
  const next = all[all.indexOf(word) + (svg.dataset.direction === "rtl" ? -step : step)];
  if (next) {
    event.preventDefault();
    next.focus();
  }
});
