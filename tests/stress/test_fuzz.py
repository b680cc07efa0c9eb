"""The small version of stress/fuzz.py: some inputs for every reader and the command line."""

import sys
from pathlib import Path

import numpy as np
import pytest

STRESS = Path(__file__).resolve().parents[2] / "stress"
if not STRESS.exists():
    pytest.skip("stress/ is in the repository, not beside an installed package", allow_module_level=True)
sys.path.insert(0, str(STRESS))

from fuzz_targets import TARGETS

FEW = {
    "as_outcome": 300,
    "read_table csv": 40,
    "read_table csv.gz": 10,
    "read_table csv.zip": 10,
    "read_table parquet": 10,
    "read_table xlsx": 10,
    "read_table dta": 10,
    "read_table sas7bdat": 2,
    "read_star": 5,
    "load": 25,
    "read_config": 60,
    "run folder": 20,
    "command line": 40,
}
NEEDS = {"read_table parquet": "pyarrow", "read_table xlsx": "openpyxl"}


def test_every_target_is_tried_here():
    assert set(FEW) == set(TARGETS) - {"damaged unit"}  # whole runs: tests/stress/test_faults.py has some


@pytest.mark.parametrize("name", FEW)
def test_nothing_is_answered_but_by_a_result_or_in_words(name, tmp_path):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    target = TARGETS[name][0](tmp_path / "in")
    for number in range(FEW[name]):
        target.tried(target.make(np.random.default_rng((7, number))))  # raises what `make stress` would count
