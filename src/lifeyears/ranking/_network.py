"""The second stage as a network in torch, with the same loss as the trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .._typing import FloatArray
from ..curves import row_blocks
from ..models.deep import import_networks

if TYPE_CHECKING:
    import torch

EPOCHS, PATIENCE = 60, 8
HELD_OUT_SHARE = 0.15


@dataclass(frozen=True, eq=False)
class YearsNetwork:
    """Expected years f(x) = centre + spread·network(standardised x)."""

    hidden: ClassVar[tuple[int, ...]] = (64, 32)  # sizes of the hidden layers
    dropout: ClassVar[float] = 0.1
    additive: ClassVar[bool] = False
    rounds: ClassVar[int | None] = None
    n_terms: ClassVar[int | None] = None

    network: torch.nn.Module
    mean: FloatArray
    scale: FloatArray
    centre: float
    spread: float

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the expected years of each row."""
        side = import_networks()
        with side.torch.no_grad(), side.private_torch(0):
            parts = [
                self.network(side.torch.from_numpy(((X[rows] - self.mean) / self.scale).astype(np.float32)))
                for rows in row_blocks(len(X), 4 * X.shape[1])
            ]
        return np.asarray(self.centre + self.spread * side.torch.cat(parts).double().numpy()[:, 0])


def compute_hybrid_loss(
    output: torch.Tensor,
    labels: torch.Tensor,
    gains: torch.Tensor,
    alpha: float,
    margin: float,
    group_size: int,
    centre: float,
    spread: float,
) -> torch.Tensor:
    """Return α·MSE + (1 − α)·rank (section 5), the mean over groups of the batch; ranks are held fixed."""
    torch = import_networks().torch
    scores = centre + spread * output.reshape(-1)
    total, groups = scores.new_zeros(()), 0
    for f, y, gain in zip(scores.split(group_size), labels.split(group_size), gains.split(group_size), strict=True):
        groups += 1
        total = total + alpha * ((f - y) ** 2).mean()
        if alpha == 1:
            continue
        discount = 1 / torch.log2(torch.arange(2, len(f) + 2, dtype=f.dtype))
        ideal = (gain.sort(descending=True).values * discount).sum()
        if ideal <= 0:
            continue
        place = torch.empty_like(discount)
        place[torch.argsort(f.detach(), descending=True, stable=True)] = discount
        above = (y[:, None] > y[None, :]).to(f.dtype)
        weight = above * (gain[:, None] - gain[None, :]).abs() * (place[:, None] - place[None, :]).abs() / ideal
        hinge = (margin - (f[:, None] - f[None, :])).clamp(min=0)
        total = total + (1 - alpha) * (0.5 * hinge**2 * weight).sum()
    return total / groups


def train_network(
    X: FloatArray, labels: FloatArray, gains: FloatArray, alpha: float, margin: float, group_size: int, seed: int
) -> YearsNetwork:
    """Train a network by Adam over random batches of one group each, stopped early on a share of the rows."""
    side = import_networks()
    torch = side.torch
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    centre, spread = float(labels.mean()), float(labels.std()) or 1.0
    order = np.random.default_rng(seed).permutation(len(X))
    held_out = order[: int(HELD_OUT_SHARE * len(X))] if len(X) >= 40 else order[:0]
    loss = partial(compute_hybrid_loss, alpha=alpha, margin=margin, group_size=group_size, centre=centre, spread=spread)
    with side.private_torch(seed):
        network = side.build_network(
            X.shape[1], YearsNetwork.hidden, 1, dropout=YearsNetwork.dropout, batch_norm=False, bias=True
        )
        side.train(
            network,
            loss,
            torch.from_numpy(((X - mean) / scale).astype(np.float32)),
            [torch.from_numpy(values.astype(np.float32)) for values in (labels, gains)],
            order[len(held_out) :],
            held_out,
            batch_size=group_size,
            learning_rate=1e-3,
            weight_decay=1e-4,
            patience=PATIENCE,
            epochs=range(1, EPOCHS + 1),
        )
    return YearsNetwork(network, mean, scale, centre, spread)
