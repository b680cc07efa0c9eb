"""The one place that knows what is called differently in the base commit and in the tree under test.

The cases (`safetynet/cases`) are written with the names of the base commit and run in both trees. A refactoring that
renames something edits this file, and only this file:

- `MODULES`, `MOVED`, `ATTRIBUTES`, `KEYWORDS`: Python names, tried newest first, the base's own last;
- `paper_ranker`, `stacked_ranker`, `fit_model`: calls whose shape changes, not only their name;
- `COMMAND_LINE`, `ROUTES`, `FILES`: options, URLs and files;
- `table_as_before`, `json_as_before`: tables and JSON whose shape changes;
- `KEYS`, `LABELS`: what a recorded key or text of the new tree was called in the base;
- `PROSE`, `UNKEYED`: texts that are wording and not numbers;
- `INTENDED`: differences that an issue asks for.

Both trees read this file, so every entry must keep working where the old name is still in use.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

# Python names ---------------------------------------------------------------------------------------------------------

# Packages that move: base name → new names. Applies to everything below the package.
MODULES: dict[str, tuple[str, ...]] = {
    "lifeyears.matching": ("lifeyears.scoring",),
    "lifeyears.app": ("lifeyears.service",),
}
# Single names that move or are renamed: full base name → full new names.
MOVED: dict[str, tuple[str, ...]] = {
    "lifeyears.data.catalogue": ("lifeyears.data.datasets",),
    "lifeyears.relevance.averaged": ("lifeyears.relevance.average_relevance",),
    "lifeyears.report.checked": ("lifeyears.report.check_summary",),
    "lifeyears.simulation.Policy": ("lifeyears.simulation.OfferRule",),
}
# Attributes and methods of objects (`read(thing, "old")`): base name → new names.
ATTRIBUTES: dict[str, tuple[str, ...]] = {}
# Keyword arguments (`called(function, …, old=value)`): base name → new names, taken if the function accepts them.
KEYWORDS: dict[str, tuple[str, ...]] = {}


def resolve(name: str) -> Any:
    """Find what the base commit calls `name` ("lifeyears.models.Cox"), under its newest known name."""
    for candidate in _candidates(name):
        try:
            return _imported(candidate)
        except (ImportError, AttributeError):
            continue
    raise NameError(
        f"{name} is found neither under its old name nor under a new one ({', '.join(_candidates(name))}): say what it "
        "is called now in MODULES or MOVED of tools/safetynet/names.py"
    )


class Names:
    """The package with the base's names: ``ly.matching.fit_model`` is `resolve("lifeyears.matching.fit_model")`."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        path = f"{self._path}.{name}"
        try:
            found = resolve(path)
        except NameError:
            if name[:1].isupper():
                raise
            return Names(path)  # a package may be gone and its parts be elsewhere
        return Names(path) if isinstance(found, ModuleType) else found

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Fail with the advice of `resolve`: what is called here was not found."""
        return resolve(self._path)


ly = Names("lifeyears")


def read(thing: Any, name: str) -> Any:
    """An attribute of an object, under its newest known name."""
    for candidate in (*ATTRIBUTES.get(name, ()), name):
        if hasattr(thing, candidate):
            return getattr(thing, candidate)
    raise AttributeError(f"{type(thing).__name__} has no {name}: say what it is called now in ATTRIBUTES of names.py")


def called(function: Callable[..., Any], *arguments: Any, signature: Any = None, **options: Any) -> Any:
    """Call with keyword arguments under the names that `function` (or `signature`, if it passes them on) accepts."""
    accepted = inspect.signature(signature or function).parameters
    renamed = {
        next((new for new in KEYWORDS.get(name, ()) if new in accepted), name): value for name, value in options.items()
    }
    return function(*arguments, **renamed)


def paper_ranker(base: Any = None, **settings: Any) -> Any:
    """The paper's ranker."""
    ranker = ly.BootstrappedRanker
    if "preset" in inspect.signature(ranker).parameters:
        return called(ranker, base, preset="paper", **settings)
    shape = {name: settings.pop(name) for name in ("num_leaves", "min_child_samples") if name in settings}
    trees = resolve("lifeyears.ranking.TreeSettings")(**shape) if shape else None
    return called(ranker, base, trees=trees, **settings)


