"""What the report says in words: how it was done, what it does not show, and where TRIPOD+AI's items are."""

from __future__ import annotations

from ..experiments.results import describe_pick
from ._answer import JUDGES, format_time
from ._reading import Summary

MODEL_SETTINGS = {
    "KM": "Kaplan–Meier (KM), one curve for everybody",
    "Cox": "Cox's proportional hazards (ridge 0.1)",
    "AFT": "Weibull accelerated failure time (AFT, penalty 0.1)",
    "DeepSurv": "DeepSurv",
    "DeepHit": "DeepHit",
}
SPLITS = {
    "random": "drawn at random, with equal shares of events",
    "temporal": "by time: models learn from earlier entries and are tested on later ones",
    "centre": "by centre: no centre is both in training and in test",
}
ERAS = {
    "keep": "",
    "drop": " Columns that tell the era are left out.",
    "within": " Lists are drawn within a decade of entry.",
}


def describe_methods(summary: Summary) -> list[tuple[str, str]]:
    """Describe how it was done: headings and texts."""
    plan, data, unit = summary["plan"], summary["data"], summary.unit
    folds = (
        f"{plan['iterations']} × {plan['folds']}-fold cross-validation"
        if plan["iterations"] > 1
        else (f"{plan['folds']}-fold cross-validation")
    )
    used = f"{data['used']:,} of {data['rows']:,}" if data["used"] != data["rows"] else f"{data['rows']:,}"
    if plan["protocol"] == "artificial":
        share = f"{plan.get('censored_share', 0.5):.0%}"
        how = (
            "at a time drawn uniformly between 0 and the lifetime, as in the paper (which depends on the lifetime)"
            if plan.get("censoring") == "paper"
            else "at a time independent of the lifetime"
        )
        design = (
            f"Patients whose event was seen ({used}). In each iteration {share} of them are censored {how}; models "
            "see the censored data, and are judged by the true lifetimes."
        )
    else:
        design = f"All patients ({used}), as they are. " + (
            "Lifetimes of censored patients are unknown, and are estimated."
            if summary["judge"] == "DR"
            else "Models see the censored data, and are judged by what the simulation knows."
        )
    deep = any(model.startswith("Deep") for model in plan["models"])
    waitlist, by_folds = summary["waitlist"], summary["intervals"].startswith("corrected")
    lists = "a test fold" if by_folds else "all patients, each ranked within their test fold"
    return [
        (
            "Design",
            f"{design} {folds}; folds are "
            f"{SPLITS.get(plan['split'], plan['split'])}.{ERAS.get(plan.get('era', 'keep'), '')} "
            "Nobody is ranked by a model that saw them.",
        ),
        (
            "Predictors and missing values",
            f"{data['features']} columns. Numbers: missing values become the median of the training folds, then "
            "columns are centred and scaled. Categories: one indicator each, one for missing values, none for "
            "categories not seen in training. All of it is learnt within the training folds.",
        ),
        (
            "Models",
            f"{'; '.join(MODEL_SETTINGS.get(model, model) for model in plan['models'])}"
            + (f"; deep models for at most {plan.get('epochs')} epochs, stopped early" if deep else "")
            + ". “standard” is the model itself, ranking by expected life within the horizon. “ranker” is the "
            "paper's second stage on top of it: gradient-boosted trees that learn from pseudo-labels (observed "
            "lifetimes, and the model's expectation where censored), with an objective that weighs the top of the "
            "list. “default” is this software's preset of it.",
        ),
        (
            "Outcome and horizon",
            f"Time to the event in {unit}, counted up to a horizon τ of {format_time(plan['tau'])} {unit}. "
            f"There are {data['events']:,} events in {data['rows']:,} rows.",
        ),
        (
            f"{unit.capitalize()} per allocation",
            f"The expected {unit} of the {describe_pick(waitlist['k'])} of a waitlist of {waitlist['used']} "
            f"candidates, exactly averaged over every such list out of {lists}, judged by "
            f"{JUDGES[summary['judge']]}. Equal scores share their places. NDCG is the same, divided by what the best "
            f"possible ranking would give, judged by {JUDGES.get(summary['ndcg_judge'], summary['ndcg_judge'])}.",
        ),
        (
            "Estimates under censoring",
            "EY replaces a censored life by its expectation under a survival model; IPCW weights those who were seen "
            "by their chance of being seen; DR (doubly robust) does both, and is right if either model is. All are "
            "cross-fitted within the test fold. EY and IPCW are averaged over their models, as in the paper. Chances "
            f"of being followed are clipped at 0.001 (IPCW) and 0.05 (DR): {describe_clipping(summary)}.",
        ),
        (
            "Intervals and tests",
            (
                "95% intervals of the corrected resampled t-test of Nadeau and Bengio over folds: training sets "
                "overlap, and a plain test over folds takes them for independent."
                if by_folds
                else "95% bootstrap-t intervals: patients of the first iteration, each ranked within their fold, are "
                "resampled; all models see the same resamples, so that differences are paired. They hold the fitted "
                "models fixed."
            )
            + " Stars in the paper's tables are Wilcoxon's test over folds, as the paper has them. The best arm was "
            "found on the same data, so its lead is, if anything, flattered. “Enough” and “more than chance” mean that "
            "p against the best arm, corrected by Holm's method for all such comparisons, is below 5%; intervals and "
            "printed p-values are not corrected.",
        ),
        (
            "The plug-in bound",
            "Theorem 1 of the paper: allocation that draws among the top k gains at least NDCG@k / W_k of the best "
            "possible utility. With an estimated NDCG put in, it is an estimate of a guarantee.",
        ),
    ]


