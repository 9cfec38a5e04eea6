// Cells: how a value is shown in the table, and whole in the panel of a row.

import { counted, el, put, replace, sized, svg } from "./dom.js";

const SHADES = Array.from({ length: 256 }, (_, at) => {
  const t = at / 255;
  const mix = (a, b, c) => Math.round(t < 0.5 ? a + (b - a) * 2 * t : b + (c - b) * (2 * t - 1));
  return [mix(32, 47, 253), mix(31, 122, 231), mix(84, 178, 76)];
});

export const isTall = (column) => column.cell === "media" || column.cell === "array";

/** The content of a cell of the table. `value` is as it came: a scalar, or JSON text of what is nested. */
export function cellOf(column, value, place) {
  if (value === null || value === undefined) return [el("span", { class: "null" }, "null")];
  switch (column.cell) {
    case "number":
      return [el("span", { class: "number" }, numberText(value))];
    case "bool":
      return [el("span", { class: `bool ${value}` }, String(value))];
    case "label":
      return [el("span", { class: "label", dir: "auto" }, value)];
    case "text":
      return textCell(value);
    case "time":
      return [el("span", { class: "number" }, value)];
    default:
      return nested(column, JSON.parse(value), place, false);
  }
}

export function numberText(value) {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return Math.abs(value) < 1e15 ? String(value) : value.toExponential(4);
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e12) ? value.toExponential(4) : String(Number(value.toPrecision(7)));
}

function textCell(value) {
  const at = value.indexOf("\0");
  if (at < 0) return [value === "" ? el("span", { class: "none" }, "empty text") : el("span", { class: "text", dir: "auto" }, value)];
  const all = Number(value.slice(at + 1));
  return [
    el("span", { class: "text", dir: "auto" }, value.slice(0, at)),
    el("span", { class: "rest", title: `${counted(all)} characters` }, "…"),
  ];
}

/** The content of a field in the panel, whole. */
export function fieldOf(column, value, place) {
  if (value === null || value === undefined) return [el("span", { class: "null" }, "null")];
  return nested(column, value, place, true);
}

function nested(column, value, place, isWhole) {
  if (value === null) return [el("span", { class: "null" }, "null")];
  if (column.cell === "chat" && Array.isArray(value)) return chat(value, isWhole);
  if (column.cell === "tokens" && Array.isArray(value)) return tokens(value, isWhole);
  if (value && value.$media) return medium(column, value, place, isWhole);
  if (value && value.$array) return heat(value, isWhole);
  if (Array.isArray(value) && value.some((each) => each && each.$media)) {
    return [el("div", { class: "strip" }, value.map((each) => (each && each.$media ? medium(column, each, place, isWhole) : tree(each, isWhole))))];
  }
  return isWhole ? [tree(value, true, column, place)] : [el("span", { class: "json", dir: "auto" }, brief(value, 160))];
}

// -- texts, lists and dicts ---------------------------------------------------------------------------------------------

function leaf(value) {
  if (value === null) return el("span", { class: "null" }, "null");
  if (typeof value === "string") return value === "" ? el("span", { class: "none" }, "empty text") : el("span", { class: "text", dir: "auto" }, value);
  if (typeof value === "number" || typeof value === "boolean") return el("span", { class: "number" }, numberText(value));
  if (value.$text !== undefined) return el("span", { class: "text", dir: "auto" }, value.$text, el("span", { class: "rest" }, `… (${counted(value.size)} in all)`));
  if (value.$number !== undefined) return el("span", { class: "number" }, value.$number);
  if (value.$time !== undefined) return el("span", { class: "number" }, value.$time);
  if (value.$more !== undefined) return el("span", { class: "rest" }, value.$more);
  if (value.$bytes !== undefined) {
    const pairs = value.$bytes.replace(/../g, "$& ").trim();
    return el("span", { class: "bytes" }, pairs, value.size * 2 > value.$bytes.length ? "…" : "", el("small", {}, ` ${sized(value.size)}`));
  }
  return null;
}

function tree(value, isOpen, column, place) {
  const plain = leaf(value);
  if (plain) return plain;
  if (value.$media) return el("div", {}, medium(column || {}, value, place, true));
  if (value.$array) return el("div", {}, heat(value, true));
  const isList = Array.isArray(value);
  const pairs = isList ? value.map((each, at) => [at, each]) : value.$map;
  const size = isList ? counted(pairs.length) : counted(value.of);
  if (!pairs.length) return el("span", { class: "none" }, isList ? "empty list" : "empty dict");
  if (isList && pairs.every(([, each]) => each !== null && typeof each === "number")) {
    return el("span", { class: "number" }, `[${value.map(numberText).join(", ")}]`);
  }
  return el(
    "details",
    { class: "tree", open: isOpen },
    el("summary", {}, isList ? `list of ${size}` : `dict of ${size}`),
    el(
      "dl",
      {},
      pairs.map(([name, each]) => [el("dt", {}, String(name)), el("dd", {}, tree(each, isOpen && pairs.length <= 12, column, place))]),
    ),
  );
}

