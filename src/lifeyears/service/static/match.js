// Match run: candidates of one organ, ranked, with reasons, curves, chances and the bound.

import { bars, chance, curves, slopes } from "./charts.js";
import {
  by,
  call,
  copy,
  csv,
  download,
  el,
  number,
  percent,
  readCsv,
  readNumbers,
  say,
  show,
  signed,
  words,
} from "./page.js";

const SHOWN = 60,
  PLACES = 12;
const state = {
  models: [],
  described: {},
  sample: null,
  rows: null,
  file: null,
  labels: [],
  from: "",
  donor: {},
  ranked: {},
  model: null,
  other: null,
  shown: SHOWN,
  one: null,
  seen: new Map(),
};
// Answers come later, and not always in order: each is taken only if nothing newer of its kind was asked for.
const turns = { list: 0, donor: 0, rank: 0 };
const turn = (kind) => {
  const mine = ++turns[kind];
  return () => mine === turns[kind];
};

const described = async (name) =>
  (state.described[name] ??= await call(`/api/model?model=${encodeURIComponent(name)}`));
const chosen = () => by("model").value;
const title = (model) => state.models.find((each) => each.model === model).name;
const main = () => state.described[chosen()];
const shownCard = () => state.described[state.model].card; // of the model by which the list on the page is ranked
const unit = () => shownCard().data.unit;
const k = () => Number(by("k").value);

let resolveOpened;
const opened = new Promise((resolve) => {
  resolveOpened = resolve;
}); // once a model is known; what is clicked before waits for it
wire();

export async function begin() {
  try {
    const first = await call("/api/model");
    state.models = first.models;
    state.described[first.model] = first;
    const options = () => first.models.map((one) => el("option", { value: one.model }, one.name));
    by("model").replaceChildren(...options());
    by("other").replaceChildren(el("option", { value: "" }, "nothing"), ...options());
    by("model").value = first.model;
    show("match-error", "");
    showModel();
    resolveOpened();
    await rank();
  } catch (error) {
    show("match-error", error.message);
  }
}

function wire() {
  by("load-sample").addEventListener("click", () => opened.then(loadSample));
  by("upload").addEventListener("change", () =>
    opened.then(() => by("upload").files.length && upload(by("upload").files[0])),
  );
  document.querySelector("label[for=upload]").addEventListener("keydown", (event) => {
    if (event.key === "Enter") by("upload").click();
  });
  by("model").addEventListener("change", pickModel);
  by("other").addEventListener("change", rank);
  by("join").addEventListener("change", rank);
  const ranked = (action) => () => {
    if (state.model) action();
  }; // not while a list waits to be ranked
  by("k").addEventListener(
    "input",
    ranked(() => {
      showChances();
      showMovers();
    }),
  );
  by("donor").addEventListener("change", () => pickDonor(Number(by("donor").value), {}));
  by("donor-form").addEventListener("submit", (event) => {
    event.preventDefault();
    opened.then(() => pickDonor(Number(by("donor").value || 0), filledIn()));
  });
  by("more").addEventListener(
    "click",
    ranked(() => {
      state.shown += 400;
      showTable();
    }),
  );
  by("copy-ranked").addEventListener(
    "click",
    ranked(() => copy(rankedCsv())),
  );
  by("save-ranked").addEventListener(
    "click",
    ranked(() => download("ranked.csv", rankedCsv())),
  );
  by("copy-movers").addEventListener(
    "click",
    ranked(() => copy(moversCsv())),
  );
  by("save-movers").addEventListener(
    "click",
    ranked(() => download("movers.csv", moversCsv())),
  );
  by("save-person").addEventListener("click", () => download(`candidate-${state.one + 1}.csv`, personCsv()));
}

