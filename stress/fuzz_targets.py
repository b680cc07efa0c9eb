"""What is fuzzed: each reader with its seeds, and what it is allowed to answer."""

import contextlib
import hashlib
import io
import json
import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
from mutate import any_value, mutate_bytes, mutate_cells, mutate_json, mutate_npz, mutate_value, mutate_zip

import lifeyears as ly
from lifeyears.errors import RequestError


class Target:
    """`make(rng)` an input, `give` it to the reader: True if it was read, False if it was refused in words."""

    refusals: tuple[type[Exception], ...] = (ValueError,)

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.prepare()

    def prepare(self) -> None: ...

    def make(self, rng: np.random.Generator) -> object:
        raise NotImplementedError

    def give(self, made: object) -> object:
        raise NotImplementedError

    def tried(self, made: object) -> bool:
        before = self.listing()
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                answer = self.give(made)
        except self.refusals as error:
            if type(error) not in self.refusals and not self.fits(error):
                raise AssertionError(f"{type(error).__name__} in place of words: {error}") from error
            words = str(error)
            assert words.strip(), "refused without a word"
            answer = None
        assert self.listing() == before, f"files left: {set(self.listing()) ^ set(before)}"
        return answer is not None

    def fits(self, error: Exception) -> bool:
        """Subclasses of a refusal are fine if this package raised them; numpy's or pandas' own words are not."""
        return type(error).__module__.startswith("lifeyears")

    def listing(self) -> list[str]:
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))


# the gate of outcomes


class OutcomeTarget(Target):
    """`as_outcome` on whatever might be handed to it."""

    def column(self, rng: np.random.Generator, n: int) -> object:
        kinds = (
            lambda: rng.exponential(5, n),
            lambda: rng.integers(0, 2, n),
            lambda: rng.random(n) < 0.5,
            lambda: rng.integers(-3, 5, n),
            lambda: [any_value(rng) for _ in range(n)],
            lambda: np.array([any_value(rng) for _ in range(n)] + [None], dtype=object)[:n],
            lambda: np.where(rng.random(n) < 0.2, np.nan, rng.exponential(5, n)),
            lambda: np.full(n, np.inf),
            lambda: rng.integers(0, 2, n).astype(str),
            lambda: np.array(["2020-01-01"] * n, dtype="datetime64[D]"),
            lambda: np.zeros(n, dtype="timedelta64[D]"),
            lambda: rng.normal(size=n) + 1j,
            lambda: np.ma.masked_array(rng.exponential(5, n), rng.random(n) < 0.3),
            lambda: pd.Series(rng.integers(0, 2, n), dtype="Int64").mask(rng.random(n) < 0.2),
            lambda: pd.Categorical(rng.choice(["0", "1", "dead"], n)),
            lambda: rng.normal(size=(n, 2)),
            lambda: np.zeros((n, 0)),
            lambda: rng.exponential(5, n).astype(np.float16),
            lambda: np.array(list(rng.bytes(n))).astype("S1"),
            lambda: any_value(rng),
            lambda: (x for x in range(n)),
            lambda: set(range(n)),
        )
        return kinds[int(rng.integers(len(kinds)))]()

    def make(self, rng: np.random.Generator) -> object:
        n = int(rng.choice([0, 1, 2, 3, 10, 50]))
        first, second = self.column(rng, n), self.column(rng, n if rng.random() < 0.8 else n + 1)
        names = ["event", "time", "Status", "years", "alive", "censored", "x", "", 0, None, "entry", "T", ("a", "b")]
        a, b = (names[int(i)] for i in rng.integers(len(names), size=2))
        kind = int(rng.integers(8))
        try:
            if kind <= 2:
                return (first, second) if rng.random() < 0.7 else [first, second]
            if kind == 3:
                return pd.DataFrame({a: first, b: second})
            if kind == 4:
                frame = pd.DataFrame({"p": first, "q": second})
                frame.columns = [a, b]
                return frame
            if kind == 5:
                import polars as pl

                return pl.DataFrame({str(a): first, str(b) + "2": second}, strict=False)
            if kind == 6:
                made = np.empty(n, dtype=[("a", np.asarray(first).dtype), ("b", np.asarray(second).dtype)])
                made["a"], made["b"] = first, second
                return made
        except Exception:  # no such frame can be made
            return first
        return [any_value(rng), first, np.asarray(first, dtype=object), {"event": first, "time": second}][
            int(rng.integers(4))
        ]

    def give(self, made: object) -> object:
        return ly.as_outcome(made)

    def listing(self) -> list[str]:  # it gets no path that it could write to
        return []


