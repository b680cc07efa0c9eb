"""How well a served model ranks rows whose outcome is known: nuisance models, intervals and calibration groups."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..checks import check_whole
from ..errors import DataError, Message, RequestError
from ..experiments.types import Estimate
from ..metrics import compare, concordance_index
from ..models import Cox
from ..relevance import NUISANCE_RIDGE, DoublyRobust, check_positivity, cross_fit

if TYPE_CHECKING:
    import pandas as pd

    from .._typing import FloatArray
    from ..outcome import Outcome
    from ._model import MatchModel
    from ._schema import CheckedRows

FEWEST_ROWS, FEWEST_EVENTS = 50, 10
FLOOR = 0.05  # smaller probabilities of being followed are clipped
LONGEST_LIST, ROWS_PER_PLACE = 256, 40  # below 40 rows for each place, intervals cover less often than their level
GROUPS, ROWS_PER_GROUP, FEWEST_IN_GROUP = 10, 50, 10
RESAMPLES = 500
_MODEL, _RANDOM = "model", "random"


@dataclass(frozen=True)
class SupportSummary:
    """Whether the rows could be followed to the horizon (positivity).

    Attributes
    ----------
    smallest_reach : float or None
        The smallest estimated probability, over the rows, of being followed to the horizon.
    share_out_of_reach : float or None
        The share of rows whose probability is too small to estimate anything at the horizon.
    reading : str
        The same in a sentence.
    """

    smallest_reach: float | None
    share_out_of_reach: float | None
    reading: str


@dataclass(frozen=True)
class CalibrationGroup:
    """Rows with similar predictions: mean prediction against mean outcome, with the 95% interval of the latter.

    Attributes
    ----------
    predicted, observed : float or None
        Means over the group, in the unit of the data.
    low, high : float or None
        Ends of the 95% interval of `observed`.
    patients : int
        Number of rows.
    """

    predicted: float | None
    observed: float | None
    low: float | None
    high: float | None
    patients: int


@dataclass(frozen=True)
class Evaluation:
    """How well a model ranks rows whose outcome is known.

    Attributes
    ----------
    rows, events : int
        Number of rows, and of those with an event.
    k, waitlist : int
        Places of a list that count, and the length of the lists.
    judged_by : str
        What stands for the outcome of a row: observed or estimated times.
    support : SupportSummary
    c_index : float
        Harrell's C-index of the predictions, with times restricted to the horizon.
    value, at_random : Estimate
        Expected time of one allocation by the model, and of an allocation at random, with 95% intervals.
    gain : Estimate
        The difference of the two, paired.
    mean_predicted, mean_outcome : float
        Means over all rows.
    calibration : tuple of CalibrationGroup
    note : str
        What to keep in mind; empty if nothing.
    """

    rows: int
    events: int
    k: int
    waitlist: int
    judged_by: str
    support: SupportSummary
    c_index: float
    value: Estimate
    at_random: Estimate
    gain: Estimate
    mean_predicted: float
    mean_outcome: float
    calibration: tuple[CalibrationGroup, ...]
    note: str


def evaluate_model(
    model: MatchModel, rows: CheckedRows, y: Outcome, k: int = 1, waitlist: int | None = None
) -> Evaluation:
    """Evaluate a fitted model on rows whose outcome is known.

    Outcomes are times within the model's horizon. Where somebody is censored before it, they are estimated: doubly
    robust, with Cox models of the time and of the censoring that are cross-fitted within these rows.

    Parameters
    ----------
    model : MatchModel
    rows : CheckedRows
        As ``model.schema.table`` or ``model.schema.frame`` returns them: at least 50.
    y : Outcome
        One for each row, with at least 10 events.
    k : int, default 1
        Places of a list that count.
    waitlist : int, optional
        Length of the lists. By default one place for every forty rows, from 2 to 256.

    Returns
    -------
    Evaluation

    Raises
    ------
    DataError
        If there are too few rows or events, or the outcomes cannot be estimated.

    Examples
    --------
    >>> import lifeyears as ly
    >>> from lifeyears.scoring import fit_model
    >>> data = ly.data.simulate_registry(n=400)
    >>> model = fit_model(data, method="none")
    >>> found = evaluate_model(model, model.schema.frame(data.X), data.y, waitlist=10)
    >>> found.rows, found.waitlist, found.value.value > found.at_random.value
    (400, 10, True)
    """
    n = len(rows)
    if n < FEWEST_ROWS or y.n_events < FEWEST_EVENTS:
        raise DataError(
            f"{n} rows with {y.n_events} events are too few to evaluate a model: at least {FEWEST_ROWS} rows with "
            f"{FEWEST_EVENTS} events are needed",
            code="too_few_rows",
        )
    waitlist = choose_waitlist(n) if waitlist is None else check_whole("waitlist", waitlist, 1, n)
    k = check_whole("k", k, 1, waitlist)
    predicted = model.explain(rows).years
    matrix = rows.matrix(model.ranker.preprocessor_)
    varying = matrix[:, matrix.std(axis=0) > 1e-12]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about few rows, and a C-index below one half: both are reported
        try:
            outcomes, judged_by = _estimate_outcomes(varying, y, model.tau)
            support = summarise_support(varying, y, model.tau)
            scores = {_MODEL: predicted, _RANDOM: np.zeros(n)}
            comparison = compare(outcomes, scores, k=k, waitlist=waitlist, n_resamples=RESAMPLES)
            c_index = float(concordance_index(y.restrict(model.tau), predicted))
        except RequestError as error:
            problem = Message("the model cannot be evaluated on these rows: ", error.problem)
            raise DataError(problem, hint=error.hint, code="cannot_be_judged") from None
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            raise DataError(f"the model cannot be evaluated on these rows: {error}", code="cannot_be_judged") from None
    few = n < ROWS_PER_PLACE * waitlist
    return Evaluation(
        rows=n,
        events=int(y.n_events),
        k=k,
        waitlist=waitlist,
        judged_by=judged_by,
        support=support,
        c_index=c_index,
        value=as_estimate(comparison.values.loc[_MODEL]),
        at_random=as_estimate(comparison.values.loc[_RANDOM]),
        gain=as_estimate(comparison.differences.loc[(_MODEL, _RANDOM)]),
        mean_predicted=float(predicted.mean()),
        mean_outcome=float(outcomes.mean()),
        calibration=group_by_prediction(predicted, outcomes),
        note="There are fewer than forty rows for each place on the list: intervals cover less often than 95%."
        if few
        else "",
    )


def choose_waitlist(n: int) -> int:
    """Return the length of lists for so many rows: one place for every forty of them, from 2 to 256.

    Examples
    --------
    >>> choose_waitlist(400), choose_waitlist(50), choose_waitlist(10**6)
    (10, 2, 256)
    """
    return min(LONGEST_LIST, max(2, n // ROWS_PER_PLACE))


def summarise_support(matrix: FloatArray, y: Outcome, tau: float) -> SupportSummary:
    """Summarise whether people could be followed to the horizon (positivity)."""
    if y.restrict(tau).event.all():
        return SupportSummary(1.0, 0.0, "Nobody is censored before the horizon.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        positivity = check_positivity(Cox(alpha=NUISANCE_RIDGE), matrix, y, tau)
    return SupportSummary(
        rounded(positivity.smallest_reach), rounded(positivity.share_out_of_reach), str(positivity).splitlines()[0]
    )


def group_by_prediction(scores: FloatArray, outcomes: FloatArray, groups: int = GROUPS) -> tuple[CalibrationGroup, ...]:
    """Group rows by their predictions: mean prediction against mean outcome, with 95% intervals of the latter.

    Equal predictions stay together; a group has about fifty rows or more.
    """
    order = np.argsort(scores, kind="stable")
    count = max(1, min(groups, len(scores) // ROWS_PER_GROUP))
    edges = np.searchsorted(scores[order], np.quantile(scores, np.arange(1, count) / count), side="left")
    table = []
    for part in np.split(order, np.unique(edges)):
        if len(part) < FEWEST_IN_GROUP:
            continue
        mean, error = float(outcomes[part].mean()), float(outcomes[part].std(ddof=1) / np.sqrt(len(part)))
        table.append(
            CalibrationGroup(
                predicted=rounded(scores[part].mean()),
                observed=rounded(mean),
                low=rounded(mean - 1.96 * error),
                high=rounded(mean + 1.96 * error),
                patients=len(part),
            )
        )
    return tuple(table)


def as_estimate(row: pd.Series) -> Estimate:
    """Return a row with value, low and high; None where a number is not finite."""
    value, low, high = (float(row[name]) if np.isfinite(row[name]) else None for name in ("value", "low", "high"))
    return Estimate(value, low, high)


def rounded(value: float) -> float | None:
    """Return six digits after the point, as a card holds a number; None for NaN."""
    return round(float(value), 6) if np.isfinite(value) else None


def _estimate_outcomes(matrix: FloatArray, y: Outcome, tau: float) -> tuple[FloatArray, str]:
    """Return times within the horizon, observed if nobody was censored before it, else estimated; and which."""
    restricted = y.restrict(tau)
    if restricted.event.all():
        return restricted.time, "observed times"
    life, censoring = Cox(alpha=NUISANCE_RIDGE), Cox(alpha=NUISANCE_RIDGE)
    estimator = DoublyRobust(life, censoring, tau=tau, on_violation="clip", floor=FLOOR)
    relevance = cross_fit(estimator, matrix, y, cv=min(5, y.n_events))
    words = f"doubly robust estimates, cross-fitted within these rows; probabilities clipped at {FLOOR:g}"
    return relevance.values, words
