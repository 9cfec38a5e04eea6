// The table: only rows and columns on screen are elements, and only rows on screen travel.

import { cellOf, isTall } from "./cells.js";
import { chart } from "./charts.js";
import { counted, el, iconButton, replace, share } from "./dom.js";

const MOST_PIXELS = 6_000_000; // browsers limit the height of an element
const BLOCK = 64;
const MOST_KEPT = 6_000;
const CHUNK = 48; // columns that are asked for together
const GUTTER = 64; // pixels of the row numbers
const HEAD = 118;

export class Table {
  /** @param app the page: its state, its questions, and what it does when a row is opened or a filter set. */
  constructor(app) {
    this.app = app;
    this.columns = [];
    this.size = 0;
    this.top = 0; // the row at the upper edge, with its fraction
    this.kept = new Map(); // row → { row, cells: Map(column → value) }
    this.asked = new Map(); // what is on its way
    this.elements = new Map();
    this.selected = null;
    this.heads = new Map();
    this.head = el("div", { class: "head", role: "row", "aria-rowindex": "1" });
    this.headGroup = el("div", { class: "headgroup", role: "rowgroup" }, this.head);
    this.body = el("div", { class: "body", role: "rowgroup" });
    this.spacer = el("div", { class: "spacer", role: "presentation" }, this.headGroup, this.body);
    this.element = el("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": "rows", onscroll: () => this.#scrolled() }, this.spacer);
    this.element.addEventListener("wheel", (event) => this.#wheeled(event), { passive: false });
    this.element.addEventListener("keydown", (event) => this.#pressed(event));
    this.#touch();
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** Show other rows. */
  open(columns, size) {
    const isSame = JSON.stringify(columns.map((column) => column.name)) === JSON.stringify(this.columns.map((column) => column.name));
    this.columns = columns;
    this.size = size;
    this.rowHeight = heightOf(columns);
    this.element.style.setProperty("--row", `${this.rowHeight}px`);
    this.element.style.setProperty("--lines", Math.max(1, Math.floor((this.rowHeight - 8) / 18)));
    this.forget();
    this.select(null);
    if (!isSame) {
      this.order = columns.map((_, at) => at);
      this.widths = columns.map(widthOf);
      this.heads.clear();
      this.head.textContent = "";
    }
    this.top = Math.min(this.top, Math.max(0, size - 1));
    this.#layout();
    this.scrollTo(this.top);
    this.drawHeads();
    this.draw();
  }

  forget() {
    this.kept.clear();
    this.asked.clear();
    this.generation = (this.generation || 0) + 1;
    for (const element of this.elements.values()) element.remove();
    this.elements.clear();
  }

  get visibleRows() {
    return Math.max(1, Math.ceil((this.element.clientHeight - HEAD) / this.rowHeight));
  }

  // -- layout and scrolling --------------------------------------------------------------------------------------------

  #layout() {
    const shown = this.order.filter((at) => !this.app.state.hidden.includes(this.columns[at].name));
    this.shown = shown;
    let left = GUTTER;
    this.lefts = shown.map((at) => {
      const here = left;
      left += this.widths[at];
      return here;
    });
    this.width = left;
    this.isCompressed = this.size * this.rowHeight > MOST_PIXELS;
    this.height = HEAD + Math.min(MOST_PIXELS, this.size * this.rowHeight);
    this.spacer.style.width = `${left}px`;
    this.spacer.style.height = `${this.height}px`;
    this.element.setAttribute("aria-rowcount", this.size + 1);
    this.element.setAttribute("aria-colcount", shown.length + 1);
    this.element.classList.toggle("compressed", this.isCompressed);
  }

  get #mostTop() {
    return Math.max(0, this.size - (this.element.clientHeight - HEAD) / this.rowHeight);
  }

  get #mostScroll() {
    return Math.max(1, this.height - this.element.clientHeight);
  }

  scrollTo(row) {
    this.top = Math.max(0, Math.min(row, this.#mostTop));
    this.expected = this.isCompressed ? (this.top / Math.max(1, this.#mostTop)) * this.#mostScroll : this.top * this.rowHeight;
    this.element.scrollTop = this.expected;
    this.draw();
  }

  /** Scroll as little as needed to show a row. */
  reveal(row) {
    const rows = (this.element.clientHeight - HEAD) / this.rowHeight;
    if (row < this.top) this.scrollTo(row);
    else if (row + 1 > this.top + rows) this.scrollTo(row + 1 - rows);
    else this.draw();
  }

  #scrolled() {
    const found = this.element.scrollTop;
    if (this.expected === undefined || Math.abs(found - this.expected) > 1) {
      this.top = this.isCompressed ? (found / this.#mostScroll) * this.#mostTop : found / this.rowHeight;
      this.expected = undefined;
    }
    this.#later();
  }

  #later() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  #wheeled(event) {
    if (!this.isCompressed || event.ctrlKey || event.shiftKey || !event.deltaY || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? event.deltaY * this.rowHeight : event.deltaMode === 2 ? event.deltaY * this.element.clientHeight : event.deltaY;
    this.scrollTo(this.top + pixels / this.rowHeight);
  }

  #touch() {
    let last = null;
    this.element.addEventListener("touchstart", (event) => (last = event.touches[0].clientY), { passive: true });
    this.element.addEventListener(
      "touchmove",
      (event) => {
        if (!this.isCompressed || last === null || event.touches.length > 1) return;
        const now = event.touches[0].clientY;
        this.scrollTo(this.top + (last - now) / this.rowHeight);
        last = now;
      },
      { passive: true },
    );
  }

  #pressed(event) {
    if (event.target !== this.element && event.target.closest("button, input, select, a, audio, video, summary")) return;
    const page = this.visibleRows - 1;
    const to = { PageDown: this.top + page, PageUp: this.top - page, Home: 0, End: this.size }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.scrollTo(to);
    } else if (event.key === "Enter" && this.selected !== null) {
      this.app.openPlace(this.selected);
    } else if (event.key === "ArrowDown" || event.key === "j" || event.key === "ArrowUp" || event.key === "k") {
      if (this.app.state.row !== null) return; // the panel moves
      event.preventDefault();
      const by = event.key === "ArrowDown" || event.key === "j" ? 1 : -1;
      this.select(this.selected === null ? Math.ceil(this.top) : Math.max(0, Math.min(this.size - 1, this.selected + by)));
    }
  }

  select(place) {
    this.selected = place;
    if (place !== null) this.reveal(place);
    this.#mark();
    for (const [row, element] of this.elements) {
      element.classList.toggle("selected", row === place);
      element.setAttribute("aria-selected", String(row === place));
    }
  }

  /** Name the selected row for screen readers, as long as it is on screen. */
  #mark() {
    if (this.elements.has(this.selected)) this.element.setAttribute("aria-activedescendant", `row-${this.selected}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  // -- rows ------------------------------------------------------------------------------------------------------------

  get #window() {
    const left = this.element.scrollLeft;
    const right = left + this.element.clientWidth;
    const found = [];
    this.shown.forEach((at, place) => {
      if (this.lefts[place] + this.widths[at] > left - 200 && this.lefts[place] < right + 200) found.push(place);
    });
    return found;
  }

  draw() {
    if (!this.columns.length || !this.element.isConnected) return;
    const first = Math.floor(this.top);
    const last = Math.min(this.size, first + this.visibleRows + 1);
    const places = this.#window;
    const key = places.join();
    if (key !== this.drawnPlaces) {
      this.drawnPlaces = key;
      for (const element of this.elements.values()) element.remove();
      this.elements.clear();
    }
    for (const [row, element] of this.elements) {
      if (row < first || row >= last) {
        element.remove();
        this.elements.delete(row);
      }
    }
    const missing = [];
    const base = this.body;
    for (let row = first; row < last; row += 1) {
      const kept = this.kept.get(row);
      let element = this.elements.get(row);
      const isFull = kept && places.every((place) => kept.cells.has(this.shown[place]));
      if (!isFull) missing.push(row);
      if (!element || (isFull && element.dataset.state !== "full")) {
        const made = this.#row(row, isFull ? kept : null, places);
        if (element) element.replaceWith(made);
        else base.append(made);
        this.elements.set(row, made);
        element = made;
      }
      element.style.transform = `translateY(${(row - this.top) * this.rowHeight}px)`;
    }
    base.style.height = `${Math.max(0, this.element.clientHeight - HEAD)}px`;
    this.#mark();
    this.element.setAttribute("aria-busy", String(missing.length > 0));
    if (missing.length) this.#ask(missing[0], missing[missing.length - 1] + 1, places);
    this.app.scrolled(first, last);
    if (this.size === 0) this.app.setEmpty(true);
    else this.app.setEmpty(false);
  }

  #row(row, kept, places) {
    const found = el("div", {
      class: `row${row % 2 ? " odd" : ""}${row === this.selected ? " selected" : ""}`,
      role: "row",
      id: `row-${row}`,
      "aria-rowindex": row + 2,
      "aria-selected": String(row === this.selected),
      onclick: (event) => {
        if (!event.target.closest("button, a, audio, video, summary, input")) this.app.openPlace(row);
      },
    });
    found.dataset.state = kept ? "full" : "empty";
    found.append(el("div", { class: "cell gutter", role: "rowheader" }, kept ? counted(kept.row) : ""));
    for (const place of places) {
      const at = this.shown[place];
      const column = this.columns[at];
      const cell = el("div", {
        class: `cell ${column.cell}`,
        role: "gridcell",
        "aria-colindex": place + 2,
        style: { left: `${this.lefts[place]}px`, width: `${this.widths[at]}px` },
      });
      if (kept) {
        try {
          cell.append(...cellOf(column, kept.cells.get(at), { app: this.app, base: this.app.base, row: kept.row, boxes: (image) => this.#boxes(image, kept) }));
        } catch (error) {
          replace(cell, el("span", { class: "failure" }, error.message));
        }
      }
      found.append(cell);
    }
    return found;
  }

  /** The boxes of the pictures of a row, from the column that has them. */
  #boxes(column, kept) {
    if (!column.boxes) return null;
    const [name, field] = column.boxes.path;
    const at = this.columns.findIndex((each) => each.name === name);
    const text = kept.cells.get(at);
    return text ? boxesIn(JSON.parse(text), field, column.boxes.labels) : null;
  }

  async #ask(start, stop, places) {
    const generation = this.generation;
    const from = Math.floor(start / BLOCK) * BLOCK;
    const to = Math.min(this.size, Math.ceil(stop / BLOCK) * BLOCK);
    const chunks = new Set(places.map((place) => Math.floor(this.shown[place] / CHUNK)));
    const isWide = this.columns.length > CHUNK;
    const wanted = isWide ? this.columns.map((_, at) => at).filter((at) => chunks.has(Math.floor(at / CHUNK)) || this.#isBoxes(at)) : null;
    const key = `${from}-${to}-${isWide ? [...chunks].join() : ""}`;
    if (this.asked.has(key)) return;
    this.asked.set(key, true);
    try {
      const bytes = await this.app.ask("rows", { view: this.app.view, start: from, stop: to, columns: wanted && wanted.map((at) => this.columns[at].name) });
      if (generation !== this.generation) return;
      const table = this.app.arrow.tableFromIPC(new Uint8Array(bytes));
      const numbers = table.getChildAt(0);
      const names = table.schema.fields.slice(1).map((field) => Number(field.name));
      const vectors = names.map((_, at) => table.getChildAt(at + 1));
      for (let at = 0; at < table.numRows; at += 1) {
        const row = from + at;
        const kept = this.kept.get(row) || { row: Number(numbers.get(at)), cells: new Map() };
        names.forEach((name, place) => kept.cells.set(name, vectors[place].get(at)));
        this.kept.set(row, kept);
      }
      this.#drop();
    } catch (error) {
      if (generation === this.generation) this.app.failed(error);
    } finally {
      this.asked.delete(key);
    }
    if (generation === this.generation && this.kept.has(from)) this.draw();
  }

  #isBoxes(at) {
    return this.columns.some((column) => column.boxes && column.boxes.path[0] === this.columns[at].name);
  }

  #drop() {
    if (this.kept.size <= MOST_KEPT) return;
    for (const row of this.kept.keys()) {
      if (Math.abs(row - this.top) > MOST_KEPT / 3) this.kept.delete(row);
    }
  }

  // -- heads -----------------------------------------------------------------------------------------------------------

  drawHeads() {
    if (!this.columns.length) return;
    if (!this.corner) this.corner = el("div", { class: "cell gutter", role: "columnheader" }, el("span", { class: "hint" }, "row"));
    if (!this.corner.isConnected) this.head.prepend(this.corner);
    const wanted = new Set();
    this.#window.forEach((place) => {
      const at = this.shown[place];
      const column = this.columns[at];
      wanted.add(column.name);
      const picture = this.app.pictures.columns[column.name];
      const filter = this.app.state.filters.find((each) => each.column === column.name);
      const sort = this.app.state.sort.find(([name]) => name === column.name);
      const key = JSON.stringify([this.widths[at], this.lefts[place], place, filter, sort, this.app.pictures.exact, picture && [picture.counts, picture.selected, picture.nulls], this.app.total]);
      const kept = this.heads.get(column.name);
      if (kept && (kept.key === key || (this.app.dragged && this.app.dragged.column === column.name))) {
        if (!kept.element.isConnected) this.head.append(kept.element);
        return;
      }
      const element = this.#head(column, at, place, picture, filter, sort);
      if (kept) kept.element.replaceWith(element);
      else this.head.append(element);
      this.heads.set(column.name, { key, element });
    });
    for (const [name, { element }] of this.heads) {
      if (!wanted.has(name)) {
        element.remove();
        this.heads.delete(name);
      }
    }
  }

  #head(column, at, place, picture, filter, sort) {
    const width = this.widths[at];
    const nulls = picture ? picture.nulls : 0;
    const label = el("span", { class: "name", dir: "auto", title: column.name }, column.name);
    const arrow = sort ? (sort[1] ? " ↓" : " ↑") : "";
    const sortable = !["media", "list", "dict", "array", "json", "chat", "tokens", "null"].includes(column.cell);
    const title = sortable
      ? el("button", { type: "button", class: "sort", "aria-label": `Sort by ${column.name}`, title: `Sort by ${column.name}`, onclick: (event) => this.app.sortBy(column.name, event.shiftKey) }, label, el("span", { class: "arrow", "aria-hidden": "true" }, arrow))
      : el("span", { class: "sort" }, label);
    const found = el(
      "div",
      {
        class: `cell columnhead${filter ? " filtered" : ""}`,
        role: "columnheader",
        "aria-colindex": place + 2,
        "aria-sort": sort ? (sort[1] ? "descending" : "ascending") : sortable ? "none" : null,
        style: { left: `${this.lefts[place]}px`, width: `${width}px` },
      },
      el("div", { class: "titleline" }, title, iconButton("more", `Column ${column.name}: details`, (event) => this.app.columnMenu(event, column), { "aria-haspopup": "dialog" })),
      el("div", { class: "typeline" }, el("span", { class: "type" }, column.type), nulls ? el("span", { class: "nulls", title: `${counted(nulls)} nulls` }, `${share(nulls, this.app.total)} null`) : null),
      picture || this.app.pictures.error ? chart(picture, filter, width - 20, this.app.pictures.exact, (given) => this.app.filterBy(column.name, given), (given) => this.app.dragBy(given)) : el("div", { class: "chart waiting" }),
      el("span", { class: "grip", "aria-hidden": "true", onpointerdown: (event) => this.#resize(event, at) }),
    );
    label.addEventListener("pointerdown", (event) => this.#drag(event, at, found));
    return found;
  }

  #resize(event, at) {
    event.preventDefault();
    const from = event.clientX;
    const before = this.widths[at];
    const move = (moved) => {
      this.widths[at] = Math.max(64, Math.min(1200, before + moved.clientX - from));
      this.relayout();
    };
    window.addEventListener("pointermove", move); // the head is drawn again while it is dragged
    window.addEventListener("pointerup", () => window.removeEventListener("pointermove", move), { once: true });
  }

  /** Drag a name to another place. */
  #drag(event, at, element) {
    if (event.button || event.pointerType === "touch") return;
    const from = event.clientX;
    let isDragged = false;
    const move = (moved) => {
      isDragged = isDragged || Math.abs(moved.clientX - from) > 8;
      if (isDragged) element.style.transform = `translateX(${moved.clientX - from}px)`;
    };
    const end = (moved) => {
      window.removeEventListener("pointermove", move);
      element.style.transform = "";
      if (!isDragged) return;
      window.addEventListener("click", (click) => click.stopPropagation(), { capture: true, once: true });
      const middle = this.lefts[this.shown.indexOf(at)] + this.widths[at] / 2 + moved.clientX - from;
      const before = this.shown.find((other, place) => other !== at && this.lefts[place] + this.widths[other] / 2 > middle);
      this.order = this.order.filter((other) => other !== at);
      this.order.splice(before === undefined ? this.order.length : this.order.indexOf(before), 0, at);
      this.relayout();
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end, { once: true });
  }

  move(name, by) {
    const at = this.columns.findIndex((column) => column.name === name);
    const place = this.shown.indexOf(at);
    const other = this.shown[place + by];
    if (other === undefined) return;
    this.order = this.order.filter((each) => each !== at);
    this.order.splice(this.order.indexOf(other) + (by > 0 ? 1 : 0), 0, at);
    this.relayout();
  }

  relayout() {
    this.#layout();
    this.drawnPlaces = null;
    this.drawHeads();
    this.draw();
  }
}

export function boxesIn(value, field, labels) {
  const boxes = [];
  const names = [];
  const pairs = (each) => (each && each.$map ? Object.fromEntries(each.$map) : null);
  const isBox = (each) => Array.isArray(each) && each.length === 4 && each.every((number) => typeof number === "number");
  if (!field) {
    (isBox(value) ? [value] : Array.isArray(value) ? value : []).forEach((each) => isBox(each) && boxes.push(each));
    return { boxes, names };
  }
  const whole = pairs(value);
  if (whole) {
    const found = whole[field];
    (isBox(found) ? [found] : Array.isArray(found) ? found : []).forEach((each) => isBox(each) && boxes.push(each));
    if (labels && Array.isArray(whole[labels])) names.push(...whole[labels]);
  } else if (Array.isArray(value)) {
    value.map(pairs).forEach((each) => {
      if (each && isBox(each[field])) {
        boxes.push(each[field]);
        names.push(labels ? (each[labels] ?? "") : "");
      }
    });
  }
  return { boxes, names };
}

function heightOf(columns) {
  if (columns.some(isTall)) return 92;
  if (columns.some((column) => column.cell === "chat")) return 74;
  const isLong = (column) => ["list", "json"].includes(column.cell) || (column.cell === "text" && column.longest > 48);
  return columns.some(isLong) ? 46 : 30;
}

function widthOf(column) {
  const wide = { chat: 360, tokens: 280, dict: 260, list: 240, json: 260, media: 190, array: 176, bytes: 200, time: 176, label: 130, bool: 96, number: 116 };
  const kind = column.cell === "text" ? Math.max(120, Math.min(320, 40 + 7 * column.longest)) : wide[column.cell] || 160;
  if (column.medium === "audio") return 300;
  if (column.medium === "video") return 230;
  return Math.max(kind, Math.min(240, 50 + 8.2 * column.name.length));
}
