#!/usr/bin/env python
"""Compare the numbers of this tree with those of a base commit, to the last bit.

A refactoring must not change a number. This script runs a fixed set of small cases once with the code of the base
commit and once with the code at hand, each in a process of its own, and compares every number (the bytes of float64;
NaN equals NaN), every label and every shape. It exits with 1 if anything differs that `INTENDED` does not name.

    python tools/safety_net.py                                       # both sides at once, one core each
    python tools/safety_net.py --base-results /tmp/base.pickle       # the base runs once, and is kept there
    python tools/safety_net.py --only metrics,relevance --show 20
    python tools/safety_net.py --list

What is called differently in the two trees, and which differences are intended, is said in one file:
`tools/safetynet/names.py`. The cases are in `tools/safetynet/cases`.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import os
import pickle
import platform
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from io import BytesIO
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS))

from safetynet.compare import Comparison, compared  # noqa: E402

BASE = "8994238"
# Files of the base's tests that both sides read
FROM_TESTS = ("tests/data/star_release.py", "tests/reference/star_sas/thoracic_data.sas7bdat")
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
Results = dict[str, dict[str, Any]]


def main() -> int:
    """Run, compare and report; 0 if nothing differs, 1 if something does, 2 if the request was wrong."""
    given = arguments()
    known = case_names()
    if given.list:
        print("\n".join(f"{name:24} {words}" for name, words in known.items()))
        return 0
    wanted = [name for part in given.only for name in part.split(",")] or list(known)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        print(f"There is no case {', '.join(unknown)}. Known cases: {', '.join(known)}.", file=sys.stderr)
        return 2
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="safety-net-") as scratch:
        old, new = both_sides(given, wanted, Path(scratch))
    found = {name: compared(name, old[name], new[name]) for name in wanted}
    report(found, given.show)
    print(f"{time.perf_counter() - began:.0f} seconds in all")
    return 0 if all(one.passed for one in found.values()) else 1


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default=BASE, help=f"base commit (default: {BASE})")
    parser.add_argument("--base-tree", type=Path, help="use this checkout of the base instead of a temporary one")
    parser.add_argument(
        "--base-results", type=Path, help="keep the base's results in this file, and reuse those that are there"
    )
    parser.add_argument("--new-tree", type=Path, default=TOOLS.parent, help="tree to test (default: this one)")
    parser.add_argument("--only", action="append", default=[], help="cases to run, comma-separated (default: all)")
    parser.add_argument("--show", type=int, default=5, help="differences to show for each case (default: 5)")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    return parser.parse_args()


def case_names() -> dict[str, str]:
    """Cases in their order, and what each does. Loading them imports nothing of lifeyears."""
    from safetynet.cases import load_cases

    return {name: " ".join((case.__doc__ or "").split()) for name, case in load_cases().items()}


# running


def both_sides(given: argparse.Namespace, wanted: list[str], scratch: Path) -> tuple[Results, Results]:
    """Results of the base, as far as they are not kept, and of the new tree: side by side."""
    for path in FROM_TESTS:
        (scratch / Path(path).name).write_bytes(from_base(given, path))
    kept = Kept(given.base_results, given.base_tree.resolve() if given.base_tree else given.base)
    missing = [name for name in wanted if name not in kept.results]
    new = Side("new", given.new_tree.resolve(), wanted, scratch)
    sides = [new]
    if missing:
        base_tree = given.base_tree.resolve() if given.base_tree else checked_out(given.base, scratch / "base")
        sides.append(Side("base", base_tree, missing, scratch))
    threads = [threading.Thread(target=side.run) for side in sides]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the sides end with this process
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for side in sides:
            side.stop()
        if missing:
            kept.keep(sides[1].results())  # what an interrupted run has done is kept
    return kept.results, new.results()


class Side:
    """One tree, running cases one after the other in a process of its own."""

    def __init__(self, name: str, tree: Path, cases: list[str], scratch: Path) -> None:
        self.name, self.tree, self.cases = name, tree, cases
        self.out, self.log = scratch / f"{name}.pickle", scratch / f"{name}.log"
        self.process: subprocess.Popen[str] | None = None
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("LIFEYEARS_")},
            **dict.fromkeys(ONE_THREAD, "1"),
            "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(TOOLS)]),
            "PYTHONHASHSEED": "0",
            "MPLBACKEND": "Agg",
            "COLUMNS": "200",
            "LIFEYEARS_CACHE": str(scratch / f"cache-{name}"),
            "SAFETY_NET_FILES": str(scratch),
        }

    def run(self) -> None:
        """Run, and say when each case is done."""
        words = [
            sys.executable,
            "-m",
            "safetynet.worker",
            "--tree",
            str(self.tree),
            "--out",
            str(self.out),
            *self.cases,
        ]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                words, env=self.environment, stdout=subprocess.PIPE, stderr=log, text=True, cwd=self.tree
            )
            assert self.process.stdout is not None
            for number, line in enumerate(self.process.stdout, 1):
                case, seconds, busy = line.split()
                print(
                    f"  {self.name:4} {number:3}/{len(self.cases)}  {case:24} {seconds:>6} s ({busy} s of processor)",
                    flush=True,
                )
            self.process.wait()

    def stop(self) -> None:
        """End the process if this script is interrupted."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def results(self) -> Results:
        """What was recorded; of a case that the process did not survive, the end of its log."""
        found: Results = pickle.loads(self.out.read_bytes()) if self.out.exists() else {}
        lost = f"the process ended before this case was done. Its last words:\n{self.log.read_text()[-2000:]}"
        nothing = {"values": {}, "broken": [], "error": lost, "seconds": 0.0, "cpu": 0.0}
        return {name: found.get(name, nothing) for name in self.cases}


