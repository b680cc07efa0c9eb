"""Expected years, inverse probability of censoring weighting, and both together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from ..checks import check_choice
from ..curves import MOST_GRID_POINTS, SurvivalCurves, row_blocks
from ..errors import (
    DataError,
    FollowUpWarning,
    Message,
    PositivityWarning,
    RequestError,
    Setting,
)
from ..models import Cox, KaplanMeier, SurvivalModel, wrap
from ..outcome import Outcome, as_outcome
from ._formula import ObservationProbabilities, estimate_relevance
from ._relevance import Diagnostics, Relevance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import AnyArray, FloatArray, TableLike
    from ..outcome import OutcomeLike
    from ._cross_fit import CrossValidation

    Rows = slice | AnyArray

NUISANCE_RIDGE = 10.0
"""Ridge penalty of the Cox models that serve as nuisances, here, in runs and in the service.

A nuisance model is not interpreted, it only has to predict well for rows it has not seen. The folds of a cross-fit and
the lists of a service have few events for each column, where the default of `Cox`, meant for fits to be interpreted, is
too weak; with thousands of events a penalty of 10 changes next to nothing.
"""

OnViolation = Literal["warn", "raise", "clip"]
ALL_ROWS = slice(None)
DEFAULTS: dict[str, Callable[[], SurvivalModel]] = {
    "survival": lambda: Cox(alpha=NUISANCE_RIDGE),
    "censoring": KaplanMeier,
}
TOLERATED_SHARE = 0.01


class PositivityError(DataError):
    """The horizon is not supported for some rows: they cannot be followed that long."""

    default_code = "no_support"


class Part(NamedTuple):
    """Of some rows: relevance, diagnostics, how many chances are below the floor, are 0, cannot reach the horizon."""

    values: FloatArray
    diagnostics: Diagnostics
    small: int
    never: int
    out_of_reach: int


class OwnTimeProbabilities:
    """G(t⁻|x) of some rows, each at its own time and at the horizon; without a grid, whose steps 1/G would magnify."""

    def __init__(self, model: Any, X: TableLike, times: FloatArray, tau: float) -> None:
        self._own, self._at_horizon = model.survival_at(
            X, np.column_stack([times, np.full(len(times), tau)]), left=True
        ).T

    def __len__(self) -> int:
        return len(self._own)

    def at_own(self, t: FloatArray, left: bool = True) -> FloatArray:
        return np.asarray(self._own)

    def at(self, t: float, left: bool = True) -> FloatArray:
        return np.asarray(self._at_horizon)


class RelevanceEstimator(BaseEstimator):
    """What EY, IPCW and DR share: nuisance models to fit, or known curves to use as they are."""

    name = ""
    roles: tuple[str, ...] = ()  # of its nuisances
    tau: float | None
    tail: str | None

    def fit(self, X: TableLike, y: OutcomeLike) -> Self:
        """Fit the nuisance models to (X, y), copies of what was given.

        Parameters
        ----------
        X : table, shape (n, p)
            As the nuisance models take it.
        y : Outcome or what `lifeyears.as_outcome` reads
            Observed times and events; for the censoring model they are swapped here.

        Returns
        -------
        self

        Warns
        -----
        FollowUpWarning
            If the horizon lies beyond the longest follow-up, and that ends in a censoring.
        """
        y = as_outcome(y)
        for role, model in self.nuisances().items():
            if not isinstance(model, SurvivalCurves):
                setattr(self, f"{role}_model_", self._fit_nuisance(role, model, X, y))
        self.longest_ = float(y.time.max())
        self.ends_early_ = (
            self.tau is not None and self.tau > self.longest_ and not y.event[y.time == self.longest_].all()
        )
        if self.ends_early_:
            warnings.warn(
                f"the horizon {self.tau:g} lies beyond the longest follow-up, {self.longest_:g}: what happens in "
                "between is not in the data, and curves are taken to stay level there",
                FollowUpWarning,
                stacklevel=2,
            )
        return self

    def estimate(self, X: TableLike, y: OutcomeLike) -> Relevance:
        """Estimate the relevance of each row of (X, y).

        Rows the models were fitted on are estimated too optimistically; `cross_fit` avoids that.

        Parameters
        ----------
        X : table, shape (n, p)
            As the nuisance models take it.
        y : Outcome or what `lifeyears.as_outcome` reads
            Of the same rows.

        Returns
        -------
        Relevance
            ``.values`` is (n,), in the unit of the times; ``.diagnostics`` says how far to trust them.

        Raises
        ------
        PositivityError
            With weights, where the horizon is not supported: if ``on_violation="raise"``, or if rows were observed
            where G is 0 and nothing is clipped.
        """
        y = as_outcome(y)
        n: int = X.shape[0] if hasattr(X, "shape") else len(np.asarray(X))
        if n != len(y):
            raise DataError(f"X has {n} rows and y has {len(y)}: there must be one outcome for each row")
        self._check_policy()
        sources = {role: self._source(role, n) for role in self.roles}
        tau = self._horizon(X, y, sources.get("survival"))
        within = y.restrict(tau)
        values, parts = within.time.copy(), []  # an observed life has its own time as relevance, without any curve
        for rows in self._blocks(X, within, sources):
            some = within[rows]
            survival = self._survival_curves(sources, X, rows)
            censoring = self._censoring_curves(sources, X, rows, some, tau)
            parts.append(self._estimate(some, tau, survival, censoring))
            values[rows] = parts[-1].values
        diagnostics = Diagnostics.join([part.diagnostics for part in parts])
        out_of_reach = sum(part.out_of_reach for part in parts) / n
        relevance = Relevance(values, tau, self.name, replace(diagnostics, n=n, share_out_of_reach=out_of_reach))
        self._report_violation(relevance, sum(part.small for part in parts), sum(part.never for part in parts))
        return relevance

    def cross_fit(
        self,
        X: TableLike,
        y: OutcomeLike,
        cv: CrossValidation = 5,
        groups: ArrayLike | None = None,
        random_state: int | None = 0,
    ) -> Relevance:
        """Call `lifeyears.relevance.cross_fit` with this estimator."""
        from ._cross_fit import cross_fit

        return cross_fit(self, X, y, cv=cv, groups=groups, random_state=random_state)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "longest_") or all(is_ready(nuisance) for nuisance in self.nuisances().values())

    def parts(self) -> list[RelevanceEstimator]:
        """Return the estimators it is made of: itself, unless it is an average."""
        return [self]

    def nuisances(self) -> dict[str, Any]:
        """Return its nuisance models or curves by role, with the defaults filled in."""
        passed = {role: getattr(self, role) for role in self.roles}
        return {role: DEFAULTS[role]() if model is None else model for role, model in passed.items()}

    def _fit_nuisance(self, role: str, model: object, X: TableLike, y: Outcome) -> SurvivalModel | None:
        if role == "censoring":
            if y.n_events == len(y):  # nobody is censored: G is 1, whatever the model
                return None
            y = y.censoring()
        fitted: SurvivalModel = clone(wrap(model), safe=False).fit(X, y)
        return fitted

    def _source(self, role: str, n: int) -> SurvivalCurves | SurvivalModel:
        """Return where the curves of n rows come from: known ones, or a fitted model."""
        nuisance = self.nuisances()[role]
        if isinstance(nuisance, SurvivalCurves):
            return nuisance.for_rows(n, role)
        if hasattr(self, f"{role}_model_"):
            fitted: SurvivalModel | None = getattr(self, f"{role}_model_")
            return SurvivalCurves.trusted(np.zeros(1), np.ones((1, 1))).for_rows(n) if fitted is None else fitted
        if is_ready(nuisance):
            return wrap(nuisance)
        raise NotFittedError(
            f"this {type(self).__name__} is not fitted yet: call fit first, or pass it fitted models or curves"
        )

    def _horizon(self, X: TableLike, y: Outcome, survival: SurvivalCurves | SurvivalModel | None) -> float:
        if self.tau is not None:
            return float(self.tau)
        check_choice("tail", self.tail, (None, "drop"))
        longest = max(float(y.time.max()), getattr(self, "longest_", 0.0))
        if survival is None:
            open_ended = not y.event[y.time == y.time.max()].all()
        else:
            curves = _take_curves(survival, X, ALL_ROWS)
            longest = max(longest, float(curves.times[-1]))
            open_ended = curves.at(longest).max() > 1e-6
        if open_ended and self.tail is None:
            raise RequestError(
                "without a horizon the mean life needs all of it, and here some are left at the end",
                hint=Message(
                    "Pass ",
                    Setting("tau"),
                    ", or state a tail rule: ",
                    Setting("tail", "drop"),
                    " lets whoever is left die at the last time.",
                ),
            )
        return longest

    def _blocks(self, X: TableLike, y: Outcome, sources: Mapping[str, object]) -> list[Rows]:
        """Return the rows to predict for together: all, unless a row's curve depends on that row alone."""
        models = [source for source in sources.values() if isinstance(source, SurvivalModel)]
        if not all(model.by_row for model in models):
            return [ALL_ROWS]
        rows = self._rows_needed(y) if models else ALL_ROWS  # known curves are there already
        named = any(hasattr(model, "feature_names_in_") for model in models)  # would warn of a matrix at every call
        if named or not isinstance(X, np.ndarray):
            return [rows]
        blocks = row_blocks(len(y[rows]), 4 * MOST_GRID_POINTS)
        return [rows[block] if isinstance(rows, np.ndarray) else block for block in blocks]

    def _survival_curves(
        self, sources: Mapping[str, SurvivalCurves | SurvivalModel], X: TableLike, rows: Rows
    ) -> SurvivalCurves | None:
        return _take_curves(sources["survival"], X, rows) if "survival" in sources else None

    def _censoring_curves(
        self, sources: Mapping[str, SurvivalCurves | SurvivalModel], X: TableLike, rows: Rows, y: Outcome, tau: float
    ) -> ObservationProbabilities | None:
        return _take_curves(sources["censoring"], X, rows) if "censoring" in sources else None

    def _rows_needed(self, y: Outcome) -> Rows:
        """Return the rows whose curves are needed."""
        return ALL_ROWS

    def _estimate(
        self, y: Outcome, tau: float, survival: SurvivalCurves | None, censoring: ObservationProbabilities | None
    ) -> Part:
        floor, small, never, out_of_reach = 0.0, 0, 0, 0
        weights: dict[str, Any] = {}
        if censoring is not None:
            floor = self.floor if self.on_violation == "clip" else 0.0
            reached = censoring.at_own(y.time, left=True)
            reached = reached if survival is not None else reached[y.event]  # of the rows that carry a weight
            small, never = int((reached < self.floor).sum()), int((reached <= 0).sum())
            out_of_reach = self._count_out_of_reach(tau, censoring)
            weights = _describe_weights(reached, floor) | {"n_clipped": small if floor else 0}
        refused = never and not floor  # see `_report_violation`
        values = np.full(len(y), np.nan) if refused else estimate_relevance(y, tau, survival, censoring, floor)
        fallback = 0 if survival is None else int(np.count_nonzero(~y.event & (survival.at_own(y.time) <= 0)))
        diagnostics = Diagnostics(
            n=len(y),
            n_censored=len(y) - y.n_events,
            n_fallback=fallback,
            n_negative=int(np.count_nonzero(values < 0)),
            **weights,
        )
        return Part(values, diagnostics, small, never, out_of_reach)

    def _count_out_of_reach(self, tau: float, censoring: ObservationProbabilities) -> int:
        """Count who cannot be followed to the horizon, whatever a model predicts for times beyond all follow-up."""
        nobody = getattr(self, "ends_early_", False) and not isinstance(self.censoring, SurvivalCurves)
        return len(censoring) if nobody else int((censoring.at(tau, left=True) < self.floor).sum())

    def _check_policy(self) -> None:
        if "censoring" not in self.roles:
            return
        check_choice("on_violation", self.on_violation, ("warn", "raise", "clip"))
        check_floor(self.floor)

    def _report_violation(self, relevance: Relevance, small: int, never: int) -> None:
        """Apply the stated policy where the horizon is not supported."""
        if "censoring" not in self.roles or self.on_violation == "clip":
            return
        out_of_reach = relevance.diagnostics.share_out_of_reach
        problem = (
            f"{out_of_reach:.1%} of the rows have less than a chance of {self.floor:g} of being followed to "
            f"{relevance.tau:g}, and {small} rows are weighted by more than {1 / self.floor:g}"
        )
        hint = Message(
            "Choose an earlier horizon or an earlier cohort (lifeyears.relevance.check_positivity shows which), or ",
            Setting("on_violation", "clip"),
            ".",
        )
        if never:
            problem = f"{never} rows were observed where the censoring model gives a chance of 0. {problem}"
            raise PositivityError(problem, hint=hint)
        if out_of_reach > TOLERATED_SHARE or small > TOLERATED_SHARE * len(relevance):
            if self.on_violation == "raise":
                raise PositivityError(problem, hint=hint)
            warnings.warn(Message(problem, ". ", hint), PositivityWarning, stacklevel=3)


