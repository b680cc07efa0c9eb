"""A process that loads saved models and writes what they say."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from ..names import ly
from .learning import said


def main(folder: Path) -> None:
    """Load the models of a folder and ask each about its table."""
    tables = pickle.loads((folder / "tables.pickle").read_bytes())
    found = {name: said(ly.load(folder / name), table) for name, table in tables.items()}
    (folder / "said.pickle").write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
