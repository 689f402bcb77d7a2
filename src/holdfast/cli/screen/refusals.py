"""What cannot be done, said with what can: verbs of the lifecycle table as the commands that exist. Pure."""

from __future__ import annotations

from pathlib import Path

from holdfast.errors import IllegalMove, Refused
from holdfast.model.edit import NEW
from holdfast.model.job import Job
from holdfast.model.spelling import as_word
from holdfast.model.states import JOB, allowed
from holdfast.recipes.catalogue import kind_of

# Every verb of a person has its row; `start` is the command of the job's kind. Which CHECKPOINT is meant only a person
# knows.
COMMAND_OF: dict[str, str] = {
    "start": "holdfast {start} {name}",
    "resume": "holdfast resume {name}",
    "pause": "holdfast pause {name}",
    "cancel": "holdfast cancel {name}",
    "restart": "holdfast restart {name}",
    "rescan": "holdfast {start} {name} --mode full",
    "retry": "holdfast retry {name}",
    "rollback": "holdfast rollback {name} CHECKPOINT",
}
STATUS_WORDS = {"in_progress": "in progress", "timeout": "timed out"}  # the others are English as they are
HIGHER_LIMIT = {"page_limit": "--extend-pages 500", "time_limit": "--extend 30m"}
NEXT_LIMIT = "--limit 50"


class NotAllowed(Refused):
    """That move is not allowed from here."""

    code = "illegal_move"

    def __init__(self, message: str, allowed: tuple[str, ...]) -> None:
        super().__init__(message)
        self.allowed = allowed


def ways_on(job: Job, *, is_worked: bool = True) -> list[str]:
    """The commands that a person may use on this job now; starting over is always one, and named when no other is.

    `resume` takes up a running job that no process works; that is not a move of the table.
    """
    verbs = allowed(JOB, job.status, by="user")
    commands = [command for verb in verbs for command in commands_for(job, verb)]
    if job.status == "in_progress" and not is_worked:
        commands.insert(0, command_for(job, "resume"))
    return commands or [start_over(job)]


def commands_for(job: Job, verb: str) -> list[str]:
    """Scanning again has two commands where the recipe can tell what is new: that one, and all of it."""
    command = command_for(job, verb)
    if verb != "rescan" or NEW not in kind_of(job).modes:
        return [command]
    return [command.replace("--mode full", f"--mode {NEW}"), command]


def command_for(job: Job, verb: str) -> str:
    if (job.status, verb) == ("timeout", "resume"):
        return raise_limit(job, job.stop_reason)
    return COMMAND_OF[verb].format(name=job.word, start=kind_of(job).command)


def start_over(job: Job) -> str:
    return f"holdfast {kind_of(job).command} {job.word} --new"


def raise_limit(job: Job, reason: str | None) -> str:
    """After a limit, resuming needs a higher one. --limit of a job with a list is counted anew by every run."""
    if reason == "page_limit" and kind_of(job).has_list:
        return f"{COMMAND_OF['start'].format(start=kind_of(job).command, name=job.word)} {NEXT_LIMIT}"
    return f"{COMMAND_OF['resume'].format(name=job.word)} {HIGHER_LIMIT.get(reason or '', '--extend 30m')}"


def restore_command(job: Job, snapshot: Path) -> str:
    """How a snapshot that was just taken of this job is made a job again."""
    from holdfast.model.demands import demands

    return f"holdfast restore {as_word(str(snapshot))}{' --trust' if demands(job.options, job.params) else ''}"


def refusal(job: Job, move: IllegalMove, *, is_worked: bool = True) -> NotAllowed:
    """`Cannot pause docs-x: it is completed. Allowed: …`"""
    is_idle = job.status == "in_progress" and not is_worked
    state = f"{status_word(job)}, and no process works it" if is_idle else status_word(job)
    ways = ", ".join(ways_on(job, is_worked=is_worked))
    return NotAllowed(
        f"Cannot {move.verb} {job.name}: it is {state}. Allowed: {ways}.", allowed(JOB, job.status, by="user")
    )


def status_word(job: Job) -> str:
    """The status in a sentence: `it is timed out`."""
    return STATUS_WORDS.get(job.status, job.status)


def is_cancelled(job: Job) -> Refused:
    return NotAllowed(
        f"{job.name} was cancelled for good. Allowed: {', '.join(ways_on(job))}.", allowed(JOB, job.status, by="user")
    )
