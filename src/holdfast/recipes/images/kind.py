"""Jobs that build a set of distinct images per keyword."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.model.option import INPUT, Option
from holdfast.model.value_types import TEXTS
from holdfast.policy.marks import REJECTED
from holdfast.recipe.kind import Conditions, Kind
from holdfast.recipes.images.options import OPTIONS

if TYPE_CHECKING:
    from holdfast.clock import Clock
    from holdfast.model.job import Counts, Job
    from holdfast.model.target import PageRow, TargetRow
    from holdfast.ports import Ledger
    from holdfast.recipe import AnyRecipe

# Two files of one host at a time, five a second: what image hosts are used to. 403 is an everyday answer of theirs.
ENGINE_BLOCKED = "engine_blocked"
TOO_FEW = "too_few_images"  # a keyword that is judged again
KEPT: Conditions = (("type", True, ("image",)), ("disposition", True, ("image",)))
ROWS_AT_ONCE = 500
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
    kept = counts.by_type.get("image", {}).get("succeeded", 0) - _thrown_out(ledger, job)
    of = f" of {wanted * len(job.params['keywords'])}" if wanted else ""
    lines = [f"images: {kept}{of} kept        see: holdfast status {job.word} --by keyword"]
    return lines if ENGINE_BLOCKED not in counts.failed_by else [*lines, _blocked(ledger, job)]


def _foretold(params: dict[str, Any]) -> list[str]:
    from holdfast.recipes.images.preview import lines_of

    return lines_of(params["list"]) if params["list"] else []


def _other_list(before: Any, after: Any) -> str:
    """A job is planned from one list: a plan counts on where it was, so rows that come later belong to another job."""
    if not before or not after:
        return f"list: {(before or {}).get('path', 'none')}, now {(after or {}).get('path', 'none')}"
    if before["path"] != after["path"]:
        return f"list: {before['path']}, now {after['path']}"
    if before["sha256"] != after["sha256"]:
        return (
            f"{before['path']} has changed since the job was begun, and a job keeps its list. "
            "Rows that are new, in a file of their own: holdfast images --from NEW.csv --distinct-from JOB"
        )
    named = [", ".join((*one.get("columns", ()), *one.get("mapping", ()))) or "none" for one in (before, after)]
    return f"columns: {named[0]}, now {named[1]}"


def _thrown_out(ledger: Ledger, job: Job) -> int:
    """Kept images that a person has marked `rejected`."""
    return sum(1 for _ in _rows(ledger, job, (*KEPT, ("label", True, (REJECTED,)))))


def _kept_of(ledger: Ledger, job: Job, row: TargetRow | None, urls: Sequence[str]) -> list[int]:
    """A kept image, or those that came of a download or of a URL, under every keyword that has it.

    Images are named by their URL as it was listed, and so is the download of each keyword.
    """
    if row is not None and row.type == "image":
        return [row.id] if row.disposition == "image" else []
    chunk = () if row is None else (("chunk", True, (f"C-{row.chunk:x}",)),)
    fetched = (("type", True, ("download",)), ("url", True, tuple(urls)))
    downloads = [each for each in _rows(ledger, job, fetched) if each.url in urls] if row is None else [row]
    listed = [(each.name or each.url).rpartition(" ")[2] for each in downloads]
    found: dict[int, None] = {}
    for url in dict.fromkeys([*urls, *listed] if row is None else listed):
        names = re.compile(rf"image \d+ (?:{'|'.join(map(re.escape, job.params['keywords']))}) {re.escape(url)}")
        asked = (*KEPT, *chunk, ("url", True, (f"image * {url}",)))
        found |= {each.id: None for each in _rows(ledger, job, asked) if names.fullmatch(each.name or "")}
    return list(found)


def _rows(ledger: Ledger, job: Job, where: Conditions) -> Iterator[TargetRow]:
    after = 0
    while rows := ledger.targets(job.id, where=where, after=after, limit=ROWS_AT_ONCE):
        yield from rows
        after = rows[-1].id


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
    asks_engines=True,
    input_keys=(Option("keywords", TEXTS, "what the images show", part=INPUT),),
    options=OPTIONS,
    shared_keys=("processes",),
    given=_given,
    settled=_settled,
    scope=("keywords", "per_keyword", "variations", "pages", "waves"),
    scope_of=lambda params: {name: params[name] for name in ("keywords", "per_keyword", "variations", "pages")},
    pace=PACE,
    breakdowns={"keyword": "chunk", "engine": "", "keyword,engine": ""},
    views="images",
    foretold=_foretold,
    told={"list": _other_list},
    kept_of=_kept_of,
    short_of=TOO_FEW,
    also_named=_also_named,
    result=_result,
    exported="image",
    forms={"md": "folder", "files": "folder", "zip": "images_zip"},
    columns=COLUMNS,
    grows=_grown,
    notes=_notes,
)
