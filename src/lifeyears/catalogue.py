"""The catalogue: every survival model, relevance estimator, ranking method, metric and policy, by key.

It is a leaf: specifications and lazy lookup only. Each package declares its methods in its own ``_specs.py``; other
distributions add theirs by entry points (``lifeyears.models``, ``lifeyears.estimators``, ``lifeyears.rankers``,
``lifeyears.metrics``, ``lifeyears.policies``), and Python code by `Catalogue.register`. Nothing is imported before the
first lookup. What a method supports is read from its class, never from here.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import LifeyearsWarning, MissingExtraError, RequestError
from .text import did_you_mean, list_values

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

__all__ = ["Catalogue", "MethodSpec", "estimators", "metrics", "models", "policies", "rankers"]


@dataclass(frozen=True)
class MethodSpec:
    """A method: how to call it, how to show it, and where to find it.

    Parameters
    ----------
    key : str
        The name in options, files and tables of results, such as "Cox".
    label : str
        The name for people, such as "Cox".
    factory : str or callable
        What makes one: "package.module:Class", "path/to/file.py:Class", or the class itself.
    extra : str, optional
        The optional dependency that it needs, such as "deep".
    supports : mapping, optional
        What the caller of `Catalogue.register` states about it, beside what is read from the class.

    Examples
    --------
    >>> MethodSpec("half", "One half", "fractions:Fraction").build(1, 2)
    Fraction(1, 2)
    """

    key: str
    label: str
    factory: str | Callable[..., Any]
    extra: str | None = None
    supports: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Any:
        """Import the class or function behind the key."""
        if not isinstance(self.factory, str):
            return self.factory
        place, _, name = self.factory.rpartition(":")
        try:
            module = _module_of_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
        except ModuleNotFoundError as error:
            hint = f'Install it with: pip install "lifeyears[{self.extra}]".' if self.extra else ""
            raise MissingExtraError(f"{self.key} cannot be imported: {error}", hint=hint, key=self.key) from error
        made: Any = module
        for part in name.split("."):
            if not hasattr(made, part):
                raise RequestError(f"{place} has no {part!r}, which {self.key!r} names", key=self.key)
            made = getattr(made, part)
        return made

    def build(self, *args: Any, **settings: Any) -> Any:
        """Make one, with settings for its constructor."""
        return self.load()(*args, **settings)

    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters of its constructor or function: what it can be told."""
        signature = inspect.signature(self.load())
        return tuple(name for name, parameter in signature.parameters.items() if parameter.kind not in _VARIADIC)

    def build_with(self, *args: Any, **settings: Any) -> Any:
        """Make one, with those of the settings that its constructor takes."""
        known = self.parameters()
        return self.build(*args, **{name: value for name, value in settings.items() if name in known})

    def origin(self) -> dict[str, str]:
        """Return what a manifest records: the factory, and its distribution with version or its file with hash."""
        if not isinstance(self.factory, str):
            made_by = getattr(self.factory, "func", self.factory)  # of a partial
            module, name = made_by.__module__, made_by.__qualname__
        else:
            module, _, name = self.factory.rpartition(":")
        if module.endswith(".py"):
            content = Path(module).read_bytes()
            return {"factory": f"{Path(module).name}:{name}", "sha256": hashlib.sha256(content).hexdigest()}
        top = module.partition(".")[0]
        # an editable installation has no files to look the package up by: then the names may be the same
        for distribution in (*metadata.packages_distributions().get(top, ()), top):
            try:
                version = metadata.version(distribution)
            except metadata.PackageNotFoundError:
                continue
            return {"factory": f"{module}:{name}", "distribution": distribution, "version": version}
        return {"factory": f"{module}:{name}"}


