"""Five models on a simulated cohort, judged by the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..data import TablePreprocessor, simulate_registry
from ..metrics import concordance_index, ndcg_score, policy_value
from ..models import Cox, DeepHit, DeepSurv, KaplanMeier, SurvivalModel, WeibullAFT

if TYPE_CHECKING:
    import pandas as pd

HORIZON = 20.0
WAITLIST = 256


def five_models(tau: float, seed: int) -> dict[str, SurvivalModel]:
    """The paper's five predictors with its settings."""
    return {
        "KM": KaplanMeier(tau=tau),
        "Cox": Cox(alpha=0.1, tau=tau),
        "AFT": WeibullAFT(penalizer=0.1, tau=tau),
        "DeepSurv": DeepSurv(tau=tau, random_state=seed),
        "DeepHit": DeepHit(tau=tau, random_state=seed),
    }


@dataclass(frozen=True, eq=False)
class TruthComparison:
    """A table of models, and what it means in words."""

    table: pd.DataFrame
    n_train: int
    n_test: int
    reading: str


def compare_on_truth(
    rows: int = 8000, seed: int = 0, progress: Callable[[str], object] = lambda message: None
) -> TruthComparison:
    """Train on half of a simulated cohort, rank the other half, and judge the ranking by true lifetimes.

    Parameters
    ----------
    rows : int
        Simulated patients.
    seed : int
        Of the simulation and the models.
    progress : callable
        Told in a few words what is being done.
    """
    import pandas as pd

    data = simulate_registry(rows, random_state=seed)
    assert data.truth is not None
    train, test = np.arange(rows) < rows // 2, np.arange(rows) >= rows // 2
    life = np.minimum(data.truth.lifetime, HORIZON)[test]
    matrix = TablePreprocessor().fit(data.X[train]).transform(data.X)
    waitlist = min(WAITLIST, len(life))
    scores = {}
    for name, model in five_models(HORIZON, seed).items():
        progress(f"fitting {name}")
        scores[name] = model.fit(matrix[train], data.y[train]).predict(matrix[test])
    scores["truth known"] = data.truth.expected(HORIZON)[test]
    table = pd.DataFrame(
        [
            {
                "model": name,
                "C-index": concordance_index(data.y[test], score),
                "NDCG@1": ndcg_score(life, score, k=1),
                "NDCG@5": ndcg_score(life, score, k=5),
                "NDCG@100": ndcg_score(life, score, k=100),
                f"years, top of {waitlist}": policy_value(life, score, waitlist=waitlist),
            }
            for name, score in scores.items()
        ]
    )
    return TruthComparison(table, int(train.sum()), int(test.sum()), _reading(table))


def _reading(table: pd.DataFrame) -> str:
    years = table.columns[-1]
    models = table[table["model"] != "truth known"]
    by_index = models.loc[models["C-index"].idxmax()]
    by_years = models.loc[models[years].idxmax()]
    ceiling = table.loc[table["model"] == "truth known", years].item()
    text = (
        f"By C-index one would choose {by_index['model']}; its top pick on a waitlist lives {by_index[years]:.1f} of "
        f"the next {HORIZON:g} years. "
    )
    if by_index["model"] != by_years["model"]:
        text += f"By years an allocation it is {by_years['model']}, with {by_years[years]:.1f}. "
    return text + (
        f"A random pick lives {models[years].iloc[0]:.1f}; who knew the true expectations could reach {ceiling:.1f}. "
        "One simulated cohort, no error bars: a first look, not evidence."
    )
