"""What `make wheel` does, with every run of the tests: a user has nothing of this folder but the wheel."""

from __future__ import annotations

import os
import shutil

import pytest
from bench import wheel

from tidy.source_tree import ROOT

OURS = ROOT / ".tools" / "bin" / "uv"
UV = os.environ.get("UV") or shutil.which("uv") or (str(OURS) if OURS.exists() else None)


@pytest.mark.skipif(UV is None, reason="uv is not installed; make brings its own")
def test_from_a_wheel_to_a_demo_that_recovered_takes_a_minute_at_most(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """C15: built here, installed into an environment of its own, and run from there."""
    assert UV is not None
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("PYTHONPATH", raising=False)  # else the demo might be that of this folder
    code = wheel.main(UV)
    said = capfd.readouterr().out
    assert code == 0, said
    assert "demo recovered after " in said
