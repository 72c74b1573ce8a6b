"use strict";
// Keys of the review: a approves, e writes a good answer, r says why not, j and k are the next and
// the previous case. Everything works without them.
document.addEventListener("keydown", (event) => {
  const at = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (at.matches("[data-enter]") && event.key === "Enter") {
    event.preventDefault();
    at.form.requestSubmit(at.form.querySelector(`[data-decision="${at.dataset.enter}"]`));
    return;
  }
  if (event.key === "Escape" && at.closest("#review")) at.blur();
  if (at.closest("input, textarea, select, [contenteditable]")) return;
  const wanted = ["a", "e", "r", "j", "k"].includes(event.key)
    ? document.querySelector(`[data-key="${event.key}"]`) : null;
  if (!wanted || wanted.disabled) return;
  event.preventDefault();
  if (wanted.matches("textarea, input")) wanted.focus(); else wanted.click();
});
