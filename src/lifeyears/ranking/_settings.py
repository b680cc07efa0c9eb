"""The two presets: the paper's Table A1, and the settings that performed best in our experiments (docs/method.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from ..checks import check_choice, check_number, check_whole
from ..errors import Message, RequestError, Setting

MEMBERS = ("base", "years", "hazard", "lines", "pairs")
SMALLEST_SHARE = 1e-9


@dataclass(frozen=True)
class Settings:
    """Every hyperparameter of a `BootstrappedRanker`, with the names it has there."""

    label: Literal["ey", "dr"]
    cross_fit_base: bool
    members: tuple[str, ...]
    folds: int
    phases: int
    alpha: float
    margin: float
    group_size: int
    learning_rate: float
    n_estimators: int
    num_leaves: int
    max_depth: int
    max_bin: int
    min_child_samples: int
    subsample: float
    colsample_bytree: float
    early_stopping_rounds: int
    validation_fraction: float

    def __post_init__(self) -> None:
        check_choice("label", self.label, ("ey", "dr"))
        if not self.members or set(self.members) - set(MEMBERS):
            names = ", ".join(f'"{name}"' for name in MEMBERS)
            raise RequestError(f"members must name at least one of {names}; got {self.members!r}")
        if self.folds == 0 and self.members != ("years",):
            raise RequestError(
                "without folds there are no held-out rows to weight several members by",
                hint=Message("Set ", Setting("folds"), " to 2 or more, or use ", Setting("members", ("years",)), "."),
            )
        check_whole("folds", self.folds, 0)
        if self.folds == 1:
            raise RequestError("folds must be 0 (one fit) or at least 2; got 1")
        check_whole("phases", self.phases, 1, 10)
        check_number("alpha", self.alpha, 0, 1)
        check_number("margin", self.margin, 0)
        check_whole("group_size", self.group_size, 2)
        check_number("learning_rate", self.learning_rate, SMALLEST_SHARE)
        check_whole("n_estimators", self.n_estimators, 1)
        check_whole("min_child_samples", self.min_child_samples, 1)
        check_whole("max_depth", self.max_depth, -1)
        if not isinstance(self.cross_fit_base, (bool, np.bool_)):
            raise RequestError(f"cross_fit_base must be True or False; got {self.cross_fit_base!r}")
        check_whole("num_leaves", self.num_leaves, 2)
        check_whole("max_bin", self.max_bin, 2)
        check_number("subsample", self.subsample, SMALLEST_SHARE, 1)
        check_number("colsample_bytree", self.colsample_bytree, SMALLEST_SHARE, 1)
        check_whole("early_stopping_rounds", self.early_stopping_rounds, 0)
        check_number("validation_fraction", self.validation_fraction, 0, 0.9)


PRESETS = {
    # Table A1; label, base and group size from section 5. Ours: the validation share and its criterion (the hybrid
    # loss itself, over groups drawn once), the offset (the mean label), groups of nearly equal size
    "paper": Settings(
        label="ey",
        cross_fit_base=False,
        members=("years",),
        folds=0,
        phases=1,
        alpha=0.3,
        margin=1.0,
        group_size=256,
        learning_rate=0.05,
        n_estimators=100,
        num_leaves=31,
        max_depth=-1,
        max_bin=255,
        min_child_samples=40,
        subsample=0.8,
        colsample_bytree=0.8,
        early_stopping_rounds=50,
        validation_fraction=0.1,
    ),
    # docs/method.md. On fewer than 4,000 rows leaves may be smaller: a fortieth of the rows, at least 5
    "default": Settings(
        label="dr",
        cross_fit_base=True,
        members=("base", "years", "hazard", "lines", "pairs"),
        folds=5,
        phases=3,
        alpha=1.0,
        margin=1.0,
        group_size=256,
        learning_rate=0.05,
        n_estimators=600,
        num_leaves=4,
        max_depth=2,
        max_bin=63,
        min_child_samples=100,
        subsample=0.6,
        colsample_bytree=0.4,
        early_stopping_rounds=0,
        validation_fraction=0.0,
    ),
}


def resolve_settings(preset: str, changes: Mapping[str, Any]) -> Settings:
    """Return the settings of a preset, with some of them changed.

    Parameters
    ----------
    preset : {"default", "paper"}
        Where settings come from unless they are changed.
    changes : mapping of str to value
        Values by the names of `Settings`. Those that are None, and other names, are ignored.

    Returns
    -------
    Settings

    Raises
    ------
    RequestError
        For an unknown preset, or a value that a setting cannot have.

    Examples
    --------
    >>> settings = resolve_settings("paper", {"n_estimators": 50, "alpha": None})
    >>> settings.n_estimators, settings.alpha
    (50, 0.3)
    """
    check_choice("preset", preset, tuple(PRESETS))
    names = {field.name for field in fields(Settings)}
    changed = {name: value for name, value in changes.items() if name in names and value is not None}
    if "members" in changed:
        changed["members"] = tuple(changed["members"])
    return replace(PRESETS[preset], **changed)
