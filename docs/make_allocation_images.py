"""Draw the picture of docs/gallery_worst_patient.md: `python docs/make_allocation_images.py`."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from lifeyears.allocation import Greedy, PositionWeighted, UniformRandom, adversary

IMAGES = Path(__file__).parent / "images"
RED = "#D55E00"
POLICIES = {"greedy": Greedy(), "position-weighted, k=5": PositionWeighted(5), "uniform": UniformRandom()}


def worst_patient_chosen() -> None:
    """What the adversary does to three policies with a C-index of 0.99 or more."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained", sharey=True)
    for ax, (name, policy) in zip(axes, POLICIES.items(), strict=True):
        case = adversary(policy, c=0.99, rho=0.01)
        case.plot(ax)
        ax.set_title(f"{name}\nC-index {case.c_index:.4f}, {case.utility_ratio:.1%} of the best utility")
        ax.get_legend().remove()
        best, line = int(case.utilities.argmax()), {"arrowstyle": "-", "color": "0.3"}
        if case.utilities.argmin() == case.chosen:
            point, words = (case.chosen + 1, case.utilities[case.chosen]), "the worst patient\ngets the organ"
            ax.annotate(words, point, (40, 0.25), color=RED, arrowprops={**line, "color": RED})
        else:
            words = f"worth it: chosen\nwith chance {case.probabilities[best]:.2g}"
            ax.annotate(words, (best + 1, 1.0), (45, 0.72), arrowprops=line)
            ax.annotate("worth next to nothing", (100, 0.03), ha="center", va="bottom")
    for ax in axes[1:]:
        ax.set_ylabel("")
    figure.suptitle("C-index 0.99, worst patient chosen (red: may get the organ; blue: never does)")
    figure.savefig(IMAGES / "adversary.png", dpi=130)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    worst_patient_chosen()
