"""What docs/security.md says: nothing connects to another host, nothing from a file is executed."""

import ast
import socket
from pathlib import Path

import pytest

import lifeyears as ly

SOURCE = Path(ly.__file__).parent
CONNECTING = {
    "urllib",
    "http",
    "requests",
    "httpx",
    "aiohttp",
    "ftplib",
    "smtplib",
    "socket",
    "ssl",
    "telnetlib",
    "xmlrpc",
}
LISTENING = {"service/_server.py"}  # the service, which listens
EXECUTING_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "code", "runpy"}
EXECUTING = {"eval", "exec", "compile", "__import__", "os.system", "yaml.load", "joblib.load", "torch.load"}


def used(path: Path) -> tuple[set[str], set[str]]:
    """Top-level modules that a file imports, and names that it calls."""
    imported, called = set(), set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imported.add(node.module.split(".")[0])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called.add(node.func.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called.add(f"{getattr(node.func.value, 'id', '')}.{node.func.attr}")
    return imported, called


def test_no_module_could_connect_or_execute():
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        imported, called = used(path)
        assert name in LISTENING or not imported & CONNECTING, name
        assert not imported & EXECUTING_MODULES, name
        assert not called & EXECUTING, name


def test_fitting_running_and_saving_connect_to_nobody(monkeypatch, tmp_path):
    def refused(self, address):
        pytest.fail(f"a connection to {address}")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket.socket, "connect_ex", refused)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: refused(None, args))
    data = ly.data.simulate_registry(n=120, random_state=0)
    ranker = ly.BootstrappedRanker(tau=10.0, n_estimators=3, random_state=0, n_jobs=1)
    ly.load(ly.save(ranker.fit(data.X, data.y), tmp_path / "model")).predict(data.X)
    options = {"iterations": 1, "folds": 2, "models": ("KM",), "stacked_over": (), "waitlist": 20, "tau": 10.0}
    ly.experiments.run("full", data, tmp_path / "run", n_jobs=1, **options)
