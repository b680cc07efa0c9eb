// Compare: a run's leaderboard, C-index against years, paired differences, positivity, subgroups.

import { forest, legend, lines, points } from "./charts.js";
import { by, call, dataTable, el, number, percent, show, signed } from "./page.js";

// The report's words for the arms of a run.
const FRAMEWORKS = {
  standard: "is a model as it is",
  ranker: "has the paper's second stage on top",
  default: "has this software's preset of it on top",
};
const MARKS = { standard: "circle", ranker: "square", default: "diamond" };
const TRANSPLANTS = /^(registry|STAR )/;

export async function begin() {
  try {
    const run = await call("/api/run");
    show("compare-error", "");
    draw(run);
  } catch (error) {
    show("compare-error", error.message);
  }
}

/** pandas' orient="split" as objects. */
function rowsOf(table) {
  return table ? table.data.map((row) => Object.fromEntries(table.columns.map((name, i) => [name, row[i]]))) : [];
}

function draw(run) {
  const tables = Object.fromEntries(Object.entries(run.tables).map(([name, table]) => [name, rowsOf(table)]));
  const unit = run.data.unit,
    arm = (row) => `${row.model} ${row.framework}`;
  const board = tables.years.slice().sort((a, b) => b.years - a.years);
  const bases = [...new Set(tables.years.map((row) => row.model))];
  const colour = (name) => bases.indexOf(name.split(" ")[0]) % 7;
  const place = by("compare-content"),
    frameworks = Object.keys(FRAMEWORKS).filter((name) => board.some((row) => row.framework === name));
  const drawn = board.filter((row) => row.model !== "truth" && row["C-index"] !== null),
    flat = (row) => Math.abs(row["C-index"] - 0.5) < 1e-9;
  const apart = drawn.filter((row) => !flat(row)).length > 1 ? drawn.filter(flat) : []; // who ranks nobody would squeeze the rest
  const dots = drawn
    .filter((row) => !apart.includes(row))
    .map((row) => ({
      name: arm(row),
      x: row["C-index"],
      y: row.years,
      yLow: row.low,
      yHigh: row.high,
      colour: colour(row.model),
      mark: MARKS[row.framework] || "circle",
      about: `${arm(row)}: C-index ${number(row["C-index"], 3)}, ${number(row.years)} ${unit}`,
    }));
  const who = TRANSPLANTS.test(run.data.name)
    ? "past recipients, each with their own donor. It is no forecast of a match run."
    : "people of the past. It is no forecast of one allocation.";
  by("compare-words").textContent =
    `${unit[0].toUpperCase()}${unit.slice(1)} per allocation: the expected ${unit} of the top pick among ${who}`;
  place.replaceChildren(
    ...warnings(run, true),
    el(
      "div",
      { class: "card" },
      el("h2", {}, "In a few sentences"),
      el("p", {}, run.reading),
      el(
        "p",
        { class: "hint" },
        `${run.data.name}${run.data.simulated ? " (simulated)" : ""}: ${run.data.rows.toLocaleString("en")} rows, ${run.data.events.toLocaleString("en")} events. Lists of ${run.waitlist.used}, k = ${run.waitlist.k}. Intervals: ${run.intervals}.`,
      ),
      el("p", { class: "hint" }, `${frameworks.map((name) => `“${name}” ${FRAMEWORKS[name]}`).join("; ")}.`),
    ),
    ...warnings(run, false),
    dataTable(
      "Leaderboard",
      "leaderboard.csv",
      [
        { name: "model", get: (row) => row.model },
        { name: "framework", get: (row) => row.framework },
        {
          name: "years",
          label: `${unit} per allocation`,
          number: true,
          get: (row) => row.years,
          show: (value) => number(value),
        },
        { name: "low", number: true, get: (row) => row.low, show: (value) => number(value) },
        { name: "high", number: true, get: (row) => row.high, show: (value) => number(value) },
        {
          name: "c_index",
          label: "C-index",
          number: true,
          get: (row) => row["C-index"],
          show: (value) => number(value, 3),
        },
        {
          name: "gain",
          label: "gain over standard",
          number: true,
          get: (row) => row.gain,
          show: (value) => (value === null || value === undefined ? "–" : signed(value)),
        },
        { name: "gain_low", label: "low", number: true, get: (row) => row["gain low"], show: (value) => number(value) },
        {
          name: "gain_high",
          label: "high",
          number: true,
          get: (row) => row["gain high"],
          show: (value) => number(value),
        },
        {
          name: "p",
          number: true,
          get: (row) => row.p,
          show: (value) => (value === null || value === undefined ? "–" : value < 0.001 ? "<0.001" : number(value, 3)),
        },
      ],
      board,
    ),
    el(
      "div",
      { class: "halves" },
      el(
        "div",
        { class: "card" },
        el("h2", {}, `C-index against ${unit} per allocation`),
        el(
          "p",
          { class: "hint" },
          "If C-index decided, the point furthest to the right would be taken; the highest one gains most.",
          apart.length
            ? ` Left out, since it ranks nobody: ${apart.map((row) => `${arm(row)} (C-index 0.5, ${number(row.years)} ${unit})`).join(", ")}.`
            : "",
        ),
        points(dots, "C-index", `${unit} per allocation`, "C-index against years per allocation"),
        legend(dots),
      ),
      differences(tables.comparison, run, unit, colour),
    ),
    positivity(tables, run),
    subgroups(tables.subgroups || [], run, colour),
  );
}

