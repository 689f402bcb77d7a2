"""A folder of exported files: those that were put there are on the disk when the export is done."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.blobs import publish
from holdfast.blobs.folder import Folder


def test_every_folder_above_a_file_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each name is durable in the folder above it, not only that of the file in its own."""
    synced: list[Path] = []

    def sync_directory(path: Path, **_: object) -> None:
        synced.append(path)

    monkeypatch.setattr(publish, "sync_directory", sync_directory)
    monkeypatch.setattr("holdfast.blobs.folder.sync_directory", sync_directory)
    folder = Folder(tmp_path / "out", is_ours=lambda name: True, start=b"#")
    for name in ("a/b/c/one.md", "a/b/c/two.md"):
        folder.put(name, b"# frog")
    folder.finish()
    folder.close()
    out = tmp_path / "out"
    assert {out, out / "a", out / "a/b", out / "a/b/c"} <= set(synced)
    assert synced.count(out / "a/b") == 1, "once for both files"
    assert os.listdir(out / "a/b/c")
