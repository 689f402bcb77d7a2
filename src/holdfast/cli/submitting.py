"""Around a submit, for every start command: refuse private places, keep an earlier job aside, say what was taken."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.engine.control import holder_of, pause
from holdfast.engine.progress import job_document
from holdfast.errors import BadParams, Refused
from holdfast.model.job import Job, Options
from holdfast.ports import Ledger


def refuse_private(options: Options, urls: Iterable[str]) -> None:
    for url in urls:
        sentence = wiring.refuse_private_seed(options, url)
        if sentence is not None:
            raise BadParams(sentence)


def set_aside(call: Call, ledger: Ledger, job: Job) -> None:
    """Keep the earlier job under another name; one that stands still half-way is paused, so that it stays so."""
    owner = holder_of(ledger, job)
    if owner is not None:
        raise Refused(
            f"{job.name} is being worked by {owner}; it cannot be started over now. "
            f"Allowed: holdfast pause {job.name}, holdfast cancel {job.name}."
        )
    if job.status == "in_progress":
        pause(ledger, job, actor="cli")
    aside = ledger.set_aside(job.id)
    call.voice.say(f"The earlier {job.name} is kept as {aside.name}.")


def submitted(call: Call, ledger: Ledger, job: Job) -> int:
    if job.status == "pending":
        call.voice.say(f"Submitted {job.uid} {job.name}. Start it: holdfast {call.command} {job.name}")
    else:
        call.voice.say(f"{job.name} was submitted before and is {job.status}.")
    if call.globals.json:
        call.voice.document(job_document(*ledger.books(job.id)))
    return 0
