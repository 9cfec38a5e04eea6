// Pictures in the headers of columns: histograms that are dragged over, bars that are clicked.

import { counted, el, icon, share, svg } from "./dom.js";

const HIGH = 40;

/**
 * The picture of a column.
 * @param picture what the server says: kind, counts, edges, values, and `selected` under a filter.
 * @param filter the filter of this column, or undefined.
 * @param onfilter called with a filter, or null to remove it.
 * @param ondrag called with the filter of each step of a drag, and with null at its end.
 */
export function chart(picture, filter, width, isExact, onfilter, ondrag = () => {}) {
  if (!picture || picture.kind === "none" || !picture.counts.length) return el("div", { class: "chart empty" });
  if (picture.kind === "bars") return bars(picture, filter, isExact, onfilter);
  return histogram(picture, filter, width, isExact, onfilter, ondrag);
}

function histogram(picture, filter, width, isExact, onfilter, ondrag) {
  const { counts, edges } = picture;
  const shown = picture.selected ? picture.selected.counts : null;
  const size = counts.length;
  const most = Math.max(1, ...counts);
  const step = Math.min(width / size, 36); // one or two bins are no wide blocks
  const high = (count) => (count ? Math.max(1, (HIGH * count) / most) : 0);
  const chosen = filter && filter.bins;
  const caption = el("span", { class: "caption", title: `${edges[chosen ? chosen[0] : 0]} to ${edges[chosen ? chosen[1] : size]}` });
  const unit = picture.facts.unit && picture.kind === "lengths" ? ` ${picture.facts.unit}` : "";
  const rest = () => `${chosen ? span(edges, chosen[0], chosen[1]) : span(edges, 0, size)}${unit}`;
  caption.textContent = rest();
  const range = svg("rect", { class: "range", y: 0, height: HIGH });
  const mark = (from, to) => {
    range.setAttribute("x", from * step);
    range.setAttribute("width", Math.max(0, (to - from) * step));
  };
  if (chosen) mark(chosen[0], chosen[1]);
  else mark(0, 0);
  const parts = [
    range,
    counts.map((count, at) => svg("rect", { class: "all", x: at * step + 0.5, y: HIGH - high(count), width: Math.max(0.5, step - 1), height: high(count) })),
    (shown || counts).map((count, at) =>
      svg("rect", {
        class: chosen && (at < chosen[0] || at >= chosen[1]) ? "out" : "in",
        x: at * step + 0.5,
        y: HIGH - high(count),
        width: Math.max(0.5, step - 1),
        height: high(count),
      }),
    ),
  ];
  const found = svg(
    "svg",
    { class: "histogram", width, height: HIGH, viewBox: `0 0 ${width} ${HIGH}`, role: "img", "aria-label": `histogram of ${picture.name}: ${edges[0]} to ${edges[size]}${unit}` },
    parts,
  );
  const binAt = (event) => {
    const box = found.getBoundingClientRect();
    return Math.max(0, Math.min(size - 1, Math.floor((event.clientX - box.left) / step)));
  };
  let first = null;
  let last = null;
  let hasMoved = false;
  found.addEventListener("pointermove", (event) => {
    const at = binAt(event);
    if (first !== null) {
      hasMoved = hasMoved || at !== first;
      if (hasMoved && at !== last) ondrag({ column: picture.name, bins: [Math.min(first, at), Math.max(first, at) + 1] });
      last = at;
      mark(Math.min(first, at), Math.max(first, at) + 1);
      caption.textContent = span(edges, Math.min(first, at), Math.max(first, at) + 1);
    } else {
      caption.textContent = `${span(edges, at, at + 1)}: ${counted((shown || counts)[at])}`;
    }
  });
  found.addEventListener("pointerleave", () => {
    if (first === null) caption.textContent = rest();
  });
  if (isExact) {
    found.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      first = binAt(event);
      hasMoved = false;
      mark(first, first + 1);
      found.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    const end = (event) => {
      if (first === null) return;
      const at = binAt(event);
      const bins = [Math.min(first, at), Math.max(first, at) + 1];
      first = null;
      ondrag(null);
      const isSame = chosen && !hasMoved && bins[0] >= chosen[0] && bins[1] <= chosen[1];
      onfilter(isSame ? null : { column: picture.name, bins });
    };
    found.addEventListener("pointerup", end);
    found.addEventListener("pointercancel", () => {
      first = null;
      ondrag(null);
      onfilter(filter || null);
    });
  }
  return el("div", { class: `chart${isExact ? "" : " approximate"}` }, found, caption);
}

export function span(edges, from, to) {
  const [low, high] = [edges[from], isStepwise(edges) ? String(Number(edges[to]) - 1) : edges[to]];
  if (low === high) return short(low);
  const areDays = low.slice(0, 10) !== high.slice(0, 10) && [low, high].every((edge) => /^\d{4}-\d\d-\d\d /.test(edge));
  return areDays ? `${low.slice(0, 10)} – ${high.slice(0, 10)}` : `${short(low)} – ${short(high)}`;
}

/** Whole numbers have a bin each if they are few: up to the next one, which is not in it. */
const isStepwise = (edges) => edges.length <= 24 && edges.every((edge, at) => /^-?\d{1,15}$/.test(edge) && (!at || Number(edge) - Number(edges[at - 1]) === 1));

const SHORT = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });

/** A number in a few characters, as far as it is one. */
function short(edge) {
  const number = Number(edge);
  if (edge.length <= 4 || !Number.isFinite(number)) return edge;
  const size = Math.abs(number);
  return size && size < 1e-3 ? number.toExponential(1) : size >= 1e15 ? number.toExponential(2) : size < 1e4 && Number.isInteger(number) ? edge : SHORT.format(number);
}

