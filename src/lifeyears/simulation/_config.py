"""What to simulate: settings, checked one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from ._policies import Policy, as_policies
from ._world import World, _checked, checked_number

# name: (least, largest, whole number)
NUMBERS: dict[str, tuple[float, float, bool]] = {
    "years": (0.1, 200, False),
    "replicates": (1, 100_000, True),
    "random_state": (0, 2**63, True),
    "training_rows": (500, 10_000_000, True),
}
SCALE = (1e-4, 100.0)


@dataclass(frozen=True, eq=False)
class Config:
    """What `simulate` does.

    Parameters
    ----------
    world : World
    policies : tuple of Policy
        None means the default seven.
    years, replicates : float, int
        How long, from the list that the US rules left; how many times.
    random_state : int
        Same seed, same result.
    reference : str, optional
        The policy that the others are compared with; by default the first.
    common_random_numbers : bool
        Whether every policy meets the same candidates and hearts; False is for measuring what that saves.
    training_rows : int
        Size of the simulated registry that named models are fitted on.

    Examples
    --------
    >>> Config(policies=["uniform", "us_status"]).reference
    'uniform'
    """

    world: World = field(default_factory=World)
    policies: Any = None
    years: float = 10.0
    replicates: int = 20
    random_state: int = 0
    reference: str | None = None
    common_random_numbers: bool = True
    training_rows: int = 40_000

    def __post_init__(self) -> None:
        if not isinstance(self.world, World):
            raise ValueError(f"world must be a World; got {self.world!r}")
        object.__setattr__(self, "policies", as_policies(self.policies))
        for name, (low, high, whole) in NUMBERS.items():
            number = checked_number(name, getattr(self, name), low, high, whole)
            object.__setattr__(self, name, int(number) if whole else float(number))
        if not isinstance(self.common_random_numbers, bool):
            raise ValueError(f"common_random_numbers must be true or false; got {self.common_random_numbers!r}")
        names = [policy.name for policy in self.policies]
        reference = names[0] if self.reference is None else self.reference
        if reference not in names:
            raise ValueError(f"reference must be one of the policies ({', '.join(names)}); got {reference!r}")
        object.__setattr__(self, "reference", reference)

    def changed(self, **given: Any) -> Config:
        """With what was given, and is not None, in place of what is here."""
        given = {name: value for name, value in given.items() if value is not None}
        if "policies" in given:
            given.setdefault("reference", self._reference_within(given["policies"]))
        return replace(self, **given)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as a configuration file holds them; a model handed over appears by its type."""
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        world = {name: _plain(value) for name, value in asdict(self.world).items()}
        return known | {"world": world, "policies": [_described(policy) for policy in self.policies]}

    def _reference_within(self, policies: Any) -> str | None:
        names = [policy.name for policy in as_policies(policies)]
        return self.reference if self.reference in names else None


def config_from(settings: Mapping[str, Any], where: Callable[..., str] = lambda *keys: "") -> Config:
    """A `Config` from plain settings; `where(key, …)` says where in a file a setting stands, for errors.

    Examples
    --------
    >>> config_from({"years": 2, "world": {"scale": 0.1}}).world.waiting_at_start
    360
    >>> config_from({"yaers": 2})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: there is no setting 'yaers' (did you mean years?); there are world, policies, years, ...
    """
    known = [each.name for each in fields(Config)]
    _refuse_unknown(settings, known, where)
    given = dict(settings)
    for name, (low, high, whole) in NUMBERS.items():
        if name in given:
            _at(where(name), checked_number, name, given[name], low, high, whole)
    if given.get("policies") is not None:
        policies = given["policies"]
        if isinstance(policies, list):
            for number, each in enumerate(policies):
                _at(where("policies", number), as_policies, [each])
        given["policies"] = _at(where("policies"), as_policies, policies)
    if "world" in given:
        given["world"] = _world_from(given["world"], where)
    names = ("reference", "common_random_numbers")
    return _at(next((where(name) for name in names if name in given), ""), Config, **given)


def _world_from(settings: Any, where: Callable[..., str]) -> World:
    if not isinstance(settings, Mapping):
        raise ValueError(f"{where('world')}world must hold settings, such as listed_per_year: 4446; got {settings!r}")
    known = [each.name for each in fields(World)]
    given = dict(settings)
    scale = given.pop("scale", 1.0)
    _at(where("world", "scale"), checked_number, "scale", scale, *SCALE)
    _refuse_unknown(given, [*known, "scale"], lambda *keys: where("world", *keys))
    for name, value in given.items():
        _at(where("world", name), _checked, name, value)
    try:
        return World(**given).scaled(scale) if scale != 1 else World(**given)
    except ValueError as error:  # what two settings cannot be together: the line of the one that is named
        name = next((name for name in given if name in str(error)), None)
        raise ValueError((where("world", name) if name else where("world")) + str(error)) from None


def _refuse_unknown(settings: Mapping[str, Any], known: list[str], where: Callable[..., str]) -> None:
    from difflib import get_close_matches

    for name in settings:
        if name not in known:
            close = get_close_matches(str(name), known, 1, 0.75)
            hint = f" (did you mean {close[0]}?)" if close else ""
            raise ValueError(f"{where(name)}there is no setting {name!r}{hint}; there are {', '.join(known)}")


def _at(place: str, make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call, and put the place before the words of an error."""
    try:
        return make(*args, **kwargs)
    except ValueError as error:
        raise ValueError(f"{place}{error}") from None


def _described(policy: Policy) -> dict[str, Any]:
    model = policy.model if policy.model is None or isinstance(policy.model, str) else type(policy.model).__name__
    found = {"name": policy.name, "order": policy.order, "model": model, "target": policy.target, "k": policy.k}
    return {name: value for name, value in found.items() if value is not None}


def _plain(value: Any) -> Any:
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
