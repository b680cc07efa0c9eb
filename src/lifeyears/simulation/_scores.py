"""Models for policies: fitted at the start, and asked once for every candidate and type of donor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._threads import one_thread
from ..data import Population, TablePreprocessor, simulate_registry
from ..data.registry import BLOOD_GROUPS
from ._match import FAR
from ._pair_law import heart_mass
from ._people import People
from ._policies import TRUTH, Policy
from ._world import World

MODELS = ("cox", "weibull", "ranker", "ranker_paper", "cox_by_donor_type", TRUTH)
# A donor's type: older than 40 or not, and a large heart or not (about the median of the registry's donors).
OLD, LARGE = 40.0, 185.0
N_TYPES = 4
# A typical pair: what is not known before a heart is offered.
TYPICAL = {"distance_nm": 250.0, "hla_mismatches": 5.0}
LIGHT = {"members": ("base", "hazard"), "folds": 2, "n_estimators": 300, "phases": 1}  # of the ranker


def donor_types(donors: pd.DataFrame) -> np.ndarray:
    """The type of each donor, 0 to 3."""
    large = heart_mass(donors, "donor_") > LARGE
    return (2 * (donors["donor_age"].to_numpy(float) > OLD) + large).astype(np.int64)


@lru_cache(maxsize=4)
def typical_donors(year: float, law: str) -> pd.DataFrame:
    """One donor a type: medians of numbers, the commonest category, of 20,000 donors."""
    donors = Population(year, law).donors(20_000, random_state=1)
    types = donor_types(donors)
    rows = []
    for each in range(N_TYPES):
        those = donors[types == each]
        rows.append(
            {
                name: those[name].median() if those[name].dtype.kind == "f" else those[name].mode().iloc[0]
                for name in donors.columns
            }
        )
    return pd.DataFrame(rows).astype(donors.dtypes.to_dict())


def fit_models(
    policies: Sequence[Policy], world: World, rows: int, seed: int, progress: Callable[[str], object]
) -> dict[Any, Any]:
    """The models that the policies name, each fitted once, on a registry simulated for it; by name."""
    wanted = list(dict.fromkeys(policy.model for policy in policies if isinstance(policy.model, str)))
    named = [name for name in wanted if name in MODELS and name != TRUTH]
    models: dict[Any, Any] = {name: _loaded(name) for name in wanted if name not in MODELS}
    if named:
        progress(f"simulating a registry of {rows:,} to learn from")
        registry = simulate_registry(rows, world=world.law, random_state=seed)
    for name in named:
        progress(f"fitting {name}")
        with one_thread():
            models[name] = _unfitted(name, world.tau, seed).fit(registry.X, registry.y)
    return models


def with_models(policies: Sequence[Policy], models: dict[Any, Any]) -> tuple[Policy, ...]:
    """The policies with the fitted models in place of their names."""
    return tuple(
        replace(policy, model=models[policy.model]) if isinstance(policy.model, str) and not policy.knows else policy
        for policy in policies
    )


@dataclass(frozen=True, eq=False)
class Scores:
    """Years of each candidate with a donor of each type, (candidates, types), and the type of each heart."""

    years: np.ndarray
    donor_type: np.ndarray


def score_candidates(models: Sequence[Any], people: People, rows: np.ndarray, world: World) -> list[Scores]:
    """Ask each model about the candidates in `rows`, once for every type of donor.

    A model with types of its own (``scores(candidates)`` and ``lookup(donors)``, as
    `lifeyears.allocation.DonorTypeRanker`) is asked for these; any other, for a typical donor of four types.
    """
    typed = [_knows_types(model) for model in models]
    ours = donor_types(people.donors)
    found = [
        Scores(np.zeros((len(people.candidates), 1 if own else N_TYPES)), _looked_up(model, people) if own else ours)
        for model, own in zip(models, typed, strict=True)
    ]
    if not models or not len(rows):
        return found
    for each in range(N_TYPES if not all(typed) else 1):
        pairs = _typical_pairs(people, rows, each, world)
        for number, model in enumerate(models):
            with one_thread():
                if not typed[number]:
                    found[number].years[rows, each] = _predicted(model, pairs)
                elif each == 0:
                    years = _checked_years(np.asarray(model.scores(pairs), dtype=float), model)
                    whole = np.zeros((len(people.candidates), years.shape[1]))
                    whole[rows] = years
                    found[number] = Scores(whole, found[number].donor_type)
    return found


def _typical_pairs(people: People, rows: np.ndarray, kind: int, world: World) -> pd.DataFrame:
    """Candidates with a typical donor of a type, of their own blood group, at a typical distance."""
    donors = typical_donors(world.year, world.law)
    population = Population(world.year, world.law)
    pairs = population.pairs(people.candidates, donors, candidate=rows, donor=kind, incompatible="keep")
    after_death = donors["donor_circulatory_death"].iloc[kind] == "yes"
    hours = round(2.2 + 0.0022 * TYPICAL["distance_nm"] + 1.6 * after_death, 1)
    same = pd.Categorical(["identical"] * len(rows), categories=["identical", "compatible"])
    group = pd.Categorical(pairs["blood_group"].astype(str), categories=BLOOD_GROUPS)
    return pairs.assign(**TYPICAL, ischemic_hours=hours, blood_match=same, donor_blood_group=group)


def _knows_types(model: Any) -> bool:
    """Whether it scores by types of donors; `LifeYearsGained` does if its model of life with a transplant does."""
    return hasattr(model, "scores") and hasattr(model, "lookup") and getattr(model, "knows_types", True)


def _looked_up(model: Any, people: People) -> np.ndarray:
    if not len(people.donors):
        return np.zeros(0, dtype=np.int64)
    return np.asarray(model.lookup(people.donors), dtype=np.int64)


def _predicted(model: Any, pairs: pd.DataFrame) -> np.ndarray:
    columns = getattr(model, "feature_names_in_", None)
    if columns is None:
        columns = [name for name in pairs.columns if name not in ("race_ethnicity", "insurance", "region", "centre")]
    lacking = [name for name in columns if name not in pairs.columns]
    if lacking:
        raise ValueError(
            f"the model {type(model).__name__} was fitted on columns that the simulated registry lacks: "
            f"{', '.join(map(str, lacking[:5]))}"
        )
    years = np.asarray(model.predict(pairs[list(columns)]), dtype=float)
    if years.shape != (len(pairs),):
        raise ValueError(f"the model {type(model).__name__} must predict one number of years for each candidate")
    return _checked_years(years, model)


def _checked_years(years: np.ndarray, model: Any) -> np.ndarray:
    """Finite, and no more than what keeps a nearer zone before all scores."""
    if not (np.abs(years) < FAR / 4).all():  # NaN is refused too
        raise ValueError(
            f"the model {type(model).__name__} must predict years: finite numbers below {FAR / 4:,.0f}; they run from "
            f"{np.min(years):g} to {np.max(years):g}"
        )
    return years


def _unfitted(name: str, tau: float, seed: int) -> Any:
    seed %= 2**32  # as large as scikit-learn takes it
    from sklearn.pipeline import make_pipeline

    from ..models import Cox, WeibullAFT
    from ..ranking import BootstrappedRanker

    if name == "cox":
        return make_pipeline(TablePreprocessor(), Cox(tau=tau))
    if name == "weibull":
        return make_pipeline(TablePreprocessor(), WeibullAFT(tau=tau))
    if name == "cox_by_donor_type":
        from ..allocation import DonorTypeRanker

        return DonorTypeRanker(Cox(tau=tau), tau=tau, random_state=seed)
    settings: dict[str, Any] = {"preset": "paper"} if name == "ranker_paper" else LIGHT
    return BootstrappedRanker(tau=tau, random_state=seed, **settings)


def _loaded(path: str) -> Any:
    if not Path(path).exists():
        raise ValueError(f"there is no model {path!r}: name one of {', '.join(MODELS)}, or the path of a saved model")
    from ..saving import load

    return load(path)
