"""Survival models and rankers for scoring, by their names: built as `lifeyears compare` builds what it judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .. import catalogue, ranking
from ..errors import Message, RequestError, Setting
from ..experiments import build_model
from ..experiments.types import NO_METHOD
from ..models import WeibullAFT, refuse_time_zero
from ..ranking import Ranker

if TYPE_CHECKING:
    from ..outcome import Outcome


def resolve_model(name: str) -> str:
    """Return the key of a survival model: a key in any case, or "package.module:Class" or "./file.py:Class".

    Raises
    ------
    UnknownMethodError
        If there is none; the message lists those there are.

    Examples
    --------
    >>> resolve_model("cox")
    'Cox'
    """
    return catalogue.models.resolve(name).key


def resolve_method(name: str) -> str:
    """Return the key of a ranking method, or "none" for the survival model as it is.

    Raises
    ------
    UnknownMethodError
        If there is none; the message lists those there are.

    Examples
    --------
    >>> resolve_method("Stacked"), resolve_method("none")
    ('stacked', 'none')
    """
    return NO_METHOD if name.casefold() == NO_METHOD else catalogue.rankers.resolve(name).key


def needs_positive_times(model: str) -> bool:
    """Return whether a survival model of the catalogue works with the logarithm of time.

    Examples
    --------
    >>> needs_positive_times("AFT"), needs_positive_times("Cox")
    (True, False)
    """
    loaded = catalogue.models[model].load()
    return isinstance(loaded, type) and issubclass(loaded, WeibullAFT)


def check_times(model: str, y: Outcome) -> None:
    """Refuse events at time 0 for a model that cannot take them."""
    if needs_positive_times(model):
        refuse_time_zero(y, Message("choose another model: ", Setting("model", "Cox")))


def build_ranker(
    model: str, method: str, *, tau: float, unit: str, random_state: int, n_jobs: int | None = None
) -> Ranker:
    """Build a ranker, not fitted, with the settings that `lifeyears compare` judges.

    Parameters
    ----------
    model : str
        Key of the survival model in `lifeyears.catalogue.models`.
    method : str
        Key of the ranking method in `lifeyears.catalogue.rankers`; "none" is the survival model as it is, calibrated
        on held-out rows.
    tau : float
        The horizon, in the unit of the data.
    unit : str
        The unit of the data's times. The margin of the paper's loss is one year in it; see
        `lifeyears.ranking.build_ranker`.
    random_state : int
    n_jobs : int, optional
        Number of folds fitted in parallel.

    Returns
    -------
    BootstrappedRanker or StackedRanker

    Raises
    ------
    RequestError
        If a ranker of this method cannot be described by a model card.

    Examples
    --------
    >>> build_ranker("Cox", "bootstrapped", tau=3650.0, unit="days", random_state=0).margin
    365.25
    """
    base = build_model(model, tau, random_state)
    key = "stacked" if method == NO_METHOD else method  # the survival model is a stacked ranker without members
    made = ranking.build_ranker(key, base, tau=tau, unit=unit, random_state=random_state, n_jobs=n_jobs)
    if not isinstance(made, Ranker):
        raise RequestError(
            f"a model card cannot be made for the ranking method {method!r}: it has no explanations and no held-out "
            "predictions",
            hint=Message("Choose another one with ", Setting("method", "stacked"), "."),
        )
    return cast(Ranker, made.set_params(members=())) if method == NO_METHOD else made
