"""Where text is taken apart: every place is listed with its reason, and none of them parses an arm or a measure.

To add a package, add it to `PACKAGES`; to add a place, add its line to `ALLOWED` with the reason. A line is known by
its file and its text, so that it may move within the file.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import lifeyears

ROOT = Path(lifeyears.__file__).parent
PACKAGES = ("service", "cli", "report", "experiments")
SCRIPTS = ("service/static",)
METHODS = {"startswith", "endswith", "partition", "rpartition", "split", "rsplit", "removeprefix", "removesuffix"}
IN_SCRIPTS = re.compile(r"\.(startsWith|endsWith|split|match|matchAll|search)\(")

# file → text of the line → why it is no name of an arm or a measure
ALLOWED: dict[str, dict[str, str]] = {
    "service/_guard.py": {
        'private = scope["path"].startswith(("/api", "/openapi"))': "the path of a request",
        'if origin is not None and origin.decode("latin-1").partition("://")[2] != host:': "HTTP's Origin header",
        'kind, _, token = headers.get(b"authorization", b"").partition(b" ")': "HTTP's Authorization header",
        'if host.startswith("["):': "HTTP's Host header: an IPv6 address",
        'return host[1:].partition("]")[0].lower()': "HTTP's Host header: an IPv6 address",
        'return host.partition(":")[0].lower()': "HTTP's Host header: the port is cut off",
    },
    "service/_service.py": {
        'kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()': "HTTP's Content-Type",
    },
    "cli/__init__.py": {
        'folder = next((f"to {folder}" for folder in folders if not folder.name.startswith(".")), "")'
        "  # not a half-written": "a hidden folder of files",
    },
    "cli/_data.py": {
        'return [] if names is None else [name.strip() for name in names.split(",") if name.strip()]': "an option of "
        "the command line: names between commas",
    },
    "cli/rank.py": {
        "if isinstance(value, str) and value.startswith(FORMULA_STARTS) and not find_decimal_marks([value]):": "a cell "
        "that a spreadsheet would take for a formula",
    },
    "experiments/_runner.py": {
        'lost = dask is not None and type(error).__module__.partition(".")[0] == "distributed"': "the package of an "
        "exception's class",
    },
    "experiments/_store.py": {
        'if out.exists() and any(not file.name.startswith(".") for file in out.iterdir()):': "hidden files of a folder",
    },
    "experiments/paper/_numbers.py": {
        'header, *rows = ([cell.strip() for cell in line.split("|")] for line in PAPER_TABLES[name].strip()'
        ".splitlines())": "the paper's printed tables, kept as text: cells between bars",
    },
    "service/static/page.js": {
        'if (key.startsWith("on")) made.addEventListener(key.slice(2), value);': "an attribute of an HTML element",
        "const first = text.slice(0, text.search(/\\r|\\n|$/));": "a CSV file: its first line",
        "const count = (mark) => first.split(mark).length;": "a CSV file: how often a separator is there",
    },
}


def find_in_python(path: Path) -> set[str]:
    """Find the lines of a Python file that take text apart (numpy's `split` of arrays is another)."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    return {
        lines[node.func.end_lineno - 1].strip()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in METHODS
        and not (isinstance(node.func.value, ast.Name) and node.func.value.id == "np")
    }


def find_in_script(path: Path) -> set[str]:
    """Find the lines of a script that take text apart."""
    return {line.strip() for line in path.read_text(encoding="utf-8").splitlines() if IN_SCRIPTS.search(line)}


def find_all() -> dict[str, set[str]]:
    python = {path: find_in_python(path) for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    scripts = {
        path: find_in_script(path)
        for folder in SCRIPTS
        for path in (ROOT / folder).rglob("*.js")
        if not path.name.endswith(".min.js")
    }
    return {path.relative_to(ROOT).as_posix(): found for path, found in (python | scripts).items() if found}


def test_text_is_taken_apart_only_where_it_is_listed_with_a_reason():
    found = find_all()
    unlisted = {file: lines - set(ALLOWED.get(file, {})) for file, lines in found.items()}
    assert {file: lines for file, lines in unlisted.items() if lines} == {}


def test_the_list_holds_nothing_that_is_gone_and_every_reason():
    found = find_all()
    gone = {
        file: set(lines) - found.get(file, set())
        for file, lines in ALLOWED.items()
        if file.partition("/")[0] in {part.partition("/")[0] for part in (*PACKAGES, *SCRIPTS)}
    }
    assert {file: lines for file, lines in gone.items() if lines} == {}
    assert all(reason for lines in ALLOWED.values() for reason in lines.values())


def test_the_search_finds_what_takes_text_apart(tmp_path):
    (tmp_path / "a.py").write_text('x = "Cox ranker".partition(" ")\ny = np.split(z, 2)\n')
    assert find_in_python(tmp_path / "a.py") == {'x = "Cox ranker".partition(" ")'}
    (tmp_path / "a.js").write_text('name.split(" ")\nrows.slice(2)\n')
    assert find_in_script(tmp_path / "a.js") == {'name.split(" ")'}
