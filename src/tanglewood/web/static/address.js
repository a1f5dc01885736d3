// The state of the page lives behind the # of its address, so that a link or a reload brings it back.

export function readAddress() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/**
 * Change some of the state; values that are empty disappear from the address. With `push` the browser's Back returns
 * to what was before.
 */
export function writeAddress(changes, { push = false } = {}) {
  const all = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(changes)) {
    if (value === "" || value === null || value === undefined) all.delete(name);
    else all.set(name, value);
  }
  const text = all.toString();
  const address = text ? `#${text}` : location.pathname;
  if (`#${text}` === location.hash || (!text && !location.hash)) return;
  if (push) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
