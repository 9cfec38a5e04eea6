// The table in a notebook: questions go over the connection of the widget.

/** The theme of the notebook: Jupyter, VS Code and marimo each say it in their own way; "" if none does. */
function themeOf(body) {
  const { jpThemeLight, vscodeThemeKind } = body.dataset;
  if (jpThemeLight !== undefined) return jpThemeLight === "false" ? "dark" : "light";
  if (vscodeThemeKind !== undefined) return /light/.test(vscodeThemeKind) ? "light" : "dark";
  for (const each of [body, document.documentElement]) {
    if (each.classList.contains("dark") || each.dataset.theme === "dark") return "dark";
    if (each.classList.contains("light") || each.dataset.theme === "light") return "light";
  }
  return "";
}

function render({ model, el: place }) {
  const waiting = new Map();
  const urls = [];
  let last = 0;
  const heard = (message, buffers) => {
    const found = waiting.get(message.id);
    if (!found) return;
    waiting.delete(message.id);
    if (message.error !== undefined) found.reject(new Error(message.error));
    else found.resolve({ answer: message.answer, bytes: buffers && buffers.length ? buffers[0] : null });
  };
  model.on("msg:custom", heard);
  const send = (name, asked) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      model.send({ id: last, name, asked: asked || {} });
    });
  const plain = (bytes) => new Uint8Array(bytes.buffer ? bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) : bytes);
  const transport = {
    async ask(name, asked) {
      const { answer, bytes } = await send(name, asked);
      return bytes ? plain(bytes).buffer : answer;
    },
    isUnreachable: () => false,
    async media(asked) {
      const { answer, bytes } = await send("media", asked);
      const url = URL.createObjectURL(new Blob([plain(bytes)], { type: answer.type }));
      urls.push(url);
      return url;
    },
    reason: async () => "it cannot be shown",
    save: null,
    hasAddress: false,
  };
  const root = document.createElement("div");
  root.className = "dv notebook";
  place.append(root);
  const follow = () => {
    const theme = themeOf(document.body);
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  follow();
  const themes = new MutationObserver(follow);
  for (const each of [document.documentElement, document.body]) themes.observe(each, { attributes: true, attributeFilter: ["class", "data-jp-theme-light", "data-theme", "data-vscode-theme-kind"] });
  new App(root, transport, Arrow, { isSmall: true }).begin();
  return () => {
    model.off("msg:custom", heard);
    themes.disconnect();
    urls.forEach((url) => URL.revokeObjectURL(url));
  };
}

export default { render };
