"""The torch side of DeepSurv and DeepHit: network, losses, training. Imported only when a deep model is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from ...errors import Message, Setting, WorkError

Loss = Callable[..., Tensor]


class Dropout(nn.Module):
    """Dropout by comparing uniform draws; on a CPU several times as fast as torch's own for small layers."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Zero a share p of the inputs while training, and scale up the rest."""
        if not self.training:
            return x
        return x * (torch.rand_like(x) >= self.p).to(x.dtype).div_(1 - self.p)


def build_network(
    n_features: int, hidden: Sequence[int], outputs: int, *, dropout: float, batch_norm: bool, bias: bool
) -> nn.Sequential:
    """Linear → ReLU → batch norm → dropout for each hidden layer, then a linear output."""
    layers: list[nn.Module] = []
    width = n_features
    for units in hidden:
        linear = nn.Linear(width, units)
        nn.init.kaiming_normal_(linear.weight, nonlinearity="relu")
        layers += [linear, nn.ReLU()]
        if batch_norm:
            layers.append(nn.BatchNorm1d(units))
        if dropout:
            layers.append(Dropout(dropout))
        width = units
    layers.append(nn.Linear(width, outputs, bias=bias))
    return nn.Sequential(*layers)


def cox_loss(output: Tensor, event: Tensor, place: Tensor) -> Tensor:
    """Mean over the events of log Σ_{risk set} e^f − f, the rows of the batch sorted by falling time.

    `place` numbers the times from the latest on, alike for equal times: a risk set ends with the last of a tie, as
    Breslow has it.
    """
    log_hazard = output.reshape(-1).double()  # sums of exponentials need the range; logcumsumexp is far slower
    shift = log_hazard.detach().max()
    last_of_tie = torch.searchsorted(place, place, right=True) - 1
    log_risk = (log_hazard - shift).exp().cumsum(0).log()[last_of_tie] + shift
    return ((log_risk - log_hazard) * event).sum() / event.sum().clamp(min=1.0)


def deephit_loss(output: Tensor, bin_: Tensor, event: Tensor, outlives: Tensor, alpha: float, sigma: float) -> Tensor:
    """alpha·NLL + (1 − alpha)·mean over all pairs (i, j) of 1{i died before j}·exp(−(Fᵢ(tᵢ) − Fⱼ(tᵢ))/σ).

    The exponential of a difference is a product, and tᵢ takes one value a bin: the sum over j can be made once a
    bin instead of once a pair, O(batch·bins) in place of O(batch²). `outlives[j, b]` is 1 where j is known to live
    beyond an event in bin b.
    """
    mass = nn.functional.pad(output, (0, 1)).softmax(1)
    cumulative = mass.cumsum(1)
    own = bin_.view(-1, 1)
    dead_by_then = cumulative.gather(1, own).view(-1)
    # one logarithm serves both: the mass of the bin for an event, the mass beyond it for a censoring
    probability = torch.where(event > 0, mass.gather(1, own).view(-1), (1 - dead_by_then).relu())
    likelihood = (probability + 1e-7).log().mean()
    others = (outlives * (cumulative[:, :-1] / sigma).exp()).sum(0)
    pairs = (event * (-dead_by_then / sigma).exp() * others[bin_]).sum() / len(event) ** 2
    return (1 - alpha) * pairs - alpha * likelihood


@dataclass
class History:
    """Losses of the epochs, and the epoch whose weights were kept."""

    epochs: list[dict[str, float]] = field(default_factory=list)
    best_epoch: int = 0


def train(
    network: nn.Sequential,
    loss: Loss,
    inputs: Tensor,
    targets: Sequence[Tensor],
    training: np.ndarray,
    held_out: np.ndarray,
    *,
    batch_size: int,
    learning_rate: float,
    weight_decay: float,
    patience: int,
    epochs: Iterable[int],
) -> History:
    """Adam on random batches; the network ends with the weights of the epoch of lowest validation loss."""
    optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=True)
    rows, judges = torch.from_numpy(training), torch.from_numpy(held_out)
    history, best, best_loss = History(), None, np.inf
    for epoch in epochs:
        trained = _one_epoch(network, loss, optimiser, inputs, targets, rows, batch_size)
        judged = _judge(network, loss, inputs, targets, judges) if len(judges) else trained
        history.epochs.append({"train": trained, "validation": judged})
        if not np.isfinite(trained):
            raise WorkError(
                "training diverged: the loss is not finite",
                hint=Message("Choose a lower value with ", Setting("learning_rate"), "."),
            )
        if judged < best_loss or best is None or not len(judges):
            best_loss, history.best_epoch = judged, epoch
            best = {name: value.clone() for name, value in network.state_dict().items()}
        elif epoch - history.best_epoch >= patience:
            break
    assert best is not None
    network.load_state_dict(best)
    network.eval()
    return history


def _one_epoch(
    network: nn.Sequential,
    loss: Loss,
    optimiser: torch.optim.Optimizer,
    inputs: Tensor,
    targets: Sequence[Tensor],
    rows: Tensor,
    batch_size: int,
) -> float:
    """One pass over the rows in random batches; the mean loss of the batches."""
    network.train()
    # a last batch of one row cannot be batch-normalised: that row sits this epoch out
    n_batches = max(1, (len(rows) + batch_size - 2) // batch_size)
    # the table is sorted by falling time, so sorting a batch's row numbers sorts it by time, as Cox's loss needs
    batches = [batch.sort().values for batch in rows[torch.randperm(len(rows))].split(batch_size)[:n_batches]]
    epoch = torch.cat(batches)  # gathered once: a batch is then a view
    inputs, targets = inputs[epoch], [target[epoch] for target in targets]
    total, start = torch.zeros(()), 0
    for batch in batches:
        part = slice(start, start + len(batch))
        start += len(batch)
        batch_loss = loss(network(inputs[part]), *(target[part] for target in targets))
        optimiser.zero_grad(set_to_none=True)
        batch_loss.backward()
        optimiser.step()
        total += batch_loss.detach()
    return float(total) / len(batches)


def _judge(network: nn.Sequential, loss: Loss, inputs: Tensor, targets: Sequence[Tensor], rows: Tensor) -> float:
    network.eval()
    with torch.no_grad():
        return float(loss(network(inputs[rows]), *(target[rows] for target in targets)))


@contextmanager
def private_torch(seed: int) -> Iterator[None]:
    """Torch on one thread with a random stream of our own; the caller's state comes back afterwards."""
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
