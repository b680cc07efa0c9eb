"""`make stress`: every script of this folder, then the page of what they found (docs/stress_tables.md).

    python stress/run.py [--only fuzz,faults]

It goes through to the end and exits with 1 if anything failed.
"""

import argparse
import subprocess
import sys

from common import HERE

SCRIPTS = {
    "properties": [],
    "fuzz": [],
    "faults": [],
    "cluster": [],
    "scale": ["--afresh"],
    "page": [],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SCRIPTS))
    asked = parser.parse_args()
    failed = []
    for name in asked.only.split(","):
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, str(HERE / f"{name}.py"), *SCRIPTS[name]]).returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all of it holds")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
