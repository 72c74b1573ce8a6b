"use strict";
// Ctrl-K: a dialog that finds pages, routes, issues, views and traces. It lists what the sections'
// finders give, with the combobox of suggest.js.
(() => {
  const dialog = document.getElementById("palette");
  if (!dialog?.showModal) return;
  const field = dialog.querySelector("input");
  const finders = JSON.parse(dialog.dataset.finders);
  const PAUSE_MS = 120;

  const ask = (path, words) => fetch(`${path}?q=${encodeURIComponent(words)}`, {
    headers: { Accept: "application/json" },
  }).then((answer) => (answer.ok ? answer.json() : [])).catch(() => []);

  let typed = 0;
  const find = async (text) => {
    const number = typed += 1;
    await new Promise((done) => { setTimeout(done, PAUSE_MS); });
    if (number !== typed) return [];
    const found = await Promise.all(finders.map((path) => ask(path, text.trim())));
    return found.flat().filter((one) => /^\/(?![/\\])/.test(one.url)).map((one) => ({
      text: one.text,
      note: one.note,
      take: () => { location.assign(one.url); },
    }));
  };
  const { renew } = window.rt4chartCombobox(field, find, {
    label: "Found", isFirstMarked: true, isOpen: true, within: dialog,
  });

  const open = () => {
    if (dialog.open) return;
    field.value = "";
    dialog.showModal();
    field.focus();
    renew();
  };
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
    if (event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else open();
  });
  // A click beside the box closes it.
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  const button = document.querySelector("[data-palette-open]");
  button.hidden = false;
  button.addEventListener("click", open);
})();
