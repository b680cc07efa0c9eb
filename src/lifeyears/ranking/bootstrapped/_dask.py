"""Distributed fits: the second stage on a Dask collection, by LightGBM's own Dask estimator."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.base import clone

from ..._threads import one_thread
from ..._typing import BoolArray, FloatArray, IntArray
from ...errors import DataError, Message, MissingExtraError, RequestError, Setting
from ...outcome import Outcome, as_outcome, resolve_horizon
from .._fit import FEWEST_TO_CALIBRATE
from .._labelling import Labelling
from .._shared import SharedWork
from ..loss import HybridLoss, HybridObjective
from ..trees import YearsTrees
from ._fitting import SecondStage
from ._ranker import BootstrappedRanker

if TYPE_CHECKING:
    import lightgbm
    import pandas as pd
    from dask import array as dask_array
    from dask import dataframe as dask_dataframe
    from dask.delayed import Delayed
    from distributed import Client

    from ...curves import SurvivalCurves
    from ...data import TablePreprocessor
    from ...models import SurvivalModel

    Collection: TypeAlias = dask_array.Array | dask_dataframe.DataFrame
    Block: TypeAlias = pd.DataFrame | FloatArray
    Piece: TypeAlias = tuple[Block, Outcome]
    Sample: TypeAlias = tuple[Block, Outcome, BoolArray]
    WorkerLabelling: TypeAlias = tuple[
        TablePreprocessor, Labelling, SurvivalModel, SurvivalModel | SurvivalCurves | None
    ]

FIRST_STAGE_ROWS = 200_000


def fit_on_dask(
    ranker: BootstrappedRanker,
    X: Collection,
    y: Collection,
    client: Client | None = None,
    first_stage_rows: int = FIRST_STAGE_ROWS,
) -> BootstrappedRanker:
    """Fit a ranker whose second stage is trained on all rows of a Dask collection, wherever they are.

    The first stage (preprocessing, base model, and a censoring model where one is needed) is fitted on this machine, to
    a random sample of the rows. The workers then label their own rows, the rows are shuffled among them, and LightGBM
    trains the trees in a distributed way. A worker draws its query groups from its own rows: after the shuffle these
    are random groups of the whole. The number of rounds is chosen on a held-out part of the sample, as for one machine,
    but after training: workers cannot stop at different rounds.

    Parameters
    ----------
    ranker : BootstrappedRanker
        With trees as its second stage. It is cloned, not changed.
    X : Dask DataFrame or Dask array, partitioned by rows
    y : Dask DataFrame or Dask array, partitioned at the same rows
        Two columns: event, time.
    client : distributed.Client, optional
        By default the current client.
    first_stage_rows : int, default 200,000
        Approximate number of rows that are brought to this machine.

    Returns
    -------
    BootstrappedRanker
        Fitted. `pseudo_labels_`, `held_out_` and the counts of `report_` are of the sample. Which worker gets which
        rows is Dask's choice, so that two fits may differ in the last digits, unlike those of `BootstrappedRanker.fit`.

    Raises
    ------
    RequestError
        For settings that have no distributed form, or partitions of X and y that do not match.
    """
    ranker = clone(ranker)
    stage = ranker._second_stage(first_stage_rows, SharedWork())
    if stage.network:
        raise RequestError(
            "on Dask the second stage consists of trees", hint=Message("Set ", Setting("second_stage", "gbdt"), ".")
        )
    if ranker.cross_fit_base:
        raise RequestError(
            "on Dask the base model is fitted once, to a sample",
            hint=Message("Set ", Setting("cross_fit_base", False), "."),
        )
    client = _find_client(client)
    seed = stage.seed
    blocks = _pair_blocks(X, y)
    n_rows = sum(client.gather(client.compute([_delay(len)(part) for _, part in blocks])))
    sample_share = min(1.0, first_stage_rows / max(n_rows, 1))
    held_out_share = min(stage.validation_fraction, sample_share)
    n_parts = max(len(blocks), len(client.scheduler_info(n_workers=-1)["workers"]))
    shuffled = client.persist(
        [
            _delay(shuffle_block)(*block, n_parts, sample_share, held_out_share, (seed, number))
            for number, block in enumerate(blocks)
        ]
    )

    samples: list[Sample] = client.gather(client.compute([parts[-1] for parts in shuffled]))
    sample, outcome = _join_pieces([(table, lives) for table, lives, _ in samples])
    held_out = np.concatenate([marks for _, _, marks in samples])
    matrix = ranker._training_matrix(sample, SharedWork())
    ranker.tau_ = resolve_horizon(ranker.tau, outcome)
    labels_by = ranker._labelling(seed)
    with one_thread():
        base = labels_by.make_base().fit(matrix, outcome)
        censoring = labels_by.fit_censoring(matrix, outcome) if labels_by.weighted else None
        labels = labels_by.compute_labels(base, censoring, matrix, outcome)
    # all that a worker needs is in these, sent to each once
    labelling = client.scatter((ranker.preprocessor_, labels_by, base, censoring), broadcast=True)
    parts = [_delay(label_part)([block[number] for block in shuffled], _delay(labelling)) for number in range(n_parts)]
    parts = client.persist(parts)
    sizes, totals = zip(*client.gather(client.compute([_delay(_summarise)(part) for part in parts])), strict=True)
    if min(sizes) == 0:
        raise DataError(f"{n_rows} rows are too few for {n_parts} parts", hint="Use fewer partitions and workers.")
    centre = float(sum(totals) / sum(sizes))
    booster = _train_on_workers(parts, sizes, matrix.shape[1], centre, ranker.tau_, stage, client)
    rounds = _choose_round(booster, matrix[held_out], labels.values[held_out], centre, ranker.tau_, stage)
    member = YearsTrees(booster, centre, rounds)

    rows = np.flatnonzero(held_out)
    outcomes = np.empty(0)
    if len(rows) >= FEWEST_TO_CALIBRATE:
        with one_thread():
            censoring = labels_by.fit_censoring(matrix, outcome)
            outcomes = labels_by.estimate_outcomes(base, censoring, matrix[rows], outcome[rows]).values
    stage.notes.append(f"second stage on Dask: {sum(sizes):,} rows in {n_parts} parts; first stage on {len(matrix):,}")
    return ranker._store(stage.finish(base, member, labels, matrix, rows, outcomes, ranker.tau_), matrix)


@dataclass(eq=False)
class WorkerObjective:
    """The hybrid objective on a worker's own rows, made when it is first called with their labels."""

    centre: float
    tau: float
    alpha: float
    margin: float
    group_size: int
    seed: int
    own: HybridObjective | None = field(default=None, repr=False)

    def __call__(self, labels: FloatArray, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self.own is None or len(self.own.labels) != len(labels):
            gains = np.clip(labels, 0.0, self.tau)
            self.own = HybridObjective(labels, self.alpha, self.margin, self.group_size, self.seed, gains)
        return self.own(self.centre + scores)

    def __getstate__(self) -> dict[str, Any]:  # a worker's rows stay with it
        return {**vars(self), "own": None}


def _find_client(client: Client | None) -> Client:
    try:
        from distributed import default_client
    except ImportError as error:
        raise MissingExtraError(
            "fit_on_dask needs dask, which is not installed", hint='Run pip install "lifeyears[dask]".'
        ) from error
    return default_client() if client is None else client


def _delay(value: object) -> Delayed:
    from dask import delayed

    return delayed(value)


def _pair_blocks(X: Collection, y: Collection) -> list[tuple[Delayed, Delayed]]:
    """Return delayed blocks of rows of X and y."""
    blocks = []
    for name, table in (("X", X), ("y", y)):
        if not hasattr(table, "to_delayed"):
            raise RequestError(f"{name} must be a Dask DataFrame or a Dask array; got {type(table).__name__}")
        if hasattr(table, "rechunk") and table.ndim == 2:
            table = table.rechunk({1: -1})
        blocks.append(np.ravel(np.array(table.to_delayed(), dtype=object)).tolist())
    if len(blocks[0]) != len(blocks[1]):
        raise DataError(
            f"X has {len(blocks[0])} partitions and y has {len(blocks[1])}", hint="Partition both at the same rows."
        )
    return list(zip(*blocks, strict=True))


def shuffle_block(
    X: Block, y: Block, n_parts: int, sample_share: float, held_out_share: float, seed: tuple[int, int]
) -> dict[int, Piece | Sample]:
    """Divide the rows of a block at random among parts; part −1 is the sample, with a mask of its held-out rows."""
    outcome = as_outcome(tuple(y.T) if isinstance(y, np.ndarray) and y.ndim == 2 else y)
    if len(outcome) != len(X):
        raise DataError(
            f"a partition of X has {len(X)} rows and that of y {len(outcome)}", hint="Partition both at the same rows."
        )
    rng = np.random.default_rng(seed)
    draws, order = rng.random(len(X)), rng.permutation(len(X))
    sample = np.flatnonzero(draws < sample_share)
    trained = order[draws[order] >= held_out_share]
    parts: dict[int, Piece | Sample] = {-1: (_take_rows(X, sample), outcome[sample], draws[sample] < held_out_share)}
    # from a random part on, so that small blocks do not all fill part 0
    part_of = (np.arange(len(trained)) + int(rng.integers(n_parts))) % n_parts
    for number in range(n_parts):
        rows = trained[part_of == number]
        parts[number] = (_take_rows(X, rows), outcome[rows])
    return parts


def _take_rows(X: Block, rows: IntArray) -> Block:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _join_pieces(pieces: list[Piece]) -> Piece:
    """Join tables and outcomes."""
    pieces = [piece for piece in pieces if len(piece[1])]
    if not pieces:
        return np.empty((0, 1)), Outcome(np.empty(0), np.empty(0, dtype=bool))
    tables, outcomes = zip(*pieces, strict=True)
    if hasattr(tables[0], "iloc"):
        import pandas as pd

        table = pd.concat(tables, ignore_index=True)
    else:
        table = np.concatenate(tables)
    time, event = (np.concatenate([getattr(y, name) for y in outcomes]) for name in ("time", "event"))
    return table, Outcome(time, event)


def label_part(pieces: list[Piece], labelling: WorkerLabelling) -> tuple[FloatArray, FloatArray]:
    """Return the matrix of a worker's rows and their pseudo-labels."""
    preprocessor, labels_by, base, censoring = labelling
    table, outcome = _join_pieces(pieces)
    if not len(outcome):
        return np.empty((0, 1)), np.empty(0)
    matrix = np.asarray(preprocessor.transform(table))
    with one_thread():
        labels = labels_by.compute_labels(base, censoring, matrix, outcome)
    return matrix, labels.values


def _summarise(part: tuple[FloatArray, FloatArray]) -> tuple[int, float]:
    """Return the number of labels and their sum."""
    return len(part[1]), float(part[1].sum())


def _train_on_workers(
    parts: list[Delayed],
    sizes: tuple[int, ...],
    n_columns: int,
    centre: float,
    tau: float,
    stage: SecondStage,
    client: Client,
) -> lightgbm.Booster:
    """Run LightGBM's distributed training with the objective of one machine."""
    import dask.array as da
    from lightgbm import DaskLGBMRegressor

    X = da.concatenate(
        [da.from_delayed(part[0], (size, n_columns), np.float64) for part, size in zip(parts, sizes, strict=True)]
    )
    labels = da.concatenate(
        [da.from_delayed(part[1], (size,), np.float64) for part, size in zip(parts, sizes, strict=True)]
    )
    booster, trees = stage.booster, stage.booster.trees
    model = DaskLGBMRegressor(
        client=client,
        objective=WorkerObjective(centre, tau, *stage.loss.values, stage.seed),
        n_estimators=booster.n_estimators,
        learning_rate=booster.learning_rate,
        num_leaves=trees.num_leaves,
        max_depth=trees.max_depth,
        min_child_samples=trees.min_child_samples,
        min_child_weight=1e-6,
        subsample=trees.subsample,
        subsample_freq=1,
        colsample_bytree=trees.colsample_bytree,
        random_state=stage.seed,
        max_bin=trees.max_bin,
        feature_pre_filter=False,
        deterministic=True,
        force_col_wise=True,
        verbosity=-1,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Parameter n_jobs will be ignored")  # about its own default
        return model.fit(X, labels).booster_


def _choose_round(
    booster: lightgbm.Booster,
    X: FloatArray,
    labels: FloatArray,
    centre: float,
    tau: float,
    stage: SecondStage,
) -> int:
    """Return the round that early stopping would have chosen, by the hybrid loss of held-out rows."""
    rounds = int(booster.current_iteration())
    if not len(X) or not stage.booster.early_stopping_rounds:
        return rounds
    loss = HybridLoss(labels, *stage.loss.values, stage.seed, np.clip(labels, 0.0, tau))
    best, least, scores = 0, np.inf, np.full(len(X), centre)
    for count in range(1, rounds + 1):
        scores += booster.predict(X, start_iteration=count - 1, num_iteration=1, num_threads=1)
        current = loss(scores)
        if current < least:
            best, least = count, current
        elif count - best >= stage.booster.early_stopping_rounds:
            break
    return best
