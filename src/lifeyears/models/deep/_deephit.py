"""DeepHit: a neural network gives the probability of each time bin."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...checks import check_number, check_whole
from ...curves import SurvivalCurves
from ...errors import DataError
from ...outcome import Outcome
from ._model import DeepModel, import_networks

if TYPE_CHECKING:
    from ..._typing import FloatArray, IntArray


class DeepHit(DeepModel):
    """DeepHit: a network gives the probability of dying in each of a number of time bins (paper, Table A2).

    The loss is alpha·(−log-likelihood) + (1 − alpha)·(ranking loss): the ranking loss asks that who died at t had,
    by then, a higher probability of death than those who lived on. Bins are even from 0 to the longest time; events
    count at the end of their bin, censorings at its beginning. Curves are straight between the ends of the bins
    (constant density within a bin). Features are standardised inside. `fit` takes no sample weights. Needs torch.

    Parameters
    ----------
    bins : int, default 30
        Number of time points, 0 and the longest time among them.
    alpha : float, default 0.3
        Weight of the likelihood against the ranking loss.
    sigma : float, default 0.3
        Scale of the ranking loss.
    hidden, dropout, batch_norm, learning_rate, weight_decay, batch_size, epochs, validation_fraction, patience, \
tau, random_state, verbose
        As for `DeepSurv`; dropout is 0.5 and weight_decay 0 by default.

    Attributes
    ----------
    network_ : torch.nn.Sequential
    cuts_ : array
        The time points.
    history_, best_epoch_, tau_
        As for `DeepSurv`.
    """

    interpolation = "linear"

    def __init__(
        self,
        bins: int = 30,
        alpha: float = 0.3,
        sigma: float = 0.3,
        hidden: Sequence[int] = (64, 32),
        dropout: float = 0.5,
        batch_norm: bool = True,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        batch_size: int = 256,
        epochs: int = 75,
        validation_fraction: float = 0.1,
        patience: int = 10,
        tau: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.bins = bins
        self.alpha = alpha
        self.sigma = sigma
        self.hidden = hidden
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.epochs = epochs
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.tau = tau
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, X: FloatArray, y: Outcome, sample_weight: FloatArray | None) -> None:
        check_whole("bins", self.bins, low=2)
        check_number("alpha", self.alpha, low=0, high=1)
        check_number("sigma", self.sigma, low=0.02)  # exp(1/sigma) must be a number
        if not y.time.max() > 0:
            raise DataError("DeepHit needs a time above 0")
        X, y = self._sort(X, y)
        self.cuts_ = np.linspace(0, y.time.max(), self.bins)
        bin_, event = bin_times(y, self.cuts_), y.event
        outlives = (bin_[:, None] > np.arange(self.bins)) | ((bin_[:, None] == np.arange(self.bins)) & ~event[:, None])
        targets = [bin_, event.astype(np.float32), outlives.astype(np.float32)]
        loss = partial(import_networks().deephit_loss, alpha=self.alpha, sigma=self.sigma)
        self._train(X, y, loss, targets, outputs=self.bins, bias=True)

    def _grid(self) -> tuple[FloatArray, FloatArray]:
        return self.cuts_, self.cuts_

    def _survival(self, X: FloatArray, times: FloatArray) -> FloatArray:
        logits = self._outputs(X)
        logits = np.concatenate([logits, np.zeros((len(X), 1))], axis=1)  # the last: beyond the longest time
        mass = np.exp(logits - logits.max(axis=1, keepdims=True))
        mass /= mass.sum(axis=1, keepdims=True)
        survival = np.clip(1.0 - np.cumsum(mass[:, :-1], axis=1), 0.0, 1.0)
        survival[:, 0] = 1.0  # nobody dies at 0: the first bin's mass falls in the first interval
        return SurvivalCurves(self.cuts_, survival, "linear").at(times)


def bin_times(y: Outcome, cuts: FloatArray) -> IntArray:
    """Return the index of the time point of each row: events round up, censorings down."""
    up = np.minimum(np.searchsorted(cuts, y.time, side="left"), len(cuts) - 1)
    down = np.searchsorted(cuts, y.time, side="right") - 1
    return np.where(y.event, up, down)
