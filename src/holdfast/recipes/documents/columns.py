"""Which column of a list means what: by the names that lists use, or as `--columns url=Link,id=Number` says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from holdfast.errors import BadParams
from holdfast.recipes.column_names import read_column_names

# Normalised header names by what they mean, the likeliest first. `token` asks a site client, `url` names the file.
KNOWN: Mapping[str, tuple[str, ...]] = {
    "token": ("actions", "action", "download"),
    "url": ("url", "fileurl", "link", "href", "pdf"),
    "title": ("title", "casetitle", "name"),
    "cause_number": ("causenumber", "causeno", "cause", "courtfile"),
    "court": ("court",),
    "category": ("category",),
    "subject": ("subject",),
    "judgment_date": ("judgmentdate", "date"),
    "citation": ("neutralcitation", "citation"),
    "register_type": ("registertype",),
    "reference": ("reference",),
}
# What may be written before the `=` in --columns: `id` is a token where no url is named, and the name of the row
# beside one.
FIELDS = ("id", *KNOWN)
HINT = "--columns url=Link,id=Number,title=Title"


def read_columns(text: str) -> dict[str, str]:
    """`url=Link,id=Number` as a mapping from field to header name. BadParams says what is allowed."""
    return read_column_names(text, FIELDS, HINT)


def match_columns(header: Sequence[str], asked: Mapping[str, str] | None = None) -> dict[str, str]:
    """Field by header name, for every field that this list has. What was `asked` for must be there: else BadParams.

    A column that was asked for under one field is not guessed to be another one too.
    """
    by_name = {normal_name(name): name for name in reversed(header)}
    found: dict[str, str] = {}
    for field, wanted in (asked or {}).items():
        name = wanted if wanted in header else by_name.get(normal_name(wanted))
        if name is None:
            near = get_close_matches(wanted, header, n=1)
            guess = f"; did you mean {near[0]!r}?" if near else ""
            raise BadParams(f"the list has no column {wanted!r}{guess}", hint=f"columns: {', '.join(header)}")
        found[field] = name
    taken = set(found.values())
    for field, names in KNOWN.items():
        guessed = next((by_name[name] for name in names if name in by_name and by_name[name] not in taken), None)
        if field not in found and guessed is not None:
            found[field] = guessed
            taken.add(guessed)
    return found


def normal_name(name: str) -> str:
    """`Cause No.` and `cause_no` are one name."""
    return re.sub(r"[^a-z0-9]+", "", name.lower())