/** A value in one line. */
export function brief(value, most) {
  const parts = [];
  let left = most;
  const add = (text) => {
    parts.push(text);
    left -= text.length;
  };
  const walk = (each) => {
    if (left <= 0) return;
    if (each === null) add("null");
    else if (typeof each === "string") add(each.length > 60 ? `"${each.slice(0, 60)}…"` : `"${each}"`);
    else if (typeof each !== "object") add(numberText(each));
    else if (Array.isArray(each)) {
      add("[");
      each.some((inner, at) => {
        if (at) add(", ");
        walk(inner);
        return left <= 0;
      });
      add("]");
    } else if (each.$map) {
      add("{");
      each.$map.some(([name, inner], at) => {
        add(`${at ? ", " : ""}${name}: `);
        walk(inner);
        return left <= 0;
      });
      add("}");
    } else if (each.$media) add(`${each.$media.kind} of ${sized(each.$media.size)}`);
    else if (each.$array) add(`array ${each.$array.join("×")}`);
    else if (each.$bytes !== undefined) add(`${sized(each.size)}: ${each.$bytes.replace(/../g, "$& ").trim()}`);
    else add(String(each.$text ?? each.$number ?? each.$time ?? each.$more ?? ""));
  };
  walk(value);
  return left > 0 ? parts.join("") : `${parts.join("").slice(0, most)}…`;
}

function tokens(value, isWhole) {
  const shown = isWhole ? value : value.slice(0, 16);
  if (!value.length) return [el("span", { class: "none" }, "empty list")];
  return [
    el("span", { class: `tokens${isWhole ? " whole" : ""}` }, shown.map((each) => {
      const inner = each !== null && typeof each === "object" ? brief(each, 40) : each === null ? "null" : String(each);
      return el("span", { class: each && each.$more ? "rest" : "token", dir: "auto" }, inner === "" ? " " : inner.replaceAll("\n", "\\n").replaceAll("\t", "\\t"));
    })),
  ];
}

function fieldIn(message, names) {
  const found = (message && message.$map ? message.$map : []).find(([name]) => names.includes(name));
  return found ? found[1] : null;
}

function chat(messages, isWhole) {
  if (!messages.length) return [el("span", { class: "none" }, "no messages")];
  const shown = isWhole ? messages : messages.slice(0, 2);
  return [
    el(
      "div",
      { class: `chat${isWhole ? " whole" : ""}` },
      shown.map((message) => {
        if (!message || message.$more) return el("div", { class: "rest" }, message ? message.$more : "null");
        const role = String(fieldIn(message, ["role", "from"]) ?? "");
        const content = fieldIn(message, ["content", "value"]);
        return el(
          "div",
          { class: `message ${/^(user|human)$/i.test(role) ? "user" : /^system$/i.test(role) ? "system" : "other"}` },
          el("span", { class: "role" }, role || "?"),
          el("span", { class: "said", dir: "auto" }, isWhole ? tree(content, true) : brief(content, 200).replace(/^"|"$/g, "")),
        );
      }),
      !isWhole && messages.length > 2 ? el("div", { class: "rest" }, `${counted(messages.length - 2)} more`) : null,
    ),
  ];
}

// -- arrays -------------------------------------------------------------------------------------------------------------

function heat(value, isWhole) {
  const rows = value.heat.length;
  const columns = rows ? value.heat[0].length : 0;
  const text = `${value.$array.join(" × ")}`;
  const parts = [];
  if (rows && columns) {
    const canvas = el("canvas", { width: columns, height: rows, class: "heat", role: "img", "aria-label": `array of ${text}` });
    const context = canvas.getContext("2d");
    const drawn = context.createImageData(columns, rows);
    value.heat.forEach((row, at) => row.forEach((shade, other) => drawn.data.set([...SHADES[shade], 255], 4 * (at * columns + other))));
    context.putImageData(drawn, 0, 0);
    const side = isWhole ? 220 : 56;
    const scale = side / Math.max(rows, columns);
    canvas.style.width = `${Math.max(8, columns * scale)}px`;
    canvas.style.height = `${Math.max(8, rows * scale)}px`;
    parts.push(canvas);
  }
  parts.push(el("span", { class: "shape" }, text, value.min === null ? "" : el("small", {}, `${value.min} to ${value.max}`)));
  return [el("div", { class: "array" }, parts)];
}

// -- media --------------------------------------------------------------------------------------------------------------

function medium(column, value, place, isWhole) {
  const facts = value.$media;
  const name = facts.name || facts.kind || "file";
  if (facts.error) return [failure(facts.error)];
  const asked = { view: place.base, column: column.name, row: place.row, path: value.path };
  if (facts.kind === "image") return [image(column, facts, asked, place, isWhole)];
  if (facts.kind === "audio") return [audio(asked, name, facts, place, isWhole)];
  if (facts.kind === "video") return [video(asked, name, place, isWhole)];
  if (facts.kind === "pdf") return [drawn(asked, "page", `first page of ${name}`, place, isWhole)];
  return [
    el("span", { class: "file" }, `${name}, ${sized(facts.size)} `, isWhole ? saveLink(asked, place) : null),
  ];
}