def stacked_ranker(base: Any = None, **settings: Any) -> Any:
    """The ensemble: `StackedRanker`, or in the base `BootstrappedRanker` with its default preset."""
    settings.pop("cross_fit_base", None)  # labels of the ensemble are always cross-fitted now
    try:
        ranker = resolve("lifeyears.StackedRanker")
    except NameError:
        return called(ly.BootstrappedRanker, base, **settings)
    network = settings.pop("second_stage", "gbdt") == "mlp"
    names = settings.pop("members", ("base", "years") if network else ("base", *MEMBERS))
    own = {"n_estimators": settings.pop("n_estimators", None), "n_intervals": settings.pop("phases", None)}
    chosen = tuple(new for old, new in MEMBERS.items() if old in names)
    if network:
        members = [("boosted_years", resolve("lifeyears.ranking.stacked.NetworkYears")())]
    else:
        members = resolve("lifeyears.ranking.stacked.make_members")(names=chosen, **own)
    return called(ranker, base, members=members, with_base="base" in names, **settings)


# Members of the ensemble: names in the base → names now.
MEMBERS = {
    "years": "boosted_years",
    "hazard": "boosted_hazards",
    "lines": "spline_hazards",
    "pairs": "spline_interactions",
}


def fit_on_relevance(ranker: Any, X: Any, relevance: Any) -> Any:
    """Fit a ranker to known relevance."""
    return (ranker.fit_relevance if hasattr(ranker, "fit_relevance") else ranker.fit)(X, relevance)


def fit_model(data: Any, base: str, preset: str, **options: Any) -> Any:
    """A model with its card; `preset` is "paper", "default" or "none"."""
    return called(ly.matching.fit_model, data, base=base, preset=preset, **options)


def run_protocol(protocol: str, data: Any, out: Any, **options: Any) -> Any:
    """`lifeyears.experiments.run`, whose further options are those of `Plan`."""
    return called(ly.experiments.run, protocol, data, out, signature=ly.experiments.Plan, **{"n_jobs": 1, **options})


@cache
def _candidates(name: str) -> tuple[str, ...]:
    found = list(MOVED.get(name, ()))
    for old, new in MODULES.items():
        if name == old or name.startswith(f"{old}."):
            found += [f"{each}{name[len(old) :]}" for each in new]
    return tuple(dict.fromkeys([*found, name]))


@cache
def _imported(name: str) -> Any:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError as error:
            if not (error.name and name.startswith(error.name)):
                raise
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ImportError(f"there is no {name}")


# The command line, REST and files -------------------------------------------------------------------------------------

# Words of a command line: (command, words in the base, words now); used if the command knows the first new word.
COMMAND_LINE: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
# URLs of the service: base → new ones, tried first.
ROUTES: dict[str, tuple[str, ...]] = {}
# Files and folders that a command writes: base → new names, tried first.
FILES: dict[str, tuple[str, ...]] = {
    "units": ("jobs",),
}


def command_words(command: str, words: Sequence[str], known: Sequence[str]) -> list[str]:
    """The words of a command line as the tree at hand understands them; `known` are its command's options."""
    found = list(words)
    for where, old, new in COMMAND_LINE:
        for start in range(len(found) - len(old) + 1):
            if where == command and new[0] in known and tuple(found[start : start + len(old)]) == old:
                found[start : start + len(old)] = new
    return found


# Tables and JSON whose shape changes ----------------------------------------------------------------------------------


