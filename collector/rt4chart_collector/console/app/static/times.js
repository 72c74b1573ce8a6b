"use strict";
// Times in the zone of the reader. Pages come with times in UTC, and addresses and files keep those.
(() => {
  const KEY = "rt4chart_zone";
  let wanted = "";
  try { wanted = localStorage.getItem(KEY) || ""; } catch { /* a browser that keeps nothing */ }
  const isLocal = wanted !== "utc";
  const two = (number) => String(number).padStart(2, "0");

  const offset = (moment) => {
    const minutes = isLocal ? -moment.getTimezoneOffset() : 0;
    if (!minutes) return "UTC";
    const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    return `UTC${minutes < 0 ? "-" : "+"}${two(hours)}:${two(rest)}`;
  };

  // A moment as 2026-01-30T12:00:05 in the zone of the page, without its name.
  const written = (moment) => {
    const minutes = isLocal ? moment.getTimezoneOffset() : 0;
    return new Date(moment.getTime() - minutes * 60_000).toISOString().slice(0, 19);
  };

  const TO_THE_MINUTE = /^\d{4}-\d\d-\d\d \d\d:\d\d$/;
  const put = (within) => {
    if (!isLocal) return;
    within.querySelectorAll("time[datetime]").forEach((element) => {
      const moment = new Date(element.dateTime);
      if (Number.isNaN(moment.getTime())) return;
      const text = written(moment).replace("T", " ");
      element.title = `${text} ${offset(moment)} (${element.dateTime.slice(11, 19)} UTC)`;
      if (!TO_THE_MINUTE.test(element.textContent)) return;
      element.textContent = text.slice(0, 16);
    });
    within.querySelectorAll("[data-times] input[type=datetime-local]").forEach((input) => {
      if (input.value) input.value = written(new Date(`${input.value}Z`)).slice(0, 16);
    });
    within.querySelectorAll("[data-zone-name]").forEach((element) => {
      element.textContent = `in ${name}`;
    });
  };

  // What is typed in the reader's zone is sent in UTC.
  document.addEventListener("formdata", (event) => {
    if (!event.target.matches("[data-times]")) return;
    for (const field of ["from", "to"]) {
      const typed = event.formData.get(field);
      if (!typed) { event.formData.delete(field); continue; }
      const moment = new Date(isLocal ? typed : `${typed}Z`);
      if (Number.isNaN(moment.getTime())) continue;
      event.formData.set(field, `${moment.toISOString().slice(0, 16)}Z`);
    }
  });

  const now = new Date();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "your zone";
  const name = isLocal && zone !== "UTC" ? `${zone} (${offset(now)})` : "UTC";
  const foot = document.querySelector("[data-zone]");
  if (foot) {
    foot.textContent = `Times are in ${name}${name === "UTC" ? "" : ", within texts in UTC"}. `;
    if (wanted === "utc" || zone !== "UTC") {
      const other = document.createElement("button");
      other.type = "button";
      other.className = "link-button";
      other.textContent = wanted === "utc" ? "Show my own zone" : "Show UTC";
      other.addEventListener("click", () => {
        try { localStorage.setItem(KEY, wanted === "utc" ? "" : "utc"); } catch { return; }
        location.reload();
      });
      foot.append(other);
    }
  }
  put(document);
  document.addEventListener("rt4chart:replaced", (event) => put(event.detail));
  // For charts: their times come in UTC too.
  window.rt4chartTime = (text) => (isLocal ? written(new Date(text)) : text);
})();
