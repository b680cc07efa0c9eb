"""Cox's partial likelihood with its derivatives, in one pass over the rows sorted by time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numba
import numpy as np

from ...outcome import Outcome

if TYPE_CHECKING:
    from ..._typing import AnyArray, BoolArray, FloatArray

Ties = Literal["breslow", "efron"]

SMALLEST_RISK = 1e-200
BLOCK_ROWS = 1024  # a block of rows times 200 features stays in the processor's cache


@dataclass(frozen=True, eq=False)
class RiskSets:
    """Who is at risk when: rows sorted by time, and the terms of the partial likelihood.

    A term is one factor's denominator, S₀(g) − f·D₀(g): the risk of all rows from `start` on, less the share f of
    the risk of the tied events of group g. Breslow has one term a distinct event time, with f = 0. Efron has one
    for each of the d tied events, with f = 0, 1/d, …, (d−1)/d.
    """

    order: AnyArray  # rows by time
    event: BoolArray  # of the sorted rows
    weight: FloatArray
    times: FloatArray  # distinct event times
    start: AnyArray  # first row of each distinct event time
    end: AnyArray  # one past its last row
    group: AnyArray  # of each sorted row: how many distinct event times are at or before it
    term_group: AnyArray
    term_share: FloatArray
    term_weight: FloatArray

    @classmethod
    def of(cls, y: Outcome, sample_weight: FloatArray | None, ties: Ties) -> RiskSets:
        """Sort the rows and list the terms."""
        order = np.argsort(y.time, kind="stable")
        time, event = y.time[order], y.event[order]
        weight = np.ones(len(y)) if sample_weight is None else sample_weight[order]
        times = np.unique(time[event])
        start = np.searchsorted(time, times, side="left")
        end = np.searchsorted(time, times, side="right")
        group = np.searchsorted(times, time, side="right")
        deaths = np.bincount(group[event] - 1, minlength=len(times))
        weights: np.ndarray = np.bincount(group[event] - 1, weight[event], minlength=len(times))
        if ties == "breslow":
            term_group = np.arange(len(times))
            share, term_weight = np.zeros(len(times)), weights
        else:
            term_group = np.repeat(np.arange(len(times)), deaths)
            first = np.repeat(np.cumsum(deaths) - deaths, deaths)
            share = (np.arange(len(term_group)) - first) / deaths[term_group]
            term_weight = (weights / deaths)[term_group]
        return cls(order, event, weight, times, start, end, group, term_group, share, term_weight)

    def denominators(self, risk: FloatArray) -> FloatArray:
        """S₀ − f·D₀ of each term, for weighted risks of the sorted rows."""
        at_risk = np.cumsum(risk[::-1])[::-1][self.start]
        tied = self._tied_events(risk)
        denominators: FloatArray = at_risk[self.term_group] - self.term_share * tied[self.term_group]
        return denominators

    def breslow_hazard(self, risk: FloatArray) -> FloatArray:
        """Cumulative baseline hazard at the distinct event times, Σ d/S₀."""
        at_risk = np.cumsum(risk[::-1])[::-1][self.start]
        events = np.bincount(self.group[self.event] - 1, self.weight[self.event], minlength=len(self.times))
        return np.cumsum(events / at_risk)

    def _tied_events(self, values: FloatArray) -> FloatArray:
        sums: np.ndarray = np.bincount(self.group[self.event] - 1, values[self.event], minlength=len(self.times))
        return sums


class PartialLikelihood:
    """log PL(β) − ½ Σ penalty·β² and its derivatives, for a matrix whose rows are sorted as in `sets`.

    Parameters
    ----------
    Z : array, shape (n, p), or an object that makes blocks of one
        It is sliced by rows, and multiplied from the left and from the right.
    sets : RiskSets
    penalty : array, shape (p,)

    Examples
    --------
    >>> import numpy as np
    >>> sets = RiskSets.of(Outcome([1.0, 2.0], [True, True]), None, "breslow")
    >>> round(PartialLikelihood(np.zeros((2, 1)), sets, np.zeros(1)).value(np.zeros(1)), 6)   # log(1/2) + log(1)
    -0.693147
    """

    def __init__(self, Z: Any, sets: RiskSets, penalty: FloatArray) -> None:
        self.Z, self.sets, self.penalty = Z, sets, penalty
        self._event_sum = (sets.weight * sets.event) @ Z

    def value(self, beta: FloatArray) -> float:
        """The penalised log partial likelihood; the risks are kept for `gradient` and `curvature`."""
        sets = self.sets
        eta = self.Z @ beta
        shift = eta.max()
        with np.errstate(under="ignore"):
            self._risk = sets.weight * np.exp(eta - shift)
        self._denominator = sets.denominators(self._risk)
        if not self._denominator.min() > SMALLEST_RISK:  # coefficients far out, as separable data drives them
            return -np.inf
        log_denominator = np.log(self._denominator) + shift
        value = beta @ self._event_sum - sets.term_weight @ log_denominator - 0.5 * self.penalty @ beta**2
        return float(value) if np.isfinite(value) else -np.inf

    def gradient(self, beta: FloatArray) -> FloatArray:
        """Of the value, at the point where it was last asked for."""
        return np.asarray(self._event_sum - self._load() @ self.Z - self.penalty * beta)

    def _load(self) -> FloatArray:
        """risk·A of each row, where A adds up weight/denominator over the terms that the row is at risk in."""
        sets = self.sets
        pull = sets.term_weight / self._denominator
        groups = len(sets.times)
        total = np.bincount(sets.term_group, pull, minlength=groups)
        at_risk = np.append(0.0, np.cumsum(total))[sets.group]
        tied = np.bincount(sets.term_group, pull * sets.term_share, minlength=groups)
        at_risk -= np.where(sets.event, tied[sets.group - 1], 0.0)
        return np.asarray(self._risk * np.maximum(at_risk, 0.0))

    def curvature(self, _: FloatArray) -> FloatArray:
        """The negative Hessian at the point where `value` was last called.

        With μ the mean of Z in a risk set, the Hessian is Σ_terms [mean of z zᵀ − μ μᵀ]. The first sum is
        Zᵀ diag(risk·A) Z; the second needs the running sums of risk·z, made block by block from the latest time to
        the earliest.
        """
        sets, Z, load = self.sets, self.Z, self._load()
        curvature = np.diag(self.penalty)
        first_term = np.searchsorted(sets.term_group, np.arange(len(sets.times) + 1))
        behind = np.zeros(Z.shape[1])  # Σ risk·z of the rows after the block
        for rows in self._blocks():
            block = Z[rows]
            rooted = block * np.sqrt(load[rows])[:, None]
            curvature += rooted.T @ rooted
            low, high = np.searchsorted(sets.start, (rows.start, rows.stop))  # the groups that start in here
            S1 = np.empty((high - low, Z.shape[1]))
            _sums_from(block, self._risk[rows], sets.start[low:high] - rows.start, behind, S1)
            terms = slice(first_term[low], first_term[high])
            group, share = sets.term_group[terms] - low, sets.term_share[terms]
            means = S1[group]
            if share.any():
                means -= share[:, None] * self._tied_sums(rows, low, high)[group]
            means *= (np.sqrt(sets.term_weight[terms]) / self._denominator[terms])[:, None]
            curvature -= means.T @ means
        return curvature

    def _tied_sums(self, rows: slice, low: int, high: int) -> FloatArray:
        """Σ risk·z over the tied events of the groups low … high − 1, all of which lie within the block."""
        event = self.sets.event[rows]
        group = self.sets.group[rows][event] - 1
        weighted = self.Z[rows][event] * self._risk[rows][event, None]
        return np.add.reduceat(weighted, np.searchsorted(group, np.arange(low, high)), axis=0)

    def _blocks(self) -> list[slice]:
        """Blocks of about `BLOCK_ROWS` rows, latest first; tied rows are never cut apart."""
        edges = [0]
        while edges[-1] < len(self.Z):
            wanted = edges[-1] + BLOCK_ROWS
            tied = np.searchsorted(self.sets.start, wanted) - 1  # the last event time that starts before the cut
            within = tied >= 0 and self.sets.end[tied] > wanted
            edges.append(min(int(self.sets.end[tied]) if within else wanted, len(self.Z)))
        return [slice(a, b) for a, b in zip(edges[-2::-1], edges[:0:-1], strict=True)]


@numba.njit(cache=True, nogil=True)
def _sums_from(Z: FloatArray, risk: FloatArray, start: AnyArray, behind: FloatArray, out: FloatArray) -> None:
    """Σ risk·z from each start on, in what is `behind` the block, too; what is behind the next is left in it."""
    group = len(start) - 1
    for i in range(len(Z) - 1, -1, -1):
        for j in range(len(behind)):
            behind[j] += risk[i] * Z[i, j]
        if group >= 0 and start[group] == i:
            for j in range(len(behind)):
                out[group, j] = behind[j]
            group -= 1
