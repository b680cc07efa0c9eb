"""Privacy: the import contract fails on a made-up package that breaks it; no module uses another's private names."""

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
if not (ROOT / "tools" / "import_contracts.py").exists():
    pytest.skip("tools/ is in the repository, not beside an installed package", allow_module_level=True)


def write_package(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    for part in {folder / path for path in files}:
        for parent in [part.parent, *part.parent.parents]:
            if parent == folder:
                break
            (parent / "__init__.py").touch()


def lint(folder):
    """Run `lint-imports` on the package `invented` with the type of contract that pyproject.toml declares."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    contract = next(each for each in settings["contracts"] if each["type"] == "privacy")
    lines = ["[tool.importlinter]", 'root_package = "invented"', f"contract_types = {settings['contract_types']}"]
    lines += ["[[tool.importlinter.contracts]]", *(f'{key} = "{value}"' for key, value in contract.items())]
    (folder / "pyproject.toml").write_text("\n".join(lines))
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )


ALLOWED = {
    "invented/a/_inner.py": "VALUE = 1",
    "invented/a/outer.py": "from ._inner import VALUE",
    "invented/a/deep/below.py": "from .._inner import VALUE",
    "invented/_shared.py": "VALUE = 1",
    "invented/_views/_page.py": "VALUE = 1",
    "invented/_views/table.py": "from ._page import VALUE",
    "invented/b/user.py": "from .. import _shared, _views\nfrom ..a import outer",
}


def test_the_contract_holds_where_private_modules_stay_at_home(tmp_path):
    write_package(tmp_path, ALLOWED)
    run = lint(tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "1 kept, 0 broken" in run.stdout


@pytest.mark.parametrize(
    ("statement", "private"),
    [
        ("from ..a._inner import VALUE", "invented.a._inner"),
        ("from ..a import _inner", "invented.a._inner"),
        ("import invented.a._inner", "invented.a._inner"),
        ("def use():\n    from ..a._inner import VALUE", "invented.a._inner"),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..a._inner import V", "invented.a._inner"),
        ("from .._views._page import VALUE", "invented._views._page"),
        ("from .._views.table import VALUE", "invented._views.table"),
    ],
)
def test_the_contract_fails_on_a_private_import_across_packages(tmp_path, statement, private):
    write_package(tmp_path, ALLOWED | {"invented/b/user.py": statement})
    run = lint(tmp_path)
    assert run.returncode == 1, run.stdout + run.stderr
    assert f"invented.b.user imports {private}" in run.stdout
    assert "0 kept, 1 broken" in run.stdout


def module_name(path, source):
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def find_private_names(source):
    """List uses of private names of other modules: `from .a import _name`, and `a._name` of an imported module `a`."""
    paths = sorted(source.rglob("*.py"))
    modules = {module_name(path, source) for path in paths}
    uses = []
    for path in paths:
        tree, here = ast.parse(path.read_text()), module_name(path, source)
        package = here if path.name == "__init__.py" else here.rpartition(".")[0]
        imported = {}  # local names of modules
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                origin = ".".join([*above, *([node.module] if node.module else [])])
                for alias in node.names:
                    if f"{origin}.{alias.name}" in modules:
                        imported[alias.asname or alias.name] = f"{origin}.{alias.name}"
                    elif origin in modules and is_private(alias.name):
                        uses.append(f"{here}:{node.lineno} {origin}.{alias.name}")
            elif isinstance(node, ast.Import):
                imported |= {alias.asname: alias.name for alias in node.names if alias.asname and alias.name in modules}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and is_private(node.attr):
                module = imported.get(node.value.id)
                if module and f"{module}.{node.attr}" not in modules:
                    uses.append(f"{here}:{node.lineno} {module}.{node.attr}")
    return uses


def test_private_names_of_other_modules_are_noticed(tmp_path):
    write_package(
        tmp_path,
        {
            "invented/a/tools.py": "_secret = 1\nopen_to_all = 2",
            "invented/a/_inner.py": "",
            "invented/a/user.py": "from . import _inner\nfrom . import tools as t\nprint(t.open_to_all, t._secret)",
            "invented/b/user.py": "from ..a.tools import open_to_all, _secret\nimport numpy as np\nnp._secret",
        },
    )
    assert find_private_names(tmp_path) == [
        "invented.a.user:3 invented.a.tools._secret",
        "invented.b.user:1 invented.a.tools._secret",
    ]


def test_no_module_uses_private_names_of_another():
    assert find_private_names(SOURCE) == []