# tables


def seed_frame(n: int = 30) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "years": rng.exponential(5, n).round(2) + 0.01,
            "died": rng.choice(["yes", "no"], n),
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 10, n).round(1)),
            "ward": rng.choice(["A", "B, north", 'C "old"', "Zürich"], n),
            "since": pd.to_datetime("2001-01-01") + pd.to_timedelta(rng.integers(0, 5000, n), unit="D"),
            "id": np.arange(n) + 1000,
        }
    )


def written(suffix: str, frame: pd.DataFrame, folder: Path) -> bytes:
    path = folder / f"seed{suffix}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if suffix == ".parquet":
            frame.to_parquet(path)
        elif suffix == ".xlsx":
            frame.to_excel(path, index=False)
        elif suffix == ".dta":
            frame.to_stata(path, write_index=False, version=118)
        else:
            frame.to_csv(path, index=False)
    content = path.read_bytes()
    path.unlink()
    return content


class TableTarget(Target):
    """`read_table` on a file of one kind, with options of all kinds."""

    suffix = ".csv"
    outcome = ("years", "died")
    refusals = (RequestError,)
    mutator = staticmethod(mutate_bytes)

    def prepare(self) -> None:
        frame = seed_frame()
        self.seeds = [
            written(self.suffix, frame, self.folder),
            written(self.suffix, frame[["years", "died"]], self.folder),
        ]
        if self.suffix == ".csv":
            text = frame.to_csv(index=False)
            self.seeds += [
                frame.to_csv(index=False, sep=";", decimal=",").encode("latin-1"),
                frame.to_csv(index=False, sep="\t").encode("utf-16"),
                text.replace("\n", "\r\n").encode("utf-8-sig"),
            ]

    def make(self, rng: np.random.Generator) -> object:
        seed, other = (self.seeds[int(i)] for i in rng.integers(len(self.seeds), size=2))
        if self.suffix == ".csv" and rng.random() < 0.6:  # a table still, with odd cells
            content = mutate_cells(rng, self.seeds[0])
        else:
            content = seed if rng.random() < 0.1 else self.mutator(rng, seed, other)
        options: dict = {"time": self.outcome[0], "event": self.outcome[1]}
        if rng.random() < 0.3:
            name = ["entry", "exit", "event_values", "drop", "categorical", "keep", "unit", "delimiter", "encoding",
                    "decimal",
                    "date_format", "horizon", "sheet", "time", "event", "name"][int(rng.integers(16))]  # fmt: skip
            values = [
                "since",
                "age",
                "yes",
                ["age"],
                "years",
                ",",
                ";",
                "utf-8",
                "latin-1",
                "utf-16",
                ".",
                "%d/%m/%Y",
                5.0,
                0,
                -1,
                "",
                "nosuch",
            ]
            options[name] = values[int(rng.integers(len(values)))]
            if name == "exit":
                options |= {"time": None, "entry": "since"}
        return content, options

    def give(self, made: object) -> object:
        content, options = made
        path = self.folder / f"table{self.suffix}"
        path.write_bytes(content)
        try:
            return ly.data.read_table(path, **options)
        finally:
            path.unlink()


class ParquetTarget(TableTarget):
    suffix = ".parquet"


class ExcelTarget(TableTarget):
    suffix = ".xlsx"
    mutator = staticmethod(mutate_zip)


class StataTarget(TableTarget):
    suffix = ".dta"


class SasTarget(TableTarget):
    """A file that other software wrote, as no Python library can."""

    suffix = ".sas7bdat"
    outcome = ("GTIME", "GSTATUS")

    def prepare(self) -> None:
        found = sorted((Path(__file__).parents[1] / "tests" / "reference" / "star_sas").rglob("*.sas7bdat"))
        self.seeds = [path.read_bytes() for path in found]


class GzipTarget(TableTarget):
    suffix = ".csv.gz"


class ZipTarget(TableTarget):
    suffix = ".csv.zip"
    mutator = staticmethod(mutate_zip)


