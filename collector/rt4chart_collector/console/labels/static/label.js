"use strict";
// The keys of labelling: 1 2 3 4 0 and s label, u undoes, q and p open the question and the passages.
(() => {
  const task = () => document.getElementById("task");

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    // A key that is pressed before the next claim is there would be of a claim that nobody has read.
    if (task()?.querySelector("[aria-busy=true]")) return;
    const wanted = task()?.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!wanted) return;
    event.preventDefault();
    if (wanted.matches("details")) wanted.open = !wanted.open; else wanted.click();
  });

  // The next claim is where reading and the Tab key go on.
  document.addEventListener("rt4chart:replaced", (event) => {
    if (event.detail.id !== "task") return;
    scrollTo(0, 0);
    document.getElementById("claim")?.focus({ preventScroll: true });
  });
})();
