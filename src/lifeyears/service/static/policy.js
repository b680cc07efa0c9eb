// Policy lab: policies on a simulated waiting list, in the background, with progress.

import { forest, legend, points } from "./charts.js";
import { by, call, dataTable, el, number, show, signed, words } from "./page.js";

const POLICIES = {
  us_status: ["US status", "status, zone, blood group, then time on the list", true],
  first_come: ["First come", "time on the list", false],
  uniform: ["By lot", "anybody, with equal chances", false],
  greedy: ["Greedy, Cox", "the most expected years", true],
  position_weighted: ["Position-weighted, ranker", "Algorithm 1 over the ranker, k = 5", true],
  lyg: ["Life-years gained, Cox", "years with a heart less years without", true],
  greedy_ranker: ["Greedy, ranker", "the most expected years by the ranker", false],
  oracle: ["Oracle", "who knew the true expectations", true],
  oracle_lyg: ["Oracle, gained", "who knew the true gain", false],
};
const RATES = {
  years: ["Years", 2, 0.5, 20, 0.5],
  replicates: ["Replicates", 4, 1, 50, 1],
  scale: ["Size (US = 1)", 1, 0.01, 1, 0.01],
  seed: ["Seed", 0, 0, 1000000, 1],
  donors_rate: ["Hearts, × today", 1, 0.2, 5, 0.05],
  listed_rate: ["New candidates, × today", 1, 0.2, 5, 0.05],
};
const MEASURES = {
  life_years_per_transplant: "years per transplant",
  life_years_gained: "years gained, a year",
  waitlist_deaths_per_100_patient_years: "deaths per 100 patient-years",
  waitlist_deaths_per_year: "deaths on the list, a year",
  transplants_per_year: "transplants, a year",
  hearts_lost_per_year: "hearts lost, a year",
  waiting_days_median: "days waited, median",
};
let job = null;

export async function begin() {
  by("policies").replaceChildren(
    ...Object.entries(POLICIES).map(([name, [title, about, on]]) =>
      el(
        "label",
        { class: "check" },
        el("input", { type: "checkbox", name: "policy", value: name, checked: on }),
        el("span", {}, title, el("span", { class: "hint" }, about)),
      ),
    ),
  );
  by("rates").replaceChildren(
    ...Object.entries(RATES).map(([name, [title, value, low, high, step]]) =>
      el(
        "div",
        {},
        el("label", { for: `rate-${name}` }, title),
        el("input", { id: `rate-${name}`, type: "number", name, value, min: low, max: high, step, required: true }),
      ),
    ),
  );
  by("policy-form").addEventListener("submit", submitted); // named: begun again after a token was asked for, it is still one
  by("policy-form").addEventListener("input", size);
  by("cancel-policy").addEventListener("click", cancel);
  size();
}

function submitted(event) {
  event.preventDefault();
  run();
}

const settings = () => ({
  policies: [...document.querySelectorAll("input[name=policy]:checked")].map((box) => box.value),
  ...Object.fromEntries(Object.keys(RATES).map((name) => [name, Number(by(`rate-${name}`).value)])),
});

function size() {
  const found = settings();
  by("policy-size").textContent =
    `About ${Math.round(4446 * found.scale * found.listed_rate).toLocaleString("en")} candidates and ${Math.round(4300 * found.scale * found.donors_rate).toLocaleString("en")} hearts a year.${found.scale < 1 ? " On a smaller list fewer candidates fit each heart, so that more hearts are lost than at full size: 18% at size 1, nearly 40% at 0.1." : ""}`;
}

async function run() {
  show("policy-error", "");
  try {
    job = await call("/api/simulations", settings());
    busy(true);
    while (job && ["waiting", "running"].includes(job.state)) {
      by("bar").max = job.progress.total || 1;
      by("bar").value = job.progress.done;
      by("bar-words").textContent =
        `${job.progress.message} (${job.progress.done} of ${job.progress.total} replicates)`;
      await new Promise((resolve) => setTimeout(resolve, 400));
      if (job) job = await call(`/api/simulations/${job.id}`);
    }
    if (!job) return;
    if (job.state === "done") draw(job.result);
    else show("policy-error", job.progress.message);
  } catch (error) {
    if (job !== null || error.status !== 404) show("policy-error", error.message);
  } finally {
    busy(false);
  }
}

async function cancel() {
  const old = job;
  job = null;
  busy(false);
  if (old) await call(`/api/simulations/${old.id}`, undefined, "DELETE").catch(() => null);
}

