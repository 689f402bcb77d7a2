"""Jobs that build a set of distinct images per keyword."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.model.option import INPUT, Option
from holdfast.model.value_types import NUMBER, TABLE, TEXT, TEXTS
from holdfast.recipe.kind import Kind

if TYPE_CHECKING:
    from holdfast.clock import Clock
    from holdfast.model.job import Counts, Job
    from holdfast.model.target import PageRow
    from holdfast.ports import Ledger
    from holdfast.recipe import AnyRecipe

# Two files of one host at a time, five a second: what image hosts are used to. 403 is an everyday answer of theirs.
ENGINE_BLOCKED = "engine_blocked"
TOO_FEW = "too_few_images"  # a keyword that is judged again
PACE = {"delay_ms": 200, "concurrency": 16, "detect_blocks": False, "timeout_s": 30.0, "idle_timeout_s": 10.0}


def _recipe(clock: Clock) -> AnyRecipe:
    from holdfast.recipes.images.recipe import ImagesRecipe

    return ImagesRecipe(clock)


def _given(inputs: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    from holdfast.recipes.images.asked import given

    return given(inputs, options)


def _settled(ledger: Ledger | None, params: dict[str, Any], earlier: Job | None) -> dict[str, Any]:
    from holdfast.recipes.images.distinct_from import settled

    return settled(ledger, params, earlier, KIND.name) if params.get("distinct_from") else params


def _result(row: PageRow) -> dict[str, Any]:
    """The fields of a kept image that people take away."""
    image = msgspec.json.decode(row.record)
    return {
        **{name: image.get(name) for name in COLUMNS[:-2]},
        "target": f"T-{row.target:x}",
        "run": f"R-{row.run}",
    }


def _grown(before: Mapping[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Another number or more variations: every keyword that is there is judged once more, behind what is under way."""
    return {**after, "waves": [*before["waves"], len(before["keywords"])]}


def _notes(ledger: Ledger, job: Job, counts: Counts) -> list[str]:
    wanted = job.params["per_keyword"]
    kept = counts.by_type.get("image", {}).get("succeeded", 0)
    of = f" of {wanted * len(job.params['keywords'])}" if wanted else ""
    lines = [f"images: {kept}{of} kept        see: holdfast status {job.word} --by keyword"]
    return lines if ENGINE_BLOCKED not in counts.failed_by else [*lines, _blocked(ledger, job)]


def _blocked(ledger: Ledger, job: Job) -> str:
    """Engines that were left alone, the last of them with what it answered."""
    rows = ledger.targets(job.id, where=[("status", True, ("failed",)), ("code", True, (ENGINE_BLOCKED,))], limit=100)
    engines = list(dict.fromkeys((row.name or "").split()[1] for row in rows))
    said = (rows[-1].because or "").removeprefix(f"{ENGINE_BLOCKED}: ").partition(";")[0]
    told = f"left alone: {', '.join(engines)} ({said})"
    return f"{told}        ask again: holdfast retry {job.word} --where code:{ENGINE_BLOCKED},{TOO_FEW}"


def _also_named(params: Mapping[str, Any], url: str) -> Iterator[str]:
    """A candidate is known by its keyword, too; one that was not needed, or is a copy, as such."""
    from holdfast.recipes.images.facts import download_name, duplicate_name, surplus_name

    for name in (duplicate_name, download_name, surplus_name):
        yield from (name(keyword, url) for keyword in params["keywords"])


COLUMNS = (
    "keyword", "engine", "rank", "path", "width", "height", "phash", "url", "source_page", "sha256", "bytes", "format",
    "number", "variation", "query", "offset", "title", "license", "thumbnail", "columns", "target", "run",
)  # fmt: skip

KIND = Kind(
    name="images",
    recipe=_recipe,
    command="images",
    noun="image",
    inputs="keywords",
    input_keys=(Option("keywords", TEXTS, "what the images show", part=INPUT),),
    options=(  # images.py adds their arguments
        Option("urls", TEXT, "instead of keywords: a list of keyword and url", "--from", is_path=True),
        Option("columns", TABLE, "which column is what", "--columns", joined=True),
        Option("save_columns", TEXTS, "columns of the list that its images keep", "--save-columns", joined=True),
        Option("keywords_file", TEXT, "a file with one keyword per line", "--keywords", is_path=True),
        Option("per_keyword", NUMBER, "images wanted per keyword", "--per-keyword"),
        Option("engines", TEXTS, "search engines", "--engines", joined=True),
        Option("min_size", TEXT, "the least size, as in `200x200`", "--min-size"),
        Option("dedupe", TEXT, "`exact` or `perceptual`", "--dedupe"),
        Option("distinct_from", TEXTS, "images jobs whose images are left out", "--distinct-from"),
    ),
    shared_keys=("processes",),
    given=_given,
    settled=_settled,
    scope=("keywords", "per_keyword", "variations", "pages", "waves"),
    scope_of=lambda params: {name: params[name] for name in ("keywords", "per_keyword", "variations", "pages")},
    pace=PACE,
    breakdowns={"keyword": "chunk", "engine": "", "keyword,engine": ""},
    views="images",
    also_named=_also_named,
    result=_result,
    exported="image",
    forms={"md": "folder", "files": "folder", "zip": "images_zip"},
    columns=COLUMNS,
    grows=_grown,
    notes=_notes,
)
