"""Expected years, inverse probability of censoring weighting, and both together."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from ..curves import SurvivalCurves, row_blocks
from ..errors import FollowUpWarning, PositivityWarning
from ..models import Cox, KaplanMeier, wrap
from ..models._base import MOST_GRID_POINTS, SurvivalModel
from ..outcome import Outcome, as_outcome
from ._formula import worth
from ._relevance import Diagnostics, Relevance

OnViolation = Literal["warn", "raise", "clip"]
Rows = slice | np.ndarray
EVERYBODY = slice(None)
DEFAULTS = {"survival": Cox, "censoring": KaplanMeier}
TOLERATED_SHARE = 0.01


class PositivityError(ValueError):
    """The horizon is out of reach for some rows: they cannot be followed that long."""


class Part(NamedTuple):
    """Of some rows: relevance, diagnostics, how many chances are below the floor, are 0, cannot reach the horizon."""

    values: np.ndarray
    diagnostics: Diagnostics
    small: int
    never: int
    out_of_reach: int


class OwnTimes:
    """G(t⁻|x) of some rows, each at its own time and at the horizon; without a grid, whose steps 1/G would magnify."""

    def __init__(self, model: Any, X: Any, times: np.ndarray, tau: float) -> None:
        asked = np.column_stack([times, np.full(len(times), tau)])
        self._own, self._at_horizon = model.survival_at(X, asked, left=True).T

    def __len__(self) -> int:
        return len(self._own)

    def at_own(self, times: np.ndarray, left: bool = True) -> np.ndarray:
        return self._own

    def at(self, time: float, left: bool = True) -> np.ndarray:
        return self._at_horizon


class RelevanceEstimator(BaseEstimator):
    """What EY, IPCW and DR share: nuisance models to fit, or known curves to use as they are."""

    name = ""
    roles: tuple[str, ...] = ()  # of its nuisances
    tau: float | None
    tail: str | None

    def fit(self, X: Any, y: Any) -> Self:
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
        for role, model in self._nuisances().items():
            if not isinstance(model, SurvivalCurves):
                setattr(self, f"{role}_model_", self._fitted(role, model, X, y))
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

    def estimate(self, X: Any, y: Any) -> Relevance:
        """Relevance of each row of (X, y).

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
            With weights, where the horizon is out of reach: if ``on_violation="raise"``, or if rows were seen where G
            says nobody can be and nothing is clipped.
        """
        y = as_outcome(y)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if n != len(y):
            raise ValueError(f"X has {n} rows and y has {len(y)}: there must be one outcome for each row")
        self._check_policy()
        sources = {role: self._source(role, n) for role in self.roles}
        tau = self._horizon(X, y, sources.get("survival"))
        seen = y.restrict(tau)
        values, parts = seen.time.copy(), []  # a seen life is worth its own time, if nobody has to be asked
        for rows in self._blocks(X, seen, sources):
            curves = {role: self._curves(source, X, rows, seen[rows], tau) for role, source in sources.items()}
            parts.append(self._estimate(seen[rows], tau, curves))
            values[rows] = parts[-1].values
        diagnostics = Diagnostics.joined([part.diagnostics for part in parts])
        out_of_reach = sum(part.out_of_reach for part in parts) / n
        found = Relevance(values, tau, self.name, replace(diagnostics, n=n, share_out_of_reach=out_of_reach))
        self._complain(found, sum(part.small for part in parts), sum(part.never for part in parts))
        return found

    def cross_fit(self, X: Any, y: Any, cv: Any = 5, groups: Any = None, random_state: Any = 0) -> Relevance:
        """`lifeyears.relevance.cross_fit` with this estimator."""
        from ._cross_fit import cross_fit

        return cross_fit(self, X, y, cv=cv, groups=groups, random_state=random_state)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "longest_") or all(ready(given) for given in self._nuisances().values())

    def _parts(self) -> list[RelevanceEstimator]:
        """The estimators it is made of: itself, unless it is an average."""
        return [self]

    def _nuisances(self) -> dict[str, Any]:
        """Role → model or curves, with the defaults filled in."""
        given = {role: getattr(self, role) for role in self.roles}
        return {role: DEFAULTS[role]() if model is None else model for role, model in given.items()}

    def _fitted(self, role: str, model: Any, X: Any, y: Outcome) -> Any:
        if role == "censoring":
            if y.n_events == len(y):  # nobody is censored: G is 1, whatever the model
                return None
            y = y.censoring()
        return clone(wrap(model), safe=False).fit(X, y)

    def _source(self, role: str, n: int) -> SurvivalCurves | SurvivalModel:
        """Where the curves of n rows come from: known ones, or a fitted model to ask."""
        given = self._nuisances()[role]
        if isinstance(given, SurvivalCurves):
            return given.for_rows(n, role)
        if hasattr(self, f"{role}_model_"):
            fitted = getattr(self, f"{role}_model_")
            return SurvivalCurves.trusted(np.zeros(1), np.ones((1, 1))).for_rows(n) if fitted is None else fitted
        if ready(given):
            return wrap(given)
        raise NotFittedError(
            f"this {type(self).__name__} is not fitted yet: call fit first, or give it fitted models or curves"
        )

    def _horizon(self, X: Any, y: Outcome, survival: SurvivalCurves | SurvivalModel | None) -> float:
        if self.tau is not None:
            return float(self.tau)
        if self.tail not in (None, "drop"):
            raise ValueError(f'tail must be None or "drop"; got {self.tail!r}')
        longest = max(float(y.time.max()), getattr(self, "longest_", 0.0))
        if survival is None:
            open_ended = not y.event[y.time == y.time.max()].all()
        else:
            curves = _curves_of(survival, X, EVERYBODY)
            longest = max(longest, float(curves.times[-1]))
            open_ended = curves.at(longest).max() > 1e-6
        if open_ended and self.tail is None:
            raise ValueError(
                "without a horizon the mean life needs all of it, and here some are left at the end. Give tau, or "
                'state a tail rule: tail="drop" lets whoever is left die at the last time'
            )
        return longest

    def _blocks(self, X: Any, seen: Outcome, sources: dict[str, Any]) -> list[Rows]:
        """Which rows are asked for together: all, unless a row's curve depends on that row alone."""
        models = [source for source in sources.values() if isinstance(source, SurvivalModel)]
        if not all(model.by_row for model in models):
            return [EVERYBODY]
        rows = self._asked(seen) if models else EVERYBODY  # known curves are there already
        named = any(hasattr(model, "feature_names_in_") for model in models)  # of a matrix it would tell at every call
        if named or not isinstance(X, np.ndarray):
            return [rows]
        blocks = row_blocks(len(seen[rows]), 4 * MOST_GRID_POINTS)
        return [rows[block] if isinstance(rows, np.ndarray) else block for block in blocks]

    def _curves(self, source: Any, X: Any, rows: Rows, seen: Outcome, tau: float) -> SurvivalCurves | OwnTimes:
        return _curves_of(source, X, rows)

    def _asked(self, seen: Outcome) -> Rows:
        """The rows whose curves are needed."""
        return EVERYBODY

    def _estimate(self, y: Outcome, tau: float, curves: dict[str, Any]) -> Part:
        survival, censoring = curves.get("survival"), curves.get("censoring")
        floor, small, never, out_of_reach = 0.0, 0, 0, 0
        weights: dict[str, Any] = {}
        if censoring is not None:
            floor = self.floor if self.on_violation == "clip" else 0.0
            reached = censoring.at_own(y.time, left=True)
            reached = reached if survival is not None else reached[y.event]  # of the rows that carry a weight
            small, never = int((reached < self.floor).sum()), int((reached <= 0).sum())
            out_of_reach = self._out_of_reach(tau, censoring)
            weights = _of_weights(reached, floor) | {"n_clipped": small if floor else 0}
        refused = never and not floor  # see `_complain`
        values = np.full(len(y), np.nan) if refused else worth(y, tau, survival, censoring, floor)
        fallback = 0 if survival is None else int(np.count_nonzero(~y.event & (survival.at_own(y.time) <= 0)))
        diagnostics = Diagnostics(
            n=len(y),
            n_censored=len(y) - y.n_events,
            n_fallback=fallback,
            n_negative=int(np.count_nonzero(values < 0)),
            **weights,
        )
        return Part(values, diagnostics, small, never, out_of_reach)

    def _out_of_reach(self, tau: float, censoring: SurvivalCurves) -> int:
        """How many cannot be followed to the horizon, whatever a model says of times that nobody was followed to."""
        nobody = getattr(self, "ends_early_", False) and not isinstance(self.censoring, SurvivalCurves)
        return len(censoring) if nobody else int((censoring.at(tau, left=True) < self.floor).sum())

    def _check_policy(self) -> None:
        if "censoring" not in self.roles:
            return
        if self.on_violation not in ("warn", "raise", "clip"):
            raise ValueError(f'on_violation must be "warn", "raise" or "clip"; got {self.on_violation!r}')
        if not 0 < self.floor < 1:
            raise ValueError(f"floor must lie between 0 and 1; got {self.floor!r}")

    def _complain(self, found: Relevance, small: int, never: int) -> None:
        """Apply the stated policy where the horizon is out of reach."""
        if "censoring" not in self.roles or self.on_violation == "clip":
            return
        out_of_reach = found.diagnostics.share_out_of_reach
        message = (
            f"{out_of_reach:.1%} of the rows have less than a chance of {self.floor:g} of being followed to "
            f"{found.tau:g}, and {small} rows are weighted by more than {1 / self.floor:g}. Choose an earlier horizon "
            "or an earlier cohort (lifeyears.relevance.check_positivity shows which), or "
            'on_violation="clip"'
        )
        if never:
            raise PositivityError(f"{never} rows were seen where G says nobody can be. {message}")
        if out_of_reach > TOLERATED_SHARE or small > TOLERATED_SHARE * len(found):
            if self.on_violation == "raise":
                raise PositivityError(message)
            warnings.warn(message, PositivityWarning, stacklevel=3)


