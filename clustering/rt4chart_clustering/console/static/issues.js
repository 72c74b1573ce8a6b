"use strict";
// <a data-load="#target">: what the address holds is put in the target's place, instead of a page.
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-load]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const target = document.querySelector(link.dataset.load);
  target.setAttribute("aria-busy", "true");
  link.textContent = "Looking …";
  try {
    const answer = await fetch(link.href, { headers: { "X-Partial": "1", Accept: "text/html" }, redirect: "error" });
    if (!answer.ok) throw new Error();
    const text = await answer.text();
    const fresh = new DOMParser().parseFromString(text, "text/html").body.firstElementChild;
    fresh.tabIndex = -1;
    target.replaceWith(document.adoptNode(fresh));
    fresh.focus({ preventScroll: true });
  } catch {
    location.href = link.href;
  }
});
