"""What the service answers about models: from a checked request, by the library, to a reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from ..outcome import Outcome
from ..scoring import CheckedRows, MatchModel, evaluate_model
from ._errors import ApiError
from ._models import (
    EvaluateReply,
    EvaluateRequest,
    ExplainReply,
    ExplainRequest,
    ModelReply,
    RankReply,
    RankRequest,
    RowsRequest,
)

if TYPE_CHECKING:
    from .._typing import Json
    from ..experiments.types import Estimate


class Answers:
    """The models, and what they answer."""

    def __init__(self, models: Mapping[str, MatchModel]) -> None:
        self.models = dict(models)

    def model(self, name: str | None) -> MatchModel:
        """Return the model of that key; the first for None."""
        if name is None:
            return next(iter(self.models.values()))
        if name not in self.models:
            raise ApiError(404, "no_such_model", f"there is no such model; there are {', '.join(self.models)}")
        return self.models[name]

    def describe(self, name: str | None) -> ModelReply:
        """Return schema and card."""
        model = self.model(name)
        card = {part: value for part, value in model.card.items() if part != "columns"}
        return ModelReply.model_validate(
            {
                "model": next(key for key, value in self.models.items() if value is model),
                "models": [{"model": key, "name": value.name} for key, value in self.models.items()],
                "schema": {"columns": model.schema.as_list(), "donor": model.schema.donor_names},
                "card": card,
            }
        )

    def rank(self, request: RankRequest) -> RankReply:
        """Rank candidates, best first."""
        model = self.model(request.model)
        table = _table(model, request)
        ranking = model.rank(table, request.k, request.reasons)
        return RankReply.model_validate(
            {
                "model": model.name,
                "k": request.k,
                "unit": model.card["data"]["unit"],
                "horizon": model.tau,
                "estimates": model.card["estimates"],
                "use": model.card["use"],
                "typical": float(ranking.typical[0]),
                "ranked": ranking.rows(),
                "bound": next((bound for bound in model.card["bounds"] if bound["k"] == request.k), None),
                "outside": model.schema.outside(table),
                "ignored": _ignored(model, request.candidates),
            }
        )

    def explain(self, request: ExplainRequest) -> ExplainReply:
        """Return every contribution in years, and the survival curve, of some rows."""
        model = self.model(request.model)
        table = _table(model, request)
        explanation = model.explain(table)
        times, survival = model.curves(table)
        years, typical = explanation.years, explanation.typical
        low, high = model.interval(years)
        names = [str(name) for name in explanation.contributions.columns]
        explained = []
        for row, parts in enumerate(explanation.contributions.to_numpy()):
            order = np.argsort(-np.abs(parts), kind="stable")
            one: Json = {"row": row, "years": float(years[row]), "typical": float(typical[row])}
            if low is not None and high is not None:
                one |= {"low": float(low[row]), "high": float(high[row])}
            one["reasons"] = [{"feature": names[j], "years": float(parts[j])} for j in order]
            one["survival"] = [1.0, *survival[row].tolist()]
            explained.append(one)
        return ExplainReply.model_validate(
            {
                "model": model.name,
                "unit": model.card["data"]["unit"],
                "horizon": model.tau,
                "times": times.tolist(),
                "explained": explained,
            }
        )

    def evaluate(self, request: EvaluateRequest) -> EvaluateReply:
        """Evaluate the model on rows whose outcome is known."""
        model, n = self.model(request.model), len(request.candidates)
        for name, values in (("time", request.time), ("event", request.event)):
            if len(values) != n:
                raise ApiError(422, f"bad_{name}", f"{name} must be a list with one value for each of the {n:,} rows")
        y = Outcome(np.array(request.time, dtype=float), np.array(request.event, dtype=bool))
        evaluation = evaluate_model(model, _table(model, request), y, request.k, request.waitlist)
        return EvaluateReply.model_validate(
            {
                "model": model.name,
                "rows": evaluation.rows,
                "events": evaluation.events,
                "k": evaluation.k,
                "waitlist": evaluation.waitlist,
                "unit": model.card["data"]["unit"],
                "judged_by": evaluation.judged_by,
                "positivity": asdict(evaluation.support),
                "c_index": evaluation.c_index,
                "value": _interval(evaluation.value),
                "at_random": _interval(evaluation.at_random),
                "gain": _interval(evaluation.gain),
                "mean_predicted": evaluation.mean_predicted,
                "mean_outcome": evaluation.mean_outcome,
                "calibration": [asdict(group) for group in evaluation.calibration],
                "note": evaluation.note,
            }
        )


def _table(model: MatchModel, request: RowsRequest) -> CheckedRows:
    donor = request.donor
    if donor is not None:
        if not isinstance(donor, dict):
            raise ApiError(422, "not_a_row", "the donor must be an object of column and value")
        unknown = [str(name)[:40] for name in donor if name not in model.schema.names]
        if unknown:
            raise ApiError(422, "unknown_column", f"the model has no column {unknown[0]!r}", None, unknown[0])
    return model.schema.table(request.candidates, donor)


def _ignored(model: MatchModel, rows: list[object]) -> list[str]:
    """Return the columns of the first row that the model does not use."""
    known, first = set(model.schema.names), rows[0]
    return [str(name)[:40] for name in first if name not in known][:50] if isinstance(first, dict) else []


def _interval(estimate: Estimate) -> dict[str, float | None]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}
