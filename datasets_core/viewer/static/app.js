// The page: what is shown is in its address, so that a link, the back button and another tab show the same.

import { fieldOf } from "./cells.js";
import { details, span } from "./charts.js";
import { counted, el, iconButton, put, replace, share, sized } from "./dom.js";
import { changesOf, factsOf } from "./facts.js";
import { Table, boxesIn } from "./table.js";

const EMPTY = { split: "", sql: "", search: "", filters: [], sort: [], row: null, tab: "rows", hidden: [] };
const KEYS = [
  ["j or ↓", "next row"],
  ["k or ↑", "previous row"],
  ["Enter", "open the selected row"],
  ["/", "search"],
  ["Page Up, Page Down, Home, End", "scroll"],
  ["Esc", "close"],
  ["?", "this list"],
];

export class App {
  constructor(root, transport, arrow, { isSmall = false } = {}) {
    this.root = root;
    this.transport = transport;
    this.arrow = arrow;
    this.isSmall = isSmall;
    this.state = { ...EMPTY };
    this.pictures = { columns: {}, exact: false, share: 0 };
    this.total = 0;
    this.size = 0;
    this.columns = [];
    this.opening = 0;
    this.table = new Table(this);
  }

  async begin() {
    this.#frame();
    if (this.transport.hasAddress) {
      this.state = this.#fromAddress();
      addEventListener("popstate", () => this.#go(this.#fromAddress(), true));
      addEventListener("hashchange", () => this.#go(this.#fromAddress(), true));
      document.addEventListener("keydown", (event) => this.#pressed(event));
    }
    try {
      await this.#about();
    } catch (error) {
      this.failed(error);
      return;
    }
    await this.#open();
    if (this.state.row !== null) this.#openRow(this.state.row);
    this.#drawTab();
  }

  async #about() {
    this.about = await this.ask("about");
    this.session = this.about.session;
    if (this.transport.hasAddress) document.title = `${this.about.title} · datasets-core`;
    replace(this.parts.title, this.about.title);
    this.parts.splits.textContent = "";
    put(this.parts.splits, this.about.splits.map((split) => el("option", { value: split.name }, `${counted(split.rows)} rows`)));
    this.parts.changes.hidden = !this.about.other;
    if (!this.state.split) this.state.split = this.about.split;
  }

  // -- questions -------------------------------------------------------------------------------------------------------

  get base() {
    return { split: this.state.split, sql: this.state.sql };
  }

  get view() {
    const { split, sql, search, filters, sort } = this.state;
    return { split, sql, search, filters, sort };
  }

  async ask(name, asked) {
    try {
      return await this.transport.ask(name, asked);
    } catch (error) {
      if (this.transport.isUnreachable(error)) this.#lost(error);
      throw error;
    }
  }

  media(asked) {
    return this.transport.media({ ...asked, session: this.session });
  }

  /** The server is gone: say so, and go on when it is back. */
  async #lost(error) {
    this.tell(error.message + (/again/.test(error.message) ? "" : " Trying again…"), "lost");
    if (this.isLost) return;
    this.isLost = true;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      try {
        const about = await this.transport.ask("about");
        this.isLost = false;
        this.tell("");
        if (about.session !== this.session) location.reload();
        else {
          this.table.forget();
          this.table.draw();
          this.#watchPictures();
        }
        return;
      } catch (again) {
        if (!this.transport.isUnreachable(again)) throw again;
        this.tell(again.message + (/again/.test(again.message) ? "" : " Trying again…"), "lost");
      }
    }
  }

  failed(error) {
    if (this.transport.isUnreachable(error)) return;
    this.tell(error.message, "error");
  }

  tell(text, kind = "") {
    this.parts.notice.className = `notice ${kind}`;
    this.parts.notice.hidden = !text;
    replace(this.parts.notice, el("span", {}, text), text && kind !== "lost" ? iconButton("close", "Close the message", () => this.tell("")) : null);
  }

  // -- state -----------------------------------------------------------------------------------------------------------

