"""Draw the pictures of README and docs: `python docs/make_images.py`."""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import lifeyears as ly

IMAGES = Path(__file__).parent / "images"
BLUE, RED = "#0072B2", "#D55E00"  # told apart by colour-blind readers


def one_misplaced_patient() -> None:
    """The paper's motivating example: all ranked rightly but the worst, who is put first."""
    years = np.arange(1.0, 101.0)
    predicted = years.copy()
    predicted[0] = 101
    index = ly.metrics.concordance_index((np.ones(100), years), predicted)
    gain = ly.metrics.ndcg_score(years, predicted, k=1)
    figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
    rank = (-predicted).argsort().argsort() + 1
    axes.scatter(rank[1:], years[1:], s=14, color=BLUE, label="ranked rightly")
    axes.scatter(rank[:1], years[:1], s=70, color=RED, marker="X", label="gets the heart")
    axes.annotate(
        "predicted best,\nin truth the worst", (1, 1), (9, 12), color=RED, arrowprops={"arrowstyle": "-", "color": RED}
    )
    axes.set(
        xlabel="place on the predicted list",
        ylabel="true worth of the transplant",
        title=f"C-index {index:.2f}, NDCG@1 {gain:.2f}: nearly perfect, and the wrong patient",
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper right")
    figure.savefig(IMAGES / "one_misplaced_patient.png", dpi=130)


def same_concordance() -> None:
    """The gallery's first picture, for pages that are read where no gallery was built."""
    runpy.run_path(str(IMAGES.parent / "examples" / "plot_1_same_concordance.py"))
    plt.gcf().savefig(IMAGES / "same_concordance.png", dpi=130)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    one_misplaced_patient()
    same_concordance()