function bars(picture, filter, isExact, onfilter) {
  const shown = picture.selected ? picture.selected.counts : picture.counts;
  const chosen = new Set((filter && filter.values) || []);
  const order = picture.counts.map((_, at) => at);
  const first = [...order].sort((a, b) => Number(chosen.has(b)) - Number(chosen.has(a)) || picture.counts[b] - picture.counts[a]).slice(0, 3);
  const most = Math.max(1, ...picture.counts);
  return el(
    "div",
    { class: `chart bars${isExact ? "" : " approximate"}`, role: "group", "aria-label": `values of ${picture.name}` },
    first.map((at) => {
      const fill = el("span", { class: "fill", style: { width: `${(100 * shown[at]) / most}%` } });
      const all = el("span", { class: "whole", style: { width: `${(100 * picture.counts[at]) / most}%` } });
      return el(
        "button",
        {
          type: "button",
          class: `bar${chosen.size && !chosen.has(at) ? " out" : ""}`,
          "aria-pressed": String(chosen.has(at)),
          disabled: !isExact,
          title: `${picture.values[at]}: ${counted(shown[at])}`,
          onclick: () => onfilter(toggled(picture.name, chosen, at)),
        },
        all,
        fill,
        el("span", { class: "name", dir: "auto" }, picture.values[at] === "" ? "empty text" : picture.values[at]),
        el("span", { class: "count" }, compact(shown[at])),
      );
    }),
  );
}

function toggled(column, chosen, at) {
  const now = new Set(chosen);
  if (now.has(at)) now.delete(at);
  else now.add(at);
  return now.size ? { column, values: [...now].sort((a, b) => a - b) } : null;
}

export function compact(number) {
  if (number < 10_000) return String(number);
  return number < 1e6 ? `${Math.round(number / 1e3)}k` : `${(number / 1e6).toPrecision(3)}M`;
}

/** The numbers of a column, and a form that filters it by keyboard. */
export function details(picture, filter, total, isExact, onfilter) {
  if (!picture) return el("p", { class: "hint" }, "Counting…");
  const facts = picture.facts;
  const lines = [
    ["nulls", `${counted(picture.nulls)} (${share(picture.nulls, total)})`],
    facts.nans ? ["NaN", counted(facts.nans)] : null,
    facts.distinct !== undefined ? ["distinct", `${facts.exact ? "" : "about "}${counted(facts.distinct)}`] : null,
    facts.min !== undefined ? ["lowest", facts.min] : null,
    facts.mean !== undefined ? ["mean", facts.mean] : null,
    facts.std !== undefined ? ["deviation", facts.std] : null,
    facts.max !== undefined ? ["highest", facts.max] : null,
    facts.unit ? [`${facts.unit}`, `${counted(facts.shortest)} to ${counted(facts.longest)}, mean ${facts.mean_length}`] : null,
  ].filter(Boolean);
  return el(
    "div",
    { class: "details" },
    el("dl", {}, lines.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    isExact ? form(picture, filter, onfilter) : el("p", { class: "hint" }, "All rows are being counted; these numbers are of a sample."),
  );
}

function form(picture, filter, onfilter) {
  const parts = [];
  if (picture.kind === "bars") {
    const chosen = new Set((filter && filter.values) || []);
    const shown = picture.selected ? picture.selected.counts : picture.counts;
    parts.push(
      el(
        "fieldset",
        {},
        el("legend", {}, "Keep rows with"),
        picture.values.map((value, at) =>
          el(
            "label",
            {},
            el("input", { type: "checkbox", checked: chosen.has(at), onchange: () => onfilter(toggled(picture.name, chosen, at)) }),
            el("span", { class: "name", dir: "auto" }, value === "" ? "empty text" : value),
            el("span", { class: "count" }, counted(shown[at])),
          ),
        ),
      ),
    );
  } else if (picture.kind !== "none" && picture.counts.length) {
    const size = picture.counts.length;
    const chosen = (filter && filter.bins) || [0, size];
    const select = (label, from, to, at) =>
      el("label", {}, label, el("select", { "aria-label": label }, range(from, to).map((each) => el("option", { value: each, selected: each === at }, from && isStepwise(picture.edges) ? String(Number(picture.edges[each]) - 1) : picture.edges[each]))));
    const low = select(picture.kind === "lengths" ? `From (${picture.facts.unit})` : "From", 0, size, chosen[0]);
    const high = select("to", 1, size + 1, chosen[1]);
    const apply = () => {
      const bins = [low, high].map((each) => Number(each.querySelector("select").value));
      if (bins[0] < bins[1]) onfilter({ column: picture.name, bins });
    };
    parts.push(el("fieldset", {}, el("legend", {}, "Keep rows"), low, high, el("button", { type: "button", onclick: apply }, "Filter")));
  }
  if (picture.kind !== "none" && picture.nulls) {
    parts.push(
      el(
        "div",
        { class: "row" },
        el("button", { type: "button", onclick: () => onfilter({ column: picture.name, null: true }) }, "Only nulls"),
        el("button", { type: "button", onclick: () => onfilter({ column: picture.name, null: false }) }, "No nulls"),
      ),
    );
  }
  if (filter) parts.push(el("button", { type: "button", onclick: () => onfilter(null) }, icon("close"), "Remove filter"));
  return el("div", { class: "filterform" }, parts);
}

function range(from, to) {
  return Array.from({ length: to - from }, (_, at) => from + at);
}
