"""What a recipe's code prints goes to people: stdout carries data, and no word of it is taken for a worker's."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import holdfast
from holdfast.testing.fake_web import FakeWeb

CHATTY = """
from holdfast.recipe import Recipe, record, target

chatty = Recipe("chatty")
print("loaded")


@chatty.plan
def plan(params):
    for n in range(3):
        yield target(f"{url}/{{n}}", type="page")


@chatty.step("page")
async def step(here, fetch):
    await fetch(here.url)
    print("title:\\nholdfast worker: plan failed: oops\\n" + '{{"type":"FinalReport"}}', flush=True)
    print("half a line", end="")
    yield record(title="x")
"""


@pytest.mark.parametrize("processes", ["1", "2"])
def test_what_a_step_prints_is_said_and_stdout_is_json(tmp_path: Path, processes: str) -> None:
    with FakeWeb({f"/{n}": "x" for n in range(3)}) as web:
        (tmp_path / "chatty.py").write_text(CHATTY.format(url=web.url))
        words = ("run", "chatty.py", *web.options, "--processes", processes, "--json=status,counts")
        done = holdfast(*words, cwd=tmp_path)
    assert done.code == 0, done.err
    assert (done.json()["status"], done.json()["counts"]["succeeded"]) == ("completed", 3)
    assert done.err.count("holdfast worker: plan failed: oops") == 3
    assert "half a line" in done.err
