"""Saving models without pickle: a folder of JSON, plain arrays and LightGBM's own text.

```
model/
  model.json      what it is: format, schema, classes and values; arrays and boosters by name
  arrays.npz      numbers; no object arrays
  booster_0.txt   LightGBM's text, one file a booster
  SHA256SUMS      of all the above
```

Loading builds only classes named in `_CLASSES`, from values; nothing in the folder is executed, and a file whose
checksum does not fit is not even read. Checksums find damage, not forgery: whoever can write the folder can write
fitting sums. Trees are therefore checked before LightGBM, which trusts its input, reads them; still, load models from
people you trust.
"""

from __future__ import annotations

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
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from ._files import write_to_disk
from ._version import __version__
from .allocation import DonorTypeRanker, LifeYearsGained
from .allocation._gained import Life
from .allocation._typing_donors import DonorTypes
from .data import TablePreprocessor
from .models import AdministrativeCensoring, Cox, DeepHit, DeepSurv, KaplanMeier, WeibullAFT
from .models.fitting import Baseline, LifeTable
from .ranking import BootstrappedRanker, PseudoLabels, RankerReport
from .ranking._calibration import CalibrationMap
from .ranking._network import HIDDEN, YearsNetwork
from .ranking.splines._hazards import LineHazards
from .ranking.splines._phases import Stretch
from .ranking.splines._terms import Lines, Pairs
from .ranking.trees._boosters import HazardTrees, Phase, YearsTrees
from .ranking.trees._text import check_booster_text
from .relevance import Diagnostics

FORMAT, SCHEMA = "lifeyears model", 1
ADDED: dict[str, dict[str, Any]] = {"TablePreprocessor": {"drop_first": False}}  # settings that older files lack
_ESTIMATORS = (
    KaplanMeier,
    Cox,
    WeibullAFT,
    DeepSurv,
    DeepHit,
    AdministrativeCensoring,
    TablePreprocessor,
    BootstrappedRanker,
    DonorTypeRanker,
    LifeYearsGained,
)
_PARTS = (
    DonorTypes,
    Life,
    Baseline,
    LifeTable,
    CalibrationMap,
    YearsTrees,
    HazardTrees,
    Phase,
    LineHazards,
    Lines,
    Pairs,
    Stretch,
    YearsNetwork,
    RankerReport,
    PseudoLabels,
    Diagnostics,
)
_CLASSES = {cls.__name__: cls for cls in (*_ESTIMATORS, *_PARTS)}


class ModelFileError(ValueError):
    """A folder that is no model of ours, or not as it was written; the message says what is wrong."""


def save(model: Any, path: Any, overwrite: bool = False, also: Mapping[str, str] | None = None) -> Path:
    """Write a fitted model to a folder.

    Parameters
    ----------
    model : model, ranker (by donor type, of life-years gained) or Pipeline of ours
        A scikit-learn Pipeline may hold a `TablePreprocessor` and a model of ours.
    path : path
        The folder to make. It appears whole or not at all.
    overwrite : bool, default False
        Replace a model that is there already.
    also : dict of file name to text, optional
        Kept, and checksummed, with the model; `load` does not read it.

    Returns
    -------
    Path

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
    path = Path(path).resolve()  # through a link: the folder it points to is replaced, and the link stays
    left = _left_beside(path)
    if left is not None:
        left.rename(path)
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists: choose another folder, or overwrite=True")
    if path.exists() and not _is_saved_model(path):
        raise FileExistsError(f"{path} exists and is no saved model, or holds more than one: it will not be replaced")
    writer = _Writer()
    check_is_fitted(model)
    content = {"format": FORMAT, "schema": SCHEMA, "lifeyears": __version__, "summary": _summary(model)}
    content["model"] = writer.encoded(model, "the model")
    files = {"model.json": json.dumps(content, indent=1, ensure_ascii=False).encode(), **writer.files()}
    files |= {name: text.encode() for name, text in (also or {}).items()}
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items()))
    files["SHA256SUMS"] = sums.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
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


def load(path: Any) -> Any:
    """Read a model that `save` wrote; its predictions are the same to the bit.

    Parameters
    ----------
    path : path
        The folder that `save` made.

    Returns
    -------
    model, ranker, TablePreprocessor or Pipeline
        Fitted, of the class that was saved.

    Raises
    ------
    ModelFileError
        If the folder is no model of ours, was changed or cut short, or was written by a newer version.

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
    path = _left_beside(path) or path
    if not path.is_dir():
        raise ModelFileError(f"{path} is not a folder; lifeyears.save writes a model as a folder")
    files = _checked_files(path)
    try:
        content = json.loads(files["model.json"])
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path}/model.json is not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError(f"{path} holds no model that lifeyears.save wrote")
    schema = content.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or not 1 <= schema <= SCHEMA:
        raise ModelFileError(
            f"{path} was written by lifeyears {content.get('lifeyears')}, in schema {content.get('schema')}; this is "
            f"{__version__}, which reads up to {SCHEMA}: update lifeyears"
        )
    try:
        model = _Reader(files).decoded(content["model"])
        if not hasattr(model, "predict") and not hasattr(model, "transform"):
            raise ModelFileError(f"{path} holds no model, but a {type(model).__name__}")
        check_is_fitted(model)
    except ModelFileError:
        raise
    except Exception as error:  # whatever a forged file may bring about in the libraries that read it
        raise ModelFileError(f"{path} is not a model as lifeyears writes them: {error}") from None
    return model


