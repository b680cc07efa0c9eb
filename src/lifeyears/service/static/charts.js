// Plain SVG charts; colours by class, so that light and dark are the style sheet's.

const NS = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== null && value !== undefined) made.setAttribute(key, value);
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

const title = (text) => svg("title", {}, text);

export function ticks(low, high, most = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / most,
    power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= raw);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step)
    found.push(Number(at.toPrecision(12)));
  return found;
}

const scale = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);
const span = (values, margin = 0.06) => {
  const known = values.filter((value) => Number.isFinite(value));
  const low = Math.min(...known),
    high = Math.max(...known),
    extra = (high - low || Math.abs(high) || 1) * margin;
  return [low - extra, high + extra];
};
const tidy = (value) => Number(value.toPrecision(6)).toLocaleString("en");

function frame(width, height, label, box, x, y, xs, ys, xName, yName, xShow = tidy, yShow = tidy) {
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label });
  for (const at of xs)
    root.append(
      svg("line", { class: "grid", x1: x(at), x2: x(at), y1: box.top, y2: box.bottom }),
      svg("text", { x: x(at), y: box.bottom + 16, "text-anchor": "middle" }, xShow(at)),
    );
  for (const at of ys)
    root.append(
      svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y(at), y2: y(at) }),
      svg("text", { x: box.left - 6, y: y(at) + 4, "text-anchor": "end" }, yShow(at)),
    );
  root.append(
    svg("path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` }),
    svg("text", { x: (box.left + box.right) / 2, y: box.bottom + 34, "text-anchor": "middle" }, xName),
  );
  if (yName)
    root.append(
      svg(
        "text",
        { x: 0, y: 0, "text-anchor": "middle", transform: `translate(13 ${(box.top + box.bottom) / 2}) rotate(-90)` },
        yName,
      ),
    );
  return root;
}

/** Survival curves: [{name, times, survival, colour, dash}]. */
export function curves(series, unit, label) {
  const width = 340,
    height = 230,
    box = { left: 58, right: 330, top: 10, bottom: 185 };
  const last = Math.max(...series.flatMap((one) => one.times));
  const x = scale(0, last, box.left, box.right),
    y = scale(0, 1, box.bottom, box.top);
  const root = frame(
    width,
    height,
    label,
    box,
    x,
    y,
    ticks(0, last),
    [0, 0.25, 0.5, 0.75, 1],
    unit,
    "share alive",
    tidy,
    (at) => `${100 * at}%`,
  );
  for (const one of series) {
    const path = one.times
      .map((time, i) => `${i ? "L" : "M"}${x(time).toFixed(1)} ${y(one.survival[i]).toFixed(1)}`)
      .join("");
    root.append(svg("path", { class: `line c${one.colour} ${one.dash ? "dash" : ""}`, d: path }, title(one.name)));
  }
  return root;
}

