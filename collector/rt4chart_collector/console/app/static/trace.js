"use strict";
// Finds spans in the tree of a trace: the words of a row, one found row after the other.
(() => {
  const box = document.querySelector(".trace-search");
  const rows = [...document.querySelectorAll(".tree summary, .tree .leaf")];
  const FEW = 2; // spans that need no search
  if (!box || rows.length <= FEW) return;
  const field = box.querySelector("input");
  const told = box.querySelector("[role=status]");
  const texts = rows.map((row) => row.textContent.replace(/\s+/g, " ").toLowerCase());
  let found = [];
  let at = -1;

  const go = (step) => {
    if (!found.length) return;
    rows[found[at]]?.classList.remove("is-here");
    at = at < 0 ? (step > 0 ? 0 : found.length - 1) : (at + step + found.length) % found.length;
    const row = rows[found[at]];
    for (let above = row.parentElement.closest("details"); above; above = above.parentElement.closest("details")) {
      above.open = true;
    }
    row.classList.add("is-here");
    row.scrollIntoView({ block: "nearest" });
    told.textContent = `${at + 1} of ${found.length}`;
  };
  const search = () => {
    const words = field.value.trim().replace(/\s+/g, " ").toLowerCase();
    rows.forEach((row) => row.classList.remove("is-found", "is-here"));
    found = words ? [...texts.keys()].filter((number) => texts[number].includes(words)) : [];
    found.forEach((number) => rows[number].classList.add("is-found"));
    at = -1;
    told.textContent = words && !found.length ? "No span has these words." : "";
    go(1);
  };
  field.addEventListener("input", search);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
  });
  box.addEventListener("click", (event) => {
    const button = event.target.closest("[data-step]");
    if (button) go(Number(button.dataset.step));
  });
  box.hidden = false;
})();
