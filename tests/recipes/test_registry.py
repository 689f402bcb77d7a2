"""Looking for a recipe's code runs none of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from holdfast.recipe.registry import is_there


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ponds/deep/frogs.py in packages that must not be run."""
    for folder in (tmp_path / "ponds", tmp_path / "ponds" / "deep"):
        folder.mkdir()
        (folder / "__init__.py").write_text('raise AssertionError("imported")\n')
    (tmp_path / "ponds" / "deep" / "frogs.py").write_text('raise AssertionError("imported")\n')
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("source", "there"),
    [
        ("ponds.deep.frogs:frogs", True),
        ("ponds:frogs", True),
        ("ponds.deep.toads:toads", False),
        ("ponds.shallow.frogs:frogs", False),
        ("ponds.deep.frogs.eggs:eggs", False),
        ("lakes.deep:frogs", False),
        (":frogs", False),
    ],
)
def test_a_module_is_found_without_its_packages_being_imported(source: str, there: bool) -> None:
    assert is_there(source) == there
    assert not [name for name in sys.modules if name.partition(".")[0] == "ponds"]
