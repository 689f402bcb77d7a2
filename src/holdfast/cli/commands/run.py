"""`holdfast run FILE.py|MODULE:RECIPE|FILE.toml|LIST.csv|NAME`: a recipe of one's own, or the jobs of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.start import job_options, recipe_jobs
from holdfast.control.submit import JobRequest
from holdfast.errors import BadParams, UsageError
from holdfast.model.job import Job
from holdfast.model.spelling import as_word, did_you_mean
from holdfast.ports import Ledger
from holdfast.recipe import registry
from holdfast.recipes import catalogue
from holdfast.recipes.custom import rules
from holdfast.recipes.custom.kind import KIND

EPILOG = (
    "What a step yields is settled in one transaction when it ends; if it raises, nothing of it exists and it is\n"
    "tried again. How to write one: docs/write-a-recipe.md"
)


def arguments(parser: Parser) -> None:
    parser.epilog = EPILOG
    parser.add_argument(
        "what",
        metavar="FILE.py|MODULE:RECIPE|FILE.toml|LIST.csv|NAME",
        help="a recipe, a job file, a list with --template, or the name of a job",
    )
    parser.add_argument(
        "--template", metavar="FILE.toml", help="one job per row of LIST.csv; {column} stands for a cell of the row"
    )
    recipe_jobs.arguments(parser, KIND)


def run(call: Call) -> int:
    if call.options.what.endswith(".csv"):
        from holdfast.cli.start.batch import run_list

        return run_list(call, Path(call.options.what))
    if call.options.template is not None:
        message = f"--template goes with a CSV list, and {call.options.what} is not one"
        raise UsageError(message, hint="holdfast run LIST.csv")
    if call.options.what.endswith(".toml"):
        from holdfast.cli.start.job_files import run_file

        return run_file(call, Path(call.options.what))
    if call.options.what in call.settings.jobs:
        from holdfast.cli.start.job_files import run_described

        return run_described(call, call.settings.jobs[call.options.what])
    return recipe_jobs.start(call, KIND, lambda ledger: _asked(call, ledger))


def check(call: Call, ledger: Ledger | None) -> str:
    """A recipe of one's own, as a row of a list asks for it: raises what `run` would find wrong. Writes nothing."""
    return recipe_jobs.check(call, _asked(call, ledger), ledger)


def _asked(call: Call, ledger: Ledger | None) -> JobRequest:
    what, typed = call.options.what, dict(call.options.param or ())
    named = None if catalogue.names_code(what) else recipe_jobs.named_job(ledger, what)
    if named is not None and call.options.name is not None:
        raise UsageError(f"{what} is a job already; leave out --name", hint=f"holdfast run {as_word(what)}")
    if named is None and not catalogue.names_code(what):
        raise _nothing_of_that_name(call, ledger, what)
    located = catalogue.locate(what) if named is None else catalogue.located(named)
    recipe = located.recipe
    before = _earlier_params(call, ledger, recipe.name, named)
    source = {"recipe_source": located.source, "recipe_sha256": located.digest}

    def asked_with(standing: dict[str, Any]) -> JobRequest:
        params = recipe.check({**before, **typed, rules.KEY: {**standing, **_rules_typed(call)}})
        return recipe_jobs.asked_for(call, recipe, params, named, **source)

    asked = asked_with(before.get(rules.KEY, {}))
    known = None if ledger is None or call.options.new else asked.known(ledger)
    return asked if known is None else asked_with(known.params.get(rules.KEY, {}))  # a rule that is not typed stays


def _nothing_of_that_name(call: Call, ledger: Ledger | None, what: str) -> BadParams:
    jobs = [] if ledger is None else [job.name for job in ledger.jobs()]
    guess = did_you_mean(what, [*jobs, *call.settings.jobs, *registry.registered()])
    return BadParams(
        f"there is no recipe {what!r}, and no job of that name{guess}", hint="holdfast run FILE.py, or MODULE:RECIPE"
    )


def _rules_typed(call: Call) -> dict[str, Any]:
    """`--exclude ''` takes the patterns back."""
    typed = job_options.read_params(call.options, KIND)
    return {
        name: [text for text in value if text] if isinstance(value, list) else value for name, value in typed.items()
    }


def _earlier_params(call: Call, ledger: Ledger | None, recipe: str, named: Job | None) -> dict[str, Any]:
    """What the job that is meant was given before: a recipe that moved needs no more than its new place and a name."""
    if named is None and call.options.name is not None and not call.options.new:
        named = recipe_jobs.named_job(ledger, call.options.name)
    return named.params if named is not None and catalogue.is_of(named, recipe) else {}