class Catalogue(Mapping[str, MethodSpec]):
    """Methods of one kind, in order, by key.

    Parameters
    ----------
    kind : str
        What the methods are, in the singular, for messages.
    group : str
        Their entry-point group is ``lifeyears.<group>``.
    declared_in : str
        The module whose ``SPECS`` are those of Lifeyears.

    Examples
    --------
    >>> import lifeyears as ly
    >>> list(ly.catalogue.models)[:3]
    ['KM', 'Cox', 'AFT']
    >>> ly.catalogue.models["Coxx"]  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    lifeyears.catalogue.UnknownMethodError: there is no survival model 'Coxx' (did you mean 'Cox'?). Known are KM, ...
    """

    def __init__(self, kind: str, group: str, declared_in: str) -> None:
        self.kind, self.group, self._declared_in = kind, group, declared_in
        self._specs: dict[str, MethodSpec] | None = None

    def register(
        self, key: str, factory: str | Callable[..., Any], label: str | None = None, **supports: Any
    ) -> MethodSpec:
        """Add a method, or replace one that was registered before.

        Parameters
        ----------
        key : str
            A new key; those of Lifeyears cannot be replaced.
        factory : str or callable
            "package.module:Class", or the class itself.
        label : str, optional
            The name for people; the key unless given.
        **supports
            What to know about the method beside what is read from the class.

        Returns
        -------
        MethodSpec
        """
        if not key or key != key.strip() or any(mark in key for mark in ',:/\\"\n'):
            raise RequestError(f"{key!r} cannot be a key: use letters, digits, spaces, - and _", key=key)
        known = self._all()
        if key in known and known[key] in self._declared():
            raise RequestError(f"the {self.kind} {key!r} is one of Lifeyears and cannot be replaced", key=key)
        known[key] = MethodSpec(key, label or key, factory, supports=supports)
        return known[key]

    def resolve(self, name: str) -> MethodSpec:
        """Find a method by its key in any case, or make one from "package.module:Class" or "./file.py:Class".

        Only for names that the user of this process wrote: a request or a file from elsewhere is looked up by key.
        """
        by_case = {key.casefold(): key for key in self}
        if name.casefold() in by_case:
            return self[by_case[name.casefold()]]
        if ":" not in name:
            return self[name]
        place, _, attribute = name.rpartition(":")
        if place.endswith(".py"):
            path = Path(place).expanduser().resolve()
            if not path.is_file():
                raise RequestError(f"there is no file {place}, which {name!r} names", key=name)
            place = str(path)
        spec = MethodSpec(attribute.rpartition(".")[2], attribute.rpartition(".")[2], f"{place}:{attribute}")
        if not callable(spec.load()):
            raise RequestError(f"{name!r} names something that is no class or function", key=name)
        if spec.key in self and self[spec.key].factory != spec.factory:
            raise RequestError(f"{name!r} would have the key {spec.key!r}, which another {self.kind} has", key=name)
        self._all()[spec.key] = spec
        return spec

    def registered(self) -> tuple[MethodSpec, ...]:
        """Return the methods that are not of Lifeyears: of entry points, of `register` and of files."""
        declared = {spec.key for spec in self._declared()}
        return tuple(spec for spec in self.values() if spec.key not in declared)

    def adopt(self, spec: MethodSpec) -> None:
        """Take over a specification that came with a plan, in a worker process."""
        self._all().setdefault(spec.key, spec)

    def find(self, made: object) -> MethodSpec | None:
        """Return the specification whose factory made an object, by its class; None if there is none."""
        target = type(made)
        for spec in self.values():
            if not isinstance(spec.factory, str):
                matches = spec.factory is target
            else:
                place, _, name = spec.factory.rpartition(":")
                module = sys.modules.get(_file_module_name(Path(place)) if place.endswith(".py") else place)
                matches = module is not None and getattr(module, name, None) is target
            if matches:
                return spec
        return None

    def __getitem__(self, key: str) -> MethodSpec:
        known = self._all()
        if key not in known:
            close = did_you_mean(key, known) if isinstance(key, str) else ""
            raise UnknownMethodError(f"there is no {self.kind} {key!r}{close}. Known are {list_values(known, 40)}")
        return known[key]

    def __contains__(self, key: object) -> bool:
        return key in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._all()))

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"<catalogue of {len(self)} {self.group}: {list_values(self, 40)}>"

    def _declared(self) -> tuple[MethodSpec, ...]:
        return tuple(importlib.import_module(self._declared_in).SPECS)

    def _all(self) -> dict[str, MethodSpec]:
        if self._specs is None:
            specs = {spec.key: spec for spec in self._declared()}
            for point in metadata.entry_points(group=f"lifeyears.{self.group}"):
                if point.name in specs:
                    warnings.warn(
                        f"the entry point {point.name!r} of {point.value} is left out: a {self.kind} has this key",
                        LifeyearsWarning,
                        stacklevel=3,
                    )
                    continue
                specs[point.name] = MethodSpec(point.name, point.name, point.value)
            self._specs = specs
        return self._specs


class UnknownMethodError(RequestError, KeyError):
    """A key that the catalogue does not have."""

    default_code = "unknown_method"


def _file_module_name(path: Path) -> str:
    return f"_lifeyears_file_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"


def _module_of_file(path: Path) -> ModuleType:
    name = _file_module_name(path)
    if name not in sys.modules:
        found = importlib.util.spec_from_file_location(name, path)
        if found is None or found.loader is None:
            raise RequestError(f"{path} cannot be imported as a Python file")
        module = importlib.util.module_from_spec(found)
        sys.modules[name] = module
        try:
            found.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


models = Catalogue("survival model", "models", "lifeyears.models._specs")
estimators = Catalogue("relevance estimator", "estimators", "lifeyears.relevance._specs")
rankers = Catalogue("ranking method", "rankers", "lifeyears.ranking._specs")
metrics = Catalogue("metric", "metrics", "lifeyears.metrics._specs")
policies = Catalogue("policy", "policies", "lifeyears.simulation._specs")
