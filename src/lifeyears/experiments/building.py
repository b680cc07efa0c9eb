"""Models and rankers by their keys: the one place where what `compare` judges and `fit` saves is put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import catalogue
from ..models import SurvivalModel, wrap
from ..ranking import BootstrappedRanker
from ..units import year_in

if TYPE_CHECKING:
    from .._typing import Json

PAPER_HORIZON_YEARS = 20  # the paper's margin is one year of a horizon of twenty


def build_model(key: str, tau: float, random_state: int | None = None, epochs: int | None = None) -> SurvivalModel:
    """Build a survival model of the catalogue, unfitted.

    Parameters
    ----------
    key : str
        A key of `lifeyears.catalogue.models`.
    tau : float
        The horizon.
    random_state, epochs : int, optional
        Passed to models whose constructor takes them; None leaves the model's own default.

    Returns
    -------
    SurvivalModel
        A class of another library is wrapped (`lifeyears.models.wrap`).

    Examples
    --------
    >>> build_model("Cox", tau=10.0)
    Cox(tau=10.0)
    """
    spec = catalogue.models[key]
    settings: Json = {"random_state": random_state, "epochs": epochs}
    settings = {name: value for name, value in settings.items() if value is not None}
    return wrap(spec.build_with(tau=tau, **settings), tau=None if "tau" in spec.parameters() else tau)


def choose_margin(tau: float, unit: str) -> float:
    """Choose the margin of the hinge: a year in the unit of the data; without a known unit, a twentieth of the horizon.

    Examples
    --------
    >>> choose_margin(20.0, "years"), choose_margin(3652.5, "days"), choose_margin(10.0, "visits")
    (1.0, 365.25, 0.5)
    """
    return year_in(unit, tau / PAPER_HORIZON_YEARS)


def build_ranker(
    method: str, base: object, tau: float, unit: str, random_state: int | None = None, n_jobs: int | None = None
) -> Any:
    """Build a ranking method of the catalogue over a base model, unfitted.

    Parameters
    ----------
    method : str
        A key of `lifeyears.catalogue.rankers`.
    base : survival model
        Unfitted, as `build_model` returns it.
    tau : float
        The horizon.
    unit : str
        The unit of the times, from which the margin of the paper's loss follows (`choose_margin`).
    random_state, n_jobs : int, optional
        Passed to methods whose constructor takes them.

    Returns
    -------
    ranking method
        With `fit(X, y)` and `predict(X)`.

    Examples
    --------
    >>> import lifeyears as ly
    >>> build_ranker("bootstrapped", ly.models.Cox(), tau=3652.5, unit="days").margin
    365.25
    """
    settings: Json = {"tau": tau, "random_state": random_state, "n_jobs": n_jobs, "margin": choose_margin(tau, unit)}
    spec = catalogue.rankers[method]
    if method == "bootstrapped":  # until the two rankers are two classes
        return BootstrappedRanker(base, preset="paper", **settings)
    if method == "stacked":
        return BootstrappedRanker(base, preset="default", **{**settings, "margin": None})
    return spec.build_with(base, **settings)