class ExpectedYears(RelevanceEstimator):
    """Expected years (EY): impute a censored life by what the survival model expects of it (paper, section 4.1).

    Y = δ·T + (1 − δ)·E[min(T*, τ) | T* > T, x]. Unbiased given x if the survival model is right.

    Parameters
    ----------
    survival : model or SurvivalCurves, optional
        The survival model: `fit` fits a copy of it, and one that is fitted already can be used without; curves, one row
        each, are used as they are. None means Cox with a ridge of `NUISANCE_RIDGE`.
    tau : float, optional
        The horizon; None targets the whole life, which needs curves that end at 0, or a tail rule.
    tail : {None, "drop"}
        For ``tau=None``: "drop" lets whoever is left die at the last time.

    Examples
    --------
    >>> from lifeyears.models import KaplanMeier
    >>> X, y = [[0], [0], [0]], ([1, 0, 1], [1.0, 2.0, 4.0])
    >>> ExpectedYears(KaplanMeier(), tau=5).fit(X, y).estimate(X, y).values
    array([1., 4., 4.])
    """

    name = "EY"
    roles = ("survival",)

    def __init__(self, survival: Any = None, tau: float | None = None, tail: str | None = None) -> None:
        self.survival = survival
        self.tau = tau
        self.tail = tail

    def _rows_needed(self, y: Outcome) -> Rows:
        """Return the censored, and one row if nobody is: a wrong table is to be refused all the same."""
        if self.tau is None:  # the horizon needed the curves of all rows: the same again
            return ALL_ROWS
        censored = np.flatnonzero(~y.event)
        return censored if len(censored) else np.arange(len(y))[:1]


