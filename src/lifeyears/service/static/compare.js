// Compare: a run's leaderboard, C-index against years, paired differences, positivity, subgroups.

import { forest, legend, lines, points } from "./charts.js";
import { by, call, dataTable, el, number, percent, show, signed, words } from "./page.js";

const MARKS = ["circle", "square", "diamond"];

export async function begin() {
  try {
    const run = await call("/api/run");
    show("compare-error", "");
    draw(run);
  } catch (error) {
    show("compare-error", error.message);
  }
}

const same = (one, other) => one.model === other.model && one.method === other.method;
/** The columns of an arm: its label for people, its keys for programs. */
const armColumns = (get, prefix = "") => [
  { name: `${prefix}arm`, label: prefix ? "against" : "model", get: (row) => get(row).label },
  { name: `${prefix}model`, hidden: true, get: (row) => get(row).model },
  { name: `${prefix}method`, hidden: true, get: (row) => get(row).method },
];
/** Arms of some rows, each once, in order. */
const distinct = (arms) => arms.filter((arm, i) => arms.findIndex((other) => same(arm, other)) === i);

function draw(run) {
  const unit = run.data.unit,
    board = run.leaderboard;
  const models = [...new Set(board.map((row) => row.arm.model))],
    methods = [...new Set(["none", ...board.map((row) => row.arm.method)])];
  const colour = (arm) => models.indexOf(arm.model) % 7,
    mark = (arm) => MARKS[methods.indexOf(arm.method) % MARKS.length];
  const place = by("compare-content");
  const drawn = board.filter((row) => !row.arm.oracle && row.c_index !== null),
    flat = (row) => Math.abs(row.c_index - 0.5) < 1e-9;
  const apart = drawn.filter((row) => !flat(row)).length > 1 ? drawn.filter(flat) : []; // who ranks nobody would squeeze the rest
  const dots = drawn
    .filter((row) => !apart.includes(row))
    .map((row) => ({
      name: row.arm.label,
      x: row.c_index,
      y: row.value.value,
      yLow: row.value.low,
      yHigh: row.value.high,
      colour: colour(row.arm),
      mark: mark(row.arm),
      about: `${row.arm.label}: C-index ${number(row.c_index, 3)}, ${number(row.value.value)} ${unit}`,
    }));
  by("compare-words").textContent =
    `Expected ${unit} per allocation to the top of a list of people of the past (in a registry of transplants: past recipients, each with their own donor). It is no forecast of one allocation.`;
  place.replaceChildren(
    ...notes(run, ["serious"]),
    el(
      "div",
      { class: "card" },
      el("h2", {}, "In a few sentences"),
      ...run.findings.filter((each) => each.severity === "answer").map((each) => el("p", {}, each.text)),
      el(
        "p",
        { class: "hint" },
        `${run.data.name}${run.data.simulated ? " (simulated)" : ""}: ${run.data.rows.toLocaleString("en")} rows, ${run.data.events.toLocaleString("en")} events. Lists of ${run.waitlist.used}, k = ${run.waitlist.k}. Intervals: ${run.intervals}.`,
      ),
    ),
    ...notes(run, ["warning", "note"]),
    dataTable(
      "Leaderboard",
      "leaderboard.csv",
      [
        ...armColumns((row) => row.arm),
        {
          name: "value",
          label: `${unit} per allocation`,
          number: true,
          get: (row) => row.value.value,
          show: (value) => number(value),
        },
        { name: "low", number: true, get: (row) => row.value.low, show: (value) => number(value) },
        { name: "high", number: true, get: (row) => row.value.high, show: (value) => number(value) },
        {
          name: "c_index",
          label: "C-index",
          number: true,
          get: (row) => row.c_index,
          show: (value) => number(value, 3),
        },
        {
          name: "gain",
          label: `gain over the model itself (${unit})`,
          number: true,
          get: (row) => row.gain?.value,
          show: (value) => (value === null || value === undefined ? "–" : signed(value)),
        },
        { name: "gain_low", label: "low", number: true, get: (row) => row.gain?.low, show: (value) => number(value) },
        {
          name: "gain_high",
          label: "high",
          number: true,
          get: (row) => row.gain?.high,
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
          "If the C-index decided, the point furthest to the right would be taken; the highest one gains most.",
          apart.length
            ? ` Left out, since it ranks nobody: ${apart.map((row) => `${row.arm.label} (C-index 0.5, ${number(row.value.value)} ${unit})`).join(", ")}.`
            : "",
        ),
        points(dots, "C-index", `${unit} per allocation`, `C-index against ${unit} per allocation`),
        legend(dots),
      ),
      differences(run, unit, colour),
    ),
    positivity(run),
    subgroups(run, colour),
  );
}

