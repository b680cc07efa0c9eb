"""Saving models without pickle: a folder of JSON, plain arrays and LightGBM's own text.

```
model/
  model.json      format, schema, classes and values; arrays and boosters by name
  arrays.npz      numbers; no object arrays
  booster_0.txt   LightGBM's text, one file per booster
  SHA256SUMS      checksums of all the above
```

Loading creates only classes that the packages list as saved (`SAVED_CLASSES`) or that are registered in the catalogue
and have a `from_state` (by their key; through `from_state`, or by their parameters if they were not fitted), from
values; nothing in the folder is executed, and a file whose checksum does not match is not read. Checksums find damage,
not forgery: whoever can write the folder can write matching checksums. Trees are therefore checked before LightGBM,
which trusts its input, reads them; still, load models only from people you trust.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from glob import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from . import allocation, catalogue, ranking
from ._files import write_to_disk
from ._typing import AnyArray, Json
from ._version import __version__
from .data import TablePreprocessor
from .errors import ExistingFileError, FileReadError, Message, ModelFileError, Setting, UnsupportedModelError
from .models import AdministrativeCensoring, Cox, DeepHit, DeepSurv, KaplanMeier, WeibullAFT
from .models.fitting import Baseline, LifeTable
from .ranking.trees import check_booster_text
from .relevance import Diagnostics
from .text import list_values

if TYPE_CHECKING:
    import lightgbm
    import torch

FORMAT, SCHEMA = "lifeyears model", 1
ADDED: dict[str, dict[str, object]] = {"TablePreprocessor": {"drop_first": False}}  # settings that older files lack
_CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        KaplanMeier,
        Cox,
        WeibullAFT,
        DeepSurv,
        DeepHit,
        AdministrativeCensoring,
        Baseline,
        LifeTable,
        TablePreprocessor,
        Diagnostics,
        *ranking.SAVED_CLASSES,
        *allocation.SAVED_CLASSES,
    )
}


def save(
    model: object, path: str | os.PathLike[str], overwrite: bool = False, also: Mapping[str, str] | None = None
) -> Path:
    """Write a fitted model to a folder.

    Parameters
    ----------
    model : model, ranker (by donor type, of life-years gained) or Pipeline of ours
        A scikit-learn Pipeline may hold a `TablePreprocessor` and a model of ours.
    path : path
        The folder to create. It is written completely or not at all.
    overwrite : bool, default False
        Whether to replace a saved model at this path.
    also : dict of file name to text, optional
        Files to keep, with checksums, beside the model; `load` does not read them.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ExistingFileError
        If the folder exists and must not be replaced.
    FileReadError
        If the folder cannot be created.
    UnsupportedModelError
        If the model holds an object that cannot be saved without pickle.

    Examples
    --------
    >>> import tempfile, lifeyears as ly
    >>> d = ly.data.simulate_registry(n=200)
    >>> X = ly.data.TablePreprocessor().fit_transform(d.X)
    >>> model = ly.models.KaplanMeier(tau=10).fit(X, d.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = ly.load(ly.save(model, folder + "/km"))
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    path = Path(path).resolve()  # for a link, the folder it points to is replaced, and the link stays
    set_aside = _find_set_aside(path)
    if set_aside is not None:
        set_aside.rename(path)
    if path.exists() and not overwrite:
        raise ExistingFileError(
            f"{path} exists", hint=Message("Choose another folder, or use ", Setting("overwrite", True), ".")
        )
    if path.exists() and not _is_saved_model(path):
        raise ExistingFileError(f"{path} exists and is not a saved model alone: it will not be replaced")
    writer = _Writer()
    check_is_fitted(model)
    content = {"format": FORMAT, "schema": SCHEMA, "lifeyears": __version__, "summary": _summarise(model)}
    content["model"] = writer.encode(model, "the model")
    files = {"model.json": json.dumps(content, indent=1, ensure_ascii=False).encode(), **writer.files()}
    files |= {name: text.encode() for name, text in (also or {}).items()}
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items()))
    files["SHA256SUMS"] = sums.encode()
    beside = _make_folder_beside(path)
    try:
        for name, data in files.items():
            write_to_disk(beside / name, data)
        os.chmod(beside, 0o755)
        if path.exists():
            old = path.with_name(f".{path.name}.old-{os.getpid()}")
            path.rename(old)
            try:
                beside.rename(path)
            except BaseException:
                old.rename(path)
                raise
            shutil.rmtree(old, ignore_errors=True)
        else:
            beside.rename(path)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return path


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote; its predictions are the same to the bit.

    Parameters
    ----------
    path : path
        The folder that `save` wrote.

    Returns
    -------
    model, ranker, TablePreprocessor or Pipeline
        Fitted, of the class that was saved.

    Raises
    ------
    ModelFileError
        If the folder is not a saved model, was changed or truncated, or was written by a newer version.

    Examples
    --------
    >>> import tempfile, lifeyears as ly
    >>> model = ly.models.KaplanMeier().fit([[0], [0]], ([1, 1], [1.0, 3.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = ly.load(ly.save(model, folder + "/km"))
    >>> again.predict([[0]])
    array([2.])
    """
    path = Path(path)
    path = _find_set_aside(path) or path
    if not path.is_dir():
        raise ModelFileError(f"{path} is not a folder; lifeyears.save writes a model as a folder")
    files = _read_files(path)
    try:
        content = json.loads(files["model.json"])
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path}/model.json is not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError(f"{path} does not hold a model that lifeyears.save wrote")
    schema = content.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or not 1 <= schema <= SCHEMA:
        raise ModelFileError(
            f"{path} was written by lifeyears {content.get('lifeyears')}, in schema {content.get('schema')}; this "
            f"version, {__version__}, reads schemas up to {SCHEMA}",
            hint="Update lifeyears.",
        )
    try:
        model = _Reader(files).decode(content["model"])
        if not hasattr(model, "predict") and not hasattr(model, "transform"):
            raise ModelFileError(f"{path} does not hold a model but a {type(model).__name__}")
        check_is_fitted(model)
    except ModelFileError:
        raise
    except Exception as error:  # a forged file may cause any error in the libraries that read it
        raise ModelFileError(f"{path} is not a model as lifeyears writes them: {error}") from None
    return model


def _make_folder_beside(path: Path) -> Path:
    """Create a temporary folder beside the one to be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise FileReadError(f"{path} cannot be written: {error.strerror or error}", path=str(path)) from error


def _find_set_aside(path: Path) -> Path | None:
    """Return the model that `save` had set aside when it was killed, before the new one took its place."""
    if path.exists():
        return None
    models = [each for each in sorted(path.parent.glob(f".{escape(path.name)}.old-*")) if _is_saved_model(each)]
    return models[-1] if models else None


def _is_saved_model(path: Path) -> bool:
    """Return whether a folder holds a saved model and nothing else."""
    try:
        return bool(json.loads(_read_files(path)["model.json"]).get("format") == FORMAT)
    except (ModelFileError, ValueError, AttributeError):
        return False


def _read_files(path: Path) -> dict[str, bytes]:
    """Read all files of the folder, and compare their checksums before anything is parsed."""
    try:
        lines = (path / "SHA256SUMS").read_bytes().decode("ascii").splitlines()
    except FileNotFoundError:
        if (path / "manifest.json").exists():
            raise ModelFileError(f"{path} is a run, not a model: `lifeyears fit` makes a model") from None
        raise ModelFileError(f"{path} does not hold a model that lifeyears.save wrote: SHA256SUMS is missing") from None
    except UnicodeDecodeError:
        raise ModelFileError(f"{path}/SHA256SUMS was changed: it is not plain text") from None
    files = {}
    for line in lines:
        stated, _, name = line.partition("  ")
        if not name or Path(name).name != name or name.startswith("."):
            raise ModelFileError(f"{path}/SHA256SUMS was changed: {line!r} is not a checksum and a file name")
        try:
            data = (path / name).read_bytes()
        except (OSError, ValueError):
            raise ModelFileError(f"{path}/{name} is missing") from None
        if hashlib.sha256(data).hexdigest() != stated:
            raise ModelFileError(f"{path}/{name} was changed or truncated: its checksum does not match")
        files[name] = data
    unknown = {file.name for file in path.iterdir()} - set(files) - {"SHA256SUMS"}
    if unknown or "model.json" not in files:
        problem = f"it also holds {list_values(sorted(unknown))}" if unknown else "model.json is missing"
        raise ModelFileError(f"{path} is not as lifeyears.save wrote it: {problem}")
    return files


def _summarise(model: object) -> Json:
    """Describe a model to a reader of the file: its class and its features; `load` does not use the summary."""
    first, last = (model.steps[0][1], model.steps[-1][1]) if hasattr(model, "steps") else (model, model)
    summary: Json = {"class": type(last).__name__}
    if hasattr(last, "tau_"):
        summary["horizon"] = last.tau_
    if hasattr(first, "feature_names_in_"):
        summary["features"] = [str(name) for name in first.feature_names_in_]
    if hasattr(last, "report_"):
        summary["report"] = str(last.report_)
    return summary


REGISTERED = {"models": catalogue.models, "rankers": catalogue.rankers}


def _find_registered(value: object) -> tuple[str, str] | None:
    """Return the group and key of a method that is registered in the catalogue, by its class."""
    for group, methods in REGISTERED.items():
        spec = methods.find(value)
        if spec is not None:
            return group, spec.key
    return None


def _load_registered(group: str, key: str) -> Any:
    """Load the class of a method of another package: looked up by its key, never imported by a name in the file."""
    if group not in REGISTERED or key not in REGISTERED[group]:
        raise ModelFileError(
            f"model.json holds {key!r}, which is not among the registered {group}",
            hint="Install the package that supplies it, or register it with lifeyears.catalogue.",
        )
    cls = REGISTERED[group][key].load()
    if not hasattr(cls, "from_state"):
        raise ModelFileError(f"model.json holds {key!r}, whose class has no from_state()")
    return cls


def _is_fitted(value: object) -> bool:
    """Return whether a method has been fitted; one that is no scikit-learn estimator counts as fitted."""
    if not (hasattr(value, "fit") and hasattr(value, "get_params")):
        return True
    try:
        check_is_fitted(value)
    except NotFittedError:
        return False
    return True


class _Writer:
    """Turns values into JSON; arrays and boosters go to files of their own."""

    def __init__(self) -> None:
        self.arrays: dict[str, AnyArray] = {}
        self.boosters: dict[int, tuple[str, str]] = {}  # id → name, text
        self._alive: list[object] = []

    def files(self) -> dict[str, bytes]:
        """Return the files of arrays and boosters."""
        buffer = BytesIO()
        np.savez(buffer, **self.arrays)  # type: ignore[arg-type]
        return {"arrays.npz": buffer.getvalue(), **{name: text.encode() for name, text in self.boosters.values()}}

    def encode(self, value: object, where: str) -> object:
        """Return a value as JSON holds it; `where` names it in error messages."""
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if np.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return self.encode(value.item(), where)
        if isinstance(value, np.ndarray):
            return self._encode_array(value, where)
        if isinstance(value, (list, tuple)):
            items = [self.encode(item, where) for item in value]
            return items if isinstance(value, list) else {"tuple": items}
        if isinstance(value, dict):
            return {"dict": [[self.encode(k, where), self.encode(v, where)] for k, v in value.items()]}
        if isinstance(value, pd.DataFrame):
            columns = [[self.encode(name, where), self._encode_column(value[name], where)] for name in value.columns]
            index = [self.encode(value.index.name, where), self.encode(value.index.to_numpy(), where)]
            return {"table": [index, columns]}
        return self._encode_object(value, where)

    def _encode_array(self, value: AnyArray, where: str) -> Json:
        if value.dtype == object:
            return {"names": [self.encode(item, where) for item in value.tolist()]}
        if value.dtype.kind not in "fiubU":
            raise UnsupportedModelError(f"{where} holds an array of {value.dtype}, which cannot be saved")
        name = f"a{len(self.arrays)}"
        self.arrays[name] = value
        return {"array": name}

    def _encode_column(self, value: pd.Series, where: str) -> list[object]:
        if not isinstance(value.dtype, pd.CategoricalDtype):
            return [self.encode(value.to_numpy(), where)]
        categories = self.encode(value.cat.categories.to_numpy(), where)
        return [self.encode(value.cat.codes.to_numpy(), where), categories, bool(value.cat.ordered)]

    def _encode_object(self, value: Any, where: str) -> Json | None:
        kind = type(value).__name__
        if kind == "Booster":
            if id(value) not in self.boosters:
                self._alive.append(value)  # an id is unique only while its object lives
                self.boosters[id(value)] = (
                    f"booster_{len(self.boosters)}.txt",
                    value.model_to_string(num_iteration=-1),
                )
            return {"booster": self.boosters[id(value)][0]}
        if kind == "Pipeline":
            return {"pipeline": [[name, self.encode(step, f"step {name}")] for name, step in value.steps]}
        if kind == "RandomState" or kind == "Generator":
            return None  # a fitted model no longer needs its random state
        if kind == "Sequential":
            state = {name: tensor.numpy() for name, tensor in value.state_dict().items()}
            return {"network": self.encode(state, where)}
        if type(value) is not _CLASSES.get(kind) and (found := _find_registered(value)) is not None:
            group, key = found
            if not hasattr(value, "to_state"):
                raise UnsupportedModelError(
                    f"{where} holds {key!r}, which cannot be saved: its class has no to_state() and from_state()"
                )
            if not _is_fitted(value):
                return {"unfitted": [group, key, self.encode(value.get_params(deep=False), where)]}
            return {"registered": [group, key, self.encode(value.to_state(), where)]}
        if type(value) is not _CLASSES.get(kind):
            raise UnsupportedModelError(
                f"{where} holds a {kind}, which lifeyears cannot save without pickle: it saves its own models, "
                "rankers, TablePreprocessor, and Pipelines of these"
            )
        if is_dataclass(value):
            state = {field.name: getattr(value, field.name) for field in fields(value)}
        else:
            state = dict(vars(value))
        return {"class": kind, "state": {name: self.encode(item, f"{kind}.{name}") for name, item in state.items()}}


class _Reader:
    """Turns JSON back into values; it accepts only what `_Writer` writes."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.boosters: dict[str, lightgbm.Booster] = {}
        try:
            with np.load(BytesIO(files["arrays.npz"]), allow_pickle=False) as archive:
                self.arrays: dict[str, AnyArray] = {name: archive[name] for name in archive.files}
        except (ValueError, zipfile.BadZipFile, KeyError, EOFError) as error:
            raise ModelFileError(f"arrays.npz cannot be read: {error}") from None

    def decode(self, value: Any) -> Any:
        """Return the value that `_Writer.encode` had encoded."""
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if "class" in value:
            return self._decode_object(value["class"], value["state"])
        (kind, content), *rest = value.items()
        if rest:
            raise ModelFileError(f"model.json holds something unknown: {sorted(value)}")
        if kind == "float":
            return float(content)
        if kind == "tuple":
            return tuple(self.decode(item) for item in content)
        if kind == "dict":
            return {self.decode(k): self.decode(v) for k, v in content}
        if kind == "names":
            names = np.empty(len(content), dtype=object)
            names[:] = [self.decode(item) for item in content]
            return names
        if kind == "array":
            return self.arrays[content]
        if kind == "table":
            (name, index), columns = content
            table = {self.decode(each): self._decode_column(*values) for each, values in columns}
            return pd.DataFrame(table).set_axis(pd.Index(self.decode(index), name=self.decode(name)), axis=0)
        if kind == "booster":
            return self._read_booster(content)
        if kind == "pipeline":
            from sklearn.pipeline import Pipeline

            return Pipeline([(name, self.decode(step)) for name, step in content])
        if kind == "network":
            return _NetworkWeights(self.decode(content))
        if kind == "registered":
            return self._decode_registered(*content)
        if kind == "unfitted":
            return self._decode_unfitted(*content)
        raise ModelFileError(f"model.json holds something unknown: {kind!r}")

    def _decode_unfitted(self, group: str, key: str, params: Json) -> object:
        """Return a method of another package as its parameters describe it: the base that a ranker was built with."""
        try:
            return _load_registered(group, key)(**self.decode(params))
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"model.json holds parameters that {key!r} refuses: {error}") from error

    def _decode_registered(self, group: str, key: str, state: Json) -> object:
        """Return a fitted method of another package, by its state."""
        cls = _load_registered(group, key)
        try:
            return cls.from_state(self.decode(state))
        except ModelFileError:
            raise
        except Exception as error:
            raise ModelFileError(f"model.json holds a state that {key!r} refuses: {error}") from error

    def _decode_column(self, values: Json, categories: Json | None = None, ordered: bool = False) -> object:
        if categories is None:
            return self.decode(values)
        return pd.Categorical.from_codes(self.decode(values), self.decode(categories), ordered=ordered)

    def _read_booster(self, name: str) -> lightgbm.Booster:
        import lightgbm

        if name not in self.boosters:
            text = check_booster_text(self.files[name].decode())
            self.boosters[name] = lightgbm.Booster(model_str=text)
        return self.boosters[name]

    def _decode_object(self, kind: str, state: Json) -> Any:
        if kind not in _CLASSES:
            raise ModelFileError(f"model.json names a class that lifeyears does not save: {kind!r}")
        cls: Any = _CLASSES[kind]
        values = {name: self.decode(item) for name, item in state.items()}
        settings = set(cls().get_params(deep=False)) if not is_dataclass(cls) else {field.name for field in fields(cls)}
        for name in values:
            fitted = not is_dataclass(cls) and (name.endswith("_") or name.startswith("_"))  # and shadows no method
            if name not in settings and (not fitted or name.startswith("__") or hasattr(cls, name)):
                raise ModelFileError(f"model.json gives {kind} an attribute it cannot have: {name!r}")
        values = {**ADDED.get(kind, {}), **values}
        if settings - set(values):
            raise ModelFileError(f"model.json leaves out {', '.join(sorted(settings - set(values)))} of {kind}")
        for name, item in values.items():
            if isinstance(item, _NetworkWeights):
                values[name] = item.build(cls, values)
        if is_dataclass(cls):
            return _CLASSES[kind](**values)
        model = cls.__new__(cls)
        vars(model).update(values)
        return model


class _NetworkWeights:
    """The weights of a network, which is built once the settings beside it are known."""

    def __init__(self, state: dict[str, AnyArray]) -> None:
        self.state = state

    def build(self, cls: type, values: Mapping[str, Any]) -> torch.nn.Module:
        """Build the network; its layers are settings among the values, or attributes of the class."""
        from .models.deep import import_networks

        side = import_networks()
        *_, last = [name for name in self.state if name.endswith(".weight")]
        first = next(iter(self.state))
        settings = {"batch_norm": False, **vars(cls), **values}
        network = side.build_network(
            self.state[first].shape[1],
            settings["hidden"],
            self.state[last].shape[0],
            dropout=settings["dropout"],
            batch_norm=settings["batch_norm"],
            bias=f"{last.removesuffix('.weight')}.bias" in self.state,
        )
        network.load_state_dict({name: side.torch.from_numpy(np.array(value)) for name, value in self.state.items()})
        network.eval()
        return network
