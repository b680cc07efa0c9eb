"""Faults: what is killed, cut short, filled up or forbidden, and whether the run still ends in the same bytes.

    python stress/faults.py                      # all
    python stress/faults.py --only "full disk" --seed 3

A run of 200 patients, 4 units, is made once undisturbed. Each fault disturbs a run of its own; then the run is begun
again without the fault, and every file but the manifest is compared byte for byte.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from common import ONE_THREAD, read, write

os.environ |= ONE_THREAD
KILLS, SAVE_KILLS, SEED = 20, 10, 0
PATIENCE = 600.0
RUN = """
import sys, lifeyears as ly
data = ly.data.simulate_registry(n=200, random_state=1)
options = dict(iterations=2, folds=2, models=("KM", "Cox"), stacked_over=(), waitlist=20, tau=15.0)
print("begun", flush=True)
def told(message, done, total): print(f"{done} of {total}", flush=True)
out, jobs, dask = sys.argv[1:]
ly.experiments.run("full", data, out, n_jobs=int(jobs), dask=dask or None, progress=told, **options)
"""
# a clock that jumps years ahead and back between any two looks at it; files get its times, too
CLOCK = """
import itertools, time
jumps, true_time = itertools.cycle([0.0, 4e8, -9e8, 3600.0, -3.15e9]), time.time
time.time = lambda: true_time() + next(jumps)
time.time_ns = lambda: int(time.time() * 1e9)
"""


def contents(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }


def started(out: Path, jobs: int = 1, dask: str = "", before: str = "") -> subprocess.Popen:
    command = [sys.executable, "-W", "ignore", "-c", before + RUN, str(out), str(jobs), dask]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def finished(process: subprocess.Popen) -> tuple[int, str]:
    """Exit code and last words; a hang is a failure."""
    try:
        _, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError(f"not done after {PATIENCE:.0f} s") from None
    last = (err.strip().splitlines() or [""])[-1]
    return process.returncode, re.sub(r"/[^\s']*/", "…/", last)[:300]


def wait_for(process: subprocess.Popen, words: str) -> None:
    for line in process.stdout:
        if words in line:
            return
    raise AssertionError(f"it ended before it said {words!r}")


def killed_group(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


class Faults:
    def __init__(self, home: Path, seed: int) -> None:
        import numpy as np

        self.home, self.rng = home, np.random.default_rng(seed)
        began = time.perf_counter()
        assert finished(started(home / "undisturbed"))[0] == 0
        self.seconds = time.perf_counter() - began
        self.expected = contents(home / "undisturbed")

    def resumed(self, out: Path) -> None:
        code, words = finished(started(out))
        assert code == 0, words
        found = contents(out)
        different = [name for name in set(found) | set(self.expected) if found.get(name) != self.expected.get(name)]
        assert not different, f"not the same: {sorted(different)[:5]}"

    def copy(self, name: str) -> Path:
        return Path(shutil.copytree(self.home / "undisturbed", self.home / name))

    # the faults

    def kill(self) -> dict:
        """kill -9 at random moments, again and again, from the first second to the last."""
        out, kills = self.home / "kill", 0
        while kills < KILLS:
            process = started(out)
            time.sleep(float(self.rng.uniform(0.2, 1.1) * self.seconds))
            if process.poll() is None:
                kills += 1
            else:
                shutil.rmtree(out)  # it came to its end: begin another
            killed_group(process)
        self.resumed(out)
        return {"kills": kills}

    def worker(self) -> dict:
        """One of two joblib workers is killed while it works: the run ends with words, and goes on when begun again."""
        out = self.home / "worker"
        process = started(out, jobs=2)
        wait_for(process, "0 of 4")
        victim = self.busy_child(process.pid)
        os.kill(victim, signal.SIGKILL)
        code, words = finished(process)
        self.resumed(out)
        return {"exit code": code, "said": words}

    def dask_worker(self) -> dict:
        """One of two Dask workers is killed while it works: Dask gives its units to the other."""
        out = self.home / "dask"
        process = started(out, jobs=2, dask="local:2")
        wait_for(process, "0 of 4")
        time.sleep(0.5 * self.seconds)
        victim = self.busy_child(process.pid)
        os.kill(victim, signal.SIGKILL)
        code, words = finished(process)
        self.resumed(out)
        return {"exit code": code, "said": words if code else ""}

    def busy_child(self, pid: int) -> int:
        """A child (or its child) that has used some processor time."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            family, used = [pid], {}
            for each in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError, ValueError):
                    fields = (each / "stat").read_text().rpartition(")")[2].split()
                    if int(fields[1]) in family and int(each.name) != pid:
                        family.append(int(each.name))
                        words = (each / "cmdline").read_text()
                        if "resource_tracker" not in words and "semaphore" not in words:
                            used[int(each.name)] = int(fields[11]) + int(fields[12])
            if used and max(used.values()) > 100:
                return max(used, key=used.__getitem__)
            time.sleep(0.05)
        raise AssertionError("no worker was seen to work")

    def full_disk(self) -> dict:
        """A disk that fills up at some moment, for several sizes: words and exit code; enlarged, the run goes on."""
        said = []
        with mounted(self.home / "disk", "size=4k") as disk:
            for size in (8, 40, 80, 120, 200):
                remount(disk, f"size={size}k")
                code, words = finished(started(disk / "run"))
                half = [path.name for path in disk.rglob(".*") if path.is_file()]
                assert code != 0, f"{size} kB were enough"
                assert not half, f"half-written files were left: {half}"
                said.append({"kB": size, "exit code": code, "said": words})
            remount(disk, "size=200m")
            self.resumed(disk / "run")
        return {"sizes": said}

    def read_only(self) -> dict:
        """A folder that becomes read-only between two units."""
        with mounted(self.home / "ro", "size=50m") as disk:
            process = started(disk / "run")
            wait_for(process, "1 of 4")
            while True:  # the run may hold a file open at this moment
                done = subprocess.run(["mount", "-o", "remount,ro", str(disk)], capture_output=True)
                if not done.returncode or process.poll() is not None:
                    break
            code, words = finished(process)
            remount(disk, "rw")
            self.resumed(disk / "run")
        return {"exit code": code, "said": words}

    def a_file_in_place_of_the_folder(self) -> dict:
        out = self.home / "file"
        out.write_text("mine")
        code, words = finished(started(out))
        assert code != 0
        assert out.read_text() == "mine"
        return {"exit code": code, "said": words}

    def damaged_unit(self) -> dict:
        """Truncated, emptied, bits flipped, another unit's, another run's, a folder in its place: made again."""
        from lifeyears.experiments._store import job_path

        other = self.home / "other"
        code, words = finished(started_other(other))
        assert code == 0, words
        whole = job_path(self.home / "undisturbed", 0, 1).read_bytes()
        flipped = bytearray(whole)
        for at in self.rng.integers(len(whole), size=8):
            flipped[at] ^= 1 << int(self.rng.integers(8))
        kinds = {
            "truncated": whole[: len(whole) // 2],
            "empty": b"",
            "bits flipped": bytes(flipped),
            "zeros": bytes(len(whole)),
            "another unit's": job_path(self.home / "undisturbed", 1, 0).read_bytes(),
            "another run's": job_path(other, 0, 1).read_bytes(),
            "a web page": b"<!DOCTYPE html><html>404</html>",
        }
        for kind, content in kinds.items():
            out = self.copy(f"unit {kind}")
            job_path(out, 0, 1).write_bytes(content)
            self.resumed(out)
        return {"kinds": list(kinds)}

    def clock(self) -> dict:
        """A clock that jumps years ahead and back all the time, and units dated in the future and long ago."""
        out = self.home / "clock"
        code, words = finished(started(out, before=CLOCK))
        assert code == 0, words
        assert contents(out) == self.expected
        for number, path in enumerate(sorted((out / "jobs").iterdir())):
            os.utime(path, (4e9, 4e9) if number % 2 else (1.0, 1.0))
        done = subprocess.run([sys.executable, "-m", "lifeyears", "status", str(out)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self.resumed(out)
        return {"status": done.stdout.strip()}

    def saving(self) -> dict:
        """kill -9 while a saved model is replaced again and again: what is there loads, and is the old or the new."""
        import numpy as np

        import lifeyears as ly

        out = self.home / "models" / "model"
        code = (
            "import sys, lifeyears as ly\n"
            "d = ly.data.simulate_registry(n=200, random_state=1)\n"
            "X = ly.data.TablePreprocessor().fit_transform(d.X)\n"
            "models = [ly.models.Cox(alpha=a, tau=10).fit(X, d.y) for a in (1.0, 2.0)]\n"
            "ly.save(models[0], sys.argv[1], overwrite=True)\n"
            "print('begun', flush=True)\n"
            "while True:\n    for model in models: ly.save(model, sys.argv[1], overwrite=True)\n"
        )
        d = ly.data.simulate_registry(n=200, random_state=1)
        X = ly.data.TablePreprocessor().fit_transform(d.X)
        allowed = [ly.models.Cox(alpha=alpha, tau=10).fit(X, d.y).predict(X) for alpha in (1.0, 2.0)]
        between = 0
        for _ in range(SAVE_KILLS):
            process = subprocess.Popen([sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE, text=True)
            wait_for(process, "begun")
            time.sleep(float(self.rng.uniform(0, 0.2)))
            process.kill()
            process.communicate()
            if not out.exists():  # killed between the two renamings: the old one is beside, and is found again
                between += 1
            said = ly.load(out).predict(X)
            assert any(np.array_equal(said, each) for each in allowed), "neither the old nor the new model"
        return {"kills": SAVE_KILLS, "between two renamings": between}


def started_other(out: Path) -> subprocess.Popen:
    """The same run on other data."""
    code = RUN.replace("random_state=1", "random_state=2")
    command = [sys.executable, "-W", "ignore", "-c", code, str(out), "1", ""]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


class CannotMount(Exception):
    """Not allowed here: the fault is not tried, and that is written down."""


@contextlib.contextmanager
def mounted(place: Path, options: str) -> Iterator[Path]:
    """A small disk in memory (needs to be root)."""
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True, text=True)
    if done.returncode:
        raise CannotMount(done.stderr.strip())
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def remount(place: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True)


FAULTS: dict[str, Callable[[Faults], dict]] = {
    "kill -9": Faults.kill,
    "kill -9 while saving": Faults.saving,
    "a joblib worker dies": Faults.worker,
    "a Dask worker dies": Faults.dask_worker,
    "full disk": Faults.full_disk,
    "read-only folder": Faults.read_only,
    "a file in place of the folder": Faults.a_file_in_place_of_the_folder,
    "damaged unit": Faults.damaged_unit,
    "clock jumps": Faults.clock,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only")
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    found: dict[str, dict] = {}
    failed = False
    with tempfile.TemporaryDirectory(prefix="lifeyears-faults-") as home:
        faults = Faults(Path(home), asked.seed)
        for name in asked.only.split(",") if asked.only else FAULTS:
            began = time.perf_counter()
            try:
                found[name] = {"survived": True, **FAULTS[name](faults)}
            except CannotMount as error:
                found[name] = {"survived": None, "not tried": str(error)}
            except AssertionError as error:
                failed = True
                found[name] = {"survived": False, "failure": str(error)}
            found[name]["s"] = round(time.perf_counter() - began, 1)
            print(f"{name}: {json.dumps(found[name], ensure_ascii=False)}", flush=True)
            known = (read("faults").get("faults", {}) if asked.only or len(found) > 1 else {}) | {name: found[name]}
            known = {each: known[each] for each in FAULTS if each in known}
            write("faults", "python stress/faults.py", {"seed": asked.seed, "faults": known})
    sys.exit(failed)


if __name__ == "__main__":
    main()
