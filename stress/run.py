"""`make stress`: every script of this folder, then the page of what they found (docs/stress_tables.md).

    python stress/run.py [--only fuzz,faults]
    python stress/run.py --small                # `make stress-small`: a few of everything, in minutes; nothing is kept

It goes through to the end and exits with 1 if anything failed.
"""

import argparse
import os
import subprocess
import sys
import tempfile

from common import HERE

SCRIPTS = {
    "properties": [],
    "fuzz": [],
    "faults": [],
    "cluster": [],
    "scale": ["--afresh"],
    "page": [],
}
QUICK_FAULTS = (
    "kill -9 while saving",
    "a joblib worker dies",
    "a Dask worker dies",
    "read-only folder",
    "a file in place of the folder",
)
SMALL = {
    "properties": ["--examples", "20", "--largest", "10000"],
    "fuzz": ["--share", "0.04"],
    "faults": ["--only", ",".join(QUICK_FAULTS)],
    "cluster": ["--rows", "8000", "--cohorts", "2"],
    "scale": ["--rows", "10000"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only")
    parser.add_argument("--small", action="store_true")
    asked = parser.parse_args()
    scripts = SMALL if asked.small else SCRIPTS
    failed = []
    with tempfile.TemporaryDirectory(prefix="lifeyears-stress-") as scratch:
        kept = {"LIFEYEARS_STRESS_RESULTS": scratch} if asked.small else {}
        for name in asked.only.split(",") if asked.only else scripts:
            print(f"== {name}", flush=True)
            command = [sys.executable, str(HERE / f"{name}.py"), *scripts[name]]
            if subprocess.run(command, env=os.environ | kept).returncode:
                failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all of it holds")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
