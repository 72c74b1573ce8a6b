"use strict";
// Draws <div data-figure='{"data": […], "layout": {…}}'> with plotly. A text such as "var(--accent)"
// stands for that colour of the page, so that a figure follows the switch of the colours.
(() => {
  const read = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const coloured = (value) => {
    if (typeof value === "string") {
      const found = /^var\((--[a-z-]+)\)$/.exec(value);
      return found ? read(found[1]) : value;
    }
    if (Array.isArray(value)) return value.map(coloured);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, coloured(one)]));
    }
    return value;
  };

  // A time in UTC, in the zone of the page (times.js).
  const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
  const timed = (value) => {
    if (typeof value === "string") return TIME.test(value) ? window.rt4chartTime(value) : value;
    if (Array.isArray(value)) return value.map(timed);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, timed(one)]));
    }
    return value;
  };

  const draw = (element) => {
    const figure = timed(coloured(JSON.parse(element.dataset.figure)));
    const axis = { gridcolor: read("--line"), linecolor: read("--line"), zeroline: false };
    const given = figure.layout || {};
    const layout = {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: read("--text"), family: "system-ui, sans-serif", size: 13 },
      margin: { l: 56, r: 16, t: 24, b: 36 },
      hoverlabel: { bgcolor: read("--card"), font: { color: read("--text") } },
      showlegend: false,
      ...given,
      xaxis: { ...axis, ...given.xaxis },
      yaxis: { ...axis, ...given.yaxis },
    };
    const config = { responsive: true, displaylogo: false, displayModeBar: false, ...figure.config };
    window.Plotly.react(element, figure.data, layout, config);
    // A point with a "customdata" that is an address leads there.
    if (!element.dataset.drawn) {
      element.dataset.drawn = "1";
      element.on("plotly_click", (event) => {
        const to = event.points?.[0]?.customdata;
        if (typeof to === "string" && /^\/(?!\/)/.test(to)) window.location.assign(to);
      });
    }
  };

  const all = () => document.querySelectorAll("[data-figure]").forEach(draw);
  if (!window.Plotly) return;
  all();
  document.addEventListener("rt4chart:theme", all);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
  document.addEventListener("rt4chart:replaced", all);
})();
