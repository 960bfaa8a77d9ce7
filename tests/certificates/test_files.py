"""Files are written whole or not at all, and a failure is one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lemmax.theory.certificates.writing import certificate, to_json, write_certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.files import read_toml, write_bytes, write_text


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_text(path, "old")
    write_certificate(path, certificate("kind", {"é": 1}))
    assert path.read_text(encoding="utf-8") == to_json(certificate("kind", {"é": 1}))
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", [".", "missing/a.json"])
def test_what_cannot_be_written_is_refused_with_a_sentence(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(LemmaxError, match=r"cannot be written: .*\.$"):
        write_text(folder / name, "text")
    assert not list(folder.iterdir())
    assert list(tmp_path.iterdir()) == [folder]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.bin"
    write_bytes(path, b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LemmaxError, match="No space left on device"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("before", ["", '"=".', '"\u2028".'])
def test_keys_whose_cost_grows_with_the_square_are_refused(tmp_path: Path, before: str) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(before + ".".join(["a"] * 5_000) + " = 1\n", encoding="utf-8")
    with pytest.raises(LemmaxError, match=r"its keys have too many parts\.$"):
        read_toml(path)
    path.write_text(before + ".".join(["a"] * 50) + " = 1\n", encoding="utf-8")
    assert len(read_toml(path)) == 1
