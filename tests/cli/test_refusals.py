"""A refusal says what, why, and what is allowed as commands that exist (ux 7, C16)."""

from __future__ import annotations

import pytest

from cli.commands import make_job
from holdfast.cli.commands.table import command
from holdfast.cli.screen.refusals import COMMAND_OF, refusal, ways_on
from holdfast.errors import IllegalMove
from holdfast.model.states import JOB, allowed

BACK = "holdfast rollback docs-x CHECKPOINT"
WAYS = {
    "pending": ["holdfast crawl docs-x", "holdfast cancel docs-x", BACK],
    "in_progress": ["holdfast pause docs-x", "holdfast cancel docs-x", BACK],
    "paused": [
        "holdfast resume docs-x",
        "holdfast cancel docs-x",
        "holdfast restart docs-x",
        "holdfast retry docs-x",
        BACK,
    ],
    "completed": [
        "holdfast crawl docs-x --mode new",
        "holdfast crawl docs-x --mode full",
        "holdfast retry docs-x",
        BACK,
    ],
    "failed": ["holdfast resume docs-x", "holdfast retry docs-x", BACK],
    "timeout": ["holdfast resume docs-x --extend 30m", "holdfast cancel docs-x", "holdfast retry docs-x", BACK],
    "cancelled": ["holdfast crawl docs-x --new"],
}


def test_a_refusal_names_the_job_its_status_and_the_way_on() -> None:
    move = IllegalMove("job", "completed", "pause", allowed(JOB, "completed"))
    refused = refusal(make_job(status="completed"), move)
    assert (
        refused.message == "Cannot pause docs-x: it is completed. Allowed: holdfast crawl docs-x --mode new, "
        "holdfast crawl docs-x --mode full, "
        "holdfast retry docs-x, holdfast rollback docs-x CHECKPOINT."
    )
    assert refused.allowed == ("rescan", "retry", "rollback")


def test_a_status_is_said_in_words() -> None:
    move = IllegalMove("job", "timeout", "restart", allowed(JOB, "timeout"))
    assert refusal(make_job(status="timeout"), move).message.startswith("Cannot restart docs-x: it is timed out. ")


def test_a_running_job_that_nobody_works_can_be_taken_up() -> None:
    job, move = make_job(status="in_progress"), IllegalMove("job", "in_progress", "retry", ("pause", "cancel"))
    assert refusal(job, move, is_worked=False).message == (
        "Cannot retry docs-x: it is in progress, and no process works it. "
        "Allowed: holdfast resume docs-x, holdfast pause docs-x, holdfast cancel docs-x, "
        "holdfast rollback docs-x CHECKPOINT."
    )
    assert "resume" not in refusal(job, move, is_worked=True).message


@pytest.mark.parametrize("status", JOB.states)
def test_every_status_has_a_way_on(status: str) -> None:
    assert ways_on(make_job(status=status)) == WAYS[status]


def test_every_move_of_a_person_is_a_command() -> None:
    assert {row.verb for row in JOB.moves if row.by == "user"} == set(COMMAND_OF)


@pytest.mark.parametrize("status", JOB.states)
def test_only_commands_that_exist_are_offered(status: str) -> None:
    offered = [way.split()[1] for way in ways_on(make_job(status=status))]
    assert all(command(name) is not None for name in offered)
