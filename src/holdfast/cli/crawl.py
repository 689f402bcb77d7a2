"""`holdfast crawl URL...|NAME`: find or submit the job, then carry on with it."""

from __future__ import annotations

from typing import Any

from holdfast import wiring
from holdfast.cli import outputs, wishes
from holdfast.cli.call import Call
from holdfast.cli.headers import check_secrets
from holdfast.cli.parser import Parser
from holdfast.cli.starting import PROCESSES_HELP, carry_on, conclude, name_others, nursery_for, refuse_too_many
from holdfast.cli.values import share, whole
from holdfast.cli.wishes import Wishes
from holdfast.engine.control import holder_of, pause, submit
from holdfast.engine.progress import job_document
from holdfast.errors import BadParams, NotFound, Refused, UsageError
from holdfast.model.job import WORK_CHUNKS, Job, JobSpec, Options
from holdfast.ports import Ledger
from holdfast.recipe import Recipe

RECIPE = "site"
EPILOG = (
    "robots.txt is not read yet: crawl only what you may.\n"
    "Secrets in headers are named, not typed: --header 'Authorization: env:TOKEN', or file:PATH."
)


def arguments(parser: Parser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("what", nargs="*", metavar="URL|NAME", help="where to begin, or the name of a job")
    parser.add_argument("--name", help="the job's name; with it, the job is known by it and not by its URLs")
    parser.add_argument("--new", action="store_true", help="start over; the earlier job is kept as NAME~1")
    parser.add_argument("--start-paused", action="store_true", help="submit only; the same command without it starts")
    parser.add_argument(
        "--fail-on",
        type=share,
        default="any",
        metavar="SHARE",
        help="failures that exit with 3: never, any or N%% (any)",
    )
    parser.add_argument("--processes", type=whole(1, WORK_CHUNKS), default=1, metavar="N", help=PROCESSES_HELP)
    wishes.arguments(parser)
    outputs.arguments(parser)


def run(call: Call) -> int:
    options = call.options
    if not options.what and options.seeds is None and options.name is None:
        raise UsageError("crawl needs a URL, or the name of a job", hint="holdfast crawl https://docs.example.dev")
    output = outputs.read_output(call, options.output, options.to)
    if options.name is not None:
        wishes.check_name(options.name)
    with nursery_for(call) as nursery, call.ledger() as ledger:
        job = _job(call, ledger)
        if options.start_paused:
            return _submitted(call, ledger, job)
        name_others(call, ledger, job)
        result = carry_on(call, ledger, job, nursery)
        return conclude(call, ledger, result, output=output, fail_on=options.fail_on)


def _job(call: Call, ledger: Ledger) -> Job:
    """The job that is meant, in the form that was asked for: found, found and amended, or newly submitted."""
    recipe = wiring.recipe_of(RECIPE)
    named = _named(ledger, call.options.what) if call.options.name is None else None
    asked = wishes.read_wishes(call.options, [] if named else _urls(call.options.what))
    found = named or _known(ledger, recipe, asked, call.options.name)
    if found is not None and not call.options.new:
        return _as_asked(call, ledger, recipe, found, asked)
    spec = _spec(recipe, asked, found if named else None, call.options.name)
    refuse_too_many(call.options.processes, spec.options)
    _refuse_private(spec.options, spec.params)
    check_secrets(spec.options)
    if found is not None:
        _set_aside(call, ledger, found)
    return submit(ledger, spec)


def _named(ledger: Ledger, what: list[str]) -> Job | None:
    """The job that the only argument names. `docs.x.dev` is a job if there is one of that name, else a URL."""
    if len(what) != 1 or "://" in what[0]:
        return None
    try:
        return ledger.job(what[0])
    except NotFound as error:
        if _looks_like_url(what[0]):
            return None
        raise NotFound(f"{error.message}; a site is named by its URL", hint="https://docs.example.dev") from None


def _looks_like_url(word: str) -> bool:
    return any(mark in word for mark in "./:") or word == "localhost"


def _urls(what: list[str]) -> list[str]:
    for word in what:
        if not _looks_like_url(word):
            raise BadParams(f"{word!r} is not a URL; the name of a job must stand alone")
    return what


def _known(ledger: Ledger, recipe: Recipe, asked: Wishes, name: str | None) -> Job | None:
    """The job of this name, or of these seeds."""
    if name is not None:
        return next((job for job in ledger.jobs() if job.name == name), None)
    params = recipe.check({"seeds": list(asked.seeds)})
    return next((job for job in ledger.jobs() if job.identity == recipe.identity(params)), None)


def _as_asked(call: Call, ledger: Ledger, recipe: Recipe, job: Job, asked: Wishes) -> Job:
    """An earlier job: refused where its scope would change, amended where its pace does."""
    if job.recipe != recipe.name:
        raise Refused(f"{job.name} is a job of the recipe {job.recipe!r}, not of {recipe.name!r}")
    seeds = {"seeds": list(asked.seeds)} if asked.seeds else {}
    _refuse_other_scope(job, recipe.check({**job.params, **asked.scope, **seeds}))
    options = wishes.amended(job.options, asked)
    refuse_too_many(call.options.processes, options)
    _refuse_private(options, job.params)
    check_secrets(options)
    changes = wishes.pace_changes(job.options, options)
    if not changes or job.status in ("completed", "timeout", "cancelled"):
        return job
    when = " (from its next start on)" if holder_of(ledger, job) is not None else ""
    because = ", ".join(changes)
    job = ledger.amend(job.id, options, actor="cli", because=because)
    call.voice.say(f"{job.name}: {because}{when}")
    return job


def _refuse_other_scope(job: Job, params: dict[str, Any]) -> None:
    before = {**job.params, "seeds": sorted(job.params.get("seeds", ()))}
    after = {**params, "seeds": sorted(params["seeds"])}
    differ = [name for name in after if after[name] != before.get(name)]
    if not differ:
        return
    lines = [f"  {name}: {_shown(before.get(name))}, now {_shown(after[name])}" for name in differ]
    raise Refused(
        "\n".join([f"{job.name} has another scope:", *lines])
        + f"\nWays on: holdfast crawl {job.name} goes on as before; --new starts over; --name NAME makes another job."
    )


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(value) if value else "none"
    return "none" if value is None else str(value)


def _spec(recipe: Recipe, asked: Wishes, earlier: Job | None, name: str | None) -> JobSpec:
    """A new job; one that starts a named job over keeps what was not typed anew."""
    params = dict(earlier.params) if earlier else {}
    params |= asked.scope | ({"seeds": list(asked.seeds)} if asked.seeds else {})
    checked = recipe.check(params)
    identity = f"{recipe.name}#{name}" if name else earlier.identity if earlier else None
    return JobSpec(
        recipe=recipe.name,
        name=name or (earlier.name if earlier else recipe.default_name(checked)),
        identity=identity or recipe.identity(checked),
        params=checked,
        options=wishes.amended(earlier.options if earlier else Options(), asked),
        chunking=recipe.chunking(checked),
    )


def _refuse_private(options: Options, params: dict[str, Any]) -> None:
    for url in params["seeds"]:
        sentence = wiring.refuse_private_seed(options, url)
        if sentence is not None:
            raise BadParams(sentence)


def _set_aside(call: Call, ledger: Ledger, job: Job) -> None:
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


def _submitted(call: Call, ledger: Ledger, job: Job) -> int:
    if job.status == "pending":
        call.voice.say(f"Submitted {job.uid} {job.name}. Start it: holdfast crawl {job.name}")
    else:
        call.voice.say(f"{job.name} was submitted before and is {job.status}.")
    if call.globals.json:
        call.voice.document(job_document(*ledger.books(job.id)))
    return 0
