"""EY, IPCW and DR where the truth is known: bias, spread and coverage under right and wrong nuisances."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..._threads import one_thread
from ...errors import RequestError
from ...metrics import compare
from ...models import AdministrativeCensoring, Cox, KaplanMeier, SurvivalModel
from ...relevance import IPCW, DoublyRobust, ExpectedYears, Relevance, cross_fit
from ._world import EFFECTS, MECHANISMS, STUDY, Patients, draw_patients, true_policy_value

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ..._typing import FloatArray, Json

# Two fixed rankings by the features: one close to the truth, one less so.
GOOD, FAIR = -EFFECTS, -np.array([0.6, -0.2, 0.3])
GRID_POINTS = 90
_PLAIN, _DOUBLE = (
    ("right", "wrong", "fitted"),
    ("both right", "survival wrong", "censoring wrong", "both wrong", "fitted"),
)
NUISANCES = tuple(
    dict.fromkeys(
        [*_PLAIN, *_DOUBLE, *(f"{e} {n}" for e in ("EY", "IPCW") for n in _PLAIN), *(f"DR {n}" for n in _DOUBLE)]
    )
)


@dataclass(frozen=True, eq=False)
class EstimatorBench:
    """How the estimators did.

    Attributes
    ----------
    table : DataFrame
        One row a mechanism, estimator and pair of nuisances: bias of the policy value in years, its Monte Carlo
        standard error, standard deviation, root mean squared error, and how often the interval covered the truth; the
        same for the paired difference of two rankings.
    n, replicates, tau, waitlist : the settings
    """

    table: pd.DataFrame
    n: int
    replicates: int
    tau: float
    waitlist: int

    def __str__(self) -> str:
        return (
            f"{self.replicates} cohorts of {self.n:,}, horizon {self.tau:g}, lists of {self.waitlist}\n"
            f"{self.table.round(3).to_string(index=False)}"
        )

    def _repr_html_(self) -> str:
        from ..._views import html_table

        return html_table(self.table)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the bias of each estimator under each mechanism, with one standard deviation; return the axes."""
        import matplotlib.pyplot as plt

        table = self.table
        labels = table["mechanism"] + ": " + table["estimator"] + " (" + table["nuisances"] + ")"
        if ax is None:
            ax = plt.subplots(figsize=(7.5, 0.8 + 0.22 * len(table)), layout="constrained")[1]
        rows = np.arange(len(table))[::-1]
        colours = {"EY": "#0072B2", "IPCW": "#D55E00", "DR": "#009E73"}
        for row, line in zip(rows, table.itertuples(), strict=True):
            ax.errorbar(line.bias, row, xerr=line.sd, fmt="o", color=colours[line.estimator], capsize=2, markersize=4)
        ax.axvline(0, color="0.5", linewidth=1)
        ax.set_yticks(rows, labels, fontsize="x-small")
        ax.set(xlabel="bias of the policy value in years (bar: one standard deviation)")
        ax.spines[["top", "right"]].set_visible(False)
        return ax


