"use strict";
// The map: plotly draws the points; what a claim says is put on the page as text, never as markup.
(() => {
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "star", "cross", "pentagon", "x", "circle", "hexagon"];
  const chart = document.getElementById("map");
  const tip = document.getElementById("map-tip");
  if (!chart || !window.Plotly) return;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // A finger cannot point without a tap: the first one shows the claim, with a link to its answer.
  const isTouched = matchMedia("(hover: none)").matches;
  const hidden = new Set();
  let drawing = null;

  const trace = (group) => {
    const shade = colour(`--look-${group.look}`);
    const symbol = SYMBOLS[group.look];
    return {
      type: "scatter",
      mode: "markers",
      x: group.x,
      y: group.y,
      visible: !hidden.has(group.look),
      hoverinfo: "none",
      marker: {
        size: group.look > 8 ? 7 : 9,
        color: shade,
        opacity: group.look > 8 ? 0.55 : 0.9,
        symbol: group.label.map((label) => (label === "baseless" ? `${symbol}-open` : symbol)),
        line: { width: 1.5, color: shade },
      },
    };
  };

  const draw = () => {
    const axis = { showticklabels: false, zeroline: false, gridcolor: colour("--line") };
    const layout = {
      margin: { l: 10, r: 10, t: 10, b: 10 },
      height: Math.max(340, Math.min(620, window.innerHeight * 0.65)),
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, color: colour("--quiet") },
      showlegend: false, hovermode: "closest", dragmode: isTouched ? false : "zoom",
      xaxis: { ...axis }, yaxis: { ...axis },
    };
    const config = { responsive: true, displaylogo: false, displayModeBar: false, scrollZoom: false, doubleClick: "reset" };
    return window.Plotly.react(chart, drawing.groups.map(trace), layout, config);
  };

  const line = (className, text) => {
    const element = document.createElement("p");
    element.className = className;
    element.textContent = text;
    return element;
  };
  const SIGNS = { contradicted: "✗", baseless: "?" };

  const show = (point, event) => {
    const group = drawing.groups[point.curveNumber];
    const at = point.pointNumber;
    const label = group.label[at];
    tip.replaceChildren(
      line(`label label-${label}`, `${SIGNS[label] || "·"} ${label}`),
      line("claim-text", group.claim[at]),
      line("quiet small", `${group.issue[at]} · ${group.route[at]}`),
    );
    if (isTouched) {
      const link = document.createElement("a");
      link.href = group.url[at];
      link.textContent = "Open the answer";
      tip.append(link);
    }
    tip.hidden = false;
    const frame = chart.parentElement.getBoundingClientRect();
    const x = event.clientX - frame.left, y = event.clientY - frame.top;
    const left = Math.max(4, Math.min(x + 14, frame.width - tip.offsetWidth - 4));
    const below = y + 16 + tip.offsetHeight < frame.height;
    tip.style.left = `${left}px`;
    tip.style.top = `${below ? y + 16 : Math.max(4, y - tip.offsetHeight - 12)}px`;
  };

  const start = async () => {
    const answer = await fetch(chart.dataset.map, { headers: { Accept: "application/json" }, redirect: "error" });
    if (!answer.ok) throw new Error((await answer.json()).error);
    drawing = await answer.json();
    await draw();
    if (!isTouched) {
      chart.on("plotly_hover", (told) => show(told.points[0], told.event));
      chart.on("plotly_unhover", () => { tip.hidden = true; });
    }
    chart.on("plotly_click", (told) => {
      const point = told.points[0];
      if (isTouched) return show(point, told.event);
      location.href = drawing.groups[point.curveNumber].url[point.pointNumber];
    });
    document.addEventListener("rt4chart:theme", draw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  };

  document.querySelectorAll("[data-look]").forEach((button) => button.addEventListener("click", () => {
    const look = Number(button.dataset.look);
    const isShown = hidden.has(look);
    if (isShown) hidden.delete(look); else hidden.add(look);
    button.setAttribute("aria-pressed", String(isShown));
    if (drawing) draw();
  }));
  start().catch((error) => chart.replaceChildren(line("wrong", `No picture: ${error.message} The list below has the same.`)));
})();