def describe_clipping(summary: Summary) -> str:
    """Describe how often weights were clipped."""
    counts = {name: count for name, count in summary["counts"].items() if name.endswith("clipped")}
    if not any(counts.values()):
        return "it never happened here"
    return ", ".join(f"{name.removesuffix(' clipped')} {count:,} times" for name, count in counts.items())


def list_limits(summary: Summary) -> list[str]:
    """List what the numbers estimate, and what they do not."""
    unit, plan, judge = summary.unit, summary["plan"], summary["judge"]
    limits = [
        f"A number here is the expected {unit} of the top pick among patients of the past (in a registry of "
        "transplants: recipients, each with their own donor). It is no forecast of one match run, and no effect on a "
        "population: those come from simulation (lifeyears simulate) only.",
        "These patients were chosen by past policies; in a registry of transplants, those who died waiting are not "
        "among them. A model that ranks them well need not rank candidates well.",
        f"{unit.capitalize()} after a treatment are not {unit} gained by it: a patient who lives long may have "
        "lived long without it. Urgency, waiting time and fairness are not in the number.",
    ]
    if summary["data"]["entry"] and plan.get("era", "keep") != "within":
        limits.append(
            "Lists mix patients of all years of entry, as no waitlist does. Where care got better, a model gains by "
            "picking late entries: see the shares by era, and lists drawn within a decade of entry."
        )
    if plan["split"] == "random":
        limits.append(
            "Folds are random: they show how models do on patients of the same years and centres. Before acting, "
            "evaluate the models on a split by time or by centre, too."
        )
    if judge == "DR":
        limits.append(
            "Censored lifetimes are estimated. If both the model of survival and that of censoring are wrong, so are "
            "the numbers, and the intervals do not show it; they hold the estimates fixed."
        )
    if judge == "truth":
        limits.append(
            "Only patients whose event was seen are here: such a cohort is right-truncated, and the era of entry alone "
            "foretells life. Differences on it may not hold on the whole registry."
        )
    if summary["data"]["simulated"]:
        limits.append("The patients are simulated: the numbers show how methods behave where the truth is known.")
    limits.append("Research use only. This is no medical device, and no number here is advice for a patient.")
    return limits


# TRIPOD+AI (Collins et al., BMJ 2024): item, what it asks, section of this page, what is left to the authors
TRIPOD: list[tuple[str, str, str, str]] = [
    ("1", "Title", "top", "name the target population and outcome"),
    ("2", "Abstract", "answer", "see TRIPOD+AI for Abstracts"),
    ("3a–c", "Background: context, target population, known inequalities", "", "for the authors"),
    ("4", "Objectives", "answer", ""),
    ("5a–b", "Data: sources and dates", "cohort", "dates of collection, and whom the data represent"),
    ("6a–c", "Participants: setting, eligibility, treatments", "cohort", "setting and treatments"),
    ("7", "Data preparation", "methods", ""),
    ("8a–c", "Outcome: definition, assessment, blinding", "methods", "how and by whom the outcome was assessed"),
    ("9a–c", "Predictors: choice, definition, assessment", "cohort", "how and when predictors were measured"),
    ("10", "Sample size", "cohort", "why it is enough"),
    ("11", "Missing data", "methods", ""),
    ("12a–g", "Analytical methods: use of data, models, performance measures", "methods", ""),
    ("13", "Class imbalance", "methods", "not applicable: nothing is resampled to balance classes"),
    ("14", "Fairness: approaches and rationale", "subgroups", "why these groups"),
    ("15", "Model output", "methods", ""),
    ("16", "Training versus evaluation", "methods", ""),
    ("17", "Ethical approval", "", "for the authors"),
    ("18a–b", "Funding and conflicts of interest", "", "for the authors"),
    ("18c–d", "Protocol and registration", "rerun", "whether the plan was registered"),
    ("18e–f", "Sharing of data and code", "rerun", "how others get the data"),
    ("19", "Patient and public involvement", "", "for the authors"),
    ("20a–c", "Participants: flow, characteristics, comparison of splits", "cohort", ""),
    ("21", "Model development: participants and events in each analysis", "cohort", ""),
    ("22", "Full model specification", "rerun", "a fitted model is had by ly.save; a run keeps scores, not models"),
    ("23a–b", "Model performance with intervals, also in subgroups; heterogeneity", "years", ""),
    ("24", "Model updating", "", "not applicable: nothing was updated"),
    ("25", "Interpretation, with fairness and earlier studies", "audit", "the authors' reading"),
    ("26", "Limitations", "limits", ""),
    ("27a–c", "Usability: poor input, user interaction, next steps", "limits", "how it would be used in care"),
]


def list_settings(summary: Summary) -> list[tuple[str, object]]:
    """List the options of the plan, without those that mean nothing in it."""
    plan = summary["plan"]
    unused = set() if plan["protocol"] == "artificial" else {"censored_share", "censoring"}
    unused |= set() if any(model.startswith("Deep") for model in plan["models"]) else {"epochs"}
    return [
        (name, ", ".join(map(str, value)) if isinstance(value, list) else value)
        for name, value in sorted(plan.items())
        if name not in unused and value != []
    ]
