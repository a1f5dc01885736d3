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

/** The drawing, which may shrink to the room there is, down to three quarters; then it scrolls. */
export function svgOf(text) {
  const drawing = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
  drawing.style.minWidth = `${0.75 * Number(drawing.getAttribute("width"))}px`;
  return drawing;
}

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
  const content = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
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

export const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)}%` : "–");
export const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
