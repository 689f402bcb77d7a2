"""`holdfast crawl URL...|NAME`: find or submit the job, then carry on with it."""

from __future__ import annotations

import re
from argparse import Namespace
from typing import Any

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.exits import FAIL_ON_HELP, PROBLEMS
from holdfast.cli.parser import Parser
from holdfast.cli.screen.values import share, whole
from holdfast.cli.start import job_options, outputs
from holdfast.cli.start.amend import amended
from holdfast.cli.start.carry_on import (
    DETACH_HELP,
    MODE_HELP,
    PROCESSES_HELP,
    carry_on,
    conclude,
    fork_server_for,
    name_others,
    refuse_detach,
    scanned_again,
)
from holdfast.cli.start.output_checks import checked_output, refuse_taken
from holdfast.cli.start.scopes import with_scope
from holdfast.cli.start.streaming import streaming
from holdfast.cli.start.submit import CliSubmit, submitted
from holdfast.control.submit import JobRequest, find_or_submit, judge
from holdfast.errors import BadParams, NotFound, UsageError
from holdfast.model.edit import MODES
from holdfast.model.job import WORK_CHUNKS, Job, Options, check_name
from holdfast.model.keys import looks_like_url
from holdfast.ports import Ledger
from holdfast.recipes import catalogue

RECIPE = "site"
ARCHIVES = (".warc", ".warc.gz")
_NAME_OR_ID = re.compile(r"[\w.~-]+")
EPILOG = (
    "robots.txt is read and obeyed, as the product `holdfast`: what it forbids is skipped, its Crawl-delay is kept.\n"
    "Secrets are named, not typed: --header 'Authorization: env:TOKEN', --proxy env:NAME, or file:PATH. Headers\n"
    "go only to the hosts of the URLs given; --headers-to names more. Proxies of the environment (http_proxy) are not\n"
    "used."
)


def arguments(parser: Parser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("what", nargs="*", metavar="URL|NAME", help="where to begin, or the name of a job")
    parser.add_argument("--name", help="the job's name; with it, the job is known by it and not by its URLs")
    parser.add_argument("--new", action="store_true", help="start over; the earlier job is kept as NAME~1")
    parser.add_argument("--start-paused", action="store_true", help="submit only; the same command without it starts")
    parser.add_argument("--update", action="store_true", help="apply changed scope options to what is still pending")
    parser.add_argument("--mode", choices=(*MODES, "resume"), help=MODE_HELP)
    parser.add_argument("-d", "--detach", action="store_true", help=DETACH_HELP)
    parser.add_argument("--fail-on", type=share, default=PROBLEMS, metavar="WHAT", help=FAIL_ON_HELP)
    parser.add_argument("--processes", type=whole(1, WORK_CHUNKS), default=1, metavar="N", help=PROCESSES_HELP)
    job_options.arguments(parser, catalogue.kind(RECIPE))
    outputs.arguments(parser)


def run(call: Call) -> int:
    call = _configured(call)
    options = call.options
    output = _checked_output(call)
    with fork_server_for(call, RECIPE) as fork_server, call.ledger() as ledger:
        asked = _asked(call, ledger)
        refuse_taken(call, ledger, asked, output)
        job, announced = _job(call, ledger, asked)
        job = outputs.keep_output(call, ledger, job, output)
        if options.start_paused:
            return submitted(call, ledger, job)
        name_others(call, ledger, job)
        if not announced:
            job, announced = scanned_again(call, ledger, job, options.mode)
        with streaming(call, ledger, job, output) as left:
            result = carry_on(call, ledger, job, fork_server, announced=announced)
        return conclude(call, ledger, result, output=left.output, fail_on=options.fail_on)


def check(call: Call, ledger: Ledger | None) -> str:
    """Raise what `run` would find wrong with what is asked for; nothing is written. No ledger: no jobs yet."""
    call = _configured(call)
    output = _checked_output(call)
    asked = _asked(call, ledger)
    if ledger is not None:
        refuse_taken(call, ledger, asked, output)
    judge(ledger, asked, CliSubmit(call, lambda job, params, options: job))
    return asked.identity()


def _checked_output(call: Call) -> outputs.Output | None:
    """Where the results go, once the call is one that can be followed."""
    options = call.options
    _take_archives(options)
    if not (options.what or options.from_warc) and options.seeds is None and options.name is None:
        raise UsageError("crawl needs a URL, or the name of a job", hint="holdfast crawl https://docs.example.dev")
    refuse_detach(call)
    if options.name is not None:
        check_name(options.name)
    return checked_output(call, catalogue.kind(RECIPE))


def _take_archives(options: Namespace) -> None:
    """A shell makes of `--from-warc *.warc.gz` one file behind the option, and the others beside the URLs."""
    if options.from_warc:
        more = [word for word in options.what if word.endswith(ARCHIVES) and "://" not in word]
        options.what = [word for word in options.what if word not in more]
        options.from_warc = [*options.from_warc, *more]


def _configured(call: Call) -> Call:
    """`crawl NAME` of a job that holdfast.toml describes."""
    if not call.settings.jobs:
        return call
    from holdfast.cli.start.job_files import configured

    return configured(call)


def _job(call: Call, ledger: Ledger, asked: JobRequest) -> tuple[Job, bool]:
    """The job that is meant, in the form that was asked for: found, found and amended, or newly submitted.

    And whether it is scanned again, in a changed scope, which was said.
    """
    announced = False

    def as_found(job: Job, params: dict[str, Any], changed: Options) -> Job:
        """Refused or updated where its scope would change, amended where its pace does."""
        nonlocal announced
        job, announced = with_scope(call, ledger, job, params)
        return amended(call, ledger, job, changed)

    return find_or_submit(ledger, asked, CliSubmit(call, as_found), actor="cli"), announced


def _asked(call: Call, ledger: Ledger | None) -> JobRequest:
    """The job as this command asks for it."""
    options = call.options
    named = _named(ledger, options.what) if options.name is None else None
    typed = job_options.read_typed(options, [] if named else _urls(options.what), catalogue.kind(RECIPE))
    wiring.check_archives(typed.scope, typed.pace)
    return JobRequest(
        recipe=wiring.recipe_of(RECIPE),
        given={**typed.scope, **({"seeds": list(typed.seeds)} if typed.seeds else {})},
        pace=typed.pace,
        configured=call.settings.pace,
        name=options.name,
        named=named,
        new=options.new,
        mode=options.mode,
    )


def _named(ledger: Ledger | None, what: list[str]) -> Job | None:
    """The job that the only argument names. `docs.x.dev` is a job if there is one of that name, else a URL."""
    if len(what) != 1 or "://" in what[0]:
        return None
    try:
        if ledger is None:
            raise NotFound(f"there is no job {what[0]!r}")
        return ledger.job(what[0])
    except NotFound as error:
        if looks_like_url(what[0]):
            return None
        if _NAME_OR_ID.fullmatch(what[0]) is None:
            raise BadParams(f"{what[0]!r} is not an http or https URL", hint="https://docs.example.dev") from None
        mark = "" if error.message.endswith("?") else ";"
        raise NotFound(f"{error.message}{mark} a site is named by its URL", hint="https://docs.example.dev") from None


def _urls(what: list[str]) -> list[str]:
    for word in what:
        if not looks_like_url(word):
            raise BadParams(f"{word!r} is not a URL; the name of a job must stand alone")
    return what
