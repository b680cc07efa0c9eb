"""DeepSurv: Cox's model with a neural network in place of xβ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...outcome import Outcome
from .._proportional import ProportionalHazards
from ..fitting import Baseline, RiskSets
from ._model import DeepModel, import_networks

if TYPE_CHECKING:
    from ..._typing import FloatArray


class DeepSurv(DeepModel, ProportionalHazards):
    """DeepSurv: h(t|x) = h₀(t)·exp(f(x)), f a neural network (paper, appendix D and Table A2).

    The loss is Cox's partial likelihood with the risk sets taken within a batch; the baseline hazard is Breslow's,
    over all training rows. Curves are right-continuous steps at the event times. Features are standardised
    inside. `fit` takes no sample weights. Needs torch.

    Parameters
    ----------
    hidden : sequence of int, default (64, 32)
        Units of the hidden layers.
    dropout : float, default 0.4
    batch_norm : bool, default True
    learning_rate : float, default 1e-3
    weight_decay : float, default 1e-4
    batch_size : int, default 256
    epochs : int, default 75
        At most; training stops after `patience` epochs without a better validation loss.
    validation_fraction : float, default 0.1
        Share of the rows kept for early stopping; 0 trains all epochs on all rows.
    patience : int, default 10
    tau : float, optional
        Horizon of `predict`; None means the largest training time.
    random_state : int, RandomState or None
        Same seed, same network.
    verbose : bool, default False
        Show a progress bar.

    Attributes
    ----------
    network_ : torch.nn.Sequential
    history_ : list of dict
        Training and validation loss of each epoch.
    best_epoch_ : int
        The epoch whose weights were kept.
    baseline_times_, baseline_hazard_ : arrays
        Breslow's cumulative hazard H₀ for f(x) = 0.
    tau_ : float
        The horizon in use.
    """

    def __init__(
        self,
        hidden: Sequence[int] = (64, 32),
        dropout: float = 0.4,
        batch_norm: bool = True,
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-4,
        batch_size: int = 256,
        epochs: int = 75,
        validation_fraction: float = 0.1,
        patience: int = 10,
        tau: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
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
        X, y = self._sort(X, y)
        place = np.unique(-y.time, return_inverse=True)[1]
        self._train(X, y, import_networks().cox_loss, [y.event.astype(np.float32), place], outputs=1, bias=False)
        eta = self._eta(X)
        sets = RiskSets.of(y, None, "breslow")
        hazard = sets.breslow_hazard(np.exp(np.clip(eta, -500, 500))[sets.order])
        self._keep_baseline(Baseline(sets.times, hazard), eta)

    def _eta(self, X: FloatArray) -> FloatArray:
        return self._outputs(X)[:, 0]
