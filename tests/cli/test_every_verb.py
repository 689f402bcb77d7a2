"""C16: every status × every verb of the job table, by the command that does it: lawful, or exit 6 with the ways on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import holdfast, ledger_in, put_into, submit, write_manual_checkpoint
from holdfast.cli.screen.refusals import COMMAND_OF, STATUS_WORDS
from holdfast.control import reopen
from holdfast.demo.serving import WorldServer
from holdfast.errors import IllegalMove
from holdfast.model.states import JOB, allowed, move

# What people type for a verb.
TYPED = {
    "start": ("crawl", "frogs"),
    "resume": ("resume", "frogs"),
    "rescan": ("crawl", "frogs", "--mode", "full"),
    "pause": ("pause", "frogs"),
    "cancel": ("cancel", "frogs"),
    "restart": ("restart", "frogs"),
    "retry": ("retry", "frogs", "--queue-only"),
    "rollback": ("rollback", "frogs", "1"),
}
# fmt: off
# The first three look at what is there (ux 3.3): they go on with what is unfinished, find nothing to do in what is
# complete, and rescan only that; so their exit codes are not those of the table alone.
#   status          start  resume  rescan  pause  cancel  restart  retry  rollback
CODES = {
    "pending":     (0,     0,      0,      6,     0,      6,       6,     0),
    "in_progress": (0,     0,      0,      0,     0,      6,       6,     0),
    "paused":      (0,     0,      0,      6,     0,      0,       0,     0),
    "completed":   (0,     0,      0,      6,     6,      6,       0,     0),
    "failed":      (0,     0,      0,      6,     6,      6,       0,     0),
    "timeout":     (13,    13,     13,     6,     0,      6,       0,     0),
    "cancelled":   (6,     6,      6,      6,     6,      6,       6,     6),
}
# fmt: on
LOOK_FIRST = ("start", "resume", "rescan")
BY_USER = [verb for verb in JOB.verbs() if any(row.by == "user" for row in JOB.moves if row.verb == verb)]
BY_WORKER = [verb for verb in JOB.verbs() if verb not in BY_USER]


@pytest.fixture(scope="module")
def pond(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorldServer]:
    """So few pages that a crawl of them is no more than its beginning and its end."""
    with WorldServer("tree", pages=3, delay_ms=0, log_path=tmp_path_factory.mktemp("pond") / "requests.jsonl") as world:
        yield world


@pytest.mark.parametrize("status", JOB.states)
@pytest.mark.parametrize("verb", TYPED)
def test_every_status_meets_every_verb(verb: str, status: str, pond: WorldServer, tmp_path: Path) -> None:
    """JOB-03: the job is where the verb leads, or where it was."""
    with ledger_in(tmp_path) as ledger:
        before = put_into(ledger, submit(ledger, pond), status)
        write_manual_checkpoint(ledger, before)
    done = holdfast(*TYPED[verb], cwd=tmp_path)
    wanted = CODES[status][list(TYPED).index(verb)]
    assert done.code == wanted, done.err
    with ledger_in(tmp_path) as ledger:
        after = ledger.job("frogs")
    if wanted == 0:
        assert after.status == led_to(verb, status)
        assert after.generation == (2 if (verb, status) in {("rescan", "completed"), ("restart", "paused")} else 1)
        return
    assert (after.status, after.version) == (before.status, before.version)
    if wanted == 6:
        assert_refused(done.err, verb, status)


def led_to(verb: str, status: str) -> str:
    if verb in LOOK_FIRST:
        return "completed"
    return status if verb == "retry" else move(JOB, status, verb).target  # nothing of it failed; see test_retry.py


def assert_refused(said: str, verb: str, status: str) -> None:
    words = STATUS_WORDS.get(status, status)
    forsaken = ", and no process works it" if status == "in_progress" else ""
    why = "frogs was cancelled for good" if verb in LOOK_FIRST else f"Cannot {verb} frogs: it is {words}{forsaken}"
    assert said.startswith(f"{why}. Allowed: holdfast ")
    assert ("holdfast resume frogs" in said) or not forsaken
    ways = [COMMAND_OF[each].format(name="frogs", start="crawl") for each in allowed(JOB, status, by="user")]
    assert all(way.split(" --")[0] in said for way in ways)


def test_the_exit_codes_are_those_of_the_table() -> None:
    for status, codes in CODES.items():
        for verb, code in zip(TYPED, codes, strict=True):
            assert (code == 0) == (verb in allowed(JOB, status)) or verb in LOOK_FIRST


@pytest.mark.parametrize("verb", BY_WORKER)
def test_what_only_a_worker_says_nobody_can_type(verb: str, tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        before = put_into(ledger, submit(ledger), "in_progress")
    done = holdfast(verb.replace("_", "-"), "frogs", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    with ledger_in(tmp_path) as ledger:
        assert ledger.job("frogs").version == before.version


@pytest.mark.parametrize("status", JOB.states)
@pytest.mark.parametrize("verb", ["rescan", "restart"])
def test_the_engine_refuses_alike(verb: str, status: str, tmp_path: Path) -> None:
    verbs = {"rescan": reopen.rescan, "restart": reopen.restart}
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
    assert list(CODES) == list(JOB.states)
    assert set(TYPED) == set(BY_USER) == set(COMMAND_OF)
