"""The code of a job's recipe as it is today: loaded before anything of the job is moved, and said where it changed."""

from __future__ import annotations

import msgspec

from holdfast.cli.call import Call
from holdfast.model.job import Job, Options
from holdfast.ports import Ledger
from holdfast.recipes import catalogue

REST = "what is done stays done, the rest is"
WHOLE = "it is"


def with_todays_code(call: Call, ledger: Ledger, job: Job) -> Job:
    """The job, its recipe loaded: one that cannot be loaded is refused here. Changed code is said, and an event."""
    if not catalogue.kind_of(job).is_own_code:
        return job
    located = catalogue.located(job)
    after = msgspec.structs.replace(job.options, recipe_source=located.source, recipe_sha256=located.digest)
    if after == job.options:
        return job
    because = "; ".join(moved(job.options, after, REST))
    job = ledger.amend(job, options=after, actor="cli", because=because)
    call.console.say(f"{job.name}: {because}")
    return job


def moved(before: Options, after: Options, what: str) -> list[str]:
    """What to say where the recipe's code is not the code that the job was last worked by (E17); `what` is worked."""
    if after.recipe_sha256 != before.recipe_sha256:
        return [f"the code of {_place(after)} has changed; {what} worked by the new code"]
    return [] if after.recipe_source == before.recipe_source else [f"the recipe is now at {after.recipe_source}"]


def changed_since(before: Options, after: Options, start: str) -> str:
    """Of a job that is complete, and left so; empty where the code is the same."""
    if after.recipe_sha256 == before.recipe_sha256:
        return ""
    return f"the code of {_place(after)} has changed since; {start} --mode full works everything again by the new code"


def _place(options: Options) -> str:
    return options.recipe_source.rpartition("/")[2]