# STAR releases


class StarTarget(Target):
    """`read_star` on a small made-up release, text or Stata."""

    refusals = (RequestError,)

    def prepare(self) -> None:
        sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "data" / "star"))
        from star_release import made_up_patients, write_text

        patients = made_up_patients(60, columns=120)
        home = self.folder.with_name("star_seed")
        write_text(home, patients)
        self.text = {path.name: path.read_bytes() for path in home.iterdir()}
        shutil.rmtree(home)

    def make(self, rng: np.random.Generator) -> object:
        files = dict(self.text)
        name = list(files)[int(rng.integers(len(files)))]
        files[name] = mutate_bytes(rng, files[name])
        if rng.random() < 0.02:
            del files[name]
        return files, rng.choice(["graft", "patient"])

    def give(self, made: object) -> object:
        files, outcome = made
        home = self.folder / "release"
        home.mkdir()
        try:
            for name, content in files.items():
                (home / name).write_bytes(content)
            return ly.data.read_star(home, outcome=str(outcome))
        finally:
            shutil.rmtree(home)


# saved models


class ModelTarget(Target):
    """`ly.load` on a damaged or forged model; what loads must not crash when it predicts."""

    refusals = (ly.saving.ModelFileError,) if hasattr(ly, "saving") else (ValueError,)

    def prepare(self) -> None:
        from sklearn.pipeline import make_pipeline

        d = ly.data.simulate_registry(n=300, random_state=3)
        small = {"n_estimators": 4, "random_state": 0, "n_jobs": 1}
        members = ly.ranking.make_members(names=("boosted_years", "boosted_hazards"), n_estimators=4)
        self.X, models = d.X[:5], [
            make_pipeline(ly.data.TablePreprocessor(), ly.models.Cox(alpha=5.0, tau=10)),
            make_pipeline(ly.data.TablePreprocessor(), ly.models.WeibullAFT(tau=10)),
            ly.BootstrappedRanker(ly.models.Cox(alpha=5.0), tau=10, **small),
            ly.StackedRanker(ly.models.Cox(alpha=5.0), tau=10, members=members, random_state=0, n_jobs=1),
        ]  # fmt: skip
        self.seeds = []
        for number, model in enumerate(models):
            home = ly.save(model.fit(d.X, d.y), self.folder.with_name(f"seed{number}"))
            self.seeds.append({path.name: path.read_bytes() for path in home.iterdir()})
            shutil.rmtree(home)

    def make(self, rng: np.random.Generator) -> object:
        files = dict(self.seeds[int(rng.integers(len(self.seeds)))])
        names = [name for name in files if name != "SHA256SUMS" or rng.random() < 0.2]
        weights = np.array([3.0 if name.startswith("booster") else 2.0 for name in names])
        name = str(rng.choice(names, p=weights / weights.sum()))
        change = {".json": mutate_json, ".npz": mutate_npz}.get(Path(name).suffix, mutate_bytes)
        files[name] = change(rng, files[name])
        if rng.random() < 0.02:
            del files[name]
        if name != "SHA256SUMS" and rng.random() < 0.9:  # forged sums let the damage through to the reader
            sums = (
                f"{hashlib.sha256(data).hexdigest()}  {n}\n" for n, data in sorted(files.items()) if n != "SHA256SUMS"
            )
            files["SHA256SUMS"] = "".join(sums).encode()
        return files

    def give(self, made: object) -> object:
        home = self.folder / "model"
        home.mkdir()
        try:
            for name, content in made.items():
                (home / name).write_bytes(content)
            model = ly.load(home)
            with contextlib.suppress(Exception):  # a forged model may say nonsense; it must not crash or hang
                model.predict(self.X)
            return model
        finally:
            shutil.rmtree(home)


# configurations of the simulator