function showModel() {
  const { card, schema } = main();
  by("match-estimates").textContent = `${card.estimates} No forecast for one patient.`;
  const facts = [
    ["Data", `${card.data.name}${card.data.simulated ? " (simulated)" : ""}`],
    ["Rows", card.data.rows.toLocaleString("en")],
    ["Events", `${card.data.events.toLocaleString("en")} (${number(card.data.censored_percent, 0)}% censored)`],
    ["Horizon", `${number(card.horizon.tau, 1)} ${card.data.unit}`],
    ["Model", card.model.label],
  ];
  const metrics = card.metrics;
  if (metrics) {
    const range = (one, digits) =>
      `${number(one.value, digits)} (${number(one.low, digits)} to ${number(one.high, digits)})`;
    facts.push(
      ["C-index", range(metrics.c_index, 3)],
      ["Top pick", `${range(metrics.value, 1)} ${card.data.unit}`],
      ["At random", `${range(metrics.at_random, 1)} ${card.data.unit}`],
    );
  }
  by("card").replaceChildren(
    el(
      "dl",
      {},
      facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
    ),
    el("p", { class: "hint" }, card.horizon.reading),
    el(
      "ul",
      {},
      card.limits.map((limit) => el("li", {}, limit)),
    ),
    el(
      "button",
      {
        type: "button",
        onclick: () =>
          download(
            "columns.csv",
            csv(
              ["name", "kind", "role", "low", "high", "categories"],
              schema.columns.map((one) => [
                one.name,
                one.kind,
                one.role,
                one.low,
                one.high,
                (one.categories || []).join(" | "),
              ]),
            ),
          ),
      },
      "Columns as CSV",
    ),
  );
  by("donor-card").hidden = schema.donor.length === 0;
  showDonorFields();
}

function showDonorFields() {
  const columns = main().schema.columns.filter((column) => column.role === "donor");
  by("donor-fields").replaceChildren(
    ...columns.map((column) => {
      const id = `donor-${column.name}`,
        value = state.donor[column.name];
      const label = el("label", { for: id }, words(column.name.replace(/^donor_/, "")));
      if (column.kind === "category") {
        const select = el(
          "select",
          { id, name: column.name },
          el("option", { value: "" }, "not known"),
          column.categories.map((one) => el("option", { value: one }, one)),
        );
        select.value = value ?? "";
        return el("div", {}, label, select);
      }
      const range = column.low === undefined ? "" : `${column.low} to ${column.high}`;
      return el(
        "div",
        {},
        label,
        el("input", {
          id,
          name: column.name,
          type: "text",
          inputmode: "decimal",
          placeholder: range,
          value: value ?? "",
        }),
      );
    }),
  );
}

function filledIn() {
  const found = {};
  for (const column of main().schema.columns.filter((one) => one.role === "donor")) {
    const text = by(`donor-${column.name}`).value.trim();
    found[column.name] =
      text === "" ? null : column.kind === "number" && Number.isFinite(Number(text)) ? Number(text) : text;
  }
  return found;
}

const donorWords = (donor, i) =>
  [
    `Donor ${i + 1}`,
    donor.donor_age !== undefined && donor.donor_age !== null ? `${donor.donor_age} years` : null,
    donor.donor_sex,
    donor.donor_blood_group ? `group ${donor.donor_blood_group}` : null,
  ]
    .filter(Boolean)
    .join(", ");

async function pickModel() {
  const name = chosen();
  show("match-error", "");
  try {
    await described(name);
    if (name !== chosen()) return;
    showModel();
    await rank();
  } catch (error) {
    show("match-error", error.message);
  }
}

async function loadSample() {
  const latest = turn("list"),
    sameDonor = turn("donor");
  try {
    show("match-error", "");
    const sample = await call(`/api/sample?model=${encodeURIComponent(chosen())}`);
    if (!latest()) return;
    state.sample = sample;
    by("donor").replaceChildren(
      ...state.sample.donors.map((donor, i) => el("option", { value: i }, donorWords(donor, i))),
    );
    by("join").checked = true;
    take(state.sample.candidates, null, null, `Sample: ${state.sample.kind}.`);
    if (sameDonor()) state.donor = state.sample.donor;
    showDonorFields();
    await rank();
  } catch (error) {
    if (latest()) show("match-error", error.message);
  }
}

async function pickDonor(which, changes) {
  const latest = turn("donor"),
    before = by("join").checked;
  by("join").checked = true; // at once: who unchecks it while the answer is on its way means it
  try {
    show("match-error", "");
    if (!state.sample) state.sample = await call(`/api/sample?model=${encodeURIComponent(chosen())}`);
    const found = await call("/api/sample", { donor: which, changes, model: chosen() });
    if (!latest()) return;
    state.donor = found.donor;
    if (!state.file && state.rows) take(found.candidates, null, null, `Sample: ${state.sample.kind}.`);
    showDonorFields();
    if (state.rows) await rank();
    else say("The donor will be used for the candidates you load.");
  } catch (error) {
    if (!latest()) return;
    by("join").checked &&= before;
    show("match-error", error.message);
  }
}

