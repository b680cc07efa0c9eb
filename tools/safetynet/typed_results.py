"""Tables and summaries of runs with typed arms and measures, in the form of the base, where both were strings."""

from __future__ import annotations

import json
import re
from typing import Any

import pandas as pd

METHODS = {"none": "standard", "bootstrapped": "ranker", "stacked": "default"}
TABLES = {"allocation": "years", "headroom": "room"}
MODEL_LABELS = {"Kaplan–Meier": "KM", "Weibull AFT": "AFT"}
WHOLE_ARM = ("comparison", "calibration", "calibration_by_arm", "subgroups", "figure_a2", "measures")
COLUMNS: dict[str, dict[str, str]] = {
    "allocation": {
        "value": "years",
        "gain_low": "gain low",
        "gain_high": "gain high",
        "ndcg": "waitlist NDCG",
        "ndcg_low": "NDCG low",
        "ndcg_high": "NDCG high",
        "c_index": "C-index",
        **{f"value_{key}": f"years by {key}" for key in ("DR", "EY", "IPCW", "expected")},
    },
    "audit": {
        "value": "years",
        "shortfall": "short of best",
        "shortfall_low": "short low",
        "shortfall_high": "short high",
        "c_index": "C-index",
        "c_index_sd": "C-index sd",
        "place_by_c_index": "place by C-index",
        "place_by_value": "place by years",
        "bound_low": "bound low",
        "bound_high": "bound high",
    },
    "headroom": {
        "value": "years",
        "left": "room left",
        "left_low": "room low",
        "left_high": "room high",
        "closed_low": "closed low",
        "closed_high": "closed high",
    },
    "comparison": {"arm": "model", "difference": "value"},
    "calibration": {"outcome_low": "outcome low", "outcome_high": "outcome high"},
    "calibration_by_arm": {
        "gap": "predicted less outcome",
        "gap_low": "gap low",
        "gap_high": "gap high",
        "slope_low": "slope low",
        "slope_high": "slope high",
    },
    "subgroups": {
        "share_of_patients": "share of patients",
        "share_of_allocations": "share of allocations",
        "share_change": "share change",
        "change_low": "change low",
        "change_high": "change high",
        "value": "years of allocations",
        "value_low": "years low",
        "value_high": "years high",
        "gap": "predicted less outcome",
        "gap_low": "gap low",
        "gap_high": "gap high",
    },
    "positivity": {
        "censoring": "model of censoring",
        "smallest_chance": "smallest chance to be followed",
        "share_unsupported": "share out of reach",
        "effective_sample_size": "effective sample size",
        "heaviest_weight_share": "share of the heaviest weight",
        "rows_below_floor": "rows below the floor",
    },
    "positivity_groups": {
        "chance": "chance to be followed",
        "longest_followup": "longest follow-up",
        "share_unsupported": "share out of reach",
    },
    "positivity_frontier": {"latest_entry": "supported up to entry"},
    "cohort": {
        "patients": "Total patients",
        "censored": "Censored",
        "censored_percent": "Censored (%)",
        "features": "Total features",
        "categorical_features": "Categorical features",
    },
    "follow_up": {
        "follow_up": "follow-up",
        "all": "Entire cohort",
        "observed": "Observed",
        "censored": "Censored",
    },
    "survival": {"without_event": "without event", "still_followed": "still followed", "at_risk": "at risk"},
    "predictors": {
        "share_missing": "share missing",
        "quartile_low": "quartile low",
        "quartile_high": "quartile high",
        "share_of_commonest": "share of commonest",
    },
    "figure_a2": {f"estimate_{key}": key for key in ("EY", "IPCW", "DR")},
}
MEASURED = ("table_", "figure_a1", "gain_")  # tables with a column for each measure


