"""The params of an images job, checked: what is wrong with them is said before a job is made."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from holdfast.errors import BadParams
from holdfast.model.job import CHUNKS_MAX
from holdfast.model.spelling import install
from holdfast.recipes.column_names import check_fields, read_column_names
from holdfast.recipes.images import distinct_from
from holdfast.recipes.images.candidate_list import FIELDS, HINT, SAVED_COLUMNS_MAX, digest_of, read_list
from holdfast.recipes.images.engines import ENGINES
from holdfast.recipes.images.facts import LIST
from holdfast.recipes.images.options import OWN_PARAMS, PER_KEYWORD_MAX
from holdfast.recipes.images.plan import PAGES, Plan, normal_keyword, plan_of
from holdfast.recipes.images.variations import templates

PER_KEYWORD = 100
MIN_SIZE = "200x200"
DEDUPES = ("perceptual", "exact")
CHECKED = (
    "keywords", "per_keyword", "engines", "variations", "pages", "seed", "origins", "list", "min_size", "dedupe",
    "waves", "distinct_from",
)  # fmt: skip
NAMES = (*CHECKED, *(name for name in OWN_PARAMS if name not in CHECKED))
_SIZE = re.compile(r"(\d{1,5})x(\d{1,5})")


def checked(params: dict[str, Any]) -> dict[str, Any]:
    """In canonical form, defaults filled in; BadParams says which one cannot be used."""
    if find_spec("PIL") is None:  # without it every file would be fetched, and none could be looked at
        raise BadParams("an image set needs Pillow, which is not installed", hint=install("images"))
    for name in params:
        if name not in NAMES:
            raise BadParams(f"images have no parameter {name!r}", hint=" ".join(NAMES))
    listed = params.get("list")
    engines = [LIST] if listed else list(params.get("engines") or ENGINES)
    plan = (
        {"engines": engines, "variations": [], "pages": 0, "seed": None} if listed else _plan(params, engines).params()
    )
    size = str(params.get("min_size") or MIN_SIZE)
    sides(size)
    dedupe = params.get("dedupe") or DEDUPES[0]
    if dedupe not in DEDUPES:
        raise BadParams(f"--dedupe is one of {', '.join(DEDUPES)}, not {dedupe!r}")
    others = distinct_from.checked(params.get("distinct_from"))
    further = {name: value for name, value in params.items() if name not in CHECKED and value is not None}
    return {
        "keywords": _keywords(params.get("keywords") or ()),
        "per_keyword": _number(params.get("per_keyword"), listed=bool(listed)),
        **plan,
        "origins": dict(sorted((params.get("origins") or {}).items())),
        "list": dict(listed) if listed else None,
        "min_size": size,
        "dedupe": dedupe,
        "waves": list(params.get("waves") or ()),
        **({"distinct_from": others} if others else {}),  # jobs of earlier versions have none
        **further,
    }


def listed(
    path: Path, columns: Sequence[str] = (), mapping: Mapping[str, str] | str | None = None
) -> tuple[dict[str, Any], list[str]]:
    """A list of images as params have it, and its keywords in the order of their first rows.

    `columns` are saved; `mapping` says which column is what.

    A list without keywords is about one thing: that by which its file is called.
    """
    keywords: dict[str, None] = {}
    rows = 0
    if len(columns) > SAVED_COLUMNS_MAX:
        raise BadParams(f"--save-columns takes at most {SAVED_COLUMNS_MAX} columns")
    named = read_column_names(mapping, FIELDS, HINT) if isinstance(mapping, str) else dict(mapping or {})
    check_fields(named, FIELDS)
    for row in read_list(path, keyword=path.stem, save=columns, columns=named):
        rows += row.candidate is not None
        if row.keyword and row.candidate is not None:
            keywords.setdefault(row.keyword)
        if len(keywords) > CHUNKS_MAX:
            raise BadParams(f"{path.name} has more than {CHUNKS_MAX:,} keywords")
    if not rows:
        raise BadParams(f"{path.name} names no image: none of its rows has a usable URL and keyword")
    saved: dict[str, Any] = {"columns": list(columns)} if columns else {}
    saved |= {"mapping": named} if named else {}
    return {"path": str(path.resolve()), "sha256": digest_of(path), **saved}, list(keywords)


def sides(size: str) -> tuple[int, int]:
    """`200x200` as (width, height)."""
    match = _SIZE.fullmatch(size)
    if match is None:
        raise BadParams(f"--min-size {size!r} is not a size such as {MIN_SIZE}")
    return int(match[1]), int(match[2])


def plan_params(params: dict[str, Any]) -> Plan | None:
    """The questions to the engines; None where the candidates come from a list."""
    return None if params["list"] else plan_of(params)


def _plan(params: dict[str, Any], engines: list[str]) -> Plan:
    unknown = [name for name in engines if name not in ENGINES]
    if unknown:
        raise BadParams(f"there is no engine {unknown[0]!r}; there are: {', '.join(ENGINES)}, and a list by --from")
    variations = tuple(params.get("variations") or templates())
    return Plan(tuple(engines), variations, int(params.get("pages") or PAGES), params.get("seed"))


def _keywords(given: Any) -> list[str]:
    keywords = [normal_keyword(str(word)) for word in given]
    if not keywords:
        raise BadParams("images needs a keyword", hint='holdfast images cat "red panda" --per-keyword 500')
    return list(dict.fromkeys(keywords))


def _number(given: Any, *, listed: bool) -> int | None:
    """None: every image of a list."""
    if given is None:
        return None if listed else PER_KEYWORD
    if not isinstance(given, int) or not 1 <= given <= PER_KEYWORD_MAX:
        raise BadParams(f"--per-keyword is a number from 1 to {PER_KEYWORD_MAX:,}, not {given}")
    return given
