import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lifeyears as ly
from lifeyears.metrics import concordance_index, count_concordant_pairs


def plain_counts(time, event, scores):
    """The definition, pair by pair."""
    concordant = tied = comparable = 0
    for i in range(len(time)):
        for j in range(len(time)):
            if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j])):
                comparable += 1
                concordant += scores[i] < scores[j]
                tied += scores[i] == scores[j]
    return concordant, tied, comparable


rows = st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.integers(0, 6)), min_size=1, max_size=40)


@given(rows)
@settings(max_examples=300, deadline=None)
def test_fast_counts_equal_the_plain_loop(rows):
    time, event, scores = (np.array(column) for column in zip(*rows, strict=True))
    assert count_concordant_pairs(time.astype(float), event, scores.astype(float)) == plain_counts(time, event, scores)


@pytest.mark.filterwarnings("ignore:the C-index")
@pytest.mark.parametrize("seed", range(5))
def test_equals_lifelines_and_scikit_survival_with_ties_in_time_and_score(seed):
    lifelines_index = pytest.importorskip("lifelines.utils").concordance_index
    concordance_index_censored = pytest.importorskip("sksurv.metrics").concordance_index_censored
    rng = np.random.default_rng(seed)
    n = 500
    time, event = rng.integers(0, 40, n) / 4, rng.random(n) < 0.6
    scores = rng.integers(0, 30, n) / 3
    ours = concordance_index((event, time), scores)
    assert ours == pytest.approx(lifelines_index(time, scores, event), abs=1e-14)
    assert ours == pytest.approx(concordance_index_censored(event, time, -scores)[0], abs=1e-14)


def test_equals_r(patients, y, from_r):
    for scores, key in ((patients["score"], "concordance_tied"), (-patients["x"], "concordance")):
        concordant, tied, comparable = count_concordant_pairs(y.time, y.event, scores.to_numpy())
        assert (concordant, tied) == (from_r[key]["concordant"], from_r[key]["tied_x"])
        assert comparable == concordant + tied + from_r[key]["discordant"]
        assert concordance_index(y, scores) == pytest.approx(from_r[key]["concordance"], abs=1e-12)


def test_risk_is_the_other_sign(y, patients):
    assert concordance_index(y, risk=patients["x"]) == concordance_index(y, -patients["x"])
    with pytest.raises(ValueError, match="either scores"):
        concordance_index(y)
    with pytest.raises(ValueError, match="either scores"):
        concordance_index(y, patients["x"], risk=patients["x"])


def test_a_wrong_sign_warns(y, patients):
    with pytest.warns(UserWarning, match="sign of scores"):
        concordance_index(y, patients["x"])
    with pytest.warns(UserWarning, match="sign of risk"):
        concordance_index(y, risk=-patients["x"])


def test_a_constant_score_is_a_half(y):
    assert concordance_index(y, np.zeros(len(y))) == 0.5


def test_nothing_to_compare_and_bad_scores_are_refused():
    with pytest.raises(ValueError, match="no two rows"):
        concordance_index(([0, 0], [1.0, 2.0]), [1.0, 2.0])
    with pytest.raises(ValueError, match="scores is missing"):
        concordance_index(([1, 0], [1.0, 2.0]), [1.0, np.nan])
    with pytest.raises(ValueError, match="2 rows and there are 3"):
        concordance_index(([1, 0], [1.0, 2.0]), [1.0, 2.0, 3.0])


def test_order_of_rows_and_scale_of_time_do_not_matter(y, patients):
    scores = -patients["x"].to_numpy()
    shuffled = np.random.default_rng(0).permutation(len(y))
    days = ly.Outcome(y.time * 365.25, y.event)
    assert concordance_index(days[shuffled], scores[shuffled]) == concordance_index(y, scores)
