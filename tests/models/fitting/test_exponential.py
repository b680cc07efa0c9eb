import numpy as np

from lifeyears.models.fitting import exp_minus_outer


def test_is_right_to_one_unit_in_the_last_place():
    rng = np.random.default_rng(0)
    rows, columns = np.exp(5 * rng.normal(size=500)), np.sort(rng.exponential(size=300)) * 3
    out = np.empty((500, 300))
    exp_minus_outer(rows, columns, out)
    # in more digits: numpy's own is wrong by one and a half units in some versions, on some machines
    expected = np.exp(-np.multiply.outer(rows, columns).astype(np.longdouble)).astype(float)
    normal = expected > 1e-300
    np.testing.assert_allclose(out[normal], expected[normal], rtol=2.3e-16, atol=0)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1.2e-16)
    assert (np.diff(out, axis=1) <= 0).all()  # a survival curve never rises


def test_at_the_edges():
    columns = np.array([0.0, 1e-320, 1e-17, 700.0, 708.0, 709.0, 1e6, 1e300, np.inf])
    out = np.empty((1, len(columns)))
    exp_minus_outer(np.ones(1), columns, out)
    np.testing.assert_array_equal(out[0, :3], 1.0)
    assert out[0, 3] == np.exp(-700.0)
    np.testing.assert_array_equal(out[0, 4:], 0.0)
