"""What the stress scripts share: where results go, the machine, and the environment of their processes."""

import json
import os
import platform
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = Path(os.environ.get("LIFEYEARS_STRESS_RESULTS", HERE / "results"))
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}


def machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()}"


def versions() -> dict[str, str]:
    from lifeyears._versions import installed_versions

    return installed_versions()


def write(name: str, command: str, results: dict, folder: Path = RESULTS) -> Path:
    """One JSON file a script: the command that made it, where, and what was found."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    content = {"command": command, "machine": machine(), "versions": versions(), **results}
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    beside.replace(path)
    return path


def read(name: str) -> dict:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}
