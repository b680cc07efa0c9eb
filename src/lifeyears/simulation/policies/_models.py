"""Models that policies name: fitted at the start, on a simulated registry, or loaded from a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..._threads import one_thread
from ...data import TablePreprocessor, simulate_registry
from ...errors import RequestError
from ._offer_rule import TRUTH, OfferRule

if TYPE_CHECKING:
    import pandas as pd

    from ...outcome import Outcome
    from ...progress import Progress
    from ..worlds.heart import World

MODELS = ("cox", "weibull", "ranker", "ranker_paper", "cox_by_donor_type", TRUTH)
LIGHT_ROUNDS = 300  # of the ranker's boosted hazards


def fit_models(
    policies: Sequence[OfferRule], world: World, rows: int, seed: int, progress: Progress
) -> dict[str, object]:
    """Fit or load the models that the policies name, each once; by name.

    Parameters
    ----------
    policies : sequence of OfferRule
    world : World
    rows : int
        Size of the simulated registry that the models are fitted on.
    seed : int
    progress : callable
        Called with a message for each step.
    """
    wanted = list(dict.fromkeys(policy.model for policy in policies if isinstance(policy.model, str)))
    named = [name for name in wanted if name in MODELS and name != TRUTH]
    models: dict[str, object] = {name: _load_model(name) for name in wanted if name not in MODELS}
    if named:
        progress(f"simulating a registry of {rows:,} to learn from")
        registry = simulate_registry(rows, world=world.law, random_state=seed)
    for name in named:
        progress(f"fitting {name}")
        with one_thread():
            models[name] = _fit_model(name, world.tau, seed, registry.X, registry.y)
    return models


def attach_models(policies: Sequence[OfferRule], models: Mapping[str, object]) -> tuple[OfferRule, ...]:
    """Return the policies with the fitted models instead of their names."""
    return tuple(
        replace(policy, model=models[policy.model])
        if isinstance(policy.model, str) and not policy.is_oracle
        else policy
        for policy in policies
    )


def _fit_model(name: str, tau: float, seed: int, X: pd.DataFrame, y: Outcome) -> object:
    seed %= 2**32  # as large as scikit-learn takes it
    from sklearn.pipeline import make_pipeline

    from ...models import Cox, WeibullAFT
    from ...ranking import BootstrappedRanker, StackedRanker
    from ...ranking.stacked import BoostedHazards

    if name == "cox":
        return make_pipeline(TablePreprocessor(), Cox(tau=tau)).fit(X, y)
    if name == "weibull":
        return make_pipeline(TablePreprocessor(), WeibullAFT(tau=tau)).fit(X, y)
    if name == "cox_by_donor_type":
        from ...allocation import DonorTypeRanker

        return DonorTypeRanker(Cox(tau=tau), tau=tau, random_state=seed).fit(X, y)
    if name == "ranker_paper":
        return BootstrappedRanker(tau=tau, random_state=seed).fit(X, y)
    members = [("boosted_hazards", BoostedHazards(n_intervals=1, n_estimators=LIGHT_ROUNDS))]
    return StackedRanker(tau=tau, members=members, folds=2, random_state=seed).fit(X, y)


def _load_model(path: str) -> object:
    if not Path(path).exists():
        raise RequestError(
            f"there is no model {path!r}: name one of {', '.join(MODELS)}, or the path of a saved model", model=path
        )
    from ...saving import load

    return load(path)
