"""Every command and every block of Python in README and docs runs, in the order of its page.

A page is one test, in a folder of its own with a table `my.csv`. The default suite makes what is marked as long smaller
(see `pages.Block`); `pytest -m hours` runs it as it stands, in a real shell.
"""

import ast
import contextlib
import inspect
import json
import os
import re
import runpy
import shlex
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from pages import ROOT, all_pages, blocks_of, commands_within, links_of, name_of

import lifeyears as ly
from lifeyears.cli import app, run

PAGES = all_pages()
SAID = re.compile(r"#\s*(-?\d+(?:\.\d+)?(?:, -?\d+(?:\.\d+)?)*)(?=$|[ :;])")
BIN = Path(sys.executable).parent
if not PAGES:
    pytest.skip("the tests were copied without README and docs", allow_module_level=True)

# What the default suite adds to commands that are marked as long
SMALL = {
    "compare": "--models KM,Cox --folds 2 --jobs 1 --rows 300",
    "demo": "--rows 400 --jobs 1",
    "fit": "--preset none --jobs 1",
    "reproduce": "--rows 300 --iterations 1 --folds 2 --models KM --default-over none --jobs 1",
    "simulate": "--dry-run",
    "datasets": "--rows 2000",
}
# Names a page speaks of as the reader's own
BEFORE = {
    "docs/allocation.md": """
import numpy as np, lifeyears as ly
relevance = np.random.default_rng(0).exponential(5, 10_500)
s1, s2 = relevance + 5, relevance - 5
table = ly.data.simulate_registry(n=400, random_state=1)
candidates, donor = table.X.iloc[:20], table.X.iloc[20:21]
listed, until_death = table.X, table.y
""",
    "docs/service.md": """
import json
from pathlib import Path
import lifeyears as ly
from lifeyears.cli import run
table = ly.data.simulate_registry(n=400, random_state=0)
few = table.X[["age", "sex", "bmi", "donor_age", "donor_sex"]]
few.assign(years=table.y.time, died=table.y.event.astype(int)).to_csv("my.csv", index=False)
few[["age", "sex", "bmi"]].head(20).to_csv("waitlist.csv", index=False)
donor = few[["donor_age", "donor_sex"]].dropna().iloc[0]
Path("donor.json").write_text(json.dumps({"donor_age": float(donor["donor_age"]), "donor_sex": donor["donor_sex"]}))
if not small:
    run(["compare", "my.csv", "--time", "years", "--event", "died", "--models", "KM"])
""",
}


def made_table(folder: Path) -> None:
    """A reader's table: times, events, some numbers, a category, gaps, an identifier."""
    rng = np.random.default_rng(0)
    n = 600
    age, stage = rng.normal(55, 10, n).round(), rng.choice(["I", "II", "III"], n)
    life = 9 * rng.weibull(1.2, n) * np.exp(-(age - 55) / 30 - 0.5 * (stage == "III"))
    end = rng.uniform(0.5, 15, n)
    table = pd.DataFrame({"patient_id": [f"P{row:04}" for row in range(n)], "age": age, "stage": stage})
    table["creatinine"] = np.where(rng.random(n) < 0.1, np.nan, rng.gamma(4, 0.3, n).round(2))
    table["years"], table["died"] = np.minimum(life, end).round(3) + 0.001, (life <= end).astype(int)
    table.to_csv(folder / "my.csv", index=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    made_table(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.fixture
def running():
    """Services a page has started; they end with it."""
    with contextlib.ExitStack() as services:
        yield services


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_runs(page, folder, running):
    run_page(page, folder, running, small=True)


@pytest.mark.hours
@pytest.mark.parametrize("page", [p for p in PAGES if any(b.long for b in blocks_of(p))], ids=name_of)
def test_a_page_runs_at_full_size(page, folder, running):
    run_page(page, folder, running, small=False)


def run_page(page, folder, running, small):
    names = {"__name__": "__main__", "small": small}
    exec(BEFORE.get(name_of(page), ""), names)
    port = free_port()
    for block in blocks_of(page):
        if block.language == "yaml":  # a configuration that commands on the page may name
            (folder / "my.yaml").write_text(block.code)
    for block in blocks_of(page):
        code = (block.small() if small and block.long else block.code).replace("8000", str(port))
        if block.language == "python":
            run_python(code, name_of(page), block.line, names, compared=not (small and block.long))
            plt.close("all")
        elif block.language in ("sh", "bash", "console"):
            for command in shell_lines(code):
                where = f"{name_of(page)}:{block.line + 1}"
                run_command(command, folder, running, port, where, small=small and block.long, real=not small)


def run_python(code, page, line, names, compared):
    """One statement after the other; where a comment says what comes out (`# 0.98`), that is compared."""
    tree = ast.increment_lineno(ast.parse(code, page), line)  # so that an error names the page and its line
    lines = code.splitlines()
    for node in tree.body:
        said = SAID.search(lines[node.end_lineno - line - 1])
        if not isinstance(node, ast.Expr) or said is None or not compared:
            exec(compile(ast.Module([node], []), page, "exec"), names)
            continue
        printed = isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "print"
        value = eval(compile(ast.Expression(node.value.args[0] if printed else node.value), page, "eval"), names)
        numbers = said[1].split(", ")
        digits = max(len(number.partition(".")[2]) for number in numbers)
        expected = np.array(numbers, dtype=float)
        assert np.ravel(value) == pytest.approx(expected, abs=0.501 * 10.0**-digits), f"{page}, line {node.lineno}"


def shell_lines(code):
    joined = code.replace("\\\n", " ")
    stripped = (re.sub(r"(^|\s)#.*$", "", line).removeprefix("$ ").strip() for line in joined.splitlines())
    return [line for line in stripped if line]


def run_command(command, folder, running, port, where, small, real):
    words = shlex.split(command)
    if words[0] == "make":  # what the targets do is what continuous integration runs; here: that they are there
        done = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True, text=True)
    elif words[:2] == ["pip", "install"]:  # tests/packaging installs; here: that the extras are there
        check_extras(words)
        return
    elif words[0] in ("git", "cd", "python3"):  # getting the sources, and an environment
        return
    elif words[0] == "python" and (ROOT / words[1]).exists():
        check_script(words)
        return
    elif words[:2] == ["lifeyears", "serve"] and "--help" not in words:
        running.close()  # one at a time, at one port
        running.enter_context(service(words, folder, str(port)))
        return
    elif words[0] == "lifeyears" and not real and not re.search(r"[|<>&;]", command):
        added = shlex.split(SMALL.get(words[1], "")) if small else []
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            code = run([*words[1:], *added])
        assert code == 0, f"{where}: `{command}` ended with exit code {code}"
        return
    else:
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            command, shell=True, cwd=folder, capture_output=True, text=True, env={**os.environ, "PATH": path}
        )
    assert done.returncode == 0, f"{where}: `{command}`\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def check_extras(words):
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extras in re.findall(r"\[([\w,]+)\]", " ".join(words)):
        assert set(extras.split(",")) <= set(known), f"{' '.join(words)}: pyproject has {', '.join(known)}"


