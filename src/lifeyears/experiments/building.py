"""Survival models by their keys, as comparisons and nuisance estimates build them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import catalogue
from ..models import SurvivalModel, wrap

if TYPE_CHECKING:
    from .._typing import Json


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
