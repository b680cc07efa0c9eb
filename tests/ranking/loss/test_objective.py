"""The hybrid loss against finite differences of the loss as the paper writes it, and the kernel against plain loops."""

import itertools

import numpy as np
import pytest

from lifeyears._threads import available_threads
from lifeyears.ranking.loss import HybridObjective
from lifeyears.ranking.loss._kernel import QueryGroups, compute_derivatives, sort_groups
from lifeyears.ranking.loss._objective import cut_groups


def ranks_of(f):
    order = np.argsort(-f, kind="stable")
    ranks = np.empty(len(f), dtype=int)
    ranks[order] = np.arange(1, len(f) + 1)
    return ranks


def paper_loss(f, y, alpha, margin, ranks, gains=None):
    """Section 5, one batch, ranks frozen; in long double, so that second differences keep six digits."""
    f, y = f.astype(np.longdouble), y.astype(np.longdouble)
    gains = y if gains is None else gains
    discount = 1 / np.log2(ranks + 1)
    ideal = (np.sort(gains)[::-1] / np.log2(np.arange(2, len(y) + 2))).sum()
    rank = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] > y[j]:
                delta = abs(gains[i] - gains[j]) * abs(discount[i] - discount[j]) / ideal
                rank += 0.5 * max(0.0, margin - (f[i] - f[j])) ** 2 * delta
    return alpha * np.mean((f - y) ** 2) + (1 - alpha) * rank


def loop_twin(f, y, gains, starts, margin):
    """The kernel in plain loops and float64."""
    gradient, hessian = np.zeros(len(f)), np.zeros(len(f))
    for start, stop in itertools.pairwise(starts):
        rows = range(start, stop)
        discount = 1 / np.log2(ranks_of(f[start:stop]) + 1)
        ideal = (np.sort(gains[start:stop])[::-1] / np.log2(np.arange(2, stop - start + 2))).sum()
        if ideal <= 0:
            continue
        for i in rows:
            for j in rows:
                if y[i] > y[j]:
                    hinge = max(0.0, margin - (f[i] - f[j]))
                    delta = abs(gains[i] - gains[j]) * abs(discount[i - start] - discount[j - start]) / ideal
                    gradient[i] -= hinge * delta
                    gradient[j] += hinge * delta
                    hessian[i] += delta * (hinge > 0)
                    hessian[j] += delta * (hinge > 0)
    return gradient, hessian


def sums(f, gains, starts, weights, margin, threads=1):
    groups = sort_groups(f, gains, np.arange(len(f)), QueryGroups.from_starts(starts, weights.astype(f.dtype)))
    gradient, hessian = np.empty_like(f), np.empty_like(f)
    gradient[groups.rows], hessian[groups.rows] = compute_derivatives(groups, starts, margin, threads)
    return gradient, hessian