def table_as_before(name: str, table: Any) -> Any:
    """A DataFrame with the columns it had in the base (`name` is the file's stem); most need `KEYS` and `LABELS` only.

    Recognise the new shape by its columns, for the base's tables come through here too. For example, an arm that
    became two columns: ``if "method" in table: table = table.assign(arm=…).drop(columns=…)``.
    """
    return table


def json_as_before(name: str, content: Any) -> Any:
    """JSON (`name` is the file's or the route's) as the base had it."""
    return content


# What is recorded -----------------------------------------------------------------------------------------------------

# Keys of the new tree → keys of the base: (pattern, replacement) for `re.sub` on "case:key", all applied in order.
KEYS: list[tuple[str, str]] = [
    (r"\bboosted_years\b", "years"),
    (r"\bboosted_hazards\b", "hazard"),
    (r"\bspline_hazards\b", "lines"),
    (r"\bspline_interactions\b", "pairs"),
    (
        r"(summary/counts/.*): on held-out rows the top of the members' list was",
        r"\1: on held-out rows the members' top was",
    ),
    (
        r"(summary/counts/horizon beyond the follow-up of) the rows used to fit a nuisance model",
        r"\1 a nuisance's rows",
    ),
]
# Texts of the new tree → texts of the base: (pattern of "case:key", text now, text in the base).
LABELS: list[tuple[str, str, str]] = []
# Wording: texts under these keys are shown if they differ, and do not count. Long texts are wording anywhere.
PROSE = (
    r"(^|/)(reading|words|text|title|note|notes|warnings|leaks|source|use|estimates|judged_by|message|command)(/|$)",
    r"(^|/)(weights_are|limits|verdict|stdout|licence|version|lifeyears)(/|$)",
    r"(^|/)dropped_rows/names$",
    r"(^|/)dropped_columns/",
)
LONGEST_LABEL = 45  # characters; what is longer is a sentence
# Dictionaries whose keys are wording: values are compared in their order, and the keys count as wording.
UNKEYED = (r"(^|/)dropped_rows$",)

# Differences that an issue asks for: (pattern of the case, pattern of the key, reason).
INTENDED: list[tuple[str, str, str]] = [
    ("^relevance$", "^cross/groups", "cross_fit draws folds of whole groups by the rule of lifeyears.folds.draw_folds"),
    (
        "^relevance$",
        "^default models/",
        "the default nuisance Cox has the one documented ridge, relevance.NUISANCE_RIDGE",
    ),
    ("^service$", "/evaluate/", "evaluate uses relevance.NUISANCE_RIDGE (10) in place of a ridge of its own (30)"),
    ("^donors_and_gain$", "^(k-means|gained/by type)/", "the prior of donor types is estimated on folds of draw_folds"),
    ("^defaults$", "^app.serve/verbose$", "logging is set by the command line's --verbose and --quiet"),
]


def key_as_before(case: str, key: str) -> str:
    """What a key of the new tree is called in the base."""
    for pattern, replacement in KEYS:
        key = re.sub(pattern, replacement, f"{case}:{key}").removeprefix(f"{case}:")
    return key


def label_as_before(case: str, key: str, text: str) -> str:
    """What a text of the new tree was in the base."""
    for pattern, new, old in LABELS:
        if text == new and re.search(pattern, f"{case}:{key}"):
            return old
    return text


def is_prose(key: str, texts: Iterable[str]) -> bool:
    """Whether the texts under a key are wording."""
    return any(re.search(pattern, key) for pattern in PROSE) or any(len(text) > LONGEST_LABEL for text in texts)


def is_unkeyed(key: str) -> bool:
    """Whether the names within a dictionary are wording."""
    return any(re.search(pattern, key) for pattern in UNKEYED)


def why_intended(case: str, key: str) -> str | None:
    """The reason for an intended difference, or None."""
    return next((why for one, two, why in INTENDED if re.search(one, case) and re.search(two, key)), None)