/** Findings of some severities, as in the report: serious ones must be known before the answer. */
function notes(run, severities) {
  return run.findings
    .filter((finding) => severities.includes(finding.severity))
    .map((finding) =>
      el(
        "div",
        { class: finding.severity === "note" ? "note" : "warning", role: "note" },
        el("strong", {}, `${finding.severity === "note" ? "Note" : "Warning"}: ${finding.title}. `),
        finding.text,
      ),
    );
}

function differences(run, unit, colour) {
  const arms = distinct(run.differences.flatMap((row) => [row.arm, row.other]));
  const of = (arm) =>
    run.differences
      .filter((row) => same(row.arm, arm) || same(row.other, arm))
      .map((row) =>
        same(row.arm, arm)
          ? { arm: row.other, value: -row.value, low: -row.high, high: -row.low, p: row.p }
          : { arm: row.arm, value: row.value, low: row.low, high: row.high, p: row.p },
      );
  const chart = el("div"),
    table = el("div");
  const select = el(
    "select",
    { id: "against" },
    arms.map((arm, i) => el("option", { value: i }, arm.label)),
  );
  select.value = Math.max(
    arms.findIndex((arm) => same(arm, run.best)),
    0,
  );
  const again = () => {
    const against = arms[Number(select.value)];
    if (!against) return;
    const found = of(against).sort((a, b) => b.value - a.value);
    chart.replaceChildren(
      forest(
        found.map((row) => ({ ...row, name: row.arm.label, colour: colour(row.arm) })),
        `${unit} per allocation, less those of ${against.label}`,
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
            ...armColumns((row) => row.arm),
            ...armColumns(() => against, "other_"),
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

function positivity(run) {
  const parts = [
    el("h2", {}, "Positivity: who could be followed to the horizon"),
    el("p", { class: "lines" }, run.support[0] || "This run does not hold a positivity check."),
  ];
  const clipped = Object.entries(run.counts)
    .map(([name, count]) => `${name}: ${count}`)
    .join(", ");
  if (clipped) parts.push(el("p", { class: "hint" }, `Weights and fits: ${clipped}.`));
  const right = [];
  if (run.follow_up)
    right.push(
      el(
        "div",
        { class: "card" },
        el("h2", {}, "Probability of still being followed, by entry"),
        lines(
          run.follow_up.curves
            .filter((_, i) => i < 7)
            .map((curve, i) => ({ name: curve.label, x: run.follow_up.times, y: curve.values, colour: i })),
          run.data.unit,
          "still followed",
          "Probability of still being followed",
        ),
      ),
    );
  const left = el("div", { class: "card" }, parts);
  const made = [el("div", { class: right.length ? "halves" : "" }, left, ...right)];
  if (run.positivity) {
    const { columns, rows } = run.positivity;
    made.push(
      dataTable(
        "Positivity, in numbers",
        "positivity.csv",
        columns.map((column, i) => ({
          name: column.key,
          label: column.heading,
          number: typeof rows[0][i] === "number",
          get: (row) => row[i],
          show: (value) =>
            typeof value === "number" ? number(value, Number.isInteger(value) ? 0 : 3) : String(value ?? "–"),
        })),
        rows,
      ),
    );
  }
  return el("div", {}, made);
}

function subgroups(run, colour) {
  const rows = run.subgroups;
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
    arms = distinct(rows.map((row) => row.arm));
  const question = el(
    "select",
    { id: "by" },
    questions.map((name) => el("option", { value: name }, name.replaceAll("_", " "))),
  );
  const which = el(
    "select",
    { id: "arm" },
    arms.map((arm, i) => el("option", { value: i }, arm.label)),
  );
  which.value = Math.max(
    arms.findIndex((arm) => same(arm, run.best)),
    0,
  );
  const place = el("div");
  const again = () => {
    const found = rows.filter((row) => row.by === question.value && same(row.arm, arms[Number(which.value)]));
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
              value: 100 * row.share_of_allocations,
              low: 100 * row.low,
              high: 100 * row.high,
              mark: 100 * row.share_of_patients,
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
              value: row.predicted_less_outcome,
              low: row.gap_low,
              high: row.gap_high,
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
          ...["share_of_patients", "share_of_allocations", "low", "high"].map((name) => ({
            name,
            label: words(name),
            number: true,
            get: (row) => row[name],
            show: (value) => percent(value),
          })),
          ...["predicted_less_outcome", "gap_low", "gap_high"].map((name) => ({
            name,
            label: words(name),
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