function take(rows, labels, file, from) {
  turn("rank"); // what is on its way is of the list before
  Object.assign(state, { rows, labels, file, from, shown: SHOWN, one: null, ranked: {}, model: null });
  state.seen.clear();
  by("source").textContent = `${counted()} ${from}`;
}

const counted = () => `${state.rows.length.toLocaleString("en")} candidate${state.rows.length === 1 ? "" : "s"}.`;

async function upload(given) {
  const latest = turn("list");
  turn("rank");
  show("match-error", "");
  by("match-results").hidden = true;
  by("match-empty").hidden = false;
  Object.assign(state, { rows: null, labels: null, file: null, from: "", ranked: {}, model: null, one: null });
  by("source").textContent = "";
  try {
    if (given.size > 30e6) throw new Error("The file is larger than 30 MB: send fewer candidates at once.");
    const bytes = await given.arrayBuffer();
    if (!latest()) return;
    const file = readCsv(decoded(bytes)),
      { names, rows } = file;
    rows.forEach((cells, place) => {
      cells.place = place;
    });
    const known = new Set(main().schema.columns.map((column) => column.name));
    const id = names.findIndex((name) => !known.has(name) && /^(id|name|patient.*|candidate.*|.*_id)$/i.test(name));
    by("join").checked =
      !main().schema.donor.some((name) => names.includes(name)) && Object.keys(state.donor).length > 0;
    take(rows, id >= 0 ? rows.map((cells) => cells[id]) : null, file, `From ${given.name}.`);
    await rank();
  } catch (error) {
    show("match-error", error.message);
  } finally {
    by("upload").value = "";
  }
}

