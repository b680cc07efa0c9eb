"""Make the small cohort that the R scripts and the tests share: ties in time, censoring, weights, tied scores."""

from pathlib import Path

import numpy as np
import pandas as pd


def main() -> None:
    rng = np.random.default_rng(20260214)
    n = 200
    age = rng.normal(55, 10, n).round()
    sex = rng.integers(0, 2, n)
    x = rng.normal(size=n).round(3)
    life = 8 * rng.weibull(1.3, n) * np.exp(-0.02 * (age - 55) + 0.3 * sex - 0.5 * x)
    end = rng.uniform(1, 14, n)
    table = pd.DataFrame(
        {
            "time": np.maximum(np.ceil(np.minimum(life, end) * 4) / 4, 0.25),  # quarters of a year: many ties
            "event": (life <= end).astype(int),
            "age": age,
            "sex": sex,
            "x": x,
            "weight": rng.integers(1, 4, n),
            "score": (-0.5 * x + 0.3 * sex).round(1),
        }
    )
    table.to_csv(Path(__file__).parent / "patients.csv", index=False)


if __name__ == "__main__":
    main()
