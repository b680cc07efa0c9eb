// Policy lab: policies on a simulated waiting list, in the background, with progress.

import { forest, legend, points } from "./charts.js";
import { by, call, dataTable, el, number, show, signed, words } from "./page.js";

const STEPS = { years: 0.5, scale: 0.01, donors_rate: 0.05, listed_rate: 0.05 };
const UNSHOWN = ["training_rows"];
let known = null; // policies, numbers and measures, by key and label
let job = null;

export async function begin() {
  try {
    known = await call("/api/policies");
  } catch (error) {
    show("policy-error", error.message);
    return;
  }
  show("policy-error", "");
  by("policies").replaceChildren(
    ...known.policies.map((each) =>
      el(
        "label",
        { class: "check" },
        el("input", { type: "checkbox", name: "policy", value: each.policy, checked: each.default }),
        el("span", {}, each.label),
      ),
    ),
  );
  by("rates").replaceChildren(
    ...numbers().map((each) =>
      el(
        "div",
        {},
        el("label", { for: `rate-${each.name}` }, each.label),
        el("input", {
          id: `rate-${each.name}`,
          type: "number",
          name: each.name,
          value: each.default,
          min: each.low,
          max: each.high,
          step: STEPS[each.name] || 1,
          required: true,
        }),
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

const numbers = () => known.settings.filter((each) => !UNSHOWN.includes(each.name));

const settings = () => ({
  policies: [...document.querySelectorAll("input[name=policy]:checked")].map((box) => box.value),
  ...Object.fromEntries(numbers().map(({ name }) => [name, Number(by(`rate-${name}`).value)])),
});

function size() {
  const found = settings();
  by("policy-size").textContent =
    `About ${Math.round(known.listed_per_year * found.scale * found.listed_rate).toLocaleString("en")} candidates and ${Math.round(known.donors_per_year * found.scale * found.donors_rate).toLocaleString("en")} hearts per year.${found.scale < 1 ? " On a smaller list fewer candidates fit each heart, so that more hearts are lost than at full size: 18% at size 1, nearly 40% at 0.1." : ""}`;
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
    policy = (name) => known.policies.find((each) => each.policy === name),
    title = (name) => policy(name)?.label || words(name),
    measured = (name) => known.measures.find((each) => each.measure === name)?.label || words(name);
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
    el("div", { class: "card" }, el("h2", {}, "In a few sentences"), el("p", {}, result.reading)),
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
                hollow: Boolean(policy(name)?.oracle),
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
        ...known.measures
          .filter((each) => each.main)
          .map(({ measure, label }) => ({
            name: measure,
            label,
            number: true,
            get: (row) => at(row.name, measure)?.value,
            show: (value, row) =>
              number(value, 1) +
              (once ? "" : ` (${number(at(row.name, measure)?.low, 1)} to ${number(at(row.name, measure)?.high, 1)})`),
          })),
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
          { name: "policy", get: (row) => row.policy, show: (value) => title(value) },
          { name: "measure", get: (row) => row.measure, show: (value) => measured(value) },
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
              { name: "policy", get: (row) => row.policy, show: (value) => title(value) },
              { name: "measure", get: (row) => row.measure, show: (value) => measured(value) },
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