function decoded(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

const MISSING =
  /^(|\.|\?|NA|N\/A|n\/a|#N\/A|-?NaN|-?nan|NAN|NULL|null|<NA>|#DIV\/0!|#REF!|#VALUE!|#NUM!|#NAME\?|#NULL!)$/; // as `lifeyears rank` reads them

/** Rows for a model: of a file, the columns that it knows, read as its kinds; a column is read whole, as one decimal mark holds for all of it. */
function rowsFor(model, rows) {
  if (!state.file) return rows;
  const kinds = new Map(state.described[model].schema.columns.map((column) => [column.name, column.kind]));
  state.file.read ??= {};
  state.file.read[model] ??= state.file.names.map((name, j) => {
    if (!kinds.has(name)) return null;
    const texts = state.file.rows.map((cells) => (MISSING.test(cells[j].trim()) ? null : cells[j].trim()));
    return kinds.get(name) === "number" ? readNumbers(texts) : texts;
  });
  const columns = state.file.names.map((name, j) => [name, state.file.read[model][j]]).filter(([, values]) => values);
  return rows.map((cells) => Object.fromEntries(columns.map(([name, values]) => [name, values[cells.place]])));
}

const label = (row) => state.labels?.[row] || `Candidate ${row + 1}`;

const joined = () => by("join").checked && Object.keys(state.donor).length > 0;

function request(model, rows = state.rows) {
  const content = { candidates: rowsFor(model, rows), model };
  if (joined()) {
    const known = new Set(state.described[model].schema.columns.map((column) => column.name));
    content.donor = Object.fromEntries(Object.entries(state.donor).filter(([name]) => known.has(name)));
  }
  return content;
}

async function rank() {
  if (!state.rows) return;
  const latest = turn("rank"),
    model = chosen(),
    other = by("other").value;
  show("match-error", "");
  state.seen.clear();
  try {
    const found = {};
    let beside = "";
    await described(model);
    found[model] = await call("/api/rank", { ...request(model), k: Math.max(1, k()) });
    if (other && other !== model) {
      try {
        await described(other);
        found[other] = await call("/api/rank", { ...request(other), k: Math.max(1, k()) });
      } catch (error) {
        beside = `${title(other)} cannot rank these candidates. ${error.code === "missing_column" ? `It was trained with a column that they do not have: ${error.column}` : problem(error)}.`;
      }
    }
    if (!latest()) return;
    state.seen.clear(); // explanations asked for meanwhile are of the list before
    Object.assign(state, { ranked: found, model, other: other !== model && found[other] ? other : null });
    show("other-note", beside);
    show("donor-note", stale());
    by("k").max = Math.min(20, state.rows.length);
    by("match-empty").hidden = true;
    by("match-results").hidden = false;
    by("source").textContent = `${counted()} ${state.from}`;
    showChances();
    showMovers();
    point(found[model].ranked[0].row);
  } catch (error) {
    if (!latest()) return;
    by("match-results").hidden = true;
    by("match-empty").hidden = true; // there are candidates, and the message says why they are not ranked
    by("source").textContent = `${counted()} ${state.from} Not ranked: see the message.`;
    show("match-error", problem(error));
  }
}

/** What to say of columns that describe donor and candidate together, when another donor is joined to a file. */
function stale() {
  if (!state.file || !joined()) return "";
  const pair = (state.sample?.pair || []).filter((name) => state.file.names.includes(name));
  return pair.length
    ? `What your file says of donor and candidate together is not worked out anew for this donor: ${pair.map(words).join(", ")}. Change these columns in the file.`
    : "If columns of your file describe donor and candidate together (a blood match, say), they are not worked out anew for this donor: change them in the file.";
}

/** The message with the row as people count it, and the line of their file. */
function problem(error) {
  if (error.row === undefined)
    return error.column ? `Column ${error.column}: ${error.message.replace(/^.*?column [^:]*: /, "")}` : error.message;
  const line = state.file ? ` (line ${state.file.lines[error.row]} of the file)` : "";
  return `Row ${error.row + 1}${line}, column ${error.column}: ${error.message.replace(/^candidates\[\d+\](, column [^:]*)?: /, "")}`;
}

/** Algorithm 1: rank i ≤ k is drawn with w_i / W_k, w_i = 1/log2(i + 1); equals share. */
export function chances(years, places) {
  const most = Math.min(places, years.length),
    weights = years.map((_, i) => (i < most ? 1 / Math.log2(i + 2) : 0));
  const total = weights.reduce((sum, one) => sum + one, 0),
    found = weights.map((one) => one / total);
  for (let i = 0; i < years.length;) {
    let j = i + 1;
    while (j < years.length && years[j] === years[i]) j++;
    const shared = found.slice(i, j).reduce((sum, one) => sum + one, 0) / (j - i);
    found.fill(shared, i, j);
    i = j;
  }
  return found;
}

function showChances() {
  const { ranked } = state.ranked[state.model],
    among = k();
  const shares = chances(
    ranked.map((row) => row.years),
    among,
  );
  ranked.forEach((row, i) => {
    row.probability = shares[i];
  });
  by("k-shown").textContent = among;
  const expected = ranked.reduce((sum, row) => sum + row.probability * row.years, 0);
  const bound = shownCard().bounds.find((one) => one.k === among);
  by("k-words").textContent =
    among === 1
      ? "The first is chosen."
      : `One of the first ${among} is drawn, the first with a chance of ${percent(ranked[0].probability, 0)}, the last of them with ${percent(shares[among - 1] ?? 0, 0)}.`;
  if (bound)
    by("k-words").textContent +=
      ` Plug-in bound: the draw gains at least ${percent(bound.bound, 0)} (${percent(bound.low, 0)} to ${percent(bound.high, 0)}) of what the best choice would, if NDCG@${among} is ${number(bound.ndcg, 2)}, as estimated on held-out rows in lists of ${shownCard().metrics.waitlist}; an estimate of a guarantee, not a guarantee.`;
  const tile = (value, text) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, text));
  by("tiles").replaceChildren(
    tile(ranked.length.toLocaleString("en"), "candidates"),
    tile(`${number(ranked[0].years, 1)} ${unit()}`, `expected for ${label(ranked[0].row)}`),
    tile(`${number(expected, 1)} ${unit()}`, `expected of the draw among the first ${among}`),
  );
  showTable();
}

const places = (model) => new Map(state.ranked[model].ranked.map((row) => [row.row, row]));

