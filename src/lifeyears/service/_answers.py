"""What the service answers: from a request that was parsed, and checked here, to plain values."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..checks import check_whole, is_number
from ..errors import Message, RequestError
from ..metrics import compare, concordance_index
from ..models import Cox
from ..outcome import Outcome
from ..relevance import NUISANCE_RIDGE, DoublyRobust, cross_fit
from ..scoring import CheckedRows, MatchModel, group_by_prediction, summarise_support
from ._errors import ApiError
from ._limits import Limits

if TYPE_CHECKING:
    import pandas as pd

    from .._typing import FloatArray, Json

FEWEST_TO_EVALUATE, FEWEST_EVENTS = 50, 10
FLOOR = 0.05  # chances to be followed below it are clipped


class Answers:
    """The models, and what they answer.

    Model work is done one request at a time (the lock): LightGBM keeps one number of threads for all of a process.
    """

    def __init__(self, models: Mapping[str, MatchModel], limits: Limits) -> None:
        self.models, self.limits = dict(models), limits
        self.lock = threading.Lock()

    def model(self, content: Mapping[str, object]) -> MatchModel:
        """The model that was asked for; the first if none was."""
        name = content.get("model")
        if name is None:
            return next(iter(self.models.values()))
        if not isinstance(name, str) or name not in self.models:
            raise ApiError(404, "no_such_model", f"there is no such model; there are {', '.join(self.models)}")
        return self.models[name]

    def describe(self, name: str | None) -> Json:
        """Schema and card."""
        model = self.model({"model": name})
        card = {part: value for part, value in model.card.items() if part != "columns"}
        return {
            "model": next(key for key, value in self.models.items() if value is model),
            "models": [{"model": key, "name": value.name} for key, value in self.models.items()],
            "schema": {"columns": model.schema.as_list(), "donor": model.schema.donor_names},
            "card": card,
        }

    def rank(self, content: object) -> Json:
        """Candidates, best first."""
        request = _object(content, ("candidates", "donor", "k", "model", "reasons"))
        model = self.model(request)
        k, reasons = _whole(request, "k", 5, 1, self.limits.k), _whole(request, "reasons", 5, 0, self.limits.reasons)
        rows = _rows(request, self.limits.rows)
        with self.lock:
            table = _table(model, rows, request)
            ranking = model.rank(table, k, reasons)
        return {
            "model": model.name,
            "k": k,
            "unit": model.card["data"]["unit"],
            "horizon": model.tau,
            "estimates": model.card["estimates"],
            "use": model.card["use"],
            "typical": float(ranking.typical[0]),
            "ranked": ranking.rows(),
            "bound": next((bound for bound in model.card["bounds"] if bound["k"] == k), None),
            "outside": model.schema.outside(table),
            "ignored": _ignored(model, rows),
        }

    def explain(self, content: object) -> Json:
        """Every contribution in years, and the survival curve, of some rows."""
        request = _object(content, ("candidates", "donor", "model"))
        model = self.model(request)
        rows = _rows(request, self.limits.explained_rows)
        with self.lock:
            table = _table(model, rows, request)
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
        return {
            "model": model.name,
            "unit": model.card["data"]["unit"],
            "horizon": model.tau,
            "times": times.tolist(),
            "explained": explained,
        }

    def evaluate(self, content: object) -> Json:
        """How well the model ranks rows whose outcome is known."""
        request = _object(content, ("candidates", "donor", "time", "event", "k", "waitlist", "model"))
        model = self.model(request)
        rows = _rows(request, self.limits.rows)
        y = _outcome(request, len(rows))
        if len(rows) < FEWEST_TO_EVALUATE or y.n_events < FEWEST_EVENTS:
            raise ApiError(
                422,
                "too_few_rows",
                f"{len(rows)} rows with {y.n_events} events are too few to judge a model by: it takes "
                f"{FEWEST_TO_EVALUATE} rows and {FEWEST_EVENTS} events",
            )
        waitlist = _whole(request, "waitlist", min(256, max(2, len(rows) // 40)), 1, len(rows))
        k = _whole(request, "k", 1, 1, waitlist)
        with self.lock:
            table = _table(model, rows, request)
            years = model.explain(table).years
            matrix = table.matrix(model.ranker.preprocessor_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few rows for each place, and of a C-index below chance: both are sent
            try:
                used = matrix[:, matrix.std(axis=0) > 1e-12]
                outcomes, judge = _estimate_outcomes(used, y, model.tau)
                positivity = summarise_support(used, y, model.tau)
                both = {"model": years, "by lot": np.zeros(len(years))}
                comparison = compare(outcomes, both, k=k, waitlist=waitlist, n_resamples=500)
                c_index = float(concordance_index(y.restrict(model.tau), years))
            except RequestError as error:
                problem = Message("these rows cannot be judged: ", error.problem)
                raise ApiError(422, "cannot_be_judged", problem, hint=error.hint) from None
            except (ArithmeticError, np.linalg.LinAlgError) as error:
                raise ApiError(422, "cannot_be_judged", f"these rows cannot be judged: {error}") from None
        value, lot = comparison.values.loc["model"], comparison.values.loc["by lot"]
        gain = comparison.differences.loc[("model", "by lot")]
        return {
            "model": model.name,
            "rows": len(rows),
            "events": int(y.n_events),
            "k": k,
            "waitlist": waitlist,
            "unit": model.card["data"]["unit"],
            "judged_by": judge,
            "positivity": positivity,
            "c_index": c_index,
            "years_per_allocation": _interval(value),
            "years_by_lot": _interval(lot),
            "gain_over_lot": _interval(gain),
            "mean_predicted": float(years.mean()),
            "mean_outcome": float(outcomes.mean()),
            "calibration": group_by_prediction(years, outcomes),
            "reading": "Fewer than forty rows for each place on the list: intervals cover less often than they say."
            if len(rows) < 40 * waitlist
            else "",
        }


def _estimate_outcomes(matrix: FloatArray, y: Outcome, tau: float) -> tuple[FloatArray, str]:
    """Years within the horizon: observed where nobody was censored before it, else estimated; and which of the two."""
    restricted = y.restrict(tau)
    if restricted.event.all():
        return restricted.time, "observed years"
    life, censoring = Cox(alpha=NUISANCE_RIDGE), Cox(alpha=NUISANCE_RIDGE)
    estimator = DoublyRobust(life, censoring, tau=tau, on_violation="clip", floor=FLOOR)
    relevance = cross_fit(estimator, matrix, y, cv=min(5, y.n_events))
    return relevance.values, f"doubly robust estimates, cross-fitted within these rows; chances clipped at {FLOOR:g}"


def _object(content: object, known: Sequence[str]) -> dict[str, object]:
    if not isinstance(content, dict):
        raise ApiError(422, "not_an_object", 'the request must be a JSON object, such as {"candidates": […]}')
    unknown = [str(name)[:40] for name in content if name not in known]
    if unknown:
        raise ApiError(422, "unknown_field", f"there is no field {unknown[0]!r} here; there are {', '.join(known)}")
    return content


def _rows(content: Mapping[str, object], most: int) -> list[object]:
    rows = content.get("candidates")
    if not isinstance(rows, list):
        raise ApiError(422, "no_rows", "candidates must be a list of rows")
    if len(rows) > most:
        raise ApiError(413, "too_many_rows", f"{len(rows):,} rows are too many: at most {most:,} here")
    return rows


def _table(model: MatchModel, rows: list[object], content: Mapping[str, object]) -> CheckedRows:
    donor = content.get("donor")
    if donor is not None:
        if not isinstance(donor, dict):
            raise ApiError(422, "not_a_row", "the donor must be an object of column and value")
        unknown = [str(name)[:40] for name in donor if name not in model.schema.names]
        if unknown:
            raise ApiError(422, "unknown_column", f"the model has no column {unknown[0]!r}", None, unknown[0])
    return model.schema.table(rows, donor)


def _ignored(model: MatchModel, rows: list[object]) -> list[str]:
    """Columns of the first row that the model does not know."""
    known, first = set(model.schema.names), rows[0]
    return [str(name)[:40] for name in first if name not in known][:50] if isinstance(first, dict) else []


def _whole(content: Mapping[str, object], name: str, default: int, low: int, high: int) -> int:
    value = content.get(name)
    if value is None:
        return default
    if isinstance(value, float) and value.is_integer():  # JSON has one kind of number
        value = int(value)
    try:
        return check_whole(name, value, low, high)
    except RequestError as error:
        raise ApiError(422, f"bad_{name}", error.problem, hint=f"Send a whole number from {low} to {high:,}.") from None


def _outcome(content: Mapping[str, object], n: int) -> Outcome:
    time, event = (_values(content, name, n) for name in ("time", "event"))
    for row, value in enumerate(time):
        if not (isinstance(value, (int, float)) and is_number(value) and 0 <= value <= 1e6):
            raise ApiError(422, "bad_time", f"time[{row}] must be a number from 0 on", row, "time")
    for row, value in enumerate(event):
        if value not in (0, 1) or not isinstance(value, (bool, int, float)):
            raise ApiError(422, "bad_event", f"event[{row}] must be true or false", row, "event")
    return Outcome(np.array(time, dtype=float), np.array(event, dtype=bool))


def _values(content: Mapping[str, object], name: str, n: int) -> list[object]:
    values = content.get(name)
    if not isinstance(values, list) or len(values) != n:
        raise ApiError(422, f"bad_{name}", f"{name} must be a list with one value for each of the {n:,} rows")
    return values


def _interval(row: pd.Series) -> dict[str, float | None]:
    return {name: float(row[name]) if np.isfinite(row[name]) else None for name in ("value", "low", "high")}