class ConfigTarget(Target):
    """`read_config`: YAML, JSON and TOML."""

    refusals = (ValueError, FileNotFoundError)

    def prepare(self) -> None:
        from lifeyears.simulation import Config

        plain = Config().to_dict()
        self.value = json.loads(json.dumps(plain))
        self.yaml = (
            b"years: 2\nreplicates: 3\nrandom_state: 1\nreference: us_status\ncommon_random_numbers: true\n"
            b"policies:\n  - us_status\n  - name: mine\n    order: model\n    model: Cox\n    k: 5\n"
            b"world:\n  scale: 0.05\n  listed_per_year: 4446\n  burn_in_years: 1.5\n"
        )
        self.toml = (
            b'years = 2.0\nreplicates = 3\npolicies = ["us_status", "oracle"]\n[world]\nscale = 0.05\n'
            b"listed_per_year = 4446\nburn_in_years = 1.5\n"
        )

    def make(self, rng: np.random.Generator) -> object:
        kind = int(rng.integers(4))
        if kind == 0:
            return ".json", json.dumps(mutate_value(rng, self.value)).encode()
        if kind == 1:
            import yaml

            return ".yaml", yaml.safe_dump(mutate_value(rng, self.value)).encode()
        return (".yaml", mutate_bytes(rng, self.yaml)) if kind == 2 else (".toml", mutate_bytes(rng, self.toml))

    def give(self, made: object) -> object:
        from lifeyears.simulation import read_config

        suffix, content = made
        path = self.folder / f"config{suffix}"
        path.write_bytes(content)
        try:
            return read_config(path)
        finally:
            path.unlink()


# run folders


class RunTarget(Target):
    """A run's folder with one damaged or foreign file: `status`, and going on with it to the end, to the same bytes."""

    options: ClassVar = {
        "iterations": 1,
        "folds": 2,
        "models": ("KM",),
        "stacked_over": (),
        "waitlist": 30,
        "tau": 10.0,
    }

    def prepare(self) -> None:
        self.data = ly.data.simulate_registry(n=120, random_state=1)
        self.home = self.folder / "run"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ly.experiments.run("full", self.data, self.home, n_jobs=1, **self.options)
        self.files = {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file() and (path.suffix in (".json", ".npz"))
        }
        shutil.rmtree(self.home)

    def make(self, rng: np.random.Generator) -> object:
        name = str(rng.choice([*self.files, *(name for name in self.files if name.endswith(".npz"))]))
        change = mutate_npz if name.endswith(".npz") else mutate_json
        return name, change(rng, self.files[name], self.files["manifest.json"])

    def give(self, made: object) -> object:
        from lifeyears.experiments import Plan, status
        from lifeyears.experiments._store import load_job, open_run

        name, content = made
        for each, whole in (self.files | {name: content}).items():
            (self.home / each).parent.mkdir(parents=True, exist_ok=True)
            (self.home / each).write_bytes(whole)
        try:
            status(self.home)
            open_run(self.home, Plan("full", **self.options), self.data)
            return [load_job(self.home, 0, fold) for fold in range(2)]
        finally:
            shutil.rmtree(self.home)


class UnitTarget(RunTarget):
    """The same with a damaged unit, and the run gone on with: it must end in the very bytes of one never damaged."""

    def prepare(self) -> None:
        super().prepare()
        self.expected = self.ended(None, b"")

    def make(self, rng: np.random.Generator) -> object:
        name = str(rng.choice([name for name in self.files if name.endswith(".npz")]))
        return name, mutate_npz(rng, self.files[name], self.files["manifest.json"])

    def give(self, made: object) -> object:
        assert self.ended(*made) == self.expected, "the result is not the same"
        return True

    def ended(self, name: str | None, content: bytes) -> dict[str, bytes]:
        for each, whole in self.files.items():
            (self.home / each).parent.mkdir(parents=True, exist_ok=True)
            (self.home / each).write_bytes(content if each == name else whole)
        try:
            ly.experiments.run("full", self.data, self.home, n_jobs=1, **self.options)
            return {
                str(path.relative_to(self.home)): path.read_bytes()
                for path in self.home.rglob("*")
                if path.is_file() and path.suffix != ".npz" and path.name != "manifest.json" and path.suffix != ".pdf"
            }
        finally:
            shutil.rmtree(self.home)


# the command line


