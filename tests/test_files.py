import errno
import itertools
import os

import pytest

from lifeyears._files import wrap_file_errors, write_together, write_whole
from lifeyears.errors import FileReadError, MissingFileError


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def full_at(number):
    """An `os.fsync` for a disk that is full when the file of that number, from 0 on, is written."""
    count, real = itertools.count(), os.fsync

    def fsync(descriptor):
        if next(count) == number:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    return fsync


def test_a_file_and_its_folder_are_written_and_nothing_is_left_beside(tmp_path):
    write_whole(tmp_path / "new" / "a.csv", b"one")
    write_whole(tmp_path / "new" / "a.csv", b"two")
    assert contents(tmp_path / "new") == {"a.csv": b"two"}


@pytest.mark.parametrize("number", [0, 1])
def test_a_full_disk_leaves_all_the_old_files(tmp_path, monkeypatch, number):
    old = {tmp_path / "a.csv": b"old", tmp_path / "summary.json": b"old"}
    write_together(old)
    monkeypatch.setattr("os.fsync", full_at(number))
    with pytest.raises(OSError, match="No space left"):
        write_together(dict.fromkeys(old, b"new"))
    assert contents(tmp_path) == {"a.csv": b"old", "summary.json": b"old"}


def test_files_get_their_names_in_order_once_all_are_written(tmp_path):
    (tmp_path / "b").mkdir()  # no file can take this name
    with pytest.raises(OSError, match="b"):
        write_together({tmp_path / "a": b"1", tmp_path / "b": b"2", tmp_path / "c": b"3"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_path_that_cannot_be_used_is_a_wrong_request_and_a_full_disk_is_not(tmp_path):
    with pytest.raises(MissingFileError, match=r"none\.csv: no such file or directory"), wrap_file_errors("none.csv"):
        (tmp_path / "none.csv").read_bytes()
    (tmp_path / "file").touch()
    with pytest.raises(FileReadError, match="file exists") as caught:
        write_whole(tmp_path / "file" / "a.csv", b"one")
    assert not isinstance(caught.value, MissingFileError)
    with pytest.raises(FileReadError, match="too long"):
        write_whole(tmp_path / ("a" * 300), b"one")
    with pytest.raises(FileReadError, match="null character"), wrap_file_errors("a\0"):
        (tmp_path / "a\0").open()
    with pytest.raises(OSError, match="No space") as caught, wrap_file_errors(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert not isinstance(caught.value, FileReadError)
