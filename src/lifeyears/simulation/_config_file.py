"""Configuration files: YAML (JSON is YAML too) or TOML, with errors that name the line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FileReadError, MissingFileError, RequestError
from ._config import Config, make_config

if TYPE_CHECKING:
    import yaml

Key = tuple[object, ...]
DEEPEST = 6


def read_config(path: str | Path) -> Config:
    r"""Read what to simulate from a file.

    Parameters
    ----------
    path : str or Path
        ``.yaml``, ``.yml``, ``.json`` or ``.toml``. Keys are those of `Config`; those of `World` stand
        under ``world``, with ``scale`` to shrink it.

    Returns
    -------
    Config
        What the file does not set has its default.

    Raises
    ------
    RequestError
        For an unknown key, a wrong type or an impossible value: the message names the file and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.json"
    >>> _ = path.write_text('{"years": 2,\n "replicates": 0}')
    >>> read_config(path)
    Traceback (most recent call last):
    lifeyears.errors.RequestError: small.json, line 2: replicates must be at least 1; got 0
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise MissingFileError(f"there is no file {path}", path=str(path)) from None
    except OSError as error:
        raise FileReadError(f"{path} cannot be read: {error.strerror or error}", path=str(path)) from None
    except UnicodeDecodeError as error:
        raise RequestError(f"{path.name} is not UTF-8 text (byte {error.start:,}): save it as UTF-8") from None
    readers = {".yaml": _read_yaml, ".yml": _read_yaml, ".json": _read_json, ".toml": _read_toml}
    if path.suffix.lower() not in readers:
        raise RequestError(f"{path.name}: a configuration is a .yaml, .yml, .json or .toml file")
    try:
        settings, lines = readers[path.suffix.lower()](path.name, text)
    except RecursionError:
        raise RequestError(f"{path.name}: settings within settings within settings: no setting is that deep") from None
    if settings is None:
        settings = {}
    if not isinstance(settings, dict):
        raise RequestError(f"{path.name}: a configuration holds settings, such as years: 10; found {settings!r}")

    def where(*keys: object) -> str:
        for length in range(len(keys), 0, -1):
            if keys[:length] in lines:
                return f"{path.name}, line {lines[keys[:length]]}: "
        return f"{path.name}: "

    return make_config(settings, where)


def _read_yaml(name: str, text: str) -> tuple[object, dict[Key, int]]:
    import yaml

    loader = None
    try:
        loader = yaml.SafeLoader(text)  # refuses control characters here
        node = loader.get_single_node()
        lines: dict[Key, int] = {}
        if node is not None:
            _note_lines(node, (), lines, name)
        return (None if node is None else _construct(loader, node, name)), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise RequestError(f"{name}{line}: this is not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise RequestError(f"{name}: this is not YAML: {error}") from None
    finally:
        if loader is not None:
            loader.dispose()


def _construct(loader: yaml.SafeLoader, node: yaml.Node, name: str) -> object:
    try:
        return loader.construct_document(node)
    except (ValueError, OverflowError) as error:  # an impossible date, a number of thousands of digits
        line = node.start_mark.line + 1
        raise RequestError(f"{name}, from line {line} on: a value cannot be read: {error}") from None


def _note_lines(node: yaml.Node, keys: Key, lines: dict[Key, int], name: str) -> None:
    """Note the line of every key and every entry of a list; a repeated key is an error."""
    if len(keys) > DEEPEST:  # no setting is: an anchor that holds itself, perhaps
        return
    if node.id == "mapping":
        for key, value in node.value:
            if key.id != "scalar":
                raise RequestError(f"{name}, line {key.start_mark.line + 1}: a setting has a plain name")
            here = (*keys, key.value)
            line = key.start_mark.line + 1
            if here in lines:
                raise RequestError(f"{name}, line {line}: {key.value} is already set in line {lines[here]}")
            lines[here] = line
            _note_lines(value, here, lines, name)
    elif node.id == "sequence":
        for number, value in enumerate(node.value):
            lines[(*keys, number)] = value.start_mark.line + 1
            _note_lines(value, (*keys, number), lines, name)


def _read_json(name: str, text: str) -> tuple[object, dict[Key, int]]:
    try:
        settings = json.loads(text)
    except json.JSONDecodeError as error:
        raise RequestError(f"{name}, line {error.lineno}: this is not JSON: {error.msg}") from None
    except ValueError as error:  # a number of thousands of digits
        raise RequestError(f"{name}: a value cannot be read: {error}") from None
    return settings, _find_lines(settings, text, lambda key: rf'"{re.escape(key)}"\s*:')


def _read_toml(name: str, text: str) -> tuple[object, dict[Key, int]]:
    import tomllib

    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        position = re.search(r"line (\d+)", str(error))
        line = f", line {position.group(1)}" if position else ""
        raise RequestError(f"{name}{line}: this is not TOML: {error}") from None
    return settings, _find_lines(settings, text, lambda key: rf"^\s*\[*\s*{re.escape(key)}\b")


def _find_lines(settings: object, text: str, pattern: Callable[[str], str]) -> dict[Key, int]:
    """Find the line in which each key first appears: names of the world's settings are not used elsewhere."""
    lines: dict[Key, int] = {}
    if not isinstance(settings, dict):
        return lines
    world = settings.get("world")
    inner = list(world) if isinstance(world, dict) else []
    for keys in [*((key,) for key in settings), *(("world", key) for key in inner)]:
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(pattern(str(keys[-1])), line):
                lines[keys] = number
                break
    return lines
