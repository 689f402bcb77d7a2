"""`holdfast cases RANGE...|NAME --url TEMPLATE`: every number of a range, and which of them have no record."""

from __future__ import annotations

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.start import job_options, recipe_jobs
from holdfast.clock import SystemClock
from holdfast.control.sources import configured_params
from holdfast.control.submit import JobRequest
from holdfast.errors import BadParams, NotFound, UsageError
from holdfast.model.job import Job
from holdfast.ports import Ledger
from holdfast.recipes.cases.ids import is_range, read_range
from holdfast.recipes.cases.kind import KIND
from holdfast.recipes.cases.options import given_params
from holdfast.recipes.cases.recipe import CasesRecipe

EPILOG = (
    "A 2xx answer is a record and is kept, 404 and 410 prove that there is none, anything else fails with its code.\n"
    "The gaps: holdfast targets NAME --where 'disposition:no_record'"
)
MODE_HELP = (
    "what to do with a completed job: full asks for all again, new beyond the highest case and for what failed (resume)"
)


def arguments(parser: Parser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("what", nargs="*", metavar="RANGE|NAME", help="IMM-1-25..IMM-500-25, IMM-*-25, or a job's name")
    recipe_jobs.arguments(parser, KIND, mode_help=MODE_HELP)


def run(call: Call) -> int:
    call = _meant(call)
    if call.options.update:
        call.console.say("Cases have no scope: a range is what it is, and --update changes nothing of it.")
    return recipe_jobs.start(call, KIND, lambda ledger: _asked(call, ledger))


def check(call: Call, ledger: Ledger | None) -> str:
    """Raise what `run` would find wrong with what is asked for; nothing is written. No ledger: no jobs yet."""
    call = _meant(call)
    return recipe_jobs.check(call, _asked(call, ledger), ledger)


def _meant(call: Call) -> Call:
    """The call, with what holdfast.toml says of the job that it names."""
    if call.settings.jobs:
        from holdfast.cli.start.job_files import configured

        call = configured(call)
    if not call.options.what and call.options.name is None:
        raise UsageError("cases needs a range, or the name of a job", hint="holdfast cases IMM-1-25..IMM-99-25 --url …")
    return call


def _asked(call: Call, ledger: Ledger | None) -> JobRequest:
    options, recipe = call.options, CasesRecipe(SystemClock())
    named = _named(call, ledger)
    words = [] if named else options.what
    typed = [str(read_range(word, options.start, options.max_cases)) for word in words]
    given = configured_params(KIND, call.settings, given_params(job_options.read_params(options, KIND)))
    before = dict(named.params) if named else {}
    if "url" in given:
        before.pop("source", None)
    asked = {**before, **given}
    params = recipe.check({**asked, "ranges": typed or before.get("ranges", [])})
    return recipe_jobs.asked_for(call, recipe, params, named)


def _named(call: Call, ledger: Ledger | None) -> Job | None:
    """The job that is named instead of a range, by its only word or by --name."""
    what, name = call.options.what, call.options.name
    if not what:
        found = recipe_jobs.named_job(ledger, name)
        if found is None:
            raise BadParams(f"there is no job {name!r} yet; it needs a range", hint="IMM-1-25..IMM-5000-25")
        return _of_cases(found)
    if len(what) == 1 and not is_range(what[0]):
        if ledger is None:
            raise NotFound(f"there is no job {what[0]!r}: there is no ledger yet")
        return _of_cases(ledger.job(what[0]))
    return None


def _of_cases(job: Job) -> Job:
    return recipe_jobs.of_kind(job, KIND)
