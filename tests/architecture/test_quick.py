"""The list of quick tests, `tests/quick.txt`, has some of every package."""

from pathlib import Path

import lifeyears as ly

TESTS = Path(__file__).resolve().parents[1]


def test_every_package_has_quick_tests():
    listed = [line for line in (TESTS / "quick.txt").read_text().splitlines() if not line.startswith("-")]
    packages = {path.parent.name for path in Path(ly.__file__).parent.glob("*/__init__.py")} - {"_views"}
    assert packages - {line.split("/")[1] for line in listed} == set()
    assert [line for line in listed if not (TESTS.parent / line.partition("::")[0]).exists()] == []


def test_every_quick_test_exists():
    single = [line.split("::") for line in (TESTS / "quick.txt").read_text().splitlines() if "::" in line]
    missing = [
        (path, name)
        for path, name in single
        if f"def {name}(" not in (TESTS.parent / path.removeprefix("--deselect=")).read_text()
    ]
    assert missing == []