def table_of_base(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """A table of a run as the base had it; those of the base come back as they are."""
    kind = re.sub("_paper$", "", name)
    if kind == "positivity_curves" and "entered" in table:
        wide = table.pivot_table(index="time", columns="entered", values="chance", sort=False).reset_index()
        return wide.rename_axis(columns=None).rename(columns=str)
    if "method" in table:
        table = table.copy()
        parts = [_arm(model, method) for model, method in zip(table["model"], table["method"], strict=True)]
        if "other_method" in table:
            others = zip(table["other_model"], table["other_method"], strict=True)
            table["other"] = [" ".join(_arm(*each)) for each in others]
            table = table.drop(columns=["other_model", "other_method"])
        if kind in WHOLE_ARM:
            table = table.assign(arm=[" ".join(part) for part in parts]).drop(columns=["model", "method"])
        else:
            table = table.assign(model=[part[0] for part in parts], framework=[part[1] for part in parts])
            table = table.drop(columns="method")
    if kind == "measures" and "metric" in table:
        table = table.assign(measure=[_measure(row) for row in table.to_dict("records")])
        table = table[["iteration", "fold", "arm", "measure", "value"]]
    if kind == "measures":
        table = table.sort_values(["iteration", "fold", "arm", "measure"], ignore_index=True)
    if "nuisance" in table and "relevance" in table:
        names = zip(table["relevance"], table["nuisance"], strict=True)
        table = table.assign(estimator=[key if _missing(by) else f"{key} {by}" for key, by in names])
        table = table.drop(columns=["relevance", "nuisance"])
    if kind == "figure_a2" and "measure" in table:
        table = table.assign(measure=[_measured_column(key) for key in table["measure"]])
    if kind == "positivity" and "censoring" in table:
        table = table.assign(censoring=table["censoring"].replace({"KM": "Kaplan–Meier"}))
    table = table.rename(columns=COLUMNS.get(kind, {}))
    return table.rename(columns=_measured_column) if kind.startswith(MEASURED) else table


def summary_of_base(content: Any) -> Any:
    """A summary.json of schema 3 as the base had it (schema 2)."""
    if not isinstance(content, dict) or content.get("schema") != 3 or "findings" not in content:
        return content
    relevance = {"restricted": "truth"}
    plan = {name: value for name, value in content["plan"].items() if name not in ("methods", "estimators", "metrics")}
    plan["default_over"] = plan.pop("stacked_over")
    data = dict(content["data"])
    read = {
        name: data.pop(name)
        for name in ("rows_read", "rows_kept", "dropped_rows", "dropped_columns", "filtered_values", "warnings")
    }
    warnings = [finding for finding in content["findings"] if finding["severity"] != "answer"]
    lists, answer, audit = content["waitlist"], content["answer"], content["audit"]
    by_folds = content["intervals"] == "folds"
    return {
        **{name: content[name] for name in ("version", "protocol", "command")},
        "schema": 2,
        "plan": plan,
        "data": {
            **{name: value for name, value in data.items() if name != "has_entry"},
            "entry": data["has_entry"],
            "read": None if read["rows_read"] is None else {**read, "leaks": []},
        },
        "judge": relevance.get(content["relevance"], content["relevance"]),
        "ndcg_judge": relevance.get(content["ndcg_relevance"], content["ndcg_relevance"]),
        "intervals": "corrected resampled t over folds" if by_folds else "bootstrap-t over pooled patients",
        "waitlist": {"asked": lists["requested"], "used": lists["used"], "k": lists["k"]},
        "counts": {_count(name): count for name, count in content["counts"].items()},
        "warnings": [{"serious": w["severity"] == "serious", "title": w["title"], "text": w["text"]} for w in warnings],
        "best": _arm_text(answer["best"]),
        "answer": {
            "best": _arm_text(answer["best"]),
            "years": answer["value"]["value"],
            "low": answer["value"]["low"],
            "high": answer["value"]["high"],
            "next": _difference(answer["next"]),
            "base": _difference(answer["base"]),
            "alike": [_arm_text(arm) for arm in answer["alike"]],
        },
        "audit": {
            "by_c_index": _arm_text(audit["by_c_index"]),
            "same": audit["same"],
            "cost": _difference(audit["cost"]),
            "spearman": audit["spearman"],
            "bound_by": relevance.get(audit["bound_relevance"], audit["bound_relevance"]),
        },
        "support": {
            "violated": content["support"]["violated"],
            "words": {{"KM": "Kaplan–Meier"}.get(k, k): text for k, text in content["support"]["texts"].items()},
        },
        "reading": " ".join(f["text"] for f in content["findings"] if f["severity"] == "answer"),
        "tables": {TABLES.get(name, name): _split(name, table) for name, table in content["tables"].items()},
    }


def _split(name: str, table: Any) -> Any:
    frame = pd.DataFrame(table["rows"], columns=[column["key"] for column in table["columns"]])
    return json.loads(table_of_base(name, frame).to_json(orient="split", index=False))  # with the base's ten digits


def _arm(model: str, method: str) -> tuple[str, str]:
    return ("truth", "known") if model == "oracle" else (model, METHODS.get(method, method))


def _arm_text(arm: Any) -> str:
    return " ".join(_arm(arm["model"], arm["method"]))


def _difference(difference: Any) -> Any:
    if difference is None:
        return None
    gain = difference["gain"]
    numbers = {"gain": gain["value"], "low": gain["low"], "high": gain["high"], "p": gain["p"]}
    return {"arm": _arm_text(difference["arm"]), **numbers, "enough": difference["clear"]}


def _count(name: str) -> str:
    for label, key in MODEL_LABELS.items():
        name = name.replace(label, key)
    name = name.replace(" + bootstrapped ranker (paper):", " ranker:").replace(" + stacked ranker:", " default:")
    return re.sub(r"^(EY|IPCW|DR)(?: by)?", r"\1", name).replace(": weights clipped", " clipped")


def _measure(row: dict[str, Any]) -> str:
    """The base's name of a measure, such as "EY Cox NDCG@5"."""
    if row["metric"] == "c_index":
        return "C-index"
    if row["metric"] == "auc":
        return f"AUC@{row['time']:g}"
    on_lists, by = not _missing(row["waitlist"]), row["relevance"]
    by = "truth" if on_lists and by == "restricted" else by
    text = "value" if row["metric"] == "value" else "waitlist NDCG" if on_lists else "NDCG"
    if not on_lists and not _missing(row["k"]):
        text += f"@{int(row['k'])}"
    return " ".join(part for part in (by, row["nuisance"], text) if not _missing(part))


def _measured_column(key: str) -> str:
    """The base's heading of a measure's column, such as "EY NDCG@5 sd"."""
    ends = {"_sd": " sd", "_stars": " stars", "_p_wilcoxon": " p wilcoxon", "_p_corrected": " p corrected"}
    ends |= {"_mae": " MAE", "_rho": " rho"}
    end = next((each for each in ends if key.endswith(each)), "")
    name = key.removesuffix(end)
    name = re.sub(r"^(EY|IPCW|DR)_", r"\1 ", name)
    name = re.sub(r"\bc_index$", "C-index", name)
    name = re.sub(r"\bauc_", "AUC@", name)
    name = re.sub(r"\bauc$", "AUC", name)
    name = re.sub(r"\bndcg_waitlist$", "waitlist NDCG", name)
    name = re.sub(r"\bndcg_", "NDCG@", name)
    name = re.sub(r"\bndcg$", "NDCG", name)
    name = re.sub(r"\bvalue$", "years", name)
    return name + ends.get(end, "")


def _missing(value: Any) -> bool:
    return value is None or value is pd.NA or value != value
