"""`holdfast images KEYWORD...|NAME`, or `--from FILE`: a set of distinct images per keyword."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.start import job_options, recipe_jobs
from holdfast.control.sources import configured_params
from holdfast.control.submit import JobRequest
from holdfast.errors import UsageError
from holdfast.model.job import Job
from holdfast.model.spelling import as_word
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import built_in, is_of
from holdfast.recipes.images.candidate_list import SUFFIXES, first_urls
from holdfast.recipes.images.kind import KIND
from holdfast.recipes.images.options import ENGINES_OF_LIST, OF_LISTS

EPILOG = (
    "Images are fetched, decoded to see that they are good, and compared: copies of a kept image are left out.\n"
    "Stops when so many are held for each keyword; a higher number later goes on from there: --per-keyword 500 --update"
)


def arguments(parser: Parser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("what", nargs="*", metavar="KEYWORD|NAME", help="what the images should show, or a job's name")
    recipe_jobs.arguments(parser, KIND)


def run(call: Call) -> int:
    call = _meant(call)
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
    options = call.options
    if not options.what and not options.keywords and not options.from_ and options.name is None:
        raise UsageError(
            "images needs a keyword, a list, or the name of a job",
            hint='holdfast images cat "red panda" --per-keyword 500, or holdfast images --from urls.csv',
        )
    return call


def _asked(call: Call, ledger: Ledger | None) -> JobRequest:
    options, recipe = call.options, built_in(KIND.name)
    named = _named(options, ledger)
    given = _typed(call)
    if named is not None:
        _refuse_lists(options, named)
        params = recipe.check({**named.params, **given})
    else:
        _refuse_files(options.what)
        params = recipe.check(KIND.given(options.what, given))
    asked = recipe_jobs.asked_for(call, recipe, params, named)
    if params["list"] and not options.dry_run and (ledger is None or options.new or asked.known(ledger) is None):
        recipe_jobs.refuse_private(asked.options(named), first_urls(params["list"]))
    return asked


def _refuse_files(words: list[str]) -> None:
    """A list that was meant to be read is no keyword to be searched for."""
    for word in words:
        if word.lower().endswith(SUFFIXES) and Path(word).is_file():
            raise UsageError(f"{word} is a file here; for its URLs: holdfast images --from {as_word(word)}")


def _refuse_lists(options: argparse.Namespace, named: Job) -> None:
    """A job that is there has its list, read as it was when the job was begun."""
    for name in OF_LISTS:
        if getattr(options, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} goes with --from FILE; {named.name} has its list already")
    if named.params["list"] and options.engines is not None:
        raise UsageError(ENGINES_OF_LIST)


def _typed(call: Call) -> dict[str, Any]:
    return configured_params(KIND, call.settings, job_options.read_params(call.options, KIND))


def _named(options: argparse.Namespace, ledger: Ledger | None) -> Job | None:
    """The job that is named instead of keywords, by its only word or by --name. A keyword may look like a name."""
    if options.from_ or options.keywords or len(options.what) > 1:
        return None
    found = recipe_jobs.named_job(ledger, options.what[0] if options.what else options.name)
    if found is None and not options.what:
        raise UsageError(f"there is no job {options.name!r} yet; it needs keywords, or a list by --from")
    return found if found is not None and is_of(found, KIND.name) else None