def check_script(words):
    text = (ROOT / words[1]).read_text()
    missing = [word for word in words[2:] if word.startswith("--") and f'"{word.split("=")[0]}"' not in text]
    assert not missing, f"{words[1]} takes no {missing}"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def service(words, folder, port):
    """`lifeyears serve` in the background, from the moment it answers to the end of the page."""
    words = [word for word in words if word != "&"] + ([] if "--port" in words else ["--port", port])
    process = subprocess.Popen(
        [sys.executable, "-m", "lifeyears", *words[1:]], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health", timeout=2).close()
                break
            assert process.poll() is None, process.stderr.read().decode()[-2000:]
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait(30)
        process.stderr.close()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_named_in_the_text_exist(page):
    from typer.main import get_command

    commands = get_command(app).commands
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    for command in commands_within(page):
        words = [word for word in command.split() if word != "…"]
        if words[0] == "make":
            assert words[1] in targets, f"{name_of(page)}: `{command}`"
        elif words[0] == "python":
            assert (ROOT / words[1]).exists(), f"{name_of(page)}: `{command}`"
            check_script(words)
        else:
            names = [word for word in command.removeprefix("lifeyears ").split(" | ") if " " not in word] or words[1:2]
            unknown = [name for name in names if name not in commands]
            assert not unknown, f"{name_of(page)}: `{command}`: there is no command {unknown[0]}"
            options = {option for parameter in commands[names[0]].params for option in parameter.opts}
            missing = [w for w in words if w.startswith("--") and w.split("=")[0] not in {*options, "--help"}]
            assert not missing, f"{name_of(page)}: `{command}`: {names[0]} takes no {missing[0]}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_and_pictures_are_there(page):
    missing = [target for target in links_of(page) if not (page.parent / target).exists()]
    assert not [target for target in missing if not target.startswith("gallery/")]


def test_every_picture_is_on_a_page_that_names_the_command_that_makes_it():
    pages = [page.read_text() for page in PAGES if page.name != "README.md"]
    named = [text for text in pages if re.search(r"`(python (docs|benchmarks|stress)/\w+\.py|make [a-z]+)", text)]
    shown = {picture for page in PAGES for picture in re.findall(r"images/[\w-]+\.png", page.read_text())}
    assert shown
    assert [picture for picture in sorted(shown) if not any(picture in text for text in named)] == []


def test_the_api_page_has_every_public_class_and_function_and_no_other():
    page = (ROOT / "docs" / "api.md").read_text()
    listed = re.findall(r"^   ([\w.]+)$", page, re.M)
    parts = [name for name in ly.__all__ if inspect.ismodule(getattr(ly, name))]
    public = set(ly.__all__) - {*parts, "__version__"}
    for part in parts:
        public |= {f"{part}.{name}" for name in getattr(ly, part).__all__ if not name.isupper() or name == "IPCW"}
    public -= {"ranking.BootstrappedRanker", "ranking.StackedRanker"}  # they are lifeyears.BootstrappedRanker, …
    assert sorted(listed) == sorted(public)


def test_every_folder_of_the_package_but_the_commands_is_one_of_its_parts():
    folders = {path.parent.name for path in (ROOT / "src" / "lifeyears").glob("*/__init__.py")}
    public = {name for name in folders if not name.startswith("_")}
    assert public - {"cli"} == {name for name in ly.__all__ if hasattr(getattr(ly, name), "__path__")}


SCRIPTS = sorted((ROOT / "docs" / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_a_gallery_script_runs(script, folder):
    runpy.run_path(str(script))
    assert plt.get_fignums()
    plt.close("all")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_a_gallery_script_has_a_title_and_compiles(script):
    """`make docs` runs them; here they are read."""
    text = script.read_text()
    compile(text, str(script), "exec")
    assert re.match(r'"""\n(.+)\n(=+)\n\n', text), "a gallery script begins with its title and what it shows"
    assert "plt.show()" in text


def test_the_table_of_the_readers_is_read_as_meant(folder):
    data = ly.data.read_table("my.csv", time="years", event="died")
    assert len(data) == 600
    assert json.loads(json.dumps(list(data.X.columns))) == ["age", "stage", "creatinine"]