def batch(n=40, seed=0, ties=True):
    rng = np.random.default_rng(seed)
    y = rng.uniform(0, 20, n)
    f = 10 + rng.normal(size=n)
    if ties:
        y[: n // 4] = np.round(y[: n // 4] / 5) * 5
    return f, y


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("margin", [0.5, 1.0, 30.0])
def test_derivatives_equal_finite_differences(alpha, margin):
    f, y = batch(seed=3)
    objective = HybridObjective(y, alpha, margin, group_size=len(y), precision=np.float64)
    gradient, hessian = objective.differentiate(f, np.arange(len(y)))
    ranks, h = ranks_of(f), 1e-4
    gap = np.abs(margin - np.abs(np.subtract.outer(f, f)))
    np.fill_diagonal(gap, 1.0)
    assert gap.min() > 2 * h  # away from the hinge's kink
    for i in range(len(y)):
        step = np.zeros(len(y))
        step[i] = h
        up, here, down = (paper_loss(f + s, y, alpha, margin, ranks) for s in (step, 0 * step, -step))
        # between kinks the loss is quadratic: both differences are exact but for rounding
        assert gradient[i] == pytest.approx(float((up - down) / (2 * h)), rel=1e-6, abs=1e-8)
        assert hessian[i] == pytest.approx(float((up - 2 * here + down) / h**2), rel=1e-6, abs=1e-8)


def test_labels_and_gains_may_differ():
    f, y = batch(seed=5)
    y = y * 2 - 10
    gains = np.clip(y, 0, 20)
    objective = HybridObjective(y, 0.3, 1.0, group_size=len(y), gains=gains, precision=np.float64)
    gradient, _ = objective.differentiate(f, np.arange(len(y)))
    ranks, h = ranks_of(f), 1e-4
    for i in range(len(y)):
        step = np.zeros(len(y))
        step[i] = h
        up, down = paper_loss(f + step, y, 0.3, 1.0, ranks, gains), paper_loss(f - step, y, 0.3, 1.0, ranks, gains)
        assert gradient[i] == pytest.approx(float((up - down) / (2 * h)), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(("n", "size"), [(700, 256), (256, 256), (90, 16), (5, 2), (1, 256)])
def test_float32_kernel_equals_its_loop_twin_with_ties(n, size):
    rng = np.random.default_rng(n)
    f = (np.round(8 * rng.normal(size=n)) / 8).astype(np.float32)  # tied scores, no difference at the margin
    y = np.round(rng.uniform(0, 20, n)).astype(np.float32)  # tied labels
    starts = cut_groups(n, size)
    weights = 1 / np.log2(np.arange(2, size + 2))
    gradient, hessian = sums(f, y, starts, weights, 1.03)
    expected = loop_twin(f.astype(float), y.astype(float), y.astype(float), starts, 1.03)
    np.testing.assert_allclose(gradient, expected[0], rtol=1e-4, atol=1e-4 * np.abs(expected[0]).max(initial=1e-30))
    np.testing.assert_allclose(hessian, expected[1], rtol=1e-4, atol=1e-7)


def test_same_for_one_and_two_threads():
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=5000).astype(np.float32), rng.uniform(0, 20, 5000).astype(np.float32)
    starts, weights = cut_groups(5000, 256), 1 / np.log2(np.arange(2, 258))
    one = sums(f, y, starts, weights, 1.0, threads=1)
    two = sums(f, y, starts, weights, 1.0, threads=2)
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


def test_a_group_without_worth_has_no_ranking_loss():
    zero = np.zeros(8, dtype=np.float32)
    gradient, hessian = sums(np.arange(8, dtype=np.float32), zero, np.array([0, 8]), 1 / np.log2(np.arange(2, 10)), 1.0)
    assert not gradient.any()
    assert not hessian.any()


@pytest.mark.parametrize(("n", "size"), [(1, 256), (255, 256), (256, 256), (257, 256), (10_000, 256), (7, 3)])
def test_groups_are_of_nearly_equal_size(n, size):
    sizes = np.diff(cut_groups(n, size))
    assert sizes.sum() == n
    assert sizes.max() <= size
    assert np.ptp(sizes) <= 1


def test_groups_are_redrawn_and_seeded():
    f, y = batch(600)
    first, again = (HybridObjective(y, 0.3, 1.0, 64, random_state=1) for _ in range(2))
    one, two = first(f)[0], first(f)[0]
    assert not np.array_equal(one, two)
    np.testing.assert_array_equal(one, again(f)[0])


def _threads_of_worker(_):
    return available_threads(None)


def test_one_thread_in_a_worker_process():
    from joblib import Parallel, delayed

    assert Parallel(n_jobs=2)(delayed(_threads_of_worker)(i) for i in range(2)) == [1, 1]


@pytest.mark.parametrize("alpha", [0.3, 1.0])
def test_scores_of_another_length_are_refused(alpha):
    with pytest.raises(ValueError, match="10 labels, and scores of shape"):
        HybridObjective(np.arange(10.0), alpha, 1.0, 5)(np.zeros(12))