def _left_beside(path: Path) -> Path | None:
    """The model that a `save` had moved aside when it was killed, before the new one took its place."""
    if path.exists():
        return None
    left = [each for each in sorted(path.parent.glob(f".{escape(path.name)}.old-*")) if _is_saved_model(each)]
    return left[-1] if left else None


def _is_saved_model(path: Path) -> bool:
    """Whether a folder holds a model of ours and nothing else."""
    try:
        return json.loads(_checked_files(path)["model.json"]).get("format") == FORMAT
    except (ModelFileError, ValueError, AttributeError):
        return False


def _checked_files(path: Path) -> dict[str, bytes]:
    """All files of the folder, their checksums compared before anything is read from them."""
    try:
        lines = (path / "SHA256SUMS").read_bytes().decode("ascii").splitlines()
    except FileNotFoundError:
        if (path / "manifest.json").exists():
            raise ModelFileError(f"{path} is a run, not a model: `lifeyears fit` makes a model") from None
        raise ModelFileError(f"{path} holds no model that lifeyears.save wrote: SHA256SUMS is missing") from None
    except UnicodeDecodeError:
        raise ModelFileError(f"{path}/SHA256SUMS was changed: it is not plain text") from None
    files = {}
    for line in lines:
        stated, _, name = line.partition("  ")
        if not name or Path(name).name != name or name.startswith("."):
            raise ModelFileError(f"{path}/SHA256SUMS was changed: {line!r} is no line of it")
        try:
            data = (path / name).read_bytes()
        except (OSError, ValueError):
            raise ModelFileError(f"{path}/{name} is missing") from None
        if hashlib.sha256(data).hexdigest() != stated:
            raise ModelFileError(f"{path}/{name} was changed or cut short: its checksum does not fit")
        files[name] = data
    strangers = {file.name for file in path.iterdir()} - set(files) - {"SHA256SUMS"}
    if strangers or "model.json" not in files:
        named = ", ".join(sorted(strangers)) or "no model.json"
        raise ModelFileError(f"{path} is not as lifeyears.save wrote it: {named}")
    return files


def _summary(model: Any) -> dict[str, Any]:
    """For a reader of the file: what it is and what it was trained on; nothing of it is used in loading."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    first = model.steps[0][1] if hasattr(model, "steps") else model
    summary: dict[str, Any] = {"class": type(last).__name__}
    if hasattr(last, "tau_"):
        summary["horizon"] = last.tau_
    if hasattr(first, "feature_names_in_"):
        summary["features"] = [str(name) for name in first.feature_names_in_]
    if hasattr(last, "report_"):
        summary["report"] = str(last.report_)
    return summary


class _Writer:
    """Values to JSON; arrays and boosters go to files of their own."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.boosters: dict[int, tuple[str, str]] = {}  # id → name, text
        self._alive: list[Any] = []

    def files(self) -> dict[str, bytes]:
        buffer = BytesIO()
        np.savez(buffer, **self.arrays)  # type: ignore[arg-type]
        return {"arrays.npz": buffer.getvalue(), **{name: text.encode() for name, text in self.boosters.values()}}

    def encoded(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if np.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return self.encoded(value.item(), where)
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, (list, tuple)):
            items = [self.encoded(item, where) for item in value]
            return items if isinstance(value, list) else {"tuple": items}
        if isinstance(value, dict):
            return {"dict": [[self.encoded(k, where), self.encoded(v, where)] for k, v in value.items()]}
        if isinstance(value, pd.DataFrame):
            columns = [[self.encoded(name, where), self._column(value[name], where)] for name in value.columns]
            index = [self.encoded(value.index.name, where), self.encoded(value.index.to_numpy(), where)]
            return {"table": [index, columns]}
        return self._object(value, where)

    def _array(self, value: np.ndarray, where: str) -> Any:
        if value.dtype == object:
            return {"names": [self.encoded(item, where) for item in value.tolist()]}
        if value.dtype.kind not in "fiubU":
            raise TypeError(f"{where} holds an array of {value.dtype}, which cannot be saved")
        name = f"a{len(self.arrays)}"
        self.arrays[name] = value
        return {"array": name}

    def _column(self, value: pd.Series, where: str) -> Any:
        if not isinstance(value.dtype, pd.CategoricalDtype):
            return [self.encoded(value.to_numpy(), where)]
        categories = self.encoded(value.cat.categories.to_numpy(), where)
        return [self.encoded(value.cat.codes.to_numpy(), where), categories, bool(value.cat.ordered)]

    def _object(self, value: Any, where: str) -> Any:
        kind = type(value).__name__
        if kind == "Booster":
            if id(value) not in self.boosters:
                self._alive.append(value)  # an id stands for one booster only while it lives
                self.boosters[id(value)] = (
                    f"booster_{len(self.boosters)}.txt",
                    value.model_to_string(num_iteration=-1),
                )
            return {"booster": self.boosters[id(value)][0]}
        if kind == "Pipeline":
            return {"pipeline": [[name, self.encoded(step, f"step {name}")] for name, step in value.steps]}
        if kind == "RandomState" or kind == "Generator":
            return None  # random_state of a fitted model has done its work
        if kind == "Sequential":
            state = {name: tensor.numpy() for name, tensor in value.state_dict().items()}
            return {"network": self.encoded(state, where)}
        if type(value) is not _CLASSES.get(kind):
            raise TypeError(
                f"{where} holds a {kind}, which lifeyears cannot save without pickle: it saves its own models, "
                "rankers, TablePreprocessor, and Pipelines of these"
            )
        if is_dataclass(value):
            state = {field.name: getattr(value, field.name) for field in fields(value)}
        else:
            state = dict(vars(value))
        return {"class": kind, "state": {name: self.encoded(item, f"{kind}.{name}") for name, item in state.items()}}


