"""`simulate`: policies compared on the same candidates and hearts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .._cluster import workers
from ._config import Config, config_from
from ._config_file import read_config
from ._measures import Measured
from ._replicate import run_replicate
from ._result import Simulation, collect
from ._scores import fit_models, with_models
from ._world import World


class Progress(Protocol):
    """Told what is being done, in a few words, and how many replicates of how many are done."""

    def __call__(self, message: str, done: int | None = None, total: int | None = None) -> object: ...


def untold(message: str, done: int | None = None, total: int | None = None) -> None:
    """Nobody is told."""


def simulate(
    policies: Any = None,
    years: float | None = None,
    replicates: int | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    config: Any = None,
    progress: Progress = untold,
    dask: str | None = None,
) -> Simulation:
    """Simulate a heart waiting list under several policies, and compare what they do.

    Candidates and donors arrive, candidates change status, die or leave, and each heart is offered in the policy's
    order among those it fits until somebody takes it, or it is lost. After a transplant, life follows the registry's
    law for that pair. All policies start from the list that the US rules left, and meet the same people. What it says
    is a direction from a simulated population, not a forecast (docs/simulation.md has the assumptions).

    Parameters
    ----------
    policies : list of str, Policy or dict, optional
        "us_status", "first_come", "uniform", "greedy" (Cox), "position_weighted" (ranker, k=5), "lyg" (life-years
        gained, Cox) and "oracle" (the true expected life) by default; also "greedy_ranker", "oracle_lyg", or your own.
    years : float, optional
        How long; 10 unless the configuration says otherwise.
    replicates : int, optional
        How many times; 20 likewise.
    random_state : int, optional
        Same seed, same result; 0 likewise.
    n_jobs : int, optional
        Replicates at once, each in a process of its own; None means all cores. It does not change the result.
    config : Config, World, dict or path, optional
        Rates and rules; what is given above goes before it.
    progress : callable
        ``progress(message, done=None, total=None)``: told in a few words what is being done, and how many of how many
        replicates are done once they have begun.
    dask : str, optional
        Replicates on a Dask cluster: the scheduler's address (tcp://…), or local:2. It does not change the result.

    Returns
    -------
    Simulation
        `.table`, `.differences`, `.by_group`, `.summary()`, `.plot()`.

    Examples
    --------
    >>> small = {"world": {"scale": 0.01, "burn_in_years": 0.5}}
    >>> result = simulate(["us_status", "oracle"], years=1, replicates=2, n_jobs=1, config=small)
    >>> bool(result.table.loc[("oracle", "life_years_per_transplant"), "value"] > 5)
    True
    """
    chosen = as_config(config).changed(policies=policies, years=years, replicates=replicates, random_state=random_state)
    models = fit_models(chosen.policies, chosen.world, chosen.training_rows, chosen.random_state, progress)
    ready = with_models(chosen.policies, models)
    found: dict[int, dict[str, Measured]] = {}
    progress("simulating", 0, chosen.replicates)
    for number, one in _replicates(chosen, ready, n_jobs, dask):
        found[number] = one
        progress("simulating", len(found), chosen.replicates)
    return collect(chosen, [found[number] for number in range(chosen.replicates)])


def as_config(given: Any = None) -> Config:
    """A `Config` from itself, a `World`, plain settings or a file."""
    if given is None:
        return Config()
    if isinstance(given, Config):
        return given
    if isinstance(given, World):
        return Config(world=given)
    if isinstance(given, Mapping):
        return config_from(given)
    if isinstance(given, (str, Path)):
        return read_config(given)
    raise ValueError(f"config must be a Config, a World, a dict or the path of a file; got {given!r}")


def _replicates(
    config: Config, policies: tuple[Any, ...], n_jobs: int | None, dask: str | None
) -> Iterator[tuple[int, dict[str, Measured]]]:
    """Each replicate with its number, as it is finished."""
    from joblib import Parallel, delayed

    work = (delayed(_numbered)(number, config, policies) for number in range(config.replicates))
    with workers(dask) as extra:
        options = {"n_jobs": -1 if n_jobs is None else n_jobs, "batch_size": 1, "return_as": "generator_unordered"}
        yield from Parallel(**(options | extra))(work)


def _numbered(number: int, config: Config, policies: tuple[Any, ...]) -> tuple[int, dict[str, Measured]]:
    seed = np.random.SeedSequence((config.random_state, number))
    return number, run_replicate(config.world, policies, config.years, seed, config.common_random_numbers)