export function failure(text) {
  return el("span", { class: "failure", role: "note", title: text }, text);
}

function saveLink(asked, place) {
  const link = el("a", { class: "action", download: "" }, "Save file");
  place.app.media({ ...asked, as: "file" }).then((url) => link.setAttribute("href", url));
  return link;
}

function picture(asked, shape, alt, place, size) {
  const found = el("img", { alt, loading: "lazy", decoding: "async" });
  if (size) {
    found.width = size[0];
    found.height = size[1];
  }
  place.app.media({ ...asked, as: shape }).then(
    (url) => {
      found.addEventListener("error", async () => found.replaceWith(failure(await place.app.transport.reason(url))), { once: true });
      found.src = url;
    },
    (error) => found.replaceWith(failure(error.message)),
  );
  return found;
}

function drawn(asked, shape, alt, place, isWhole) {
  const found = picture(asked, isWhole ? "full" : shape, alt, place);
  found.className = isWhole ? "whole" : "thumb";
  return isWhole ? el("div", {}, found, saveLink(asked, place)) : el("button", { type: "button", class: "shown", "aria-label": `Open ${alt}`, onclick: (event) => open(event, asked, alt, place) }, found);
}

function open(event, asked, alt, place, boxes = []) {
  event.stopPropagation();
  place.app.lightbox(alt, () => {
    const found = picture(asked, "full", alt, place);
    return el("div", { class: "framed" }, found, boxes.length ? overlay(boxes) : null);
  });
}

function image(column, facts, asked, place, isWhole) {
  const alt = `${facts.name || "image"}, ${facts.width} × ${facts.height} pixels`;
  const high = isWhole ? Math.min(360, facts.height) : 64;
  const wide = Math.max(8, Math.min(isWhole ? 380 : 120, (high * facts.width) / facts.height));
  const size = [Math.round(wide), Math.round((wide * facts.height) / facts.width)];
  const boxes = place.boxes ? boxesOf(place.boxes(column), facts) : [];
  const found = picture(asked, isWhole && facts.width > 480 ? "full" : "thumb", alt, place, size);
  const frame = el("span", { class: "framed", style: { width: `${size[0]}px`, height: `${size[1]}px` } }, found, boxes.length ? overlay(boxes) : null);
  const button = el("button", { type: "button", class: "shown", "aria-label": `Open ${alt}`, onclick: (event) => open(event, asked, alt, place, boxes) }, frame);
  return el("div", { class: "image" }, button, el("small", {}, `${facts.width} × ${facts.height}`), isWhole ? saveLink(asked, place) : null);
}

/** Boxes as shares of the picture: [left, top, width, height, name]. */
export function boxesOf(found, facts) {
  if (!found || !found.boxes.length) return [];
  const isRelative = found.boxes.every((box) => box.every((each) => each >= 0 && each <= 1));
  return found.boxes.map((box, at) => {
    const [a, b, c, d] = box;
    const shares = isRelative ? [b, a, d - b, c - a] : [a / facts.width, b / facts.height, c / facts.width, d / facts.height];
    return [...shares, found.names[at] ?? ""];
  });
}

function overlay(boxes) {
  return svg(
    "svg",
    { class: "boxes", viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" },
    boxes.map(([x, y, width, height, name]) =>
      svg("rect", { x, y, width: Math.max(0, width), height: Math.max(0, height) }, svg("title", {}, String(name))),
    ),
  );
}

function audio(asked, name, facts, place, isWhole) {
  const player = el("audio", { controls: true, preload: "none", "aria-label": name });
  place.app.media({ ...asked, as: "file" }).then((url) => (player.src = url));
  const waves = el("div", { class: "wave" });
  const found = el("div", { class: `audio${isWhole ? " whole" : ""}` }, waves, player);
  setTimeout(() => {
    if (!found.isConnected) return;
    place.app.ask("wave", asked).then(
      (wave) => replace(waves, waveForm(wave), el("small", {}, `${wave.seconds.toFixed(1)} s, ${counted(wave.rate)} Hz`)),
      (error) => replace(waves, failure(error.message)),
    );
  }, 150);
  return found;
}

function waveForm(wave) {
  const size = wave.low.length;
  const most = Math.max(0.01, ...wave.high, ...wave.low.map((each) => -each));
  const path = wave.low.map((low, at) => `M${at + 0.5} ${20 - (18 * wave.high[at]) / most}V${20 - (18 * low) / most + 0.6}`).join("");
  return svg("svg", { viewBox: `0 0 ${Math.max(1, size)} 40`, preserveAspectRatio: "none", role: "img", "aria-label": "wave form" }, svg("path", { d: path }));
}

function video(asked, name, place, isWhole) {
  const player = el("video", { controls: true, preload: "metadata", "aria-label": name, class: isWhole ? "whole" : "" });
  player.addEventListener("error", () => player.replaceWith(failure("The browser cannot play this video. Save the file.")), { once: true });
  place.app.media({ ...asked, as: "file" }).then((url) => (player.src = url));
  return isWhole ? el("div", {}, player, saveLink(asked, place)) : player;
}

