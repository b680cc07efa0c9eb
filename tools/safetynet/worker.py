"""One side: run cases with the tree that PYTHONPATH names, and write what they recorded after each."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import pickle
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any


def main() -> None:
    """Run the cases that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True, help="the tree whose src must be the one imported")
    parser.add_argument("--out", type=Path, required=True, help="file for the results")
    parser.add_argument("cases", nargs="+")
    given = parser.parse_args()

    import lifeyears

    from .cases import load_cases

    source = Path(lifeyears.__file__).resolve()
    if not source.is_relative_to((given.tree / "src").resolve()):
        sys.exit(f"lifeyears was imported from {source}, not from {given.tree}/src")
    draw_nothing()
    known, results = load_cases(), {}
    for name in given.cases:
        results[name] = run(known[name])
        write(given.out, results)
        print(f"{name} {results[name]['seconds']:.1f} {results[name]['cpu']:.1f}", flush=True)


def run(case: Any) -> dict[str, Any]:
    """One case: what it recorded, how long it took, and the traceback if it failed."""
    from .record import Record

    record, error, began, busy = Record(), None, time.perf_counter(), used()
    here = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="safety-net-") as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)  # what a command writes without being told where stays in here
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                case(record, Path(folder))
        except Exception:
            error = traceback.format_exc()
        finally:
            os.chdir(here)
    return {
        "values": record.values,
        "broken": record.broken,
        "error": error,
        "seconds": time.perf_counter() - began,
        "cpu": used() - busy,
    }


def draw_nothing() -> None:
    """Write figures as empty files: they hold no numbers to compare, and drawing takes a third of the time."""
    from matplotlib.figure import Figure

    def savefig(_: Figure, where: Any, **__: Any) -> None:
        if hasattr(where, "write"):
            where.write(b"not drawn")
        else:
            Path(where).write_bytes(b"not drawn")

    Figure.savefig = savefig  # type: ignore[assignment]


def used() -> float:
    """Seconds of processor time so far, those of ended child processes included."""
    return sum(os.times()[:4])


def write(path: Path, results: dict[str, Any]) -> None:
    """Write beside and rename: a run that is stopped leaves whole results."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(pickle.dumps(results))
    beside.replace(path)


if __name__ == "__main__":
    main()