/** Bars to both sides of zero: [{name, value}]. */
export function bars(rows, show, label) {
  const width = 340,
    line = 21,
    height = rows.length * line + 6,
    left = 150;
  const most = Math.max(...rows.map((row) => Math.abs(row.value)), 1e-9);
  const x = scale(-most, most, left + 42, width - 44);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label });
  rows.forEach((row, i) => {
    const y = i * line + 4,
      plus = row.value >= 0;
    root.append(
      svg(
        "text",
        { x: left - 4, y: y + 12, "text-anchor": "end", class: "strong" },
        row.name.length > 24 ? `${row.name.slice(0, 23)}…` : row.name,
        title(row.name),
      ),
      svg("rect", {
        class: plus ? "f0" : "f1",
        x: Math.min(x(0), x(row.value)),
        y,
        width: Math.max(Math.abs(x(row.value) - x(0)), 0.5),
        height: line - 7,
      }),
      svg(
        "text",
        { x: plus ? x(row.value) + 4 : x(row.value) - 4, y: y + 12, "text-anchor": plus ? "start" : "end" },
        show(row.value),
      ),
    );
  });
  root.append(svg("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: height }));
  return root;
}

/** A point: a circle, hollow where asked for, a square or a diamond. */
function mark(row, x, y, r, ...children) {
  const made = { class: row.hollow ? `hollow c${row.colour}` : `f${row.colour}` };
  if (row.mark === "square")
    return svg("rect", { ...made, x: x - 0.85 * r, y: y - 0.85 * r, width: 1.7 * r, height: 1.7 * r }, ...children);
  if (row.mark === "diamond")
    return svg(
      "path",
      { ...made, d: `M${x} ${y - 1.25 * r}L${x + 1.25 * r} ${y}L${x} ${y + 1.25 * r}L${x - 1.25 * r} ${y}z` },
      ...children,
    );
  return svg("circle", { ...made, cx: x, cy: y, r }, ...children);
}

/** Points with intervals: [{name, x, xLow, xHigh, y, yLow, yHigh, colour, hollow}]. */
export function points(rows, xName, yName, label) {
  const width = 560,
    height = 380,
    box = { left: 62, right: 545, top: 14, bottom: 325 };
  const known = (row, names) => names.map((name) => row[name]).filter((value) => Number.isFinite(value));
  const [xLow, xHigh] = span(
    rows.flatMap((row) => known(row, ["x", "xLow", "xHigh"])),
    0.1,
  );
  const [yLow, yHigh] = span(
    rows.flatMap((row) => known(row, ["y", "yLow", "yHigh"])),
    0.1,
  );
  const x = scale(xLow, xHigh, box.left, box.right),
    y = scale(yLow, yHigh, box.bottom, box.top);
  const root = frame(width, height, label, box, x, y, ticks(xLow, xHigh), ticks(yLow, yHigh), xName, yName);
  for (const row of rows) {
    const colour = `c${row.colour}`;
    if (Number.isFinite(row.xLow))
      root.append(
        svg("line", { class: `thin ${colour}`, x1: x(row.xLow), x2: x(row.xHigh), y1: y(row.y), y2: y(row.y) }),
      );
    if (Number.isFinite(row.yLow))
      root.append(
        svg("line", { class: `thin ${colour}`, x1: x(row.x), x2: x(row.x), y1: y(row.yLow), y2: y(row.yHigh) }),
      );
    root.append(mark(row, x(row.x), y(row.y), 5.5, title(row.about || row.name)));
  }
  return root;
}

/** Names and colours of points, below their chart. */
export function legend(rows) {
  const list = document.createElement("ul");
  list.className = "legend";
  for (const row of rows) {
    const item = document.createElement("li");
    item.append(svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, mark(row, 7, 7, 5)), row.name);
    list.append(item);
  }
  return list;
}

/** A forest plot: [{name, value, low, high, colour}], around zero. */
export function forest(rows, xName, show, label, zero = 0) {
  const width = 560,
    line = 26,
    top = 6,
    left = 190,
    bottom = top + rows.length * line,
    height = bottom + 42;
  const [low, high] = span([zero, ...rows.flatMap((row) => [row.value, row.low, row.high])], 0.08);
  const x = scale(low, high, left, width - 90);
  const box = { left, right: width - 90, top, bottom };
  const root = frame(width, height, label, box, x, () => 0, ticks(low, high), [], xName);
  root.append(svg("line", { class: "zero", x1: x(zero), x2: x(zero), y1: top, y2: bottom }));
  rows.forEach((row, i) => {
    const y = top + i * line + line / 2;
    root.append(
      svg(
        "text",
        { x: left - 8, y: y + 4, "text-anchor": "end", class: "strong" },
        row.name.length > 30 ? `${row.name.slice(0, 29)}…` : row.name,
        title(row.name),
      ),
    );
    if (Number.isFinite(row.low))
      root.append(svg("line", { class: `thin c${row.colour}`, x1: x(row.low), x2: x(row.high), y1: y, y2: y }));
    root.append(
      svg(
        "circle",
        { class: row.hollow ? `hollow c${row.colour}` : `f${row.colour}`, cx: x(row.value), cy: y, r: 4.5 },
        title(`${row.name}: ${show(row.value)}`),
      ),
    );
    if (Number.isFinite(row.mark))
      root.append(
        svg(
          "line",
          { class: "thin c7", x1: x(row.mark), x2: x(row.mark), y1: y - 7, y2: y + 7 },
          title("share of patients"),
        ),
      );
    root.append(svg("text", { x: width - 84, y: y + 4 }, show(row.value)));
  });
  return root;
}

