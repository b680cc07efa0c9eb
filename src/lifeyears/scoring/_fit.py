"""From data to a model that can be served: fitted, described, and free of its training rows."""

from __future__ import annotations

import copy
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .. import catalogue
from ..data.dataset import require_features
from ..experiments.types import NO_METHOD, Arm
from ..progress import Progress, no_progress
from ._build import build_ranker, check_times
from ._card import make_card
from ._model import MatchModel

if TYPE_CHECKING:
    from ..data import Dataset
    from ..ranking import Ranker

log = logging.getLogger(__name__)


def fit_model(
    data: Dataset,
    model: str = "Cox",
    method: str = "stacked",
    name: str | None = None,
    donor: Sequence[str] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress = no_progress,
) -> MatchModel:
    """Fit a survival model with a ranking method to a data set, describe it, and forget the rows.

    The ranker has the settings that `lifeyears compare` judges, with the margin of a year in the unit of the data.

    Parameters
    ----------
    data : Dataset
        Its `horizon` is τ.
    model : str, default "Cox"
        Key of a survival model in `lifeyears.catalogue.models`.
    method : str, default "stacked"
        Key of a ranking method in `lifeyears.catalogue.rankers`; "none" is the survival model as it is.
    name : str, optional
        Title of the model. By default it is made of the methods and the name of the data.
    donor : list of str, optional
        Columns that belong to the donor; by default those whose names begin with ``donor_``.
    random_state : int, default 0
        Seed of all random choices.
    n_jobs : int, optional
        Number of folds fitted in parallel.
    progress : Progress
        Called with the name of each step as it begins.

    Returns
    -------
    MatchModel

    Raises
    ------
    RequestError
        If there is no such model or method, no feature is left, or the model cannot use the times.

    Examples
    --------
    >>> import lifeyears as ly
    >>> model = fit_model(ly.data.simulate_registry(n=400), method="none")
    >>> model.card["data"]["rows"], len(model.schema.columns)
    (400, 92)
    """
    check_fit_request(data, model, method)
    arm = Arm(model, method)
    ranker = build_ranker(
        model, method, tau=float(data.horizon), unit=data.unit, random_state=random_state, n_jobs=n_jobs
    )
    progress(f"fitting {arm.label} to {len(data):,} rows")
    ranker.fit(data.X, data.y)
    log.info("fitted %s to %d rows of %s", arm.label, len(data), data.name)
    progress("evaluating it on held-out rows")
    settings = {"model": model, "method": method, "label": arm.label, "seed": random_state}
    card = make_card(data, ranker, name or f"{arm.label}, {data.name}", donor, settings)
    return MatchModel(forget_rows(ranker), card)


def check_fit_request(data: Dataset, model: str, method: str) -> None:
    """Refuse, before anything is computed, what would fail half-way."""
    catalogue.models[model].load()
    if method != NO_METHOD:
        catalogue.rankers[method]
    build_ranker(model, method, tau=float(data.horizon), unit=data.unit, random_state=0)
    require_features(data.name, data.X.shape[1])
    check_times(model, data.y)


def forget_rows(ranker: Ranker) -> Ranker:
    """Return the same ranker without what it remembers of each training row; it predicts the same."""
    kept = copy.copy(ranker)
    kept.pseudo_labels_ = np.empty(0)
    kept.held_out_ = kept.held_out_outcomes_ = None
    kept.report_ = replace(ranker.report_, labels=None)
    return kept