class IPCW(RelevanceEstimator):
    """Inverse probability of censoring weighting (IPCW): weight observed lives by 1/G(T⁻|x) (paper, section 4.1).

    Y = δ·T/G(T⁻|x). Unbiased given x if the censoring model is right and everybody could be followed to the horizon:
    see `check_positivity`.

    Parameters
    ----------
    censoring : model or SurvivalCurves, optional
        A survival model of the censoring time (if fitted, then to ``y.censoring()``), or known curves G(t|x). None
        means Kaplan–Meier.
    tau : float, optional
        The horizon; None targets the whole life, which needs the longest time to be an event, or a tail rule.
    tail : {None, "drop"}
        For ``tau=None``: "drop" lets whoever is left die at the last time.
    on_violation : {"warn", "raise", "clip"}
        What to do where the horizon is not supported; "clip" raises G to `floor`. Nothing is clipped otherwise.
    floor : float, default 0.05
        The horizon counts as not supported where the chance of being followed so long is below this.

    Examples
    --------
    >>> from lifeyears.models import KaplanMeier
    >>> X, y = [[0], [0], [0]], ([1, 0, 1], [1.0, 2.0, 4.0])
    >>> IPCW(KaplanMeier(), tau=5).fit(X, y).estimate(X, y).values      # the last stands for the censored too
    array([1., 0., 8.])
    """

    name = "IPCW"
    roles = ("censoring",)

    def __init__(
        self,
        censoring: Any = None,
        tau: float | None = None,
        tail: str | None = None,
        on_violation: OnViolation = "warn",
        floor: float = 0.05,
    ) -> None:
        self.censoring = censoring
        self.tau = tau
        self.tail = tail
        self.on_violation = on_violation
        self.floor = floor

    def _censoring_curves(
        self, sources: Mapping[str, SurvivalCurves | SurvivalModel], X: TableLike, rows: Rows, y: Outcome, tau: float
    ) -> ObservationProbabilities | None:
        source = sources["censoring"]
        if hasattr(source, "survival_at"):
            return OwnTimeProbabilities(source, _take_rows(X, rows), y.time, tau)
        return _take_curves(source, X, rows)