/** Lines over time: [{name, x: [], y: [], colour}], y from 0 to 1. */
export function lines(series, xName, yName, label) {
  const width = 560,
    height = 300,
    box = { left: 62, right: 480, top: 10, bottom: 250 };
  const last = Math.max(...series.flatMap((one) => one.x));
  const x = scale(0, last, box.left, box.right),
    y = scale(0, 1, box.bottom, box.top);
  const root = frame(
    width,
    height,
    label,
    box,
    x,
    y,
    ticks(0, last),
    [0, 0.25, 0.5, 0.75, 1],
    xName,
    yName,
    tidy,
    (at) => `${100 * at}%`,
  );
  series.forEach((one, i) => {
    root.append(
      svg(
        "path",
        {
          class: `thin c${one.colour}`,
          d: one.x.map((at, j) => `${j ? "L" : "M"}${x(at).toFixed(1)} ${y(one.y[j]).toFixed(1)}`).join(""),
        },
        title(one.name),
      ),
      svg("line", { class: `line c${one.colour}`, x1: 490, x2: 506, y1: 18 + 18 * i, y2: 18 + 18 * i }),
      svg("text", { x: 511, y: 22 + 18 * i, class: "strong" }, one.name),
    );
  });
  return root;
}

/** Two rankings side by side: [{name, from, to}], the first `places` of each, and below them where the others of these are. */
export function slopes(rows, left, right, places) {
  const beyond = (of) =>
    rows
      .map((row) => row[of])
      .filter((place) => place > places)
      .sort((a, b) => a - b);
  const below = { from: beyond("from"), to: beyond("to") },
    more = Math.max(below.from.length, below.to.length);
  const width = 560,
    line = 22,
    top = 30,
    height = top + (places + (more ? more + 0.6 : 0)) * line + 8;
  const root = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "chart",
    role: "img",
    "aria-label": `Places by ${left} and by ${right}`,
  });
  root.append(
    svg("text", { x: 180, y: 16, "text-anchor": "end", class: "strong" }, left),
    svg("text", { x: 380, y: 16, class: "strong" }, right),
  );
  const y = (place, of) => top + (place <= places ? place - 0.5 : places + 1.1 + below[of].indexOf(place)) * line;
  if (more)
    root.append(
      svg("line", {
        class: "zero",
        x1: 20,
        x2: width - 20,
        y1: top + (places + 0.3) * line,
        y2: top + (places + 0.3) * line,
      }),
    );
  for (const row of rows) {
    const colour = row.to < row.from ? 2 : row.to > row.from ? 1 : 7;
    root.append(
      svg(
        "line",
        { class: `thin c${colour}`, x1: 190, x2: 370, y1: y(row.from, "from"), y2: y(row.to, "to") },
        title(`${row.name}: ${row.from} → ${row.to}`),
      ),
    );
    root.append(svg("text", { x: 180, y: y(row.from, "from") + 4, "text-anchor": "end" }, `${row.name} · ${row.from}`));
    root.append(svg("text", { x: 380, y: y(row.to, "to") + 4 }, `${row.to} · ${row.name}`));
  }
  return root;
}

export function chance(share, most) {
  const root = svg("svg", { viewBox: "0 0 74 12", class: "chance", "aria-hidden": "true" });
  root.append(
    svg("rect", { class: "track", width: 74, height: 12, rx: 3 }),
    svg("rect", { class: "f4", width: (74 * share) / (most || 1), height: 12, rx: 3 }),
  );
  return root;
}