def checked_out(commit: str, folder: Path) -> Path:
    """The files of a commit in a folder; git's list of worktrees stays as it is."""
    archive = git("archive", "--format=tar", commit, "src")
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


def from_base(given: argparse.Namespace, path: str) -> bytes:
    """A file of the base."""
    return (given.base_tree / path).read_bytes() if given.base_tree else git("show", f"{given.base}:{path}")


def git(*words: str) -> bytes:
    """What git prints, in the repository that this script is in."""
    return subprocess.run(["git", "-C", str(TOOLS.parent), *words], check=True, capture_output=True).stdout


class Kept:
    """Results of the base in a file, valid as long as the base, the installed packages and the case are the same."""

    def __init__(self, path: Path | None, base: Any) -> None:
        self.path, self.stamp, self.results = path, self._stamp(base), Results()
        if path is not None and path.exists():
            held = pickle.loads(path.read_bytes())
            changed = [name for name in self.stamp if held["stamp"].get(name) != self.stamp[name]]
            if changed:
                print(f"{path} was made with other {' and '.join(changed)}: the base runs again.")
            else:
                valid = {name: source_of(name) for name in case_names()}
                self.results = {
                    name: result for name, result in held["results"].items() if result["source"] == valid.get(name)
                }

    def keep(self, results: Results) -> None:
        """Add results, and write the file if one was asked for. What failed is not kept."""
        self.results |= {name: {**result, "source": source_of(name)} for name, result in results.items()}
        if self.path is not None:
            whole = {name: result for name, result in self.results.items() if not result["error"]}
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
            beside.write_bytes(pickle.dumps({"stamp": self.stamp, "results": whole}))
            beside.replace(self.path)

    @staticmethod
    def _stamp(base: Any) -> dict[str, str]:
        from importlib.metadata import distributions

        packages = sorted(f"{one.name} {one.version}" for one in distributions() if one.name != "lifeyears")
        return {
            "base": str(base),
            "packages": hashlib.sha256("\n".join([platform.platform(), sys.version, *packages]).encode()).hexdigest(),
        }


def source_of(name: str) -> str:
    """A hash of the files that a case is made of."""
    from safetynet.cases import load_cases

    cases = TOOLS / "safetynet" / "cases"
    files = [inspect.getfile(load_cases()[name]), cases / "_shared.py", cases.parent / "record.py"]
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in files)).hexdigest()


# reporting


def report(found: dict[str, Comparison], show: int) -> None:
    """A table of cases, and the first differences of each."""
    heads = f"{'numbers':>9} {'texts':>8} {'differ':>7} {'intended':>8} {'added':>6} {'reworded':>8}"
    print(f"\n{'case':24} {heads}   seconds (base / new)")
    for name, one in found.items():
        verdict = "FAILED" if one.failures else f"{len(one.differences):,}"
        seconds = f"{one.seconds[0]:.1f} / {one.seconds[1]:.1f}"
        counts = f"{sum(one.intended.values()):>8,} {len(one.added):>6,} {len(one.reworded):>8,}"
        print(f"{name:24} {one.numbers:>9,} {one.texts:>8,} {verdict:>7} {counts}   {seconds}")
    totals = [sum(getattr(one, part) for one in found.values()) for part in ("numbers", "texts")]
    different = sum(len(one.differences) for one in found.values())
    print(f"{'all':24} {totals[0]:>9,} {totals[1]:>8,} {different:>7,}")
    for name, one in found.items():
        lines = list(one.failures)
        lines += listed("differ", one.differences, show)
        lines += [f"{many:,} intended: {why}" for why, many in one.intended.items()]
        lines += listed("are new", one.added, show)
        lines += listed("reworded", one.reworded, min(show, 2))
        if lines:
            print(f"\n{name}")
            print("\n".join(f"  {line}" for part in lines for line in part.splitlines()))
    failed = [name for name, one in found.items() if not one.passed]
    print(f"\n{'DIFFERENT: ' + ', '.join(failed) if failed else 'Equal to the last bit, but for what is intended.'}")


def listed(what: str, items: list[Any], show: int) -> list[str]:
    """How many, and the first few."""
    more = [f"  … and {len(items) - show:,} more (--show)"] if len(items) > show else []
    return [f"{len(items):,} {what}:", *(f"  {item}" for item in items[:show]), *more] if items else []


if __name__ == "__main__":
    sys.exit(main())
