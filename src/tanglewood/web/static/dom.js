// Small helpers. All text goes in as text; only the server's SVG is parsed, as XML.

export const $ = (id) => document.getElementById(id);

/** Make an element: el("p", { className: "hint" }, "text", child). */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "for") node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children);
  return node;
}

export function svgOf(text) {
  return document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
}

const SVG = "http://www.w3.org/2000/svg";

/** One of the icons that stand at the top of index.html; it says nothing, so what it is on needs a name. */
export function icon(name) {
  const picture = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
  picture.setAttribute("class", "icon");
  picture.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#i-${name}`);
  picture.append(use);
  return picture;
}

/** A word in a line of text: isolated, so that one in another direction leaves what is around it in its place. */
export const bdi = (text) => el("bdi", {}, text);

/** Things with something between each two. */
export const joined = (items, between) => items.flatMap((item, i) => (i ? [between, item] : [item])).flat();

export function option(value, text, chosen) {
  return el("option", { value, selected: value === chosen }, text);
}

export class ApiError extends Error {
  constructor(content, status) {
    const where = [content.line && `line ${content.line}`, content.sent_id && `sentence ${content.sent_id}`];
    const place = where.filter(Boolean).join(", ");
    super(place ? `${place}: ${content.error}` : content.error);
    this.status = status;
  }
}

async function answer(response) {
  const content = await response.json().catch((error) => {
    if (response.ok || error.name === "AbortError") throw error; // the answer was cut short
    return { error: `the server answered ${response.status}` };
  });
  if (!response.ok) throw new ApiError(content, response.status);
  return content;
}

/** Ask the server; if it refuses, throw an ApiError with its message. */
export async function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return answer(await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body), signal }));
}

export const get = async (path) => answer(await fetch(`/api/${path}`));

export function say(id, error) {
  const place = $(id);
  place.hidden = !error;
  place.textContent = error ? error.message || String(error) : "";
}

let noted;

/** Tell something in passing. */
export function note(text) {
  clearTimeout(noted);
  $("note").textContent = text;
  $("note").hidden = false;
  noted = setTimeout(() => ($("note").hidden = true), 5000);
}

export const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)}%` : "–");
export const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
