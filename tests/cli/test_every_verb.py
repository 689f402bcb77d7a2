"""C16: every status × every verb of the job table, by the command that does it: lawful, or exit 6 with the ways on."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import ledger_in, put_into, submit, write_manual_checkpoint
from holdfast.cli.main import main
from holdfast.cli.refusals import COMMAND_OF
from holdfast.engine import control
from holdfast.errors import IllegalMove
from holdfast.model.states import JOB, allowed

# What people type for a verb. start, resume and rescan are commands that look at what is there (ux 3.3), so their
# illegal moves are other lawful ones; they and their exit codes are in test_control.py.
TYPED = {
    "pause": ("pause", "frogs"),
    "cancel": ("cancel", "frogs"),
    "restart": ("restart", "frogs"),
    "retry": ("retry", "frogs", "--queue-only"),
    "rollback": ("rollback", "frogs", "1"),
}
BY_USER = [verb for verb in JOB.verbs() if any(row.by == "user" for row in JOB.moves if row.verb == verb)]
BY_WORKER = [verb for verb in JOB.verbs() if verb not in BY_USER]


@pytest.mark.parametrize("status", JOB.states)
@pytest.mark.parametrize("verb", TYPED)
def test_a_verb_that_the_table_lacks_exits_6_and_names_the_ways_on(
    verb: str, status: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """JOB-03."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOLDFAST_MIN_FREE_MB", "0")
    with ledger_in(tmp_path) as ledger:
        before = put_into(ledger, submit(ledger), status)
        write_manual_checkpoint(ledger, before)
    lawful = verb in allowed(JOB, status)
    assert main([*TYPED[verb]]) == (0 if lawful else 6)
    with ledger_in(tmp_path) as ledger:
        after = ledger.job("frogs")
    if lawful:
        return
    said = capsys.readouterr().err
    forsaken = ", and nobody works it" if status == "in_progress" else ""
    assert said.startswith(f"Cannot {verb} frogs: it is {status}{forsaken}. Allowed: holdfast ")
    assert ("holdfast resume frogs" in said) or not forsaken
    ways = [COMMAND_OF[each].format(name="frogs") for each in allowed(JOB, status, by="user") if each in COMMAND_OF]
    assert all(way.split(" --")[0] in said for way in ways)
    assert (after.status, after.version) == (before.status, before.version)


@pytest.mark.parametrize("status", JOB.states)
@pytest.mark.parametrize("verb", ["rescan", "restart"])
def test_the_engine_refuses_alike(verb: str, status: str, tmp_path: Path) -> None:
    verbs = {"rescan": control.rescan, "restart": control.restart}
    with ledger_in(tmp_path) as ledger:
        job = put_into(ledger, submit(ledger), status)
        if verb in allowed(JOB, status):
            assert verbs[verb](ledger, job, actor="test").generation == 2
            return
        with pytest.raises(IllegalMove) as refused:
            verbs[verb](ledger, job, actor="test")
        assert refused.value.allowed == allowed(JOB, status)
        assert ledger.job("frogs") == ledger.books(job.id)[0]


@pytest.mark.parametrize("status", JOB.states)
@pytest.mark.parametrize("verb", ["start", "resume", *BY_WORKER])
def test_the_ledger_moves_nothing_that_the_table_lacks(verb: str, status: str, tmp_path: Path) -> None:
    """start and resume where the table has them; what only a worker says is never a person's to say."""
    with ledger_in(tmp_path) as ledger:
        job = put_into(ledger, submit(ledger), status)
        before = ledger.job("frogs")
        if verb in ("start", "resume") and verb in allowed(JOB, status):
            assert ledger.move(job.id, verb, actor="test", because="test").status == "in_progress"
            return
        with pytest.raises(Exception, match=r"cannot|asked for|done by a worker"):
            ledger.move(job.id, verb, actor="test", because="test")
        assert ledger.job("frogs") == before


def test_every_verb_of_the_table_is_tried_here() -> None:
    assert {*TYPED, "rescan", "start", "resume", *BY_WORKER} == set(JOB.verbs())
