"""Folds: partitions of the rows, whole groups, and the same numbers as scikit-learn's splitters."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, StratifiedKFold

from lifeyears.errors import DataError, RequestError, json_terms
from lifeyears.folds import check_folds, check_groups, draw_folds, draw_validation_split, temporal_folds


def is_partition(splits, n):
    together = np.sort(np.concatenate([test for _, test in splits]))
    whole = all(np.array_equal(np.sort(np.concatenate(split)), np.arange(n)) for split in splits)
    return np.array_equal(together, np.arange(n)) and whole


def same_rows(splits, others):
    return all(
        np.array_equal(train, other_train) and np.array_equal(test, other_test)
        for (train, test), (other_train, other_test) in zip(splits, others, strict=True)
    )


def test_stratified_folds_are_scikit_learns():
    event = np.random.default_rng(0).random(103) < 0.3
    expected = StratifiedKFold(5, shuffle=True, random_state=7).split(np.zeros(103), event)
    assert same_rows(draw_folds(event, 5, random_state=7), expected)


def test_a_stratum_rarer_than_the_folds_leaves_plain_folds():
    event = np.arange(50) < 3
    expected = KFold(5, shuffle=True, random_state=1).split(np.zeros(50))
    assert same_rows(draw_folds(event, 5, random_state=1), expected)
    assert is_partition(draw_folds(np.ones(50), 5), 50)  # one stratum alone


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.lists(st.integers(1, 9), min_size=6, max_size=30), st.integers(0, 5))
def test_groups_stay_whole_and_sizes_even(n_folds, sizes, seed):
    groups = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    splits = draw_folds(np.zeros(len(groups)), n_folds, groups=groups, random_state=seed)
    assert len(splits) == n_folds
    assert is_partition(splits, len(groups))
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test])
    counts = [len(test) for _, test in splits]
    assert max(counts) - min(counts) <= max(sizes)  # each group went to the fold that was smallest


def test_groups_by_the_rule_in_ten_lines():
    groups = np.array(["b", "a", "c", "a", "d", "b", "a", "e"])
    names = np.unique(groups)
    folds = [[], []]
    for place in np.random.default_rng(4).permutation(len(names)):
        smallest = folds[0] if len(folds[0]) <= len(folds[1]) else folds[1]
        smallest.extend(np.flatnonzero(groups == names[place]))
    splits = draw_folds(np.zeros(8), 2, groups=groups, random_state=4)
    assert [test.tolist() for _, test in splits] == [sorted(fold) for fold in folds]


def test_too_few_groups_or_rows_say_what_to_do():
    with pytest.raises(DataError, match=r"3 folds of whole groups need 3 groups; there are 2. Use folds=2") as error:
        draw_folds(np.zeros(4), 3, groups=[1, 1, 2, 2])
    assert 'Use "folds": 2' in error.value.render(json_terms)
    with pytest.raises(DataError, match=r"there is 1\. Use another split="):
        draw_folds(np.zeros(4), 3, groups=[1, 1, 1, 1])
    with pytest.raises(DataError, match="5 folds need at least 5 rows; there are 4"):
        draw_folds(np.zeros(4), 5)
    with pytest.raises(RequestError, match="the number of folds must be at least 2; got 1"):
        draw_folds(np.zeros(4), 1)
    with pytest.raises(RequestError, match="one label for each of the 4 rows"):
        check_groups([1, 2], 4)


def test_blocks_of_time_are_in_order_and_keep_ties_together():
    entry = np.random.default_rng(0).integers(1990, 2000, 200)
    splits = temporal_folds(entry, 4)
    assert is_partition(splits, 200)
    blocks = [entry[test] for _, test in splits]
    assert all(earlier.max() < later.min() for earlier, later in pairwise(blocks))
    assert len(temporal_folds([1, 1, 1, 1, 1, 2], 3)) == 2  # two times give no third block
    with pytest.raises(DataError, match="nothing to split by"):
        temporal_folds([2001, 2001])
    with pytest.raises(DataError, match="entry is missing in row 1"):
        temporal_folds([2001, np.nan])


def test_folds_of_a_caller_are_numbers_or_masks_that_partition():
    first = np.arange(6) < 2
    (train, test), (other_train, other_test) = check_folds([(~first, first), ([0, 1], [2, 3, 4, 5])], 6)
    assert (train.tolist(), test.tolist()) == ([2, 3, 4, 5], [0, 1])
    assert (other_train.tolist(), other_test.tolist()) == ([0, 1], [2, 3, 4, 5])
    for folds, message in (
        ([([0], [1, 2]), ([1], [0, 1])], "training rows of a fold hold"),
        ([([], [0, 1]), ([], [1, 2])], "row 1 is in 2 of them"),
        ([([], [0, 1])], "row 2 is in 0 of them"),
        ([([], [0, 3])], "row numbers from 0 to 2, or masks of 3 rows"),
        ([([], [-1, 0])], "row numbers from 0 to 2"),
        ([([], [0.0, 1.0])], "row numbers from 0 to 2"),
        ([([], [[0], [1]])], "row numbers from 0 to 2"),
    ):
        with pytest.raises(RequestError, match=message):
            check_folds(folds, 3)
    with pytest.raises(RequestError, match="one group on both sides"):
        check_folds([([0], [1, 2]), ([1, 2], [0])], 3, groups=["a", "a", "b"])


def plain_split(is_event, share, rng):
    held_out = []
    for kind in (True, False):
        rows = [row for row in range(len(is_event)) if is_event[row] == kind]
        held_out += list(rng.permutation(rows)[: int(share * len(rows))])
    return sorted(set(range(len(is_event))) - set(held_out)), sorted(held_out)


@pytest.mark.parametrize("legacy", [False, True])
def test_validation_rows_hold_equal_shares_of_events_and_censorings(legacy):
    is_event = np.random.default_rng(0).random(97) < 0.4

    def make_rng():
        return np.random.RandomState(5) if legacy else np.random.default_rng(5)

    train, held_out = draw_validation_split(is_event, 0.25, make_rng())
    expected = plain_split(is_event, 0.25, make_rng())
    assert (train.tolist(), held_out.tolist()) == expected
    assert is_event[held_out].sum() == int(0.25 * is_event.sum())
    assert len(draw_validation_split(is_event, 0)[1]) == 0
    if not legacy:
        assert draw_validation_split(is_event, 0.25, 5)[1].tolist() == held_out.tolist()
    for share in (1, -0.1, "half"):
        with pytest.raises(RequestError, match="the share of rows to hold out must be"):
            draw_validation_split(is_event, share)