class _Reader:
    """The way back: only what `_Writer` writes is understood."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.boosters: dict[str, Any] = {}
        try:
            with np.load(BytesIO(files["arrays.npz"]), allow_pickle=False) as found:
                self.arrays = {name: found[name] for name in found.files}
        except (ValueError, zipfile.BadZipFile, KeyError, EOFError) as error:
            raise ModelFileError(f"arrays.npz cannot be read: {error}") from None

    def decoded(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, list):
            return [self.decoded(item) for item in value]
        if "class" in value:
            return self._object(value["class"], value["state"])
        (kind, content), *rest = value.items()
        if rest:
            raise ModelFileError(f"model.json holds something unknown: {sorted(value)}")
        if kind == "float":
            return float(content)
        if kind == "tuple":
            return tuple(self.decoded(item) for item in content)
        if kind == "dict":
            return {self.decoded(k): self.decoded(v) for k, v in content}
        if kind == "names":
            names = np.empty(len(content), dtype=object)
            names[:] = [self.decoded(item) for item in content]
            return names
        if kind == "array":
            return self.arrays[content]
        if kind == "table":
            (name, index), columns = content
            table = {self.decoded(each): self._column(*values) for each, values in columns}
            return pd.DataFrame(table).set_axis(pd.Index(self.decoded(index), name=self.decoded(name)), axis=0)
        if kind == "booster":
            return self._booster(content)
        if kind == "pipeline":
            from sklearn.pipeline import Pipeline

            return Pipeline([(name, self.decoded(step)) for name, step in content])
        if kind == "network":
            return _Network(self.decoded(content))
        raise ModelFileError(f"model.json holds something unknown: {kind!r}")

    def _column(self, values: Any, categories: Any = None, ordered: bool = False) -> Any:
        if categories is None:
            return self.decoded(values)
        return pd.Categorical.from_codes(self.decoded(values), self.decoded(categories), ordered=ordered)

    def _booster(self, name: str) -> Any:
        import lightgbm

        if name not in self.boosters:
            text = check_booster_text(self.files[name].decode())
            self.boosters[name] = lightgbm.Booster(model_str=text)
        return self.boosters[name]

    def _object(self, kind: str, state: dict[str, Any]) -> Any:
        if kind not in _CLASSES:
            raise ModelFileError(f"model.json names a class that lifeyears does not save: {kind!r}")
        cls = _CLASSES[kind]
        values = {name: self.decoded(item) for name, item in state.items()}
        given = set(cls().get_params(deep=False)) if not is_dataclass(cls) else {field.name for field in fields(cls)}
        for name in values:
            fitted = not is_dataclass(cls) and (name.endswith("_") or name.startswith("_"))  # and shadows no method
            if name not in given and (not fitted or name.startswith("__") or hasattr(cls, name)):
                raise ModelFileError(f"model.json gives {kind} an attribute it cannot have: {name!r}")
        values = {**ADDED.get(kind, {}), **values}
        if given - set(values):
            raise ModelFileError(f"model.json leaves out {', '.join(sorted(given - set(values)))} of {kind}")
        for name, item in values.items():
            if isinstance(item, _Network):
                values[name] = item.built(values)
        if is_dataclass(cls):
            return cls(**values)
        model = cls.__new__(cls)
        vars(model).update(values)
        return model


class _Network:
    """The weights of a network; it is built once the settings beside it are known."""

    def __init__(self, state: dict[str, np.ndarray]) -> None:
        self.state = state

    def built(self, beside: dict[str, Any]) -> Any:
        from .models.deep import import_networks

        side = import_networks()
        *_, last = [name for name in self.state if name.endswith(".weight")]
        first = next(iter(self.state))
        network = side.build_network(
            self.state[first].shape[1],
            beside.get("hidden", HIDDEN),
            self.state[last].shape[0],
            dropout=beside.get("dropout", 0.1),
            batch_norm=beside.get("batch_norm", False),
            bias=f"{last.removesuffix('.weight')}.bias" in self.state,
        )
        network.load_state_dict({name: side.torch.from_numpy(np.array(value)) for name, value in self.state.items()})
        network.eval()
        return network
