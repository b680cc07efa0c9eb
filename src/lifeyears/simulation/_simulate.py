"""`simulate`: policies compared on the same candidates and hearts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from .._cluster import workers
from ..allocation import Policy
from ..errors import RequestError
from ..progress import Progress, no_progress
from ._config import Config, make_config
from ._config_file import read_config
from ._replicate import run_replicate
from ._result import Simulation, collect_replicates
from .policies import Composite, OfferRule, Simulated, attach_models, fit_models
from .worlds.heart import Measurements, World

ConfigLike = Config | World | Mapping[str, object] | str | Path
PolicyLike = OfferRule | Composite | Policy | str | Mapping[str, object]


def simulate(
    policies: Sequence[PolicyLike] | None = None,
    years: float | None = None,
    replicates: int | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    config: ConfigLike | None = None,
    progress: Progress = no_progress,
    dask: str | None = None,
) -> Simulation:
    """Simulate a heart waiting list under several policies, and compare what they do.

    Candidates and donors arrive, candidates change status, die or leave, and each heart is offered in the policy's
    order among those it fits until somebody takes it, or it is lost. After a transplant, life follows the registry's
    law for that pair. All policies start from the list that the US rules left, and meet the same people. The result
    is a direction from a simulated population, not a forecast (docs/simulation.md has the assumptions).

    Parameters
    ----------
    policies : list of str, Policy or dict, optional
        "us_status", "first_come", "uniform", "greedy" (Cox), "position_weighted" (ranker, k=5), "lyg" (life-years
        gained, Cox) and "oracle" (the true expected life) by default; also "greedy_ranker", "oracle_lyg", any key of
        ``lifeyears.catalogue.policies``, and any object that scores candidates: a `Composite`, an `OfferRule`, a policy
        of `lifeyears.allocation`, or your own (`lifeyears.allocation.Policy`).
    years : float, optional
        How long; 10 unless the configuration says otherwise.
    replicates : int, optional
        How many times; 20 likewise.
    random_state : int, optional
        Same seed, same result; 0 likewise.
    n_jobs : int, optional
        Replicates at once, each in a separate process; None means all cores. It does not change the result.
    config : Config, World, dict or path, optional
        Rates and rules; what is given above goes before it.
    progress : callable
        ``progress(message, done=None, total=None)``: called with each step, and with the number of finished replicates
        once they have begun.
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
    settings = as_config(config).changed(
        policies=policies, years=years, replicates=replicates, random_state=random_state
    )
    models = fit_models(settings.policies, settings.world, settings.training_rows, settings.random_state, progress)
    fitted = attach_models(settings.policies, models)
    measured: dict[int, dict[str, Measurements]] = {}
    progress("simulating", 0, settings.replicates)
    for number, one in _run_replicates(settings, fitted, n_jobs, dask):
        measured[number] = one
        progress("simulating", len(measured), settings.replicates)
    return collect_replicates(settings, [measured[number] for number in range(settings.replicates)])


def as_config(config: ConfigLike | None = None) -> Config:
    """Return a `Config` from itself, a `World`, plain settings or a file; None means the defaults.

    Parameters
    ----------
    config : Config, World, dict or path, optional

    Examples
    --------
    >>> as_config({"years": 2}).years
    2.0
    """
    if config is None:
        return Config()
    if isinstance(config, Config):
        return config
    if isinstance(config, World):
        return Config(world=config)
    if isinstance(config, Mapping):
        return make_config(config)
    if isinstance(config, (str, Path)):
        return read_config(config)
    raise RequestError(f"config must be a Config, a World, a dict or the path of a file; got {config!r}")


def _run_replicates(
    config: Config, policies: tuple[Simulated, ...], n_jobs: int | None, dask: str | None
) -> Iterator[tuple[int, dict[str, Measurements]]]:
    """Yield each replicate with its number, as it is finished."""
    from joblib import Parallel, delayed

    work = (delayed(_run_numbered)(number, config, policies) for number in range(config.replicates))
    with workers(dask) as extra:
        options = {"n_jobs": -1 if n_jobs is None else n_jobs, "batch_size": 1, "return_as": "generator_unordered"}
        yield from Parallel(**(options | extra))(work)


def _run_numbered(number: int, config: Config, policies: tuple[Simulated, ...]) -> tuple[int, dict[str, Measurements]]:
    seed = np.random.SeedSequence((config.random_state, number))
    return number, run_replicate(config.world, policies, config.years, seed, config.common_random_numbers)
