// The page in a browser: questions go to the server that the page came from.

import { App } from "./app.js";

class Unreachable extends Error {}

const transport = {
  /** Ask the server. Returns JSON, or the bytes of an Arrow stream. */
  async ask(name, asked = {}) {
    let answer;
    try {
      answer = await fetch(`/api/${name}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(asked),
        credentials: "same-origin",
      });
    } catch (error) {
      throw new Unreachable("The viewer does not answer.");
    }
    if (answer.status === 403) {
      throw new Unreachable("The viewer was started again. Open the new address that it printed.");
    }
    if ((answer.headers.get("content-type") || "").startsWith("application/vnd.apache.arrow")) {
      return answer.arrayBuffer();
    }
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error || `The viewer answered with ${answer.status}.`);
    return found;
  },
  isUnreachable: (error) => error instanceof Unreachable,
  /** The address of a medium: a promise, since in a notebook it is fetched. */
  async media(asked) {
    const given = { ...asked, view: JSON.stringify(asked.view), path: JSON.stringify(asked.path || []) };
    return `/media?${new URLSearchParams(given)}`;
  },
  async reason(url) {
    const answer = await fetch(url, { credentials: "same-origin" });
    return answer.ok ? "it cannot be shown" : (await answer.json()).error;
  },
  save(view, format) {
    const link = document.createElement("a");
    link.href = `/save?${new URLSearchParams({ view: JSON.stringify(view), format })}`;
    link.download = "";
    link.click();
  },
  hasAddress: true,
};

new App(document.getElementById("viewer"), transport, globalThis.Arrow).begin();
