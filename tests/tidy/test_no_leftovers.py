"""Nothing forgotten in the source, and no path of somebody's computer in any file of the project."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tidy.source_tree import ROOT

REMINDER = re.compile(r"\b(?:FIX" + r"ME|TO" + r"DO|XX" + r"X)\b")
# Only at the start of a path: https://marsh.test/home/ is a page, not a folder.
COMPUTER_PATH = re.compile(r"(?<![\w.~)}\]%-])/(?:work|root|home)/")
NOT_OURS = frozenset({".git", ".venv", ".tools", "build", "dist", "holdfast-data", "holdfast-demo"})


def project_files(root: Path) -> list[Path]:
    """What git would commit; in a copy without git, everything but what make and Python's tools leave behind."""
    if (root / ".git").exists() and shutil.which("git"):
        argv = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split("\0")
        return [root / name for name in listed if name and (root / name).is_file()]
    return [file for file in root.rglob("*") if file.is_file() and not _is_left_behind(file.relative_to(root))]


def _is_left_behind(below: Path) -> bool:
    return below.parts[0] in NOT_OURS or any("cache" in part or part == ".hypothesis" for part in below.parts)


def lines_with(pattern: re.Pattern[str], file: Path) -> list[str]:
    text = file.read_bytes().decode("utf-8", errors="replace")
    return [
        f"{file}:{number}: {line.strip()[:100]}"
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_reminders_are_left_in_the_source() -> None:
    sources = [file for file in project_files(ROOT) if file.is_relative_to(ROOT / "src")]
    assert sources
    found = [line for file in sources for line in lines_with(REMINDER, file)]
    assert not found, "\n" + "\n".join(found)


def test_no_file_names_a_path_of_one_computer() -> None:
    found = [line for file in project_files(ROOT) for line in lines_with(COMPUTER_PATH, file)]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("line", ["# FIX" + "ME: later", "# TO" + "DO", "XX" + "X"])
def test_a_reminder_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.py").write_text(f"x = 1\n{line}\n")
    assert len(lines_with(REMINDER, tmp_path / "a.py")) == 1


@pytest.mark.parametrize("folder", ["work", "root", "home"])
def test_a_path_of_one_computer_is_found(tmp_path: Path, folder: str) -> None:
    (tmp_path / "a.txt").write_text(f"see /{folder}/frog/notes\nhttps://marsh.test/{folder}/frog\n")
    assert lines_with(COMPUTER_PATH, tmp_path / "a.txt") == [f"{tmp_path / 'a.txt'}:1: see /{folder}/frog/notes"]


def test_a_copy_without_git_is_read_too(tmp_path: Path) -> None:
    for name in ("src/a.py", ".venv/b.py", "src/__pycache__/c.pyc", ".ci/run"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert sorted(file.name for file in project_files(tmp_path)) == ["a.py", "run"]
