"""The job that `run` or `cases` means: found by its name or identity and amended, or newly submitted (ux 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.exits import FAIL_ON_HELP, PROBLEMS
from holdfast.cli.parser import Parser
from holdfast.cli.screen.text import columns, to_json
from holdfast.cli.screen.values import share, whole
from holdfast.cli.start import job_options, outputs
from holdfast.cli.start.amend import amended, from_when, stays_closed
from holdfast.cli.start.carry_on import (
    DETACH_HELP,
    MODE_ALL_HELP,
    PROCESSES_HELP,
    carry_on,
    conclude,
    fork_server_for,
    name_others,
    refuse_detach,
    scanned_again,
)
from holdfast.cli.start.output_checks import checked_output, refuse_taken
from holdfast.cli.start.recipe_code import REST, WHOLE, changed_since, moved
from holdfast.cli.start.scopes import with_scope
from holdfast.cli.start.streaming import streaming
from holdfast.cli.start.submit import CliSubmit, submitted
from holdfast.control.submit import JobRequest, changes_of, find_or_submit, judge
from holdfast.errors import BadParams, NotFound, PlanFailed, Refused
from holdfast.model.artifact import below, is_artifact
from holdfast.model.edit import MODES
from holdfast.model.job import WORK_CHUNKS, Job, Options, check_name
from holdfast.model.spelling import count_of
from holdfast.model.target import Found
from holdfast.ports import Ledger
from holdfast.recipe import AnyRecipe, Context
from holdfast.recipe.contract import numbered
from holdfast.recipe.kind import Kind
from holdfast.recipes import catalogue
from holdfast.recipes.catalogue import kind_of

PLAN_SHOWN = 20
PLAN_COUNTED = 1_000_000
CODE = ("recipe_source", "recipe_sha256")  # by which a job that stays closed was made


def arguments(parser: Parser, kind: Kind | None = None, *, mode_help: str = MODE_ALL_HELP) -> None:
    """The options that every start command has, and those of the kind; without it, the command adds these itself."""
    if kind is not None:
        job_options.own_arguments(parser, kind)
    parser.add_argument("--name", help="the job's name; with it, the job is known by it and not by its inputs")
    parser.add_argument("--new", action="store_true", help="start over; the earlier job is kept as NAME~1")
    parser.add_argument("--update", action="store_true", help="apply changed scope options to what is still pending")
    parser.add_argument("--mode", choices=(*MODES, "resume"), help=mode_help)
    parser.add_argument("--dry-run", action="store_true", help="show the plan; send no request and make no job")
    parser.add_argument("-d", "--detach", action="store_true", help=DETACH_HELP)
    parser.add_argument("--start-paused", action="store_true", help="submit only; the same command without it starts")
    parser.add_argument("--fail-on", type=share, default=PROBLEMS, metavar="WHAT", help=FAIL_ON_HELP)
    parser.add_argument("--processes", type=whole(1, WORK_CHUNKS), default=1, metavar="N", help=PROCESSES_HELP)
    job_options.pace_arguments(parser, kind)
    outputs.arguments(parser)


def asked_for(call: Call, recipe: AnyRecipe, params: dict[str, Any], named: Job | None, **kept: str) -> JobRequest:
    """The job as this command asks for it."""
    return JobRequest(
        recipe=recipe,
        given=params,
        pace=job_options.read_pace(call.options, catalogue.kind(recipe.name)),
        configured=call.settings.pace,
        name=call.options.name,
        named=named,
        new=call.options.new,
        mode=call.options.mode,
        whole=True,
        kept=kept,
        first_urls=recipe.first_urls(params),
        planned_total=recipe.planned_total(params),
    )


def named_job(ledger: Ledger | None, word: str) -> Job | None:
    try:
        return None if ledger is None else ledger.job(word)
    except NotFound:
        return None


def of_kind(job: Job, kind: Kind) -> Job:
    """The job, which a start command was given the name of; Refused where it is of another kind."""
    if not catalogue.is_of(job, kind.name):
        raise Refused(f"{job.name} is a job of the recipe {job.recipe!r}, not of {kind.name}")
    return job


def _work(
    call: Call, ledger: Ledger, job: Job, fork_server: Any, output: outputs.Output | None, *, announced: bool
) -> int:
    """Carry on with the job and say how it ended; with --start-paused only that it was submitted."""
    job = outputs.keep_output(call, ledger, job, output)
    if call.options.start_paused:
        return submitted(call, ledger, job)
    name_others(call, ledger, job)
    if not announced:
        job, announced = scanned_again(call, ledger, job, call.options.mode)
    with streaming(call, ledger, job, output) as left:
        result = carry_on(call, ledger, job, fork_server, announced=announced)
    return conclude(call, ledger, result, output=left.output, fail_on=call.options.fail_on)


def _amended(call: Call, ledger: Ledger, job: Job, options: Options) -> Job:
    """An earlier job, where its pace or its code changes."""
    if stays_closed(job, call.options.mode):
        _tell_of_code(call, job, options)
        made_by = {name: getattr(job.options, name) for name in CODE}
        return amended(call, ledger, job, msgspec.structs.replace(options, **made_by))
    if options == job.options:
        return job
    changes = changes_of(job.options, options)
    code = moved(job.options, options, WHOLE if job.status == "completed" else REST)  # completed: scanned again
    when = from_when(call, ledger, job) if changes else ""
    because = "; ".join([", ".join(changes)] * bool(changes) + code) or "the recipe's code has moved"
    job = ledger.amend(job, options=options, actor="cli", because=because)
    call.console.say(f"{job.name}: {because}{when}")
    return job


def _tell_of_code(call: Call, job: Job, options: Options) -> None:
    """A complete job stays as its code made it. Say so, because the user may have changed the code."""
    told = changed_since(job.options, options, f"holdfast {call.command} {job.word}")
    if told and job.status == "completed":
        call.console.say(f"{job.name}: {told}")


def refuse_other_params(call: Call, job: Job, params: dict[str, Any]) -> None:
    kind = kind_of(job)
    differ = [name for name in kind.differing(job.params, params) if name not in kind.scope]
    if not differ:
        return
    lines = [f"  {kind.change(name, job.params, params)}" for name in differ]
    raise Refused(
        "\n".join([f"{job.name} has other parameters:", *lines])
        + f"\nWays on: holdfast {call.command} {job.word} goes on as before; --new starts over; "
        "--name NAME makes another job."
    )


def refuse_private(options: Options, urls: Sequence[str]) -> None:
    """Said before a job is made of them, where none of the first addresses could be asked for."""
    refusals = [wiring.refuse_private_seed(options, url) if "://" in url else None for url in urls]
    if refusals and all(refusals):
        raise BadParams(str(refusals[0]))


def start(call: Call, kind: Kind, ask: Callable[[Ledger | None], JobRequest]) -> int:
    """Find or submit the job that `ask` says, given the ledger, and work it; with --dry-run only show its plan."""
    output = _checked_output(call, kind)
    if call.options.dry_run:
        with call.ledger() if call.has_ledger() else nullcontext() as ledger:
            return _show_plan(call, ask(ledger))
    with fork_server_for(call, kind.name) as fork_server, call.ledger() as ledger:
        announced = False

        def as_found(job: Job, params: dict[str, Any], options: Options) -> Job:
            """Refused where its inputs would change, refused or updated where its rules do, amended where its pace."""
            nonlocal announced
            refuse_other_params(call, job, params)
            job, announced = with_scope(call, ledger, job, kind_of(job).whole(params))
            return _amended(call, ledger, job, options)

        asked = ask(ledger)
        refuse_taken(call, ledger, asked, output)
        job = find_or_submit(ledger, asked, CliSubmit(call, as_found), actor="cli")
        return _work(call, ledger, job, fork_server, output, announced=announced)


def check(call: Call, asked: JobRequest, ledger: Ledger | None) -> str:
    """Raise what `start` would find wrong with what is asked for; nothing is written. No ledger: no jobs yet."""
    output = _checked_output(call, catalogue.kind(asked.recipe.name))
    if ledger is not None:
        refuse_taken(call, ledger, asked, output)
    judge(ledger, asked, CliSubmit(call, lambda job, params, options: job))
    return asked.identity()


def _checked_output(call: Call, kind: Kind) -> outputs.Output | None:
    """Where the results go, once the call is one that can be followed."""
    refuse_detach(call)
    if call.options.name is not None:
        check_name(call.options.name)
    return checked_output(call, kind)


def _show_plan(call: Call, asked: JobRequest) -> int:
    """JOB-08: the first targets on stdout, how many there are on stderr; as JSON all of it in one document."""
    params = asked.params(asked.named)
    chunks = numbered(asked.recipe.chunks(params))
    kept = partial(_kept, call.settings.artifacts)
    context = Context(params=params, salt=b"dry run", chunking="key", chunks=chunks, kept=kept)
    sample: list[dict[str, Any]] = []
    try:
        total = _counted(asked.recipe.plan(context), asked.planned_total, sample)
    except PlanFailed as failed:
        _show_targets(call, sample)
        raise BadParams(f"the plan of {asked.recipe.name} failed: {failed.message}; nothing was stored") from failed
    at_least = asked.planned_total is None and total == PLAN_SHOWN + PLAN_COUNTED
    if call.globals.json:
        document = {"kind": asked.recipe.name, "planned_total": total, "at_least": at_least, "sample": sample}
        call.console.document({"schema": "holdfast.plan_preview/1", **document})
        return 0
    lines = catalogue.kind(asked.recipe.name).foretold(params)
    if lines and not call.globals.jsonl:
        call.console.data("\n".join(lines))
        call.console.say("Nothing was fetched or stored.")
        return 0
    _show_targets(call, sample)
    least = "at least " if at_least else ""
    first = f", the first {len(sample)} of them are above" if total > len(sample) else ""
    call.console.say(f"The plan has {least}{count_of(total, 'target')}{first}; nothing was fetched or stored.")
    return 0


def _kept(artifacts: Path, name: str) -> Path:
    """A file that a job keeps; or one that was typed, which is only shown."""
    kept = below(artifacts, name) if is_artifact(name) else Path(name)
    return kept if kept.is_file() else Path(name)


def _counted(plan: Iterator[Found], total: int | None, sample: list[dict[str, Any]]) -> int:
    """How many targets there are. The first of them go into the sample, also those before a plan raises."""
    sample.extend(
        {"type": item.type, "key": item.name or None, "url": item.origin + item.path}
        for item in islice(plan, PLAN_SHOWN)
    )
    return len(sample) + sum(1 for _ in islice(plan, PLAN_COUNTED)) if total is None else total


def _show_targets(call: Call, sample: list[dict[str, Any]]) -> None:
    """For people, or a line each; where a list of jobs answers with one document, that is all of stdout."""
    if call.globals.jsonl:
        for row in sample:
            call.console.data(to_json(row))
    elif sample and not call.console.options.json:
        named = [name for name in ("type", "key", "url") if any(row[name] for row in sample)]
        call.console.data(columns([tuple(row[name] or "" for name in named) for row in sample]))
