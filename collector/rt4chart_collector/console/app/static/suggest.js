"use strict";
// Lists under a text field: a combobox of the WAI-ARIA patterns, for filters and for the palette.
(() => {
  let lists = 0;

  // `find(text, caret)` gives [{ text, note, take() }]; the list is under the field.
  const combobox = (field, find, options = {}) => {
    const list = document.createElement("ul");
    list.id = `suggestions-${lists += 1}`;
    list.className = "suggestions";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", options.label || "Suggestions");
    list.hidden = true;
    (options.within || field.parentElement).append(list);
    field.setAttribute("role", "combobox");
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-controls", list.id);
    field.setAttribute("aria-expanded", "false");
    let found = [];
    let at = -1;
    let asked = 0;
    let isPending = false;
    let isEntered = false;

    const mark = (next) => {
      at = next;
      [...list.children].forEach((item, number) => {
        item.setAttribute("aria-selected", String(number === at));
        if (number === at) item.scrollIntoView({ block: "nearest" });
      });
      if (at < 0) field.removeAttribute("aria-activedescendant");
      else field.setAttribute("aria-activedescendant", list.children[at].id);
    };
    const show = () => {
      list.replaceChildren(...found.map((one, number) => {
        const item = document.createElement("li");
        item.id = `${list.id}-${number}`;
        item.setAttribute("role", "option");
        const name = document.createElement("bdi");
        name.textContent = one.text;
        item.append(name);
        if (one.note) {
          const note = document.createElement("span");
          note.className = "quiet small";
          note.textContent = ` ${one.note}`;
          item.append(note);
        }
        // The field keeps the focus.
        item.addEventListener("mousedown", (event) => event.preventDefault());
        item.addEventListener("click", () => take(number));
        return item;
      }));
      list.hidden = !found.length;
      field.setAttribute("aria-expanded", String(!list.hidden));
      mark(options.isFirstMarked && found.length ? 0 : -1);
    };
    const close = () => { found = []; show(); };
    const take = (number) => {
      const one = found[number];
      close();
      one.take();
    };
    const renew = async () => {
      const number = asked += 1;
      isPending = true;
      mark(-1); // what is listed answers what was typed before
      const next = await find(field.value, field.selectionStart ?? field.value.length);
      if (number !== asked) return; // typed on meanwhile
      isPending = false;
      found = next;
      show();
      if (isEntered && at >= 0) take(at);
      isEntered = false;
    };
    field.addEventListener("input", renew);
    if (!options.isOpen) field.addEventListener("blur", close);
    field.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        event.preventDefault();
        if (list.hidden) return void renew();
        mark((at + step + found.length) % found.length);
      } else if (event.key === "Enter" && (at >= 0 || options.isFirstMarked)) {
        event.preventDefault();
        if (isPending) isEntered = true;
        else if (at >= 0) take(at);
      } else if (event.key === "Escape" && !list.hidden && !options.isOpen) {
        event.preventDefault();
        event.stopPropagation();
        close();
      }
    });
    return { renew, close };
  };

  // What a key suggests is asked for once in the life of a page.
  const known = new Map();
  const names = (key) => {
    if (!known.has(key)) {
      known.set(key, fetch(`/suggest/${key}`, { headers: { Accept: "application/json" } })
        .then((answer) => (answer.ok ? answer.json() : []))
        .catch(() => []));
    }
    return known.get(key);
  };
  const ASKED = ["route", "service", "model", "release", "prompt", "environment", "fails"];
  const MOST = 12;
  const having = (all, part) => {
    const wanted = part.toLowerCase();
    return all.filter((one) => one.toLowerCase().includes(wanted)).slice(0, MOST);
  };

  // <input data-keys='{"status": ["contradicted", …], "route": []}'>: the term at the caret.
  const filter = (field) => {
    const keys = JSON.parse(field.dataset.keys);
    const find = async (text, caret) => {
      const begin = text.slice(0, caret).search(/\S*$/);
      const end = caret + text.slice(caret).search(/\s|$/);
      const typed = text.slice(begin, caret);
      const [, minus, key, part] = /^(-?)(?:([a-z]+):)?(.*)$/s.exec(typed) || [];
      if (part === undefined || part.startsWith('"')) return [];
      const put = (words, isWhole) => () => {
        const gap = isWhole && !/^\s/.test(text.slice(end)) ? " " : "";
        field.setRangeText(words + gap, begin, end, "end");
        field.focus();
        field.dispatchEvent(new Event("input", { bubbles: true }));
      };
      if (key === undefined) {
        if (!part && caret) return [];
        return having(Object.keys(keys), part)
          .map((one) => ({ text: `${one}:`, note: keys[one].join(", "), take: put(`${minus}${one}:`) }));
      }
      if (!(key in keys)) return [];
      const all = keys[key].length ? keys[key] : ASKED.includes(key) ? await names(key) : [];
      return having(all, part).filter((one) => one !== part).map((one) => {
        const value = /[\s"]/.test(one) ? `"${one.replace(/[\\"]/g, "\\$&")}"` : one;
        return { text: one, take: put(`${minus}${key}:${value}`, true) };
      });
    };
    combobox(field, find, { label: "Suggested terms" });
  };

  // <input data-suggest="route">: names of that kind.
  const named = (field) => {
    const find = async (text) => having(await names(field.dataset.suggest), text.trim())
      .filter((one) => one !== text)
      .map((one) => ({ text: one, take: () => { field.value = one; field.form.requestSubmit(); } }));
    combobox(field, find, { label: `Known names: ${field.dataset.suggest}` });
  };

  const start = (within) => {
    within.querySelectorAll("input[data-keys]").forEach(filter);
    within.querySelectorAll("input[data-suggest]").forEach(named);
  };
  start(document);
  document.addEventListener("rt4chart:replaced", (event) => start(event.detail));

  window.rt4chartCombobox = combobox;
})();
