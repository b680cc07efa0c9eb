"""What the service answers: from a request that was parsed, and checked here, to plain values."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..metrics import compare, concordance_index
from ..models import Cox
from ..outcome import Outcome
from ..relevance import DoublyRobust, cross_fit
from ..scoring import CheckedRows, MatchModel, RowError
from ..scoring._card import calibration_groups, reach
from ._errors import ApiError
from ._limits import Limits

FEWEST_TO_EVALUATE, FEWEST_EVENTS = 50, 10
RIDGE, FLOOR = 30.0, 0.05  # of the models that fill in what censoring hid: lists are short, and columns many


class Answers:
    """The models, and what they say.

    Model work is done one request at a time (the lock): LightGBM keeps one number of threads for all of a process.
    """

    def __init__(self, models: Mapping[str, MatchModel], limits: Limits) -> None:
        self.models, self.limits = dict(models), limits
        self.lock = threading.Lock()

    def model(self, content: Mapping[str, Any]) -> MatchModel:
        """The model that was asked for; the first if none was."""
        name = content.get("model")
        if name is None:
            return next(iter(self.models.values()))
        if not isinstance(name, str) or name not in self.models:
            raise ApiError(404, "no_such_model", f"there is no such model; there are {', '.join(self.models)}")
        return self.models[name]

    def described(self, name: str | None) -> dict[str, Any]:
        """Schema and card."""
        model = self.model({"model": name})
        card = {part: value for part, value in model.card.items() if part != "columns"}
        return {
            "model": next(key for key, value in self.models.items() if value is model),
            "models": [{"model": key, "name": value.name} for key, value in self.models.items()],
            "schema": {"columns": model.schema.as_list(), "donor": model.schema.donor_names},
            "card": card,
        }

    def rank(self, content: Any) -> dict[str, Any]:
        """Candidates, best first."""
        content = _object(content, ("candidates", "donor", "k", "model", "reasons"))
        model = self.model(content)
        k, reasons = _whole(content, "k", 5, 1, self.limits.k), _whole(content, "reasons", 5, 0, self.limits.reasons)
        rows = _rows(content, self.limits.rows)
        with self.lock:
            table = _table(model, rows, content)
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

    def explain(self, content: Any) -> dict[str, Any]:
        """Every contribution in years, and the survival curve, of some rows."""
        content = _object(content, ("candidates", "donor", "model"))
        model = self.model(content)
        rows = _rows(content, self.limits.explained_rows)
        with self.lock:
            table = _table(model, rows, content)
            found = model.explain(table)
            times, survival = model.curves(table)
        low, high = model.interval(found.years)
        names = [str(name) for name in found.contributions.columns]
        explained = []
        for row, parts in enumerate(found.contributions.to_numpy()):
            order = np.argsort(-np.abs(parts), kind="stable")
            one: dict[str, Any] = {"row": row, "years": float(found.years[row]), "typical": float(found.typical[row])}
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

    def evaluate(self, content: Any) -> dict[str, Any]:
        """How well the model ranks rows whose outcome is known."""
        content = _object(content, ("candidates", "donor", "time", "event", "k", "waitlist", "model"))
        model = self.model(content)
        rows = _rows(content, self.limits.rows)
        y = _outcome(content, len(rows))
        if len(rows) < FEWEST_TO_EVALUATE or y.n_events < FEWEST_EVENTS:
            raise ApiError(
                422,
                "too_few_rows",
                f"{len(rows)} rows with {y.n_events} events are too few to judge a model by: it takes "
                f"{FEWEST_TO_EVALUATE} rows and {FEWEST_EVENTS} events",
            )
        waitlist = _whole(content, "waitlist", min(256, max(2, len(rows) // 40)), 1, len(rows))
        k = _whole(content, "k", 1, 1, waitlist)
        with self.lock:
            table = _table(model, rows, content)
            years = model.explain(table).years
            matrix = table.matrix(model.ranker.preprocessor_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few rows for each place, and of a C-index below chance: both are told
            try:
                used = matrix[:, matrix.std(axis=0) > 1e-12]
                worth, judge = self._worth(used, y, model.tau)
                positivity = reach(used, y, model.tau)
                both = {"model": years, "by lot": np.zeros(len(years))}
                found = compare(worth, both, k=k, waitlist=waitlist, n_resamples=500)
                c_index = float(concordance_index(y.restrict(model.tau), years))
            except (ValueError, ArithmeticError) as error:
                raise ApiError(422, "cannot_be_judged", f"these rows cannot be judged: {error}") from None
        value, lot = found.values.loc["model"], found.values.loc["by lot"]
        gain = found.differences.loc[("model", "by lot")]
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
            "mean_outcome": float(worth.mean()),
            "calibration": calibration_groups(years, worth),
            "reading": "Fewer than forty rows for each place on the list: intervals cover less often than they say."
            if len(rows) < 40 * waitlist
            else "",
        }

    @staticmethod
    def _worth(matrix: np.ndarray, y: Outcome, tau: float) -> tuple[np.ndarray, str]:
        """What each life was worth: known where nobody was censored before the horizon, else estimated."""
        seen = y.restrict(tau)
        if seen.event.all():
            return seen.time, "observed years"
        estimator = DoublyRobust(Cox(alpha=RIDGE), Cox(alpha=RIDGE), tau=tau, on_violation="clip", floor=FLOOR)
        found = cross_fit(estimator, matrix, y, cv=min(5, y.n_events))
        return found.values, f"doubly robust estimates, cross-fitted within these rows; chances clipped at {FLOOR:g}"


def _object(content: Any, known: Sequence[str]) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ApiError(422, "not_an_object", 'the request must be a JSON object, such as {"candidates": […]}')
    unknown = [str(name)[:40] for name in content if name not in known]
    if unknown:
        raise ApiError(422, "unknown_field", f"there is no field {unknown[0]!r} here; there are {', '.join(known)}")
    return content


def _rows(content: Mapping[str, Any], most: int) -> list[Any]:
    rows = content.get("candidates")
    if not isinstance(rows, list):
        raise ApiError(422, "no_rows", "candidates must be a list of rows")
    if len(rows) > most:
        raise ApiError(413, "too_many_rows", f"{len(rows):,} rows are too many: at most {most:,} here")
    return rows


def _table(model: MatchModel, rows: list[Any], content: Mapping[str, Any]) -> CheckedRows:
    donor = content.get("donor")
    if donor is not None:
        if not isinstance(donor, dict):
            raise ApiError(422, "not_a_row", "the donor must be an object of column and value")
        unknown = [str(name)[:40] for name in donor if name not in model.schema.names]
        if unknown:
            raise ApiError(422, "unknown_column", f"the model has no column {unknown[0]!r}", None, unknown[0])
    try:
        return model.schema.table(rows, donor)
    except RowError as error:
        raise ApiError.of_row(error) from None


def _ignored(model: MatchModel, rows: list[Any]) -> list[str]:
    """Columns of the first row that the model does not know."""
    known = set(model.schema.names)
    return [str(name)[:40] for name in rows[0] if name not in known][:50]


def _whole(content: Mapping[str, Any], name: str, default: int, low: int, high: int) -> int:
    value = content.get(name)
    if value is None:
        return default
    if isinstance(value, float) and value.is_integer():  # JSON has one kind of number
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ApiError(422, f"bad_{name}", f"{name} must be a whole number from {low} to {high:,}")
    return value


def _outcome(content: Mapping[str, Any], n: int) -> Outcome:
    time, event = content.get("time"), content.get("event")
    for name, given in (("time", time), ("event", event)):
        if not isinstance(given, list) or len(given) != n:
            raise ApiError(422, f"bad_{name}", f"{name} must be a list with one value for each of the {n:,} rows")
    assert isinstance(time, list)
    assert isinstance(event, list)
    for row, value in enumerate(time):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 <= value <= 1e6 or not math.isfinite(value):
            raise ApiError(422, "bad_time", f"time[{row}] must be a number from 0 on", row, "time")
    for row, value in enumerate(event):
        if value not in (0, 1) or not isinstance(value, (bool, int, float)):
            raise ApiError(422, "bad_event", f"event[{row}] must be true or false", row, "event")
    return Outcome(np.array(time, dtype=float), np.array(event, dtype=bool))


def _interval(row: Any) -> dict[str, float | None]:
    return {name: float(row[name]) if np.isfinite(row[name]) else None for name in ("value", "low", "high")}
