"""From data to a model that can be served: fitted, described, and free of its training rows."""

from __future__ import annotations

import copy
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..checks import check_choice
from ..data.dataset import require_features
from ..errors import Message, Setting
from ..models import Cox, DeepHit, DeepSurv, KaplanMeier, WeibullAFT, refuse_time_zero
from ..progress import Progress, no_progress
from ..ranking import BootstrappedRanker, Ranker, StackedRanker
from ._card import make_card
from ._model import MatchModel

if TYPE_CHECKING:
    from ..data import Dataset

log = logging.getLogger(__name__)

BASES = {"KM": KaplanMeier, "Cox": Cox, "AFT": WeibullAFT, "DeepSurv": DeepSurv, "DeepHit": DeepHit}
PRESETS = ("default", "paper", "none")


def fit_model(
    data: Dataset,
    base: str = "Cox",
    preset: str = "default",
    name: str | None = None,
    donor: Sequence[str] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress = no_progress,
) -> MatchModel:
    """Fit a ranker to a data set, describe it, and forget the rows.

    Parameters
    ----------
    data : Dataset
        Its `horizon` is τ.
    base : {"KM", "Cox", "AFT", "DeepSurv", "DeepHit"}
    preset : {"default", "paper", "none"}
        The second stage: `lifeyears.StackedRanker`, `lifeyears.BootstrappedRanker`, or the base model alone.
    name : str, optional
        What the model is called.
    donor : list of str, optional
        Columns that belong to the donor; by default those whose names begin with ``donor_``.
    random_state : int
    n_jobs : int, optional
        Folds at once.
    progress : Progress
        Called with the name of each step as it begins.

    Returns
    -------
    MatchModel

    Raises
    ------
    RequestError
        If there is no such base model or preset, no feature is left, or the base model cannot use the times.

    Examples
    --------
    >>> import lifeyears as ly
    >>> model = fit_model(ly.data.simulate_registry(n=400), preset="none")
    >>> model.card["data"]["rows"], len(model.schema.columns)
    (400, 92)
    """
    check_fit_request(data, base, preset)
    shared = {"base": BASES[base](), "tau": float(data.horizon), "random_state": random_state, "n_jobs": n_jobs}
    ranker: Ranker = BootstrappedRanker(**shared) if preset == "paper" else StackedRanker(**shared)
    if preset == "none":
        ranker.set_params(members=())
    progress(f"fitting {base} and its ranker to {len(data):,} rows" if preset != "none" else f"fitting {base}")
    ranker.fit(data.X, data.y)
    log.info("fitted %s (ranker: %s) to %d rows of %s", base, preset, len(data), data.name)
    progress("judging it on held-out rows")
    settings = {"base": base, "preset": preset, "seed": random_state}
    title = name or (f"{base}, {data.name}" if preset == "none" else f"ranker over {base}, {data.name}")
    return MatchModel(forget_rows(ranker), make_card(data, ranker, title, donor, settings))


def check_fit_request(data: Dataset, base: str, preset: str) -> None:
    """Refuse, before anything is computed, what would fail half-way."""
    check_choice("base", base, tuple(BASES))
    check_choice("preset", preset, PRESETS)
    require_features(data.name, data.X.shape[1])
    if base == "AFT":
        refuse_time_zero(data.y, Message("choose another model: ", Setting("base", "Cox")))


def forget_rows(ranker: Ranker) -> Ranker:
    """The same ranker without what it remembers of each training row; it predicts the same."""
    kept = copy.copy(ranker)
    kept.pseudo_labels_ = np.empty(0)
    kept.held_out_ = kept.held_out_outcomes_ = None
    kept.report_ = replace(ranker.report_, labels=None)
    return kept
