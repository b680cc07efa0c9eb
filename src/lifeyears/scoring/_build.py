"""The one place where scoring builds survival models and rankers from keys of the catalogue."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .. import catalogue
from ..errors import Message, RequestError, Setting
from ..experiments.types import NO_METHOD
from ..models import WeibullAFT, refuse_time_zero
from ..ranking import BootstrappedRanker
from ..units import year_in

if TYPE_CHECKING:
    from ..outcome import Outcome

PAPER_HORIZON_YEARS = 20
# The settings of `BootstrappedRanker` for each ranking method of Lifeyears.
_SETTINGS: dict[str, dict[str, Any]] = {
    "bootstrapped": {"preset": "paper"},
    "stacked": {"preset": "default"},
    NO_METHOD: {"preset": "default", "members": ("base",)},
}


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
) -> BootstrappedRanker:
    """Build a ranker, not fitted, with the settings that `lifeyears compare` judges.

    Parameters
    ----------
    model : str
        Key of the survival model in `lifeyears.catalogue.models`.
    method : str
        Key of the ranking method in `lifeyears.catalogue.rankers`; "none" is the survival model as it is.
    tau : float
        The horizon, in the unit of the data.
    unit : str
        The unit of the data's times. The margin of the paper's loss is one year in it; where its length is not known,
        a twentieth of the horizon, as one year is of the paper's twenty.
    random_state : int
    n_jobs : int, optional
        Number of folds fitted in parallel.

    Returns
    -------
    BootstrappedRanker

    Examples
    --------
    >>> build_ranker("Cox", "bootstrapped", tau=3650.0, unit="days", random_state=0).margin
    365.25
    """
    if method not in _SETTINGS:
        raise RequestError(
            f"a model card cannot be made for the ranking method {method!r}: it has no explanations and no held-out "
            f"predictions",
            hint=Message("Choose one of ", ", ".join(_SETTINGS), " with ", Setting("method"), "."),
        )
    return BootstrappedRanker(
        base=_build_model(model, tau=tau, random_state=random_state),
        tau=tau,
        margin=year_in(unit, tau / PAPER_HORIZON_YEARS) if method == "bootstrapped" else None,
        random_state=random_state,
        n_jobs=n_jobs,
        **_SETTINGS[method],
    )


def _build_model(key: str, **settings: object) -> object:
    """Build a survival model with those settings that its constructor takes."""
    spec = catalogue.models[key]
    taken = inspect.signature(spec.load()).parameters
    return spec.build(**{name: value for name, value in settings.items() if name in taken})
