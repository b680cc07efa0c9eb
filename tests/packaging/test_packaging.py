"""Wheel and sdist: they build, are well formed, and work on the oldest and the newest dependencies."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
pytestmark = pytest.mark.slow


def run(*command, **kwargs):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **kwargs)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", out, ROOT)
    return out


def test_wheel_and_sdist_are_well_formed(built):
    files = sorted(built.iterdir())
    assert [file.suffix for file in files] == [".whl", ".gz"]
    assert "PASSED" in run(sys.executable, "-m", "twine", "check", "--strict", *files)


@pytest.mark.parametrize(
    ("name", "constraints", "which"),
    [
        ("oldest", HERE / "constraints-oldest.txt", "*.whl"),
        ("newest", ROOT / "constraints.txt", "*.whl"),
        ("from the sdist", ROOT / "constraints.txt", "*.tar.gz"),
    ],
)
def test_the_suite_passes_where_it_is_installed(built, tmp_path, name, constraints, which):
    """In a clean environment without the peers, whose pins would hold the newest versions back."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    package = next(built.glob(which))
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint", constraints]
    if name == "from the sdist":  # that it installs and runs is enough: the code is the wheel's
        run(*pip, package)
        assert "lifeyears" in run(tmp_path / "env" / "bin" / "lifeyears", "version", cwd=tmp_path)
        return
    run(*pip, "torch")
    run(*pip, f"{package}[deep,data,tables]", "pytest", "hypothesis", "polars")
    for part in ("tests", "stress"):
        shutil.copytree(ROOT / part, tmp_path / part)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    # each major release may deprecate what an older one needs: warnings are errors in the developers' environment only
    skipped = "--ignore=tests/docs"  # the pages are not in the package
    out = run(python, "-m", "pytest", "-q", "-W", "default", skipped, "tests", cwd=tmp_path)
    assert " passed" in out


def test_the_oldest_neighbours_work_with_it(built, tmp_path):
    """scikit-survival pins scikit-learn and lifelines pandas: the newest of both are in the developers' environment."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    package = next(built.glob("*.whl"))
    oldest = ["--constraint", HERE / "constraints-neighbours.txt"]
    run(*pip, *oldest, "torch")
    run(*pip, *oldest, f"{package}[deep,peers]", "polars", "pyarrow", "pytest")
    for part in ("neighbours", "models", "reference", "conftest.py"):
        path = ROOT / "tests" / part
        (shutil.copytree if path.is_dir() else shutil.copy)(path, _made(tmp_path / "tests") / part)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    wanted = ("tests/neighbours", "tests/models/test_wrap.py", "tests/models/adapters", "tests/models/peers")
    out = run(python, "-m", "pytest", "-q", "-W", "default", *wanted, cwd=tmp_path)
    assert " passed" in out


def test_peers_that_are_no_extra_work_with_it(built, tmp_path):
    """CatBoost is large, and the wheel of hazardous holds data of unclear licence: neither is a dependency."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    package = next(built.glob("*.whl"))
    run(*pip, "--constraint", ROOT / "constraints.txt", f"{package}[peers]", "catboost", "hazardous", "pytest")
    for part in ("models", "conftest.py"):
        path = ROOT / "tests" / part
        (shutil.copytree if path.is_dir() else shutil.copy)(path, _made(tmp_path / "tests") / part)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    wanted = ("tests/models/adapters", "tests/models/peers")
    out = run(python, "-m", "pytest", "-q", "-W", "default", *wanted, cwd=tmp_path)
    assert " passed" in out
    assert "skipped" not in out  # everything that the tests look for is here


def _made(folder):
    folder.mkdir(exist_ok=True)
    return folder
