// A tree to take away: as SVG and PNG, as it is shown; for LaTeX; as a link to this view.

import { el, icon, note, post } from "./dom.js";

const SHARP = 2, LARGEST = 16_000; // pixels of a PNG for one of the drawing, and what a browser can paint

/** The menu; `of` gives the drawing that is shown, the sentence in CoNLL-U and a name for files. */
export function exportMenu(of) {
  const list = el("div", { className: "list" });
  const menu = el("details", { className: "menu" },
    el("summary", { className: "tool", title: "Export", "aria-label": "Export" }, icon("export")), list);
  const entry = (text, work) => {
    const button = el("button", { type: "button" }, text);
    button.addEventListener("click", async () => {
      menu.open = false;
      menu.firstChild.focus({ preventScroll: true });
      await work().catch((error) => note(`That did not work: ${error.message}`));
    });
    list.append(button);
  };
  entry("SVG", async () => save(new Blob([plain(of.drawing())], { type: "image/svg+xml" }), `${of.name()}.svg`));
  entry("PNG", async () => save(await painted(of.drawing()), `${of.name()}.png`));
  entry("TikZ for LaTeX", async () => {
    const { sentences } = await post("parse", { conllu: of.conllu(), drawings: false, tikz: true });
    save(new Blob([sentences[0].tikz], { type: "text/x-tex" }), `${of.name()}.tex`);
  });
  entry("Link to this view", copyLink);
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.firstChild.focus();
  });
  return menu;
}

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]"))
    if (!menu.contains(event.target)) menu.open = false;
});

/** The drawing as a file of its own, with the arcs that are made and in the light colours it came with. */
function plain(drawing) {
  const copy = drawing.cloneNode(true);
  for (const arc of copy.querySelectorAll(".unmade")) arc.remove();
  copy.removeAttribute("style");
  return new XMLSerializer().serializeToString(copy);
}

async function painted(drawing) {
  const [width, height] = ["width", "height"].map((name) => Number(drawing.getAttribute(name)));
  const scale = Math.min(SHARP, LARGEST / Math.max(width, height));
  const address = URL.createObjectURL(new Blob([plain(drawing)], { type: "image/svg+xml" }));
  try {
    const picture = new Image();
    picture.src = address;
    await picture.decode();
    const canvas = el("canvas", { width: Math.ceil(scale * width), height: Math.ceil(scale * height) });
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large")))));
  } finally {
    URL.revokeObjectURL(address);
  }
}

function save(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name.replace(/[^\p{L}\p{N}._-]+/gu, "-") });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    note("The link is copied.");
  } catch { // a page that is not served from this machine or by https may not
    note(`Copy the link from the address bar: ${location.href.slice(0, 80)}${location.href.length > 80 ? "…" : ""}`);
  }
}
