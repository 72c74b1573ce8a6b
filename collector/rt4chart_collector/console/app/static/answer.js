"use strict";
// The page of an answer: what a mark says on hover, focus and tap; its evidence beside it; n and p.
(() => {
  const BAD = "#answer .mark-contradicted, #answer .mark-baseless, #answer .mark-misleading";
  const passages = document.getElementById("passages");
  const numbers = (mark) => (mark.dataset.claims || "").split(" ");
  const card = (number) => document.getElementById(`claim-${number}`);
  let tip = null;
  let leaving = 0;

  const hide = () => { clearTimeout(leaving); tip?.remove(); tip = null; };
  // The way from a mark to what is said of it is not empty.
  const leave = () => { clearTimeout(leaving); leaving = setTimeout(hide, 200); };

  const tell = (mark) => {
    hide();
    const shown = numbers(mark).slice(0, 3).map(card).filter(Boolean);
    if (!shown.length) return;
    tip = document.createElement("div");
    tip.className = "tip";
    tip.setAttribute("aria-hidden", "true"); // aria-describedby says it
    for (const one of shown) {
      for (const part of [".claim-head", ".claim-body", ".how"]) {
        const copy = one.querySelector(part)?.cloneNode(true);
        if (!copy) continue;
        copy.querySelectorAll("[id]").forEach((each) => each.removeAttribute("id"));
        copy.querySelectorAll("a").forEach((each) => each.setAttribute("tabindex", "-1"));
        tip.append(copy);
      }
    }
    tip.addEventListener("mouseenter", () => clearTimeout(leaving));
    tip.addEventListener("mouseleave", leave);
    document.body.append(tip);
    const [at] = mark.getClientRects();
    const width = document.documentElement.clientWidth;
    tip.style.left = `${scrollX + Math.max(12, Math.min(at.left, width - tip.offsetWidth - 12))}px`;
    const isBelow = at.bottom + tip.offsetHeight + 14 < innerHeight || at.top < tip.offsetHeight + 14;
    tip.style.top = `${scrollY + (isBelow ? at.bottom + 8 : at.top - tip.offsetHeight - 8)}px`;
  };

  // A claim is chosen: its marks, its card and its evidence stand out.
  const choose = (number, { scroll = true } = {}) => {
    document.querySelectorAll(".is-on").forEach((one) => one.classList.remove("is-on"));
    card(number)?.classList.add("is-on");
    document.querySelectorAll(`[data-claims~="${CSS.escape(number)}"]`).forEach((one) => one.classList.add("is-on"));
    const evidence = passages?.querySelector(".mark.is-on");
    if (!evidence || !scroll) return;
    const passage = evidence.closest("details");
    if (passage) passage.open = true;
    if (passages.scrollHeight > passages.clientHeight && getComputedStyle(passages).position === "sticky") {
      passages.scrollTop += evidence.getBoundingClientRect().top - passages.getBoundingClientRect().top - passages.clientHeight / 3;
    }
  };

  const keep = (number) => history.replaceState(null, "", `#claim-${number}`);

  document.addEventListener("click", (event) => {
    const link = event.target.closest(".mark a");
    if (!link && event.target.closest(".tip") && !event.target.closest("a")) return;
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return hide();
    const mark = link.closest(".mark");
    const [number] = numbers(mark);
    if (!card(number)) return; // on another page of the list
    event.preventDefault();
    choose(number);
    keep(number);
    if (mark.closest("#answer")) return tell(mark);
    hide();
    card(number).scrollIntoView({ block: "nearest" });
    card(number).focus({ preventScroll: true });
  });

  const about = (event) => event.target.closest?.("#answer .mark");
  document.addEventListener("mouseover", (event) => { const mark = about(event); if (mark) tell(mark); });
  document.addEventListener("mouseout", (event) => { if (about(event)) leave(); });
  document.addEventListener("focusin", (event) => {
    const mark = about(event);
    if (!mark) return hide();
    choose(numbers(mark)[0]);
    tell(mark);
  });

  const go = (step) => {
    const all = [...document.querySelectorAll(BAD)].filter((one, at, list) =>
      list.findIndex((other) => other.dataset.claims === one.dataset.claims) === at);
    if (!all.length) return;
    const now = all.indexOf(document.activeElement?.closest?.(".mark"));
    const next = all[now < 0 ? (step > 0 ? 0 : all.length - 1) : (now + step + all.length) % all.length];
    next.querySelector("a").focus();
    keep(numbers(next)[0]);
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return hide();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    if (event.key === "n" || event.key === "j") go(1);
    else if (event.key === "p" || event.key === "k") go(-1);
    else return;
    event.preventDefault();
  });

  const arrive = () => {
    const found = location.hash.match(/^#claim-(\d+)$/);
    if (!found) return;
    if (card(found[1])) return choose(found[1]);
    const url = new URL(location.href);
    if (url.searchParams.get("claim") === found[1]) return;
    // The server does not see what is behind the #: the page of the list that has the claim.
    url.searchParams.set("claim", found[1]);
    for (const name of ["page", "label"]) url.searchParams.delete(name);
    location.replace(url);
  };
  addEventListener("hashchange", arrive);
  arrive();

  document.querySelectorAll(".keys").forEach((one) => { one.hidden = !document.querySelector(BAD); });
  document.querySelectorAll("[data-copy]").forEach((button) => {
    if (!navigator.clipboard) return;
    button.hidden = false;
    const words = button.textContent;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = words; }, 1500);
    });
  });
})();