/** What must be known before the answer, or else after it, as in the report. */
function warnings(run, serious) {
  return (run.warnings || [])
    .filter((warning) => Boolean(warning.serious) === serious)
    .map((warning) =>
      el(
        "div",
        { class: serious ? "warning" : "note", role: "note" },
        el("strong", {}, `${serious ? "Warning" : "Note"}: ${warning.title}. `),
        warning.text,
      ),
    );
}

function differences(rows, run, unit, colour) {
  const names = [...new Set(rows.flatMap((row) => [row.model, row.other]))];
  const of = (name) =>
    rows
      .filter((row) => row.model === name || row.other === name)
      .map((row) =>
        row.model === name
          ? { name: row.other, value: -row.value, low: -row.high, high: -row.low, p: row.p }
          : { name: row.model, value: row.value, low: row.low, high: row.high, p: row.p },
      );
  const chart = el("div"),
    table = el("div");
  const select = el(
    "select",
    { id: "against" },
    names.map((name) => el("option", { value: name }, name)),
  );
  select.value = names.includes(run.best) ? run.best : names[0];
  const again = () => {
    const found = of(select.value).sort((a, b) => b.value - a.value);
    chart.replaceChildren(
      forest(
        found.map((row) => ({ ...row, colour: colour(row.name) })),
        `${unit} per allocation, less those of ${select.value}`,
        (value) => signed(value),
        "Paired differences",
      ),
    );
    table.replaceChildren(
      el(
        "details",
        {},
        el("summary", {}, "As a table"),
        dataTable(
          "Paired differences",
          "differences.csv",
          [
            { name: "model", get: (row) => row.name },
            { name: "against", get: () => select.value },
            ...["value", "low", "high"].map((name) => ({
              name,
              number: true,
              get: (row) => row[name],
              show: (value) => signed(value),
            })),
            { name: "p", number: true, get: (row) => row.p, show: (value) => number(value, 3) },
          ],
          found,
        ),
      ),
    );
  };
  select.addEventListener("change", again);
  again();
  return el(
    "div",
    { class: "card" },
    el("h2", {}, "Paired differences"),
    el("label", { for: "against" }, "Against"),
    select,
    chart,
    table,
  );
}

