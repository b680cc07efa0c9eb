"""Two results of a case beside each other, to the last bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .names import is_prose, key_as_before, label_as_before, why_intended
from .record import equal


@dataclass(frozen=True)
class Difference:
    """One value that differs.

    Attributes
    ----------
    key : str
        In the base's words, with the position within the array in brackets.
    old, new : str
    ulps : int or None
        How many floating-point numbers apart, for two finite numbers.
    """

    key: str
    old: str
    new: str
    ulps: int | None = None

    def __str__(self) -> str:
        apart = "" if self.ulps is None else f" ({self.ulps:,} ulp)"
        return f"{self.key}: {self.old} -> {self.new}{apart}"


@dataclass
class Comparison:
    """One case in both trees.

    Attributes
    ----------
    numbers, texts : int
        Compared.
    differences : list of Difference
        Those that count.
    intended : dict of reason to number of differences
    added : list of str
        Keys that only the new tree has; they do not count.
    reworded : list of Difference
        Wording that differs; it does not count.
    failures : list of str
        What keeps the case from being compared, or a promise that does not hold within a tree.
    seconds : (float, float)
        Of the base and of the new tree.
    """

    numbers: int = 0
    texts: int = 0
    differences: list[Difference] = field(default_factory=list)
    intended: dict[str, int] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    reworded: list[Difference] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    seconds: tuple[float, float] = (0.0, 0.0)

    @property
    def passed(self) -> bool:
        """Whether nothing differs that was not meant to."""
        return not self.differences and not self.failures


def compared(case: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Comparison:
    """Compare what a case recorded in the base with what it recorded in the new tree."""
    found = Comparison(seconds=(old["seconds"], new["seconds"]))
    for side, result in (("base", old), ("new tree", new)):
        if result["error"]:
            found.failures.append(f"{side}: {result['error'].strip()}")
        found.failures += [f"{side}: not equal to the bit: {what}" for what in result["broken"]]
    if old["error"] or new["error"]:
        return found
    renamed: dict[str, np.ndarray] = {}
    for key, value in new["values"].items():
        before = key_as_before(case, key)
        if before in renamed:
            found.failures.append(f"KEYS of names.py give two keys of the new tree the name {before}")
        renamed[before] = _labels_as_before(case, before, value)
    for key, value in old["values"].items():
        _compare_key(found, case, key, value, renamed.pop(key, None))
    found.added = list(renamed)
    return found


def _compare_key(found: Comparison, case: str, key: str, old: np.ndarray, new: np.ndarray | None) -> None:
    texts = old.dtype == object
    prose = texts and is_prose(key, old.ravel().tolist())
    if texts:
        found.texts += old.size
    else:
        found.numbers += old.size
    differences = _differences(key, old, new)
    if not differences:
        return
    reason = why_intended(case, key)
    if reason is not None:
        found.intended[reason] = found.intended.get(reason, 0) + len(differences)
    elif prose and new is not None and new.dtype == object and new.shape == old.shape:
        found.reworded += differences
    else:
        found.differences += differences


def _differences(key: str, old: np.ndarray, new: np.ndarray | None) -> list[Difference]:
    if new is None:
        return [Difference(key, f"{_kind(old)} {old.shape}", "missing")]
    if old.dtype != new.dtype or old.shape != new.shape:
        return [Difference(key, f"{_kind(old)} {old.shape}", f"{_kind(new)} {new.shape}")]
    places = np.argwhere(~equal(old, new))
    return [_difference(key, old, new, tuple(place)) for place in places]


def _difference(key: str, old: np.ndarray, new: np.ndarray, place: tuple[int, ...]) -> Difference:
    where = f"[{', '.join(map(str, place))}]" if place else ""
    one, other = old[place], new[place]
    if old.dtype == object:
        return Difference(key + where, *_excerpts(one, other))
    return Difference(key + where, repr(float(one)), repr(float(other)), ulps(float(one), float(other)))


def _excerpts(one: str, other: str, most: int = 70) -> tuple[str, str]:
    """Two texts from a little before where they begin to differ."""
    pairs = enumerate(zip(one, other, strict=False))
    same = next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
    start = max(0, same - 15) if max(len(one), len(other)) > most else 0
    return tuple(("…" if start else "") + repr(text[start : start + most]) for text in (one, other))  # type: ignore


def ulps(one: float, other: float) -> int | None:
    """How many floating-point numbers lie between two finite ones.

    Examples
    --------
    >>> ulps(1.0, 1.0 + 2**-52), ulps(0.0, -0.0), ulps(1.0, float("nan"))
    (1, 0, None)
    """
    if not (np.isfinite(one) and np.isfinite(other)):
        return None
    places = [int(np.float64(value).view(np.int64)) for value in (one, other)]
    first, second = (place if place >= 0 else -(place + 2**63) for place in places)
    return abs(first - second)


def _labels_as_before(case: str, key: str, value: np.ndarray) -> np.ndarray:
    if value.dtype != object:
        return value
    texts = [label_as_before(case, key, text) for text in value.ravel().tolist()]
    return np.array(texts, dtype=object).reshape(value.shape)


def _kind(value: np.ndarray) -> str:
    return "texts" if value.dtype == object else "numbers"