  #fromAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    const json = (name) => {
      try {
        const found = JSON.parse(given.get(name) || "[]");
        return Array.isArray(found) ? found : [];
      } catch {
        return [];
      }
    };
    const row = given.get("row");
    return {
      split: given.get("split") || (this.about ? this.about.split : ""),
      sql: given.get("sql") || "",
      search: given.get("q") || "",
      filters: json("filter"),
      sort: json("sort"),
      hidden: json("hide"),
      row: row === null || !/^\d+$/.test(row) ? null : Number(row),
      tab: ["rows", "dataset", "changes"].includes(given.get("tab")) ? given.get("tab") : "rows",
    };
  }

  #address(state) {
    const given = new URLSearchParams();
    if (state.split && state.split !== this.about.split) given.set("split", state.split);
    if (state.sql) given.set("sql", state.sql);
    if (state.search) given.set("q", state.search);
    for (const [name, value] of [["filter", state.filters], ["sort", state.sort], ["hide", state.hidden]]) {
      if (value.length) given.set(name, JSON.stringify(value));
    }
    if (state.tab !== "rows") given.set("tab", state.tab);
    if (state.row !== null) given.set("row", state.row);
    return `#${given}`;
  }

  /** Show another state; `change` has what differs. */
  set(change, isReplaced = false) {
    return this.#go({ ...this.state, ...change }, false, isReplaced);
  }

  async #go(state, isFromAddress, isReplaced = false) {
    const before = this.state;
    this.state = state;
    if (!isFromAddress && this.transport.hasAddress) {
      const address = this.#address(state);
      if (address !== (location.hash || "#")) history[isReplaced ? "replaceState" : "pushState"](null, "", address);
    }
    const shown = (each) => JSON.stringify([each.split, each.sql, each.search, each.filters, each.sort]);
    if (shown(before) !== shown(state)) {
      const isOther = before.split !== state.split || before.sql !== state.sql;
      if (isOther) this.table.top = 0;
      else if (JSON.stringify([before.search, before.filters, before.sort]) !== JSON.stringify([state.search, state.filters, state.sort])) this.table.top = 0;
      await this.#open(isOther);
    } else if (JSON.stringify(before.hidden) !== JSON.stringify(state.hidden)) {
      this.table.relayout();
    }
    if (before.row !== state.row) {
      if (state.row === null) this.#closeRow();
      else await this.#openRow(state.row);
    }
    if (before.tab !== state.tab) this.#drawTab();
  }

  async #open(isOther = true) {
    const opening = (this.opening += 1);
    this.#drawTools();
    this.root.classList.add("busy");
    try {
      const found = await this.ask("open", { view: this.view });
      if (opening !== this.opening) return;
      this.columns = found.columns;
      this.size = found.rows;
      this.total = found.total;
      this.bytesRead = null;
      if (isOther) this.pictures = { columns: {}, exact: false, share: 0 };
      this.tell("");
      this.parts.empty.hidden = true;
      this.table.open(found.columns, found.rows);
      this.#drawTools();
      this.#watchPictures();
      if (this.about.streams.includes(this.state.split)) this.#askRead(opening);
    } catch (error) {
      if (opening === this.opening) {
        this.failed(error);
        if (!this.columns.length) this.#empty("Nothing can be shown.", error.message);
      }
    } finally {
      if (opening === this.opening) this.root.classList.remove("busy");
    }
  }

  /** Ask how many bytes the rows of a stream took: after the rows, since that takes a request more. */
  async #askRead(opening) {
    try {
      const { bytes } = await this.ask("read", { split: this.state.split });
      if (opening !== this.opening) return;
      this.bytesRead = bytes;
      this.#drawStatus();
    } catch (error) {
      this.failed(error);
    }
  }

  /** Ask for the pictures of the headers until they are those of all rows. */
  async #watchPictures() {
    const watch = (this.watching = (this.watching || 0) + 1);
    let wait = 0;
    for (;;) {
      let found;
      try {
        const names = this.columns.length > 80 ? this.columns.slice(0, 80).map((column) => column.name) : null;
        found = await this.ask("pictures", { view: this.view, wait, columns: names });
      } catch (error) {
        if (watch === this.watching && !this.transport.isUnreachable(error)) {
          this.pictures = { ...this.pictures, error: error.message };
          this.tell(error.message, "error");
          this.#drawStatus();
        }
        return;
      }
      if (watch !== this.watching) return;
      this.pictures = found;
      this.table.drawHeads();
      this.#drawStatus();
      if (found.exact) return;
      wait = Object.keys(found.columns).length ? 1 : 0.3;
    }
  }

  // -- what the table asks for -----------------------------------------------------------------------------------------

  filterBy(column, filter) {
    const others = this.state.filters.filter((each) => each.column !== column);
    this.#closeMenu();
    this.set({ filters: filter ? [...others, filter] : others });
  }

  /** A step of a drag over a histogram: the pictures of the others follow at once, and the rows at its end. */
  async dragBy(filter) {
    this.dragged = filter;
    if (!filter || this.isDragging) return;
    this.isDragging = true;
    const others = this.state.filters.filter((each) => each.column !== filter.column);
    const names = this.columns.length > 80 ? this.columns.slice(0, 80).map((column) => column.name) : null;
    try {
      let asked = null;
      while (this.dragged && this.dragged !== asked) {
        asked = this.dragged;
        const found = await this.ask("pictures", { view: { ...this.view, filters: [...others, asked] }, columns: names });
        if (!this.dragged) return;
        this.pictures = found;
        this.table.drawHeads();
        this.#drawStatus(found.rows);
      }
    } catch (error) {
      this.failed(error);
    } finally {
      this.isDragging = false;
    }
  }

  sortBy(column, isAdded) {
    const found = this.state.sort.find(([name]) => name === column);
    const others = isAdded ? this.state.sort.filter(([name]) => name !== column) : [];
    const next = !found ? [[column, false]] : found[1] ? [] : [[column, true]];
    this.set({ sort: [...others, ...next] });
  }

  scrolled(first, last) {
    this.first = first;
    this.last = last;
    this.#drawStatus();
    if (this.table.drawnHeads !== this.table.drawnPlaces) {
      this.table.drawnHeads = this.table.drawnPlaces;
      this.table.drawHeads();
    }
  }

  setEmpty(isEmpty) {
    if (isEmpty === !this.parts.empty.hidden) return;
    if (!isEmpty) {
      this.parts.empty.hidden = true;
      return;
    }
    const clear = el("button", { type: "button", onclick: () => this.set({ search: "", filters: [] }) }, "Remove search and filters");
    this.#empty("No row matches.", "", this.state.search || this.state.filters.length ? clear : null);
  }

  #empty(title, text, more = null) {
    this.parts.empty.hidden = false;
    replace(this.parts.empty, el("strong", {}, title), text ? el("p", {}, text) : null, more);
  }

  // -- the frame -------------------------------------------------------------------------------------------------------

  #frame() {
    const parts = (this.parts = {});
    const tab = (name, label) => {
      const found = el("button", { type: "button", role: "tab", class: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, onclick: () => this.set({ tab: name }) }, label);
      parts[name] = found;
      return found;
    };
    parts.title = el("h1", { dir: "auto" }, "…");
    parts.splits = el("datalist", { id: "splits" });
    parts.split = el("input", { class: "split", list: "splits", "aria-label": "split expression", spellcheck: "false", autocomplete: "off", title: "A split, or an expression such as train[10%:20%]+test[:5]", onchange: () => this.set({ split: parts.split.value.trim() || this.about.split, row: null }) });
    parts.search = el("input", { type: "search", class: "search", "aria-label": "search in all columns", placeholder: "Search", spellcheck: "false", onchange: () => this.set({ search: parts.search.value }) });
    parts.sqlButton = el("button", { type: "button", "aria-expanded": "false", onclick: () => this.#toggleSql() }, "SQL");
    parts.sqlText = el("textarea", { "aria-label": "SQL query", rows: "2", spellcheck: "false", placeholder: "select * from ds where …", onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#runSql(); } });
    parts.sql = el("div", { class: "sql", hidden: true }, parts.sqlText, el("button", { type: "button", class: "main", onclick: () => this.#runSql() }, "Run"), el("button", { type: "button", onclick: () => { parts.sqlText.value = ""; this.set({ sql: "", row: null }); } }, "Clear"));
    parts.chips = el("div", { class: "chips" });
    parts.notice = el("div", { class: "notice", role: "alert", hidden: true });
    parts.empty = el("div", { class: "empty", hidden: true });
    parts.status = el("footer", { class: "status" });
    parts.drawer = el("aside", { class: "drawer", "aria-label": "row", hidden: true });
    parts.page = el("div", { class: "page", role: "tabpanel", id: "panel-dataset", "aria-labelledby": "tab-dataset", tabindex: "0", hidden: true });
    parts.changesPage = el("div", { class: "page", role: "tabpanel", id: "panel-changes", "aria-labelledby": "tab-changes", tabindex: "0", hidden: true });
    parts.tools = el(
      "div",
      { class: "tools" },
      el("label", { class: "field" }, el("span", {}, "split"), parts.split),
      parts.search,
      parts.sqlButton,
      el("span", { class: "gap" }),
      el("button", { type: "button", "aria-haspopup": "dialog", onclick: (event) => this.#columnsMenu(event) }, "Columns"),
      el("button", { type: "button", "aria-haspopup": "dialog", onclick: () => this.#copy() }, "Copy as Python"),
      this.transport.save ? el("button", { type: "button", "aria-haspopup": "dialog", onclick: (event) => this.#saveMenu(event) }, "Save") : null,
    );
    parts.main = el("section", { class: "rows", role: "tabpanel", id: "panel-rows", "aria-labelledby": "tab-rows" }, parts.tools, parts.sql, parts.chips, el("div", { class: "stage" }, this.table.element, parts.empty, parts.drawer), parts.status);
    const tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "views" }, tab("rows", "Rows"), tab("dataset", "Dataset"), tab("changes", "Changes"));
    parts.changes.hidden = true;
    tabs.addEventListener("keydown", (event) => {
      const shown = [...tabs.children].filter((each) => !each.hidden);
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by) shown[(shown.indexOf(document.activeElement) + by + shown.length) % shown.length].focus();
    });
    replace(this.root, el("header", { class: "top" }, parts.title, tabs, el("span", { class: "gap" }), this.transport.hasAddress ? el("button", { type: "button", class: "quiet", "aria-label": "keys", title: "Keys", onclick: () => this.#help() }, "?") : null), parts.splits, parts.notice, parts.main, parts.page, parts.changesPage);
  }

  #drawTools() {
    const { parts, state } = this;
    if (document.activeElement !== parts.split) parts.split.value = state.split;
    if (document.activeElement !== parts.search) parts.search.value = state.search;
    if (state.sql && parts.sql.hidden) this.#toggleSql(true);
    if (document.activeElement !== parts.sqlText) parts.sqlText.value = state.sql;
    const chip = (text, label, onremove) => el("span", { class: "chip" }, el("span", { class: "name", dir: "auto" }, text), iconButton("close", `Remove ${label}`, onremove));
    const chips = [
      state.sql ? chip(`SQL: ${state.sql}`, "the query", () => this.set({ sql: "", row: null })) : null,
      state.search ? chip(`contains “${state.search}”`, "the search", () => this.set({ search: "" })) : null,
      state.filters.map((each) => chip(this.#filterText(each), `the filter of ${each.column}`, () => this.filterBy(each.column, null))),
      state.sort.map(([name, descends]) => chip(`${descends ? "↓" : "↑"} ${name}`, `the order by ${name}`, () => this.set({ sort: state.sort.filter(([other]) => other !== name) }))),
    ].flat().filter(Boolean);
    parts.chips.hidden = !chips.length;
    replace(parts.chips, chips, chips.length > 1 ? el("button", { type: "button", class: "quiet", onclick: () => this.set({ sql: "", search: "", filters: [], sort: [] }) }, "Clear all") : null);
    this.#drawStatus();
  }

  #filterText(filter) {
    const picture = this.pictures.columns[filter.column];
    if (filter.null !== undefined && filter.null !== null) return `${filter.column} ${filter.null ? "is" : "is not"} null`;
    if (!picture) return filter.column;
    if (filter.bins) return `${filter.column}: ${span(picture.edges, filter.bins[0], Math.min(filter.bins[1], picture.edges.length - 1))}${picture.kind === "lengths" ? ` ${picture.facts.unit}` : ""}`;
    return `${filter.column}: ${(filter.values || []).map((at) => (picture.values[at] === "" ? "empty text" : picture.values[at])).join(", ")}`;
  }

  #drawStatus(selected = null) {
    const { total, pictures } = this;
    const size = selected === null ? this.size : selected;
    if (!this.about) return;
    if (this.drawnChips !== pictures.exact) {
      this.drawnChips = pictures.exact;
      if (pictures.exact && this.state.filters.length) this.#drawTools();
    }
    const isStream = this.about.streams.includes(this.state.split);
    const shown = !size ? "0" : selected === null ? `${counted((this.first || 0) + 1)}–${counted(this.last || 0)} of ${counted(size)}` : counted(size);
    const part = size !== total ? ` (${share(size, total)} of ${counted(total)})` : "";
    const stats = pictures.error ? "no statistics" : pictures.exact ? "" : `statistics ${Object.keys(pictures.columns).length ? "of a sample" : ""}`;
    replace(
      this.parts.status,
      el("span", {}, `rows ${shown}${part}`),
      el("span", {}, `${counted(this.columns.length)} column${this.columns.length === 1 ? "" : "s"}`),
      isStream ? el("span", {}, `stream${this.bytesRead ? `, ${sized(this.bytesRead)} read` : ""}`, el("button", { type: "button", class: "quiet", onclick: () => this.#more() }, "Read more")) : null,
      stats ? el("span", { class: "progress" }, stats, el("progress", { max: "1", value: pictures.share, "aria-label": "share of the rows counted" }), `${Math.round(100 * pictures.share)}%`) : null,
    );
  }

  async #more() {
    this.root.classList.add("busy");
    try {
      await this.ask("more", { split: this.state.split });
      await this.#open();
    } catch (error) {
      this.failed(error);
    } finally {
      this.root.classList.remove("busy");
    }
  }

  #drawTab() {
    const { tab } = this.state;
    for (const name of ["rows", "dataset", "changes"]) {
      const isHere = name === tab;
      this.parts[name].setAttribute("aria-selected", String(isHere));
      this.parts[name].tabIndex = isHere ? 0 : -1;
    }
    this.parts.main.hidden = tab !== "rows";
    this.parts.page.hidden = tab !== "dataset";
    this.parts.changesPage.hidden = tab !== "changes";
    if (tab === "dataset") this.#load(this.parts.page, "dataset", (found) => factsOf(found, (split) => this.set({ tab: "rows", split, row: null })));
    if (tab === "changes") this.#load(this.parts.changesPage, "diff", changesOf);
    if (tab === "rows") this.table.draw();
  }

  async #load(page, question, shown) {
    if (page.dataset.loaded) return;
    replace(page, el("p", { class: "hint" }, question === "diff" ? "Comparing all rows…" : "Reading…"));
    try {
      const found = await this.ask(question, {});
      replace(page, shown(found));
      page.dataset.loaded = "yes";
    } catch (error) {
      replace(page, el("p", { class: "failure" }, error.message));
    }
  }

  // -- SQL, columns, Python text, files --------------------------------------------------------------------------------

  #toggleSql(isOpen = this.parts.sql.hidden) {
    this.parts.sql.hidden = !isOpen;
    this.parts.sqlButton.setAttribute("aria-expanded", String(isOpen));
    if (isOpen && !this.state.sql) this.parts.sqlText.focus();
  }

  #runSql() {
    this.set({ sql: this.parts.sqlText.value.trim(), search: "", filters: [], sort: [], row: null });
  }

  #columnsMenu(event) {
    const box = (column) =>
      el("label", { class: "check" }, el("input", { type: "checkbox", checked: !this.state.hidden.includes(column.name), onchange: (changed) => this.#hide(column.name, !changed.target.checked) }), el("span", { class: "name", dir: "auto" }, column.name), el("span", { class: "type" }, column.type));
    this.#menu(event.currentTarget, "Columns", el("div", { class: "list" }, this.columns.slice(0, 1000).map(box)), el("div", { class: "row" }, el("button", { type: "button", onclick: () => { this.#closeMenu(); this.set({ hidden: [] }); } }, "Show all")));
  }

  #hide(name, isHidden) {
    const others = this.state.hidden.filter((each) => each !== name);
    if (isHidden && others.length + 1 >= this.columns.length) return;
    this.set({ hidden: isHidden ? [...others, name] : others }, true);
  }

  async #copy() {
    try {
      const { text } = await this.ask("code", { view: this.view });
      let isCopied = false;
      try {
        await navigator.clipboard.writeText(text);
        isCopied = true;
      } catch {
        isCopied = false; // the browser forbids it: the text can be selected
      }
      this.#dialog("These rows in Python", el("pre", { class: "code", tabindex: "0" }, text), el("p", { class: "hint", role: "status" }, isCopied ? "Copied." : "Select the text to copy it."));
    } catch (error) {
      this.failed(error);
    }
  }

  #saveMenu(event) {
    const button = (format, label) => el("button", { type: "button", onclick: () => { this.#closeMenu(); this.transport.save(this.view, format); } }, label);
    this.#menu(event.currentTarget, `Save ${counted(this.size)} rows`, el("div", { class: "stack" }, button("csv", "CSV"), button("jsonl", "JSON Lines"), button("parquet", "Parquet")));
  }

  columnMenu(event, column) {
    const { name } = column;
    const picture = this.pictures.columns[name];
    const filter = this.state.filters.find((each) => each.column === name);
    const run = (label, action) => el("button", { type: "button", onclick: () => { this.#closeMenu(); action(); } }, label);
    this.#menu(
      event.currentTarget,
      name,
      el("p", { class: "type" }, column.type),
      details(picture, filter, this.total, this.pictures.exact, (given) => this.filterBy(name, given)),
      el("div", { class: "row" }, run("Sort ↑", () => this.set({ sort: [[name, false]] })), run("Sort ↓", () => this.set({ sort: [[name, true]] }))),
      el("div", { class: "row" }, run("Hide", () => this.#hide(name, true)), run("Move left", () => this.table.move(name, -1)), run("Move right", () => this.table.move(name, 1))),
    );
  }

  // -- menus and dialogs -----------------------------------------------------------------------------------------------

  #menu(anchor, title, ...children) {
    this.#closeMenu();
    const found = el("div", { class: "menu", role: "dialog", "aria-label": title }, el("div", { class: "menuhead" }, el("strong", { dir: "auto" }, title), iconButton("close", "Close", () => this.#closeMenu())), children);
    this.root.append(found);
    const box = anchor.getBoundingClientRect();
    const own = this.root.getBoundingClientRect();
    const width = Math.min(300, own.width - 16);
    found.style.width = `${width}px`;
    found.style.left = `${Math.max(8, Math.min(box.left - own.left, own.width - width - 8))}px`;
    found.style.top = `${box.bottom - own.top + 4}px`;
    found.style.maxHeight = `${Math.max(160, own.bottom - box.bottom - 12)}px`;
    this.menu = { element: found, anchor };
    const first = found.querySelector("input, select, .stack button, fieldset button") || found.querySelector("button");
    first.focus();
    found.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        this.#closeMenu();
      }
    });
    this.outside = (event) => {
      if (!found.contains(event.target) && !anchor.contains(event.target)) this.#closeMenu();
    };
    document.addEventListener("pointerdown", this.outside);
  }

  #closeMenu() {
    if (!this.menu) return;
    document.removeEventListener("pointerdown", this.outside);
    const { element, anchor } = this.menu;
    this.menu = null;
    element.remove();
    if (anchor.isConnected) anchor.focus({ preventScroll: true });
  }

  #dialog(title, ...children) {
    const found = el("dialog", { class: "dialog", "aria-label": title }, el("div", { class: "menuhead" }, el("strong", {}, title), iconButton("close", "Close", () => found.close())), children);
    found.addEventListener("close", () => found.remove());
    found.addEventListener("click", (event) => {
      if (event.target === found) found.close();
    });
    this.root.append(found);
    found.showModal();
    return found;
  }

  lightbox(title, content) {
    const found = this.#dialog(title);
    found.classList.add("lightbox");
    found.append(content());
  }

  #help() {
    this.#dialog("Keys", el("dl", { class: "keys" }, KEYS.map(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)])));
  }

  #pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.root.querySelector("dialog[open]")) return;
    const isTyping = event.target.closest("input, textarea, select");
    if (event.key === "Escape" && isTyping) event.target.blur();
    else if (event.key === "Escape" && this.state.row !== null) this.set({ row: null });
    if (isTyping || this.menu || this.state.tab !== "rows") return;
    if (event.key === "/") {
      event.preventDefault();
      this.parts.search.focus();
    } else if (event.key === "?") {
      this.#help();
    } else if (this.state.row !== null && ["j", "ArrowDown", "k", "ArrowUp"].includes(event.key) && !event.target.closest("audio, video")) {
      event.preventDefault();
      this.#step(event.key === "j" || event.key === "ArrowDown" ? 1 : -1);
    }
  }

  // -- one row ---------------------------------------------------------------------------------------------------------

  /** Open the row at a place of the table. */
  async openPlace(place) {
    this.table.select(place);
    const kept = this.table.kept.get(place);
    if (kept) await this.set({ row: kept.row }, this.state.row !== null);
  }

  async #step(by) {
    if (this.place === null || this.place === undefined) return;
    const place = Math.max(0, Math.min(this.size - 1, this.place + by));
    if (place === this.place) return;
    this.place = place; // keys may come faster than rows
    this.table.select(place);
    let kept = this.table.kept.get(place);
    if (!kept) {
      const bytes = await this.ask("rows", { view: this.view, start: place, stop: place + 1 });
      kept = { row: Number(this.arrow.tableFromIPC(new Uint8Array(bytes)).getChildAt(0).get(0)) };
      if (place !== this.place) return;
    }
    await this.set({ row: kept.row }, true);
  }

  async #openRow(row) {
    const { drawer } = this.parts;
    const isNew = drawer.hidden;
    if (isNew) this.opener = document.activeElement;
    drawer.hidden = false;
    this.root.classList.add("hasrow");
    if (isNew) replace(drawer, el("p", { class: "hint" }, "Reading…"));
    let found;
    try {
      found = await this.ask("row", { view: this.view, row });
    } catch (error) {
      replace(drawer, el("div", { class: "drawerhead" }, el("strong", {}, `Row ${counted(row)}`), iconButton("close", "Close the row", () => this.set({ row: null }))), el("p", { class: "failure" }, error.message));
      return;
    }
    if (this.state.row !== row) return;
    this.place = found.place;
    if (found.place !== null) this.table.select(found.place);
    else this.table.select(null);
    const at = found.place === null ? "not among the rows shown" : `${counted(found.place + 1)} of ${counted(this.size)}`;
    const link = iconButton("link", "Copy the link to this row", async (event) => {
      const button = event.currentTarget;
      try {
        await navigator.clipboard.writeText(location.href);
        button.classList.add("done");
      } catch {
        this.tell(location.href);
      }
    });
    const boxes = (column) => {
      if (!column.boxes) return null;
      const [name, field] = column.boxes.path;
      const other = found.fields.find((each) => each.name === name);
      return other && other.value ? boxesIn(other.value, field, column.boxes.labels) : null;
    };
    const place = { app: this, base: this.base, row, boxes };
    const top = drawer.scrollTop;
    replace(
      drawer,
      el(
        "div",
        { class: "drawerhead" },
        el("strong", { tabindex: "-1" }, `Row ${counted(row)}`),
        el("span", { class: "hint" }, at),
        el("span", { class: "gap" }),
        iconButton("left", "Previous row (k)", () => this.#step(-1), { disabled: found.place === null || found.place === 0 }),
        iconButton("right", "Next row (j)", () => this.#step(1), { disabled: found.place === null || found.place >= this.size - 1 }),
        this.transport.hasAddress ? link : null,
        iconButton("close", "Close the row", () => this.set({ row: null })),
      ),
      found.id ? el("dl", { class: "origin" }, el("dt", {}, "id"), el("dd", {}, found.id), el("dt", {}, "file"), el("dd", {}, `${found.file}, row ${counted(found.file_row)}`)) : null,
      el(
        "div",
        { class: "fields" },
        found.fields.map((field) => {
          let parts;
          try {
            parts = fieldOf(field, field.value, place);
          } catch (error) {
            parts = [el("span", { class: "failure" }, error.message)];
          }
          return el("section", { class: `field ${field.cell}` }, el("h2", {}, el("span", { class: "name", dir: "auto" }, field.name), el("span", { class: "type" }, field.type)), el("div", { class: "value" }, parts));
        }),
      ),
    );
    drawer.scrollTop = isNew ? 0 : top;
    if (isNew) drawer.querySelector("strong").focus({ preventScroll: true });
    else if (!drawer.contains(document.activeElement) && document.activeElement === document.body) drawer.querySelector("strong").focus({ preventScroll: true });
  }

  #closeRow() {
    this.parts.drawer.hidden = true;
    this.parts.drawer.textContent = "";
    this.root.classList.remove("hasrow");
    this.place = null;
    this.table.element.focus({ preventScroll: true });
  }
}

