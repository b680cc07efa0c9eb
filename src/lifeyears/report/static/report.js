"use strict";
(() => {
  // Charts: drawn once, as wide as their box; the style sheet gives their colours.
  const base = {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { size: 13, family: getComputedStyle(document.body).fontFamily },
    hovermode: "closest",
    bargap: 0.25,
    dragmode: false,
  };
  const config = { displayModeBar: false, responsive: false, scrollZoom: false, doubleClick: false };
  const fit = (svg) => {
    // with a view box a chart shrinks on paper instead of being cut
    svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
  };
  const fitAll = (box) => box.querySelectorAll(".main-svg").forEach(fit);
  const axis = (given) => Object.assign({ fixedrange: true }, given);
  // Where the page is narrow, long names of rows stand above their rows and leave the width to the data.
  const nameRowsAbove = (layout) => {
    const names = layout.yaxis.categoryarray || [];
    if (!names.some((name) => name.length > 14)) return;
    const label = { xref: "paper", x: 0, xanchor: "left", yanchor: "bottom", yshift: 4, showarrow: false };
    layout.yaxis.showticklabels = false;
    layout.yaxis.range = [-0.6, names.length - 0.2];
    layout.height += 16 * names.length;
    layout.annotations = [...layout.annotations, ...names.map((name) => Object.assign({ y: name, text: name }, label))];
  };
  const draw = (box) => {
    const chart = charts.get(box);
    const layout = Object.assign({}, base, chart.layout, { width: Math.floor(box.clientWidth) });
    layout.xaxis = axis(layout.xaxis);
    layout.yaxis = axis(layout.yaxis);
    if (layout.width < 480) {
      layout.font = Object.assign({}, base.font, { size: 11 });
      nameRowsAbove(layout);
    }
    return Plotly.react(box, chart.data, layout, config).then(() => fitAll(box));
  };
  const boxes = [...document.querySelectorAll(".chart")];
  const charts = new Map(
    boxes.map((box) => [box, JSON.parse(box.parentElement.querySelector(".chart-data").textContent)]),
  );
  const visible = () => boxes.filter((box) => box.clientWidth > 0);
  const widths = new Map();
  const drawChanged = () =>
    Promise.all(
      visible()
        .filter((box) => widths.get(box) !== box.clientWidth)
        .map((box) => {
          widths.set(box, box.clientWidth);
          return draw(box);
        }),
    );
  drawChanged().then(() => {
    document.documentElement.dataset.ready = "true";
  });
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (!window.matchMedia("print").matches) drawChanged();
    }, 150);
  });
  document.addEventListener("toggle", drawChanged, true);

  for (const button of document.querySelectorAll(".legend button"))
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      const box = button.closest("figure").querySelector(".chart");
      Plotly.restyle(box, { visible: shown }, [Number(button.dataset.trace)]).then(() => fitAll(box));
    });

  // Tables: a button in each heading sorts, a button above saves.
  const raw = (cell) => ("v" in cell.dataset ? JSON.parse(cell.dataset.v) : cell.textContent);
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });
  const unknown = (value) => value === "–" || value === "";
  const sort = (table, column) => {
    const heads = [...table.tHead.rows[0].cells];
    const ascending =
      heads[column].getAttribute("aria-sort") === "descending" ||
      (heads[column].getAttribute("aria-sort") !== "ascending" && !heads[column].classList.contains("number"));
    heads.forEach((head, place) => {
      head.setAttribute("aria-sort", place !== column ? "none" : ascending ? "ascending" : "descending");
    });
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [raw(row.cells[column]), row]);
    rows.sort(([a], [b]) => {
      if (unknown(a) || unknown(b)) return unknown(a) - unknown(b);
      return ascending ? compare(a, b) : compare(b, a);
    });
    body.append(...rows.map(([, row]) => row));
  };
  const quoted = (value) => {
    let text = value === null || value === undefined ? "" : String(value);
    if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`; // no formula for a spreadsheet
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const extra = (cell) => ("extra" in cell.dataset ? JSON.parse(cell.dataset.extra) : []);
  const asCsv = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const names = heads.flatMap((head) => [head.dataset.label || head.textContent, ...extra(head)]);
    const lines = [...table.tBodies[0].rows].map((row) =>
      [...row.cells].flatMap((cell) => {
        const value = raw(cell);
        return [value === "–" ? "" : value, ...extra(cell)];
      }),
    );
    return [names, ...lines].map((line) => `${line.map(quoted).join(",")}\r\n`).join("");
  };
  const save = (table) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["\ufeff", asCsv(table)], { type: "text/csv" }));
    link.download = `${table.dataset.name || "table"}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  document.querySelectorAll("table.lifeyears").forEach((table) => {
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      head.dataset.label = head.textContent;
      button.textContent = head.textContent;
      button.addEventListener("click", () => sort(table, place));
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
    });
    const box = table.closest(".table");
    if (!box) return;
    const bar = document.createElement("div");
    const button = document.createElement("button");
    bar.className = "bar";
    button.type = "button";
    button.className = "save";
    button.textContent = "Download CSV";
    const title = box.querySelector("h4");
    button.setAttribute("aria-label", `Download as CSV: ${title ? title.textContent : table.dataset.name}`);
    button.addEventListener("click", () => save(table));
    if (title) bar.append(title);
    else bar.append(document.createElement("span"));
    const hint = document.createElement("span");
    hint.className = "hint";
    hint.textContent = "more columns →";
    const tools = document.createElement("span");
    tools.className = "tools";
    tools.append(hint, button);
    bar.append(tools);
    box.prepend(bar);
  });
  const hints = () =>
    document.querySelectorAll(".table .scroll").forEach((scroll) => {
      const hint = scroll.parentElement.querySelector(".bar .hint");
      if (hint) hint.hidden = scroll.scrollWidth <= scroll.clientWidth + 1;
    });
  hints();
  window.addEventListener("resize", hints);
  document.addEventListener("toggle", hints, true);

  // A link into a closed part opens it.
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", open);
  open();
  const contents = document.querySelector("nav details");
  if (window.innerWidth < 700) contents.open = false;
})();
