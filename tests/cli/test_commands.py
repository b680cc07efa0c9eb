import subprocess
import sys

import pytest

from lifeyears.cli import run


def out_of(capsys, *arguments):
    code = run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_version_lists_what_is_installed(capsys):
    code, out, _ = out_of(capsys, "version")
    assert code == 0
    assert "lifeyears" in out
    assert "scikit-learn" in out


def test_no_command_shows_the_help(capsys):
    code, out, err = out_of(capsys)
    assert code == 0
    assert "demo" in out + err


@pytest.mark.parametrize("command", ["demo", "datasets", "version"])
def test_every_help_has_an_example(capsys, command):
    code, out, _ = out_of(capsys, command, "--help")
    assert code == 0
    assert f"lifeyears {command}" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dmeo",), "No such command 'dmeo'"),
        (("demo", "--rosw", "5"), "--rosw"),
        (("demo", "--rows", "many"), "--rows"),
        (("demo", "--rows", "5"), "--rows"),
        (("datasets", "suport2"), "support2"),
        (("datasets", "support2", "--against-paper"), "lifeyears datasets registry --against-paper"),
        (("datasets", "registry", "--against-paper", "--models", "KM,Cocks"), "no model Cocks"),
        (("datasets", "registry", "--against-paper", "--models", ""), "--models names no model; there are KM, Cox"),
        (("datasets", "registry", "--against-paper", "--models", " , "), "--models names no model"),
        (("datasets", "registry", "--models", "Cox"), "lifeyears datasets registry --against-paper --models"),
        (("datasets", "support2", "--rows", "500"), "--rows would change nothing here"),
        (("datasets", "support2", "--seed", "0"), "lifeyears datasets registry --seed"),
        (("datasets", "--rows", "500", "--seed", "1"), "--rows and --seed would change nothing here"),
        (("datasets", "--against-paper"), "lifeyears datasets registry --against-paper"),
        (("datasets", "registry", "--seed", "-1"), "--seed"),
        (("datasets", "registry", "--rows", "50"), "--rows"),
    ],
)
def test_wrong_requests_exit_2_with_plain_words(capsys, arguments, message):
    code, _, err = out_of(capsys, *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_failures_and_interruptions_have_their_own_codes(capsys, monkeypatch):
    for error, code in ((RuntimeError("broken"), 1), (KeyboardInterrupt(), 130)):

        def fail(error=error):
            raise error

        monkeypatch.setattr("lifeyears._versions.show_versions", fail)
        assert out_of(capsys, "version")[0] == code


def test_traceback_on_request(monkeypatch):
    monkeypatch.setenv("LIFEYEARS_TRACEBACK", "1")
    with pytest.raises(ValueError, match="suport2"):
        run(["datasets", "suport2"])


def test_datasets_lists_and_describes(capsys):
    code, out, _ = out_of(capsys, "datasets")
    assert code == 0
    assert "hdfail" in out
    assert "registry" in out
    code, out, _ = out_of(capsys, "datasets", "registry", "--rows", "500")
    assert code == 0
    assert "500 subjects" in out
    assert "95th percentile" in out


def test_demo_prints_five_models_and_a_sentence(capsys):
    code, out, _ = out_of(capsys, "demo", "--rows", "600")
    assert code == 0
    for model in ("KM", "Cox", "AFT", "DeepSurv", "DeepHit", "truth known"):
        assert model in out
    assert "By C-index one would choose" in out


def test_registry_beside_the_paper(capsys):
    code, out, _ = out_of(capsys, "datasets", "registry", "--against-paper", "--models", "KM", "--rows", "1500")
    assert code == 0
    for words in ("UNOS", "share censored, %", "2011–13", "AUC at 15 years"):
        assert words in out


def test_the_installed_command_runs():
    done = subprocess.run([sys.executable, "-m", "lifeyears", "version"], capture_output=True, text=True, check=True)
    assert "numpy" in done.stdout
