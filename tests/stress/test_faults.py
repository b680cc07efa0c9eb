"""The small version of stress/faults.py, in this process: a full disk, a foreign unit, a clock that jumps."""

import errno
import itertools
import os
import shutil
import time

import numpy as np
import pytest

import lifeyears as ly
from lifeyears.experiments._store import job_path, load_job

SMALL = {"iterations": 1, "folds": 2, "models": ("KM",), "stacked_over": (), "waitlist": 20, "tau": 10.0}


@pytest.fixture(scope="module")
def data():
    return ly.data.simulate_registry(n=120, random_state=1)


@pytest.fixture(scope="module")
def undisturbed(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    ly.experiments.run("full", data, out, n_jobs=1, **SMALL)
    return out


def contents(out):
    files = (path for path in sorted(out.rglob("*")) if path.is_file() and path.name != "manifest.json")
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def test_a_full_disk_leaves_nothing_half_written_and_the_run_goes_on(undisturbed, data, tmp_path, monkeypatch):
    left, real = itertools.count(), os.fsync

    def full(descriptor):
        if next(left) == 2:  # the manifest and a unit fit
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr("os.fsync", full)
    out = tmp_path / "run"
    with pytest.raises(OSError, match="No space left"):
        ly.experiments.run("full", data, out, n_jobs=1, **SMALL)
    assert sorted(contents(out)) == ["jobs/iteration-00-fold-00.npz"]
    monkeypatch.undo()
    ly.experiments.run("full", data, out, n_jobs=1, **SMALL)
    assert contents(out) == contents(undisturbed)


def test_a_full_disk_while_saving_leaves_the_old_model(data, tmp_path, monkeypatch):
    X = ly.data.TablePreprocessor().fit_transform(data.X)
    old = ly.models.KaplanMeier(tau=10).fit(X, data.y)
    path = ly.save(old, tmp_path / "model")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("lifeyears.saving.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        ly.save(ly.models.KaplanMeier(tau=5).fit(X, data.y), path, overwrite=True)
    monkeypatch.undo()
    assert [each.name for each in tmp_path.iterdir()] == ["model"]
    np.testing.assert_array_equal(ly.load(path).predict(X), old.predict(X))


def test_a_model_whose_replacement_was_killed_is_still_there(data, tmp_path, monkeypatch):
    """Killed between the two renamings of `save`: the old model lies beside, and is found."""
    X = ly.data.TablePreprocessor().fit_transform(data.X)
    old = ly.models.KaplanMeier(tau=10).fit(X, data.y)
    path = ly.save(old, tmp_path / "model")
    path.rename(tmp_path / ".model.old-4711")
    np.testing.assert_array_equal(ly.load(path).predict(X), old.predict(X))
    new = ly.models.KaplanMeier(tau=5).fit(X, data.y)
    ly.save(new, path, overwrite=True)
    assert [each.name for each in tmp_path.iterdir()] == ["model"]
    np.testing.assert_array_equal(ly.load(path).predict(X), new.predict(X))


@pytest.mark.parametrize("whose", ["another job's", "another run's", "truncated", "empty"])
def test_a_unit_that_does_not_belong_is_made_again(undisturbed, data, tmp_path, whose):
    out = tmp_path / "run"
    shutil.copytree(undisturbed, out)
    other = tmp_path / "other"
    if whose == "another run's":
        ly.experiments.run("full", ly.data.simulate_registry(n=120, random_state=2), other, n_jobs=1, **SMALL)
    own = job_path(out, 0, 1).read_bytes()
    job_path(out, 0, 1).write_bytes(
        {
            "another job's": lambda: job_path(undisturbed, 0, 0).read_bytes(),
            "another run's": lambda: job_path(other, 0, 1).read_bytes(),
            "truncated": lambda: own[: len(own) // 2],
            "empty": lambda: b"",
        }[whose]()
    )
    assert load_job(out, 0, 1) is None
    ly.experiments.run("full", data, out, n_jobs=1, **SMALL)
    assert contents(out) == contents(undisturbed)


def test_a_clock_that_jumps_changes_nothing(undisturbed, data, tmp_path, monkeypatch):
    jumps, real = itertools.cycle([0.0, 4e8, -9e8, 3600.0, -1.7e9]), time.time
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    out = tmp_path / "run"
    ly.experiments.run("full", data, out, n_jobs=1, **SMALL)
    assert contents(out) == contents(undisturbed)
    os.utime(job_path(out, 0, 0), (4e9, 4e9))
    assert "2 of 2 jobs done" in ly.experiments.status(out)
