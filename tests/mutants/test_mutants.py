"""A test that never failed proves nothing: every mutant must be caught by the test it names."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mutants.mutants import CORE, MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
CAUGHT = 1  # pytest's exit code for "tests were run and some failed"; a test that was too slow is one of them
TIMED_OUT = "from pytest-timeout"
PLAYED = MUTANTS if os.environ.get("MUTANTS") == "all" else [row for row in MUTANTS if row.name in CORE]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the sources and tests that a mutant may spoil; with what Python has compiled of them, for its time.

    Not with what is just being compiled: a file with a number behind its name, which is gone a moment later.
    """
    ignored = shutil.ignore_patterns(".hypothesis", "*.pyc.*")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for name in ("pytest.ini", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(tree: Path, test: str) -> subprocess.CompletedProcess[str]:
    selection, *options = shlex.split(test)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "--timeout=30",
        f"tests/{selection}",
        *options,
    ]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "HOLDFAST_MUTANT": "1"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False, timeout=110)


def spoiled(tree: Path, mutant: Mutant) -> str:
    """The source without its protective line."""
    source = (tree / "src" / "holdfast" / mutant.file).read_text()
    for old, new in mutant.edits:
        assert source.count(old) == 1, f"{mutant.file} no longer has the line that {mutant.name!r} removes"
        source = source.replace(old, new)
    return source


def spoil(tree: Path, mutant: Mutant) -> None:
    """What was compiled of the file goes too: Python takes it for that of a file of the same length and second."""
    path = tree / "src" / "holdfast" / mutant.file
    path.write_text(spoiled(tree, mutant))
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()


def test_every_mutant_still_has_the_line_that_it_removes_and_is_a_program() -> None:
    """Also those that are not played with every change."""
    assert set(CORE) <= {row.name for row in MUTANTS}
    for mutant in MUTANTS:
        compile(spoiled(ROOT, mutant), mutant.name, "exec", dont_inherit=True)


@pytest.mark.parametrize("mutant", PLAYED, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_mutant_is_caught_by_its_test(tree: Path, mutant: Mutant) -> None:
    spoil(tree, mutant)
    result = run(tree, mutant.test)
    assert result.returncode == CAUGHT, f"{mutant.name!r} survived:\n{result.stdout}\n{result.stderr}"
    hung = TIMED_OUT in result.stdout + result.stderr
    assert hung == mutant.hangs, f"{mutant.name!r} {'hangs' if hung else 'does not hang'}:\n{result.stdout}"


def test_the_copy_and_not_the_installed_package_is_what_a_mutant_runs(tree: Path) -> None:
    command = [sys.executable, "-c", "import holdfast; print(holdfast.__file__)"]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    shown = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=True)
    assert shown.stdout.startswith(str(tree))