class ExpectedYears(RelevanceEstimator):
    """EY: a censored life is worth what the survival model expects of it, given that it has come so far (section 4.1).

    Y = δ·T + (1 − δ)·E[min(T*, τ) | T* > T, x]. Unbiased given x if the survival model is right.

    Parameters
    ----------
    survival : model or SurvivalCurves, optional
        The survival model: `fit` fits a copy of it, and one that is fitted already can be used without; curves, one row
        each, are used as they are. None means Cox.
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

    def _asked(self, seen: Outcome) -> Rows:
        """The censored; and one row if nobody is, for a wrong table is to be refused all the same."""
        if self.tau is None:  # all were asked for the horizon: the same again
            return EVERYBODY
        censored = np.flatnonzero(~seen.event)
        return censored if len(censored) else np.arange(len(seen))[:1]


class IPCW(RelevanceEstimator):
    """IPCW: seen lives stand in for the censored ones, weighted by 1/G(T⁻|x) (section 4.1).

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
        What to do where the horizon is out of reach; "clip" raises G to `floor`. Nothing is clipped otherwise.
    floor : float, default 0.05
        Chances below this count as out of reach.

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

    def _curves(self, source: Any, X: Any, rows: Rows, seen: Outcome, tau: float) -> SurvivalCurves | OwnTimes:
        if hasattr(source, "survival_at"):
            return OwnTimes(source, _some(X, rows), seen.time, tau)
        return _curves_of(source, X, rows)


class DoublyRobust(RelevanceEstimator):
    """DR: weighting and imputation together, right if either model is.

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


def _curves_of(source: SurvivalCurves | SurvivalModel, X: Any, rows: Rows) -> SurvivalCurves:
    """Curves of some rows of X."""
    if isinstance(source, SurvivalCurves):
        return source[rows]
    return source.predict_curves(_some(X, rows))


def _some(X: Any, rows: Rows) -> Any:
    return X if rows is EVERYBODY else _safe_indexing(X, rows)


def _of_weights(reached: np.ndarray, floor: float) -> dict[str, Any]:
    """What the weights 1/G are like."""
    used = np.maximum(reached, floor)
    weights = 1 / used[used > 0]
    return {
        "smallest_chance": float(reached.min(initial=1.0)),
        "weight_sum": float(weights.sum()),
        "weight_square_sum": float((weights**2).sum()),
        "largest_weight": float(weights.max(initial=0.0)),
    }


def ready(given: Any) -> bool:
    """Whether a nuisance can be used as it is: known curves, or a model that is fitted."""
    if isinstance(given, SurvivalCurves):
        return True
    try:
        check_is_fitted(wrap(given))
    except NotFittedError:
        return False
    return True