def estimator_bench(
    n: int = 12_000,
    replicates: int = 100,
    mechanisms: Sequence[str] = MECHANISMS,
    tau: float = 15.0,
    waitlist: int = 256,
    only: Sequence[str] | None = None,
    n_resamples: int = 400,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> EstimatorBench:
    """Measure EY, IPCW and DR against the truth, with right and wrong nuisance curves.

    Each replicate draws a cohort from a world whose law is known, censors it, estimates relevance, and compares the
    policy value of a fixed ranking (and its difference to another) with the population's, known by quadrature.

    Parameters
    ----------
    n, replicates : int
        Size and number of the cohorts.
    mechanisms : sequence of str
        How censoring comes about: "independent", "covariate", "administrative" (by entry), "informative", "paper" (half
        censored at C ~ U[0, T*]). Under the last two no estimator's assumption holds.
    tau : float
        The horizon.
    waitlist : int
        Length of the lists.
    only : sequence of str, optional
        Which nuisances: "right", "wrong", "both right", "survival wrong", "censoring wrong", "both wrong", and "fitted"
        (cross-fitted: Cox for life; for censoring Cox, or Kaplan–Meier where that is right); or one estimator's, as in
        "DR fitted". All by default.
    n_resamples : int
        Of each bootstrap interval.
    random_state, n_jobs
        Same seed, same result, whatever n_jobs.

    Returns
    -------
    EstimatorBench
        Prints as a table; `.plot()`.
    """
    import pandas as pd
    from joblib import Parallel, delayed

    unknown = [name for name in (only or ()) if isinstance(only, str) or name not in NUISANCES]
    if unknown:
        raise RequestError(f"only must be a list of nuisances ({', '.join(NUISANCES)}); got {only!r}")
    truth = (true_policy_value(GOOD, tau, waitlist), true_policy_value(FAIR, tau, waitlist))
    settings = {"n": n, "tau": tau, "waitlist": waitlist, "only": only, "n_resamples": n_resamples}
    rows = []
    for number, mechanism in enumerate(mechanisms):
        seeds = np.random.SeedSequence((random_state, number)).spawn(replicates)
        found = Parallel(n_jobs=n_jobs)(delayed(_replicate)(mechanism, seed, **settings) for seed in seeds)
        for key in found[0]:
            each = np.array([one[key] for one in found])
            rows.append({"mechanism": mechanism, "estimator": key[0], "nuisances": key[1], **_summary(each, truth)})
    return EstimatorBench(pd.DataFrame(rows), n, replicates, tau, waitlist)


def _summary(each: FloatArray, truth: tuple[float, float]) -> dict[str, float]:
    """From (value, low, high, difference, low, high) of every replicate to bias, spread and coverage."""
    value, low, high, gap, gap_low, gap_high = each.T
    difference = truth[0] - truth[1]
    return {
        "bias": float(value.mean() - truth[0]),
        "standard_error": float(value.std(ddof=1) / np.sqrt(len(value))) if len(value) > 1 else float("nan"),
        "sd": float(value.std(ddof=1)) if len(value) > 1 else float("nan"),
        "rmse": float(np.sqrt(np.mean((value - truth[0]) ** 2))),
        "coverage": float(np.mean((low <= truth[0]) & (truth[0] <= high))),
        "difference_bias": float(gap.mean() - difference),
        "difference_coverage": float(np.mean((gap_low <= difference) & (difference <= gap_high))),
    }


def _replicate(
    mechanism: str,
    seed: np.random.SeedSequence,
    n: int,
    tau: float,
    waitlist: int,
    only: Sequence[str] | None,
    n_resamples: int,
) -> dict[tuple[str, str], tuple[float, ...]]:
    rng = np.random.default_rng(seed)
    patients = draw_patients(n, mechanism, rng)
    scores = {"good": patients.X @ GOOD, "fair": patients.X @ FAIR}
    found = {}
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the bench is about what the warnings are about
        for key, relevance in _estimates(patients, tau, only).items():
            c = compare(relevance, scores, waitlist=waitlist, n_resamples=n_resamples, random_state=rng)
            value, gap = c.values.loc["good"], c.differences.iloc[0]
            found[key] = (*value[["value", "low", "high"]], *gap[["value", "low", "high"]])
    return found


def _estimates(patients: Patients, tau: float, only: Sequence[str] | None) -> dict[tuple[str, str], Relevance]:
    """Relevance by each estimator with each pair of nuisances, those in `only` (by the name of the nuisances)."""
    X, y = patients.X, patients.y
    times = np.linspace(0, tau, GRID_POINTS + 1)
    if patients.mechanism == "administrative":  # a cut just before a grid time must not move to it
        times = np.unique(np.concatenate([times, np.nextafter(times[1:], 0)]))
    right_S, wrong_S = patients.survival(times), patients.survival_ignoring_x(times)
    right_G, wrong_G = patients.censoring(times), patients.censoring_ignoring_x(times)
    fitted_G: SurvivalModel = Cox() if patients.mechanism == "covariate" else KaplanMeier()
    if patients.mechanism == "administrative":  # a model that knows the cut, from the entry in the last column
        X = np.column_stack([X, patients.entry])
        fitted_G = AdministrativeCensoring(entry=3, end=STUDY)
    policy: Json = {"tau": tau, "on_violation": "clip"}
    wanted: dict[tuple[str, str], Callable[[], Relevance]] = {
        ("EY", "right"): lambda: ExpectedYears(right_S, tau=tau).estimate(X, y),
        ("EY", "wrong"): lambda: ExpectedYears(wrong_S, tau=tau).estimate(X, y),
        ("EY", "fitted"): lambda: cross_fit(ExpectedYears(Cox(), tau=tau), X, y),
        ("IPCW", "right"): lambda: IPCW(right_G, **policy).estimate(X, y),
        ("IPCW", "wrong"): lambda: IPCW(wrong_G, **policy).estimate(X, y),
        ("IPCW", "fitted"): lambda: cross_fit(IPCW(fitted_G, **policy), X, y),
        ("DR", "both right"): lambda: DoublyRobust(right_S, right_G, **policy).estimate(X, y),
        ("DR", "survival wrong"): lambda: DoublyRobust(wrong_S, right_G, **policy).estimate(X, y),
        ("DR", "censoring wrong"): lambda: DoublyRobust(right_S, wrong_G, **policy).estimate(X, y),
        ("DR", "both wrong"): lambda: DoublyRobust(wrong_S, wrong_G, **policy).estimate(X, y),
        ("DR", "fitted"): lambda: cross_fit(DoublyRobust(Cox(), fitted_G, **policy), X, y),
    }
    unknown = {("IPCW", "right"), ("DR", "both right"), ("DR", "survival wrong")} if right_G is None else set()
    return {
        key: estimate()
        for key, estimate in wanted.items()
        if key not in unknown and (only is None or key[1] in only or " ".join(key) in only)
    }
