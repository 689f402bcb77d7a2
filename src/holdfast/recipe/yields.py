"""What a plan or a step may yield: `target(...)`, `record(...)`, `file(...)`, `skip(...)`. They write nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from holdfast.errors import BadParams
from holdfast.model.artifact import FetchedFile, Keep, check_keep
from holdfast.model.keys import URL_LENGTH_MAX

RECORD_BYTES_MAX = 10_000_000
KEY_LENGTH_MAX = 1_000
PARAMS_BYTES_MAX = 100_000
PRIORITY_MAX = 1_000
DEPTH_MAX = 100_000
FROM_WHERE = ("key", "target", "run", "kind")  # what exports say of a record; `url` may be said better by its step


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Something to work. Known by its `key` where it has one, else by its URL; whatever is known already is ignored."""

    url: str
    type: str = ""
    key: str = ""
    priority: int = 0
    depth: int | None = None
    params: str = ""  # JSON


class YieldedRecord(msgspec.Struct, frozen=True):
    """A row of results, as JSON."""

    kind: str
    doc: bytes


class Skip(msgspec.Struct, frozen=True):
    """The target gives nothing, and that is its answer."""

    disposition: str
    because: str = ""


Yield = Target | YieldedRecord | Skip | Keep


def target(
    url: str,
    *,
    type: str = "",
    key: str = "",
    priority: int = 0,
    depth: int | None = None,
    params: Mapping[str, Any] | None = None,
) -> Target:
    """A target to be worked by the step of its type; the recipe's only step where no type is named.

    `key` is a natural key (a case number, an ISBN), a lower `priority` is claimed sooner, `depth` is one more than that
    of the target it was found on unless said otherwise, and the step finds `params` in `here.params`.
    """
    if not is_text(url, URL_LENGTH_MAX) or not url:
        raise BadParams(f"target() needs a URL as text, not {url!r:.100}")
    if not is_text(key, KEY_LENGTH_MAX):
        raise BadParams(f"the key of a target is a text of at most {KEY_LENGTH_MAX} characters, not {key!r:.100}")
    if not 0 <= abs(priority) <= PRIORITY_MAX:
        raise BadParams(f"a priority lies between -{PRIORITY_MAX} and {PRIORITY_MAX}, not at {priority!r}")
    if depth is not None and not 0 <= depth <= DEPTH_MAX:
        raise BadParams(f"a depth lies between 0 and {DEPTH_MAX}, not at {depth!r}")
    text = _json("params", dict(params), PARAMS_BYTES_MAX).decode() if params else ""
    return Target(url=url, type=type, key=key, priority=priority, depth=depth, params=text)


def record(kind: str = "record", /, **fields: Any) -> YieldedRecord:
    """A row of results: `record(title=…, posts=3)`. A step may yield several; `record("post", …)` names their kind."""
    if not fields:
        raise BadParams("record() needs at least one field, such as record(title=page.text('h1'))")
    if taken := [name for name in FROM_WHERE if name in fields]:
        raise BadParams(
            f"record() cannot have a field {taken[0]!r}: in every file that stands for where the record comes from; "
            f"call it {taken[0]}_ or otherwise"
        )
    return YieldedRecord(kind, _json("a record", fields, RECORD_BYTES_MAX))


def file(source: FetchedFile | bytes, role: str = "file", *, name: str = "", media: str = "") -> Keep:
    """Keep a file that `await fetch.file(...)` brought, or a few bytes that the step made.

    Without a `name` it is named by its hash, and equal files are stored once. A name such as `pdfs/17.pdf` is its path
    below `artifacts/`. `role` says what it is to its target: `pdf`, `thumbnail`.
    """
    if not isinstance(source, (FetchedFile, bytes)):
        raise BadParams(f"file() needs what fetch.file(...) brought, or bytes, not {source!r:.100}")
    url = source.url if isinstance(source, FetchedFile) else ""
    return check_keep(Keep(source, role, name, media or (source.media if isinstance(source, FetchedFile) else ""), url))


def skip(disposition: str = "no_record", because: str = "") -> Skip:
    """Settle the target as skipped: `skip("no_record")`. The word is counted and can be filtered by."""
    if not disposition:
        raise BadParams("skip() needs a word that says why, such as skip('no_record')")
    return Skip(disposition, because)


def is_text(value: object, length_max: int) -> bool:
    return isinstance(value, str) and len(value) <= length_max


def _json(what: str, value: Mapping[str, Any], bytes_max: int) -> bytes:
    try:
        doc = msgspec.json.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadParams(f"{what} cannot be kept as JSON: {error}") from error
    if len(doc) > bytes_max:
        raise BadParams(f"{what} of {len(doc):,} bytes is too large; at most {bytes_max:,} are kept")
    return doc
