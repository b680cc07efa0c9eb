"""Hazards along broken lines: each column moves the log hazard as far as it has earned it.

Most columns of a registry say little, and a little noise from each of two hundred is much at the top of a list. How
much a term may say is therefore found by the evidence (MacKay's "automatic relevance determination"): its coefficient
has a normal prior around 0, and the prior's variance is the one that makes the data most likely. Terms that the data
could do without are dropped. Phases of life have coefficients of their own and share the variances: a column that
matters early may matter late, in another way.

What columns say together, and not each by itself, is learned in a second round: products of the strongest terms, two
at a time, judged by the same evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
from scipy import linalg

from ...models.fitting import Baseline, PartialLikelihood, RiskSets, maximise
from ...outcome import Outcome
from ._phases import Stretch, costs_of, phase_of, years_of
from ._terms import NO_PAIRS, Lines, Pairs, Terms, add_lines, add_pairs

ENOUGH = 2500  # events: with fewer, the evidence believes too much, and the largest variance is scaled down
ROUNDS = 20  # of the evidence: terms that hardly matter go on fading after them, slowly
MOST_STEPS = 20  # of Newton's method
MOST_TERMS = 1000  # of more, those of the largest score at 0: the work grows with their cube
STRONGEST = 30  # terms that are multiplied with each other


@dataclass(frozen=True)
class Belief:
    """Prior variance of a coefficient: at first, the least to stay, and the most."""

    first: float
    least: float
    most: float


LINE, PAIR = Belief(1 / 300, 1e-4, 0.05), Belief(1 / 3000, 1e-3, 0.01)  # products are many: few may stay


@dataclass(frozen=True, eq=False)
class LineHazards:
    """f(x) = Σ slope·(min(x, high) − knot)₊, and products of two such terms, centred, in each phase.

    What is beyond the rows seen in training counts as their end.

    Attributes
    ----------
    lines : Lines
    pairs : Pairs
    slope : array, shape (phases, lines)
        In units of the column; 0 for lines that are there for their products only.
    together : array, shape (phases, pairs)
    phases : tuple of Stretch
    """

    lines: Lines
    pairs: Pairs
    slope: np.ndarray
    together: np.ndarray
    phases: tuple[Stretch, ...]

    def __post_init__(self) -> None:
        """Refuse what does not fit together, as a forged file may not: compiled loops do not check their bounds."""
        lines, pairs = (tuple(getattr(part, each.name) for each in fields(part)) for part in (self.lines, self.pairs))
        many, two = len(lines[0]), len(pairs[0])
        shapes = [(many,)] * 5 + [(two,)] * 3 + [(len(self.phases), many), (len(self.phases), two)]
        given = [np.shape(part) for part in (*lines, *pairs, self.slope, self.together)]
        which = (self.lines.column, self.pairs.first, self.pairs.second)
        whole = all(part.dtype == np.int64 and (part >= 0).all() for part in which)
        numbers = (*lines[1:], pairs[-1], self.slope, self.together)
        sound = whole and all(part.dtype == float and np.isfinite(part).all() for part in numbers)
        sound = sound and len(self.phases) > 0 and bool((self.lines.scale > 0).all())
        if given != shapes or not sound or max(part.max(initial=-1) for part in which[1:]) >= many:
            raise ValueError("terms, phases and slopes of broken lines do not fit together")

    @property
    def terms(self) -> int:
        """How many were kept."""
        return int(self.slope.any(axis=0).sum()) + len(self.pairs.mean)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Years of each row."""
        return years_of(self.phases, list(self._log_hazards(np.asfortranarray(X).T)))

    def explained(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Years; and what each column adds to them (n, p), and last what all rows share.

        What two columns do together is shared by halves.
        """
        columns = np.asfortranarray(X).T
        sums = list(self._log_hazards(columns))
        years, typical, costs = costs_of(self.phases, sums, [np.zeros(len(X))] * len(sums))
        parts, cost = np.zeros((len(columns) + 1, len(X))), np.array(costs)
        add_lines(columns, *self._lines(), self.slope, cost, True, parts)
        add_pairs(columns, *self._lines(), *self._pairs(), cost, True, parts)
        parts[-1] = typical
        return years, parts.T

    def _log_hazards(self, columns: np.ndarray) -> np.ndarray:
        """(phases, n), added up term by term: the same to the bit whoever else is asked about."""
        if self.lines.column.max(initial=-1) >= len(columns):
            raise ValueError(f"broken lines of {self.lines.column.max() + 1} columns or more; got {len(columns)}")
        found, one = np.zeros((2, len(self.phases), columns.shape[1]))
        one += 1.0
        add_lines(columns, *self._lines(), self.slope, one, False, found)
        add_pairs(columns, *self._lines(), *self._pairs(), one, False, found)
        return found

    def _lines(self) -> tuple[np.ndarray, ...]:
        return self.lines.column, self.lines.knot, self.lines.high, self.lines.mean

    def _pairs(self) -> tuple[np.ndarray, ...]:
        return self.lines.scale, self.pairs.first, self.pairs.second, self.pairs.mean, self.together


class Seen:
    """What is seen of one phase of life: its partial likelihood, over rows sorted by time."""

    def __init__(self, X: np.ndarray, y: Outcome, start: float, stop: float) -> None:
        alive, within = phase_of(y, start, stop)
        self.X, self.length, self.deadly = X, float(stop - start), within.n_events > 0
        self.settled = True  # whether every search for coefficients found its end
        self.sets = RiskSets.of(within, None, "breslow")
        self.order = np.flatnonzero(alive)[self.sets.order]

    def terms(self, lines: Lines, pairs: Pairs, chosen: np.ndarray) -> Terms:
        return Terms(self.X, self.order, lines, pairs, chosen)

    def fitted(self, terms: Terms, prior: np.ndarray, start: np.ndarray, tol: float) -> np.ndarray:
        """The coefficients of largest penalised likelihood."""
        if not len(prior) or not self.deadly:
            return np.zeros(len(prior))
        likelihood = PartialLikelihood(terms, self.sets, 1 / prior)
        found = maximise(likelihood, start, tol=tol, max_iter=MOST_STEPS)
        self.settled = self.settled and found.converged
        return found.parameters

    def parabola(self, terms: Terms, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The likelihood near a point as −½βᵀHβ + rᵀβ: H and r."""
        if not self.deadly:
            return np.zeros((len(at), len(at))), np.zeros(len(at))
        likelihood = PartialLikelihood(terms, self.sets, np.zeros(len(at)))
        likelihood.value(at)
        curvature = likelihood.curvature(at)
        return curvature, curvature @ at + likelihood.gradient(at)

    def stretch(self, terms: Terms, coef: np.ndarray) -> Stretch:
        """The hazard of the whole phase."""
        if self.deadly:
            log_hazard = terms @ coef
            baseline = Baseline.breslow(self.sets, log_hazard)
        else:  # everybody lives through it
            log_hazard, baseline = np.zeros(1), Baseline(np.empty(0), np.empty(0))
        return Stretch(baseline, baseline.life_table(log_hazard, self.length), self.length)


def line_hazards(X: np.ndarray, y: Outcome, edges: np.ndarray, paired: bool = False) -> tuple[list[LineHazards], bool]:
    """Fit them, phase by phase; and, if asked, once more with products; and whether every search found its end.

    One ridge for all, from there the evidence for each term's own, and Newton's method with these.
    """
    phases = [Seen(X, y, start, stop) for start, stop in pairwise(edges)]
    lines = _strongest(phases, Lines.of(X))
    first, every = np.full(len(lines.column), LINE.first), np.arange(len(lines.column))
    near = np.array(
        [phase.fitted(phase.terms(lines, NO_PAIRS, every), first, np.zeros(len(first)), 0.05) for phase in phases]
    )
    alone, coef, weight, prior = _by_evidence(phases, lines, NO_PAIRS, near, first)
    if not paired:
        return [alone], all(phase.settled for phase in phases)
    strongest = np.sort(np.argsort(-weight, kind="stable")[:STRONGEST])
    pairs = Pairs.of(X, alone.lines, strongest)
    many = len(pairs.mean)
    start = np.column_stack([coef, np.zeros((len(phases), many))])
    both = [alone, _by_evidence(phases, alone.lines, pairs, start, np.append(prior, np.full(many, PAIR.first)))[0]]
    return both, all(phase.settled for phase in phases)


def _strongest(phases: Sequence[Seen], lines: Lines) -> Lines:
    """All lines, or of too many those along which the likelihood rises most from 0, in their standard errors."""
    every = np.arange(len(lines.column))
    if len(every) <= MOST_TERMS:
        return lines
    score = np.zeros(len(every))
    for phase in phases:
        if phase.deadly:
            terms = phase.terms(lines, NO_PAIRS, every)
            likelihood = PartialLikelihood(terms, phase.sets, np.zeros(len(every)))
            likelihood.value(np.zeros(len(every)))
            score += likelihood.gradient(np.zeros(len(every))) ** 2 / np.maximum(terms.spread() ** 2, 1e-12)
    return lines.only(np.sort(np.argsort(-score, kind="stable")[:MOST_TERMS]))


def _by_evidence(
    phases: Sequence[Seen], lines: Lines, pairs: Pairs, near: np.ndarray, prior: np.ndarray
) -> tuple[LineHazards, np.ndarray, np.ndarray, np.ndarray]:
    """From coefficients near by and first variances: the hazards; and of the lines kept coefficients, weight, variance.

    Weight: what a line adds to the likelihood, about.
    """
    many, every = len(lines.column), np.arange(len(prior))
    known = [phase.parabola(phase.terms(lines, pairs, every), at) for phase, at in zip(phases, near, strict=True)]
    beliefs = [LINE] * many + [PAIR] * len(pairs.mean)
    least, most = (np.array([getattr(belief, end) for belief in beliefs]) for end in ("least", "most"))
    events = sum(np.count_nonzero(phase.sets.event) for phase in phases)
    prior = evident(known, prior, least, most * min(1.0, events / ENOUGH))
    kept = np.flatnonzero(prior)
    terms = [phase.terms(lines, pairs, kept) for phase in phases]
    coef = np.zeros_like(near)
    for k, phase in enumerate(phases):
        coef[k, kept] = phase.fitted(terms[k], prior[kept], near[k, kept], tol=0.01)
    stretches = tuple(phase.stretch(terms[k], coef[k, kept]) for k, phase in enumerate(phases))
    weight = sum(coef[k] ** 2 * np.diag(curvature) for k, (curvature, _) in enumerate(known))
    if not len(pairs.mean):
        lines, coef, weight, prior, many = lines.only(kept), coef[:, kept], weight[kept], prior[kept], len(kept)
    pairs_kept = kept[kept >= many] - many if len(pairs.mean) else np.empty(0, dtype=np.int64)
    made = LineHazards(
        lines, pairs.only(pairs_kept), coef[:, :many] / lines.scale, coef[:, many:][:, pairs_kept], stretches
    )
    return made, coef, weight, prior


def evident(
    known: Sequence[tuple[np.ndarray, np.ndarray]], prior: np.ndarray, least: np.ndarray, most: np.ndarray
) -> np.ndarray:
    """Variances of the coefficients that make the data most likely, 0 where the term can go.

    MacKay's rule: a coefficient's square over how well the data know it, both summed over the phases.
    """
    prior = prior.copy()
    for _ in range(ROUNDS):
        kept = np.flatnonzero(prior)
        squares, certainty = np.zeros(len(kept)), np.zeros(len(kept))
        for curvature, slope in known:
            mean, variance = posterior(curvature[np.ix_(kept, kept)], slope[kept], prior[kept])
            squares += mean**2
            certainty += 1 - variance / prior[kept]
        found = np.minimum(squares / np.maximum(certainty, 1e-12), most[kept])
        prior[kept] = np.where(found >= least[kept], found, 0.0)
    return prior


def posterior(curvature: np.ndarray, slope: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each coefficient, given its prior variance."""
    if not len(prior):
        return prior, prior
    width = np.sqrt(prior)
    scaled = width[:, None] * curvature * width
    scaled[np.diag_indices_from(scaled)] += 1.0
    factor = linalg.cholesky(scaled, lower=True, check_finite=False)
    inverse = linalg.solve_triangular(factor, np.eye(len(prior)), lower=True, check_finite=False)
    return width * (inverse.T @ (inverse @ (width * slope))), prior * (inverse**2).sum(axis=0)
