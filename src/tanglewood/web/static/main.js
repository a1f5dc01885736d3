// Starts the page: which view is shown, the theme, and the two views themselves.

import { readAddress, writeAddress } from "./address.js";
import { Derivation } from "./derive.js";
import { $, get, say } from "./dom.js";
import { Treebank } from "./treebank.js";

const VIEWS = ["derive", "treebank"];

function theme() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const tell = () => $("theme").setAttribute("aria-pressed", String(isDark()));
  $("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
    tell();
  });
  system.addEventListener("change", tell);
  tell();
}

async function start() {
  theme();
  let about;
  try {
    about = await get("systems");
  } catch (error) {
    $("derive").hidden = false;
    say("problem", error);
    return;
  }
  $("version").textContent = `tanglewood ${about.version}`;
  const derivation = new Derivation(about);
  const treebank = new Treebank(about, (conllu) => {
    show("derive");
    derivation.open({ conllu });
  });

  function show(view) {
    for (const name of VIEWS) $(name).hidden = name !== view;
    for (const button of document.querySelectorAll("nav [data-view]"))
      button.setAttribute("aria-current", button.dataset.view === view ? "page" : "false");
    document.body.dataset.view = view;
    scrollTo(0, 0);
    document.title = view === "treebank" ? "Treebank · tanglewood" : "tanglewood";
    if (view !== "derive") derivation.play(false);
  }

  async function restore() {
    const { view } = readAddress();
    show(VIEWS.includes(view) ? view : "derive");
    await (view === "treebank" ? treebank : derivation).restore();
  }

  for (const button of document.querySelectorAll("nav [data-view]")) {
    button.addEventListener("click", () => {
      if (button.getAttribute("aria-current") === "page") return;
      writeAddress({ view: button.dataset.view === "derive" ? "" : button.dataset.view }, { push: true });
      restore();
    });
  }
  $("skip").addEventListener("click", (event) => {
    event.preventDefault(); // the part behind # is taken
    $("main").focus();
  });
  addEventListener("hashchange", restore);
  await restore();
  document.documentElement.dataset.ready = "yes";
}

start();
