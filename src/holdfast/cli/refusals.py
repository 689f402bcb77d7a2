"""What cannot be done, said with what can: verbs of the lifecycle table as the commands that exist. Pure."""

from __future__ import annotations

from holdfast.errors import IllegalMove, Refused
from holdfast.model.job import Job
from holdfast.model.states import JOB, allowed

# A verb without a row here has no command yet and is not offered.
COMMAND_OF: dict[str, str] = {
    "start": "holdfast crawl {name}",
    "resume": "holdfast resume {name}",
    "pause": "holdfast pause {name}",
    "cancel": "holdfast cancel {name}",
}
START_OVER = "holdfast crawl {name} --new"
# Resuming after a limit needs a higher limit, which no command can set yet.
DEAD_ENDS = frozenset({("timeout", "resume")})


class NotAllowed(Refused):
    """That move is not allowed from here."""

    code = "illegal_move"

    def __init__(self, message: str, allowed: tuple[str, ...]) -> None:
        super().__init__(message)
        self.allowed = allowed


def ways_on(job: Job) -> list[str]:
    """The commands that a person may use on this job now; starting over is always one, and named when no other is."""
    verbs = [verb for verb in allowed(JOB, job.status, by="user") if (job.status, verb) not in DEAD_ENDS]
    commands = [COMMAND_OF[verb].format(name=job.name) for verb in verbs if verb in COMMAND_OF]
    return commands or [START_OVER.format(name=job.name)]


def refusal(job: Job, move: IllegalMove) -> NotAllowed:
    """`Cannot pause docs-x: it is completed. Allowed: …`"""
    sentence = f"Cannot {move.verb} {job.name}: it is {job.status}. Allowed: {', '.join(ways_on(job))}."
    return NotAllowed(sentence, allowed(JOB, job.status, by="user"))


def is_cancelled(job: Job) -> Refused:
    return NotAllowed(
        f"{job.name} was cancelled for good. Allowed: {', '.join(ways_on(job))}.", allowed(JOB, job.status, by="user")
    )
