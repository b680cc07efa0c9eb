"""Beyond one machine: the second stage on a Dask collection, by LightGBM's own Dask estimator."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._threads import one_thread
from ..outcome import Outcome, as_outcome, resolve_horizon
from ._fitting import FEWEST_TO_CALIBRATE, Fitting
from ._labels import PseudoLabels
from ._ranker import BootstrappedRanker
from ._settings import Settings
from .loss._objective import HybridLoss, HybridObjective
from .trees._boosters import YearsTrees

FIRST_STAGE_ROWS = 200_000


def fit_on_dask(
    ranker: BootstrappedRanker, X: Any, y: Any, client: Any = None, first_stage_rows: int = FIRST_STAGE_ROWS
) -> BootstrappedRanker:
    """Fit a ranker whose second stage is trained on all rows of a Dask collection, wherever they lie.

    The first stage (preprocessing, base model, and a censoring model where one is needed) is fitted here, on a random
    sample of the rows. The workers then label their own rows, the rows are shuffled among them, and LightGBM's
    distributed training grows the trees. A worker draws its query groups from its own rows: after the shuffle these
    are random groups of the whole. Rounds are chosen on a held-out part of the sample, as for one machine, but after
    training: workers cannot stop at different rounds.

    Parameters
    ----------
    ranker : BootstrappedRanker
        With one fit of trees: ``preset="paper"``, or ``folds=0, members=("years",)`` with settings of your own. It is
        cloned, not changed.
    X : Dask DataFrame or Dask array, cut by rows
    y : Dask DataFrame or Dask array, cut at the same rows
        Two columns: event, time.
    client : distributed.Client, optional
        By default the one in use.
    first_stage_rows : int
        Rows that are brought to this machine, about.

    Returns
    -------
    BootstrappedRanker
        Fitted. `pseudo_labels_`, `held_out_` and what `report_` counts are of the sample. Which worker gets which rows
        is Dask's choice, so that two fits may differ in the last digits, unlike those of `BootstrappedRanker.fit`.

    Raises
    ------
    ValueError
        For settings that have no distributed form, or parts of X and y that do not fit together.
    """
    ranker = clone(ranker)
    settings = ranker._settings(FIRST_STAGE_ROWS)
    if settings.folds or settings.members != ("years",) or ranker.second_stage != "gbdt":
        raise ValueError(
            'on Dask the second stage is one fit of trees: use preset="paper", or folds=0 and members=("years",)'
        )
    if settings.cross_fit_base:
        raise ValueError("on Dask the base model is fitted once, on a sample: set cross_fit_base=False")
    client = _client(client)
    seed = int(check_random_state(ranker.random_state).randint(2**31 - 1))
    blocks = _blocks(X, y)
    rows = sum(client.gather(client.compute([_delayed(len)(part) for _, part in blocks])))
    brought = min(1.0, first_stage_rows / max(rows, 1))
    held = min(settings.validation_fraction, brought)
    many = max(len(blocks), len(client.scheduler_info(n_workers=-1)["workers"]))
    dealt = client.persist([_deal(*block, many, brought, held, (seed, at)) for at, block in enumerate(blocks)])

    sample, outcome, held_out = _joined(client.gather(client.compute([_part(each, -1) for each in dealt])))
    matrix = ranker._training_matrix(sample, {})
    ranker.tau_ = resolve_horizon(ranker.tau, outcome)
    fitting = Fitting(
        base=ranker.base,
        censoring=ranker.censoring,
        tau=ranker.tau_,
        settings=settings,
        network=False,
        literal=ranker.preset == "paper",
        seed=seed,
        threads=1,
        verbose=False,
    )
    with one_thread():
        base = fitting.new_base().fit(matrix, outcome)
        weigher = fitting.new_censoring(matrix, outcome) if settings.label == "dr" else None
        labels = fitting.labelled(base, weigher, matrix, outcome)
    # all that a worker needs is in these, sent to each once
    kit = client.scatter((ranker.preprocessor_, fitting, base, weigher), broadcast=True)
    parts = [_labelled_part([_part(each, at) for each in dealt], _delayed(kit)) for at in range(many)]
    parts = client.persist(parts)
    sizes, totals = zip(*client.gather(client.compute([_size(part) for part in parts])), strict=True)
    if min(sizes) == 0:
        raise ValueError(f"{rows} rows are too few for {many} parts: use fewer partitions and workers")
    centre = float(sum(totals) / sum(sizes))
    booster = _trained(parts, sizes, matrix.shape[1], centre, ranker.tau_, settings, seed, client)
    rounds = _best_round(booster, matrix[held_out], labels.values[held_out], centre, ranker.tau_, settings, seed)
    member = YearsTrees(booster, centre, rounds)

    where = np.flatnonzero(held_out)
    outcomes = np.empty(0)
    if len(where) >= FEWEST_TO_CALIBRATE:
        with one_thread():
            judge = fitting.new_censoring(matrix, outcome)
            outcomes = fitting.judged(base, judge, matrix[where], outcome[where]).values
    fitting.notes.append(f"second stage on Dask: {sum(sizes):,} rows in {many} parts; first stage on {len(matrix):,}")
    return ranker._keep(fitting.of_one_member(base, member, labels, matrix, where, outcomes), matrix)


@dataclass(eq=False)
class WorkerObjective:
    """The hybrid objective on a worker's own rows, made when it first sees their labels."""

    centre: float
    tau: float
    alpha: float
    margin: float
    group_size: int
    seed: int
    own: HybridObjective | None = field(default=None, repr=False)

    def __call__(self, labels: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.own is None or len(self.own.labels) != len(labels):
            gains = np.clip(labels, 0.0, self.tau)
            self.own = HybridObjective(labels, self.alpha, self.margin, self.group_size, self.seed, gains)
        return self.own(self.centre + scores)

    def __getstate__(self) -> dict[str, Any]:  # a worker's rows stay with it
        return {**vars(self), "own": None}


def _client(client: Any) -> Any:
    try:
        from distributed import default_client
    except ImportError as error:
        raise ImportError('fit_on_dask needs dask: pip install "lifeyears[dask]"') from error
    return default_client() if client is None else client


def _delayed(what: Any) -> Any:
    from dask import delayed

    return delayed(what)


def _blocks(X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Delayed pieces of X and y, row block by row block."""
    made = []
    for name, table in (("X", X), ("y", y)):
        if not hasattr(table, "to_delayed"):
            raise ValueError(f"{name} must be a Dask DataFrame or a Dask array; got {type(table).__name__}")
        if hasattr(table, "rechunk") and table.ndim == 2:
            table = table.rechunk({1: -1})
        made.append(np.ravel(np.array(table.to_delayed(), dtype=object)).tolist())
    if len(made[0]) != len(made[1]):
        raise ValueError(f"X has {len(made[0])} partitions and y has {len(made[1])}: cut both at the same rows")
    return list(zip(*made, strict=True))


def _deal(X: Any, y: Any, many: int, brought: float, held: float, seed: tuple[int, int]) -> Any:
    return _delayed(deal)(X, y, many, brought, held, seed)


def deal(X: Any, y: Any, many: int, brought: float, held: float, seed: tuple[int, int]) -> dict[int, Any]:
    """Deal a block's rows at random to `many` parts; part −1 is the sample, with which of its rows are held out."""
    outcome = as_outcome(tuple(y.T) if isinstance(y, np.ndarray) and y.ndim == 2 else y)
    if len(outcome) != len(X):
        raise ValueError(f"a partition of X has {len(X)} rows and that of y {len(outcome)}: cut both at the same rows")
    rng = np.random.default_rng(seed)
    luck, order = rng.random(len(X)), rng.permutation(len(X))
    sample = np.flatnonzero(luck < brought)
    trained = order[luck[order] >= held]
    dealt: dict[int, Any] = {-1: (_rows(X, sample), outcome[sample], luck[sample] < held)}
    turn = (np.arange(len(trained)) + int(rng.integers(many))) % many  # so that small blocks do not all feed part 0
    for at in range(many):
        rows = trained[turn == at]
        dealt[at] = (_rows(X, rows), outcome[rows])
    return dealt


def _rows(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _part(dealt: Any, at: int) -> Any:
    return dealt[at]


def _joined(pieces: list[tuple]) -> tuple[Any, ...]:
    """Pieces of tables, outcomes (and marks) put together."""
    pieces = [piece for piece in pieces if len(piece[1])]
    if not pieces:
        return np.empty((0, 1)), Outcome(np.empty(0), np.empty(0, dtype=bool)), np.empty(0, dtype=bool)
    tables, outcomes, *marks = zip(*pieces, strict=True)
    if hasattr(tables[0], "iloc"):
        import pandas as pd

        table = pd.concat(tables, ignore_index=True)
    else:
        table = np.concatenate(tables)
    time, event = (np.concatenate([getattr(y, name) for y in outcomes]) for name in ("time", "event"))
    return table, Outcome(time, event), *(np.concatenate(mark) for mark in marks)


def _labelled_part(pieces: list[Any], kit: Any) -> Any:
    return _delayed(labelled_part)(pieces, kit)


def labelled_part(pieces: list[tuple], kit: tuple) -> tuple[np.ndarray, np.ndarray]:
    """On a worker: the matrix of its rows and their pseudo-labels."""
    preprocessor, fitting, base, weigher = kit
    table, outcome = _joined(pieces)
    if not len(outcome):
        return np.empty((0, 1)), np.empty(0)
    matrix = preprocessor.transform(table)
    with one_thread():
        labels: PseudoLabels = fitting.labelled(base, weigher, matrix, outcome)
    return matrix, labels.values


def _size(part: Any) -> Any:
    return _delayed(lambda made: (len(made[1]), float(made[1].sum())))(part)


def _trained(
    parts: list[Any],
    sizes: tuple[int, ...],
    columns: int,
    centre: float,
    tau: float,
    settings: Settings,
    seed: int,
    client: Any,
) -> Any:
    """LightGBM's distributed training with the objective of one machine."""
    import dask.array as da
    from lightgbm import DaskLGBMRegressor

    X = da.concatenate(
        [da.from_delayed(part[0], (size, columns), np.float64) for part, size in zip(parts, sizes, strict=True)]
    )
    labels = da.concatenate(
        [da.from_delayed(part[1], (size,), np.float64) for part, size in zip(parts, sizes, strict=True)]
    )
    shape = (settings.alpha, settings.margin, settings.group_size)
    model = DaskLGBMRegressor(
        client=client,
        objective=WorkerObjective(centre, tau, *shape, seed),
        n_estimators=settings.n_estimators,
        learning_rate=settings.learning_rate,
        num_leaves=settings.num_leaves,
        max_depth=settings.max_depth,
        min_child_samples=settings.min_child_samples,
        min_child_weight=1e-6,
        subsample=settings.subsample,
        subsample_freq=1,
        colsample_bytree=settings.colsample_bytree,
        random_state=seed,
        max_bin=settings.max_bin,
        feature_pre_filter=False,
        deterministic=True,
        force_col_wise=True,
        verbosity=-1,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Parameter n_jobs will be ignored")  # said of its own default
        return model.fit(X, labels).booster_


def _best_round(
    booster: Any, X: np.ndarray, labels: np.ndarray, centre: float, tau: float, settings: Settings, seed: int
) -> int:
    """The round at which early stopping would have ended: by the hybrid loss of held-out rows."""
    rounds = booster.current_iteration()
    if not len(X) or not settings.early_stopping_rounds:
        return rounds
    loss = HybridLoss(labels, settings.alpha, settings.margin, settings.group_size, seed, np.clip(labels, 0.0, tau))
    best, least, scores = 0, np.inf, np.full(len(X), centre)
    for at in range(rounds):
        scores += booster.predict(X, start_iteration=at, num_iteration=1, num_threads=1)
        now = loss(scores)
        if now < least:
            best, least = at + 1, now
        elif at + 1 - best >= settings.early_stopping_rounds:
            break
    return best