class DoublyRobust(RelevanceEstimator):
    """Doubly robust (DR, AIPCW): weighting and imputation together, unbiased if either model is right.

    Y = (δ·T + (1 − δ)·Q(T|x))/G(T⁻|x) − Σ_{u<T} Q(u|x)·[1/G(u|x) − 1/G(u⁻|x)], Q(u|x) = E[min(T*, τ)|T* > u, x].
    Single values can be negative; use `policy_value` with them.

    Parameters
    ----------
    survival, censoring : model or SurvivalCurves, optional
        As for `ExpectedYears` and `IPCW`.
    tau, tail, on_violation, floor
        As for `ExpectedYears` and `IPCW`.

    Examples
    --------
    >>> from lifeyears.models import KaplanMeier
    >>> X, y = [[0], [0], [0]], ([1, 0, 1], [1.0, 2.0, 4.0])
    >>> DoublyRobust(KaplanMeier(), KaplanMeier(), tau=5).fit(X, y).estimate(X, y).values
    array([1., 4., 4.])
    """

    name = "DR"
    roles = ("survival", "censoring")

    def __init__(
        self,
        survival: Any = None,
        censoring: Any = None,
        tau: float | None = None,
        tail: str | None = None,
        on_violation: OnViolation = "warn",
        floor: float = 0.05,
    ) -> None:
        self.survival = survival
        self.censoring = censoring
        self.tau = tau
        self.tail = tail
        self.on_violation = on_violation
        self.floor = floor


