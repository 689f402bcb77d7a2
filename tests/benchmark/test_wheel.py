"""What `make wheel` does, with every run of the tests: a user has nothing of this folder but the wheel."""

from __future__ import annotations

import os

import pytest
from bench import wheel

from servers import need_tool
from tidy.source_tree import ROOT

OURS = ROOT / ".tools" / "bin" / "uv"  # fetched by make where there is none
SECONDS_MAX = 110.0  # beside all the other tests; by itself, as `make wheel` has it, it is a minute


@pytest.mark.timeout(240)
def test_from_a_wheel_to_a_demo_that_recovered_it_takes_no_longer_than_it_may(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """C15: built here, installed into an environment of its own, and run from there."""
    uv = os.environ.get("UV") or (str(OURS) if OURS.exists() else need_tool("uv"))
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("PYTHONPATH", raising=False)  # else the demo might be that of this folder
    code = wheel.main(uv, SECONDS_MAX)
    said = capfd.readouterr().out
    assert code == 0, said
    assert "demo recovered after " in said
