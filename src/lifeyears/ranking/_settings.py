"""The two presets: the paper's Table A1, and what was measured to be best (docs/method.md)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}")


def _within(name: str, value: Any, low: float, high: float | None, whole: bool = False) -> None:
    number = isinstance(value, Integral if whole else Real) and not isinstance(value, (bool, np.bool_))
    if not number or not low <= value < np.inf or (high is not None and value > high):
        kind = "a whole number" if whole else "a number"
        limits = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
        raise ValueError(f"{name} must be {kind}, {limits}; got {value!r}")


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
        _one_of("label", self.label, ("ey", "dr"))
        if not self.members or set(self.members) - {"base", "years", "hazard", "lines", "pairs"}:
            raise ValueError(
                'members must name some of "base", "years", "hazard", "lines" and "pairs", at least one; '
                f"got {self.members!r}"
            )
        if self.folds == 0 and self.members != ("years",):
            raise ValueError('without folds there is nothing to weigh members by: set folds, or members=("years",)')
        _within("folds", self.folds, 0, None, whole=True)
        if self.folds == 1:
            raise ValueError("folds must be 0 (one fit) or at least 2; got 1")
        _within("phases", self.phases, 1, 10, whole=True)
        _within("alpha", self.alpha, 0, 1)
        _within("margin", self.margin, 0, None)
        _within("group_size", self.group_size, 2, None, whole=True)
        _within("learning_rate", self.learning_rate, 1e-9, None)
        for name in ("n_estimators", "min_child_samples"):
            _within(name, getattr(self, name), 1, None, whole=True)
        _within("max_depth", self.max_depth, -1, None, whole=True)
        if not isinstance(self.cross_fit_base, (bool, np.bool_)):
            raise ValueError(f"cross_fit_base must be True or False; got {self.cross_fit_base!r}")
        for name in ("num_leaves", "max_bin"):
            _within(name, getattr(self, name), 2, None, whole=True)
        for name in ("subsample", "colsample_bytree"):
            _within(name, getattr(self, name), 1e-9, 1)
        _within("early_stopping_rounds", self.early_stopping_rounds, 0, None, whole=True)
        _within("validation_fraction", self.validation_fraction, 0, 0.9)


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


def settings_of(preset: str, given: dict[str, Any]) -> Settings:
    """The preset's settings, with what was given (and is not None) in their place.

    Parameters
    ----------
    preset : {"default", "paper"}
    given : dict of str to value
        By the names of `Settings`; others are ignored.

    Returns
    -------
    Settings

    Raises
    ------
    ValueError
        For an unknown preset, or a value that a setting cannot have.

    Examples
    --------
    >>> found = settings_of("paper", {"n_estimators": 50, "alpha": None})
    >>> found.n_estimators, found.alpha
    (50, 0.3)
    """
    _one_of("preset", preset, tuple(PRESETS))
    known = {field.name for field in fields(Settings)}
    changed = {name: value for name, value in given.items() if name in known and value is not None}
    if "members" in changed:
        changed["members"] = tuple(changed["members"])
    return replace(PRESETS[preset], **changed)
