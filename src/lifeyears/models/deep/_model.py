"""What DeepSurv and DeepHit share: settings, the validation split, and the way to torch and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_random_state

from ...checks import check_number, check_whole
from ...curves import row_blocks
from ...errors import DataError, MissingExtraError, RequestError
from ...folds import draw_validation_split
from ...outcome import Outcome
from .._base import SurvivalModel, check_has_events
from ..fitting import column_scales

if TYPE_CHECKING:
    from ..._typing import AnyArray, FloatArray, IntArray, TableLike
    from ...outcome import OutcomeLike


def import_networks() -> ModuleType:
    """Import the module that needs torch, `lifeyears.models.deep.networks`.

    Raises
    ------
    MissingExtraError
        If torch is not installed; the message says how to install it.
    """
    try:
        from . import networks
    except ImportError as error:
        raise MissingExtraError(
            "DeepSurv and DeepHit need torch, which is not installed",
            hint='Install it with pip install "lifeyears[deep]" (the CPU build is enough; Lifeyears is tested with '
            "torch 2.13.0).",
            extra="deep",
        ) from error
    return networks


class DeepModel(SurvivalModel):
    """A multilayer perceptron trained by Adam on mini-batches, stopped early on a validation share."""

    requires = ("torch",)
    hidden: Sequence[int]
    dropout: float
    batch_norm: bool
    learning_rate: float
    weight_decay: float
    batch_size: int
    epochs: int
    validation_fraction: float
    patience: int
    random_state: int | np.random.RandomState | None
    verbose: bool

    def fit(self, X: TableLike, y: OutcomeLike) -> Self:  # type: ignore[override]  # a batch has no weights
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
        import_networks()  # without torch, say so before anything else
        return super().fit(X, y)

    def _train(
        self,
        X: FloatArray,
        y: Outcome,
        loss: Callable[..., Any],
        targets: Sequence[AnyArray],
        outputs: int,
        bias: bool,
    ) -> None:
        """Fit a network with this loss on rows sorted by falling time."""
        networks = import_networks()
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
                epochs=self._epochs(),
            )
        self.history_, self.best_epoch_ = history.epochs, history.best_epoch

    def _split(self, y: Outcome, random: np.random.RandomState) -> tuple[IntArray, IntArray]:
        """Draw training and validation rows, with equal shares of events and censorings."""
        training, held_out = draw_validation_split(y.event, self.validation_fraction, random)
        if not y[held_out].n_events or len(training) < 2:  # a loss without events is no guide: train on all rows
            return np.arange(len(y)), np.arange(0)
        return training, held_out

    def _epochs(self) -> Iterable[int]:
        epochs = range(1, self.epochs + 1)
        if not self.verbose:
            return epochs
        from rich.progress import track

        shown: Iterable[int] = track(epochs, description=type(self).__name__)
        return shown

    def _tensor(self, X: FloatArray) -> Any:
        return import_networks().torch.from_numpy(((X - self.mean_) / self.scale_).astype(np.float32))

    def _outputs(self, X: FloatArray) -> FloatArray:
        """Return the network's outputs for rows, as float64."""
        networks = import_networks()
        with networks.torch.no_grad(), networks.private_torch(0):
            parts = [
                self.network_(self._tensor(X[rows])).double().numpy() for rows in row_blocks(len(X), 4 * X.shape[1])
            ]
        return np.concatenate(parts)

    def _sort(self, X: FloatArray, y: Outcome) -> tuple[FloatArray, Outcome]:
        """Check the settings and sort the rows by falling time, as the losses need them."""
        check_whole("batch_size", self.batch_size, low=2)
        check_whole("epochs", self.epochs, low=1)
        for name, share in (("validation_fraction", self.validation_fraction), ("dropout", self.dropout)):
            if not check_number(name, share, low=0) < 1:
                raise RequestError(f"{name} must lie in [0, 1); got {share!r}", name=name)
        check_has_events(y, type(self).__name__)
        if len(y) < 2:
            raise DataError(f"{type(self).__name__} needs at least two rows; got n_samples = 1")
        order = np.argsort(-y.time, kind="stable")
        return X[order], y[order]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags
