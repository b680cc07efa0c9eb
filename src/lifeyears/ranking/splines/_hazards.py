"""Spline hazards: proportional hazards along linear splines, with a prior variance for each term.

Most columns of a registry carry little information, and a little noise from each of two hundred is much at the top of a
list. The prior variance of each coefficient is therefore estimated by maximising the marginal likelihood (empirical
Bayes; automatic relevance determination): the coefficient has a normal prior around 0, and terms whose variance falls
below a limit are dropped. Intervals of time have coefficients of their own and share the variances: a column that
matters early may matter late, in another way.

Interactions are fitted in a second round: products of the strongest terms, two at a time, with prior variances
estimated in the same way.

References
----------
MacKay, D. J. C. (1992). Bayesian interpolation. Neural Computation 4, 415-447.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import ClassVar

import numpy as np
from scipy import linalg

from ..._typing import FloatArray, IntArray
from ...errors import DataError, ModelFileError
from ...models.fitting import Baseline, PartialLikelihood, RiskSets, maximise
from ...outcome import Outcome
from .._piecewise import HazardInterval, linearise_expected_life, restrict_to_interval, sum_expected_life
from ._terms import NO_INTERACTIONS, InteractionTerms, SplineTerms, TermMatrix, add_interactions, add_splines

ENOUGH_EVENTS = 2500  # with fewer, the marginal likelihood is too optimistic: the largest variance is scaled down
VARIANCE_UPDATES = 20  # terms that hardly matter would go on shrinking after them, slowly
MOST_STEPS = 20  # of Newton's method
MOST_TERMS = 1000  # of more, those with the largest score statistic at 0: the work grows with their cube
STRONGEST = 30  # terms that are multiplied with each other


@dataclass(frozen=True)
class PriorVariance:
    """Limits for the prior variance of a coefficient: its initial value, the smallest that is kept, and the largest."""

    initial: float
    smallest: float
    largest: float


SPLINE_PRIOR = PriorVariance(1 / 300, 1e-4, 0.05)
INTERACTION_PRIOR = PriorVariance(1 / 3000, 1e-3, 0.01)  # interactions are many: few may stay


@dataclass(frozen=True, eq=False)
class FittedSplines:
    """Log hazards f(x) = Σ slope·(min(x, high) − knot)₊, and interactions of two such terms, centred, in each interval.

    Beyond the range of a column in training its terms stay constant.

    Attributes
    ----------
    splines : SplineTerms
    interactions : InteractionTerms
    slope : array, shape (intervals, splines)
        In units of the column; 0 for terms that are kept for their interactions only.
    interaction_slope : array, shape (intervals, interactions)
    intervals : tuple of HazardInterval
    """

    additive: ClassVar[bool] = True
    rounds: ClassVar[int | None] = None

    splines: SplineTerms
    interactions: InteractionTerms
    slope: FloatArray
    interaction_slope: FloatArray
    intervals: tuple[HazardInterval, ...]

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together (of a forged file): compiled loops do not check their bounds."""
        splines, interactions = (
            tuple(getattr(part, each.name) for each in fields(part)) for part in (self.splines, self.interactions)
        )
        n_splines, n_interactions, n_intervals = len(splines[0]), len(interactions[0]), len(self.intervals)
        per_spline: tuple[int, ...] = (n_splines,)
        per_interaction: tuple[int, ...] = (n_interactions,)
        expected = [per_spline] * len(splines) + [per_interaction] * len(interactions)
        expected += [(n_intervals, n_splines), (n_intervals, n_interactions)]
        shapes = [np.shape(part) for part in (*splines, *interactions, self.slope, self.interaction_slope)]
        indices = (self.splines.column, self.interactions.first, self.interactions.second)
        whole = all(part.dtype == np.int64 and (part >= 0).all() for part in indices)
        numbers = (*splines[1:], interactions[-1], self.slope, self.interaction_slope)
        sound = whole and all(part.dtype == float and np.isfinite(part).all() for part in numbers)
        sound = sound and n_intervals > 0 and bool((self.splines.scale > 0).all())
        if shapes != expected or not sound or max(part.max(initial=-1) for part in indices[1:]) >= n_splines:
            raise ModelFileError("the terms, slopes and intervals of spline hazards do not fit together")

    @property
    def n_terms(self) -> int:
        """Number of terms with a slope."""
        return int(self.slope.any(axis=0).sum()) + len(self.interactions.mean)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the expected years of each row."""
        return sum_expected_life(self.intervals, list(self._log_hazards(np.asfortranarray(X).T)))

    def predict_contributions(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return years, and what each column adds to them (n, p + 1), the last being what all rows share.

        Each of two interacting columns is given half of the interaction.
        """
        columns = np.asfortranarray(X).T
        sums = list(self._log_hazards(columns))
        years, typical, slopes = linearise_expected_life(self.intervals, sums, [np.zeros(len(X))] * len(sums))
        parts, factor = np.zeros((len(columns) + 1, len(X))), np.array(slopes)
        add_splines(columns, *self._spline_arrays(), self.slope, factor, True, parts)
        add_interactions(columns, *self._spline_arrays(), *self._interaction_arrays(), factor, True, parts)
        parts[-1] = typical
        return years, parts.T

    def _log_hazards(self, columns: FloatArray) -> FloatArray:
        """Return log hazards (intervals, n), added up term by term: a row's do not depend on the other rows."""
        if self.splines.column.max(initial=-1) >= len(columns):
            raise DataError(
                f"spline hazards that were fitted to {self.splines.column.max() + 1} columns or more got a table with "
                f"{len(columns)}"
            )
        sums, one = np.zeros((2, len(self.intervals), columns.shape[1]))
        one += 1.0
        add_splines(columns, *self._spline_arrays(), self.slope, one, False, sums)
        add_interactions(columns, *self._spline_arrays(), *self._interaction_arrays(), one, False, sums)
        return np.asarray(sums)

    def _spline_arrays(self) -> tuple[np.ndarray, ...]:
        return self.splines.column, self.splines.knot, self.splines.high, self.splines.mean

    def _interaction_arrays(self) -> tuple[np.ndarray, ...]:
        terms = self.interactions
        return self.splines.scale, terms.first, terms.second, terms.mean, self.interaction_slope