function showTable() {
  const found = state.ranked[state.model],
    { ranked } = found,
    beside = state.other && places(state.other);
  const top = Math.max(...ranked.map((row) => row.probability));
  const table = by("ranked");
  table.tHead.replaceChildren(
    el(
      "tr",
      {},
      el("th", { class: "n", scope: "col" }, "Rank"),
      el("th", { scope: "col" }, `Candidate, and why (${unit()})`),
      el("th", { class: "n", scope: "col" }, `Expected ${unit()}`),
      el("th", { scope: "col", class: "n wideonly" }, "95% interval"),
      el("th", { scope: "col" }, "Chance to be drawn"),
      beside ? el("th", { class: "n", scope: "col" }, "Beside it") : null,
    ),
  );
  table.tBodies[0].replaceChildren(
    ...ranked.slice(0, state.shown).map((row) => {
      const reasons = row.reasons
        .slice(0, 3)
        .flatMap((one, i) => [
          i ? ", " : "",
          `${words(one.feature)} `,
          el("span", { class: one.years >= 0 ? "plus" : "minus" }, signed(one.years, 1)),
        ]);
      const cells = [
        el("td", { class: "n" }, String(row.rank)),
        el("td", {}, label(row.row), el("span", { class: "why" }, reasons)),
        el("td", { class: "n" }, number(row.years, 1), el("span", { class: "why narrowonly" }, range(row))),
        el("td", { class: "n wideonly" }, range(row)),
        el(
          "td",
          { class: "close" },
          chance(row.probability, top),
          " ",
          row.probability ? percent(row.probability, 0) : "–",
        ),
      ];
      if (beside) cells.push(el("td", { class: "n" }, moved(row.rank, beside.get(row.row).rank)));
      const line = el(
        "tr",
        {
          tabindex: row.rank === 1 ? "0" : "-1",
          "data-row": row.row,
          class: row.probability > 0 ? "drawn" : null,
          "aria-selected": row.row === state.one ? "true" : "false",
        },
        cells,
      );
      line.addEventListener("mouseenter", () => point(row.row));
      line.addEventListener("focus", () => point(row.row));
      line.addEventListener("click", () => point(row.row));
      line.addEventListener("keydown", arrows);
      return line;
    }),
  );
  by("more").hidden = ranked.length <= state.shown;
  const outside = Object.keys(found.outside);
  by("ranked-notes").textContent = [
    "Intervals, 95%: of the mean of held-out people with like predictions; not a range for one person. Marked rows can be drawn by Algorithm 1.",
    outside.length
      ? `Far from what training saw, so extrapolated: ${outside.slice(0, 6).map(words).join(", ")}${outside.length > 6 ? ` and ${outside.length - 6} more` : ""}.`
      : "",
  ].join(" ");
}

const range = (row) => (row.low === undefined ? "–" : `${number(row.low, 1)} to ${number(row.high, 1)}`);

const moved = (here, there) =>
  there < here
    ? el("span", { class: "up" }, `${there} ▲`)
    : there > here
      ? el("span", { class: "down" }, `${there} ▼`)
      : el("span", { class: "same" }, `${there} =`);

function arrows(event) {
  const go = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling", Home: "first", End: "last" }[
    event.key
  ];
  if (!go) return;
  event.preventDefault();
  const body = event.currentTarget.parentElement;
  const next =
    go === "first" ? body.firstElementChild : go === "last" ? body.lastElementChild : event.currentTarget[go];
  if (!next) return;
  event.currentTarget.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

let soon;
function point(row) {
  if (state.one === row && state.seen.has(row)) return;
  state.one = row;
  for (const line of by("ranked").tBodies[0].rows)
    line.setAttribute("aria-selected", String(Number(line.dataset.row) === row));
  clearTimeout(soon);
  soon = setTimeout(() => explain(row), 110);
}

async function explain(row) {
  if (!state.model) return; // a list waits to be ranked, and then points by itself
  const mine = state.ranked;
  try {
    if (!state.seen.has(row)) {
      const found = {};
      for (const model of Object.keys(state.ranked))
        found[model] = await call("/api/explain", request(model, [state.rows[row]]));
      if (mine !== state.ranked) return;
      state.seen.set(row, found);
    }
    if (state.one === row) showPerson(row);
  } catch (error) {
    by("person-hint").textContent = error.message;
  }
}

