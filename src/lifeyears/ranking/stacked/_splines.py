"""Members that are hazards along linear splines, with empirical-Bayes prior variances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..._typing import FloatArray
from ...checks import check_whole
from .._piecewise import choose_cut_points
from ..splines import SplineSearch, fit_spline_hazards, fit_spline_interactions
from ._members import FoldFit, Member, TrainingRows

if TYPE_CHECKING:
    from ..._typing import RandomState


class SplineMember(Member):
    """What members along splines share: their settings, and that their fit has no random part."""

    target_weight: ClassVar[float] = 2.0

    def __init__(self, tau: float | None = None, n_intervals: int = 3, random_state: RandomState = None) -> None:
        self.tau = tau
        self.n_intervals = n_intervals
        self.random_state = random_state

    def check(self) -> None:
        """Refuse settings that cannot be used."""
        check_whole("n_intervals", self.n_intervals, 1, 10)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = False
        return tags


class SplineHazards(SplineMember):
    """Proportional hazards along linear splines, piecewise in time, with a prior variance for each term.

    The prior variances are estimated by maximising the marginal likelihood (empirical Bayes; automatic relevance
    determination): terms whose variance falls below a limit are dropped. Intervals of time have coefficients of their
    own and share the variances.

    Parameters
    ----------
    tau : float, optional
        The horizon; None means the largest training time. `StackedRanker` passes its own.
    n_intervals : int, default 3
        Number of intervals of time with effects of their own; fewer where events are few.
    random_state : int, RandomState or None
        Not used: the fit has no random part. It is here so that all members take the same arguments.

    References
    ----------
    MacKay, D. J. C. (1992). Bayesian interpolation. Neural Computation 4, 415-447.

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=400)
    >>> SplineHazards(tau=10).fit(d.X, d.y).predict(d.X).shape
    (400,)
    """

    def fit_stages(self, rows: TrainingRows, new: FloatArray) -> FoldFit:
        """Fit to some rows, and predict others; prior variances need no held-out rows."""
        search = search_splines(rows, self.n_intervals)
        return FoldFit(search.hazards.predict(new)[None], [search.hazards], search.converged)


class SplineInteractionHazards(SplineMember):
    """`SplineHazards` with interactions: products of the strongest terms, two at a time, with the same kind of prior.

    Parameters
    ----------
    tau : float, optional
        The horizon; None means the largest training time. `StackedRanker` passes its own.
    n_intervals : int, default 3
        Number of intervals of time with effects of their own; fewer where events are few.
    random_state : int, RandomState or None
        Not used: the fit has no random part. It is here so that all members take the same arguments.

    Examples
    --------
    >>> import lifeyears as ly
    >>> d = ly.data.simulate_registry(n=400)
    >>> SplineInteractionHazards(tau=10).fit(d.X, d.y).predict(d.X).shape
    (400,)
    """

    def fit_stages(self, rows: TrainingRows, new: FloatArray) -> FoldFit:
        """Fit to some rows, starting from the fit without interactions, and predict others."""
        search = search_splines(rows, self.n_intervals)
        hazards = fit_spline_interactions(search)
        return FoldFit(hazards.predict(new)[None], [hazards], search.converged)


def search_splines(rows: TrainingRows, n_intervals: int) -> SplineSearch:
    """Fit spline hazards to some rows, once for the members with and without interactions."""

    def search() -> SplineSearch:
        return fit_spline_hazards(rows.X, rows.outcomes, choose_cut_points(rows.outcomes, rows.tau, n_intervals))

    return rows.shared.get(search, "splines", n_intervals)
