"""`lifeyears describe`: a model's card in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from .._typing import Json


def command(
    model: Annotated[Path, typer.Argument(help="A folder that `lifeyears fit` wrote.")],
    as_json: Annotated[bool, typer.Option("--json", help="The whole card, as it is stored.")] = False,
) -> None:
    """Say what a model is, what it was trained on, how good it is, for whom, and what it is not.

    Example: lifeyears describe model
    """
    import json

    from ..scoring import MatchModel

    card = MatchModel.load(model).card  # checksums and all
    print(json.dumps(card, indent=1, ensure_ascii=False) if as_json else describe_card(card))


def describe_card(card: Json, brief: bool = False) -> str:
    """Describe a model by its card, in words."""
    data, horizon, model, metrics = card["data"], card["horizon"], card["model"], card["metrics"]
    unit = data["unit"]
    lines = [
        card["name"],
        card["use"],
        card["estimates"],
        "",
        f"Data       {data['name']}: {data['rows']:,} rows, {data['events']:,} events, {data['censored_percent']:g}% "
        f"censored, {data['features']} features ({data['categorical_features']} categorical)",
        f"Source     {data['source'] or 'not stated'}",
        f"Follow-up  median {data['follow_up']['Entire cohort']['Median']:.4g}, 95% within "
        f"{data['follow_up']['Entire cohort']['95th percentile']:.4g} {unit}",
        f"Horizon    {horizon['tau']:.4g} {unit}. {horizon['reading']}",
        f"Model      {model['label']}; weights "
        + ", ".join(f"{part} {weight:.2f}" for part, weight in model["weights"].items())
        + (f" ({model['weights_are']})" if "weights_are" in model and len(model["weights"]) > 1 else "")
        + ("; calibrated" if model["calibrated"] else "; not calibrated"),
        *(f"           {note}" for note in model["notes"]),
    ]
    lines += _metrics(card, unit) if metrics else ["Metrics    none: too few rows could be held out"]
    if brief:
        return "\n".join(lines)
    lines += ["", "Calibration on held-out rows (predicted, observed with 95% interval, patients)"]
    lines += [
        f"  {group['predicted']:8.2f} {group['observed']:8.2f} ({group['low']:.2f} to {group['high']:.2f}) "
        f"{group['patients']:8,}"
        for group in card["calibration"]
    ] or ["  none"]
    lines += ["", "Subgroups of thirty or more (share of patients, of allocations; predicted less outcome)"]
    lines += [
        f"  {row['by'] + ': ' + row['group']:34.34} {row['share_of_patients']:6.1%} {row['share_of_allocations']:6.1%} "
        f"({row['low']:.1%} to {row['high']:.1%})  {row['predicted_less_outcome']:+.2f} "
        f"({row['gap_low']:+.2f} to {row['gap_high']:+.2f})"
        for row in card["subgroups"]
    ] or ["  none"]
    return "\n".join([*lines, "", "Limits", *(f"  {limit}" for limit in card["limits"])])


def _metrics(card: Json, unit: str) -> list[str]:
    metrics = card["metrics"]
    bounds = {bound["k"]: bound for bound in card["bounds"]}
    lines = [
        f"Metrics    of {metrics['rows']:,} held-out rows, 95% intervals; {metrics['judged_by']}",
        f"           C-index {_interval(metrics['c_index'], 3)}",
        f"           {unit} per allocation, top pick of {metrics['waitlist']}: "
        f"{_interval(metrics['value'], 2)}; at random {_interval(metrics['at_random'], 2)}",
    ]
    for k in (1, 5):
        if k in bounds:
            one = bounds[k]
            lines.append(
                f"           plug-in bound, k = {k}: at least {one['bound']:.1%} of the best ({one['low']:.1%} to "
                f"{one['high']:.1%}), from NDCG@{k} {one['ndcg']:.3f}"
            )
    return lines


def _interval(interval: Json, digits: int) -> str:
    low, high = (("–" if interval[end] is None else f"{interval[end]:.{digits}f}") for end in ("low", "high"))
    return f"{interval['value']:.{digits}f} ({low} to {high})"