function positivity(tables, run) {
  const rows = tables.positivity || [],
    support = run.support;
  const said = support ? Object.values(support.words)[0].split("\n")[0] : null;
  const parts = [
    el("h2", {}, "Positivity: who could be followed to the horizon"),
    el("p", {}, said || "This run does not hold a positivity check."),
  ];
  const clipped = Object.entries(run.counts || {})
    .map(([name, many]) => `${name}: ${many}`)
    .join(", ");
  if (clipped) parts.push(el("p", { class: "hint" }, `Weights ${clipped}.`));
  const shown = tables.positivity_curves;
  const right = [];
  if (shown?.length) {
    const names = Object.keys(shown[0])
      .filter((name) => name !== "time")
      .slice(0, 7);
    right.push(
      el(
        "div",
        { class: "card" },
        el("h2", {}, "Chance of still being followed, by entry"),
        lines(
          names.map((name, i) => ({
            name,
            x: shown.map((row) => row.time),
            y: shown.map((row) => row[name]),
            colour: i,
          })),
          run.data.unit,
          "still followed",
          "Chance of still being followed",
        ),
      ),
    );
  }
  const left = el("div", { class: "card" }, parts);
  const made = [el("div", { class: right.length ? "halves" : "" }, left, ...right)];
  if (rows.length)
    made.push(
      dataTable(
        "Positivity, in numbers",
        "positivity.csv",
        Object.keys(rows[0]).map((name) => ({
          name,
          number: typeof rows[0][name] === "number",
          get: (row) => row[name],
          show: (value) =>
            typeof value === "number" ? number(value, Number.isInteger(value) ? 0 : 3) : String(value ?? "–"),
        })),
        rows,
      ),
    );
  return el("div", {}, made);
}

function subgroups(rows, run, colour) {
  if (!rows.length)
    return el(
      "div",
      { class: "card" },
      el("h2", {}, "Subgroups"),
      el(
        "p",
        {},
        "No subgroup is known, or none has thirty patients or more. Columns are known by their names: age, sex, race or ethnicity, insurance, region, blood group, centre, and the time of entry. Others can be named: lifeyears compare … --subgroups.",
      ),
    );
  const questions = [...new Set(rows.map((row) => row.by))],
    arms = [...new Set(rows.map((row) => row.arm))];
  const question = el(
    "select",
    { id: "by" },
    questions.map((name) => el("option", { value: name }, name.replaceAll("_", " "))),
  );
  const which = el(
    "select",
    { id: "arm" },
    arms.map((name) => el("option", { value: name }, name)),
  );
  if (arms.includes(run.best)) which.value = run.best;
  const place = el("div");
  const again = () => {
    const found = rows.filter((row) => row.by === question.value && row.arm === which.value);
    place.replaceChildren(
      el(
        "div",
        { class: "halves" },
        el(
          "div",
          {},
          el("h3", {}, "Share of allocations (bar: share of patients)"),
          forest(
            found.map((row) => ({
              name: `${row.group} (${row.patients.toLocaleString("en")})`,
              value: 100 * row["share of allocations"],
              low: 100 * row.low,
              high: 100 * row.high,
              mark: 100 * row["share of patients"],
              colour: colour(row.arm),
            })),
            "%",
            (value) => `${number(value, 1)}%`,
            "Share of allocations by subgroup",
          ),
        ),
        el(
          "div",
          {},
          el("h3", {}, "Predicted less outcome"),
          forest(
            found.map((row) => ({
              name: row.group,
              value: row["predicted less outcome"],
              low: row["gap low"],
              high: row["gap high"],
              colour: colour(row.arm),
            })),
            run.data.unit,
            (value) => signed(value, 2),
            "Calibration by subgroup",
          ),
        ),
      ),
      dataTable(
        "Subgroups, in numbers",
        "subgroups.csv",
        [
          { name: "group", get: (row) => row.group },
          { name: "patients", number: true, get: (row) => row.patients },
          ...["share of patients", "share of allocations", "low", "high"].map((name) => ({
            name,
            number: true,
            get: (row) => row[name],
            show: (value) => percent(value),
          })),
          ...["predicted less outcome", "gap low", "gap high"].map((name) => ({
            name,
            number: true,
            get: (row) => row[name],
            show: (value) => signed(value, 2),
          })),
        ],
        found,
        "Groups of fewer than thirty patients are left out.",
      ),
    );
  };
  question.addEventListener("change", again);
  which.addEventListener("change", again);
  again();
  return el(
    "div",
    { class: "card" },
    el("h2", {}, "Subgroups"),
    el(
      "div",
      { class: "halves" },
      el("div", {}, el("label", { for: "by" }, "By"), question),
      el("div", {}, el("label", { for: "arm" }, "Of"), which),
    ),
    place,
  );
}