class CommandTarget(Target):
    """Whole commands with odd words: exit code 0, or 2 with words (1 is a failure of ours), and nothing written."""

    def prepare(self) -> None:
        frame = seed_frame(40)
        frame.to_csv(self.folder / "good.csv", index=False)
        (self.folder / "bad.csv").write_bytes(b"\x00\xff\x00 no table")
        (self.folder / "empty.csv").write_bytes(b"")
        (self.folder / "config.yaml").write_text("years: 1\nworld:\n  scale: 0.01\n")
        (self.folder / "bad.yaml").write_text("years: [1\n")
        self.words = [
            "good.csv", "bad.csv", "empty.csv", "config.yaml", "bad.yaml", "nosuch.csv", "nosuch", ".", "/", "", " ",
            "-", "--", "registry",
            "support2", "suport2", "veteran", "years", "died", "age", "KM", "Cox", "KM,Cox", "Lasso", "0", "1", "-1",
            "2", "100", "1e9", "nan", "inf",
            "-inf", "1e-300", "99999999999999999999", "five", "é💀", "\x00", "a" * 500, "all", "full", "artificial",
            "local:0", "local:x",
            "tcp://127.0.0.1:1", "--help", "none", "drop", "temporal", "%s", "*", "~", "../..", "out",
        ]  # fmt: skip
        self.options = {
            "demo": ["--rows", "--seed", "--out", "--jobs"],
            "reproduce": ["--rows", "--iterations", "--folds", "--data", "--time", "--event", "--horizon", "--models",
                          "--stacked-over", "--epochs",
                          "--censoring", "--era", "--split", "--waitlist", "--out", "--jobs", "--seed"],
            "compare": ["--time", "--event", "--horizon", "--drop", "--models", "--waitlist", "--k", "--iterations",
                        "--folds", "--rows", "--out",
                        "--jobs", "--seed", "--epochs"],
            "datasets": ["--rows", "--seed", "--models", "--against-paper"],
            "simulate": ["--years", "--replicates", "--jobs", "--seed", "--out", "--check"],
            "status": [],
            "version": [],
            "nosuch": ["--x"],
        }  # fmt: skip

    def make(self, rng: np.random.Generator) -> object:
        commands = ["compare"] * 4 + ["reproduce", "simulate", "datasets", "status", "version", "demo", "nosuch"]
        command = commands[int(rng.integers(len(commands)))]
        word = lambda: self.words[int(rng.integers(len(self.words)))]  # noqa: E731
        made = [command]
        if command == "compare" and rng.random() < 0.6:
            made += ["good.csv", "--time", "years", "--event", "died"]
        elif command not in ("demo", "version") and rng.random() < 0.7:
            made.append(word())
        for _ in range(int(rng.integers(0, 4))):
            known = self.options[command]
            if known and rng.random() < 0.9:
                made += [known[int(rng.integers(len(known)))], word()]
            else:
                made.append(word())
        if command in ("compare", "reproduce", "simulate"):
            made.append("--dry-run")  # the work itself is tried by the other targets: here it is the request
        elif command == "demo":
            made += ["--rows", str(rng.choice(["1", "0", "x", "-5", "399", "nan"]))]  # the last one counts: refused
        elif command == "datasets" and "--against-paper" in made:
            made = [each for each in made if each != "--against-paper"]
        return made

    def give(self, made: object) -> object:
        import os

        from lifeyears.cli import run

        out, err = io.StringIO(), io.StringIO()
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = run(list(made))
        finally:
            os.chdir(here)
        text = out.getvalue() + err.getvalue()
        assert "Traceback" not in text, text[-500:]
        assert code in (0, 2), f"exit code {code}: {err.getvalue()[-500:]}"
        if code == 2:
            raise ValueError(err.getvalue())
        return True


# name: (target, inputs in `make stress`)
TARGETS: dict[str, tuple[Callable[[Path], Target], int]] = {
    "as_outcome": (OutcomeTarget, 75_000),
    "read_table csv": (TableTarget, 15_000),
    "read_table csv.gz": (GzipTarget, 1_500),
    "read_table csv.zip": (ZipTarget, 1_500),
    "read_table parquet": (ParquetTarget, 2_000),
    "read_table xlsx": (ExcelTarget, 700),
    "read_table dta": (StataTarget, 1_500),
    "read_table sas7bdat": (SasTarget, 300),
    "read_star": (StarTarget, 1_500),
    "load": (ModelTarget, 4_000),
    "read_config": (ConfigTarget, 12_000),
    "run folder": (RunTarget, 1_500),
    "damaged unit": (UnitTarget, 10),
    "command line": (CommandTarget, 3_000),
}
