"""What to simulate: settings, checked one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypeVar, cast

from .._typing import Json
from ..checks import check_number, check_whole
from ..errors import Message, RequestError
from ..text import did_you_mean
from .policies import as_policies
from .worlds.heart import World, check_world_setting

# name: (least, largest, whole number)
NUMBERS: dict[str, tuple[float, float, bool]] = {
    "years": (0.1, 200, False),
    "replicates": (1, 100_000, True),
    "random_state": (0, 2**63, True),
    "training_rows": (500, 10_000_000, True),
}
SCALE = (1e-4, 100.0)

Place = Callable[..., str]  # of keys: where in a file a setting is, with a colon; or nothing
_Made = TypeVar("_Made")


@dataclass(frozen=True, eq=False)
class Config:
    """What `simulate` does.

    Parameters
    ----------
    world : World
    policies : sequence of policies
        Names, objects or mappings, as `simulate` takes them; None means the default seven.
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
            raise RequestError(f"world must be a World; got {self.world!r}")
        object.__setattr__(self, "policies", as_policies(self.policies))
        for name, (low, high, whole) in NUMBERS.items():
            check = check_whole if whole else check_number
            object.__setattr__(self, name, check(name, getattr(self, name), low, high))
        if not isinstance(self.common_random_numbers, bool):
            raise RequestError(f"common_random_numbers must be true or false; got {self.common_random_numbers!r}")
        names = [policy.name for policy in self.policies]
        reference = names[0] if self.reference is None else self.reference
        if reference not in names:
            raise RequestError(f"reference must be one of the policies ({', '.join(names)}); got {reference!r}")
        object.__setattr__(self, "reference", reference)

    def changed(self, **settings: Any) -> Config:
        """Return a copy with the settings that are not None in place of those here."""
        settings = {name: value for name, value in settings.items() if value is not None}
        if "policies" in settings:
            settings.setdefault("reference", self._reference_within(settings["policies"]))
        return replace(self, **settings)

    def to_dict(self) -> Json:
        """Return plain values, as a configuration file holds them; a fitted model appears by its type."""
        settings = {each.name: getattr(self, each.name) for each in fields(self)}
        world = {name: _as_lists(value) for name, value in asdict(self.world).items()}
        return settings | {"world": world, "policies": [policy.describe() for policy in self.policies]}

    def _reference_within(self, policies: object) -> str | None:
        names = [policy.name for policy in as_policies(policies)]
        return self.reference if self.reference in names else None


def make_config(settings: Mapping[str, object], where: Place = lambda *keys: "") -> Config:
    """Make a `Config` from plain settings; `where(key, …)` returns where in a file a setting is, for errors.

    Examples
    --------
    >>> make_config({"years": 2, "world": {"scale": 0.1}}).world.waiting_at_start
    360
    >>> make_config({"yaers": 2})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lifeyears.errors.RequestError: there is no setting 'yaers' (did you mean 'years'?); there are world, policies, ...
    """
    _refuse_unknown(settings, [each.name for each in fields(Config)], where)
    chosen: Json = dict(settings)
    for name, (low, high, whole) in NUMBERS.items():
        if name in chosen:
            check = check_whole if whole else check_number
            _call_at(where(name), check, name, chosen[name], low, high)
    policies = chosen.get("policies")
    if policies is not None:
        if isinstance(policies, list):
            for number, each in enumerate(policies):
                _call_at(where("policies", number), as_policies, [each], by_key=True)
        chosen["policies"] = _call_at(where("policies"), as_policies, policies, by_key=True)
    if "world" in chosen:
        chosen["world"] = _make_world(chosen["world"], where)
    names = ("reference", "common_random_numbers")
    return _call_at(next((where(name) for name in names if name in chosen), ""), Config, **chosen)


def _make_world(settings: object, where: Place) -> World:
    if not isinstance(settings, Mapping):
        raise RequestError(f"{where('world')}world must hold settings, such as listed_per_year: 4446; got {settings!r}")
    chosen = dict(settings)
    scale = _call_at(where("world", "scale"), check_number, "scale", chosen.pop("scale", 1.0), *SCALE)
    known = [each.name for each in fields(World)]
    _refuse_unknown(chosen, [*known, "scale"], lambda *keys: where("world", *keys))
    for name, value in chosen.items():
        _call_at(where("world", name), check_world_setting, name, value)
    try:
        world = World(**chosen)
        return world.scaled(scale) if scale != 1 else world
    except RequestError as error:  # settings that exclude each other: the line of the first of them in the file
        concerned = cast("tuple[str, ...]", error.parameters.get("names", ()))
        name = next((name for name in chosen if name in concerned), None)
        raise _at(where("world", name) if name else where("world"), error) from None


def _refuse_unknown(settings: Mapping[str, object], known: list[str], where: Place) -> None:
    for name in settings:
        if name not in known:
            hint = did_you_mean(str(name), known)
            raise RequestError(f"{where(name)}there is no setting {name!r}{hint}; there are {', '.join(known)}")


def _call_at(place: str, make: Callable[..., _Made], *args: object, **kwargs: object) -> _Made:
    """Call, and put the place before the words of an error."""
    try:
        return make(*args, **kwargs)
    except RequestError as error:
        raise _at(place, error) from None


def _at(place: str, error: RequestError) -> RequestError:
    return RequestError(Message(place, error.problem), hint=error.hint, code=error.code, **error.parameters)


def _as_lists(value: object) -> object:
    return [_as_lists(each) for each in value] if isinstance(value, (list, tuple)) else value
