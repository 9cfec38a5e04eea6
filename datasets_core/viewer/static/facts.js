// The pages beside the rows: what is recorded of a dataset, and how two datasets differ.

import { counted, el, sized } from "./dom.js";

const section = (title, ...children) => el("section", {}, el("h2", {}, title), children);

function table(caption, head, rows) {
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("thead", {}, el("tr", {}, head.map((each) => el("th", { scope: "col" }, each)))), el("tbody", {}, rows.map((row) => el("tr", {}, row.map((each) => el("td", { dir: "auto" }, each)))))),
  );
}

export function factsOf(found, onsplit) {
  const lines = [
    ["config", found.config],
    ["version", found.version && found.version !== "0.0.0" ? found.version : ""],
    ["versions", found.versions.length > 1 ? found.versions.join(", ") : ""],
    ["folder", found.folder],
    ["format", found.format],
    ["built", found.created],
    ["checks of the build", found.verification],
    ["commit", found.commit],
    ["fingerprint", found.fingerprint],
    ["licence", found.license],
    ["homepage", found.homepage],
  ].filter(([, value]) => value);
  const total = found.splits.reduce((sum, split) => sum + split.rows, 0);
  const hasSizes = found.splits.some((split) => split.bytes !== null);
  return [
    el("h2", { class: "first" }, found.title),
    found.description ? el("p", { class: "prose", dir: "auto" }, found.description) : null,
    el("dl", { class: "facts" }, lines.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    section(
      "Splits",
      table(
        "splits",
        ["split", "rows", "share", ...(hasSizes ? ["size"] : [])],
        found.splits.map((split) => [
          el("button", { type: "button", class: "link", onclick: () => onsplit(split.name) }, split.name),
          counted(split.rows),
          el("span", { class: "meter" }, el("span", { style: { width: `${total ? (100 * split.rows) / total : 0}%` } })),
          ...(hasSizes ? [sized(split.bytes)] : []),
        ]),
      ),
    ),
    found.cost ? section("What a whole read costs", Object.entries(found.cost).map(([split, text]) => [el("h3", {}, split), el("pre", { class: "code", tabindex: "0" }, text)])) : null,
    found.shards.length ? section(`Shards (${counted(found.num_shards)})`, shards(found)) : null,
    section("Features", table("features", ["column", "type"], found.features.map((each) => [each.name, el("code", {}, each.text)]))),
    found.configs.length > 1 ? section("Configs", el("p", {}, found.configs.join(", "))) : null,
    found.checksums && found.checksums.length ? section("Checksums of the sources", table("checksums", ["source", "size", "sha256"], found.checksums.map((each) => [each.url, sized(each.size), el("code", {}, each.sha256 || "not recorded")]))) : null,
    Object.keys(found.notes).length ? section("Release notes", el("dl", { class: "facts" }, Object.entries(found.notes).map(([version, text]) => [el("dt", {}, version), el("dd", {}, text)]))) : null,
    found.citation ? section("Citation", el("pre", { class: "code", tabindex: "0" }, found.citation)) : null,
    found.card ? section("Card", el("pre", { class: "card", tabindex: "0", dir: "auto" }, found.card.replace(/^---\n[\s\S]*?\n---\n/, ""))) : null,
  ];
}

function shards(found) {
  const most = Math.max(1, ...found.shards.map((shard) => shard.rows));
  return [
    el("div", { class: "shards", role: "img", "aria-label": `${counted(found.num_shards)} shards by their rows` }, found.shards.map((shard) => el("span", { title: `${shard.name}: ${counted(shard.rows)} rows, ${sized(shard.bytes)}`, style: { height: `${Math.max(8, (100 * shard.rows) / most)}%` } }))),
    table("shards", ["split", "shard", "rows", "size", "sha256"], found.shards.slice(0, 40).map((shard) => [shard.split, shard.name, counted(shard.rows), sized(shard.bytes), el("code", {}, (shard.sha256 || "").slice(0, 16))])),
    found.num_shards > 40 ? el("p", { class: "hint" }, `and ${counted(found.num_shards - 40)} more`) : null,
  ];
}

// -- two datasets -------------------------------------------------------------------------------------------------------

export function changesOf(found) {
  const meaning = { patch: "the same rows in the same order", minor: "the same rows, with added columns or fields", major: "changed rows, columns or splits" };
  return [
    el("h2", { class: "first" }, el("span", { class: `level ${found.level}` }, found.summary.length ? found.level.toUpperCase() : "EQUAL"), ` ${found.old} → ${found.new}`),
    el("p", {}, found.summary.length ? meaning[found.level] : "Nothing differs."),
    found.summary.length ? el("ul", { class: "summary" }, found.summary.map((line) => el("li", { dir: "auto" }, line))) : null,
    found.first_differences.length
      ? section(
          "First rows that differ",
          table(
            "changes",
            ["split", "row", "column", "before", "after"],
            found.first_differences.map((each) => [each.split, counted(each.row), each.column === null ? el("em", {}, each.old === null ? "added" : each.new === null ? "removed" : "whole row") : each.column, marked(each.old, each.new, "old"), marked(each.new, each.old, "new")]),
          ),
        )
      : null,
  ];
}

/** A text, with what differs from the other marked. */
function marked(text, other, kind) {
  if (text === null) return el("span", { class: "null" }, "–");
  if (other === null) return el("span", { class: `changed ${kind}` }, text);
  let start = 0;
  while (start < text.length && text[start] === other[start]) start += 1;
  let end = 0;
  while (end < text.length - start && end < other.length - start && text[text.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  return el("span", {}, text.slice(0, start), el("mark", { class: `changed ${kind}` }, text.slice(start, text.length - end)), text.slice(text.length - end));
}
