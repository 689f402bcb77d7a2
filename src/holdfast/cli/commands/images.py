"""`holdfast images KEYWORD...|NAME`, or `--from FILE`: a set of distinct images per keyword."""

from __future__ import annotations

import argparse
from typing import Any

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.values import whole
from holdfast.cli.start import recipe_jobs
from holdfast.control.submit import JobRequest
from holdfast.errors import UsageError
from holdfast.model.job import Job
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import built_in
from holdfast.recipes.images.asked import OF_LISTS
from holdfast.recipes.images.kind import KIND

EPILOG = (
    "Images are fetched, decoded to see that they are good, and compared: copies of a kept image are left out.\n"
    "Stops when so many are held for each keyword; a higher number later goes on from there: --per-keyword 500 --update"
)
DEDUPES = ("exact", "perceptual")


def arguments(parser: Parser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("what", nargs="*", metavar="KEYWORD|NAME", help="what the images should show, or a job's name")
    group = parser.add_argument_group("images")
    group.add_argument(
        "--per-keyword", type=whole(1, 1_000_000), metavar="N", help="images wanted per keyword (100; of a list: all)"
    )
    group.add_argument("--engines", metavar="LIST", help="google,bing,baidu,duckduckgo, in this order (all)")
    group.add_argument("--keywords", metavar="FILE", help="a file with a keyword per line")
    group.add_argument(
        "--from",
        dest="from_",
        metavar="FILE",
        help="instead of engines: a CSV, JSONL or Parquet file of keyword and url",
    )
    group.add_argument(
        "--columns", metavar="url=Link,keyword=Class", help="which column of that file is what (by their usual names)"
    )
    group.add_argument("--save-columns", metavar="LIST", help="columns of that file that are kept with its images")
    group.add_argument("--min-size", metavar="WxH", help="smaller images are rejected (200x200)")
    group.add_argument(
        "--dedupe", choices=DEDUPES, help="which copies are left out: of the same bytes, or alike (perceptual)"
    )
    group.add_argument(
        "--distinct-from",
        action="append",
        metavar="JOB",
        help="leave out what this images job keeps by now, and copies of it (repeatable)",
    )
    recipe_jobs.arguments(parser)


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
        words = {**given, "urls": options.from_, "keywords_file": options.keywords}
        words |= {name: getattr(options, name) for name in OF_LISTS}
        params = recipe.check(KIND.given(options.what, words))
    return recipe_jobs.asked_for(call, recipe, params, named)


def _refuse_lists(options: argparse.Namespace, named: Job) -> None:
    """A job that is there has its list, read as it was when the job was begun."""
    for name in OF_LISTS:
        if getattr(options, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} goes with --from FILE; {named.name} has its list already")


def _typed(call: Call) -> dict[str, Any]:
    options = call.options
    typed = {
        "per_keyword": options.per_keyword,
        "engines": None if options.engines is None else [name.strip() for name in options.engines.split(",")],
        "min_size": options.min_size,
        "dedupe": options.dedupe,
        "distinct_from": options.distinct_from,
        "origins": dict(call.settings.engines) or None,
    }
    return {name: value for name, value in typed.items() if value is not None}


def _named(options: argparse.Namespace, ledger: Ledger | None) -> Job | None:
    """The job that is named instead of keywords, by its only word or by --name. A keyword may look like a name."""
    if options.from_ or options.keywords or len(options.what) > 1:
        return None
    found = recipe_jobs.named_job(ledger, options.what[0] if options.what else options.name)
    if found is None and not options.what:
        raise UsageError(f"there is no job {options.name!r} yet; it needs keywords, or a list by --from")
    return found if found is not None and found.recipe == KIND.name else None