class IntervalLikelihood:
    """The partial likelihood of one interval of time, over rows sorted by time."""

    def __init__(self, X: FloatArray, y: Outcome, start: float, stop: float) -> None:
        alive, within = restrict_to_interval(y, start, stop)
        self.X, self.length, self.has_events = X, float(stop - start), within.n_events > 0
        self.converged = True  # whether every search for coefficients converged so far
        self.sets = RiskSets.of(within, None, "breslow")
        self.order = np.flatnonzero(alive)[self.sets.order]

    def make_terms(self, splines: SplineTerms, interactions: InteractionTerms, chosen: IntArray) -> TermMatrix:
        """Return the matrix of the chosen terms."""
        return TermMatrix(self.X, self.order, splines, interactions, chosen)

    def maximise(self, terms: TermMatrix, prior: FloatArray, start: FloatArray, tol: float) -> FloatArray:
        """Return the coefficients that maximise the penalised likelihood."""
        if not len(prior) or not self.has_events:
            return np.zeros(len(prior))
        likelihood = PartialLikelihood(terms, self.sets, 1 / prior)
        maximum = maximise(likelihood, start, tol=tol, max_iter=MOST_STEPS)
        self.converged = self.converged and maximum.converged
        return maximum.parameters

    def approximate(self, terms: TermMatrix, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return H and r of the quadratic approximation −½βᵀHβ + rᵀβ near a point."""
        if not self.has_events:
            return np.zeros((len(at), len(at))), np.zeros(len(at))
        likelihood = PartialLikelihood(terms, self.sets, np.zeros(len(at)))
        likelihood.value(at)
        curvature = likelihood.curvature(at)
        return curvature, curvature @ at + likelihood.gradient(at)

    def make_interval(self, terms: TermMatrix, coef: FloatArray) -> HazardInterval:
        """Return the fitted hazards of the interval."""
        if self.has_events:
            log_hazard = terms @ coef
            baseline = Baseline.breslow(self.sets, log_hazard)
        else:  # everybody survives it
            log_hazard, baseline = np.zeros(1), Baseline(np.empty(0), np.empty(0))
        return HazardInterval(baseline, baseline.life_table(log_hazard, self.length), self.length)


@dataclass(frozen=True, eq=False)
class SplineSearch:
    """Fitted spline hazards, with what a search for interactions continues from.

    Attributes
    ----------
    hazards : FittedSplines
    X : array, shape (n, p)
        The training rows.
    likelihoods : list of IntervalLikelihood
    coef : array, shape (intervals, splines)
    importance, prior : arrays, shape (splines,)
        About what each spline adds to the likelihood, and its prior variance.
    """

    hazards: FittedSplines
    X: FloatArray
    likelihoods: list[IntervalLikelihood]
    coef: FloatArray
    importance: FloatArray
    prior: FloatArray

    @property
    def converged(self) -> bool:
        """Whether Newton's method always converged so far."""
        return all(each.converged for each in self.likelihoods)


def fit_spline_hazards(X: FloatArray, y: Outcome, edges: FloatArray) -> SplineSearch:
    """Fit spline hazards, interval by interval.

    A first fit has one ridge for all terms. From there the marginal likelihood is maximised over the prior variance of
    each term, and Newton's method finds the coefficients given these.

    Parameters
    ----------
    X : array, shape (n, p)
    y : Outcome
    edges : array
        Where follow-up is cut into intervals, 0 and τ included (`choose_cut_points`).

    Returns
    -------
    SplineSearch
        The fitted hazards, and what `fit_spline_interactions` continues from.
    """
    likelihoods = [IntervalLikelihood(X, y, start, stop) for start, stop in pairwise(edges)]
    splines = _screen_terms(likelihoods, SplineTerms.from_matrix(X))
    initial, every = np.full(len(splines.column), SPLINE_PRIOR.initial), np.arange(len(splines.column))
    near = np.array(
        [
            each.maximise(each.make_terms(splines, NO_INTERACTIONS, every), initial, np.zeros(len(initial)), 0.05)
            for each in likelihoods
        ]
    )
    hazards, coef, importance, prior = _fit_by_marginal_likelihood(likelihoods, splines, NO_INTERACTIONS, near, initial)
    return SplineSearch(hazards, X, likelihoods, coef, importance, prior)


def fit_spline_interactions(search: SplineSearch) -> FittedSplines:
    """Fit spline hazards with interactions: products of the strongest terms of a first fit, two at a time.

    Parameters
    ----------
    search : SplineSearch
        The fit without interactions.

    Returns
    -------
    FittedSplines
    """
    splines = search.hazards.splines
    strongest = np.sort(np.argsort(-search.importance, kind="stable")[:STRONGEST])
    interactions = InteractionTerms.from_splines(search.X, splines, strongest)
    n_interactions = len(interactions.mean)
    start = np.column_stack([search.coef, np.zeros((len(search.likelihoods), n_interactions))])
    prior = np.append(search.prior, np.full(n_interactions, INTERACTION_PRIOR.initial))
    return _fit_by_marginal_likelihood(search.likelihoods, splines, interactions, start, prior)[0]


def _screen_terms(likelihoods: Sequence[IntervalLikelihood], splines: SplineTerms) -> SplineTerms:
    """Return all terms; or, of too many, those with the largest score statistics at 0."""
    every = np.arange(len(splines.column))
    if len(every) <= MOST_TERMS:
        return splines
    score = np.zeros(len(every))
    for each in likelihoods:
        if each.has_events:
            terms = each.make_terms(splines, NO_INTERACTIONS, every)
            likelihood = PartialLikelihood(terms, each.sets, np.zeros(len(every)))
            likelihood.value(np.zeros(len(every)))
            score += likelihood.gradient(np.zeros(len(every))) ** 2 / np.maximum(terms.spread() ** 2, 1e-12)
    return splines.select(np.sort(np.argsort(-score, kind="stable")[:MOST_TERMS]))


def _fit_by_marginal_likelihood(
    likelihoods: Sequence[IntervalLikelihood],
    splines: SplineTerms,
    interactions: InteractionTerms,
    near: FloatArray,
    prior: FloatArray,
) -> tuple[FittedSplines, FloatArray, FloatArray, FloatArray]:
    """Fit from initial coefficients and variances; return the hazards, coefficients, importance and variances.

    The last three are of the splines that were kept. Importance is about what a spline adds to the likelihood.
    """
    n_splines, n_interactions, every = len(splines.column), len(interactions.mean), np.arange(len(prior))
    parabolas = [
        each.approximate(each.make_terms(splines, interactions, every), at)
        for each, at in zip(likelihoods, near, strict=True)
    ]
    limits = [SPLINE_PRIOR] * n_splines + [INTERACTION_PRIOR] * n_interactions
    smallest, largest = np.array([each.smallest for each in limits]), np.array([each.largest for each in limits])
    n_events = sum(np.count_nonzero(each.sets.event) for each in likelihoods)
    prior = estimate_prior_variances(parabolas, prior, smallest, largest * min(1.0, n_events / ENOUGH_EVENTS))
    kept = np.flatnonzero(prior)
    terms = [each.make_terms(splines, interactions, kept) for each in likelihoods]
    coef = np.zeros_like(near)
    for k, each in enumerate(likelihoods):
        coef[k, kept] = each.maximise(terms[k], prior[kept], near[k, kept], tol=0.01)
    intervals = tuple(each.make_interval(terms[k], coef[k, kept]) for k, each in enumerate(likelihoods))
    importance = np.asarray(sum(coef[k] ** 2 * np.diag(curvature) for k, (curvature, _) in enumerate(parabolas)))
    kept_interactions = kept[kept >= n_splines] - n_splines if n_interactions else np.empty(0, dtype=np.int64)
    if not n_interactions:
        splines, coef, importance, prior = splines.select(kept), coef[:, kept], importance[kept], prior[kept]
        n_splines = len(kept)
    hazards = FittedSplines(
        splines,
        interactions.select(kept_interactions),
        coef[:, :n_splines] / splines.scale,
        coef[:, n_splines:][:, kept_interactions],
        intervals,
    )
    return hazards, coef, importance, prior


def estimate_prior_variances(
    parabolas: Sequence[tuple[FloatArray, FloatArray]], prior: FloatArray, smallest: FloatArray, largest: FloatArray
) -> FloatArray:
    """Return the prior variances that maximise the marginal likelihood, 0 where a term is dropped.

    MacKay's fixed point: the squared posterior mean of a coefficient, divided by how well the data determine it, both
    summed over the intervals.
    """
    prior = prior.copy()
    for _ in range(VARIANCE_UPDATES):
        kept = np.flatnonzero(prior)
        squares, determined = np.zeros(len(kept)), np.zeros(len(kept))
        for curvature, slope in parabolas:
            mean, variance = compute_posterior(curvature[np.ix_(kept, kept)], slope[kept], prior[kept])
            squares += mean**2
            determined += 1 - variance / prior[kept]
        updated = np.minimum(squares / np.maximum(determined, 1e-12), largest[kept])
        prior[kept] = np.where(updated >= smallest[kept], updated, 0.0)
    return prior


def compute_posterior(curvature: FloatArray, slope: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the posterior mean and variance of each coefficient, given the prior variances."""
    if not len(prior):
        return prior, prior
    width = np.sqrt(prior)
    scaled = width[:, None] * curvature * width
    scaled[np.diag_indices_from(scaled)] += 1.0
    factor = linalg.cholesky(scaled, lower=True, check_finite=False)
    inverse = linalg.solve_triangular(factor, np.eye(len(prior)), lower=True, check_finite=False)
    return width * (inverse.T @ (inverse @ (width * slope))), prior * (inverse**2).sum(axis=0)