function showPerson(row) {
  const found = state.seen.get(row),
    models = Object.keys(found),
    one = found[state.model].explained[0];
  by("person-title").textContent = label(row);
  const interval =
    one.low === undefined ? "" : ` (${number(one.low, 1)} to ${number(one.high, 1)} for people like this)`;
  by("person-hint").textContent =
    `${number(one.years, 1)} ${unit()} expected${interval}; ${number(one.typical, 1)} for anybody. Survival curve${models.length > 1 ? `: ${title(models[0])} solid, ${title(models[1])} dashed` : ""}.`;
  by("curve").replaceChildren(
    curves(
      models.map((model, i) => ({
        name: title(model),
        times: found[model].times,
        survival: found[model].explained[0].survival,
        colour: i,
        dash: i > 0,
      })),
      unit(),
      `Survival curve of ${label(row)}`,
    ),
  );
  const reasons = one.reasons.slice(0, 8),
    rest = one.reasons.slice(8).reduce((sum, each) => sum + each.years, 0);
  by("reasons-title").hidden = false;
  by("reasons").replaceChildren(
    bars(
      [
        ...reasons.map((each) => ({ name: words(each.feature), value: each.years })),
        { name: "all others", value: rest },
      ],
      (value) => signed(value, 2),
      `Contributions of features for ${label(row)}`,
    ),
  );
  by("save-person").hidden = false;
}

function personCsv() {
  const found = state.seen.get(state.one),
    one = found[state.model].explained[0];
  const curve = found[state.model].times.map((time, i) => ["survival", time, one.survival[i]]);
  return csv(
    ["what", "name", "value"],
    [
      ["years", "", one.years],
      ["typical", "", one.typical],
      ...one.reasons.map((each) => ["reason", each.feature, each.years]),
      ...curve,
    ],
  );
}

function showMovers() {
  const { other } = state;
  by("movers-card").hidden = !other;
  if (!other) return;
  const rows = movers(),
    top = Math.min(PLACES, rows.length),
    at = k();
  const out = rows.filter((row) => row.from <= at && row.to > at).length;
  by("movers-words").textContent =
    `Of the first ${Math.min(at, rows.length)} by ${title(state.model)}, ${out} are not among the first ${Math.min(at, rows.length)} by ${title(other)}.`;
  by("movers-chart").replaceChildren(
    slopes(
      rows.filter((row) => row.from <= top || row.to <= top).map((row) => ({ ...row, name: label(row.row) })),
      title(state.model),
      title(other),
      top,
    ),
  );
  const table = by("movers");
  table.tHead.replaceChildren(
    el(
      "tr",
      {},
      ["Candidate", title(state.model), title(other), "Places", `${unit()} here`, `${unit()} there`].map((text, i) =>
        el("th", { class: i ? "n" : null, scope: "col" }, text),
      ),
    ),
  );
  const furthest = [...rows].sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from)).slice(0, 10);
  table.tBodies[0].replaceChildren(
    ...furthest.map((row) =>
      el(
        "tr",
        {},
        el("td", {}, label(row.row)),
        el("td", { class: "n" }, String(row.from)),
        el("td", { class: "n" }, String(row.to)),
        el("td", { class: "n" }, signed(row.from - row.to, 0)),
        el("td", { class: "n" }, number(row.years, 1)),
        el("td", { class: "n" }, number(row.there, 1)),
      ),
    ),
  );
}

function movers() {
  const there = places(state.other);
  return state.ranked[state.model].ranked.map((row) => ({
    row: row.row,
    from: row.rank,
    to: there.get(row.row).rank,
    years: row.years,
    there: there.get(row.row).years,
  }));
}

const moversCsv = () =>
  csv(
    ["candidate", "row", "rank", "other_rank", "years", "other_years"],
    movers().map((one) => [label(one.row), one.row + 1, one.from, one.to, one.years, one.there]),
  );
const rankedCsv = () =>
  csv(
    ["rank", "candidate", "row", "years", "low", "high", "probability", "reasons"],
    state.ranked[state.model].ranked.map((row) => [
      row.rank,
      label(row.row),
      row.row + 1,
      row.years,
      row.low,
      row.high,
      row.probability,
      row.reasons.map((one) => `${one.feature} ${one.years >= 0 ? "+" : ""}${one.years.toFixed(2)}`).join("; "),
    ]),
  );