function busy(on) {
  by("policy-progress").hidden = !on;
  by("run-policy").disabled = on;
  by("cancel-policy").hidden = !on;
}

function draw(result) {
  const names = Object.keys(result.policies),
    title = (name) => POLICIES[name]?.[0] || words(name);
  const rows = names.flatMap((name) =>
    Object.entries(result.policies[name]).map(([measure, found]) => ({ policy: name, measure, ...found })),
  );
  const gaps = Object.entries(result.differences).flatMap(([name, all]) =>
    Object.entries(all).map(([measure, found]) => ({ policy: name, measure, ...found })),
  );
  const at = (name, measure) => result.policies[name][measure],
    once = result.settings.replicates === 1;
  const deaths = "waitlist_deaths_per_100_patient_years";
  const interval = [
    ["value", "value"],
    ["low", "low"],
    ["high", "high"],
  ].map(([name]) => ({ name, number: true, get: (row) => row[name], show: (value) => number(value) }));
  by("policy-empty").hidden = true;
  by("policy-results").replaceChildren(
    el(
      "div",
      { class: "card" },
      el("h2", {}, "In a few sentences"),
      el(
        "p",
        {},
        names.reduce((text, name) => text.replace(new RegExp(`\\b${name}\\b`, "g"), title(name)), result.reading),
      ),
    ),
    el(
      "div",
      { class: "halves" },
      ...[
        ["life_years_gained", "Life-years gained against deaths", "years gained by a year's transplants"],
        ["life_years_per_transplant", "Life-years of a recipient against deaths", "expected years per transplant"],
      ].map(([measure, heading, axis]) =>
        el(
          "div",
          { class: "card" },
          el("h2", {}, heading),
          el(
            "p",
            { class: "hint" },
            `Up and to the left is better. ${once ? "" : "Lines: 95% Monte Carlo intervals; "}${once ? "Hollow" : "hollow"}: who knew the truth.`,
          ),
          ...withLegend(
            names
              .map((name, i) => ({
                name: title(name),
                x: at(name, deaths).value,
                xLow: at(name, deaths).low,
                xHigh: at(name, deaths).high,
                y: at(name, measure).value,
                yLow: at(name, measure).low,
                yHigh: at(name, measure).high,
                colour: i % 8,
                hollow: name.startsWith("oracle"),
              }))
              .filter((row) => Number.isFinite(row.x) && Number.isFinite(row.y)),
            axis,
            heading,
          ),
        ),
      ),
    ),
    dataTable(
      "Main measures",
      "policies.csv",
      [
        { name: "policy", get: (row) => row.name, show: (value) => title(value) },
        ...Object.entries(MEASURES).flatMap(([measure, text]) => [
          {
            name: measure,
            label: text,
            number: true,
            get: (row) => at(row.name, measure)?.value,
            show: (value, row) =>
              number(value, 1) +
              (once ? "" : ` (${number(at(row.name, measure)?.low, 1)} to ${number(at(row.name, measure)?.high, 1)})`),
          },
        ]),
      ],
      names.map((name) => ({ name })),
      once ? "Of one replicate, so without intervals." : "Means over the replicates, with 95% Monte Carlo intervals.",
    ),
    gaps.length
      ? el(
          "div",
          { class: "card" },
          el("h2", {}, `Deaths on the list per 100 patient-years, less those of ${title(result.reference)}`),
          forest(
            gaps
              .filter((row) => row.measure === deaths && Number.isFinite(row.value))
              .map((row) => ({ ...row, name: title(row.policy), colour: names.indexOf(row.policy) % 8 })),
            "deaths per 100 patient-years",
            (value) => signed(value, 1),
            "Differences in deaths on the list",
          ),
        )
      : el("div"),
    folded(
      "Every measure",
      dataTable(
        "Every measure",
        "measures.csv",
        [
          { name: "policy", get: (row) => row.policy },
          { name: "measure", get: (row) => row.measure, show: (value) => words(value) },
          ...interval,
        ],
        rows,
      ),
    ),
    gaps.length
      ? folded(
          "Every paired difference",
          dataTable(
            `Paired differences against ${title(result.reference)}`,
            "policy_differences.csv",
            [
              { name: "policy", get: (row) => row.policy },
              { name: "measure", get: (row) => row.measure, show: (value) => words(value) },
              ...interval,
            ],
            gaps,
          ),
        )
      : el("div"),
  );
}

const folded = (name, content) => el("details", {}, el("summary", {}, name), content);
const withLegend = (rows, axis, heading) => [
  points(rows, "deaths on the list per 100 patient-years", axis, heading),
  legend(rows),
];
