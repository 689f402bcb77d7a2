"""A `holdfast.toml` that somebody else could have written is not obeyed, unless it was named (SEC-09)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cli.commands import holdfast
from holdfast import config
from holdfast.config import trust
from holdfast.config.reading import Places, read
from holdfast.errors import BadParams

STRANGER = 12_345


@pytest.fixture
def below(tmp_path: Path) -> Path:
    """A folder below one with a file of settings."""
    folder = tmp_path / "shared" / "mine"
    folder.mkdir(parents=True)
    (tmp_path / "shared" / "holdfast.toml").write_text("min_free_mb = 7\n")
    return folder


def minimum(below: Path) -> object:
    return read(Places(environ={}, start=below))["min_free_mb"].value


def give_away(file: Path) -> None:
    os.chown(file, STRANGER, STRANGER)


def open_to_all(file: Path) -> None:
    file.chmod(0o666)


def folder_open_to_all(file: Path) -> None:
    file.parent.chmod(0o777)


def strangers_link(file: Path) -> None:
    """To a file of the user's own, which was meant for another folder."""
    file.rename(file.with_name("other.toml"))
    file.symlink_to("other.toml")
    os.lchown(file, STRANGER, STRANGER)


def link_to_a_strangers(file: Path) -> None:
    give_away(file)
    file.rename(file.with_name("other.toml"))
    file.symlink_to("other.toml")


FOREIGN: dict[str, tuple[Callable[[Path], None], str]] = {
    "another owner": (give_away, f"it belongs to user {STRANGER}, and you are root"),
    "writable by all": (open_to_all, "every user of this computer can write it"),
    "in a folder writable by all": (folder_open_to_all, "every user of this computer can put another in its place"),
    "a stranger's link": (strangers_link, f"it belongs to user {STRANGER}"),
    "a link to a stranger's": (link_to_a_strangers, f"it belongs to user {STRANGER}"),
}


@pytest.mark.parametrize("how", FOREIGN)
def test_a_file_that_somebody_else_could_have_written_is_refused_by_name(how: str, below: Path) -> None:
    """SEC-09: and what is named is obeyed."""
    file = below.parent / "holdfast.toml"
    assert minimum(below) == 7
    change, told = FOREIGN[how]
    change(file)
    with pytest.raises(BadParams, match="is not obeyed") as refused:
        minimum(below)
    assert refused.value.message == f"{file} is not obeyed: {told}" or told in refused.value.message
    assert f"-C {file}" in refused.value.hint
    assert read(Places(environ={}, config=file, start=below))["min_free_mb"].value == 7


def test_a_sticky_folder_of_all_and_a_file_of_roots_are_as_good_as_ones_own() -> None:
    """As /tmp is: there nobody can take away what is somebody else's."""
    with TemporaryDirectory() as made:
        folder, file = Path(made), Path(made, "holdfast.toml")
        folder.chmod(0o1777)
        file.write_text("min_free_mb = 7\n")
        file.chmod(0o664)
        assert minimum(folder) == 7
        assert as_user(STRANGER, folder) == "7"
        give_away(file)
        assert as_user(STRANGER, folder) == "7"
        assert "is not obeyed" in as_user(STRANGER + 1, folder)


def as_user(uid: int, below: Path) -> str:
    """The same, read by a process of this user's."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            os.write(into, str(minimum(below)).encode())
        except BadParams as error:
            os.write(into, error.message.encode())
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out) as file:
        said = file.read()
    os.waitpid(child, 0)
    return said


def test_root_obeys_the_file_of_who_became_root_and_of_nobody_else(
    below: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_away(below.parent / "holdfast.toml")
    monkeypatch.setenv("SUDO_UID", str(STRANGER))
    assert minimum(below) == 7
    monkeypatch.setenv("SUDO_UID", str(STRANGER + 1))
    with pytest.raises(BadParams, match="is not obeyed"):
        minimum(below)
    monkeypatch.setenv("SUDO_UID", "x")
    with pytest.raises(BadParams, match="is not obeyed"):
        minimum(below)


def test_root_obeys_the_file_of_the_owner_of_the_folder_that_it_runs_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container with a mounted checkout; SEC-09: root alone, of no other user, and none that all can write."""
    with TemporaryDirectory() as made:
        folder, file = Path(made), Path(made, "holdfast.toml")
        file.write_text("min_free_mb = 7\n")
        for each in (folder, file):
            give_away(each)
            each.chmod(0o755)
        monkeypatch.chdir(folder)
        assert minimum(folder) == 7
        with monkeypatch.context() as known:  # a user of this computer could have waited for root
            known.setattr(trust, "_is_known", lambda uid: True)
            with pytest.raises(BadParams, match="is not obeyed"):
                minimum(folder)
        assert "is not obeyed" in as_user(STRANGER + 1, folder)
        open_to_all(file)
        with pytest.raises(BadParams, match=r"can write it \(chmod o-w .* ends that, if modes count there\)"):
            minimum(folder)
        file.chmod(0o644)
        os.chown(file, STRANGER + 1, STRANGER + 1)
        with pytest.raises(BadParams, match="is not obeyed"):
            minimum(folder)
        monkeypatch.undo()


def test_a_command_in_a_strangers_folder_ends_with_2_and_runs_none_of_its_code(below: Path) -> None:
    """SEC-09: recipe code that a job of such a file names is not run either."""
    evil = below.parent / "evil.py"
    evil.write_text(f"open({str(below / 'run')!r}, 'w')\n")
    file = below.parent / "holdfast.toml"
    file.write_text('[job.pond]\nkind = "recipe"\nrecipe = "evil.py"\n')
    give_away(file)
    for words in (["run", "pond"], ["jobs"], ["config", "show"], ["config", "set", "min_free_mb", "8"], ["resume"]):
        done = holdfast(*words, cwd=below)
        assert (done.code, f"{file} is not obeyed" in done.err) == (2, True), (words, done)
    assert sorted(path.name for path in below.iterdir()) == []
    assert file.stat().st_uid == STRANGER
    assert holdfast("config", "path", cwd=below).out.strip() == str(file)
    doctor = holdfast("doctor", cwd=below)
    assert (doctor.code, "is not obeyed" in doctor.out) == (9, True)


def test_python_says_so_too(below: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give_away(below.parent / "holdfast.toml")
    monkeypatch.chdir(below)
    with pytest.raises(BadParams, match="is not obeyed"):
        config.load()
    assert config.load(config="../holdfast.toml").min_free_mb == 7
