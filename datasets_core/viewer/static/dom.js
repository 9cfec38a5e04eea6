// Elements. Values of the data become text nodes and attributes, never markup.

/** An element with properties, listeners (`on…`), attributes and children; texts are text. */
export function el(tag, given = {}, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, each] of Object.entries(value)) found.style.setProperty(key, each);
    else if (name === "class") found.className = value;
    else if (value === true) found.setAttribute(name, "");
    else found.setAttribute(name, String(value));
  }
  put(found, children);
  return found;
}

export function put(parent, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function replace(parent, ...children) {
  parent.textContent = "";
  put(parent, children);
}

export function svg(tag, given = {}, ...children) {
  const found = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) found.setAttribute(name, String(value));
  }
  put(found, children);
  return found;
}

const NUMBER = new Intl.NumberFormat("en-US");

export const counted = (number) => NUMBER.format(number);

export function sized(bytes) {
  if (bytes === null || bytes === undefined) return "";
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let place = 0;
  while (bytes >= 1000 && place < units.length - 1) {
    bytes /= 1000;
    place += 1;
  }
  return `${place ? bytes.toPrecision(3) : bytes} ${units[place]}`;
}

export function share(part, whole) {
  if (!whole || !part) return part ? "" : "0%";
  const found = (100 * part) / whole;
  return found < 0.1 ? "<0.1%" : found > 99.9 && part < whole ? ">99.9%" : `${found.toFixed(found < 10 ? 1 : 0)}%`;
}

const ICONS = {
  left: "M10 3 5 8l5 5",
  right: "m6 3 5 5-5 5",
  close: "m4 4 8 8m0-8-8 8",
  more: "M8 3.2v.1M8 8v.1M8 12.7v.1",
  link: "M6.5 9.5a2.5 2.5 0 0 0 3.5 0l2.3-2.3a2.5 2.5 0 0 0-3.5-3.5l-.8.8M9.5 6.5a2.5 2.5 0 0 0-3.5 0L3.7 8.8a2.5 2.5 0 0 0 3.5 3.5l.8-.8",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zm3.3-1.2L14 14",
};

export function icon(name) {
  return svg("svg", { viewBox: "0 0 16 16", class: `icon icon-${name}`, "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

export function iconButton(name, label, onclick, more = {}) {
  return el("button", { type: "button", class: "quiet", "aria-label": label, title: label, onclick, ...more }, icon(name));
}
