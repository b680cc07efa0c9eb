"""What DeepSurv and DeepHit share: settings, the validation split, and the way to torch and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from ..curves import row_blocks
from ..outcome import Outcome
from ._base import SurvivalModel, column_scales, need_events


def torch_side() -> Any:
    """Import the torch side, or say what to install."""
    try:
        from . import _networks
    except ImportError as error:
        raise ImportError(
            'DeepSurv and DeepHit need torch: pip install "lifeyears[deep]" (the CPU build is enough; Lifeyears is '
            "tested with torch 2.13.0)"
        ) from error
    return _networks


class DeepModel(SurvivalModel):
    """A multilayer perceptron trained by Adam on mini-batches, stopped early on a validation share."""

    hidden: Sequence[int]
    dropout: float
    batch_norm: bool
    learning_rate: float
    weight_decay: float
    batch_size: int
    epochs: int
    validation_fraction: float
    patience: int
    random_state: Any
    verbose: bool

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]  # a batch has no weights
        """Train the network; unlike the other models it takes no sample_weight.

        Parameters
        ----------
        X : array or DataFrame, shape (n, p)
            Numeric features without missing values.
        y : Outcome or what `lifeyears.as_outcome` reads
            Observed times and events.

        Returns
        -------
        self
        """
        torch_side()  # without torch, say so before anything else
        return super().fit(X, y)

    def _train(
        self, X: np.ndarray, y: Outcome, loss: Any, targets: Sequence[np.ndarray], outputs: int, bias: bool
    ) -> None:
        """Fit a network with this loss on rows sorted by falling time."""
        networks = torch_side()
        random = check_random_state(self.random_state)
        self.mean_ = X.mean(axis=0)
        self.scale_, _ = column_scales(X, self.mean_)
        training, held_out = self._split(y, random)
        with networks.private_torch(int(random.randint(2**31 - 1))):
            self.network_ = networks.build_network(
                X.shape[1], self.hidden, outputs, dropout=self.dropout, batch_norm=self.batch_norm, bias=bias
            )
            history = networks.train(
                self.network_,
                loss,
                self._tensor(X),
                [networks.torch.from_numpy(np.array(target)) for target in targets],
                training,
                held_out,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                weight_decay=self.weight_decay,
                patience=self.patience,
                epochs=self._progress(),
            )
        self.history_, self.best_epoch_ = history.epochs, history.best_epoch

    def _split(self, y: Outcome, random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
        """Training and validation rows, events and censorings shared out alike."""
        held_out = np.zeros(len(y), dtype=bool)
        for kind in (y.event, ~y.event):
            rows = np.flatnonzero(kind)
            held_out[random.permutation(rows)[: int(self.validation_fraction * len(rows))]] = True
        if not y[held_out].n_events or (~held_out).sum() < 2:  # a loss without events says nothing: train on all rows
            held_out[:] = False
        return np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def _progress(self) -> Any:
        epochs = range(1, self.epochs + 1)
        if not self.verbose:
            return epochs
        from rich.progress import track

        return track(epochs, description=type(self).__name__)

    def _tensor(self, X: np.ndarray) -> Any:
        return torch_side().torch.from_numpy(((X - self.mean_) / self.scale_).astype(np.float32))

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        """What the network says of rows, as float64."""
        networks = torch_side()
        with networks.torch.no_grad(), networks.private_torch(0):
            parts = [
                self.network_(self._tensor(X[rows])).double().numpy() for rows in row_blocks(len(X), 4 * X.shape[1])
            ]
        return np.concatenate(parts)

    def _sorted(self, X: np.ndarray, y: Outcome) -> tuple[np.ndarray, Outcome]:
        """Check the settings and sort the rows by falling time, as the losses want them."""
        if self.batch_size < 2:
            raise ValueError(f"batch_size must be at least 2; got {self.batch_size}")
        if not 0 <= self.validation_fraction < 1:
            raise ValueError(f"validation_fraction must lie in [0, 1); got {self.validation_fraction}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must lie in [0, 1); got {self.dropout}")
        if self.epochs < 1:
            raise ValueError(f"epochs must be at least 1; got {self.epochs}")
        need_events(y, type(self).__name__)
        if len(y) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two rows; got n_samples = 1")
        order = np.argsort(-y.time, kind="stable")
        return X[order], y[order]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags
