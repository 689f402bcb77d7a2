"""What lies in the data folder is its owner's alone, or as open as a folder that was there before (SEC-09)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cli.commands import crawl_words, holdfast
from holdfast.demo.serving import WorldServer

KILLED = -9


def umasked(mode: int) -> int:
    """What the umask leaves of a mode."""
    umask = os.umask(0)
    os.umask(umask)
    return mode & ~umask


def modes(folder: Path) -> dict[str, int]:
    """Of the folder and everything below it, by name without what differs from run to run."""
    there = [folder, *folder.rglob("*")]
    return {str(path.relative_to(folder.parent)): stat.S_IMODE(path.stat().st_mode) for path in there}


def with_everything(tree: WorldServer, folder: Path) -> Path:
    """A data folder in which a crawl was killed, so that its -wal stays; with a snapshot, a backup, a restored job."""
    assert holdfast(*crawl_words(tree), cwd=folder, HOLDFAST_FAULT="settle.after_commit:3:kill").code == KILLED
    data = folder / "holdfast-data"
    assert {"ledger.db", "ledger.db-wal", "ledger.db-shm", "segments", "logs"} <= set(os.listdir(data))
    assert holdfast("snapshot", "frogs", cwd=folder).code == 0
    assert holdfast("db", "backup", cwd=folder).code == 0
    [taken] = (data / "snapshots").rglob("*.tar")
    assert holdfast("restore", str(taken), "--name", "toads", "--trust", cwd=folder).code == 0
    assert holdfast("export", "frogs", "-o", "frogs.jsonl", cwd=folder).code == 0
    assert holdfast("snapshot", "frogs", "-o", "frogs.tar", cwd=folder).code == 0
    return data


def test_a_new_data_folder_and_all_that_is_put_into_it_is_the_owners_alone(tree: WorldServer, tmp_path: Path) -> None:
    """SEC-09: folders 0700, files 0600; what a person named with -o is as the umask says."""
    data = with_everything(tree, tmp_path)
    found = modes(data)
    assert len(found) > 10
    folders = {name for name in found if (tmp_path / name).is_dir()}
    assert {name: oct(mode) for name, mode in found.items() if mode != (0o700 if name in folders else 0o600)} == {}
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("frogs.jsonl", "frogs.tar")} == {umasked(0o666)}
    [row] = [row for row in holdfast("doctor", "--json", cwd=tmp_path).json()["checks"] if row["name"] == "access"]
    assert (row["ok"], row["detail"]) == (True, "its owner alone")


@pytest.mark.parametrize(("folder_mode", "file_mode"), [(0o755, 0o644), (0o750, 0o640), (0o700, 0o600)])
def test_a_folder_that_was_there_keeps_its_mode_and_its_files_follow_it(
    folder_mode: int, file_mode: int, tree: WorldServer, tmp_path: Path
) -> None:
    (tmp_path / "holdfast-data").mkdir()
    (tmp_path / "holdfast-data").chmod(folder_mode)
    data = with_everything(tree, tmp_path)
    found = modes(data)
    folders = {name for name in found if (tmp_path / name).is_dir()}
    wanted = {name: umasked(folder_mode if name in folders else file_mode) for name in found}
    assert found == {**wanted, "holdfast-data": folder_mode}


def test_doctor_says_that_everybody_can_look_into_a_folder(tmp_path: Path) -> None:
    """And fails for it no more than for anything else that is the user's to decide."""
    data = tmp_path / "holdfast-data"
    data.mkdir()
    for mode, told in ((0o755, "chmod -R o= holdfast-data"), (0o750, "its owner and group"), (0o700, "owner alone")):
        data.chmod(mode)
        done = holdfast("doctor", "--json", cwd=tmp_path)
        [row] = [row for row in done.json()["checks"] if row["name"] == "access"]
        assert (done.code, row["ok"], row["required"]) == (0, mode != 0o755, False)
        assert told in row["detail"]
        assert stat.S_IMODE(data.stat().st_mode) == mode
