"""Plain twins of the compiled kernels: the same arguments and results, in loops that are slow and easy to read.

A kernel is named by the first part of its module below `lifeyears`, and its own name: `metrics.count_pairs`.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np


@dataclass(frozen=True)
class Twin:
    """What computes the same as some kernels: random arguments for both, and how near the results must be."""

    kernels: tuple[str, ...]
    plain: Callable
    draw: Callable  # (random generator) -> arguments
    rtol: float
    fast: Callable | None  # (arguments, *kernels) -> results; by default the one kernel itself


TWINS: list[Twin] = []

# Called only by the kernel named here, whose twin would disagree if they were wrong.
INNER = {
    "metrics._add": ("metrics.count_pairs", "one step of its Fenwick tree"),
    "metrics._count_up_to": ("metrics.count_pairs", "one sum of its Fenwick tree"),
    "ranking._clip": ("ranking._fill_interactions", "the limits of a factor; inlined"),
    "ranking._spline": ("ranking.add_splines", "one term of one row; inlined"),
    "simulation._before": ("simulation.keep_first", "the order of its heap"),
    "simulation._swap": ("simulation.sort_kept", "a step of its heap"),
    "simulation._rise": ("simulation.keep_first", "a step of its heap"),
    "simulation._sink": ("simulation.sort_kept", "a step of its heap"),
    "simulation._mix": ("simulation.pair_uniform", "one round of mixing bits"),
    "simulation._pair_sums": ("simulation.expect_lives", "the effects of one pair"),
    "simulation.make_room": ("simulation.run_events", "allocates arrays"),
    "simulation.join_list": ("simulation.run_events", "changes the state of the waiting list"),
    "simulation.leave_list": ("simulation.run_events", "changes the state of the waiting list"),
    "simulation.run_match": ("simulation.run_events", "changes the state of the waiting list"),
    "simulation._draw_position": ("simulation.run_match", "draws from the state of one match run"),
    "simulation._first_in_order": ("simulation.run_match", "reads the state of the waiting list"),
    "simulation._gather_eligible": ("simulation._first_in_order", "reads the state of the waiting list"),
    "simulation._score": ("simulation._first_in_order", "reads the state of the waiting list"),
}

# Twins that need a whole world to run in: the test that holds both side by side.
ELSEWHERE = {
    "simulation.run_events": "simulation/engine/test_run_events.py::test_kernels_do_what_the_plain_loop_does",
    "simulation.expect_lives": "simulation/worlds/heart/test_law.py::test_fast_expected_life_is_that_of_the_registry",
}


def twin_of(*kernels, draw, rtol=1e-12, fast=None):
    def register(plain):
        TWINS.append(Twin(kernels, plain, draw, rtol, fast))
        return plain

    return register


# lifeyears/_kernels.py


def draw_product(rng):
    n, p = rng.integers(1, 30), rng.integers(1, 6)
    return rng.normal(size=(n, p)), rng.normal(size=p), np.zeros(n)


@twin_of("_kernels._along_rows", draw=draw_product)
def product_by_rows(matrix, weights, out):
    for i in range(len(matrix)):
        for j in range(len(weights)):
            out[i] += matrix[i, j] * weights[j]


@twin_of("_kernels._down_columns", draw=draw_product)
def product_by_columns(matrix, weights, out):
    product_by_rows(matrix, weights, out)


def draw_areas(rng):
    n, times, tau = 7, np.cumsum(rng.exponential(size=9)), rng.uniform(1, 12)
    survival = np.sort(rng.random((n, 9)))[:, ::-1].copy()
    return times, survival, np.sort(rng.uniform(0, tau, (n, 4))), tau, bool(rng.integers(2)), np.zeros((n, 4))


@twin_of("_kernels.areas_after", draw=draw_areas)
def areas_by_trapezoids(times, survival, a, tau, linear, out):
    knots = [0.0, *times]
    for row in range(len(survival)):
        heights = [1.0, *survival[row]]
        for k in range(a.shape[1]):
            corners = [a[row, k], *(t for t in knots if a[row, k] < t < tau), tau]
            for left, right in itertools.pairwise(corners):
                if linear:
                    mean = (np.interp(left, knots, heights) + np.interp(right, knots, heights)) / 2
                else:
                    mean = heights[max(j for j in range(len(knots)) if knots[j] <= left)]
                out[row, k] += mean * (right - left)


# lifeyears/metrics


def draw_pairs(rng):
    n = rng.integers(1, 60)
    time, event, rank = rng.integers(0, 8, n).astype(float), rng.random(n) < 0.6, rng.integers(0, 6, n)
    latest_first = np.lexsort((event, -time))  # censored before events at one time
    return time[latest_first], event[latest_first], rank[latest_first], 6


@twin_of("metrics.count_pairs", draw=draw_pairs)
def count_pairs_one_by_one(time, event, rank, n_ranks):
    concordant = tied = comparable = 0
    for i in range(len(time)):
        for j in range(len(time)):
            if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j])):
                comparable += 1
                concordant += rank[i] < rank[j]
                tied += rank[i] == rank[j]
    return concordant, tied, comparable


def draw_resamples(rng):
    n, rankings = 25, 3
    scores = rng.integers(0, 12, (rankings, n)).astype(float)
    scores[2] = rng.normal(size=n)
    orders = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, orders, axis=1)
    first = np.column_stack([np.ones(rankings, bool), ranked[:, 1:] != ranked[:, :-1]])
    weights = 1 / np.log2(np.arange(2, n + 2))
    slopes = np.convolve(np.concatenate([weights[:1], weights, [0.0]]), [0.5, 0.5], "valid")
    draws = rng.integers(n, size=(6, n), dtype=np.int32)
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    return draws, orders, first, rng.uniform(0, 20, n), np.append(0.0, np.cumsum(weights)), slopes, pairs


@twin_of("metrics.resampled_gains", draw=draw_resamples, rtol=1e-9)
def resampled_gains_by_definition(draws, orders, first, relevance, running, slopes, pairs):
    """Σ over ties of mean relevance × weights of their places, and its derivatives by the mass of each row."""
    gains, errors = np.zeros((len(draws), len(orders))), np.zeros((len(draws), len(orders)))
    pair_errors = np.zeros((len(draws), len(pairs)))
    for b, draw in enumerate(draws):
        counts = np.bincount(draw, minlength=len(relevance))
        influence = np.zeros(orders.shape)
        for m, order in enumerate(orders):
            place, ties = 0, []
            for tie in np.split(order, np.flatnonzero(first[m])[1:]):
                if counts[tie].sum():
                    end = place + counts[tie].sum()
                    ties.append((tie, place, end, np.average(relevance[tie], weights=counts[tie])))
                    place = end
            gains[b, m] = sum((running[end] - running[start]) * mean for _, start, end, mean in ties)
            for t, (tie, start, end, mean) in enumerate(ties):
                later = sum(other * (slopes[stop] - slopes[begin]) for _, begin, stop, other in ties[t + 1 :])
                share = (running[end] - running[start]) / (end - start)
                influence[m, tie] = slopes[end] * mean + share * (relevance[tie] - mean) + later
        centred = influence - (influence @ counts / len(relevance))[:, None]
        errors[b] = np.sqrt(centred**2 @ counts)
        pair_errors[b] = [np.sqrt((centred[i] - centred[j]) ** 2 @ counts) for i, j in pairs]
    return gains, errors, pair_errors


# lifeyears/models


def draw_outer(rng):
    return rng.exponential(size=20), 3 * rng.exponential(size=15), np.empty((20, 15))


@twin_of("models.exp_minus_outer", draw=draw_outer, rtol=1e-15)
def exponentials_one_by_one(rows, columns, out):
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            out[i, j] = math.exp(-row * column)


def draw_hermite(rng):
    nodes = np.linspace(-2, 3, 11)
    return rng.uniform(-2.5, 3.5, 60), nodes, rng.uniform(0, 10, 11), rng.normal(0, 3, 11), 9.0, np.empty(60)


@twin_of("models._look_up", draw=draw_hermite, rtol=1e-10)
def hermite_interpolation(x, nodes, value, slope, highest, out):
    """The four cubic Hermite polynomials, cut at 0 and at the highest value; NaN beyond the nodes."""
    for i in range(len(x)):
        if not nodes[0] <= x[i] <= nodes[-1]:
            out[i] = math.nan
            continue
        j = min(max(k for k in range(len(nodes)) if nodes[k] <= x[i]), len(nodes) - 2)
        h = nodes[j + 1] - nodes[j]
        t = (x[i] - nodes[j]) / h
        cubic = (1 + 2 * t) * (1 - t) ** 2 * value[j] + t**2 * (3 - 2 * t) * value[j + 1]
        cubic += h * t * (1 - t) ** 2 * slope[j] + h * t**2 * (t - 1) * slope[j + 1]
        out[i] = min(max(cubic, 0.0), highest)
    return int(np.isnan(out).sum())


def draw_risk_sets(rng):
    n, p, groups = 40, 3, 8
    start = np.sort(rng.choice(n, groups, replace=False))
    return rng.normal(size=(n, p)), rng.exponential(size=n), start, rng.normal(size=p), np.empty((groups, p))


@twin_of("models._sums_from", draw=draw_risk_sets, rtol=1e-10)
def sums_from_each_start(Z, risk, start, behind, out):
    for group in range(len(start)):
        out[group] = behind + sum(risk[i] * Z[i] for i in range(start[group], len(Z)))
    behind += sum(risk[i] * Z[i] for i in range(len(Z)))


# lifeyears/ranking


def draw_trees(rng):
    p, n, trees = 4, 25, 9
    X = rng.normal(size=(p, n)).round(1)
    return X, rng.integers(0, p, (trees, 3)), rng.normal(size=(trees, 3)).round(1), rng.normal(size=(trees, 8))


def answers_of(X, feature, threshold):
    """The place in a table of eight: 1, 2 and 4 for a yes to each question, for every row."""
    return [sum((X[feature[q], i] <= threshold[q]) << q for q in range(3)) for i in range(X.shape[1])]


@twin_of("ranking._add_trees", draw=lambda rng: (*draw_trees(rng), np.zeros(25)))
def add_trees(X, feature, threshold, leaf, sums):
    for tree in range(len(feature)):
        sums += leaf[tree, answers_of(X, feature[tree], threshold[tree])]


def draw_shares(rng):
    shares = rng.normal(size=(9, 3, 8)) * (rng.random((9, 3, 1)) < 0.7)
    return *draw_trees(rng), shares, np.zeros(25), np.zeros((5, 25))


@twin_of("ranking._add_contributions", draw=draw_shares)
def add_trees_and_shares(X, feature, threshold, leaf, shares, sums, parts):
    add_trees(X, feature, threshold, leaf, sums)
    for tree in range(len(feature)):
        for question in range(3):
            answers = answers_of(X, feature[tree], threshold[tree])
            parts[feature[tree, question]] += shares[tree, question, answers]


def draw_answers(rng):
    return *rng.normal(size=(3, 30)).round(1), rng.normal(size=3).round(1), rng.normal(size=8), np.zeros(30)


@twin_of("ranking._look_up", draw=draw_answers)
def look_up_answers(first, second, third, threshold, table, out):
    for i in range(len(out)):
        answers = [column[i] <= limit for column, limit in zip((first, second, third), threshold, strict=True)]
        out[i] += table[answers[0] + 2 * answers[1] + 4 * answers[2]]


def draw_features(rng):
    columns, belongs = rng.normal(size=(6, 10)), rng.integers(0, 3, 6)
    return columns, belongs, rng.normal(size=6), rng.normal(size=6), np.zeros((3, 14)), 4


@twin_of("ranking._add_by_feature", draw=draw_features)
def add_columns_to_features(columns, belongs, origin, weight, out, start):
    for j in range(len(columns)):
        for i in range(columns.shape[1]):
            out[belongs[j], start + i] += weight[j] * (columns[j, i] - origin[j])


STARTS = np.array([0, 5, 12, 13, 20])


def draw_bits(rng):
    values = rng.normal(size=20).round(1).astype(np.float32) + np.float32(0)
    return values.view(np.uint32), STARTS, np.zeros((4, 7), dtype=np.uint64)


@twin_of("ranking._fill_keys", draw=draw_bits)
def keys_of_falling_values(bits, starts, table):
    """The order of the keys is what counts: IEEE 754 numbers sort as their bits do, negative ones backwards."""
    for group in range(len(starts) - 1):
        for place in range(starts[group], starts[group + 1]):
            b = int(bits[place])
            upwards = (~b & 0xFFFFFFFF) if b >> 31 else (b | 0x80000000)  # rises with the number
            table[group, place - starts[group]] = ((~upwards & 0xFFFFFFFF) << 32) | place


def draw_keys(rng):
    table = rng.integers(0, 2**31, (4, 7)).astype(np.uint64) << np.uint64(32)
    return table | rng.integers(0, 20, (4, 7)).astype(np.uint64), STARTS


@twin_of("ranking._read_places", draw=draw_keys)
def places_in_keys(table, starts):
    sizes = np.diff(starts)
    return np.array([int(table[g, rank]) % 2**32 for g in range(len(sizes)) for rank in range(sizes[g])])


def draw_deal(rng):
    scores, gains, order = rng.normal(size=20), rng.integers(0, 6, 20).astype(float), rng.permutation(20)
    number = np.repeat(np.arange(4), np.diff(STARTS))
    ranked = np.lexsort((-scores[order], number))
    discount = np.concatenate([1 / np.log2(np.arange(2, size + 2)) for size in np.diff(STARTS)])
    return scores, gains, order, ranked, np.argsort(-gains, kind="stable"), number, discount, STARTS


@twin_of("ranking._arrange", draw=draw_deal)
def deal_by_sorting(scores, gains, order, ranked, falling_gains, number, discount, starts):
    """Rows of each group, the highest gain first (of equals as in `falling_gains`), with 1/log2(rank + 1)."""
    group = {row: number[place] for place, row in enumerate(order)}
    rows = [row for g in range(len(starts) - 1) for row in falling_gains if group[row] == g]
    places = []
    for row in rows:
        rank = 1 + sum(scores[other] > scores[row] for other in rows if group[other] == group[row])
        places.append(1 / math.log2(rank + 1))
    return np.array(rows), scores[rows], gains[rows], np.array(places)


def draw_hybrid(rng):
    return rng.normal(size=20), rng.normal(size=20), rng.permutation(20), *rng.exponential(size=(3, 20)), 0.3


@twin_of("ranking.combine_derivatives", draw=draw_hybrid)
def hybrid_sums_by_place(scores, labels, rows, bend, push, curve, alpha):
    place = np.argsort(rows)  # of each row
    return bend[place] * (scores - labels) + (1 - alpha) * push[place], bend[place] + (1 - alpha) * curve[place]


def draw_groups(rng):
    """Rows by falling gain within groups, one of which has no gain at all."""
    scores, gains = rng.normal(size=20), rng.integers(0, 6, 20).astype(float)
    gains[5:12] = 0.0
    for start, stop in itertools.pairwise(STARTS):
        gains[start:stop] = np.sort(gains[start:stop])[::-1]
    places = 1 / np.log2(rng.integers(2, 9, 20))
    ideals = np.add.reduceat(gains, STARTS[:-1])
    return scores, gains, places, ideals, STARTS, 0.7


def pairs_of(gains, places, ideals, starts):
    """Pairs within groups of which the first has the higher gain, and |ΔNDCG|."""
    for group in range(len(starts) - 1):
        rows = range(starts[group], starts[group + 1])
        for i in rows:
            for j in rows:
                if ideals[group] > 0 and gains[i] > gains[j]:
                    yield i, j, (gains[i] - gains[j]) * abs(places[i] - places[j]) / ideals[group]


@twin_of(
    "ranking._derivatives_on_one_thread", draw=lambda rng: (*draw_groups(rng), np.empty(20), np.empty(20)), rtol=1e-9
)
def derivatives_of_the_pair_loss(scores, gains, places, ideals, starts, margin, gradient, hessian):
    gradient[:], hessian[:] = 0.0, 0.0
    for i, j, delta in pairs_of(gains, places, ideals, starts):
        hinge = max(0.0, margin - (scores[i] - scores[j]))
        gradient[i] -= hinge * delta
        gradient[j] += hinge * delta
        hessian[i] += delta * (hinge > 0)
        hessian[j] += delta * (hinge > 0)


twin_of("ranking._derivatives_on_all_threads", draw=TWINS[-1].draw, rtol=1e-9)(derivatives_of_the_pair_loss)


@twin_of("ranking._compiled_loss", draw=draw_groups, rtol=1e-9)
def pair_loss(scores, gains, places, ideals, starts, margin):
    pairs = pairs_of(gains, places, ideals, starts)
    return sum(0.5 * max(0.0, margin - (scores[i] - scores[j])) ** 2 * delta for i, j, delta in pairs)


def draw_terms(rng):
    """Columns of eight terms, their knots, highest values, means and scales."""
    knot = rng.normal(size=8)
    return rng.integers(0, 4, 8), knot, knot + rng.exponential(size=8), rng.random(8), rng.uniform(0.2, 2, 8)


def draw_matrix_of_terms(rng):
    column, knot, _, mean, scale = draw_terms(rng)
    return rng.normal(size=(15, 4)), np.array([0, 3, 7]), column, knot, mean, scale, np.empty((15, 3))


@twin_of("ranking._fill_splines", draw=draw_matrix_of_terms)
def terms_one_by_one(X, which, column, knot, mean, scale, out):
    for i in range(len(X)):
        for place, t in enumerate(which):
            out[i, place] = (max(0.0, X[i, column[t]] - knot[t]) - mean[t]) / scale[t]


def draw_products(rng):
    factors = rng.normal(0, 2, size=(15, 5))
    return factors, rng.integers(0, 5, 6), rng.integers(0, 5, 6), rng.normal(size=6), np.empty((15, 6))


@twin_of("ranking._fill_interactions", draw=draw_products)
def products_of_cut_factors(factors, first, second, mean, out):
    cut = np.clip(factors, -2.0, 2.0)
    for t in range(len(first)):
        out[:, t] = cut[:, first[t]] * cut[:, second[t]] - mean[t]


def draw_lines(rng):
    column, knot, high, mean, _ = draw_terms(rng)
    slope = rng.normal(size=(3, 8)) * (rng.random((3, 8)) < 0.7)
    by_column = bool(rng.integers(2))
    columns, cost = rng.normal(0, 2, size=(4, 15)), rng.random((3, 15))
    return columns, column, knot, high, mean, slope, cost, by_column, np.zeros((4, 15))


@twin_of("ranking.add_splines", draw=draw_lines, rtol=1e-10)
def add_lines_one_by_one(columns, column, knot, high, mean, slope, cost, by_column, out):
    for t in range(len(column)):
        for phase in range(len(slope)):
            term = np.clip(columns[column[t]], knot[t], high[t]) - knot[t] - mean[t]
            out[column[t] if by_column else phase] += slope[phase, t] * term * cost[phase]


def draw_spline_pairs(rng):
    columns, first, second = rng.normal(0, 2, size=(4, 15)), rng.integers(0, 8, 5), rng.integers(0, 8, 5)
    slope, cost, typical = rng.normal(size=(3, 5)), rng.random((3, 15)), rng.normal(size=5)
    return columns, *draw_terms(rng), first, second, typical, slope, cost, bool(rng.integers(2)), np.zeros((4, 15))


@twin_of("ranking.add_interactions", draw=draw_spline_pairs, rtol=1e-10)
def add_pairs_one_by_one(columns, column, knot, high, mean, scale, first, second, typical, slope, cost, by_column, out):
    def factor(t):
        term = np.clip(columns[column[t]], knot[t], high[t]) - knot[t] - mean[t]
        return np.clip(term / scale[t], -2.0, 2.0)

    for t, (a, b) in enumerate(zip(first, second, strict=True)):
        for phase in range(len(slope)):
            product = slope[phase, t] * (factor(a) * factor(b) - typical[t]) * cost[phase]
            if by_column:
                out[column[a]] += product / 2
                out[column[b]] += product / 2
            else:
                out[phase] += product


# lifeyears/simulation


def keep_and_sort(arguments, keep_first, sort_kept):
    scores, room = arguments
    best, chosen, n = np.empty(room), np.empty(room, dtype=np.int64), 0
    for one, score in enumerate(scores):
        n = keep_first(best, chosen, n, score, one)
    sort_kept(best, chosen, n)
    return best[:n], chosen[:n]


def draw_scores(rng):
    return rng.integers(0, 9, rng.integers(1, 40)).astype(float), rng.integers(1, 12)


@twin_of("simulation.keep_first", "simulation.sort_kept", draw=draw_scores, fast=keep_and_sort)
def first_by_sorting(scores, room):
    order = np.argsort(-scores, kind="stable")[:room]
    return scores[order], order


def draw_pair(rng):
    return *rng.integers(0, 2**63, 2).astype(np.uint64), int(rng.integers(1, 9))


@twin_of("simulation.pair_uniform", draw=draw_pair)
def uniform_in_whole_numbers(candidate, donor, number):
    """The mixing of SplitMix64, with Python's integers modulo 2⁶⁴."""

    def mix(bits):
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % 2**64
        return bits ^ bits >> 31

    first = mix(int(candidate)) + 0x9E3779B97F4A7C15 * int(donor)
    return ((mix((mix(first % 2**64) + number * 0xD1B54A32D192ED03) % 2**64) >> 11) + 0.5) / 2**53


@twin_of("simulation.normal_quantile", draw=lambda rng: (rng.choice([1e-9, 0.01, rng.random(), 0.99]),), rtol=2e-9)
def normal_quantile(p):
    return NormalDist().inv_cdf(p)
