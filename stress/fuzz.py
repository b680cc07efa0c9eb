"""Fuzzing: every reader and the command line, at least 100,000 inputs: no traceback, no crash, no hang, no file left.

    python stress/fuzz.py                                 # all
    python stress/fuzz.py --only load --inputs 500        # some
    python stress/fuzz.py --only load --replay 123        # one input again, with its traceback

Input number i of a target is made by numpy's generator with the seed (SEED, i) from valid seeds, so that each can be
made again. Each target runs in a process of its own: a crash of a library is found, too.
"""

import argparse
import faulthandler
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from common import ONE_THREAD, read, write

os.environ |= ONE_THREAD
SEED, LIMIT, MOST_SHOWN, PROCESSES = 0, 60.0, 20, 40  # an alarm rings in seconds of the clock, not of the processor


class Hang(BaseException):
    """Raised when an input takes longer than LIMIT seconds."""


def alarm(*_: object) -> None:
    raise Hang


def one_target(name: str, inputs: range, folder: str, box: object, at: object) -> None:
    """Feed a target; `at` holds the number of the input being tried, and the box gets what was found at the end."""
    import numpy as np
    from fuzz_targets import TARGETS

    faulthandler.enable()
    signal.signal(signal.SIGALRM, alarm)
    target = TARGETS[name][0](Path(folder) / "in")
    found: dict = {"inputs": 0, "read": 0, "refused": 0, "slowest s": 0.0, "failures": []}
    start = time.perf_counter()
    for number in inputs:
        at.value = number
        made = target.make(np.random.default_rng((SEED, number)))
        began = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, LIMIT)
        try:
            read = target.tried(made)
            found["read" if read else "refused"] += 1
        except Hang:
            found["failures"].append({"input": number, "error": f"not done after {LIMIT} s"})
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(last.filename).name}:{last.lineno}"
            found["failures"].append(
                {"input": number, "error": f"{type(error).__name__}: {str(error)[:300]}", "where": where}
            )
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        found["slowest s"] = round(max(found["slowest s"], time.perf_counter() - began), 2)
        found["inputs"] += 1
    found["s"] = round(time.perf_counter() - start, 1)
    box.send(found)


def watched(process: multiprocessing.Process, here: object, number: object) -> dict | None:
    """What the process found, or None if it crashed or stood still where no alarm is heard (it is killed then)."""
    last, since = -1, time.monotonic()
    while not here.poll(1.0):
        if not process.is_alive() and not here.poll(1.0):
            break
        if number.value != last:
            last, since = number.value, time.monotonic()
        elif time.monotonic() - since > 10 * LIMIT:
            process.kill()
            break
    try:
        done = here.recv() if here.poll() else None
    except EOFError:
        done = None
    process.join()
    return done


def fuzz(name: str, inputs: range) -> dict:
    """All inputs of a target; after a crash it goes on behind the input that crashed."""
    total: dict = {"inputs": 0, "read": 0, "refused": 0, "slowest s": 0.0, "failures": [], "s": 0.0}
    context = multiprocessing.get_context("spawn")
    at = inputs.start
    while at < inputs.stop:
        folder = tempfile.mkdtemp(prefix="lifeyears-fuzz-")
        here, there = context.Pipe(duplex=False)
        number = context.Value("q", at, lock=False)
        process = context.Process(target=one_target, args=(name, range(at, inputs.stop), folder, there, number))
        process.start()
        there.close()
        first, done = at, watched(process, here, number)
        at = number.value
        shutil.rmtree(folder, ignore_errors=True)
        if done is None:
            total["failures"].append({"input": at, "error": f"the process ended with code {process.exitcode}"})
            done = {"inputs": at - first + 1}
            at += 1
        else:
            at = inputs.stop
        for key, value in done.items():
            total[key] = max(total[key], value) if key == "slowest s" else total[key] + value
    return total


def subprocesses(inputs: int) -> dict:
    """Some of the commands in a process of their own, as a shell would."""
    import numpy as np
    from fuzz_targets import CommandTarget

    found: dict = {"inputs": 0, "read": 0, "refused": 0, "slowest s": 0.0, "failures": [], "s": 0.0}
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        target = CommandTarget(Path(folder) / "in")
        before = target.listing()
        for number in range(inputs):
            made = [word for word in target.make(np.random.default_rng((SEED + 1, number))) if "\x00" not in word]
            began = time.perf_counter()
            try:
                done = subprocess.run(
                    [sys.executable, "-m", "lifeyears", *made],
                    capture_output=True,
                    cwd=target.folder,
                    timeout=6 * LIMIT,
                )
            except subprocess.TimeoutExpired:
                found["failures"].append({"input": number, "error": f"not done after {6 * LIMIT} s: {made}"})
                continue
            finally:
                found["inputs"] += 1
            found["slowest s"] = round(max(found["slowest s"], time.perf_counter() - began), 2)
            if done.returncode not in (0, 2) or b"Traceback" in done.stderr or target.listing() != before:
                found["failures"].append(
                    {"input": number, "error": f"{done.returncode}: {made} {done.stderr[-300:]!r}"}
                )
            found["read" if done.returncode == 0 else "refused"] += 1
    found["s"] = round(time.perf_counter() - start, 1)
    return found


def replay(name: str, number: int) -> None:
    import numpy as np
    from fuzz_targets import TARGETS

    with tempfile.TemporaryDirectory() as folder:
        target = TARGETS[name][0](Path(folder) / "in")
        made = target.make(np.random.default_rng((SEED, number)))
        print(repr(made)[:3000])
        signal.signal(signal.SIGALRM, alarm)
        signal.setitimer(signal.ITIMER_REAL, LIMIT)
        print("read" if target.tried(made) else "refused")


def few(inputs: int, share: float) -> int:
    return min(inputs, max(2, round(inputs * share)))


def main() -> None:
    from fuzz_targets import TARGETS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only")
    parser.add_argument("--inputs", type=int)
    parser.add_argument("--share", type=float, default=1.0, help="of the inputs that each target gets otherwise")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--replay", type=int)
    asked = parser.parse_args()
    if asked.replay is not None:
        replay(asked.only, asked.replay)
        return
    found: dict[str, dict] = {}
    order = [*TARGETS, "command line as processes"]
    failed = 0
    for name in asked.only.split(",") if asked.only else order:
        if name == "command line as processes":
            row = subprocesses(asked.inputs or few(PROCESSES, asked.share))
        else:
            row = fuzz(name, range(asked.start, asked.start + (asked.inputs or few(TARGETS[name][1], asked.share))))
        failed += len(row["failures"])
        counts = {key: value for key, value in row.items() if key != "failures"}
        print(f"{name}: {counts}, {len(row['failures'])} failures", flush=True)
        for failure in row["failures"][:MOST_SHOWN]:
            print(f"  {failure}", flush=True)
        if asked.inputs is None:
            found = (read("fuzz").get("targets", {}) if asked.only or found else {}) | {name: row}
            found = {each: found[each] for each in order if each in found}
            inputs = sum(each["inputs"] for each in found.values())
            failures = sum(len(each["failures"]) for each in found.values())
            results = {"seed": SEED, "limit s": LIMIT, "inputs": inputs, "failures": failures, "targets": found}
            write("fuzz", "python stress/fuzz.py", results)
            print(f"{inputs:,} inputs so far, {failures} failures", flush=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
