"""An images job split by keyword, by engine, or by both: its targets, and what became of every URL that was named.

`discovered = kept + duplicates + rejected + failed + skipped + surplus + pending` holds in every group. `downloaded`
counts valid files that were fetched, whatever they were judged to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.model.job import Job
from holdfast.model.look import Detail
from holdfast.model.states import COUNTED
from holdfast.ports import Surveys
from holdfast.recipes.images import facts
from holdfast.views.images.reading import FATES, ImagesView, KeywordView, UrlView, named_by, read

NUMBERS = ("wanted", "discovered", "downloaded", *FATES)


def groups(ledger: Surveys, job: Job, by: str) -> list[dict[str, Any]]:
    """One group per keyword, engine or pair, in the order of the job's own lists."""
    return grouped(read(ledger, job), by)


def grouped(view: ImagesView, by: str) -> list[dict[str, Any]]:
    parts = by.split(",")
    found: dict[tuple[str | None, ...], dict[str, Any]] = {}
    for keyword in view.keywords:
        for engine in (*view.engines, None) if "engine" in parts else (None,):
            place = tuple(keyword.name if part == "keyword" else engine for part in parts)
            found.setdefault(place, _empty(parts, place))
        for row, engine in _rows(keyword):
            place = tuple(keyword.name if part == "keyword" else engine for part in parts)
            found[place][row.status] += 1
        for url in keyword.urls.values():
            place = tuple(keyword.name if part == "keyword" else url.question.asked.engine for part in parts)
            add(found[place]["images"], url)
        if parts == ["keyword"]:
            found[keyword.name,]["images"]["wanted"] = keyword.wanted
    for group in found.values():
        group["discovered"] = sum(group[status] for status in COUNTED)
    return [group for place, group in found.items() if None not in place or group["discovered"]]


def numbers() -> dict[str, int | None]:
    """Nothing yet. `wanted` is a keyword's: how many each engine brings of them is left to the engines."""
    return {name: None if name == "wanted" else 0 for name in NUMBERS}


def add(images: dict[str, Any], url: UrlView) -> None:
    images["discovered"] += 1
    images["downloaded"] += url.was_downloaded
    images[url.fate] += 1


def _empty(parts: list[str], place: tuple[str | None, ...]) -> dict[str, Any]:
    known = [each for each in place if each is not None]
    return {
        "group": ", ".join(known) if len(known) == len(place) else None,
        **(dict(zip(parts, place, strict=True)) if len(parts) > 1 else {}),
        "discovered": 0,
        **dict.fromkeys(COUNTED, 0),
        "images": numbers(),
    }


def _rows(keyword: KeywordView) -> Iterator[tuple[Detail, str | None]]:
    """Every target with its engine; a judgement is about all of them."""
    asked = {question.row.id: question.asked.engine for question in keyword.questions}
    behind = len(keyword.name) + 1
    for row in keyword.rows:
        if row.id in asked:
            yield row, asked[row.id]
        elif row.type == facts.JUDGE or not row.name:
            yield row, None
        else:
            url = keyword.urls.get(named_by(row)[behind:])
            yield row, None if url is None else url.question.asked.engine
