"use strict";
// The switch of the colours, "/" for the search, and parts of a page that renew themselves.
(() => {
  const root = document.documentElement;
  const THEMES = ["auto", "light", "dark"];

  const button = document.querySelector("[data-theme-switch]");
  button?.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
    root.dataset.theme = next;
    // The server writes the attribute from the cookie: no page flashes.
    document.cookie = `rt4chart_theme=${next}; path=/; max-age=31536000; samesite=strict`;
    button.setAttribute("aria-label", `Colours: ${next}. Switch`);
    button.title = `Colours: ${next}`;
    document.dispatchEvent(new Event("rt4chart:theme"));
  });

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const search = document.getElementById("search");
    if (!search) return;
    event.preventDefault();
    search.focus();
    search.select();
  });

  // What a URL gives takes the place of an element, as elements: scripts in it do not run.
  const put = (target, text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html").body.firstElementChild;
    if (!fresh) return;
    target.replaceWith(document.adoptNode(fresh));
    start(fresh);
    document.dispatchEvent(new CustomEvent("rt4chart:replaced", { detail: fresh }));
  };

  const ask = async (url, options = {}) => {
    const headers = { "X-Partial": "1", Accept: "text/html" };
    const answer = await fetch(url, { ...options, headers, redirect: "error" });
    const text = await answer.text();
    if (!answer.ok) {
      let told = text;
      try { told = JSON.parse(text).error; } catch { /* not ours: shown as it is */ }
      throw new Error(told);
    }
    return text;
  };

  // data-refresh="URL" data-every="15": the element is replaced so often, while it is looked at.
  const renew = (element) => {
    const every = Math.max(Number(element.dataset.every) || 15, 5) * 1000;
    const timer = setInterval(async () => {
      if (!element.isConnected) return clearInterval(timer);
      if (document.hidden || element.contains(document.activeElement)) return;
      try {
        const text = await ask(element.dataset.refresh);
        clearInterval(timer);
        put(element, text);
      } catch { /* the next time */ }
    }, every);
  };

  // data-load="URL": the element is replaced as soon as that has been read.
  const load = async (element) => {
    try {
      put(element, await ask(element.dataset.load));
    } catch (error) {
      const told = document.createElement("p");
      told.className = "wrong";
      told.setAttribute("role", "alert");
      told.textContent = error.message;
      element.append(told);
    }
  };

  // <form data-partial="#target">: what the answer holds takes the target's place.
  const send = async (event) => {
    const form = event.target.closest("form[data-partial]");
    if (!form) return;
    event.preventDefault();
    if (form.getAttribute("aria-busy") === "true") return; // sent already
    form.setAttribute("aria-busy", "true");
    const target = form.dataset.partial ? document.querySelector(form.dataset.partial) : form;
    const body = new URLSearchParams(new FormData(form, event.submitter));
    try {
      put(target, await ask(form.action, { method: "POST", body }));
    } catch (error) {
      let told = form.querySelector("[role=alert]");
      if (!told) {
        told = document.createElement("p");
        told.className = "wrong";
        told.setAttribute("role", "alert");
        form.append(told);
      }
      told.textContent = error.message;
    } finally {
      form.removeAttribute("aria-busy");
    }
  };
  document.addEventListener("submit", send);

  // <select data-submit>: choosing is asking.
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit]")) event.target.form.requestSubmit();
  });

  // On a small screen a long table shows its first cards, and more at a press.
  const STEP = 20;
  const fold = (table) => {
    const rows = [...table.querySelectorAll("tbody > tr")].slice(Number(table.dataset.fold));
    const more = document.createElement("button");
    more.type = "button";
    more.className = "unfold secondary";
    const count = () => {
      const left = rows.filter((row) => row.classList.contains("folded"));
      more.textContent = `Show ${Math.min(STEP, left.length)} more of ${left.length}`;
      if (!left.length) more.remove();
      return left;
    };
    rows.forEach((row) => row.classList.add("folded"));
    more.addEventListener("click", () => {
      const shown = count().slice(0, STEP);
      shown.forEach((row) => row.classList.remove("folded"));
      shown[0].querySelector("a, button, input")?.focus();
      count();
    });
    table.after(more);
    count();
    delete table.dataset.fold; // the style's own fold ends here
  };

  const start = (within) => {
    within.querySelectorAll("[data-fold]").forEach(fold);
    if (within.matches?.("[data-refresh]")) renew(within);
    within.querySelectorAll("[data-refresh]").forEach(renew);
    within.querySelectorAll("[data-load]").forEach(load);
  };
  start(document);
})();