def check_floor(floor: float) -> None:
    """Refuse a floor of chances that does not lie strictly between 0 and 1."""
    if not 0 < floor < 1:
        raise RequestError(f"floor must lie between 0 and 1; got {floor!r}")


def _take_curves(source: SurvivalCurves | SurvivalModel, X: TableLike, rows: Rows) -> SurvivalCurves:
    """Return the curves of some rows of X."""
    if isinstance(source, SurvivalCurves):
        return source[rows]
    return source.predict_curves(_take_rows(X, rows))


def _take_rows(X: TableLike, rows: Rows) -> TableLike:
    return X if rows is ALL_ROWS else _safe_indexing(X, rows)


def _describe_weights(reached: FloatArray, floor: float) -> dict[str, float]:
    """Summarise the weights 1/G."""
    used = np.maximum(reached, floor)
    weights = 1 / used[used > 0]
    return {
        "smallest_chance": float(reached.min(initial=1.0)),
        "weight_sum": float(weights.sum()),
        "weight_square_sum": float((weights**2).sum()),
        "largest_weight": float(weights.max(initial=0.0)),
    }


def is_ready(nuisance: object) -> bool:
    """Return whether a nuisance can be used as it is: known curves, or a model that is fitted."""
    if isinstance(nuisance, SurvivalCurves):
        return True
    try:
        check_is_fitted(wrap(nuisance))
    except NotFittedError:
        return False
    return True
